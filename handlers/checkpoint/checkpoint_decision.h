/* checkpoint_decision.h - a request for checkpoint intervals on its way to its answer.
 *
 * What the files of POST /v1/checkpoint-intervals share: the body, the answer, and the
 * work in between. checkpoint_request.c reads, checkpoint_checks.c finds mistakes and
 * reads histories, checkpoint_nodes.c says how the nodes of a job fail,
 * checkpoint_warnings.c collects what is to be known, checkpoint_answer.c prints, and
 * checkpoint_intervals.c decides.
 */
#ifndef GRIDPLAN_CHECKPOINT_DECISION_H
#define GRIDPLAN_CHECKPOINT_DECISION_H

#include "algorithms/checkpoint/checkpoint.h"
#include "handlers/checkpoint/checkpoint_costs.h"
#include "handlers/checkpoint/checkpoint_render.h"
#include "handlers/checkpoint_world/checkpoint_world.h"
#include "handlers/common/decision.h"
#include "handlers/common/snapshot_json.h"
#include "handlers/prediction/resource_histories.h"

enum { CHECKPOINT_UNUSED_MAX = 16, CHECKPOINT_WARNINGS_MAX = 64 };

#define CHECKPOINT_OVERHEAD_DOC "How long the job stands still for one checkpoint"

/* ---- the body: checkpoint_request.c ---- */

enum checkpoint_event { EVENT_REQUEST, EVENT_START, EVENT_ALARM };

/* Where a job goes on after a failure. */
enum checkpoint_replacement {
    REPLACEMENT_AUTO, /* spare if there are spare_nodes, else any */
    REPLACEMENT_ANY,
    REPLACEMENT_SPARE,
    REPLACEMENT_SAME,
};

/* A request to play what is answered. */
struct checkpoint_verify {
    uint64_t trial_count;
    double seed; /* NAN: the request's */
};

struct checkpoint_job {
    const char *id;
    const char *resource_id, *application_id; /* NULL: not said */
    const char *const *resource_ids;          /* of the nodes of a job on several */
    size_t resource_count;
    const char *const *pool_ids; /* of which its nodes are any */
    size_t pool_count;
    double nodes; /* NAN: not said */
    enum checkpoint_event event;
    enum checkpoint_replacement replacement;
    double spare_nodes, mttr_s; /* NAN: not said */
    const struct checkpoint_verify *verify;
    double length_mi, completed_mi;                /* NAN: not said */
    double checkpoint_bytes, checkpoint_latency_s; /* NAN: not said */
    struct checkpoint_job_world world;
    struct checkpoint_in in;
};

struct checkpoint_intervals_request {
    struct decision_request decision;
    double now_s;
    const struct snapshot *snapshot;
    const char *snapshot_id;
    const struct checkpoint_verify *verify; /* of each job that says nothing else */
    const char *const *render;
    size_t render_count;
    struct checkpoint_request_world world;
    const struct checkpoint_job *jobs;
    size_t job_count;
};

/* ---- the answer: checkpoint_answer.c ---- */

/* NAN: has no part in the decision. */
struct checkpoint_basis {
    double failures, observed_s;
    double checkpoint_logs, checkpoint_overhead_s, checkpoint_latency_s, restart_s;
    double failure_count, at_risk_s, nodes;
    const char *prior_scope; /* NULL: none */
    double prior_shape, prior_rate_s;
    const struct checkpoint_basis_laws *laws;      /* NULL: no laws had a part */
    double restart_from_scratch_s, has_checkpoint; /* 1: true, 0: false */
};

/* Nodes by the law that was taken. */
struct checkpoint_basis_laws {
    double exponential, weibull;
};

/* What trials of the answer gave. */
struct checkpoint_verified {
    double mean_s, ci95_s;
    uint64_t trial_count;
    bool agrees, cut;
    double quantile_s; /* options.slurm_time_quantile of their times; NAN: not asked */
};

struct checkpoint_segments {
    double count, first_s, middle_s, last_s; /* NAN: there is none */
};

struct checkpoint_interval {
    const char *job_id;
    const char *gap_basis, *bound_basis; /* NULL: none */
    const struct checkpoint_segments *segments;
    struct checkpoint_out out;
    double execution_time_s, remaining_s, failure_age_s, mean_failure_interval_s;
    double effective_delay_s, wait_for_spare_probability; /* NAN: nothing is replaced */
    const struct checkpoint_verified *verified;
    double low_s, high_s; /* of the latter, at 95 %; NAN: not from a stored history */
    const struct checkpoint_basis *basis;
    const struct checkpoint_rendered *rendered;
    struct checkpoint_interval_world world;
};

struct checkpoint_intervals_answer {
    struct decision_answer decision;
    const struct checkpoint_interval *intervals;
    size_t interval_count;
    struct checkpoint_answer_world world;
};

/* ---- in between ---- */

/* What jobs are warned of: symbol, code, what is so of them. A row is a warning with
 * the number of its jobs and the first of them; checkpoint_affect() counts one. */
