/* openapi.c - the description of the API, printed from the tables.
 *
 * Routes become operations, tables become schemas. The document is the same on
 * every machine, so that the committed openapi/openapi.json can be compared.
 */
#include "service/openapi.h"

#include <string.h>

enum { SCHEMAS_MAX = 1024 };

/* What a table describes here; the same rows mean different things in the two. */
enum role { IN_REQUEST, IN_ANSWER, ROLES };

/* Tables met so far; each is printed once. */
struct schemas {
    const struct json_object *table[SCHEMAS_MAX];
    size_t count;
};

struct description {
    struct text_buffer *b;
    struct schemas schemas[ROLES];
};

static bool has_schema(const struct schemas *s, const struct json_object *table)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->table[i] == table)
            return true;
    return false;
}

static void collect(struct schemas *s, const struct json_object *table,
                    struct text_buffer *b)
{
    if (!table || has_schema(s, table))
        return;
    if (s->count == SCHEMAS_MAX) {
        b->failed = true; /* half a description is none */
        return;
    }
    s->table[s->count++] = table;
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        collect(s, f->of, b);
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

/* Number types: bounds only of what is asked for, and where they were set. */
static void print_number_schema(const struct json_field *f, const char *type,
                                bool element, enum role role, struct text_buffer *b)
{
    print_simple_type(type, element ? f->flags & JSON_NULLABLE : is_nullable(f, role), b);
    if (role == IN_REQUEST && f->min < f->max) {
        print_bound(f->flags & JSON_ABOVE_MIN ? "exclusiveMinimum" : "minimum", f->min,
                    b);
        print_bound("maximum", f->max, b);
        if (!element && !(f->flags & JSON_REQUIRED))
            print_bound("default", f->preset, b);
    }
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
        text_addf(b, "{\"type\":\"string\"}");
    } else {
        text_addf(b, "{");
        print_number_schema(f, "number", true, role, b);
        text_addf(b, "}");
    }
    if (role == IN_REQUEST && f->type != JSON_TYPE_NUMBERS && f->max > 0)
        text_addf(b, ",\"maxItems\":%.0f", f->max);
}

static void print_text_schema(const struct json_field *f, enum role role,
                              struct text_buffer *b)
{
    print_simple_type("string", is_nullable(f, role), b);
    if (role == IN_ANSWER)
        return;
    if (f->min > 0)
        text_addf(b, ",\"minLength\":%.0f", f->min);
    if (f->max > 0)
        text_addf(b, ",\"maxLength\":%.0f", f->max);
}

static void print_choice_schema(const struct json_field *f, enum role role,
                                struct text_buffer *b)
{
    bool nullable = is_nullable(f, role);

    print_simple_type("string", nullable, b);
    text_addf(b, ",\"enum\":[");
    for (size_t i = 0; f->choices[i]; i++) {
        text_addf(b, i ? "," : "");
        json_print_text(f->choices[i], b);
    }
    text_addf(b, nullable ? ",null]" : "]");
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
    bool nullable = is_nullable(f, role);

    text_addf(d->b, or_number || nullable ? "\"anyOf\":[" : "\"allOf\":[");
    if (or_number)
        text_addf(d->b, "{\"type\":\"number\"},");
    print_ref(f->of, role, d);
    text_addf(d->b, nullable ? ",{\"type\":\"null\"}]" : "]");
}

/* The schema of a member, without its braces. */
static void print_type(const struct json_field *f, enum role role,
                       const struct description *d)
{
    struct text_buffer *b = d->b;

    switch (f->type) {
    case JSON_TYPE_NUMBER:
        print_number_schema(f, "number", false, role, b);
        break;
    case JSON_TYPE_INTEGER:
        print_number_schema(f, "integer", false, role, b);
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
        text_addf(b, ",\"additionalProperties\":"
                     "{\"type\":[\"number\",\"boolean\",\"string\",\"null\"]}");
        break;
    case JSON_TYPE_LIST:
    case JSON_TYPE_NUMBERS:
    case JSON_TYPE_TEXTS:
        print_list_schema(f, role, d);
        break;
    case JSON_TYPE_RAW:  /* any JSON */
    case JSON_TYPE_KIND: /* print_kinds() */
    case JSON_END:
        break;
    }
}

