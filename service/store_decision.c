/* store_decision.c - decisions, with all that is needed to repeat them. */
#include "service/json.h"
#include "service/store_token.h"
#include "service/uuid.h"

#include <math.h>
#include <string.h>

#define COLUMNS                                                       \
    DB_COLUMN(struct store_decision, decision_id, DB_UUID),           \
        DB_COLUMN(struct store_decision, created_at_s, DB_INSTANT),   \
        DB_COLUMN(struct store_decision, endpoint, DB_TEXT),          \
        DB_COLUMN(struct store_decision, algorithm, DB_TEXT),         \
        DB_COLUMN(struct store_decision, status, DB_TEXT),            \
        DB_COLUMN(struct store_decision, seed, DB_INTEGER),           \
        DB_COLUMN(struct store_decision, request_sha256, DB_BYTES),   \
        DB_COLUMN(struct store_decision, request, DB_TEXT),           \
        DB_COLUMN(struct store_decision, snapshot_document, DB_TEXT), \
        DB_COLUMN(struct store_decision, history_document, DB_TEXT),  \
        DB_COLUMN(struct store_decision, answer, DB_TEXT),            \
        DB_COLUMN(struct store_decision, api_revision, DB_NUMBER),    \
        DB_COLUMN(struct store_decision, job_count, DB_INTEGER),      \
        DB_COLUMN(struct store_decision, unplaced_count, DB_INTEGER), \
        DB_COLUMN(struct store_decision, makespan_s, DB_NUMBER),      \
        DB_COLUMN(struct store_decision, gap_ratio, DB_NUMBER),       \
        DB_COLUMN(struct store_decision, decide_s, DB_NUMBER),        \
        DB_COLUMN(struct store_decision, labels, DB_TEXT)

static const struct db_column columns[] = {COLUMNS, {0}};

#define DECISION_HEAD \
    "decision_id, created_at, route, algorithm, status, seed, request_sha256"
#define DECISION_BODY "request, snapshot_document, history_document, answer"
#define NO_COUNT      "9223372036854775807" /* no value; see known() */
#define DECISION_FIGURES                                                         \
    "coalesce(job_count, " NO_COUNT "), coalesce(unplaced_count, " NO_COUNT ")," \
    " makespan_s, gap_ratio, decide_s, labels::text"

static const struct db_statement insert_decision = {
    "insert_decision",
    "INSERT INTO decision (tenant, " DECISION_HEAD ", " DECISION_BODY ", api_revision,"
    " job_count, unplaced_count, makespan_s, gap_ratio, decide_s, labels)"
    " SELECT $1, $2, now(), $3, $4, $5, $6, $7, $8, $9, $10, $11,"
    " $12::double precision::integer,"
    " COALESCE((a ->> 'placement_count')::bigint + (a ->> 'unplaced_count')::bigint,"
    "  (SELECT sum(jsonb_array_length(list)) FROM jsonb_each(a) AS member (name, list)"
    "   WHERE name IN ('placements', 'schedule', 'starts', 'waiting', 'intervals',"
    "    'unplaced') AND jsonb_typeof(list) = 'array'"
    "   HAVING bool_or(name <> 'unplaced'))),"
    " COALESCE((a ->> 'unplaced_count')::bigint, CASE jsonb_typeof(a -> 'unplaced')"
    "  WHEN 'array' THEN jsonb_array_length(a -> 'unplaced') END),"
    " (a #>> '{objective,makespan_s}')::double precision,"
    " (a #>> '{objective,gap_ratio}')::double precision,"
    " (a #>> '{timings,decide_s}')::double precision, a -> 'labels'"
    " FROM (SELECT $11::jsonb) AS answer (a) ON CONFLICT DO NOTHING",
    0};

/* With the documents that are wanted and not long, and how long the others are. */
#define LONG_BYTES "131072"
#define IF_SHORT(WANTED, D) \
    ", CASE WHEN " WANTED " AND octet_length(" D ") <= " LONG_BYTES " THEN " D " END"
#define IF_LONG(WANTED, D)                                         \
    ", CASE WHEN " WANTED " AND octet_length(" D ") > " LONG_BYTES \
    " THEN octet_length(" D ")::bigint ELSE 0 END"
#define EACH_DOCUMENT(F) \
    F("$3", "request")   \
    F("$4", "snapshot_document") F("$5", "history_document") F("$6", "answer")

static const struct db_statement select_decision = {
    "select_decision",
    "SELECT " DECISION_HEAD EACH_DOCUMENT(
        IF_SHORT) ", api_revision::double precision, " DECISION_FIGURES
        EACH_DOCUMENT(IF_LONG) " FROM decision WHERE tenant = $1 AND decision_id = $2",
    DB_REPEATABLE};

