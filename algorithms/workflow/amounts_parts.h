/* workflow/amounts_parts.h - what amounts.c, which makes a world, and amounts_plan.c,
 * which makes plans in it, share. */
#ifndef GRIDPLAN_WORKFLOW_AMOUNTS_PARTS_H
#define GRIDPLAN_WORKFLOW_AMOUNTS_PARTS_H

#include "algorithms/placement/amounts.h"
#include "algorithms/workflow/amounts.h"
#include "algorithms/world/board.h"

/* A schedule of the request to start from, without its needless waiting. */
struct workflow_amounts_start {
    struct board_spot *spots; /* [job] */
    size_t *sequence, count;  /* jobs that have one, in the order of their turns */
    size_t placed_count;
    double makespan_s;
};

struct workflow_amounts {
    struct workflow_problem *problem;
    struct placement_problem jobs;
    struct world *w;
    struct world_job *world_jobs; /* those of w */
    const char *const *waits_for; /* by job */
    size_t *job_of;               /* [task]; WORKFLOW_NONE: it has begun */
    size_t *task_of;              /* [job] */
    const bool *runs; /* [task], of a round, in which running tasks are jobs too, and all
                         start now or not at all; NULL: of a schedule */
    struct board *board;                        /* as the last plan left it */
    const struct workflow_amounts_start *start; /* NULL: none, or it was refused */
    struct arena *arena;
};

/* The world of problem's open tasks, of which `x` has the problem, an arena and `runs`:
 * without dependencies, and without what the request's own tasks take. Mistakes are in
 * *err, with pointers to tasks. */
enum error_code workflow_amounts_world(struct workflow_amounts *x, struct error *err);

/* Adds to the world what the request's own running tasks take, and when resources are
 * closed. */
void workflow_amounts_hold(struct workflow_amounts *x);

/* Warnings of the world, which point to jobs where the request has tasks. */
void workflow_amounts_pass_warnings(struct workflow_amounts *x);

#endif
