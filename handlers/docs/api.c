/* api.c - a page for each operation, from its row and its JSON tables. */
#include "handlers/docs/docs.h"

#include "models/base/error_codes.h"
#include "service/config.h"
#include "service/json_holds.h"
#include "service/openapi.h"
#include "service/service.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 8, NAMES_DEPTH_MAX = 4 };

enum side { REQUEST, ANSWER };

/* ---- members ---- */

static const char *type_name(const struct json_field *f)
{
    static const char *const names[] = {[JSON_TYPE_NUMBER] = "number",
                                        [JSON_TYPE_INTEGER] = "integer",
                                        [JSON_TYPE_BOOLEAN] = "boolean",
                                        [JSON_TYPE_TEXT] = "text",
                                        [JSON_TYPE_CHOICE] = "one of",
                                        [JSON_TYPE_INSTANT] = "instant (RFC 3339)",
                                        [JSON_TYPE_OBJECT] = "object",
                                        [JSON_TYPE_LIST] = "list of objects",
                                        [JSON_TYPE_NUMBERS] = "list of numbers",
                                        [JSON_TYPE_TEXTS] = "list of texts",
                                        [JSON_TYPE_VALUES] = "object of values",
                                        [JSON_TYPE_RAW] = "any JSON",
                                        [JSON_TYPE_KIND] = "object"};

    return names[f->type];
}

/* What the end of a name says. */
static const char *unit_of(const char *name)
{
    static const char *const units[][2] = {{"_per_s", "per second"},
                                           {"_mbps", "10^6 bit/s"},
                                           {"_bytes", "bytes"},
                                           {"_ratio", "1 is 100 %"},
                                           {"_mi", "10^6 instructions"},
                                           {"mips_total", "only ratios matter"},
                                           {"_count", "number"},
                                           {"_at", "UTC"},
                                           {"_s", "seconds"}};
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t end = strlen(units[i][0]);

        if (length >= end && strcmp(name + length - end, units[i][0]) == 0)
            return units[i][1];
    }
    return "";
}

static void print_choices(const struct json_field *f, struct text_buffer *b)
{
    for (size_t i = 0; f->choices && f->choices[i]; i++)
        html_add(b, "%r<code>%t</code>", i ? ", " : " ", f->choices[i]);
    for (size_t i = 0; f->words && json_word_at(f->words, i); i++)
        html_add(b, "%r<code>%t</code>", i ? ", " : " ", json_word_at(f->words, i));
}

static void print_bounds(const struct json_field *f, struct text_buffer *b)
{
    bool counts = f->type == JSON_TYPE_TEXT || f->type == JSON_TYPE_LIST ||
                  f->type == JSON_TYPE_TEXTS || f->type == JSON_TYPE_VALUES;
    bool has_number = f->type == JSON_TYPE_NUMBER || f->type == JSON_TYPE_INTEGER ||
                      f->type == JSON_TYPE_NUMBERS;

    if (has_number) {
        html_add(b, "%t %g", f->flags & JSON_ABOVE_MIN ? "above" : "from", f->min);
        if (f->max < JSON_LARGEST && f->max < JSON_EXACT)
            html_add(b, " to %g", f->max);
    } else if (counts && f->max > 0) {
        html_add(b, "at most %g %t", f->max,
                 f->type == JSON_TYPE_TEXT ? "characters" : "elements");
    }
}

static bool has_default(const struct json_field *f)
{
    if (f->flags & (JSON_BOUND_ONLY | JSON_REQUIRED))
        return false;
    if (f->type == JSON_TYPE_BOOLEAN)
        return true;
    if (f->type == JSON_TYPE_CHOICE)
        return f->preset >= 0;
    return (f->type == JSON_TYPE_NUMBER || f->type == JSON_TYPE_INTEGER) &&
           isfinite(f->preset) && f->preset >= f->min && f->preset <= f->max;
}

