/* checkpoint_request.c - the body of a request for checkpoint intervals. */
#include "handlers/checkpoint/checkpoint_decision.h"

#include "algorithms/checkpoint/trials.h"
#include "handlers/checkpoint/routes.h"

enum { JOBS_MAX = 100000, NODES_MAX = 100000, TOOLS_MAX = 16 };

static const char *const events[] = {"request", "start", "alarm", NULL};
static const char *const replacements[] = {"auto", "any", "spare", "same", NULL};
_Static_assert(sizeof(enum checkpoint_replacement) == sizeof(int), "a choice is an int");

#define T struct checkpoint_verify
static const struct json_field verify_rows[] = {
    JSON_INTEGER(T, trial_count, 1, TRIALS_MAX, TRIALS_PRESET, 0,
                 "Most trials; fewer when the mean is known to 0.1 %; default 20000"),
    JSON_NUMBER(T, seed, 0, JSON_EXACT, NAN, JSON_NULLABLE,
                "Which draws; default: the seed of the request"),
    {0},
};
#undef T
static const struct json_object verify_json = {
    "CheckpointVerify", "Trials of what is answered", sizeof(struct checkpoint_verify),
    verify_rows};

#define T struct checkpoint_job
#define JOB_SECONDS(m, lo, dflt, flag, text)                          \
    {                                                                 \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER, .min = lo, \
        .max = CHECKPOINT_LONGEST_S, .preset = dflt, .flags = flag,   \
        .offset = JSON_AT(T, in.m, double)                            \
    }
static const struct json_field job_rows[] = {
    JSON_ID(T, id, JSON_REQUIRED, "Name, unique in the request"),
    JOB_SECONDS(checkpoint_overhead_s, 0, NAN, JSON_NULLABLE,
                CHECKPOINT_OVERHEAD_DOC
                "; default: the mean of the checkpoint logs of its "
                "application_id"),
    JSON_ID(T, application_id, JSON_NULLABLE,
            "What it runs: tells what checkpoints cost if checkpoint_overhead_s is left "
            "out"),
    JOB_SECONDS(mean_failure_interval_s, CHECKPOINT_SHORTEST_S, NAN, JSON_NULLABLE,
                "Mean time between failures of the resource that runs it, or of one of "
                "its nodes; default: from the resource's history"),
    JOB_SECONDS(restart_s, 0, NAN, JSON_NULLABLE,
                "Time to fetch a checkpoint after a failure; default: from the logs if "
                "the overhead is, else checkpoint_latency_s"),
    JOB_SECONDS(restart_from_scratch_s, 0, 0, 0,
                "The same where there is no checkpoint yet; default 0"),
    JOB_SECONDS(reschedule_delay_s, 0, 0, 0,
                "From a failure until the job is on its nodes again, a time in which "
                "nothing fails; default 0"),
    JOB_SECONDS(work_since_checkpoint_s, 0, NAN, JSON_NULLABLE,
                "Work since the last checkpoint, or the start; default: interval_cur_s. "
                "More than that of the job is done: there is a checkpoint"),
    {.name = "has_checkpoint",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, in.has_checkpoint, double),
     .preset = NAN,
     .flags = JSON_NULLABLE | JSON_MAYBE,
     .doc = "Whether there is a checkpoint that it can go on from; default: if more "
            "than work_since_checkpoint_s is done"},
    JOB_SECONDS(execution_time_s, 0, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Run time of the whole job without failures and checkpoints; default: "
                "from length_mi and the resource's speed"),
    JSON_ID(T, resource_id, JSON_NULLABLE,
            "The resource that runs it: of the snapshot, or with a stored history"),
    JSON_TEXTS(T, resource_ids, resource_count, NODES_MAX, 0,
               "The nodes of a job that runs on several, each a resource: a failure of "
               "any of them ends all of it"),
    JSON_NUMBER(T, nodes, 1, NODES_MAX, NAN, JSON_NULLABLE | JSON_WHOLE,
                "So many nodes, each as mean_failure_interval_s says, or as those of the "
                "pool do in the mean; default 1"),
    {.name = "pool_resource_ids",
     .type = JSON_TYPE_TEXTS,
     .offset = JSON_AT(T, pool_ids, const char *const *),
     .count_offset = JSON_AT(T, pool_count, size_t),
     .max = NODES_MAX,
     .doc = "Resources that its nodes may be any of, for their mean failure rate; "
            "default: all of the snapshot"},
    JSON_CHOICE(T, replacement, replacements, REPLACEMENT_AUTO, 0,
                "Where it goes on after a failure: any: on another node at once; spare: "
                "on one of its spare_nodes, or when the first node is repaired; same: "
                "when the failed node is; auto: spare if there are spare_nodes, else "
                "any; default auto"),
    JSON_NUMBER(T, spare_nodes, 0, NODES_MAX, NAN, JSON_NULLABLE | JSON_WHOLE,
                "Nodes that are kept for it beside its own; default 0"),
    {.name = "mttr_s",
     .doc = "Mean time to repair one of its nodes; default: as they were seen",
     .type = JSON_TYPE_NUMBER,
     .max = CHECKPOINT_LONGEST_S,
     .preset = NAN,
     .flags = JSON_NULLABLE,
     .offset = JSON_AT(T, mttr_s, double)},
    JSON_OBJECT(T, verify, const struct checkpoint_verify *, &verify_json,
                JSON_POINTER | JSON_NULLABLE | JSON_OR_BOOLEAN,
                "Play what is answered with drawn failures, and compare; true: with "
                "20000 trials; default: as the request says"),
    JSON_CHOICE(T, event, events, EVENT_REQUEST, 0,
                "request: its interval has run out; start: it starts now, when is the "
                "first request? alarm: its predictor foresees a failure; default "
                "request"),
    JSON_NUMBER(T, length_mi, 0, JSON_LARGEST, NAN, JSON_NULLABLE | JSON_ABOVE_MIN,
                "Work of the whole job: 1 takes a second at 1 MIPS"),
    JSON_NUMBER(T, completed_mi, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "What of it is done; default 0"),
    JOB_SECONDS(remaining_s, 0, NAN, JSON_NULLABLE,
                "Run time that remains; default: from completed_mi"),
    JOB_SECONDS(execution_time_upper_s, 0, NAN, JSON_NULLABLE,
                "Upper quantile of an uncertain execution_time_s: last_failure uses it"),
    JOB_SECONDS(remaining_upper_s, 0, NAN, JSON_NULLABLE,
                "Upper quantile of an uncertain remaining_s: mean_failure uses it"),
    JOB_SECONDS(failure_age_s, 0, NAN, JSON_NULLABLE,
                "Time since the resource's last failure; default: from its history"),
    JOB_SECONDS(uptime_s, 0, NAN, JSON_NULLABLE,
                "Time since the resource was restored; default: from its history"),
    JOB_SECONDS(initial_interval_s, CHECKPOINT_SHORTEST_S, NAN, JSON_NULLABLE,
                "Interval that was chosen for this job; default: the option"),
    JOB_SECONDS(interval_cur_s, CHECKPOINT_SHORTEST_S, NAN, JSON_NULLABLE,
                "interval_s of the last answer; default: initial_interval_s"),
    {.name = "consecutive_omissions",
     .doc = "The same of the last answer; default 0",
     .type = JSON_TYPE_INTEGER,
     .max = 1e15,
     .offset = JSON_AT(T, in.consecutive_omissions, uint64_t)},
    JSON_NUMBER(T, checkpoint_bytes, 0, JSON_LARGEST, NAN, JSON_NULLABLE,
                "Size of a checkpoint, which goes to the snapshot's home site"),
    JSON_NUMBER(T, checkpoint_latency_s, 0, CHECKPOINT_LONGEST_S, NAN, JSON_NULLABLE,
                "From the end of the overhead until the checkpoint is safe; default: "
                "from the logs if the overhead is, else checkpoint_bytes over the "
                "snapshot's network, else 0"),
    CHECKPOINT_JOB_WORLD_ROWS(T),
    {0},
};
#undef JOB_SECONDS
#undef T
_Static_assert(sizeof(enum checkpoint_event) == sizeof(int), "a choice is an int");
static const struct json_object job_json = {"CheckpointJob",
                                            "A job, and how often its resource fails",
                                            sizeof(struct checkpoint_job), job_rows};

