/* migrate.c - brings the database to the schema that this program was built for. */
#include "service/migrate.h"

#include "service/hash.h"

#include <string.h>

/* The lock of all who change the schema: "gridplan" in ASCII. */
#define SCHEMA_LOCK "SELECT pg_advisory_xact_lock(7453010373643070830)"

static const char create_table[] =
    "CREATE TABLE IF NOT EXISTS schema_migration ("
    " version bigint PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL,"
    " applied_at timestamptz NOT NULL DEFAULT now());"
    "COMMENT ON TABLE schema_migration IS"
    " 'The migrations that have run; one row each';"
    "COMMENT ON COLUMN schema_migration.version IS 'Number of the file; no unit';"
    "COMMENT ON COLUMN schema_migration.name IS 'Name of the file; no unit';"
    "COMMENT ON COLUMN schema_migration.sha256 IS"
    " 'SHA-256 of the file, in hexadecimal; no unit';"
    "COMMENT ON COLUMN schema_migration.applied_at IS 'Instant when it ran'";

struct applied {
    uint64_t version;
    const char *name, *sha256;
};

static const struct db_column applied_columns[] = {
    DB_COLUMN(struct applied, version, DB_INTEGER),
    DB_COLUMN(struct applied, name, DB_TEXT),
    DB_COLUMN(struct applied, sha256, DB_TEXT),
    {0},
};

static const struct db_statement select_applied = {
    "select_applied",
    "SELECT version, name, sha256 FROM schema_migration ORDER BY version", DB_REPEATABLE};

static const struct db_statement insert_applied = {
    "insert_applied",
    "INSERT INTO schema_migration (version, name, sha256) VALUES ($1, $2, $3)", 0};

struct run {
    const struct asset *list;
    size_t count;
    size_t applied_count; /* found in the database */
    struct arena *arena;
};

/* Whether what has run is the beginning of what we have. */
static enum error_code compare(const struct run *run, const struct applied *applied,
                               size_t applied_count, struct error *err)
{
    for (size_t i = 0; i < applied_count; i++) {
        char sha256[SHA256_HEX_SIZE];

        if (applied[i].version > run->count)
            return fail(err, ERR_CONFLICT, "",
                        "the database is newer than this program: it has migration %s, "
                        "we know %zu; start the newer program",
                        applied[i].name, run->count);
        if (applied[i].version != i + 1)
            return fail(err, ERR_CONFLICT, "", "migration %zu has not run but %s has",
                        i + 1, applied[i].name);
        hash_sha256_hex(run->list[i].data, run->list[i].length, sha256);
        if (strcmp(sha256, applied[i].sha256) != 0)
            return fail(err, ERR_CONFLICT, "",
                        "migration %s has been edited since it ran on this database; "
                        "restore it and put the change into a new one",
                        applied[i].name);
    }
    return OK;
}

/* One transaction: looks what has run and runs the next one. */
static enum error_code run_next(struct db_session *s, void *context, struct error *err)
{
    struct run *run = context;
    struct applied *applied;
    char sha256[SHA256_HEX_SIZE];
    const struct asset *next;

    arena_reset(run->arena);
    TRY(db_execute(s, SCHEMA_LOCK, err));
    TRY(db_execute(s, create_table, err));
    TRY(db_rows(s, &select_applied, NULL, applied_columns, sizeof(*applied),
                (void **)&applied, &run->applied_count, run->arena, err));
    TRY(compare(run, applied, run->applied_count, err));
    if (run->applied_count == run->count)
        return OK;
    next = &run->list[run->applied_count];
    hash_sha256_hex(next->data, next->length, sha256);
    TRY(db_execute(s, next->data, err));
    return db_run(s, &insert_applied,
                  DB_PARAMS(db_integer(run->applied_count + 1), db_text(next->path),
                            db_text(sha256)),
                  NULL, err);
}

enum error_code migrate_run(struct db *db, const struct asset *list, size_t count,
                            size_t *applied, struct error *err)
{
    struct arena *session_arena = arena_create(SIZE_MAX);
    struct run run = {list, count, 0, arena_create(SIZE_MAX)};
    struct db_session *s = NULL;
    enum error_code code = OK;
    size_t done = 0;

    if (session_arena && run.arena)
        s = db_session_create(db, NULL, session_arena);
    if (!s) {
        code = fail_memory(err);
        goto out;
    }
    db_session_set_timeout(s, 0); /* a migration may rewrite a large table */
    for (;;) {
        code = db_transaction(s, run_next, &run, err);
        if (code != OK || run.applied_count == count)
            break;
        done++;
    }
    if (code == OK)
        *applied = done;
out:
    db_session_close(s);
    arena_close(run.arena);
    arena_close(session_arena);
    return code;
}

struct newest {
    uint64_t version;
};

static const struct db_column newest_columns[] = {
    DB_COLUMN(struct newest, version, DB_INTEGER),
    {0},
};

static const struct db_statement select_newest = {
    "select_newest", "SELECT coalesce(max(version), 0) FROM schema_migration",
    DB_REPEATABLE};

enum error_code migrate_check(struct db_session *s, size_t count, struct error *err)
{
    struct arena *a = arena_create(64 * 1024);
    struct newest newest = {0};
    bool found;
    enum error_code code;

    if (!a)
        return fail_memory(err);
    code = db_row(s, &select_newest, NULL, newest_columns, sizeof(newest), &newest,
                  &found, a, err);
    if (code == OK && newest.version != count)
        code = fail(err, ERR_UNAVAILABLE, "",
                    "the database has schema %d, this program needs %zu",
                    (int)newest.version, count);
    arena_close(a);
    return code;
}
