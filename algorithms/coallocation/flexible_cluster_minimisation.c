/* coallocation/flexible_cluster_minimisation.c - a flexible job over few sites.
 *
 * The split (split.c) fills the sites with most processors first. With equal components
 * it only says how many there are, and cluster_minimisation places them.
 *
 * Source: named in 001_546dfcc428821807 [L569, L761]; the rule is ours (spec
 * coallocation.md 6.6).
 */
#include "algorithms/coallocation/parts.h"

const struct param coallocation_flexible_cluster_minimisation_params[] = {{0}};

bool coallocation_flexible_cluster_minimisation(struct co_state *s,
                                                const struct co_component *component,
                                                const double *param,
                                                struct co_choice *out)
{
    return coallocation_cluster_minimisation(s, component, param, out);
}
