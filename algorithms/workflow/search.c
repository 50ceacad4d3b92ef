/* workflow/search.c - anytime search for the least makespan, with a proof where it can.
 *
 * Starts from the best of heft, cpop and peft, or from the request's own schedule if that
 * is better. Some local steps (search_local.c), then, of at most EXACT_TASKS_MOST tasks,
 * all schedules but those that can be ruled out (search_exact.c), then local steps until
 * the bound is reached, the steps are done, or the time is up. Last, every task moves to
 * the first gap of its processor that holds it (order.h); the list plan, or the
 * request's, is the answer unless that ends before it.
 *
 * Source: ours. Random numbers: stream "workflow.search". A step is one schedule, or one
 * node of the exact part: a run that the clock has cut is repeated by its steps.
 * Without a limit it makes as many steps as DEFAULT_WORK looks at a task allow.
 */
#include "algorithms/workflow/search_parts.h"

#include <string.h>

/* 0 leaves the choice to the search; then as enum bound_effort, and as `lists`. */
const char *const workflow_effort_names[] = {"auto", "none", "fast", "full", NULL};
const char *const workflow_start_names[] = {"best", "heft", "peft", "cpop", NULL};

const struct param workflow_search_params[] = {
    [SEARCH_MAX_STEPS] = {"max_steps", 0, 1e12, 0,
                          "Steps of the search, for answers that can be repeated to the "
                          "bit; 0: as long as the time limit says",
                          PARAM_INTEGER, NULL},
    SEARCH_EFFORT_AND_START,
    {0},
};

#define DEFAULT_WORK 2e7
#define FIRST_WORK   1e5 /* local steps before the exact part */
#define EXACT_NODES  2e6

static double steps_allowed(const struct workflow_problem *problem, double max_steps)
{
    struct budget *budget = problem->in->budget;
    double looks = (double)problem->open_count + (double)problem->edge_count + 1;

    if (max_steps > 0)
        return max_steps;
    if (budget && budget->max_steps)
        return (double)budget->max_steps;
    if (problem->in->time_limit_given && budget && budget->used)
        return HUGE_VAL;
    return fmax(1, floor(DEFAULT_WORK / looks));
}

/* Looks at a pair of task and processor, for each kind of effort. */
#define FULL_LOOKS    540.0
#define FAST_LOOKS    60.0
#define EFFORT_SHARE  0.3 /* of the time limit */
#define CLOSING_SHARE 0.2 /* kept back for bounds after the search */

/* For each task and edge, after the search: order, check, rows. */
#define ANSWER_LOOKS 360.0
#define ANSWER_MOST  0.3 /* of the time limit */

/* Share of the limit that is kept back to make the answer. */
static double answer_share(const struct workflow_problem *problem)
{
    return fmin(ANSWER_MOST, workflow_share_of_limit(problem, ANSWER_LOOKS));
}

/* What is asked for, else what leaves most of the time to the search. */
static enum bound_effort effort_of(const struct workflow_problem *problem, double asked)
{
    double pairs = ((double)problem->open_count + (double)problem->edge_count) *
                   (double)problem->processor_count;
    double limit_s = problem->in->time_limit_s;

    if (asked > 0)
        return (enum bound_effort)(asked - 1);
    if (!problem->in->time_limit_given || !(limit_s > 0) ||
        FULL_LOOKS * pairs / WORKFLOW_LOOKS_PER_S <= EFFORT_SHARE * limit_s)
        return EFFORT_FULL;
    return FAST_LOOKS * pairs / WORKFLOW_LOOKS_PER_S <= EFFORT_SHARE * limit_s
               ? EFFORT_FAST
               : EFFORT_NONE;
}

/* ---- list plans ---- */

/* Copies where and when; not what is idle. */
static void copy_plan(const struct workflow_problem *problem,
                      const struct workflow_plan *from, struct workflow_plan *to)
{
    size_t n = problem->task_count;

    memcpy(to->processor, from->processor, n * sizeof(*to->processor));
    memcpy(to->start_s, from->start_s, n * sizeof(*to->start_s));
    memcpy(to->finish_s, from->finish_s, n * sizeof(*to->finish_s));
    memcpy(to->data_ready_s, from->data_ready_s, n * sizeof(*to->data_ready_s));
}

