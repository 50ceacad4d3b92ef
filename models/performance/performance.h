/* performance/performance.h - predicting the run time of a parallel application.
 *
 * A model set belongs to one application (or one phase of it) on one site. It holds
 * not one model but a ranked list of combinations (combination.h), found by a search
 * in three stages over runs on one, two, and more processors; with every further run
 * the list is refined, ranked again, and loses what is persistently last.
 *
 * What a caller keeps. A set is plain data: everything in struct perf_model_set and
 * the arrays it points to, each combination as perf_combination_pack() numbers, is
 * all that perf_predict() and perf_update() need, in any process, for ever; the runs
 * themselves are not. Rows of runs are needed again only where a function takes
 * them: perf_train(), perf_reform() (every 50 predictions) and, when the list is
 * ranked by APPE, perf_update(). The caller stores runs, gives the latest
 * PERF_SAMPLES_MAX in the order in which they ended, and changes the stored set by
 * compare-and-set on `version`.
 *
 * Nothing here fails because of what the runs are: too few, alike, absurd runs give
 * a set that says so in `status`, and a prediction says why there is none.
 *
 * Source: spec performance-models.md 3-12 and 22; 003_a5f9349f46eae656 chapter 3.
 */
#ifndef GRIDPLAN_PERFORMANCE_PERFORMANCE_H
#define GRIDPLAN_PERFORMANCE_PERFORMANCE_H

#include "models/base/budget.h"
#include "models/base/error.h"
#include "models/performance/combination.h"

#include <stdint.h>

enum {
    PERF_SAMPLES_MAX = 2000,   /* latest runs of a fit */
    PERF_SINGLE_MAX = 20,      /* length of the stage 1 list */
    PERF_PAIRS_MAX = 20,       /* of the stage 2 list */
    PERF_SORTED_MAX = 1000,    /* of the sorted list of a new set; re-formed as well */
    PERF_REFORM_PERIOD = 50,   /* predictions */
    PERF_TRAINED_SAMPLES = 30, /* runs from which a site has a model of its own */
    PERF_RECENT_MAX = 20,      /* errors kept to choose between scaled and refit */
};

/* symbol, name on the wire, what to tell the caller. What is valid and yet cannot
 * be done; the first is "it can". */
#define PERF_STATUSES(X)                                                                \
    X(READY, ready, "Done")                                                             \
    X(INSUFFICIENT_SAMPLES, insufficient_samples, "Too few usable runs")                \
    X(RANK_DEFICIENT, rank_deficient,                                                   \
      "The runs are too much alike to tell the terms of a model apart")                 \
    X(BELOW_MIN_PROCESSORS, below_min_processors,                                       \
      "The application cannot run on so few processors, or has no model for them")      \
    X(RESOURCE_UNUSABLE, resource_unusable, "A resource has no CPU or no bandwidth")    \
    X(NO_USABLE_COMBINATION, no_usable_combination, "No combination fits this request") \
    X(PHASE_MODEL_MISSING, phase_model_missing, "A phase has no model")

enum perf_status {
#define X(symbol, name, doc) PERF_##symbol,
    PERF_STATUSES(X)
#undef X
        PERF_STATUS_COUNT
};

extern const char *const perf_status_names[]; /* by enum perf_status, ended by NULL */
extern const char *const perf_status_texts[];

enum perf_profile { PERF_THESIS, PERF_ROBUST };
extern const char *const perf_profile_names[]; /* "thesis", "robust", NULL */

/* How a set is made and kept; part of what is stored with it. */
struct perf_options {
    struct perf_fit_rule rule;
    bool leave_out_outliers;
    bool assess_outliers; /* perf_update() says itself which runs are; else the caller */
    bool guard;           /* answer far queries with care, see perf_predict() */
    bool by_appe;         /* rank by APPE over the rows, not by standard error */
    bool replace_on_reform;  /* a re-formed list replaces the old one; else union */
    bool extended;           /* also ids 0, 17 and 18 of P */
    size_t min_processors;   /* 1 ..; above 1 two stages instead of three */
    bool pruned;             /* then: random search with pruning, not all fits */
    double threshold_factor; /* of that search, > 1 */
    uint64_t seed;           /* of that search */
};

/* thesis: as the source. robust: relative, nonnegative, without outliers, guarded. */
struct perf_options perf_options_of(enum perf_profile profile);

/* Least and greatest value seen; NAN: none. */
struct perf_range {
    double low, high;
};

/* What a list was fitted to. */
struct perf_seen {
    size_t sample_count;
    struct perf_range problem_size, processors, cpu_available_ratio, bandwidth_mbps;
};

/* symbol, name on the wire */
#define PERF_STATES(X)                                                   \
    X(UNKNOWN, unknown)                                                  \
    X(COLLECTING, collecting) /* fewer than PERF_TRAINED_SAMPLES runs */ \
    X(TRAINED, trained)                                                  \
    X(PORTED, ported) /* from another site's set, until there are runs enough */

