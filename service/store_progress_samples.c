/* store_progress_samples.c - what tasks said of their progress, and what those that
 * finished have taught. */
#include "service/store_progress_samples.h"

#include "service/store_token.h"

#include <math.h>
#include <stdio.h>

/* ---- reports ---- */

#define SAMPLE_NUMBER_ROWS(T, at)                                                    \
    DB_COLUMN(T, at elapsed_s, DB_NUMBER), DB_COLUMN(T, at progress_pct, DB_NUMBER), \
        DB_COLUMN(T, at mips_total, DB_NUMBER),                                      \
        DB_COLUMN(T, at mips_external, DB_NUMBER),                                   \
        DB_COLUMN(T, at job_count, DB_NUMBER),                                       \
        DB_COLUMN(T, at work_done_ref_s, DB_NUMBER)
static const struct db_column task_sample_columns[] = {
    SAMPLE_NUMBER_ROWS(struct progress_sample, ),
    {0},
};

static const struct db_statement select_task_samples = {
    "progress_samples_of_task",
    "SELECT elapsed_s, progress_pct, mips_total, mips_external, job_count,"
    " work_done_ref_s FROM progress_sample WHERE tenant = $1 AND task_id = $2"
    " ORDER BY received_at DESC, row_id DESC LIMIT $3",
    DB_REPEATABLE};

enum error_code store_progress_task_samples(struct db_session *s, const char *tenant,
                                            const char *task_id, size_t limit,
                                            const struct progress_sample **list,
                                            size_t *count, struct arena *a,
                                            struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_task_samples,
                DB_PARAMS(db_text(tenant), db_text(task_id), db_integer(limit)),
                task_sample_columns, sizeof(struct progress_sample), &rows, count, a,
                err));
    *list = rows;
    return OK;
}

static const struct db_column latest_columns[] = {
    DB_COLUMN(struct store_progress_latest, place, DB_NUMBER),
    SAMPLE_NUMBER_ROWS(struct store_progress_latest, sample.),
    DB_COLUMN(struct store_progress_latest, age_s, DB_NUMBER),
    {0},
};

/* $1 tenant, $2 ids, $3 limit. */
static const struct db_statement select_latest = {
    "latest_progress_samples",
    "SELECT (i.place - 1)::float8, s.elapsed_s, s.progress_pct, s.mips_total,"
    " s.mips_external, s.job_count, s.work_done_ref_s,"
    " extract(epoch FROM clock_timestamp() - s.received_at)::float8"
    " FROM jsonb_array_elements_text($2) WITH ORDINALITY AS i (id, place)"
    " CROSS JOIN LATERAL (SELECT * FROM progress_sample WHERE tenant = $1"
    " AND task_id = i.id ORDER BY received_at DESC, row_id DESC LIMIT $3) AS s"
    " ORDER BY i.place, s.received_at, s.row_id",
    DB_REPEATABLE};

enum error_code store_progress_latest_find(struct db_session *s, const char *tenant,
                                           const char *ids, size_t limit,
                                           const struct store_progress_latest **list,
                                           size_t *count, struct arena *a,
                                           struct error *err)
{
    void *rows;

    TRY(db_rows(
        s, &select_latest, DB_PARAMS(db_text(tenant), db_json(ids), db_integer(limit)),
        latest_columns, sizeof(struct store_progress_latest), &rows, count, a, err));
    *list = rows;
    return OK;
}

/* ---- tasks ---- */

#define TASK_COLUMNS "task_id, application_id, actual_ref_s, run_time_s, revision"

static const struct db_column task_columns[] = {
    DB_COLUMN(struct store_progress_task, task_id, DB_TEXT),
    DB_COLUMN(struct store_progress_task, application_id, DB_TEXT),
    DB_COLUMN(struct store_progress_task, actual_ref_s, DB_NUMBER),
    DB_COLUMN(struct store_progress_task, run_time_s, DB_NUMBER),
    DB_COLUMN(struct store_progress_task, revision, DB_WHOLE),
    {0},
};

static const struct db_statement select_task = {
    "progress_task",
    "SELECT " TASK_COLUMNS " FROM progress_task WHERE tenant = $1 AND task_id = $2",
    DB_REPEATABLE};

enum error_code store_progress_task_read(struct db_session *s, const char *tenant,
                                         const char *task_id, bool *found,
                                         struct store_progress_task *out, struct arena *a,
                                         struct error *err)
{
    return db_row(s, &select_task, DB_PARAMS(db_text(tenant), db_text(task_id)),
                  task_columns, sizeof(*out), out, found, a, err);
}

