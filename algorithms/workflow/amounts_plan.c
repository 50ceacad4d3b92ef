/* workflow/amounts_plan.c - tasks to where they fit, and what is said of the plan.
 *
 * Tasks by a priority, parents first; each on the resource where it ends first, at the
 * first time when its data is there and all that it needs is free. The first priority is
 * rank_u. A search changes the priorities at random, more so of tasks that end late, and
 * keeps what ends earlier.
 *
 * Cost of a plan: O(n log n + (e + n) P) and the fits.
 */
#include "algorithms/workflow/amounts_parts.h"
#include "algorithms/workflow/kept_out.h"
#include "algorithms/workflow/list.h"
#include "algorithms/workflow/problem_parts.h"
#include "algorithms/workflow/words.h"
#include "algorithms/world/board_parts.h"
#include "algorithms/world/objective.h"
#include "algorithms/world/reasons.h"
#include "models/base/plural.h"
#include "models/base/rng.h"

#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-9

/* ---- one plan ---- */

/* The processor of a resource at a position. */
static size_t processor_at(const struct workflow_amounts *x, size_t position)
{
    return x->w->resources[position].index;
}

static bool is_better(const struct workflow_amounts *x, const struct board_spot *a,
                      const struct board_spot *b)
{
    if (a->done_s == HUGE_VAL || !a->positions || a->done_s > b->done_s)
        return false;
    return a->done_s < b->done_s || !b->positions ||
           processor_at(x, a->positions[0]) < processor_at(x, b->positions[0]);
}

static struct board_spot best_on_one(struct workflow_amounts *x,
                                     const struct workflow_plan *plan, size_t task,
                                     size_t first, size_t behind)
{
    size_t job = x->job_of[task];
    const struct world_job *j = &x->w->jobs[job];
    struct board_spot best = {.start_s = HUGE_VAL, .done_s = HUGE_VAL};

    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t p = first; p < behind; p++) {
            double run_s = world_run_s(x->w, j, p), ready_s;
            struct board_spot spot;

            if (run_s == HUGE_VAL || !world_mask_has(j->choices[c].mask, p))
                continue;
            ready_s = workflow_plan_ready_s(x->problem, plan, task, processor_at(x, p));
            if (!(ready_s + run_s <= best.done_s) || ready_s == HUGE_VAL)
                continue;
            spot = board_fit(x->board, job, c, p, ready_s, best.done_s);
            if (is_better(x, &spot, &best))
                best = spot;
        }
    return best;
}

/* The nodes to which no data can come are none. */
static const double *times_within_reach(const struct workflow_amounts *x,
                                        const struct workflow_plan *plan, size_t task,
                                        const struct world_job *j)
{
    double *etc_s = NEW(x->many, double, x->w->resource_count);

    for (size_t p = 0; p < x->w->resource_count; p++)
        etc_s[p] =
            workflow_plan_ready_s(x->problem, plan, task, processor_at(x, p)) < HUGE_VAL
                ? world_full_run_s(x->w, j, p)
                : HUGE_VAL;
    return etc_s;
}

double workflow_amounts_begin_many(struct workflow_amounts *x,
                                   const struct workflow_plan *plan, size_t task,
                                   struct world_job *before)
{
    struct world_job *j = &x->world_jobs[x->job_of[task]];
    bool all = true;
    double last_s = 0;

    *before = *j;
    for (size_t p = 0; p < x->w->resource_count; p++) {
        budget_step(x->w->budget, 1);
        if (world_run_s(x->w, j, p) < HUGE_VAL) {
            double ready_s =
                workflow_plan_ready_s(x->problem, plan, task, processor_at(x, p));

            all = all && ready_s < HUGE_VAL;
            if (ready_s < HUGE_VAL)
                last_s = fmax(last_s, ready_s);
        }
    }
    j->earliest_s = fmax(j->earliest_s, last_s);
    if (!all)
        j->etc_s = times_within_reach(x, plan, task, j);
    return last_s;
}

