/* cluster_queue/decide.h - which jobs of a cluster's queue start now, when will the
 * others, and why do they wait, as Slurm's main loop and its backfill would say.
 *
 * The queue has a row for each job and partition: reservations first, then the tier of
 * the partition, the priority, the submission, the id. The main loop starts what fits, in
 * this order; a row that does not fit closes its partition to all rows behind it, and
 * its nodes to all of them. The backfill pass plans a start for each row and
 * promises the nodes, whole; a row that fits now beside all promises starts.
 *
 * Jobs of a gang start together, or none of them: the backfill pass starts and plans them
 * where the first one stands in the queue.
 *
 * Cost: main loop, rows x nodes; backfill see backfill.c.
 *
 * Source: Slurm's documentation, page "Scheduling Configuration Guide", slurm.conf(5);
 * details as Slurm 22.05 showed them.
 */
#ifndef GRIDPLAN_CLUSTER_DECIDE_H
#define GRIDPLAN_CLUSTER_DECIDE_H

#include "algorithms/cluster_queue/choose.h"

/* Why a row waits, or never runs: symbol, name, Slurm's name, meaning. */
#define CLUSTER_REASONS(X)                                                             \
    X(PROCESSORS, processors, "Resources", "too few cpus are free")                    \
    X(MEMORY, memory, "Resources", "too little memory is free")                        \
    X(NEEDS, needs, "Resources", "too little of a named amount is free")               \
    X(NODES, nodes, "Resources", "too few nodes are free")                             \
    X(LICENCE, licence, "Licenses", "too few licences are free")                       \
    X(WOULD_DELAY, would_delay, "Priority", "jobs before it are to have the nodes")    \
    X(RESERVATION, reservation, "ReqNodeNotAvail", "it would run into a reservation")  \
    X(RESERVATION_WAIT, reservation_wait, "Reservation", "its reservation is not on")  \
    X(PARTITION_LIMIT, partition_limit, "PartitionTimeLimit",                          \
      "its partition does not allow it")                                               \
    X(PARTITION_DOWN, partition_down, "PartitionDown", "its partition starts no jobs") \
    X(DEPENDENCY, dependency, "Dependency", "it waits for other jobs")                 \
    X(DEPENDENCY_NEVER, dependency_never, "DependencyNeverSatisfied",                  \
      "what it waits for cannot happen any more")                                      \
    X(BEGIN, begin, "BeginTime", "it may not start yet")                               \
    X(HELD, held, "JobHeldUser", "it is held")                                         \
    X(LIMIT, limit, "AssocMaxJobsLimit", "a limit holds it back")                      \
    X(ARRAY_LIMIT, array_limit, "JobArrayTaskLimit", "enough tasks of its array run")  \
    X(REQUIREMENT, requirement, "BadConstraints", "too few nodes are as it asks")      \
    X(RESOURCE_DOWN, resource_down, "ReqNodeNotAvail", "nodes that it needs are down") \
    X(NOT_TESTED, not_tested, "Priority", "backfill did not come to it")               \
    X(BEYOND_WINDOW, beyond_window, "Priority", "no start within the window")          \
    X(QOS, qos, "InvalidQOS", "its account may not use its quality of service")        \
    X(DEADLINE, deadline, "DeadLine", "it cannot end by its deadline")                 \
    X(GROUP_GANG, group_gang, "Resources", "its gang cannot start together")           \
    X(TIME_LIMIT, time_limit, "Priority", "the time was up before it was looked at")
enum cluster_reason {
#define X(symbol, name, slurm, meaning) CLUSTER_REASON_##symbol,
    CLUSTER_REASONS(X)
#undef X
        CLUSTER_REASON_COUNT
};
extern const char *const cluster_reason_names[]; /* by enum, ended by NULL */
/* Likewise in Slurm's words, some twice; then the two below. */
extern const char *const cluster_slurm_reason_names[];
enum { CLUSTER_SLURM_HELD_ADMIN = CLUSTER_REASON_COUNT, CLUSTER_SLURM_QOS_LIMIT };

enum cluster_outcome { CLUSTER_WAITS, CLUSTER_STARTS, CLUSTER_NEVER };

