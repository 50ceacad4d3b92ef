/* parallel/threshold_exact.c - the best machine set where links are uplinks.
 *
 * When every link is the lesser of its two ends' uplinks, the machines with an uplink of
 * at least b are linked with at least b, and no others are. So for every b the best set
 * of each size is that of the fastest of these machines.
 *
 * Source: spec parallel-scheduling.md 4.7. Deviation: as a tree of links, which takes
 * O(n^2) where the spec's loop over cpu values takes O(n^2 log n); same scores.
 */
#include "algorithms/parallel/exact_parts.h"

const struct param parallel_threshold_exact_params[] = {{0}};

enum error_code parallel_threshold_exact(struct parallel_search *s, const double *param,
                                         struct error *err)
{
    size_t fastest = search_fastest(s);
    bool structured;

    (void)param;
    if (!s->in->machines->uplink_mbps)
        return invalid(
            err, "/algorithm", ITEM_NOT_APPLICABLE,
            "threshold_exact needs links of the form uplinks; exact takes all");
    s->perturbation_ignored = true;
    if (s->min_procs == 1) {
        s->evaluations++;
        search_charge(s, 1);
        search_keep(s, search_score(s, 1, s->cpu[fastest], HUGE_VAL), &fastest, 1);
    }
    TRY(exact_tree(s, &structured));
    if (structured && !s->stopped)
        s->bound_s = s->best_s;
    return OK;
}
