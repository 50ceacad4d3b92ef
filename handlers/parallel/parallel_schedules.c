/* parallel_schedules.c - POST /v1/parallel-schedules: machines for one application. */
#include "handlers/parallel/parallel_schedules.h"

#include "handlers/operations/policy_words.h"
#include "handlers/parallel/parallel_parts.h"
#include "handlers/pictures/pictures.h"
#include "models/base/plural.h"
#include "models/performance/log_interval.h"
#include "service/json_holds.h"
#include "service/metrics.h"
#include "service/service.h"

#include <string.h>

enum { REASONS_MAX = 4 };

/* ---- the answer ---- */

struct schedule_answer {
    const char *job_id, *site_id;
    const char *const *resource_ids;
    size_t resource_count;
    uint64_t processors;
    double min_cpu_available_ratio, min_bandwidth_mbps;
    double predicted_execution_s, predicted_queue_wait_s, score_s;
    const char *model_id;
    double model_version, model_error_pct, model_error_ratio;
    bool is_approximate; /* what the model's terms say; not told */
    double run_time_low_s, run_time_high_s, extrapolation_ratio;
    const char *interval_basis;
    double least_score_s; /* NAN: it is this one's */
};

struct site_answer {
    const char *site_id, *algorithm;
    enum decision_status status;
    double score_s, lower_bound_s;
    uint64_t processors, resource_count;
};

struct miss_answer {
    const char *site_id;
    uint64_t processors_short;
};

struct reason_answer {
    const char *reason, *detail;
    uint64_t resource_count;
    const struct miss_answer *nearest_miss;
};

struct unplaced_answer {
    const char *job_id;
    const struct reason_answer *reasons;
    size_t reason_count;
};

struct objective_answer {
    double makespan_s, lower_bound_s, gap_ratio;
};

struct schedules_answer {
    struct decision_answer decision;
    const struct schedule_answer *schedule;
    const struct site_answer *sites;
    size_t site_count;
    const struct unplaced_answer *unplaced;
    size_t unplaced_count;
    struct objective_answer objective;
    uint64_t evaluations, iterations;
    double work_units, heterogeneity_ratio;
    bool stopped_early, monotone;
};

#define T struct schedule_answer
static const struct json_field schedule_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_TEXT(T, site_id, 0, "Where it runs"),
    JSON_TEXTS(T, resource_ids, resource_count, 0, 0,
               "On these machines together, in the order of the site"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "How many"),
    JSON_NUMBER(T, min_cpu_available_ratio, 0, 0, 0, 0, "Least cpu among them"),
    JSON_NUMBER(T, min_bandwidth_mbps, 0, 0, 0, JSON_MAY_BE_NULL,
                "Least bandwidth between two of them; null: one machine"),
    JSON_NUMBER(T, predicted_execution_s, 0, 0, 0, 0, "Run time by the model"),
    JSON_NUMBER(T, predicted_queue_wait_s, 0, 0, 0, 0,
                "Wait of a batch site for so many machines; else 0"),
    JSON_NUMBER(T, score_s, 0, 0, 0, 0, "Sum of the two: what is minimised"),
    JSON_TEXT(T, model_id, JSON_OPTIONAL, "The stored model that was used"),
    JSON_NUMBER(T, model_version, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE, "Its version"),
    JSON_RATIO(T, unseen_appe_ratio, model_error_pct, 0, 0, JSON_OPTIONAL,
               "Its mean error on runs that it had not seen: sets whose scores "
               "differ by less are as good"),
    JSON_NUMBER(T, model_error_ratio, 0, 0, 0, JSON_OPTIONAL,
                "Its usual error for such a question, by which predicted_execution_s may "
                "well be off"),
    JSON_NUMBER(T, run_time_low_s, 0, 0, 0, JSON_OPTIONAL,
                "Lower end of the interval of predicted_execution_s of level 0.9"),
    JSON_NUMBER(T, run_time_high_s, 0, 0, 0, JSON_OPTIONAL, "Upper end"),
    JSON_WORD(T, interval_basis, log_group_names, JSON_OPTIONAL,
              "inside or extrapolation: on which errors of the stored model it rests"),
    JSON_NUMBER(T, extrapolation_ratio, 0, 0, 0, JSON_OPTIONAL,
                "How far the question lies outside what the stored model has seen: of "
                "the worst input, 1 inside"),
    JSON_NUMBER(T, least_score_s, 0, 0, 0, JSON_OPTIONAL,
                "With prefer_fewer_machines: the score of the set that was given up for "
                "this one; left out: none was"),
    {0},
};
#undef T
static const struct json_object schedule_json = {
    "ParallelSchedule", "The machine set", sizeof(struct schedule_answer), schedule_rows};

