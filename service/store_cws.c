/* store_cws.c - runs and tasks of nf-cws. */
#include "service/store_cws.h"

const char *const store_cws_state_names[] = {CWS_UNSCHEDULED, CWS_SCHEDULED, CWS_FINISHED,
                                             NULL};

static const struct db_statement remove_run = {
    "cws_remove_run", "DELETE FROM cws_run WHERE tenant = $1 AND run = $2",
    DB_REPEATABLE};

static const struct db_statement make_run = {
    "cws_make_run",
    "INSERT INTO cws_run (tenant, run, strategy, updated_at) VALUES ($1, $2, $3, now())"
    " ON CONFLICT (tenant, run) DO UPDATE SET strategy = excluded.strategy,"
    " updated_at = excluded.updated_at",
    DB_REPEATABLE};

static const struct db_statement touch_run = {
    "cws_touch_run",
    "UPDATE cws_run SET updated_at = now() WHERE tenant = $1 AND run = $2",
    DB_REPEATABLE};

static const struct db_statement put_task = {
    "cws_put_task",
    "INSERT INTO cws_task (tenant, run, task_id, pod, class, cpus, memory_bytes,"
    " input_bytes, attempt, state, arrived_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8,"
    " $9, '" CWS_UNSCHEDULED
    "', clock_timestamp()) ON CONFLICT (tenant, run, task_id) DO UPDATE "
    "SET pod = excluded.pod,"
    " class = excluded.class, cpus = excluded.cpus,"
    " memory_bytes = excluded.memory_bytes, input_bytes = excluded.input_bytes,"
    " attempt = excluded.attempt, state = excluded.state",
    DB_REPEATABLE};

static const struct db_statement get_task = {
    "cws_get_task",
    "SELECT task_id, pod, class AS process, cpus,"
    " memory_bytes, input_bytes, attempt, state"
    " FROM cws_task WHERE tenant = $1 AND run = $2 AND task_id = $3",
    DB_REPEATABLE};

static const struct db_statement task_of_pod = {
    "cws_task_of_pod",
    "SELECT t.task_id, t.pod, t.class AS process, t.cpus,"
    " t.memory_bytes, t.input_bytes, t.attempt, t.state"
    " FROM cws_task t JOIN cws_run r ON r.tenant = t.tenant AND r.run = t.run"
    " WHERE t.tenant = $1 AND t.pod = $2"
    " ORDER BY r.updated_at DESC, t.run, t.task_id DESC LIMIT 1",
    DB_REPEATABLE};

static const struct db_statement finish_task = {
    "cws_finish_task",
    "UPDATE cws_task SET state = '" CWS_FINISHED "'"
    " WHERE tenant = $1 AND run = $2 AND task_id = $3",
    DB_REPEATABLE};

static const struct db_statement schedule_task = {
    "cws_schedule_task",
    "UPDATE cws_task SET state = '" CWS_SCHEDULED "'"
    " WHERE tenant = $1 AND pod = $2 AND state = '" CWS_UNSCHEDULED "'",
    DB_REPEATABLE};

static const struct db_column task_columns[] = {
    DB_COLUMN(struct store_cws_task, task_id, DB_INTEGER),
    DB_COLUMN(struct store_cws_task, pod, DB_TEXT),
    DB_COLUMN(struct store_cws_task, process, DB_TEXT),
    DB_COLUMN(struct store_cws_task, cpus, DB_NUMBER),
    DB_COLUMN(struct store_cws_task, memory_bytes, DB_NUMBER),
    DB_COLUMN(struct store_cws_task, input_bytes, DB_NUMBER),
    DB_COLUMN(struct store_cws_task, attempt, DB_INTEGER),
    DB_COLUMN(struct store_cws_task, state, DB_TEXT),
    {0},
};

/* *found: it changed something. */
static enum error_code change(struct db_session *s, const struct db_statement *statement,
                              const struct db_param *params, bool *found,
                              struct error *err)
{
    size_t affected = 0;

    TRY(db_run(s, statement, params, &affected, err));
    *found = affected > 0;
    return OK;
}

enum error_code store_cws_start(struct db_session *s, const char *tenant, const char *run,
                                const char *strategy, struct error *err)
{
    bool found;

    TRY(store_cws_remove(s, tenant, run, &found, err));
    return db_run(s, &make_run,
                  DB_PARAMS(db_text(tenant), db_text(run), db_text(strategy)), NULL, err);
}

