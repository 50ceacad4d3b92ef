/* resource_histories.c - how reliable the resources of a decision are. */
#include "handlers/prediction/resource_histories.h"

#include "handlers/common/decision.h"
#include "models/base/plural.h"
#include "models/base/pointer.h"
#include "service/clock.h"
#include "service/store_reliability.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stored failures that one request reads: of each resource the newest, as many as
 * make ROWS_MAX together, but at least PER_RESOURCE_MIN, at most PER_RESOURCE_MAX. */
enum { ROWS_MAX = 200000, PER_RESOURCE_MIN = 12, PER_RESOURCE_MAX = 1000 };

struct histories_options histories_options_preset(void)
{
    return (struct histories_options){.estimator = MF_AUTO,
                                      .prior = RATE_PRIOR_SITE,
                                      .mean_floor_s = MEAN_FLOOR_PRESET_S,
                                      .from_s = NAN,
                                      .to_s = NAN};
}

void histories_begin(const struct snapshot *snapshot, size_t expected,
                     struct resource_histories *out, struct arena *a)
{
    size_t count = snapshot ? snapshot->resource_count : 0;

    *out = (struct resource_histories){.count = count, .now_s = NAN};
    out->list = NEW(a, struct resource_history, snapshot ? count : expected);
    name_index_create(&out->index, snapshot ? count : expected, a);
    for (size_t i = 0; i < count; i++) {
        out->list[i].id = snapshot->resources[i].id;
        out->list[i].resource = &snapshot->resources[i];
        name_index_add(&out->index, out->list[i].id, i);
    }
}

size_t histories_find(struct resource_histories *h, const char *id, bool add)
{
    size_t place =
        add ? name_index_add(&h->index, id, h->count) : name_index_find(&h->index, id);

    if (place != NAME_NOT_FOUND || !add)
        return place;
    h->list[h->count].id = id;
    return h->count++;
}

void histories_check(const struct resource_histories *h, struct error *err)
{
    for (size_t i = 0; i < h->count; i++) {
        const struct resource *r = h->list[i].resource;

        if (!r || !(r->failure_count != floor(r->failure_count)) ||
            isnan(r->failure_count))
            continue;
        invalid(err, pointer_in("/snapshot/resources", i, "failure_count").text,
                ITEM_NOT_AN_INTEGER, "%g is not a whole number", r->failure_count);
    }
}

/* ---- what is kept for a replay ---- */

struct kept_resource {
    const char *id;
    double observed_since_s; /* NAN: never observed */
    const double *down_at_s; /* of each failure that was read, in that order */
    size_t down_count;
    const double *up_at_s; /* NAN: still down */
    size_t up_count;
    const double *component; /* as in struct at_risk_row, likewise the next */
    size_t component_count;
    const double *kind;
    size_t kind_count;
    const double *span_from_s; /* of each time in which it was observed */
    size_t span_from_count;
    const double *span_to_s; /* NAN: it still is */
    size_t span_to_count;
    const char *site_id; /* as what is stored says; NULL: it does not */
    double site_shape;   /* NAN: there was none */
    double prior_shape;  /* NAN: there was no prior */
    double prior_rate_s;
    uint64_t prior_host_count;
    int prior_scope;
};

struct kept {
    double now_s;
    bool unavailable;
    const struct kept_resource *resources;
    size_t resource_count;
};

#define KEPT "resource_histories"

