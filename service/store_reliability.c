/* store_reliability.c - stored failures of many resources at once, their classes, and
 * costs of checkpoints of many applications. */
#include "service/store_reliability.h"

#include <math.h>
#include <stdio.h>

/* LATERAL: the index gives the newest rows of each resource, and no others are read.
 * $1 tenant, $2 ids, $3 now, $4 limit. */
static const struct db_statement select_failures = {
    "failures_of_resources",
    "SELECT r.place - 1, f.down_at, f.up_at, f.component, f.kind, f.site_id"
    " FROM jsonb_array_elements_text($2) WITH ORDINALITY AS r (id, place)"
    " CROSS JOIN LATERAL (SELECT down_at, up_at, component, kind, site_id FROM failure"
    " WHERE tenant = $1"
    " AND resource_id = r.id AND down_at <= $3 ORDER BY down_at DESC LIMIT $4) AS f",
    DB_REPEATABLE};

static const struct db_column failure_columns[] = {
    DB_COLUMN(struct store_failure_of, resource, DB_INTEGER),
    DB_COLUMN(struct store_failure_of, down_at_s, DB_INSTANT),
    DB_COLUMN(struct store_failure_of, up_at_s, DB_INSTANT),
    DB_COLUMN(struct store_failure_of, component, DB_TEXT),
    DB_COLUMN(struct store_failure_of, kind, DB_TEXT),
    DB_COLUMN(struct store_failure_of, site_id, DB_TEXT),
    {0},
};

enum error_code store_failures_of(struct db_session *s, const char *tenant,
                                  const char *ids, double now_s, size_t limit,
                                  const struct store_failure_of **list, size_t *count,
                                  struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(
        s, &select_failures,
        DB_PARAMS(db_text(tenant), db_json(ids), db_instant(now_s), db_integer(limit)),
        failure_columns, sizeof(struct store_failure_of), &rows, count, a, err));
    *list = rows;
    return OK;
}

static const struct db_statement select_first_seen = {
    "first_seen_of_resources",
    "SELECT r.place - 1, LEAST("
    "(SELECT min(observed_at) FROM load_sample WHERE tenant = $1"
    " AND resource_id = r.id AND observed_at <= $3),"
    " (SELECT min(down_at) FROM failure WHERE tenant = $1 AND resource_id = r.id"
    " AND down_at <= $3 AND kind = 'failure'))"
    " FROM jsonb_array_elements_text($2) WITH ORDINALITY AS r (id, place)",
    DB_REPEATABLE};

static const struct db_column first_seen_columns[] = {
    DB_COLUMN(struct store_first_seen, resource, DB_INTEGER),
    DB_COLUMN(struct store_first_seen, seen_at_s, DB_INSTANT),
    {0},
};

enum error_code store_first_seen(struct db_session *s, const char *tenant,
                                 const char *ids, double now_s,
                                 const struct store_first_seen **list, size_t *count,
                                 struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_first_seen,
                DB_PARAMS(db_text(tenant), db_json(ids), db_instant(now_s)),
                first_seen_columns, sizeof(struct store_first_seen), &rows, count, a,
                err));
    *list = rows;
    return OK;
}

/* ---- observations ---- */

static const struct db_statement select_observations = {
    "observations_of_resources",
    "SELECT r.place - 1, o.component, o.site_id, o.from_at, o.to_at, o.component_count"
    " FROM jsonb_array_elements_text($2) WITH ORDINALITY AS r (id, place)"
    " JOIN resource_observation AS o ON o.tenant = $1 AND o.resource_id = r.id"
    " AND o.from_at <= $3 ORDER BY 1, 2, 4",
    DB_REPEATABLE};

static const struct db_column observation_of_columns[] = {
    DB_COLUMN(struct store_observation_of, resource, DB_INTEGER),
    DB_COLUMN(struct store_observation_of, component, DB_TEXT),
    DB_COLUMN(struct store_observation_of, site_id, DB_TEXT),
    DB_COLUMN(struct store_observation_of, from_at_s, DB_INSTANT),
    DB_COLUMN(struct store_observation_of, to_at_s, DB_INSTANT),
    DB_COLUMN(struct store_observation_of, component_count, DB_WHOLE),
    {0},
};

enum error_code store_observations_of(struct db_session *s, const char *tenant,
                                      const char *ids, double now_s,
                                      const struct store_observation_of **list,
                                      size_t *count, struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_observations,
                DB_PARAMS(db_text(tenant), db_json(ids), db_instant(now_s)),
                observation_of_columns, sizeof(struct store_observation_of), &rows, count,
                a, err));
    *list = rows;
    return OK;
}

/* From one id to the next, so that the index is read once for each of them.
 * $1 tenant, $2 sites, $3 limit. */
static const struct db_statement select_site_peers = {
    "peers_of_sites",
    "WITH RECURSIVE failed AS (SELECT s.id AS site_id, (SELECT f.resource_id"
    " FROM failure AS f WHERE f.tenant = $1 AND f.site_id = s.id"
    " ORDER BY f.resource_id LIMIT 1) AS resource_id, 1 AS n"
    " FROM jsonb_array_elements_text($2) AS s (id) UNION ALL"
    " SELECT failed.site_id, (SELECT f.resource_id FROM failure AS f"
    " WHERE f.tenant = $1 AND f.site_id = failed.site_id"
    " AND f.resource_id > failed.resource_id ORDER BY f.resource_id LIMIT 1), n + 1"
    " FROM failed WHERE failed.resource_id IS NOT NULL AND n < $3)"
    " SELECT DISTINCT resource_id FROM (SELECT resource_id FROM failed"
    " WHERE resource_id IS NOT NULL UNION ALL SELECT resource_id"
    " FROM resource_observation WHERE tenant = $1 AND site_id IN"
    " (SELECT jsonb_array_elements_text($2))) AS known ORDER BY 1 LIMIT $3",
    DB_REPEATABLE};