#define T struct site_answer
static const struct json_field site_rows[] = {
    JSON_TEXT(T, site_id, 0, "The site"),
    JSON_WORD_OF(T, algorithm, parallel_words, 0, "What found its best set"),
    JSON_CHOICE(T, status, decision_status_names, 0, 0,
                "Of this site alone; cut also when it was seen to be beaten by a site "
                "before it"),
    JSON_NUMBER(T, score_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Of the best set found; null: none"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "Its machines; 0: none"),
    JSON_NUMBER(T, lower_bound_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "No set of the site scores less; null: it has no set"),
    JSON_INTEGER(T, resource_count, 0, JSON_EXACT, 0, 0, "Machines that can be used"),
    {0},
};
#undef T
static const struct json_object site_answer_json = {
    "ParallelScheduleSite", "What a site can do", sizeof(struct site_answer), site_rows};

#define T struct miss_answer
static const struct json_field miss_rows[] = {
    JSON_TEXT(T, site_id, 0, "The site that came nearest"),
    JSON_INTEGER(T, processors_short, 0, JSON_EXACT, 0, 0, "Machines that it lacks"),
    {0},
};
#undef T
static const struct json_object miss_json = {"ParallelNearestMiss",
                                             "The site that came nearest",
                                             sizeof(struct miss_answer), miss_rows};

#define T struct reason_answer
static const struct json_field reason_rows[] = {
    JSON_TEXT(T, reason, JSON_OPEN,
              "resource_unusable, below_min_processors, no_linked_set or model_missing",
              JSON_KNOWN("resource_unusable", "below_min_processors", "no_linked_set",
                         "model_missing")),
    JSON_TEXT(T, detail, JSON_OPTIONAL, "In words"),
    JSON_INTEGER(T, resource_count, 0, JSON_EXACT, 0, 0, "Machines that it is about"),
    JSON_OBJECT(T, nearest_miss, const struct miss_answer *, &miss_json,
                JSON_POINTER | JSON_OPTIONAL, "The site that came nearest"),
    {0},
};
#undef T
static const struct json_object reason_json = {"ParallelReason",
                                               "Why there is no machine set",
                                               sizeof(struct reason_answer), reason_rows};

#define T struct unplaced_answer
static const struct json_field unplaced_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_LIST(T, reasons, reason_count, struct reason_answer, &reason_json, 0, 0, "Why"),
    {0},
};
#undef T
static const struct json_object unplaced_json = {
    "ParallelUnplaced", "An application that no site can run",
    sizeof(struct unplaced_answer), unplaced_rows};

#define T struct objective_answer
static const struct json_field objective_rows[] = {
    JSON_NUMBER(T, makespan_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "The score; null: there is no set"),
    JSON_NUMBER(T, lower_bound_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "No set of any site scores less; null: there is no set"),
    JSON_NUMBER(T, gap_ratio, 0, 0, 0, JSON_MAY_BE_NULL,
                "makespan_s / lower_bound_s - 1; null: no schedule, or no bound"),
    {0},
};
#undef T
static const struct json_object objective_json = {
    "ParallelObjective", "How good the set is", sizeof(struct objective_answer),
    objective_rows};

