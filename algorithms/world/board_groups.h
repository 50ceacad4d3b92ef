/* world/board_groups.h - what board_nodes.c, board_groups.c and units.c tell each other.
 */
#ifndef GRIDPLAN_WORLD_BOARD_GROUPS_H
#define GRIDPLAN_WORLD_BOARD_GROUPS_H

#include "algorithms/world/board_parts.h"

/* Of board_pack_value(): any value will do; none does, since members run on two of them.
 */
#define PACK_ANYWHERE SIZE_MAX
#define PACK_NOWHERE  (SIZE_MAX - 1)

/* Value of the group's key at a position: the position itself, its site, or the number of
 * its attribute's value; WORLD_NONE: it has no such attribute. */
size_t group_value(const struct world *w, const struct world_group *g, size_t position);

/* How many values there are. */
size_t group_value_count(const struct world *w, const struct world_group *g);

/* The job's group if that has this policy; NULL. */
const struct world_group *group_of(const struct world *w, size_t job,
                                   enum world_group_policy policy);

/* How many more members spread may have at a position's value in the whole plan;
 * SIZE_MAX: any number, as for all other jobs. */
size_t board_group_room(const struct board *b, size_t job, size_t position);

/* The value that the pack has by members that run or are placed. */
size_t board_pack_value(const struct board *b, size_t group);

/* Lets the pack, or what is left of it, go to that value; what it was. */
size_t board_set_pack_value(struct board *b, size_t group, size_t value);

/* What a value is good for: how many members it takes, and how well. `first_index`: the
 * first of its resources in the snapshot. */
struct pack_worth {
    size_t value, placed_count, first_index;
    double last_s, sum_s; /* of the members' ends */
};

/* More members, else an earlier last end, a lesser sum of ends, the earlier resource. */
bool pack_is_worth_more(const struct pack_worth *a, const struct pack_worth *than);

/* Another member ends then. */
void pack_worth_add(struct pack_worth *worth, double done_s);

/* Members of the group without a place, those with the largest share of a capacity first
 * (ties: request order); returns how many. `jobs` has room for all members. */
size_t board_members_by_share(struct board *b, size_t group, size_t *jobs);

/* The first time after after_s at which something ends on a resource, or of a shared
 * amount; after_s HUGE_VAL: the last one. HUGE_VAL: nothing ends behind it. */
double board_next_end(struct board *b, double after_s);

/* Where a job may go: on some positions, at some times. */
struct board_reach {
    const size_t *positions; /* NULL: all, as far as the group allows it */
    size_t position_count;
    double from_s, latest_s; /* from_s: not before its release either */
};

/* The least completion of a job of several nodes over all its choices (ties: the earlier
 * start, the smaller run time, the choice it names first). The spot's positions stay
 * until the job is asked again. */
struct board_spot board_fit_nodes(struct board *b, size_t job,
                                  const struct board_reach *reach);

/* The least start of a job of several nodes. */
double board_first_nodes(struct board *b, size_t job, const struct board_reach *reach);

#endif
