/* plan/mcrp_optimal.c - recursion over phases and clusters.
 *
 * With B[j][c] the least total of phases 1..j when the last interval runs on cluster c,
 *
 *     B[j][c] = min over i <= j with t_c(i,j) >= min_interval_s, and over clusters d, of
 *               B[i-1][d] + move(d, c) + t_c(i,j)
 *
 * where move(c,c) is what a move inside the cluster costs. An application that has not
 * started moves for nothing to its first interval, one that runs takes the best of the
 * three ways of going on. The recursion never keeps a schedule later on, so that the
 * plan put together from the clusters' optimal plans may be better: the better of both
 * is the answer. Questions come in the order of near.h; when the budget ends before the
 * last, the recursion goes over the intervals that are known, if that takes no more than
 * some milliseconds.
 *
 * Source: spec rescheduling-plans.md 4 (ours), search.md 9. O(N^2 C^2) steps, N(N+1)/2
 * questions a cluster. For loads that do not change.
 */
#include "algorithms/plan/near.h"
#include "algorithms/plan/plan_run.h"

#include <math.h>
#include <string.h>

/* B[j][c], and how it came about. */
struct reach {
    double total_s;
    size_t first, from; /* of its last interval: first phase, cluster before */
};

#define CUT_WORK_MAX 4e6 /* N^2 C of a recursion after the budget's end */

struct recursion {
    struct plan_run *run;
    bool whole;                  /* all intervals are known */
    size_t sites, n;             /* clusters; phases to plan, counted from 1 here */
    struct reach *reach;         /* [j * sites + c], j in 0..n */
    struct plan_interval *begin; /* [j]: the first interval, if it ends with phase j */
};

static size_t phase_of(const struct recursion *r, size_t j)
{
    return r->run->in->first_phase + j - 1;
}

static struct reach *reach_at(const struct recursion *r, size_t j, size_t c)
{
    return &r->reach[j * r->sites + c];
}

static double move_s(const struct plan_in *in, size_t from, size_t to)
{
    return from == to ? in->sites[to].intra_cost_s
                      : in->inter_cost_s[from * in->site_count + to];
}

/* The plan whose first interval is 1..j on cluster c. */
static struct reach reach_first(const struct recursion *r, size_t j, size_t c,
                                const struct plan_best *best)
{
    const struct plan_interval *begin = &r->begin[j];
    double least_s = r->run->option[PLAN_MIN_INTERVAL];

    if (r->run->in->current.site == SIZE_MAX)
        return (struct reach){best->time_s >= least_s ? best->time_s : HUGE_VAL, 1,
                              SIZE_MAX};
    if (begin->place.site != c || !begin->valid)
        return (struct reach){HUGE_VAL, 1, SIZE_MAX};
    return (struct reach){begin->time_s + begin->cost_s, 1, SIZE_MAX};
}

/* The plan whose last interval is i..j on cluster c, i > 1. */
static struct reach reach_next(const struct recursion *r, size_t i, size_t c,
                               const struct plan_best *best)
{
    struct reach least = {HUGE_VAL, i, SIZE_MAX};

    if (best->time_s < r->run->option[PLAN_MIN_INTERVAL])
        return least;
    for (size_t d = 0; d < r->sites; d++) {
        double total_s =
            reach_at(r, i - 1, d)->total_s + move_s(r->run->in, d, c) + best->time_s;

        if (total_s < least.total_s)
            least = (struct reach){total_s, i, d};
    }
    return least;
}

/* Fills B[j][c] from what is known. False: the time is over. */
static bool reach_to(const struct recursion *r, size_t j, size_t c)
{
    struct plan_table *table = &r->run->grid.tables[c];
    struct reach least = {HUGE_VAL, 0, SIZE_MAX};

    for (size_t i = 1; i <= j && table->source; i++) {
        const struct plan_best *best =
            plan_table_known(table, phase_of(r, i), phase_of(r, j));
        struct reach way;

        if (r->whole && budget_step(table->budget, r->sites)) {
            table->cut = true;
            return false;
        }
        if (!best)
            continue;
        way = i == 1 ? reach_first(r, j, c, best) : reach_next(r, i, c, best);
        if (way.total_s < least.total_s)
            least = way;
    }
    *reach_at(r, j, c) = least;
    return true;
}

/* Fills all. *done: false when the time was over before. */
static enum error_code fill(const struct recursion *r, bool *done)
{
    const struct plan_in *in = r->run->in;
    double n = (double)r->n;
    struct plan_choice choice;
    bool found;

