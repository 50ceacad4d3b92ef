/* session_cache.c - what requests have read of workflow sessions, kept for the next ones.
 */
#include "service/session_cache.h"

#include "service/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

struct session_cache {
    pthread_mutex_t lock;
    size_t max_bytes;
    struct session_kept *bucket[BUCKETS]; /* by `next`, what came last first */
    struct session_kept *oldest, *newest; /* by `newer`, `older` */
    struct session_cache_stats stats;
};

struct session_cache *session_cache_create(size_t max_bytes)
{
    struct session_cache *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->max_bytes = max_bytes;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static struct session_kept **bucket_of(struct session_cache *c, const char *tenant,
                                       const char *session_id)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    for (; *tenant; tenant++)
        h = (h ^ (unsigned char)*tenant) * 16777619u;
    for (; *session_id; session_id++)
        h = (h ^ (unsigned char)*session_id) * 16777619u;
    return &c->bucket[h % BUCKETS];
}

static bool is_of(const struct session_kept *k, const char *tenant,
                  const char *session_id)
{
    return strcmp(k->session_id, session_id) == 0 && strcmp(k->tenant, tenant) == 0;
}

/* ---- under the lock ---- */

static void unlink_kept(struct session_cache *c, struct session_kept *k)
{
    struct session_kept **at = bucket_of(c, k->tenant, k->session_id);

    while (*at && *at != k)
        at = &(*at)->next;
    if (*at)
        *at = k->next;
    *(k->older ? &k->older->newer : &c->oldest) = k->newer;
    *(k->newer ? &k->newer->older : &c->newest) = k->older;
    k->next = k->older = k->newer = NULL;
    c->stats.bytes -= k->bytes;
    c->stats.count--;
}

static void link_kept(struct session_cache *c, struct session_kept *k)
{
    struct session_kept **at = bucket_of(c, k->tenant, k->session_id);

    k->next = *at;
    *at = k;
    k->older = c->newest;
    k->newer = NULL;
    *(c->newest ? &c->newest->newer : &c->oldest) = k;
    c->newest = k;
    c->stats.bytes += k->bytes;
    c->stats.count++;
}

/* The one of that session that was given back before all others of it, if there are as
 * many as may be. */
static struct session_kept *one_too_many(struct session_cache *c,
                                         const struct session_kept *like)
{
    struct session_kept *last = NULL;
    size_t count = 0;

    for (struct session_kept *k = *bucket_of(c, like->tenant, like->session_id); k;
         k = k->next)
        if (is_of(k, like->tenant, like->session_id)) {
            last = k;
            count++;
        }
    return count >= SESSION_CACHE_OF_ONE ? last : NULL;
}

/* ---- of arenas, without the lock: to give back much memory takes its time ---- */

static void close_list(struct session_kept *list)
{
    while (list) {
        struct session_kept *next = list->next;

        arena_close(list->arena);
        list = next;
    }
}

void session_cache_close(struct session_cache *c)
{
    if (!c)
        return;
    while (c->oldest) {
        struct session_kept *k = c->oldest;

        unlink_kept(c, k);
        arena_close(k->arena);
    }
    pthread_mutex_destroy(&c->lock);
    free(c);
}

void session_cache_stats(struct session_cache *c, struct session_cache_stats *stats)
{
    pthread_mutex_lock(&c->lock);
    *stats = c->stats;
    pthread_mutex_unlock(&c->lock);
}

static struct session_kept *take(struct session_cache *c, const char *tenant,
                                 const char *session_id)
{
    struct session_kept *k;

    pthread_mutex_lock(&c->lock);
    k = *bucket_of(c, tenant, session_id);
    while (k && !is_of(k, tenant, session_id))
        k = k->next;
    if (k)
        unlink_kept(c, k);
    pthread_mutex_unlock(&c->lock);
    return k;
}

/* Whether the oldest has to go for `k`, or by its age. */
static bool oldest_goes(const struct session_cache *c, const struct session_kept *k)
{
    return c->stats.bytes + k->bytes > c->max_bytes ||
           (c->oldest && k->given_s - c->oldest->given_s > SESSION_CACHE_IDLE_S);
}