static const struct db_statement select_pending = {
    "pending_progress_tasks",
    "SELECT " TASK_COLUMNS " FROM progress_task WHERE tenant = $1 AND scored_at IS NULL"
    " AND (actual_ref_s IS NOT NULL OR run_time_s IS NOT NULL) LIMIT $2",
    DB_REPEATABLE};

enum error_code store_progress_pending(struct db_session *s, const char *tenant,
                                       size_t limit,
                                       const struct store_progress_task **list,
                                       size_t *count, struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_pending, DB_PARAMS(db_text(tenant), db_integer(limit)),
                task_columns, sizeof(struct store_progress_task), &rows, count, a, err));
    *list = rows;
    return OK;
}

static const struct db_statement update_score = {
    "score_progress_task",
    "UPDATE progress_task SET scored_at = now(), fit_error_10 = $3, fit_error_20 = $4,"
    " fit_error_50 = $5, extrapolation_error_10 = $6, extrapolation_error_20 = $7,"
    " extrapolation_error_50 = $8, estimate_ratio_05 = $9, estimate_ratio_10 = $10,"
    " estimate_ratio_20 = $11, estimate_ratio_50 = $12, curve = $13,"
    " amplitude_ratio = $14, decay_ratio = $15, log_errors = $17::double precision[]"
    " WHERE tenant = $1 AND task_id = $2 AND revision = $16::integer",
    DB_REPEATABLE};

/* "{0.1,NULL}"; NULL: there is none. */
static const char *array_text(const double *list, size_t count, char *text, size_t size)
{
    size_t used = 0;
    bool known = false;

    for (size_t i = 0; i < count; i++) {
        known = known || !isnan(list[i]);
        used += (size_t)snprintf(text + used, size - used,
                                 isnan(list[i]) ? "%sNULL" : "%s%.17g", i ? "," : "{",
                                 list[i]);
    }
    snprintf(text + used, size - used, "}");
    return known ? text : NULL;
}

enum error_code store_progress_score(struct db_session *s, const char *tenant,
                                     const struct store_progress_task *task,
                                     const struct progress_score *score,
                                     struct error *err)
{
    const double *fit = score->fit_error, *plain = score->extrapolation_error;
    const double *ratio = score->estimate_ratio;
    char errors[32 * PROGRESS_BINS];

    return db_run(
        s, &update_score,
        DB_PARAMS(
            db_text(tenant), db_text(task->task_id), db_number(fit[0]), db_number(fit[1]),
            db_number(fit[2]), db_number(plain[0]), db_number(plain[1]),
            db_number(plain[2]), db_number(ratio[0]), db_number(ratio[1]),
            db_number(ratio[2]), db_number(ratio[3]), db_text(score->function),
            db_number(score->amplitude_ratio), db_number(score->decay_ratio),
            db_integer((uint64_t)task->revision),
            db_text(array_text(score->log_error, PROGRESS_BINS, errors, sizeof(errors)))),
        NULL, err);
}

/* ---- applications ---- */

#define APPLICATION_COLUMN_ROWS(A, at)                                                \
    DB_COLUMN(A, at task_count, DB_NUMBER), DB_COLUMN(A, at fit_error[0], DB_NUMBER), \
        DB_COLUMN(A, at fit_error[1], DB_NUMBER),                                     \
        DB_COLUMN(A, at fit_error[2], DB_NUMBER),                                     \
        DB_COLUMN(A, at extrapolation_error[0], DB_NUMBER),                           \
        DB_COLUMN(A, at extrapolation_error[1], DB_NUMBER),                           \
        DB_COLUMN(A, at extrapolation_error[2], DB_NUMBER),                           \
        DB_COLUMN(A, at estimate_ratio[0], DB_NUMBER),                                \
        DB_COLUMN(A, at estimate_ratio[1], DB_NUMBER),                                \
        DB_COLUMN(A, at estimate_ratio[2], DB_NUMBER),                                \
        DB_COLUMN(A, at estimate_ratio[3], DB_NUMBER),                                \
        DB_COLUMN(A, at shape[0].task_count, DB_NUMBER),                              \
        DB_COLUMN(A, at shape[0].amplitude_ratio, DB_NUMBER),                         \
        DB_COLUMN(A, at shape[0].decay_ratio, DB_NUMBER),                             \
        DB_COLUMN(A, at shape[1].task_count, DB_NUMBER),                              \
        DB_COLUMN(A, at shape[1].amplitude_ratio, DB_NUMBER),                         \
        DB_COLUMN(A, at shape[1].decay_ratio, DB_NUMBER)

static const struct db_column application_columns[] = {
    APPLICATION_COLUMN_ROWS(struct progress_application, ),
    {0},
};
static const struct db_column named_application_columns[] = {
    DB_COLUMN(struct store_progress_application, application_id, DB_TEXT),
    APPLICATION_COLUMN_ROWS(struct store_progress_application, known.),
    {0},
};

