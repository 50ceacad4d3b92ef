/* watch.h - the open connections, and a thread that looks after them.
 *
 * The HTTP library only knows inactivity: a client that sends a byte now and
 * then could stay for ever. The watcher bounds the whole time of each phase of
 * a connection, closes the longest idle ones when there are many, and sees when
 * the client of a running computation has hung up. It closes a connection by
 * shutdown(), which the library notices as the client's own end.
 */
#ifndef GRIDPLAN_WATCH_H
#define GRIDPLAN_WATCH_H

#include "service/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch;

enum phase {
    PHASE_HEADER,  /* new, or the request line is there: the header must come */
    PHASE_IDLE,    /* between two requests */
    PHASE_BODY,    /* the body must come */
    PHASE_RUNNING, /* the service's turn: it is answered */
    PHASE_REPLY,   /* the reply must go out */
    PHASE_CLOSING, /* shut down by the watcher */
};

/* One TCP connection. A thread of the HTTP library owns it; the watcher reads
 * `state` and `bytes` and sets `cancelled`: all three atomically. */
struct peer {
    int fd;
    struct address address;        /* of the other end, which may be a proxy */
    size_t target_bytes;           /* path and query of the request under way */
    char owner[ADDRESS_TEXT_SIZE]; /* the address as limits count it, or "unix" */
    bool has_address;              /* false: a socket of this machine */
    int entrance;                  /* enum entrance */
    bool trusted;                  /* a proxy whose X-Forwarded-For counts */
    bool counted;                  /* by connections_per_address */
    bool linger;    /* discard what still comes after the connection is closed */
    bool cancelled; /* the client has gone, or the service stops */
    uint64_t state; /* phase, and since when; see peer_enter() */
    size_t bytes;   /* body received, or length of the reply */
    struct peer *next, *previous;
};

struct watch_limits {
    double header_s, idle_s;     /* of PHASE_HEADER, PHASE_IDLE */
    double transfer_s;           /* of PHASE_BODY and PHASE_REPLY, plus ... */
    double transfer_bytes_per_s; /* ... a second for so many bytes */
    size_t peers_max;            /* idle ones are closed from nine tenths on */
};

struct watch_stats {
    size_t peer_count;
    size_t slow_count; /* closed: too slow */
    size_t idle_count; /* closed: to make room */
    size_t gone_count; /* hung up while a worker answered */
};

/* Starts the thread; NULL without memory. */
struct watch *watch_create(const struct watch_limits *limits);

/* Ends the thread. All peers must have been removed. Accepts NULL. */
void watch_close(struct watch *w);

/* A new connection; NULL without memory. */
struct peer *watch_add(struct watch *w, int fd);

/* The connection is about to be closed; the peer must not be used any more. */
void watch_remove(struct watch *w, struct peer *peer);

/* The connection is in this phase from now on. */
void peer_enter(struct peer *peer, enum phase phase);

/* The connections whose next request may be on its way: a part of it is there, or they
 * are new or were used within the last `recent_ms`. */
size_t watch_expected(struct watch *w, unsigned recent_ms);

/* The pause between two looks at the connections, the last of which took so long: short
 * enough that a hang-up ends a computation within 50 ms, and no more than a twenty-fifth
 * of a processor for thousands of connections. `answered_count`: those whose answer is
 * worked on. */
unsigned watch_pause_ms(size_t answered_count, double look_ms);

/* From now on every computation is told to stop. */
void watch_cancel_all(struct watch *w);

void watch_stats(struct watch *w, struct watch_stats *stats);

#endif