enum perf_state {
#define X(symbol, name) PERF_STATE_##symbol,
    PERF_STATES(X)
#undef X
        PERF_STATE_COUNT
};

extern const char *const perf_state_names[];

void perf_seen_clear(struct perf_seen *seen);
void perf_seen_add(struct perf_seen *seen, const struct perf_sample *sample);

/* A list of combinations, best first. */
struct perf_list {
    struct perf_combination *items;
    size_t count;
};

/* Running errors of a way to predict: the latest are kept, in a ring. */
struct perf_recent {
    double ppe_ratio[PERF_RECENT_MAX]; /* |actual - predicted| / actual */
    size_t count;                      /* kept */
    size_t next;                       /* place of the next one */
};

/* What a set that was ported knows of where it came from. */
struct perf_reference {
    double cpu_factor, bandwidth_factor; /* R_cpu, R_bw: multiply the reference's terms */
    struct perf_combination top;         /* that predicts with the factors */
    struct perf_list single;             /* the reference's stage 1 list, may be empty */
    struct perf_seen single_seen, parallel_seen; /* the reference's */
    struct perf_recent scaled, refit;            /* errors on this site's runs */
};

struct perf_model_set {
    enum perf_status status; /* READY, or why there are no combinations */
    enum perf_state state;
    struct perf_options options;
    struct perf_list single; /* stage 1: runs on one processor */
    struct perf_list pairs;  /* stage 2: on two; what a prediction does not need */
    struct perf_list sorted; /* stage 3: on two and more */
    struct perf_seen single_seen, parallel_seen;
    size_t predictions_since_reform;
    size_t version;      /* 1 after training; + 1 with every change */
    size_t sample_count; /* runs that were given or added, usable or not */
    size_t outlier_count;
    struct perf_reference *reference; /* NULL: not ported */
};

/* What a training did. */
struct perf_report {
    size_t fits_evaluated; /* least squares problems */
    size_t single_kept, pairs_kept;
    size_t single_samples, pair_samples, parallel_samples; /* rows used by each stage */
    size_t ignored_count;       /* rows that are no run: not positive, not finite */
    size_t distinct_processors; /* >= 2 (or the minimum) among the rows */
    size_t cells_evaluated;     /* of the pruned search */
    bool cut;                   /* the budget ended a stage early */
};

/* Is this a run that can be learned from? NULL, or the name of what is wrong:
 * "problem_size", "processors", "cpu_available_ratio", "bandwidth_mbps", "time_s". */
const char *perf_sample_fault(const struct perf_sample *sample);

/* Learns a set from runs in the order in which they ended. *out gets status READY
 * and version 1, or status INSUFFICIENT_SAMPLES or RANK_DEFICIENT and no sorted
 * list. Needs 3 runs on one processor, 5 on two, 5 on two and more with at least two
 * different numbers of processors; with options.min_processors > 1 5 runs on that
 * and 5 on that and more. Ignored rows (perf_sample_fault) are counted in *report.
 * O(runs): 17,000 fits, some milliseconds for 60 runs. Polls the budget about every
 * millisecond. */
enum error_code perf_train(const struct perf_sample *samples, size_t count,
                           const struct perf_options *options, struct budget *budget,
                           struct perf_model_set *out, struct perf_report *report,
                           struct arena *a, struct error *err);

/* ---- predictions ---- */

/* symbol, name on the wire */
#define PERF_METHODS(X)                                                               \
    X(NATIVE, native)     /* the site's own model */                                  \
    X(SCALED, scaled)     /* the reference's, by R_cpu and R_bw */                    \
    X(REFIT, refit)       /* the reference's functions, fitted to this site's runs */ \
    X(FALLBACK, fallback) /* no combination gave a positive time: one refitted >= 0 */

enum perf_method {
#define X(symbol, name) PERF_##symbol,
    PERF_METHODS(X)
#undef X
};
extern const char *const perf_method_names[];

/* symbol (a bit), name on the wire, what to tell the caller */
#define PERF_WARNINGS(X)                                                             \
    X(SIZE_FAR, problem_size_far,                                                    \
      "The problem size is over twice the greatest or under half the least seen")    \
    X(PROCESSORS_FAR, processors_far,                                                \
      "There are more than twice the processors of any run seen")                    \
    X(CPU_BELOW, cpu_below_seen, "Less CPU is available than in any run seen")       \
    X(BANDWIDTH_BELOW, bandwidth_below_seen,                                         \
      "Less bandwidth is available than in any run seen")                            \
    X(CPU_RAISED, cpu_raised, "The available CPU was raised to 0.01")                \
    X(BANDWIDTH_RAISED, bandwidth_raised, "The bandwidth was raised to 0.01 Mbit/s") \
    X(GUARDED, guarded,                                                              \
      "The best five disagree far from what was seen: the answer is their median")   \
    X(HEAD_SKIPPED, head_skipped, "The best combination has no usable time here")    \
    X(FELL_BACK, fallback,                                                           \
      "No combination gives a positive time: refitted with coefficients >= 0")       \
    X(FEW_SAMPLES, few_samples, "The model has seen fewer than 30 runs")

