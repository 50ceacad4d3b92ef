/* serve.c - a running service, from its settings to its end.
 *
 * What a request uses is made in the order of struct service and released in
 * reverse. The database may be away: a thread of its own keeps trying to bring
 * its schema up to date; it then starts the upkeep of the history tables and the
 * simulations that run without a client.
 */
#include "service/serve.h"

#include "service/auth.h"
#include "service/background.h"
#include "service/clock.h"
#include "service/cpu_quota.h"
#include "service/estimate.h"
#include "service/governor.h"
#include "service/http.h"
#include "service/idempotency.h"
#include "service/liveness.h"
#include "service/log.h"
#include "service/lookup.h"
#include "service/maintenance.h"
#include "service/metrics.h"
#include "service/migrate.h"
#include "service/openapi.h"
#include "service/page_cache.h"
#include "service/ratelimit.h"
#include "service/refits.h"
#include "service/service.h"
#include "service/session_cache.h"
#include "service/session_census.h"
#include "service/session_watch.h"
#include "service/store.h"
#include "service/system_limits.h"
#include "service/worker.h"

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RATE_BUCKETS = 16384,
    KEY_ARENA_BYTES = 256 * 1024,
    KEYS_KEPT = 4096, /* without a database; and their answers: */
    KEYS_KEPT_BYTES = 64 * 1024 * 1024,
    PAGES_KEPT_BYTES = 64 * 1024 * 1024,
    SESSIONS_KEPT_BYTES = 256 * 1024 * 1024, /* and no more than SESSIONS_KEPT_PART */
    SESSIONS_KEPT_PART = 8,                  /* of memory_bytes, which they are beside */
    PROCESSORS_PER_HEAP = 8,
    MALLOC_HEAPS_MAX = 4,
    MALLOC_MMAP_BYTES = 4 * 1024 * 1024,
    MALLOC_TRIM_BYTES = 16 * 1024 * 1024,
};

static const double CONNECT_TIMEOUT_S = 3;
static const double CPU_QUOTA_SYNC_S = 5;
static const double LIVENESS_EVERY_S = 5;
static const double PARTITIONS_WAIT_S = 60;
static const double MAINTENANCE_EVERY_S = 3600;
static const double KEYS_KEPT_S = 3600;
static const double BACKGROUND_POLL_S = 0.5;
static const double MIGRATE_RETRY_S = 2;
static const double MIGRATE_RETRY_MAX_S = 60;

/* Brings the database up to date, however long that takes. */
struct upkeep {
    struct service *service;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    bool stopping;
    struct maintenance *maintenance;
};

/* ---- database ---- */

static void log_database(void *context, const char *text)
{
    (void)context;
    log_write(LOG_WARNING, "database: %s", text);
}

static void log_maintenance(void *context, const char *text)
{
    (void)context;
    log_write(LOG_INFO, "maintenance: %s", text);
}

enum error_code serve_open_database(const struct config *config, struct db **db,
                                    struct error *err)
{
    struct db_options options = {
        .conninfo = config->database,
        .pool_size = config->db_pool_size,
        .prepared = config->db_prepared_statements,
        .connect_timeout_s = CONNECT_TIMEOUT_S,
        .wait_timeout_s = config->db_wait_s,
        .statement_timeout_s = config->db_statement_timeout_s,
        .log = log_database,
    };

    *db = NULL;
    if (!*config->database && !getenv("PGHOST") && !getenv("PGDATABASE") &&
        !getenv("PGSERVICE"))
        return OK;
    return db_create(&options, db, err);
}

static enum error_code copy_key(const struct store_key *row, struct auth_key *key,
                                struct error *err)
{
    if (!row->tenant || strlen(row->tenant) >= sizeof(key->tenant) ||
        !row->digest_sha256.data ||
        row->digest_sha256.length != sizeof(key->digest_sha256))
        return fail(err, ERR_INTERNAL, "", "the stored key is damaged");
    strcpy(key->tenant, row->tenant);
    memcpy(key->digest_sha256, row->digest_sha256.data, sizeof(key->digest_sha256));
    key->scopes = (unsigned)row->scopes;
    key->expires_at_s = row->expires_at_s;
    key->revoked = !isnan(row->revoked_at_s);
    key->quota = row->quota;
    key->quota.weight = NAN; /* only a tenant has one */
    key->tenant_quota = row->tenant_quota;
    return OK;
}

