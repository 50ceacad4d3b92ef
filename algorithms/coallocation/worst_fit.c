/* coallocation/worst_fit.c - the site with most processors left.
 *
 * Balances what is left over the sites. The file comes from the replica with the least
 * transfer time; sites that no replica reaches are left out. O(S) for a component.
 *
 * Source: 001_546dfcc428821807 4.3.2 [L871-L873]; spec coallocation.md 6.3.
 * Deviation: ties go to the site whose idle processors are most likely to stay idle,
 * where that is known, else to the first by name; the source says nothing.
 */
#include "algorithms/coallocation/parts.h"

const struct param coallocation_worst_fit_params[] = {{0}};

bool coallocation_worst_fit(struct co_state *s, const struct co_component *component,
                            const double *param, struct co_choice *out)
{
    (void)component;
    (void)param;
    return co_choose_fullest(s, NULL, out);
}
