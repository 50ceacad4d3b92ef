/* base/name_pool.c - an index of as many names as come. */
#include "models/base/name_pool.h"

#include <string.h>

enum { POOL_FIRST = 64 };

/* The room doubles when it is full. */
static void pool_grow(struct name_pool *pool, struct arena *a)
{
    struct name_index before = pool->index;
    size_t slot_count = pool->room ? before.slot_count : 0;

    pool->room = pool->room ? 2 * pool->room : POOL_FIRST;
    name_index_create(&pool->index, pool->room, a);
    for (size_t i = 0; i < slot_count; i++)
        if (before.key[i])
            name_index_add(&pool->index, before.key[i], before.position[i]);
}

size_t name_pool_add(struct name_pool *pool, const char *name, size_t position,
                     const char **copy, struct arena *a)
{
    size_t known = pool->room ? name_index_find(&pool->index, name) : NAME_NOT_FOUND;

    *copy = NULL;
    if (known != NAME_NOT_FOUND)
        return known;
    if (pool->count == pool->room)
        pool_grow(pool, a);
    *copy = arena_text(a, name, strlen(name));
    name_index_add(&pool->index, *copy, position);
    pool->count++;
    return position;
}