#define CHECKPOINT_JOB_WARNINGS(X)                                                      \
    X(HOPELESS, "hopeless",                                                             \
      "{takes as long for a checkpoint as its|take as long for a checkpoint as their} " \
      "resource runs between failures, or {has|have} no end in sight with these "       \
      "checkpoints")                                                                    \
    X(RAISED, "min_interval_raised",                                                    \
      "had a shortest interval that is no longer than a checkpoint takes; it was "      \
      "raised to 1.0001 times that")                                                    \
    X(TOO_SHORT, "history_too_short",                                                   \
      "{runs|run} where too few failures were seen for a Weibull fit; young decided")   \
    X(UNKNOWN, "history_missing",                                                       \
      "{runs|run} where nothing is known of failures; the answer is a cautious one")    \
    X(FLOOR, "at_floor",                                                                \
      "would be checkpointed more often than {its|their} shortest interval allows: "    \
      "options.min_interval_s, at least 1.0001 times what a checkpoint takes, and a "   \
      "second unless that option says less")                                            \
    X(MANY, "clamped",                                                                  \
      "would be checkpointed more than 2^53 - 1 times, which is the largest number of " \
      "checkpoints that is told")                                                       \
    X(LONGER, "clamped",                                                                \
      "{has|have} remaining_s above execution_time_s, which counts as that long")       \
    X(FEW_INTERVALS, "few_intervals",                                                   \
      "{ends|end} after so few intervals that another number of checkpoints is more "   \
      "than 1 % better: see best_completion_s and algorithm finite")                    \
    X(SLURM, "slurm_lead_too_long",                                                     \
      "{needs its|need their} signal more than 65535 s before the time limit, which "   \
      "sbatch does not take: rendered.slurm is left out")                               \
    X(LIMIT, "slurm_time_unknown",                                                      \
      "{has|have} no trials that options.slurm_time_quantile could be of: "             \
      "rendered.slurm has no --time")                                                   \
    X(VERY_SHORT, "interval_very_short",                                                \
      "{has|have} settings for a checkpoint every few seconds, below 10")               \
    X(ROUNDED, "rounded",                                                               \
      "{loses|lose} more than 1 % more to checkpoints and failures by the whole units " \
      "of a tool in render")                                                            \
    X(START_UNKNOWN, "observation_start_unknown",                                       \
      "{runs|run} where nobody said since when the resource is watched (POST "          \
      "/v1/observations): its first failure only begins the history")                   \
    X(ENDED, "history_ended",                                                           \
      "{runs|run} where nothing was heard of the resource for long: its time ends "     \
      "with the last event")                                                            \
    X(OUTSIDE, "outside_observation",                                                   \
      "{runs|run} where failures lie outside every observation of the resource: these " \
      "have no part in its rate")                                                       \
    X(CUT, "history_cut",                                                               \
      "{runs|run} where the resource has more failures than were read: the newest "     \
      "decided")                                                                        \
    X(FEW, "few_failures",                                                              \
      "{runs|run} where fewer than 3 failures were seen: the mean failure interval is " \
      "mostly what was known before them")                                              \
    X(FLOORED, "mean_floor_applied",                                                    \
      "{runs|run} where so little was seen that options.mean_floor_s was taken")        \
    X(WIDE, "wide_interval",                                                            \
      "{has|have} a mean failure interval that may as well be several times as long "   \
      "or short: see mean_failure_interval_low_s and _high_s")                          \
    X(NO_HISTORY, "no_history",                                                         \
      "{runs|run} on nodes that nobody has seen: other hosts of {its|their} site tell " \
      "of them, or else they count as failing as often as the others in the mean")      \
    X(SPARES, "spares_exceed",                                                          \
      "{has|have} more spare_nodes than there are other resources: counted as given")   \
    X(CHECK_DIFFERS, "check_differs",                                                   \
      "{has|have} an expected time from which the trials of verify differ by more "     \
      "than their interval and 0.2 %")                                                  \
    X(UNVERIFIED, "verify_skipped",                                                     \
      "{has|have} no expected time, from the start to the end, that trials could be "   \
      "compared with")                                                                  \
    X(CUT_TO_MIDPOINT, "cut_to_midpoint",                                               \
      "{was|were} to be decided by a dynamic programme, or to get its bound, and the "  \
      "time limit came first, or {it is|they are} longer than 500 intervals")           \
    X(EXPECTED_SKIPPED, "expected_skipped",                                             \
      "{has|have} no expected_completion_s: it comes from trials, which are played "    \
      "for at most 10 jobs")                                                            \
    CHECKPOINT_WORLD_WARNINGS(X)

enum checkpoint_warning {
#define X(symbol, code, what) CHECKPOINT_WARNS_##symbol,
    CHECKPOINT_JOB_WARNINGS(X)
#undef X
        CHECKPOINT_WARNING_COUNT
};

