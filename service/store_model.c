/* store_model.c - performance models, their versions, and the executions they learn. */
#include "service/store_model.h"

#include "service/db_value.h"
#include "service/store_machine.h"
#include "service/store_token.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const store_model_states[] = {"untrained", "stale", "trained", "ported",
                                          NULL};
const char *const store_cause_names[] = {"train",      "refine", "reform", "change",
                                         "correction", "port",   NULL};

/* ---- transactions ---- */

/* In the transaction that is open, or in one of its own. */
static enum error_code together(struct db_session *s, db_transaction_fn *run,
                                void *context, struct error *err)
{
    return db_in_transaction(s) ? run(s, context, err)
                                : db_transaction(s, run, context, err);
}

static enum error_code fail_no_model(const char *model_id, struct error *err)
{
    return fail(err, ERR_NOT_FOUND, "", "there is no model '%.200s'", model_id);
}

/* ---- numbers ---- */

struct db_bytes store_numbers(const double *list, size_t count, struct arena *a)
{
    unsigned char *data = TRY_NEW(a, unsigned char, count * sizeof(double));
    unsigned char *to = data;

    for (size_t i = 0; data && i < count; i++) {
        uint64_t bits;

        memcpy(&bits, &list[i], sizeof(bits));
        to = db_put_64(to, bits);
    }
    return (struct db_bytes){data, count * sizeof(double)};
}

const double *store_numbers_read(struct db_bytes bytes, size_t *count, struct arena *a)
{
    double *list = TRY_NEW(a, double, bytes.length / sizeof(double));

    for (size_t i = 0; list && i < bytes.length / sizeof(double); i++) {
        uint64_t bits = 0;

        for (size_t k = 0; k < sizeof(bits); k++)
            bits = bits << 8 | bytes.data[i * sizeof(bits) + k];
        memcpy(&list[i], &bits, sizeof(bits));
    }
    *count = list ? bytes.length / sizeof(double) : 0;
    return list;
}

/* ---- models ---- */

/* As readers see it: the version of a stale model knows what was corrected since. */
#define MODEL_STATE \
    "CASE WHEN m.corrected AND m.version > 0 THEN 'stale' ELSE m.state END"

#define MODEL_HEAD                                                                  \
    "m.tenant, m.model_id, m.application_id, m.site_id, nullif(m.phase_index, -1)," \
    " m.kind, m.target, m.settings, " MODEL_STATE                                   \
    ", m.version, m.last_version, m.generation,"                                    \
    " (SELECT count(*) FROM model_sample AS n WHERE n.tenant = m.tenant"            \
    " AND n.model_id = m.model_id AND n.version IS NULL), m.train_requested,"       \
    " m.corrected, m.note, m.created_at, m.updated_at"

#define MODEL_COLUMNS_AT(T, at)                                                      \
    DB_COLUMN(T, at tenant, DB_TEXT), DB_COLUMN(T, at model_id, DB_TEXT),            \
        DB_COLUMN(T, at application_id, DB_TEXT), DB_COLUMN(T, at site_id, DB_TEXT), \
        DB_COLUMN(T, at phase_index, DB_WHOLE), DB_COLUMN(T, at kind, DB_TEXT),      \
        DB_COLUMN(T, at target, DB_TEXT), DB_COLUMN(T, at settings, DB_TEXT),        \
        DB_COLUMN(T, at state, DB_TEXT), DB_COLUMN(T, at version, DB_INTEGER),       \
        DB_COLUMN(T, at last_version, DB_INTEGER),                                   \
        DB_COLUMN(T, at generation, DB_INTEGER),                                     \
        DB_COLUMN(T, at unlearnt_count, DB_INTEGER),                                 \
        DB_COLUMN(T, at train_requested, DB_BOOLEAN),                                \
        DB_COLUMN(T, at corrected, DB_BOOLEAN), DB_COLUMN(T, at note, DB_TEXT),      \
        DB_COLUMN(T, at created_at_s, DB_INSTANT),                                   \
        DB_COLUMN(T, at updated_at_s, DB_INSTANT)

static const struct db_column model_columns[] = {MODEL_COLUMNS_AT(struct store_model, ),
                                                 {0}};
static const struct db_column list_columns[] = {
    MODEL_COLUMNS_AT(struct store_model, ),
    DB_COLUMN(struct store_model, summary, DB_TEXT),
    {0},
};

/* $1 tenant, $2 application. */
static const struct db_statement lock_application = {
    "lock_application", "SELECT pg_advisory_xact_lock(model_lock_key($1, $2))", 0};

static const struct db_statement insert_model = {
    "insert_model",
    "INSERT INTO model AS m (tenant, model_id, application_id, site_id, phase_index,"
    " kind, settings, state, version, last_version, generation, train_requested,"
    " created_at, updated_at, target)"
    " VALUES ($1, $2, $3, $4, coalesce($5, -1)::integer, $6, $7,"
    " 'untrained', 0, 0, 1, $8, now(), now(), $9) ON CONFLICT DO NOTHING"
    " RETURNING " MODEL_HEAD,
    0};

/* What a model of a target (a parameter) learns of an execution; NULL: nothing. */
#define LEARNT_OF(target)                                                    \
    "learnt_value(" target ", ignored, exit_code, failure_kind, run_time_s," \
    " memory_peak_bytes, memory_requested_bytes, disk_peak_bytes, cpus_used)"

/* The latest runs of the subject of a new model. */
static const struct db_statement insert_samples = {
    "insert_model_samples",
    "INSERT INTO model_sample (tenant, model_id, execution_id, started_at, run_time_s,"
    " problem_size, processors, cpu_available_ratio, bandwidth_mbps, dedicated,"
    " parameters, verdict, resource_class, site_id, is_bound)"
    " SELECT $1, $2, execution_id, started_at, " LEARNT_OF(
        "$8") ", problem_size,"
              " processors, cpu_available_ratio, bandwidth_mbps, dedicated, parameters,"
              " CASE WHEN outlier THEN 'outlier' ELSE 'new' END, resource_class, site_id,"
              " failure_kind = 'memory'"
              " FROM execution WHERE tenant = $1 AND application_id = $3"
              " AND learns_site($7, $4, site_id)"
              " AND phase_index = coalesce($5, -1)::integer AND " LEARNT_OF(
                  "$8") " IS NOT NULL"
                        " ORDER BY started_at DESC LIMIT $6 ON CONFLICT DO NOTHING",
    0};

static const struct db_statement select_model = {
    "select_model",
    "SELECT " MODEL_HEAD " FROM model AS m WHERE tenant = $1 AND model_id = $2",
    DB_REPEATABLE};

