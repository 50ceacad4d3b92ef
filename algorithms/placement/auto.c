/* placement/auto.c - chooses by size, files and time limit, and says what it chose.
 *
 *     identical_optimum   if it applies (identical_optimum.c)
 *     search              if the request limits the time or the steps
 *     xsufferage          with input files
 *     min_min             else
 *     mct                 where one of the last two would take too many looks at a
 *                         resource: COSTLY of them
 *
 * Source: spec gridway.md 5.1.
 */
#include "algorithms/placement/identical.h"

enum { MAX_STEPS };

const struct param placement_auto_params[] = {
    [MAX_STEPS] = {"max_steps", 0, 1e12, 0, "Steps of a search; 0: none asked for",
                   PARAM_INTEGER, NULL},
    {0},
};

#define COSTLY 2e8

struct choice {
    const char *name, *because;
};

static struct choice choose(const struct placement_problem *p, double max_steps)
{
    double jobs = (double)p->job_count, resources = (double)p->resource_count;

    if (!identical_obstacle(p))
        return (struct choice){"identical_optimum",
                               "all jobs are identical and every slot is free: the "
                               "optimum is known"};
    if (p->in->time_limit_given || max_steps > 0)
        return (struct choice){"search", "the request allows time for a search"};
    if (p->has_files) {
        if (jobs * jobs * resources / 4 > COSTLY)
            return (struct choice){"mct", "jobs have files, but there are too many for "
                                          "xsufferage without a time limit"};
        return (struct choice){"xsufferage", "jobs have input files"};
    }
    if (p->has_matrix && jobs * resources * 4 > COSTLY)
        return (struct choice){"mct", "the matrix is too large for min_min without a "
                                      "time limit"};
    return (struct choice){"min_min", "jobs have no input files"};
}

enum error_code placement_auto(const struct placement_problem *problem,
                               const double *param, struct placement_plan *plan,
                               struct arena *a, struct error *err)
{
    struct choice choice = choose(problem, param[MAX_STEPS]);
    const struct placement_policy *policy = placement_policy_find(choice.name);
    struct named_value steps = {"max_steps", VALUE_NUMBER, param[MAX_STEPS], NULL};
    bool search = policy->run == placement_search;
    double value[PARAMS_MAX];

    plan->algorithm = policy->name;
    plan->because = choice.because;
    TRY(params_bind(policy->params, &steps, search ? 1 : 0, value, err));
    return policy->run(problem, value, plan, a, err);
}
