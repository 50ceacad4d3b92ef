/* parallel/all_machines.c - all machines.
 *
 * What a search falls back to when it finds nothing better: the measure of what
 * leaving machines out gains. O(n^2).
 *
 * Source: spec parallel-scheduling.md 4.7.
 */
#include "algorithms/parallel/evaluate.h"

const struct param parallel_all_machines_params[] = {{0}};

enum error_code parallel_all_machines(struct parallel_search *s, const double *param,
                                      struct error *err)
{
    size_t *all = NEW(s->arena, size_t, s->n);

    (void)err;
    (void)param;
    if (search_stop_now(s))
        return OK;
    for (size_t i = 0; i < s->n; i++)
        all[i] = i;
    search_keep(s,
                search_try(s, s->n, search_least_cpu(s, all, s->n),
                           search_least_link(s, all, s->n)),
                all, s->n);
    return OK;
}
