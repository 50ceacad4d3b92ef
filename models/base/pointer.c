/* base/pointer.c - JSON Pointers (RFC 6901) to what a request says. */
#include "models/base/pointer.h"

#include "models/base/arena.h"

#include <stdio.h>
#include <string.h>

struct pointer pointer_in(const char *list, size_t index, const char *member)
{
    struct pointer p;

    snprintf(p.text, sizeof(p.text), "%s/%zu%s%s", list, index, member ? "/" : "",
             member ? member : "");
    return p;
}

struct pointer pointer_of(const char *parent, const char *member)
{
    struct pointer p;

    snprintf(p.text, sizeof(p.text), "%s/%s", parent, member);
    return p;
}

struct pointer pointer_named(const char *parent, const char *name)
{
    struct pointer p;
    size_t used;

    snprintf(p.text, sizeof(p.text), "%s/", parent);
    used = strlen(p.text);
    for (; *name && used + 2 < sizeof(p.text); name++) {
        if (*name == '~' || *name == '/')
            p.text[used++] = '~';
        p.text[used++] = *name == '~' ? '0' : *name == '/' ? '1' : *name;
    }
    p.text[used] = 0;
    return p;
}

const char *pointer_keep(const char *list, size_t index, const char *member,
                         struct arena *a)
{
    struct pointer p = pointer_in(list, index, member);

    return arena_text(a, p.text, strlen(p.text));
}
