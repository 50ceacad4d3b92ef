/* cluster_replay/conservative.c - every job has a place in time that nobody may delay.
 *
 * A timeline of steps says what is free from each on: of whole nodes how many of each
 * class, of shared ones the amounts of each node. Jobs that come are laid in where they
 * fit first. When a job has ended before its estimate, each job in the order of the queue
 * moves up to where it fits first if it left its place, or stays. Who is due at once
 * starts. When a node fails or is repaired, a job is requeued, or one runs longer than it
 * said, all plans are made anew.
 *
 * Cost: O(steps) a question on one class, O(steps^2) on several; with shared nodes each
 * step has all amounts of all nodes.
 *
 * Source: A. Mu'alem, D. Feitelson 2001; on classes of nodes: ours.
 */
#include "algorithms/cluster_replay/parts.h"

#include <string.h>

/* Nodes of a class, or a node. */
struct share {
    uint32_t group, count;
};

struct plan {
    int64_t at_ms; /* REPLAY_NEVER: none */
    struct share *shares;
    uint32_t count, room, set;
};

struct timeline {
    int64_t *at_ms, *free; /* [count], [count][columns] */
    size_t count, room, columns;
    size_t groups, amounts; /* columns of a group; behind all groups: shared amounts */
    struct plan *plans;     /* by job */
    int64_t *least;         /* [columns]: over a window */
    struct share *shares;   /* of a question */
    size_t share_count;
    int64_t wake_ms; /* posted */
    bool ended_early;
};

void conservative_create(struct engine *e)
{
    struct timeline *t = e->timeline = NEW(e->a, struct timeline, 1);

    t->groups = e->whole ? e->class_count : e->node_count;
    t->amounts = e->whole ? 1 : e->amount_count;
    t->columns = t->groups * t->amounts + e->in->shared_count;
    t->room = 64;
    t->at_ms = NEW(e->a, int64_t, t->room);
    t->free = NEW(e->a, int64_t, t->room * t->columns);
    t->least = NEW(e->a, int64_t, t->columns);
    t->shares = NEW(e->a, struct share, t->groups);
    t->plans = NEW(e->a, struct plan, e->in->job_count);
    for (size_t j = 0; j < e->in->job_count; j++)
        t->plans[j].at_ms = REPLAY_NEVER;
    t->wake_ms = -1;
    e->irregular = true;
}

/* ---- steps ---- */

static void reserve_step(struct engine *e)
{
    struct timeline *t = e->timeline;

    if (t->count < t->room)
        return;
    t->at_ms = GROW(e->a, t->at_ms, int64_t, t->room, 2 * t->room);
    t->free =
        GROW(e->a, t->free, int64_t, t->room * t->columns, 2 * t->room * t->columns);
    t->room *= 2;
}

