/* parallel/fewer.c - fewer machines, where the model cannot tell the times apart.
 *
 * Of the sets that were looked at and score at most `limit` the one with fewest machines:
 * the fastest machines, of every number (where all links are alike no smaller set is as
 * good), and what is left of the best set when one machine after the other is taken away,
 * each time the one without which it scores least. It is not proven that no set is
 * smaller. O(n^2).
 *
 * Source: spec learning.md 16, 4.
 */
#include "algorithms/parallel/evaluate.h"
#include "algorithms/parallel/sites.h"

#include <stdlib.h>

/* The smallest set so far. */
struct fewest {
    size_t *members, count;
    double score_s;
};

static void note(struct fewest *f, const size_t *members, size_t count, double score_s)
{
    if (count > f->count || (count == f->count && score_s >= f->score_s))
        return;
    memcpy(f->members, members, count * sizeof(*members));
    f->count = count;
    f->score_s = score_s;
}

static void look_at_fastest(struct parallel_search *s, double limit_s, struct fewest *f)
{
    const size_t *order = search_by_cpu(s);
    double link = HUGE_VAL;

    for (size_t count = 1; count <= f->count && count <= s->n; count++) {
        double score_s;

        for (size_t i = 0; i + 1 < count; i++)
            link = fmin(link, search_link(s, order[i], order[count - 1]));
        budget_step(s->in->budget, count);
        if (count < s->min_procs)
            continue;
        score_s = search_score(s, count, s->cpu[order[count - 1]], link);
        if (score_s <= limit_s) {
            note(f, order, count, score_s);
            return;
        }
    }
}

static void take_away(struct parallel_search *s, const struct parallel_out *best,
                      double limit_s, struct fewest *f)
{
    struct parallel_set set;

    set_create(s, &set);
    set_load(&set, best->members, best->count);
    while (set.count > s->min_procs) {
        size_t leaves = set.order[0];
        double least_s = HUGE_VAL;

        budget_step(s->in->budget, s->n + set.count);
        for (size_t i = 0; i < set.count; i++) {
            struct set_minima m = set_minima(&set, set.order[i]);
            double score_s = search_score(s, set.count - 1, m.cpu, m.bandwidth_mbps);

            if (score_s < least_s) {
                least_s = score_s;
                leaves = set.order[i];
            }
        }
        if (least_s == HUGE_VAL)
            return;
        set_remove(&set, leaves);
        if (least_s <= limit_s)
            note(f, set.order, set.count, least_s);
    }
}

static int by_index(const void *a, const void *b)
{
    const size_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

bool parallel_fewer(const struct parallel_in *in, double limit_s, size_t below,
                    struct parallel_out *out, struct arena *a)
{
    struct parallel_search s;
    struct fewest f = {NEW(a, size_t, in->machines->count + 1), below, HUGE_VAL};

    if (in->machines->count == 0 || search_create(in, &s, a) != OK)
        return false;
    look_at_fastest(&s, limit_s, &f);
    if (out->count > 0)
        take_away(&s, out, limit_s, &f);
    if (f.count >= below)
        return false;
    qsort(f.members, f.count, sizeof(*f.members), by_index);
    out->members = f.members;
    out->count = f.count;
    out->min_cpu_ratio = search_least_cpu(&s, f.members, f.count);
    out->min_bandwidth_mbps =
        f.count > 1 ? search_least_link(&s, f.members, f.count) : (double)NAN;
    out->time_s = perf_time_s(in->model, (double)f.count, out->min_cpu_ratio,
                              f.count > 1 ? out->min_bandwidth_mbps : HUGE_VAL);
    out->queue_wait_s = in->queue_wait_s ? in->queue_wait_s[f.count] : 0;
    out->score_s = out->time_s + out->queue_wait_s;
    return true;
}
