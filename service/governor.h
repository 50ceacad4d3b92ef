/* governor.h - who may compute now, and who may hold memory.
 *
 * One handle, one mutex, no database. It knows owners: the tenant of a request, with
 * keys off the client's address. Owners share two things fairly.
 *
 * Memory: what a request takes is leased first. The body pool B holds bodies as they
 * come and as they inflate, the work pool W arenas and replies; what is left of
 * memory_bytes, K, is never leased. W/16, R, is kept for small first leases. A body is
 * never waited for. Work memory is waited for in a queue only, where a request holds
 * nothing but its body; what has begun always goes on. Order: body, work, database
 * connection; nobody who holds a later one waits for an earlier one.
 *
 * Slots, the right to compute: `slot_count` of each queue. A slot that is free goes to
 * the owner with the least virtual time: CPU seconds used / weight. A computation that
 * has used fair_quantum_s is parked, in the middle of itself, when another owner has had
 * less; it keeps its memory, and goes on before its owner begins anything else.
 *
 * The way of a request:
 *
 *     governor_body_take()                as the body comes, and as it inflates
 *     governor_submit()                   with an estimate of its work memory
 *       run()                             on a thread of the queue, in a slot
 *         governor_look()                 every millisecond or so: charges and parks
 *         governor_reserve()              at most once, when the exact need is known
 *         governor_grow()                 when its arena grows beyond what it has
 *       ended()                           on that thread, without the slot
 *     governor_give()                     when the reply has gone out, or the body is
 *                                         not needed any more
 *
 * What was decided, and no thread, lock or clock, is in governor_core.h.
 */
#ifndef GRIDPLAN_GOVERNOR_H
#define GRIDPLAN_GOVERNOR_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct governor;
struct governor_account; /* what a tenant, address or key holds */
struct governor_share;   /* an owner in a queue */

/* ---- answers ---- */

enum governor_answer {
    GOVERNOR_OK,
    GOVERNOR_BUSY,             /* 503: no room now, or not within queue_wait_s */
    GOVERNOR_TOO_LARGE,        /* 413: more than the service ever has */
    GOVERNOR_QUOTA_MEMORY,     /* 413: the caller's memory_bytes */
    GOVERNOR_QUOTA_CONCURRENT, /* 429: the caller's concurrent_count, or too many wait */
    GOVERNOR_GONE,             /* 499: cancelled while it waited */
    GOVERNOR_AGAIN,            /* of governor_reserve() only */
    GOVERNOR_ANSWERS
};

/* Fills *err, retry_after_s and violated_policy included, for an answer that is neither
 * OK nor AGAIN; `bytes`: what was asked for, 0: no memory. Returns err->code. */
enum error_code governor_fail(struct governor *g, enum governor_answer answer,
                              size_t bytes, struct error *err);

/* ---- who asks ---- */

struct governor_quota {
    double weight;           /* of an owner's CPU seconds, 0.01..100; 0: 1 */
    size_t concurrent_count; /* computations in slots at once; 0: no limit */
    size_t memory_bytes;     /* of W; 0: no limit */
};

struct governor_party {
    const char *name;
    struct governor_quota quota; /* the one that was said last is in force */
};

/* The names are copied where they are kept. */
struct governor_who {
    struct governor_party owner; /* tenant, or address; name never NULL */
    struct governor_party key;   /* whose limits count too; name NULL: none */
    bool background; /* an owner of its own in the queues, with a quarter of the weight */
};

/* ---- memory ---- */

enum governor_pool { GOVERNOR_BODY, GOVERNOR_WORK, GOVERNOR_POOLS };

/* Bytes of one pool held by one request; {0}: none. One thread at a time. */
struct governor_lease {
    enum governor_pool pool;
    size_t bytes;
    struct governor_account *owner, *key; /* NULL while bytes is 0 */
    struct governor_job *job;             /* whose first lease it is; NULL: none */
};

/* Makes the lease of a body `bytes` longer: 64 KiB first, then doubling, never beyond
 * the announced length. Never waits.
 * BUSY: no room, or no fair share of it; TOO_LARGE: the lease would be more than B. */
enum governor_answer governor_body_take(struct governor *g,
                                        const struct governor_who *who,
                                        struct governor_lease *lease, size_t bytes);

