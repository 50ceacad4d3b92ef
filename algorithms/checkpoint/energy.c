/* checkpoint/energy.c - the energy that checkpoints and failures take. */
#include "algorithms/checkpoint/energy.h"

#include <assert.h>
#include <math.h>

/* Adds `count` segments of restart, work and checkpoint. */
static void add(const struct finite_job *job, double count, double restart_s,
                double work_s, double checkpoint_s, struct time_parts *out)
{
    double m = job->mean_s;
    double failures = count * exp(restart_s / m) * expm1((work_s + checkpoint_s) / m);

    out->failures += failures;
    out->recovery_s += failures * m * -expm1(-restart_s / m);
    out->work_s += count * m * exp(checkpoint_s / m) * expm1(work_s / m);
}

struct time_parts finite_time_parts(const struct finite_job *job,
                                    const struct finite_plan *plan)
{
    double n = plan->count, m = job->mean_s, c = job->overhead_s;
    struct time_parts out = {0};

    assert(n >= 1);
    if (n <= 1) {
        add(job, 1, job->scratch_s, job->work_s, 0, &out);
    } else {
        add(job, 1, job->scratch_s, plan->first_s, c, &out);
        if (n > 2)
            add(job, n - 2, job->restart_s, plan->middle_s, c, &out);
        add(job, 1, job->restart_s, plan->last_s, 0, &out);
    }
    out.checkpoint_s = n > 1 ? (n - 1) * m * expm1(c / m) : 0;
    out.on_machine_s = m * out.failures;
    out.total_s = (m + job->delay_s) * out.failures;
    if (!isfinite(out.total_s) || !isfinite(out.recovery_s))
        return (struct time_parts){HUGE_VAL, HUGE_VAL, HUGE_VAL,
                                   HUGE_VAL, HUGE_VAL, HUGE_VAL};
    return out;
}

double energy_j(const struct power *power, const struct time_parts *parts)
{
    return power->static_w * parts->total_s + power->compute_w * parts->work_s +
           power->io_w * (parts->recovery_s + parts->checkpoint_s);
}

static double energy_of_count(const struct finite_job *job, const struct power *power,
                              double n)
{
    struct finite_plan plan;
    struct time_parts parts;

    if (n < 1 || n > fmax(1, floor(job->work_s / job->least_s)))
        return HUGE_VAL;
    plan = finite_plan_of_count(job, n);
    if (plan.count < 1)
        return HUGE_VAL;
    parts = finite_time_parts(job, &plan);
    return isfinite(parts.total_s) ? energy_j(power, &parts) : HUGE_VAL;
}

/* Energy has one valley over n: doubles its steps downhill, then halves them. */
double energy_best_count(const struct finite_job *job, const struct power *power,
                         double fastest)
{
    double n = fastest, here = energy_of_count(job, power, n), step = 1;
    double direction = energy_of_count(job, power, n + 1) < here ? 1 : -1;

    if (!isfinite(here))
        return fastest;
    for (;;) {
        double next = energy_of_count(job, power, n + direction * step);

        if (next < here) {
            n += direction * step;
            here = next;
            step *= 2;
            continue;
        }
        if (step <= 1)
            break;
        step = 1; /* too far: from the best so far with small steps, either way */
        if (energy_of_count(job, power, n + direction) >= here)
            direction = -direction;
    }
    return n;
}

size_t energy_frontier(const struct finite_job *job, const struct power *power,
                       double fastest, size_t most, double *counts, double *all)
{
    double least = energy_best_count(job, power, fastest);
    double span = fabs(least - fastest), direction = least < fastest ? -1 : 1;
    size_t points = span + 1 > (double)most ? most : (size_t)span + 1, kept = 0;
    double least_j = HUGE_VAL;

    assert(most >= 2);
    *all = span + 1;
    for (size_t i = 0; i < points; i++) {
        double part = points > 1 ? (double)i / (double)(points - 1) : 0;
        double n = fastest + direction * round(part * span);
        double value_j = energy_of_count(job, power, n);

        if (!(value_j < least_j))
            continue; /* as fast as the one before it, by rounding */
        least_j = value_j;
        counts[kept++] = n;
    }
    return kept;
}
