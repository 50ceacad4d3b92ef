/* placement/select.h - requirement and rank expressions of a request.
 *
 * Each different text is read once. A name of an expression is a derived value of
 * the job and the resource (spec gridway.md 2.2), else an attribute of the
 * resource, whose values stand in one column per name; else it is undefined.
 */
#ifndef GRIDPLAN_PLACEMENT_SELECT_H
#define GRIDPLAN_PLACEMENT_SELECT_H

#include "algorithms/placement/problem.h"
#include "models/expr.h"

/* What an expression may ask about a resource while a plan fills up. */
struct select_state {
    double slots_free;
    double queue_wait_s; /* HUGE_VAL: never */
    double transfer_s;   /* of the job's input files; HUGE_VAL: unreachable */
    bool runs;           /* the job runs already, and only its rest counts: */
    double execution_s;  /* of the rest; HUGE_VAL: never, not known */
    double output_s;     /* of its outputs to the home site */
};

/* Reads every expression of the jobs and makes the columns of the attributes they
 * name. Mistakes go to *err as "/jobs/I/requirement" and "/jobs/I/rank"; a name
 * that no resource defines gives a warning. Needs p->jobs and p->resources. */
enum error_code select_prepare(struct placement_problem *p, struct error *err);

/* Adds to the mask where the requirement of the snapshot's partition is true. O(m). */
void select_partition(const struct placement_problem *p, size_t partition,
                      uint64_t *mask);

/* The job's requirement; NULL: true. Equal texts give the same pointer. */
const struct expr *select_requirement(const struct placement_problem *p, size_t job);

/* The expression names a value that depends on the job. */
bool select_by_job(const struct expr *e);

/* Names whose values do not depend on the job have a column each; its number, below
 * select_column_count(). */
size_t select_column(const struct placement_problem *p, const struct expr *e,
                     size_t name);
size_t select_column_count(const struct placement_problem *p);

/* The column's values by position, before anything is placed. */
const struct expr_value *select_column_values(const struct placement_problem *p,
                                              size_t column);

/* The state of the snapshot, before anything is placed. O(files). */
struct select_state select_state_now(const struct placement_problem *p, size_t job,
                                     size_t pos);

/* Values for the names of `e`, valid until the next call. */
const struct expr_value *select_values(const struct placement_problem *p,
                                       const struct expr *e, size_t job, size_t pos,
                                       const struct select_state *state);

/* The job's rank there; NAN: undefined. An empty rank is minus the turnaround, or
 * 0 for a job without an estimate. */
double select_rank(const struct placement_problem *p, size_t job, size_t pos,
                   const struct select_state *state);

#endif
