/* queue_orders.c - POST /v1/queue-orders: which waiting jobs of a batch queue start. */
#include "handlers/queue/routes.h"

#include "algorithms/cluster_queue/decide.h"
#include "algorithms/placement/reasons.h"
#include "handlers/cluster_queue/cluster_stored.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/common/world_json.h"
#include "handlers/operations/policy_words.h"
#include "handlers/pictures/pictures.h"
#include "handlers/placement/copies.h"
#include "handlers/placement/placement_json.h"
#include "handlers/placement/run_times.h"
#include "handlers/queue/queue_orders.h"
#include "models/base/plural.h"

#include "models/base/names.h"
#include "models/base/pointer.h"
#include "models/reason_tally.h"
#include "service/json_holds.h"
#include "service/metrics.h"
#include "service/service.h"

#include <stdio.h>
#include <string.h>

enum {
    QUEUE_RESERVATIONS_MAX = 10000,
    LOOK_ROWS = 512 /* between two looks at the budget */
};
static const double YEAR_S = 31536000;

/* ---- the request ---- */

#define SECONDS(T, label, member, lo, dflt, flag, ...)                                \
    {                                                                                 \
        .name = #label, .type = JSON_TYPE_NUMBER, .min = lo, .max = QUEUE_TIME_MAX_S, \
        .preset = dflt, .flags = flag, .offset = JSON_AT(T, member.label, double),    \
        .doc = __VA_ARGS__                                                            \
    }
#define PROCESSORS(T, member, text)                                              \
    {                                                                            \
        .name = "processors", .doc = text, .type = JSON_TYPE_INTEGER, .min = 1,  \
        .max = QUEUE_PROCESSORS_MAX * 1000, .preset = 1, .flags = JSON_REQUIRED, \
        .offset = JSON_AT(T, member.processors, uint64_t)                        \
    }

#define T struct waiting_job
#define ESTIMATE_ROW                                                                 \
    SECONDS(struct waiting_job, estimate_s, job, 0, NAN, JSON_NULLABLE,              \
            "How long it runs at most; a job that does not say is unplaced; with a " \
            "snapshot estimate_ref_s, etc_s or time_limit_s say it too")
static const struct json_field job_rows[] = {
    PLACEMENT_JOB_ROWS(struct job),
    WORLD_JOB_ROWS_WITH(struct job, ESTIMATE_ROW, WORLD_WEIGHT_ROW(struct job),
                        CLUSTER_JOB_AFTER_ROW(T)),
    JOB_MODEL_ROW(struct job),
    JOB_COUNT_ROW(struct job),
    CLUSTER_JOB_ROWS(T),
    {.name = "processors",
     .doc = "Processors that it needs, all at once; not with a snapshot, else required",
     .type = JSON_TYPE_INTEGER,
     .min = 1,
     .max = QUEUE_PROCESSORS_MAX * 1000,
     .preset = 0,
     .flags = JSON_BOUND_ONLY,
     .offset = JSON_AT(T, job.processors, uint64_t)},
    SECONDS(T, submit_s, job, -QUEUE_TIME_MAX_S, -QUEUE_TIME_MAX_S, 0,
            "When it was submitted; default: before those that say it, in the order of "
            "the list; a time after now_s counts as now_s; with a snapshot: queued_at"),
    JSON_NUMBER(T, planned_start_s, -QUEUE_TIME_MAX_S, QUEUE_TIME_MAX_S, NAN,
                JSON_NULLABLE,
                "conservative: the start that the job was promised by the answer before, "
                "at most a year before now_s; a time before now_s counts as now_s; with "
                "a snapshot seconds from now"),
    JSON_TEXTS(T, planned_resource_ids, planned_resource_count, JOB_NODES_MAX, 0,
               "With a snapshot and planned_start_s: where, as that answer said"),
    {0},
};
#undef T
#undef ESTIMATE_ROW
static const struct json_object job_json = {
    "QueueJob",
    "A waiting job: processors and estimate_s, or with a snapshot the members of a Job",
    sizeof(struct waiting_job), job_rows};

#define T struct running_job
static const struct json_field running_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique among all jobs"),
    PROCESSORS(T, running, "Processors that it has"),
    SECONDS(T, expected_end_s, running, -QUEUE_TIME_MAX_S, 0, JSON_REQUIRED,
            "When it ends by its estimate; one that should have ended is taken to end a "
            "second from now",
            JSON_WAS({"end_s", 0})),
    {0},
};
#undef T
static const struct json_object queue_running_json = {
    "QueueRunning", "A running job", sizeof(struct running_job), running_rows};

#define T struct reservation
static const struct json_field reservation_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique among the reservations"),
    PROCESSORS(T, reservation, "Processors that are set aside"),
    SECONDS(T, start_s, reservation, -QUEUE_TIME_MAX_S, 0, JSON_REQUIRED, "From when"),
    SECONDS(T, end_s, reservation, -QUEUE_TIME_MAX_S, 0, JSON_REQUIRED, "Until when"),
    {0},
};
#undef T
static const struct json_object queue_reservation_json = {
    "QueueReservation", "Processors that no job may use for some time",
    sizeof(struct reservation), reservation_rows};

