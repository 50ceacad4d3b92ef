/* workflow/search_anew.h - a part of a schedule placed anew.
 *
 * What a search by single moves cannot leave is a wrong division of the graph: tasks that
 * hang on each other sit together on the wrong processors, and each alone moves back. So
 * some tasks next to each other lose their places at once: those of a stretch of the
 * order, of a processor, or a task with its neighbours and theirs. In the order, each
 * then goes where the way through it is least, in numbers that are changed by chance:
 * by what is placed before it, and the rest that its children had.
 */
#ifndef GRIDPLAN_WORKFLOW_SEARCH_ANEW_H
#define GRIDPLAN_WORKFLOW_SEARCH_ANEW_H

#include "algorithms/workflow/search_state.h"

struct workflow_anew {
    struct workflow_state *state;
    bool *drawn;  /* [task] */
    size_t *list; /* these, as they were found */
    size_t count;
    double *finish_s, *free_s; /* [task], [processor]: of what is placed so far */
    struct workflow_order order;
};

/* The processors that a task may go to. */
typedef const size_t *workflow_choices_fn(void *context, size_t task, size_t *count);

void workflow_anew_make(struct workflow_anew *anew, struct workflow_state *state,
                        struct arena *a);

/* Draws a part of the state and places it anew, all times worked out. */
struct rng;
void workflow_anew_place(struct workflow_anew *anew, struct rng *rng,
                         workflow_choices_fn *choices, void *context);

#endif
