/* world/profile_holders.c - what is free before anything is planned.
 *
 * Starts and ends of all holders by time, one sweep of sums. Sums are kept in two halves:
 * a million holders of 1e18 bytes each do not fit into 64 bits, and what is left must not
 * depend on the order of adding.
 */
#include "algorithms/world/profile.h"

#include <stdlib.h>
#include <string.h>

/* A holder begins (change 1) or ends (-1). */
struct event {
    double at_s;
    int64_t change;
    const struct world_holder *holder;
};

struct sum {
    int64_t high, low; /* high * 2^32 + low */
};

/* Whose amounts `rows` of which holders are summed. */
struct sweep {
    const int64_t *capacity; /* by row of the world */
    const size_t *rows;      /* rows of the world, by amount of the profile */
    size_t row_count;
    struct event *events;
    size_t event_count;
    bool closes; /* whole reservations count */
    struct sum taken[AMOUNTS_MAX];
    size_t closed_count;
};

static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

static void add_events(struct sweep *s, const struct world_holder *h)
{
    double start_s = fmax(h->start_s, 0);

    if (!(start_s < h->end_s))
        return;
    s->events[s->event_count++] = (struct event){start_s, 1, h};
    if (h->end_s < HUGE_VAL)
        s->events[s->event_count++] = (struct event){h->end_s, -1, h};
}

static void apply(struct sweep *s, const struct event *e)
{
    const struct world_holder *h = e->holder;

    if (h->all && s->closes)
        s->closed_count = e->change > 0 ? s->closed_count + 1 : s->closed_count - 1;
    for (size_t k = 0; k < s->row_count; k++) {
        int64_t amount = h->amounts ? h->amounts[s->rows[k]] : 0;

        s->taken[k].high += e->change * (amount >> 32);
        s->taken[k].low += e->change * (amount & 0xffffffff);
    }
}

static int64_t left(const struct sweep *s, size_t k)
{
    int64_t carry = s->taken[k].low >> 32;
    int64_t high = s->taken[k].high + carry;
    int64_t low = s->taken[k].low - carry * ((int64_t)1 << 32), taken;

    taken = high >= AMOUNT_UNLIMITED >> 32 ? AMOUNT_UNLIMITED
                                           : high * ((int64_t)1 << 32) + low;
    taken = amount_add(s->capacity[s->rows[k]], -taken);
    return s->closed_count > 0 && taken > 0 ? 0 : taken;
}

/* Adds a step at at_s unless nothing changes there. */
static void add_step(struct profile *p, const struct sweep *s, double at_s)
{
    int64_t *free = p->free + p->count * s->row_count;

    for (size_t k = 0; k < s->row_count; k++)
        free[k] = left(s, k);
    if (p->count > 0 &&
        memcmp(free - s->row_count, free, s->row_count * sizeof(*free)) == 0)
        return;
    p->at_s[p->count++] = at_s;
}

/* Applies what happens up to at_s; which event comes next. */
static size_t apply_until(const struct world *w, struct sweep *s, size_t i, double at_s)
{
    for (; i < s->event_count && s->events[i].at_s <= at_s; i++) {
        budget_step(w->budget, 2 * s->row_count);
        apply(s, &s->events[i]);
    }
    return i;
}

static void run_sweep(const struct world *w, struct sweep *s, struct profile *p,
                      struct arena *a)
{
    size_t i;

    qsort(s->events, s->event_count, sizeof(*s->events), by_time);
    *p = (struct profile){.amount_count = s->row_count, .room = s->event_count + 1};
    p->at_s = NEW(a, double, p->room);
    p->free = NEW(a, int64_t, p->room * s->row_count);
    i = apply_until(w, s, 0, 0);
    add_step(p, s, 0);
    while (i < s->event_count) {
        double at_s = s->events[i].at_s;

        i = apply_until(w, s, i, at_s);
        add_step(p, s, at_s);
    }
}

void profile_of_rows(const struct world *w, size_t position, const size_t *rows,
                     size_t row_count, struct profile *p, struct arena *a)
{
    const struct world_resource *r = &w->resources[position];
    struct sweep s = {
        .capacity = r->capacity, .rows = rows, .row_count = row_count, .closes = true};

    s.events = NEW(a, struct event, 2 * r->holder_count);
    for (size_t i = 0; i < r->holder_count; i++)
        add_events(&s, &w->holders[r->holders[i]]);
    run_sweep(w, &s, p, a);
}

void profile_of_resource(const struct world *w, size_t position, struct profile *p,
                         struct arena *a)
{
    size_t rows[AMOUNTS_MAX];

    for (size_t k = 0; k < w->node_amount_count; k++)
        rows[k] = k;
    profile_of_rows(w, position, rows, w->node_amount_count, p, a);
}

void profile_of_shared(const struct world *w, size_t amount, struct profile *p,
                       struct arena *a)
{
    struct sweep s = {.capacity = w->shared_capacity, .rows = &amount, .row_count = 1};
    size_t count = 0;

    for (size_t i = 0; i < w->holder_count; i++)
        count += w->holders[i].amounts && w->holders[i].amounts[amount] > 0;
    s.events = NEW(a, struct event, 2 * count);
    for (size_t i = 0; i < w->holder_count; i++)
        if (w->holders[i].amounts && w->holders[i].amounts[amount] > 0)
            add_events(&s, &w->holders[i]);
    run_sweep(w, &s, p, a);
}

static int by_size(const void *a, const void *b)
{
    const struct world_limit_hold *x = a, *y = b;

    return (x->end_s > y->end_s) - (x->end_s < y->end_s);
}

/* From the last end backwards, so that what saturates depends on no order. */
void profile_of_limit(const struct world *w, const struct world_limit *l,
                      struct profile *p, struct arena *a)
{
    size_t count = l->held_count, steps = 1, ending = 0;
    struct world_limit_hold *held = NEW(a, struct world_limit_hold, count);
    int64_t free = l->capacity;

    for (size_t i = 0; i < count; i++)
        held[i] = l->held[i];
    qsort(held, count, sizeof(*held), by_size);
    budget_step(w->budget, 16 * count + 1);
    for (; ending < count && held[ending].end_s < HUGE_VAL; ending++)
        steps += ending == 0 || held[ending].end_s > held[ending - 1].end_s;
    *p = (struct profile){.amount_count = 1, .room = steps, .count = steps};
    p->at_s = NEW(a, double, steps);
    p->free = NEW(a, int64_t, steps);
    for (size_t i = count; i-- > ending;)
        free = amount_add(free, -held[i].units);
    for (size_t i = ending; i-- > 0;) {
        if (i + 1 == ending || held[i].end_s < held[i + 1].end_s) {
            p->at_s[--steps] = held[i].end_s;
            p->free[steps] = free;
        }
        free = amount_add(free, -held[i].units);
    }
    p->free[0] = free;
}
