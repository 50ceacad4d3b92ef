/* workflow/heads.h - how early each task can end, and how much must follow it.
 *
 * head_s: no schedule ends a task on a processor before, whatever else runs; tail_s: at
 * least this much time passes between its end there and the end of the schedule. Both
 * count transfers: a parent that is not where its child runs sends its output, and
 * parents that are there have run one after the other.
 *
 * Source: ours; the trade between "beside it" and "one after the other" is the classical
 * one of scheduling with communication delays.
 */
#ifndef GRIDPLAN_WORKFLOW_HEADS_H
#define GRIDPLAN_WORKFLOW_HEADS_H

#include "algorithms/workflow/problem.h"

struct workflow_heads {
    double *head_s;  /* [task * processor_count + processor]; HUGE_VAL: never there */
    double *tail_s;  /* tasks that can run nowhere are left out */
    bool *placeable; /* [task]: it, and all before it, can run somewhere */
};

/* Too large a table (HEADS_MOST numbers each), or no time: head_s and tail_s are NULL,
 * and who can run is told without links. O(edges *
 * processors * log(parents)), and times processors again while the links differ and that
 * is at most HEADS_PAIRS_MOST. */
#define HEADS_MOST       5000000
#define HEADS_PAIRS_MOST 1.2e7
enum error_code workflow_heads_make(const struct workflow_problem *problem,
                                    struct workflow_clock *clock,
                                    struct workflow_heads *heads, struct arena *a);

#endif
