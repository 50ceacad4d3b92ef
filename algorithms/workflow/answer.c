/* workflow/answer.c - from a plan to what the caller is told.
 *
 * The critical tasks are a chain of the schedule that explains its end: from the task
 * that ends last back to whatever made each task wait, its last input or the task before
 * it on its processor; tasks that take no time are in nobody's way.
 *
 * A plan is optimal if it has all tasks, keeps all rules (verify.h), and ends with the
 * bound. A search's plan that breaks one is replaced by the best list plan.
 */
#include "algorithms/workflow/amounts.h"
#include "algorithms/workflow/kept_out.h"
#include "algorithms/workflow/problem_parts.h"
#include "algorithms/workflow/verify.h"
#include "algorithms/workflow/words.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-9

/* NULL: the request's only workflow need not have an id. */
static const char *workflow_id(const struct workflow_problem *problem, size_t task)
{
    return problem->in->workflows[problem->workflow_of[task]].id;
}

static bool placed(const struct workflow_plan *plan, size_t task)
{
    return plan->processor[task] != WORKFLOW_NONE && plan->finish_s[task] < HUGE_VAL;
}

static bool on_processor(const struct workflow_plan *plan, size_t task)
{
    return placed(plan, task) && plan->processor[task] != WORKFLOW_EVERYWHERE;
}

/* ---- objective ---- */

/* Tasks with a table that have a place, on each processor; false: the time is up. All of
 * them are summed up already. */
static bool sum_tables(const struct workflow_problem *problem,
                       const struct workflow_plan *plan, double *sum_s)
{
    struct workflow_clock clock = workflow_clock_make(problem->in->budget, 1);
    size_t processors = problem->processor_count;
    bool all = problem->parts->table_s != NULL;

    for (size_t i = 0; i < problem->task_count && all; i++)
        all = placed(plan, i) || !workflow_is_open(problem, i) ||
              !problem->tasks[i]->etc_count;
    if (all) {
        memcpy(sum_s, problem->parts->table_s, processors * sizeof(*sum_s));
        return true;
    }
    for (size_t i = 0; i < problem->task_count; i++) {
        if (!problem->tasks[i]->etc_count || !workflow_is_open(problem, i) ||
            !placed(plan, i))
            continue;
        if (!workflow_tick(&clock, (double)processors))
            return false;
        for (size_t p = 0; p < processors; p++)
            sum_s[p] += workflow_time_s(problem, i, p);
    }
    return true;
}

/* Least time of all placed tasks one after the other on one processor; NAN: none can, or
 * the time is up. */
static void serial_s(const struct workflow_problem *problem,
                     const struct workflow_plan *plan, double *serial, struct arena *a)
{
    double *sum_s = NEW(a, double, problem->processor_count);
    double work_ref_s = 0, least_s = HUGE_VAL;

    *serial = (double)NAN;
    if (!sum_tables(problem, plan, sum_s))
        return;
    for (size_t i = 0; i < problem->task_count; i++)
        if (workflow_is_open(problem, i) && placed(plan, i) &&
            !problem->tasks[i]->etc_count) /* its time where it is, at speed 1 */
            work_ref_s += workflow_time_s(problem, i, plan->processor[i]) *
                          problem->processors[plan->processor[i]].speed_mips;
    for (size_t p = 0; p < problem->processor_count; p++) {
        const struct workflow_processor *x = &problem->processors[p];

        if (work_ref_s > 0)
            sum_s[p] += x->speed_mips > 0 ? work_ref_s / x->speed_mips : HUGE_VAL;
        if (x->usable)
            least_s = fmin(least_s, sum_s[p]);
    }
    if (least_s < HUGE_VAL)
        *serial = least_s;
}

static double used_ratio(const struct workflow_problem *problem,
                         const struct workflow_plan *plan, double makespan_s)
{
    double busy_s = 0, usable = 0;

    for (size_t p = 0; p < problem->processor_count; p++)
        usable += problem->processors[p].usable;
    for (size_t i = 0; i < problem->task_count; i++) {
        double start_s = plan->start_s[i];

        if (on_processor(plan, i))
            busy_s += fmax(0, plan->finish_s[i] - (start_s > 0 ? start_s : 0));
    }
    return usable * makespan_s > 0 ? fmin(1, busy_s / (usable * makespan_s)) : 0;
}

