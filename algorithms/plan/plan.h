/* plan/plan.h - where to run each phase of an application, and when to move.
 *
 * A long-running application executes phases 1..N in order. A plan cuts them into
 * intervals a..b, gives each the machines that run its phases fastest together,
 * and moves the application between intervals, which costs time:
 *
 *     total = sum over the intervals of t(a,b) + the cost of each move
 *
 * An interval is valid if it lasts at least min_interval_s (against thrashing).
 *
 * Planners ask a source for t(a,b), the least time of the phases a..b on a cluster
 * with its loads as they are: plan/machines.h asks algorithms/parallel, tests have
 * tables of numbers. Phases count from 1 everywhere, as in the spec and in JSON.
 *
 * Source: spec rescheduling-plans.md; 003_a5f9349f46eae656.txt chapter 5.
 */
#ifndef GRIDPLAN_PLAN_H
#define GRIDPLAN_PLAN_H

#include "algorithms/plan/site_plan.h"
#include "models/base/policy.h"
#include "models/bound_kind.h"
#include "models/decision_status.h"

enum { PLAN_PHASES_MAX = 1000 }; /* of an application: the tables grow with its square */

/* Where the application is or goes. */
struct plan_place {
    size_t site;     /* SIZE_MAX: nowhere, it has not started */
    size_t schedule; /* of the site's source; SIZE_MAX: some of its machines are gone */
};

/* One cluster. */
struct plan_site {
    const char *id;
    const struct plan_source *source; /* NULL: it cannot run the application */
    const char *why;                  /* ... in words */
    double intra_cost_s;              /* to other machines of it, >= 0 */
    bool unseen; /* no source because there was no time: nothing is known of it */
};

enum plan_action { PLAN_START, PLAN_KEEP, PLAN_INTRA, PLAN_INTER };

/* Names on the wire, ended by NULL. */
extern const char *const plan_action_names[];

struct plan_interval {
    size_t first, last;
    struct plan_place place;
    double time_s; /* of its phases, without the move to it */
    enum plan_action action;
    double cost_s; /* of the move to it */
    bool valid;    /* it lasts at least min_interval_s */
};

struct plan_in {
    const struct plan_site *sites;
    size_t site_count;
    const double *inter_cost_s;      /* [from * site_count + to], >= 0; the diagonal and,
                                        with one site, the whole are not read */
    size_t first_phase, phase_count; /* 1 <= first_phase <= phase_count */
    struct plan_place current;
    const struct plan_interval *initial; /* a plan to start from: first, last and place of
                                            intervals of all phases, in order */
    size_t initial_count;                /* 0: there is none */
    double min_saving_ratio; /* leave `current` only for more than this share, >= 0 */
    bool as_found;           /* what a planner found, though staying takes less: for
                                comparing planners */
    uint64_t seed;
    struct budget *budget;
};

/* The three ways of going on with an interval, costs included. */
struct plan_choice {
    double keep_s;          /* HUGE_VAL: impossible */
    double move_s;          /* the better of the two others; HUGE_VAL: likewise */
    struct plan_place move; /* where that leads */
};

/* The best plan of those planners that ask little. */
struct plan_best_list {
    const char *algorithm;
    double value; /* its total_s */
};

struct plan_out {
    const char *algorithm; /* what ran: `auto` says what it chose */
    const char *because;   /* who found the plan, and all that were tried; NULL: none */
    enum decision_status status;
    const struct plan_interval *intervals;
    size_t interval_count; /* 0: infeasible */
    size_t stop_phase;     /* where it first moves; 0: never */
    double total_s;        /* with costs; HUGE_VAL: infeasible */
    double cost_s;         /* of all moves */
    double single_s;       /* time of the best schedule that never moves */
    double lower_bound_s;  /* no plan is faster under these loads */
    double gap_ratio;      /* total_s / lower_bound_s - 1; NAN: no bound */
    uint64_t calls;        /* of sources: steps */
    const char *bound_effort;
    const struct proven_bound *bounds; /* largest first */
    size_t bound_count;
    const struct plan_best_list *best_list; /* NULL: none found a plan */
    const struct improvement *improved_at_steps;
    size_t improvement_count;
    struct plan_choice first;    /* of the first interval, if there is a `current` */
    const char *const *site_why; /* of each site: why it took no part; NULL: it did */
    const char *const *warnings;
    size_t warning_count;
};

/* ---- several clusters ---- */

struct plan_grid {
    const struct plan_in *in;
    struct plan_table *tables; /* one per site; source NULL: left out */
    plan_site_fn *planner;     /* of one cluster's plan */
    const double *param;       /* of plan_common_params */
    struct plan_work *work;
    struct plan_steps *steps; /* of all tables */
    size_t *ends;             /* one per site, for plan_grid_next() */
};

enum error_code plan_grid_create(const struct plan_in *in, plan_site_fn *planner,
                                 const double *param, struct plan_grid *grid,
                                 struct arena *a, struct error *err);

