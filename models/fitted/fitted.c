/* fitted/fitted.c - a fitted model of any kind: trained, refined, asked. */
#include "models/fitted/core.h"

#include "models/base/pointer.h"
#include "models/performance/accuracy.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const model_kind_names[] = {
#define X(symbol, name) #name,
    MODEL_KINDS(X)
#undef X
        NULL,
};

const char *const model_target_names[] = {
#define X(symbol, name) #name,
    MODEL_TARGETS(X)
#undef X
        NULL,
};

const char *const fitted_verdict_names[] = {"fit",      "outlier", "unusable",
                                            "left_out", "new",     NULL};

#define MEANT(symbol, name, meaning) #name,
#define NAMED(symbol, name)          #name,

const char *const fitted_reason_names[] = {FITTED_REASON_WORDS, NULL};

const char *const fitted_basis_names[] = {PREDICTION_BASES(MEANT) LOG_GROUPS(MEANT)
                                              REGRESSION_BASES(MEANT)
                                                  FITTED_MACHINE_PRIOR,
                                          FITTED_BY_SIMILAR, NULL};

const char *const fitted_method_names[] = {PERF_METHODS(NAMED) MODEL_KINDS(NAMED)
                                               FITTED_BY_HISTORY,
                                           FITTED_BY_ENSEMBLE, FITTED_BY_SIMILAR, NULL};

static const struct regression_kind *regression_of(enum model_kind kind)
{
    return kind < MODEL_LINEAR ? NULL : regression_kind_find(model_kind_names[kind]);
}

/* ---- settings ---- */

const char *const *fitted_inputs(enum model_kind kind, const struct model_settings *s,
                                 size_t *count)
{
    static const char *const size[] = {"problem_size"};
    static const char *const scale[] = {"processors", "problem_size"};

    if (s->input_count) {
        *count = s->input_count;
        return s->inputs;
    }
    *count = kind == MODEL_SCALE_OUT ? 2 : 1;
    return kind == MODEL_SCALE_OUT ? scale : size;
}

const char *const *fitted_input_names(const struct fitted_model *m, size_t *count)
{
    if (m->kind != MODEL_AUTO)
        return fitted_inputs(m->kind, &m->settings, count);
    *count = m->names ? m->names->count : 0;
    return m->names ? m->names->name : NULL;
}

static void put_input(struct ensemble_names *names, const char *name, double value,
                      double *inputs, struct arena *a)
{
    size_t at;

    if (isnan(value))
        return;
    at = a ? ensemble_names_add(names, name, a) : ensemble_names_find(names, name);
    if (at >= ENSEMBLE_TERMS && at < ENSEMBLE_INPUTS_MAX)
        inputs[at] = value;
}

void fitted_auto_inputs(struct ensemble_names *names, const struct perf_query *query,
                        const struct named_value *parameters, size_t parameter_count,
                        const char *resource_class, const char *site_id, double *inputs,
                        struct arena *a)
{
    ensemble_values_clear(inputs);
    inputs[ENSEMBLE_PROBLEM_SIZE] = query->problem_size;
    inputs[ENSEMBLE_PROCESSORS] = query->processors;
    inputs[ENSEMBLE_CPU_AVAILABLE_RATIO] = query->cpu_available_ratio;
    inputs[ENSEMBLE_BANDWIDTH_MBPS] = query->bandwidth_mbps;
    for (size_t i = 0; i < parameter_count; i++)
        put_input(names, parameters[i].name, ensemble_value_of(&parameters[i]), inputs,
                  a);
    if (resource_class)
        put_input(names, ENSEMBLE_RESOURCE_CLASS, ensemble_text(resource_class), inputs,
                  a);
    if (site_id)
        put_input(names, ENSEMBLE_SITE_ID, ensemble_text(site_id), inputs, a);
}

static const char *const machine_names[] = {ENSEMBLE_RESOURCE_CLASS, ENSEMBLE_SITE_ID};

/* NAN: nobody says which machine it is. */
static double machine_of(const struct fitted_model *m, const double *inputs)
{
    double key = (double)NAN;

    for (size_t i = 0; i < 2 && isnan(key); i++) {
        size_t at = ensemble_names_find(m->names, machine_names[i]);

        key = at < ENSEMBLE_INPUTS_MAX ? inputs[at] : (double)NAN;
    }
    return key;
}

