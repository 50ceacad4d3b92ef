/* workflow/order.h - a schedule as an order of its tasks, and back.
 *
 * Each task goes behind the last one of its processor, in this order; a task whose run
 * time there is 0 takes nothing: it neither waits for the processor nor keeps it. Every
 * schedule without needless waiting is one of these.
 */
#ifndef GRIDPLAN_WORKFLOW_ORDER_H
#define GRIDPLAN_WORKFLOW_ORDER_H

#include "algorithms/workflow/problem.h"

struct workflow_order {
    size_t *task;      /* [open_count]: parents before children; WORKFLOW_NONE: the end */
    size_t *processor; /* [task_count] */
    double makespan_s; /* of the tasks in it; HUGE_VAL: some cannot run */
};

/* Earliest start from ready_s on that no blocked interval of the processor cuts. */
static inline double workflow_past_blocked_s(const struct workflow_processor *p,
                                             double ready_s, double time_s)
{
    for (size_t k = 0; k < p->blocked_count; k++) {
        if (ready_s + time_s <= p->blocked[k].from_s)
            break;
        ready_s = fmax(ready_s, p->blocked[k].to_s);
    }
    return ready_s;
}

/* Start of a task of time_s on p that is ready at ready_s, if p is free from free_s on.
 */
static inline double workflow_start_s(const struct workflow_problem *problem, size_t p,
                                      double ready_s, double free_s, double time_s)
{
    if (time_s == 0)
        return ready_s < HUGE_VAL ? workflow_instant_s(problem, p, ready_s) : HUGE_VAL;
    ready_s = fmax(ready_s, free_s);
    if (!(ready_s + time_s < HUGE_VAL))
        return HUGE_VAL;
    return problem->processors[p].blocked_count
               ? workflow_past_blocked_s(&problem->processors[p], ready_s, time_s)
               : ready_s;
}

/* Room for one; the tasks are none. */
void workflow_order_make(const struct workflow_problem *problem,
                         struct workflow_order *order, struct arena *a);

/* The plan's open tasks by (start, finish, place in the topological order), parents
 * first whatever rounding did to the plan's times. O(tasks log tasks + edges). */
void workflow_order_of_plan(const struct workflow_problem *problem,
                            const struct workflow_plan *plan,
                            struct workflow_order *order, struct arena *a);

/* The order's times into start_s and finish_s ([task_count] each; free_s is work space,
 * [processor_count]); returns its makespan, at least begun_s. O(tasks + edges). */
double workflow_order_times(const struct workflow_problem *problem,
                            const struct workflow_order *order, double begun_s,
                            double *start_s, double *finish_s, double *free_s);

/* The order as a plan: each task in the first gap that holds it, by its start in the
 * order; the order's own times if that ends later. */
enum error_code workflow_order_plan(const struct workflow_problem *problem,
                                    const struct workflow_order *order, double begun_s,
                                    struct workflow_plan *plan, struct arena *a);

#endif