#define T    struct kept_resource
static const struct json_field kept_resource_rows[] = {
    JSON_TEXT(T, id, JSON_REQUIRED, "The resource"),
    JSON_NUMBER(T, observed_since_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Instant of its first load sample or failure"),
    JSON_NUMBERS(T, down_at_s, down_count, -JSON_LARGEST, JSON_LARGEST, 0,
                 "When its failures began"),
    JSON_NUMBERS(T, up_at_s, up_count, -JSON_LARGEST, JSON_LARGEST, JSON_NULLABLE,
                 "When they ended; null: not yet"),
    JSON_NUMBERS(T, component, component_count, 0, JSON_EXACT, 0,
                 "Which part failed; 0: the whole"),
    JSON_NUMBERS(T, kind, kind_count, 0, FAILURE_DEGRADED, 0,
                 "0: failure, 1: maintenance, 2: degraded"),
    JSON_NUMBERS(T, span_from_s, span_from_count, -JSON_LARGEST, JSON_LARGEST, 0,
                 "When observations began"),
    JSON_NUMBERS(T, span_to_s, span_to_count, -JSON_LARGEST, JSON_LARGEST, JSON_NULLABLE,
                 "When they ended; null: not yet"),
    JSON_TEXT(T, site_id, JSON_NULLABLE, "Its site"),
    JSON_NUMBER(T, site_shape, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Shape of the gaps between failures of its site"),
    JSON_NUMBER(T, prior_shape, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "What other hosts taught of it: shape"),
    JSON_NUMBER(T, prior_rate_s, 0, JSON_LARGEST, NAN, JSON_NULLABLE, "Likewise, rate"),
    JSON_INTEGER(T, prior_host_count, 0, JSON_EXACT, 0, 0, "Number of those hosts"),
    JSON_CHOICE(T, prior_scope, rate_prior_scopes, RATE_PRIOR_NONE, 0, "Which hosts"),
    {0},
};
#undef T
static const struct json_object kept_resource_json = {
    "KeptResource", "The stored history of a resource", sizeof(struct kept_resource),
    kept_resource_rows};

#define T struct kept
static const struct json_field kept_rows[] = {
    JSON_NUMBER(T, now_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_REQUIRED, "The present"),
    JSON_BOOLEAN(T, unavailable, 0, 0, "The stored failures could not be read"),
    JSON_LIST(T, resources, resource_count, struct kept_resource, &kept_resource_json, 0,
              0, "The resources that were looked up"),
    {0},
};
#undef T
static const struct json_object kept_json = {
    "KeptHistories", "The histories of a decision", sizeof(struct kept), kept_rows};

/* Where the store says how a resource fails, its rate comes with what others teach,
 * unless an older estimator is asked for. */
static bool uses_bayes(const struct histories_options *options)
{
    return options->estimator == MF_BAYES ||
           (options->estimator == MF_AUTO && !(options->site_weight > 0));
}

static enum mf_estimator estimator_of(const struct histories_options *options)
{
    return options->estimator == MF_AUTO ? MF_CENSORED : options->estimator;
}

/* ---- what the request says ---- */

static bool says_history(const struct resource *r)
{
    return r && (!isnan(r->failure_count) || !isnan(r->last_failure_at_s) ||
                 r->failure_times_s);
}

static void take_times(const struct resource *r, double now_s,
                       struct resource_history *out, struct arena *a)
{
    struct failure_interval *list =
        NEW(a, struct failure_interval, r->failure_time_count);
    size_t count = 0;

    out->gap_s = NEW(a, double, r->failure_time_count);
    for (size_t i = 0; i < r->failure_time_count; i++)
        if (!isnan(r->failure_times_s[i]))
            list[count++] =
                (struct failure_interval){r->failure_times_s[i], r->failure_times_s[i]};
    reliability_of(list, count, r->observed_since_s, now_s, &out->reliability, out->gap_s,
                   &out->gap_count, a);
}

/* The single figures win over the list of times. */
static void take_given(const struct resource *r, double now_s,
                       struct resource_history *out, struct arena *a)
{
    struct reliability *known = &out->reliability;

    take_times(r, now_s, out, a);
    if (!isnan(r->last_failure_at_s)) {
        known->last_failure_at_s = r->last_failure_at_s;
        if (known->failure_count == 0)
            known->failure_count = 1;
        if (isnan(r->observed_since_s))
            known->observed_since_s = fmin(known->observed_since_s, r->last_failure_at_s);
        known->up_since_s = fmax(known->up_since_s, r->last_failure_at_s);
    }
    if (!isnan(r->failure_count))
        known->failure_count = (size_t)r->failure_count;
    if (!isnan(r->up_since_s))
        known->up_since_s = r->up_since_s;
    if (!isnan(r->up_since_s) && isnan(r->observed_since_s))
        known->observed_since_s = fmin(known->observed_since_s, r->up_since_s);
    known->uptime_total_s =
        isnan(r->uptime_total_s) ? now_s - known->observed_since_s : r->uptime_total_s;
    known->uptime_total_s -= reliability_uptime_s(known, now_s);
}

/* ---- what is stored ---- */

/* The resources whose stored history is to be read. */
struct stored {
    struct resource_history **list;
    size_t count;
    size_t limit; /* failures of each */
    const char *ids;
    double *since_s;          /* of each */
    struct at_risk_row *rows; /* grouped: */
    size_t *first;            /* of each in `rows`; count + 1 of them */
    struct at_risk_span *spans;
    size_t *first_span; /* likewise */
    size_t component;   /* number of the one that is asked for; 0: the whole */
    const struct histories_options *options;
};

/* A JSON array of the texts. */
static const char *array_of(const char *const *texts, size_t count, struct arena *a)
{
    struct text_buffer array = {.arena = a};

    text_add(&array, "[", 1);
    for (size_t i = 0; i < count; i++) {
        if (i)
            text_add(&array, ",", 1);
        json_print_text(texts[i], &array);
    }
    text_add(&array, "]", 2); /* with the NUL */
    return text_end(&array);
}

static void name_ids(struct stored *s, struct arena *a)
{
    const char **ids = NEW(a, const char *, s->count);

    for (size_t i = 0; i < s->count; i++)
        ids[i] = s->list[i]->id;
    s->ids = array_of(ids, s->count, a);
    s->since_s = NEW(a, double, s->count);
    for (size_t i = 0; i < s->count; i++)
        s->since_s[i] = NAN;
    s->limit = ROWS_MAX / (s->count ? s->count : 1);
    if (s->limit > PER_RESOURCE_MAX)
        s->limit = PER_RESOURCE_MAX;
    if (s->limit < PER_RESOURCE_MIN)
        s->limit = PER_RESOURCE_MIN;
}

static void list_stored(const struct resource_histories *h, struct stored *out,
                        struct arena *a)
{
    out->list = NEW(a, struct resource_history *, h->count);
    for (size_t i = 0; i < h->count; i++)
        if (h->list[i].wanted && !says_history(h->list[i].resource))
            out->list[out->count++] = &h->list[i];
    name_ids(out, a);
}

/* Of a resource whose observations do not say where it is, its failures do: the newest of
 * those that name a site, of one instant the first by name. */
static void take_failure_sites(const struct store_failure_of *rows, size_t count,
                               struct stored *s, struct arena *a)
{
    const struct store_failure_of **newest =
        NEW(a, const struct store_failure_of *, s->count);

    for (size_t i = 0; i < count; i++) {
        const struct store_failure_of *row = &rows[i], *known = newest[row->resource];

        if (row->site_id && (!known || row->down_at_s > known->down_at_s ||
                             (row->down_at_s == known->down_at_s &&
                              strcmp(row->site_id, known->site_id) < 0)))
            newest[row->resource] = row;
    }
    for (size_t i = 0; i < s->count; i++)
        if (newest[i] && !s->list[i]->site_id)
            s->list[i]->site_id = newest[i]->site_id;
}

/* The rows by resource: a counting sort. Components get numbers. */
static void group(const struct store_failure_of *rows, size_t count, struct stored *s,
                  struct arena *a)
{
    struct at_risk_row *sorted = NEW(a, struct at_risk_row, count);
    struct name_index components;
    size_t component_count = 0;

    s->first = NEW(a, size_t, s->count + 2);
    name_index_create(&components, count, a);
    for (size_t i = 0; i < count; i++)
        s->first[rows[i].resource + 2]++;
    for (size_t i = 2; i < s->count + 2; i++)
        s->first[i] += s->first[i - 1];
    for (size_t i = 0; i < count; i++) {
        struct at_risk_row row = {rows[i].down_at_s, rows[i].up_at_s, 0,
                                  failure_kind_of(rows[i].kind)};

        if (rows[i].component && *rows[i].component) {
            size_t known =
                name_index_add(&components, rows[i].component, component_count);

            row.component = 1 + (known == NAME_NOT_FOUND ? component_count++ : known);
        }
        sorted[s->first[rows[i].resource + 1]++] = row;
    }
    if (s->options->component) {
        size_t asked = name_index_find(&components, s->options->component);

        s->component = asked == NAME_NOT_FOUND ? SIZE_MAX : 1 + asked;
    }
    s->rows = sorted;
}

static int by_begin(const void *a, const void *b)
{
    const struct at_risk_span *x = a, *y = b;

    return (x->from_at_s > y->from_at_s) - (x->from_at_s < y->from_at_s);
}

/* When the resource, which is observed as a whole or by its parts, was observed:
 * `list` is in the order of components, "" first, and of time. */
static size_t merge_spans(const struct store_observation_of *list, size_t count,
                          struct at_risk_span *out)
{
    size_t used = 0;
    bool by_parts = count > 0 && *list[0].component;

    for (size_t i = 0; i < count && (by_parts || !*list[i].component); i++)
        out[used++] = (struct at_risk_span){list[i].from_at_s, list[i].to_at_s};
    qsort(out, used, sizeof(*out), by_begin);
    count = used;
    used = 0;
    for (size_t i = 0; i < count; i++) {
        struct at_risk_span *last = used ? &out[used - 1] : NULL;

        if (!last || last->to_at_s < out[i].from_at_s)
            out[used++] = out[i];
        else if (isnan(out[i].to_at_s) || out[i].to_at_s > last->to_at_s)
            last->to_at_s = out[i].to_at_s;
    }
    return used;
}

static void take_observations(const struct store_observation_of *list, size_t count,
                              struct stored *s, struct arena *a)
{
    size_t next = 0, used = 0;

    s->spans = NEW(a, struct at_risk_span, count);
    s->first_span = NEW(a, size_t, s->count + 1);
    for (size_t i = 0; i < s->count; i++) {
        size_t begin = next;

        while (next < count && list[next].resource == i) {
            if (list[next].site_id)
                s->list[i]->site_id = list[next].site_id;
            next++;
        }
        used += merge_spans(list + begin, next - begin, s->spans + used);
        s->first_span[i + 1] = used;
    }
}

/* An instant that PostgreSQL knows. */
static double storable(double at_s)
{
    if (at_s >= INSTANT_END_S - 1)
        return HUGE_VAL;
    return at_s < INSTANT_FIRST_S ? -HUGE_VAL : at_s;
}

static enum error_code query(struct request *rq, double now_s, struct stored *s)
{
    const struct store_observation_of *observations;
    const struct store_first_seen *seen;
    const struct store_failure_of *rows;
    struct db_session *db;
    size_t count, row_count;

    TRY(request_db(rq, &db));
    TRY(store_failures_of(db, rq->principal.tenant, s->ids, storable(now_s), s->limit,
                          &rows, &row_count, rq->arena, rq->err));
    group(rows, row_count, s, rq->arena);
    TRY(store_first_seen(db, rq->principal.tenant, s->ids, storable(now_s), &seen, &count,
                         rq->arena, rq->err));
    for (size_t i = 0; i < count; i++)
        s->since_s[seen[i].resource] = seen[i].seen_at_s;
    TRY(store_observations_of(db, rq->principal.tenant, s->ids, storable(now_s),
                              &observations, &count, rq->arena, rq->err));
    take_observations(observations, count, s, rq->arena);
    take_failure_sites(rows, row_count, s, rq->arena);
    return OK;
}

/* The failures, for what merges them. A failure that never ended and is followed by
 * another has ended: it counts, but takes no time. The last one is open if the resource
 * is down (`since_s` is not NAN). */
static size_t failures_of(const struct at_risk_row *rows, size_t count, double since_s,
                          struct failure_interval *out)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        if (rows[i].kind == FAILURE_FAILURE)
            out[used++] = (struct failure_interval){
                rows[i].down_at_s,
                isnan(rows[i].up_at_s) && !(rows[i].down_at_s >= since_s)
                    ? rows[i].down_at_s
                    : rows[i].up_at_s};
    return used;
}

/* When not all rows were read, the history begins after the oldest of them. */
static size_t cut(struct at_risk_row *rows, size_t count, double *since_s)
{
    size_t oldest = 0;
    double end_s;

    for (size_t i = 1; i < count; i++)
        if (rows[i].down_at_s < rows[oldest].down_at_s)
            oldest = i;
    end_s = isnan(rows[oldest].up_at_s) ? rows[oldest].down_at_s : rows[oldest].up_at_s;
    if (!(*since_s >= end_s))
        *since_s = end_s;
    rows[oldest] = rows[count - 1];
    return count - 1;
}

static void take_stored(const struct stored *s, size_t i, double now_s, struct arena *a)
{
    struct resource_history *out = s->list[i];
    size_t count = s->first ? s->first[i + 1] - s->first[i] : 0, failure_count;
    struct failure_interval *list = NEW(a, struct failure_interval, count);
    struct at_risk_in in = {
        .rows = s->first ? s->rows + s->first[i] : NULL,
        .spans = s->first_span ? s->spans + s->first_span[i] : NULL,
        .span_count = s->first_span ? s->first_span[i + 1] - s->first_span[i] : 0,
        .seen_since_s = s->since_s[i],
        .from_s = s->options->from_s,
        .to_s = s->options->to_s,
        .now_s = now_s,
        .up_again_s = out->resource ? out->resource->up_since_s : (double)NAN,
        .burst_window_s = s->options->burst_window_s,
        .component = s->component,
    };

    out->gap_s = NEW(a, double, count);
    if (!(out->site_shape > 0)) /* not restored */
        out->site_shape = (double)NAN;
    if (out->resource && !isnan(out->resource->observed_since_s))
        in.from_s = out->resource->observed_since_s;
    if (s->first && count == s->limit) {
        out->is_cut = true;
        count = cut(s->rows + s->first[i], count, &in.from_s);
    }
    in.row_count = count;
    out->is_stored = s->first != NULL; /* else the database is away */
    at_risk_of(&in, &out->risk, a);
    failure_count = failures_of(in.rows, count, out->risk.down_since_s, list);
    reliability_of(list, failure_count, out->risk.from_s,
                   isnan(in.to_s) ? now_s : fmin(now_s, in.to_s), &out->reliability,
                   out->gap_s, &out->gap_count, a);
}

/* As query(), or notes that the database is away. */
static enum error_code query_or_do_without(struct request *rq,
                                           struct resource_histories *h, struct stored *s)
{
    struct error before = *rq->err;
    enum error_code code = query(rq, h->now_s, s);

    if (code != ERR_UNAVAILABLE && code != ERR_BUSY)
        return code;
    *rq->err = before;
    h->unavailable = true;
    s->first = NULL;
    return OK;
}

/* ---- what other hosts teach ---- */

/* Stored resources that one request looks at for a prior. */
enum { PEERS_MAX = 10000 };

/* How a host was seen to fail, whoever said it. */
static struct failure_exposure exposure_of(const struct resource_history *r, double now_s)
{
    double time_s;

    if (r->is_stored)
        return r->risk.seen;
    time_s = reliability_uptime_total_s(&r->reliability, now_s);
    return (struct failure_exposure){fmax(0, time_s),
                                     (double)r->reliability.failure_count};
}

static const char *site_of(const struct resource_history *r)
{
    return r->resource && r->resource->site_id ? r->resource->site_id : r->site_id;
}

/* The hosts that a prior can be fitted to: those of the request and stored ones. */
struct hosts {
    struct resource_history **list;
    size_t count;
    struct failure_exposure *seen; /* room for all of them */
};

/* The sites of stored hosts of the request, as store_peers() takes them. */
static const char *name_sites(const struct stored *asked, struct arena *a)
{
    const char **sites = NEW(a, const char *, asked->count);
    struct name_index known;
    size_t count = 0;

    name_index_create(&known, asked->count, a);
    for (size_t i = 0; i < asked->count; i++) {
        const char *site_id = site_of(asked->list[i]);

        if (site_id && name_index_add(&known, site_id, count) == NAME_NOT_FOUND)
            sites[count++] = site_id;
    }
    return array_of(sites, count, a);
}

/* The stored hosts of the sites (NULL: all) that are not in the request, read like those
 * that are. */
static enum error_code read_peers(struct request *rq, struct resource_histories *h,
                                  const char *sites,
                                  const struct histories_options *options,
                                  struct hosts *out)
{
    struct stored s = {.options = options};
    const struct store_peer *peers;
    struct resource_history *list;
    struct db_session *db;
    size_t count, own = 0;

    TRY(request_db(rq, &db));
    TRY(store_peers(db, rq->principal.tenant, sites, PEERS_MAX, &peers, &count, rq->arena,
                    rq->err));
    h->peers_cut = h->peers_cut || count == PEERS_MAX;
    list = NEW(rq->arena, struct resource_history, count);
    s.list = NEW(rq->arena, struct resource_history *, count);
    out->list = NEW(rq->arena, struct resource_history *, count + h->count);
    out->seen = NEW(rq->arena, struct failure_exposure, count + h->count);
    for (size_t i = 0; i < count; i++) {
        if (name_index_find(&h->index, peers[i].resource_id) != NAME_NOT_FOUND)
            continue;
        list[i].id = peers[i].resource_id;
        s.list[s.count++] = &list[i];
    }
    name_ids(&s, rq->arena);
    if (s.count > 0)
        TRY(query(rq, h->now_s, &s));
    for (size_t i = 0; i < s.count; i++) {
        take_stored(&s, i, h->now_s, rq->arena);
        out->list[own++] = s.list[i];
    }
    for (size_t i = 0; i < h->count; i++)
        if (h->list[i].wanted)
            out->list[own++] = &h->list[i];
    out->count = own;
    return OK;
}

/* The prior of all hosts. false: they teach none. */
static bool fit_prior(struct hosts *hosts, double now_s, struct rate_prior *out)
{
    for (size_t i = 0; i < hosts->count; i++)
        hosts->seen[i] = exposure_of(hosts->list[i], now_s);
    return rate_prior_fit(hosts->seen, hosts->count, out);
}

/* Hosts by site, each site's in their order: chains of numbers + 1. */
struct site_chains {
    struct name_index sites;
    size_t *first; /* of each site, in the order in which they were met */
    size_t *next;  /* of each host */
};

static void chain_hosts(const struct hosts *hosts, struct site_chains *c, struct arena *a)
{
    size_t count = 0;

    c->first = NEW(a, size_t, hosts->count);
    c->next = NEW(a, size_t, hosts->count);
    name_index_create(&c->sites, hosts->count, a);
    for (size_t i = hosts->count; i-- > 0;) {
        const char *site_id = site_of(hosts->list[i]);
        size_t site = site_id ? name_index_add(&c->sites, site_id, count) : count;

        if (!site_id)
            continue;
        if (site == NAME_NOT_FOUND)
            site = count++;
        c->next[i] = c->first[site];
        c->first[site] = i + 1;
    }
}

/* Gaps of a site's hosts that are enough for a shape. */
enum { SITE_GAPS_MIN = 30 };

/* The shape of pooled gaps that are best by weibull; NAN: they are not. */
static double pooled_shape(const double *gap_s, size_t count)
{
    struct weibull_fit fit;

    if (count < SITE_GAPS_MIN ||
        failure_best_model(gap_s, count, &fit) != FAILURE_MODEL_WEIBULL)
        return (double)NAN;
    return fit.shape;
}

/* The same of the hosts of one site. */
static double fit_site_shape(const struct hosts *hosts, const struct site_chains *chains,
                             size_t site, struct arena *a)
{
    size_t count = 0;
    double *gap_s;

    for (size_t i = chains->first[site]; i; i = chains->next[i - 1])
        count += hosts->list[i - 1]->gap_count;
    gap_s = NEW(a, double, count);
    count = 0;
    for (size_t i = chains->first[site]; i; i = chains->next[i - 1])
        for (size_t g = 0; g < hosts->list[i - 1]->gap_count; g++)
            gap_s[count++] = hosts->list[i - 1]->gap_s[g];
    return pooled_shape(gap_s, count);
}

/* The prior of the hosts of one site. */
static void fit_site_prior(struct hosts *hosts, const struct site_chains *chains,
                           const char *site_id, double now_s, struct rate_prior *out)
{
    size_t site = site_id ? name_index_find(&chains->sites, site_id) : NAME_NOT_FOUND;
    size_t count = 0;

    for (size_t i = site == NAME_NOT_FOUND ? 0 : chains->first[site]; i;
         i = chains->next[i - 1])
        hosts->seen[count++] = exposure_of(hosts->list[i - 1], now_s);
    rate_prior_fit(hosts->seen, count, out);
}

/* Gives the stored hosts of each site what the site teaches. *left: those without a
 * prior. */
static void give_site_priors(struct resource_histories *h, struct hosts *hosts,
                             bool with_shapes, size_t *left, struct arena *a)
{
    struct rate_prior *priors = NEW(a, struct rate_prior, h->count);
    double *shapes = NEW(a, double, h->count);
    struct site_chains chains;
    struct name_index sites;
    size_t count = 0;

    name_index_create(&sites, h->count, a);
    chain_hosts(hosts, &chains, a);
    for (size_t i = 0; i < h->count; i++) {
        struct resource_history *r = &h->list[i];
        const char *site_id = site_of(r);
        size_t place;

        if (!r->wanted || !r->is_stored)
            continue;
        place = site_id ? name_index_add(&sites, site_id, count) : count;
        if (place == NAME_NOT_FOUND) {
            place = count++;
            shapes[place] = (double)NAN;
            if (site_id) /* without one, it is used for nothing */
                fit_site_prior(hosts, &chains, site_id, h->now_s, &priors[place]);
            if (site_id && with_shapes)
                shapes[place] = fit_site_shape(
                    hosts, &chains, name_index_find(&chains.sites, site_id), a);
        }
        if (site_id)
            r->site_shape = shapes[place];
        if (site_id && priors[place].host_count > 0) {
            r->prior = priors[place];
            r->prior_scope = RATE_PRIOR_SITE;
        }
        *left += r->prior_scope == RATE_PRIOR_NONE;
    }
}

/* Only the rate that the store's counts give has a prior. */
static enum error_code find_priors(struct request *rq, struct resource_histories *h,
                                   const struct histories_options *options)
{
    struct stored asked = {.options = options};
    struct rate_prior all;
    struct hosts hosts;
    size_t left = 0;

    if (options->prior == RATE_PRIOR_NONE || !uses_bayes(options))
        return OK;
    list_stored(h, &asked, rq->arena);
    if (options->prior == RATE_PRIOR_SITE) {
        TRY(read_peers(rq, h, name_sites(&asked, rq->arena), options, &hosts));
        give_site_priors(h, &hosts, options->weibull_if_best, &left, rq->arena);
        if (left == 0)
            return OK;
    }
    TRY(read_peers(rq, h, NULL, options, &hosts));
    if (!fit_prior(&hosts, h->now_s, &all))
        return OK;
    for (size_t i = 0; i < asked.count; i++) {
        if (asked.list[i]->prior_scope != RATE_PRIOR_NONE)
            continue;
        asked.list[i]->prior = all;
        asked.list[i]->prior_scope = RATE_PRIOR_ALL;
    }
    return OK;
}

/* What a replay has of one resource. */
static void restore_one(const struct kept_resource *r, struct stored *s, size_t i,
                        size_t *row_count, size_t *span_count)
{
    struct resource_history *out = s->list[i];

    s->since_s[i] = r->observed_since_s;
    for (size_t f = 0; f < r->down_count && f < r->up_count; f++)
        s->rows[(*row_count)++] = (struct at_risk_row){
            r->down_at_s[f], r->up_at_s[f],
            f < r->component_count ? (size_t)r->component[f] : 0,
            f < r->kind_count ? (enum failure_kind)r->kind[f] : FAILURE_FAILURE};
    for (size_t f = 0; f < r->span_from_count && f < r->span_to_count; f++)
        s->spans[(*span_count)++] =
            (struct at_risk_span){r->span_from_s[f], r->span_to_s[f]};
    out->site_id = r->site_id;
    out->site_shape = r->site_shape;
    if (isnan(r->prior_shape))
        return;
    out->prior_scope = (enum rate_prior_scope)r->prior_scope;
    out->prior = (struct rate_prior){r->prior_shape, r->prior_rate_s, NAN,
                                     (size_t)r->prior_host_count};
}

/* What a replay has of the stored history, as if it had been read. */
static void restore(const struct kept *kept, struct resource_histories *h,
                    struct stored *s, struct arena *a)
{
    struct name_index index;
    size_t count = 0, span_count = 0;

    h->unavailable = kept->unavailable;
    if (kept->unavailable)
        return;
    name_index_create(&index, kept->resource_count, a);
    for (size_t i = 0; i < kept->resource_count; i++) {
        name_index_add(&index, kept->resources[i].id, i);
        count += kept->resources[i].down_count;
        span_count += kept->resources[i].span_from_count;
    }
    s->rows = NEW(a, struct at_risk_row, count);
    s->spans = NEW(a, struct at_risk_span, span_count);
    s->first = NEW(a, size_t, s->count + 1);
    s->first_span = NEW(a, size_t, s->count + 1);
    count = span_count = 0;
    for (size_t i = 0; i < s->count; i++) {
        size_t place = name_index_find(&index, s->list[i]->id);

        if (place != NAME_NOT_FOUND)
            restore_one(&kept->resources[place], s, i, &count, &span_count);
        s->first[i + 1] = count;
        s->first_span[i + 1] = span_count;
    }
}

/* The rows and spans of one resource, as columns from `room` on. */
static void keep_one(const struct stored *s, size_t i, double **room,
                     struct kept_resource *out)
{
    const struct resource_history *r = s->list[i];
    size_t first = s->first[i], count = s->first[i + 1] - first;
    size_t first_span = s->first_span[i], span_count = s->first_span[i + 1] - first_span;
    double *down = *room, *up = down + count, *component = up + count;
    double *kind = component + count, *from = kind + count, *to = from + span_count;

    for (size_t f = 0; f < count; f++) {
        down[f] = s->rows[first + f].down_at_s;
        up[f] = s->rows[first + f].up_at_s;
        component[f] = (double)s->rows[first + f].component;
        kind[f] = (double)s->rows[first + f].kind;
    }
    for (size_t f = 0; f < span_count; f++) {
        from[f] = s->spans[first_span + f].from_at_s;
        to[f] = s->spans[first_span + f].to_at_s;
    }
    *room = to + span_count;
    *out = (struct kept_resource){
        .id = r->id,
        .observed_since_s = s->since_s[i],
        .down_at_s = down,
        .down_count = count,
        .up_at_s = up,
        .up_count = count,
        .component = component,
        .component_count = count,
        .kind = kind,
        .kind_count = count,
        .span_from_s = from,
        .span_from_count = span_count,
        .span_to_s = to,
        .span_to_count = span_count,
        .site_id = r->site_id,
        .site_shape = r->site_shape,
        .prior_shape = r->prior_scope == RATE_PRIOR_NONE ? (double)NAN : r->prior.shape,
        .prior_rate_s = r->prior.rate_s,
        .prior_host_count = r->prior.host_count,
        .prior_scope = (int)r->prior_scope,
    };
}

/* Keeps what was read, and the present. */
static enum error_code keep(struct request *rq, const struct resource_histories *h,
                            const struct stored *s)
{
    struct kept kept = {h->now_s, h->unavailable, NULL, s->first ? s->count : 0};
    size_t count = s->first ? s->first[s->count] : 0;
    size_t span_count = s->first_span ? s->first_span[s->count] : 0;
    struct kept_resource *resources;
    double *room;

    if (!rq->store_decision)
        return OK;
    resources = NEW(rq->arena, struct kept_resource, kept.resource_count);
    room = NEW(rq->arena, double, 4 * count + 2 * span_count);
    for (size_t i = 0; i < kept.resource_count; i++)
        keep_one(s, i, &room, &resources[i]);
    kept.resources = resources;
    return decision_keep_lookup(rq, KEPT, &kept_json, &kept);
}

/* The present and the stored rows: of the clock and the database, or in a replay
 * what they were. */
static enum error_code read_stored(struct request *rq, struct resource_histories *h,
                                   const struct histories_options *options)
{
    struct stored s = {.options = options};
    bool by_clock = isnan(h->now_s), replayed;
    struct kept kept = {0};

    TRY(decision_lookup(rq, KEPT, &kept_json, &kept, &replayed));
    if (by_clock)
        h->now_s = replayed ? kept.now_s : clock_wall_s();
    list_stored(h, &s, rq->arena);
    if (replayed)
        restore(&kept, h, &s, rq->arena);
    else if (s.count > 0)
        TRY(query_or_do_without(rq, h, &s));
    for (size_t i = 0; i < s.count; i++)
        take_stored(&s, i, h->now_s, rq->arena);
    if (!replayed && !h->unavailable && s.count > 0)
        TRY(find_priors(rq, h, options));
    if (!replayed && (by_clock || s.count > 0))
        TRY(keep(rq, h, &s));
    return OK;
}

/* ---- sites ---- */

/* What the resources of a site have seen together. */
struct site {
    double observed_s, failures; /* T and k of the estimator */
    double *gap_s;
    size_t gap_count;
    struct weibull_fit fit;
    bool fitted;
};

struct sites {
    struct site *list;
    size_t *of; /* of each resource: index, or NAME_NOT_FOUND for a site of its own */
};

static void find_sites(struct resource_histories *h, struct sites *out, struct arena *a)
{
    struct name_index index;
    size_t count = 0;

    out->list = NEW(a, struct site, h->count);
    out->of = NEW(a, size_t, h->count);
    name_index_create(&index, h->count, a);
    for (size_t i = 0; i < h->count; i++) {
        const struct resource *r = h->list[i].resource;

        out->of[i] = NAME_NOT_FOUND;
        if (!r || !r->site_id)
            continue;
        out->of[i] = name_index_add(&index, r->site_id, count);
        if (out->of[i] == NAME_NOT_FOUND)
            out->of[i] = count++;
    }
}

/* All resources of a site are wanted when one of them is. */
static void want_sites(struct resource_histories *h, const struct sites *sites,
                       struct arena *a)
{
    bool *wanted = NEW(a, bool, h->count);

    for (size_t i = 0; i < h->count; i++)
        if (h->list[i].wanted && sites->of[i] != NAME_NOT_FOUND)
            wanted[sites->of[i]] = true;
    for (size_t i = 0; i < h->count; i++)
        if (sites->of[i] != NAME_NOT_FOUND && wanted[sites->of[i]])
            h->list[i].wanted = true;
}

static void sum_up_sites(const struct resource_histories *h, const struct sites *sites,
                         enum mf_estimator estimator, struct arena *a)
{
    for (size_t i = 0; i < h->count; i++) {
        const struct resource_history *r = &h->list[i];
        double k = (double)r->reliability.failure_count;

        if (!r->wanted || sites->of[i] == NAME_NOT_FOUND)
            continue;
        sites->list[sites->of[i]].observed_s +=
            reliability_mean_s(&r->reliability, estimator, h->now_s) * fmax(1, k);
        sites->list[sites->of[i]].failures += k;
        sites->list[sites->of[i]].gap_count += r->gap_count;
    }
    for (size_t i = 0; i < h->count; i++) {
        struct site *site = &sites->list[i];

        site->gap_s = NEW(a, double, site->gap_count);
        site->gap_count = 0;
    }
    for (size_t i = 0; i < h->count; i++) {
        const struct resource_history *r = &h->list[i];
        struct site *site =
            sites->of[i] == NAME_NOT_FOUND ? NULL : &sites->list[sites->of[i]];

        for (size_t g = 0; site && r->wanted && g < r->gap_count; g++)
            site->gap_s[site->gap_count++] = r->gap_s[g];
    }
}

/* ---- all together ---- */

/* The law that no other model beats. */
static void fit_best(struct resource_history *r, struct site *site)
{
    struct weibull_fit found = {NAN, NAN, NAN, false};

    if (r->gap_count >= RELIABILITY_GAPS_MIN &&
        failure_best_model(r->gap_s, r->gap_count, &found) == FAILURE_MODEL_WEIBULL) {
        r->weibull_shape = found.shape;
        r->scale_s = found.scale_s;
        r->is_own_fit = true;
        return;
    }
    if (site && !site->fitted)
        site->fit.shape = pooled_shape(site->gap_s, site->gap_count);
    if (site)
        site->fitted = true;
    r->weibull_shape = r->site_shape > 0 ? r->site_shape
                       : site            ? site->fit.shape
                                         : (double)NAN;
    r->scale_s = r->mean_s / tgamma(1 + 1 / r->weibull_shape);
}

static void fit(struct resource_history *r, struct site *site)
{
    struct weibull_fit found = {NAN, NAN, NAN, false};

    if (r->gap_count >= RELIABILITY_GAPS_MIN) {
        found = failure_fit_weibull(r->gap_s, r->gap_count);
    } else if (site && site->gap_count >= RELIABILITY_GAPS_MIN) {
        if (!site->fitted)
            site->fit = failure_fit_weibull(site->gap_s, site->gap_count);
        site->fitted = true;
        found = site->fit;
    }
    r->weibull_shape = found.shape;
    r->scale_s = found.scale_s;
}

/* The rate by 2.4 of the reliability spec, as far as the estimator asks for it. */
static void estimate_rate(struct resource_history *r, double now_s,
                          const struct histories_options *options)
{
    const struct rate_prior *prior = r->prior_scope == RATE_PRIOR_NONE ? NULL : &r->prior;

    if (options->estimator != MF_BAYES && !(r->is_stored && uses_bayes(options)))
        return;
    r->rate = failure_rate_of(exposure_of(r, now_s), prior, options->mean_floor_s);
    r->has_rate = !isnan(r->rate.mean_s);
    r->mean_s = r->rate.mean_s;
}

static void estimate(struct resource_history *r, struct site *site, double now_s,
                     const struct histories_options *options)
{
    enum mf_estimator estimator = estimator_of(options);

    r->known = now_s > r->reliability.observed_since_s;
    r->mean_s = r->weibull_shape = r->scale_s = NAN;
    if (r->known)
        r->mean_s = reliability_mean_s(&r->reliability, estimator, now_s);
    if (site && site->observed_s > 0 && options->site_weight > 0)
        r->mean_s = reliability_shrunk_mean_s(&r->reliability, estimator, now_s,
                                              site->observed_s / fmax(1, site->failures),
                                              options->site_weight);
    estimate_rate(r, now_s, options);
    if (options->weibull_if_best)
        fit_best(r, site);
    else if (options->weibull)
        fit(r, site);
}

enum error_code histories_read(struct request *rq, struct resource_histories *h,
                               const struct histories_options *options)
{
    bool with_sites = options->weibull || options->site_weight > 0 ||
                      (uses_bayes(options) && options->prior == RATE_PRIOR_SITE);
    struct sites sites = {NULL, NULL};

    if (with_sites) {
        find_sites(h, &sites, rq->arena);
        want_sites(h, &sites, rq->arena);
    }
    for (size_t i = 0; i < h->count; i++)
        if (h->list[i].wanted && says_history(h->list[i].resource))
            take_given(h->list[i].resource, h->now_s, &h->list[i], rq->arena);
    TRY(read_stored(rq, h, options));
    if (with_sites)
        sum_up_sites(h, &sites, estimator_of(options), rq->arena);
    for (size_t i = 0; i < h->count; i++) {
        struct site *site =
            with_sites && sites.of[i] != NAME_NOT_FOUND ? &sites.list[sites.of[i]] : NULL;

        if (h->list[i].wanted)
            estimate(&h->list[i], site, h->now_s, options);
    }
    return OK;
}

/* ---- what is to be known of them ---- */

enum { DOWN_NAMED = 3, INSTANT_ROOM = 48 };

const char *histories_warn_down(const struct resource_histories *h, struct arena *a)
{
    const char *names = "";
    char since[INSTANT_ROOM];
    size_t count = 0;

    for (size_t i = 0; i < h->count; i++) {
        const struct resource_history *r = &h->list[i];

        if (!r->wanted || !r->is_stored || isnan(r->risk.down_since_s))
            continue;
        if (count++ < DOWN_NAMED)
            names = arena_printf(
                a, "%s%s'%.100s' since %s", names, count > 1 ? ", " : "", r->id,
                instant_print(r->risk.down_since_s, since, sizeof(since)));
    }
    if (!count)
        return NULL;
    return arena_printf(
        a,
        "resource_down: %s failed and nothing says that %s up again: "
        "%s%s; no time at risk counts since then, and what is decided "
        "holds for when %s",
        counted(count, "resource").text, plural(count, "it is", "they are"), names,
        count > DOWN_NAMED ? ", ..." : "", plural(count, "it is up", "they are up"));
}
