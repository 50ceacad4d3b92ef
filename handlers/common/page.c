/* page.c - lists in pages and ranges of time: what their queries share. */
#include "handlers/common/page.h"

#include <stdlib.h>
#include <string.h>

const char *const page_orders[] = {"asc", "desc", NULL};

struct store_page page_of(const struct page_query *query)
{
    return (struct store_page){query->page_token, (size_t)query->page_size};
}

enum error_code page_cut(struct request *rq, const struct page_query *query, size_t count,
                         size_t *first, size_t *page_count, const char **next_page_token)
{
    const char *token = query->page_token;
    size_t digits = token ? strspn(token, "0123456789") : 0;

    *first = 0;
    *next_page_token = NULL;
    if (token && (token[digits] || digits > 9))
        return invalid(rq->err, "?/page_token", ITEM_MALFORMED,
                       "this is no page token of this list");
    if (token)
        *first = (size_t)strtoull(token, NULL, 10);
    if (*first > count)
        *first = count;
    *page_count = count - *first;
    if (*page_count <= query->page_size)
        return OK;
    *page_count = (size_t)query->page_size;
    *next_page_token = arena_printf(rq->arena, "%zu", *first + *page_count);
    return page_link(rq, *next_page_token);
}

enum error_code range_check(const struct range_query *range, struct error *err)
{
    if (range->from_at_s > range->to_at_s)
        return invalid(err, "?/from", ITEM_OUT_OF_BOUNDS, "from is later than to");
    return OK;
}

static void add_parameter(const char *name, const char *value, bool first,
                          struct text_buffer *b)
{
    text_add(b, first ? "?" : "&", 1);
    text_add_encoded(b, name, false);
    text_add(b, "=", 1);
    text_add_encoded(b, value, false);
}

enum error_code page_link(struct request *rq, const char *next_page_token)
{
    const struct message *m = rq->message;
    struct text_buffer b = {.arena = rq->arena};
    bool first = true;

    if (!next_page_token)
        return OK;
    text_add(&b, "<", 1);
    text_add_encoded(&b, m->path, true);
    for (size_t i = 0; i < m->query_count; i++) {
        if (strcmp(m->query[i].name, "page_token") == 0)
            continue;
        add_parameter(m->query[i].name, m->query[i].value, first, &b);
        first = false;
    }
    add_parameter("page_token", next_page_token, first, &b);
    text_addf(&b, ">; rel=\"next\"");
    reply_header_add(rq->reply, "Link", text_end(&b));
    return OK;
}
