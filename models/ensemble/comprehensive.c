/* ensemble/comprehensive.c - the member for runs of which it is known how free their
 * machines and links were.
 *
 * The kind comprehensive of models/performance, over all runs in use: each must say how
 * much of the CPU was free, and on several processors how fast the link was. Which
 * functions it is made of is searched over at most SEARCHED_MAX runs on one, two and more
 * processors each, evenly spread; the best KEPT are then fitted to all runs, in every
 * training. The search is dear and what it finds rarely changes: it is repeated when half
 * as many runs as there are came since.
 *
 * It is not fitted anew for each part of a cross-validation. Its errors are those of the
 * last predictions before their runs were learnt (ensemble_note()).
 *
 * Source: models/performance/performance.h. Cost: a search some 15,000 fits of
 * SEARCHED_MAX rows; else O(KEPT runs).
 */
#include "models/ensemble/internal.h"

#include "models/ensemble/names.h"

#include <math.h>
#include <string.h>

enum { SEARCHED_MAX = 40, KEPT = 8, CLASSES = 3, SEARCH_SHARE = 2 };

static bool sample_of(const struct part *part, size_t cpu, size_t i,
                      struct perf_sample *out)
{
    const struct table *t = part->table;
    const double *x = part_x(part, i);

    *out = (struct perf_sample){
        .problem_size = x[t->e->size],
        .processors = x[t->e->processors],
        .cpu_available_ratio = x[cpu],
        .bandwidth_mbps = t->bandwidth[part->row[i]],
        .time_s = exp(t->y[part->row[i]]),
    };
    return !perf_sample_fault(out);
}

/* Which of the known inputs a column is; SIZE_MAX: none. */
static size_t known_as(const struct ensemble *e, size_t column)
{
    for (size_t k = 0; k < e->input_count; k++)
        if (e->input[k].column == column && !e->input[k].is_text)
            return k;
    return SIZE_MAX;
}

static size_t class_of(const struct perf_sample *sample)
{
    return sample->processors < 2 ? 0 : sample->processors < 3 ? 1 : 2;
}

/* Of each class at most SEARCHED_MAX, evenly spread. */
static size_t choose_rows(const struct perf_sample *all, size_t count,
                          struct perf_sample *out)
{
    size_t total[CLASSES] = {0}, seen[CLASSES] = {0}, n = 0;

    for (size_t i = 0; i < count; i++)
        total[class_of(&all[i])]++;
    for (size_t i = 0; i < count; i++) {
        size_t c = class_of(&all[i]), taken = total[c];
        size_t before = seen[c], after = ++seen[c];

        if (taken > SEARCHED_MAX) {
            before = before * SEARCHED_MAX / taken;
            after = after * SEARCHED_MAX / taken;
        }
        if (after > before)
            out[n++] = all[i];
    }
    return n;
}

static void keep_best(const struct perf_list *found, struct perf_list *out,
                      struct arena *a)
{
    out->count = found->count < KEPT ? found->count : KEPT;
    out->items = NEW(a, struct perf_combination, KEPT);
    if (out->count > 0)
        memcpy(out->items, found->items, out->count * sizeof(*out->items));
}

static void search(const struct perf_sample *samples, size_t count, struct budget *budget,
                   struct comprehensive *out, struct arena *a)
{
    struct perf_options options = perf_options_of(PERF_ROBUST);
    struct perf_model_set set = {0};
    struct perf_report report;
    struct error ignored = {.arena = a};
    struct perf_combination single[KEPT], sorted[KEPT];
    struct perf_list lists[2] = {{single, 0}, {sorted, 0}};
    struct arena_mark mark = arena_mark(a);
    struct perf_sample *chosen = NEW(a, struct perf_sample, count + 1);
    size_t chosen_count = choose_rows(samples, count, chosen);
    bool found = perf_train(chosen, chosen_count, &options, budget, &set, &report, a,
                            &ignored) == OK &&
                 set.status == PERF_READY && set.sorted.count > 0;

    for (size_t i = 0; found && i < 2; i++) {
        const struct perf_list *from = i == 0 ? &set.single : &set.sorted;

        lists[i].count = from->count < KEPT ? from->count : KEPT;
        if (lists[i].count > 0)
            memcpy(lists[i].items, from->items, lists[i].count * sizeof(*from->items));
    }
    arena_rewind(a, mark);
    out->was_searched = set.status != PERF_INSUFFICIENT_SAMPLES; /* that takes no time */
    out->since_search = 0;
    if (!found)
        return;
    out->set = (struct perf_model_set){.options = options,
                                       .status = PERF_READY,
                                       .state = PERF_STATE_TRAINED,
                                       .version = 1};
    keep_best(&lists[0], &out->set.single, a);
    keep_best(&lists[1], &out->set.sorted, a);
}

