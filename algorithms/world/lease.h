/* world/lease.h - may an owner have these amounts, at these times, beside what runs, is
 * reserved and was given away before?
 *
 * A lease takes what a job needs on some resources for a while. It is granted only if
 * nothing is short on any of them at any time of it (world-model.md 3, rule 2), so that
 * no more is ever given away than there is.
 *
 * Source: world-model.md 8.4.
 */
#ifndef GRIDPLAN_WORLD_LEASE_H
#define GRIDPLAN_WORLD_LEASE_H

#include "algorithms/world/world.h"

/* What somebody has, or asks for. */
struct lease_take {
    size_t job;              /* of the world: whose needs it takes on each resource */
    const size_t *positions; /* different ones */
    size_t position_count;
    double start_s, end_s; /* 0 <= start < end; HUGE_VAL: for ever */
    const char *owner;     /* who has it; NULL: it is asked for */
};

/* Why a take is not granted: when least is free of the first amount that is short, on
 * the first of its resources where one is. */
struct lease_refusal {
    size_t take;
    size_t amount;   /* row of the world */
    size_t position; /* WORLD_NONE: a shared amount */
    double at_s;
    int64_t needed, free;      /* units; free may be negative */
    const char *const *owners; /* who has some of it then, each once, in the order of */
    size_t owner_count;        /* the takes */
};

/* Tries the takes that are asked for, in their order, beside those that somebody has and
 * those before it that fit. *refusals has one row for each that does not: 0 of them, and
 * all may be granted. SIZE_MAX: the budget was spent before that was known. O(takes *
 * (resources of each * steps of their profiles) * amounts), and for each refusal
 * O(takes). */
size_t lease_check(const struct world *w, const struct lease_take *takes, size_t count,
                   const struct lease_refusal **refusals, struct arena *a);

#endif