/* textsend() is once for all pieces, as nothing is computed across OFFSET. */
#define IN_PIECES(D)                                                                    \
    {                                                                                   \
        "decision_" D,                                                                  \
            "SELECT begin, substring(d FROM begin::integer + 1 FOR 65536)"              \
            " FROM (SELECT textsend(" D ") AS d FROM decision"                          \
            "  WHERE tenant = $1 AND decision_id = $2 OFFSET 0) AS document,"           \
            " generate_series(0::bigint, octet_length(d) - 1, 65536) AS piece (begin)", \
            DB_REPEATABLE                                                               \
    }

enum { DOCUMENTS = 4 };

/* In the order of how_long. */
static const struct document {
    struct db_statement pieces;
    size_t offset;
} documents[DOCUMENTS] = {
    {IN_PIECES("request"), offsetof(struct store_decision, request)},
    {IN_PIECES("snapshot_document"), offsetof(struct store_decision, snapshot_document)},
    {IN_PIECES("history_document"), offsetof(struct store_decision, history_document)},
    {IN_PIECES("answer"), offsetof(struct store_decision, answer)},
};

struct decision_row {
    struct store_decision decision;
    uint64_t how_long[DOCUMENTS]; /* 0: it came with the row, or is not wanted */
};

static const struct db_column row_columns[] = {
    COLUMNS,
    DB_COLUMN(struct decision_row, how_long[0], DB_INTEGER),
    DB_COLUMN(struct decision_row, how_long[1], DB_INTEGER),
    DB_COLUMN(struct decision_row, how_long[2], DB_INTEGER),
    DB_COLUMN(struct decision_row, how_long[3], DB_INTEGER),
    {0},
};

static const struct db_statement select_decisions = {
    "select_decisions",
    "SELECT " DECISION_HEAD ", NULL::text, NULL::text, NULL::text, NULL::text,"
    " api_revision::double precision, " DECISION_FIGURES " FROM decision"
    " WHERE tenant = $1 AND created_at >= $2 AND created_at < $3"
    " AND (created_at, decision_id) < ($4, $5) AND ($6::text IS NULL OR route = $6)"
    " AND ($8::text IS NULL OR algorithm = $8) AND ($9::text IS NULL OR status = $9)"
    " AND ($10::text IS NULL OR starts_with(decision_id::text, lower($10))"
    "  OR EXISTS (SELECT FROM jsonb_path_query(labels, 'strict $.**') AS part (value)"
    "   WHERE jsonb_typeof(value) = 'string' AND starts_with(value #>> '{}', $10)))"
    " AND ($11::text IS NULL"
    "  OR strpos(answer, '\"job_id\":' || to_json($11::text)) > 0"
    "  OR strpos(answer, '\"task_id\":' || to_json($11::text)) > 0)"
    " ORDER BY created_at DESC, decision_id DESC LIMIT $7",
    DB_REPEATABLE};

enum error_code store_decision_create(struct db_session *s, const char *tenant,
                                      const struct store_decision *d, struct error *err)
{
    size_t stored;

    if (!uuid_is(d->decision_id))
        return fail(err, ERR_INVALID, "/decision_id", "not a UUID");
    TRY(db_run(s, &insert_decision,
               DB_PARAMS(db_text(tenant), db_uuid(d->decision_id), db_text(d->endpoint),
                         db_text(d->algorithm), db_text(d->status), db_integer(d->seed),
                         db_bytes(d->request_sha256.data, d->request_sha256.length),
                         db_text(d->request), db_text(d->snapshot_document),
                         db_text(d->history_document), db_text(d->answer),
                         db_number(d->api_revision)),
               &stored, err));
    if (stored == 0)
        return fail(err, ERR_CONFLICT, "/decision_id", "there is a decision %s already",
                    d->decision_id);
    return OK;
}

/* Counts that the database does not know have no value. */
static void known(struct store_decision *d)
{
    if (d->job_count == INT64_MAX)
        d->job_count = JSON_NO_INTEGER;
    if (d->unplaced_count == INT64_MAX)
        d->unplaced_count = JSON_NO_INTEGER;
}

/* A document that did not come with the row; a decision is removed, but never changed. */
static enum error_code read_long(struct db_session *s, const char *tenant,
                                 struct decision_row *row, size_t i, bool *found,
                                 struct arena *a, struct error *err)
{
    const char *text;

    if (row->how_long[i] == 0)
        return OK;
    TRY(db_pieces(s, &documents[i].pieces,
                  DB_PARAMS(db_text(tenant), db_uuid(row->decision.decision_id)),
                  row->how_long[i], &text, a, err));
    memcpy((char *)&row->decision + documents[i].offset, &text, sizeof(text));
    *found = text != NULL;
    return OK;
}

enum error_code store_decision_read(struct db_session *s, const char *tenant,
                                    const char *decision_id, struct store_decision *out,
                                    struct arena *a, struct error *err)
{
    const struct store_decision_parts all = {true, true, true, true};

    return store_decision_read_parts(s, tenant, decision_id, &all, out, a, err);
}

