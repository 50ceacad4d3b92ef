/* store_key.c - the keys that callers show. */
#include "service/store_token.h"

static const struct db_column columns[] = {
    DB_COLUMN(struct store_key, tenant, DB_TEXT),
    DB_COLUMN(struct store_key, key_id, DB_TEXT),
    DB_COLUMN(struct store_key, digest_sha256, DB_BYTES),
    DB_COLUMN(struct store_key, scopes, DB_INTEGER),
    DB_COLUMN(struct store_key, label, DB_TEXT),
    DB_COLUMN(struct store_key, created_at_s, DB_INSTANT),
    DB_COLUMN(struct store_key, expires_at_s, DB_INSTANT),
    DB_COLUMN(struct store_key, revoked_at_s, DB_INSTANT),
    DB_COLUMN(struct store_key, quota.rate_per_s, DB_NUMBER),
    DB_COLUMN(struct store_key, quota.burst_count, DB_NUMBER),
    DB_COLUMN(struct store_key, quota.cpu_s_per_hour, DB_NUMBER),
    DB_COLUMN(struct store_key, quota.concurrent_count, DB_NUMBER),
    DB_COLUMN(struct store_key, quota.memory_bytes, DB_NUMBER),
    DB_COLUMN(struct store_key, quota.time_limit_max_s, DB_NUMBER),
    DB_COLUMN(struct store_key, tenant_quota.rate_per_s, DB_NUMBER),
    DB_COLUMN(struct store_key, tenant_quota.burst_count, DB_NUMBER),
    DB_COLUMN(struct store_key, tenant_quota.cpu_s_per_hour, DB_NUMBER),
    DB_COLUMN(struct store_key, tenant_quota.concurrent_count, DB_NUMBER),
    DB_COLUMN(struct store_key, tenant_quota.memory_bytes, DB_NUMBER),
    DB_COLUMN(struct store_key, tenant_quota.time_limit_max_s, DB_NUMBER),
    DB_COLUMN(struct store_key, tenant_quota.weight, DB_NUMBER),
    {0},
};

#define KEY_QUOTAS(of)                                            \
    of "rate_per_s, " of "burst_count, " of "cpu_s_per_hour, " of \
       "concurrent_count, " of "memory_bytes, " of "time_limit_max_s"

#define SELECT_KEYS                                                                \
    "SELECT k.tenant, k.key_id, k.digest_sha256, k.scopes, k.label, k.created_at," \
    " k.expires_at, k.revoked_at, " KEY_QUOTAS("k.") ", " KEY_QUOTAS(              \
        "q.") ", q.weight FROM api_key k LEFT JOIN tenant_quota q ON q.tenant = "  \
              "k.tenant"

static const struct db_statement insert_key = {
    "insert_key",
    "INSERT INTO api_key (tenant, key_id, digest_sha256, scopes, label, created_at,"
    " expires_at, revoked_at, " KEY_QUOTAS(
        "") ")"
            " VALUES ($1, $2, $3, $4, $5, now(), $6, NULL, $7, $8, $9, $10, $11, $12)"
            " ON CONFLICT DO NOTHING",
    0};

static const struct db_statement select_key = {
    "select_key", SELECT_KEYS " WHERE k.key_id = $1", DB_REPEATABLE};

static const struct db_statement select_keys = {
    "select_keys",
    SELECT_KEYS " WHERE k.tenant = $1 AND k.key_id > $2 ORDER BY k.key_id LIMIT $3",
    DB_REPEATABLE};

static const struct db_statement revoke_key = {
    "revoke_key",
    "UPDATE api_key SET revoked_at = coalesce(revoked_at, now())"
    " WHERE tenant = $1 AND key_id = $2",
    DB_REPEATABLE};

static const struct db_statement set_quota = {
    "set_key_quota",
    "UPDATE api_key SET (" KEY_QUOTAS("") ") = ($3, $4, $5, $6, $7, $8)"
                                          " WHERE tenant = $1 AND key_id = $2",
    DB_REPEATABLE};

static enum error_code fail_no_key(const char *key_id, struct error *err)
{
    return fail(err, ERR_NOT_FOUND, "/key_id", "there is no key '%s'", key_id);
}

enum error_code store_key_create(struct db_session *s, const struct store_key *key,
                                 struct error *err)
{
    size_t stored;

    TRY(db_run(
        s, &insert_key,
        DB_PARAMS(
            db_text(key->tenant), db_text(key->key_id),
            db_bytes(key->digest_sha256.data, key->digest_sha256.length),
            db_integer(key->scopes), db_text(key->label), db_instant(key->expires_at_s),
            db_number(key->quota.rate_per_s), db_number(key->quota.burst_count),
            db_number(key->quota.cpu_s_per_hour), db_number(key->quota.concurrent_count),
            db_number(key->quota.memory_bytes), db_number(key->quota.time_limit_max_s)),
        &stored, err));
    if (stored == 0)
        return fail(err, ERR_CONFLICT, "/key_id", "there is a key '%s' already",
                    key->key_id);
    return OK;
}

enum error_code store_key_find(struct db_session *s, const char *key_id,
                               struct store_key *out, struct arena *a, struct error *err)
{
    bool found;

    TRY(db_row(s, &select_key, DB_PARAMS(db_text(key_id)), columns, sizeof(*out), out,
               &found, a, err));
    return found ? OK : fail_no_key(key_id, err);
}

enum error_code store_keys_list(struct db_session *s, const char *tenant,
                                const struct store_page *page,
                                const struct store_key **list, size_t *count,
                                const char **next_token, struct arena *a,
                                struct error *err)
{
    const char *after = "";
    const char *next = NULL;
    struct store_key *rows;
    size_t row_count;
    double ignored_s;

    if (page->token)
        TRY(token_read(page->token, &ignored_s, &after, a, err));
    TRY(db_rows(s, &select_keys,
                DB_PARAMS(db_text(tenant), db_text(after), db_integer(page->limit + 1)),
                columns, sizeof(*rows), (void **)&rows, &row_count, a, err));
    if (row_count > page->limit)
        TRY(token_make(0, rows[page->limit - 1].key_id, &next, a, err));
    *list = rows;
    *count = page_count(page, row_count);
    *next_token = next;
    return OK;
}

enum error_code store_key_revoke(struct db_session *s, const char *tenant,
                                 const char *key_id, struct error *err)
{
    size_t revoked;

    TRY(db_run(s, &revoke_key, DB_PARAMS(db_text(tenant), db_text(key_id)), &revoked,
               err));
    return revoked > 0 ? OK : fail_no_key(key_id, err);
}

enum error_code store_key_set_quota(struct db_session *s, const char *tenant,
                                    const char *key_id, const struct quota *q,
                                    struct error *err)
{
    size_t changed;

    TRY(db_run(s, &set_quota,
               DB_PARAMS(db_text(tenant), db_text(key_id), db_number(q->rate_per_s),
                         db_number(q->burst_count), db_number(q->cpu_s_per_hour),
                         db_number(q->concurrent_count), db_number(q->memory_bytes),
                         db_number(q->time_limit_max_s)),
               &changed, err));
    return changed > 0 ? OK : fail_no_key(key_id, err);
}
