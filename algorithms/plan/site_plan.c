/* plan/site_plan.c - what planners of one cluster share. */
#include "algorithms/plan/site_plan.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- tables ---- */

static size_t cell_count(size_t phase_count)
{
    return phase_count * (phase_count + 1) / 2;
}

enum error_code plan_table_create(const struct plan_source *source, size_t phase_count,
                                  struct budget *budget, struct plan_table *table,
                                  struct arena *a, struct error *err)
{
    *table = (struct plan_table){
        .source = source,
        .phase_count = phase_count,
        .cells = NEW(a, struct plan_best, source ? cell_count(phase_count) : 0),
        .budget = budget,
        .last_schedule = SIZE_MAX,
        .err = err,
        .code = OK,
    };
    return OK;
}

void plan_table_forget(struct plan_table *table)
{
    memset(table->cells, 0, cell_count(table->phase_count) * sizeof(table->cells[0]));
    table->last_schedule = SIZE_MAX;
}

static struct plan_best *cell_of(const struct plan_table *table, size_t first,
                                 size_t last)
{
    assert(first >= 1 && first <= last && last <= table->phase_count);
    return &table->cells[last * (last - 1) / 2 + first - 1];
}

const struct plan_best *plan_table_known(const struct plan_table *table, size_t first,
                                         size_t last)
{
    const struct plan_best *cell = cell_of(table, first, last);

    return cell->time_s > 0 ? cell : NULL;
}

/* The better of the schedule of first..last and `best`, on the phases of `best`. */
static void seed_by(const struct plan_table *table, size_t first, size_t last,
                    size_t best_first, size_t best_last, struct plan_best *best)
{
    const struct plan_best *known = plan_table_known(table, first, last);
    double time_s;

    if (!known || !(known->time_s < HUGE_VAL))
        return;
    time_s = plan_table_time_on(table, known->schedule, best_first, best_last);
    if (time_s > 0 && time_s < HUGE_VAL && (best->time_s == 0 || time_s < best->time_s))
        *best = (struct plan_best){.schedule = known->schedule, .time_s = time_s};
}

static bool steps_done(const struct plan_table *table)
{
    return table->steps && table->steps->most &&
           table->steps->asked >= table->steps->most;
}

static const struct plan_best *look_up(struct plan_table *table, size_t first,
                                       size_t last, const struct plan_best *seed)
{
    struct plan_best *cell = cell_of(table, first, last), found = *seed;

    if (cell->time_s > 0)
        return cell;
    if (table->code != OK)
        return NULL;
    table->code =
        table->source->best(table->source->context, first, last, &found, table->err);
    if (table->code != OK)
        return NULL;
    if (found.clocked && table->calls && budget_spent(table->budget)) {
        table->cut = true; /* as if it had not been asked for: so runs can be repeated */
        return NULL;
    }
    if (table->steps) {
        table->steps->asked++;
        table->steps->clocked += found.clocked;
    }
    if (!(found.time_s > 0)) /* a sum of phases too short to tell from nothing */
        found.time_s = 1e-300;
    *cell = found;
    table->calls++;
    table->last_schedule = cell->schedule;
    table->unproven = table->unproven || !cell->proven;
    return cell;
}

const struct plan_best *plan_table_best(struct plan_table *table, size_t first,
                                        size_t last)
{
    static const struct plan_best nothing;

    if (!plan_table_known(table, first, last) && table->calls &&
        (steps_done(table) || budget_spent(table->budget))) {
        table->cut = true;
        return NULL;
    }
    return look_up(table, first, last, &nothing);
}

const struct plan_best *plan_table_seeded(struct plan_table *table, size_t first,
                                          size_t last)
{
    struct plan_best seed = {0};

    if (plan_table_known(table, first, last))
        return plan_table_known(table, first, last);
    if (table->calls && (steps_done(table) || budget_spent(table->budget))) {
        table->cut = true;
        return NULL;
    }
    if (first < last) {
        seed_by(table, first, last - 1, first, last, &seed);
        seed_by(table, first + 1, last, first, last, &seed);
    }
    return look_up(table, first, last, &seed);
}

const struct plan_best *plan_table_from(struct plan_table *table, size_t first,
                                        size_t last, size_t schedule)
{
    struct plan_best *cell = cell_of(table, first, last), seed = {.schedule = schedule};

    seed.time_s = plan_table_time_on(table, schedule, first, last);
    if (!(seed.time_s > 0 && seed.time_s < HUGE_VAL))
        return plan_table_best(table, first, last);
    if (cell->time_s > 0 || steps_done(table) ||
        (table->calls && budget_spent(table->budget))) {
        if (cell->time_s == 0 || seed.time_s < cell->time_s) {
            cell->schedule = schedule;
            cell->time_s = seed.time_s;
            cell->proven = false;
            table->unproven = true;
        }
        return cell;
    }
    return look_up(table, first, last, &seed);
}

bool plan_time_over(struct plan_table *table)
{
    bool over = budget_spent(table->budget);

    if (over && table->steps)
        table->steps->clocked++;
    return over;
}

double plan_table_time_on(const struct plan_table *table, size_t schedule, size_t first,
                          size_t last)
{
    return table->source->time_on(table->source->context, schedule, first, last);
}