static const struct db_statement select_models = {
    "select_models",
    "SELECT " MODEL_HEAD ", (SELECT v.summary FROM model_version AS v WHERE"
    " v.tenant = m.tenant AND v.model_id = m.model_id AND v.version = m.version)"
    " FROM model AS m WHERE tenant = $1 AND model_id > $2"
    " AND ($3::text IS NULL OR application_id = $3)"
    " AND ($4::text IS NULL OR site_id = $4) AND ($5::text IS NULL OR kind = $5)"
    " AND ($6::text IS NULL OR " MODEL_STATE " = $6) ORDER BY model_id LIMIT $7",
    DB_REPEATABLE};

/* For changes of its row; the samples that new executions bring do not wait for it. */
static const struct db_statement lock_model = {
    "lock_model",
    "SELECT " MODEL_HEAD " FROM model AS m WHERE tenant = $1 AND model_id = $2"
    " FOR NO KEY UPDATE",
    0};

static const struct db_statement delete_model = {
    "delete_model",
    "WITH s AS (DELETE FROM model_sample WHERE tenant = $1 AND model_id = $2),"
    " v AS (DELETE FROM model_version WHERE tenant = $1 AND model_id = $2)"
    " DELETE FROM model WHERE tenant = $1 AND model_id = $2",
    0};

enum error_code store_model_await(struct db_session *s, const char *tenant,
                                  const char *model_id, struct store_model *out,
                                  struct arena *a, struct error *err)
{
    bool found;

    TRY(db_execute(s, "SET LOCAL lock_timeout = '2s'", err));
    TRY(db_row(s, &lock_model, DB_PARAMS(db_text(tenant), db_text(model_id)),
               model_columns, sizeof(*out), out, &found, a, err));
    return found ? OK : fail_no_model(model_id, err);
}

/* The model, locked until the transaction ends, if it is the expected generation. */
static enum error_code lock_expected(struct db_session *s, const char *tenant,
                                     const char *model_id, uint64_t expected,
                                     struct store_model *out, struct arena *a,
                                     struct error *err)
{
    TRY(store_model_await(s, tenant, model_id, out, a, err));
    if (expected && out->generation != expected)
        return fail(err, ERR_STALE, "",
                    "model '%.200s' has changed: its generation is %" PRIu64
                    ", not %" PRIu64 "; read it again",
                    model_id, out->generation, expected);
    return OK;
}

/* What the transactions below are about. */
struct change {
    const char *tenant, *model_id, *settings;
    uint64_t expected, version;
    const struct store_model *wanted;
    bool train;
    struct store_model *out;
    struct arena *a;
};

static enum error_code create(struct db_session *s, void *context, struct error *err)
{
    const struct change *c = context;
    const struct store_model *m = c->wanted;
    const char *target = m->target ? m->target : STORE_TARGET_RUN_TIME;
    bool found;

    TRY(db_run(s, &lock_application,
               DB_PARAMS(db_text(c->tenant), db_text(m->application_id)), NULL, err));
    TRY(db_row(s, &insert_model,
               DB_PARAMS(db_text(c->tenant), db_text(m->model_id),
                         db_text(m->application_id), db_text(m->site_id),
                         db_number(m->phase_index), db_text(m->kind),
                         db_text(m->settings), db_boolean(c->train), db_text(target)),
               model_columns, sizeof(*c->out), c->out, &found, c->a, err));
    if (!found)
        return fail(
            err, ERR_CONFLICT, "",
            "there is a model '%.100s' already, or one of the same "
            "application_id, site_id, phase_index, kind and target; GET /v1/models lists "
            "them",
            m->model_id);
    TRY(db_run(s, &insert_samples,
               DB_PARAMS(db_text(c->tenant), db_text(m->model_id),
                         db_text(m->application_id), db_text(m->site_id),
                         db_number(m->phase_index), db_integer(STORE_MODEL_SAMPLES_MAX),
                         db_text(m->kind), db_text(target)),
               NULL, err));
    return store_model_read(s, c->tenant, m->model_id, c->out, c->a, err);
}

enum error_code store_model_create(struct db_session *s, const char *tenant,
                                   const struct store_model *model, bool train,
                                   struct store_model *out, struct arena *a,
                                   struct error *err)
{
    struct change c = {
        .tenant = tenant, .wanted = model, .train = train, .out = out, .a = a};

    return together(s, create, &c, err);
}

enum error_code store_model_read(struct db_session *s, const char *tenant,
                                 const char *model_id, struct store_model *out,
                                 struct arena *a, struct error *err)
{
    bool found;

    TRY(db_row(s, &select_model, DB_PARAMS(db_text(tenant), db_text(model_id)),
               model_columns, sizeof(*out), out, &found, a, err));
    return found ? OK : fail_no_model(model_id, err);
}

enum error_code store_models_list(struct db_session *s, const char *tenant,
                                  const struct store_model_filter *filter,
                                  const struct store_page *page,
                                  const struct store_model **list, size_t *count,
                                  const char **next_token, struct arena *a,
                                  struct error *err)
{
    const char *after = "", *next = NULL;
    struct store_model *rows;
    size_t row_count;
    double ignored_s;

