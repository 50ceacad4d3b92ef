/* failure_resources.c - GET /v1/failures/statistics/resources: how often each fails. */
#include "handlers/site_history/routes.h"

#include "handlers/common/page.h"
#include "handlers/history/routes.h"
#include "handlers/prediction/resource_histories.h"
#include "service/store_reliability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESOURCES_MAX = 10000, RANGE_ENDS = 2 };

struct resources_query {
    struct page_query page;
    struct range_query range;
    const char *site_id;
    int order; /* enum order */
};

enum order { BY_ID, BY_AVAILABILITY };
static const char *const orders[] = {"resource_id", "availability", NULL};

struct resource_rate {
    const char *resource_id, *site_id; /* NULL: its observations do not say */
    uint64_t failure_count;
    double availability_ratio, mttr_s;
    double at_risk_s, kill_count, rate_per_s, mtbf_bayes_s;
    const double *mtbf_interval_s;
    size_t mtbf_interval_count;
    const struct failure_prior *prior;
};

struct resources_page {
    const struct resource_rate *items;
    size_t item_count;
    const char *next_page_token;
    const char *const *warnings;
    size_t warning_count;
};

#define T struct resources_query
static const struct json_field query_rows[] = {
    JSON_ID(T, site_id, 0,
            "Only resources of this site, as their observations say, or else their "
            "failures; default: of any"),
    {.name = "from",
     .doc = "Begin of the window; default: of each observation, or else the first "
            "failure",
     .type = JSON_TYPE_INSTANT,
     .offset = JSON_AT(T, range.from_at_s, double),
     .preset = NAN},
    {.name = "to",
     .doc = "End of the window; default: now, or the last event of a resource of which "
            "nothing has been heard for long",
     .type = JSON_TYPE_INSTANT,
     .offset = JSON_AT(T, range.to_at_s, double),
     .preset = NAN},
    JSON_CHOICE(T, order, orders, BY_ID, 0,
                "By id, or the least available first, of equal ones by id"),
    PAGE_ROWS(T),
    {0},
};
#undef T
const struct json_object failure_resources_query_json = {
    "FailureResourcesQuery", "Which resources", sizeof(struct resources_query),
    query_rows};

#define T struct resource_rate
static const struct json_field rate_rows[] = {
    JSON_TEXT(T, resource_id, 0, "The resource"),
    JSON_TEXT(T, site_id, JSON_OPTIONAL,
              "Its site, as its observations say, or else its newest failure"),
    JSON_INTEGER(T, failure_count, 0, JSON_EXACT, 0, 0,
                 "Outages in the window; those that overlap are one"),
    JSON_NUMBER(T, availability_ratio, 0, 0, 0, JSON_OPTIONAL,
                "Time up over the time observed; left out: it was observed for no time"),
    JSON_NUMBER(T, mttr_s, 0, 0, 0, JSON_OPTIONAL,
                "Mean time to repair; left out: there was no repair yet"),
    JSON_NUMBER(T, at_risk_s, 0, 0, 0, 0,
                "Time in which it was watched and up, and so could have failed"),
    JSON_NUMBER(T, kill_count, 0, 0, 0, JSON_WHOLE,
                "Failures in that time that ended what ran on it"),
    JSON_NUMBER(T, rate_per_s, 0, 0, 0, JSON_OPTIONAL, "1 / mtbf_bayes_s"),
    JSON_NUMBER(T, mtbf_bayes_s, 0, 0, 0, JSON_OPTIONAL,
                "Mean time between failures that decisions use; left out: nothing is "
                "known"),
    JSON_NUMBERS(T, mtbf_interval_s, mtbf_interval_count, 0, 0, JSON_OPTIONAL,
                 "It lies between these two at 95 %"),
    JSON_OBJECT(T, prior, const struct failure_prior *, &failure_prior_json,
                JSON_POINTER | JSON_OPTIONAL, "Other hosts that tell of it"),
    {0},
};
#undef T
static const struct json_object rate_json = {"ResourceFailureRate",
                                             "How often a resource fails",
                                             sizeof(struct resource_rate), rate_rows};

#define T struct resources_page
static const struct json_field page_rows[] = {
    JSON_LIST(T, items, item_count, struct resource_rate, &rate_json, 0, 0,
              "Resources, in the order asked for"),
    NEXT_PAGE_ROW(T),
    JSON_TEXTS(T, warnings, warning_count, 0, 0, "What to know of them"),
    {0},
};
#undef T
const struct json_object failure_resources_page_json = {
    "FailureResourcesPage", "A page of resources and how often they fail",
    sizeof(struct resources_page), page_rows};

