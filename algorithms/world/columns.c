/* world/columns.c - how many resources lack how much of what. */
#include "algorithms/world/columns.h"

#include <stdlib.h>
#include <string.h>

enum {
    SPACING_MIN = 64, /* ranks between two sets of a column */
    SETS_MAX = 256    /* of a column */
};

struct column {
    int64_t *has;     /* by rank, rising */
    size_t *position; /* by rank; of equal ones the largest snapshot index first */
    uint64_t *behind; /* set i: positions of rank i * spacing and above */
    uint64_t *lacks;  /* by columns_count(): those of the mask that lack it */
};

struct columns {
    const struct world *w;
    const int64_t *has;
    size_t rows, words, spacing;
    struct column *column;
    uint64_t *any, *alone, *pair; /* lack something; one amount only; two only */
};

/* ---- making ---- */

struct ranked {
    int64_t has;
    size_t index, position;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->has != y->has)
        return x->has < y->has ? -1 : 1;
    return x->index > y->index ? -1 : 1;
}

static void set_bit(uint64_t *set, size_t position)
{
    set[position / 64] |= UINT64_C(1) << (position % 64);
}

static void clear_bit(uint64_t *set, size_t position)
{
    set[position / 64] &= ~(UINT64_C(1) << (position % 64));
}

static void fill_column(struct columns *c, size_t row, struct ranked *list,
                        struct arena *a)
{
    const struct world *w = c->w;
    struct column *column = &c->column[row];
    size_t m = w->resource_count, sets = m / c->spacing + 1;

    budget_step(w->budget, m + sets * c->words);
    for (size_t i = 0; i < m; i++)
        list[i] = (struct ranked){columns_has(c, i, row), w->resources[i].index, i};
    qsort(list, m, sizeof(*list), by_rank);
    column->has = NEW(a, int64_t, m);
    column->position = NEW(a, size_t, m);
    column->behind = NEW(a, uint64_t, sets * c->words);
    column->lacks = NEW(a, uint64_t, c->words);
    for (size_t i = 0; i < m; i++) {
        column->has[i] = list[i].has;
        column->position[i] = list[i].position;
    }
    for (size_t s = sets; s-- > 0;) {
        uint64_t *set = column->behind + s * c->words;

        if (s + 1 < sets)
            memcpy(set, set + c->words, c->words * sizeof(*set));
        for (size_t i = s * c->spacing; i < m && i < (s + 1) * c->spacing; i++)
            set_bit(set, column->position[i]);
    }
}

struct columns *columns_create(const struct world *w, const int64_t *has, struct arena *a)
{
    struct columns *c = NEW(a, struct columns, 1);
    struct ranked *list = NEW(a, struct ranked, w->resource_count);

    *c = (struct columns){.w = w, .has = has, .rows = w->node_amount_count};
    c->words = (w->resource_count + 63) / 64;
    c->spacing = w->resource_count / SETS_MAX + 1;
    if (c->spacing < SPACING_MIN)
        c->spacing = SPACING_MIN;
    c->column = NEW(a, struct column, c->rows);
    c->any = NEW(a, uint64_t, c->words);
    c->alone = NEW(a, uint64_t, c->words);
    c->pair = NEW(a, uint64_t, c->words);
    for (size_t k = 0; k < c->rows; k++)
        fill_column(c, k, list, a);
    return c;
}

struct columns *columns_of_capacities(const struct world *w, struct arena *a)
{
    size_t rows = w->node_amount_count;
    int64_t *has = NEW(a, int64_t, w->resource_count * rows);

    for (size_t i = 0; i < w->resource_count; i++) {
        budget_step(w->budget, rows);
        memcpy(has + i * rows, w->resources[i].capacity, rows * sizeof(*has));
    }
    return columns_create(w, has, a);
}

int64_t columns_has(const struct columns *c, size_t position, size_t amount)
{
    return c->has[position * c->rows + amount];
}

/* ---- counting ---- */

/* Two words at once: without an instruction that counts bits this takes half the time. */
typedef uint64_t words_pair __attribute__((vector_size(16)));

/* Bits of each byte, added up. */
static words_pair add_bits(words_pair bytes, words_pair v)
{
    v -= v >> 1 & UINT64_C(0x5555555555555555);
    v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
    return bytes + ((v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f));
}

static size_t sum_bytes(uint64_t bytes)
{
    const uint64_t halves = UINT64_C(0x00ff00ff00ff00ff);

    bytes = (bytes & halves) + (bytes >> 8 & halves);
    return (size_t)((bytes * UINT64_C(0x0001000100010001)) >> 48);
}

