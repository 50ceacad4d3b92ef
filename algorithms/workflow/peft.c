/* workflow/peft.c - predict earliest finish time.
 *
 * The optimistic cost table says how long it takes from the end of task i on processor p
 * to the end of everything, if every task found its best processor idle:
 *
 *     OCT(i,p) = max over children j of
 *                min over q (OCT(j,q) + w(j,q) + (q == p ? 0 : cbar(i,j)));  exit: 0
 *
 * Ready tasks by the mean over p of OCT(i,p), largest first (tie: lowest number); each
 * to the p of least EFT(i,p) + OCT(i,p) (tie: lowest).
 *
 * Source: spec workflows.md 8.1; Arabnejad, Barbosa 2014.
 * Cost: O(e P), with the least of OCT(j,q) + w(j,q) over q for each child, which covers
 * every p: on p itself, or on the best q of all. Memory: tasks x processors doubles; more
 * than the request may take is refused (too_large).
 *
 * Deviation (ours): children that have begun, or that no processor can run, count
 * nothing; the mean is over the processors that can be used.
 */
#include "algorithms/workflow/list.h"

const struct param workflow_peft_params[] = {{0}};

/* OCT(j,q) + w(j,q) for each q into `cost_s`; their minimum. */
static double child_costs(const struct workflow_problem *problem, const double *oct_s,
                          size_t child, double *cost_s)
{
    const double *row_s = oct_s + child * problem->processor_count;
    double least_s = HUGE_VAL;

    for (size_t q = 0; q < problem->processor_count; q++) {
        cost_s[q] = row_s[q] + workflow_time_s(problem, child, q);
        if (cost_s[q] < least_s)
            least_s = cost_s[q];
    }
    return least_s;
}

/* The row of a task, from those of its children. */
static void fill_row(const struct workflow_problem *problem, double *oct_s, size_t task,
                     double *cost_s)
{
    double *row_s = oct_s + task * problem->processor_count;

    for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1]; c++) {
        const struct workflow_edge *edge = &problem->edges[problem->child_edge[c]];
        double least_s;

        if (!workflow_is_open(problem, edge->child))
            continue;
        least_s = child_costs(problem, oct_s, edge->child, cost_s);
        if (least_s == HUGE_VAL)
            continue;
        least_s += workflow_mean_transfer_s(problem, edge);
        for (size_t p = 0; p < problem->processor_count; p++) {
            double cheapest_s = cost_s[p] < least_s ? cost_s[p] : least_s;

            if (cheapest_s > row_s[p])
                row_s[p] = cheapest_s;
        }
    }
}

static double mean_of(const struct workflow_problem *problem, const double *row_s)
{
    double sum_s = 0, count = 0;

    for (size_t p = 0; p < problem->processor_count; p++) {
        if (!problem->processors[p].usable)
            continue;
        sum_s += row_s[p];
        count++;
    }
    return count > 0 ? sum_s / count : 0;
}

enum error_code workflow_peft(const struct workflow_problem *problem, const double *param,
                              struct workflow_plan *plan, struct arena *a,
                              struct error *err)
{
    size_t n = problem->task_count, processors = problem->processor_count;
    double *priority = NEW(a, double, n);
    double *cost_s = NEW(a, double, processors);
    double *oct_s;
    struct workflow_queue queue;
    size_t task;

    (void)err;
    (void)param;
    if (processors && n > SIZE_MAX / processors)
        arena_leave(a);
    oct_s = NEW(a, double, n *processors);
    for (size_t k = n; k-- > 0;) {
        size_t i = problem->topological[k];

        size_t children = problem->child_first[i + 1] - problem->child_first[i];

        if (workflow_cut(plan, (1 + (double)children) * (double)processors))
            return workflow_place_rest(problem, plan, a);
        if (!workflow_is_open(problem, i))
            continue;
        fill_row(problem, oct_s, i, cost_s);
        priority[i] = mean_of(problem, oct_s + i * processors);
    }
    workflow_defer(problem, priority);
    workflow_queue_make(problem, priority, &queue, a);
    while (!workflow_cut(plan, 1) && (task = workflow_queue_pop(&queue)) != WORKFLOW_NONE)
        TRY(workflow_place_best(problem, plan, task, WORKFLOW_NONE,
                                oct_s + task * processors, a));
    return workflow_place_rest(problem, plan, a);
}
