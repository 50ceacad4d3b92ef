/* workload.h - what accounting says of jobs, as a job log that can be replayed.
 *
 * A job is its attempts together: it arrives when it was first submitted, and runs as
 * long as its last attempt ran. Users, accounts, partitions and QOS have numbers, from 1
 * in the order of their first job; instants are s since the first arrival.
 *
 * Jobs that were cancelled, or missed their deadline, before they ever ran are kept
 * beside the others: they left the queue then. Left out, and counted: jobs that had not
 * ended, others that never ran, and rows that lack an id, a submission, a start or an
 * end.
 *
 * What a job waited for stands in the command that submitted it, if accounting has that.
 * Jobs of it that are not in the log had ended before it. Where there are more than
 * SLURM_AFTER_MAX, or they cannot be read, it could start when it could in Slurm, as it
 * could where nothing is said; and so it could with a time to begin.
 *
 * On nodes a job has its cpus, memory and generic resources in equal parts; where the
 * cpus cannot be parted so, it is as many tasks of one cpu, on any nodes. Licences are
 * the job's. A row of tasks of an array that never ran is as many jobs.
 *
 * Source: Slurm's manual pages sacct(1) and sbatch(1).
 */
#ifndef GRIDPLAN_SLURM_WORKLOAD_H
#define GRIDPLAN_SLURM_WORKLOAD_H

#include "models/slurm/cluster.h"
#include "models/swf.h"

/* What has numbers in a log: member, field of the records. */
#define SLURM_NUMBERED(X)   \
    X(user, USER)           \
    X(account, ACCOUNT)     \
    X(partition, PARTITION) \
    X(qos, QOS)

/* Names of numbers; name[0] is nothing. */
struct slurm_names {
    const char **name;
    size_t count; /* the largest number */
    size_t room;  /* of `name` */
};

enum { SLURM_AFTER_MAX = 1000 };

/* What a job has, and where it came from. */
struct slurm_shape {
    const char *id;   /* 12, of a task of an array 11_3; of tasks that never ran 11 */
    const char *name; /* NULL: not said */
    const char *array_id, *task_ids; /* the array and its tasks, "0-3,9": of a row of
                                        them, and of those of which only some may run */
    double running_max;              /* at once of that array; NAN: not said */
    const char *gang; /* the heterogeneous job that it is a component of; NULL: none */
    const char *user, *account, *partition, *qos; /* NULL: not said */
    double nodes, cpus, memory_bytes;             /* of each node; nodes 0: tasks */
    double tasks;      /* of one cpu and so much memory, if nodes is 0 */
    double eligible_s; /* it could start from then on, on the scale of the jobs: a begin,
                          a dependency or a hold was over; NAN: from its arrival */
    struct slurm_amounts needs;
    const struct slurm_after *after; /* ids of other jobs of the log */
    size_t after_count;
    bool any_after, singleton;
    bool ends_well;  /* it completed */
    double cancel_s; /* it left the queue then, on the scale of the jobs; NAN: it ran */
};

struct slurm_workload {
    struct swf_job *jobs;       /* that ran, in the order of arrival */
    struct slurm_shape *shapes; /* of each */
    struct swf_job *withdrawn;  /* that never ran: as long as they waited */
    struct slurm_shape *withdrawn_shapes;
    size_t withdrawn_count;
    double mean_wait_s; /* from arrival to the first start, of all; NAN: no job */
    size_t job_count;
    double begin_s; /* the first arrival of all, s since the epoch; NAN: no job */
#define X(member, field) struct slurm_names member;
    SLURM_NUMBERED(X)
#undef X
    size_t merged; /* attempts that are not the last of their job */
    size_t not_ended, never_ran, unusable; /* left out */
    size_t unlimited;                      /* jobs without a limit */
};

/* Row by row: nothing of a row is needed behind its call. What stays is in `a`; for
 * computations only. */
struct slurm_workload_reader;
struct slurm_workload_reader *
slurm_workload_open(double tz_offset_s, struct slurm_workload *out, struct arena *a);
void slurm_workload_row(struct slurm_workload_reader *c, const struct slurm_record *row);
void slurm_workload_end(struct slurm_workload_reader *c);

/* Converts the records of jobs, which must be rows of accounting; times written as text
 * are so far ahead of UTC. */
void slurm_workload_read(const struct slurm_records *from, double tz_offset_s,
                         struct slurm_workload *out, struct arena *a);

#endif