#define T struct queue_orders_request
static const struct json_field request_rows[] = {
    JSON_ID(T, site_id, JSON_NULLABLE, "The cluster; comes back with the answer"),
    JSON_NUMBER(T, now_s, -QUEUE_TIME_MAX_S, QUEUE_TIME_MAX_S, 0, 0,
                "The present, on the scale of all other times; default 0"),
    JSON_INTEGER(T, processors, 1, QUEUE_PROCESSORS_MAX, 0, JSON_BOUND_ONLY,
                 "Processors of the cluster; either this, or snapshot or snapshot_id",
                 JSON_NOT_WITH("snapshot", "snapshot_id")),
    JSON_OBJECT(T, snapshot, const struct snapshot *, &snapshot_json, JSON_POINTER,
                "Instead of processors, now_s, running and reservations: resources with "
                "what runs there and is reserved. All times are seconds from now then, "
                "and jobs come in the order of queued_at"),
    JSON_ID(T, snapshot_id, JSON_NULLABLE, "A stored snapshot instead",
            JSON_NOT_WITH("snapshot")),
    JSON_OBJECT(
        T, cluster, const struct cluster_in *, &cluster_json, JSON_POINTER,
        "Instead of processors, running and reservations: nodes, partitions, "
        "accounts and limits; the algorithm slurm_backfill is there then, and the "
        "default. Times, deadline_s too, are on the scale of now_s; a "
        "priority above 0 counts as given, else it is reckoned",
        JSON_NOT_WITH("processors", "snapshot", "snapshot_id")),
    JSON_BOOLEAN(T, strict_dependencies, false, 0,
                 "cluster: a job in `after` that is not known is a mistake; else it is "
                 "taken to be gone"),
    PLACEMENT_FINISHED_ROW(
        T, "With a snapshot: jobs that are done, which others name in `after`"),
    JSON_LIST(T, jobs, job_count, struct waiting_job, &job_json, QUEUE_ORDERS_JOBS_MAX,
              JSON_REQUIRED | JSON_UNIQUE_IDS, "The waiting jobs"),
    JSON_LIST(T, running, running_count, struct running_job, &queue_running_json,
              QUEUE_ORDERS_JOBS_MAX, JSON_UNIQUE_IDS, "The running jobs",
              JSON_NOT_WITH("snapshot", "snapshot_id", "cluster")),
    JSON_LIST(T, reservations, reservation_count, struct reservation,
              &queue_reservation_json, QUEUE_RESERVATIONS_MAX, JSON_UNIQUE_IDS,
              "Reservations; more at a time than there are processors is a mistake. Of "
              "what running jobs hold as well, nothing starts until they end",
              JSON_NOT_WITH("snapshot", "snapshot_id", "cluster")),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object queue_orders_request_json = {
    "QueueOrdersRequest", "A cluster, what runs there, and what waits",
    sizeof(struct queue_orders_request), request_rows};

/* ---- the answer ---- */

#define T struct start
static const struct json_field start_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    COPIES_ROWS(T),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0,
                 "Processors that it gets; with a snapshot: cpus of all its nodes, "
                 "rounded up"),
    JSON_NUMBER(T, start_s, 0, 0, 0, 0, "now_s"),
    JSON_TEXT(T, resource_id, JSON_OPTIONAL, "Where, with a snapshot"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, JSON_OPTIONAL,
               "Where, of a job on several nodes"),
    JSON_TEXT(T, partition_id, JSON_OPTIONAL, "The partition that it uses"),
    RUN_TIME_BASIS_ROWS(T),
    JSON_TEXT(T, array_id, JSON_OPTIONAL, "The array that it is a task of"),
    JSON_NUMBERS(T, cpus_by_resource, cpus_by_resource_count, 0, 0, JSON_OPTIONAL,
                 "cluster: cpus on each of its nodes"),
    JSON_NUMBER(T, time_limit_s, 0, 0, 0, JSON_OPTIONAL,
                "cluster: its limit, which may have been shortened"),
    {0},
};
#undef T
static const struct json_object start_json = {"QueueStart", "A job that starts now",
                                              sizeof(struct start), start_rows};

#define T struct promise_broken
static const struct json_field promise_broken_rows[] = {
    JSON_NUMBER(T, by_s, 0, 0, 0, 0, "How much later it is planned now"),
    JSON_TEXT(T, blocking_job_id, JSON_OPTIONAL, "Who has to end before: a job"),
    JSON_TEXT(T, blocking_reservation_id, JSON_OPTIONAL, "Likewise a reservation"),
    {0},
};
#undef T
static const struct json_object promise_broken_json = {
    "QueuePromiseBroken", "A start that was promised and is not kept",
    sizeof(struct promise_broken), promise_broken_rows};

static const char *const wait_reason_names[] = {
#define X(symbol, name, meaning) #name,
    QUEUE_REASONS(X)
#undef X
        "no_free_now",
    "not_released",
    "memory",
    "needs",
    "nodes",
    "licence",
    "reservation_wait",
    "partition_limit",
    "partition_down",
    "dependency",
    "dependency_never",
    "begin",
    "held",
    "limit",
    "array_limit",
    "requirement",
    "resource_down",
    "not_tested",
    "beyond_window",
    "group_gang",
    "qos",
    "deadline",
    "user_limit",
    NULL,
};

int queue_wait_reason(const char *name)
{
    int i = 0;

    while (wait_reason_names[i] && strcmp(wait_reason_names[i], name) != 0)
        i++;
    return i;
}

#define T struct queue_limit
static const struct json_field limit_rows[] = {
    JSON_TEXT(T, scope, JSON_OPEN, "qos, partition_qos, user, account or partition",
              JSON_KNOWN("qos", "partition_qos", "user", "account", "partition")),
    JSON_TEXT(T, id, 0, "Whose limit it is"),
    JSON_TEXT(T, name, 0, "The member of limits, or of the partition"),
    JSON_TEXT(T, amount, JSON_OPTIONAL, "Of which amount"),
    JSON_NUMBER(T, value, 0, 0, 0, 0, "What is allowed"),
    JSON_NUMBER(T, used, 0, 0, 0, 0, "What is used, or asked for"),
    {0},
};
#undef T
static const struct json_object limit_json = {"QueueLimitInTheWay",
                                              "A limit that holds a job back",
                                              sizeof(struct queue_limit), limit_rows};

