/* replication/round.h - one round of a grid scheduler: its input, its actions.
 *
 * A grid scheduler looks at its resources and unfinished jobs from time to time
 * and says what to start, cancel, checkpoint or move. That is a round. Policies
 * of three families decide rounds: algorithms/replication, fault_tolerance and
 * dispatch. Handlers call them once, the grid simulator thousands of times; a
 * policy is told everything and keeps nothing.
 *
 * Things have no names here, only indexes: ties go to the lower one, so callers
 * sort resources and sites by id. Working memory comes from the arena, O(jobs +
 * resources) at most, and only when a CPU is free or a job must change.
 *
 * Units: MI (10^6 instructions), MIPS, seconds. A job of L MI on a resource of m
 * MIPS shared by n jobs takes L / (m / n) s.
 *
 * Source: spec fault-tolerance.md 1, 2, 6 and 7; simulator.md 3.10 and 10.
 */
#ifndef GRIDPLAN_ROUND_H
#define GRIDPLAN_ROUND_H

#include "models/base/budget.h"
#include "models/base/policy.h"
#include "models/decision_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct round_resource {
    size_t site;      /* < site_count */
    bool up;          /* as the scheduler sees it */
    double mips;      /* without outside load's share, >= 0 */
    size_t n_max;     /* most jobs at once */
    size_t job_count; /* jobs there now; may exceed n_max */
    /* For target_success, expected_time and joint, which ask for them by round_show();
     * NAN: unknown. */
    double mean_failure_interval_s;        /* MF, >= 0 */
    double uptime_s;                       /* since the last restore, >= 0 */
    double weibull_shape, weibull_scale_s; /* of the times between failures, > 0 */
};

enum replica_state {
    REPLICA_TRANSFERRING, /* input or image on the way; active, as the next */
    REPLICA_RUNNING,
    REPLICA_FAILED, /* known to be gone; holds no slot */
    REPLICA_FINISHED,
};

struct round_replica {
    size_t resource;
    enum replica_state state;
    bool is_ghost; /* believed active, but its slot is free: to cancel it frees none */
    double completed_mi;
    /* Of a copy on several nodes: all its resources, of which that is one; 0: it alone.
     */
    const size_t *nodes;
    size_t node_count;
};

/* Where a job goes on after a failure: any node, a spare one that it holds, or the same
 * when that is repaired. */
enum replacement {
    REPLACEMENT_UNKNOWN,
    REPLACEMENT_ANY,
    REPLACEMENT_SPARE,
    REPLACEMENT_SAME
};

struct round_job {
    double length_mi; /* >= 0 */
    const struct round_replica *replicas;
    size_t replica_count;
    size_t started_count; /* replicas ever started; what policies without detection count.
                             Take one off to put a job back into their queue */
    bool has_checkpoint;  /* an image can be used now */
    bool is_checkpointing; /* its active replica takes checkpoints */
    /* For expected_time and rescheduling. */
    double checkpoint_overhead_s;  /* C, >= 0 */
    double restart_s;              /* R, to fetch an image, >= 0 */
    double restart_from_scratch_s; /* R0, the same where there is none, >= 0 */
    double reschedule_delay_s;     /* D, from a failure until it runs again, >= 0 */
    double rollback_mi;            /* work done again when it moves, >= 0 */
    double
        checkpoint_mi; /* work in the image; placement (simulation/placement_round.h) */
    /* For joint, expected_time and target_success. */
    size_t node_count;     /* nodes of each copy; 0: one */
    const size_t *allowed; /* resources that its copies may be on, rising; NULL: all */
    size_t allowed_count;
    bool allowed_is_exact; /* a copy takes all of them, of whatever sites */
    double deadline_s;     /* to be done by, from now, > 0; 0: none */
    enum replacement replacement;
    size_t spare_count; /* spare nodes that each copy holds */
    double repair_s;    /* mean time to repair a node, >= 0 */
};

enum round_mode { ROUND_MODE_NONE, ROUND_REPLICATION, ROUND_CHECKPOINTING };