static void print_default(const struct json_field *f, struct text_buffer *b)
{
    if (f->flags & JSON_REQUIRED)
        html_add(b, "<strong>needed</strong>");
    else if (!has_default(f))
        return;
    else if (f->type == JSON_TYPE_BOOLEAN)
        html_add(b, "%t", f->preset != 0 ? "true" : "false");
    else if (f->type == JSON_TYPE_CHOICE)
        html_add(b, "%t", f->choices[(size_t)f->preset]);
    else
        html_add(b, "%g", f->preset);
}

static void print_members(const struct json_object *table, enum side side, int depth,
                          struct text_buffer *b);

static void print_aliases(const struct json_field *f, struct text_buffer *b)
{
    for (const struct json_alias *x = f->aliases; x && x->name; x++)
        html_add(b, " Also read: <code>%t</code>.", x->name);
}

/* What stands below a member: the members of its object, or of each kind. */
static void print_below(const struct json_field *f, enum side side, int depth,
                        struct text_buffer *b)
{
    if (f->of && depth < DEPTH_MAX) {
        html_add(b, "<details><summary>%t</summary>\n", f->of->doc);
        print_members(f->of, side, depth + 1, b);
        html_add(b, "</details>\n");
    }
    for (const struct json_kind *k = f->kinds; k && k->name && depth < DEPTH_MAX; k++) {
        html_add(b, "<details%r><summary><code>%t</code>: %t</summary>\n",
                 depth == 0 ? " open" : "", k->name, k->of->doc);
        print_members(k->of, side, depth + 1, b);
        html_add(b, "</details>\n");
    }
}

static void print_member(const struct json_field *f, enum side side, int depth,
                         struct text_buffer *b)
{
    html_add(b, "<tr><th scope=\"row\"><code>%t</code></th><td>%t", f->name,
             type_name(f));
    print_choices(f, b);
    html_add(b, "</td><td>%t</td><td>", unit_of(f->name));
    if (side == REQUEST)
        print_default(f, b);
    else
        html_add(b, "%t",
                 f->flags & JSON_OPTIONAL      ? "may be left out"
                 : f->flags & JSON_MAY_BE_NULL ? "may be null"
                                               : "");
    html_add(b, "</td><td>");
    if (side == REQUEST) {
        print_bounds(f, b);
        html_add(b, "</td><td>");
    }
    html_add(b, "%t%t", f->doc, f->doc && *f->doc ? "." : "");
    if (side == REQUEST)
        print_aliases(f, b);
    print_below(f, side, depth, b);
    html_add(b, "</td></tr>\n");
}

static void print_members(const struct json_object *table, enum side side, int depth,
                          struct text_buffer *b)
{
    if (table->fields->type == JSON_TYPE_KIND) {
        html_add(b, "<p>The member <code>%t</code> says which: %t.</p>\n",
                 table->fields->name, table->fields->doc);
        print_below(table->fields, side, depth, b);
        return;
    }
    html_add(b,
             "<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">member</th>"
             "<th scope=\"col\">type</th><th scope=\"col\">unit</th>"
             "<th scope=\"col\">%t</th>%r<th scope=\"col\">meaning</th></tr></thead>\n"
             "<tbody>\n",
             side == REQUEST ? "default" : "no value",
             side == REQUEST ? "<th scope=\"col\">bounds</th>" : "");
    for (const struct json_field *f = table->fields; f->type != JSON_END; f++)
        print_member(f, side, depth, b);
    html_add(b, "</tbody></table></div>\n");
}

/* ---- the rest of the page ---- */

static void print_codes(const char *status, struct text_buffer *b)
{
    static const struct {
        int status;
        const char *name, *cause;
    } codes[] = {
#define X(symbol, number, name, title, cause, remedy) {number, name, cause},
        ERROR_CODES(X)
#undef X
    };

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (codes[i].status == atoi(status) && codes[i].cause[0])
            html_add(b, " <a href=\"/docs/errors/%u\"><code>%t</code></a>", codes[i].name,
                     codes[i].name);
}

