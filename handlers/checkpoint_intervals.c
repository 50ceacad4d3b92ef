/* checkpoint_intervals.c - POST /v1/checkpoint-intervals: when to checkpoint jobs. */
#include "handlers/checkpoint_intervals.h"

#include "algorithms/checkpoint/checkpoint.h"
#include "handlers/checkpoint_costs.h"
#include "handlers/checkpoint_render.h"
#include "handlers/decision.h"
#include "handlers/resource_histories.h"
#include "handlers/snapshot_json.h"

#include <stdio.h>
#include <string.h>

enum { JOBS_MAX = 100000, TOOLS_MAX = 16, WARNINGS_MAX = 8 };

enum checkpoint_event { EVENT_REQUEST, EVENT_START };
static const char *const events[] = {"request", "start", NULL};

struct checkpoint_job {
    const char *id;
    const char *resource_id, *application_id; /* NULL: not said */
    enum checkpoint_event event;
    double length_mi, completed_mi;                /* NAN: not said */
    double checkpoint_bytes, checkpoint_latency_s; /* NAN: not said */
    struct checkpoint_in in;
};

/* NAN: has no part in the decision. */
struct checkpoint_basis {
    double failures, observed_s;
    double checkpoint_logs, checkpoint_overhead_s, checkpoint_latency_s, restart_s;
};

struct checkpoint_interval {
    const char *job_id;
    struct checkpoint_out out;
    double execution_time_s, remaining_s, failure_age_s, mean_failure_interval_s;
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
                "Mean time between failures of the resource that runs it; default: from "
                "the resource's history"),
    JOB_SECONDS(restart_s, 0, NAN, JSON_NULLABLE,
                "Time to fetch a checkpoint after a failure; default: from the logs if "
                "the overhead is, else checkpoint_latency_s"),
    JOB_SECONDS(execution_time_s, 0, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Run time of the whole job without failures and checkpoints; default: "
                "from length_mi and the resource's speed"),
    JSON_ID(T, resource_id, JSON_NULLABLE,
            "The resource that runs it: of the snapshot, or with a stored history"),
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
    {0},
};
#undef T
static const struct json_object basis_json = {
    "CheckpointBasis", "The history and the logs that a decision rests on",
    sizeof(struct checkpoint_basis), basis_rows};

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
     .doc = "The interval was raised to options.min_interval_s",
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
               "Expected time per second of work, failures included; null: without end, "
               "or failures not known"),
    OUT_NUMBER(waste_ratio, JSON_MAY_BE_NULL, "Share of that time that is no work"),
    OUT_NUMBER(gap_ratio, JSON_MAY_BE_NULL,
               "expected_time_ratio over the least that any interval gives, less 1"),
    OUT_NUMBER(checkpoint_count, JSON_OPTIONAL,
               "Checkpoints on a run without failures, if execution_time_s is known"),
    OUT_NUMBER(expected_completion_s, JSON_OPTIONAL,
               "Expected time from start to end, if execution_time_s is known"),
    JSON_NUMBER(T, execution_time_s, 0, 0, 0, JSON_OPTIONAL,
                "Run time of the whole job, as it was used"),
    JSON_NUMBER(T, remaining_s, 0, 0, 0, JSON_OPTIONAL, "Run time that remains"),
    JSON_NUMBER(T, failure_age_s, 0, 0, 0, JSON_OPTIONAL,
                "Time since the resource's last failure, or since it is observed"),
    JSON_NUMBER(T, mean_failure_interval_s, 0, 0, 0, JSON_OPTIONAL,
                "Mean time between failures, as it was used"),
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
};

struct work {
    struct request *rq;
    const struct checkpoint_intervals_request *body;
    const struct checkpoint_policy *policy;
    double param[PARAMS_MAX];
    const struct snapshot *snapshot;
    struct resource_histories histories; /* list NULL: no job names a resource */
    struct checkpoint_costs costs;       /* of the jobs that do not say the overhead */
    struct name_index links;             /* key NULL: no checkpoint has a way to go */
    struct affected hopeless, raised, too_short, unknown;
    const char *warnings[WARNINGS_MAX];
    size_t warning_count;
};

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

/* An option that is null is not set. */
static enum error_code bind_options(struct work *w)
{
    const struct decision_request *decision = &w->body->decision;
    struct named_value *given =
        NEW(w->rq->arena, struct named_value, decision->option_count);
    size_t count = 0;

    if (!given)
        return fail_memory(w->rq->err);
    for (size_t i = 0; i < decision->option_count; i++)
        if (decision->options[i].type != VALUE_UNDEFINED)
            given[count++] = decision->options[i];
    return params_bind(w->policy->params, given, count, w->param, w->rq->err);
}

static void affect(struct affected *jobs, const struct checkpoint_job *job)
{
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
    if (!text)
        return fail_memory(w->rq->err);
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
    if (w->histories.unavailable)
        w->warnings[w->warning_count++] =
            "history_unavailable: the stored failures cannot be read now; resources "
            "without a history in the request count as never seen to fail";
    return OK;
}

