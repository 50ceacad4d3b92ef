/* plan/optimal.c - recursion over phases: the least total of one cluster.
 *
 * Times and costs add up, so that the best plan of phases 1..j ends with some interval
 * i..j behind the best plan of 1..i-1:
 *
 *     B[0] = 0,  B[j] = min over i <= j with t(i,j) >= min_interval_s of
 *                       B[i-1] + t(i,j) + (cost if i > 1)
 *
 * Ties: the longest last interval. The intervals that the incremental planner asks for
 * come first; then all others, those first that have about as many phases as those of the
 * best plan so far. When the budget ends before, the recursion over those that are known
 * is the answer.
 *
 * Source: spec rescheduling-plans.md 3.5 (ours; the source tries all 2^(N-1) plans),
 * search.md 9. O(N^2) steps, N(N+1)/2 questions.
 */
#include "algorithms/plan/near.h"
#include "algorithms/plan/plan.h"

#include <math.h>
#include <string.h>

/* B[1..n] and where the last intervals begin, of the intervals that are known. */
static void recur(const struct plan_site_in *in, size_t n)
{
    double *least = in->work->least;

    least[0] = 0;
    for (size_t j = 1; j <= n; j++) {
        least[j] = HUGE_VAL;
        for (size_t i = 1; i <= j; i++) {
            const struct plan_best *best =
                plan_table_known(in->table, in->first + i - 1, in->first + j - 1);
            double total_s;

            if (!best || !plan_long_enough(in, best->time_s))
                continue;
            total_s = least[i - 1] + best->time_s + (i > 1 ? in->cost_s : 0);
            if (total_s < least[j]) {
                least[j] = total_s;
                in->work->back[j] = i;
            }
        }
    }
}

/* Numbers of phases of the intervals of the best plan that is known. */
static void mark_near(const struct plan_site_in *in, size_t n, bool *is_near)
{
    bool found = in->work->least[n] < HUGE_VAL;

    memset(is_near, 0, (n + 1) * sizeof(is_near[0]));
    is_near[n] = !found;
    for (size_t j = found ? n : 0; j > 0; j = in->work->back[j] - 1)
        is_near[j - in->work->back[j] + 1] = true;
}

enum error_code plan_optimal(const struct plan_site_in *in, struct plan_site_out *out,
                             struct error *err)
{
    size_t n = in->last - in->first + 1;
    bool *marks = in->work->marks, whole;

    /* first, so that there is an answer whenever the time ends */
    plan_table_best(in->table, in->first, in->last);
    TRY(plan_incremental(in, out, err));
    recur(in, n);
    mark_near(in, n, in->work->is_near);
    whole = plan_near_ask(in->table, 1, in->first, in->last, in->work->is_near, in->work);
    recur(in, n);
    memset(marks, 0, n * sizeof(marks[0]));
    /* no valid plan: all in one interval */
    for (size_t j = in->work->least[n] < HUGE_VAL ? n : 0; j > 0;
         j = in->work->back[j] - 1)
        marks[j - 1] = true;
    TRY(plan_marks_answer(in, marks, out));
    out->cut = !whole;
    return OK;
}
