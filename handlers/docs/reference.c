/* reference.c - codes of errors, settings, metrics, commands, changes, licences. */
#include "handlers/docs/docs.h"

#include "handlers/docs/markdown.h"
#include "models/base/error_codes.h"
#include "models/base/warning_codes.h"
#include "models/fitted/core.h"
#include "models/performance/performance.h"
#include "service/cli.h"
#include "service/config.h"
#include "service/metrics.h"
#include "service/service.h"

#include <ctype.h>
#include <string.h>

/* ---- codes ---- */

static const struct code {
    size_t status; /* 0: of an element of errors */
    const char *name, *title, *cause, *remedy;
} codes[] = {
#define X(symbol, number, name, title, cause, remedy) \
    {number, name, title, cause, remedy},
    ERROR_CODES(X)
#undef X
#define X(symbol, name, title, cause, remedy) {0, name, title, cause, remedy},
        ITEM_CODES(X)
#undef X
};

static const struct warning {
    const char *name, *meaning;
} warnings[] = {
#define X(name, meaning) {#name, meaning},
    WARNING_CODES(X)
#undef X
};

enum {
    CODES = sizeof(codes) / sizeof(codes[0]),
    WARNINGS = sizeof(warnings) / sizeof(warnings[0])
};

static void print_codes(struct docs_page *p, bool problems)
{
    html_add(p->b, "<div class=\"wide\"><table><thead><tr><th scope=\"col\">code</th>"
                   "<th scope=\"col\">says</th><th scope=\"col\">when</th></tr></thead>"
                   "<tbody>\n");
    for (size_t i = 0; i < CODES; i++)
        if (codes[i].cause[0] && (codes[i].status > 0) == problems) {
            html_add(p->b,
                     "<tr><th scope=\"row\"><a href=\"/docs/errors/%u\"><code>%t</code>"
                     "</a>",
                     codes[i].name, codes[i].name);
            if (problems)
                html_add(p->b, " %z", codes[i].status);
            html_add(p->b, "</th><td>%t</td><td>%t</td></tr>\n", codes[i].title,
                     codes[i].cause);
        }
    html_add(p->b, "</tbody></table></div>\n");
}

static void print_warning(struct docs_page *p, const char *name, const char *meaning)
{
    html_add(p->b, "<dt id=\"warning-%t\"><code>%t</code></dt><dd>%t</dd>\n", name, name,
             meaning);
}

static void print_all_codes(struct docs_page *p)
{
    p->title = "Errors and warnings";
    html_add(p->b, "<p>A refused request is answered with a problem (RFC 9457): "
                   "<code>code</code> says what became of it, <code>errors</code> lists "
                   "every mistake at once, each with its own code, a JSON Pointer and, "
                   "where there is one, a hint. The same as JSON: <a "
                   "href=\"/docs/api/listErrors\"><code>GET /v1/errors</code></a>.</p>\n"
                   "<h2 id=\"problems\">Problems</h2>\n");
    print_codes(p, true);
    html_add(p->b, "<h2 id=\"elements\">Elements of errors</h2>\n");
    print_codes(p, false);
    html_add(p->b, "<h2 id=\"warnings\">Warnings</h2>\n<dl>\n");
    for (size_t i = 0; i < WARNINGS; i++)
        print_warning(p, warnings[i].name, warnings[i].meaning);
    for (size_t i = 0; perf_warning_names[i]; i++)
        print_warning(p, perf_warning_names[i], perf_warning_texts[i]);
    for (size_t i = 0; core_note_names[i]; i++)
        print_warning(p, core_note_names[i], core_note_texts[i]);
    html_add(p->b, "</dl>\n");
}

/* A file of the example of a code, if it is there. */
static void print_part(struct docs_page *p, const char *title, const char *name,
                       const char *ending)
{
    enum { LINES_MAX = 80 };
    const char *text = docs_example(
        arena_printf(p->rq->arena, "error-%s.%s", name, ending), p->rq->arena);

    if (!text || !*text)
        return;
    html_add(p->b, "<h2>%t</h2>\n", title);
    docs_print_json(p->b, text, LINES_MAX);
}

enum error_code docs_errors(struct docs_page *p, const char *rest)
{
    bool found = false;

