/* placement/search.c - anytime search for the least makespan, with a bound.
 *
 * First the list policies of the portfolio. Where completion times follow from the
 * assignment of jobs to slots alone, the makespan kernel searches (machines.h,
 * makespan.h). With files, outputs, release times, limited cpus or memory, or too many
 * jobs and slots for a matrix: local search over the order of jobs, which mct turns into
 * a plan. It starts from the order of the best list policy; a step swaps two random
 * places of the order and is kept if the plan is not worse. Stops at the lower bound,
 * after max_steps, or when the time is up; without either after as many steps as
 * DEFAULT_WORK looks at a resource allow, at least 1 and at most 2000, so that it always
 * ends.
 *
 * The answer is the best of all: a list policy's plan, that of the request, the search's;
 * of equal ones the first.
 *
 * Source: spec search.md 2, 4. Random numbers: stream "placement.search".
 * Cost: the portfolio's, then the kernel's, or one mct a step.
 */
#include "algorithms/placement/search.h"

#include "algorithms/placement/bound.h"
#include "algorithms/placement/machines.h"
#include "algorithms/placement/makespan.h"
#include "algorithms/placement/verify.h"
#include "models/base/rng.h"

#include <stdlib.h>
#include <string.h>

const char *const search_efforts[] = {"auto", "none", "fast", "full", NULL};

const struct param placement_search_params[] = {SEARCH_PARAMS, {0}};

#define DEFAULT_WORK 2e7

enum { DEFAULT_STEPS_MAX = 2000 };

/* The best plan so far, and the order that is being changed. */
struct orders {
    struct placement_plan *plan;
    struct plan_copy best;
    size_t *order;
    double current_s;
    size_t current_placed;
    double bound_s;
};

/* ---- orders ---- */

static double default_steps(const struct placement_problem *p)
{
    double looks = (double)p->job_count * ((double)p->resource_count / 8 + 32) + 1;

    return fmax(1, fmin(DEFAULT_STEPS_MAX, floor(DEFAULT_WORK / looks)));
}

static void swap(size_t *order, size_t i, size_t k)
{
    size_t moved = order[i];

    order[i] = order[k];
    order[k] = moved;
}

static enum error_code improve(struct orders *s, double steps, struct error *err)
{
    struct placement_plan *plan = s->plan;
    size_t n = problem_pending(plan->problem);
    struct rng rng = rng_stream(plan->problem->in->seed, "placement.search");

    if (n < 2)
        return OK;
    while ((double)plan->steps < steps && s->best.makespan_s > s->bound_s * (1 + 1e-9)) {
        size_t i = rng_index(&rng, n), k = rng_index(&rng, n);

        swap(s->order, i, k);
        TRY(portfolio_decode(plan, s->order, err));
        if (plan->cut)
            return OK;
        plan->steps++;
        if (plan_better(plan, &s->best)) {
            plan_save(plan, &s->best);
            improvement_list_add(&plan->improved, plan->steps, plan->makespan_s);
        }
        if (plan->placed_count < s->current_placed ||
            (plan->placed_count == s->current_placed &&
             plan->makespan_s > s->current_s)) {
            swap(s->order, i, k);
            continue;
        }
        s->current_s = plan->makespan_s;
        s->current_placed = plan->placed_count;
    }
    return OK;
}

/* Local search over the order of jobs, from that of the plan `start`. */
static enum error_code search_orders(struct placement_plan *plan,
                                     const struct plan_copy *start, double max_steps,
                                     struct error *err)
{
    size_t n = problem_pending(plan->problem), count = start->placed_count;
    struct orders s = {.plan = plan, .order = NEW(plan->arena, size_t, n)};

    plan_copy_create(plan, &s.best);
    plan_load(plan, start);
    plan_save(plan, &s.best);
    TRY(bound_of(plan, err));
    s.bound_s = bound_list_best(&plan->bounds);
    memcpy(s.order, start->sequence, count * sizeof(*s.order));
    for (size_t i = 0; i < n; i++)
        if (start->entries[i].pos == NO_INDEX)
            s.order[count++] = i;
    TRY(portfolio_decode(plan, s.order, err));
    s.current_s = plan->makespan_s;
    s.current_placed = plan->placed_count;
    if (!plan->cut && plan_better(plan, &s.best))
        plan_save(plan, &s.best);
    if (!plan->cut)
        TRY(improve(&s, max_steps, err));
    plan_load(plan, &s.best);
    return OK;
}

