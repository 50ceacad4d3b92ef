/* openapi.c - the description of the API, printed from the tables.
 *
 * Routes become operations, tables become schemas. The document is the same on
 * every machine, so that the committed openapi/openapi.json can be compared.
 */
#include "service/openapi.h"

#include "service/admission.h"
#include "service/asset.h"
#include "service/facade.h"
#include "service/gzip.h"
#include "service/hash.h"
#include "service/json_holds.h"
#include "service/problem.h"

#include <stdio.h>
#include <string.h>

enum {
    SCHEMAS_MAX = 1024,
    LISTS_MAX = 64,              /* of words that have a schema of their own */
    WORDS_MAX = 256,             /* of such a list */
    DOCUMENT_MAX_BYTES = 1 << 26 /* what printing it takes */
};

/* What a table describes here; the same rows mean different things in the two. */
enum role { IN_REQUEST, IN_ANSWER, ROLES };

/* Tables met so far; each is printed once. */
struct schemas {
    const struct json_object *table[SCHEMAS_MAX];
    size_t count;
    const struct json_words *words[LISTS_MAX];
    size_t list_count;
};

struct description {
    struct text_buffer *b;
    const struct route *routes;
    struct openapi_limits limits;
    bool has_lines; /* laid out, to be read and compared */
    struct schemas schemas[ROLES];
};

/* What follows has a line of its own in the layout. */
static void line(const struct description *d, int depth)
{
    if (d->has_lines)
        text_addf(d->b, "\n%*s", depth, "");
}

static bool has_schema(const struct schemas *s, const struct json_object *table)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->table[i] == table)
            return true;
    return false;
}

static void collect_words(struct schemas *s, const struct json_words *words,
                          struct text_buffer *b)
{
    for (size_t i = 0; i < s->list_count; i++)
        if (s->words[i] == words)
            return;
    if (s->list_count == LISTS_MAX)
        b->failed = true;
    else
        s->words[s->list_count++] = words;
}

static void collect(struct schemas *s, const struct json_object *table,
                    struct text_buffer *b)
{
    if (!table || table == &json_any_object || table == &problem_json ||
        has_schema(s, table))
        return;
    if (s->count == SCHEMAS_MAX) {
        b->failed = true; /* half a description is none */
        return;
    }
    s->table[s->count++] = table;
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        collect(s, f->of, b);
        if (f->words)
            collect_words(s, f->words, b);
        for (const struct json_kind *k = f->kinds; k && k->name; k++)
            collect(s, k->of, b);
    }
}

/* A table of both roles is two schemas: X of answers, XInput of requests. */
static void print_name(const struct json_object *table, enum role role,
                       const struct description *d)
{
    bool twice = has_schema(&d->schemas[IN_ANSWER], table) && role == IN_REQUEST;

    text_addf(d->b, "%s%s", table->name, twice ? "Input" : "");
}

static void print_ref(const struct json_object *table, enum role role,
                      const struct description *d)
{
    text_addf(d->b, "{\"$ref\":\"#/components/schemas/");
    print_name(table, role, d);
    text_addf(d->b, "\"}");
}

/* May the member be null? (Elements of NUMBERS: their own rule.) */
static bool is_nullable(const struct json_field *f, enum role role)
{
    return f->flags & (role == IN_REQUEST ? JSON_NULLABLE : JSON_MAY_BE_NULL);
}

static void print_simple_type(const char *type, bool nullable, struct text_buffer *b)
{
    text_addf(b, nullable ? "\"type\":[\"%s\",\"null\"]" : "\"type\":\"%s\"", type);
}

static void print_bound(const char *name, double bound, struct text_buffer *b)
{
    if (!isfinite(bound) || fabs(bound) >= JSON_LARGEST)
        return;
    text_addf(b, ",\"%s\":", name);
    json_print_number(bound, b);
}

/* The bound in force, and the setting that it comes from. */
static void print_time_limit(const struct json_field *f, const struct description *d)
{
    double max_s = d->limits.time_limit_max_s;
    const char *setting = "time_limit_max_s";

    if (f->flags & JSON_RUN_TIME_LIMIT && d->limits.simulation_time_limit_s > max_s) {
        max_s = d->limits.simulation_time_limit_s;
        setting = "simulation_time_limit_s";
    }
    print_bound("maximum", max_s, d->b);
    text_addf(d->b, ",\"x-gridplan-setting\":\"%s\"", setting);
}

static const char *number_type(const struct json_field *f)
{
    return f->flags & JSON_WHOLE ? "integer" : "number";
}

/* Number types: bounds only of what is asked for, and where they were set. */
static void print_number_schema(const struct json_field *f, const char *type,
                                bool element, enum role role, const struct description *d)
{
    struct text_buffer *b = d->b;

    print_simple_type(type, element ? f->flags & JSON_NULLABLE : is_nullable(f, role), b);
    if (role == IN_REQUEST && f->min < f->max) {
        print_bound(f->flags & JSON_ABOVE_MIN ? "exclusiveMinimum" : "minimum", f->min,
                    b);
        if (f->flags & (JSON_TIME_LIMIT | JSON_RUN_TIME_LIMIT))
            print_time_limit(f, d);
        else
            print_bound("maximum", f->max, b);
    }
}

/* Whether the preset is a value that a client may send, and that means the same. */
static bool has_default(const struct json_field *f)
{
    if (f->flags & (JSON_REQUIRED | JSON_BOUND_ONLY))
        return false;
    switch (f->type) {
    case JSON_TYPE_BOOLEAN:
        return !(f->flags & JSON_MAYBE);
    case JSON_TYPE_CHOICE:
        return f->preset >= 0;
    case JSON_TYPE_NUMBER:
    case JSON_TYPE_INTEGER:
        return isfinite(f->preset) && f->min < f->max && f->preset >= f->min &&
               f->preset <= f->max && !(f->flags & JSON_ABOVE_MIN && f->preset <= f->min);
    default:
        return false;
    }
}

static void print_default(const struct json_field *f, struct text_buffer *b)
{
    text_addf(b, ",\"default\":");
    if (f->type == JSON_TYPE_BOOLEAN)
        text_addf(b, "%s", f->preset != 0 ? "true" : "false");
    else if (f->type == JSON_TYPE_CHOICE)
        json_print_text(f->choices[(size_t)f->preset], b);
    else
        json_print_number(f->preset, b);
}

static bool is_word_before(const char *const *words, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(words[i], words[at]) == 0)
            return true;
    return false;
}

/* Each word once: a table may join others. "" stands for no word. */
static void print_words(const char *keyword, const char *const *words, bool or_null,
                        struct text_buffer *b)
{
    const char *comma = "";

    text_addf(b, ",\"%s\":[", keyword);
    for (size_t i = 0; words[i]; i++) {
        if (!words[i][0] || is_word_before(words, i))
            continue;
        text_addf(b, "%s", comma);
        json_print_text(words[i], b);
        comma = ",";
    }
    text_addf(b, or_null ? ",null]" : "]");
}

static void print_list_schema(const struct json_field *f, enum role role,
                              const struct description *d)
{
    struct text_buffer *b = d->b;

    print_simple_type("array", is_nullable(f, role) && f->type != JSON_TYPE_NUMBERS, b);
    text_addf(b, ",\"items\":");
    if (f->type == JSON_TYPE_LIST) {
        print_ref(f->of, role, d);
    } else if (f->type == JSON_TYPE_TEXTS) {
        text_addf(b, "{\"type\":\"string\"");
        if (role == IN_ANSWER && f->choices)
            print_words("x-known-values", f->choices, false, b);
        text_addf(b, "}");
    } else {
        text_addf(b, "{");
        print_number_schema(f, number_type(f), true, role, d);
        text_addf(b, "}");
    }
    if (role == IN_REQUEST && f->least > 0)
        text_addf(b, ",\"minItems\":%zu", f->least);
    if (role == IN_REQUEST && f->type != JSON_TYPE_NUMBERS && f->max > 0)
        text_addf(b, ",\"maxItems\":%.0f", f->max);
}

