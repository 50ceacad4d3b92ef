/* governor.c - the threads behind the slots, and the mutex around the decisions of
 * governor_core.h.
 *
 * A thread sleeps on a condition variable of its own: without a job, or with one that is
 * parked. Threads beyond the slots are made when they are needed. One more thread looks
 * now and then at what waits: for a client that has gone, for queue_wait_s.
 */
#include "service/governor.h"

#include "service/admission.h"
#include "service/clock.h"
#include "service/config.h"
#include "service/governor_core.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
    STACK_BYTES = 8 * 1024 * 1024, /* address space; only what is used is memory */
    WOKEN_MAX = 8,
    COMPUTE_NICE = 10 /* searches on all processors must not slow down I/O */
};

static const double LOOK_LEAST_S = 0.001; /* reading the CPU clock costs 1.6 us */
static const double TICK_S = 0.05;

struct pool;

struct thread {
    struct pool *pool;
    pthread_t id;
    pthread_cond_t wake;
    struct governor_job *job; /* what it runs; NULL: idle */
    double cpu_s;             /* the thread's: what its CPU clock said last */
    struct thread *next;      /* of the idle ones */
};

struct pool {
    struct governor *governor;
    enum governor_queue queue;
    struct governor_queue_options options;
    struct thread **threads; /* room for options.thread_count */
    size_t thread_count;
    struct thread *idle;
};

struct governor {
    pthread_mutex_t mutex; /* of all below */
    struct governor_core core;
    struct pool pools[GOVERNOR_QUEUES];
    pthread_t timer;
    bool has_timer;
    pthread_cond_t timer_wake;        /* something waits, or all is to end */
    bool timer_sleeps;                /* until timer_wake: nothing waits */
    bool closing;                     /* takes no more */
    bool ended;                       /* the timer is to end */
    pthread_cond_t *woken[WOKEN_MAX]; /* to be signalled once the mutex is free */
    size_t woken_count;
};

static void lock(struct governor *g)
{
    pthread_mutex_lock(&g->mutex);
}

static void signal_woken(struct governor *g)
{
    for (size_t i = 0; i < g->woken_count; i++)
        pthread_cond_signal(g->woken[i]);
    g->woken_count = 0;
}

/* Who is woken while the mutex is held would only wait for it: they are told now. */
static void unlock(struct governor *g)
{
    pthread_cond_t *woken[WOKEN_MAX];
    size_t count = g->woken_count;

    memcpy(woken, g->woken, count * sizeof(woken[0]));
    g->woken_count = 0;
    pthread_mutex_unlock(&g->mutex);
    for (size_t i = 0; i < count; i++)
        pthread_cond_signal(woken[i]);
}

static void wake(struct governor *g, pthread_cond_t *condition)
{
    if (g->woken_count == WOKEN_MAX)
        signal_woken(g);
    g->woken[g->woken_count++] = condition;
}

