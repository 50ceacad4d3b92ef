/* cws.c - what nf-cws asks of a scheduler of workflows.
 *
 * Every success is exactly 200. Runs and tasks are kept, so that any replica answers;
 * what a task took becomes an execution of the application cws/PROCESS. The graph of a
 * run is kept, too: from it, and from what processes took, comes the order in which its
 * tasks should go, which is told (cws_order.c); Kubernetes decides in which they do.
 */
#include "handlers/engines/routes.h"

#include "models/cws.h"
#include "models/execution.h"
#include "service/clock.h"
#include "service/json_scan.h"
#include "service/metrics.h"
#include "service/records/records.h"
#include "service/refits.h"
#include "service/service.h"
#include "service/store_cws.h"

#include <math.h>
#include <string.h>

enum { NAME_MAX_BYTES = 100, ID_DIGITS_MAX = 15 };

static enum error_code done(struct request *rq, const char *text, const char *type,
                            const char *result)
{
    rq->reply->body = text;
    rq->reply->body_length = strlen(text);
    rq->reply->content_type = type;
    metrics_facade(rq->service->metrics, "cws", result, 1);
    return OK;
}

static enum error_code done_empty(struct request *rq, const char *result)
{
    return done(rq, "", "text/plain; charset=utf-8", result);
}

static enum error_code unknown_run(struct request *rq)
{
    return fail(rq->err, ERR_MALFORMED, "", "there is no run '%.100s'",
                rq->path_value[0]);
}

static enum error_code unknown_task(struct request *rq)
{
    return fail(rq->err, ERR_NOT_FOUND, "", "the run has no task '%.40s'",
                rq->path_value[1]);
}

/* The connection, when the run is there. */
static enum error_code open_run(struct request *rq, struct db_session **db)
{
    bool found;

    TRY(request_db(rq, db));
    TRY(store_cws_touch(*db, rq->principal.tenant, rq->path_value[0], &found, rq->err));
    return found ? OK : unknown_run(rq);
}

/* The number of a task in the path; false: it is none. */
static bool task_number(const struct request *rq, uint64_t *number)
{
    const char *text = rq->path_value[1];
    size_t length = strspn(text, "0123456789");

    *number = 0;
    for (size_t i = 0; i < length && i < ID_DIGITS_MAX; i++)
        *number = *number * 10 + (uint64_t)(text[i] - '0');
    return length > 0 && length <= ID_DIGITS_MAX && !text[length];
}

static enum error_code check_text(struct request *rq, const struct raw_body *body)
{
    return json_is_utf8(body->text, body->length)
               ? OK
               : fail(rq->err, ERR_MALFORMED, "", "the body is no UTF-8");
}

static bool is_short(const char *text)
{
    return !text || strlen(text) <= NAME_MAX_BYTES;
}

enum error_code get_cws_health(struct request *rq, const void *in, void *out)
{
    (void)in;
    (void)out;
    return done_empty(rq, "health");
}

enum error_code post_cws_run(struct request *rq, const void *in, void *out)
{
    const struct raw_body *body = in;
    struct db_session *db;
    const char *strategy = NULL;

    (void)out;
    TRY(check_text(rq, body));
    if (body->length > 0)
        TRY(cws_strategy_read(body->text, body->length, &strategy, rq->arena, rq->err));
    if (!is_short(rq->path_value[0]) || !is_short(strategy))
        return fail(rq->err, ERR_MALFORMED, "", "a name has more than %d bytes",
                    NAME_MAX_BYTES);
    TRY(request_db(rq, &db));
    TRY(store_cws_start(db, rq->principal.tenant, rq->path_value[0], strategy, rq->err));
    return done_empty(rq, "run");
}

enum error_code delete_cws_run(struct request *rq, const void *in, void *out)
{
    struct db_session *db;
    bool found;

    (void)in;
    (void)out;
    TRY(request_db(rq, &db));
    TRY(store_cws_remove(db, rq->principal.tenant, rq->path_value[0], &found, rq->err));
    return found ? done_empty(rq, "run_ended") : unknown_run(rq);
}