/* A resource, and how available it was at the histories' now; NAN: not known. */
struct available {
    const struct resource_history *history;
    double ratio;
};

/* Of the time in which it was observed. */
static double availability_of(const struct resource_history *r, double now_s)
{
    double end_s = isnan(r->risk.to_s) ? now_s : fmin(now_s, r->risk.to_s);

    return reliability_availability_ratio(&r->reliability, end_s);
}

/* The least available first, those of which it is not known last. */
static int by_availability(const void *x, const void *y)
{
    const struct available *a = x, *b = y;

    if (isnan(a->ratio) != isnan(b->ratio))
        return isnan(a->ratio) ? 1 : -1;
    if (!isnan(a->ratio) && a->ratio != b->ratio)
        return a->ratio < b->ratio ? -1 : 1;
    return a->history < b->history ? -1 : a->history > b->history;
}

static struct resource_rate rate_of(const struct available *of, struct arena *a)
{
    const struct resource_history *r = of->history;
    struct failure_range range = failure_rate_range(&r->rate);
    struct resource_rate out = {
        .resource_id = r->id,
        .site_id = r->site_id,
        .failure_count = r->reliability.failure_count,
        .availability_ratio = of->ratio,
        .mttr_s = reliability_mttr_s(&r->reliability),
        .at_risk_s = r->risk.seen.at_risk_s,
        .kill_count = r->risk.seen.kill_count,
        .rate_per_s = NAN,
        .mtbf_bayes_s = NAN,
    };
    double *ends;

    if (!r->has_rate)
        return out;
    out.mtbf_bayes_s = r->rate.mean_s;
    out.rate_per_s = 1 / r->rate.mean_s;
    ends = NEW(a, double, RANGE_ENDS);
    ends[0] = range.low_s;
    ends[1] = range.high_s;
    out.mtbf_interval_s = ends;
    out.mtbf_interval_count = RANGE_ENDS;
    out.prior = failure_prior_of(r, a);
    return out;
}

/* All stored resources, read. */
static enum error_code read_all(struct request *rq, const struct resources_query *query,
                                struct resource_histories *out)
{
    struct histories_options options = histories_options_preset();
    const struct store_peer *all;
    struct db_session *db;
    size_t count;

    TRY(request_db(rq, &db));
    TRY(store_peers(db, rq->principal.tenant, NULL, RESOURCES_MAX, &all, &count,
                    rq->arena, rq->err));
    histories_begin(NULL, count, out, rq->arena);
    for (size_t i = 0; i < count; i++)
        histories_find(out, all[i].resource_id, true);
    for (size_t i = 0; i < out->count; i++)
        out->list[i].wanted = true;
    options.estimator = MF_BAYES;
    options.from_s = query->range.from_at_s;
    options.to_s = query->range.to_at_s;
    TRY(histories_read(rq, out, &options));
    if (out->unavailable)
        return fail(rq->err, ERR_UNAVAILABLE, "", "the failures cannot be read now");
    return OK;
}

enum error_code get_failure_resources(struct request *rq, const void *in, void *out)
{
    const struct resources_query *query = rq->query;
    struct resources_page *page = out;
    struct resource_histories histories;
    struct available *asked;
    struct resource_rate *items;
    size_t count = 0, first;

    (void)in;
    TRY(range_check(&query->range, rq->err));
    TRY(read_all(rq, query, &histories));
    asked = NEW(rq->arena, struct available, histories.count);
    for (size_t i = 0; i < histories.count; i++) {
        const struct resource_history *r = &histories.list[i];

        if (!query->site_id || (r->site_id && strcmp(r->site_id, query->site_id) == 0))
            asked[count++] = (struct available){r, availability_of(r, histories.now_s)};
    }
    if (query->order == BY_AVAILABILITY)
        qsort(asked, count, sizeof(*asked), by_availability);
    TRY(page_cut(rq, &query->page, count, &first, &page->item_count,
                 &page->next_page_token));
    items = NEW(rq->arena, struct resource_rate, page->item_count);
    for (size_t i = 0; i < page->item_count; i++)
        items[i] = rate_of(&asked[first + i], rq->arena);
    page->items = items;
    if (histories.count == RESOURCES_MAX) {
        const char **warnings = NEW(rq->arena, const char *, 1);

        warnings[0] = arena_printf(
            rq->arena, "resources_cut: only the first %d resources by id", RESOURCES_MAX);
        page->warnings = warnings;
        page->warning_count = 1;
    }
    return OK;
}
