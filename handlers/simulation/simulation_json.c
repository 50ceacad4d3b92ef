/* simulation_json.c - how simulations look in JSON. */
#include "handlers/simulation/simulation_json.h"

#include "handlers/common/snapshot_json.h"
#include "handlers/operations/policy_words.h"
#include "handlers/simulation/simulation_run.h"
#include "handlers/simulation/simulations.h"
#include "service/json_holds.h"
#include "service/problem.h"

/* ---- distributions ---- */

#define LARGEST 1e18 /* what distribution.h allows */

#define T       struct distribution
#define PARAMETER(m, ...) \
    JSON_NUMBER(T, m, -LARGEST, LARGEST, NAN, JSON_NULLABLE | JSON_OPTIONAL, __VA_ARGS__)
static const struct json_field distribution_rows[] = {
    {.name = "distribution",
     .doc = "Kind; says which of the other members are taken",
     .type = JSON_TYPE_CHOICE,
     .choices = distribution_names,
     .offset = offsetof(T, kind),
     .flags = JSON_REQUIRED},
    PARAMETER(value, "constant: the value"),
    PARAMETER(l_bound, "uniform: least value"),
    PARAMETER(u_bound, "uniform: values are below it"),
    PARAMETER(mean,
              "exponential, normal, poisson; lognormal, weibull: instead of mu or "
              "scale",
              JSON_WAS({"mean_s", 0})),
    PARAMETER(sd, "normal: standard deviation"),
    PARAMETER(min, "normal: values below are drawn again"),
    PARAMETER(mu, "lognormal: mean of the logarithm"),
    PARAMETER(sigma, "lognormal: standard deviation of the logarithm"),
    PARAMETER(shape, "weibull, gamma, hyper_gamma"),
    PARAMETER(scale, "weibull, gamma, hyper_gamma"),
    PARAMETER(p, "hyper_gamma: probability of shape and scale"),
    PARAMETER(shape2, "hyper_gamma: with probability 1 - p"),
    PARAMETER(scale2, "hyper_gamma: with probability 1 - p"),
    JSON_NUMBERS(T, values, value_count, -LARGEST, LARGEST, 0,
                 "empirical, trace: the values"),
    JSON_NUMBERS(T, weights, weight_count, 0, LARGEST, 0,
                 "empirical: how likely each is; default: all alike"),
    {0},
};
#undef PARAMETER
#undef T
const struct json_object distribution_json = {
    "Distribution", "A random quantity, in the unit of the member that has it",
    sizeof(struct distribution), distribution_rows};

#define DISTRIBUTION(T, m, text)                                       \
    JSON_OBJECT(T, m, const struct distribution *, &distribution_json, \
                JSON_POINTER | JSON_NULLABLE | JSON_OR_NUMBER, text)

/* A choice that can be left to a preset. */
#define OPTIONAL_CHOICE(T, m, names, text) \
    JSON_CHOICE(T, m, names, SIMULATION_NOT_GIVEN, JSON_NULLABLE, text)

#define SECONDS(T, m, preset_, flag, text) \
    JSON_NUMBER(T, m, 0, SIM_TIME_MAX_S, preset_, JSON_NULLABLE | (flag), text)

/* ---- the grid ---- */

#define T struct simulation_load
static const struct json_field load_rows[] = {
    JSON_NUMBER(T, interval_s, 0, SIM_TIME_MAX_S, 1200, JSON_ABOVE_MIN,
                "Seconds between changes; default 1200"),
    DISTRIBUTION(T, change_percent,
                 "Size of a change, percent of the load at the start; its sign is drawn; "
                 "default: uniform 1 to 100"),
    DISTRIBUTION(T, initial_fraction,
                 "Load at the start, share of mips_total; default: uniform 0 to 0.5"),
    {0},
};
#undef T
static const struct json_object load_json = {
    "SimulationLoad", "Load from outside the grid that changes from time to time",
    sizeof(struct simulation_load), load_rows};

#define T struct failure_interval
static const struct json_field outage_rows[] = {
    {.name = "down_s",
     .doc = "When it goes down, seconds from the begin of the run",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, down_at_s, double),
     .max = SIM_TIME_MAX_S,
     .flags = JSON_REQUIRED},
    {.name = "up_s",
     .doc = "When it is up again; null: never",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, up_at_s, double),
     .max = SIM_TIME_MAX_S,
     .preset = NAN,
     .flags = JSON_NULLABLE},
    {0},
};
#undef T
const struct json_object simulation_outage_json = {
    "SimulationOutage", "A time in which a resource is down",
    sizeof(struct failure_interval), outage_rows};

#define T struct sim_load_point
static const struct json_field load_point_rows[] = {
    SECONDS(T, at_s, 0, JSON_REQUIRED, "From when on, seconds from the begin of the run"),
    JSON_NUMBER(T, mips_external, 0, LARGEST, 0, JSON_REQUIRED,
                "Speed that outside load takes"),
    {0},
};
#undef T
static const struct json_object load_point_json = {
    "SimulationLoadPoint", "Outside load from an instant on",
    sizeof(struct sim_load_point), load_point_rows};

