/* forecast/chosen.c - the processors of a run, and the links between them. */
#include "models/forecast/chosen.h"

void chosen_create(struct chosen *c, const char *const *ids, size_t count,
                   struct arena *a)
{
    c->count = 0;
    c->position = NEW(a, size_t, count);
    name_index_create(&c->index, count, a);
    for (size_t i = 0; i < count; i++) {
        if (name_index_add(&c->index, ids[i], c->count) == NAME_NOT_FOUND)
            c->position[c->count++] = i;
    }
}

bool chosen_find(const struct chosen *c, const char *from, const char *to,
                 struct chosen_key *key)
{
    size_t i = name_index_find(&c->index, from);
    size_t j = to ? name_index_find(&c->index, to) : i;

    if (i == NAME_NOT_FOUND || j == NAME_NOT_FOUND || (to && i == j))
        return false;
    *key = i <= j ? (struct chosen_key){i, j, false} : (struct chosen_key){j, i, true};
    return true;
}

int chosen_compare(const struct chosen_key *x, const struct chosen_key *y)
{
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (int)x->reversed - (int)y->reversed;
}

bool chosen_next_missing(const struct chosen *c, const struct chosen_key *sorted,
                         size_t count, struct chosen_walk *walk, struct chosen_key *key)
{
    while (walk->low < c->count) {
        bool found = false;

        *key = (struct chosen_key){walk->low, walk->high, false};
        for (; walk->at < count && sorted[walk->at].low == key->low &&
               sorted[walk->at].high == key->high;
             walk->at++)
            found = true;
        if (++walk->high >= c->count)
            walk->high = ++walk->low;
        if (!found)
            return true;
    }
    return false;
}
