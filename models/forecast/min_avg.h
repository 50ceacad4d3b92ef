/* forecast/min_avg.h - the load of one run, as two numbers.
 *
 * The slowest processor and the slowest link set the pace of a tightly coupled
 * application. So each one's samples are averaged over the run first, and then
 * the least average counts:
 *
 *     cpu_available_ratio = min over processors of mean over time of the ratio
 *     bandwidth_mbps      = min over links of mean over time of the bandwidth
 *
 * Links are all pairs of the processors; where both directions were measured
 * they are two links, where one was, it stands for the pair.
 *
 * Source: spec performance-models.md, section 2.
 */
#ifndef GRIDPLAN_FORECAST_MIN_AVG_H
#define GRIDPLAN_FORECAST_MIN_AVG_H

#include "models/base/error.h"
#include "models/load_history.h"

/* symbol, name on the wire, meaning */
#define LOAD_MEANS(X)                                    \
    X(PLAIN, plain, "every sample counts the same")      \
    X(TIME_WEIGHTED, time_weighted,                      \
      "each sample holds until the next one, the first " \
      "from the start of the run, the last to its end")

enum load_mean {
#define X(symbol, name, meaning) LOAD_MEAN_##symbol,
    LOAD_MEANS(X)
#undef X
};

/* Indexed by enum load_mean, ended by NULL. */
extern const char *const load_mean_names[];

struct min_avg_in {
    /* Of any resources and links, in any order. Used: cpu_available_ratio of
     * resources, bandwidth_mbps of links (to_resource_id set); NAN is no sample. */
    const struct load_sample *samples;
    size_t sample_count;
    const char *const *resource_ids; /* the processors used, >= 1; equal ids count once */
    size_t resource_count;
    double from_s, to_s; /* of the run or the phase, from_s <= to_s, finite */
    enum load_mean mean;
};

struct min_avg {
    double cpu_available_ratio; /* (0, 1] */
    double bandwidth_mbps;      /* > 0; NAN: one processor, no link */
    size_t cpu_resource;        /* index in resource_ids of the slowest */
    size_t link_from, link_to;  /* likewise, of the slowest link; 0, 0 without */
};

/* A resource or link without a sample in [from_s, to_s] takes the mean of the
 * samples nearest to the two ends. ERR_INVALID names, all at once: a processor
 * or pair without samples (kind "no_samples", pointer "/resource_ids/I"), a
 * ratio that is not in (0, 1] or a bandwidth that is not > 0 and finite (kind
 * "invalid_availability", pointer "/samples/I/MEMBER"), to_s < from_s.
 * O(n log n + processors^2). */
enum error_code min_avg_of_run(const struct min_avg_in *in, struct min_avg *out,
                               struct arena *a, struct error *err);

#endif
