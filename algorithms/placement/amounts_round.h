/* placement/amounts_round.h - a round of GridWay's scheduler where amounts count, for
 * amounts_gridway.c and amounts_units.c.
 */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_ROUND_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_ROUND_H

#include "algorithms/placement/amounts_plans.h"
#include "algorithms/placement/gridway_round.h"

enum { ROUND_FAILED_MAX = 32 };

/* A gang or a pack: when it was looked at last. */
struct round_unit {
    size_t pass;     /* number of the pass over all jobs; 0: never */
    bool comes_back; /* in the next one */
};

struct amounts_round {
    struct amounts_maker *m;
    const struct placement_problem *p;
    struct world *w; /* every job has a run time */
    struct board *b;
    const struct world_plan *plan; /* on it */
    struct round_limits limits;
    double *dispatched, *running_on; /* by position */
    double *running;                 /* by user */
    size_t failed[ROUND_FAILED_MAX], failed_count;
    size_t *pos, *choice; /* candidates of the job at hand */
    double *rank, *priority;
    double stage_in_s; /* of the spot asked last */
    bool by_priority;
    bool falls_later; /* a reservation begins after now */
    size_t started;
    struct world_plan *planned; /* of hold_back; NULL */

    size_t first, behind;     /* positions that are looked at */
    size_t pass;              /* over all jobs; the first is 1 */
    size_t *place;            /* by job: where it is in the order */
    struct round_unit *units; /* by group */
};

/* ---- amounts_gridway.c ---- */

/* What keeps the job from being looked at now; *wait_on: the job it waits for. */
enum world_wait round_held_up(const struct amounts_round *r, size_t job, size_t *wait_on);

/* Where the job starts now; NO_FREE_NOW, and of hold_back what its plan says: nowhere.
 * *rank: NAN for a job on several nodes. */
enum world_wait round_find_spot(struct amounts_round *r, size_t job,
                                struct board_spot *spot, double *rank);

/* Starts it there, or takes that back. */
void round_start(struct amounts_round *r, size_t job, const struct board_spot *spot,
                 double rank);
void round_stop(struct amounts_round *r, size_t job);

/* ---- amounts_units.c ---- */

/* It is placed with the others of its group, at this moment. */
bool round_is_unit(const struct amounts_round *r, size_t job);

/* The turn of all members at the first of them: gangs start as a whole or not at all,
 * packs on the value of their key on which most members start. False: a job that they
 * wait for may start in the same round. */
bool round_unit_turn(struct amounts_round *r, size_t job);

#endif
