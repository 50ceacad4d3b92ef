/* parallel/exact_clique.c - a largest clique by branch and bound.
 *
 * A node is a clique and the vertices that are linked to all of it. These are coloured
 * greedily: a clique has at most one vertex of each colour, so only vertices whose
 * colour is large enough for a clique larger than the best are branched on, the largest
 * colour first. Vertices are numbered so that each has the least degree among itself and
 * those before it, which makes colourings of few colours.
 *
 * Source: P. San Segundo, D. Rodriguez-Losada, A. Jimenez, An exact bit-parallel
 * algorithm for the maximum clique problem, Computers and Operations Research 38 (2011);
 * E. Tomita, T. Seki, DMTCS 2003; spec parallel-scheduling.md 4.9. Cost: exponential at
 * worst, O(n^2 / 64) a node; the caller caps the nodes.
 */
#include "algorithms/parallel/exact_parts.h"

#include <string.h>

enum { LOOK_NODES = 64 }; /* nodes between two looks at the clock */

struct clique_level {
    uint64_t *candidates;
    uint32_t *branch; /* vertices to branch on, by rising colour */
    uint32_t *colour;
    size_t left; /* of branch */
};

static void level_create(size_t n, struct clique_level *level, struct arena *a)
{
    level->candidates = NEW(a, uint64_t, (n + 63) / 64);
    level->branch = NEW(a, uint32_t, n);
    level->colour = NEW(a, uint32_t, n);
}

void clique_search_create(size_t size_max, struct clique_search *c, struct arena *a)
{
    *c = (struct clique_search){.size_max = size_max};
    c->member = NEW(a, uint32_t, size_max);
    c->original = NEW(a, uint32_t, size_max);
    c->current = NEW(a, uint32_t, size_max);
    c->level = NEW(a, struct clique_level, size_max + 1);
    link_graph_create(size_max, &c->graph, a);
}

/* original[]: from behind, the vertex of least degree in what is left of the graph. */
static void number_vertices(struct clique_search *c, const struct link_graph *g,
                            struct graph_scratch *w)
{
    uint32_t *degree = w->order;

    memcpy(degree, g->degree, g->count * sizeof(*degree));
    memset(w->left, 0, g->words * sizeof(*w->left));
    for (size_t i = 0; i < g->count; i++)
        bit_set(w->left, i);
    for (size_t place = g->count; place-- > 0;) {
        size_t least = SIZE_MAX;

        for (size_t i = 0; i < g->count; i++)
            if (bit_has(w->left, i) && (least == SIZE_MAX || degree[i] < degree[least]))
                least = i;
        c->original[place] = (uint32_t)least;
        bit_clear(w->left, least);
        for (size_t k = 0; k < g->words; k++)
            for (uint64_t word = w->left[k] & g->row[least * g->words + k]; word;
                 word &= word - 1)
                degree[k * 64 + (size_t)__builtin_ctzll(word)]--;
    }
}

/* The graph with its vertices numbered so. */
static void renumber(struct clique_search *c, const struct link_graph *g,
                     struct graph_scratch *w)
{
    number_vertices(c, g, w);
    c->graph.count = g->count;
    c->graph.words = g->words;
    memset(c->graph.row, 0, g->count * g->words * sizeof(*g->row));
    for (size_t i = 0; i < g->count; i++)
        w->place[c->original[i]] = (uint32_t)i;
    for (size_t i = 0; i < g->count; i++) {
        uint64_t *row = &c->graph.row[i * g->words];

        for (size_t k = 0; k < g->words; k++)
            for (uint64_t word = g->row[c->original[i] * g->words + k]; word;
                 word &= word - 1)
                bit_set(row, w->place[k * 64 + (size_t)__builtin_ctzll(word)]);
    }
}

/* The first vertex of a set from word *k on; SIZE_MAX: none. */
static size_t next_of(const uint64_t *bits, size_t words, size_t *k)
{
    for (; *k < words; ++*k)
        if (bits[*k])
            return *k * 64 + (size_t)__builtin_ctzll(bits[*k]);
    return SIZE_MAX;
}

/* Colours the candidates; those with a colour above `least` are to be branched on. */
static void colour(const struct clique_search *c, struct clique_level *level,
                   size_t least, struct graph_scratch *w)
{
    size_t words = c->graph.words, first = 0;

    level->left = 0;
    memcpy(w->left, level->candidates, words * sizeof(*w->left));
    for (uint32_t number = 1; next_of(w->left, words, &first) != SIZE_MAX; number++) {
        size_t k = first, v;

        memcpy(w->other, w->left, words * sizeof(*w->other));
        while ((v = next_of(w->other, words, &k)) != SIZE_MAX) {
            const uint64_t *row = &c->graph.row[v * words];

            bit_clear(w->left, v);
            bit_clear(w->other, v);
            for (size_t i = k; i < words; i++)
                w->other[i] &= ~row[i];
            if (number <= least)
                continue;
            level->branch[level->left] = (uint32_t)v;
            level->colour[level->left++] = number;
        }
    }
}

static void save(struct clique_search *c, size_t size)
{
    for (size_t i = 0; i < size; i++)
        c->member[i] = c->original[c->current[i]];
    c->found = size;
}

static bool spent(struct clique_search *c, struct budget *budget)
{
    c->cut = c->cut || c->nodes >= c->node_cap ||
             (c->nodes % LOOK_NODES == 0 && budget_spent(budget));
    return c->cut;
}

/* Adds v to the clique of `depth` vertices; true: there is a level of candidates. */
static bool descend(struct clique_search *c, size_t depth, size_t v, size_t *best,
                    struct graph_scratch *w)
{
    const uint64_t *from = c->level[depth].candidates;
    uint64_t *to = c->level[depth + 1].candidates;
    uint64_t any = 0;

    c->nodes++;
    c->current[depth] = (uint32_t)v;
    for (size_t k = 0; k < c->graph.words; k++) {
        to[k] = from[k] & c->graph.row[v * c->graph.words + k];
        any |= to[k];
    }
    bit_clear(c->level[depth].candidates, v);
    if (depth + 1 > *best) {
        *best = depth + 1;
        save(c, *best);
    }
    if (!any)
        return false;
    colour(c, &c->level[depth + 1], *best - (depth + 1), w);
    return true;
}

void clique_search_run(struct clique_search *c, const struct link_graph *g,
                       struct budget *budget, struct graph_scratch *w, struct arena *a)
{
    size_t depth = 0, best = c->need - 1;

    c->found = 0;
    c->nodes = 0;
    c->cut = false;
    renumber(c, g, w);
    for (size_t i = 0; i < 2; i++)
        if (!c->level[i].branch)
            level_create(c->size_max, &c->level[i], a);
    memset(c->level[0].candidates, 0, g->words * sizeof(uint64_t));
    for (size_t i = 0; i < g->count; i++)
        bit_set(c->level[0].candidates, i);
    colour(c, &c->level[0], best, w);
    for (;;) {
        struct clique_level *level = &c->level[depth];

        if (level->left == 0 || depth + level->colour[level->left - 1] <= best) {
            if (depth == 0)
                return;
            depth--;
            continue;
        }
        if (best >= c->enough || spent(c, budget))
            return;
        if (!c->level[depth + 1].branch)
            level_create(c->size_max, &c->level[depth + 1], a);
        if (descend(c, depth, level->branch[--level->left], &best, w))
            depth++;
    }
}