/* Fits a list to the runs on one processor, or on several; what cannot be fitted stays,
 * with an infinite error, at the end. */
static void refit(const struct perf_sample *samples, size_t count, bool on_one,
                  struct perf_fit_rule rule, struct budget *budget,
                  struct perf_list *list)
{
    for (size_t k = 0; k < list->count; k++) {
        struct perf_combination c = list->items[k];
        size_t at = k;

        perf_combination_clear(&c);
        budget_step(budget, 64 * count);
        for (size_t i = 0; i < count; i++)
            if ((samples[i].processors < 2) == on_one)
                perf_combination_add(&c, &samples[i], rule);
        perf_combination_solve(&c, rule);
        c.rank_error = perf_rank_error(c.standard_error);
        for (; at > 0 && perf_combination_compare(&c, &list->items[at - 1]) < 0; at--)
            list->items[at] = list->items[at - 1];
        list->items[at] = c;
    }
}

static void refit_all(const struct perf_sample *samples, size_t count,
                      struct budget *budget, struct comprehensive *out)
{
    struct perf_model_set *set = &out->set;
    double sum = 0, with = 0;

    refit(samples, count, true, set->options.rule, budget, &set->single);
    refit(samples, count, false, set->options.rule, budget, &set->sorted);
    perf_seen_clear(&set->single_seen);
    perf_seen_clear(&set->parallel_seen);
    for (size_t i = 0; i < count; i++) {
        bool on_one = samples[i].processors < 2;

        perf_seen_add(on_one ? &set->single_seen : &set->parallel_seen, &samples[i]);
        if (on_one || isnan(samples[i].bandwidth_mbps))
            continue;
        sum += samples[i].bandwidth_mbps;
        with++;
    }
    out->bandwidth_mean = with > 0 ? sum / with : (double)NAN;
    set->sample_count = count;
}

static bool is_usable(const struct perf_model_set *set)
{
    return set->sorted.count > 0 && isfinite(set->sorted.items[0].standard_error);
}

void comprehensive_fit(const struct part *part, const struct comprehensive *before,
                       struct budget *budget, struct comprehensive *out, struct arena *a)
{
    const struct ensemble *e = part->table->e;
    struct perf_sample *samples;

    *out = (struct comprehensive){.cpu = known_as(e, ENSEMBLE_CPU_AVAILABLE_RATIO),
                                  .bandwidth = known_as(e, ENSEMBLE_BANDWIDTH_MBPS)};
    if (!part->table->bandwidth || part->count == 0 || e->size == SIZE_MAX ||
        e->processors == SIZE_MAX || out->cpu == SIZE_MAX)
        return;
    samples = NEW(a, struct perf_sample, part->count);
    for (size_t i = 0; i < part->count; i++)
        if (!sample_of(part, out->cpu, i, &samples[i]))
            return;
    if (before) {
        out->set = before->set;
        keep_best(&before->set.single, &out->set.single, a);
        keep_best(&before->set.sorted, &out->set.sorted, a);
        out->was_searched = before->was_searched;
        out->since_search = before->since_search;
    }
    if (!out->was_searched || out->since_search >= part->count / SEARCH_SHARE)
        search(samples, part->count, budget, out, a);
    if (out->set.sorted.count > 0)
        refit_all(samples, part->count, budget, out);
    out->is_there = is_usable(&out->set);
    if (!out->is_there)
        out->set = (struct perf_model_set){0};
}

double comprehensive_answer(const struct ensemble *e, const struct comprehensive *c,
                            const double *x, double bandwidth_mbps)
{
    struct perf_query query;
    struct perf_prediction p;

    if (!c->is_there)
        return (double)NAN;
    query = (struct perf_query){x[e->size], x[e->processors], x[c->cpu], bandwidth_mbps};
    if (isnan(bandwidth_mbps))
        query.bandwidth_mbps = c->bandwidth == SIZE_MAX || isnan(x[c->bandwidth])
                                   ? c->bandwidth_mean
                                   : x[c->bandwidth];
    if (!(query.problem_size > 0) || !(query.processors >= 1) ||
        !(query.cpu_available_ratio >= 0 && query.cpu_available_ratio <= 1) ||
        (query.processors >= 2 && !(query.bandwidth_mbps >= 0)))
        return (double)NAN;
    perf_predict(&c->set, &query, &p);
    return p.status == PERF_READY && p.time_s > 0 && isfinite(p.time_s) ? log(p.time_s)
                                                                        : (double)NAN;
}
