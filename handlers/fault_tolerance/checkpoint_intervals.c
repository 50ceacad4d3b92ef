/* checkpoint_intervals.c - POST /v1/checkpoint-intervals: when to checkpoint jobs. */
#include "handlers/fault_tolerance/routes.h"

#include "algorithms/checkpoint/checkpoint.h"
#include "handlers/common/decision.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/fault_tolerance/checkpoint_costs.h"
#include "handlers/fault_tolerance/checkpoint_render.h"
#include "handlers/prediction/resource_histories.h"

#include <stdio.h>
#include <string.h>

enum { JOBS_MAX = 100000, TOOLS_MAX = 16, UNUSED_MAX = 16, WARNINGS_MAX = 48 };

/* A gap_ratio of a job that ends that is worth a warning. */
#define FEW_INTERVALS_GAP 0.01

/* Settings below it are worth one, too. */
#define INTERVAL_SHORT_S 10.0

enum checkpoint_event { EVENT_REQUEST, EVENT_START };
static const char *const events[] = {"request", "start", NULL};

struct checkpoint_job {
    const char *id;
    const char *resource_id, *application_id; /* NULL: not said */
    const char *const *resource_ids;          /* of the nodes of a job on several */
    size_t resource_count;
    double nodes; /* NAN: not said */
    enum checkpoint_event event;
    double length_mi, completed_mi;                /* NAN: not said */
    double checkpoint_bytes, checkpoint_latency_s; /* NAN: not said */
    struct checkpoint_in in;
};

/* NAN: has no part in the decision. */
struct checkpoint_basis {
    double failures, observed_s;
    double checkpoint_logs, checkpoint_overhead_s, checkpoint_latency_s, restart_s;
    double failure_count, at_risk_s, nodes;
    const char *prior_scope; /* NULL: none */
    double prior_shape, prior_rate_s;
};

struct checkpoint_segments {
    double count, first_s, middle_s, last_s; /* NAN: there is none */
};

struct checkpoint_interval {
    const char *job_id;
    const char *gap_basis, *bound_basis; /* NULL: none */
    const struct checkpoint_segments *segments;
    struct checkpoint_out out;
    double execution_time_s, remaining_s, failure_age_s, mean_failure_interval_s;
    double low_s, high_s; /* of the latter, at 95 %; NAN: not from a stored history */
    const struct checkpoint_basis *basis;
    const struct checkpoint_rendered *rendered;
};

struct checkpoint_intervals_request {
    struct decision_request decision;
    double now_s;
    const struct snapshot *snapshot;
    const char *snapshot_id;
    const char *const *render;
    size_t render_count;
    const struct checkpoint_job *jobs;
    size_t job_count;
};

struct checkpoint_intervals_answer {
    struct decision_answer decision;
    const struct checkpoint_interval *intervals;
    size_t interval_count;
};

enum { NODES_MAX = 100000 };

#define OVERHEAD_DOC "How long the job stands still for one checkpoint"