/* ---- what is asked ---- */

static size_t steps_asked(const struct placement_problem *p,
                          const struct search_options *options)
{
    if (options->max_steps > 0)
        return (size_t)options->max_steps;
    return p->in->budget ? p->in->budget->max_steps : 0;
}

static bool has_clock(const struct placement_problem *p)
{
    return p->in->time_limit_given && p->in->budget && p->in->budget->used;
}

static enum error_code search_machines(struct placement_plan *plan,
                                       const struct portfolio *pf,
                                       const struct plan_copy *initial,
                                       const struct search_options *options,
                                       struct error *err)
{
    const struct placement_problem *p = plan->problem;
    double limit_s = p->in->time_limit_s > 0 ? p->in->time_limit_s : HUGE_VAL;
    struct machines_ask ask = {.known = &pf->first,
                               .initial = initial,
                               .effort = options->effort,
                               .limited = has_clock(p),
                               .max_steps = steps_asked(p, options)};

    if (!options->effort_given)
        ask.effort = makespan_effort(p->job_count, machines_count(p),
                                     has_clock(p) ? limit_s : HUGE_VAL);
    if (!ask.max_steps && !has_clock(p))
        ask.max_steps = options->steps_without_limit;
    if (!ask.max_steps && !has_clock(p))
        ask.max_steps = MAKESPAN_STEPS;
    plan->effort = ask.effort;
    return machines_search(plan, &ask, err);
}

static enum error_code search_any(struct placement_plan *plan, const struct portfolio *pf,
                                  const struct plan_copy *initial,
                                  const struct search_options *options, struct error *err)
{
    const struct placement_problem *p = plan->problem;
    double steps = (double)steps_asked(p, options);

    plan->until = 1;
    if (machines_apply(p))
        return search_machines(plan, pf, initial, options, err);
    plan->effort = EFFORT_FULL;
    if (steps <= 0)
        steps = has_clock(p) ? HUGE_VAL : default_steps(p);
    return search_orders(plan, initial ? initial : &pf->best, steps, err);
}

/* Leaves in *plan the best of what it has and the copy, which counts if it is as good. */
static void keep_best(struct placement_plan *plan, const struct plan_copy *copy)
{
    if (!plan_better(plan, copy))
        plan_load(plan, copy);
}

/* What the search found counts only if the checker accepts it. */
static enum error_code check_found(struct placement_plan *plan,
                                   const struct portfolio *pf, struct error *err)
{
    struct verify_plan found = {plan->problem, plan->entries, plan->sequence,
                                plan->placed_count, plan->hold_slots};
    struct verify_result result;

    plan_number_slots(plan);
    TRY(verify_plan(&found, &result, plan->arena, err));
    if (result.rule == VERIFY_VALID)
        return OK;
    plan->check_failed = true;
    plan_load(plan, &pf->best);
    return OK;
}

enum error_code search_run(struct placement_plan *plan, const struct portfolio *pf,
                           const struct search_options *options, struct error *err)
{
    const struct plan_copy *given = plan->initial;
    const struct budget *budget = plan->problem->in->budget;

    plan->closed = true;
    plan->best_list = pf->best_name;
    plan->best_list_s = pf->best.makespan_s;
    plan->searched = true;
    if (!options->no_steps && !plan->cut && !(budget && budget->no_steps))
        TRY(search_any(plan, pf, given, options, err));
    TRY(check_found(plan, pf, err));
    if (given)
        keep_best(plan, given);
    keep_best(plan, &pf->best);
    return OK;
}

struct search_options search_read_options(const double *param)
{
    size_t effort = (size_t)param[SEARCH_BOUND_EFFORT];

    return (struct search_options){
        .max_steps = param[SEARCH_MAX_STEPS],
        .start = (size_t)param[SEARCH_START],
        .effort_given = effort > 0,
        .effort = effort ? (enum bound_effort)(effort - 1) : EFFORT_FULL,
    };
}

enum error_code placement_search(const struct placement_problem *problem,
                                 const double *param, struct placement_plan *plan,
                                 struct arena *a, struct error *err)
{
    struct search_options options = search_read_options(param);
    struct portfolio pf;

    (void)problem;
    (void)a;
    TRY(portfolio_run(&pf, plan, options.start, err));
    return pf.best_name ? search_run(plan, &pf, &options, err) : OK;
}
