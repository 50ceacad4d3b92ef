/* performance/porting.h - a model for a site from another site's model.
 *
 * The functions belong to the application and carry over; two factors say how the
 * target differs from the reference: R_cpu multiplies computation, R_bw communication.
 * They come from a few runs on machines that nobody else uses (cpu = 1): one run on
 * one processor and about six on two, on both sites. Where an application needs a
 * least number of processors, that number stands for one, and any next for two.
 *
 * Source: spec performance-models.md 11 (Eq. 3.9); 003_a5f9349f46eae656 3.5.
 */
#ifndef GRIDPLAN_PERFORMANCE_PORTING_H
#define GRIDPLAN_PERFORMANCE_PORTING_H

#include "models/performance/performance.h"

/* symbol, name on the wire */
#define PERF_PORTINGS(X)                                                                 \
    X(MATCHED, matched)                                                                  \
    X(NOT_MATCHED, not_matched) /* no factor fits the target as well as the reference */ \
    X(NOT_IDENTIFIABLE, communication_not_identifiable) /* R_bw = 1 */

enum perf_porting_status {
#define X(symbol, name) PERF_PORTING_##symbol,
    PERF_PORTINGS(X)
#undef X
        PERF_PORTING_COUNT
};

extern const char *const perf_porting_names[];

struct perf_porting {
    enum perf_status outcome; /* READY; else nothing below is filled */
    enum perf_porting_status status;
    double cpu_factor;       /* R_cpu > 0 */
    double bandwidth_factor; /* R_bw > 0 */
    double best_factor;      /* R_best of least squares; NAN: there is none */
    double goodness_reference, goodness_target; /* APPE as a ratio, of what was chosen */
    size_t combination; /* index in the reference's sorted list that was used */
    struct perf_combination fitted; /* it, fitted to the reference's dedicated runs */
};

/* Finds the factors from dedicated runs of both sites. Those on `single_processors`
 * (1, or the least number) give R_cpu, at the problem size that both sites have and
 * that is nearest to the middle of the reference's; those on more give R_bw. Several
 * at one size and number of processors are averaged; what is no run is left out.
 *
 * out->outcome READY, or INSUFFICIENT_SAMPLES: no size in common on one processor,
 * fewer than two others on either site, or a reference without combinations. With a
 * set fitted by relative errors everything here is relative too.
 * O(list * runs + runs^2). */
enum error_code perf_port(const struct perf_model_set *reference,
                          const struct perf_sample *reference_runs,
                          size_t reference_count, const struct perf_sample *target_runs,
                          size_t target_count, double single_processors,
                          struct perf_porting *out, struct arena *a);

/* The target's set, state ported, version 1: the reference's lists without what they
 * saw, to be refitted by perf_update() with the target's runs, and the reference's
 * own for predictions by the factors. */
enum error_code perf_ported_set(const struct perf_model_set *reference,
                                const struct perf_porting *porting,
                                struct perf_model_set *out, struct arena *a);

#endif
