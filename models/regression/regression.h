/* regression/regression.h - run times of applications without a communication model.
 *
 * A run has inputs (numbers such as the data size, the machines, a matrix order)
 * and a time. A kind of model is fitted to runs and predicts the time of another:
 *
 *     linear       a + b x where |r| >= 0.75, else the median (Lotaru)
 *     scale_out    a + b size/n + c log n + d n, none of them negative (Ernest, C3O)
 *     normal_form  c0 + sum of c x^i log2(x)^j ..., terms by cross-validation (Extra-P)
 *     power_law    c N^e; warm-ups and other outliers found and left out
 *
 * All a fitted model is are arrays of doubles: coefficients, which predict() needs,
 * and statistics, with which refine() takes in another run in O(inputs^2) without
 * the runs before. Kinds are pure: same runs, same bits. What cannot be answered
 * (no runs, a query far outside) gives a reason, never a negative or absurd time.
 *
 * Sources: Bader et al., "Lotaru", SSDBM 2022; Venkataraman et al., "Ernest", NSDI
 * 2016, and Will et al., "C3O", 2021; Calotoiu et al., "Using automated performance
 * modeling", SC 2013. Each file says more.
 */
#ifndef GRIDPLAN_REGRESSION_H
#define GRIDPLAN_REGRESSION_H

#include "models/base/error.h"

#include <stdbool.h>

enum {
    REGRESSION_INPUTS_MAX = 8,
    REGRESSION_SAMPLES_MAX = 100000,
    REGRESSION_COEFFICIENTS_MAX = 256,
    REGRESSION_STATISTICS_MAX = 256,
};

/* name, least inputs, most inputs, refines, purpose, source */
#define REGRESSION_KINDS(X)                                                             \
    X(linear, 1, 8, true, "Straight line over the input that explains most, or median", \
      "Lotaru, SSDBM 2022")                                                             \
    X(scale_out, 2, 2, true, "Data size over machines, with overheads that grow",       \
      "Ernest, NSDI 2016; C3O, 2021")                                                   \
    X(normal_form, 1, 3, false, "Powers and logarithms of the inputs, cross-validated", \
      "Extra-P, SC 2013")                                                               \
    X(power_law, 1, 1, true, "Power of one input, warm-ups left out", "ours")

/* Runs to fit to. Numbers may be anything: what cannot be used is counted. */
struct regression_data {
    size_t input_count;   /* 1..REGRESSION_INPUTS_MAX */
    const double *inputs; /* sample_count rows of input_count; scale_out: n, size */
    const double *time_s; /* sample_count */
    size_t sample_count;  /* <= REGRESSION_SAMPLES_MAX */
};

/* symbol, name on the wire, meaning */
#define REGRESSION_REASONS(X)                                                     \
    X(OK, ok, "answered")                                                         \
    X(NO_DATA, no_data, "no usable run")                                          \
    X(TOO_FEW, insufficient_samples, "too few runs that differ")                  \
    X(RANK, rank_deficient, "the inputs do not tell the terms apart")             \
    X(BAD_INPUT, bad_input, "an input is not a number that the model can take")   \
    X(FAR, far_extrapolation, "more than a thousand times outside what was seen") \
    X(ABSURD, implausible, "a time out of all proportion to those seen")          \
    X(NOT_POSITIVE, not_positive, "the formula gives no positive time there")     \
    X(NOT_FINITE, not_finite, "the numbers are too large or too small to compute with")

enum regression_reason {
#define X(symbol, name, meaning) REGRESSION_##symbol,
    REGRESSION_REASONS(X)
#undef X
};

/* Indexed by enum regression_reason, ended by NULL. */
extern const char *const regression_reason_names[];

/* All that is kept of a fitted model. */
struct regression_model {
    size_t input_count;
    double coefficients[REGRESSION_COEFFICIENTS_MAX];
    size_t coefficient_count;
    double statistics[REGRESSION_STATISTICS_MAX]; /* for refine() */
    size_t statistic_count;                       /* 0: cannot be refined */
};

/* What the fit says of itself. */
struct regression_report {
    enum regression_reason reason; /* OK: the model can predict */
    size_t used_count;             /* runs fitted to */
    size_t unusable_count;         /* not finite, time <= 0, input the kind cannot take */
    const size_t *outliers;        /* indexes of runs left out, ascending */
    size_t outlier_count;
    size_t warm_up_count;    /* of the outliers: first of the runs with their inputs */
    const char *formula;     /* for people, with the names given, or x1, x2, ... */
    double appe_pct;         /* on the runs fitted to; NAN: none */
    double cross_appe_pct;   /* each run predicted without it; NAN: not computed */
    double standard_error_s; /* NAN: no degree of freedom */
    double correlation;      /* linear: r of the chosen input; others NAN */
    double r_squared;        /* NAN: times do not differ */
};

/* symbol, name on the wire, meaning */
#define REGRESSION_BASES(X)                                                 \
    X(NONE, none, "too few runs for an interval")                           \
    X(RESIDUALS, training, "scatter of the runs around the fitted formula") \
    X(QUANTILES, training_quantiles, "quantiles of the times seen")

