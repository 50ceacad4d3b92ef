/* fitted/fitted.h - a fitted model of any kind: trained, refined, asked, kept.
 *
 * The kinds differ in their mathematics (models/performance, models/regression) and
 * are alike to the API: from runs comes a model, from a model and a query a time with
 * an interval, from a model and one more run a better model. What a model knows of
 * its own errors is kept here too: every run is predicted before it is learnt.
 *
 * Pure: no database, no clock. A model is kept as numbers (fitted_pack()).
 */
#ifndef GRIDPLAN_FITTED_H
#define GRIDPLAN_FITTED_H

#include "models/base/value.h"
#include "models/ensemble/names.h"
#include "models/fitted/similar.h"
#include "models/performance/drift.h"
#include "models/performance/interval.h"
#include "models/performance/log_interval.h"
#include "models/performance/performance.h"
#include "models/performance/porting.h"
#include "models/performance/preliminary.h"
#include "models/regression/regression.h"

/* symbol, name on the wire; in the order in which they are asked; from LINEAR on the
 * kinds of models/regression, by name */
#define MODEL_KINDS(X)              \
    X(AUTO, auto)                   \
    X(COMPREHENSIVE, comprehensive) \
    X(PRELIMINARY, preliminary)     \
    X(LINEAR, linear)               \
    X(SCALE_OUT, scale_out)         \
    X(NORMAL_FORM, normal_form)     \
    X(POWER_LAW, power_law)

enum model_kind {
#define X(symbol, name) MODEL_##symbol,
    MODEL_KINDS(X)
#undef X
        MODEL_KIND_COUNT
};
extern const char *const model_kind_names[]; /* ended by NULL */

enum {
    FITTED_LAYOUT = 2,      /* of the packed numbers; 1 is read as well */
    FITTED_RATIOS_MAX = 50, /* PREDICTION_RATIOS_MAX */
    FITTED_FOLDS_MAX = 50,  /* of the cross-validation */
    FITTED_INPUTS_MAX = ENSEMBLE_INPUTS_MAX,
    FITTED_EFFECTS_MAX = 1000 /* of a tenant */
};

/* symbol, name on the wire: what a model predicts */
#define MODEL_TARGETS(X)              \
    X(RUN_TIME, run_time_s)           \
    X(MEMORY_PEAK, memory_peak_bytes) \
    X(DISK_PEAK, disk_peak_bytes)     \
    X(CPUS_USED, cpus_used)

enum model_target {
#define X(symbol, name) TARGET_##symbol,
    MODEL_TARGETS(X)
#undef X
        TARGET_COUNT
};
extern const char *const model_target_names[]; /* ended by NULL */

/* How a model is trained. */
struct model_settings {
    int profile;             /* enum perf_profile */
    int search;              /* 0 exhaustive, 1 pruned */
    int selection_metric;    /* 0 standard_error, 1 appe */
    double threshold_factor; /* of the pruned search, > 1 */
    uint64_t seed;
    bool extended_functions, replace_on_reform;
    uint64_t min_processors;           /* >= 1 */
    uint64_t comp_degree, comm_degree; /* preliminary */
    const char *const *inputs;         /* regressions: names; NULL: the kind's preset */
    size_t input_count;
    double min_input;             /* power_law; NAN: none */
    struct drift_rule robustness; /* of the profile robust */
    int target;                   /* enum model_target */
    double since_s;               /* instant: earlier runs are left out; NAN: none */
    double window_s; /* > 0: runs so much older than the newest are forgotten; NAN or 0:
                        none */
};

/* A run, from a request or stored. */
struct fitted_run {
    struct perf_sample run;           /* members that are not known are NAN */
    double inputs[FITTED_INPUTS_MAX]; /* regressions, in the order of the settings; auto:
                                         by `names` */
    double started_at_s;              /* instant; NAN: not known */
    struct ensemble_names *names;     /* auto */
    bool is_bound;                    /* auto: the target was at least that */
};

/* Errors of predictions made before their runs were learnt: actual / predicted. */
struct fitted_errors {
    double ratios[FITTED_RATIOS_MAX]; /* the latest, in a ring */
    size_t ratio_count, ratio_next;
    size_t count; /* of all */
    double ppe_sum_pct;
    double training[FITTED_RATIOS_MAX]; /* actual / fitted of training rows; for a ported
                                           model of the reference's executions */
    size_t training_count;
};