/* auth_find_fn */
static enum error_code find_key(void *context, const char *key_id, struct auth_key *key,
                                struct error *err)
{
    struct arena *a = arena_create(KEY_ARENA_BYTES);
    struct db_session *session = a ? db_session_create(context, NULL, a) : NULL;
    struct store_key row = {0};
    enum error_code code = session
                               ? store_key_find(session, key_id, &row, a, err)
                               : fail(err, ERR_INTERNAL, "", "no memory to read a key");

    if (code == OK)
        code = copy_key(&row, key, err);
    db_session_close(session);
    arena_close(a);
    return code;
}

static void start_maintenance(struct upkeep *u)
{
    const struct config *config = u->service->config;
    struct maintenance_options options = {
        .load_sample_kept_days = config->retention_load_samples_days,
        .failure_kept_days = config->retention_failures_days,
        .execution_kept_days = config->retention_executions_days,
        .checkpoint_log_kept_days = config->retention_checkpoint_logs_days,
        .reschedule_event_kept_days = config->retention_reschedule_events_days,
        .claim_attempt_kept_days = config->retention_claim_attempts_days,
        .site_error_kept_days = config->retention_site_errors_days,
        .transfer_kept_days = config->retention_transfers_days,
        .progress_sample_kept_days = config->retention_progress_samples_days,
        .decision_kept_days = config->retention_decisions_days,
        .simulation_kept_days = config->retention_simulations_days,
        .workflow_session_kept_days = config->retention_workflow_sessions_days,
        .load_rollup_60_kept_days = config->retention_load_rollup_60_days,
        .load_rollup_3600_kept_days = config->retention_load_rollup_3600_days,
        .load_rollup_86400_kept_days = config->retention_load_rollup_86400_days,
        .rollups = config->rollups != CONFIG_ROLLUPS_OFF,
        .load_partition_by_day = config->load_partition == CONFIG_PARTITION_DAY,
        .rollup_counts = &u->service->rollup_counts,
        .months_ahead = config->partitions_ahead_months,
        .moved_row_count = &u->service->moved_row_count,
        .governor = u->service->governor,
        .interval_s = MAINTENANCE_EVERY_S,
        .log = log_maintenance,
    };
    struct error err = {0};

    if (maintenance_create(u->service->db, &options, &u->maintenance, &err) != OK)
        log_write(LOG_ERROR, "maintenance does not start: %s", err.text);
}

static void log_background(void *context, const char *text)
{
    (void)context;
    log_write(LOG_INFO, "simulations: %s", text);
}

static void start_background(struct upkeep *u)
{
    const struct config *config = u->service->config;
    struct background_options options = {
        .at_once = config->simulations_at_once,
        .lease_s = config->simulation_lease_s,
        .poll_s = BACKGROUND_POLL_S,
        .log = log_background,
    };
    struct background *background = NULL;
    struct error err = {0};

    if (options.at_once == 0)
        options.at_once = config->compute_workers > 1 ? config->compute_workers / 2 : 1;
    if (options.at_once > BACKGROUND_AT_ONCE_MAX)
        options.at_once = BACKGROUND_AT_ONCE_MAX;
    if (background_create(u->service, &options, &background, &err) != OK)
        log_write(LOG_ERROR, "simulations do not start: %s", err.text);
    __atomic_store_n(&u->service->background, background, __ATOMIC_RELEASE);
}

static void log_refits(void *context, const char *text)
{
    (void)context;
    log_write(LOG_INFO, "models: %s", text);
}

static void start_refits(struct upkeep *u)
{
    size_t workers = u->service->config->compute_workers;
    struct refits_options options = {
        .at_once = workers > 1 ? workers / 2 : 1,
        .poll_s = BACKGROUND_POLL_S,
        .log = log_refits,
    };
    struct refits *refits = NULL;
    struct error err = {0};

    if (options.at_once > REFITS_AT_ONCE_MAX)
        options.at_once = REFITS_AT_ONCE_MAX;
    if (refits_create(u->service, &options, &refits, &err) != OK)
        log_write(LOG_ERROR, "refits of models do not start: %s", err.text);
    __atomic_store_n(&u->service->refits, refits, __ATOMIC_RELEASE);
}

