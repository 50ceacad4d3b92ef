/* maintenance.c - upkeep of the history tables, by a thread of its own.
 *
 * A round is many short transactions, each under an advisory lock of its own
 * that only one replica gets. Making and dropping a partition needs the table
 * for itself for a moment; it waits for that at most LOCK_TIMEOUT, because all
 * others would queue behind it. Rows that wait in the default partition for theirs are
 * moved so many at a time that this moment stays short.
 */
#include "service/maintenance.h"

#include "models/base/plural.h"
#include "service/clock.h"
#include "service/governor.h"
#include "service/rollup.h"
#include "service/store.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOCK_TIMEOUT "SET LOCAL lock_timeout = '2s'"

enum {
    BATCHES_MAX = 1000, /* of one table in one round */
    MOVED_AT_ONCE = 50000,
    RETRY_S = 60,  /* after a failed round */
    NO_ROOM_S = 5, /* while others have the memory */
    ROUND_MOST_BYTES = 32 * 1024 * 1024,
    GAPS_RETRY_S = 1,     /* after one that left out partitions */
    ROLLUPS_MOST_S = 600, /* of a round, so that partitions come in time */
    DAYS_AHEAD = 8,       /* partitions of a day: today's, and a week */
};

static const double ROUND_STATEMENT_S = 120;
static const double DAY_S = 86400, HOUR_S = 3600;
static const double JUMP_S = 60;      /* of the wall clock, against the monotonic one */
static const double JUMP_SEEN_S = 10; /* at the latest after it */

/* How long a partition is. */
enum span { SPAN_MONTH, SPAN_DAY, SPAN_YEAR };

/* A partitioned table. */
struct history_table {
    const char *name, *at; /* the column that says when */
    size_t kept_offset;    /* of the retention in struct maintenance_options */
    struct db_statement delete_default; /* old rows of the default partition */
    struct db_statement find_border;    /* up to where rows of it can be moved at once */
    enum span span;
    bool is_large; /* partitions of a day where that is set; rows are only ever added */
    int level_s;   /* of rollup_progress; -1: it is not there */
};

/* Rows are never changed, so there is no room to leave and nothing to clean up. */
#define LARGE_STORAGE                                                     \
    " WITH (fillfactor = 100, autovacuum_vacuum_insert_scale_factor = 0," \
    " autovacuum_vacuum_insert_threshold = 50000000, autovacuum_freeze_min_age = 0)"

struct round {
    struct db_session *s;
    const struct maintenance_options *options;
    double now_s;
    struct arena *arena; /* reset by each step */
    bool has_gaps;       /* a partition was not made, as another replica was at work */
    bool has_moves;      /* a partition has to be filled in several steps */
};

static double kept_days(const struct round *round, const struct history_table *table)
{
    return *(const double *)((const char *)round->options + table->kept_offset);
}

/* ---- one step in one transaction ---- */

struct truth {
    bool value;
};

static const struct db_column truth_columns[] = {
    DB_COLUMN(struct truth, value, DB_BOOLEAN),
    {0},
};

static const struct db_statement lock_upkeep = {
    "lock_upkeep", "SELECT pg_try_advisory_xact_lock(7453010373643070831)", 0};

/* Not by to_regclass(), which answers from a cache that may be stale here. */
static const struct db_statement find_partition = {
    "find_partition",
    "SELECT EXISTS (SELECT FROM pg_inherits JOIN pg_class ON oid = inhrelid"
    " WHERE inhparent = $1::regclass AND relname IN ($1 || $2, $1 || $3, $1 || $4))",
    DB_REPEATABLE};

static enum error_code ask(struct round *round, const struct db_statement *statement,
                           const struct db_param *params, bool *truth, struct error *err)
{
    struct truth answer = {false};
    bool found;

    TRY(db_row(round->s, statement, params, truth_columns, sizeof(answer), &answer,
               &found, round->arena, err));
    *truth = found && answer.value;
    return OK;
}

/* Begins a transaction; *ours false: another replica is at work, nothing is open. */
static enum error_code begin_step(struct round *round, bool *ours, struct error *err)
{
    enum error_code code;

    arena_reset(round->arena);
    TRY(db_begin(round->s, err));
    code = db_execute(round->s, LOCK_TIMEOUT, err);
    if (code == OK)
        code = ask(round, &lock_upkeep, NULL, ours, err);
    if (code != OK || !*ours)
        db_rollback(round->s);
    return code;
}

static enum error_code end_step(struct round *round, enum error_code code,
                                struct error *err)
{
    if (code == OK)
        return db_commit(round->s, err);
    db_rollback(round->s);
    return code;
}

