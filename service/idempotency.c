/* idempotency.c - requests with an Idempotency-Key that compute for long.
 *
 * One mutex guards the lists; no statement is sent and nothing of a request is called
 * while it is held, but for waiter->wake(), which only puts something into a queue.
 */
#include "service/idempotency.h"

#include "service/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    RENEWALS = 3,                 /* of a lease, before it ends */
    RENEW_ARENA_BYTES = 16 << 20, /* for the ids of all attempts */
    BUCKETS = 1024,               /* of the keys kept here */
};

static const double LONGEST_SLEEP_S = 3600;

/* A key that is kept here, and its answer. */
struct kept {
    struct kept *next;          /* of its bucket */
    struct kept *newer, *older; /* by last use */
    unsigned char request_sha256[SHA256_BYTES];
    char owner_id[UUID_TEXT_SIZE];
    bool is_done;
    double until_s; /* monotonic clock: when it is forgotten */
    size_t bytes;
    struct store_answer answer; /* its texts are one block behind `texts` */
    char *texts;
    char name[]; /* tenant NUL key NUL route NUL */
};

struct idempotency {
    struct idempotency_options options;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool closing;
    bool failing; /* the thread's: the last renewal failed, and that was said */
    double renew_at_s;
    struct held_key *held;
    struct waiter *waiting;
    struct idempotency_stats stats;
    struct kept *buckets[BUCKETS];
    struct kept *newest, *oldest;
    struct governor_lease lease; /* for stats.key_bytes */
};

static void set(bool *flag)
{
    __atomic_store_n(flag, true, __ATOMIC_RELAXED);
}

/* ---- attempts ---- */

double idempotency_lease_s(const struct idempotency *i)
{
    return i->options.lease_s;
}

void idempotency_hold(struct idempotency *i, struct held_key *key)
{
    if (!i)
        return;
    pthread_mutex_lock(&i->mutex);
    key->lost = false;
    key->previous = NULL;
    key->next = i->held;
    if (i->held)
        i->held->previous = key;
    if (!i->held) { /* the thread sleeps longer without any */
        i->renew_at_s = clock_monotonic_s() + i->options.lease_s / RENEWALS;
        pthread_cond_signal(&i->wake);
    }
    i->held = key;
    key->is_held = true;
    i->stats.held_count++;
    pthread_mutex_unlock(&i->mutex);
}

void idempotency_let_go(struct idempotency *i, struct held_key *key)
{
    if (!i || !key->is_held)
        return;
    pthread_mutex_lock(&i->mutex);
    if (key->next)
        key->next->previous = key->previous;
    if (key->previous)
        key->previous->next = key->next;
    else
        i->held = key->next;
    key->is_held = false;
    i->stats.held_count--;
    pthread_mutex_unlock(&i->mutex);
}

/* "{uuid,uuid}" of all that are held, NULL for none or without memory. */
static char *list_owners(struct idempotency *i, struct arena *a)
{
    char *text = NULL, *to;

    pthread_mutex_lock(&i->mutex);
    if (i->held)
        text = TRY_NEW(a, char, i->stats.held_count *UUID_TEXT_SIZE + 2);
    to = text;
    for (const struct held_key *k = i->held; text && k; k = k->next) {
        *to = to == text ? '{' : ',';
        memcpy(to + 1, k->owner_id, UUID_TEXT_SIZE - 1);
        to += UUID_TEXT_SIZE;
    }
    if (text)
        *to = '}';
    pthread_mutex_unlock(&i->mutex);
    return text;
}

static bool is_among(const char *owner_id, const struct store_owner *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].owner_id, owner_id) == 0)
            return true;
    return false;
}

/* What was asked about and has not been renewed is lost. */
static void note_lost(struct idempotency *i, const char *asked,
                      const struct store_owner *list, size_t count)
{
    pthread_mutex_lock(&i->mutex);
    for (struct held_key *k = i->held; k; k = k->next) {
        if (!strstr(asked, k->owner_id) || is_among(k->owner_id, list, count))
            continue;
        set(&k->lost);
        if (k->cancelled)
            set(k->cancelled);
    }
    pthread_mutex_unlock(&i->mutex);
}

/* Without the database nothing is renewed, and nobody else can take over either. */
static void renew(struct idempotency *i)
{
    struct arena *a = arena_create(RENEW_ARENA_BYTES);
    const char *asked = a ? list_owners(i, a) : NULL;
    struct db_session *s = asked ? db_session_create(i->options.db, NULL, a) : NULL;
    struct error err = {.code = OK};
    struct store_owner *list;
    size_t count;

    if (s) {
        if (store_attempts_renew(s, asked, i->options.lease_s, &list, &count, a, &err) ==
            OK)
            note_lost(i, asked, list, count);
        if (err.code != OK && !i->failing && i->options.log)
            i->options.log(i->options.log_context, err.text);
        i->failing = err.code != OK;
        db_session_close(s);
    }
    arena_close(a);
}