#define T struct checkpoint_intervals_request
static const struct json_field request_rows[] = {
    DECISION_REQUEST_ROWS(T),
    JSON_LIST(T, jobs, job_count, struct checkpoint_job, &job_json, JOBS_MAX,
              JSON_REQUIRED | JSON_UNIQUE_IDS, "Jobs to checkpoint"),
    JSON_NUMBER(T, now_s, -JSON_LARGEST, JSON_LARGEST, NAN, JSON_NULLABLE,
                "The present, in seconds on the scale of the histories (stored ones: "
                "since 1970); default: the snapshot's taken_at, else the clock"),
    JSON_OBJECT(T, snapshot, const struct snapshot *, &snapshot_json, JSON_POINTER,
                "The resources, with their histories as far as the caller knows them"),
    JSON_ID(T, snapshot_id, JSON_NULLABLE, "A stored snapshot instead"),
    JSON_OBJECT(T, verify, const struct checkpoint_verify *, &verify_json,
                JSON_POINTER | JSON_NULLABLE | JSON_OR_BOOLEAN,
                "Of each job that says nothing else: play what is answered with drawn "
                "failures, and compare; true: with 20000 trials; default false"),
    JSON_TEXTS(T, render, render_count, TOOLS_MAX, 0,
               "Tools to write settings for: dmtcp, fti, scr, slurm, veloc"),
    CHECKPOINT_REQUEST_WORLD_ROWS(T),
    {0},
};
#undef T
const struct json_object checkpoint_intervals_request_json = {
    "CheckpointIntervalsRequest", "Jobs to checkpoint",
    sizeof(struct checkpoint_intervals_request), request_rows};
