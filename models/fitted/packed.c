/* fitted/packed.c - a fitted model as numbers, to be stored, and back.
 *
 * One function walks over a model; with a writer it copies members to the numbers,
 * with a reader back. So both cannot disagree. Counts are checked when they are read:
 * what comes from a caller may be anything.
 */
#include "models/fitted/core.h"

#include "models/base/number_walk.h"
#include "models/performance/set_walk.h"

#include <math.h>
#include <string.h>

enum {
    NAME_BYTES_MAX = 1024,
    LETTERS = 6,
    EFFECTS_MAX = 2 * FITTED_EFFECTS_MAX,
    EFFECTS_MARK = 1 << 20, /* added to their count: with lone_runs */
};

static void walk_preliminary(struct number_walk *w, struct perf_preliminary *m)
{
    size_t status = m->status;

    walk_whole(w, &status, PERF_STATUS_COUNT - 1);
    m->status = (enum perf_status)status;
    walk_whole(w, &m->comp_degree, PERF_DEGREE_MAX);
    walk_whole(w, &m->comm_degree, PERF_DEGREE_MAX);
    walk_flag(w, &m->relative);
    walk_number(w, &m->processors);
    walk_numbers(w, m->coefficients, PERF_PRELIMINARY_TERMS_MAX);
    walk_whole(w, &m->coefficient_count, PERF_PRELIMINARY_TERMS_MAX);
    if (w->in && m->coefficient_count != 2 * (m->comp_degree + 1) + m->comm_degree + 1)
        w->failed = true;
    walk_number(w, &m->standard_error);
    walk_number(w, &m->appe_ratio);
    walk_numbers(w, m->triangle, PERF_PRELIMINARY_TRIANGLE_MAX);
    walk_whole(w, &m->version, SIZE_MAX >> 11);
    perf_seen_walk(w, &m->seen);
}

static void walk_regression(struct number_walk *w, struct regression_model *m)
{
    walk_whole(w, &m->input_count, REGRESSION_INPUTS_MAX);
    walk_whole(w, &m->coefficient_count, REGRESSION_COEFFICIENTS_MAX);
    walk_whole(w, &m->statistic_count, REGRESSION_STATISTICS_MAX);
    if (w->failed)
        return;
    walk_numbers(w, m->coefficients, m->coefficient_count);
    walk_numbers(w, m->statistics, m->statistic_count);
}

/* Six letters are one number. */
static void walk_text(struct number_walk *w, const char **text)
{
    size_t length = w->in ? 0 : strlen(*text);
    char *copy = NULL;

    walk_whole(w, &length, NAME_BYTES_MAX);
    if (w->in && !w->failed)
        *text = copy = NEW(w->a, char, length + 1);
    for (size_t i = 0; i < length && !w->failed; i += LETTERS) {
        size_t packed = 0;

        for (size_t k = 0; !w->in && k < LETTERS && i + k < length; k++)
            packed |= (size_t)(unsigned char)(*text)[i + k] << 8 * k;
        walk_whole(w, &packed, ((size_t)1 << 8 * LETTERS) - 1);
        for (size_t k = 0; w->in && k < LETTERS && i + k < length; k++)
            copy[i + k] = (char)(packed >> 8 * k & 255);
    }
}

static void walk_effects(struct number_walk *w, struct fitted_model *m)
{
    struct fitted_effect *list = w->in ? NULL : (struct fitted_effect *)m->effects;

    size_t count = m->effect_count;
    bool with_runs = false;

    for (size_t i = 0; !w->in && i < count; i++)
        with_runs = with_runs || list[i].lone_runs > 0;
    count += with_runs ? EFFECTS_MARK : 0;
    walk_whole(w, &count, EFFECTS_MARK + EFFECTS_MAX);
    with_runs = count >= EFFECTS_MARK;
    count -= with_runs ? EFFECTS_MARK : 0;
    w->failed = w->failed || count > EFFECTS_MAX;
    m->effect_count = w->failed ? 0 : count;
    if (w->in)
        m->effects = list = NEW(w->a, struct fitted_effect, m->effect_count + 1);
    for (size_t i = 0; i < m->effect_count && !w->failed; i++) {
        walk_number(w, &list[i].key);
        walk_number(w, &list[i].effect);
        if (with_runs)
            walk_number(w, &list[i].lone_runs);
        w->failed = w->failed || !isfinite(list[i].effect) || !(list[i].lone_runs >= 0) ||
                    isinf(list[i].lone_runs);
    }
}