/* Of a machine: its resource_class, or site, as an input; and what is added to ln times.
 * A machine that shares no configuration of an application with another has its effect
 * from the errors of what ran on it, runs of any application: lone_runs of them; 0: it
 * is no such machine. */
struct fitted_effect {
    double key, effect, lone_runs;
};
enum { FITTED_LONE_RUNS = 3 }; /* fewer say too little for a usual interval */

/* An error of a run on a machine. */
struct fitted_machine_error {
    size_t machine; /* of the list of machines */
    double started_at_s, error;
};

struct fitted_core; /* what it knows of its runs: model_core.h */

struct fitted_model {
    enum model_kind kind;
    struct model_settings settings;
    const char *reason; /* NULL: it can predict */
    struct perf_model_set set;
    struct perf_preliminary preliminary;
    struct regression_model regression;
    struct ensemble *ensemble;    /* auto; NULL: none yet */
    struct ensemble_names *names; /* auto: of its runs' inputs */
    const struct fitted_effect *effects,
        *next_effects; /* auto: that the fit took off,
                          and the next one will; by key */
    size_t effect_count, next_effect_count;
    struct fitted_errors errors;
    struct perf_seen seen; /* of the runs in the fit */
    size_t sample_count, outlier_count, unusable_count;
    double standard_error; /* of the best combination; s, or a ratio if relative */
    double fit_appe_pct, cross_appe_pct; /* NAN: not worked out */
    size_t fits_evaluated;
    bool cut;                    /* the time limit ended the training early */
    struct perf_porting porting; /* of a ported model: all but `fitted` */
    struct fitted_core *core;    /* NULL: the profile thesis, a model that was given as
                                    combinations, or one packed with the layout 1 */
    const struct fitted_guess *guess; /* of no runs of its own, and this is all of it; not
                                         packed; NULL: a model */
};

/* symbol, name: what became of a run */
enum fitted_verdict { RUN_FIT, RUN_OUTLIER, RUN_UNUSABLE, RUN_LEFT_OUT, RUN_NEW };
extern const char *const fitted_verdict_names[];

/* Names of the inputs in force: the settings', or the kind's preset. */
const char *const *fitted_inputs(enum model_kind kind, const struct model_settings *s,
                                 size_t *count);

/* The same of a model: for auto whatever its runs had. */
const char *const *fitted_input_names(const struct fitted_model *m, size_t *count);

/* A run's inputs for a model of kind auto, or a question's: those that have no column get
 * one when `a` is given. class and site may be NULL. */
void fitted_auto_inputs(struct ensemble_names *names, const struct perf_query *query,
                        const struct named_value *parameters, size_t parameter_count,
                        const char *resource_class, const char *site_id, double *inputs,
                        struct arena *a);

/* Basis of an interval on a machine of which nothing was seen. */
#define FITTED_MACHINE_PRIOR "machine_prior"

/* Reasons beside those of the kinds: no version yet, and runs on several numbers of
 * processors for a preliminary model. */
#define FITTED_UNTRAINED             "untrained"
#define FITTED_MIXED_PROCESSORS      "mixed_processors"

