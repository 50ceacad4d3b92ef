/* simulation_coallocation_parts.h - the request of a simulation of co-allocation, read.
 *
 * simulation_coallocation_request.c has its tables and makes a setting of it,
 * simulation_coallocation.c plays that and answers.
 */
#ifndef GRIDPLAN_SIMULATION_COALLOCATION_PARTS_H
#define GRIDPLAN_SIMULATION_COALLOCATION_PARTS_H

#include "algorithms/coallocation/simulation.h"
#include "handlers/common/decision.h"

enum {
    CO_SIM_POLICIES_MAX = 16,
    CO_SIM_SITES_MAX = 200,
    CO_SIM_JOBS_MAX = 100000,
    CO_SIM_RUNS_MAX = 1000,
    CO_SIM_ROWS_MAX = 10000, /* of jobs, of one policy */
};

struct co_sim_component_request {
    uint64_t processors;
    const char *site_id; /* NULL: free */
};

struct co_sim_job_request {
    const char *id;
    double submit_s, run_time_s;
    int request_type, priority; /* enum co_request_type, enum co_level */
    int component_site_rule;    /* enum co_site_rule */
    const struct co_sim_component_request *components;
    size_t component_count;
    double file_bytes; /* 0: none */
    const char *const *file_site_ids;
    size_t file_site_count;
};

struct co_sim_site_request {
    const char *id;
    uint64_t processors_total;
    double failure_ratio;
};

struct co_sim_grid_request {
    int preset; /* enum co_sim_grid_kind; -1: not given */
    const struct co_sim_site_request *sites;
    size_t site_count;
    const struct co_link *links;
    size_t link_count;
    double default_bandwidth_mbps;
};

/* NAN, -1 and 0 (counts): as the stream's experiment had. */
struct co_sim_settings_request {
    double background_lower_ratio, background_add_ratio, background_upper_ratio;
    double local_ratio, local_run_time_s, monitor_interval_s;
    int scan_mode;
    double scan_interval_s;
    uint64_t n_h, n_l, n_1, n_2, n_3, n_4;
    double max_placement_tries, promotion_p, max_overtakes, max_wait_s;
    double t_threshold, l_decrement, l_min, max_claim_tries;
    bool allow_start_equal, preempt_only_if_complete, preempt_with_base_priority;
    int preempt_order, preempt_site;
    uint64_t error_threshold;
    double unusable_cooldown_s;
    bool avoid_failed_sites, local_priority;
    double max_run_time_s, slowdown_ratio;
    uint64_t backlog;
    double warmup_s, horizon_s;
};

struct co_sim_request {
    int kind; /* only "coallocation" */
    struct decision_request decision;
    const char *name;
    int workload; /* enum co_workload_kind; -1: not given */
    uint64_t job_count;
    double replica_count, mean_gap_s;
    int request_type, component_site_rule;
    struct co_sim_grid_request grid;
    const struct co_sim_job_request *jobs;
    size_t job_request_count;
    const char *const *policies;
    size_t policy_count;
    struct co_sim_settings_request settings;
    uint64_t runs;
    bool per_job;
};

/* What is played: in.policy, in.param, in.jobs, in.seed are set for each run. */
struct co_sim_setting {
    struct co_sim_in in;
    struct co_workload_in draw; /* unless jobs were given */
    const struct policy *policies[CO_SIM_POLICIES_MAX];
    double param[CO_SIM_POLICIES_MAX][PARAMS_MAX];
    size_t policy_count;
};

/* Checks a request and fills *out; notes every mistake. */
enum error_code co_sim_read(const struct co_sim_request *in, struct co_sim_setting *out,
                            struct arena *a, struct error *err);

#endif
