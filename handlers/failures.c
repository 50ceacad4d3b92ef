/* failures.c - /v1/failures: when resources were down, and what that says. */
#include "handlers/failures.h"

#include "handlers/bulk.h"
#include "handlers/page.h"
#include "models/failure_stats.h"
#include "service/clock.h"

struct failures_query {
    struct page_query page;
    struct range_query range;
    int order;
    const char *resource_id;
};

struct failures_page {
    const struct failure *failures;
    size_t failure_count;
    const char *next_page_token;
};

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
    const char *resource_id;
};

struct statistics {
    const char *resource_id;
    struct failure_stats stats;
    const char *const *warnings;
    size_t warning_count;
};

/* In the order of enum failure_model. */
static const char *const models[] = {"none", "exponential", "lognormal", "weibull", NULL};

#define T struct failure
static const struct json_field failure_rows[] = {
    JSON_ID(T, resource_id, JSON_REQUIRED, "The resource that failed"),
    JSON_INSTANT(T, down_at, JSON_REQUIRED, "When it went down"),
    JSON_INSTANT(T, up_at, JSON_NULLABLE,
                 "When it was up again, not before down_at; null: still down"),
    JSON_TEXT(T, cause, JSON_NULLABLE | JSON_OPTIONAL,
              "Free text: hardware, network ..."),
    JSON_TEXT(T, component, JSON_NULLABLE | JSON_OPTIONAL,
              "The part that failed; default: the whole resource"),
    {0},
};
#undef T
const struct json_object failure_json = {"Failure", "A time in which a resource was down",
                                         sizeof(struct failure), failure_rows};

#define T struct failures_query
static const struct json_field query_rows[] = {
    JSON_ID(T, resource_id, 0, "Failures of this resource only; default: any"),
    RANGE_ROWS(T),
    ORDER_ROW(T),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object failures_query_json = {
    "FailuresQuery", "Which failures, by down_at", sizeof(struct failures_query),
    query_rows};

#define T struct failures_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, failures, failure_count, struct failure, &failure_json, 0, 0,
              "The failures by down_at"),
    NEXT_PAGE_ROW(T),
    {0},
};
#undef T
const struct json_object failures_page_json = {"FailuresPage", "A page of failures",
                                               sizeof(struct failures_page), page_rows};

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
    {.name = "from",
     .doc = "Begin of the window; default: the first failure",
     .type = JSON_TYPE_INSTANT,
     .offset = JSON_AT(T, range.from_at_s, double),
     .preset = NAN},
    {.name = "to",
     .doc = "End of the window; default: now",
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
    JSON_NUMBER(T, shape, 0, 0, 0, 0,
                "Below 1: the longer it is up, the longer it stays up"),
    JSON_NUMBER(T, scale_s, 0, 0, 0, 0, "Scale in seconds"),
    JSON_NUMBER(T, log_likelihood, 0, 0, 0, 0, "Of the gaps in seconds"),
    JSON_BOOLEAN(T, capped, 0, 0, "The gaps are all but equal: shape is a cap"),
    {0},
};
#undef T
static const struct json_object weibull_json = {
    "WeibullFit", "Weibull distribution by maximum likelihood; null: under 2 gaps",
    sizeof(struct weibull_fit), weibull_rows};

#define T struct exponential_fit
static const struct json_field exponential_rows[] = {
    JSON_NUMBER(T, rate_per_s, 0, 0, 0, 0, "Failures per second"),
    JSON_NUMBER(T, log_likelihood, 0, 0, 0, 0, "Of the gaps in seconds"),
    {0},
};
#undef T
static const struct json_object exponential_json = {
    "ExponentialFit", "Exponential distribution by maximum likelihood; null: no gap",
    sizeof(struct exponential_fit), exponential_rows};

#define T struct lognormal_fit
static const struct json_field lognormal_rows[] = {
    JSON_NUMBER(T, mu, 0, 0, 0, 0, "Mean of the logarithm of the seconds"),
    JSON_NUMBER(T, sigma, 0, 0, 0, 0, "Its standard deviation"),
    JSON_NUMBER(T, log_likelihood, 0, 0, 0, 0, "Of the values in seconds"),
    {0},
};
#undef T
static const struct json_object lognormal_json = {
    "LognormalFit", "Lognormal distribution by maximum likelihood; null: under 2 values",
    sizeof(struct lognormal_fit), lognormal_rows};

#define T struct statistics
#define NUMBER(m, text)                                    \
    {                                                      \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER, \
        .offset = JSON_AT(T, stats.m, double)              \
    }
#define COUNT(m, text)                                      \
    {                                                       \
        .name = #m, .doc = text, .type = JSON_TYPE_INTEGER, \
        .offset = JSON_AT(T, stats.m, size_t)               \
    }
#define INSTANT(json_name, m, text)                                \
    {                                                              \
        .name = json_name, .doc = text, .type = JSON_TYPE_INSTANT, \
        .offset = JSON_AT(T, stats.m, double)                      \
    }
#define FIT(m, ctype, table, text)                         \
    {                                                      \
        .name = #m, .doc = text, .type = JSON_TYPE_OBJECT, \
        .offset = JSON_AT(T, stats.m, ctype), .of = table  \
    }
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts are printed as integers");

