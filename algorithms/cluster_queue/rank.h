/* cluster_queue/rank.h - priorities of a queue's rows, and fair shares of its accounts.
 *
 * Source: see priority/multifactor.h and priority/fair_share.h.
 */
#ifndef GRIDPLAN_CLUSTER_RANK_H
#define GRIDPLAN_CLUSTER_RANK_H

#include "algorithms/cluster_queue/cluster.h"

struct cluster_ranking {
    struct priority_weights weights;
    bool basic;   /* by submission */
    bool classic; /* fair share; else the tree */
    bool favors_small, relative_to_time;
    bool ages_from_submission; /* also while it is held, or waits for others */
    double max_age_s, damping;
    /* Weights of amounts, nodes and what exists once, in this order. */
    const double *amount_weights; /* [amount_count + 1 + shared_count]; NULL: none */
};

/* What a job's priority comes from, besides its rows. */
struct cluster_rank_job {
    double given; /* NAN: none */
    double nice, site_factor;
};

/* Sets the factors of accounts: fair_share, of those without use given the sum of those
 * below. used_cpu_s NAN: not given. */
void cluster_fair_shares(const struct cluster_ranking *by, const double *shares,
                         struct cluster_account *accounts, size_t count,
                         struct budget *budget, struct arena *a);

/* What does not change while jobs come and go. */
struct cluster_ranker;
struct cluster_ranker *cluster_ranker_create(const struct cluster *c,
                                             const struct cluster_ranking *by,
                                             struct arena *a);

/* Sets the priorities of `count` of the rows, listed in `which`; parts: [row_count], all
 * 0 where it was given; NULL: nobody asks. */
void cluster_rank_rows(const struct cluster_ranker *r, const struct cluster *c,
                       const struct cluster_rank_job *jobs, struct cluster_row *rows,
                       const size_t *which, size_t count, struct priority *parts);

/* The same of all rows. */
void cluster_rank(const struct cluster *c, const struct cluster_ranking *by,
                  const struct cluster_rank_job *jobs, struct cluster_row *rows,
                  struct priority *parts, struct arena *a);

#endif