static size_t placed_count(const struct workflow_problem *problem,
                           const struct workflow_plan *plan)
{
    size_t count = 0;

    for (size_t i = 0; i < problem->task_count; i++)
        count += plan->processor[i] != WORKFLOW_NONE;
    return count;
}

/* More tasks with a place, then an earlier end. */
static bool is_better(const struct workflow_problem *problem,
                      const struct workflow_plan *plan, const struct workflow_plan *than)
{
    size_t placed = placed_count(problem, plan), least = placed_count(problem, than);

    if (placed != least)
        return placed > least;
    return workflow_plan_makespan_s(problem, plan) <
           workflow_plan_makespan_s(problem, than) * (1 - 1e-12);
}

/* In the order in which they are run; the first always is. */
struct list_policy {
    const char *name;
    workflow_fn *run;
    double cost; /* in times of the first */
};

static const struct list_policy lists[] = {
    {"heft", workflow_heft, 1}, {"peft", workflow_peft, 2}, {"cpop", workflow_cpop, 1}};
enum { LISTS = sizeof(lists) / sizeof(lists[0]) };

/* Half of what is left of the time, and of the memory, is enough for it. */
static bool affordable(const struct workflow_searching *s, size_t k, double first_cost)
{
    const struct workflow_problem *problem = s->problem;
    double table_bytes = (double)problem->task_count * (double)problem->processor_count *
                         (double)sizeof(double);
    double left_bytes = (double)(arena_cap_bytes(s->arena) - arena_used_bytes(s->arena));

    if (lists[k].run == workflow_peft && table_bytes > left_bytes / 2)
        return false;
    return lists[k].cost * first_cost <= (1 - budget_used(problem->in->budget)) / 2;
}

/* The list plan, or the request's if that is better, as an order into s->best. */
static void start_from(struct workflow_searching *s)
{
    const struct workflow_plan *from = &s->listed, *given = s->problem->initial;

    if (given && is_better(s->problem, given, from))
        from = given;
    workflow_order_of_plan(s->problem, from, &s->best, s->arena);
    s->best.makespan_s = workflow_plan_makespan_s(s->problem, from);
}

/* The best of the list plans, or with `wanted` above 0 that one's, into s->listed, and as
 * an order into s->best. */
static enum error_code start(struct workflow_searching *s, double wanted,
                             struct workflow_plan *plan, struct error *err)
{
    double begin = budget_used(s->problem->in->budget), first_cost = 0;

    for (size_t k = 0; k < LISTS && plan->status != DECISION_CUT; k++) {
        if (k > 0 &&
            (wanted > 0 ? k + 1 != (size_t)wanted : !affordable(s, k, first_cost)))
            continue;
        workflow_plan_clear(s->problem, plan);
        TRY(lists[k].run(s->problem, NULL, plan, s->arena, err));
        /* One that was cut counts only if there is no other. */
        if (plan->status == DECISION_CUT && k > 0)
            break;
        if (k == 0 || wanted > 0 || is_better(s->problem, plan, &s->listed)) {
            copy_plan(s->problem, plan, &s->listed);
            s->best_list = lists[k].name;
        }
        if (k == 0)
            first_cost = budget_used(s->problem->in->budget) - begin;
    }
    s->spent = plan->status == DECISION_CUT;
    for (size_t i = 0; i < s->problem->task_count; i++)
        if (!workflow_is_open(s->problem, i) && s->problem->fixed_finish_s[i] < HUGE_VAL)
            s->begun_s = fmax(s->begun_s, s->problem->fixed_finish_s[i]);
    start_from(s);
    return OK;
}

/* ---- */

