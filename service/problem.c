/* problem.c - failures as application/problem+json (RFC 9457). */
#include "service/problem.h"

#include <string.h>

enum { RESERVE_BYTES = 256 * 1024 }; /* for the description of a full arena */

static void print_items(const struct error *err, struct text_buffer *b)
{
    text_addf(b, ",\"error_count\":%zu,\"errors\":[", err->item_count);
    for (const struct error_item *i = err->first; i; i = i->next) {
        text_addf(b, i == err->first ? "{" : ",{");
        if (i->header) {
            text_addf(b, "\"in\":\"header\",\"name\":\"%s\"", i->header);
        } else {
            text_addf(b, "\"pointer\":");
            json_print_text(i->pointer, b);
        }
        text_addf(b, ",\"code\":\"%s\",\"detail\":", i->kind);
        json_print_text(i->detail, b);
        text_addf(b, "}");
    }
    text_addf(b, "]");
}

static void print_one(const struct error *err, const char *name, struct text_buffer *b)
{
    if (!err->field[0])
        return;
    text_addf(b, ",\"errors\":[{\"pointer\":");
    json_print_text(err->field, b);
    text_addf(b, ",\"code\":\"%s\",\"detail\":", name);
    json_print_text(err->text, b);
    text_addf(b, "}]");
}

/* What the client sees when even the description finds no memory. */
static const char no_memory[] =
    "{\"type\":\"urn:gridplan:problem:unavailable\",\"title\":\"A part of the service is "
    "down\",\"status\":503,\"code\":\"unavailable\",\"detail\":\"the service is out of "
    "memory; "
    "try again later\"}";

void problem_reply(const struct error *err, const char *instance, const char *request_id,
                   struct reply *reply, struct arena *a)
{
    const struct error_kind *kind = &error_kinds[err->code];
    size_t cap_bytes = arena_cap_bytes(a);
    struct text_buffer b = {.arena = a};

    arena_set_cap(a, arena_used_bytes(a) + RESERVE_BYTES);
    text_addf(&b,
              "{\"type\":\"urn:gridplan:problem:%s\",\"title\":\"%s\",\"status\":%d,"
              "\"code\":\"%s\",\"detail\":",
              kind->name, kind->title, kind->http_status, kind->name);
    json_print_text(err->text, &b);
    text_addf(&b, ",\"instance\":");
    json_print_text(instance, &b);
    text_addf(&b, ",\"request_id\":");
    json_print_text(request_id, &b);
    if (err->violated_policy)
        text_addf(&b, ",\"violated_policies\":[\"%s\"]", err->violated_policy);
    if (err->item_count)
        print_items(err, &b);
    else
        print_one(err, kind->name, &b);
    text_addf(&b, "}");
    reply->status = b.failed ? 503 : kind->http_status;
    reply->body = b.failed ? no_memory : b.data;
    reply->body_length = b.failed ? strlen(no_memory) : b.length;
    reply->content_type = "application/problem+json";
    if (err->retry_after_s > 0) {
        const char *seconds = arena_printf(a, "%d", err->retry_after_s);

        reply_header_add(reply, "Retry-After", seconds ? seconds : "1");
    }
    arena_set_cap(a, cap_bytes);
}