#define T            struct checkpoint_job
#define JOB_SECONDS(m, lo, dflt, flag, text)                          \
    {                                                                 \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER, .min = lo, \
        .max = CHECKPOINT_LONGEST_S, .preset = dflt, .flags = flag,   \
        .offset = JSON_AT(T, in.m, double)                            \
    }
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JOB_SECONDS(checkpoint_overhead_s, 0, NAN, JSON_NULLABLE,
                OVERHEAD_DOC "; default: the mean of the checkpoint logs of its "
                             "application_id"),
    JSON_ID(T, application_id, JSON_NULLABLE,
            "What it runs: tells what checkpoints cost if checkpoint_overhead_s is left "
            "out"),
    JOB_SECONDS(mean_failure_interval_s, CHECKPOINT_SHORTEST_S, NAN, JSON_NULLABLE,
                "Mean time between failures of the resource that runs it, or of one of "
                "its nodes; default: from the resource's history"),
    JOB_SECONDS(restart_s, 0, NAN, JSON_NULLABLE,
                "Time to fetch a checkpoint after a failure; default: from the logs if "
                "the overhead is, else checkpoint_latency_s"),
    JOB_SECONDS(restart_from_scratch_s, 0, 0, 0,
                "The same where there is no checkpoint yet; default 0"),
    JOB_SECONDS(reschedule_delay_s, 0, 0, 0,
                "From a failure until the job is on its nodes again, a time in which "
                "nothing fails; default 0"),
    JOB_SECONDS(work_since_checkpoint_s, 0, NAN, JSON_NULLABLE,
                "Work since the last checkpoint, or the start; default: interval_cur_s. "
                "More than that of the job is done: there is a checkpoint"),
    JOB_SECONDS(execution_time_s, 0, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Run time of the whole job without failures and checkpoints; default: "
                "from length_mi and the resource's speed"),
    JSON_ID(T, resource_id, JSON_NULLABLE,
            "The resource that runs it: of the snapshot, or with a stored history"),
    JSON_TEXTS(T, resource_ids, resource_count, NODES_MAX, 0,
               "The nodes of a job that runs on several, each a resource: a failure of "
               "any of them ends all of it"),
    JSON_NUMBER(T, nodes, 1, NODES_MAX, NAN, JSON_NULLABLE,
                "So many nodes, each as mean_failure_interval_s or the resource_id says; "
                "default 1"),
    JSON_CHOICE(T, event, events, EVENT_REQUEST, 0,
                "request: its interval has run out; start: it starts now, when is the "
                "first request? default request"),
    JSON_NUMBER(T, length_mi, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Work of the whole job: 1 takes a second at 1 MIPS"),
    JSON_NUMBER(T, completed_mi, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "What of it is done; default 0"),
    JOB_SECONDS(remaining_s, 0, NAN, JSON_NULLABLE,
                "Run time that remains; default: from completed_mi"),
    JOB_SECONDS(execution_time_upper_s, 0, NAN, JSON_NULLABLE,
                "Upper quantile of an uncertain execution_time_s: last_failure uses it"),
    JOB_SECONDS(remaining_upper_s, 0, NAN, JSON_NULLABLE,
                "Upper quantile of an uncertain remaining_s: mean_failure uses it"),
    JOB_SECONDS(failure_age_s, 0, NAN, JSON_NULLABLE,
                "Time since the resource's last failure; default: from its history"),
    JOB_SECONDS(uptime_s, 0, NAN, JSON_NULLABLE,
                "Time since the resource was restored; default: from its history"),
    JOB_SECONDS(initial_interval_s, CHECKPOINT_SHORTEST_S, NAN, JSON_NULLABLE,
                "Interval that was chosen for this job; default: the option"),
    JOB_SECONDS(interval_cur_s, CHECKPOINT_SHORTEST_S, NAN, JSON_NULLABLE,
                "interval_s of the last answer; default: initial_interval_s"),
    {.name = "consecutive_omissions",
     .doc = "The same of the last answer; default 0",
     .type = JSON_TYPE_INTEGER,
     .max = 1e15,
     .offset = JSON_AT(T, in.consecutive_omissions, uint64_t)},
    JSON_NUMBER(T, checkpoint_bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Size of a checkpoint, which goes to the snapshot's home site"),
    JSON_NUMBER(T, checkpoint_latency_s, 0, CHECKPOINT_LONGEST_S, NAN, JSON_NULLABLE,
                "From the end of the overhead until the checkpoint is safe; default: "
                "from the logs if the overhead is, else checkpoint_bytes over the "
                "snapshot's network, else 0"),
    {0},
};
#undef JOB_SECONDS
#undef T
_Static_assert(sizeof(enum checkpoint_event) == sizeof(int), "a choice is an int");
static const struct json_object job_json = {"CheckpointJob",
                                            "A job, and how often its resource fails",
                                            sizeof(struct checkpoint_job), job_rows};

#define T struct checkpoint_intervals_request
static const struct json_field request_rows[] = {
    DECISION_REQUEST_ROWS(T),
    JSON_LIST(T, jobs, job_count, struct checkpoint_job, &job_json, JOBS_MAX,
              JSON_REQUIRED | JSON_UNIQUE_IDS, "Jobs to checkpoint"),
    JSON_NUMBER(T, now_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "The present, in seconds on the scale of the histories (stored ones: "
                "since 1970); default: the snapshot's taken_at, else the clock"),
    JSON_OBJECT(T, snapshot, const struct snapshot *, &snapshot_json, JSON_POINTER,
                "The resources, with their histories as far as the caller knows them"),
    JSON_ID(T, snapshot_id, JSON_NULLABLE, "A stored snapshot instead"),
    JSON_TEXTS(T, render, render_count, TOOLS_MAX, 0,
               "Tools to write settings for: dmtcp, fti, scr, slurm, veloc"),
    {0},
};
#undef T
const struct json_object checkpoint_intervals_request_json = {
    "CheckpointIntervalsRequest", "Jobs to checkpoint",
    sizeof(struct checkpoint_intervals_request), request_rows};

#define T struct checkpoint_basis
static const struct json_field basis_rows[] = {
    JSON_NUMBER(T, failures, 0, 0, 0, JSON_OPTIONAL, "Failures of its resource seen"),
    JSON_NUMBER(T, observed_s, 0, 0, 0, JSON_OPTIONAL, "Time in which they were seen"),
    JSON_NUMBER(T, checkpoint_logs, 0, 0, 0, JSON_OPTIONAL,
                "Checkpoint logs of its application that the next three are means of"),
    JSON_NUMBER(T, checkpoint_overhead_s, 0, 0, 0, JSON_OPTIONAL,
                "Overhead of a checkpoint, as it was used"),
    JSON_NUMBER(T, checkpoint_latency_s, 0, 0, 0, JSON_OPTIONAL,
                "From then until a checkpoint was safe, if it is logged"),
    JSON_NUMBER(T, restart_s, 0, 0, 0, JSON_OPTIONAL,
                "Time of a restart, if it is logged"),
    JSON_NUMBER(T, failure_count, 0, 0, 0, JSON_OPTIONAL,
                "Stored failures that the mean failure interval comes from: without one "
                "that began the history"),
    JSON_NUMBER(T, at_risk_s, 0, 0, 0, JSON_OPTIONAL,
                "Time in which they were seen, less that in which it was down"),
    JSON_NUMBER(T, nodes, 0, 0, 0, JSON_OPTIONAL, "Nodes that the figures are sums over"),
    JSON_TEXT(T, prior_scope, JSON_OPTIONAL,
              "Other hosts that tell of it: site or all; left out: none"),
    JSON_NUMBER(T, prior_shape, 0, 0, 0, JSON_OPTIONAL,
                "Shape of the Gamma distribution of their rates"),
    JSON_NUMBER(T, prior_rate_s, 0, 0, 0, JSON_OPTIONAL, "Its rate"),
    {0},
};
#undef T
static const struct json_object basis_json = {
    "CheckpointBasis", "The history and the logs that a decision rests on",
    sizeof(struct checkpoint_basis), basis_rows};

#define T struct checkpoint_segments
static const struct json_field segments_rows[] = {
    JSON_NUMBER(T, count, 0, 0, 0, 0, "Number of segments, one more than checkpoints"),
    JSON_NUMBER(T, first_s, 0, 0, 0, 0, "Work in the first"),
    JSON_NUMBER(T, middle_s, 0, 0, 0, JSON_OPTIONAL,
                "Work in each in between; left out: there is none"),
    JSON_NUMBER(T, last_s, 0, 0, 0, JSON_OPTIONAL,
                "Work in the last, which saves its checkpoint; left out: there is one "
                "segment"),
    {0},
};
#undef T
static const struct json_object segments_json = {
    "CheckpointSegments", "How the work of a job is cut",
    sizeof(struct checkpoint_segments), segments_rows};

#define T struct checkpoint_interval
#define OUT_NUMBER(m, flag, text)                          \
    {                                                      \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER, \
        .offset = JSON_AT(T, out.m, double), .flags = flag \
    }
#define OUT_CHOICE(m, ctype, names, text)                                    \
    {                                                                        \
        .name = #m, .doc = text, .type = JSON_TYPE_CHOICE, .choices = names, \
        .offset = JSON_AT(T, out.m, ctype)                                   \
    }
static const struct json_field interval_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    OUT_NUMBER(interval_s, JSON_MAY_BE_NULL,
               "Work from the end of a checkpoint, or the start, to the next request; "
               "null: never"),
    {.name = "at_minimum",
     .doc = "The interval was raised to the shortest that is allowed",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, out.at_minimum, bool)},
    OUT_CHOICE(action, enum checkpoint_action, checkpoint_action_names,
               "What to do now; none: the job starts, or never checkpoints"),
    OUT_CHOICE(reason, enum checkpoint_reason, checkpoint_reason_names, "Why"),
    OUT_NUMBER(next_request_in_s, JSON_MAY_BE_NULL,
               "Time to the next request, from the end of the checkpoint if it is taken, "
               "else from now; null: none"),
    {.name = "consecutive_omissions",
     .doc = "Requests omitted since the last checkpoint; goes into the next request",
     .type = JSON_TYPE_INTEGER,
     .max = JSON_EXACT,
     .offset = JSON_AT(T, out.consecutive_omissions, uint64_t)},
    OUT_NUMBER(expected_time_ratio, JSON_MAY_BE_NULL,
               "Expected time per second of work of a job without an end, failures "
               "included; null: without end, or failures not known"),
    OUT_NUMBER(waste_ratio, JSON_MAY_BE_NULL,
               "Share of expected_completion_s that is no work, if that is known, else "
               "of that time; null: not known"),
    OUT_NUMBER(gap_ratio, JSON_MAY_BE_NULL,
               "What interval_s costs over the least that any checkpoints give, less 1: "
               "by gap_basis; null: not known"),
    JSON_TEXT(
        T, gap_basis, JSON_OPTIONAL,
        "finite: expected_completion_s over best_completion_s; endless: "
        "expected_time_ratio over its least, for a job whose end is not known; left "
        "out: no gap_ratio"),
    OUT_NUMBER(checkpoint_count, JSON_OPTIONAL,
               "Checkpoints on a run without failures, if execution_time_s is known"),
    OUT_NUMBER(expected_completion_s, JSON_OPTIONAL,
               "Expected time from start to end with a checkpoint after each interval_s "
               "of work, or by segments, if execution_time_s is known"),
    OUT_NUMBER(best_completion_s, JSON_OPTIONAL,
               "The least that any checkpoints give under a constant failure rate, "
               "likewise"),
    OUT_NUMBER(best_checkpoint_count, JSON_OPTIONAL, "With so many checkpoints"),
    {.name = "lower_bound_s",
     .doc = "No checkpoints end sooner in the mean",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, out.best_completion_s, double),
     .flags = JSON_OPTIONAL},
    JSON_TEXT(T, bound_basis, JSON_OPTIONAL,
              "closed_form: the optimum of a constant failure rate"),
    JSON_OBJECT(T, segments, const struct checkpoint_segments *, &segments_json,
                JSON_POINTER | JSON_OPTIONAL,
                "Work between the checkpoints of the whole job; algorithm finite"),
    JSON_NUMBER(T, execution_time_s, 0, 0, 0, JSON_OPTIONAL,
                "Run time of the whole job, as it was used"),
    JSON_NUMBER(T, remaining_s, 0, 0, 0, JSON_OPTIONAL, "Run time that remains"),
    JSON_NUMBER(T, failure_age_s, 0, 0, 0, JSON_OPTIONAL,
                "Time since the resource's last failure, or since it is observed"),
    JSON_NUMBER(T, mean_failure_interval_s, 0, 0, 0, JSON_OPTIONAL,
                "Mean time between failures, as it was used"),
    {.name = "mean_failure_interval_low_s",
     .doc = "In the range from this it lies at 95 %; with a stored history",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, low_s, double),
     .flags = JSON_OPTIONAL},
    {.name = "mean_failure_interval_high_s",
     .doc = "... to this",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, high_s, double),
     .flags = JSON_OPTIONAL},
    JSON_OBJECT(T, basis, const struct checkpoint_basis *, &basis_json,
                JSON_POINTER | JSON_OPTIONAL,
                "The history of its resource, and the logs of its application"),
    JSON_OBJECT(T, rendered, const struct checkpoint_rendered *,
                &checkpoint_rendered_json, JSON_POINTER | JSON_OPTIONAL,
                "Settings of the tools in render"),
    {0},
};
#undef OUT_CHOICE
#undef OUT_NUMBER
#undef T
_Static_assert(sizeof(enum checkpoint_action) == sizeof(int), "a choice is an int");
_Static_assert(sizeof(enum checkpoint_reason) == sizeof(int), "a choice is an int");
static const struct json_object interval_json = {
    "CheckpointInterval", "What to do now, and how long a job runs between checkpoints",
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
    "CheckpointIntervalsAnswer", "Checkpoint decisions and what they mean",
    sizeof(struct checkpoint_intervals_answer), answer_rows};

