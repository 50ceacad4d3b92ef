/* simulations.h - /v1/simulations: what policies achieve on a grid with failures.
 *
 * POST answers when all is played, or when the time is up, with what is complete by
 * then. With `Prefer: respond-async` it is queued in PostgreSQL and answered with
 * 202; any replica plays it and any answers for it. With `wait=N` besides, the
 * request waits up to N seconds (at most SIMULATION_WAIT_MAX_S, and only as long as
 * enough query workers are left for others) and is then answered as without.
 */
#ifndef GRIDPLAN_SIMULATIONS_H
#define GRIDPLAN_SIMULATIONS_H

#include "service/route.h"

enum { SIMULATION_WAIT_MAX_S = 60 };

extern const struct json_object simulations_query_json;
extern const struct json_object simulations_page_json;

/* POST /v1/simulations: simulation_request_json; answers simulation_answer_json. */
handler_fn post_simulation;

/* GET /v1/simulations */
handler_fn get_simulations;

/* GET /v1/simulations/{simulation_id}: answers stored_simulation_json. */
handler_fn get_simulation;

/* DELETE /v1/simulations/{simulation_id}: cancels one that waits (200) or runs (202,
 * it keeps the runs that are complete): answers simulation_info_json; deletes one
 * that has finished (204). */
handler_fn delete_simulation;

#endif
