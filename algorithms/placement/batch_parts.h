/* placement/batch_parts.h - what batch.c and batch_largest.c share. */
#ifndef GRIDPLAN_PLACEMENT_BATCH_PARTS_H
#define GRIDPLAN_PLACEMENT_BATCH_PARTS_H

#include "algorithms/placement/batch.h"

/* Jobs that compete one after the other. */
struct batch_stream {
    const size_t *jobs, *end; /* the first one competes */
    struct plan_choice choice;
    double key;
    size_t version; /* of the choice's resource when it was made */
    bool stale;
    bool same_job; /* the choice was made for the job that is first now, and nothing but
                      jobs on its best resource has changed it since */
};

struct batch {
    struct placement_plan *plan;
    enum batch_rule rule;
    enum plan_rival rival; /* whose completion time is kept beside the best one */
    struct batch_stream *streams;
    size_t count;
    size_t *version; /* by position: placements there */
};

/* Finds the best places of the stream's first job; jobs without any are passed. */
void batch_choose(struct batch *b, struct batch_stream *s);

/* After its best resource alone took a job: it stays the best if it still completes the
 * job before the second best, which is not later than all others. */
bool batch_still_best(struct batch *b, struct batch_stream *s);

/* batch_place() for BATCH_LARGEST without files. */
enum error_code batch_place_largest(struct batch *b, struct error *err);

#endif