/* Data that never come, in a plan that was given, count as the longest time. */
static double sum_transfers_s(const struct workflow_problem *problem,
                              const struct workflow_plan *plan)
{
    double sum_s = 0;

    for (size_t e = 0; e < problem->edge_count; e++) {
        const struct workflow_edge *edge = &problem->edges[e];

        if (workflow_is_open(problem, edge->child) && placed(plan, edge->child) &&
            placed(plan, edge->parent))
            sum_s +=
                fmin(workflow_transfer_s(problem, edge, plan->processor[edge->parent],
                                         plan->processor[edge->child]),
                     WORKFLOW_LONGEST_S);
    }
    return sum_s;
}

void workflow_objective_of(const struct workflow_problem *problem,
                           const struct workflow_plan *plan,
                           const struct workflow_bound *bound, bool valid,
                           struct workflow_objective *objective, struct arena *a)
{
    struct workflow_objective o = {
        .makespan_s = workflow_plan_makespan_s(problem, plan),
        .critical_path_s = bound->critical_path_s,
        .area_s = bound->area_s,
        .gap_ratio = NAN,
    };
    double serial = (double)NAN;

    serial_s(problem, plan, &serial, a);
    o.lower_bound_s = bound->lower_bound_s;
    if (valid && o.makespan_s <= o.lower_bound_s * (1 + ROUNDING))
        o.lower_bound_s = o.makespan_s;
    if (o.lower_bound_s > 0 && o.makespan_s >= o.lower_bound_s)
        o.gap_ratio = o.makespan_s / o.lower_bound_s - 1;
    o.speedup_ratio = o.makespan_s > 0 ? serial / o.makespan_s : (double)NAN;
    o.utilisation_ratio = used_ratio(problem, plan, o.makespan_s);
    o.transfer_s = sum_transfers_s(problem, plan);
    *objective = o;
}

/* ---- schedule ---- */

struct begin {
    double start_s, finish_s;
    size_t processor, position, task;
};

