/* forecast/forecast.c - which load a run will meet, from the load history. */
#include "models/forecast/forecast.h"

#include "models/forecast/chosen.h"

#include <math.h>
#include <stdlib.h>

enum { MISSING_LISTED_MAX = 20 };

const char *const forecast_mode_names[] = {
#define X(symbol, name, meaning) #name,
    FORECAST_MODES(X)
#undef X
        NULL,
};

/* What is read of one chosen series. */
struct entry {
    struct chosen_key key;
    const struct load_series *series;
    const struct load_bucket *buckets; /* those in the window, ascending */
    size_t count;                      /* >= 1 */
    size_t at;                         /* cursor of a walk over several */
};

/* The processors or the links: what a minimum is taken over. */
struct side {
    struct entry *entries;
    size_t count;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    bool x_link = x->key.low != x->key.high, y_link = y->key.low != y->key.high;
    int order = (int)x_link - (int)y_link;

    if (order == 0)
        order = chosen_compare(&x->key, &y->key);
    if (order == 0)
        order = x->series < y->series ? -1 : x->series > y->series;
    return order;
}

static int compare_keys(const void *a, const void *b)
{
    return chosen_compare(a, b);
}

double load_forecast_horizon_s(double run_time_s)
{
    double whole_s = 120 * ceil(run_time_s / 120);

    return fmin(fmax(whole_s, 600), 7200); /* fmax passes over NAN */
}

static double end_at_s(const struct load_bucket *b)
{
    return b->start_at_s + LOAD_BUCKET_S;
}

/* ---- what is read ---- */

static bool is_chosen(const struct chosen *c, const struct load_series *s,
                      struct chosen_key *key)
{
    return s->bucket_count > 0 && chosen_find(c, s->resource_id, s->to_resource_id, key);
}

/* The instant of the forecast. */
static double now_at_s(const struct load_forecast_in *in, const struct chosen *c)
{
    double newest_s = -HUGE_VAL;
    struct chosen_key key;

    if (!isnan(in->now_at_s))
        return in->now_at_s;
    for (size_t i = 0; i < in->series_count; i++) {
        const struct load_series *s = &in->series[i];

        if (is_chosen(c, s, &key))
            newest_s = fmax(newest_s, end_at_s(&s->buckets[s->bucket_count - 1]));
    }
    return newest_s;
}

/* Cuts the series to the window; false: nothing is left. */
static bool cut(struct entry *e, double from_s, double to_s)
{
    const struct load_bucket *b = e->series->buckets;
    size_t first = 0, end = e->series->bucket_count;

    while (first < end && b[first].start_at_s < from_s)
        first++;
    while (end > first && end_at_s(&b[end - 1]) > to_s)
        end--;
    e->buckets = b + first;
    e->count = end - first;
    return e->count > 0;
}

/* The chosen series, each once: processors, then links, by their numbers. */
static size_t collect(const struct load_forecast_in *in, const struct chosen *c,
                      struct entry *entries)
{
    double now_s = now_at_s(in, c);
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < in->series_count; i++) {
        struct entry e = {.series = &in->series[i]};

        if (is_chosen(c, e.series, &e.key) && cut(&e, now_s - in->history_s, now_s))
            entries[count++] = e;
    }
    qsort(entries, count, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || chosen_compare(&entries[kept - 1].key, &entries[i].key) != 0)
            entries[kept++] = entries[i];
    }
    return kept;
}

static void list_missing(const struct load_forecast_in *in, const struct chosen *c,
                         const struct entry *entries, size_t count,
                         struct load_forecast *out, struct arena *a)
{
    struct chosen_key *keys = NEW(a, struct chosen_key, count);
    const char **missing = NEW(a, const char *, MISSING_LISTED_MAX);
    struct chosen_walk walk = {0};
    struct chosen_key key;

    for (size_t i = 0; i < count; i++)
        keys[i] = entries[i].key;
    qsort(keys, count, sizeof(*keys), compare_keys);
    out->missing = missing;
    while (chosen_next_missing(c, keys, count, &walk, &key)) {
        const char *one = in->resource_ids[c->position[key.low]];
        const char *other = in->resource_ids[c->position[key.high]];

        out->reason = FORECAST_NO_HISTORY;
        if (out->missing_count++ >= MISSING_LISTED_MAX)
            continue;
        missing[out->missing_listed++] =
            key.low == key.high ? one : arena_printf(a, "%s|%s", one, other);
    }
}