/* Elements that say nothing are taken, as all that is not known, and counted. */
static enum error_code graph_taken(struct request *rq, size_t ignored)
{
    metrics_facade(rq->service->metrics, "cws", "incomplete", ignored);
    return done_empty(rq, "graph");
}

enum error_code post_cws_vertices(struct request *rq, const void *in, void *out)
{
    const struct raw_body *body = in;
    struct cws_vertex *list;
    struct db_session *db;
    size_t count, ignored;

    (void)out;
    TRY(check_text(rq, body));
    TRY(cws_vertices_read(body->text, body->length, &list, &count, &ignored, rq->arena,
                          rq->err));
    for (size_t i = 0; i < count; i++)
        if (!is_short(list[i].kind) || !is_short(list[i].label))
            return fail(rq->err, ERR_MALFORMED, "", "a name has more than %d bytes",
                        NAME_MAX_BYTES);
    TRY(open_run(rq, &db));
    TRY(store_cws_vertices_add(db, rq->principal.tenant, rq->path_value[0], list, count,
                               rq->arena, rq->err));
    return graph_taken(rq, ignored);
}

enum error_code post_cws_edges(struct request *rq, const void *in, void *out)
{
    const struct raw_body *body = in;
    struct cws_edge *list;
    struct db_session *db;
    size_t count, ignored;

    (void)out;
    TRY(check_text(rq, body));
    TRY(cws_edges_read(body->text, body->length, &list, &count, &ignored, rq->arena,
                       rq->err));
    TRY(open_run(rq, &db));
    TRY(store_cws_edges_add(db, rq->principal.tenant, rq->path_value[0], list, count,
                            rq->arena, rq->err));
    return graph_taken(rq, ignored);
}

typedef enum error_code remove_fn(struct db_session *s, const char *tenant,
                                  const char *run, const uint64_t *uids, size_t count,
                                  struct arena *a, struct error *err);

static enum error_code remove_graph(struct request *rq, const struct raw_body *body,
                                    remove_fn *remove)
{
    struct db_session *db;
    size_t count, ignored;
    uint64_t *uids;

    TRY(check_text(rq, body));
    TRY(cws_uids_read(body->text, body->length, &uids, &count, &ignored, rq->arena,
                      rq->err));
    TRY(open_run(rq, &db));
    TRY(remove(db, rq->principal.tenant, rq->path_value[0], uids, count, rq->arena,
               rq->err));
    return graph_taken(rq, ignored);
}

enum error_code delete_cws_vertices(struct request *rq, const void *in, void *out)
{
    (void)out;
    return remove_graph(rq, in, store_cws_vertices_remove);
}

enum error_code delete_cws_edges(struct request *rq, const void *in, void *out)
{
    (void)out;
    return remove_graph(rq, in, store_cws_edges_remove);
}

enum error_code put_cws_batch(struct request *rq, const void *in, void *out)
{
    struct db_session *db;

    (void)in;
    (void)out;
    TRY(open_run(rq, &db));
    return done_empty(rq, "batch");
}

enum error_code post_cws_task(struct request *rq, const void *in, void *out)
{
    const struct raw_body *body = in;
    struct store_cws_task stored = {.task_id = 0};
    struct cws_task task;
    struct db_session *db;

    (void)out;
    TRY(check_text(rq, body));
    TRY(cws_task_read(body->text, body->length, &task, rq->arena, rq->err));
    if (!task_number(rq, &stored.task_id))
        return unknown_task(rq);
    if (!is_short(task.pod) || !is_short(task.process))
        return fail(rq->err, ERR_MALFORMED, "", "a name has more than %d bytes",
                    NAME_MAX_BYTES);
    stored.pod = task.pod;
    stored.process = task.process;
    stored.cpus = task.cpus;
    stored.memory_bytes = task.memory_bytes;
    stored.input_bytes = task.input_bytes;
    stored.attempt = (uint64_t)task.attempt;
    TRY(open_run(rq, &db));
    TRY(store_cws_put(db, rq->principal.tenant, rq->path_value[0], &stored, rq->err));
    return done(rq, "{}", "application/json", "task");
}

