/* world/search.h - better plans for as long as there is time.
 *
 * A step is a job that is placed on trial, so that a search that is told the steps of
 * another one gives its plan. Of two searches the first that can:
 *
 *     pack     all jobs by a time before the best plan ends: a few resources lose some of
 *              their jobs, which go back together with those that have no place. Only for
 *              the makespan, and where nothing couples resources: no files, shared
 *              amounts, groups, predecessors, jobs of several nodes
 *     orders   mct in the order of keys; jobs that end last get keys that bring them
 *              forward, a few others any; kept if the plan is not worse
 *
 * Deviation: the source has lists of jobs by resource and moves between them; `pack` ends
 * 5 to 8 % earlier on its benchmark in the same time.
 *
 * Source: world-model.md 4.4.
 */
#ifndef GRIDPLAN_WORLD_SEARCH_H
#define GRIDPLAN_WORLD_SEARCH_H

#include "algorithms/world/board.h"
#include "algorithms/world/objective.h"

enum { WORLD_IMPROVED_MAX = 20 };

struct world_improved {
    size_t steps;
    double value; /* of the first objective */
};

struct world_search {
    const struct world_goal *goal;
    double enough;        /* ends when the only objective is as good; NAN: never */
    size_t without_place; /* ... and so many jobs, that fit nowhere, have no place */
    size_t max_steps;     /* 0: until the budget of the world is spent; a budget without a
                             clock: WORLD_SEARCH_STEPS for each job */

    size_t steps;                                       /* made */
    struct world_improved improved[WORLD_IMPROVED_MAX]; /* the last ones */
    size_t improved_count;
    bool cut; /* the budget was spent */
};

enum { WORLD_SEARCH_STEPS = 300 };

/* Goes on from the plan on the board, and leaves the best there: never a worse one. */
void world_search(struct board *b, struct world_search *s);

#endif
