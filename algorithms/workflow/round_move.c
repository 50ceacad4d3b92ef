/* workflow/round_move.c - step 2: running parent sets, the smallest first.
 *
 * In each set the longest task goes where it ends first; each other one goes where it
 * ends nearest below the longest, so that fast resources are left to those who need
 * them. A move that would hold up another set is not made; free roots may be interrupted
 * for it, and go elsewhere or back to the queue. A task has one action a round.
 *
 * Source: spec workflows.md 5.5, 6.1, 6.2; 000_168dd5aef5075332.txt 5.4.1.2,
 * [L1695-L1824]. Cost: O(resources + tried candidates * log) for each member of a running
 * set, and what wf_delays() costs for each tried. A step of the budget is a task that is
 * looked at. Deviation: options cool_down_s, max_moves, max_bytes_moved, min_gain_s and
 * confidence are ours; they leave candidates out and are neutral unless given.
 */
#include "algorithms/workflow/round_plan.h"

#include <math.h>
#include <stdlib.h>

enum { LOOK_STEPS = 8 }; /* what a look at a resource costs, about */

struct mover {
    struct wf_plan *plan;
    struct wf_groups groups;
    size_t *unseen; /* members of the set that are still to be looked at */
    size_t *roots;  /* that a move interrupts */
    int *reason;    /* of each task; -1: none */
    size_t set;
};

/* ---- which sets ---- */

struct running_set {
    size_t set, unfinished;
};

static int compare_sets(const void *left, const void *right)
{
    const struct running_set *l = left, *r = right;

    if (l->unfinished != r->unfinished)
        return l->unfinished < r->unfinished ? -1 : 1;
    return l->set < r->set ? -1 : l->set > r->set;
}

static void note(struct mover *m, size_t task, enum workflow_skip_reason reason)
{
    if (m->reason[task] < 0 || (int)reason < m->reason[task])
        m->reason[task] = (int)reason;
}

/* Members that are not done; *running: all of them run and have an estimate. Otherwise
 * those that have a place are told why nothing is done for them. */
static size_t look_at_set(struct mover *m, size_t set, bool *running)
{
    const struct wf_plan *plan = m->plan;
    const struct workflow_plain_set *s = &plan->in->sets[set];
    bool all_run = true, all_known = true;
    size_t unfinished = 0;

    for (size_t k = 0; k < s->member_count; k++) {
        size_t i = s->members[k];

        if (plan->in->tasks[i].status == PLAIN_DONE)
            continue;
        unfinished++;
        all_run &=
            plan->in->tasks[i].status == PLAIN_RUNNING && plan->place[i] != WF_NONE;
        all_known &= !isnan(plan->remaining_ref_s[i]);
    }
    *running = unfinished > 0 && all_run && all_known;
    for (size_t k = 0; k < s->member_count && !*running; k++)
        if (plan->place[s->members[k]] != WF_NONE)
            note(m, s->members[k],
                 all_run ? WORKFLOW_SKIP_no_estimate : WORKFLOW_SKIP_not_running_set);
    return unfinished;
}

static size_t list_running(struct mover *m, struct running_set *list)
{
    size_t count = 0;

    for (size_t p = 0; p < m->plan->in->set_count; p++) {
        bool running;
        size_t unfinished;

        if (m->plan->in->sets[p].only_roots || wf_set_unused(m->plan, p))
            continue;
        unfinished = look_at_set(m, p, &running);
        if (running)
            list[count++] = (struct running_set){p, unfinished};
    }
    qsort(list, count, sizeof(*list), compare_sets);
    return count;
}

/* ---- a move ---- */

static void add_move(struct mover *m, const struct workflow_plain_move *move)
{
    struct workflow_plain_out *out = m->plan->out;

    out->moves[out->move_count] = *move;
    out->moves[out->move_count].group = m->plan->group;
    out->moves[out->move_count++].set = m->set;
    m->plan->moves_used++;
    if (move->to != WF_NONE)
        m->plan->bytes_used += m->plan->in->tasks[move->task].move_bytes;
}