/* NULL: nothing is known of the machine. */
static const struct fitted_effect *find_effect(const struct fitted_model *m,
                                               const double *inputs)
{
    size_t low = 0, high = m->effect_count;
    double key = high > 0 ? machine_of(m, inputs) : (double)NAN;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (m->effects[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->effect_count && m->effects[low].key == key ? &m->effects[low] : NULL;
}

double fitted_effect_of(const struct fitted_model *m, const double *inputs)
{
    const struct fitted_effect *effect = find_effect(m, inputs);

    return effect ? effect->effect : 0;
}

bool fitted_has_seen_machine(const struct fitted_model *m, double key)
{
    for (size_t i = 0; i < 2; i++) {
        size_t column = ensemble_names_find(m->names, machine_names[i]);

        for (size_t k = 0; k < m->ensemble->input_count; k++) {
            const struct ensemble_input *in = &m->ensemble->input[k];

            for (size_t v = 0; in->column == column && v < in->value_count; v++)
                if (in->value[v] == key)
                    return true;
        }
    }
    return false;
}

/* ---- errors of runs on machines that no other machine can be compared with ---- */

enum { REFERENCES_MAX = 8 };

/* Where a key stands in an ascending list; SIZE_MAX: nowhere. */
static size_t place_of(const double *keys, size_t count, double key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && keys[low] == key ? low : SIZE_MAX;
}

/* A run's inputs on another machine: class and site of it; `of` NULL: nobody says. */
static void move_inputs(const struct fitted_model *m, const double *inputs,
                        const double *of, double *out)
{
    memcpy(out, inputs, ENSEMBLE_INPUTS_MAX * sizeof(*out));
    for (size_t i = 0; i < 2; i++) {
        size_t at = ensemble_names_find(m->names, machine_names[i]);

        if (at < ENSEMBLE_INPUTS_MAX)
            out[at] = of ? of[at] : (double)NAN;
    }
}

/* What runs are compared with: inputs of one run on each of some machines. */
struct references {
    const double *inputs[REFERENCES_MAX];
    size_t count;
    bool has_other; /* there are runs on a machine besides `key` */
    double key;     /* of the first run */
};

static void find_references(const struct fitted_model *m, const double *others,
                            size_t other_count, struct budget *budget,
                            struct references *out)
{
    *out = (struct references){.key = (double)NAN};
    for (size_t i = 0; i < m->core->row_count; i++) {
        const double *inputs = m->core->rows[i].run.inputs;
        double key = machine_of(m, inputs);
        bool is_there = place_of(others, other_count, key) == SIZE_MAX;

        budget_step(budget, 20);
        if (isnan(out->key))
            out->key = key;
        out->has_other = out->has_other || (!isnan(key) && key != out->key);
        for (size_t k = 0; k < out->count && !is_there; k++)
            is_there = machine_of(m, out->inputs[k]) == key;
        if (!is_there && out->count < REFERENCES_MAX)
            out->inputs[out->count++] = inputs;
    }
}

static double mean_elsewhere(const struct fitted_model *m, const double *inputs,
                             const struct references *references, struct budget *budget)
{
    size_t count = references->count > 0 ? references->count : 1;
    double moved[ENSEMBLE_INPUTS_MAX], sum = 0;
    struct ensemble_answer answer;

    for (size_t i = 0; i < count; i++) {
        budget_step(budget, 500);
        move_inputs(m, inputs, references->count > 0 ? references->inputs[i] : NULL,
                    moved);
        ensemble_predict(m->ensemble, moved, &answer);
        sum += answer.y;
    }
    return sum / (double)count;
}

void fitted_machine_errors(const struct fitted_model *m, const double *machines,
                           size_t machine_count, const double *others, size_t other_count,
                           struct budget *budget, struct fitted_machine_error **out,
                           size_t *count, struct arena *a)
{
    struct references references;

    *count = 0;
    if (m->kind != MODEL_AUTO || m->reason || !m->ensemble || !m->core)
        return;
    find_references(m, others, other_count, budget, &references);
    if (references.count == 0 && !references.has_other)
        return;
    *out = NEW(a, struct fitted_machine_error, m->core->row_count + 1);
    for (size_t i = 0; i < m->core->row_count; i++) {
        const struct fitted_row *row = &m->core->rows[i];
        size_t machine =
            place_of(machines, machine_count, machine_of(m, row->run.inputs));
        double error;

        if (machine == SIZE_MAX || row->is_outlier)
            continue;
        error = log(row->run.run.time_s) -
                mean_elsewhere(m, row->run.inputs, &references, budget);
        if (isfinite(error))
            (*out)[(*count)++] =
                (struct fitted_machine_error){machine, row->run.started_at_s, error};
    }
}

/* Each list has the mean 0 over machines of its own: what is added to the second so that
 * both say the same of the machines that are in both. NAN: none is. */
static double offset_of(const struct fitted_effect *list, size_t count,
                        const struct fitted_effect *second, size_t second_count,
                        bool with_lone)
{
    double sum = 0, both = 0;

    for (size_t i = 0, k = 0; i < count && k < second_count;) {
        if (list[i].key == second[k].key) {
            bool counts =
                with_lone || (list[i].lone_runs == 0 && second[k].lone_runs == 0);

            sum += counts ? list[i].effect - second[k].effect : 0;
            both += counts;
            i++;
            k++;
        } else if (list[i].key < second[k].key) {
            i++;
        } else {
            k++;
        }
    }
    return both > 0 ? sum / both : (double)NAN;
}

/* The same for a fit that knew no effect: of the machines in its runs it is 0. */
static double offset_of_seen(const struct fitted_model *m,
                             const struct fitted_effect *now, size_t count)
{
    double sum = 0, seen = 0;

    for (size_t i = 0; i < count; i++)
        if (fitted_has_seen_machine(m, now[i].key)) {
            sum -= now[i].effect;
            seen++;
        }
    return seen > 0 ? sum / seen : (double)NAN;
}

void fitted_add_effects(struct fitted_model *m, const struct fitted_effect *now,
                        size_t count, struct arena *a)
{
    struct fitted_effect *all;
    size_t own = 0, n = 0;
    double offset;

    if (m->kind != MODEL_AUTO || !m->ensemble)
        return;
    offset = offset_of(m->effects, m->effect_count, now, count, false);
    if (isnan(offset)) /* what few runs say is better than nothing */
        offset = offset_of(m->effects, m->effect_count, now, count, true);
    if (isnan(offset) && m->effect_count == 0)
        offset = offset_of_seen(m, now, count);
    if (isnan(offset))
        return;
    all = NEW(a, struct fitted_effect, m->effect_count + count);
    for (size_t i = 0; i < count; i++) {
        bool has_own;

        while (own < m->effect_count && m->effects[own].key < now[i].key)
            all[n++] = m->effects[own++];
        has_own = own < m->effect_count && m->effects[own].key == now[i].key;
        if (fitted_has_seen_machine(m, now[i].key) ||
            (has_own && m->effects[own].lone_runs == 0))
            continue;
        own += has_own; /* more is known of it by now */
        all[n++] =
            (struct fitted_effect){now[i].key, now[i].effect + offset, now[i].lone_runs};
    }
    while (own < m->effect_count)
        all[n++] = m->effects[own++];
    m->effects = all;
    m->effect_count = n;
}

void fitted_check_settings(enum model_kind kind, const struct model_settings *s,
                           const char *at, struct error *err)
{
    const struct regression_kind *regression = regression_of(kind);
    struct pointer inputs_at = pointer_of(at, "inputs");

    if (kind == MODEL_AUTO && s->profile == PERF_THESIS)
        invalid(err, pointer_of(at, "profile").text, ITEM_NOT_USED,
                "the kind auto knows the profile robust only");
    if (kind != MODEL_AUTO && s->target != TARGET_RUN_TIME)
        invalid(err, pointer_of(at, "target").text, ITEM_NOT_USED,
                "the kind %s predicts run times only", model_kind_names[kind]);
    if (!regression) {
        if (kind == MODEL_AUTO)
            return;
        if (s->input_count)
            invalid(err, inputs_at.text, ITEM_NOT_USED,
                    "the kind %s has no inputs to choose", model_kind_names[kind]);
        return;
    }
    if (s->input_count && (s->input_count < regression->inputs_min ||
                           s->input_count > regression->inputs_max))
        invalid(err, inputs_at.text, ITEM_OUT_OF_BOUNDS,
                "the kind %s takes %zu to %zu inputs", regression->name,
                regression->inputs_min, regression->inputs_max);
    for (size_t i = 0; i < s->input_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(s->inputs[i], s->inputs[k]) == 0)
                invalid(err, inputs_at.text, ITEM_DUPLICATE, "'%.60s' is there twice",
                        s->inputs[i]);
}

/* Runs that stand out of a fit: only beyond doubt, the kind may not follow the runs. */
enum { SCREENED_LEAST = 8, SCREENED_SHARE = 10 };
#define SCREEN_RATIO    10.0
#define SCREEN_SCALES   4.0
#define SCREEN_DISTANCE 1.5
#define NORMAL_QUARTILE 0.6745

static struct perf_options options_of(const struct model_settings *s)
{
    struct perf_options options = perf_options_of((enum perf_profile)s->profile);

    options.by_appe = s->selection_metric == 1;
    options.replace_on_reform = s->replace_on_reform;
    options.extended = s->extended_functions;
    options.min_processors = (size_t)s->min_processors;
    options.pruned = s->search == 1;
    options.threshold_factor = s->threshold_factor;
    options.seed = s->seed;
    options.assess_outliers = s->profile == PERF_THESIS; /* else model_core.c does */
    return options;
}

double fitted_input(const char *name, const struct perf_query *query,
                    const struct named_value *parameters, size_t parameter_count)
{
    if (strcmp(name, "problem_size") == 0)
        return query->problem_size;
    if (strcmp(name, "processors") == 0)
        return query->processors;
    if (strcmp(name, "cpu_available_ratio") == 0)
        return query->cpu_available_ratio;
    if (strcmp(name, "bandwidth_mbps") == 0)
        return query->bandwidth_mbps;
    for (size_t i = 0; i < parameter_count; i++)
        if (parameters[i].type == VALUE_NUMBER && strcmp(parameters[i].name, name) == 0)
            return parameters[i].number;
    return (double)NAN;
}

static bool is_parameter_of(const struct fitted_model *m, const char *name)
{
    size_t count, at;
    const char *const *names;

    if (m->kind == MODEL_AUTO) {
        at = ensemble_names_find(m->names, name);
        return at >= ENSEMBLE_TERMS && (at < ENSEMBLE_INPUTS_MAX || m->names->cut);
    }
    names = fitted_inputs(m->kind, &m->settings, &count);
    for (size_t i = 0; i < count && m->kind >= MODEL_LINEAR; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

const char *fitted_unused(const struct fitted_model *m,
                          const struct named_value *parameters, size_t count)
{
    if (m->guess || (m->kind == MODEL_AUTO && !m->names))
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!is_parameter_of(m, parameters[i].name))
            return parameters[i].name;
    return NULL;
}

static struct perf_query query_of(const struct perf_sample *run)
{
    return (struct perf_query){run->problem_size, run->processors,
                               run->cpu_available_ratio, run->bandwidth_mbps};
}

/* ---- what a model has seen ---- */

static void widen(struct perf_range *range, double value)
{
    if (isnan(value))
        return;
    range->low = isnan(range->low) ? value : fmin(range->low, value);
    range->high = isnan(range->high) ? value : fmax(range->high, value);
}

void fitted_see(struct perf_seen *seen, const struct perf_sample *run)
{
    seen->sample_count++;
    widen(&seen->problem_size, run->problem_size);
    widen(&seen->processors, run->processors);
    widen(&seen->cpu_available_ratio, run->cpu_available_ratio);
    widen(&seen->bandwidth_mbps, run->bandwidth_mbps);
}

static void begin(enum model_kind kind, const struct model_settings *settings,
                  struct fitted_model *m)
{
    const struct perf_range none = {(double)NAN, (double)NAN};

    *m = (struct fitted_model){.kind = kind, .settings = *settings};
    m->seen = (struct perf_seen){0, none, none, none, none};
    m->standard_error = m->fit_appe_pct = m->cross_appe_pct = (double)NAN;
    m->porting.cpu_factor = m->porting.bandwidth_factor = (double)NAN;
}

/* ---- errors ---- */

double fitted_unseen_appe_pct(const struct fitted_model *m)
{
    return m->errors.count ? m->errors.ppe_sum_pct / (double)m->errors.count
                           : (double)NAN;
}

double fitted_recent_appe_pct(const struct fitted_model *m)
{
    double sum = 0;

    for (size_t i = 0; i < m->errors.ratio_count; i++)
        sum += 100 * fabs(1 - 1 / m->errors.ratios[i]);
    return m->errors.ratio_count ? sum / (double)m->errors.ratio_count : (double)NAN;
}

void fitted_note_error(struct fitted_model *m, double actual_s, double predicted_s)
{
    struct fitted_errors *e = &m->errors;

    if (!(actual_s > 0) || !isfinite(actual_s) || isnan(predicted_s))
        return;
    e->ratios[e->ratio_next] = actual_s / predicted_s;
    e->ratio_next = (e->ratio_next + 1) % FITTED_RATIOS_MAX;
    if (e->ratio_count < FITTED_RATIOS_MAX)
        e->ratio_count++;
    e->count++;
    e->ppe_sum_pct += 100 * fabs(actual_s - predicted_s) / actual_s;
}

void fitted_keep_errors(const struct fitted_model *from, struct fitted_model *to)
{
    memcpy(to->errors.ratios, from->errors.ratios, sizeof(to->errors.ratios));
    to->errors.ratio_count = from->errors.ratio_count;
    to->errors.ratio_next = from->errors.ratio_next;
    to->errors.count = from->errors.count;
    to->errors.ppe_sum_pct = from->errors.ppe_sum_pct;
}

/* Oldest first. */
static void ratios_in_order(const struct fitted_errors *e, double out[])
{
    size_t first = e->ratio_count < FITTED_RATIOS_MAX ? 0 : e->ratio_next;

    for (size_t i = 0; i < e->ratio_count; i++)
        out[i] = e->ratios[(first + i) % FITTED_RATIOS_MAX];
}

/* The fitted times of the latest runs in the fit: what stands in for predictions that
 * have not been made yet. */
static void note_training(struct fitted_model *m, const struct fitted_run *runs,
                          const enum fitted_verdict *verdict, size_t count)
{
    struct fitted_errors *e = &m->errors;
    double sum = 0;

    e->training_count = 0;
    for (size_t i = count; i-- > 0 && e->training_count < FITTED_RATIOS_MAX;) {
        struct perf_query query = query_of(&runs[i].run);
        struct fitted_prediction p;

        if (verdict[i] != RUN_FIT)
            continue;
        fitted_predict(m, &query, runs[i].inputs, NULL, &p);
        if (p.reason)
            continue;
        e->training[e->training_count++] = runs[i].run.time_s / p.time_s;
        sum += 100 * fabs(runs[i].run.time_s - p.time_s) / runs[i].run.time_s;
    }
    if (isnan(m->fit_appe_pct) && e->training_count)
        m->fit_appe_pct = sum / (double)e->training_count;
}

/* ---- cross-validation ---- */

/* The runs that a cross-validation goes over. */
static bool is_counted(const struct fitted_run *run, enum fitted_verdict verdict)
{
    return verdict == RUN_FIT && run->run.processors >= 2;
}

/* Sum of the errors on one fold, and how many they are. */
static void test_fold(const struct perf_combination *c, const struct fitted_run *runs,
                      const enum fitted_verdict *verdict, size_t count, size_t fold,
                      size_t folds, double *sum_pct, size_t *tested)
{
    size_t place = 0;

    for (size_t i = 0; i < count; i++) {
        struct perf_query query = query_of(&runs[i].run);
        double time_s;

        if (!is_counted(&runs[i], verdict[i]) || place++ % folds != fold)
            continue;
        time_s = perf_combination_time_s(c, &query);
        if (!isfinite(time_s))
            continue;
        *sum_pct += ppe_pct(runs[i].run.time_s, time_s);
        ++*tested;
    }
}

/* The functions of `best`, fitted to all but one fold; false: they cannot be. */
static bool fit_others(const struct perf_combination *best,
                       const struct perf_options *options, const struct fitted_run *runs,
                       const enum fitted_verdict *verdict, size_t count, size_t fold,
                       size_t folds, struct perf_combination *out)
{
    size_t place = 0;

    *out = *best;
    perf_combination_clear(out);
    for (size_t i = 0; i < count; i++)
        if (is_counted(&runs[i], verdict[i]) && place++ % folds != fold)
            perf_combination_add(out, &runs[i].run, options->rule);
    perf_combination_solve(out, options->rule);
    return isfinite(out->standard_error) || perf_combination_solve_nonnegative(out);
}

/* Error of the best functions on each fold of runs when they are fitted to the
 * others: with few runs each run is left out by itself. O(folds * runs). */
static double cross_validate(const struct perf_combination *best,
                             const struct perf_options *options,
                             const struct fitted_run *runs,
                             const enum fitted_verdict *verdict, size_t count)
{
    size_t used = 0, tested = 0, folds;
    double sum_pct = 0;

    for (size_t i = 0; i < count; i++)
        used += is_counted(&runs[i], verdict[i]);
    folds = used < FITTED_FOLDS_MAX ? used : FITTED_FOLDS_MAX;
    for (size_t fold = 0; fold < folds; fold++) {
        struct perf_combination c;

        if (fit_others(best, options, runs, verdict, count, fold, folds, &c))
            test_fold(&c, runs, verdict, count, fold, folds, &sum_pct, &tested);
    }
    return tested ? sum_pct / (double)tested : (double)NAN;
}

/* ---- training ---- */

static const struct perf_sample *samples_of(const struct fitted_run *runs, size_t count,
                                            struct arena *a)
{
    struct perf_sample *list = NEW(a, struct perf_sample, count);

    for (size_t i = 0; i < count; i++)
        list[i] = runs[i].run;
    return list;
}

static void assess_runs(const struct fitted_run *runs, size_t count, bool leave_out,
                        enum fitted_verdict *verdict)
{
    for (size_t i = 0; i < count; i++)
        verdict[i] = perf_sample_fault(&runs[i].run)    ? RUN_UNUSABLE
                     : leave_out && runs[i].run.outlier ? RUN_OUTLIER
                                                        : RUN_FIT;
}

static enum error_code train_comprehensive(struct fitted_model *m,
                                           const struct fitted_run *runs, size_t count,
                                           struct budget *budget,
                                           enum fitted_verdict *verdict, struct arena *a,
                                           struct error *err)
{
    struct perf_options options = options_of(&m->settings);
    const struct perf_sample *samples = samples_of(runs, count, a);
    struct perf_report report = {0};

    assess_runs(runs, count, options.leave_out_outliers, verdict);
    TRY(perf_train(samples, count, &options, budget, &m->set, &report, a, err));
    m->fits_evaluated = report.fits_evaluated;
    m->cut = report.cut;
    m->reason = m->set.status == PERF_READY ? NULL : perf_status_names[m->set.status];
    if (m->reason || m->set.sorted.count == 0)
        return OK;
    m->standard_error = m->set.sorted.items[0].standard_error;
    m->cross_appe_pct =
        cross_validate(&m->set.sorted.items[0], &options, runs, verdict, count);
    return OK;
}

static bool differ_in_processors(const struct fitted_run *runs,
                                 const enum fitted_verdict *verdict, size_t count)
{
    double first = (double)NAN;

    for (size_t i = 0; i < count; i++) {
        if (verdict[i] != RUN_FIT)
            continue;
        if (!isnan(first) && runs[i].run.processors != first)
            return true;
        first = runs[i].run.processors;
    }
    return false;
}

static enum error_code train_preliminary(struct fitted_model *m,
                                         const struct fitted_run *runs, size_t count,
                                         enum fitted_verdict *verdict, struct arena *a,
                                         struct error *err)
{
    const struct model_settings *s = &m->settings;
    const struct perf_sample *samples = samples_of(runs, count, a);

    assess_runs(runs, count, s->profile == PERF_ROBUST, verdict);
    if (differ_in_processors(runs, verdict, count)) {
        m->reason = FITTED_MIXED_PROCESSORS;
        return OK;
    }
    TRY(perf_preliminary_fit(samples, count, (size_t)s->comp_degree,
                             (size_t)s->comm_degree, s->profile == PERF_ROBUST,
                             &m->preliminary, a, err));
    m->fits_evaluated = 1;
    m->standard_error = m->preliminary.standard_error;
    m->fit_appe_pct = 100 * m->preliminary.appe_ratio;
    if (m->preliminary.status != PERF_READY)
        m->reason = perf_status_names[m->preliminary.status];
    return OK;
}

static bool regression_takes(const struct fitted_run *run, size_t input_count)
{
    for (size_t k = 0; k < input_count; k++)
        if (!isfinite(run->inputs[k]))
            return false;
    return isfinite(run->run.time_s) && run->run.time_s > 0;
}

static enum error_code train_regression(struct fitted_model *m,
                                        const struct fitted_run *runs, size_t count,
                                        enum fitted_verdict *verdict, struct arena *a,
                                        struct error *err)
{
    const struct regression_kind *kind = regression_of(m->kind);
    struct regression_report report = {0};
    struct regression_data data = {0};
    size_t input_count;
    const char *const *names = fitted_inputs(m->kind, &m->settings, &input_count);
    struct regression_options options = {names, m->settings.min_input};
    double *inputs = NEW(a, double, count *input_count + 1);
    double *times_s = NEW(a, double, count + 1);
    size_t *place = NEW(a, size_t, count + 1);

    for (size_t i = 0; i < count; i++) {
        bool left_out = runs[i].run.outlier && m->settings.profile == PERF_ROBUST;

        verdict[i] = left_out                                  ? RUN_OUTLIER
                     : regression_takes(&runs[i], input_count) ? RUN_FIT
                                                               : RUN_UNUSABLE;
        if (verdict[i] != RUN_FIT)
            continue;
        memcpy(inputs + data.sample_count * input_count, runs[i].inputs,
               input_count * sizeof(*inputs));
        times_s[data.sample_count] = runs[i].run.time_s;
        place[data.sample_count++] = i;
    }
    data.input_count = input_count;
    data.inputs = inputs;
    data.time_s = times_s;
    TRY(regression_fit(kind, &data, &options, &m->regression, &report, a, err));
    for (size_t i = 0; i < report.outlier_count; i++)
        verdict[place[report.outliers[i]]] = RUN_OUTLIER;
    if (report.reason != REGRESSION_OK)
        m->reason = regression_reason_names[report.reason];
    m->fits_evaluated = 1;
    m->standard_error = report.standard_error_s;
    m->fit_appe_pct = report.appe_pct;
    m->cross_appe_pct = report.cross_appe_pct;
    return OK;
}

enum error_code fitted_fit(enum model_kind kind, const struct model_settings *settings,
                           const struct fitted_run *runs, size_t count,
                           struct budget *budget, struct fitted_model *out,
                           enum fitted_verdict *verdict, struct arena *a,
                           struct error *err)
{
    struct fitted_model m;

    if (!verdict)
        verdict = NEW(a, enum fitted_verdict, count + 1);
    assert(kind != MODEL_AUTO); /* model_core.c fits it from what it remembers */
    begin(kind, settings, &m);
    if (kind == MODEL_COMPREHENSIVE)
        TRY(train_comprehensive(&m, runs, count, budget, verdict, a, err));
    else if (kind == MODEL_PRELIMINARY)
        TRY(train_preliminary(&m, runs, count, verdict, a, err));
    else
        TRY(train_regression(&m, runs, count, verdict, a, err));
    for (size_t i = 0; i < count; i++) {
        m.outlier_count += verdict[i] == RUN_OUTLIER;
        m.unusable_count += verdict[i] == RUN_UNUSABLE;
        if (verdict[i] == RUN_FIT)
            fitted_see(&m.seen, &runs[i].run);
    }
    m.sample_count = m.seen.sample_count;
    if (!m.reason)
        note_training(&m, runs, verdict, count);
    *out = m;
    return OK;
}

/* ---- runs that stand out ---- */

/* The runs that may stand out of a fit: the longest or the shortest, few, and with a gap
 * between their times and all others'. A fit that they carried away would not tell. */
struct standing {
    size_t *order;       /* runs in the fit, by time */
    size_t count, first; /* in the fit; place of the first of these */
    size_t several;      /* how many; 0: none */
};

struct timed {
    double time_s;
    size_t run;
};

static int compare_times(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;

    if (x->time_s != y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

static void order_by_time(const struct fitted_run *runs,
                          const enum fitted_verdict *verdict, size_t count,
                          struct standing *s, struct timed *list, struct arena *a)
{
    s->order = NEW(a, size_t, count + 1);
    s->count = 0;
    for (size_t i = 0; i < count; i++)
        if (verdict[i] == RUN_FIT)
            list[s->count++] = (struct timed){runs[i].run.time_s, i};
    qsort(list, s->count, sizeof(*list), compare_times);
    for (size_t i = 0; i < s->count; i++)
        s->order[i] = list[i].run;
}

/* The greatest gap that cuts off few runs at either end. */
static void find_standing(const struct fitted_run *runs, double least_ratio,
                          struct standing *s)
{
    size_t most = s->count / SCREENED_SHARE + 1;
    double widest = least_ratio;

    s->several = 0;
    for (size_t k = 1; k <= most && s->count >= SCREENED_LEAST; k++) {
        size_t high = s->count - k;
        double above =
            runs[s->order[high]].run.time_s / runs[s->order[high - 1]].run.time_s;
        double below = runs[s->order[k]].run.time_s / runs[s->order[k - 1]].run.time_s;

        if (above > widest || below > widest) {
            widest = fmax(above, below);
            s->first = above >= below ? high : 0;
            s->several = k;
        }
    }
}

static bool is_standing(const struct standing *s, size_t place)
{
    return place >= s->first && place < s->first + s->several;
}

/* Scale of the errors on the runs that were fitted to. */
static double scale_of(const struct fitted_model *m, const struct fitted_run *runs,
                       const struct standing *s, struct timed *room)
{
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++) {
        const struct fitted_run *run = &runs[s->order[i]];
        struct perf_query query = query_of(&run->run);
        struct fitted_prediction p;

        if (is_standing(s, i))
            continue;
        fitted_predict(m, &query, run->inputs, NULL, &p);
        if (!p.reason)
            room[count++] = (struct timed){fabs(log(run->run.time_s / p.time_s)), i};
    }
    if (count == 0)
        return HUGE_VAL;
    qsort(room, count, sizeof(*room), compare_times);
    return room[count / 2].time_s / NORMAL_QUARTILE;
}

/* Marks those of the standing runs that a fit without them is far off from, but none
 * where that fit has seen nothing. */
static bool mark_standing(const struct fitted_model *m, struct fitted_run *runs,
                          const struct standing *s, const struct fitted_run *rest,
                          size_t rest_count, struct timed *room)
{
    double least = fmax(log(SCREEN_RATIO), SCREEN_SCALES * scale_of(m, runs, s, room));
    bool any = false;

    for (size_t i = s->first; i < s->first + s->several; i++) {
        struct fitted_run *run = &runs[s->order[i]];
        struct perf_query query = query_of(&run->run);
        struct fitted_prediction p;

        fitted_predict(m, &query, run->inputs, NULL, &p);
        if (p.reason || !(fabs(log(run->run.time_s / p.time_s)) > least) ||
            core_distance(m, rest, rest_count, run) > SCREEN_DISTANCE)
            continue;
        run->run.outlier = any = true;
    }
    return any;
}

/* Fits, and again without the runs that stand out, which are marked in `runs`. */
static enum error_code fit_screened(enum model_kind kind,
                                    const struct model_settings *settings,
                                    struct fitted_run *runs, size_t count,
                                    struct budget *budget, struct fitted_model *out,
                                    enum fitted_verdict *verdict, struct arena *a,
                                    struct error *err)
{
    struct timed *room = NEW(a, struct timed, count + 1);
    struct fitted_run *rest = NEW(a, struct fitted_run, count + 1);
    struct standing s = {0};
    struct fitted_model without;
    size_t rest_count = 0;

    TRY(fitted_fit(kind, settings, runs, count, budget, out, verdict, a, err));
    order_by_time(runs, verdict, count, &s, room, a);
    find_standing(runs, settings->robustness.outlier_ratio, &s);
    if (s.several == 0)
        return OK;
    for (size_t i = 0; i < s.count; i++)
        if (!is_standing(&s, i))
            rest[rest_count++] = runs[s.order[i]];
    TRY(fitted_fit(kind, settings, rest, rest_count, budget, &without, NULL, a, err));
    if (without.reason || !mark_standing(&without, runs, &s, rest, rest_count, room))
        return OK;
    return fitted_fit(kind, settings, runs, count, budget, out, verdict, a, err);
}

size_t fitted_auto_first(const struct model_settings *settings, size_t count)
{
    size_t most = 2 * (size_t)settings->robustness.window_runs;

    return count > most ? count - most : 0;
}

/* Learns the runs one after the other, as they would have come. */
static enum error_code learn_in_order(const struct fitted_run *runs, size_t count,
                                      const struct fitted_room *room,
                                      struct fitted_model *out,
                                      enum fitted_verdict *verdict, struct error *err)
{
    bool done;

    for (size_t i = fitted_auto_first(&out->settings, count); i < count; i++) {
        struct core_update update;

        TRY(core_learn(out, &runs[i], true, room, &update, err));
        verdict[i] = update.verdict;
        for (size_t k = i + 1; k-- > 0 && update.taken_back > 0;) {
            if (verdict[k] == RUN_UNUSABLE || runs[k].run.outlier ||
                !core_spot_has(out, &update.spot, &runs[k]))
                continue;
            verdict[k] = RUN_FIT;
            update.taken_back--;
        }
    }
    out->errors = (struct fitted_errors){0}; /* nobody was told what it said on the way */
    return core_train(out, room, &done, &out->reason, err);
}

static enum error_code train_auto(const struct model_settings *settings,
                                  const struct fitted_run *runs, size_t count,
                                  struct budget *budget, struct fitted_model *out,
                                  enum fitted_verdict *verdict, struct arena *a,
                                  struct error *err)
{
    struct arena *scratch = arena_create_beside(a, arena_cap_bytes(a));
    struct fitted_room room = {a, scratch, budget};
    enum error_code code;

    begin(MODEL_AUTO, settings, out);
    if (!verdict)
        verdict = NEW(a, enum fitted_verdict, count + 1);
    for (size_t i = 0; i < count; i++)
        verdict[i] = RUN_LEFT_OUT;
    out->names = count > 0 ? runs[0].names : NULL;
    fitted_auto_names(out, a);
    core_create_empty(out, a);
    code = learn_in_order(runs, count, &room, out, verdict, err);
    arena_close(scratch);
    return code;
}

void fitted_auto_names(struct fitted_model *m, struct arena *a)
{
    if (m->names)
        return;
    m->names = NEW(a, struct ensemble_names, 1);
    ensemble_names_create(m->names, m->settings.inputs, m->settings.input_count);
}

enum error_code fitted_train(enum model_kind kind, const struct model_settings *settings,
                             const struct fitted_run *runs, size_t count,
                             struct budget *budget, struct fitted_model *out,
                             enum fitted_verdict *verdict, struct arena *a,
                             struct error *err)
{
    struct fitted_run *screened;

    if (kind == MODEL_AUTO)
        return train_auto(settings, runs, count, budget, out, verdict, a, err);
    if (settings->profile == PERF_THESIS)
        return fitted_fit(kind, settings, runs, count, budget, out, verdict, a, err);
    screened = NEW(a, struct fitted_run, count + 1);
    if (!verdict)
        verdict = NEW(a, enum fitted_verdict, count + 1);
    if (count > 0)
        memcpy(screened, runs, count * sizeof(*runs));
    TRY(fit_screened(kind, settings, screened, count, budget, out, verdict, a, err));
    if (out->reason)
        return OK;
    core_create(out, runs, verdict, count, a);
    return core_measure(out, a, a, budget, err);
}

enum error_code fitted_reform(struct fitted_model *m, const struct fitted_run *runs,
                              size_t count, struct budget *budget, struct arena *a,
                              struct error *err)
{
    const struct perf_sample *samples = samples_of(runs, count, a);
    enum fitted_verdict *verdict = NEW(a, enum fitted_verdict, count + 1);
    struct perf_report report = {0};

    if (m->kind != MODEL_COMPREHENSIVE)
        return OK;
    TRY(perf_reform(&m->set, samples, count, budget, &report, a, err));
    m->fits_evaluated = report.fits_evaluated;
    m->cut = report.cut;
    assess_runs(runs, count, m->set.options.leave_out_outliers, verdict);
    m->fit_appe_pct = (double)NAN;
    if (m->set.sorted.count == 0)
        return OK;
    m->standard_error = m->set.sorted.items[0].standard_error;
    m->cross_appe_pct =
        cross_validate(&m->set.sorted.items[0], &m->set.options, runs, verdict, count);
    note_training(m, runs, verdict, count);
    return OK;
}

enum error_code fitted_port(const struct fitted_model *reference,
                            const struct fitted_run *reference_runs,
                            size_t reference_count, const struct fitted_run *target_runs,
                            size_t target_count, struct fitted_model *out,
                            struct arena *a)
{
    const struct perf_sample *ours = samples_of(reference_runs, reference_count, a);
    const struct perf_sample *theirs = samples_of(target_runs, target_count, a);
    const struct fitted_errors *e = &reference->errors;
    struct fitted_model m;

    begin(MODEL_COMPREHENSIVE, &reference->settings, &m);
    TRY(perf_port(&reference->set, ours, reference_count, theirs, target_count,
                  (double)reference->settings.min_processors, &m.porting, a));
    if (m.porting.outcome != PERF_READY) {
        m.reason = perf_status_names[m.porting.outcome];
        *out = m;
        return OK;
    }
    TRY(perf_ported_set(&reference->set, &m.porting, &m.set, a));
    m.set.options.assess_outliers = true; /* until it is trained from its own runs */
    m.fit_appe_pct = 100 * m.porting.goodness_target;
    if (e->ratio_count >= PREDICTION_RATIOS_OWN) {
        ratios_in_order(e, m.errors.training);
        m.errors.training_count = e->ratio_count;
    } else {
        memcpy(m.errors.training, e->training, sizeof(e->training));
        m.errors.training_count = e->training_count;
    }
    *out = m;
    return OK;
}

void fitted_from_combinations(struct perf_combination *sorted, size_t sorted_count,
                              struct perf_combination *single, size_t single_count,
                              const struct model_settings *settings,
                              struct fitted_model *out)
{
    const struct perf_range none = {(double)NAN, (double)NAN};

    begin(MODEL_COMPREHENSIVE, settings, out);
    out->set.status = PERF_READY;
    out->set.state = PERF_STATE_TRAINED;
    out->set.options = options_of(settings);
    out->set.sorted = (struct perf_list){sorted, sorted_count};
    out->set.single = (struct perf_list){single, single_count};
    out->set.single_seen = out->set.parallel_seen =
        (struct perf_seen){0, none, none, none, none};
}

/* ---- predictions ---- */

enum error_code fitted_interval(const struct fitted_model *m, double level,
                                struct fitted_interval *out, struct arena *a,
                                struct error *err)
{
    double latest[FITTED_RATIOS_MAX];
    bool is_ported = m->kind == MODEL_COMPREHENSIVE && m->set.reference;
    struct prediction_ratios ratios = {
        .executions = latest,
        .execution_count = m->errors.ratio_count,
        .others = m->errors.training,
        .other_count = m->errors.training_count,
        .others_basis =
            is_ported ? PREDICTION_BASIS_REFERENCE : PREDICTION_BASIS_TRAINING,
    };
    struct prediction_interval unit = {0};

    if (m->guess) {
        *out = (struct fitted_interval){.level = level, .ratio_count = m->guess->count};
        out->low_ratio = out->high_ratio = (double)NAN;
        out->guess_half = fitted_guess_half(m->guess, level);
        return OK;
    }
    if (m->core && !is_ported) {
        core_interval(m->core, level, out, a);
        return OK;
    }
    ratios_in_order(&m->errors, latest);
    *out = (struct fitted_interval){.level = level};
    out->low_ratio = out->high_ratio = (double)NAN;
    /* A regression knows the scatter of its own runs better. */
    if (m->kind >= MODEL_LINEAR)
        out->own = regression_level_of(regression_of(m->kind), &m->regression, level);
    if (m->kind >= MODEL_LINEAR && m->errors.ratio_count < PREDICTION_RATIOS_OWN)
        return OK;
    TRY(prediction_interval(1, level, &ratios, &unit, a, err));
    out->low_ratio = unit.low_s;
    out->high_ratio = unit.high_s;
    out->basis = unit.basis;
    out->ratio_count = unit.ratio_count;
    return OK;
}

#define SCALE_NEW_TEXT 0.35

/* Is the machine one of which the model has seen no run, and little or no effect is
 * known? */
static bool is_new_machine(const struct fitted_model *m, const double *inputs,
                           const struct ensemble_answer *answer)
{
    for (size_t i = 0; i < 2 && answer->new_text_count > 0; i++)
        if (answer->new_text[ensemble_names_find(m->names, machine_names[i])]) {
            const struct fitted_effect *known = find_effect(m, inputs);

            return !known ||
                   (known->lone_runs > 0 && known->lone_runs < FITTED_LONE_RUNS);
        }
    return false;
}

/* The scale of the interval: of a category that no run had nobody knows what it does. Of
 * a machine the caller may know more. */
static double scale_of_answer(const struct fitted_model *m,
                              const struct fitted_interval *interval,
                              const struct ensemble_answer *answer, bool new_machine)
{
    size_t machines = 0;
    double least = interval->scale_least;

    for (size_t i = 0; i < 2 && answer->new_text_count > 0; i++)
        machines += answer->new_text[ensemble_names_find(m->names, machine_names[i])];
    if (answer->new_text_count > machines || (new_machine && !(least > 0)))
        least = SCALE_NEW_TEXT;
    return fmax(interval->scale[answer->group], least);
}

/* An interval ends at the least and the greatest number at the latest; so does a
 * distance.
 */
static void put_ends(double half, struct fitted_prediction *out)
{
    out->low_s = fmax(out->time_s * exp(-half), DBL_MIN);
    out->high_s = fmin(out->time_s * exp(half), DBL_MAX);
    out->low_s = fmin(out->low_s, out->time_s);
    if (out->extrapolation_ratio > DBL_MAX)
        out->extrapolation_ratio = DBL_MAX;
}

/* Of applications like it, whatever is asked. */
static void predict_guess(const struct fitted_guess *guess,
                          const struct fitted_interval *interval,
                          struct fitted_prediction *out)
{
    out->time_s = guess->time_s;
    out->method = FITTED_BY_SIMILAR;
    if (!interval)
        return;
    put_ends(interval->guess_half, out);
    out->own_basis = FITTED_BY_SIMILAR;
    out->error_count = guess->count;
}

/* Where it lies, and half of its interval, is all the ensemble's. */
static void predict_auto(const struct fitted_model *m, const struct perf_query *query,
                         const double *inputs, const struct fitted_interval *interval,
                         struct fitted_prediction *out)
{
    double terms[ENSEMBLE_INPUTS_MAX], half;
    struct ensemble_answer answer;
    bool new_machine;

    if (!inputs) {
        fitted_auto_inputs(m->names, query, NULL, 0, NULL, NULL, terms, NULL);
        inputs = terms;
    }
    ensemble_predict(m->ensemble, inputs, &answer);
    answer.y += fitted_effect_of(m, inputs);
    out->time_s = exp(answer.y);
    if (!(out->time_s > 0) || !isfinite(out->time_s)) {
        out->time_s = (double)NAN;
        out->reason = regression_reason_names[isnan(answer.y) ? REGRESSION_NO_DATA
                                                              : REGRESSION_NOT_FINITE];
        return;
    }
    out->method = answer.group == LOG_SAME ? FITTED_BY_HISTORY : FITTED_BY_ENSEMBLE;
    out->extrapolation_ratio = answer.distance;
    out->far_input = answer.far_input;
    if (answer.missing_count) {
        out->warnings |= FITTED_WARN_MISSING;
        out->missing_input = answer.missing_input;
    }
    if (answer.distance > 2)
        out->warnings |= FITTED_WARN_DISTANT;
    if (answer.constant_distance > 1) {
        out->warnings |= FITTED_WARN_CONSTANT;
        out->constant_input = answer.constant_input;
    }
    if (!interval)
        return;
    new_machine = is_new_machine(m, inputs, &answer);
    half = log_half(interval->quantile[answer.group],
                    scale_of_answer(m, interval, &answer, new_machine), answer.spread,
                    answer.distance, answer.runs, answer.constant_distance);
    put_ends(half, out);
    out->own_basis = new_machine ? FITTED_MACHINE_PRIOR : log_group_names[answer.group];
    out->error_count = interval->error_count[answer.group];
}

static void from_perf(const struct perf_prediction *p, struct fitted_prediction *out)
{
    if (p->status != PERF_READY) {
        out->reason = perf_status_names[p->status];
        return;
    }
    out->time_s = p->time_s;
    out->computation_s = p->computation_s;
    out->communication_s = p->communication_s;
    out->rank = p->rank;
    out->method = perf_method_names[p->method];
    out->warnings = p->warnings;
    out->problem_size_ratio = p->problem_size_ratio;
    out->processors_ratio = p->processors_ratio;
}

static void predict_regression(const struct fitted_model *m, const double *inputs,
                               const struct regression_level *level,
                               struct fitted_prediction *out)
{
    struct regression_prediction p;

    regression_predict_at(regression_of(m->kind), &m->regression, inputs, level, &p);
    if (p.reason != REGRESSION_OK) {
        out->reason = regression_reason_names[p.reason];
        return;
    }
    out->time_s = p.time_s;
    out->low_s = p.low_s;
    out->high_s = p.high_s;
    out->method = model_kind_names[m->kind];
    if (!isnan(level->level))
        out->own_basis = regression_basis_names[p.basis];
    out->far_input = p.extrapolated_input;
    if (p.extrapolation_ratio > 2)
        out->warnings |= FITTED_WARN_FAR;
    if (p.floored)
        out->warnings |= FITTED_WARN_FLOORED;
}

/* The interval of the group in which the question lies. */
static void put_interval(const struct fitted_model *m, const struct perf_query *query,
                         const double *inputs, const struct fitted_interval *interval,
                         struct fitted_prediction *out)
{
    struct core_place place;
    double half;

    core_place_of(m, query, inputs, &place);
    half = log_half(interval->quantile[place.group], interval->scale[place.group], 0,
                    place.distance, place.runs, place.constant_distance);
    out->own_basis = log_group_names[place.group];
    out->error_count = interval->error_count[place.group];
    out->extrapolation_ratio = place.distance;
    put_ends(half, out);
    out->far_input = place.far_input;
    out->warnings &= ~(unsigned)FITTED_WARN_FAR; /* the kind's own word for it */
    if (place.distance > 2)
        out->warnings |= FITTED_WARN_DISTANT;
    if (place.constant_distance > 1) {
        out->warnings |= FITTED_WARN_CONSTANT;
        out->constant_input = place.constant_input;
    }
}

void fitted_predict(const struct fitted_model *m, const struct perf_query *query,
                    const double *inputs, const struct fitted_interval *interval,
                    struct fitted_prediction *out)
{
    const struct regression_level none = {(double)NAN, (double)NAN, (double)NAN};
    bool by_group = interval && interval->by_group;
    struct perf_prediction p;

    *out = (struct fitted_prediction){.reason = m->reason};
    out->time_s = out->low_s = out->high_s = (double)NAN;
    out->computation_s = out->communication_s = (double)NAN;
    out->problem_size_ratio = out->processors_ratio = (double)NAN;
    out->extrapolation_ratio = (double)NAN;
    if (m->reason)
        return;
    if (m->guess) {
        predict_guess(m->guess, interval, out);
        return;
    }
    if (m->kind == MODEL_AUTO) {
        predict_auto(m, query, inputs, interval, out);
        return;
    }
    if (m->kind == MODEL_COMPREHENSIVE) {
        perf_predict(&m->set, query, &p);
        from_perf(&p, out);
    } else if (m->kind == MODEL_PRELIMINARY) {
        perf_preliminary_predict(&m->preliminary, query, &p);
        from_perf(&p, out);
        out->method = out->reason ? NULL : model_kind_names[m->kind];
    } else {
        bool has_own = interval && !by_group && isnan(interval->low_ratio);

        predict_regression(m, inputs, has_own ? &interval->own : &none, out);
    }
    if (by_group && !out->reason)
        put_interval(m, query, inputs, interval, out);
    if (out->reason || !interval || isnan(interval->low_ratio))
        return;
    out->own_basis = NULL;
    out->low_s = out->time_s * interval->low_ratio;
    out->high_s = out->time_s * interval->high_ratio;
}

/* ---- learning ---- */

static void learn_comprehensive(struct fitted_model *m, const struct perf_sample *run,
                                const struct perf_sample *rows, size_t row_count,
                                struct fitted_update *out)
{
    struct perf_update update;

    perf_update(&m->set, run, out->predicted_s, rows, row_count, &update);
    out->reform_due = update.reform_due;
    out->train_due = update.training_due;
    if (update.outlier)
        out->verdict = RUN_OUTLIER;
    else if (!update.used)
        out->verdict = perf_sample_fault(run) ? RUN_UNUSABLE : RUN_OUTLIER;
    if (m->set.sorted.count)
        m->standard_error = m->set.sorted.items[0].standard_error;
}

static void learn_regression(struct fitted_model *m, const struct fitted_run *run,
                             struct fitted_update *out)
{
    const struct regression_kind *kind = regression_of(m->kind);
    size_t input_count;

    fitted_inputs(m->kind, &m->settings, &input_count);
    if (!regression_takes(run, input_count))
        out->verdict = RUN_UNUSABLE;
    else if (!kind->refines || m->regression.statistic_count == 0)
        out->train_due = true;
    else if (!regression_refine(kind, &m->regression, run->inputs, run->run.time_s))
        out->verdict = RUN_OUTLIER;
}

void fitted_learn(struct fitted_model *m, const struct fitted_run *run,
                  const struct perf_sample *rows, size_t row_count,
                  struct fitted_update *out)
{
    struct perf_query query = query_of(&run->run);
    struct fitted_prediction p;

    *out = (struct fitted_update){.verdict = RUN_FIT};
    fitted_predict(m, &query, run->inputs, NULL, &p);
    out->predicted_s = p.time_s;
    fitted_note_error(m, run->run.time_s, p.time_s);
    if (m->kind == MODEL_AUTO) {
        /* model_core.c does it */
    } else if (m->kind == MODEL_COMPREHENSIVE) {
        learn_comprehensive(m, &run->run, rows, row_count, out);
    } else if (m->kind == MODEL_PRELIMINARY) {
        if (!perf_preliminary_update(&m->preliminary, &run->run))
            out->verdict = RUN_UNUSABLE;
        m->standard_error = m->preliminary.standard_error;
    } else {
        learn_regression(m, run, out);
    }
    m->outlier_count += out->verdict == RUN_OUTLIER;
    m->unusable_count += out->verdict == RUN_UNUSABLE;
    if (out->verdict != RUN_FIT)
        return;
    fitted_see(&m->seen, &run->run);
    m->sample_count++;
}
