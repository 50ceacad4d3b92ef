/* failures.c - below /v1/failures: resources that are up again, and what a history says.
 *
 * The failures themselves: records.c. */
#include "handlers/history/routes.h"

#include "handlers/common/page.h"
#include "handlers/prediction/resource_histories.h"
#include "models/base/plural.h"
#include "models/failure_stats.h"
#include "service/clock.h"
#include "service/records/record_check.h"
#include "service/store_reliability.h"

#include <string.h>

struct recovery {
    const char *resource_id;
    double up_at_s; /* instant */
};

struct recovery_answer {
    struct recovery recovery;
    uint64_t closed_count;
};

struct statistics_query {
    struct range_query range;
    const char *resource_id, *site_id, *component;
};

enum { RANGE_ENDS = 2, STATISTICS_WARNINGS_MAX = 8, STATISTICS_RESOURCES_MAX = 10000 };

struct statistics {
    const char *resource_id, *site_id, *component;
    struct failure_stats stats;
    double at_risk_s, kill_count, rate_per_s, mtbf_bayes_s;
    const double *mtbf_interval_s;
    size_t mtbf_interval_count;
    const struct failure_prior *prior;
    const char *const *warnings;
    size_t warning_count;
};

/* In the order of enum failure_model. */
static const char *const models[] = {"none", "exponential", "lognormal", "weibull", NULL};

#define T struct recovery
static const struct json_field recovery_rows[] = {
    JSON_ID(T, resource_id, JSON_REQUIRED, "The resource that is up again"),
    JSON_INSTANT(T, up_at, JSON_REQUIRED, "Since when"),
    {0},
};
#undef T
const struct json_object recovery_json = {"Recovery", "A resource is up again",
                                          sizeof(struct recovery), recovery_rows};

#define T struct recovery_answer
static const struct json_field recovery_answer_rows[] = {
    {.name = "resource_id",
     .doc = "The resource",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, recovery.resource_id, const char *)},
    {.name = "up_at",
     .doc = "End of the failures",
     .type = JSON_TYPE_INSTANT,
     .offset = JSON_AT(T, recovery.up_at_s, double)},
    JSON_INTEGER(T, closed_count, 0, JSON_EXACT, 0, 0,
                 "Open failures that ended thereby; 0: none was open"),
    {0},
};
#undef T
const struct json_object recovery_answer_json = {"RecoveryAnswer", "Which failures ended",
                                                 sizeof(struct recovery_answer),
                                                 recovery_answer_rows};

#define T struct statistics_query
static const struct json_field statistics_query_rows[] = {
    JSON_ID(T, resource_id, 0,
            "The resource; default: all resources, taken together as one system"),
    JSON_ID(T, site_id, 0,
            "Only resources of this site, as their observations say, or else their "
            "failures; default: of any"),
    JSON_ID(T, component, 0, "Only this component of the resource; default: the whole"),
    {.name = "from",
     .doc = "Begin of the window; default: of the observation, or else the first "
            "failure",
     .type = JSON_TYPE_INSTANT,
     .offset = JSON_AT(T, range.from_at_s, double),
     .preset = NAN},
    {.name = "to",
     .doc = "End of the window; default: now, or the last event if no observation says "
            "that the resource is still watched and nothing has been heard for long",
     .type = JSON_TYPE_INSTANT,
     .offset = JSON_AT(T, range.to_at_s, double),
     .preset = NAN},
    {0},
};
#undef T
const struct json_object failure_statistics_query_json = {
    "FailureStatisticsQuery", "Statistics of which failures",
    sizeof(struct statistics_query), statistics_query_rows};

