/* openapi.c - the description of the API, printed from the tables.
 *
 * Routes become operations, tables become schemas. The document is the same on
 * every machine, so that the committed openapi/openapi.json can be compared.
 */
#include "service/openapi.h"

#include <string.h>

enum { SCHEMAS_MAX = 1024 };

/* Tables met so far; each is printed once. */
struct schemas {
    const struct json_object *table[SCHEMAS_MAX];
    size_t count;
};

static void collect(struct schemas *s, const struct json_object *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < s->count; i++)
        if (s->table[i] == table)
            return;
    if (s->count == SCHEMAS_MAX)
        return;
    s->table[s->count++] = table;
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        collect(s, f->of);
        for (const struct json_kind *k = f->kinds; k && k->name; k++)
            collect(s, k->of);
    }
}

static void print_ref(const struct json_object *table, struct text_buffer *b)
{
    text_addf(b, "{\"$ref\":\"#/components/schemas/%s\"}", table->name);
}

static void print_bound(const char *name, double bound, struct text_buffer *b)
{
    if (!isfinite(bound) || fabs(bound) >= JSON_LARGEST)
        return;
    text_addf(b, ",\"%s\":", name);
    json_print_number(bound, b);
}

/* Number types: bounds only where they were set (answers have none). */
static void print_number_schema(const struct json_field *f, const char *type,
                                bool element, struct text_buffer *b)
{
    bool nullable = (f->flags & JSON_NULLABLE) || (f->flags & JSON_OPTIONAL);

    text_addf(b, nullable ? "\"type\":[\"%s\",\"null\"]" : "\"type\":\"%s\"", type);
    if (f->min < f->max) {
        print_bound(f->flags & JSON_ABOVE_MIN ? "exclusiveMinimum" : "minimum", f->min,
                    b);
        print_bound("maximum", f->max, b);
        if (!element && !(f->flags & JSON_REQUIRED))
            print_bound("default", f->preset, b);
    }
}

static void print_texts(const char *name, const char *const *texts, struct text_buffer *b)
{
    text_addf(b, "\"%s\":[", name);
    for (size_t i = 0; texts[i]; i++) {
        text_addf(b, i ? "," : "");
        json_print_text(texts[i], b);
    }
    text_addf(b, "]");
}

static void print_list_schema(const struct json_field *f, struct text_buffer *b)
{
    text_addf(b, "\"type\":\"array\",\"items\":");
    if (f->type == JSON_TYPE_LIST) {
        print_ref(f->of, b);
    } else if (f->type == JSON_TYPE_TEXTS) {
        text_addf(b, "{\"type\":\"string\"}");
    } else {
        text_addf(b, "{");
        print_number_schema(f, "number", true, b);
        text_addf(b, "}");
    }
    if (f->type != JSON_TYPE_NUMBERS && f->max > 0)
        text_addf(b, ",\"maxItems\":%.0f", f->max);
}

static void print_text_schema(const struct json_field *f, struct text_buffer *b)
{
    bool nullable = (f->flags & JSON_NULLABLE) || (f->flags & JSON_OPTIONAL);

    text_addf(b, nullable ? "\"type\":[\"string\",\"null\"]" : "\"type\":\"string\"");
    if (f->min > 0)
        text_addf(b, ",\"minLength\":%.0f", f->min);
    if (f->max > 0)
        text_addf(b, ",\"maxLength\":%.0f", f->max);
}

/* The schema of a member, without its braces. */
static void print_type(const struct json_field *f, struct text_buffer *b)
{
    switch (f->type) {
    case JSON_TYPE_NUMBER:
        print_number_schema(f, "number", false, b);
        break;
    case JSON_TYPE_INTEGER:
        print_number_schema(f, "integer", false, b);
        break;
    case JSON_TYPE_BOOLEAN:
        text_addf(b, "\"type\":\"boolean\"");
        break;
    case JSON_TYPE_TEXT:
        print_text_schema(f, b);
        break;
    case JSON_TYPE_CHOICE:
        text_addf(b, "\"type\":\"string\",");
        print_texts("enum", f->choices, b);
        break;
    case JSON_TYPE_INSTANT:
        text_addf(b,
                  "\"type\":[\"string\",\"number\",\"null\"],\"format\":\"date-time\"");
        break;
    case JSON_TYPE_OBJECT:
        text_addf(b, f->flags & JSON_OR_NUMBER ? "\"anyOf\":[{\"type\":\"number\"},"
                                               : "\"allOf\":[");
        print_ref(f->of, b);
        text_addf(b, "]");
        break;
    case JSON_TYPE_VALUES:
        text_addf(b, "\"type\":\"object\",\"additionalProperties\":"
                     "{\"type\":[\"number\",\"boolean\",\"string\",\"null\"]}");
        break;
    case JSON_TYPE_LIST:
    case JSON_TYPE_NUMBERS:
    case JSON_TYPE_TEXTS:
        print_list_schema(f, b);
        break;
    case JSON_TYPE_RAW:  /* any JSON */
    case JSON_TYPE_KIND: /* print_kinds() */
    case JSON_END:
        break;
    }
}

static void print_member(const struct json_field *f, struct text_buffer *b)
{
    size_t before;

    text_addf(b, "{");
    before = b->length;
    print_type(f, b);
    text_addf(b, "%s\"description\":", b->length > before ? "," : "");
    json_print_text(f->doc, b);
    text_addf(b, "}");
}

/* Values of the second member that mean the kind; NULL: that mean any kind. */
static void print_hints(const struct json_field *f, const char *kind,
                        struct text_buffer *b)
{
    bool first = true;

