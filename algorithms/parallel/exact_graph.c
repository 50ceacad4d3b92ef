/* parallel/exact_graph.c - bounds on the size of a clique, and a large one.
 *
 * Graphs are rows of bits: the vertices that are not linked to one are the complement
 * of its row, 64 at a time.
 *
 * Source: spec parallel-scheduling.md 4.6.3, 4.9. Cost: O(n) words for each vertex, and
 * the links that are missing; O(n^2) at worst.
 */
#include "algorithms/parallel/exact_parts.h"

#include <string.h>

void link_graph_create(size_t n, struct link_graph *g, struct arena *a)
{
    g->count = 0;
    g->words = (n + 63) / 64;
    g->row = NEW(a, uint64_t, n * g->words);
    g->degree = NEW(a, uint32_t, n);
}

void graph_scratch_create(size_t n, struct graph_scratch *w, struct arena *a)
{
    w->order = NEW(a, uint32_t, n);
    w->place = NEW(a, uint32_t, n);
    w->number = NEW(a, uint32_t, n + 1);
    w->left = NEW(a, uint64_t, (n + 63) / 64);
    w->other = NEW(a, uint64_t, (n + 63) / 64);
}

static size_t lowest_bit(uint64_t word)
{
    return (size_t)__builtin_ctzll(word);
}

static void fill(uint64_t *bits, size_t count, size_t words)
{
    memset(bits, 0, words * sizeof(*bits));
    for (size_t i = 0; i < count / 64; i++)
        bits[i] = UINT64_MAX;
    if (count % 64)
        bits[count / 64] = (UINT64_C(1) << (count % 64)) - 1;
}

/* number[d]: how many vertices have degree d. */
static void count_degrees(const struct link_graph *g, uint32_t *number)
{
    memset(number, 0, (g->count + 1) * sizeof(*number));
    for (size_t i = 0; i < g->count; i++)
        number[g->degree[i]]++;
}

size_t graph_core(const struct link_graph *g, struct graph_scratch *w)
{
    size_t reach = 0;

    count_degrees(g, w->number);
    for (size_t degree = g->count; degree-- > 0;) {
        reach += w->number[degree];
        if (reach >= degree + 1)
            return degree + 1;
    }
    return 0;
}

/* Vertices by falling degree, ties: the first; and the place of each. */
static void by_degree(const struct link_graph *g, struct graph_scratch *w)
{
    uint32_t before = 0;

    count_degrees(g, w->number);
    for (size_t degree = g->count + 1; degree-- > 0;) {
        uint32_t here = w->number[degree];

        w->number[degree] = before;
        before += here;
    }
    for (size_t i = 0; i < g->count; i++) {
        uint32_t place = w->number[g->degree[i]]++;

        w->order[place] = (uint32_t)i;
        w->place[i] = place;
    }
}

/* The vertex of a set that comes first; SIZE_MAX: the set is empty. */
static size_t first_of(const uint64_t *bits, size_t words, const uint32_t *place)
{
    size_t first = SIZE_MAX;

    for (size_t k = 0; k < words; k++)
        for (uint64_t word = bits[k]; word; word &= word - 1) {
            size_t i = k * 64 + lowest_bit(word);

            if (first == SIZE_MAX || place[i] < place[first])
                first = i;
        }
    return first;
}

/* One colour: v, and of the vertices left those that are linked to no other of it. */
static void take_colour(const struct link_graph *g, size_t v, struct graph_scratch *w)
{
    memcpy(w->other, w->left, g->words * sizeof(*w->other));
    while (v != SIZE_MAX) {
        const uint64_t *row = &g->row[v * g->words];

        bit_clear(w->left, v);
        bit_clear(w->other, v);
        for (size_t k = 0; k < g->words; k++)
            w->other[k] &= ~row[k];
        v = first_of(w->other, g->words, w->place);
    }
}

size_t graph_colours(const struct link_graph *g, struct graph_scratch *w)
{
    size_t colours = 0;

    by_degree(g, w);
    fill(w->left, g->count, g->words);
    for (size_t i = 0; i < g->count; i++)
        if (bit_has(w->left, w->order[i])) {
            take_colour(g, w->order[i], w);
            colours++;
        }
    return colours;
}

/* One link less is missing to the vertices of `left` that v is not linked to. */
static void unlink_vertex(const struct link_graph *g, size_t v, struct graph_scratch *w)
{
    const uint64_t *row = &g->row[v * g->words];

    for (size_t k = 0; k < g->words; k++)
        for (uint64_t word = w->left[k] & ~row[k]; word; word &= word - 1)
            w->number[k * 64 + lowest_bit(word)]--;
}

static bool linked_to_all(const struct link_graph *g, size_t v, const uint64_t *set)
{
    const uint64_t *row = &g->row[v * g->words];

    for (size_t k = 0; k < g->words; k++)
        if (set[k] & ~row[k])
            return false;
    return true;
}

size_t graph_clique(const struct link_graph *g, uint32_t *member, double *units,
                    struct graph_scratch *w)
{
    uint32_t *missing = w->number;
    size_t count = g->count, found = 0;

    *units = (double)g->count * (double)g->count;
    fill(w->left, g->count, g->words);
    for (size_t i = 0; i < g->count; i++)
        missing[i] = (uint32_t)(g->count - 1) - g->degree[i];
    for (;;) {
        size_t worst = SIZE_MAX;

        for (size_t i = 0; i < g->count; i++)
            if (missing[i] > 0 && bit_has(w->left, i) &&
                (worst == SIZE_MAX || missing[i] >= missing[worst]))
                worst = i;
        if (worst == SIZE_MAX)
            break;
        *units += 2 * (double)count--;
        bit_clear(w->left, worst);
        unlink_vertex(g, worst, w);
    }
    for (size_t i = 0; i < g->count; i++) {
        if (!bit_has(w->left, i)) {
            *units += (double)count;
            if (!linked_to_all(g, i, w->left))
                continue;
            bit_set(w->left, i);
            count++;
        }
        member[found++] = (uint32_t)i;
    }
    return found;
}