#define T struct weibull_fit
static const struct json_field weibull_rows[] = {
    JSON_NUMBER(
        T, shape, 0, 0, 0, JSON_MAY_BE_NULL,
        "Below 1: the longer it is up, the longer it stays up; null: nothing to fit"),
    JSON_NUMBER(T, scale_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Scale in seconds; null: nothing to fit"),
    JSON_NUMBER(T, log_likelihood, 0, 0, 0, JSON_MAY_BE_NULL,
                "Of the gaps in seconds; null: nothing to fit"),
    JSON_BOOLEAN(T, capped, 0, 0, "The gaps are all but equal: shape is a cap"),
    {0},
};
#undef T
static const struct json_object weibull_json = {
    "WeibullFit", "Weibull distribution by maximum likelihood; null: under 2 gaps",
    sizeof(struct weibull_fit), weibull_rows};

#define T struct exponential_fit
static const struct json_field exponential_rows[] = {
    JSON_NUMBER(T, rate_per_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Failures per second; null: nothing to fit"),
    JSON_NUMBER(T, log_likelihood, 0, 0, 0, JSON_MAY_BE_NULL,
                "Of the gaps in seconds; null: nothing to fit"),
    {0},
};
#undef T
static const struct json_object exponential_json = {
    "ExponentialFit", "Exponential distribution by maximum likelihood; null: no gap",
    sizeof(struct exponential_fit), exponential_rows};

#define T struct lognormal_fit
static const struct json_field lognormal_rows[] = {
    JSON_NUMBER(T, mu, 0, 0, 0, JSON_MAY_BE_NULL,
                "Mean of the logarithm of the seconds; null: nothing to fit"),
    JSON_NUMBER(T, sigma, 0, 0, 0, JSON_MAY_BE_NULL,
                "Its standard deviation; null: nothing to fit"),
    JSON_NUMBER(T, log_likelihood, 0, 0, 0, JSON_MAY_BE_NULL,
                "Of the values in seconds; null: nothing to fit"),
    {0},
};
#undef T
static const struct json_object lognormal_json = {
    "LognormalFit", "Lognormal distribution by maximum likelihood; null: under 2 values",
    sizeof(struct lognormal_fit), lognormal_rows};

#define T struct failure_prior
static const struct json_field prior_rows[] = {
    JSON_CHOICE(T, scope, rate_prior_scopes, RATE_PRIOR_NONE, 0, "Which hosts"),
    JSON_NUMBER(T, shape, 0, 0, 0, 0, "Shape of the Gamma distribution of their rates"),
    JSON_NUMBER(T, rate_s, 0, 0, 0, 0, "Its rate"),
    JSON_INTEGER(T, host_count, 0, JSON_EXACT, 0, 0, "Number of these hosts"),
    {0},
};
#undef T
const struct json_object failure_prior_json = {
    "FailureRatePrior", "What other hosts teach of the rate of failures",
    sizeof(struct failure_prior), prior_rows};

#define T struct statistics
#define NUMBER(m, text)                                                  \
    {                                                                    \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER,               \
        .offset = JSON_AT(T, stats.m, double), .flags = JSON_MAY_BE_NULL \
    }
#define COUNT(m, text)                                      \
    {                                                       \
        .name = #m, .doc = text, .type = JSON_TYPE_INTEGER, \
        .offset = JSON_AT(T, stats.m, size_t)               \
    }
#define INSTANT(json_name, m, text)                                      \
    {                                                                    \
        .name = json_name, .doc = text, .type = JSON_TYPE_INSTANT,       \
        .offset = JSON_AT(T, stats.m, double), .flags = JSON_MAY_BE_NULL \
    }
#define FIT(m, ctype, table, text)                         \
    {                                                      \
        .name = #m, .doc = text, .type = JSON_TYPE_OBJECT, \
        .offset = JSON_AT(T, stats.m, ctype), .of = table  \
    }
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts are printed as integers");

static const struct json_field statistics_rows[] = {
    JSON_TEXT(T, resource_id, JSON_OPTIONAL, "The resource; left out: all of them"),
    JSON_TEXT(T, site_id, JSON_OPTIONAL, "The site; left out: any"),
    JSON_TEXT(T, component, JSON_OPTIONAL, "The component; left out: the whole"),
    INSTANT("from_at", from_s, "Begin of the window; null: no failure and none given"),
    INSTANT("to_at", to_s, "End of the window; null: no failure and none given"),
    NUMBER(window_s, "Length of the window; null: it has no begin"),
    COUNT(failure_count, "Failures that begin in the window"),
    COUNT(outage_count, "The same with overlapping and touching ones merged"),
    INSTANT("last_failure_at", last_failure_at_s, "Begin of the last; null: none"),
    {.name = "down",
     .doc = "Whether it is down at the window's end",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, stats.down, bool)},
    NUMBER(uptime_s, "Time since the last restore, or since the window's begin; null: it "
                     "is down, or the window has no begin"),
    NUMBER(downtime_s, "Time in the window in which one failure at least was open; null: "
                       "it has no begin"),
    NUMBER(availability_ratio, "1 - downtime_s / window_s; null: it has no length"),
    NUMBER(mean_gap_s, "Mean time between the begins of failures; null: under 2"),
    NUMBER(mtbf_censored_s,
           "Mean time between failures: window_s / outage_count; null: no failure"),
    NUMBER(mtbf_gap_mean_s, "Mean time between failures: window up to the last "
                            "failure / outage_count; null: no failure"),
    NUMBER(mtbf_uptime_mean_s, "Mean time between failures: (window_s - downtime_s) / "
                               "outage_count; null: no failure"),
    COUNT(repair_count, "Failures that begin and end in the window"),
    NUMBER(mttr_s, "Mean time to repair; null: no repair"),
    NUMBER(repair_median_s, "Median time to repair; null: no repair"),
    FIT(repair, struct lognormal_fit, &lognormal_json, "Repair times above 0"),
    COUNT(zero_gap_count, "Failures at the instant of another: left out of the fits"),
    COUNT(gap_count, "Gaps that the fits are made from"),
    FIT(weibull, struct weibull_fit, &weibull_json, "Fit of the gaps"),
    FIT(exponential, struct exponential_fit, &exponential_json, "Fit of the gaps"),
    FIT(lognormal, struct lognormal_fit, &lognormal_json, "Fit of the gaps"),
    {.name = "best_model",
     .doc = "Fit with the least Akaike criterion; none: fewer than 3 gaps",
     .type = JSON_TYPE_CHOICE,
     .offset = offsetof(T, stats.best),
     .choices = models},
    JSON_NUMBER(T, at_risk_s, 0, 0, 0, 0,
                "Time in which it was watched and could fail; of several resources the "
                "sum"),
    JSON_NUMBER(T, kill_count, 0, 0, 0, JSON_WHOLE,
                "Failures in that time that killed what ran there: also those of "
                "components whose repairs overlap"),
    JSON_NUMBER(T, rate_per_s, 0, 0, 0, JSON_OPTIONAL,
                "Mean rate of failures of one resource, 1 / mtbf_bayes_s; left out: "
                "nothing was watched"),
    JSON_NUMBER(T, mtbf_bayes_s, 0, 0, 0, JSON_OPTIONAL,
                "Mean time between failures that decisions use: of one resource, also "
                "when several were asked for; with what its prior knows"),
    JSON_NUMBERS(T, mtbf_interval_s, mtbf_interval_count, 0, 0, JSON_OPTIONAL,
                 "In which it lies at 95 %: low, high"),
    JSON_OBJECT(T, prior, const struct failure_prior *, &failure_prior_json,
                JSON_POINTER | JSON_OPTIONAL, "Left out: none"),
    JSON_TEXTS(T, warnings, warning_count, 0, 0,
               "What was cut, guessed or left out, as code: text"),
    {0},
};
_Static_assert(sizeof(((T *)0)->stats.best) == sizeof(int), "a choice is an int");
#undef FIT
#undef INSTANT
#undef COUNT
#undef NUMBER
#undef T
const struct json_object failure_statistics_json = {
    "FailureStatistics", "What a history of failures says about a resource",
    sizeof(struct statistics), statistics_rows};

enum error_code post_recovery(struct request *rq, const void *in, void *out)
{
    const struct recovery *body = in;
    struct recovery_answer *answer = out;
    struct record_check check = {.now_s = clock_wall_s(), .err = rq->err};
    struct db_session *db;
    size_t closed;

    record_check_instant(&check, "up_at", body->up_at_s);
    if (rq->err->code != OK)
        return rq->err->code;
    TRY(request_db(rq, &db));
    TRY(store_failure_close(db, rq->principal.tenant, body->resource_id, body->up_at_s,
                            &closed, rq->err));
    answer->recovery = *body;
    answer->closed_count = closed;
    return OK;
}

/* ---- statistics ---- */

/* One request for them. */
struct statistics_work {
    struct request *rq;
    const struct statistics_query *query;
    struct statistics *answer;
    struct resource_histories histories; /* of the resources that are asked for */
    struct range_query range;            /* as it is used */
    const char *warnings[STATISTICS_WARNINGS_MAX];
};

static enum error_code warn(struct statistics_work *w, const char *text)
{
    w->warnings[w->answer->warning_count++] = text;
    return OK;
}

/* The resources: the one that is asked for, or all that are stored. */
static enum error_code list_resources(struct statistics_work *w, struct db_session *db)
{
    const struct store_peer *all;
    size_t count;

    if (w->query->resource_id) {
        histories_begin(NULL, 1, &w->histories, w->rq->arena);
        histories_find(&w->histories, w->query->resource_id, true);
        return OK;
    }
    TRY(store_peers(db, w->rq->principal.tenant, NULL, STATISTICS_RESOURCES_MAX, &all,
                    &count, w->rq->arena, w->rq->err));
    histories_begin(NULL, count, &w->histories, w->rq->arena);
    for (size_t i = 0; i < count; i++)
        histories_find(&w->histories, all[i].resource_id, true);
    if (count < STATISTICS_RESOURCES_MAX)
        return OK;
    return warn(w, arena_printf(w->rq->arena,
                                "resources_cut: at_risk_s, kill_count and what follows "
                                "from them are of the first %d resources by id",
                                STATISTICS_RESOURCES_MAX));
}

static bool is_asked(const struct statistics_work *w, const struct resource_history *r)
{
    const char *site_id = w->query->site_id;

    return !site_id || (r->site_id && strcmp(r->site_id, site_id) == 0);
}

/* What the resources have seen together, and the window where none was given. */
static enum error_code sum_up(struct statistics_work *w, struct failure_exposure *sum)
{
    struct range_query found = {NAN, NAN};
    size_t guessed = 0, ended = 0, outside = 0, cut = 0;

    for (size_t i = 0; i < w->histories.count; i++) {
        const struct resource_history *r = &w->histories.list[i];

        if (!is_asked(w, r))
            continue;
        sum->at_risk_s += r->risk.seen.at_risk_s;
        sum->kill_count += r->risk.seen.kill_count;
        found.from_at_s = fmin(found.from_at_s, r->risk.from_s);
        found.to_at_s = fmax(found.to_at_s, r->risk.to_s);
        guessed += r->risk.start_unknown;
        ended += r->risk.history_ended;
        outside += r->risk.outside_count;
        cut += r->is_cut;
    }
    if (isnan(w->range.from_at_s))
        w->range.from_at_s = found.from_at_s;
    if (isnan(w->range.to_at_s))
        w->range.to_at_s = isnan(found.to_at_s) ? w->histories.now_s : found.to_at_s;
    if (guessed)
        TRY(warn(w, arena_printf(w->rq->arena,
                                 "observation_start_unknown: of %s nobody "
                                 "said since when %s watched (POST "
                                 "/v1/observations); the rate is that after the first "
                                 "failure",
                                 counted(guessed, "resource").text,
                                 plural(guessed, "it is", "they are"))));
    if (ended)
        TRY(warn(w, arena_printf(w->rq->arena,
                                 "history_ended: of %s nothing was heard "
                                 "for long; %s time ends with the last event",
                                 counted(ended, "resource").text,
                                 plural(ended, "its", "their"))));
    if (outside)
        TRY(warn(w, arena_printf(w->rq->arena,
                                 "outside_observation: %s %s outside every "
                                 "observation of %s resource and %s no part in "
                                 "the rate",
                                 counted(outside, "failure").text,
                                 plural(outside, "lies", "lie"),
                                 plural(outside, "its", "their"),
                                 plural(outside, "has", "have"))));
    if (cut)
        return warn(w, arena_printf(w->rq->arena,
                                    "history_cut: of %s only the newest "
                                    "failures have a part in the rate",
                                    counted(cut, "resource").text));
    return OK;
}

const struct failure_prior *failure_prior_of(const struct resource_history *r,
                                             struct arena *a)
{
    struct failure_prior *prior;

    if (r->prior_scope == RATE_PRIOR_NONE)
        return NULL;
    prior = NEW(a, struct failure_prior, 1);
    *prior = (struct failure_prior){(int)r->prior_scope, r->prior.shape, r->prior.rate_s,
                                    r->prior.host_count};
    return prior;
}

static enum error_code rate(struct statistics_work *w, struct failure_exposure sum)
{
    struct statistics *answer = w->answer;
    const struct resource_history *one =
        w->query->resource_id ? &w->histories.list[0] : NULL;
    struct failure_rate rate = one && one->has_rate
                                   ? one->rate
                                   : failure_rate_of(sum, NULL, MEAN_FLOOR_PRESET_S);
    struct failure_range range = failure_rate_range(&rate);
    double *ends = NEW(w->rq->arena, double, RANGE_ENDS);

    answer->at_risk_s = sum.at_risk_s;
    answer->kill_count = sum.kill_count;
    answer->mtbf_bayes_s = rate.mean_s;
    answer->rate_per_s = 1 / rate.mean_s;
    if (isnan(rate.mean_s))
        return OK;
    ends[0] = range.low_s;
    ends[1] = range.high_s;
    answer->mtbf_interval_s = ends;
    answer->mtbf_interval_count = RANGE_ENDS;
    if (one)
        answer->prior = failure_prior_of(one, w->rq->arena);
    if (rate.few_failures)
        TRY(warn(w, "few_failures: fewer than 3 failures; mtbf_bayes_s is mostly what "
                    "was known before them"));
    if (rate.floor_applied)
        TRY(warn(w, "mean_floor_applied: mtbf_bayes_s is a day, the least that so few "
                    "failures can say"));
    return OK;
}

/* The failures that are asked for, of those read. */
static size_t keep_asked(struct statistics_work *w, const struct failure *list,
                         size_t count, struct failure_interval *out)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        size_t place = histories_find(&w->histories, list[i].resource_id, false);
        const char *component = list[i].component ? list[i].component : "";

        if (place != NAME_NOT_FOUND && !is_asked(w, &w->histories.list[place]))
            continue;
        if (w->query->component && strcmp(component, w->query->component) != 0)
            continue;
        if (list[i].kind == FAILURE_FAILURE)
            out[used++] = (struct failure_interval){list[i].down_at_s, list[i].up_at_s};
    }
    return used;
}

