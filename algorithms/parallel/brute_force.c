/* parallel/brute_force.c - every set.
 *
 * Sets are numbers of n bits, taken upwards. A pair of machines in a set either does
 * without its greatest machine, or without its least, or is these two, so
 *
 *     link(S) = min(link(S - greatest), link(S - least), link of greatest and least)
 *
 * and each set takes O(1) with the minima of all smaller numbers at hand.
 *
 * Source: spec parallel-scheduling.md 4.7. O(2^n) time and memory (16 bytes a set).
 */
#include "algorithms/parallel/evaluate.h"

enum { MACHINES_MAX = 20 };

const struct param parallel_brute_force_params[] = {{0}};

static void keep_bits(struct parallel_search *s, double score_s, size_t bits,
                      size_t count)
{
    size_t members[MACHINES_MAX], used = 0;

    if (!search_better(s, count, score_s))
        return;
    for (size_t i = 0; i < s->n; i++)
        if (bits >> i & 1)
            members[used++] = i;
    search_keep(s, score_s, members, count);
}

enum error_code parallel_brute_force(struct parallel_search *s, const double *param,
                                     struct error *err)
{
    size_t end = (size_t)1 << (s->n < MACHINES_MAX ? s->n : MACHINES_MAX);
    double *cpu, *link;

    (void)param;
    if (s->n > MACHINES_MAX)
        return invalid(err, "/algorithm", ITEM_NOT_APPLICABLE,
                       "brute_force takes up to %d machines of a site, not %zu; exact "
                       "takes all",
                       (int)MACHINES_MAX, s->n);
    cpu = NEW(s->arena, double, end);
    link = NEW(s->arena, double, end);
    cpu[0] = link[0] = HUGE_VAL;
    for (size_t set = 1; set < end && !search_stop(s); set++) {
        size_t low = (size_t)__builtin_ctzll(set),
               high = 63U - (size_t)__builtin_clzll(set);
        size_t rest = set ^ (size_t)1 << high, count = (size_t)__builtin_popcountll(set);

        cpu[set] = fmin(cpu[rest], s->cpu[high]);
        link[set] = HUGE_VAL;
        if (rest)
            link[set] = fmin(fmin(link[rest], link[set ^ (size_t)1 << low]),
                             search_link(s, low, high));
        keep_bits(s, search_try(s, count, cpu[set], link[set]), set, count);
    }
    if (!s->stopped && !(s->in->perturbation_ratio > 0))
        s->bound_s = s->best_s;
    return OK;
}
