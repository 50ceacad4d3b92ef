/* claims.h - POST /v1/claims: getting the processors of a placed job. */
#ifndef GRIDPLAN_CLAIMS_H
#define GRIDPLAN_CLAIMS_H

#include "service/route.h"

extern const struct json_object claims_request_json;
extern const struct json_object claims_answer_json;

handler_fn post_claims;

#endif
