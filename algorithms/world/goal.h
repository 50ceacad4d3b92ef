/* world/goal.h - objectives by their names, and what an answer says of each.
 *
 * Source: world-model.md 5.1.
 */
#ifndef GRIDPLAN_WORLD_GOAL_H
#define GRIDPLAN_WORLD_GOAL_H

#include "algorithms/world/objective.h"
#include "models/base/error.h"

/* Names on the wire, ended by NULL. */
extern const char *const world_objective_names[];
extern const char *const world_bound_sides[]; /* "lower", "upper" */

/* One objective of a plan. */
struct world_value {
    const char *name;
    double value;
    double bound;           /* NAN: none is known */
    const char *bound_kind; /* of what there is, or would be: "lower" or "upper" */
    double gap_ratio;       /* NAN: there is none */
    bool proven;            /* the bound is met */
};

/* The most important first; NULL: the makespan. Mistakes have pointers below
 * "/objective". */
enum error_code world_goal_read(const char *const *names, size_t count,
                                struct world_goal *out, struct error *err);

/* Whether the first level of the goal, or one of those after it, is this one. */
bool world_goal_has(const struct world_goal *goal, enum world_objective objective);

/* What to say of each level; `bounds` by level, NULL: there are none. `out` has room for
 * all levels. True: all are proven. A bound beyond the value, by rounding, is the value.
 */
bool world_values(const struct world_goal *goal, const struct world_worth *worth,
                  const struct world_bound *bounds, struct world_value *out);

#endif
