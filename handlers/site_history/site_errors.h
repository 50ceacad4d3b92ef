/* site_errors.h - /v1/site-errors: components that failed by the fault of their site. */
#ifndef GRIDPLAN_SITE_ERRORS_H
#define GRIDPLAN_SITE_ERRORS_H

#include "service/route.h"

extern const struct json_object site_error_json;
extern const struct json_object site_errors_query_json;
extern const struct json_object site_errors_page_json;

/* POST /v1/site-errors (bulk): answers bulk_answer_json of bulk.h. */
handler_fn post_site_errors;

/* GET /v1/site-errors */
handler_fn get_site_errors;

#endif