#define T struct schedules_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(parallel_words)),
    JSON_OBJECT(T, schedule, const struct schedule_answer *, &schedule_json,
                JSON_POINTER | JSON_OPTIONAL, "The machine set, if there is one"),
    JSON_LIST(T, sites, site_count, struct site_answer, &site_answer_json, 0, 0,
              "Each site, in the order of the request"),
    JSON_LIST(T, unplaced, unplaced_count, struct unplaced_answer, &unplaced_json, 0, 0,
              "The job, if there is no machine set"),
    JSON_OBJECT(T, objective, struct objective_answer, &objective_json, 0,
                "How good the set is"),
    JSON_INTEGER(T, evaluations, 0, JSON_EXACT, 0, 0, "Sets that were looked at"),
    JSON_INTEGER(T, iterations, 0, JSON_EXACT, 0, 0, "Rounds of the algorithm"),
    JSON_NUMBER(T, work_units, 0, 0, 0, 0,
                "Reads of a cpu or a link that a method that keeps nothing would have "
                "needed; options.work_budget limits them"),
    JSON_NUMBER(T, heterogeneity_ratio, 0, 0, 0, JSON_OPTIONAL,
                "Weight of the strongest site over that of the weakest; weight: machines "
                "with more than 0.35 of their cpu over cpu_scaling_factor"),
    JSON_BOOLEAN(T, stopped_early, 0, 0, "A budget ended the search"),
    JSON_BOOLEAN(T, monotone, 0, 0,
                 "More machines never take longer by the model, at equal cpu and links"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object parallel_schedules_answer_json = {
    "ParallelSchedulesAnswer", "Machines for one application, and how good they are",
    sizeof(struct schedules_answer), answer_rows};

/* ---- making it ---- */

static double finite_or_null(double x)
{
    return isfinite(x) ? x : (double)NAN;
}

#define FAR_RATIO     2.0 /* beyond, the caller is warned */
#define UNKNOWN_RATIO 4.0 /* beyond, nothing is called optimal */

/* How far the stored model can be trusted for this set. */
static enum error_code assess_model(struct schedule_call *call,
                                    const struct stored_model *source,
                                    struct schedule_answer *schedule)
{
    double inputs[STORED_INPUTS] = {call->job->problem_size, (double)schedule->processors,
                                    schedule->min_cpu_available_ratio,
                                    schedule->min_bandwidth_mbps};
    struct stored_interval interval;

    schedule->run_time_low_s = schedule->run_time_high_s = (double)NAN;
    schedule->extrapolation_ratio = schedule->model_error_ratio = (double)NAN;
    if (!source)
        return OK;
    schedule->is_approximate = source->is_approximate;
    stored_model_interval(source, schedule->predicted_execution_s, inputs, &interval);
    schedule->run_time_low_s = interval.low_s;
    schedule->run_time_high_s = interval.high_s;
    schedule->extrapolation_ratio = interval.extrapolation_ratio;
    schedule->model_error_ratio = interval.error_ratio;
    schedule->interval_basis = interval.basis;
    if (interval.extrapolation_ratio > FAR_RATIO)
        return schedule_warn(call,
                             "far_extrapolation: the question lies %.3g times outside "
                             "what model '%.100s' has seen%s",
                             interval.extrapolation_ratio, source->model_id,
                             interval.extrapolation_ratio > UNKNOWN_RATIO
                                 ? ": no set is called optimal"
                                 : "");
    return OK;
}

static enum error_code make_schedule(struct schedule_call *call,
                                     const struct sites_out *found, double least_s,
                                     struct schedules_answer *answer)
{
    const struct parallel_out *best = &found->each[found->chosen];
    const struct sites_problem *p = &call->problems[found->chosen];
    const struct stored_model *source = call->sources[found->chosen];
    struct arena *a = call->rq->arena;
    struct schedule_answer *schedule = NEW(a, struct schedule_answer, 1);
    const char **ids = NEW(a, const char *, best->count);

    for (size_t i = 0; i < best->count; i++)
        ids[i] = p->site->resources[p->machines.resource[best->members[i]]].id;
    *schedule = (struct schedule_answer){
        .job_id = call->job->id,
        .site_id = p->site->id,
        .resource_ids = ids,
        .resource_count = best->count,
        .processors = best->count,
        .min_cpu_available_ratio = best->min_cpu_ratio,
        .min_bandwidth_mbps = best->min_bandwidth_mbps,
        .predicted_execution_s = best->time_s,
        .predicted_queue_wait_s = best->queue_wait_s,
        .score_s = best->score_s,
        .least_score_s = least_s < best->score_s ? least_s : (double)NAN,
        .model_id = source ? source->model_id : NULL,
        .model_version = source ? source->version : (double)NAN,
        .model_error_pct = source ? source->error_pct : (double)NAN,
    };
    answer->schedule = schedule;
    return assess_model(call, source, schedule);
}

#define FEWER_TOLERANCE 0.05 /* of ln times */

/* Fewer machines, as far as the model's error hides what they cost. */
static void prefer_fewer(struct schedule_call *call, const struct sites_in *problem,
                         struct sites_out *found)
{
    const struct parallel_out *best;
    const struct stored_model *source;
    double tolerance = FEWER_TOLERANCE;
    struct stored_interval interval;

    if (found->chosen == SIZE_MAX)
        return;
    best = &found->each[found->chosen];
    source = call->sources[found->chosen];
    if (source) {
        double inputs[STORED_INPUTS] = {call->job->problem_size, (double)best->count,
                                        best->min_cpu_ratio, best->min_bandwidth_mbps};

        stored_model_interval(source, best->time_s, inputs, &interval);
        if (!isnan(interval.error_ratio))
            tolerance = fmin(tolerance, log1p(interval.error_ratio));
    }
    sites_prefer_fewer(problem, tolerance, found, call->rq->arena);
}

/* Does the model know too little of the set for it to be called optimal? */
static bool is_doubtful(const struct schedule_answer *schedule)
{
    return schedule &&
           (schedule->extrapolation_ratio > UNKNOWN_RATIO || schedule->is_approximate);
}

static void make_sites(struct schedule_call *call, const struct sites_out *found,
                       struct schedules_answer *answer)
{
    struct site_answer *sites =
        NEW(call->rq->arena, struct site_answer, call->site_count);

    for (size_t k = 0; k < call->site_count; k++) {
        const struct parallel_out *one = &found->each[k];

        sites[k] = (struct site_answer){
            .site_id = call->problems[k].site->id,
            .algorithm = one->algorithm,
            .status = k == found->chosen && is_doubtful(answer->schedule) &&
                              one->status == DECISION_OPTIMAL
                          ? DECISION_FEASIBLE
                          : one->status,
            .score_s = finite_or_null(one->score_s),
            .lower_bound_s = finite_or_null(one->lower_bound_s),
            .processors = one->count,
            .resource_count = call->problems[k].machines.machines.count,
        };
    }
    answer->sites = sites;
    answer->site_count = call->site_count;
}

/* ---- reasons ---- */

static void add_reason(struct reason_answer *list, size_t *count, const char *reason,
                       const char *detail, size_t resource_count)
{
    list[*count] = (struct reason_answer){
        .reason = reason, .detail = detail, .resource_count = resource_count};
    ++*count;
}

/* Machines by what keeps their sites from running it. */
struct tally {
    size_t unusable, modelless, too_few, unlinked;
    size_t nearest; /* site with the most machines among those with too few; SIZE_MAX */
};

static struct tally tally_sites(const struct schedule_call *call)
{
    struct tally t = {.nearest = SIZE_MAX};

    for (size_t k = 0; k < call->site_count; k++) {
        const struct sites_problem *p = &call->problems[k];
        size_t n = p->machines.machines.count;

        t.unusable += p->machines.unusable_count;
        if (!p->model) {
            t.modelless += n;
        } else if (n == 0 || n < call->job->min_processors) {
            t.too_few += n;
            if (t.nearest == SIZE_MAX ||
                n > call->problems[t.nearest].machines.machines.count)
                t.nearest = k;
        } else {
            t.unlinked += n;
        }
    }
    return t;
}

static void add_nearest(struct schedule_call *call, const struct tally *t,
                        struct reason_answer *reason)
{
    struct miss_answer *miss = NEW(call->rq->arena, struct miss_answer, 1);
    const struct sites_problem *p = &call->problems[t->nearest];

    miss->site_id = p->site->id;
    miss->processors_short = call->job->min_processors - p->machines.machines.count;
    reason->nearest_miss = miss;
}

static void make_reasons(struct schedule_call *call, const struct sites_out *found,
                         struct schedules_answer *answer)
{
    struct arena *a = call->rq->arena;
    struct unplaced_answer *unplaced = NEW(a, struct unplaced_answer, 1);
    struct reason_answer *list = NEW(a, struct reason_answer, REASONS_MAX);
    struct tally t = tally_sites(call);
    size_t count = 0;

    if (t.unusable > 0)
        add_reason(list, &count, "resource_unusable", "they have no available cpu",
                   t.unusable);
    if (t.nearest != SIZE_MAX) {
        add_reason(list, &count, "below_min_processors",
                   "their sites have fewer usable machines than min_processors",
                   t.too_few);
        add_nearest(call, &t, &list[count - 1]);
    }
    if (t.modelless > 0)
        add_reason(list, &count, "model_missing",
                   "there is no usable model of the application for their sites",
                   t.modelless);
    if (t.unlinked > 0)
        add_reason(
            list, &count, "no_linked_set",
            found->status == DECISION_CUT
                ? "no set of min_processors linked machines with a finite time was "
                  "found before the search was cut"
                : "no min_processors of them are all linked to each other with a "
                  "finite time: proven",
            t.unlinked);
    *unplaced = (struct unplaced_answer){call->job->id, list, count};
    answer->unplaced = unplaced;
    answer->unplaced_count = 1;
    metrics_unplaced(call->rq->service->metrics,
                     count ? list[count - 1].reason : "no_resource", 1);
}

static enum error_code warn_of_search(struct schedule_call *call,
                                      const struct sites_out *found)
{
    if (found->perturbation_ignored)
        TRY(schedule_warn(call, "perturbation_ignored: an algorithm that proves its "
                                "answer does not perturb it"));
    if (found->invalid_count > 0)
        TRY(schedule_warn(call,
                          "model_invalid: %s of resources %s no positive finite time by "
                          "the model; %s passed over",
                          counted(found->invalid_count, "set").text,
                          plural(found->invalid_count, "has", "have"),
                          plural(found->invalid_count, "it was", "they were")));
    for (size_t k = 0; k < call->site_count; k++)
        if (!call->problems[k].model)
            TRY(schedule_warn(call,
                              "model_missing: there is no usable model for site "
                              "'%.100s'; it is left out",
                              call->problems[k].site->id));
    return OK;
}

static enum error_code make_answer(struct schedule_call *call,
                                   const struct sites_out *found, double least_s,
                                   struct schedules_answer *answer)
{
    bool any = found->chosen != SIZE_MAX;

    make_sites(call, found, answer);
    if (any)
        TRY(make_schedule(call, found, least_s, answer));
    else
        make_reasons(call, found, answer);
    make_sites(call, found, answer);
    TRY(warn_of_search(call, found));
    answer->objective =
        (struct objective_answer){any ? found->each[found->chosen].score_s : (double)NAN,
                                  finite_or_null(found->lower_bound_s), found->gap_ratio};
    answer->evaluations = found->evaluations;
    answer->iterations = found->iterations;
    answer->work_units = found->work_units;
    answer->heterogeneity_ratio = found->heterogeneity_ratio;
    answer->stopped_early = found->stopped_early;
    answer->monotone = found->monotone;
    answer->decision.warnings = call->warnings;
    answer->decision.warning_count = call->warning_count;
    return OK;
}

enum error_code post_parallel_schedules(struct request *rq, const void *in, void *out)
{
    const struct schedules_request *body = in;
    struct schedules_answer *answer = out;
    struct schedule_call call;
    struct sites_in problem;
    struct sites_out found;
    const char *algorithm;
    double least_s;

    TRY(decision_begin(rq, &body->decision, &answer->decision));
    TRY(schedule_call_begin(&call, rq, body));
    problem = (struct sites_in){
        .sites = call.problems,
        .site_count = call.site_count,
        .policy = call.policy,
        .param = call.param,
        .min_processors = call.job->min_processors,
        .seed = body->decision.seed,
        .budget = &rq->budget,
    };
    TRY(sites_decide(&problem, &found, rq->arena, rq->err));
    least_s = found.chosen == SIZE_MAX ? 0 : found.each[found.chosen].score_s;
    if (body->prefer_fewer_machines)
        prefer_fewer(&call, &problem, &found);
    TRY(make_answer(&call, &found, least_s, answer));
    algorithm = call.policy->name;
    if (found.chosen != SIZE_MAX)
        algorithm = found.each[found.chosen].algorithm;
    rq->gap_ratio = found.gap_ratio;
    if (found.status == DECISION_OPTIMAL && is_doubtful(answer->schedule))
        found.status = DECISION_FEASIBLE;
    decision_end(rq, algorithm, found.status, &answer->decision);
    return picture_answer(rq, out);
}
