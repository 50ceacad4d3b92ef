/* fitted/core.c - a model learns run by run: outliers, changes, trainings. */
#include "models/fitted/core.h"

#include "models/base/order.h"

#include <math.h>
#include <string.h>

enum {
    CHANGE_LEAST = 2,    /* runs of a new level */
    ASSESSED_LEAST = 5,  /* runs that are known before one is assessed */
    NEW_COUNTS = 5,      /* a run in unknown territory counts as so many */
    CHANGE_NOTED = 20,   /* runs after a change that it is told of */
    LATEST_ERRORS = 10,  /* whose mean is compared with that */
    EARLIER_ERRORS = 50, /* of the ones before */
    EARLIER_LEAST = 10,
    LATEST_OUTLIERS = 3, /* of LATEST_ERRORS */
    LATEST_RUNS = 200,
    TRAINING_SHARE = 20, /* trained when a 20th of the runs is new */
    STARTING_SHARE = 2,  /* likewise while the first runs are learnt */
};
#define UNKNOWN_DISTANCE  1.5
#define ERROR_HIGH_RATIO  2.0
#define ERROR_HIGH_LEAST  0.15
#define OUTLIERS_FREQUENT 0.02
#define ASSESSED_LEVEL    0.6827 /* of an interval whose half is s */

const char *const core_note_names[] = {
#define X(symbol, name, doc) #name,
    CORE_NOTES(X)
#undef X
        NULL,
};
const char *const core_note_texts[] = {
#define X(symbol, name, doc) doc,
    CORE_NOTES(X)
#undef X
        NULL,
};

static struct perf_query query_of(const struct perf_sample *run)
{
    return (struct perf_query){run->problem_size, run->processors,
                               run->cpu_available_ratio, run->bandwidth_mbps};
}

static size_t window_count(const struct fitted_core *core)
{
    return core->row_count - core->old_count;
}

static const struct drift_rule *rule_of(const struct fitted_model *m)
{
    return &m->settings.robustness;
}

/* ---- rows ---- */

static void append(struct fitted_core *core, const struct fitted_run *run, double error,
                   struct arena *a)
{
    if (core->row_count == core->row_room) {
        size_t room = 2 * core->row_room + 64;

        core->rows = GROW(a, core->rows, struct fitted_row, core->row_count, room);
        core->row_room = room;
    }
    core->rows[core->row_count++] = (struct fitted_row){.run = *run, .error = error};
}

static void drop_rows(struct fitted_core *core, size_t first, size_t count)
{
    memmove(core->rows + first, core->rows + first + count,
            (core->row_count - first - count) * sizeof(*core->rows));
    core->row_count -= count;
}

/* Runs that started so long before the newest are too old: those of before a change go,
 * and how many of the first of the window are. */
static size_t find_outdated(struct fitted_core *core, double window_s)
{
    double oldest = -HUGE_VAL;
    size_t count = 0;

    if (!(window_s > 0))
        return 0;
    for (size_t i = core->old_count; i < core->row_count; i++)
        oldest = fmax(oldest, core->rows[i].run.started_at_s - window_s);
    while (count < core->old_count && core->rows[count].run.started_at_s < oldest)
        count++;
    drop_rows(core, 0, count);
    core->old_count -= count;
    for (count = core->old_count;
         count < core->row_count && core->rows[count].run.started_at_s < oldest;)
        count++;
    return count - core->old_count;
}

/* Runs of before an instant, which has been set since. */
static void drop_earlier(struct fitted_core *core, double since_s)
{
    size_t kept = 0, old = 0, first = core->old_count;

    for (size_t i = 0; i < core->row_count; i++) {
        if (core->rows[i].run.started_at_s < since_s)
            continue;
        old += i < first;
        core->rows[kept++] = core->rows[i];
    }
    if (kept == core->row_count)
        return;
    core->row_count = kept;
    core->old_count = old;
    core->sums = (struct drift_sums){.up_start = kept - old, .down_start = kept - old};
    core_spots_reset(core);
}