/* Waits; false when it is time to end. */
static bool upkeep_pause(struct upkeep *u, double pause_s)
{
    struct timespec until;
    double end_s = clock_monotonic_s() + pause_s;

    until.tv_sec = (time_t)end_s;
    until.tv_nsec = (long)((end_s - (double)until.tv_sec) * 1e9);
    pthread_mutex_lock(&u->lock);
    while (!u->stopping)
        if (pthread_cond_timedwait(&u->stopped, &u->lock, &until) != 0)
            break;
    pthread_mutex_unlock(&u->lock);
    return !u->stopping;
}

static void *upkeep_main(void *context)
{
    struct upkeep *u = context;
    double pause_s = MIGRATE_RETRY_S;
    struct error err = {0};
    size_t applied = 0;

    pthread_setname_np(pthread_self(), "upkeep");
    while (migrate_run(u->service->db, migrations, migration_count, &applied, &err) !=
           OK) {
        log_write(
            LOG_WARNING,
            "without the database for now (decisions that carry their inputs work); "
            "trying again in %g s: %s",
            pause_s, err.text);
        if (!upkeep_pause(u, pause_s))
            return NULL;
        pause_s = fmin(2 * pause_s, MIGRATE_RETRY_MAX_S);
        err = (struct error){0};
    }
    log_write(LOG_INFO, "database ready, %zu migrations applied", applied);
    start_maintenance(u);
    liveness_begin(u->service->liveness);
    session_census_begin(u->service->census);
    start_background(u);
    start_refits(u);
    return NULL;
}

static void upkeep_start(struct upkeep *u, struct service *service)
{
    pthread_condattr_t monotonic;

    u->service = service;
    pthread_mutex_init(&u->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&u->stopped, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!service->db)
        log_write(
            LOG_WARNING,
            "no database: nothing is stored, and what is stored cannot be read; set "
            "DATABASE_URL or --database");
    else
        u->started = pthread_create(&u->thread, NULL, upkeep_main, u) == 0;
}

static void upkeep_stop(struct upkeep *u)
{
    pthread_mutex_lock(&u->lock);
    u->stopping = true;
    pthread_mutex_unlock(&u->lock);
    pthread_cond_signal(&u->stopped);
    if (u->started)
        pthread_join(u->thread, NULL);
    background_close(u->service->background);
    refits_close(u->service->refits);
    maintenance_close(u->maintenance);
}

/* ---- metrics ---- */

enum stat {
    HTTP_CONNECTIONS,
    HTTP_REQUESTS,
    HTTP_BODY_BYTES,
    HTTP_SLOW,
    HTTP_IDLE,
    HTTP_GONE,
    HTTP_REFUSED,
};

static double http_stat(void *http, enum stat which)
{
    struct http_stats s;

    http_stats(http, &s);
    const size_t values[] = {s.connection_count, s.request_count, s.body_bytes,
                             s.slow_count,       s.idle_count,    s.gone_count,
                             s.refused_count};
    return (double)values[which];
}

#define HTTP_STAT(function, which)     \
    static double function(void *http) \
    {                                  \
        return http_stat(http, which); \
    }
HTTP_STAT(read_connections, HTTP_CONNECTIONS)
HTTP_STAT(read_requests, HTTP_REQUESTS)
HTTP_STAT(read_body_bytes, HTTP_BODY_BYTES)
HTTP_STAT(read_slow, HTTP_SLOW)
HTTP_STAT(read_idle, HTTP_IDLE)
HTTP_STAT(read_gone, HTTP_GONE)
HTTP_STAT(read_refused, HTTP_REFUSED)

#define GOVERNOR_STAT(function, member)    \
    static double function(void *governor) \
    {                                      \
        struct governor_stats s;           \
                                           \
        governor_stats(governor, &s);      \
        return (double)(s.member);         \
    }
