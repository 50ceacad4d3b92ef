/* parallel/auto.c - exact first, then what else there is, and the best of all.
 *
 * The exact method gets the first EXACT_SHARE of the time and of the work budget. When
 * it does not prove its set, box_elimination and dynamic_programming look for a better
 * one with what is left. The bound is the exact method's.
 *
 * Source: spec parallel-scheduling.md 11. Deviation: exact comes first, there it comes
 * last, since mostly nothing else is needed; it looks at the sets of cpu_prefix itself.
 * Random errors (spec 5) are not applied.
 */
#include "algorithms/parallel/exact_parts.h"
#include "algorithms/parallel/sites.h"

enum { EXACT_WORK_BUDGET };

const struct param parallel_auto_params[] = {
    [EXACT_WORK_BUDGET] = {"exact_work_budget", 0, 9e15, 3e8,
                           "Work units after which the exact method gives up, about a "
                           "second; 0, and with a time_limit_s: when its share of the "
                           "time is up",
                           PARAM_INTEGER, NULL},
    {0},
};

#define EXACT_SHARE 0.7

/* What the other methods are given: the input of *s, with part of its budgets. */
struct part {
    struct parallel_in in;
    struct budget budget;
};

static void make_part(const struct parallel_search *s, double share, struct part *part)
{
    double used = budget_used(s->in->budget);

    part->in = *s->in;
    part->in.perturbation_ratio = 0;
    part->budget = budget_part(s->in->budget, used, used + fmax(0, 1 - used) * share);
    part->in.budget = &part->budget;
    if (s->in->work_budget > 0)
        part->in.work_budget =
            fmax(1, (s->in->work_budget - (double)s->work_units) * share);
}

/* What a method proved. */
struct proof {
    double bound_s; /* NAN: nothing */
    bool stopped;
};

/* Runs another policy for a share of what is left, at most work_budget units (0: no
 * limit), and takes its set if it is better. */
static enum error_code run_other(struct parallel_search *s, const char *name,
                                 double work_budget, double share, struct proof *proof,
                                 struct error *err)
{
    const struct policy *policy = policy_find(parallel_policies, name);
    struct parallel_search run;
    double param[PARAMS_MAX];
    struct part part;

    make_part(s, share, &part);
    search_fork(s, &run);
    run.in = &part.in;
    if (work_budget > 0 &&
        !(part.in.work_budget > 0 && part.in.work_budget < work_budget))
        part.in.work_budget = work_budget;
    TRY(params_bind(policy->params, NULL, 0, param, err));
    TRY(parallel_fn_of(policy)(&run, param, err));
    search_join(s, &run, policy->name);
    *proof = (struct proof){run.bound_s, run.stopped};
    return OK;
}

static bool nothing_left(const struct parallel_search *s)
{
    return budget_spent(s->in->budget) ||
           (s->in->work_budget > 0 && (double)s->work_units >= s->in->work_budget);
}

enum error_code parallel_auto(struct parallel_search *s, const double *param,
                              struct error *err)
{
    static const char *const others[] = {"dynamic_programming", "box_elimination"};
    enum { OTHERS = sizeof(others) / sizeof(others[0]) };
    struct proof exact, other;

    s->perturbation_ignored = true;
    TRY(run_other(s, "exact", param[EXACT_WORK_BUDGET], EXACT_SHARE, &exact, err));
    s->bound_s = exact.bound_s;
    s->stopped = exact.stopped;
    for (size_t i = 0; i < OTHERS && exact.stopped && s->bound_s < s->best_s; i++)
        if (!nothing_left(s))
            TRY(run_other(s, others[i], 0, 1.0 / (double)(OTHERS - i), &other, err));
    return OK;
}
