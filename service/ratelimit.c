/* ratelimit.c - a token bucket for each key or address.
 *
 * A hash table in shards, each with its own lock and no chains: a name may live
 * in any slot of its window of WINDOW slots. A full window gives up the bucket
 * that will be full first; a bucket that is full is as good as none.
 */
#include "service/ratelimit.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { SHARDS = 16, WINDOW = 8, NAME_SIZE = 144 };

struct bucket {
    char name[NAME_SIZE]; /* "" free */
    double level_count;   /* requests left at `at_s` */
    double at_s;
    double full_at_s;
};

struct shard {
    pthread_mutex_t lock;
    struct bucket *buckets;
};

struct ratelimit {
    uint64_t salt; /* so that nobody can choose names that collide */
    size_t shard_size;
    struct shard shards[SHARDS];
};

struct ratelimit *ratelimit_create(size_t bucket_count)
{
    struct ratelimit *limits = calloc(1, sizeof(*limits));

    if (!limits)
        return NULL;
    if (getrandom(&limits->salt, sizeof(limits->salt), GRND_NONBLOCK) < 0)
        limits->salt = (uint64_t)(uintptr_t)limits;
    limits->shard_size = bucket_count / SHARDS + WINDOW;
    for (size_t i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&limits->shards[i].lock, NULL);
        limits->shards[i].buckets =
            calloc(limits->shard_size, sizeof(*limits->shards[i].buckets));
        if (!limits->shards[i].buckets) {
            ratelimit_close(limits);
            return NULL;
        }
    }
    return limits;
}

void ratelimit_close(struct ratelimit *limits)
{
    if (!limits)
        return;
    for (size_t i = 0; i < SHARDS && limits->shards[i].buckets; i++) {
        free(limits->shards[i].buckets);
        pthread_mutex_destroy(&limits->shards[i].lock);
    }
    free(limits);
}

static uint64_t hash(uint64_t salt, const char *name)
{
    uint64_t h = salt;

    for (size_t i = 0; i < NAME_SIZE - 1 && name[i]; i++) {
        h = (h ^ (unsigned char)name[i]) * 0x9e3779b97f4a7c15;
        h ^= h >> 29;
    }
    return h;
}

/* The bucket of the name; a fresh one, full, if there was none. */
static struct bucket *find(struct shard *shard, size_t first, size_t size,
                           const char *name, double burst_count, double now_s)
{
    struct bucket *spare = NULL;

    for (size_t i = 0; i < WINDOW; i++) {
        struct bucket *b = &shard->buckets[(first + i) % size];

        if (strncmp(b->name, name, NAME_SIZE - 1) == 0)
            return b;
        if (!spare || b->full_at_s < spare->full_at_s)
            spare = b;
    }
    strncpy(spare->name, name, NAME_SIZE - 1);
    spare->level_count = burst_count;
    spare->at_s = now_s;
    return spare;
}

/* Seconds until one more request is left, as if the bucket had room for it. */
static double next_s(const struct bucket *b, double rate_per_s)
{
    return (floor(b->level_count) + 1 - b->level_count) / rate_per_s;
}

/* Takes `count` (-1: gives one, 0: looks) if that many are left. */
static bool take(struct ratelimit *limits, const char *name, double rate_per_s,
                 double burst_count, double now_s, double count,
                 struct ratelimit_state *state)
{
    uint64_t h = hash(limits->salt, name);
    struct shard *shard = &limits->shards[h % SHARDS];
    struct bucket *b;
    bool allowed;

    pthread_mutex_lock(&shard->lock);
    b = find(shard, (size_t)(h / SHARDS % limits->shard_size), limits->shard_size, name,
             burst_count, now_s);
    if (now_s > b->at_s)
        b->level_count += (now_s - b->at_s) * rate_per_s;
    b->level_count = fmin(b->level_count, burst_count);
    b->at_s = fmax(b->at_s, now_s);
    allowed = b->level_count >= count;
    if (allowed)
        b->level_count = fmin(b->level_count - count, burst_count);
    b->full_at_s = now_s + (burst_count - b->level_count) / rate_per_s;
    *state = (struct ratelimit_state){
        .limit_count = burst_count,
        .remaining_count = floor(b->level_count),
        .reset_s = next_s(b, rate_per_s),
        .retry_after_s = b->level_count >= 1 ? 0 : (1 - b->level_count) / rate_per_s,
        .window_s = burst_count / rate_per_s,
    };
    pthread_mutex_unlock(&shard->lock);
    return allowed;
}

bool ratelimit_take(struct ratelimit *limits, const char *name, double rate_per_s,
                    double burst_count, double now_s, struct ratelimit_state *state)
{
    return take(limits, name, rate_per_s, burst_count, now_s, 1, state);
}

void ratelimit_give(struct ratelimit *limits, const char *name, double rate_per_s,
                    double burst_count, double now_s)
{
    struct ratelimit_state state;

    take(limits, name, rate_per_s, burst_count, now_s, -1, &state);
}

void ratelimit_look(struct ratelimit *limits, const char *name, double rate_per_s,
                    double burst_count, double now_s, struct ratelimit_state *state)
{
    take(limits, name, rate_per_s, burst_count, now_s, 0, state);
}