GOVERNOR_STAT(read_queued, queues[GOVERNOR_COMPUTE].queued_count)
GOVERNOR_STAT(read_computing, queues[GOVERNOR_COMPUTE].running_count)
GOVERNOR_STAT(read_queries_queued, queues[GOVERNOR_QUERY].queued_count)
GOVERNOR_STAT(read_querying, queues[GOVERNOR_QUERY].running_count)
GOVERNOR_STAT(read_parked, queues[GOVERNOR_COMPUTE].parked_count)
GOVERNOR_STAT(read_threads, queues[GOVERNOR_COMPUTE].thread_count)
GOVERNOR_STAT(read_looks, queues[GOVERNOR_COMPUTE].look_count)
GOVERNOR_STAT(read_parkings, queues[GOVERNOR_COMPUTE].parking_count)
GOVERNOR_STAT(read_spread, queues[GOVERNOR_COMPUTE].spread_s)
GOVERNOR_STAT(read_body_leases, leased_bytes[GOVERNOR_BODY])
GOVERNOR_STAT(read_work_leases, leased_bytes[GOVERNOR_WORK])
GOVERNOR_STAT(read_body_busy, refused_count[GOVERNOR_BODY][GOVERNOR_BUSY])
GOVERNOR_STAT(read_body_large, refused_count[GOVERNOR_BODY][GOVERNOR_TOO_LARGE])
GOVERNOR_STAT(read_work_busy, refused_count[GOVERNOR_WORK][GOVERNOR_BUSY])
GOVERNOR_STAT(read_work_large, refused_count[GOVERNOR_WORK][GOVERNOR_TOO_LARGE] +
                                   s.refused_count[GOVERNOR_WORK][GOVERNOR_QUOTA_MEMORY])
GOVERNOR_STAT(read_work_limited, refused_count[GOVERNOR_WORK][GOVERNOR_QUOTA_CONCURRENT])

/* There is none before the database has its schema. */
static double read_simulations(void *service)
{
    struct service *s = service;

    return (double)background_running_count(
        __atomic_load_n(&s->background, __ATOMIC_ACQUIRE));
}

static double read_moved_rows(void *service)
{
    struct service *s = service;

    return (double)__atomic_load_n(&s->moved_row_count, __ATOMIC_RELAXED);
}

#define DB_STAT(function, member)    \
    static double function(void *db) \
    {                                \
        struct db_stats s;           \
                                     \
        db_stats(db, &s);            \
        return (double)s.member;     \
    }
DB_STAT(read_pool_size, pool_size)
DB_STAT(read_connected, connected_count)
DB_STAT(read_in_use, in_use_count)
DB_STAT(read_statements, statement_count)
DB_STAT(read_statement_failures, failure_count)
DB_STAT(read_waits, wait_count)
DB_STAT(read_lost, lost_count)
DB_STAT(read_shed, shed_count)
DB_STAT(read_partition_retries, partition_retry_count)
DB_STAT(read_checks_escaped, check_escaped_count)
DB_STAT(read_unconfirmed, unconfirmed_count)

#define KEY_STAT(function, member)     \
    static double function(void *keys) \
    {                                  \
        struct idempotency_stats s;    \
                                       \
        idempotency_stats(keys, &s);   \
        return (double)s.member;       \
    }
KEY_STAT(read_keys_held, held_count)
KEY_STAT(read_keys_waiting, waiting_count)
KEY_STAT(read_replays, replay_count)
KEY_STAT(read_takeovers, takeover_count)

#define ROLLUP_STAT(function, member)                                               \
    static double function(void *service)                                           \
    {                                                                               \
        const struct service *s = service;                                          \
                                                                                    \
        return (double)__atomic_load_n(&s->rollup_counts.member, __ATOMIC_RELAXED); \
    }
ROLLUP_STAT(read_hours_made, hours_made)
ROLLUP_STAT(read_samples_rolled, samples_read)
ROLLUP_STAT(read_rollup_rows, rows_written)
ROLLUP_STAT(read_changed_meanwhile, changed_meanwhile)
ROLLUP_STAT(read_due, due)

/* Of roll-ups of load samples. */
static void add_rollup_metrics(struct service *s)
{
    void *context = s->db && s->config->rollups != CONFIG_ROLLUPS_OFF ? s : NULL;
    const struct metric_row rows[] = {
        {METRIC_COUNTER, "gridplan_rollup_builds_total", "",
         "Hours of tenants whose roll-ups were made.", read_hours_made, context, false},
        {METRIC_COUNTER, "gridplan_rollup_samples_total", "",
         "Load samples read for roll-ups.", read_samples_rolled, context, false},
        {METRIC_COUNTER, "gridplan_rollup_rows_total", "", "Rows of roll-ups written.",
         read_rollup_rows, context, false},
        {METRIC_COUNTER, "gridplan_rollup_changed_total", "",
         "Parts of hours whose samples changed while they were made, to be made again.",
         read_changed_meanwhile, context, false},
        {METRIC_GAUGE, "gridplan_rollup_due", "",
         "Parts of hours that wait for their roll-ups, after the last round.", read_due,
         context, false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].context)
            metrics_add(s->metrics, &rows[i]);
}