#define T struct simulation_resources
static const struct json_field resources_rows[] = {
    JSON_ID(T, id, JSON_NULLABLE,
            "Name; of several resources it is followed by 1, 2 ...; default: after the "
            "site"),
    JSON_INTEGER(T, number, 1, SIMULATION_RESOURCES_MAX, 1, 0,
                 "How many resources like this; default 1"),
    DISTRIBUTION(T, mips_total, "Speed, drawn for each of them; default 1"),
    JSON_INTEGER(T, n_max, 1, 1000000, 1, 0, "Jobs at the same time; default 1"),
    JSON_CHOICE(
        T, sharing, sim_sharing_names, SIM_SHARING_EQUAL, 0,
        "equal: running jobs share the speed; fraction: each has what it demands"),
    SECONDS(T, register_s, 0, 0, "When they join the grid; default 0"),
    DISTRIBUTION(T, failure, "Seconds from a restore to the next failure; default: none"),
    DISTRIBUTION(T, restore, "Seconds from a failure to the restore; with failure"),
    JSON_ID(T, failure_group, JSON_NULLABLE, "Failure group that they belong to"),
    JSON_ID(T, node_id, JSON_NULLABLE,
            "Node of the network that they are at; default: that of the site"),
    JSON_OBJECT(T, load, const struct simulation_load *, &load_json,
                JSON_POINTER | JSON_NULLABLE, "Load from outside; default: none"),
    JSON_LIST(T, outages, outage_count, struct failure_interval, &simulation_outage_json,
              100000, 0,
              "Times in which the resource is down, instead of failure; with number 1"),
    JSON_LIST(T, load_trace, load_trace_count, struct sim_load_point, &load_point_json,
              100000, 0, "Outside load by instants, instead of load; with number 1"),
    {0},
};
#undef T
static const struct json_object resources_json = {
    "SimulationResources", "Resources of a site that are alike",
    sizeof(struct simulation_resources), resources_rows};

#define T struct simulation_site
static const struct json_field site_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JSON_LIST(T, resources, resource_count, struct simulation_resources, &resources_json,
              SIMULATION_RESOURCES_MAX, JSON_REQUIRED, "Its resources"),
    {0},
};
#undef T
static const struct json_object site_json = {"SimulationSite", "A site of the grid",
                                             sizeof(struct simulation_site), site_rows};

#define T struct simulation_failure_group
static const struct json_field failure_group_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    {.name = "burst_probability",
     .doc = "Probability that a failure of a member takes another member with it",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, burst.burst_probability, double),
     .max = 1,
     .flags = JSON_REQUIRED},
    {.name = "burst_delay_s",
     .doc = "Longest time until it does; default 0",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, burst.burst_delay_s, double),
     .max = SIM_TIME_MAX_S},
    {.name = "burst_rate",
     .doc = "kept: own failures are rarer, so that with the bursts the mean time between "
            "failures is the stated one; added: bursts come on top; default kept",
     .type = JSON_TYPE_CHOICE,
     .choices = sim_burst_rate_names,
     .offset = offsetof(T, burst.burst_rate)},
    {0},
};
#undef T
const struct json_object simulation_failure_group_json = {
    "SimulationFailureGroup", "Resources that fail together",
    sizeof(struct simulation_failure_group), failure_group_rows};

#define T struct simulation_link
static const struct json_field link_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JSON_CHOICE(T, kind, sim_link_kind_names, SIM_LINK_LAN, 0,
                "lan: its transfers share it; wan: each gets all of bandwidth_mbps, the "
                "share that a grid has of it"),
    JSON_NUMBER(T, bandwidth_mbps, 0, LARGEST, 0, JSON_REQUIRED | JSON_ABOVE_MIN,
                "Bandwidth"),
    SECONDS(T, latency_s, 0, 0, "Latency; default 0"),
    {0},
};
#undef T
static const struct json_object link_json = {"SimulationLink", "A link of the network",
                                             sizeof(struct simulation_link), link_rows};

#define T struct simulation_route
static const struct json_field route_rows[] = {
    JSON_ID(T, from_node_id, JSON_REQUIRED,
            "A node: the name of a site, of a node_id, or 'services', where storage and "
            "checkpoint server are unless they say otherwise"),
    JSON_ID(T, to_node_id, JSON_REQUIRED, "Likewise"),
    JSON_TEXTS(T, link_ids, link_count, SIM_ROUTE_LINKS_MAX, 0, "Its links, in order"),
    {0},
};
#undef T
static const struct json_object route_json = {
    "SimulationRoute",
    "The way between two nodes, in both directions unless the other has its own",
    sizeof(struct simulation_route), route_rows};

#define T struct simulation_storage
static const struct json_field storage_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JSON_ID(T, node_id, JSON_NULLABLE, "Node that it is at; default 'services'"),
    JSON_NUMBER(T, capacity_bytes, 0, LARGEST, 0, 0,
                "Room for outputs; 0: without limit; default 0"),
    {0},
};
#undef T
static const struct json_object storage_json = {
    "SimulationStorage", "Where inputs are and outputs go",
    sizeof(struct simulation_storage), storage_rows};

#define T struct simulation_checkpoint_server
static const struct json_field checkpoint_server_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JSON_ID(T, node_id, JSON_NULLABLE, "Node that it is at; default 'services'"),
    {0},
};
#undef T
static const struct json_object checkpoint_server_json = {
    "SimulationCheckpointServer", "Where checkpoints are kept",
    sizeof(struct simulation_checkpoint_server), checkpoint_server_rows};

#define T struct simulation_network
#define BANDWIDTH(m, text) \
    JSON_NUMBER(T, m, 0, LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN, text)
