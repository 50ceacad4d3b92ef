/* consequences.c - what follows from events, in the transaction that stores them:
 * executions to learn from, and leases of a stored snapshot.
 */
#include "handlers/session/events.h"

#include "handlers/session_run/lease_of.h"
#include "models/base/names.h"
#include "service/records/execution.h"
#include "service/records/records.h"

#include <string.h>

/* ---- executions ---- */

static const struct session_task_body *task_of(const struct session_run *run,
                                               const char *task_id)
{
    size_t at = name_index_find(&run->ids, task_id);

    return at == NAME_NOT_FOUND ? NULL : &run->tasks[at];
}

static bool is_over(const struct session_attempt *t)
{
    return t->started &&
           (t->status == SESSION_TRY_ENDED || t->status == SESSION_TRY_FAILED);
}

/* What the attempt asked for. */
static double requested_bytes(const struct session_task_body *body)
{
    return body->task.memory_bytes > 0 ? body->task.memory_bytes : (double)NAN;
}

static int failure_of(const struct session_event *end, bool failed)
{
    for (int i = 0; failed && end->failure_kind && run_failure_names[i]; i++)
        if (strcmp(run_failure_names[i], end->failure_kind) == 0)
            return i;
    return failed ? RUN_FAILURE_ERROR : RUN_FAILURE_NONE;
}

static struct execution execution_of(const struct session_run *run,
                                     const struct session_task_body *body,
                                     const struct session_attempt *t)
{
    const char *application = run->row.application_id;
    const char *class_name = body->class_name ? body->class_name : body->task.id;
    const struct session_event *end = t->terminal;
    bool failed = t->status == SESSION_TRY_FAILED;
    struct arena *a = run->rq->arena;

    return (struct execution){
        .execution_id = arena_printf(a, "session:%s:%s:%llu", run->row.session_id,
                                     t->task_id, (unsigned long long)t->number),
        .application_id = arena_printf(a, "%s/%s", application, class_name),
        .resource_id = t->started->resource_id,
        .parameters = body->model ? body->model->parameters : NULL,
        .started_at_s = t->started->observed_at_s,
        .run_time_s = isnan(end->run_time_s)
                          ? end->observed_at_s - t->started->observed_at_s
                          : end->run_time_s,
        .phase_index = NAN,
        .problem_size = body->model ? body->model->problem_size : (double)NAN,
        .processors = 1,
        .cpu_available_ratio = NAN,
        .bandwidth_mbps = NAN,
        .memory_peak_bytes = end->memory_peak_bytes,
        .memory_requested_bytes = requested_bytes(body),
        .disk_peak_bytes = NAN,
        .cpus_used = NAN,
        .attempt = (double)t->number,
        .failure_kind = failure_of(end, failed),
        .exit_code = isnan(end->exit_code) ? (failed ? 1 : 0) : end->exit_code,
        .queue_wait_s = NAN,
        .predicted_s = NAN,
        .model_version = NAN,
    };
}

/* Tasks that new events are of, each once. */
static size_t touched_tasks(const struct session_touched *t, const char **tasks)
{
    struct name_index seen;
    size_t count = 0;

    name_index_create(&seen, t->event_count, t->run->rq->arena);
    for (size_t i = 0; i < t->event_count; i++)
        if (session_is_of_task(t->events[i].kind) &&
            name_index_add(&seen, t->events[i].task_id, i) == NAME_NOT_FOUND)
            tasks[count++] = t->events[i].task_id;
    return count;
}

static const struct session_attempt *find_attempt(const struct session_fold *fold,
                                                  const struct session_event *e)
{
    const struct session_attempt *x = session_attempts(fold, e->task_id);

    while (x && x->number != e->attempt) {
        budget_step(fold->budget, 1);
        x = x->next;
    }
    return x;
}

/* Of the attempts that new events are of, each once. */
enum error_code session_learn(const struct session_touched *t)
{
    const struct session_run *run = t->run;
    struct request *rq = run->rq;
    struct execution *list = NEW(rq->arena, struct execution, t->fresh_count);
    struct record_stored stored;
    struct name_index seen;
    size_t count = 0;

    if (!run->definition.learn)
        return OK;
    name_index_create(&seen, t->fresh_count, rq->arena);
    for (size_t i = 0; i < t->fresh_count; i++) {
        const struct session_event *e = &t->fresh[i].event;
        const struct session_task_body *body;
        const struct session_attempt *x;

        if (!session_is_of_task(e->kind) || e->kind == SESSION_PROGRESS)
            continue;
        body = task_of(run, e->task_id);
        x = find_attempt(t->fold, e);
        if (!body || !x || !is_over(x))
            continue;
        list[count] = execution_of(run, body, x);
        if (list[count].run_time_s > 0 &&
            name_index_add(&seen, list[count].execution_id, count) == NAME_NOT_FOUND)
            count++;
    }
    if (count == 0)
        return OK;
    return record_store(t->db, rq->principal.tenant, &execution_record, list, count,
                        RECORD_REPLACE, false, &stored, rq->arena, rq->err);
}

/* ---- leases ---- */

/* The end that a granted attempt was given goes with it; one that nobody granted is
 * counted when there is no room for it, and has its lease all the same. */
static enum error_code sync_attempt(const struct session_touched *t,
                                    struct session_leases *leases, size_t task,
                                    const struct session_attempt *x,
                                    size_t *overcommitted)
{
    const struct lease *had = session_lease_find(leases, x->task_id, x->number);
    struct session_places where;
    double since_s = x->started ? x->started->observed_at_s : (double)NAN, time_s = NAN;
    struct lease_row row;
    bool is_there;

    if (x->status != SESSION_TRY_RUNNING || !x->started)
        return session_lease_drop(leases, x->task_id, x->number);
    where = session_places_started(x->started);
    is_there = had && session_places_same(where, (struct session_places){
                                                     had->placements->resource_ids,
                                                     had->placements->resource_id_count});
    if (is_there && isnan(had->expires_at_s))
        return OK;
    if (is_there)
        time_s = had->placements->end_at_s - had->placements->start_at_s;
    else
        TRY(session_lease_drop(leases, x->task_id, x->number));
    row = session_lease_row(t->run, task, x->number, where, since_s, time_s);
    row.running_id = x->started->running_id;
    if (!is_there && !session_lease_fits(leases, &row, 1))
        ++*overcommitted;
    return session_lease_add(leases, &row, NAN);
}

enum error_code session_sync_leases(const struct session_touched *t,
                                    size_t *overcommitted)
{
    const struct session_run *run = t->run;
    struct request *rq = run->rq;
    const char **tasks = NEW(rq->arena, const char *, t->event_count);
    size_t task_count = touched_tasks(t, tasks);
    struct session_leases leases;

    if (!run->row.snapshot_id)
        return OK;
    TRY(session_leases_open(rq, &run->row, t->db, &leases));
    for (size_t i = 0; i < task_count; i++) {
        size_t task = name_index_find(&run->ids, tasks[i]);

        for (const struct session_attempt *x = session_attempts(t->fold, tasks[i]);
             x && task != NAME_NOT_FOUND; x = x->next)
            TRY(sync_attempt(t, &leases, task, x, overcommitted));
    }
    return session_leases_close(&leases, 0);
}
