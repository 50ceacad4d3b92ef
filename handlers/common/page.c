/* page.c - lists in pages and ranges of time: what their queries share. */
#include "handlers/common/page.h"

#include "service/hash.h"

#include <stdlib.h>
#include <string.h>

const char *const page_orders[] = {"asc", "desc", NULL};

/* ---- which list a token belongs to ---- */

/* A sealed token is SEAL.TOKEN: TOKEN as the list itself makes it, in the letters of
 * base64url, and the SEAL of the list and its filters. */
enum { SEAL_BYTES = 6, SEAL_LETTERS = 2 * SEAL_BYTES * 4 / 3 };

static int by_name_and_value(const void *a, const void *b)
{
    const struct query_pair *x = a, *y = b;
    int by_name = strcmp(x->name, y->name);

    return by_name ? by_name : strcmp(x->value, y->value);
}

/* Says which part of the list, not which list: the page, and the window, which moves with
 * the clock where somebody asks for the last week. */
static bool is_of_part(const char *name)
{
    static const char *const parts[] = {"page_token", "page_size", "from", "to", "at"};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strcmp(name, parts[i]) == 0)
            return true;
    return false;
}

static void hash_text(const char *text, struct hash_stream *h)
{
    hash_stream_add(h, text, strlen(text) + 1);
}

/* SEAL_BYTES of the path, and as many of the parameters in any order. */
static enum error_code seal_of(struct request *rq, const char **seal)
{
    const struct message *m = rq->message;
    struct query_pair *pairs = NEW(rq->arena, struct query_pair, m->query_count);
    unsigned char digest[SHA256_BYTES], both[2 * SEAL_BYTES];
    struct hash_stream filters = hash_stream_open();

    hash_sha256(m->path, strlen(m->path), digest);
    memcpy(both, digest, SEAL_BYTES);
    for (size_t i = 0; i < m->query_count; i++)
        pairs[i] = m->query[i];
    qsort(pairs, m->query_count, sizeof(*pairs), by_name_and_value);
    for (size_t i = 0; i < m->query_count; i++) {
        if (is_of_part(pairs[i].name))
            continue;
        hash_text(pairs[i].name, &filters);
        hash_text(pairs[i].value, &filters);
    }
    TRY(hash_stream_end(&filters, OK, digest, rq->err));
    memcpy(both + SEAL_BYTES, digest, SEAL_BYTES);
    *seal = base64url_encode(both, sizeof(both), rq->arena);
    return OK;
}

/* The list's own token of the one that was sent. One without a seal is of release 1.1.0,
 * which had none: the list says what it thinks of it. */
static enum error_code token_open(struct request *rq, const char *sent,
                                  const char **token)
{
    const char *dot = sent ? strchr(sent, '.') : NULL, *seal;

    *token = sent;
    if (!dot)
        return OK;
    TRY(seal_of(rq, &seal));
    if (dot - sent != SEAL_LETTERS)
        return invalid(rq->err, "?/page_token", ITEM_PAGE_TOKEN,
                       "not a token that a page of this list gave as next_page_token");
    if (strncmp(sent, seal, SEAL_LETTERS / 2) != 0)
        return invalid(rq->err, "?/page_token", ITEM_PAGE_TOKEN,
                       "a page of another list gave it as next_page_token");
    if (strncmp(sent, seal, SEAL_LETTERS) != 0)
        return invalid(rq->err, "?/page_token", ITEM_PAGE_TOKEN,
                       "a page of this list with other parameters gave it: all but "
                       "page_size, from, to and at must be as they were");
    *token = dot + 1;
    return OK;
}

enum error_code page_of(struct request *rq, const struct page_query *query,
                        struct store_page *page)
{
    *page = (struct store_page){NULL, (size_t)query->page_size};
    return token_open(rq, query->page_token, &page->token);
}

enum error_code page_cut(struct request *rq, const struct page_query *query, size_t count,
                         size_t *first, size_t *page_count, const char **next_page_token)
{
    const char *token;
    size_t digits;

    *first = 0;
    *next_page_token = NULL;
    TRY(token_open(rq, query->page_token, &token));
    digits = token ? strspn(token, "0123456789") : 0;
    if (token && (digits == 0 || token[digits] || digits > 9))
        return invalid(rq->err, "?/page_token", ITEM_PAGE_TOKEN,
                       "not a token that a page of this list gave as next_page_token");
    if (token)
        *first = (size_t)strtoull(token, NULL, 10);
    if (*first > count)
        *first = count;
    *page_count = count - *first;
    if (*page_count <= query->page_size)
        return OK;
    *page_count = (size_t)query->page_size;
    *next_page_token = arena_printf(rq->arena, "%zu", *first + *page_count);
    return page_link(rq, next_page_token);
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

enum error_code page_link(struct request *rq, const char **next_page_token)
{
    const struct message *m = rq->message;
    struct text_buffer b = {.arena = rq->arena};
    const char *seal;
    bool first = true;

    if (!*next_page_token)
        return OK;
    TRY(seal_of(rq, &seal));
    *next_page_token = arena_printf(rq->arena, "%s.%s", seal, *next_page_token);
    text_add(&b, "<", 1);
    text_add_encoded(&b, m->path, true);
    for (size_t i = 0; i < m->query_count; i++) {
        if (strcmp(m->query[i].name, "page_token") == 0)
            continue;
        add_parameter(m->query[i].name, m->query[i].value, first, &b);
        first = false;
    }
    add_parameter("page_token", *next_page_token, first, &b);
    text_addf(&b, ">; rel=\"next\"");
    reply_header_add(rq->reply, "Link", text_end(&b));
    return OK;
}
