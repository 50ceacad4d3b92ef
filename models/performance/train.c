/* performance/train.c - learning a set from runs, and its list anew.
 *
 * Cost: 77 fits in stage 1, 616 for each function kept there in stage 2, 256 for each
 * triple kept there in stage 3.
 * Deviation: values so small or great that sums of squares would overflow are no run
 * (perf_sample_fault); the source knows no bounds.
 */
#include "models/performance/performance.h"

#include "models/performance/search.h"

#include <math.h>
#include <string.h>

enum {
    SINGLE_LEAST = 3,   /* runs of stage 1 */
    PAIRS_LEAST = 5,    /* of stage 2, and of both in one */
    PARALLEL_LEAST = 5, /* of stage 3 */
    DISTINCT_LEAST = 2, /* numbers of processors in stage 3 */
    DISTINCT_COUNTED = 64,
};

struct perf_options perf_options_of(enum perf_profile profile)
{
    bool robust = profile == PERF_ROBUST;

    return (struct perf_options){
        .rule = {.relative = robust, .nonnegative = robust},
        .leave_out_outliers = robust,
        .assess_outliers = true,
        .guard = robust,
        .min_processors = 1,
        .threshold_factor = 2,
    };
}

static bool inside(double value, double low, double high)
{
    return value >= low && value <= high;
}

const char *perf_sample_fault(const struct perf_sample *sample)
{
    if (!inside(sample->problem_size, PERF_SIZE_LEAST, PERF_SIZE_MOST))
        return "problem_size";
    if (!inside(sample->processors, 1, PERF_PROCESSORS_MOST) ||
        sample->processors != floor(sample->processors))
        return "processors";
    if (!inside(sample->cpu_available_ratio, PERF_LOAD_LEAST, 1))
        return "cpu_available_ratio";
    if (sample->processors >= 2 &&
        !inside(sample->bandwidth_mbps, PERF_LOAD_LEAST, PERF_BANDWIDTH_MOST))
        return "bandwidth_mbps";
    if (!inside(sample->time_s, PERF_TIME_LEAST_S, PERF_TIME_MOST_S))
        return "time_s";
    return NULL;
}

/* ---- what was seen ---- */

static void widen(struct perf_range *range, double value)
{
    range->low = isnan(range->low) ? value : fmin(range->low, value);
    range->high = isnan(range->high) ? value : fmax(range->high, value);
}

void perf_seen_clear(struct perf_seen *seen)
{
    struct perf_range none = {(double)NAN, (double)NAN};

    *seen = (struct perf_seen){0, none, none, none, none};
}

void perf_seen_add(struct perf_seen *seen, const struct perf_sample *sample)
{
    seen->sample_count++;
    widen(&seen->problem_size, sample->problem_size);
    widen(&seen->processors, sample->processors);
    widen(&seen->cpu_available_ratio, sample->cpu_available_ratio);
    if (sample->processors >= 2)
        widen(&seen->bandwidth_mbps, sample->bandwidth_mbps);
}

/* ---- rows by stage ---- */

struct stage_rows {
    struct search_rows single, pairs, parallel;
    double distinct[DISTINCT_COUNTED];
    size_t distinct_count;
};

static size_t least_of(const struct perf_options *options)
{
    return options->min_processors > 1 ? options->min_processors : 1;
}

static void note_processors(struct stage_rows *rows, double processors)
{
    for (size_t i = 0; i < rows->distinct_count; i++) {
        if (rows->distinct[i] == processors)
            return;
    }
    if (rows->distinct_count < DISTINCT_COUNTED)
        rows->distinct[rows->distinct_count++] = processors;
}

/* Puts a run where it belongs: its row, and what the set has seen. */
static void sort_in(const struct perf_sample *sample, size_t least,
                    struct stage_rows *rows, struct perf_row *single,
                    struct perf_row *pairs, struct perf_row *parallel,
                    struct perf_model_set *set)
{
    double pair = least > 1 ? (double)least : 2;
    struct perf_row row;

    perf_row_of(sample, &row);
    if (sample->processors < 2) {
        single[rows->single.count++] = row;
        perf_seen_add(&set->single_seen, sample);
        return;
    }
    if (sample->processors == pair)
        pairs[rows->pairs.count++] = row;
    parallel[rows->parallel.count++] = row;
    note_processors(rows, sample->processors);
    perf_seen_add(&set->parallel_seen, sample);
}

static void split_rows(const struct perf_sample *samples, size_t count,
                       struct perf_model_set *set, struct perf_report *report,
                       struct stage_rows *rows, struct arena *a)
{
    const struct perf_options *options = &set->options;
    size_t first = count > PERF_SAMPLES_MAX ? count - PERF_SAMPLES_MAX : 0;
    struct perf_row *single = NEW(a, struct perf_row, count - first);
    struct perf_row *pairs = NEW(a, struct perf_row, count - first);
    struct perf_row *parallel = NEW(a, struct perf_row, count - first);

    *rows = (struct stage_rows){0};
    perf_seen_clear(&set->single_seen);
    perf_seen_clear(&set->parallel_seen);
    set->outlier_count = 0;
    for (size_t i = first; i < count; i++) {
        const struct perf_sample *sample = &samples[i];

        if (perf_sample_fault(sample) || sample->processors < (double)least_of(options)) {
            report->ignored_count++;
            continue;
        }
        set->outlier_count += sample->outlier;
        if (!sample->outlier || !options->leave_out_outliers)
            sort_in(sample, least_of(options), rows, single, pairs, parallel, set);
    }
    rows->single.rows = single;
    rows->pairs.rows = pairs;
    rows->parallel.rows = parallel;
    report->single_samples = rows->single.count;
    report->pair_samples = rows->pairs.count;
    report->parallel_samples = rows->parallel.count;
    report->distinct_processors = rows->distinct_count;
}