/* The step that holds at an instant, not before the first. */
static size_t step_at(const struct timeline *t, int64_t at_ms)
{
    size_t low = 0, high = t->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (t->at_ms[middle] <= at_ms)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The step that begins then: a new one, if there is none. */
static size_t step_from(struct engine *e, int64_t at_ms)
{
    struct timeline *t = e->timeline;
    size_t s = step_at(t, at_ms);

    if (t->at_ms[s] >= at_ms)
        return s;
    reserve_step(e);
    memmove(t->at_ms + s + 2, t->at_ms + s + 1, (t->count - s - 1) * sizeof(int64_t));
    memmove(t->free + (s + 2) * t->columns, t->free + (s + 1) * t->columns,
            (t->count - s - 1) * t->columns * sizeof(int64_t));
    memcpy(t->free + (s + 1) * t->columns, t->free + s * t->columns,
           t->columns * sizeof(int64_t));
    t->at_ms[s + 1] = at_ms;
    t->count++;
    budget_step(e->budget, (t->count - s) * t->columns);
    return s + 1;
}

/* A window ends behind its begin, also that of a job that takes no time. */
static int64_t end_of(int64_t at_ms, int64_t span_ms)
{
    return later(at_ms, span_ms > 0 ? span_ms : 1);
}

/* What one node gives a job. */
static int64_t part_of(const struct engine *e, uint32_t job, bool exclusive, size_t group,
                       size_t amount)
{
    if (e->whole)
        return 1;
    return exclusive ? e->classes[e->nodes[group].klass].amounts[amount]
                     : e->in->jobs[job].need[amount];
}

static void change(struct engine *e, uint32_t job, bool exclusive,
                   const struct share *shares, size_t count, int64_t from_ms,
                   int64_t to_ms, int64_t sign)
{
    struct timeline *t = e->timeline;
    const struct replay_job *j = &e->in->jobs[job];
    size_t first = step_from(e, from_ms);
    size_t last = to_ms == REPLAY_NEVER ? t->count : step_from(e, to_ms);

    for (size_t s = first; s < last; s++) {
        int64_t *free = t->free + s * t->columns;

        for (size_t i = 0; i < count; i++)
            for (size_t a = 0; a < t->amounts; a++)
                free[shares[i].group * t->amounts + a] +=
                    sign * (int64_t)shares[i].count *
                    part_of(e, job, exclusive, shares[i].group, a);
        budget_step(e->budget, count * t->amounts + 1);
        for (size_t i = 0; i < j->shared_count; i++)
            free[t->groups * t->amounts + j->shared[i].name] +=
                sign * j->shared[i].amount;
    }
}

static void advance(struct engine *e)
{
    struct timeline *t = e->timeline;
    size_t s = step_at(t, e->kernel.now_ms);

    if (s > 0) {
        t->count -= s;
        memmove(t->at_ms, t->at_ms + s, t->count * sizeof(int64_t));
        memmove(t->free, t->free + s * t->columns,
                t->count * t->columns * sizeof(int64_t));
    }
    t->at_ms[0] = e->kernel.now_ms;
}

/* ---- where a job fits ---- */

static size_t class_of(const struct engine *e, size_t group)
{
    return e->whole ? group : e->nodes[group].klass;
}

/* How many of its nodes a group has room for throughout, by t->least. */
static int64_t room_of(const struct engine *e, uint32_t job, size_t group)
{
    const struct timeline *t = e->timeline;
    const int64_t *least = t->least + group * t->amounts;

    if (e->whole)
        return least[0] > 0 ? least[0] : 0;
    return nodes_room(e, job, &e->classes[e->nodes[group].klass], least);
}

/* Its nodes on groups of the set in a window, by t->least; false: there are too few. */
static bool choose(struct engine *e, uint32_t job, uint32_t set, int64_t from_ms,
                   int64_t to_ms)
{
    struct timeline *t = e->timeline;
    int64_t missing = (int64_t)e->in->jobs[job].nodes + e->in->jobs[job].spare_nodes;

    t->share_count = 0;
    if (!nodes_shared_fit(e, job, t->least + t->groups * t->amounts))
        return false;
    for (size_t c = 0; c < e->set_class_count[set] && missing > 0; c++) {
        uint32_t class = e->set_classes[set][c];
        size_t members = e->whole ? 1 : e->classes[class].count;

        if (!nodes_eligible(e, job, class, from_ms, to_ms))
            continue;
        for (size_t m = 0; m < members && missing > 0; m++) {
            uint32_t group = e->whole ? class : e->classes[class].nodes[m];
            int64_t room = room_of(e, job, group);

            if (room > missing)
                room = missing;
            if (room > 0)
                t->shares[t->share_count++] = (struct share){group, (uint32_t)room};
            missing -= room;
        }
        budget_step(e->budget, members);
    }
    return missing == 0;
}

/* Whether it fits from then on; else the step from which to look again. */
static bool fits_at(struct engine *e, uint32_t job, uint32_t set, int64_t at_ms,
                    size_t step, size_t *again)
{
    struct timeline *t = e->timeline;
    int64_t to_ms = end_of(at_ms, e->lives[job].estimate_ms);

    memcpy(t->least, t->free + step * t->columns, t->columns * sizeof(int64_t));
    *again = step + 1;
    for (size_t s = step; s < t->count && t->at_ms[s] < to_ms; s++) {
        const int64_t *free = t->free + s * t->columns;

        for (size_t c = 0; c < t->columns; c++)
            if (free[c] < t->least[c])
                t->least[c] = free[c];
        budget_step(e->budget, t->columns);
        if (t->groups == 1 && !choose(e, job, set, at_ms, to_ms)) {
            *again = s + 1;
            return false;
        }
    }
    return choose(e, job, set, at_ms, to_ms);
}

/* Reservations end at instants that are no steps. */
static int64_t next_opening(const struct engine *e, int64_t after_ms, int64_t before_ms)
{
    for (size_t i = 0; i < e->in->reservation_count; i++) {
        int64_t end_ms = e->in->reservations[i].end_ms;

        if (end_ms > after_ms && end_ms < before_ms)
            before_ms = end_ms;
    }
    return before_ms;
}

/* The first instant from now on, before `before_ms`, at which it fits on the set; its
 * nodes are in t->shares. REPLAY_NEVER: none. */
static int64_t fit_on(struct engine *e, uint32_t job, uint32_t set, int64_t before_ms)
{
    struct timeline *t = e->timeline;
    int64_t at_ms = e->kernel.now_ms;
    size_t step = 0, again;

    while (at_ms < before_ms && !budget_step(e->budget, 4)) {
        int64_t opening_ms;

        if (fits_at(e, job, set, at_ms, step, &again))
            return at_ms;
        opening_ms = next_opening(e, at_ms, REPLAY_NEVER);
        at_ms = again < t->count ? t->at_ms[again] : REPLAY_NEVER;
        if (opening_ms < at_ms)
            at_ms = opening_ms;
        if (at_ms < REPLAY_NEVER)
            step = step_at(t, at_ms);
    }
    return REPLAY_NEVER;
}

/* On the set where that is first. */
static int64_t fit_first(struct engine *e, uint32_t job, int64_t before_ms, uint32_t *set)
{
    int64_t best_ms = REPLAY_NEVER;
    size_t count = nodes_set_count(e, job);

    for (size_t i = 0; i < count; i++) {
        int64_t at_ms = fit_on(e, job, nodes_set(e, job, i), before_ms);

        if (at_ms < best_ms) {
            best_ms = before_ms = at_ms;
            *set = nodes_set(e, job, i);
        }
    }
    if (best_ms < REPLAY_NEVER && count > 1)
        fit_on(e, job, *set, REPLAY_NEVER); /* its nodes once more */
    return best_ms;
}

/* ---- places ---- */

static void lay(struct engine *e, uint32_t job, uint32_t set, int64_t at_ms)
{
    struct timeline *t = e->timeline;
    struct plan *p = &t->plans[job];

    p->at_ms = at_ms;
    p->set = set;
    if (at_ms == REPLAY_NEVER)
        return;
    if (p->room < t->share_count) {
        p->room = (uint32_t)t->share_count;
        p->shares = NEW(e->a, struct share, p->room);
    }
    memcpy(p->shares, t->shares, t->share_count * sizeof(*p->shares));
    p->count = (uint32_t)t->share_count;
    e->out->outcomes[job].planned_ms = at_ms;
    change(e, job, e->in->jobs[job].exclusive, p->shares, p->count, at_ms,
           end_of(at_ms, e->lives[job].estimate_ms), -1);
}

static void lift(struct engine *e, uint32_t job)
{
    struct plan *p = &e->timeline->plans[job];

    if (p->at_ms < REPLAY_NEVER)
        change(e, job, e->in->jobs[job].exclusive, p->shares, p->count, p->at_ms,
               end_of(p->at_ms, e->lives[job].estimate_ms), 1);
    p->at_ms = REPLAY_NEVER;
}

static void lay_first(struct engine *e, uint32_t job)
{
    uint32_t set = 0;
    int64_t at_ms = fit_first(e, job, REPLAY_NEVER, &set);

    lay(e, job, set, at_ms);
}

static void compress(struct engine *e)
{
    struct line_place place = {0};
    size_t passed = 0;
    const struct line_entry *x;

    for (; (x = line_at(&e->line, &place, UINT32_MAX, &passed)); place.entry++) {
        uint32_t set = e->timeline->plans[x->job].set;
        int64_t planned_ms = e->timeline->plans[x->job].at_ms;

        if (budget_step(e->budget, 8))
            return;
        if (planned_ms <= e->kernel.now_ms || planned_ms == REPLAY_NEVER)
            continue;
        lift(e, x->job);
        lay(e, x->job, set, fit_first(e, x->job, REPLAY_NEVER, &set));
    }
}

/* ---- what runs ---- */

/* The nodes of a run that are up, as shares; in t->shares. */
static void shares_of(struct engine *e, const struct run *r)
{
    struct timeline *t = e->timeline;

    t->share_count = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        uint32_t group = e->whole ? e->nodes[r->nodes[i]].klass : r->nodes[i];
        size_t at = 0;

        while (at < t->share_count && e->whole && t->shares[at].group != group)
            at++;
        if (!e->whole)
            at = t->share_count;
        if (at == t->share_count)
            t->shares[t->share_count++] = (struct share){group, 0};
        t->shares[at].count++;
        budget_step(e->budget, at + 1);
    }
}