enum error_code store_cws_touch(struct db_session *s, const char *tenant, const char *run,
                                bool *found, struct error *err)
{
    return change(s, &touch_run, DB_PARAMS(db_text(tenant), db_text(run)), found, err);
}

enum error_code store_cws_remove(struct db_session *s, const char *tenant,
                                 const char *run, bool *found, struct error *err)
{
    return change(s, &remove_run, DB_PARAMS(db_text(tenant), db_text(run)), found, err);
}

enum error_code store_cws_put(struct db_session *s, const char *tenant, const char *run,
                              const struct store_cws_task *task, struct error *err)
{
    return db_run(s, &put_task,
                  DB_PARAMS(db_text(tenant), db_text(run), db_integer(task->task_id),
                            db_text(task->pod), db_text(task->process),
                            db_number(task->cpus), db_number(task->memory_bytes),
                            db_number(task->input_bytes), db_integer(task->attempt)),
                  NULL, err);
}

enum error_code store_cws_get(struct db_session *s, const char *tenant, const char *run,
                              uint64_t task_id, struct store_cws_task *task, bool *found,
                              struct arena *a, struct error *err)
{
    return db_row(s, &get_task,
                  DB_PARAMS(db_text(tenant), db_text(run), db_integer(task_id)),
                  task_columns, sizeof(*task), task, found, a, err);
}

enum error_code store_cws_of_pod(struct db_session *s, const char *tenant,
                                 const char *pod, struct store_cws_task *task,
                                 bool *found, struct arena *a, struct error *err)
{
    return db_row(s, &task_of_pod, DB_PARAMS(db_text(tenant), db_text(pod)), task_columns,
                  sizeof(*task), task, found, a, err);
}

enum error_code store_cws_finish(struct db_session *s, const char *tenant,
                                 const char *run, uint64_t task_id, bool *found,
                                 struct error *err)
{
    return change(s, &finish_task,
                  DB_PARAMS(db_text(tenant), db_text(run), db_integer(task_id)), found,
                  err);
}

enum error_code store_cws_schedule(struct db_session *s, const char *tenant,
                                   const char *pod, bool *found, struct error *err)
{
    return change(s, &schedule_task, DB_PARAMS(db_text(tenant), db_text(pod)), found,
                  err);
}

/* ---- the graph ---- */

/* Rows of a list, with the run that they are of. */
struct vertex_row {
    const char *run, *label, *kind;
    uint64_t uid;
};
struct edge_row {
    const char *run;
    uint64_t uid, from_uid, to_uid;
};
struct count_row {
    uint64_t count;
};

static const struct db_column new_vertex_columns[] = {
    DB_COLUMN(struct vertex_row, run, DB_TEXT),
    DB_COLUMN(struct vertex_row, uid, DB_INTEGER),
    DB_COLUMN(struct vertex_row, label, DB_TEXT),
    DB_COLUMN(struct vertex_row, kind, DB_TEXT),
    {0},
};
static const struct db_column new_edge_columns[] = {
    DB_COLUMN(struct edge_row, run, DB_TEXT),
    DB_COLUMN(struct edge_row, uid, DB_INTEGER),
    DB_COLUMN(struct edge_row, from_uid, DB_INTEGER),
    DB_COLUMN(struct edge_row, to_uid, DB_INTEGER),
    {0},
};
static const struct db_column uid_columns[] = {
    DB_COLUMN(struct edge_row, run, DB_TEXT),
    DB_COLUMN(struct edge_row, uid, DB_INTEGER),
    {0},
};
static const struct db_column vertex_columns[] = {
    DB_COLUMN(struct cws_vertex, uid, DB_INTEGER),
    DB_COLUMN(struct cws_vertex, label, DB_TEXT),
    DB_COLUMN(struct cws_vertex, kind, DB_TEXT),
    {0},
};
static const struct db_column edge_columns[] = {
    DB_COLUMN(struct cws_edge, uid, DB_INTEGER),
    DB_COLUMN(struct cws_edge, from_uid, DB_INTEGER),
    DB_COLUMN(struct cws_edge, to_uid, DB_INTEGER),
    {0},
};
static const struct db_column count_columns[] = {
    DB_COLUMN(struct count_row, count, DB_INTEGER),
    {0},
};

