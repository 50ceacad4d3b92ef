/* guide.c - pages for people: where to begin, words, rooms, examples. */
#include "handlers/docs/docs.h"

#include "handlers/common/tags.h"
#include "handlers/docs/markdown.h"
#include "service/asset.h"
#include "service/config.h"
#include "service/openapi.h"
#include "service/service.h"

#include <string.h>

/* ---- texts that stand in files ---- */

static enum error_code print_file(struct docs_page *p, const char *title,
                                  const char *file)
{
    p->title = title;
    markdown_print(docs_file(file, p->rq->arena), 2, p->b);
    return OK;
}

enum error_code docs_which(struct docs_page *p, const char *rest)
{
    (void)rest;
    return print_file(p, "Which endpoint do I need?", "which.md");
}

/* The text with the address that the README uses as where the service is seen, and files
 * that it posts read from here: the reader has no source. */
static const char *with_origin(struct docs_page *p, const char *text)
{
    static const char *const addresses[] = {"http://127.0.0.1:8080",
                                            "http://gridplan:8080", "https://gridplan"};
    static const char file[] = "@openapi/examples/";
    struct text_buffer b = {.arena = p->rq->arena};

    while (*text) {
        size_t length = 0;

        for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]) && !length; i++)
            if (strncmp(text, addresses[i], strlen(addresses[i])) == 0)
                length = strlen(addresses[i]);
        if (length) {
            text_addf(&b, "%s", p->origin);
            text += length;
        } else if (strncmp(text, file, strlen(file)) == 0) {
            text += strlen(file);
            length = strcspn(text, " \n");
            text_addf(&b, "\"$(curl -s %s/docs/examples/%.*s)\"", p->origin, (int)length,
                      text);
            text += length;
        } else {
            text_add(&b, text++, 1);
        }
    }
    return text_end(&b);
}

/* Pages that are parts of the README: what stands from a heading to the next one of that
 * depth. */
static const struct part {
    const char *path, *title, *heading;
} parts[] = {
    {"/docs/engines", "Connect your engine", "\n## Connect your engine\n"},
    {"/docs/operation", "Running it for real", "\n## Running it for real\n"},
    {"/docs/start", "A tour of ten minutes", "\n## A tour of ten minutes\n"},
};
enum { ENGINES, OPERATION, TOUR, PARTS };

/* NULL: the README has no such heading. */
static const char *text_of_part(const struct part *part, struct arena *a)
{
    const char *begin = strstr(docs_file("README.md", a), part->heading), *end;

    if (!begin)
        return NULL;
    begin += strlen(part->heading);
    end = strstr(begin, "\n## ");
    return arena_text(a, begin, end ? (size_t)(end - begin) : strlen(begin));
}

static enum error_code print_part(struct docs_page *p, size_t part)
{
    const char *text = text_of_part(&parts[part], p->rq->arena);

    p->title = parts[part].title;
    if (!text)
        return ERR_NOT_FOUND;
    markdown_print(with_origin(p, text), 2, p->b);
    return OK;
}

enum error_code docs_engines(struct docs_page *p, const char *rest)
{
    (void)rest;
    return print_part(p, ENGINES);
}

enum error_code docs_running(struct docs_page *p, const char *rest)
{
    (void)rest;
    html_add(p->b,
             "<p>Names that begin with <code>docker/</code> are files of the source. "
             "Rules for alerts and a board are served, too: <a "
             "href=\"/docs/monitoring/alerts.yml\">alerts.yml</a>, <a "
             "href=\"/docs/monitoring/grafana.json\">grafana.json</a>.</p>\n");
    return print_part(p, OPERATION);
}

/* Files for Prometheus and Grafana, as they are. */
enum error_code docs_monitoring(struct docs_page *p, const char *rest)
{
    const char *path = arena_printf(p->rq->arena, "docker/monitoring/%s", rest);
    const struct asset *file = asset_find(doc_files, path);
    const char *text;

    if (!file)
        return ERR_NOT_FOUND;
    p->raw_type = file->content_type;
    text = docs_file(path, p->rq->arena);
    text_add(p->b, text, strlen(text));
    return OK;
}

enum error_code docs_start(struct docs_page *p, const char *rest)
{
    (void)rest;
    html_add(
        p->b,
        "<p>The commands ask the service that you read this from. They need curl and "
        "jq, and what they post is <a href=\"/docs/examples/\">here</a>.</p>\n");
    return print_part(p, TOUR);
}

/* ---- words ---- */

/* The pages of operations that have a member of this name: the first few. */
static void print_places(struct docs_page *p, const struct docs_index *ix,
                         const char *word)
{
    enum { PLACES_MAX = 6 };
    size_t count = 0, length = strlen(word);

    for (size_t i = 0; i < ix->count && count < PLACES_MAX; i++) {
        const char *at = ix->items[i].names;

        while (at && (at = strstr(at, word))) {
            if ((at == ix->items[i].names || at[-1] == ' ') && at[length] == ' ')
                break;
            at += length;
        }
        if (at)
            html_add(p->b, "%t<a href=\"%u\">%t</a>",
                     count++ ? ", " : ". In: ", ix->items[i].path,
                     strrchr(ix->items[i].path, '/') + 1);
    }
}

