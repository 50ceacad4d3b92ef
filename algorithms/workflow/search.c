/* workflow/search.c - anytime search for the least makespan, with a proof where it can.
 *
 * Starts from the best of heft, cpop and peft. Some local steps (search_local.c), then,
 * of at most EXACT_TASKS_MOST tasks, all schedules but those that can be ruled out
 * (search_exact.c), then local steps until the bound is reached, the steps are done, or
 * the time is up. Last, every task moves to the first gap of its processor that holds it.
 *
 * Source: ours. Random numbers: stream "workflow.search". A step is one schedule, or one
 * node of the exact part: a run that the clock has cut is repeated by its steps.
 * Without a limit it makes as many steps as DEFAULT_WORK looks at a task allow.
 */
#include "algorithms/workflow/search_parts.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS };

const struct param workflow_search_params[] = {
    [MAX_STEPS] = {"max_steps", 0, 1e12, 0,
                   "Steps of the search, for answers that can be repeated to the bit; 0: "
                   "as long as the time limit says",
                   PARAM_INTEGER, NULL},
    {0},
};

#define DEFAULT_WORK 2e7
#define FIRST_WORK   2e6 /* local steps before the exact part */
#define EXACT_NODES  2e6

static double steps_allowed(const struct workflow_problem *problem, double max_steps)
{
    const struct budget *budget = problem->in->budget;
    double looks = (double)problem->open_count + (double)problem->edge_count + 1;

    if (max_steps > 0)
        return max_steps;
    if (budget && budget->max_steps)
        return (double)budget->max_steps;
    if (problem->in->time_limit_given && budget && budget->used)
        return HUGE_VAL;
    return fmax(1, floor(DEFAULT_WORK / looks));
}

/* ---- plans and orders ---- */

struct begun {
    double start_s;
    size_t position, task;
};

static int by_start(const void *a, const void *b)
{
    const struct begun *x = a, *y = b;

    if (x->start_s != y->start_s)
        return x->start_s > y->start_s ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

/* The open tasks of the plan by start into list; their number. */
static size_t list_by_start(const struct workflow_problem *problem,
                            const size_t *processor, const double *start_s,
                            struct begun *list)
{
    size_t count = 0;

    for (size_t i = 0; i < problem->task_count; i++)
        if (workflow_is_open(problem, i) && processor[i] != WORKFLOW_NONE)
            list[count++] = (struct begun){start_s[i], problem->position[i], i};
    qsort(list, count, sizeof(*list), by_start);
    return count;
}

/* The better one of the two, as an order. More tasks with a place are better. */
static void take_plan(struct workflow_searching *s, const struct workflow_plan *plan,
                      struct begun *list, size_t *placed)
{
    const struct workflow_problem *problem = s->problem;
    size_t count = list_by_start(problem, plan->processor, plan->start_s, list);
    double makespan_s = workflow_plan_makespan_s(problem, plan);

    if (count < *placed || (count == *placed && makespan_s >= s->best.makespan_s))
        return;
    *placed = count;
    s->best.makespan_s = makespan_s;
    memcpy(s->best.processor, plan->processor,
           problem->task_count * sizeof(*s->best.processor));
    for (size_t k = 0; k < problem->open_count; k++)
        s->best.task[k] = k < count ? list[k].task : WORKFLOW_NONE;
}

static enum error_code start(struct workflow_searching *s, struct workflow_plan *plan,
                             struct begun *list, struct error *err)
{
    static workflow_fn *const first[] = {workflow_heft, workflow_peft, workflow_cpop};
    size_t placed = 0;

    s->best.makespan_s = HUGE_VAL;
    for (size_t k = 0; k < sizeof(first) / sizeof(first[0]); k++) {
        workflow_plan_clear(s->problem, plan);
        plan->status = DECISION_FEASIBLE;
        TRY(first[k](s->problem, NULL, plan, s->arena, err));
        /* A heuristic that was cut counts only if there is no other. */
        if (plan->status == DECISION_CUT && k > 0)
            break;
        take_plan(s, plan, list, &placed);
    }
    s->spent = plan->status == DECISION_CUT;
    for (size_t i = 0; i < s->problem->task_count; i++)
        if (!workflow_is_open(s->problem, i) && s->problem->fixed_finish_s[i] < HUGE_VAL)
            s->begun_s = fmax(s->begun_s, s->problem->fixed_finish_s[i]);
    return OK;
}

/* The best order as a plan; each task in the first gap that holds it. By start, so that
 * no task comes later than in the order. */
static enum error_code finish(struct workflow_searching *s, struct workflow_plan *plan,
                              struct begun *list, struct error *err)
{
    const struct workflow_problem *problem = s->problem;
    double *free_s = NEW(s->arena, double, problem->processor_count);
    double *start_s = NEW(s->arena, double, problem->task_count);
    double *finish_s = NEW(s->arena, double, problem->task_count);
    size_t count;

    if (!free_s || !start_s || !finish_s)
        return fail_memory(err);
    workflow_order_times(problem, &s->best, s->begun_s, start_s, finish_s, free_s);
    count = list_by_start(problem, s->best.processor, start_s, list);
    workflow_plan_clear(problem, plan);
    for (size_t k = 0; k < count; k++) {
        size_t task = list[k].task, p = s->best.processor[task];
        double ready_s = workflow_plan_ready_s(problem, plan, task, p);
        double at_s = workflow_plan_gap_s(problem, plan, p, ready_s,
                                          workflow_time_s(problem, task, p));

        TRY(workflow_plan_place(problem, plan, task, p, at_s, s->arena, err));
    }
    return OK;
}

/* ---- */

static enum error_code run_parts(struct workflow_searching *s, struct error *err)
{
    double looks = (double)s->problem->open_count + (double)s->problem->edge_count + 1;

    if (!workflow_search_done(s))
        TRY(workflow_search_local(s, fmax(1, floor(FIRST_WORK / looks)), err));
    if (!workflow_search_done(s))
        TRY(workflow_search_exact(s, EXACT_NODES, err));
    if (!workflow_search_done(s))
        TRY(workflow_search_local(s, HUGE_VAL, err));
    return OK;
}

enum error_code workflow_search(const struct workflow_problem *problem,
                                const double *param, struct workflow_plan *plan,
                                struct arena *a, struct error *err)
{
    struct workflow_searching s = {.problem = problem, .arena = a};
    struct begun *list = NEW(a, struct begun, problem->task_count);
    s.best.task = NEW(a, size_t, problem->open_count);
    s.best.processor = NEW(a, size_t, problem->task_count);
    if (!list || !s.best.task || !s.best.processor)
        return fail_memory(err);
    s.steps_most = steps_allowed(problem, param[MAX_STEPS]);
    TRY(start(&s, plan, list, err));
    TRY(workflow_bound_parts(problem, &plan->bound, &s.heads, &s.area, a, err));
    plan->bounded = true;
    s.bound_s = plan->bound.lower_bound_s;
    if (!s.spent && !workflow_search_done(&s))
        TRY(run_parts(&s, err));
    plan->status = workflow_search_done(&s) ? DECISION_OPTIMAL
                   : s.spent                ? DECISION_CUT
                                            : DECISION_FEASIBLE;
    plan->lower_bound_s = s.bound_s;
    plan->steps = (uint64_t)s.steps;
    return finish(&s, plan, list, err);
}
