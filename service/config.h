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
enum config_rollups { CONFIG_ROLLUPS_AUTO, CONFIG_ROLLUPS_ON, CONFIG_ROLLUPS_OFF };
enum config_load_partition { CONFIG_PARTITION_MONTH, CONFIG_PARTITION_DAY };
enum config_metrics_names { CONFIG_METRICS_NEW, CONFIG_METRICS_BOTH };

/* type, name, default, least, most (of a number), choices of a CHOICE, customary
 * environment variable, documentation. To add a setting, add its row. */
#define CONFIG_SETTINGS(X)                                                               \
    X(TEXT, admin_bind, "", 0, 0, NULL, NULL,                                            \
      "Address of a second listener, for probes and metrics alone; empty: as bind")      \
    X(COUNT, admin_port, "0", 0, 65535, NULL, NULL,                                      \
      "Its TCP port; 0: none, or any free one when admin_bind is set")                   \
    X(TEXT, allowed_hosts, "auto", 0, 0, NULL, NULL,                                     \
      "Values of Host that are served, separated by commas, or *; auto: with keys any, " \
      "else addresses, localhost, this machine's name and the host of public_url")       \
    X(CHOICE, auth, "auto", 0, 0, "auto|on|off", NULL,                                   \
      "Whether requests need a key; auto: unless bound to loopback")                     \
    X(BOOLEAN, auto_models, "true", 0, 0, NULL, NULL,                                    \
      "Whether the first run of an application without a model makes one of kind auto")  \
    X(COUNT, auto_models_max, "10000", 0, 1e7, NULL, NULL,                               \
      "Models of a tenant up to which they come by themselves")                          \
    X(TEXT, bind, "127.0.0.1", 0, 0, NULL, NULL,                                         \
      "Address to listen on, IPv4 or IPv6; 0.0.0.0 or :: for all")                       \
    X(COUNT, body_bytes_per_s, "65536", 1, 1e12, NULL, NULL,                             \
      "Bodies and replies get body_timeout_s and a second per so many bytes")            \
    X(NUMBER, body_memory_ratio, "0.25", 0.05, 0.75, NULL, NULL,                         \
      "Share of memory_bytes for request bodies, as they come and decompressed")         \
    X(NUMBER, body_timeout_s, "60", 0.1, 86400, NULL, NULL,                              \
      "Time for a request's body, and for its reply, to pass; see body_bytes_per_s")     \
    X(COUNT, compute_queue_length, "256", 1, 1e6, NULL, NULL,                            \
      "Searches and simulations that may wait; more are refused with 503")               \
    X(COUNT, compute_threads, "0", 0, 4096, NULL, NULL,                                  \
      "Threads behind the compute workers, for computations that are parked so that "    \
      "others go on; 0: 4 for each worker and 64")                                       \
    X(COUNT, compute_workers, "0", 0, 1024, NULL, NULL,                                  \
      "Searches and simulations that compute at once; 0: the number of processors, or "  \
      "what the quota of the control group comes to, rounded up")                        \
    X(COUNT, connections_per_address, "0", 0, 1e6, NULL, NULL,                           \
      "Connections from one address at most; 0: no limit; trusted_proxies have none")    \
    X(TEXT, cors_origins, "", 0, 0, NULL, NULL,                                          \
      "Origins that browsers may call from, separated by commas, or *; empty: none")     \
    X(TEXT, cws_mount, "/compat/cws", 0, 0, NULL, NULL,                                  \
      "Path below which nf-cws finds its scheduler, besides /compat/cws; / or empty: "   \
      "at the "                                                                          \
      "top, for clients that fix the path")                                              \
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
    X(BOOLEAN, docs, "true", 0, 0, NULL, NULL, "Whether /docs/, the manual, is served")  \
    X(TEXT, facades, "all", 0, 0, NULL, NULL,                                            \
      "What other tools may call: all, or names with commas: cws, k8s, nextflow, tpv; "  \
      "empty: nothing")                                                                  \
    X(NUMBER, fair_quantum_s, "1", 0.05, 60, NULL, NULL,                                 \
      "Processor time after which a computation is parked if another tenant has had "    \
      "less")                                                                            \
    X(TEXT, frame_ancestors, "", 0, 0, NULL, NULL,                                       \
      "Origins of pages that may show this service's pages and pictures in frames, "     \
      "separated by commas; empty: none")                                                \
    X(NUMBER, header_timeout_s, "10", 0.1, 3600, NULL, NULL,                             \
      "Time for a request's header to arrive, from the connection or the request line")  \
    X(NUMBER, idempotency_lease_s, "15", 1, 3600, NULL, NULL,                            \
      "After how long another replica takes up a keyed request of one that is silent")   \
    X(COUNT, io_threads, "2", 1, 256, NULL, NULL,                                        \
      "Threads that read, write and answer what takes microseconds")                     \
    X(TEXT, k8s_snapshot_id, "", 0, 0, NULL, NULL,                                       \
      "Stored snapshot of the nodes that an extender of kube-scheduler chooses among, "  \
      "of the tenant that asks; empty: every node passes, none is better")               \
    X(NUMBER, keepalive_timeout_s, "75", 1, 86400, NULL, NULL,                           \
      "Time that an idle connection is kept between two requests")                       \
    X(CHOICE, load_partition, "month", 0, 0, "month|day", NULL,                          \
      "How much a partition of load samples holds, and of their roll-ups by minutes, "   \
      "from the next one on; by day eight are made ahead of time")                       \
    X(CHOICE, log_level, "info", 0, 0, "debug|info|warning|error", "LOG_LEVEL",          \
      "Least important messages to log; requests are info")                              \
    X(COUNT, max_body_bytes, "67108864", 1024, 1e12, NULL, NULL,                         \
      "Largest request body, also after decompression")                                  \
    X(COUNT, max_connections, "20000", 1, 1e6, NULL, NULL,                               \
      "Connections at most; idle ones are closed when nine tenths are in use")           \
    X(COUNT, max_upload_bytes, "4294967296", 1024, 1e12, NULL, NULL,                     \
      "Largest body of POST /v1/workloads, /v1/failure-traces and "                      \
      "/v1/imports/slurm/history, which are read piece by piece, also after "            \
      "decompression; not less than max_body_bytes")                                     \
    X(COUNT, memory_bytes, "0", 0, 1e13, NULL, NULL,                                     \
      "Memory for all requests together; 0: 60 % of what the process may have")          \
    X(CHOICE, metrics_names, "new", 0, 0, "new|both", NULL,                              \
      "Names in /metrics; both: those of the release before too, which the next one "    \
      "has "                                                                             \
      "no more")                                                                         \
    X(COUNT, partitions_ahead_months, "3", 0, 24, NULL, NULL,                            \
      "History partitions made ahead of time")                                           \
    X(COUNT, port, "8080", 0, 65535, NULL, "PORT", "TCP port; 0: any free one")          \
    X(TEXT, public_url, "", 0, 0, NULL, NULL,                                            \
      "Where clients see this service (https://plan.example.org, without a slash at "    \
      "the "                                                                             \
      "end): addresses in answers become absolute; empty: they are paths")               \
    X(COUNT, query_queue_length, "1024", 1, 1e6, NULL, NULL,                             \
      "Requests that may wait for a database worker; more are refused with 503")         \
    X(COUNT, query_workers, "8", 1, 1024, NULL, NULL, "Threads that talk to PostgreSQL") \
    X(NUMBER, queue_wait_s, "300", 0.1, 86400, NULL, NULL,                               \
      "Longest wait of a request for a worker or for memory; then 503")                  \
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
    X(NUMBER, retention_load_rollup_3600_days, "400", 0, 36500, NULL, NULL,              \
      "How long roll-ups of load samples by hours are kept; 0: for ever")                \
    X(NUMBER, retention_load_rollup_60_days, "30", 0, 36500, NULL, NULL,                 \
      "The same of those by minutes; 0: for ever")                                       \
    X(NUMBER, retention_load_rollup_86400_days, "0", 0, 36500, NULL, NULL,               \
      "The same of those by days; 0: for ever")                                          \
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
    X(NUMBER, retention_workflow_sessions_days, "30", 0, 36500, NULL, NULL,              \
      "How long workflow sessions are kept once they have expired; 0: for ever")         \
    X(CHOICE, rollups, "auto", 0, 0, "auto|on|off", NULL,                                \
      "Whether roll-ups of load samples are made: statistics by minute, hour and day; "  \
      "auto: when there is a database")                                                  \
    X(NUMBER, shutdown_grace_s, "25", 0, 3600, NULL, "SHUTDOWN_GRACE_S",                 \
      "Time to finish requests after SIGTERM; then computations are cut short")          \
    X(COUNT, simulation_jobs_max, "1000000", 1, 1e7, NULL, NULL,                         \
      "Jobs of a simulation of kind cluster at most")                                    \
    X(NUMBER, simulation_lease_s, "15", 0.1, 3600, NULL, NULL,                           \
      "After how long another replica takes up the simulations of one that is silent")   \
    X(COUNT, simulation_resources_max, "10000", 1, 100000, NULL, NULL,                   \
      "Nodes of a simulation of kind cluster at most")                                   \
    X(NUMBER, simulation_time_limit_s, "3600", 0.001, 604800, NULL, NULL,                \
      "Largest time_limit_s, and its default, without a client (Prefer: respond-async)") \
    X(COUNT, simulations_at_once, "0", 0, 64, NULL, NULL,                                \
      "Simulations without a client run at once; 0: half the compute workers")           \
    X(NUMBER, tenant_memory_ratio, "0.5", 0.05, 1, NULL, NULL,                           \
      "Share of the memory for bodies, and of that for work, for a tenant that already " \
      "has some")                                                                        \
    X(COUNT, tenant_queue_length, "64", 1, 1e6, NULL, NULL,                              \
      "Computations of one tenant that may wait once half of compute_queue_length is "   \
      "in use; more are refused with 429")                                               \
    X(NUMBER, time_limit_max_s, "600", 0.001, 86400, NULL, NULL,                         \
      "Largest time_limit_s that a request may ask for, and its default; more is 422")   \
    X(COUNT, total_body_bytes, "0", 0, 1e13, NULL, NULL,                                 \
      "Memory for the bodies of all requests in flight at most; 0: what "                \
      "body_memory_ratio says")                                                          \
    X(TEXT, trusted_proxies, "", 0, 0, NULL, NULL,                                       \
      "Networks (10.0.0.0/8) whose X-Forwarded-For names the client, separated by "      \
      "commas; empty: none")                                                             \
    X(BOOLEAN, ui, "true", 0, 0, NULL, NULL,                                             \
      "Whether /, the dashboard for browsers, is served")                                \
    X(TEXT, unix_socket, "", 0, 0, NULL, NULL,                                           \
      "Path of a further listener, for this user alone; empty: none")                    \
    X(NUMBER, unknown_keys_per_address_per_s, "5", 0.1, 1e4, NULL, NULL,                 \
      "Keys not seen before that are looked up for one address in a second; more get "   \
      "429")                                                                             \
    X(COUNT, workflow_session_events, "5000000", 1, 1e9, NULL, NULL,                     \
      "Events of a workflow session at most")                                            \
    X(COUNT, workflow_session_tasks, "1000000", 1, 1e9, NULL, NULL,                      \
      "Tasks of a workflow session at most")                                             \
    X(COUNT, workflow_session_waits, "1000", 1, 1e6, NULL, NULL,                         \
      "Requests that may wait for news of workflow sessions; more are refused with 503") \
    X(COUNT, workflow_sessions, "10000", 1, 1e7, NULL, NULL,                             \
      "Workflow sessions of a tenant at most, without those that have expired")

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
    const char *warnings[CONFIG_WARNINGS_MAX]; /* what was raised or lowered; GRIDPLAN_
                                                  variables that mean nothing */
    size_t warning_count;
    double processors;  /* that the process may use: half of one, or 2.5 */
    bool auth_required; /* what `auth` comes to */
    bool has_admin;     /* whether there is a second listener */
};

/* Settings that come from others or from the machine where they are 0 are filled in.
 *
 * The settings from `environment` ("NAME=value" texts ended by NULL) and
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