/* The schema of its list of words, or null. */
static void print_word_ref(const struct json_field *f, enum role role,
                           struct text_buffer *b)
{
    bool nullable = is_nullable(f, role);

    text_addf(b, "%s\"$ref\":\"#/components/schemas/%s\"%s",
              nullable ? "\"anyOf\":[{" : "", f->words->name,
              nullable ? "},{\"type\":\"null\"}]" : "");
}

static void print_text_schema(const struct json_field *f, enum role role,
                              struct text_buffer *b)
{
    if (role == IN_ANSWER && f->words) {
        print_word_ref(f, role, b);
        return;
    }
    print_simple_type("string", is_nullable(f, role), b);
    if (role == IN_ANSWER) {
        if (f->choices)
            print_words("x-known-values", f->choices, false, b);
        return;
    }
    if (f->min > 0)
        text_addf(b, ",\"minLength\":%.0f", f->min);
    if (f->max > 0)
        text_addf(b, ",\"maxLength\":%.0f", f->max);
}

static void print_choice_schema(const struct json_field *f, enum role role,
                                struct text_buffer *b)
{
    bool nullable = is_nullable(f, role);
    bool open = role == IN_ANSWER && f->flags & JSON_OPEN;

    print_simple_type("string", nullable, b);
    print_words(open ? "x-known-values" : "enum", f->choices, nullable && !open, b);
}

/* A request may write an instant as a number, an answer never does. */
static void print_instant_schema(const struct json_field *f, enum role role,
                                 struct text_buffer *b)
{
    if (role == IN_ANSWER) {
        print_simple_type("string", is_nullable(f, role), b);
        text_addf(b, ",\"format\":\"date-time\"");
        return;
    }
    text_addf(b,
              "\"anyOf\":[{\"type\":\"string\",\"format\":\"date-time\"},"
              "{\"type\":\"number\"}%s]",
              is_nullable(f, role) ? ",{\"type\":\"null\"}" : "");
}

static void print_object_schema(const struct json_field *f, enum role role,
                                const struct description *d)
{
    bool or_number = role == IN_REQUEST && f->flags & JSON_OR_NUMBER;
    bool or_boolean = role == IN_REQUEST && f->flags & JSON_OR_BOOLEAN;
    bool nullable = is_nullable(f, role);

    if (!or_number && !or_boolean && !nullable) {
        text_addf(d->b, "\"$ref\":\"#/components/schemas/");
        print_name(f->of, role, d);
        text_addf(d->b, "\"");
        return;
    }
    text_addf(d->b, "\"anyOf\":[%s%s", or_number ? "{\"type\":\"number\"}," : "",
              or_boolean ? "{\"type\":\"boolean\"}," : "");
    print_ref(f->of, role, d);
    text_addf(d->b, nullable ? ",{\"type\":\"null\"}]" : "]");
}

/* What a kept text holds: what its table prints, any object, or any JSON at all. */
static void print_raw_schema(const struct json_field *f, enum role role,
                             const struct description *d)
{
    bool nullable = is_nullable(f, role);

    if (f->of == &json_any_object) {
        print_simple_type("object", nullable, d->b);
        text_addf(d->b, ",\"additionalProperties\":true");
    } else if (f->of && f->max > 0) {
        print_simple_type("array", nullable, d->b);
        text_addf(d->b, ",\"items\":");
        print_ref(f->of, role, d);
    } else if (f->of) {
        print_object_schema(f, role, d);
    }
}

/* The schema of a member, without its braces. */
static void print_type(const struct json_field *f, enum role role,
                       const struct description *d)
{
    struct text_buffer *b = d->b;

    switch (f->type) {
    case JSON_TYPE_NUMBER:
        print_number_schema(f, number_type(f), false, role, d);
        break;
    case JSON_TYPE_INTEGER:
        print_number_schema(f, "integer", false, role, d);
        break;
    case JSON_TYPE_BOOLEAN:
        print_simple_type("boolean", is_nullable(f, role), b);
        break;
    case JSON_TYPE_TEXT:
        print_text_schema(f, role, b);
        break;
    case JSON_TYPE_CHOICE:
        print_choice_schema(f, role, b);
        break;
    case JSON_TYPE_INSTANT:
        print_instant_schema(f, role, b);
        break;
    case JSON_TYPE_OBJECT:
        print_object_schema(f, role, d);
        break;
    case JSON_TYPE_VALUES:
        print_simple_type("object", is_nullable(f, role), b);
        if (f->flags & JSON_AMOUNTS_ONLY)
            text_addf(b,
                      ",\"additionalProperties\":"
                      "{\"type\":\"number\",\"minimum\":0,\"maximum\":%.15g}",
                      f->flags & JSON_ALL_AMOUNTS ? AMOUNT_BYTES_MAX : AMOUNT_MAX);
        else
            text_addf(b, ",\"additionalProperties\":"
                         "{\"type\":[\"number\",\"boolean\",\"string\",\"null\"]}");
        break;
    case JSON_TYPE_LIST:
    case JSON_TYPE_NUMBERS:
    case JSON_TYPE_TEXTS:
        print_list_schema(f, role, d);
        break;
    case JSON_TYPE_RAW:
        print_raw_schema(f, role, d);
        break;
    case JSON_TYPE_KIND: /* print_kinds() */
    case JSON_END:
        break;
    }
}

/* A default stands inside allOf: generators take a member with a plain one for one that
 * is always there. */
static void print_member(const struct json_field *f, enum role role,
                         const struct description *d)
{
    bool wrapped = role == IN_REQUEST && has_default(f);
    size_t before;

    text_addf(d->b, "{\"description\":");
    json_print_text(f->doc, d->b);
    text_addf(d->b, wrapped ? ",\"allOf\":[{" : ",");
    before = d->b->length;
    print_type(f, role, d);
    if (d->b->length == before)
        d->b->length -= !d->b->failed; /* any JSON: the comma */
    if (wrapped) {
        print_default(f, d->b);
        text_addf(d->b, "}]");
    }
    text_addf(d->b, "}");
}

/* One of several objects, told apart by their member "kind", or another. (The service
 * takes a request without it for the first kind, or the one that a hint tells.) */
static void print_kinds(const struct json_object *table, enum role role,
                        const struct description *d)
{
    const struct json_field *f = table->fields;
    const struct json_kind *kinds = f->kinds;
    struct text_buffer *b = d->b;

    text_addf(b, "\"description\":");
    json_print_text(table->doc, b);
    text_addf(b, ",");
    line(d, 3);
    text_addf(b, "\"oneOf\":[");
    for (const struct json_kind *k = kinds; k->name; k++) {
        text_addf(b, k == kinds ? "" : ",");
        print_ref(k->of, role, d);
    }
    text_addf(b, "],");
    line(d, 3);
    text_addf(b, "\"discriminator\":{\"propertyName\":\"%s\",\"mapping\":{", f->name);
    for (const struct json_kind *k = kinds; k->name; k++) {
        text_addf(b,
                  k == kinds ? "\"%s\":\"#/components/schemas/"
                             : ",\"%s\":\"#/components/schemas/",
                  k->name);
        print_name(k->of, role, d);
        text_addf(b, "\"");
    }
    text_addf(b, "}}}");
}

/* The member that tells this table from its siblings; NULL if it has none. */
static const char *discriminator(const struct json_object *table, const struct schemas *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct json_field *f = s->table[i]->fields;

        for (const struct json_kind *k = f->kinds; k && k->name; k++)
            if (k->of == table)
                return f->name;
    }
    return NULL;
}

static bool is_required(const struct json_field *f, enum role role, const char *kind)
{
    if (kind && strcmp(kind, f->name) == 0)
        return true;
    return role == IN_REQUEST ? f->flags & JSON_REQUIRED : !(f->flags & JSON_OPTIONAL);
}

static const struct json_field *field_named(const struct json_object *table,
                                            const char *name)
{
    const struct json_field *f = table->fields;

    while (f->type != JSON_END && strcmp(f->name, name) != 0)
        f++;
    return f;
}

