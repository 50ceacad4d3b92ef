/* plan/grow.h - intervals that grow phase by phase, for both incremental planners. */
#ifndef GRIDPLAN_PLAN_GROW_H
#define GRIDPLAN_PLAN_GROW_H

#include "algorithms/plan/site_plan.h"

/* Shall the interval start..end, grown on *schedule, take phase end + 1? May change
 * *schedule. False: in->table could not tell. */
typedef bool plan_grow_fn(const struct plan_site_in *in, size_t start, size_t end,
                          size_t *schedule, bool *take);

/* The least last phase with which an interval from `start` is valid; in->last + 1 if
 * there is none. False: in->table could not tell. */
bool plan_first_valid(const struct plan_site_in *in, size_t start, size_t *last);

/* Starts each interval with as many phases as make it valid, then lets it grow. Phases
 * too few for an interval of their own at the end go to the one before. */
enum error_code plan_grow(const struct plan_site_in *in, plan_grow_fn *grow,
                          struct plan_site_out *out);

#endif
