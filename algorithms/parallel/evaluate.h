/* parallel/evaluate.h - scoring of machine sets, the best so far, and the budget.
 *
 * A policy checks search_stop() before each evaluation, asks search_try() for the score
 * of a set of which it knows the three numbers that matter (size, least cpu, least
 * link), and hands the set over with search_keep...() when search_better() says so.
 *
 * struct parallel_set holds the numbers of a set while machines come and go: for every
 * machine z (inside or not) its least and second least link into the set, z left out,
 * and the members at their other ends. So adding, removing or replacing a machine is
 * evaluated in O(1); a change costs O(n), plus O(p) for each machine whose least links
 * end at the machine that left (two on average).
 *
 * Source: spec parallel-scheduling.md 2, 3.1-3.4.
 */
#ifndef GRIDPLAN_PARALLEL_EVALUATE_H
#define GRIDPLAN_PARALLEL_EVALUATE_H

#include "algorithms/parallel/parallel.h"
#include "models/base/rng.h"

#include <math.h>
#include <string.h>

#define NO_MACHINE SIZE_MAX

/* ---- the run of one policy ---- */

struct parallel_search {
    const struct parallel_in *in;
    struct arena *arena;
    size_t n;             /* machines, >= 1 */
    size_t min_procs;     /* >= 1 */
    const double *cpu;    /* of each machine */
    const double *links;  /* n x n, Mbit/s */
    bool monotone;        /* T + W never rises with the size */
    uint64_t random;      /* state of the stream parallel.X */
    uint64_t perturb;     /* state of the stream perturbation.X */
    const double *comp_s; /* computation of P machines at cpu 1; index P, 0..n */
    double comp1_s;       /* sum of f_comp, all functions of P taken as 1 */
    struct search_comm {
        int bw_id;
        double one;        /* sum of f_comm, all functions of P taken as 1 */
        const double *per; /* sum of f_comm / f_Pcomm(P); index P */
    } * comms;             /* one for each function of bandwidth */
    size_t comm_count;

    /* what a run leaves */
    const char *algorithm; /* of the best set, if it is not the policy's own name */
    double best_s;         /* as compared; infinite: none yet */
    size_t *best;          /* members, in no order */
    size_t best_count;
    uint64_t evaluations, iterations, work_units, invalid_count;
    uint64_t next_look; /* number of evaluations at which to look at the clock */
    bool stopped;       /* the budget is spent */
    double bound_s; /* set by a policy that proves something: no set scores less; NAN: the
                       policy says nothing; infinite: no set has a finite score */
    bool perturbation_ignored;
};

/* A run that has found nothing yet. */
enum error_code search_create(const struct parallel_in *in, struct parallel_search *s,
                              struct arena *a);

/* The same input, found nothing, counted nothing; streams from their beginning. For
 * a policy that runs others. Shares the tables, has a record of its own. */
void search_fork(const struct parallel_search *s, struct parallel_search *fork);

/* Adds the counts of `fork` and takes its best set, named `algorithm`, if it is
 * strictly better. Its stop and its bound stay its own. */
void search_join(struct parallel_search *s, const struct parallel_search *fork,
                 const char *algorithm);

/* Is the budget spent? Looks at the clock once in 512 evaluations. */
bool search_stop(struct parallel_search *s);

/* Likewise, looks at the clock now: before a piece of work of O(n^2). */
bool search_stop_now(struct parallel_search *s);

/* Score of a set of `count` machines with these minima, unperturbed, not counted;
 * infinite when invalid, and with bandwidth_mbps <= 0 (unless count is 1). */
double search_score(const struct parallel_search *s, size_t count, double cpu,
                    double bandwidth_mbps);

/* Likewise as an evaluation: counts it, charges p + p (p - 1) / 2, perturbs it. */
double search_try(struct parallel_search *s, size_t count, double cpu,
                  double bandwidth_mbps);

/* Evaluation of a set whose unperturbed score is known. */
double search_try_known(struct parallel_search *s, size_t count, double score_s);

/* Would a set of `count` machines with this score be the best so far? */
static inline bool search_better(const struct parallel_search *s, size_t count,
                                 double score_s)
{
    return score_s < s->best_s && count >= s->min_procs;
}

