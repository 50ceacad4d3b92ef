/* world/preempt.c - what to stop so that a job can start now.
 *
 * What a resource lacks is a list of rows: an amount at a time. Holders only begin at 0
 * and at starts of reservations, and what is free only falls there, so that no other
 * times matter. A holder gives to a row what it holds then. Nothing can be given back at
 * a time at which the resource is reserved as a whole.
 */
#include "algorithms/world/preempt.h"

#include "algorithms/world/cover.h"

#include <stdlib.h>
#include <string.h>

struct plea {
    const struct world *w;
    const struct world_plan *plan;
    const struct world_job *j;
    size_t max_nodes;
    struct arena *a;
    double *times; /* 0 and what begins later, rising */
    size_t time_count;
    bool *stopped;       /* by holder */
    bool *is_candidate;  /* by holder */
    bool shares_are_own; /* shared amounts are covered with the node's own */
    bool any_stopped;
    int64_t *shared_short; /* while nothing is stopped: by time and shared amount */
    size_t
        *planned_first; /* by position, into planned: jobs of the plan that start at 0 */
    size_t *planned;
    struct arena *scratch; /* of one resource */
};

/* What one resource costs. */
struct cost {
    size_t position;
    size_t index; /* in the snapshot */
    bool possible, proven;
    double weight;
    size_t count;
    size_t *stop; /* holders */
};

/* ---- what is lacking ---- */

static bool is_held_at(const struct world_holder *h, double at_s)
{
    return h->start_s <= at_s && h->end_s > at_s;
}

/* Row of the world at a time: what is free there without what was stopped. `holders`:
 * those that count, all of the world for a shared amount. */
static int64_t free_at(const struct plea *p, size_t position, size_t amount, double at_s)
{
    const struct world *w = p->w;
    bool shared = amount >= w->node_amount_count;
    int64_t free =
        shared ? w->shared_capacity[amount] : w->resources[position].capacity[amount];
    size_t count = shared ? w->holder_count : w->resources[position].holder_count;

    budget_step(w->budget, count);
    for (size_t i = 0; i < count; i++) {
        size_t h = shared ? i : w->resources[position].holders[i];

        if (!p->stopped[h] && w->holders[h].amounts && is_held_at(&w->holders[h], at_s))
            free = amount_add(free, -w->holders[h].amounts[amount]);
    }
    return free;
}

/* What jobs that start at 0 by the plan hold of it then. */
static int64_t planned_at(const struct plea *p, size_t position, size_t amount,
                          double at_s)
{
    bool shared = amount >= p->w->node_amount_count;
    size_t first = shared || !p->plan ? 0 : p->planned_first[position];
    size_t behind = !p->plan ? 0
                    : shared ? p->plan->placed_count
                             : p->planned_first[position + 1];
    int64_t sum = 0;

    budget_step(p->w->budget, behind - first);
    for (size_t i = first; i < behind; i++) {
        size_t job = shared ? p->plan->sequence[i] : p->planned[i];
        const struct world_placed *o = &p->plan->placed[job];

        if (o->start_s <= 0 && o->end_s > at_s)
            sum = amount_add(sum, p->w->jobs[job].needs[amount]);
    }
    return sum;
}

static int64_t shortage_at(const struct plea *p, size_t position, size_t amount,
                           double at_s)
{
    int64_t need = p->j->needs[amount], free;

    if (need <= 0)
        return 0;
    free = free_at(p, position, amount, at_s);
    if (free < AMOUNT_UNLIMITED)
        free = amount_add(free, -planned_at(p, position, amount, at_s));
    return need > free ? amount_add(need, -free) : 0;
}

static bool is_closed_at(const struct plea *p, size_t position, double at_s)
{
    const struct world_resource *r = &p->w->resources[position];

    for (size_t i = 0; i < r->holder_count; i++)
        if (p->w->holders[r->holders[i]].all &&
            is_held_at(&p->w->holders[r->holders[i]], at_s))
            return true;
    return false;
}

