/* network.h - links between sites, and files with their replicas. */
#ifndef GRIDPLAN_NETWORK_H
#define GRIDPLAN_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

/* One route; good for both directions unless the other one is listed too. */
struct network_route {
    const char *from_site_id;
    const char *to_site_id;
    double bandwidth_mbps; /* > 0 */
    double latency_s;      /* >= 0 */
};

struct network {
    const struct network_route *routes;
    size_t route_count;
    double wan_mbps, wan_latency_s; /* between sites without a route; NAN: unreachable */
    double lan_mbps,
        lan_latency_s; /* inside a site without a route; NAN: no time at all */
};

/* An input file and where copies of it are. */
struct file {
    const char *id;
    double bytes; /* >= 0 */
    bool shared;  /* once staged it serves later jobs of that site */
    const char *const *site_ids;
    size_t site_count; /* >= 1 */
};

/* 8 * bytes / (bandwidth_mbps * 1e6) + latency_s (spec workflows.md 2.2). */
static inline double transfer_s(double bytes, double bandwidth_mbps, double latency_s)
{
    return 8 * bytes / (bandwidth_mbps * 1e6) + latency_s;
}

#endif