static bool is_list(const struct json_field *f)
{
    return f->type == JSON_TYPE_LIST || f->type == JSON_TYPE_TEXTS ||
           f->type == JSON_TYPE_NUMBERS;
}

/* The member is there, neither null nor an empty list. */
static void print_given(const struct json_field *f, struct text_buffer *b)
{
    text_addf(b, "{\"required\":[\"%s\"],\"properties\":{\"%s\":", f->name, f->name);
    if (is_list(f) && f->least == 0)
        text_addf(b, "{\"type\":\"array\",\"items\":{},\"minItems\":1}");
    else if (f->flags & JSON_NULLABLE)
        text_addf(b, "{\"not\":{\"type\":\"null\"}}");
    else
        text_addf(b, "{}");
    text_addf(b, "}}");
}

static void print_all_given(const struct json_object *table, const struct json_field *f,
                            const char *const *names, struct text_buffer *b)
{
    print_given(f, b);
    for (; *names; names++) {
        text_addf(b, ",");
        print_given(field_named(table, *names), b);
    }
}

static void next_element(struct text_buffer *b)
{
    if (b->length > 0 && b->data[b->length - 1] != '[')
        text_addf(b, ",");
}

/* What is refused of an object for one row: the row with one that excludes it, without
 * any that would do for it, without one that goes with it. */
static void print_company(const struct json_object *table, const struct json_field *f,
                          struct text_buffer *b)
{
    for (const char *const *name = f->not_with; name && *name; name++) {
        next_element(b);
        text_addf(b, "{\"allOf\":[");
        print_all_given(table, f, (const char *const[]){*name, NULL}, b);
        text_addf(b, "]}");
    }
    if (f->unless) {
        next_element(b);
        text_addf(b, "{\"not\":{\"anyOf\":[");
        print_all_given(table, f, f->unless, b);
        text_addf(b, "]}}");
    }
    if (f->with) {
        next_element(b);
        text_addf(b, "{\"allOf\":[");
        print_given(f, b);
        text_addf(b, ",{\"not\":{\"allOf\":[");
        print_all_given(table, f, f->with, b);
        text_addf(b, "]}}]}");
    }
}

/* What print_company() prints, for all rows. */
static size_t count_company(const struct json_object *table)
{
    size_t count = 0;

    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        for (const char *const *name = f->not_with; name && *name; name++)
            count++;
        count += f->unless ? 1 : 0;
        count += f->with ? 1 : 0;
    }
    return count;
}

/* Members that exclude one another, or of which one must be there. It stands below `not`,
 * which generators of clients skip: they make wrong types of choices without a kind. */
static void print_companies(const struct json_object *table, const struct description *d)
{
    struct text_buffer list = {.arena = d->b->arena};
    bool several = count_company(table) > 1; /* a choice of one is none */

    for (const struct json_field *f = table->fields; f->type != JSON_END; f++)
        print_company(table, f, &list);
    text_addf(d->b, ",");
    line(d, 2);
    text_addf(d->b, several ? "\"not\":{\"anyOf\":[" : "\"not\":");
    text_add(d->b, list.data, list.length);
    if (several)
        text_addf(d->b, "]}");
    d->b->failed |= list.failed;
}

/* Requests are closed: the service refuses members that it does not know. Answers are
 * open: a later version may add some. */
static void print_schema(const struct json_object *table, enum role role,
                         const struct description *d)
{
    const char *kind = discriminator(table, &d->schemas[role]);
    struct text_buffer *b = d->b;
    bool first = true;

    text_addf(b, "\"");
    print_name(table, role, d);
    text_addf(b, "\":{");
    if (table->fields->type == JSON_TYPE_KIND) {
        print_kinds(table, role, d);
        return;
    }
    text_addf(b, "\"type\":\"object\",\"description\":");
    json_print_text(table->doc, b);
    text_addf(b, ",\"properties\":{");
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        text_addf(b, f == table->fields ? "" : ",");
        line(d, 3);
        text_addf(b, "\"%s\":", f->name);
        print_member(f, role, d);
    }
    line(d, 2);
    text_addf(b, role == IN_REQUEST ? "},\"additionalProperties\":false" : "}");
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        if (!is_required(f, role, kind))
            continue;
        text_addf(b, first ? ",\"required\":[\"%s\"" : ",\"%s\"", f->name);
        first = false;
    }
    text_addf(b, first ? "" : "]");
    if (role == IN_REQUEST && count_company(table) > 0)
        print_companies(table, d);
    text_addf(b, "}");
}

/* ---- operations ---- */

/* What stands in headers: name, schema type, doc. */
#define HEADERS(X)                                                                       \
    X(X_REQUEST_ID, "X-Request-Id", "string", "The request's id, as the log has it")     \
    X(ETAG, "ETag", "string", "The version; If-Match and If-None-Match take it")         \
    X(LOCATION, "Location", "string", "Path of what was made, or of what to ask for")    \
    X(RETRY_AFTER, "Retry-After", "integer", "Seconds to wait before asking again")      \
    X(LINK, "Link", "string", "The next page, rel=\"next\" (RFC 8288); none: the last")  \
    X(IDEMPOTENCY_REPLAYED, "Idempotency-Replayed", "string",                            \
      "true: the answer of an earlier request with the same key")                        \
    X(IDEMPOTENCY_STORED, "Idempotency-Stored", "string",                                \
      "false: the key is known to this instance only, or not kept at all")               \
    X(PREFERENCE_APPLIED, "Preference-Applied", "string", "What of Prefer was honoured") \
    X(WWW_AUTHENTICATE, "WWW-Authenticate", "string", "How to show a key")               \
    X(RATE_LIMIT, "RateLimit", "string",                                                 \
      "What is left of the limits, when there are any: \"name\";r=left;t=seconds")       \
    X(RATE_LIMIT_POLICY, "RateLimit-Policy", "string",                                   \
      "The limits, when there are any: \"name\";q=quota;w=seconds")

enum header_index {
#define X(symbol, name, type, doc) HEADER_INDEX_##symbol,
    HEADERS(X)
#undef X
        HEADER_COUNT
};

enum header {
#define X(symbol, name, type, doc) HEADER_##symbol = 1 << HEADER_INDEX_##symbol,
    HEADERS(X)
#undef X
};

static const struct header_doc {
    const char *name, *type, *doc;
} headers[] = {
#define X(symbol, name, type, doc) {name, type, doc},
    HEADERS(X)
#undef X
};

enum {
    LIMIT_HEADERS = HEADER_RATE_LIMIT | HEADER_RATE_LIMIT_POLICY,
    KEY_HEADERS = HEADER_IDEMPOTENCY_REPLAYED | HEADER_IDEMPOTENCY_STORED,
    FAILURE_HEADERS = HEADER_X_REQUEST_ID | LIMIT_HEADERS | KEY_HEADERS
};

static void print_headers(unsigned set, struct text_buffer *b)
{
    bool first = true;

    for (size_t i = 0; i < HEADER_COUNT; i++) {
        if (!(set & 1u << i))
            continue;
        text_addf(b, "%s\"%s\":{\"$ref\":\"#/components/headers/%s\"}",
                  first ? ",\"headers\":{" : ",", headers[i].name, headers[i].name);
        first = false;
    }
    text_addf(b, first ? "" : "}");
}

static bool has_method(const struct route *r, const char *method)
{
    return strcmp(r->method, method) == 0;
}

static bool is_paged(const struct route *r)
{
    for (const struct json_field *f = r->query ? r->query->fields : NULL;
         f && f->type != JSON_END; f++)
        if (strcmp(f->name, "page_token") == 0)
            return true;
    return false;
}

static bool changes_version(const struct route *r)
{
    return r->flags & ROUTE_VERSIONED && !has_method(r, "GET") && strchr(r->path, '{');
}

static bool has_key(const struct route *r)
{
    return r->scope != SCOPE_NONE;
}

/* A facade may be switched off. */
static bool names_stored(const struct route *r)
{
    return strchr(r->path, '{') || r->flags & ROUTE_LOOKS_UP || facade_of(r->path);
}