enum { ROUND_COUNT_MAX = 255 };

/* Jobs with replicas at which combined need not look, bits of round_in.settled. */
enum {
    ROUND_KEEPS_ONE = 1,    /* one replica, which is active and takes checkpoints, or it
                               changes nothing to turn them on */
    ROUND_KEEPS_COPIES = 2, /* takes no checkpoints, or has one replica at most */
};

struct round_in {
    double now_s;
    const struct round_resource *resources; /* by id */
    size_t resource_count;
    size_t site_count;            /* sites are numbered by id */
    const struct round_job *jobs; /* unfinished ones, by arrival, then id */
    size_t job_count;
    size_t held_job_count; /* of them, those that have replicas: the end of the list need
                              not be looked at for more; 0: not counted */
    /* Of each job its started_count and its active replicas, ROUND_COUNT_MAX at most: the
     * next job with few is found in them quicker than among the jobs. NULL: not kept. */
    const uint8_t *started_counts, *active_counts;
    const uint8_t *settled;      /* ROUND_KEEPS_ of each job; NULL: not kept */
    uint64_t random_state;       /* of splitmix64: the seed, then what a round returned */
    enum round_mode mode_before; /* of the last round; policy combined */
    bool has_finished;   /* jobs may have a finished replica: their others are cancelled
                            first; without it nobody looks */
    bool can_checkpoint; /* checkpoints are taken: migration then turns them on */
    bool explain;        /* fill waits and targets */
    /* Seconds to bring the job's input and image to a resource, >= 0; policy
     * rescheduling. NULL: no time. Must depend on nothing but its arguments. */
    double (*transfer_s)(const void *context, size_t job, size_t resource);
    /* Likewise, from a start until the job runs; placement. NULL: no time. */
    double (*stage_in_s)(const void *context, size_t job, size_t resource);
    /* Brings what is known of a resource's failures up to date; NULL: it is. */
    void (*show_reliability)(const void *context, size_t resource);
    const void *context;
    struct slots_kept *kept; /* of the same resources in the rounds before
                                (replication/slots.h): what has changed in them was told
                                it; NULL: counted afresh */
    struct budget *budget;   /* asked by policies that may take long; NULL: no limit */
};

enum round_action_kind {
    ROUND_START,          /* a replica of `job` on `resource` */
    ROUND_CANCEL,         /* `replica` of `job`, which is on `resource` */
    ROUND_CHECKPOINT_ON,  /* for `replica` of `job` on `resource` */
    ROUND_CHECKPOINT_OFF, /* likewise */
    ROUND_MIGRATE,        /* `replica` of `job` to `resource` */
};

enum round_reason { ROUND_NO_REASON, ROUND_JOB_FINISHED, ROUND_MODE_SWITCH };

struct round_action {
    enum round_action_kind kind;
    size_t job;
    size_t replica; /* in the job's list; replica_count + i: the i-th that this round
                       starts, which is also what a start has here */
    size_t resource;
    bool from_checkpoint; /* ROUND_START: from the image, else from scratch */
    const size_t *nodes; /* ROUND_START of a copy on several nodes: all of them, rising */
    size_t node_count;   /* 0: `resource` alone */
    bool when_running;   /* ROUND_CHECKPOINT_OFF: once the replica that was started in the
                            action before runs, and not at all if it never does */
    enum round_reason reason; /* ROUND_CANCEL */
};

/* Why a job did not get another replica: resources under each reason, as the
 * round leaves the grid. */
enum round_wait_reason {
    ROUND_NO_RESOURCE_UP, /* no resource is up: all resources */
    ROUND_NO_FREE_SLOT,   /* up, n_max reached */
    ROUND_HOLDS_REPLICA,  /* free, but a replica of the job is there */
    ROUND_BELOW_LIMIT,    /* free, but too few CPUs are free for a further replica */
    ROUND_TOO_FEW_NODES,  /* free, but none of its site are as many as a copy of the job
                             takes, or the job may not be there */
    ROUND_RESTART_LIMIT,  /* up, but the job has been started as often as it may */
    ROUND_OVER_COST,      /* up, but each remedy costs more than it may; of choices */
    ROUND_WITHOUT_END,    /* up, but no remedy ends; likewise */
    ROUND_WAIT_REASON_COUNT,
};

