/* store_quota.c - quotas of tenants, and what is left of shared buckets. */
#include "service/store_quota.h"

static const struct db_column quota_columns[] = {
#define X(member, ...) DB_COLUMN(struct quota, member, DB_NUMBER),
    QUOTA_MEMBERS(X)
#undef X
        {0},
};

#define QUOTA_COLUMNS                                                          \
    "rate_per_s, burst_count, cpu_s_per_hour, concurrent_count, memory_bytes," \
    " time_limit_max_s, weight"

static const struct db_statement select_quota = {
    "select_tenant_quota", "SELECT " QUOTA_COLUMNS " FROM tenant_quota WHERE tenant = $1",
    DB_REPEATABLE};

static const struct db_statement set_quota = {
    "set_tenant_quota",
    "INSERT INTO tenant_quota (tenant, " QUOTA_COLUMNS ")"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
    " ON CONFLICT (tenant) DO UPDATE SET rate_per_s = excluded.rate_per_s,"
    " burst_count = excluded.burst_count, cpu_s_per_hour = excluded.cpu_s_per_hour,"
    " concurrent_count = excluded.concurrent_count,"
    " memory_bytes = excluded.memory_bytes,"
    " time_limit_max_s = excluded.time_limit_max_s, weight = excluded.weight",
    DB_REPEATABLE};

/* Instants are the database's: clocks of replicas differ. */
static const struct db_statement spend = {
    "spend_quota",
    "INSERT INTO quota_bucket AS b (tenant, key_id, level, at)"
    " VALUES ($1, $2, $3::float8 - $5::float8, now())"
    " ON CONFLICT (tenant, key_id) DO UPDATE SET"
    " level = least($3::float8, b.level"
    " + greatest(0, extract(epoch FROM now() - b.at)) * $4::float8) - $5::float8,"
    " at = greatest(b.at, now()) RETURNING level",
    0};

enum error_code store_quota_find(struct db_session *s, const char *tenant,
                                 struct quota *out, struct arena *a, struct error *err)
{
    struct quota row = quota_none();
    bool found;

    TRY(db_row(s, &select_quota, DB_PARAMS(db_text(tenant)), quota_columns, sizeof(row),
               &row, &found, a, err));
    *out = found ? row : quota_none();
    return OK;
}

enum error_code store_quota_set(struct db_session *s, const char *tenant,
                                const struct quota *q, struct error *err)
{
    size_t stored;

    return db_run(s, &set_quota,
                  DB_PARAMS(db_text(tenant), db_number(q->rate_per_s),
                            db_number(q->burst_count), db_number(q->cpu_s_per_hour),
                            db_number(q->concurrent_count), db_number(q->memory_bytes),
                            db_number(q->time_limit_max_s), db_number(q->weight)),
                  &stored, err);
}

struct level {
    double level_s;
};

enum error_code store_quota_spend(struct db_session *s, const char *tenant,
                                  const char *key_id, double cap_s, double rate_per_s,
                                  double used_s, double *level_s, struct arena *a,
                                  struct error *err)
{
    static const struct db_column columns[] = {
        DB_COLUMN(struct level, level_s, DB_NUMBER), {0}};
    struct level row;
    bool found;

    TRY(db_row(s, &spend,
               DB_PARAMS(db_text(tenant), db_text(key_id), db_number(cap_s),
                         db_number(rate_per_s), db_number(used_s)),
               columns, sizeof(row), &row, &found, a, err));
    if (!found)
        return fail(err, ERR_INTERNAL, "", "the bucket of %s has no level", tenant);
    *level_s = row.level_s;
    return OK;
}