static void run_parts(struct workflow_searching *s, enum bound_effort effort)
{
    double looks = (double)s->problem->open_count + (double)s->problem->edge_count + 1;

    if (!workflow_search_done(s))
        workflow_search_local(s, fmax(1, floor(FIRST_WORK / looks)));
    if (!workflow_search_done(s) && effort == EFFORT_FULL)
        workflow_search_exact(s, EXACT_NODES);
    if (!workflow_search_done(s))
        workflow_search_local(s, HUGE_VAL);
}

/* What was kept back of the time goes into bounds; no step follows. */
static enum error_code close_bounds(struct workflow_searching *s,
                                    struct workflow_plan *plan)
{
    struct workflow_clock clock =
        workflow_clock_make(s->problem->in->budget, 1 - answer_share(s->problem));
    struct workflow_bound bound;

    if (!workflow_tick(&clock, 0))
        return OK; /* as late as that the little that it looks at would add nothing */
    TRY(workflow_bound_parts(s->problem, EFFORT_FULL, &clock, &bound, &s->heads, &s->area,
                             s->arena));
    bound.path_s = fmax(bound.path_s, plan->bound.path_s);
    bound.work_s = fmax(bound.work_s, plan->bound.work_s);
    bound.critical_path_s = fmax(bound.critical_path_s, plan->bound.critical_path_s);
    bound.area_s = fmax(bound.area_s, plan->bound.area_s);
    bound.lower_bound_s = fmax(bound.lower_bound_s, plan->bound.lower_bound_s);
    plan->bound = bound;
    return OK;
}

/* What the answer tells besides the plan. */
static void report(struct workflow_searching *s, struct workflow_plan *plan)
{
    struct workflow_plan *instead = NEW(s->arena, struct workflow_plan, 1);
    struct workflow_best_list *list = NEW(s->arena, struct workflow_best_list, 1);
    struct improvement_list *improved = NEW(s->arena, struct improvement_list, 1);

    *instead = s->listed;
    *improved = s->improved;
    *list = (struct workflow_best_list){s->best_list,
                                        workflow_plan_makespan_s(s->problem, &s->listed)};
    if (!is_better(s->problem, plan, instead))
        copy_plan(s->problem, instead, plan);
    if (s->problem->initial && is_better(s->problem, s->problem->initial, plan))
        copy_plan(s->problem, s->problem->initial, plan);
    plan->instead = instead;
    plan->improved = improved;
    plan->best_list = list;
    plan->status = s->spent ? DECISION_CUT : DECISION_FEASIBLE;
    plan->exact_s = s->exact_s;
    plan->steps = (uint64_t)s->steps;
    plan->weighed = s->weighed;
}

enum error_code workflow_search(const struct workflow_problem *problem,
                                const double *param, struct workflow_plan *plan,
                                struct arena *a, struct error *err)
{
    struct workflow_searching s = {.problem = problem, .arena = a};
    const struct budget *budget = problem->in->budget;
    enum bound_effort effort = effort_of(problem, param[SEARCH_BOUND_EFFORT]);
    bool closes = problem->in->time_limit_given && effort != EFFORT_FULL;

    s.clock = workflow_clock_make(problem->in->budget, (closes ? 1 - CLOSING_SHARE : 1) -
                                                           answer_share(problem));
    TRY(workflow_plan_make(problem, &s.listed, a));
    workflow_order_make(problem, &s.best, a);
    s.steps_most = steps_allowed(problem, param[SEARCH_MAX_STEPS]);
    TRY(start(&s, param[SEARCH_START], plan, err));
    TRY(workflow_bound_parts(problem, effort, &s.clock, &plan->bound, &s.heads, &s.area,
                             a));
    plan->bounded = true;
    plan->bound_effort = bound_effort_names[effort];
    s.bound_s = plan->bound.lower_bound_s;
    s.grain_s = plan->bound.grain_s;
    s.spent = s.spent || s.clock.spent;
    if (!s.spent && !(budget && budget->no_steps) && !workflow_search_done(&s))
        run_parts(&s, effort);
    if (closes)
        TRY(close_bounds(&s, plan));
    TRY(workflow_order_plan(problem, &s.best, s.begun_s, plan, a));
    report(&s, plan);
    return OK;
}