/* Lines "word: meaning"; a `word` in backquotes is a member, which gets its places. */
enum error_code docs_glossary(struct docs_page *p, const char *rest)
{
    struct docs_index ix = docs_index(p->rq->service->routes, p->rq->arena);
    const char *text = docs_file("glossary.md", p->rq->arena);

    (void)rest;
    p->title = "Words";
    html_add(p->b, "<dl>\n");
    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *colon = memmem(text, length, ": ", 2);

        if (colon && *text != '#') {
            size_t word = (size_t)(colon - text);

            html_add(p->b, "<dt id=\"");
            html_anchor(p->b, text, word);
            html_add(p->b, "\">");
            markdown_print_line(text, word, p->b);
            html_add(p->b, "</dt>\n<dd>");
            markdown_print_line(colon + 2, length - word - 2, p->b);
            if (*text == '`' && text[word - 1] == '`')
                print_places(p, &ix, arena_text(p->rq->arena, text + 1, word - 2));
            html_add(p->b, "</dd>\n");
        }
        text += length + (text[length] == '\n');
    }
    html_add(p->b, "</dl>\n");
    return OK;
}

/* Each word is found by itself: the search knows it as a part of the page. */
static void list_words(struct docs_index *ix)
{
    const char *text = docs_file("glossary.md", ix->arena);

    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *colon = memmem(text, length, ": ", 2);

        if (colon && *text != '#') {
            size_t word = (size_t)(colon - text);
            size_t marks = *text == '`' && text[word - 1] == '`';

            docs_index_add(ix,
                           (struct docs_entry){
                               "/docs/glossary",
                               arena_text(ix->arena, text + marks, word - 2 * marks),
                               NULL, arena_text(ix->arena, colon + 2, length - word - 2),
                               NULL, docs_anchor(text, word, ix->arena)});
        }
        text += length + (text[length] == '\n');
    }
}

/* ---- questions ---- */

enum error_code docs_questions(struct docs_page *p, const char *rest)
{
    const char *text = with_origin(p, docs_file("questions.md", p->rq->arena));
    const char *line = text;

    (void)rest;
    p->title = "How do I?";
    html_add(p->b, "<p>Questions that newcomers ask, each with its answer and the pages "
                   "that say more. The requests can be sent as they are.</p>\n<ul>\n");
    for (; line; line = strstr(line, "\n# ")) {
        const char *title = line + strspn(line, "\n# ");
        size_t length = strcspn(title, "\n");

        html_add(p->b, "<li><a href=\"#");
        html_anchor(p->b, title, length);
        html_add(p->b, "\">");
        html_text(p->b, title, length);
        html_add(p->b, "</a></li>\n");
        line = title;
    }
    html_add(p->b, "</ul>\n");
    markdown_print(text, 2, p->b);
    return OK;
}

/* A heading and what stands below it, up to the next one. */
static void list_questions(struct docs_index *ix)
{
    const char *text = docs_file("questions.md", ix->arena);

    while (text && *text) {
        const char *title = text + strspn(text, "\n# "), *body, *end;
        size_t length = strcspn(title, "\n");

        body = title + length;
        end = strstr(body, "\n# ");
        docs_index_add(
            ix,
            (struct docs_entry){
                "/docs/questions", arena_text(ix->arena, title, length), NULL,
                arena_text(ix->arena, body, end ? (size_t)(end - body) : strlen(body)),
                NULL, docs_anchor(title, length, ix->arena)});
        text = end;
    }
}

/* ---- rooms ---- */

static void print_operations(const struct route_tag *tag, const struct route *all,
                             struct text_buffer *b)
{
    html_add(b, "<ul>\n");
    for (const struct route *r = all; r->method; r++)
        if (r->tag == tag && !(r->flags & ROUTE_ASSET))
            html_add(b, "<li><a href=\"/docs/api/%u\"><code>%t %t</code></a> %t</li>\n",
                     r->operation, r->method, r->path, r->summary);
    html_add(b, "</ul>\n");
}

/* Of the examples of a room the first that can be drawn. */
static void print_picture(struct docs_page *p, const struct route_tag *tag)
{
    for (const struct route *r = p->rq->service->routes; r->method; r++) {
        const char *const *names;
        size_t count;

        if (r->tag != tag || !(r->flags & ROUTE_ANSWERS_CHART))
            continue;
        names = docs_examples_of(r, &count, p->rq->arena);
        for (size_t i = count; i-- > 0;)
            if (docs_chart(p, names[i])) {
                html_add(p->b,
                         "<p><img alt=\"An answer as a picture: %t\" "
                         "src=\"/docs/examples/%u.svg\"></p>\n",
                         names[i], names[i]);
                return;
            }
    }
}

enum error_code docs_room(struct docs_page *p, const char *rest)
{
    const struct route *all = p->rq->service->routes;
    bool found = !*rest;

