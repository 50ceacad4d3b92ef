/* resource_histories.c - how reliable the resources of a decision are. */
#include "handlers/resource_histories.h"

#include "handlers/decision.h"
#include "service/clock.h"
#include "service/store_reliability.h"

#include <stdio.h>

/* Stored failures that one request reads: of each resource the newest, as many as
 * make ROWS_MAX together, but at least PER_RESOURCE_MIN, at most PER_RESOURCE_MAX. */
enum { ROWS_MAX = 200000, PER_RESOURCE_MIN = 12, PER_RESOURCE_MAX = 1000 };

enum error_code histories_begin(const struct snapshot *snapshot, size_t expected,
                                struct resource_histories *out, struct arena *a,
                                struct error *err)
{
    size_t count = snapshot ? snapshot->resource_count : 0;

    *out = (struct resource_histories){.count = count, .now_s = NAN};
    out->list = NEW(a, struct resource_history, snapshot ? count : expected);
    if (!out->list || !name_index_create(&out->index, snapshot ? count : expected, a))
        return fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        out->list[i].id = snapshot->resources[i].id;
        out->list[i].resource = &snapshot->resources[i];
        name_index_add(&out->index, out->list[i].id, i);
    }
    return OK;
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
    char pointer[64];

    for (size_t i = 0; i < h->count; i++) {
        const struct resource *r = h->list[i].resource;

        if (!r || !(r->failure_count != floor(r->failure_count)) ||
            isnan(r->failure_count))
            continue;
        snprintf(pointer, sizeof(pointer), "/snapshot/resources/%zu/failure_count", i);
        invalid(err, pointer, "not_an_integer", "%g is not a whole number",
                r->failure_count);
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

/* ---- what the request says ---- */

static bool says_history(const struct resource *r)
{
    return r && (!isnan(r->failure_count) || !isnan(r->last_failure_at_s) ||
                 r->failure_times_s);
}

static enum error_code take_times(const struct resource *r, double now_s,
                                  struct resource_history *out, struct arena *a,
                                  struct error *err)
{
    struct failure_interval *list =
        NEW(a, struct failure_interval, r->failure_time_count);
    size_t count = 0;

    out->gap_s = NEW(a, double, r->failure_time_count);
    if (!list || !out->gap_s)
        return fail_memory(err);
    for (size_t i = 0; i < r->failure_time_count; i++)
        if (!isnan(r->failure_times_s[i]))
            list[count++] =
                (struct failure_interval){r->failure_times_s[i], r->failure_times_s[i]};
    return reliability_of(list, count, r->observed_since_s, now_s, &out->reliability,
                          out->gap_s, &out->gap_count, a, err);
}

/* The single figures win over the list of times. */
static enum error_code take_given(const struct resource *r, double now_s,
                                  struct resource_history *out, struct arena *a,
                                  struct error *err)
{
    struct reliability *known = &out->reliability;

    TRY(take_times(r, now_s, out, a, err));
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
    return OK;
}

/* ---- what is stored ---- */

/* The resources whose stored history is to be read. */
struct stored {
    struct resource_history **list;
    size_t count;
    size_t limit; /* failures of each */
    const char *ids;
    double *since_s;                         /* of each */
    const struct store_failure_of *failures; /* grouped: */
    size_t *first; /* of each in `failures`; count + 1 of them */
};

static enum error_code list_stored(const struct resource_histories *h, struct stored *out,
                                   struct arena *a, struct error *err)
{
    struct text_buffer ids = {.arena = a};

    out->list = NEW(a, struct resource_history *, h->count);
    if (!out->list)
        return fail_memory(err);
    for (size_t i = 0; i < h->count; i++) {
        if (!h->list[i].wanted || says_history(h->list[i].resource))
            continue;
        text_add(&ids, out->count ? "," : "[", 1);
        json_print_text(h->list[i].id, &ids);
        out->list[out->count++] = &h->list[i];
    }
    text_add(&ids, "]", 2); /* with the NUL */
    if (ids.failed)
        return fail_memory(err);
    out->ids = ids.data;
    out->limit = ROWS_MAX / (out->count ? out->count : 1);
    if (out->limit > PER_RESOURCE_MAX)
        out->limit = PER_RESOURCE_MAX;
    if (out->limit < PER_RESOURCE_MIN)
        out->limit = PER_RESOURCE_MIN;
    return OK;
}

/* The rows by resource: a counting sort. */
static enum error_code group(const struct store_failure_of *rows, size_t count,
                             struct stored *s, struct arena *a, struct error *err)
{
    struct store_failure_of *sorted = NEW(a, struct store_failure_of, count);

    s->first = NEW(a, size_t, s->count + 2);
    if (!sorted || !s->first)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++)
        s->first[rows[i].resource + 2]++;
    for (size_t i = 2; i < s->count + 2; i++)
        s->first[i] += s->first[i - 1];
    for (size_t i = 0; i < count; i++)
        sorted[s->first[rows[i].resource + 1]++] = rows[i];
    s->failures = sorted;
    return OK;
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
    const struct store_first_seen *seen;
    const struct store_failure_of *rows;
    struct db_session *db;
    size_t count;

    TRY(request_db(rq, &db));
    TRY(store_failures_of(db, rq->principal.tenant, s->ids, storable(now_s), s->limit,
                          &rows, &count, rq->arena, rq->err));
    TRY(group(rows, count, s, rq->arena, rq->err));
    TRY(store_first_seen(db, rq->principal.tenant, s->ids, storable(now_s), &seen, &count,
                         rq->arena, rq->err));
    for (size_t i = 0; i < count; i++)
        s->since_s[seen[i].resource] = seen[i].seen_at_s;
    return OK;
}

