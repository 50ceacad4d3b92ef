/* imports.c - POST /v1/imports/slurm: Slurm's documents as a cluster and its queue. */
#include "handlers/slurm/cluster_json.h"
#include "handlers/slurm/ingest.h"
#include "handlers/slurm/slurm.h"
#include "handlers/slurm/store.h"
#include "models/json_walk.h"
#include "models/slurm/history.h"
#include "service/clock.h"

#include <math.h>
#include <string.h>

/* Parts of a request: all are read alike, by what they hold. */
#define PARTS(X)                                                                \
    X(squeue, "Jobs: squeue --json, scontrol -d show job, /jobs of slurmrestd") \
    X(sinfo, "Nodes: sinfo --json, scontrol show node, /nodes of slurmrestd")   \
    X(scontrol_config, "scontrol show config")                                  \
    X(reservations, "scontrol show reservation, /reservations of slurmrestd")   \
    X(partitions, "scontrol show partition, /partitions of slurmrestd")         \
    X(licenses, "scontrol show licenses, /licenses of slurmrestd")              \
    X(shares, "sshare -P -l -a")                                                \
    X(qos, "sacctmgr -P show qos")                                              \
    X(associations, "sacctmgr -P show assoc")

/* Parts about the past. */
#define HISTORY_PARTS(X)                                                               \
    X(sacct, "sacct -P -D -a -o ALL, sacct --json, /jobs of the database's interface") \
    X(events, "sacctmgr -P show event")

struct import_request {
#define X(part, doc) const char *part;
    PARTS(X)
    HISTORY_PARTS(X)
#undef X
    double now_s, tz_offset_s;
    const char *application_pattern;
    bool drain_is_failure, ingest;
    const char *store_snapshot; /* NULL: none */
};

/* A run that did not complete: it says little or nothing of its run time. */
struct import_censored {
    const char *execution_id, *failure_kind;
    double memory_requested_bytes;
};

struct import_unplaced {
    const char *job_id, *reason;
};

/* What Slurm says of a job that waits. */
struct import_estimate {
    const char *job_id, *reason;
    double start_s;
};

struct import_answer {
    struct slurm_cluster cluster;
    const struct slurm_waiting *jobs;
    size_t job_count;
    double now_s;
    const char *name, *version;
    const struct import_estimate *estimates;
    size_t estimate_count;
    const struct import_unplaced *unplaced;
    size_t unplaced_count;
    const struct slurm_run *executions;
    size_t execution_count;
    const struct import_censored *censored;
    size_t censored_count;
    const struct slurm_failure *failures;
    size_t failure_count;
    const struct slurm_ingested *ingested;
    const struct slurm_stored *snapshot;
    const char *const *warnings;
    size_t warning_count;
    const struct slurm_loss_row *lost;
    size_t lost_count;
};

#define T struct import_request
static const struct json_field request_rows[] = {
#define X(part, doc) JSON_RAW(T, part, 0, doc),
    PARTS(X) HISTORY_PARTS(X)
#undef X
        JSON_NUMBER(
            T, now_s, 0, 1e12, NAN, JSON_NULLABLE,
            "When the documents were made, s since the epoch; default: what they say, "
            "else now"),
    JSON_NUMBER(T, tz_offset_s, -86400, 86400, NAN, JSON_NULLABLE,
                "What texts of times are ahead of UTC; default 0"),
    JSON_TEXT(T, application_pattern, JSON_NULLABLE,
              "sacct: which runs are one application: text with {name} {account} {user} "
              "{partition} {qos} {comment}, of the name without digits at its end, and "
              "behind it steps s/REGEX/TEXT/ (g: each match); default {name}"),
    JSON_BOOLEAN(T, drain_is_failure, false, 0,
                 "events: DRAIN is a failure too; default: it is not"),
    JSON_BOOLEAN(T, ingest, false, 0,
                 "Store the runs and failures of sacct and events; takes a key with the "
                 "scope ingest. What is stored already stays"),
    JSON_TEXT(
        T, store_snapshot, JSON_NULLABLE,
        "Store the cluster as the snapshot of this name, or in its place; decisions "
        "take it by snapshot_id"),
    {0},
};
#undef T
const struct json_object slurm_import_request_json = {
    "SlurmImportRequest",
    "Documents of Slurm, each an object or a string of text; what a part holds is seen "
    "from itself",
    sizeof(struct import_request), request_rows};