    p->title = *rest ? rest : "Endpoints";
    for (size_t i = 0; i < API_TAGS; i++) {
        const struct route_tag *tag = &api_tags[i];

        if (*rest && strcmp(rest, tag->name) != 0)
            continue;
        found = true;
        if (!*rest)
            html_add(p->b, "<h2><a href=\"/docs/rooms/%u\">%t</a></h2>\n", tag->name,
                     tag->name);
        html_add(p->b, "<p>%t</p>\n", tag->doc);
        if (*rest)
            print_picture(p, tag);
        print_operations(tag, all, p->b);
    }
    return found ? OK : ERR_NOT_FOUND;
}

/* ---- examples ---- */

static void list_examples(struct docs_page *p)
{
    p->title = "Examples";
    html_add(p->b,
             "<p>Requests with the answers to them; tests send them all.</p>\n<ul>\n");
    for (const struct asset *f = example_files; f->path; f++)
        if (!strstr(f->path, ".http") && !strstr(f->path, ".status"))
            html_add(p->b, "<li><a href=\"/docs/examples/%u\">%t</a> %z bytes</li>\n",
                     f->path, f->path, f->length);
    html_add(p->b, "</ul>\n");
}

enum error_code docs_examples(struct docs_page *p, const char *rest)
{
    const struct asset *file = asset_find(example_files, rest);
    size_t length = strlen(rest);
    const char *text = NULL;

    if (!*rest) {
        list_examples(p);
        return OK;
    }
    if (file) {
        p->raw_type = file->content_type;
        text = docs_example(rest, p->rq->arena);
    } else if (length > 4 && strcmp(rest + length - 4, ".svg") == 0) {
        p->raw_type = "image/svg+xml";
        text = docs_chart(p, arena_text(p->rq->arena, rest, length - 4));
    }
    if (!text)
        return ERR_NOT_FOUND;
    text_add(p->b, text, strlen(text));
    return OK;
}

/* ---- where to begin ---- */

static void print_state(struct docs_page *p)
{
    const struct config *config = p->rq->service->config;

    html_add(
        p->b,
        "<h2 id=\"here\">This service</h2>\n<div class=\"wide\"><table><tbody>\n"
        "<tr><th scope=\"row\">Version</th><td>%t, revision %z of the API</td></tr>\n"
        "<tr><th scope=\"row\">Time limit</th><td>%g s with a client, %g s "
        "without</td></tr>\n<tr><th scope=\"row\">Largest body</th><td>%z "
        "bytes</td></tr>\n<tr><th scope=\"row\">Key</th><td>%t</td></tr>\n"
        "<tr><th scope=\"row\">Database</th><td>%t</td></tr>\n</tbody></table></div>\n",
        GRIDPLAN_VERSION, (size_t)API_REVISION, config->time_limit_max_s,
        config->simulation_time_limit_s, config->max_body_bytes,
        config->auth_required ? "needed: Authorization: Bearer KEY" : "not needed",
        p->rq->service->db ? "there is one" : "none: nothing is stored");
}

enum error_code docs_landing(struct docs_page *p, const char *rest)
{
    static const char *const tries[][2] = {{"decidePlacements", "placement-mct"},
                                           {"decideQueueOrders", "queue-easy"},
                                           {"decideWorkflowSchedules", "workflow-heft"}};
    const struct route *all = p->rq->service->routes;

    (void)rest;
    p->title = "Scheduling decisions over HTTP";
    markdown_print(with_origin(p, docs_file("landing.md", p->rq->arena)), 2, p->b);
    html_add(p->b, "<h2 id=\"try\">Three things to try</h2>\n");
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
        for (const struct route *r = all; r->method; r++)
            if (strcmp(r->operation, tries[i][0]) == 0)
                docs_print_example(p, r, tries[i][1]);
    print_state(p);
    return OK;
}

void docs_list_guide(struct docs_index *ix)
{
    static const struct docs_entry pages[] = {
        {"/docs/", "Scheduling decisions over HTTP", NULL, NULL, "landing.md", NULL},
        {"/docs/examples/", "Examples", NULL, NULL, NULL, NULL},
        {"/docs/glossary", "Words", NULL, NULL, NULL, NULL},
        {"/docs/questions", "How do I?", NULL, NULL, NULL, NULL},
        {"/docs/rooms/", "Endpoints", NULL, NULL, NULL, NULL},
        {"/docs/search", "Search", NULL, NULL, NULL, NULL},
        {"/docs/which", "Which endpoint do I need?", NULL, NULL, "which.md", NULL},
    };

    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        docs_index_add(ix, pages[i]);
    for (size_t i = 0; i < PARTS; i++)
        docs_index_add(ix, (struct docs_entry){
                               parts[i].path, parts[i].title, NULL,
                               ix->pages_only ? NULL : text_of_part(&parts[i], ix->arena),
                               NULL, NULL});
    if (!ix->pages_only) {
        list_words(ix);
        list_questions(ix);
    }
    for (size_t i = 0; i < API_TAGS; i++)
        docs_index_add(ix,
                       (struct docs_entry){
                           arena_printf(ix->arena, "/docs/rooms/%s", api_tags[i].name),
                           api_tags[i].name, NULL, api_tags[i].doc, NULL, NULL});
}