static double read_session_waiters(void *context)
{
    return (double)session_watch_count(context);
}

static void add_rows(struct metrics *m, const struct metric_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].context) /* else there is nothing to ask */
            metrics_add(m, &rows[i]);
}

#define KEPT_READS                                                                      \
    "Requests that went on from what was kept of a workflow session (hit), or read it " \
    "whole to be kept (miss)."
#define KEPT_STAT(function, member)     \
    static double function(void *cache) \
    {                                   \
        struct session_cache_stats s;   \
                                        \
        session_cache_stats(cache, &s); \
        return (double)s.member;        \
    }
KEPT_STAT(read_kept_bytes, bytes)
KEPT_STAT(read_kept_entries, count)
KEPT_STAT(read_kept_hits, hit_count)
KEPT_STAT(read_kept_misses, new_count)
KEPT_STAT(read_kept_stale, stale_count)
KEPT_STAT(read_kept_dropped, dropped_count)

/* Of what is kept of workflow sessions. */
static void add_session_metrics(struct service *s)
{
    struct session_cache *kept = s->db ? s->sessions : NULL;
    const struct metric_row rows[] = {
        {METRIC_GAUGE, "gridplan_workflow_session_cache_bytes", "",
         "Memory of workflow sessions that are kept as they were read.", read_kept_bytes,
         kept, false},
        {METRIC_GAUGE, "gridplan_workflow_session_cache_entries", "",
         "Workflow sessions that are kept as they were read.", read_kept_entries, kept,
         false},
        {METRIC_COUNTER, "gridplan_workflow_session_cache_reads_total", "result=\"hit\"",
         KEPT_READS, read_kept_hits, kept, false},
        {METRIC_COUNTER, "gridplan_workflow_session_cache_reads_total", "result=\"miss\"",
         KEPT_READS, read_kept_misses, kept, false},
        {METRIC_COUNTER, "gridplan_workflow_session_cache_stale_total", "",
         "Kept workflow sessions that were not used, as the database has other ones or "
         "other tasks.",
         read_kept_stale, kept, false},
        {METRIC_COUNTER, "gridplan_workflow_session_cache_dropped_total", "",
         "Kept workflow sessions that went for others.", read_kept_dropped, kept, false},
    };

    add_rows(s->metrics, rows, sizeof(rows) / sizeof(rows[0]));
}

/* Of Idempotency-Keys, and of the database's bad days. */
static void add_key_metrics(struct service *s)
{
    const struct metric_row rows[] = {
        {METRIC_GAUGE, "gridplan_keys_held", "",
         "Computations under an Idempotency-Key under way.", read_keys_held,
         s->idempotency, false},
        {METRIC_GAUGE, "gridplan_keys_waiting", "",
         "Requests that wait for the answer to their Idempotency-Key.", read_keys_waiting,
         s->idempotency, false},
        {METRIC_GAUGE, "gridplan_workflow_session_waiters", "",
         "Requests that wait for news of workflow sessions.", read_session_waiters,
         s->watch, true},
        {METRIC_COUNTER, "gridplan_replays_total", "",
         "Answers given again to an Idempotency-Key.", read_replays, s->idempotency,
         false},
        {METRIC_COUNTER, "gridplan_takeovers_total", "",
         "Keys taken over from replicas that were silent.", read_takeovers,
         s->idempotency, false},
        {METRIC_COUNTER, "gridplan_db_waits_shed_total", "",
         "Requests refused at once as many waited long for a connection.", read_shed,
         s->db, false},
        {METRIC_COUNTER, "gridplan_partition_retries_total", "",
         "Statements that met a partition being made, and were sent again.",
         read_partition_retries, s->db, false},
        {METRIC_COUNTER, "gridplan_partition_rows_moved_total", "",
         "Rows moved out of a default partition to one that was made after them.",
         read_moved_rows, s->db ? s : NULL, false},
        {METRIC_COUNTER, "gridplan_check_escaped_total", "",
         "Values that the database refused and the service had let through.",
         read_checks_escaped, s->db, false},
        {METRIC_COUNTER, "gridplan_commits_unconfirmed_total", "",
         "Transactions of which no confirmation came, of the standby or at all.",
         read_unconfirmed, s->db, false},
    };

    add_rows(s->metrics, rows, sizeof(rows) / sizeof(rows[0]));
}

