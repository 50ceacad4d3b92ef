/* simulation_json.h - how simulations look in JSON.
 *
 * A member that is not given is NULL, NAN, 0 or -1 (a choice): a preset may then
 * have a say. handlers/simulation_grid/simulation_scenario.h makes a scenario of a
 * request.
 */
#ifndef GRIDPLAN_SIMULATION_JSON_H
#define GRIDPLAN_SIMULATION_JSON_H

#include "algorithms/simulation/workload.h"
#include "handlers/common/decision.h"
#include "handlers/simulation/simulation_run.h"
#include "service/store_simulation.h"

enum {
    SIMULATION_RESOURCES_MAX = 2000,
    SIMULATION_JOBS_MAX = 200000,
    SIMULATION_ROWS_MAX = 10000, /* of a schedule or a log, unless the request says */
    SIMULATION_ROWS_LIMIT = 100000,
    SIMULATION_NOT_GIVEN = -1 /* a choice */
};

/* ---- the grid ---- */

struct simulation_load {
    double interval_s;
    const struct distribution *change_percent, *initial_fraction;
};

/* Resources that are alike. */
struct simulation_resources {
    const char *id; /* NULL: after the site */
    uint64_t number;
    const struct distribution *mips_total; /* NULL: 1 */
    uint64_t n_max;
    int sharing;
    double register_s;
    const struct distribution *failure, *restore;
    const char *failure_group, *node_id;
    const struct simulation_load *load;
    const struct failure_interval *outages;
    size_t outage_count;
    const struct sim_load_point *load_trace;
    size_t load_trace_count;
};

struct simulation_site {
    const char *id;
    const struct simulation_resources *resources;
    size_t resource_count;
};

struct simulation_failure_group {
    const char *id;
    struct sim_failure_group burst;
};

struct simulation_link {
    const char *id;
    int kind;
    double bandwidth_mbps, latency_s;
};

struct simulation_route {
    const char *from_node_id, *to_node_id;
    const char *const *link_ids;
    size_t link_count;
};

struct simulation_storage {
    const char *id, *node_id;
    double capacity_bytes;
};

struct simulation_checkpoint_server {
    const char *id, *node_id;
};

struct simulation_network {
    int mode;
    double bandwidth_mbps, latency_s, lan_mbps, lan_latency_s, wan_share_mbps;
    const struct distribution *wan_latency_s;
    const struct simulation_link *links;
    size_t link_count;
    const struct simulation_route *routes;
    size_t route_count;
};

enum simulation_is_mode { SIMULATION_IS_IMMEDIATE, SIMULATION_IS_PERIODIC };

struct simulation_information_service {
    int mode;
    double interval_s;
};

struct simulation_scheduler {
    double interval_s;
};

struct simulation_stop {
    double time_s;
    uint64_t jobs;
    bool when_done;
};

/* ---- the jobs ---- */

struct simulation_job {
    const char *id;
    double arrival_s, length_mi;
    double input_bytes, output_bytes, checkpoint_bytes, checkpoint_overhead_s;
    const char *user;
    const char *resource_id; /* where it must run; NULL: the scheduler places it */
    uint64_t cpus;
    double mips_required, session_s, requested_s;
};

struct simulation_workload {
    int generator;
    const char *preset;
    struct workload workload; /* all but generator, jobs and swf_jobs */
    const struct simulation_job *jobs;
    size_t job_count;
};

struct simulation_interface {
    const char *id;
    const struct simulation_workload *workload;
};

/* ---- the policies ---- */

struct simulation_checkpoint {
    const char *algorithm;
    const struct named_value *options;
    size_t option_count;
};

struct simulation_compared {
    const char *label, *algorithm;
    const struct named_value *options;
    size_t option_count;
    const struct simulation_checkpoint *checkpoint;
};

struct simulation_output {
    bool per_resource, per_path, per_job, log;
    uint64_t job_rows_max, log_rows_max;
};

struct simulation_request {
    int kind;                         /* only "grid" */
    struct decision_request decision; /* seed, time_limit_s, store, labels */
    const char *name, *preset;
    uint64_t runs, max_events;
    int seed_scheme;
    bool ignore_width;
    const struct simulation_stop *stop;
    double stable_after_s, warm_up_s, storage_bytes;
    int initial_state, detection;
    const struct simulation_information_service *information_service;
    const struct simulation_scheduler *scheduler;
    const struct simulation_network *network;
    const struct sim_overhead *overhead_s;
    const struct simulation_site *sites;
    size_t site_count;
    const struct simulation_failure_group *failure_groups;
    size_t failure_group_count;
    const struct simulation_storage *storage_resources;
    size_t storage_count;
    const struct simulation_checkpoint_server *checkpoint_servers;
    size_t checkpoint_server_count;
    const struct simulation_workload *workload;
    const struct simulation_interface *user_interfaces;
    size_t user_interface_count;
    const char *workload_id, *failure_trace_id;
    double failure_trace_from_s;
    const struct snapshot *snapshot;
    const char *snapshot_id;
    bool resources_from_snapshot;
    double now_s; /* on the scale of the snapshot's failure histories */
    const struct simulation_compared *compare;
    size_t compare_count;
    struct simulation_output output;
};

/* ---- the answer ---- */

/* By enum sim_metric. */
struct simulation_metrics {
    struct sim_summary metric[SIM_METRIC_COUNT];
};

struct simulation_job_answer {
    const char *job_id; /* NULL: has none */
    struct sim_job_row row;
};

struct simulation_label_answer {
    const char *label, *algorithm, *checkpoint;
    uint64_t runs;
    struct simulation_metrics metrics;
    const struct sim_resource_row *resources;
    size_t resource_count;
    const struct sim_storage_row *storages;
    size_t storage_count;
    const struct sim_path_row *paths;
    size_t path_count;
    const struct simulation_job_answer *jobs;
    size_t job_count;
    const struct sim_log_row *log;
    size_t log_count;
};

struct simulation_answer {
    struct decision_answer decision;
    int kind; /* 0: grid */
    const char *name;
    const struct simulation_label_answer *results;
    size_t result_count;
    const char *const *ranking;
    size_t ranking_count;
    uint64_t runs_completed, events_executed;
    const double *seeds;
    size_t seed_count;
};

extern const struct json_object simulation_request_json;
extern const struct json_object simulation_answer_json;

/* Members that other kinds have too: struct distribution, simulation_failure_group,
 * failure_interval, simulation_stop, simulation_workload, simulation_checkpoint. */
extern const struct json_object distribution_json;
extern const struct json_object simulation_failure_group_json;
extern const struct json_object simulation_outage_json;
extern const struct json_object simulation_stop_json;
extern const struct json_object simulation_workload_json;
extern const struct json_object simulation_checkpoint_json;

/* struct sim_summary: a figure over runs, of every kind of simulation. */
extern const struct json_object sim_summary_json;

extern const char *const simulation_status_names[]; /* "queued" ..., ended by NULL */
extern const char *const simulation_kind_names[];   /* "grid" ..., ended by NULL */

/* A struct store_simulation, without the result and with it. */
extern const struct json_object simulation_info_json;
extern const struct json_object stored_simulation_json;

#endif
