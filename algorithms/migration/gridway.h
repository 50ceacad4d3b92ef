/* migration/gridway.h - events, failures and contracts of running jobs, as GridWay has
 * them: one round that starts pending jobs and then looks at those that run.
 *
 * Source: spec gridway.md 3, 3.1 to 3.5; 004_f687c06842f61aec.txt sections 2, 4 to 6.
 */
#ifndef GRIDPLAN_MIGRATION_GRIDWAY_H
#define GRIDPLAN_MIGRATION_GRIDWAY_H

#include "algorithms/migration/migration.h"
#include "algorithms/placement/placement.h"
#include "models/reschedule_job.h"

/* Rows of migration_gridway_params. */
enum gridway_option {
    GRIDWAY_RANK_THRESHOLD,
    GRIDWAY_MIN_GAIN,
    GRIDWAY_MIN_GAIN_RATIO,
    GRIDWAY_COOL_DOWN,
    GRIDWAY_MAX_MOVES,
    GRIDWAY_MAX_BYTES,
    GRIDWAY_MAX_RUN,
    GRIDWAY_MAX_WAIT,
    GRIDWAY_SUSPENSION_TIMEOUT,
    GRIDWAY_CPU_THRESHOLD,
    GRIDWAY_RETRIES,
    GRIDWAY_ON_FAILURE,
    GRIDWAY_SKIP_HOPELESS,
    GRIDWAY_NONZERO_FAILS,
    GRIDWAY_HOLD_BACK, /* last: what the placement policy gets */
    GRIDWAY_OPTION_COUNT
};

/* What is to be done with a job. */
#define GRIDWAY_ACTIONS(X)                                                            \
    X(ACTION_KEEP, "keep", "it stays as it is")                                       \
    X(ACTION_MIGRATE, "migrate", "it goes to the target")                             \
    X(ACTION_REQUEUE, "requeue", "nowhere to go: it becomes pending")                 \
    X(ACTION_RETRY, "retry", "the stage that failed is tried again")                  \
    X(ACTION_HOLD, "hold", "it stops until somebody resumes it")                      \
    X(ACTION_RESCHEDULE, "reschedule", "no retry is left: it goes to the target")     \
    X(ACTION_RESTART_JOB_MANAGER, "restart_job_manager", "a new one watches over it") \
    X(ACTION_CANCELLED, "cancelled", "it was cancelled by the user or the owner")

enum gridway_action {
#define X(symbol, name, doc) symbol,
    GRIDWAY_ACTIONS(X)
#undef X
};
extern const char *const gridway_action_names[]; /* ended by NULL */

/* Why. */
#define GRIDWAY_REASONS(X)                                                              \
    X(REASON_NO_EVENT, "no_event", "nothing happened to it")                            \
    X(REASON_WORTHWHILE, "worthwhile", "a better resource, and the move pays")          \
    X(REASON_FORCED, "forced", "the event moves it whatever it costs")                  \
    X(REASON_RANK_TOO_LOW, "rank_too_low", "no candidate ranks enough higher")          \
    X(REASON_GAIN_TOO_SMALL, "gain_too_small", "no candidate saves enough time")        \
    X(REASON_NO_ESTIMATE, "no_estimate", "without an estimate nothing can be saved")    \
    X(REASON_NO_RESOURCE, "no_resource", "no other resource suits it")                  \
    X(REASON_NO_FREE_NOW, "no_free_now", "what it needs is free at no other resource")  \
    X(REASON_USER_LIMIT, "user_limit", "its user has more jobs running than allowed")   \
    X(REASON_ROUND_FULL, "round_full", "this round dispatched as many jobs as allowed") \
    X(REASON_COOLING_DOWN, "cooling_down", "it moved less than cool_down_s ago")        \
    X(REASON_RAN_TOO_LONG, "ran_too_long", "it has run for max_run_before_move_s")      \
    X(REASON_MOVE_BUDGET, "move_budget", "max_moves went to others")                    \
    X(REASON_BYTES_BUDGET, "bytes_budget", "max_bytes_moved does not allow it")         \
    X(REASON_SUSPENDED_SHORTLY, "suspended_shortly",                                    \
      "suspended for less than suspension_timeout_s")                                   \
    X(REASON_CONTRACT_KEPT, "contract_kept", "it is as fast as was agreed")             \
    X(REASON_NO_VERDICT, "no_verdict", "too few samples to judge the contract by")      \
    X(REASON_RETRY_LEFT, "retry_left", "the stage may be tried again")                  \
    X(REASON_RETRIES_EXHAUSTED, "retries_exhausted", "the stage failed too often")      \
    X(REASON_HOPELESS, "hopeless", "another attempt would fail as well")                \
    X(REASON_JOB_MANAGER_SILENT, "job_manager_silent",                                  \
      "the job manager does not answer, the gatekeeper does")                           \
    X(REASON_FINISHED, "finished", "it has ended with an exit code of its own")         \
    X(REASON_CANCELLED, "cancelled", "it was cancelled")                                \
    X(REASON_OUT_OF_TIME, "time_limit", "the time limit was over before its turn")

enum gridway_reason {
#define X(symbol, name, doc) symbol,
    GRIDWAY_REASONS(X)
#undef X
};
extern const char *const gridway_reason_names[]; /* ended by NULL */