static double read_slots(void *service)
{
    return (double)((const struct service *)service)->config->compute_workers;
}

static double read_processors(void *service)
{
    return ((const struct service *)service)->config->processors;
}

static void add_governor_metrics(struct service *s)
{
    const struct metric_row rows[] = {
        {METRIC_GAUGE, "gridplan_compute_slots", "",
         "Searches and simulations that may compute at once.", read_slots, s, false},
        {METRIC_GAUGE, "gridplan_processors", "",
         "Processors that this process may use, by the machine and the quota of its "
         "control group.",
         read_processors, s, false},
        {METRIC_GAUGE, "gridplan_compute_parked", "",
         "Computations that have begun and wait for others.", read_parked, s->governor,
         false},
        {METRIC_GAUGE, "gridplan_compute_threads", "", "Threads behind the workers.",
         read_threads, s->governor, false},
        {METRIC_COUNTER, "gridplan_compute_looks_total", "",
         "Times a computation was charged for what it used.", read_looks, s->governor,
         false},
        {METRIC_COUNTER, "gridplan_compute_parkings_total", "",
         "Times a computation was parked.", read_parkings, s->governor, false},
        {METRIC_GAUGE, "gridplan_compute_spread_seconds", "",
         "By how much one owner with work is ahead of another, in weighted processor "
         "time.",
         read_spread, s->governor, false},
        {METRIC_GAUGE, "gridplan_memory_leased_bytes", "pool=\"body\"",
         "Memory that requests hold.", read_body_leases, s->governor, false},
        {METRIC_GAUGE, "gridplan_memory_leased_bytes", "pool=\"work\"",
         "Memory that requests hold.", read_work_leases, s->governor, false},
        {METRIC_COUNTER, "gridplan_memory_refused_total", "pool=\"body\",status=\"503\"",
         "Requests and leases refused.", read_body_busy, s->governor, false},
        {METRIC_COUNTER, "gridplan_memory_refused_total", "pool=\"body\",status=\"413\"",
         "Requests and leases refused.", read_body_large, s->governor, false},
        {METRIC_COUNTER, "gridplan_memory_refused_total", "pool=\"work\",status=\"503\"",
         "Requests and leases refused.", read_work_busy, s->governor, false},
        {METRIC_COUNTER, "gridplan_memory_refused_total", "pool=\"work\",status=\"413\"",
         "Requests and leases refused.", read_work_large, s->governor, false},
        {METRIC_COUNTER, "gridplan_memory_refused_total", "pool=\"work\",status=\"429\"",
         "Requests and leases refused.", read_work_limited, s->governor, false},
    };

    add_rows(s->metrics, rows, sizeof(rows) / sizeof(rows[0]));
}