/* At one instant those that take no time come first, parents before children. */
static int by_start(const void *a, const void *b)
{
    const struct begin *x = a, *y = b;

    if (x->start_s != y->start_s)
        return x->start_s > y->start_s ? 1 : -1;
    if (x->finish_s != y->finish_s)
        return x->finish_s > y->finish_s ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

static int by_processor(const void *a, const void *b)
{
    const struct begin *x = a, *y = b;

    if (x->processor != y->processor)
        return x->processor > y->processor ? 1 : -1;
    return by_start(a, b);
}

/* Tasks with a place; `past`: also those that are done. */
static struct begin *list_begins(const struct workflow_problem *problem,
                                 const struct workflow_plan *plan, bool past,
                                 size_t *count, struct arena *a)
{
    struct begin *list = NEW(a, struct begin, problem->task_count);

    *count = 0;
    for (size_t i = 0; i < problem->task_count; i++) {
        double start_s = plan->start_s[i];

        if (placed(plan, i) && (past || problem->tasks[i]->status != WORKFLOW_DONE))
            list[(*count)++] =
                (struct begin){isnan(start_s) ? -HUGE_VAL : start_s, plan->finish_s[i],
                               plan->processor[i], problem->position[i], i};
    }
    return list;
}

static void fill_schedule(const struct workflow_problem *problem,
                          const struct workflow_plan *plan, struct workflow_out *out,
                          struct arena *a)
{
    size_t count;
    struct begin *list = list_begins(problem, plan, true, &count, a);
    struct workflow_placement *rows = NEW(a, struct workflow_placement, count);

    qsort(list, count, sizeof(*list), by_start);
    for (size_t k = 0; k < count; k++) {
        size_t i = list[k].task;
        const struct workflow_task *t = problem->tasks[i];
        const struct workflow_processor *p =
            on_processor(plan, i) ? &problem->processors[plan->processor[i]] : NULL;

        rows[k] = (struct workflow_placement){
            .workflow_id = workflow_id(problem, i),
            .task_id = t->id,
            .resource_id =
                p ? problem->in->snapshot->resources[p->resource].id : t->resource_id,
            .slot = p ? p->slot : 0,
            .start_s = plan->start_s[i],
            .finish_s = problem->tasks[i]->status == WORKFLOW_DONE ? t->finish_s
                                                                   : plan->finish_s[i],
            .data_ready_s = plan->data_ready_s[i],
            .status = t->status,
            .task = i,
            .run_time_index = UINT64_MAX,
        };
    }
    out->schedule = rows;
    out->schedule_count = count;
}

/* ---- critical tasks ---- */

const char *const workflow_wait_names[] = {"start",    "data",  "transfer",
                                           "resource", "waits", NULL};

/* What a task waited for. */
struct waited {
    size_t task; /* WORKFLOW_NONE: for no other */
    enum workflow_wait why;
    double wait_s;
};

/* Of two parents whose data came in time the one without a transfer, then the least id.
 */
static bool explains_better(const struct workflow_problem *problem, size_t parent,
                            double transfer_s, const struct waited *than)
{
    if (than->task == WORKFLOW_NONE || (transfer_s > 0) != (than->wait_s > 0))
        return than->task == WORKFLOW_NONE || transfer_s <= 0;
    return strcmp(problem->tasks[parent]->id, problem->tasks[than->task]->id) < 0;
}

/* The parent whose data came when it started, else the task before it on its processor,
 * which is `previous`. */
static struct waited waited_for(const struct workflow_problem *problem,
                                const struct workflow_plan *plan, size_t task,
                                size_t previous)
{
    double start_s = plan->start_s[task], ready_s = 0;
    double least_s = start_s - ROUNDING * fabs(start_s);
    struct waited w = {WORKFLOW_NONE, WORKFLOW_WAIT_START, 0};

    if (!workflow_is_open(problem, task))
        return w;
    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_edge *edge = &problem->edges[e];
        double transfer_s, arrived_s;

        if (!placed(plan, edge->parent) ||
            problem->tasks[edge->parent]->status == WORKFLOW_DONE)
            continue;
        transfer_s = workflow_transfer_s(problem, edge, plan->processor[edge->parent],
                                         plan->processor[task]);
        arrived_s = plan->finish_s[edge->parent] + transfer_s;
        ready_s = fmax(ready_s, arrived_s);
        if (arrived_s >= least_s &&
            explains_better(problem, edge->parent, transfer_s, &w))
            w = (struct waited){
                edge->parent,
                transfer_s > 0 ? WORKFLOW_WAIT_TRANSFER : WORKFLOW_WAIT_DATA, transfer_s};
    }
    if (w.task != WORKFLOW_NONE || start_s <= 0)
        return w;
    if (previous != WORKFLOW_NONE && plan->finish_s[previous] >= least_s)
        return (struct waited){previous, WORKFLOW_WAIT_RESOURCE, 0};
    if (previous != WORKFLOW_NONE)
        ready_s = fmax(ready_s, plan->finish_s[previous]);
    return (struct waited){WORKFLOW_NONE, WORKFLOW_WAIT_OTHER, start_s - ready_s};
}

static bool takes_time(const struct workflow_problem *problem, const struct begin *x)
{
    return !workflow_is_open(problem, x->task) ||
           workflow_time_s(problem, x->task, x->processor) > 0;
}

/* The task before each on its processor. */
static void list_previous(const struct workflow_problem *problem,
                          const struct workflow_plan *plan, size_t **previous,
                          struct arena *a)
{
    size_t count;
    struct begin *list = list_begins(problem, plan, false, &count, a);
    const struct begin *last = NULL;

    *previous = NEW(a, size_t, problem->task_count);
    qsort(list, count, sizeof(*list), by_processor);
    for (size_t k = 0; k < count; k++) {
        bool waits = takes_time(problem, &list[k]);

        (*previous)[list[k].task] = waits && last && last->processor == list[k].processor
                                        ? last->task
                                        : WORKFLOW_NONE;
        if (waits)
            last = &list[k];
    }
}

static void fill_critical(const struct workflow_problem *problem,
                          const struct workflow_plan *plan, struct workflow_out *out,
                          struct arena *a)
{
    struct workflow_critical *chain =
        NEW(a, struct workflow_critical, problem->task_count);
    size_t *previous, count = 0, task = WORKFLOW_NONE;
    const char **ids;

