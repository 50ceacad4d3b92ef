/* placement/classes.h - jobs that the same resources suit.
 *
 * Jobs with the same requirement and the same rights are a class: the tests up to the
 * requirement are made once for all of them.
 *
 * Cost: rights * m, and of the requirements what clauses.h says; classes * m
 * evaluations where a requirement has values of the job (execution_s ...) in it.
 */
#ifndef GRIDPLAN_PLACEMENT_CLASSES_H
#define GRIDPLAN_PLACEMENT_CLASSES_H

#include "algorithms/placement/problem.h"

/* The first filter up to the requirement that drops the resource at `pos` for the job, or
 * FILTER_PASSED. */
enum filter classes_filter(const struct placement_problem *p, size_t job, size_t pos);

/* Fills p->classes and each job's job_class. Needs select_prepare(). */
void classes_make(struct placement_problem *p);

#endif
