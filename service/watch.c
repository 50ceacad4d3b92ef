/* watch.c - the open connections, and a thread that looks after them. */
#include "service/watch.h"

#include "service/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PAUSE_BUSY_MS = 10, /* between two looks while somebody's answer is worked on, */
    PAUSE_IDLE_MS = 25, /* while nobody's is, */
    PAUSE_MOST_MS = 50, /* and at most: */
    PAUSE_RATIO = 25,   /* a look takes no more of a processor than one part of so many */
    PHASE_BITS = 3,
    LINGER_MAX = 64, /* closed connections that are still drained */
    LINGER_MS = 2000,
    LINGER_READ_BYTES = 16 * 1024,
    LINGER_READS = 256,    /* of each, in one tick */
    NEW_KEPT_MS = 1000,    /* a new connection is not closed to make room */
    TRIM_PEERS = 1000,     /* when so many have gone, memory is given back */
    TRIM_EVERY_MS = 60000, /* and as often as this whatever happens */
};

struct lingering {
    int fd;
    uint64_t until_ms;
};

struct watch {
    struct watch_limits limits;
    pthread_mutex_t lock; /* of the list, the counts and `lingering` */
    pthread_cond_t stopped;
    pthread_t thread;
    bool stopping, cancel_all;
    struct peer *first;
    struct watch_stats stats;
    struct lingering lingering[LINGER_MAX];
    size_t lingering_count;
    /* The thread's own. */
    struct peer **chosen; /* room for all peers */
    struct pollfd *polled;
    size_t chosen_size;
    size_t peak_count;
    uint64_t trimmed_ms; /* when memory was given back last */
};

