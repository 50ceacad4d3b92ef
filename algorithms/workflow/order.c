/* workflow/order.c - a schedule as an order of its tasks, and back.
 *
 * At one instant tasks that take no time come first. Else one that stood before a long
 * task of the same start would be put behind it, and what depends on it too: the order
 * would end later than the plan that it was made from.
 */
#include "algorithms/workflow/order.h"
#include "models/base/heap.h"

#include <stdlib.h>
#include <string.h>

void workflow_order_make(const struct workflow_problem *problem,
                         struct workflow_order *order, struct arena *a)
{
    *order = (struct workflow_order){.makespan_s = HUGE_VAL};
    order->task = NEW(a, size_t, problem->open_count);
    order->processor = NEW(a, size_t, problem->task_count);
    for (size_t k = 0; k < problem->open_count; k++)
        order->task[k] = WORKFLOW_NONE;
}

/* ---- from a plan: Kahn's algorithm, the least key first ---- */

struct ready {
    double start_s, finish_s;
    size_t position, task;
};

struct ready_heap {
    struct ready *list;
    size_t count;
};

static bool comes_before(const struct ready *x, const struct ready *y)
{
    if (x->start_s != y->start_s)
        return x->start_s < y->start_s;
    if (x->finish_s != y->finish_s)
        return x->finish_s < y->finish_s;
    return x->position < y->position;
}

HEAP(ready, struct ready, comes_before)

static bool takes_part(const struct workflow_problem *problem,
                       const struct workflow_plan *plan, size_t task)
{
    return workflow_is_open(problem, task) && plan->processor[task] != WORKFLOW_NONE;
}

static struct ready ready_of(const struct workflow_problem *problem,
                             const struct workflow_plan *plan, size_t task)
{
    return (struct ready){plan->start_s[task], plan->finish_s[task],
                          problem->position[task], task};
}

static void list_in_order(const struct workflow_problem *problem,
                          const struct workflow_plan *plan, struct ready_heap *heap,
                          size_t *waits_for, struct workflow_order *order)
{
    size_t count = 0;

    while (heap->count) {
        size_t task = ready_pop(heap->list, &heap->count).task;

        order->task[count++] = task;
        for (size_t c = problem->child_first[task]; c < problem->child_first[task + 1];
             c++) {
            size_t child = problem->edges[problem->child_edge[c]].child;

            if (takes_part(problem, plan, child) && --waits_for[child] == 0)
                ready_push(heap->list, &heap->count, ready_of(problem, plan, child));
        }
    }
    for (; count < problem->open_count; count++)
        order->task[count] = WORKFLOW_NONE;
}

void workflow_order_of_plan(const struct workflow_problem *problem,
                            const struct workflow_plan *plan,
                            struct workflow_order *order, struct arena *a)
{
    struct ready_heap heap = {NEW(a, struct ready, problem->open_count), 0};
    size_t *waits_for = NEW(a, size_t, problem->task_count);

    memcpy(order->processor, plan->processor,
           problem->task_count * sizeof(*order->processor));
    for (size_t i = 0; i < problem->task_count; i++) {
        if (!takes_part(problem, plan, i))
            continue;
        for (size_t e = problem->parent_first[i]; e < problem->parent_first[i + 1]; e++)
            waits_for[i] += takes_part(problem, plan, problem->edges[e].parent);
        if (waits_for[i] == 0)
            ready_push(heap.list, &heap.count, ready_of(problem, plan, i));
    }
    list_in_order(problem, plan, &heap, waits_for, order);
}

/* ---- times ---- */

static double ready_s(const struct workflow_problem *problem,
                      const struct workflow_order *order, const double *finish_s,
                      size_t task, size_t p)
{
    double at_s = workflow_ready_s(problem, task, p);

    for (size_t e = problem->parent_first[task]; e < problem->parent_first[task + 1];
         e++) {
        const struct workflow_edge *edge = &problem->edges[e];

        at_s = fmax(at_s, fmax(0, finish_s[edge->parent]) +
                              workflow_transfer_s(problem, edge,
                                                  order->processor[edge->parent], p));
    }
    return at_s;
}

double workflow_order_times(const struct workflow_problem *problem,
                            const struct workflow_order *order, double begun_s,
                            double *start_s, double *finish_s, double *free_s)
{
    double last_s = begun_s;

    memset(free_s, 0, problem->processor_count * sizeof(*free_s));
    for (size_t i = 0; i < problem->task_count; i++)
        if (!workflow_is_open(problem, i))
            finish_s[i] = problem->fixed_finish_s[i];
    for (size_t k = 0; k < problem->open_count && order->task[k] != WORKFLOW_NONE; k++) {
        size_t task = order->task[k], p = order->processor[task];
        double time_s = workflow_time_s(problem, task, p);

        start_s[task] = workflow_start_s(
            problem, p, ready_s(problem, order, finish_s, task, p), free_s[p], time_s);
        finish_s[task] = start_s[task] + time_s;
        if (time_s > 0)
            free_s[p] = finish_s[task];
        last_s = fmax(last_s, finish_s[task]);
    }
    return last_s;
}

/* ---- to a plan ---- */

struct begun {
    double start_s;
    size_t place, task;
};

static int by_start(const void *a, const void *b)
{
    const struct begun *x = a, *y = b;

    if (x->start_s != y->start_s)
        return x->start_s > y->start_s ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Each in the first gap; *fits: all have one. */
static enum error_code compact(const struct workflow_problem *problem,
                               const struct workflow_order *order,
                               const struct begun *list, size_t count,
                               struct workflow_plan *plan, bool *fits, struct arena *a)
{
    *fits = true;
    workflow_plan_clear(problem, plan);
    for (size_t k = 0; k < count && *fits; k++) {
        size_t task = list[k].task, p = order->processor[task];
        double at_s = workflow_plan_gap_s(problem, plan, p,
                                          workflow_plan_ready_s(problem, plan, task, p),
                                          workflow_time_s(problem, task, p));

        *fits = at_s < HUGE_VAL;
        if (*fits)
            TRY(workflow_plan_place(problem, plan, task, p, at_s, a));
    }
    return OK;
}

enum error_code workflow_order_plan(const struct workflow_problem *problem,
                                    const struct workflow_order *order, double begun_s,
                                    struct workflow_plan *plan, struct arena *a)
{
    struct begun *list = NEW(a, struct begun, problem->open_count);
    double *free_s = NEW(a, double, problem->processor_count);
    double *start_s = NEW(a, double, problem->task_count);
    double *finish_s = NEW(a, double, problem->task_count);
    double makespan_s;
    size_t count = 0;
    bool fits;

    makespan_s = workflow_order_times(problem, order, begun_s, start_s, finish_s, free_s);
    for (; count < problem->open_count && order->task[count] != WORKFLOW_NONE; count++) {
        size_t task = order->task[count];

        list[count] = (struct begun){start_s[task], count, task};
    }
    qsort(list, count, sizeof(*list), by_start);
    TRY(compact(problem, order, list, count, plan, &fits, a));
    if (fits && workflow_plan_makespan_s(problem, plan) <= makespan_s * (1 + 1e-12))
        return OK;
    workflow_plan_clear(problem, plan);
    for (size_t k = 0; k < count; k++) {
        size_t task = order->task[k];

        workflow_plan_set(problem, plan, task, order->processor[task], start_s[task],
                          finish_s[task]);
    }
    return OK;
}