/* The oldest runs leave the window; the sums go on. */
static void limit_window(struct fitted_core *core, const struct model_settings *settings)
{
    size_t most = (size_t)settings->robustness.window_runs, count = window_count(core);
    size_t over = find_outdated(core, settings->window_s);

    if (over == 0 && count <= most)
        return;
    if (count > most + over)
        over = count - most;
    drop_rows(core, core->old_count, over);
    core->sums.up_start -= core->sums.up_start < over ? core->sums.up_start : over;
    core->sums.down_start -= core->sums.down_start < over ? core->sums.down_start : over;
    core_spots_shift(core, over);
}

void core_narrow(struct fitted_model *m)
{
    drop_earlier(m->core, m->settings.since_s);
    limit_window(m->core, &m->settings);
}

void core_create_empty(struct fitted_model *m, struct arena *a)
{
    const struct perf_range none = {(double)NAN, (double)NAN};

    m->core = NEW(a, struct fitted_core, 1);
    for (size_t i = 0; i < FITTED_INPUTS_MAX; i++)
        m->core->range[i] = none;
    m->core->change_factor = m->core->change_at_s = (double)NAN;
}

void core_create(struct fitted_model *m, const struct fitted_run *runs,
                 const enum fitted_verdict *verdict, size_t count, struct arena *a)
{
    core_create_empty(m, a);
    for (size_t i = 0; i < count; i++) {
        if (verdict[i] != RUN_FIT && (verdict[i] != RUN_OUTLIER || runs[i].run.outlier))
            continue;
        append(m->core, &runs[i], (double)NAN, a);
        m->core->rows[m->core->row_count - 1].is_outlier = verdict[i] == RUN_OUTLIER;
    }
    limit_window(m->core, &m->settings);
    m->core->sums.up_start = m->core->sums.down_start = m->core->row_count;
}

/* ---- what is told of it ---- */

static unsigned outlier_notes(const struct fitted_core *core)
{
    size_t first = core->row_count > LATEST_RUNS ? core->row_count - LATEST_RUNS : 0;
    size_t outliers = 0;

    for (size_t i = first; i < core->row_count; i++)
        outliers += core->rows[i].is_outlier;
    return (double)outliers > OUTLIERS_FREQUENT * (double)(core->row_count - first)
               ? 1u << CORE_BIT_OUTLIERS
               : 0;
}

/* Are the latest runs predicted much worse than those before? */
static unsigned error_notes(const struct fitted_core *core)
{
    double latest = 0, earlier = 0;
    size_t latest_count = 0, earlier_count = 0, outliers = 0, looked_at = 0;

    for (size_t i = core->row_count; i-- > 0 && earlier_count < EARLIER_ERRORS;) {
        const struct fitted_row *row = &core->rows[i];

        if (isnan(row->error))
            continue;
        outliers += looked_at++ < LATEST_ERRORS && row->is_outlier;
        if (row->is_outlier)
            continue;
        if (latest_count < LATEST_ERRORS) {
            latest += fabs(row->error);
            latest_count++;
        } else {
            earlier += fabs(row->error);
            earlier_count++;
        }
    }
    latest /= LATEST_ERRORS;
    if (outliers >= LATEST_OUTLIERS ||
        (earlier_count >= EARLIER_LEAST && latest > ERROR_HIGH_LEAST &&
         latest > ERROR_HIGH_RATIO * earlier / (double)earlier_count))
        return 1u << CORE_BIT_ERROR_HIGH;
    return 0;
}

static void take_notes(struct fitted_core *core)
{
    core->notes = outlier_notes(core) | error_notes(core);
    if (core->change_count > 0 && core->runs_since_change < CHANGE_NOTED)
        core->notes |= 1u << CORE_BIT_CHANGED;
    if (core->row_count < ASSESSED_LEAST)
        core->notes |= 1u << CORE_BIT_FEW;
}

/* ---- training ---- */

