/* ingest.c - what Slurm's accounting says becomes executions and failures.
 *
 * A run is named slurm:CLUSTER:JOB:START, so that accounting of overlapping times is
 * stored once. What a run says first stays. Of a failure the end may come later: then it
 * is the same failure, with an end.
 */
#include "handlers/slurm/ingest.h"

#include "models/failure_history.h"
#include "service/clock.h"
#include "service/records/execution.h"
#include "service/records/records.h"
#include "service/refits.h"
#include "service/service.h"

#include <math.h>
#include <string.h>

enum { NAME_MAX_BYTES = 256 };

#define COUNT(m, text) JSON_INTEGER(struct slurm_ingested, m, 0, JSON_EXACT, 0, 0, text)
static const struct json_field ingested_rows[] = {
    COUNT(executions_stored, "Runs that are new"),
    COUNT(executions_duplicates, "Runs that were stored before, and stay so"),
    COUNT(failures_stored, "Failures that are new, or have an end now"),
    COUNT(failures_duplicates, "Failures that were stored before, and stay so"),
    COUNT(refused, "Runs and failures with values that no history takes"),
    {0},
};
const struct json_object slurm_ingested_json = {"SlurmIngested", "What accounting became",
                                                sizeof(struct slurm_ingested),
                                                ingested_rows};

static bool is_short(const char *text)
{
    return !text || strlen(text) <= NAME_MAX_BYTES;
}

static int run_failure_of(const struct slurm_run *run)
{
    for (int i = 0; run->failure_kind && run_failure_names[i]; i++)
        if (strcmp(run_failure_names[i], run->failure_kind) == 0)
            return i;
    return RUN_FAILURE_NONE;
}

static struct execution execution_of(const struct slurm_run *run)
{
    return (struct execution){
        .execution_id = run->execution_id,
        .application_id = run->application_id,
        .resource_id = run->resource_id,
        .started_at_s = run->started_at_s,
        .run_time_s = run->run_time_s,
        .phase_index = NAN,
        .problem_size = NAN,
        .processors = run->processors,
        .cpu_available_ratio = NAN,
        .bandwidth_mbps = NAN,
        .memory_peak_bytes = run->memory_peak_bytes,
        .memory_requested_bytes = run->memory_requested_bytes,
        .disk_peak_bytes = NAN,
        .cpus_used = NAN,
        .attempt = run->attempt,
        .failure_kind = run_failure_of(run),
        .exit_code = run->exit_code,
        .queue_wait_s = run->queue_wait_s,
        .predicted_s = NAN,
        .model_version = NAN,
    };
}

/* The list without what its record's check refuses; how many are left. */
static size_t keep_good(struct request *rq, const struct record *record, char *list,
                        size_t item_bytes, size_t count, struct slurm_ingested *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct error found = {.arena = rq->arena};
        struct record_check check = {.now_s = clock_wall_s(), .err = &found};

        record->check(&check, list + i * item_bytes);
        budget_step(&rq->budget, 64);
        if (found.code != OK) {
            out->refused++;
            continue;
        }
        memmove(list + kept++ * item_bytes, list + i * item_bytes, item_bytes);
    }
    return kept;
}

static enum error_code store_runs(struct request *rq, struct db_session *db,
                                  const struct slurm_history *history,
                                  struct slurm_ingested *out)
{
    struct execution *list = NEW(rq->arena, struct execution, history->run_count);
    struct record_stored stored;
    size_t count = 0;

    for (size_t i = 0; i < history->run_count; i++) {
        const struct slurm_run *run = &history->runs[i];

        if (is_short(run->execution_id) && is_short(run->application_id) &&
            is_short(run->resource_id))
            list[count++] = execution_of(run);
        else
            out->refused++;
        budget_step(&rq->budget, 16);
    }
    count = keep_good(rq, &execution_record, (char *)list, sizeof(*list), count, out);
    if (count == 0)
        return OK;
    TRY(record_store(db, rq->principal.tenant, &execution_record, list, count,
                     RECORD_KEEP, false, &stored, rq->arena, rq->err));
    out->executions_stored = stored.stored;
    out->executions_duplicates = count - stored.stored;
    if (stored.stored)
        refits_wake(__atomic_load_n(&rq->service->refits, __ATOMIC_ACQUIRE));
    return OK;
}

/* Those that have an end replace what is stored; open ones leave it as it is. */
static enum error_code store_failures(struct request *rq, struct db_session *db,
                                      const struct slurm_history *history, bool ended,
                                      struct slurm_ingested *out)
{
    struct failure *list = NEW(rq->arena, struct failure, history->failure_count);
    struct record_stored stored;
    size_t count = 0;

    for (size_t i = 0; i < history->failure_count; i++) {
        const struct slurm_failure *f = &history->failures[i];

        budget_step(&rq->budget, 16);
        if (isnan(f->up_at_s) == ended)
            continue;
        if (!is_short(f->resource_id)) {
            out->refused++;
            continue;
        }
        list[count++] = (struct failure){.resource_id = f->resource_id,
                                         .down_at_s = f->down_at_s,
                                         .up_at_s = f->up_at_s,
                                         .cause = f->cause,
                                         .kind = FAILURE_FAILURE,
                                         .detected_at_s = NAN,
                                         .level = NAN};
    }
    count = keep_good(rq, &failure_record, (char *)list, sizeof(*list), count, out);
    if (count == 0)
        return OK;
    TRY(record_store(db, rq->principal.tenant, &failure_record, list, count,
                     ended ? RECORD_REPLACE : RECORD_KEEP, false, &stored, rq->arena,
                     rq->err));
    out->failures_stored += stored.stored + stored.replaced;
    out->failures_duplicates += count - stored.stored - stored.replaced;
    return OK;
}

enum error_code slurm_ingest(struct request *rq, const struct slurm_history *history,
                             struct slurm_ingested *out)
{
    struct db_session *db;

    TRY(request_db(rq, &db));
    TRY(store_runs(rq, db, history, out));
    TRY(store_failures(rq, db, history, true, out));
    TRY(store_failures(rq, db, history, false, out));
    rq->ingested = (struct metrics_rows){
        .stored_count = out->executions_stored + out->failures_stored,
        .duplicate_count = out->executions_duplicates + out->failures_duplicates,
        .refused_count = out->refused,
    };
    return OK;
}
