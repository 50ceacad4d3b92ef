/* snapshot.h - what a caller sees of the grid at one moment. */
#ifndef GRIDPLAN_SNAPSHOT_H
#define GRIDPLAN_SNAPSHOT_H

#include "models/network.h"
#include "models/resource.h"

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
};

#endif
