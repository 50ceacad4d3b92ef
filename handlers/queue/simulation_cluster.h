/* simulation_cluster.h - simulations of kind "queue" with a cluster: nodes, partitions,
 * accounts and limits instead of a number of processors.
 *
 * The jobs of a log ask for tasks of one cpu on any nodes, with memory for each; users
 * and groups are names by their numbers, queue N is the QOS queue.N and partition N the
 * partition N where the cluster has such.
 */
#ifndef GRIDPLAN_SIMULATION_CLUSTER_H
#define GRIDPLAN_SIMULATION_CLUSTER_H

#include "algorithms/cluster_queue/replay.h"
#include "handlers/cluster_queue/cluster_bind.h"
#include "handlers/queue/simulation_details.h"
#include "models/slurm/workload.h"

/* What the policies count on. */
enum simulation_estimates { BY_REQUEST, BY_RUN, BY_MODEL };
extern const char *const simulation_estimates[]; /* by enum, ended by NULL */

/* The jobs of a simulation, as those that wait on a cluster. */
struct simulation_jobs {
    const struct waiting_job *list; /* in the order of arrival; submit_s is set */
    const double *run_s;            /* of each */
    const double *model_s;     /* likewise by its model, NAN: none; NULL: nobody asks */
    const double *cancel_s;    /* likewise, when they are cancelled; NULL: none is */
    const bool *fails;         /* likewise, whether their ends are failures; NULL: no */
    const struct swf_job *log; /* whence they are; NULL: they have names of their own */
    size_t count;
    /* What a log says that the cluster does not have, and jobs whose limit is their run
     * time. */
    size_t no_partition, no_qos, no_account, no_limit;
};

/* A cluster with these jobs, bound. */
struct simulation_cluster {
    struct cluster_bound bound;
    struct cluster_replay_job *plays; /* of each job, arrays expanded */
    struct swf_job *rows;             /* likewise, as a log would have them */
    double *model_s;                  /* likewise, of their models; NULL: nobody asks */
    double *cancel_s;                 /* likewise, when they are; NULL: none is */
    const char **users, **partitions, **qos, **accounts; /* names of their keys; users:
                                                            NULL of a log */
    size_t job_count;
    double cpus; /* of all nodes that are there */
    const struct cluster_outage *outages;
    size_t outage_count;
};

/* A node that fails. */
struct node_failure {
    const char *resource_id;
    double down_s, up_s; /* on the scale of the log; up_s NAN: it does not come back */
};

/* The jobs of a log on this cluster. */
void simulation_jobs_of_log(struct request *rq, const struct cluster_in *cluster,
                            const struct swf_job *log, size_t count,
                            struct simulation_jobs *out);

/* The jobs of Slurm's accounting, with those that were cancelled while they waited: as
 * they were asked for, by their names. */
void simulation_jobs_of_accounting(struct request *rq, const struct cluster_in *cluster,
                                   const struct slurm_workload *log,
                                   struct simulation_jobs *out);

/* Nodes as the header of a log says them; NULL: it does not, and a mistake is noted. */
const struct cluster_in *simulation_cluster_of_header(struct request *rq,
                                                      const struct cluster_in *in,
                                                      double max_procs, double max_nodes);

/* Notes all mistakes in rq->err. scale: times between two arrivals are divided by it. */
enum error_code simulation_cluster_bind(struct request *rq, const struct cluster_in *in,
                                        const struct simulation_jobs *jobs, double scale,
                                        bool strict_dependencies,
                                        struct simulation_cluster *out);

/* Its nodes fail; strict: mistakes go to rq->err, below /failures; else nodes that it
 * does not have are passed over. */
void simulation_cluster_fail(struct simulation_cluster *c,
                             const struct node_failure *list, size_t count,
                             bool is_strict);

/* Bytes that a replay takes, about. */
double simulation_cluster_bytes(const struct simulation_cluster *c);

/* Plays it, and fills what a replay on processors has, whose input *in is: its jobs are
 * c->rows. */
void simulation_cluster_play(const struct simulation_cluster *c,
                             const struct policy *policy,
                             enum simulation_estimates estimates,
                             struct cluster_replay_in how, double bound_s,
                             struct cluster_replayed *played, struct queue_replay_in *in,
                             struct queue_replay_out *out, struct arena *a,
                             struct arena *scratch);

/* The same of one that was played before. */
void simulation_cluster_read(const struct simulation_cluster *c,
                             const struct cluster_replayed *played, double bound_s,
                             struct queue_replay_in *in, struct queue_replay_out *out,
                             struct arena *a);

/* What became of its jobs. */
struct queue_outcome *simulation_cluster_outcomes(const struct simulation_cluster *c,
                                                  const struct cluster_replayed *played,
                                                  const struct queue_replay_in *in,
                                                  const struct queue_replay_out *out,
                                                  struct arena *a);

/* False: the budget was spent. */
bool simulation_cluster_details(const struct simulation_cluster *c,
                                const struct cluster_replayed *played,
                                const struct queue_outcome *outcomes, size_t rows_max,
                                uint64_t step_s, struct budget *budget,
                                struct queue_details *out, struct arena *run,
                                struct arena *a);

/* All of a replay in bytes, for who goes on with it; and from them: false: they are none
 * of this program's. */
struct experiment_bytes;
void simulation_cluster_keep(const struct cluster_replayed *played, size_t job_count,
                             struct experiment_bytes *bytes, struct arena *a);
bool simulation_cluster_take(const struct experiment_bytes *bytes, size_t job_count,
                             struct cluster_replayed *played, struct arena *a);

#endif