/* Likewise. */
static const struct db_statement select_all_peers = {
    "peers_of_all",
    "WITH RECURSIVE failed AS ((SELECT resource_id, 1 AS n FROM failure"
    " WHERE tenant = $1 ORDER BY resource_id LIMIT 1) UNION ALL"
    " SELECT (SELECT f.resource_id FROM failure AS f WHERE f.tenant = $1"
    " AND f.resource_id > failed.resource_id ORDER BY f.resource_id LIMIT 1), n + 1"
    " FROM failed WHERE failed.resource_id IS NOT NULL AND n < $3)"
    " SELECT DISTINCT resource_id FROM (SELECT resource_id FROM failed"
    " WHERE resource_id IS NOT NULL UNION ALL SELECT resource_id"
    " FROM resource_observation WHERE tenant = $1) AS known WHERE $2::jsonb IS NOT NULL"
    " ORDER BY 1 LIMIT $3",
    DB_REPEATABLE};

static const struct db_column peer_columns[] = {
    DB_COLUMN(struct store_peer, resource_id, DB_TEXT), {0}};

enum error_code store_peers(struct db_session *s, const char *tenant, const char *sites,
                            size_t limit, const struct store_peer **list, size_t *count,
                            struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(
        s, sites ? &select_site_peers : &select_all_peers,
        DB_PARAMS(db_text(tenant), db_json(sites ? sites : "[]"), db_integer(limit)),
        peer_columns, sizeof(struct store_peer), &rows, count, a, err));
    *list = rows;
    return OK;
}

/* ---- costs of checkpoints ---- */

/* LATERAL as above. $1 tenant, $2 ids, $3 limit. */
static const struct db_statement select_costs = {
    "checkpoint_costs_of_applications",
    "SELECT a.place - 1, c.logs, c.overhead_s, c.stored_after_s, c.restart_s"
    " FROM jsonb_array_elements_text($2) WITH ORDINALITY AS a (id, place)"
    " CROSS JOIN LATERAL (SELECT count(overhead_s) AS logs, avg(overhead_s) AS"
    " overhead_s, avg(stored_after_s) AS stored_after_s, avg(restart_s) AS restart_s"
    " FROM (SELECT overhead_s, stored_after_s, restart_s FROM checkpoint_log"
    " WHERE tenant = $1 AND application_id = a.id AND action = 'take'"
    " ORDER BY requested_at DESC LIMIT $3) AS newest) AS c",
    DB_REPEATABLE};

static const struct db_column cost_columns[] = {
    DB_COLUMN(struct store_checkpoint_cost, application, DB_INTEGER),
    DB_COLUMN(struct store_checkpoint_cost, log_count, DB_INTEGER),
    DB_COLUMN(struct store_checkpoint_cost, overhead_s, DB_NUMBER),
    DB_COLUMN(struct store_checkpoint_cost, stored_after_s, DB_NUMBER),
    DB_COLUMN(struct store_checkpoint_cost, restart_s, DB_NUMBER),
    {0},
};

enum error_code store_checkpoint_costs(struct db_session *s, const char *tenant,
                                       const char *ids, size_t limit,
                                       const struct store_checkpoint_cost **list,
                                       size_t *count, struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_costs,
                DB_PARAMS(db_text(tenant), db_json(ids), db_integer(limit)), cost_columns,
                sizeof(struct store_checkpoint_cost), &rows, count, a, err));
    *list = rows;
    return OK;
}

/* ---- classes of failures ---- */

/* $1 tenant, $2 ids. Rows of one resource beside each other. */
static const struct db_statement select_levels_of = {
    "failure_levels_of_resources",
    "SELECT r.place - 1, f.level::bigint, count(*)"
    " FROM jsonb_array_elements_text($2) WITH ORDINALITY AS r (id, place)"
    " JOIN failure AS f ON f.tenant = $1 AND f.resource_id = r.id"
    " WHERE f.kind = 'failure' AND f.level IS NOT NULL"
    " GROUP BY 1, 2 ORDER BY 1, 2",
    DB_REPEATABLE};

/* $1 tenant. */
static const struct db_statement select_levels = {
    "failure_levels",
    "SELECT 0::bigint, level::bigint, count(*) FROM failure WHERE tenant = $1 AND kind = "
    "'failure'"
    " AND level IS NOT NULL GROUP BY level ORDER BY level",
    DB_REPEATABLE};

static const struct db_column level_columns[] = {
    DB_COLUMN(struct store_failure_level, resource, DB_INTEGER),
    DB_COLUMN(struct store_failure_level, level, DB_INTEGER),
    DB_COLUMN(struct store_failure_level, failure_count, DB_INTEGER),
    {0},
};

enum error_code store_failure_levels(struct db_session *s, const char *tenant,
                                     const char *ids,
                                     const struct store_failure_level **list,
                                     size_t *count, struct arena *a, struct error *err)
{
    void *rows;

    if (ids)
        TRY(db_rows(s, &select_levels_of, DB_PARAMS(db_text(tenant), db_json(ids)),
                    level_columns, sizeof(struct store_failure_level), &rows, count, a,
                    err));
    else
        TRY(db_rows(s, &select_levels, DB_PARAMS(db_text(tenant)), level_columns,
                    sizeof(struct store_failure_level), &rows, count, a, err));
    *list = rows;
    return OK;
}
