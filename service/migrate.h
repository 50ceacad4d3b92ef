/* migrate.h - brings the database to the schema that this program was built for.
 *
 * The files migrations/NNNN_name.sql are compiled in (asset.h). They run in order, each
 * in one transaction that records it in schema_migration, under an advisory
 * lock: replicas that start together run each one once.
 */
#ifndef GRIDPLAN_MIGRATE_H
#define GRIDPLAN_MIGRATE_H

#include "service/asset.h"
#include "service/db.h"

/* Runs what has not run yet; *applied counts it. ERR_CONFLICT, with nothing
 * changed: the database is newer than this program, or a file that ran has been
 * edited since. `list` is the one compiled in, except in tests: number i + 1 is row i. */
enum error_code migrate_run(struct db *db, const struct asset *list, size_t count,
                            size_t *applied, struct error *err);

/* For readiness: ERR_UNAVAILABLE unless the newest migration in the database is
 * number `count`. */
enum error_code migrate_check(struct db_session *s, size_t count, struct error *err);

#endif
