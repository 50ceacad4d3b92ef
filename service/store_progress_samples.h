/* store_progress_samples.h - what tasks said of their progress, and what those that
 * finished have taught.
 *
 * As store.h, whose rules hold here. A report at 100 %, one with actual_ref_s, or an
 * execution of the task's name ends a task: then it waits to be scored.
 *
 * Source: spec runtime-prediction.md 12.
 */
#ifndef GRIDPLAN_STORE_PROGRESS_SAMPLES_H
#define GRIDPLAN_STORE_PROGRESS_SAMPLES_H

#include "models/progress/application.h"
#include "service/store.h"

struct store_progress_sample {
    const char *task_id;
    const char *application_id; /* NULL: not said */
    struct progress_sample sample;
    double extrapolated_ref_s; /* NAN: none */
    double actual_ref_s;       /* work that the task was; NAN: not known yet */
    double received_at_s;      /* instant; set by the database */
};

/* The latest `limit` reports of a task, the last one first. */
enum error_code store_progress_task_samples(struct db_session *s, const char *tenant,
                                            const char *task_id, size_t limit,
                                            const struct progress_sample **list,
                                            size_t *count, struct arena *a,
                                            struct error *err);

/* One of the latest reports of one of several tasks. */
struct store_progress_latest {
    double place; /* of the task in the list of ids, from 0 */
    struct progress_sample sample;
    double age_s; /* since it came in */
};

/* The latest `limit` reports of each task, by place, the last one last. `ids`: a JSON
 * list of texts. */
enum error_code store_progress_latest_find(struct db_session *s, const char *tenant,
                                           const char *ids, size_t limit,
                                           const struct store_progress_latest **list,
                                           size_t *count, struct arena *a,
                                           struct error *err);

/* A task; application_id NULL: not said, the numbers NAN: not known. */
struct store_progress_task {
    const char *task_id, *application_id;
    double actual_ref_s, run_time_s;
    double revision; /* whole; another one when any of it, or its reports, is corrected */
};

/* *found false: nothing was ever reported of it. */
enum error_code store_progress_task_read(struct db_session *s, const char *tenant,
                                         const char *task_id, bool *found,
                                         struct store_progress_task *out, struct arena *a,
                                         struct error *err);

/* Tasks that ended and are not scored, `limit` at most. */
enum error_code store_progress_pending(struct db_session *s, const char *tenant,
                                       size_t limit,
                                       const struct store_progress_task **list,
                                       size_t *count, struct arena *a, struct error *err);

/* Keeps a score of the task as it was read; of one that has changed since then none: it
 * goes on waiting. */
enum error_code store_progress_score(struct db_session *s, const char *tenant,
                                     const struct store_progress_task *task,
                                     const struct progress_score *score,
                                     struct error *err);

/* What the finished tasks of an application taught. */
struct store_progress_application {
    const char *application_id;
    struct progress_application known;
};

/* Those that have some, by name; application_id NULL: all. */
enum error_code
store_progress_applications(struct db_session *s, const char *tenant,
                            const char *application_id, const struct store_page *page,
                            const struct store_progress_application **list, size_t *count,
                            const char **next_token, struct arena *a, struct error *err);

/* Over the latest 1000 scored tasks; task_count 0: there is none. */
enum error_code store_progress_application(struct db_session *s, const char *tenant,
                                           const char *application_id,
                                           struct progress_application *out,
                                           struct arena *a, struct error *err);

/* ln(actual / predicted) of the latest scored tasks of an application that had a report
 * in that tenth of their progress (0..9), the latest first, `limit` at most. */
enum error_code store_progress_errors(struct db_session *s, const char *tenant,
                                      const char *application_id, size_t bin,
                                      size_t limit, const double **list, size_t *count,
                                      struct arena *a, struct error *err);

#endif
