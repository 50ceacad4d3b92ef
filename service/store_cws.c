/* store_cws.c - runs and tasks of nf-cws. */
#include "service/store_cws.h"

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
    " input_bytes, attempt, state) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,"
    " 'UNSCHEDULED') ON CONFLICT (tenant, run, task_id) DO UPDATE SET pod = excluded.pod,"
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
    "UPDATE cws_task SET state = 'FINISHED'"
    " WHERE tenant = $1 AND run = $2 AND task_id = $3",
    DB_REPEATABLE};

static const struct db_statement schedule_task = {
    "cws_schedule_task",
    "UPDATE cws_task SET state = 'SCHEDULED'"
    " WHERE tenant = $1 AND pod = $2 AND state = 'UNSCHEDULED'",
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