double plan_table_keep_s(const struct plan_table *table, size_t schedule, size_t first,
                         size_t last)
{
    const struct plan_source *source = table->source;
    double time_s = source->time_on(source->context, schedule, first, last);

    return source->wait_s ? time_s - source->wait_s(source->context, schedule) : time_s;
}

double plan_table_bound(const struct plan_table *table, size_t first, size_t last)
{
    const struct plan_best *cell = cell_of(table, first, last);

    if (cell->time_s > 0 && cell->proven)
        return cell->time_s;
    if (table->source->bound)
        return fmax(cell->bound_s,
                    table->source->bound(table->source->context, first, last,
                                         cell->time_s > 0 ? cell->time_s : HUGE_VAL));
    return cell->bound_s;
}

/* ---- work ---- */

void plan_work_create(size_t phase_count, size_t population, struct plan_work *work,
                      struct arena *a)
{
    *work = (struct plan_work){
        .phase_count = phase_count,
        .population = population,
        .pieces = NEW(a, struct plan_piece, phase_count),
        .least = NEW(a, double, phase_count + 1),
        .back = NEW(a, size_t, phase_count + 1),
        .marks = NEW(a, bool, phase_count),
        .best_marks = NEW(a, bool, phase_count),
        .genes = NEW(a, bool, 2 * population * phase_count),
        .fitness = NEW(a, double, 2 * population),
        .order = NEW(a, size_t, 2 * population),
        .order_copy = NEW(a, size_t, 2 * population),
        .is_near = NEW(a, bool, phase_count + 1),
        .distance = NEW(a, size_t, phase_count + 1),
        .numbers = NEW(a, size_t, phase_count + 1),
        .kept = NEW(a, bool, population *phase_count),
        .kept_fitness = NEW(a, double, population),
    };
}

/* ---- answers ---- */

bool plan_marks_worth(const struct plan_site_in *in, const bool *marks,
                      struct plan_worth *worth)
{
    struct plan_worth sum = {0};
    size_t from = in->first;

    for (size_t k = in->first; k <= in->last; k++) {
        const struct plan_best *best;

        if (k < in->last && !marks[k - in->first])
            continue;
        best = plan_table_best(in->table, from, k);
        if (!best)
            return false;
        sum.total_s += best->time_s + (sum.interval_count ? in->cost_s : 0);
        sum.interval_count++;
        if (!plan_long_enough(in, best->time_s)) {
            sum.invalid_count++;
            sum.missing_s += in->option[PLAN_MIN_INTERVAL] - best->time_s;
        }
        from = k + 1;
    }
    *worth = sum;
    return true;
}

enum error_code plan_marks_answer(const struct plan_site_in *in, const bool *marks,
                                  struct plan_site_out *out)
{
    struct plan_piece *pieces = in->work->pieces;
    size_t from = in->first, count = 0;

    for (size_t k = in->first; k <= in->last; k++) {
        const struct plan_best *best;

        if (k < in->last && !marks[k - in->first])
            continue;
        best = plan_table_best(in->table, from, k);
        if (!best)
            return plan_pieces_answer(in, count, true, out);
        pieces[count++] = (struct plan_piece){from, k, best->schedule, best->time_s};
        from = k + 1;
    }
    return plan_pieces_answer(in, count, false, out);
}

/* The phases from..in->last in one piece, whatever is known of them. */
static struct plan_piece rest_of(const struct plan_site_in *in, size_t from)
{
    struct plan_table *table = in->table;
    const struct plan_best *best = plan_table_best(table, from, in->last);
    struct plan_piece rest = {from, in->last, table->last_schedule, HUGE_VAL};

    if (best) {
        rest.schedule = best->schedule;
        rest.time_s = best->time_s;
    } else if (table->last_schedule != SIZE_MAX) {
        rest.time_s = plan_table_time_on(table, rest.schedule, from, in->last);
    }
    return rest;
}

enum error_code plan_pieces_answer(const struct plan_site_in *in, size_t count, bool cut,
                                   struct plan_site_out *out)
{
    struct plan_piece *pieces = in->work->pieces;
    size_t end = count ? pieces[count - 1].last : in->first - 1;
    const struct plan_best *whole = NULL;
    double total_s = 0;
    bool valid = true;

    if (in->table->code != OK)
        return in->table->code;
    if (end < in->last)
        pieces[count++] = rest_of(in, end + 1);
    if (in->table->code != OK)
        return in->table->code;
    for (size_t i = 0; i < count; i++) {
        total_s += pieces[i].time_s + (i ? in->cost_s : 0);
        valid = valid && plan_long_enough(in, pieces[i].time_s);
    }
    if (cut && count > 1)
        whole = plan_table_best(in->table, in->first, in->last);
    if (whole && whole->time_s < total_s) { /* the part built was a detour */
        pieces[0] =
            (struct plan_piece){in->first, in->last, whole->schedule, whole->time_s};
        count = 1;
        total_s = whole->time_s;
        valid = plan_long_enough(in, total_s);
    }
    *out = (struct plan_site_out){pieces, count, total_s, valid, cut};
    return OK;
}