    text_addf(b, "{\"properties\":{\"%s\":{\"enum\":[", f->hint_member);
    for (const struct json_hint *h = f->hints; h->value; h++) {
        if (kind && strcmp(kind, h->kind) != 0)
            continue;
        text_addf(b, first ? "" : ",");
        json_print_text(h->value, b);
        first = false;
    }
    text_addf(b, "]}},\"required\":[\"%s\"]}", f->hint_member);
}

static bool has_hint(const struct json_field *f, const char *kind)
{
    for (const struct json_hint *h = f->hints; h->value; h++)
        if (strcmp(h->kind, kind) == 0)
            return true;
    return false;
}

/* A kind of a row with hints: its object, and what tells it from the others: the member
 * that names it, or, without that, the second member. So exactly one of them matches. */
static void print_hinted_kind(const struct json_field *f, const struct json_kind *k,
                              struct text_buffer *b)
{
    bool first = k == f->kinds;

    text_addf(b, "{\"allOf\":[");
    print_ref(k->of, b);
    text_addf(b, ",{\"anyOf\":[{\"allOf\":[{\"properties\":{\"%s\":{\"const\":", f->name);
    json_print_text(k->name, b);
    text_addf(b, "}},\"required\":[\"%s\"]}]}", f->name);
    if (first || has_hint(f, k->name)) {
        text_addf(b, ",{\"allOf\":[{\"not\":{\"required\":[\"%s\"]}},", f->name);
        text_addf(b, first ? "{\"not\":" : "");
        print_hints(f, first ? NULL : k->name, b);
        text_addf(b, first ? "}]}" : "]}");
    }
    text_addf(b, "]}]}");
}

/* One of several objects, told apart by their member "kind". */
static void print_kinds(const struct json_object *table, struct text_buffer *b)
{
    const struct json_field *f = table->fields;
    const struct json_kind *kinds = f->kinds;

    text_addf(b, "\"%s\":{\"description\":", table->name);
    json_print_text(table->doc, b);
    text_addf(b, ",\"oneOf\":[");
    for (const struct json_kind *k = kinds; k->name; k++) {
        text_addf(b, k == kinds ? "" : ",");
        if (f->hints)
            print_hinted_kind(f, k, b);
        else
            print_ref(k->of, b);
    }
    text_addf(b, "]}");
}

static void print_schema(const struct json_object *table, struct text_buffer *b)
{
    bool first = true;

    if (table->fields->type == JSON_TYPE_KIND) {
        print_kinds(table, b);
        return;
    }
    text_addf(b, "\"%s\":{\"type\":\"object\",\"description\":", table->name);
    json_print_text(table->doc, b);
    text_addf(b, ",\"properties\":{");
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        text_addf(b, "%s\"%s\":", f == table->fields ? "" : ",", f->name);
        print_member(f, b);
    }
    text_addf(b, "}");
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++) {
        if (!(f->flags & JSON_REQUIRED))
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

static void print_parameters(const struct route *r, struct text_buffer *b)
{
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
        print_type(f, b);
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

static void print_body(const struct route *r, struct text_buffer *b)
{
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
        print_ref(r->request, b);
        text_addf(b, ",{\"type\":\"array\",\"items\":");
        print_ref(r->request, b);
        text_addf(b, "}]}");
    } else if (r->request) {
        print_ref(r->request, b);
    } else {
        text_addf(b, "{\"type\":\"object\"}");
    }
    print_examples(r, b);
    text_addf(b, "}");
    print_texts_instead(r, b);
    if (r->request && r->flags & ROUTE_BULK) {
        text_addf(b, ",\"application/x-ndjson\":{\"schema\":");
        print_ref(r->request, b);
        text_addf(b, "}");
    }
    text_addf(b, "}}");
}

static void print_answers(const struct route *r, struct text_buffer *b)
{
    bool creates = r->flags & ROUTE_IDEMPOTENT_KEY && !(r->flags & ROUTE_DECISION);

    text_addf(b, ",\"responses\":{\"%s\":{\"description\":\"Done\"",
              creates                                     ? "201"
              : r->response || r->flags & ROUTE_RAW_REPLY ? "200"
                                                          : "204");
    if (r->response) {
        text_addf(b, ",\"content\":{\"application/json\":{\"schema\":");
        print_ref(r->response, b);
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

static void print_operation(const struct route *r, struct text_buffer *b)
{
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
    print_parameters(r, b);
    print_body(r, b);
    print_answers(r, b);
    if (r->scope == SCOPE_NONE)
        text_addf(b, ",\"security\":[]");
    text_addf(b, "}");
}

static void print_paths(const struct route *routes, struct text_buffer *b)
{
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
        print_operation(r, b);
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
        "\"errors\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
        "\"pointer\":{\"type\":\"string\",\"description\":\"JSON Pointer to the value\"},"
        "\"code\":{\"type\":\"string\"},\"detail\":{\"type\":\"string\"}}}}},"
        "\"required\":[\"type\",\"title\",\"status\",\"code\",\"request_id\"]}");
}

static void print_components(const struct route *routes, struct text_buffer *b)
{
    struct schemas schemas = {.count = 0};

    for (const struct route *r = routes; r->method; r++) {
        collect(&schemas, r->request);
        collect(&schemas, r->response);
    }
    text_addf(b, "\"components\":{\"schemas\":{");
    for (size_t i = 0; i < schemas.count; i++) {
        text_addf(b, i ? "," : "");
        print_schema(schemas.table[i], b);
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
    print_paths(routes, b);
    text_addf(b, ",");
    print_components(routes, b);
    text_addf(b, "}");
}
