/* performance/search.c - the three stages that find the combinations of a set. */
#include "models/performance/search.h"

#include "models/base/rng.h"
#include "models/performance/least_squares.h"
#include "models/performance/sweep.h"

#include <math.h>
#include <stdlib.h>

enum {
    PAIRS_EACH_MAX = 10,  /* (f_comm, f_bw) kept for one f_comp */
    SORTED_EACH_MAX = 50, /* (f_Pcomp, f_Pcomm) kept for one triple */
    LINEAR = 2,           /* id of f_P = P: speed-up assumed by stage 2 */
    STRIKES = 5,          /* in a row, after which a row or column is given up */
    CELLS = PERF_CANDIDATES * PERF_CANDIDATES,
};

/* ---- the best of many ---- */

/* Sorted, at most `limit`; entries stay in their slots, only pointers move: those
 * behind `count` point to the free slots. */
struct shortlist {
    struct perf_combination **order;
    size_t count, limit;
    double factor; /* what is worse than this times the best is not kept */
};

static void shortlist_create(struct shortlist *list, size_t limit, double factor,
                             struct arena *a)
{
    struct perf_combination *slots = NEW(a, struct perf_combination, limit);

    *list = (struct shortlist){.limit = limit, .factor = factor};
    list->order = NEW(a, struct perf_combination *, limit);
    for (size_t i = 0; i < limit; i++)
        list->order[i] = &slots[i];
}

static bool shortlist_full(const struct shortlist *list)
{
    return list->count == list->limit;
}

static bool too_bad(const struct shortlist *list, double rank_error)
{
    return !isfinite(rank_error) ||
           (list->count > 0 && rank_error > list->factor * list->order[0]->rank_error) ||
           (shortlist_full(list) &&
            rank_error > list->order[list->count - 1]->rank_error);
}

static void shortlist_add(struct shortlist *list, const struct perf_combination *c)
{
    struct perf_combination *slot;
    size_t i;

    if (too_bad(list, c->rank_error))
        return;
    if (shortlist_full(list)) {
        if (perf_combination_compare(c, list->order[list->count - 1]) >= 0)
            return;
        list->count--;
    }
    slot = list->order[list->count];
    *slot = *c;
    for (i = list->count++; i > 0; i--) {
        if (perf_combination_compare(slot, list->order[i - 1]) > 0)
            break;
        list->order[i] = list->order[i - 1];
    }
    list->order[i] = slot;
    while (too_bad(list, list->order[list->count - 1]->rank_error))
        list->count--;
}

/* ---- sorting and fitting ---- */

static int compare_items(const void *a, const void *b)
{
    return perf_combination_compare(a, b);
}

void search_sort(struct perf_list *list)
{
    if (list->count > 1)
        qsort(list->items, list->count, sizeof(*list->items), compare_items);
}

void search_keep(struct perf_list *list, size_t limit)
{
    double worst;

    search_sort(list);
    if (list->count == 0)
        return;
    worst = SEARCH_KEEP_FACTOR * list->items[0].rank_error;
    if (list->count > limit)
        list->count = limit;
    while (list->count > 0 && (!isfinite(list->items[list->count - 1].rank_error) ||
                               list->items[list->count - 1].rank_error > worst))
        list->count--;
}

static void refit_by(const struct search *s, struct search_rows rows,
                     struct perf_fit_rule rule, struct perf_list *list)
{
    double *matrix = NEW(s->arena, double, (PERF_TERMS_MAX + 1) * rows.count);
    double *work = NEW(s->arena, double, LEAST_SQUARES_WORK(PERF_TERMS_MAX + 1));

    for (size_t i = 0; i < list->count; i++) {
        struct perf_combination *c = &list->items[i];

        perf_rows_fit(c, rows.rows, rows.count, rule, matrix, work);
        if (s->options->by_appe && isfinite(c->standard_error))
            c->rank_error = perf_rank_error(c->appe_ratio);
    }
}

void search_refit(const struct search *s, struct search_rows rows, struct perf_list *list)
{
    refit_by(s, rows, s->options->rule, list);
}

/* The entries of a shortlist as a list, fitted to the rows of their stage. */
static void finish(const struct search *s, struct search_rows rows,
                   struct perf_fit_rule rule, const struct shortlist *best,
                   struct perf_list *out)
{
    out->count = best->count;
    out->items = NEW(s->arena, struct perf_combination, best->count);
    for (size_t i = 0; i < best->count; i++)
        out->items[i] = *best->order[i];
    refit_by(s, rows, rule, out);
    search_keep(out, best->limit);
}

/* ---- one stage's fits ---- */