/* Lists of combinations that live in the scratch arena move to where they stay. */
static void keep_lists(struct fitted_model *m, struct arena *a)
{
    struct perf_model_set copy;

    if (m->kind != MODEL_COMPREHENSIVE)
        return;
    perf_set_copy(&m->set, &copy, a);
    m->set = copy;
}

static size_t count_outliers(const struct fitted_core *core)
{
    size_t count = 0;

    for (size_t i = 0; i < core->row_count; i++)
        count += core->rows[i].is_outlier;
    return count;
}

static enum error_code measure(struct fitted_model *m, const struct fitted_room *room,
                               struct error *err)
{
    arena_reset(room->scratch);
    TRY(core_measure(m, room->a, room->scratch, room->budget, err));
    take_notes(m->core);
    return OK;
}

static enum error_code fit_rows(const struct fitted_model *m, enum core_rows which,
                                const struct fitted_room *room,
                                struct fitted_model *trained, struct error *err)
{
    struct fitted_run *runs;
    size_t count;

    arena_reset(room->scratch);
    runs = core_training_rows(m->core, which, &count, room->scratch);
    return fitted_fit(m->kind, &m->settings, runs, count, room->budget, trained, NULL,
                      room->scratch, err);
}

/* Mean error on the runs that it was fitted to. */
static double fit_error_pct(const struct ensemble *fitted,
                            const struct ensemble_data *data, struct budget *budget)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < data->run_count; i++) {
        struct ensemble_answer answer;

        if (!(data->run[i].weight > 0))
            continue;
        budget_step(budget, 500);
        ensemble_predict(fitted, data->run[i].value, &answer);
        sum += 100 * fabs(expm1(answer.y - data->run[i].y));
        count++;
    }
    return count > 0 ? sum / (double)count : (double)NAN;
}

/* Kind auto: fitted to all rows, those of before a change with less weight, and its
 * errors noted. */
static void train_auto(struct fitted_model *m, const struct fitted_room *room)
{
    struct fitted_core *core = m->core;
    struct ensemble_run *runs;
    struct ensemble fitted;
    size_t order[ENSEMBLE_INPUTS_MAX];
    struct ensemble_data data = {.order = order,
                                 .size = ENSEMBLE_PROBLEM_SIZE,
                                 .processors = ENSEMBLE_PROCESSORS,
                                 .has_terms = true,
                                 .before = m->ensemble};
    double old_weight = drift_old_weight(window_count(core)), *packed;
    bool with_outliers = outlier_notes(core) != 0;
    const double *weight;

    if (m->next_effects) {
        m->effects = m->next_effects;
        m->effect_count = m->next_effect_count;
    }
    arena_reset(room->scratch);
    ensemble_names_order(m->names, order, &data.input_count);
    data.run = runs = NEW(room->scratch, struct ensemble_run, core->row_count + 1);
    weight = core_spot_weights(m, room->budget, room->scratch);
    for (size_t i = 0; i < core->row_count; i++) {
        const struct fitted_row *row = &core->rows[i];

        if ((row->is_outlier && !with_outliers) || !(weight[i] > 0))
            continue;
        runs[data.run_count++] = (struct ensemble_run){
            .value = row->run.inputs,
            .y = log(row->run.run.time_s) - fitted_effect_of(m, row->run.inputs),
            .weight = row->is_outlier       ? 0
                      : i < core->old_count ? fmin(old_weight, weight[i])
                                            : weight[i],
            .is_bound = row->run.is_bound,
        };
    }
    ensemble_fit(&data, room->budget, &fitted, room->scratch);
    m->reason = fitted.run_count > 0 ? NULL : regression_reason_names[REGRESSION_NO_DATA];
    core_note_errors(m, &fitted, room->a);
    packed = NEW(room->scratch, double, ensemble_pack(&fitted, NULL));
    m->ensemble = NEW(room->a, struct ensemble, 1);
    if (!ensemble_unpack(packed, ensemble_pack(&fitted, packed), m->ensemble, room->a)) {
        m->ensemble = NULL;
        m->reason = regression_reason_names[REGRESSION_NOT_FINITE];
    }
    m->sample_count = fitted.run_count;
    m->fit_appe_pct = fit_error_pct(&fitted, &data, room->budget);
    core->since_training = core->since_measured = 0;
    core_interval(core, ASSESSED_LEVEL, &core->assess, room->scratch);
    take_notes(core);
}