    *done = false;
    if (!r->whole && n * n * (double)r->sites > CUT_WORK_MAX)
        return OK;
    for (size_t j = 1; j <= r->n; j++) {
        if (in->current.site != SIZE_MAX)
            TRY(plan_choose(&r->run->grid, in->first_phase, phase_of(r, j), &in->current,
                            in->min_saving_ratio, &r->begin[j], &choice, &found));
        for (size_t c = 0; c < r->sites; c++)
            if (!reach_to(r, j, c))
                return OK;
    }
    *done = true;
    return OK;
}

/* Interval i..j on cluster c. */
static struct plan_interval interval_of(const struct recursion *r, size_t j, size_t c)
{
    const struct reach *at = reach_at(r, j, c);
    const struct plan_best *best;

    if (at->first == 1 && r->run->in->current.site != SIZE_MAX)
        return r->begin[j];
    best =
        plan_table_best(&r->run->grid.tables[c], phase_of(r, at->first), phase_of(r, j));
    return (struct plan_interval){
        .first = phase_of(r, at->first),
        .last = phase_of(r, j),
        .place = {c, best->schedule},
        .time_s = best->time_s,
        .action = at->first == 1  ? PLAN_START
                  : at->from == c ? PLAN_INTRA
                                  : PLAN_INTER,
        .cost_s = at->first == 1 ? 0 : move_s(r->run->in, at->from, c),
        .valid = true,
    };
}

/* The plan that ends on cluster c; written from its end, then turned. Returns the
 * number of intervals. */
static size_t trace(const struct recursion *r, size_t c, struct plan_interval *intervals)
{
    size_t count = 0;

    for (size_t j = r->n; j > 0;) {
        const struct reach *at = reach_at(r, j, c);

        intervals[count++] = interval_of(r, j, c);
        j = at->first - 1;
        c = at->from;
    }
    for (size_t i = 0; i < count / 2; i++) {
        struct plan_interval held = intervals[i];

        intervals[i] = intervals[count - 1 - i];
        intervals[count - 1 - i] = held;
    }
    return count;
}

/* Cluster on which the best plan ends; SIZE_MAX: there is no valid plan. */
static size_t best_end(const struct recursion *r)
{
    size_t best = SIZE_MAX;

    for (size_t c = 0; c < r->sites; c++) {
        double total_s = reach_at(r, r->n, c)->total_s;

        if (total_s < (best == SIZE_MAX ? HUGE_VAL : reach_at(r, r->n, best)->total_s))
            best = c;
    }
    return best;
}

/* Asks for all intervals, as far as the time goes. */
static enum error_code ask(struct recursion *r, struct error *err)
{
    struct plan_run *run = r->run, first = *run;
    bool *is_near = run->grid.work->is_near;
    size_t last = run->in->phase_count;

    if (first.known_count == 0) {
        TRY(plan_by_site(&first, plan_incremental, err));
        first.known = first.intervals;
        first.known_count = first.count;
    }
    memset(is_near, 0, (r->n + 1) * sizeof(is_near[0]));
    is_near[r->n] = first.known_count == 0;
    for (size_t i = 0; i < first.known_count; i++)
        is_near[first.known[i].last - first.known[i].first + 1] = true;
    r->whole = plan_near_ask(run->grid.tables, r->sites, run->in->first_phase, last,
                             is_near, run->grid.work);
    for (size_t c = 0; c < r->sites; c++)
        if (run->grid.tables[c].code != OK)
            return run->grid.tables[c].code;
    return OK;
}

enum error_code plan_mcrp_optimal(struct plan_run *run, struct error *err)
{
    size_t n = run->in->phase_count - run->in->first_phase + 1;
    struct recursion r = {
        .run = run,
        .sites = run->in->site_count,
        .n = n,
        .reach = NEW(run->arena, struct reach, (n + 1) * run->in->site_count),
        .begin = NEW(run->arena, struct plan_interval, n + 1),
    };
    struct plan_interval *other = NEW(run->arena, struct plan_interval, n);
    size_t end, count;
    bool done;

    TRY(ask(&r, err));
    TRY(plan_by_site(run, plan_optimal, err));
    TRY(fill(&r, &done));
    run->cut = run->cut || !r.whole || !done;
    run->grid.steps->clocked += r.whole && !done;
    end = done ? best_end(&r) : SIZE_MAX;
    if (end == SIZE_MAX)
        return OK;
    count = trace(&r, end, other);
    if (run->count == 0 ||
        plan_total_s(other, count) < plan_total_s(run->intervals, run->count)) {
        memcpy(run->intervals, other, count * sizeof(other[0]));
        run->count = count;
    }
    return OK;
}
