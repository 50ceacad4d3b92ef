/* parallel/grid.c - the grid of (cpu, bandwidth, size) points of Box Elimination. */
#include "algorithms/parallel/grid.h"

#include <assert.h>

#define CPU_STEP   0.1
#define ROUNDING   1e-9   /* levels are sums: 0.2 + 7 * 0.1 is above 0.9 */
#define LEVELS_MAX 1000.0 /* of bandwidth: far beyond links within their capacity */

enum { BITS = 64 };

/* The source's steps for capacities of 100, 1000, 5000 and 10000 Mbit/s. */
static double step_of(double capacity_mbps)
{
    if (capacity_mbps <= 1000)
        return 10;
    if (capacity_mbps <= 5000)
        return 50;
    return capacity_mbps <= 10000 ? 100 : capacity_mbps / 100;
}

static double levels_of(double min, double max, double step)
{
    return floor((max - min) / step + ROUNDING) + 1;
}

/* Least and greatest positive link; false: there is none. */
static bool link_range(const struct parallel_search *s, double *min, double *max)
{
    *min = HUGE_VAL;
    *max = 0;
    for (size_t i = 1; i < s->n; i++) {
        const double *row = s->links + i * s->n;

        for (size_t k = 0; k < i; k++) {
            if (row[k] > 0 && row[k] < *min)
                *min = row[k];
            if (row[k] > *max)
                *max = row[k];
        }
    }
    return *max > 0;
}

static void fill_columns(const struct parallel_search *s, bool holes, struct box_grid *g)
{
    size_t columns = g->cpu_levels * g->bandwidth_levels;

    g->low = NEW(s->arena, size_t, columns);
    g->high = NEW(s->arena, size_t, columns);
    for (size_t c = 0; c < columns; c++) {
        g->low[c] = 1;
        g->high[c] = s->n;
    }
    if (holes) {
        g->holes = NEW(s->arena, uint64_t, columns * s->n / BITS + 1);
    }
}

enum error_code grid_create(const struct parallel_search *s, bool holes,
                            struct box_grid *g)
{
    double cpu_max = s->cpu[search_fastest(s)], bandwidth_max;
    double cpu_levels, bandwidth_levels;

    *g = (struct box_grid){.cpu_min = cpu_max, .cpu_step = CPU_STEP, .n = s->n};
    if (!link_range(s, &g->bandwidth_min_mbps, &bandwidth_max))
        return OK;
    for (size_t i = 0; i < s->n; i++)
        g->cpu_min = fmin(g->cpu_min, s->cpu[i]);
    g->bandwidth_step_mbps = step_of(s->in->machines->link_capacity_mbps);
    cpu_levels = levels_of(g->cpu_min, cpu_max, g->cpu_step);
    bandwidth_levels =
        levels_of(g->bandwidth_min_mbps, bandwidth_max, g->bandwidth_step_mbps);
    if (!(bandwidth_levels <= LEVELS_MAX)) {
        bandwidth_levels = LEVELS_MAX;
        g->bandwidth_step_mbps =
            (bandwidth_max - g->bandwidth_min_mbps) / (LEVELS_MAX - 1);
    }
    g->cpu_levels = (size_t)cpu_levels;
    g->bandwidth_levels = (size_t)bandwidth_levels;
    fill_columns(s, holes, g);
    return OK;
}

static size_t level_at(double value, double min, double step, size_t levels)
{
    double level = floor((value - min) / step + ROUNDING);

    if (!(level < (double)levels))
        return levels - 1;
    return level > 0 ? (size_t)level : 0;
}

struct grid_point grid_cell(const struct box_grid *g, double cpu, double bandwidth_mbps,
                            size_t count)
{
    return (struct grid_point){
        level_at(cpu, g->cpu_min, g->cpu_step, g->cpu_levels),
        level_at(bandwidth_mbps, g->bandwidth_min_mbps, g->bandwidth_step_mbps,
                 g->bandwidth_levels),
        count,
    };
}

