/* world/check_parts.h - what the files of the checker share, and nobody else. */
#ifndef GRIDPLAN_WORLD_CHECK_PARTS_H
#define GRIDPLAN_WORLD_CHECK_PARTS_H

#include "algorithms/world/check.h"

enum { CHECK_LISTED_MAX = 1000, CHECK_OTHERS_MAX = 10 };

/* What a row means. */
struct check_fact {
    bool counts;             /* the first row of a job that there is */
    bool holds;              /* its end is known, and it takes time */
    bool is_point;           /* it takes none */
    const size_t *positions; /* known ones, each once, rising */
    size_t position_count;
    double end_s;  /* amounts are held until then */
    double done_s; /* what `after` waits for; NAN: not known */
};

struct checking {
    const struct world *w;
    const struct world_claim *claims;
    size_t claim_count;
    struct check_fact *facts;     /* by claim */
    size_t *claim_of;             /* by job; WORLD_NONE: it has no place */
    struct world_violation *kept; /* a heap, the last in order first */
    size_t kept_count;
    size_t violation_count;
    bool cut;
    struct arena *a;
};

/* Times that differ by less are equal: plans of callers are rounded. */
static inline double check_slack(double t_s)
{
    return 1e-9 * fmax(1, fabs(t_s));
}

/* When what is held in [start_s, end_s) is free again for what starts about then. */
static inline double check_freed_s(double start_s, double end_s)
{
    return end_s < HUGE_VAL ? fmax(start_s, end_s - check_slack(end_s)) : end_s;
}

static inline bool is_spent(struct checking *c, size_t steps)
{
    c->cut |= budget_step(c->w->budget, steps);
    return c->cut;
}

/* A violation of a row, nothing else said yet. */
static inline struct world_violation check_broken(enum world_rule_broken rule,
                                                  size_t claim)
{
    return (struct world_violation){.rule = rule,
                                    .claim = claim,
                                    .position = WORLD_NONE,
                                    .amount = WORLD_NONE,
                                    .at_s = NAN};
}

/* Counts it, and keeps it if it is one of the first; its `others` are copied. */
void check_note(struct checking *c, const struct world_violation *v);

/* Amounts of resources, then shared ones. */
void check_amounts(struct checking *c);

void check_groups(struct checking *c);

/* What users may have in partitions. */
void check_limits(struct checking *c);

/* The choice that a row counts in; choice_count: it is in none. */
size_t check_choice_of(struct checking *c, size_t claim);

#endif