/* ---- one request ---- */

/* Jobs that a warning is about. */
struct affected {
    size_t count;
    const char *first_id;
    const struct checkpoint_job *last; /* a job counts once, whatever its nodes */
};

struct work {
    struct request *rq;
    const struct checkpoint_intervals_request *body;
    const struct policy *policy;
    double param[PARAMS_MAX];
    const struct snapshot *snapshot;
    struct resource_histories histories; /* list NULL: no job names a resource */
    struct checkpoint_costs costs;       /* of the jobs that do not say the overhead */
    struct name_index links;             /* key NULL: no checkpoint has a way to go */
    struct affected hopeless, raised, too_short, unknown;
    struct affected floor, few_intervals, slurm, very_short, rounded;
    bool is_unproved; /* policy finite: of a job the plan could not be shown to be best */
    struct affected start_unknown, ended, outside, cut, few, floored, wide;
    const char *warnings[WARNINGS_MAX];
    size_t warning_count;
};

/* Of every job it is known how long it is. */
static bool all_end(const struct checkpoint_intervals_request *body)
{
    bool has_speeds = body->snapshot || body->snapshot_id;

    for (size_t i = 0; i < body->job_count; i++) {
        const struct checkpoint_job *job = &body->jobs[i];

        if (isnan(job->in.execution_time_s) &&
            (isnan(job->length_mi) || !job->resource_id || !has_speeds))
            return false;
    }
    return true;
}

/* NULL after noting the mistake. */
static const struct policy *find_policy(const struct checkpoint_intervals_request *body,
                                        struct error *err)
{
    const char *name = body->decision.algorithm;
    const struct policy *policy;

