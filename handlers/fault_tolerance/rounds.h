/* rounds.h - a round of a grid scheduler over HTTP.
 *
 * What POST /v1/replica-counts and POST /v1/fault-tolerance-plans share: the body,
 * its way into a struct round_in, and the answer.
 */
#ifndef GRIDPLAN_ROUNDS_H
#define GRIDPLAN_ROUNDS_H

#include "algorithms/replication/round.h"
#include "handlers/common/decision.h"
#include "handlers/prediction/resource_histories.h"

enum { ROUND_JOBS_MAX = 100000, ROUND_REPLICAS_MAX = 1000, ROUND_NODES_MAX = 100000 };

/* ---- the body ---- */

struct round_replica_request {
    const char *id;
    const char *resource_id;
    const char *const *resource_ids; /* of a copy on several nodes */
    size_t resource_count;
    const char *boot_id; /* NULL: not said */
    enum replica_state state;
    double completed_mi;
};

enum round_job_state { ROUND_JOB_UNKNOWN, ROUND_JOB_WAITING, ROUND_JOB_RUNNING };

struct round_job_request {
    const char *id;
    double arrival_s;
    enum round_job_state state;
    double length_mi, execution_time_s; /* one of them; NAN: not said */
    bool has_checkpoint, checkpointing;
    double replicas_started;         /* NAN: those in the list */
    double nodes;                    /* of each copy; NAN: not said */
    const char *const *resource_ids; /* those nodes */
    size_t resource_count;
    const char *const *pool_resource_ids; /* where they may be */
    size_t pool_count;
    double deadline_s; /* NAN: none */
    enum replacement replacement;
    double spare_nodes, mttr_s; /* NAN: not said */
    const struct round_replica_request *replicas;
    size_t replica_count;
    double checkpoint_overhead_s, restart_s, restart_from_scratch_s, reschedule_delay_s;
};

/* The checkpoint policy that goes with a plan. */
struct round_checkpoint_request {
    const char *algorithm;
    const struct named_value *options;
    size_t option_count;
};

/* How the answered copies are played. */
struct round_verify {
    double trial_count, seed;
};

struct round_request {
    struct decision_request decision;
    double now_s;
    const struct snapshot *snapshot;
    const char *snapshot_id;
    const struct round_job_request *jobs;
    size_t job_count;
    const struct round_checkpoint_request *checkpoint; /* plans only; NULL: none */
    const struct round_verify *verify; /* plans only; NULL: not asked for */
};

extern const struct json_object round_job_json;
extern const struct json_object round_checkpoint_json;
extern const struct json_object round_verify_json;

/* Rows that both bodies have. */
#define ROUND_REQUEST_ROWS(T)                                                           \
    DECISION_REQUEST_ROWS(T),                                                           \
        JSON_NUMBER(T, now_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,          \
                    "The present, in seconds on the scale of the histories (stored "    \
                    "ones: since 1970); default: the snapshot's taken_at, else the "    \
                    "clock"),                                                           \
        JSON_OBJECT(T, snapshot, const struct snapshot *, &snapshot_json, JSON_POINTER, \
                    "Resources with their load as it is now"),                          \
        JSON_ID(T, snapshot_id, JSON_NULLABLE, "A stored snapshot instead",             \
                JSON_NOT_WITH("snapshot")),                                             \
        JSON_LIST(T, jobs, job_count, struct round_job_request, &round_job_json,        \
                  ROUND_JOBS_MAX, JSON_REQUIRED | JSON_UNIQUE_IDS,                      \
                  "Unfinished jobs, waiting and running")

/* ---- the answer ---- */

struct round_answer_action {
    const char *action;
    const char *job_id, *replica_id;
    double replica_index; /* NAN: the replica has an id */
    const char *resource_id, *site_id;
    const char *const *resource_ids; /* of a copy on several nodes */
    size_t resource_count;
    const char *start_from, *reason, *when; /* NULL: no part of this action */
    double interval_s, next_request_in_s;   /* NAN: likewise */
};