void workflow_amounts_end_many(struct workflow_amounts *x, size_t task,
                               const struct world_job *before)
{
    x->world_jobs[x->job_of[task]] = *before;
}

static struct board_spot best_on_many(struct workflow_amounts *x,
                                      const struct workflow_plan *plan, size_t task)
{
    struct world_job before;
    struct board_spot best;

    workflow_amounts_begin_many(x, plan, task, &before);
    best = board_best(x->board, x->job_of[task]);
    workflow_amounts_end_many(x, task, &before);
    return best;
}

struct board_spot workflow_amounts_best(struct workflow_amounts *x,
                                        const struct workflow_plan *plan, size_t task,
                                        size_t first, size_t behind)
{
    const struct world_job *j = &x->w->jobs[x->job_of[task]];
    struct board_spot spot = {.start_s = HUGE_VAL, .done_s = HUGE_VAL};

    if (j->barred == WORLD_WAIT_NONE)
        spot = j->nodes > 1 ? best_on_many(x, plan, task)
                            : best_on_one(x, plan, task, first, behind);
    if (spot.done_s == HUGE_VAL)
        spot.positions = NULL;
    return spot;
}

void workflow_amounts_take(struct workflow_amounts *x, struct workflow_plan *plan,
                           size_t task, const struct board_spot *spot)
{
    board_take(x->board, x->job_of[task], spot);
    workflow_plan_set(x->problem, plan, task, processor_at(x, spot->positions[0]),
                      spot->start_s, spot->done_s);
}

static void place(struct workflow_amounts *x, struct workflow_plan *plan, size_t task)
{
    size_t job = x->job_of[task];
    struct board_spot spot =
        workflow_amounts_best(x, plan, task, 0, x->w->resource_count);

    if (spot.positions)
        workflow_amounts_take(x, plan, task, &spot);
    else
        board_refuse(x->board, job, x->w->jobs[job].barred, WORLD_NONE);
}

/* Units together, what nobody can start yet behind all that somebody can. */
static const double *turns_of(const struct workflow_amounts *x, const double *priority,
                              struct arena *scratch)
{
    const double *turns = workflow_amounts_turns(x, priority, scratch);
    double *deferred;

    for (size_t i = 0; i < x->problem->task_count; i++) {
        if (!x->problem->tasks[i]->deferred)
            continue;
        deferred = NEW(scratch, double, x->problem->task_count);
        memcpy(deferred, turns, x->problem->task_count * sizeof(*deferred));
        workflow_defer(x->problem, deferred);
        return deferred;
    }
    return turns;
}

/* false: the budget was spent before all tasks had their turn. */
static bool decode(struct workflow_amounts *x, const double *priority,
                   struct workflow_plan *plan, struct arena *scratch)
{
    struct workflow_amounts_units *units = workflow_amounts_units_make(x, scratch);
    struct workflow_queue queue;
    size_t looks = x->w->resource_count + 8, task;

    x->many = scratch;
    board_reset(x->board);
    workflow_plan_clear(x->problem, plan);
    workflow_queue_make(x->problem, turns_of(x, priority, scratch), &queue, scratch);
    while ((task = workflow_queue_take(&queue)) != WORKFLOW_NONE) {
        size_t parents =
            x->problem->parent_first[task + 1] - x->problem->parent_first[task];

        if (budget_step(x->w->budget, looks * (1 + parents)))
            return false;
        if (workflow_amounts_is_unit(x, task)) {
            workflow_amounts_unit_turn(x, plan, units, task, &queue);
            continue;
        }
        place(x, plan, task);
        for (size_t c = x->problem->child_first[task];
             c < x->problem->child_first[task + 1]; c++)
            workflow_queue_release(&queue,
                                   x->problem->edges[x->problem->child_edge[c]].child);
    }
    return !x->w->budget || !x->w->budget->spent;
}