/* ---- one series that stands for a side ---- */

/* Values of the intervals in which every series has one: the least of them. */
static size_t minimum_of_buckets(struct side side, double *value)
{
    const struct entry *base = &side.entries[0];
    size_t count = 0;

    for (size_t k = 0; k < side.count; k++)
        side.entries[k].at = 0;
    for (size_t i = 0; i < base->count; i++) {
        double start_s = base->buckets[i].start_at_s, least = HUGE_VAL;
        bool common = true;

        for (size_t k = 0; k < side.count; k++) {
            struct entry *e = &side.entries[k];

            while (e->at < e->count && e->buckets[e->at].start_at_s < start_s)
                e->at++;
            if (e->at == e->count || e->buckets[e->at].start_at_s > start_s)
                common = false;
            else
                least = fmin(least, e->buckets[e->at].mean);
        }
        if (common)
            value[count++] = least;
    }
    return count;
}

/* Mean of the series over [from_s, to_s), buckets weighed by their overlap; NAN:
 * none. The cursor stands behind the last bucket that begins before to_s. */
static double mean_of_block(struct entry *e, double from_s, double to_s)
{
    double weight_s = 0, sum = 0;

    while (e->at > 0 && e->buckets[e->at - 1].start_at_s >= to_s)
        e->at--;
    for (size_t i = e->at; i > 0 && end_at_s(&e->buckets[i - 1]) > from_s; i--) {
        const struct load_bucket *b = &e->buckets[i - 1];
        double overlap_s = fmin(end_at_s(b), to_s) - fmax(b->start_at_s, from_s);

        if (!(overlap_s > 0))
            continue;
        weight_s += overlap_s;
        sum += (b->mean - sum) * (overlap_s / weight_s); /* the mean so far */
    }
    return weight_s > 0 ? sum : (double)NAN;
}

/* Values of the blocks in which every series has one, oldest first. */
static size_t minimum_of_blocks(struct side side, double horizon_s, double *value)
{
    double newest_s = -HUGE_VAL, oldest_s = -HUGE_VAL, to_s;
    size_t count = 0;

    for (size_t k = 0; k < side.count; k++) {
        struct entry *e = &side.entries[k];

        newest_s = fmax(newest_s, end_at_s(&e->buckets[e->count - 1]));
        oldest_s = fmax(oldest_s, e->buckets[0].start_at_s);
        e->at = e->count;
    }
    to_s = newest_s;
    for (size_t block = 1; to_s - horizon_s >= oldest_s; block++) {
        double from_s = newest_s - (double)block * horizon_s, least = HUGE_VAL;

        if (!(from_s < to_s))
            break; /* instants so great that a block has no length */
        for (size_t k = 0; k < side.count && !isnan(least); k++) {
            double mean = mean_of_block(&side.entries[k], from_s, to_s);

            least = isnan(mean) ? mean : fmin(least, mean);
        }
        if (!isnan(least))
            value[count++] = least;
        to_s = from_s;
    }
    for (size_t i = 0; i < count / 2; i++) {
        double swap = value[i];

        value[i] = value[count - 1 - i];
        value[count - 1 - i] = swap;
    }
    return count;
}

/* Blocks of at least 600 s are at most as many as would fit into the window. */
static size_t values_max(struct side side, const struct load_forecast *out)
{
    double oldest_s = HUGE_VAL, newest_s = -HUGE_VAL;

    if (out->mode_used == FORECAST_MODE_FORECAST_OF_MIN)
        return side.entries[0].count;
    for (size_t k = 0; k < side.count; k++) {
        const struct entry *e = &side.entries[k];

        oldest_s = fmin(oldest_s, e->buckets[0].start_at_s);
        newest_s = fmax(newest_s, end_at_s(&e->buckets[e->count - 1]));
    }
    return (size_t)((newest_s - oldest_s) / out->horizon_s) + 2;
}

/* Forecast of a side's minimum by the mode in out->mode_used; NAN: no common
 * interval. */
