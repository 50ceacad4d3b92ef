/* algorithms.c - a page for each policy: its file of openapi/docs/algorithms/, what its
 * row and its options say, and what it took at three sizes: rows of
 * openapi/docs/costs.csv, which tests/bench/costs.py makes. */
#include "handlers/docs/docs.h"

#include "handlers/docs/markdown.h"
#include "handlers/operations/algorithms.h"
#include "models/base/duration.h"
#include "service/openapi.h"
#include "service/service.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COST_COLUMNS = 6 };

/* ---- lists ---- */

static void print_list(const struct policy_family *f, struct text_buffer *b)
{
    html_add(b, "<ul>\n");
    for (const struct policy *p = f->policies; p->name; p++)
        html_add(b,
                 "<li><a href=\"/docs/algorithms/%u/%u\"><code>%t</code></a> %t</li>\n",
                 f->name, p->name, p->name, p->purpose);
    html_add(b, "</ul>\n");
}

static const struct route *route_of(const struct route *routes, const char *endpoint)
{
    const struct route *r = routes;

    while (r->method &&
           (strcmp(r->path, endpoint) != 0 || strcmp(r->method, "POST") != 0))
        r++;
    return r->method ? r : NULL;
}

static void print_family(const struct policy_family *f, const struct route *routes,
                         struct text_buffer *b)
{
    const struct route *r = route_of(routes, f->endpoint);

    html_add(b, "<h2 id=\"%u\">%t</h2>\n", f->name, f->name);
    if (r)
        html_add(
            b, "<p>Taken by <a href=\"/docs/api/%u\"><code>POST %t</code></a>: %t.</p>\n",
            r->operation, r->path, r->summary);
    print_list(f, b);
}

bool docs_print_policies(struct text_buffer *b, const char *endpoint)
{
    bool any = false;

    for (const struct policy_family *f = policy_families; f->name; f++) {
        if (strcmp(f->endpoint, endpoint) != 0)
            continue;
        html_add(b, any ? "" : "<h2 id=\"algorithms\">Algorithms</h2>\n");
        print_list(f, b);
        any = true;
    }
    return any;
}

/* ---- a page ---- */

static void print_sources(const struct policy *policy, struct text_buffer *b)
{
    html_add(b, "<h2 id=\"source\">Source</h2>\n");
    if (policy->origin != POLICY_PUBLISHED)
        html_add(b, "<p>%t: %t.</p>\n",
                 policy->origin == POLICY_OURS
                     ? "Ours"
                     : "A textbook rule that nobody is cited for",
                 policy->idea);
    for (const struct citation *c = policy->cites; c && c->work; c++) {
        html_add(b, "<p>%t, %z: <cite>%t</cite>. %t", c->work->authors,
                 (size_t)c->work->year, c->work->title, c->work->published_in);
        if (c->locator)
            html_add(b, ", %t", c->locator);
        if (c->work->url)
            html_add(b, ". <a href=\"%t\">%t</a>", c->work->url, c->work->url);
        html_add(b, ".</p>\n");
    }
    if (!policy->deviations)
        return;
    html_add(b, "<h2 id=\"deviations\">Deviations</h2>\n<ul>\n");
    for (size_t i = 0; policy->deviations[i]; i++)
        html_add(b, "<li>%t.</li>\n", policy->deviations[i]);
    html_add(b, "</ul>\n");
}

static void print_preset(const struct param *o, struct text_buffer *b)
{
    if (isnan(o->preset))
        html_add(b, "not set");
    else if (o->type == PARAM_CHOICE)
        html_add(b, "%t", o->choices[(size_t)o->preset]);
    else if (o->type == PARAM_BOOLEAN)
        html_add(b, "%t", o->preset != 0 ? "true" : "false");
    else
        html_add(b, "%g", o->preset);
}

static void print_option(const struct param *o, struct text_buffer *b)
{
    html_add(b, "<tr><th scope=\"row\"><code>%t</code></th><td>", o->name);
    print_preset(o, b);
    html_add(b, "</td><td>");
    for (size_t i = 0; o->type == PARAM_CHOICE && o->choices[i]; i++)
        html_add(b, "%r<code>%t</code>", i ? ", " : "", o->choices[i]);
    if (o->type == PARAM_NUMBER || o->type == PARAM_INTEGER) {
        html_add(b, "%g", o->min);
        if (o->max < JSON_LARGEST)
            html_add(b, " to %g", o->max);
        else
            html_add(b, " or more");
    }
    html_add(b, "</td><td>%t</td></tr>\n", o->doc);
}

static void print_options(const struct policy_family *f, const struct policy *policy,
                          struct text_buffer *b)
{
    size_t own = params_count(policy->params), common = params_count(policy->common);
    bool any = false;

    for (size_t i = 0; i < own + common; i++) {
        if (i < own && f->reads && !f->reads(policy, i))
            continue;
        if (!any)
            html_add(
                b,
                "<h2 id=\"options\">Options</h2>\n<p>Members of "
                "<code>options</code> beside <code>\"algorithm\": \"%t\"</code>.</p>\n"
                "<div class=\"wide\"><table><thead><tr><th scope=\"col\">option</th>"
                "<th scope=\"col\">default</th><th scope=\"col\">values</th>"
                "<th scope=\"col\">meaning</th></tr></thead><tbody>\n",
                policy->name);
        any = true;
        print_option(i < own ? &policy->params[i] : &policy->common[i - own], b);
    }
    html_add(b, any ? "</tbody></table></div>\n" : "");
}

