/* placement/need_counts.c - how many resources the tests behind the requirement drop.
 *
 * Source: world-model.md 7.1, for today's amounts.
 */
#include "algorithms/placement/need_counts.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPACING_MIN = 64, /* ranks between two sets of a column */
    SETS_MAX = 256    /* of a column */
};

/* Limits: what the job's number must not exceed. */
enum limit {
    LIMIT_CPUS,
    LIMIT_MEMORY,
    LIMIT_ESTIMATE,
    LIMIT_FREE_CPUS,
    LIMIT_FREE_MEMORY
};
enum { LIMIT_COUNT = LIMIT_FREE_MEMORY + 1 };

/* The resources by rising limit, equal ones by falling snapshot index. */
struct column {
    double *limit;    /* by rank */
    size_t *pos;      /* by rank */
    uint64_t *behind; /* set i: the positions of rank i * spacing and above */
    uint64_t *passed; /* scratch: the positions that pass for the job at hand */
    size_t rank;      /* of the first of these */
};

struct need_counter {
    const struct placement_problem *p;
    bool estimate;
    size_t spacing, looks;
    struct column columns[LIMIT_COUNT];
    uint64_t *runs;  /* positions with a speed */
    uint64_t *slots; /* positions with a slot whose end is known */
    double *largest; /* cpus and memory by class; NAN: not looked for yet */
};

static void set_bit(uint64_t *set, size_t pos)
{
    set[pos / BLOCK] |= UINT64_C(1) << (pos % BLOCK);
}

static bool has_bit(const uint64_t *set, size_t pos)
{
    return set[pos / BLOCK] >> (pos % BLOCK) & 1;
}

/* ---- limits ---- */

/* The test as problem_need_filter() makes it. */
static bool passes(const struct problem_resource *r, enum limit kind, double number)
{
    switch (kind) {
    case LIMIT_CPUS:
        return !(number > r->cpus);
    case LIMIT_MEMORY:
        return !(number > r->memory_bytes);
    case LIMIT_ESTIMATE:
        return r->speed_mips > 0 && number / r->speed_mips <= LONGEST_S;
    case LIMIT_FREE_CPUS:
        return !(number + r->cpus_held > r->cpus * ROUNDING);
    case LIMIT_FREE_MEMORY:
        return !(number + r->memory_held_bytes > r->memory_bytes * ROUNDING);
    }
    return false;
}

/* The largest number that passes, -1: none. Doubles that are not negative are in the
 * order of their bits. */
static double limit_of(const struct problem_resource *r, enum limit kind)
{
    double number = DBL_MAX;
    uint64_t low = 0, high;

    if (passes(r, kind, number))
        return HUGE_VAL;
    if (!passes(r, kind, 0))
        return -1;
    memcpy(&high, &number, sizeof(high));
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        memcpy(&number, &middle, sizeof(number));
        if (passes(r, kind, number))
            low = middle;
        else
            high = middle;
    }
    memcpy(&number, &low, sizeof(number));
    return number;
}

struct ranked {
    double limit;
    size_t index, pos;
};

static int by_limit(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->limit != y->limit)
        return x->limit < y->limit ? -1 : 1;
    return (x->index < y->index) - (x->index > y->index);
}

static bool create_column(struct need_counter *c, enum limit kind, struct ranked *ranked,
                          struct arena *a)
{
    const struct placement_problem *p = c->p;
    struct column *column = &c->columns[kind];
    size_t m = p->resource_count, words = p->block_count;
    size_t sets = m / c->spacing + 1;

    column->limit = NEW(a, double, m);
    column->pos = NEW(a, size_t, m);
    column->behind = NEW(a, uint64_t, sets * words);
    column->passed = NEW(a, uint64_t, words);
    for (size_t pos = 0; pos < m; pos++)
        ranked[pos] = (struct ranked){limit_of(&p->resources[pos], kind),
                                      p->resources[pos].index, pos};
    qsort(ranked, m, sizeof(*ranked), by_limit);
    for (size_t set = sets, rank = m; set-- > 0;) {
        uint64_t *behind = column->behind + set * words;

        if (set + 1 < sets)
            memcpy(behind, behind + words, words * sizeof(*behind));
        for (; rank > set * c->spacing; rank--)
            set_bit(behind, ranked[rank - 1].pos);
    }
    for (size_t rank = 0; rank < m; rank++) {
        column->limit[rank] = ranked[rank].limit;
        column->pos[rank] = ranked[rank].pos;
    }
    return true;
}