    if (page->token)
        TRY(token_read(page->token, &ignored_s, &after, a, err));
    TRY(db_rows(s, &select_models,
                DB_PARAMS(db_text(tenant), db_text(after),
                          db_text(filter->application_id), db_text(filter->site_id),
                          db_text(filter->kind), db_text(filter->state),
                          db_integer(page->limit + 1)),
                list_columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    if (row_count > page->limit)
        TRY(token_make(0, rows[page->limit - 1].model_id, &next, a, err));
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}

static enum error_code erase(struct db_session *s, void *context, struct error *err)
{
    const struct change *c = context;
    struct store_model model = {0};

    TRY(lock_expected(s, c->tenant, c->model_id, c->expected, &model, c->a, err));
    /* Executions that are being stored for it come before or after. */
    TRY(db_run(s, &lock_application,
               DB_PARAMS(db_text(c->tenant), db_text(model.application_id)), NULL, err));
    return db_run(s, &delete_model, DB_PARAMS(db_text(c->tenant), db_text(c->model_id)),
                  NULL, err);
}

enum error_code store_model_delete(struct db_session *s, const char *tenant,
                                   const char *model_id, uint64_t expected,
                                   struct arena *a, struct error *err)
{
    struct change c = {
        .tenant = tenant, .model_id = model_id, .expected = expected, .a = a};

    return together(s, erase, &c, err);
}

/* ---- versions ---- */

#define VERSION_HEAD                                                          \
    "v.model_id, v.version, v.parent_version, v.cause, v.state, v.abandoned," \
    " v.created_at, v.summary, v.layout"

#define VERSION_COLUMNS_AT(T, at)                                                     \
    DB_COLUMN(T, at model_id, DB_TEXT), DB_COLUMN(T, at version, DB_INTEGER),         \
        DB_COLUMN(T, at parent_version, DB_INTEGER), DB_COLUMN(T, at cause, DB_TEXT), \
        DB_COLUMN(T, at state, DB_TEXT), DB_COLUMN(T, at abandoned, DB_BOOLEAN),      \
        DB_COLUMN(T, at created_at_s, DB_INSTANT), DB_COLUMN(T, at summary, DB_TEXT), \
        DB_COLUMN(T, at layout, DB_INTEGER), DB_COLUMN(T, at numbers, DB_BYTES)

static const struct db_column version_columns[] = {
    VERSION_COLUMNS_AT(struct store_model_version, ), {0}};

static const struct db_column now_columns[] = {
    MODEL_COLUMNS_AT(struct store_model_now, model.),
    VERSION_COLUMNS_AT(struct store_model_now, version.),
    {0},
};

static const struct db_statement select_version = {
    "select_model_version",
    "SELECT " VERSION_HEAD ", v.numbers FROM model_version AS v"
    " WHERE tenant = $1 AND model_id = $2 AND version = $3",
    DB_REPEATABLE};

static const struct db_statement select_versions = {
    "select_model_versions",
    "SELECT " VERSION_HEAD ", NULL::bytea FROM model_version AS v"
    " WHERE tenant = $1 AND model_id = $2 AND version < $3"
    " ORDER BY version DESC LIMIT $4",
    DB_REPEATABLE};

#define NOW                                                                           \
    "SELECT " MODEL_HEAD ", v.model_id, coalesce(v.version, 0),"                      \
    " coalesce(v.parent_version, 0), v.cause, v.state, coalesce(v.abandoned, false)," \
    " v.created_at, v.summary, coalesce(v.layout, 0), v.numbers"                      \
    " FROM model AS m LEFT JOIN model_version AS v ON v.tenant = m.tenant"            \
    " AND v.model_id = m.model_id AND v.version = m.version"

static const struct db_statement select_now = {
    "select_model_now", NOW " WHERE m.tenant = $1 AND m.model_id = $2", DB_REPEATABLE};

static const struct db_statement select_models_now = {
    "select_models_now",
    NOW " WHERE m.tenant = $1 AND m.application_id = $2"
        " AND learns_site(m.kind, m.site_id, $3::text) AND m.target = $6"
        " AND ($4 = -2 OR m.phase_index = coalesce($4, -1))"
        " ORDER BY m.phase_index, m.kind, m.site_id NULLS LAST LIMIT $5",
    DB_REPEATABLE};

enum error_code store_model_version_read(struct db_session *s, const char *tenant,
                                         const char *model_id, uint64_t version,
                                         struct store_model_version *out, struct arena *a,
                                         struct error *err)
{
    bool found;

    TRY(db_row(s, &select_version,
               DB_PARAMS(db_text(tenant), db_text(model_id), db_integer(version)),
               version_columns, sizeof(*out), out, &found, a, err));
    return found ? OK
                 : fail(err, ERR_NOT_FOUND, "",
                        "model '%.200s' has no version %" PRIu64
                        ", or it is not kept any more",
                        model_id, version);
}

enum error_code store_model_versions_list(struct db_session *s, const char *tenant,
                                          const char *model_id,
                                          const struct store_page *page,
                                          const struct store_model_version **list,
                                          size_t *count, const char **next_token,
                                          struct arena *a, struct error *err)
{
    uint64_t before = INT64_MAX;
    const char *text, *next = NULL;
    struct store_model_version *rows;
    size_t row_count;
    double ignored_s;

    if (page->token) {
        TRY(token_read(page->token, &ignored_s, &text, a, err));
        before = strtoull(text, NULL, 10) & INT64_MAX;
    }
    TRY(db_rows(s, &select_versions,
                DB_PARAMS(db_text(tenant), db_text(model_id), db_integer(before),
                          db_integer(page->limit + 1)),
                version_columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    if (row_count > page->limit) {
        char number[24];

        snprintf(number, sizeof(number), "%" PRIu64, rows[page->limit - 1].version);
        TRY(token_make(0, number, &next, a, err));
    }
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}

enum error_code store_model_now(struct db_session *s, const char *tenant,
                                const char *model_id, struct store_model_now *out,
                                struct arena *a, struct error *err)
{
    bool found;

    TRY(db_row(s, &select_now, DB_PARAMS(db_text(tenant), db_text(model_id)), now_columns,
               sizeof(*out), out, &found, a, err));
    return found ? OK : fail_no_model(model_id, err);
}

enum { MODELS_NOW_MAX = 10000 };

enum error_code store_models_now_of(struct db_session *s, const char *tenant,
                                    const char *application_id, const char *site_id,
                                    const char *target, double phase_index,
                                    const struct store_model_now **list, size_t *count,
                                    struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_models_now,
                DB_PARAMS(db_text(tenant), db_text(application_id), db_text(site_id),
                          db_number(phase_index), db_integer(MODELS_NOW_MAX),
                          db_text(target)),
                now_columns, sizeof(struct store_model_now), &rows, count, a, err));
    *list = rows;
    return OK;
}

enum error_code store_models_now(struct db_session *s, const char *tenant,
                                 const char *application_id, const char *site_id,
                                 double phase_index, const struct store_model_now **list,
                                 size_t *count, struct arena *a, struct error *err)
{
    return store_models_now_of(s, tenant, application_id, site_id, STORE_TARGET_RUN_TIME,
                               phase_index, list, count, a, err);
}

/* Of the latest runs. A failed one counts among those of the next attempt; of these the
 * first that began when it did, or later, and went well, is the one that followed. */
static const struct db_statement select_failure_share = {
    "select_failure_share",
    "WITH runs AS (SELECT problem_size, parameters, coalesce(attempt, 1) AS attempt,"
    " failure_kind, exit_code, run_time_s, started_at"
    " FROM execution WHERE tenant = $1 AND application_id = $2 AND phase_index = -1"
    " AND NOT ignored AND run_time_s > 0 ORDER BY started_at DESC LIMIT 2000),"
    " followed AS (SELECT failure_kind, run_time_s,"
    " min(ARRAY[extract(epoch FROM started_at)::double precision, run_time_s])"
    " FILTER (WHERE failure_kind = 'none') OVER (PARTITION BY"
    " attempt + (failure_kind = $3)::integer, problem_size, parameters"
    " ORDER BY started_at DESC RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS next"
    " FROM runs WHERE failure_kind = $3"
    " OR (failure_kind = 'none' AND coalesce(exit_code, 0) = 0))"
    " SELECT count(*)::double precision AS run_count,"
    " percentile_cont(0.5) WITHIN GROUP (ORDER BY run_time_s / next[2]) AS share"
    " FROM followed WHERE failure_kind = $3 AND next IS NOT NULL",
    DB_REPEATABLE};

struct share_row {
    double run_count, share;
};
static const struct db_column share_columns[] = {
    DB_COLUMN(struct share_row, run_count, DB_NUMBER),
    DB_COLUMN(struct share_row, share, DB_NUMBER),
    {0}};

enum error_code store_failure_share(struct db_session *s, const char *tenant,
                                    const char *application_id, const char *failure_kind,
                                    double *share, double *run_count, struct arena *a,
                                    struct error *err)
{
    const struct share_row *row;
    void *rows;
    size_t count;

    TRY(db_rows(
        s, &select_failure_share,
        DB_PARAMS(db_text(tenant), db_text(application_id), db_text(failure_kind)),
        share_columns, sizeof(struct share_row), &rows, &count, a, err));
    row = rows;
    *run_count = count > 0 ? row->run_count : 0;
    *share = count > 0 ? row->share : (double)NAN;
    return OK;
}

/* The application's latest good runs: $1 the tenant. */
#define MEDIAN_OF_LIKE                                                                   \
    " SELECT l.application_id, m.median_s FROM alike AS l CROSS JOIN LATERAL"            \
    " (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY r.run_time_s) AS median_s"     \
    " FROM (SELECT e.run_time_s FROM execution AS e WHERE e.tenant = $1"                 \
    " AND e.application_id = l.application_id AND e.phase_index = -1 AND NOT e.ignored"  \
    " AND NOT e.outlier AND e.run_time_s > 0 AND e.failure_kind = 'none'"                \
    " AND coalesce(e.exit_code, 0) = 0 ORDER BY e.started_at DESC LIMIT 500) AS r) AS m" \
    " WHERE m.median_s IS NOT NULL ORDER BY l.application_id LIMIT $3"
#define LAST_PART(id) "lower(regexp_replace(" id ", '^.*[/:.]', ''))"

static const struct db_statement select_same_name = {
    "select_similar_by_name",
    "WITH alike AS (SELECT DISTINCT application_id FROM model WHERE tenant = $1"
    " AND application_id <> $2 AND " LAST_PART("application_id") " = " LAST_PART(
        "$2") " AND " LAST_PART("$2") " <> '')" MEDIAN_OF_LIKE,
    DB_REPEATABLE};

static const struct db_statement select_same_inputs = {
    "select_similar_by_inputs",
    "WITH asked AS (SELECT DISTINCT name FROM jsonb_array_elements_text($4::jsonb) AS "
    "name),"
    " known AS (SELECT application_id FROM model WHERE tenant = $1"
    " AND application_id <> $2 GROUP BY application_id"
    " ORDER BY max(updated_at) DESC, application_id LIMIT 1000),"
    " inputs AS (SELECT k.application_id, n.name FROM known AS k CROSS JOIN LATERAL"
    " (SELECT e.parameters, e.problem_size FROM execution AS e WHERE e.tenant = $1"
    " AND e.application_id = k.application_id AND e.phase_index = -1 AND NOT e.ignored"
    " ORDER BY e.started_at DESC LIMIT 1) AS l CROSS JOIN LATERAL"
    " (SELECT jsonb_object_keys(coalesce(l.parameters, '{}')) AS name"
    " UNION SELECT 'problem_size' WHERE l.problem_size IS NOT NULL) AS n),"
    " alike AS (SELECT i.application_id FROM inputs AS i"
    " LEFT JOIN asked AS q ON q.name = i.name GROUP BY i.application_id"
    " HAVING 2 * count(q.name) >= greatest(count(*), (SELECT count(*) FROM "
    "asked)) AND bool_or(q.name <> 'problem_size'))" MEDIAN_OF_LIKE,
    DB_REPEATABLE};

static const struct db_column similar_columns[] = {
    DB_COLUMN(struct store_similar, application_id, DB_TEXT),
    DB_COLUMN(struct store_similar, median_s, DB_NUMBER),
    {0}};

enum error_code store_similar(struct db_session *s, const char *tenant,
                              const char *application_id, const char *input_names,
                              size_t limit, const struct store_similar **list,
                              size_t *count, bool *by_name, struct arena *a,
                              struct error *err)
{
    void *rows;

    *by_name = true;
    TRY(db_rows(s, &select_same_name,
                DB_PARAMS(db_text(tenant), db_text(application_id), db_integer(limit)),
                similar_columns, sizeof(struct store_similar), &rows, count, a, err));
    if (*count == 0 && input_names) {
        *by_name = false;
        TRY(db_rows(s, &select_same_inputs,
                    DB_PARAMS(db_text(tenant), db_text(application_id), db_integer(limit),
                              db_text(input_names)),
                    similar_columns, sizeof(struct store_similar), &rows, count, a, err));
    }
    *list = rows;
    return OK;
}

static const struct db_statement select_missing = {
    "select_models_missing",
    "SELECT a FROM jsonb_array_elements_text($2::jsonb) AS a WHERE NOT EXISTS"
    " (SELECT FROM model WHERE tenant = $1 AND application_id = a AND target = $5)"
    " AND (SELECT count(*) FROM (SELECT FROM execution WHERE tenant = $1"
    " AND application_id = a AND phase_index = -1 AND " LEARNT_OF(
        "$5") " IS NOT NULL"
              " LIMIT $3) AS enough) >= $3 ORDER BY a LIMIT $4",
    0};

static const struct db_column application_columns[] = {
    DB_COLUMN(struct store_application, application_id, DB_TEXT), {0}};

enum error_code store_models_missing(struct db_session *s, const char *tenant,
                                     const char *applications, const char *target,
                                     size_t runs, size_t limit,
                                     const struct store_application **list, size_t *count,
                                     struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_missing,
                DB_PARAMS(db_text(tenant), db_json(applications), db_integer(runs),
                          db_integer(limit), db_text(target)),
                application_columns, sizeof(struct store_application), &rows, count, a,
                err));
    *list = rows;
    return OK;
}