unsigned watch_pause_ms(size_t answered_count, double look_ms)
{
    double pause_ms = answered_count > 0 ? PAUSE_BUSY_MS : PAUSE_IDLE_MS;

    return (unsigned)fmin(PAUSE_MOST_MS, fmax(pause_ms, PAUSE_RATIO * look_ms));
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- the state of a peer: phase and time in one number ---- */

void peer_enter(struct peer *peer, enum phase phase)
{
    __atomic_store_n(&peer->state, now_ms() << PHASE_BITS | phase, __ATOMIC_RELAXED);
}

static enum phase phase_of(const struct peer *peer, uint64_t *since_ms)
{
    uint64_t state = __atomic_load_n(&peer->state, __ATOMIC_RELAXED);

    *since_ms = state >> PHASE_BITS;
    return (enum phase)(state & ((1 << PHASE_BITS) - 1));
}

/* ---- what the thread does, each under the lock ---- */

static void shut(struct peer *peer)
{
    peer_enter(peer, PHASE_CLOSING);
    shutdown(peer->fd, SHUT_RDWR);
}

static bool is_slow(const struct watch *w, const struct peer *peer, uint64_t now)
{
    size_t bytes = __atomic_load_n(&peer->bytes, __ATOMIC_RELAXED);
    uint64_t since;
    double limit_s;

    switch (phase_of(peer, &since)) {
    case PHASE_HEADER:
        limit_s = w->limits.header_s;
        break;
    case PHASE_IDLE:
        limit_s = w->limits.idle_s;
        break;
    case PHASE_BODY:
    case PHASE_REPLY:
        limit_s = w->limits.transfer_s + (double)bytes / w->limits.transfer_bytes_per_s;
        break;
    default:
        return false;
    }
    return now > since && (double)(now - since) > limit_s * 1e3;
}

static int older_first(const void *a, const void *b)
{
    uint64_t x, y;

    phase_of(*(struct peer *const *)a, &x);
    phase_of(*(struct peer *const *)b, &y);
    return (x > y) - (x < y);
}

/* Closes the longest idle ones until a tenth more than needed is free. */
static void make_room(struct watch *w, uint64_t now)
{
    size_t open = 0, count = 0, wanted = w->limits.peers_max - w->limits.peers_max / 5;

    if (w->stats.peer_count <= w->limits.peers_max - w->limits.peers_max / 10)
        return;
    for (struct peer *p = w->first; p; p = p->next) {
        uint64_t since;
        enum phase phase = phase_of(p, &since);

        open += phase != PHASE_CLOSING;
        if (phase == PHASE_IDLE || (phase == PHASE_HEADER && now > since + NEW_KEPT_MS))
            w->chosen[count++] = p;
    }
    qsort(w->chosen, count, sizeof(*w->chosen), older_first);
    for (size_t i = 0; i < count && open > wanted; i++, open--) {
        shut(w->chosen[i]);
        w->stats.idle_count++;
    }
}

/* Closes those that are too slow; the number of those that workers answer, which
 * go into the lists. One walk: it is what thousands of connections cost. */
static size_t look_at_all(struct watch *w, uint64_t now)
{
    size_t count = 0;

    for (struct peer *p = w->first; p; p = p->next) {
        uint64_t since;

        if (phase_of(p, &since) == PHASE_RUNNING) {
            w->polled[count] = (struct pollfd){.fd = p->fd, .events = POLLRDHUP};
            w->chosen[count++] = p;
        } else if (is_slow(w, p, now)) {
            shut(p);
            w->stats.slow_count++;
        }
    }
    return count;
}

/* Tells the computations in the lists whose clients have hung up, or all. */
static void cancel(struct watch *w, size_t count)
{
    if (count == 0 || poll(w->polled, count, 0) < 0)
        return;
    for (size_t i = 0; i < count; i++) {
        bool gone = w->polled[i].revents & (POLLRDHUP | POLLHUP | POLLERR);

        if ((gone || w->cancel_all) &&
            !__atomic_exchange_n(&w->chosen[i]->cancelled, true, __ATOMIC_RELAXED))
            w->stats.gone_count += gone;
    }
}

/* A connection that is closed with unread bytes makes the client's kernel drop
 * the reply: read on for a moment. */
static void drain_lingering(struct watch *w, uint64_t now)
{
    char nowhere[LINGER_READ_BYTES];

    for (size_t i = 0; i < w->lingering_count;) {
        struct lingering *l = &w->lingering[i];
        ssize_t n = 1;

        for (int k = 0; k < LINGER_READS && n > 0; k++)
            n = recv(l->fd, nowhere, sizeof(nowhere), MSG_DONTWAIT);
        if (now < l->until_ms && (n > 0 || (n < 0 && errno == EAGAIN))) {
            i++;
            continue;
        }
        close(l->fd);
        *l = w->lingering[--w->lingering_count];
    }
}

/* Room to choose from as many peers as there are; false: not this time. */
static bool make_lists(struct watch *w)
{
    size_t size = w->stats.peer_count * 2;
    struct peer **chosen;
    struct pollfd *polled;

    if (w->stats.peer_count <= w->chosen_size)
        return true;
    chosen = realloc(w->chosen, size * sizeof(*chosen));
    if (chosen)
        w->chosen = chosen;
    polled = realloc(w->polled, size * sizeof(*polled));
    if (polled)
        w->polled = polled;
    if (!chosen || !polled)
        return false;
    w->chosen_size = size;
    return true;
}

/* The number of those that workers answer. */
static size_t tick(struct watch *w)
{
    uint64_t now = now_ms();
    size_t count;

    drain_lingering(w, now);
    if (!make_lists(w))
        return 0;
    count = look_at_all(w, now);
    cancel(w, count);
    make_room(w, now);
    return count;
}

/* The C library keeps what closed connections and finished work leave scattered; under a
 * steady load each of its heaps creeps up to the worst mixture there ever was. After a
 * crowd, and once a minute, give the free pages back to the system. */
static void trim(struct watch *w)
{
    size_t count = w->stats.peer_count;
    uint64_t now = now_ms();
    bool crowd_gone;

    if (count > w->peak_count)
        w->peak_count = count;
    crowd_gone = w->peak_count >= TRIM_PEERS && count <= w->peak_count / 2;
    if (!crowd_gone && now - w->trimmed_ms < TRIM_EVERY_MS)
        return;
    w->trimmed_ms = now;
    if (crowd_gone)
        w->peak_count = count;
    pthread_mutex_unlock(&w->lock);
    malloc_trim(0);
    pthread_mutex_lock(&w->lock);
}

static void *thread_main(void *context)
{
    struct watch *w = context;

    pthread_setname_np(pthread_self(), "watch");
    pthread_mutex_lock(&w->lock);
    while (!w->stopping) {
        double began_s = clock_thread_cpu_s();
        size_t count = tick(w);
        unsigned pause_ms = watch_pause_ms(count, 1e3 * (clock_thread_cpu_s() - began_s));
        struct timespec until;

        trim(w);
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)pause_ms * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->stopped, &w->lock, &until);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- the interface ---- */

struct watch *watch_create(const struct watch_limits *limits)
{
    struct watch *w = calloc(1, sizeof(*w));
    pthread_condattr_t monotonic;

    if (!w)
        return NULL;
    w->limits = *limits;
    w->trimmed_ms = now_ms();
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->stopped, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&w->thread, NULL, thread_main, w) != 0) {
        pthread_cond_destroy(&w->stopped);
        pthread_mutex_destroy(&w->lock);
        free(w);
        return NULL;
    }
    return w;
}