static const struct json_field network_rows[] = {
    OPTIONAL_CHOICE(T, mode, sim_network_mode_names,
                    "none: transfers take no time; fixed: each has bandwidth_mbps; "
                    "shared: those on the same link share it"),
    BANDWIDTH(bandwidth_mbps, "fixed: bandwidth of a transfer"),
    SECONDS(T, latency_s, NAN, 0, "fixed: latency of a transfer"),
    BANDWIDTH(lan_mbps, "shared: bandwidth of each resource's link"),
    SECONDS(T, lan_latency_s, NAN, 0, "shared: latency of that link"),
    BANDWIDTH(wan_share_mbps, "shared: most that a route between sites gets"),
    DISTRIBUTION(T, wan_latency_s,
                 "shared: latency between two sites, drawn for each pair"),
    JSON_LIST(T, links, link_count, struct simulation_link, &link_json, 100000,
              JSON_UNIQUE_IDS,
              "shared: the links one by one, with routes, instead of lan_* and wan_*"),
    JSON_LIST(T, routes, route_count, struct simulation_route, &route_json, 100000, 0,
              "shared: the ways between nodes; each resource needs one to each storage "
              "resource and the first checkpoint server"),
    {0},
};
#undef BANDWIDTH
#undef T
static const struct json_object network_json_ = {
    "SimulationNetwork", "How long transfers take", sizeof(struct simulation_network),
    network_rows};

static const char *const is_modes[] = {"immediate", "periodic", NULL};

#define T struct simulation_information_service
static const struct json_field information_service_rows[] = {
    OPTIONAL_CHOICE(T, mode, is_modes,
                    "immediate: the scheduler sees what is; periodic: what was at the "
                    "last poll"),
    JSON_NUMBER(T, interval_s, 0, SIM_TIME_MAX_S, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "periodic: seconds between polls; default 300"),
    {0},
};
#undef T
static const struct json_object information_service_json = {
    "SimulationInformationService", "What the scheduler knows of the grid",
    sizeof(struct simulation_information_service), information_service_rows};

#define T struct simulation_scheduler
static const struct json_field scheduler_rows[] = {
    SECONDS(T, interval_s, NAN, JSON_REQUIRED,
            "Seconds between rounds; 0: whenever something has changed"),
    {0},
};
#undef T
static const struct json_object scheduler_json = {
    "SimulationScheduler", "When the scheduler decides",
    sizeof(struct simulation_scheduler), scheduler_rows};

#define T struct sim_overhead
static const struct json_field overhead_rows[] = {
    SECONDS(T, is_query_s, 0, 0, "To ask the information service; default 0"),
    SECONDS(T, prediction_s, 0, 0, "To predict; default 0"),
    SECONDS(T, scheduling_s, 0, 0, "To decide; default 0"),
    SECONDS(T, rescheduling_s, 0, 0, "To decide that running jobs move; default 0"),
    SECONDS(T, dispatch_s, 0, 0, "To start a job; default 0"),
    SECONDS(T, rollback_s, 0, 0, "To restart a job from its image; default 0"),
    {0},
};
#undef T
static const struct json_object overhead_json = {
    "SimulationOverhead", "What the middleware costs", sizeof(struct sim_overhead),
    overhead_rows};

#define T struct simulation_stop
static const struct json_field stop_rows[] = {
    JSON_NUMBER(T, time_s, 0, SIM_TIME_MAX_S, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "End of a run; default: that of the preset, else 604800, of jobs that "
                "are given when all are done"),
    JSON_INTEGER(T, jobs, 0, JSON_EXACT, 0, JSON_NULLABLE,
                 "End when so many jobs are done or rejected; 0: no matter"),
    JSON_BOOLEAN(T, when_done, 0, JSON_NULLABLE, "End when no job is left or will come"),
    {0},
};
#undef T
const struct json_object simulation_stop_json = {
    "SimulationStop", "When a run ends", sizeof(struct simulation_stop), stop_rows};

/* ---- the jobs ---- */

#define T struct lublin
#define MODEL(m) \
    JSON_NUMBER(T, m, -LARGEST, LARGEST, NAN, JSON_NULLABLE, "Default: of the set")
static const struct json_field lublin_rows[] = {
    {.name = "set",
     .doc = "Parameters of the model; high and low are those of thesis chapter 4",
     .type = JSON_TYPE_CHOICE,
     .choices = lublin_set_names,
     .preset = SIMULATION_NOT_GIVEN,
     .offset = offsetof(T, set)},
    MODEL(aarr),
    MODEL(barr),
    MODEL(arar),
    MODEL(anum),
    MODEL(bnum),
    MODEL(a1),
    MODEL(b1),
    MODEL(a2),
    MODEL(b2),
    MODEL(pa),
    MODEL(pb),
    {0},
};
#undef MODEL
#undef T
static const struct json_object lublin_json = {"SimulationLublin",
                                               "Parameters of the Lublin model",
                                               sizeof(struct lublin), lublin_rows};

#define T struct simulation_job
#define AMOUNT(m, text) \
    JSON_NUMBER(T, m, 0, LARGEST, NAN, JSON_NULLABLE | JSON_OPTIONAL, text)
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_NULLABLE, "Name"),
    SECONDS(T, arrival_s, 0, 0, "When it arrives, seconds from the begin; default 0"),
    JSON_NUMBER(T, length_mi, 0, LARGEST, 0, JSON_REQUIRED,
                "Work in 10^6 instructions: seconds at 1 MIPS"),
    AMOUNT(input_bytes, "Default: as for generated jobs, like the next three"),
    AMOUNT(output_bytes, "Output"),
    AMOUNT(checkpoint_bytes, "Size of a checkpoint"),
    SECONDS(T, checkpoint_overhead_s, NAN, 0, "Run time that a checkpoint adds"),
    JSON_ID(T, user, JSON_NULLABLE, "Who owns it"),
    JSON_ID(T, resource_id, JSON_NULLABLE,
            "The resource that it must run on: it waits there for a slot, and no "
            "scheduler touches it; default: the scheduler places it"),
    JSON_INTEGER(T, cpus, 1, 1000000, 1, 0, "Processors; default 1"),
    JSON_NUMBER(T, mips_required, 0, LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Speed that it demands of a resource with sharing fraction"),
    JSON_NUMBER(T, session_s, 0, SIM_TIME_MAX_S, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "It is a session that stays so long"),
    JSON_NUMBER(T, requested_s, 0, SIM_TIME_MAX_S, NAN, JSON_NULLABLE,
                "Run time that the user asks for"),
    {0},
};
#undef AMOUNT
#undef T
static const struct json_object job_json = {"SimulationJob", "A job that is given",
                                            sizeof(struct simulation_job), job_rows};

