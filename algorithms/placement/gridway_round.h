/* placement/gridway_round.h - a round of GridWay's scheduler, for those who go on with
 * it.
 *
 * The policy `gridway` starts pending jobs; the family migration then looks at jobs that
 * run (the last placement_in.running_count ones), on the slots and within the limits that
 * are left.
 */
#ifndef GRIDPLAN_PLACEMENT_GRIDWAY_ROUND_H
#define GRIDPLAN_PLACEMENT_GRIDWAY_ROUND_H

#include "algorithms/placement/plan.h"
#include "algorithms/placement/select.h"

/* At most so many jobs; 0: no limit. */
struct round_limits {
    double chunk, per_resource;                    /* that the round starts */
    double running_per_resource, running_per_user; /* with those that run already */
};

/* As the request says. */
struct round_limits round_limits_of(const struct placement_problem *p);

/* The order in which pending jobs are looked at; those that run may follow. */
const size_t *round_order(const struct placement_problem *p, struct arena *a);

struct round {
    struct placement_plan *plan;
    const size_t *order; /* in which jobs are looked at */
    struct round_limits limits;
    double *dispatched; /* by position */
    double *running;    /* by user */
    size_t free_count;  /* resources with a slot that is free now */
    uint64_t *open;     /* bit set: such a resource, and the limits allow one more job */
    size_t *from;       /* by stream: no job of it fits at a position before this one */
    size_t *slower;     /* by position: the first one behind it of less speed */
    size_t *pos;        /* candidates of the job at hand */
    double *rank, *priority;
};

/* Starts the pending jobs on an empty plan; `param` as of the policy. The round can be
 * gone on with. */
enum error_code round_pending(struct round *r, struct placement_plan *plan,
                              const double *param, struct error *err);

/* The limits of the round allow one more job there. */
bool round_allows(const struct round *r, size_t pos);

/* What expressions may ask about the resource as the round has filled it. */
struct select_state round_state(const struct round *r, size_t job, size_t pos);

/* Larger is better, undefined is worst, ties go to the lower snapshot index. Nothing is
 * worse than best_pos NO_INDEX. */
bool round_ranks_before(const struct placement_problem *p, size_t pos, double rank,
                        size_t best_pos, double best);

#endif