/* ---- jobs and resources ---- */

static bool needs_history(const struct work *w, const struct checkpoint_job *job)
{
    unsigned needs = w->policy->needs;

    return isnan(job->in.mean_failure_interval_s) ||
           (needs & CHECKPOINT_NEEDS_AGE && isnan(job->in.failure_age_s)) ||
           (needs & CHECKPOINT_NEEDS_WEIBULL &&
            (isnan(job->in.uptime_s) || isnan(w->param[CHECKPOINT_WEIBULL_SHAPE]) ||
             isnan(w->param[CHECKPOINT_WEIBULL_SCALE])));
}

static void job_mistake(struct work *w, size_t i, const char *member, const char *kind,
                        const char *detail)
{
    char pointer[96];

    snprintf(pointer, sizeof(pointer), "/jobs/%zu/%s", i, member);
    invalid(w->rq->err, pointer, kind, "%s", detail);
}

/* Whether the options and the job say all that weibull needs. */
static bool has_weibull(const struct work *w, const struct checkpoint_in *in)
{
    return w->policy->needs & CHECKPOINT_NEEDS_WEIBULL &&
           !(isnan(in->uptime_s) && isnan(in->failure_age_s)) &&
           !isnan(w->param[CHECKPOINT_WEIBULL_SHAPE]) &&
           !isnan(w->param[CHECKPOINT_WEIBULL_SCALE]);
}

static void check_job(struct work *w, size_t i)
{
    const struct checkpoint_job *job = &w->body->jobs[i];
    bool has_speed = job->resource_id && w->snapshot;

    if (isnan(job->in.checkpoint_overhead_s) && !job->application_id)
        job_mistake(w, i, "checkpoint_overhead_s", "required",
                    "the member is missing: " OVERHEAD_DOC);
    if (w->policy->needs & CHECKPOINT_NEEDS_TIME && isnan(job->in.execution_time_s) &&
        (isnan(job->length_mi) || !has_speed))
        job_mistake(w, i, "execution_time_s", "execution_time_required",
                    "this algorithm needs it, or length_mi and a resource of the "
                    "snapshot");
    if (w->policy->needs & CHECKPOINT_NEEDS_MEAN &&
        isnan(job->in.mean_failure_interval_s) && !job->resource_id &&
        isnan(job->in.failure_age_s) && !has_weibull(w, &job->in))
        job_mistake(w, i, "mean_failure_interval_s", "required",
                    "the member is missing: give it, or a resource_id whose history is "
                    "known");
    if (w->snapshot && job->resource_id &&
        histories_find(&w->histories, job->resource_id, false) == NAME_NOT_FOUND)
        job_mistake(w, i, "resource_id", "unknown_id",
                    "the snapshot has no such resource");
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
            TRY(checkpoint_costs_add(&w->costs, jobs[i].application_id,
                                     w->body->job_count, w->rq->arena, w->rq->err));
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
            job_mistake(w, i, "checkpoint_overhead_s", "required",
                        "the member is missing, and no overhead_s is logged for its "
                        "application_id: give it, or POST it to /v1/checkpoint-logs");
    }
}

/* Notes every mistake, and which histories are wanted. */
static enum error_code check_jobs(struct work *w)
{
    bool any = w->snapshot;

    for (size_t i = 0; !any && i < w->body->job_count; i++)
        any = w->body->jobs[i].resource_id;
    if (any)
        TRY(histories_begin(w->snapshot, w->body->job_count, &w->histories, w->rq->arena,
                            w->rq->err));
    histories_check(&w->histories, w->rq->err);
    for (size_t i = 0; i < w->body->job_count; i++) {
        const struct checkpoint_job *job = &w->body->jobs[i];
        size_t place;

        check_job(w, i);
        if (!job->resource_id)
            continue;
        place = histories_find(&w->histories, job->resource_id, !w->snapshot);
        if (place != NAME_NOT_FOUND && needs_history(w, job))
            w->histories.list[place].wanted = true;
    }
    TRY(read_costs(w));
    check_costs(w);
    return w->rq->err->code;
}

static enum error_code read_histories(struct work *w)
{
    struct histories_options options = {
        .estimator = (enum mf_estimator)w->param[CHECKPOINT_MF_ESTIMATOR],
        .site_weight = w->param[CHECKPOINT_SITE_WEIGHT],
        .weibull = w->policy->needs & CHECKPOINT_NEEDS_WEIBULL &&
                   (isnan(w->param[CHECKPOINT_WEIBULL_SHAPE]) ||
                    isnan(w->param[CHECKPOINT_WEIBULL_SCALE])),
    };
    bool wanted = false;

    for (size_t i = 0; i < w->histories.count; i++)
        wanted = wanted || w->histories.list[i].wanted;
    if (!wanted)
        return OK;
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
static enum error_code find_links(struct work *w)
{
    const char *home = w->snapshot ? w->snapshot->home_site_id : NULL;
    bool any = false;

