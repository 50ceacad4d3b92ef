/* workflow/workflow.c - the table of static policies, and a decision from end to end. */
#include "algorithms/workflow/amounts.h"
#include "algorithms/workflow/initial.h"
#include "algorithms/workflow/moves.h"
#include "models/base/plural.h"
#include "models/reason_tally.h"

enum { SLOTS, MOVES, GAIN_MIN_S, GAIN_MIN_RATIO, RESTART_S, COMMON_COUNT };
enum { MOVES_NONE, MOVES_PAYING };

static const char *const moves_names[] = {"none", "paying", NULL};
static const char *const auto_moves_names[] = {"none", "paying", "rounds", NULL};

#define MOVES_DOC "Running tasks to move: none, or those whose move pays"
#define COMMON_ROWS(moves_most, moves_preset, moves_doc, moves_choices)                \
    {                                                                                  \
        [SLOTS] = {"slots",                                                            \
                   0,                                                                  \
                   1,                                                                  \
                   1,                                                                  \
                   "A resource runs as many tasks at a time as it has slots; false: "  \
                   "one, as in the published model",                                   \
                   PARAM_BOOLEAN,                                                      \
                   NULL},                                                              \
        [MOVES] = {"moves",      0, moves_most, moves_preset, moves_doc, PARAM_CHOICE, \
                   moves_choices},                                                     \
        [GAIN_MIN_S] = {"move_gain_min_s",                                             \
                        0,                                                             \
                        1e12,                                                          \
                        30,                                                            \
                        "A move that pays gains more than this, s",                    \
                        PARAM_NUMBER,                                                  \
                        NULL},                                                         \
        [GAIN_MIN_RATIO] = {"move_gain_min_ratio",                                     \
                            0,                                                         \
                            1,                                                         \
                            0.25,                                                      \
                            "and more than this part of what is left where it is",     \
                            PARAM_NUMBER,                                              \
                            NULL},                                                     \
        [RESTART_S] =                                                                  \
            {"restart_s",  0,   1e9, 0, "What a move costs besides its transfers, s",  \
             PARAM_NUMBER, NULL},                                                      \
        [COMMON_COUNT] = {0},                                                          \
    }

const struct param workflow_common_params[] =
    COMMON_ROWS(1, MOVES_NONE, MOVES_DOC, moves_names);
const struct param workflow_auto_common_params[] =
    COMMON_ROWS(2, MOVES_PAYING, MOVES_DOC "; rounds: a round of the algorithm balanced",
                auto_moves_names);

const struct policy workflow_policies[] = {
#define X(policy, options, does, described) \
    {.name = #policy,                       \
     .purpose = does,                       \
     described,                             \
     .common = options,                     \
     .params = workflow_##policy##_params,  \
     .run = (policy_fn *)workflow_##policy},
    WORKFLOW_POLICIES(X)
#undef X
        {0},
};

/* Where the answer has to say that less was planned than is there. */
static void warn_of_slots(struct workflow_problem *problem, bool slots)
{
    const struct snapshot *grid = problem->in->snapshot;
    size_t several = 0, shared = 0;

    for (size_t i = 0; i < grid->resource_count; i++) {
        several += resource_slots(&grid->resources[i]) > 1;
        shared += resource_slots(&grid->resources[i]) > 1 &&
                  grid->resources[i].sharing == SHARING_EQUAL;
    }
    if (several > 0 && !slots) {
        workflow_warn(problem,
                      "slots: /snapshot/resources: %zu ha%s more than one slot, and one "
                      "task at a time was planned on each: see the option slots",
                      several, several == 1 ? "s" : "ve");
        return;
    }
    if (shared > 0 && slots) {
        workflow_warn(problem,
                      "slots: /snapshot/resources: slots of %zu share its speed: each "
                      "was planned with an equal part of it, also while others "
                      "are idle",
                      shared);
    }
}

/* When the input that is there last is sent; NAN: it is not moved, or none of a parent.
 */
static double transfer_from_s(const struct workflow_problem *problem,
                              const struct workflow_plan *plan, size_t task)
{
    double from_s = (double)NAN, last_s = -1;

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_edge *edge = &problem->edges[e];
        double begin_s = fmax(0, plan->finish_s[edge->parent]), way_s;

        if (plan->processor[edge->parent] == WORKFLOW_NONE)
            continue;
        way_s = workflow_transfer_s(problem, edge, plan->processor[edge->parent],
                                    plan->processor[task]);
        if (begin_s + way_s > last_s) {
            last_s = begin_s + way_s;
            from_s = way_s > 0 ? begin_s : (double)NAN;
        }
    }
    return from_s;
}

