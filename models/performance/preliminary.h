/* performance/preliminary.h - the earlier model: one number of processors, degrees
 * given by the application's developer.
 *
 *     T = p(N) + q(N) / cpu + r(N) / bandwidth
 *
 * with polynomials p, q of degree comp_degree and r of degree comm_degree, every
 * coefficient fitted by linear least squares: 2 (comp_degree + 1) + comm_degree + 1.
 *
 * Source: spec performance-models.md 4 (Eq. 3.1-3.5); 003_a5f9349f46eae656 3.3.
 */
#ifndef GRIDPLAN_PERFORMANCE_PRELIMINARY_H
#define GRIDPLAN_PERFORMANCE_PRELIMINARY_H

#include "models/performance/performance.h"

enum {
    PERF_DEGREE_MAX = 4,
    PERF_PRELIMINARY_TERMS_MAX = 3 * (PERF_DEGREE_MAX + 1),
    PERF_PRELIMINARY_TRIANGLE_MAX =
        (PERF_PRELIMINARY_TERMS_MAX + 1) * (PERF_PRELIMINARY_TERMS_MAX + 2) / 2,
};

/* All of it is what a caller stores. */
struct perf_preliminary {
    enum perf_status status;
    size_t comp_degree, comm_degree; /* 0 .. PERF_DEGREE_MAX */
    bool relative;                   /* rows divided by their time */
    double processors;               /* the same in every run; 0: no run yet */
    /* Highest power first: without load, by CPU, by bandwidth. */
    double coefficients[PERF_PRELIMINARY_TERMS_MAX];
    size_t coefficient_count;
    double standard_error; /* s, relative: a ratio; infinite: not fitted */
    double appe_ratio;     /* over the rows of the fit; NAN after an update */
    double triangle[PERF_PRELIMINARY_TRIANGLE_MAX]; /* as in combination.h */
    size_t version;
    struct perf_seen seen;
};

/* Fits runs on one number of processors. Status READY, INSUFFICIENT_SAMPLES (needs
 * coefficients + 1 usable runs) or RANK_DEFICIENT. Fails with ERR_INVALID, field
 * "/samples", when runs differ in their number of processors, and "/comp_degree" or
 * "/comm_degree" when those are too great. */
enum error_code perf_preliminary_fit(const struct perf_sample *samples, size_t count,
                                     size_t comp_degree, size_t comm_degree,
                                     bool relative, struct perf_preliminary *out,
                                     struct arena *a, struct error *err);

/* One more run, in O(coefficients^2); false: not usable (other processors, or no run). */
bool perf_preliminary_update(struct perf_preliminary *model,
                             const struct perf_sample *sample);

/* As perf_predict(): no time that is not positive and finite is ever answered;
 * another number of processors is NO_USABLE_COMBINATION. computation_s holds the
 * terms without bandwidth. */
void perf_preliminary_predict(const struct perf_preliminary *model,
                              const struct perf_query *query,
                              struct perf_prediction *out);

#endif
