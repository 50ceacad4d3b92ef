/* world/buckets.h - lower bounds of starts, so that a job need not look at all resources.
 *
 * What is free only falls while a plan grows: when a job could start last time is a lower
 * bound for all jobs that are not smaller. Jobs whose needs and run times are within a
 * factor of each other share a bucket; its corner is the least of each of their needs and
 * times. For each bucket and resource: a lower bound of the corner's first start, and
 * for each block of 32 resources the least of these. Only a fit of the corner may raise
 * a bound. The best place is the same as by a look at all resources.
 *
 * Source: world-model.md 4.1. Memory: 8 bytes for each bucket and resource, at most
 * BUCKETS_BYTES_MAX: then buckets become coarser.
 */
#ifndef GRIDPLAN_WORLD_BUCKETS_H
#define GRIDPLAN_WORLD_BUCKETS_H

#include "algorithms/world/board_parts.h"

enum {
    BUCKETS_MAX = 8192,
    BUCKETS_BYTES_MAX = 32 << 20,
    BUCKETS_BLOCK = 32,        /* resources */
    BUCKETS_RESOURCES_MIN = 16 /* fewer are all looked at */
};

/* b->buckets, which stays NULL where it would not pay. Cost: O(jobs * amounts + buckets *
 * resources), and each row of times once. */
void buckets_create(struct board *b);

/* Something was given back there. O(buckets). */
void buckets_forget_at(struct board *b, size_t position);

/* Everything was. */
void buckets_forget(struct board *b);

/* The least completion of a job of one node, by its choice. */
struct board_spot buckets_best(struct board *b, size_t job, size_t choice);

/* board_pair_of() of a job that has a release; false: all resources are to be looked at.
 */
bool buckets_pair(struct board *b, size_t job, bool by_site, struct board_pair *found);

#endif