static void walk_auto(struct number_walk *w, struct fitted_model *m)
{
    struct ensemble_names *names = m->names;
    size_t count;

    if (w->in)
        m->names = names = NEW(w->a, struct ensemble_names, 1);
    walk_whole(w, &names->count, ENSEMBLE_INPUTS_MAX);
    walk_flag(w, &names->is_given);
    walk_flag(w, &names->cut);
    for (size_t i = 0; i < ENSEMBLE_TERMS; i++)
        walk_flag(w, &names->chosen[i]);
    if (w->in && names->count < ENSEMBLE_TERMS)
        w->failed = true;
    for (size_t i = 0; i < names->count && !w->failed; i++)
        walk_text(w, &names->name[i]);
    if (w->failed)
        return;
    walk_effects(w, m);
    count = w->in ? 0 : ensemble_pack(m->ensemble, NULL);
    walk_whole(w, &count, SIZE_MAX >> 11);
    if (!w->in && w->out)
        ensemble_pack(m->ensemble, w->out + w->at);
    if (w->in && (w->failed || count > w->count - w->at)) {
        w->failed = true;
        return;
    }
    if (w->in) {
        m->ensemble = NEW(w->a, struct ensemble, 1);
        w->failed = !ensemble_unpack(w->in + w->at, count, m->ensemble, w->a);
    }
    w->at += count;
}

static void walk_errors(struct number_walk *w, struct fitted_errors *e)
{
    walk_whole(w, &e->ratio_count, FITTED_RATIOS_MAX);
    walk_whole(w, &e->ratio_next, FITTED_RATIOS_MAX - 1);
    walk_numbers(w, e->ratios, FITTED_RATIOS_MAX);
    walk_whole(w, &e->count, SIZE_MAX >> 11);
    walk_number(w, &e->ppe_sum_pct);
    walk_whole(w, &e->training_count, FITTED_RATIOS_MAX);
    walk_numbers(w, e->training, FITTED_RATIOS_MAX);
}

/* ---- the core ---- */

enum { ROWS_MAX = 20000 + DRIFT_OLD_MAX, CONFIGURATIONS_MAX = ROWS_MAX };

static void walk_row(struct number_walk *w, struct fitted_row *row, enum model_kind kind,
                     size_t input_count)
{
    struct perf_sample *run = &row->run.run;

    walk_number(w, &run->problem_size);
    walk_number(w, &run->processors);
    walk_number(w, &run->cpu_available_ratio);
    walk_number(w, &run->bandwidth_mbps);
    walk_number(w, &run->time_s);
    walk_flag(w, &run->dedicated);
    walk_flag(w, &row->is_outlier);
    walk_number(w, &row->error);
    walk_number(w, &row->run.started_at_s);
    if (w->in)
        ensemble_values_clear(row->run.inputs);
    walk_numbers(w, row->run.inputs, input_count);
    if (kind == MODEL_AUTO)
        walk_flag(w, &row->run.is_bound);
}

static void walk_rows(struct number_walk *w, struct fitted_core *core,
                      enum model_kind kind, size_t input_count)
{
    size_t none = 0;

    if (!w->in && !w->form) {
        walk_whole(w, &none, 0);
        walk_whole(w, &none, 0);
        return;
    }
    core->rows = walk_room(w, core->rows, &core->row_count, ROWS_MAX, sizeof(*core->rows),
                           9 + input_count);
    core->row_room = w->in ? core->row_count : core->row_room;
    walk_whole(w, &core->old_count, core->row_count);
    for (size_t i = 0; i < core->row_count && !w->failed; i++)
        walk_row(w, &core->rows[i], kind, input_count);
}

static void walk_recent_errors(struct number_walk *w, struct log_recent *recent)
{
    walk_whole(w, &recent->count, LOG_RECENT_MAX);
    walk_whole(w, &recent->next, LOG_RECENT_MAX - 1);
    walk_numbers(w, recent->value, w->failed ? 0 : recent->count);
}

static void walk_log_errors(struct number_walk *w, struct log_errors *errors)
{
    size_t count = errors->count;

    errors->list =
        walk_room(w, errors->list, &count, LOG_ERRORS_MAX, sizeof(*errors->list), 3);
    errors->count = count;
    if (w->in && !w->failed) /* it grows to its full length */
        errors->list = NEW(w->a, struct log_error, LOG_ERRORS_MAX);
    for (size_t i = 0; i < count && !w->failed; i++) {
        walk_number(w, &errors->list[i].size);
        walk_number(w, &errors->list[i].spread);
        walk_number(w, &errors->list[i].configuration);
    }
}