    if (!*rest) {
        print_all_codes(p);
        return OK;
    }
    for (size_t i = 0; i < CODES; i++) {
        if (!codes[i].cause[0] || strcmp(codes[i].name, rest) != 0)
            continue;
        p->title = codes[i].name;
        html_add(p->b, "<p class=\"lead\">%t</p>\n<dl>\n<dt>Where</dt><dd>",
                 codes[i].title);
        if (codes[i].status)
            html_add(p->b, "the problem itself, status %z", codes[i].status);
        else
            html_add(p->b, "an element of <code>errors</code>");
        html_add(p->b,
                 "</dd>\n<dt>Cause</dt><dd>%t</dd>\n<dt>Remedy</dt><dd>%t</dd>\n</dl>\n",
                 codes[i].cause, codes[i].remedy);
        found = true;
    }
    if (!found)
        return ERR_NOT_FOUND;
    print_part(p, "Request", rest, "http");
    print_part(p, "A wrong body", rest, "json");
    print_part(p, "The answer", rest, "answer.json");
    print_part(p, "The right body", rest, "right.json");
    html_add(p->b, "<p><a href=\"/docs/errors/\">All codes</a></p>\n");
    return OK;
}

/* ---- settings ---- */

static const struct setting {
    const char *type, *name, *preset, *choices, *customary, *doc;
    double least, most;
} settings[] = {
#define X(type, name, preset, least, most, choices, customary, doc) \
    {#type, #name, preset, choices, customary, doc, least, most},
    CONFIG_SETTINGS(X)
#undef X
};

static void print_variable(const char *name, struct text_buffer *b)
{
    text_addf(b, "GRIDPLAN_");
    for (; *name; name++)
        text_addf(b, "%c", toupper((unsigned char)*name));
}

enum error_code docs_settings(struct docs_page *p, const char *rest)
{
    (void)rest;
    p->title = "Settings";
    html_add(p->b,
             "<p>Each is an environment variable and a flag: <code>GRIDPLAN_PORT</code> "
             "is <code>--port</code>. Flags go before variables. A secret is also "
             "read from the file that <code>GRIDPLAN_NAME_FILE</code> names.</p>\n"
             "<div class=\"wide\"><table><thead><tr><th scope=\"col\">variable</th>"
             "<th scope=\"col\">default</th><th scope=\"col\">values</th>"
             "<th scope=\"col\">meaning</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const struct setting *s = &settings[i];

        html_add(p->b, "<tr id=\"%t\"><th scope=\"row\"><code>", s->name);
        print_variable(s->name, p->b);
        html_add(p->b, "</code></th><td>%t</td><td>", s->preset);
        if (s->choices)
            html_add(p->b, "%t", s->choices);
        else if (s->most > 0)
            html_add(p->b, "%g to %g", s->least, s->most);
        html_add(p->b, "</td><td>%t", s->doc);
        if (s->customary)
            html_add(p->b, " Also: <code>%t</code>.", s->customary);
        html_add(p->b, "</td></tr>\n");
    }
    html_add(p->b, "</tbody></table></div>\n");
    return OK;
}

/* ---- metrics ---- */

static void print_metric(void *context, const char *name, const char *type,
                         const char *labels, const char *help)
{
    html_add(context,
             "<tr id=\"%t\"><th scope=\"row\"><code>%t</code></th><td>%t</td><td>%t"
             "</td><td>%t</td></tr>\n",
             name, name, type, labels, help);
}

enum error_code docs_metrics(struct docs_page *p, const char *rest)
{
    (void)rest;
    p->title = "Metrics";
    html_add(p->b,
             "<p><a href=\"/docs/api/getMetrics\"><code>GET /metrics</code></a>, in the "
             "formats of Prometheus and OpenMetrics. A series appears with its first "
             "event. Rules for alerts: <a "
             "href=\"/docs/monitoring/alerts.yml\">alerts.yml</a>; "
             "a board for Grafana: <a href=\"/docs/monitoring/grafana.json\">"
             "grafana.json</a>; the rest of running it: <a "
             "href=\"/docs/operation\">operation</a>.</p>\n<div "
             "class=\"wide\"><table><thead><tr><th "
             "scope=\"col\">name</th><th scope=\"col\">type</th><th "
             "scope=\"col\">labels</th><th scope=\"col\">meaning</th></tr></thead>"
             "<tbody>\n");
    metrics_each(p->rq->service->metrics, print_metric, p->b);
    html_add(p->b, "</tbody></table></div>\n");
    return OK;
}

/* ---- the rest ---- */

enum error_code docs_cli(struct docs_page *p, const char *rest)
{
    const char *name, *doc;

    (void)rest;
    p->title = "Commands";
    html_add(p->b, "<p><code>gridplan [COMMAND] [--SETTING VALUE]...</code></p>\n<dl>\n");
    for (size_t i = 0; cli_command(i, &name, &doc); i++)
        html_add(p->b, "<dt id=\"%t\"><code>gridplan %t</code></dt>\n<dd>%t</dd>\n", name,
                 name, doc);
    html_add(p->b,
             "</dl>\n<p>Every <a href=\"/docs/settings\">setting</a> is a flag.</p>\n");
    return OK;
}

static void print_table_aliases(const struct json_object *table, int depth,
                                struct text_buffer *b)
{
    enum { DEPTH_MAX = 6 };

    for (const struct json_field *f = table ? table->fields : NULL;
         f && f->type != JSON_END; f++) {
        for (const struct json_alias *x = f->aliases; x && x->name; x++)
            html_add(b, "<li><code>%t</code> of %t is now <code>%t</code></li>\n",
                     x->name, table->name, f->name);
        if (f->of && depth < DEPTH_MAX)
            print_table_aliases(f->of, depth + 1, b);
        for (const struct json_kind *k = f->kinds; k && k->name && depth < DEPTH_MAX; k++)
            print_table_aliases(k->of, depth + 1, b);
    }
}

enum error_code docs_changes(struct docs_page *p, const char *rest)
{
    (void)rest;
    p->title = "Changes";
    markdown_print(docs_file("CHANGES.md", p->rq->arena), 2, p->b);
    html_add(p->b,
             "<h2 id=\"former-names\">Former names</h2>\n<p>They are read for all of "
             "/v1, each with a warning.</p>\n");
    for (const struct route *r = p->rq->service->routes; r->method; r++) {
        struct text_buffer list = {.arena = p->rq->arena};

        print_table_aliases(r->query, 0, &list);
        print_table_aliases(r->request, 0, &list);
        if (list.length)
            html_add(p->b, "<h3><a href=\"/docs/api/%u\">%t %t</a></h3>\n<ul>\n%r</ul>\n",
                     r->operation, r->method, r->path, text_end(&list));
    }
    return OK;
}

enum error_code docs_licences(struct docs_page *p, const char *rest)
{
    (void)rest;
    p->title = "Licences";
    markdown_print(docs_file("THIRD_PARTY.md", p->rq->arena), 2, p->b);
    return OK;
}

/* Settings, commands and warnings are found by themselves. */
static void list_rows(struct docs_index *ix)
{
    const char *name, *doc;

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        struct text_buffer variable = {.arena = ix->arena};

        print_variable(settings[i].name, &variable);
        docs_index_add(ix,
                       (struct docs_entry){"/docs/settings", text_end(&variable), NULL,
                                           settings[i].doc, NULL, settings[i].name});
    }
    for (size_t i = 0; cli_command(i, &name, &doc); i++)
        docs_index_add(ix, (struct docs_entry){
                               "/docs/cli", arena_printf(ix->arena, "gridplan %s", name),
                               NULL, doc, NULL, name});
    for (size_t i = 0; i < WARNINGS; i++)
        docs_index_add(ix, (struct docs_entry){
                               "/docs/errors/",
                               arena_printf(ix->arena, "Warning %s", warnings[i].name),
                               NULL, warnings[i].meaning, NULL,
                               arena_printf(ix->arena, "warning-%s", warnings[i].name)});
}

