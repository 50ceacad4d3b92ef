/* workflow/verify.h - does a schedule keep all rules? An independent look.
 *
 * Nothing here is shared with a policy or a search but the readers of times, transfers
 * and blocked intervals (problem.h). It is asked before an answer may be called optimal,
 * and it assesses the schedules of callers, so that the service accepts what it gives.
 *
 * The rules: a task starts when it is released and all its inputs are there, runs to its
 * end without a break, and has a processor of its resource for itself, outside blocked
 * intervals. One whose run time there is 0 takes no processor: it may be anywhere but
 * strictly inside a closed interval. Tolerance: 1e-9 of a time, at least 1e-9 s.
 */
#ifndef GRIDPLAN_WORKFLOW_VERIFY_H
#define GRIDPLAN_WORKFLOW_VERIFY_H

#include "algorithms/workflow/problem.h"

/* Where and when an open task runs. */
struct workflow_run {
    size_t task, resource; /* of the problem, of the snapshot */
    double start_s, finish_s;
    const size_t *resources; /* of a task on several nodes: all of them, as given */
    size_t resource_count;   /* else 0 */
};

/* A broken rule; numbers are WORKFLOW_NONE where there is none. */
struct workflow_breach {
    const char *kind; /* see struct workflow_violation (check.h) */
    size_t task, other_task, resource;
    double by_s; /* how much time is missing; NAN: not a matter of time */
};

struct workflow_verdict {
    const struct workflow_breach *breaches;
    size_t breach_count;
    const size_t *processor; /* [run_count]: that a run got; WORKFLOW_NONE: cannot run */
    double makespan_s;       /* last end of these and of what has begun, >= 0 */
    bool spent;              /* the time was up first: nothing is said */
};

/* O(n log n + e + n * slots of a resource). */
enum error_code workflow_verify(const struct workflow_problem *problem,
                                const struct workflow_run *runs, size_t run_count,
                                struct workflow_verdict *out, struct arena *a,
                                struct error *err);

/* The same for the open tasks of a plan, on resources. */
enum error_code workflow_verify_plan(const struct workflow_problem *problem,
                                     const struct workflow_plan *plan,
                                     struct workflow_verdict *out, struct arena *a,
                                     struct error *err);

#endif
