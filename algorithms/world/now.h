/* world/now.h - which of the ready jobs start at this moment.
 *
 * The most weight that can start at 0, tiers of (partition tier, priority) one after the
 * other. No run times are needed: a job without one is taken to run for ever. One
 * resource is solved exactly, as a knapsack of classes of equal jobs; several by a first
 * fill and rounds in which each resource in turn is solved anew, with an upper bound from
 * the sum of what is free.
 *
 * Ready: not barred, earliest_s is 0, waits for no job of the world. Jobs on several
 * nodes and jobs of groups start only if `before` says so; the bound counts them.
 *
 * Source: world-model.md 6.
 */
#ifndef GRIDPLAN_WORLD_NOW_H
#define GRIDPLAN_WORLD_NOW_H

#include "algorithms/world/knapsack.h"
#include "algorithms/world/world.h"

enum { NOW_ROUNDS_MAX = 20, NOW_ALIKE_MAX = 1000000000 };

struct now_in {
    const struct world *w;
    const struct world_plan *before; /* jobs that start at 0 in any case; NULL: none */
    size_t max_nodes;                /* of the search; 0: KNAPSACK_NODES_MAX */
    const uint64_t *counts; /* by job: so many alike, 1 .. NOW_ALIKE_MAX, of jobs on one
                               node and without a group; NULL: one each. Which start say
                               now_out.starts; the plan says why others do not */
};

/* So many of a job start there. */
struct now_start {
    size_t job, position;
    int64_t count; /* > 0 */
};

/* Jobs of one priority; more than KNAPSACK_TIERS_MAX: the last has all lower ones. */
struct now_tier {
    double partition_tier, priority;
    double value; /* sum of the weights that start */
    double bound; /* no plan that is not worse in the tiers above starts more */
    bool proven;  /* value is the most */
};

struct now_out {
    struct world_plan plan;         /* places at 0; run_s and end_s HUGE_VAL: not known */
    const struct now_start *starts; /* with in->counts: by rising job, then position */
    size_t start_count;
    struct now_tier tiers[KNAPSACK_TIERS_MAX];
    size_t tier_count; /* 0: no job is ready */
    bool proven;       /* every tier */
    size_t class_count, node_count, round_count;
};

/* Weights that are not whole count in millionths. A spent budget leaves what was found:
 * plan.cut. */
void world_start_now(const struct now_in *in, struct now_out *out, struct arena *a);

/* Jobs on several nodes and groups as well (in->before is NULL): placed at 0 by rank of
 * tier, then weight, once before all others and once behind them; the better of the two
 * is kept. A gang starts whole or not at all. Costs one world_start_now() if there are no
 * such jobs, else three. */
void world_start_all(const struct now_in *in, struct now_out *out, struct arena *a);

#endif