/* ---- who waits ---- */

bool idempotency_wait(struct idempotency *i, struct waiter *waiter, double delay_s)
{
    bool taken;

    if (!i)
        return false;
    pthread_mutex_lock(&i->mutex);
    taken = !i->closing;
    if (taken) {
        waiter->due_s = clock_monotonic_s() + delay_s;
        waiter->next = i->waiting;
        i->waiting = waiter;
        i->stats.waiting_count++;
        pthread_cond_signal(&i->wake);
    }
    pthread_mutex_unlock(&i->mutex);
    return taken;
}

/* Takes those that are due out of the list; mutex held. */
static struct waiter *take_due(struct idempotency *i, double now_s)
{
    struct waiter *due = NULL;

    for (struct waiter **at = &i->waiting; *at;) {
        struct waiter *w = *at;

        if (w->due_s > now_s) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        w->next = due;
        due = w;
        i->stats.waiting_count--;
    }
    return due;
}

/* ---- the thread ---- */

/* When there is something to do; mutex held. */
static double next_due_s(const struct idempotency *i, double now_s)
{
    double due_s = now_s + LONGEST_SLEEP_S;

    for (const struct waiter *w = i->waiting; w; w = w->next)
        due_s = fmin(due_s, w->due_s);
    return i->held && i->options.db ? fmin(due_s, i->renew_at_s) : due_s;
}

static void sleep_until(struct idempotency *i, double due_s)
{
    struct timespec until = {(time_t)due_s, (long)((due_s - floor(due_s)) * 1e9)};

    pthread_cond_timedwait(&i->wake, &i->mutex, &until);
}

static void *work(void *context)
{
    struct idempotency *i = context;

    pthread_setname_np(pthread_self(), "idempotency");
    pthread_mutex_lock(&i->mutex);
    while (!i->closing) {
        double now_s = clock_monotonic_s();
        struct waiter *due = take_due(i, now_s);
        bool renews = i->held && i->options.db && now_s >= i->renew_at_s;

        if (!due && !renews) {
            sleep_until(i, next_due_s(i, now_s));
            continue;
        }
        if (renews)
            i->renew_at_s = now_s + i->options.lease_s / RENEWALS;
        pthread_mutex_unlock(&i->mutex);
        while (due) {
            struct waiter *w = due;

            due = w->next; /* whoever is woken may be gone at once */
            w->wake(w);
        }
        if (renews)
            renew(i);
        pthread_mutex_lock(&i->mutex);
    }
    pthread_mutex_unlock(&i->mutex);
    return NULL;
}

/* ---- counts ---- */

void idempotency_stats(struct idempotency *i, struct idempotency_stats *stats)
{
    pthread_mutex_lock(&i->mutex);
    *stats = i->stats;
    pthread_mutex_unlock(&i->mutex);
}

static void count(struct idempotency *i, uint64_t *counter)
{
    if (!i)
        return;
    pthread_mutex_lock(&i->mutex);
    ++*counter;
    pthread_mutex_unlock(&i->mutex);
}

void idempotency_count_replay(struct idempotency *i)
{
    count(i, i ? &i->stats.replay_count : NULL);
}

void idempotency_count_takeover(struct idempotency *i)
{
    count(i, i ? &i->stats.takeover_count : NULL);
}

/* ---- keys without a database; all with the mutex held ---- */

static size_t name_size(const struct store_attempt *t)
{
    return strlen(t->tenant) + strlen(t->key) + strlen(t->route) + 3;
}

/* "tenant NUL key": of two requests with it one is refused, whatever their routes. */
static bool is_named(const struct kept *k, const struct store_attempt *t)
{
    return strcmp(k->name, t->tenant) == 0 &&
           strcmp(k->name + strlen(t->tenant) + 1, t->key) == 0;
}

static const char *route_of(const struct kept *k)
{
    const char *key = k->name + strlen(k->name) + 1;

    return key + strlen(key) + 1;
}

static struct kept **bucket_of(struct idempotency *i, const char *tenant, const char *key)
{
    size_t hash = 5381;

    for (const char *p = tenant; *p; p++)
        hash = hash * 33 + (unsigned char)*p;
    for (const char *p = key; *p; p++)
        hash = hash * 33 + (unsigned char)*p;
    return &i->buckets[hash % BUCKETS];
}

