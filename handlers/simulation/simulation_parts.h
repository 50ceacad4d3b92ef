/* simulation_parts.h - a scenario while it is built; only for the files
 * simulation_*.c and those of kind cluster, which reads the same uploads. */
#ifndef GRIDPLAN_SIMULATION_PARTS_H
#define GRIDPLAN_SIMULATION_PARTS_H

#include "handlers/simulation_grid/simulation_scenario.h"
#include "models/base/names.h"

/* Jobs that are given. */
struct given_jobs {
    const struct simulation_workload *in;
    const char *pointer;  /* of the workload */
    struct sim_job *jobs; /* what was made of them */
};

struct building {
    struct request *rq;
    const struct simulation_request *body;
    struct simulation_setting *out;
    struct arena *a;
    struct error *err;
    struct sim_scenario scenario;
    struct sim_group *groups; /* the scenario's */
    size_t group_count;
    struct name_index failure_groups, sites;
    struct name_index nodes;  /* of the network: names to numbers */
    struct given_jobs *given; /* lists of jobs, in the order of their numbers */
    size_t given_count;
    bool slots_shared; /* of a snapshot: slots became shares */
};

/* simulation_workload.c: fills out->workload, prepared. */
enum error_code simulation_workload(struct building *b);

/* Finds the resources that jobs name; unknown ones are mistakes. The grid must be without
 * mistakes. */
enum error_code simulation_pins(struct building *b);

/* simulation_network.c: nodes, links, routes, storages. Needs the sites' names. */
enum error_code simulation_network(struct building *b);

/* simulation_history.c: how the snapshot's resources fail; groups[i] is its i-th. */
enum error_code simulation_histories(struct building *b, const struct snapshot *snapshot);

/* Uploaded failures: of each resource that has any, by name, its outages one after the
 * other, in seconds from the begin of a run. */
struct simulation_trace_node {
    const char *name;
    size_t first, count;
};
struct simulation_trace {
    struct failure_interval *outages;
    size_t outage_count;
    struct simulation_trace_node *nodes;
    size_t node_count;
    struct name_index by_name;
};

/* simulation_trace.c: what the body's failure_trace_id names. */
enum error_code simulation_trace_read(struct building *b, struct simulation_trace *out);

/* The same file: lays the uploaded failures over the groups. The grid must be
 * without mistakes. */
enum error_code simulation_failure_trace(struct building *b);

/* An upload that a request names by `member`; a missing one is a mistake there. */
enum error_code simulation_upload(struct building *b, enum store_trace_kind kind,
                                  const char *member, const char *id,
                                  struct store_trace *out);

#endif