static void walk_configurations(struct number_walk *w, struct fitted_core *core)
{
    size_t count = core->configuration_count;

    core->configuration =
        walk_room(w, core->configuration, &count, CONFIGURATIONS_MAX, sizeof(double), 2);
    if (w->in) {
        core->configuration_runs = NEW(w->a, double, count + 1);
        core->configuration_room = count + 1;
    }
    core->configuration_count = count;
    for (size_t i = 0; i < count && !w->failed; i++) {
        walk_number(w, &core->configuration[i]);
        walk_number(w, &core->configuration_runs[i]);
    }
}

static void walk_spot_sums(struct number_walk *w, struct core_spots *spots)
{
    walk_whole(w, &spots->count, CORE_SPOTS_MAX);
    for (size_t i = 0; i < spots->count && !w->failed; i++) {
        struct drift_sums *sums = &spots->list[i].sums;

        walk_number(w, &spots->list[i].key);
        walk_number(w, &sums->up);
        walk_number(w, &sums->down);
        walk_whole(w, &sums->up_start, ROWS_MAX + 1);
        walk_whole(w, &sums->down_start, ROWS_MAX + 1);
        if (w->in && (!(sums->up >= 0) || !(sums->down >= 0)))
            w->failed = true;
    }
}

/* Which rows are of before a change of their class or site: by their places. */
static void walk_before(struct number_walk *w, struct fitted_core *core, size_t scope)
{
    size_t count = 0, row = 0;

    for (size_t i = 0; !w->in && w->form && i < core->row_count; i++)
        count += core->rows[i].is_before[scope];
    walk_whole(w, &count, core->row_count);
    for (size_t i = 0; i < count && !w->failed; i++) {
        while (!w->in && !core->rows[row].is_before[scope])
            row++;
        walk_whole(w, &row, core->row_count - 1);
        if (w->in && !w->failed)
            core->rows[row].is_before[scope] = true;
        row++;
    }
}

/* What models of before it lack; it comes last. */
static void walk_spots(struct number_walk *w, struct fitted_core *core)
{
    size_t scope = core->change_scope;

    walk_whole(w, &scope, CORE_SCOPE_COUNT - 1);
    core->change_scope = (enum core_scope)scope;
    for (size_t s = CORE_SCOPE_ALL + 1; s < CORE_SCOPE_COUNT && !w->failed; s++) {
        walk_spot_sums(w, &core->spots[s]);
        walk_before(w, core, s);
    }
}

static void walk_core(struct number_walk *w, struct fitted_model *m)
{
    bool there = m->core != NULL;
    struct fitted_core *core;
    size_t input_count = 0, notes;

    walk_flag(w, &there);
    if (!there || w->failed)
        return;
    if (w->in)
        m->core = NEW(w->a, struct fitted_core, 1);
    core = m->core;
    if (m->kind >= MODEL_LINEAR || m->kind == MODEL_AUTO)
        fitted_input_names(m, &input_count);
    walk_rows(w, core, m->kind, input_count);
    walk_number(w, &core->sums.up);
    walk_number(w, &core->sums.down);
    walk_whole(w, &core->sums.up_start, ROWS_MAX + 1);
    walk_whole(w, &core->sums.down_start, ROWS_MAX + 1);
    walk_whole(w, &core->since_training, SIZE_MAX >> 11);
    walk_whole(w, &core->since_measured, SIZE_MAX >> 11);
    for (size_t g = 0; g < LOG_GROUP_COUNT; g++) {
        walk_log_errors(w, &core->errors[g]);
        walk_recent_errors(w, &core->recent[g]);
        walk_number(w, &core->assess.scale[g]);
        walk_number(w, &core->assess.quantile[g]);
    }
    walk_number(w, &core->assess.level);
    walk_flag(w, &core->assess.by_group);
    walk_configurations(w, core);
    for (size_t i = 0; i < REGRESSION_INPUTS_MAX; i++) {
        walk_number(w, &core->range[i].low);
        walk_number(w, &core->range[i].high);
    }
    walk_whole(w, &core->change_count, SIZE_MAX >> 11);
    walk_whole(w, &core->runs_since_change, SIZE_MAX >> 11);
    walk_whole(w, &core->change_earlier_count, ROWS_MAX);
    walk_number(w, &core->change_factor);
    walk_number(w, &core->change_at_s);
    notes = core->notes;
    walk_whole(w, &notes, (1u << CORE_NOTE_COUNT) - 1);
    core->notes = (unsigned)notes;
    if (m->kind == MODEL_AUTO && !w->failed && (!w->in || w->at < w->count))
        walk_spots(w, core);
}