static const struct db_statement select_known = {
    "select_models_known",
    "SELECT DISTINCT application_id FROM model WHERE tenant = $1 AND version > 0"
    " AND target = $3"
    " AND application_id IN (SELECT jsonb_array_elements_text($2::jsonb)) ORDER BY 1",
    DB_REPEATABLE};

enum error_code store_models_known(struct db_session *s, const char *tenant,
                                   const char *applications,
                                   const struct store_application **list, size_t *count,
                                   struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(
        s, &select_known,
        DB_PARAMS(db_text(tenant), db_json(applications), db_text(STORE_TARGET_RUN_TIME)),
        application_columns, sizeof(struct store_application), &rows, count, a, err));
    *list = rows;
    return OK;
}

struct counted_models {
    uint64_t count;
};
static const struct db_column count_columns[] = {
    DB_COLUMN(struct counted_models, count, DB_INTEGER), {0}};
static const struct db_statement count_models = {
    "count_models", "SELECT count(*) FROM model WHERE tenant = $1", DB_REPEATABLE};

enum error_code store_models_count(struct db_session *s, const char *tenant,
                                   uint64_t *count, struct arena *a, struct error *err)
{
    struct counted_models row = {0};
    bool found;

    TRY(db_row(s, &count_models, DB_PARAMS(db_text(tenant)), count_columns, sizeof(row),
               &row, &found, a, err));
    *count = row.count;
    return OK;
}

