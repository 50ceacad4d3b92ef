/* etag.c - lists of entity tags. */
#include "service/etag.h"

#include <stddef.h>
#include <string.h>

/* Bytes of the element that begins at `p`. A comma within quotes does not end it. */
static size_t element_length(const char *p)
{
    bool quoted = false;
    size_t n = 0;

    for (; p[n] && (quoted || p[n] != ','); n++)
        quoted ^= p[n] == '"';
    while (n > 0 && strchr(" \t", p[n - 1]))
        n--;
    return n;
}

static bool names(const char *list, const char *tag, bool weakly)
{
    size_t length = strlen(tag);

    for (const char *p = list ? list : ""; *p;) {
        size_t n;

        p += strspn(p, ", \t");
        if (weakly && strncmp(p, "W/\"", 3) == 0)
            p += 2;
        n = element_length(p);
        if (n == length && strncmp(p, tag, n) == 0)
            return true;
        p += n;
    }
    return false;
}

bool etag_matches(const char *list, const char *tag)
{
    return list && (strcmp(list, "*") == 0 || names(list, tag, false));
}

bool etag_matches_weakly(const char *list, const char *tag)
{
    return list && (strcmp(list, "*") == 0 || names(list, tag, true));
}

enum error_code etag_refuse_stale(struct error *err, const char *what,
                                  const char *if_match, const char *tag)
{
    err->in = "header";
    err->name = "If-Match";
    if (etag_matches_weakly(if_match, tag))
        return fail(err, ERR_STALE, "",
                    "If-Match was %.80s: a weak tag never allows a change; send %s",
                    if_match, tag);
    return fail(err, ERR_STALE, "",
                "the %s has changed: If-Match was %.80s, its ETag is %s; read it again",
                what, if_match, tag);
}

enum error_code etag_refuse_double(struct error *err, const char *what, const char *name)
{
    err->in = "header";
    err->name = "If-None-Match";
    return fail(err, ERR_STALE, "", "there is a %s '%.200s', and If-None-Match is *",
                what, name);
}
