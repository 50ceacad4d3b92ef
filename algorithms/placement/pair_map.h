/* placement/pair_map.h - a number for a pair of indexes.
 *
 * A hash table with a fixed number of places that its maker knows beforehand.
 */
#ifndef GRIDPLAN_PLACEMENT_PAIR_MAP_H
#define GRIDPLAN_PLACEMENT_PAIR_MAP_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct pair_map {
    struct pair_place {
        size_t a, b; /* a is the key's first index + 1; 0: empty */
        size_t value;
    } * places;
    size_t mask, count;
};

/* An empty map for up to `expected` pairs. */
static inline bool pair_map_create(struct pair_map *map, size_t expected, struct arena *a)
{
    size_t size = 16;

    while (size < expected * 2)
        size *= 2;
    map->places = NEW(a, struct pair_place, size);
    map->mask = size - 1;
    map->count = 0;
    return map->places != NULL;
}

/* The pair's place; its `a` is 0 if the pair is not there yet. */
static inline struct pair_place *pair_map_at(const struct pair_map *map, size_t a,
                                             size_t b)
{
    uint64_t hash =
        (a + 1) * 0x9e3779b97f4a7c15U ^ (b + 0x7f4a7c15U) * 0xff51afd7ed558ccdU;
    size_t i;

    hash ^= hash >> 31;
    hash *= 0xc4ceb9fe1a85ec53U;
    hash ^= hash >> 29;
    i = (size_t)hash & map->mask;
    while (map->places[i].a && (map->places[i].a != a + 1 || map->places[i].b != b))
        i = (i + 1) & map->mask;
    return &map->places[i];
}

/* The number of the pair, in the order in which pairs first came. */
static inline size_t pair_map_number(struct pair_map *map, size_t a, size_t b)
{
    struct pair_place *place = pair_map_at(map, a, b);

    if (!place->a)
        *place = (struct pair_place){a + 1, b, map->count++};
    return place->value;
}

#endif
