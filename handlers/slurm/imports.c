/* imports.c - POST /v1/imports/slurm: Slurm's documents as a cluster and its queue. */
#include "handlers/slurm/cluster_json.h"
#include "handlers/slurm/slurm.h"
#include "models/json_walk.h"
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

struct import_request {
#define X(part, doc) const char *part;
    PARTS(X)
#undef X
    double now_s, tz_offset_s;
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
    const char *const *warnings;
    size_t warning_count;
    const struct slurm_loss_row *lost;
    size_t lost_count;
};

#define T struct import_request
static const struct json_field request_rows[] = {
#define X(part, doc) JSON_RAW(T, part, 0, doc),
    PARTS(X)
#undef X
        JSON_NUMBER(
            T, now_s, 0, 1e12, NAN, JSON_NULLABLE,
            "When the documents were made, s since the epoch; default: what they say, "
            "else now"),
    JSON_NUMBER(T, tz_offset_s, -86400, 86400, NAN, JSON_NULLABLE,
                "What texts of times are ahead of UTC; default 0"),
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
    JSON_TEXT(T, reason, 0, "unknown_partition"),
    {0},
};
#undef T
static const struct json_object unplaced_json = {
    "SlurmUnplaced", "A job that is not in jobs, as it can have no place",
    sizeof(struct import_unplaced), unplaced_rows};

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

static enum error_code read_parts(struct request *rq, const struct import_request *in,
                                  struct slurm_records *records)
{
    const char *const parts[] = {
#define X(part, doc) in->part,
        PARTS(X)
#undef X
    };
    static const char *const pointers[] = {
#define X(part, doc) "/" #part,
        PARTS(X)
#undef X
    };
    bool any = false;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const char *text;

        if (!parts[i] || strcmp(parts[i], "null") == 0)
            continue;
        any = true;
        if (unpack(parts[i], pointers[i], &text, rq->arena, rq->err) == OK)
            slurm_records_read(text, strlen(text), pointers[i], records, rq->arena,
                               rq->err);
    }
    if (!any)
        return invalid(rq->err, "/squeue", ITEM_REQUIRED, "no document was given");
    return rq->err->code;
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
    struct slurm_records *records = NEW(rq->arena, struct slurm_records, 1);
    struct slurm_options options = {.now_s = body->now_s,
                                    .received_s = clock_wall_s(),
                                    .tz_offset_s = body->tz_offset_s};

    records->updated_s = NAN;
    TRY(read_parts(rq, body, records));
    slurm_cluster_read(records, &options, &answer->cluster, rq->arena);
    answer->now_s = answer->cluster.now_s;
    answer->name = answer->cluster.name;
    answer->version = answer->cluster.version;
    answer->warnings = answer->cluster.warnings;
    answer->warning_count = answer->cluster.warning_count;
    print_jobs(answer, rq->arena);
    print_losses(answer, rq->arena);
    return OK;
}