/* Whether a body of `bytes` would be refused now: what Content-Length tells. Takes
 * nothing. */
enum governor_answer governor_body_check(struct governor *g,
                                         const struct governor_who *who, size_t bytes);

/* Work memory for what is no job: upkeep. Never waits; BUSY: later. */
enum governor_answer governor_work_take(struct governor *g,
                                        const struct governor_who *who,
                                        struct governor_lease *lease, size_t bytes);

/* Gives back `bytes` of the lease, or all when it has less (SIZE_MAX: all). Also for
 * &job->work once ended() was called. */
void governor_give(struct governor *g, struct governor_lease *lease, size_t bytes);

/* ---- computing ---- */

enum governor_queue { GOVERNOR_COMPUTE, GOVERNOR_QUERY, GOVERNOR_QUEUES };

enum governor_state {
    JOB_IDLE, /* not known to the governor, but for its lease */
    JOB_QUEUED,
    JOB_RUNNING, /* in a slot */
    JOB_PARKED,  /* on a thread that sleeps in governor_look() */
    JOB_ENDING   /* was woken to end: runs without a slot */
};

/* One computation. Lives with the caller (an exchange), until ended() was called and
 * `work` was given back. Zeroed, the first members set, then governor_submit(). */
struct governor_job {
    enum governor_queue queue;
    size_t work_bytes; /* first lease; 0: none. A guess is cut to what can be reserved */
    bool is_exact;     /* work_bytes is no guess: more than can ever be had is refused */
    double est_s;      /* CPU seconds that it will take; orders the owner's own only */
    const bool *cancelled; /* read atomically; NULL: never */

    /* On a thread of the queue. When governor_reserve() said AGAIN it forgets all but
     * the body, returns, and is called again later. */
    void (*run)(void *context);
    /* Afterwards, without the slot: OK when run() has run to its end, else why it will
     * not be called (again). The job may be submitted again, or cease to exist. */
    void (*ended)(void *context, enum governor_answer answer);
    void *context;

    /* To be read by the caller, from run() and ended(). */
    struct governor_lease work;
    double cpu_s;  /* used so far, as charged; a query's, and one's that ends within a
                      millisecond: seconds that it ran */
    double wait_s; /* spent waiting for a slot or memory, parked time not counted */

    /* The governor's own. */
    struct governor *governor;
    enum governor_state state;
    struct governor_share *share;
    struct governor_account *key;
    struct governor_job *previous, *next; /* in the share's queue, or parked */
    double arrived_s, queued_s, parked_s, deadline_s;
    double slice_s;              /* charged since it got its slot */
    double looked_s;             /* the thread's: monotonic clock of the last look */
    double begun_s;              /* the thread's: monotonic clock of the last charge */
    uint64_t number;             /* order of receipt */
    size_t passed_count;         /* later arrivals begun while it did not fit */
    uint64_t reservation_number; /* under which it began */
    bool is_again;               /* governor_reserve() said AGAIN */
    bool was_reserved;           /* governor_reserve() was asked */
    void *thread;                /* that runs it */
};

/* Queues the job, or starts it. OK: run() and ended() will be called, perhaps before
 * this returns; all else: neither will.
 * BUSY: the queue is full, or the service ends. TOO_LARGE, QUOTA_MEMORY: an exact need
 * that can never be had. QUOTA_CONCURRENT: see the enum. */
enum governor_answer governor_submit(struct governor *g, const struct governor_who *who,
                                     struct governor_job *job);

/* From run(): what has been used is charged, at most once a millisecond, and it may be
 * parked: then this returns true, when it has a slot again, or when it is cancelled or
 * past `deadline_s` and is to end. Both times are of clock_monotonic_s(). With `may_park`
 * false, while a lock or a database connection is held, it is only charged. Accepts job
 * NULL. */
bool governor_look(struct governor_job *job, double now_s, double deadline_s,
                   bool may_park);

/* From run(): the job's lease becomes `bytes`, its exact need; less than it has: stays.
 * Never waits.
 * AGAIN: there is no room now. Forget everything but the body, reset the arena, return
 * from run() without an answer: the lease is given back, and run() called again with a
 * lease of `bytes`, in the order of the first arrival, or ended() with BUSY.
 * BUSY: it did not fit a second time. TOO_LARGE: more than W - R. QUOTA_MEMORY. */
