/* nearest.c - where a path that there is not may have been meant to lead. */
#include "service/nearest.h"

#include "models/base/names.h"
#include "models/base/spelling.h"
#include "service/service.h"

#include <string.h>

enum {
    SEGMENT_BYTES = 64,   /* longer ones are like nothing */
    SEGMENT_DISTANCE = 3, /* letters that a segment may be off */
};

/* The segment that begins behind the slash at `path`, in the spelling of routes and
 * without an 's' at its end; false: it is too long. */
static bool take_segment(const char *path, char *segment, size_t *length)
{
    size_t end;

    *length = strcspn(path, "/");
    if (!name_spell(path, *length, segment, SEGMENT_BYTES))
        return false;
    end = strlen(segment);
    if (end > 1 && segment[end - 1] == 's')
        segment[end - 1] = 0;
    return true;
}

/* Letters between a path and a template; SIZE_MAX: they are not alike. */
static size_t path_distance(const char *template, const char *path)
{
    size_t sum = 0;

    while (*template == '/' && *path == '/') {
        char wanted[SEGMENT_BYTES], given[SEGMENT_BYTES];
        size_t wanted_length, given_length, here;

        template ++;
        path++;
        if (*template == '{') {
            wanted_length = strcspn(template, "/");
            given_length = strcspn(path, "/");
            here = given_length ? 0 : SIZE_MAX;
        } else if (!take_segment(template, wanted, &wanted_length) ||
                   !take_segment(path, given, &given_length)) {
            return SIZE_MAX;
        } else {
            here = names_distance(wanted, given);
            if (here > SEGMENT_DISTANCE || here >= strlen(wanted))
                return SIZE_MAX;
        }
        if (here == SIZE_MAX)
            return SIZE_MAX;
        sum += here;
        template += wanted_length;
        path += given_length;
    }
    return *template || *path ? SIZE_MAX : sum;
}

/* The template with the given values; NULL without memory. */
static const char *fill(const char *template, const char *path, struct arena *a)
{
    struct text_buffer b = {.arena = a};

    while (*template == '/') {
        size_t wanted = strcspn(template + 1, "/") + 1;
        size_t given = strcspn(path + 1, "/") + 1;

        if (template[1] == '{')
            text_add(&b, path, given);
        else
            text_add(&b, template, wanted);
        template += wanted;
        path += given;
    }
    return b.failed ? NULL : b.data;
}

const struct route *nearest_route(const struct route *table, const char *method,
                                  const char *path, const char **there, struct arena *a)
{
    const struct route *nearest = NULL;
    size_t least = SIZE_MAX;

    for (const struct route *r = table; r->method; r++) {
        size_t distance = path_distance(r->path, path);
        bool is_better = distance < least || (distance == least && nearest &&
                                              strcmp(nearest->method, method) != 0 &&
                                              strcmp(r->method, method) == 0);

        if (distance == SIZE_MAX || !is_better)
            continue;
        nearest = r;
        least = distance;
    }
    *there = nearest ? fill(nearest->path, path, a) : NULL;
    return *there ? nearest : NULL;
}

/* What people call things here, by the last word of a path. */
static const char *path_of_word(const char *path)
{
    static const char *const words[][2] = {
        {"allocation", "/v1/placements"},
        {"checkpoint", "/v1/checkpoint-intervals"},
        {"cluster", "/v1/snapshots"},
        {"health", "/readyz"},
        {"job", "/v1/placements"},
        {"metric", "/metrics"},
        {"node", "/v1/snapshots"},
        {"policie", "/v1/algorithms"},
        {"queue", "/v1/queue-orders"},
        {"replication", "/v1/replica-counts"},
        {"resource", "/v1/snapshots"},
        {"run", "/v1/executions"},
        {"schedule", "/v1/workflow-schedules"},
        {"task", "/v1/workflow-schedules"},
        {"trace", "/v1/workloads"},
        {"version", "/v1/service-info"},
        {"workflow", "/v1/workflow-schedules"},
    };
    char segment[SEGMENT_BYTES];
    const char *word = strncmp(path, "/v1/", 4) == 0 ? path + 4 : path + (*path == '/');
    size_t length;

    if (!take_segment(word, segment, &length) || word[length])
        return NULL;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i][0], segment) == 0)
            return words[i][1];
    return NULL;
}

enum error_code nearest_refuse(struct request *rq, enum error_code code,
                               const char *allow)
{
    const struct message *m = rq->message;
    const char *method = strcmp(m->method, "HEAD") == 0 ? "GET" : m->method;
    const struct route *nearest;
    const char *there, *path;
    size_t length;

    rq->err->in = "path";
    rq->err->name = "path";
    if (code == ERR_METHOD) {
        reply_header_add(rq->reply, "Allow",
                         arena_try_text(rq->arena, allow, strlen(allow)));
        rq->err->hint = arena_try_printf(rq->arena, "%.*s %s", (int)strcspn(allow, ","),
                                         allow, m->path);
        return fail(rq->err, code, "", "%.20s is not possible here; the path allows %s",
                    m->method, allow);
    }
    length = strlen(m->path);
    length -= length > 1 && m->path[length - 1] == '/';
    path = arena_try_text(rq->arena, m->path, length);
    if (path && path_of_word(path))
        path = path_of_word(path);
    nearest =
        path ? nearest_route(rq->service->routes, method, path, &there, rq->arena) : NULL;
    if (!nearest && path) /* all of the API is below /v1 */
        path = arena_try_printf(rq->arena, "/v1%s", path);
    if (!nearest && path)
        nearest = nearest_route(rq->service->routes, method, path, &there, rq->arena);
    if (!nearest)
        return fail(rq->err, code, "",
                    "there is no path '%.100s'; GET /openapi.json lists them", m->path);
    rq->err->hint = strcmp(nearest->method, method) == 0
                        ? there
                        : arena_try_printf(rq->arena, "%s %s", nearest->method, there);
    return fail(rq->err, code, "", "there is no %.100s; did you mean %s %.150s?", m->path,
                nearest->method, there);
}

/* ---- a slash too many ---- */

bool nearest_redirect(struct request *rq)
{
    const struct message *m = rq->message;
    struct text_buffer b = {.arena = rq->arena};
    size_t length = strlen(m->path);
    enum error_code ignored;
    char allow[80];
    char *path;

    if (length < 2 || m->path[length - 1] != '/' ||
        (strcmp(m->method, "GET") != 0 && strcmp(m->method, "HEAD") != 0))
        return false;
    path = arena_try_text(rq->arena, m->path, length - 1);
    if (!path || !route_find(rq->service->routes, m->method, path, allow, &ignored))
        return false;
    text_add_encoded(&b, path, true);
    for (size_t i = 0; i < m->query_count; i++) {
        text_add(&b, i ? "&" : "?", 1);
        text_add_encoded(&b, m->query[i].name, false);
        text_add(&b, "=", 1);
        text_add_encoded(&b, m->query[i].value, false);
    }
    if (b.failed)
        return false;
    reply_header_add(rq->reply, "Location", b.data);
    rq->reply->status = 308;
    return true;
}
