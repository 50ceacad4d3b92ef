/* placement/evaluate_parts.h - what the files of evaluations share. */
#ifndef GRIDPLAN_PLACEMENT_EVALUATE_PARTS_H
#define GRIDPLAN_PLACEMENT_EVALUATE_PARTS_H

#include "algorithms/placement/evaluate.h"
#include "algorithms/placement/problem.h"
#include "algorithms/world/check.h"

struct evaluation {
    const struct evaluation_in *in;
    struct placement_problem *problem;
    struct world *world;
    const struct world_claim *claims; /* by row */
    struct arena *arena;
};

/* In names and sentences, what the checker has found. */
const struct placement_violation *evaluation_named(const struct evaluation *e,
                                                   const struct world_check *found);

#endif
