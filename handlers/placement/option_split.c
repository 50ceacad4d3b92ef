/* option_split.c - options of a request that go to two tables. */
#include "handlers/placement/option_split.h"

#include <stdbool.h>
#include <string.h>

static bool is_own(const char *name, const struct param *rows)
{
    for (; rows->name; rows++)
        if (strcmp(rows->name, name) == 0)
            return true;
    return false;
}

enum error_code option_split(const struct named_value *given, size_t count,
                             const struct param *rows, struct option_split *out,
                             struct arena *a, struct error *err)
{
    struct named_value *own = NEW(a, struct named_value, count);
    struct named_value *rest = NEW(a, struct named_value, count);

    (void)err;
    *out = (struct option_split){.own = own, .rest = rest};
    for (size_t i = 0; i < count; i++) {
        if (is_own(given[i].name, rows))
            own[out->own_count++] = given[i];
        else
            rest[out->rest_count++] = given[i];
    }
    return OK;
}
