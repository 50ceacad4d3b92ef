/* page_cache.h - pages that were printed once and are sent often. Any thread may use it.
 */
#ifndef GRIDPLAN_PAGE_CACHE_H
#define GRIDPLAN_PAGE_CACHE_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct page_cache;

enum { PAGE_TAG_SIZE = 24 };

struct cached_page {
    const char *content_type; /* a text that stays */
    const char *gz;           /* compressed by gzip */
    size_t gz_length, length; /* length: of the page itself */
    char etag[PAGE_TAG_SIZE]; /* 16 hexadecimal digits of its SHA-256 */
};

/* With more than max_bytes the oldest pages go. NULL: no memory. */
struct page_cache *page_cache_create(size_t max_bytes);
void page_cache_close(struct page_cache *c);

/* A copy of the page in the arena; false: it is not there, or no memory. Accepts c NULL.
 */
bool page_cache_take(struct page_cache *c, const char *key, struct cached_page *page,
                     struct arena *a);

/* Keeps a copy, unless there is no memory or one of that key is there. Accepts c NULL. */
void page_cache_keep(struct page_cache *c, const char *key,
                     const struct cached_page *page);

/* What is kept. */
size_t page_cache_bytes(struct page_cache *c);

#endif
