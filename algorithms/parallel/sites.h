/* parallel/sites.h - the choice among several sites, and what a site gives a policy.
 *
 * The application stays inside one site. A policy looks at each site that is described
 * (models/site.h); the site of the least score is the answer, ties: the first. The
 * lower bound of the whole is the least of those of the sites.
 *
 * On another site's hardware the computation takes cpu_scaling_factor times what the
 * model says, the communication bandwidth_scaling_factor times. On a batch site the
 * machines are idle when the job gets them, but it waits: W(P) is the mean wait of past
 * jobs of P machines, or of the nearest number, ties: the larger.
 *
 * Source: spec parallel-scheduling.md 1.1, 5, 6; 003_a5f9349f46eae656 4.3.3, 6.4.
 */
#ifndef GRIDPLAN_PARALLEL_SITES_H
#define GRIDPLAN_PARALLEL_SITES_H

#include "algorithms/parallel/parallel.h"
#include "models/site.h"

/* ---- one site ---- */

/* The machines of a site that can be used. */
struct site_machines {
    struct parallel_machines machines;
    const size_t *resource;     /* of each machine: its index in the site's resources */
    const double *queue_wait_s; /* W(P) at index P, 0..count; NULL: no batch site */
    bool queue_wait_known;      /* batch: there is a history; otherwise W is 0 */
    size_t unusable_count;      /* resources without any cpu, or none given */
    size_t raised_cpu_count;    /* below 0.01, raised to it */
    size_t raised_link_count;   /* pairs: below 0.01 Mbit/s, raised to it */
};

/* Makes them. Mistakes that a table does not see (a list of links of the wrong length,
 * unknown machines in overrides, missing uplinks) are noted in *err; `pointer` names
 * the site there, "/snapshot/sites/0". O(n^2). */
enum error_code site_machines_make(const struct site *site, const char *pointer,
                                   struct site_machines *out, struct arena *a,
                                   struct error *err);

/* The model on the site's hardware: terms (and single_s) times the two factors. */
enum error_code site_scale_model(const struct site *site, const struct perf_terms *model,
                                 struct perf_terms *scaled, struct arena *a);

/* machines / cpu_scaling_factor * share of the machines with more than 0.35 of their
 * cpu: how strong a site is (spec 7.3). Deviation: the source multiplies by the factor,
 * although a larger one means a slower site. */
double site_weight(const struct site *site, const struct site_machines *machines);

/* ---- several sites ---- */

struct sites_problem {
    const struct site *site;
    struct site_machines machines;
    const struct perf_terms
        *model; /* on its hardware; NULL: none, the site is left out */
};

struct sites_in {
    const struct sites_problem *sites;
    size_t site_count;
    const struct policy *policy;
    const double *param; /* as policy_bind() fills it */
    size_t min_processors;
    uint64_t seed;
    struct budget *budget; /* of all sites together */
};

struct sites_out {
    const struct parallel_out *each; /* of each site */
    size_t chosen;                   /* SIZE_MAX: none */
    enum decision_status status;
    double lower_bound_s;       /* 0: nothing is known; infinite: nothing can be done */
    double gap_ratio;           /* NAN: no bound or no answer */
    double heterogeneity_ratio; /* greatest weight / least, of the sites with machines */
    uint64_t evaluations, iterations;
    double work_units;
    uint64_t invalid_count;
    bool stopped_early, monotone, perturbation_ignored;
};

/* Runs the policy on one site after another; each gets the time that is left divided by
 * the sites that are left. ERR_INVALID when the policy cannot treat a site. */
enum error_code sites_decide(const struct sites_in *in, struct sites_out *out,
                             struct arena *a, struct error *err);

/* After that: the set of fewest machines, of any site, among those that are looked at and
 * score at most exp(tolerance) times the best; ties: the lesser score, then the first
 * site. It is called optimal only where it is the best one. *each of *out is replaced. */
void sites_prefer_fewer(const struct sites_in *in, double tolerance,
                        struct sites_out *out, struct arena *a);

#endif
