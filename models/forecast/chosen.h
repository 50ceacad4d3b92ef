/* forecast/chosen.h - the processors of a run, and the links between them.
 *
 * Internal to this folder. Processors are numbered 0, 1, ... in the order they
 * are named, equal ids once; a key is a processor by itself (low == high) or a
 * pair, with its direction. Keys sort so that a walk over all of them finds, in
 * one pass, those that are not there.
 */
#ifndef GRIDPLAN_FORECAST_CHOSEN_H
#define GRIDPLAN_FORECAST_CHOSEN_H

#include "models/base/names.h"

#include <stdbool.h>

struct chosen {
    struct name_index index; /* id to number */
    size_t *position;        /* number to position in the caller's list */
    size_t count;
};

struct chosen_key {
    size_t low, high; /* numbers, low <= high */
    bool reversed;    /* a link from high to low */
};

struct chosen_walk {
    size_t at; /* in the sorted keys */
    size_t low, high;
};

/* Of `count` names, which may repeat. */
void chosen_create(struct chosen *c, const char *const *ids, size_t count,
                   struct arena *a);

/* The key of a resource (to NULL) or link; false: not among the chosen, or a link
 * from a resource to itself. */
bool chosen_find(const struct chosen *c, const char *from, const char *to,
                 struct chosen_key *key);

int chosen_compare(const struct chosen_key *x, const struct chosen_key *y);

/* The next processor or pair that has no key (in either direction) among the
 * sorted ones; false: no more. Start with a zeroed walk. */
bool chosen_next_missing(const struct chosen *c, const struct chosen_key *sorted,
                         size_t count, struct chosen_walk *walk, struct chosen_key *key);

#endif