static bool may_conflict(const struct route *r)
{
    return strncmp(r->path, "/v1/", 4) == 0 &&
           (!has_method(r, "GET") || r->flags & ROUTE_RUN);
}

static bool may_expire(const struct route *r)
{
    return r->flags & ROUTE_EXPIRES;
}

enum { FORM_FLAGS = ROUTE_ANSWERS_TEXT | ROUTE_ANSWERS_CHART | ROUTE_ANSWERS_GRAPH };

static bool has_forms(const struct route *r)
{
    return r->flags & FORM_FLAGS;
}

/* Whether there may be nothing in the form that is wanted. */
static bool may_not_fit(const struct route *r)
{
    return has_forms(r) || r->flags & (ROUTE_METRICS | ROUTE_RAW_PICTURE);
}

static bool always(const struct route *r)
{
    (void)r;
    return true;
}

/* The failures: each is one shared answer, named by the operations that can give it. */
static const struct failure {
    const char *status, *name, *doc;
    bool (*applies)(const struct route *r);
    unsigned headers; /* besides FAILURE_HEADERS */
} failures[] = {
    {"400", "Malformed", "The request cannot be read", always, 0},
    {"401", "Unauthenticated", "A valid key is needed", has_key, HEADER_WWW_AUTHENTICATE},
    {"403", "Forbidden", "The key does not allow this", has_key, 0},
    {"404", "NotFound", "There is nothing of that name", names_stored, 0},
    {"406", "NotAcceptable", "No such form of the answer", may_not_fit, 0},
    {"408", "SlowClient", "The body took too long to arrive", route_takes_body,
     HEADER_RETRY_AFTER},
    {"409", "Conflict", "The state does not allow this now", may_conflict,
     HEADER_RETRY_AFTER},
    {"410", "Gone", "What was stored under this name has expired", may_expire, 0},
    {"412", "Stale", "The stored version is another one", changes_version, 0},
    {"413", "TooLarge", "The request, or its answer, is larger than a limit", always,
     HEADER_RETRY_AFTER},
    {"415", "MediaType", "The content type is wrong", route_takes_body, 0},
    {"421", "Misdirected", "The host is not served here", always, 0},
    {"422", "Invalid", "Some values are not acceptable; all of them are in errors",
     always, 0},
    {"429", "RateLimited", "Too many requests, or a quota is used up", has_key,
     HEADER_RETRY_AFTER},
    {"500", "Internal", "The service failed", always, 0},
    {"503", "Unavailable", "A part of the service is down, or it is at its limit", always,
     HEADER_RETRY_AFTER},
};

enum { FAILURES = sizeof(failures) / sizeof(failures[0]) };

bool openapi_failure(const struct route *r, size_t i, const char **status,
                     const char **doc)
{
    for (size_t k = 0; k < FAILURES; k++)
        if (failures[k].applies(r) && i-- == 0) {
            *status = failures[k].status;
            *doc = failures[k].doc;
            return true;
        }
    return false;
}

static void print_path_parameters(const struct route *r, bool *first,
                                  const struct description *d)
{
    for (const char *p = r->path; (p = strchr(p, '{')); p++) {
        size_t length = strcspn(p + 1, "}");

        text_addf(d->b, *first ? "" : ",");
        line(d, 4);
        text_addf(d->b,
                  "{\"name\":\"%.*s\",\"in\":\"path\",\"required\":true,"
                  "\"schema\":{\"type\":\"string\"}}",
                  (int)length, p + 1);
        *first = false;
    }
}

static void print_query_parameters(const struct route *r, bool *first,
                                   const struct description *d)
{
    struct text_buffer *b = d->b;

    for (const struct json_field *f = r->query ? r->query->fields : NULL;
         f && f->type != JSON_END; f++) {
        text_addf(b, *first ? "" : ",");
        line(d, 4);
        text_addf(b, "{\"name\":\"%s\",\"in\":\"query\",\"required\":%s,\"description\":",
                  f->name, f->flags & JSON_REQUIRED ? "true" : "false");
        json_print_text(f->doc, b);
        text_addf(b, ",\"schema\":{");
        print_type(f, IN_REQUEST, d);
        if (has_default(f))
            print_default(f, b);
        text_addf(b, "}}");
        *first = false;
    }
}

/* Request headers, each one component: name, doc. */
static const struct request_header {
    const char *name, *doc;
} request_headers[] = {
    {"Idempotency-Key", "The same key and body give the first answer again for 24 hours"},
    {"Prefer", "respond-async: answer with 202 and work without the client; with wait=N "
               "the answer if it is there within N seconds"},
    {"If-Match", "Only if the stored version has this ETag: else 412"},
    {"If-None-Match",
     "GET: only if the version is another one than this ETag, else 304; PUT: * makes it "
     "only if there is none, else 412"},
};

static bool takes_header(const struct route *r, size_t i)
{
    switch (i) {
    case 0:
        return r->flags & ROUTE_IDEMPOTENT_KEY;
    case 1:
        return r->flags & ROUTE_ASYNC;
    case 2:
        return changes_version(r);
    default:
        return r->flags & ROUTE_VERSIONED &&
               (has_method(r, "GET") || has_method(r, "PUT"));
    }
}

static void print_parameters(const struct route *r, const struct description *d)
{
    bool first = true;

    text_addf(d->b, ",");
    line(d, 3);
    text_addf(d->b, "\"parameters\":[");
    print_path_parameters(r, &first, d);
    print_query_parameters(r, &first, d);
    for (size_t i = 0; i < sizeof(request_headers) / sizeof(request_headers[0]); i++) {
        if (!takes_header(r, i))
            continue;
        text_addf(d->b, first ? "" : ",");
        line(d, 4);
        text_addf(d->b, "{\"$ref\":\"#/components/parameters/%s\"}",
                  request_headers[i].name);
        first = false;
    }
    text_addf(d->b, "]");
}

enum { EXAMPLE_MAX_BYTES = 4096, EXAMPLE_FILE_MAX_BYTES = 8192 };

/* JSON without the white space between its parts. NULL: no memory. */
static const char *compact(const char *text, struct text_buffer *b)
{
    char *packed = arena_try_text(b->arena, text, strlen(text));
    char *to = packed;
    bool quoted = false;

    for (const char *from = text; packed && *from; from++) {
        if (!quoted && strchr(" \t\r\n", *from))
            continue;
        *to++ = *from;
        if (*from == '"')
            quoted = !quoted;
        else if (quoted && *from == '\\' && from[1])
            *to++ = *++from;
    }
    if (packed)
        *to = 0;
    else
        b->failed = true;
    return packed;
}

/* What tells an example's kind: the value of that member; "" without one. */
static const char *kind_of(const struct route *r, const char *text, struct arena *a)
{
    const struct json_field *f = r->request ? r->request->fields : NULL;
    struct error err = {.arena = a};
    const char *kind = NULL;

    if (f && f->type == JSON_TYPE_KIND &&
        json_member(text, f->name, &kind, a, &err) == OK && kind)
        return kind;
    return "";
}

/* A pair that is shown. */
struct pair {
    const char *name, *kind, *sides[ROLES];
    size_t length;
};

enum { KINDS_MAX = 32 };

bool openapi_is_example(const struct route *r, const char *name)
{
    const char *prefix = r->example ? r->example : r->operation;
    size_t length = prefix ? strlen(prefix) : 0;

    return length > 0 && strncmp(name, prefix, length) == 0 &&
           (r->example || name[length] == 0 || name[length] == '-' ||
            name[length] == '.');
}

/* A body that is a text, as JSON. NULL: no memory. */
static const char *quoted(const char *text, struct text_buffer *b)
{
    struct text_buffer json = {.arena = b->arena};

    json_print_text(text, &json);
    if (json.failed)
        b->failed = true;
    return json.data;
}

/* The file of an example with this ending; NULL: none. */
static const struct asset *example_file(const char *name, const char *ending,
                                        struct text_buffer *b)
{
    const char *path = arena_try_printf(b->arena, "%s%s", name, ending);

