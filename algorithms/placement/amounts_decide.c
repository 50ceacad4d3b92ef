/* placement/amounts_decide.c - placements where amounts count.
 *
 * One list policy on one board, the jobs that start now, or a portfolio of list policies
 * and a search (amounts_plans.c, amounts_search.c).
 */
#include "algorithms/placement/amounts_decide.h"

#include "algorithms/placement/amounts_files.h"
#include "algorithms/placement/amounts_gridway.h"
#include "algorithms/placement/amounts_identical.h"
#include "algorithms/placement/amounts_plans.h"
#include "algorithms/placement/plan.h"
#include "algorithms/placement/priority.h"
#include "models/base/plural.h"

#include <stdio.h>
#include <string.h>

bool amounts_decide_asked(const struct placement_in *in, const double *values)
{
    return in->world &&
           (values[COMMON_JOB_ORDER] >= ORDER_AMOUNTS ||
            values[COMMON_PLAN_WITH] > PLAN_WITH_ESTIMATE || amounts_are_given(in));
}

/* ---- which policies there are ---- */

static const struct {
    placement_fn *run;
    enum world_rule rule;
} rules[] = {
    {placement_olb, WORLD_OLB},
    {placement_met, WORLD_MET},
    {placement_mct, WORLD_MCT},
    {placement_kpb, WORLD_KPB},
    {placement_min_min, WORLD_MIN_MIN},
    {placement_max_min, WORLD_MAX_MIN},
    {placement_duplex, WORLD_DUPLEX},
    {placement_sufferage, WORLD_SUFFERAGE},
    {placement_sufferage_pass, WORLD_SUFFERAGE_PASS},
    {placement_xsufferage, WORLD_XSUFFERAGE},
};

enum { RULES = sizeof(rules) / sizeof(*rules) };

/* RULES: it is no list policy. */
static size_t rule_of(const struct policy *policy)
{
    size_t i = 0;

    while (i < RULES && rules[i].run != placement_fn_of(policy))
        i++;
    return i;
}

/* Goes in the order of the jobs. */
static bool goes_in_order(enum world_rule rule)
{
    return rule == WORLD_OLB || rule == WORLD_MET || rule == WORLD_MCT ||
           rule == WORLD_KPB;
}

static bool is_gridway(const struct policy *policy)
{
    return placement_fn_of(policy) == placement_gridway;
}

static bool is_identical(const struct policy *policy)
{
    return placement_fn_of(policy) == placement_identical_optimum;
}

static bool is_search(const struct policy *policy)
{
    return placement_fn_of(policy) == placement_auto ||
           placement_fn_of(policy) == placement_search;
}

/* What amounts do not go with. */
static void check_call(const struct amounts_call *call, struct error *err)
{
    const struct placement_in *in = call->in;
    bool now = placement_fn_of(call->policy) == placement_auto &&
               in->world->objective_count &&
               strcmp(in->world->objective[0], "started_now_weight") == 0;

    if (in->initial_count && !is_search(call->policy))
        invalid(err, "/initial", ITEM_CONFLICT,
                "%s does not start from a plan; search and auto do", call->policy->name);
    for (size_t i = 0; i < in->job_count; i++) {
        bool files = in->jobs[i].input_file_count && in->jobs[i].copy == 0;
        char pointer[64];

        if (!files || !now)
            continue;
        snprintf(pointer, sizeof(pointer), "/jobs/%zu/input_file_ids", i);
        invalid(err, pointer, ITEM_INVALID_COMBINATION,
                "auto does not look at files where started_now_weight comes first: "
                "leave it out and count the transfer in estimate_s, or take gridway");
    }
}

/* ---- the decision ---- */

/* The option has an order, which the policy does not go by. */
static void warn_order(const struct amounts_maker *m, enum world_rule rule)
{
    if (!goes_in_order(rule) && m->call->values[COMMON_JOB_ORDER] > 0)
        problem_warn(m->p,
                     "ignored: 1 option (/options/job_order): %s does not go in an order",
                     m->call->policy->name);
    if (m->goal.level[0] == OBJECTIVE_STARTED_NOW)
        problem_warn(m->p,
                     "policy_ignores_objective: %s plans every job, and does not look "
                     "for the largest started_now_weight, as auto does",
                     m->call->policy->name);
}