/* ---- partitions ---- */

/* A day, a month or a year of UTC. */
struct period {
    enum span span;
    double begin_s, end_s;
    char suffix[16]; /* of the partition's name */
};

static double utc_s(int year, int month, int day)
{
    struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};

    return (double)timegm(&tm); /* months and days may be too large by one */
}

/* By a name's numbers: a year, a month (0: none) and a day (0: none). */
static struct period period_named(int year, int month, int day)
{
    struct period p = {.span = day ? SPAN_DAY : month ? SPAN_MONTH : SPAN_YEAR};

    p.begin_s = utc_s(year, month ? month : 1, day ? day : 1);
    if (day) {
        p.end_s = utc_s(year, month, day + 1);
        snprintf(p.suffix, sizeof(p.suffix), "_%04d_%02d_%02d", year, month, day);
    } else if (month) {
        p.end_s = utc_s(year, month + 1, 1);
        snprintf(p.suffix, sizeof(p.suffix), "_%04d_%02d", year, month);
    } else {
        p.end_s = utc_s(year + 1, 1, 1);
        snprintf(p.suffix, sizeof(p.suffix), "_%04d", year);
    }
    return p;
}

static struct period period_of(double at_s, enum span span)
{
    time_t t = (time_t)at_s;
    struct tm tm;

    gmtime_r(&t, &tm);
    return period_named(tm.tm_year + 1900, span == SPAN_YEAR ? 0 : tm.tm_mon + 1,
                        span == SPAN_DAY ? tm.tm_mday : 0);
}

/* Of a period's partition, and of the next rows of it that are in the default one. */
struct filling {
    const struct history_table *table;
    char name[64];
    double begin_s, end_s; /* of the period */
    bool exists;           /* then it takes rows from begin_s to until_s */
    double until_s;
};

struct instant {
    double at_s;
};

static const struct db_column instant_columns[] = {
    DB_COLUMN(struct instant, at_s, DB_INSTANT),
    {0},
};

static const struct db_statement find_bound = {
    "find_bound",
    "SELECT ((regexp_match(pg_get_expr(relpartbound, oid), 'TO \\(''([^'']+)''\\)'))[1])"
    "::timestamptz FROM pg_inherits JOIN pg_class ON oid = inhrelid"
    " WHERE inhparent = $1::regclass AND relname = $2",
    DB_REPEATABLE};

static enum error_code look_up(struct round *round, struct filling *f, struct error *err)
{
    struct instant bound = {NAN};

    TRY(db_row(round->s, &find_bound,
               DB_PARAMS(db_text(f->table->name), db_text(f->name)), instant_columns,
               sizeof(bound), &bound, &f->exists, round->arena, err));
    f->until_s = f->exists ? bound.at_s : f->begin_s;
    if (isnan(f->until_s)) /* made by hand, without an end that can be read */
        f->until_s = f->end_s;
    return OK;
}

/* The instant up to which at most `rows` rows can be moved at once, more only if they are
 * of one instant; the period's end if no others are left. */
static enum error_code find_border(struct round *round, const struct filling *f,
                                   size_t rows, double *border_s, struct error *err)
{
    struct instant border = {f->end_s};
    bool found;

    TRY(db_row(round->s, &f->table->find_border,
               DB_PARAMS(db_instant(f->until_s), db_instant(f->end_s), db_integer(rows)),
               instant_columns, sizeof(border), &border, &found, round->arena, err));
    *border_s = border.at_s;
    return OK;
}

static size_t moved_at_once(const struct round *round)
{
    return round->options->moved_at_once ? round->options->moved_at_once : MOVED_AT_ONCE;
}

static const char *instant_text(double at_s, struct arena *a)
{
    time_t t = (time_t)floor(at_s);
    long us = lround((at_s - (double)t) * 1e6);
    struct tm tm;

    gmtime_r(&t, &tm);
    return arena_try_printf(a, "%04d-%02d-%02d %02d:%02d:%02d.%06ldZ", tm.tm_year + 1900,
                            tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                            us);
}

/* What comes before the rows are moved. The table is locked first, as by whoever uses it:
 * a query that had planned without the new partition would miss what goes there. */
