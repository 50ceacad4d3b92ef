/* world/buckets_parts.h - what buckets.c looks through and buckets_create.c makes. */
#ifndef GRIDPLAN_WORLD_BUCKETS_PARTS_H
#define GRIDPLAN_WORLD_BUCKETS_PARTS_H

#include "algorithms/world/buckets.h"

/* Jobs that are alike. */
struct bucket {
    double corner_s; /* least held time; is_related: at speed 1 */
    bool is_related; /* run times are work divided by speed, no limit cuts them */
};

struct buckets {
    struct bucket *list;
    size_t count;
    int64_t *corners;   /* of bucket i, row k: least need, INT64_MIN: 0; [i * rows + k] */
    uint32_t *of_job;   /* bucket; jobs of several nodes have none */
    double *least_s;    /* by job: its least run time; not for related ones */
    double *first_s;    /* by bucket, then position */
    double *blocks_s;   /* by bucket, then block: the least of its first_s */
    size_t block_count; /* blocks of positions */
    double *speed;      /* of each block the largest */
    double speed_max;   /* of all; related buckets: > 0 */
    size_t *index;      /* of each block the least snapshot index */
    int64_t *capacity;  /* by position, then row */
    bool is_known;      /* first_s is filled */
};

/* The bounds of an empty plan. */
void buckets_fill(struct board *b);

#endif
