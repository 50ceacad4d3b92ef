/* performance/update.c - a set learns from one more run.
 *
 * Every combination's triangle takes the run's row, O(terms^2) each; then the list is
 * ranked again. Who is in its worst tenth five times in a row is deleted: the list
 * shrinks to no fewer than nine.
 *
 * Source: spec performance-models.md 10; 003_a5f9349f46eae656 3.4.9.
 */
#include "models/performance/performance.h"
#include "models/performance/search.h"
#include "models/performance/source.h"

#include <math.h>
#include <string.h>

enum { STREAK_MAX = 5, LOW_SHARE = 10 };
static const double OUTLIER_PPE_RATIO = 3;

static void remember(struct perf_recent *recent, double ppe_ratio)
{
    recent->ppe_ratio[recent->next % PERF_RECENT_MAX] = ppe_ratio;
    recent->next = (recent->next + 1) % PERF_RECENT_MAX;
    if (recent->count < PERF_RECENT_MAX)
        recent->count++;
}

static void remember_source(struct perf_recent *recent, const struct perf_source *source,
                            const struct perf_sample *sample)
{
    struct perf_query query = {sample->problem_size, sample->processors,
                               sample->cpu_available_ratio, sample->bandwidth_mbps};
    struct perf_prediction p;

    perf_source_predict(source, false, &query, &p);
    if (p.status == PERF_READY)
        remember(recent, fabs(sample->time_s - p.time_s) / sample->time_s);
}

/* How far each way to predict is from a run that neither has seen. */
static void compare_methods(struct perf_model_set *set, const struct perf_sample *sample)
{
    bool single = sample->processors < 2;
    struct perf_source scaled, own;

    if (!set->reference)
        return;
    scaled = perf_source_scaled(set, single);
    remember_source(&set->reference->scaled, &scaled, sample);
    own = perf_source_own(set, single);
    if (perf_source_admissible(&own, single))
        remember_source(&set->reference->refit, &own, sample);
}

/* Adds the row to every entry, and ranks them again. */
static void refine(struct perf_list *list, const struct perf_sample *sample,
                   const struct perf_options *options)
{
    struct perf_row row;

    perf_row_of(sample, &row);
    for (size_t i = 0; i < list->count; i++) {
        perf_row_add(&list->items[i], &row, options->rule);
        perf_combination_solve(&list->items[i], options->rule);
    }
}

/* Is this a row of the list's fit? */
static bool in_fit(const struct perf_model_set *set, const struct perf_sample *sample,
                   bool single)
{
    return !perf_sample_fault(sample) && (sample->processors < 2) == single &&
           !(sample->outlier && set->options.leave_out_outliers) &&
           (set->options.min_processors < 2 ||
            sample->processors >= (double)set->options.min_processors);
}

/* Errors over the rows, for sets that rank by them; the latest rows, as in training. */
static void rank_by_rows(const struct perf_model_set *set, struct perf_list *list,
                         const struct perf_sample *rows, size_t count, bool single)
{
    size_t first = count > PERF_SAMPLES_MAX ? count - PERF_SAMPLES_MAX : 0, used = 0;

    for (size_t i = 0; i < list->count; i++)
        list->items[i].appe_ratio = 0;
    for (size_t r = first; r < count; r++) {
        struct perf_row row;

        if (!in_fit(set, &rows[r], single))
            continue;
        perf_row_of(&rows[r], &row);
        used++;
        for (size_t i = 0; i < list->count; i++)
            list->items[i].appe_ratio += perf_rows_appe(&list->items[i], &row, 1);
    }
    for (size_t i = 0; i < list->count && used > 0; i++) {
        list->items[i].appe_ratio /= (double)used;
        if (isfinite(list->items[i].standard_error))
            list->items[i].rank_error = perf_rank_error(list->items[i].appe_ratio);
    }
}

/* Counts who is in the worst tenth, and deletes who was there too often. */
static size_t evict(struct perf_list *list)
{
    size_t low = list->count / LOW_SHARE, kept = 0, count = list->count;

    for (size_t rank = 0; rank < count; rank++) {
        struct perf_combination *c = &list->items[rank];

        c->low_rank_streak = rank >= count - low ? c->low_rank_streak + 1 : 0;
        if (c->low_rank_streak < STREAK_MAX) {
            if (kept != rank)
                list->items[kept] = *c;
            kept++;
        }
    }
    list->count = kept;
    return count - kept;
}

static void refine_sorted(struct perf_model_set *set, struct perf_update *out)
{
    search_sort(&set->sorted);
    if (set->sorted.count > 0 && isfinite(set->sorted.items[0].standard_error))
        out->evicted = evict(&set->sorted);
    else if (set->sorted.count > 0 && !set->reference)
        out->reform_due = true; /* nothing fits any more */
}

static void refine_set(struct perf_model_set *set, const struct perf_sample *sample,
                       const struct perf_sample *rows, size_t row_count,
                       struct perf_update *out)
{
    bool single = sample->processors < 2;
    struct perf_list *list = single ? &set->single : &set->sorted;

    out->used = true;
    perf_seen_add(single ? &set->single_seen : &set->parallel_seen, sample);
    refine(list, sample, &set->options);
    if (set->options.by_appe && rows)
        rank_by_rows(set, list, rows, row_count, single);
    if (single)
        search_sort(list);
    else
        refine_sorted(set, out);
}

void perf_update(struct perf_model_set *set, const struct perf_sample *sample,
                 double predicted_s, const struct perf_sample *rows, size_t row_count,
                 struct perf_update *out)
{
    struct perf_sample run = *sample;

    *out = (struct perf_update){.ppe_ratio = (double)NAN};
    set->version++;
    set->sample_count++;
    if (perf_sample_fault(sample))
        return;
    if (isfinite(predicted_s)) {
        out->ppe_ratio = fabs(sample->time_s - predicted_s) / sample->time_s;
        run.outlier = run.outlier || (set->options.assess_outliers &&
                                      out->ppe_ratio > OUTLIER_PPE_RATIO);
        if (sample->processors >= 2)
            set->predictions_since_reform++;
    }
    out->outlier = run.outlier;
    set->outlier_count += run.outlier;
    if (in_fit(set, &run, run.processors < 2)) {
        compare_methods(set, &run);
        refine_set(set, &run, rows, row_count, out);
    }
    if (set->predictions_since_reform >= PERF_REFORM_PERIOD && !set->reference)
        out->reform_due = true;
    out->training_due = set->state != PERF_STATE_TRAINED &&
                        set->single_seen.sample_count + set->parallel_seen.sample_count >=
                            PERF_TRAINED_SAMPLES;
}

/* ---- copies ---- */

static void copy_list(const struct perf_list *list, struct perf_list *out,
                      struct arena *a)
{
    struct perf_combination *items = NEW(a, struct perf_combination, list->count);

    if (list->count > 0)
        memcpy(items, list->items, sizeof(*items) * list->count);
    *out = (struct perf_list){items, list->count};
}

void perf_set_copy(const struct perf_model_set *set, struct perf_model_set *out,
                   struct arena *a)
{
    struct perf_model_set copy = *set;

    copy_list(&set->single, &copy.single, a);
    copy_list(&set->pairs, &copy.pairs, a);
    copy_list(&set->sorted, &copy.sorted, a);
    if (set->reference) {
        copy.reference = NEW(a, struct perf_reference, 1);
        *copy.reference = *set->reference;
        copy_list(&set->reference->single, &copy.reference->single, a);
    }
    *out = copy;
}
