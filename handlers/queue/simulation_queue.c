/* simulation_queue.c - simulations of kind "queue": a job log on a batch system. */
#include "handlers/queue/simulation_queue.h"

#include "algorithms/cluster_queue/decide.h"
#include "handlers/cluster_queue/cluster_stored.h"
#include "handlers/common/decision.h"
#include "handlers/common/experiment.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/common/world_json.h"
#include "handlers/operations/policy_words.h"
#include "handlers/placement/run_times.h"
#include "handlers/queue/simulation_cluster.h"
#include "handlers/queue/simulation_details.h"
#include "handlers/queue/simulation_study.h"
#include "handlers/simulation/simulations.h"
#include "handlers/stored/uploads.h"
#include "handlers/stored/workload_log.h"
#include "models/base/names.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "service/stored_hint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    JOBS_MAX = 1000000,
    POLICIES_MAX = 32,
    ASIDE_MAX = 10000,
    FAILURES_MAX = 100000,
    ROWS_MAX = 10000,    /* of a schedule, unless the request says */
    ROWS_LIMIT = 100000, /* at most */
    TABLE_ROWS = 100,    /* of a table, unless the request says */
    TABLE_LIMIT = 10000, /* at most */
    NEVER_FITS_MAX = 100 /* that are named */
};

#define LOG_MAX_BYTES 1e12 /* the limit of bodies comes first */

/* ---- the request ---- */

/* A job that is given. Behind requested_s: on a cluster. */
struct log_job {
    const char *id;
    double submit_s, run_time_s, requested_s;
    uint64_t processors; /* 0: not given */
    const char *user;
    double cpus, memory_bytes, deadline_s, time_limit_s, priority;
    const struct named_value *needs;
    size_t need_count;
    uint64_t nodes;
    bool exclusive, preemptible, ok;
    double cancel_s;
    const char *const *partition_ids;
    size_t partition_id_count;
    const struct job_model *model;
    const struct job_group *group;
    struct cluster_job_in cluster;
};

struct queue_simulation {
    int kind; /* only "queue" */
    struct decision_request decision;
    const char *name;
    uint64_t processors; /* 0: as the log says */
    const char *const *policies;
    size_t policy_count; /* 0: all */
    int estimates;
    bool cut_at_request, per_job, as_swf, details;
    uint64_t job_rows_max, table_rows_max, utilisation_step_s;
    double bound_s;
    const char *workload_id, *swf;
    const struct log_job *jobs;
    size_t job_count;
    const struct queue_reservation *reservations;
    size_t reservation_count;
    const struct study_request *study;
    const struct cluster_in *cluster; /* NULL: equal processors */
    const struct snapshot *snapshot;  /* which has a cluster; NULL */
    const char *snapshot_id;
    const struct node_failure *failures;
    size_t failure_count;
    bool strict_dependencies;
};

static const char *const kinds[] = {"queue", NULL};
#define SECONDS(T, m, dflt, flag, ...) \
    JSON_NUMBER(T, m, 0, QUEUE_TIME_MAX_S, dflt, flag, __VA_ARGS__)

#define T struct log_job
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_NULLABLE, "Name; comes back with per_job"),
    SECONDS(T, submit_s, 0, 0, "When it arrives; default 0"),
    JSON_INTEGER(T, processors, 1, JSON_EXACT, 0, JSON_BOUND_ONLY,
                 "Processors it needs; default 1"),
    SECONDS(T, run_time_s, 0, JSON_REQUIRED, "How long it runs", JSON_WAS({"run_s", 0})),
    SECONDS(T, requested_s, NAN, JSON_NULLABLE,
            "Run time that the user asks for; default: run_time_s; on a cluster "
            "time_limit_s"),
    JSON_ID(T, user, JSON_NULLABLE, "cluster: who owns it"),
    JSON_NUMBER(T, cpus, 0, 1e9, 1, JSON_ABOVE_MIN, "cluster: of each node; default 1"),
    JSON_NUMBER(T, memory_bytes, 0, 1e18, 0, 0, "cluster: of each node; default 0"),
    JSON_AMOUNTS(T, needs, need_count, 0,
                 "cluster: other amounts, by the names of capacities (of each node) and "
                 "shared_capacities (once)"),
    JSON_INTEGER(T, nodes, 1, CLUSTER_NODES_MAX, 1, 0, "cluster: nodes; default 1"),
    JSON_BOOLEAN(T, exclusive, false, 0, "cluster: it shares its nodes with nobody"),
    JSON_BOOLEAN(T, preemptible, false, 0, "cluster: it may be stopped for others"),
    SECONDS(T, time_limit_s, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
            "cluster: it is killed so long after its start; default: requested_s, else "
            "what its partition says"),
    SECONDS(T, deadline_s, NAN, JSON_NULLABLE, "cluster: to be done by"),
    SECONDS(T, cancel_s, NAN, JSON_NULLABLE,
            "cluster: when its user cancels it: it leaves the queue, or ends if it runs"),
    JSON_BOOLEAN(T, ok, true, 0,
                 "cluster: false: its end is a failure to those that wait for it; "
                 "default true"),
    JSON_NUMBER(T, priority, -JSON_LARGEST, JSON_LARGEST, 0, 0,
                "cluster: above 0: given; else it is reckoned"),
    JSON_TEXTS(T, partition_ids, partition_id_count, 1000, 0,
               "cluster: partitions that it may use, one of them; default: the default "
               "one"),
    JSON_OBJECT(T, model, const struct job_model *, &job_model_json,
                JSON_POINTER | JSON_NULLABLE,
                "cluster: what estimates model asks, as for a machine that nothing is "
                "known of; its quantile is what the policy counts on"),
    JSON_OBJECT(T, group, const struct job_group *, &job_group_json,
                JSON_POINTER | JSON_NULLABLE,
                "cluster: a gang: its jobs start at the same time, or none"),
    CLUSTER_JOB_AFTER_ROW(T),
    CLUSTER_JOB_ROWS(T),
    {0},
};
#undef T
static const struct json_object job_json = {"QueueSimulationJob", "A job of a log",
                                            sizeof(struct log_job), job_rows};

#define T struct queue_reservation
static const struct json_field reservation_rows[] = {
    JSON_INTEGER(T, processors, 1, JSON_EXACT, 1, JSON_REQUIRED, "Processors set aside"),
    SECONDS(T, start_s, 0, JSON_REQUIRED, "From when, on the scale of the log"),
    SECONDS(T, end_s, 0, JSON_REQUIRED, "Until when"),
    {0},
};
#undef T
static const struct json_object aside_json = {
    "QueueSimulationReservation", "Processors that are set aside",
    sizeof(struct queue_reservation), reservation_rows};

#define T struct node_failure
static const struct json_field failure_rows[] = {
    JSON_ID(T, resource_id, JSON_REQUIRED, "The node"),
    SECONDS(T, down_s, 0, JSON_REQUIRED, "When it fails, on the scale of the log"),
    SECONDS(T, up_s, NAN, JSON_NULLABLE, "When it is back; null: never"),
    {0},
};
#undef T
static const struct json_object failure_json = {
    "QueueSimulationFailure", "A node that is down for some time",
    sizeof(struct node_failure), failure_rows};

/* What a text body's parameters may say too. JSON_OPTIONAL: as they are printed, to
 * become members of a body. */
#define T struct queue_simulation
#define SETTINGS_ROWS                                                                    \
    {.name = "time_limit_s",                                                             \
     .doc =                                                                              \
         "Seconds that all of it may take; policies that are done by then are the "      \
         "answer; default 10, at most time_limit_max_s of the service (600); without "   \
         "a client simulation_time_limit_s (3600) is both",                              \
     .type = JSON_TYPE_NUMBER,                                                           \
     .offset = JSON_AT(T, decision.time_limit_s, double),                                \
     .max = JSON_LARGEST,                                                                \
     .preset = NAN,                                                                      \
     .flags = JSON_NULLABLE | JSON_ABOVE_MIN | JSON_OPTIONAL | JSON_RUN_TIME_LIMIT},     \
        {.name = "store",                                                                \
         .doc = "Keep request and answer, to be read and replayed later",                \
         .type = JSON_TYPE_BOOLEAN,                                                      \
         .offset = JSON_AT(T, decision.store, bool)},                                    \
        JSON_TEXT(T, name, JSON_NULLABLE | JSON_OPTIONAL,                                \
                  "Any name; comes back with the answer"),                               \
        JSON_INTEGER(T, processors, 0, QUEUE_PROCESSORS_MAX, 0, 0,                       \
                     "Processors of the cluster; default or 0: as the log says "         \
                     "(MaxProcs, else MaxNodes)"),                                       \
        JSON_TEXTS(T, policies, policy_count, POLICIES_MAX, JSON_OPTIONAL,               \
                   "Policies to compare, of the family queue; default: all"),            \
        JSON_CHOICE(T, estimates, simulation_estimates, BY_REQUEST, 0,                   \
                    "What the scheduler counts on. requested: what the user asked for, " \
                    "but not less than it took; actual: what it took; model: of a "      \
                    "cluster's jobs what their models tell, at most their limit, at "    \
                    "which they are ended all the same; default requested"),             \
        JSON_BOOLEAN(T, cut_at_request, 0, 0,                                            \
                     "A job ends when what the user asked for is over; default false"),  \
        JSON_NUMBER(T, bound_s, 0, QUEUE_TIME_MAX_S, 10, JSON_ABOVE_MIN,                 \
                    "Bound of the slowdown: shorter run times count as this; default "   \
                    "10"),                                                               \
        JSON_ID(T, workload_id, JSON_NULLABLE | JSON_OPTIONAL,                           \
                "An uploaded log (POST /v1/workloads)"),                                 \
        JSON_BOOLEAN(T, per_job, 0, 0, "When and how long each job ran"),                \
        JSON_INTEGER(T, job_rows_max, 1, ROWS_LIMIT, ROWS_MAX, 0,                        \
                     "Jobs of that at most, the first ones; default 10000"),             \
        JSON_INTEGER(T, table_rows_max, 1, TABLE_LIMIT, TABLE_ROWS, 0,                   \
                     "Rows of by_user and by_size at most, and one for the others; "     \
                     "default 100"),                                                     \
        JSON_BOOLEAN(T, details, 0, 0,                                                   \
                     "Also tables by account, partition and QOS, fairness, "             \
                     "utilisation and what was lost; default false"),                    \
        JSON_INTEGER(T, utilisation_step_s, 1, QUEUE_TIME_MAX_S, 0, JSON_BOUND_ONLY,     \
                     "Seconds of a row of utilisation; default: a 200th of the time "    \
                     "from the first arrival to the last end; at most 10000 rows"),      \
        JSON_BOOLEAN(T, as_swf, 0, 0,                                                    \
                     "Each policy's schedule as a log in Standard Workload Format; a "   \
                     "job that never fits is in it as it was, cancelled")