#define T             struct queue_priority_parts
#define PART(m, text) JSON_NUMBER(T, m, 0, 0, 0, 0, text)
static const struct json_field priority_parts_rows[] = {
    PART(age, "Weight times factor of its age"),
    PART(association, "Likewise of its association"),
    PART(fair_share, "Likewise of its fair share"),
    PART(job_size, "Likewise of its size"),
    PART(partition, "Likewise of its partition"),
    PART(qos, "Likewise of its quality of service"),
    PART(tres, "Likewise of all amounts that it asks for"),
    PART(site, "What the site adds"),
    PART(nice, "What its user takes off, negative"),
    PART(fair_share_factor, "The factor of fair_share itself, 0..1"),
    {0},
};
#undef PART
#undef T
static const struct json_object priority_parts_json = {
    "QueuePriorityParts",
    "The terms of a priority, before the sum is cut to a whole number",
    sizeof(struct queue_priority_parts), priority_parts_rows};

#define T struct queue_preemption
static const struct json_field preemption_rows[] = {
    JSON_TEXT(T, job_id, 0, "A job that starts"),
    JSON_TEXTS(T, resource_ids, resource_id_count, 0, 0, "Where"),
    JSON_TEXTS(T, stop, stop_count, 0, 0, "Running jobs that have to be stopped for it"),
    JSON_TEXT(T, mode, JSON_OPEN, "requeue: they wait again; cancel: they end",
              JSON_KNOWN("requeue", "cancel")),
    JSON_NUMBER(T, lost_s, 0, 0, 0, 0, "How long they have run, all together"),
    JSON_NUMBER(T, grace_s, 0, 0, 0, 0, "How long they may still go on"),
    {0},
};
#undef T
static const struct json_object preemption_json = {
    "QueuePreemption", "Running jobs that are stopped for one that starts",
    sizeof(struct queue_preemption), preemption_rows};

#define T struct queue_free
static const struct json_field free_rows[] = {
    JSON_TEXT(T, partition_id, 0, "The partition"),
    JSON_INTEGER(T, nodes, 0, JSON_EXACT, 0, 0, "Nodes of it where nothing runs"),
    JSON_INTEGER(T, cpus, 0, JSON_EXACT, 0, 0, "Whole cpus of it that are free"),
    {0},
};
#undef T
static const struct json_object free_json = {
    "QueueFree", "What stays free of a partition", sizeof(struct queue_free), free_rows};

#define T struct wait
static const struct json_field wait_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    COPIES_ROWS(T),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0,
                 "Processors that it needs; with a snapshot: cpus of all its nodes, "
                 "rounded up"),
    JSON_NUMBER(
        T, estimated_start_s, 0, 0, 0, JSON_MAY_BE_NULL,
        "When it starts if all estimates hold and nobody else comes; null: never. "
        "Jobs that the time limit left no time for follow one another behind all "
        "others"),
    JSON_NUMBER(T, planned_start_s, 0, 0, 0, JSON_OPTIONAL,
                "conservative: the start that it is promised; send it back with the "
                "next call, and no arrival and no early end makes it later"),
    JSON_TEXTS(T, planned_resource_ids, planned_resource_count, 0, JSON_OPTIONAL,
               "conservative, with a snapshot: where; to be sent back as well. "
               "cluster: where it is planned; no promise"),
    JSON_OBJECT(T, promise_broken, const struct promise_broken *, &promise_broken_json,
                JSON_POINTER | JSON_OPTIONAL,
                "conservative: it does not start when it was promised to"),
    JSON_CHOICE(
        T, reason, wait_reason_names, 0, JSON_OPEN,
        "processors: too few are free; reservation: it would run into one; order: "
        "nobody overtakes the first job; would_delay: it would delay a job that "
        "is before it; time_limit: the time was up before it was looked at; with a "
        "snapshot also no_free_now: too little is free; not_released: it may not start "
        "yet, or waits for another"),
    JSON_TEXT(T, detail, 0, "The same in words"),
    JSON_TEXT(T, blocking_job_id, JSON_OPTIONAL,
              "Who is in the way: a running job that must end, one that starts now, or "
              "one that is before it in the queue"),
    JSON_TEXT(T, blocking_reservation_id, JSON_OPTIONAL, "Likewise a reservation"),
    JSON_NUMBER(T, until_s, 0, 0, 0, JSON_OPTIONAL,
                "processors: when enough are free; else when the one in the way begins"),
    RUN_TIME_BASIS_ROWS(T),
    JSON_TEXT(T, partition_id, JSON_OPTIONAL, "cluster: the partition of its plan"),
    JSON_TEXT(T, array_id, JSON_OPTIONAL, "The array that it is a task of"),
    JSON_NUMBER(T, priority, 0, 0, 0, JSON_OPTIONAL, "cluster: its priority"),
    JSON_OBJECT(T, priority_parts, const struct queue_priority_parts *,
                &priority_parts_json, JSON_POINTER | JSON_OPTIONAL,
                "cluster: what that is made of, unless it was given"),
    JSON_WORD(T, slurm_reason, cluster_slurm_reason_names, JSON_OPTIONAL,
              "cluster: the reason in Slurm's words"),
    JSON_OBJECT(T, limit, const struct queue_limit *, &limit_json,
                JSON_POINTER | JSON_OPTIONAL, "reason limit: which one"),
    {0},
};
#undef T
static const struct json_object wait_json = {"QueueWait", "A job that waits, and why",
                                             sizeof(struct wait), wait_rows};

/* Of processors, of a cluster, and of a snapshot, which has those of placements. */
static const char *const unplaced_reason_names[] = {
#define X(symbol, name, ...) #name,
    QUEUE_REASONS(X) CLUSTER_REASONS(X)
#undef X
        PLACEMENT_REASON_WORDS,
    NULL};

