/* liveness.c - whether the database takes writes, found out by writing. */
#include "service/liveness.h"

#include "service/clock.h"
#include "service/maintenance.h"
#include "service/uuid.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { ARENA_BYTES = 1 << 20, FASTER_IN_TROUBLE = 20 };

static const double SLOW_S = 2; /* and the time that one statement has */

const struct liveness_kind liveness_kinds[] = {
#define X(symbol, name, ready, text) [symbol] = {name, ready, text},
    LIVENESS_STATES(X)
#undef X
};

struct liveness {
    struct liveness_options options;
    char replica_id[UUID_TEXT_SIZE];
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool begun, closing;
    bool closing_flag; /* the same for statements under way; atomic */
    enum liveness_state state;
    bool late;
    enum liveness_standby standby;
    double begun_s; /* monotonic clock */
};

/* ---- one write ---- */

struct flag {
    bool set;
};

static const struct db_column flag_columns[] = {
    DB_COLUMN(struct flag, set, DB_BOOLEAN),
    {0},
};

static const struct db_statement select_synchronous = {
    "select_synchronous", "SELECT current_setting('synchronous_standby_names') <> ''",
    DB_REPEATABLE};

static const struct db_statement select_read_only = {
    "select_read_only",
    "SELECT pg_is_in_recovery() OR "
    "current_setting('default_transaction_read_only')::bool",
    DB_REPEATABLE};

static const struct db_statement upsert_liveness = {
    "upsert_liveness",
    "INSERT INTO liveness VALUES ($1, now())"
    " ON CONFLICT (replica_id) DO UPDATE SET at = excluded.at",
    DB_REPEATABLE};

/* Takes a megabyte of room. */
static const struct db_statement fill_disk_probe = {
    "fill_disk_probe",
    "INSERT INTO disk_probe SELECT (SELECT string_agg(decode(md5(random()::text || i || "
    "j),"
    " 'hex'), '') FROM generate_series(1, 500) AS j) FROM generate_series(1, 128) AS i",
    0};

static enum error_code write_row(struct db_session *s, void *context, struct error *err)
{
    const char *replica_id = context;

    /* The wait for a standby could not be given up. */
    TRY(db_commit_locally(s, err));
    return db_run(s, &upsert_liveness, DB_PARAMS(db_uuid(replica_id)), NULL, err);
}

static enum error_code write_much(struct db_session *s, void *context, struct error *err)
{
    (void)context;
    TRY(db_commit_locally(s, err));
    return db_run(s, &fill_disk_probe, NULL, NULL, err);
}

static enum error_code empty_probe(struct db_session *s, void *context, struct error *err)
{
    (void)context;
    return db_execute(s, "SET LOCAL lock_timeout = '1s'; TRUNCATE disk_probe", err);
}

/* The disk was full: has it room again? */
static bool has_room(struct db_session *s)
{
    struct error ignored = {.code = OK};
    bool room = db_transaction(s, write_much, NULL, &ignored) == OK;

    ignored = (struct error){.code = OK};
    db_transaction(s, empty_probe, NULL, &ignored); /* another replica may be at it */
    return room;
}

static enum liveness_state judge(struct db *db, struct db_session *s,
                                 enum error_code code, double took_s, struct arena *a)
{
    struct error ignored = {.code = OK};
    struct flag read_only = {false};
    bool found;

    if (db_is_full(db))
        return LIVENESS_FULL;
    if (code == OK)
        return took_s > SLOW_S ? LIVENESS_SLOW : LIVENESS_OK;
    if (code == ERR_BUSY)
        return LIVENESS_SLOW; /* others are served */
    if (db_row(s, &select_read_only, NULL, flag_columns, sizeof(read_only), &read_only,
               &found, a, &ignored) == OK &&
        read_only.set)
        return LIVENESS_READ_ONLY;
    return LIVENESS_DOWN;
}

static enum liveness_state try_once(struct db *db, const char *replica_id,
                                    const bool *closing, struct arena *a,
                                    struct error *err)
{
    struct db_session *s = db_session_create(db, closing, a);
    double begin_s = clock_monotonic_s();
    enum liveness_state state;
    enum error_code code = OK;

    if (!s)
        return LIVENESS_SLOW;
    db_session_set_timeout(s, SLOW_S);
    if (db_is_full(db) && has_room(s))
        db_set_full(db, false);
    if (!db_is_full(db))
        code = db_transaction(s, write_row, (void *)(uintptr_t)replica_id, err);
    state = judge(db, s, code, clock_monotonic_s() - begin_s, a);
    db_session_close(s);
    return state;
}

enum liveness_state liveness_try(struct db *db, const char *replica_id, struct arena *a,
                                 struct error *err)
{
    return try_once(db, replica_id, NULL, a, err);
}

enum liveness_standby liveness_ask_standby(struct db *db, struct arena *a)
{
    struct db_session *s = db_session_create(db, NULL, a);
    struct error ignored = {.code = OK};
    enum liveness_standby standby = LIVENESS_STANDBY_UNKNOWN;
    struct flag on = {false};
    bool found = false;