#define T struct import_estimate
static const struct json_field estimate_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_TEXT(T, reason, JSON_OPTIONAL, "Why it waits, in Slurm's word"),
    JSON_NUMBER(T, start_s, 0, 0, 0, JSON_OPTIONAL, "When Slurm would start it, epoch"),
    {0},
};
#undef T
static const struct json_object estimate_json = {
    "SlurmEstimate", "What Slurm says of a job that waits",
    sizeof(struct import_estimate), estimate_rows};

#define T struct import_unplaced
static const struct json_field unplaced_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_WORD(T, reason, slurm_unplaced_names, 0,
              "unknown_partition, unknown_reservation"),
    {0},
};
#undef T
static const struct json_object unplaced_json = {
    "SlurmUnplaced", "A job that is not in jobs, as it can have no place",
    sizeof(struct import_unplaced), unplaced_rows};

#define T struct slurm_run
static const struct json_field run_rows[] = {
    JSON_TEXT(T, execution_id, 0, "slurm:CLUSTER:JOB:START"),
    JSON_TEXT(T, application_id, 0, "By application_pattern"),
    JSON_TEXT(T, resource_id, JSON_OPTIONAL, "Its node, of a job of one"),
    JSON_INSTANT(T, started_at, 0, "When it started"),
    JSON_NUMBER(T, run_time_s, 0, 0, 0, 0, "How long it ran"),
    JSON_NUMBER(T, queue_wait_s, 0, 0, 0, JSON_OPTIONAL, "From its eligibility on"),
    JSON_NUMBER(T, processors, 0, 0, 0, 0, "CPUs that it had"),
    JSON_NUMBER(T, memory_peak_bytes, 0, 0, 0, JSON_OPTIONAL,
                "The most that a step of it had"),
    JSON_NUMBER(T, exit_code, 0, 0, 0, JSON_WHOLE, "0 only for what completed"),
    JSON_NUMBER(T, attempt, 0, 0, 0, JSON_WHOLE, "Of the job, from 1"),
    JSON_WORD(T, failure_kind, slurm_failure_kind_names, JSON_OPTIONAL,
              "time_limit, memory, error, cancelled or host; absent: it completed"),
    JSON_NUMBER(T, memory_requested_bytes, 0, 0, 0, JSON_OPTIONAL,
                "Memory of a node that it asked for"),
    {0},
};
#undef T
static const struct json_object run_json = {"SlurmExecution",
                                            "A run, as POST /v1/executions takes it",
                                            sizeof(struct slurm_run), run_rows};

#define T struct import_censored
static const struct json_field censored_rows[] = {
    JSON_TEXT(T, execution_id, 0, "The run"),
    JSON_WORD(T, failure_kind, slurm_failure_kind_names, 0,
              "time_limit, memory, error, cancelled or host"),
    JSON_NUMBER(T, memory_requested_bytes, 0, 0, 0, JSON_OPTIONAL,
                "Memory of a node that it asked for"),
    {0},
};
#undef T
static const struct json_object censored_json = {
    "SlurmCensored", "A run that did not complete", sizeof(struct import_censored),
    censored_rows};

#define T struct slurm_failure
static const struct json_field failure_rows[] = {
    JSON_TEXT(T, resource_id, 0, "The node"),
    JSON_INSTANT(T, down_at, 0, "When it failed"),
    JSON_INSTANT(T, up_at, JSON_OPTIONAL, "When it was back; absent: it is not"),
    JSON_TEXT(T, cause, JSON_OPTIONAL, "Why, as was said"),
    {0},
};
#undef T
static const struct json_object failure_json = {
    "SlurmFailure", "A failure of a node, as POST /v1/failures takes it",
    sizeof(struct slurm_failure), failure_rows};