    if (!name || strcmp(name, "auto") == 0)
        return policy_find(checkpoint_policies, all_end(body) ? "finite" : "exact");
    policy = policy_find(checkpoint_policies, name);
    if (!policy)
        decision_unknown_policy(name, checkpoint_policies, err);
    return policy;
}

/* An option that the policy does not read is no mistake: a request can change its
 * policy and nothing else. But it is said. */
static void warn_unused(struct work *w, const char *name)
{
    size_t index = 0;

    while (index < CHECKPOINT_PARAM_COUNT &&
           strcmp(w->policy->params[index].name, name) != 0)
        index++;
    if (index == CHECKPOINT_PARAM_COUNT || checkpoint_reads_option(w->policy, index))
        return;
    if (w->warning_count == UNUSED_MAX)
        return;
    w->warnings[w->warning_count++] = arena_printf(
        w->rq->arena, "option_unused: /options/%.64s has no part in algorithm %s", name,
        w->policy->name);
}

/* An option that is null is not set. */
static enum error_code bind_options(struct work *w)
{
    const struct decision_request *decision = &w->body->decision;
    struct named_value *given =
        NEW(w->rq->arena, struct named_value, decision->option_count);
    size_t count = 0;

    for (size_t i = 0; i < decision->option_count; i++)
        if (decision->options[i].type != VALUE_UNDEFINED)
            given[count++] = decision->options[i];
    for (size_t i = 0; i < count; i++)
        warn_unused(w, given[i].name);
    return params_bind(w->policy->params, given, count, w->param, w->rq->err);
}

static void affect(struct affected *jobs, const struct checkpoint_job *job)
{
    if (jobs->last == job)
        return;
    jobs->last = job;
    if (jobs->count++ == 0)
        jobs->first_id = job->id;
}

static enum error_code warn(struct work *w, const struct affected *jobs, const char *code,
                            const char *what)
{
    const char *text;

    if (jobs->count == 0)
        return OK;
    text = arena_printf(w->rq->arena, "%s: %zu job(s), first '%.256s', %s", code,
                        jobs->count, jobs->first_id, what);
    w->warnings[w->warning_count++] = text;
    return OK;
}

static enum error_code warn_all(struct work *w)
{
    TRY(warn(w, &w->hopeless, "hopeless",
             "take as long for a checkpoint as their resource runs between failures"));
    TRY(warn(w, &w->raised, "min_interval_raised",
             "had a shortest interval that is no longer than a checkpoint takes; it was "
             "raised to 1.0001 times that"));
    TRY(warn(w, &w->too_short, "history_too_short",
             "run where too few failures were seen for a Weibull fit; young decided"));
    TRY(warn(w, &w->unknown, "history_missing",
             "run where nothing is known of failures; the answer is a cautious one"));
    TRY(warn(w, &w->floor, "at_floor",
             "would be checkpointed more often than every second, or than checkpoints "
             "take; options.min_interval_s allows less than a second"));
    TRY(warn(w, &w->few_intervals, "few_intervals",
             "end after so few intervals that another number of checkpoints is more than "
             "1 % better: see best_completion_s and algorithm finite"));
    TRY(warn(w, &w->slurm, "slurm_lead_too_long",
             "need their signal more than 65535 s before the time limit, which sbatch "
             "does not take: rendered.slurm is left out"));
    TRY(warn(w, &w->very_short, "interval_very_short",
             "have settings for a checkpoint every few seconds, below 10"));
    TRY(warn(w, &w->rounded, "rounded",
             "lose more than 1 % more to checkpoints and failures by the whole units of "
             "a tool in render"));
    TRY(warn(w, &w->start_unknown, "observation_start_unknown",
             "run where nobody said since when the resource is watched (POST "
             "/v1/observations): its first failure only begins the history"));
    TRY(warn(w, &w->ended, "history_ended",
             "run where nothing was heard of the resource for long: its time ends with "
             "the last event"));
    TRY(warn(w, &w->outside, "outside_observation",
             "run where failures lie outside every observation of the resource: these "
             "have no part in its rate"));
    TRY(warn(w, &w->cut, "history_cut",
             "run where the resource has more failures than were read: the newest "
             "decided"));
    TRY(warn(w, &w->few, "few_failures",
             "run where fewer than 3 failures were seen: the mean failure interval is "
             "mostly what was known before them"));
    TRY(warn(w, &w->floored, "mean_floor_applied",
             "run where so little was seen that options.mean_floor_s was taken"));
    TRY(warn(w, &w->wide, "wide_interval",
             "have a mean failure interval that may as well be several times as long or "
             "short: see mean_failure_interval_low_s and _high_s"));
    if (w->histories.peers_cut)
        w->warnings[w->warning_count++] =
            "peers_cut: there are more stored hosts than the prior was fitted to";
    if (w->histories.unavailable)
        w->warnings[w->warning_count++] =
            "history_unavailable: the stored failures cannot be read now; resources "
            "without a history in the request count as never seen to fail";
    return OK;
}

/* ---- jobs and resources ---- */

static bool needs_history(const struct work *w, const struct checkpoint_job *job)
{
    unsigned needs = w->policy->flags;

    return isnan(job->in.mean_failure_interval_s) ||
           (needs & CHECKPOINT_NEEDS_AGE && isnan(job->in.failure_age_s)) ||
           (needs & CHECKPOINT_NEEDS_WEIBULL &&
            (isnan(job->in.uptime_s) || isnan(w->param[CHECKPOINT_WEIBULL_SHAPE]) ||
             isnan(w->param[CHECKPOINT_WEIBULL_SCALE])));
}

static void job_mistake(struct work *w, size_t i, const char *member, enum item_code code,
                        const char *detail)
{
    char pointer[96];

    snprintf(pointer, sizeof(pointer), "/jobs/%zu/%s", i, member);
    invalid(w->rq->err, pointer, code, "%s", detail);
}

/* Whether the options and the job say all that weibull needs. */
static bool has_weibull(const struct work *w, const struct checkpoint_in *in)
{
    return w->policy->flags & CHECKPOINT_NEEDS_WEIBULL &&
           !(isnan(in->uptime_s) && isnan(in->failure_age_s)) &&
           !isnan(w->param[CHECKPOINT_WEIBULL_SHAPE]) &&
           !isnan(w->param[CHECKPOINT_WEIBULL_SCALE]);
}