/* Names on the wire, by enum round_wait_reason, ended by NULL. */
extern const char *const round_wait_reason_names[];

struct round_wait {
    size_t job;
    size_t count[ROUND_WAIT_REASON_COUNT];
};

/* Policy target_success: what a job's replicas achieve together. */
struct round_success {
    size_t job;
    size_t replica_count; /* active ones after the round */
    double probability;   /* that one of them at least does not fail */
    bool reached;         /* the target, with what was started */
    size_t needed_count;  /* replicas that reach it, counting those that are active; 0: no
                             number of free resources does */
};

/* Policies expected_time and joint: see fault_tolerance.h. */
struct round_choice;

struct round_out {
    const struct round_action *actions; /* in the order of execution */
    size_t action_count;
    enum decision_status status; /* DECISION_FEASIBLE, _INFEASIBLE, or _CUT: the budget
                                    was spent */
    enum round_mode mode;        /* of policies that have modes, at the end */
    size_t free_cpus;      /* CA when the round began, finished jobs' replicas gone */
    size_t free_cpu_limit; /* CL; 0: the policy has none */
    uint64_t random_state; /* for the next round */
    const struct round_wait *waits; /* explain: jobs below their target */
    size_t wait_count;
    const size_t *targets; /* explain: replicas that the policy aims at, of each job */
    const struct round_success *successes; /* target_success: jobs it looked at */
    size_t success_count;
    const struct round_choice *choices; /* expected_time, joint: likewise */
    size_t choice_count;
};

/* Decides a round. param holds one value for each row of the policy's table.
 * Fails with ERR_INVALID when two options contradict each other (pointer
 * "/options/NAME"). *out is valid as long as the arena is not reset. */
typedef enum error_code round_fn(const struct round_in *in, const double *param,
                                 struct round_out *out, struct arena *a,
                                 struct error *err);

/* How to drive a policy. */
enum round_flag {
    ROUND_DETECTS = 1,     /* replicas on failed resources are marked REPLICA_FAILED and
                              their jobs wait again; without it the policy believes them
                              active and counts what was started */
    ROUND_RESTARTS = 2,    /* a start may be from_checkpoint: keep the images */
    ROUND_CHECKPOINTS = 4, /* says itself when checkpointing goes on and off */
    ROUND_RELIABILITY = 8, /* reads the mean failure intervals and times up of resources:
                              without it they need not be known */
    ROUND_PROGRESS = 16,   /* likewise completed_mi of replicas that run */
    ROUND_COMPARES = 32,   /* likewise, but only of jobs with several */
};

/* What runs a policy of this table. */
static inline round_fn *round_fn_of(const struct policy *policy)
{
    return (round_fn *)policy->run;
}

/* ---- shared with callers ---- */

/* A resource, with what is known of its failures now. */
static inline const struct round_resource *round_show(const struct round_in *in,
                                                      size_t resource)
{
    if (in->show_reliability)
        in->show_reliability(in->context, resource);
    return &in->resources[resource];
}

/* The resources of a replica; *count is their number. */
static inline const size_t *replica_nodes(const struct round_replica *r, size_t *count)
{
    *count = r->node_count ? r->node_count : 1;
    return r->node_count ? r->nodes : &r->resource;
}

/* TRANSFERRING or RUNNING. */
static inline bool replica_is_active(const struct round_replica *r)
{
    return r->state == REPLICA_TRANSFERRING || r->state == REPLICA_RUNNING;
}

/* The random choice of spec fault-tolerance.md 1: 0 <= result < count, one draw
 * also for count 1; count > 0. */
size_t round_draw(uint64_t *random_state, size_t count);

#endif