enum regression_basis {
#define X(symbol, name, meaning) REGRESSION_BASIS_##symbol,
    REGRESSION_BASES(X)
#undef X
};

/* Indexed by enum regression_basis, ended by NULL. */
extern const char *const regression_basis_names[];

struct regression_prediction {
    enum regression_reason reason; /* not OK: time_s and the interval are NAN */
    double time_s;                 /* > 0 */
    double low_s, high_s;          /* 0 <= low <= time <= high; NAN with basis NONE */
    double level;
    enum regression_basis basis;
    double extrapolation_ratio; /* how far outside the runs, >= 1; 1: inside; the worst
                                   input counts. Above 2: say so to the caller */
    size_t extrapolated_input;  /* index of that input */
    bool floored; /* time_s is the least time seen: the formula gave none above 0 there */
};

struct regression_options {
    const char *const *input_names; /* for the formula; NULL: x1, x2, ... */
    /* power_law: runs with a smaller input are passed over; NAN: where the law
     * begins is found; 0: all count. */
    double min_input;
};

typedef enum error_code regression_fit_fn(const struct regression_data *data,
                                          const struct regression_options *options,
                                          struct regression_model *model,
                                          struct regression_report *report,
                                          struct arena *a, struct error *err);
/* What intervals of a level need, worked out once for many predictions. */
struct regression_level {
    double level;    /* 0..1; NAN: no interval */
    double freedom;  /* degrees that the next holds for; NAN: it is not worked out */
    double quantile; /* t with P(|T| < t) = level for Student's T */
};

typedef void regression_predict_fn(const struct regression_model *model,
                                   const double *inputs,
                                   const struct regression_level *level,
                                   struct regression_prediction *out);
/* Degrees of freedom of its residuals, for any inputs; NAN: none. */
typedef double regression_freedom_fn(const struct regression_model *model);
/* false: the run cannot be used (bad numbers, an outlier); the model stays. */
typedef bool regression_refine_fn(struct regression_model *model, const double *inputs,
                                  double time_s);

typedef const char *regression_formula_fn(const struct regression_model *model,
                                          const char *const *input_names,
                                          struct arena *a);

#define X(name, least, most, refines, purpose, source) \
    regression_formula_fn regression_formula_##name;   \
    regression_fit_fn regression_fit_##name;           \
    regression_predict_fn regression_predict_##name;   \
    regression_freedom_fn regression_freedom_##name;   \
    regression_refine_fn regression_refine_##name;
REGRESSION_KINDS(X)
#undef X

struct regression_kind {
    const char *name, *purpose, *source;
    size_t inputs_min, inputs_max;
    bool refines;
    regression_fit_fn *fit;
    regression_predict_fn *predict;
    regression_freedom_fn *freedom;
    regression_refine_fn *refine;
    regression_formula_fn *formula;
};

/* Every kind, ended by {0}. */
extern const struct regression_kind regression_kinds[];

const struct regression_kind *regression_kind_find(const char *name);

/* Fits. With a reason in the report the model must not be used. ERR_INVALID: a
 * number of inputs that the kind does not take ("/inputs"), too many runs
 * ("/samples"). options may be NULL. */
enum error_code
regression_fit(const struct regression_kind *kind, const struct regression_data *data,
               const struct regression_options *options, struct regression_model *model,
               struct regression_report *report, struct arena *a, struct error *err);

/* `inputs`: model->input_count numbers, any. 0 < level < 1; NAN: no interval. A model
 * that was read from storage with wrong counts answers with a reason. */
void regression_predict(const struct regression_kind *kind,
                        const struct regression_model *model, const double *inputs,
                        double level, struct regression_prediction *out);

/* The same of a level that is worked out, at best for this model: O(inputs), and a
 * hundred times as fast. */
struct regression_level regression_level_of(const struct regression_kind *kind,
                                            const struct regression_model *model,
                                            double level);
void regression_predict_at(const struct regression_kind *kind,
                           const struct regression_model *model, const double *inputs,
                           const struct regression_level *level,
                           struct regression_prediction *out);

/* Takes in one more run; false: it was not used, or the kind does not refine. */
bool regression_refine(const struct regression_kind *kind, struct regression_model *model,
                       const double *inputs, double time_s);

/* The input over which a model of the kind linear has its line; SIZE_MAX: it is none, or
 * its answer is the median whatever the inputs. */
size_t regression_linear_input(const struct regression_model *model);

/* A model of the kind scale_out at one problem size: a, b size, c and d. False: it is
 * none, or the size is none that it can take. */
enum { REGRESSION_SCALE_OUT_TERMS = 4 };
bool regression_scale_out_parts(const struct regression_model *model, double problem_size,
                                double part[REGRESSION_SCALE_OUT_TERMS]);

/* The formula of a model, e.g. of one read from storage; NULL: it is none of
 * this kind. */
const char *regression_formula(const struct regression_kind *kind,
                               const struct regression_model *model,
                               const char *const *input_names, struct arena *a);

#endif
