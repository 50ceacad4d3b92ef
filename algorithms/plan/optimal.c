/* plan/optimal.c - recursion over phases: the least total of one cluster.
 *
 * Times and costs add up, so that the best plan of phases 1..j ends with some interval
 * i..j behind the best plan of 1..i-1:
 *
 *     B[0] = 0,  B[j] = min over i <= j with t(i,j) >= min_interval_s of
 *                       B[i-1] + t(i,j) + (cost if i > 1)
 *
 * Ties: the longest last interval.
 *
 * Source: spec rescheduling-plans.md 3.5 (ours; the source tries all 2^(N-1) plans).
 * O(N^2) steps, N(N+1)/2 questions.
 */
#include "algorithms/plan/plan.h"

#include <math.h>

/* B[j] and where its last interval begins; phases and j relative to in->first. */
static bool least_to(const struct plan_site_in *in, size_t j)
{
    double *least = in->work->least;

    least[j] = HUGE_VAL;
    for (size_t i = 1; i <= j; i++) {
        const struct plan_best *best =
            plan_table_best(in->table, in->first + i - 1, in->first + j - 1);
        double total_s;

        if (!best)
            return false;
        total_s = least[i - 1] + best->time_s + (i > 1 ? in->cost_s : 0);
        if (plan_long_enough(in, best->time_s) && total_s < least[j]) {
            least[j] = total_s;
            in->work->back[j] = i;
        }
    }
    return true;
}

enum error_code plan_optimal(const struct plan_site_in *in, struct plan_site_out *out,
                             struct error *err)
{
    size_t n = in->last - in->first + 1, done = 0, end;
    double *least = in->work->least;
    bool *marks = in->work->marks;

    (void)err;
    /* first, so that there is an answer whenever the time ends */
    plan_table_best(in->table, in->first, in->last);
    least[0] = 0;
    while (done < n && least_to(in, done + 1))
        done++;
    for (size_t k = 0; k < n; k++)
        marks[k] = false;
    for (end = done; end > 0 && !(least[end] < HUGE_VAL);)
        end--; /* no valid plan so far; without a cut there is none at all */
    if (done == n && end < n)
        end = 0;
    for (size_t j = end; j > 0; j = in->work->back[j] - 1)
        marks[j - 1] = true;
    TRY(plan_marks_answer(in, marks, out));
    out->cut = done < n;
    return OK;
}