static const struct db_statement add_vertices = {
    "cws_add_vertices",
    "INSERT INTO cws_vertex (tenant, run, uid, label, kind) SELECT $1, q.run, q.uid,"
    " q.label, q.kind FROM unnest($2, $3, $4, $5) WITH ORDINALITY AS q(run, uid, label,"
    " kind, number) ORDER BY q.number ON CONFLICT DO NOTHING",
    DB_REPEATABLE};

static const struct db_statement add_edges = {
    "cws_add_edges",
    "INSERT INTO cws_edge (tenant, run, uid, from_uid, to_uid) SELECT $1, q.run, q.uid,"
    " q.from_uid, q.to_uid FROM unnest($2, $3, $4, $5) WITH ORDINALITY AS q(run, uid,"
    " from_uid, to_uid, number) ORDER BY q.number ON CONFLICT DO NOTHING",
    DB_REPEATABLE};

static const struct db_statement remove_vertices = {
    "cws_remove_vertices",
    "DELETE FROM cws_vertex AS v USING unnest($2, $3) AS q(run, uid) WHERE v.tenant = $1"
    " AND v.run = q.run AND v.uid = q.uid",
    DB_REPEATABLE};

static const struct db_statement remove_edges = {
    "cws_remove_edges",
    "DELETE FROM cws_edge AS e USING unnest($2, $3) AS q(run, uid) WHERE e.tenant = $1"
    " AND e.run = q.run AND e.uid = q.uid",
    DB_REPEATABLE};

static const struct db_statement count_vertices = {
    "cws_count_vertices",
    "SELECT count(*) FROM cws_vertex WHERE tenant = $1 AND run = $2", DB_REPEATABLE};

static const struct db_statement count_edges = {
    "cws_count_edges", "SELECT count(*) FROM cws_edge WHERE tenant = $1 AND run = $2",
    DB_REPEATABLE};

static const struct db_statement select_vertices = {
    "cws_vertices",
    "SELECT uid, label, kind FROM cws_vertex WHERE tenant = $1 AND run = $2 ORDER BY seq",
    DB_REPEATABLE};

static const struct db_statement select_edges = {
    "cws_edges",
    "SELECT uid, from_uid, to_uid FROM cws_edge WHERE tenant = $1 AND run = $2"
    " ORDER BY seq",
    DB_REPEATABLE};

static const struct db_statement select_tasks = {
    "cws_tasks",
    "SELECT task_id, pod, class AS process, cpus, memory_bytes, input_bytes, attempt,"
    " state FROM cws_task WHERE tenant = $1 AND run = $2 ORDER BY arrived_at, task_id",
    DB_REPEATABLE};

/* What was added before is in the count: a list is taken when there was room before. */
static enum error_code check_room(struct db_session *s, const struct db_statement *counts,
                                  const char *tenant, const char *run, size_t added,
                                  size_t most, struct arena *a, struct error *err)
{
    struct count_row row = {0};
    bool found;

    TRY(db_row(s, counts, DB_PARAMS(db_text(tenant), db_text(run)), count_columns,
               sizeof(row), &row, &found, a, err));
    if (row.count + added > most)
        return fail(err, ERR_TOO_LARGE, "", "the graph of a run has %zu of them at most",
                    most);
    return OK;
}

enum error_code store_cws_vertices_add(struct db_session *s, const char *tenant,
                                       const char *run, const struct cws_vertex *list,
                                       size_t count, struct arena *a, struct error *err)
{
    struct vertex_row *rows = NEW(a, struct vertex_row, count);

    TRY(check_room(s, &count_vertices, tenant, run, count, CWS_VERTICES_MAX, a, err));
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct vertex_row){run, list[i].label, list[i].kind, list[i].uid};
    return db_run_list(s, &add_vertices, tenant, new_vertex_columns, sizeof(*rows), rows,
                       count, NULL, a, err);
}