static void condition_open(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* Waits, at most until `until_s`; HUGE_VAL: for ever. */
static void wait_on(struct governor *g, pthread_cond_t *condition, double until_s)
{
    struct timespec until;

    signal_woken(g);
    if (until_s >= 1e12) {
        pthread_cond_wait(condition, &g->mutex);
        return;
    }
    until.tv_sec = (time_t)until_s;
    until.tv_nsec = (long)((until_s - floor(until_s)) * 1e9);
    pthread_cond_timedwait(condition, &g->mutex, &until);
}

/* What the job has used since its last charge; on its thread. A query: the time in which
 * it holds a connection, or waits for one. A computation: CPU seconds. To read their
 * clock costs as much as a small decision spends in the governor, so that it is read only
 * for jobs that last: what the thread has used since it was read last, and what has
 * passed, are bounds of the first charge; what ends sooner is charged what has passed. */
static double take_used_s(struct governor_job *job, double now_s)
{
    struct thread *t = job->thread;
    double passed_s = now_s - job->begun_s, clock_s;

    job->begun_s = now_s;
    if (job->queue != GOVERNOR_COMPUTE || passed_s < LOOK_LEAST_S)
        return passed_s;
    clock_s = clock_thread_cpu_s();
    passed_s = fmin(passed_s, clock_s - t->cpu_s);
    t->cpu_s = clock_s;
    return passed_s;
}

/* ---- threads; all under the mutex ---- */

static void *thread_main(void *context);

static bool add_thread(struct pool *pool)
{
    struct thread *t = calloc(1, sizeof(*t));
    pthread_attr_t attributes;
    bool ok;

    if (!t)
        return false;
    t->pool = pool;
    condition_open(&t->wake);
    pthread_attr_init(&attributes);
    ok = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
         pthread_create(&t->id, &attributes, thread_main, t) == 0;
    pthread_attr_destroy(&attributes);
    if (!ok) {
        pthread_cond_destroy(&t->wake);
        free(t);
        return false;
    }
    pool->threads[pool->thread_count++] = t;
    t->next = pool->idle;
    pool->idle = t;
    return true;
}

static struct governor_core_queue *queue_of(struct pool *pool)
{
    return &pool->governor->core.queues[pool->queue];
}

/* One thread more than have begun something, if anything waits: to park for. Without it
 * nobody is parked. */
static void make_spare(struct pool *pool)
{
    struct governor_core_queue *queue = queue_of(pool);

    if (queue->queued_count && !pool->idle &&
        pool->thread_count < pool->options.thread_count && add_thread(pool))
        queue->thread_count = pool->thread_count;
}

/* Fills the free slots. */
static void dispatch(struct pool *pool)
{
    struct governor *g = pool->governor;
    const struct governor_core_queue *queue = queue_of(pool);
    struct governor_job *job;

    if (queue->queued_count + queue->parked_count == 0)
        return;
    make_spare(pool);
    while ((job = core_next(&g->core, pool->queue, clock_monotonic_s()))) {
        if (!job->thread) { /* it begins: there is an idle one for it */
            struct thread *t = pool->idle;

            pool->idle = t->next;
            t->job = job;
            job->thread = t;
        }
        wake(g, &((struct thread *)job->thread)->wake);
        make_spare(pool);
    }
}

static bool is_waiting(const struct governor *g)
{
    size_t count = 0;

    for (size_t q = 0; q < GOVERNOR_QUEUES; q++)
        count += g->core.queues[q].queued_count + g->core.queues[q].parked_count;
    return count > 0;
}

static bool has_work(struct pool *pool)
{
    const struct governor_core_queue *queue = queue_of(pool);

    return queue->queued_count + queue->running_count + queue->ending_count +
               queue->parked_count >
           0;
}

static void wake_all(struct pool *pool)
{
    for (size_t i = 0; i < pool->thread_count; i++)
        wake(pool->governor, &pool->threads[i]->wake);
}

/* Memory or a slot has come free, or a job has come. */
static void dispatch_all(struct governor *g)
{
    for (size_t q = 0; q < GOVERNOR_QUEUES; q++) {
        dispatch(&g->pools[q]);
        if (g->closing && !has_work(&g->pools[q]))
            wake_all(&g->pools[q]); /* to end */
    }
    if (g->timer_sleeps && is_waiting(g))
        wake(g, &g->timer_wake);
}

/* Runs the thread's job to its end. The thread is free for the next before the caller is
 * told, which costs microseconds. */
static void run(struct thread *t)
{
    struct governor *g = t->pool->governor;
    struct governor_job *job = t->job;
    double now_s, used_s;
    bool is_again;

    unlock(g);
    job->looked_s = job->begun_s = clock_monotonic_s();
    job->run(job->context);
    now_s = clock_monotonic_s();
    used_s = take_used_s(job, now_s);
    lock(g);
    job->thread = NULL;
    is_again = core_end(&g->core, job, used_s, now_s);
    t->job = NULL;
    t->next = t->pool->idle;
    t->pool->idle = t;
    dispatch_all(g);
    if (is_again)
        return;
    unlock(g);
    job->ended(job->context, GOVERNOR_OK);
    lock(g);
}

static void *thread_main(void *context)
{
    struct thread *t = context;
    struct pool *pool = t->pool;
    struct governor *g = pool->governor;

    pthread_setname_np(pthread_self(), pool->options.name);
    if (pool->options.nice) /* on Linux this is the thread's own */
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + pool->options.nice);
    lock(g);
    while (t->job || !g->closing || has_work(pool)) {
        if (t->job)
            run(t);
        else
            wait_on(g, &t->wake, HUGE_VAL);
    }
    unlock(g);
    return NULL;
}

/* ---- what waits no longer ---- */

static void look_after(struct governor *g, enum governor_queue q)
{
    enum governor_answer answer;
    struct governor_job *job;

    while ((job = core_parked_overdue(&g->core, q, clock_monotonic_s())))
        wake(g, &((struct thread *)job->thread)->wake);
    while ((job = core_overdue(&g->core, q, clock_monotonic_s(), &answer))) {
        unlock(g);
        job->ended(job->context, answer);
        lock(g);
    }
}

static void *timer_main(void *context)
{
    struct governor *g = context;

    pthread_setname_np(pthread_self(), "governor");
    lock(g);
    while (!g->ended) {
        g->timer_sleeps = !is_waiting(g);
        wait_on(g, &g->timer_wake,
                g->timer_sleeps ? HUGE_VAL : clock_monotonic_s() + TICK_S);
        g->timer_sleeps = false;
        for (enum governor_queue q = 0; q < GOVERNOR_QUEUES; q++)
            look_after(g, q);
        dispatch_all(g);
    }
    unlock(g);
    return NULL;
}

