/* checkpoint/renewal.c - the best checkpoints of a job on a node that ages. */
#include "algorithms/checkpoint/renewal.h"

#include <math.h>

enum { AGE_COUNT = 64, ROWS_MIN = 100, ROWS_MAX = 2000, ROWS_CEILING = 8000 };

/* The grid, and what is tabled on it. */
struct grid {
    struct renewal_job job;
    struct weibull_law law;
    double step_s;
    size_t rows, widest; /* of u + w; the longest segment that is looked at, in steps */
    double ages[AGE_COUNT];
    /* [age * widest + k - 1]: chance to live through a segment of k steps, the time
     * lived in it, and where V is looked up behind it. */
    double *lives, *lived_s, *between;
    uint8_t *below;
    double *end_lives, *end_lived_s; /* [age * rows + i - 1]: likewise without C */
    /* [k - 1]: after a restart; [i - 1] without C. */
    double *again_lives, *again_lived_s, *again_between;
    uint8_t *again_below;
    double *again_end_lives, *again_end_lived_s;
    double *value_s, *restart_s;
    uint16_t *segment, *after_s;
};

static double mean_s(const struct renewal_job *job)
{
    return job->scale_s * tgamma(1 + 1 / job->shape);
}

static double endless_s(const struct renewal_job *job)
{
    return sqrt(2 * job->overhead_s * mean_s(job));
}

/* Steps and their length: of the work that is left; what is done since the image adds
 * rows, as a failure takes it back. */
static void size_up(const struct renewal_job *job, struct grid *g)
{
    double interval_s = fmax(endless_s(job), job->work_s / ROWS_MAX); /* C may be 0 */
    double left = fmin(fmax(ceil(20 * job->work_s / interval_s), ROWS_MIN), ROWS_MAX);
    double rows, widest;

    g->step_s = job->work_s / left;
    rows = left + ceil(job->since_image_s / g->step_s - 1e-9);
    if (rows > ROWS_CEILING) { /* far more is done than left: coarser */
        rows = ROWS_CEILING;
        g->step_s = (job->work_s + job->since_image_s) / rows;
    }
    widest = fmin(rows, 12 * endless_s(job) / g->step_s + 20);
    g->rows = (size_t)rows;
    g->widest = (size_t)widest;
}

size_t renewal_bytes(const struct renewal_job *job)
{
    struct grid g;

    size_up(job, &g);
    return AGE_COUNT * (g.widest * (3 * sizeof(double) + 1) +
                        g.rows * (3 * sizeof(double) + sizeof(uint16_t)));
}

/* The age below `age_s`, of which the rest is a share of the gap to the next. */
static uint8_t find_age(const double *ages, double age_s, double *between)
{
    size_t low = 0, high = AGE_COUNT - 1;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;

        *(ages[middle] <= age_s ? &low : &high) = middle;
    }
    *between = fmin(1, (age_s - ages[low]) / (ages[low + 1] - ages[low]));
    return (uint8_t)low;
}

static void set_ages(struct grid *g)
{
    const struct renewal_job *job = &g->job;
    double work_s = job->work_s + job->since_image_s;
    double first_s = (job->restart_s + g->step_s) / 8;
    double last_s = 3 * work_s + job->restart_s + job->age_s;

    for (int j = 1; j < AGE_COUNT; j++)
        g->ages[j] = first_s * pow(last_s / first_s, (j - 1.0) / (AGE_COUNT - 2));
}

static void table_segments(struct grid *g, double age_s, double before_s, double *lives,
                           double *lived_s, double *between, uint8_t *below)
{
    double first_s = before_s + g->step_s + g->job.overhead_s;

    weibull_lived_steps(&g->law, age_s, first_s, g->step_s, g->widest, lives, lived_s);
    for (size_t k = 0; k < g->widest; k++)
        below[k] =
            find_age(g->ages, age_s + first_s + (double)k * g->step_s, between + k);
}

static bool create(const struct renewal_job *job, struct grid *g, struct budget *budget,
                   struct arena *a)
{
    size_t wide, all;

