/* plan/bound.c - a total that no plan goes below, under the loads of now. */
#include "algorithms/plan/bound.h"

#include <math.h>

/* Without effort, from what has been looked for alone. */
static double phase_bound(const struct plan_run *run, const struct plan_table *table,
                          size_t phase)
{
    const struct plan_best *known;

    if (run->effort > EFFORT_NONE)
        return plan_table_bound(table, phase, phase);
    known = plan_table_known(table, phase, phase);
    return known ? known->bound_s : 0;
}

/* Sum of what each phase takes at least, alone. */
static double sum_of_phases(const struct plan_run *run)
{
    const struct plan_in *in = run->in;
    double sum_s = 0;

    for (size_t k = in->first_phase; k <= in->phase_count; k++) {
        double least_s = HUGE_VAL;

        for (size_t s = 0; s < in->site_count; s++)
            if (run->grid.tables[s].source)
                least_s = fmin(least_s, phase_bound(run, &run->grid.tables[s], k));
        sum_s += least_s;
    }
    return sum_s;
}

/* The recursion for one cluster; 0 when the time is over. */
static double recursion(const struct plan_run *run, double *least_s)
{
    const struct plan_in *in = run->in;
    const struct plan_table *table = &run->grid.tables[0];
    size_t n = in->phase_count - in->first_phase + 1;

    for (size_t j = 1; j <= n; j++) {
        if (budget_spent(in->budget))
            return 0;
        least_s[j] = HUGE_VAL;
        for (size_t i = 1; i <= j; i++) {
            double bound_s =
                plan_table_bound(table, in->first_phase + i - 1, in->first_phase + j - 1);
            double cost_s = i > 1 ? in->sites[0].intra_cost_s : 0;

            least_s[j] = fmin(least_s[j], least_s[i - 1] + bound_s + cost_s);
        }
    }
    return least_s[n];
}

void plan_bound(const struct plan_run *run, double *bound_s)
{
    size_t n = run->in->phase_count - run->in->first_phase + 1;
    double *least_s = NEW(run->arena, double, n + 1);
    double sum_s = sum_of_phases(run);

    *bound_s = isfinite(sum_s) ? sum_s : 0;
    if (run->in->site_count == 1 && !run->cut && run->effort == EFFORT_FULL &&
        run->count > 0 && run->grid.tables[0].source)
        *bound_s = fmax(*bound_s, recursion(run, least_s));
}