size_t columns_size(const struct columns *c, const uint64_t *set)
{
    enum { PAIRS = 31 }; /* until a byte is full */
    size_t count = 0, i = 0;

    while (i < c->words) {
        words_pair bytes = {0, 0}, v = {0, 0};

        for (size_t n = 0; n < PAIRS && i + 1 < c->words; n++, i += 2) {
            memcpy(&v, set + i, sizeof(v));
            bytes = add_bits(bytes, v);
        }
        if (i + 1 == c->words) {
            count += sum_bytes(add_bits((words_pair){0, 0}, (words_pair){set[i], 0})[0]);
            i++;
        }
        count += sum_bytes(bytes[0]) + sum_bytes(bytes[1]);
    }
    return count;
}

/* Ranks that have less than is needed. */
static size_t rank_of(const struct columns *c, size_t row, int64_t needed)
{
    const int64_t *has = c->column[row].has;
    size_t low = 0, high = c->w->resource_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (has[middle] < needed)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Those of the mask below the rank. */
static void mark_short(struct columns *c, size_t row, size_t rank, const uint64_t *mask)
{
    struct column *column = &c->column[row];
    size_t s = rank / c->spacing;
    const uint64_t *behind = column->behind + s * c->words;

    memcpy(column->lacks, behind, c->words * sizeof(*behind));
    for (size_t i = s * c->spacing; i < rank; i++)
        clear_bit(column->lacks, column->position[i]);
    for (size_t i = 0; i < c->words; i++)
        column->lacks[i] = mask[i] & ~column->lacks[i];
}

size_t columns_count(struct columns *c, const int64_t *needs, const uint64_t *mask,
                     struct column_short *list, uint64_t *passed)
{
    size_t count = 0, kept = 0;
    uint64_t any_alone = 0;

    memset(c->any, 0, c->words * sizeof(*c->any));
    memset(c->alone, 0, c->words * sizeof(*c->alone)); /* first: lack two or more */
    memset(c->pair, 0, c->words * sizeof(*c->pair));   /* first: lack three or more */
    for (size_t k = 0; k < c->rows; k++) {
        size_t rank = needs[k] > 0 ? rank_of(c, k, needs[k]) : 0;
        const uint64_t *lacks = c->column[k].lacks;

        if (rank == 0)
            continue;
        budget_step(c->w->budget, c->words / 2 + c->spacing / 2);
        mark_short(c, k, rank, mask);
        for (size_t i = 0; i < c->words; i++) {
            c->pair[i] |= c->alone[i] & lacks[i];
            c->alone[i] |= c->any[i] & lacks[i];
            c->any[i] |= lacks[i];
        }
        list[count++] =
            (struct column_short){.amount = k, .needed = needs[k], .rank = rank};
    }
    for (size_t i = 0; i < c->words; i++) {
        c->pair[i] = c->alone[i] & ~c->pair[i];
        c->alone[i] = c->any[i] & ~c->alone[i];
        passed[i] = mask[i] & ~c->any[i];
        any_alone |= c->alone[i];
    }
    for (size_t n = 0; n < count; n++) {
        uint64_t *lacks = c->column[list[n].amount].lacks;

        list[n].short_count = columns_size(c, lacks);
        if (list[n].short_count == 0)
            continue;
        for (size_t i = 0; any_alone && i < c->words; i++)
            lacks[i] &= c->alone[i];
        list[n].alone_count = any_alone ? columns_size(c, lacks) : 0;
        list[kept++] = list[n];
    }
    return kept;
}

size_t columns_nearest(const struct columns *c, const struct column_short *of,
                       size_t *looks)
{
    const struct column *column = &c->column[of->amount];
    size_t rank = of->rank;

    while (!world_mask_has(column->lacks, column->position[--rank]))
        ++*looks;
    return column->position[rank];
}

size_t columns_most(const struct columns *c, size_t amount, const uint64_t *set)
{
    const size_t *position = c->column[amount].position;

    for (size_t rank = c->w->resource_count; rank-- > 0;) {
        budget_step(c->w->budget, 1);
        if (world_mask_has(set, position[rank]))
            return position[rank];
    }
    return WORLD_NONE;
}

const uint64_t *columns_fewest(const struct columns *c)
{
    for (size_t i = 0; i < c->words; i++)
        if (c->pair[i])
            return c->pair;
    return c->any;
}

const uint64_t *columns_alone(const struct columns *c, const struct column_short *of)
{
    return c->column[of->amount].lacks;
}
