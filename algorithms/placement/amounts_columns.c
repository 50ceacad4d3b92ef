/* placement/amounts_columns.c - names of amounts in requirements and ranks. */
#include "algorithms/placement/amounts_columns.h"

#include <string.h>
#include <strings.h>

/* An amount of resources, and what of it is meant. */
struct asked {
    enum { ASKED_CPUS, ASKED_MEMORY, ASKED_DISK, ASKED_NAMED } kind;
    const char *name; /* ASKED_NAMED */
    bool free_now;
};

static const struct {
    const char *name;
    struct asked asked;
} fixed[] = {
    {"cpus_total", {ASKED_CPUS, NULL, false}},
    {"cpus_free_now", {ASKED_CPUS, NULL, true}},
    {"memory_total_bytes", {ASKED_MEMORY, NULL, false}},
    {"memory_free_now_bytes", {ASKED_MEMORY, NULL, true}},
    {"disk_free_now_bytes", {ASKED_DISK, NULL, true}},
};

static bool read_name(const char *name, struct asked *out)
{
    for (size_t k = 0; k < sizeof(fixed) / sizeof(*fixed); k++)
        if (strcasecmp(fixed[k].name, name) == 0) {
            *out = fixed[k].asked;
            return true;
        }
    *out = (struct asked){.kind = ASKED_NAMED};
    if (strncasecmp(name, "capacity.", 9) == 0)
        out->name = name + 9;
    if (strncasecmp(name, "free_now.", 9) == 0)
        out->name = name + 9;
    out->free_now = name[0] == 'f' || name[0] == 'F';
    return out->name && out->name[0];
}

static double named(const struct named_value *list, size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(list[k].name, name) == 0)
            return list[k].number;
    return 0;
}

/* NAN: not limited. */
static double capacity_of(const struct resource *r, const struct asked *a)
{
    switch (a->kind) {
    case ASKED_CPUS:
        return r->cpus;
    case ASKED_MEMORY:
        return r->memory_bytes;
    case ASKED_DISK:
        return r->disk_bytes;
    case ASKED_NAMED:
        break;
    }
    return named(r->capacities, r->capacity_count, a->name);
}

static double choose(const struct asked *a, double cpus, double memory_bytes,
                     double disk_bytes, const struct named_value *needs, size_t count)
{
    double value = a->kind == ASKED_CPUS     ? cpus
                   : a->kind == ASKED_MEMORY ? memory_bytes
                   : a->kind == ASKED_DISK   ? disk_bytes
                                             : named(needs, count, a->name);

    return isnan(value) ? 0 : value;
}

static double taken_by(const struct taken_running *r, const struct asked *a)
{
    return choose(a, r->cpus, r->memory_bytes, r->disk_bytes, r->needs, r->need_count);
}

/* HUGE_VAL: all of it. */
static double reserved_by(const struct taken_reservation *r, const struct asked *a,
                          double now_s)
{
    double start_s = isnan(r->start_at_s) ? r->start_s : r->start_at_s - now_s;
    double end_s = isnan(r->end_at_s) ? r->end_s : r->end_at_s - now_s;

    if (start_s > 0 || end_s <= 0)
        return 0;
    if (r->all)
        return HUGE_VAL;
    return choose(a, r->cpus, r->memory_bytes, r->disk_bytes, r->needs, r->need_count);
}

/* What is taken on the resource itself. */
static double taken_on(const struct resource *r, const struct asked *a, double now_s)
{
    double sum = 0, slots = (double)resource_slots(r);

    for (size_t k = 0; k < r->running_count; k++)
        sum += taken_by(&r->running[k], a);
    for (size_t k = 0; k < r->reservation_count; k++)
        sum += reserved_by(&r->reservations[k], a, now_s);
    if (r->ready_s > 0)
        return HUGE_VAL;
    if (r->job_count > 0 && slots > 0)
        sum += capacity_of(r, a) * fmin(1, r->job_count / slots);
    return sum;
}

/* What rows of the snapshot's own lists take, by snapshot index. */
static void add_lists(const struct placement_problem *p, const struct asked *a,
                      double *taken)
{
    const struct snapshot *s = p->in->snapshot;
    struct name_index index;

    if (s->running_count + s->reservation_count == 0)
        return;
    name_index_create(&index, s->resource_count, p->arena);
    for (size_t i = 0; i < s->resource_count; i++)
        name_index_add(&index, s->resources[i].id, i);
    for (size_t k = 0; k < s->running_count; k++) {
        budget_step(p->in->budget, 1 + s->running[k].resource_id_count);
        for (size_t i = 0; i < s->running[k].resource_id_count; i++) {
            size_t at = name_index_find(&index, s->running[k].resource_ids[i]);

            if (at != NAME_NOT_FOUND)
                taken[at] += taken_by(&s->running[k], a);
        }
    }
    for (size_t k = 0; k < s->reservation_count; k++) {
        budget_step(p->in->budget, 1 + s->reservations[k].resource_id_count);
        for (size_t i = 0; i < s->reservations[k].resource_id_count; i++) {
            size_t at = name_index_find(&index, s->reservations[k].resource_ids[i]);

            if (at != NAME_NOT_FOUND)
                taken[at] += reserved_by(&s->reservations[k], a, s->taken_at_s);
        }
    }
}

bool amounts_column(const struct placement_problem *p, const char *name,
                    struct expr_value *values)
{
    const struct snapshot *s = p->in->snapshot;
    struct asked a;
    double *taken;

    if (!read_name(name, &a))
        return false;
    taken = NEW(p->arena, double, s->resource_count);
    if (a.free_now)
        add_lists(p, &a, taken);
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        const struct problem_resource *r = &p->resources[pos];
        double capacity = capacity_of(r->given, &a), left;

        budget_step(p->in->budget,
                    1 + r->given->running_count + r->given->reservation_count);
        if (isnan(capacity))
            continue;
        left = capacity;
        if (a.free_now)
            left -= taken[r->index] + taken_on(r->given, &a, s->taken_at_s);
        if (a.free_now && left <= -HUGE_VAL)
            left = 0;
        values[pos] = (struct expr_value){.type = VALUE_NUMBER, .number = left};
    }
    return true;
}