#define T struct import_answer
static const struct json_field answer_rows[] = {
    JSON_OBJECT(T, cluster, struct slurm_cluster, &slurm_cluster_json, 0,
                "The cluster, as POST /v1/queue-orders takes it"),
    JSON_LIST(T, jobs, job_count, struct slurm_waiting, &slurm_job_json, 0, 0,
              "Jobs that wait, likewise"),
    JSON_NUMBER(T, now_s, 0, 0, 0, 0, "When that was, s since the epoch"),
    JSON_TEXT(T, name, JSON_OPTIONAL, "Name of the cluster"),
    JSON_TEXT(T, version, JSON_OPTIONAL, "Version of the documents: v0.0.38"),
    JSON_LIST(T, estimates, estimate_count, struct import_estimate, &estimate_json, 0, 0,
              "What Slurm says of jobs that wait"),
    JSON_LIST(T, unplaced, unplaced_count, struct import_unplaced, &unplaced_json, 0, 0,
              "Jobs that can have no place"),
    JSON_LIST(T, executions, execution_count, struct slurm_run, &run_json, 0,
              JSON_OPTIONAL, "sacct: runs that ended"),
    JSON_LIST(T, censored, censored_count, struct import_censored, &censored_json, 0,
              JSON_OPTIONAL, "Those of them that did not complete"),
    JSON_LIST(T, failures, failure_count, struct slurm_failure, &failure_json, 0,
              JSON_OPTIONAL, "Failures of nodes, of events and of jobs that they ended"),
    JSON_OBJECT(T, ingested, const struct slurm_ingested *, &slurm_ingested_json,
                JSON_POINTER | JSON_OPTIONAL, "With ingest: what was stored"),
    JSON_OBJECT(T, snapshot, const struct slurm_stored *, &slurm_stored_json,
                JSON_POINTER | JSON_OPTIONAL, "With store_snapshot: the snapshot"),
    JSON_TEXTS(T, warnings, warning_count, 0, 0,
               "What was guessed, left out or could not be read"),
    JSON_LIST(T, lost, lost_count, struct slurm_loss_row, &slurm_loss_json, 0, 0,
              "What of the documents has no place here"),
    {0},
};
#undef T
const struct json_object slurm_import_answer_json = {
    "SlurmImportAnswer", "Slurm's documents as a cluster and its queue",
    sizeof(struct import_answer), answer_rows};

/* A document that stands in a string. */
static enum error_code unpack(const char *json, const char *pointer, const char **text,
                              struct arena *a, struct error *err)
{
    struct json_walk walk;
    char type;

    json_walk_open(&walk, json, strlen(json), a);
    type = json_walk_type(&walk);
    *text = json;
    if (type == '{')
        return OK;
    if (type != '"')
        return invalid(err, pointer, ITEM_WRONG_TYPE,
                       "must be an object or a string of text");
    *text = json_walk_string(&walk);
    return json_walk_end(&walk, pointer, err);
}

struct document {
    const char *json, *pointer;
};

/* Reads what is given of some documents; how many that are. */
static size_t read_documents(struct request *rq, const struct document *list,
                             size_t count, struct slurm_records *records)
{
    size_t given = 0;

    for (size_t i = 0; i < count; i++) {
        const char *text;

        if (!list[i].json || strcmp(list[i].json, "null") == 0)
            continue;
        given++;
        if (unpack(list[i].json, list[i].pointer, &text, rq->arena, rq->err) == OK)
            slurm_records_read(text, strlen(text), list[i].pointer, records, rq->arena,
                               rq->err);
    }
    return given;
}

static enum error_code read_parts(struct request *rq, const struct import_request *in,
                                  struct slurm_records *now, struct slurm_records *past,
                                  struct slurm_pattern *application)
{
#define X(part, doc) {in->part, "/" #part},
    const struct document parts[] = {PARTS(X)}, history[] = {HISTORY_PARTS(X)};
#undef X
    const char *problem;
    size_t given;

    now->updated_s = past->updated_s = (double)NAN;
    given = read_documents(rq, parts, sizeof(parts) / sizeof(parts[0]), now);
    given += read_documents(rq, history, sizeof(history) / sizeof(history[0]), past);
    slurm_check_columns(past, rq->err);
    if (given == 0)
        invalid(rq->err, "/squeue", ITEM_REQUIRED, "no document was given");
    problem =
        slurm_pattern_read(in->application_pattern ? in->application_pattern : "{name}",
                           application, rq->arena);
    if (problem)
        invalid(rq->err, "/application_pattern", ITEM_MALFORMED, "%s", problem);
    return rq->err->code;
}

static void print_history(const struct import_request *in,
                          const struct slurm_records *past,
                          const struct slurm_pattern *application,
                          struct slurm_history *read, struct import_answer *answer,
                          struct arena *a)
{
    struct slurm_history_options options = {
        .application = application,
        .drain_is_failure = in->drain_is_failure,
        .tz_offset_s = isnan(in->tz_offset_s) ? 0 : in->tz_offset_s,
        .cluster = answer->name ? answer->name : "cluster",
    };
    struct slurm_history history;
    struct import_censored *censored;

    slurm_history_read(past, &options, &history, a);
    *read = history;
    censored = NEW(a, struct import_censored, history.run_count);
    for (size_t i = 0; i < history.run_count; i++) {
        const struct slurm_run *run = &history.runs[i];

        if (run->failure_kind)
            censored[answer->censored_count++] = (struct import_censored){
                run->execution_id, run->failure_kind, run->memory_requested_bytes};
    }
    answer->censored = censored;
    answer->executions = history.runs;
    answer->execution_count = history.run_count;
    answer->failures = history.failures;
    answer->failure_count = history.failure_count;
}

