/* progress/progress.h - how long a running task will take, from its progress reports.
 *
 * Every report gives an estimate of the task's whole work, by extrapolation. The sequence
 * of estimates wanders and converges: it is fitted by simple functions that converge too,
 * and the limit of the one that fits best is the prediction:
 *
 *     psi1(t) = x1 + x2 exp(-x3 t)    estimates that fall     limit x1
 *     psi2(t) = y1 - y2 exp(-y3 t)    estimates that rise     limit y1
 *     constant                        their mean (only when asked for)
 *
 * with x2, y2 >= 0 and x3, y3 > 0. Work and estimates are in reference seconds: what the
 * reference machine (mips 1) does in a second with one task. Pure: same input, same bits.
 * Nothing here is about time in the future: see progress_remaining_ref_s().
 *
 * Source: spec runtime-prediction.md 2 to 6; workflows.md 3.2, 5.3, 6.3;
 * 000_168dd5aef5075332.txt [L2085-L2400]. Cost of a prediction: progress_predict().
 */
#ifndef GRIDPLAN_PROGRESS_H
#define GRIDPLAN_PROGRESS_H

#include "models/base/policy.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- extrapolation ---- */

/* One report of a task. Members are NAN where nothing is known; then mips_total is 1,
 * mips_external 0, job_count 1 and work_done_ref_s elapsed_s times the share. */
struct progress_sample {
    double elapsed_s;       /* run time so far, from the task's start, >= 0 */
    double progress_pct;    /* 0..100 */
    double mips_total;      /* speed of the resource, >= 0; 1: the reference machine */
    double mips_external;   /* part of it that load from outside takes, >= 0 */
    double job_count;       /* tasks that share the rest, with this one, >= 1 */
    double work_done_ref_s; /* integral of the share over the run time, >= 0 */
};

/* Part of the resource that the task gets: max(0, total - external) / tasks. */
double progress_share(double mips_total, double mips_external, double job_count);

/* 100 T share / P, of (5.4) and, without outside load, (6.2). P > 0. */
double progress_extrapolate_ref_s(double elapsed_s, double mips_total,
                                  double mips_external, double job_count,
                                  double progress_pct);

/* 100 W / P: right also after moves and changes of the load. P > 0. */
double progress_from_work_ref_s(double work_ref_s, double progress_pct);

/* The work after `duration_s` more at a constant share: the integral, step by step. */
double progress_work_ref_s(double work_ref_s, double duration_s, double share);

/* Percent of a simulation with a known end, or of a known number of runs: 100 done/total,
 * at most 100; total > 0. */
double progress_pct_of(double done, double total);

/* ---- histories ---- */

/* What a report says of the whole task. */
struct progress_point {
    double elapsed_s, work_ref_s, estimate_ref_s;
};

enum progress_warning {
    PROGRESS_WARN_BACKWARDS = 1,  /* the percentage fell from one report to the next */
    PROGRESS_WARN_DUPLICATES = 2, /* of reports of one instant the last one counts */
    PROGRESS_WARN_UNUSABLE = 4,   /* reports without progress, or of no finite estimate */
    PROGRESS_WARN_THINNED = 8,    /* more than max_points */
    PROGRESS_WARN_SHARE = 16,     /* the share changed, and the work done is not given */
    PROGRESS_WARN_WORK_FELL = 32, /* the work done fell from one report to the next */
    PROGRESS_WARN_SCREENED = 64,  /* single ones were not believed: progress_screen() */
    PROGRESS_WARN_COUNT = 7
};
/* Name on the wire and meaning, by bit. */
extern const char *const progress_warning_names[]; /* by bit, ended by NULL */
extern const char *const progress_warning_texts[];

/* Points of different, ascending elapsed_s. */
struct progress_history {
    const struct progress_point *points;
    size_t count;        /* after thinning */
    size_t sample_count; /* usable reports, before it */
    bool work_known;     /* every usable report had its work */
    bool finished;       /* the last report says 100 % */
    unsigned warnings;   /* bits of enum progress_warning */
};

/* Sorts, cleans and thins reports of any order. Numbers outside their ranges are the
 * caller's fault. O(n log n). */
enum error_code progress_history_of(const struct progress_sample *samples, size_t count,
                                    size_t max_points, struct progress_history *out,
                                    struct arena *a);

/* Leaves out reports that cannot be true beside their neighbours (screen.c); *dropped:
 * how many. Of fewer than five none. O(n log n). */
