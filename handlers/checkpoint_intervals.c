/* checkpoint_intervals.c - POST /v1/checkpoint-intervals: when to checkpoint jobs. */
#include "handlers/checkpoint_intervals.h"

#include "algorithms/checkpoint/checkpoint.h"
#include "handlers/decision.h"

#include <string.h>

enum { JOBS_MAX = 100000 };

struct checkpoint_job {
    const char *id;
    struct checkpoint_in in;
};

struct checkpoint_interval {
    const char *job_id;
    struct checkpoint_out out;
};

struct checkpoint_intervals_request {
    struct decision_request decision;
    const struct checkpoint_job *jobs;
    size_t job_count;
};

struct checkpoint_intervals_answer {
    struct decision_answer decision;
    const struct checkpoint_interval *intervals;
    size_t interval_count;
};

#define T struct checkpoint_job
#define JOB_SECONDS(m, lo, dflt, flag, text)                          \
    {                                                                 \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER, .min = lo, \
        .max = CHECKPOINT_LONGEST_S, .preset = dflt, .flags = flag,   \
        .offset = JSON_AT(T, in.m, double)                            \
    }
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JOB_SECONDS(checkpoint_overhead_s, 0, NAN, JSON_REQUIRED,
                "How long the job stands still for one checkpoint"),
    JOB_SECONDS(mean_failure_interval_s, CHECKPOINT_SHORTEST_S, NAN, JSON_REQUIRED,
                "Mean time between failures of the resource that runs it"),
    JOB_SECONDS(restart_s, 0, 0, 0,
                "Time to fetch a checkpoint after a failure; default 0"),
    JOB_SECONDS(execution_time_s, 0, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Run time of the whole job without failures and checkpoints"),
    {0},
};
#undef JOB_SECONDS
#undef T
static const struct json_object job_json = {"CheckpointJob",
                                            "A job, and how often its resource fails",
                                            sizeof(struct checkpoint_job), job_rows};

#define T struct checkpoint_intervals_request
static const struct json_field request_rows[] = {
    DECISION_REQUEST_ROWS(T),
    JSON_LIST(T, jobs, job_count, struct checkpoint_job, &job_json, JOBS_MAX,
              JSON_REQUIRED | JSON_UNIQUE_IDS, "Jobs to checkpoint"),
    {0},
};
#undef T
const struct json_object checkpoint_intervals_request_json = {
    "CheckpointIntervalsRequest", "Jobs to checkpoint",
    sizeof(struct checkpoint_intervals_request), request_rows};

#define T struct checkpoint_interval
#define OUT_NUMBER(m, flag, text)                          \
    {                                                      \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER, \
        .offset = JSON_AT(T, out.m, double), .flags = flag \
    }
static const struct json_field interval_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    OUT_NUMBER(interval_s, 0,
               "Work from the end of a checkpoint, or the start, to the next request"),
    {.name = "at_minimum",
     .doc = "The interval was raised to options.min_interval_s",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, out.at_minimum, bool)},
    OUT_NUMBER(expected_time_ratio, 0,
               "Expected time per second of work, failures included; null: without end"),
    OUT_NUMBER(waste_ratio, 0, "Share of that time that is no work"),
    OUT_NUMBER(gap_ratio, 0,
               "expected_time_ratio over the least that any interval gives, less 1"),
    OUT_NUMBER(checkpoint_count, JSON_OPTIONAL,
               "Checkpoints on a run without failures, if execution_time_s is known"),
    OUT_NUMBER(expected_completion_s, JSON_OPTIONAL,
               "Expected time from start to end, if execution_time_s is known"),
    {0},
};
#undef OUT_NUMBER
#undef T
static const struct json_object interval_json = {
    "CheckpointInterval", "How long a job runs between checkpoints",
    sizeof(struct checkpoint_interval), interval_rows};

#define T struct checkpoint_intervals_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T),
    JSON_LIST(T, intervals, interval_count, struct checkpoint_interval, &interval_json, 0,
              0, "One for each job, in the order of the request"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object checkpoint_intervals_answer_json = {
    "CheckpointIntervalsAnswer", "Checkpoint intervals and what they mean",
    sizeof(struct checkpoint_intervals_answer), answer_rows};

/* NULL after noting the mistake. */
static const struct checkpoint_policy *find_policy(const char *name, struct error *err)
{
    enum { NAMES_MAX = 32 };
    const struct checkpoint_policy *policy;
    const char *names[NAMES_MAX];
    size_t count = 0;

    if (!name || strcmp(name, "auto") == 0)
        return checkpoint_policy_find("exact");
    policy = checkpoint_policy_find(name);
    if (policy)
        return policy;
    for (; checkpoint_policies[count].name && count < NAMES_MAX; count++)
        names[count] = checkpoint_policies[count].name;
    decision_unknown_algorithm(name, names, count, err);
    return NULL;
}

/* A warning when some jobs can hardly get on. */
static enum error_code warn_hopeless(const struct checkpoint_intervals_request *body,
                                     struct request *rq, struct decision_answer *answer)
{
    size_t count = 0, first = 0;
    const char **warnings;

    for (size_t i = body->job_count; i-- > 0;) {
        const struct checkpoint_in *in = &body->jobs[i].in;

        if (in->checkpoint_overhead_s >= in->mean_failure_interval_s) {
            count++;
            first = i;
        }
    }
    if (count == 0)
        return OK;
    warnings = NEW(rq->arena, const char *, 1);
    if (!warnings)
        return fail_memory(rq->err);
    warnings[0] = arena_printf(
        rq->arena,
        "hopeless: %zu job(s), first '%.256s', take as long for a checkpoint as their "
        "resource runs between failures",
        count, body->jobs[first].id);
    if (!warnings[0])
        return fail_memory(rq->err);
    answer->warnings = warnings;
    answer->warning_count = 1;
    return OK;
}

enum error_code post_checkpoint_intervals(struct request *rq, const void *in, void *out)
{
    const struct checkpoint_intervals_request *body = in;
    struct checkpoint_intervals_answer *answer = out;
    const struct checkpoint_policy *policy;
    struct checkpoint_interval *intervals;
    double param[PARAMS_MAX];

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    policy = find_policy(body->decision.algorithm, rq->err);
    if (!policy)
        return rq->err->code;
    TRY(params_bind(policy->params, body->decision.options, body->decision.option_count,
                    param, rq->err));
    intervals = NEW(rq->arena, struct checkpoint_interval, body->job_count);
    if (!intervals)
        return fail_memory(rq->err);
    for (size_t i = 0; i < body->job_count; i++) {
        intervals[i].job_id = body->jobs[i].id;
        TRY(checkpoint_decide(policy, &body->jobs[i].in, param, &intervals[i].out,
                              rq->err));
    }
    TRY(warn_hopeless(body, rq, &answer->decision));
    answer->intervals = intervals;
    answer->interval_count = body->job_count;
    decision_end(rq, policy->name, DECISION_FEASIBLE, &answer->decision);
    return OK;
}
