/* service.h - the handles of a running service, made by main.c in this order
 * and released in reverse. */
#ifndef GRIDPLAN_SERVICE_H
#define GRIDPLAN_SERVICE_H

#include "service/rollup.h"
#include "service/route.h"

#include <stdbool.h>

struct service {
    const struct config *config; /* config.h */
    struct metrics *metrics;     /* metrics.h */
    struct db *db;               /* db.h; NULL: without a database */
    struct auth *auth;           /* auth.h */
    struct ratelimit *limits;    /* ratelimit.h; NULL: no limits */
    struct cpu_quota *cpu_quota; /* cpu_quota.h; NULL: no limits */
    struct governor *governor;   /* governor.h */
    struct estimates *estimates; /* estimate.h; NULL: nothing is learnt */
    struct worker_pool *lookups; /* worker.h: threads that look keys up */
    struct liveness *liveness;   /* liveness.h; NULL: nobody tries whether it can write */
    const struct route *routes;
    const struct openapi_document *description; /* openapi.h; of these routes */
    struct page_cache *pages; /* page_cache.h; NULL: they are printed each time */
    answer_form_fn *draw; /* draws stored answers; NULL: they are given as JSON only */
    struct idempotency *idempotency; /* idempotency.h; NULL: keys are only in the
                                        database, and nobody waits without a thread */
    struct background *background;   /* background.h; read with __atomic_load_n; NULL: not
                                        started yet, or no database */
    struct refits *refits;           /* refits.h; likewise */
    struct session_census *census;   /* session_census.h; NULL: nobody counts */
    struct session_watch *watch;     /* session_watch.h; NULL: nobody waits */
    size_t waiting_count;            /* requests that wait for a simulation; atomic */
    uint64_t moved_row_count;        /* into partitions that came late; atomic */
    struct rollup_counts rollup_counts; /* rollup.h; atomic */
    bool draining;                      /* set by SIGTERM; read with __atomic_load_n */
    struct session_cache *sessions;     /* session_cache.h; NULL: nothing is kept */
};

#endif
