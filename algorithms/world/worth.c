/* world/worth.c - what a plan is worth.
 *
 * Times are those of the run, also where amounts are held for longer. A resource costs by
 * the time in which it has a job of the plan, whatever else runs on it, and by the cpus
 * of these jobs.
 *
 * Cost: O(jobs) but for cost and energy, O(nodes of jobs log).
 */
#include "algorithms/world/objective.h"

#include <stdlib.h>

/* A job on one of its nodes. */
struct stay {
    size_t position;
    double start_s, end_s;
    double cpus;
};

/* With the transfer of its outputs. */
static double finish_of(const struct world *w, const struct world_plan *plan, size_t job)
{
    return world_finish_s(w, &w->jobs[job], &plan->placed[job]);
}

static double late_of(const struct world *w, const struct world_plan *plan, size_t job)
{
    return fmax(0, finish_of(w, plan, job) - w->jobs[job].deadline_s);
}

/* Its part of an objective that is a sum over jobs. */
static double part_of(const struct world *w, const struct world_plan *plan,
                      enum world_objective objective, size_t job)
{
    const struct world_job *j = &w->jobs[job];

    switch (objective) {
    case OBJECTIVE_TOTAL_FLOW:
        return finish_of(w, plan, job) - j->release_s;
    case OBJECTIVE_WEIGHTED_COMPLETION:
        return j->weight * finish_of(w, plan, job);
    case OBJECTIVE_WEIGHTED_TARDINESS:
        return j->weight > 0 ? j->weight * late_of(w, plan, job) : 0;
    case OBJECTIVE_LATE_JOBS:
        return late_of(w, plan, job) > 0;
    case OBJECTIVE_STARTED_NOW:
        return plan->placed[job].start_s <= 0 ? j->weight : 0;
    default:
        return 0;
    }
}

static double sum_of_parts(const struct world *w, const struct world_plan *plan,
                           enum world_objective objective)
{
    double sum = 0;

    for (size_t j = 0; j < w->job_count; j++)
        if (plan->placed[j].positions)
            sum += part_of(w, plan, objective, j);
    return sum;
}

static double makespan_of(const struct world *w, const struct world_plan *plan)
{
    double last_s = 0;

    for (size_t j = 0; j < w->job_count; j++)
        if (plan->placed[j].positions)
            last_s = fmax(last_s, finish_of(w, plan, j));
    return last_s;
}

static int compare_stays(const void *a, const void *b)
{
    const struct stay *x = a, *y = b;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (x->start_s != y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    return (x->end_s > y->end_s) - (x->end_s < y->end_s);
}

/* All jobs on all their nodes: by position, then start. */
static struct stay *stays_of(const struct world *w, const struct world_plan *plan,
                             size_t *count, struct arena *a)
{
    struct stay *list;
    size_t n = 0;

    for (size_t j = 0; j < w->job_count; j++)
        if (plan->placed[j].positions)
            n += plan->placed[j].position_count;
    list = NEW(a, struct stay, n);
    *count = n;
    n = 0;
    for (size_t j = 0; j < w->job_count; j++) {
        const struct world_placed *p = &plan->placed[j];
        double cpus = amount_value(w, AMOUNT_CPUS, w->jobs[j].needs[AMOUNT_CPUS]);

        budget_step(w->budget, 1 + p->position_count);
        for (size_t k = 0; p->positions && k < p->position_count; k++)
            list[n++] = (struct stay){p->positions[k], p->start_s, p->done_s, cpus};
    }
    budget_step(w->budget, 8 * n);
    qsort(list, n, sizeof(*list), compare_stays);
    return list;
}

/* Of a second with a job, and of a second of a cpu. */
static double bill(const struct world *w, const struct world_plan *plan, bool is_energy,
                   struct arena *a)
{
    size_t count;
    struct stay *list = stays_of(w, plan, &count, a);
    double sum = 0, until_s = 0;

    for (size_t i = 0; i < count; i++) {
        const struct world_resource *r = &w->resources[list[i].position];
        double begin_s = list[i].start_s;

        if (i > 0 && list[i].position == list[i - 1].position)
            begin_s = fmax(begin_s, until_s);
        else
            until_s = begin_s;
        until_s = fmax(until_s, list[i].end_s);
        sum += (is_energy ? r->power_node_w : r->price_per_s) *
               fmax(0, list[i].end_s - begin_s);
        sum += (is_energy ? r->power_per_cpu_w : r->price_per_cpu_s) * list[i].cpus *
               (list[i].end_s - list[i].start_s);
    }
    return sum;
}

static double nodes_used(const struct world *w, const struct world_plan *plan,
                         struct arena *a)
{
    bool *is_used = NEW(a, bool, w->resource_count);
    size_t count = 0;

    for (size_t j = 0; j < w->job_count; j++) {
        const struct world_placed *p = &plan->placed[j];

        budget_step(w->budget, 1 + p->position_count);
        for (size_t k = 0; p->positions && k < p->position_count; k++) {
            count += !is_used[p->positions[k]];
            is_used[p->positions[k]] = true;
        }
    }
    return (double)count;
}

static double value_of(const struct world *w, enum world_objective objective,
                       const struct world_plan *plan, struct arena *a)
{
    switch (objective) {
    case OBJECTIVE_MAKESPAN:
        return makespan_of(w, plan);
    case OBJECTIVE_COST:
    case OBJECTIVE_ENERGY:
        return bill(w, plan, objective == OBJECTIVE_ENERGY, a);
    case OBJECTIVE_NODES_USED:
        return nodes_used(w, plan, a);
    default:
        return sum_of_parts(w, plan, objective);
    }
}

/* What is counted here is not stopped: half a value is none, and it is linear in the
 * plan. */
void world_worth(const struct world *w, const struct world_goal *goal,
                 const struct world_plan *plan, struct world_worth *out, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);

    *out = (struct world_worth){0};
    for (size_t j = 0; j < w->job_count; j++)
        out->unplaced_count += !plan->placed[j].positions;
    for (size_t k = 0; k < goal->level_count; k++) {
        budget_step(w->budget, w->job_count);
        out->value[k] = value_of(w, goal->level[k], plan, a);
    }
    arena_rewind(a, mark);
}

static bool is_most(enum world_objective objective)
{
    static const bool most[] = {
#define X(symbol, name, most) most,
        WORLD_OBJECTIVES(X)
#undef X
    };

    return most[objective];
}

int world_compare(const struct world_goal *goal, const struct world_worth *a,
                  const struct world_worth *b)
{
    if (a->unplaced_count != b->unplaced_count)
        return a->unplaced_count < b->unplaced_count ? -1 : 1;
    for (size_t k = 0; k < goal->level_count; k++) {
        double x = a->value[k], y = b->value[k];
        double slack = 1e-9 * fmax(1, fmax(fabs(x), fabs(y)));

        if (fabs(x - y) <= slack)
            continue;
        return (x < y) != is_most(goal->level[k]) ? -1 : 1;
    }
    return 0;
}
