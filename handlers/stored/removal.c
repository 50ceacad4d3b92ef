/* removal.c - DELETE of many at once: what it asks and answers, and the log's line. */
#include "handlers/stored/removal.h"

#include "models/base/plural.h"
#include "service/log.h"

#define T struct removed_answer
static const struct json_field removed_rows[] = {
    JSON_INTEGER(T, deleted, 0, JSON_EXACT, 0, 0,
                 "Records that were removed; of a dry run: that would be"),
    JSON_BOOLEAN(T, more, 0, JSON_OPTIONAL,
                 "There are more: call again; left out: there are none"),
    {0},
};
#undef T
const struct json_object removed_answer_json = {
    "RemovedAnswer", "What was removed", sizeof(struct removed_answer), removed_rows};

void log_correction(const struct request *rq, size_t count)
{
    const char *key_id = rq->principal.key_id;

    log_write_request(LOG_INFO, rq->id, "corrected: %s %s, %s, key %s, of %s",
                      rq->route->method, rq->route->path, counted(count, "record").text,
                      *key_id ? key_id : "none", rq->principal.tenant);
}