static void forecast_side(struct side side, const struct load_forecast *out,
                          double *forecast, size_t *interval_count, struct arena *a)
{
    double *value;
    size_t count;

    *forecast = NAN;
    *interval_count = 0;
    if (side.count == 0)
        return;
    value = NEW(a, double, values_max(side, out));
    count = out->mode_used == FORECAST_MODE_FORECAST_OF_MIN
                ? minimum_of_buckets(side, value)
                : minimum_of_blocks(side, out->horizon_s, value);
    *forecast = battery_run(value, count).value;
    *interval_count = count;
}

/* ---- each by itself ---- */

static struct resource_forecast forecast_entry(const struct entry *e)
{
    struct battery b = {0};
    struct battery_forecast f;

    for (size_t i = 0; i < e->count; i++)
        battery_add(&b, e->buckets[i].mean);
    f = battery_forecast(&b);
    return (struct resource_forecast){e->series->resource_id,
                                      e->series->to_resource_id,
                                      f.value,
                                      f.mae,
                                      f.forecaster,
                                      e->count};
}

/* Fills resources and the least of them on each side. */
static void forecast_each(const struct entry *entries, size_t count,
                          struct load_forecast *out, struct arena *a)
{
    struct resource_forecast *each = NEW(a, struct resource_forecast, count);

    for (size_t i = 0; i < count; i++) {
        each[i] = forecast_entry(&entries[i]);
        if (each[i].to_resource_id)
            out->bandwidth_mbps = fmin(out->bandwidth_mbps, each[i].value);
        else
            out->cpu_available_ratio = fmin(out->cpu_available_ratio, each[i].value);
    }
    out->resources = each;
    out->resource_count = count;
}

static void forecast_minimum(const struct load_forecast_in *in, struct entry *entries,
                             size_t count, struct load_forecast *out, struct arena *a)
{
    struct side cpus = {entries, 0}, links;
    double cpu, bandwidth;
    size_t cpu_intervals, link_intervals;

    if (in->mode == FORECAST_MODE_MIN_OF_FORECASTS)
        return;
    while (cpus.count < count && !entries[cpus.count].series->to_resource_id)
        cpus.count++;
    links = (struct side){entries + cpus.count, count - cpus.count};
    out->mode_used = in->mode;
    if (in->mode == FORECAST_MODE_DURATION_MATCHED)
        out->horizon_s = fmax(in->horizon_s, LOAD_BUCKET_S);
    forecast_side(cpus, out, &cpu, &cpu_intervals, a);
    forecast_side(links, out, &bandwidth, &link_intervals, a);
    if (isnan(cpu) || (links.count > 0 && isnan(bandwidth))) {
        out->mode_used = FORECAST_MODE_MIN_OF_FORECASTS;
        out->horizon_s = LOAD_BUCKET_S;
        return;
    }
    out->cpu_available_ratio = cpu;
    out->bandwidth_mbps = bandwidth;
    out->interval_count = cpu_intervals;
}

enum error_code load_forecast(const struct load_forecast_in *in,
                              struct load_forecast *out, struct arena *a,
                              struct error *err)
{
    struct load_forecast f = {.cpu_available_ratio = NAN,
                              .bandwidth_mbps = NAN,
                              .mode_used = FORECAST_MODE_MIN_OF_FORECASTS,
                              .horizon_s = LOAD_BUCKET_S};
    struct entry *entries = NEW(a, struct entry, in->series_count);
    struct chosen c;
    size_t count;

    if (in->resource_count == 0)
        invalid(err, "/resource_ids", ITEM_REQUIRED, "name the processors");
    if (!(in->history_s > 0 && in->history_s <= LOAD_HISTORY_MAX_S))
        invalid(err, "/history_s", ITEM_OUT_OF_BOUNDS, "must be above 0 and at most %g",
                LOAD_HISTORY_MAX_S);
    if (in->mode == FORECAST_MODE_DURATION_MATCHED && !(in->horizon_s > 0))
        invalid(err, "/horizon_s", ITEM_OUT_OF_BOUNDS, "must be above 0");
    if (err->code != OK)
        return err->code;
    chosen_create(&c, in->resource_ids, in->resource_count, a);
    count = collect(in, &c, entries);
    list_missing(in, &c, entries, count, &f, a);
    if (!f.reason) {
        forecast_each(entries, count, &f, a);
        forecast_minimum(in, entries, count, &f, a);
    }
    *out = f;
    return OK;
}