static const struct db_statement set_version = {
    "roll_back_model",
    "WITH gone AS (UPDATE model_version SET abandoned = true WHERE tenant = $1"
    " AND model_id = $2 AND version > $3),"
    " left_out AS (UPDATE model_sample SET verdict = 'left_out' WHERE tenant = $1"
    " AND model_id = $2 AND version > $3)"
    " UPDATE model SET version = $3, state = $4, generation = generation + 1,"
    " train_requested = false, note = NULL, retry_at = NULL, updated_at = now()"
    " WHERE tenant = $1 AND model_id = $2",
    0};

static enum error_code roll_back(struct db_session *s, void *context, struct error *err)
{
    const struct change *c = context;
    struct store_model_version version = {0};

    TRY(lock_expected(s, c->tenant, c->model_id, c->expected, c->out, c->a, err));
    if (c->version >= c->out->version)
        return fail(err, ERR_CONFLICT, "/version",
                    "version %" PRIu64 " is not earlier than the current one, %" PRIu64,
                    c->version, c->out->version);
    TRY(store_model_version_read(s, c->tenant, c->model_id, c->version, &version, c->a,
                                 err));
    if (version.abandoned)
        return fail(err, ERR_CONFLICT, "/version",
                    "version %" PRIu64 " was abandoned by an earlier roll-back",
                    c->version);
    TRY(db_run(s, &set_version,
               DB_PARAMS(db_text(c->tenant), db_text(c->model_id), db_integer(c->version),
                         db_text(version.state)),
               NULL, err));
    return store_model_read(s, c->tenant, c->model_id, c->out, c->a, err);
}

enum error_code store_model_roll_back(struct db_session *s, const char *tenant,
                                      const char *model_id, uint64_t expected,
                                      uint64_t version, struct store_model *out,
                                      struct arena *a, struct error *err)
{
    struct change c = {.tenant = tenant,
                       .model_id = model_id,
                       .expected = expected,
                       .version = version,
                       .out = out,
                       .a = a};

    return together(s, roll_back, &c, err);
}

/* ---- training and refining ---- */

static const struct db_statement request_training = {
    "request_training",
    "UPDATE model SET train_requested = true, retry_at = NULL,"
    " settings = coalesce($3, settings),"
    " generation = generation + 1, updated_at = now() WHERE tenant = $1"
    " AND model_id = $2",
    0};

static enum error_code ask_for_training(struct db_session *s, void *context,
                                        struct error *err)
{
    const struct change *c = context;

    TRY(lock_expected(s, c->tenant, c->model_id, c->expected, c->out, c->a, err));
    TRY(db_run(s, &request_training,
               DB_PARAMS(db_text(c->tenant), db_text(c->model_id), db_text(c->settings)),
               NULL, err));
    return store_model_read(s, c->tenant, c->model_id, c->out, c->a, err);
}

enum error_code store_model_train(struct db_session *s, const char *tenant,
                                  const char *model_id, uint64_t expected,
                                  const char *settings, struct store_model *out,
                                  struct arena *a, struct error *err)
{
    struct change c = {.tenant = tenant,
                       .model_id = model_id,
                       .expected = expected,
                       .settings = settings,
                       .out = out,
                       .a = a};

    return together(s, ask_for_training, &c, err);
}

/* Two small partial indexes say it, not the table of models. Where effects of machines
 * are to be worked out one model of the tenant stands for all. */
static const struct db_statement select_waiting = {
    "models_waiting",
    "SELECT tenant, model_id FROM model JOIN"
    " (SELECT tenant, model_id FROM model_sample WHERE version IS NULL"
    " UNION SELECT tenant, model_id FROM model WHERE train_requested"
    " UNION SELECT e.tenant, first.model_id FROM machine_effect_made AS e,"
    " LATERAL (SELECT m.model_id FROM model AS m WHERE m.tenant = e.tenant"
    " AND m.kind = 'auto' AND m.target = 'run_time_s' AND m.retry_at IS NULL"
    " ORDER BY m.model_id LIMIT 1) AS first"
    " WHERE e.is_stale AND e.made_at < now() - make_interval(secs => $2)) AS w"
    " USING (tenant, model_id) WHERE retry_at IS NULL OR retry_at < now()"
    " ORDER BY updated_at LIMIT $1",
    DB_REPEATABLE};

static const struct db_column name_columns[] = {
    DB_COLUMN(struct store_model_name, tenant, DB_TEXT),
    DB_COLUMN(struct store_model_name, model_id, DB_TEXT),
    {0},
};

enum error_code store_models_waiting(struct db_session *s, size_t limit,
                                     const struct store_model_name **list, size_t *count,
                                     struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_waiting,
                DB_PARAMS(db_integer(limit), db_number(STORE_MACHINE_EFFECTS_AGE_S)),
                name_columns, sizeof(struct store_model_name), &rows, count, a, err));
    *list = rows;
    return OK;
}

/* retry_at is also what keeps other replicas from it, while one is at it. */
static const struct db_statement claim_model = {
    "claim_model",
    "UPDATE model SET retry_at = now() + make_interval(secs => $3) WHERE tenant = $1"
    " AND model_id = $2 AND (retry_at IS NULL OR retry_at < now())",
    0};

enum error_code store_model_claim(struct db_session *s,
                                  const struct store_model_name *name, double lease_s,
                                  bool *ours, struct error *err)
{
    size_t count = 0;

    TRY(db_run(
        s, &claim_model,
        DB_PARAMS(db_text(name->tenant), db_text(name->model_id), db_number(lease_s)),
        &count, err));
    *ours = count > 0;
    return OK;
}

/* Who has written what came of it has ended the claim. */
static const struct db_statement claim_until = {
    "claim_model_until",
    "UPDATE model SET retry_at = now() + make_interval(secs => $3) WHERE tenant = $1"
    " AND model_id = $2 AND retry_at > now()",
    DB_REPEATABLE};

enum error_code store_model_claim_until(struct db_session *s,
                                        const struct store_model_name *name,
                                        double lease_s, struct error *err)
{
    return db_run(
        s, &claim_until,
        DB_PARAMS(db_text(name->tenant), db_text(name->model_id), db_number(lease_s)),
        NULL, err);
}

