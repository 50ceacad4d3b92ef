/* failures.h - /v1/failures: when resources were down, and what that says. */
#ifndef GRIDPLAN_FAILURES_H
#define GRIDPLAN_FAILURES_H

#include "service/route.h"

extern const struct json_object failure_json;
extern const struct json_object failures_query_json;
extern const struct json_object failures_page_json;
extern const struct json_object recovery_json;
extern const struct json_object recovery_answer_json;
extern const struct json_object failure_statistics_query_json;
extern const struct json_object failure_statistics_json;

/* POST /v1/failures (bulk): answers bulk_answer_json of bulk.h. */
handler_fn post_failures;

/* GET /v1/failures */
handler_fn get_failures;

/* POST /v1/failures/recoveries: a resource is up again. */
handler_fn post_recovery;

/* GET /v1/failures/statistics */
handler_fn get_failure_statistics;

#endif
