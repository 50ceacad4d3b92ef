/* workflow/auto.c - the best of heft, cpop and peft, made better by a search.
 *
 * With a time limit or max_steps it is `search`, which begins with these three. Without
 * them the three run in this order, and the plan that places most tasks, then ends first,
 * wins (tie: the earlier); of at most SEARCH_TASKS_MOST tasks SEARCH_STEPS steps of
 * `search` have to beat it, or to prove it: the answer can be repeated. A schedule that
 * the request brings goes to `search` at once. What has begun stays where it is: all that
 * is still to come is planned again each time. peft is left out when its table would take
 * more than half of the memory that the request has left.
 *
 * Source: spec search.md 7. Cost: that of the three and of the search.
 */
#include "algorithms/workflow/search_parts.h"

#include <string.h>

const struct param workflow_auto_params[] = {
    [SEARCH_MAX_STEPS] = {"max_steps", 0, 1e12, 0,
                          "Steps of the search, for answers that can be repeated to the "
                          "bit; 0: as long as the time limit says, else 2000 for at most "
                          "2000 tasks",
                          PARAM_INTEGER, NULL},
    SEARCH_EFFORT_AND_START,
    {0},
};

enum { SEARCH_TASKS_MOST = 2000, SEARCH_STEPS = 2000 };

static const char *const candidates[] = {"heft", "cpop", "peft"};
enum { CANDIDATES = sizeof(candidates) / sizeof(candidates[0]) };

static size_t placed_count(const struct workflow_problem *problem,
                           const struct workflow_plan *plan)
{
    size_t count = 0;

    for (size_t i = 0; i < problem->task_count; i++)
        count += plan->processor[i] != WORKFLOW_NONE;
    return count;
}

/* Does plan b end before plan a, or place more? */
static bool better(const struct workflow_problem *problem, const struct workflow_plan *a,
                   const struct workflow_plan *b)
{
    size_t placed_a = placed_count(problem, a), placed_b = placed_count(problem, b);

    if (placed_a != placed_b)
        return placed_b > placed_a;
    return workflow_plan_makespan_s(problem, b) < workflow_plan_makespan_s(problem, a);
}

static bool too_large(const struct workflow_problem *problem, const char *name,
                      const struct arena *a)
{
    double table_bytes = (double)problem->task_count * (double)problem->processor_count *
                         (double)sizeof(double);

    return strcmp(name, "peft") == 0 &&
           table_bytes > (double)(arena_cap_bytes(a) - arena_used_bytes(a)) / 2;
}

static enum error_code run_policy(const struct workflow_problem *problem,
                                  const struct policy *policy, struct workflow_plan *plan,
                                  struct arena *a, struct error *err)
{
    double param[PARAMS_MAX] = {0};

    TRY(params_bind(policy->params, NULL, 0, param, err));
    plan->algorithm = policy->name;
    return workflow_fn_of(policy)(problem, param, plan, a, err);
}

static enum error_code best_of_three(const struct workflow_problem *problem,
                                     struct workflow_plan *plan, struct arena *a,
                                     struct error *err)
{
    const char *results = "";
    bool any = false;

    for (size_t k = 0; k < CANDIDATES && plan->status != DECISION_CUT; k++) {
        struct workflow_plan next;

        if (too_large(problem, candidates[k], a))
            continue;
        TRY(workflow_plan_make(problem, &next, a));
        TRY(run_policy(problem, policy_find(workflow_policies, candidates[k]), &next, a,
                       err));
        results = arena_printf(a, "%s%s%s %g s", results, k ? ", " : "", candidates[k],
                               workflow_plan_makespan_s(problem, &next));
        if (!any || better(problem, plan, &next)) {
            enum decision_status status = any ? next.status : DECISION_FEASIBLE;

            *plan = next;
            plan->status = next.status == DECISION_CUT ? DECISION_CUT : status;
        } else if (next.status == DECISION_CUT) {
            plan->status = DECISION_CUT;
        }
        any = true;
    }
    plan->because = arena_printf(a, "the best of %s", results);
    return OK;
}

/* `steps` 0: as long as the time limit says. `param`: of auto, for the rest. */
static enum error_code run_search(const struct workflow_problem *problem,
                                  const double *param, double steps,
                                  struct workflow_plan *plan, struct arena *a,
                                  struct error *err)
{
    const struct policy *search = policy_find(workflow_policies, "search");
    const double its_param[] = {[SEARCH_MAX_STEPS] = steps,
                                [SEARCH_BOUND_EFFORT] = param[SEARCH_BOUND_EFFORT],
                                [SEARCH_START] = param[SEARCH_START]};

    plan->algorithm = search->name;
    return workflow_fn_of(search)(problem, its_param, plan, a, err);
}

/* Some steps of search, which starts from the same three: its plan is at least as good,
 * and has bounds. */
static enum error_code improve(const struct workflow_problem *problem,
                               const double *param, struct workflow_plan *plan,
                               struct arena *a, struct error *err)
{
    const char *because, *list = plan->algorithm;
    struct workflow_plan next;
    bool gained;

    TRY(workflow_plan_make(problem, &next, a));
    TRY(run_search(problem, param, SEARCH_STEPS, &next, a, err));
    because = arena_printf(a, "%s, search %g s", plan->because,
                           workflow_plan_makespan_s(problem, &next));
    if (better(problem, &next, plan)) { /* `start` has left the best list out */
        plan->because = because;
        return OK;
    }
    gained = better(problem, plan, &next);
    *plan = next;
    plan->algorithm = gained ? next.algorithm : list;
    plan->because = because;
    return OK;
}

enum error_code workflow_auto(const struct workflow_problem *problem, const double *param,
                              struct workflow_plan *plan, struct arena *a,
                              struct error *err)
{
    double steps = param[SEARCH_MAX_STEPS];

    if (problem->initial) {
        plan->because = "the request brings a schedule to start from";
        if (!(steps > 0) && !problem->in->time_limit_given &&
            problem->open_count <= SEARCH_TASKS_MOST)
            steps = SEARCH_STEPS;
        return run_search(problem, param, steps, plan, a, err);
    }
    if (steps > 0 || problem->in->time_limit_given) {
        plan->because = "the request allows time for a search";
        return run_search(problem, param, steps, plan, a, err);
    }
    TRY(best_of_three(problem, plan, a, err));
    if (problem->open_count > SEARCH_TASKS_MOST || plan->status == DECISION_CUT)
        return OK;
    return improve(problem, param, plan, a, err);
}
