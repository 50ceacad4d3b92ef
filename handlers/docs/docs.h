/* docs.h - the manual: pages printed from the tables of the API, at first request. */
#ifndef GRIDPLAN_DOCS_H
#define GRIDPLAN_DOCS_H

#include "handlers/docs/html.h"
#include "models/base/policy.h"
#include "service/page_cache.h"
#include "service/route.h"

/* A page that is being printed. */
struct docs_page {
    struct request *rq;
    struct text_buffer *b; /* what stands between head and foot */
    const char *title;     /* for its printer to set */
    const char *origin;    /* where the service is seen: "https://plan.example.org" */
    const char *raw_type;  /* set: `b` is the whole answer, of this type */
};

/* The query of any page; only the search has one. */
struct docs_query {
    const char *q; /* NULL: none */
};

/* Prints the page of what stands behind the prefix. ERR_NOT_FOUND: there is none. */
typedef enum error_code docs_fn(struct docs_page *p, const char *rest);

/* ---- guide.c: texts for people ---- */
docs_fn docs_landing, docs_which, docs_glossary, docs_start, docs_room, docs_examples;
docs_fn docs_engines, docs_running, docs_monitoring, docs_questions;
/* ---- api.c ---- */
docs_fn docs_operation;
/* ---- algorithms.c ---- */
docs_fn docs_algorithm;
/* ---- reference.c ---- */
docs_fn docs_errors, docs_changes, docs_settings, docs_metrics, docs_cli, docs_licences;
/* ---- search.c ---- */
docs_fn docs_search;

/* ---- what the pages share ---- */

/* A page, for the search and for those who want all. */
struct docs_entry {
    const char *path; /* "/docs/api/decidePlacements" */
    const char *title;
    const char *names;  /* members and policies, with blanks between; NULL: none */
    const char *text;   /* what it says besides; NULL: nothing */
    const char *source; /* a file below openapi/docs/ that it prints; NULL: none */
    const char *anchor; /* a part of the page, which has an entry of its own; NULL: all */
};

struct docs_index {
    struct arena *arena;
    const struct route *routes;
    bool pages_only; /* of whole pages path and title: what they say takes most of the
                        time */
    struct docs_entry *items;
    size_t count, size;
};

/* All pages and those of their parts that the search finds, sorted by path. */
struct docs_index docs_index(const struct route *routes, struct arena *a);
/* The pages only, with path and title. */
struct docs_index docs_pages_index(const struct route *routes, struct arena *a);
void docs_index_add(struct docs_index *ix, struct docs_entry entry);
/* ... of each file */
typedef void docs_list_fn(struct docs_index *ix);
docs_list_fn docs_list_guide, docs_list_api, docs_list_algorithms, docs_list_reference;

/* The text of a file below openapi/docs/ or openapi/; NULL: there is none. */
const char *docs_file(const char *path, struct arena *a);

/* `text` as html_anchor() prints it. */
const char *docs_anchor(const char *text, size_t length, struct arena *a);

/* The text of an example's file, "placement-mct.answer.json"; NULL: there is none. */
const char *docs_example(const char *path, struct arena *a);

/* The names of a route's examples that are answered with 200 or 201, shortest first. */
const char *const *docs_examples_of(const struct route *r, size_t *count,
                                    struct arena *a);

/* Whether request and answer of an example are short enough for a page. */
bool docs_is_shown_whole(const char *name, struct arena *a);

/* The file of an example's answer: "placement-mct.answer.json". */
const char *docs_answer_file(const char *name, struct arena *a);

/* The answer of an example as SVG; NULL: nothing in it can be drawn. */
const char *docs_chart(struct docs_page *p, const char *name);

/* An example as its page shows it: request, the curl line, answer, picture. */
void docs_print_example(struct docs_page *p, const struct route *r, const char *name);

/* All of them by name: what each is about, and links to its request and its answer. */
void docs_list_examples(struct docs_page *p, const char *const *names, size_t count);

/* JSON with line breaks and blanks, cut behind `max_lines`. */
void docs_print_json(struct text_buffer *b, const char *json, size_t max_lines);

/* The policies of a path that decides, as a list of links; false: it has none. */
bool docs_print_policies(struct text_buffer *b, const char *endpoint);

/* The paths of all pages and of the files that they show. */
const char *const *docs_paths(const struct route *routes, size_t *count, struct arena *a);

/* ---- site.c: how pages and their parts are sent ---- */

struct config;

/* Answers with the page, or 304 when the client has it: packed or not as it likes. What
 * has status 404 has no 304. */
enum error_code site_send(struct request *rq, const struct cached_page *page,
                          const char *cache_control, const char *vary);

/* The path of a file of the dashboard, whose name has a hash: ("/ui/docs", ".css"). "":
 * there is none. */
const char *site_path(const char *stem, const char *ending);

#endif
