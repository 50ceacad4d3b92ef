/* world/buckets_create.c - which jobs are alike.
 *
 * A key of each job: the exponents of its needs, of its time the exponent to base 4, and
 * whether its times go by speed. Equal keys make a bucket. Where that makes too many, the
 * time goes out of the key, then needs are told apart by fewer bits.
 */
#include "algorithms/world/buckets_parts.h"

#include <string.h>

/* How fine keys are. */
struct grain {
    bool by_time;
    unsigned shift; /* bits that are dropped of an exponent */
};

/* Buckets in the making: a table of keys. */
struct maker {
    struct board *b;
    struct buckets *t;
    unsigned char *keys; /* of bucket i: [i * key_size] */
    size_t key_size, count_max;
    uint32_t *slots; /* bucket + 1; 0: free */
    size_t slot_count;
    double speed_min; /* of those that run anything; HUGE_VAL: none does */
};

static bool has_bucket(const struct world_job *j)
{
    return j->nodes == 1 && j->barred == WORLD_WAIT_NONE;
}

/* Nothing but work and speed makes the job's times, and how long it holds. */
static bool is_related(const struct maker *m, size_t job)
{
    const struct world *w = m->b->w;
    const struct world_job *j = &w->jobs[job];

    return !j->etc_s && j->estimate_ref_s >= 0 && m->speed_min < HUGE_VAL &&
           (j->time_limit_s == HUGE_VAL ||
            (!w->plan_with_limit && j->estimate_ref_s / m->speed_min <= j->time_limit_s));
}

static double least_run_s(const struct maker *m, size_t job)
{
    const struct world *w = m->b->w;
    const struct world_job *j = &w->jobs[job];
    double least_s = HUGE_VAL;

    if (!j->etc_s && !isnan(j->estimate_ref_s))
        return m->t->speed_max > 0
                   ? fmin(j->estimate_ref_s / m->t->speed_max, j->time_limit_s)
                   : HUGE_VAL;
    if (!j->etc_s)
        return fmin(j->estimate_s, j->time_limit_s);
    for (size_t i = 0; i < w->resource_count; i++)
        least_s = fmin(least_s, world_run_s(w, j, i));
    budget_step(w->budget, w->resource_count);
    return least_s;
}

/* What stands for the job's time in its bucket. */
static double corner_of(const struct maker *m, size_t job)
{
    const struct world *w = m->b->w;

    if (is_related(m, job))
        return w->jobs[job].estimate_ref_s;
    return world_held_s(w, &w->jobs[job], m->t->least_s[job]);
}

static unsigned char time_class(double corner_s, const struct grain *g)
{
    int exponent;

    if (!(corner_s > 0))
        return 0;
    frexp(corner_s, &exponent);
    exponent = exponent / 2 + 128;
    return (unsigned char)(!g->by_time      ? 1
                           : exponent < 1   ? 1
                           : exponent > 255 ? 255
                                            : exponent);
}

static void key_of(const struct maker *m, size_t job, const struct grain *g,
                   unsigned char *key)
{
    const struct board *b = m->b;
    const int64_t *needs = b->w->jobs[job].needs;

    key[0] = is_related(m, job);
    key[1] = time_class(corner_of(m, job), g);
    for (size_t k = 0; k < b->row_count; k++) {
        int64_t need = needs[b->rows[k]];
        int bits = need > 0 ? 63 - __builtin_clzll((unsigned long long)need) : 0;

        key[k + 2] = (unsigned char)(need > 0 ? 1 + (bits >> g->shift) : 0);
    }
}

/* The key's bucket, perhaps a new one; SIZE_MAX: there are too many. */
static size_t bucket_of(struct maker *m, const unsigned char *key)
{
    uint64_t hash = 14695981039346656037u;
    size_t slot;

    for (size_t i = 0; i < m->key_size; i++)
        hash = (hash ^ key[i]) * 1099511628211u;
    for (slot = hash % m->slot_count; m->slots[slot]; slot = (slot + 1) % m->slot_count)
        if (memcmp(m->keys + (m->slots[slot] - 1) * m->key_size, key, m->key_size) == 0)
            return m->slots[slot] - 1;
    if (m->t->count == m->count_max)
        return SIZE_MAX;
    memcpy(m->keys + m->t->count * m->key_size, key, m->key_size);
    m->slots[slot] = (uint32_t)++m->t->count;
    return m->t->count - 1;
}

/* Gives each job its bucket; false: there are too many. */
static bool sort_jobs(struct maker *m, const struct grain *g)
{
    const struct world *w = m->b->w;
    unsigned char key[AMOUNTS_MAX + 2] = {0};

    m->t->count = 0;
    memset(m->slots, 0, m->slot_count * sizeof(*m->slots));
    for (size_t i = 0; i < w->job_count; i++) {
        size_t at;

        if (!has_bucket(&w->jobs[i]))
            continue;
        key_of(m, i, g, key);
        at = bucket_of(m, key);
        if (at == SIZE_MAX)
            return false;
        m->t->of_job[i] = (uint32_t)at;
        budget_step(w->budget, 2 * m->key_size);
    }
    return true;
}

