/* page.h - lists in pages and ranges of time: what their queries share.
 *
 * A query struct T gets parameters by having the member and the rows:
 *
 *     struct page_query page;    PAGE_ROWS(T)     page_size, page_token;
 * LARGE_PAGE_ROWS(T): 1000 elements unless they say less struct range_query range;
 * RANGE_ROWS(T)    from, to int order;                 ORDER_ROW(T)     order
 */
#ifndef GRIDPLAN_PAGE_H
#define GRIDPLAN_PAGE_H

#include "service/route.h"
#include "service/store.h"

enum { PAGE_SIZE_MAX = 1000, PAGE_SIZE_PRESET = 100 };

struct page_query {
    const char *page_token; /* NULL: from the start */
    uint64_t page_size;
};

struct range_query {
    double from_at_s; /* instant, included; NAN: from the first */
    double to_at_s;   /* instant, excluded; NAN: to the last */
};

enum page_order { PAGE_OLDEST_FIRST, PAGE_NEWEST_FIRST };
extern const char *const page_orders[]; /* "asc", "desc" */

#define PAGE_ROWS(T)       PAGE_ROWS_OF(T, PAGE_SIZE_PRESET, "100")
#define LARGE_PAGE_ROWS(T) PAGE_ROWS_OF(T, PAGE_SIZE_MAX, "1000")

#define PAGE_ROWS_OF(T, dflt, text)                                                  \
    {.name = "page_size",                                                            \
     .doc = "Elements of a page at most; default " text,                             \
     .type = JSON_TYPE_INTEGER,                                                      \
     .offset = JSON_AT(T, page.page_size, uint64_t),                                 \
     .min = 1,                                                                       \
     .max = PAGE_SIZE_MAX,                                                           \
     .preset = dflt},                                                                \
    {                                                                                \
        .name = "page_token",                                                        \
        .doc = "next_page_token of the page before, with the same other "            \
               "parameters; default: the first page",                                \
        .type = JSON_TYPE_TEXT, .offset = JSON_AT(T, page.page_token, const char *), \
        .min = 1, .max = 4096                                                        \
    }

#define RANGE_ROWS(T)                                                                  \
    {.name = "from",                                                                   \
     .doc = "Not before this instant (RFC 3339 or seconds since 1970); default: from " \
            "the first on",                                                            \
     .type = JSON_TYPE_INSTANT,                                                        \
     .offset = JSON_AT(T, range.from_at_s, double),                                    \
     .preset = NAN},                                                                   \
    {                                                                                  \
        .name = "to", .doc = "Before this instant; default: up to the last",           \
        .type = JSON_TYPE_INSTANT, .offset = JSON_AT(T, range.to_at_s, double),        \
        .preset = NAN                                                                  \
    }

#define ORDER_ROW(T)                                         \
    JSON_CHOICE(T, order, page_orders, PAGE_OLDEST_FIRST, 0, \
                "asc: oldest first; desc: newest first; default asc")

/* The row of an answer struct with the member next_page_token. */
#define NEXT_PAGE_ROW(T)                         \
    JSON_TEXT(T, next_page_token, JSON_OPTIONAL, \
              "page_token of the next page; left out on the last one")

/* What store.h needs to know of a page. ERR_INVALID: the token is of another list, or of
 * other parameters of this one. */
enum error_code page_of(struct request *rq, const struct page_query *query,
                        struct store_page *page);

/* The part of a list of `count` elements that is a page: from `*first` on, `*page_count`
 * of them. The token, NULL on the last page, says where the next begins; page_link() has
 * been called. */
enum error_code page_cut(struct request *rq, const struct page_query *query, size_t count,
                         size_t *first, size_t *page_count, const char **next_page_token);

/* Adds the mistake that a range ends before it begins. */
enum error_code range_check(const struct range_query *range, struct error *err);

/* Writes into the token which list it is of, and with which parameters, and tells of the
 * next page by a header `Link: <...>; rel="next"`; a NULL token: there is none. Once for
 * each answer. */
enum error_code page_link(struct request *rq, const char **next_page_token);

#endif
