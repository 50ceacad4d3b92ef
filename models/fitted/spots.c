/* fitted/spots.c - did one machine class or one site change, while the others stayed?
 *
 * Each has a pair of sums of its own, fed by its runs alone, with a limit of 1.4 times
 * that of all runs: with the presets 7, so it is noticed at the fourth clamped error. Its
 * runs of before then count as if they were of the new level, and less the more runs of
 * it have come since; those of others stay as they are.
 *
 * Source: spec learning.md 16, 1. All sums begin anew after such a change: what they held
 * was of times that are explained now.
 */
#include "models/fitted/core.h"

#include "models/base/order.h"

#include <math.h>
#include <string.h>

#define LIMIT_RATIO 1.4 /* over the limit of all runs */
enum { LEAST_RUNS = 2 /* of a new level */ };

const char *const core_scope_names[] = {
#define X(symbol, name, doc) #name,
    CORE_SCOPES(X)
#undef X
        NULL,
};

/* The run's class or site; NAN: it has none. */
static double key_of(const struct fitted_model *m, enum core_scope scope,
                     const struct fitted_run *run)
{
    size_t column = ensemble_names_find(m->names, core_scope_names[scope]);

    return column < ENSEMBLE_INPUTS_MAX ? run->inputs[column] : (double)NAN;
}

bool core_spot_has(const struct fitted_model *m, const struct core_spot *spot,
                   const struct fitted_run *run)
{
    double key;

    if (spot->scope == CORE_SCOPE_ALL)
        return true;
    key = key_of(m, spot->scope, run);
    return key >= spot->key && key <= spot->key;
}

/* Its sums, as the last of the list; those of the one that was seen least lately make
 * room for them. */
static struct drift_sums *sums_of(struct core_spots *spots, double key, size_t index)
{
    struct core_spot_sums found = {key, {0, 0, index, index}};
    size_t at = 0;

    while (at < spots->count &&
           !(spots->list[at].key <= key && spots->list[at].key >= key))
        at++;
    if (at < spots->count)
        found = spots->list[at];
    else if (spots->count < CORE_SPOTS_MAX)
        spots->count++;
    else
        at = 0;
    memmove(spots->list + at, spots->list + at + 1,
            (spots->count - 1 > at ? spots->count - 1 - at : 0) * sizeof(found));
    spots->list[spots->count - 1] = found;
    return &spots->list[spots->count - 1].sums;
}

bool core_spots_add(struct fitted_model *m, const struct fitted_run *run, size_t index,
                    double error, double scale, struct core_spot *changed, size_t *start)
{
    struct drift_rule rule = m->settings.robustness;
    bool found = false;

    if (m->kind != MODEL_AUTO)
        return false;
    rule.cusum_limit *= LIMIT_RATIO;
    for (size_t s = CORE_SCOPE_ALL + 1; s < CORE_SCOPE_COUNT; s++) {
        double key = key_of(m, (enum core_scope)s, run);
        size_t first = 0;

        if (isnan(key) ||
            drift_add(sums_of(&m->core->spots[s], key, index), &rule, index, error, scale,
                      &first) != DRIFT_CHANGE ||
            found)
            continue;
        found = true;
        *changed = (struct core_spot){(enum core_scope)s, key};
        *start = first;
    }
    return found;
}

void core_spots_reset(struct fitted_core *core)
{
    for (size_t s = 0; s < CORE_SCOPE_COUNT; s++)
        core->spots[s].count = 0;
}

/* The first runs of the window left it. */
void core_spots_shift(struct fitted_core *core, size_t count)
{
    for (size_t s = 0; s < CORE_SCOPE_COUNT; s++)
        for (size_t i = 0; i < core->spots[s].count; i++) {
            struct drift_sums *sums = &core->spots[s].list[i].sums;

            sums->up_start -= sums->up_start < count ? sums->up_start : count;
            sums->down_start -= sums->down_start < count ? sums->down_start : count;
        }
}

/* Median of the errors of these rows. */
static double centre_of(const struct fitted_core *core, const size_t *rows, size_t count,
                        double *room)
{
    size_t known = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(core->rows[rows[i]].error))
            room[known++] = core->rows[rows[i]].error;
    return known > 0 ? sort_median(room, known) : 0;
}

