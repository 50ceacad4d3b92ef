/* queue_orders.c - POST /v1/queue-orders: which waiting jobs of a batch queue start. */
#include "handlers/queue_orders.h"

#include "algorithms/queue/queue.h"
#include "handlers/decision.h"
#include "handlers/pictures.h"
#include "models/base/param.h"
#include "service/metrics.h"
#include "service/service.h"

#include <string.h>

enum { JOBS_MAX = 200000, RESERVATIONS_MAX = 10000, NAMES_MAX = 64 };

/* ---- the request ---- */

struct waiting_job {
    const char *id;
    struct queue_job job;
};

struct running_job {
    const char *id;
    struct queue_running running;
};

struct reservation {
    const char *id;
    struct queue_reservation reservation;
};

struct queue_orders_request {
    struct decision_request decision;
    const char *site_id;
    double now_s;
    uint64_t processors;
    const struct waiting_job *jobs;
    size_t job_count;
    const struct running_job *running;
    size_t running_count;
    const struct reservation *reservations;
    size_t reservation_count;
};

#define SECONDS(T, label, member, lo, dflt, flag, text)                   \
    {                                                                     \
        .name = #label, .doc = text, .type = JSON_TYPE_NUMBER, .min = lo, \
        .max = QUEUE_TIME_MAX_S, .preset = dflt, .flags = flag,           \
        .offset = JSON_AT(T, member.label, double)                        \
    }
#define PROCESSORS(T, member, text)                                              \
    {                                                                            \
        .name = "processors", .doc = text, .type = JSON_TYPE_INTEGER, .min = 1,  \
        .max = QUEUE_PROCESSORS_MAX * 1000, .preset = 1, .flags = JSON_REQUIRED, \
        .offset = JSON_AT(T, member.processors, uint64_t)                        \
    }

#define T struct waiting_job
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique among the jobs"),
    PROCESSORS(T, job, "Processors that it needs, all at once"),
    SECONDS(T, estimate_s, job, 0, 0, JSON_REQUIRED, "How long it runs at most"),
    SECONDS(T, submit_s, job, -QUEUE_TIME_MAX_S, -QUEUE_TIME_MAX_S, 0,
            "When it was submitted; default: before those that say it, in the order of "
            "the list"),
    {0},
};
#undef T
static const struct json_object job_json = {"QueueJob", "A waiting job",
                                            sizeof(struct waiting_job), job_rows};

#define T struct running_job
static const struct json_field running_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique among the running ones"),
    PROCESSORS(T, running, "Processors that it has"),
    SECONDS(T, end_s, running, -QUEUE_TIME_MAX_S, 0, JSON_REQUIRED,
            "When it ends by its estimate; one that should have ended is taken to end a "
            "second from now"),
    {0},
};
#undef T
static const struct json_object running_json = {"QueueRunning", "A running job",
                                                sizeof(struct running_job), running_rows};

#define T struct reservation
static const struct json_field reservation_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique among the reservations"),
    PROCESSORS(T, reservation, "Processors that are set aside"),
    SECONDS(T, start_s, reservation, -QUEUE_TIME_MAX_S, 0, JSON_REQUIRED, "From when"),
    SECONDS(T, end_s, reservation, -QUEUE_TIME_MAX_S, 0, JSON_REQUIRED, "Until when"),
    {0},
};
#undef T
static const struct json_object reservation_json = {
    "QueueReservation", "Processors that no job may use for some time",
    sizeof(struct reservation), reservation_rows};

#define T struct queue_orders_request
static const struct json_field request_rows[] = {
    JSON_ID(T, site_id, JSON_NULLABLE, "The cluster; comes back with the answer"),
    JSON_NUMBER(T, now_s, -QUEUE_TIME_MAX_S, QUEUE_TIME_MAX_S, 0, 0,
                "The present, on the scale of all other times; default 0"),
    JSON_INTEGER(T, processors, 1, QUEUE_PROCESSORS_MAX, 1, JSON_REQUIRED,
                 "Processors of the cluster"),
    JSON_LIST(T, jobs, job_count, struct waiting_job, &job_json, JOBS_MAX,
              JSON_REQUIRED | JSON_UNIQUE_IDS, "The waiting jobs"),
    JSON_LIST(T, running, running_count, struct running_job, &running_json, JOBS_MAX,
              JSON_UNIQUE_IDS, "The running jobs"),
    JSON_LIST(T, reservations, reservation_count, struct reservation, &reservation_json,
              RESERVATIONS_MAX, JSON_UNIQUE_IDS,
              "Reservations; more at a time than there are processors is a mistake"),
    DECISION_REQUEST_ROWS(T),
    {0},
};
#undef T
const struct json_object queue_orders_request_json = {
    "QueueOrdersRequest", "A cluster, what runs there, and what waits",
    sizeof(struct queue_orders_request), request_rows};

