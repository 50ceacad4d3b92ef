/* parallel/exact_parts.h - what the exact method and the lower bound are made of.
 *
 * exact_tree.c     links with structure: the optimum in O(n^2)
 * exact_levels.c   the distinct values of cpu and links, and graphs of the links that
 *                  reach a value
 * exact_graph.c    bounds on the size of a clique, and a large one
 * exact_clique.c   a largest clique by branch and bound
 * exact_boxes.c    the search that splits the rectangle of (cpu, link) into boxes
 *
 * Machines are numbered here by falling cpu: those that reach a cpu are the first ones.
 *
 * Source: spec parallel-scheduling.md 4.9.
 */
#ifndef GRIDPLAN_PARALLEL_EXACT_PARTS_H
#define GRIDPLAN_PARALLEL_EXACT_PARTS_H

#include "algorithms/parallel/evaluate.h"

/* ---- links with structure ---- */

/* Whether the link of each pair is the narrowest on the way between them through some
 * tree: then records the best set in *s. All alike, and the worse of two uplinks, are
 * such trees. Not structured: *s is as it was, but for the work charged. */
enum error_code exact_tree(struct parallel_search *s, bool *structured);

/* ---- graphs ---- */

/* Vertices 0 .. count - 1; bit k of row i: linked. Without loops. */
struct link_graph {
    size_t count, words; /* words of a row */
    uint64_t *row;
    uint32_t *degree;
};

/* The next three work in these: room for n. */
struct graph_scratch {
    uint32_t *order, *place, *number;
    uint64_t *left, *other;
};

static inline bool bit_has(const uint64_t *bits, size_t i)
{
    return bits[i / 64] >> (i % 64) & 1;
}

static inline void bit_clear(uint64_t *bits, size_t i)
{
    bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

static inline void bit_set(uint64_t *bits, size_t i)
{
    bits[i / 64] |= UINT64_C(1) << (i % 64);
}

/* The greatest k such that k vertices have a degree of at least k - 1. O(n). */
size_t graph_core(const struct link_graph *g, struct graph_scratch *w);

/* Colours that a greedy colouring takes, vertices by falling degree. */
size_t graph_colours(const struct link_graph *g, struct graph_scratch *w);

/* A clique to which nothing can be added, ascending. Removes the vertex with the most
 * links missing until none is missing, ties: the last; puts back what fits. *units:
 * what spec 3.3 charges for that. */
size_t graph_clique(const struct link_graph *g, uint32_t *member, double *units,
                    struct graph_scratch *w);

/* A largest clique. */
struct clique_search {
    size_t size_max; /* of the graphs */
    size_t need;     /* smaller ones are of no use */
    size_t enough;   /* nor do larger ones help more */
    uint64_t node_cap;
    uint32_t *member; /* the answer, in no order */
    size_t found;     /* 0: none with `need` vertices */
    uint64_t nodes;
    bool cut; /* by the node cap or the budget: there may be a larger one */

    struct link_graph graph; /* vertices as they are branched on */
    uint32_t *original, *current;
    struct clique_level *level;
};

void clique_search_create(size_t size_max, struct clique_search *c, struct arena *a);
void clique_search_run(struct clique_search *c, const struct link_graph *g,
                       struct budget *budget, struct graph_scratch *w, struct arena *a);

/* ---- levels ---- */

struct exact_levels {
    size_t n;
    const size_t *machine; /* by falling cpu */
    double *cpu;           /* distinct values, ascending */
    size_t *reach;         /* of each: machines that reach it */
    size_t cpu_count;
    double *link; /* distinct positive values, ascending */
    size_t link_count;
    uint32_t *rank; /* n x n: number of a link's value, from 1; 0: no link */
};

void exact_levels_create(const struct parallel_search *s, struct exact_levels *v,
                         struct arena *a);

/* The graph of the machines that reach a cpu value with an edge where the link reaches
 * a link value, by their indexes. O(m^2). */
void exact_levels_graph(const struct exact_levels *v, size_t cpu_index, size_t link_index,
                        struct link_graph *g);

/* Room for a graph of n vertices, and to work in it. */
void link_graph_create(size_t n, struct link_graph *g, struct arena *a);
void graph_scratch_create(size_t n, struct graph_scratch *w, struct arena *a);

/* ---- boxes ---- */

struct exact_options {
    bool bound_only;    /* no cliques: a box of one pair stays as it is */
    uint64_t max_boxes; /* 0: no limit */
    uint64_t max_clique_nodes;
};

/* Splits boxes until no box can hold a set that scores less than the best so far (in
 * *s, or `known_s`), or the budget is spent; better sets are recorded in *s.
 * *bound_s <= the least of both, and no set scores less. */
enum error_code exact_boxes(struct parallel_search *s, const struct exact_options *o,
                            double known_s, double *bound_s);

#endif
