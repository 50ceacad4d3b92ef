/* workflow/initial.h - a schedule that the request brings, to start a search from. */
#ifndef GRIDPLAN_WORKFLOW_INITIAL_H
#define GRIDPLAN_WORKFLOW_INITIAL_H

#include "algorithms/workflow/given.h"

/* A broken rule, in the words of struct workflow_violation (check.h). */
struct workflow_fault {
    const char *kind;      /* NULL: the time limit came first */
    size_t task, resource; /* WORKFLOW_NONE: none */
};

/* The warning that the schedule was not started from. */
void workflow_initial_refuse(struct workflow_problem *problem,
                             const struct workflow_fault *fault);

/* Warnings about rows that are not looked at; how many rows have no start_s. */
size_t workflow_initial_warn_rows(struct workflow_problem *problem,
                                  const struct workflow_given_rows *rows);

/* The mistake that an open task has no row. */
void workflow_initial_missing(const struct workflow_problem *problem, size_t task,
                              struct error *err);

/* Reads in->initial into problem->initial. It stays NULL when there is none, or when it
 * breaks a rule: then a warning `initial_refused` says which. Unknown ids, a task
 * with two rows and an open one without any are mistakes of the request (all collected,
 * pointers below /initial). O(n log n + e + n * slots of a resource). */
enum error_code workflow_initial_read(struct workflow_problem *problem, struct arena *a,
                                      struct error *err);

#endif