void conservative_give(struct engine *e, const struct run *r)
{
    int64_t now_ms = e->kernel.now_ms;
    int64_t end_ms = end_of(r->start_ms, r->expected_ms - r->start_ms);

    if (e->irregular || end_ms <= now_ms)
        return; /* all is made anew, or it has its time behind it */
    advance(e);
    shares_of(e, r);
    change(e, r->job, r->exclusive, e->timeline->shares, e->timeline->share_count, now_ms,
           end_ms, 1);
    e->timeline->ended_early |= r->expected_ms > r->start_ms;
}

/* What is free now, and what those that run give back. */
static void build(struct engine *e)
{
    struct timeline *t = e->timeline;

    t->count = 1;
    t->at_ms[0] = e->kernel.now_ms;
    for (size_t g = 0; g < t->groups; g++) {
        const struct node *n = e->whole ? NULL : &e->nodes[g];

        if (e->whole)
            t->free[g] = (int64_t)e->classes[g].idle.count;
        budget_step(e->budget, t->amounts);
        for (size_t a = 0; a < t->amounts && n; a++)
            t->free[g * t->amounts + a] = n->down_depth ? 0 : e->free[g * t->amounts + a];
    }
    for (size_t i = 0; i < e->in->shared_count; i++)
        t->free[t->groups * t->amounts + i] = e->shared_free[i];
    for (size_t i = 0; i < e->running_count; i++) {
        const struct run *r = e->running[i].run;

        shares_of(e, r);
        change(e, r->job, r->exclusive, t->shares, t->share_count,
               running_end_ms(e, &e->running[i]), REPLAY_NEVER, 1);
    }
}

