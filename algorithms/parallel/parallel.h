/* parallel/parallel.h - the machine set of one tightly coupled application.
 *
 * All machines of the set wait for its slowest cpu and its slowest link, so with P
 * machines, the least available cpu share c and the least available bandwidth b among
 * all pairs, a set takes
 *
 *     T(P, c, b) = sum of f_comp / (c * f_Pcomp(P)) + f_comm / (f_bw(b) * f_Pcomm(P))
 *
 * over the terms of the application's model (models/performance/term.h), plus, on a
 * batch cluster, the wait W(P) of a job of P machines. A policy looks for the set with
 * the least score T + W; which machines and how many are both free. A pair without a
 * link makes the score infinite. One call looks at one cluster.
 *
 * Policies are pure: no clock, no I/O, no global state; the same input gives the same
 * bits. Ties go to what was found earlier, among machines to the lower index.
 *
 * Source: 003_a5f9349f46eae656.txt chapter 4 (H. A. Sanjay, 2008); spec
 * parallel-scheduling.md.
 */
#ifndef GRIDPLAN_PARALLEL_H
#define GRIDPLAN_PARALLEL_H

#include "models/base/budget.h"
#include "models/base/policy.h"
#include "models/decision_status.h"
#include "models/performance/term.h"

#include <stdbool.h>
#include <stdint.h>

/* The machines of one cluster that can be used. */
struct parallel_machines {
    size_t count;
    const double *cpu_available_ratio; /* of each machine, 0 < c <= 1 */
    const double *bandwidth_mbps; /* count x count, symmetric; 0: no link; the diagonal
                                     is not read */
    const double *uplink_mbps;    /* of each machine, if every link is the lesser of its
                                     two uplinks (the matrix says the same); else NULL */
    double link_capacity_mbps;    /* > 0: the step of Box Elimination's grid */
};

struct parallel_in {
    const struct parallel_machines *machines;
    const struct perf_terms *model;
    size_t min_procs;           /* no smaller set is an answer; 0 is taken as 1 */
    const double *queue_wait_s; /* W(P) at index P, 0..count, >= 0; NULL: none */
    bool pre_evaluate;          /* also look at the fastest machine and at all machines */
    double perturbation_ratio;  /* compare scores times 1 + u, u in [-p, p); 0: exact */
    double work_budget; /* work units after which to stop; 0: no limit. A unit is a read
                           of a cpu or a link by a method that keeps nothing; the two
                           sets of pre_evaluate are not of it */
    struct budget *budget; /* the clock, or NULL; its max_steps is not used */
    double known_s; /* score of an answer in another cluster, for `exact`; 0: none */
    uint64_t seed;
    const char *site_id; /* names the random streams: parallel.X, perturbation.X; NULL:
                            the seed itself is the state */
};

struct parallel_out {
    const char *algorithm; /* what found the set: `auto` says which of its methods */
    enum decision_status status;
    const size_t *members; /* indexes of machines, ascending */
    size_t count;          /* 0: no set with a finite score was found */
    double score_s;        /* time_s + queue_wait_s; infinite: nothing found */
    double time_s, queue_wait_s;
    double min_cpu_ratio;
    double min_bandwidth_mbps; /* NAN: one machine */
    double lower_bound_s;      /* no set scores less; 0: nothing is known; infinite: no
                                  set has a finite score */
    double gap_ratio;          /* score_s / lower_bound_s - 1; NAN: no bound or no set */
    uint64_t evaluations, iterations;
    double work_units;
    uint64_t invalid_count;    /* evaluations that gave no positive finite score although
                                  all links were there */
    bool stopped_early;        /* by the work budget or the clock */
    bool monotone;             /* T never rises with P, and no queue wait */
    bool perturbation_ignored; /* asked for, but the policy proves its answer */
};

struct parallel_search; /* evaluate.h, for the policies */

/* Looks for the set and records what it evaluates in *s. param: one value for each row
 * of the policy's own table. */
typedef enum error_code parallel_fn(struct parallel_search *s, const double *param,
                                    struct error *err);

/* What runs a policy of this table. */
static inline parallel_fn *parallel_fn_of(const struct policy *policy)
{
    return (parallel_fn *)policy->run;
}

/* Every policy. To add one, write parallel/NAME.c with parallel_NAME() and
 * parallel_NAME_params[], and its row here. */