enum error_code core_train(struct fitted_model *m, const struct fitted_room *room,
                           bool *done, const char **reason, struct error *err)
{
    struct fitted_model trained;

    if (m->kind == MODEL_AUTO) {
        train_auto(m, room);
        *reason = m->reason;
        *done = !m->reason;
        return OK;
    }
    TRY(fit_rows(m, CORE_ROWS_WEIGHED, room, &trained, err));
    /* Kinds that need many runs, of certain kinds, need those of before. */
    if (trained.reason && m->core->old_count > 0)
        TRY(fit_rows(m, CORE_ROWS_ALL_OLD, room, &trained, err));
    *reason = trained.reason;
    *done = !trained.reason;
    m->core->since_training = 0;
    if (trained.reason)
        return OK;
    fitted_keep_errors(m, &trained);
    trained.core = m->core;
    trained.outlier_count += count_outliers(m->core);
    trained.unusable_count = m->unusable_count;
    keep_lists(&trained, room->a);
    *m = trained;
    return measure(m, room, err);
}

static enum error_code reform(struct fitted_model *m, const struct fitted_room *room,
                              struct error *err)
{
    struct fitted_run *runs;
    size_t count;

    arena_reset(room->scratch);
    runs = core_training_rows(m->core, CORE_ROWS_WEIGHED, &count, room->scratch);
    TRY(fitted_reform(m, runs, count, room->budget, room->scratch, err));
    keep_lists(m, room->a);
    return measure(m, room, err);
}

/* ---- a change ---- */

/* Median of the errors of the runs since the change. */
static void centre_of(const struct fitted_core *core, size_t first, double *centre,
                      struct arena *scratch)
{
    double *error = NEW(scratch, double, core->row_count - first + 1);
    size_t count = 0;

    for (size_t i = first; i < core->row_count; i++)
        if (!isnan(core->rows[i].error))
            error[count++] = core->rows[i].error;
    *centre = sort_median(error, count);
}

/* The runs from `first` on are the new world; the last ones of before stay, as they
 * would have been in it. */
static void split(struct fitted_core *core, size_t first, double centre)
{
    size_t kept = 0, extra;

    for (size_t i = 0; i < first; i++) {
        if (core->rows[i].is_outlier)
            continue;
        core->rows[kept] = core->rows[i];
        core->rows[kept].error = (double)NAN;
        core->rows[kept++].run.run.time_s *= exp(centre);
    }
    extra = kept > DRIFT_OLD_MAX ? kept - DRIFT_OLD_MAX : 0;
    drop_rows(core, kept, first - kept);
    drop_rows(core, 0, extra);
    core->old_count = kept - extra;
    for (size_t i = core->old_count; i < core->row_count; i++)
        core->rows[i].is_outlier = false;
    for (size_t g = 0; g < LOG_GROUP_COUNT; g++)
        core->recent[g].count = core->recent[g].next = 0;
    core->sums = (struct drift_sums){0, 0, window_count(core), window_count(core)};
    core_spots_reset(core);
    core->change_count++;
    core->change_scope = CORE_SCOPE_ALL;
    core->change_factor = exp(centre);
    core->change_at_s = core->rows[core->old_count].run.started_at_s;
    core->change_earlier_count = core->old_count;
    core->runs_since_change = window_count(core);
}

/* Deviation: a sum may have begun to grow by chance before the change did. The first runs
 * whose errors are nearer to none than to the new level are of before. */
