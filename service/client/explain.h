/* explain.h - a decision in sentences: by what, how good, why here, why not, what would
 * help.
 */
#ifndef GRIDPLAN_CLIENT_EXPLAIN_H
#define GRIDPLAN_CLIENT_EXPLAIN_H

#include "service/client/ask.h"

struct explain {
    const struct asked *who;      /* is asked what would be elsewhere */
    const char *endpoint;         /* "/v1/placements" */
    const char *request, *answer; /* JSON objects */
    const char *snapshot; /* what the request's snapshot_id meant; NULL: not known */
    const char *job_id;   /* of this job or task; NULL: of the decision */
};

/* Appends the sentences, a paragraph each. Where a job is, it is told of the three next
 * best resources what they would cost or lack: the request is asked again with the job
 * held there, for EXPLAIN_RESOURCES_MAX resources at most, the fastest ones first.
 * ERR_INVALID: these are no JSON objects, or nothing in them is of that name. */
enum { EXPLAIN_RESOURCES_MAX = 32 };
enum error_code explain(const struct explain *e, struct text_buffer *b,
                        struct error *err);

#endif
