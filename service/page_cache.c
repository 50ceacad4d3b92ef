/* page_cache.c - pages that were printed once and are sent often. */
#include "service/page_cache.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256 };

struct entry {
    struct entry *next;  /* in its bucket */
    struct entry *newer; /* the one that came after it */
    struct cached_page page;
    size_t bytes;
    char *key, *gz; /* behind the entry */
};

struct page_cache {
    pthread_mutex_t lock;
    size_t max_bytes, bytes;
    struct entry *bucket[BUCKETS];
    struct entry *oldest, *newest;
};

static size_t bucket_of(const char *key)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * 16777619u;
    return h % BUCKETS;
}

struct page_cache *page_cache_create(size_t max_bytes)
{
    struct page_cache *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->max_bytes = max_bytes;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static void drop_oldest(struct page_cache *c)
{
    struct entry *e = c->oldest, **at = &c->bucket[bucket_of(e->key)];

    while (*at && *at != e)
        at = &(*at)->next;
    if (*at)
        *at = e->next;
    c->oldest = e->newer;
    if (!c->oldest)
        c->newest = NULL;
    c->bytes -= e->bytes;
    free(e);
}

void page_cache_close(struct page_cache *c)
{
    if (!c)
        return;
    while (c->oldest)
        drop_oldest(c);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static struct entry *find(struct page_cache *c, const char *key)
{
    struct entry *e = c->bucket[bucket_of(key)];

    while (e && strcmp(e->key, key) != 0)
        e = e->next;
    return e;
}

bool page_cache_take(struct page_cache *c, const char *key, struct cached_page *page,
                     struct arena *a)
{
    const struct entry *e;
    bool found = false;

    if (!c)
        return false;
    pthread_mutex_lock(&c->lock);
    e = find(c, key);
    if (e) {
        char *copy = arena_try(a, e->page.gz_length + 1, 1);

        found = copy != NULL;
        if (found) {
            memcpy(copy, e->gz, e->page.gz_length);
            *page = e->page;
            page->gz = copy;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

void page_cache_keep(struct page_cache *c, const char *key,
                     const struct cached_page *page)
{
    size_t key_size = strlen(key) + 1;
    size_t bytes = sizeof(struct entry) + key_size + page->gz_length;
    struct entry *e = c && bytes <= c->max_bytes ? malloc(bytes) : NULL;

    if (!e)
        return;
    *e = (struct entry){.page = *page, .bytes = bytes, .key = (char *)(e + 1)};
    e->gz = e->key + key_size;
    memcpy(e->key, key, key_size);
    memcpy(e->gz, page->gz, page->gz_length);
    pthread_mutex_lock(&c->lock);
    if (find(c, key)) {
        pthread_mutex_unlock(&c->lock);
        free(e);
        return;
    }
    while (c->oldest && c->bytes + bytes > c->max_bytes)
        drop_oldest(c);
    e->next = c->bucket[bucket_of(key)];
    c->bucket[bucket_of(key)] = e;
    if (c->newest)
        c->newest->newer = e;
    else
        c->oldest = e;
    c->newest = e;
    c->bytes += bytes;
    pthread_mutex_unlock(&c->lock);
}

size_t page_cache_bytes(struct page_cache *c)
{
    size_t bytes;

    pthread_mutex_lock(&c->lock);
    bytes = c->bytes;
    pthread_mutex_unlock(&c->lock);
    return bytes;
}