/* Rows that may start when their processor is free, and what running ones have left. */
static void mark_rows(const struct workflow_problem *problem,
                      const struct workflow_plan *plan, struct workflow_out *out,
                      struct arena *a)
{
    struct workflow_placement *rows =
        NEW(a, struct workflow_placement, out->schedule_count);
    bool *taken = NEW(a, bool, problem->processor_count);

    for (size_t k = 0; k < out->schedule_count; k++) {
        size_t i = out->schedule[k].task, p = plan->processor[i];

        rows[k] = out->schedule[k];
        rows[k].remaining_source = problem->left[i].source;
        rows[k].transfer_from_s = (double)NAN;
        if (!workflow_is_open(problem, i))
            continue;
        rows[k].transfer_from_s = transfer_from_s(problem, plan, i);
        rows[k].next = !taken[p];
        taken[p] = true;
        for (size_t e = problem->parent_first[i]; e < problem->parent_first[i + 1]; e++)
            if (problem->tasks[problem->edges[e].parent]->status != WORKFLOW_DONE)
                rows[k].next = false;
    }
    out->schedule = rows;
}

static void add_moves(struct workflow_problem *problem, const struct workflow_plan *plan,
                      const double *values, struct workflow_out *out, struct arena *a,
                      struct error *err)
{
    const struct workflow_move_rules rules = {values[GAIN_MIN_S], values[GAIN_MIN_RATIO],
                                              values[RESTART_S]};
    bool cut = false;

    if ((int)values[MOVES] != MOVES_PAYING)
        return;
    if (plan->amounts)
        workflow_amounts_moves(plan->amounts, plan, &rules, &out->reschedules,
                               &out->reschedule_count, &cut);
    else
        workflow_find_moves(problem, plan, &rules, &out->reschedules,
                            &out->reschedule_count, &cut, a, err);
    if (cut)
        workflow_warn(problem,
                      "time_limit: the time limit came before all moves were looked at");
}

/* Only searches can use a schedule to start from. */
static enum error_code check_initial(const struct policy *policy,
                                     const struct workflow_problem *problem,
                                     struct error *err)
{
    workflow_fn *run = workflow_fn_of(policy);
    bool searches = run == workflow_search || run == workflow_auto;

    if (problem->in->initial_count && !searches)
        return invalid(err, "/initial", ITEM_CONFLICT,
                       "%s does not start from a schedule; search and auto do",
                       policy->name);
    return OK;
}

/* What there was no time for. */
static void warn_of_time(struct workflow_problem *problem,
                         const struct workflow_plan *plan, const struct workflow_out *out)
{
    if (plan->in_turn_count > 0)
        workflow_warn(problem,
                      "cut_to_round_robin: the time limit ended %s; %zu task%s given "
                      "to the resources that can run them in turn",
                      plan->algorithm, plan->in_turn_count,
                      plan->in_turn_count == 1 ? " was" : "s were");
    if (out->bound_skipped)
        workflow_warn(problem,
                      "bound_skipped: the time limit came before all bounds were "
                      "computed; those that are given hold");
}

static void warn_of_unplaced(struct workflow_problem *problem,
                             const struct workflow_out *out)
{
    struct reason_tally tally = {0};

    for (size_t i = 0; i < out->unplaced_count; i++) {
        budget_step(problem->in->budget, 1);
        reason_tally_add(&tally, out->unplaced[i].reason);
    }
    if (out->unplaced_count > 0)
        workflow_warn(problem, "%s; of %s, makespan_s is that of the others",
                      reason_tally_text(&tally, problem->arena),
                      counted(problem->task_count, "task").text);
}