static enum error_code fit_stats(struct statistics_work *w, struct db_session *db)
{
    const struct failure *failures;
    struct failure_interval *intervals;
    size_t count;
    bool cut;

    TRY(store_failures_overlapping(
        db, w->rq->principal.tenant, w->query->resource_id,
        isnan(w->range.from_at_s) ? -HUGE_VAL : w->range.from_at_s, w->range.to_at_s,
        &failures, &count, &cut, w->rq->arena, w->rq->err));
    intervals = NEW(w->rq->arena, struct failure_interval, count);
    count = keep_asked(w, failures, count, intervals);
    if (cut)
        TRY(warn(w, "failures_cut"));
    return failure_stats_fit(intervals, count, w->range.from_at_s, w->range.to_at_s,
                             &w->answer->stats, w->rq->arena, w->rq->err);
}

enum error_code get_failure_statistics(struct request *rq, const void *in, void *out)
{
    struct statistics_work w = {.rq = rq, .query = rq->query, .answer = out};
    struct histories_options options = histories_options_preset();
    struct failure_exposure sum = {0, 0};
    const char **warnings = NEW(rq->arena, const char *, STATISTICS_WARNINGS_MAX);
    struct db_session *db;

    (void)in;
    w.range = w.query->range;
    TRY(range_check(&w.range, rq->err));
    TRY(request_db(rq, &db));
    TRY(list_resources(&w, db));
    options.estimator = MF_BAYES;
    options.from_s = w.range.from_at_s;
    options.to_s = w.range.to_at_s;
    options.component = w.query->component;
    if (!w.query->resource_id || w.query->component)
        options.prior = RATE_PRIOR_NONE;
    for (size_t i = 0; i < w.histories.count; i++)
        w.histories.list[i].wanted = true;
    TRY(histories_read(rq, &w.histories, &options));
    if (w.histories.unavailable)
        return fail(rq->err, ERR_UNAVAILABLE, "", "the failures cannot be read now");
    TRY(sum_up(&w, &sum));
    TRY(rate(&w, sum));
    TRY(fit_stats(&w, db));
    w.answer->resource_id = w.query->resource_id;
    w.answer->site_id = w.query->site_id;
    w.answer->component = w.query->component;
    memcpy(warnings, w.warnings, w.answer->warning_count * sizeof(*warnings));
    w.answer->warnings = warnings;
    return OK;
}
