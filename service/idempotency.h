/* idempotency.h - requests with an Idempotency-Key that compute for long.
 *
 * Three things that outlive a call of route_answer(), behind one handle with a thread:
 *
 * - the attempts whose keys are reserved in the database (store_attempt.h): their leases
 *   are renewed by one statement for all; an attempt that has lost its key is cancelled;
 * - the requests that wait until another one has ended: entries of a timer, which hold
 *   their body, but no worker, no thread and no connection;
 * - without a database, the keys and answers themselves: this process remembers the
 *   latest for an hour, in memory that the governor lends.
 */
#ifndef GRIDPLAN_IDEMPOTENCY_H
#define GRIDPLAN_IDEMPOTENCY_H

#include "service/governor.h"
#include "service/hash.h"
#include "service/store_attempt.h"
#include "service/uuid.h"

struct idempotency;

struct idempotency_options {
    struct db *db;             /* NULL: the keys are kept here */
    double lease_s;            /* > 0; renewed three times as often */
    size_t key_count;          /* kept without a database, at most */
    size_t key_bytes;          /* ... and their answers */
    double kept_s;             /* ... for so long */
    struct governor *governor; /* lends what they take, at most a quarter of its work
                                  memory; NULL: nobody is asked. It may be closed first */
    void (*log)(void *context, const char *text); /* NULL: nobody */
    void *log_context;
};

/* Starts the thread. */
enum error_code idempotency_create(const struct idempotency_options *options,
                                   struct idempotency **out, struct error *err);

/* Nobody may wait or hold a key any more. Accepts NULL. */
void idempotency_close(struct idempotency *i);

double idempotency_lease_s(const struct idempotency *i);

struct idempotency_stats {
    size_t held_count;       /* attempts under way, now */
    size_t waiting_count;    /* requests that wait for one, now */
    size_t key_count;        /* keys kept here, now */
    size_t key_bytes;        /* ... and what is leased for them */
    uint64_t replay_count;   /* answers given again */
    uint64_t takeover_count; /* keys taken over from attempts that were silent */
};
void idempotency_stats(struct idempotency *i, struct idempotency_stats *stats);

/* Counts. They accept NULL, as all below. */
void idempotency_count_replay(struct idempotency *i);
void idempotency_count_takeover(struct idempotency *i);

/* ---- attempts ---- */

/* A key that is held; lives with its request. */
struct held_key {
    const char *owner_id;
    bool *cancelled; /* set when the key is lost: ends the computation; NULL: nobody */
    bool lost;       /* read with __atomic_load_n */
    struct held_key *next, *previous;
    bool is_held;
};

/* From now on its lease is renewed. */
void idempotency_hold(struct idempotency *i, struct held_key *key);

/* No more. The handle does not touch it after the return. */
void idempotency_let_go(struct idempotency *i, struct held_key *key);

/* ---- who waits ---- */

struct waiter {
    void (*wake)(struct waiter *waiter);
    double due_s; /* monotonic clock */
    struct waiter *next;
};

/* Calls waiter->wake(waiter) after `delay_s` on the handle's thread: it must not block.
 * False: there is no handle, or it ends. */
bool idempotency_wait(struct idempotency *i, struct waiter *waiter, double delay_s);

/* ---- keys without a database ---- */

/* As store_attempt_reserve(), look() and so on. ATTEMPT_FREE of memory_reserve(): there
 * is no room to keep it. What *out points to is copied into `a`. */
enum error_code memory_reserve(struct idempotency *i, const struct store_attempt *attempt,
                               enum attempt_state *state, struct store_answer *out,
                               struct arena *a, struct error *err);
void memory_publish(struct idempotency *i, const struct store_attempt *attempt,
                    const struct store_answer *answer);
void memory_release(struct idempotency *i, const char *owner_id);

#endif
