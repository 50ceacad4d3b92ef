/* coallocation/slot.c - when reservations on several sites can begin together.
 *
 * The windows of a site with enough processors are joined to stretches. A time that does
 * not fit a site is moved to the start of the site's next stretch that is long enough,
 * until no site moves it: every move is to a time before which nothing fits.
 */
#include "algorithms/coallocation/slot.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

struct stretch {
    double start_s, end_s;
};

struct stretches {
    struct stretch *list;
    size_t count, at; /* at: the first that may still be used */
};

struct placed_window {
    struct co_window window;
    size_t position;
};

static int by_start(const void *left, const void *right)
{
    const struct placed_window *a = left, *b = right;

    if (a->window.start_s != b->window.start_s)
        return a->window.start_s < b->window.start_s ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

static void sorted(const struct co_window *windows, size_t count,
                   struct placed_window **out, struct arena *a)
{
    struct placed_window *list = NEW(a, struct placed_window, count);

    for (size_t i = 0; i < count; i++)
        list[i] = (struct placed_window){windows[i], i};
    qsort(list, count, sizeof(*list), by_start);
    *out = list;
}

static void join(const struct co_slot_site *site, struct stretches *out, struct arena *a)
{
    struct placed_window *list;

    sorted(site->windows, site->window_count, &list, a);
    *out = (struct stretches){NEW(a, struct stretch, site->window_count), 0, 0};
    for (size_t i = 0; i < site->window_count; i++) {
        const struct co_window *w = &list[i].window;

        if (w->processors_free < site->processors)
            continue;
        if (out->count > 0 && out->list[out->count - 1].end_s >= w->start_s)
            out->list[out->count - 1].end_s =
                fmax(out->list[out->count - 1].end_s, w->end_s);
        else
            out->list[out->count++] = (struct stretch){w->start_s, w->end_s};
    }
}

/* The first time from t_s on that fits the site; NAN: none. */
static double fit(struct stretches *s, double t_s, double duration_s)
{
    for (; s->at < s->count; s->at++) {
        double start_s = fmax(t_s, s->list[s->at].start_s);

        if (start_s + duration_s <= s->list[s->at].end_s)
            return start_s;
    }
    return (double)NAN;
}

void co_common_slot(const struct co_slot_site *sites, size_t site_count,
                    double duration_s, double earliest_s, double latest_end_s,
                    double *start_s, struct arena *a)
{
    struct stretches *all = NEW(a, struct stretches, site_count);
    double t_s = earliest_s;
    size_t settled = 0;

    for (size_t i = 0; i < site_count; i++)
        join(&sites[i], &all[i], a);
    for (size_t i = 0; settled < site_count && !isnan(t_s); i = (i + 1) % site_count) {
        double next_s = sites[i].processors > 0 ? fit(&all[i], t_s, duration_s) : t_s;

        settled = next_s == t_s ? settled + 1 : 1;
        t_s = next_s;
    }
    *start_s = t_s + duration_s <= latest_end_s ? t_s : (double)NAN;
}

void co_window_overlap(const struct co_window *windows, size_t count, size_t *position,
                       struct arena *a)
{
    struct placed_window *list;

    sorted(windows, count, &list, a);
    *position = SIZE_MAX;
    for (size_t i = 1; i < count; i++) {
        size_t later = list[i].position > list[i - 1].position ? i : i - 1;

        if (list[i].window.start_s < list[i - 1].window.end_s)
            *position = list[later].position;
    }
}
