/* world/check_amounts.c - nothing is taken twice: one sweep of sums over the events of
 * each resource, and one over those of the shared amounts.
 *
 * At equal times ends come first. What is looked at are the sums when all events of
 * a time have been counted: a plan may take what running jobs and reservations leave, and
 * nothing where they leave less than nothing or all is reserved. A job that takes no time
 * takes nothing; it only must not be inside a reservation of all.
 */
#include "algorithms/world/check_parts.h"

#include <stdlib.h>

/* 10^6 jobs of 10^18 bytes each. */
__extension__ typedef __int128 wide;

enum event_kind { EVENT_END, EVENT_POINT, EVENT_START };
enum event_of { OF_CLAIM, OF_HOLDER, OF_INSIDE };

/* OF_INSIDE: of a reservation of all, for jobs that take no time: without its ends. */
struct event {
    double at_s;
    enum event_kind kind;
    enum event_of of;
    size_t index; /* of the claim, or holder */
};

struct sweep {
    struct checking *c;
    size_t position;         /* WORLD_NONE: shared amounts */
    size_t from, to;         /* rows of amounts */
    const int64_t *capacity; /* by amount */
    struct event *events;
    size_t event_count;
    wide held[AMOUNTS_MAX], planned[AMOUNTS_MAX];
    size_t closed, closed_inside; /* reservations of all */
    bool is_over[AMOUNTS_MAX];
    double over_until_s[AMOUNTS_MAX];
    size_t newest, *older, *newer; /* claims that are under way; lists by claim */
};

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->of != y->of)
        return x->of < y->of ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void add_event(struct sweep *s, double at_s, enum event_kind kind,
                      enum event_of of, size_t index)
{
    s->events[s->event_count++] = (struct event){at_s, kind, of, index};
}

static void add_interval(struct sweep *s, double start_s, double end_s, enum event_of of,
                         size_t index)
{
    add_event(s, start_s, EVENT_START, of, index);
    if (end_s < HUGE_VAL)
        add_event(s, end_s, EVENT_END, of, index);
}

static void add_claim(struct sweep *s, size_t i)
{
    const struct check_fact *f = &s->c->facts[i];
    double start_s = s->c->claims[i].start_s;

    if (f->is_point)
        add_event(s, start_s, EVENT_POINT, OF_CLAIM, i);
    else if (f->holds)
        add_interval(s, start_s, check_freed_s(start_s, f->end_s), OF_CLAIM, i);
}

static void add_holder(struct sweep *s, size_t i)
{
    const struct world_holder *h = &s->c->w->holders[i];
    double freed_s = check_freed_s(h->start_s, h->end_s);
    double inside_s = h->start_s + check_slack(h->start_s);

    if (!(h->end_s > h->start_s))
        return;
    add_interval(s, h->start_s, freed_s, OF_HOLDER, i);
    if (h->all && inside_s < freed_s)
        add_interval(s, inside_s, freed_s, OF_INSIDE, i);
}

static int64_t narrow(wide x)
{
    return x > INT64_MAX ? INT64_MAX : x < INT64_MIN ? INT64_MIN : (int64_t)x;
}

/* What running jobs and reservations leave of it. */
static wide left_of(const struct sweep *s, size_t k)
{
    wide left = s->capacity[k] - s->held[k];

    return s->closed > 0 && left > 0 ? 0 : left;
}

/* Those under way that take of it, the latest start first; the first is blamed. */
static void note_excess(struct sweep *s, size_t k, double at_s)
{
    struct checking *c = s->c;
    struct world_violation v = check_broken(
        s->position == WORLD_NONE ? RULE_SHARED_EXCEEDED : RULE_AMOUNT_EXCEEDED, 0);
    size_t takers[1 + CHECK_OTHERS_MAX] = {0}, count = 0;

    for (size_t i = s->newest; i != WORLD_NONE && count <= CHECK_OTHERS_MAX;
         i = s->older[i]) {
        int64_t need = c->w->jobs[c->claims[i].job].needs[k];

        if (is_spent(c, 1))
            return;
        if (need > 0 && need <= s->capacity[k])
            takers[count++] = i;
    }
    v.claim = takers[0];
    v.position = s->position;
    v.amount = k;
    v.at_s = at_s;
    v.needed = narrow(s->planned[k]);
    v.free = narrow(left_of(s, k));
    v.others = takers + 1;
    v.other_count = count - 1;
    check_note(c, &v);
}