    *g = (struct grid){.job = *job, .law = {job->shape, job->scale_s}};
    size_up(job, g);
    set_ages(g);
    wide = (AGE_COUNT + 1) * g->widest;
    all = (AGE_COUNT + 1) * g->rows;
    g->lives = NEW(a, double, 3 * wide + 2 * all);
    g->lived_s = g->lives + wide;
    g->between = g->lived_s + wide;
    g->end_lives = g->between + wide;
    g->end_lived_s = g->end_lives + all;
    g->below = NEW(a, uint8_t, wide);
    g->value_s = NEW(a, double, (AGE_COUNT + 1) * (g->rows + 1));
    g->segment = NEW(a, uint16_t, (AGE_COUNT + 1) * (g->rows + 1));
    g->restart_s = g->value_s + AGE_COUNT * (g->rows + 1);
    g->after_s = g->segment + AGE_COUNT * (g->rows + 1);
    wide = AGE_COUNT * g->widest;
    all = AGE_COUNT * g->rows;
    g->again_lives = g->lives + wide;
    g->again_lived_s = g->lived_s + wide;
    g->again_between = g->between + wide;
    g->again_below = g->below + wide;
    g->again_end_lives = g->end_lives + all;
    g->again_end_lived_s = g->end_lived_s + all;
    for (size_t j = 0; j < AGE_COUNT; j++) {
        size_t s = j * g->widest, e = j * g->rows;

        if (budget_step(budget, 40 * (g->widest + g->rows)))
            return false;
        table_segments(g, g->ages[j], 0, g->lives + s, g->lived_s + s, g->between + s,
                       g->below + s);
        weibull_lived_steps(&g->law, g->ages[j], g->step_s, g->step_s, g->rows,
                            g->end_lives + e, g->end_lived_s + e);
    }
    return true;
}

/* The restart of row i: from scratch where there is no image yet. */
static void table_restart(struct grid *g, double restart_s)
{
    table_segments(g, 0, restart_s, g->again_lives, g->again_lived_s, g->again_between,
                   g->again_below);
    weibull_lived_steps(&g->law, 0, restart_s + g->step_s, g->step_s, g->rows,
                        g->again_end_lives, g->again_end_lived_s);
}

static double ahead_s(const struct grid *g, size_t row, uint8_t below, double between)
{
    const double *v = g->value_s + below * (g->rows + 1) + row;

    return v[0] + between * (v[g->rows + 1] - v[0]);
}

/* Whether segments longer than k steps need not be looked at. */
static bool is_far(size_t k, size_t best)
{
    return k > 2 * best + 20;
}

/* The time until an attempt that is lived through with chance p has come to its end,
 * beside its delays; infinite: none does. */
static double until_s(double lived_s, double p, double delay_s)
{
    return p > 0 ? (lived_s + (1 - p) * delay_s) / p : HUGE_VAL;
}

/* V_R of row i. */
static void solve_restart(struct grid *g, size_t i)
{
    double delay_s = g->job.delay_s;
    double least_s =
        until_s(g->again_end_lived_s[i - 1], g->again_end_lives[i - 1], delay_s);
    size_t best = i;

    for (size_t k = 1; k < i && k <= g->widest && !is_far(k, best); k++) {
        double p = g->again_lives[k - 1];
        double value_s =
            until_s(g->again_lived_s[k - 1], p, delay_s) +
            ahead_s(g, i - k, g->again_below[k - 1], g->again_between[k - 1]);

        if (value_s < least_s) {
            least_s = value_s;
            best = k;
        }
    }
    g->restart_s[i] = least_s;
    g->after_s[i] = (uint16_t)best;
}

/* V of row i at age j. How many segments were looked at. */
static size_t solve_state(struct grid *g, size_t i, size_t j)
{
    double failed_s = g->job.delay_s + g->restart_s[i];
    const double *lives = g->lives + j * g->widest, *lived_s = g->lived_s + j * g->widest;
    const double *between = g->between + j * g->widest;
    const uint8_t *below = g->below + j * g->widest;
    double p = g->end_lives[j * g->rows + i - 1];
    double least_s = g->end_lived_s[j * g->rows + i - 1] + (1 - p) * failed_s;
    size_t best = i, k;

    for (k = 1; k < i && k <= g->widest && !is_far(k, best); k++) {
        double value_s = lived_s[k - 1] + (1 - lives[k - 1]) * failed_s +
                         lives[k - 1] * ahead_s(g, i - k, below[k - 1], between[k - 1]);

        if (value_s < least_s) {
            least_s = value_s;
            best = k;
        }
    }
    g->value_s[j * (g->rows + 1) + i] = least_s;
    g->segment[j * (g->rows + 1) + i] = (uint16_t)best;
    return k;
}

