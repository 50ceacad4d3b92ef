/* checkpoint_answer.c - what is answered of checkpoint intervals. */
#include "handlers/checkpoint/checkpoint_decision.h"

#include "handlers/checkpoint/routes.h"
#include "handlers/operations/policy_words.h"
#include "service/json_holds.h"

#define T struct checkpoint_basis_laws
static const struct json_field basis_laws_rows[] = {
    JSON_NUMBER(T, exponential, 0, 0, 0, JSON_WHOLE,
                "Nodes that fail at a constant rate"),
    JSON_NUMBER(T, weibull, 0, 0, 0, JSON_WHOLE, "Nodes with a Weibull law"),
    {0},
};
#undef T
static const struct json_object basis_laws_json = {
    "CheckpointLaws", "Nodes by the law that was taken for them",
    sizeof(struct checkpoint_basis_laws), basis_laws_rows};

#define T struct checkpoint_verified
static const struct json_field verified_rows[] = {
    JSON_NUMBER(T, mean_s, 0, 0, 0, JSON_OPTIONAL, "Mean time of the trials"),
    JSON_NUMBER(T, ci95_s, 0, 0, 0, JSON_OPTIONAL,
                "The mean lies within this of the true one at 95 %"),
    JSON_INTEGER(T, trial_count, 0, JSON_EXACT, 0, 0, "Trials that were played"),
    JSON_BOOLEAN(T, agrees, 0, 0,
                 "expected_completion_s is within ci95_s and 0.2 % of mean_s"),
    JSON_BOOLEAN(T, cut, 0, 0, "The time limit came before the last trial"),
    JSON_NUMBER(T, quantile_s, 0, 0, 0, JSON_OPTIONAL,
                "The share options.slurm_time_quantile of the trials ended within this"),
    {0},
};
#undef T
static const struct json_object verified_json = {
    "CheckpointVerified", "What drawn failures made of an answer",
    sizeof(struct checkpoint_verified), verified_rows};

#define T struct checkpoint_basis
static const struct json_field basis_rows[] = {
    JSON_NUMBER(T, failures, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "Failures of its resource seen"),
    JSON_NUMBER(T, observed_s, 0, 0, 0, JSON_OPTIONAL, "Time in which they were seen"),
    JSON_NUMBER(T, checkpoint_logs, 0, 0, 0, JSON_OPTIONAL,
                "Checkpoint logs of its application that the next three are means of"),
    JSON_NUMBER(T, checkpoint_overhead_s, 0, 0, 0, JSON_OPTIONAL,
                "Overhead of a checkpoint, as it was used"),
    JSON_NUMBER(T, checkpoint_latency_s, 0, 0, 0, JSON_OPTIONAL,
                "From then until a checkpoint was safe, if it is logged"),
    JSON_NUMBER(T, restart_s, 0, 0, 0, JSON_OPTIONAL,
                "Time of a restart, if it is logged"),
    JSON_NUMBER(T, failure_count, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "Stored failures that the mean failure interval comes from: without one "
                "that began the history"),
    JSON_NUMBER(T, at_risk_s, 0, 0, 0, JSON_OPTIONAL,
                "Time in which they were seen, less that in which it was down"),
    JSON_NUMBER(T, nodes, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "Nodes that the figures are sums over"),
    JSON_WORD(T, prior_scope, rate_prior_scopes + RATE_PRIOR_NONE + 1, JSON_OPTIONAL,
              "Other hosts that tell of it: site or all; left out: none"),
    JSON_NUMBER(T, prior_shape, 0, 0, 0, JSON_OPTIONAL,
                "Shape of the Gamma distribution of their rates"),
    JSON_NUMBER(T, prior_rate_s, 0, 0, 0, JSON_OPTIONAL, "Its rate"),
    JSON_OBJECT(T, laws, const struct checkpoint_basis_laws *, &basis_laws_json,
                JSON_POINTER | JSON_OPTIONAL,
                "How many nodes fail by which law; algorithm weibull"),
    JSON_NUMBER(T, restart_from_scratch_s, 0, 0, 0, JSON_OPTIONAL,
                "Time of a restart where there is no checkpoint yet, as all figures have "
                "it: restart_s if has_checkpoint. If execution_time_s and how often it "
                "fails are known"),
    {.name = "has_checkpoint",
     .doc =
         "Whether there is a checkpoint that the job can go on from, as it was said or "
         "follows from work_since_checkpoint_s; likewise",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, has_checkpoint, double),
     .preset = NAN,
     .flags = JSON_MAYBE | JSON_OPTIONAL},
    {0},
};
#undef T
static const struct json_object basis_json = {
    "CheckpointBasis", "The history, the logs and the restarts that a decision rests on",
    sizeof(struct checkpoint_basis), basis_rows};

