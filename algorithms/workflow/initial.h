/* workflow/initial.h - a schedule that the request brings, to start a search from. */
#ifndef GRIDPLAN_WORKFLOW_INITIAL_H
#define GRIDPLAN_WORKFLOW_INITIAL_H

#include "algorithms/workflow/given.h"

/* Reads in->initial into problem->initial. It stays NULL when there is none, or when it
 * breaks a rule: then a warning `initial_refused` says which. Unknown ids are mistakes of
 * the request (all collected, pointers below /initial).
 * O(n log n + e + n * slots of a resource). */
enum error_code workflow_initial_read(struct workflow_problem *problem, struct arena *a,
                                      struct error *err);

#endif