static void check_job(struct work *w, size_t i)
{
    const struct checkpoint_job *job = &w->body->jobs[i];
    bool has_speed = job->resource_id && w->snapshot;

    if (isnan(job->in.checkpoint_overhead_s) && !job->application_id)
        job_mistake(w, i, "checkpoint_overhead_s", ITEM_REQUIRED,
                    "the member is missing: " OVERHEAD_DOC);
    if (w->policy->flags & CHECKPOINT_NEEDS_TIME && isnan(job->in.execution_time_s) &&
        (isnan(job->length_mi) || !has_speed))
        job_mistake(w, i, "execution_time_s", ITEM_EXECUTION_TIME_REQUIRED,
                    "this algorithm needs it, or length_mi and a resource of the "
                    "snapshot");
    if (w->policy->flags & CHECKPOINT_NEEDS_MEAN &&
        isnan(job->in.mean_failure_interval_s) && !job->resource_id &&
        job->resource_count == 0 && isnan(job->in.failure_age_s) &&
        !has_weibull(w, &job->in))
        job_mistake(w, i, "mean_failure_interval_s", ITEM_REQUIRED,
                    "the member is missing: give it, or a resource_id whose history is "
                    "known");
    if (w->snapshot && job->resource_id &&
        histories_find(&w->histories, job->resource_id, false) == NAME_NOT_FOUND)
        job_mistake(w, i, "resource_id", ITEM_UNKNOWN_ID,
                    "the snapshot has no such resource");
}

/* Which nodes: one resource, several, or a number. */
static enum error_code check_nodes(struct work *w, size_t i)
{
    const struct checkpoint_job *job = &w->body->jobs[i];
    struct name_index seen;
    char pointer[96];

    if (!isnan(job->nodes) && job->nodes != floor(job->nodes))
        job_mistake(w, i, "nodes", ITEM_NOT_AN_INTEGER, "must be a whole number");
    if (job->resource_count == 0)
        return OK;
    if (job->resource_id)
        job_mistake(w, i, "resource_ids", ITEM_CONFLICT, "not beside resource_id");
    if (!isnan(job->nodes) && job->nodes != (double)job->resource_count)
        job_mistake(w, i, "nodes", ITEM_CONFLICT,
                    "resource_ids names another number of nodes");
    name_index_create(&seen, job->resource_count, w->rq->arena);
    for (size_t r = 0; r < job->resource_count; r++) {
        const char *id = job->resource_ids[r];

        snprintf(pointer, sizeof(pointer), "/jobs/%zu/resource_ids/%zu", i, r);
        if (name_index_add(&seen, id, r) != NAME_NOT_FOUND)
            invalid(w->rq->err, pointer, ITEM_DUPLICATE, "the node is named twice");
        else if (w->snapshot &&
                 histories_find(&w->histories, id, false) == NAME_NOT_FOUND)
            invalid(w->rq->err, pointer, ITEM_UNKNOWN_ID,
                    "the snapshot has no such "
                    "resource");
    }
    return OK;
}

/* ---- what checkpoints cost ---- */

static bool learns_costs(const struct checkpoint_job *job)
{
    return isnan(job->in.checkpoint_overhead_s) && job->application_id;
}

/* Reads the costs that are to be learnt. Mistakes that are known already are told
 * without them when the database is away. */
static enum error_code read_costs(struct work *w)
{
    const struct checkpoint_job *jobs = w->body->jobs;
    struct error before = *w->rq->err;
    enum error_code code;

    for (size_t i = 0; i < w->body->job_count; i++)
        if (learns_costs(&jobs[i]))
            checkpoint_costs_add(&w->costs, jobs[i].application_id, w->body->job_count,
                                 w->rq->arena);
    code = checkpoint_costs_read(w->rq, &w->costs);
    if ((code == ERR_UNAVAILABLE || code == ERR_BUSY) && before.code != OK) {
        *w->rq->err = before;
        return before.code;
    }
    return code;
}

/* An application of which nothing is logged says as little as none. */
static void check_costs(struct work *w)
{
    for (size_t i = 0; i < w->body->job_count; i++) {
        const struct checkpoint_job *job = &w->body->jobs[i];

        if (learns_costs(job) &&
            isnan(checkpoint_costs_find(&w->costs, job->application_id)->overhead_s))
            job_mistake(w, i, "checkpoint_overhead_s", ITEM_REQUIRED,
                        "the member is missing, and no overhead_s is logged for its "
                        "application_id: give it, or POST it to /v1/checkpoint-logs");
    }
}

/* The history of a resource is wanted, unless the job says all that it would say. */
static void want(struct work *w, const struct checkpoint_job *job, const char *id)
{
    size_t place = histories_find(&w->histories, id, !w->snapshot);

    if (place != NAME_NOT_FOUND && needs_history(w, job))
        w->histories.list[place].wanted = true;
}

/* Notes every mistake, and which histories are wanted. */
static enum error_code check_jobs(struct work *w)
{
    size_t named = 0;

    for (size_t i = 0; i < w->body->job_count; i++)
        named += (w->body->jobs[i].resource_id != NULL) + w->body->jobs[i].resource_count;
    if (named > 0 || w->snapshot)
        histories_begin(w->snapshot, named, &w->histories, w->rq->arena);
    histories_check(&w->histories, w->rq->err);
    for (size_t i = 0; i < w->body->job_count; i++) {
        const struct checkpoint_job *job = &w->body->jobs[i];

        check_job(w, i);
        TRY(check_nodes(w, i));
        if (job->resource_id)
            want(w, job, job->resource_id);
        for (size_t r = 0; r < job->resource_count; r++)
            want(w, job, job->resource_ids[r]);
    }
    TRY(read_costs(w));
    check_costs(w);
    return w->rq->err->code;
}

static enum error_code read_histories(struct work *w)
{
    struct histories_options options = histories_options_preset();
    bool wanted = false;

