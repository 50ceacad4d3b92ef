/* placement/search.c - anytime search for the least makespan, with a bound.
 *
 * Starts from the best of the list heuristics. Where completion times follow from the
 * assignment of jobs to slots alone, the makespan kernel goes on from there
 * (machines.h, makespan.h). With files, outputs, release times, limited cpus or memory,
 * or too many jobs and slots for a matrix: local search over the order of jobs, which
 * mct turns into a plan. It starts from the best heuristic's order and from the jobs by
 * falling estimate; a step swaps two random places of the order and is kept if the plan
 * is not worse. Stops at the lower bound, after max_steps, or when the time is up;
 * without either after as many steps as DEFAULT_WORK looks at a resource allow, at least
 * 1 and at most 2000, so that it always ends.
 *
 * Source: spec gridway.md 5.5. Random numbers: stream "placement.search".
 * Cost: the kernel's, or one mct a step.
 */
#include "algorithms/placement/batch.h"
#include "algorithms/placement/bound.h"
#include "algorithms/placement/machines.h"
#include "models/base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS };

const struct param placement_search_params[] = {
    [MAX_STEPS] = {"max_steps", 0, 1e12, 0,
                   "Steps of the search, for answers that can be repeated to the bit; 0: "
                   "as long as the time limit says",
                   PARAM_INTEGER, NULL},
    {0},
};

#define DEFAULT_WORK 2e7
#define COSTLY       1e8 /* looks at a resource from which on a heuristic is left out */

enum { DEFAULT_STEPS_MAX = 2000 };

/* The best plan so far, and the order that is being changed. */
struct search {
    struct placement_plan *plan;
    struct plan_copy best;
    size_t *order;
    double current_s;
    size_t current_placed;
    double bound_s;
};

static void keep_better(struct search *s)
{
    if (plan_better(s->plan, &s->best))
        plan_save(s->plan, &s->best);
}

/* Places the jobs in the order, each where it completes first. */
static enum error_code decode(struct search *s, struct error *err)
{
    struct placement_plan *plan = s->plan;
    size_t all = plan->problem->resource_count;

    plan_reset(plan);
    for (size_t i = 0; i < plan->problem->job_count && !plan_spent(plan); i++) {
        size_t pos = plan_best(plan, s->order[i], RIVAL_NONE, all).pos;

        if (pos != NO_INDEX)
            TRY(plan_place(plan, s->order[i], pos, err));
    }
    return OK;
}

/* ---- start ---- */

/* The heuristic's plan, if it is not cut. */
static enum error_code try_batch(struct search *s, enum batch_rule rule,
                                 struct error *err)
{
    plan_reset(s->plan);
    TRY(batch_place(s->plan, rule, err));
    if (!s->plan->cut)
        keep_better(s);
    return OK;
}

static enum error_code try_heuristics(struct search *s, struct error *err)
{
    const struct placement_problem *p = s->plan->problem;
    double looks =
        (double)p->job_count * (double)p->job_count * (double)p->resource_count;
    const enum batch_rule rules[] = {BATCH_LARGEST, BATCH_SUFFERAGE, BATCH_XSUFFERAGE};

    TRY(plan_rest(s->plan, err));
    keep_better(s);
    if (s->plan->cut)
        return OK;
    if (!p->has_files || looks <= COSTLY)
        TRY(try_batch(s, BATCH_LEAST, err));
    for (size_t i = 0; i < 3 && looks <= COSTLY && !s->plan->cut; i++)
        TRY(try_batch(s, rules[i], err));
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

static enum error_code try_longest_first(struct search *s, struct error *err)
{
    const struct placement_problem *p = s->plan->problem;
    struct by_length *jobs = NEW(s->plan->arena, struct by_length, p->job_count);
    size_t *best_order = NEW(s->plan->arena, size_t, p->job_count);
    double best_s;
    size_t best_placed;