/* Behind those about the cluster. */
static void warn_history(const struct import_request *in,
                         const struct slurm_records *past,
                         const struct slurm_history *history,
                         struct import_answer *answer, struct arena *a)
{
    const char *more[SLURM_HISTORY_WARNINGS];
    size_t count = slurm_history_warnings(history, past, !isnan(in->tz_offset_s),
                                          answer->ingested, more, a);
    const char **list = NEW(a, const char *, answer->warning_count + count + 1);

    if (answer->warning_count > 0)
        memcpy(list, answer->warnings, answer->warning_count * sizeof(*list));
    memcpy(list + answer->warning_count, more, count * sizeof(*list));
    answer->warning_count += count;
    answer->warnings = list;
}

static void print_losses(struct import_answer *answer, struct arena *a)
{
    const struct slurm_cluster *cluster = &answer->cluster;
    struct slurm_loss_row *rows = NEW(a, struct slurm_loss_row, cluster->lost_count);

    for (size_t i = 0; i < cluster->lost_count; i++)
        rows[i] = (struct slurm_loss_row){
            .what = cluster->lost[i].what,
            .count = cluster->lost[i].count,
            .examples = cluster->lost[i].examples,
            .example_count = cluster->lost[i].example_count,
        };
    answer->lost = rows;
    answer->lost_count = cluster->lost_count;
}

/* Sets apart what can have no place, and what Slurm says of each job. */
static void print_jobs(struct import_answer *answer, struct arena *a)
{
    const struct slurm_cluster *cluster = &answer->cluster;
    size_t count = cluster->waiting_count;
    struct slurm_waiting *jobs = NEW(a, struct slurm_waiting, count);
    struct import_unplaced *unplaced = NEW(a, struct import_unplaced, count);
    struct import_estimate *estimates = NEW(a, struct import_estimate, count);

    for (size_t i = 0; i < count; i++) {
        const struct slurm_waiting *w = &cluster->waiting[i];

        estimates[i] = (struct import_estimate){w->id, w->slurm_reason, w->slurm_start_s};
        if (w->unplaced)
            unplaced[answer->unplaced_count++] =
                (struct import_unplaced){w->id, w->unplaced};
        else
            jobs[answer->job_count++] = *w;
    }
    answer->jobs = jobs;
    answer->unplaced = unplaced;
    answer->estimates = estimates;
    answer->estimate_count = count;
}

enum error_code post_slurm_import(struct request *rq, const void *in, void *out)
{
    const struct import_request *body = in;
    struct import_answer *answer = out;
    struct slurm_records *records = NEW(rq->arena, struct slurm_records, 2);
    struct slurm_pattern *application = NEW(rq->arena, struct slurm_pattern, 1);
    struct slurm_options options = {.now_s = body->now_s,
                                    .received_s = clock_wall_s(),
                                    .tz_offset_s = body->tz_offset_s};
    struct slurm_history history;

    if (body->ingest && !(rq->principal.scopes & SCOPE_INGEST)) /* nothing is stored */
        return fail(rq->err, ERR_FORBIDDEN, "/ingest",
                    "storing history takes a key with the scope ingest");
    TRY(read_parts(rq, body, &records[0], &records[1], application));
    slurm_cluster_read(records, &options, &answer->cluster, rq->arena);
    answer->now_s = answer->cluster.now_s;
    answer->name = answer->cluster.name;
    answer->version = answer->cluster.version;
    answer->warnings = answer->cluster.warnings;
    answer->warning_count = answer->cluster.warning_count;
    print_history(body, &records[1], application, &history, answer, rq->arena);
    print_jobs(answer, rq->arena);
    print_losses(answer, rq->arena);
    if (body->store_snapshot) {
        struct slurm_stored *stored = NEW(rq->arena, struct slurm_stored, 1);

        answer->snapshot = stored;
        TRY(slurm_store(rq, &answer->cluster, body->store_snapshot, stored));
    }
    if (body->ingest) {
        struct slurm_ingested *ingested = NEW(rq->arena, struct slurm_ingested, 1);

        answer->ingested = ingested;
        TRY(slurm_ingest(rq, &history, ingested, rq->arena));
    }
    warn_history(body, &records[1], &history, answer, rq->arena);
    return OK;
}