/* The jobs that start at this moment. */
static void start_now(struct amounts_maker *m)
{
    struct now_in in = {.w = m->w,
                        .max_nodes = (size_t)m->call->values[COMMON_MAX_NODES]};

    world_start_all(&in, &m->best.now, m->arena);
    m->best.plan = &m->best.now.plan;
    world_worth(m->w, &m->goal, m->best.plan, &m->best.worth, m->arena);
    m->best.algorithm = "auto";
    m->best.because = arena_printf(
        m->arena, "started_now_weight is first: %s of jobs, %s of the search, %s",
        counted(m->best.now.class_count, "kind").text,
        counted(m->best.now.node_count, "node").text,
        counted(m->best.now.round_count, "round").text);
}

/* The world of the jobs that start, in which all others are barred for what they wait
 * for. */
static struct world *world_of_started(const struct amounts_maker *m)
{
    struct world *some = NEW(m->arena, struct world, 1);
    struct world_job *jobs = NEW(m->arena, struct world_job, m->w->job_count);

    memcpy(jobs, m->w->jobs, m->w->job_count * sizeof(*jobs));
    for (size_t j = 0; j < m->w->job_count; j++) {
        const struct world_placed *x = &m->best.plan->placed[j];

        if (!x->positions && jobs[j].barred == WORLD_WAIT_NONE)
            jobs[j].barred =
                x->wait == WORLD_WAIT_NONE ? WORLD_WAIT_NO_FREE_NOW : x->wait;
    }
    *some = *m->w;
    some->jobs = jobs;
    return some;
}

static bool all_start_now(const struct world_plan *plan)
{
    for (size_t k = 0; k < plan->placed_count; k++)
        if (plan->placed[plan->sequence[k]].start_s > 0)
            return false;
    return true;
}

/* The same jobs at the same moment, where the list policies place them better for the
 * objectives below. */
static void refine_now(struct amounts_maker *m)
{
    const struct amounts_result found = m->best;
    struct world *whole = m->w;

    if (m->goal.level_count == 1 || found.plan->placed_count == 0 || found.plan->cut ||
        amounts_has_unknown_end(found.plan))
        return;
    m->w = world_of_started(m);
    m->board = board_create(m->w, amounts_board_files(m->p), m->arena);
    amounts_portfolio(m);
    m->w = whole;
    if (m->best.plan == found.plan || !all_start_now(m->best.plan)) {
        m->best = found;
        return;
    }
    m->best.because = arena_printf(
        m->arena, "%s; of the plans that start them %s is best for %s", found.because,
        m->best.name, world_objective_names[m->goal.level[1]]);
    m->best.algorithm = found.algorithm;
    m->best.bounded = NULL; /* of the world without the others */
    m->best.started = NULL;
}

/* Least completion times reach the optimum that is known. */
static void place_identical(struct amounts_maker *m)
{
    amounts_try_rule(m, &(struct amounts_rule){WORLD_MCT, WORLD_FIFO, "identical_optimum",
                                               "identical_optimum"});
    if (!is_identical(m->call->policy))
        m->best.because = "all jobs are identical and nothing is taken: the optimum is "
                          "known";
}

/* Whether it is known; the policy that is for nothing else says why not. */
static enum error_code look_for_optimum(struct amounts_maker *m, struct error *err)
{
    const struct policy *policy = m->call->policy;
    bool only = m->goal.level[0] == OBJECTIVE_MAKESPAN && m->goal.level_count == 1;
    const char *obstacle;

    if (m->w->job_count == 0 ||
        (!is_identical(policy) && (placement_fn_of(policy) != placement_auto || !only)))
        return OK;
    obstacle =
        only ? amounts_identical_obstacle(m->w) : "the objective is not makespan_s alone";
    if (obstacle && is_identical(policy))
        return invalid(err, "/algorithm", ITEM_NOT_APPLICABLE,
                       "identical_optimum does not apply: %s; take auto", obstacle);
    m->best.has_optimum = !obstacle;
    if (!obstacle)
        m->best.optimum_s = amounts_identical_makespan_s(m->w, m->arena);
    return OK;
}

/* Started by rank, whatever the objective is. */
static void play_round(struct amounts_maker *m)
{
    amounts_gridway(m, m->call->values[COMMON_COUNT] != 0);
}

static enum error_code make_plan(struct amounts_maker *m, const struct amounts *checked,
                                 struct error *err)
{
    const struct policy *policy = m->call->policy;
    size_t rule = rule_of(policy);

