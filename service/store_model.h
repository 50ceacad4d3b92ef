/* store_model.h - performance models, their versions, and the executions they learn.
 *
 * The rules and errors of store.h hold here too, but some functions are several
 * statements: these open a transaction unless one is open, and say so.
 *
 * A model is the model of one application, at one site, of whole runs or one phase,
 * of one kind. Executions become its samples when they are stored. Whoever refines a
 * model reads it and its samples, computes, and in one transaction locks it
 * (store_model_await()), sees that its generation is the same, and writes a version with
 * store_model_advance(): readers use the version before until that commits, and no sample
 * is learnt twice or lost. Versions never change; a
 * roll-back makes an earlier one the current one and abandons what came after it.
 */
#ifndef GRIDPLAN_STORE_MODEL_H
#define GRIDPLAN_STORE_MODEL_H

#include "service/store.h"

enum {
    STORE_MODEL_SAMPLES_MAX = 2000, /* the latest, of a fit */
    STORE_MODEL_VERSIONS_KEPT = 20, /* the latest; older ones are deleted */
};

#define STORE_TARGET_RUN_TIME "run_time_s"

/* State of a model; a version has one from STORE_TRAINED on. */
enum store_model_state { STORE_UNTRAINED, STORE_STALE, STORE_TRAINED, STORE_PORTED };
extern const char *const store_model_states[]; /* by enum, ended by NULL */

/* What a version came from. */
enum store_cause {
    STORE_TRAIN,
    STORE_REFINE,
    STORE_REFORM,
    STORE_CHANGE,     /* the run times have changed */
    STORE_CORRECTION, /* runs that it knew were corrected or removed */
    STORE_PORT
};
extern const char *const store_cause_names[]; /* by enum, ended by NULL */

struct store_model {
    const char *tenant;
    const char *model_id;
    const char *application_id;
    const char *site_id; /* NULL: of executions that name none */
    double phase_index;  /* whole, >= 0; NAN: whole runs */
    const char *kind;
    const char *target; /* what it predicts; NULL, of a new one: STORE_TARGET_RUN_TIME */
    const char *settings;    /* JSON */
    const char *state;       /* of store_model_states */
    uint64_t version;        /* that predicts; 0: none */
    uint64_t last_version;   /* highest so far */
    uint64_t generation;     /* 1, 2 ...: of every change */
    uint64_t unlearnt_count; /* samples that no version has looked at */
    bool train_requested;
    bool corrected;   /* its version knows a run that was corrected or removed since */
    const char *note; /* why the last training or refinement failed; NULL: it did not */
    double created_at_s, updated_at_s; /* instants */
    const char
        *summary; /* JSON of the version that predicts; in lists only; NULL: none */
};

struct store_model_version {
    const char *model_id;
    uint64_t version, parent_version; /* parent 0: trained from samples */
    const char *cause;                /* of store_cause_names */
    const char *state;                /* of store_model_states */
    bool abandoned;
    double created_at_s;     /* instant; set by the database */
    const char *summary;     /* JSON */
    uint64_t layout;         /* what the numbers mean */
    struct db_bytes numbers; /* doubles: store_numbers(); none in lists */
};

/* Doubles as a version keeps them, and back: *list has *count. NULL without memory. */
struct db_bytes store_numbers(const double *list, size_t count, struct arena *a);
const double *store_numbers_read(struct db_bytes bytes, size_t *count, struct arena *a);

struct store_sample {
    const char *execution_id;
    double started_at_s;
    double run_time_s;   /* or what the target of the model is */
    double problem_size; /* NAN: not known */
    double processors;
    double cpu_available_ratio; /* NAN: not known */
    double bandwidth_mbps;      /* NAN: no link, or not known */
    bool dedicated;
    const char *parameters;               /* JSON object; NULL: none */
    const char *resource_class, *site_id; /* where it ran; NULL: not known */
    bool is_bound;            /* the target was at least that: the run failed for it */
    double predicted_s;       /* before it was learnt; NAN: not */
    double predicted_version; /* whole; NAN: not */
    const char *verdict;      /* "new", "fit", "outlier", "unusable", "left_out" */
    double version;           /* first that knows it; NAN: none has looked at it */
};

/* ---- models ---- */

/* Makes a model without a version, whose samples are the latest executions that are
 * stored; `train` asks for its training. ERR_CONFLICT if there is one of that name,
 * or of the same application, site, phase and kind. A transaction. */
enum error_code store_model_create(struct db_session *s, const char *tenant,
                                   const struct store_model *model, bool train,
                                   struct store_model *out, struct arena *a,
                                   struct error *err);

/* ERR_NOT_FOUND. */
enum error_code store_model_read(struct db_session *s, const char *tenant,
                                 const char *model_id, struct store_model *out,
                                 struct arena *a, struct error *err);

/* Which models; NULL: any. */
struct store_model_filter {
    const char *application_id, *site_id, *kind, *state;
};

/* By model_id (bytewise). */
enum error_code store_models_list(struct db_session *s, const char *tenant,
                                  const struct store_model_filter *filter,
                                  const struct store_page *page,
                                  const struct store_model **list, size_t *count,
                                  const char **next_token, struct arena *a,
                                  struct error *err);