#define SAMPLE_HEAD                                                                \
    "execution_id, started_at, run_time_s, problem_size, processors,"              \
    " cpu_available_ratio, bandwidth_mbps, dedicated, parameters, resource_class," \
    " site_id, is_bound, predicted_s,"                                             \
    " predicted_version, verdict, version"

struct sample_row {
    struct store_sample sample;
    uint64_t row_id;
};

#define SAMPLE_COLUMN_ROWS                                              \
    DB_COLUMN(struct store_sample, execution_id, DB_TEXT),              \
        DB_COLUMN(struct store_sample, started_at_s, DB_INSTANT),       \
        DB_COLUMN(struct store_sample, run_time_s, DB_NUMBER),          \
        DB_COLUMN(struct store_sample, problem_size, DB_NUMBER),        \
        DB_COLUMN(struct store_sample, processors, DB_WHOLE),           \
        DB_COLUMN(struct store_sample, cpu_available_ratio, DB_NUMBER), \
        DB_COLUMN(struct store_sample, bandwidth_mbps, DB_NUMBER),      \
        DB_COLUMN(struct store_sample, dedicated, DB_BOOLEAN),          \
        DB_COLUMN(struct store_sample, parameters, DB_JSON),            \
        DB_COLUMN(struct store_sample, resource_class, DB_TEXT),        \
        DB_COLUMN(struct store_sample, site_id, DB_TEXT),               \
        DB_COLUMN(struct store_sample, is_bound, DB_BOOLEAN),           \
        DB_COLUMN(struct store_sample, predicted_s, DB_NUMBER),         \
        DB_COLUMN(struct store_sample, predicted_version, DB_WHOLE),    \
        DB_COLUMN(struct store_sample, verdict, DB_TEXT),               \
        DB_COLUMN(struct store_sample, version, DB_WHOLE)

static const struct db_column sample_columns[] = {SAMPLE_COLUMN_ROWS, {0}};
static const struct db_column sample_row_columns[] = {
    SAMPLE_COLUMN_ROWS, DB_COLUMN(struct sample_row, row_id, DB_INTEGER), {0}};

#define LATEST(name, which)                                                             \
    {                                                                                   \
        name,                                                                           \
            "SELECT " SAMPLE_HEAD " FROM (SELECT * FROM model_sample WHERE tenant = $1" \
            " AND model_id = $2" which                                                  \
            " ORDER BY started_at DESC, row_id DESC LIMIT $3) AS latest"                \
            " ORDER BY started_at, row_id",                                             \
            DB_REPEATABLE                                                               \
    }

static const struct db_statement select_samples[] = {
    [STORE_SAMPLES_NEW] = LATEST("model_samples_new", " AND version IS NULL"),
    [STORE_SAMPLES_KNOWN] = LATEST("model_samples_known", " AND version IS NOT NULL"),
    [STORE_SAMPLES_ALL] = LATEST("model_samples_all", ""),
};

enum error_code store_model_samples(struct db_session *s, const char *tenant,
                                    const char *model_id, enum store_samples_which which,
                                    const struct store_sample **list, size_t *count,
                                    struct arena *a, struct error *err)
{
    size_t limit = which == STORE_SAMPLES_NEW ? STORE_PAGE_MAX : STORE_MODEL_SAMPLES_MAX;
    void *rows;

    TRY(db_rows(s, &select_samples[which],
                DB_PARAMS(db_text(tenant), db_text(model_id), db_integer(limit)),
                sample_columns, sizeof(struct store_sample), &rows, count, a, err));
    *list = rows;
    return OK;
}

static const struct db_statement select_skipped = {
    "select_skipped_inputs",
    "SELECT DISTINCT p.key AS name FROM (SELECT parameters FROM model_sample"
    " WHERE tenant = $1 AND model_id = $2 AND jsonb_typeof(parameters) = 'object'"
    " ORDER BY started_at DESC LIMIT $3) AS s, jsonb_each(s.parameters) AS p"
    " WHERE jsonb_typeof(p.value) IN ('object', 'array') ORDER BY name LIMIT $4",
    DB_REPEATABLE};

static const struct db_column skipped_columns[] = {
    DB_COLUMN(struct store_skipped, name, DB_TEXT), {0}};

enum error_code store_model_skipped(struct db_session *s, const char *tenant,
                                    const char *model_id,
                                    const struct store_skipped **list, size_t *count,
                                    struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_skipped,
                DB_PARAMS(db_text(tenant), db_text(model_id),
                          db_integer(STORE_SKIPPED_RUNS), db_integer(STORE_SKIPPED_MAX)),
                skipped_columns, sizeof(struct store_skipped), &rows, count, a, err));
    *list = rows;
    return OK;
}

static const struct db_statement list_samples = {
    "list_model_samples",
    "SELECT " SAMPLE_HEAD ", row_id FROM model_sample WHERE tenant = $1"
    " AND model_id = $2 AND (started_at, row_id) < ($3, $4)"
    " ORDER BY started_at DESC, row_id DESC LIMIT $5",
    DB_REPEATABLE};

enum error_code store_model_samples_list(struct db_session *s, const char *tenant,
                                         const char *model_id,
                                         const struct store_page *page,
                                         const struct store_sample **list, size_t *count,
                                         const char **next_token, struct arena *a,
                                         struct error *err)
{
    double before_at_s = HUGE_VAL;
    uint64_t before_id = INT64_MAX;
    const char *text, *next = NULL;
    struct sample_row *rows;
    struct store_sample *samples;
    size_t row_count;

