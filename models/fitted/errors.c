/* fitted/errors.c - errors of a fitted model on runs that it was not fitted to, and where
 * a question lies among the runs seen. */
#include "models/fitted/core.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONFIGURATIONS_LEAST = 3, /* of a cross-validation */
    RUNS_COUNTED_MAX = 8,     /* of a configuration */
    LATEST = 200,             /* runs that say whether outliers are frequent */
};
#define OUTLIERS_FREQUENT 0.02

/* ---- where a question lies ---- */

size_t core_inputs(const struct fitted_model *m, const struct perf_query *query,
                   const double *inputs, double out[FITTED_INPUTS_MAX])
{
    size_t count = 4;

    if (m->kind >= MODEL_LINEAR) {
        fitted_inputs(m->kind, &m->settings, &count);
        memcpy(out, inputs, count * sizeof(*out));
        return count;
    }
    out[0] = query->problem_size;
    out[1] = query->processors;
    out[2] = query->cpu_available_ratio;
    out[3] = query->processors < 2 ? (double)NAN : query->bandwidth_mbps;
    return count;
}

double core_configuration(const double *inputs, size_t count)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (size_t i = 0; i < count; i++) {
        double value = isnan(inputs[i]) ? (double)NAN : inputs[i] + 0.0; /* no -0 */
        unsigned char bytes[sizeof(value)];

        memcpy(bytes, &value, sizeof(value));
        if (isnan(inputs[i]))
            memset(bytes, 0xff, sizeof(bytes)); /* every NAN alike */
        for (size_t k = 0; k < sizeof(bytes); k++)
            hash = (hash ^ bytes[k]) * 1099511628211u;
    }
    return (double)(hash >> 11); /* 53 bits: a double holds them */
}

