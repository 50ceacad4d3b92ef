/* coallocation/workload.h - streams of parallel jobs as the source's experiments had.
 *
 * A stream is a set of sizes (components x processors), equally likely, each with its
 * run time; a file of a size that is drawn from a list, with replicas at sites drawn
 * without repetition; and Poisson arrivals, the first at 0.
 *
 * Source: spec coallocation.md 20.1, 20.3, 20.5, 20.6; 001_546dfcc428821807 5.1.2, 5.1.7,
 * 5.2.1, 6.2.1.
 */
#ifndef GRIDPLAN_COALLOCATION_WORKLOAD_H
#define GRIDPLAN_COALLOCATION_WORKLOAD_H

#include "algorithms/coallocation/coallocation.h"

/* Every stream: name, what it is. */
#define CO_WORKLOADS(X)                                                              \
    X(w30, "1, 2 or 4 components of 8 or 16, files of 2, 4 or 6 GB, 30 % of the "    \
           "processors")                                                             \
    X(w50, "The same at 50 %")                                                       \
    X(spread, "2 or 4 components of 4, 8, 16 or 24, a file of 2 GB, 30 %")           \
    X(unreliable, "3 to 8 components, 36 or 72 processors, files of 4 or 8 GB, two " \
                  "priorities, 1 job a minute")                                      \
    X(w_nc, "1 component of 8, 32 or 48, no files, 2.4 jobs a minute")               \
    X(w_c, "The same sizes in 2 to 12 components")

enum co_workload_kind {
#define X(name, doc) CO_WORKLOAD_##name,
    CO_WORKLOADS(X)
#undef X
        CO_WORKLOAD_COUNT
};
extern const char *const co_workload_names[]; /* ended by NULL */

struct co_sim_job {
    const char *id;
    double submit_s, run_time_s; /* >= 0, > 0 */
    enum co_request_type type;   /* flexible: of the sum of its components */
    enum co_level level;
    bool distinct;            /* components on different sites */
    const size_t *processors; /* of each component */
    const size_t *sites;      /* of each, CO_NONE where it is free; NULL: all are */
    size_t component_count;
    double file_bytes;        /* whole file for every component; 0: none */
    const size_t *file_sites; /* with a replica */
    size_t file_site_count;
};

struct co_workload_in {
    enum co_workload_kind kind;
    size_t job_count;     /* 0: as in the source */
    double replica_count; /* of each file, at most all sites; NAN: as in the source */
    double mean_gap_s;    /* between arrivals; NAN: as in the source */
    double capacity;      /* processors of all sites, for streams given by load; > 0 */
    size_t site_count;    /* >= 1 */
    enum co_request_type type; /* CO_FIXED: on sites drawn like those of replicas */
    bool distinct;
    uint64_t seed;
};

/* Jobs of a stream. */
size_t co_workload_job_count(const struct co_workload_in *in);

/* Draws a stream. The same seed gives the same jobs for every policy. */
enum error_code co_workload_draw(const struct co_workload_in *in,
                                 const struct co_sim_job **jobs, size_t *count,
                                 struct arena *a);

/* Mean processor-seconds of a job; jobs a minute at that capacity. */
double co_workload_mean_work(enum co_workload_kind kind);
double co_workload_rate_per_s(enum co_workload_kind kind, double capacity);

#endif