    for (size_t i = 0; i < w->histories.count; i++)
        wanted = wanted || w->histories.list[i].wanted;
    if (!wanted)
        return OK;
    options.estimator = (enum mf_estimator)w->param[CHECKPOINT_MF_ESTIMATOR];
    options.site_weight = w->param[CHECKPOINT_SITE_WEIGHT];
    options.prior = (enum rate_prior_scope)w->param[CHECKPOINT_PRIOR];
    options.mean_floor_s = w->param[CHECKPOINT_MEAN_FLOOR];
    options.burst_window_s = w->param[CHECKPOINT_BURST_WINDOW];
    options.weibull = w->policy->flags & CHECKPOINT_NEEDS_WEIBULL &&
                      (isnan(w->param[CHECKPOINT_WEIBULL_SHAPE]) ||
                       isnan(w->param[CHECKPOINT_WEIBULL_SCALE]));
    w->histories.now_s = w->body->now_s;
    if (isnan(w->histories.now_s) && w->snapshot)
        w->histories.now_s = w->snapshot->taken_at_s;
    return histories_read(w->rq, &w->histories, &options);
}

/* E = length / speed, with the speed shared by the jobs that are there (spec 2.1);
 * RE likewise, or the same share of an E that is given. */
static void find_times(const struct checkpoint_job *job, const struct resource *r,
                       struct checkpoint_in *in)
{
    double speed_mips = NAN;
    double left_mi = job->length_mi;

    if (!isnan(job->completed_mi))
        left_mi = fmax(0, job->length_mi - job->completed_mi);
    if (!isnan(in->execution_time_s))
        speed_mips = job->length_mi / in->execution_time_s;
    else if (r)
        speed_mips = (r->mips_total * r->cpu_available_ratio - r->mips_external) /
                     fmax(1, r->job_count);
    if (isnan(in->execution_time_s) && !isnan(job->length_mi) && r)
        in->execution_time_s = speed_mips > 0 ? job->length_mi / speed_mips : HUGE_VAL;
    if (!isnan(in->remaining_s))
        return;
    if (isnan(left_mi) || isnan(speed_mips))
        in->remaining_s = in->execution_time_s;
    else if (left_mi > 0)
        in->remaining_s = speed_mips > 0 ? left_mi / speed_mips : HUGE_VAL;
    else
        in->remaining_s = 0;
}

/* The links of the home site, which checkpoints go to, by the other end; those that
 * are listed for this direction first. */
static void find_links(struct work *w)
{
    const char *home = w->snapshot ? w->snapshot->home_site_id : NULL;
    bool any = false;

    for (size_t i = 0; home && !any && i < w->body->job_count; i++)
        any = !isnan(w->body->jobs[i].checkpoint_bytes);
    if (!any)
        return;
    name_index_create(&w->links, w->snapshot->network.route_count, w->rq->arena);
    for (int from_home = 0; from_home < 2; from_home++)
        for (size_t i = 0; i < w->snapshot->network.route_count; i++) {
            const struct network_route *route = &w->snapshot->network.routes[i];
            const char *here = from_home ? route->from_site_id : route->to_site_id;

            if (strcmp(here, home) == 0)
                name_index_add(&w->links,
                               from_home ? route->to_site_id : route->from_site_id, i);
        }
}

/* L, as far as it was seen or the network is known. */
static double latency_s(const struct work *w, const struct checkpoint_job *job,
                        const struct checkpoint_cost *cost, const struct resource *r)
{
    const struct network *network;
    double bandwidth_mbps;
    size_t link;
    bool lan;

    if (!isnan(job->checkpoint_latency_s))
        return job->checkpoint_latency_s;
    if (cost && !isnan(cost->stored_after_s))
        return cost->stored_after_s;
    if (isnan(job->checkpoint_bytes) || !w->links.key || !r || !r->site_id)
        return 0;
    network = &w->snapshot->network;
    link = name_index_find(&w->links, r->site_id);
    if (link != NAME_NOT_FOUND)
        return transfer_s(job->checkpoint_bytes, network->routes[link].bandwidth_mbps,
                          network->routes[link].latency_s);
    lan = strcmp(r->site_id, w->snapshot->home_site_id) == 0;
    bandwidth_mbps = lan ? network->lan_mbps : network->wan_mbps;
    if (isnan(bandwidth_mbps))
        return 0;
    return transfer_s(job->checkpoint_bytes, bandwidth_mbps,
                      lan ? network->lan_latency_s : network->wan_latency_s);
}

/* What the job does not say of failures, from the history. */
static void use_history(const struct work *w, const struct resource_history *h,
                        struct checkpoint_in *in)
{
    if (isnan(in->mean_failure_interval_s))
        in->mean_failure_interval_s = h->mean_s;
    in->weibull_shape = h->weibull_shape;
    in->weibull_scale_s = h->scale_s;
    if (!h->known)
        return;
    if (isnan(in->failure_age_s))
        in->failure_age_s =
            reliability_failure_age_s(&h->reliability, w->histories.now_s);
    if (isnan(in->uptime_s))
        in->uptime_s = reliability_uptime_s(&h->reliability, w->histories.now_s);
}

static struct checkpoint_basis no_basis(void)
{
    return (struct checkpoint_basis){NAN, NAN, NAN, NAN,  NAN, NAN,
                                     NAN, NAN, NAN, NULL, NAN, NAN};
}

/* What the rate of a stored history comes from. */
static void add_rate_basis(const struct resource_history *h,
                           struct checkpoint_basis *basis)
{
    if (!h->has_rate || !h->is_stored)
        return;
    basis->failure_count = h->risk.seen.kill_count;
    basis->at_risk_s = h->risk.seen.at_risk_s;
    if (h->prior_scope == RATE_PRIOR_NONE)
        return;
    basis->prior_scope = rate_prior_scopes[h->prior_scope];
    basis->prior_shape = h->prior.shape;
    basis->prior_rate_s = h->prior.rate_s;
}

/* What the decision rests on; `h` and `cost` NULL: not on these. */
static void add_basis(const struct work *w, const struct resource_history *h,
                      const struct checkpoint_cost *cost, struct checkpoint_interval *out)
{
    struct checkpoint_basis *basis;

    if (!h && !cost)
        return;
    basis = NEW(w->rq->arena, struct checkpoint_basis, 1);
    *basis = no_basis();
    if (h) {
        basis->failures = (double)h->reliability.failure_count;
        basis->observed_s = fmax(0, w->histories.now_s - h->reliability.observed_since_s);
        add_rate_basis(h, basis);
    }
    if (cost) {
        basis->checkpoint_logs = (double)cost->log_count;
        basis->checkpoint_overhead_s = cost->overhead_s;
        basis->checkpoint_latency_s = cost->stored_after_s;
        basis->restart_s = cost->restart_s;
    }
    out->basis = basis;
}

