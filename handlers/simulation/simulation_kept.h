/* simulation_kept.h - rows of a run of the grid simulator, as bytes: who takes a
 * simulation up need not play it again (algorithms/simulation/experiment.h).
 *
 * The bytes are those of this machine's numbers; the experiment sees to it that they are
 * this program's.
 */
#ifndef GRIDPLAN_SIMULATION_KEPT_H
#define GRIDPLAN_SIMULATION_KEPT_H

#include "algorithms/simulation/experiment.h"

/* The rows of a run that has ended. */
struct experiment_bytes simulation_pack(const struct sim_run_out *run, struct arena *a);

/* The other way round, in the arena: a run with nothing but rows. false: they are
 * damaged. */
bool simulation_unpack(struct experiment_bytes bytes, struct sim_run_out *run,
                       struct arena *a);

#endif