static void print_statuses(const struct route *r, struct text_buffer *b)
{
    const char *status, *doc;

    html_add(b,
             "<h2 id=\"statuses\">Statuses</h2>\n<div class=\"wide\"><table><tbody>\n"
             "<tr><th scope=\"row\">2xx</th><td>Done: the answer above%t</td></tr>\n",
             r->flags & ROUTE_ASYNC ? "; 202 when Prefer: respond-async was asked for"
                                    : "");
    for (size_t i = 0; openapi_failure(r, i, &status, &doc); i++) {
        html_add(b, "<tr><th scope=\"row\">%t</th><td>%t", status, doc);
        print_codes(status, b);
        html_add(b, "</td></tr>\n");
    }
    html_add(b, "</tbody></table></div>\n");
}

static void print_headers(const struct route *r, struct text_buffer *b)
{
    static const struct {
        unsigned flag;
        const char *text;
    } rows[] = {
        {ROUTE_IDEMPOTENT_KEY, "<code>Idempotency-Key</code>: the same key and body give "
                               "the first answer again for 24 hours"},
        {ROUTE_ASYNC,
         "<code>Prefer: respond-async</code>: 202 at once, the work goes on; "
         "<code>Location</code> says where to ask"},
        {ROUTE_VERSIONED,
         "<code>ETag</code> of the stored version; <code>If-Match</code> "
         "and <code>If-None-Match</code> are honoured"},
        {ROUTE_ANSWERS_CHART,
         "<code>Accept: image/svg+xml</code>: the answer as a picture"},
        {ROUTE_ANSWERS_GRAPH,
         "<code>Accept: text/vnd.graphviz</code>: the answer as a graph"},
        {ROUTE_ANSWERS_TEXT, "<code>Accept: text/plain</code>: the answer as a text"},
        {ROUTE_BULK, "<code>Content-Type: application/x-ndjson</code>: a record a line, "
                     "each on its own"},
    };

    html_add(b, "<h2 id=\"headers\">Headers</h2>\n<ul>\n<li><code>X-Request-Id</code> is "
                "in every answer and in the log</li>\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (r->flags & rows[i].flag)
            html_add(b, "<li>%r</li>\n", rows[i].text);
    html_add(b, "</ul>\n");
}

static void print_limits(const struct docs_page *p, const struct route *r)
{
    static const char *const works[] = {
        [WORK_INLINE] = "Answered at once, without the database.",
        [WORK_QUERY] = "Asks the database.",
        [WORK_COMPUTE] = "Computes: it may wait for a worker, and has a time limit."};
    const struct config *config = p->rq->service->config;

    html_add(p->b, "<h2 id=\"limits\">Limits and cost</h2>\n<ul>\n<li>%t</li>\n",
             works[r->work]);
    if (route_takes_body(r))
        html_add(p->b,
                 "<li>Body of at most %z bytes, also when it is decompressed.</li>\n",
                 route_body_limit(r, config));
    if (r->work == WORK_COMPUTE)
        html_add(p->b, "<li>Time limit: at most %g s here.</li>\n",
                 config->time_limit_max_s);
    if (r->scope != SCOPE_NONE)
        html_add(p->b, "<li>Where keys are needed, the scope%r%r%r.</li>\n",
                 r->scope & SCOPE_DECIDE ? " <code>decide</code>" : "",
                 r->scope & SCOPE_INGEST ? " <code>ingest</code>" : "",
                 r->scope & SCOPE_READ ? " <code>read</code>" : "");
    html_add(p->b, "</ul>\n");
}

static void print_related(const struct route *r, const struct route *all,
                          struct text_buffer *b)
{
    html_add(b, "<h2 id=\"related\">Related</h2>\n<ul>\n");
    for (const struct route *o = all; o->method; o++)
        if (o->tag == r->tag && o != r && !(o->flags & ROUTE_ASSET))
            html_add(b, "<li><a href=\"/docs/api/%u\"><code>%t %t</code></a> %t</li>\n",
                     o->operation, o->method, o->path, o->summary);
    html_add(b, "</ul>\n");
}

static void print_bodies(struct docs_page *p, const struct route *r)
{
    if (r->query) {
        html_add(p->b, "<h2 id=\"query\">Query</h2>\n");
        print_members(r->query, REQUEST, 0, p->b);
    }
    if (r->request) {
        html_add(p->b, "<h2 id=\"request\">Request</h2>\n<p>%t.</p>\n", r->request->doc);
        print_members(r->request, REQUEST, 0, p->b);
    }
    if (r->response) {
        html_add(p->b, "<h2 id=\"answer\">Answer</h2>\n<p>%t.</p>\n", r->response->doc);
        print_members(r->response, ANSWER, 0, p->b);
    }
}

/* The example that says only what is required, else the shortest one. */
static const char *least_of(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *end = strrchr(names[i], '-');

        if (end && strcmp(end, "-least") == 0)
            return names[i];
    }
    return names[0];
}

