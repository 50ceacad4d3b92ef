/* coallocation/faults.h - errors of components, sites that err, runners that are silent.
 *
 * A soft error is the fault of the site: it is counted, and a site with so many in a row
 * is not used any more until an administrator says so or its cooldown is over. An
 * application error is the runner's business, a hard error the end of job and runner.
 *
 * Source: spec coallocation.md 12; 001_546dfcc428821807 3.2.2, 3.7, 5.2.4.
 * Deviation: threshold, reset by a successful start, cooldown and the time that a runner
 * may be silent are ours; the source gives none.
 */
#ifndef GRIDPLAN_COALLOCATION_FAULTS_H
#define GRIDPLAN_COALLOCATION_FAULTS_H

#include "models/base/param.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- counting ---- */

#define CO_ERROR_THRESHOLD    5
#define CO_LIVENESS_TIMEOUT_S 60.0

struct co_site_errors {
    size_t consecutive;   /* soft errors since the last successful start */
    bool unusable;        /* the threshold was reached */
    double unusable_at_s; /* when; NAN: it was not */
};

#define CO_SITE_ERRORS ((struct co_site_errors){0, false, (double)NAN})

/* A soft error of a component there. true: with this one the site became unusable, tell
 * the administrator. threshold >= 1. */
bool co_site_error(struct co_site_errors *site, size_t threshold, double now_s);

/* A component started there: the count begins anew. The site stays unusable if it is. */
void co_site_success(struct co_site_errors *site);

/* Takes an unusable site back after cooldown_s (infinite: never); true: it did. */
bool co_site_readmit(struct co_site_errors *site, double cooldown_s, double now_s);

/* A threshold for each site, from the share q of components that fail there: after k
 * errors in a row the site is either as usual, which has the probability q^k, or broken,
 * so that everything fails there. k is the least number, 2 or more, with
 *
 *     broken / (broken + (1 - broken) q^k) >= confidence
 *
 * A site that fails more than max_error_ratio as usual is not worth a second error: 1.
 * All of it is ours (spec coallocation.md 19 (5) names the idea only). */
struct co_threshold_rule {
    double broken_ratio;    /* chance that a site is broken before it erred, in (0, 1) */
    double confidence;      /* in (0, 1) */
    double max_error_ratio; /* 0..1 */
};

#define CO_THRESHOLD_RULE ((struct co_threshold_rule){0.01, 0.95, 0.5})

size_t co_site_threshold(double error_ratio, const struct co_threshold_rule *rule);

/* q of a site with so many errors and good starts, drawn by a weight of so many starts
 * towards that of all sites, which has one error and one good start more than seen: q is
 * never 0. */
double co_site_error_ratio(double errors, double starts, double all_errors,
                           double all_starts, double prior_weight);

/* ---- what to do ---- */

/* Names on the wire, ended by NULL. */
enum co_error_group { CO_ERROR_HARD, CO_ERROR_SOFT, CO_ERROR_APPLICATION };
extern const char *const co_error_group_names[];

enum co_fault_action {
    CO_NOTIFY_RUNNER,             /* tell it what happened */
    CO_COMPONENT_RETRY_BY_RUNNER, /* it deals with the component */
    CO_ABORT_JOB,                 /* stop all components */
    CO_RESTART_JOB,               /* place all of it again, elsewhere */
    CO_REPLACE_COMPONENTS,        /* place the component again, elsewhere */
    CO_PASS_THROUGH,              /* it decides */
    CO_ABORT_JOB_AND_RUNNER,
    CO_FAULT_ACTION_COUNT,
};
extern const char *const co_fault_action_names[];

struct co_fault_in {
    enum co_error_group group;
    bool handles_soft, handles_application; /* what the runner can do */
    bool atomic;                            /* the job */
};

enum { CO_FAULT_ACTIONS_MAX = 3 };

struct co_fault_out {
    enum co_fault_action actions[CO_FAULT_ACTIONS_MAX]; /* in this order */
    size_t action_count;
    bool requeue;    /* the job, or its component, goes to a placement queue */
    bool free_job;   /* all processors of the job are free */
    bool avoid_site; /* when it is placed again */
    bool failed;     /* the job is over */
};

struct co_fault_out co_fault_decide(const struct co_fault_in *in);

/* ---- liveness ---- */

/* No answer for longer than timeout_s: the runner has crashed. */
bool co_runner_dead(double last_reply_s, double now_s, double timeout_s);

/* ---- options ---- */

/* Rows of the two tables; migration.h lists them as policies for the events. */
enum { CO_FAULT_THRESHOLD, CO_FAULT_COOLDOWN_S, CO_FAULT_REQUEUE };
extern const struct param migration_component_error_params[];
enum { CO_LIVENESS_TIMEOUT };
extern const struct param migration_runner_liveness_params[];

/* ---- failure rate ---- */

/* Of a job that ended well at its k-th start: (k - 1) / k; 0 for k = 0. */
double co_failure_rate(size_t starts);

#endif
