/* migration/multi_phase.h - an application of several phases at the end of a phase. */
#ifndef GRIDPLAN_MIGRATION_MULTI_PHASE_H
#define GRIDPLAN_MIGRATION_MULTI_PHASE_H

#include "algorithms/migration/migration.h"
#include "algorithms/plan/plan.h"

enum multi_phase_option {
    MULTI_PHASE_PLANNER,
    MULTI_PHASE_WINDOW,
    MULTI_PHASE_LEAST_RATIO,
    MULTI_PHASE_LARGEST_RATIO,
    MULTI_PHASE_PERIOD,
    MULTI_PHASE_SAVING,
    MULTI_PHASE_OPTION_COUNT
};

/* A phase that is done. */
struct multi_phase_done {
    double predicted_s, actual_s; /* > 0; >= 0 */
};

struct multi_phase_in {
    const struct plan_in *plan; /* the phases left, if any, and where it runs */
    const double *plan_option;
    size_t phases_done;       /* 0 .. plan->phase_count */
    size_t stop_phase;        /* of its plan; 0: none */
    double since_last_move_s; /* HUGE_VAL: never moved */
    double since_plan_s;      /* HUGE_VAL: it has no plan */
    bool machine_gone;
    const struct multi_phase_done *history; /* oldest first */
    size_t history_count;
};

/* The rules, in the order in which they are looked at. */
#define MULTI_PHASE_RULES(X) \
    X(finished) X(forced) X(plan_marker) X(min_interval) X(contract) X(periodic) X(none)
enum multi_phase_rule {
#define X(name) RULE_##name,
    MULTI_PHASE_RULES(X)
#undef X
};
extern const char *const multi_phase_rule_names[]; /* by enum, ended by NULL */

struct multi_phase_out {
    enum migration_decision decision;
    const char *reason;        /* of multi_phase_rule_names: what decided */
    bool has_plan;             /* a plan was made */
    struct plan_out plan;      /* infeasible: nothing can run the phases left */
    double keep_s, move_s;     /* of the next interval; HUGE_VAL: impossible, not asked */
    double expectation_factor; /* NAN: predictions stand as they are */
};

/* Errors: as plan_decide(). */
enum error_code migration_multi_phase(const struct multi_phase_in *in,
                                      const double *param, struct multi_phase_out *out,
                                      struct arena *a, struct error *err);

#endif
