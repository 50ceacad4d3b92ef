/* model_packed.c - a fitted model as numbers, to be stored, and back.
 *
 * One function walks over a model; with a writer it copies members to the numbers,
 * with a reader back. So both cannot disagree. Counts are checked when they are read:
 * what comes from a caller may be anything.
 */
#include "handlers/model_fitted.h"

#include <math.h>
#include <string.h>

struct walk {
    double *out;      /* NULL: counts only, or reads */
    const double *in; /* NULL: writes */
    size_t at, count; /* place; numbers there are (reading) */
    bool failed, no_memory;
    struct arena *a;
};

static void number(struct walk *w, double *value)
{
    if (w->in && w->at >= w->count) {
        w->failed = true;
        return;
    }
    if (w->in)
        *value = w->in[w->at];
    else if (w->out)
        w->out[w->at] = *value;
    w->at++;
}

static void numbers(struct walk *w, double *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        number(w, &value[i]);
}

/* At most `max`. */
static void whole(struct walk *w, size_t *value, size_t max)
{
    double x = (double)*value;

    number(w, &x);
    if (!w->in || w->failed)
        return;
    if (!(x >= 0 && x <= (double)max && x == floor(x)))
        w->failed = true;
    else
        *value = (size_t)x;
}

static void flag(struct walk *w, bool *value)
{
    size_t x = *value;

    whole(w, &x, 1);
    *value = x == 1;
}

static void walk_seen(struct walk *w, struct perf_seen *seen)
{
    whole(w, &seen->sample_count, SIZE_MAX >> 11);
    numbers(w, &seen->problem_size.low, 1);
    numbers(w, &seen->problem_size.high, 1);
    numbers(w, &seen->processors.low, 1);
    numbers(w, &seen->processors.high, 1);
    numbers(w, &seen->cpu_available_ratio.low, 1);
    numbers(w, &seen->cpu_available_ratio.high, 1);
    numbers(w, &seen->bandwidth_mbps.low, 1);
    numbers(w, &seen->bandwidth_mbps.high, 1);
}

static void walk_combination(struct walk *w, struct perf_combination *c)
{
    double packed[PERF_PACKED] = {0};

    if (!w->in)
        perf_combination_pack(c, packed);
    numbers(w, packed, PERF_PACKED);
    if (w->in && (w->failed || !perf_combination_unpack(packed, PERF_PACKED, c)))
        w->failed = true;
}

static void walk_list(struct walk *w, struct perf_list *list)
{
    whole(w, &list->count, (size_t)2 * PERF_SORTED_MAX);
    if (w->in && (w->failed || list->count > (w->count - w->at) / PERF_PACKED)) {
        w->failed = true;
        list->count = 0;
        return;
    }
    if (w->in)
        list->items = NEW(w->a, struct perf_combination, list->count + 1);
    if (!list->items && list->count) {
        w->failed = w->no_memory = true;
        list->count = 0;
    }
    for (size_t i = 0; i < list->count; i++)
        walk_combination(w, &list->items[i]);
}

static void walk_recent(struct walk *w, struct perf_recent *recent)
{
    numbers(w, recent->ppe_ratio, PERF_RECENT_MAX);
    whole(w, &recent->count, PERF_RECENT_MAX);
    whole(w, &recent->next, PERF_RECENT_MAX - 1);
}

static void walk_reference(struct walk *w, struct perf_model_set *set)
{
    bool there = set->reference != NULL;

    flag(w, &there);
    if (!there || w->failed)
        return;
    if (w->in)
        set->reference = NEW(w->a, struct perf_reference, 1);
    if (!set->reference) {
        w->failed = w->no_memory = true;
        return;
    }
    number(w, &set->reference->cpu_factor);
    number(w, &set->reference->bandwidth_factor);
    walk_combination(w, &set->reference->top);
    walk_list(w, &set->reference->single);
    walk_seen(w, &set->reference->single_seen);
    walk_seen(w, &set->reference->parallel_seen);
    walk_recent(w, &set->reference->scaled);
    walk_recent(w, &set->reference->refit);
}

static void walk_set(struct walk *w, struct perf_model_set *set)
{
    size_t status = set->status, state = set->state;

    whole(w, &status, PERF_STATUS_COUNT - 1);
    whole(w, &state, PERF_STATE_COUNT - 1);
    set->status = (enum perf_status)status;
    set->state = (enum perf_state)state;
    walk_list(w, &set->single);
    walk_list(w, &set->pairs);
    walk_list(w, &set->sorted);
    walk_seen(w, &set->single_seen);
    walk_seen(w, &set->parallel_seen);
    whole(w, &set->predictions_since_reform, SIZE_MAX >> 11);
    whole(w, &set->version, SIZE_MAX >> 11);
    whole(w, &set->sample_count, SIZE_MAX >> 11);
    whole(w, &set->outlier_count, SIZE_MAX >> 11);
    walk_reference(w, set);
}

