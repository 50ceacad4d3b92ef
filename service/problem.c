/* problem.c - failures as application/problem+json (RFC 9457). */
#include "service/problem.h"

#include "service/json_scan.h"

#include <string.h>

enum { RESERVE_BYTES = 256 * 1024 }; /* for the description of a full arena */

/* Bytes of the UTF-8 character that begins here; 0: it is none. */
static size_t character_length(const char *p, size_t left)
{
    for (size_t length = 1; length <= 4 && length <= left; length++)
        if (json_is_utf8(p, length))
            return length;
    return 0;
}

/* A text that may hold what the client has sent: a byte that is no UTF-8 as %XX. */
static void print_text(const char *text, struct text_buffer *b)
{
    size_t length = strlen(text);
    struct text_buffer clean = {.arena = b->arena};

    if (json_is_utf8(text, length)) {
        json_print_text(text, b);
        return;
    }
    for (const char *p = text, *end = text + length; p < end;) {
        size_t good = character_length(p, (size_t)(end - p));

        if (good)
            text_add(&clean, p, good);
        else
            text_addf(&clean, "%%%02X", (unsigned)(unsigned char)*p);
        p += good ? good : 1;
    }
    text_add(&clean, "", 1);
    b->failed = b->failed || clean.failed;
    json_print_text(clean.failed ? "" : clean.data, b);
}

static void print_items(const struct error *err, struct text_buffer *b)
{
    text_addf(b, ",\"error_count\":%zu,\"errors\":[", err->item_count);
    for (const struct error_item *i = err->first; i; i = i->next) {
        text_addf(b, i == err->first ? "{" : ",{");
        if (i->in) {
            text_addf(b, "\"in\":\"%s\",\"name\":", i->in);
            print_text(i->name, b);
        } else {
            text_addf(b, "\"pointer\":");
            print_text(i->pointer, b);
        }
        text_addf(b, ",\"code\":\"%s\",\"detail\":", item_kinds[i->code].name);
        print_text(i->detail, b);
        text_addf(b, "}");
    }
    text_addf(b, "]");
}

static void print_one(const struct error *err, const char *name, struct text_buffer *b)
{
    if (!err->field[0])
        return;
    text_addf(b, ",\"errors\":[{\"pointer\":");
    print_text(err->field, b);
    text_addf(b, ",\"code\":\"%s\",\"detail\":", name);
    print_text(err->text, b);
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
    arena_allow_overdraft(a, true);
    text_addf(&b,
              "{\"type\":\"urn:gridplan:problem:%s\",\"title\":\"%s\",\"status\":%d,"
              "\"code\":\"%s\",\"detail\":",
              kind->name, kind->title, kind->http_status, kind->name);
    print_text(err->text, &b);
    text_addf(&b, ",\"instance\":");
    print_text(instance, &b);
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
    arena_allow_overdraft(a, false);
    arena_set_cap(a, cap_bytes);
}
