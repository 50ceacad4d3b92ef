/* checkpoint/renewal_bound.c - what no checkpoints beat on a node that ages.
 *
 * The recursion of renewal.h with ages in cells and works in steps of d, each term
 * rounded in the job's favour: a segment of k steps stands for all in ((k-1)d, kd], and
 * costs what the shortest of them does at the edge of its cell where the node lives
 * least; it is lived through as often as at the edge where it lives most; behind it comes
 * the least V of all cells that it may end in.
 *
 * Two remarks keep it from being worthless, or slow. A second of work takes at least a
 * second, so V(w', a) >= V(w, a) + w' - w: of the work that rounding takes away up to d
 * may be given back, and then the value is least at the left end of s. And with V(w - s)
 * >= w - s the value of a segment is at least an expression that rises with s: once that
 * is no better than the best, no longer segment is.
 */
#include "algorithms/checkpoint/renewal.h"

#include <math.h>

enum { EDGE_COUNT = 256, CELL_COUNT = EDGE_COUNT - 1, STEPS_MIN = 400, STEPS_MAX = 3000 };

/* Lives and time lived of segments at an edge, or after a restart. */
struct segments {
    double *lives, *lived_s;         /* [k - 1]: attempt of (k - 1) d + C */
    double *end_lives, *end_lived_s; /* [k - 1]: of k d, which ends the job */
};

struct bound {
    struct renewal_job job;
    struct weibull_law law;
    double safe; /* what of a time lived is certain beside the error of its integral */
    double d_s;
    size_t steps;
    double edges[EDGE_COUNT];
    struct segments at[EDGE_COUNT], again;
    double *value_s;  /* [row * CELL_COUNT + cell]: V */
    double restart_s; /* V_R of the row in hand */
};

static size_t steps_of(const struct renewal_job *job)
{
    double mean_s = job->scale_s * tgamma(1 + 1 / job->shape);
    double interval_s = fmax(sqrt(2 * job->overhead_s * mean_s), job->work_s / STEPS_MAX);

    return (size_t)fmin(fmax(ceil(40 * job->work_s / interval_s), STEPS_MIN), STEPS_MAX);
}

size_t renewal_bound_bytes(const struct renewal_job *job)
{
    return steps_of(job) * (4 * (EDGE_COUNT + 1) + CELL_COUNT) * sizeof(double);
}

static void table_segments(const struct bound *b, double age_s, double before_s,
                           struct segments *out)
{
    weibull_lived_steps(&b->law, age_s, before_s + b->job.overhead_s, b->d_s, b->steps,
                        out->lives, out->lived_s);
    weibull_lived_steps(&b->law, age_s, before_s + b->d_s, b->d_s, b->steps,
                        out->end_lives, out->end_lived_s);
    for (size_t k = 0; k < b->steps; k++) {
        out->lived_s[k] *= b->safe;
        out->end_lived_s[k] *= b->safe;
    }
}

static void set_edges(struct bound *b)
{
    const struct renewal_job *job = &b->job;
    double first_s = (job->restart_s + b->d_s) / 8;
    double last_s = job->age_s + fmax(job->restart_s, job->scratch_s) + job->work_s +
                    (double)b->steps * job->overhead_s;

    for (int j = 1; j < EDGE_COUNT; j++)
        b->edges[j] = first_s * pow(last_s / first_s, (j - 1.0) / (EDGE_COUNT - 2));
}

static struct segments room_for(double *room, size_t steps)
{
    return (struct segments){room, room + steps, room + 2 * steps, room + 3 * steps};
}

static bool create(const struct renewal_job *job, struct bound *b, struct budget *budget,
                   struct arena *a)
{
    double *room;
    bool is_usual = job->shape >= 0.5 && job->shape <= 2;

    *b = (struct bound){.job = *job, .law = {job->shape, job->scale_s}};
    b->safe = 1 - (is_usual ? 1e-8 : 1e-4);
    b->steps = steps_of(job);
    b->d_s = job->work_s / (double)b->steps;
    set_edges(b);
    room = NEW(a, double, 4 * b->steps * (EDGE_COUNT + 1));
    b->value_s = NEW(a, double, (b->steps + 1) * CELL_COUNT);
    for (size_t j = 0; j < EDGE_COUNT; j++) {
        if (budget_step(budget, 80 * b->steps))
            return false;
        b->at[j] = room_for(room + 4 * b->steps * j, b->steps);
        table_segments(b, b->edges[j], 0, &b->at[j]);
    }
    b->again = room_for(room + 4 * b->steps * EDGE_COUNT, b->steps);
    table_segments(b, 0, job->restart_s, &b->again);
    return true;
}

