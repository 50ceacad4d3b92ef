/* ensemble/ensemble.h - the time of a run from whatever is known of it.
 *
 * A run has inputs: numbers, and texts (categories) that are given as the number
 * ensemble_text() makes of them, which is below all others. Any may be missing. y is the
 * logarithm of what is to be predicted. Members answer with an estimate of y, or not at
 * all:
 *
 *     ridge      least squares over ln x, its square and the categories
 *     trees      boosting on what the ridge leaves over, from 24 runs
 *     scale_out  a + b size/n + c ln n + d n, per context with three configurations
 *     linear     a + b size/processors, likewise
 *     comprehensive  functions of size, processors, free CPU and bandwidth, where all
 * runs have them
 *
 * A configuration is all inputs, a context all but problem size and processors. Each
 * member's error e is measured on configurations that it was not fitted to (that of
 * comprehensive, which is dear to fit, on runs before they were learnt), for three groups
 * of questions (models/performance/log_interval.h), and its weight is e^-4. A
 * question whose configuration was seen is moved by the median of what the ensemble was
 * wrong by there.
 *
 * Sources: T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical Learning",
 * 2009 (ridge, boosting, cross-validation); J. Will et al., "C3O", 2021 (choice between
 * models by cross-validation); J. Bader et al., "Lotaru", 2022 (per-task lines).
 */
#ifndef GRIDPLAN_ENSEMBLE_H
#define GRIDPLAN_ENSEMBLE_H

#include "models/base/arena.h"
#include "models/base/budget.h"
#include "models/performance/log_interval.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ENSEMBLE_INPUTS_MAX = 32,     /* that a run may have */
    ENSEMBLE_NUMBERS_MAX = 24,    /* that are known: numbers */
    ENSEMBLE_CATEGORICAL_MAX = 8, /* and texts */
    ENSEMBLE_VALUES_MAX = 63,     /* of a text; the others are alike */
    ENSEMBLE_HISTORY_MAX = 8,     /* runs of a configuration that count */
    ENSEMBLE_NOTED_MAX = 100,     /* predictions before their runs were learnt */
};

/* symbol, name, prior errors: same, inside, outside */
#define ENSEMBLE_MEMBERS(X)                   \
    X(RIDGE, ridge, 0.10, 0.12, 0.20)         \
    X(TREES, trees, 0.10, 0.10, 0.20)         \
    X(SCALE_OUT, scale_out, 0.10, 0.12, 0.15) \
    X(LINEAR, linear, 0.10, 0.15, 0.10)       \
    X(COMPREHENSIVE, comprehensive, 0.20, 0.20, 0.20)

enum ensemble_member {
#define X(symbol, name, same, inside, outside) ENSEMBLE_##symbol,
    ENSEMBLE_MEMBERS(X)
#undef X
        ENSEMBLE_MEMBER_COUNT
};
extern const char *const ensemble_member_names[]; /* ended by NULL */

/* The number that stands for a text: 52 bits of its hash, between -2^55 and -2^54, where
 * no input is. */
double ensemble_text(const char *text);
bool ensemble_is_text(double value);
/* A number among texts, as one. */
double ensemble_text_of_number(double number);

struct ensemble_run {
    const double *value; /* of each input; NAN: not known */
    double y;            /* finite */
    double weight;       /* 0..1; 0: is predicted in its fold, never fitted to */
    bool is_bound;       /* y is only the least it may be: no error is taken of it */
};

struct ensemble_data {
    const struct ensemble_run *run;
    size_t run_count, input_count;
    const size_t *order;     /* of the inputs: those that come first are taken first, and
                                win ties; NULL: as they are */
    size_t size, processors; /* which inputs these are; SIZE_MAX: none is */
    bool has_terms;          /* the first ones are those of names.h: cpu_available_ratio,
                                bandwidth_mbps */
    const struct ensemble *before; /* the fit before; NULL: none, or not to be gone on
                                      with */
};

/* An input that at least half of the runs have. */
struct ensemble_input {
    size_t column; /* of the data */
    bool is_text, is_used;
    bool is_whole;                     /* no run lacks it */
    double low, high, mean;            /* of a number; low = high: it never varied */
    double value[ENSEMBLE_VALUES_MAX]; /* of a text, most frequent first */
    size_t value_count;
    bool has_rest; /* there were other values */
};