struct need_counter *need_counter_create(const struct placement_problem *p, bool estimate,
                                         struct arena *a)
{
    struct need_counter *c = NEW(a, struct need_counter, 1);
    struct ranked *ranked = NEW(a, struct ranked, p->resource_count);

    c->p = p;
    c->estimate = estimate;
    c->spacing = p->resource_count / SETS_MAX;
    if (c->spacing < SPACING_MIN)
        c->spacing = SPACING_MIN;
    c->runs = NEW(a, uint64_t, p->block_count);
    c->slots = NEW(a, uint64_t, p->block_count);
    c->largest = NEW(a, double, 2 * p->class_count);
    for (size_t i = 0; i < 2 * p->class_count; i++)
        c->largest[i] = (double)NAN;
    for (size_t pos = 0; pos < p->resource_count; pos++) {
        if (p->resources[pos].speed_mips > 0)
            set_bit(c->runs, pos);
        if (p->resources[pos].first_free_s <= LONGEST_S)
            set_bit(c->slots, pos);
    }
    for (enum limit kind = LIMIT_CPUS; kind <= LIMIT_FREE_MEMORY; kind++)
        if (!create_column(c, kind, ranked, a))
            return NULL;
    return c;
}

/* ---- counts ---- */

/* The positions whose limit is not below the number. */
static const uint64_t *pass(struct need_counter *c, enum limit kind, double number)
{
    struct column *column = &c->columns[kind];
    size_t low = 0, high = c->p->resource_count, words = c->p->block_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (column->limit[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    column->rank = low;
    memcpy(column->passed, column->behind + low / c->spacing * words,
           words * sizeof(*column->passed));
    for (size_t rank = low / c->spacing * c->spacing; rank < low; rank++) {
        size_t pos = column->pos[rank];

        column->passed[pos / BLOCK] &= ~(UINT64_C(1) << (pos % BLOCK));
    }
    return column->passed;
}

/* The best of those that `from` (and `also`) has and the column's test drops. The set has
 * `count` of them: after so many steps down the column one by one is no dearer. */
static size_t largest_below(const struct need_counter *c, enum limit kind,
                            const uint64_t *from, const uint64_t *also, size_t count)
{
    const struct column *column = &c->columns[kind];
    const struct problem_resource *r = c->p->resources;
    const double *has = kind == LIMIT_CPUS ? c->p->cpus : c->p->memory_bytes;
    size_t best = NO_INDEX;

    for (size_t rank = column->rank, steps = 0; rank-- > 0 && steps <= count; steps++) {
        size_t pos = column->pos[rank];

        if (has_bit(from, pos) && (!also || has_bit(also, pos)))
            return pos;
    }
    for (size_t b = 0; b < c->p->block_count; b++) {
        uint64_t left = from[b] & ~column->passed[b] & (also ? also[b] : ~UINT64_C(0));

        for (; left; left &= left - 1) {
            size_t pos = b * BLOCK + (size_t)__builtin_ctzll(left);

            if (best == NO_INDEX || has[pos] > has[best] ||
                (has[pos] >= has[best] && r[pos].index < r[best].index))
                best = pos;
        }
    }
    return best;
}

static size_t bits(uint64_t word)
{
    return (size_t)__builtin_popcountll(word);
}

/* The most of cpus or memory that a resource of the class has, as often as jobs ask. */
static double largest_of(struct need_counter *c, size_t job_class, enum limit kind)
{
    const double *has = kind == LIMIT_CPUS ? c->p->cpus : c->p->memory_bytes;
    const struct column *column = &c->columns[kind];
    const uint64_t *mask = c->p->classes[job_class].mask;
    double *known = &c->largest[2 * job_class + (kind == LIMIT_MEMORY)];
    size_t rank = c->p->resource_count;

    if (!isnan(*known))
        return *known;
    while (rank > 0 && !has_bit(mask, column->pos[rank - 1]))
        rank--;
    budget_step(c->p->in->budget, c->p->resource_count - rank);
    return *known = rank > 0 ? has[column->pos[rank - 1]] : 0;
}

/* Which resource came nearest, and the largest. `enough`: those with enough of the other
 * amount. */
static void note_short(struct need_counter *c, size_t job_class, enum limit kind,
                       const uint64_t *enough, struct need_short *out)
{
    const uint64_t *mask = c->p->classes[job_class].mask;

    if (out->count == 0)
        return;
    out->nearest = out->alone ? largest_below(c, kind, mask, enough, out->alone)
                              : largest_below(c, kind, mask, NULL, out->count);
    out->largest = largest_of(c, job_class, kind);
}

/* Jobs with an estimate or none, without files and outputs. */
static void count_sets(struct need_counter *c, const struct problem_job *j,
                       struct need_counts *n)
{
    const uint64_t *mask = c->p->classes[j->job_class].mask;
    bool unknown = isnan(j->estimate_ref_s);
    const uint64_t *cpus = pass(c, LIMIT_CPUS, j->cpus);
    const uint64_t *memory = pass(c, LIMIT_MEMORY, j->memory_bytes);
    const uint64_t *times =
        unknown ? c->runs : pass(c, LIMIT_ESTIMATE, j->estimate_ref_s);
    const uint64_t *free_cpus = pass(c, LIMIT_FREE_CPUS, j->cpus);
    const uint64_t *free_memory = pass(c, LIMIT_FREE_MEMORY, j->memory_bytes);
    bool no_time = unknown && c->estimate;

    for (size_t b = 0; b < c->p->block_count; b++) {
        uint64_t left = mask[b], timed = no_time ? 0 : times[b];
        uint64_t free_now = c->slots[b] & free_cpus[b] & free_memory[b];

        n->cpus.count += bits(left & ~cpus[b]);
        n->cpus.alone += bits(left & ~cpus[b] & memory[b]);
        n->memory.count += bits(left & ~memory[b]);
        n->memory.alone += bits(left & ~memory[b] & cpus[b]);
        n->dropped[FILTER_CPUS] += bits(left & ~cpus[b]);
        left &= cpus[b];
        n->dropped[FILTER_MEMORY] += bits(left & ~memory[b]);
        left &= memory[b];
        n->dropped[FILTER_NO_ESTIMATE] += bits(left & ~timed);
        left &= timed;
        n->dropped[FILTER_NEVER_FREE] += bits(left & ~free_now);
        n->passed += bits(left & free_now);
    }
    note_short(c, j->job_class, LIMIT_CPUS, memory, &n->cpus);
    note_short(c, j->job_class, LIMIT_MEMORY, cpus, &n->memory);
}

/* Keeps the position that has most, the first of equal ones; one where nothing else is
 * short before all others. */
static void count_short(struct need_short *s, const double *has, size_t pos,
                        bool is_short, bool alone)
{
    s->largest = fmax(s->largest, has[pos]);
    if (!is_short)
        return;
    s->count++;
    if (s->nearest == NO_INDEX || (alone && s->alone == 0) ||
        (alone == (s->alone > 0) && has[pos] > has[s->nearest]))
        s->nearest = pos;
    s->alone += alone;
}

void need_counts_scan(const struct placement_problem *p, size_t job, bool estimate,
                      struct need_counts *out)
{
    struct need_counts *n = out;
    const struct problem_class *c = &p->classes[p->jobs[job].job_class];

    *n = (struct need_counts){
        .cpus.nearest = NO_INDEX, .memory.nearest = NO_INDEX, .known = true};
    for (size_t i = 0; i < p->resource_count && c->passed_count; i++) {
        size_t pos = p->position_of[i];
        bool few, little;
        enum filter f;

        if (!problem_class_has(c, pos))
            continue;
        few = p->jobs[job].cpus > p->cpus[pos];
        little = p->jobs[job].memory_bytes > p->memory_bytes[pos];
        count_short(&n->cpus, p->cpus, pos, few, few && !little);
        count_short(&n->memory, p->memory_bytes, pos, little, little && !few);
        f = problem_need_filter(p, &p->jobs[job], pos, estimate);
        if (f == FILTER_PASSED) {
            n->passed++;
            continue;
        }
        n->dropped[f]++;
    }
    n->cpus.largest = n->cpus.count ? n->cpus.largest : 0;
    n->memory.largest = n->memory.count ? n->memory.largest : 0;
}

void need_counts_of(struct need_counter *c, size_t job, struct need_counts *out)
{
    const struct placement_problem *p = c->p;
    const struct problem_job *j = &p->jobs[job];
    bool moves = j->file_count || j->given->output_bytes > 0;

    *out = (struct need_counts){
        .cpus.nearest = NO_INDEX, .memory.nearest = NO_INDEX, .known = true};
    if (!j->etc_s && !moves) {
        count_sets(c, j, out);
        return;
    }
    if (moves && c->looks >= COUNT_LOOKS_MAX) {
        out->known = false;
        return;
    }
    if (moves)
        c->looks += p->resource_count * (1 + j->file_count);
    need_counts_scan(p, job, c->estimate, out);
}
