/* placement/makespan_exact.c - the optimum of very small problems.
 *
 * Depth first over the jobs, longest least time first, and over their machines in
 * order. A branch is left when a machine would end no sooner than the best known
 * assignment, or when the priced bound with the placed jobs fixed says so:
 *
 *     sum of p_j min(wait_j, F) + sum over placed of p_j t_ij
 *                               + sum over the others of min_j p_j t_ij.
 *
 * Of equal machines (equal times and waits) the first empty one stands for all empty
 * ones, and equal jobs go to machines of rising index. Both hold of the first, in the
 * order of the tree, of all assignments that differ by exchanging equal ones; so one of
 * the shortest is always looked at.
 *
 * Source: ours; symmetry: spec search.md 4.5. Cost: at most NODES_MAX nodes.
 */
#include "algorithms/placement/makespan_parts.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 100000 };

static const double ROUNDING = 1e-12; /* an improvement must be larger */

struct tree_job {
    size_t job;
    double least;       /* units, on the fastest machine */
    double least_price; /* price * time on the cheapest one */
    double rest;        /* sum of least_price of this and all later jobs */
    size_t twin;        /* depth of the equal job before it; SIZE_MAX: none */
};

struct tree {
    const struct makespan_field *field;
    struct tree_job jobs[MAKESPAN_EXACT_JOBS];
    size_t machine_of[MAKESPAN_EXACT_JOBS];
    double *load;      /* wait and placed jobs */
    size_t *job_count; /* placed on a machine */
    size_t *same;      /* the equal machine before it; SIZE_MAX: none */
    double limit;      /* ends before this are wanted */
    double floor;      /* no plan ends before this */
    double makespan;
    size_t *assignment; /* best so far */
    size_t nodes;
    bool stopped; /* no room for more nodes, or no time */
};

static int longest_first(const void *left, const void *right)
{
    const struct tree_job *l = left, *r = right;

    if (l->least != r->least)
        return l->least > r->least ? -1 : 1;
    return l->job < r->job ? -1 : 1;
}

static void keep(struct tree *t, double end)
{
    for (size_t d = 0; d < t->field->job_count; d++)
        t->assignment[t->jobs[d].job] = t->machine_of[d];
    t->makespan = end;
    t->limit = end * (1 - ROUNDING);
}

/* Another branch, that only exchanges equal machines or jobs, stands for this one. */
static bool is_repeated(const struct tree *t, size_t depth, size_t machine)
{
    size_t twin = t->jobs[depth].twin;

    if (twin != SIZE_MAX && machine < t->machine_of[twin])
        return true;
    return t->job_count[machine] == 0 && t->same[machine] != SIZE_MAX &&
           t->job_count[t->same[machine]] == 0;
}

/* Places the jobs from `depth` on; `end` is when the ones before it end, `value`
 * their part of the priced bound. */
static void branch(struct tree *t, size_t depth, double end, double value)
{
    const struct makespan_field *f = t->field;
    const double *time = f->open + t->jobs[depth].job * f->machine_count;
    double rest = depth + 1 < f->job_count ? t->jobs[depth + 1].rest : 0;

    for (size_t j = 0; j < f->machine_count; j++) {
        double before = t->load[j], after = before + time[j];
        double value_after = value + f->prices.price[j] * time[j];

        if (++t->nodes >= NODES_MAX || ticks_spent(f->ticks, 1))
            t->stopped = true;
        if (t->stopped || t->makespan <= t->floor)
            return;
        if (after >= t->limit || value_after + rest >= t->limit ||
            is_repeated(t, depth, j))
            continue;
        t->machine_of[depth] = j;
        if (depth + 1 == f->job_count) {
            keep(t, fmax(end, after));
            continue;
        }
        t->load[j] = after;
        t->job_count[j]++;
        branch(t, depth + 1, fmax(end, after), value_after);
        t->job_count[j]--;
        t->load[j] = before;
    }
}

static bool is_equal_row(const struct makespan_field *f, size_t left, size_t right)
{
    size_t bytes = f->machine_count * sizeof(*f->open);

    return memcmp(f->open + left * f->machine_count, f->open + right * f->machine_count,
                  bytes) == 0;
}

static void describe_jobs(struct tree *t)
{
    const struct makespan_field *f = t->field;
    double rest = 0;

    for (size_t i = 0; i < f->job_count; i++) {
        struct tree_job *job = &t->jobs[i];
        *job = (struct tree_job){i, HUGE_VAL, HUGE_VAL, 0, SIZE_MAX};
        for (size_t j = 0; j < f->machine_count; j++) {
            double time = f->open[i * f->machine_count + j];
            job->least = fmin(job->least, time);
            job->least_price = fmin(job->least_price, f->prices.price[j] * time);
        }
    }
    qsort(t->jobs, f->job_count, sizeof(*t->jobs), longest_first);
    for (size_t d = f->job_count; d-- > 0;) {
        rest += t->jobs[d].least_price;
        t->jobs[d].rest = rest;
        for (size_t k = d; k-- > 0 && t->jobs[d].twin == SIZE_MAX;)
            if (is_equal_row(f, t->jobs[d].job, t->jobs[k].job))
                t->jobs[d].twin = k;
    }
}

static bool is_equal_column(const struct makespan_field *f, size_t left, size_t right)
{
    if (f->wait[left] != f->wait[right])
        return false;
    for (size_t i = 0; i < f->job_count; i++)
        if (f->open[i * f->machine_count + left] != f->open[i * f->machine_count + right])
            return false;
    return true;
}

static void find_equal_machines(struct tree *t)
{
    for (size_t j = 0; j < t->field->machine_count; j++) {
        t->same[j] = SIZE_MAX;
        for (size_t k = j; k-- > 0 && t->same[j] == SIZE_MAX;)
            if (is_equal_column(t->field, k, j))
                t->same[j] = k;
            else if (ticks_spent(t->field->ticks, 1))
                break; /* nor will the tree begin */
    }
}

void makespan_exact(const struct makespan_field *f, size_t *assignment, double *makespan,
                    bool *proven)
{
    struct tree *t = NEW(f->arena, struct tree, 1);
    double value = 0;

    t->field = f;
    t->load = NEW(f->arena, double, f->machine_count);
    t->job_count = NEW(f->arena, size_t, f->machine_count);
    t->same = NEW(f->arena, size_t, f->machine_count);
    t->assignment = assignment;
    t->makespan = *makespan;
    t->limit = *makespan * (1 - ROUNDING);
    t->floor = makespan_floor(f);
    for (size_t j = 0; j < f->machine_count; j++) {
        t->load[j] = f->wait[j];
        value += f->prices.price[j] * fmin(t->load[j], t->floor);
    }
    describe_jobs(t);
    find_equal_machines(t);
    branch(t, 0, 0, value);
    *makespan = t->makespan;
    *proven = !t->stopped;
}