static const struct json_field query_rows[] = {
    JSON_CHOICE(T, kind, kinds, 0, 0, "Kind of simulation; default queue"),
    SETTINGS_ROWS,
    {0},
};
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, kind, kinds, 0, JSON_REQUIRED, "Kind of simulation"),
    SETTINGS_ROWS,
    {.name = "seed",
     .doc = "Comes back with the answer; only a study draws by it; default 1",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, decision.seed, uint64_t),
     .max = JSON_EXACT,
     .preset = 1},
    {.name = "labels",
     .doc = "Any JSON; comes back with the answer",
     .type = JSON_TYPE_RAW,
     .offset = JSON_AT(T, decision.labels, const char *)},
    {.name = "swf",
     .doc = "The log itself, in Standard Workload Format, instead of workload_id; a "
            "text/plain body is this member, with the others as parameters",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, swf, const char *),
     .max = LOG_MAX_BYTES,
     .flags = JSON_NULLABLE},
    JSON_LIST(T, jobs, job_count, struct log_job, &job_json, JOBS_MAX, 0,
              "The jobs one by one, instead of a log"),
    JSON_LIST(T, reservations, reservation_count, struct queue_reservation, &aside_json,
              ASIDE_MAX, 0, "Processors set aside; more than there are is a mistake"),
    {.name = "cluster",
     .doc =
         "Instead of processors: nodes, partitions, accounts and limits; its times are "
         "on the scale of the log. Jobs are ended at their limit, and there are "
         "always details; the policy slurm_backfill is there, too",
     .type = JSON_TYPE_OBJECT,
     .offset = JSON_AT(T, cluster, const struct cluster_in *),
     .of = &simulated_cluster_json,
     .flags = JSON_POINTER | JSON_NULLABLE},
    JSON_OBJECT(T, snapshot, const struct snapshot *, &snapshot_json,
                JSON_POINTER | JSON_NULLABLE,
                "Instead of cluster: the one of a snapshot, else its resources and "
                "partitions; what runs and is reserved counts from the log's second 0"),
    JSON_ID(T, snapshot_id, JSON_NULLABLE, "A stored snapshot instead"),
    JSON_LIST(T, failures, failure_count, struct node_failure, &failure_json,
              FAILURES_MAX, 0,
              "cluster: nodes that fail: what runs there ends, and waits again "
              "requeue_delay_s later, from its beginning, or with requeue false has "
              "failed. Policies do not foresee failures"),
    JSON_BOOLEAN(T, strict_dependencies, false, 0,
                 "cluster: a job in `after` that is not known is a mistake; else it is "
                 "taken to be gone"),
    {.name = "study",
     .doc = "What would happen if: a base and variants of it, instead of policies",
     .type = JSON_TYPE_OBJECT,
     .offset = JSON_AT(T, study, const struct study_request *),
     .of = &study_request_json,
     .flags = JSON_POINTER | JSON_NULLABLE},
    {0},
};
#undef T
const struct json_object queue_simulation_query_json = {
    "QueueSimulationQuery", "Settings of a log in the body",
    sizeof(struct queue_simulation), query_rows};
const struct json_object queue_simulation_request_json = {
    "QueueSimulationRequest", "A job log, a cluster, and queue policies to compare",
    sizeof(struct queue_simulation), request_rows};

/* ---- the answer ---- */

struct job_row {
    const char *job_id;
    double number, submit_s, start_s, finish_s;
    uint64_t processors;
    const char *partition_id, *outcome; /* of a cluster */
    const char *const *resource_ids;    /* likewise; NULL: it never started */
    size_t resource_id_count;
    uint64_t preempted_count; /* JSON_NO_INTEGER: not of a cluster */
    uint64_t failed_count;    /* JSON_NO_INTEGER: no failures */
};

struct policy_answer {
    const char *policy;
    uint64_t job_count, never_fit_count;
    struct queue_figures figures;
    struct queue_spread_answer spread;
    struct queue_details details;
    const struct job_row *jobs;
    size_t row_count;
    const char *swf;
};

/* A job that is wider than the cluster. */
struct never_fits {
    const char *job_id;
    double number;
    uint64_t processors;
    const char *reason;
};

struct queue_simulation_answer {
    int kind;
    struct decision_answer decision;
    const char *name;
    uint64_t processors, job_count, skipped_count;
    const struct upload_skip *skipped;
    size_t skipped_kinds;
    const struct upload_mistake *first_skipped;
    size_t first_skipped_count;
    uint64_t never_fit_count;
    const struct never_fits *never_fits;
    size_t never_fits_count;
    const struct policy_answer *results;
    size_t result_count;
    const char *const *ranking;
    size_t ranking_count;
    const struct study_answer *study; /* NULL: none */
};

/* By enum cluster_replay_state. */
static const char *const outcome_names[] = {"waits",     "never",  "done", "killed",
                                            "cancelled", "failed", NULL};

#define T struct job_row
static const struct json_field job_row_rows[] = {
    JSON_TEXT(T, job_id, JSON_OPTIONAL, "Its name, if it has one"),
    JSON_NUMBER(T, number, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE, "Its number in the log"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "Processors it needs"),
    JSON_NUMBER(T, submit_s, 0, 0, 0, 0, "When it arrived"),
    JSON_NUMBER(T, start_s, 0, 0, 0, JSON_MAY_BE_NULL, "When it started; null: never"),
    JSON_NUMBER(T, finish_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "When it ended; null: it never started"),
    JSON_TEXT(T, partition_id, JSON_OPTIONAL, "cluster: the partition that it ran in"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, JSON_OPTIONAL,
               "cluster: the nodes that it ran on, of its last attempt"),
    JSON_WORD(
        T, outcome, outcome_names, JSON_OPTIONAL,
        "cluster: done, killed (at its limit), cancelled (when it was preempted, or "
        "at its cancel_s), failed (with a node), never, or waits: what it waits for "
        "never comes"),
    JSON_INTEGER(T, preempted_count, 0, JSON_EXACT, 0, JSON_OPTIONAL,
                 "cluster: how often it was stopped for others"),
    JSON_INTEGER(T, failed_count, 0, JSON_EXACT, 0, JSON_OPTIONAL,
                 "failures: how often a node failed under it"),
    {0},
};
#undef T
static const struct json_object job_row_json = {
    "QueueSimulationRow", "What became of a job", sizeof(struct job_row), job_row_rows};

#define T struct policy_answer
static const struct json_field policy_rows[] = {
    JSON_WORD_OF(T, policy, queue_words, 0, "The policy"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Jobs that ran, of all figures"),
    JSON_INTEGER(T, never_fit_count, 0, JSON_EXACT, 0, 0,
                 "Jobs that need more processors than there are, and never ran"),
#define X(figure, meaning)                         \
    {.name = #figure,                              \
     .doc = meaning "; null: no job ran",          \
     .type = JSON_TYPE_NUMBER,                     \
     .offset = JSON_AT(T, figures.figure, double), \
     .flags = JSON_MAY_BE_NULL},
    QUEUE_FIGURES(X)
#undef X
        QUEUE_SPREAD_ROWS(T),
    QUEUE_DETAILS_ROWS(T),
    JSON_LIST(T, jobs, row_count, struct job_row, &job_row_json, 0, JSON_OPTIONAL,
              "per_job: the jobs in the order of the log"),
    {.name = "swf",
     .doc = "as_swf: the schedule in Standard Workload Format",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, swf, const char *),
     .flags = JSON_OPTIONAL},
    {0},
};
#undef T
static const struct json_object policy_json = {"QueueSimulationResult",
                                               "What came out for a policy",
                                               sizeof(struct policy_answer), policy_rows};

static const char *const queue_never_names[] = {
#define X(symbol, name, ...) #name,
    QUEUE_REASONS(X) CLUSTER_REASONS(X)
#undef X
        NULL};

#define T struct never_fits
static const struct json_field never_fits_rows[] = {
    JSON_TEXT(T, job_id, JSON_OPTIONAL, "Its name, if it has one"),
    JSON_NUMBER(T, number, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE, "Its number in the log"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "Processors it needs"),
    JSON_WORD(T, reason, queue_never_names, 0,
              "never_fits; on a cluster one of the reasons of POST /v1/queue-orders"),
    {0},
};
#undef T
static const struct json_object never_fits_json = {
    "QueueSimulationUnplaced", "A job that can never run", sizeof(struct never_fits),
    never_fits_rows};

