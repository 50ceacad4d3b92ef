/* performance/term.h - the run time of an application at one problem size.
 *
 * With the problem size fixed, a performance model is a few numbers, and its time
 * depends on the processors, their available CPU and bandwidth alone:
 *
 *     T(P, cpu, bw) = sum over terms of comp_s / (cpu * f_P(P))
 *                                     + comm / (f_bw(bw) * f_P'(P))
 *
 * cpu and bw are minima over the machines and links used of what is available on
 * average during the run. Schedulers evaluate this very often: O(terms), no memory.
 *
 * Source: spec parallel-scheduling.md 2 (Eq. 4.1), performance-models.md 3 (Eq. 3.6).
 */
#ifndef GRIDPLAN_PERFORMANCE_TERM_H
#define GRIDPLAN_PERFORMANCE_TERM_H

#include <stdbool.h>
#include <stddef.h>

/* What is available of a resource but less than this is taken as this. */
#define PERF_CPU_LEAST_RATIO 0.01
#define PERF_BW_LEAST_MBPS   0.01
/* Bandwidth functions with a logarithm see at least this. */
#define PERF_BW_LOG_LEAST_MBPS 1.001

/* One phase, or a whole application of one phase. */
struct perf_term {
    double comp_s; /* f_comp(N), with any scaling factor: seconds on one free processor */
    int pcomp_id;  /* as in functions.h */
    double comm;   /* f_comm(N), with any scaling factor: s * unit of f_bw */
    int bw_id;     /* PERF_NONE: no communication */
    int pcomm_id;
};

struct perf_terms {
    const struct perf_term *terms;
    size_t term_count;
    double single_s; /* time on one free processor of a stored model's own
                        one-processor model, NAN: by the terms */
};

/* The time in seconds; infinite when there is none: a time that is not positive
 * or not finite (a badly fitted model), no CPU, no bandwidth where one is needed
 * (NAN is none), less than one processor.
 *
 * On one processor there is no communication and no function of P applies; the
 * time is single_s / cpu where that is known. CPU and bandwidth that are positive
 * are raised to the least values above. */
double perf_time_s(const struct perf_terms *model, double processors,
                   double cpu_available_ratio, double bandwidth_mbps);

/* The two parts of one term at two or more processors. */
void perf_term_parts(const struct perf_term *term, double processors,
                     double cpu_available_ratio, double bandwidth_mbps,
                     double *computation_s, double *communication_s);

/* From two processors on, does the time never grow when CPU, bandwidth or
 * processors grow? True when every id of P in use is 0 .. 8 and nothing is
 * negative. A sum is monotone if every term is. */
bool perf_terms_monotone(const struct perf_terms *model);

#endif
