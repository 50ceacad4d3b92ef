/* placement/amounts_decide.h - placements where amounts count: running jobs,
 * reservations, named amounts, several nodes, groups, predecessors, partitions,
 * objectives.
 *
 * Source: world-model.md 4.3, 4.5, 5.1.
 */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_DECIDE_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_DECIDE_H

#include "algorithms/placement/problem.h"

/* What is asked of which policy. */
struct amounts_call {
    const struct placement_in *in;
    const struct policy *policy;
    const struct named_value *options; /* of the request */
    size_t option_count;
    const double *values;  /* of all options: the common ones, then the policy's */
    enum error_code bound; /* of reading them: mistakes are in *err */
};

/* Does the request, which in->world says may, have anything of that kind? */
bool amounts_decide_asked(const struct placement_in *in, const double *values);

/* As placement_decide(), which calls it. */
enum error_code amounts_decide(const struct amounts_call *call,
                               struct placement_problem *p, struct placement_out *out,
                               struct arena *a, struct error *err);

#endif