/* Where an interrupted root goes; false: nowhere. */
static bool find_place(struct mover *m, size_t root, size_t from, size_t *place,
                       double *transfer_s)
{
    struct wf_plan *plan = m->plan;
    bool fastest = (int)plan->param[WF_EVICTED_ROOT_RULE] == WF_FASTEST ||
                   isnan(plan->remaining_ref_s[root]);
    double best = HUGE_VAL;

    *place = WF_NONE;
    for (size_t d = 0; d < plan->in->resource_count; d++) {
        size_t tasks = plan->count[d] + 1;
        double way_s, run_s, key;

        if (budget_step(plan->in->budget, LOOK_STEPS))
            break;
        if (d == from || !wf_has_room(plan, d))
            continue;
        way_s = wf_move_s(plan, root, from, d);
        run_s = wf_run_s(plan, root, d, tasks) + way_s;
        key = fastest ? -wf_share(plan, d, tasks) : run_s;
        if (way_s < HUGE_VAL && !(run_s == HUGE_VAL) && key < best &&
            wf_fits(plan, root, d, NULL, 0, run_s) &&
            !wf_delays(plan, root, d, 0, (double)NAN)) {
            best = key;
            *place = d;
            *transfer_s = way_s;
        }
    }
    return *place != WF_NONE;
}

static void move_root(struct mover *m, size_t root, size_t from, double before_s)
{
    struct wf_plan *plan = m->plan;
    struct workflow_plain_move move = {.task = root,
                                       .from = from,
                                       .to = WF_NONE,
                                       .action = WORKFLOW_POSTPONE,
                                       .role = WF_ROOT,
                                       .before_s = before_s,
                                       .after_s = (double)NAN};

    if (find_place(m, root, from, &move.to, &move.transfer_s)) {
        move.action = WORKFLOW_EVICT;
        wf_put(plan, root, move.to, move.transfer_s + wf_overhead_s(plan));
        move.after_s = wf_xi_s(plan, root);
    } else {
        plan->sent_back[root] = true;
        plan->pending_s[root] = 0;
    }
    add_move(m, &move);
}

/* Remaining times before the move are kept where the roots are listed: all of them are
 * taken off first. */
static void commit(struct mover *m, const struct wf_query *q,
                   const struct wf_candidate *c)
{
    struct wf_plan *plan = m->plan;
    size_t from = plan->place[q->task], roots = 0;
    size_t tasks_there = plan->count[c->resource];
    struct workflow_plain_move move = {.task = q->task,
                                       .from = from,
                                       .to = c->resource,
                                       .action = WORKFLOW_MIGRATE,
                                       .role = q->longest ? WF_LONGEST : WF_BALANCED,
                                       .before_s = q->now_s,
                                       .transfer_s = c->transfer_s};

    plan->group++;
    if (c->evicted > 0)
        roots = wf_evictable(plan, c->resource, m->roots);
    for (size_t k = 0; k < roots; k++) {
        plan->moved[m->roots[k]] = true;
        wf_take(plan, m->roots[k]);
    }
    plan->moved[q->task] = true;
    wf_take(plan, q->task);
    wf_put(plan, q->task, c->resource, c->transfer_s + wf_overhead_s(plan));
    move.after_s = wf_xi_s(plan, q->task);
    add_move(m, &move);
    for (size_t k = 0; k < roots; k++) {
        size_t root = m->roots[k];

        move_root(m, root, c->resource,
                  wf_run_s(plan, root, c->resource, tasks_there) + plan->pending_s[root]);
    }
}

/* ---- a task ---- */

