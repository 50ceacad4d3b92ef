/* world/now_classes.c - ready jobs between which starting now makes no difference.
 *
 * Jobs of a class have equal needs, weights, tiers and resources, and hold them beyond
 * the same falls of what is free. Falls are counted for each speed; where there are many
 * speeds, equal run times are asked for instead.
 */
#include "algorithms/world/now_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPEEDS_MAX = 4, FALLS_MAX = 65000, CANNOT_RUN = 65535 };

/* What decides where and for how long a job fits, in numbers. */
struct signature {
    uint64_t time[3];
    size_t row;
};

struct grouping {
    struct now *n;
    size_t speeds[SPEEDS_MAX];    /* a position for each speed */
    size_t speed_count;           /* 0: run times as they are */
    size_t *table;                /* classes + 1 by hash; 0: empty */
    size_t table_size;            /* a power of 2, twice the classes at least */
    uint64_t *hashes;             /* by class */
    struct signature *signatures; /* by class */
    size_t room;                  /* of classes */
    size_t *class_of;             /* by ready job */
};

/* ---- what is ready ---- */

bool now_is_ready(const struct world_job *j)
{
    return j->barred == WORLD_WAIT_NONE && j->earliest_s <= 0 && j->after_count == 0 &&
           j->choice_count > 0;
}

int64_t now_alike(const struct now *n, size_t job)
{
    return n->in->counts ? (int64_t)n->in->counts[job] : 1;
}

/* > 0: the job comes before the tier. */
static int compare_tier(const struct now *n, const struct world_job *j, size_t rank)
{
    double a = n->tier_of[rank], b = n->priority_of[rank];

    if (j->tier != a)
        return j->tier > a ? 1 : -1;
    return j->priority == b ? 0 : j->priority > b ? 1 : -1;
}

static size_t rank_of(const struct now *n, const struct world_job *j)
{
    size_t rank = 0;

    while (rank < n->rank_count && compare_tier(n, j, rank) < 0)
        rank++;
    return rank;
}

/* The largest tiers; those below them share the last. */
static void note_tier(struct now *n, const struct world_job *j)
{
    size_t rank = rank_of(n, j), behind;

    if (rank == KNAPSACK_TIERS_MAX ||
        (rank < n->rank_count && compare_tier(n, j, rank) == 0))
        return;
    if (n->rank_count < KNAPSACK_TIERS_MAX)
        n->rank_count++;
    behind = n->rank_count - 1 - rank;
    memmove(n->tier_of + rank + 1, n->tier_of + rank, behind * sizeof(double));
    memmove(n->priority_of + rank + 1, n->priority_of + rank, behind * sizeof(double));
    n->tier_of[rank] = j->tier;
    n->priority_of[rank] = j->priority;
}

/* Whole weights as they are, others in millionths, both while their sum is exact. */
static void choose_scale(struct now *n, bool whole, double sum)
{
    const double exact = 9007199254740992.0; /* 2^53 */

    n->scale = whole ? 1 : 1e6;
    if (sum * n->scale + n->alike_count > exact) {
        n->scale = (exact / 2 - n->alike_count) / sum;
        n->rounded = true;
    }
}

/* In one pass: there may be many of them. */
static void collect_ready(struct now *n)
{
    const struct world *w = n->w;
    const struct world_plan *before = n->in->before;
    bool whole = true;
    double sum = 0;

    n->state = NEW(n->a, unsigned char, w->job_count);
    n->ready = NEW(n->a, size_t, w->job_count);
    for (size_t j = 0; j < w->job_count; j++) {
        const struct world_job *job = &w->jobs[j];

        if (before && before->placed[j].positions && before->placed[j].start_s <= 0)
            n->state[j] = NOW_PLACED;
        else if (now_is_ready(job))
            n->state[j] = NOW_READY;
        else
            continue;
        n->ready[n->ready_count++] = j;
        note_tier(n, job);
        whole &= job->weight == floor(job->weight);
        sum += job->weight * (double)now_alike(n, j);
        n->alike_count += (double)now_alike(n, j);
    }
    choose_scale(n, whole, sum);
}

