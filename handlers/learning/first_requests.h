/* first_requests.h - how much memory jobs are to ask for at first: what
 * POST /v1/resource-sizings with its presets says of the first attempt. */
#ifndef GRIDPLAN_FIRST_REQUESTS_H
#define GRIDPLAN_FIRST_REQUESTS_H

#include "models/base/value.h"
#include "service/route.h"

struct first_request {
    const char *application_id; /* or */
    const char *model_id;       /* of a model of run times, or of peaks */
    double problem_size;        /* NAN: not known */
    double processors;          /* NAN: 1; below 0: so many, unless all runs had one */
    const struct named_value *parameters;
    size_t parameter_count;
    double memory_bytes; /* that its user asks for, > 0; NAN: nothing */
};

/* bytes[i]: of request i; NAN: there are too few runs, and it asks for nothing itself. A
 * replay takes the models as they were. Without a database *unavailable. */
enum error_code first_requests(struct request *rq, const struct first_request *list,
                               size_t count, double *bytes, bool *unavailable);

#endif
