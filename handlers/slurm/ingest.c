/* ingest.c - what Slurm's accounting says becomes executions and failures.
 *
 * A run is named slurm:CLUSTER:JOB:START, so that accounting of overlapping times is
 * stored once. What a run says first stays. Of a failure the end may come later: then it
 * is the same failure, with an end. How long a node was down that a job failed with only
 * events say: what they have stored stays.
 *
 * So accounting may come in pieces, cut between jobs, each again and again: what is
 * stored is the same. Only attempts need those before them to be there.
 */
#include "handlers/slurm/ingest.h"

#include "models/base/budget_read.h"
#include "models/base/names.h"
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

/* Whether all rows are of tables without either column. */
static bool have_neither(const struct slurm_list *rows, enum slurm_field field,
                         enum slurm_field other)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct slurm_record *r = &rows->records[i];

        budget_read_step(1);
        if (r->form != SLURM_TABLE || r->value[field] || r->value[other])
            return false;
    }
    return rows->count > 0;
}

enum error_code slurm_check_columns(const struct slurm_records *past, struct error *err)
{
    static const struct {
        enum slurm_field field, other;
        const char *name;
    } needed[] = {{SLURM_F_START, SLURM_F_START, "Start"},
                  {SLURM_F_END, SLURM_F_ELAPSED, "End"},
                  {SLURM_F_STATE, SLURM_F_STATE, "State"}};
    const struct slurm_list *rows = &past->of[SLURM_JOB];

    for (size_t k = 0; k < sizeof(needed) / sizeof(needed[0]); k++)
        if (have_neither(rows, needed[k].field, needed[k].other))
            invalid(err, rows->pointer, ITEM_REQUIRED,
                    "the table has no column %s; sacct -P -D -a -o ALL has all that is "
                    "needed",
                    needed[k].name);
    return err->code;
}

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
                        size_t item_bytes, size_t count, struct slurm_ingested *out,
                        struct arena *a)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct error found = {.arena = a};
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

/* ---- attempts ---- */

/* A run, and what its job's runs have before their start. */
struct asked_run {
    const char *job, *execution_id;
};

static const struct db_column asked_columns[] = {
    DB_COLUMN(struct asked_run, job, DB_TEXT),
    DB_COLUMN(struct asked_run, execution_id, DB_TEXT),
    {0},
};

/* A stored run of the same job. */
struct known_run {
    uint64_t place;
    const char *execution_id;
    double started_at_s, attempt;
};

static const struct db_column known_columns[] = {
    DB_COLUMN(struct known_run, place, DB_INTEGER),
    DB_COLUMN(struct known_run, execution_id, DB_TEXT),
    DB_COLUMN(struct known_run, started_at_s, DB_INSTANT),
    DB_COLUMN(struct known_run, attempt, DB_NUMBER),
    {0},
};

/* The ids of a job's runs stand between its id with : and with ;, the next letter. */
static const struct db_statement select_attempts = {
    "select_slurm_attempts",
    "SELECT n.place - 1, e.execution_id, e.started_at, e.attempt::double precision"
    " FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS n (job, id, place)"
    " JOIN execution AS e ON e.tenant = $1 AND e.execution_id > n.job || ':'"
    " AND e.execution_id < n.job || ';' AND e.execution_id <> n.id"
    " AND e.phase_index = -1 ORDER BY 1, 3",
    DB_REPEATABLE};

/* Attempts count on from those that are stored and not in the list. */
static enum error_code count_on(struct request *rq, struct db_session *db,
                                struct execution *list, size_t count,
                                struct slurm_ingested *out, struct arena *a)
{
    struct asked_run *asked = NEW(a, struct asked_run, count);
    struct known_run *known;
    struct name_index here;
    size_t known_count;

    name_index_create(&here, count, a);
    for (size_t i = 0; i < count; i++) {
        const char *id = list[i].execution_id;

        asked[i] =
            (struct asked_run){arena_text(a, id, (size_t)(strrchr(id, ':') - id)), id};
        name_index_add(&here, id, i);
        budget_step(&rq->budget, 16);
    }
    TRY(db_list_rows(db, &select_attempts, rq->principal.tenant, asked_columns,
                     sizeof(*asked), asked, count, known_columns, sizeof(*known),
                     (void **)&known, &known_count, a, rq->err));
    for (size_t i = 0; i < known_count; i++) {
        struct execution *of = &list[known[i].place];

        budget_step(&rq->budget, 16);
        if (known[i].started_at_s < of->started_at_s &&
            name_index_find(&here, known[i].execution_id) == NAME_NOT_FOUND)
            of->attempt++;
    }
    for (size_t i = 0; i < known_count; i++) { /* behind all that are before it */
        const struct execution *of = &list[known[i].place];

        out->misnumbered +=
            known[i].started_at_s > of->started_at_s && known[i].attempt <= of->attempt;
    }
    return OK;
}