/* Nodes that are down come back so long from now. */
static void add_repairs(struct engine *e)
{
    struct timeline *t = e->timeline;

    for (size_t g = 0; g < t->groups; g++) {
        const struct klass *k = &e->classes[class_of(e, g)];
        size_t down = e->whole ? k->down_count : e->nodes[g].down_depth > 0;
        int64_t at_ms = later(e->kernel.now_ms, k->repair_ms);

        if (!down || at_ms == REPLAY_NEVER)
            continue;
        for (size_t s = step_from(e, at_ms); s < t->count; s++)
            for (size_t a = 0; a < t->amounts; a++)
                t->free[s * t->columns + g * t->amounts + a] +=
                    e->whole ? (int64_t)down : k->amounts[a];
    }
}

static void rebuild(struct engine *e)
{
    struct line_place place = {0};
    size_t passed = 0;
    const struct line_entry *x;

    build(e);
    add_repairs(e);
    for (; (x = line_at(&e->line, &place, UINT32_MAX, &passed)); place.entry++) {
        if (budget_step(e->budget, 8))
            return;
        e->timeline->plans[x->job].at_ms = REPLAY_NEVER;
        lay_first(e, x->job);
    }
    e->timeline->ended_early = false;
}

/* ---- starts ---- */

/* The nodes of its plan, if they are free. */
static bool pick_planned(struct engine *e, uint32_t job)
{
    const struct plan *p = &e->timeline->plans[job];

    e->picked_count = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct klass *k = &e->classes[class_of(e, p->shares[i].group)];
        size_t local = BITS_NONE;

        budget_step(e->budget, p->shares[i].count);
        if (!e->whole) {
            uint32_t node = p->shares[i].group;

            if (e->nodes[node].down_depth || !nodes_shares(e, job, node) ||
                !nodes_room(e, job, k, e->free + node * e->amount_count))
                return false;
            e->picked[e->picked_count++] = node;
            continue;
        }
        for (uint32_t n = 0; n < p->shares[i].count; n++) {
            local = bits_next(&k->idle, n ? local + 1 : 0);
            if (local == BITS_NONE)
                return false;
            e->picked[e->picked_count++] = k->nodes[local];
        }
    }
    return nodes_shared_fit(e, job, e->shared_free);
}