static const char *prepare_text(const struct filling *f, struct arena *a)
{
    const char *name = f->table->name;
    const char *change =
        f->exists
            ? arena_try_printf(a, "ALTER TABLE %s DETACH PARTITION %s", name, f->name)
            : arena_try_printf(a,
                               "CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING "
                               "COMMENTS)%s",
                               f->name, name, f->table->is_large ? LARGE_STORAGE : "");

    return change ? arena_try_printf(a,
                                     "LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE;"
                                     "LOCK TABLE %s_default IN ACCESS EXCLUSIVE MODE;%s",
                                     name, name, change)
                  : NULL;
}

static void note_moved(const struct round *round, const struct filling *f, size_t rows)
{
    const struct maintenance_options *options = round->options;
    char text[256];

    if (rows == 0)
        return;
    if (options->moved_row_count)
        __atomic_fetch_add(options->moved_row_count, rows, __ATOMIC_RELAXED);
    if (!options->log)
        return;
    snprintf(text, sizeof(text), "moved %s of %s_default to %s%s",
             counted(rows, "row").text, f->table->name, f->name,
             f->until_s < f->end_s ? ", more are to follow" : "");
    options->log(options->log_context, text);
}

/* The partition takes the rows from until_s to border_s out of the default one, before it
 * is attached: else PostgreSQL would refuse it. */
static enum error_code fill_partition(struct round *round, const struct filling *f,
                                      double border_s, size_t *rows, struct error *err)
{
    const struct history_table *t = f->table;
    const char *begin = instant_text(f->begin_s, round->arena);
    const char *from = instant_text(f->until_s, round->arena);
    const char *to = instant_text(border_s, round->arena);
    const char *prepare = prepare_text(f, round->arena);
    const char *move, *attach;

    if (!begin || !from || !to || !prepare)
        return fail_memory(err);
    move = arena_try_printf(round->arena,
                            "WITH moved AS (DELETE FROM %s_default WHERE %s >= '%s'"
                            " AND %s < '%s' RETURNING *)"
                            " INSERT INTO %s SELECT * FROM moved",
                            t->name, t->at, from, t->at, to, f->name);
    attach = arena_try_printf(round->arena,
                              "ALTER TABLE %s ATTACH PARTITION %s FOR VALUES"
                              " FROM ('%s') TO ('%s')",
                              t->name, f->name, begin, to);
    if (!move || !attach)
        return fail_memory(err);
    TRY(db_execute(round->s, prepare, err));
    TRY(db_execute_counted(round->s, move, rows, err));
    return db_execute(round->s, attach, err);
}

/* In a transaction that is ours. */
static enum error_code take_step(struct round *round, struct filling *f, bool by_steps,
                                 size_t *rows, struct error *err)
{
    size_t most = moved_at_once(round);
    double border_s;

    TRY(look_up(round, f, err));
    if (f->until_s >= f->end_s) /* another replica was first */
        return OK;
    TRY(find_border(round, f, 2 * most, &border_s, err));
    if (border_s < f->end_s) {
        round->has_moves = true;
        if (!by_steps)
            return OK;
        TRY(find_border(round, f, most, &border_s, err));
    }
    TRY(fill_partition(round, f, border_s, rows, err));
    f->until_s = border_s;
    return OK;
}

static const struct db_statement find_overlap = {
    "find_overlap",
    "SELECT EXISTS (SELECT FROM pg_inherits JOIN pg_class ON oid = inhrelid,"
    " regexp_match(pg_get_expr(relpartbound, oid), 'FROM \\(''([^'']+)''\\) TO"
    " \\(''([^'']+)''\\)') AS bound WHERE inhparent = $1::regclass AND relname <> $2"
    " AND bound[1]::timestamptz < $4 AND bound[2]::timestamptz > $3)",
    DB_REPEATABLE};

/* Makes the partition of a period. More rows than twice what is moved at once are moved
 * by steps, if that is allowed now: each is a transaction, after which the partition
 * takes the period up to an instant. So everyone sees each row all the time, nobody waits
 * for long, and whoever comes after a crash goes on from there. *overlaps: not made, as
 * others have a part of the period, or all of it. */
static enum error_code ensure_partition(struct round *round,
                                        const struct history_table *t,
                                        const struct period *p, bool by_steps,
                                        bool *overlaps, struct error *err)
{
    struct filling f = {.table = t, .begin_s = p->begin_s, .end_s = p->end_s};

    *overlaps = false;
    snprintf(f.name, sizeof(f.name), "%s%s", t->name, p->suffix);
    for (int i = 0; i < BATCHES_MAX; i++) {
        enum error_code code;
        double before_s;
        size_t rows = 0;
        bool ours;

        arena_reset(round->arena);
        TRY(look_up(round, &f, err));
        if (f.until_s >= f.end_s)
            return OK;
        if (!f.exists)
            TRY(ask(round, &find_overlap,
                    DB_PARAMS(db_text(t->name), db_text(f.name), db_instant(f.begin_s),
                              db_instant(f.end_s)),
                    overlaps, err));
        if (*overlaps)
            return OK;
        before_s = f.until_s;
        TRY(begin_step(round, &ours, err));
        round->has_gaps = round->has_gaps || !ours;
        if (!ours)
            return OK;
        code = take_step(round, &f, by_steps, &rows, err);
        TRY(end_step(round, code, err));
        note_moved(round, &f, rows);
        if (!(f.until_s > before_s))
            return OK; /* not now */
    }
    return OK;
}

