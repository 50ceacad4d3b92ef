/* site.h - a cluster of machines with their links, as a caller describes it.
 *
 * For one tightly coupled application, which runs on machines of one site: each
 * machine has an available CPU share, each pair of machines a link. The links come in
 * one of three forms. Batch sites are space-shared: their machines are idle when a job
 * gets them, but it waits for them first.
 *
 * Source: spec parallel-scheduling.md 1.1, 6, 11.
 */
#ifndef GRIDPLAN_SITE_H
#define GRIDPLAN_SITE_H

#include <stddef.h>

enum site_kind { SITE_INTERACTIVE, SITE_BATCH };

struct site_machine {
    const char *id;
    double cpu_available_ratio; /* 0..1; NAN: not known */
    double uplink_mbps;         /* >= 0; NAN: not known */
};

enum site_links_form {
    SITE_LINKS_UPPER_TRIANGLE,         /* n (n - 1) / 2 numbers, row by row */
    SITE_LINKS_UPLINKS,                /* a link is as good as its worse end */
    SITE_LINKS_DEFAULT_WITH_OVERRIDES, /* all alike, but for some */
};

struct site_link {
    const char *resource_id, *peer_id;
    double bandwidth_mbps; /* >= 0; NAN: no link */
};

struct site_links {
    enum site_links_form form;
    const double *bandwidth_mbps; /* upper_triangle; NAN: no link */
    size_t bandwidth_count;
    double default_mbps; /* of every other pair; NAN: no link */
    const struct site_link *overrides;
    size_t override_count;
};

/* A past job of a batch queue. */
struct site_wait {
    double processors; /* >= 1 */
    double wait_s;     /* >= 0 */
};

struct site {
    const char *id;
    enum site_kind kind;
    double link_capacity_mbps;       /* > 0; NAN: the greatest link */
    double cpu_scaling_factor;       /* of computation times, > 1: slower; > 0 */
    double bandwidth_scaling_factor; /* of communication times; > 0 */
    const struct site_machine *resources;
    size_t resource_count;
    struct site_links links;
    const struct site_wait *queue_wait_history;
    size_t wait_count;
};

#endif
