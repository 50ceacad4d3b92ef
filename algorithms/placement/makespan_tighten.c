/* placement/makespan_tighten.c - bounds that follow from what times are made of.
 *
 *     grain       the load of machine j is wait_j + k g_j, g_j the greatest common
 * divisor of its times: so the bound rises to the least such load above it pigeonhole  of
 * the first k m + 1 jobs by falling least time some machine has k + 1: the least wait and
 * the k + 1 shortest of them, for k = 1, 2, ...
 *
 * Times are decimal fractions if they are multiples of 1, 0.1, ... or 1e-6 but for
 * rounding, relative to the time: an absolute allowance would take any long time for one.
 *
 * Source: spec search.md 4.4; there is one grain for all machines.
 * Cost: jobs * machines, once; then the machines.
 */
#include "algorithms/placement/makespan_parts.h"

#include <stdlib.h>

enum {
    DECIMALS = 7,
    PIGEONS_MAX = 64,
    DIVISOR_WORK = 4 /* what a time costs, in looks at a number */
};

static const double WHOLE = 1e-12; /* of a multiple, its distance from one */
static const double MULTIPLE_MAX = 1e9;
static const double BOUND_ROUNDING = 1e-9; /* a bound may be too high by that */
static const double SUM_ROUNDING = 1e-10;  /* and a sum of fractions too low */

/* ---- grain ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool is_multiple(double x)
{
    return x <= MULTIPLE_MAX && fabs(x - round(x)) <= WHOLE * x;
}

/* The common divisors of each machine's times, counted in 1 / per_s seconds; false: some
 * time is no multiple of that, or the time was up. */
static bool find_divisors(const struct makespan_field *f, double per_s, double *divisor)
{
    const double *time_s = f->problem->time_s;

    for (size_t j = 0; j < f->machine_count; j++)
        divisor[j] = 0;
    for (size_t i = 0; i < f->job_count; i++, time_s += f->machine_count) {
        for (size_t j = 0; j < f->machine_count; j++) {
            double x = time_s[j] * per_s;

            if (time_s[j] == HUGE_VAL)
                continue;
            if (!is_multiple(x))
                return false;
            if (divisor[j] != 1)
                divisor[j] =
                    (double)common_divisor((uint64_t)divisor[j], (uint64_t)round(x));
        }
        if (ticks_spent(f->ticks, DIVISOR_WORK * f->machine_count))
            return false;
    }
    return true;
}

static void find_grain(struct makespan_field *f)
{
    double per_s = 1;

    if (!f->grain_s)
        f->grain_s = NEW(f->arena, double, f->machine_count);
    for (size_t k = 0; k < DECIMALS && !f->has_grain && !f->ticks->spent;
         k++, per_s *= 10)
        if (find_divisors(f, per_s, f->grain_s)) {
            f->has_grain = true;
            f->is_whole = k == 0;
            for (size_t j = 0; j < f->machine_count; j++)
                f->grain_s[j] /= per_s;
        }
    for (size_t j = 0; j < f->machine_count && f->is_whole; j++)
        f->is_whole =
            !f->problem->wait_s || f->problem->wait_s[j] == floor(f->problem->wait_s[j]);
}

/* The least load that the machine can have from `bound_s` on; HUGE_VAL: none. */
static double next_load_s(const struct makespan_field *f, size_t machine, double bound_s)
{
    double wait_s = f->problem->wait_s ? f->problem->wait_s[machine] : 0;
    double low_s = bound_s * (1 - BOUND_ROUNDING), grain_s = f->grain_s[machine];

    if (low_s <= wait_s)
        return wait_s;
    if (!(grain_s > 0))
        return HUGE_VAL;
    return wait_s + ceil((low_s - wait_s) / grain_s) * grain_s;
}

static void note_grain(struct makespan_field *f)
{
    double bound_s = bound_list_best(&f->bounds), least_s = HUGE_VAL;

    if (!f->has_grain || !(bound_s > 0))
        return;
    for (size_t j = 0; j < f->machine_count; j++)
        least_s = fmin(least_s, next_load_s(f, j, bound_s));
    if (least_s < HUGE_VAL)
        bound_list_note(&f->bounds, BOUND_GRAIN,
                        f->is_whole ? least_s : least_s * (1 - SUM_ROUNDING));
}

/* ---- pigeonhole ---- */

static int longest_first(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;

    return (l < r) - (l > r);
}

/* The least times of the jobs, longest first, and how many machines can run any; 0: the
 * time was up. */
static size_t least_times(const struct makespan_field *f, double *least_s, bool *used)
{
    const double *time_s = f->problem->time_s;
    size_t machines = 0;

    for (size_t i = 0; i < f->job_count; i++, time_s += f->machine_count) {
        least_s[i] = HUGE_VAL;
        for (size_t j = 0; j < f->machine_count; j++) {
            least_s[i] = time_s[j] < least_s[i] ? time_s[j] : least_s[i];
            used[j] = used[j] || time_s[j] < HUGE_VAL;
        }
        if (ticks_spent(f->ticks, f->machine_count))
            return 0;
    }
    for (size_t j = 0; j < f->machine_count; j++)
        machines += used[j];
    qsort(least_s, f->job_count, sizeof(*least_s), longest_first);
    return machines;
}

static void note_pigeonhole(struct makespan_field *f)
{
    double *least_s = NEW(f->arena, double, f->job_count);
    bool *used = NEW(f->arena, bool, f->machine_count);
    double wait_s = HUGE_VAL, bound_s = 0;
    size_t machines;

    machines = least_times(f, least_s, used);
    if (machines == 0)
        return;
    for (size_t j = 0; j < f->machine_count; j++)
        if (used[j])
            wait_s = fmin(wait_s, f->problem->wait_s ? f->problem->wait_s[j] : 0);
    for (size_t k = 1; k <= PIGEONS_MAX && k * machines < f->job_count; k++) {
        double sum_s = wait_s;

        for (size_t i = k * machines - k; i <= k * machines; i++)
            sum_s += least_s[i];
        bound_s = fmax(bound_s, sum_s);
    }
    if (bound_s > 0 && bound_s < HUGE_VAL)
        bound_list_note(&f->bounds, BOUND_PIGEONHOLE,
                        f->is_whole ? bound_s : bound_s * (1 - SUM_ROUNDING));
}

void makespan_tighten(struct makespan_field *f)
{
    if (!f->is_tightened) {
        find_grain(f);
        if (!f->ticks->spent)
            note_pigeonhole(f);
        f->is_tightened = !f->ticks->spent;
    }
    note_grain(f);
}
