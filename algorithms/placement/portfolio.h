/* placement/portfolio.h - the list policies that a search or `auto` tries first.
 *
 * mct always; then, as long as the looks at a resource that they are predicted to take
 * allow: xsufferage (with files), sufferage, max_min, min_min, mct over the jobs by
 * falling estimate, "mct longest", kpb, met, olb and sufferage_pass. With a clock each
 * must also fit into a part of what is left of it.
 *
 * Source: spec search.md 4.6, which ends with "mct longest": so cheap are the others that
 * a search may as well never be worse than any of them.
 */
#ifndef GRIDPLAN_PLACEMENT_PORTFOLIO_H
#define GRIDPLAN_PLACEMENT_PORTFOLIO_H

#include "algorithms/placement/plan.h"

struct portfolio_try; /* a policy and its makespan */

struct portfolio {
    struct placement_plan *plan;
    struct plan_copy first, best; /* mct's plan, and the best one */
    const char *best_name;        /* NULL: mct was not done in time */
    struct portfolio_try *tried;  /* what was tried, and its makespans */
    size_t tried_count;
};

/* Values of the option `start`, ended by NULL; the first: the best of the portfolio. */
extern const char *const portfolio_starts[];

/* Runs the policies; `start` (an index of portfolio_starts) other than 0: mct and that
 * one only. Leaves the best plan in pf->best. plan->cut: mct could not place all in time.
 */
enum error_code portfolio_run(struct portfolio *pf, struct placement_plan *plan,
                              size_t start, struct error *err);

/* Places the jobs in the order, each where it completes first. */
enum error_code portfolio_decode(struct placement_plan *plan, const size_t *order,
                                 struct error *err);

/* "mct 31 s, sufferage 29 s": all that were tried. */
const char *portfolio_text(const struct portfolio *pf);

#endif