static void print_member(const struct json_field *f, enum role role,
                         const struct description *d)
{
    size_t before;

    text_addf(d->b, "{");
    before = d->b->length;
    print_type(f, role, d);
    text_addf(d->b, "%s\"description\":", d->b->length > before ? "," : "");
    json_print_text(f->doc, d->b);
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
    text_addf(b, ",\"oneOf\":[");
    for (const struct json_kind *k = kinds; k->name; k++) {
        text_addf(b, k == kinds ? "" : ",");
        print_ref(k->of, role, d);
    }
    text_addf(b, "],\"discriminator\":{\"propertyName\":\"%s\",\"mapping\":{", f->name);
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
        text_addf(b, "%s\"%s\":", f == table->fields ? "" : ",", f->name);
        print_member(f, role, d);
    }
    text_addf(b, role == IN_REQUEST ? "},\"additionalProperties\":false" : "}");
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        if (!is_required(f, role, kind))
            continue;
        text_addf(b, first ? ",\"required\":[\"%s\"" : ",\"%s\"", f->name);
        first = false;
    }
    text_addf(b, first ? "}" : "]}");
}

/* "getSnapshotsBySnapshotId": the method and the path as one word. */
static void print_operation_id(const struct route *r, struct text_buffer *b)
{
    bool upper = true;

    for (const char *m = r->method; *m; m++)
        text_addf(b, "%c", *m | 0x20);
    for (const char *p = strncmp(r->path, "/v1", 3) == 0 ? r->path + 3 : r->path; *p;
         p++) {
        if (*p == '{')
            text_addf(b, "By");
        if (strchr("/{}_-.", *p)) {
            upper = true;
        } else {
            text_addf(b, "%c", upper && *p >= 'a' && *p <= 'z' ? *p - 32 : *p);
            upper = false;
        }
    }
}

static void print_parameters(const struct route *r, const struct description *d)
{
    struct text_buffer *b = d->b;
    bool first = true;

    text_addf(b, ",\"parameters\":[");
    for (const char *p = r->path; (p = strchr(p, '{')); p++) {
        size_t length = strcspn(p + 1, "}");

        text_addf(b,
                  "%s{\"name\":\"%.*s\",\"in\":\"path\",\"required\":true,"
                  "\"schema\":{\"type\":\"string\"}}",
                  first ? "" : ",", (int)length, p + 1);
        first = false;
    }
    for (const struct json_field *f = r->query ? r->query->fields : NULL;
         f && f->type != JSON_END; f++) {
        text_addf(b,
                  "%s{\"name\":\"%s\",\"in\":\"query\",\"required\":%s,\"description\":",
                  first ? "" : ",", f->name, f->flags & JSON_REQUIRED ? "true" : "false");
        json_print_text(f->doc, b);
        text_addf(b, ",\"schema\":{");
        print_type(f, IN_REQUEST, d);
        text_addf(b, "}}");
        first = false;
    }
    if (r->flags & ROUTE_IDEMPOTENT_KEY)
        text_addf(b, "%s{\"$ref\":\"#/components/parameters/IdempotencyKey\"}",
                  first ? "" : ",");
    if (r->flags & ROUTE_ASYNC)
        text_addf(b,
                  "%s{\"name\":\"Prefer\",\"in\":\"header\",\"required\":false,"
                  "\"description\":\"respond-async: answer with 202 and work without the "
                  "client; with wait=N the answer if it is there within N seconds\","
                  "\"schema\":{\"type\":\"string\"}}",
                  first && !(r->flags & ROUTE_IDEMPOTENT_KEY) ? "" : ",");
    text_addf(b, "]");
}

