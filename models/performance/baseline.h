/* performance/baseline.h - what our predictions are compared with.
 *
 * Source: spec performance-models.md, section 15. The load-blind baseline and the
 * uniform-start one are our model with other loads: see baseline_loads(). The
 * single models are the head of the list after training: frozen, or refitted with
 * its functions kept.
 */
#ifndef GRIDPLAN_PERFORMANCE_BASELINE_H
#define GRIDPLAN_PERFORMANCE_BASELINE_H

#include "models/base/error.h"
#include "models/load_history.h"

#include <stdbool.h>

/* symbol, name on the wire, meaning */
#define BASELINES(X)                                                                   \
    X(SINGLE_FROZEN, single_frozen, "best combination after training, as it was then") \
    X(SINGLE_REFIT, single_refit, "the same functions, coefficients fitted again")     \
    X(UNIFORM_START, uniform_start, "loads as measured at the start of each run")      \
    X(LOAD_BLIND, load_blind, "as if nothing else ran: CPU 1, constant bandwidth")     \
    X(STOCHASTIC_NORMAL, stochastic_normal, "Schopf and Berman, normal distributions") \
    X(STOCHASTIC_INTERVAL, stochastic_interval, "Schopf and Berman, intervals")        \
    X(SCALAPACK, scalapack, "the library's analytic formula")

enum baseline {
#define X(symbol, name, meaning) BASELINE_##symbol,
    BASELINES(X)
#undef X
        BASELINE_COUNT
};

/* Indexed by enum baseline, ended by NULL. */
extern const char *const baseline_names[];

/* ---- stochastic values (Schopf and Berman) ---- */

/* mean +- spread (two standard deviations), or an interval's ends. */
struct stochastic {
    double mean, spread; /* normal: spread >= 0 */
};
struct stochastic_range {
    double low, high; /* interval: low <= high */
};

/* Unrelated values; `related` ones add their spreads linearly. */
struct stochastic stochastic_sum(struct stochastic x, struct stochastic y, bool related);
struct stochastic stochastic_product(struct stochastic x, struct stochastic y,
                                     bool related);
/* y.mean is not 0. */
struct stochastic stochastic_quotient(struct stochastic x, struct stochastic y,
                                      bool related);
/* The operand with the larger mean; ties: x. */
struct stochastic stochastic_max(struct stochastic x, struct stochastic y);

struct stochastic_range range_sum(struct stochastic_range x, struct stochastic_range y);
struct stochastic_range range_product(struct stochastic_range x,
                                      struct stochastic_range y);
/* 0 in y: an end is infinite, or both. */
struct stochastic_range range_quotient(struct stochastic_range x,
                                       struct stochastic_range y);
struct stochastic_range range_max(struct stochastic_range x, struct stochastic_range y);

/* Mean and two sample standard deviations; NAN, NAN: no value; spread 0: one. */
struct stochastic stochastic_of(const double *value, size_t count);

/* The same as an interval, clamped: a CPU to [0.01, 1], a link to [1, capacity]. */
struct stochastic_range range_of_cpu(struct stochastic cpu);
struct stochastic_range range_of_link(struct stochastic bandwidth, double capacity_mbps);

/* Work of one component on each of its processors and links. */
struct stochastic_work {
    double cpu_s;      /* on each processor, >= 0 */
    double mbit;       /* over each link, >= 0 */
    size_t iterations; /* times it is done one after the other, >= 1 */
};

struct stochastic_in {
    const struct stochastic_work *components; /* done one after the other */
    size_t component_count;
    const struct stochastic *cpu; /* available ratio of each processor, mean > 0 */
    size_t cpu_count;             /* >= 1 */
    const struct stochastic *bandwidth_mbps; /* of each link, mean > 0 */
    size_t link_count;                       /* 0: no communication */
    double capacity_mbps;                    /* of a link, >= 1 */
};

struct stochastic_time {
    struct stochastic normal;         /* s; the mean is its prediction */
    struct stochastic_range interval; /* s; the middle is its prediction */
};

/* A component takes the largest of cpu_s / cpu over the processors, then the
 * largest of mbit / bandwidth over the links; components and iterations add up.
 * Iterations and components meet the same load, so that their spreads add linearly;
 * computation and communication are unrelated (inferred).
 * ERR_INVALID: a mean not > 0 or not finite, a spread or work < 0. */
enum error_code stochastic_time(const struct stochastic_in *in,
                                struct stochastic_time *out, struct error *err);

/* ---- ScaLAPACK ---- */

/* T = Cf N^3/P tf + Cv N^2/sqrt(P) tv + Cm N/NB tm */
struct scalapack_in {
    double problem_size, processors;  /* N, P */
    double block_size;                /* NB */
    double flop_s, word_s, message_s; /* tf, tv, tm of the unloaded machines */
    double cpu_available_ratio;       /* tf is divided by it */
    double bandwidth_mbps; /* NAN: word_s as it is; else a word of 8 bytes over it */
    double flops, words, messages; /* Cf, Cv, Cm; NAN: those of PxSYEV with vectors,
                                      22/3, 5 log2 P, 17/2 NB + 2 */
};

/* Seconds; NAN when a number is not > 0 (times: < 0) or not finite. */
double scalapack_time_s(const struct scalapack_in *in);

/* ---- loads ---- */

struct baseline_load {
    double cpu_available_ratio, bandwidth_mbps;
};

/* The loads that a baseline gives our own model instead of the measured ones:
 * load_blind 1 and constant_mbps, uniform_start those of the run's start, all
 * others the measured ones. */
struct baseline_load baseline_loads(enum baseline b, struct baseline_load measured,
                                    struct baseline_load at_start, double constant_mbps);

#endif