/* Due at once, or behind a job that takes no time. */
static bool start_planned(struct engine *e, uint32_t job)
{
    struct plan *p = &e->timeline->plans[job];

    if (p->at_ms > e->kernel.now_ms) {
        uint32_t set = p->set;
        int64_t at_ms;

        lift(e, job);
        at_ms = fit_first(e, job, REPLAY_NEVER, &set);
        lay(e, job, set, at_ms);
    }
    if (p->at_ms > e->kernel.now_ms || !pick_planned(e, job))
        return false;
    p->at_ms = REPLAY_NEVER;
    life_start(e, job, p->set);
    return true;
}

/* Starts who is due; when the next one is. */
static int64_t start_due(struct engine *e)
{
    struct line_place place = {0};
    size_t passed = 0;
    int64_t next_ms = REPLAY_NEVER;
    const struct line_entry *x;

    while ((x = line_at(&e->line, &place, UINT32_MAX, &passed))) {
        int64_t at_ms = e->timeline->plans[x->job].at_ms;

        if (budget_step(e->budget, 2))
            break;
        if (at_ms <= e->kernel.now_ms + 1 && start_planned(e, x->job))
            continue; /* the next one is in its place */
        at_ms = e->timeline->plans[x->job].at_ms;
        if (at_ms < next_ms)
            next_ms = at_ms;
        place.entry++;
    }
    return next_ms;
}

void conservative_round(struct engine *e)
{
    struct timeline *t = e->timeline;
    bool overdue =
        e->running_count && running_end_ms(e, &e->running[0]) > e->running[0].end_ms;
    int64_t next_ms;

    e->out->totals.rounds++;
    if (e->irregular || overdue) {
        rebuild(e);
    } else {
        advance(e);
        if (t->ended_early)
            compress(e);
        t->ended_early = false;
        for (size_t i = 0; i < e->fresh_count; i++)
            if (e->lives[e->fresh[i]].stage == LIFE_WAITS)
                lay_first(e, e->fresh[i]);
    }
    e->irregular = false;
    next_ms = start_due(e);
    if (next_ms > e->kernel.now_ms && next_ms < REPLAY_NEVER && !overdue &&
        next_ms != t->wake_ms) {
        t->wake_ms = next_ms;
        kernel_post(&e->kernel, next_ms, EVENT_TRANSFER, NULL, 0);
    }
}
