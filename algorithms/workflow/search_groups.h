/* workflow/search_groups.h - moves of several tasks at once.
 *
 * Where data takes long to move, a task that leaves its processor alone waits for what it
 * has left behind. A group is a task with those that hang on it by heavy edges on its
 * processor, its children, theirs and so on, or its parents alike: at most
 * WORKFLOW_GROUP_MOST. It moves as it is, one task behind the other.
 */
#ifndef GRIDPLAN_WORKFLOW_SEARCH_GROUPS_H
#define GRIDPLAN_WORKFLOW_SEARCH_GROUPS_H

#include "algorithms/workflow/search_state.h"

enum { WORKFLOW_GROUP_MOST = WORKFLOW_MOVED_MOST };

struct workflow_group {
    size_t task[WORKFLOW_GROUP_MOST]; /* of one processor, in its order */
    size_t count;
};

struct workflow_groups {
    const struct workflow_state *state;
    bool *heavy;           /* [edge] */
    bool any;              /* one of them is */
    double *member, *near; /* [task], [processor]: number of the last group that has it,
                              or has a neighbour there */
    double number;
};

struct workflow_group_move {
    struct workflow_group group;
    struct workflow_spot to; /* the whole group goes there, */
    size_t low;              /* not before this place of the order */
    double est_s;            /* the longest way through any of it */
};

void workflow_groups_make(struct workflow_groups *groups,
                          const struct workflow_state *state, struct arena *a);

/* The best move of a task's group, behind the task or before it, to where it has parents
 * or children; into *best if that has a larger estimate. Returns the places weighed. */
enum workflow_direction { WORKFLOW_CHILDREN, WORKFLOW_PARENTS };
size_t workflow_groups_weigh(struct workflow_groups *groups, size_t task,
                             enum workflow_direction direction, double *units,
                             struct workflow_group_move *best);

/* Puts a group where it was weighed; times are still to be worked out. */
void workflow_group_put(struct workflow_state *state,
                        const struct workflow_group_move *move);

#endif
