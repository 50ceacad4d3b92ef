/* cluster_replay/replay.h - jobs on a cluster whose nodes may fail, played by a queue
 * policy.
 *
 * Jobs of one or many nodes arrive, wait, run, save checkpoints, are killed with a node
 * or at their limit, and go back to the queue. Nodes are shared by amounts, or taken as a
 * whole. One machine serves replays of logs (no failures, no checkpoints) and studies of
 * whole sites.
 *
 * All instants and durations are whole milliseconds from the begin of the run;
 * REPLAY_NEVER where there is none. Nodes are numbered from 0 in the order of their
 * groups. What happens at one instant: jobs end, jobs become eligible (requeued, begin,
 * dependency) and reservations end, nodes are repaired, nodes fail, jobs arrive, the
 * queue decides; a job that ends when its node fails is done.
 *
 * Cost: O(log n) an event and O(1) a node taken or given back, with n events to come; a
 * round of head, fit and easy looks at waiting jobs and at running ones up to the start
 * of the first that waits, never at all nodes. conservative keeps a profile of all plans
 * and is for thousands of jobs that wait, not for a million.
 *
 * Sources: the policies' (algorithms/queue/queue.h); checkpoints and their models, see
 * algorithms/checkpoint/; shadow times over node classes are ours.
 */
#ifndef GRIDPLAN_CLUSTER_REPLAY_H
#define GRIDPLAN_CLUSTER_REPLAY_H

#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/checkpoint/levels.h"
#include "algorithms/cluster_queue/rank.h" /* sets of nodes, priorities */
#include "algorithms/queue/queue.h"
#include "models/base/budget.h"
#include "models/base/policy.h"
#include "models/distribution.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPLAY_NEVER INT64_MAX
#define REPLAY_NONE  UINT32_MAX

enum {
    REPLAY_AMOUNTS_MAX = 32, /* of a node, cpus included */
    REPLAY_CPUS = 0,         /* the first amount: cpus, in the caller's whole units */
};

/* ---- what is there ---- */

/* Nodes that are alike, numbered one after the other. */
struct replay_nodes {
    size_t count;           /* >= 1 */
    const int64_t *amounts; /* of each: [amount_count], >= 0; [REPLAY_CPUS] >= 1 */
    double speed;           /* > 0: work of execution time 1 takes 1 / speed */
    double weight;          /* smaller ones are filled first */
    /* Prepared; both or neither. From a repair to the next failure, in the node's wall
     * time, and from a failure to the repair, seconds. */
    const struct distribution *failure, *restore;
    uint32_t burst; /* index of its failure group; REPLAY_NONE: none */
    /* Queue policies count on a node that is down to be back so long from now; < 0: the
     * mean of `restore`; REPLAY_NEVER: on no such node. */
    int64_t expected_repair_ms;
    const char *id; /* names the random streams: the k-th node draws from "ID.k" */
};

/* A failure of a node takes each other node of its group with it with this probability,
 * within delay_s. The groups' own failures are as rare as `slowed` times their law. */
struct replay_burst {
    double probability, delay_s, slowed;
};

/* Nodes by name: a partition, or what is left of it by the requirements of a job.
 * [cluster_words(node_count)] words. Nodes that are in the same sets and are alike are
 * one class; the cost of a round grows with the classes. */
struct replay_set {
    const uint64_t *nodes;
    double tier; /* read by slurm: rows of larger ones are first, and may preempt */
};

/* A time in which a node is down, whatever its law says. */
struct replay_outage {
    uint32_t node;
    int64_t down_ms, up_ms; /* up_ms: REPLAY_NEVER: for good */
};

/* Whole nodes that are set aside: a job whose estimate would meet it does not start
 * there. Running jobs stay. */
struct replay_reservation {
    uint32_t set;
    int64_t start_ms, end_ms;
};

/* ---- jobs ---- */

enum replay_after_kind {
    REPLAY_AFTER_START, /* it has started */
    REPLAY_AFTER_END,   /* it has ended, in whatever way */
    REPLAY_AFTER_OK,    /* it is done */
    REPLAY_AFTER_NOT_OK /* it was killed at its limit, lost, or never ran */
};