/* A stage in progress. */
struct stage {
    struct search *search;
    struct search_rows rows;
    struct perf_fit_rule rule;
    struct sweep sweep;
};

static void stage_create(struct stage *stage, struct search *s, struct search_rows rows,
                         struct perf_fit_rule rule)
{
    *stage = (struct stage){.search = s, .rows = rows, .rule = rule};
    sweep_create(&stage->sweep, rows.rows, rows.count, rule, s->options->by_appe,
                 s->arena);
}

/* The rest of a stage is left out when the time is up; its first part never is. */
static bool stage_cut(const struct stage *stage, size_t part)
{
    struct perf_report *report = stage->search->report;

    if (part > 0 && !report->cut)
        report->cut = budget_spent(stage->search->budget);
    return part > 0 && report->cut;
}

static double try_fit(const struct stage *stage, int u, int v,
                      struct perf_combination *name, struct shortlist *best)
{
    struct sweep_fit fit = sweep_solve(&stage->sweep, u, v);

    stage->search->report->fits_evaluated++;
    name->rank_error = fit.rank_error;
    shortlist_add(best, name);
    return fit.rank_error;
}

static struct perf_combination named(unsigned comp_mask, int pcomp_id)
{
    return (struct perf_combination){.comp_mask = comp_mask,
                                     .bw_id = PERF_NONE,
                                     .pcomp_id = pcomp_id,
                                     .pcomm_id = PERF_NONE};
}

/* Without communication, for the front that is set. */
static void fit_computation(const struct stage *stage, unsigned comp_mask, int pcomp_id,
                            struct shortlist *best)
{
    struct perf_combination name = named(comp_mask, pcomp_id);

    try_fit(stage, SWEEP_NO_COLUMN, SWEEP_NO_COLUMN, &name, best);
}

/* A stage that nonnegative coefficients leave empty is run again without them. */
typedef enum error_code stage_fn(struct stage *stage, const struct perf_list *in,
                                 struct perf_list *out, struct error *err);

static enum error_code run_stage(struct search *s, struct search_rows rows, stage_fn *run,
                                 const struct perf_list *in, struct perf_list *out,
                                 struct error *err)
{
    struct perf_fit_rule rule = s->options->rule;
    struct stage stage;

    stage_create(&stage, s, rows, rule);
    TRY(run(&stage, in, out, err));
    if (out->count > 0 || !rule.nonnegative)
        return OK;
    stage.rule.nonnegative = stage.sweep.rule.nonnegative = false;
    return run(&stage, in, out, err);
}

/* ---- stage 1 ---- */

static enum error_code run_single(struct stage *stage, const struct perf_list *in,
                                  struct perf_list *out, struct error *err)
{
    struct shortlist best;

    (void)err;
    (void)in;
    shortlist_create(&best, PERF_SINGLE_MAX, SEARCH_KEEP_FACTOR, stage->search->arena);
    sweep_set_back(&stage->sweep, NULL, 0);
    for (size_t i = 0; i < PERF_CANDIDATES && !stage_cut(stage, i); i++) {
        sweep_set_front(&stage->sweep, perf_candidates[i], PERF_NONE);
        fit_computation(stage, perf_candidates[i], PERF_NONE, &best);
    }
    finish(stage->search, stage->rows, stage->rule, &best, out);
    return OK;
}

enum error_code search_single(struct search *s, struct search_rows rows,
                              struct perf_list *out, struct error *err)
{
    return run_stage(s, rows, run_single, NULL, out, err);
}

/* ---- stage 2 ---- */

/* Every basis function over every function of the bandwidth. */
static void set_bandwidth_columns(struct sweep *sweep)
{
    struct sweep_column columns[PERF_BW_IDS * PERF_BASES];

    for (int bw_id = 1; bw_id <= PERF_BW_IDS; bw_id++)
        for (int bit = 0; bit < PERF_BASES; bit++)
            columns[(bw_id - 1) * PERF_BASES + bit] =
                (struct sweep_column){bit, bw_id, LINEAR};
    sweep_set_back(sweep, columns, PERF_BW_IDS * PERF_BASES);
}

/* One f_comm over all functions of the bandwidth, for the front that is set; the
 * least error. */
static double fit_bandwidths(const struct stage *stage, unsigned comp_mask,
                             unsigned comm_mask, struct shortlist *best)
{
    struct perf_combination name = named(comp_mask, LINEAR);
    int low = __builtin_ctz(comm_mask), high = 31 - __builtin_clz(comm_mask);
    double least = HUGE_VAL;

    name.comm_mask = comm_mask;
    name.pcomm_id = LINEAR;
    for (int bw_id = 1; bw_id <= PERF_BW_IDS; bw_id++) {
        int first = (bw_id - 1) * PERF_BASES;
        int second = high > low ? first + high : SWEEP_NO_COLUMN;

        name.bw_id = bw_id;
        least = fmin(least, try_fit(stage, first + low, second, &name, best));
    }
    return least;
}

