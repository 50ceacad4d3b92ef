/* store_reschedule.c - what moves and batch queues are known to cost. */
#include "service/store_reschedule.h"

/* $1 tenant, $2 ids. */
static const struct db_statement select_costs = {
    "move_costs_of_sites",
    "WITH site AS (SELECT id, place FROM jsonb_array_elements_text($2) WITH ORDINALITY"
    " AS s (id, place))"
    " SELECT f.place - 1, t.place - 1, c.event_count, c.mean_cost_s"
    " FROM reschedule_cost AS c JOIN site AS f ON f.id = c.from_site_id"
    " JOIN site AS t ON t.id = c.to_site_id WHERE c.tenant = $1",
    DB_REPEATABLE};

static const struct db_column cost_columns[] = {
    DB_COLUMN(struct store_move_cost, from, DB_INTEGER),
    DB_COLUMN(struct store_move_cost, to, DB_INTEGER),
    DB_COLUMN(struct store_move_cost, event_count, DB_INTEGER),
    DB_COLUMN(struct store_move_cost, mean_cost_s, DB_NUMBER),
    {0},
};

enum error_code store_move_costs(struct db_session *s, const char *tenant,
                                 const char *ids, const struct store_move_cost **list,
                                 size_t *count, struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_costs, DB_PARAMS(db_text(tenant), db_json(ids)), cost_columns,
                sizeof(struct store_move_cost), &rows, count, a, err));
    *list = rows;
    return OK;
}

/* LATERAL: the index gives the latest rows of each site, and no others are read.
 * $1 tenant, $2 ids, $3 limit. */
static const struct db_statement select_waits = {
    "queue_waits_of_sites",
    "SELECT s.place - 1, w.processors::float8, w.wait_s"
    " FROM jsonb_array_elements_text($2) WITH ORDINALITY AS s (id, place)"
    " CROSS JOIN LATERAL (SELECT processors, avg(queue_wait_s) AS wait_s"
    " FROM (SELECT processors, queue_wait_s FROM execution WHERE tenant = $1"
    " AND site_id = s.id AND queue_wait_s IS NOT NULL"
    " ORDER BY started_at DESC LIMIT $3) AS latest GROUP BY processors) AS w"
    " ORDER BY s.place, w.processors",
    DB_REPEATABLE};

static const struct db_column wait_columns[] = {
    DB_COLUMN(struct store_queue_wait, site, DB_INTEGER),
    DB_COLUMN(struct store_queue_wait, processors, DB_NUMBER),
    DB_COLUMN(struct store_queue_wait, wait_s, DB_NUMBER),
    {0},
};

enum error_code store_queue_waits(struct db_session *s, const char *tenant,
                                  const char *ids, size_t limit,
                                  const struct store_queue_wait **list, size_t *count,
                                  struct arena *a, struct error *err)
{
    void *rows;

    TRY(db_rows(s, &select_waits,
                DB_PARAMS(db_text(tenant), db_json(ids), db_integer(limit)), wait_columns,
                sizeof(struct store_queue_wait), &rows, count, a, err));
    *list = rows;
    return OK;
}
