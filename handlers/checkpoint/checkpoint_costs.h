/* checkpoint_costs.h - what checkpoints of an application cost, learnt from the log.
 *
 * One statement for all applications of a request: means over the newest of their
 * checkpoints that were taken. What is read is kept with a decision that is stored:
 * its replay reads nothing.
 */
#ifndef GRIDPLAN_CHECKPOINT_COSTS_H
#define GRIDPLAN_CHECKPOINT_COSTS_H

#include "models/base/names.h"
#include "service/route.h"

struct checkpoint_cost {
    const char *application_id;
    uint64_t log_count;                           /* that overhead_s is learnt from */
    double overhead_s, stored_after_s, restart_s; /* C, L, R; NAN: nothing is known */
};

struct checkpoint_costs {
    struct checkpoint_cost *list; /* NULL: nothing is to be learnt */
    size_t count;
    struct name_index index; /* of the ids */
};

/* Adds an application, of `expected` at most, unless it is there. */
void checkpoint_costs_add(struct checkpoint_costs *costs, const char *application_id,
                          size_t expected, struct arena *a);

/* The one of an application that was added. */
const struct checkpoint_cost *checkpoint_costs_find(const struct checkpoint_costs *costs,
                                                    const char *application_id);

/* Fills them. Fails without the database; nothing to do without applications. */
enum error_code checkpoint_costs_read(struct request *rq, struct checkpoint_costs *costs);

#endif
