/* base/name_pool.h - an index of as many names as come, which keeps a copy of each. */
#ifndef GRIDPLAN_BASE_NAME_POOL_H
#define GRIDPLAN_BASE_NAME_POOL_H

#include "models/base/names.h"

/* Begins as {0}. */
struct name_pool {
    struct name_index index;
    size_t count, room;
};

/* The position of a name that is there; of a new one `position`, and *copy is the copy,
 * else NULL. For computations only. */
size_t name_pool_add(struct name_pool *pool, const char *name, size_t position,
                     const char **copy, struct arena *a);

#endif
