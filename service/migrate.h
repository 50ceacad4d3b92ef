/* migrate.h - brings the database to the schema that this program was built for.
 *
 * The files migrations/NNNN_name.sql are compiled in. They run in order, each
 * in one transaction that records it in schema_migration, under an advisory
 * lock: replicas that start together run each one once.
 */
#ifndef GRIDPLAN_MIGRATE_H
#define GRIDPLAN_MIGRATE_H

#include "service/db.h"

struct migration {
    int version; /* 1, 2 ... without gaps */
    const char *name;
    const char *sql;
};

/* Compiled in; generated from migrations/ by migrations/embed.cmake. */
extern const struct migration migrations[];
extern const size_t migration_count;

/* Runs what has not run yet; *applied counts it. ERR_CONFLICT, with nothing
 * changed: the database is newer than this program, or a file that ran has been
 * edited since. `list` is the one compiled in, except in tests. */
enum error_code migrate_run(struct db *db, const struct migration *list, size_t count,
                            size_t *applied, struct error *err);

/* For readiness: ERR_UNAVAILABLE unless the newest migration in the database is
 * number `count`. */
enum error_code migrate_check(struct db_session *s, size_t count, struct error *err);

#endif
