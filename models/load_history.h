/* load_history.h - what was observed of resources and links, and when. */
#ifndef GRIDPLAN_LOAD_HISTORY_H
#define GRIDPLAN_LOAD_HISTORY_H

#include <stddef.h>
#include <stdint.h>

/* One observation. A measure that was not made is NAN; one at least is made. */
struct load_sample {
    const char *resource_id;       /* the resource, or where the link begins */
    const char *to_resource_id;    /* where the link ends; NULL: the resource itself */
    double observed_at_s;          /* instant */
    double cpu_available_ratio;    /* 0..1, share of the CPU that a new job would get */
    double memory_available_bytes; /* >= 0 */
    double bandwidth_mbps;         /* available, >= 0 */
    double latency_s;              /* >= 0 */
};

/* The members that can be aggregated, in the order of struct load_sample. */
enum load_measure {
    LOAD_CPU_AVAILABLE_RATIO,
    LOAD_MEMORY_AVAILABLE_BYTES,
    LOAD_BANDWIDTH_MBPS,
    LOAD_LATENCY_S
};

/* What the samples of one interval of time say about one measure. */
struct load_interval {
    double start_at_s;              /* instant; the interval is [start, start + step) */
    uint64_t sample_count;          /* >= 1 */
    double mean, min, max;          /* in the unit of the measure */
    double p05, p25, p50, p75, p95; /* percentiles, interpolated */
};

#endif
