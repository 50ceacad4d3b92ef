/* parallel/parallel.c - the machine set of one tightly coupled application. */
#include "algorithms/parallel/evaluate.h"

#include "algorithms/parallel/bound.h"
#include "algorithms/parallel/sites.h"

#include <stdlib.h>

const struct policy parallel_policies[] = {
#define X(policy, does, described)         \
    {.name = #policy,                      \
     .purpose = does,                      \
     described,                            \
     .common = parallel_common_params,     \
     .params = parallel_##policy##_params, \
     .run = (policy_fn *)parallel_##policy},
    PARALLEL_POLICIES(X)
#undef X
        {0},
};

const struct param parallel_common_params[] = {
    [PARALLEL_WORK_BUDGET] = {"work_budget", 0, 9e15, 0,
                              "Reads of a cpu or a link after which to stop, for answers "
                              "that do not depend on the clock; 0: no limit",
                              PARAM_INTEGER, NULL},
    [PARALLEL_PRE_EVALUATE] = {"pre_evaluate", 0, 1, 1,
                               "Also look at the fastest machine and at all machines",
                               PARAM_BOOLEAN, NULL},
    [PARALLEL_PERTURBATION] = {"perturbation_ratio", 0, 0.99, 0,
                               "Compare predictions with random errors up to this share, "
                               "to see how an algorithm bears them",
                               PARAM_NUMBER, NULL},
    [PARALLEL_USE_FORECAST] = {"use_forecast", 0, 1, 1,
                               "Of a stored snapshot, use the forecast of its load",
                               PARAM_BOOLEAN, NULL},
    {0},
};

/* ---- the two sets that are no worse than which an answer should be ---- */

static void look_at_fastest(struct parallel_search *s)
{
    size_t fastest = search_fastest(s);

    search_keep(s, search_try(s, 1, s->cpu[fastest], HUGE_VAL), &fastest, 1);
}

static void look_at_all(struct parallel_search *s)
{
    size_t *all = NEW(s->arena, size_t, s->n);

    for (size_t i = 0; i < s->n; i++)
        all[i] = i;
    search_keep(s,
                search_try(s, s->n, search_least_cpu(s, all, s->n),
                           search_least_link(s, all, s->n)),
                all, s->n);
}

/* The better of what the policy found and the two sets, which win ties: they count as
 * found first. They are looked at afterwards, so that the policy's own run is the same
 * with and without them. When the policy found nothing they are looked at anyway. */
static void pre_evaluate(struct parallel_search *run, struct parallel_search *both)
{
    search_fork(run, both);
    both->perturb = run->perturb;
    both->algorithm = run->algorithm;
    if (run->in->pre_evaluate || run->best_s == HUGE_VAL) {
        if (run->min_procs == 1)
            look_at_fastest(both);
        look_at_all(both);
    }
    search_join(both, run, run->algorithm);
}

/* ---- the answer ---- */

static int by_index(const void *a, const void *b)
{
    const size_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The numbers of the best set, without perturbation. */
static void describe_set(struct parallel_search *s, struct parallel_out *out)
{
    double wait_s = s->in->queue_wait_s ? s->in->queue_wait_s[s->best_count] : 0;
    double link = search_least_link(s, s->best, s->best_count);

    qsort(s->best, s->best_count, sizeof(*s->best), by_index);
    out->members = s->best;
    out->count = s->best_count;
    out->min_cpu_ratio = search_least_cpu(s, s->best, s->best_count);
    out->min_bandwidth_mbps = s->best_count > 1 ? link : (double)NAN;
    out->time_s =
        perf_time_s(s->in->model, (double)s->best_count, out->min_cpu_ratio, link);
    out->queue_wait_s = wait_s;
    out->score_s = out->time_s + wait_s;
}

#define OPTIMAL_GAP 1e-12

/* Bound, gap and status. */
static void assess(const struct parallel_search *run, struct parallel_out *out)
{
    bool found = out->count > 0;

    out->gap_ratio = (double)NAN;
    if (found && out->lower_bound_s >= out->score_s * (1 - OPTIMAL_GAP)) {
        out->lower_bound_s = out->score_s;
        out->gap_ratio = 0;
    } else if (found && out->lower_bound_s > 0) {
        out->gap_ratio = out->score_s / out->lower_bound_s - 1;
    }
    if (!found)
        out->status = out->lower_bound_s == HUGE_VAL ? DECISION_INFEASIBLE : DECISION_CUT;
    else if (out->gap_ratio == 0)
        out->status = DECISION_OPTIMAL;
    else
        out->status = run->stopped ? DECISION_CUT : DECISION_FEASIBLE;
}

static struct parallel_out nothing(const struct policy *policy)
{
    return (struct parallel_out){
        .algorithm = policy->name,
        .status = DECISION_INFEASIBLE,
        .score_s = HUGE_VAL,
        .time_s = HUGE_VAL,
        .min_bandwidth_mbps = (double)NAN,
        .lower_bound_s = HUGE_VAL,
        .gap_ratio = (double)NAN,
    };
}

#define EARLY_BOUND_SHARE 0.1 /* of the time, at most */

/* When the time ends a bound is wanted that is worth something: it is made before. */
static enum error_code bound_early(const struct parallel_search *s, double *bound_s)
{
    struct parallel_search early = *s;
    struct parallel_in in = *s->in;
    struct budget budget = budget_part(s->in->budget, 0, EARLY_BOUND_SHARE);

    *bound_s = 0;
    if (!s->in->budget || !s->in->budget->used)
        return OK;
    in.budget = &budget;
    early.in = &in;
    return parallel_bound(&early, HUGE_VAL, bound_s);
}

static enum error_code answer(const struct parallel_search *run, double early_bound_s,
                              struct parallel_search *both, struct parallel_out *out)
{
    if (both->best_s < HUGE_VAL)
        describe_set(both, out);
    if (both->algorithm)
        out->algorithm = both->algorithm;
    out->lower_bound_s = run->bound_s;
    if (isnan(run->bound_s))
        TRY(parallel_bound(both, out->score_s, &out->lower_bound_s));
    if (run->stopped)
        out->lower_bound_s = fmax(out->lower_bound_s, fmin(early_bound_s, out->score_s));
    out->evaluations = both->evaluations;
    out->iterations = both->iterations;
    out->work_units = (double)both->work_units;
    out->invalid_count = both->invalid_count;
    out->stopped_early = run->stopped;
    out->monotone = run->monotone;
    out->perturbation_ignored =
        run->perturbation_ignored && run->in->perturbation_ratio > 0;
    assess(run, out);
    return OK;
}

enum error_code parallel_decide(const struct parallel_in *in, const struct policy *policy,
                                const double *param, struct parallel_out *out,
                                struct arena *a, struct error *err)
{
    struct parallel_out x = nothing(policy);
    struct parallel_search run, both;
    double bound_s;

    if (in->machines->count > 0 && in->machines->count >= in->min_procs) {
        TRY(search_create(in, &run, a));
        TRY(bound_early(&run, &bound_s));
        TRY(parallel_fn_of(policy)(&run, param, err));
        pre_evaluate(&run, &both);
        TRY(answer(&run, bound_s, &both, &x));
    }
    *out = x;
    return OK;
}
