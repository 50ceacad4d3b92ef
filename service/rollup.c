/* rollup.c - makes the roll-ups of load samples; see the header. */
#include "service/rollup.h"

#include "models/rollup/rollup.h"
#include "service/clock.h"
#include "service/store_rollup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FETCHED_AT_ONCE = 20000, /* samples */
    HOURS_FETCHED = 500,     /* rows of hours, which have long sketches */
    WRITTEN_AT_ONCE = 5000,  /* rows */
    HOURS_MARKED = 48,       /* in one transaction */
    DAY_S = ROLLUP_DAY_S,
    HOUR_S = ROLLUP_HOUR_S,
    ROUND_MOST_BYTES = 512 * 1024 * 1024, /* against rows without bounds */
};

static const double STATEMENT_S = 900; /* the sort of a large hour */

struct builder {
    struct db_session *s;
    const struct rollup_options *options;
    struct arena *arena; /* of one hour */
    struct arena *batch; /* of some rows */
    struct rollup_counts ignored, *counts;
};

static void add(uint64_t *count, uint64_t more)
{
    __atomic_fetch_add(count, more, __ATOMIC_RELAXED);
}

/* ---- which hours are due ---- */

struct truth {
    bool value;
};
static const struct db_column truth_columns[] = {
    DB_COLUMN(struct truth, value, DB_BOOLEAN), {0}};

struct span {
    double from_s, to_s;
};
static const struct db_column span_columns[] = {
    DB_COLUMN(struct span, from_s, DB_INSTANT),
    DB_COLUMN(struct span, to_s, DB_INSTANT),
    {0},
};

static const struct db_statement lock_rollups = {
    "lock_rollups", "SELECT pg_try_advisory_xact_lock(7453010373643070832)", 0};

/* From when on hours have no marks yet, and since when the oldest transaction with a
 * number is open: NULL, there is none. */
static const struct db_statement select_open = {
    "rollup_open",
    "SELECT (SELECT known_until FROM rollup_progress WHERE level_s = 3600),"
    " (SELECT min(xact_start) FROM pg_stat_activity WHERE usename = current_user"
    " AND datname = current_database() AND backend_xid IS NOT NULL"
    " AND pid <> pg_backend_pid())",
    DB_REPEATABLE};

/* The hours [$1, $2) of everybody who has samples; from one tenant to the next by the
 * index. */
static const struct db_statement mark_hours = {
    "rollup_mark_hours",
    "WITH RECURSIVE tenants (tenant) AS (SELECT min(tenant) FROM load_sample"
    " UNION ALL SELECT (SELECT min(s.tenant) FROM load_sample AS s"
    " WHERE s.tenant > t.tenant) FROM tenants AS t WHERE t.tenant IS NOT NULL)"
    " INSERT INTO rollup_due (tenant, at, shard) SELECT tenant, at, shard FROM tenants,"
    " generate_series($1::timestamptz, $2::timestamptz - interval '1 hour', '1 hour')"
    " AS at, generate_series(0, 63) AS shard WHERE tenant IS NOT NULL"
    " ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING",
    0};

static const struct db_statement set_known = {
    "rollup_set_known",
    "UPDATE rollup_progress SET known_until = greatest(known_until, $1)"
    " WHERE level_s = 3600",
    0};

/* Begins a transaction; *ours false: another replica is at work, nothing is open. */
static enum error_code begin_ours(struct builder *b, bool *ours, struct error *err)
{
    struct truth answer = {false};
    enum error_code code;
    bool found;

    TRY(db_begin(b->s, err));
    code = db_execute(b->s, "SET LOCAL work_mem = '64MB'; SET LOCAL lock_timeout = '30s'",
                      err);
    if (code == OK)
        code = db_row(b->s, &lock_rollups, NULL, truth_columns, sizeof(answer), &answer,
                      &found, b->arena, err);
    *ours = code == OK && answer.value;
    if (!*ours)
        db_rollback(b->s);
    return code;
}

static enum error_code end(struct builder *b, enum error_code code, struct error *err)
{
    if (code == OK)
        return db_commit(b->s, err);
    db_rollback(b->s);
    return code;
}

static double hour_of(double at_s)
{
    return floor(at_s / HOUR_S) * HOUR_S;
}