/* ---- computing ---- */

enum governor_answer governor_submit(struct governor *g, const struct governor_who *who,
                                     struct governor_job *job)
{
    enum governor_answer answer = GOVERNOR_BUSY;

    lock(g);
    job->governor = g;
    job->thread = NULL;
    if (!g->closing)
        answer = core_submit(&g->core, who, job, clock_monotonic_s());
    if (answer == GOVERNOR_OK)
        dispatch_all(g);
    unlock(g);
    return answer;
}

/* Sleeps until the job has a slot again, or is to end. */
static void sleep_parked(struct governor *g, struct governor_job *job)
{
    struct thread *t = job->thread;

    dispatch_all(g);
    while (job->state == JOB_PARKED) {
        wait_on(g, &t->wake, job->deadline_s);
        if (job->state == JOB_PARKED && clock_monotonic_s() >= job->deadline_s)
            core_parked_end(&g->core, job);
    }
}

bool governor_look(struct governor_job *job, double now_s, double deadline_s,
                   bool may_park)
{
    struct governor *g;
    double used_s;
    bool has_slept;

    if (!job || now_s - job->looked_s < LOOK_LEAST_S)
        return false;
    g = job->governor;
    used_s = take_used_s(job, now_s);
    lock(g);
    make_spare(&g->pools[job->queue]);
    job->deadline_s = deadline_s;
    has_slept = core_look(&g->core, job, used_s, now_s, may_park);
    if (has_slept)
        sleep_parked(g, job);
    unlock(g);
    if (has_slept)
        job->begun_s = job->looked_s = clock_monotonic_s();
    else
        job->looked_s = now_s;
    return has_slept;
}

enum governor_answer governor_reserve(struct governor_job *job, size_t bytes)
{
    enum governor_answer answer;

    lock(job->governor);
    answer = core_reserve(&job->governor->core, job, bytes);
    unlock(job->governor);
    return answer;
}

enum governor_answer governor_grow(struct governor_job *job, size_t bytes)
{
    enum governor_answer answer;

    lock(job->governor);
    answer = core_grow(&job->governor->core, job, bytes);
    unlock(job->governor);
    return answer;
}

bool governor_is_full(struct governor *g, enum governor_queue queue)
{
    bool is_full;

    lock(g);
    is_full = g->core.queues[queue].queued_count >= g->core.queues[queue].queue_length;
    unlock(g);
    return is_full;
}

void governor_charge(struct governor *g, enum governor_queue queue,
                     const struct governor_who *who, double cpu_s)
{
    lock(g);
    core_charge(&g->core, queue, who, cpu_s);
    unlock(g);
}

struct governor_holding governor_holding(struct governor *g, const char *name,
                                         bool is_key)
{
    struct governor_holding holding;

    lock(g);
    holding = core_holding(&g->core, name, is_key);
    unlock(g);
    return holding;
}

int governor_retry_after_s(struct governor *g, enum governor_queue queue)
{
    int retry_s;

    lock(g);
    retry_s = core_retry_after_s(&g->core, queue);
    unlock(g);
    return retry_s;
}

/* ---- memory ---- */

enum governor_answer governor_body_check(struct governor *g,
                                         const struct governor_who *who, size_t bytes)
{
    enum governor_answer answer;

    lock(g);
    answer = core_body_check(&g->core, who, bytes);
    unlock(g);
    return answer;
}

enum governor_answer governor_body_take(struct governor *g,
                                        const struct governor_who *who,
                                        struct governor_lease *lease, size_t bytes)
{
    enum governor_answer answer;

    lock(g);
    answer = core_body_take(&g->core, who, lease, bytes);
    unlock(g);
    return answer;
}

enum governor_answer governor_work_take(struct governor *g,
                                        const struct governor_who *who,
                                        struct governor_lease *lease, size_t bytes)
{
    enum governor_answer answer;

    lock(g);
    answer = core_work_take(&g->core, who, lease, bytes);
    unlock(g);
    return answer;
}

void governor_give(struct governor *g, struct governor_lease *lease, size_t bytes)
{
    bool is_work = lease->pool == GOVERNOR_WORK;

    if (lease->bytes == 0)
        return;
    lock(g);
    core_give(&g->core, lease, bytes);
    if (is_work)
        dispatch_all(g);
    unlock(g);
}

/* ---- answers ---- */