    b->failed |= !path;
    return path ? asset_find(example_files, path) : NULL;
}

/* Its text; "" without a file. NULL: it is too large to be shown, or no memory. */
static const char *example_text(const struct asset *file, struct text_buffer *b)
{
    struct error err = {.arena = b->arena};
    const char *text = "";

    if (file && file->length > EXAMPLE_FILE_MAX_BYTES)
        return NULL;
    if (file && asset_text(file, &text, b->arena, &err) != OK) {
        b->failed = true;
        return NULL;
    }
    return text;
}

/* False: it is too large to be shown, is refused or answered with another status than 200
 * and 201, or there was no memory. */
static bool read_pair(const struct route *r, const char *name, const struct asset *answer,
                      struct pair *pair, struct text_buffer *b)
{
    const struct asset *request = example_file(name, ".json", b);
    const char *texts[ROLES];

    if (strncmp(name, "error-", 6) == 0 || example_file(name, ".status", b))
        return false;
    if (!request)
        request = example_file(name, ".txt", b);
    texts[IN_REQUEST] = example_text(request, b);
    texts[IN_ANSWER] = example_text(answer, b);
    *pair = (struct pair){.name = name};
    for (int side = 0; side < ROLES; side++) {
        size_t length = 0;

        if (!texts[side])
            return false;
        pair->sides[side] = r->flags & ROUTE_TEXT_BODY && side == IN_REQUEST
                                ? quoted(texts[side], b)
                                : compact(texts[side], b);
        if (pair->sides[side])
            length = strlen(pair->sides[side]);
        if (!pair->sides[side] || length > EXAMPLE_MAX_BYTES)
            return false;
        pair->length += length;
    }
    pair->kind = kind_of(r, pair->sides[IN_REQUEST], b->arena);
    return true;
}

/* The shortest pair of each kind; their number. */
static size_t choose_pairs(const struct route *r, struct pair pairs[KINDS_MAX],
                           struct text_buffer *b)
{
    size_t count = 0;

    for (const struct asset *answer = example_files; answer->path; answer++) {
        const char *ending = strstr(answer->path, ".answer.json"), *name;
        struct pair pair;
        size_t i = 0;

        if (!ending || !openapi_is_example(r, answer->path))
            continue;
        name = arena_try_text(b->arena, answer->path, (size_t)(ending - answer->path));
        if (!name || !read_pair(r, name, answer, &pair, b))
            continue;
        while (i < count && strcmp(pairs[i].kind, pair.kind) != 0)
            i++;
        if (i == KINDS_MAX)
            continue;
        if (i == count || pair.length < pairs[i].length)
            pairs[i] = pair;
        count += i == count;
    }
    return count;
}

/* One of each kind, on this side. */
static void print_examples(const struct route *r, enum role side, int depth,
                           const struct description *d)
{
    struct pair pairs[KINDS_MAX];
    size_t count = choose_pairs(r, pairs, d->b);
    bool first = true;

    for (size_t i = 0; i < count; i++) {
        if (!*pairs[i].sides[side])
            continue;
        text_addf(d->b, first ? ",\"examples\":{" : ",");
        line(d, depth);
        text_addf(d->b, "\"%s\":{\"value\":%s}", pairs[i].name, pairs[i].sides[side]);
        first = false;
    }
    text_addf(d->b, first ? "" : "}");
}

/* What stands in the member of a text, and a short one. */
static const struct text_example {
    const char *member, *doc, *example;
} text_examples[] = {
    {"swf", "A job log in Standard Workload Format",
     "; MaxProcs: 4\n"
     "1 0 -1 60 2 -1 -1 2 90 -1 1 1 1 -1 1 -1 -1 -1\n"
     "2 10 -1 30 4 -1 -1 4 30 -1 1 1 1 -1 1 -1 -1 -1\n"},
    {"stg",
     "A Standard Task Graph: number of tasks without its two dummies, then number, "
     "run time and predecessors of each; with costs of communication a cost "
     "stands behind each predecessor",
     "2\n0 0 0\n1 8 1 0\n2 5 1 1\n3 0 1 2\n"},
    {"dax", "A Pegasus DAX document, 2.1 or 3.x; one with a DTD is refused",
     "<adag xmlns=\"http://pegasus.isi.edu/schema/DAX\" version=\"2.1\">\n"
     "  <job id=\"a\" name=\"make\" runtime=\"8\">\n"
     "    <uses file=\"f\" link=\"output\" size=\"1000000\"/>\n"
     "  </job>\n"
     "  <job id=\"b\" name=\"use\" runtime=\"5\">\n"
     "    <uses file=\"f\" link=\"input\" size=\"1000000\"/>\n"
     "  </job>\n"
     "  <child ref=\"b\"><parent ref=\"a\"/></child>\n"
     "</adag>\n"},
    {"wfformat", "A WfFormat document, 1.5 or 1.4", NULL},
    {"dot", "A digraph in the DOT language, as snakemake --dag prints it",
     "digraph snakemake_dag {\n"
     "    0[label = \"all\", style=\"rounded\"];\n"
     "    1[label = \"align\\ns: s1\", style=\"rounded\"];\n"
     "    1 -> 0\n"
     "}\n"},
    {"pegasus", "A workflow of Pegasus 5, a subset of YAML",
     "pegasus: \"5.0\"\n"
     "jobs:\n"
     "- id: a\n"
     "  name: make\n"
     "  uses: [{lfn: f, type: output, size: 1000000}]\n"
     "  profiles: {pegasus: {runtime: 8}}\n"
     "- id: b\n"
     "  name: use\n"
     "  uses: [{lfn: f, type: input}]\n"
     "  profiles: {pegasus: {runtime: \"5\"}}\n"
     "jobDependencies:\n"
     "- id: a\n"
     "  children: [b]\n"},
};

/* The example of WfFormat, which is JSON. */
#define WFFORMAT_EXAMPLE                                                              \
    "{\"name\":\"two\",\"schemaVersion\":\"1.5\",\"workflow\":{\"specification\":{"   \
    "\"tasks\":[{\"name\":\"make\",\"id\":\"a\",\"parents\":[],\"children\":[\"b\"]," \
    "\"outputFiles\":[\"f\"]},{\"name\":\"use\",\"id\":\"b\",\"parents\":[\"a\"],"    \
    "\"children\":[],\"inputFiles\":[\"f\"]}],\"files\":[{\"id\":\"f\","              \
    "\"sizeInBytes\":1000000}]},\"execution\":{\"makespanInSeconds\":13,"             \
    "\"executedAt\":\"2023-03-29T20:02:41Z\",\"tasks\":[{\"id\":\"a\","               \
    "\"runtimeInSeconds\":8},{\"id\":\"b\",\"runtimeInSeconds\":5}]}}}"

static void next_type(const char *type, bool *first, const struct description *d)
{
    if (*first) {
        text_addf(d->b, ",");
        line(d, 3);
    }
    text_addf(d->b, *first ? "\"x-also-takes\":{" : ",");
    line(d, 4);
    text_addf(d->b, "\"%s\":{\"schema\":", type);
    *first = false;
}

static void print_text_instead(const char *type, const char *member, bool *first,
                               const struct description *d)
{
    struct text_buffer *b = d->b;

    for (size_t i = 0; i < sizeof(text_examples) / sizeof(text_examples[0]); i++) {
        const struct text_example *e = &text_examples[i];

        if (strcmp(e->member, member) != 0)
            continue;
        next_type(type, first, d);
        text_addf(b,
                  "{\"type\":\"%s\",\"description\":", e->example ? "string" : "object");
        json_print_text(e->doc, b);
        text_addf(b, "},\"example\":");
        if (e->example)
            json_print_text(e->example, b);
        else
            text_addf(b, "%s", WFFORMAT_EXAMPLE);
        text_addf(b, "}");
    }
}

/* Bodies of other types than the one that the operation describes. With several,
 * generators send JSON without saying that it is. */
