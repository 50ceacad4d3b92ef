/* store_attempt.c - long computations under an Idempotency-Key, in two transactions. */
#include "service/store_attempt.h"

#include "service/hash.h"

#include <assert.h>
#include <string.h>

struct flag {
    bool set;
};

static const struct db_column flag_columns[] = {
    DB_COLUMN(struct flag, set, DB_BOOLEAN),
    {0},
};

/* The lock that requests which only store hold from their first statement to their last
 * (store_answer.c). Tried, not waited for. */
static const struct db_statement lock_attempt = {
    "lock_attempt",
    "SELECT pg_try_advisory_xact_lock(hashtextextended($1 || chr(31) || $2, 0))", 0};

struct count {
    uint64_t value;
};

static const struct db_column count_columns[] = {
    DB_COLUMN(struct count, value, DB_INTEGER),
    {0},
};

static const struct db_statement reserve_attempt = {
    "reserve_attempt",
    "INSERT INTO idempotency_key AS k (tenant, idempotency_key, route, request_sha256,"
    " created_at, state, owner_id, lease_until, attempt_count)"
    " VALUES ($1, $2, $3, $4, now(), 'running', $5, now() + $6 * interval '1 second', 1)"
    " ON CONFLICT (tenant, idempotency_key) DO UPDATE SET state = 'running',"
    " owner_id = excluded.owner_id, lease_until = excluded.lease_until,"
    " created_at = excluded.created_at, route = excluded.route,"
    " request_sha256 = excluded.request_sha256, status = NULL, content_type = NULL,"
    " location = NULL, etag = NULL, body = NULL, replay_count = 0,"
    " attempt_count = CASE WHEN k.state = 'running' THEN k.attempt_count + 1 ELSE 1 END"
    " WHERE (k.state = 'running' AND k.lease_until < now()"
    " AND k.request_sha256 = excluded.request_sha256 AND k.route = excluded.route)"
    " OR (k.state = 'done' AND k.created_at < now() - $7 * interval '1 second')"
    " RETURNING attempt_count",
    0};

struct attempt_row {
    const char *route;
    struct db_bytes request_sha256;
    bool is_done, is_over, is_ours;
    struct store_answer answer;
};

static const struct db_column attempt_columns[] = {
    DB_COLUMN(struct attempt_row, route, DB_TEXT),
    DB_COLUMN(struct attempt_row, request_sha256, DB_BYTES),
    DB_COLUMN(struct attempt_row, is_done, DB_BOOLEAN),
    DB_COLUMN(struct attempt_row, is_over, DB_BOOLEAN),
    DB_COLUMN(struct attempt_row, is_ours, DB_BOOLEAN),
    DB_COLUMN(struct attempt_row, answer.status, DB_INTEGER),
    DB_COLUMN(struct attempt_row, answer.content_type, DB_TEXT),
    DB_COLUMN(struct attempt_row, answer.location, DB_TEXT),
    DB_COLUMN(struct attempt_row, answer.etag, DB_TEXT),
    DB_COLUMN(struct attempt_row, answer.body, DB_BYTES),
    {0},
};

static const struct db_statement select_attempt = {
    "select_attempt",
    "SELECT route, request_sha256, state = 'done',"
    " CASE state WHEN 'done' THEN created_at < now() - $4 * interval '1 second'"
    " ELSE lease_until < now() END,"
    " coalesce(owner_id = $3, false), status, content_type, location, etag, body"
    " FROM idempotency_key WHERE tenant = $1 AND idempotency_key = $2",
    DB_REPEATABLE};

static const struct db_statement publish_attempt = {
    "publish_attempt",
    "UPDATE idempotency_key SET state = 'done', status = $4, content_type = $5,"
    " location = $6, etag = $7, body = $8, created_at = now(), owner_id = NULL,"
    " lease_until = NULL"
    " WHERE tenant = $1 AND idempotency_key = $2 AND owner_id = $3"
    " AND state = 'running'",
    0};

static const struct db_statement delete_attempt = {
    "delete_attempt",
    "DELETE FROM idempotency_key WHERE owner_id = $1 AND state = 'running'",
    DB_REPEATABLE};

static const struct db_column owner_columns[] = {
    DB_COLUMN(struct store_owner, owner_id, DB_UUID),
    {0},
};

static const struct db_statement renew_attempts = {
    "renew_attempts",
    "UPDATE idempotency_key SET lease_until = now() + $2 * interval '1 second'"
    " WHERE owner_id = ANY ($1::uuid[]) AND state = 'running' RETURNING owner_id",
    DB_REPEATABLE};

static const struct db_statement repeat_answer = {
    "repeat_answer",
    "UPDATE idempotency_key SET replay_count = replay_count + 1"
    " WHERE tenant = $1 AND idempotency_key = $2 AND state = 'done'",
    0};

enum error_code fail_still_running(struct error *err)
{
    err->retry_after_s = 1;
    fail_header(
        err, ERR_CONFLICT, "Idempotency-Key", ITEM_STILL_RUNNING,
        "a request with this Idempotency-Key is still running; send it again in a "
        "second to have its answer");
    return ERR_CONFLICT;
}