    list_previous(problem, plan, &previous, a);
    for (size_t i = 0; i < problem->task_count; i++)
        if (placed(plan, i) && problem->tasks[i]->status != WORKFLOW_DONE &&
            (task == WORKFLOW_NONE || plan->finish_s[i] > plan->finish_s[task]))
            task = i;
    while (task != WORKFLOW_NONE && count < problem->task_count) {
        struct waited w = waited_for(problem, plan, task, previous[task]);

        chain[count++] = (struct workflow_critical){problem->tasks[task]->id,
                                                    workflow_wait_names[w.why], w.wait_s};
        task = w.task;
    }
    ids = NEW(a, const char *, count);
    for (size_t k = 0; k < count / 2; k++) {
        struct workflow_critical last = chain[count - 1 - k];

        chain[count - 1 - k] = chain[k];
        chain[k] = last;
    }
    for (size_t k = 0; k < count; k++)
        ids[k] = chain[k].task_id;
    out->critical_tasks = ids;
    out->critical_path = chain;
    out->critical_count = count;
}

/* ---- unplaced ---- */

static size_t runnable_count(const struct workflow_problem *problem, size_t task)
{
    size_t count = 0, last = WORKFLOW_NONE;

    for (size_t p = 0; p < problem->processor_count; p++) {
        if (problem->processors[p].resource != last &&
            workflow_time_s(problem, task, p) < HUGE_VAL) {
            last = problem->processors[p].resource;
            count++;
        }
    }
    return count;
}

static bool is_always(const struct workflow_blocked *list, size_t count)
{
    return count == 1 && list[0].from_s <= 0 && list[0].to_s == HUGE_VAL;
}

/* What keeps the task from a resource, of which it can run on no slot. */
static enum kept_out cause_at(const struct workflow_problem *problem, size_t resource,
                              const struct workflow_processor *slot)
{
    const struct resource *r = &problem->in->snapshot->resources[resource];

    if (r->failed)
        return KEPT_OUT_FAILED;
    if (!slot) /* all of them are taken */
        return r->n_max == 0 ? KEPT_OUT_NO_SLOT : KEPT_OUT_UNKNOWN_END;
    if (is_always(slot->closed, slot->closed_count))
        return KEPT_OUT_NO_WINDOW;
    return slot->usable ? KEPT_OUT_NO_ESTIMATE : KEPT_OUT_UNKNOWN_END;
}

static void tell_kept_out(const struct workflow_problem *problem,
                          struct workflow_unplaced *out)
{
    size_t resources = problem->in->snapshot->resource_count,
           counts[KEPT_OUT_COUNT] = {0};
    size_t p = 0;

    for (size_t r = 0; r < resources; r++) {
        const struct workflow_processor *slot = NULL;
        size_t first = p;

        for (; p < problem->processor_count && problem->processors[p].resource == r; p++)
            if (!slot || problem->processors[p].usable)
                slot = &problem->processors[p];
        budget_step(problem->in->budget, 1 + p - first);
        counts[cause_at(problem, r, slot)]++;
    }
    workflow_tell_kept_out(counts, out);
}

static bool reachable(const struct workflow_problem *problem,
                      const struct workflow_plan *plan, size_t task)
{
    for (size_t p = 0; p < problem->processor_count; p++)
        if (workflow_time_s(problem, task, p) < HUGE_VAL &&
            workflow_plan_ready_s(problem, plan, task, p) < HUGE_VAL)
            return true;
    return false;
}

/* A parent without a place or an end; WORKFLOW_NONE. */
static size_t missing_parent(const struct workflow_problem *problem,
                             const struct workflow_plan *plan, size_t task)
{
    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1]; e++)
        if (!placed(plan, problem->edges[e].parent))
            return problem->edges[e].parent;
    return WORKFLOW_NONE;
}

/* Its own reason before that of a parent. */
static struct workflow_unplaced why(const struct workflow_problem *problem,
                                    const struct workflow_plan *plan, size_t task,
                                    struct workflow_clock *clock, struct arena *a)
{
    const struct workflow_task *t = problem->tasks[task];
    size_t resources = problem->in->snapshot->resource_count;
    size_t parent = missing_parent(problem, plan, task);
    struct workflow_unplaced u = {.workflow_id = workflow_id(problem, task),
                                  .task_id = t->id,
                                  .reason = "",
                                  .detail = "",
                                  .resource_count = resources};
    size_t runnable, parents;

