/* parallel/grid.h - the grid of (cpu, bandwidth, size) points of Box Elimination.
 *
 * A column is a pair of a cpu level and a bandwidth level; its points are the sizes
 * 1 .. n. Without any link there is no grid. U, the points that are left, is an interval
 * of sizes in each column, but for single points that `literal` mode takes out.
 *
 * Octants are relative to a reference point (cpu level, bandwidth level, size): the
 * number whose bits 4, 2 and 1 say "above" for the three.
 *
 * Source: 003_a5f9349f46eae656 4.2.6; spec parallel-scheduling.md 4.6.2, 4.6.5.
 */
#ifndef GRIDPLAN_PARALLEL_GRID_H
#define GRIDPLAN_PARALLEL_GRID_H

#include "algorithms/parallel/evaluate.h"

struct grid_point {
    size_t i, j, p; /* cpu level, bandwidth level, size */
};

struct box_grid {
    double cpu_min, cpu_step;
    double bandwidth_min_mbps, bandwidth_step_mbps;
    size_t cpu_levels, bandwidth_levels; /* 0: there is no grid */
    size_t n;
    size_t *low, *high; /* of each column, i * bandwidth_levels + j; low > high: empty */
    uint64_t *holes;    /* points taken out alone, a bit each; NULL: never any */
};

enum { OCTANTS = 8 };

/* All points; holes: room for grid_take_out(). */
enum error_code grid_create(const struct parallel_search *s, bool holes,
                            struct box_grid *g);

static inline double grid_cpu(const struct box_grid *g, size_t i)
{
    return g->cpu_min + g->cpu_step * (double)i;
}

static inline double grid_bandwidth_mbps(const struct box_grid *g, size_t j)
{
    return g->bandwidth_min_mbps + g->bandwidth_step_mbps * (double)j;
}

/* The point at or below a set's numbers; an infinite bandwidth is the top level. */
struct grid_point grid_cell(const struct box_grid *g, double cpu, double bandwidth_mbps,
                            size_t count);

/* Eliminations: i' <= i, j' <= j, p' <= p; and i' >= i, j' >= j, p' >= p. */
void grid_remove_below(struct box_grid *g, struct grid_point corner);
void grid_remove_above(struct box_grid *g, struct grid_point corner);
void grid_take_out(struct box_grid *g, struct grid_point point);

/* Points left in each octant of the reference point. */
void grid_count(const struct box_grid *g, struct grid_point reference,
                size_t count[OCTANTS]);

/* Point number `index` (< its count) of an octant: by i, then j, then p. */
struct grid_point grid_pick(const struct box_grid *g, struct grid_point reference,
                            size_t octant, size_t index);

#endif
