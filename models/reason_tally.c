/* reason_tally.c - how many have no place, by their main reasons. */
#include "models/reason_tally.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

void reason_tally_add(struct reason_tally *t, const char *reason)
{
    size_t k = 0;

    while (k < t->name_count && t->name[k] != reason && strcmp(t->name[k], reason) != 0)
        k++;
    assert(k < REASON_TALLY_NAMES);
    if (k == t->name_count)
        t->name[t->name_count++] = reason;
    t->count[k]++;
    t->total++;
}

const char *reason_tally_text(const struct reason_tally *t, struct arena *a)
{
    bool listed[REASON_TALLY_NAMES] = {false};
    const char *text = arena_printf(a, "unplaced: %zu", t->total);

    for (size_t i = 0; i < t->name_count; i++) {
        size_t most = t->name_count;

        for (size_t k = 0; k < t->name_count; k++)
            if (!listed[k] && (most == t->name_count || t->count[k] > t->count[most]))
                most = k;
        listed[most] = true;
        text = arena_printf(a, "%s, %s: %zu", text, t->name[most], t->count[most]);
    }
    return text;
}
