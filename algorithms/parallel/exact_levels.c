/* parallel/exact_levels.c - the distinct values of cpu and links.
 *
 * Machines are put in order of falling cpu, and each link is replaced by the number of
 * its value among all values. So "machines that reach a cpu" is a first part of the
 * rows, and "links that reach a value" compares integers.
 *
 * The values are sorted by their bits (radix sort): positive doubles have the order of
 * their bits, and half a million of them are the greatest part of the work otherwise.
 *
 * Source: spec parallel-scheduling.md 4.9. Cost: O(n^2).
 */
#include "algorithms/parallel/exact_parts.h"

#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = 6 };

struct key {
    uint64_t bits;
    uint32_t pair; /* row * n + column, row < column */
};

static size_t digit(uint64_t bits, unsigned pass)
{
    return (size_t)(bits >> (pass * DIGIT_BITS)) & (DIGITS - 1);
}

/* One pass by one digit; false: all have the same, nothing was moved. */
static bool pass_by(const struct key *from, struct key *to, size_t count, unsigned pass,
                    size_t *start)
{
    size_t before = 0;

    memset(start, 0, DIGITS * sizeof(*start));
    for (size_t i = 0; i < count; i++)
        start[digit(from[i].bits, pass)]++;
    if (count == 0 || start[digit(from[0].bits, pass)] == count)
        return false;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t here = start[d];

        start[d] = before;
        before += here;
    }
    for (size_t i = 0; i < count; i++)
        to[start[digit(from[i].bits, pass)]++] = from[i];
    return true;
}

static struct key *sort(struct key *keys, struct key *other, size_t count, size_t *start)
{
    for (unsigned pass = 0; pass < PASSES; pass++)
        if (pass_by(keys, other, count, pass, start)) {
            struct key *sorted = other;

            other = keys;
            keys = sorted;
        }
    return keys;
}

static void set_rank(struct exact_levels *v, uint32_t pair, uint32_t rank)
{
    size_t row = pair / v->n, column = pair % v->n;

    v->rank[row * v->n + column] = rank;
    v->rank[column * v->n + row] = rank;
}

static void number_links(struct exact_levels *v, const struct key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || keys[i].bits != keys[i - 1].bits)
            memcpy(&v->link[v->link_count++], &keys[i].bits, sizeof(*v->link));
        set_rank(v, keys[i].pair, (uint32_t)v->link_count);
    }
}

static void make_links(const struct parallel_search *s, struct exact_levels *v,
                       struct arena *a)
{
    size_t pairs = v->n * (v->n - 1) / 2, count = 0;
    struct key *keys = NEW(a, struct key, pairs);
    struct key *other = NEW(a, struct key, pairs);
    size_t *start = NEW(a, size_t, DIGITS);

    v->link = NEW(a, double, pairs);
    v->rank = NEW(a, uint32_t, v->n * v->n);
    for (size_t row = 0; row < v->n; row++)
        for (size_t column = row + 1; column < v->n; column++) {
            double link = search_link(s, v->machine[row], v->machine[column]);

            if (!(link > 0))
                continue;
            memcpy(&keys[count].bits, &link, sizeof(link));
            keys[count++].pair = (uint32_t)(row * v->n + column);
        }
    number_links(v, sort(keys, other, count, start), count);
}

void exact_levels_create(const struct parallel_search *s, struct exact_levels *v,
                         struct arena *a)
{
    *v = (struct exact_levels){.n = s->n, .machine = search_by_cpu(s)};
    v->cpu = NEW(a, double, v->n);
    v->reach = NEW(a, size_t, v->n);
    for (size_t i = v->n; i-- > 0;) {
        double cpu = s->cpu[v->machine[i]];

        if (v->cpu_count > 0 && v->cpu[v->cpu_count - 1] == cpu)
            continue;
        v->reach[v->cpu_count] = i + 1;
        v->cpu[v->cpu_count++] = cpu;
    }
    make_links(s, v, a);
}

static uint64_t reaching(const uint32_t *rank, size_t count, uint32_t least)
{
    uint64_t word = 0;

    for (size_t k = 0; k < count; k++)
        word |= (uint64_t)(rank[k] >= least) << k;
    return word;
}

void exact_levels_graph(const struct exact_levels *v, size_t cpu_index, size_t link_index,
                        struct link_graph *g)
{
    uint32_t least = (uint32_t)link_index + 1;

    g->count = v->reach[cpu_index];
    g->words = (g->count + 63) / 64;
    for (size_t i = 0; i < g->count; i++) {
        const uint32_t *rank = &v->rank[i * v->n];
        uint32_t degree = 0;

        for (size_t k = 0; k < g->words; k++) {
            size_t rest = g->count - k * 64;
            uint64_t word = reaching(&rank[k * 64], rest < 64 ? rest : 64, least);

            g->row[i * g->words + k] = word;
            degree += (uint32_t)__builtin_popcountll(word);
        }
        g->degree[i] = degree;
    }
}