    if (m->best.by_round) {
        if (m->call->in->world->objective)
            problem_warn(m->p, "policy_ignores_objective: gridway starts jobs by rank, "
                               "and looks at no objective, as auto does");
        if (m->call->values[COMMON_JOB_ORDER] >= ORDER_AMOUNTS)
            problem_warn(m->p, "ignored: 1 option (/options/job_order): gridway takes "
                               "jobs as they come, or by gridway_priority");
        play_round(m);
    } else if (m->best.starts_now) {
        start_now(m);
        refine_now(m);
    } else if (m->best.has_optimum) {
        place_identical(m);
    } else if (rule == RULES) {
        return amounts_search(m, checked, placement_fn_of(policy) == placement_auto, err);
    } else {
        warn_order(m, rules[rule].rule);
        amounts_try_rule(m,
                         &(struct amounts_rule){rules[rule].rule, amounts_asked_order(m),
                                                policy->name, policy->name});
    }
    return OK;
}

/* Where nothing is searched for from a plan. */
static void warn_initial(struct amounts_maker *m)
{
    size_t rows = m->call->in->initial_count;

    if (rows && (m->best.starts_now || m->best.has_optimum))
        problem_warn(m->p, "ignored: /initial (%zu row%s): %s", rows,
                     rows == 1 ? "" : "s",
                     m->best.has_optimum ? "the optimum is known"
                                         : "what starts now is not searched from a plan");
}

/* The plan that there would be, had been stopped what would be advised. The first plan,
 * by which that is found, is a short one. */
static void assume_stops(struct amounts_maker *m)
{
    const struct amounts_result begun = m->best;
    struct world_stops *stops = NEW(m->arena, struct world_stops, 1);
    const bool *wants;
    bool any;

    wants = amounts_preempting(m->p, &any);
    if (!any)
        return;
    if (m->best.by_round)
        play_round(m);
    else if (m->best.starts_now)
        start_now(m);
    else
        amounts_try_rule(
            m, &(struct amounts_rule){WORLD_MCT, amounts_asked_order(m), "mct", "mct"});
    world_stop(m->w, m->best.plan, wants, stops, m->arena);
    m->best = begun;
    m->tried_count = 0;
    m->best.stops = stops;
    m->w = stops->world;
    if (!m->best.starts_now)
        m->board = board_create(m->w, amounts_board_files(m->p), m->arena);
}

/* Mistakes of all kinds, then the problem. */
static enum error_code prepare(const struct amounts_call *call,
                               struct placement_problem *p, struct world_goal *goal,
                               struct amounts **checked, struct arena *a,
                               struct error *err)
{
    const struct placement_world *given = call->in->world;
    size_t before = err->item_count;
    bool limits = (int)call->values[COMMON_PLAN_WITH] == PLAN_WITH_LIMIT;

    check_call(call, err);
    world_goal_read(given->objective, given->objective_count, goal, err);
    amounts_check(call->in, limits, checked, a, err);
    TRY(problem_prepare(call->in, call->values, p, a, err));
    TRY(call->bound);
    return err->item_count > before ? ERR_INVALID : OK;
}

enum error_code amounts_decide(const struct amounts_call *call,
                               struct placement_problem *p, struct placement_out *out,
                               struct arena *a, struct error *err)
{
    struct amounts_maker m = {.call = call, .p = p, .arena = a};
    struct amounts_world made;
    struct amounts *checked;

    TRY(prepare(call, p, &m.goal, &checked, a, err));
    m.best.by_round = is_gridway(call->policy);
    m.best.starts_now =
        m.best.by_round ||
        (placement_fn_of(call->policy) == placement_auto && p->resource_count > 0 &&
         m.goal.level[0] == OBJECTIVE_STARTED_NOW);
    if (m.best.starts_now)
        amounts_start_now(checked);
    amounts_count_limits(checked);
    amounts_world(p, checked, &made);
    m.w = made.world;
    if (!m.best.starts_now)
        m.board = board_create(m.w, amounts_board_files(p), a);
    if (call->values[COMMON_ASSUME_PREEMPTED] > 0)
        assume_stops(&m);
    if (!m.best.starts_now)
        TRY(look_for_optimum(&m, err));
    made.world = m.w;
    warn_initial(&m);
    TRY(make_plan(&m, checked, err));
    m.best.goal = m.goal;
    m.best.in_due_order = !call->in->world->objective && !m.best.starts_now;
    m.best.made = &made;
    m.best.checked = checked;
    amounts_answer(call, p, &m.best, out);
    return OK;
}