#define FITTED_WORD_UNLESS(is, name) (is) ? "" : #name,
#define FITTED_OF_STATUS(symbol, name, doc) \
    FITTED_WORD_UNLESS(PERF_##symbol == PERF_READY, name)
#define FITTED_OF_REGRESSION(symbol, name, doc) \
    FITTED_WORD_UNLESS(REGRESSION_##symbol == REGRESSION_OK, name)
#define FITTED_REASON_WORDS                  \
    PERF_STATUSES(FITTED_OF_STATUS)          \
    REGRESSION_REASONS(FITTED_OF_REGRESSION) \
    FITTED_UNTRAINED, FITTED_MIXED_PROCESSORS

/* How a model of kind auto found a time: from the runs of that configuration, or by its
 * members. */
#define FITTED_BY_HISTORY  "history"
#define FITTED_BY_ENSEMBLE "ensemble"

/* Words of answers: why there is no model or no time, what an interval rests on, and how
 * a time was found. Some more than once, some "", ended by NULL. */
extern const char *const fitted_reason_names[];
extern const char *const fitted_basis_names[];
extern const char *const fitted_method_names[];

/* auto: the effect of the machine of a run or question. */
double fitted_effect_of(const struct fitted_model *m, const double *inputs);

/* auto: did the fit see runs on this machine (resource_class, else site)? Then what the
 * machine does is in the fit. */
bool fitted_has_seen_machine(const struct fitted_model *m, double key);

/* auto: the runs that it remembers on these machines (keys, ascending), against what it
 * says of the same runs on the mean of the other machines that it has seen, all effects
 * left out: of those in `others` (keys, ascending), or if it has seen none of them, of a
 * machine that nobody names. No runs if it has seen no other machine. */
void fitted_machine_errors(const struct fitted_model *m, const double *machines,
                           size_t machine_count, const double *others, size_t other_count,
                           struct budget *budget, struct fitted_machine_error **out,
                           size_t *count, struct arena *a);

/* auto: effects that are known now, by key, of machines of which the fit saw no run and
 * knew nothing for sure, join its own, if both know a machine. At most
 * FITTED_EFFECTS_MAX. */
void fitted_add_effects(struct fitted_model *m, const struct fitted_effect *now,
                        size_t count, struct arena *a);

/* Notes settings that the kind does not take, with pointers below `at`. */
void fitted_check_settings(enum model_kind kind, const struct model_settings *s,
                           const char *at, struct error *err);

/* The first parameter of a question that is no input of the model, and so has no part in
 * its answer; NULL: there is none, or nobody knows, as there were too many inputs. */
const char *fitted_unused(const struct fitted_model *m,
                          const struct named_value *parameters, size_t count);

/* The number that a run or a query has for an input: problem_size, processors,
 * cpu_available_ratio, bandwidth_mbps, or a member of its parameters; NAN: none. */
double fitted_input(const char *name, const struct perf_query *query,
                    const struct named_value *parameters, size_t parameter_count);

/* Fits a model to runs in the order of time and to nothing else. verdict: of each run,
 * may be NULL. */
enum error_code fitted_fit(enum model_kind kind, const struct model_settings *settings,
                           const struct fitted_run *runs, size_t count,
                           struct budget *budget, struct fitted_model *out,
                           enum fitted_verdict *verdict, struct arena *a,
                           struct error *err);

/* auto: the first of so many runs that is learnt; earlier ones are left out. */
size_t fitted_auto_first(const struct model_settings *settings, size_t count);

/* auto: names of inputs as the settings say, unless the model has some. */
void fitted_auto_names(struct fitted_model *m, struct arena *a);

/* Learns a model from runs in the order of time: in the profile robust without those
 * that stand out, and with what intervals need. verdict: of each run, may be NULL.
 * Without a model out->reason says why. Fails with ERR_INVALID for numbers of inputs that
 * the kind does not take. */
enum error_code fitted_train(enum model_kind kind, const struct model_settings *settings,
                             const struct fitted_run *runs, size_t count,
                             struct budget *budget, struct fitted_model *out,
                             enum fitted_verdict *verdict, struct arena *a,
                             struct error *err);

struct fitted_prediction {
    const char *reason; /* NULL: there is one; else times are NAN */
    double time_s, low_s, high_s;
    double computation_s, communication_s; /* NAN: the kind does not tell them apart */
    const char *method;                    /* "native", "scaled" ... or the kind */
    size_t rank;                           /* of the combination; 0: none */
    unsigned warnings;     /* of enum perf_warning, and of enum fitted_warning */
    const char *own_basis; /* of the interval of this answer; NULL: that of the model */
    size_t error_count;    /* that this interval rests on; 0: that of the model */
    double extrapolation_ratio; /* how far outside what was seen, 1: inside; NAN: not
                                   known */
    size_t constant_input;      /* with FITTED_WARN_CONSTANT: which of the inputs */
    size_t far_input;           /* with FITTED_WARN_FAR: which of the inputs */
    size_t missing_input;       /* with FITTED_WARN_MISSING: the first of them */
    double problem_size_ratio, processors_ratio; /* NAN: not known */
};
enum fitted_warning {
    FITTED_WARN_FAR = 1 << PERF_WARNING_COUNT, /* an input is far outside what was seen */
    FITTED_WARN_FLOORED = FITTED_WARN_FAR << 1, /* the least time seen: the formula gave
                                                   none above 0 */
    FITTED_WARN_DISTANT = FITTED_WARN_FLOORED << 1,  /* extrapolation_ratio above 2 */
    FITTED_WARN_CONSTANT = FITTED_WARN_DISTANT << 1, /* an input that never varied does */
    FITTED_WARN_UNUSED = FITTED_WARN_CONSTANT << 1,  /* a parameter that is no input; by
                                                        who asks: fitted_unused() */
    FITTED_WARN_MISSING = FITTED_WARN_UNUSED << 1,   /* auto: an input is not given */
    FITTED_WARN_MASKS = FITTED_WARN_MISSING << 1
};

/* How the interval of a prediction is made, worked out once for many. */
struct fitted_interval {
    double level;
    struct regression_level own;  /* of a regression: the same, worked out */
    double low_ratio, high_ratio; /* of the time; NAN: by the kind itself, or none */
    enum prediction_basis basis;
    size_t ratio_count;
    bool by_group; /* then these, by enum log_group, and not the ratios */
    double scale[LOG_GROUP_COUNT], quantile[LOG_GROUP_COUNT];
    /* Of all groups, for a machine of which no run was seen; 0: none. */
    double scale_least;
    double guess_half; /* of a guess: of ln(time) */
    size_t error_count[LOG_GROUP_COUNT];
};
enum error_code fitted_interval(const struct fitted_model *m, double level,
                                struct fitted_interval *out, struct arena *a,
                                struct error *err);

/* O(log runs), without memory. interval NULL: none. inputs: of a regression. */
void fitted_predict(const struct fitted_model *m, const struct perf_query *query,
                    const double *inputs, const struct fitted_interval *interval,
                    struct fitted_prediction *out);

/* What a further run did. */
struct fitted_update {
    double predicted_s; /* before it was learnt; NAN: no prediction */
    enum fitted_verdict verdict;
    bool train_due;  /* fitted_train() with all runs: the kind has no other way, or the
                        model has runs enough now */
    bool reform_due; /* fitted_reform() with all runs */
};

/* An error into those that the summary tells of. */
void fitted_note_error(struct fitted_model *m, double actual_s, double predicted_s);

/* The errors that a model has noted go on with the one that follows it. */
void fitted_keep_errors(const struct fitted_model *from, struct fitted_model *to);

/* Widens what a model has seen. */
void fitted_see(struct perf_seen *seen, const struct perf_sample *run);

/* Predicts the run, notes the error, and learns the run in O(k^2). `rows`: all runs
 * with this one at the end; only read when the list is ranked by APPE. */
void fitted_learn(struct fitted_model *m, const struct fitted_run *run,
                  const struct perf_sample *rows, size_t row_count,
                  struct fitted_update *out);

/* Forms the list of a comprehensive model anew over all runs. */
enum error_code fitted_reform(struct fitted_model *m, const struct fitted_run *runs,
                              size_t count, struct budget *budget, struct arena *a,
                              struct error *err);

/* A model for another site; see porting.h. out->reason says why there is none. */
enum error_code fitted_port(const struct fitted_model *reference,
                            const struct fitted_run *reference_runs,
                            size_t reference_count, const struct fitted_run *target_runs,
                            size_t target_count, struct fitted_model *out,
                            struct arena *a);

/* A model from combinations that a caller gives; best first. */
void fitted_from_combinations(struct perf_combination *sorted, size_t sorted_count,
                              struct perf_combination *single, size_t single_count,
                              const struct model_settings *settings,
                              struct fitted_model *out);

/* Running error on runs not seen: mean of all, and of the last 50; NAN: none. */
double fitted_unseen_appe_pct(const struct fitted_model *m);
double fitted_recent_appe_pct(const struct fitted_model *m);

/* All that is to be kept of it, but its settings; with_runs: also the runs that it
 * remembers, without which it predicts as well but cannot learn of a change. */
void fitted_pack(const struct fitted_model *m, bool with_runs, const double **packed,
                 size_t *count, struct arena *a);

/* Which kind such numbers are of; -1: none. */
int fitted_packed_kind(const double *packed, size_t count);

/* The settings stay as they were given. ERR_INVALID: these are not such numbers. */
enum error_code fitted_unpack(enum model_kind kind, const struct model_settings *settings,
                              const double *packed, size_t count,
                              struct fitted_model *out, struct arena *a,
                              struct error *err);

#endif
