/* placement/clauses.h - requirements as sets of resources.
 *
 * The requirements of a request share clauses, or differ in a number only. A clause
 * becomes two sets of positions, a bit each: where it is true and where it is false.
 * Sets of a clause that several requirements have are kept.
 *
 * Cost: one comparison of two numbers a resource for `name op number`; one evaluation
 * a distinct value for other clauses with one name; else one a resource.
 */
#ifndef GRIDPLAN_PLACEMENT_CLAUSES_H
#define GRIDPLAN_PLACEMENT_CLAUSES_H

#include "algorithms/placement/problem.h"
#include "models/expr.h"

struct clauses;

/* For requirements whose names do not depend on the job: list[0 .. count-1], NULL
 * and repeated ones are passed over. */
struct clauses *clauses_create(const struct placement_problem *p,
                               const struct expr *const *list, size_t count);

/* Takes out of `yes` where the requirement is not true and adds to `no` where it is
 * false: words of BLOCK positions. *cut: the time was up, the sets are not right. */
void clauses_narrow(struct clauses *s, const struct expr *e, uint64_t *yes, uint64_t *no,
                    bool *cut);

/* Where that clause is true: words of BLOCK positions, valid until the next call. *cut as
 * above. */
const uint64_t *clauses_true(struct clauses *s, const struct expr *e, size_t clause,
                             bool *cut);

#endif
