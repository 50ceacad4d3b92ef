/* bound_kind.c - what a search says of how far it may be from the best. */
#include "models/bound_kind.h"

#include <string.h>

const char *const bound_kind_names[] = {
#define X(symbol, name, meaning) [symbol] = name,
    BOUND_KINDS(X)
#undef X
        [BOUND_KIND_COUNT] = NULL,
};

const char *const bound_effort_names[] = {
    [EFFORT_NONE] = "none", [EFFORT_FAST] = "fast", [EFFORT_FULL] = "full", NULL};

void bound_list_note(struct bound_list *list, enum bound_kind kind, double value)
{
    if (!list->known[kind] || value > list->value[kind])
        list->value[kind] = value;
    list->known[kind] = true;
}

double bound_list_best(const struct bound_list *list)
{
    double best = 0;

    for (size_t k = 0; k < BOUND_KIND_COUNT; k++)
        if (list->known[k] && list->value[k] > best)
            best = list->value[k];
    return best;
}

size_t bound_list_sort(const struct bound_list *list, double limit_s,
                       struct proven_bound *out)
{
    size_t count = 0;

    for (size_t k = 0; k < BOUND_KIND_COUNT; k++) {
        double value_s = list->value[k] < limit_s ? list->value[k] : limit_s;
        size_t i = count;

        if (!list->known[k])
            continue;
        for (; i > 0 && out[i - 1].value_s < value_s; i--)
            out[i] = out[i - 1];
        out[i] = (struct proven_bound){(enum bound_kind)k, value_s};
        count++;
    }
    return count;
}

void improvement_list_add(struct improvement_list *list, uint64_t steps, double value)
{
    struct improvement *last = list->count ? &list->item[list->count - 1] : NULL;

    if (last && last->steps == steps) {
        last->value = value;
        return;
    }
    if (list->count == IMPROVEMENTS_MAX) {
        memmove(list->item, list->item + 1, (IMPROVEMENTS_MAX - 1) * sizeof(*list->item));
        list->count--;
    }
    list->item[list->count++] = (struct improvement){steps, value};
}
