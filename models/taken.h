/* taken.h - what somebody holds of resources: jobs that run, and reservations.
 *
 * Times are seconds from the snapshot's "now", or instants beside them; NAN: not said.
 * Amounts are of each resource.
 *
 * Source: world-model.md 2.2.
 */
#ifndef GRIDPLAN_TAKEN_H
#define GRIDPLAN_TAKEN_H

#include "models/base/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A job that runs. */
struct taken_running {
    const char *id;
    const char *const *resource_ids; /* of a snapshot's own list; else NULL: */
    size_t resource_id_count;        /* it is on the resource whose row this is */
    uint64_t nodes;                  /* rows of this id; 0: not said */
    double cpus, memory_bytes, disk_bytes;
    const struct named_value *needs; /* numbers >= 0 */
    size_t need_count;
    double expected_end_s, expected_end_at_s;
    double time_limit_s;            /* > 0 */
    double elapsed_s, started_at_s; /* how long it has run, >= 0 */
    double weight, priority;        /* what stopping it costs; against a job's */
    const char *user;               /* NULL: not said */
    const char *partition_id;       /* NULL: the first that has all its resources */
    const char *group;              /* id of a group of jobs; NULL: none */
    bool preemptible, exclusive;
};

/* An interval in which somebody else has a part of resources, or all. */
struct taken_reservation {
    const char *id; /* NULL: not said */
    const char *const *resource_ids;
    size_t resource_id_count;
    double start_s, start_at_s; /* neither: 0 */
    double end_s, end_at_s;     /* neither: for ever */
    bool all;
    double cpus, memory_bytes, disk_bytes; /* NAN: none of it */
    const struct named_value *needs;
    size_t need_count;
};

#endif