/* Marks the hours that have closed; *closed_s: those before it may be made. */
static enum error_code mark_closed(struct builder *b, double now_s, double *closed_s,
                                   bool *ours, struct error *err)
{
    for (;;) {
        struct span open = {NAN, NAN};
        enum error_code code;
        double until_s;
        bool found;

        arena_reset(b->arena);
        TRY(begin_ours(b, ours, err));
        if (!*ours)
            return OK;
        code = db_row(b->s, &select_open, NULL, span_columns, sizeof(open), &open, &found,
                      b->arena, err);
        *closed_s = hour_of(now_s - ROLLUP_CLOSED_S);
        if (!isnan(open.to_s))
            *closed_s = fmin(*closed_s, hour_of(open.to_s - ROLLUP_LATE_S));
        until_s = fmin(*closed_s, open.from_s + HOURS_MARKED * HOUR_S);
        if (code == OK && until_s > open.from_s)
            code = db_run(b->s, &mark_hours,
                          DB_PARAMS(db_instant(open.from_s), db_instant(until_s)), NULL,
                          err);
        if (code == OK && until_s > open.from_s)
            code = db_run(b->s, &set_known, DB_PARAMS(db_instant(until_s)), NULL, err);
        TRY(end(b, code, err));
        if (!(until_s > open.from_s) || until_s >= *closed_s)
            return OK;
    }
}

/* ---- an hour ---- */

struct due_hour {
    const char *tenant;
    double at_s;
};
static const struct db_column due_hour_columns[] = {
    DB_COLUMN(struct due_hour, tenant, DB_TEXT),
    DB_COLUMN(struct due_hour, at_s, DB_INSTANT),
    {0},
};

/* The next one after ($2, $1), before $3. Hours whose samples have been removed as their
 * retention was over are never made again. */
static const struct db_statement select_due = {
    "rollup_select_due",
    "SELECT tenant, at FROM rollup_due WHERE (at, tenant) > ($2, $1) AND at < $3"
    " AND at >= (SELECT kept_from FROM rollup_progress WHERE level_s = 0)"
    " ORDER BY at, tenant LIMIT 1",
    DB_REPEATABLE};

static const struct db_statement delete_expired = {
    "rollup_delete_expired",
    "DELETE FROM rollup_due WHERE at < (SELECT kept_from FROM rollup_progress"
    " WHERE level_s = 0)",
    0};

struct due_shard {
    double at_s;
    uint64_t shard, version;
};
static const struct db_column due_shard_columns[] = {
    DB_COLUMN(struct due_shard, at_s, DB_INSTANT),
    DB_COLUMN(struct due_shard, shard, DB_INTEGER),
    DB_COLUMN(struct due_shard, version, DB_INTEGER),
    {0},
};

static const struct db_statement select_shards = {
    "rollup_select_shards",
    "SELECT at, shard::bigint, version FROM rollup_due WHERE tenant = $1 AND at = $2"
    " ORDER BY shard",
    DB_REPEATABLE};

/* $1 tenant, $2 hours, $3 shards, $4 versions. */
static const struct db_statement delete_due = {
    "rollup_delete_due",
    "DELETE FROM rollup_due AS due USING unnest($2, $3, $4) AS made (at, shard, version)"
    " WHERE due.tenant = $1 AND due.at = made.at AND due.shard = made.shard"
    " AND due.version = made.version",
    0};

/* The parts whose day has no other due hour: with another one, that makes the day. */
static const struct db_statement select_day_shards = {
    "rollup_day_shards",
    "SELECT hour.at, hour.shard, hour.version FROM unnest($2, $3, $4)"
    " AS hour (at, shard, version) WHERE NOT EXISTS (SELECT FROM rollup_due AS other"
    " WHERE other.tenant = $1 AND other.shard = hour.shard AND other.at <> hour.at"
    " AND other.at >= date_bin('1 day', hour.at, 'epoch')"
    " AND other.at < date_bin('1 day', hour.at, 'epoch') + interval '1 day')"
    " AND date_bin('1 day', hour.at, 'epoch') >= (SELECT kept_from FROM rollup_progress"
    " WHERE level_s = 3600) ORDER BY 2",
    DB_REPEATABLE};

static const struct db_statement select_kept = {
    "rollup_select_kept",
    "SELECT max(kept_from) FILTER (WHERE level_s = 60),"
    " max(kept_from) FILTER (WHERE level_s = 3600) FROM rollup_progress",
    DB_REPEATABLE};

/* One hour of a tenant, or the part of a day that it changes. */
struct making {
    struct builder *b;
    const char *tenant;
    double at_s;
    struct due_shard *shards, *day_shards; /* the latter: that make the day, too */
    size_t shard_count, day_shard_count;
    const char *declare, *remove; /* SQL: the cursor of what is read; what goes before */
    struct span kept;             /* from: minutes, to: hours: older rows are not kept */
    struct rollup_maker *maker;
    bool unreadable;
    /* Of the batch in hand. */
    const void *list;
    size_t count;
};