#define T struct unplaced_reason
static const struct json_field unplaced_reason_rows[] = {
    JSON_WORD(
        T, reason, unplaced_reason_names, 0,
        "never_fits: it is wider than the cluster; no_estimate: it does not say how "
        "long it takes; with a snapshot the reasons of a placement"),
    JSON_TEXT(T, detail, 0, "In words"),
    JSON_INTEGER(T, resource_count, 0, JSON_EXACT, 0, JSON_OPTIONAL,
                 "With a snapshot: resources that it dropped"),
    JSON_OBJECT(T, nearest_miss, const struct placement_nearest_miss *,
                &placement_miss_json, JSON_POINTER | JSON_OPTIONAL,
                "With a snapshot: the resource that came nearest"),
    JSON_LIST(T, amounts, amount_count, struct placement_amount, &placement_amount_json,
              0, JSON_OPTIONAL, "Of too_small and shared_short: what is short"),
    JSON_TEXTS(T, blockers, blocker_count, 0, JSON_OPTIONAL,
               "Of unknown_end: up to five running jobs whose end is not known"),
    JSON_OBJECT(T, limit, const struct queue_limit *, &limit_json,
                JSON_POINTER | JSON_OPTIONAL,
                "reason partition_limit: the number of the partition that it is beyond"),
    {0},
};
#undef T
static const struct json_object unplaced_reason_json = {
    "QueueUnplacedReason", "Why a job can never run", sizeof(struct unplaced_reason),
    unplaced_reason_rows};

#define T struct unplaced
static const struct json_field unplaced_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    COPIES_ROWS(T),
    JSON_LIST(T, reasons, reason_count, struct unplaced_reason, &unplaced_reason_json, 0,
              0, "Why"),
    {0},
};
#undef T
static const struct json_object unplaced_json = {
    "QueueUnplaced", "A job that can never run", sizeof(struct unplaced), unplaced_rows};

