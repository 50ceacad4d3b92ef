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

/* The row of a request struct T with the member `enum co_history_table history_table`. */
#define CO_HISTORY_TABLE_ROW(T)                                                       \
    JSON_CHOICE(T, history_table, co_history_table_names, CO_HISTORY_REQUEST, 0,      \
                "request: close_to_files looks at the snapshot's history_pairs; "     \
                "persisted: at the stored ones, and at the snapshot's, and both are " \
                "stored with those that it adds; default request")

/* Adds the stored pairs of the grid's sites to *history, whose own stay; without any it
 * then knows none, no longer all. A stored decision keeps what was read for its replay.
 * Fails when there is no database. */
enum error_code co_history_load(struct request *rq, const struct co_grid *grid,
                                struct co_history *history);

/* Counts the pairs that a placement added into uses[execution * site_count + file]. */
void co_history_count(const struct co_pair *added, size_t count, size_t site_count,
                      uint64_t *uses);

/* Stores the pairs of the snapshot, and those with uses[execution * site_count + file]
 * above 0, which counts the jobs that added them. A replay stores nothing. */
enum error_code co_history_save(struct request *rq, const struct co_grid *grid,
                                const uint64_t *uses);

#endif