void watch_close(struct watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_mutex_unlock(&w->lock);
    pthread_cond_signal(&w->stopped);
    pthread_join(w->thread, NULL);
    for (size_t i = 0; i < w->lingering_count; i++)
        close(w->lingering[i].fd);
    pthread_cond_destroy(&w->stopped);
    pthread_mutex_destroy(&w->lock);
    free(w->chosen);
    free(w->polled);
    free(w);
}

struct peer *watch_add(struct watch *w, int fd)
{
    struct peer *peer = calloc(1, sizeof(*peer));

    if (!peer)
        return NULL;
    peer->fd = fd;
    peer_enter(peer, PHASE_HEADER);
    pthread_mutex_lock(&w->lock);
    peer->next = w->first;
    if (w->first)
        w->first->previous = peer;
    w->first = peer;
    w->stats.peer_count++;
    pthread_mutex_unlock(&w->lock);
    return peer;
}

/* Keeps the connection open, for us only, to read what still comes. */
static void linger(struct watch *w, int fd)
{
    int copy;

    if (w->lingering_count == LINGER_MAX)
        return;
    copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return;
    shutdown(copy, SHUT_WR);
    w->lingering[w->lingering_count++] = (struct lingering){copy, now_ms() + LINGER_MS};
}

void watch_remove(struct watch *w, struct peer *peer)
{
    pthread_mutex_lock(&w->lock);
    if (peer->linger)
        linger(w, peer->fd);
    if (peer->next)
        peer->next->previous = peer->previous;
    if (peer->previous)
        peer->previous->next = peer->next;
    else
        w->first = peer->next;
    w->stats.peer_count--;
    pthread_mutex_unlock(&w->lock);
    free(peer);
}

static bool is_expected(const struct peer *peer, uint64_t now, unsigned recent_ms)
{
    uint64_t since;
    enum phase phase = phase_of(peer, &since);
    int unread = 0;

    if (phase != PHASE_HEADER && phase != PHASE_IDLE)
        return false;
    return now < since + recent_ms ||
           (ioctl(peer->fd, FIONREAD, &unread) == 0 && unread > 0);
}

size_t watch_expected(struct watch *w, unsigned recent_ms)
{
    uint64_t now = now_ms();
    size_t count = 0;

    pthread_mutex_lock(&w->lock);
    for (const struct peer *p = w->first; p; p = p->next)
        count += is_expected(p, now, recent_ms);
    pthread_mutex_unlock(&w->lock);
    return count;
}

void watch_cancel_all(struct watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->cancel_all = true;
    pthread_mutex_unlock(&w->lock);
}

void watch_stats(struct watch *w, struct watch_stats *stats)
{
    pthread_mutex_lock(&w->lock);
    *stats = w->stats;
    pthread_mutex_unlock(&w->lock);
}
