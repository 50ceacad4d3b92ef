/* store_token.c - page tokens: "1 MICROSECONDS ID" in base64url; the 1 is for a
 * day when they have to look otherwise. */
#include "service/store_token.h"

#include "service/db_value.h"
#include "service/hash.h"
#include "service/uuid.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum error_code token_make(double at_s, const char *id, const char **token,
                           struct arena *a, struct error *err)
{
    const char *text =
        id ? arena_try_printf(a, "1 %" PRId64 " %s", db_instant_us(at_s), id) : NULL;

    if (text)
        text = base64url_encode(text, strlen(text), a);
    if (!text)
        return fail_memory(err);
    *token = text;
    return OK;
}

enum error_code token_read(const char *token, double *at_s, const char **id,
                           struct arena *a, struct error *err)
{
    size_t length;
    const char *text = (const char *)base64url_decode(token, &length, a);
    char *end;
    long long at_us;

    if (!text || strlen(text) != length || strncmp(text, "1 ", 2) != 0)
        goto wrong;
    at_us = strtoll(text + 2, &end, 10);
    if (end == text + 2 || *end != ' ' || !end[1])
        goto wrong;
    *at_s = db_instant_s(at_us);
    *id = end + 1;
    return OK;
wrong:
    return invalid(err, "?/page_token", ITEM_PAGE_TOKEN,
                   "not a token that a page of this list gave as next_page_token");
}

enum error_code token_read_before(const struct store_page *page, double *at_s,
                                  const char **id, struct arena *a, struct error *err)
{
    *at_s = HUGE_VAL;
    *id = "ffffffff-ffff-ffff-ffff-ffffffffffff";
    if (!page->token)
        return OK;
    TRY(token_read(page->token, at_s, id, a, err));
    if (!uuid_is(*id))
        return invalid(err, "?/page_token", ITEM_PAGE_TOKEN, "of another list");
    return OK;
}