#define T struct simulation_workload
#define OF_WORKLOAD(m, ctype, type_, ...)                                               \
    {                                                                                   \
        .name = #m, .type = type_, .offset = JSON_AT(T, workload.m, ctype), __VA_ARGS__ \
    }
#define DRAWN(m, text)                                                         \
    OF_WORKLOAD(m, const struct distribution *, JSON_TYPE_OBJECT, .doc = text, \
                .of = &distribution_json,                                      \
                .flags = JSON_POINTER | JSON_NULLABLE | JSON_OR_NUMBER)
#define AMOUNT(m, hi, text)                                                         \
    OF_WORKLOAD(m, double, JSON_TYPE_NUMBER, .doc = text, .max = hi, .preset = NAN, \
                .flags = JSON_NULLABLE)
#define COUNT(m, hi, text)                                              \
    OF_WORKLOAD(m, uint64_t, JSON_TYPE_INTEGER, .doc = text, .max = hi, \
                .flags = JSON_NULLABLE)
static const struct json_field workload_rows[] = {
    OPTIONAL_CHOICE(T, generator, workload_generator_names,
                    "How jobs are made; default: that of the preset, batch with jobs, "
                    "swf with workload_id"),
    JSON_TEXT(T, preset, JSON_NULLABLE, "A workload by name; the other members override"),
    AMOUNT(start_s, SIM_TIME_MAX_S, "Midnight of the first day; default 0"),
    AMOUNT(stop_s, SIM_TIME_MAX_S, "No arrivals from then on; default: the end"),
    COUNT(job_count, SIMULATION_JOBS_MAX,
          "simple_daily, lublin: exactly so many jobs; others: at most so many"),
    COUNT(user_count, 1000000, "Users; default 1, tornado_batch 10"),
    DRAWN(arrival_gap_s, "uniform_stream, poisson, vm_session: seconds between arrivals"),
    DRAWN(length_mi, "Work of a job; default: the generator's"),
    DRAWN(input_bytes, "Input of a job; default: the generator's, like the next three"),
    DRAWN(output_bytes, "Output of a job"),
    DRAWN(checkpoint_bytes, "Size of a job's checkpoint"),
    DRAWN(checkpoint_overhead_s, "Run time that a checkpoint adds"),
    AMOUNT(checkpoint_overhead_factor, LARGEST, "On that time; default 1"),
    COUNT(batch_size, 1000000, "tornado_batch: jobs of a batch; default 1000"),
    COUNT(batches_min, 1000000, "tornado_batch: batches of a user and day; default 1"),
    COUNT(batches_max, 1000000, "tornado_batch: at most; default 2"),
    OF_WORKLOAD(lublin, struct lublin, JSON_TYPE_OBJECT,
                .doc = "lublin: parameters of the model", .of = &lublin_json),
    JSON_LIST(T, jobs, job_count, struct simulation_job, &job_json, SIMULATION_JOBS_MAX,
              0, "batch: the jobs"),
    AMOUNT(swf_mips, LARGEST, "swf: speed of the machine of the log, above 0; default 1"),
    DRAWN(mips_required, "vm_session: share of a resource; default 1"),
    DRAWN(session_s, "vm_session: how long a session stays"),
    {0},
};
#undef COUNT
#undef AMOUNT
#undef DRAWN
#undef OF_WORKLOAD
#undef T
const struct json_object simulation_workload_json = {
    "SimulationWorkload", "Which jobs come", sizeof(struct simulation_workload),
    workload_rows};

#define T struct simulation_interface
static const struct json_field interface_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JSON_OBJECT(T, workload, const struct simulation_workload *,
                &simulation_workload_json, JSON_POINTER | JSON_REQUIRED,
                "Which jobs come from it"),
    {0},
};
#undef T
static const struct json_object interface_json = {
    "SimulationUserInterface", "A source of jobs", sizeof(struct simulation_interface),
    interface_rows};

/* ---- the policies ---- */

#define T struct simulation_checkpoint
static const struct json_field checkpoint_rows[] = {
    JSON_ID(T, algorithm, JSON_REQUIRED, "A checkpoint policy"),
    JSON_VALUES(T, options, option_count, 0, "Its options"),
    {0},
};
#undef T
const struct json_object simulation_checkpoint_json = {
    "SimulationCheckpoint", "How jobs are checkpointed",
    sizeof(struct simulation_checkpoint), checkpoint_rows};