static enum error_code find_task(struct request *rq, struct db_session **db,
                                 struct store_cws_task *task)
{
    uint64_t number;
    bool found;

    TRY(open_run(rq, db));
    if (!task_number(rq, &number))
        return unknown_task(rq);
    TRY(store_cws_get(*db, rq->principal.tenant, rq->path_value[0], number, task, &found,
                      rq->arena, rq->err));
    return found ? OK : unknown_task(rq);
}

enum error_code get_cws_task(struct request *rq, const void *in, void *out)
{
    struct store_cws_task task = {0};
    struct db_session *db;

    (void)in;
    (void)out;
    TRY(find_task(rq, &db, &task));
    return done(rq,
                arena_printf(rq->arena, "{\"state\":\"%s\",\"error\":null}", task.state),
                "application/json", "state");
}

enum error_code delete_cws_task(struct request *rq, const void *in, void *out)
{
    struct db_session *db;
    uint64_t number;
    bool found;

    (void)in;
    (void)out;
    TRY(open_run(rq, &db));
    if (!task_number(rq, &number))
        return unknown_task(rq);
    TRY(store_cws_finish(db, rq->principal.tenant, rq->path_value[0], number, &found,
                         rq->err));
    return found ? done_empty(rq, "task_ended") : unknown_task(rq);
}

/* What is not said is what it was a moment ago: it ends when it is told of. */
static struct execution run_of(struct request *rq, const struct store_cws_task *task,
                               const struct cws_metrics *metrics)
{
    return (struct execution){
        .execution_id = arena_printf(rq->arena, "cws:%s:%llu:%llu", rq->path_value[0],
                                     (unsigned long long)task->task_id,
                                     (unsigned long long)task->attempt),
        .application_id = arena_printf(rq->arena, "cws/%s", task->process),
        .parameters = arena_printf(rq->arena, "{\"attempt\":%llu}",
                                   (unsigned long long)task->attempt),
        .started_at_s = clock_wall_s() - metrics->run_time_s,
        .run_time_s = metrics->run_time_s,
        .phase_index = NAN,
        .problem_size = task->input_bytes,
        .processors = task->cpus >= 1 ? ceil(task->cpus) : 1,
        .cpu_available_ratio = NAN,
        .bandwidth_mbps = NAN,
        .memory_peak_bytes = metrics->peak_rss_bytes,
        .memory_requested_bytes = NAN,
        .disk_peak_bytes = NAN,
        .cpus_used = NAN,
        .attempt = (double)task->attempt,
        .failure_kind = RUN_FAILURE_NONE,
        .exit_code = 0,
        .queue_wait_s = NAN,
        .predicted_s = NAN,
        .model_version = NAN,
    };
}

enum error_code post_cws_metrics(struct request *rq, const void *in, void *out)
{
    const struct raw_body *body = in;
    struct store_cws_task task = {0};
    struct cws_metrics metrics;
    struct record_stored stored;
    struct execution run;
    struct db_session *db;

    (void)out;
    TRY(check_text(rq, body));
    TRY(cws_metrics_read(body->text, body->length, &metrics, rq->arena, rq->err));
    TRY(find_task(rq, &db, &task));
    if (!(metrics.run_time_s > 0))
        return done_empty(rq, "no_run_time");
    run = run_of(rq, &task, &metrics);
    TRY(record_store(db, rq->principal.tenant, &execution_record, &run, 1, RECORD_KEEP,
                     false, &stored, rq->arena, rq->err));
    refits_wake(__atomic_load_n(&rq->service->refits, __ATOMIC_ACQUIRE));
    return done_empty(rq, stored.stored ? "stored" : "duplicate");
}

enum error_code post_cws_publish(struct request *rq, const void *in, void *out)
{
    (void)in;
    (void)out;
    return done_empty(rq, "publish");
}
