/* placement/portfolio.c - the list policies that a search or `auto` tries first. */
#include "algorithms/placement/portfolio.h"

#include "algorithms/placement/machines.h"

#include <stdlib.h>
#include <string.h>

#define LOOKS_MAX      1e8 /* of all policies together */
#define LOOKS_MAX_LONG 5e9 /* with a limit of LONG_S */
#define LONG_S         10
#define LOOKS_PER_S    2e8 /* to predict how long a policy takes */

/* Of what is left of the time, for one policy: less where the kernel's own start is
 * better than any of them. */
static const double PART_OF_REST = 0.5, PART_OF_REST_BESIDE_KERNEL = 0.02;

enum { TRIED_MAX = 16 };

struct portfolio_try {
    const char *name;
    double makespan_s;
    size_t unplaced_count;
};

#define LONGEST_FIRST "mct longest"

const char *const portfolio_starts[] = {
    "best",           "duplex",     "kpb",     "max_min", "mct",
    LONGEST_FIRST,    "met",        "min_min", "olb",     "sufferage",
    "sufferage_pass", "xsufferage", NULL};

/* ---- orders ---- */

enum error_code portfolio_decode(struct placement_plan *plan, const size_t *order,
                                 struct error *err)
{
    size_t all = plan->problem->resource_count;

    plan_reset(plan);
    for (size_t i = 0; i < problem_pending(plan->problem) && !plan_spent(plan); i++) {
        size_t pos = plan_best(plan, order[i], RIVAL_NONE, all).pos;

        if (pos != NO_INDEX)
            TRY(plan_place(plan, order[i], pos, err));
    }
    return OK;
}

/* Jobs by falling estimate, or falling least time in the matrix; ties by index. */
struct by_length {
    double length;
    size_t job;
};

static int longest_first(const void *a, const void *b)
{
    const struct by_length *x = a, *y = b;

    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

static double length_of(const struct placement_problem *p, const struct problem_job *j)
{
    double least_s = HUGE_VAL;

    if (!j->etc_s)
        return isnan(j->estimate_ref_s) ? 0 : j->estimate_ref_s;
    for (size_t i = 0; i < p->resource_count; i++)
        least_s = fmin(least_s, j->etc_s[i]);
    return least_s;
}

static enum error_code place_longest_first(struct placement_plan *plan, struct error *err)
{
    const struct placement_problem *p = plan->problem;
    struct by_length *jobs = NEW(plan->arena, struct by_length, p->job_count);
    size_t *order = NEW(plan->arena, size_t, p->job_count);

    for (size_t i = 0; i < problem_pending(p); i++) {
        jobs[i] = (struct by_length){length_of(p, &p->jobs[i]), i};
        plan->work += p->has_matrix ? p->resource_count : 1;
    }
    qsort(jobs, problem_pending(p), sizeof(*jobs), longest_first);
    for (size_t i = 0; i < problem_pending(p); i++)
        order[i] = jobs[i].job;
    return portfolio_decode(plan, order, err);
}

/* ---- one policy ---- */

static enum error_code run_policy(struct placement_plan *plan, const char *name,
                                  struct error *err)
{
    const struct policy *policy = policy_find(placement_policies, name);
    double values[PARAMS_MAX];

    plan_reset(plan);
    if (!policy)
        return place_longest_first(plan, err);
    TRY(params_bind(policy->params, NULL, 0, values, err));
    return placement_fn_of(policy)(plan->problem, values, plan, plan->arena, err);
}

/* Tries one policy; its plan counts unless the clock cut it. */
static enum error_code try_policy(struct portfolio *pf, const char *name,
                                  struct error *err)
{
    struct placement_plan *plan = pf->plan;

    TRY(run_policy(plan, name, err));
    if (!plan->cut) {
        pf->tried[pf->tried_count++] = (struct portfolio_try){
            name, plan->makespan_s, problem_pending(plan->problem) - plan->placed_count};
        if (!pf->best_name || plan_better(plan, &pf->best)) {
            plan_save(plan, &pf->best);
            pf->best_name = name;
        }
    }
    plan->cut = plan->too_late;
    plan->closed = false; /* a policy may have loaded a copy */
    return OK;
}

/* ---- which ---- */

/* Takes the jobs one by one. */
static bool is_one_pass(const char *name)
{
    static const char *const names[] = {"mct", LONGEST_FIRST, "kpb", "met", "olb"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static double looks_of(const struct placement_problem *p, const char *name)
{
    double jobs = (double)p->job_count, resources = (double)p->resource_count;

    if (is_one_pass(name))
        return jobs * resources;
    if (p->has_matrix || p->has_files || 4 * p->stream_count > p->job_count)
        return jobs * jobs * resources / 4;
    return jobs * resources * log2(jobs + 1);
}

/* The policy fits: into the looks that are left, and what is left of the clock. */
static bool fits(const struct portfolio *pf, const char *name, double looks_left)
{
    const struct placement_problem *p = pf->plan->problem;
    double looks = looks_of(p, name), limit_s = p->in->time_limit_s;
    double part = machines_apply(p) ? PART_OF_REST_BESIDE_KERNEL : PART_OF_REST;
    double used = budget_used(p->in->budget);

    if (looks > looks_left)
        return false;
    return !(limit_s > 0) || looks / LOOKS_PER_S <= part * (1 - used) * limit_s;
}

static enum error_code try_others(struct portfolio *pf, struct error *err)
{
    static const char *const names[] = {
        "xsufferage", "sufferage", "max_min", "min_min",        LONGEST_FIRST,
        "kpb",        "met",       "olb",     "sufferage_pass", NULL};
    const struct placement_problem *p = pf->plan->problem;
    double left = p->in->time_limit_s >= LONG_S ? LOOKS_MAX_LONG : LOOKS_MAX;

    for (size_t i = p->has_files ? 0 : 1; names[i] && !pf->plan->cut; i++) {
        if (!fits(pf, names[i], left))
            continue;
        left -= looks_of(p, names[i]);
        TRY(try_policy(pf, names[i], err));
    }
    return OK;
}

enum error_code portfolio_run(struct portfolio *pf, struct placement_plan *plan,
                              size_t start, struct error *err)
{
    const char *only = start ? portfolio_starts[start] : NULL;

    *pf = (struct portfolio){.plan = plan};
    pf->tried = NEW(plan->arena, struct portfolio_try, TRIED_MAX);
    plan_copy_create(plan, &pf->first);
    plan_copy_create(plan, &pf->best);
    TRY(try_policy(pf, "mct", err));
    if (!pf->best_name)
        return OK;
    plan_save(plan, &pf->first);
    if (!only)
        return try_others(pf, err);
    return strcmp(only, "mct") == 0 ? OK : try_policy(pf, only, err);
}

const char *portfolio_text(const struct portfolio *pf)
{
    struct arena *a = pf->plan->arena;
    char *text = arena_printf(a, "%s", "");

    for (size_t i = 0; i < pf->tried_count; i++) {
        const struct portfolio_try *t = &pf->tried[i];

        text =
            arena_printf(a, "%s%s%s %.6g s", text, i ? ", " : "", t->name, t->makespan_s);
        if (t->unplaced_count)
            text = arena_printf(a, "%s (%zu job%s left out)", text, t->unplaced_count,
                                t->unplaced_count == 1 ? "" : "s");
    }
    return text;
}