static void take_corners(struct maker *m)
{
    struct board *b = m->b;
    struct buckets *t = m->t;

    t->list = NEW(b->a, struct bucket, t->count);
    t->corners = NEW(b->a, int64_t, t->count * b->row_count);
    for (size_t i = 0; i < t->count; i++)
        t->list[i].corner_s = HUGE_VAL;
    for (size_t i = 0; i < t->count * b->row_count; i++)
        t->corners[i] = INT64_MAX;
    for (size_t i = 0; i < b->w->job_count; i++) {
        const struct world_job *j = &b->w->jobs[i];
        struct bucket *at = &t->list[t->of_job[i]];
        int64_t *corner = t->corners + t->of_job[i] * b->row_count;

        if (!has_bucket(j))
            continue;
        at->is_related = is_related(m, i);
        at->corner_s = fmin(at->corner_s, corner_of(m, i));
        for (size_t k = 0; k < b->row_count; k++) {
            int64_t need = j->needs[b->rows[k]];

            need = need > 0 ? need : INT64_MIN;
            corner[k] = need < corner[k] ? need : corner[k];
        }
        budget_step(b->w->budget, 2 * b->row_count);
    }
}

static void take_resources(struct board *b, struct buckets *t)
{
    const struct world *w = b->w;

    t->speed = NEW(b->a, double, t->block_count);
    t->index = NEW(b->a, size_t, t->block_count);
    t->capacity = NEW(b->a, int64_t, w->resource_count * b->row_count);
    for (size_t i = 0; i < t->block_count; i++)
        t->index[i] = SIZE_MAX;
    for (size_t i = 0; i < w->resource_count; i++) {
        const struct world_resource *r = &w->resources[i];
        size_t block = i / BUCKETS_BLOCK;

        t->speed[block] = fmax(t->speed[block], r->speed);
        t->index[block] = r->index < t->index[block] ? r->index : t->index[block];
        for (size_t k = 0; k < b->row_count; k++)
            t->capacity[i * b->row_count + k] = r->capacity[b->rows[k]];
        budget_step(w->budget, b->row_count + 2);
    }
}

/* Sorts jobs into buckets, coarser ones until there are few enough. */
static bool make_buckets(struct maker *m, struct arena *scratch)
{
    const struct world *w = m->b->w;
    struct grain g = {.by_time = true};

    m->keys = NEW(scratch, unsigned char, m->count_max * m->key_size);
    m->slots = NEW(scratch, uint32_t, m->slot_count);
    m->speed_min = HUGE_VAL;
    for (size_t i = 0; i < w->resource_count; i++) {
        double speed = w->resources[i].speed;

        m->t->speed_max = fmax(m->t->speed_max, speed);
        m->speed_min = speed > 0 ? fmin(m->speed_min, speed) : m->speed_min;
    }
    for (size_t i = 0; i < w->job_count; i++)
        m->t->least_s[i] = is_related(m, i) ? 0 : least_run_s(m, i);
    while (!sort_jobs(m, &g)) {
        if (!g.by_time && ++g.shift > 6)
            return false;
        g.by_time = false;
    }
    return true;
}

void buckets_create(struct board *b)
{
    const struct world *w = b->w;
    struct buckets *t;
    struct maker m = {.b = b, .key_size = b->row_count + 2};
    struct arena *scratch;
    bool made;

    if (w->resource_count < BUCKETS_RESOURCES_MIN)
        return;
    t = m.t = NEW(b->a, struct buckets, 1);
    t->block_count = (w->resource_count + BUCKETS_BLOCK - 1) / BUCKETS_BLOCK;
    m.count_max =
        BUCKETS_BYTES_MAX / ((w->resource_count + t->block_count) * sizeof(*t->first_s));
    m.count_max = m.count_max < BUCKETS_MAX ? m.count_max : BUCKETS_MAX;
    m.slot_count = 2 * m.count_max + 1;
    t->of_job = NEW(b->a, uint32_t, w->job_count);
    t->least_s = NEW(b->a, double, w->job_count);
    scratch = arena_create_beside(b->a, arena_cap_bytes(b->a));
    made = make_buckets(&m, scratch);
    arena_close(scratch);
    if (!made)
        return;
    take_corners(&m);
    take_resources(b, t);
    t->first_s = NEW(b->a, double, t->count * w->resource_count);
    t->blocks_s = NEW(b->a, double, t->count * t->block_count);
    b->buckets = t;
}

/* The corner may run there on its own. */
static bool is_large_enough(const struct board *b, const struct buckets *t, size_t bucket,
                            size_t position)
{
    const int64_t *corner = t->corners + bucket * b->row_count;
    const int64_t *capacity = t->capacity + position * b->row_count;

    for (size_t k = 0; k < b->row_count; k++)
        if (corner[k] > capacity[k])
            return false;
    return !t->list[bucket].is_related || b->w->resources[position].speed > 0;
}

void buckets_fill(struct board *b)
{
    struct buckets *t = b->buckets;
    size_t count = b->w->resource_count;

    for (size_t i = 0; i < t->count; i++) {
        double *first_s = t->first_s + i * count,
               *blocks_s = t->blocks_s + i * t->block_count;

        for (size_t k = 0; k < t->block_count; k++)
            blocks_s[k] = HUGE_VAL;
        for (size_t k = 0; k < count; k++) {
            first_s[k] = is_large_enough(b, t, i, k) ? 0 : HUGE_VAL;
            if (first_s[k] < HUGE_VAL)
                blocks_s[k / BUCKETS_BLOCK] = 0;
            budget_step(b->w->budget, 4);
        }
    }
    t->is_known = true;
}

void buckets_forget_at(struct board *b, size_t position)
{
    struct buckets *t = b->buckets;

    for (size_t i = 0; i < t->count && t->is_known; i++) {
        if (!is_large_enough(b, t, i, position))
            continue;
        t->first_s[i * b->w->resource_count + position] = 0;
        t->blocks_s[i * t->block_count + position / BUCKETS_BLOCK] = 0;
        budget_step(b->w->budget, 4);
    }
}

void buckets_forget(struct board *b)
{
    if (b->buckets)
        b->buckets->is_known = false;
}