struct replay_after {
    uint32_t job;
    enum replay_after_kind kind;
    int64_t delay_ms;
};

struct replay_shared {
    uint32_t name; /* index of the shared amount */
    int64_t amount;
};

struct replay_job {
    int64_t submit_ms; /* >= 0; jobs are given in the order of arrival */
    int64_t begin_ms;  /* not eligible before; 0: no matter */
    int64_t
        cancel_ms;  /* leaves the queue then, if it still waits; REPLAY_NEVER: does not */
    int64_t run_ms; /* work: without failures and checkpoints at speed 1, >= 0 */
    /* Wall time of an attempt, checkpoints and restarts included, at which it is killed;
     * REPLAY_NEVER: none. */
    int64_t limit_ms;
    /* What the policy believes an attempt takes, >= 0; < 0: limit_ms, without it run_ms
     * by the slowest speed that there is, see replay_rules.estimate_remaining. */
    int64_t estimate_ms;
    double priority;     /* larger ones are first in the queue; equal ones by arrival */
    double given;        /* instead of what replay_ranks reckons; NAN: nothing is */
    const int64_t *need; /* on each node: [amount_count]; equal needs best share a list */
    const struct replay_shared *shared;
    const struct replay_after *after;
    uint16_t shared_count, after_count;
    uint32_t nodes;       /* >= 1 */
    uint32_t spare_nodes; /* more that it holds and that take over from those that fail */
    /* Sets that it may run in, tried in this order, all nodes in one and the same; 0: one
     * of all nodes. */
    const uint32_t *sets;
    uint16_t set_count;
    bool exclusive; /* nodes as a whole: they must be empty */
    bool any_after; /* one of `after` is enough */
    /* C, R, R0, D in ms; `delay` both before a requeued job is eligible and before a
     * spare node takes over. */
    int64_t checkpoint_ms, restart_ms, scratch_ms, delay_ms;
    uint32_t user; /* for whom figures are by user; with replay_in.owners, from 1, whose
                      limits slurm minds; 0: nobody's */
    uint32_t account, qos; /* of replay_in.owners, from 1; 0: none; read by slurm */
};

/* ---- what the policy does ---- */

enum replay_requeue {
    REPLAY_REQUEUE_PRIORITY, /* by its first arrival and priority */
    REPLAY_REQUEUE_FRONT,    /* before all others of its priority */
    REPLAY_REQUEUE_BACK,     /* as if it arrived now */
    REPLAY_REQUEUE_NONE      /* it is lost */
};
extern const char *const replay_requeue_names[];

enum replay_choice {
    REPLAY_BEST_FIT,  /* fewest free cpus first */
    REPLAY_FIRST_FIT, /* lowest number first */
    REPLAY_SPREAD,    /* most free cpus first */
    REPLAY_RUNS       /* shortest run of neighbours that suffices, else the longest */
};
extern const char *const replay_choice_names[];

enum replay_knows {
    REPLAY_KNOWS_LAW,    /* the nodes' distributions */
    REPLAY_KNOWS_HISTORY /* their failures so far, by Jeffreys' prior */
};
extern const char *const replay_knows_names[];

/* A file system over which images are brought: all that are on their way at a time have
 * the same part of it. checkpoint_ms, and restart_ms where there is an image, are what a
 * job takes alone. Jobs may have places in time to write at (checkpoint/shared_io.h), by
 * the failures of their nodes; they go by the jobs that run, and are anew when these
 * change. */
struct replay_io {
    bool is_shared;
    bool has_places; /* for jobs that have a policy, and of whose failures is known */
    double use_max_ratio; /* 0..1: of the time that writing may take together */
};

