/* forecast/min_avg.c - the load of one run, as two numbers. */
#include "models/forecast/min_avg.h"

#include "models/forecast/chosen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const load_mean_names[] = {
#define X(symbol, name, meaning) #name,
    LOAD_MEANS(X)
#undef X
        NULL,
};

/* One usable sample. */
struct entry {
    struct chosen_key key;
    double at_s, value;
    size_t index; /* in the caller's list */
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = chosen_compare(&x->key, &y->key);

    if (order != 0)
        return order;
    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void check_entry(const struct entry *e, struct error *err)
{
    bool link = e->key.low != e->key.high;
    char pointer[64];

    if (!isfinite(e->at_s)) {
        snprintf(pointer, sizeof(pointer), "/samples/%zu/observed_at", e->index);
        invalid(err, pointer, ITEM_OUT_OF_BOUNDS, "must be an instant");
    }
    if (e->value > 0 && (link ? isfinite(e->value) : e->value <= 1))
        return;
    snprintf(pointer, sizeof(pointer), "/samples/%zu/%s", e->index,
             link ? "bandwidth_mbps" : "cpu_available_ratio");
    invalid(err, pointer, ITEM_INVALID_AVAILABILITY, "%g is not %s", e->value,
            link ? "above 0" : "above 0 and at most 1");
}

/* The samples of the chosen things, sorted; marks in `err` those that are wrong. */
static size_t collect(const struct min_avg_in *in, const struct chosen *c,
                      struct entry *entries, struct error *err)
{
    size_t count = 0;

    for (size_t i = 0; i < in->sample_count; i++) {
        const struct load_sample *s = &in->samples[i];
        struct entry e = {.at_s = s->observed_at_s, .index = i};

        e.value = s->to_resource_id ? s->bandwidth_mbps : s->cpu_available_ratio;
        if (isnan(e.value) || !chosen_find(c, s->resource_id, s->to_resource_id, &e.key))
            continue;
        check_entry(&e, err);
        entries[count++] = e;
    }
    qsort(entries, count, sizeof(*entries), compare_entries);
    return count;
}

/* The mean of the sample nearest to the start and the one nearest to the end,
 * ties to the earlier. */
static double mean_of_nearest(const struct entry *e, size_t count,
                              const struct min_avg_in *in)
{
    size_t to_start = 0, to_end = 0;

    for (size_t i = 1; i < count; i++) {
        if (fabs(e[i].at_s - in->from_s) < fabs(e[to_start].at_s - in->from_s))
            to_start = i;
        if (fabs(e[i].at_s - in->to_s) < fabs(e[to_end].at_s - in->to_s))
            to_end = i;
    }
    return e[to_start].value / 2 + e[to_end].value / 2;
}

/* Mean over time of one resource's or link's samples, ascending by time. */
static double mean_over_run(const struct entry *e, size_t count,
                            const struct min_avg_in *in)
{
    double length_s = in->to_s - in->from_s, mean = 0;
    size_t first = 0, end;

    while (first < count && e[first].at_s < in->from_s)
        first++;
    for (end = first; end < count && e[end].at_s <= in->to_s;)
        end++;
    if (first == end)
        return mean_of_nearest(e, count, in);
    for (size_t i = first; i < end; i++) {
        double begin_s = i == first ? in->from_s : e[i].at_s;
        double end_s = i + 1 == end ? in->to_s : e[i + 1].at_s;

        if (in->mean == LOAD_MEAN_TIME_WEIGHTED && length_s > 0)
            mean += e[i].value * ((end_s - begin_s) / length_s);
        else
            mean += (e[i].value - mean) / (double)(i - first + 1);
    }
    return mean;
}

/* The least of the means; ties stay with the lower key. */
static void take_minimum(const struct chosen *c, const struct chosen_key *key,
                         double mean, struct min_avg *out)
{
    if (key->low == key->high && !(mean >= out->cpu_available_ratio)) {
        out->cpu_available_ratio = mean;
        out->cpu_resource = c->position[key->low];
    }
    if (key->low != key->high && !(mean >= out->bandwidth_mbps)) {
        out->bandwidth_mbps = mean;
        out->link_from = c->position[key->reversed ? key->high : key->low];
        out->link_to = c->position[key->reversed ? key->low : key->high];
    }
}

static void check_missing(const struct min_avg_in *in, const struct chosen *c,
                          const struct chosen_key *keys, size_t count, struct error *err)
{
    struct chosen_walk walk = {0};
    struct chosen_key key;
    char pointer[64];

    while (err->item_count < ERROR_ITEMS_MAX &&
           chosen_next_missing(c, keys, count, &walk, &key)) {
        const char *one = in->resource_ids[c->position[key.low]];
        const char *other = in->resource_ids[c->position[key.high]];

        snprintf(pointer, sizeof(pointer), "/resource_ids/%zu", c->position[key.high]);
        if (key.low == key.high)
            invalid(err, pointer, ITEM_NO_SAMPLES, "no sample of the CPU of '%s'", one);
        else
            invalid(err, pointer, ITEM_NO_SAMPLES,
                    "no sample of the link between '%s' and '%s'", one, other);
    }
}

enum error_code min_avg_of_run(const struct min_avg_in *in, struct min_avg *out,
                               struct arena *a, struct error *err)
{
    struct entry *entries = NEW(a, struct entry, in->sample_count);
    struct chosen_key *keys = NEW(a, struct chosen_key, in->sample_count);
    struct min_avg least = {.cpu_available_ratio = NAN, .bandwidth_mbps = NAN};
    size_t count, key_count = 0, end;
    struct chosen c;

    chosen_create(&c, in->resource_ids, in->resource_count, a);
    if (in->resource_count == 0)
        invalid(err, "/resource_ids", ITEM_REQUIRED, "name the processors of the run");
    if (!isfinite(in->from_s) || !(in->to_s >= in->from_s) || !isfinite(in->to_s))
        invalid(err, "/to", ITEM_OUT_OF_BOUNDS, "a run ends at or after its start");
    count = collect(in, &c, entries, err);
    for (size_t i = 0; i < count; i = end) {
        for (end = i;
             end < count && chosen_compare(&entries[end].key, &entries[i].key) == 0;)
            end++;
        take_minimum(&c, &entries[i].key, mean_over_run(entries + i, end - i, in),
                     &least);
        keys[key_count++] = entries[i].key;
    }
    check_missing(in, &c, keys, key_count, err);
    if (err->code != OK)
        return err->code;
    *out = least;
    return OK;
}
