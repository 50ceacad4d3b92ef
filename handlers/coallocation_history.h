/* coallocation_history.h - the history table of close_to_files, kept between requests.
 *
 * Source: spec coallocation.md 6.2, 19.
 */
#ifndef GRIDPLAN_COALLOCATION_HISTORY_H
#define GRIDPLAN_COALLOCATION_HISTORY_H

#include "algorithms/coallocation/coallocation.h"
#include "service/route.h"

/* Where the table is: in the snapshot, or stored. */
enum co_history_table { CO_HISTORY_REQUEST, CO_HISTORY_PERSISTED };
extern const char *const co_history_table_names[];

/* Adds the stored pairs of the grid's sites to *history, whose own stay; without any it
 * then knows none, no longer all. A stored decision keeps what was read for its replay.
 * Fails when there is no database. */
enum error_code co_history_load(struct request *rq, const struct co_grid *grid,
                                struct co_history *history);

/* Stores the pairs of the snapshot, and those with uses[execution * site_count + file]
 * above 0, which counts the jobs that added them. A replay stores nothing. */
enum error_code co_history_save(struct request *rq, const struct co_grid *grid,
                                const uint64_t *uses);

#endif