void progress_screen(const struct progress_history *in, struct progress_history *out,
                     size_t *dropped, struct arena *a);

/* Drops every other point of the older half until there are at most `max_points` >= 2;
 * returns the number left. For callers that grow a history point by point. */
size_t progress_thin(struct progress_point *points, size_t count, size_t max_points);

/* ---- prediction ---- */

/* name, number of parameters, purpose */
#define PROGRESS_FUNCTIONS(X)                      \
    X(psi1, 3, "Falls to its limit exponentially") \
    X(psi2, 3, "Rises to its limit exponentially") \
    X(constant, 1, "Stays: the mean of the points")

enum progress_function {
#define X(name, params, purpose) PROGRESS_##name,
    PROGRESS_FUNCTIONS(X)
#undef X
        PROGRESS_FUNCTION_COUNT
};
extern const char *const progress_function_names[]; /* ended by NULL */
enum { PROGRESS_PARAMS_MAX = 3 };

/* symbol, name, purpose, source */
#define PROGRESS_METHODS(X)                                                     \
    X(PROGRESS_VARPRO, varpro,                                                  \
      "Fits the estimates of a running task: separable least squares, bounded", \
      FROM(CITES(IN_WORK(golub1973, NULL)),                                     \
           BUT("One decay rate is searched on a grid and "                      \
               "by golden section, within bounds")))                            \
    X(PROGRESS_SIMPLEX, simplex,                                                \
      "Fits the estimates of a running task: Nelder-Mead from starting values", \
      CITES(IN_WORK(nelder1965, NULL), IN_WORK(chtepen2010, "chapter 6.3")))

enum progress_method {
#define X(symbol, name, purpose, source) symbol,
    PROGRESS_METHODS(X)
#undef X
        PROGRESS_METHOD_COUNT
};
extern const char *const progress_method_names[]; /* ended by NULL */
extern const struct policy progress_policies[];   /* likewise, ended by {0} */

enum progress_abscissa { PROGRESS_AUTO, PROGRESS_ELAPSED, PROGRESS_WORK };
enum progress_smoothing { PROGRESS_AS_IS, PROGRESS_MEDIAN, PROGRESS_MEAN };
enum progress_interval_rule {
    PROGRESS_CALIBRATED,  /* by the profile of the sum of squares: progress/interval.c */
    PROGRESS_SPEC,        /* by the curvature of the fit alone */
    PROGRESS_NO_INTERVAL, /* for callers that only want the estimate, and fast */
    PROGRESS_STEADY       /* the preset: also by the last report, and by fewer reports */
};
enum progress_filter {
    PROGRESS_FILTER_NONE,
    PROGRESS_FILTER_AVERAGE,
    PROGRESS_FILTER_AUTO
};
enum progress_rule { PROGRESS_RULE_WORK, PROGRESS_RULE_PCT };

/* One row of progress_params each, in this order. */
struct progress_options {
    enum progress_method method;
    size_t min_samples;  /* with fewer points E_n is the answer, >= 2 */
    double k_min, k_max; /* bounds of decay times observed range */
    double max_factor;   /* greatest limit, over the greatest estimate */
    enum progress_abscissa abscissa;
    enum progress_smoothing smoothing;
    size_t window; /* of the smoothing, odd */
    size_t max_points;
    bool strict_seed; /* as the seed: simplex, 2 samples, no range check */
    enum progress_interval_rule interval;
    enum progress_rule remaining_rule;
    enum progress_filter estimate_filter; /* of an extrapolation that answers */
    size_t filter_window;
    bool screen; /* by progress_screen(); never with strict_seed */
};
extern const struct param progress_params[];
enum { PROGRESS_OPTION_COUNT = 15 };

/* The presets of progress_params. */
struct progress_options progress_options_init(void);

/* What params_bind() found. ERR_INVALID (pointers "/options/NAME"): an even window, k_max
 * not above k_min. */
enum error_code progress_options_bind(const double *value, struct progress_options *out,
                                      struct error *err);

/* A function to fit, and where the simplex starts: x1, x2, x3 in units of the points. */
struct progress_function_in {
    enum progress_function function;
    bool has_init;
    double init[PROGRESS_PARAMS_MAX];
};

struct progress_application; /* progress/application.h */

