/* placement/amounts_changes.h - which change of an attribute would let most jobs run
 * somewhere.
 *
 * A change makes one clause of requirements true on one resource. It helps the jobs
 * without a place whose requirement has this clause, is true there but for it, and that
 * pass all other filters there and find enough of everything: they could run there, which
 * is not to say that they would start now. Clauses are the same if they are in their
 * canonical form (expr.h); only those with a name that can be changed count: an
 * attribute, or what the resource has.
 *
 * Source: world-model.md 13.
 */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_CHANGES_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_CHANGES_H

#include "algorithms/placement/amounts_answer.h"
#include "algorithms/world/what_if.h"

struct clause_change {
    size_t position;
    const char *clause, *name;     /* canonical; its first name that can be changed */
    size_t number;                 /* of the clause */
    size_t job_count;              /* jobs that it helps */
    double weight;                 /* of these */
    size_t jobs[WHAT_IF_JOBS_MAX]; /* the first of them, of a job's copies one */
    size_t listed_count;
};

/* Best first: most jobs, most weight, snapshot index, clause. */
struct clause_changes {
    struct clause_change changes[WHAT_IF_CHANGES_MAX];
    size_t change_count;
    bool cut; /* the budget was spent: there may be better ones */
};

/* `jobs`: without a place, rising. O(clauses * kinds of jobs that have them * (clauses *
 * m / 64 + amounts log m)), and an evaluation a resource where a requirement has values
 * of the job in it. */
void amounts_changes(const struct placement_problem *p, const struct amounts_world *made,
                     const size_t *jobs, size_t job_count, struct clause_changes *out);

#endif