static void merge(struct shortlist *into, const struct shortlist *list)
{
    for (size_t i = 0; i < list->count; i++)
        shortlist_add(into, list->order[i]);
}

static void fit_pairs_of(struct stage *stage, unsigned comp_mask, size_t limit,
                         struct shortlist *best)
{
    struct shortlist own;

    shortlist_create(&own, limit, SEARCH_KEEP_FACTOR, stage->search->arena);
    sweep_set_front(&stage->sweep, comp_mask, LINEAR);
    if (stage->rule.nonnegative)
        fit_computation(stage, comp_mask, LINEAR, &own);
    for (size_t i = 0; i < PERF_CANDIDATES; i++)
        fit_bandwidths(stage, comp_mask, perf_candidates[i], &own);
    merge(best, &own);
}

static enum error_code run_pairs(struct stage *stage, const struct perf_list *single,
                                 struct perf_list *out, struct error *err)
{
    struct shortlist best;

    (void)err;
    shortlist_create(&best, PERF_PAIRS_MAX, SEARCH_KEEP_FACTOR, stage->search->arena);
    set_bandwidth_columns(&stage->sweep);
    for (size_t i = 0; i < single->count && !stage_cut(stage, i); i++)
        fit_pairs_of(stage, single->items[i].comp_mask, PAIRS_EACH_MAX, &best);
    finish(stage->search, stage->rows, stage->rule, &best, out);
    return OK;
}

enum error_code search_pairs(struct search *s, struct search_rows rows,
                             const struct perf_list *single, struct perf_list *out,
                             struct error *err)
{
    return run_stage(s, rows, run_pairs, single, out, err);
}

/* ---- both in one ---- */

static enum error_code run_joint(struct stage *stage, const struct perf_list *in,
                                 struct perf_list *out, struct error *err)
{
    struct shortlist best;

    (void)err;
    (void)in;
    shortlist_create(&best, PERF_PAIRS_MAX, SEARCH_KEEP_FACTOR, stage->search->arena);
    set_bandwidth_columns(&stage->sweep);
    for (size_t i = 0; i < PERF_CANDIDATES && !stage_cut(stage, i); i++)
        fit_pairs_of(stage, perf_candidates[i], PERF_PAIRS_MAX, &best);
    finish(stage->search, stage->rows, stage->rule, &best, out);
    return OK;
}

/* Which cells (f_comp, f_comm) are still to be looked at. */
struct cells {
    bool done[CELLS];
    size_t left;
    int row_strikes[PERF_CANDIDATES], column_strikes[PERF_CANDIDATES];
};

static void cell_done(struct cells *cells, size_t cell)
{
    cells->left -= !cells->done[cell];
    cells->done[cell] = true;
}

/* The k-th cell that is left, row by row. */
static size_t cell_at(const struct cells *cells, size_t k)
{
    for (size_t cell = 0; cell < CELLS; cell++) {
        if (!cells->done[cell] && k-- == 0)
            return cell;
    }
    return 0;
}

static void strike(struct cells *cells, size_t i, size_t j, bool bad)
{
    cells->row_strikes[i] = bad ? cells->row_strikes[i] + 1 : 0;
    cells->column_strikes[j] = bad ? cells->column_strikes[j] + 1 : 0;
    for (size_t k = 0; k < PERF_CANDIDATES; k++) {
        if (cells->row_strikes[i] >= STRIKES)
            cell_done(cells, i * PERF_CANDIDATES + k);
        if (cells->column_strikes[j] >= STRIKES)
            cell_done(cells, k * PERF_CANDIDATES + j);
    }
}

static void search_cells(struct stage *stage, struct cells *cells, struct shortlist *best)
{
    const struct perf_options *options = stage->search->options;
    uint64_t random = options->seed;
    double least = HUGE_VAL;

    for (size_t part = 0; cells->left > 0 && !stage_cut(stage, part); part++) {
        double u = (double)(splitmix64(&random) >> 11) * 0x1p-53;
        size_t cell = cell_at(cells, (size_t)(u * (double)cells->left));
        size_t i = cell / PERF_CANDIDATES, j = cell % PERF_CANDIDATES;
        double error;

        sweep_set_front(&stage->sweep, perf_candidates[i], LINEAR);
        error = fit_bandwidths(stage, perf_candidates[i], perf_candidates[j], best);
        least = fmin(least, error);
        cell_done(cells, cell);
        strike(cells, i, j,
               !isfinite(error) || error > options->threshold_factor * least);
        stage->search->report->cells_evaluated++;
    }
}

