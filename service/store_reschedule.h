/* store_reschedule.h - what moves and batch queues are known to cost.
 *
 * As store.h, whose rules hold here; that also has the moves themselves. For decisions
 * that need what is known of all sites of a request at once: `ids` is a JSON array of
 * site ids.
 */
#ifndef GRIDPLAN_STORE_RESCHEDULE_H
#define GRIDPLAN_STORE_RESCHEDULE_H

#include "service/db.h"

struct store_move_cost {
    uint64_t from, to;    /* indexes into the ids */
    uint64_t event_count; /* >= 1 */
    double mean_cost_s;
};

/* Of each pair of the sites (and of each with itself) the running mean of what moves
 * cost, in no order; nothing of pairs without. */
enum error_code store_move_costs(struct db_session *s, const char *tenant,
                                 const char *ids, const struct store_move_cost **list,
                                 size_t *count, struct arena *a, struct error *err);

struct store_queue_wait {
    uint64_t site; /* index into the ids */
    double processors, wait_s;
};

/* Of each site the mean waits of its latest executions that say theirs, `limit` at
 * most, one for each number of processors, by site and processors. */
enum error_code store_queue_waits(struct db_session *s, const char *tenant,
                                  const char *ids, size_t limit,
                                  const struct store_queue_wait **list, size_t *count,
                                  struct arena *a, struct error *err);

#endif
