/* workflow/heft.c - heterogeneous earliest finish time.
 *
 * Tasks by rank_u (list.h), the mean time from a task's start to the end of everything,
 * largest first (tie: topological order); each where it finishes first, in the first gap
 * that holds it (tie: lowest processor). rank_u of a parent is never smaller than its
 * child's, so parents come first.
 *
 * Source: spec workflows.md 8.1; Topcuoglu, Hariri, Wu 2002.
 * Cost: O(n log n + e P) and the search of gaps (plan.c).
 */
#include "algorithms/workflow/list.h"

#include <stdlib.h>

const struct param workflow_heft_params[] = {{0}};

struct ranked {
    double rank_s;
    size_t position, task;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->rank_s != y->rank_s)
        return x->rank_s < y->rank_s ? 1 : -1;
    return (x->position > y->position) - (x->position < y->position);
}

enum error_code workflow_heft(const struct workflow_problem *problem, const double *param,
                              struct workflow_plan *plan, struct arena *a,
                              struct error *err)
{
    struct ranked *list = NEW(a, struct ranked, problem->task_count);
    size_t count = 0;
    double *up;

    (void)err;
    (void)param;
    workflow_ranks(problem, &up, NULL, a);
    workflow_defer(problem, up);
    for (size_t i = 0; i < problem->task_count; i++)
        if (workflow_is_open(problem, i))
            list[count++] = (struct ranked){up[i], problem->position[i], i};
    qsort(list, count, sizeof(*list), by_rank);
    for (size_t k = 0; k < count && !workflow_cut(plan, 1); k++)
        TRY(workflow_place_best(problem, plan, list[k].task, WORKFLOW_NONE, NULL, a));
    return workflow_place_rest(problem, plan, a);
}
