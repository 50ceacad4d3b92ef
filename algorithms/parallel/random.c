/* parallel/random.c - the best of some random sets.
 *
 * The size is uniform in max(2, min_procs)..n, then each set of that size is equally
 * likely. What a search must beat.
 *
 * Source: spec parallel-scheduling.md 4.7. O(samples * n^2).
 */
#include "algorithms/parallel/evaluate.h"

enum { SAMPLES };

const struct param parallel_random_params[] = {
    [SAMPLES] = {"samples", 1, 1e6, 1000, "Sets that are drawn", PARAM_INTEGER, NULL},
    {0},
};

enum error_code parallel_random(struct parallel_search *s, const double *param,
                                struct error *err)
{
    size_t *machines = NEW(s->arena, size_t, s->n);
    size_t least = s->min_procs > 2 ? s->min_procs : 2;

    (void)err;
    for (size_t i = 0; i < s->n; i++)
        machines[i] = i;
    for (size_t k = 0; least <= s->n && (double)k < param[SAMPLES]; k++) {
        size_t p;

        if (search_stop_now(s))
            break;
        p = least + random_index(&s->random, s->n - least + 1);
        random_choose(&s->random, machines, s->n, p);
        s->iterations++;
        search_keep(s,
                    search_try(s, p, search_least_cpu(s, machines, p),
                               search_least_link(s, machines, p)),
                    machines, p);
    }
    return OK;
}
