/* placement/auto.c - a good choice for those who make none.
 *
 *     identical_optimum   if it applies (identical_optimum.c)
 *     search              else: the list policies of portfolio.c, then a search up to the
 *                         time or the steps that the request allows; without either
 *                         STEPS_SMALL or STEPS_LARGE steps by the size, beyond none, so
 *                         that the answer repeats
 *
 * The answer has the name of a list policy if the search found nothing better.
 *
 * Source: spec search.md 4.6.
 */
#include "algorithms/placement/identical.h"
#include "algorithms/placement/search.h"
#include "models/base/plural.h"

#include <string.h>

const struct param placement_auto_params[] = {SEARCH_PARAMS, {0}};

enum {
    CELLS_SMALL = 1 << 18, /* jobs * slots */
    CELLS_LARGE = 1 << 22,
    STEPS_SMALL = 3000,
    STEPS_LARGE = 1000,
};

static void set_default_steps(const struct placement_problem *p,
                              struct search_options *options)
{
    double cells = (double)p->job_count * (double)p->resource_count;
    bool limited = p->in->time_limit_given || options->max_steps > 0 ||
                   (p->in->budget && p->in->budget->max_steps);

    options->steps_without_limit = cells <= CELLS_SMALL ? STEPS_SMALL : STEPS_LARGE;
    options->no_steps = !limited && cells > CELLS_LARGE;
}

/* What was tried, and what came of it. */
static const char *because(const struct placement_plan *plan, const struct portfolio *pf,
                           bool found)
{
    const char *tried = portfolio_text(pf);

    if (!plan->steps)
        return arena_printf(plan->arena, "the best of %s; no search", tried);
    if (!found)
        return arena_printf(plan->arena,
                            "the best of %s; a search of %s found nothing better", tried,
                            counted(plan->steps, "step").text);
    return arena_printf(plan->arena, "a search of %s found %.6g s; before: %s",
                        counted(plan->steps, "step").text, plan->makespan_s, tried);
}

static enum error_code try_all(struct placement_plan *plan,
                               struct search_options *options, struct error *err)
{
    struct portfolio pf;
    bool found;

    plan->algorithm = "search";
    plan->because = "the time was up before mct had placed all jobs";
    TRY(portfolio_run(&pf, plan, options->start, err));
    if (!pf.best_name)
        return OK;
    set_default_steps(plan->problem, options);
    TRY(search_run(plan, &pf, options, err));
    found = plan_better(plan, &pf.best);
    if (!found && policy_find(placement_policies, pf.best_name))
        plan->algorithm = pf.best_name;
    plan->because = because(plan, &pf, found);
    return OK;
}

enum error_code placement_auto(const struct placement_problem *problem,
                               const double *param, struct placement_plan *plan,
                               struct arena *a, struct error *err)
{
    struct search_options options = search_read_options(param);

    if (identical_obstacle(problem))
        return try_all(plan, &options, err);
    plan->algorithm = "identical_optimum";
    plan->because = "all jobs are identical and every slot is free: the optimum is known";
    return placement_identical_optimum(problem, NULL, plan, a, err);
}
