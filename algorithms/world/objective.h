/* world/objective.h - what a plan is worth, in order of importance, and how good any plan
 * could be.
 *
 * Source: world-model.md 5.
 */
#ifndef GRIDPLAN_WORLD_OBJECTIVE_H
#define GRIDPLAN_WORLD_OBJECTIVE_H

#include "algorithms/world/world.h"
#include "models/bound_kind.h"

/* X(symbol, name, most): the largest value is best, else the least. */
#define WORLD_OBJECTIVES(X)                                          \
    X(OBJECTIVE_MAKESPAN, "makespan_s", false)                       \
    X(OBJECTIVE_TOTAL_FLOW, "total_flow_s", false)                   \
    X(OBJECTIVE_WEIGHTED_COMPLETION, "weighted_completion_s", false) \
    X(OBJECTIVE_WEIGHTED_TARDINESS, "weighted_tardiness_s", false)   \
    X(OBJECTIVE_LATE_JOBS, "late_jobs", false)                       \
    X(OBJECTIVE_STARTED_NOW, "started_now_weight", true)             \
    X(OBJECTIVE_COST, "cost", false)                                 \
    X(OBJECTIVE_ENERGY, "energy_j", false)                           \
    X(OBJECTIVE_NODES_USED, "nodes_used", false)

enum world_objective {
#define X(symbol, name, most) symbol,
    WORLD_OBJECTIVES(X)
#undef X
        OBJECTIVE_COUNT
};

enum { OBJECTIVE_LEVELS_MAX = 4 };

struct world_goal {
    enum world_objective level[OBJECTIVE_LEVELS_MAX];
    size_t level_count; /* >= 1 */
};

/* Values of a plan, by level; unplaced jobs come before all of them. */
struct world_worth {
    size_t unplaced_count;
    double value[OBJECTIVE_LEVELS_MAX];
};

void world_worth(const struct world *w, const struct world_goal *goal,
                 const struct world_plan *plan, struct world_worth *out, struct arena *a);

/* < 0: a is better; 0: equal within 1e-9 of max(1, the larger); > 0: b is better. */
int world_compare(const struct world_goal *goal, const struct world_worth *a,
                  const struct world_worth *b);

/* A bound of one level. */
struct world_bound {
    bool known;
    double value;         /* lower, of started_now_weight upper */
    struct bound_list by; /* makespan: the best of each kind */
};

/* How much goes into them, rising: longest_job; prices of single amounts; the rest; the
 * ascent. It stops as soon as the plan's value is met. */
enum bound_work { BOUNDS_LONGEST, BOUNDS_SINGLE, BOUNDS_ALL, BOUNDS_ASCENT };

/* Bounds for all levels, of plans that place the jobs that `plan` places. `worth` is the
 * plan's (a bound that meets it is enough). */
void world_bounds(const struct world *w, const struct world_goal *goal,
                  const struct world_plan *plan, const struct world_worth *worth,
                  enum bound_work work, struct world_bound *out, struct arena *a);

#endif