/* V_R of all that a failure takes back to, between two rows; rows above the work that is
 * left serve nothing else. */
static double failed_now_s(struct grid *g)
{
    double rows = (g->job.work_s + g->job.since_image_s) / g->step_s;
    double share = (double)g->rows - rows;

    if (!(g->job.since_image_s > 0))
        return g->restart_s[g->rows];
    if (!g->job.has_image)
        table_restart(g, g->job.scratch_s);
    solve_restart(g, g->rows);
    if (!(share > 0))
        return g->restart_s[g->rows];
    solve_restart(g, g->rows - 1);
    return g->restart_s[g->rows] -
           share * (g->restart_s[g->rows] - g->restart_s[g->rows - 1]);
}

bool renewal_solve(const struct renewal_job *job, struct budget *budget,
                   struct renewal_table *out, struct arena *a)
{
    struct grid *g = NEW(a, struct grid, 1);

    if (!create(job, g, budget, a))
        return false;
    table_restart(g, job->restart_s);
    for (size_t i = 1; i <= g->rows; i++) {
        size_t work = g->widest;

        if (i == g->rows && !job->has_image && !(job->since_image_s > 0))
            table_restart(g, job->scratch_s);
        solve_restart(g, i);
        for (size_t j = 0; j < AGE_COUNT; j++)
            work += solve_state(g, i, j);
        if (budget_step(budget, 3 * work))
            return false;
    }
    *out = (struct renewal_table){
        .job = *job,
        .step_s = g->step_s,
        .row_count = g->rows,
        .ages = g->ages,
        .age_count = AGE_COUNT,
        .value_s = g->value_s,
        .restart_s = g->restart_s,
        .segment = g->segment,
        .after_s = g->after_s,
        .widest = g->widest,
        .failed_now_s = failed_now_s(g),
    };
    return true;
}

/* V of a row at any age. */
static double value_at(const struct renewal_table *t, size_t row, double age_s)
{
    double between;
    const double *v =
        t->value_s + find_age(t->ages, age_s, &between) * (t->row_count + 1) + row;

    return v[0] + between * (v[t->row_count + 1] - v[0]);
}

struct renewal_answer renewal_decide(const struct renewal_table *t)
{
    const struct renewal_job *job = &t->job;
    struct weibull_law law = {job->shape, job->scale_s};
    size_t left = (size_t)fmax(1, round(job->work_s / t->step_s)), best = left;
    double failed_s = job->delay_s + t->failed_now_s;
    double p = weibull_lives(&law, job->age_s, job->work_s);
    double never_s = weibull_lived_s(&law, job->age_s, job->work_s) + (1 - p) * failed_s;
    struct renewal_answer out = {never_s, job->work_s, (double)NAN, never_s, never_s};

    for (size_t k = job->since_image_s > 0 ? 0 : 1; k < left && k <= t->widest; k++) {
        double l = (double)k * t->step_s + job->overhead_s, value_s;

        p = weibull_lives(&law, job->age_s, l);
        value_s = weibull_lived_s(&law, job->age_s, l) + (1 - p) * failed_s +
                  p * value_at(t, left - k, job->age_s + l);
        if (k == 0)
            out.take_s = value_s;
        if (value_s < out.value_s) {
            out.value_s = value_s;
            out.first_s = (double)k * t->step_s;
            best = k;
        }
    }
    if (best < left)
        out.next_s = renewal_segment_s(t, job->work_s - out.first_s,
                                       job->age_s + out.first_s + job->overhead_s, false);
    return out;
}

double renewal_segment_s(const struct renewal_table *t, double left_s, double age_s,
                         bool is_restarted)
{
    double between;
    size_t row = (size_t)fmin(fmax(1, round(left_s / t->step_s)), (double)t->row_count);
    size_t age = find_age(t->ages, age_s, &between), best;

    age += between > 0.5;
    best = is_restarted ? t->after_s[row] : t->segment[age * (t->row_count + 1) + row];
    return best >= row ? left_s : (double)best * t->step_s;
}
