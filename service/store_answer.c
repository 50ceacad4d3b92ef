/* store_answer.c - answers to requests that may come again (Idempotency-Key).
 *
 * An advisory lock that ends with the transaction stands for "running now". It
 * is asked for in a statement of its own: the next one sees what the last
 * holder committed.
 */
#include "service/hash.h"
#include "service/store_attempt.h"

#include <assert.h>
#include <string.h>

struct lock {
    bool ours;
};

static const struct db_column lock_columns[] = {
    DB_COLUMN(struct lock, ours, DB_BOOLEAN),
    {0},
};

static const struct db_statement lock_answer = {
    "lock_answer",
    "SELECT pg_try_advisory_xact_lock(hashtextextended($1 || chr(31) || $2, 0))", 0};

struct answer_row {
    const char *route;
    struct db_bytes request_sha256;
    bool is_running;
    struct store_answer answer;
};

static const struct db_column answer_columns[] = {
    DB_COLUMN(struct answer_row, route, DB_TEXT),
    DB_COLUMN(struct answer_row, request_sha256, DB_BYTES),
    DB_COLUMN(struct answer_row, is_running, DB_BOOLEAN),
    DB_COLUMN(struct answer_row, answer.status, DB_INTEGER),
    DB_COLUMN(struct answer_row, answer.content_type, DB_TEXT),
    DB_COLUMN(struct answer_row, answer.location, DB_TEXT),
    DB_COLUMN(struct answer_row, answer.etag, DB_TEXT),
    DB_COLUMN(struct answer_row, answer.body, DB_BYTES),
    {0},
};

static const struct db_statement select_answer = {
    "select_answer",
    "SELECT route, request_sha256, state = 'running' AND lease_until >= now(), status,"
    " content_type, location, etag, body FROM idempotency_key WHERE tenant = $1 AND "
    "idempotency_key = $2"
    " AND greatest(created_at, lease_until) > now() - $3 * interval '1 second'",
    DB_REPEATABLE};

/* What is there already has expired: store_answer_find() has looked. */
static const struct db_statement insert_answer = {
    "insert_answer",
    "INSERT INTO idempotency_key (tenant, idempotency_key, route, request_sha256, status,"
    " content_type, location, etag, body, created_at)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())"
    " ON CONFLICT (tenant, idempotency_key) DO UPDATE SET state = 'done',"
    " owner_id = NULL, lease_until = NULL, attempt_count = 1, replay_count = 0,"
    " route = excluded.route,"
    " request_sha256 = excluded.request_sha256, status = excluded.status,"
    " content_type = excluded.content_type, location = excluded.location,"
    " etag = excluded.etag, body = excluded.body, created_at = excluded.created_at",
    0};

enum error_code store_answer_find(struct db_session *s, const char *tenant,
                                  const char *key, const char *route,
                                  struct db_bytes request_sha256, bool *found,
                                  struct store_answer *out, struct arena *a,
                                  struct error *err)
{
    struct lock lock;
    struct answer_row row;
    bool exists;

    assert(db_in_transaction(s));
    TRY(db_row(s, &lock_answer, DB_PARAMS(db_text(tenant), db_text(key)), lock_columns,
               sizeof(lock), &lock, &exists, a, err));
    if (!lock.ours)
        return fail_still_running(err);
    TRY(db_row(
        s, &select_answer,
        DB_PARAMS(db_text(tenant), db_text(key), db_number(STORE_IDEMPOTENCY_KEPT_S)),
        answer_columns, sizeof(row), &row, &exists, a, err));
    if (exists && (strcmp(row.route, route) != 0 ||
                   row.request_sha256.length != request_sha256.length ||
                   !hash_equal(row.request_sha256.data, request_sha256.data,
                               request_sha256.length)))
        return fail_key_reused(err);
    if (exists && row.is_running)
        return fail_still_running(err);
    *found = exists && row.answer.status;
    if (*found)
        *out = row.answer;
    return OK;
}

enum error_code store_answer_save(struct db_session *s, const char *tenant,
                                  const char *key, const char *route,
                                  struct db_bytes request_sha256,
                                  const struct store_answer *answer, struct error *err)
{
    const char *body = (const char *)answer->body.data;

    assert(db_in_transaction(s));
    return db_run(s, &insert_answer,
                  DB_PARAMS(db_text(tenant), db_text(key), db_text(route),
                            db_bytes(request_sha256.data, request_sha256.length),
                            db_integer(answer->status), db_text(answer->content_type),
                            db_text(answer->location), db_text(answer->etag),
                            db_bytes(body ? body : "", answer->body.length)),
                  NULL, err);
}