struct progress_in {
    struct progress_history history;
    struct progress_options options;
    const struct progress_function_in *functions; /* NULL: psi1, psi2 */
    size_t function_count;
    double initial_estimate_ref_s; /* NAN: none; of a task without reports */
    size_t previous_count;         /* sample_count of the last prediction; 0: none */
    double previous_estimate_ref_s;
    const struct progress_application *known; /* of finished tasks; NULL: nothing */
};

/* Where the answer comes from. */
#define PROGRESS_SOURCES(X)                                            \
    X(none, "no report and no estimate: nothing to say")               \
    X(finished, "the task is done: its work")                          \
    X(cached, "no new report: the last prediction")                    \
    X(initial_estimate, "no report: the caller's estimate")            \
    X(single_sample, "one report: its extrapolation")                  \
    X(extrapolation, "too few reports to fit: the last extrapolation") \
    X(average, "the mean of the extrapolations, as they oscillate")    \
    X(fit, "limit of the function that fits best")                     \
    X(fallback, "the fit makes no sense: the last extrapolation")      \
    X(policy, "fits of this application were worse than extrapolation so far")

enum progress_source {
#define X(name, meaning) PROGRESS_FROM_##name,
    PROGRESS_SOURCES(X)
#undef X
        PROGRESS_SOURCE_COUNT
};
extern const char *const progress_source_names[], *const progress_source_texts[];

enum progress_flag {
    PROGRESS_AT_LOWER_BOUND = 1, /* the trend does not bend yet: low confidence */
    PROGRESS_AT_UPPER_BOUND = 2, /* no trend: practically the mean of the later points */
    PROGRESS_OSCILLATING = 4,    /* by progress_oscillates(), over filter_window */
    PROGRESS_CORRECTED = 8,      /* by what first reports of the application said */
    PROGRESS_FLAG_COUNT = 4
};
extern const char *const progress_flag_names[]; /* by bit, ended by NULL */

/* Why a fallback was taken. */
enum progress_fallback { PROGRESS_NO_FIT, PROGRESS_LIMIT_OUT_OF_RANGE };
extern const char *const progress_fallback_names[]; /* by enum, ended by NULL */

struct progress_candidate {
    enum progress_function function;
    size_t param_count;
    double param[PROGRESS_PARAMS_MAX]; /* x1, x2, x3 in units of the points */
    double res_norm;                   /* sum of squared residuals; HUGE_VAL: no fit */
    double limit_ref_s;
    unsigned flags; /* of the bounds */
};

struct progress_out {
    enum progress_source source;
    const char *reason;        /* of a fallback: of progress_fallback_names; else NULL */
    double estimate_ref_s;     /* the whole task; NAN: source none */
    double extrapolated_ref_s; /* last E_n; NAN: no report */
    double low_ref_s, high_ref_s; /* 90 %; hold the estimate; NAN: none */
    double residual_stddev_s;     /* of a fit; NAN: not more than 3 points */
    unsigned flags;
    size_t dropped_count; /* reports that were not believed */
    size_t chosen;        /* index into the candidates; meaningful for fit and fallback */
    const struct progress_candidate *candidates; /* in the order of the functions */
    size_t candidate_count;                      /* 0: nothing was fitted */
};

/* Some 250 exponentials for each point
 * with varpro, for both functions together; up to 5000 for each with simplex; the
 * calibrated interval 100 more (350 at k_min). */
enum error_code progress_predict(const struct progress_in *in, struct progress_out *out,
                                 struct arena *a);

/* Share of true values that the interval aims at. */
#define PROGRESS_INTERVAL_LEVEL 0.9

/* ---- what a scheduler does with it ---- */

/* Reference seconds still to do: max(0, E - W), or E (1 - P/100), which is right only for
 * extrapolations. */
double progress_remaining_ref_s(enum progress_rule rule, double estimate_ref_s,
                                double work_ref_s, double progress_pct);

/* Wall time of that on a resource where `job_count` tasks share, with this one; HUGE_VAL
 * on one without free speed. */
double progress_remaining_s(double remaining_ref_s, double mips_total,
                            double mips_external, double job_count);

/* Whether the last `window` (>= 5, 8 is usual) of the estimates change direction at least
 * three times, changes below 1 % of their mean not counted. */
bool progress_oscillates(const double *estimate_ref_s, size_t count, size_t window);

/* The last estimate, or the mean of all (E^avg) as the filter says; count >= 1. */
double progress_filtered_ref_s(enum progress_filter filter, const double *estimate_ref_s,
                               size_t count, size_t window);

#endif
