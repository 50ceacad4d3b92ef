/* problem.c - failures as application/problem+json (RFC 9457). */
#include "service/problem.h"

#include "service/config.h"
#include "service/json_holds.h"
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

static const struct json_field no_rows[] = {{0}};
const struct json_object problem_json = {"Problem", "What went wrong, as in RFC 9457", 0,
                                         no_rows};

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

static void print_place(const struct error_item *i, struct text_buffer *b)
{
    if (i->line)
        text_addf(b, "\"line\":%llu,", (unsigned long long)i->line);
    if (i->in) {
        text_addf(b, "\"in\":\"%s\",\"name\":", i->in);
        print_text(i->name, b);
    } else {
        text_addf(b, "\"pointer\":");
        print_text(i->pointer, b);
    }
}

static void print_allowed(const struct error_item *i, struct text_buffer *b)
{
    if (i->allowed_number) {
        text_addf(b, ",\"allowed\":[");
        json_print_number(*i->allowed_number, b);
        text_addf(b, "]");
    }
    for (size_t k = 0; k < i->allowed_count; k++) {
        text_addf(b, k ? "," : ",\"allowed\":[");
        print_text(i->allowed[k], b);
        text_addf(b, "%s", k + 1 == i->allowed_count ? "]" : "");
    }
}

/* What is short, and who has it. */
static void print_short(const struct error_item *i, struct text_buffer *b)
{
    if (i->amount) {
        text_addf(b, ",\"amount\":");
        print_text(i->amount, b);
        text_addf(b, ",\"needed\":");
        json_print_number(i->needed, b);
        text_addf(b, ",\"free\":");
        json_print_number(i->free, b);
    }
    if (!i->owners)
        return;
    text_addf(b, ",\"owners\":[");
    for (size_t k = 0; k < i->owner_count; k++) {
        text_addf(b, k ? "," : "");
        print_text(i->owners[k], b);
    }
    text_addf(b, "]");
}

static void print_item(const struct error_item *i, const char *code,
                       struct text_buffer *b)
{
    text_addf(b, "{");
    print_place(i, b);
    text_addf(b, ",\"code\":\"%s\",\"detail\":", code);
    print_text(i->detail, b);
    if (i->hint) {
        text_addf(b, ",\"hint\":");
        print_text(i->hint, b);
    }
    print_allowed(i, b);
    print_short(i, b);
    text_addf(b, "}");
}

static void print_items(const struct error *err, struct text_buffer *b)
{
    text_addf(b, ",\"error_count\":%zu,\"errors\":[", err->item_count);
    for (const struct error_item *i = err->first; i; i = i->next) {
        if (i != err->first)
            text_add(b, ",", 1);
        print_item(i, item_kinds[i->code].name, b);
    }
    text_addf(b, "]");
}

/* The header field that a failure of this kind is about; NULL: the body. */
static const char *header_of(enum error_code code)
{
    switch (code) {
    case ERR_UNAUTHENTICATED:
    case ERR_FORBIDDEN:
        return "Authorization";
    case ERR_NOT_ACCEPTABLE:
        return "Accept";
    case ERR_STALE:
    case ERR_NO_CONDITION:
        return "If-Match";
    case ERR_MEDIA_TYPE:
        return "Content-Type";
    case ERR_MISDIRECTED:
        return "Host";
    default:
        return NULL;
    }
}

/* A failure that is no list of mistakes is one mistake; those of the service are none. */
static void print_one(const struct error *err, struct text_buffer *b)
{
    struct error_item one = {.pointer = err->field,
                             .detail = err->text,
                             .in = err->in,
                             .name = err->name,
                             .hint = err->hint};
    const char *code = error_kinds[err->code].name;

    if (error_kinds[err->code].http_status >= 500 && !err->field[0])
        return;
    if (!one.in && err->field[0] == '?') {
        one.in = "query";
        one.name = err->field + (err->field[1] == '/' ? 2 : 1);
    } else if (!one.in && !err->field[0] && header_of(err->code)) {
        one.in = "header";
        one.name = header_of(err->code);
    } else if (!one.in && err->code == ERR_NOT_FOUND && err->field[0]) {
        code = item_kinds[ITEM_UNKNOWN_ID].name;
    }
    text_addf(b, ",\"error_count\":1,\"errors\":[");
    print_item(&one, code, b);
    text_addf(b, "]");
}

/* What the client sees when even the description finds no memory. */
static const char no_memory[] =
    "{\"type\":\"/docs/errors/unavailable\",\"title\":\"A part of the service is "
    "down\",\"status\":503,\"code\":\"unavailable\",\"detail\":\"the service is out of "
    "memory; "
    "try again later\",\"instance\":\"\",\"request_id\":\"\"}";

void problem_reply(const struct config *config, const struct error *err,
                   const char *instance, const char *request_id, struct reply *reply,
                   struct arena *a)
{
    const struct error_kind *kind = &error_kinds[err->code];
    size_t cap_bytes = arena_cap_bytes(a);
    struct text_buffer b = {.arena = a};

    arena_set_cap(a, arena_used_bytes(a) + RESERVE_BYTES);
    arena_allow_overdraft(a, true);
    text_addf(&b,
              "{\"type\":\"%s/docs/errors/%s\",\"title\":\"%s\",\"status\":%d,"
              "\"code\":\"%s\",\"detail\":",
              config && config->public_url ? config->public_url : "", kind->name,
              kind->title, kind->http_status, kind->name);
    print_text(err->text, &b);
    text_addf(&b, ",\"instance\":");
    text_add(&b, "\"", 1);
    text_add_encoded(&b, instance, true);
    text_add(&b, "\"", 1);
    text_addf(&b, ",\"request_id\":");
    json_print_text(request_id, &b);
    if (err->violated_policy)
        text_addf(&b, ",\"violated_policies\":[\"%s\"]", err->violated_policy);
    if (err->item_count)
        print_items(err, &b);
    else
        print_one(err, &b);
    text_addf(&b, "}");
    reply->status = b.failed ? 503 : kind->http_status;
    reply->body = b.failed ? no_memory : b.data;
    reply->body_length = b.failed ? strlen(no_memory) : b.length;
    reply->content_type = "application/problem+json";
    if (err->retry_after_s > 0) {
        const char *seconds = arena_try_printf(a, "%d", err->retry_after_s);

        reply_header_add(reply, "Retry-After", seconds ? seconds : "1");
    }
    arena_allow_overdraft(a, false);
    arena_set_cap(a, cap_bytes);
}