/* HUGE_VAL where nobody knows; a job that cannot run there is not asked about. */
static double held_s(const struct plea *p, size_t position)
{
    return world_held_s(p->w, p->j, world_run_s(p->w, p->j, position));
}

/* ---- one resource ---- */

struct rows {
    size_t *amount;
    double *at_s;
    int64_t *shortage;
    size_t count;
};

static void add_row(struct rows *rows, const struct plea *p, size_t position,
                    size_t amount, size_t time)
{
    double at_s = p->times[time];
    size_t nodes = p->w->node_amount_count;
    int64_t shortage =
        amount >= nodes && !p->any_stopped
            ? p->shared_short[time * (p->w->amount_count - nodes) + amount - nodes]
            : shortage_at(p, position, amount, at_s);

    if (shortage <= 0)
        return;
    rows->amount[rows->count] = amount;
    rows->at_s[rows->count] = at_s;
    rows->shortage[rows->count++] = shortage;
}

/* false: at some time of the run the resource is closed. */
static bool list_rows(const struct plea *p, size_t position, struct rows *rows)
{
    const struct world *w = p->w;
    size_t amounts = p->shares_are_own ? w->amount_count : w->node_amount_count;
    double until_s = held_s(p, position);

    rows->amount = NEW(p->scratch, size_t, p->time_count * amounts);
    rows->at_s = NEW(p->scratch, double, p->time_count *amounts);
    rows->shortage = NEW(p->scratch, int64_t, p->time_count * amounts);
    if (is_closed_at(p, position, 0))
        return false;
    for (size_t t = 0; t < p->time_count && p->times[t] < until_s; t++) {
        budget_step(w->budget, amounts + w->resources[position].holder_count);
        if (is_closed_at(p, position, p->times[t]))
            return false;
        for (size_t k = 0; k < amounts; k++)
            add_row(rows, p, position, k, t);
    }
    return true;
}

static bool is_on(const struct world_holder *h, size_t position)
{
    for (size_t i = 0; i < h->position_count; i++)
        if (h->positions[i] == position)
            return true;
    return false;
}

/* What stopping the holder gives to a row of the resource; position WORLD_NONE: of shared
 * amounts alone. */
static int64_t given(const struct plea *p, size_t position, size_t holder,
                     const struct rows *rows, size_t row)
{
    const struct world_holder *h = &p->w->holders[holder];
    size_t amount = rows->amount[row];

    if (!h->amounts || !is_held_at(h, rows->at_s[row]) ||
        (amount < p->w->node_amount_count && !is_on(h, position)))
        return 0;
    /* More than is lacking is of no use, and sums stay small. */
    return h->amounts[amount] < rows->shortage[row] ? h->amounts[amount]
                                                    : rows->shortage[row];
}

/* Adds the holder if it may be stopped and gives something. */
static void add_item(const struct plea *p, size_t position, size_t holder,
                     const struct rows *rows, struct cover *cover, int64_t *gives,
                     double *weights, size_t *items)
{
    int64_t *own = gives + cover->item_count * rows->count;
    bool gives_some = false;

    if (!p->is_candidate[holder] || p->stopped[holder])
        return;
    budget_step(p->w->budget, rows->count + p->w->holders[holder].position_count);
    for (size_t r = 0; r < rows->count; r++) {
        own[r] = given(p, position, holder, rows, r);
        gives_some |= own[r] > 0;
    }
    weights[cover->item_count] = p->w->holders[holder].weight;
    items[cover->item_count] = holder;
    cover->item_count += gives_some;
}

/* The cheapest stops that give the rows: of what is on the resource or, where something
 * shared is lacking, of all. */
static void cover_rows(const struct plea *p, size_t position, const struct rows *rows,
                       struct cost *out)
{
    const struct world *w = p->w;
    const struct world_resource *r = &w->resources[position];
    bool shared =
        rows->count > 0 && rows->amount[rows->count - 1] >= w->node_amount_count;
    size_t count = shared ? w->holder_count : r->holder_count;
    size_t *items = NEW(p->scratch, size_t, count);
    double *weights = NEW(p->scratch, double, count);
    int64_t *gives = NEW(p->scratch, int64_t, count * rows->count);
    struct cover cover = {rows->count, rows->shortage, 0,        gives,
                          weights,     p->max_nodes,   w->budget};
    struct cover_out found;