/* Why a candidate was dropped, beyond the filters of placement/problem.h. */
#define GRIDWAY_DROPS(X)                                             \
    X(DROP_PRESENT, "present")               /* the job is there */  \
    X(DROP_HISTORY, "history")               /* it has been there */ \
    X(DROP_TOO_SMALL, "too_small")           /* of some amount */    \
    X(DROP_GROUP_KEY, "group_key")           /* no such attribute */ \
    X(DROP_PARTITION, "partition")           /* none of the job's */ \
    X(DROP_TIME_LIMIT, "time_limit")         /* ends its rest */     \
    X(DROP_NO_FREE_NOW, "no_free_now")       /* nor soon enough */   \
    X(DROP_RESOURCE_LIMIT, "resource_limit") /* of the round */      \
    X(DROP_BYTES, "bytes_budget")            /* too much to move */  \
    X(DROP_RANK, "rank_too_low")                                     \
    X(DROP_GAIN, "gain_too_small")                                   \
    X(DROP_NOT_TRIED, "not_tried") /* one before it was taken, or cannot be better */

/* Words of gridway_drop.reason: the filters of placements, and these; some twice, ended
 * by NULL. */
extern const char *const gridway_drop_names[];

/* Resources that one test dropped. */
struct gridway_drop {
    const char *reason;
    uint64_t resource_count;
};

#define GRIDWAY_STEPS(X) \
    X(cancel_wrapper) X(prolog) X(epilog) X(wrapper) X(submission) X(job_manager)
enum gridway_step_kind {
#define X(name) STEP_##name,
    GRIDWAY_STEPS(X)
#undef X
};
extern const char *const gridway_step_names[]; /* by enum, ended by NULL */

/* A step of a plan; they follow each other. */
struct gridway_step {
    const char *step; /* of gridway_step_names */
    const char *resource_id;
    double duration_s;               /* NAN: not known */
    double bytes;                    /* moved by it */
    const char *const *resource_ids; /* of a job on several nodes: on all of them, */
    size_t resource_id_count;        /* resource_id is the first */
};

enum gridway_contract_state {
    CONTRACT_NONE,
    CONTRACT_UNKNOWN,
    CONTRACT_KEPT,
    CONTRACT_VIOLATED
};
extern const char *const gridway_contract_names[]; /* ended by NULL */

/* Words of gridway_verdict.event, ended by NULL. */
#define GRIDWAY_STAGE_FAILED "stage_failed"
extern const char *const gridway_event_names[];

/* What is decided for one running job. Times are NAN where they are not known or without
 * end. move_s, gain_s and rank_new are of the target, else of the candidate that came
 * nearest. */
struct gridway_verdict {
    const char *job_id;
    enum gridway_action action;
    enum gridway_reason reason;
    const char *event;                 /* that counted; NULL: none */
    bool forced;                       /* moved without a look at rank and gain */
    bool restart;                      /* it starts again from nothing */
    bool outputs_lost;                 /* queued outputs cannot be fetched */
    const char *resource_id;           /* the target; NULL: none */
    const char *candidate_resource_id; /* whose numbers these are; NULL: none */
    const char *const *resource_ids;   /* the target of a job on several nodes; */
    size_t resource_id_count;          /* resource_id is its first */
    double start_s; /* the slot of the target is free, seconds from now */
    double stay_s, move_s, gain_s;
    double move_bound_s; /* no move of it ends before, whatever slots are free */
    double rank_present, rank_new;
    double lost_ref_s; /* work that the move does again */
    double bytes_moved;
    double exit_code; /* of a wrapper that has ended; NAN: none */
    enum gridway_contract_state contract;
    double observed_per_s; /* NAN: no verdict */
    const struct gridway_drop *candidates;
    size_t candidate_count;
    const struct gridway_step *steps;
    size_t step_count;
    /* Where its run time comes from, for the caller to fill in. */
    const struct run_time_basis *run_time_basis; /* NULL: it is not said here */
    uint64_t run_time_index; /* instead: in a list of the answer; UINT64_MAX: in none */
};

struct gridway_objective {
    uint64_t moved_count, forced_count; /* jobs with a target; of these forced ones */
    uint64_t requeued_count;
    uint64_t left_out_count; /* by max_moves or max_bytes_moved */
    double gain_s;           /* saved by the moves that are not forced */
    double gain_bound_s;     /* no moves of these jobs that are not forced save more */
    double bytes_moved;
};

struct gridway_in {
    struct placement_in round;         /* its jobs are pending */
    const struct reschedule_job *jobs; /* those that run */
    size_t job_count;
};

struct gridway_out {
    enum decision_status status;
    const struct gridway_verdict *jobs; /* in the order of the request */
    size_t job_count;
    struct placement_out pending;
    struct gridway_objective objective;
    bool check_failed; /* the checker refused the moves */
    const char *const *warnings;
    size_t warning_count;
};

/* With in->round.world members about amounts count: needs, several nodes, what runs
 * beside the jobs, reservations, groups, predecessors, partitions (gridway_world.h).
 * Options are those of migration_gridway_params and placement_common_params. Mistakes are
 * collected with pointers into the body of POST /v1/reschedules: running jobs are in
 * `jobs`, pending ones in `pending`. O(n log n + n * free resources) beyond what a
 * placement of as many jobs costs; a resource without a free slot costs a bit. */
enum error_code migration_gridway(const struct gridway_in *in,
                                  const struct named_value *options, size_t option_count,
                                  struct gridway_out *out, struct arena *a,
                                  struct error *err);

#endif
