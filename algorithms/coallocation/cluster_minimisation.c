/* coallocation/cluster_minimisation.c - few sites, so little traffic between them.
 *
 * A component goes to the site with most processors left among those that the job uses
 * already, else among all; sites that no replica reaches are left out. O(S) for a
 * component.
 *
 * Source: named in 001_546dfcc428821807 [L569, L761]; the rule is ours (spec
 * coallocation.md 6.5).
 */
#include "algorithms/coallocation/parts.h"

const struct param coallocation_cluster_minimisation_params[] = {{0}};

bool coallocation_cluster_minimisation(struct co_state *s,
                                       const struct co_component *component,
                                       const double *param, struct co_choice *out)
{
    (void)component;
    (void)param;
    return co_choose_fullest(s, s->used, out);
}
