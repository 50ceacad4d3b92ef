/* nextflow_weblog.c - messages of Nextflow become executions. */
#include "handlers/engines/routes.h"

#include "models/nextflow.h"
#include "service/clock.h"
#include "service/json_scan.h"
#include "service/metrics.h"
#include "service/records/records.h"
#include "service/refits.h"
#include "service/service.h"
#include "service/store_facade.h"

#include <string.h>

#define RUN_KEPT_S (30 * 86400.0)

/* Of application and process, and of run, task and attempt, more is not stored. */
enum { NAME_MAX_BYTES = 200 };

struct nextflow_query {
    const char *application_id;
};

#define T struct nextflow_query
static const struct json_field query_rows[] = {
    JSON_TEXT(T, application_id, JSON_NULLABLE,
              "Name of the workflow; default: the manifest's, else the project's, which "
              "the run has said when it started, else nextflow"),
    {0},
};
#undef T
const struct json_object nextflow_query_json = {
    "NextflowQuery", "Of which workflow", sizeof(struct nextflow_query), query_rows};

static const struct json_field answer_rows[] = {{0}};
const struct json_object nextflow_answer_json = {"NextflowAnswer", "Nothing", 0,
                                                 answer_rows};

static void count(const struct request *rq, const char *result)
{
    metrics_facade(rq->service->metrics, "nextflow", result, 1);
}

static bool is_short(const char *text)
{
    return text && strlen(text) <= NAME_MAX_BYTES;
}

static enum error_code keep_run(struct request *rq, const struct nextflow_message *m)
{
    struct db_session *db;

    if (!is_short(m->run_id) || !is_short(m->application)) {
        count(rq, "ignored");
        return OK;
    }
    TRY(request_db(rq, &db));
    TRY(store_run_put(db, rq->principal.tenant, m->run_id, m->application,
                      clock_wall_s() + RUN_KEPT_S, rq->err));
    count(rq, "run");
    return OK;
}

static enum error_code application_of(struct request *rq, struct db_session *db,
                                      const struct nextflow_message *m,
                                      const char **application)
{
    const struct nextflow_query *query = rq->query;

    *application = query->application_id ? query->application_id : m->application;
    if (!*application)
        TRY(store_run_get(db, rq->principal.tenant, m->run_id, application, rq->arena,
                          rq->err));
    if (!*application)
        *application = "nextflow";
    return OK;
}

/* A message that comes again finds its execution there, whatever it says now. */
static enum error_code store(struct request *rq, struct db_session *db,
                             const struct execution *run)
{
    struct record_check check = {.now_s = clock_wall_s(),
                                 .err = &(struct error){.arena = rq->arena}};
    struct record_stored stored;

    execution_check(&check, run);
    if (check.err->code != OK || !is_short(run->application_id) ||
        !is_short(run->execution_id) ||
        (run->resource_id && !is_short(run->resource_id))) {
        count(rq, "refused");
        return OK;
    }
    TRY(record_store(db, rq->principal.tenant, &execution_record, run, 1, RECORD_KEEP,
                     false, &stored, rq->arena, rq->err));
    count(rq, stored.stored ? "stored" : "duplicate");
    rq->ingested = (struct metrics_rows){.stored_count = stored.stored,
                                         .duplicate_count = !stored.stored};
    if (stored.stored)
        refits_wake(__atomic_load_n(&rq->service->refits, __ATOMIC_ACQUIRE));
    return OK;
}

static enum error_code keep_task(struct request *rq, const struct nextflow_message *m)
{
    struct db_session *db;
    const char *application;
    struct execution run;
    bool guessed;

    if (!is_short(m->run_id)) {
        count(rq, "ignored");
        return OK;
    }
    TRY(request_db(rq, &db));
    TRY(application_of(rq, db, m, &application));
    switch (
        nextflow_execution(&m->task, application, m->run_id, &run, &guessed, rq->arena)) {
    case NEXTFLOW_COUNTS:
        return store(rq, db, &run);
    case NEXTFLOW_NOT_RUN:
        count(rq, "not_run");
        return OK;
    case NEXTFLOW_NO_RUN_TIME:
        count(rq, "no_run_time");
        break;
    }
    return OK;
}

enum error_code post_nextflow(struct request *rq, const void *in, void *out)
{
    const struct raw_body *body = in;
    struct nextflow_message m;

    (void)out;
    if (!json_is_utf8(body->text, body->length))
        return fail(rq->err, ERR_MALFORMED, "", "the body is no UTF-8");
    TRY(nextflow_message_read(body->text, body->length, &m, rq->arena, rq->err));
    if (m.kind == NEXTFLOW_STARTED)
        return keep_run(rq, &m);
    if (m.kind == NEXTFLOW_TASK_DONE)
        return keep_task(rq, &m);
    count(rq, "ignored");
    return OK;
}
