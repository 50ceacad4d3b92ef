/* openapi.h - the description of the API, printed from the tables. */
#ifndef GRIDPLAN_OPENAPI_H
#define GRIDPLAN_OPENAPI_H

#include "service/route.h"

/* A file below openapi/examples/, built into the program; ended by {0}. */
struct openapi_example {
    const char *name; /* "placements-plain.json" */
    const char *text;
};
extern const struct openapi_example openapi_examples[];

/* OpenAPI 3.1 as JSON: every route of the table with its parameters, bodies and
 * answers, and the examples whose names begin with the route's. */
void openapi_print(const struct route *routes, struct text_buffer *b);

#endif
