/* plan/grid.c - one plan out of the plans of several clusters.
 *
 * Interval by interval (the source's MCRP): the least first interval of the clusters'
 * own plans that is valid on all of them; then three ways of going on are compared,
 * with the costs of moving: keep the schedule, other machines of the same cluster, the
 * best cluster.
 *
 * Source: 003_a5f9349f46eae656.txt 5.4, figure 5.6 [L1911-1962]; spec
 * rescheduling-plans.md 4.
 * Deviation: figure and text differ; as the text says, an interval must be valid on all
 * clusters and each round plans the phases left. A move inside the best cluster costs
 * what moves inside it do. A length for the case that no first interval is valid
 * everywhere is not in the source: the longest, extended until it is.
 */
#include "algorithms/plan/plan_run.h"

#include <math.h>
#include <string.h>

enum error_code plan_grid_create(const struct plan_in *in, plan_site_fn *planner,
                                 const double *param, struct plan_grid *grid,
                                 struct arena *a, struct error *err)
{
    size_t population = (size_t)param[PLAN_POPULATION];

    *grid = (struct plan_grid){
        .in = in,
        .tables = NEW(a, struct plan_table, in->site_count),
        .planner = planner,
        .param = param,
        .work = NEW(a, struct plan_work, 1),
        .steps = NEW(a, struct plan_steps, 1),
        .ends = NEW(a, size_t, in->site_count),
    };
    grid->steps->most = (uint64_t)param[PLAN_MAX_STEPS];
    for (size_t s = 0; s < in->site_count; s++) {
        TRY(plan_table_create(in->sites[s].source, in->phase_count, in->budget,
                              &grid->tables[s], a, err));
        grid->tables[s].steps = grid->steps;
    }
    population += population % 2; /* pairs */
    plan_work_create(in->phase_count, population, grid->work, a);
    return OK;
}

/* ---- the three-way comparison ---- */

static double move_cost_s(const struct plan_in *in, size_t from, size_t to)
{
    if (from == SIZE_MAX)
        return 0;
    return from == to ? in->sites[to].intra_cost_s
                      : in->inter_cost_s[from * in->site_count + to];
}

/* Time of phases on the schedule of a place; HUGE_VAL: impossible. */
static double keep_s(const struct plan_grid *grid, const struct plan_place *place,
                     size_t first, size_t last)
{
    if (place->site == SIZE_MAX || place->schedule == SIZE_MAX ||
        !grid->tables[place->site].source)
        return HUGE_VAL;
    return plan_table_keep_s(&grid->tables[place->site], place->schedule, first, last);
}

/* Compares where to move to: the best cluster, and the cluster of `prev`. Deviation:
 * the source compares the moves by the least time, we by time and cost, since costs may
 * differ between clusters; with equal costs it is the same. */
static enum error_code best_move(const struct plan_grid *grid, size_t first, size_t last,
                                 const struct plan_place *prev, struct plan_interval *out,
                                 bool *found)
{
    const struct plan_in *in = grid->in;
    double least_s = HUGE_VAL;

    *found = false;
    for (size_t s = 0; s < in->site_count; s++) {
        struct plan_table *table = &grid->tables[s];
        const struct plan_best *best =
            table->source ? plan_table_best(table, first, last) : NULL;
        double cost_s = move_cost_s(in, prev->site, s), total_s;
        bool own = s == prev->site;

        if (table->code != OK)
            return table->code;
        if (!best || !(best->time_s < HUGE_VAL))
            continue;
        total_s = best->time_s + cost_s;
        if (total_s < least_s || (own && total_s <= least_s)) {
            least_s = total_s;
            *out = (struct plan_interval){
                .first = first,
                .last = last,
                .place = {s, best->schedule},
                .time_s = best->time_s,
                .action = prev->site == SIZE_MAX ? PLAN_START
                          : own                  ? PLAN_INTRA
                                                 : PLAN_INTER,
                .cost_s = cost_s,
                .valid = best->time_s >= grid->param[PLAN_MIN_INTERVAL],
            };
            *found = true;
        }
    }
    return OK;
}

