/* bound_kind.h - what a search says of how far it may be from the best.
 *
 * A bound is a value that no solution can fall below; which argument gave it is its kind.
 * Source: spec search.md 2.
 */
#ifndef GRIDPLAN_BOUND_KIND_H
#define GRIDPLAN_BOUND_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of two equal bounds the earlier row is named first. */
#define BOUND_KINDS(X)                                                               \
    X(BOUND_LONGEST_JOB, "longest_job", "some job cannot end sooner, even alone")    \
    X(BOUND_PRICED, "priced", "the work at the best prices found for resources")     \
    X(BOUND_ELIMINATED, "eliminated", "as priced, without pairs that are too long")  \
    X(BOUND_WHOLE_JOBS, "whole_jobs", "as priced, and no job is divided")            \
    X(BOUND_DUAL_FEASIBLE, "dual_feasible", "what does not fit side by side")        \
    X(BOUND_ENERGETIC, "energetic", "the work between heads and tails")              \
    X(BOUND_GRAIN, "grain", "all times are multiples of a grain")                    \
    X(BOUND_PIGEONHOLE, "pigeonhole", "one of m machines has k + 1 of k m + 1 jobs") \
    X(BOUND_CRITICAL_PATH, "critical_path", "the longest chain of tasks")            \
    X(BOUND_AREA, "area", "the work over all resources")                             \
    X(BOUND_EXACT, "exact", "a search of all solutions that ended")

enum bound_kind {
#define X(symbol, name, meaning) symbol,
    BOUND_KINDS(X)
#undef X
        BOUND_KIND_COUNT
};

/* Names on the wire, ended by NULL. */
extern const char *const bound_kind_names[];

/* How much work goes into bounds before the first step of a search. */
enum bound_effort { EFFORT_NONE, EFFORT_FAST, EFFORT_FULL };
extern const char *const bound_effort_names[];

/* The best bound of each kind that was computed. */
struct bound_list {
    double value[BOUND_KIND_COUNT];
    bool known[BOUND_KIND_COUNT];
};

/* Keeps the larger one. */
void bound_list_note(struct bound_list *list, enum bound_kind kind, double value);

/* The largest; 0: none is known. */
double bound_list_best(const struct bound_list *list);

/* One of them for an answer. */
struct proven_bound {
    enum bound_kind kind;
    double value_s;
};

/* Fills `out`, which has room for all kinds, largest first; returns how many are known.
 * None is above `limit_s`, the value of a solution. */
size_t bound_list_sort(const struct bound_list *list, double limit_s,
                       struct proven_bound *out);

/* When a search found something better. */
struct improvement {
    uint64_t steps;
    double value; /* of the first objective */
};

enum { IMPROVEMENTS_MAX = 20 };

/* The last ones. */
struct improvement_list {
    struct improvement item[IMPROVEMENTS_MAX];
    size_t count;
};

/* Adds one; several at the same step count as the last of them. */
void improvement_list_add(struct improvement_list *list, uint64_t steps, double value);

#endif
