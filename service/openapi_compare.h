/* openapi_compare.h - what a changed description of the API breaks for its clients.
 *
 * A request must still be taken, and an answer still be understood: so what may be sent
 * may grow, and what may come back may not. Descriptions, examples and order do not
 * count.
 */
#ifndef GRIDPLAN_OPENAPI_COMPARE_H
#define GRIDPLAN_OPENAPI_COMPARE_H

#include "models/base/arena.h"
#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct openapi_difference {
    const char *operation; /* "POST /v1/placements" */
    const char *place;     /* "200/placements[]/finish_s"; "": the operation itself */
    const char *what;
    bool breaking; /* else an addition */
    bool allowed;  /* breaking, and a line of `breaks` says so */
};

struct openapi_comparison {
    const struct openapi_difference *list; /* in the order of the operations */
    size_t count;
    size_t breaking_count, addition_count, allowed_count; /* they sum up to count */
};

/* Compares two descriptions, OpenAPI 3.1 in JSON. `breaks`, NULL: none, lists deliberate
 * breaks, a line each: "operation | place | why | date of sunset"; # begins a remark. A
 * line allows something only where the new description has the next major version of
 * the path (/v2 beside /v1). A line that is wrong, or that fits no break, is ERR_INVALID.
 * The texts of the result are in `a`. */
enum error_code openapi_compare(const char *released, const char *present,
                                const char *breaks, struct openapi_comparison *out,
                                struct arena *a, struct error *err);

#endif