enum error_code governor_fail(struct governor *g, enum governor_answer answer,
                              size_t bytes, struct error *err)
{
    switch (answer) {
    case GOVERNOR_TOO_LARGE:
        return fail(err, ERR_TOO_LARGE, "",
                    "%zu bytes of memory are more than one request can have here; see "
                    "the setting memory_bytes",
                    bytes);
    case GOVERNOR_QUOTA_MEMORY:
        err->violated_policy = POLICY_MEMORY;
        return fail(err, ERR_TOO_LARGE, "",
                    "%zu bytes of memory are more than your quota memory_bytes allows",
                    bytes);
    case GOVERNOR_QUOTA_CONCURRENT:
        err->violated_policy = POLICY_CONCURRENT;
        err->retry_after_s = 1;
        return fail(
            err, ERR_RATE_LIMITED, "",
            "as many computations of yours wait as may; try again in 1 s, or send "
            "several jobs in one request");
    case GOVERNOR_GONE:
        return fail(err, ERR_CANCELLED, "", "the client has gone");
    default:
        break;
    }
    err->retry_after_s = governor_retry_after_s(g, GOVERNOR_COMPUTE);
    if (bytes > 0)
        return fail(err, ERR_BUSY, "",
                    "other requests take the memory: no room for %zu bytes; try again in "
                    "%d s",
                    bytes, err->retry_after_s);
    return fail(err, ERR_BUSY, "", "too many requests are waiting; try again in %d s",
                err->retry_after_s);
}

void governor_stats(struct governor *g, struct governor_stats *stats)
{
    lock(g);
    core_stats(&g->core, stats);
    unlock(g);
}

/* ---- start and stop ---- */

struct governor_options governor_options_of(const struct config *config)
{
    return (struct governor_options){
        .memory_bytes = config->memory_bytes,
        .body_memory_ratio = config->body_memory_ratio,
        .body_bytes_max = config->total_body_bytes,
        .tenant_memory_ratio = config->tenant_memory_ratio,
        .quantum_s = config->fair_quantum_s,
        .queue_wait_s = config->queue_wait_s,
        .tenant_queue_length = config->tenant_queue_length,
        .queues = {
            [GOVERNOR_COMPUTE] = {"compute", config->compute_workers,
                                  config->compute_threads, config->compute_queue_length,
                                  COMPUTE_NICE},
            [GOVERNOR_QUERY] = {.name = "query",
                                .slot_count = config->query_workers,
                                .thread_count = config->query_workers,
                                .queue_length = config->query_queue_length},
        }};
}

static bool start(struct governor *g)
{
    bool ok = true;

    lock(g);
    for (size_t q = 0; q < GOVERNOR_QUEUES; q++) {
        struct pool *pool = &g->pools[q];

        pool->threads = calloc(pool->options.thread_count + 1, sizeof(struct thread *));
        while (ok && pool->thread_count < pool->options.slot_count)
            ok = pool->threads && add_thread(pool);
        queue_of(pool)->thread_count = pool->thread_count;
    }
    g->has_timer = ok && pthread_create(&g->timer, NULL, timer_main, g) == 0;
    unlock(g);
    return g->has_timer;
}

struct governor *governor_create(const struct governor_options *options)
{
    struct governor *g = calloc(1, sizeof(*g));

    if (!g)
        return NULL;
    pthread_mutex_init(&g->mutex, NULL);
    condition_open(&g->timer_wake);
    core_open(&g->core, options);
    for (size_t q = 0; q < GOVERNOR_QUEUES; q++) {
        g->pools[q].governor = g;
        g->pools[q].queue = (enum governor_queue)q;
        g->pools[q].options = options->queues[q];
    }
    if (start(g))
        return g;
    governor_close(g);
    return NULL;
}

static void close_pool(struct pool *pool)
{
    struct governor *g = pool->governor;
    size_t count;

    lock(g);
    wake_all(pool);
    unlock(g);
    for (size_t i = 0;; i++) { /* one more may have been made meanwhile */
        lock(g);
        count = pool->thread_count;
        unlock(g);
        if (i >= count)
            break;
        pthread_join(pool->threads[i]->id, NULL);
    }
}

static void release_pool(struct pool *pool)
{
    for (size_t i = 0; i < pool->thread_count; i++) {
        pthread_cond_destroy(&pool->threads[i]->wake);
        free(pool->threads[i]);
    }
    free(pool->threads);
}

void governor_close(struct governor *g)
{
    if (!g)
        return;
    lock(g);
    g->closing = true;
    unlock(g);
    for (size_t q = 0; q < GOVERNOR_QUEUES; q++)
        close_pool(&g->pools[q]);
    lock(g);
    g->ended = true;
    wake(g, &g->timer_wake);
    unlock(g);
    if (g->has_timer)
        pthread_join(g->timer, NULL);
    for (size_t q = 0; q < GOVERNOR_QUEUES; q++)
        release_pool(&g->pools[q]);
    core_close(&g->core);
    pthread_cond_destroy(&g->timer_wake);
    pthread_mutex_destroy(&g->mutex);
    free(g);
}