#define T struct queue_simulation_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("simulation")),
    JSON_CHOICE(T, kind, kinds, 0, 0, "Kind of simulation"),
    JSON_TEXT(T, name, JSON_OPTIONAL, "The name of the request"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "Processors of the cluster"),
    JSON_INTEGER(T, job_count, 0, JSON_EXACT, 0, 0, "Usable jobs of the log"),
    JSON_INTEGER(T, skipped_count, 0, JSON_EXACT, 0, 0,
                 "Lines of the log that are no usable jobs, comments not counted"),
    JSON_LIST(T, skipped, skipped_kinds, struct upload_skip, &upload_skip_json, 0, 0,
              "These by reason"),
    JSON_LIST(T, first_skipped, first_skipped_count, struct upload_mistake,
              &upload_mistake_json, 0, 0, "The first of them"),
    JSON_INTEGER(T, never_fit_count, 0, JSON_EXACT, 0, 0,
                 "Jobs that need more processors than there are"),
    JSON_LIST(T, never_fits, never_fits_count, struct never_fits, &never_fits_json, 0, 0,
              "The first of them"),
    JSON_LIST(T, results, result_count, struct policy_answer, &policy_json, 0, 0,
              "Every policy, in the order of the request; none of a study"),
    JSON_TEXTS(T, ranking, ranking_count, 0, 0,
               "Policies, or base and variants of a study, by mean bounded slowdown, "
               "then mean wait, then name"),
    {.name = "study",
     .doc = "What the variants do to the jobs",
     .type = JSON_TYPE_OBJECT,
     .offset = JSON_AT(T, study, const struct study_answer *),
     .of = &study_answer_json,
     .flags = JSON_POINTER | JSON_OPTIONAL},
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object queue_simulation_answer_json = {
    "QueueSimulationAnswer", "What the queue policies achieved",
    sizeof(struct queue_simulation_answer), answer_rows};

/* ---- the log ---- */

/* Jobs, and the first one of them. */
struct tally {
    size_t count, first;
};

static void count_one(struct tally *t, bool is_one, size_t index)
{
    if (is_one && t->count++ == 0)
        t->first = index;
}

/* A simulation while it is prepared and played. */
struct playing {
    struct request *rq;
    const struct queue_simulation *body;
    struct queue_simulation_answer *answer;
    struct queue_replay_in in;
    struct swf_header header;
    const struct swf_counts *counts; /* of a log; NULL: the jobs were given */
    const char *source;              /* member that has the jobs */
    const char *left_out;            /* of accounting; NULL: nothing */
    const struct policy **policies;
    size_t policy_count;
    struct policy_answer *results;       /* of each */
    struct study_plan study;             /* instead, if the request has one */
    const struct workload_log *log;      /* NULL: the jobs were given */
    struct simulation_jobs jobs;         /* on a cluster */
    double *model_s;                     /* by the models of the jobs that are given */
    struct run_times *run_times;         /* whence; NULL: of none */
    struct tally silent;                 /* jobs without a model that answers */
    const struct cluster_in *cluster_in; /* likewise */
    struct simulation_cluster cluster;   /* likewise */
    const struct cluster_replayed *now;  /* what was played last */
    size_t cancelled;                    /* before they started, by the first policy */
};

static void count_skipped(struct playing *p, const struct swf_counts *counts)
{
    struct upload_skip *skipped = NEW(p->rq->arena, struct upload_skip, SWF_SKIP_COUNT);
    struct upload_mistake *first =
        NEW(p->rq->arena, struct upload_mistake, counts->issue_count);
    size_t kind_count = 0;

    for (size_t i = 0; i < SWF_SKIP_COUNT; i++)
        if (counts->skipped_by[i])
            skipped[kind_count++] =
                (struct upload_skip){swf_skip_names[i], counts->skipped_by[i]};
    for (size_t i = 0; i < counts->issue_count; i++)
        first[i] = (struct upload_mistake){counts->issues[i].line,
                                           swf_skip_names[counts->issues[i].reason]};
    p->answer->skipped_count = counts->skipped;
    p->answer->skipped = skipped;
    p->answer->skipped_kinds = kind_count;
    p->answer->first_skipped = first;
    p->answer->first_skipped_count = counts->issue_count;
}

static enum error_code too_many(struct playing *p, const char *member, uint64_t count)
{
    return invalid(p->rq->err, member, ITEM_TOO_LONG, "%llu jobs are more than %d",
                   (unsigned long long)count, JOBS_MAX);
}

static enum error_code take_log(struct playing *p, const char *member,
                                const struct workload_log *read)
{
    const struct swf_counts *counts = &read->counts;
    struct swf_log log = read->log;

    p->log = read;
    p->header = read->header;
    p->left_out = workload_left_out(read, p->body->cluster != NULL, p->rq->arena);
    if (log.count == 0)
        return invalid(p->rq->err, member, ITEM_NO_JOBS,
                       "none of %s is a job of the Standard Workload Format: a line has "
                       "18 numbers, -1 for what is not known",
                       counted(counts->lines, "line").text);
    if (log.count > JOBS_MAX)
        return too_many(p, member, log.count);
    p->in.jobs = log.jobs;
    p->in.job_count = log.count;
    p->counts = counts;
    p->source = member;
    count_skipped(p, counts);
    return OK;
}

static enum error_code take_upload(struct playing *p)
{
    const char *id = p->body->workload_id;
    struct store_trace trace = {0};
    struct error here = {.code = OK};
    struct workload_log *read;
    struct db_session *db;
    enum error_code code;

    TRY(request_db(p->rq, &db));
    code = store_trace_read(db, p->rq->principal.tenant, STORE_WORKLOAD, id, true, &trace,
                            p->rq->arena, &here);
    if (code == ERR_NOT_FOUND) {
        invalid(p->rq->err, "/workload_id", ITEM_UNKNOWN_ID,
                "there is no such upload '%.128s'; POST it to /v1/workloads first", id);
        stored_hint(p->rq, "workload_id", id);
        return ERR_INVALID;
    }
    if (code != OK) {
        p->rq->err->retry_after_s = here.retry_after_s;
        return fail(p->rq->err, code, here.field, "%s", here.text);
    }
    if (trace.record_count > JOBS_MAX)
        return too_many(p, "/workload_id", trace.record_count);
    read = NEW(p->rq->arena, struct workload_log, 1);
    TRY(workload_log_load(db, p->rq->principal.tenant, &trace, read, p->rq->arena,
                          p->rq->err));
    return take_log(p, "/workload_id", read);
}

static enum error_code take_text(struct playing *p)
{
    const char *swf = p->body->swf;
    struct workload_log *read = NEW(p->rq->arena, struct workload_log, 1);

    TRY(workload_log_read(workload_kinds[WORKLOAD_AS_SWF], swf, strlen(swf), read,
                          p->rq->arena, p->rq->err));
    return take_log(p, "/swf", read);
}

static enum error_code take_jobs(struct playing *p)
{
    const struct queue_simulation *body = p->body;
    struct swf_job *jobs = NEW(p->rq->arena, struct swf_job, body->job_count);
    struct swf_counts *none = NEW(p->rq->arena, struct swf_counts, 1);
    struct swf_log empty;

    TRY(swf_read("", 0, &empty, &p->header, none, p->rq->arena, p->rq->err));
    for (size_t i = 0; i < body->job_count; i++) {
        const struct log_job *job = &body->jobs[i];

#define X(column, doc) jobs[i].column = (double)NAN;
        SWF_COLUMNS(X)
#undef X
        jobs[i].number = (double)(i + 1);
        jobs[i].submit_s = job->submit_s;
        jobs[i].run_s = job->run_time_s;
        jobs[i].requested_s = job->requested_s;
        jobs[i].processors = jobs[i].requested_processors =
            job->processors ? (double)job->processors : 1;
    }
    p->in.jobs = jobs;
    p->in.job_count = body->job_count;
    p->source = "/jobs";
    return OK;
}

static enum error_code take_workload(struct playing *p)
{
    const struct queue_simulation *body = p->body;
    int given = !!body->workload_id + !!body->swf + !!body->jobs;

    if (given == 0)
        return invalid(p->rq->err, "/workload_id", ITEM_REQUIRED,
                       "which jobs? give workload_id, swf or jobs; or the log as a "
                       "text/plain body");
    if (given > 1)
        return invalid(p->rq->err, body->jobs ? "/jobs" : "/swf", ITEM_CONFLICT,
                       "give one of workload_id, swf and jobs");
    if (body->workload_id)
        return take_upload(p);
    if (body->swf)
        return take_text(p);
    return take_jobs(p);
}

/* ---- the rest of the request ---- */

static enum error_code take_policies(struct playing *p)
{
    const struct queue_simulation *body = p->body;
    const struct policy *const tables[] = {queue_policies,
                                           body->cluster ? cluster_policies : NULL, NULL};
    size_t known = policies_count(queue_policies);
    size_t more = body->cluster ? policies_count(cluster_policies) : 0;

    p->policy_count = body->policy_count ? body->policy_count : known + more;
    p->policies = NEW(p->rq->arena, const struct policy *, p->policy_count);
    for (size_t i = 0; i < known && !body->policy_count; i++)
        p->policies[i] = &queue_policies[i];
    for (size_t i = 0; i < more && !body->policy_count; i++)
        p->policies[known + i] = &cluster_policies[i];
    for (size_t i = 0; i < body->policy_count; i++) {
        const char *name = body->policies[i];
        struct pointer pointer = pointer_in("/policies", i, NULL);

        p->policies[i] = policy_find(queue_policies, name);
        if (!p->policies[i] && body->cluster)
            p->policies[i] = policy_find(cluster_policies, name);
        if (!p->policies[i])
            decision_no_policy(pointer.text, name, "queue policy", tables, p->rq->err);
        for (size_t k = 0; k < i && p->policies[i]; k++)
            if (p->policies[k] == p->policies[i])
                invalid(p->rq->err, pointer.text, ITEM_DUPLICATE, "'%s' is there twice",
                        name);
    }
    return OK;
}

