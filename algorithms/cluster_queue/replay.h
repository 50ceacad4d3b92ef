/* cluster_queue/replay.h - a log of jobs on a cluster with its partitions, accounts and
 * limits, played by a policy.
 *
 * By slurm_backfill: the main loop runs when something has changed, sched_min_interval_s
 * apart and default_queue_depth rows deep, and every sched_interval_s over all rows, the
 * backfill pass every bf_interval_s; priorities are reckoned anew every calc_period_s and
 * when a job has ended. Runs and passes in which nothing can be different from the one
 * before are left out: nothing has happened since, and no order has changed.
 *
 * By the policies of algorithms/queue/queue.h: who is ready (not held, nothing that it
 * waits for, no limit in its way) is in their order, and all of them decide when
 * something has changed, over all partitions. A plan is of amounts on nodes and of what
 * exists once.
 *
 * What happens at one instant: jobs end, jobs become eligible, pass their deadline or
 * are cancelled, reservations begin and end, nodes fail and come back, jobs arrive, the
 * policy decides; equal ones by index.
 *
 * What runs on a node that fails ends there, with its work lost: it waits again, as what
 * is preempted, or has failed. Plans on it are made anew when they are due.
 *
 * Cost: an event, the rows that the policy looks at times the nodes; see backfill.c and
 * board.h.
 *
 * Source: slurm.conf(5) and the "Scheduling Configuration Guide" of Slurm 22.05.
 */
#ifndef GRIDPLAN_CLUSTER_QUEUE_REPLAY_H
#define GRIDPLAN_CLUSTER_QUEUE_REPLAY_H

#include "algorithms/cluster_queue/decide.h"
#include "algorithms/cluster_queue/rank.h"
#include "models/base/policy.h"

/* Starts that conservative has told before. */
struct cluster_promises {
    const double *start_s; /* of each job; NAN: none */
    bool keeps_gaps;       /* who has one does not move up at once */
};

/* What only happens between decisions. */
struct cluster_replay_settings {
    double sched_interval_s, sched_min_interval_s, requeue_delay_s, over_time_limit_s;
    double calc_period_s, half_life_s; /* of priorities and use; half life 0: no decay */
    bool cancels;                      /* who is preempted is not requeued */
};

/* A node is down in [down_s, up_s). */
struct cluster_outage {
    size_t node;
    double down_s, up_s; /* up_s HUGE_VAL: it does not come back */
};

/* Of a job, besides what a waiting one has. */
struct cluster_replay_job {
    double run_s;       /* that it would take, >= 0 */
    bool requeues;      /* when it is preempted, or its node fails */
    bool ends_if_never; /* leaves the queue when what it waits for cannot happen any more
                         */
    bool fails;         /* its end is a failure to those that wait for it */
};

struct cluster_replay_in {
    /* All jobs and rows; jobs in the order of arrival, with submit_s and eligible_s. What
     * they wait for has all its entries. now_s: when it begins, what runs then runs. */
    const struct cluster *of;
    const struct policy *policy;           /* of cluster_policies or queue_policies */
    const struct cluster_replay_job *jobs; /* [job_count] */
    const double *estimate_s; /* what the policy believes of each job; NAN, NULL: its
                                 limit */
    const double *cancel_s; /* when each job is cancelled, waiting or running; NAN: never;
                               NULL: none is */
    struct cluster_replay_settings settings;
    /* NULL: priorities of rows stay as they are. */
    const struct cluster_ranking *ranking;
    const struct cluster_rank_job *rank_jobs; /* [job_count] */
    const double *shares;                     /* of accounts, [account_count] */
    const struct cluster_promises *promises;  /* NULL: none */
    const struct cluster_outage *outages; /* in any order, also of one node at a time */
    size_t outage_count;
    double first_pass_s; /* of backfill; NAN: when it begins */
    size_t keeps_nodes;  /* outcomes of so many jobs, from the first, say where */
    bool keeps_attempts;
    bool counts_fragments;
    struct budget *budget;
    void (*progress)(void *context, double ratio); /* NULL: nobody asks */
    void *context;
};

