/* claim_attempts.h - /v1/claim-attempts: what became of tries to claim. */
#ifndef GRIDPLAN_CLAIM_ATTEMPTS_H
#define GRIDPLAN_CLAIM_ATTEMPTS_H

#include "service/route.h"

extern const struct json_object claim_attempt_json;
extern const struct json_object claim_attempts_query_json;
extern const struct json_object claim_attempts_page_json;

/* POST /v1/claim-attempts (bulk): answers bulk_answer_json of bulk.h. */
handler_fn post_claim_attempts;

/* GET /v1/claim-attempts */
handler_fn get_claim_attempts;

/* The set that a list of sites is: a JSON array of them, each once, sorted bytewise, as
 * it is stored. */
enum error_code claim_site_set(const char *const *site_ids, size_t count,
                               const char **text, struct arena *a, struct error *err);

#endif