enum governor_answer governor_reserve(struct governor_job *job, size_t bytes);

/* From run(): the lease becomes `bytes` longer. Never waits. BUSY, QUOTA_MEMORY: the
 * computation must end. The cap of one request, request_memory_bytes, is the arena's
 * business. */
enum governor_answer governor_grow(struct governor_job *job, size_t bytes);

/* Whether a submission would be refused for the queue's length: a cheap first question.
 */
bool governor_is_full(struct governor *g, enum governor_queue queue);

/* For what was computed outside of slots, on an I/O thread: the owner pays later. */
void governor_charge(struct governor *g, enum governor_queue queue,
                     const struct governor_who *who, double cpu_s);

/* What a tenant or address, or a key (`is_key`), has now: for its quotas. */
struct governor_holding {
    size_t computing_count; /* computations in slots */
    size_t work_bytes;      /* leased of W */
};
struct governor_holding governor_holding(struct governor *g, const char *name,
                                         bool is_key);

/* Seconds until it is worth to try again: min(30, max(1, est_s that wait / slots)). */
int governor_retry_after_s(struct governor *g, enum governor_queue queue);

/* ---- for metrics ---- */

enum { GOVERNOR_OWNERS_SHOWN = 20, GOVERNOR_NAME_SIZE = 136 };

struct governor_owner_stats {
    char name[GOVERNOR_NAME_SIZE]; /* "other": all that are not among the largest */
    bool background;
    size_t queued_count, running_count, parked_count;
};

struct governor_queue_stats {
    size_t queued_count, running_count, parked_count, thread_count;
    uint64_t look_count, parking_count;
    double spread_s; /* largest less least virtual time of owners with work */
    struct governor_owner_stats owners[GOVERNOR_OWNERS_SHOWN + 1];
    size_t owner_count;
};

struct governor_stats {
    size_t pool_bytes[GOVERNOR_POOLS];   /* B, W */
    size_t leased_bytes[GOVERNOR_POOLS]; /* now */
    size_t reserve_bytes;                /* R */
    uint64_t refused_count[GOVERNOR_POOLS][GOVERNOR_ANSWERS];
    struct governor_queue_stats queues[GOVERNOR_QUEUES];
};
void governor_stats(struct governor *g, struct governor_stats *stats);

/* ---- the life of it ---- */

struct governor_queue_options {
    const char *name;  /* of the threads, at most 15 bytes */
    size_t slot_count; /* 0: no such queue, nothing may be submitted to it */
    size_t
        thread_count; /* >= slot_count; more than the slots are made when parking asks */
    size_t queue_length; /* that wait; >= 1 */
    int nice;            /* lowers the priority of the threads; 0: as the process */
};

struct governor_options {
    size_t memory_bytes;        /* all leases together and K; >= 64 MiB */
    double body_memory_ratio;   /* B of it, 0.05..0.75 */
    size_t body_bytes_max;      /* of B; 0: no further bound */
    double tenant_memory_ratio; /* of a pool for one owner that has something, 0.05..1 */
    double quantum_s;           /* > 0 */
    double queue_wait_s;        /* > 0, all waits of a job together */
    size_t tenant_queue_length; /* once half of queue_length is in use; >= 1 */
    struct governor_queue_options queues[GOVERNOR_QUEUES];
};

/* What memory_bytes comes to. */
struct governor_sizes {
    size_t body_bytes, work_bytes; /* B, W */
    size_t reserve_bytes;          /* R: W / 16 */
    size_t kept_bytes;             /* K: a tenth, at least 16 MiB */
};
struct governor_sizes governor_sizes(const struct governor_options *options);

/* The options that the settings mean. */
struct config;
struct governor_options governor_options_of(const struct config *config);

/* Starts `slot_count` threads a queue. NULL: no memory or no threads. */
struct governor *governor_create(const struct governor_options *options);

/* Takes no more jobs, finishes what was submitted, ends the threads. Leases may be given
 * back no more. Accepts NULL. */
void governor_close(struct governor *g);

#endif