/* ERR_NOT_FOUND; ERR_STALE when the generation is not `expected` (0: any). With its
 * versions and samples; executions stay. A transaction. */
enum error_code store_model_delete(struct db_session *s, const char *tenant,
                                   const char *model_id, uint64_t expected,
                                   struct arena *a, struct error *err);

/* ---- versions ---- */

/* ERR_NOT_FOUND. */
enum error_code store_model_version_read(struct db_session *s, const char *tenant,
                                         const char *model_id, uint64_t version,
                                         struct store_model_version *out, struct arena *a,
                                         struct error *err);

/* Newest first, without numbers. */
enum error_code store_model_versions_list(struct db_session *s, const char *tenant,
                                          const char *model_id,
                                          const struct store_page *page,
                                          const struct store_model_version **list,
                                          size_t *count, const char **next_token,
                                          struct arena *a, struct error *err);

/* Makes an earlier version the current one. Versions after it are abandoned, and the
 * samples that they brought are left out until the model is trained anew. ERR_NOT_FOUND,
 * ERR_STALE; ERR_CONFLICT when it is not earlier, abandoned or deleted. A
 * transaction. */
enum error_code store_model_roll_back(struct db_session *s, const char *tenant,
                                      const char *model_id, uint64_t expected,
                                      uint64_t version, struct store_model *out,
                                      struct arena *a, struct error *err);

/* ---- the models of one application, for predictions ---- */

/* A model with its current version; version 0: without. */
struct store_model_now {
    struct store_model model;
    struct store_model_version version;
};

enum { STORE_ALL_PHASES = -2 };

/* The models of an application at a site (NULL: of no site), and those of kind auto of
 * all sites, by phase (whole runs first), kind and site (that of all last). phase_index:
 * of this phase; NAN: of whole runs; STORE_ALL_PHASES: all. */
enum error_code store_models_now(struct db_session *s, const char *tenant,
                                 const char *application_id, const char *site_id,
                                 double phase_index, const struct store_model_now **list,
                                 size_t *count, struct arena *a, struct error *err);

/* The same of models of another target than the run time. */
enum error_code store_models_now_of(struct db_session *s, const char *tenant,
                                    const char *application_id, const char *site_id,
                                    const char *target, double phase_index,
                                    const struct store_model_now **list, size_t *count,
                                    struct arena *a, struct error *err);

/* Of an application's runs that failed like that and whose next attempt (same size and
 * parameters) succeeded: the median of what passed before they failed, over the time of
 * that attempt, NAN: there are none; and how many there are among its latest 2,000 runs.
 */
enum error_code store_failure_share(struct db_session *s, const char *tenant,
                                    const char *application_id, const char *failure_kind,
                                    double *share, double *run_count, struct arena *a,
                                    struct error *err);

/* Applications of the tenant that have a model and are like one of which no run is known:
 * those whose last part of the name (behind the last of "/:.") is the same without case;
 * without any, those of the latest 1,000 whose last run has at least half of its inputs
 * in common with `input_names` (a JSON array; NULL or empty: none), not the size alone.
 * At most `limit`, with the median time of their latest 500 good runs. */
struct store_similar {
    const char *application_id;
    double median_s;
};
enum error_code store_similar(struct db_session *s, const char *tenant,
                              const char *application_id, const char *input_names,
                              size_t limit, const struct store_similar **list,
                              size_t *count, bool *by_name, struct arena *a,
                              struct error *err);

/* Applications of the list (a JSON array) that have runs with the target's member (at
 * least `runs`), but no model of the target; of these at most `limit`. */
struct store_application {
    const char *application_id;
};
enum error_code store_models_missing(struct db_session *s, const char *tenant,
                                     const char *applications, const char *target,
                                     size_t runs, size_t limit,
                                     const struct store_application **list, size_t *count,
                                     struct arena *a, struct error *err);

/* Applications of the list (a JSON array) that have a model of run times with a version,
 * in the order of their names. */
enum error_code store_models_known(struct db_session *s, const char *tenant,
                                   const char *applications,
                                   const struct store_application **list, size_t *count,
                                   struct arena *a, struct error *err);

/* Models of the tenant. */
enum error_code store_models_count(struct db_session *s, const char *tenant,
                                   uint64_t *count, struct arena *a, struct error *err);

/* ERR_NOT_FOUND. */
enum error_code store_model_now(struct db_session *s, const char *tenant,
                                const char *model_id, struct store_model_now *out,
                                struct arena *a, struct error *err);

/* ---- training and refining ---- */

/* Asks for training anew; a model that waited to try again does so at once. settings
 * (JSON): from now on; NULL: as they are. ERR_NOT_FOUND, ERR_STALE. */
enum error_code store_model_train(struct db_session *s, const char *tenant,
                                  const char *model_id, uint64_t expected,
                                  const char *settings, struct store_model *out,
                                  struct arena *a, struct error *err);

/* A model that has something to do. */
struct store_model_name {
    const char *tenant, *model_id;
};