enum error_code store_decision_read_parts(struct db_session *s, const char *tenant,
                                          const char *decision_id,
                                          const struct store_decision_parts *parts,
                                          struct store_decision *out, struct arena *a,
                                          struct error *err)
{
    struct decision_row row = {0};
    bool found = false;

    if (uuid_is(decision_id))
        TRY(db_row(s, &select_decision,
                   DB_PARAMS(db_text(tenant), db_uuid(decision_id),
                             db_boolean(parts->request), db_boolean(parts->snapshot),
                             db_boolean(parts->history), db_boolean(parts->answer)),
                   row_columns, sizeof(row), &row, &found, a, err));
    for (size_t i = 0; found && i < DOCUMENTS; i++)
        TRY(read_long(s, tenant, &row, i, &found, a, err));
    if (!found)
        return fail(err, ERR_NOT_FOUND, "", "there is no decision '%s'", decision_id);
    *out = row.decision;
    known(out);
    return OK;
}

enum error_code store_decisions_list(struct db_session *s, const char *tenant,
                                     const struct store_decision_filter *filter,
                                     const struct store_page *page,
                                     const struct store_decision **list, size_t *count,
                                     const char **next_token, struct arena *a,
                                     struct error *err)
{
    double before_at_s;
    const char *before_id;
    const char *next = NULL;
    struct store_decision *rows;
    size_t row_count;

    TRY(token_read_before(page, &before_at_s, &before_id, a, err));
    TRY(db_rows(
        s, &select_decisions,
        DB_PARAMS(db_text(tenant),
                  db_instant(isnan(filter->from_at_s) ? -HUGE_VAL : filter->from_at_s),
                  db_instant(isnan(filter->to_at_s) ? HUGE_VAL : filter->to_at_s),
                  db_instant(before_at_s), db_uuid(before_id), db_text(filter->endpoint),
                  db_integer(page->limit + 1), db_text(filter->algorithm),
                  db_text(filter->status), db_text(filter->q), db_text(filter->job_id)),
        columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    for (size_t i = 0; i < row_count; i++)
        known(&rows[i]);
    if (row_count > page->limit) {
        const struct store_decision *last = &rows[page->limit - 1];

        TRY(token_make(last->created_at_s, last->decision_id, &next, a, err));
    }
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}

static const struct db_statement delete_decision = {
    "delete_decision", "DELETE FROM decision WHERE tenant = $1 AND decision_id = $2",
    DB_REPEATABLE};

enum error_code store_decision_remove(struct db_session *s, const char *tenant,
                                      const char *decision_id, struct error *err)
{
    size_t removed = 0;

    if (uuid_is(decision_id))
        TRY(db_run(s, &delete_decision, DB_PARAMS(db_text(tenant), db_uuid(decision_id)),
                   &removed, err));
    if (removed == 0)
        return fail(err, ERR_NOT_FOUND, "", "no such decision is stored");
    return OK;
}

/* $1 tenant, $2 from, $3 to, $4 route or null, $5 how many. */
#define WHICH_DECISIONS                                  \
    "SELECT decision_id FROM decision WHERE tenant = $1" \
    " AND created_at >= $2 AND created_at < $3"          \
    " AND ($4::text IS NULL OR route = $4) ORDER BY created_at LIMIT $5"

static const struct db_statement delete_decisions = {
    "delete_decisions",
    "DELETE FROM decision WHERE tenant = $1 AND decision_id = ANY(ARRAY(" WHICH_DECISIONS
    "))",
    0};
static const struct db_statement count_decisions = {
    "count_decisions", "SELECT count(*) FROM (" WHICH_DECISIONS ") AS found",
    DB_REPEATABLE};
static const struct db_column count_columns[] = {{"count", DB_INTEGER, 0}, {0}};

enum error_code store_decisions_remove(struct db_session *s, const char *tenant,
                                       const char *route, double from_at_s,
                                       double to_at_s, bool only_count, size_t *removed,
                                       bool *more, struct arena *a, struct error *err)
{
    struct db_param which[] = {db_text(tenant),
                               db_instant(isnan(from_at_s) ? -HUGE_VAL : from_at_s),
                               db_instant(isnan(to_at_s) ? HUGE_VAL : to_at_s),
                               db_text(route),
                               db_integer(STORE_REMOVED_MAX),
                               {0}};
    uint64_t count = 0;
    bool found;

    *removed = 0;
    if (!only_count)
        TRY(db_run(s, &delete_decisions, which, removed, err));
    *more = false;
    if (!only_count && *removed < STORE_REMOVED_MAX)
        return OK;
    which[4] = db_integer(STORE_REMOVED_MAX + 1);
    TRY(db_row(s, &count_decisions, which, count_columns, sizeof(count), &count, &found,
               a, err));
    *more = only_count ? count > STORE_REMOVED_MAX : count > 0;
    if (only_count)
        *removed = *more ? STORE_REMOVED_MAX : count;
    return OK;
}