enum error_code store_cws_edges_add(struct db_session *s, const char *tenant,
                                    const char *run, const struct cws_edge *list,
                                    size_t count, struct arena *a, struct error *err)
{
    struct edge_row *rows = NEW(a, struct edge_row, count);

    TRY(check_room(s, &count_edges, tenant, run, count, CWS_EDGES_MAX, a, err));
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct edge_row){run, list[i].uid, list[i].from_uid, list[i].to_uid};
    return db_run_list(s, &add_edges, tenant, new_edge_columns, sizeof(*rows), rows,
                       count, NULL, a, err);
}

static enum error_code remove_uids(struct db_session *s,
                                   const struct db_statement *statement,
                                   const char *tenant, const char *run,
                                   const uint64_t *uids, size_t count, struct arena *a,
                                   struct error *err)
{
    struct edge_row *rows = NEW(a, struct edge_row, count);

    for (size_t i = 0; i < count; i++)
        rows[i] = (struct edge_row){.run = run, .uid = uids[i]};
    return db_run_list(s, statement, tenant, uid_columns, sizeof(*rows), rows, count,
                       NULL, a, err);
}

enum error_code store_cws_vertices_remove(struct db_session *s, const char *tenant,
                                          const char *run, const uint64_t *uids,
                                          size_t count, struct arena *a,
                                          struct error *err)
{
    return remove_uids(s, &remove_vertices, tenant, run, uids, count, a, err);
}

enum error_code store_cws_edges_remove(struct db_session *s, const char *tenant,
                                       const char *run, const uint64_t *uids,
                                       size_t count, struct arena *a, struct error *err)
{
    return remove_uids(s, &remove_edges, tenant, run, uids, count, a, err);
}

/* ---- all of a run ---- */

struct run_row {
    const char *strategy;
};

static const struct db_column run_columns[] = {
    DB_COLUMN(struct run_row, strategy, DB_TEXT),
    {0},
};

static const struct db_statement select_run = {
    "cws_run", "SELECT strategy FROM cws_run WHERE tenant = $1 AND run = $2",
    DB_REPEATABLE};

enum error_code store_cws_read(struct db_session *s, const char *tenant, const char *run,
                               struct store_cws_run *out, bool *found, struct arena *a,
                               struct error *err)
{
    const struct db_param *params = DB_PARAMS(db_text(tenant), db_text(run));
    struct run_row row = {NULL};
    void *rows;

    *out = (struct store_cws_run){.strategy = NULL};
    TRY(db_row(s, &select_run, params, run_columns, sizeof(row), &row, found, a, err));
    if (!*found)
        return OK;
    out->strategy = row.strategy;
    TRY(db_rows(s, &select_tasks, params, task_columns, sizeof(*out->tasks), &rows,
                &out->task_count, a, err));
    out->tasks = rows;
    TRY(db_rows(s, &select_vertices, params, vertex_columns, sizeof(*out->vertices),
                &rows, &out->vertex_count, a, err));
    out->vertices = rows;
    TRY(db_rows(s, &select_edges, params, edge_columns, sizeof(*out->edges), &rows,
                &out->edge_count, a, err));
    out->edges = rows;
    return OK;
}

#define T struct store_cws_time
static const struct db_column asked_columns[] = {
    DB_COLUMN(T, application_id, DB_TEXT), DB_COLUMN(T, number, DB_INTEGER), {0}};
static const struct db_column time_columns[] = {
    DB_COLUMN(T, number, DB_INTEGER), DB_COLUMN(T, run_time_s, DB_NUMBER), {0}};
#undef T

static const struct db_statement select_times = {
    "cws_times",
    "SELECT q.number, m.mean FROM unnest($2, $3) AS q(application_id, number), LATERAL"
    " (SELECT avg(n.run_time_s) AS mean FROM (SELECT e.run_time_s FROM execution AS e"
    " WHERE e.tenant = $1 AND e.application_id = q.application_id"
    " AND coalesce(e.exit_code, 0) = 0 ORDER BY e.started_at DESC LIMIT 1000) AS n) AS m"
    " WHERE m.mean IS NOT NULL",
    DB_REPEATABLE};

enum error_code store_cws_times(struct db_session *s, const char *tenant,
                                const struct store_cws_time *asked, size_t count,
                                struct store_cws_time **list, size_t *found,
                                struct arena *a, struct error *err)
{
    return db_list_rows(s, &select_times, tenant, asked_columns, sizeof(*asked), asked,
                        count, time_columns, sizeof(**list), (void **)list, found, a,
                        err);
}