#define T struct simulation_compared
static const struct json_field compared_rows[] = {
    JSON_ID(T, label, JSON_NULLABLE, "Name in the answer, unique; default: algorithm"),
    JSON_ID(T, algorithm, JSON_REQUIRED,
            "A policy of the families dispatch, replication, fault-tolerance, placement "
            "or vm; a checkpoint policy stands for migration with it; pinned: only jobs "
            "with a resource_id run"),
    JSON_VALUES(T, options, option_count, 0,
                "Options of the algorithm, as GET /v1/algorithms lists them"),
    JSON_OBJECT(T, checkpoint, const struct simulation_checkpoint *,
                &simulation_checkpoint_json, JSON_POINTER | JSON_NULLABLE,
                "How jobs are checkpointed; default: not, policies that switch it on "
                "and off: mean_failure"),
    {0},
};
#undef T
static const struct json_object compared_json = {
    "SimulationPolicy", "A policy to compare", sizeof(struct simulation_compared),
    compared_rows};

#define T struct simulation_output
static const struct json_field output_rows[] = {
    JSON_BOOLEAN(T, per_resource, 0, 0, "Figures of each resource in the first run"),
    JSON_BOOLEAN(T, per_path, 0, 0,
                 "What went between each two nodes of the network in the first run"),
    JSON_BOOLEAN(T, per_job, 0, 0, "The schedule of the first run"),
    JSON_BOOLEAN(T, log, 0, 0, "The events of the first run"),
    JSON_INTEGER(T, job_rows_max, 1, SIMULATION_ROWS_LIMIT, SIMULATION_ROWS_MAX, 0,
                 "Jobs of a schedule at most; default 10000"),
    JSON_INTEGER(T, log_rows_max, 1, SIMULATION_ROWS_LIMIT, SIMULATION_ROWS_MAX, 0,
                 "Events of a log at most, the first ones; default 10000"),
    {0},
};
#undef T
static const struct json_object output_json = {
    "SimulationOutput", "What is wanted beside the figures",
    sizeof(struct simulation_output), output_rows};

/* ---- the request ---- */

static const char *const kinds[] = {"grid", NULL};

#define T struct simulation_request
static const struct json_field request_rows[] = {
    JSON_CHOICE(T, kind, kinds, 0, 0, "Kind of simulation; default grid"),
    JSON_TEXT(T, name, JSON_NULLABLE, "Any name; comes back with the answer"),
    {.name = "seed",
     .doc = "Of the first run, the next ones add 1; default 1",
     .type = JSON_TYPE_INTEGER,
     .offset = JSON_AT(T, decision.seed, uint64_t),
     .max = JSON_EXACT - SIMULATION_RUNS_MAX,
     .preset = 1},
    JSON_INTEGER(T, runs, 1, SIMULATION_RUNS_MAX, 5, 0, "Runs of each policy; default 5"),
    {.name = "time_limit_s",
     .doc = "Seconds that all of it may take; runs that are complete by then are the "
            "answer; default 10, at most time_limit_max_s of the service (600); without "
            "a client simulation_time_limit_s (3600) is both",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, decision.time_limit_s, double),
     .max = JSON_LARGEST,
     .preset = NAN,
     .flags = JSON_NULLABLE | JSON_ABOVE_MIN | JSON_RUN_TIME_LIMIT},
    JSON_CHOICE(T, seed_scheme, experiment_seed_schemes, EXPERIMENT_SEEDS_SPREAD, 0,
                "Seeds of the runs after the first: spread, so that neighbouring seeds "
                "share no run; sequence: the seeds that follow; default spread"),
    JSON_BOOLEAN(T, ignore_width, false, 0,
                 "Jobs of several processors run on one slot, each as long as one of its "
                 "processors would; default false: they are refused"),
    JSON_INTEGER(T, max_events, 1, JSON_EXACT, 50000000, 0,
                 "Events of all runs together at most; ends a simulation at the same "
                 "event every time; default 50000000"),
    {.name = "store",
     .doc = "Keep request and answer, to be read and replayed later",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, decision.store, bool)},
    {.name = "labels",
     .doc = "Any JSON; comes back with the answer",
     .type = JSON_TYPE_RAW,
     .offset = JSON_AT(T, decision.labels, const char *)},
    JSON_OBJECT(T, stop, const struct simulation_stop *, &simulation_stop_json,
                JSON_POINTER | JSON_NULLABLE, "When a run ends"),
    SECONDS(T, stable_after_s, NAN, 0,
            "Figures are of what comes after this time; default 0"),
    OPTIONAL_CHOICE(T, initial_state, sim_initial_state_names,
                    "up: every resource is new; stationary: after a warm-up"),
    SECONDS(T, warm_up_s, NAN, 0,
            "stationary: failures begin so long before; default 8 weeks"),
    JSON_NUMBER(T, storage_bytes, 0, LARGEST, NAN, JSON_NULLABLE,
                "Room for outputs; 0: without limit; default 0"),
    OPTIONAL_CHOICE(T, detection, sim_detection_names,
                    "How the scheduler learns of failures between two polls"),
    JSON_OBJECT(T, information_service, const struct simulation_information_service *,
                &information_service_json, JSON_POINTER | JSON_NULLABLE,
                "What the scheduler knows; default: immediate"),
    JSON_OBJECT(T, scheduler, const struct simulation_scheduler *, &scheduler_json,
                JSON_POINTER | JSON_NULLABLE,
                "When it decides; default: whenever something has changed"),
    JSON_OBJECT(T, network, const struct simulation_network *, &network_json_,
                JSON_POINTER | JSON_NULLABLE, "Default: transfers take no time"),
    JSON_OBJECT(T, overhead_s, const struct sim_overhead *, &overhead_json,
                JSON_POINTER | JSON_NULLABLE, "What the middleware costs; default 0"),
    JSON_TEXT(T, preset, JSON_NULLABLE,
              "A scenario by name; the other members override it"),
    JSON_LIST(T, sites, site_count, struct simulation_site, &site_json,
              SIMULATION_RESOURCES_MAX, JSON_UNIQUE_IDS, "The grid"),
    JSON_LIST(T, failure_groups, failure_group_count, struct simulation_failure_group,
              &simulation_failure_group_json, SIMULATION_RESOURCES_MAX, JSON_UNIQUE_IDS,
              "Groups of resources that fail together"),
    JSON_OBJECT(T, snapshot, const struct snapshot *, &snapshot_json,
                JSON_POINTER | JSON_NULLABLE, "The grid as a snapshot, instead of sites"),
    JSON_ID(T, snapshot_id, JSON_NULLABLE, "A stored snapshot instead"),
    JSON_BOOLEAN(
        T, resources_from_snapshot, 0, 0,
        "The resources are those of the snapshot, and fail as their history says, "
        "stored or in it; said already by snapshot and snapshot_id"),
    JSON_NUMBER(T, now_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Instant on the scale of the snapshot's failure histories, from which "
                "its resources get their failures; default: the snapshot's taken_at, "
                "else the present"),
    JSON_OBJECT(T, workload, const struct simulation_workload *,
                &simulation_workload_json, JSON_POINTER | JSON_NULLABLE,
                "Which jobs come"),
    JSON_LIST(T, user_interfaces, user_interface_count, struct simulation_interface,
              &interface_json, 1000, JSON_UNIQUE_IDS,
              "Several sources of jobs, instead of workload"),
    JSON_LIST(T, storage_resources, storage_count, struct simulation_storage,
              &storage_json, 1000, JSON_UNIQUE_IDS,
              "Where inputs are and outputs go, of several the nearest with room; "
              "default: one with storage_bytes"),
    JSON_LIST(T, checkpoint_servers, checkpoint_server_count,
              struct simulation_checkpoint_server, &checkpoint_server_json, 1000,
              JSON_UNIQUE_IDS,
              "Where checkpoints are kept: the first takes all; default: one"),
    JSON_ID(T, workload_id, JSON_NULLABLE, "An uploaded log whose jobs come"),
    JSON_ID(T, failure_trace_id, JSON_NULLABLE,
            "Uploaded failures, instead of those that the resources have; of resources "
            "of the same name, or else in the order of names"),
    JSON_INSTANT(
        T, failure_trace_from, JSON_NULLABLE,
        "Instant of the trace at which a run begins; default: its first failure"),
    JSON_LIST(T, compare, compare_count, struct simulation_compared, &compared_json,
              SIMULATION_LABELS_MAX, JSON_REQUIRED, "Policies to compare"),
    JSON_OBJECT(T, output, struct simulation_output, &output_json, 0,
                "What is wanted beside the figures"),
    {0},
};
#undef T
const struct json_object simulation_request_json = {
    "SimulationRequest", "A grid, its jobs and its failures, and policies to compare",
    sizeof(struct simulation_request), request_rows};

