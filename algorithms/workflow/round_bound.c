/* workflow/round_bound.c - how good a round is.
 *
 * A task that has a place is not done before it would be alone on the best resource for
 * it, transfers included; C and R are left out. The longest of these times is a lower
 * bound of when all of them are done. Tasks of others that a resource has stay there.
 *
 * Cost: O(resources log resources + tasks * resources that are tried): resources are
 * tried in order of what they need for a reference second, until none can be better.
 */
#include "algorithms/workflow/round_plan.h"

#include <math.h>
#include <stdlib.h>

double wf_makespan_s(const struct wf_plan *plan)
{
    double most_s = 0;

    for (size_t i = 0; i < plan->in->task_count; i++)
        if (plan->place[i] != WF_NONE && !isnan(plan->remaining_ref_s[i]))
            most_s = fmax(most_s, wf_xi_s(plan, i));
    return most_s < HUGE_VAL ? most_s : (double)NAN;
}

struct pace {
    double s_per_ref_s; /* of a task without others of the request beside it */
    size_t resource;
};

static int compare_paces(const void *left, const void *right)
{
    const struct pace *l = left, *r = right;

    if (l->s_per_ref_s != r->s_per_ref_s)
        return l->s_per_ref_s < r->s_per_ref_s ? -1 : 1;
    return l->resource < r->resource ? -1 : l->resource > r->resource;
}

static double pace_of(const struct wf_plan *plan, size_t resource)
{
    const struct workflow_plain_resource *r = &plan->in->resources[resource];

    size_t beside = r->own_slots ? 0 : r->job_count_other;

    return r->free_speed > 0 ? (double)(beside + 1) / r->free_speed : HUGE_VAL;
}

static size_t sort_resources(const struct wf_plan *plan, struct pace *paces)
{
    size_t count = 0;

    for (size_t c = 0; c < plan->in->resource_count; c++) {
        const struct workflow_plain_resource *r = &plan->in->resources[c];

        if (wf_usable(plan, c) && r->n_max > r->job_count_other)
            paces[count++] = (struct pace){pace_of(plan, c), c};
    }
    qsort(paces, count, sizeof(*paces), compare_paces);
    return count;
}

/* Where the task was before the round, WF_NONE if it was started in it. */
static size_t origin(const struct wf_plan *plan, size_t task)
{
    const struct workflow_plain_task *t = &plan->in->tasks[task];

    return t->status == PLAIN_RUNNING || t->status == PLAIN_STAGING ? t->resource
                                                                    : WF_NONE;
}

/* Seconds on a resource without others of the request beside it. */
static double alone_s(const struct wf_plan *plan, size_t task, size_t resource)
{
    const struct workflow_plain_resource *r = &plan->in->resources[resource];

    return wf_run_s(plan, task, resource, r->job_count_other + 1);
}

/* Of a task with run times, whose order of resources is its own. */
static double least_of_times_s(const struct wf_plan *plan, size_t task)
{
    const struct workflow_plain_task *t = &plan->in->tasks[task];
    size_t from = origin(plan, task);
    double least_s = HUGE_VAL;

    if (from != WF_NONE)
        least_s = alone_s(plan, task, from) + (t->pending_s > 0 ? t->pending_s : 0);
    for (size_t c = 0; c < plan->in->resource_count && t->status != PLAIN_STAGING; c++) {
        double run_s = wf_usable(plan, c) ? alone_s(plan, task, c) : HUGE_VAL;

        if (budget_step(plan->in->budget, 8))
            return 0; /* nothing is known of this task */
        if (run_s < least_s)
            least_s =
                fmin(least_s, run_s + (from == WF_NONE ? wf_stage_s(plan, task, c)
                                                       : wf_move_s(plan, task, from, c)));
    }
    return least_s;
}

static double least_time_s(const struct wf_plan *plan, size_t task,
                           const struct pace *paces, size_t count)
{
    const struct workflow_plain_task *t = &plan->in->tasks[task];
    double left = plan->remaining_ref_s[task], least_s = HUGE_VAL;
    size_t from = origin(plan, task);

    if (t->times_s)
        return least_of_times_s(plan, task);
    if (from != WF_NONE)
        least_s = (left > 0 ? left * pace_of(plan, from) : 0) +
                  (t->pending_s > 0 ? t->pending_s : 0);
    if (t->status == PLAIN_STAGING) /* no round moves it */
        return least_s;
    for (size_t k = 0; k < count && left * paces[k].s_per_ref_s < least_s; k++) {
        size_t c = paces[k].resource;
        double way_s;

        if (budget_step(plan->in->budget, 8))
            return 0; /* nothing is known of this task */
        way_s =
            from == WF_NONE ? wf_stage_s(plan, task, c) : wf_move_s(plan, task, from, c);

        least_s = fmin(least_s, left * paces[k].s_per_ref_s + way_s);
    }
    return least_s;
}

void wf_lower_bound(const struct wf_plan *plan, double *bound_s)
{
    struct pace *paces = NEW(plan->arena, struct pace, plan->in->resource_count);
    size_t count;

    count = sort_resources(plan, paces);
    *bound_s = 0;
    for (size_t i = 0; i < plan->in->task_count; i++)
        if (plan->place[i] != WF_NONE && !isnan(plan->remaining_ref_s[i]))
            *bound_s = fmax(*bound_s, least_time_s(plan, i, paces, count));
    if (!(*bound_s < HUGE_VAL))
        *bound_s = (double)NAN;
}
