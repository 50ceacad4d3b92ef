/* cluster_simulation_parts.h - a simulation of kind "cluster" while it is prepared and
 * played; only for the files of this room. */
#ifndef GRIDPLAN_CLUSTER_SIMULATION_PARTS_H
#define GRIDPLAN_CLUSTER_SIMULATION_PARTS_H

#include "algorithms/simulation/experiment.h"
#include "algorithms/simulation/kernel.h"
#include "handlers/simulation/simulation_parts.h"
#include "handlers/simulation_cluster/cluster_simulation_json.h"
#include "models/base/names.h"

enum {
    CLUSTER_HOST_MEMORY = 1, /* amounts, behind REPLAY_CPUS */
    CLUSTER_HOST_DISK,
    CLUSTER_HOST_NAMED /* the first that has a name */
};

/* A group of nodes as the request has it. */
struct cluster_group {
    const struct cluster_group_in *in;
    const char *pointer, *id;
    size_t first;        /* its first node */
    size_t first_number; /* nodes are called ID and a number from this on; 0: ID alone */
};

struct cluster_site {
    struct cluster_group *groups;
    struct replay_nodes *nodes; /* of each */
    size_t group_count, host_count;
    const char *groups_at;               /* pointer of where they are */
    const struct cluster_world_in *with; /* partitions and the like, */
    const char *with_at;                 /* pointer of that, "" or "/cluster" */
    struct name_index group_names, amounts, shared_names, partitions, failure_groups;
    const char *amount_names[REPLAY_AMOUNTS_MAX];
    size_t amount_count;
    double cpu_units;            /* of a cpu: 1 or 1000 */
    size_t rounded;              /* amounts that are no multiple of 0.001 */
    int64_t *shared;             /* amounts */
    struct replay_set *sets;     /* partitions, then reservations */
    ptrdiff_t default_partition; /* -1: none */
    struct replay_reservation *reservations;
    size_t reservation_count, set_count;
    struct replay_outage *outages;
    size_t outage_count;
    struct replay_burst *bursts;
    double largest_cpus; /* of a group */
    bool draws;          /* nodes fail by a law */
};

/* The jobs of a run. */
struct cluster_jobs {
    struct replay_job *jobs;
    size_t count;
    const uint32_t *given; /* index in the request's jobs, of each; NULL: none were */
    const double *numbers; /* of a log; NULL: none */
    double truncated_s;    /* when the next one would have come; NAN: nobody is missing */
};

/* What jobs need and where, each list once. */
struct cluster_interned;

struct cluster_label {
    const char *label, *queue, *checkpoint;
    struct replay_rules rules;
};

struct cluster_playing {
    struct request *rq;
    struct arena *a;
    struct error *err;
    const struct cluster_simulation *body;
    struct cluster_simulation_answer *answer;
    struct building shim; /* for what kind grid reads: uploads, generators */
    struct simulation_request shim_body;
    struct simulation_setting shim_setting;
    struct cluster_site site;
    struct cluster_bound *owners; /* whose names mean what; NULL: there are none */
    struct replay_owners limits;
    struct replay_ranks *ranks; /* NULL: priorities are the jobs' */
    const char *unread;         /* the first setting that no run looks at */
    size_t unread_count;
    size_t ignored_accounts;  /* that jobs name */
    struct cluster_jobs jobs; /* given, or of a log */
    bool generates;
    struct distribution nodes_drawn; /* of generated jobs, prepared */
    struct cluster_label *labels;
    size_t baseline;
    int confidence_metric; /* -1: none */
    double stop_s;         /* HUGE_VAL: none */
    struct cluster_label_answer *results;
    size_t first_job_count;
    uint64_t truncated_count;
    struct run_time_teller *teller; /* of times that models told; NULL: none did */
    bool *unreachable;              /* whether stop.jobs was not reached, in any run */
};

/* cluster_site.c: nodes, partitions, reservations, outages. Notes mistakes. */
void cluster_site_bind(struct cluster_playing *p);

/* After all others are without mistakes: the uploaded failures. */
enum error_code cluster_site_trace(struct cluster_playing *p);

/* The name of a node, in `a`. */
const char *cluster_host_name(const struct cluster_site *s, size_t host, struct arena *a);

/* cluster_owners.c: accounts and qualities of service, once amounts have their indexes.
 * Notes mistakes. */
void cluster_owners_bind(struct cluster_playing *p);

/* Whose a given job is. `at`: its pointer. */
void cluster_owner_of(struct cluster_playing *p, const struct cluster_sim_job *in,
                      const char *at, struct replay_job *to);

/* Of policies that do not know of limits, and of accounts where there are none. */
void cluster_owners_warn(struct cluster_playing *p);

/* cluster_bursts.c: times up of a failure group are drawn so many times as long. The
 * nodes must be without mistakes. */
double cluster_burst_factor(struct cluster_playing *p, size_t burst);

/* cluster_work.c: the jobs that are given, or those of a log. Notes mistakes. */
enum error_code cluster_jobs_bind(struct cluster_playing *p);

/* Those of a generator, for a run; prepared by cluster_jobs_bind(). */
enum error_code cluster_jobs_draw(struct cluster_playing *p, uint64_t seed,
                                  struct cluster_jobs *out, struct arena *a);

/* Units of an amount, rounded up, or down. */
int64_t cluster_units_up(double value, double units);
int64_t cluster_units_down(double value, double units);

/* cluster_models.c: times that models tell become those of the given jobs. Notes
 * mistakes; before cluster_jobs_bind(). */
enum error_code cluster_models_ask(struct cluster_playing *p);

/* Where the time of the request's job comes from, if a model told it; and the list. */
void cluster_models_tell(const struct cluster_playing *p, size_t job,
                         struct cluster_job_row *row);
void cluster_models_list(struct cluster_playing *p);

/* cluster_labels.c: policies. Notes mistakes. */
void cluster_labels_bind(struct cluster_playing *p);

/* cluster_play.c: plays all, and fills the answer. */
enum error_code cluster_play(struct cluster_playing *p);

#endif