/* ---- the search ---- */

/* Where tasks are, to come back to. */
struct kept {
    size_t *processor;
    double *start_s, *finish_s, *data_ready_s;
    double *priority;
    double makespan_s;
    size_t placed_count;
};

static size_t placed_count(const struct workflow_amounts *x,
                           const struct workflow_plan *plan)
{
    size_t count = 0;

    for (size_t k = 0; k < x->w->job_count; k++)
        count += plan->processor[x->task_of[k]] != WORKFLOW_NONE;
    return count;
}

static void copy(size_t count, struct kept *to, const struct workflow_plan *plan)
{
    memcpy(to->processor, plan->processor, count * sizeof(*to->processor));
    memcpy(to->start_s, plan->start_s, count * sizeof(*to->start_s));
    memcpy(to->finish_s, plan->finish_s, count * sizeof(*to->finish_s));
    memcpy(to->data_ready_s, plan->data_ready_s, count * sizeof(*to->data_ready_s));
}

static void keep(const struct workflow_amounts *x, const double *priority,
                 const struct workflow_plan *plan, struct kept *k)
{
    k->makespan_s = workflow_plan_makespan_s(x->problem, plan);
    k->placed_count = placed_count(x, plan);
    memcpy(k->priority, priority, x->problem->task_count * sizeof(*priority));
    copy(x->problem->task_count, k, plan);
}

/* Priorities a step away; those of late tasks change more. */
static void change(const struct workflow_amounts *x, const struct kept *best,
                   struct rng *rng, double *priority)
{
    double largest = 0;

    for (size_t i = 0; i < x->problem->task_count; i++)
        largest = fmax(largest, best->priority[i]);
    for (size_t k = 0; k < x->w->job_count; k++) {
        size_t i = x->task_of[k];
        double late = best->finish_s[i] / fmax(best->makespan_s, 1e-300);
        double chance = 0.02 + 0.2 * (late < 1 ? late : 1), u = rng_uniform(rng);
        double v = rng_uniform(rng);

        priority[i] = best->priority[i];
        if (u < chance)
            priority[i] += largest * (v - 0.5) * (v - 0.5) * (v < 0.5 ? -1.2 : 1.2);
    }
}

/* No schedule of these tasks ends before. */
static struct world_bound bound_of(struct workflow_amounts *x)
{
    const struct world_goal goal = {{OBJECTIVE_MAKESPAN}, 1};
    struct world_worth worth = {.value = {HUGE_VAL}}; /* all bounds are told */
    struct world_plan *plan = board_plan(x->board);
    struct world_bound bound = {0};

    worth.unplaced_count = x->w->job_count - plan->placed_count;
    world_bounds(x->w, &goal, plan, &worth, BOUNDS_ALL, &bound, x->arena);
    return bound;
}

static void bind_bound(struct workflow_amounts *x, const struct world_bound *b,
                       struct workflow_plan *plan)
{
    double begun_s = 0, path_s;

    for (size_t i = 0; i < x->problem->task_count; i++)
        if (!workflow_is_open(x->problem, i) && x->problem->fixed_finish_s[i] < HUGE_VAL)
            begun_s = fmax(begun_s, x->problem->fixed_finish_s[i]);
    path_s = b->by.known[BOUND_LONGEST_JOB] ? b->by.value[BOUND_LONGEST_JOB] : 0;
    path_s = fmax(path_s, begun_s);
    plan->bound = (struct workflow_bound){
        .critical_path_s = path_s,
        .path_s = path_s,
        .lower_bound_s = fmax(path_s, b->known ? b->value : 0),
    };
    for (size_t k = 0; k < BOUND_KIND_COUNT; k++)
        if (b->by.known[k] && k != BOUND_LONGEST_JOB && k != BOUND_GRAIN)
            plan->bound.work_s = fmax(plan->bound.work_s, b->by.value[k]);
    plan->bound.area_s = plan->bound.work_s;
    if (b->by.known[BOUND_GRAIN])
        plan->bound.grained_s = b->by.value[BOUND_GRAIN];
    plan->bounded = true;
}