enum error_code fail_key_reused(struct error *err)
{
    return fail_header(err, ERR_INVALID, "Idempotency-Key", ITEM_KEY_REUSED,
                       "this Idempotency-Key was used for another request; take a new "
                       "one");
}

/* What the row means for this attempt. */
static enum error_code judge(const struct store_attempt *attempt,
                             const struct attempt_row *row, enum attempt_state *state,
                             struct error *err)
{
    bool same = strcmp(row->route, attempt->route) == 0 &&
                row->request_sha256.length == attempt->request_sha256.length &&
                hash_equal(row->request_sha256.data, attempt->request_sha256.data,
                           attempt->request_sha256.length);

    if (!same && !(row->is_done && row->is_over))
        return fail_key_reused(err);
    *state = row->is_ours   ? ATTEMPT_OURS
             : row->is_over ? ATTEMPT_FREE
             : row->is_done ? ATTEMPT_DONE
                            : ATTEMPT_RUNNING;
    return OK;
}

enum error_code store_attempt_look(struct db_session *s,
                                   const struct store_attempt *attempt,
                                   enum attempt_state *state, struct store_answer *out,
                                   struct arena *a, struct error *err)
{
    struct attempt_row row;
    bool exists;

    TRY(db_row(s, &select_attempt,
               DB_PARAMS(db_text(attempt->tenant), db_text(attempt->key),
                         db_uuid(attempt->owner_id), db_number(STORE_IDEMPOTENCY_KEPT_S)),
               attempt_columns, sizeof(row), &row, &exists, a, err));
    *state = ATTEMPT_FREE;
    if (exists)
        TRY(judge(attempt, &row, state, err));
    if (*state == ATTEMPT_DONE)
        *out = row.answer;
    return OK;
}

/* What db_transaction() may repeat. */
struct reservation {
    const struct store_attempt *attempt;
    double lease_s;
    enum attempt_state *state;
    uint64_t *attempt_count;
    struct store_answer *out;
    struct arena *arena;
};

static enum error_code reserve(struct db_session *s, void *context, struct error *err)
{
    const struct reservation *r = context;
    const struct store_attempt *t = r->attempt;
    struct flag lock = {false};
    struct count count = {0};
    bool exists;

    TRY(db_row(s, &lock_attempt, DB_PARAMS(db_text(t->tenant), db_text(t->key)),
               flag_columns, sizeof(lock), &lock, &exists, r->arena, err));
    *r->state = ATTEMPT_RUNNING;
    if (!lock.set)
        return OK;
    TRY(db_row(s, &reserve_attempt,
               DB_PARAMS(db_text(t->tenant), db_text(t->key), db_text(t->route),
                         db_bytes(t->request_sha256.data, t->request_sha256.length),
                         db_uuid(t->owner_id), db_number(r->lease_s),
                         db_number(STORE_IDEMPOTENCY_KEPT_S)),
               count_columns, sizeof(count), &count, &exists, r->arena, err));
    *r->attempt_count = count.value;
    if (!exists)
        return store_attempt_look(s, t, r->state, r->out, r->arena, err);
    *r->state = ATTEMPT_OURS;
    return OK;
}

enum error_code store_attempt_reserve(struct db_session *s,
                                      const struct store_attempt *attempt, double lease_s,
                                      enum attempt_state *state, uint64_t *attempt_count,
                                      struct store_answer *out, struct arena *a,
                                      struct error *err)
{
    struct reservation r = {attempt, lease_s, state, attempt_count, out, a};

    *attempt_count = 0;
    do /* free now: whoever had it has deleted it meanwhile, or its lease has ended */
        TRY(db_transaction(s, reserve, &r, err));
    while (*state == ATTEMPT_FREE);
    return OK;
}

enum error_code store_attempt_publish(struct db_session *s,
                                      const struct store_attempt *attempt,
                                      const struct store_answer *answer, bool *published,
                                      struct error *err)
{
    const char *body = (const char *)answer->body.data;
    size_t updated = 0;

    assert(db_in_transaction(s));
    TRY(db_run(s, &publish_attempt,
               DB_PARAMS(db_text(attempt->tenant), db_text(attempt->key),
                         db_uuid(attempt->owner_id), db_integer(answer->status),
                         db_text(answer->content_type), db_text(answer->location),
                         db_text(answer->etag),
                         db_bytes(body ? body : "", answer->body.length)),
               &updated, err));
    *published = updated == 1;
    return OK;
}

enum error_code store_attempt_release(struct db_session *s, const char *owner_id,
                                      struct error *err)
{
    return db_run(s, &delete_attempt, DB_PARAMS(db_uuid(owner_id)), NULL, err);
}

enum error_code store_attempts_renew(struct db_session *s, const char *owner_ids,
                                     double lease_s, struct store_owner **held,
                                     size_t *held_count, struct arena *a,
                                     struct error *err)
{
    return db_rows(s, &renew_attempts, DB_PARAMS(db_text(owner_ids), db_number(lease_s)),
                   owner_columns, sizeof(**held), (void **)held, held_count, a, err);
}

enum error_code store_answer_repeat(struct db_session *s, const char *tenant,
                                    const char *key, struct error *err)
{
    return db_run(s, &repeat_answer, DB_PARAMS(db_text(tenant), db_text(key)), NULL, err);
}
