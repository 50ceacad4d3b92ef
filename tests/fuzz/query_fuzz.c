/* query_fuzz.c - any bytes as path, query and headers of any route.
 *
 * Fields are separated by newlines: method, path or the number of a route,
 * headers, then names and values of the query in turn.
 */
#include "tests/fuzz/service_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIELDS = 64 };

static size_t split(char *text, const char *field[FIELDS])
{
    size_t count = 0;
    char *rest = NULL;

    for (char *f = strtok_r(text, "\n", &rest); f && count < FIELDS;
         f = strtok_r(NULL, "\n", &rest))
        field[count++] = f;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    const char *field[FIELDS] = {0};
    struct query_pair query[FIELDS / 2];
    struct message m = {.body = "{}", .body_length = 2, .remote_address = "127.0.0.1"};
    size_t route_count = 0, count;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    count = split(text, field);
    while (routes()[route_count].method)
        route_count++;
    m.method = count > 0 ? field[0] : "GET";
    m.path = count > 1 ? field[1] : "/";
    if (m.path[0] != '/')
        m.path = routes()[(unsigned char)m.path[0] % route_count].path;
    m.accept = field[2];
    m.accept_encoding = field[3];
    m.if_none_match = field[4];
    m.traceparent = field[5];
    m.request_id = field[6];
    m.authorization = field[7];
    m.content_type = field[8];
    for (size_t i = 9; i + 1 < count; i += 2)
        query[m.query_count++] = (struct query_pair){field[i], field[i + 1]};
    m.query = query;
    fuzz_answer(&m);
    free(text);
    return 0;
}