static void search(struct workflow_amounts *x, size_t steps, double bound_s,
                   struct kept *best, struct workflow_plan *plan, struct arena *a)
{
    struct rng rng = rng_stream(x->problem->in->seed, "workflow.amounts");
    double *priority = NEW(a, double, x->problem->task_count);

    while (plan->steps < steps && best->makespan_s > bound_s * (1 + TOLERANCE)) {
        struct arena *scratch = arena_create_beside(a, arena_cap_bytes(a));
        bool whole;
        double makespan_s;

        change(x, best, &rng, priority);
        whole = budget_used(x->w->budget) < WORKFLOW_LIST_SHARE &&
                decode(x, priority, plan, scratch);
        arena_close(scratch);
        if (!whole)
            break;
        plan->steps++;
        makespan_s = workflow_plan_makespan_s(x->problem, plan);
        if (placed_count(x, plan) >= best->placed_count && makespan_s <= best->makespan_s)
            keep(x, priority, plan, best);
    }
}

size_t workflow_amounts_steps(const struct workflow_problem *problem)
{
    double looks = ((double)problem->open_count + (double)problem->edge_count) *
                   (double)(problem->processor_count + 8);
    double steps = looks > 0 ? 1e7 / looks : 0;

    return steps < 2000 ? (size_t)steps : 2000;
}

/* The order of the schedule to start from: priorities fall by turn. */
static const double *start_order(const struct workflow_amounts *x, const double *up,
                                 struct arena *a)
{
    double *priority = NEW(a, double, x->problem->task_count), largest = 1;

    for (size_t i = 0; i < x->problem->task_count; i++)
        largest = fmax(largest, up[i]);
    for (size_t k = 0; k < x->start->count; k++)
        priority[x->task_of[x->start->sequence[k]]] =
            largest * (double)(x->start->count - k) / (double)x->start->count;
    return priority;
}

static bool start_is_better(const struct workflow_amounts *x, const struct kept *best)
{
    return x->start && (x->start->placed_count > best->placed_count ||
                        (x->start->placed_count == best->placed_count &&
                         x->start->makespan_s < best->makespan_s));
}

/* The schedule to start from, on the board too. */
static void load_start(struct workflow_amounts *x, struct workflow_plan *plan)
{
    board_reset(x->board);
    workflow_plan_clear(x->problem, plan);
    for (size_t k = 0; k < x->start->count; k++) {
        size_t job = x->start->sequence[k];
        const struct board_spot *spot = &x->start->spots[job];

        board_take(x->board, job, spot);
        workflow_plan_set(x->problem, plan, x->task_of[job],
                          processor_at(x, spot->positions[0]), spot->start_s,
                          spot->done_s);
    }
}

void workflow_amounts_plan(struct workflow_amounts *x, size_t steps,
                           struct workflow_plan *plan)
{
    size_t n = x->problem->task_count;
    struct arena *a = arena_create_beside(x->arena, arena_cap_bytes(x->arena));
    struct kept best = {.processor = NEW(a, size_t, n),
                        .start_s = NEW(a, double, n),
                        .finish_s = NEW(a, double, n),
                        .data_ready_s = NEW(a, double, n),
                        .priority = NEW(a, double, n)};
    struct world_bound bound;
    double *up;

