/* world/board.h - a plan in the making: what is free, and where the next job would go.
 *
 * Policies ask board_fit() and board_best() and act by board_take(); searches take back
 * by board_give(). What a job needs beside one resource (shared amounts, its group's
 * rule, releases, predecessors that have places) is asked here as well, so that whatever
 * a board grants is valid.
 *
 * Source: world-model.md 4.1, 4.2.
 */
#ifndef GRIDPLAN_WORLD_BOARD_H
#define GRIDPLAN_WORLD_BOARD_H

#include "algorithms/world/profile.h"

struct board; /* board_parts.h, for the files of this folder */

/* Where a job, or the members of a unit, would go; done_s HUGE_VAL: nowhere. */
struct board_spot {
    const size_t *positions; /* position_count of them, by rising snapshot index */
    size_t position_count;
    size_t choice;
    double start_s, stage_in_s, run_s, end_s;
    double done_s;
};

/* Where a placed job is. */
static inline struct board_spot board_spot_of(const struct world_placed *p)
{
    return (struct board_spot){.positions = p->positions,
                               .position_count = p->position_count,
                               .choice = p->choice,
                               .start_s = p->start_s,
                               .stage_in_s = p->stage_in_s,
                               .run_s = p->run_s,
                               .end_s = p->end_s,
                               .done_s = p->done_s};
}

/* No place. */
struct board_spot board_nowhere(void);

/* Files of a job: when the last is at the resource if it is taken at start_s. NULL: no
 * job has files. `placed` is told of each job that gets or loses its place. */
struct board_files {
    void *context;
    double (*staged_s)(void *context, size_t job, size_t position, double start_s);
    void (*placed)(void *context, size_t job, size_t position, double start_s,
                   bool taken);
    bool (*has_files)(void *context, size_t job); /* NULL: every job may have some */
};

/* An empty plan of the world. O(holders log + resources). */
struct board *board_create(const struct world *w, const struct board_files *files,
                           struct arena *a);

/* Takes everything back. */
void board_reset(struct board *b);

const struct world *board_world(const struct board *b);

/* From when on the job may start: its release, what it waits for of what runs, and its
 * predecessors in the plan. HUGE_VAL: one of them has no place. */
double board_release_s(const struct board *b, size_t job);

/* Predecessors all have places, or can never get one; of a unit those outside it. */
bool board_is_due(const struct board *b, size_t job);

/* The job of one node on the resource at `position`, not before from_s, not starting
 * after latest_s; through choice `choice` of the job. */
struct board_spot board_fit(struct board *b, size_t job, size_t choice, size_t position,
                            double from_s, double latest_s);

/* The least completion (ties: job.nodes == 1: the lowest snapshot index; several nodes:
 * the earlier start, then the smaller run time) over all its choices. */
struct board_spot board_best(struct board *b, size_t job);

/* Places the job there, or takes its place away. */
void board_take(struct board *b, size_t job, const struct board_spot *spot);
void board_give(struct board *b, size_t job);

/* Why the job has no place, once board_best() found none. */
void board_refuse(struct board *b, size_t job, enum world_wait wait, size_t wait_on);

/* Puts a plan of the same world on the board instead of what is there; not one that a
 * budget cut. */
void board_load(struct board *b, const struct world_plan *plan);

/* The plan as it is now; valid until the board changes. */
struct world_plan *board_plan(struct board *b);

/* Units: a gang or a pack is placed as one. unit_of() is the first member of the job's
 * unit, or the job itself. */
size_t board_unit_of(const struct board *b, size_t job);
bool board_is_unit(const struct board *b, size_t job);

/* Places all members of the unit, given by any of them, at its best, or none (pack: those
 * for which there is room); false: some have no place, and are refused. They are open
 * still if the budget was spent on the way. */
bool board_place_unit(struct board *b, size_t member);

/* The same where no member starts before from_s. */
bool board_place_unit_from(struct board *b, size_t member, double from_s);

#endif