/* A failure that never ended and is followed by another has ended; and a resource
 * that runs a job is up. So an open failure counts, but takes no time. */
static struct failure_interval interval_of(const struct store_failure_of *f)
{
    return (struct failure_interval){f->down_at_s,
                                     isnan(f->up_at_s) ? f->down_at_s : f->up_at_s};
}

/* When not all failures were read, the history begins after the oldest of them. */
static size_t cut(struct failure_interval *list, size_t count, double *since_s)
{
    size_t oldest = 0;
    double end_s;

    for (size_t i = 1; i < count; i++)
        if (list[i].down_at_s < list[oldest].down_at_s)
            oldest = i;
    end_s = list[oldest].up_at_s;
    if (!(*since_s >= end_s))
        *since_s = end_s;
    list[oldest] = list[count - 1];
    return count - 1;
}

static enum error_code take_stored(const struct stored *s, size_t i, double now_s,
                                   struct arena *a, struct error *err)
{
    struct resource_history *out = s->list[i];
    size_t count = s->first ? s->first[i + 1] - s->first[i] : 0;
    struct failure_interval *list = NEW(a, struct failure_interval, count);
    double since_s = s->since_s[i];

    out->gap_s = NEW(a, double, count);
    if (!list || !out->gap_s)
        return fail_memory(err);
    if (out->resource && !isnan(out->resource->observed_since_s))
        since_s = out->resource->observed_since_s;
    for (size_t f = 0; f < count; f++)
        list[f] = interval_of(&s->failures[s->first[i] + f]);
    if (count == s->limit)
        count = cut(list, count, &since_s);
    return reliability_of(list, count, since_s, now_s, &out->reliability, out->gap_s,
                          &out->gap_count, a, err);
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

/* What a replay has of the stored history, as if it had been read. */
static enum error_code restore(const struct kept *kept, struct resource_histories *h,
                               struct stored *s, struct arena *a, struct error *err)
{
    struct store_failure_of *list;
    struct name_index index;
    size_t count = 0;

    h->unavailable = kept->unavailable;
    if (kept->unavailable)
        return OK;
    if (!name_index_create(&index, kept->resource_count, a))
        return fail_memory(err);
    for (size_t i = 0; i < kept->resource_count; i++) {
        name_index_add(&index, kept->resources[i].id, i);
        count += kept->resources[i].down_count;
    }
    list = NEW(a, struct store_failure_of, count);
    s->first = NEW(a, size_t, s->count + 1);
    if (!list || !s->first)
        return fail_memory(err);
    count = 0;
    for (size_t i = 0; i < s->count; i++) {
        size_t place = name_index_find(&index, s->list[i]->id);
        const struct kept_resource *r =
            place == NAME_NOT_FOUND ? NULL : &kept->resources[place];

        if (r)
            s->since_s[i] = r->observed_since_s;
        for (size_t f = 0; r && f < r->down_count && f < r->up_count; f++)
            list[count++] = (struct store_failure_of){i, r->down_at_s[f], r->up_at_s[f]};
        s->first[i + 1] = count;
    }
    s->failures = list;
    return OK;
}

/* Keeps what was read, and the present. */
static enum error_code keep(struct request *rq, const struct resource_histories *h,
                            const struct stored *s)
{
    struct kept kept = {h->now_s, h->unavailable, NULL, s->first ? s->count : 0};
    size_t count = s->first ? s->first[s->count] : 0;
    struct kept_resource *resources;
    double *times;

    if (!rq->store_decision)
        return OK;
    resources = NEW(rq->arena, struct kept_resource, kept.resource_count);
    times = NEW(rq->arena, double, 2 * count);
    if (!resources || !times)
        return fail_memory(rq->err);
    for (size_t i = 0; i < kept.resource_count; i++) {
        size_t first = s->first[i], failures = s->first[i + 1] - first;

        for (size_t f = first; f < first + failures; f++) {
            times[f] = s->failures[f].down_at_s;
            times[count + f] = s->failures[f].up_at_s;
        }
        resources[i] =
            (struct kept_resource){s->list[i]->id, s->since_s[i],         times + first,
                                   failures,       times + count + first, failures};
    }
    kept.resources = resources;
    return decision_keep_lookup(rq, KEPT, &kept_json, &kept);
}

/* The present and the stored rows: of the clock and the database, or in a replay
 * what they were. */
static enum error_code read_stored(struct request *rq, struct resource_histories *h)
{
    struct stored s = {NULL, 0, 0, NULL, NULL, NULL, NULL};
    bool by_clock = isnan(h->now_s), replayed;
    struct kept kept = {0};