/* Models of any tenant with samples that nobody has looked at, or to be trained. */
enum error_code store_models_waiting(struct db_session *s, size_t limit,
                                     const struct store_model_name **list, size_t *count,
                                     struct arena *a, struct error *err);

/* Of such a model: for lease_s from now on nobody else refines it in the background.
 * *ours false: somebody does already, or it has to wait. This saves work; what keeps two
 * from writing is the model's generation. */
enum error_code store_model_claim(struct db_session *s,
                                  const struct store_model_name *name, double lease_s,
                                  bool *ours, struct error *err);

/* The claim goes on for lease_s from now on; lease_s 0: it is over. */
enum error_code store_model_claim_until(struct db_session *s,
                                        const struct store_model_name *name,
                                        double lease_s, struct error *err);

/* Locks the model until the transaction (which must be open) ends. Waits 2 s for another
 * who has it, then ERR_CONFLICT with retry_after_s.
 */
enum error_code store_model_await(struct db_session *s, const char *tenant,
                                  const char *model_id, struct store_model *out,
                                  struct arena *a, struct error *err);

enum store_samples_which {
    STORE_SAMPLES_NEW,   /* nobody has looked at them; all of them */
    STORE_SAMPLES_KNOWN, /* looked at, the latest STORE_MODEL_SAMPLES_MAX */
    STORE_SAMPLES_ALL    /* both, the latest STORE_MODEL_SAMPLES_MAX */
};

/* By started_at. */
enum error_code store_model_samples(struct db_session *s, const char *tenant,
                                    const char *model_id, enum store_samples_which which,
                                    const struct store_sample **list, size_t *count,
                                    struct arena *a, struct error *err);

/* A parameter that is a list or an object in runs. */
struct store_skipped {
    const char *name;
};
enum { STORE_SKIPPED_MAX = 32, STORE_SKIPPED_RUNS = 200 };

/* Those of the latest runs of a model, by name. */
enum error_code store_model_skipped(struct db_session *s, const char *tenant,
                                    const char *model_id,
                                    const struct store_skipped **list, size_t *count,
                                    struct arena *a, struct error *err);

/* Samples in pages, newest first, for readers. */
enum error_code store_model_samples_list(struct db_session *s, const char *tenant,
                                         const char *model_id,
                                         const struct store_page *page,
                                         const struct store_sample **list, size_t *count,
                                         const char **next_token, struct arena *a,
                                         struct error *err);

/* Writes what came of it, in the transaction that locked the model: the version with
 * the number model->last_version + 1 if there is one (its number is set), else only the
 * note; prediction and verdict of the samples in `looked_at`, and for those whose version
 * is NAN or 0 the new version (0 without any). Training is no longer asked for. Old
 * versions and samples beyond what is kept are deleted. */
struct store_model_advance {
    const struct store_model_version *version; /* NULL: none came of it */
    const char *note;                          /* NULL: all is well */
    const struct store_sample *looked_at;
    size_t looked_at_count;
    bool forgets; /* without a version: the model has none any more */
};
enum error_code store_model_advance(struct db_session *s, const struct store_model *model,
                                    const struct store_model_advance *advance,
                                    struct arena *a, struct error *err);

/* It went wrong in a way that may pass: not again before retry_s from now. */
enum error_code store_model_postpone(struct db_session *s, const char *tenant,
                                     const char *model_id, const char *note,
                                     double retry_s, struct error *err);

/* ---- load for forecasts ---- */

/* Mean of what was observed of a resource or link in [start, start + step). */
struct store_load_mean {
    const char *resource_id, *to_resource_id;
    double start_at_s;
    uint64_t sample_count;
    double cpu_available_ratio, bandwidth_mbps; /* NAN: not observed */
};

/* Of the resources and the links that begin at them; `ids` is a JSON array. By the
 * order of ids, then to_resource_id (NULL first), then time. Of roll-ups by minutes where
 * there are any, so `step_s` is a multiple of 60 that divides 3600, or 3600 divides it;
 * sample_count is then that of the measure that has most. */
enum error_code store_load_means(struct db_session *s, const char *tenant,
                                 const char *ids, double from_at_s, double to_at_s,
                                 double step_s, const struct store_load_mean **list,
                                 size_t *count, struct arena *a, struct error *err);

/* What was observed of a resource, or of a link from it, during a run. */
struct store_load_during {
    uint64_t run; /* as it was asked for */
    const char *resource_id, *to_resource_id;
    double cpu_available_ratio, bandwidth_mbps; /* means; NAN: not observed */
};

/* `runs` is a JSON array of [number, resource_id, from, to], instants in seconds. By
 * number, resource and link; resources without samples are not there. */
enum error_code store_load_during(struct db_session *s, const char *tenant,
                                  const char *runs, const struct store_load_during **list,
                                  size_t *count, struct arena *a, struct error *err);

/* Ids of the resources that have load samples, bytewise. */
struct store_resource_id {
    const char *resource_id;
};
enum error_code store_load_resources(struct db_session *s, const char *tenant,
                                     const struct store_page *page,
                                     const struct store_resource_id **list, size_t *count,
                                     const char **next_token, struct arena *a,
                                     struct error *err);

#endif
