/* config.h - the settings of the service: one table, sorted by name.
 *
 * Every row is a member of struct config, an environment variable
 * GRIDPLAN_NAME, a flag --name (with dashes) and a line of --help. Flags go
 * before GRIDPLAN_NAME, that before the customary variable (PORT), that before
 * the default. A SECRET is also read from the file that GRIDPLAN_NAME_FILE
 * names, and never printed whole.
 */
#ifndef GRIDPLAN_CONFIG_H
#define GRIDPLAN_CONFIG_H

#include "models/base/error.h"

#include <stdbool.h>
#include <stdio.h>

enum config_auth { CONFIG_AUTH_AUTO, CONFIG_AUTH_ON, CONFIG_AUTH_OFF };

/* type, name, default, least, most (of a number), choices of a CHOICE, customary
 * environment variable, documentation. To add a setting, add its row. */
#define CONFIG_SETTINGS(X)                                                               \
    X(CHOICE, auth, "auto", 0, 0, "auto|on|off", NULL,                                   \
      "Whether requests need a key; auto: unless bound to loopback")                     \
    X(TEXT, bind, "127.0.0.1", 0, 0, NULL, NULL,                                         \
      "Address to listen on, IPv4 or IPv6; 0.0.0.0 or :: for all")                       \
    X(COUNT, body_bytes_per_s, "65536", 1, 1e12, NULL, NULL,                             \
      "Bodies and replies get body_timeout_s and a second per so many bytes")            \
    X(NUMBER, body_timeout_s, "60", 0.1, 86400, NULL, NULL,                              \
      "Time for a request's body, and for its reply, to pass; see body_bytes_per_s")     \
    X(COUNT, compute_queue_length, "256", 1, 1e6, NULL, NULL,                            \
      "Searches and simulations that may wait; more are refused with 503")               \
    X(COUNT, compute_workers, "0", 0, 1024, NULL, NULL,                                  \
      "Threads for searches and simulations; 0: the number of processors")               \
    X(COUNT, connections_per_address, "0", 0, 1e6, NULL, NULL,                           \
      "Connections from one address at most; 0: no limit (behind a proxy all share "     \
      "one)")                                                                            \
    X(TEXT, cors_origins, "", 0, 0, NULL, NULL,                                          \
      "Origins that browsers may call from, separated by commas, or *; empty: none")     \
    X(SECRET, database, "", 0, 0, NULL, "DATABASE_URL",                                  \
      "PostgreSQL, URI or key=value; empty: no database, unless PGHOST or PGDATABASE")   \
    X(COUNT, db_pool_size, "8", 1, 1000, NULL, NULL,                                     \
      "Connections to PostgreSQL at most")                                               \
    X(BOOLEAN, db_prepared_statements, "true", 0, 0, NULL, NULL,                         \
      "Prepare statements; false behind PgBouncer in transaction mode")                  \
    X(NUMBER, db_statement_timeout_s, "30", 0, 86400, NULL, NULL,                        \
      "Time for one SQL statement; 0: no limit")                                         \
    X(NUMBER, db_wait_s, "5", 0.1, 600, NULL, NULL,                                      \
      "Longest wait for a connection; once a fifth is usual, every second one fails "    \
      "fast")                                                                            \
    X(NUMBER, header_timeout_s, "10", 0.1, 3600, NULL, NULL,                             \
      "Time for a request's header to arrive, from the connection or the request line")  \
    X(NUMBER, idempotency_lease_s, "15", 1, 3600, NULL, NULL,                            \
      "After how long another replica takes up a keyed request of one that is silent")   \
    X(COUNT, io_threads, "2", 1, 256, NULL, NULL,                                        \
      "Threads that read, write and answer what takes microseconds")                     \
    X(NUMBER, keepalive_timeout_s, "75", 1, 86400, NULL, NULL,                           \
      "Time that an idle connection is kept between two requests")                       \
    X(CHOICE, log_level, "info", 0, 0, "debug|info|warning|error", "LOG_LEVEL",          \
      "Least important messages to log; requests are info")                              \
    X(COUNT, max_body_bytes, "67108864", 1024, 1e12, NULL, NULL,                         \
      "Largest request body, also after decompression")                                  \
    X(COUNT, max_connections, "20000", 1, 1e6, NULL, NULL,                               \
      "Connections at most; idle ones are closed when nine tenths are in use")           \
    X(COUNT, max_upload_bytes, "134217728", 1024, 1e12, NULL, NULL,                      \
      "Largest body of POST /v1/workloads and /v1/failure-traces, also after "           \
      "decompression; not less than max_body_bytes, not more than a request's memory")   \
    X(COUNT, partitions_ahead_months, "3", 0, 24, NULL, NULL,                            \
      "History partitions made ahead of time")                                           \
    X(COUNT, port, "8080", 0, 65535, NULL, "PORT", "TCP port; 0: any free one")          \
    X(COUNT, query_queue_length, "1024", 1, 1e6, NULL, NULL,                             \
      "Requests that may wait for a database worker; more are refused with 503")         \
    X(COUNT, query_workers, "8", 1, 1024, NULL, NULL, "Threads that talk to PostgreSQL") \
    X(NUMBER, rate_burst_count, "0", 0, 1e9, NULL, NULL,                                 \
      "Requests at once within the rate limit; 0: twice a second's")                     \
    X(NUMBER, rate_limit_per_s, "0", 0, 1e9, NULL, NULL,                                 \
      "Requests a second for each key, or address without keys; 0: no limit")            \
    X(BOOLEAN, readiness_without_database, "false", 0, 0, NULL, NULL,                    \
      "Whether /readyz says 200 while the database is down")                             \
    X(COUNT, request_memory_bytes, "1073741824", 1048576, 1e13, NULL, NULL,              \
      "Memory that one request may take")                                                \
    X(NUMBER, retention_checkpoint_logs_days, "0", 0, 36500, NULL, NULL,                 \
      "How long checkpoint logs are kept; 0: for ever")                                  \
    X(NUMBER, retention_claim_attempts_days, "0", 0, 36500, NULL, NULL,                  \
      "How long claim attempts are kept; 0: for ever")                                   \
    X(NUMBER, retention_decisions_days, "30", 0, 36500, NULL, NULL,                      \
      "How long decisions are kept; 0: for ever")                                        \
    X(NUMBER, retention_executions_days, "0", 0, 36500, NULL, NULL,                      \
      "How long executions are kept; 0: for ever")                                       \
    X(NUMBER, retention_failures_days, "0", 0, 36500, NULL, NULL,                        \
      "How long failures are kept; 0: for ever")                                         \
    X(NUMBER, retention_load_samples_days, "0", 0, 36500, NULL, NULL,                    \
      "How long load samples are kept; 0: for ever")                                     \
    X(NUMBER, retention_progress_samples_days, "0", 0, 36500, NULL, NULL,                \
      "How long progress of tasks is kept, and what it taught; 0: for ever")             \
    X(NUMBER, retention_reschedule_events_days, "0", 0, 36500, NULL, NULL,               \
      "How long reported moves are kept; 0: for ever; what was learnt from them stays")  \
    X(NUMBER, retention_simulations_days, "30", 0, 36500, NULL, NULL,                    \
      "How long finished simulations are kept; 0: for ever")                             \
    X(NUMBER, retention_site_errors_days, "0", 0, 36500, NULL, NULL,                     \
      "How long errors of sites are kept; 0: for ever")                                  \
    X(NUMBER, retention_transfers_days, "0", 0, 36500, NULL, NULL,                       \
      "How long reported transfers are kept; 0: for ever")                               \
    X(NUMBER, shutdown_grace_s, "25", 0, 3600, NULL, "SHUTDOWN_GRACE_S",                 \
      "Time to finish requests after SIGTERM; then computations are cut short")          \
    X(NUMBER, simulation_lease_s, "15", 0.1, 3600, NULL, NULL,                           \
      "After how long another replica takes up the simulations of one that is silent")   \
    X(NUMBER, simulation_time_limit_s, "3600", 0.001, 604800, NULL, NULL,                \
      "Time that a simulation without a client may take (Prefer: respond-async)")        \
    X(COUNT, simulations_at_once, "0", 0, 64, NULL, NULL,                                \
      "Simulations without a client run at once; 0: half the compute workers")           \
    X(NUMBER, time_limit_max_s, "600", 0.001, 86400, NULL, NULL,                         \
      "Largest time_limit_s that a request may ask for")                                 \
    X(COUNT, total_body_bytes, "1073741824", 1048576, 1e13, NULL, NULL,                  \
      "Memory for the bodies of all requests in flight; beyond it 503")

