/* docs.c - GET /docs/: which page it is, its head and foot, and what is kept of it.
 *
 * A page is printed from the tables of the API when it is first asked for, compressed
 * and kept. Pages need no script.
 */
#include "handlers/docs/docs.h"

#include "handlers/docs/routes.h"
#include "models/base/names.h"
#include "service/asset.h"
#include "service/config.h"
#include "service/gzip.h"
#include "service/hash.h"
#include "service/openapi.h"
#include "service/service.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAREST = 3, HOST_MAX = 255, QUERY_MAX_BYTES = 200 };
enum {
    WORD_MIN = 3,
    WORD_MAX = 40,
    WORD_WORTH = 8 /* letters, of a path that is near */
};

#define T struct docs_query
static const struct json_field query_rows[] = {
    {.name = "q",
     .doc = "Words to look for, of the search page",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, q, const char *),
     .max = QUERY_MAX_BYTES},
    {0},
};
#undef T
const struct json_object docs_query_json = {"DocsQuery", "What to look for",
                                            sizeof(struct docs_query), query_rows};

/* By what a path below /docs/ begins with; one that ends in a slash or is empty may have
 * more behind it. `kept`: it is the same each time. */
static const struct section {
    const char *prefix;
    docs_fn *print;
    bool takes_more, kept;
} sections[] = {
    {"algorithms/", docs_algorithm, true, true},
    {"api/", docs_operation, true, true},
    {"changes", docs_changes, false, true},
    {"cli", docs_cli, false, true},
    {"engines", docs_engines, false, true},
    {"errors/", docs_errors, true, true},
    {"examples/", docs_examples, true, true},
    {"glossary", docs_glossary, false, true},
    {"licences", docs_licences, false, true},
    {"metrics", docs_metrics, false, true},
    {"monitoring/", docs_monitoring, true, true},
    {"operation", docs_running, false, true},
    {"questions", docs_questions, false, true},
    {"rooms/", docs_room, true, true},
    {"search", docs_search, false, false},
    {"settings", docs_settings, false, true},
    {"start", docs_start, false, true},
    {"which", docs_which, false, true},
    {"", docs_landing, false, true},
};

static const struct section *find_section(const char *path, const char **rest)
{
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        const struct section *s = &sections[i];
        size_t length = strlen(s->prefix);

        *rest = path + length;
        if (strncmp(path, s->prefix, length) == 0 && (s->takes_more || !**rest))
            return s;
    }
    return NULL;
}

/* ---- index ---- */

void docs_index_add(struct docs_index *ix, struct docs_entry entry)
{
    if (ix->count == ix->size) {
        size_t size = ix->size ? 2 * ix->size : 512;
        struct docs_entry *items = NEW(ix->arena, struct docs_entry, size);

        if (ix->count)
            memcpy(items, ix->items, ix->count * sizeof(*items));
        ix->items = items;
        ix->size = size;
    }
    ix->items[ix->count++] = entry;
}

static int compare_entries(const void *a, const void *b)
{
    const struct docs_entry *x = a, *y = b;

    int order = strcmp(x->path, y->path);

    return order ? order : (x->anchor != NULL) - (y->anchor != NULL);
}

const char *docs_anchor(const char *text, size_t length, struct arena *a)
{
    struct text_buffer b = {.arena = a};

    html_anchor(&b, text, length);
    return text_end(&b);
}

static void list_all(struct docs_index *ix)
{
    docs_list_guide(ix);
    docs_list_api(ix);
    docs_list_algorithms(ix);
    docs_list_reference(ix);
    qsort(ix->items, ix->count, sizeof(*ix->items), compare_entries);
}

struct docs_index docs_index(const struct route *routes, struct arena *a)
{
    struct docs_index ix = {.arena = a, .routes = routes};

    list_all(&ix);
    return ix;
}

struct docs_index docs_pages_index(const struct route *routes, struct arena *a)
{
    struct docs_index ix = {.arena = a, .routes = routes, .pages_only = true};

    list_all(&ix);
    return ix;
}

/* ---- a page that is not there ---- */

/* How many words of the last part of `wanted`, as "order" and "Queue" of orderQueue, the
 * path has not. */