/* ---- the answer ---- */

struct start {
    const char *job_id;
    uint64_t processors;
    double start_s;
};

struct wait {
    const char *job_id;
    uint64_t processors;
    double estimated_start_s;
    int reason;
    const char *detail;
    const char *blocking_job_id, *blocking_reservation_id;
    double until_s;
};

struct unplaced_reason {
    const char *reason, *detail;
};

struct unplaced {
    const char *job_id;
    const struct unplaced_reason *reasons;
    size_t reason_count;
};

struct objective {
    double makespan_s, lower_bound_s, gap_ratio;
    double mean_wait_s; /* of all jobs that will run */
    uint64_t free_processors;
};

struct queue_orders_answer {
    struct decision_answer decision;
    const char *site_id;
    const struct start *starts;
    size_t start_count;
    const struct wait *waiting;
    size_t waiting_count;
    const struct unplaced *unplaced;
    size_t unplaced_count;
    struct objective objective;
};

#define T struct start
static const struct json_field start_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "Processors that it gets"),
    JSON_NUMBER(T, start_s, 0, 0, 0, 0, "now_s"),
    {0},
};
#undef T
static const struct json_object start_json = {"QueueStart", "A job that starts now",
                                              sizeof(struct start), start_rows};

#define T struct wait
static const struct json_field wait_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "Processors that it needs"),
    JSON_NUMBER(T, estimated_start_s, 0, 0, 0, 0,
                "When it starts if all estimates hold and nobody else comes; null: the "
                "time limit was up"),
    JSON_CHOICE(
        T, reason, queue_reason_names, 0, 0,
        "processors: too few are free; reservation: it would run into one; order: "
        "nobody overtakes the first job; would_delay: it would delay a job that "
        "is before it"),
    JSON_TEXT(T, detail, 0, "The same in words"),
    JSON_TEXT(T, blocking_job_id, JSON_OPTIONAL,
              "Who is in the way: a running job that must end, one that starts now, or "
              "one that is before it in the queue"),
    JSON_TEXT(T, blocking_reservation_id, JSON_OPTIONAL, "Likewise a reservation"),
    JSON_NUMBER(T, until_s, 0, 0, 0, JSON_OPTIONAL,
                "processors: when enough are free; else when the one in the way begins"),
    {0},
};
#undef T
static const struct json_object wait_json = {"QueueWait", "A job that waits, and why",
                                             sizeof(struct wait), wait_rows};

#define T struct unplaced_reason
static const struct json_field unplaced_reason_rows[] = {
    JSON_TEXT(T, reason, 0, "never_fits"),
    JSON_TEXT(T, detail, 0, "In words"),
    {0},
};
#undef T
static const struct json_object unplaced_reason_json = {
    "QueueUnplacedReason", "Why a job can never run", sizeof(struct unplaced_reason),
    unplaced_reason_rows};

#define T struct unplaced
static const struct json_field unplaced_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_LIST(T, reasons, reason_count, struct unplaced_reason, &unplaced_reason_json, 0,
              0, "Why"),
    {0},
};
#undef T
static const struct json_object unplaced_json = {
    "QueueUnplaced", "A job that can never run", sizeof(struct unplaced), unplaced_rows};