struct replay_rules {
    const struct policy *policy; /* of queue_policies */
    /* NULL, or those of slurm_backfill, which decides then; `policy` is easy. Each job is
     * of one user, and of all amounts the second counts as memory. */
    const struct cluster_settings *slurm;
    /* Of jobs that slurm preempts: they have left, or may start again from their last
     * image after so long. Not together with cleanup_ms. */
    bool preempted_leave;
    int64_t preempted_delay_ms;
    const struct policy *checkpoint; /* NULL: no checkpoints */
    const double *checkpoint_param;  /* bound */
    /* Levels of images, the last of which survives everything: a job goes by the best
     * pattern of its nodes' failures, see checkpoint/levels.h, and by C and R of the
     * levels instead of its own. While nothing is known of failures the policy decides,
     * and all images are of the last level. */
    const struct level *levels;
    size_t level_count;  /* 0: none; at most LEVELS_MAX */
    struct replay_io io; /* not together with levels */
    enum replay_knows knows;
    enum replay_requeue requeue;
    enum replay_choice choice;
    bool requeue_at_limit; /* a job that reaches its limit is requeued, with its image */
    bool estimate_remaining; /* after a restart estimates are of the work that is left */
    uint64_t max_restarts;   /* further ones: lost; UINT64_MAX: no limit */
    int64_t cleanup_ms;      /* sound nodes of a killed job stay idle so long */
    size_t backfill_depth;   /* waiting jobs that easy looks at; SIZE_MAX: all */
};
/* Defaults: policy easy, no checkpoints, depth 1000, no limit of restarts. */
struct replay_rules replay_rules_default(void);

/* Accounts and qualities of service with limits, which slurm minds and the other policies
 * do not know. Amounts and CPU time are in the units of needs: see CLUSTER_UNITS. */
struct replay_owners {
    const struct cluster_qos *qos;
    size_t qos_count;
    const struct cluster_account *accounts; /* used_cpu_s: before the run */
    size_t account_count;
    size_t user_count;
};

/* How slurm reckons priorities, at each of its decisions. */
struct replay_ranks {
    struct cluster_ranking by; /* amounts as those of nodes */
    const double *shares;      /* of accounts, [account_count] */
    double half_life_s;        /* of what accounts have used; 0: nothing is forgotten */
};

struct replay_in {
    const struct replay_nodes *groups;
    size_t group_count;
    size_t amount_count;   /* 1..REPLAY_AMOUNTS_MAX */
    const int64_t *shared; /* amounts that belong to no node: [shared_count] */
    size_t shared_count;
    const struct replay_burst *bursts;
    size_t burst_count;
    const struct replay_set *sets;
    size_t set_count;
    const struct replay_reservation *reservations;
    size_t reservation_count;
    const struct replay_outage *outages; /* any order; of a node apart from each other */
    size_t outage_count;
    const struct replay_job *jobs; /* by submit_ms */
    size_t job_count;
    const struct replay_owners *owners; /* NULL: nobody has limits */
    const struct replay_ranks *ranks;   /* NULL: priorities are those of the jobs */
    struct replay_rules rules;
    uint64_t seed;   /* of the failures alone */
    int64_t stop_ms; /* end of the run, unless all jobs are through before; REPLAY_NEVER:
                        then */
    uint64_t stop_jobs;    /* end when so many are through; 0: no matter */
    uint64_t max_events;   /* 0: no limit */
    int64_t warm_up_ms;    /* nodes fail and are repaired so long before the run begins */
    bool keep_nodes;       /* outcomes have the numbers of nodes */
    struct budget *budget; /* NULL: no limit */
};

/* ---- what comes out ---- */

enum replay_state {
    REPLAY_NOT_ARRIVED, /* when the run ended */
    REPLAY_WAITING,     /* likewise */
    REPLAY_RUNNING,     /* likewise */
    REPLAY_DONE,
    REPLAY_KILLED,    /* at its limit */
    REPLAY_LOST,      /* with a node, and not requeued */
    REPLAY_CANCELLED, /* while it waited, or preempted */
    REPLAY_NEVER_FITS /* more than the cluster has, or a dependency that cannot be met */
};
extern const char *const replay_state_names[];

