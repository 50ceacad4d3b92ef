/* workflow/amounts_parts.h - what amounts.c, which makes a world, and amounts_plan.c,
 * which makes plans in it, share. */
#ifndef GRIDPLAN_WORKFLOW_AMOUNTS_PARTS_H
#define GRIDPLAN_WORKFLOW_AMOUNTS_PARTS_H

#include "algorithms/placement/amounts.h"
#include "algorithms/workflow/amounts.h"
#include "algorithms/world/board.h"
#include "models/base/names.h"

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
    struct name_index groups;     /* those of w */
    const bool *runs; /* [task], of a round, in which running tasks are jobs too, and all
                         start now or not at all; NULL: of a schedule */
    struct board *board;                        /* as the last plan left it */
    const struct workflow_amounts_start *start; /* NULL: none, or it was refused */
    struct reasons *reasons;                    /* NULL: nobody has asked why yet */
    struct arena *many; /* while a plan is made: of what tasks on several nodes ask */
    struct arena *arena;
};

/* The world of problem's open tasks, of which `x` has the problem, an arena and `runs`:
 * without dependencies, and without what the request's own tasks take. Mistakes are in
 * *err, with pointers to tasks. */
enum error_code workflow_amounts_world(struct workflow_amounts *x, struct error *err);

/* Whether a resource is in any of the partitions of a task of one node; of several nodes
 * in the first, as all of them have to be in one. O(partitions of the task). */
static inline bool workflow_amounts_may_use(const struct world_job *j, size_t position)
{
    size_t count = j->nodes > 1 ? 1 : j->choice_count;

    for (size_t c = 0; c < count; c++)
        if (world_mask_has(j->choices[c].mask, position))
            return true;
    return false;
}

/* Adds to the world what the request's own running tasks take, and when resources are
 * closed. */
void workflow_amounts_hold(struct workflow_amounts *x);

/* The reason too_small, with what is short; `name`: the amount that nothing has enough
 * of, NULL: several together. */
void workflow_amounts_too_small(const struct workflow_amounts *x,
                                const struct world_reason *found, const char *name,
                                struct workflow_unplaced *out);

/* The filters leave it no resource: which of them, and of how many. */
void workflow_amounts_kept_out(const struct workflow_amounts *x, size_t job,
                               struct workflow_unplaced *out);

/* ---- amounts_groups.c ---- */

/* The group of the world that the task is in; WORLD_NONE. */
size_t workflow_amounts_group(const struct workflow_amounts *x,
                              const struct workflow_task *t);

/* The pack in which the task was, if it is done; WORLD_NONE. */
size_t workflow_amounts_pack_left(const struct workflow_amounts *x, size_t task);

/* For these; once the world is there. */
void workflow_amounts_name_groups(struct workflow_amounts *x);

/* The holders from `first` to before `end` become members of the groups that they name.
 */
void workflow_amounts_join_groups(struct workflow_amounts *x,
                                  const struct world_holder *holders, size_t first,
                                  size_t end);

/* A gang or a pack whose members wait for each other through other tasks is a mistake,
 * "/jobs/3/depends_on"; of a gang also one whose members depend on each other. */
void workflow_amounts_check_circles(const struct workflow_amounts *x, struct error *err);

/* ---- amounts_plan.c ---- */

/* Where the task ends first at positions from `first` to before `behind` (of several
 * nodes: anywhere); no positions: nowhere. */
struct board_spot workflow_amounts_best(struct workflow_amounts *x,
                                        const struct workflow_plan *plan, size_t task,
                                        size_t first, size_t behind);

/* Until end_many() the job of a task on several nodes starts when its data could be on
 * any node within reach (which comes back), and has no run time on the others. */
double workflow_amounts_begin_many(struct workflow_amounts *x,
                                   const struct workflow_plan *plan, size_t task,
                                   struct world_job *before);
void workflow_amounts_end_many(struct workflow_amounts *x, size_t task,
                               const struct world_job *before);

/* Puts it there. */
void workflow_amounts_take(struct workflow_amounts *x, struct workflow_plan *plan,
                           size_t task, const struct board_spot *spot);

/* ---- amounts_units.c ---- */

struct workflow_queue;
struct workflow_amounts_units; /* gangs and packs while a plan is made */

/* The task is placed with the others of its group. */
bool workflow_amounts_is_unit(const struct workflow_amounts *x, size_t task);

/* No member has had its turn. */
struct workflow_amounts_units *
workflow_amounts_units_make(const struct workflow_amounts *x, struct arena *scratch);

/* Priorities in which members of a unit have that of the first of them. */
const double *workflow_amounts_turns(const struct workflow_amounts *x,
                                     const double *priority, struct arena *scratch);

/* The turn of a member: with the last one all of them are placed, and the queue is told.
 */
void workflow_amounts_unit_turn(struct workflow_amounts *x, struct workflow_plan *plan,
                                struct workflow_amounts_units *units, size_t task,
                                struct workflow_queue *queue);

/* ---- amounts.c ---- */

/* Warnings of the world, which point to jobs where the request has tasks. */
void workflow_amounts_pass_warnings(struct workflow_amounts *x);

#endif
