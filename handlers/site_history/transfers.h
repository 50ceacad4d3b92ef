/* transfers.h - /v1/transfers: how long copies of files took. */
#ifndef GRIDPLAN_TRANSFERS_H
#define GRIDPLAN_TRANSFERS_H

#include "service/route.h"

extern const struct json_object transfer_json;
extern const struct json_object transfers_query_json;
extern const struct json_object transfers_page_json;

/* POST /v1/transfers (bulk): answers bulk_answer_json of bulk.h. */
handler_fn post_transfers;

/* GET /v1/transfers */
handler_fn get_transfers;

#endif
