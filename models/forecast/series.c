/* forecast/series.c - raw load samples to averages of 600 s. */
#include "models/base/names.h"
#include "models/forecast/forecast.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* One usable sample. */
struct entry {
    size_t from, to; /* numbers of the ids; NAME_NOT_FOUND: the resource itself */
    double start_at_s, value;
    size_t index; /* in the caller's list */
};

/* The entries of one series. */
struct group {
    size_t first, end;
    size_t appeared; /* least index */
};

static int compare_sizes(size_t x, size_t y)
{
    return (x > y) - (x < y);
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->from != y->from)
        return compare_sizes(x->from, y->from);
    if (x->to != y->to)
        return compare_sizes(x->to, y->to);
    if (x->start_at_s != y->start_at_s)
        return x->start_at_s < y->start_at_s ? -1 : 1;
    return compare_sizes(x->index, y->index);
}

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    return compare_sizes(x->appeared, y->appeared);
}

static void check_sample(const struct load_sample *s, double value, size_t index,
                         struct error *err)
{
    char pointer[64];

    if (!isfinite(s->observed_at_s)) {
        snprintf(pointer, sizeof(pointer), "/history/%zu/observed_at", index);
        invalid(err, pointer, ITEM_OUT_OF_BOUNDS, "must be an instant");
    }
    if (value >= 0 && (s->to_resource_id ? isfinite(value) : value <= 1))
        return;
    snprintf(pointer, sizeof(pointer), "/history/%zu/%s", index,
             s->to_resource_id ? "bandwidth_mbps" : "cpu_available_ratio");
    invalid(err, pointer, ITEM_INVALID_AVAILABILITY, "%g is not %s", value,
            s->to_resource_id ? "0 or more" : "from 0 to 1");
}

/* The number of an id, which it gets when it is first met. */
static size_t number_of(struct name_index *ids, const char *id, size_t *next)
{
    size_t number = name_index_add(ids, id, *next);

    return number == NAME_NOT_FOUND ? (*next)++ : number;
}

static size_t collect(const struct load_sample *samples, size_t count,
                      struct name_index *ids, struct entry *entries, struct error *err)
{
    size_t id_count = 0, entry_count = 0;

    for (size_t i = 0; i < count; i++) {
        const struct load_sample *s = &samples[i];
        struct entry e = {.to = NAME_NOT_FOUND, .index = i};

        e.value = s->to_resource_id ? s->bandwidth_mbps : s->cpu_available_ratio;
        if (isnan(e.value))
            continue;
        check_sample(s, e.value, i, err);
        e.start_at_s = floor(s->observed_at_s / LOAD_BUCKET_S) * LOAD_BUCKET_S;
        e.from = number_of(ids, s->resource_id, &id_count);
        if (s->to_resource_id)
            e.to = number_of(ids, s->to_resource_id, &id_count);
        entries[entry_count++] = e;
    }
    return entry_count;
}

static size_t find_groups(const struct entry *entries, size_t count, struct group *groups)
{
    size_t group_count = 0;

    for (size_t i = 0; i < count; i++) {
        struct group *g = group_count > 0 ? &groups[group_count - 1] : NULL;

        if (!g || entries[i].from != entries[i - 1].from ||
            entries[i].to != entries[i - 1].to) {
            g = &groups[group_count++];
            *g = (struct group){i, i, entries[i].index};
        }
        g->end = i + 1;
        if (entries[i].index < g->appeared)
            g->appeared = entries[i].index;
    }
    return group_count;
}

/* Averages the entries of one series into `buckets`; their number. */
static size_t average(const struct entry *e, size_t count, struct load_bucket *buckets)
{
    size_t bucket_count = 0, in_bucket = 0;

    for (size_t i = 0; i < count; i++) {
        if (i == 0 || e[i].start_at_s != e[i - 1].start_at_s) {
            buckets[bucket_count++] = (struct load_bucket){e[i].start_at_s, 0};
            in_bucket = 0;
        }
        buckets[bucket_count - 1].mean +=
            (e[i].value - buckets[bucket_count - 1].mean) / (double)++in_bucket;
    }
    return bucket_count;
}

enum error_code load_series_of_samples(const struct load_sample *samples, size_t count,
                                       struct load_series **series, size_t *series_count,
                                       struct arena *a, struct error *err)
{
    struct entry *entries = NEW(a, struct entry, count);
    struct group *groups = NEW(a, struct group, count);
    struct load_bucket *buckets = NEW(a, struct load_bucket, count);
    size_t entry_count, group_count;
    struct load_series *made;
    struct name_index ids;

    name_index_create(&ids, 2 * count, a);
    entry_count = collect(samples, count, &ids, entries, err);
    if (err->code != OK)
        return err->code;
    qsort(entries, entry_count, sizeof(*entries), compare_entries);
    group_count = find_groups(entries, entry_count, groups);
    qsort(groups, group_count, sizeof(*groups), compare_groups);
    made = NEW(a, struct load_series, group_count);
    for (size_t g = 0; g < group_count; g++) {
        const struct load_sample *s = &samples[groups[g].appeared];
        size_t length = groups[g].end - groups[g].first;

        made[g] = (struct load_series){s->resource_id, s->to_resource_id, buckets, 0};
        made[g].bucket_count = average(entries + groups[g].first, length, buckets);
        buckets += made[g].bucket_count;
    }
    *series = made;
    *series_count = group_count;
    return OK;
}