/* All events up to at_s are counted. An excess that pauses for less than what counts as
 * no time has not paused. */
static void look(struct sweep *s, double at_s)
{
    for (size_t k = s->from; k < s->to; k++) {
        bool is_over = s->capacity[k] < AMOUNT_UNLIMITED && s->planned[k] > 0 &&
                       s->planned[k] > left_of(s, k);

        if (is_over && !s->is_over[k] &&
            !(at_s - s->over_until_s[k] <= 2 * check_slack(at_s)))
            note_excess(s, k, at_s);
        if (!is_over && s->is_over[k])
            s->over_until_s[k] = at_s;
        s->is_over[k] = is_over;
    }
}

static void link_claim(struct sweep *s, size_t i)
{
    s->older[i] = s->newest;
    s->newer[i] = WORLD_NONE;
    if (s->newest != WORLD_NONE)
        s->newer[s->newest] = i;
    s->newest = i;
}

static void unlink_claim(struct sweep *s, size_t i)
{
    if (s->newer[i] == WORLD_NONE)
        s->newest = s->older[i];
    else
        s->older[s->newer[i]] = s->older[i];
    if (s->older[i] != WORLD_NONE)
        s->newer[s->older[i]] = s->newer[i];
}

/* A need above the capacity has been said to be too large: it does not count again. */
static void count_claim(struct sweep *s, size_t i, bool starts)
{
    const int64_t *needs = s->c->w->jobs[s->c->claims[i].job].needs;

    if (starts)
        link_claim(s, i);
    else
        unlink_claim(s, i);
    for (size_t k = s->from; k < s->to; k++)
        if (needs[k] > 0 && needs[k] <= s->capacity[k])
            s->planned[k] += starts ? needs[k] : -needs[k];
}

static void change(size_t *count, bool starts)
{
    if (starts)
        ++*count;
    else
        --*count;
}

static void count_holder(struct sweep *s, size_t i, bool starts)
{
    const struct world_holder *h = &s->c->w->holders[i];

    if (h->all) {
        change(&s->closed, starts);
        return;
    }
    for (size_t k = s->from; k < s->to; k++)
        s->held[k] += starts ? h->amounts[k] : -h->amounts[k];
}

static void note_inside(struct sweep *s, size_t i)
{
    struct world_violation v = check_broken(RULE_AMOUNT_EXCEEDED, i);

    v.position = s->position;
    v.amount = AMOUNT_PRESENCE;
    v.at_s = s->c->claims[i].start_s;
    v.needed = s->c->w->jobs[s->c->claims[i].job].needs[AMOUNT_PRESENCE];
    v.free = 0;
    v.detail = "It takes no time, but all of the resource is reserved then.";
    check_note(s->c, &v);
}

static void count_event(struct sweep *s, const struct event *e)
{
    bool starts = e->kind == EVENT_START;

    if (e->kind == EVENT_POINT) {
        if (s->closed_inside > 0)
            note_inside(s, e->index);
    } else if (e->of == OF_CLAIM) {
        count_claim(s, e->index, starts);
    } else if (e->of == OF_HOLDER) {
        count_holder(s, e->index, starts);
    } else {
        change(&s->closed_inside, starts);
    }
}

static void run(struct sweep *s)
{
    size_t rows = s->to - s->from;

    if (is_spent(s->c, s->event_count * 8))
        return;
    qsort(s->events, s->event_count, sizeof(*s->events), compare_events);
    for (size_t i = 0; i < s->event_count; i++) {
        if (is_spent(s->c, 2 * rows))
            return;
        count_event(s, &s->events[i]);
        if (i + 1 == s->event_count || s->events[i + 1].at_s > s->events[i].at_s)
            look(s, s->events[i].at_s);
    }
}

