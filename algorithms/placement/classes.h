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

/* Fills p->classes and each job's job_class. Needs select_prepare(). */
void classes_make(struct placement_problem *p);

#endif
