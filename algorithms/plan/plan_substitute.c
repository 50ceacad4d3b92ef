/* plan/plan_substitute.c - applications that stand in for those of the source.
 *
 * Thirty phases k = 0..29 of two kinds, with w = 1 + sin(k+1)/2 and n machines:
 *
 *     C  computes:      1.1e5 w n/512 / P  +  20 w / (b^0.5 P^0.5)
 *     M  communicates:  1.5e4 w n/512 / P  +  20 w 512/n P / b^0.5
 *
 * md: C five times, M five times, and so on; lammps: M in every third phase, the first
 * included; changa: C twenty times, then M.
 *
 * Source: spec rescheduling-plans.md 6.5 (ours: the source's models are unpublished).
 */
#include "algorithms/plan/plan_simulation.h"

#include <math.h>

const char *const plan_application_names[] = {"given", "md", "lammps", "changa", NULL};

static bool computes(enum plan_application application, size_t k)
{
    switch (application) {
    case PLAN_APP_MD:
        return k / 5 % 2 == 0;
    case PLAN_APP_LAMMPS:
        return k % 3 != 0;
    case PLAN_APP_CHANGA:
    case PLAN_APP_GIVEN:
        break;
    }
    return k < 20;
}

/* Function ids of models/performance/functions.h: 1 x^0.5, 2 x, 10 1/x. */
static struct perf_term phase(enum plan_application application, size_t k,
                              double machines)
{
    double w = 1 + 0.5 * sin((double)k + 1), share = machines / 512;

    if (computes(application, k))
        return (struct perf_term){1.1e5 * w * share, 2, 20 * w, 1, 1};
    return (struct perf_term){1.5e4 * w * share, 2, 20 * w / share, 1, 10};
}

struct perf_terms *plan_substitute(enum plan_application application, double machines,
                                   size_t merged, size_t *count, struct arena *a)
{
    struct perf_term *terms = NEW(a, struct perf_term, PLAN_SUBSTITUTE_PHASES);
    struct perf_terms *phases = NEW(a, struct perf_terms, PLAN_SUBSTITUTE_PHASES);

    *count = 0;
    for (size_t k = 0; k < PLAN_SUBSTITUTE_PHASES; k++) {
        terms[k] = phase(application, k, machines);
        if (k % merged == 0)
            phases[(*count)++] = (struct perf_terms){terms + k, 0, NAN};
        phases[*count - 1].term_count++;
    }
    return phases;
}