static void unlink_age(struct idempotency *i, struct kept *k)
{
    if (k->newer)
        k->newer->older = k->older;
    else
        i->newest = k->older;
    if (k->older)
        k->older->newer = k->newer;
    else
        i->oldest = k->newer;
}

static void link_newest(struct idempotency *i, struct kept *k)
{
    k->newer = NULL;
    k->older = i->newest;
    if (i->newest)
        i->newest->newer = k;
    else
        i->oldest = k;
    i->newest = k;
}

static void release_kept(struct kept *k)
{
    free(k->texts);
    free(k);
}

/* What make_room() took. */
static void return_room(struct idempotency *i, size_t bytes)
{
    i->stats.key_bytes -= bytes;
    if (i->options.governor)
        governor_give(i->options.governor, &i->lease, bytes);
}

static void forget(struct idempotency *i, struct kept *k)
{
    struct kept **at = bucket_of(i, k->name, k->name + strlen(k->name) + 1);

    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
    unlink_age(i, k);
    return_room(i, k->bytes);
    i->stats.key_count--;
    release_kept(k);
}

static struct kept *find(struct idempotency *i, const struct store_attempt *t)
{
    struct kept *k = *bucket_of(i, t->tenant, t->key);

    while (k && !is_named(k, t))
        k = k->next;
    if (k && k->is_done && clock_monotonic_s() > k->until_s) {
        forget(i, k);
        k = NULL;
    }
    return k;
}

static bool is_too_much(const struct idempotency *i, size_t bytes, size_t more_keys)
{
    return i->stats.key_bytes + bytes > i->options.key_bytes ||
           i->stats.key_count + more_keys > i->options.key_count;
}

/* The answer that has not been used for longest; NULL: there is none. */
static struct kept *oldest_answer(const struct idempotency *i)
{
    struct kept *k = i->oldest;

    while (k && !k->is_done)
        k = k->newer;
    return k;
}

static bool borrow(struct idempotency *i, size_t bytes)
{
    static const struct governor_who keys = {.owner.name = "(keys)"};

    return !i->options.governor || governor_work_take(i->options.governor, &keys,
                                                      &i->lease, bytes) == GOVERNOR_OK;
}

/* Forgets answers, the longest unused first, until one more key of `bytes` fits, and
 * takes that. False: there is no room. */
static bool make_room(struct idempotency *i, size_t bytes, size_t more_keys)
{
    while (is_too_much(i, bytes, more_keys) || !borrow(i, bytes)) {
        struct kept *oldest = oldest_answer(i);

        if (!oldest)
            return false;
        forget(i, oldest);
    }
    i->stats.key_bytes += bytes;
    return true;
}

static void keep(struct idempotency *i, const struct store_attempt *t)
{
    size_t size = sizeof(struct kept) + name_size(t);
    struct kept **bucket = bucket_of(i, t->tenant, t->key);
    struct kept *k;
    char *to;

    if (!make_room(i, size, 1))
        return;
    k = calloc(1, size);
    if (!k) {
        return_room(i, size);
        return;
    }
    to = stpcpy(k->name, t->tenant) + 1;
    to = stpcpy(to, t->key) + 1;
    strcpy(to, t->route);
    memcpy(k->request_sha256, t->request_sha256.data, SHA256_BYTES);
    strcpy(k->owner_id, t->owner_id);
    k->bytes = size;
    k->next = *bucket;
    *bucket = k;
    link_newest(i, k);
    i->stats.key_count++;
}

static enum error_code copy_answer(const struct store_answer *from,
                                   struct store_answer *to, struct arena *a,
                                   struct error *err)
{
    const char *body = (const char *)from->body.data;
    const char *texts[] = {from->content_type, from->location, from->etag};
    const char **copies[] = {&to->content_type, &to->location, &to->etag};

    *to = *from;
    for (size_t t = 0; t < 3; t++)
        if (texts[t] && !(*copies[t] = arena_try_text(a, texts[t], strlen(texts[t]))))
            return fail_memory(err);
    to->body.data =
        (const unsigned char *)arena_try_text(a, body ? body : "", from->body.length);
    return to->body.data ? OK : fail_memory(err);
}

static enum error_code reserve_locked(struct idempotency *i,
                                      const struct store_attempt *t,
                                      enum attempt_state *state, struct store_answer *out,
                                      struct arena *a, struct error *err)
{
    struct kept *k = find(i, t);