enum error_code docs_operation(struct docs_page *p, const char *rest)
{
    const struct route *all = p->rq->service->routes, *r = all;
    const char *const *names;
    size_t count;

    while (r->method && (r->flags & ROUTE_ASSET || strcmp(r->operation, rest) != 0))
        r++;
    if (!r->method)
        return ERR_NOT_FOUND;
    p->title = arena_printf(p->rq->arena, "%s %s", r->method, r->path);
    html_add(p->b,
             "<p class=\"lead\">%t</p>\n<p>%t</p>\n<p>Operation <code>%t</code> of <a "
             "href=\"/docs/rooms/%u\">%t</a>.</p>\n",
             r->summary, r->doc, r->operation, r->tag->name, r->tag->name);
    names = docs_examples_of(r, &count, p->rq->arena);
    if (count) {
        html_add(p->b, "<h2 id=\"less\">Say less</h2>\n");
        docs_print_example(p, r, least_of(names, count));
    }
    if (count > 1) {
        size_t more = count - 1; /* the largest that is shown whole, if any is */

        while (more > 1 && !docs_is_shown_whole(names[more], p->rq->arena))
            more--;
        html_add(p->b, "<h2 id=\"more\">Say more</h2>\n<details><summary>A larger "
                       "example</summary>\n");
        docs_print_example(p, r, names[more]);
        html_add(p->b, "</details>\n");
        docs_list_examples(p, names, count);
    }
    print_bodies(p, r);
    print_statuses(r, p->b);
    print_headers(r, p->b);
    print_limits(p, r);
    if (strcmp(r->method, "POST") == 0)
        docs_print_policies(p->b, r->path);
    print_related(r, all, p->b);
    return OK;
}

/* ---- for the index ---- */

/* Names of members, and what is said of them. */
static void add_members(const struct json_object *table, int depth,
                        struct text_buffer *names, struct text_buffer *text)
{
    for (const struct json_field *f = table ? table->fields : NULL;
         f && f->type != JSON_END; f++) {
        text_addf(names, "%s ", f->name);
        text_addf(text, "%s ", f->doc ? f->doc : "");
        if (f->of && depth < NAMES_DEPTH_MAX)
            add_members(f->of, depth + 1, names, text);
        for (const struct json_kind *k = f->kinds;
             k && k->name && depth < NAMES_DEPTH_MAX; k++)
            add_members(k->of, depth + 1, names, text);
    }
}

static void add_texts(const struct route *r, struct text_buffer *names,
                      struct text_buffer *text)
{
    text_addf(names, "%s ", r->operation);
    text_addf(text, "%s ", r->doc);
    add_members(r->query, 0, names, text);
    add_members(r->request, 0, names, text);
    add_members(r->response, 0, names, text);
}

void docs_list_api(struct docs_index *ix)
{
    for (const struct route *r = ix->routes; r->method; r++) {
        struct text_buffer names = {.arena = ix->arena}, text = {.arena = ix->arena};

        if (r->flags & ROUTE_ASSET)
            continue;
        if (!ix->pages_only)
            add_texts(r, &names, &text);
        docs_index_add(
            ix, (struct docs_entry){
                    arena_printf(ix->arena, "/docs/api/%s", r->operation),
                    arena_printf(ix->arena, "%s %s: %s", r->method, r->path, r->summary),
                    text_end(&names), text_end(&text), NULL, NULL});
    }
}
