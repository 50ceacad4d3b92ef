/* placement/amounts.h - from a request to a world: resources, what is taken, and jobs in
 * whole amounts.
 *
 * amounts_check() reports all that is wrong with the members about amounts, with JSON
 * Pointers into the request; amounts_world() then makes the world from the members and
 * from what problem.h knows already (positions, filters up to the requirement, sites).
 *
 * Source: world-model.md 2 and 11.
 */
#ifndef GRIDPLAN_PLACEMENT_AMOUNTS_H
#define GRIDPLAN_PLACEMENT_AMOUNTS_H

#include "algorithms/placement/problem.h"
#include "algorithms/world/reasons.h"

struct amounts; /* amounts_parts.h: names of amounts, ids, groups */

/* Does the request have a member that slots, cpus and memory do not say? O(n + m). */
bool amounts_are_given(const struct placement_in *in);

/* The member of a group in which two of its jobs do not agree; NULL: they do. */
const char *amounts_group_differs(const struct job_group *g,
                                  const struct job_group *first);

/* Checks them. plan_with_limit: the option plan_with. ERR_INVALID: mistakes are in *err.
 * O(members log). */
enum error_code amounts_check(const struct placement_in *in, bool plan_with_limit,
                              struct amounts **out, struct arena *a, struct error *err);

/* The jobs are to start now or not at all: run times need not be known. */
void amounts_start_now(struct amounts *checked);

struct mask_store; /* amounts_partitions.c */

/* What a user may have in a partition counts; else partitions with such limits are said
 * to be ignored. */
void amounts_count_limits(struct amounts *checked);

/* What a world has no room for. */
struct amounts_world {
    struct world *world;
    const char *const *waits_for;   /* by job: whose end or failure bars it; NULL */
    const struct mask_store *masks; /* of partitions */
};

/* Resources that the job might use if its requirement were true everywhere: words of
 * BLOCK positions. O(partitions of the job * m / 64), or m where its run time counts. */
void amounts_would_use(const struct mask_store *masks, size_t job, uint64_t *mask);

/* The world of a problem whose request was checked. Adds warnings to the problem.
 * O(members + classes * partitions * m / 64). */
void amounts_world(struct placement_problem *p, const struct amounts *checked,
                   struct amounts_world *out);

/* The resource has what the job's group goes by, if that is an attribute. */
bool amounts_has_group_key(const struct world *w, size_t job, size_t position);

/* Short amounts of a reason as answers have them; of->amount_count of them. */
const struct placement_amount *
amounts_short(const struct world *w, const struct reason_amounts *of, struct arena *a);

#endif
