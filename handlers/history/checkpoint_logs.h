/* checkpoint_logs.h - /v1/checkpoint-logs: checkpoints that were asked for. */
#ifndef GRIDPLAN_CHECKPOINT_LOGS_H
#define GRIDPLAN_CHECKPOINT_LOGS_H

#include "service/route.h"

extern const struct json_object checkpoint_log_json;
extern const struct json_object checkpoint_logs_query_json;
extern const struct json_object checkpoint_logs_page_json;

/* POST /v1/checkpoint-logs (bulk): answers bulk_unique_answer_json of bulk.h. */
handler_fn post_checkpoint_logs;

/* GET /v1/checkpoint-logs */
handler_fn get_checkpoint_logs;

#endif