    for (size_t i = 0; home && !any && i < w->body->job_count; i++)
        any = !isnan(w->body->jobs[i].checkpoint_bytes);
    if (!any)
        return OK;
    if (!name_index_create(&w->links, w->snapshot->network.route_count, w->rq->arena))
        return fail_memory(w->rq->err);
    for (int from_home = 0; from_home < 2; from_home++)
        for (size_t i = 0; i < w->snapshot->network.route_count; i++) {
            const struct network_route *route = &w->snapshot->network.routes[i];
            const char *here = from_home ? route->from_site_id : route->to_site_id;

            if (strcmp(here, home) == 0)
                name_index_add(&w->links,
                               from_home ? route->to_site_id : route->from_site_id, i);
        }
    return OK;
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

/* What the decision rests on; `h` and `cost` NULL: not on these. */
static enum error_code add_basis(const struct work *w, const struct resource_history *h,
                                 const struct checkpoint_cost *cost,
                                 struct checkpoint_interval *out)
{
    struct checkpoint_basis *basis;

    if (!h && !cost)
        return OK;
    basis = NEW(w->rq->arena, struct checkpoint_basis, 1);
    if (!basis)
        return fail_memory(w->rq->err);
    *basis = (struct checkpoint_basis){NAN, NAN, NAN, NAN, NAN, NAN};
    if (h) {
        basis->failures = (double)h->reliability.failure_count;
        basis->observed_s = fmax(0, w->histories.now_s - h->reliability.observed_since_s);
    }
    if (cost) {
        basis->checkpoint_logs = (double)cost->log_count;
        basis->checkpoint_overhead_s = cost->overhead_s;
        basis->checkpoint_latency_s = cost->stored_after_s;
        basis->restart_s = cost->restart_s;
    }
    out->basis = basis;
    return OK;
}

static void note(struct work *w, const struct checkpoint_job *job,
                 const struct checkpoint_in *in, const struct checkpoint_out *out)
{
    if (in->checkpoint_overhead_s >= in->mean_failure_interval_s)
        affect(&w->hopeless, job);
    if (out->min_interval_raised)
        affect(&w->raised, job);
    if (out->history_too_short)
        affect(&w->too_short, job);
    if ((w->policy->needs & CHECKPOINT_NEEDS_MEAN && !(checkpoint_mean_s(in) > 0) &&
         !has_weibull(w, in)) ||
        (w->policy->needs & CHECKPOINT_NEEDS_AGE && isnan(in->failure_age_s)))
        affect(&w->unknown, job);
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
    if (history)
        use_history(w, history, &in);
    TRY(add_basis(w, history, cost, out));
    TRY(checkpoint_decide(w->policy, &in, w->param, &out->out, w->rq->err));
    out->job_id = job->id;
    out->execution_time_s = in.execution_time_s;
    out->remaining_s = in.remaining_s;
    out->failure_age_s = in.failure_age_s;
    out->mean_failure_interval_s = in.mean_failure_interval_s;
    note(w, job, &in, &out->out);
    if (w->body->render_count == 0)
        return OK;
    return checkpoint_render(w->body->render, w->body->render_count, out->out.interval_s,
                             saving_s, &out->rendered, w->rq->arena, w->rq->err);
}

enum error_code post_checkpoint_intervals(struct request *rq, const void *in, void *out)
{
    struct work w = {.rq = rq, .body = in};
    struct checkpoint_intervals_answer *answer = out;
    struct checkpoint_interval *intervals;
    enum error_code code;

    TRY(decision_begin(rq, &w.body->decision, &answer->decision));
    w.policy = find_policy(w.body->decision.algorithm, rq->err);
    checkpoint_render_check(w.body->render, w.body->render_count, rq->err);
    TRY(decision_snapshot(rq, w.body->snapshot, w.body->snapshot_id, false, &w.snapshot));
    if (!w.policy)
        return rq->err->code;
    code = bind_options(&w);
    if (code != OK && code != ERR_INVALID)
        return code;
    TRY(check_jobs(&w));
    TRY(find_links(&w));
    TRY(read_histories(&w));
    intervals = NEW(rq->arena, struct checkpoint_interval, w.body->job_count);
    if (!intervals)
        return fail_memory(rq->err);
    for (size_t i = 0; i < w.body->job_count; i++)
        TRY(decide_job(&w, &w.body->jobs[i], &intervals[i]));
    TRY(warn_all(&w));
    if (w.warning_count > 0) {
        const char **warnings = NEW(rq->arena, const char *, w.warning_count);

        if (!warnings)
            return fail_memory(rq->err);
        memcpy(warnings, w.warnings, w.warning_count * sizeof(*warnings));
        answer->decision.warnings = warnings;
        answer->decision.warning_count = w.warning_count;
    }
    answer->intervals = intervals;
    answer->interval_count = w.body->job_count;
    decision_end(rq, w.policy->name, DECISION_FEASIBLE, &answer->decision);
    return OK;
}