#define CONFIG_TYPE_CHOICE  int
#define CONFIG_TYPE_TEXT    const char *
#define CONFIG_TYPE_SECRET  const char *
#define CONFIG_TYPE_COUNT   size_t
#define CONFIG_TYPE_NUMBER  double
#define CONFIG_TYPE_BOOLEAN bool

enum { CONFIG_WARNINGS_MAX = 8 };

struct config {
#define X(type, name, ...) CONFIG_TYPE_##type name;
    CONFIG_SETTINGS(X)
#undef X
    const char *warnings[CONFIG_WARNINGS_MAX]; /* GRIDPLAN_ variables that mean nothing */
    size_t warning_count;
    bool auth_required; /* what `auth` comes to */
};

/* The settings from `environment` ("NAME=value" texts ended by NULL) and
 * `flags` ("--name=value", or "--name" and "value"; ended by NULL). All mistakes
 * are collected in *err. What it points to lives in `a`. */
enum error_code config_read(const char *const *environment, const char *const *flags,
                            struct config *config, struct arena *a, struct error *err);

/* What is in force, one "name value" a line, secrets masked. */
void config_print(const struct config *config, FILE *out);

/* Every setting: flag, variables, default, documentation. */
void config_help(FILE *out);

/* A database URI or key=value text with the passwords replaced by "***". */
const char *config_mask(const char *conninfo, struct arena *a);

#endif