static const struct json_field statistics_rows[] = {
    JSON_TEXT(T, resource_id, JSON_OPTIONAL, "The resource; left out: all of them"),
    INSTANT("from_at", from_s, "Begin of the window; null: no failure and none given"),
    INSTANT("to_at", to_s, "End of the window"),
    NUMBER(window_s, "Length of the window"),
    COUNT(failure_count, "Failures that begin in the window"),
    COUNT(outage_count, "The same with overlapping and touching ones merged"),
    INSTANT("last_failure_at", last_failure_at_s, "Begin of the last; null: none"),
    {.name = "down",
     .doc = "Whether it is down at the window's end",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, stats.down, bool)},
    NUMBER(uptime_s, "Time since the last restore, or since the window's begin"),
    NUMBER(downtime_s, "Time in the window in which one failure at least was open"),
    NUMBER(availability_ratio, "1 - downtime_s / window_s"),
    NUMBER(mean_gap_s, "Mean time between the begins of failures; null: under 2"),
    NUMBER(mtbf_censored_s, "Mean time between failures: window_s / outage_count"),
    NUMBER(mtbf_gap_mean_s, "Mean time between failures: window up to the last "
                            "failure / outage_count"),
    NUMBER(mtbf_uptime_mean_s,
           "Mean time between failures: (window_s - downtime_s) / outage_count"),
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
    JSON_TEXTS(T, warnings, warning_count, 0, 0,
               "failures_cut: there are more failures than one answer may use; take a "
               "shorter window"),
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

static void check_failure(struct bulk_check *check, const void *item)
{
    const struct failure *f = item;

    bulk_check_instant(check, "down_at", f->down_at_s);
    bulk_check_instant(check, "up_at", f->up_at_s);
    if (f->up_at_s < f->down_at_s)
        bulk_mistake(check, "up_at", "out_of_bounds", "up_at is before down_at");
}

enum error_code post_failures(struct request *rq, const void *in, void *out)
{
    struct db_session *db;
    const void *items;
    size_t count;

    TRY(bulk_accept(rq, in, sizeof(struct failure), check_failure, &items, &count, out));
    TRY(request_db(rq, &db));
    TRY(store_failures(db, rq->principal.tenant, items, count, rq->err));
    bulk_stored(rq, count, out);
    return OK;
}

enum error_code get_failures(struct request *rq, const void *in, void *out)
{
    const struct failures_query *query = rq->query;
    struct failures_page *page = out;
    struct store_page part = page_of(&query->page);
    struct store_filter filter = {
        .resource_id = query->resource_id,
        .from_at_s = query->range.from_at_s,
        .to_at_s = query->range.to_at_s,
        .newest_first = query->order == PAGE_NEWEST_FIRST,
    };
    struct db_session *db;

    (void)in;
    TRY(range_check(&query->range, rq->err));
    TRY(request_db(rq, &db));
    TRY(store_failures_read(db, rq->principal.tenant, &filter, &part, &page->failures,
                            &page->failure_count, &page->next_page_token, rq->arena,
                            rq->err));
    return page_link(rq, page->next_page_token);
}

enum error_code post_recovery(struct request *rq, const void *in, void *out)
{
    const struct recovery *body = in;
    struct recovery_answer *answer = out;
    struct bulk_check check = {.now_s = clock_wall_s(), .err = rq->err};
    struct db_session *db;
    size_t closed;

    bulk_check_instant(&check, "up_at", body->up_at_s);
    if (rq->err->code != OK)
        return rq->err->code;
    TRY(request_db(rq, &db));
    TRY(store_failure_close(db, rq->principal.tenant, body->resource_id, body->up_at_s,
                            &closed, rq->err));
    answer->recovery = *body;
    answer->closed_count = closed;
    return OK;
}

/* The intervals of the failures, without their texts. */
static const struct failure_interval *intervals_of(const struct failure *failures,
                                                   size_t count, struct arena *a)
{
    struct failure_interval *list = NEW(a, struct failure_interval, count);

    for (size_t i = 0; list && i < count; i++)
        list[i] = (struct failure_interval){failures[i].down_at_s, failures[i].up_at_s};
    return list;
}

enum error_code get_failure_statistics(struct request *rq, const void *in, void *out)
{
    static const char *const cut_warning[] = {"failures_cut"};
    const struct statistics_query *query = rq->query;
    struct statistics *answer = out;
    struct range_query range = query->range;
    const struct failure_interval *intervals;
    const struct failure *failures;
    struct db_session *db;
    size_t count;
    bool cut;

    (void)in;
    if (isnan(range.to_at_s))
        range.to_at_s = clock_wall_s();
    TRY(range_check(&range, rq->err));
    TRY(request_db(rq, &db));
    TRY(store_failures_overlapping(db, rq->principal.tenant, query->resource_id,
                                   isnan(range.from_at_s) ? -HUGE_VAL : range.from_at_s,
                                   range.to_at_s, &failures, &count, &cut, rq->arena,
                                   rq->err));
    intervals = intervals_of(failures, count, rq->arena);
    if (!intervals)
        return fail_memory(rq->err);
    TRY(failure_stats_fit(intervals, count, range.from_at_s, range.to_at_s,
                          &answer->stats, rq->arena, rq->err));
    answer->resource_id = query->resource_id;
    answer->warnings = cut_warning;
    answer->warning_count = cut ? 1 : 0;
    return OK;
}
