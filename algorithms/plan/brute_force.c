/* plan/brute_force.c - every plan of one cluster.
 *
 * Tries all 2^(N-1) sets of markers and takes the valid one of least total; ties: the
 * first in binary order, the first phase being the lowest bit.
 *
 * Source: 003_a5f9349f46eae656.txt 5.5 [L2051]. O(2^N N); at most 20 phases.
 */
#include "algorithms/plan/plan.h"

#include <math.h>

enum { BRUTE_FORCE_PHASES_MAX = 20, SETS_BETWEEN_CHECKS = 4096 };

static void set_marks(bool *marks, size_t n, uint64_t set)
{
    for (size_t k = 0; k < n; k++)
        marks[k] = set >> k & 1;
}

enum error_code plan_brute_force(const struct plan_site_in *in, struct plan_site_out *out,
                                 struct error *err)
{
    size_t n = in->last - in->first + 1;
    uint64_t best = 0, sets;
    double best_s = HUGE_VAL;
    bool *marks = in->work->marks, cut = false;
    struct plan_worth worth;

    if (n > BRUTE_FORCE_PHASES_MAX)
        return invalid(err, "/algorithm", ITEM_TOO_MANY_PHASES,
                       "brute_force tries every plan: at most %d phases, not %zu; "
                       "'optimal' finds the same",
                       BRUTE_FORCE_PHASES_MAX, n);
    plan_table_best(in->table, in->first, in->last);
    sets = (uint64_t)1 << (n - 1);
    for (uint64_t set = 0; set < sets && !cut; set++) {
        set_marks(marks, n, set);
        cut = !plan_marks_worth(in, marks, &worth) ||
              (set % SETS_BETWEEN_CHECKS == SETS_BETWEEN_CHECKS - 1 &&
               plan_time_over(in->table));
        if (!cut && worth.invalid_count == 0 && worth.total_s < best_s) {
            best_s = worth.total_s;
            best = set;
        }
    }
    set_marks(marks, n, best);
    TRY(plan_marks_answer(in, marks, out));
    out->cut = cut;
    return OK;
}