/* Records the set, if it is better. */
static inline void search_keep(struct parallel_search *s, double score_s,
                               const size_t *members, size_t count)
{
    if (!search_better(s, count, score_s))
        return;
    s->best_s = score_s;
    s->best_count = count;
    memcpy(s->best, members, count * sizeof(*members));
}

static inline void search_charge(struct parallel_search *s, size_t units)
{
    s->work_units += units;
}

/* Bandwidth between two machines; 0: no link. */
static inline double search_link(const struct parallel_search *s, size_t i, size_t k)
{
    return s->links[i * s->n + k];
}

/* Least link inside a set, infinite for one machine; least cpu. O(p^2), O(p). */
double search_least_link(const struct parallel_search *s, const size_t *members,
                         size_t count);
double search_least_cpu(const struct parallel_search *s, const size_t *members,
                        size_t count);

/* The machine with the greatest cpu. */
size_t search_fastest(const struct parallel_search *s);

/* ---- orders: by rising key, ties by index ---- */

struct keyed_machine {
    double key;
    size_t machine;
};

void keyed_sort(struct keyed_machine *items, size_t count);

/* All machines in order, n indexes. By key; by falling cpu. */
size_t *search_order(const struct parallel_search *s, const double *key);
size_t *search_by_cpu(const struct parallel_search *s);

/* ---- random numbers: the reference generator of the spec, 3.2 ---- */

/* Uniform in [0, 1). */
static inline double random_unit(uint64_t *state)
{
    return (double)(splitmix64(state) >> 11) * 0x1p-53;
}

/* Uniform in 0 .. count - 1; count > 0. */
static inline size_t random_index(uint64_t *state, size_t count)
{
    size_t i = (size_t)(random_unit(state) * (double)count);

    return i < count ? i : count - 1;
}

/* Moves `count` distinct random items to the front of items[0 .. n). */
void random_choose(uint64_t *state, size_t *items, size_t n, size_t count);

/* ---- a set that changes ---- */

struct set_low {          /* of one machine: its least links into the set */
    double first, second; /* Mbit/s, infinite: there is none */
    size_t first_at, second_at;
};

/* The least cpu and the least link of a set. */
struct set_minima {
    double cpu, bandwidth_mbps; /* infinite: no member, no pair */
};

struct parallel_set {
    const struct parallel_search *search;
    size_t count;        /* members */
    size_t *order;       /* n machines: the members, then the others */
    size_t *position;    /* of each machine in order */
    struct set_low *low; /* of each machine */
    /* What decides the minima: known until the next change. */
    struct set_ends {
        bool known;
        struct set_minima all;
        size_t slowest;     /* machine with the least cpu */
        double second_cpu;  /* least cpu of the others */
        size_t end[2];      /* of the least link */
        double avoiding[2]; /* least link that avoids this end */
    } ends;
};

/* An empty set. */
void set_create(const struct parallel_search *s, struct parallel_set *set);

void set_clear(struct parallel_set *set);
void set_load(struct parallel_set *set, const size_t *members, size_t count);
void set_copy(struct parallel_set *to, const struct parallel_set *from); /* O(n) */
void set_add(struct parallel_set *set, size_t machine);
void set_remove(struct parallel_set *set, size_t machine);
void set_replace(struct parallel_set *set, size_t leaves, size_t comes);

static inline bool set_has(const struct parallel_set *set, size_t machine)
{
    return set->position[machine] < set->count;
}

/* Minima of the set, or of the set without one member (NO_MACHINE: none). O(p) for the
 * first after a change, then O(1). */
struct set_minima set_minima(struct parallel_set *set, size_t without);

/* Minima of (set - leaves + comes) from m = set_minima(set, leaves). O(1). */
static inline struct set_minima set_with(const struct parallel_set *set,
                                         struct set_minima m, size_t leaves, size_t comes)
{
    const struct set_low *low = &set->low[comes];
    double link =
        leaves != NO_MACHINE && low->first_at == leaves ? low->second : low->first;
    double cpu = set->search->cpu[comes];

    if (cpu < m.cpu)
        m.cpu = cpu;
    if (link < m.bandwidth_mbps)
        m.bandwidth_mbps = link;
    return m;
}

/* Records (set - leaves + comes), either may be NO_MACHINE, if it is better. */
void set_keep(struct parallel_search *s, double score_s, const struct parallel_set *set,
              size_t leaves, size_t comes);

#endif
