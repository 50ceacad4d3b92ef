/* parallel/cpu_prefix.c - the fastest machines, of every number.
 *
 * Machines by falling cpu; each prefix of that order is evaluated. As good as anything
 * when all links are alike, bad when they differ from machine to machine.
 *
 * Source: spec parallel-scheduling.md 4.7. O(n^2).
 */
#include "algorithms/parallel/evaluate.h"

const struct param parallel_cpu_prefix_params[] = {{0}};

enum error_code parallel_cpu_prefix(struct parallel_search *s, const double *param,
                                    struct error *err)
{
    size_t *order = search_by_cpu(s);
    double link = HUGE_VAL;

    (void)err;
    (void)param;
    for (size_t p = 1; p <= s->n && !search_stop(s); p++) {
        const double *row = s->links + order[p - 1] * s->n;

        for (size_t k = 0; k + 1 < p; k++)
            link = fmin(link, row[order[k]]);
        search_keep(s, search_try(s, p, s->cpu[order[p - 1]], link), order, p);
    }
    return OK;
}