size_t core_spot_split(struct fitted_model *m, const struct core_spot *spot, size_t first,
                       struct arena *scratch)
{
    struct fitted_core *core = m->core;
    size_t *rows = NEW(scratch, size_t, core->row_count + 1), count = 0, at = 0;
    double *room = NEW(scratch, double, core->row_count + 1), centre;
    size_t earlier = 0;

    for (size_t i = first; i < core->row_count; i++)
        if (core_spot_has(m, spot, &core->rows[i].run))
            rows[count++] = i;
    centre = centre_of(core, rows, count, room);
    /* as of all runs: the sum may have begun to grow by chance before */
    while (at + LEAST_RUNS < count && !isnan(core->rows[rows[at]].error) &&
           fabs(core->rows[rows[at]].error) < fabs(core->rows[rows[at]].error - centre)) {
        at++;
        centre = centre_of(core, rows + at, count - at, room);
    }
    for (size_t i = at; i < count; i++)
        core->rows[rows[i]].is_outlier = false;
    for (size_t i = 0; at < count && i < rows[at]; i++) {
        struct fitted_row *row = &core->rows[i];

        if (!core_spot_has(m, spot, &row->run))
            continue;
        row->run.run.time_s *= exp(centre);
        row->error = (double)NAN;
        row->is_before[spot->scope] = true;
        earlier += !row->is_outlier;
    }
    core->change_count++;
    core->change_scope = spot->scope;
    core->change_factor = exp(centre);
    core->change_at_s = at < count ? core->rows[rows[at]].run.started_at_s : (double)NAN;
    core->change_earlier_count = earlier;
    core->runs_since_change = at < count ? core->row_count - rows[at] : 0;
    return count - at;
}

/* How many runs of each class or site have come since it changed. */
struct spot_runs {
    double *key;
    size_t *runs, count;
};

static size_t place_in(const struct spot_runs *list, double key)
{
    size_t i = 0;

    while (i < list->count && !(list->key[i] <= key && list->key[i] >= key))
        i++;
    return i;
}

static void count_since(const struct fitted_model *m, enum core_scope scope,
                        struct spot_runs *out, struct budget *budget, struct arena *a)
{
    const struct fitted_core *core = m->core;

    *out = (struct spot_runs){NULL, NULL, 0};
    for (size_t i = 0; i < core->row_count; i++)
        out->count += core->rows[i].is_before[scope];
    out->key = NEW(a, double, out->count + 1);
    out->runs = NEW(a, size_t, out->count + 1);
    out->count = 0;
    for (size_t i = 0; i < core->row_count; i++) {
        double key = key_of(m, scope, &core->rows[i].run);

        if (!core->rows[i].is_before[scope] || isnan(key))
            continue;
        budget_step(budget, out->count);
        if (place_in(out, key) == out->count)
            out->key[out->count++] = key;
    }
    for (size_t i = 0; out->count > 0 && i < core->row_count; i++) {
        size_t at = place_in(out, key_of(m, scope, &core->rows[i].run));

        budget_step(budget, out->count);
        if (at < out->count && !core->rows[i].is_before[scope])
            out->runs[at]++;
    }
}

double *core_spot_weights(const struct fitted_model *m, struct budget *budget,
                          struct arena *a)
{
    const struct fitted_core *core = m->core;
    double *weight = NEW(a, double, core->row_count + 1);

    for (size_t i = 0; i < core->row_count; i++)
        weight[i] = 1;
    for (size_t s = CORE_SCOPE_ALL + 1; s < CORE_SCOPE_COUNT; s++) {
        struct spot_runs since;

        count_since(m, (enum core_scope)s, &since, budget, a);
        for (size_t i = 0; since.count > 0 && i < core->row_count; i++) {
            size_t at =
                place_in(&since, key_of(m, (enum core_scope)s, &core->rows[i].run));

            budget_step(budget, since.count);
            if (core->rows[i].is_before[s] && at < since.count)
                weight[i] = fmin(weight[i], drift_old_weight(since.runs[at]));
        }
    }
    return weight;
}
