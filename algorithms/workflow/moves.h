/* workflow/moves.h - running tasks that are worth moving to where nothing is to run yet.
 */
#ifndef GRIDPLAN_WORKFLOW_MOVES_H
#define GRIDPLAN_WORKFLOW_MOVES_H

#include "algorithms/workflow/problem.h"

struct workflow_move_rules {
    double gain_min_s;     /* >= 0 */
    double gain_min_ratio; /* 0..1, of what the task needs where it is */
    double restart_s;      /* what a move costs besides its transfers, >= 0 */
};

/* The plan stays as it is: it holds whether or not the moves are made. *moves by falling
 * gain. *cut: the budget ended the search for more. */
void workflow_find_moves(const struct workflow_problem *problem,
                         const struct workflow_plan *plan,
                         const struct workflow_move_rules *rules,
                         const struct workflow_action **moves, size_t *count, bool *cut,
                         struct arena *a, struct error *err);

#endif