    workflow_ranks(x->problem, &up, NULL, a);
    if (!decode(x, up, plan, a))
        plan->status = DECISION_CUT;
    keep(x, up, plan, &best);
    bound = bound_of(x);
    bind_bound(x, &bound, plan);
    if (plan->status != DECISION_CUT && x->start) {
        const double *order = start_order(x, up, a);

        if (!decode(x, order, plan, a))
            plan->status = DECISION_CUT;
        if (placed_count(x, plan) >= best.placed_count &&
            workflow_plan_makespan_s(x->problem, plan) < best.makespan_s)
            keep(x, order, plan, &best);
    }
    if (plan->status != DECISION_CUT && (steps > 0 || x->start)) {
        search(x, steps, plan->bound.lower_bound_s, &best, plan, a);
        if (!decode(x, best.priority, plan, a)) /* as it was, on the board too */
            plan->status = DECISION_CUT;
    }
    if (start_is_better(x, &best))
        load_start(x, plan);
    if (board_plan(x->board)->placed_count < x->w->job_count) {
        bound = bound_of(x); /* of those that have a place now */
        bind_bound(x, &bound, plan);
    }
    arena_close(a);
}

/* ---- the answer ---- */

static const char *wait_detail(enum world_wait wait)
{
    switch (wait) {
    case WORLD_WAIT_NO_ESTIMATE:
        return "no run time is known for it";
    case WORLD_WAIT_OUT_OF_TIME:
        return "the time limit came first";
    default:
        return world_wait_details[wait];
    }
}

/* What the largest resource that passes the filters has too little of; NULL: nothing. */
static const char *short_of(const struct workflow_amounts *x, const struct world_job *j,
                            bool *any)
{
    size_t row = WORLD_NONE;

    *any = false;
    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t p = 0; p < x->w->resource_count; p++) {
            const int64_t *capacity = x->w->resources[p].capacity;

            if (!world_mask_has(j->choices[c].mask, p))
                continue;
            *any = true;
            if (world_large_enough(x->w, j, p))
                return NULL;
            for (size_t k = 0; k < x->w->node_amount_count; k++)
                if (j->needs[k] > capacity[k])
                    row = k;
        }
    for (size_t k = x->w->node_amount_count; k < x->w->amount_count; k++)
        if (j->needs[k] > x->w->shared_capacity[k])
            row = k;
    return row == WORLD_NONE ? NULL : x->w->amounts[row].name;
}

/* Resources of one of its partitions that are large enough, the most. */
static size_t most_nodes(const struct workflow_amounts *x, const struct world_job *j)
{
    size_t most = 0;

    for (size_t c = 0; c < j->choice_count; c++) {
        size_t count = 0;

        for (size_t p = 0; p < x->w->resource_count; p++)
            count += world_mask_has(j->choices[c].mask, p) &&
                     world_large_enough(x->w, j, p) && world_run_s(x->w, j, p) < HUGE_VAL;
        budget_step(x->w->budget, x->w->resource_count);
        most = count > most ? count : most;
    }
    return most;
}

/* Ids of what runs, and nobody knows until when. */
static void tell_blockers(const struct workflow_amounts *x,
                          const struct world_reason *found, struct workflow_unplaced *out)
{
    const char **ids = NEW(x->arena, const char *, REASON_BLOCKERS_MAX);

    for (size_t k = 0; k < found->blocker_count; k++)
        if (x->w->holders[found->blockers[k]].id)
            ids[out->blocker_count++] = x->w->holders[found->blockers[k]].id;
    out->blockers = ids;
    out->resource_count = found->resource_count;
}

void workflow_amounts_too_small(const struct workflow_amounts *x,
                                const struct world_reason *found, const char *name,
                                struct workflow_unplaced *out)
{
    out->reason = WORKFLOW_REASON(too_small);
    out->detail =
        name ? arena_printf(x->arena, "no resource that it may use has enough %s", name)
             : "no resource that it may use has enough of all that it needs";
    out->amounts = amounts_short(x->w, &found->too_small, x->arena);
    out->amount_count = found->too_small.amount_count;
    out->resource_count = found->too_small.short_count;
}

