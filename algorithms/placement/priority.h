/* placement/priority.h - whose job comes first, and on which resource.
 *
 * The weighted priorities of GridWay 5: job_order and resource_order =
 * gridway_priority. All state travels in the request.
 *
 * Source: spec gridway.md, section 4.
 */
#ifndef GRIDPLAN_PLACEMENT_PRIORITY_H
#define GRIDPLAN_PLACEMENT_PRIORITY_H

#include "algorithms/placement/problem.h"

/* Seconds that a user is banned from a resource after a failure `since_s` after
 * the first one since the last success; 0 is that first failure itself. Whole
 * seconds, 0: not banned. max_ban_s 0: never. */
double priority_ban_s(double since_s, double max_ban_s);

/* Indexes the request's usage by user and resource. */
void priority_prepare(struct placement_problem *p);

/* The job's user is banned from the resource now: banned_until is not over, or, if
 * only the first failure is known, its ban is not. */
bool priority_banned(const struct placement_problem *p, size_t job, size_t pos);

/* Fills p->order: pending jobs as job_order says, then those that run. O(n log n). */
void priority_job_order(struct placement_problem *p);

/* Jobs' priorities (spec 4.1) by job index; fills p->order as well. */
void priority_jobs(struct placement_problem *p, double *priority);

/* Priorities (spec 4.2) of `count` candidate positions with their ranks (NAN counts
 * as 0) for the job's user. O(count). */
void priority_resources(const struct placement_problem *p, size_t job, const size_t *pos,
                        const double *rank, size_t count, double *priority);

#endif