static size_t words_lacking(const char *path, const char *wanted)
{
    const char *p = strrchr(wanted, '/') + 1;
    size_t lacking = 0;

    while (*p) {
        char word[WORD_MAX] = "";
        size_t n = 0;

        do {
            if (isalnum((unsigned char)*p) && n + 1 < sizeof(word))
                word[n++] = *p;
            p++;
        } while (isalnum((unsigned char)*p) && !isupper((unsigned char)*p));
        lacking += n >= WORD_MIN && !strcasestr(path, word);
    }
    return lacking;
}

static void print_nearest(struct docs_page *p, const char *path)
{
    struct docs_index ix = docs_pages_index(p->rq->service->routes, p->rq->arena);
    size_t *distance = NEW(p->rq->arena, size_t, ix.count);
    const char *wanted = arena_printf(p->rq->arena, "/docs/%.200s", path);

    for (size_t i = 0; i < ix.count; i++)
        distance[i] = ix.items[i].anchor
                          ? SIZE_MAX
                          : names_distance(ix.items[i].path, wanted) +
                                WORD_WORTH * words_lacking(ix.items[i].path, wanted);

    p->title = "There is no such page";
    html_add(p->b, "<p>There is no page <code>%t</code>. Did you mean:</p>\n<ul>\n",
             wanted);
    for (size_t k = 0; k < NEAREST && k < ix.count; k++) {
        size_t best = SIZE_MAX, least = SIZE_MAX;

        for (size_t i = 0; i < ix.count; i++)
            if (distance[i] < least) {
                least = distance[i];
                best = i;
            }
        if (best == SIZE_MAX)
            break;
        distance[best] = SIZE_MAX;
        html_add(p->b, "<li><a href=\"%u\">%t</a></li>\n", ix.items[best].path,
                 ix.items[best].title);
    }
    html_add(p->b, "</ul>\n<p>Or <a href=\"/docs/search\">search</a>.</p>\n");
}

/* ---- head and foot ---- */

static const char *const links[][2] = {
    {"/docs/start", "Tour"},          {"/docs/which", "Which endpoint?"},
    {"/docs/rooms/", "Endpoints"},    {"/docs/algorithms/", "Algorithms"},
    {"/docs/questions", "How do I?"}, {"/docs/glossary", "Words"},
    {"/docs/errors/", "Errors"},      {"/docs/examples/", "Examples"},
    {"/docs/search", "Search"},
};

static const char *frame(const struct docs_page *p, struct text_buffer *b)
{
    html_add(b,
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<title>%t - gridplan</title>\n<link rel=\"icon\" href=\"/favicon.svg\">\n"
             "<link rel=\"stylesheet\" href=\"%u\">\n</head>\n<body>\n"
             "<a class=\"skip\" href=\"#main\">To the text</a>\n"
             "<header><nav aria-label=\"Manual\"><a class=\"home\" "
             "href=\"/docs/\">gridplan</a>\n",
             p->title, site_path("/ui/docs", ".css"));
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        html_add(b, "<a href=\"%u\">%t</a>\n", links[i][0], links[i][1]);
    if (p->rq->service->config->ui)
        html_add(b, "<a href=\"/\">Dashboard</a>\n");
    html_add(b, "</nav></header>\n<main id=\"main\">\n<h1>%t</h1>\n", p->title);
    text_add(b, p->b->data, p->b->length);
    html_add(
        b,
        "</main>\n<footer>gridplan %t, revision %z of the API. "
        "<a href=\"/openapi.json\">Description</a> "
        "<a href=\"/docs/engines\">Engines</a> <a href=\"/docs/operation\">Operation</a> "
        "<a href=\"/docs/settings\">Settings</a> <a href=\"/docs/metrics\">Metrics</a> "
        "<a href=\"/docs/cli\">Commands</a> <a href=\"/docs/changes\">Changes</a> "
        "<a href=\"/docs/licences\">Licences</a></footer>\n</body>\n</html>\n",
        GRIDPLAN_VERSION, (size_t)API_REVISION);
    return text_end(b);
}

/* ---- one page ---- */

/* Where the client sees the service: as the setting says, else by its Host header if that
 * has no other characters than hosts have. */
