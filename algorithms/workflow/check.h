/* workflow/check.h - what somebody's schedule of a workflow is worth.
 *
 * Source: ours; the rules are those of problem.h.
 */
#ifndef GRIDPLAN_WORKFLOW_CHECK_H
#define GRIDPLAN_WORKFLOW_CHECK_H

#include "algorithms/workflow/given.h"

struct workflow_violation {
    const char *kind; /* "missing", "twice", "too_short", "precedence", "transfer",
                         "capacity", "not_available", "release", "cannot_run" */
    const char *workflow_id, *task_id, *other_task_id, *resource_id; /* NULL: none */
    double by_s; /* how much time is missing; NAN: not a matter of time */
};

struct workflow_check_out {
    bool valid;
    bool cut; /* the time was up before all of it had been looked at: not valid */
    const struct workflow_violation *violations;
    size_t violation_count;
    size_t begun_rows;                   /* not looked at: their tasks have begun */
    struct workflow_objective objective; /* of the schedule as given */
    double
        repaired_makespan_s; /* same resources and order, times made right; NAN: none */
};

/* Unknown ids are mistakes of the request (all collected, pointers below /schedule);
 * everything else is a violation (verify.h, also for the tolerance of times). */
/* `amounts`: resources run as many tasks as fit; NULL: a processor runs one at a time.
 * With amounts no schedule is repaired. */
enum error_code workflow_check(const struct workflow_problem *problem,
                               struct workflow_amounts *amounts,
                               const struct workflow_given *given, size_t given_count,
                               struct workflow_check_out *out, struct arena *a,
                               struct error *err);

#endif