struct ensemble_error {
    double error;  /* actual - predicted, of y */
    double spread; /* of the members */
    double configuration;
    enum log_group group;
};

/* A configuration that was seen, and what the ensemble is wrong by there. */
struct ensemble_history {
    double key;
    size_t count; /* at most ENSEMBLE_HISTORY_MAX, the latest, oldest first */
    double residual[ENSEMBLE_HISTORY_MAX];
};

/* What the member comprehensive was wrong by on a run before it was learnt. */
struct ensemble_noted {
    double error, y; /* actual - predicted; actual */
    enum log_group group;
};

struct ensemble_members; /* internal.h */

struct ensemble {
    struct ensemble_input input[ENSEMBLE_INPUTS_MAX];
    size_t input_count;      /* known ones */
    bool inputs_cut;         /* there were more than are taken */
    size_t size, processors; /* of these; SIZE_MAX: not known */
    struct ensemble_members *members;
    double member_error[LOG_GROUP_COUNT][ENSEMBLE_MEMBER_COUNT]; /* e */
    size_t member_runs[ENSEMBLE_MEMBER_COUNT]; /* that it answered in cross-validation */
    struct ensemble_history *history;          /* by key */
    size_t history_count, history_room;
    struct ensemble_noted noted[ENSEMBLE_NOTED_MAX]; /* the latest, oldest first */
    size_t noted_count;
    struct ensemble_error *error; /* of the fit; not packed */
    size_t error_count;
    size_t run_count; /* fitted to */
};

/* Fits to runs in the order of learning. At least one has a weight above 0, else no
 * member answers. A budget that is spent leaves cross-validation and trees out. */
void ensemble_fit(const struct ensemble_data *data, struct budget *budget,
                  struct ensemble *out, struct arena *a);

struct ensemble_answer {
    double y;                             /* NAN: no member answers */
    double spread;                        /* u: of the members, >= 0 */
    double member[ENSEMBLE_MEMBER_COUNT]; /* NAN: it does not answer */
    enum log_group group;
    double distance;          /* d >= 1 */
    size_t far_input;         /* column of the data */
    double constant_distance; /* over inputs that never varied */
    size_t constant_input;
    double runs;          /* of its configuration, at most ENSEMBLE_HISTORY_MAX */
    bool is_unknown;      /* an input is missing, a category was never seen, or d > 1.5 in
                             the group outside */
    size_t missing_count; /* inputs that varied and are not given; */
    size_t missing_input; /* column of the first of them */
    size_t new_text_count;                  /* categories that were never seen, */
    bool new_text[ENSEMBLE_INPUTS_MAX + 1]; /* by column of the data */
};

/* What the ensemble says of a run with these inputs (as in the data). */
void ensemble_predict(const struct ensemble *e, const double *value,
                      struct ensemble_answer *out);

/* A further run of a configuration: its history, in O(members + log configurations). */
void ensemble_see(struct ensemble *e, const double *value, double y, struct arena *a);

/* What the member comprehensive would have said of a run, before it is learnt: it is
 * weighed by that in the next fit. */
void ensemble_note(struct ensemble *e, const double *value, double y);

/* The latest so many are forgotten: they are of after a change. */
void ensemble_forget(struct ensemble *e, size_t count);

/* ---- parts, for tests ---- */

/* e of a member: `prior` counts for four runs of weight 1. */
double ensemble_error_of(double prior, const double *weight, const double *error,
                         size_t count);
double ensemble_weight(double error);
/* Weighted mean of the members that answer, and their spread. */
void ensemble_mix(const double *member, const double *weight, double *y, double *spread);
/* What is added for a configuration of which these are the residuals. */
double ensemble_moved(const double *residual, size_t count);

/* All of it as numbers, and back. out NULL: only how many. */
size_t ensemble_pack(const struct ensemble *e, double *out);
/* false: these are not the numbers of an ensemble. */
bool ensemble_unpack(const double *packed, size_t count, struct ensemble *out,
                     struct arena *a);

#endif