static void find_change(const struct fitted_core *core, size_t *first, double *centre,
                        struct arena *scratch)
{
    centre_of(core, *first, centre, scratch);
    while (*first + CHANGE_LEAST < core->row_count && !isnan(core->rows[*first].error) &&
           fabs(core->rows[*first].error) < fabs(core->rows[*first].error - *centre)) {
        ++*first;
        centre_of(core, *first, centre, scratch);
    }
}

/* Runs from `first` on that were taken in: judged by what was learnt before the change.
 */
static size_t assessed_since(const struct fitted_core *core, size_t first)
{
    size_t count = 0;

    for (size_t i = first; i + 1 < core->row_count; i++)
        count += !core->rows[i].is_outlier;
    return count;
}

static enum error_code change(struct fitted_model *m, size_t start,
                              const struct fitted_room *room, struct core_update *out,
                              struct error *err)
{
    struct fitted_core *core = m->core;
    size_t first = core->old_count + start;
    const char *reason;
    double centre = 0;

    arena_reset(room->scratch);
    find_change(core, &first, &centre, room->scratch);
    if (m->ensemble)
        ensemble_forget(m->ensemble, assessed_since(core, first));
    split(core, first, centre);
    out->taken_back = window_count(core);
    return core_train(m, room, &out->trained, &reason, err);
}

/* Of one class or site, of which all runs together did not tell. */
static enum error_code change_spot(struct fitted_model *m, size_t start,
                                   const struct fitted_room *room,
                                   struct core_update *out, struct error *err)
{
    struct fitted_core *core = m->core;
    const char *reason;

    arena_reset(room->scratch);
    out->taken_back =
        core_spot_split(m, &out->spot, core->old_count + start, room->scratch);
    core->sums = (struct drift_sums){0, 0, window_count(core), window_count(core)};
    core_spots_reset(core);
    return core_train(m, room, &out->trained, &reason, err);
}

/* ---- one run ---- */

/* A run before it is learnt. */
struct assessed {
    double predicted_s, error; /* NAN: not predicted; not assessed */
    double scale;              /* s */
    double unit;               /* half of the interval at q = 1 */
    struct core_place place;
    bool is_unknown; /* in territory where nothing was seen */
};

static void assess_auto(const struct fitted_model *m, const struct fitted_run *run,
                        struct assessed *out)
{
    const struct fitted_core *core = m->core;
    struct ensemble_answer answer;

    if (m->reason || !m->ensemble)
        return;
    ensemble_predict(m->ensemble, run->inputs, &answer);
    out->is_unknown = answer.is_unknown;
    if (isnan(answer.y))
        return;
    answer.y += fitted_effect_of(m, run->inputs);
    out->predicted_s = exp(answer.y);
    out->place.group = answer.group;
    if (core->row_count < ASSESSED_LEAST || answer.is_unknown || !core->assess.by_group)
        return;
    out->error = log(run->run.time_s) - answer.y;
    out->unit = log_half(1, core->assess.scale[answer.group], answer.spread,
                         answer.distance, answer.runs, 1);
    out->scale =
        log_half(core->assess.quantile[answer.group], core->assess.scale[answer.group],
                 answer.spread, answer.distance, answer.runs, answer.constant_distance);
}

static void assess(const struct fitted_model *m, const struct fitted_run *run,
                   struct assessed *out)
{
    const struct fitted_core *core = m->core;
    const struct fitted_interval *interval = &core->assess;
    struct perf_query query = query_of(&run->run);
    struct core_place *place = &out->place;
    struct fitted_prediction p;

    *out = (struct assessed){.predicted_s = (double)NAN, .error = (double)NAN};
    if (m->kind == MODEL_AUTO) {
        assess_auto(m, run, out);
        return;
    }
    core_place_of(m, &query, run->inputs, place);
    out->is_unknown = place->group == LOG_OUTSIDE && place->distance > UNKNOWN_DISTANCE;
    if (m->reason)
        return;
    fitted_predict(m, &query, run->inputs, NULL, &p);
    out->predicted_s = p.time_s;
    if (p.reason || core->row_count < ASSESSED_LEAST || out->is_unknown ||
        !interval->by_group)
        return;
    out->error = log(run->run.time_s / p.time_s);
    out->unit =
        log_half(1, interval->scale[place->group], 0, place->distance, place->runs, 1);
    out->scale = log_half(interval->quantile[place->group], interval->scale[place->group],
                          0, place->distance, place->runs, place->constant_distance);
}

