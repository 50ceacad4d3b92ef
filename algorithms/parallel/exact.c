/* parallel/exact.c - the best machine set, with a proof.
 *
 * Links with structure (all alike, the worse of two uplinks, a tree of switches) take
 * O(n^2), see exact_tree.c. Otherwise boxes of (cpu, link) are split until the best set
 * is proven or the budget is spent (exact_boxes.c); what is left then bounds how far the
 * answer may be off. Both hold for every model: also for one whose time grows with the
 * number of machines, and with a queue wait.
 *
 * Source: spec parallel-scheduling.md 4.9. Deviation: trees of links are recognised, not
 * only given uplinks. Random errors (spec 5) are not applied: what is proven is exact.
 */
#include "algorithms/parallel/exact_parts.h"

enum { MAX_BOXES, MAX_CLIQUE_NODES };

const struct param parallel_exact_params[] = {
    [MAX_BOXES] =
        {"max_boxes", 0, 1e12, 0,
         "Boxes to split, for answers that can be repeated to the bit; 0: until "
         "the time is up",
         PARAM_INTEGER, NULL},
    [MAX_CLIQUE_NODES] = {"max_clique_nodes", 1, 1e12, 200000,
                          "Nodes of one search for a clique, after which its box counts "
                          "as not settled",
                          PARAM_INTEGER, NULL},
    {0},
};

/* The machine with the greatest cpu, alone. */
static void try_fastest(struct parallel_search *s)
{
    size_t fastest = search_fastest(s);

    if (s->min_procs > 1)
        return;
    s->evaluations++;
    search_charge(s, 1);
    search_keep(s, search_score(s, 1, s->cpu[fastest], HUGE_VAL), &fastest, 1);
}

enum error_code parallel_exact(struct parallel_search *s, const double *param,
                               struct error *err)
{
    const struct exact_options options = {
        .max_boxes = (uint64_t)param[MAX_BOXES],
        .max_clique_nodes = (uint64_t)param[MAX_CLIQUE_NODES],
    };
    bool structured;
    double bound_s;

    (void)err;
    s->perturbation_ignored = true;
    try_fastest(s);
    TRY(exact_tree(s, &structured));
    if (structured && !s->stopped) {
        s->bound_s = s->best_s;
        return OK;
    }
    TRY(exact_boxes(s, &options, s->in->known_s, &bound_s));
    s->bound_s = bound_s;
    s->stopped =
        bound_s < fmin(s->best_s, s->in->known_s > 0 ? s->in->known_s : HUGE_VAL);
    return OK;
}