static void walk_preliminary(struct walk *w, struct perf_preliminary *m)
{
    size_t status = m->status;

    whole(w, &status, PERF_STATUS_COUNT - 1);
    m->status = (enum perf_status)status;
    whole(w, &m->comp_degree, PERF_DEGREE_MAX);
    whole(w, &m->comm_degree, PERF_DEGREE_MAX);
    flag(w, &m->relative);
    number(w, &m->processors);
    numbers(w, m->coefficients, PERF_PRELIMINARY_TERMS_MAX);
    whole(w, &m->coefficient_count, PERF_PRELIMINARY_TERMS_MAX);
    if (w->in && m->coefficient_count != 2 * (m->comp_degree + 1) + m->comm_degree + 1)
        w->failed = true;
    number(w, &m->standard_error);
    number(w, &m->appe_ratio);
    numbers(w, m->triangle, PERF_PRELIMINARY_TRIANGLE_MAX);
    whole(w, &m->version, SIZE_MAX >> 11);
    walk_seen(w, &m->seen);
}

static void walk_regression(struct walk *w, struct regression_model *m)
{
    whole(w, &m->input_count, REGRESSION_INPUTS_MAX);
    whole(w, &m->coefficient_count, REGRESSION_COEFFICIENTS_MAX);
    whole(w, &m->statistic_count, REGRESSION_STATISTICS_MAX);
    if (w->failed)
        return;
    numbers(w, m->coefficients, m->coefficient_count);
    numbers(w, m->statistics, m->statistic_count);
}

static void walk_errors(struct walk *w, struct fitted_errors *e)
{
    whole(w, &e->ratio_count, FITTED_RATIOS_MAX);
    whole(w, &e->ratio_next, FITTED_RATIOS_MAX - 1);
    numbers(w, e->ratios, FITTED_RATIOS_MAX);
    whole(w, &e->count, SIZE_MAX >> 11);
    number(w, &e->ppe_sum_pct);
    whole(w, &e->training_count, FITTED_RATIOS_MAX);
    numbers(w, e->training, FITTED_RATIOS_MAX);
}

static void walk_model(struct walk *w, struct fitted_model *m)
{
    size_t layout = FITTED_LAYOUT, kind = m->kind, porting = m->porting.status;

    whole(w, &layout, FITTED_LAYOUT);
    whole(w, &kind, MODEL_KIND_COUNT - 1);
    if (layout != FITTED_LAYOUT || kind != m->kind)
        w->failed = true;
    if (w->failed)
        return;
    walk_errors(w, &m->errors);
    walk_seen(w, &m->seen);
    whole(w, &m->sample_count, SIZE_MAX >> 11);
    whole(w, &m->outlier_count, SIZE_MAX >> 11);
    whole(w, &m->unusable_count, SIZE_MAX >> 11);
    number(w, &m->standard_error);
    number(w, &m->fit_appe_pct);
    number(w, &m->cross_appe_pct);
    whole(w, &m->fits_evaluated, SIZE_MAX >> 11);
    flag(w, &m->cut);
    whole(w, &porting, PERF_PORTING_COUNT - 1);
    m->porting.status = (enum perf_porting_status)porting;
    number(w, &m->porting.cpu_factor);
    number(w, &m->porting.bandwidth_factor);
    number(w, &m->porting.best_factor);
    number(w, &m->porting.goodness_reference);
    number(w, &m->porting.goodness_target);
    if (m->kind == MODEL_COMPREHENSIVE)
        walk_set(w, &m->set);
    else if (m->kind == MODEL_PRELIMINARY)
        walk_preliminary(w, &m->preliminary);
    else
        walk_regression(w, &m->regression);
}

enum error_code fitted_pack(const struct fitted_model *m, const double **packed,
                            size_t *count, struct arena *a, struct error *err)
{
    struct fitted_model copy = *m;
    struct walk w = {.a = a};

    walk_model(&w, &copy); /* how many */
    w.out = NEW(a, double, w.at);
    if (!w.out)
        return fail_memory(err);
    *count = w.at;
    w.at = 0;
    walk_model(&w, &copy);
    *packed = w.out;
    return OK;
}

/* The ratios become factors of times, and the counts of a regression indexes. */
static bool is_sane(const struct fitted_model *m)
{
    const struct fitted_errors *e = &m->errors;
    size_t input_count;

    for (size_t i = 0; i < e->ratio_count; i++)
        if (!(e->ratios[i] > 0) || !isfinite(e->ratios[i]))
            return false;
    for (size_t i = 0; i < e->training_count; i++)
        if (!(e->training[i] > 0) || !isfinite(e->training[i]))
            return false;
    fitted_inputs(m->kind, &m->settings, &input_count);
    return m->kind < MODEL_LINEAR || m->regression.input_count == input_count;
}

enum error_code fitted_unpack(enum model_kind kind, const struct model_settings *settings,
                              const double *packed, size_t count,
                              struct fitted_model *out, struct arena *a,
                              struct error *err)
{
    struct fitted_model m;
    struct walk w = {.in = packed, .count = count, .a = a};

    fitted_from_combinations(NULL, 0, NULL, 0, settings, &m);
    m.kind = kind;
    walk_model(&w, &m);
    if (w.no_memory)
        return fail_memory(err);
    if (w.failed || w.at != count || !is_sane(&m))
        return fail(err, ERR_INVALID, "/packed",
                    "these are not the numbers of a model of the kind %s",
                    model_kind_names[kind]);
    if (kind == MODEL_COMPREHENSIVE && m.set.status != PERF_READY)
        m.reason = perf_status_names[m.set.status];
    if (kind == MODEL_PRELIMINARY && m.preliminary.status != PERF_READY)
        m.reason = perf_status_names[m.preliminary.status];
    *out = m;
    return OK;
}
