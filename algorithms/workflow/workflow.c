/* workflow/workflow.c - the table of static policies, and a decision from end to end. */
#include "algorithms/workflow/initial.h"
#include "algorithms/workflow/moves.h"

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
                   0,                                                                  \
                   "A resource runs as many tasks at a time as it has slots, not one", \
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
                      "/snapshot/resources: %zu ha%s more than one slot, and one "
                      "task at a time was planned on each: see the option slots",
                      several, several == 1 ? "s" : "ve");
        return;
    }
    if (shared > 0 && slots) {
        workflow_warn(problem,
                      "/snapshot/resources: slots of %zu share its speed: each "
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
    workflow_find_moves(problem, plan, &rules, &out->reschedules, &out->reschedule_count,
                        &cut, a, err);
    if (cut)
        workflow_warn(problem, "the time limit came before all moves were looked at");
}

/* The schedule to start from, which only searches can use. */
static enum error_code read_initial(const struct policy *policy,
                                    struct workflow_problem *problem, struct arena *a,
                                    struct error *err)
{
    workflow_fn *run = workflow_fn_of(policy);
    bool searches = run == workflow_search || run == workflow_auto;

    if (problem->in->initial_count && !searches)
        return invalid(err, "/initial", ITEM_CONFLICT,
                       "%s does not start from a schedule; search and auto do",
                       policy->name);
    return workflow_initial_read(problem, a, err);
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

    TRY(workflow_problem_make(in, values[SLOTS] != 0, &problem, a, err));
    TRY(bound); /* after the request, so that the mistakes of both are reported */
    TRY(read_initial(policy, problem, a, err));
    TRY(workflow_plan_make(problem, &plan, a));
    plan.algorithm = policy->name;
    TRY(workflow_fn_of(policy)(problem, values + COMMON_COUNT, &plan, a, err));
    TRY(workflow_answer(problem, &plan, &answer, a, err));
    mark_rows(problem, &plan, &answer, a);
    add_moves(problem, &plan, values, &answer, a, err);
    warn_of_slots(problem, values[SLOTS] != 0);
    warn_of_time(problem, &plan, &answer);
    if (answer.unplaced_count > 0)
        workflow_warn(problem,
                      "%zu of %zu tasks have no place, and makespan_s is that of the "
                      "others: see unplaced",
                      answer.unplaced_count, problem->task_count);
    answer.warnings = problem->warnings;
    answer.warning_count = problem->warning_count;
    *out = answer;
    return OK;
}