struct round_answer_count {
    const char *job_id;
    uint64_t active, target;
    double success_probability, needed;  /* NAN: not asked for, not known */
    double deadline_success_probability; /* NAN: likewise */
};

struct round_answer_reason {
    const char *reason;
    uint64_t count;
};

struct round_answer_unplaced {
    const char *job_id;
    const struct round_answer_reason *reasons;
    size_t reason_count;
};

struct round_answer_option {
    const char *remedy;
    uint64_t replicas;
    double interval_s, expected_time_s, expected_cost_cpu_s, success_probability;
    double independent_time_s; /* NAN: images are not shared */
};

/* What playing the copies says. */
struct round_answer_verified {
    double mean_s, ci95_s;
    uint64_t trial_count;
    bool agrees, cut;
};

struct round_answer_choice {
    const char *job_id;
    const char *choice;   /* NULL: no remedy keeps to the limit */
    double replicas;      /* NAN: likewise */
    double interval_s;    /* NAN: no checkpoints */
    const char *cheapest; /* NULL: there is a choice */
    const char *because;
    const char *const *hosts; /* of the chosen copies */
    size_t host_count;
    double expected_time_s, lower_bound_s, gap_ratio, success_probability;
    double deadline_success_probability; /* NAN: no deadline */
    const struct round_answer_verified *verified;
    const struct round_answer_option *options_compared;
    size_t option_count;
};

struct round_answer_objective {
    double expected_time_s, lower_bound_s, gap_ratio;
};

struct round_answer {
    struct decision_answer decision;
    const char *mode;
    uint64_t free_cpus;
    double free_cpu_limit; /* NAN: none */
    const struct round_answer_action *actions;
    size_t action_count;
    const struct round_answer_count *replica_counts;
    size_t replica_count_count;
    const struct round_answer_unplaced *unplaced;
    size_t unplaced_count;
    const char *const *lost;
    size_t lost_count;
    const struct round_answer_choice *choices;
    size_t choice_count;
    const char *order;                              /* NULL: no choices */
    const struct round_answer_objective *objective; /* NULL: none */
};

extern const struct json_object round_answer_json;

/* ---- one request ---- */

struct policy;

enum { ROUND_WARNINGS_MAX = 48 };

/* A request on its way. Indexes of `in` are places in order; jobs_at and
 * resources_at lead back to the body and the snapshot. */
struct round_call {
    struct request *rq;
    const struct round_request *body;
    const struct policy *policy;
    double param[PARAMS_MAX];
    const struct policy *checkpoint; /* NULL: none */
    double checkpoint_param[PARAMS_MAX];
    const struct snapshot *snapshot;
    struct resource_histories histories;
    bool has_histories; /* they have been read */
    struct round_in in;
    struct round_resource *resources; /* in.resources */
    struct round_job *jobs;           /* in.jobs */
    size_t *jobs_at, *resources_at;
    struct round_out out;
    const char **warnings; /* ROUND_WARNINGS_MAX */
    size_t warning_count;
};

/* Reads the body into call->in and notes every mistake. `preset` is the policy of
 * "auto". */
enum error_code round_call_begin(struct round_call *call, struct request *rq,
                                 const struct round_request *body,
                                 const struct policy *table, const char *preset,
                                 struct decision_answer *answer);

/* Makes the answer from call->out. */
enum error_code round_call_answer(struct round_call *call, struct round_answer *answer);

/* The policy chooses hosts by what is known of them, and so takes copies on several
 * nodes. */
bool round_call_chooses_hosts(const struct round_call *call);

/* One warning for each member that is given and that the policy, with its options, does
 * not look at. */
void round_call_warn_unused(struct round_call *call);

/* What is to be known of the stored histories, and of the choices. */
void round_call_warn_histories(struct round_call *call);
void round_call_warn_choices(struct round_call *call);

/* Value of an option of the policy by name; `otherwise` if it has no such option. */
double round_call_option(const struct round_call *call, const char *name,
                         double otherwise);

/* A whole request. */
enum error_code round_answer_request(struct request *rq, const struct round_request *body,
                                     const struct policy *table, const char *preset,
                                     struct round_answer *answer);

#endif
