/* performance/set_walk.h - a set of combinations as numbers, and back. */
#ifndef GRIDPLAN_PERFORMANCE_SET_WALK_H
#define GRIDPLAN_PERFORMANCE_SET_WALK_H

#include "models/base/number_walk.h"
#include "models/performance/performance.h"

/* All of a set but its options, which are the reader's. */
void perf_set_walk(struct number_walk *w, struct perf_model_set *set);

void perf_seen_walk(struct number_walk *w, struct perf_seen *seen);

#endif
