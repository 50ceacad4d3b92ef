/* migration/gridway_world.h - a round of gridway where amounts count.
 *
 * Running jobs become rows of what runs, beside those of the snapshot; pending jobs are
 * then a question to the placement policy `gridway`; and moves are looked for on a board
 * on which all of that is taken. A job that moves holds what it has where it was until it
 * would have ended there, so that no round gives it away.
 *
 * Source: world-model.md 8, 2.2; spec gridway.md 3.
 */
#ifndef GRIDPLAN_MIGRATION_GRIDWAY_WORLD_H
#define GRIDPLAN_MIGRATION_GRIDWAY_WORLD_H

#include "algorithms/migration/gridway_parts.h"
#include "algorithms/world/board.h"

/* Where running jobs may go: their amounts, what is free, and the round's limits. */
struct gridway_world {
    struct world *w;
    struct world_job *jobs; /* of *w, by running job */
    struct board *board;
    double *dispatched, *running_on; /* by position */
    size_t started;                  /* pending jobs */
    size_t *free_choice;             /* by position, of the job at hand */
    double *etc_s;                   /* likewise: how long it would hold a node */
    bool holds_limit;                /* amounts are held for the time limit */
};

/* Does the request have a member that slots, cpus and memory do not say? `common`: values
 * of placement_common_params. O(n + m). */
bool gridway_world_asked(const struct gridway_request *request, const double *common);

/* Places the pending jobs, then makes the problem and the world of the running ones.
 * Mistakes of both are in *err, each once, with pointers into the request. */
enum error_code gridway_world_make(struct gridway_run *run, const double *common,
                                   struct placement_problem *p,
                                   struct placement_out *pending, struct error *err);

/* The limits of the round allow one more job there. */
bool gridway_world_allows(const struct gridway_run *run, size_t pos);

/* Which partition of the job takes it there; WORLD_NONE: none does. */
size_t gridway_world_choice(const struct gridway_run *run, const struct gridway_case *c,
                            size_t pos);

/* When all that it needs is free there for hold_s, but not after latest_s; HUGE_VAL:
 * never. */
double gridway_world_start_s(struct gridway_run *run, const struct gridway_case *c,
                             size_t pos, double hold_s, double latest_s);

/* The same of a job on several nodes, among those at which run->world->etc_s is finite:
 * the nodes, and when they are free. No positions: nowhere. */
struct board_spot gridway_world_nodes(struct gridway_run *run,
                                      const struct gridway_case *c, double latest_s);

/* Takes it for the job. */
void gridway_world_take(struct gridway_run *run, const struct gridway_case *c,
                        const struct gridway_candidate *to);

/* The checker accepts where jobs move to, beside all that is taken. O((n + rows) log). */
bool gridway_world_is_valid(const struct gridway_run *run);

/* The time was up. */
bool gridway_world_is_cut(const struct gridway_run *run);

/* Ids of resources, as answers have them. */
const char *const *gridway_ids_at(const struct gridway_run *run, const size_t *positions,
                                  size_t count);

#endif