enum cluster_job_state {
    CLUSTER_JOB_WAITS, /* when nothing happens any more */
    CLUSTER_JOB_NEVER,
    CLUSTER_JOB_DONE,
    CLUSTER_JOB_KILLED,    /* at its limit */
    CLUSTER_JOB_CANCELLED, /* preempted, or at its cancel_s; start_s NAN: it waited */
    CLUSTER_JOB_LOST       /* with a node */
};

struct cluster_replay_outcome {
    enum cluster_job_state state;
    enum cluster_reason reason; /* NEVER, WAITS */
    double start_s;             /* its first start; NAN: none */
    double last_start_s, end_s; /* of its last attempt; end_s of one that was cancelled
                                   while it waited: when */
    double cpus;                /* it asked for, all nodes */
    double priority;            /* at its first start */
    size_t row;                 /* that started */
    uint32_t preempted, failed; /* attempts that ended so */
    const uint32_t *nodes;      /* keeps_nodes: of its last attempt; else NULL */
    size_t node_count;          /* of its last attempt */
};

/* A time in which a job ran. */
struct cluster_attempt {
    size_t job;
    double from_s, to_s;
    double cpus, allocated_cpus; /* that it asked for; that nobody else could have */
};

struct cluster_replayed {
    bool is_cut; /* the budget was spent: nothing else counts */
    struct cluster_replay_outcome *outcomes; /* [job_count] */
    struct cluster_attempt *attempts;        /* in the order of their ends */
    size_t attempt_count;
    size_t preempted_count, failed_count; /* attempts */
    double lost_core_s;       /* of preempted attempts, and those that nodes failed */
    double fragmented_core_s; /* idle cores while a job waits that they would suffice for,
                                 but that fits on no nodes; NAN: not counted */
    size_t main_count, backfill_count; /* runs of the main loop, passes of backfill */
};

/* `a` is for what comes out, `scratch` for the run; not the same. */
void cluster_replay(const struct cluster_replay_in *in, struct cluster_replayed *out,
                    struct arena *a, struct arena *scratch);

/* Who starts now by a policy of queue.h: what cluster_decide() is for slurm_backfill. The
 * others have the start and the nodes that a replay gives them in which all take their
 * limits and nobody else arrives. plan_s: [job_count], filled with what conservative
 * promises; NAN: nothing. */
void cluster_decide_by(const struct cluster *c, const struct policy *policy,
                       const struct cluster_promises *promises,
                       struct cluster_decision *out, double *plan_s, struct arena *a);

/* ---- parts ---- */

/* By a policy of queue.h. */
struct cluster_line;

struct cluster_line *cluster_line_create(const struct cluster *c,
                                         const struct policy *policy, struct arena *a);

/* Before the first decision; the promises must stay until then. */
void cluster_line_promise(struct cluster_line *l,
                          const struct cluster_promises *promises);

/* The start that conservative has planned for a job that waits; NAN: none. */
double cluster_line_plan_s(const struct cluster_line *l, size_t job);

/* Sorts rows into its order. */
void cluster_line_order(const struct cluster_line *l, size_t *rows, size_t count);

/* Starts who is to start of p->out->order, sorted; when the next one is planned to start
 * (HUGE_VAL: not known). */
double cluster_line_decide(struct cluster_line *l, struct cluster_pass *p);

/* A job has left the queue: what was planned for it is free. */
void cluster_line_leave(struct cluster_line *l, size_t job);

/* There is more than there was: nodes have come back. */
void cluster_line_more(struct cluster_line *l);

/* A job has ended; told before it leaves the state. */
void cluster_line_end(struct cluster_line *l, const struct cluster_held *held,
                      double now_s);

#endif