static void take_processors(struct playing *p)
{
    double said = isnan(p->header.max_procs) ? p->header.max_nodes : p->header.max_procs;

    p->in.processors = p->body->processors;
    if (p->in.processors)
        return;
    if (said >= 1 && said <= QUEUE_PROCESSORS_MAX)
        p->in.processors = (uint64_t)said;
    else
        invalid(p->rq->err, "/processors", ITEM_REQUIRED,
                "how many processors has the cluster? The log does not say (MaxProcs)");
}

static enum error_code check_reservations(struct playing *p)
{
    struct queue_in in = {
        .now_s = 0,
        .processors = p->in.processors,
        .reservations = p->body->reservations,
        .reservation_count = p->body->reservation_count,
    };

    p->in.reservations = p->body->reservations;
    p->in.reservation_count = p->body->reservation_count;
    return p->in.processors ? queue_check(&in, p->rq->arena, p->rq->err) : OK;
}

/* ---- a cluster ---- */

static int by_arrival(const void *x, const void *y, void *context)
{
    const struct log_job *jobs = context;
    size_t i = *(const size_t *)x, k = *(const size_t *)y;

    if (jobs[i].submit_s < jobs[k].submit_s || jobs[i].submit_s > jobs[k].submit_s)
        return jobs[i].submit_s < jobs[k].submit_s ? -1 : 1;
    return (i > k) - (i < k);
}

static struct waiting_job waiting_of(const struct log_job *from)
{
    return (struct waiting_job){
        .of = {.id = from->id,
               .estimate_ref_s = (double)NAN,
               .cpus = from->cpus,
               .memory_bytes = from->memory_bytes,
               .user = from->user,
               .deadline_s = from->deadline_s,
               .queued_at_s = (double)NAN,
               .deadline_at_s = (double)NAN,
               .needs = from->needs,
               .need_count = from->need_count,
               .nodes = from->nodes,
               .exclusive = from->exclusive,
               .time_limit_s =
                   isnan(from->time_limit_s) ? from->requested_s : from->time_limit_s,
               .estimate_s = (double)NAN,
               .priority = from->priority,
               .preemptible = from->preemptible,
               .partition_ids = from->partition_ids,
               .partition_id_count = from->partition_id_count,
               .group = from->group},
        .job = {.submit_s = from->submit_s, .estimate_s = (double)NAN},
        .planned_start_s = (double)NAN,
        .cluster = from->cluster,
    };
}

static bool asks_models(const struct queue_simulation *body)
{
    return body->estimates == BY_MODEL || (body->study && study_asks_models(body->study));
}

/* What the models of the jobs tell: of one machine that nothing is known of. */
static enum error_code ask_models(struct playing *p)
{
    const struct queue_simulation *body = p->body;
    struct job *asked = NEW(p->rq->arena, struct job, body->job_count);
    const struct snapshot *one;
    const struct job *told;
    bool any = false;

    for (size_t i = 0; i < body->job_count; i++) {
        asked[i] = waiting_of(&body->jobs[i]).of;
        asked[i].model = body->jobs[i].model;
        any |= asked[i].model != NULL;
    }
    budget_step(&p->rq->budget, 4 * body->job_count);
    if (!any)
        return invalid(p->rq->err, body->study ? "/study" : "/estimates", ITEM_CONFLICT,
                       "model: no job has one; it is a member of the jobs");
    TRY(run_times_any_machine(p->rq, "cluster", &one));
    TRY(run_times_resolve(p->rq, one,
                          &(struct run_time_jobs){.jobs = asked,
                                                  .count = body->job_count,
                                                  .lacks_memory = true},
                          &told, &p->run_times));
    TRY(p->rq->err->code);
    p->model_s = NEW(p->rq->arena, double, body->job_count);
    for (size_t i = 0; i < body->job_count; i++) {
        double time_s = told[i].etc_count ? told[i].etc_s[0] : told[i].estimate_s;

        p->model_s[i] = time_s > 0 ? time_s : (double)NAN;
        count_one(&p->silent, isnan(p->model_s[i]), i);
    }
    return OK;
}

/* The jobs that are given, in the order of arrival. */
static void list_given(struct playing *p)
{
    const struct queue_simulation *body = p->body;
    struct arena *a = p->rq->arena;
    struct waiting_job *list = NEW(a, struct waiting_job, body->job_count);
    double *run_s = NEW(a, double, body->job_count);
    double *model_s = p->model_s ? NEW(a, double, body->job_count) : NULL;
    double *cancel_s = NEW(a, double, body->job_count);
    bool *fails = NEW(a, bool, body->job_count);
    size_t *order = NEW(a, size_t, body->job_count);

    for (size_t i = 0; i < body->job_count; i++) {
        order[i] = i;
        if (body->jobs[i].processors)
            invalid(p->rq->err, arena_printf(a, "/jobs/%zu/processors", i), ITEM_CONFLICT,
                    "on a cluster a job has cpus and nodes");
        if (!body->jobs[i].id)
            invalid(p->rq->err, arena_printf(a, "/jobs/%zu/id", i), ITEM_REQUIRED,
                    "the member is missing: on a cluster jobs have names");
        if (body->jobs[i].cancel_s < body->jobs[i].submit_s)
            invalid(p->rq->err, arena_printf(a, "/jobs/%zu/cancel_s", i),
                    ITEM_OUT_OF_BOUNDS, "it is before submit_s");
    }
    if (p->rq->err->code != OK)
        return;
    qsort_r(order, body->job_count, sizeof(*order), by_arrival,
            (void *)(uintptr_t)body->jobs);
    for (size_t i = 0; i < body->job_count; i++) {
        list[i] = waiting_of(&body->jobs[order[i]]);
        run_s[i] = body->jobs[order[i]].run_time_s;
        cancel_s[i] = body->jobs[order[i]].cancel_s;
        fails[i] = !body->jobs[order[i]].ok;
        if (model_s)
            model_s[i] = p->model_s[order[i]];
    }
    p->jobs = (struct simulation_jobs){.list = list,
                                       .run_s = run_s,
                                       .model_s = model_s,
                                       .cancel_s = cancel_s,
                                       .fails = fails,
                                       .count = body->job_count};
}

/* What a job has that goes with a cluster alone; NULL: nothing. */
static const char *cluster_member(const struct log_job *j)
{
    const char *member = cluster_job_member(&j->cluster);
    const struct {
        const char *name;
        bool is_given;
    } others[] = {{"nodes", j->nodes > 1},
                  {"cpus", j->cpus < 1 || j->cpus > 1},
                  {"memory_bytes", j->memory_bytes > 0},
                  {"needs", j->need_count},
                  {"exclusive", j->exclusive},
                  {"preemptible", j->preemptible},
                  {"time_limit_s", !isnan(j->time_limit_s)},
                  {"deadline_s", !isnan(j->deadline_s)},
                  {"cancel_s", !isnan(j->cancel_s)},
                  {"ok", !j->ok},
                  {"priority", j->priority < 0 || j->priority > 0},
                  {"partition_ids", j->partition_ids},
                  {"model", j->model},
                  {"group", j->group},
                  {"after", j->cluster.after_count}};

    for (size_t k = 0; !member && k < sizeof(others) / sizeof(*others); k++)
        if (others[k].is_given)
            member = others[k].name;
    return member;
}

static void check_without_cluster(const struct playing *p)
{
    const struct queue_simulation *body = p->body;
    struct error *err = p->rq->err;

    if (body->strict_dependencies)
        invalid(err, "/strict_dependencies", ITEM_CONFLICT,
                "it goes with a cluster alone");
    if (body->estimates == BY_MODEL)
        invalid(err, "/estimates", ITEM_CONFLICT, "model goes with a cluster alone");
    if (body->failure_count)
        invalid(err, "/failures", ITEM_CONFLICT, "it goes with a cluster alone");
    for (size_t i = 0; i < body->job_count; i++) {
        const char *member = cluster_member(&body->jobs[i]);

        budget_step(&p->rq->budget, 12);
        if (member)
            invalid(err, arena_printf(p->rq->arena, "/jobs/%zu/%s", i, member),
                    ITEM_CONFLICT, "it goes with a cluster alone");
        if (member && strcmp(member, "cpus") == 0)
            error_hint(err, "in a pool it is 'processors'");
    }
}

/* What goes with processors alone, or with a cluster alone. */
static void check_form(const struct playing *p)
{
    const struct queue_simulation *body = p->body;
    struct error *err = p->rq->err;

    if (body->cluster && body->processors)
        invalid(err, "/cluster", ITEM_CONFLICT, "give one of processors and cluster");
    if (body->cluster && body->reservation_count)
        invalid(err, "/reservations", ITEM_CONFLICT,
                "with a cluster it is a member of that");
    if (!body->cluster)
        check_without_cluster(p);
}

static enum error_code take_cluster(struct playing *p)
{
    const struct queue_simulation *body = p->body;

