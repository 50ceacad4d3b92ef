/* coallocation/claim.h - getting the processors of a placed job, without reservations.
 *
 * A placed job waits in the claiming queue, the one with the nearest claiming time (JCT)
 * first. At its JCT the incremental claiming policy looks which components can start on
 * their sites now, and if their share is large enough tries to find room for the others:
 * a site from where they still meet the job start time (JST), else the processors of
 * running jobs of lower priority. What it cannot start waits for the next JCT; at JST it
 * is all or nothing for an atomic job, which otherwise goes back to be placed again, to
 * be claimed earlier after that (with a smaller L).
 *
 *     F = (components started before + those that can start now) / all    F < T: wait
 *
 * Source: spec coallocation.md 8, 9; 001_546dfcc428821807 4.2.2, 4.4 (Algorithm 2).
 */
#ifndef GRIDPLAN_COALLOCATION_CLAIM_H
#define GRIDPLAN_COALLOCATION_CLAIM_H

#include "algorithms/coallocation/coallocation.h"
#include "algorithms/coallocation/timeline.h"

/* ---- the claiming queue ---- */

struct co_claim_waiting {
    const char *id;
    double jct_s;
    double submitted_s; /* NAN: not known, after those that are */
    size_t index;       /* the caller's */
};

/* Sorts by JCT, then submission, then id. */
void co_claim_queue_sort(struct co_claim_waiting *list, size_t count);

/* ---- one try ---- */

/* Names on the wire, ended by NULL. */
enum co_preempt_order { CO_NEWEST, CO_LOWEST_PRIORITY_THEN_NEWEST };
extern const char *const co_preempt_order_names[];
enum co_preempt_site { CO_PREEMPT_ORIGINAL, CO_PREEMPT_REPLACEMENT };
extern const char *const co_preempt_site_names[];

struct co_claim_options {
    double t_threshold; /* T, 0..1 */
    double l_decrement; /* what L loses when JST was missed, 0..1 */
    double l_min;       /* 0..1 */
    size_t max_tries;   /* SIZE_MAX: no limit; the try after it fails the job */
    struct co_claim_steps steps;
    bool allow_start_equal;          /* a new site may be ready at JST itself */
    bool preempt_only_if_complete;   /* never for a job that stays incomplete */
    bool preempt_with_base_priority; /* of in.base_level instead of the job's level */
    enum co_preempt_order preempt_order;
    enum co_preempt_site preempt_site;
};

/* What the spec sets when nothing is said. */
#define CO_CLAIM_OPTIONS                    \
    ((struct co_claim_options){1,           \
                               0.25,        \
                               0,           \
                               SIZE_MAX,    \
                               {1.0, 10.0}, \
                               false,       \
                               false,       \
                               false,       \
                               CO_NEWEST,   \
                               CO_PREEMPT_ORIGINAL})

struct co_running_part {
    size_t site, processors;
};

/* A job of this scheduler that holds processors, also before its JST. */
struct co_running_job {
    const char *id;
    enum co_level level;
    double jst_s;
    const struct co_running_part *parts;
    size_t part_count;
};

struct co_claim_in {
    const struct co_grid *grid;
    const size_t *idle;        /* of each site, 0 if not usable; NULL: the grid's */
    const size_t *outstanding; /* of each site, this job's included; NULL: the grid's */
    const struct co_job *job;  /* policy, level, rules; its own components are not read */
    enum co_level base_level;  /* before promotions */
    const struct co_component *components; /* as in struct co_placement; at least one */
    const struct co_choice *choices; /* where they are placed; site CO_NONE: unknown */
    const bool *started;             /* in an earlier try */
    size_t component_count;
    double now_s;
    double jst_s;
    double jct_s; /* planned; NAN: now */
    double l;     /* 0..1 */
    size_t tries; /* earlier ones */
    const struct co_running_job *running;
    size_t running_count;
    struct co_history
        *history; /* Close-to-Files adds pairs; NULL: a copy of the grid's */
    struct budget *budget;
};

enum co_claim_decision {
    CO_START_ALL,         /* with this, every component has started */
    CO_START_PARTIAL,     /* some start now, not all */
    CO_WAIT,              /* nothing starts */
    CO_REQUEUE_PLACEMENT, /* JST was missed: place it again */
    CO_CLAIM_FAIL,        /* too many tries */
};
extern const char *const co_claim_decision_names[]; /* ended by NULL */

struct co_claim_move {
    size_t component, from_site; /* CO_NONE: it had none */
    struct co_choice to;
};

struct co_claim_preemption {
    size_t running;    /* index: the whole job is stopped, on all its sites */
    size_t site;       /* where its processors are needed */
    size_t processors; /* that it has there */
};

/* Lists of components are in component order: decreasing size, then as in the input. */
struct co_claim_out {
    enum co_claim_decision decision;
    double fraction_f;   /* NAN: it was not JCT yet */
    size_t tries;        /* with this one */
    double next_jct_s;   /* START_PARTIAL, WAIT; else NAN */
    double l;            /* lowered for REQUEUE_PLACEMENT and requeued components */
    const size_t *start; /* components that start now, with those moved */
    size_t start_count;
    const struct co_claim_move *moves;
    size_t move_count;
    const struct co_claim_preemption *preemptions; /* in the order of preemption */
    size_t preemption_count;
    const size_t *waiting; /* neither started nor given up */
    size_t waiting_count;
    const size_t *abort; /* started earlier, to be stopped */
    size_t abort_count;
    const size_t *requeue; /* not atomic: to be placed again, the others run */
    size_t requeue_count;
    const size_t *released;      /* of each site: no longer outstanding */
    const struct co_pair *added; /* to the history table, sorted */
    size_t added_count;
    bool cut; /* the time limit ended the search for other sites */
};

/* One try of the incremental claiming policy. The answer is all that happens: a try that
 * gives up starts and preempts nothing. O(C (S + R) + V log V) with V parts of
 * running jobs. */
enum error_code co_claim(const struct co_claim_in *in,
                         const struct co_claim_options *options, struct co_claim_out *out,
                         struct arena *a, struct error *err);

/* ---- policies ---- */

typedef enum error_code co_claim_fn(const struct co_claim_in *in,
                                    const struct co_claim_options *options,
                                    struct co_claim_out *out, struct arena *a,
                                    struct error *err);

/* Every claiming policy: name, purpose, source, function. All take the options of
 * co_claim_params. */
#define CO_CLAIM_POLICIES(X)                                                        \
    X(incremental, "Component by component, elsewhere or by preemption if need be", \
      FROM(CITES(IN_WORK(mohamed2007, "chapter 4.4")),                              \
           BUT("What can start and what cannot is split component by component, "   \
               "largest first",                                                     \
               "The last try happens completely or not at all",                     \
               "Ties in preemption go to the lower priority, then by id")),         \
      co_claim)

extern const struct policy co_claim_policies[]; /* ended by {0} */

/* Options of claiming; the least interval is CO_MIN_CLAIM_INTERVAL_S of the common ones.
 */
extern const struct param co_claim_params[];

/* Options out of values that were bound to co_claim_params. */
struct co_claim_options co_claim_options_of(const double *value, double min_interval_s);

#endif
