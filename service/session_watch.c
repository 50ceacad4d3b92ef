/* session_watch.c - requests that wait until a workflow session has changed. */
#include "service/session_watch.h"

#include "service/clock.h"
#include "service/idempotency.h"
#include "service/store_session.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_ARENA_BYTES = 16 << 20, LOOK_PAUSES = 4 };

struct session_watch {
    struct session_watch_options options;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    struct session_waiter *first;
    size_t count;
    double took_s;         /* to ask, the last time */
    bool looking;          /* without the usual pause */
    bool closing, failing; /* the latter: the last question failed, and that was said */
};

static bool is_set(const bool *flag)
{
    return flag && __atomic_load_n(flag, __ATOMIC_RELAXED);
}

bool session_watch_wait(struct session_watch *w, struct session_waiter *waiter)
{
    bool taken;

    if (!w)
        return false;
    pthread_mutex_lock(&w->mutex);
    taken = !w->closing && w->count < w->options.most;
    if (taken) {
        waiter->next = w->first;
        w->first = waiter;
        w->count++;
        pthread_cond_signal(&w->wake);
    }
    pthread_mutex_unlock(&w->mutex);
    return taken;
}

void session_watch_look(struct session_watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->mutex);
    w->looking = w->count > 0;
    if (w->looking)
        pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mutex);
}

size_t session_watch_count(struct session_watch *w)
{
    size_t count;

    pthread_mutex_lock(&w->mutex);
    count = w->count;
    pthread_mutex_unlock(&w->mutex);
    return count;
}

/* ---- the question ---- */

/* What is asked about: a row for each who waits. Their texts do not change meanwhile, as
 * only this thread ends their waiting. */
static struct store_session_version *list_asked(struct session_watch *w, size_t *count,
                                                struct arena *a)
{
    struct store_session_version *list;

    pthread_mutex_lock(&w->mutex);
    list = TRY_NEW(a, struct store_session_version, w->count + 1);
    *count = 0;
    for (const struct session_waiter *x = w->first; list && x; x = x->next)
        list[(*count)++] =
            (struct store_session_version){.tenant = x->tenant,
                                           .session_id = x->session_id,
                                           .number = (uint64_t)(uintptr_t)x};
    pthread_mutex_unlock(&w->mutex);
    return list;
}

static bool has_changed(const struct session_waiter *x,
                        const struct store_session_version *now)
{
    return x->revision != now->revision || x->world_version != now->world_version ||
           x->plan_revision != now->plan_revision;
}

/* Marks who is to be woken by a time that is over. One that is not answered about has no
 * session any more. */
static void judge(const struct store_session_version *asked, size_t asked_count,
                  const struct store_session_version *now, size_t count)
{
    for (size_t i = 0; i < asked_count; i++)
        ((struct session_waiter *)(uintptr_t)asked[i].number)->is_set = false;
    for (size_t i = 0; i < count; i++) {
        struct session_waiter *x = (struct session_waiter *)(uintptr_t)now[i].number;

        x->is_set = !has_changed(x, &now[i]);
    }
}

/* While the database is away nothing is known to have changed. */
static void ask(struct session_watch *w)
{
    struct arena *a = arena_create(ASK_ARENA_BYTES);
    struct store_session_version *asked, *now = NULL;
    struct error err = {.code = OK};
    struct db_session *s = NULL;
    size_t asked_count = 0, count = 0;

    asked = a ? list_asked(w, &asked_count, a) : NULL;
    if (asked)
        s = db_session_create(w->options.db, NULL, a);
    if (s && asked_count > 0) {
        if (store_session_versions(s, asked, asked_count, &now, &count, a, &err) == OK)
            judge(asked, asked_count, now, count);
        if (err.code != OK && !w->failing && w->options.log)
            w->options.log(w->options.log_context, err.text);
        w->failing = err.code != OK;
    }
    db_session_close(s);
    arena_close(a);
}

/* ---- the thread ---- */

/* Takes out of the list who is to be woken; mutex held. */
static struct session_waiter *take_due(struct session_watch *w)
{
    bool all = is_set(w->options.draining) || w->closing;
    double now_s = clock_monotonic_s();
    struct session_waiter *due = NULL;

    for (struct session_waiter **at = &w->first; *at;) {
        struct session_waiter *x = *at;

        if (!all && x->is_set && x->until_s > now_s && !is_set(x->cancelled)) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        x->next = due;
        due = x;
        w->count--;
    }
    return due;
}

/* Until it is time to ask, or somebody looks: then for LOOK_PAUSES times as long as the
 * last question took, so that a storm of events does not become one of questions. */
static void pause_on(struct session_watch *w)
{
    double began_s = clock_monotonic_s();
    double late_s = began_s + WATCH_POLL_S, soon_s = began_s + LOOK_PAUSES * w->took_s;

    while (!w->closing) {
        double until_s = w->looking ? fmin(soon_s, late_s) : late_s;
        struct timespec until = {(time_t)until_s,
                                 (long)((until_s - floor(until_s)) * 1e9)};

        if (clock_monotonic_s() >= until_s)
            break;
        pthread_cond_timedwait(&w->wake, &w->mutex, &until);
    }
    w->looking = false;
}

static void *work(void *context)
{
    struct session_watch *w = context;
    double began_s;

    pthread_setname_np(pthread_self(), "sessions");
    pthread_mutex_lock(&w->mutex);
    while (!w->closing || w->first) {
        struct session_waiter *due;

        if (!w->first) {
            pthread_cond_wait(&w->wake, &w->mutex);
            continue;
        }
        pause_on(w);
        pthread_mutex_unlock(&w->mutex);
        began_s = clock_monotonic_s();
        ask(w);
        pthread_mutex_lock(&w->mutex);
        w->took_s = clock_monotonic_s() - began_s;
        due = take_due(w);
        pthread_mutex_unlock(&w->mutex);
        while (due) {
            struct waiter *waiter = due->waiter;

            due = due->next; /* whoever is woken may be gone at once */
            waiter->wake(waiter);
        }
        pthread_mutex_lock(&w->mutex);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

enum error_code session_watch_create(const struct session_watch_options *options,
                                     struct session_watch **out, struct error *err)
{
    struct session_watch *w = calloc(1, sizeof(*w));
    pthread_condattr_t attributes;

    if (!w)
        return fail_memory(err);
    w->options = *options;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&w->thread, NULL, work, w) != 0) {
        pthread_cond_destroy(&w->wake);
        pthread_mutex_destroy(&w->mutex);
        free(w);
        return fail(err, ERR_INTERNAL, "", "no thread for sessions that are waited for");
    }
    *out = w;
    return OK;
}

void session_watch_close(struct session_watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->mutex);
    w->closing = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}