static void print_examples(const struct route *r, struct text_buffer *b)
{
    size_t length = r->example ? strlen(r->example) : 0;
    bool first = true;

    for (const struct openapi_example *e = openapi_examples; length && e->name; e++) {
        size_t end = strlen(e->name) - strlen(".json");

        if (strncmp(e->name, r->example, length) != 0)
            continue;
        text_addf(b, "%s\"%.*s\":{\"value\":", first ? ",\"examples\":{" : ",", (int)end,
                  e->name);
        text_add(b, e->text, strlen(e->text));
        text_addf(b, "}");
        first = false;
    }
    if (!first)
        text_addf(b, "}");
}

static void print_text_body(struct text_buffer *b)
{
    text_addf(b, ",\"requestBody\":{\"required\":true,\"content\":{"
                 "\"text/plain\":{\"schema\":{\"type\":\"string\"}},"
                 "\"text/csv\":{\"schema\":{\"type\":\"string\"}},"
                 "\"text/tab-separated-values\":{\"schema\":{\"type\":\"string\"}},"
                 "\"application/octet-stream\":{}}}");
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

static void print_text_instead(const char *type, const char *member,
                               struct text_buffer *b)
{
    for (size_t i = 0; i < sizeof(text_examples) / sizeof(text_examples[0]); i++) {
        const struct text_example *e = &text_examples[i];

        if (strcmp(e->member, member) != 0)
            continue;
        text_addf(b, ",\"%s\":{\"schema\":{\"type\":\"%s\",\"description\":", type,
                  e->example ? "string" : "object");
        json_print_text(e->doc, b);
        text_addf(b, "},\"example\":");
        if (e->example)
            json_print_text(e->example, b);
        else
            text_addf(b, "%s", WFFORMAT_EXAMPLE);
        text_addf(b, "}");
    }
}

static void print_texts_instead(const struct route *r, struct text_buffer *b)
{
#define X(flag, type, member) \
    if (r->flags & (flag))    \
        print_text_instead(type, member, b);
    ROUTE_TEXTS(X)
#undef X
}

/* What the forms of an answer are, by enum answer_form. */
static const char *const form_docs[] = {
    [ANSWER_JSON] = "",
    [ANSWER_TEXT] = "The schedule of one policy as a log in Standard Workload Format",
    [ANSWER_CHART] =
        "Who does what when: a row for each resource (of batch queues: processor), a bar "
        "with a tooltip for each job or task. Of simulations the rows of jobs are drawn: "
        "ask for them with per_job. Bars that are too narrow are put together; the "
        "picture then says how",
    [ANSWER_GRAPH] = "The workflow in Graphviz' DOT, with where and when each task runs",
};

/* The forms of an answer besides JSON. */
static void print_forms(const struct route *r, struct text_buffer *b)
{
#define X(symbol, flag, type)                                                            \
    if (r->flags & (flag)) {                                                             \
        text_addf(b, ",\"%s\":{\"schema\":{\"type\":\"string\",\"description\":", type); \
        json_print_text(form_docs[symbol], b);                                           \
        text_addf(b, "}}");                                                              \
    }
    ANSWER_FORMS(X)
#undef X
}

static void print_body(const struct route *r, const struct description *d)
{
    struct text_buffer *b = d->b;
    const char *type = r->flags & ROUTE_MERGE_PATCH ? "application/merge-patch+json"
                                                    : "application/json";

    if (r->flags & ROUTE_TEXT_BODY)
        print_text_body(b);
    if (!r->request && !(r->flags & (ROUTE_MERGE_PATCH | ROUTE_RAW_BODY)))
        return;
    text_addf(
        b, ",\"requestBody\":{\"required\":true,\"content\":{\"%s\":{\"schema\":", type);
    if (r->request && r->flags & ROUTE_BULK) {
        text_addf(b, "{\"oneOf\":[");
        print_ref(r->request, IN_REQUEST, d);
        text_addf(b, ",{\"type\":\"array\",\"items\":");
        print_ref(r->request, IN_REQUEST, d);
        text_addf(b, "}]}");
    } else if (r->request) {
        print_ref(r->request, IN_REQUEST, d);
    } else {
        text_addf(b, "{\"type\":\"object\"}");
    }
    print_examples(r, b);
    text_addf(b, "}");
    print_texts_instead(r, b);
    if (r->request && r->flags & ROUTE_BULK) {
        text_addf(b, ",\"application/x-ndjson\":{\"schema\":");
        print_ref(r->request, IN_REQUEST, d);
        text_addf(b, "}");
    }
    text_addf(b, "}}");
}

static void print_answers(const struct route *r, const struct description *d)
{
    struct text_buffer *b = d->b;
    bool creates = r->flags & ROUTE_IDEMPOTENT_KEY && !(r->flags & ROUTE_DECISION);

    text_addf(b, ",\"responses\":{\"%s\":{\"description\":\"Done\"",
              creates                                     ? "201"
              : r->response || r->flags & ROUTE_RAW_REPLY ? "200"
                                                          : "204");
    if (r->response) {
        text_addf(b, ",\"content\":{\"application/json\":{\"schema\":");
        print_ref(r->response, IN_ANSWER, d);
        text_addf(b, "}");
        print_forms(r, b);
        text_addf(b, "}");
    }
    if (r->flags & ROUTE_ASYNC)
        text_addf(b, "},\"202\":{\"description\":\"It will be done; Location says where "
                     "to ask for it\"");
    text_addf(b, "},\"4XX\":{\"$ref\":\"#/components/responses/Problem\"},"
                 "\"5XX\":{\"$ref\":\"#/components/responses/Problem\"}}");
}

/* "Placements" of "/v1/placements", else "Operations". */
static void print_tag(const struct route *r, struct text_buffer *b)
{
    const char *name = strncmp(r->path, "/v1/", 4) == 0 ? r->path + 4 : "operations";

    text_addf(b, ",\"tags\":[\"%.*s\"]", (int)strcspn(name, "/"), name);
}

static void print_operation(const struct route *r, const struct description *d)
{
    struct text_buffer *b = d->b;

    text_addf(b, "\"");
    for (const char *m = r->method; *m; m++)
        text_addf(b, "%c", *m | 0x20);
    text_addf(b, "\":{\"operationId\":\"");
    print_operation_id(r, b);
    text_addf(b, "\",\"summary\":");
    json_print_text(r->summary, b);
    text_addf(b, ",\"description\":");
    json_print_text(r->doc, b);
    print_tag(r, b);
    print_parameters(r, d);
    print_body(r, d);
    print_answers(r, d);
    if (r->scope == SCOPE_NONE)
        text_addf(b, ",\"security\":[]");
    text_addf(b, "}");
}

static void print_paths(const struct route *routes, const struct description *d)
{
    struct text_buffer *b = d->b;
    const char *path = NULL;

    text_addf(b, "\"paths\":{");
    for (const struct route *r = routes; r->method; r++) {
        bool same = path && strcmp(path, r->path) == 0;

        if (same) {
            text_addf(b, ",");
        } else {
            text_addf(b, "%s", path ? "}," : "");
            json_print_text(r->path, b);
            text_addf(b, ":{");
        }
        print_operation(r, d);
        path = r->path;
    }
    text_addf(b, path ? "}}" : "}");
}

static void print_problem(struct text_buffer *b)
{
    text_addf(
        b,
        ",\"Problem\":{\"type\":\"object\",\"description\":\"What went wrong, as in RFC "
        "9457; every mistake of the request is in errors\",\"properties\":{"
        "\"type\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},"
        "\"status\":{\"type\":\"integer\"},\"detail\":{\"type\":\"string\"},"
        "\"instance\":{\"type\":\"string\"},\"code\":{\"type\":\"string\"},"
        "\"request_id\":{\"type\":\"string\"},\"error_count\":{\"type\":\"integer\"},"
        "\"violated_policies\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
        "\"description\":\"With 429 and 413: the quotas that refused it, as GET "
        "/v1/quotas names them\"},"
        "\"errors\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
        "\"pointer\":{\"type\":\"string\",\"description\":\"JSON Pointer to the value\"},"
        "\"in\":{\"type\":\"string\",\"description\":\"query, path or header: name says "
        "which one, and there is no pointer\"},\"name\":{\"type\":\"string\"},"
        "\"line\":{\"type\":\"integer\",\"description\":\"Line of an NDJSON body, from "
        "1; the pointer begins there\"},"
        "\"code\":{\"type\":\"string\",\"description\":\"See GET /v1/errors\"},"
        "\"detail\":{\"type\":\"string\"},\"hint\":{\"type\":\"string\","
        "\"description\":\"What to do about it\"},\"allowed\":{\"type\":\"array\","
        "\"description\":\"At most 20 values that would do, the nearest first\"}}}}},"
        "\"required\":[\"type\",\"title\",\"status\",\"code\",\"request_id\"]}");
}

static void print_components(const struct description *d)
{
    struct text_buffer *b = d->b;
    bool first = true;

    text_addf(b, "\"components\":{\"schemas\":{");
    for (enum role role = IN_REQUEST; role < ROLES; role++)
        for (size_t i = 0; i < d->schemas[role].count; i++) {
            text_addf(b, first ? "" : ",");
            print_schema(d->schemas[role].table[i], role, d);
            first = false;
        }
    print_problem(b);
    text_addf(b,
              "},\"responses\":{\"Problem\":{\"description\":\"It could not be done\","
              "\"content\":{\"application/problem+json\":{\"schema\":"
              "{\"$ref\":\"#/components/schemas/Problem\"}}}}},"
              "\"parameters\":{\"IdempotencyKey\":{\"name\":\"Idempotency-Key\",\"in\":"
              "\"header\","
              "\"required\":false,\"description\":\"The same key and body give the first "
              "answer "
              "again for 24 hours\",\"schema\":{\"type\":\"string\",\"maxLength\":255}}},"
              "\"securitySchemes\":{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"},"
              "\"basic\":{\"type\":\"http\",\"scheme\":\"basic\"}}}");
}

