/* performance/set_walk.c - a set of combinations as numbers: with a writer members are
 * copied to them, with a reader back; what is read may be anything. */
#include "models/performance/set_walk.h"

#include "models/base/arena.h"

void perf_seen_walk(struct number_walk *w, struct perf_seen *seen)
{
    walk_whole(w, &seen->sample_count, SIZE_MAX >> 11);
    walk_numbers(w, &seen->problem_size.low, 1);
    walk_numbers(w, &seen->problem_size.high, 1);
    walk_numbers(w, &seen->processors.low, 1);
    walk_numbers(w, &seen->processors.high, 1);
    walk_numbers(w, &seen->cpu_available_ratio.low, 1);
    walk_numbers(w, &seen->cpu_available_ratio.high, 1);
    walk_numbers(w, &seen->bandwidth_mbps.low, 1);
    walk_numbers(w, &seen->bandwidth_mbps.high, 1);
}

static void walk_combination(struct number_walk *w, struct perf_combination *c)
{
    double packed[PERF_PACKED] = {0};

    if (!w->in)
        perf_combination_pack(c, packed);
    walk_numbers(w, packed, PERF_PACKED);
    if (w->in && (w->failed || !perf_combination_unpack(packed, PERF_PACKED, c)))
        w->failed = true;
}

static void walk_list(struct number_walk *w, struct perf_list *list)
{
    walk_whole(w, &list->count, (size_t)2 * PERF_SORTED_MAX);
    if (w->in && (w->failed || list->count > (w->count - w->at) / PERF_PACKED)) {
        w->failed = true;
        list->count = 0;
        return;
    }
    if (w->in)
        list->items = NEW(w->a, struct perf_combination, list->count + 1);
    for (size_t i = 0; i < list->count; i++)
        walk_combination(w, &list->items[i]);
}

static void walk_recent(struct number_walk *w, struct perf_recent *recent)
{
    walk_numbers(w, recent->ppe_ratio, PERF_RECENT_MAX);
    walk_whole(w, &recent->count, PERF_RECENT_MAX);
    walk_whole(w, &recent->next, PERF_RECENT_MAX - 1);
}

static void walk_reference(struct number_walk *w, struct perf_model_set *set)
{
    bool there = set->reference != NULL;

    walk_flag(w, &there);
    if (!there || w->failed)
        return;
    if (w->in)
        set->reference = NEW(w->a, struct perf_reference, 1);
    walk_number(w, &set->reference->cpu_factor);
    walk_number(w, &set->reference->bandwidth_factor);
    walk_combination(w, &set->reference->top);
    walk_list(w, &set->reference->single);
    perf_seen_walk(w, &set->reference->single_seen);
    perf_seen_walk(w, &set->reference->parallel_seen);
    set->options.assess_outliers = true; /* see fitted_port() */
    walk_recent(w, &set->reference->scaled);
    walk_recent(w, &set->reference->refit);
}

void perf_set_walk(struct number_walk *w, struct perf_model_set *set)
{
    size_t status = set->status, state = set->state;

    walk_whole(w, &status, PERF_STATUS_COUNT - 1);
    walk_whole(w, &state, PERF_STATE_COUNT - 1);
    set->status = (enum perf_status)status;
    set->state = (enum perf_state)state;
    walk_list(w, &set->single);
    walk_list(w, &set->pairs);
    walk_list(w, &set->sorted);
    perf_seen_walk(w, &set->single_seen);
    perf_seen_walk(w, &set->parallel_seen);
    walk_whole(w, &set->predictions_since_reform, SIZE_MAX >> 11);
    walk_whole(w, &set->version, SIZE_MAX >> 11);
    walk_whole(w, &set->sample_count, SIZE_MAX >> 11);
    walk_whole(w, &set->outlier_count, SIZE_MAX >> 11);
    walk_reference(w, set);
}