    p->cluster_in = body->cluster;
    if (!body->cluster->from_header && !body->cluster->resources)
        return invalid(p->rq->err, "/cluster/resources", ITEM_REQUIRED,
                       "the member is missing: the nodes; or from_header");
    if (body->cluster->from_header)
        p->cluster_in = simulation_cluster_of_header(
            p->rq, body->cluster, p->header.max_procs, p->header.max_nodes);
    if (!p->cluster_in)
        return p->rq->err->code;
    if (asks_models(body))
        TRY(ask_models(p));
    if (body->job_count)
        list_given(p);
    else if (p->log && p->log->accounting)
        simulation_jobs_of_accounting(p->rq, p->cluster_in, p->log->accounting, &p->jobs);
    else
        simulation_jobs_of_log(p->rq, p->cluster_in, p->in.jobs, p->in.job_count,
                               &p->jobs);
    TRY(p->rq->err->code);
    TRY(simulation_cluster_bind(p->rq, p->cluster_in, &p->jobs, 1,
                                body->strict_dependencies, &p->cluster));
    simulation_cluster_fail(&p->cluster, body->failures, body->failure_count, true);
    TRY(p->rq->err->code);
    TRY(request_reserve(p->rq, simulation_cluster_bytes(&p->cluster)));
    p->in.jobs = p->cluster.rows;
    p->in.job_count = p->cluster.job_count;
    p->in.processors = (uint64_t)fmin(ceil(p->cluster.cpus), 1e15);
    return OK;
}

/* A study says itself what is played, and has no schedules. */
static enum error_code prepare_study(struct playing *p)
{
    const struct queue_simulation *body = p->body;
    const struct {
        bool is_given;
        const char *pointer;
    } members[] = {{body->policy_count, "/policies"},
                   {body->per_job, "/per_job"},
                   {body->as_swf, "/as_swf"},
                   {body->details, "/details"}};

    for (size_t i = 0; body->study && i < sizeof(members) / sizeof(members[0]); i++)
        if (members[i].is_given)
            invalid(p->rq->err, members[i].pointer, ITEM_CONFLICT,
                    "a study has no such rows; its variants say their policies");
    if (body->study)
        study_prepare(p->rq, body->study, &p->in, body->cluster,
                      (enum simulation_estimates)body->estimates, body->decision.seed,
                      &p->study);
    if (p->rq->err->code != OK || !body->study)
        return p->rq->err->code;
    p->policy_count = p->study.trial_count;
    return study_check_window(&p->study);
}

/* All mistakes at once; what is no mistake of the client ends it. */
static enum error_code prepare(struct playing *p)
{
    enum error_code code;

    TRY(take_policies(p));
    code = take_workload(p);
    if (code != OK && code != ERR_INVALID)
        return code;
    check_form(p);
    if ((code == OK || p->body->processors) && !p->body->cluster)
        take_processors(p);
    if (code == OK && p->body->cluster && p->rq->err->code == OK)
        TRY(take_cluster(p));
    code = check_reservations(p);
    if (code != OK && code != ERR_INVALID)
        return code;
    p->in.estimates =
        p->body->estimates == BY_RUN ? QUEUE_EXACT : QUEUE_REQUESTED; /* of processors */
    p->in.cut_at_request = p->body->cut_at_request;
    p->in.bound_s = p->body->bound_s;
    return prepare_study(p);
}

/* ---- what came out ---- */

static const char *name_of(const struct playing *p, size_t job)
{
    if (p->body->cluster && !p->jobs.log)
        return p->cluster.bound.jobs[job].id;
    return p->body->job_count ? p->body->jobs[job].id : NULL;
}

static void list_never_fits(struct playing *p)
{
    struct queue_simulation_answer *answer = p->answer;
    struct never_fits *list = NEW(p->rq->arena, struct never_fits, NEVER_FITS_MAX);

    answer->never_fits = list;
    if (p->body->cluster)
        return;
    for (size_t i = 0; i < p->in.job_count; i++) {
        double processors = ceil(swf_processors(&p->in.jobs[i]));

        if (processors <= (double)p->in.processors)
            continue;
        if (answer->never_fit_count++ < NEVER_FITS_MAX)
            list[answer->never_fits_count++] =
                (struct never_fits){name_of(p, i), p->in.jobs[i].number,
                                    (uint64_t)fmin(processors, JSON_EXACT),
                                    queue_reason_names[QUEUE_REASON_NEVER_FITS]};
    }
    answer->never_fits = list;
}

static void tell_on_cluster(const struct playing *p, size_t job, struct job_row *to)
{
    const struct cluster_replay_outcome *o = &p->now->outcomes[job];
    const char **ids;

    to->outcome = outcome_names[o->state];
    to->preempted_count = o->preempted;
    if (p->body->failure_count)
        to->failed_count = o->failed;
    if (isnan(o->start_s))
        return;
    to->finish_s = o->end_s;
    ids = NEW(p->rq->arena, const char *, o->node_count);
    budget_step(&p->rq->finish, o->node_count);
    for (size_t i = 0; o->nodes && i < o->node_count; i++)
        ids[i] = p->cluster.bound.of.nodes[o->nodes[i]].id;
    if (o->nodes) {
        to->resource_ids = ids;
        to->resource_id_count = o->node_count;
    }
    to->partition_id = p->cluster.partitions[p->cluster.bound.rows[o->row].partition];
}

static void list_jobs(const struct playing *p, const struct queue_replay_out *out,
                      struct policy_answer *to)
{
    size_t count = p->in.job_count;
    struct job_row *rows;

    if (count > p->body->job_rows_max)
        count = (size_t)p->body->job_rows_max;
    rows = NEW(p->rq->arena, struct job_row, count);
    for (size_t i = 0; i < count; i++) {
        const struct swf_job *job = &p->in.jobs[i];

        rows[i] = (struct job_row){
            .job_id = name_of(p, i),
            .number = job->number,
            .submit_s = job->submit_s,
            .start_s = out->start_s[i],
            .finish_s = out->start_s[i] + out->run_s[i],
            .processors = (uint64_t)fmin(ceil(swf_processors(job)), JSON_EXACT),
            .preempted_count = JSON_NO_INTEGER,
            .failed_count = JSON_NO_INTEGER,
        };
        if (p->body->cluster)
            tell_on_cluster(p, i, &rows[i]);
    }
    to->jobs = rows;
    to->row_count = count;
}

/* Who never ran, by the first policy. */
static void list_never_on_cluster(struct playing *p)
{
    struct queue_simulation_answer *answer = p->answer;
    struct never_fits *list = NEW(p->rq->arena, struct never_fits, NEVER_FITS_MAX);

    for (size_t i = 0; i < p->in.job_count; i++) {
        const struct cluster_replay_outcome *o = &p->now->outcomes[i];

        p->cancelled += o->state == CLUSTER_JOB_CANCELLED && isnan(o->start_s);
        if (o->state != CLUSTER_JOB_NEVER && o->state != CLUSTER_JOB_WAITS)
            continue;
        if (answer->never_fit_count++ < NEVER_FITS_MAX)
            list[answer->never_fits_count++] = (struct never_fits){
                name_of(p, i), p->in.jobs[i].number,
                (uint64_t)fmin(ceil(swf_processors(&p->in.jobs[i])), JSON_EXACT),
                cluster_reason_names[o->reason]};
    }
    answer->never_fits = list;
}

/* Whether the jobs are in the order of arrival; those of a log are. */
static bool is_sorted(const struct playing *p)
{
    for (size_t i = 1; i < p->in.job_count; i++)
        if (p->in.jobs[i].submit_s < p->in.jobs[i - 1].submit_s)
            return false;
    return true;
}

/* What the answer warns of, as comments. */
static void print_notes(const struct playing *p, struct text_buffer *b)
{
    const struct decision_answer *decision = &p->answer->decision;

    for (size_t i = 0; i < decision->warning_count; i++)
        text_addf(b, "; Note: %s\n", decision->warnings[i]);
}

enum { LINE_STEPS = 1024 }; /* what it costs to print one, about */

/* The log as it ran, with the cluster's size and the number of its jobs in its head. */
static enum error_code print_swf(const struct playing *p,
                                 const struct queue_replay_out *out, const char **swf,
                                 struct arena *scratch, struct error *err)
{
    struct text_buffer b = {.arena = p->rq->arena};
    struct swf_log log = {.jobs = NEW(scratch, struct swf_job, p->in.job_count),
                          .count = p->in.job_count,
                          .arena = scratch};
    struct swf_header header = p->header;
    char line[1024];

    _Static_assert(sizeof(line) >= SWF_LINE_BYTES, "room for a line");
    header.max_procs = (double)p->in.processors;
    header.max_jobs = header.max_records = (double)p->in.job_count;
    if (isnan(header.version))
        header.version = 2.2;
    text_add(&b, line, swf_print_header(&header, line, sizeof(line)));
    print_notes(p, &b);
    for (size_t i = 0; i < p->in.job_count; i++)
        log.jobs[i] = queue_replayed_job(&p->in, out, i);
    if (!is_sorted(p))
        swf_log_sort(&log);
    for (size_t i = 0; i < log.count; i++) {
        TRY(json_go_on(LINE_STEPS, err));
        text_add(&b, line, swf_print_job(&log.jobs[i], line, sizeof(line)));
        text_add(&b, "\n", 1);
    }
    text_add(&b, "", 1);
    *swf = text_end(&b);
    return OK;
}

/* ---- what the caller should know ---- */

/* What a scheduler is not told, and what of the log it does not use. */
struct tallies {
    struct tally defaulted, raised, memory, preceding, partitions, wide;
};

