/* placement/selection.h - which of the ready jobs start now, where jobs may stand for
 * many alike.
 *
 * The same decision as placements by `auto` whose first objective is started_now_weight:
 * the most weight, priorities one after the other, in one pool or on several resources.
 * Rows of the request are not expanded, so that ten rows of a hundred thousand jobs each
 * cost what ten jobs cost.
 *
 * Source: world-model.md 6.
 */
#ifndef GRIDPLAN_PLACEMENT_SELECTION_H
#define GRIDPLAN_PLACEMENT_SELECTION_H

#include "algorithms/placement/amounts_values.h"
#include "algorithms/placement/placement.h"

enum { SELECTION_ALIKE_MAX = 1000000000, SELECTION_EXPANDED_MAX = 1000000 };

/* So many of a row of the request start. A job on several nodes has their ids. */
struct selected_jobs {
    const char *job_id;
    uint64_t count;
    const char *resource_id;         /* NULL: of a pool, or on several nodes */
    const char *const *resource_ids; /* by rising index */
    size_t resource_id_count;
};

/* So many do not. */
struct unselected_jobs {
    const char *job_id;
    uint64_t count;
    const char *reason, *detail;
    const struct placement_amount *amounts;
    size_t amount_count;
};

struct selection_out {
    const struct selected_jobs *selected; /* in the order of the request */
    size_t selected_count;
    const struct unselected_jobs *unselected;
    size_t unselected_count;
    double started_now_weight; /* of what starts */
    double bound;              /* nothing weighs more; NAN: several priorities of which
                                  one is not proven */
    bool proven;
    const struct placement_tier *tiers; /* by falling priority */
    size_t tier_count;
    enum decision_status status;
    const char *const *warnings;
    size_t warning_count;
};

/* in->world is not NULL; in->jobs[].count 1 .. SELECTION_ALIKE_MAX. is_pool: the one
 * resource of the snapshot has no name. Jobs on several nodes or in groups are looked at
 * one by one: ERR_INVALID if there are such and more than SELECTION_EXPANDED_MAX jobs in
 * all, or if one of a group stands for several. A spent budget leaves what was found:
 * status cut. */
enum error_code placement_select(const struct placement_in *in, bool is_pool,
                                 struct selection_out *out, struct arena *a,
                                 struct error *err);

#endif
