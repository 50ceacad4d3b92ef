/* placement/reasons.h - why a job was not placed (spec gridway.md 2.3). */
#ifndef GRIDPLAN_PLACEMENT_REASONS_H
#define GRIDPLAN_PLACEMENT_REASONS_H

#include "algorithms/placement/plan.h"

/* Reasons of every job without a place, in the order of the jobs. `estimate`: the
 * policy needs run times. Jobs of a stream share their reasons; O(m) a stream, up to
 * a total after which only the class's filters are counted. */
enum error_code reasons_fill(const struct placement_plan *plan, bool estimate,
                             const struct placement_unplaced **unplaced, size_t *count,
                             struct error *err);

#endif
