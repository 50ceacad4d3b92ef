/* coallocation/claim_choice.h - which L to claim a job with, from what became of others.
 *
 * A small L holds processors long before the job starts, a large one leaves them to
 * others, who may still have them at the start: then the job is placed again.
 *
 *     cost(L) = processors (1 - L) FTT + (1 - p(L)) processors requeue_cost_s
 *
 * in processor seconds, the first as if the first try succeeded. p(L) is the share of the
 * placements claimed with L that got their processors: those on the same sites, drawn by
 * a weight m towards those with L on any sites, p0, these towards all of them, q:
 *
 *     p(L) = (successes + m p0(L)) / (ends + m)    p0(L) = (all successes + m q) / (all +
 * m)
 *
 * Only an L with enough placements on the same sites is looked at: of the others nothing
 * is known that could speak for them.
 *
 * Source: spec coallocation.md 19 (2). Deviation: the draw towards the others, and what a
 * requeue costs, are ours; the source lowers L after a failure and never learns.
 */
#ifndef GRIDPLAN_COALLOCATION_CLAIM_CHOICE_H
#define GRIDPLAN_COALLOCATION_CLAIM_CHOICE_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* How placements ended that were claimed with one L. */
struct co_l_outcome {
    double l;                       /* 0..1 */
    double ends, successes;         /* on the same sites; successes <= ends */
    double all_ends, all_successes; /* on any, these too */
};

struct co_l_choice_in {
    const struct co_l_outcome *list; /* each L once */
    size_t count;
    double given_l;        /* 0..1: when nothing can be said, and among equals */
    double processors;     /* of the job, >= 1 */
    double ftt_s;          /* >= 0 */
    double requeue_cost_s; /* time that a job loses which is placed again, >= 0 */
    double prior_weight;   /* m, >= 0: of so many placements */
    double min_samples;    /* ends of an L that is looked at, >= 1 */
};

struct co_l_candidate {
    double l, ends, successes;
    double success_ratio; /* p(L) */
    double cost_processor_s;
};

struct co_l_choice {
    double l;
    bool learnt;                             /* false: it is given_l */
    size_t chosen;                           /* of the candidates, if learnt */
    const struct co_l_candidate *candidates; /* by L, ascending */
    size_t candidate_count;
    double ends; /* on the same sites, with any L */
};

/* O(n log n). */
void co_choose_l(const struct co_l_choice_in *in, struct co_l_choice *out,
                 struct arena *a);

#endif