    if (page->token) {
        TRY(token_read(page->token, &before_at_s, &text, a, err));
        before_id = strtoull(text, NULL, 10) & INT64_MAX;
    }
    TRY(db_rows(s, &list_samples,
                DB_PARAMS(db_text(tenant), db_text(model_id), db_instant(before_at_s),
                          db_integer(before_id), db_integer(page->limit + 1)),
                sample_row_columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    if (row_count > page->limit) {
        const struct sample_row *last = &rows[page->limit - 1];
        char number[24];

        snprintf(number, sizeof(number), "%" PRIu64, last->row_id);
        TRY(token_make(last->sample.started_at_s, number, &next, a, err));
    }
    row_count = page_count(page, row_count);
    samples = TRY_NEW(a, struct store_sample, row_count);
    if (!samples)
        return fail_memory(err);
    for (size_t i = 0; i < row_count; i++)
        samples[i] = rows[i].sample;
    *list = samples;
    *count = row_count;
    *next_token = next;
    return OK;
}

static const struct db_statement insert_version = {
    "insert_model_version",
    "INSERT INTO model_version VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, false, now())",
    0};

/* $6 whether all samples belong to the version. */
static const struct db_statement update_model = {
    "advance_model",
    "UPDATE model SET version = $3, last_version = greatest(last_version, $3),"
    " state = coalesce($4, state), note = $5, train_requested = false,"
    " corrected = false, retry_at = NULL,"
    " generation = generation + 1, updated_at = now()"
    " WHERE tenant = $1 AND model_id = $2",
    0};

/* db_run_list() gives the tenant once and all else as arrays: also what is the same
 * in every row. */
struct looked_at {
    const char *model_id, *execution_id;
    double predicted_s, predicted_version;
    const char *verdict;
    double version;
};

static const struct db_column looked_at_columns[] = {
    DB_COLUMN(struct looked_at, model_id, DB_TEXT),
    DB_COLUMN(struct looked_at, execution_id, DB_TEXT),
    DB_COLUMN(struct looked_at, predicted_s, DB_NUMBER),
    DB_COLUMN(struct looked_at, predicted_version, DB_WHOLE),
    DB_COLUMN(struct looked_at, verdict, DB_TEXT),
    DB_COLUMN(struct looked_at, version, DB_WHOLE),
    {0},
};

static const struct db_statement update_samples = {
    "update_model_samples",
    "UPDATE model_sample AS s SET predicted_s = n.predicted_s,"
    " predicted_version = n.predicted_version, verdict = n.verdict, version = n.version"
    " FROM unnest($2, $3, $4, $5, $6, $7) AS n (model_id, execution_id, predicted_s,"
    " predicted_version, verdict, version)"
    " WHERE s.tenant = $1 AND s.model_id = n.model_id"
    " AND s.execution_id = n.execution_id",
    0};

static const struct db_statement delete_versions = {
    "delete_model_versions",
    "DELETE FROM model_version WHERE tenant = $1 AND model_id = $2 AND version <="
    " (SELECT version FROM model_version WHERE tenant = $1 AND model_id = $2"
    " AND NOT abandoned ORDER BY version DESC OFFSET $3 LIMIT 1)",
    0};

/* The index gives the first that is too many; nothing is read when there is none. */
static const struct db_statement delete_samples = {
    "delete_model_samples",
    "DELETE FROM model_sample WHERE tenant = $1 AND model_id = $2"
    " AND version IS NOT NULL AND (started_at, row_id) <="
    " (SELECT started_at, row_id FROM model_sample WHERE tenant = $1 AND model_id = $2"
    " ORDER BY started_at DESC, row_id DESC OFFSET $3 LIMIT 1)",
    0};

static enum error_code write_samples(struct db_session *s,
                                     const struct store_model *model,
                                     const struct store_model_advance *advance,
                                     uint64_t version, struct arena *a, struct error *err)
{
    struct looked_at *rows = TRY_NEW(a, struct looked_at, advance->looked_at_count);

    if (!rows)
        return fail_memory(err);
    for (size_t i = 0; i < advance->looked_at_count; i++) {
        const struct store_sample *sample = &advance->looked_at[i];

        rows[i] = (struct looked_at){model->model_id,     sample->execution_id,
                                     sample->predicted_s, sample->predicted_version,
                                     sample->verdict,     (double)version};
        if (sample->version > 0)
            rows[i].version = sample->version;
    }
    return db_run_list(s, &update_samples, model->tenant, looked_at_columns,
                       sizeof(*rows), rows, advance->looked_at_count, NULL, a, err);
}

enum error_code store_model_advance(struct db_session *s, const struct store_model *model,
                                    const struct store_model_advance *advance,
                                    struct arena *a, struct error *err)
{
    const struct store_model_version *v = advance->version;
    uint64_t kept = advance->forgets ? 0 : model->version;
    uint64_t version = v ? model->last_version + 1 : kept;
    const struct db_param *name =
        DB_PARAMS(db_text(model->tenant), db_text(model->model_id));

    if (v)
        TRY(db_run(s, &insert_version,
                   DB_PARAMS(name[0], name[1], db_integer(version),
                             db_integer(v->parent_version), db_text(v->cause),
                             db_text(v->state), db_text(v->summary),
                             db_integer(v->layout),
                             db_bytes(v->numbers.data, v->numbers.length)),
                   NULL, err));
    TRY(db_run(s, &update_model,
               DB_PARAMS(name[0], name[1], db_integer(version),
                         db_text(v                  ? v->state
                                 : advance->forgets ? store_model_states[STORE_UNTRAINED]
                                                    : NULL),
                         db_text(advance->note)),
               NULL, err));
    if (advance->looked_at_count)
        TRY(write_samples(s, model, advance, version, a, err));
    TRY(db_run(s, &delete_versions,
               DB_PARAMS(name[0], name[1], db_integer(STORE_MODEL_VERSIONS_KEPT)), NULL,
               err));
    return db_run(s, &delete_samples,
                  DB_PARAMS(name[0], name[1], db_integer(STORE_MODEL_SAMPLES_MAX)), NULL,
                  err);
}

static const struct db_statement postpone = {
    "postpone_model",
    "UPDATE model SET note = $3, retry_at = now() + make_interval(secs => $4)"
    " WHERE tenant = $1 AND model_id = $2",
    DB_REPEATABLE};

enum error_code store_model_postpone(struct db_session *s, const char *tenant,
                                     const char *model_id, const char *note,
                                     double retry_s, struct error *err)
{
    return db_run(
        s, &postpone,
        DB_PARAMS(db_text(tenant), db_text(model_id), db_text(note), db_number(retry_s)),
        NULL, err);
}

/* ---- load for forecasts ---- */

/* Minutes of roll-ups where they are made and kept, else samples: of hours that are due,
 * of the time since the last hour that is made, of that before the oldest minute kept,
 * and of the first minute if it is not whole. LATERAL: the index gives the rows of each
 * resource. $1 tenant, $2 ids, $3 from, $4 to, $5 step, a multiple of minutes that
 * divides hours. */
static const struct db_statement select_means = {
    "load_means",
    "WITH made AS (SELECT greatest($3, (SELECT kept_from FROM rollup_progress"
    " WHERE level_s = 60)) AS from_at, least($4, (SELECT known_until FROM rollup_progress"
    " WHERE level_s = 3600)) AS to_at,"
    " date_bin('1 minute', $3 + interval '59.999999 s', 'epoch') AS minute_at)"
    " SELECT r.id, l.to_resource_id, l.start, l.n, l.cpu, l.bw"
    " FROM jsonb_array_elements_text($2) WITH ORDINALITY AS r (id, place), made"
    " CROSS JOIN LATERAL (SELECT to_resource_id, start, sum(n)::bigint AS n,"
    " sum(cpu_n * cpu) / nullif(sum(cpu_n), 0) AS cpu,"
    " sum(bw_n * bw) / nullif(sum(bw_n), 0) AS bw FROM ("
    "SELECT nullif(u.to_resource_id, '') AS to_resource_id,"
    " date_bin($5 * interval '1 second', u.at, 'epoch') AS start,"
    " greatest(cpu_available_ratio_count, memory_available_bytes_count,"
    " bandwidth_mbps_count, latency_s_count)::bigint AS n,"
    " cpu_available_ratio_count::float8 AS cpu_n, cpu_available_ratio_mean AS cpu,"
    " bandwidth_mbps_count::float8 AS bw_n, bandwidth_mbps_mean AS bw"
    " FROM load_rollup AS u WHERE u.tenant = $1 AND u.resource_id = r.id"
    " AND u.level_s = 60 AND u.at >= made.from_at AND u.at < made.to_at"
    " AND NOT EXISTS (SELECT FROM rollup_due AS d WHERE d.tenant = $1"
    " AND d.at = date_bin('1 hour', u.at, 'epoch') AND d.shard = hashtext(r.id) & 63)"
    " UNION ALL SELECT s.to_resource_id,"
    " date_bin($5 * interval '1 second', s.observed_at, 'epoch'), count(*),"
    " count(s.cpu_available_ratio)::float8, avg(s.cpu_available_ratio),"
    " count(s.bandwidth_mbps)::float8, avg(s.bandwidth_mbps)"
    " FROM (SELECT $3 AS from_at, least($4, made.from_at) AS to_at"
    " UNION ALL SELECT greatest($3, made.to_at), $4"
    " UNION ALL SELECT greatest(made.from_at, d.at),"
    " least(made.to_at, d.at + interval '1 hour') FROM rollup_due AS d"
    " WHERE d.tenant = $1 AND d.shard = hashtext(r.id) & 63"
    " AND d.at > made.from_at - interval '1 hour' AND d.at < made.to_at"
    " UNION ALL SELECT $3, least(made.minute_at, $4) WHERE made.from_at <= $3"
    " AND made.to_at > $3 AND NOT EXISTS (SELECT FROM rollup_due AS d"
    " WHERE d.tenant = $1 AND d.at = date_bin('1 hour', $3, 'epoch')"
    " AND d.shard = hashtext(r.id) & 63)) AS raw"
    " CROSS JOIN LATERAL (SELECT * FROM load_sample WHERE tenant = $1"
    " AND resource_id = r.id AND observed_at >= raw.from_at"
    " AND observed_at < raw.to_at) AS s GROUP BY 1, 2) AS parts"
    " GROUP BY 1, 2) AS l"
    " ORDER BY r.place, l.to_resource_id NULLS FIRST, l.start",
    DB_REPEATABLE};

static const struct db_column mean_columns[] = {
    DB_COLUMN(struct store_load_mean, resource_id, DB_TEXT),
    DB_COLUMN(struct store_load_mean, to_resource_id, DB_TEXT),
    DB_COLUMN(struct store_load_mean, start_at_s, DB_INSTANT),
    DB_COLUMN(struct store_load_mean, sample_count, DB_INTEGER),
    DB_COLUMN(struct store_load_mean, cpu_available_ratio, DB_NUMBER),
    DB_COLUMN(struct store_load_mean, bandwidth_mbps, DB_NUMBER),
    {0},
};

enum error_code store_load_means(struct db_session *s, const char *tenant,
                                 const char *ids, double from_at_s, double to_at_s,
                                 double step_s, const struct store_load_mean **list,
                                 size_t *count, struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_means,
                DB_PARAMS(db_text(tenant), db_json(ids), db_instant(from_at_s),
                          db_instant(to_at_s), db_number(step_s)),
                mean_columns, sizeof(struct store_load_mean), &rows, count, a, err));
    *list = rows;
    return OK;
}

