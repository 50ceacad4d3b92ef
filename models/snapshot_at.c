/* snapshot_at.c - a snapshot as it is at a later instant. */
#include "models/snapshot_at.h"

#include <math.h>

struct shifting {
    double now_at_s;
    double passed_s; /* since the seconds began to count */
    struct arena *arena;
};

static const struct taken_running *
later_running(const struct shifting *x, const struct taken_running *rows, size_t count)
{
    struct taken_running *out = NEW(x->arena, struct taken_running, count);

    for (size_t i = 0; i < count; i++) {
        out[i] = rows[i];
        out[i].expected_end_s -= x->passed_s; /* NAN stays */
        if (rows[i].started_at_s > x->now_at_s)
            out[i].started_at_s = x->now_at_s;
        if (isnan(rows[i].started_at_s))
            out[i].elapsed_s =
                (isnan(rows[i].elapsed_s) ? 0 : rows[i].elapsed_s) + x->passed_s;
    }
    return out;
}

static bool has_ended(const struct shifting *x, const struct taken_reservation *r)
{
    return r->end_s <= x->passed_s || r->end_at_s <= x->now_at_s;
}

static const struct taken_reservation *
later_reservations(const struct shifting *x, const struct taken_reservation *rows,
                   size_t count, size_t *left)
{
    struct taken_reservation *out = NEW(x->arena, struct taken_reservation, count);
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (has_ended(x, &rows[i]))
            continue;
        out[n] = rows[i];
        out[n].start_s -= x->passed_s; /* NAN stays */
        out[n++].end_s -= x->passed_s;
    }
    *left = n;
    return out;
}

static struct resource later_resource(const struct shifting *x, const struct resource *r)
{
    struct resource out = *r;

    out.ready_s = fmax(r->ready_s - x->passed_s, 0);
    if (r->free_at_count > 0) {
        double *free_at_s = NEW(x->arena, double, r->free_at_count);

        for (size_t i = 0; i < r->free_at_count; i++)
            free_at_s[i] =
                r->free_at_s[i] < x->passed_s ? 0 : r->free_at_s[i] - x->passed_s;
        out.free_at_s = free_at_s;
    }
    if (r->running_count > 0)
        out.running = later_running(x, r->running, r->running_count);
    if (r->reservation_count > 0)
        out.reservations = later_reservations(x, r->reservations, r->reservation_count,
                                              &out.reservation_count);
    return out;
}

struct snapshot snapshot_at(const struct snapshot *s, double from_at_s, double now_at_s,
                            struct arena *a)
{
    struct shifting x = {now_at_s, now_at_s - from_at_s, a};
    struct resource *resources = NEW(a, struct resource, s->resource_count);
    struct snapshot out = *s;

    for (size_t i = 0; i < s->resource_count; i++)
        resources[i] = later_resource(&x, &s->resources[i]);
    out.resources = resources;
    out.running = later_running(&x, s->running, s->running_count);
    out.reservations = later_reservations(&x, s->reservations, s->reservation_count,
                                          &out.reservation_count);
    out.taken_at_s = now_at_s;
    return out;
}