enum perf_warning_bit {
#define X(symbol, name, doc) PERF_BIT_##symbol,
    PERF_WARNINGS(X)
#undef X
        PERF_WARNING_COUNT
};

enum perf_warning { /* the bits as values */
#define X(symbol, name, doc) PERF_WARN_##symbol = 1 << PERF_BIT_##symbol,
                    PERF_WARNINGS(X)
#undef X
};

extern const char *const perf_warning_names[]; /* by bit, ended by NULL */
extern const char *const perf_warning_texts[];

struct perf_prediction {
    enum perf_status status; /* READY: the rest is filled; else times are NAN */
    enum perf_method method;
    double time_s; /* > 0 and finite */
    double computation_s, communication_s;
    size_t rank; /* of the combination in its list, from 1; 0: the reference's top */
    const struct perf_combination *combination; /* that gave the time; in the set */
    unsigned warnings;                          /* of enum perf_warning */
    double problem_size_ratio; /* over the greatest seen, below 1 inside; NAN: unknown */
    double processors_ratio;
    double head_time_s; /* of the best usable one, where `guarded` gave another */
};

/* The time of one run. The first combination of the list with a positive finite time
 * answers. With options.guard, where a query is far (the first four warnings), the
 * median of the best five usable ones answers instead if the best differs from it by
 * more than a factor of 3 (of an even number the greater of the middle two).
 * A ported set answers by the reference's model or by its own refitted one, whichever
 * erred less on the last PERF_RECENT_MAX runs here. O(terms), without memory. Values
 * out of range (negative, CPU above 1, NAN) are the caller's to refuse; here they
 * give RESOURCE_UNUSABLE or NO_USABLE_COMBINATION. */
void perf_predict(const struct perf_model_set *set, const struct perf_query *query,
                  struct perf_prediction *out);

/* The set at one problem size, for schedulers: the first combination whose two sides
 * are not negative there. *single_s: time on one free processor, NAN if the set has
 * no model for it. READY, or what perf_predict() would say. */
enum perf_status perf_set_term(const struct perf_model_set *set, double problem_size,
                               struct perf_term *term, double *single_s);

/* ---- refinement ---- */

struct perf_update {
    bool used;         /* the run is in the fit: usable, no outlier that is left out */
    bool outlier;      /* its prediction was more than four times the actual time */
    double ppe_ratio;  /* |actual - predicted| / actual; NAN: it had no prediction */
    size_t evicted;    /* combinations that left the list */
    bool reform_due;   /* call perf_reform() with the runs */
    bool training_due; /* a ported or collecting set now has runs enough: perf_train() */
};

/* One more run refines the set in place: each combination in O(terms^2) from its
 * triangle, equal to a fit of all runs; then the list is ranked again and loses what
 * was in its worst tenth five times in a row. predicted_s: what had been answered for
 * this run, NAN: nothing (then it does not count towards a re-form). The caller sees
 * to it that a run is added once.
 *
 * `rows`: all runs with the new one at the end, only for options.by_appe; else NULL.
 * The arrays of the set are changed in place; nothing is allocated. */
void perf_update(struct perf_model_set *set, const struct perf_sample *sample,
                 double predicted_s, const struct perf_sample *rows, size_t row_count,
                 struct perf_update *out);

/* Stages 2 and 3 anew over all runs, joined to the old list (or instead of it, by
 * options.replace_on_reform), cut by the keep rule; statistics built anew, streaks of
 * old entries kept. A set whose new stages find nothing keeps what still fits. Resets
 * predictions_since_reform. Costs and fails as perf_train(). */
enum error_code perf_reform(struct perf_model_set *set, const struct perf_sample *samples,
                            size_t count, struct budget *budget,
                            struct perf_report *report, struct arena *a,
                            struct error *err);

/* A copy of a set with arrays of its own, to refine while the old one answers. */
void perf_set_copy(const struct perf_model_set *set, struct perf_model_set *out,
                   struct arena *a);

/* ---- several phases ---- */

/* The sum over phases, each of its own set and query. sets[i] NULL or without a
 * model: PHASE_MODEL_MISSING, unless `share` (of phase i in the whole time, one for
 * each phase) is given: the sum of the known ones is then divided by 1 less the
 * missing ones' shares. Each phase's answer goes to phases[i], the status of a
 * missing one with it. *time_s: NAN unless READY. */
enum perf_status perf_predict_phases(const struct perf_model_set *const *sets,
                                     const struct perf_query *queries, size_t count,
                                     const double *share, struct perf_prediction *phases,
                                     double *time_s);

#endif