    for (size_t i = 0; i < count; i++) {
        budget_step(w->budget, 1);
        add_item(p, position, shared ? i : r->holders[i], rows, &cover, gives, weights,
                 items);
    }
    cover_solve(&cover, &found, p->scratch);
    out->possible = found.possible;
    out->proven = found.proven;
    out->weight = found.weight;
    out->stop = NEW(p->a, size_t, found.count);
    for (size_t i = 0; found.possible && i < cover.item_count; i++)
        if (found.chosen[i])
            out->stop[out->count++] = items[i];
}

static void find_cost(const struct plea *p, size_t position, struct cost *out)
{
    struct rows rows = {0};

    *out = (struct cost){
        .position = position, .index = p->w->resources[position].index, .proven = true};
    if (list_rows(p, position, &rows))
        cover_rows(p, position, &rows, out);
    arena_reset(p->scratch);
}

static int cheapest_first(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* ---- the job ---- */

static bool can_run(const struct plea *p, size_t position)
{
    const struct world_job *j = p->j;

    if (!world_large_enough(p->w, j, position))
        return false;
    if (!j->etc_s && isnan(j->estimate_ref_s) && isnan(j->estimate_s))
        return true;
    return world_full_run_s(p->w, j, position) < HUGE_VAL;
}

/* The resources of a choice that can be made free, cheapest first. */
static size_t list_costs(const struct plea *p, const struct world_choice *choice,
                         struct cost *list)
{
    size_t count = 0;

    for (size_t i = 0; i < p->w->resource_count; i++) {
        budget_step(p->w->budget, 1);
        if (!world_mask_has(choice->mask, i) || !can_run(p, i))
            continue;
        find_cost(p, i, &list[count]);
        count += list[count].possible;
    }
    qsort(list, count, sizeof(*list), cheapest_first);
    return count;
}

/* Everything fits on the positions and in what is shared. */
static bool fits(const struct plea *p, const size_t *positions, size_t count)
{
    struct rows rows = {0};
    bool all = true;

    for (size_t i = 0; all && i < count; i++) {
        all = list_rows(p, positions[i], &rows) && rows.count == 0;
        arena_reset(p->scratch);
    }
    return all;
}

/* Holders that are not needed after all, the heaviest first, run on. */
static void drop_spare(struct plea *p, const size_t *positions, size_t count)
{
    const struct world *w = p->w;
    bool *tried = NEW(p->a, bool, w->holder_count);

    p->shares_are_own = true;
    for (;;) {
        size_t heaviest = WORLD_NONE;

        budget_step(w->budget, w->holder_count);
        for (size_t h = 0; h < w->holder_count; h++)
            if (p->stopped[h] && !tried[h] &&
                (heaviest == WORLD_NONE ||
                 w->holders[h].weight > w->holders[heaviest].weight))
                heaviest = h;
        if (heaviest == WORLD_NONE)
            return;
        tried[heaviest] = true;
        p->stopped[heaviest] = false;
        p->stopped[heaviest] = !fits(p, positions, count);
    }
}

/* No candidate that could be stopped is on two of the job's resources. */
static bool are_apart(const struct plea *p, const struct world_choice *choice)
{
    for (size_t h = 0; h < p->w->holder_count; h++) {
        const struct world_holder *o = &p->w->holders[h];
        size_t on = 0;

        budget_step(p->w->budget, o->position_count + 1);
        for (size_t i = 0; p->is_candidate[h] && i < o->position_count; i++)
            on += world_mask_has(choice->mask, o->positions[i]);
        if (on > 1)
            return false;
    }
    return true;
}

static bool lacks_shared(const struct plea *p, double until_s)
{
    for (size_t t = 0; t < p->time_count && p->times[t] < until_s; t++)
        for (size_t k = p->w->node_amount_count; k < p->w->amount_count; k++)
            if (shortage_at(p, WORLD_NONE, k, p->times[t]) > 0)
                return true;
    return false;
}

/* What is shared is taken once: it is covered with the node that holds longest. */
static bool cover_shared(struct plea *p, const struct cost *list, struct cost *shared)
{
    size_t longest = list[0].position;
    bool possible;

    for (size_t i = 1; i < p->j->nodes; i++)
        if (held_s(p, list[i].position) > held_s(p, longest))
            longest = list[i].position;
    if (!lacks_shared(p, held_s(p, longest)))
        return true;
    p->shares_are_own = true;
    find_cost(p, longest, shared);
    possible = shared->possible;
    for (size_t i = 0; i < shared->count; i++)
        p->stopped[shared->stop[i]] = true;
    shared->proven = false;
    return possible;
}

static int rising_positions(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

/* `list`: the costs of the chosen nodes. */
static void fill_out(const struct plea *p, struct cost *list, size_t choice,
                     struct preemption *out)
{
    size_t *positions = NEW(p->a, size_t, p->j->nodes);
    size_t *stop = NEW(p->a, size_t, p->w->holder_count);

    qsort(list, p->j->nodes, sizeof(*list), rising_positions);
    out->possible = true;
    out->choice = choice;
    for (size_t i = 0; i < p->j->nodes; i++)
        positions[i] = list[i].position;
    out->stop_count = 0;
    out->weight = 0;
    for (size_t h = 0; h < p->w->holder_count; h++)
        if (p->stopped[h]) {
            stop[out->stop_count++] = h;
            out->weight += p->w->holders[h].weight;
        }
    out->positions = positions;
    out->position_count = p->j->nodes;
    out->stop = stop;
}

/* The best of one partition. */
static void try_choice(struct plea *p, size_t choice, struct preemption *out)
{
    const struct world *w = p->w;
    struct cost *list = NEW(p->a, struct cost, w->resource_count), shared = {0};
    size_t *positions = NEW(p->a, size_t, p->j->nodes), count;

    memset(p->stopped, 0, w->holder_count * sizeof(*p->stopped));
    p->any_stopped = false;
    p->shares_are_own = p->j->nodes == 1;
    count = list_costs(p, &p->j->choices[choice], list);
    if (count < p->j->nodes)
        return;
    shared.proven = out->proven = true;
    for (size_t i = 0; i < count; i++)
        out->proven &= list[i].proven;
    for (size_t i = 0; i < p->j->nodes; i++) {
        positions[i] = list[i].position;
        for (size_t n = 0; n < list[i].count; n++)
            p->stopped[list[i].stop[n]] = true;
    }
    p->any_stopped = true;
    if (p->j->nodes > 1) {
        if (!cover_shared(p, list, &shared))
            return;
        drop_spare(p, positions, p->j->nodes);
        out->proven &= shared.proven && are_apart(p, &p->j->choices[choice]);
    }
    fill_out(p, list, choice, out);
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Jobs of the plan that start at 0, by position. */
static void collect_planned(struct plea *p)
{
    const struct world_plan *plan = p->plan;
    size_t *next;

    p->planned_first = NEW(p->a, size_t, p->w->resource_count + 2);
    next = p->planned_first + 1; /* first counts, then where the next one goes */
    for (size_t i = 0; i < plan->placed_count; i++) {
        const struct world_placed *o = &plan->placed[plan->sequence[i]];

        budget_step(p->w->budget, o->position_count);
        for (size_t n = 0; o->start_s <= 0 && n < o->position_count; n++)
            next[o->positions[n] + 1]++;
    }
    for (size_t i = 0; i < p->w->resource_count; i++)
        next[i + 1] += next[i];
    p->planned = NEW(p->a, size_t, next[p->w->resource_count]);
    for (size_t i = 0; i < plan->placed_count; i++) {
        const struct world_placed *o = &plan->placed[plan->sequence[i]];

        budget_step(p->w->budget, o->position_count);
        for (size_t n = 0; o->start_s <= 0 && n < o->position_count; n++)
            p->planned[next[o->positions[n]]++] = plan->sequence[i];
    }
}

static void collect_shared(struct plea *p)
{
    size_t nodes = p->w->node_amount_count, shared = p->w->amount_count - nodes;

    p->shared_short = NEW(p->a, int64_t, p->time_count * shared);
    for (size_t t = 0; t < p->time_count; t++)
        for (size_t k = 0; k < shared; k++)
            p->shared_short[t * shared + k] =
                shortage_at(p, WORLD_NONE, nodes + k, p->times[t]);
}

static void collect(struct plea *p)
{
    const struct world *w = p->w;
    size_t kept = 0;

    p->stopped = NEW(p->a, bool, w->holder_count);
    p->is_candidate = NEW(p->a, bool, w->holder_count);
    p->times = NEW(p->a, double, w->holder_count + 1);
    p->time_count = 1;
    for (size_t h = 0; h < w->holder_count; h++) {
        const struct world_holder *o = &w->holders[h];

        budget_step(w->budget, 1);
        p->is_candidate[h] =
            o->kind == HOLDER_RUNNING && o->preemptible && o->priority < p->j->priority;
        if (o->start_s > 0)
            p->times[p->time_count++] = o->start_s;
    }
    qsort(p->times, p->time_count, sizeof(*p->times), rising);
    for (size_t i = 0; i < p->time_count; i++)
        if (i == 0 || p->times[i] != p->times[kept - 1])
            p->times[kept++] = p->times[i];
    p->time_count = kept;
    if (p->plan)
        collect_planned(p);
    collect_shared(p);
}

/* What jobs of the plan that start now have of the limit. */
static int64_t planned_units(const struct plea *p, size_t limit)
{
    int64_t sum = 0;

    for (size_t i = 0; p->plan && i < p->plan->placed_count; i++) {
        const struct world_placed *o = &p->plan->placed[p->plan->sequence[i]];
        const struct world_job *j = &p->w->jobs[p->plan->sequence[i]];
        const struct world_choice *c = &j->choices[o->choice];

        budget_step(p->w->budget, 1);
        if (o->start_s > 0 || !(o->end_s > 0))
            continue;
        for (size_t k = 0; k < c->limit_count; k++)
            if (c->limits[k] == limit)
                sum = amount_add(sum, world_limit_need(&p->w->limits[limit], j));
    }
    return sum;
}

static bool is_better(const struct preemption *a, const struct preemption *b)
{
    if (!b->possible || a->weight != b->weight)
        return !b->possible || a->weight < b->weight;
    return a->stop_count < b->stop_count;
}

/* The job's user has too much in the partition: stopping others is no help. */
static bool is_limit_short(const struct plea *p, const struct world_choice *c)
{
    bool is_short = false;

    for (size_t k = 0; k < c->limit_count && !is_short; k++) {
        const struct world_limit *l = &p->w->limits[c->limits[k]];
        int64_t left = amount_add(world_limit_left(p->w, l), -world_limit_need(l, p->j));

        is_short = amount_add(left, -planned_units(p, c->limits[k])) < 0;
    }
    return is_short;
}

void world_preempt(const struct world *w, const struct world_plan *plan, size_t job,
                   size_t max_nodes, struct preemption *out, struct arena *a)
{
    struct plea p = {.w = w, .plan = plan, .j = &w->jobs[job], .a = a};
    bool proven = true;

    p.max_nodes = max_nodes;
    p.scratch = arena_create_beside(a, arena_cap_bytes(a));
    *out = (struct preemption){0};
    collect(&p);
    for (size_t i = 0; i < p.j->choice_count; i++) {
        struct preemption found = {0};

        if (is_limit_short(&p, &p.j->choices[i]))
            continue;
        try_choice(&p, i, &found);
        proven &= !found.possible || found.proven;
        if (found.possible && is_better(&found, out))
            *out = found;
    }
    out->proven = out->possible && proven;
    arena_close(p.scratch);
}
