/* simulations.h - /v1/simulations: what policies achieve on a grid with failures, and
 * simulations of other kinds.
 *
 * The member `kind` of the body says what is simulated. A kind is a row of
 * SIMULATION_KINDS in simulations.c and a file handlers/simulation_KIND.c: a table for
 * its body and one for its answer, each with a choice `kind` of that one name (required
 * in the body), and a handler, which begins with simulation_begin(), checks all that
 * there is to check, and then, if request_is_async(), returns simulation_enqueue().
 * Whoever takes it up, this replica or another, calls the handler again, without a
 * client: it plays by simulation_experiment() (experiment.h), which ends when the
 * simulation is cancelled or the time is up, says how far it is, leaves what is complete
 * for the next owner, and does not play again what an earlier one has left. The status
 * of its decision_end() is DECISION_CUT when it did not get to the end.
 *
 * POST answers when all is played, or when the time is up, with what is complete by
 * then. With `Prefer: respond-async` it is queued in PostgreSQL and answered with
 * 202; any replica plays it and any answers for it. With `wait=N` besides, the
 * request waits up to N seconds (at most SIMULATION_WAIT_MAX_S, and only as long as
 * enough query workers are left for others) and is then answered as without.
 */
#ifndef GRIDPLAN_SIMULATIONS_H
#define GRIDPLAN_SIMULATIONS_H

#include "handlers/common/decision.h"

enum { SIMULATION_WAIT_MAX_S = 60 };

extern const struct json_object simulations_query_json;
extern const struct json_object simulations_page_json;

/* The tables of all kinds in one. */
extern const struct json_object any_simulation_request_json;
extern const struct json_object any_simulation_answer_json;

/* For the handlers of kinds: decision_begin(), with the time limit of simulations, but
 * nothing for one that will be queued. */
enum error_code simulation_begin(struct request *rq, const struct decision_request *in,
                                 struct decision_answer *answer);

/* Queues the request, which is of this kind, as it came, under a name (NULL: none), and
 * fills the reply. */
enum error_code simulation_enqueue(struct request *rq, const char *kind,
                                   const char *name);

/* POST /v1/simulations: any_simulation_request_json; answers
 * any_simulation_answer_json. */
handler_fn post_simulation;

/* GET /v1/simulations */
handler_fn get_simulations;

/* GET /v1/simulations/{simulation_id}: answers stored_simulation_json. */
handler_fn get_simulation;
handler_fn get_simulation_chart;

/* DELETE /v1/simulations/{simulation_id}: cancels one that waits (200) or runs (202,
 * it keeps the runs that are complete): answers simulation_info_json; deletes one
 * that has finished (204). */
handler_fn delete_simulation;

#endif
