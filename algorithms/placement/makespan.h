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
#include "models/bound_kind.h"

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

/* Lower bounds: the longest job, prices of PRICES_ROUNDS rounds, grain, pigeonhole; with
 * `upper_s`, the makespan of some assignment, also elimination (HUGE_VAL: without). Stops
 * early, with what it has, when the clock of `budget` (may be NULL) runs out; the longest
 * job is always there. O(PRICES_ROUNDS * jobs * machines). */
enum error_code makespan_bound(const struct makespan_problem *problem, double upper_s,
                               struct budget *budget, struct bound_list *out,
                               struct arena *a);

/* What a search is asked. */
struct makespan_ask {
    const size_t *known;   /* an assignment (machine of each job, possible) that is there
                              already: the answer is never worse, and it is the answer
                              when the clock leaves no time; NULL: jobs in order, each
                              where it ends first */
    const size_t *initial; /* one to start from, if it is better than the search's own
                              start; NULL: none */
    struct budget *budget; /* clock and steps; may be NULL: MAKESPAN_STEPS */
    enum bound_effort effort;
    bool limited; /* the clock of the budget is a limit on this search alone */
    uint64_t seed;
};

struct makespan_answer {
    size_t *assignment; /* machine of each job */
    double makespan_s;  /* waits and times summed in the order of the jobs */
    struct bound_list bounds;
    struct improvement_list improved;
    size_t steps; /* 0: the clock ended it before the first fill. As
                     max_steps, with the same effort and without a clock, they give the
                     same assignment */
    bool optimal; /* proven: no bound leaves room for better, but for rounding */
    bool cut;     /* ended by the clock, not by max_steps or a proof */
};

/* Searches until the optimum is proven or the budget is spent; a budget without
 * any limit means MAKESPAN_STEPS. A step is one look for an improvement of the
 * most loaded machine, about 2 microseconds at 512 x 16, or one fill of the start. With
 * a limit it ends after 85 % of the time, and the rest goes into bounds; without one
 * as much work follows for them as the steps are worth. */
enum error_code makespan_search(const struct makespan_problem *problem,
                                const struct makespan_ask *ask,
                                struct makespan_answer *out, struct arena *a);

/* The effort that fits a clock of `limit_s` seconds (HUGE_VAL: none). */
enum bound_effort makespan_effort(size_t job_count, size_t machine_count, double limit_s);

enum { MAKESPAN_STEPS = 200000 };

#endif
