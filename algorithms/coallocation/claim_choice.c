/* coallocation/claim_choice.c - which L to claim a job with, from what became of others.
 */
#include "algorithms/coallocation/claim_choice.h"

#include <math.h>
#include <stdlib.h>

static int by_l(const void *left, const void *right)
{
    const struct co_l_candidate *x = left, *y = right;

    return (x->l > y->l) - (x->l < y->l);
}

/* A share drawn towards another one by `weight` samples of it. */
static double drawn(double successes, double ends, double prior, double weight)
{
    return ends + weight > 0 ? (successes + weight * prior) / (ends + weight) : prior;
}

static bool is_better(const struct co_l_candidate *x, const struct co_l_candidate *y,
                      double given_l)
{
    if (x->cost_processor_s != y->cost_processor_s)
        return x->cost_processor_s < y->cost_processor_s;
    return fabs(x->l - given_l) < fabs(y->l - given_l);
}

void co_choose_l(const struct co_l_choice_in *in, struct co_l_choice *out,
                 struct arena *a)
{
    struct co_l_candidate *list = NEW(a, struct co_l_candidate, in->count);
    struct co_l_choice choice = {.l = in->given_l, .candidates = list};
    double all_ends = 0, all_successes = 0, overall;

    for (size_t i = 0; i < in->count; i++) {
        choice.ends += in->list[i].ends;
        all_ends += in->list[i].all_ends;
        all_successes += in->list[i].all_successes;
    }
    overall = all_ends > 0 ? all_successes / all_ends : 1;
    for (size_t i = 0; i < in->count; i++) {
        const struct co_l_outcome *o = &in->list[i];
        double prior = drawn(o->all_successes, o->all_ends, overall, in->prior_weight);
        double p = drawn(o->successes, o->ends, prior, in->prior_weight);

        if (o->ends < in->min_samples)
            continue;
        list[choice.candidate_count++] = (struct co_l_candidate){
            o->l, o->ends, o->successes, p,
            in->processors * ((1 - o->l) * in->ftt_s + (1 - p) * in->requeue_cost_s)};
    }
    if (choice.candidate_count)
        qsort(list, choice.candidate_count, sizeof(*list), by_l);
    for (size_t i = 1; i < choice.candidate_count; i++)
        if (is_better(&list[i], &list[choice.chosen], in->given_l))
            choice.chosen = i;
    choice.learnt = choice.candidate_count > 0;
    if (choice.learnt)
        choice.l = list[choice.chosen].l;
    *out = choice;
}
