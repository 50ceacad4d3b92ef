/* parallel/grid_exhaustive.c - every column of Box Elimination's grid.
 *
 * Maps each pair of a cpu and a bandwidth level to a set (mapping.h): what
 * box_elimination ends at when nothing stops it, and the measure for its eliminations.
 *
 * Source: spec parallel-scheduling.md 4.7. O(columns * n^2).
 */
#include "algorithms/parallel/grid.h"
#include "algorithms/parallel/mapping.h"

const struct param parallel_grid_exhaustive_params[] = {{0}};

enum error_code parallel_grid_exhaustive(struct parallel_search *s, const double *param,
                                         struct error *err)
{
    struct box_grid grid;
    struct mapping mapping;

    (void)err;
    (void)param;
    TRY(grid_create(s, false, &grid));
    mapping_create(s, &mapping);
    for (size_t i = 0; i < grid.cpu_levels; i++) {
        for (size_t j = 0; j < grid.bandwidth_levels && !search_stop_now(s); j++) {
            mapping_find(s, grid_cpu(&grid, i), grid_bandwidth_mbps(&grid, j), &mapping);
            mapping_try(s, &mapping);
            s->iterations++;
        }
    }
    return OK;
}