/* What is to be known of a rate from a stored history. */
static void note_history(struct work *w, const struct checkpoint_job *job,
                         const struct resource_history *h,
                         struct checkpoint_interval *out)
{
    struct failure_range range;

    if (!h->has_rate || !isnan(job->in.mean_failure_interval_s))
        return;
    range = failure_rate_range(&h->rate);
    out->low_s = range.low_s;
    out->high_s = range.high_s;
    if (h->risk.start_unknown)
        affect(&w->start_unknown, job);
    if (h->risk.history_ended)
        affect(&w->ended, job);
    if (h->risk.outside_count)
        affect(&w->outside, job);
    if (h->is_cut)
        affect(&w->cut, job);
    if (h->rate.few_failures)
        affect(&w->few, job);
    if (h->rate.floor_applied)
        affect(&w->floored, job);
    if (range.high_s > FAILURE_RANGE_WIDE * range.low_s)
        affect(&w->wide, job);
}

/* The nodes of a job, as one: a failure of any ends all of it. */
struct nodes {
    double count;
    double failure_count, at_risk_s;
    bool has_rate; /* all of them have one: */
    struct rate_sum sum;
    struct checkpoint_law *laws; /* of each; policies that need them */
};

static void add_node(const struct work *w, const struct resource_history *h,
                     struct nodes *nodes, struct checkpoint_in *in)
{
    struct checkpoint_law law = {h->weibull_shape, h->scale_s, 0, h->mean_s, 1};
    double age_s = NAN;

    if (h->known) {
        age_s = reliability_failure_age_s(&h->reliability, w->histories.now_s);
        law.age_s = reliability_uptime_s(&h->reliability, w->histories.now_s);
        in->uptime_s = fmin(in->uptime_s, law.age_s);
        in->failure_age_s = fmin(in->failure_age_s, age_s);
    }
    in->mean_failure_interval_s =
        1 / (1 / in->mean_failure_interval_s + 1 / h->mean_s); /* NAN: unknown stays */
    nodes->has_rate = nodes->has_rate && h->has_rate;
    nodes->failure_count += h->risk.seen.kill_count;
    nodes->at_risk_s += h->risk.seen.at_risk_s;
    if (nodes->has_rate)
        rate_sum_add(&nodes->sum, &h->rate, 1);
    nodes->laws[in->law_count++] = law;
}

/* What the histories of several nodes say together. */
static void use_nodes(struct work *w, const struct checkpoint_job *job,
                      struct checkpoint_in *in, struct checkpoint_interval *out)
{
    struct nodes nodes = {.count = (double)job->resource_count, .has_rate = true};
    struct checkpoint_basis *basis;
    struct failure_range range;
    struct failure_rate rate;

    nodes.laws = NEW(w->rq->arena, struct checkpoint_law, job->resource_count);
    basis = NEW(w->rq->arena, struct checkpoint_basis, 1);
    in->mean_failure_interval_s = HUGE_VAL;
    for (size_t r = 0; r < job->resource_count; r++) {
        const struct resource_history *h =
            &w->histories
                 .list[histories_find(&w->histories, job->resource_ids[r], false)];

        add_node(w, h, &nodes, in);
        note_history(w, job, h, out);
    }
    in->laws = nodes.laws;
    *basis = no_basis();
    basis->nodes = nodes.count;
    out->basis = basis;
    out->low_s = out->high_s = NAN;
    if (!nodes.has_rate)
        return;
    basis->failure_count = nodes.failure_count;
    basis->at_risk_s = nodes.at_risk_s;
    rate = rate_sum_total(&nodes.sum);
    range = failure_rate_range(&rate);
    out->low_s = range.low_s;
    out->high_s = range.high_s;
}

/* The failures of the nodes of the job, as far as it does not say how often they are. */
static void use_failures(struct work *w, const struct checkpoint_job *job,
                         const struct resource_history *history,
                         const struct checkpoint_cost *cost, struct checkpoint_in *in,
                         struct checkpoint_interval *out)
{
    double nodes = job->resource_count ? (double)job->resource_count : job->nodes;

    out->low_s = out->high_s = NAN;
    if (history)
        use_history(w, history, in);
    if (history)
        note_history(w, job, history, out);
    add_basis(w, history, cost, out);
    if (job->resource_count && isnan(job->in.mean_failure_interval_s)) {
        use_nodes(w, job, in, out);
        return;
    }
    if (!(nodes > 1))
        return;
    in->mean_failure_interval_s /= nodes;
    out->low_s /= nodes;
    out->high_s /= nodes;
    if (in->weibull_shape > 0) {
        struct checkpoint_law *law = NEW(w->rq->arena, struct checkpoint_law, 1);

        *law = (struct checkpoint_law){in->weibull_shape, in->weibull_scale_s,
                                       isnan(in->uptime_s) ? 0 : in->uptime_s,
                                       in->mean_failure_interval_s, nodes};
        in->laws = law;
        in->law_count = 1;
    }
}

static void note(struct work *w, const struct checkpoint_job *job,
                 const struct checkpoint_in *in, const struct checkpoint_out *out)
{
    if (in->checkpoint_overhead_s >= in->mean_failure_interval_s || out->never_ends)
        affect(&w->hopeless, job);
    if (out->at_floor)
        affect(&w->floor, job);
    if (out->gap_is_finite && out->gap_ratio > FEW_INTERVALS_GAP &&
        w->policy->flags & CHECKPOINT_NEEDS_MEAN &&
        !(w->policy->flags & CHECKPOINT_NEEDS_TIME))
        affect(&w->few_intervals, job);
    if (out->min_interval_raised)
        affect(&w->raised, job);
    if (out->history_too_short)
        affect(&w->too_short, job);
    if ((w->policy->flags & CHECKPOINT_NEEDS_MEAN && !(checkpoint_mean_s(in) > 0) &&
         !has_weibull(w, in)) ||
        (w->policy->flags & CHECKPOINT_NEEDS_AGE && isnan(in->failure_age_s)))
        affect(&w->unknown, job);
}

