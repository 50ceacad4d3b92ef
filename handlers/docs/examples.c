/* examples.c - the examples of the API in the manual, and the files that it prints. */
#include "handlers/docs/docs.h"
#include "handlers/pictures/gantt.h"
#include "service/json_layout.h"

#include "service/asset.h"
#include "service/openapi.h"
#include "service/service.h"

#include <stdlib.h>
#include <string.h>

enum { SHOWN_LINES = 120, SHOWN_BYTES = 12000 };

static const char *text_of(const struct asset *list, const char *path, struct arena *a)
{
    const struct asset *file = asset_find(list, path);
    struct error err = {.arena = a};
    const char *text = NULL;

    return file && asset_text(file, &text, a, &err) == OK ? text : NULL;
}

const char *docs_file(const char *path, struct arena *a)
{
    const char *text = text_of(doc_files, arena_printf(a, "docs/%s", path), a);

    return text ? text : text_of(doc_files, path, a);
}

const char *docs_example(const char *path, struct arena *a)
{
    return text_of(example_files, path, a);
}

const char *docs_answer_file(const char *name, struct arena *a)
{
    const char *json = arena_printf(a, "%s.answer.json", name);

    return asset_find(example_files, json) ? json
                                           : arena_printf(a, "%s.answer.txt", name);
}

struct sized {
    const char *name;
    size_t length;
};

static int compare_sizes(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;

    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return strcmp(x->name, y->name);
}

static size_t length_of(const char *path)
{
    const struct asset *file = asset_find(example_files, path);

    return file ? file->length : 0;
}

bool docs_is_shown_whole(const char *name, struct arena *a)
{
    return length_of(arena_printf(a, "%s.json", name)) <= SHOWN_BYTES &&
           length_of(docs_answer_file(name, a)) <= SHOWN_BYTES;
}

const char *const *docs_examples_of(const struct route *r, size_t *count, struct arena *a)
{
    struct sized *list = NEW(a, struct sized, example_file_count);
    const char **names = NEW(a, const char *, example_file_count);

    *count = 0;
    for (const struct asset *f = example_files; f->path; f++) {
        const char *end = strstr(f->path, ".answer.");
        const char *name;

        if (!end || strncmp(f->path, "error-", 6) == 0 || !openapi_is_example(r, f->path))
            continue;
        name = arena_text(a, f->path, (size_t)(end - f->path));
        if (asset_find(example_files, arena_printf(a, "%s.status", name)))
            continue;
        list[(*count)++] =
            (struct sized){name, f->length + length_of(arena_printf(a, "%s.json", name)) +
                                     length_of(arena_printf(a, "%s.txt", name))};
    }
    qsort(list, *count, sizeof(*list), compare_sizes);
    for (size_t i = 0; i < *count; i++)
        names[i] = list[i].name;
    return names;
}

const char *docs_chart(struct docs_page *p, const char *name)
{
    struct request *rq = p->rq;
    const char *answer =
        docs_example(arena_printf(rq->arena, "%s.answer.json", name), rq->arena);
    const char *drawn = NULL, *body = rq->body;

    if (!answer || !rq->service->draw)
        return NULL;
    rq->body = docs_example(arena_printf(rq->arena, "%s.json", name), rq->arena);
    if (rq->service->draw(rq, ANSWER_CHART, answer) == OK)
        drawn = strstr(rq->drawn.text, GANTT_NOTHING) ? NULL : rq->drawn.text;
    else
        *rq->err = (struct error){.arena = rq->err->arena};
    rq->body = body;
    rq->drawn = (struct raw_body){0};
    return drawn;
}

void docs_print_json(struct text_buffer *b, const char *json, size_t max_lines)
{
    struct text_buffer laid = {.arena = b->arena};
    const char *end;

    json_layout(json, &laid);
    json = text_end(&laid);
    end = json;
    for (size_t line = 0; *end && line < max_lines && end - json < SHOWN_BYTES; end++)
        line += *end == '\n';
    html_add(b, "<pre class=\"json\" tabindex=\"0\">");
    html_text(b, json, (size_t)(end - json));
    html_add(b, "%r</pre>\n", *end ? "\n..." : "");
}

/* Method and target of an example: as its file says, else those of the route. */
static void find_target(const struct route *r, const char *name, const char **method,
                        const char **target, struct arena *a)
{
    const char *head = docs_example(arena_printf(a, "%s.http", name), a);
    size_t length = head ? strcspn(head, " \r\n") : 0;

    *method = r->method;
    *target = r->path;
    if (!head || !length || head[length] != ' ')
        return;
    *method = arena_text(a, head, length);
    head += length + 1;
    *target = arena_text(a, head, strcspn(head, " \r\n"));
}