static void add_metrics(struct service *s, struct http *http)
{
    const struct metric_row rows[] = {
        {METRIC_GAUGE, "gridplan_http_connections", "", "Open connections.",
         read_connections, http, true},
        {METRIC_GAUGE, "gridplan_http_requests_in_flight", "", "Requests under way.",
         read_requests, http, true},
        {METRIC_GAUGE, "gridplan_http_body_memory_bytes", "",
         "Memory in use for large bodies.", read_body_bytes, http, true},
        {METRIC_COUNTER, "gridplan_http_slow_connections_closed_total", "",
         "Connections closed because they were too slow or idle too long.", read_slow,
         http, true},
        {METRIC_COUNTER, "gridplan_http_idle_connections_closed_total", "",
         "Idle connections closed to make room.", read_idle, http, true},
        {METRIC_COUNTER, "gridplan_http_clients_gone_total", "",
         "Requests whose client hung up while they ran.", read_gone, http, true},
        {METRIC_COUNTER, "gridplan_http_requests_refused_total", "",
         "Requests refused because a queue was full.", read_refused, http, true},
        {METRIC_GAUGE, "gridplan_worker_queue_depth", "pool=\"compute\"",
         "Requests that wait.", read_queued, s->governor, true},
        {METRIC_GAUGE, "gridplan_worker_queue_depth", "pool=\"query\"",
         "Requests that wait.", read_queries_queued, s->governor, true},
        {METRIC_GAUGE, "gridplan_worker_running", "pool=\"compute\"",
         "Requests that run.", read_computing, s->governor, true},
        {METRIC_GAUGE, "gridplan_worker_running", "pool=\"query\"", "Requests that run.",
         read_querying, s->governor, true},
        {METRIC_GAUGE, "gridplan_simulations_running", "",
         "Simulations without a client that this process plays.", read_simulations,
         s->db ? s : NULL, true},
        {METRIC_GAUGE, "gridplan_db_pool_size", "", "Database connections at most.",
         read_pool_size, s->db, true},
        {METRIC_GAUGE, "gridplan_db_pool_connected", "",
         "Database connections that are open.", read_connected, s->db, true},
        {METRIC_GAUGE, "gridplan_db_pool_in_use", "", "Database connections in use.",
         read_in_use, s->db, true},
        {METRIC_COUNTER, "gridplan_db_statements_total", "", "Statements sent.",
         read_statements, s->db, true},
        {METRIC_COUNTER, "gridplan_db_statement_failures_total", "",
         "Statements that failed.", read_statement_failures, s->db, true},
        {METRIC_COUNTER, "gridplan_db_pool_waits_total", "",
         "Times a connection was waited for.", read_waits, s->db, true},
        {METRIC_COUNTER, "gridplan_db_connections_lost_total", "",
         "Database connections that broke.", read_lost, s->db, true},
    };

    add_rows(s->metrics, rows, sizeof(rows) / sizeof(rows[0]));
    add_governor_metrics(s);
    add_key_metrics(s);
    add_rollup_metrics(s);
    add_session_metrics(s);
    session_census_metrics(s->census, s->metrics);
}

/* ---- signals ---- */

