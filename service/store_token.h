/* store_token.h - page tokens; only for the files store_*.c.
 *
 * A token is where a page ended: the instant and the name of its last row. It
 * is base64url, so that nobody is tempted to read or make one.
 */
#ifndef GRIDPLAN_STORE_TOKEN_H
#define GRIDPLAN_STORE_TOKEN_H

#include "service/store.h"

/* Lists without instants give 0. Fails without memory, also when `id` is NULL for it. */
enum error_code token_make(double at_s, const char *id, const char **token,
                           struct arena *a, struct error *err);

/* ERR_INVALID at "?page_token". */
enum error_code token_read(const char *token, double *at_s, const char **id,
                           struct arena *a, struct error *err);

/* Where a list that begins with the latest goes on: before this instant and, in it,
 * this UUID. Without a token those of its begin. */
enum error_code token_read_before(const struct store_page *page, double *at_s,
                                  const char **id, struct arena *a, struct error *err);

/* The row that says whether there is a next page is asked for and dropped: what
 * remains of `count` rows that were read with page->limit + 1. */
static inline size_t page_count(const struct store_page *page, size_t count)
{
    return count > page->limit ? page->limit : count;
}

#endif
