/* worker.c - threads with a bounded queue before them. */
#include "service/worker.h"

#include "service/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { STACK_BYTES = 8 * 1024 * 1024 }; /* address space; only what is used is memory */

struct work {
    worker_fn *fn;
    void *context;
};

struct worker_pool {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    pthread_cond_t idle; /* nothing waits, nothing runs */
    char name[16];       /* what Linux allows for a thread */
    int nice;
    bool closing;
    size_t thread_count;
    pthread_t *threads;
    size_t queue_length;
    size_t first; /* of the ring `queue` */
    /* Written under the lock, read atomically without. */
    size_t waiting_count;
    size_t running_count;
    struct work queue[];
};

static void count(size_t *counter, size_t value)
{
    __atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

/* The next work; false when the pool is closing and nothing is left. */
static bool take(struct worker_pool *pool, struct work *work)
{
    while (pool->waiting_count == 0 && !pool->closing)
        pthread_cond_wait(&pool->not_empty, &pool->lock);
    if (pool->waiting_count == 0)
        return false;
    *work = pool->queue[pool->first];
    pool->first = (pool->first + 1) % pool->queue_length;
    count(&pool->waiting_count, pool->waiting_count - 1);
    count(&pool->running_count, pool->running_count + 1);
    return true;
}

static void *thread_main(void *context)
{
    struct worker_pool *pool = context;
    struct work work;

    pthread_setname_np(pthread_self(), pool->name);
    if (pool->nice) /* on Linux this is the thread's own */
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + pool->nice);
    pthread_mutex_lock(&pool->lock);
    while (take(pool, &work)) {
        pthread_mutex_unlock(&pool->lock);
        work.fn(work.context);
        pthread_mutex_lock(&pool->lock);
        count(&pool->running_count, pool->running_count - 1);
        if (pool->running_count == 0 && pool->waiting_count == 0)
            pthread_cond_broadcast(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static bool start_threads(struct worker_pool *pool, size_t thread_count)
{
    pthread_attr_t attributes;
    bool ok;

    pthread_attr_init(&attributes);
    ok = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0;
    while (ok && pool->thread_count < thread_count) {
        ok = pthread_create(&pool->threads[pool->thread_count], &attributes, thread_main,
                            pool) == 0;
        if (ok)
            pool->thread_count++;
    }
    pthread_attr_destroy(&attributes);
    return ok;
}

struct worker_pool *worker_pool_create(const char *name, size_t thread_count,
                                       size_t queue_length, int nice)
{
    struct worker_pool *pool;
    pthread_condattr_t monotonic;

    pool = calloc(1, sizeof(*pool) + queue_length * sizeof(pool->queue[0]));
    if (!pool)
        return NULL;
    pool->queue_length = queue_length;
    pool->nice = nice;
    snprintf(pool->name, sizeof(pool->name), "%s", name);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->not_empty, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->idle, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pool->threads = calloc(thread_count, sizeof(*pool->threads));
    if (!pool->threads || !start_threads(pool, thread_count)) {
        worker_pool_close(pool);
        return NULL;
    }
    return pool;
}

bool worker_submit(struct worker_pool *pool, worker_fn *fn, void *context)
{
    bool taken;

    pthread_mutex_lock(&pool->lock);
    taken = pool->waiting_count < pool->queue_length && !pool->closing;
    if (taken) {
        size_t at = (pool->first + pool->waiting_count) % pool->queue_length;

        pool->queue[at] = (struct work){fn, context};
        count(&pool->waiting_count, pool->waiting_count + 1);
    }
    pthread_mutex_unlock(&pool->lock);
    if (taken)
        pthread_cond_signal(&pool->not_empty);
    return taken;
}

bool worker_is_full(const struct worker_pool *pool)
{
    return worker_waiting_count(pool) >= pool->queue_length;
}

size_t worker_waiting_count(const struct worker_pool *pool)
{
    return pool ? __atomic_load_n(&pool->waiting_count, __ATOMIC_RELAXED) : 0;
}

size_t worker_running_count(const struct worker_pool *pool)
{
    return pool ? __atomic_load_n(&pool->running_count, __ATOMIC_RELAXED) : 0;
}

bool worker_pool_drain(struct worker_pool *pool, double limit_s)
{
    double end_s = clock_monotonic_s() + limit_s;
    struct timespec end;
    bool idle;

    end.tv_sec = (time_t)end_s;
    end.tv_nsec = (long)((end_s - (double)end.tv_sec) * 1e9);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        idle = pool->waiting_count == 0 && pool->running_count == 0;
        if (idle || pthread_cond_timedwait(&pool->idle, &pool->lock, &end) == ETIMEDOUT)
            break;
    }
    pthread_mutex_unlock(&pool->lock);
    return idle;
}

void worker_pool_close(struct worker_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_broadcast(&pool->not_empty);
    for (size_t i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    free(pool->threads);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->not_empty);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