static void print_other_bodies(const struct route *r, const struct description *d)
{
    static const char *const texts[] = {"text/csv", "text/tab-separated-values",
                                        "application/octet-stream"};
    bool first = true;

#define X(flag, type, member) \
    if (r->flags & (flag))    \
        print_text_instead(type, member, &first, d);
    ROUTE_TEXTS(X)
#undef X
    if (r->request && r->flags & ROUTE_BULK) {
        next_type("application/x-ndjson", &first, d);
        print_ref(r->request, IN_REQUEST, d);
        text_addf(d->b, "}");
    }
    if (r->flags & ROUTE_TAKES_ROWS) {
        next_type("text/tab-separated-values", &first, d);
        text_addf(d->b, "{\"type\":\"string\"}}");
    }
    for (size_t i = 0; r->flags & ROUTE_TEXT_BODY && i < 3; i++) {
        next_type(texts[i], &first, d);
        text_addf(d->b, "{\"type\":\"string\"}}");
    }
    text_addf(d->b, first ? "" : "}");
}

/* What the forms of an answer are, by enum answer_form. */
static const char *const form_docs[] = {
    [ANSWER_JSON] = "",
    [ANSWER_TEXT] = "the schedule of one policy as a log in Standard Workload Format",
    [ANSWER_CHART] =
        "who does what when: a row for each resource (of batch queues: processor), a bar "
        "with a tooltip for each job or task. Of simulations the rows of jobs are drawn: "
        "ask for them with per_job. Bars that are too narrow are put together; the "
        "picture then says how",
    [ANSWER_GRAPH] = "the workflow in Graphviz' DOT, with where and when each task runs",
};

/* The text of an operation, with the forms of its answer besides JSON. */
static void print_doc(const struct route *r, struct text_buffer *b)
{
    struct text_buffer text = {.arena = b->arena};

    text_addf(&text, "%s", r->doc);
#define X(symbol, flag, type) \
    if (r->flags & (flag))    \
        text_addf(&text, " With Accept: %s: %s.", type, form_docs[symbol]);
    ANSWER_FORMS(X)
#undef X
    if (text.failed)
        b->failed = true;
    else
        json_print_text(text.data, b);
}

/* The forms of an answer besides JSON; with two content types a generator would take each
 * answer for "text or object". */
static void print_forms(const struct route *r, const struct description *d)
{
    bool first = true;

    if (!has_forms(r) && !(r->flags & ROUTE_METRICS))
        return;
    text_addf(d->b, ",");
    line(d, 3);
    text_addf(d->b, "\"x-also-answers\":[");
#define X(symbol, flag, type)                                \
    if (r->flags & (flag)) {                                 \
        text_addf(d->b, first ? "\"%s\"" : ",\"%s\"", type); \
        first = false;                                       \
    }
    ANSWER_FORMS(X)
#undef X
    if (r->flags & ROUTE_METRICS)
        text_addf(d->b, "\"application/openmetrics-text\"");
    text_addf(d->b, "]");
}

static void print_content(const char *type, int depth, const struct description *d)
{
    line(d, depth);
    text_addf(d->b, "\"%s\":{\"schema\":", type);
}

static void print_body(const struct route *r, const struct description *d)
{
    struct text_buffer *b = d->b;
    const char *type = r->flags & ROUTE_MERGE_PATCH ? "application/merge-patch+json"
                       : r->flags & ROUTE_TEXT_BODY ? "text/plain"
                                                    : "application/json";

    if (!route_takes_body(r))
        return;
    text_addf(b, ",");
    line(d, 3);
    text_addf(b, "\"requestBody\":{\"required\":true,\"content\":{");
    print_content(type, 4, d);
    if (r->request && r->flags & ROUTE_BULK) {
        text_addf(b, "{\"oneOf\":[");
        print_ref(r->request, IN_REQUEST, d);
        text_addf(b, ",{\"type\":\"array\",\"items\":");
        print_ref(r->request, IN_REQUEST, d);
        text_addf(b, "}]}");
    } else if (r->request) {
        print_ref(r->request, IN_REQUEST, d);
    } else {
        text_addf(b, "{\"type\":\"%s\"}",
                  r->flags & ROUTE_TEXT_BODY ? "string" : "object");
    }
    print_examples(r, IN_REQUEST, 5, d);
    text_addf(b, "}}}");
    print_other_bodies(r, d);
}

/* What an answer has of which status. */
static unsigned headers_of(const struct route *r, int status)
{
    bool reads = has_method(r, "GET");
    unsigned set = HEADER_X_REQUEST_ID | (has_key(r) ? LIMIT_HEADERS : 0);

    if (r->flags & ROUTE_VERSIONED && !has_method(r, "DELETE") && status != 202)
        set |= HEADER_ETAG;
    if (status == 202 || (status == 201 && !(r->flags & ROUTE_BULK)) ||
        (r->flags & ROUTE_DECISION && status == 200))
        set |= HEADER_LOCATION;
    if (status == 202 || (r->flags & ROUTE_RUN && reads))
        set |= HEADER_RETRY_AFTER;
    if (is_paged(r) && reads)
        set |= HEADER_LINK;
    if (r->flags & ROUTE_IDEMPOTENT_KEY)
        set |= KEY_HEADERS;
    if (r->flags & ROUTE_ASYNC)
        set |= HEADER_PREFERENCE_APPLIED;
    return set;
}

/* Of a health check: not ready is no failure of the request, and has the same form. */
static void print_unready(const struct route *r, const struct description *d)
{
    text_addf(d->b, "\"503\":{\"description\":\"Not ready\"");
    print_headers(HEADER_X_REQUEST_ID | HEADER_RETRY_AFTER, d->b);
    text_addf(d->b, ",\"content\":{\"application/json\":{\"schema\":");
    print_ref(r->response, IN_ANSWER, d);
    text_addf(d->b, "},\"application/problem+json\":{\"schema\":"
                    "{\"$ref\":\"#/components/schemas/Problem\"}}}}");
}

static void print_success(const struct route *r, int status, const char *doc, bool first,
                          const struct json_object *table, const struct description *d)
{
    struct text_buffer *b = d->b;
    bool text = r->flags & ROUTE_RAW_REPLY && !(r->flags & ROUTE_RAW_JSON);
    const char *type = !text                          ? "application/json"
                       : r->flags & ROUTE_RAW_PICTURE ? "image/svg+xml"
                                                      : "text/plain";

    text_addf(b, first ? "" : ",");
    line(d, 4);
    text_addf(b, "\"%d\":{\"description\":\"%s\"", status, doc);
    print_headers(headers_of(r, status), b);
    if (table) {
        text_addf(b, ",\"content\":{\"application/json\":{\"schema\":");
        print_ref(table, IN_ANSWER, d);
        if (first)
            print_examples(r, IN_ANSWER, 5, d);
        text_addf(b, "}}");
    } else if (r->flags & ROUTE_RAW_REPLY && status == 200) {
        const char *kind = text ? "\"type\":\"string\"" : "\"type\":\"object\"";

        text_addf(b, ",\"content\":{\"%s\":{\"schema\":{%s}", type,
                  facade_of(r->path) ? "" : kind);
        if (!text)
            print_examples(r, IN_ANSWER, 5, d);
        text_addf(b, "}}");
    }
    text_addf(b, "}");
}

/* What 202 answers: how the run is, which is what ending it answers. */
static const struct json_object *accepted_table(const struct description *d)
{
    for (const struct route *r = d->routes; r->method; r++)
        if (r->flags & ROUTE_RUN && has_method(r, "DELETE"))
            return r->response;
    return NULL;
}