/* Reason against a move that is not in the source; -1: none. */
static int objection(struct mover *m, const struct wf_query *q,
                     const struct wf_candidate *c)
{
    struct wf_plan *plan = m->plan;
    const struct workflow_plain_task *tasks = plan->in->tasks;
    size_t at = plan->place[q->task], roots = 0;
    double gain_s = q->longest ? q->now_s - c->x_s : c->x_s - q->now_s;
    double bytes = plan->bytes_used + tasks[q->task].move_bytes, spread_s;

    if (plan->moves_used + 1 + (double)c->evicted > plan->param[WF_MAX_MOVES])
        return WORKFLOW_SKIP_move_budget;
    if (!isnan(plan->param[WF_MAX_BYTES_MOVED])) {
        if (c->evicted > 0)
            roots = wf_evictable(plan, c->resource, m->roots);
        for (size_t k = 0; k < roots; k++)
            bytes += tasks[m->roots[k]].move_bytes;
        if (bytes > plan->param[WF_MAX_BYTES_MOVED])
            return WORKFLOW_SKIP_move_budget;
    }
    if (q->now_s == HUGE_VAL)
        return -1;
    spread_s = tasks[q->task].spread_ref_s / wf_share(plan, at, plan->count[at]);
    if (plan->param[WF_CONFIDENCE] > 0 && gain_s <= plan->param[WF_CONFIDENCE] * spread_s)
        return WORKFLOW_SKIP_uncertain;
    if (gain_s < plan->param[WF_MIN_GAIN_S])
        return WORKFLOW_SKIP_below_min_gain;
    return -1;
}

/* Takes the next member of a lot out and to its end: the fastest, or one at random that
 * leaves the others in their order. */
static struct wf_candidate draw(struct mover *m, struct wf_candidate *list, size_t count,
                                bool fastest)
{
    struct wf_candidate drawn;
    size_t at = 0;

    if (!fastest)
        at = rng_index(&m->plan->pick, count);
    for (size_t k = 1; fastest && k < count; k++)
        if (list[k].share > list[at].share ||
            (list[k].share == list[at].share && list[k].resource < list[at].resource))
            at = k;
    drawn = list[at];
    for (size_t k = at; k + 1 < count; k++)
        list[k] = list[k + 1];
    return drawn;
}

/* Tries the members of a lot; true: the task has moved, or the time is up. */
static bool try_lot(struct mover *m, const struct wf_query *q, const struct wf_lot *lot)
{
    bool first = (int)m->plan->param[WF_GROUP_PICK] == WF_FASTEST_FIRST;
    struct wf_candidate *list = m->groups.candidates + lot->first;

    for (size_t left = lot->count; left > 0; left--) {
        struct wf_candidate c = draw(m, list, left, first && q->longest);
        int against;

        m->plan->out->cut = budget_step(m->plan->in->budget, left);
        if (m->plan->out->cut) {
            note(m, q->task, WORKFLOW_SKIP_not_looked_at);
            return true;
        }
        if (!(c.x_s < HUGE_VAL) ||
            (first && q->longest && !wf_accepts(m->plan, q, c.x_s)))
            continue;
        if (first && !q->longest && c.x_s > q->top_s)
            continue;
        if (wf_delays(m->plan, q->task, c.resource, c.evicted, c.x_s)) {
            note(m, q->task, WORKFLOW_SKIP_vetoed);
            continue;
        }
        against = objection(m, q, &c);
        if (against < 0) {
            commit(m, q, &c);
            return true;
        }
        note(m, q->task, (enum workflow_skip_reason)against);
    }
    return false;
}