/* The first place in the list that is not below. */
static size_t place_of(const struct fitted_core *core, double configuration)
{
    size_t low = 0, high = core->configuration_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (core->configuration[middle] < configuration)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Is the input one of the comprehensive and preliminary models' own terms? These say how
 * the time goes with it, though it never varied. */
static bool has_term(const struct fitted_model *m, size_t input)
{
    return m->kind < MODEL_LINEAR && input >= 2;
}

void core_place_of(const struct fitted_model *m, const struct perf_query *query,
                   const double *inputs, struct core_place *out)
{
    const struct fitted_core *core = m->core;
    double x[FITTED_INPUTS_MAX], configuration;
    size_t count = core_inputs(m, query, inputs, x), at;

    *out =
        (struct core_place){.group = LOG_INSIDE, .distance = 1, .constant_distance = 1};
    for (size_t i = 0; i < count; i++) {
        const struct perf_range *range = &core->range[i];
        double d;

        if (isnan(x[i]) || isnan(range->low))
            continue;
        d = log_distance(x[i], range->low, range->high);
        if (d > out->distance)
            out->far_input = i;
        out->distance = fmax(out->distance, d);
        if (range->low == range->high && !has_term(m, i) && d > out->constant_distance) {
            out->constant_distance = d;
            out->constant_input = i;
        }
    }
    configuration = core_configuration(x, count);
    at = place_of(core, configuration);
    if (at < core->configuration_count && core->configuration[at] == configuration) {
        out->group = LOG_SAME;
        out->runs = fmin(core->configuration_runs[at], RUNS_COUNTED_MAX);
    } else if (out->distance > 1) {
        out->group = LOG_OUTSIDE;
    }
}

static struct perf_query query_of(const struct perf_sample *run)
{
    return (struct perf_query){run->problem_size, run->processors,
                               run->cpu_available_ratio, run->bandwidth_mbps};
}

void core_see(struct fitted_model *m, const struct fitted_run *run, struct arena *a)
{
    struct fitted_core *core = m->core;
    struct perf_query query = query_of(&run->run);
    double x[FITTED_INPUTS_MAX], configuration;
    size_t count = core_inputs(m, &query, run->inputs, x), at, behind;

    for (size_t i = 0; i < count; i++) {
        struct perf_range *range = &core->range[i];

        if (isnan(x[i]))
            continue;
        range->low = isnan(range->low) ? x[i] : fmin(range->low, x[i]);
        range->high = isnan(range->high) ? x[i] : fmax(range->high, x[i]);
    }
    configuration = core_configuration(x, count);
    at = place_of(core, configuration);
    if (at < core->configuration_count && core->configuration[at] == configuration) {
        core->configuration_runs[at]++;
        return;
    }
    if (core->configuration_count == core->configuration_room) {
        size_t n = core->configuration_count, room = 2 * n + 16;

        core->configuration = GROW(a, core->configuration, double, n, room);
        core->configuration_runs = GROW(a, core->configuration_runs, double, n, room);
        core->configuration_room = room;
    }
    behind = core->configuration_count++ - at;
    memmove(core->configuration + at + 1, core->configuration + at,
            behind * sizeof(double));
    memmove(core->configuration_runs + at + 1, core->configuration_runs + at,
            behind * sizeof(double));
    core->configuration[at] = configuration;
    core->configuration_runs[at] = 1;
}

/* ---- rows ---- */

/* Is row i of those of before a change taken? As many as weigh so much, evenly. */
static bool old_is_taken(size_t i, size_t count, double weight)
{
    return floor((double)(i + 1) * weight) > floor((double)i * weight) || count == 1;
}

struct fitted_run *core_training_rows(const struct fitted_core *core,
                                      enum core_rows which, size_t *count,
                                      struct arena *a)
{
    struct fitted_run *runs = NEW(a, struct fitted_run, core->row_count + 1);
    double weight = drift_old_weight(core->row_count - core->old_count);

    *count = 0;
    for (size_t i = 0; i < core->row_count; i++) {
        const struct fitted_row *row = &core->rows[i];

        if (i < core->old_count && which != CORE_ROWS_ALL_OLD &&
            !old_is_taken(i, core->old_count, weight))
            continue;
        if (row->is_outlier && which != CORE_ROWS_AND_OUTLIERS)
            continue;
        runs[*count] = row->run;
        runs[(*count)++].run.outlier = row->is_outlier;
    }
    return runs;
}

static bool outliers_are_frequent(const struct fitted_core *core)
{
    size_t first = core->row_count > LATEST ? core->row_count - LATEST : 0, outliers = 0;

    for (size_t i = first; i < core->row_count; i++)
        outliers += core->rows[i].is_outlier;
    return (double)outliers > OUTLIERS_FREQUENT * (double)(core->row_count - first);
}

/* ---- cross-validation ---- */

/* Runs in folds: each fold is predicted by a fit of the others. */
struct validation {
    struct fitted_model *m;
    const struct fitted_run *runs;
    size_t count;
    double *configuration; /* number of each run's, from 0 */
    size_t *repeats;       /* runs of its configuration */
    size_t configuration_count;
    size_t *fold; /* of each run; SIZE_MAX: is trained on, never predicted */
    struct fitted_run *part;
    enum fitted_verdict *verdict; /* room */
    struct budget *budget;
    struct arena *scratch;
};

/* Numbers the configurations by first appearance. */
static bool number_configurations(struct validation *v)
{
    double *known = NEW(v->scratch, double, v->count + 1);
    size_t *runs = NEW(v->scratch, size_t, v->count + 1);

    for (size_t i = 0; i < v->count; i++) {
        struct perf_query query = query_of(&v->runs[i].run);
        double x[FITTED_INPUTS_MAX];
        size_t k = 0, inputs = core_inputs(v->m, &query, v->runs[i].inputs, x);
        double configuration = core_configuration(x, inputs);

        while (k < v->configuration_count && known[k] != configuration)
            k++;
        if (k == v->configuration_count)
            known[v->configuration_count++] = configuration;
        v->configuration[i] = (double)k;
        runs[k]++;
    }
    for (size_t i = 0; i < v->count; i++)
        v->repeats[i] = runs[(size_t)v->configuration[i]];
    return true;
}

/* The best functions of a list, fitted to the runs on one processor or on more. */
static bool refit_best(const struct perf_list *list, const struct perf_options *options,
                       const struct fitted_run *runs, size_t count, bool single,
                       struct perf_combination *out)
{
    if (list->count == 0)
        return false;
    *out = list->items[0];
    perf_combination_clear(out);
    for (size_t i = 0; i < count; i++)
        if ((runs[i].run.processors < 2) == single && !runs[i].run.outlier)
            perf_combination_add(out, &runs[i].run, options->rule);
    perf_combination_solve(out, options->rule);
    return isfinite(out->standard_error) || perf_combination_solve_nonnegative(out);
}

/* A comprehensive model's search is not repeated: its best functions are fitted anew. */
static void fit_best(const struct validation *v, size_t count, struct fitted_model *out)
{
    struct perf_combination *room = NEW(v->scratch, struct perf_combination, 2);
    const struct perf_model_set *set = &v->m->set;

    *out = *v->m;
    out->set.reference = NULL;
    out->set.sorted = (struct perf_list){
        room, refit_best(&set->sorted, &set->options, v->part, count, false, &room[0])};
    out->set.single =
        (struct perf_list){room + 1, refit_best(&set->single, &set->options, v->part,
                                                count, true, &room[1])};
}

static enum error_code fit_part(const struct validation *v, size_t count,
                                struct fitted_model *out, struct error *err)
{
    if (v->m->kind == MODEL_COMPREHENSIVE) {
        fit_best(v, count, out);
        return OK;
    }
    return fitted_fit(v->m->kind, &v->m->settings, v->part, count, v->budget, out,
                      v->verdict, v->scratch, err);
}

/* Of each input the least and the greatest number that the runs have. */
struct input_ranges {
    double low[FITTED_INPUTS_MAX], high[FITTED_INPUTS_MAX];
};

static void find_ranges(const struct fitted_model *m, const struct fitted_run *runs,
                        size_t count, struct input_ranges *r)
{
    for (size_t k = 0; k < FITTED_INPUTS_MAX; k++) {
        r->low[k] = HUGE_VAL;
        r->high[k] = -HUGE_VAL;
    }
    for (size_t i = 0; i < count; i++) {
        struct perf_query seen = query_of(&runs[i].run);
        double y[FITTED_INPUTS_MAX];
        size_t inputs = core_inputs(m, &seen, runs[i].inputs, y);

        for (size_t k = 0; k < inputs; k++) {
            r->low[k] = y[k] < r->low[k] ? y[k] : r->low[k];
            r->high[k] = y[k] > r->high[k] ? y[k] : r->high[k];
        }
    }
}

static double distance_from(const struct fitted_model *m, const struct input_ranges *r,
                            const struct fitted_run *run)
{
    struct perf_query query = query_of(&run->run);
    double x[FITTED_INPUTS_MAX], distance = 1;
    size_t inputs = core_inputs(m, &query, run->inputs, x);

    for (size_t k = 0; k < inputs; k++)
        if (r->low[k] <= r->high[k] && !isnan(x[k]))
            distance = fmax(distance, log_distance(x[k], r->low[k], r->high[k]));
    return distance;
}

double core_distance(const struct fitted_model *m, const struct fitted_run *runs,
                     size_t count, const struct fitted_run *run)
{
    struct input_ranges ranges;

    find_ranges(m, runs, count, &ranges);
    return distance_from(m, &ranges, run);
}

static void note(struct log_errors *errors, double size, double configuration)
{
    if (errors->count == LOG_ERRORS_MAX) { /* the latest count */
        memmove(errors->list, errors->list + 1,
                (LOG_ERRORS_MAX - 1) * sizeof(*errors->list));
        errors->count--;
    }
    errors->list[errors->count++] = (struct log_error){size, 0, configuration};
}

/* Predicts one fold from the others. same: errors of runs whose configuration was seen.
 */
static enum error_code predict_fold(const struct validation *v, size_t fold, bool same,
                                    struct error *err)
{
    struct log_errors *errors = v->m->core->errors;
    struct input_ranges ranges;
    struct fitted_model part;
    size_t count = 0;

    for (size_t i = 0; i < v->count; i++)
        if (v->fold[i] != fold && !v->runs[i].run.outlier)
            v->part[count++] = v->runs[i];
    TRY(fit_part(v, count, &part, err));
    find_ranges(v->m, v->part, count, &ranges);
    for (size_t i = 0; i < v->count && !part.reason; i++) {
        struct perf_query query = query_of(&v->runs[i].run);
        struct fitted_prediction p;
        double size;

        if (v->fold[i] != fold)
            continue;
        fitted_predict(&part, &query, v->runs[i].inputs, NULL, &p);
        if (p.reason)
            continue;
        size = fabs(log(v->runs[i].run.time_s / p.time_s));
        if (same) {
            double others = fmin((double)(v->repeats[i] - 1), RUNS_COUNTED_MAX);

            note(&errors[LOG_SAME], size / sqrt(1 + 1 / others), v->configuration[i]);
        } else {
            bool outside = distance_from(v->m, &ranges, &v->runs[i]) > 1;

            note(&errors[outside ? LOG_OUTSIDE : LOG_INSIDE], size, v->configuration[i]);
        }
    }
    return OK;
}

/* Whole configurations are left out: what is said of a new one. */
static enum error_code validate_new(struct validation *v, struct error *err)
{
    size_t folds = log_fold_count(v->configuration_count);

    if (v->configuration_count < CONFIGURATIONS_LEAST)
        return OK;
    for (size_t i = 0; i < v->count; i++)
        v->fold[i] = log_fold_of((size_t)v->configuration[i], v->configuration_count);
    for (size_t fold = 0; fold < folds; fold++)
        TRY(predict_fold(v, fold, false, err));
    return OK;
}

/* Single runs are left out whose configuration stays in: what is said of one seen. */
static enum error_code validate_same(struct validation *v, struct error *err)
{
    size_t place = 0, folds;

    for (size_t i = 0; i < v->count; i++)
        v->fold[i] = v->repeats[i] < 2 ? SIZE_MAX : place++;
    folds = log_fold_count(place);
    for (size_t i = 0; i < v->count; i++)
        if (v->fold[i] != SIZE_MAX)
            v->fold[i] = log_fold_of(v->fold[i], place);
    for (size_t fold = 0; fold < folds; fold++)
        TRY(predict_fold(v, fold, true, err));
    return OK;
}

static enum error_code validate(struct fitted_model *m, const struct fitted_run *runs,
                                size_t count, struct budget *budget,
                                struct arena *scratch, struct error *err)
{
    struct validation v = {
        .m = m,
        .runs = runs,
        .count = count,
        .configuration = NEW(scratch, double, count + 1),
        .repeats = NEW(scratch, size_t, count + 1),
        .fold = NEW(scratch, size_t, count + 1),
        .part = NEW(scratch, struct fitted_run, count + 1),
        .verdict = NEW(scratch, enum fitted_verdict, count + 1),
        .budget = budget,
        .scratch = scratch,
    };

    number_configurations(&v);
    TRY(validate_new(&v, err));
    return validate_same(&v, err);
}

/* ---- all of it ---- */

static void clear_errors(struct fitted_core *core, struct arena *a)
{
    for (size_t g = 0; g < LOG_GROUP_COUNT; g++) {
        core->errors[g].count = 0;
        if (!core->errors[g].list)
            core->errors[g].list = NEW(a, struct log_error, LOG_ERRORS_MAX);
    }
}

void core_note_errors(struct fitted_model *m, const struct ensemble *e, struct arena *a)
{
    double sum = 0;
    size_t count = 0;

    clear_errors(m->core, a);
    for (size_t i = 0; i < e->error_count; i++) {
        const struct ensemble_error *error = &e->error[i];
        struct log_errors *to = &m->core->errors[error->group];

        note(to, error->error, error->configuration);
        to->list[to->count - 1].spread = error->spread;
        if (error->group == LOG_SAME)
            continue;
        sum += 100 * fabs(expm1(-error->error));
        count++;
    }
    m->cross_appe_pct = count > 0 ? sum / (double)count : (double)NAN;
}

enum error_code core_measure(struct fitted_model *m, struct arena *a,
                             struct arena *scratch, struct budget *budget,
                             struct error *err)
{
    struct fitted_core *core = m->core;
    const struct perf_range none = {(double)NAN, (double)NAN};
    size_t count;
    struct fitted_run *runs = core_training_rows(
        core, outliers_are_frequent(core) ? CORE_ROWS_AND_OUTLIERS : CORE_ROWS_WEIGHED,
        &count, scratch);

    core->configuration_count = 0;
    for (size_t i = 0; i < FITTED_INPUTS_MAX; i++)
        core->range[i] = none;
    clear_errors(core, a);
    for (size_t i = 0; i < count; i++)
        if (!runs[i].run.outlier)
            core_see(m, &runs[i], a);
    if (!m->reason && !(m->kind == MODEL_COMPREHENSIVE && m->set.reference))
        TRY(validate(m, runs, count, budget, scratch, err));
    core->since_measured = 0;
    core_interval(core, 0.6827, &core->assess, scratch);
    return OK;
}

void core_interval(const struct fitted_core *core, double level,
                   struct fitted_interval *out, struct arena *a)
{
    struct fitted_interval interval = {.level = level, .by_group = true};

    interval.low_ratio = interval.high_ratio = (double)NAN;
    for (size_t g = 0; g < LOG_GROUP_COUNT; g++) {
        struct log_set set;

        log_set_of(core->errors, core->recent, (enum log_group)g, &set, a);
        interval.scale[g] = set.scale;
        interval.quantile[g] = log_set_quantile(&set, level);
        interval.error_count[g] = set.error_count;
    }
    *out = interval;
}
