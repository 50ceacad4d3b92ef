/* cpu_quota.c - seconds of processor that keys and tenants may use in an hour. */
#include "service/cpu_quota.h"

#include "service/clock.h"
#include "service/log.h"
#include "service/store_quota.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SLOTS = 1024,                  /* of the hash table; buckets of a slot are a list */
    SYNC_ARENA_BYTES = 256 * 1024, /* of one statement's session */
};

static const double HOUR_S = 3600;

/* ---- one bucket ---- */

struct cpu_bucket cpu_bucket_make(double cap_s, double now_s)
{
    return (struct cpu_bucket){.cap_s = cap_s, .level_s = cap_s, .at_s = now_s};
}

void cpu_bucket_refill(struct cpu_bucket *b, double cap_s, double now_s)
{
    if (now_s > b->at_s)
        b->level_s += (now_s - b->at_s) * b->cap_s / HOUR_S;
    b->at_s = fmax(b->at_s, now_s);
    b->cap_s = cap_s;
    b->level_s = fmin(b->level_s, cap_s);
}

/* Seconds, rounded up, until the level has risen by `missing_s`. */
static double wait_s(const struct cpu_bucket *b, double missing_s)
{
    /* A level that is a hair below a whole second, by rounding, is that second. */
    return fmax(1, ceil(missing_s * HOUR_S / b->cap_s - 1e-9));
}

struct cpu_state cpu_bucket_state(const struct cpu_bucket *b)
{
    double whole_s = floor(b->level_s);
    bool is_full = b->level_s >= b->cap_s;

    return (struct cpu_state){
        .limit_s = b->cap_s,
        .remaining_s = fmax(0, whole_s),
        .reset_s = wait_s(b, is_full ? 1 : whole_s + 1 - b->level_s),
        .retry_after_s = b->level_s >= 1 ? 0 : wait_s(b, 1 - b->level_s),
    };
}

/* ---- the buckets of a process ---- */

struct named_bucket {
    struct cpu_bucket bucket;
    bool is_known; /* the database has said what is left */
    struct named_bucket *next;
    const char *key_id; /* behind the tenant */
    char tenant[];
};

struct cpu_quota {
    struct db *db;
    double sync_s;
    pthread_mutex_t syncing; /* held before the other one: one at a time sends */
    pthread_mutex_t mutex;   /* of all below */
    pthread_cond_t wake;
    bool woken; /* there is a new bucket */
    bool stopping;
    bool failing; /* the last statement failed: say it once */
    pthread_t thread;
    struct named_bucket *slots[SLOTS];
};

