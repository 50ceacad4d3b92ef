/* plan/division.c - add the marker that helps most, again and again.
 *
 * Begins with one interval. Each round tries every phase that has no marker yet and
 * takes the one that gives the least total among those that leave all intervals valid
 * (ties: the earliest), even if the total rises; it ends when no phase is left that
 * can have one. The best plan of all rounds is the answer.
 *
 * Source: 003_a5f9349f46eae656.txt 5.3.2, figure 5.3 [L1873-1891]; spec
 * rescheduling-plans.md 3.3. O(N^2) steps, at most N(N+1)/2 questions.
 * Deviation: the plan of one interval takes part; the source begins with two.
 */
#include "algorithms/plan/plan.h"

#include <math.h>
#include <string.h>

/* A round's best marker. */
struct division {
    size_t phase; /* 0: none */
    double total_s;
};

/* Tries all markers inside first..last, an interval of a plan of `total_s`. */
static bool try_interval(const struct plan_site_in *in, size_t first, size_t last,
                         double total_s, struct division *best)
{
    const struct plan_best *whole = plan_table_best(in->table, first, last);

    if (!whole)
        return false;
    for (size_t k = first; k < last; k++) {
        const struct plan_best *left = plan_table_best(in->table, first, k);
        const struct plan_best *right;
        double new_s;

        if (!left)
            return false;
        if (!plan_long_enough(in, left->time_s))
            continue;
        right = plan_table_best(in->table, k + 1, last);
        if (!right)
            return false;
        if (!plan_long_enough(in, right->time_s))
            continue;
        new_s = total_s - whole->time_s + left->time_s + right->time_s + in->cost_s;
        if (!best->phase || new_s < best->total_s)
            *best = (struct division){k, new_s};
    }
    return true;
}

/* One round over all intervals. */
static bool try_all(const struct plan_site_in *in, const bool *marks, double total_s,
                    struct division *best)
{
    size_t from = in->first;

    for (size_t k = in->first; k <= in->last; k++) {
        if (k < in->last && !marks[k - in->first])
            continue;
        if (!try_interval(in, from, k, total_s, best))
            return false;
        from = k + 1;
    }
    return true;
}

enum error_code plan_division(const struct plan_site_in *in, struct plan_site_out *out,
                              struct error *err)
{
    size_t n = in->last - in->first + 1;
    bool *marks = in->work->marks, *best_marks = in->work->best_marks;
    const struct plan_best *whole = plan_table_best(in->table, in->first, in->last);
    double total_s, best_s;
    bool cut = !whole;

    (void)err;
    if (!whole || !plan_long_enough(in, whole->time_s))
        return plan_pieces_answer(in, 0, cut, out);
    memset(marks, 0, n * sizeof(marks[0]));
    memset(best_marks, 0, n * sizeof(marks[0]));
    total_s = best_s = whole->time_s;
    for (;;) {
        struct division best = {0, HUGE_VAL};

        if (!try_all(in, marks, total_s, &best)) {
            cut = true;
            break;
        }
        if (!best.phase)
            break;
        marks[best.phase - in->first] = true;
        total_s = best.total_s;
        if (total_s < best_s) {
            best_s = total_s;
            memcpy(best_marks, marks, n * sizeof(marks[0]));
        }
    }
    TRY(plan_marks_answer(in, best_marks, out));
    out->cut = cut;
    return OK;
}