static void count_jobs(const struct playing *p, struct tallies *t)
{
    bool requested = p->in.estimates == QUEUE_REQUESTED;
    double partition = (double)NAN;

    *t = (struct tallies){0};
    for (size_t i = 0; i < p->in.job_count; i++) {
        const struct swf_job *job = &p->in.jobs[i];

        if (isnan(partition))
            partition = job->partition;
        count_one(&t->defaulted, requested && isnan(job->requested_s), i);
        count_one(&t->raised,
                  requested && !p->in.cut_at_request && job->requested_s < job->run_s, i);
        count_one(&t->memory, job->requested_memory_kb > 0, i);
        count_one(&t->preceding, job->preceding_job > 0, i);
        count_one(&t->partitions, !isnan(job->partition) && job->partition != partition,
                  i);
        count_one(&t->wide, ceil(swf_processors(job)) > (double)p->in.processors, i);
    }
}

/* "/jobs/3", or "/swf, job number 17". */
static const char *place_of(const struct playing *p, size_t job)
{
    double number = p->in.jobs[job].number;

    if (!p->counts)
        return pointer_keep(p->source, job, NULL, p->rq->arena);
    return arena_printf(p->rq->arena, "%s, job number %.15g", p->source,
                        isnan(number) ? -1 : number);
}

static enum error_code warn_of(struct playing *p, const struct tally *t, const char *code,
                               const char *what)
{
    const char *place;

    if (!t->count)
        return OK;
    place = place_of(p, t->first);
    return decision_warn(p->rq, &p->answer->decision, "%s: %s, first %s, %s", code,
                         counted(t->count, "job").text, place,
                         plural_text(t->count, what, p->rq->arena));
}

/* Lines that were left out or moved. */
static enum error_code warn_lines(struct playing *p)
{
    const struct swf_counts *c = p->counts;
    struct text_buffer reasons = {.arena = p->rq->arena};

    if (!c)
        return OK;
    if (p->left_out)
        TRY(decision_warn(p->rq, &p->answer->decision, "%s", p->left_out));
    for (size_t i = 0; i < SWF_SKIP_COUNT; i++)
        if (c->skipped_by[i])
            text_addf(&reasons, "%s%s: %llu", reasons.length ? ", " : "",
                      swf_skip_names[i], (unsigned long long)c->skipped_by[i]);
    text_add(&reasons, "", 1);
    if (c->skipped)
        TRY(decision_warn(p->rq, &p->answer->decision,
                          "skipped: %s of %s, first line %llu, %s, %s",
                          counted(c->skipped, "line").text, p->source,
                          (unsigned long long)c->issues[0].line,
                          plural(c->skipped, "is no usable job", "are no usable jobs"),
                          text_end(&reasons)));
    if (c->unsorted)
        TRY(decision_warn(p->rq, &p->answer->decision,
                          "unsorted: %s of %s, first line %llu, %s not in the "
                          "order of arrival, and %s been sorted",
                          counted(c->unsorted, "line").text, p->source,
                          (unsigned long long)c->first_unsorted_line,
                          plural(c->unsorted, "was", "were"),
                          plural(c->unsorted, "has", "have")));
    return OK;
}

#define KILL_WAIT_PRESET_S 30.0

/* What slurm_backfill decides live by, and a replay does not play. */
static enum error_code warn_unplayed(struct playing *p)
{
    const struct cluster_in *in = p->body->cluster;
    struct decision_answer *out = &p->answer->decision;
    const struct cluster_settings_in *s = &in->policy_settings;
    size_t graces = 0, modes = 0, limits = 0;

    for (size_t i = 0; i < in->qos_count; i++) {
        int mode = in->qos[i].preempt_mode;

        graces += in->qos[i].grace_s > 0;
        modes += mode > PREEMPT_OFF && mode != in->policy_settings.preempt_mode;
    }
    for (size_t i = 0; i < in->partition_count; i++)
        limits += in->partitions[i].over_time_limit_s > 0;
    if (graces)
        TRY(decision_warn(p->rq, out,
                          "without_effect: grace_s of %zu QOS; in a simulation what is "
                          "preempted ends at once",
                          graces));
    if (modes)
        TRY(decision_warn(p->rq, out,
                          "without_effect: preempt_mode of %zu QOS; in a simulation "
                          "that of policy_settings holds for all",
                          modes));
    if (limits)
        TRY(decision_warn(p->rq, out,
                          "without_effect: over_time_limit_s of %s; in a "
                          "simulation that of policy_settings holds for all",
                          counted(limits, "partition").text));
    if (s->kill_wait_s != KILL_WAIT_PRESET_S || s->bf_running_job_reserve)
        TRY(decision_warn(p->rq, out,
                          "without_effect: %s of policy_settings; in a simulation what "
                          "is ended leaves at once, and running jobs hold what they have",
                          !s->bf_running_job_reserve ? "kill_wait_s"
                          : s->kill_wait_s != KILL_WAIT_PRESET_S
                              ? "kill_wait_s and bf_running_job_reserve"
                              : "bf_running_job_reserve"));
    return OK;
}

/* Of a cluster's jobs. */
static enum error_code warn_on_cluster(struct playing *p)
{
    const struct cluster_bound *b = &p->cluster.bound;
    struct decision_answer *out = &p->answer->decision;

    if (p->jobs.no_partition)
        TRY(decision_warn(p->rq, out,
                          "partition_ignored: %s of %s %s of a partition that "
                          "the cluster does not have; the default one",
                          counted(p->jobs.no_partition, "job").text, p->source,
                          plural(p->jobs.no_partition, "is", "are")));
    if (p->jobs.no_qos)
        TRY(decision_warn(p->rq, out, "qos_ignored: %s of %s %s of %s",
                          counted(p->jobs.no_qos, "job").text, p->source,
                          plural(p->jobs.no_qos, "is", "are"),
                          p->jobs.log ? "a queue N for which the cluster has no QOS "
                                        "queue.N"
                                      : "a QOS that the cluster does not have"));
    if (p->jobs.no_account)
        TRY(decision_warn(p->rq, out,
                          "account_ignored: %s of %s %s of an account that the "
                          "cluster does not have",
                          counted(p->jobs.no_account, "job").text, p->source,
                          plural(p->jobs.no_account, "is", "are")));
    if (p->jobs.no_limit)
        TRY(decision_warn(p->rq, out,
                          "run_time_defaulted: %s of %s %s for no run time; "
                          "the scheduler counts on the one %s took",
                          counted(p->jobs.no_limit, "job").text, p->source,
                          plural(p->jobs.no_limit, "asks", "ask"),
                          plural(p->jobs.no_limit, "it", "they")));
    if (p->run_times)
        run_times_warn(p->rq, p->run_times, out);
    if (p->silent.count)
        TRY(decision_warn(p->rq, out,
                          "run_time_defaulted: %s, first /jobs/%zu, %s no model "
                          "that answers; the policy counts on %s limit",
                          counted(p->silent.count, "job").text, p->silent.first,
                          plural(p->silent.count, "has", "have"),
                          plural(p->silent.count, "its", "their")));
    if (b->gone.count)
        TRY(decision_warn(
            p->rq, out,
            "unknown_dependency: %zu, first of /jobs/%zu/after: no such job, "
            "taken to be gone",
            b->gone.count, b->gone.first));
    if (b->endless.count)
        TRY(decision_warn(p->rq, out,
                          "no_time_limit: %s, first /jobs/%zu in the order of "
                          "arrival, and %s partition have none; 365 days",
                          counted(b->endless.count, "job").text, b->endless.first,
                          plural(b->endless.count, "its", "their")));
    TRY(cluster_warn_bound(p->rq, b, out));
    if (b->ignored_promise.count)
        TRY(decision_warn(p->rq, out, "ignored: planned_start_s of %s",
                          counted(b->ignored_promise.count, "job").text));
    return warn_unplayed(p);
}

static enum error_code warn_jobs(struct playing *p)
{
    struct tallies t;

    if (p->body->cluster)
        return warn_on_cluster(p);
    count_jobs(p, &t);
    TRY(warn_of(
        p, &t.wide, "never_fits",
        "{needs|need} more processors than the cluster has, and {is|are} in no figure"));
    TRY(warn_of(
        p, &t.defaulted, "run_time_defaulted",
        "{asks|ask} for no run time; the scheduler counts on the one {it|they} took"));
    TRY(warn_of(p, &t.raised, "requested_raised",
                "ran longer than {it|they} asked for; the scheduler counts on the time "
                "{it|they} took, see cut_at_request"));
    TRY(warn_of(p, &t.preceding, "preceding_ignored",
                "{names|name} a preceding_job, which nobody waits for"));
    TRY(warn_of(p, &t.memory, "memory_ignored",
                "{asks|ask} for memory, which the cluster is taken to have"));
    return warn_of(
        p, &t.partitions, "partition_ignored",
        "{is|are} of another partition than the first; all run on one cluster");
}

static enum error_code warn_input(struct playing *p)
{
    size_t listed = (size_t)fmin((double)p->in.job_count, (double)p->body->job_rows_max);

    TRY(warn_lines(p));
    TRY(warn_jobs(p));
    if (!p->body->processors && !p->body->cluster && isnan(p->header.max_procs))
        TRY(decision_warn(p->rq, &p->answer->decision,
                          "guessed: /processors is MaxNodes of the log, %llu; it says no "
                          "MaxProcs",
                          (unsigned long long)p->in.processors));
    if (p->body->per_job && listed < p->in.job_count)
        TRY(decision_warn(p->rq, &p->answer->decision,
                          "truncated: %zu of %zu jobs are listed, see /job_rows_max",
                          listed, p->in.job_count));
    return OK;
}

/* Of what came out. */
static enum error_code warn_outcome(struct playing *p)
{
    uint64_t rest = 0, coarse = 0;