#define PARALLEL_POLICIES(X)                                                             \
    X(all_machines, "All machines",                                                      \
      FOLKLORE(                                                                          \
          "All machines, as without any choice: what other sets are compared with"))     \
    X(ant_colony, "Ants choose by pheromone, and complete their sets by the model",      \
      FROM(CITES(IN_WORK(sanjay2008, "chapter 4.2.3")),                                  \
           BUT("Pheromone is measured from the worst score of a round, not from the "    \
               "best")))                                                                 \
    X(auto, "The exact method first, then what else finds a better set",                 \
      OURS("The exact method first; without its proof box_elimination and "              \
           "dynamic_programming look for a better set in the time that is left"))        \
    X(box_elimination, "Rules out boxes of (cpu, bandwidth, size) until none is left",   \
      FROM(CITES(IN_WORK(sanjay2008, "chapter 4.2.6")),                                  \
           BUT("Points that may be better are not taken out by rounding, unless "        \
               "be_mode asks for it")))                                                  \
    X(branch_and_bound, "Removes machines level by level while that helps",              \
      FROM(CITES(IN_WORK(sanjay2008, "chapter 4.2.4")),                                  \
           BUT("What is equal to the bound is pruned too, as the text says and the "     \
               "figure does not")))                                                      \
    X(brute_force, "Every set; up to 20 machines",                                       \
      FOLKLORE("Evaluates every set of machines"))                                       \
    X(cpu_prefix, "The fastest machines, of every number",                               \
      OURS("The fastest machines of every number: as good as any set when all links "    \
           "are alike"))                                                                 \
    X(dynamic_programming, "Grows the two best sets machine by machine",                 \
      FROM(CITES(IN_WORK(sanjay2008, "chapter 4.2.5")),                                  \
           BUT("Sizes grow by 1, and the two sets that are kept differ")))               \
    X(exact, "The best set with a proof, or a bound",                                    \
      OURS("Splits boxes of speed and link until the best set is proven; links with "    \
           "structure need no search"))                                                  \
    X(genetic, "Crossover, and mutation steered by the model",                           \
      FROM(CITES(IN_WORK(sanjay2008, "chapter 4.2.2")),                                  \
           BUT("Children that have a machine twice are repaired")))                      \
    X(grid_exhaustive, "Every (cpu, bandwidth) column of Box Elimination's grid",        \
      OURS("Looks at every column of the grid of box_elimination: what its "             \
           "eliminations are measured by"))                                              \
    X(random, "The best of some random sets",                                            \
      FOLKLORE("The best of sets drawn at random"))                                      \
    X(sa_random_start, "Simulated annealing from random sets",                           \
      CITES(IN_WORK(yarkhan2002, NULL), IN_WORK(sanjay2008, "chapter 4.2.1")))           \
    X(simulated_annealing, "Simulated annealing from the model's own choice",            \
      FROM(CITES(IN_WORK(sanjay2008, "chapter 4.2.1"), IN_WORK(yarkhan2002, NULL)),      \
           BUT("Worse sets are accepted by the rule of Metropolis, and the temperature " \
               "falls by a factor")))                                                    \
    X(threshold_exact, "The best set where every link is the lesser of two uplinks",     \
      OURS("Machines with an uplink of at least b are linked with at least b: for "      \
           "every b the fastest of them are the best set of each size"))

#define X(name, purpose, source) \
    parallel_fn parallel_##name; \
    extern const struct param parallel_##name##_params[];
PARALLEL_POLICIES(X)
#undef X

extern const struct policy parallel_policies[]; /* sorted by name, ended by {0} */

/* Options that every policy takes; who builds *in reads them. The policy's own begin at
 * PARALLEL_COMMON_COUNT. */
enum parallel_common {
    PARALLEL_WORK_BUDGET,
    PARALLEL_PRE_EVALUATE,
    PARALLEL_PERTURBATION,
    PARALLEL_USE_FORECAST, /* read by the handler, when it looks up a stored snapshot */
    PARALLEL_COMMON_COUNT,
};

extern const struct param parallel_common_params[];

/* Runs the policy, looks at the two sets of pre_evaluate (whose result never steers the
 * policy), and adds the lower bound and the status. Without any machine, or with fewer
 * than min_procs: infeasible. ERR_INVALID when the policy cannot treat the input
 * (brute_force beyond 20 machines, threshold_exact without uplinks). */
enum error_code parallel_decide(const struct parallel_in *in, const struct policy *policy,
                                const double *param, struct parallel_out *out,
                                struct arena *a, struct error *err);

/* A set of fewer than `below` machines that scores at most limit_s takes the place of the
 * members and their numbers in *out, where one is found (fewer.c); bound, gap and status
 * stay. */
bool parallel_fewer(const struct parallel_in *in, double limit_s, size_t below,
                    struct parallel_out *out, struct arena *a);

#endif