/* Its memory is that of `like`. */
static struct sweep begin(const struct sweep *like, size_t position)
{
    const struct world *w = like->c->w;
    struct sweep s = {.c = like->c,
                      .position = position,
                      .events = like->events,
                      .older = like->older,
                      .newer = like->newer,
                      .newest = WORLD_NONE};
    bool is_shared = position == WORLD_NONE;

    s.from = is_shared ? w->node_amount_count : 0;
    s.to = is_shared ? w->amount_count : w->node_amount_count;
    s.capacity = is_shared ? w->shared_capacity : w->resources[position].capacity;
    for (size_t k = 0; k < AMOUNTS_MAX; k++)
        s.over_until_s[k] = -HUGE_VAL;
    return s;
}

static bool takes_shared(const struct world *w, const int64_t *amounts)
{
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        if (amounts[k] > 0)
            return true;
    return false;
}

static void sweep_shared(struct checking *c, const struct sweep *like)
{
    const struct world *w = c->w;
    struct sweep s = begin(like, WORLD_NONE);

    if (w->node_amount_count == w->amount_count)
        return;
    for (size_t i = 0; i < c->claim_count && !is_spent(c, 4); i++)
        if (c->facts[i].counts && c->facts[i].holds &&
            takes_shared(w, w->jobs[c->claims[i].job].needs))
            add_claim(&s, i);
    for (size_t i = 0; i < w->holder_count && !is_spent(c, 4); i++)
        if (!w->holders[i].all && takes_shared(w, w->holders[i].amounts))
            add_holder(&s, i);
    run(&s);
}

/* Claims by resource: those of resource p are list[start[p]] .. list[start[p+1]-1]. */
struct users {
    size_t *start, *list;
};

static struct users users_of_resources(struct checking *c)
{
    const struct check_fact *facts = c->facts;
    size_t count = c->w->resource_count, *start = NEW(c->a, size_t, count + 2), total = 0;
    struct users u = {.start = start};

    for (size_t i = 0; i < c->claim_count && !is_spent(c, facts[i].position_count); i++)
        for (size_t k = 0; k < facts[i].position_count; k++, total++)
            start[facts[i].positions[k] + 2]++;
    for (size_t p = 0; p < count; p++)
        start[p + 2] += start[p + 1];
    u.list = NEW(c->a, size_t, total);
    for (size_t i = 0; i < c->claim_count && !is_spent(c, facts[i].position_count); i++)
        for (size_t k = 0; k < facts[i].position_count; k++)
            u.list[start[facts[i].positions[k] + 1]++] = i;
    return u;
}

static void sweep_resource(const struct sweep *like, size_t position,
                           const struct users *u)
{
    const struct world_resource *r = &like->c->w->resources[position];
    struct sweep s = begin(like, position);

    for (size_t i = u->start[position]; i < u->start[position + 1]; i++)
        add_claim(&s, u->list[i]);
    for (size_t i = 0; i < r->holder_count; i++)
        add_holder(&s, r->holders[i]);
    run(&s);
}

void check_amounts(struct checking *c)
{
    const struct world *w = c->w;
    struct users u = users_of_resources(c);
    struct sweep like = {.c = c};
    size_t most = 2 * (c->claim_count + w->holder_count);

    if (c->cut)
        return;
    for (size_t p = 0; p < w->resource_count; p++) {
        size_t here =
            2 * (u.start[p + 1] - u.start[p]) + 4 * w->resources[p].holder_count;

        most = here > most ? here : most;
    }
    like.events = NEW(c->a, struct event, most);
    like.older = NEW(c->a, size_t, c->claim_count);
    like.newer = NEW(c->a, size_t, c->claim_count);
    for (size_t p = 0; p < w->resource_count && !is_spent(c, 1); p++)
        if (u.start[p + 1] > u.start[p])
            sweep_resource(&like, p, &u);
    sweep_shared(c, &like);
}
