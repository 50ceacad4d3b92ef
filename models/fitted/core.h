/* fitted/core.h - what a fitted model knows of its runs: intervals, outliers, changes.
 *
 * The profile robust (spec learning.md 3 and 4). Each run is predicted before it is
 * learnt, and that error says whether the run is an outlier or, with those before it,
 * whether the world has changed (models/performance/drift.h). The model then goes on from
 * the runs since the change, to which those of before are added, scaled to the new level,
 * as long as there are few. Intervals come from errors of runs that were not fitted to
 * (models/performance/log_interval.h).
 *
 * Deviation: runs of before a change do not weigh 10 / (10 + n) each; of them as many
 * are taken, evenly spread, as weigh so much in sum: not every kind can weigh a run.
 *
 * Pure: no database, no clock.
 */
#ifndef GRIDPLAN_FITTED_CORE_H
#define GRIDPLAN_FITTED_CORE_H

#include "models/fitted/fitted.h"

/* symbol, name on the wire: whose run times changed */
#define CORE_SCOPES(X)                                      \
    X(ALL, all, "all runs")                                 \
    X(CLASS, resource_class, "those of one resource_class") \
    X(SITE, site_id, "those of one site")

enum core_scope {
#define X(symbol, name, doc) CORE_SCOPE_##symbol,
    CORE_SCOPES(X)
#undef X
        CORE_SCOPE_COUNT
};
extern const char *const core_scope_names[]; /* ended by NULL */

/* A run that the model remembers. */
struct fitted_row {
    struct fitted_run run; /* of before a change: its time as it would be now */
    double error; /* ln(actual / predicted) before it was learnt; NAN: not assessed */
    bool is_outlier;
    bool is_before[CORE_SCOPE_COUNT]; /* a change of its class, of its site */
};

/* One machine class or site, or all. */
struct core_spot {
    enum core_scope scope;
    double key; /* its number as an input; of all: none */
};

/* The sums of classes and sites, the one that had a run last at the end: at most 64, and
 * those that had none for longest are forgotten. */
enum { CORE_SPOTS_MAX = 64 };
struct core_spot_sums {
    double key;
    struct drift_sums sums;
};
struct core_spots {
    struct core_spot_sums list[CORE_SPOTS_MAX];
    size_t count;
};

/* symbol (a bit), name on the wire, what to tell the caller */
#define CORE_NOTES(X)                                                                \
    X(CHANGED, model_changed, "The run times changed level within the last 20 runs") \
    X(ERROR_HIGH, recent_error_high,                                                 \
      "The last 10 runs were predicted much worse than those before")                \
    X(FEW, few_runs, "The model has seen fewer than 5 runs")                         \
    X(OUTLIERS, outliers_frequent,                                                   \
      "More than 2 percent of the last 200 runs are outliers")

enum core_note_bit {
#define X(symbol, name, doc) CORE_BIT_##symbol,
    CORE_NOTES(X)
#undef X
        CORE_NOTE_COUNT
};
extern const char *const core_note_names[]; /* by bit, ended by NULL */
extern const char *const core_note_texts[];

struct fitted_core {
    struct fitted_row *rows; /* in the order of learning: of before a change first */
    size_t row_count, row_room, old_count;
    struct drift_sums sums; /* indexes count from the first run since the change */
    struct core_spots spots[CORE_SCOPE_COUNT]; /* auto: likewise; that of all is empty */
    size_t since_training, since_measured;     /* runs */
    struct log_errors errors[LOG_GROUP_COUNT];
    struct log_recent recent[LOG_GROUP_COUNT];
    double *configuration, *configuration_runs; /* ascending; how many runs each has */
    size_t configuration_count, configuration_room;
    struct perf_range range[FITTED_INPUTS_MAX]; /* of the runs that are no outliers */
    struct fitted_interval assess; /* of level 0.6827; level 0: not worked out */
    size_t change_count, runs_since_change;
    double change_factor, change_at_s; /* of the last one; NAN: none, or not known when */
    size_t change_earlier_count;       /* runs of before it that were kept */
    enum core_scope change_scope;      /* of what it was */
    unsigned notes;                    /* bits of enum core_note_bit */
};

/* Where a model works: what stays, what goes, and how long. */
struct fitted_room {
    struct arena *a, *scratch; /* scratch is reset at will */
    struct budget *budget;
};

