/* removal.h - DELETE of many at once: what it asks and answers, and the log's line. */
#ifndef GRIDPLAN_REMOVAL_H
#define GRIDPLAN_REMOVAL_H

#include "service/route.h"

struct removed_answer {
    uint64_t deleted;
    bool more;
};
extern const struct json_object removed_answer_json;

/* The row of a query struct with a member dry_run. */
#define DRY_RUN_ROW(T)             \
    JSON_BOOLEAN(T, dry_run, 0, 0, \
                 "Only count what would be removed, and remove nothing; default false")

/* One line of the log for each correction of what is stored. */
void log_correction(const struct request *rq, size_t count);

#endif
