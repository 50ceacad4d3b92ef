/* coallocation/launch.h - runners, and the plan by which one launches a placed job.
 *
 * A runner knows one type of application: in which order components start, whether they
 * wait for each other, what has to be done before and after. The table says it of each
 * runner; the plan of a job follows from the table, its placement and its start time.
 *
 * Source: spec coallocation.md 13; 001_546dfcc428821807 3.3, 3.4, 6.2.
 */
#ifndef GRIDPLAN_COALLOCATION_LAUNCH_H
#define GRIDPLAN_COALLOCATION_LAUNCH_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- runners ---- */

enum co_failure_default {
    CO_FAILURE_RESTART_ELSEWHERE,
    CO_FAILURE_RESTART_JOB,
    CO_FAILURE_RESTART_COMPONENT
};
extern const char *const co_failure_default_names[]; /* ended by NULL */

struct co_runner {
    const char *name, *purpose, *source;
    bool atomic;                /* all components or none */
    bool barrier;               /* components wait for each other */
    bool joins_nameserver;      /* components find each other there */
    const char *capability;     /* that every site must have; NULL: none */
    const char *pre_submission; /* of each component; NULL: nothing */
    enum co_failure_default on_failure;
    bool maps_components; /* it decides itself what runs where, on the sites it gets */
};

/* Every runner: name, purpose, source, atomic, barrier, nameserver, capability, before
 * each component, on failure, maps. Where the source is silent on IRunner and MDrunner
 * (atomic, order), it is ours. */
#define CO_RUNNERS(X)                                                                   \
    X(BoT, "Independent tasks", "001_546dfcc428821807 3.3", false, false, false, NULL,  \
      NULL, CO_FAILURE_RESTART_COMPONENT, false)                                        \
    X(DRunner, "MPI by MPICH-G2 and DUROC", "001_546dfcc428821807 3.3.2", true, true,   \
      false, "globus", "wait_for_barrier", CO_FAILURE_RESTART_JOB, false)               \
    X(IRunner, "Ibis, in Java", "001_546dfcc428821807 3.3.3", true, false, true, "jvm", \
      "add_runtime_libs", CO_FAILURE_RESTART_ELSEWHERE, false)                          \
    X(KRunner, "Jobs without special needs", "001_546dfcc428821807 3.3.1", true, false, \
      false, NULL, NULL, CO_FAILURE_RESTART_ELSEWHERE, false)                           \
    X(MDrunner, "Higher-order components", "001_546dfcc428821807 2.4", true, false,     \
      false, NULL, NULL, CO_FAILURE_RESTART_ELSEWHERE, true)

extern const struct co_runner co_runners[]; /* sorted by name, ended by {0} */

extern const char *const co_runner_names[]; /* likewise, ended by NULL */

/* NULL if there is no such runner. */
const struct co_runner *co_runner_find(const char *name);

/* ---- plans ---- */

#define CO_LAUNCH_NONE ((size_t)-1)

struct co_launch_component {
    const char *id;
    size_t processors;
    const char *site_id;
    double claim_at_s;   /* when its processors are claimed */
    const size_t *after; /* components that must be done before; for workflows */
    size_t after_count;
};

/* A nameserver that jobs of a user share. */
struct co_nameserver {
    const char *id, *site_id;
    size_t job_count; /* that use it */
};

struct co_launch_in {
    const struct co_runner *runner;
    const struct co_launch_component *components;
    size_t component_count;
    double jst_s;
    bool stages_files; /* there are inputs or executables to bring, results to fetch */
    bool pooled;       /* take a nameserver of the pool, if there is one */
    const struct co_nameserver *nameservers;
    size_t nameserver_count;
    size_t max_launches_per_site; /* at a time; 0: no limit */
};

enum co_order_rule { CO_ORDER_ANY, CO_ORDER_SIMULTANEOUS, CO_ORDER_TOPOLOGICAL };
extern const char *const co_order_rule_names[]; /* ended by NULL */

/* Steps before and after a job; their names are ended by NULL. */
#define CO_PRE_PHASES(X)  X(create_sandbox) X(stage_in) X(start_nameserver)
#define CO_POST_PHASES(X) X(stage_out) X(stop_nameserver) X(cleanup)
#define X(name)           CO_BEFORE_##name,
enum co_pre_phase { CO_PRE_PHASES(X) };
#undef X
#define X(name) CO_AFTER_##name,
enum co_post_phase { CO_POST_PHASES(X) };
#undef X
extern const char *const co_pre_phase_names[], *const co_post_phase_names[];

struct co_launch_plan {
    double launch_at_s; /* JST */
    enum co_order_rule rule;
    const size_t *order; /* component_count components */
    const size_t *wave;  /* of each component: launches of a site that wait for earlier
                            ones because of max_launches_per_site; 0: at once */
    bool barrier;
    bool has_nameserver;
    bool nameserver_pooled;
    size_t nameserver;              /* of the pool; CO_LAUNCH_NONE: one for this job */
    const char *nameserver_site_id; /* where it runs */
    const char *const *pre_phase;   /* steps, in order */
    size_t pre_phase_count;
    const char *const *post_phase;
    size_t post_phase_count;
};

/* Needs at least one component. Components that wait for each other in a circle are
 * ERR_INVALID with pointer /components/I/after. O(C log C + edges). */
enum error_code co_plan_launch(const struct co_launch_in *in, struct co_launch_plan *out,
                               struct arena *a, struct error *err);

#endif
