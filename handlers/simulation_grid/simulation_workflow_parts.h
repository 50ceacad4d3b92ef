/* simulation_workflow_parts.h - the request of a simulation of workflows, read.
 *
 * simulation_workflow_request.c has its tables and makes a setting of it,
 * simulation_workflow.c plays that and answers.
 */
#ifndef GRIDPLAN_SIMULATION_WORKFLOW_PARTS_H
#define GRIDPLAN_SIMULATION_WORKFLOW_PARTS_H

#include "algorithms/workflow/simulation.h"
#include "handlers/workflow/workflow_json.h"

enum {
    WF_SIM_POLICIES_MAX = 16,
    WF_SIM_SITES_MAX = 100,
    WF_SIM_RESOURCES_MAX = 5000,
    WF_SIM_WORKFLOWS_MAX = 10000,
    WF_SIM_RUNS_MAX = 1000,
    WF_SIM_ROWS_MAX = 10000, /* of workflows, of one policy */
};

struct wf_sim_resource_request {
    const char *id, *site_id; /* site_id NULL: a site of its own */
    double mips_total, mips_external;
    uint64_t n_max;
};

/* NAN, -1 and 0 (counts), here and below: as the preset has it. */
struct wf_sim_grid_request {
    uint64_t sites, resources_per_site;
    double mips_min, mips_max;
    uint64_t n_max;
    double loaded_ratio, external_ratio;
    double lan_mbps, lan_latency_s, wan_mbps, wan_latency_min_s, wan_latency_max_s;
    const struct wf_sim_resource_request *resources;
    size_t resource_count;
};

struct wf_sim_workload_request {
    int shape;
    uint64_t parallelism;
    double tasks_mean;
    uint64_t levels;
    double nominal_ref_s;
    int variation;
    double spread_ratio;
    int sweep, estimates;
    double noise_ratio;
    int initial_estimate; /* -1, no, yes */
    double data_bytes, checkpoint_bytes;
    int arrivals;
    double load_ratio;
    uint64_t workflow_count;
};

struct wf_sim_settings_request {
    double round_interval_s, information_interval_s;
    double load_interval_s, load_change_min_ratio, load_change_max_ratio;
    double checkpoint_s, restart_s, stage_in_s, stage_out_s;
    const char *storage_site_id;
    int storage; /* -1, constant, network */
    bool share_lan;
    double report_ratio;
    uint64_t fit_points;
    double horizon_s;
};

struct wf_sim_compared {
    const char *label, *algorithm;
    const struct named_value *options;
    size_t option_count;
    bool use_estimates;
};

struct wf_sim_request {
    int kind; /* only "workflow" */
    struct decision_request decision;
    const char *name;
    int preset; /* enum workflow_sim_preset_kind */
    struct wf_sim_grid_request grid;
    struct wf_sim_workload_request workload;
    const struct workflow_request *workflows;
    size_t workflow_count;
    struct wf_sim_settings_request settings;
    const struct wf_sim_compared *compare;
    size_t compare_count;
    uint64_t runs;
    bool per_workflow;
};

struct wf_sim_label {
    const char *label;
    struct workflow_sim_policy policy;
    double param[PARAMS_MAX];
};

/* What is played. Grid and jobs are drawn for each run, unless they are given. */
struct wf_sim_setting {
    struct workflow_sim_experiment experiment;
    const struct workflow_sim_grid *grid; /* NULL: drawn */
    const struct wf_sim_request *body;
    struct wf_sim_label labels[WF_SIM_POLICIES_MAX];
    size_t label_count;
};

/* Checks a request and fills *out; notes every mistake. */
enum error_code wf_sim_read(const struct wf_sim_request *in, struct wf_sim_setting *out,
                            struct arena *a, struct error *err);

/* The world of a run: grid, jobs. wf_sim_read() found them sound. */
enum error_code wf_sim_draw(const struct wf_sim_setting *s, uint64_t seed,
                            struct workflow_sim_in *in, struct arena *a,
                            struct error *err);

#endif
