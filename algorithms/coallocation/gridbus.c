/* coallocation/gridbus.c - the file site first, then the widest link from it.
 *
 * The first replica by name is the file site; the component goes to the site with the
 * most bandwidth from there, or stays there. A component without a file goes where
 * worst_fit puts it. O(S) for a component.
 *
 * Source: Venugopal and Buyya in 001_546dfcc428821807 2.4 [L491]; spec
 * coallocation.md 15. Deviation: which replica, and ties (the first site by name), are
 * ours.
 */
#include "algorithms/coallocation/parts.h"

#include <math.h>

const struct param coallocation_gridbus_params[] = {{0}};

bool coallocation_gridbus(struct co_state *s, const struct co_component *component,
                          const double *param, struct co_choice *out)
{
    const struct co_grid *grid = s->grid;
    size_t best = CO_NONE, from;
    double widest_mbps = 0;

    (void)param;
    if (component->file == CO_NONE)
        return co_choose_fullest(s, NULL, out);
    if (grid->files[component->file].site_count == 0)
        return false;
    from = grid->files[component->file].sites[0];
    for (size_t e = 0; e < grid->site_count; e++) {
        double mbps =
            e == from ? HUGE_VAL : grid->bandwidth_mbps[from * grid->site_count + e];

        if (s->candidate[e] && mbps > widest_mbps) {
            widest_mbps = mbps;
            best = e;
        }
    }
    if (best == CO_NONE)
        return false;
    *out =
        (struct co_choice){best, from, co_transfer_s(grid, best, from, component->bytes)};
    return isfinite(out->transfer_s);
}