/* A text as SQL writes it. */
static const char *quote(const char *text, struct arena *a)
{
    char *quoted = NEW(a, char, 2 * strlen(text) + 5), *to = quoted;

    *to++ = ' ';
    *to++ = 'E';
    *to++ = '\'';
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            *to++ = *text;
        *to++ = *text;
    }
    *to = '\'';
    return quoted;
}

/* " AND ..." for the resources of the parts; nothing if they are all. */
static const char *shards_text(const struct due_shard *shards, size_t count,
                               struct arena *a)
{
    char *text, *to;

    if (count == ROLLUP_SHARDS)
        return "";
    text = to = NEW(a, char, 64 + 4 * count);
    to += sprintf(to, " AND hashtext(resource_id) & 63 IN (");
    for (size_t i = 0; i < count; i++)
        to += sprintf(to, i ? ",%d" : "%d", (int)shards[i].shard);
    sprintf(to, ")");
    return text;
}

static void begin_hour(void *context)
{
    struct making *m = context;
    struct arena *a = m->b->arena;
    const char *tenant = quote(m->tenant, a);
    const char *which = shards_text(m->shards, m->shard_count, a);

    m->maker = rollup_maker_create(a);
    m->declare = arena_printf(
        a,
        "DECLARE rollup_samples NO SCROLL CURSOR FOR SELECT resource_id, to_resource_id,"
        " observed_at, cpu_available_ratio, memory_available_bytes, bandwidth_mbps,"
        " latency_s FROM load_sample WHERE tenant =%s AND observed_at >="
        " to_timestamp(%.0f) AND observed_at < to_timestamp(%.0f)%s"
        " ORDER BY resource_id, coalesce(to_resource_id, ''), observed_at, row_id",
        tenant, m->at_s, m->at_s + HOUR_S, which);
    m->remove = arena_printf(a,
                             "DELETE FROM load_rollup WHERE tenant =%s AND level_s IN"
                             " (60, 3600) AND at >= to_timestamp(%.0f)"
                             " AND at < to_timestamp(%.0f)%s",
                             tenant, m->at_s, m->at_s + HOUR_S, which);
}

static void begin_day(void *context)
{
    struct making *m = context;
    struct arena *a = m->b->arena;
    double day_s = floor(m->at_s / DAY_S) * DAY_S;
    const char *tenant = quote(m->tenant, a);
    const char *which = shards_text(m->day_shards, m->day_shard_count, a);

    m->maker = rollup_maker_create(a);
    m->declare = arena_printf(
        a,
        "DECLARE rollup_hours NO SCROLL CURSOR FOR SELECT %s FROM load_rollup"
        " WHERE tenant =%s AND level_s = 3600 AND at >= to_timestamp(%.0f)"
        " AND at < to_timestamp(%.0f)%s ORDER BY resource_id, to_resource_id, at",
        store_rollup_names, tenant, day_s, day_s + DAY_S, which);
    m->remove = arena_printf(a,
                             "DELETE FROM load_rollup WHERE tenant =%s AND level_s ="
                             " 86400 AND at = to_timestamp(%.0f)%s",
                             tenant, day_s, which);
}

static void add_samples(void *context)
{
    struct making *m = context;
    const struct load_sample *list = m->list;

    add(&m->b->counts->samples_read, m->count);
    for (size_t i = 0; i < m->count; i++)
        rollup_add_sample(m->maker, &list[i]);
}

static void add_hours(void *context)
{
    struct making *m = context;
    const struct load_rollup *list = m->list;

    for (size_t i = 0; i < m->count; i++)
        m->unreadable = !rollup_add_hour(m->maker, &list[i]) || m->unreadable;
}

static void end_rows(void *context)
{
    rollup_end(((struct making *)context)->maker);
}

static enum error_code compute(struct making *m, void (*work)(void *context),
                               struct error *err)
{
    return arena_run(m->b->arena, work, m) ? OK : fail_memory(err);
}

/* Writes the rows that are ready, but for those that would be removed at once. */
static enum error_code write_rows(struct making *m, size_t at_least, struct error *err)
{
    struct load_rollup *rows;
    const struct load_rollup *ready;
    size_t count, kept = 0;

    if (rollup_ready(m->maker) < at_least)
        return OK;
    ready = rollup_rows(m->maker, &count);
    rows = TRY_NEW(m->b->batch, struct load_rollup, count + 1);
    if (!rows)
        return fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        double from_s = ready[i].level_s > HOUR_S   ? -HUGE_VAL
                        : ready[i].level_s < HOUR_S ? m->kept.from_s
                                                    : m->kept.to_s;

