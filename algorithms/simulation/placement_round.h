/* simulation/placement_round.h - placement policies as schedulers of rounds.
 *
 * Each round is a placement problem: the jobs that wait, and the resources as they are
 * seen. The policy plans all of them; what its plan starts now on a slot that is free is
 * started, the others stay in the queue and are planned anew in the next round. So no
 * slot is taken twice, and a plan is never older than what is known.
 *
 * A resource of m MIPS and n_max slots is one whose slots have m / n_max each (sharing
 * `equal`); a slot in use is free when the rest of its job, as last seen, is done at
 * that speed, and never if its job is not the scheduler's. Where transfers take time,
 * each job has a row of run times: stage_in_s + work / speed.
 *
 * Jobs have no user, requirement, file or deadline here: options about these do nothing.
 * A search takes ROUND_STEPS steps a round unless its option max_steps says otherwise.
 *
 * Source: spec simulator.md 3.10, gridway.md 3 and 5; design.md 1, promise 3.
 */
#ifndef GRIDPLAN_SIMULATION_PLACEMENT_ROUND_H
#define GRIDPLAN_SIMULATION_PLACEMENT_ROUND_H

#include "algorithms/placement/placement.h"
#include "algorithms/replication/round.h"

enum { PLACEMENT_ROUND_STEPS = 1000 };

/* The placement policies as policies of rounds. They detect failures: a job whose copy is
 * known to be lost waits again, and goes on from its image if it has one. Sorted by name,
 * ended by {0}.
 */
extern const struct policy placement_round_policies[];

#endif
