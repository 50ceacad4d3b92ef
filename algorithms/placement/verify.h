/* placement/verify.h - an independent look at a finished plan.
 *
 * Own code: it shares with the policies and searches nothing but the readers of times,
 * transfers and filters. It is asked before a plan is called optimal, and by tests.
 * Source: spec search.md 2.8.
 */
#ifndef GRIDPLAN_PLACEMENT_VERIFY_H
#define GRIDPLAN_PLACEMENT_VERIFY_H

#include "algorithms/placement/plan.h"

/* Names of what may be wrong with a plan. */
#define VERIFY_RULES(X)                                                              \
    X(VERIFY_VALID, "valid")                                                         \
    X(VERIFY_DUPLICATE, "duplicate")             /* a job has two places, or one is  \
                                                    not in the list */               \
    X(VERIFY_NOT_ELIGIBLE, "not_eligible")       /* a filter forbids the resource */ \
    X(VERIFY_NO_ESTIMATE, "no_estimate")         /* its run time is not known */     \
    X(VERIFY_NO_SLOT, "no_slot")                 /* no such slot, or never free */   \
    X(VERIFY_BEFORE_RELEASE, "before_release")   /* of the job, or of the slot */    \
    X(VERIFY_FINISH_DIFFERS, "finish_differs")   /* stage-in, run or outputs */      \
    X(VERIFY_SLOT_TAKEN, "slot_taken")           /* two jobs at once on a slot */    \
    X(VERIFY_AMOUNT_EXCEEDED, "amount_exceeded") /* more cpus or memory than there is */

enum verify_rule {
#define X(symbol, name) symbol,
    VERIFY_RULES(X)
#undef X
};

/* Names by rule. */
extern const char *const verify_rule_names[];

/* The first violation, or VERIFY_VALID. */
struct verify_result {
    enum verify_rule rule;
    size_t job, pos;
    double at_s;
    double makespan_s; /* of a valid plan: its last finish */
};

/* Where the jobs of a plan are, as a policy or a caller says. */
struct verify_plan {
    const struct placement_problem *problem;
    const struct plan_entry *entries; /* by job */
    const size_t *sequence;           /* placed jobs: files are staged in that order */
    size_t placed_count;
    bool hold_slots; /* what runs now never ends */
};

/* O(n log n + files). Numbers may differ by 1e-9 of max(1, time). */
enum error_code verify_plan(const struct verify_plan *plan, struct verify_result *out,
                            struct arena *a, struct error *err);

#endif