        if (ready[i].at_s >= from_s)
            rows[kept++] = ready[i];
    }
    if (kept > 0)
        TRY(store_rollup_copy(m->b->s, m->tenant, rows, kept, err));
    add(&m->b->counts->rows_written, kept);
    rollup_forget(m->maker);
    return OK;
}

/* Reads what a cursor gives, and writes the rows that come of it. */
static enum error_code drain(struct making *m, const struct db_statement *fetch,
                             const struct db_column *columns, size_t row_size,
                             size_t at_once, void (*take)(void *context),
                             struct error *err)
{
    do {
        void *list;

        arena_reset(m->b->batch);
        TRY(db_rows(m->b->s, fetch, NULL, columns, row_size, &list, &m->count,
                    m->b->batch, err));
        m->list = list;
        TRY(compute(m, take, err));
        TRY(write_rows(m, WRITTEN_AT_ONCE, err));
    } while (m->count == at_once);
    TRY(compute(m, end_rows, err));
    arena_reset(m->b->batch);
    return write_rows(m, 1, err);
}

static const struct db_column sample_columns[] = {
    DB_COLUMN(struct load_sample, resource_id, DB_TEXT),
    DB_COLUMN(struct load_sample, to_resource_id, DB_TEXT),
    DB_COLUMN(struct load_sample, observed_at_s, DB_INSTANT),
    DB_COLUMN(struct load_sample, cpu_available_ratio, DB_NUMBER),
    DB_COLUMN(struct load_sample, memory_available_bytes, DB_NUMBER),
    DB_COLUMN(struct load_sample, bandwidth_mbps, DB_NUMBER),
    DB_COLUMN(struct load_sample, latency_s, DB_NUMBER),
    {0},
};

static const struct db_statement fetch_samples = {
    "rollup_fetch_samples", "FETCH FORWARD 20000 FROM rollup_samples", DB_ONCE};
static const struct db_statement fetch_hours = {
    "rollup_fetch_hours", "FETCH FORWARD 500 FROM rollup_hours", DB_ONCE};

static void pause_at(const struct builder *b, enum rollup_stage stage)
{
    if (b->options->pause)
        b->options->pause(b->options->pause_context, stage);
}

/* The rows of minutes and of the hour. */
static enum error_code make_hour(struct making *m, struct error *err)
{
    TRY(compute(m, begin_hour, err));
    TRY(db_execute(m->b->s, m->declare, err));
    pause_at(m->b, ROLLUP_SAMPLES_CHOSEN);
    TRY(db_execute(m->b->s, m->remove, err));
    TRY(drain(m, &fetch_samples, sample_columns, sizeof(struct load_sample),
              FETCHED_AT_ONCE, add_samples, err));
    rollup_maker_close(m->maker);
    return db_execute(m->b->s, "CLOSE rollup_samples", err);
}

/* Those of the day, of the parts that have no other hour due. */
static enum error_code make_day(struct making *m, struct error *err)
{
    TRY(db_list_rows(m->b->s, &select_day_shards, m->tenant, due_shard_columns,
                     sizeof(*m->shards), m->shards, m->shard_count, due_shard_columns,
                     sizeof(*m->day_shards), (void **)&m->day_shards, &m->day_shard_count,
                     m->b->arena, err));
    if (m->day_shard_count == 0)
        return OK;
    TRY(compute(m, begin_day, err));
    TRY(db_execute(m->b->s, m->remove, err));
    TRY(db_execute(m->b->s, m->declare, err));
    TRY(drain(m, &fetch_hours, store_rollup_columns, sizeof(struct load_rollup),
              HOURS_FETCHED, add_hours, err));
    rollup_maker_close(m->maker);
    return db_execute(m->b->s, "CLOSE rollup_hours", err);
}

static enum error_code make(struct making *m, struct error *err)
{
    struct builder *b = m->b;
    size_t removed = 0;
    bool found;

    TRY(db_row(b->s, &select_kept, NULL, span_columns, sizeof(m->kept), &m->kept, &found,
               b->arena, err));
    TRY(db_rows(b->s, &select_shards, DB_PARAMS(db_text(m->tenant), db_instant(m->at_s)),
                due_shard_columns, sizeof(*m->shards), (void **)&m->shards,
                &m->shard_count, b->arena, err));
    if (m->shard_count == 0) /* another replica was first */
        return OK;
    pause_at(b, ROLLUP_VERSIONS_READ);
    TRY(make_hour(m, err));
    TRY(make_day(m, err));
    if (m->unreadable)
        return fail(err, ERR_INTERNAL, "", "a sketch that is stored cannot be read");
    pause_at(b, ROLLUP_ROWS_WRITTEN);
    TRY(db_run_list(b->s, &delete_due, m->tenant, due_shard_columns, sizeof(*m->shards),
                    m->shards, m->shard_count, &removed, b->arena, err));
    add(&b->counts->changed_meanwhile, m->shard_count - removed);
    add(&b->counts->hours_made, 1);
    return OK;
}