    if (!workflow_is_open(problem, task)) {
        u.reason = WORKFLOW_REASON(no_estimate);
        u.detail = "it has begun, but nothing says when it ends: give finish_s, "
                   "estimate_ref_s or etc_s";
        u.resource_count = 1;
        return u;
    }
    if (t->etc_count == 0 && isnan(t->estimate_ref_s) && !plan->amounts &&
        resources > 0) {
        u.reason = WORKFLOW_REASON(no_estimate);
        u.detail = "no run time is known: give estimate_ref_s or etc_s";
        return u;
    }
    parents = problem->parent_first[task + 1] - problem->parent_first[task];
    if (!workflow_tick(clock, (2 + (double)parents) * (double)problem->processor_count)) {
        u.reason = WORKFLOW_REASON(time_limit);
        u.detail = "the time limit came first";
        return u;
    }
    if (plan->amounts && plan->status != DECISION_CUT && parent == WORKFLOW_NONE) {
        workflow_amounts_why(plan->amounts, task, &u);
        if ((strcmp(u.reason, "unknown_end") == 0 ||
             strcmp(u.reason, "reserved_for_ever") == 0) &&
            !reachable(problem, plan, task)) {
            u.reason = WORKFLOW_REASON(unreachable);
            u.detail = "no link brings its inputs to a resource that can run it";
        }
        return u;
    }
    runnable = runnable_count(problem, task);
    u.resource_count = runnable;
    if (runnable == 0) {
        tell_kept_out(problem, &u);
    } else if (plan->status == DECISION_CUT) {
        u.reason = WORKFLOW_REASON(time_limit);
        u.detail = "the time limit came first";
    } else if (parent != WORKFLOW_NONE) {
        u.reason = WORKFLOW_REASON(after_unplaced);
        u.detail =
            arena_printf(a, "it needs '%.100s', which has no place or no known end",
                         problem->tasks[parent]->id);
    } else if (!reachable(problem, plan, task)) {
        u.reason = WORKFLOW_REASON(unreachable);
        u.detail = "no link brings its inputs to a resource that can run it";
    } else {
        u.reason = WORKFLOW_REASON(no_window);
        u.detail = "it does not fit into any time in which a resource is free";
    }
    return u;
}

static void fill_unplaced(const struct workflow_problem *problem,
                          const struct workflow_plan *plan, struct workflow_out *out,
                          struct arena *a)
{
    struct workflow_clock clock = workflow_clock_make(problem->in->budget, 1);
    struct workflow_unplaced *list;
    size_t count = 0;

    for (size_t i = 0; i < problem->task_count; i++)
        count += !placed(plan, i);
    list = NEW(a, struct workflow_unplaced, count);
    out->unplaced = list;
    out->unplaced_count = count;
    count = 0;
    for (size_t i = 0; i < problem->task_count; i++) {
        if (placed(plan, i))
            continue;
        list[count++] = why(problem, plan, i, &clock, a);
    }
}

/* ---- bounds, and how the search went ---- */

static void fill_bounds(const struct workflow_bound *bound, double exact_s,
                        double limit_s, struct workflow_out *out, struct arena *a)
{
    struct proven_bound *rows = NEW(a, struct proven_bound, BOUND_KIND_COUNT);
    struct bound_list list = {0};

    bound_list_note(&list, BOUND_CRITICAL_PATH, bound->path_s);
    bound_list_note(&list, BOUND_AREA, bound->work_s);
    if (bound->grained_s > 0)
        bound_list_note(&list, BOUND_GRAIN, bound->grained_s);
    if (exact_s > 0)
        bound_list_note(&list, BOUND_EXACT, exact_s);
    out->bounds = rows;
    out->bound_count = bound_list_sort(&list, limit_s, rows);
}

/* Of a search. */
static void fill_progress(const struct workflow_plan *plan, struct workflow_out *out)
{
    out->bound_effort = plan->bound_effort;
    out->best_list = plan->best_list;
    if (!plan->improved)
        return;
    out->improved_at_steps = plan->improved->item;
    out->improvement_count = plan->improved->count;
}

/* ---- all of it ---- */

