/* snapshot.h - what a caller sees of the grid at one moment. */
#ifndef GRIDPLAN_SNAPSHOT_H
#define GRIDPLAN_SNAPSHOT_H

#include "models/network.h"
#include "models/resource.h"

/* Resources that jobs may use under common rules (world-model.md 2.5). */
struct partition {
    const char *id;
    const char *const *resource_ids;
    size_t resource_id_count;
    const char *requirement; /* instead of these: an expression; NULL */
    bool is_default;
    double time_limit_max_s;          /* > 0; NAN: none */
    uint64_t nodes_per_job_max;       /* 0: none */
    double priority_tier;             /* larger first */
    const char *const *users_allowed; /* NULL: everybody; none: nobody */
    size_t users_allowed_count;

    /* What jobs of one user may have in it together at one instant; jobs without a user
     * are not limited. NAN: no limit. */
    double jobs_per_user_max; /* a whole number >= 0 */
    double cpus_per_user_max; /* >= 0 */
};

struct snapshot {
    double taken_at_s; /* instant that is "now"; NAN: not said, then only relative times
                          make sense */
    double list_observed_at_s; /* instant when the list of resources was made; NAN:
                                  taken_at_s */
    const char *home_site_id;  /* where outputs go; NULL: nowhere */
    struct network network;
    const struct file *files;
    size_t file_count;
    const struct resource *resources;
    size_t resource_count;
    const struct named_value *shared_capacities; /* amounts that are on no resource */
    size_t shared_capacity_count;
    const struct taken_running *running; /* with resource_ids */
    size_t running_count;
    const struct taken_reservation *reservations; /* likewise */
    size_t reservation_count;
    const struct partition *partitions;
    size_t partition_count;
    const char *cluster; /* JSON object: the same as queues decide on it; NULL */
    const char *const
        *leased_ids; /* jobs that leases of a stored snapshot give amounts */
    size_t leased_id_count;
};

#endif
