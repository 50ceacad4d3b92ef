/* openapi.h - the description of the API, printed from the tables. */
#ifndef GRIDPLAN_OPENAPI_H
#define GRIDPLAN_OPENAPI_H

#include "service/route.h"

/* Raised by each addition to a released description. */
enum { API_REVISION = 5 };

/* Whether an example of this name, or a file of it, belongs to the route: the name begins
 * with what its row says or, where that says nothing, with the name of the operation. */
bool openapi_is_example(const struct route *route, const char *name);

/* The i-th status of a refusal that the operation may be answered with; false: no more.
 */
bool openapi_failure(const struct route *route, size_t i, const char **status,
                     const char **doc);

/* Settings that bound members of requests; the committed description has the defaults. */
struct openapi_limits {
    double time_limit_max_s, simulation_time_limit_s;
};

/* OpenAPI 3.1 as JSON: every route of the table with its parameters, bodies and
 * answers, and the shortest example of each kind. */
void openapi_print(const struct route *routes, struct text_buffer *b);

/* The same with a line for each member of a schema, attribute of an operation and
 * example: a difference of two shows what has changed. */
void openapi_print_lines(const struct route *routes, struct text_buffer *b);

/* What is sent, and its ETag. */
struct openapi_text {
    const char *data;
    size_t length;
    char etag[24];
};

/* The description as it is served: printed and compressed once. */
struct openapi_document {
    struct arena *arena;
    struct openapi_text plain, packed; /* packed: by gzip */
};

/* `limits` NULL: the defaults. */
enum error_code openapi_document_create(const struct route *routes,
                                        const struct openapi_limits *limits,
                                        struct openapi_document *document,
                                        struct error *err);
void openapi_document_close(struct openapi_document *document);

#endif