/* Gives a model that was just trained its memory: rows, errors, ranges. */
void core_create(struct fitted_model *m, const struct fitted_run *runs,
                 const enum fitted_verdict *verdict, size_t count, struct arena *a);

/* An empty memory, for a model that is still to be trained. */
void core_create_empty(struct fitted_model *m, struct arena *a);

/* Forgets what its settings, which may have changed, leave out of its runs. */
void core_narrow(struct fitted_model *m);

/* Trains the model from what it remembers. *done false: no model came of it, and why is
 * in *reason; the old one stays. */
enum error_code core_train(struct fitted_model *m, const struct fitted_room *room,
                           bool *done, const char **reason, struct error *err);

/* What one more run did. */
struct core_update {
    double predicted_s; /* before it was learnt; NAN: no prediction */
    enum fitted_verdict verdict;
    bool trained, reformed;
    size_t taken_back; /* runs of before, up to this one, that are no outliers now: after
                          a change; 0: there was none */
    struct core_spot spot; /* ... of these only: what changed */
};

/* Judges the run, learns it, and trains where that is due. `starting`: the model is
 * learning its first runs, and will be trained when all are in. */
enum error_code core_learn(struct fitted_model *m, const struct fitted_run *run,
                           bool starting, const struct fitted_room *room,
                           struct core_update *out, struct error *err);

/* Has it learnt runs that only a training takes in? */
bool core_lags(const struct fitted_model *m);

/* Where a question lies. */
struct core_place {
    enum log_group group;
    double distance;          /* d >= 1 */
    size_t far_input;         /* the farthest */
    double constant_distance; /* over the inputs that never varied */
    size_t constant_input;    /* the farthest of these */
    double runs;              /* of its configuration, at most 8 */
};
void core_place_of(const struct fitted_model *m, const struct perf_query *query,
                   const double *inputs, struct core_place *out);

/* The interval of a level, by groups. */
void core_interval(const struct fitted_core *core, double level,
                   struct fitted_interval *out, struct arena *a);

/* Is the run of that class or site? */
bool core_spot_has(const struct fitted_model *m, const struct core_spot *spot,
                   const struct fitted_run *run);

/* ---- for this folder's parts of it ---- */

/* auto: the run of this index, with its error and scale, into the sums of its class and
 * site (spots.c). true: one of them changed, with the run *start of the window. */
bool core_spots_add(struct fitted_model *m, const struct fitted_run *run, size_t index,
                    double error, double scale, struct core_spot *changed, size_t *start);
void core_spots_reset(struct fitted_core *core);
void core_spots_shift(struct fitted_core *core, size_t count);

/* Rows of before the change of a class or site that began at row `first` or some of its
 * runs later go to the new level. How many it has since. */
size_t core_spot_split(struct fitted_model *m, const struct core_spot *spot, size_t first,
                       struct arena *scratch);

/* What the rows count because of such changes, 0..1. */
double *core_spot_weights(const struct fitted_model *m, struct budget *budget,
                          struct arena *a);

/* The numbers that tell runs of a kind apart; how many. NAN: not known, or of no use. */
size_t core_inputs(const struct fitted_model *m, const struct perf_query *query,
                   const double *inputs, double out[FITTED_INPUTS_MAX]);

/* How far a run lies outside the ranges of others. */
double core_distance(const struct fitted_model *m, const struct fitted_run *runs,
                     size_t count, const struct fitted_run *run);

/* One number for equal inputs. */
double core_configuration(const double *inputs, size_t count);

/* The rows to train from: of those of before a change as many as weigh something, or all
 * of them; outliers are left out, or marked. */
enum core_rows { CORE_ROWS_WEIGHED, CORE_ROWS_ALL_OLD, CORE_ROWS_AND_OUTLIERS };
struct fitted_run *core_training_rows(const struct fitted_core *core,
                                      enum core_rows which, size_t *count,
                                      struct arena *a);

/* Errors, ranges and configurations anew, from the rows. */
enum error_code core_measure(struct fitted_model *m, struct arena *a,
                             struct arena *scratch, struct budget *budget,
                             struct error *err);

/* The errors of an ensemble's fit become the model's. */
void core_note_errors(struct fitted_model *m, const struct ensemble *e, struct arena *a);

/* A run into ranges and configurations. */
void core_see(struct fitted_model *m, const struct fitted_run *run, struct arena *a);

#endif