/* Jobs that a warning is about. */
struct checkpoint_affected {
    size_t count;
    const char *first_id;
    const struct checkpoint_job *last; /* a job counts once, whatever its nodes */
};

struct checkpoint_work {
    struct request *rq;
    const struct checkpoint_intervals_request *body;
    const struct policy *policy;
    double param[PARAMS_MAX];
    const struct snapshot *snapshot;
    struct resource_histories histories; /* list NULL: no job names a resource */
    struct checkpoint_costs costs;       /* of the jobs that do not say the overhead */
    struct name_index links;             /* key NULL: no checkpoint has a way to go */
    struct arena *scratch;               /* of the job in hand; NULL: not needed */
    bool is_auto;                        /* the policy was not named */
    size_t unknown_nodes;                /* of jobs on several, without a history */
    bool is_unproved; /* policy finite: of a job the plan could not be shown to be best */
    size_t not_offered; /* resources with a price, of the first job that lacks some */
    double floor_s;     /* the shortest interval of the first job that is at it */
    struct checkpoint_affected affected[CHECKPOINT_WARNING_COUNT];
    const char *warnings[CHECKPOINT_WARNINGS_MAX];
    size_t warning_count;
};

/* ---- checkpoint_checks.c ---- */

/* Binds the options; what the policy does not read is said. */
enum error_code checkpoint_bind_options(struct checkpoint_work *w);

/* A mistake at a member of job i. */
void checkpoint_job_mistake(struct checkpoint_work *w, size_t i, const char *member,
                            enum item_code code, const char *detail);

/* Notes every mistake, and which histories are wanted; learns what checkpoints cost. */
enum error_code checkpoint_check_jobs(struct checkpoint_work *w);

enum error_code checkpoint_read_histories(struct checkpoint_work *w);

/* Whether its overhead is that of the logs of its application. */
bool checkpoint_learns_costs(const struct checkpoint_job *job);

/* Whether the options and the job say all that weibull needs. */
bool checkpoint_has_weibull(const struct checkpoint_work *w,
                            const struct checkpoint_in *in);

/* Mistakes that only the histories show. */
enum error_code checkpoint_check_known(struct checkpoint_work *w);

/* Whether nodes are replaced by spares, or by themselves, which takes a repair. */
bool checkpoint_waits_for_repair(const struct checkpoint_job *job);

/* ---- checkpoint_nodes.c ---- */

/* The resources that a job names, or that its nodes are some of; 0: none. */
size_t checkpoint_resource_count(const struct checkpoint_work *w,
                                 const struct checkpoint_job *job);
const struct resource_history *checkpoint_resource_at(struct checkpoint_work *w,
                                                      const struct checkpoint_job *job,
                                                      size_t i);

/* The mean repair of the nodes of a job: its own word, else as they were seen; NAN: not
 * known. */
double checkpoint_mttr_s(struct checkpoint_work *w, const struct checkpoint_job *job);

/* Whether every node of every job has a Weibull fit of its own that is best. */
bool checkpoint_all_weibull(struct checkpoint_work *w);

/* ---- checkpoint_verify.c ---- */

/* Jobs for which trials may be played that nobody asked for. */
enum { CHECKPOINT_FEW_JOBS = 10 };

/* Plays what was answered: for an expected time that no formula gives, and to check the
 * one that is there. */
void checkpoint_play(struct checkpoint_work *w, const struct checkpoint_job *job,
                     const struct checkpoint_in *in, struct checkpoint_interval *out);

/* The failures of the nodes of the job, as far as it does not say how often they are. */
void checkpoint_use_failures(struct checkpoint_work *w, const struct checkpoint_job *job,
                             const struct resource_history *history,
                             const struct checkpoint_cost *cost, struct checkpoint_in *in,
                             struct checkpoint_interval *out);

/* What of the restarts of the job was decided for all figures, which goes to the basis.
 */
void checkpoint_use_image(struct checkpoint_work *w, struct checkpoint_in *in,
                          struct checkpoint_interval *out);

/* ---- checkpoint_warnings.c ---- */

void checkpoint_affect(struct checkpoint_work *w, enum checkpoint_warning warning,
                       const struct checkpoint_job *job);

/* What is to be known of a decision. */
void checkpoint_note(struct checkpoint_work *w, const struct checkpoint_job *job,
                     const struct checkpoint_in *in, const struct checkpoint_out *out);

/* Whether sbatch is to be told a time limit. */
bool checkpoint_wants_limit(const struct checkpoint_work *w);

/* What is to be known of settings for other tools. */
void checkpoint_note_render(struct checkpoint_work *w, const struct checkpoint_job *job,
                            const struct checkpoint_in *in, double interval_s,
                            double saving_s);

/* Puts what was noted into w->warnings. */
void checkpoint_warn_all(struct checkpoint_work *w);

/* ---- checkpoint_answer.c ---- */

/* What the figures of a decision rest on, and the plan behind it. */
void checkpoint_add_segments(struct checkpoint_work *w, struct checkpoint_interval *out);

#endif