void workflow_amounts_kept_out(const struct workflow_amounts *x, size_t job,
                               struct workflow_unplaced *out)
{
    const struct problem_class *c = &x->jobs.classes[x->jobs.jobs[job].job_class];
    const struct world_job *j = &x->w->jobs[job];
    size_t counts[KEPT_OUT_COUNT] = {
        [KEPT_OUT_FAILED] = c->dropped[FILTER_FAILED],
        [KEPT_OUT_STALE] = c->dropped[FILTER_STALE],
        [KEPT_OUT_UNAUTHORISED] = c->dropped[FILTER_UNAUTHORISED],
        [KEPT_OUT_REQUIREMENT] = c->dropped[FILTER_REQUIREMENT],
    };
    bool split = x->problem->in->snapshot->partition_count > 0;

    budget_step(x->w->budget, x->w->resource_count);
    for (size_t p = 0; p < x->w->resource_count; p++)
        if (problem_class_has(c, p)) {
            bool timed = world_run_s(x->w, j, p) < HUGE_VAL;

            counts[!amounts_has_group_key(x->w, job, p) ? KEPT_OUT_GROUP_KEY
                   : timed && split                     ? KEPT_OUT_PARTITION
                                                        : KEPT_OUT_NO_ESTIMATE]++;
        }
    workflow_tell_kept_out(counts, out);
}

void workflow_amounts_why(struct workflow_amounts *x, size_t task,
                          struct workflow_unplaced *out)
{
    size_t job = x->job_of[task];
    const struct world_job *j = &x->w->jobs[job];
    bool any;
    const char *name = short_of(x, j, &any);
    struct world_reason found;
    enum world_wait wait;
    size_t wait_on;

    if (!x->reasons)
        x->reasons = reasons_create(x->w, board_plan(x->board), false, x->arena);
    reasons_of(x->reasons, job, &found);
    if (!any) {
        workflow_amounts_kept_out(x, job, out);
        return;
    }
    if (name) {
        workflow_amounts_too_small(x, &found, name, out);
        return;
    }
    if (j->nodes > most_nodes(x, j)) {
        out->reason = WORKFLOW_REASON(too_few_nodes);
        out->detail = arena_printf(x->arena, "it needs %s, and %zu %s it",
                                   counted(j->nodes, "node").text, most_nodes(x, j),
                                   plural(most_nodes(x, j), "suits", "suit"));
        return;
    }
    wait = board_plan(x->board)->placed[job].wait;
    if (wait != WORLD_WAIT_GROUP_GANG && wait != WORLD_WAIT_GROUP_PACK)
        wait = board_why(x->board, job, &wait_on);
    out->reason = world_wait_names[wait];
    out->detail = wait_detail(wait);
    if (wait == WORLD_WAIT_UNKNOWN_END && found.wait == wait)
        tell_blockers(x, &found, out);
}

static const char *const *ids_of(const struct workflow_amounts *x,
                                 const struct world_placed *p)
{
    const char **ids = NEW(x->arena, const char *, p->position_count);

    for (size_t k = 0; k < p->position_count; k++)
        ids[k] = x->w->resources[p->positions[k]].id;
    return ids;
}

/* Whether its parents are done, and it waits for nothing but its data. */
static bool is_next(const struct workflow_amounts *x,
                    const struct workflow_placement *row)
{
    const struct workflow_problem *problem = x->problem;
    size_t i = row->task;

    for (size_t e = problem->parent_first[i]; e < problem->parent_first[i + 1]; e++)
        if (problem->tasks[problem->edges[e].parent]->status != WORKFLOW_DONE)
            return false;
    return row->start_s <= fmax(0, isnan(row->data_ready_s) ? 0 : row->data_ready_s);
}

/* Numbers that no other task of a resource has at the same time, the lowest first: where
 * pictures draw them. Rows come by start. */
struct lanes {
    double *until_s;
    size_t count, room;
};

static void number_lanes(const struct workflow_amounts *x,
                         const struct workflow_plan *plan,
                         struct workflow_placement *rows, size_t count)
{
    struct lanes *of = NEW(x->arena, struct lanes, x->problem->processor_count);