/* clang-format off */
#define MEDIAN(column) "percentile_cont(0.5) WITHIN GROUP (ORDER BY " column ")"
#define ERRORS(of) \
    "avg(" of "_error_10), avg(" of "_error_20), avg(" of "_error_50), "
#define RATIO(at) MEDIAN("estimate_ratio_" at) ", "
#define SHAPE(name) \
    "(count(*) FILTER (WHERE curve = '" name "'))::float8, " \
    MEDIAN("amplitude_ratio") " FILTER (WHERE curve = '" name "'), " \
    MEDIAN("decay_ratio") " FILTER (WHERE curve = '" name "')"

#define LEARNT_FROM(which) \
    "count(coalesce(fit_error_10, fit_error_20, fit_error_50))::float8, " \
    ERRORS("fit") ERRORS("extrapolation") RATIO("05") RATIO("10") RATIO("20") RATIO("50") \
    SHAPE("psi1") ", " SHAPE("psi2") \
    " FROM (SELECT * FROM progress_task AS t WHERE t.tenant = $1 AND t.application_id = " \
    which " AND t.scored_at IS NOT NULL ORDER BY t.scored_at DESC LIMIT 1000) AS latest"

static const struct db_statement select_application = {
    "progress_application", "SELECT " LEARNT_FROM("$2"), DB_REPEATABLE};

/* From one name to the next by the index, so that a page costs what is on it. */
static const struct db_statement select_applications = {
    "progress_applications",
    "WITH RECURSIVE name(id, number) AS ("
    " (SELECT application_id, 1 FROM progress_task WHERE tenant = $1"
    "  AND application_id > $2 AND ($3::text IS NULL OR application_id = $3)"
    "  AND scored_at IS NOT NULL AND coalesce(fit_error_10, fit_error_20, fit_error_50)"
    "  IS NOT NULL ORDER BY 1 LIMIT 1)"
    " UNION ALL"
    " SELECT next.application_id, name.number + 1 FROM name CROSS JOIN LATERAL ("
    "  SELECT application_id FROM progress_task WHERE tenant = $1"
    "  AND application_id > name.id AND $3::text IS NULL"
    "  AND scored_at IS NOT NULL AND coalesce(fit_error_10, fit_error_20, fit_error_50)"
    "  IS NOT NULL ORDER BY 1 LIMIT 1) AS next WHERE name.number < $4)"
    " SELECT name.id, learnt.* FROM name CROSS JOIN LATERAL (SELECT "
    LEARNT_FROM("name.id") ") AS learnt ORDER BY name.id",
    DB_REPEATABLE};
/* clang-format on */

enum error_code store_progress_application(struct db_session *s, const char *tenant,
                                           const char *application_id,
                                           struct progress_application *out,
                                           struct arena *a, struct error *err)
{
    bool found;

    return db_row(s, &select_application,
                  DB_PARAMS(db_text(tenant), db_text(application_id)),
                  application_columns, sizeof(*out), out, &found, a, err);
}

enum error_code
store_progress_applications(struct db_session *s, const char *tenant,
                            const char *application_id, const struct store_page *page,
                            const struct store_progress_application **list, size_t *count,
                            const char **next_token, struct arena *a, struct error *err)
{
    const char *after = "", *next = NULL;
    struct store_progress_application *rows;
    size_t row_count;
    double ignored_s;

    if (page->token)
        TRY(token_read(page->token, &ignored_s, &after, a, err));
    TRY(db_rows(s, &select_applications,
                DB_PARAMS(db_text(tenant), db_text(after), db_text(application_id),
                          db_integer(page->limit + 1)),
                named_application_columns, sizeof(*rows), (void **)&rows, &row_count, a,
                err));
    if (row_count > page->limit)
        TRY(token_make(0, rows[page->limit - 1].application_id, &next, a, err));
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}

static const struct db_statement select_errors = {
    "progress_errors",
    "SELECT log_errors[$3::integer] FROM progress_task WHERE tenant = $1"
    " AND application_id = $2 AND scored_at IS NOT NULL"
    " AND log_errors[$3::integer] IS NOT NULL ORDER BY scored_at DESC, task_id LIMIT $4",
    DB_REPEATABLE};

static const struct db_column error_columns[] = {{"log_errors", DB_NUMBER, 0}, {0}};

enum error_code store_progress_errors(struct db_session *s, const char *tenant,
                                      const char *application_id, size_t bin,
                                      size_t limit, const double **list, size_t *count,
                                      struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_errors,
                DB_PARAMS(db_text(tenant), db_text(application_id), db_integer(bin + 1),
                          db_integer(limit)),
                error_columns, sizeof(double), &rows, count, a, err));
    *list = rows;
    return OK;
}
