/* coallocation/scan.h - the placement queues: which one is next, and what a scan does.
 *
 * There is a queue for each level. A cycle scans the two higher ones N_h times and then
 * the two lower ones N_l times; in a higher round super_high n_1 times and high n_2
 * times, in a lower one low n_3 times and super_low n_4 times. Empty queues are passed
 * over. A scan goes from head to tail and places what fits on what the earlier jobs
 * left; others stay where they are, with one more try.
 *
 * Source: spec coallocation.md 10; 001_546dfcc428821807 4.2.1; bounded overtaking 5.3.
 */
#ifndef GRIDPLAN_COALLOCATION_SCAN_H
#define GRIDPLAN_COALLOCATION_SCAN_H

#include "algorithms/coallocation/coallocation.h"

#include <math.h>

/* ---- which queue ---- */

enum { CO_WEIGHT_MAX = 1000 };

struct co_scan_weights {
    size_t higher, lower;         /* N_h, N_l; 1..CO_WEIGHT_MAX */
    size_t level[CO_LEVEL_COUNT]; /* n_4, n_3, n_2, n_1: by rank, least first */
};

#define CO_SCAN_WEIGHTS ((struct co_scan_weights){1, 1, {1, 1, 1, 1}})

/* Scans in one cycle. */
size_t co_scan_cycle_length(const struct co_scan_weights *w);

/* The queue of scan number `cursor` of the cycle; *run (may be NULL): it and so many less
 * one after it are scans of this queue. */
enum co_level co_scan_cycle_at(const struct co_scan_weights *w, size_t cursor,
                               size_t *run);

/* Whether N_h >= N_l, n_1 >= n_2 and n_3 >= n_4, as the source wants it (its own
 * experiment does not keep to it). */
bool co_scan_weights_ordered(const struct co_scan_weights *w);

/* The first queue from `cursor` on that is not empty; *next is the cursor after it.
 * false: all are empty, *next is `cursor`. O(N_h + N_l). */
bool co_scan_next(const struct co_scan_weights *w, size_t cursor,
                  const bool nonempty[CO_LEVEL_COUNT], enum co_level *level,
                  size_t *next);

/* ---- a scan ---- */

struct co_scan_options {
    size_t max_tries;     /* SIZE_MAX: no limit */
    size_t promotion;     /* every so many tries low and high move up; 0: never */
    size_t max_overtakes; /* SIZE_MAX: no limit; 0: FCFS */
    double max_wait_s;    /* infinite: no limit */
};

#define CO_SCAN_OPTIONS ((struct co_scan_options){SIZE_MAX, 0, SIZE_MAX, HUGE_VAL})

struct co_queued {
    const struct co_job *job;
    size_t tries;         /* earlier ones, in all its times in the queues */
    size_t overtaken;     /* jobs placed past it, likewise */
    double queue_entry_s; /* NAN: not known; then it never waits too long */
};

enum co_scan_outcome {
    CO_SCAN_NOT_REACHED, /* the scan stopped before it; no try */
    CO_SCAN_PLACED,      /* leaves the queue; not atomic: perhaps only a part of it */
    CO_SCAN_KEPT,        /* not placed, keeps its position */
    CO_SCAN_PROMOTED,    /* not placed, goes to the tail of the next level's queue */
    CO_SCAN_TRIES,       /* not placed, failed: too many tries */
    CO_SCAN_WAITED,      /* not placed, failed: waited too long */
};
extern const char *const co_scan_outcome_names[]; /* ended by NULL */

struct co_scanned {
    enum co_scan_outcome outcome;
    size_t tries, overtaken;       /* as they are now */
    struct co_placement placement; /* or why not; not of NOT_REACHED */
};

struct co_scan_in {
    const struct co_grid *grid;
    enum co_level level;          /* of the queue */
    const struct co_queued *jobs; /* head first */
    size_t job_count;
    double now_s;
    struct co_history
        *history; /* Close-to-Files adds pairs; NULL: a copy of the grid's */
    struct budget *budget;
};

struct co_scan_out {
    struct co_scanned *jobs; /* as in the input */
    size_t placed_count;
    size_t reached_count; /* jobs that had a try */
};

/* Scans one queue; takes what it places from available[]. The time limit ends it like
 * max_overtakes: jobs behind are not reached. O(jobs) placements. */
enum error_code co_scan(const struct co_scan_in *in,
                        const struct co_scan_options *options, size_t *available,
                        struct co_scan_out *out, struct arena *a, struct error *err);

/* ---- policies ---- */

/* Every way to go through the queues: name, purpose, source. */
#define CO_SCAN_POLICIES(X)                                                   \
    X(weighted_round_robin, "Higher queues more often, each job in its turn", \
      FROM(CITES(IN_WORK(mohamed2007, "chapter 4.2.1")),                      \
           BUT("A limit of waiting times promotes jobs to the tail of a higher queue")))

extern const struct policy co_scan_policies[]; /* ended by {0} */

/* Rows of co_scan_params that are not in struct co_scan_options, and their number. */
enum co_scan_param { CO_SCAN_INTERVAL_S, CO_SCAN_PARAM_FIRST };
extern const struct param co_scan_params[];

/* Options out of values that were bound to co_scan_params. */
struct co_scan_options co_scan_options_of(const double *value);

/* ---- coming back ---- */

enum co_requeue_rule { CO_REQUEUE_TAIL, CO_REQUEUE_ORIGINAL };
extern const char *const co_requeue_rule_names[]; /* ended by NULL */

/* Position of a job that comes back to a queue whose jobs entered it at entry_s[], head
 * first: the tail, or before the first that entered after `original_entry_s`. */
size_t co_requeue_position(const double *entry_s, size_t count, enum co_requeue_rule rule,
                           double original_entry_s);

#endif