    for (size_t i = 0; i < p->answer->result_count; i++) {
        rest += p->answer->results[i].spread.rest_count > 0;
        coarse += p->answer->results[i].details.is_coarse;
    }
    if (coarse)
        TRY(decision_warn(p->rq, &p->answer->decision,
                          "clamped: /utilisation_step_s would give more than %d rows for "
                          "%llu %s, and is as much longer there",
                          QUEUE_STEPS_MAX, (unsigned long long)coarse,
                          plural(coarse, "policy", "policies")));
    if (rest)
        TRY(decision_warn(
            p->rq, &p->answer->decision,
            "truncated: by_user has its first %s, and a row for the others, see "
            "/table_rows_max",
            counted(p->body->table_rows_max, "user").text));
    return OK;
}

/* ---- playing: a run of the experiment is one of a policy, as nothing is drawn ---- */

/* The figures of a replay, and its counts. */
enum {
#define X(figure, meaning) FIGURE_##figure,
    QUEUE_FIGURES(X)
#undef X
        FIGURE_JOBS,
    FIGURE_NEVER_FIT,
    FIGURE_COUNT
};
static const char *const figure_names[] = {
#define X(figure, meaning) #figure,
    QUEUE_FIGURES(X)
#undef X
        "job_count",
    "never_fit_count",
    NULL,
};

/* A replay that is watched: jobs arrive and end. */
struct watched {
    struct experiment_trial *trial;
    size_t job_count;
};

static void note_ratio(void *context, double ratio)
{
    const struct watched *w = context;

    w->trial->progress = (struct sim_progress){
        .events = (uint64_t)(ratio * 2 * (double)w->job_count), .time_ratio = ratio};
}

/* What was played, on processors or on a cluster. */
struct replayed_trial {
    struct queue_replay_in in;
    struct queue_replay_out out;
    const struct simulation_cluster *cluster; /* NULL: on processors */
    struct cluster_replayed on_cluster;
    struct simulation_cluster variant; /* of a study */
};

/* Of all that is known of a replay, the answer. */
static enum error_code fill_result(struct playing *p, struct experiment_trial *trial,
                                   const struct replayed_trial *of, struct error *err)
{
    struct policy_answer *to = &p->results[trial->run];
    const struct queue_replay_in *in = &of->in;
    const struct queue_replay_out *out = &of->out;
    const struct queue_outcome *outcomes =
        of->cluster ? simulation_cluster_outcomes(
                          of->cluster, &of->on_cluster, in, out,
                          trial->run || !p->body->study ? trial->arena : p->rq->arena)
        : p->body->study && !trial->run ? queue_outcomes(in, out, p->rq->arena)
                                        : queue_outcomes(in, out, trial->arena);
    size_t rows_max = (size_t)p->body->table_rows_max;

    if (p->body->study) {
        trial->is_cut =
            !study_note(&p->study, trial->run, in, out, outcomes,
                        p->body->cluster ? p->cluster.users : NULL, trial->scratch);
        return OK;
    }
    p->now = &of->on_cluster;
    *to = (struct policy_answer){
        .policy = p->policies[trial->run]->name,
        .job_count = out->run_count,
        .never_fit_count = out->never_fit_count,
        .figures = out->figures,
        .details = queue_details_none(),
    };
    queue_spread_read(outcomes, in->job_count, rows_max,
                      of->cluster ? of->cluster->users : NULL, &to->spread, trial->arena,
                      p->rq->arena);
    if (of->cluster)
        trial->is_cut = !simulation_cluster_details(
            of->cluster, &of->on_cluster, outcomes, rows_max, p->body->utilisation_step_s,
            trial->budget, &to->details, trial->arena, p->rq->arena);
    else if (p->body->details)
        trial->is_cut =
            !queue_details_read(in, out, outcomes, rows_max, p->body->utilisation_step_s,
                                trial->budget, &to->details, trial->arena, p->rq->arena);
    if (p->body->per_job)
        list_jobs(p, out, to);
    if (of->cluster && !trial->run)
        list_never_on_cluster(p);
    if (p->body->as_swf || request_answer_form(p->rq) == ANSWER_TEXT)
        TRY(print_swf(p, out, &to->swf, trial->arena, err));
    return OK;
}

/* Which policy, and on what. */
static const struct policy *trial_of(const struct playing *p,
                                     struct experiment_trial *trial,
                                     struct queue_replay_in *in)
{
    if (p->body->study)
        return study_trial_of(&p->study, trial->run, in, trial->arena);
    *in = p->in;
    return p->policies[trial->run];
}

/* The same on a cluster, bound for a variant if that has another one. It may be played
 * on any thread: then nothing of the request's is written. */
static enum error_code
cluster_trial_of(const struct playing *p, struct experiment_trial *trial,
                 struct replayed_trial *of, const struct policy **policy,
                 enum simulation_estimates *counted_on, struct error *err)
{
    struct request *with = NEW(trial->arena, struct request, 1);

    of->cluster = &p->cluster;
    *counted_on = (enum simulation_estimates)p->body->estimates;
    if (!p->body->study) {
        *policy = p->policies[trial->run];
        return OK;
    }
    *with = *p->rq;
    with->arena = trial->arena;
    with->err = err;
    with->budget = *trial->budget;
    of->cluster = &of->variant;
    TRY(study_cluster_of(&p->study, trial->run, with, p->cluster_in, &p->jobs,
                         p->body->strict_dependencies, policy, counted_on, &of->variant));
    simulation_cluster_fail(&of->variant, p->body->failures, p->body->failure_count,
                            false);
    return OK;
}

static void note_figures(struct experiment_trial *trial,
                         const struct queue_replay_out *out)
{
#define X(figure, meaning) trial->figures[FIGURE_##figure] = out->figures.figure;
    QUEUE_FIGURES(X)
#undef X
    trial->figures[FIGURE_JOBS] = (double)out->run_count;
    trial->figures[FIGURE_NEVER_FIT] = (double)out->never_fit_count;
}

static enum error_code play_on_cluster(const struct playing *p,
                                       struct experiment_trial *trial,
                                       struct replayed_trial *of, struct error *err)
{
    struct watched watched = {trial, p->in.job_count};
    struct cluster_replay_in how = {.counts_fragments = !p->body->study,
                                    .keeps_nodes =
                                        p->body->per_job ? p->body->job_rows_max : 0,
                                    .budget = trial->budget,
                                    .progress = note_ratio,
                                    .context = &watched};
    const struct policy *policy;
    enum simulation_estimates counted_on;

    TRY(cluster_trial_of(p, trial, of, &policy, &counted_on, err));
    simulation_cluster_play(of->cluster, policy, counted_on, how, p->body->bound_s,
                            &of->on_cluster, &of->in, &of->out, trial->arena,
                            trial->scratch);
    trial->is_cut = of->out.is_cut;
    if (trial->is_cut)
        return OK;
    note_figures(trial, &of->out);
    note_ratio(&watched, 1);
    simulation_cluster_keep(&of->on_cluster, of->cluster->job_count, &trial->rest,
                            trial->arena);
    return OK;
}

/* What takes long of a trial: how the jobs ran. It only reads what is there before. */
static enum error_code replay(const struct playing *p, struct experiment_trial *trial,
                              struct replayed_trial *of, struct error *err)
{
    struct watched watched = {trial, p->in.job_count};
    struct queue_replay_watch watch = {trial->budget, note_ratio, &watched};
    const struct policy *policy;

    if (p->body->cluster)
        return play_on_cluster(p, trial, of, err);
    policy = trial_of(p, trial, &of->in);
    TRY(queue_replay(policy, &of->in, &watch, &of->out, trial->arena, err));
    trial->is_cut = of->out.is_cut;
    if (of->out.is_cut)
        return OK;
    note_figures(trial, &of->out);
    note_ratio(&watched, 1);
    trial->rest = (struct experiment_bytes){of->out.start_s,
                                            p->in.job_count * sizeof(of->out.start_s[0])};
    return OK;
}

/* experiment_apart_fn */
static enum error_code replay_apart(void *context, struct experiment_trial *trial,
                                    struct error *err)
{
    return replay(context, trial, NEW(trial->arena, struct replayed_trial, 1), err);
}

static enum error_code play_policy(void *context, struct experiment_trial *trial)
{
    struct playing *p = context;
    struct replayed_trial *of = NEW(trial->arena, struct replayed_trial, 1);

    TRY(replay(p, trial, of, p->rq->err));
    return trial->is_cut ? OK : fill_result(p, trial, of, p->rq->err);
}

/* Outcomes and attempts: the rest follows from the request. */
static bool take_on_cluster(struct playing *p, struct experiment_trial *trial,
                            const struct experiment_bytes *rest)
{
    struct replayed_trial *of = NEW(trial->arena, struct replayed_trial, 1);
    const struct policy *policy;
    enum simulation_estimates counted_on;

    if (cluster_trial_of(p, trial, of, &policy, &counted_on, p->rq->err) != OK ||
        !simulation_cluster_take(rest, of->cluster->job_count, &of->on_cluster,
                                 trial->arena))
        return false;
    simulation_cluster_read(of->cluster, &of->on_cluster, p->body->bound_s, &of->in,
                            &of->out, trial->arena);
    return fill_result(p, trial, of, &(struct error){.code = OK}) == OK && !trial->is_cut;
}

/* When each job started: the rest follows from the log. */
static bool take_starts(void *context, const struct experiment_trial *kept,
                        struct experiment_bytes rest)
{
    struct experiment_trial copy = *kept, *trial = &copy;
    struct playing *p = context;
    struct replayed_trial *of;
    size_t count = p->in.job_count;
    struct error here = {.code = OK};