/* What the figures of a decision rest on, and the plan behind it. */
static void add_segments(struct work *w, struct checkpoint_interval *out)
{
    const struct finite_plan *plan = &out->out.plan;
    struct checkpoint_segments *segments;

    if (!isnan(out->out.gap_ratio))
        out->gap_basis = out->out.gap_is_finite ? "finite" : "endless";
    if (!isnan(out->out.best_completion_s))
        out->bound_basis = "closed_form";
    if (!(plan->count > 0))
        return;
    segments = NEW(w->rq->arena, struct checkpoint_segments, 1);
    *segments = (struct checkpoint_segments){plan->count, plan->first_s, plan->middle_s,
                                             plan->last_s};
    out->segments = segments;
    w->is_unproved = w->is_unproved || !plan->is_proved;
}

static bool wants_tool(const struct work *w, const char *name)
{
    for (size_t i = 0; i < w->body->render_count; i++)
        if (strcmp(w->body->render[i], name) == 0)
            return true;
    return false;
}

/* Whether whole units of unit_s make the interval much worse. */
static bool is_worse_rounded(const struct checkpoint_in *in, double interval_s,
                             double unit_s)
{
    struct checkpoint_in known = *in;
    double rounded_s = unit_s * fmax(1, floor(interval_s / unit_s + 0.5));

    known.mean_failure_interval_s = checkpoint_mean_s(in);
    if (!(known.mean_failure_interval_s > 0) || isinf(interval_s))
        return false;
    return checkpoint_expected_time_ratio(&known, rounded_s) - 1 >
           1.01 * (checkpoint_expected_time_ratio(&known, interval_s) - 1);
}

/* What is to be known of settings for other tools. */
static void note_render(struct work *w, const struct checkpoint_job *job,
                        const struct checkpoint_in *in, double interval_s,
                        double saving_s)
{
    bool has_seconds =
        wants_tool(w, "scr") || wants_tool(w, "veloc") || wants_tool(w, "dmtcp");

    if (wants_tool(w, "slurm") &&
        checkpoint_slurm_lead_s(saving_s) > CHECKPOINT_SLURM_LEAD_MAX_S)
        affect(&w->slurm, job);
    if (has_seconds && interval_s < INTERVAL_SHORT_S)
        affect(&w->very_short, job);
    if ((has_seconds && is_worse_rounded(in, interval_s, 1)) ||
        (wants_tool(w, "fti") && is_worse_rounded(in, interval_s, 60)))
        affect(&w->rounded, job);
}

static enum error_code decide_job(struct work *w, const struct checkpoint_job *job,
                                  struct checkpoint_interval *out)
{
    const struct resource_history *history = NULL;
    const struct resource *resource = NULL;
    const struct checkpoint_cost *cost = NULL;
    struct checkpoint_in in = job->in;
    double saving_s;

    if (job->resource_id)
        history =
            &w->histories.list[histories_find(&w->histories, job->resource_id, false)];
    if (history)
        resource = history->resource;
    in.start = job->event == EVENT_START;
    if (learns_costs(job)) {
        cost = checkpoint_costs_find(&w->costs, job->application_id);
        in.checkpoint_overhead_s = cost->overhead_s;
        if (isnan(in.restart_s))
            in.restart_s = cost->restart_s;
    }
    find_times(job, resource, &in);
    saving_s = latency_s(w, job, cost, resource);
    if (isnan(in.restart_s))
        in.restart_s = saving_s;
    saving_s += in.checkpoint_overhead_s;
    if (history && !history->wanted)
        history = NULL;
    in.remaining_is_known = !isnan(job->in.remaining_s) || !isnan(job->completed_mi);
    use_failures(w, job, history, cost, &in, out);
    TRY(checkpoint_decide(w->policy, &in, w->param, &out->out, w->rq->err));
    out->job_id = job->id;
    out->execution_time_s = in.execution_time_s;
    out->remaining_s = in.remaining_s;
    out->failure_age_s = in.failure_age_s;
    out->mean_failure_interval_s = in.mean_failure_interval_s;
    note(w, job, &in, &out->out);
    add_segments(w, out);
    if (w->body->render_count == 0)
        return OK;
    note_render(w, job, &in, out->out.interval_s, saving_s);
    checkpoint_render(w->body->render, w->body->render_count, out->out.interval_s,
                      saving_s, &out->rendered, w->rq->arena);
    return OK;
}

enum error_code post_checkpoint_intervals(struct request *rq, const void *in, void *out)
{
    struct work w = {.rq = rq, .body = in};
    struct checkpoint_intervals_answer *answer = out;
    struct checkpoint_interval *intervals;
    enum error_code code;

    TRY(decision_begin(rq, &w.body->decision, &answer->decision));
    w.policy = find_policy(w.body, rq->err);
    checkpoint_render_check(w.body->render, w.body->render_count, rq->err);
    TRY(decision_snapshot(rq, w.body->snapshot, w.body->snapshot_id, false, &w.snapshot));
    if (!w.policy)
        return rq->err->code;
    code = bind_options(&w);
    if (code != OK && code != ERR_INVALID)
        return code;
    TRY(check_jobs(&w));
    find_links(&w);
    TRY(read_histories(&w));
    intervals = NEW(rq->arena, struct checkpoint_interval, w.body->job_count);
    for (size_t i = 0; i < w.body->job_count; i++)
        TRY(decide_job(&w, &w.body->jobs[i], &intervals[i]));
    TRY(warn_all(&w));
    if (w.warning_count > 0) {
        const char **warnings = NEW(rq->arena, const char *, w.warning_count);

        memcpy(warnings, w.warnings, w.warning_count * sizeof(*warnings));
        answer->decision.warnings = warnings;
        answer->decision.warning_count = w.warning_count;
    }
    answer->intervals = intervals;
    answer->interval_count = w.body->job_count;
    decision_end(rq, w.policy->name,
                 strcmp(w.policy->name, "finite") == 0 && !w.is_unproved &&
                         w.unknown.count == 0
                     ? DECISION_OPTIMAL
                     : DECISION_FEASIBLE,
                 &answer->decision);
    return OK;
}