/* Makes one hour; *ours false: another replica is at work. */
static enum error_code make_due(struct builder *b, const struct due_hour *hour,
                                bool *ours, struct error *err)
{
    struct making m = {.b = b, .tenant = hour->tenant, .at_s = hour->at_s};

    TRY(begin_ours(b, ours, err));
    return *ours ? end(b, make(&m, err), err) : OK;
}

/* ---- a round ---- */

struct number {
    uint64_t value;
};
static const struct db_column number_columns[] = {
    DB_COLUMN(struct number, value, DB_INTEGER),
    {0},
};

static const struct db_statement count_due = {
    "rollup_count_due", "SELECT count(*) FROM rollup_due", DB_REPEATABLE};

static bool is_over(const struct builder *b, double begun_s)
{
    const struct rollup_options *options = b->options;

    return (options->stopping && __atomic_load_n(options->stopping, __ATOMIC_RELAXED)) ||
           (options->limit_s > 0 && clock_monotonic_s() - begun_s > options->limit_s);
}

static void note(const struct builder *b, const struct due_hour *hour,
                 const struct error *err)
{
    char text[512];

    if (!b->options->log)
        return;
    snprintf(text, sizeof(text),
             "the hour from %.0f of tenant '%.100s' is left due: %.300s", hour->at_s,
             hour->tenant, err->text);
    b->options->log(b->options->log_context, text);
}

/* Makes what is due, the oldest first. An hour that cannot be made does not stop those
 * behind it. */
static enum error_code make_all(struct builder *b, double closed_s, struct error *err)
{
    struct due_hour hour = {"", -HUGE_VAL};
    double begun_s = clock_monotonic_s();
    const struct error before = *err;
    bool ours = true;

    while (ours && !is_over(b, begun_s)) {
        char *tenant;
        bool found;
        enum error_code code;

        TRY(db_row(
            b->s, &select_due,
            DB_PARAMS(db_text(hour.tenant), db_instant(hour.at_s), db_instant(closed_s)),
            due_hour_columns, sizeof(hour), &hour, &found, b->batch, err));
        if (!found)
            return OK;
        arena_reset(b->arena);
        tenant = arena_try_text(b->arena, hour.tenant, strlen(hour.tenant));
        if (!tenant)
            return fail_memory(err);
        hour.tenant = tenant;
        arena_reset(b->batch);
        code = make_due(b, &hour, &ours, err);
        if (code == ERR_UNAVAILABLE || code == ERR_CANCELLED || code == ERR_BUSY)
            return code;
        if (code != OK)
            note(b, &hour, err);
        *err = before;
    }
    return OK;
}

static enum error_code run_round(struct builder *b, double now_s, struct error *err)
{
    struct number due = {0};
    double closed_s = 0; /* when ours: the end of the last hour that is over */
    bool ours, found;

    TRY(mark_closed(b, now_s, &closed_s, &ours, err));
    if (!ours)
        return OK;
    TRY(db_run(b->s, &delete_expired, NULL, NULL, err));
    TRY(make_all(b, closed_s, err));
    arena_reset(b->batch);
    TRY(db_row(b->s, &count_due, NULL, number_columns, sizeof(due), &due, &found,
               b->batch, err));
    __atomic_store_n(&b->counts->due, due.value, __ATOMIC_RELAXED);
    return OK;
}

enum error_code rollup_run(struct db *db, const struct rollup_options *options,
                           double now_s, struct error *err)
{
    struct arena *session_arena = arena_create(SIZE_MAX);
    struct builder b = {.options = options,
                        .arena = arena_create(ROUND_MOST_BYTES),
                        .batch = arena_create(ROUND_MOST_BYTES)};
    enum error_code code;

    b.counts = options->counts ? options->counts : &b.ignored;
    if (session_arena && b.arena && b.batch)
        b.s = db_session_create(db, options->stopping, session_arena);
    if (b.s) {
        db_session_set_timeout(b.s, STATEMENT_S);
        code = run_round(&b, now_s, err);
    } else {
        code = fail_memory(err);
    }
    db_session_close(b.s);
    arena_close(b.batch);
    arena_close(b.arena);
    arena_close(session_arena);
    return code;
}