/* Successes, by the route's flags. */
static void print_successes(const struct route *r, const struct description *d)
{
    const struct json_object *table = r->response;
    bool answers = table || r->flags & ROUTE_RAW_REPLY;
    bool commands = strchr(r->path, '{') != NULL; /* what is there already */
    bool creates = r->flags & ROUTE_IDEMPOTENT_KEY && !(r->flags & ROUTE_DECISION) &&
                   route_takes_body(r) && (!commands || r->flags & ROUTE_MAKES);
    bool deletes = has_method(r, "DELETE");

    if (answers && (!creates || r->flags & ROUTE_BULK))
        print_success(r, 200,
                      r->flags & ROUTE_BULK ? "Nothing new, or only a part is stored"
                                            : "Done",
                      true, table, d);
    if (creates || has_method(r, "PUT"))
        print_success(r, 201, creates && r->flags & ROUTE_BULK ? "Stored" : "Made",
                      creates && !(r->flags & ROUTE_BULK), table, d);
    if (r->flags & ROUTE_ASYNC || (r->flags & ROUTE_RUN && deletes))
        print_success(r, 202, "It will be done: Location says where to ask for it", false,
                      accepted_table(d), d);
    if (!answers || (r->flags & ROUTE_RUN && deletes))
        print_success(r, 204, "Done", !answers, NULL, d);
    if (r->flags & ROUTE_VERSIONED && has_method(r, "GET"))
        print_success(r, 304, "Still the version that If-None-Match names", false, NULL,
                      d);
}

/* The failure of a facade, which is plain text. */
static void print_plain_failure(const struct failure *f, const struct description *d)
{
    text_addf(d->b, "\"%s\":{\"description\":\"%s\"", f->status, f->doc);
    print_headers(FAILURE_HEADERS | f->headers, d->b);
    text_addf(d->b, ",\"content\":{\"text/plain\":{\"schema\":"
                    "{\"type\":\"string\"}}}}");
}

static void print_answers(const struct route *r, const struct description *d)
{
    struct text_buffer *b = d->b;

    text_addf(b, ",");
    line(d, 3);
    text_addf(b, "\"responses\":{");
    print_successes(r, d);
    for (size_t i = 0; i < FAILURES; i++) {
        bool unready =
            r->flags & ROUTE_TELLS_STATE && strcmp(failures[i].status, "503") == 0;

        if (!failures[i].applies(r))
            continue;
        text_addf(b, ",");
        line(d, 4);
        if (unready)
            print_unready(r, d);
        else if (facade_of(r->path))
            print_plain_failure(&failures[i], d);
        else
            text_addf(b, "\"%s\":{\"$ref\":\"#/components/responses/%s\"}",
                      failures[i].status, failures[i].name);
    }
    text_addf(b, "}");
}

static void print_operation(const struct route *r, const struct description *d)
{
    struct text_buffer *b = d->b;

    line(d, 2);
    text_addf(b, "\"");
    for (const char *m = r->method; *m; m++)
        text_addf(b, "%c", *m | 0x20);
    text_addf(b, "\":{");
    line(d, 3);
    text_addf(b, "\"operationId\":\"%s\",", r->operation ? r->operation : "");
    line(d, 3);
    text_addf(b, "\"summary\":");
    json_print_text(r->summary, b);
    text_addf(b, ",");
    line(d, 3);
    text_addf(b, "\"description\":");
    print_doc(r, b);
    if (r->tag) {
        text_addf(b, ",");
        line(d, 3);
        text_addf(b, "\"tags\":[\"%s\"]", r->tag->name);
    }
    print_parameters(r, d);
    print_body(r, d);
    print_answers(r, d);
    print_forms(r, d);
    if (r->scope == SCOPE_NONE) {
        text_addf(b, ",");
        line(d, 3);
        text_addf(b, "\"security\":[]");
    }
    text_addf(b, "}");
}

static void print_paths(const struct route *routes, const struct description *d)
{
    struct text_buffer *b = d->b;
    const char *path = NULL;

    text_addf(b, "\"paths\":{");
    for (const struct route *r = routes; r->method; r++) {
        if (r->flags & ROUTE_ASSET)
            continue;
        if (path && strcmp(path, r->path) == 0) {
            text_addf(b, ",");
        } else {
            text_addf(b, "%s", path ? "}," : "");
            line(d, 1);
            json_print_text(r->path, b);
            text_addf(b, ":{");
        }
        print_operation(r, d);
        path = r->path;
    }
    text_addf(b, path ? "}}" : "}");
}

/* The codes of answers, or of single mistakes, which also have those of answers where the
 * request as a whole is at fault, that there are today: those that are never
 * sent have no cause. */
static void print_codes(bool of_items, struct text_buffer *b)
{
    static const struct {
        const char *name, *cause;
        bool of_item;
    } codes[] = {
#define X(symbol, status, name, title, cause, remedy) {name, cause, false},
        ERROR_CODES(X)
#undef X
#define X(symbol, name, title, cause, remedy) {name, cause, true},
            ITEM_CODES(X)
#undef X
    };
    const char *names[sizeof(codes) / sizeof(*codes) + 1];
    size_t count = 0;

    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        if ((of_items || !codes[i].of_item) && codes[i].cause[0])
            names[count++] = codes[i].name;
    names[count] = NULL;
    print_words("x-known-values", names, false, b);
}

static void print_problem_item(const struct description *d)
{
    struct text_buffer *b = d->b;

    text_addf(
        b,
        "\"type\":\"object\",\"description\":\"A mistake\",\"properties\":{"
        "\"pointer\":{\"type\":\"string\",\"description\":\"JSON Pointer to the value\"},"
        "\"in\":{\"type\":\"string\",\"description\":\"query, path or header: name says "
        "which one, and there is no pointer\",\"x-known-values\":[\"query\",\"path\","
        "\"header\"]},\"name\":{\"type\":\"string\"},"
        "\"line\":{\"type\":\"integer\",\"description\":\"Line of an NDJSON body, from "
        "1; the pointer begins there\"},");
    line(d, 4);
    text_addf(b, "\"code\":{\"description\":\"See GET /v1/errors\",\"type\":\"string\"");
    print_codes(true, b);
    text_addf(b, "},");
    line(d, 4);
    text_addf(
        b,
        "\"detail\":{\"type\":\"string\"},\"hint\":{\"type\":\"string\","
        "\"description\":\"What to do about it\"},\"allowed\":{\"type\":\"array\","
        "\"items\":{\"type\":[\"string\",\"number\"]},\"description\":\"At most 20 "
        "values that would do, the nearest first\"},"
        "\"amount\":{\"type\":\"string\",\"description\":\"Of what too little is free\"},"
        "\"needed\":{\"type\":\"number\"},\"free\":{\"type\":\"number\"},"
        "\"owners\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
        "\"description\":\"Whose leases are in the way\"}},"
        "\"required\":[\"code\",\"detail\"]");
}

static void print_problem(const struct description *d)
{
    struct text_buffer *b = d->b;

    text_addf(
        b,
        ",\"Problem\":{\"type\":\"object\",\"description\":\"What went wrong, as in RFC "
        "9457; every mistake of the request is in errors\",\"properties\":{"
        "\"type\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},"
        "\"status\":{\"type\":\"integer\"},\"detail\":{\"type\":\"string\"},"
        "\"instance\":{\"type\":\"string\"},");
    line(d, 3);
    text_addf(b, "\"code\":{\"description\":\"See GET /v1/errors\",\"type\":\"string\"");
    print_codes(false, b);
    text_addf(b, "},");
    line(d, 3);
    text_addf(
        b, "\"request_id\":{\"type\":\"string\"},\"error_count\":{\"type\":\"integer\"},"
           "\"violated_policies\":{\"type\":\"array\",\"items\":{\"type\":\"string\"");
    print_words("x-known-values", admission_policy_names, false, b);
    text_addf(b,
              "},\"description\":\"With 429 and 413: the quotas that refused it, as GET "
              "/v1/quotas names them\"},");
    line(d, 3);
    text_addf(b, "\"errors\":{\"type\":\"array\",\"items\":{");
    print_problem_item(d);
    text_addf(b, "}}},");
    line(d, 3);
    text_addf(b, "\"required\":[\"type\",\"title\",\"status\",\"detail\",\"instance\","
                 "\"code\",\"request_id\"]}");
}