struct partition {
    const char *name;
};

static const struct db_column partition_columns[] = {
    DB_COLUMN(struct partition, name, DB_TEXT),
    {0},
};

static const struct db_statement select_partitions = {
    "select_partitions",
    "SELECT inhrelid::regclass::text FROM pg_inherits"
    " WHERE inhparent = $1::regclass ORDER BY 1",
    DB_REPEATABLE};

/* The period of a partition, by its name; false: it has none (the default one). */
static bool read_period(const struct history_table *t, const char *name, struct period *p)
{
    size_t length = strlen(t->name);
    int year, month = 0, day = 0;

    if (strncmp(name, t->name, length) != 0 ||
        sscanf(name + length, "_%4d_%2d_%2d", &year, &month, &day) < 1)
        return false;
    *p = period_named(year, month, day);
    return true;
}

static enum error_code list_partitions(struct round *round, const struct history_table *t,
                                       struct partition **list, size_t *count,
                                       struct error *err)
{
    return db_rows(round->s, &select_partitions, DB_PARAMS(db_text(t->name)),
                   partition_columns, sizeof(**list), (void **)list, count, round->arena,
                   err);
}

static const struct db_statement is_due_before = {
    "is_due_before", "SELECT EXISTS (SELECT FROM rollup_due WHERE at < $1)",
    DB_REPEATABLE};

static enum error_code drop_in_step(struct round *round, const struct history_table *t,
                                    double until_s, struct error *err)
{
    struct partition *list;
    size_t count;
    bool is_due = false, dropped = false;

    TRY(list_partitions(round, t, &list, &count, err));
    for (size_t i = 0; i < count; i++) {
        struct period p;
        char sql[128];

        if (!read_period(t, list[i].name, &p) || p.end_s > until_s)
            continue;
        dropped = true;
        snprintf(sql, sizeof(sql), "DROP TABLE %s", list[i].name);
        TRY(db_execute(round->s, sql, err));
    }
    if (!dropped || t->level_s != 0 || !round->options->rollups)
        return OK;
    /* Now that nobody else has the partitions: what was stored last is seen. */
    TRY(ask(round, &is_due_before, DB_PARAMS(db_instant(until_s)), &is_due, err));
    return is_due ? fail(err, ERR_CONFLICT, "",
                         "late samples came to a partition that was to be dropped")
                  : OK;
}

/* Drops the partitions whose last instant is before `until_s`. */
static enum error_code drop_partitions(struct round *round, const struct history_table *t,
                                       double until_s, struct error *err)
{
    bool ours;

    TRY(begin_step(round, &ours, err));
    return ours ? end_step(round, drop_in_step(round, t, until_s, err), err) : OK;
}

/* ---- what of samples and roll-ups is kept ---- */

static const struct db_statement find_made = {
    "find_made",
    "SELECT least((SELECT known_until FROM rollup_progress WHERE level_s = 3600),"
    " (SELECT min(at) FROM rollup_due))",
    DB_REPEATABLE};

static const struct db_statement set_kept = {
    "set_kept",
    "UPDATE rollup_progress SET kept_from = $2 WHERE level_s = $1 AND kept_from < $2",
    DB_REPEATABLE};

/* From where on rows are kept, if those before *until_s need not be: what is not in a
 * partition that goes is kept, so that nobody waits for single rows. Everybody is told
 * before anything goes: from then on what is older is refused, and not made any more. */