/* What stands for a kind: auto came last. */
static size_t kind_code(enum model_kind kind)
{
    return kind == MODEL_AUTO ? MODEL_KIND_COUNT - 1 : (size_t)kind - 1;
}

int fitted_packed_kind(const double *packed, size_t count)
{
    for (int kind = 0; count >= 2 && kind < MODEL_KIND_COUNT; kind++)
        if (packed[1] == (double)kind_code((enum model_kind)kind))
            return kind;
    return -1;
}

static void walk_model(struct number_walk *w, struct fitted_model *m)
{
    size_t layout = FITTED_LAYOUT, kind = kind_code(m->kind);
    size_t porting = m->porting.status;

    walk_whole(w, &layout, FITTED_LAYOUT);
    walk_whole(w, &kind, MODEL_KIND_COUNT - 1);
    if (layout < 1 || kind != kind_code(m->kind))
        w->failed = true;
    if (w->failed)
        return;
    walk_errors(w, &m->errors);
    perf_seen_walk(w, &m->seen);
    walk_whole(w, &m->sample_count, SIZE_MAX >> 11);
    walk_whole(w, &m->outlier_count, SIZE_MAX >> 11);
    walk_whole(w, &m->unusable_count, SIZE_MAX >> 11);
    walk_number(w, &m->standard_error);
    walk_number(w, &m->fit_appe_pct);
    walk_number(w, &m->cross_appe_pct);
    walk_whole(w, &m->fits_evaluated, SIZE_MAX >> 11);
    walk_flag(w, &m->cut);
    walk_whole(w, &porting, PERF_PORTING_COUNT - 1);
    m->porting.status = (enum perf_porting_status)porting;
    walk_number(w, &m->porting.cpu_factor);
    walk_number(w, &m->porting.bandwidth_factor);
    walk_number(w, &m->porting.best_factor);
    walk_number(w, &m->porting.goodness_reference);
    walk_number(w, &m->porting.goodness_target);
    if (m->kind == MODEL_AUTO)
        walk_auto(w, m);
    else if (m->kind == MODEL_COMPREHENSIVE)
        perf_set_walk(w, &m->set);
    else if (m->kind == MODEL_PRELIMINARY)
        walk_preliminary(w, &m->preliminary);
    else
        walk_regression(w, &m->regression);
    if (layout >= 2 && !w->failed)
        walk_core(w, m);
}

void fitted_pack(const struct fitted_model *m, bool with_runs, const double **packed,
                 size_t *count, struct arena *a)
{
    struct fitted_model copy = *m;
    struct number_walk w = {.form = with_runs, .a = a};

    walk_model(&w, &copy); /* how many */
    w.out = NEW(a, double, w.at);
    *count = w.at;
    w.at = 0;
    walk_model(&w, &copy);
    *packed = w.out;
}

static bool is_size(double x)
{
    return x >= 0 && isfinite(x);
}

/* What becomes half of an interval is no negative and no endless number. */
static bool core_is_sane(const struct fitted_core *core)
{
    for (size_t g = 0; g < LOG_GROUP_COUNT; g++) {
        const struct log_errors *errors = &core->errors[g];

        for (size_t i = 0; i < errors->count; i++)
            if (!isfinite(errors->list[i].size) || !is_size(errors->list[i].spread))
                return false;
        for (size_t i = 0; i < core->recent[g].count; i++)
            if (!is_size(core->recent[g].value[i]))
                return false;
        if (!is_size(core->assess.scale[g]) || !is_size(core->assess.quantile[g]))
            return false;
    }
    for (size_t i = 0; i < core->row_count; i++)
        if (!(core->rows[i].run.run.time_s > 0) || isinf(core->rows[i].error))
            return false;
    return is_size(core->sums.up) && is_size(core->sums.down);
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
    if (m->core && !core_is_sane(m->core))
        return false;
    if (m->kind == MODEL_AUTO)
        return m->core != NULL;
    fitted_inputs(m->kind, &m->settings, &input_count);
    return m->kind < MODEL_LINEAR || m->regression.input_count == input_count;
}

enum error_code fitted_unpack(enum model_kind kind, const struct model_settings *settings,
                              const double *packed, size_t count,
                              struct fitted_model *out, struct arena *a,
                              struct error *err)
{
    struct fitted_model m;
    struct number_walk w = {.in = packed, .count = count, .a = a};

    fitted_from_combinations(NULL, 0, NULL, 0, settings, &m);
    m.kind = kind;
    walk_model(&w, &m);
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