#define T struct objective
static const struct json_field objective_rows[] = {
    JSON_NUMBER(T, makespan_s, 0, 0, 0, 0, "Until the last of all jobs ends, from now"),
    JSON_NUMBER(T, lower_bound_s, 0, 0, 0, 0, "No order of these jobs ends before"),
    JSON_NUMBER(T, gap_ratio, 0, 0, 0, 0, "makespan_s / lower_bound_s - 1"),
    JSON_NUMBER(T, mean_wait_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Mean time from now to the (estimated) start of the jobs; null: none"),
    JSON_INTEGER(T, free_processors, 0, JSON_EXACT, 0, 0,
                 "Processors that stay free now"),
    {0},
};
#undef T
static const struct json_object objective_json = {
    "QueueObjective", "How good the order is", sizeof(struct objective), objective_rows};

#define T struct queue_orders_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T),
    JSON_TEXT(T, site_id, JSON_OPTIONAL, "The cluster, if the request named it"),
    JSON_LIST(T, starts, start_count, struct start, &start_json, 0, 0,
              "Jobs that start now, in the order of the queue"),
    JSON_LIST(T, waiting, waiting_count, struct wait, &wait_json, 0, 0,
              "Jobs that wait, in the order of the queue"),
    JSON_LIST(T, unplaced, unplaced_count, struct unplaced, &unplaced_json, 0, 0,
              "Jobs that can never run"),
    JSON_OBJECT(T, objective, struct objective, &objective_json, 0,
                "How good it is, as far as the estimates hold"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object queue_orders_answer_json = {
    "QueueOrdersAnswer", "Who starts, and what the others wait for",
    sizeof(struct queue_orders_answer), answer_rows};

/* ---- deciding ---- */

/* The lists without names. */
static enum error_code make_input(const struct queue_orders_request *body,
                                  struct queue_in *in, struct arena *a, struct error *err)
{
    struct queue_job *jobs = NEW(a, struct queue_job, body->job_count);
    struct queue_running *running = NEW(a, struct queue_running, body->running_count);
    struct queue_reservation *reservations =
        NEW(a, struct queue_reservation, body->reservation_count);

    if (!jobs || !running || !reservations)
        return fail_memory(err);
    for (size_t i = 0; i < body->job_count; i++)
        jobs[i] = body->jobs[i].job;
    for (size_t i = 0; i < body->running_count; i++)
        running[i] = body->running[i].running;
    for (size_t i = 0; i < body->reservation_count; i++)
        reservations[i] = body->reservations[i].reservation;
    *in = (struct queue_in){
        .now_s = body->now_s,
        .processors = body->processors,
        .jobs = jobs,
        .job_count = body->job_count,
        .running = running,
        .running_count = body->running_count,
        .reservations = reservations,
        .reservation_count = body->reservation_count,
    };
    return OK;
}

static void find_policy(const char *name, const struct queue_policy **policy,
                        struct error *err)
{
    const char *names[NAMES_MAX];
    size_t count = 0;

    if (!name || strcmp(name, "auto") == 0)
        name = "easy";
    *policy = queue_policy_find(name);
    for (; queue_policies[count].name && count < NAMES_MAX; count++)
        names[count] = queue_policies[count].name;
    if (!*policy)
        decision_unknown_algorithm(name, names, count, err);
}

/* ---- telling it ---- */

/* An answer while it is made. */
struct telling {
    struct request *rq;
    const struct queue_orders_request *body;
    const struct queue_out *out;
    struct queue_orders_answer *answer;
    struct start *starts; /* the answer's, while they are filled */
    struct wait *waiting;
    struct unplaced *unplaced;
};

/* "job j7 ends", as far as it is known who is in the way. */
static const char *describe(const struct telling *t, const struct queue_verdict *v)
{
    const char *verb = v->reason == QUEUE_REASON_PROCESSORS ? "ends" : "begins";

    if (v->by == QUEUE_BY_RESERVATION)
        return arena_printf(t->rq->arena, "reservation %s %s",
                            t->body->reservations[v->blocker].id, verb);
    return arena_printf(t->rq->arena, "job %s %s",
                        v->by == QUEUE_BY_RUNNING ? t->body->running[v->blocker].id
                                                  : t->body->jobs[v->blocker].id,
                        v->reason == QUEUE_REASON_PROCESSORS ? verb : "is to start");
}

static const char *detail_of(const struct telling *t, const struct queue_verdict *v,
                             uint64_t processors)
{
    const char *who = v->by == QUEUE_NOTHING ? "" : describe(t, v);
    struct arena *a = t->rq->arena;

    if (!who)
        return NULL;
    if (v->reason == QUEUE_REASON_PROCESSORS)
        return arena_printf(a, "needs %llu processors, %llu are free until %s at %.15g",
                            (unsigned long long)processors,
                            (unsigned long long)t->out->free_processors, who, v->until_s);
    if (v->reason == QUEUE_REASON_RESERVATION)
        return arena_printf(a, "would still run when %s at %.15g", who, v->until_s);
    if (v->reason == QUEUE_REASON_ORDER)
        return arena_printf(a, "would overtake: %s first, at %.15g", who, v->until_s);
    return arena_printf(a, "would take processors that are kept until %s at %.15g", who,
                        v->until_s);
}

static enum error_code tell_wait(struct telling *t, size_t job)
{
    const struct queue_verdict *v = &t->out->verdicts[job];
    const struct waiting_job *j = &t->body->jobs[job];
    struct wait *w = &t->waiting[t->answer->waiting_count++];

    *w = (struct wait){
        .job_id = j->id,
        .processors = j->job.processors,
        .estimated_start_s = v->start_s,
        .reason = (int)v->reason,
        .detail = detail_of(t, v, j->job.processors),
        .until_s = v->until_s,
    };
    if (v->by == QUEUE_BY_RESERVATION)
        w->blocking_reservation_id = t->body->reservations[v->blocker].id;
    else if (v->by == QUEUE_BY_RUNNING)
        w->blocking_job_id = t->body->running[v->blocker].id;
    else if (v->by == QUEUE_BY_JOB)
        w->blocking_job_id = t->body->jobs[v->blocker].id;
    return w->detail ? OK : fail_memory(t->rq->err);
}

static enum error_code tell_unplaced(struct telling *t, size_t job)
{
    const struct waiting_job *j = &t->body->jobs[job];
    struct unplaced_reason *reason = NEW(t->rq->arena, struct unplaced_reason, 1);
    struct unplaced *u = &t->unplaced[t->answer->unplaced_count++];

    if (!reason)
        return fail_memory(t->rq->err);
    reason->reason = queue_reason_names[QUEUE_REASON_NEVER_FITS];
    reason->detail = arena_printf(
        t->rq->arena, "needs %llu processors, the cluster has %llu",
        (unsigned long long)j->job.processors, (unsigned long long)t->body->processors);
    *u = (struct unplaced){j->id, reason, 1};
    return reason->detail ? OK : fail_memory(t->rq->err);
}

static enum error_code tell_all(struct telling *t)
{
    const struct queue_out *out = t->out;
    struct queue_orders_answer *answer = t->answer;
    size_t count = t->body->job_count;

    answer->starts = t->starts = NEW(t->rq->arena, struct start, count);
    answer->waiting = t->waiting = NEW(t->rq->arena, struct wait, count);
    answer->unplaced = t->unplaced = NEW(t->rq->arena, struct unplaced, count);
    if (!t->starts || !t->waiting || !t->unplaced)
        return fail_memory(t->rq->err);
    for (size_t i = 0; i < count; i++) {
        size_t job = out->order[i];
        const struct queue_verdict *v = &out->verdicts[job];

        if (v->reason == QUEUE_REASON_NEVER_FITS)
            TRY(tell_unplaced(t, job));
        else if (v->reason != QUEUE_REASON_STARTS)
            TRY(tell_wait(t, job));
        else
            t->starts[answer->start_count++] = (struct start){
                t->body->jobs[job].id, t->body->jobs[job].job.processors, t->body->now_s};
    }
    return OK;
}

static void tell_objective(struct telling *t)
{
    const struct queue_out *out = t->out;
    double wait_s = 0, count = 0;

    for (size_t i = 0; i < t->body->job_count; i++) {
        if (isnan(out->verdicts[i].start_s))
            continue;
        wait_s += out->verdicts[i].start_s - t->body->now_s;
        count++;
    }
    t->answer->objective = (struct objective){
        .makespan_s = out->makespan_s,
        .lower_bound_s = out->lower_bound_s,
        .gap_ratio = out->lower_bound_s > 0
                         ? fmax(0, out->makespan_s / out->lower_bound_s - 1)
                         : 0,
        .mean_wait_s = count > 0 ? wait_s / count : (double)NAN,
        .free_processors = out->free_processors,
    };
    if (t->answer->unplaced_count)
        metrics_unplaced(t->rq->service->metrics,
                         queue_reason_names[QUEUE_REASON_NEVER_FITS],
                         t->answer->unplaced_count);
    t->rq->gap_ratio = t->answer->objective.gap_ratio;
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

enum error_code post_queue_orders(struct request *rq, const void *in, void *out)
{
    const struct queue_orders_request *body = in;
    struct queue_orders_answer *answer = out;
    const struct queue_policy *policy;
    struct queue_out decided;
    struct telling t = {.rq = rq, .body = body, .out = &decided, .answer = answer};
    struct queue_in queue;
    enum error_code code;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    find_policy(body->decision.algorithm, &policy, rq->err);
    params_bind(NULL, body->decision.options, body->decision.option_count, NULL, rq->err);
    TRY(make_input(body, &queue, rq->arena, rq->err));
    code = queue_check(&queue, rq->arena, rq->err);
    if (code != OK || !policy)
        return rq->err->code;
    TRY(rq->err->code);
    queue.budget = &rq->budget;
    TRY(queue_decide(policy, &queue, &decided, rq->arena, rq->err));
    answer->site_id = body->site_id;
    TRY(tell_all(&t));
    tell_objective(&t);
    decision_end(rq, policy->name, status_of(answer, &decided), &answer->decision);
    return picture_answer(rq, answer);
}