void docs_list_reference(struct docs_index *ix)
{
    static const struct docs_entry pages[] = {
        {"/docs/changes", "Changes", NULL, NULL, "CHANGES.md", NULL},
        {"/docs/cli", "Commands", NULL, NULL, NULL, NULL},
        {"/docs/errors/", "Errors and warnings", NULL, NULL, NULL, NULL},
        {"/docs/licences", "Licences", NULL, NULL, "THIRD_PARTY.md", NULL},
        {"/docs/metrics", "Metrics", NULL, NULL, NULL, NULL},
    };
    struct text_buffer names = {.arena = ix->arena};

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        text_addf(&names, "%s ", settings[i].name);
        print_variable(settings[i].name, &names);
        text_addf(&names, " ");
    }
    docs_index_add(ix, (struct docs_entry){"/docs/settings", "Settings", text_end(&names),
                                           NULL, NULL, NULL});
    if (!ix->pages_only)
        list_rows(ix);
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        docs_index_add(ix, pages[i]);
    for (size_t i = 0; i < CODES; i++) {
        bool seen = !codes[i].cause[0];

        for (size_t k = 0; k < i && !seen; k++) /* a problem and an element of one name */
            seen = codes[k].cause[0] && strcmp(codes[k].name, codes[i].name) == 0;
        if (!seen)
            docs_index_add(ix,
                           (struct docs_entry){
                               arena_printf(ix->arena, "/docs/errors/%s", codes[i].name),
                               arena_printf(ix->arena, "Error %s: %s", codes[i].name,
                                            codes[i].title),
                               codes[i].name, codes[i].cause, NULL, NULL});
    }
}