static enum error_code store_runs(struct request *rq, struct db_session *db,
                                  const struct slurm_history *history,
                                  struct slurm_ingested *out, struct arena *a)
{
    struct execution *list = NEW(a, struct execution, history->run_count);
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
    count = keep_good(rq, &execution_record, (char *)list, sizeof(*list), count, out, a);
    if (count == 0)
        return OK;
    TRY(count_on(rq, db, list, count, out, a));
    TRY(record_store(db, rq->principal.tenant, &execution_record, list, count,
                     RECORD_KEEP, false, &stored, a, rq->err));
    out->executions_stored += stored.stored;
    out->executions_duplicates += count - stored.stored;
    if (stored.stored)
        refits_wake(__atomic_load_n(&rq->service->refits, __ATOMIC_ACQUIRE));
    return OK;
}

enum failure_source { OF_ENDED_EVENTS, OF_OPEN_EVENTS, OF_JOBS };

static enum failure_source source_of(const struct slurm_failure *f)
{
    if (f->of_job)
        return OF_JOBS;
    return isnan(f->up_at_s) ? OF_OPEN_EVENTS : OF_ENDED_EVENTS;
}

/* Events that have an end replace what is stored; others leave it as it is. */
static enum error_code store_failures(struct request *rq, struct db_session *db,
                                      const struct slurm_history *history,
                                      enum failure_source source,
                                      struct slurm_ingested *out, struct arena *a)
{
    struct failure *list = NEW(a, struct failure, history->failure_count);
    struct record_stored stored;
    size_t count = 0;

    for (size_t i = 0; i < history->failure_count; i++) {
        const struct slurm_failure *f = &history->failures[i];

        budget_step(&rq->budget, 16);
        if (source_of(f) != source)
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
    count = keep_good(rq, &failure_record, (char *)list, sizeof(*list), count, out, a);
    if (count == 0)
        return OK;
    TRY(record_store(db, rq->principal.tenant, &failure_record, list, count,
                     source == OF_ENDED_EVENTS ? RECORD_REPLACE : RECORD_KEEP, false,
                     &stored, a, rq->err));
    out->failures_stored += stored.stored + stored.replaced;
    out->failures_duplicates += count - stored.stored - stored.replaced;
    return OK;
}

enum error_code slurm_ingest(struct request *rq, const struct slurm_history *history,
                             struct slurm_ingested *out, struct arena *a)
{
    struct db_session *db;

    TRY(request_db(rq, &db));
    TRY(store_runs(rq, db, history, out, a));
    TRY(store_failures(rq, db, history, OF_ENDED_EVENTS, out, a));
    TRY(store_failures(rq, db, history, OF_OPEN_EVENTS, out, a));
    TRY(store_failures(rq, db, history, OF_JOBS, out, a));
    rq->ingested = (struct metrics_rows){
        .stored_count = out->executions_stored + out->failures_stored,
        .duplicate_count = out->executions_duplicates + out->failures_duplicates,
        .refused_count = out->refused,
    };
    return OK;
}

/* ---- what to say of it ---- */

size_t slurm_history_warnings(const struct slurm_history *counts,
                              const struct slurm_records *past, bool zone_given,
                              const struct slurm_ingested *ingested,
                              const char *list[SLURM_HISTORY_WARNINGS], struct arena *a)
{
    const struct {
        const char *code;
        size_t count;
        const char *what;
    } all[] = {
        {"guessed", zone_given ? 0 : counts->local_times,
         "runs have times without a zone, which count as UTC: tz_offset_s says of which "
         "they are"},
        {"guessed", past->cut_names,
         "names of jobs are cut off (+), and are applications as they stand: -P has all"},
        {"skipped", counts->not_ended, "jobs of accounting that have not ended"},
        {"skipped", counts->never_ran, "jobs of accounting that never ran"},
        {"skipped", counts->unusable, "rows of accounting without an id or a state"},
        {"skipped", counts->unknown_states, "rows of accounting of unknown states"},
        {"skipped", past->cut_rows, "rows of accounting with too few or too many fields"},
        {"skipped", past->broken_off,
         "of these the last one, which breaks off: the command was ended before it was "
         "done, or the text was cut"},
        {"skipped", counts->loose_steps,
         "steps of jobs that have no row before them, whose peaks of memory are lost: "
         "cut accounting between jobs"},
        {"unsorted", ingested ? ingested->misnumbered : 0,
         "runs began before others of their job that are stored already, whose attempts "
         "stay as they are: store what is older first"},
    };
    const char *warned = slurm_warned_text(&past->warned, a);
    size_t count = 0;

    if (warned)
        list[count++] = warned;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].count > 0)
            list[count++] =
                arena_printf(a, "%s: %zu: %s", all[i].code, all[i].count, all[i].what);
    return count;
}