/* What became of a job. */
struct replay_outcome {
    int64_t first_start_ms; /* of its first attempt; REPLAY_NEVER: none */
    int64_t start_ms;       /* of its last attempt */
    int64_t
        end_ms; /* when it was through (cancelled ones too); REPLAY_NEVER: it is not */
    int64_t planned_ms; /* the last start that conservative planned for it while it
                           waited; REPLAY_NEVER: none */
    int64_t cpus;   /* on each node, of the last attempt; whole nodes: of the first one */
    uint32_t nodes; /* of the last attempt, without spares */
    uint32_t set;   /* that it ran in; REPLAY_NONE: none */
    uint32_t restarts; /* attempts after the first, those in place included */
    uint32_t failure_kills;
    uint32_t preemptions; /* attempts that ended so */
    uint32_t checkpoints;
    const uint32_t *node_ids; /* keep_nodes: of the last attempt, [nodes]; else NULL */
    uint8_t state;            /* enum replay_state */
    bool overtaken;           /* as the first of the queue: easy started one behind it */
};

/* Shares of the time of all nodes, in s. They add up to nodes * time: exactly in ms while
 * every job has its nodes as a whole; of a shared node a job counts by its share of the
 * cpus. useful: work that was neither redone nor of a job that was lost or killed; idle:
 * no job, spares that are held, cleaning up. */
#define REPLAY_TIMES(X)                                       \
    X(useful, "Work that counts")                             \
    X(lost, "Work that was redone, or whose job was lost")    \
    X(checkpoint, "Standing still for checkpoints")           \
    X(restart, "Reading images, starting again, taking over") \
    X(idle, "Without a job, or held as a spare")              \
    X(down, "Down")

enum replay_time {
#define X(name, doc) REPLAY_TIME_##name,
    REPLAY_TIMES(X)
#undef X
        REPLAY_TIME_COUNT
};

struct replay_totals {
    double node_s[REPLAY_TIME_COUNT];
    /* The same sums in ms of whole nodes; exact where is_exact. */
    int64_t node_ms[REPLAY_TIME_COUNT];
    bool is_exact;
    long double cpu_busy_ms; /* cpus of running jobs, times their time */
    uint64_t done_count, killed_count, lost_count, cancelled_count, never_count;
    uint64_t failure_kills, restarts, checkpoints, failures, events, rounds;
    double killed_cpu_s; /* what those attempts had used */
    int64_t end_ms;      /* of the run */
    int64_t last_end_ms; /* when the last job was through; 0: none was */
};

/* What prices of a group of nodes go by. */
struct replay_held {
    double node_s; /* nodes with a job, times their time; spares that are held too */
    double cpu_s;  /* cpus of jobs, times the time that they are held */
};

/* What holds from at_ms on. */
struct replay_change {
    int64_t at_ms;
    int64_t busy_cpus;   /* of running jobs; nodes as a whole count in full */
    int64_t asked_cpus;  /* likewise, but what jobs asked for */
    int64_t queued_cpus; /* of waiting, eligible jobs: nodes * cpus */
    int64_t down_cpus;
    size_t running_count, waiting_count;
};
/* Told after each instant at which one of them changed; ascending. */
typedef void replay_watch_fn(void *context, const struct replay_change *change);

struct replay_watch {
    replay_watch_fn *change;                                        /* NULL: nobody */
    void (*progress)(void *context, double ratio, uint64_t events); /* NULL: nobody */
    void *context;
};

struct replay_out {
    bool is_cut;   /* the budget or max_events was spent: what there is is of the time
                      before totals.end_ms */
    bool is_stuck; /* without stop_ms: jobs are left, and nothing happens any more */
    struct replay_outcome *outcomes; /* [job_count] */
    struct replay_held *held;        /* by group */
    struct replay_totals totals;
};

/* Plays a run. The input must be within the bounds above; jobs that can never run are not
 * a mistake, they come out as REPLAY_NEVER_FITS. `watch` may be NULL. Only outcomes (and
 * nodes of jobs) stay in `a`; `scratch` is for the run, may be `a`. Fails only as the
 * checkpoint policy does. */
enum error_code replay_play(const struct replay_in *in, const struct replay_watch *watch,
                            struct replay_out *out, struct arena *a,
                            struct arena *scratch, struct error *err);

#endif