static enum error_code settle_kept(struct round *round, const struct history_table *t,
                                   double *until_s, struct error *err)
{
    struct instant made = {HUGE_VAL};
    struct partition *list;
    double oldest_s = HUGE_VAL;
    size_t count;
    bool found;

    *until_s = floor(*until_s / HOUR_S) * HOUR_S;
    arena_reset(round->arena);
    if (t->level_s == 0 && round->options->rollups) {
        TRY(db_row(round->s, &find_made, NULL, instant_columns, sizeof(made), &made,
                   &found, round->arena, err));
        *until_s = fmin(*until_s, made.at_s);
    }
    TRY(list_partitions(round, t, &list, &count, err));
    for (size_t i = 0; i < count; i++) {
        struct period p;

        if (read_period(t, list[i].name, &p) && p.end_s > *until_s)
            oldest_s = fmin(oldest_s, p.begin_s);
    }
    *until_s = fmin(*until_s, oldest_s);
    return db_run(round->s, &set_kept,
                  DB_PARAMS(db_integer((uint64_t)t->level_s), db_instant(*until_s)), NULL,
                  err);
}

/* ---- old rows ---- */

#define DELETE_OLD(table, at)                                             \
    {                                                                     \
        "delete_old_" table,                                              \
            "DELETE FROM " table " WHERE ctid = ANY (ARRAY("              \
            "SELECT ctid FROM " table " WHERE " at " < $1 LIMIT 10000))", \
            DB_REPEATABLE                                                 \
    }
enum { DELETE_BATCH = 10000 }; /* as above */

static const struct db_statement delete_decisions = DELETE_OLD("decision", "created_at");
static const struct db_statement delete_simulations =
    DELETE_OLD("simulation", "finished_at");
static const struct db_statement delete_progress_tasks =
    DELETE_OLD("progress_task", "updated_at");
static const struct db_statement delete_liveness = DELETE_OLD("liveness", "at");
static const struct db_statement delete_keys = DELETE_OLD(
    "idempotency_key", "created_at < $1 AND coalesce(lease_until, created_at)");

static const struct db_statement delete_workflow_sessions =
    DELETE_OLD("workflow_session", "expires_at");

/* Sessions that have expired hold nothing any more. */
static const struct db_statement delete_session_leases = {
    "delete_session_leases",
    "DELETE FROM snapshot_lease AS l USING workflow_session AS w WHERE w.expires_at < $1"
    " AND l.tenant = w.tenant AND l.snapshot_id = w.snapshot_id"
    " AND l.owner = 'session:' || w.session_id",
    DB_REPEATABLE};

static const struct db_statement delete_leases =
    DELETE_OLD("snapshot_lease", "expires_at");
static const struct db_statement delete_cws_runs = DELETE_OLD("cws_run", "updated_at");
static const struct db_statement delete_runs = DELETE_OLD("ingest_run", "expires_at");

/* Deletes what is older than `until_s`, some at a time. */
static enum error_code delete_rows(struct round *round,
                                   const struct db_statement *statement, double until_s,
                                   struct error *err)
{
    for (int i = 0; i < BATCHES_MAX; i++) {
        size_t deleted = 0;
        enum error_code code;
        bool ours;

        TRY(begin_step(round, &ours, err));
        if (!ours)
            return OK;
        code = db_run(round->s, statement, DB_PARAMS(db_instant(until_s)), &deleted, err);
        TRY(end_step(round, code, err));
        if (deleted < DELETE_BATCH)
            return OK;
    }
    return OK;
}

/* ---- rounds ---- */

/* $3 rows from $1 on, before $2: see find_border(). */
#define FIND_BORDER(table, at)                                                     \
    {                                                                              \
        "find_border_" table,                                                      \
            "WITH first AS (SELECT " at " AS at FROM " table "_default WHERE " at  \
            " >= $1 AND " at " < $2 ORDER BY 1 LIMIT $3 + 1)"                      \
            " SELECT CASE WHEN count(*) <= $3 THEN $2"                             \
            " WHEN min(at) < max(at) THEN max(at)"                                 \
            " ELSE coalesce((SELECT min(" at ") FROM " table "_default WHERE " at  \
            " > (SELECT max(at) FROM first) AND " at " < $2), $2) END FROM first", \
            DB_REPEATABLE                                                          \
    }

