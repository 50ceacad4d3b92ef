/* placement/makespan.h - short schedules on machines of any speeds.
 *
 * Each job runs on one machine and takes a time that depends on both; each
 * machine runs its jobs one after another, after a wait. Wanted: the assignment
 * whose last job ends soonest. This kernel knows nothing of grids: a resource
 * with s slots is s machines. A machine without jobs never counts, however long
 * its wait. Pure: no clock but the budget's, the same input gives the same bits.
 */
#ifndef GRIDPLAN_PLACEMENT_MAKESPAN_H
#define GRIDPLAN_PLACEMENT_MAKESPAN_H

#include "models/base/budget.h"
#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct makespan_problem {
    size_t job_count;     /* >= 1 */
    size_t machine_count; /* >= 1; with job_count below 2^32 */
    const double *time_s; /* [job * machine_count + machine] >= 0; HUGE_VAL: cannot
                             run there; each job can run somewhere */
    const double *wait_s; /* per machine, finite, >= 0, before its first job; NULL: 0 */
};

struct makespan_prices {
    double bound_s; /* no assignment ends sooner */
    double *price;  /* per machine, > 0, sum 1: what a second on it is worth */
    size_t rounds;  /* of the ascent that were made */
};

/* The lower bound of spec gridway 5.4. Stops early, with what it has, when the
 * clock of `budget` (may be NULL) runs out; does not look at max_steps. */
enum error_code makespan_bound(const struct makespan_problem *problem,
                               const struct budget *budget, struct makespan_prices *out,
                               struct arena *a, struct error *err);

struct makespan_answer {
    size_t *assignment; /* machine of each job */
    double makespan_s;  /* waits and times summed in the order of the jobs */
    double bound_s;     /* of makespan_bound(); the makespan itself once proven */
    size_t steps;       /* >= 1; as max_steps, without a clock, they give the same */
    bool optimal;       /* proven: nothing ends sooner, within 3e-9 of it */
    bool cut;           /* ended by the clock, not by max_steps or a proof */
};

/* Searches until the optimum is proven or the budget is spent; a budget without
 * any limit means MAKESPAN_STEPS. A step is one look for an improvement of the
 * most loaded machine, about 2 microseconds at 512 x 16. Work before the first
 * step does not ask the clock: 6 ms at 512 x 16, 0.8 s at 10^5 x 100. `initial`
 * (machine of each job, possible) may be NULL; the answer is never worse. */
enum error_code makespan_search(const struct makespan_problem *problem,
                                const size_t *initial, const struct budget *budget,
                                uint64_t seed, struct makespan_answer *out,
                                struct arena *a, struct error *err);

enum { MAKESPAN_STEPS = 200000 };

#endif