static enum decision_status status_of(const struct workflow_problem *problem,
                                      const struct workflow_plan *plan, bool proven)
{
    size_t open_placed = 0;

    for (size_t i = 0; i < problem->task_count; i++)
        open_placed += workflow_is_open(problem, i) && placed(plan, i);
    if (proven)
        return DECISION_OPTIMAL;
    if (plan->status == DECISION_CUT)
        return DECISION_CUT;
    return problem->open_count && open_placed == 0 ? DECISION_INFEASIBLE
                                                   : DECISION_FEASIBLE;
}

static bool has_all(const struct workflow_problem *problem,
                    const struct workflow_plan *plan)
{
    for (size_t i = 0; i < problem->task_count; i++)
        if (!placed(plan, i))
            return false;
    return true;
}

/* What the verifier says of a plan, and what follows for it and the bound. */
struct settled {
    const struct workflow_plan *plan;
    struct workflow_bound bound;
    bool valid;          /* has all tasks, keeps all rules */
    const char *failure; /* NULL; what was wrong */
};

/* The rule that the plan breaks, NULL: none; its makespan. */
static enum error_code verify(const struct workflow_problem *problem,
                              const struct workflow_plan *plan, const char **failure,
                              double *makespan_s, bool *spent, struct arena *a,
                              struct error *err)
{
    struct workflow_verdict verdict;

    if (plan->amounts) {
        *failure = workflow_amounts_broken(plan->amounts, plan, spent);
        *makespan_s = workflow_plan_makespan_s(problem, plan);
        return OK;
    }
    TRY(workflow_verify_plan(problem, plan, &verdict, a, err));
    *spent = verdict.spent;
    *failure = verdict.breach_count ? verdict.breaches[0].kind : NULL;
    *makespan_s = verdict.makespan_s;
    return OK;
}

/* Looks only where something hangs on it: a proof, or a plan that a search has made. */
static enum error_code settle(const struct workflow_problem *problem,
                              const struct workflow_plan *plan, struct settled *s,
                              struct arena *a, struct error *err)
{
    double bound_s = s->bound.lower_bound_s, makespan_s = 0;
    const char *failure = NULL;
    bool spent = false;

    s->plan = plan;
    s->valid = false;
    if (!has_all(problem, plan) ||
        (!plan->instead &&
         workflow_plan_makespan_s(problem, plan) > bound_s * (1 + ROUNDING)))
        return OK;
    TRY(verify(problem, plan, &failure, &makespan_s, &spent, a, err));
    if (spent)
        return OK;
    s->valid = !failure;
    if (!s->valid) {
        s->failure = failure;
        if (plan->instead)
            s->plan = plan->instead;
    } else if (bound_s > makespan_s * (1 + ROUNDING)) {
        s->failure = "bound";
    }
    /* A bound that a plan contradicts proves nothing. */
    if (s->failure) {
        s->valid = false;
        s->bound.lower_bound_s = 0;
    }
    return OK;
}

enum error_code workflow_answer(const struct workflow_problem *problem,
                                const struct workflow_plan *plan,
                                struct workflow_out *out, struct arena *a,
                                struct error *err)
{
    struct settled s = {.bound = plan->bound};
    struct workflow_out x = {
        .algorithm = plan->algorithm,
        .because = plan->because,
        .steps = plan->steps,
        .warnings = problem->warnings,
        .warning_count = problem->warning_count,
    };

    if (!plan->bounded)
        TRY(workflow_bound_make(problem, &s.bound, a));
    s.bound.lower_bound_s = fmax(s.bound.lower_bound_s, plan->exact_s);
    TRY(settle(problem, plan, &s, a, err));
    x.check_failure = s.failure;
    x.bound_skipped = s.bound.skipped;
    fill_schedule(problem, s.plan, &x, a);
    fill_unplaced(problem, s.plan, &x, a);
    fill_critical(problem, s.plan, &x, a);
    workflow_objective_of(problem, s.plan, &s.bound, s.valid, &x.objective, a);
    if (!s.failure)
        fill_bounds(&s.bound, plan->exact_s,
                    has_all(problem, s.plan) ? x.objective.makespan_s : HUGE_VAL, &x, a);
    fill_progress(plan, &x);
    x.status = status_of(problem, s.plan,
                         s.valid && x.objective.makespan_s == x.objective.lower_bound_s);
    *out = x;
    return OK;
}
