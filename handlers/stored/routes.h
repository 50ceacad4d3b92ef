/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_STORED_ROUTES_H
#define GRIDPLAN_STORED_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route stored_routes[];

/* ---- decisions.c - /v1/decisions: what was decided, and deciding it again.
 *
 * A decision is kept when its request says `store`. A replay runs the stored
 * request again, with the stored snapshot as it was then. The new answer is
 * compared with the stored one in all but decision_id and timings.
 *
 * A search that its clock ended is repeated by its steps instead: the stored
 * answer's `steps` become options.max_steps, its algorithm is named and there is
 * no time limit. As it was not the clock that ended the second one, `status`,
 * `warnings` and `because` are not compared then. What was cut before its first
 * step, or knows no steps, is answered again as it came and may differ. */

extern const struct json_object decisions_query_json;
extern const struct json_object decisions_page_json;
extern const struct json_object decision_query_json;
extern const struct json_object stored_decision_json;
extern const struct json_object replay_answer_json;
extern const struct json_object replay_query_json;

/* GET /v1/decisions */
handler_fn get_decisions;

/* GET /v1/decisions/{decision_id}: answers stored_decision_json. */
handler_fn get_decision;
handler_fn get_decision_chart;

/* DELETE /v1/decisions, and one */
extern const struct json_object decisions_removal_json;
handler_fn delete_decisions;
handler_fn delete_decision;

/* POST /v1/decisions/{decision_id}/replay: no body, replay_query_json; answers
 * replay_answer_json. */
handler_fn post_decision_replay;

#endif