#define T struct checkpoint_segments
static const struct json_field segments_rows[] = {
    JSON_NUMBER(T, count, 0, 0, 0, JSON_WHOLE,
                "Number of segments, one more than checkpoints"),
    JSON_NUMBER(T, first_s, 0, 0, 0, 0, "Work in the first"),
    JSON_NUMBER(T, middle_s, 0, 0, 0, JSON_OPTIONAL,
                "Work in each in between; left out: there is none"),
    JSON_NUMBER(T, last_s, 0, 0, 0, JSON_OPTIONAL,
                "Work in the last, which saves its checkpoint; left out: there is one "
                "segment"),
    {0},
};
#undef T
static const struct json_object segments_json = {
    "CheckpointSegments", "How the work of a job is cut",
    sizeof(struct checkpoint_segments), segments_rows};

#define T struct checkpoint_interval
#define OUT_NUMBER(m, flag, text)                          \
    {                                                      \
        .name = #m, .doc = text, .type = JSON_TYPE_NUMBER, \
        .offset = JSON_AT(T, out.m, double), .flags = flag \
    }
#define OUT_CHOICE(m, ctype, names, text)                                    \
    {                                                                        \
        .name = #m, .doc = text, .type = JSON_TYPE_CHOICE, .choices = names, \
        .offset = JSON_AT(T, out.m, ctype)                                   \
    }