/* Does the kind take in a run without being trained anew? */
static bool refines(const struct fitted_model *m)
{
    if (m->kind == MODEL_AUTO)
        return false;
    return m->kind < MODEL_LINEAR || m->regression.statistic_count > 0;
}

bool core_lags(const struct fitted_model *m)
{
    /* auto: what a run says of its configuration counts at once; the rest can wait */
    return m->kind != MODEL_AUTO && !refines(m) && m->core->since_training > 0;
}

static size_t at_least_one(size_t count)
{
    return count > 0 ? count : 1;
}

static bool training_is_due(const struct fitted_model *m, bool starting)
{
    const struct fitted_core *core = m->core;
    size_t n = window_count(core);

    if (!m->reason && refines(m) && core->old_count == 0 && !starting)
        return false;
    return core->since_training >=
           at_least_one(
               n / (starting && core->old_count == 0 ? STARTING_SHARE : TRAINING_SHARE));
}

/* All runs as samples, for a list that is ranked by its errors on them. */
static void core_samples(const struct fitted_core *core, const struct perf_sample **rows,
                         size_t *count, const struct fitted_room *room)
{
    struct perf_sample *list;

    arena_reset(room->scratch);
    list = NEW(room->scratch, struct perf_sample, core->row_count + 1);
    for (size_t i = 0; i < core->row_count; i++) {
        list[i] = core->rows[i].run.run;
        list[i].outlier = core->rows[i].is_outlier;
    }
    *rows = list;
    *count = core->row_count;
}

/* Kind auto: a further run of its configuration. */
static void see_auto(struct fitted_model *m, const struct fitted_run *run,
                     const struct assessed *assessed, struct arena *a)
{
    if (!run->is_bound)
        fitted_note_error(m, run->run.time_s, assessed->predicted_s);
    fitted_see(&m->seen, &run->run);
    m->sample_count++;
    if (m->ensemble && !run->is_bound)
        ensemble_note(m->ensemble, run->inputs,
                      log(run->run.time_s) - fitted_effect_of(m, run->inputs));
    if (m->ensemble)
        ensemble_see(m->ensemble, run->inputs,
                     log(run->run.time_s) - fitted_effect_of(m, run->inputs), a);
}

/* The run is no outlier: it is taken in, and what is due is done. */
static enum error_code take_in(struct fitted_model *m, const struct fitted_run *run,
                               const struct assessed *assessed, bool starting,
                               const struct fitted_room *room, struct core_update *out,
                               struct error *err)
{
    struct fitted_core *core = m->core;
    struct fitted_update update = {.verdict = RUN_FIT};
    const struct perf_sample *rows = NULL;
    size_t row_count = 0;
    const char *reason;
    bool due = false;

    if (m->kind == MODEL_AUTO) {
        see_auto(m, run, assessed, room->a);
    } else if (!m->reason) {
        if (m->kind == MODEL_COMPREHENSIVE && m->set.options.by_appe)
            core_samples(core, &rows, &row_count, room);
        fitted_learn(m, run, rows, row_count, &update);
        /* A regression that cannot take in a run which is none is fitted anew. */
        due = m->kind >= MODEL_LINEAR && update.verdict == RUN_OUTLIER;
        due = due || (m->kind < MODEL_LINEAR && update.train_due);
        if (m->kind < MODEL_LINEAR)
            out->verdict = update.verdict;
    }
    if (m->kind != MODEL_AUTO)
        core_see(m, run, room->a);
    if (core->old_count > 0 && window_count(core) >= DRIFT_OLD_UNTIL) {
        drop_rows(core, 0, core->old_count);
        core->old_count = 0;
        due = true;
    }
    if (due || training_is_due(m, starting))
        return core_train(m, room, &out->trained, &reason, err);
    out->reformed = update.reform_due;
    if (update.reform_due)
        return reform(m, room, err);
    if (m->kind != MODEL_AUTO &&
        core->since_measured >= at_least_one(window_count(core) / TRAINING_SHARE))
        return measure(m, room, err);
    return OK;
}