static void give(struct session_cache *c, struct session_kept *k)
{
    struct session_kept *out = NULL, *gone;

    k->next = NULL;
    k->bytes = arena_taken_bytes(k->arena);
    k->given_s = clock_monotonic_s();
    if (k->bytes > c->max_bytes) {
        close_list(k);
        return;
    }
    pthread_mutex_lock(&c->lock);
    gone = one_too_many(c, k);
    while (gone || oldest_goes(c, k)) {
        gone = gone ? gone : c->oldest;
        unlink_kept(c, gone);
        gone->next = out;
        out = gone;
        gone = NULL;
        c->stats.dropped_count++;
    }
    link_kept(c, k);
    pthread_mutex_unlock(&c->lock);
    close_list(out);
}

static void count(struct session_cache *c, uint64_t *counter)
{
    pthread_mutex_lock(&c->lock);
    ++*counter;
    pthread_mutex_unlock(&c->lock);
}

/* ---- of a request ---- */

bool session_hold_keeps(const struct session_hold *hold)
{
    return hold && hold->cache && hold->cache->max_bytes > 0;
}

/* What it takes more is the request's, within what that may still take. */
static void join(struct session_hold *hold, struct session_kept *k)
{
    size_t cap_bytes = arena_cap_bytes(hold->arena);
    size_t used_bytes = arena_used_bytes(hold->arena);

    arena_set_cap(k->arena, arena_used_bytes(k->arena) +
                                (cap_bytes > used_bytes ? cap_bytes - used_bytes : 0));
    arena_join(k->arena, hold->arena);
    k->next = hold->first;
    hold->first = k;
}

struct session_kept *session_hold_find(struct session_hold *hold, const char *tenant,
                                       const char *session_id)
{
    struct session_kept *k;

    if (!session_hold_keeps(hold))
        return NULL;
    for (k = hold->first; k; k = k->next)
        if (!k->is_stale && is_of(k, tenant, session_id))
            return k;
    k = take(hold->cache, tenant, session_id);
    if (k)
        join(hold, k);
    return k;
}

struct session_kept *session_hold_add(struct session_hold *hold, size_t size,
                                      const char *tenant, const char *session_id)
{
    struct arena *a = arena_create(arena_cap_bytes(hold->arena));
    struct session_kept *k = a ? arena_try(a, size, 1) : NULL;

    if (k) {
        k->arena = a;
        k->tenant = arena_try_text(a, tenant, strlen(tenant));
        k->session_id = arena_try_text(a, session_id, strlen(session_id));
    }
    if (!k || !k->tenant || !k->session_id) {
        arena_close(a);
        arena_leave(hold->arena);
    }
    join(hold, k);
    return k;
}

void session_hold_read(struct session_hold *hold, const struct session_kept *kept)
{
    size_t cap_bytes = arena_cap_bytes(hold->arena);
    size_t used_bytes = arena_used_bytes(kept->arena);

    if (hold->cap_bytes == 0)
        hold->cap_bytes = cap_bytes;
    arena_set_cap(hold->arena, cap_bytes > used_bytes ? cap_bytes - used_bytes : 0);
    count(hold->cache, &hold->cache->stats.new_count);
}

void session_hold_hit(struct session_hold *hold)
{
    count(hold->cache, &hold->cache->stats.hit_count);
}

void session_hold_drop(struct session_hold *hold, struct session_kept *kept)
{
    kept->is_stale = true;
    count(hold->cache, &hold->cache->stats.stale_count);
}

void session_hold_committed(struct session_hold *hold)
{
    for (struct session_kept *k = hold ? hold->first : NULL; k; k = k->next)
        k->is_pending = false;
}

void session_hold_undone(struct session_hold *hold)
{
    for (struct session_kept *k = hold ? hold->first : NULL; k; k = k->next)
        k->is_stale = k->is_stale || k->is_pending;
}

void session_hold_end(struct session_hold *hold)
{
    if (!hold)
        return;
    session_hold_undone(hold);
    while (hold->first) {
        struct session_kept *k = hold->first;

        hold->first = k->next;
        arena_part(k->arena);
        if (k->is_stale)
            arena_close(k->arena);
        else
            give(hold->cache, k);
    }
    if (hold->cap_bytes)
        arena_set_cap(hold->arena, hold->cap_bytes);
    hold->cap_bytes = 0;
}