static const struct json_field interval_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    OUT_NUMBER(interval_s, JSON_MAY_BE_NULL,
               "Work from the end of a checkpoint, or the start, to the next request; "
               "null: never"),
    {.name = "at_minimum",
     .doc = "The interval was raised to the shortest that is allowed",
     .type = JSON_TYPE_BOOLEAN,
     .offset = JSON_AT(T, out.at_minimum, bool)},
    OUT_CHOICE(action, enum checkpoint_action, checkpoint_action_names,
               "What to do now; none: the job starts, or never checkpoints"),
    OUT_CHOICE(reason, enum checkpoint_reason, checkpoint_reason_names, "Why"),
    OUT_NUMBER(next_request_in_s, JSON_MAY_BE_NULL,
               "Time to the next request, from the end of the checkpoint if it is taken, "
               "else from now; null: none"),
    {.name = "consecutive_omissions",
     .doc = "Requests omitted since the last checkpoint; goes into the next request",
     .type = JSON_TYPE_INTEGER,
     .max = JSON_EXACT,
     .offset = JSON_AT(T, out.consecutive_omissions, uint64_t)},
    OUT_NUMBER(expected_time_ratio, JSON_MAY_BE_NULL,
               "Expected time per second of work of a job without an end, failures "
               "included; null: without end, or failures not known"),
    OUT_NUMBER(waste_ratio, JSON_MAY_BE_NULL,
               "Share of expected_completion_s that is no work, if that is known, else "
               "of that time; null: not known"),
    OUT_NUMBER(gap_ratio, JSON_MAY_BE_NULL,
               "What interval_s costs over the least that any checkpoints give, less 1: "
               "by gap_basis; null: not known"),
    JSON_TEXT(
        T, gap_basis, JSON_OPTIONAL | JSON_OPEN,
        "finite: expected_completion_s over lower_bound_s; endless: "
        "expected_time_ratio over its least, for a job whose end is not known; left "
        "out: no gap_ratio",
        JSON_KNOWN("finite", "endless")),
    OUT_NUMBER(checkpoint_count, JSON_OPTIONAL | JSON_WHOLE,
               "Checkpoints on a run without failures, if execution_time_s is known"),
    OUT_NUMBER(expected_completion_s, JSON_OPTIONAL,
               "Expected time from start to end with a checkpoint after each interval_s "
               "of work, or by segments, if execution_time_s is known"),
    OUT_NUMBER(best_completion_s, JSON_OPTIONAL,
               "The least that any checkpoints give under a constant failure rate, "
               "likewise; not where a law of its nodes decides"),
    OUT_NUMBER(best_checkpoint_count, JSON_OPTIONAL | JSON_WHOLE,
               "With so many checkpoints"),
    {.name = "lower_bound_s",
     .doc = "No checkpoints end sooner in the mean, of those that are not closer to each "
            "other than the algorithm may have them (options.min_interval_s, at_floor)",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, out.lower_bound_s, double),
     .flags = JSON_OPTIONAL},
    JSON_TEXT(T, bound_basis, JSON_OPTIONAL | JSON_OPEN,
              "closed_form: the optimum of a constant failure rate; dp: a dynamic "
              "programme by the law of its node; trivial: the work alone",
              JSON_KNOWN("closed_form", "dp", "trivial")),
    JSON_OBJECT(T, segments, const struct checkpoint_segments *, &segments_json,
                JSON_POINTER | JSON_OPTIONAL,
                "Work between the checkpoints of the whole job; algorithm finite"),
    JSON_NUMBER(T, execution_time_s, 0, 0, 0, JSON_OPTIONAL,
                "Run time of the whole job, as it was used"),
    JSON_NUMBER(T, remaining_s, 0, 0, 0, JSON_OPTIONAL, "Run time that remains"),
    JSON_NUMBER(T, failure_age_s, 0, 0, 0, JSON_OPTIONAL,
                "Time since the resource's last failure, or since it is observed"),
    JSON_NUMBER(T, mean_failure_interval_s, 0, 0, 0, JSON_OPTIONAL,
                "Mean time between failures, as it was used"),
    {.name = "mean_failure_interval_low_s",
     .doc = "In the range from this it lies at 95 %; with a stored history",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, low_s, double),
     .flags = JSON_OPTIONAL},
    {.name = "mean_failure_interval_high_s",
     .doc = "... to this",
     .type = JSON_TYPE_NUMBER,
     .offset = JSON_AT(T, high_s, double),
     .flags = JSON_OPTIONAL},
    JSON_NUMBER(T, effective_delay_s, 0, 0, 0, JSON_OPTIONAL,
                "reschedule_delay_s with the mean wait for a node; if nodes are replaced "
                "by spares or by themselves"),
    JSON_NUMBER(T, wait_for_spare_probability, 0, 0, 0, JSON_OPTIONAL,
                "Share of the failures that find no spare node; likewise"),
    JSON_OBJECT(T, verified, const struct checkpoint_verified *, &verified_json,
                JSON_POINTER | JSON_OPTIONAL, "What verify gave"),
    JSON_OBJECT(T, basis, const struct checkpoint_basis *, &basis_json,
                JSON_POINTER | JSON_OPTIONAL,
                "The history of its resource, the logs of its application, and what a "
                "restart was taken to cost"),
    JSON_OBJECT(T, rendered, const struct checkpoint_rendered *,
                &checkpoint_rendered_json, JSON_POINTER | JSON_OPTIONAL,
                "Settings of the tools in render"),
    CHECKPOINT_INTERVAL_WORLD_ROWS(T),
    {0},
};
#undef OUT_CHOICE
#undef OUT_NUMBER
#undef T
_Static_assert(sizeof(enum checkpoint_action) == sizeof(int), "a choice is an int");
_Static_assert(sizeof(enum checkpoint_reason) == sizeof(int), "a choice is an int");
static const struct json_object interval_json = {
    "CheckpointInterval", "What to do now, and how long a job runs between checkpoints",
    sizeof(struct checkpoint_interval), interval_rows};

#define T struct checkpoint_intervals_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(checkpoint_words)),
    JSON_LIST(T, intervals, interval_count, struct checkpoint_interval, &interval_json, 0,
              0, "One for each job, in the order of the request"),
    CHECKPOINT_ANSWER_WORLD_ROWS(T),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object checkpoint_intervals_answer_json = {
    "CheckpointIntervalsAnswer", "Checkpoint decisions and what they mean",
    sizeof(struct checkpoint_intervals_answer), answer_rows};

/* What the figures of a decision rest on, and the plan behind it. */
void checkpoint_add_segments(struct checkpoint_work *w, struct checkpoint_interval *out)
{
    static const char *const bounds[] = {NULL, "closed_form", "dp", "trivial"};
    const struct finite_plan *plan = &out->out.plan;
    struct checkpoint_segments *segments;

    if (!isnan(out->out.gap_ratio))
        out->gap_basis = out->out.gap_is_finite ? "finite" : "endless";
    out->bound_basis = bounds[out->out.bound];
    if (out->out.bound == CHECKPOINT_BOUND_NONE)
        out->out.lower_bound_s = (double)NAN;
    if (!(plan->count > 0))
        return;
    segments = NEW(w->rq->arena, struct checkpoint_segments, 1);
    *segments = (struct checkpoint_segments){plan->count, plan->first_s, plan->middle_s,
                                             plan->last_s};
    out->segments = segments;
    w->is_unproved = w->is_unproved || !plan->is_proved;
}
