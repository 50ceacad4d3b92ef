/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_EVALUATION_ROUTES_H
#define GRIDPLAN_EVALUATION_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. */
extern const struct route evaluation_routes[];

/* ---- evaluations.c - POST /v1/evaluations: what a plan or a schedule is worth.
 *
 * The member `kind` of the body says of what. A kind is a row of EVALUATION_KINDS in
 * evaluations.c and a file handlers/evaluation_KIND.c: a table for its body and one for
 * its answer, each with a choice `kind` of that one name (required in the body), and a
 * handler. */

/* The tables of all kinds in one. */
extern const struct json_object any_evaluation_request_json;
extern const struct json_object any_evaluation_answer_json;

/* POST /v1/evaluations: any_evaluation_request_json; answers
 * any_evaluation_answer_json. */
handler_fn post_evaluation;

#endif