    if (!jobs || !best_order)
        return fail_memory(err);
    /* The order of the best plan so far, then the jobs that it does not place. */
    memcpy(s->order, s->best.sequence, s->best.placed_count * sizeof(*s->order));
    for (size_t i = 0, k = s->best.placed_count; i < p->job_count; i++)
        if (s->best.entries[i].pos == NO_INDEX)
            s->order[k++] = i;
    TRY(decode(s, err));
    if (s->plan->cut)
        return OK;
    keep_better(s);
    memcpy(best_order, s->order, p->job_count * sizeof(*best_order));
    best_s = s->plan->makespan_s;
    best_placed = s->plan->placed_count;
    for (size_t i = 0; i < p->job_count; i++)
        jobs[i] = (struct by_length){length_of(p, &p->jobs[i]), i};
    qsort(jobs, p->job_count, sizeof(*jobs), longest_first);
    for (size_t i = 0; i < p->job_count; i++)
        s->order[i] = jobs[i].job;
    TRY(decode(s, err));
    if (s->plan->cut)
        return OK;
    keep_better(s);
    s->current_s = s->plan->makespan_s;
    s->current_placed = s->plan->placed_count;
    if (best_placed > s->current_placed ||
        (best_placed == s->current_placed && best_s <= s->current_s)) {
        memcpy(s->order, best_order, p->job_count * sizeof(*best_order));
        s->current_s = best_s;
        s->current_placed = best_placed;
    }
    return OK;
}

/* ---- steps ---- */

static double steps_allowed(const struct placement_problem *p, double max_steps)
{
    double looks = (double)p->job_count * ((double)p->resource_count / 8 + 32) + 1;

    if (max_steps > 0)
        return max_steps;
    if (p->in->budget && p->in->budget->max_steps)
        return (double)p->in->budget->max_steps;
    if (p->in->time_limit_given && p->in->budget && p->in->budget->used)
        return HUGE_VAL;
    return fmax(1, fmin(DEFAULT_STEPS_MAX, floor(DEFAULT_WORK / looks)));
}

static void swap(size_t *order, size_t i, size_t k)
{
    size_t moved = order[i];

    order[i] = order[k];
    order[k] = moved;
}

static enum error_code improve(struct search *s, double steps, struct error *err)
{
    struct placement_plan *plan = s->plan;
    size_t n = plan->problem->job_count;
    struct rng rng = rng_stream(plan->problem->in->seed, "placement.search");

    if (n < 2)
        return OK;
    while ((double)plan->steps < steps && s->best.makespan_s > s->bound_s * (1 + 3e-9)) {
        size_t i = rng_index(&rng, n), k = rng_index(&rng, n);

        swap(s->order, i, k);
        TRY(decode(s, err));
        if (plan->cut)
            return OK;
        plan->steps++;
        keep_better(s);
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

/* Local search over the order of jobs. */
static enum error_code search_orders(struct search *s, double max_steps,
                                     struct error *err)
{
    struct placement_plan *plan = s->plan;

    TRY(try_longest_first(s, err));
    if (!plan->cut) {
        plan_load(plan, &s->best);
        TRY(bound_of(plan, &s->bound_s, err));
        TRY(improve(s, steps_allowed(plan->problem, max_steps), err));
    }
    plan_load(plan, &s->best);
    return OK;
}

enum error_code placement_search(const struct placement_problem *problem,
                                 const double *param, struct placement_plan *plan,
                                 struct arena *a, struct error *err)
{
    struct search s = {.plan = plan, .order = NEW(a, size_t, problem->job_count)};

    if (!s.order)
        return fail_memory(err);
    TRY(plan_copy_create(plan, &s.best, err));
    TRY(try_heuristics(&s, err));
    if (plan->cut)
        plan_load(plan, &s.best);
    else if (machines_apply(problem))
        TRY(machines_search(plan, &s.best, (size_t)param[MAX_STEPS], err));
    else
        TRY(search_orders(&s, param[MAX_STEPS], err));
    return OK;
}
