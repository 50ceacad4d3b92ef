/* placement/reasons.h - why a job was not placed (spec gridway.md 2.3). */
#ifndef GRIDPLAN_PLACEMENT_REASONS_H
#define GRIDPLAN_PLACEMENT_REASONS_H

#include "algorithms/placement/plan.h"
#include "algorithms/world/world.h"

/* Words beside those of FILTERS, PLAN_WAITS and WORLD_WAITS. */
#define REASON_NO_RESOURCE "no_resource"
#define REASON_NOT_COUNTED "not_counted"
#define REASON_PARTITION   "partition"
#define REASON_GROUP_KEY   "group_key"

/* All of them, for tables; some twice, some "". */
#define REASON_OF_FILTER(symbol, name, detail) name,
#define REASON_OF_WORLD(symbol, name)          name,
#define PLACEMENT_REASON_WORDS   \
    FILTERS(REASON_OF_FILTER)    \
    PLAN_WAITS(REASON_OF_FILTER) \
    WORLD_WAITS(REASON_OF_WORLD) \
    REASON_PARTITION, REASON_GROUP_KEY, REASON_NO_RESOURCE, REASON_NOT_COUNTED

/* Words of placement_change.change, by enum, ended by NULL. */
enum { PLACEMENT_RAISE_CAPACITY, PLACEMENT_CHANGE_ATTRIBUTE };
extern const char *const placement_change_names[];

/* Reasons of every job without a place, in the order of the jobs, and the jobs with equal
 * ones together: out->unplaced and out->unplaced_classes. `estimate`: the policy needs
 * run times. Jobs of a stream share their reasons; what a stream costs is in
 * need_counts.h. */
void reasons_fill(const struct placement_plan *plan, bool estimate,
                  struct placement_out *out);

/* The warning "unplaced: 3, too_small: 2, unknown_end: 1", by falling number of main
 * reasons; nothing without such jobs. O(jobs). */
void reasons_warn_unplaced(struct placement_problem *p,
                           const struct placement_unplaced *list, size_t count);

/* Reasons for plans of amounts (amounts_answer.h), as far as the requirement. */
struct reasoner;
struct reasoner *reasons_start(struct placement_problem *p);

/* Reasons of a class up to the requirement; at most FILTER_REQUIREMENT + 1. */
size_t reasons_of_class(struct reasoner *w, size_t job_class,
                        struct placement_reason *list);

#endif