    TRY(decision_lookup(rq, KEPT, &kept_json, &kept, &replayed));
    if (by_clock)
        h->now_s = replayed ? kept.now_s : clock_wall_s();
    TRY(list_stored(h, &s, rq->arena, rq->err));
    s.since_s = NEW(rq->arena, double, s.count);
    if (!s.since_s)
        return fail_memory(rq->err);
    for (size_t i = 0; i < s.count; i++)
        s.since_s[i] = NAN;
    if (replayed)
        TRY(restore(&kept, h, &s, rq->arena, rq->err));
    else if (s.count > 0)
        TRY(query_or_do_without(rq, h, &s));
    if (!replayed && (by_clock || s.count > 0))
        TRY(keep(rq, h, &s));
    for (size_t i = 0; i < s.count; i++)
        TRY(take_stored(&s, i, h->now_s, rq->arena, rq->err));
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

static enum error_code find_sites(struct resource_histories *h, struct sites *out,
                                  struct arena *a, struct error *err)
{
    struct name_index index;
    size_t count = 0;

    out->list = NEW(a, struct site, h->count);
    out->of = NEW(a, size_t, h->count);
    if (!out->list || !out->of || !name_index_create(&index, h->count, a))
        return fail_memory(err);
    for (size_t i = 0; i < h->count; i++) {
        const struct resource *r = h->list[i].resource;

        out->of[i] = NAME_NOT_FOUND;
        if (!r || !r->site_id)
            continue;
        out->of[i] = name_index_add(&index, r->site_id, count);
        if (out->of[i] == NAME_NOT_FOUND)
            out->of[i] = count++;
    }
    return OK;
}

/* All resources of a site are wanted when one of them is. */
static enum error_code want_sites(struct resource_histories *h, const struct sites *sites,
                                  struct arena *a, struct error *err)
{
    bool *wanted = NEW(a, bool, h->count);

    if (!wanted)
        return fail_memory(err);
    for (size_t i = 0; i < h->count; i++)
        if (h->list[i].wanted && sites->of[i] != NAME_NOT_FOUND)
            wanted[sites->of[i]] = true;
    for (size_t i = 0; i < h->count; i++)
        if (sites->of[i] != NAME_NOT_FOUND && wanted[sites->of[i]])
            h->list[i].wanted = true;
    return OK;
}

static enum error_code sum_up_sites(const struct resource_histories *h,
                                    const struct sites *sites,
                                    enum mf_estimator estimator, struct arena *a,
                                    struct error *err)
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
        if (!site->gap_s)
            return fail_memory(err);
    }
    for (size_t i = 0; i < h->count; i++) {
        const struct resource_history *r = &h->list[i];
        struct site *site =
            sites->of[i] == NAME_NOT_FOUND ? NULL : &sites->list[sites->of[i]];

        for (size_t g = 0; site && r->wanted && g < r->gap_count; g++)
            site->gap_s[site->gap_count++] = r->gap_s[g];
    }
    return OK;
}

/* ---- all together ---- */

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

static void estimate(struct resource_history *r, struct site *site, double now_s,
                     const struct histories_options *options)
{
    r->known = now_s > r->reliability.observed_since_s;
    r->mean_s = r->weibull_shape = r->scale_s = NAN;
    if (r->known)
        r->mean_s = reliability_mean_s(&r->reliability, options->estimator, now_s);
    if (site && site->observed_s > 0 && options->site_weight > 0)
        r->mean_s = reliability_shrunk_mean_s(&r->reliability, options->estimator, now_s,
                                              site->observed_s / fmax(1, site->failures),
                                              options->site_weight);
    if (options->weibull)
        fit(r, site);
}

enum error_code histories_read(struct request *rq, struct resource_histories *h,
                               const struct histories_options *options)
{
    bool with_sites = options->weibull || options->site_weight > 0;
    struct sites sites = {NULL, NULL};

    if (with_sites) {
        TRY(find_sites(h, &sites, rq->arena, rq->err));
        TRY(want_sites(h, &sites, rq->arena, rq->err));
    }
    TRY(read_stored(rq, h));
    for (size_t i = 0; i < h->count; i++)
        if (h->list[i].wanted && says_history(h->list[i].resource))
            TRY(take_given(h->list[i].resource, h->now_s, &h->list[i], rq->arena,
                           rq->err));
    if (with_sites)
        TRY(sum_up_sites(h, &sites, options->estimator, rq->arena, rq->err));
    for (size_t i = 0; i < h->count; i++) {
        struct site *site =
            with_sites && sites.of[i] != NAME_NOT_FOUND ? &sites.list[sites.of[i]] : NULL;

        if (h->list[i].wanted)
            estimate(&h->list[i], site, h->now_s, options);
    }
    return OK;
}
