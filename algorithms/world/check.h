/* world/check.h - an independent look at a plan: is it one that can be carried out?
 *
 * Own code: it shares nothing with profiles, boards and policies but world.h's readers of
 * times. Events by time, ends before starts, one sweep of sums per resource and shared
 * amount. It runs before `optimal` is said, on plans of callers, and on every answer in
 * tests.
 *
 * Cost: O((placements + holders) log). Source: world-model.md 3 and 8.2.
 */
#ifndef GRIDPLAN_WORLD_CHECK_H
#define GRIDPLAN_WORLD_CHECK_H

#include "algorithms/world/world.h"

#define WORLD_RULES(X)                         \
    X(RULE_UNKNOWN_ID, "unknown_id")           \
    X(RULE_DUPLICATE, "duplicate")             \
    X(RULE_NOT_ELIGIBLE, "not_eligible")       \
    X(RULE_BEFORE_RELEASE, "before_release")   \
    X(RULE_BEFORE_AFTER, "before_after")       \
    X(RULE_TOO_LARGE, "too_large")             \
    X(RULE_AMOUNT_EXCEEDED, "amount_exceeded") \
    X(RULE_SHARED_EXCEEDED, "shared_exceeded") \
    X(RULE_LIMIT_EXCEEDED, "user_limit")       \
    X(RULE_NODE_COUNT, "node_count")           \
    X(RULE_SAME_NODE_TWICE, "same_node_twice") \
    X(RULE_GROUP_GANG, "group_gang")           \
    X(RULE_GROUP_SPREAD, "group_spread")       \
    X(RULE_GROUP_PACK, "group_pack")           \
    X(RULE_GROUP_EXCLUDE, "group_exclude")     \
    X(RULE_NO_ESTIMATE, "no_estimate")         \
    X(RULE_FINISH_DIFFERS, "finish_differs")

enum world_rule_broken {
#define X(symbol, name) symbol,
    WORLD_RULES(X)
#undef X
        WORLD_RULE_COUNT
};

/* Names on the wire, ended by NULL. */
extern const char *const world_rule_names[];

/* A row of a plan as somebody says it is. */
struct world_claim {
    size_t job;              /* WORLD_NONE: no such job */
    const size_t *positions; /* WORLD_NONE: no such resource */
    size_t position_count;
    size_t choice; /* of the job; WORLD_NONE: the first that has all positions */
    double start_s;
    double stage_in_s; /* 0 where the caller does not say */
    double finish_s;   /* NAN: not said */
};

struct world_violation {
    enum world_rule_broken rule;
    size_t claim;         /* row of the plan; of an excess: one of those that hold then */
    size_t position;      /* WORLD_NONE */
    size_t amount;        /* WORLD_NONE; LIMIT_EXCEEDED: the limit */
    double at_s;          /* NAN */
    int64_t needed, free; /* units; of an excess: taken by the plan at at_s, and what
                             running and reserved ones leave of it */
    const size_t *others; /* other rows that hold it at at_s, at most 10 */
    size_t other_count;
    const char *detail; /* a sentence, or NULL */
};

struct world_check {
    const struct world_violation *violations; /* by time, then job; at most 1,000 */
    size_t violation_count;                   /* all of them */
    size_t listed_count;
    bool cut; /* the budget was spent: nothing is known */
};

/* Checks any list of rows. */
void world_check(const struct world *w, const struct world_claim *claims,
                 size_t claim_count, struct world_check *out, struct arena *a);

/* The rows of a plan of ours, for world_check(). */
const struct world_claim *world_claims(const struct world *w,
                                       const struct world_plan *plan, size_t *count,
                                       struct arena *a);

#endif