static void signals_block(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Until it is time to end; the next such signal then ends the process at once. */
static void signals_wait(const struct service *service, const sigset_t *set)
{
    int number = 0;

    while (sigwait(set, &number) != 0 || number == SIGHUP) {
        log_write(LOG_INFO, "reading the keys again");
        auth_reload(service->auth);
    }
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
    log_write(LOG_INFO,
              "%s: finishing what is under way, at most %g s; once more ends it now",
              number == SIGINT ? "SIGINT" : "SIGTERM", service->config->shutdown_grace_s);
}

/* ---- the life of the service ---- */

static size_t sessions_kept_bytes(const struct config *config)
{
    size_t part = config->memory_bytes / SESSIONS_KEPT_PART;

    return part < SESSIONS_KEPT_BYTES ? part : SESSIONS_KEPT_BYTES;
}

static enum error_code open_service(struct service *s, struct error *err)
{
    const struct config *config = s->config;
    struct governor_options options = governor_options_of(config);
    struct idempotency_options keys = {.lease_s = config->idempotency_lease_s,
                                       .key_count = KEYS_KEPT,
                                       .key_bytes = KEYS_KEPT_BYTES,
                                       .kept_s = KEYS_KEPT_S,
                                       .log = log_database};

    TRY(serve_open_database(config, &s->db, err));
    if (s->db)
        TRY(liveness_create(&(struct liveness_options){s->db, LIVENESS_EVERY_S,
                                                       PARTITIONS_WAIT_S, log_database,
                                                       NULL},
                            &s->liveness, err));
    s->governor = governor_create(&options);
    keys.db = s->db;
    keys.governor = s->governor;
    TRY(idempotency_create(&keys, &s->idempotency, err));
    if (s->db)
        TRY(session_watch_create(
            &(struct session_watch_options){
                s->db, &s->draining, config->workflow_session_waits, log_database, NULL},
            &s->watch, err));
    if (s->db)
        TRY(session_census_create(
            &(struct session_census_options){s->db, log_database, NULL}, &s->census,
            err));
    s->metrics = metrics_create(config->metrics_names == CONFIG_METRICS_BOTH);
    s->auth = auth_create(config->auth_required, config->unknown_keys_per_address_per_s,
                          s->db ? find_key : NULL, s->db);
    s->limits = ratelimit_create(RATE_BUCKETS);
    s->cpu_quota = cpu_quota_create(s->db, CPU_QUOTA_SYNC_S);
    s->estimates = estimates_create(s->routes);
    s->pages = page_cache_create(PAGES_KEPT_BYTES);
    s->sessions = session_cache_create(sessions_kept_bytes(config));
    s->lookups = worker_pool_create("lookup", lookups_at_once(config->query_workers),
                                    config->query_queue_length, 0);
    if (!s->metrics || !s->auth || !s->limits || !s->cpu_quota || !s->governor ||
        !s->estimates || !s->lookups || !s->pages || !s->sessions)
        return fail(err, ERR_INTERNAL, "", "no memory or no threads for %zu workers",
                    config->compute_workers + config->query_workers);
    return OK;
}

static void close_service(struct service *s)
{
    worker_pool_close(s->lookups);
    governor_close(s->governor);
    cpu_quota_close(s->cpu_quota);
    estimates_close(s->estimates);
    page_cache_close(s->pages);
    session_cache_close(s->sessions);
    ratelimit_close(s->limits);
    auth_close(s->auth);
    metrics_close(s->metrics);
    session_census_close(s->census);
    session_watch_close(s->watch);
    idempotency_close(s->idempotency);
    liveness_close(s->liveness);
    db_close(s->db);
}

static void say_hello(const struct service *s, const struct http *http)
{
    const struct config *config = s->config;
    bool v6 = strchr(config->bind, ':') != NULL;

    for (size_t i = 0; i < config->warning_count; i++)
        log_write(LOG_WARNING, "%s", config->warnings[i]);
    log_write(
        LOG_INFO,
        "gridplan " GRIDPLAN_VERSION " on http://%s%s%s:%d, %zu compute workers, keys %s",
        v6 ? "[" : "", config->bind, v6 ? "]" : "", http_port(http),
        config->compute_workers, config->auth_required ? "required" : "not required");
    if (config->has_admin)
        log_write(LOG_INFO, "probes and metrics alone on %s port %d",
                  *config->admin_bind ? config->admin_bind : config->bind,
                  http_admin_port(http));
    if (*config->unix_socket)
        log_write(LOG_INFO, "also at %s", config->unix_socket);
    if (config->rollups == CONFIG_ROLLUPS_ON && !s->db)
        log_write(LOG_WARNING, "rollups is on, and there is no database to make them in");
    if (config->auth_required && !s->db)
        log_write(LOG_WARNING,
                  "keys are required, and there is no database to hold them: "
                  "nobody will be let in; see --auth and --database");
}

static int serve(struct service *s, const sigset_t *set, struct error *err)
{
    struct upkeep upkeep = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct http *http;

    if (http_start(s, &http, err) != OK) {
        log_write(LOG_ERROR, "%s", err->text);
        return 1;
    }
    add_metrics(s, http);
    upkeep_start(&upkeep, s);
    say_hello(s, http);
    signals_wait(s, set);
    http_drain(http);
    if (!http_wait(http, s->config->shutdown_grace_s)) {
        log_write(LOG_WARNING, "some computations would not stop: left behind");
        log_close();
        _exit(0);
    }
    http_close(http);
    upkeep_stop(&upkeep);
    return 0;
}

/* Each heap of the C library creeps up to the worst mixture of requests that it ever
 * held, and is scattered by it: one for every few processors is enough, as what requests
 * take comes in large pieces. */
static void tune_malloc(void)
{
    double heaps = system_processors("") / PROCESSORS_PER_HEAP;

    mallopt(M_ARENA_MAX, (int)system_slots(heaps, MALLOC_HEAPS_MAX));
    mallopt(M_MMAP_THRESHOLD, MALLOC_MMAP_BYTES);
    mallopt(M_TRIM_THRESHOLD, MALLOC_TRIM_BYTES);
}

int serve_run(const struct config *config, const struct route *route_table,
              answer_form_fn *draw)
{
    struct openapi_document description = {0};
    struct service service = {.config = config,
                              .routes = route_table,
                              .description = &description,
                              .draw = draw};
    struct error err = {0};
    sigset_t set;
    int status = 1;

    tune_malloc();
    signals_block(&set);
    log_open((enum log_level)config->log_level, STDERR_FILENO);
    if (openapi_document_create(route_table,
                                &(struct openapi_limits){config->time_limit_max_s,
                                                         config->simulation_time_limit_s},
                                &description, &err) == OK &&
        open_service(&service, &err) == OK)
        status = serve(&service, &set, &err);
    else
        log_write(LOG_ERROR, "%s", err.text);
    close_service(&service);
    openapi_document_close(&description);
    if (status == 0)
        log_write(LOG_INFO, "ended");
    log_close();
    return status;
}