    for (size_t k = 0; k < count; k++) {
        size_t processor = plan->processor[rows[k].task], lane = 0;
        struct lanes *l;

        if (processor >= x->problem->processor_count || rows[k].status == WORKFLOW_DONE)
            continue;
        l = &of[processor];
        budget_step(x->w->budget, 1 + l->count);
        while (lane < l->count && l->until_s[lane] > rows[k].start_s)
            lane++;
        if (lane == l->count) {
            if (l->count == l->room) {
                l->room = 2 * l->room + 4;
                l->until_s = GROW(x->arena, l->until_s, double, l->count, l->room);
            }
            l->count++;
        }
        l->until_s[lane] = rows[k].finish_s;
        rows[k].slot = lane;
    }
}

/* The part of all cpus that the tasks hold until the end; where some resource does not
 * say how many it has, of the places that its own counts limit, or none: 0. */
static double used_ratio(const struct workflow_amounts *x, double makespan_s)
{
    const struct world *w = x->w;
    const struct world_plan *plan = board_plan(x->board);
    double held = 0, all = 0;
    size_t row = AMOUNT_CPUS;

    for (size_t p = 0; p < w->resource_count; p++)
        if (w->resources[p].capacity[AMOUNT_CPUS] >= AMOUNT_UNLIMITED)
            row = AMOUNT_JOBS;
    for (size_t p = 0; p < w->resource_count; p++) {
        if (w->resources[p].capacity[row] >= AMOUNT_UNLIMITED)
            return 0;
        all += (double)w->resources[p].capacity[row];
    }
    for (size_t k = 0; k < w->job_count; k++)
        if (plan->placed[k].positions)
            held += (double)w->jobs[k].needs[row] * (double)w->jobs[k].nodes *
                    plan->placed[k].run_s;
    return all * makespan_s > 0 ? fmin(1, held / (all * makespan_s)) : 0;
}

/* Of a task that has begun on several. */
static void name_nodes(const struct workflow_amounts *x, struct workflow_placement *row)
{
    size_t count;
    const size_t *nodes = workflow_nodes_of(x->problem, row->task, &count);
    const char **ids;

    if (count <= 1)
        return;
    ids = NEW(x->arena, const char *, count);
    for (size_t k = 0; k < count; k++)
        ids[k] = x->problem->in->snapshot->resources[nodes[k]].id;
    row->resource_ids = ids;
    row->resource_id_count = count;
}

void workflow_amounts_answer(struct workflow_amounts *x, const struct workflow_plan *plan,
                             struct workflow_out *out)
{
    struct workflow_placement *rows =
        NEW(x->arena, struct workflow_placement, out->schedule_count);
    const struct world_plan *made = board_plan(x->board);
    size_t killed = 0;

    memcpy(rows, out->schedule, out->schedule_count * sizeof(*rows));
    number_lanes(x, plan, rows, out->schedule_count);
    for (size_t k = 0; k < out->schedule_count; k++) {
        size_t job = x->job_of[rows[k].task];
        const struct world_placed *p;

        budget_step(x->w->budget, 8);
        rows[k].next = false;
        if (job == WORKFLOW_NONE) {
            name_nodes(x, &rows[k]);
            continue;
        }
        p = &made->placed[job];
        rows[k].next = is_next(x, &rows[k]);
        killed += p->killed;
        rows[k].partition_id = x->w->jobs[job].choices[p->choice].partition_id;
        if (p->position_count > 1) {
            rows[k].resource_ids = ids_of(x, p);
            rows[k].resource_id_count = p->position_count;
        }
    }
    out->schedule = rows;
    out->objective.utilisation_ratio = used_ratio(x, out->objective.makespan_s);
    if (killed)
        workflow_warn(x->problem,
                      "killed: %zu task%s longer than time_limit_s, and end%s there",
                      killed, killed == 1 ? " runs" : "s run", killed == 1 ? "s" : "");
}