/* Can the kind take the run at all? */
static bool is_usable(const struct fitted_model *m, const struct fitted_run *run)
{
    size_t input_count;

    if (m->kind == MODEL_AUTO)
        return isfinite(run->run.time_s) && run->run.time_s > 0;
    if (m->kind < MODEL_LINEAR)
        return !perf_sample_fault(&run->run);
    fitted_inputs(m->kind, &m->settings, &input_count);
    for (size_t k = 0; k < input_count; k++)
        if (!isfinite(run->inputs[k]))
            return false;
    return isfinite(run->run.time_s) && run->run.time_s > 0;
}

enum error_code core_learn(struct fitted_model *m, const struct fitted_run *run,
                           bool starting, const struct fitted_room *room,
                           struct core_update *out, struct error *err)
{
    struct fitted_core *core = m->core;
    enum drift_verdict verdict = DRIFT_NONE;
    struct fitted_run bound;
    size_t index = window_count(core), start = 0, spot_start = 0;
    struct assessed assessed;
    bool spot_changed = false;

    *out = (struct core_update){.predicted_s = (double)NAN, .verdict = RUN_FIT};
    if (run->started_at_s < m->settings.since_s) {
        out->verdict = RUN_LEFT_OUT;
        return OK;
    }
    if (!is_usable(m, run) || run->run.outlier) {
        out->verdict = is_usable(m, run) ? RUN_OUTLIER : RUN_UNUSABLE;
        m->outlier_count += out->verdict == RUN_OUTLIER;
        m->unusable_count += out->verdict == RUN_UNUSABLE;
        return OK;
    }
    assess(m, run, &assessed);
    out->predicted_s = assessed.predicted_s;
    bound = *run;
    if (run->is_bound) { /* it was at least that: as good as what is expected */
        bound.run.time_s = fmax(run->run.time_s, assessed.predicted_s);
        assessed.error = (double)NAN;
        run = &bound;
    }
    append(core, run, assessed.error, room->a);
    core->since_training += assessed.is_unknown ? NEW_COUNTS : 1;
    core->since_measured += assessed.is_unknown ? NEW_COUNTS : 1;
    core->runs_since_change++;
    if (!isnan(assessed.error)) {
        verdict = drift_add(&core->sums, rule_of(m), index, assessed.error,
                            assessed.scale, &start);
        spot_changed = core_spots_add(m, run, index, assessed.error, assessed.scale,
                                      &out->spot, &spot_start);
    }
    if (verdict == DRIFT_NONE && !isnan(assessed.error) && assessed.unit > 0)
        log_recent_add(&core->recent[assessed.place.group],
                       fabs(assessed.error) / assessed.unit);
    if (verdict == DRIFT_NONE) {
        TRY(take_in(m, run, &assessed, starting, room, out, err));
    } else {
        fitted_note_error(m, run->run.time_s, assessed.predicted_s);
        out->verdict = verdict == DRIFT_OUTLIER ? RUN_OUTLIER : RUN_FIT;
        core->rows[core->row_count - 1].is_outlier = verdict == DRIFT_OUTLIER;
        m->outlier_count += verdict == DRIFT_OUTLIER;
        if (verdict == DRIFT_CHANGE)
            TRY(change(m, start, room, out, err));
    }
    if (verdict == DRIFT_CHANGE)
        out->spot = (struct core_spot){CORE_SCOPE_ALL, 0};
    else if (spot_changed)
        TRY(change_spot(m, spot_start, room, out, err));
    if (out->taken_back > 0)
        out->verdict = RUN_FIT;
    limit_window(core, &m->settings);
    take_notes(core);
    return OK;
}