static enum error_code run_pruned(struct stage *stage, const struct perf_list *in,
                                  struct perf_list *out, struct error *err)
{
    struct cells *cells = NEW(stage->search->arena, struct cells, 1);
    struct shortlist best;

    (void)err;
    (void)in;
    shortlist_create(&best, PERF_PAIRS_MAX, SEARCH_KEEP_FACTOR, stage->search->arena);
    cells->left = CELLS;
    set_bandwidth_columns(&stage->sweep);
    search_cells(stage, cells, &best);
    for (size_t i = 0; stage->rule.nonnegative && i < PERF_CANDIDATES; i++) {
        sweep_set_front(&stage->sweep, perf_candidates[i], LINEAR);
        fit_computation(stage, perf_candidates[i], LINEAR, &best);
    }
    finish(stage->search, stage->rows, stage->rule, &best, out);
    return OK;
}

enum error_code search_joint(struct search *s, struct search_rows rows,
                             struct perf_list *out, struct error *err)
{
    return run_stage(s, rows, s->options->pruned ? run_pruned : run_joint, NULL, out,
                     err);
}

/* ---- stage 3 ---- */

struct p_ids {
    int first, last;
};

static struct p_ids p_ids_of(const struct perf_options *options)
{
    return options->extended ? (struct p_ids){0, PERF_P_SLOTS - 1}
                             : (struct p_ids){1, PERF_P_IDS};
}

/* The one or two columns of f_comm over each function of P; how many of each. */
static size_t set_processor_columns(struct sweep *sweep,
                                    const struct perf_combination *triple,
                                    struct p_ids ids)
{
    struct sweep_column columns[2 * PERF_P_SLOTS];
    size_t count = 0, each = 0;

    for (int id = ids.first; id <= ids.last && triple->comm_mask; id++) {
        each = 0;
        for (int bit = 0; bit < PERF_BASES; bit++) {
            if (triple->comm_mask >> bit & 1U) {
                columns[count++] = (struct sweep_column){bit, triple->bw_id, id};
                each++;
            }
        }
    }
    sweep_set_back(sweep, columns, count);
    return each;
}

static void fit_triple(struct stage *stage, const struct perf_combination *triple,
                       struct perf_combination *out, size_t *out_count)
{
    struct p_ids ids = p_ids_of(stage->search->options);
    size_t each = set_processor_columns(&stage->sweep, triple, ids);
    struct perf_combination name = *triple;
    struct shortlist own;

    shortlist_create(&own, SORTED_EACH_MAX, HUGE_VAL, stage->search->arena);
    own.factor = 1e300; /* no factor: an infinite one times 0 is no number */
    for (name.pcomp_id = ids.first; name.pcomp_id <= ids.last; name.pcomp_id++) {
        sweep_set_front(&stage->sweep, triple->comp_mask, name.pcomp_id);
        if (each == 0) {
            fit_computation(stage, triple->comp_mask, name.pcomp_id, &own);
            continue;
        }
        for (int id = ids.first; id <= ids.last; id++) {
            int first = (id - ids.first) * (int)each;

            name.pcomm_id = id;
            try_fit(stage, first, each > 1 ? first + 1 : SWEEP_NO_COLUMN, &name, &own);
        }
    }
    for (size_t i = 0; i < own.count; i++)
        out[(*out_count)++] = *own.order[i];
}

static enum error_code run_sorted(struct stage *stage, const struct perf_list *pairs,
                                  struct perf_list *out, struct error *err)
{
    struct arena *a = stage->search->arena;
    struct perf_list all = {
        NEW(a, struct perf_combination, pairs->count * SORTED_EACH_MAX), 0};

    (void)err;
    for (size_t i = 0; i < pairs->count && !stage_cut(stage, i); i++)
        fit_triple(stage, &pairs->items[i], all.items, &all.count);
    search_keep(&all, PERF_SORTED_MAX);
    refit_by(stage->search, stage->rows, stage->rule, &all);
    search_keep(&all, PERF_SORTED_MAX);
    *out = all;
    return OK;
}

enum error_code search_sorted(struct search *s, struct search_rows rows,
                              const struct perf_list *pairs, struct perf_list *out,
                              struct error *err)
{
    return run_stage(s, rows, run_sorted, pairs, out, err);
}