    if (!k) {
        keep(i, t);
        k = find(i, t);
        *state = k ? ATTEMPT_OURS : ATTEMPT_FREE;
        return OK;
    }
    if (strcmp(route_of(k), t->route) != 0 ||
        !hash_equal(k->request_sha256, t->request_sha256.data, SHA256_BYTES))
        return fail_key_reused(err);
    *state = k->is_done                              ? ATTEMPT_DONE
             : strcmp(k->owner_id, t->owner_id) == 0 ? ATTEMPT_OURS
                                                     : ATTEMPT_RUNNING;
    if (!k->is_done)
        return OK;
    unlink_age(i, k);
    link_newest(i, k);
    return copy_answer(&k->answer, out, a, err);
}

enum error_code memory_reserve(struct idempotency *i, const struct store_attempt *attempt,
                               enum attempt_state *state, struct store_answer *out,
                               struct arena *a, struct error *err)
{
    enum error_code code;

    *state = ATTEMPT_FREE;
    if (!i)
        return OK;
    pthread_mutex_lock(&i->mutex);
    code = reserve_locked(i, attempt, state, out, a, err);
    pthread_mutex_unlock(&i->mutex);
    return code;
}

static size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

static const char *put_text(char **to, const char *text)
{
    const char *at = *to;

    if (!text)
        return NULL;
    *to = stpcpy(*to, text) + 1;
    return at;
}

void memory_publish(struct idempotency *i, const struct store_attempt *attempt,
                    const struct store_answer *answer)
{
    size_t size = text_size(answer->content_type) + text_size(answer->location) +
                  text_size(answer->etag) + answer->body.length + 1;
    struct kept *k;
    char *to;

    if (!i)
        return;
    pthread_mutex_lock(&i->mutex);
    k = find(i, attempt);
    if (k && !k->is_done && strcmp(k->owner_id, attempt->owner_id) == 0) {
        bool has_room = make_room(i, size, 0);

        k->texts = to = has_room ? malloc(size) : NULL;
        if (has_room)
            k->bytes += size;
        if (to) {
            k->answer.status = answer->status;
            k->answer.content_type = put_text(&to, answer->content_type);
            k->answer.location = put_text(&to, answer->location);
            k->answer.etag = put_text(&to, answer->etag);
            if (answer->body.length)
                memcpy(to, answer->body.data, answer->body.length);
            to[answer->body.length] = '\0';
            k->answer.body =
                (struct db_bytes){(const unsigned char *)to, answer->body.length};
            k->is_done = true;
            k->until_s = clock_monotonic_s() + i->options.kept_s;
        } else {
            forget(i, k); /* too large to be kept */
        }
    }
    pthread_mutex_unlock(&i->mutex);
}

void memory_release(struct idempotency *i, const char *owner_id)
{
    struct kept *k;

    if (!i)
        return;
    pthread_mutex_lock(&i->mutex);
    k = i->newest; /* what runs is among the latest */
    while (k && (k->is_done || strcmp(k->owner_id, owner_id) != 0))
        k = k->older;
    if (k)
        forget(i, k);
    pthread_mutex_unlock(&i->mutex);
}

/* ---- start and stop ---- */

static void release(struct idempotency *i)
{
    for (struct kept *k = i->newest, *older; k; k = older) {
        older = k->older; /* without the governor, which has ended */
        release_kept(k);
    }
    pthread_cond_destroy(&i->wake);
    pthread_mutex_destroy(&i->mutex);
    free(i);
}

enum error_code idempotency_create(const struct idempotency_options *options,
                                   struct idempotency **out, struct error *err)
{
    struct idempotency *i = calloc(1, sizeof(*i));
    pthread_condattr_t monotonic;

    if (!i)
        return fail_memory(err);
    i->options = *options;
    if (options->governor) {
        struct governor_stats stats;

        governor_stats(options->governor, &stats);
        if (i->options.key_bytes > stats.pool_bytes[GOVERNOR_WORK] / 4)
            i->options.key_bytes = stats.pool_bytes[GOVERNOR_WORK] / 4;
    }
    pthread_mutex_init(&i->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&i->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&i->thread, NULL, work, i) != 0) {
        release(i);
        return fail(err, ERR_INTERNAL, "", "cannot start the thread of waiting requests");
    }
    *out = i;
    return OK;
}

void idempotency_close(struct idempotency *i)
{
    if (!i)
        return;
    pthread_mutex_lock(&i->mutex);
    i->closing = true;
    pthread_cond_signal(&i->wake);
    pthread_mutex_unlock(&i->mutex);
    pthread_join(i->thread, NULL);
    release(i);
}