static const struct history_table tables[] = {
    {"load_sample", "observed_at",
     offsetof(struct maintenance_options, load_sample_kept_days),
     DELETE_OLD("load_sample_default", "observed_at"),
     FIND_BORDER("load_sample", "observed_at"), SPAN_MONTH, true, 0},
    {"load_rollup_60", "at",
     offsetof(struct maintenance_options, load_rollup_60_kept_days),
     DELETE_OLD("load_rollup_60_default", "at"), FIND_BORDER("load_rollup_60", "at"),
     SPAN_MONTH, true, 60},
    {"load_rollup_3600", "at",
     offsetof(struct maintenance_options, load_rollup_3600_kept_days),
     DELETE_OLD("load_rollup_3600_default", "at"), FIND_BORDER("load_rollup_3600", "at"),
     SPAN_MONTH, false, 3600},
    {"load_rollup_86400", "at",
     offsetof(struct maintenance_options, load_rollup_86400_kept_days),
     DELETE_OLD("load_rollup_86400_default", "at"),
     FIND_BORDER("load_rollup_86400", "at"), SPAN_YEAR, false, 86400},
    {"failure", "down_at", offsetof(struct maintenance_options, failure_kept_days),
     DELETE_OLD("failure_default", "down_at"), FIND_BORDER("failure", "down_at"),
     SPAN_MONTH, false, -1},
    {"execution", "started_at", offsetof(struct maintenance_options, execution_kept_days),
     DELETE_OLD("execution_default", "started_at"),
     FIND_BORDER("execution", "started_at"), SPAN_MONTH, false, -1},
    {"checkpoint_log", "requested_at",
     offsetof(struct maintenance_options, checkpoint_log_kept_days),
     DELETE_OLD("checkpoint_log_default", "requested_at"),
     FIND_BORDER("checkpoint_log", "requested_at"), SPAN_MONTH, false, -1},
    {"reschedule_event", "moved_at",
     offsetof(struct maintenance_options, reschedule_event_kept_days),
     DELETE_OLD("reschedule_event_default", "moved_at"),
     FIND_BORDER("reschedule_event", "moved_at"), SPAN_MONTH, false, -1},
    {"claim_attempt", "attempted_at",
     offsetof(struct maintenance_options, claim_attempt_kept_days),
     DELETE_OLD("claim_attempt_default", "attempted_at"),
     FIND_BORDER("claim_attempt", "attempted_at"), SPAN_MONTH, false, -1},
    {"site_error", "observed_at",
     offsetof(struct maintenance_options, site_error_kept_days),
     DELETE_OLD("site_error_default", "observed_at"),
     FIND_BORDER("site_error", "observed_at"), SPAN_MONTH, false, -1},
    {"transfer_actual", "finished_at",
     offsetof(struct maintenance_options, transfer_kept_days),
     DELETE_OLD("transfer_actual_default", "finished_at"),
     FIND_BORDER("transfer_actual", "finished_at"), SPAN_MONTH, false, -1},
    {"progress_sample", "received_at",
     offsetof(struct maintenance_options, progress_sample_kept_days),
     DELETE_OLD("progress_sample_default", "received_at"),
     FIND_BORDER("progress_sample", "received_at"), SPAN_MONTH, false, -1},
};
enum { TABLE_COUNT = sizeof(tables) / sizeof(tables[0]) };

/* One after the other from the period of `begin_s` on, up to `end_s`; days where a part
 * of a month is in use by days. */
static enum error_code make_periods(struct round *round, const struct history_table *t,
                                    enum span span, double begin_s, double end_s,
                                    bool by_steps, struct error *err)
{
    for (double at_s = begin_s; at_s < end_s;) {
        struct period p = period_of(at_s, span);
        bool overlaps;

        TRY(ensure_partition(round, t, &p, by_steps, &overlaps, err));
        if (overlaps && span == SPAN_MONTH)
            for (double day_s = p.begin_s; day_s < p.end_s; day_s += DAY_S) {
                struct period day = period_of(day_s, SPAN_DAY);

                if (day.end_s > round->now_s)
                    TRY(ensure_partition(round, t, &day, by_steps, &overlaps, err));
            }
        at_s = p.end_s;
    }
    return OK;
}

/* Those of now, and ahead. */
static enum error_code make_partitions(struct round *round, const struct history_table *t,
                                       bool by_steps, struct error *err)
{
    const struct maintenance_options *options = round->options;
    struct period p = period_of(round->now_s, SPAN_MONTH);

    if (t->is_large && options->load_partition_by_day)
        return make_periods(round, t, SPAN_DAY, round->now_s,
                            round->now_s + DAYS_AHEAD * DAY_S, by_steps, err);
    for (size_t i = 0; i < options->months_ahead; i++)
        p = period_of(p.end_s, SPAN_MONTH);
    return make_periods(round, t, t->span, round->now_s, p.end_s, by_steps, err);
}

static enum error_code drop_old(struct round *round, const struct history_table *t,
                                struct error *err)
{
    double until_s = round->now_s - kept_days(round, t) * DAY_S;

    if (kept_days(round, t) <= 0)
        return OK;
    if (t->level_s >= 0)
        TRY(settle_kept(round, t, &until_s, err));
    TRY(drop_partitions(round, t, until_s, err));
    return delete_rows(round, &t->delete_default, until_s, err);
}

