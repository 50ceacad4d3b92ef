/* placement/batch.h - the machinery of min_min, max_min and the sufferages.
 *
 * They all repeat: of the jobs that have no place, choose one by the completion
 * times of its best resources, and place it on the best one. Jobs of a stream
 * differ in their estimate only, so only the first of each stream competes.
 *
 * Each stream keeps its best (and second best) resource. Without files completion
 * times only grow, so that these stay right until one of the two takes a job; a
 * staged file also makes stale whoever uses that file.
 *
 * Cost: with n jobs, s streams and m resources, O(n s) comparisons plus one scan for
 * each stale stream that is looked at; a stream is not stale while the resource that
 * took a job would still complete its first job at the same time. 10^4 jobs of which
 * no two have the same needs, on 10^4 resources: 5 to 7 s (sufferages).
 * min_min without files keeps lower bounds in a heap instead: O(n log s) plus its
 * scans. max_min without files keeps upper bounds (batch_largest.c): O(n log s) plus
 * its scans, some tens a stream, plus O(s / m) looks a job at the streams that wait for
 * its resource; the same jobs take about a second, and 3 s on a single resource.
 */
#ifndef GRIDPLAN_PLACEMENT_BATCH_H
#define GRIDPLAN_PLACEMENT_BATCH_H

#include "algorithms/placement/plan.h"

enum batch_rule {
    BATCH_LEAST,     /* least best completion time */
    BATCH_LARGEST,   /* largest best completion time */
    BATCH_SUFFERAGE, /* largest gap to the second-best resource */
    BATCH_XSUFFERAGE /* largest gap to the best resource of the second-best store */
};

/* Places jobs until none has a finite completion time or the time is up. Ties:
 * lowest job index. */
enum error_code batch_place(struct placement_plan *plan, enum batch_rule rule,
                            struct error *err);

#endif