/* What becomes of a row. Of a job one row starts at most. */
struct cluster_verdict {
    enum cluster_outcome outcome;
    enum cluster_reason reason;
    double start_s; /* now, or planned; NAN: no plan */
    double until_s; /* planned: until when its nodes are promised */
    double limit_s; /* its time limit, which may have been shortened */
    struct cluster_pick pick;
    const struct cluster_held *waits_for; /* whose end it waits for; NULL: none known */
    ptrdiff_t behind;                     /* row that its start follows; CLUSTER_NONE */
    ptrdiff_t reservation;                /* in its way; CLUSTER_NONE */
    struct cluster_limit limit;           /* reasons LIMIT, PARTITION_LIMIT */
    struct cluster_held **stopped;        /* jobs that are stopped for it */
    size_t stopped_count;
    bool by_backfill;
};

struct cluster_decision {
    struct cluster_verdict *verdicts; /* [row_count] */
    size_t *order;                    /* rows, first of the queue first */
    size_t *tested;                   /* rows that backfill tested, in this order */
    size_t tested_count;
    struct cluster_state *state; /* with what has started */
    bool is_cut;
};

/* A decision in the making: what its parts share. */
struct cluster_pass {
    const struct cluster *of;
    struct cluster_state *state;
    struct cluster_decision *out;
    struct cluster_question question;
    size_t row_count;    /* of out->order: rows that wait, first of the queue first */
    uint64_t *usable;    /* set, for the moment */
    bool *started;       /* [job_count] */
    bool *names_running; /* of singletons: [name_count] */
    bool goes_on;        /* of a replay: jobs of `of` that run may be stopped, too */
    struct cluster_held **begun; /* jobs that have started; NULL: nobody asks */
    size_t begun_count;
    struct arena *arena;
};

/* Also without time the first rows of the queue start as far as they fit. */
void cluster_decide(const struct cluster *c, struct cluster_decision *out,
                    struct arena *a);

/* ---- parts ---- */

/* Sorts rows into the order of the queue. */
void cluster_order(const struct cluster *c, size_t *rows, size_t count);

/* Whether row i is before row k in it: < 0; they are never equal. */
int cluster_compare_rows(const struct cluster *c, size_t i, size_t k);

/* Whether a row could start now, or be planned, but for nodes and licences; else why
 * not, in its verdict. */
bool cluster_ready(const struct cluster_pass *p, size_t row);

/* Rows that never start, whatever ends. */
void cluster_screen(struct cluster_pass *p);

/* Starts a row. */
void cluster_begin(struct cluster_pass *p, size_t row, const struct cluster_pick *pick,
                   double limit_s, bool by_backfill);

/* The id of a job that runs. */
const char *cluster_held_id(const struct cluster *c, const struct cluster_held *held);

/* Stops running jobs so that a row fits on the nodes of p->usable, and chooses its nodes;
 * false: those that may be stopped are not enough, and run on. */
bool cluster_preempt(struct cluster_pass *p, size_t row, struct cluster_pick *pick);

/* The parts of a decision, without a row; what the arena has is kept. */
void cluster_pass_begin(struct cluster_pass *p, const struct cluster *c,
                        struct cluster_decision *out, struct arena *a);

/* Why rows wait. */
void cluster_explain(struct cluster_pass *p);

/* Whether a row fits now, and its nodes. */
typedef bool cluster_fit_fn(void *context, size_t row, struct cluster_pick *pick);

enum { GANG_TRIES_MAX = 64 }; /* starts at which a plan of a gang is tried */

/* Starts all of a gang that wait; false: not one of them. */
bool cluster_gang_begin(struct cluster_pass *p, size_t gang, cluster_fit_fn *fit,
                        void *context, bool by_backfill);

/* Whether all of a gang that wait could start, but for nodes and licences. */
bool cluster_gang_ready(struct cluster_pass *p, size_t gang);

/* Those that could, wait for their gang. */
void cluster_gang_waits(struct cluster_pass *p, size_t gang);

/* A gang that has no room on the empty cluster never starts; part of cluster_screen(). */
void cluster_gang_screen(struct cluster_pass *p);

/* Looks at the first `depth` rows. Gangs are left to the backfill pass; one that is ready
 * closes its partitions, so that no row behind is started before it but by that pass. */
void cluster_main_loop(struct cluster_pass *p, double depth);

void cluster_backfill(struct cluster_pass *p);

#endif
