/* world/queue.h - a batch queue on resources with amounts: who starts now, and why not
 * the others.
 *
 * The disciplines are those of queue/queue.h: an order of the queue, a rule, and the
 * order of those that backfill. A job starts where it completes first among the places at
 * which it can start at this moment.
 *
 *     head          the first job starts, or all wait
 *     fit           whoever fits starts
 *     easy          the first job that cannot start keeps its least completion; another
 *                   one starts if that does not get later by it
 *     conservative  each in its turn where it completes first: mct in this order
 *
 * A job that is not released yet, or waits for another, is not in the queue until then.
 * Estimated starts are what happens when all run times hold and nobody else arrives.
 * Gangs and packs have their turn at their first member, when all of it may start: a gang
 * starts whole or waits as one, who of a pack is not placed yet follows to its value. As
 * the head, a unit keeps the places that it would have; others start beside them.
 *
 * Cost: one look at all resources for each question; of head, fit and easy, at each end
 * of something, one question for each job that waits.
 *
 * Source: world-model.md 4.2 and 8.
 */
#ifndef GRIDPLAN_WORLD_QUEUE_H
#define GRIDPLAN_WORLD_QUEUE_H

#include "algorithms/queue/queue.h"
#include "algorithms/world/board.h"

/* What a job waits for. */
struct world_queue_verdict {
    enum queue_reason
        reason;            /* STARTS; TIME_LIMIT: nobody has looked; else of the rule: */
    enum world_wait wait;  /* NONE: the reason says it; NO_FREE_NOW, NOT_RELEASED: this
                              does */
    enum queue_blocker by; /* BY_RUNNING, BY_RESERVATION: a holder; BY_JOB: a job */
    size_t blocker;        /* index in the world; by NOTHING: WORLD_NONE */
    double until_s;        /* the least start beside what runs, is reserved and starts
                              now, or that of the blocker; NAN: not known */
    bool behind;           /* it only has a start behind all others */
    /* How much later it starts than it was promised, and who is in the way until then, as
     * `by` and `blocker`. NAN: it does not. */
    double broken_by_s;
    enum queue_blocker breaker_by;
    size_t breaker;
};

/* What a job was told by a decision before. */
struct world_queue_promise {
    double start_s;          /* from now; NAN: nothing */
    const size_t *positions; /* where; */
    size_t position_count;   /* 0: it is not known */
};

struct world_queue_promises {
    const struct world_queue_promise *of; /* by job */
    bool keeps_gaps;                      /* jobs that have one do not move up */
};

struct world_queue_out {
    struct world_plan *plan; /* start 0: now; later ones are estimates; no
                                place: WORLD_WAIT_OUT_OF_TIME, it waits, and there was
                                not even time to put it behind the others; else it is
                                never placed */
    struct world_queue_verdict
        *verdicts; /* by job; of those with a place, or that wait */
    size_t *order; /* jobs, first of the queue first */
    size_t start_count;
    size_t head;         /* first that waits, by head and easy; WORLD_NONE */
    bool cut;            /* the budget was spent: not all is known; what is, holds */
    size_t broken_count; /* promises that are not kept */
    size_t behind_count; /* jobs that had no turn before, and go behind all others, in the
                            order of the queue: their starts are a guess */
};

/* Decides. The first job of the queue is looked at however little time there is.
 * `promises`: of conservative; NULL: none. Jobs with one are laid in first, at it; those
 * that find no room there when all others are in, where they complete first; then all of
 * them move up in the order of the queue, to where they start and complete no later. So
 * no arrival and no early end breaks a promise whose resources are told. Those of gangs
 * and packs are not looked at. */
void world_queue(const struct world *w, const struct queue_discipline *discipline,
                 const struct world_queue_promises *promises, struct world_queue_out *out,
                 struct arena *a);

/* Where the job completes first of all places at which it can start at `at_s`. */
struct board_spot queue_fit_at(struct board *b, size_t job, double at_s);

/* Jobs in the order of the queue: tiers first, then as it says (share of the largest
 * capacity times nodes: QUEUE_LARGEST), then who has waited longest. */
void world_queue_order(const struct world *w, enum queue_order order, size_t *jobs,
                       struct arena *a);

#endif