/* The last cell that begins at or before age_s, from `cell` on. */
static size_t cell_of(const struct bound *b, double age_s, size_t cell)
{
    while (cell + 1 < CELL_COUNT && b->edges[cell + 1] <= age_s)
        cell++;
    return cell;
}

/* The least V of a row over cells. */
static double least_ahead_s(const struct bound *b, size_t row, size_t low, size_t high)
{
    const double *v = b->value_s + row * CELL_COUNT;
    double least_s = v[low];

    for (size_t cell = low + 1; cell <= high; cell++)
        least_s = v[cell] < least_s ? v[cell] : least_s;
    return least_s;
}

static double until_s(double lived_s, double p, double delay_s)
{
    return p > 0 ? (lived_s + (1 - p) * delay_s) / p : HUGE_VAL;
}

/* V_R of row i. */
static size_t bound_restart(struct bound *b, size_t i)
{
    const struct segments *s = &b->again;
    double delay_s = b->job.delay_s, before_s = b->job.restart_s;
    double best_s = until_s(s->end_lived_s[i - 1], s->end_lives[i - 1], delay_s);
    size_t low = 0, high = 0, k, work = 0;

    if (i == b->steps && !b->job.has_image)
        before_s = b->job.scratch_s;
    for (k = 1; k <= i; k++) {
        double l = before_s + (double)(k - 1) * b->d_s + b->job.overhead_s, cost_s;

        cost_s = until_s(s->lived_s[k - 1], s->lives[k - 1], delay_s);
        if (cost_s + (double)(i - k) * b->d_s >= best_s)
            break;
        low = cell_of(b, l, low);
        high = cell_of(b, l + b->d_s, high);
        work += high - low + 4;
        best_s = fmin(best_s, cost_s + least_ahead_s(b, i - k, low, high) + b->d_s);
    }
    b->restart_s = best_s;
    return work;
}

/* V of row i in a cell; low and high: the cells at the ends of its first segment. */
static size_t bound_cell(struct bound *b, size_t i, size_t cell, size_t low, size_t high)
{
    size_t dies = b->law.shape <= 1 ? cell : cell + 1;
    const struct segments *least = &b->at[dies], *most = &b->at[2 * cell + 1 - dies];
    double failed_s = b->job.delay_s + b->restart_s, p = most->end_lives[i - 1];
    double best_s = least->end_lived_s[i - 1] + (1 - p) * failed_s;
    size_t work = 0;

    for (size_t k = 1; k <= i; k++) {
        double l = (double)(k - 1) * b->d_s + b->job.overhead_s, ahead_s;

        p = most->lives[k - 1];
        if (least->lived_s[k - 1] + (1 - p) * failed_s + p * (double)(i - k) * b->d_s >=
            best_s)
            break;
        low = cell_of(b, b->edges[cell] + l, low);
        high = cell_of(b, b->edges[cell + 1] + l + b->d_s, high);
        work += high - low + 4;
        ahead_s = least_ahead_s(b, i - k, low, high);
        if (failed_s - ahead_s > b->d_s)
            ahead_s += b->d_s;
        if (failed_s < ahead_s)
            p = least->lives[k - 1];
        best_s = fmin(best_s, least->lived_s[k - 1] + (1 - p) * failed_s + p * ahead_s);
    }
    b->value_s[i * CELL_COUNT + cell] = best_s;
    return work;
}

double renewal_bound_s(const struct renewal_job *job, struct budget *budget,
                       struct arena *a)
{
    struct bound *b = NEW(a, struct bound, 1);
    size_t low[CELL_COUNT], high[CELL_COUNT];

    if (!create(job, b, budget, a))
        return (double)NAN;
    for (size_t j = 0; j < CELL_COUNT; j++) {
        low[j] = cell_of(b, b->edges[j] + job->overhead_s, j);
        high[j] = cell_of(b, b->edges[j + 1] + job->overhead_s + b->d_s, j);
    }
    for (size_t i = 1; i <= b->steps; i++) {
        size_t work;

        if (i == b->steps && !job->has_image)
            table_segments(b, 0, job->scratch_s, &b->again);
        work = bound_restart(b, i);
        for (size_t j = 0; j < CELL_COUNT; j++)
            work += bound_cell(b, i, j, low[j], high[j]);
        if (budget_step(budget, 2 * work))
            return (double)NAN;
    }
    return b->value_s[b->steps * CELL_COUNT + cell_of(b, job->age_s, 0)];
}
