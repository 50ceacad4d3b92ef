/* simulation_kept.h - runs of the grid simulator that are complete, as bytes: who takes a
 * simulation up need not play them again (store_simulation.h).
 *
 * The bytes are those of this machine's numbers, behind a mark of the program's version
 * and metrics: what another program wrote is not read, but played again.
 */
#ifndef GRIDPLAN_SIMULATION_KEPT_H
#define GRIDPLAN_SIMULATION_KEPT_H

#include "algorithms/simulation/simulation.h"
#include "service/db.h"

/* All of a run that has ended, with its rows. data */
struct db_bytes simulation_pack(const struct sim_run_out *run, struct arena *a);

/* The other way round, in the arena. false: it is not one of this program's. */
bool simulation_unpack(struct db_bytes bytes, struct sim_run_out *run, struct arena *a);

#endif
