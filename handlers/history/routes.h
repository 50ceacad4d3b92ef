/* routes.h - the endpoints of this room. */
#ifndef GRIDPLAN_HISTORY_ROUTES_H
#define GRIDPLAN_HISTORY_ROUTES_H

#include "service/route.h"

/* Sorted by path, ended by {0}. Those of the records themselves: records.h. */
extern const struct route history_routes[];

/* ---- executions.c - /v1/executions: observed runs of applications. */

extern const struct json_object sent_execution_json;    /* what is stored */
extern const struct json_object executions_answer_json; /* and what that means */
extern const struct json_object execution_phase_json;

/* POST /v1/executions (bulk) */
handler_fn post_executions;

/* PATCH and DELETE /v1/executions/{execution_id} */
handler_fn patch_execution;
handler_fn delete_execution;

/* ---- failures.c - below /v1/failures: who is up again, and what a history says. */

extern const struct json_object recovery_json;
extern const struct json_object recovery_answer_json;
/* Hosts that tell of the one that was asked for. */
struct failure_prior {
    int scope;
    double shape, rate_s;
    uint64_t host_count;
};
extern const struct json_object failure_prior_json;

/* Those of a resource that was read; NULL: none. */
struct resource_history;
const struct failure_prior *failure_prior_of(const struct resource_history *r,
                                             struct arena *a);

extern const struct json_object failure_statistics_query_json;
extern const struct json_object failure_statistics_json;

/* POST /v1/failures/recoveries: a resource is up again. */
handler_fn post_recovery;

/* GET /v1/failures/statistics */
handler_fn get_failure_statistics;

/* ---- observations.c */

/* POST /v1/observations (bulk): since when resources have been watched. */
handler_fn post_observations;

#endif
