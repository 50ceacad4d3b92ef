/* simulation/network.h - how flows share links. */
#ifndef GRIDPLAN_SIMULATION_NETWORK_H
#define GRIDPLAN_SIMULATION_NETWORK_H

#include <stddef.h>

/* A route has 8 links at most, one by way of the storage twice that. */
enum { FLOW_LINKS = 16 };

struct network_flow {
    double weight;           /* 1/phi, > 0 */
    double cap_mbps;         /* of a route through a WAN; infinite: none */
    size_t link_count;       /* with a limit */
    size_t link[FLOW_LINKS]; /* which */
    double rate_mbps;        /* result; infinite: neither link nor cap */
};

/* Weighted max-min shares: all rates grow as theta * weight until a link is full or
 * a flow reaches its cap; those flows stay there, the others go on. left_mbps holds
 * the capacity of each link, and afterwards what is left; weight_sum is for working.
 * O(flows * (flows + links)). Source: spec simulator.md 6. */
void network_share(struct network_flow *flows, size_t flow_count, double *left_mbps,
                   double *weight_sum, size_t link_count);

/* 1/phi of a route with this sum of latencies. */
double network_weight(double latency_s);

#endif
