/* parallel/sa_random_start.c - simulated annealing from random sets.
 *
 * As simulated_annealing, but the first set of each size is a random one: the method
 * that simulated_annealing was made from, to see what the model-made start is worth.
 *
 * Source: YarKhan and Dongarra 2002, as 003_a5f9349f46eae656 4.2.1 describes it; spec
 * parallel-scheduling.md 4.1. Cost as simulated_annealing, and O(n p) a size p.
 */
#include "algorithms/parallel/annealing.h"

const struct param parallel_sa_random_start_params[] = {SA_ROWS, {0}};

enum error_code parallel_sa_random_start(struct parallel_search *s, const double *param,
                                         struct error *err)
{
    (void)err;
    sa_run(s, param, NULL);
    return OK;
}