/* The next interval of a plan over several clusters, for phases start..: its length is
 * the least first interval of the clusters' own plans that is valid on all of them;
 * then the best of keeping `prev`, moving inside its cluster, moving elsewhere. Loads
 * may have changed since the last one: plan_table_forget() then.
 *
 * Source: spec rescheduling-plans.md 4; 003 5.4, figure 5.6. O(clusters x plans).
 * *found: false when the budget ended, or no cluster can run it. */
enum error_code plan_grid_next(const struct plan_grid *grid, size_t start,
                               const struct plan_place *prev, struct plan_interval *next,
                               struct plan_choice *choice, bool *found,
                               struct error *err);

/* ---- policies ---- */

struct plan_run; /* plan_run.h, for the policies */

/* Appends the intervals of a whole plan to run->intervals. */
typedef enum error_code plan_grid_fn(struct plan_run *run, struct error *err);

/* PLAN_GRID: by a plan_grid_fn; else by a plan_site_fn, several by plan_grid_next(). */
enum plan_flag { PLAN_SITE = 0, PLAN_GRID = 1 };

static inline plan_site_fn *plan_site_fn_of(const struct policy *policy)
{
    return policy->flags & PLAN_GRID ? NULL : (plan_site_fn *)policy->run;
}

/* Every policy: name, SITE or GRID, purpose, source. To add one, write plan/NAME.c
 * with plan_NAME(), and its row here (sorted by name). */
#define PLAN_POLICIES(X)                                                                 \
    X(auto, GRID,                                                                        \
      "Cheap planners, then the optimum of one cluster, the best plan"                   \
      " known for several: the best of all",                                             \
      OURS("Planners that ask little first, then the optimum; all share what was "       \
           "asked, and the best plan is the answer"))                                    \
    X(brute_force, SITE, "Every plan; at most 20 phases",                                \
      CITES(IN_WORK(sanjay2008, "chapter 5.5")))                                         \
    X(division, SITE, "Add the marker that helps most, again and again",                 \
      FROM(CITES(IN_WORK(sanjay2008, "chapter 5.3.2")),                                  \
           BUT("The plan of one interval takes part")))                                  \
    X(genetic, SITE, "Genetic algorithm over markers, split and merge",                  \
      FROM(CITES(IN_WORK(sanjay2008, "chapter 5.3.3")),                                  \
           BUT("A first marker is set with probability 1/2, a last interval that is "    \
               "too short is merged, and an invalid plan is never the answer")))         \
    X(incremental, SITE, "Grow an interval while its first schedule stays good",         \
      FROM(CITES(IN_WORK(sanjay2008, "chapter 5.3.1")),                                  \
           BUT("Schedules are compared by the model, not by mean speed and bandwidth",   \
               "The best schedule of the final interval is stored, not that of the "     \
               "interval with the refused phase",                                        \
               "Equality goes on")))                                                     \
    X(incremental_lookahead, SITE, "Grow, and look one valid interval ahead",            \
      OURS("Grows an interval, and asks after each phase whether to move now, with the " \
           "next valid interval in view"))                                               \
    X(mcrp_optimal, GRID,                                                                \
      "Recursion over phases and clusters, or the plan by optimal"                       \
      " intervals if that is better",                                                    \
      OURS("Recursion over phases and clusters with the costs of moving; the plan by "   \
           "optimal intervals if that is better"))                                       \
    X(optimal, SITE, "Recursion over phases: the least total of one cluster",            \
      OURS("Times and costs add up, so the best plan of the first phases ends with an "  \
           "interval behind a best plan"))                                               \
    X(single_schedule, GRID, "One schedule for all phases",                              \
      CITES(IN_WORK(sanjay2008, "chapter 5.5")))

#define PLAN_FN_SITE                   plan_site_fn
#define PLAN_FN_GRID                   plan_grid_fn
#define X(name, kind, purpose, source) PLAN_FN_##kind plan_##name;
PLAN_POLICIES(X)
#undef X

extern const struct policy plan_policies[]; /* sorted by name, ended by {0} */

/* Options that every policy takes. `scheduler` and the two costs are for whoever
 * makes the sources and the cost matrix. */
extern const struct param plan_common_params[];

/* Planners that ask little, in the order in which `auto` runs them, behind "best": the
 * choices of PLAN_START_LIST. */
extern const char *const plan_start_names[];

/* ---- parts of the genetic planner, for tests ---- */

/* 1 / (total (1 + invalid share) (1 + mean missing time / total)). */
double plan_fitness(const struct plan_worth *worth);

/* Splits the largest interval and merges the smallest, if it is too short. False:
 * in->table could not tell. */
bool plan_split_and_merge(const struct plan_site_in *in, bool *bits);

/* Plans the phases left, and assesses the plan: bound, gap, status. No plan takes longer
 * than the single schedule, which is answered instead (in->as_found: not). `option` has
 * a value for each of plan_common_params. Errors: ERR_INVALID if there are too many
 * phases for brute_force, ERR_TOO_LARGE. */
enum error_code plan_decide(const struct plan_in *in, const struct policy *policy,
                            const double *option, struct plan_out *out, struct arena *a,
                            struct error *err);

#endif