static void print_responses(const struct description *d)
{
    struct text_buffer *b = d->b;

    text_addf(b, "\"responses\":{");
    for (size_t i = 0; i < FAILURES; i++) {
        const struct failure *f = &failures[i];

        text_addf(b, i ? "," : "");
        line(d, 2);
        text_addf(b, "\"%s\":{\"description\":\"%s\"", f->name, f->doc);
        print_headers(FAILURE_HEADERS | f->headers, b);
        text_addf(b, ",\"content\":{\"application/problem+json\":{\"schema\":"
                     "{\"$ref\":\"#/components/schemas/Problem\"}}}}");
    }
    text_addf(b, "},");
    line(d, 1);
    text_addf(b, "\"headers\":{");
    for (size_t i = 0; i < HEADER_COUNT; i++) {
        text_addf(b, i ? "," : "");
        line(d, 2);
        text_addf(b, "\"%s\":{\"description\":", headers[i].name);
        json_print_text(headers[i].doc, b);
        text_addf(b, ",\"schema\":{\"type\":\"%s\"}}", headers[i].type);
    }
    text_addf(b, "},");
}

static void print_request_headers(const struct description *d)
{
    struct text_buffer *b = d->b;

    text_addf(b, "\"parameters\":{");
    for (size_t i = 0; i < sizeof(request_headers) / sizeof(request_headers[0]); i++) {
        const struct request_header *h = &request_headers[i];

        text_addf(b, i ? "," : "");
        line(d, 2);
        text_addf(b,
                  "\"%s\":{\"name\":\"%s\",\"in\":\"header\",\"required\":false,"
                  "\"description\":",
                  h->name, h->name);
        json_print_text(h->doc, b);
        text_addf(b, ",\"schema\":{\"type\":\"string\"%s}}",
                  i == 0 ? ",\"maxLength\":255" : "");
    }
    text_addf(b, "},");
}

static void print_list_of_words(const struct json_words *words,
                                const struct description *d)
{
    const char *names[WORDS_MAX + 1];
    size_t count = 0;

    while (count < WORDS_MAX && (names[count] = json_word_at(words, count)))
        count++;
    names[count] = NULL;
    text_addf(d->b, ",");
    line(d, 2);
    text_addf(d->b, "\"%s\":{\"description\":", words->name);
    json_print_text(words->doc, d->b);
    text_addf(d->b, ",\"type\":\"string\"");
    print_words("x-known-values", names, false, d->b);
    text_addf(d->b, "}");
}

static void print_components(const struct description *d)
{
    struct text_buffer *b = d->b;
    bool first = true;

    text_addf(b, "\"components\":{");
    line(d, 1);
    text_addf(b, "\"schemas\":{");
    for (enum role role = IN_REQUEST; role < ROLES; role++)
        for (size_t i = 0; i < d->schemas[role].count; i++) {
            text_addf(b, first ? "" : ",");
            line(d, 2);
            print_schema(d->schemas[role].table[i], role, d);
            first = false;
        }
    for (size_t i = 0; i < d->schemas[IN_ANSWER].list_count; i++)
        print_list_of_words(d->schemas[IN_ANSWER].words[i], d);
    print_problem(d);
    text_addf(b, "},");
    line(d, 1);
    print_responses(d);
    line(d, 1);
    print_request_headers(d);
    line(d, 1);
    text_addf(b,
              "\"securitySchemes\":{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"},"
              "\"basic\":{\"type\":\"http\",\"scheme\":\"basic\"}}}");
}

/* The tags that routes have, in the order of their array. */
static void print_tags(const struct route *routes, const struct description *d)
{
    const struct route_tag *last = NULL;
    struct text_buffer *b = d->b;

    text_addf(b, "\"tags\":[");
    for (;;) {
        const struct route_tag *next = NULL;

        for (const struct route *r = routes; r->method; r++)
            if (r->tag && (!last || r->tag > last) && (!next || r->tag < next))
                next = r->tag;
        if (!next)
            break;
        text_addf(b, last ? "," : "");
        line(d, 1);
        text_addf(b, "{\"name\":\"%s\",\"description\":", next->name);
        json_print_text(next->doc, b);
        text_addf(b, "}");
        last = next;
    }
    text_addf(b, "],");
}

static void print_info(const struct description *d)
{
    struct text_buffer *b = d->b;

    text_addf(b,
              "\"info\":{\"title\":\"gridplan\",\"version\":\"%s\","
              "\"summary\":\"Scheduling decisions over HTTP\",",
              GRIDPLAN_VERSION);
    line(d, 1);
    text_addf(
        b,
        "\"description\":\"Post a snapshot of resources and the jobs at hand; get "
        "placements, intervals and predictions, each with its reasons and its bound. "
        "Times are seconds, instants RFC 3339 in UTC; mbps is 10^6 bit/s; _ratio is 1 "
        "for "
        "100 %%. Requests with members that are not described are refused; clients must "
        "ignore members of answers that they do not know, and take words of lists marked "
        "x-known-values that they do not know.\",");
    line(d, 1);
    text_addf(b, "\"contact\":{\"name\":\"gridplan\"},");
    line(d, 1);
    text_addf(b,
              "\"license\":{\"name\":\"MIT\",\"identifier\":\"MIT\"},"
              "\"x-gridplan-api-revision\":%d},",
              API_REVISION);
}

static void print_all(const struct route *routes, const struct openapi_limits *limits,
                      bool has_lines, struct text_buffer *b)
{
    struct description d = {
        .b = b, .routes = routes, .limits = *limits, .has_lines = has_lines};

    for (const struct route *r = routes; r->method; r++) {
        if (r->flags & ROUTE_ASSET)
            continue;
        collect(&d.schemas[IN_REQUEST], r->request, b);
        collect(&d.schemas[IN_ANSWER], r->response, b);
    }
    text_addf(b, "{\"openapi\":\"3.1.0\",");
    line(&d, 0);
    print_info(&d);
    line(&d, 0);
    text_addf(b, "\"servers\":[{\"url\":\"/\","
                 "\"description\":\"The service that sent this\"}],");
    line(&d, 0);
    text_addf(b, "\"security\":[{},{\"bearer\":[]},{\"basic\":[]}],");
    line(&d, 0);
    print_tags(routes, &d);
    line(&d, 0);
    print_paths(routes, &d);
    text_addf(b, ",");
    line(&d, 0);
    print_components(&d);
    text_addf(b, "}");
}

/* As the settings' own rows have it: a test compares the two. */
static const struct openapi_limits default_limits = {600, 3600};

void openapi_print(const struct route *routes, struct text_buffer *b)
{
    print_all(routes, &default_limits, false, b);
}

void openapi_print_lines(const struct route *routes, struct text_buffer *b)
{
    print_all(routes, &default_limits, true, b);
}

/* ---- as it is served ---- */

/* The tag is of the bytes: what is compressed has another one. */
static void tag_text(struct openapi_text *text)
{
    char digest[SHA256_HEX_SIZE];

    hash_sha256_hex(text->data, text->length, digest);
    snprintf(text->etag, sizeof(text->etag), "\"%.16s\"", digest);
}

static enum error_code fill_document(const struct route *routes,
                                     const struct openapi_limits *limits,
                                     struct openapi_document *d, struct error *err)
{
    struct text_buffer b = {.arena = d->arena};

    print_all(routes, limits ? limits : &default_limits, false, &b);
    TRY(text_finish(&b, err));
    d->plain.data = b.data;
    d->plain.length = b.length;
    if (!gzip_deflate_best(b.data, b.length, &d->packed.data, &d->packed.length,
                           d->arena))
        return fail_memory(err);
    tag_text(&d->plain);
    tag_text(&d->packed);
    return OK;
}

enum error_code openapi_document_create(const struct route *routes,
                                        const struct openapi_limits *limits,
                                        struct openapi_document *document,
                                        struct error *err)
{
    enum error_code code;

    *document = (struct openapi_document){.arena = arena_create(DOCUMENT_MAX_BYTES)};
    if (!document->arena)
        return fail_memory(err);
    code = fill_document(routes, limits, document, err);
    if (code != OK)
        openapi_document_close(document);
    return code;
}

void openapi_document_close(struct openapi_document *document)
{
    arena_close(document->arena);
    *document = (struct openapi_document){0};
}