static void look_at_task(struct mover *m, size_t task)
{
    struct wf_plan *plan = m->plan;
    struct wf_query q = {
        .task = task, .now_s = wf_xi_s(plan, task), .top_s = wf_set_max_s(plan, m->set)};
    struct wf_lot lot;

    q.longest = q.now_s >= q.top_s - WF_SAME_S;
    if (!(q.now_s > plan->param[WF_RE_MIN_S])) {
        note(m, task, WORKFLOW_SKIP_below_re_min);
        return;
    }
    if (wf_nodes(plan, task) > 1) { /* it keeps its nodes */
        note(m, task, WORKFLOW_SKIP_no_better_resource);
        return;
    }
    if (plan->in->tasks[task].pinned) {
        note(m, task, WORKFLOW_SKIP_cooling_down);
        return;
    }
    if (!q.longest && (int)plan->param[WF_BALANCE] == WF_LONGEST_ONLY) {
        note(m, task, WORKFLOW_SKIP_not_longest);
        return;
    }
    wf_lots_fill(plan, &m->groups, &q);
    while (wf_lots_pop(&m->groups, &lot))
        if (try_lot(m, &q, &lot))
            return;
    note(m, task,
         m->groups.vetoed ? WORKFLOW_SKIP_vetoed : WORKFLOW_SKIP_no_better_resource);
}

/* ---- the step ---- */

/* Takes the member with the most left out of those to be looked at. */
static size_t next_task(struct mover *m, size_t *count)
{
    double most_s = -HUGE_VAL;
    size_t at = 0, task;

    for (size_t k = 0; k < *count; k++) {
        double xi_s = wf_xi_s(m->plan, m->unseen[k]);

        if (xi_s > most_s) {
            most_s = xi_s;
            at = k;
        }
    }
    task = m->unseen[at];
    for (size_t k = at; k + 1 < *count; k++)
        m->unseen[k] = m->unseen[k + 1];
    --*count;
    return task;
}

/* `looks`: at the members that are left; a task looks at all resources. */
static bool spent(struct wf_plan *plan, size_t looks)
{
    struct budget *budget = plan->in->budget;

    plan->steps++;
    plan->out->cut = budget_step(budget, looks + LOOK_STEPS * plan->in->resource_count) ||
                     (budget && budget->max_steps > 0 && plan->steps > budget->max_steps);
    return plan->out->cut;
}

static void look_at_members(struct mover *m)
{
    const struct wf_plan *plan = m->plan;
    const struct workflow_plain_set *s = &plan->in->sets[m->set];
    size_t count = 0;

    for (size_t k = 0; k < s->member_count; k++)
        if (plan->place[s->members[k]] != WF_NONE && !plan->moved[s->members[k]])
            m->unseen[count++] = s->members[k];
    while (count > 0 && !plan->out->cut) {
        size_t task = next_task(m, &count);

        if (spent(m->plan, count))
            note(m, task, WORKFLOW_SKIP_not_looked_at);
        else
            look_at_task(m, task);
    }
    for (size_t k = 0; k < count; k++)
        note(m, m->unseen[k], WORKFLOW_SKIP_not_looked_at);
}

static void list_skips(const struct mover *m)
{
    struct workflow_plain_out *out = m->plan->out;

    for (size_t i = 0; i < m->plan->in->task_count; i++)
        if (m->reason[i] >= 0 && !m->plan->moved[i])
            out->skips[out->skip_count++] = (struct workflow_plain_skip){i, m->reason[i]};
}

void wf_step_move(struct wf_plan *plan)
{
    const struct workflow_plain *in = plan->in;
    struct mover m = {
        .plan = plan,
        .unseen = NEW(plan->arena, size_t, in->task_count),
        .roots = NEW(plan->arena, size_t, in->task_count),
        .reason = NEW(plan->arena, int, in->task_count),
    };
    struct running_set *sets = NEW(plan->arena, struct running_set, in->set_count);
    size_t count;

    plan->out->moves = NEW(plan->arena, struct workflow_plain_move, in->task_count);
    plan->out->skips = NEW(plan->arena, struct workflow_plain_skip, in->task_count);
    wf_groups_make(plan, &m.groups);
    for (size_t i = 0; i < in->task_count; i++)
        m.reason[i] = -1;
    count = list_running(&m, sets);
    for (size_t k = 0; k < count; k++) {
        m.set = sets[k].set;
        look_at_members(&m);
    }
    list_skips(&m);
}