void docs_print_example(struct docs_page *p, const struct route *r, const char *name)
{
    struct arena *a = p->rq->arena;
    const char *method, *target;
    const char *request = docs_example(arena_printf(a, "%s.json", name), a);
    const char *answer = docs_example(arena_printf(a, "%s.answer.json", name), a);
    const char *file = arena_printf(a, "%s.%s", name, request ? "json" : "txt");
    bool has_body = request || asset_find(example_files, file);

    find_target(r, name, &method, &target, a);
    html_add(p->b,
             "<figure>\n<figcaption>Example <a href=\"/docs/examples/%u\">%t</a>"
             "</figcaption>\n<pre class=\"sh\" tabindex=\"0\">",
             has_body ? file : docs_answer_file(name, a), name);
    if (has_body)
        html_add(p->b, "curl -s %t/docs/examples/%t |\n", p->origin, file);
    html_add(p->b, "curl -s%t%t '%t%t'",
             strcmp(method, has_body ? "POST" : "GET") == 0 ? "" : " -X ",
             strcmp(method, has_body ? "POST" : "GET") == 0 ? "" : method, p->origin,
             target);
    if (has_body)
        html_add(p->b, " \\\n  -H 'Content-Type: %t' --data-binary @-",
                 request ? r->flags & ROUTE_MERGE_PATCH ? "application/merge-patch+json"
                                                        : "application/json"
                         : "text/plain");
    html_add(p->b, "</pre>\n");
    if (request) {
        html_add(p->b, "<h3>Request</h3>\n");
        docs_print_json(p->b, request, SHOWN_LINES);
    }
    if (answer) {
        html_add(p->b, "<h3>Answer</h3>\n");
        docs_print_json(p->b, answer, SHOWN_LINES);
    }
    if (r->flags & ROUTE_ANSWERS_CHART && docs_chart(p, name))
        html_add(p->b,
                 "<a href=\"/docs/examples/%u.svg\"><img alt=\"The answer as a "
                 "picture\" src=\"/docs/examples/%u.svg\"></a>\n",
                 name, name);
    html_add(p->b, "</figure>\n");
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A member of a request that is a text, without its quotes; NULL: it is none. */
static const char *text_member(const char *request, const char *name, struct arena *a)
{
    struct error err = {.arena = a};
    const char *value = NULL;
    size_t length;

    if (!request || json_member(request, name, &value, a, &err) != OK || !value ||
        *value != '"')
        return NULL;
    length = strlen(value);
    return length >= 2 ? arena_text(a, value + 1, length - 2) : NULL;
}

/* What a request is about: its kind, its algorithm, its name. */
static void print_about(const char *request, struct docs_page *p)
{
    static const char *const members[] = {"kind", "algorithm", "name"};
    const char *before = ": ";

    for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++) {
        const char *value = text_member(request, members[k], p->rq->arena);

        if (!value)
            continue;
        if (k < 2)
            html_add(p->b, "%r%t <code>%t</code>", before, members[k], value);
        else
            html_add(p->b, "%r%t", before, value);
        before = ", ";
    }
}

void docs_list_examples(struct docs_page *p, const char *const *names, size_t count)
{
    struct arena *a = p->rq->arena;
    const char **sorted = NEW(a, const char *, count);

    memcpy(sorted, names, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), compare_names);
    html_add(p->b, "<h2 id=\"examples\">All examples</h2>\n<ul>\n");
    for (size_t i = 0; i < count; i++) {
        const char *json = arena_printf(a, "%s.json", sorted[i]);
        const char *text = arena_printf(a, "%s.txt", sorted[i]);
        const char *request = docs_example(json, a), *file = request ? json : text;

        html_add(p->b, "<li>");
        if (asset_find(example_files, file))
            html_add(p->b, "<a href=\"/docs/examples/%u\">%t</a>", file, sorted[i]);
        else
            html_add(p->b, "%t", sorted[i]);
        html_add(p->b, ", <a href=\"/docs/examples/%u\">its answer</a>",
                 docs_answer_file(sorted[i], a));
        print_about(request, p);
        html_add(p->b, "</li>\n");
    }
    html_add(p->b, "</ul>\n");
}