static enum error_code run_round(struct round *round, struct error *err)
{
    const struct maintenance_options *options = round->options;

    for (size_t i = 0; i < TABLE_COUNT; i++)
        TRY(make_partitions(round, &tables[i], false, err));
    for (size_t i = 0; i < TABLE_COUNT && round->has_moves; i++)
        TRY(make_partitions(round, &tables[i], true,
                            err)); /* what takes long comes last */
    for (size_t i = 0; i < TABLE_COUNT; i++)
        TRY(drop_old(round, &tables[i], err));
    if (options->decision_kept_days > 0)
        TRY(delete_rows(round, &delete_decisions,
                        round->now_s - options->decision_kept_days * DAY_S, err));
    if (options->simulation_kept_days > 0)
        TRY(delete_rows(round, &delete_simulations,
                        round->now_s - options->simulation_kept_days * DAY_S, err));
    if (options->progress_sample_kept_days > 0)
        TRY(delete_rows(round, &delete_progress_tasks,
                        round->now_s - options->progress_sample_kept_days * DAY_S, err));
    TRY(delete_rows(round, &delete_liveness, round->now_s - DAY_S, err));
    TRY(delete_rows(round, &delete_leases, round->now_s - DAY_S, err));
    TRY(delete_rows(round, &delete_runs, round->now_s, err));
    TRY(delete_rows(round, &delete_session_leases, round->now_s, err));
    if (options->workflow_session_kept_days > 0)
        TRY(delete_rows(round, &delete_workflow_sessions,
                        round->now_s - options->workflow_session_kept_days * DAY_S, err));
    TRY(delete_rows(round, &delete_cws_runs, round->now_s - DAY_S, err));
    return delete_rows(round, &delete_keys, round->now_s - STORE_IDEMPOTENCY_KEPT_S, err);
}

static enum error_code run(struct db *db, const struct maintenance_options *options,
                           double now_s, const bool *stopping, bool *has_gaps,
                           struct error *err)
{
    struct arena *session_arena = arena_create(SIZE_MAX);
    struct round round = {NULL, options, now_s, arena_create(SIZE_MAX), false, false};
    enum error_code code;

    if (session_arena && round.arena)
        round.s = db_session_create(db, stopping, session_arena);
    if (round.s) {
        db_session_set_timeout(round.s, ROUND_STATEMENT_S);
        code = run_round(&round, err);
    } else {
        code = fail_memory(err);
    }
    *has_gaps = round.has_gaps;
    db_session_close(round.s);
    arena_close(round.arena);
    arena_close(session_arena);
    return code;
}

enum error_code maintenance_run(struct db *db, const struct maintenance_options *options,
                                double now_s, struct error *err)
{
    bool ignored;

    return run(db, options, now_s, NULL, &ignored, err);
}

enum error_code maintenance_has_partitions(struct db_session *s, double now_s, bool *all,
                                           struct arena *a, struct error *err)
{
    struct period day = period_of(now_s, SPAN_DAY), month = period_of(now_s, SPAN_MONTH),
                  year = period_of(now_s, SPAN_YEAR);

    *all = true;
    for (size_t i = 0; i < TABLE_COUNT && *all; i++) {
        struct truth exists = {false};
        bool found;

        TRY(db_row(s, &find_partition,
                   DB_PARAMS(db_text(tables[i].name), db_text(day.suffix),
                             db_text(month.suffix), db_text(year.suffix)),
                   truth_columns, sizeof(exists), &exists, &found, a, err));
        *all = found && exists.value;
    }
    return OK;
}

/* ---- the thread ---- */

struct maintenance {
    struct db *db;
    struct maintenance_options options;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool stopping; /* read without the mutex by the session */
};

/* Sleeps; false when it is time to stop. */
static bool sleep_part(struct maintenance *m, double duration_s)
{
    struct timespec until;
    double whole_s = floor(duration_s);
    bool go_on;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)whole_s;
    until.tv_nsec += (long)((duration_s - whole_s) * 1e9);
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&m->mutex);
    while (!m->stopping && pthread_cond_timedwait(&m->wake, &m->mutex, &until) == 0)
        ;
    go_on = !m->stopping;
    pthread_mutex_unlock(&m->mutex);
    return go_on;
}

/* How far the wall clock is ahead of the other; it jumps when that does. */
static double wall_ahead_s(void)
{
    return clock_wall_s() - clock_monotonic_s();
}

/* The same, but no longer when the wall clock has jumped: there may be no partition for
 * what is now. */
