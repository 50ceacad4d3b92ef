/* parallel/simulated_annealing.c - local search with occasional steps back.
 *
 * For each number of machines from all of them down to 2: the set begins with the
 * machines of the least time by the model, each taken alone with the mean of its links;
 * then a random member is exchanged for a random other machine, over and over. A worse
 * set is taken with probability exp(-rise / temperature); the temperature falls from
 * 100 to 1 by the factor 0.8 after every 80 exchanges. A size ends early after more than
 * 20 accepted exchanges at a temperature, or when the last one taken was worse.
 *
 * Source: 003_a5f9349f46eae656 4.2.1, figure 4.1, after YarKhan and Dongarra 2002; spec
 * parallel-scheduling.md 4.1. At most 21 * 80 evaluations a size, O(1) each; an
 * accepted exchange O(n) on average.
 * Deviation: the figure's acceptance does not look at the new set, and its "steps of
 * 0.8" may be meant to be subtracted; here Metropolis' rule, and a factor.
 */
#include "algorithms/parallel/annealing.h"

const struct param parallel_simulated_annealing_params[] = {SA_ROWS, {0}};

enum error_code parallel_simulated_annealing(struct parallel_search *s,
                                             const double *param, struct error *err)
{
    (void)err;
    sa_run(s, param, search_order(s, sa_keys(s)));
    return OK;
}