/* The next field of a line, and what is behind it; the last one ends with the line. */
static const char *take_field(const char **at, struct arena *a)
{
    size_t length = strcspn(*at, ",\n");
    const char *field = arena_text(a, *at, length);

    *at += length + ((*at)[length] == ',');
    return field;
}

/* A size: its count, how long deciding took, and whether a limit ended it. */
static bool print_cost(const char *const *field, bool first, struct text_buffer *b)
{
    char time[64];

    if (first)
        html_add(b,
                 "<h2 id=\"measured\">Measured</h2>\n"
                 "<p>What deciding took, for so many %t.</p>\n"
                 "<div class=\"wide\"><table><thead><tr><th scope=\"col\">count</th>"
                 "<th scope=\"col\">time</th></tr></thead><tbody>\n",
                 field[2]);
    duration_text(strtod(field[4], NULL), time, sizeof(time));
    html_add(b, "<tr><th scope=\"row\">%t</th><td>%t%r</td></tr>\n", field[3], time,
             *field[5] ? ", ended by its limit" : "");
    return true;
}

/* The rows of the policy, by tests/bench/costs.py. */
static void print_costs(const char *family, const char *policy, struct text_buffer *b)
{
    const char *at = docs_file("costs.csv", b->arena);
    const char *machine = NULL, *field[COST_COLUMNS];
    bool any = false, cut = false;

    for (; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        for (size_t i = 0; i < COST_COLUMNS; i++)
            field[i] = take_field(&at, b->arena);
        if (strcmp(field[0], "machine") == 0)
            machine = field[1];
        if (strcmp(field[0], family) != 0 || strcmp(field[1], policy) != 0)
            continue;
        any = print_cost(field, !any, b);
        cut = cut || *field[5];
    }
    if (any)
        html_add(b,
                 "</tbody></table></div>\n<p>The best of three on one core of %t, by "
                 "<code>tests/bench/costs.py</code>%r.</p>\n",
                 machine,
                 cut ? "; searches ended by their limit of steps, or of 2 s" : "");
}

/* An example of the endpoint that names the policy. */
static void print_example(struct docs_page *p, const struct policy_family *f,
                          const struct policy *policy)
{
    const struct route *r = route_of(p->rq->service->routes, f->endpoint);
    const char *const *names;
    size_t count;
    const char *wanted = arena_printf(p->rq->arena, "\"%s\"", policy->name);

    if (!r)
        return;
    names = docs_examples_of(r, &count, p->rq->arena);
    for (size_t i = 0; i < count; i++) {
        const char *request =
            docs_example(arena_printf(p->rq->arena, "%s.json", names[i]), p->rq->arena);

        if (!request || !strstr(request, wanted))
            continue;
        html_add(p->b, "<h2 id=\"example\">Example</h2>\n");
        docs_print_example(p, r, names[i]);
        return;
    }
}

static enum error_code print_policy(struct docs_page *p, const struct policy_family *f,
                                    const struct policy *policy)
{
    const char *text = docs_file(
        arena_printf(p->rq->arena, "algorithms/%s.%s.md", f->name, policy->name),
        p->rq->arena);

    p->title = arena_printf(p->rq->arena, "%s %s", f->name, policy->name);
    html_add(p->b, "<p class=\"lead\">%t.</p>\n", policy->purpose);
    if (text)
        markdown_print(text, 2, p->b);
    print_sources(policy, p->b);
    print_options(f, policy, p->b);
    print_costs(f->name, policy->name, p->b);
    print_example(p, f, policy);
    html_add(p->b, "<h2 id=\"neighbours\">Neighbours</h2>\n");
    print_family(f, p->rq->service->routes, p->b);
    return OK;
}

enum error_code docs_algorithm(struct docs_page *p, const char *rest)
{
    size_t length = strcspn(rest, "/");

    if (!*rest) {
        p->title = "Algorithms";
        html_add(p->b, "<p>Every policy of every family. What a request does not name, "
                       "<code>auto</code> or the endpoint's default decides.</p>\n");
        for (const struct policy_family *f = policy_families; f->name; f++)
            print_family(f, p->rq->service->routes, p->b);
        return OK;
    }
    for (const struct policy_family *f = policy_families; f->name; f++)
        for (const struct policy *policy = f->policies; policy->name; policy++)
            if (strlen(f->name) == length && strncmp(f->name, rest, length) == 0 &&
                rest[length] && strcmp(policy->name, rest + length + 1) == 0)
                return print_policy(p, f, policy);
    return ERR_NOT_FOUND;
}

void docs_list_algorithms(struct docs_index *ix)
{
    docs_index_add(ix, (struct docs_entry){"/docs/algorithms/", "Algorithms", NULL, NULL,
                                           NULL, NULL});
    for (const struct policy_family *f = policy_families; f->name; f++)
        for (const struct policy *p = f->policies; p->name; p++) {
            struct text_buffer names = {.arena = ix->arena};

            text_addf(&names, "%s %s ", p->name, p->abbreviation ? p->abbreviation : "");
            for (size_t i = 0; i < policy_option_count(p); i++)
                text_addf(&names, "%s ", policy_option(p, i)->name);
            docs_index_add(
                ix,
                (struct docs_entry){
                    arena_printf(ix->arena, "/docs/algorithms/%s/%s", f->name, p->name),
                    arena_printf(ix->arena, "%s %s: %s", f->name, p->name, p->purpose),
                    text_end(&names), p->idea,
                    arena_printf(ix->arena, "algorithms/%s.%s.md", f->name, p->name),
                    NULL});
        }
}