/* $1 tenant, $2 runs. LATERAL: the index gives the samples of each. */
static const struct db_statement select_during = {
    "load_during",
    "SELECT r.number, r.id, l.to_resource_id, l.cpu, l.bw"
    " FROM (SELECT (v->>0)::bigint AS number, v->>1 AS id,"
    " to_timestamp((v->>2)::float8) AS began, to_timestamp((v->>3)::float8) AS ended"
    " FROM jsonb_array_elements($2) AS e (v)) AS r"
    " CROSS JOIN LATERAL (SELECT to_resource_id, avg(cpu_available_ratio) AS cpu,"
    " avg(bandwidth_mbps) AS bw FROM load_sample WHERE tenant = $1"
    " AND resource_id = r.id AND observed_at >= r.began AND observed_at < r.ended"
    " GROUP BY 1) AS l ORDER BY r.number, r.id, l.to_resource_id NULLS FIRST",
    DB_REPEATABLE};

static const struct db_column during_columns[] = {
    DB_COLUMN(struct store_load_during, run, DB_INTEGER),
    DB_COLUMN(struct store_load_during, resource_id, DB_TEXT),
    DB_COLUMN(struct store_load_during, to_resource_id, DB_TEXT),
    DB_COLUMN(struct store_load_during, cpu_available_ratio, DB_NUMBER),
    DB_COLUMN(struct store_load_during, bandwidth_mbps, DB_NUMBER),
    {0},
};

enum error_code store_load_during(struct db_session *s, const char *tenant,
                                  const char *runs, const struct store_load_during **list,
                                  size_t *count, struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_during, DB_PARAMS(db_text(tenant), db_json(runs)),
                during_columns, sizeof(struct store_load_during), &rows, count, a, err));
    *list = rows;
    return OK;
}

/* From one id to the next by the index, not through all samples. */
static const struct db_statement select_resources = {
    "load_resources",
    "WITH RECURSIVE ids (id, place) AS ("
    " SELECT (SELECT min(resource_id) FROM load_sample WHERE tenant = $1"
    " AND resource_id > $2), 1"
    " UNION ALL SELECT (SELECT min(resource_id) FROM load_sample WHERE tenant = $1"
    " AND resource_id > ids.id), place + 1 FROM ids WHERE id IS NOT NULL AND place < $3)"
    " SELECT id FROM ids WHERE id IS NOT NULL",
    DB_REPEATABLE};

static const struct db_column resource_columns[] = {
    DB_COLUMN(struct store_resource_id, resource_id, DB_TEXT),
    {0},
};

enum error_code store_load_resources(struct db_session *s, const char *tenant,
                                     const struct store_page *page,
                                     const struct store_resource_id **list, size_t *count,
                                     const char **next_token, struct arena *a,
                                     struct error *err)
{
    const char *after = "", *next = NULL;
    struct store_resource_id *rows;
    size_t row_count;
    double ignored_s;

    if (page->token)
        TRY(token_read(page->token, &ignored_s, &after, a, err));
    TRY(db_rows(s, &select_resources,
                DB_PARAMS(db_text(tenant), db_text(after), db_integer(page->limit + 1)),
                resource_columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    if (row_count > page->limit)
        TRY(token_make(0, rows[page->limit - 1].resource_id, &next, a, err));
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}