/* ---- the answer ---- */

#define T struct sim_summary
static const struct json_field summary_rows[] = {
    JSON_NUMBER(T, mean, 0, 0, 0, JSON_MAY_BE_NULL,
                "Over the runs in which it is known; null: none"),
    JSON_NUMBER(T, variance, 0, 0, 0, JSON_MAY_BE_NULL,
                "Of the sample; null: fewer than two runs"),
    JSON_NUMBER(T, ci95, 0, 0, 0, JSON_MAY_BE_NULL,
                "Half the width of the 95 % confidence interval of the mean; null "
                "likewise; null: one run"),
    {0},
};
#undef T
const struct json_object sim_summary_json = {"SimulationFigure", "A figure over runs",
                                             sizeof(struct sim_summary), summary_rows};

static const struct json_field metrics_rows[] = {
#define X(name_, doc_)                                                          \
    {.name = #name_,                                                            \
     .doc = doc_,                                                               \
     .type = JSON_TYPE_OBJECT,                                                  \
     .offset = offsetof(struct simulation_metrics, metric[SIM_METRIC_##name_]), \
     .of = &sim_summary_json},
    SIM_METRICS(X)
#undef X
        {0},
};
static const struct json_object metrics_json = {
    "SimulationMetrics", "All figures", sizeof(struct simulation_metrics), metrics_rows};

#define T struct sim_resource_row
static const struct json_field resource_rows[] = {
    JSON_TEXT(T, resource_id, 0, "The resource"),
    JSON_TEXT(T, site_id, 0, "Its site"),
    JSON_NUMBER(T, mips_total, 0, 0, 0, 0, "Its speed"),
    JSON_NUMBER(T, availability_ratio, 0, 0, 0, 0, "Time up"),
    JSON_NUMBER(T, downtime_s, 0, 0, 0, 0, "Time down"),
    JSON_NUMBER(T, non_idle_s, 0, 0, 0, 0, "Time with a job"),
    JSON_NUMBER(T, fully_loaded_s, 0, 0, 0, 0, "Time with n_max jobs"),
    JSON_NUMBER(T, processed_mi, 0, 0, 0, 0, "Work processed"),
    JSON_INTEGER(T, failures, 0, JSON_EXACT, 0, 0, "Failures"),
    JSON_INTEGER(T, copies_started, 0, JSON_EXACT, 0, 0, "Jobs and copies sent there"),
    JSON_INTEGER(T, jobs_done, 0, JSON_EXACT, 0, 0, "Replicas that finished there"),
    JSON_NUMBER(T, received_bytes, 0, 0, 0, 0,
                "Inputs and images that came over its link"),
    JSON_NUMBER(T, sent_bytes, 0, 0, 0, 0, "Outputs and images that went over its link"),
    {0},
};
#undef T
static const struct json_object resource_json_ = {
    "SimulationResource", "What became of a resource", sizeof(struct sim_resource_row),
    resource_rows};

#define T struct sim_storage_row
static const struct json_field storage_row_rows[] = {
    JSON_TEXT(T, storage_id, 0, "The storage resource"),
    JSON_NUMBER(T, used_mean_bytes, 0, 0, 0, 0, "Mean space that outputs take"),
    JSON_NUMBER(T, used_end_bytes, 0, 0, 0, 0, "Likewise at the end"),
    JSON_INTEGER(T, refused_count, 0, JSON_EXACT, 0, 0,
                 "Outputs for which none had room, this being the nearest"),
    {0},
};
#undef T
static const struct json_object storage_row_json = {
    "SimulationStorageRow", "What became of a storage resource",
    sizeof(struct sim_storage_row), storage_row_rows};

#define T struct sim_path_row
static const struct json_field path_rows[] = {
    JSON_TEXT(T, from_node_id, 0, "A node of the network"),
    JSON_TEXT(T, to_node_id, 0, "Another"),
    JSON_INTEGER(T, jobs_allocated, 0, JSON_EXACT, 0, 0,
                 "Jobs and copies sent over it: from the storage of their input"),
    JSON_NUMBER(T, jobs_allocated_ratio, 0, 0, 0, JSON_MAY_BE_NULL,
                "Of all; null: there are none"),
    JSON_INTEGER(T, transfer_count, 0, JSON_EXACT, 0, 0, "Transfers"),
    JSON_NUMBER(T, bytes, 0, 0, 0, 0, "Bytes of these"),
    {0},
};
#undef T
static const struct json_object path_json = {
    "SimulationPath", "What went from one node of the network to another",
    sizeof(struct sim_path_row), path_rows};

#define T struct simulation_job_answer
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts are printed as integers");
#define COUNT(m, ctype, text)                                 \
    {                                                         \
        .name = #m, .doc = text, .type = JSON_TYPE_INTEGER,   \
        .offset = JSON_AT(T, row.m, ctype), .max = JSON_EXACT \
    }
#define ROW_NUMBER(m, flag, text)                          \
    {                                                      \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER, \
        .offset = JSON_AT(T, row.m, double), .flags = flag \
    }
static const struct json_field job_row_rows[] = {
    COUNT(number, uint64_t, "Of its arrival, from 1"),
    JSON_TEXT(T, job_id, JSON_OPTIONAL, "Its name, if it has one"),
    {.name = "state",
     .doc = "How it ended",
     .type = JSON_TYPE_CHOICE,
     .choices = sim_job_state_names,
     .offset = offsetof(T, row.state)},
    ROW_NUMBER(length_mi, 0, "Its work"),
    ROW_NUMBER(arrival_s, 0, "Arrival"),
    ROW_NUMBER(start_s, JSON_MAY_BE_NULL, "First assignment; null: none"),
    ROW_NUMBER(finish_s, JSON_MAY_BE_NULL, "Completion; null: none"),
    {.name = "resource_id",
     .doc = "Where the replica ran that finished; of a running job where the first of "
            "its replicas is",
     .type = JSON_TYPE_TEXT,
     .offset = JSON_AT(T, row.resource_id, const char *),
     .flags = JSON_OPTIONAL},
    COUNT(started_count, size_t, "Replicas started"),
    COUNT(failed_count, size_t, "Replicas that failed"),
    COUNT(checkpoint_count, size_t, "Checkpoints taken"),
    {0},
};
#undef ROW_NUMBER
#undef COUNT
#undef T
static const struct json_object job_row_json = {
    "SimulationJobRow", "What became of a job", sizeof(struct simulation_job_answer),
    job_row_rows};

#define T struct sim_log_row
static const struct json_field log_row_rows[] = {
    JSON_NUMBER(T, at_s, 0, 0, 0, 0, "When"),
    {.name = "event",
     .doc = "What happened",
     .type = JSON_TYPE_CHOICE,
     .choices = sim_log_kind_names,
     .offset = offsetof(T, kind)},
    JSON_NUMBER(T, job_number, 0, 0, 0, JSON_MAY_BE_NULL | JSON_WHOLE,
                "Which job, by its arrival from 1; null: none"),
    JSON_TEXT(T, resource_id, JSON_OPTIONAL, "Where"),
    JSON_NUMBER(T, value, 0, 0, 0, JSON_OPTIONAL,
                "CR.Load: mips_external; Checkpoint.Stored, Job.Run: progress in MI"),
    {0},
};
#undef T
static const struct json_object log_row_json = {"SimulationEvent", "A line of the log",
                                                sizeof(struct sim_log_row), log_row_rows};

#define T struct simulation_label_answer
static const struct json_field label_rows[] = {
    JSON_TEXT(T, label, 0, "The label of the request"),
    JSON_WORD_OF(T, algorithm, simulated_words, 0, "The policy"),
    JSON_WORD_OF(T, checkpoint, checkpoint_words, JSON_OPTIONAL,
                 "Its checkpoint policy, if it has one"),
    JSON_INTEGER(T, runs, 0, JSON_EXACT, 0, 0, "Runs that the figures are of"),
    JSON_OBJECT(T, metrics, struct simulation_metrics, &metrics_json, 0, "The figures"),
    JSON_LIST(T, resources, resource_count, struct sim_resource_row, &resource_json_, 0,
              JSON_OPTIONAL, "output.per_resource: the resources in the first run"),
    JSON_LIST(T, storages, storage_count, struct sim_storage_row, &storage_row_json, 0,
              JSON_OPTIONAL, "output.per_resource: the storage resources likewise"),
    JSON_LIST(T, paths, path_count, struct sim_path_row, &path_json, 0, JSON_OPTIONAL,
              "output.per_path: what went between nodes in the first run"),
    JSON_LIST(T, jobs, job_count, struct simulation_job_answer, &job_row_json, 0,
              JSON_OPTIONAL, "output.per_job: the schedule of the first run"),
    JSON_LIST(T, log, log_count, struct sim_log_row, &log_row_json, 0, JSON_OPTIONAL,
              "output.log: the events of the first run"),
    {0},
};
#undef T
static const struct json_object label_json = {
    "SimulationResult", "What came out for a policy",
    sizeof(struct simulation_label_answer), label_rows};

#define T struct simulation_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY("simulation")),
    JSON_CHOICE(T, kind, kinds, 0, 0, "grid"),
    JSON_TEXT(T, name, JSON_OPTIONAL, "The name of the request"),
    JSON_LIST(T, results, result_count, struct simulation_label_answer, &label_json, 0, 0,
              "Every policy, in the order of the request"),
    JSON_TEXTS(T, ranking, ranking_count, 0, 0,
               "Labels by jobs done, then fewer lost, then name; empty: no run is "
               "complete"),
    JSON_INTEGER(T, runs_completed, 0, JSON_EXACT, 0, 0,
                 "Runs that are complete for every label"),
    JSON_INTEGER(T, events_executed, 0, JSON_EXACT, 0, 0, "Events of all runs"),
    JSON_NUMBERS(T, seeds, seed_count, 0, JSON_EXACT, JSON_WHOLE,
                 "Of the complete runs; each alone as `seed` gives its run again"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object simulation_answer_json = {
    "SimulationAnswer", "What the policies achieved", sizeof(struct simulation_answer),
    answer_rows};

/* ---- those without a client ---- */

/* A client that is answered 200 or 202 tells the two apart by `kind`, as it does the
 * kinds of results. */
static const char *const stored_kind_names[] = {"stored", NULL};

#define T struct store_simulation
#define INFO_ROWS                                                                     \
    {.name = "id",                                                                    \
     .doc = "UUID of the simulation",                                                 \
     .type = JSON_TYPE_TEXT,                                                          \
     .offset = JSON_AT(T, simulation_id, const char *)},                              \
        {.name = "kind",                                                              \
         .doc = "stored: the simulation, which is no answer of POST /v1/simulations " \
                "itself",                                                             \
         .type = JSON_TYPE_CHOICE,                                                    \
         .choices = stored_kind_names,                                                \
         .offset = JSON_AT(T, stored_kind, int)},                                     \
        {.name = "simulates",                                                         \
         .doc = "What is simulated, as `kind` of the request says; not there when "   \
                "it was stored before kinds were",                                    \
         .type = JSON_TYPE_TEXT,                                                      \
         .choices = simulation_kind_names,                                            \
         .offset = JSON_AT(T, kind, const char *),                                    \
         .flags = JSON_OPTIONAL | JSON_OPEN},                                         \
        JSON_TEXT(T, name, JSON_OPTIONAL, "The name of the request"),                 \
        JSON_WORD(T, status, simulation_status_names, 0,                              \
                  "queued, running; done: complete; cut: by time_limit_s or "         \
                  "max_events; cancelled; failed: see error"),                        \
        {.name = "progress_ratio",                                                    \
         .doc = "Share of the work that is done, 0 to 1",                             \
         .type = JSON_TYPE_NUMBER,                                                    \
         .offset = JSON_AT(T, progress.ratio, double)},                               \
        {.name = "runs_completed",                                                    \
         .doc = "Runs that are complete for every label",                             \
         .type = JSON_TYPE_INTEGER,                                                   \
         .offset = JSON_AT(T, progress.run_count, uint64_t)},                         \
        {.name = "events_executed",                                                   \
         .doc = "Events so far",                                                      \
         .type = JSON_TYPE_INTEGER,                                                   \
         .offset = JSON_AT(T, progress.event_count, uint64_t)},                       \
        JSON_INTEGER(                                                                 \
            T, attempt_count, 0, JSON_EXACT, 0, 0,                                    \
            "How often a replica took it up: more than 1 when one died. Kinds grid "  \
            "and workflow then go on behind the runs that were complete, others "     \
            "begin again"),                                                           \
        JSON_BOOLEAN(T, cancel_requested, 0, 0, "It is to stop"),                     \
        JSON_INSTANT(T, created_at, 0, "When it was asked for"),                      \
        JSON_INSTANT(T, started_at, JSON_OPTIONAL, "When it was last taken up"),      \
        JSON_INSTANT(T, finished_at, JSON_OPTIONAL, "When it ended"),                 \
        JSON_RAW(T, error, JSON_OPTIONAL, "failed: why, as in RFC 9457",              \
                 JSON_HOLDS(&problem_json))
static const struct json_field info_rows[] = {
    INFO_ROWS,
    {0},
};
static const struct json_field stored_rows[] = {
    INFO_ROWS,
    JSON_RAW(T, result, JSON_OPTIONAL,
             "The answer, as POST /v1/simulations gives it; of a cancelled one what was "
             "complete",
             JSON_HOLDS(&any_simulation_answer_json)),
    {0},
};
#undef T
const struct json_object simulation_info_json = {
    "SimulationInfo", "A simulation without a client, without its result",
    sizeof(struct store_simulation), info_rows};
const struct json_object stored_simulation_json = {
    "StoredSimulation", "A simulation without a client", sizeof(struct store_simulation),
    stored_rows};