static size_t slot_of(const char *tenant, const char *key_id)
{
    uint64_t h = 1469598103934665603u;

    for (const char *p = tenant; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    h *= 31;
    for (const char *p = key_id; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    return (size_t)(h >> 32) % SLOTS;
}

/* Under the mutex. NULL: there is none. */
static struct named_bucket *find(struct cpu_quota *q, const char *tenant,
                                 const char *key_id)
{
    struct named_bucket *b = q->slots[slot_of(tenant, key_id)];

    while (b && (strcmp(b->tenant, tenant) != 0 || strcmp(b->key_id, key_id) != 0))
        b = b->next;
    return b;
}

/* Under the mutex; NULL without memory. Buckets are as many as keys and tenants that
 * have a quota and have shown themselves: they stay. */
static struct named_bucket *make(struct cpu_quota *q, const char *tenant,
                                 const char *key_id, double cap_s)
{
    size_t tenant_bytes = strlen(tenant) + 1, key_bytes = strlen(key_id) + 1;
    struct named_bucket **slot = &q->slots[slot_of(tenant, key_id)];
    struct named_bucket *b = malloc(sizeof(*b) + tenant_bytes + key_bytes);

    if (!b)
        return NULL;
    memcpy(b->tenant, tenant, tenant_bytes);
    memcpy(b->tenant + tenant_bytes, key_id, key_bytes);
    b->key_id = b->tenant + tenant_bytes;
    b->bucket = cpu_bucket_make(cap_s, clock_monotonic_s());
    b->is_known = false;
    q->woken = q->db != NULL;
    pthread_cond_signal(&q->wake);
    b->next = *slot;
    *slot = b;
    return b;
}

bool cpu_quota_look(struct cpu_quota *q, const char *tenant, const char *key_id,
                    double cap_s, struct cpu_state *state)
{
    struct named_bucket *b;

    *state = (struct cpu_state){cap_s, floor(cap_s), 1, 0};
    if (!q)
        return true;
    pthread_mutex_lock(&q->mutex);
    b = find(q, tenant, key_id);
    if (!b)
        b = make(q, tenant, key_id, cap_s);
    if (b) {
        cpu_bucket_refill(&b->bucket, cap_s, clock_monotonic_s());
        *state = cpu_bucket_state(&b->bucket);
    }
    pthread_mutex_unlock(&q->mutex);
    return state->retry_after_s == 0;
}

void cpu_quota_charge(struct cpu_quota *q, const char *tenant, const char *key_id,
                      double used_s)
{
    struct named_bucket *b;

    if (!q || !(used_s > 0))
        return;
    pthread_mutex_lock(&q->mutex);
    b = find(q, tenant, key_id);
    if (b) {
        b->bucket.level_s -= used_s;
        b->bucket.unsent_s += used_s;
    }
    pthread_mutex_unlock(&q->mutex);
}

/* ---- the database ---- */

/* One statement; *level_s is what all replicas have left. */
static bool send(struct cpu_quota *q, const struct named_bucket *b, double cap_s,
                 double used_s, double *level_s)
{
    struct arena *a = arena_create(SYNC_ARENA_BYTES);
    struct db_session *session = a ? db_session_create(q->db, NULL, a) : NULL;
    struct error err = {.code = OK};
    bool sent =
        session && store_quota_spend(session, b->tenant, b->key_id, cap_s, cap_s / HOUR_S,
                                     used_s, level_s, a, &err) == OK;

    if (!sent && !q->failing)
        log_write(LOG_WARNING, "seconds of processor used are not shared now: %s",
                  err.text);
    q->failing = !sent;
    db_session_close(session);
    arena_close(a);
    return sent;
}

/* Under the mutex, which is open while the statement runs. */
static void sync_one(struct cpu_quota *q, struct named_bucket *b)
{
    double cap_s = b->bucket.cap_s, used_s = b->bucket.unsent_s, level_s = 0;
    bool sent;

    if (b->is_known && !(used_s > 0))
        return;
    pthread_mutex_unlock(&q->mutex);
    sent = send(q, b, cap_s, used_s, &level_s);
    pthread_mutex_lock(&q->mutex);
    if (!sent)
        return;
    b->is_known = true;
    b->bucket.unsent_s -= used_s; /* what was used meanwhile is left */
    b->bucket.level_s = level_s - b->bucket.unsent_s;
    b->bucket.at_s = clock_monotonic_s();
}

/* Under the mutex. Buckets are only ever added, in front. */
static void sync_all(struct cpu_quota *q)
{
    for (size_t i = 0; q->db && i < SLOTS; i++)
        for (struct named_bucket *b = q->slots[i]; b; b = b->next)
            sync_one(q, b);
}

void cpu_quota_sync(struct cpu_quota *q)
{
    pthread_mutex_lock(&q->syncing);
    pthread_mutex_lock(&q->mutex);
    sync_all(q);
    pthread_mutex_unlock(&q->mutex);
    pthread_mutex_unlock(&q->syncing);
}

static void *sync_main(void *context)
{
    struct cpu_quota *q = context;

    pthread_setname_np(pthread_self(), "cpu-quota");
    pthread_mutex_lock(&q->mutex);
    while (!q->stopping) {
        struct timespec until;
        double end_s = clock_monotonic_s() + q->sync_s;

        until.tv_sec = (time_t)end_s;
        until.tv_nsec = (long)((end_s - (double)until.tv_sec) * 1e9);
        while (!q->stopping && !q->woken &&
               pthread_cond_timedwait(&q->wake, &q->mutex, &until) == 0)
            ;
        q->woken = false;
        pthread_mutex_unlock(&q->mutex);
        cpu_quota_sync(q);
        pthread_mutex_lock(&q->mutex);
    }
    pthread_mutex_unlock(&q->mutex);
    return NULL;
}

struct cpu_quota *cpu_quota_create(struct db *db, double sync_s)
{
    struct cpu_quota *q = calloc(1, sizeof(*q));
    pthread_condattr_t monotonic;

    if (!q)
        return NULL;
    q->db = db;
    q->sync_s = sync_s;
    pthread_mutex_init(&q->mutex, NULL);
    pthread_mutex_init(&q->syncing, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&q->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&q->thread, NULL, sync_main, q) != 0) {
        pthread_cond_destroy(&q->wake);
        pthread_mutex_destroy(&q->syncing);
        pthread_mutex_destroy(&q->mutex);
        free(q);
        return NULL;
    }
    return q;
}

void cpu_quota_close(struct cpu_quota *q)
{
    if (!q)
        return;
    pthread_mutex_lock(&q->mutex);
    q->stopping = true;
    pthread_cond_signal(&q->wake);
    pthread_mutex_unlock(&q->mutex);
    pthread_join(q->thread, NULL);
    for (size_t i = 0; i < SLOTS; i++)
        while (q->slots[i]) {
            struct named_bucket *b = q->slots[i];

            q->slots[i] = b->next;
            free(b);
        }
    pthread_cond_destroy(&q->wake);
    pthread_mutex_destroy(&q->syncing);
    pthread_mutex_destroy(&q->mutex);
    free(q);
}