void grid_remove_below(struct box_grid *g, struct grid_point corner)
{
    for (size_t i = 0; i <= corner.i; i++) {
        for (size_t j = 0; j <= corner.j; j++) {
            size_t c = i * g->bandwidth_levels + j;

            if (g->low[c] < corner.p + 1)
                g->low[c] = corner.p + 1;
        }
    }
}

void grid_remove_above(struct box_grid *g, struct grid_point corner)
{
    for (size_t i = corner.i; i < g->cpu_levels; i++) {
        for (size_t j = corner.j; j < g->bandwidth_levels; j++) {
            size_t c = i * g->bandwidth_levels + j;

            if (g->high[c] + 1 > corner.p)
                g->high[c] = corner.p - 1;
        }
    }
}

static size_t bit_of(const struct box_grid *g, size_t column, size_t p)
{
    return column * g->n + p - 1;
}

static bool is_hole(const struct box_grid *g, size_t column, size_t p)
{
    size_t bit = bit_of(g, column, p);

    return g->holes && (g->holes[bit / BITS] >> bit % BITS & 1);
}

void grid_take_out(struct box_grid *g, struct grid_point point)
{
    size_t bit = bit_of(g, point.i * g->bandwidth_levels + point.j, point.p);

    g->holes[bit / BITS] |= 1ULL << bit % BITS;
}

/* ---- octants ---- */

/* Sizes of a column in the lower or the upper half of the octants. */
struct span {
    size_t first, last;
};

static struct span span_of(const struct box_grid *g, size_t column, size_t p, bool upper)
{
    struct span x = {g->low[column], g->high[column]};

    if (upper && x.first < p + 1)
        x.first = p + 1;
    if (!upper && x.last > p)
        x.last = p;
    return x;
}

static size_t span_count(const struct box_grid *g, size_t column, struct span x)
{
    size_t count = x.last + 1 > x.first ? x.last + 1 - x.first : 0;

    for (size_t p = x.first; g->holes && p <= x.last; p++)
        count -= is_hole(g, column, p);
    return count;
}

static size_t octant_of(struct grid_point reference, size_t i, size_t j)
{
    return (i > reference.i ? 4U : 0U) + (j > reference.j ? 2U : 0U);
}

void grid_count(const struct box_grid *g, struct grid_point reference,
                size_t count[OCTANTS])
{
    for (size_t k = 0; k < OCTANTS; k++)
        count[k] = 0;
    for (size_t c = 0; c < g->cpu_levels * g->bandwidth_levels; c++) {
        size_t octant =
            octant_of(reference, c / g->bandwidth_levels, c % g->bandwidth_levels);

        count[octant] += span_count(g, c, span_of(g, c, reference.p, false));
        count[octant + 1] += span_count(g, c, span_of(g, c, reference.p, true));
    }
}

/* Size number `index` of a span of a column. */
static size_t size_at(const struct box_grid *g, size_t column, struct span x,
                      size_t index)
{
    size_t p = x.first;

    if (!g->holes)
        return p + index;
    for (;; p++) {
        if (is_hole(g, column, p))
            continue;
        if (index-- == 0)
            return p;
    }
}

struct grid_point grid_pick(const struct box_grid *g, struct grid_point reference,
                            size_t octant, size_t index)
{
    size_t c = 0;

    for (;; c++) {
        size_t i = c / g->bandwidth_levels, j = c % g->bandwidth_levels, count;
        struct span x;

        assert(c < g->cpu_levels * g->bandwidth_levels);
        if (octant_of(reference, i, j) != (octant & 6U))
            continue;
        x = span_of(g, c, reference.p, octant & 1U);
        count = span_count(g, c, x);
        if (index < count)
            return (struct grid_point){i, j, size_at(g, c, x, index)};
        index -= count;
    }
}