static const char *origin_of(const struct request *rq)
{
    const struct config *config = rq->service->config;
    const char *host = rq->message->host;

    if (config->public_url && config->public_url[0])
        return config->public_url;
    if (!host || !*host || strlen(host) > HOST_MAX ||
        host[strspn(host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                          ".:[]-")])
        host = arena_printf(rq->arena, "127.0.0.1:%zu", config->port);
    return arena_printf(rq->arena, "http://%s", host);
}

static void pack(struct docs_page *p, const char *text, size_t length,
                 struct cached_page *page)
{
    char hex[SHA256_HEX_SIZE];

    *page = (struct cached_page){.content_type = p->raw_type ? p->raw_type
                                                             : "text/html; charset=utf-8",
                                 .length = length};
    hash_sha256_hex(text, length, hex);
    memcpy(page->etag, hex, 16);
    if (!gzip_deflate_best(text, length, &page->gz, &page->gz_length, p->rq->arena))
        page->gz = NULL;
}

/* Prints it; *found: whether there is such a page. */
static enum error_code print_page(struct docs_page *p, const struct section *section,
                                  const char *path, const char *rest, bool *found)
{
    enum error_code code = section ? section->print(p, rest) : ERR_NOT_FOUND;

    *found = code == OK;
    if (code != OK && code != ERR_NOT_FOUND)
        return code;
    if (code == OK)
        return OK;
    *p->rq->err = (struct error){.arena = p->rq->err->arena};
    *p->b = (struct text_buffer){.arena = p->rq->arena};
    p->raw_type = NULL;
    print_nearest(p, path);
    return OK;
}

enum error_code get_docs(struct request *rq, const void *in, void *out)
{
    const char *path = rq->path_value[0], *rest, *key;
    const struct section *section = find_section(path, &rest);
    struct text_buffer body = {.arena = rq->arena}, whole = {.arena = rq->arena};
    struct docs_page p = {rq, &body, "gridplan", origin_of(rq), NULL};
    struct page_cache *cache = section && section->kept ? rq->service->pages : NULL;
    struct cached_page page;
    const char *text;
    bool found;

    (void)in, (void)out;
    if (!rq->service->config->docs) {
        rq->err->in = rq->err->name = "path";
        rq->err->hint = "see the setting docs";
        return fail(rq->err, ERR_NOT_FOUND, "", "the manual is not served here");
    }
    key = arena_printf(rq->arena, "%s\n%s", path, p.origin);
    if (page_cache_take(cache, key, &page, rq->arena))
        return site_send(rq, &page, "no-cache", "Accept-Encoding");
    TRY(print_page(&p, section, path, rest, &found));
    text = p.raw_type ? text_end(&body) : frame(&p, &whole);
    pack(&p, text ? text : "", p.raw_type ? body.length : whole.length, &page);
    if (!found)
        rq->reply->status = 404;
    if (!page.gz) { /* it does not get smaller */
        rq->reply->content_type = page.content_type;
        rq->reply->body = text ? text : "";
        rq->reply->body_length = page.length;
        return OK;
    }
    if (found)
        page_cache_keep(cache, key, &page);
    return site_send(rq, &page, "no-cache", "Accept-Encoding");
}

enum error_code get_docs_folder(struct request *rq, const void *in, void *out)
{
    (void)in, (void)out;
    reply_header_add(rq->reply, "Location", "/docs/");
    rq->reply->status = 308;
    return OK;
}

const char *const *docs_paths(const struct route *routes, size_t *count, struct arena *a)
{
    struct docs_index ix = docs_pages_index(routes, a);
    const char **paths = NEW(a, const char *, ix.count + 2 * example_file_count + 8);
    size_t n = 0;

    for (size_t i = 0; i < ix.count; i++)
        if (!ix.items[i].anchor)
            paths[n++] = ix.items[i].path;
    for (const struct asset *f = example_files; f->path; f++) {
        const char *end = strstr(f->path, ".answer.json");

        paths[n++] = arena_printf(a, "/docs/examples/%s", f->path);
        if (end)
            paths[n++] =
                arena_printf(a, "/docs/examples/%.*s.svg", (int)(end - f->path), f->path);
    }
    paths[n++] = "/docs/monitoring/alerts.yml";
    paths[n++] = "/docs/monitoring/grafana.json";
    paths[n++] = site_path("/ui/docs", ".css");
    paths[n++] = "/favicon.svg";
    *count = n;
    return paths;
}