/* Which policies there are where amounts count, and how long they search. */
static void plan_amounts(const struct policy *policy, const double *param,
                         struct workflow_problem *problem, struct workflow_plan *plan)
{
    workflow_fn *run = workflow_fn_of(policy);
    size_t steps = 0;

    bool searches = run == workflow_search || run == workflow_auto;

    if (!searches && run != workflow_heft) {
        workflow_warn(problem,
                      "ignored: /algorithm: %s plans one task at a time on a resource, "
                      "and the request says what tasks need or what is taken: heft was "
                      "taken",
                      policy->name);
        plan->algorithm = "heft";
    }
    if (searches)
        steps = workflow_amounts_steps(problem);
    if (searches && param[0] > 0) /* max_steps, of both */
        steps = (size_t)param[0];
    else if (searches && problem->in->time_limit_given)
        steps = SIZE_MAX;
    workflow_amounts_plan(plan->amounts, steps, plan);
    plan->because = run == workflow_auto ? "heft where tasks need amounts, then a search "
                                           "over the order of the tasks"
                                         : NULL;
}

/* Options that say nothing where amounts count. */
static void warn_of_unused(struct workflow_problem *problem, const double *values)
{
    if (values[SLOTS] == 0)
        workflow_warn(
            problem, "option_unused: /options/slots: where amounts count a resource runs "
                     "as many tasks as fit; with n_max 1 it runs one");
}

/* A decision where resources run as many tasks as fit. */
static enum error_code decide_amounts(const struct workflow_in *in,
                                      const struct policy *policy, const double *values,
                                      enum error_code bound, struct workflow_out *out,
                                      struct arena *a, struct error *err)
{
    struct workflow_problem *problem;
    struct workflow_plan plan = {0};
    struct workflow_amounts *amounts;
    struct workflow_out answer;

    TRY(workflow_problem_make(in, false, &problem, a, err));
    TRY(workflow_amounts_make(problem, &amounts, a, err));
    TRY(bound);
    TRY(check_initial(policy, problem, err));
    TRY(workflow_amounts_initial(amounts, err));
    TRY(workflow_plan_make(problem, &plan, a));
    plan.algorithm = policy->name;
    plan.amounts = amounts;
    plan_amounts(policy, values + COMMON_COUNT, problem, &plan);
    TRY(workflow_answer(problem, &plan, &answer, a, err));
    mark_rows(problem, &plan, &answer, a);
    workflow_amounts_answer(amounts, &plan, &answer);
    add_moves(problem, &plan, values, &answer, a, err);
    warn_of_unused(problem, values);
    warn_of_time(problem, &plan, &answer);
    warn_of_unplaced(problem, &answer);
    answer.warnings = problem->warnings;
    answer.warning_count = problem->warning_count;
    *out = answer;
    return OK;
}

enum error_code workflow_decide(const struct workflow_in *in, const struct policy *policy,
                                const struct named_value *options, size_t option_count,
                                struct workflow_out *out, struct arena *a,
                                struct error *err)
{
    double values[PARAMS_MAX] = {0};
    struct workflow_problem *problem;
    struct workflow_plan plan = {0};
    struct workflow_out answer;
    enum error_code bound = policy_bind(policy, options, option_count, values, err);

    if (workflow_amounts_asked(in))
        return decide_amounts(in, policy, values, bound, out, a, err);
    TRY(workflow_problem_make(in, values[SLOTS] != 0, &problem, a, err));
    TRY(bound); /* after the request, so that the mistakes of both are reported */
    TRY(check_initial(policy, problem, err));
    TRY(workflow_initial_read(problem, a, err));
    TRY(workflow_plan_make(problem, &plan, a));
    plan.algorithm = policy->name;
    TRY(workflow_fn_of(policy)(problem, values + COMMON_COUNT, &plan, a, err));
    TRY(workflow_answer(problem, &plan, &answer, a, err));
    mark_rows(problem, &plan, &answer, a);
    add_moves(problem, &plan, values, &answer, a, err);
    warn_of_slots(problem, values[SLOTS] != 0);
    warn_of_time(problem, &plan, &answer);
    warn_of_unplaced(problem, &answer);
    answer.warnings = problem->warnings;
    answer.warning_count = problem->warning_count;
    *out = answer;
    return OK;
}
