/* workflow/cpop.c - critical path on a processor.
 *
 * prio = rank_u + rank_d (list.h). The critical path begins with the entry task of
 * largest prio (tie: lowest) and goes on to the child of largest prio (ties within 1e-9
 * of it: lowest) until an exit. All of it goes to the processor with the least sum of run
 * times over it (tie: lowest). Ready tasks by prio, largest first (tie: lowest number):
 * critical ones there, others where they finish first; both with insertion.
 *
 * Source: spec workflows.md 8.1; Topcuoglu, Hariri, Wu 2002.
 * Cost: O(n log n + e P) and the search of gaps (plan.c).
 *
 * Deviation (ours): what has begun is left out, entry tasks are those without a parent
 * that has not; where no processor can run the whole path, its tasks go where they finish
 * first, and so does one that its inputs cannot reach there.
 */
#include "algorithms/workflow/list.h"

#include <string.h>

const struct param workflow_cpop_params[] = {{0}};

#define TIE 1e-9

static bool is_entry(const struct workflow_problem *problem, size_t task)
{
    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1]; e++)
        if (workflow_is_open(problem, problem->edges[e].parent))
            return false;
    return workflow_is_open(problem, task);
}

/* Is task b, looked at after a, to be preferred? */
static bool larger(const double *priority, size_t a, size_t b)
{
    double tie = TIE * fmax(1, fabs(priority[b]));

    return a == WORKFLOW_NONE || priority[b] > priority[a] + tie;
}

static size_t largest_child(const struct workflow_problem *problem,
                            const double *priority, size_t task)
{
    size_t best = WORKFLOW_NONE;

    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++) {
        size_t child = problem->edges[problem->child_edge[c]].child;

        if (workflow_is_open(problem, child) && larger(priority, best, child))
            best = child;
    }
    return best;
}

/* Marks the tasks of the critical path. */
static void find_path(const struct workflow_problem *problem, const double *priority,
                      bool *critical)
{
    size_t task = WORKFLOW_NONE;

    for (size_t i = 0; i < problem->task_count; i++)
        if (is_entry(problem, i) && larger(priority, task, i))
            task = i;
    for (; task != WORKFLOW_NONE; task = largest_child(problem, priority, task))
        critical[task] = true;
}

/* `path` holds the critical tasks, in the order of their numbers. */
static size_t fastest_for_path(const struct workflow_problem *problem, const size_t *path,
                               size_t length, struct workflow_plan *plan)
{
    size_t best = WORKFLOW_NONE;
    double best_s = HUGE_VAL;

    for (size_t p = 0; p < problem->processor_count; p++) {
        double sum_s = 0;

        if (workflow_cut(plan, (double)length))
            break;
        for (size_t k = 0; k < length; k++)
            sum_s += workflow_time_s(problem, path[k], p);
        if (sum_s < best_s) {
            best = p;
            best_s = sum_s;
        }
    }
    return best;
}

enum error_code workflow_cpop(const struct workflow_problem *problem, const double *param,
                              struct workflow_plan *plan, struct arena *a,
                              struct error *err)
{
    bool *critical = NEW(a, bool, problem->task_count);
    size_t *path = NEW(a, size_t, problem->task_count);
    struct workflow_queue queue;
    double *priority, *down;
    size_t fastest, task, length = 0;

    (void)err;
    (void)param;
    workflow_ranks(problem, &priority, &down, a);
    for (size_t i = 0; i < problem->task_count; i++)
        priority[i] += down[i];
    find_path(problem, priority, critical);
    for (size_t i = 0; i < problem->task_count; i++)
        if (critical[i])
            path[length++] = i;
    fastest = fastest_for_path(problem, path, length, plan);
    workflow_defer(problem, priority);
    workflow_queue_make(problem, priority, &queue, a);
    while (!workflow_cut(plan, 1) &&
           (task = workflow_queue_pop(&queue)) != WORKFLOW_NONE) {
        if (critical[task] && fastest != WORKFLOW_NONE)
            TRY(workflow_place_best(problem, plan, task, fastest, NULL, a));
        if (plan->processor[task] == WORKFLOW_NONE)
            TRY(workflow_place_best(problem, plan, task, WORKFLOW_NONE, NULL, a));
    }
    return workflow_place_rest(problem, plan, a);
}