#define T struct objective
static const struct json_field objective_rows[] = {
    JSON_NUMBER(
        T, makespan_s, 0, 0, 0, 0,
        "Until the last of all jobs ends, from now; with a snapshot: of those that "
        "wait"),
    JSON_NUMBER(T, lower_bound_s, 0, 0, 0, 0, "No order of these jobs ends before"),
    JSON_NUMBER(T, gap_ratio, 0, 0, 0, 0, "makespan_s / lower_bound_s - 1"),
    JSON_NUMBER(T, mean_wait_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Mean time from now to the (estimated) start of the jobs; null: none"),
    JSON_INTEGER(T, free_processors, 0, JSON_EXACT, 0, 0,
                 "Processors that stay free now; with a snapshot: whole cpus of the "
                 "resources that limit them"),
    {0},
};
#undef T
static const struct json_object objective_json = {
    "QueueObjective", "How good the order is", sizeof(struct objective), objective_rows};

#define T struct queue_orders_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(queue_words)),
    JSON_TEXT(T, site_id, JSON_OPTIONAL, "The cluster, if the request named it"),
    JSON_LIST(T, starts, start_count, struct start, &start_json, 0, 0,
              "Jobs that start now, in the order of the queue"),
    JSON_LIST(T, waiting, waiting_count, struct wait, &wait_json, 0, 0,
              "Jobs that wait, in the order of the queue"),
    JSON_LIST(T, unplaced, unplaced_count, struct unplaced, &unplaced_json, 0, 0,
              "Jobs that can never run, or do not say how long"),
    JSON_LIST(T, preemptions, preemption_count, struct queue_preemption, &preemption_json,
              0, JSON_OPTIONAL, "cluster: what must be stopped before these jobs start"),
    JSON_LIST(T, free, free_count, struct queue_free, &free_json, 0, JSON_OPTIONAL,
              "cluster: what stays free"),
    JSON_OBJECT(T, objective, struct objective, &objective_json, 0,
                "How good it is, as far as the estimates hold"),
    RUN_TIMES_ROW(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object queue_orders_answer_json = {
    "QueueOrdersAnswer", "Who starts, and what the others wait for",
    sizeof(struct queue_orders_answer), answer_rows};

/* ---- deciding ---- */

/* A request while it is answered. */
struct deciding {
    struct request *rq;
    const struct queue_orders_request *body;
    const struct policy *policy;
    double options[QUEUE_OPTION_COUNT];
    struct queue_in in;
    size_t *given; /* index in the request of each job of `in` */
    struct queue_out out;
    struct queue_orders_answer *answer;
    struct start *starts; /* the answer's, while they are filled */
    struct wait *waiting;
    struct unplaced *unplaced;
    bool untold; /* the time was up when they were */
};

/* The jobs that say how long they take, with what they were promised. */
static void take_jobs(struct deciding *d)
{
    const struct queue_orders_request *body = d->body;
    struct arena *a = d->rq->arena;
    struct queue_job *jobs = NEW(a, struct queue_job, body->job_count);
    double *promises = NEW(a, double, body->job_count);
    bool promised = false;

    d->given = NEW(a, size_t, body->job_count);
    for (size_t i = 0; i < body->job_count; i++) {
        const struct waiting_job *job = &body->jobs[i];
        size_t at = d->in.job_count;

        if (isnan(job->job.estimate_s))
            continue;
        jobs[at] = job->job;
        promises[at] = job->planned_start_s;
        promised |= !isnan(job->planned_start_s);
        d->given[at] = i;
        d->in.job_count++;
    }
    d->in.jobs = jobs;
    d->in.planned_start_s = promised ? promises : NULL;
}

/* The lists without names. */
static void make_input(struct deciding *d)
{
    const struct queue_orders_request *body = d->body;
    struct arena *a = d->rq->arena;
    struct queue_running *running = NEW(a, struct queue_running, body->running_count);
    struct queue_reservation *reservations =
        NEW(a, struct queue_reservation, body->reservation_count);

    for (size_t i = 0; i < body->running_count; i++)
        running[i] = body->running[i].running;
    for (size_t i = 0; i < body->reservation_count; i++)
        reservations[i] = body->reservations[i].reservation;
    d->in = (struct queue_in){
        .now_s = body->now_s,
        .processors = body->processors,
        .keeps_gaps = !(d->options[QUEUE_COMPRESS] > 0),
        .running = running,
        .running_count = body->running_count,
        .reservations = reservations,
        .reservation_count = body->reservation_count,
        .budget = &d->rq->budget,
    };
    take_jobs(d);
}

static void find_policy(const char *name, const struct policy **policy, struct error *err)
{
    if (!name || strcmp(name, "auto") == 0)
        name = "easy";
    *policy = policy_find(queue_policies, name);
    if (!*policy)
        decision_unknown_policy(name, queue_policies, err);
    if (!*policy && policy_find(cluster_policies, name))
        error_hint(err, "%s decides about a cluster: give one", name);
}

/* No job waits and runs, and no promise is from another age. */
static enum error_code check_jobs(struct deciding *d)
{
    const struct queue_orders_request *body = d->body;
    struct error *err = d->rq->err;
    struct name_index running;

    name_index_create(&running, body->running_count, d->rq->arena);
    for (size_t i = 0; i < body->running_count; i++)
        name_index_add(&running, body->running[i].id, i);
    for (size_t i = 0; i < body->job_count; i++) {
        const struct waiting_job *job = &body->jobs[i];
        size_t same = name_index_find(&running, job->of.id);

        if (same != NAME_NOT_FOUND)
            invalid(err, pointer_in("/jobs", i, "id").text, ITEM_DUPLICATE,
                    "'%.100s' runs already: it is /running/%zu too", job->of.id, same);
        if (job->planned_start_s < body->now_s - YEAR_S)
            invalid(err, pointer_in("/jobs", i, "planned_start_s").text,
                    ITEM_OUT_OF_BOUNDS, "%.15g is more than a year before now_s",
                    job->planned_start_s);
    }
    return OK;
}

/* ---- warnings ---- */

/* How many, and the first one's index. */
struct tally {
    size_t count, first;
};

static void count_one(struct tally *t, size_t index)
{
    if (t->count++ == 0)
        t->first = index;
}

/* What the times of the request say, and how it is taken. */
static enum error_code warn_times(struct deciding *d)
{
    const struct queue_orders_request *body = d->body;
    struct tally later = {0}, overdue = {0}, past = {0};
    struct decision_answer *out = &d->answer->decision;

    for (size_t i = 0; i < body->job_count; i++)
        if (body->jobs[i].job.submit_s > body->now_s)
            count_one(&later, i);
    for (size_t i = 0; i < body->running_count; i++)
        if (!(body->running[i].running.expected_end_s > body->now_s))
            count_one(&overdue, i);
    for (size_t i = 0; i < body->reservation_count; i++)
        if (!(body->reservations[i].reservation.end_s > body->now_s))
            count_one(&past, i);
    if (later.count)
        TRY(decision_warn(d->rq, out,
                          "submitted_later: %s, first /jobs/%zu/submit_s, %s "
                          "submitted after now_s; that counts as now_s",
                          counted(later.count, "job").text, later.first,
                          plural(later.count, "is", "are")));
    if (overdue.count)
        TRY(decision_warn(d->rq, out,
                          "overdue: %s, first /running/%zu/expected_end_s, should "
                          "have ended; %s taken to end a second from now",
                          counted(overdue.count, "running job").text, overdue.first,
                          plural(overdue.count, "it is", "they are")));
    if (past.count)
        TRY(decision_warn(d->rq, out, "ignored: %s, first /reservations/%zu, %s over",
                          counted(past.count, "reservation").text, past.first,
                          plural(past.count, "is", "are")));
    return OK;
}

static enum error_code warn_overlaps(struct deciding *d)
{
    struct queue_overlap overlap;

    TRY(queue_overlaps(&d->in, &overlap, d->rq->arena, d->rq->err));
    if (!overlap.count)
        return OK;
    return decision_warn(d->rq, &d->answer->decision,
                         "overcommitted: %s, first /reservations/%zu, "
                         "%s processors that running jobs hold at that time; there "
                         "nothing starts",
                         counted(overlap.count, "reservation").text, overlap.first,
                         plural(overlap.count, "takes", "take"));
}

void queue_warn_promises(struct request *rq, const struct queue_orders_request *body,
                         const struct policy *policy, struct decision_answer *answer)
{
    struct tally promises = {0};

    for (size_t i = 0; i < body->job_count; i++)
        if (!isnan(body->jobs[i].planned_start_s))
            count_one(&promises, i);
    if (promises.count)
        decision_warn(
            rq, answer,
            "ignored: planned_start_s of %s, first "
            "/jobs/%zu/planned_start_s: %s makes no promises, conservative does",
            counted(promises.count, "job").text, promises.first, policy->name);
}

/* What only conservative uses. */
static enum error_code warn_ignored(struct deciding *d)
{
    const struct queue_orders_request *body = d->body;
    struct decision_answer *out = &d->answer->decision;

    if (queue_discipline_of(d->policy)->rule == QUEUE_CONSERVATIVE)
        return OK;
    queue_warn_promises(d->rq, body, d->policy, out);
    if (queue_option_given(body, QUEUE_COMPRESS))
        TRY(decision_warn(
            d->rq, out, "ignored: /options/%s: %s makes no promises, conservative does",
            queue_conservative_params[QUEUE_COMPRESS].name, d->policy->name));
    return OK;
}

/* What only resources with amounts have. */
static void warn_world_only(struct deciding *d)
{
    if (queue_option_given(d->body, QUEUE_PLAN_WITH))
        decision_warn(d->rq, &d->answer->decision,
                      "ignored: /options/%s: jobs of a pool of processors have no other "
                      "limit than estimate_s",
                      queue_conservative_params[QUEUE_PLAN_WITH].name);
}

bool queue_option_given(const struct queue_orders_request *body, int option)
{
    for (size_t i = 0; i < body->decision.option_count; i++)
        if (strcmp(body->decision.options[i].name,
                   queue_conservative_params[option].name) == 0)
            return true;
    return false;
}

/* Of what came out. */
static enum error_code warn_outcome(struct deciding *d)
{
    struct decision_answer *out = &d->answer->decision;
    struct reason_tally tally = {0};

    for (size_t i = 0; i < d->answer->unplaced_count; i++) {
        budget_step(&d->rq->finish, 1);
        reason_tally_add(&tally, d->answer->unplaced[i].reasons[0].reason);
    }
    if (d->out.broken_count)
        TRY(decision_warn(d->rq, out,
                          "promise_broken: %s %s promised to, by planned_start_s",
                          counted(d->out.broken_count, "job").text,
                          plural(d->out.broken_count, "does not start when it was",
                                 "do not start when they were")));
    if (tally.total)
        TRY(decision_warn(d->rq, out, "%s", reason_tally_text(&tally, d->rq->arena)));
    if (d->out.is_cut)
        TRY(decision_warn(d->rq, out,
                          "time_limit: the time was up; of %s %zu %s only put one "
                          "after the other behind all others",
                          counted(d->answer->waiting_count, "waiting job").text,
                          d->out.behind_count, plural(d->out.behind_count, "is", "are")));
    return OK;
}

/* ---- telling it ---- */

static const char *job_name(const struct deciding *d, size_t job)
{
    return d->body->jobs[d->given[job]].of.id;
}

/* "job j7 ends", as far as it is known who is in the way. */
static const char *describe(const struct deciding *d, const struct queue_verdict *v)
{
    const char *verb = v->reason == QUEUE_REASON_PROCESSORS ? "ends" : "begins";

    if (v->by == QUEUE_BY_RESERVATION)
        return arena_printf(d->rq->arena, "reservation %s %s",
                            d->body->reservations[v->blocker].id, verb);
    return arena_printf(d->rq->arena, "job %s %s",
                        v->by == QUEUE_BY_RUNNING ? d->body->running[v->blocker].id
                                                  : job_name(d, v->blocker),
                        v->reason == QUEUE_REASON_PROCESSORS ? verb : "is to start");
}

static const char *detail_of(const struct deciding *d, const struct queue_verdict *v,
                             uint64_t processors)
{
    const char *who;
    struct arena *a = d->rq->arena;

    if (v->reason == QUEUE_REASON_TIME_LIMIT)
        return "the time was up before it was looked at";
    if (v->by == QUEUE_NOTHING)
        return "keeps the start that it was promised; nobody is in its way now";
    who = describe(d, v);
    if (v->reason == QUEUE_REASON_PROCESSORS)
        return arena_printf(a, "needs %llu processor%s, %llu %s free until %s at %.15g",
                            (unsigned long long)processors, processors == 1 ? "" : "s",
                            (unsigned long long)d->out.free_processors,
                            d->out.free_processors == 1 ? "is" : "are", who, v->until_s);
    if (v->reason == QUEUE_REASON_RESERVATION)
        return arena_printf(a, "would still run when %s at %.15g", who, v->until_s);
    if (v->reason == QUEUE_REASON_ORDER)
        return arena_printf(a, "would overtake: %s first, at %.15g", who, v->until_s);
    return arena_printf(a, "would take processors that are kept until %s at %.15g", who,
                        v->until_s);
}

/* Names what is in the way. */
static void name_blocker(const struct deciding *d, enum queue_blocker by, size_t index,
                         const char **job_id, const char **reservation_id)
{
    if (by == QUEUE_BY_RESERVATION)
        *reservation_id = d->body->reservations[index].id;
    else if (by == QUEUE_BY_RUNNING)
        *job_id = d->body->running[index].id;
    else if (by == QUEUE_BY_JOB)
        *job_id = job_name(d, index);
}

static void tell_broken(struct deciding *d, const struct queue_verdict *v, struct wait *w)
{
    struct promise_broken *broken;

    if (isnan(v->broken_by_s))
        return;
    broken = NEW(d->rq->arena, struct promise_broken, 1);
    broken->by_s = v->broken_by_s;
    name_blocker(d, v->breaker_by, v->breaker, &broken->blocking_job_id,
                 &broken->blocking_reservation_id);
    w->promise_broken = broken;
}

/* Without the time for it, reasons go untold. */
static void tell_wait(struct deciding *d, size_t job)
{
    struct queue_verdict *v = &d->out.verdicts[job];
    const struct waiting_job *j = &d->body->jobs[d->given[job]];
    struct wait *w = &d->waiting[d->answer->waiting_count++];

    if (d->answer->waiting_count % LOOK_ROWS == 0 && budget_spent(&d->rq->budget))
        d->out.is_cut = d->untold = true;
    if (d->untold)
        *v = (struct queue_verdict){.start_s = v->start_s,
                                    .reason = QUEUE_REASON_TIME_LIMIT,
                                    .until_s = (double)NAN,
                                    .plan_s = v->plan_s,
                                    .broken_by_s = v->broken_by_s,
                                    .breaker_by = v->breaker_by,
                                    .breaker = v->breaker};
    *w = (struct wait){
        .job_id = j->of.id,
        .processors = j->job.processors,
        .estimated_start_s = v->start_s,
        .planned_start_s = v->plan_s,
        .reason = (int)v->reason,
        .detail = detail_of(d, v, j->job.processors),
        .until_s = v->until_s,
        .run_time_index = JSON_NO_INTEGER,
        .priority = (double)NAN,
        .copies = PLACEMENT_NO_COPIES,
    };
    name_blocker(d, v->by, v->blocker, &w->blocking_job_id, &w->blocking_reservation_id);
    tell_broken(d, v, w);
}

static void tell_unplaced(struct deciding *d, const struct waiting_job *job,
                          enum queue_reason why)
{
    struct arena *a = d->rq->arena;
    struct unplaced_reason *reason = NEW(a, struct unplaced_reason, 1);

    reason->reason = queue_reason_names[why];
    reason->resource_count = JSON_NO_INTEGER;
    reason->detail = why == QUEUE_REASON_NO_ESTIMATE
                         ? "estimate_s is missing: how long does it run at most?"
                         : arena_printf(a, "needs %llu processors, the cluster has %llu",
                                        (unsigned long long)job->job.processors,
                                        (unsigned long long)d->body->processors);
    d->unplaced[d->answer->unplaced_count++] =
        (struct unplaced){job->of.id, reason, 1, PLACEMENT_NO_COPIES};
}

static void tell_all(struct deciding *d)
{
    struct queue_orders_answer *answer = d->answer;
    size_t count = d->body->job_count;

    answer->starts = d->starts = NEW(d->rq->arena, struct start, count);
    answer->waiting = d->waiting = NEW(d->rq->arena, struct wait, count);
    answer->unplaced = d->unplaced = NEW(d->rq->arena, struct unplaced, count);
    for (size_t i = 0; i < d->in.job_count; i++) {
        size_t job = d->out.order[i];
        const struct waiting_job *j = &d->body->jobs[d->given[job]];
        const struct queue_verdict *v = &d->out.verdicts[job];

        if (v->reason == QUEUE_REASON_NEVER_FITS)
            tell_unplaced(d, j, v->reason);
        else if (v->reason != QUEUE_REASON_STARTS)
            tell_wait(d, job);
        else
            d->starts[answer->start_count++] =
                (struct start){.job_id = j->of.id,
                               .processors = j->job.processors,
                               .start_s = d->body->now_s,
                               .run_time_index = JSON_NO_INTEGER,
                               .time_limit_s = (double)NAN,
                               .copies = PLACEMENT_NO_COPIES};
    }
    for (size_t i = 0; i < count; i++)
        if (isnan(d->body->jobs[i].job.estimate_s))
            tell_unplaced(d, &d->body->jobs[i], QUEUE_REASON_NO_ESTIMATE);
}

static void tell_objective(struct deciding *d)
{
    const struct queue_out *out = &d->out;
    size_t nameless = d->body->job_count - d->in.job_count;
    double wait_s = 0, count = 0;

    for (size_t i = 0; i < d->in.job_count; i++) {
        if (isnan(out->verdicts[i].start_s))
            continue;
        wait_s += out->verdicts[i].start_s - d->body->now_s;
        count++;
    }
    d->answer->objective = (struct objective){
        .makespan_s = out->makespan_s,
        .lower_bound_s = out->lower_bound_s,
        .gap_ratio = out->lower_bound_s > 0
                         ? fmax(0, out->makespan_s / out->lower_bound_s - 1)
                         : 0,
        .mean_wait_s = count > 0 ? wait_s / count : (double)NAN,
        .free_processors = out->free_processors,
    };
    if (d->answer->unplaced_count > nameless)
        metrics_unplaced(d->rq->service->metrics,
                         queue_reason_names[QUEUE_REASON_NEVER_FITS],
                         d->answer->unplaced_count - nameless);
    if (nameless)
        metrics_unplaced(d->rq->service->metrics,
                         queue_reason_names[QUEUE_REASON_NO_ESTIMATE], nameless);
    d->rq->gap_ratio = d->answer->objective.gap_ratio;
}

/* When every job starts at once, no order starts one earlier. */
static enum decision_status status_of(const struct queue_orders_answer *answer,
                                      const struct queue_out *out)
{
    if (out->is_cut)
        return DECISION_CUT;
    if (answer->unplaced_count && !answer->start_count && !answer->waiting_count)
        return DECISION_INFEASIBLE;
    return answer->waiting_count || answer->unplaced_count ? DECISION_FEASIBLE
                                                           : DECISION_OPTIMAL;
}

/* ---- which form ---- */

static void mistake(struct error *err, size_t job, const char *member,
                    enum item_code code, const char *text)
{
    invalid(err, pointer_in("/jobs", job, member).text, code, "%s", text);
}

/* The first member of a Job that a pool of processors knows nothing of; NULL: none. */
static const char *amount_member(const struct job *j)
{
    const struct {
        const char *name;
        bool given;
    } members[] = {
        {"etc_s", j->etc_count},
        {"estimate_ref_s", !isnan(j->estimate_ref_s)},
        {"cpus", j->cpus < 1 || j->cpus > 1},
        {"memory_bytes", j->memory_bytes > 0},
        {"user", j->user},
        {"organisations", j->organisation_count},
        {"requirement", j->requirement},
        {"rank", j->rank},
        {"input_file_ids", j->input_file_count},
        {"output_bytes", j->output_bytes > 0},
        {"release_s", j->release_s > 0},
        {"deadline_s", !isnan(j->deadline_s)},
        {"queued_at", !isnan(j->queued_at_s)},
        {"deadline_at", !isnan(j->deadline_at_s)},
        {"fixed_priority", j->fixed_priority > 0},
        {"task_index", !isnan(j->task_index)},
        {"param_start", !isnan(j->param_start)},
        {"param_increment", !isnan(j->param_increment)},
        {"disk_bytes", j->disk_bytes > 0},
        {"needs", j->need_count},
        {"nodes", j->nodes > 1},
        {"exclusive", j->exclusive},
        {"time_limit_s", !isnan(j->time_limit_s)},
        {"priority", j->priority < 0 || j->priority > 0},
        {"weight", j->weight < 1 || j->weight > 1},
        {"group", j->group},
        {"preemptible", j->preemptible},
        {"partition_ids", j->partition_ids},
        {"model", j->model},
        {"count", j->count > 1},
    };

    for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++)
        if (members[k].given)
            return members[k].name;
    return NULL;
}

/* What needs a cluster. */
static void check_cluster_members(const struct queue_orders_request *body,
                                  struct error *err)
{
    if (body->strict_dependencies)
        invalid(err, "/strict_dependencies", ITEM_CONFLICT,
                "it goes with a cluster alone");
    for (size_t i = 0; i < body->job_count; i++) {
        const char *member = cluster_job_member(&body->jobs[i].cluster);

        if (member)
            mistake(err, i, member, ITEM_CONFLICT, "it goes with a cluster alone");
        if (member && strcmp(member, "cpus") == 0)
            error_hint(err, "in a pool it is 'processors'");
    }
}

/* False: it is not one. */
static bool check_pool_form(const struct queue_orders_request *body, struct error *err)
{
    size_t before = err->item_count;

    if (!body->processors)
        invalid(err, "/processors", ITEM_REQUIRED,
                "the member is missing: processors of the cluster; or give snapshot or "
                "snapshot_id");
    if (body->world.finished_count)
        invalid(err, "/finished_jobs", ITEM_CONFLICT, "it goes with a snapshot alone");
    for (size_t i = 0; i < body->job_count; i++) {
        const struct waiting_job *j = &body->jobs[i];
        const char *member = amount_member(&j->of);

        if (!j->job.processors)
            mistake(err, i, "processors", ITEM_REQUIRED,
                    "the member is missing: processors that it needs, all at once");
        if (!member && j->cluster.after_count)
            member = "after";
        if (member)
            mistake(err, i, member, ITEM_CONFLICT, "it goes with a snapshot alone");
        if (j->planned_resource_count)
            mistake(err, i, "planned_resource_ids", ITEM_CONFLICT,
                    "it goes with a snapshot alone");
    }
    check_cluster_members(body, err);
    return err->item_count == before;
}

static void check_world_job(const struct waiting_job *j, size_t i, struct error *err)
{
    if (j->job.processors)
        mistake(err, i, "processors", ITEM_CONFLICT,
                "with a snapshot a job has cpus and nodes");
    if (j->job.submit_s > -QUEUE_TIME_MAX_S)
        mistake(err, i, "submit_s", ITEM_CONFLICT, "with a snapshot a job has queued_at");
    if (j->planned_start_s < -YEAR_S)
        mistake(err, i, "planned_start_s", ITEM_OUT_OF_BOUNDS,
                "it is more than a year before now");
    if (j->of.count > 1 && !isnan(j->planned_start_s))
        mistake(err, i, "planned_start_s", ITEM_INVALID_COMBINATION,
                "nothing is promised to the copies of a job: write them out");
    if (j->planned_resource_count && isnan(j->planned_start_s))
        mistake(err, i, "planned_resource_ids", ITEM_INVALID_COMBINATION,
                "it goes with planned_start_s");
    for (size_t k = 0; k < j->cluster.after_count; k++)
        if (j->cluster.after[k].kind > CLUSTER_JOB_STARTED ||
            j->cluster.after[k].delay_s > 0) {
            mistake(err, i, "after", ITEM_CONFLICT,
                    "notok, corr and delay_s go with a cluster alone");
            break;
        }
}

static void check_world_form(const struct queue_orders_request *body, struct error *err)
{
    if (body->now_s < 0 || body->now_s > 0)
        invalid(err, "/now_s", ITEM_CONFLICT,
                "with a snapshot all times are seconds from now");
    for (size_t i = 0; i < body->job_count; i++)
        check_world_job(&body->jobs[i], i, err);
    check_cluster_members(body, err);
}

/* Copies are of a snapshot's jobs. */
static enum error_code refuse_copies(const struct queue_orders_request *body,
                                     struct error *err)
{
    for (size_t i = 0; i < body->job_count; i++)
        if (body->jobs[i].of.count > 1)
            mistake(err, i, "count", ITEM_CONFLICT,
                    "in a cluster each job is written out");
    return err->code;
}

enum error_code post_queue_orders(struct request *rq, const void *in, void *out)
{
    const struct queue_orders_request *body = in;
    struct queue_orders_answer *answer = out;
    struct deciding d = {.rq = rq, .body = body, .answer = answer};
    enum error_code code;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    if (!body->cluster && (body->snapshot || body->snapshot_id)) {
        struct queue_orders_request *with =
            NEW(rq->arena, struct queue_orders_request, 1);
        double now_s = isnan(body->now_s) ? 0 : body->now_s;

        *with = *body;
        TRY(cluster_of_snapshot(rq, body->snapshot, body->snapshot_id, now_s,
                                &with->cluster));
        if (with->cluster) {
            with->snapshot = NULL;
            with->snapshot_id = NULL;
            body = with;
        }
    }
    if (body->cluster) {
        TRY(refuse_copies(body, rq->err));
        TRY(queue_orders_cluster(rq, body, answer));
        return picture_answer(rq, answer);
    }
    find_policy(body->decision.algorithm, &d.policy, rq->err);
    if (body->snapshot || body->snapshot_id) {
        check_world_form(body, rq->err);
        TRY(queue_orders_world(rq, body, d.policy, answer));
        return picture_answer(rq, answer);
    }
    if (!check_pool_form(body, rq->err))
        return rq->err->code;
    params_bind(queue_conservative_params, body->decision.options,
                body->decision.option_count, d.options, rq->err);
    make_input(&d);
    TRY(check_jobs(&d));
    code = queue_check(&d.in, rq->arena, rq->err);
    if (code != OK || !d.policy)
        return rq->err->code;
    TRY(rq->err->code);
    TRY(warn_times(&d));
    TRY(warn_overlaps(&d));
    TRY(warn_ignored(&d));
    warn_world_only(&d);
    TRY(queue_decide(d.policy, &d.in, &d.out, rq->arena, rq->err));
    answer->site_id = body->site_id;
    tell_all(&d);
    tell_objective(&d);
    TRY(warn_outcome(&d));
    decision_end(rq, d.policy->name, status_of(answer, &d.out), &answer->decision);
    return picture_answer(rq, answer);
}
