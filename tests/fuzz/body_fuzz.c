/* body_fuzz.c - any bytes as the body of any route with one.
 *
 * The first byte chooses the route, the rest is the body; an answer must come,
 * and never be a 500.
 */
#include "tests/fuzz/service_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct route *with_body[256];
    size_t count = 0;
    struct message m = {.remote_address = "127.0.0.1", .path = "/"};
    const struct route *route;
    char path[256];

    if (size < 1)
        return 0;
    for (const struct route *r = routes(); r->method && count < 256; r++)
        if (r->request || r->flags & (ROUTE_MERGE_PATCH | ROUTE_RAW_BODY))
            with_body[count++] = r;
    route = with_body[data[0] % count];
    snprintf(path, sizeof(path), "%s", route->path);
    for (char *p = path; *p; p++)
        if (*p == '{' || *p == '}')
            *p = 'x';
    m.method = route->method;
    m.path = path;
    m.body = (const char *)data + 1;
    m.body_length = size - 1;
    m.content_type = route->flags & ROUTE_MERGE_PATCH ? "application/merge-patch+json"
                     : route->flags & ROUTE_BULK && data[0] & 128 ? "application/x-ndjson"
                                                                  : "application/json";
    fuzz_answer(&m);
    return 0;
}