static bool sleep_s(struct maintenance *m, double duration_s)
{
    double end_s = clock_monotonic_s() + duration_s;
    double ahead_s = wall_ahead_s();

    for (;;) {
        double now_s = clock_monotonic_s();

        if (now_s >= end_s || fabs(wall_ahead_s() - ahead_s) > JUMP_S)
            return true;
        if (!sleep_part(m, fmin(end_s - now_s, JUMP_SEEN_S)))
            return false;
    }
}

/* Memory for a round; false: there is no room now. */
static bool borrow(struct maintenance *m, struct governor_lease *lease)
{
    static const struct governor_who upkeep = {.owner.name = "(upkeep)"};
    struct governor *governor = m->options.governor;
    struct governor_stats stats;
    size_t bytes = ROUND_MOST_BYTES;

    if (!governor)
        return true;
    governor_stats(governor, &stats);
    if (bytes > stats.pool_bytes[GOVERNOR_WORK] / 4)
        bytes = stats.pool_bytes[GOVERNOR_WORK] / 4;
    return governor_work_take(governor, &upkeep, lease, bytes) == GOVERNOR_OK;
}

/* Makes roll-ups until the next round, or a jump of the wall clock; false: it is time to
 * stop. */
static bool wait_and_roll(struct maintenance *m, double wait_s)
{
    const struct maintenance_options *options = &m->options;
    double until_s = clock_monotonic_s() + wait_s, ahead_s = wall_ahead_s();
    struct rollup_options rollups = {.stopping = &m->stopping,
                                     .limit_s = ROLLUPS_MOST_S,
                                     .counts = options->rollup_counts,
                                     .log = options->log,
                                     .log_context = options->log_context};

    if (!options->rollups)
        return sleep_s(m, wait_s);
    for (;;) {
        struct governor_lease lease = {0};
        struct error err = {.code = OK};
        double pause_s = ROLLUP_EVERY_S;

        if (!borrow(m, &lease)) {
            pause_s = NO_ROOM_S;
        } else {
            if (rollup_run(m->db, &rollups, clock_wall_s(), &err) != OK && options->log &&
                err.code != ERR_CANCELLED)
                options->log(options->log_context, err.text);
            if (options->governor)
                governor_give(options->governor, &lease, SIZE_MAX);
        }
        if (!sleep_s(m, fmax(0, fmin(pause_s, until_s - clock_monotonic_s()))))
            return false;
        if (clock_monotonic_s() >= until_s || fabs(wall_ahead_s() - ahead_s) > JUMP_S)
            return true;
    }
}

static void *work(void *context)
{
    struct maintenance *m = context;
    double wait_s;

    do {
        struct governor_lease lease = {0};
        struct error err = {.code = OK};
        bool has_gaps = false;

        wait_s = m->options.interval_s;
        if (!borrow(m, &lease)) {
            wait_s = fmin(wait_s, NO_ROOM_S);
            continue;
        }
        if (run(m->db, &m->options, clock_wall_s(), &m->stopping, &has_gaps, &err) !=
            OK) {
            wait_s = fmin(wait_s, RETRY_S);
            if (m->options.log && err.code != ERR_CANCELLED)
                m->options.log(m->options.log_context, err.text);
        }
        if (m->options.governor)
            governor_give(m->options.governor, &lease, SIZE_MAX);
        if (has_gaps) /* two replicas in each other's way may leave out the same one */
            wait_s = fmin(wait_s, GAPS_RETRY_S);
    } while (wait_and_roll(m, wait_s));
    return NULL;
}

enum error_code maintenance_create(struct db *db,
                                   const struct maintenance_options *options,
                                   struct maintenance **out, struct error *err)
{
    struct maintenance *m = calloc(1, sizeof(*m));
    pthread_condattr_t attributes;

    if (!m)
        return fail_memory(err);
    m->db = db;
    m->options = *options;
    pthread_mutex_init(&m->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&m->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&m->thread, NULL, work, m) != 0) {
        pthread_cond_destroy(&m->wake);
        pthread_mutex_destroy(&m->mutex);
        free(m);
        return fail(err, ERR_INTERNAL, "", "cannot start the maintenance thread");
    }
    *out = m;
    return OK;
}

void maintenance_close(struct maintenance *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->mutex);
    __atomic_store_n(&m->stopping, true, __ATOMIC_RELAXED);
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&m->mutex);
    pthread_join(m->thread, NULL);
    pthread_cond_destroy(&m->wake);
    pthread_mutex_destroy(&m->mutex);
    free(m);
}