    if (p->body->cluster)
        return take_on_cluster(p, trial, &rest);
    if (rest.length != count * sizeof(double))
        return false;
    of = NEW(trial->arena, struct replayed_trial, 1);
    of->out = (struct queue_replay_out){
        .run_count = (uint64_t)trial->figures[FIGURE_JOBS],
        .never_fit_count = (uint64_t)trial->figures[FIGURE_NEVER_FIT],
        .start_s = NEW(trial->arena, double, count),
        .run_s = NEW(trial->arena, double, count),
    };
    memcpy(of->out.start_s, rest.data, rest.length);
    trial_of(p, trial, &of->in);
    for (size_t i = 0; i < count; i++)
        of->out.run_s[i] = queue_replay_run_s(&of->in, &of->in.jobs[i]);
#define X(figure, meaning) of->out.figures.figure = trial->figures[FIGURE_##figure];
    QUEUE_FIGURES(X)
#undef X
    return fill_result(p, trial, of, &here) == OK && !trial->is_cut;
}

static void rank(struct playing *p, const struct experiment *played)
{
    static const struct experiment_key keys[] = {{FIGURE_mean_bounded_slowdown, false},
                                                 {FIGURE_mean_wait_s, false}};
    size_t count = played->runs_done;
    size_t *order = NEW(p->rq->arena, size_t, count);
    const char **given = NEW(p->rq->arena, const char *, count);
    const char **names = NEW(p->rq->arena, const char *, count);

    for (size_t i = 0; i < count; i++)
        given[i] = p->body->study ? study_name(&p->study, i) : p->results[i].policy;
    experiment_rank(played->figures, count, FIGURE_COUNT, keys, 2, given, order);
    for (size_t i = 0; i < count; i++)
        names[i] = given[order[i]];
    p->answer->ranking = names;
    p->answer->ranking_count = count;
}

static enum error_code play(struct playing *p)
{
    struct experiment_in experiment = {.figure_names = figure_names,
                                       .label_count = 1,
                                       .run_count = p->policy_count,
                                       .play = play_policy,
                                       .take = take_starts,
                                       .context = p};
    struct experiment played;

    /* A cluster that is not bound anew is one that only one thread may use. */
    if (!p->body->cluster || p->body->study)
        experiment.apart = replay_apart;
    p->results = NEW(p->rq->arena, struct policy_answer, p->policy_count);
    list_never_fits(p);
    TRY(warn_input(p));
    TRY(simulation_experiment(p->rq, &experiment, &played));
    if (p->body->study)
        p->answer->study = study_end(&p->study, played.runs_done);
    else
        p->answer->result_count = played.runs_done;
    p->answer->results = p->results;
    p->answer->name = p->body->name;
    p->answer->processors = p->in.processors;
    p->answer->job_count = p->in.job_count;
    TRY(warn_outcome(p));
    if (p->body->cluster && p->answer->never_fit_count)
        TRY(decision_warn(p->rq, &p->answer->decision,
                          "never_fits: %s never %s, by the first policy, and "
                          "%s in no figure",
                          counted(p->answer->never_fit_count, "job").text,
                          plural(p->answer->never_fit_count, "runs", "run"),
                          plural(p->answer->never_fit_count, "is", "are")));
    if (p->cancelled)
        TRY(decision_warn(p->rq, &p->answer->decision,
                          "cancelled: %s %s, by the first policy, and %s in no figure",
                          counted(p->cancelled, "job").text,
                          plural(p->cancelled, "leaves the queue before it starts",
                                 "leave the queue before they start"),
                          plural(p->cancelled, "is", "are")));
    TRY(simulation_warn_cut(p->rq, &played,
                            p->body->study ? "{variant was|variants were} done"
                                           : "{policy was|policies were} done",
                            &p->answer->decision));
    rank(p, &played);
    decision_end(p->rq, "simulation",
                 played.is_cut ? DECISION_CUT
                 : p->in.job_count && p->answer->never_fit_count == p->in.job_count
                     ? DECISION_INFEASIBLE
                     : DECISION_FEASIBLE,
                 &p->answer->decision);
    return OK;
}

static enum error_code reply_text(struct request *rq, const char *text)
{
    rq->reply->content_type = "text/plain; charset=utf-8";
    rq->reply->body = text;
    rq->reply->body_length = strlen(text);
    return OK;
}

/* The cluster of the snapshot that is given instead. */
static enum error_code take_snapshot(struct request *rq, struct queue_simulation *body)
{
    const char *member = body->snapshot_id ? "/snapshot_id" : "/snapshot";

    if (!body->snapshot && !body->snapshot_id)
        return OK;
    if (body->cluster || body->processors)
        return invalid(rq->err, member, ITEM_CONFLICT,
                       "give one of processors, cluster, snapshot and snapshot_id");
    return cluster_of_any_snapshot(rq, body->snapshot, body->snapshot_id, 0,
                                   &body->cluster);
}

enum error_code simulate_queue(struct request *rq, const void *in, void *out)
{
    struct queue_simulation *body = NEW(rq->arena, struct queue_simulation, 1);
    struct queue_simulation_answer *answer = out;
    struct playing p = {.rq = rq, .body = body, .answer = answer};
    bool text = request_answer_form(rq) == ANSWER_TEXT && !request_is_async(rq);

    *body = *(const struct queue_simulation *)in;
    TRY(simulation_begin(rq, &body->decision, &answer->decision));
    TRY(take_snapshot(rq, body));
    if (text && (body->policy_count != 1 || body->decision.store || body->study))
        return invalid(rq->err,
                       body->decision.store ? "/store"
                       : body->study        ? "/study"
                                            : "/policies",
                       ITEM_CONFLICT,
                       "a text/plain answer is the schedule of one policy, and is not "
                       "stored; name one, or accept application/json");
    TRY(prepare(&p));
    if (request_is_async(rq))
        return simulation_enqueue(rq, "queue", body->name);
    TRY(play(&p));
    if (text && answer->result_count == 0)
        return fail(rq->err, ERR_BUSY, "",
                    "the time was up before the policy was done; give time_limit_s, or "
                    "Prefer: respond-async");
    if (!text)
        return OK;
    if (!rq->keyed_id)
        return reply_text(rq, answer->results[0].swf);
    /* With a key the JSON is what is kept, and the text is taken from it the next time.
     */
    request_answer_as(rq, ANSWER_TEXT, answer->results[0].swf,
                      strlen(answer->results[0].swf));
    return OK;
}

/* ---- the schedule of one without a client ---- */

struct schedule_query {
    const char *policy;
};

/* A result as it was stored, of which the schedule is wanted. */
struct stored_result {
    const char *policy, *swf, *others;
};

#define T struct stored_result
#define OTHER(member)                                      \
    {                                                      \
        .name = #member, .doc = "", .type = JSON_TYPE_RAW, \
        .offset = JSON_AT(T, others, const char *)         \
    }
static const struct json_field stored_rows[] = {
    JSON_TEXT(T, policy, JSON_REQUIRED, ""),
    {.name = "swf",
     .doc = "",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, swf, const char *),
     .max = LOG_MAX_BYTES},
    OTHER(job_count),
    OTHER(never_fit_count),
    OTHER(jobs),
    OTHER(percentiles),
    OTHER(by_user),
    OTHER(by_size),
    OTHER(by_account),
    OTHER(by_partition),
    OTHER(by_qos),
    OTHER(jain_index),
    OTHER(gini_wait),
    OTHER(overtaken_ratio),
    OTHER(utilisation),
    OTHER(killed_count),
    OTHER(killed_core_s),
    OTHER(preempted_count),
    OTHER(failed_count),
    OTHER(lost_core_s),
    OTHER(fragmented_core_s),
#define X(figure, meaning) OTHER(figure),
    QUEUE_FIGURES(X)
#undef X
        {0},
};
#undef OTHER
#undef T
static const struct json_object stored_result_json = {
    "QueueStoredResult", "", sizeof(struct stored_result), stored_rows};

#define T struct schedule_query
static const struct json_field schedule_query_rows[] = {
    JSON_ID(T, policy, 0, "Which policy; default: the first"),
    {0},
};
#undef T
const struct json_object queue_schedule_query_json = {
    "QueueScheduleQuery", "Which schedule", sizeof(struct schedule_query),
    schedule_query_rows};

enum error_code queue_schedule_find(struct request *rq, const char *answer,
                                    const char *policy, const char **swf)
{
    const char *results = NULL;
    struct json_lines list = {0};

    *swf = NULL;
    TRY(json_member(answer, "results", &results, rq->arena, rq->err));
    if (results && json_read_list(&stored_result_json, results, strlen(results), &list,
                                  NULL, rq->arena, &(struct error){.code = OK}) != OK)
        list.count = 0; /* of another kind */
    for (size_t i = 0; i < list.count && !*swf; i++) {
        const struct stored_result *result = (const struct stored_result *)list.items + i;

        if (result->swf && (!policy || strcmp(policy, result->policy) == 0))
            *swf = result->swf;
    }
    return OK;
}

enum error_code get_simulation_schedule(struct request *rq, const void *in, void *out)
{
    const struct schedule_query *query = rq->query;
    const char *swf = NULL;
    struct store_simulation now = {0};
    struct db_session *db;

    (void)in, (void)out;
    TRY(request_db(rq, &db));
    TRY(store_simulation_read(db, rq->principal.tenant, rq->path_value[0], &now,
                              rq->arena, rq->err));
    if (now.result)
        TRY(queue_schedule_find(rq, now.result, query ? query->policy : NULL, &swf));
    if (swf)
        return reply_text(rq, swf);
    return fail(rq->err, ERR_NOT_FOUND, "", "the simulation has no such schedule%s",
                isnan(now.finished_at_s)
                    ? " yet"
                    : ": it must be of kind queue, and ask for it with as_swf");
}