static void print_tags(const struct route *routes, struct text_buffer *b)
{
    const char *last = "";

    text_addf(b, "\"tags\":[");
    for (const struct route *r = routes; r->method; r++) {
        const char *name = strncmp(r->path, "/v1/", 4) == 0 ? r->path + 4 : NULL;
        size_t length = name ? strcspn(name, "/") : 0;

        if (!name || (strncmp(last, name, length) == 0 && strcspn(last, "/") == length))
            continue;
        text_addf(b, "{\"name\":\"%.*s\",\"description\":\"/v1/%.*s\"},", (int)length,
                  name, (int)length, name);
        last = name;
    }
    text_addf(
        b,
        "{\"name\":\"operations\",\"description\":\"Health, metrics, description\"}],");
}

void openapi_print(const struct route *routes, struct text_buffer *b)
{
    struct description d = {.b = b};

    for (const struct route *r = routes; r->method; r++) {
        collect(&d.schemas[IN_REQUEST], r->request, b);
        collect(&d.schemas[IN_ANSWER], r->response, b);
    }
    text_addf(
        b,
        "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"gridplan\",\"version\":\"%s\","
        "\"summary\":\"Scheduling decisions over HTTP\","
        "\"description\":\"Post a snapshot of resources and the jobs at hand; get "
        "placements, intervals and predictions, each with its reasons and its bound.\","
        "\"license\":{\"name\":\"MIT\",\"identifier\":\"MIT\"}},"
        "\"servers\":[{\"url\":\"/\",\"description\":\"The service that sent this\"}],"
        "\"security\":[{},{\"bearer\":[]},{\"basic\":[]}],",
        GRIDPLAN_VERSION);
    print_tags(routes, b);
    print_paths(routes, &d);
    text_addf(b, ",");
    print_components(&d);
    text_addf(b, "}");
}
