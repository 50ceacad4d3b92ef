/* session_cache.h - what requests have read of workflow sessions, kept for the next ones.
 *
 * A request takes out what it uses, and so has it alone, changes it as the database says,
 * and gives it back when it has been answered. Meanwhile another one about the same
 * session finds none, or what a third one has given back, and reads for itself. What
 * comes beyond the limit goes, that which was not used for longest first, and what nobody
 * has asked for in SESSION_CACHE_IDLE_S goes when something else is given back.
 *
 * The cache does not look into what it keeps: whether it still is what the database has
 * is for the taker to find out.
 */
#ifndef GRIDPLAN_SESSION_CACHE_H
#define GRIDPLAN_SESSION_CACHE_H

#include "models/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct session_cache;

enum {
    SESSION_CACHE_OF_ONE = 2,    /* that of one session is kept so often at most */
    SESSION_CACHE_IDLE_S = 1200, /* engines ask every few seconds while a run goes on */
};

/* The beginning of what is kept. */
struct session_kept {
    struct arena *arena; /* has all of it, also this; it goes with it */
    const char *tenant, *session_id;
    bool is_pending; /* has what a transaction has written that has not been committed, or
                        half of something */
    bool is_stale;   /* it is of no use any more, and goes with the request */
    size_t bytes;    /* the cache's own, as all that follow */
    double given_s;
    struct session_kept *next, *older, *newer;
};

/* NULL: no memory. 0 bytes: nothing is kept. */
struct session_cache *session_cache_create(size_t max_bytes);
void session_cache_close(struct session_cache *c);

/* For metrics. */
struct session_cache_stats {
    size_t bytes, count;           /* of what is kept now */
    uint64_t hit_count, new_count; /* requests that went on from what was kept; that read
                                      a session whole, to be kept */
    uint64_t stale_count; /* found, but of what the database has no more, or of tasks that
                             have changed */
    uint64_t dropped_count; /* that were kept, and went for others or by their age */
};
void session_cache_stats(struct session_cache *c, struct session_cache_stats *stats);

/* ---- of a request ---- */

/* What it has taken out. Zeroed but for these, which the request sets. */
struct session_hold {
    struct session_cache *cache; /* NULL: nothing is kept */
    struct arena *arena;         /* the request's */
    struct session_kept *first;
    size_t cap_bytes; /* of the arena, as it was; 0: as it is */
};

/* Whether something of it is kept. Accepts NULL, as all that follow. */
bool session_hold_keeps(const struct session_hold *hold);

/* What the request has of the session, or takes out now; NULL: nothing. */
struct session_kept *session_hold_find(struct session_hold *hold, const char *tenant,
                                       const char *session_id);

/* A new one of `size` bytes, zeroed behind its beginning, in an arena of its own that
 * belongs to the request until it ends. In a computation only. */
struct session_kept *session_hold_add(struct session_hold *hold, size_t size,
                                      const char *tenant, const char *session_id);

/* What is in the new one counts as the request's. */
void session_hold_read(struct session_hold *hold, const struct session_kept *kept);

/* It served. */
void session_hold_hit(struct session_hold *hold);

/* It is of no use. What points into it stays until the request ends. */
void session_hold_drop(struct session_hold *hold, struct session_kept *kept);

/* The transaction that was under way is committed; or was not. */
void session_hold_committed(struct session_hold *hold);
void session_hold_undone(struct session_hold *hold);

/* The request is answered: all goes back. */
void session_hold_end(struct session_hold *hold);

#endif