static bool enough(const struct stage_rows *rows, const struct perf_options *options)
{
    return (least_of(options) > 1 || rows->single.count >= SINGLE_LEAST) &&
           rows->pairs.count >= PAIRS_LEAST && rows->parallel.count >= PARALLEL_LEAST &&
           rows->distinct_count >= DISTINCT_LEAST;
}

/* ---- the stages ---- */

/* After a cut a stage sees the best of the list before only. */
static struct perf_list seen_by_next(const struct search *s, struct perf_list list)
{
    if (s->report->cut && list.count > 1)
        list.count = 1;
    return list;
}

/* Stages 2 and 3; the first list is that of stage 1. */
static enum error_code search_parallel(struct search *s, const struct stage_rows *rows,
                                       const struct perf_list *single,
                                       struct perf_list *pairs, struct perf_list *sorted,
                                       struct error *err)
{
    struct perf_list in;

    if (least_of(s->options) > 1) {
        TRY(search_joint(s, rows->pairs, pairs, err));
    } else {
        in = seen_by_next(s, *single);
        TRY(search_pairs(s, rows->pairs, &in, pairs, err));
    }
    s->report->pairs_kept = pairs->count;
    in = seen_by_next(s, *pairs);
    return search_sorted(s, rows->parallel, &in, sorted, err);
}

static enum error_code run_stages(struct search *s, const struct stage_rows *rows,
                                  struct perf_model_set *set, struct error *err)
{
    if (least_of(s->options) == 1) {
        TRY(search_single(s, rows->single, &set->single, err));
        s->report->single_kept = set->single.count;
    }
    TRY(search_parallel(s, rows, &set->single, &set->pairs, &set->sorted, err));
    set->status = set->sorted.count > 0 ? PERF_READY : PERF_RANK_DEFICIENT;
    return OK;
}

static enum perf_state state_of(const struct perf_model_set *set)
{
    size_t seen = set->single_seen.sample_count + set->parallel_seen.sample_count;

    if (set->sample_count == 0)
        return PERF_STATE_UNKNOWN;
    return set->status == PERF_READY && seen >= PERF_TRAINED_SAMPLES
               ? PERF_STATE_TRAINED
               : PERF_STATE_COLLECTING;
}

enum error_code perf_train(const struct perf_sample *samples, size_t count,
                           const struct perf_options *options, struct budget *budget,
                           struct perf_model_set *out, struct perf_report *report,
                           struct arena *a, struct error *err)
{
    struct perf_model_set set = {.options = *options,
                                 .version = 1,
                                 .sample_count = count,
                                 .status = PERF_INSUFFICIENT_SAMPLES};
    struct perf_report done = {0};
    struct search s = {.options = options, .budget = budget, .report = &done, .arena = a};
    struct stage_rows rows;

    split_rows(samples, count, &set, &done, &rows, a);
    if (enough(&rows, options))
        TRY(run_stages(&s, &rows, &set, err));
    set.state = state_of(&set);
    *out = set;
    *report = done;
    return OK;
}

/* ---- re-forming ---- */

static bool contains(const struct perf_list *list, const struct perf_combination *c)
{
    for (size_t i = 0; i < list->count; i++) {
        if (perf_combination_same(&list->items[i], c))
            return true;
    }
    return false;
}

/* The old list and what is new in the other, old entries first with their streaks. */
static void join(const struct perf_list *old, const struct perf_list *found,
                 struct perf_list *out, struct arena *a)
{
    out->count = 0;
    out->items = NEW(a, struct perf_combination, old->count + found->count);
    for (size_t i = 0; i < old->count; i++)
        out->items[out->count++] = old->items[i];
    for (size_t i = 0; i < found->count; i++) {
        if (contains(old, &found->items[i]))
            continue;
        out->items[out->count] = found->items[i];
        out->items[out->count++].low_rank_streak = 0;
    }
}

static enum error_code reform_lists(struct search *s, const struct stage_rows *rows,
                                    const struct perf_model_set *old,
                                    struct perf_model_set *set, struct error *err)
{
    struct perf_list found = {0}, all = {0};

    if (enough(rows, s->options))
        TRY(search_parallel(s, rows, &set->single, &set->pairs, &found, err));
    if (old->options.replace_on_reform && found.count > 0) {
        set->sorted = found;
        return OK;
    }
    join(&old->sorted, &found, &all, s->arena);
    search_refit(s, rows->parallel, &all);
    search_keep(&all, PERF_SORTED_MAX);
    if (all.count == 0) /* nothing obeys the rule: what a stage found without it */
        all = found;
    if (all.count > 0)
        set->sorted = all;
    return OK;
}

enum error_code perf_reform(struct perf_model_set *set, const struct perf_sample *samples,
                            size_t count, struct budget *budget,
                            struct perf_report *report, struct arena *a,
                            struct error *err)
{
    struct perf_model_set next = *set;
    struct perf_report done = {0};
    struct search s = {
        .options = &set->options, .budget = budget, .report = &done, .arena = a};
    struct stage_rows rows;

    split_rows(samples, count, &next, &done, &rows, a);
    TRY(reform_lists(&s, &rows, set, &next, err));
    if (rows.single.count > 0 && next.single.count > 0) {
        struct perf_model_set copy;

        perf_set_copy(&next, &copy, a); /* the caller's stays as it was */
        search_refit(&s, rows.single, &copy.single);
        search_sort(&copy.single);
        next.single = copy.single;
    }
    next.sample_count = count > set->sample_count ? count : set->sample_count;
    next.predictions_since_reform = 0;
    next.version++;
    if (next.sorted.count > 0)
        next.status = PERF_READY;
    *set = next;
    *report = done;
    return OK;
}
