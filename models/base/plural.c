/* plural.c - words that agree with a count. */
#include "models/base/plural.h"

#include "models/base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *plural(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

struct counted counted(uint64_t count, const char *noun)
{
    struct counted out;

    snprintf(out.text, sizeof(out.text), "%" PRIu64 " %.40s%s", count, noun,
             plural(count, "", "s"));
    return out;
}

/* Appends the form of the count to `out`; the end of the braces, or NULL: they are none.
 */
static const char *take_form(uint64_t count, const char *open, char **out)
{
    const char *bar = open + strcspn(open, "|}"), *close = bar + strcspn(bar, "}");
    const char *from = count == 1 ? open + 1 : bar + 1, *to = count == 1 ? bar : close;

    if (*bar != '|' || !*close)
        return NULL;
    memcpy(*out, from, (size_t)(to - from));
    *out += to - from;
    return close + 1;
}

const char *plural_text(uint64_t count, const char *text, struct arena *a)
{
    char *kept = arena_alloc(a, 1, strlen(text) + 1), *out = kept;

    while (*text) {
        const char *after = *text == '{' ? take_form(count, text, &out) : NULL;

        if (after)
            text = after;
        else
            *out++ = *text++;
    }
    *out = 0;
    return kept;
}
