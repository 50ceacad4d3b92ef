/* workflow/workflow.c - the table of static policies, and a decision from end to end. */
#include "algorithms/workflow/problem.h"

#include <assert.h>
#include <string.h>

const struct workflow_policy workflow_policies[] = {
#define X(name, purpose, source) \
    {#name, purpose, source, workflow_##name, workflow_##name##_params},
    WORKFLOW_POLICIES(X)
#undef X
        {0},
};

enum { SLOTS, COMMON_COUNT };

const struct param workflow_common_params[] = {
    [SLOTS] = {"slots", 0, 1, 0,
               "A resource runs as many tasks at a time as it has slots, not one",
               PARAM_BOOLEAN, NULL},
    {0},
};

const struct workflow_policy *workflow_policy_find(const char *name)
{
    for (const struct workflow_policy *p = workflow_policies; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

/* Binds the options of all policies and those of this one together, so that an unknown
 * one is reported once. */
static enum error_code bind_options(const struct workflow_policy *policy,
                                    const struct named_value *options, size_t count,
                                    double *values, struct error *err)
{
    struct param rows[PARAMS_MAX + 1] = {0};
    size_t own = params_count(policy->params);

    assert(COMMON_COUNT + own <= PARAMS_MAX);
    memcpy(rows, workflow_common_params, COMMON_COUNT * sizeof(rows[0]));
    if (own)
        memcpy(rows + COMMON_COUNT, policy->params, own * sizeof(rows[0]));
    return params_bind(rows, options, count, values, err);
}

enum error_code workflow_decide(const struct workflow_in *in,
                                const struct workflow_policy *policy,
                                const struct named_value *options, size_t option_count,
                                struct workflow_out *out, struct arena *a,
                                struct error *err)
{
    double values[PARAMS_MAX] = {0};
    struct workflow_problem *problem;
    struct workflow_plan plan = {0};
    enum error_code bound = bind_options(policy, options, option_count, values, err);

    TRY(workflow_problem_make(in, values[SLOTS] != 0, &problem, a, err));
    TRY(bound); /* after the request, so that the mistakes of both are reported */
    TRY(workflow_plan_make(problem, &plan, a, err));
    plan.algorithm = policy->name;
    TRY(policy->run(problem, values + COMMON_COUNT, &plan, a, err));
    return workflow_answer(problem, &plan, out, a, err);
}