    if (s &&
        db_row(s, &select_synchronous, NULL, flag_columns, sizeof(on), &on, &found, a,
               &ignored) == OK &&
        found)
        standby = on.set ? LIVENESS_STANDBY_ON : LIVENESS_STANDBY_OFF;
    db_session_close(s);
    return standby;
}

/* ---- the thread ---- */

/* Whether the service may be called ready: the partitions are there, or are late. */
static bool may_begin(struct liveness *l, struct arena *a)
{
    struct db_session *s = db_session_create(l->options.db, &l->closing_flag, a);
    struct error err = {.code = OK};
    bool done = false;

    if (s && maintenance_has_partitions(s, clock_wall_s(), &done, a, &err) != OK)
        done = false;
    db_session_close(s);
    if (!done && clock_monotonic_s() - l->begun_s > l->options.partitions_s) {
        pthread_mutex_lock(&l->mutex);
        l->late = true;
        pthread_mutex_unlock(&l->mutex);
        return true;
    }
    return done;
}

static void note(struct liveness *l, enum liveness_state state, const char *why)
{
    pthread_mutex_lock(&l->mutex);
    if (state != l->state && l->options.log && !l->closing)
        l->options.log(l->options.log_context, *why ? why : liveness_kinds[state].text);
    l->state = state;
    pthread_mutex_unlock(&l->mutex);
}

/* What is not known now was as it is, as far as one knows. */
static void note_standby(struct liveness *l, enum liveness_standby standby)
{
    bool changed;

    if (standby == LIVENESS_STANDBY_UNKNOWN)
        return;
    pthread_mutex_lock(&l->mutex);
    changed = l->standby != standby;
    l->standby = standby;
    pthread_mutex_unlock(&l->mutex);
    if (changed && standby == LIVENESS_STANDBY_OFF && l->options.log &&
        db_has_several_hosts(l->options.db))
        l->options.log(l->options.log_context, LIVENESS_STANDBY_WARNING);
}

/* Sleeps; false when it is time to end. */
static bool pause_for(struct liveness *l, double pause_s)
{
    double end_s = clock_monotonic_s() + pause_s;
    struct timespec until = {(time_t)end_s, (long)((end_s - floor(end_s)) * 1e9)};
    bool go_on;

    pthread_mutex_lock(&l->mutex);
    while (!l->closing)
        if (pthread_cond_timedwait(&l->wake, &l->mutex, &until) != 0)
            break;
    go_on = !l->closing;
    pthread_mutex_unlock(&l->mutex);
    return go_on;
}

static bool wait_for_begin(struct liveness *l)
{
    pthread_mutex_lock(&l->mutex);
    while (!l->begun && !l->closing)
        pthread_cond_wait(&l->wake, &l->mutex);
    pthread_mutex_unlock(&l->mutex);
    l->begun_s = clock_monotonic_s();
    return !l->closing;
}

static void *work(void *context)
{
    struct liveness *l = context;
    struct arena *a = arena_create(ARENA_BYTES);
    enum liveness_state state = LIVENESS_STARTING;
    bool begun = false;

    pthread_setname_np(pthread_self(), "liveness");
    if (!a || !wait_for_begin(l)) {
        arena_close(a);
        return NULL;
    }
    do {
        struct error err = {.code = OK};

        arena_reset(a);
        begun = begun || may_begin(l, a);
        if (begun) {
            state = try_once(l->options.db, l->replica_id, &l->closing_flag, a, &err);
            note(l, state, err.text);
            if (liveness_kinds[state].is_ready)
                note_standby(l, liveness_ask_standby(l->options.db, a));
        }
    } while (pause_for(l, begun && liveness_kinds[state].is_ready
                              ? l->options.interval_s
                              : l->options.interval_s / FASTER_IN_TROUBLE));
    arena_close(a);
    return NULL;
}

/* ---- the interface ---- */

enum error_code liveness_create(const struct liveness_options *options,
                                struct liveness **out, struct error *err)
{
    struct liveness *l = calloc(1, sizeof(*l));
    pthread_condattr_t monotonic;

    if (!l)
        return fail_memory(err);
    l->options = *options;
    uuid_make(l->replica_id);
    pthread_mutex_init(&l->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&l->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&l->thread, NULL, work, l) != 0) {
        pthread_cond_destroy(&l->wake);
        pthread_mutex_destroy(&l->mutex);
        free(l);
        return fail(err, ERR_INTERNAL, "", "cannot start the thread that tries to write");
    }
    *out = l;
    return OK;
}

void liveness_begin(struct liveness *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    l->begun = true;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->mutex);
}

enum liveness_state liveness_state(struct liveness *l, bool *late)
{
    enum liveness_state state;

    pthread_mutex_lock(&l->mutex);
    state = l->state;
    *late = l->late;
    pthread_mutex_unlock(&l->mutex);
    return state;
}

enum liveness_standby liveness_standby(struct liveness *l)
{
    enum liveness_standby standby;

    pthread_mutex_lock(&l->mutex);
    standby = l->standby;
    pthread_mutex_unlock(&l->mutex);
    return standby;
}

void liveness_close(struct liveness *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    l->closing = true;
    __atomic_store_n(&l->closing_flag, true, __ATOMIC_RELAXED);
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->mutex);
    pthread_join(l->thread, NULL);
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->mutex);
    free(l);
}
