/* base/work.c - published works that policies come from. */
#include "models/base/work.h"

#include <stddef.h>

#define X(id, authors, year, title, published_in, url) \
    const struct cited_work work_##id = {authors, year, title, published_in, url};
WORKS(X)
#undef X