enum error_code plan_choose(const struct plan_grid *grid, size_t first, size_t last,
                            const struct plan_place *prev, double min_saving_ratio,
                            struct plan_interval *out, struct plan_choice *choice,
                            bool *found)
{
    struct plan_interval move = {0};
    double kept_s = keep_s(grid, prev, first, last), moved_s = HUGE_VAL;

    TRY(best_move(grid, first, last, prev, &move, found));
    if (*found)
        moved_s = move.time_s + move.cost_s;
    *choice = (struct plan_choice){kept_s, moved_s, move.place};
    if (kept_s < HUGE_VAL && !(kept_s - moved_s > min_saving_ratio * kept_s)) {
        move = (struct plan_interval){
            .first = first,
            .last = last,
            .place = *prev,
            .time_s = kept_s,
            .action = PLAN_KEEP,
            .valid = kept_s >= grid->param[PLAN_MIN_INTERVAL],
        };
        *found = true;
    }
    *out = move;
    return OK;
}

/* ---- the length of an interval ---- */

/* Is first..last valid on all clusters that take part? False: a table could not tell,
 * or it is not. */
static bool valid_everywhere(const struct plan_grid *grid, size_t first, size_t last)
{
    for (size_t s = 0; s < grid->in->site_count; s++) {
        struct plan_table *table = &grid->tables[s];
        const struct plan_best *best;

        if (!table->source)
            continue;
        best = plan_table_best(table, first, last);
        if (!best || best->time_s < grid->param[PLAN_MIN_INTERVAL])
            return false;
    }
    return true;
}

/* Where the first interval of the plan of cluster `s` for start.. ends; 0: it can run
 * nothing, or the time is over. */
static enum error_code first_end(const struct plan_grid *grid, size_t s, size_t start,
                                 size_t *end, struct error *err)
{
    const struct plan_in *in = grid->in;
    char stream[320] = "plan.genetic.";
    struct plan_site_out made;
    struct plan_site_in site = {
        .table = &grid->tables[s],
        .first = start,
        .last = in->phase_count,
        .cost_s = in->sites[s].intra_cost_s,
        .option = grid->param,
        .seed = in->seed,
        .stream = stream,
        .work = grid->work,
    };

    *end = 0;
    if (!site.table->source)
        return OK;
    strncat(stream, in->sites[s].id, sizeof(stream) - strlen(stream) - 1);
    TRY(grid->planner(&site, &made, err));
    if (!made.cut && made.total_s < HUGE_VAL)
        *end = made.pieces[0].last;
    return OK;
}

/* The least of the clusters' first ends that is valid everywhere; else the longest,
 * extended until it is, or to the last phase; 0: no cluster has one. */
static size_t common_end(const struct plan_grid *grid, size_t start)
{
    size_t least = 0, longest = 0;

    for (size_t s = 0; s < grid->in->site_count; s++) {
        size_t end = grid->ends[s];

        if (!end)
            continue;
        longest = end > longest ? end : longest;
        if ((!least || end < least) && valid_everywhere(grid, start, end))
            least = end;
    }
    if (least || !longest)
        return least;
    while (longest < grid->in->phase_count && !valid_everywhere(grid, start, longest))
        longest++;
    return longest;
}

enum error_code plan_grid_next(const struct plan_grid *grid, size_t start,
                               const struct plan_place *prev, struct plan_interval *next,
                               struct plan_choice *choice, bool *found, struct error *err)
{
    size_t end;

    *found = false;
    for (size_t s = 0; s < grid->in->site_count; s++)
        TRY(first_end(grid, s, start, &grid->ends[s], err));
    end = common_end(grid, start);
    if (!end)
        return OK;
    return plan_choose(grid, start, end, prev,
                       start == grid->in->first_phase ? grid->in->min_saving_ratio : 0,
                       next, choice, found);
}