/* ---- classes ---- */

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* A position for each speed, if there are few. */
static void choose_speeds(struct grouping *g)
{
    const struct world *w = g->n->w;

    if (g->n->fall_count > FALLS_MAX)
        return;
    for (size_t i = 0; i < w->resource_count; i++) {
        size_t known = 0;

        while (known < g->speed_count &&
               w->resources[g->speeds[known]].speed != w->resources[i].speed)
            known++;
        if (known < g->speed_count)
            continue;
        if (known == SPEEDS_MAX) {
            g->speed_count = 0;
            return;
        }
        g->speeds[g->speed_count++] = i;
    }
}

/* Falls that the job's run at `position` goes beyond. */
static uint64_t falls_of(const struct now *n, const struct world_job *j, size_t position)
{
    double full_s = world_full_run_s(n->w, j, position), held_s;
    size_t low = 0, high = n->fall_count;

    if (full_s == HUGE_VAL &&
        (j->etc_s || !isnan(j->estimate_ref_s) || !isnan(j->estimate_s)))
        return CANNOT_RUN;
    held_s = world_held_s(n->w, j, world_run_s(n->w, j, position));
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (n->falls[middle] < held_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct signature signature_of(const struct grouping *g, const struct world_job *j)
{
    const struct now *n = g->n;
    struct signature s = {.row = n->w->resource_count > 1 ? j->row : 0};

    if (s.row > 0 || (g->speed_count == 0 && n->fall_count > 1)) {
        s.time[0] = isnan(j->estimate_ref_s) ? 2 : 1;
        s.time[1] = bits_of(s.time[0] == 1 ? j->estimate_ref_s : j->estimate_s);
        s.time[2] = bits_of(j->time_limit_s);
        return s;
    }
    if (g->speed_count == 0) { /* one fall, at 0: some length, or none */
        s.time[0] = falls_of(n, j, 0);
        return s;
    }
    for (size_t i = 0; i < g->speed_count; i++)
        s.time[0] |= falls_of(n, j, g->speeds[i]) << (16 * i);
    return s;
}

/* Sums of products, which do not wait for one another, and one mix of the bits. */
static uint64_t hash_of(const struct world *w, const struct world_job *j, size_t rank,
                        bool apart, const struct signature *s)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t factor = golden, hash = bits_of(j->weight) * UINT64_C(0xff51afd7ed558ccd);

    for (size_t k = 0; k < w->amount_count; k++, factor += 2 * golden)
        hash += (uint64_t)j->needs[k] * factor;
    for (size_t i = 0; i < 3; i++, factor += 2 * golden)
        hash += s->time[i] * factor;
    for (size_t i = 0; i < j->choice_count; i++, factor += 2 * golden)
        hash += j->choices[i].count * factor;
    hash += (s->row * 2 + apart) * (factor + 2 * golden) + rank * (factor + 4 * golden);
    hash = (hash ^ hash >> 32) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 32;
}

static bool same_mask(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t i = 0; a != b && i < words; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static bool same_choices(const struct world *w, const struct now_class *c,
                         const struct world_job *j)
{
    if (c->choice_count != j->choice_count)
        return false;
    for (size_t i = 0; c->choices != j->choices && i < j->choice_count; i++)
        if (!same_mask(c->choices[i].mask, j->choices[i].mask,
                       (w->resource_count + 63) / 64))
            return false;
    return true;
}

static bool same_signature(const struct signature *a, const struct signature *b)
{
    return a->time[0] == b->time[0] && a->time[1] == b->time[1] &&
           a->time[2] == b->time[2] && a->row == b->row;
}

static bool is_of(const struct grouping *g, size_t class, const struct world_job *j,
                  size_t rank, bool apart, const struct signature *s)
{
    const struct world *w = g->n->w;
    const struct now_class *c = &g->n->classes[class];

    return c->rank == rank && c->apart == apart && c->weight == j->weight &&
           c->nodes == j->nodes && same_signature(&g->signatures[class], s) &&
           (c->needs == j->needs ||
            memcmp(c->needs, j->needs, w->amount_count * sizeof(*j->needs)) == 0) &&
           same_choices(w, c, j);
}

static void make_room(struct grouping *g)
{
    struct now *n = g->n;

    if (n->class_count < g->room)
        return;
    n->classes = GROW(n->a, n->classes, struct now_class, g->room, 2 * g->room);
    g->signatures = GROW(n->a, g->signatures, struct signature, g->room, 2 * g->room);
    g->hashes = GROW(n->a, g->hashes, uint64_t, g->room, 2 * g->room);
    g->room *= 2;
}

/* The table is small, so that it stays near, and grows with the classes. */
static void make_table(struct grouping *g)
{
    while (g->table_size < 4 * g->room)
        g->table_size *= 2;
    g->table = NEW(g->n->a, size_t, g->table_size);
    for (size_t c = 0; c < g->n->class_count; c++) {
        size_t slot = g->hashes[c] & (g->table_size - 1);

        budget_step(g->n->w->budget, 2);
        while (g->table[slot] > 0)
            slot = (slot + 1) & (g->table_size - 1);
        g->table[slot] = c + 1;
    }
}

static size_t class_of(struct grouping *g, size_t job)
{
    struct now *n = g->n;
    const struct world_job *j = &n->w->jobs[job];
    bool apart = j->nodes > 1 || j->group != WORLD_NONE || n->state[job] == NOW_PLACED ||
                 (n->w->limit_count && world_is_limited(j));
    size_t rank = rank_of(n, j), slot;
    struct signature s = signature_of(g, j);
    uint64_t hash;

    if (rank == n->rank_count)
        rank--; /* below the last: with it */
    hash = hash_of(n->w, j, rank, apart, &s);
    slot = hash & (g->table_size - 1);
    for (; g->table[slot] > 0; slot = (slot + 1) & (g->table_size - 1))
        if (is_of(g, g->table[slot] - 1, j, rank, apart, &s))
            return g->table[slot] - 1;
    make_room(g);
    g->signatures[n->class_count] = s;
    g->hashes[n->class_count] = hash;
    n->classes[n->class_count] = (struct now_class){
        .needs = j->needs,
        .weight = j->weight,
        .scaled = (int64_t)floor(j->weight * n->scale + 0.5),
        .rank = rank,
        .sample = job,
        .nodes = j->nodes,
        .choices = j->choices,
        .choice_count = j->choice_count,
        .apart = apart,
    };
    g->table[slot] = ++n->class_count;
    if (2 * n->class_count > g->table_size)
        make_table(g);
    return n->class_count - 1;
}

/* ---- members ---- */

static void add_member(struct now_class *c, const struct world_job *j, int64_t alike)
{
    c->mixed |= c->count > 0 && j->queued_at_s < c->last_queued_at_s;
    c->last_queued_at_s = j->queued_at_s;
    c->count += alike;
    c->member_count++;
}

struct queued {
    double at_s;
    size_t job;
};

static int by_arrival(const void *a, const void *b)
{
    const struct queued *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return x->job < y->job ? -1 : 1;
}

/* By queued_at_s, then index. */
static void order_members(struct now *n, struct now_class *c)
{
    size_t *member = n->members + c->first, count = c->member_count;
    struct queued *list = NEW(n->a, struct queued, count);

    for (size_t i = 0; i < count; i++)
        list[i] = (struct queued){n->w->jobs[member[i]].queued_at_s, member[i]};
    qsort(list, count, sizeof(*list), by_arrival);
    for (size_t i = 0; i < count; i++)
        member[i] = list[i].job;
}

static void collect_members(struct grouping *g)
{
    struct now *n = g->n;
    size_t *next = NEW(n->a, size_t, n->class_count), first = 0;

    n->members = NEW(n->a, size_t, n->ready_count);
    for (size_t c = 0; c < n->class_count; c++) {
        n->classes[c].first = next[c] = first;
        first += n->classes[c].member_count;
    }
    for (size_t i = 0; i < n->ready_count; i++)
        n->members[next[g->class_of[i]]++] = n->ready[i];
    for (size_t c = 0; c < n->class_count; c++)
        if (n->classes[c].mixed)
            order_members(n, &n->classes[c]);
}

void now_classes(struct now *n)
{
    struct grouping g = {.n = n, .table_size = 16, .room = 64};

    collect_ready(n);
    choose_speeds(&g);
    make_table(&g);
    g.class_of = NEW(n->a, size_t, n->ready_count);
    g.signatures = NEW(n->a, struct signature, g.room);
    g.hashes = NEW(n->a, uint64_t, g.room);
    n->classes = NEW(n->a, struct now_class, g.room);
    for (size_t i = 0; i < n->ready_count; i++) {
        budget_step(n->w->budget, n->w->amount_count + n->w->resource_count / 64);
        g.class_of[i] = class_of(&g, n->ready[i]);
        add_member(&n->classes[g.class_of[i]], &n->w->jobs[n->ready[i]],
                   now_alike(n, n->ready[i]));
    }
    collect_members(&g);
}
