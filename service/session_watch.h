/* session_watch.h - requests that wait until a workflow session has changed.
 *
 * They hold no thread and no connection: entries of a list. While there are any, a thread
 * asks the database every WATCH_POLL_S for the versions of all their sessions, by one
 * statement, and wakes those whose session is another one, whose time is over, or whose
 * client has gone; all of them when the service ends. What this process itself has
 * changed it looks at without delay. Without entries it sleeps.
 */
#ifndef GRIDPLAN_SESSION_WATCH_H
#define GRIDPLAN_SESSION_WATCH_H

#include "service/db.h"

#define WATCH_POLL_S 0.25

enum { WATCH_TENANT_BYTES = 257, WATCH_SESSION_BYTES = 201 };

struct waiter;
struct session_watch;

/* Lives with its request. */
struct session_waiter {
    char tenant[WATCH_TENANT_BYTES], session_id[WATCH_SESSION_BYTES];
    uint64_t revision, world_version, plan_revision; /* that are known */
    double until_s;                                  /* monotonic clock */
    const bool *cancelled; /* read with __atomic_load_n; NULL: never */
    struct waiter *waiter; /* waiter->wake(waiter) is called, on the thread */
    struct session_waiter *next;
    bool is_set; /* all of this is filled */
};

struct session_watch_options {
    struct db *db;
    const bool *draining; /* read with __atomic_load_n: wake all */
    size_t most;          /* that may wait at a time */
    void (*log)(void *context, const char *text); /* NULL: nobody */
    void *log_context;
};

/* Starts the thread. */
enum error_code session_watch_create(const struct session_watch_options *options,
                                     struct session_watch **out, struct error *err);

/* Nobody may wait any more. Accepts NULL. */
void session_watch_close(struct session_watch *w);

/* False: there is no handle, too many wait, or the service ends. */
bool session_watch_wait(struct session_watch *w, struct session_waiter *waiter);

/* A session was changed here. Accepts NULL. */
void session_watch_look(struct session_watch *w);

/* The request has waited and was told to compute (request_wait_over() of route.h): there
 * is news, whatever has come since. */
struct request;
bool request_has_waited(const struct request *rq);

/* How many wait now. */
size_t session_watch_count(struct session_watch *w);

#endif
