/* round_answer.c - the answer of a round: its table, and how it is made. */
#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/fault_tolerance/copies_play.h"
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "handlers/fault_tolerance/rounds.h"
#include "handlers/operations/policy_words.h"
#include "service/json_holds.h"
#include "service/metrics.h"
#include "service/service.h"

#include "models/base/plural.h"

#include <string.h>

static const char *const remedy_names[] = {
    [REMEDY_NONE] = "none",
    [REMEDY_CHECKPOINTING] = "checkpointing",
    [REMEDY_REPLICATION] = "replication",
    [REMEDY_BOTH] = "both",
    NULL,
};

#define T struct round_answer_action
static const struct json_field action_rows[] = {
    JSON_TEXT(T, action, JSON_OPEN, "start, cancel, checkpoint_on or checkpoint_off",
              JSON_KNOWN("start", "cancel", "checkpoint_on", "checkpoint_off")),
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_TEXT(T, replica_id, JSON_OPTIONAL, "The replica, if the request named it"),
    JSON_NUMBER(T, replica_index, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "One that this answer starts: its place behind the job's replicas"),
    JSON_TEXT(T, resource_id, 0, "Where the replica is or goes"),
    JSON_TEXTS(T, resource_ids, resource_count, 0, JSON_OPTIONAL,
               "All its resources, resource_id among them, if it runs on several"),
    JSON_TEXT(T, site_id, JSON_OPTIONAL, "Its site"),
    JSON_TEXT(T, start_from, JSON_OPTIONAL | JSON_OPEN, "start: scratch or checkpoint",
              JSON_KNOWN("scratch", "checkpoint")),
    JSON_TEXT(T, reason, JSON_OPTIONAL | JSON_OPEN, "cancel: job_finished or mode_switch",
              JSON_KNOWN("job_finished", "mode_switch")),
    JSON_TEXT(T, when, JSON_OPTIONAL | JSON_OPEN,
              "checkpoint_on, checkpoint_off: now, or replica_running: when the replica "
              "of the action before runs, never if it does not",
              JSON_KNOWN("now", "replica_running")),
    JSON_NUMBER(T, interval_s, 0, 0, 0, JSON_OPTIONAL,
                "checkpoint_on: the interval that the checkpoint policy begins with"),
    JSON_NUMBER(T, next_request_in_s, 0, 0, 0, JSON_OPTIONAL,
                "checkpoint_on: when to ask it first, from the start or from now"),
    {0},
};
#undef T
static const struct json_object action_json = {
    "RoundAction", "What to do", sizeof(struct round_answer_action), action_rows};

#define T struct round_answer_count
static const struct json_field count_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_INTEGER(T, active, 0, JSON_EXACT, 0, 0,
                 "Active replicas after the actions, as far as is believed"),
    JSON_INTEGER(T, target, 0, JSON_EXACT, 0, 0,
                 "Replicas that the policy aims at while CPUs are free"),
    JSON_NUMBER(T, success_probability, 0, 0, 0, JSON_OPTIONAL,
                "target_success: that one of them at least does not fail"),
    JSON_NUMBER(T, needed, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "target_success: replicas that reach the target, if some number does"),
    JSON_NUMBER(T, deadline_success_probability, 0, 0, 0, JSON_OPTIONAL,
                "target_success: that one of them is done by deadline_s, restarts "
                "included; this then has to reach the target"),
    {0},
};
#undef T
static const struct json_object count_json = {
    "RoundCount", "Copies of a job", sizeof(struct round_answer_count), count_rows};

#define T struct round_answer_reason
static const struct json_field reason_rows[] = {
    JSON_TEXT(T, reason, JSON_OPEN,
              "no_resource_up, no_free_slot, replica_on_every_free_resource, "
              "below_free_cpu_limit, too_few_nodes, restart_limit, over_max_cost_ratio "
              "or without_end: no remedy ends in a time that can be expected",
              .choices = round_wait_reason_names),
    JSON_INTEGER(T, count, 0, JSON_EXACT, 0, 0, "Resources that it holds for"),
    {0},
};
#undef T
static const struct json_object reason_json = {
    "RoundReason", "Why a job got no further replica", sizeof(struct round_answer_reason),
    reason_rows};

#define T struct round_answer_unplaced
static const struct json_field unplaced_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_LIST(T, reasons, reason_count, struct round_answer_reason, &reason_json, 0, 0,
              "Why, as the answer leaves the grid"),
    {0},
};
#undef T
static const struct json_object unplaced_json = {
    "RoundUnplaced", "A job with fewer replicas than the policy aims at",
    sizeof(struct round_answer_unplaced), unplaced_rows};

#define T struct round_answer_option
static const struct json_field option_rows[] = {
    JSON_TEXT(T, remedy, JSON_OPEN, "none, checkpointing, replication or both",
              .choices = remedy_names),
    JSON_INTEGER(T, replicas, 0, JSON_EXACT, 0, 0, "Copies"),
    JSON_NUMBER(T, interval_s, 0, 0, 0, JSON_OPTIONAL, "Between checkpoints"),
    JSON_NUMBER(T, expected_time_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "null: without end, or not followed, see warnings: expected_skipped"),
    JSON_NUMBER(T, expected_cost_cpu_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "CPU time of all copies; null: likewise"),
    JSON_NUMBER(T, success_probability, 0, 0, 0, 0, "That it needs no restart"),
    JSON_NUMBER(T, independent_time_s, 0, 0, 0, JSON_OPTIONAL,
                "shared_images: what expected_time_s is at most, without sharing"),
    {0},
};
#undef T
static const struct json_object option_json = {"RoundOption", "A way to survive failures",
                                               sizeof(struct round_answer_option),
                                               option_rows};

#define T struct round_answer_verified
static const struct json_field verified_rows[] = {
    JSON_NUMBER(T, mean_s, 0, 0, 0, JSON_MAY_BE_NULL, "Mean time; null: hardly any ends"),
    JSON_NUMBER(T, ci95_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "Half its interval of 95 %; null: likewise"),
    JSON_INTEGER(T, trial_count, 0, JSON_EXACT, 0, 0, "Trials that were played"),
    JSON_BOOLEAN(T, agrees, 0, 0,
                 "expected_time_s lies within the interval and 0.2 % of it"),
    JSON_BOOLEAN(T, cut, 0, JSON_OPTIONAL, "The time limit ended the trials"),
    {0},
};
#undef T
static const struct json_object verified_json = {
    "RoundVerified", "The copies of a choice, played event by event",
    sizeof(struct round_answer_verified), verified_rows};

#define T struct round_answer_choice
static const struct json_field choice_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_TEXT(T, choice, JSON_MAY_BE_NULL | JSON_OPEN,
              "The remedy; null: none keeps to max_cost_ratio, or ends",
              .choices = remedy_names),
    JSON_NUMBER(T, replicas, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE, "Copies of the choice"),
    JSON_NUMBER(T, interval_s, 0, 0, 0, JSON_OPTIONAL, "Between its checkpoints"),
    JSON_TEXT(T, cheapest, JSON_OPTIONAL, "Without a choice: the remedy of least cost"),
    JSON_TEXT(T, because, 0, "Why"),
    JSON_TEXTS(T, hosts, host_count, 0, JSON_OPTIONAL,
               "Resources of its copies, active ones first; of copies on several nodes "
               "one copy's after the other's"),
    JSON_NUMBER(T, expected_time_s, 0, 0, 0, JSON_OPTIONAL, "Of the choice"),
    JSON_NUMBER(T, lower_bound_s, 0, 0, 0, JSON_OPTIONAL,
                "No hosts that are free make as many copies with this remedy quicker"),
    JSON_NUMBER(T, gap_ratio, 0, 0, 0, JSON_OPTIONAL,
                "expected_time_s / lower_bound_s - 1"),
    JSON_NUMBER(T, success_probability, 0, 0, 0, JSON_OPTIONAL,
                "That some copy needs no restart"),
    JSON_NUMBER(T, deadline_success_probability, 0, 0, 0, JSON_OPTIONAL,
                "That a copy is done by the job's deadline_s, restarts included"),
    JSON_OBJECT(T, verified, const struct round_answer_verified *, &verified_json,
                JSON_POINTER | JSON_OPTIONAL, "verify: what playing the copies says"),
    JSON_LIST(T, options_compared, option_count, struct round_answer_option, &option_json,
              0, 0, "All of them"),
    {0},
};
#undef T
static const struct json_object choice_json = {
    "RoundChoice", "What is best for a job, and by how much",
    sizeof(struct round_answer_choice), choice_rows};

#define T struct round_answer_objective
static const struct json_field objective_rows[] = {
    JSON_NUMBER(T, expected_time_s, 0, 0, 0, 0,
                "Expected times of the chosen remedies, summed over the jobs"),
    JSON_NUMBER(T, lower_bound_s, 0, 0, 0, 0,
                "The sum of their run times without failures"),
    JSON_NUMBER(T, gap_ratio, 0, 0, 0, JSON_MAY_BE_NULL,
                "expected_time_s / lower_bound_s - 1; null: the time is without end, or "
                "there is no bound"),
    {0},
};
#undef T
static const struct json_object objective_json = {
    "RoundObjective", "How good the plan is", sizeof(struct round_answer_objective),
    objective_rows};

#define T struct round_answer
static const struct json_field answer_rows[] = {
    DECISION_ANSWER_ROWS(T, DECISION_BY_OF(fault_tolerance_words)),
    JSON_TEXT(T, mode, JSON_OPTIONAL | JSON_OPEN,
              "combined: replication or checkpointing",
              JSON_KNOWN("replication", "checkpointing")),
    JSON_INTEGER(T, free_cpus, 0, JSON_EXACT, 0, 0,
                 "CPUs that were free before the first start"),
    JSON_NUMBER(T, free_cpu_limit, 0, 0, 0, JSON_OPTIONAL,
                "How many must be free for further copies"),
    JSON_LIST(T, actions, action_count, struct round_answer_action, &action_json, 0, 0,
              "What to do, in this order"),
    JSON_LIST(T, replica_counts, replica_count_count, struct round_answer_count,
              &count_json, 0, 0, "One for each job, in the order of the request"),
    JSON_LIST(T, unplaced, unplaced_count, struct round_answer_unplaced, &unplaced_json,
              0, 0, "Jobs with fewer replicas than the policy aims at, by arrival"),
    JSON_TEXTS(T, lost, lost_count, 0, 0,
               "Jobs whose replicas have all failed and that the policy leaves so"),
    JSON_LIST(T, choices, choice_count, struct round_answer_choice, &choice_json, 0,
              JSON_OPTIONAL,
              "expected_time, joint: the remedies of each job, by arrival"),
    JSON_TEXT(
        T, order, JSON_OPTIONAL,
        "arrival: jobs were decided in that order, each on what those before it left "
        "free"),
    JSON_OBJECT(T, objective, const struct round_answer_objective *, &objective_json,
                JSON_POINTER | JSON_OPTIONAL,
                "expected_time, joint: how good the plan is"),
    DECISION_END_ROWS(T),
    {0},
};
#undef T
const struct json_object round_answer_json = {"RoundAnswer",
                                              "What a grid scheduler should do now",
                                              sizeof(struct round_answer), answer_rows};

/* ---- names ---- */

static const char *const action_names[] = {
    [ROUND_START] = "start",
    [ROUND_CANCEL] = "cancel",
    [ROUND_CHECKPOINT_ON] = "checkpoint_on",
    [ROUND_CHECKPOINT_OFF] = "checkpoint_off",
    [ROUND_MIGRATE] = "migrate",
};
static const char *const cancel_reasons[] = {
    [ROUND_NO_REASON] = NULL,
    [ROUND_JOB_FINISHED] = "job_finished",
    [ROUND_MODE_SWITCH] = "mode_switch",
};
static const char *const mode_names[] = {
    [ROUND_MODE_NONE] = NULL,
    [ROUND_REPLICATION] = "replication",
    [ROUND_CHECKPOINTING] = "checkpointing",
};

static const struct round_job_request *job_at(const struct round_call *call, size_t place)
{
    return &call->body->jobs[call->jobs_at[place]];
}

static const struct resource *resource_at(const struct round_call *call, size_t place)
{
    return &call->snapshot->resources[call->resources_at[place]];
}

/* ---- actions ---- */

/* What the checkpoint policy says at the start of a job on a resource. */
static enum error_code begin_checkpointing(const struct round_call *call,
                                           const struct round_action *action,
                                           struct round_answer_action *out)
{
    const struct round_job *job = &call->in.jobs[action->job];
    const struct round_resource *r = &call->resources[action->resource];
    const struct resource_history *h =
        &call->histories.list[call->resources_at[action->resource]];
    struct checkpoint_in in = checkpoint_in_unknown();
    struct checkpoint_out decided = {0};
    double sharing = (double)(r->job_count ? r->job_count : 1);
    double left_mi = job->length_mi;

    if (action->replica < job->replica_count)
        left_mi = fmax(0, left_mi - job->replicas[action->replica].completed_mi);
    else
        sharing = (double)r->job_count + 1;
    in.checkpoint_overhead_s = job->checkpoint_overhead_s;
    in.restart_s = job->restart_s;
    in.restart_from_scratch_s = job->restart_from_scratch_s;
    in.execution_time_s = r->mips > 0 && job->length_mi > 0
                              ? job->length_mi * sharing / r->mips
                              : CHECKPOINT_SHORTEST_S;
    in.remaining_s = r->mips > 0 ? left_mi * sharing / r->mips : HUGE_VAL;
    if (r->mips <= 0)
        in.execution_time_s = HUGE_VAL;
    in.start = true;
    in.remaining_is_known = true;
    in.reschedule_delay_s = job->reschedule_delay_s;
    if (call->has_histories) {
        in.mean_failure_interval_s = h->mean_s;
        in.weibull_shape = h->weibull_shape;
        in.weibull_scale_s = h->scale_s;
        if (h->known) {
            in.failure_age_s =
                reliability_failure_age_s(&h->reliability, call->histories.now_s);
            in.uptime_s = r->uptime_s;
        }
    }
    TRY(checkpoint_fn_of(call->checkpoint)(&in, call->checkpoint_param, &decided,
                                           call->rq->err));
    out->interval_s = decided.interval_s;
    out->next_request_in_s = decided.next_request_in_s;
    return OK;
}

/* The names of all nodes, where there are several. */
static void name_nodes(const struct round_call *call, const struct round_action *action,
                       struct round_answer_action *out)
{
    const char **names = NEW(call->rq->arena, const char *, action->node_count);

    for (size_t i = 0; i < action->node_count; i++)
        names[i] = resource_at(call, action->nodes[i])->id;
    out->resource_ids = names;
    out->resource_count = action->node_count;
}

static enum error_code fill_actions(struct round_call *call, struct round_answer *answer)
{
    struct round_answer_action *list =
        NEW(call->rq->arena, struct round_answer_action, call->out.action_count);

    for (size_t i = 0; i < call->out.action_count; i++) {
        const struct round_action *action = &call->out.actions[i];
        const struct round_job_request *job = job_at(call, action->job);
        const struct resource *resource = resource_at(call, action->resource);
        bool is_named = action->replica < job->replica_count;

        list[i] = (struct round_answer_action){
            .action = action_names[action->kind],
            .job_id = job->id,
            .replica_id = is_named ? job->replicas[action->replica].id : NULL,
            .replica_index = is_named ? (double)NAN : (double)action->replica,
            .resource_id = resource->id,
            .site_id = resource->site_id,
            .reason = cancel_reasons[action->reason],
            .interval_s = NAN,
            .next_request_in_s = NAN,
        };
        name_nodes(call, action, &list[i]);
        if (action->kind == ROUND_START)
            list[i].start_from = action->from_checkpoint ? "checkpoint" : "scratch";
        if (action->kind == ROUND_CHECKPOINT_ON || action->kind == ROUND_CHECKPOINT_OFF)
            list[i].when = action->when_running ? "replica_running" : "now";
        if (action->kind == ROUND_CHECKPOINT_ON && call->checkpoint)
            TRY(begin_checkpointing(call, action, &list[i]));
    }
    answer->actions = list;
    answer->action_count = call->out.action_count;
    return OK;
}

/* ---- counts, lost jobs ---- */

static size_t listed_active(const struct round_job *job)
{
    size_t count = 0;

    for (size_t i = 0; i < job->replica_count; i++)
        count += replica_is_active(&job->replicas[i]);
    return count;
}

static bool is_finished(const struct round_job *job)
{
    for (size_t i = 0; i < job->replica_count; i++)
        if (job->replicas[i].state == REPLICA_FINISHED)
            return true;
    return false;
}

/* Active replicas of each job, by place, after the actions. */
static void count_active(const struct round_call *call, size_t **active)
{
    *active = NEW(call->rq->arena, size_t, call->in.job_count);
    for (size_t place = 0; place < call->in.job_count; place++)
        (*active)[place] = listed_active(&call->in.jobs[place]);
    for (size_t i = 0; i < call->out.action_count; i++) {
        const struct round_action *action = &call->out.actions[i];

        if (action->kind == ROUND_START)
            (*active)[action->job]++;
        else if (action->kind == ROUND_CANCEL)
            (*active)[action->job]--;
    }
}

static void fill_counts(struct round_call *call, const size_t *active,
                        struct round_answer *answer)
{
    size_t count = call->in.job_count;
    struct round_answer_count *list =
        NEW(call->rq->arena, struct round_answer_count, count);
    const char **lost = NEW(call->rq->arena, const char *, count);

    answer->lost = lost;
    for (size_t place = 0; place < count; place++) {
        const struct round_job *job = &call->in.jobs[place];

        list[call->jobs_at[place]] = (struct round_answer_count){
            .job_id = job_at(call, place)->id,
            .active = active[place],
            .target = call->out.targets[place],
            .success_probability = NAN,
            .needed = NAN,
            .deadline_success_probability = NAN,
        };
        if (!(call->policy->flags & ROUND_DETECTS) && job->started_count > 0 &&
            active[place] == 0 && !is_finished(job))
            lost[answer->lost_count++] = job_at(call, place)->id;
    }
    for (size_t i = 0; i < call->out.success_count; i++) {
        const struct round_success *s = &call->out.successes[i];
        struct round_answer_count *c = &list[call->jobs_at[s->job]];

        if (call->in.jobs[s->job].deadline_s > 0)
            c->deadline_success_probability = s->probability;
        else
            c->success_probability = s->probability;
        if (s->needed_count)
            c->needed = (double)s->needed_count;
    }
    answer->replica_counts = list;
    answer->replica_count_count = count;
}

/* ---- unplaced ---- */

/* Of no resources at all: that none is up. */
static void add_unplaced(struct round_call *call, const char *job_id,
                         const size_t *counts, struct round_answer_unplaced *out)
{
    struct round_answer_reason *reasons =
        NEW(call->rq->arena, struct round_answer_reason, ROUND_WAIT_REASON_COUNT);
    size_t main_reason = 0;

    *out = (struct round_answer_unplaced){.job_id = job_id, .reasons = reasons};
    for (size_t i = 0; i < ROUND_WAIT_REASON_COUNT; i++) {
        if (counts[i] == 0)
            continue;
        reasons[out->reason_count++] =
            (struct round_answer_reason){round_wait_reason_names[i], (uint64_t)counts[i]};
        if (counts[i] > counts[main_reason])
            main_reason = i;
    }
    if (!out->reason_count)
        reasons[out->reason_count++] = (struct round_answer_reason){
            round_wait_reason_names[ROUND_NO_RESOURCE_UP], 0};
    metrics_unplaced(call->rq->service->metrics, round_wait_reason_names[main_reason], 1);
}

static void fill_unplaced(struct round_call *call, const size_t *active,
                          struct round_answer *answer)
{
    const struct round_out *out = &call->out;
    size_t up = 0, count = 0;
    struct round_answer_unplaced *list =
        NEW(call->rq->arena, struct round_answer_unplaced,
            out->wait_count + out->choice_count);

    for (size_t i = 0; i < out->wait_count; i++)
        add_unplaced(call, job_at(call, out->waits[i].job)->id, out->waits[i].count,
                     &list[count++]);
    for (size_t i = 0; i < call->in.resource_count; i++)
        up += call->resources[i].up;
    for (size_t i = 0; i < out->choice_count; i++) {
        const struct round_choice *c = &out->choices[i];
        size_t counts[ROUND_WAIT_REASON_COUNT] = {0};

        if (c->chosen != SIZE_MAX || active[c->job] != 0)
            continue;
        counts[c->cheapest == SIZE_MAX ? ROUND_WITHOUT_END : ROUND_OVER_COST] = up;
        add_unplaced(call, job_at(call, c->job)->id, counts, &list[count++]);
    }
    answer->unplaced = list;
    answer->unplaced_count = count;
}

/* ---- expected_time ---- */

/* Longer than this, some thirty million years, is no end worth a number in a text. */
#define READABLE_S 1e15

static const char *because(const struct round_call *call, const struct round_choice *c)
{
    static const struct remedy_option endless = {.expected_time_s = (double)NAN};
    const struct remedy_option *none = &c->options[0], *o;
    double ratio = round_call_option(call, "max_cost_ratio", (double)NAN);
    const char *limit = isnan(ratio) ? "" : " within max_cost_ratio";
    double saved_s, dearer_s;

    if (c->chosen == SIZE_MAX && c->cheapest == SIZE_MAX)
        return "no remedy ends in a time that can be expected";
    if (c->chosen != SIZE_MAX &&
        !(none->expected_time_s <= READABLE_S && none->expected_cost_cpu_s <= READABLE_S))
        none = &endless;
    if (c->chosen == SIZE_MAX)
        return arena_printf(call->rq->arena,
                            "the cheapest of %s with room for %zu %s costs "
                            "%.6g times the run time, more than max_cost_ratio",
                            counted(c->option_count, "option").text, c->placeable_count,
                            plural(c->placeable_count, "copy", "copies"),
                            c->options[c->cheapest].expected_cost_cpu_s / c->execution_s);
    o = &c->options[c->chosen];
    if (c->chosen == 0 || isnan(none->expected_time_s))
        return arena_printf(
            call->rq->arena,
            "least expected time of %s%s, with room for %zu %s: %.6g s%s",
            counted(c->option_count, "option").text, limit, c->placeable_count,
            plural(c->placeable_count, "copy", "copies"), o->expected_time_s,
            c->chosen == 0 ? "" : "; without a remedy it would not end");
    saved_s = none->expected_time_s - o->expected_time_s;
    dearer_s = o->expected_cost_cpu_s - none->expected_cost_cpu_s;
    return arena_printf(call->rq->arena,
                        "least expected time of %s%s, with room for %zu %s: "
                        "%.6g s, %.6g s less than without a remedy, for %.6g s %s of "
                        "CPU time",
                        counted(c->option_count, "option").text, limit,
                        c->placeable_count, plural(c->placeable_count, "copy", "copies"),
                        o->expected_time_s, saved_s, fabs(dearer_s),
                        dearer_s < 0 ? "less" : "more");
}

/* An expected time this far off what was played is doubtful. */
#define AGREES_RATIO 0.002

static void verify(struct round_call *call, const struct round_choice *c,
                   struct round_answer_choice *out)
{
    const struct round_verify *how = call->body->verify;
    struct arena *a = call->rq->arena;
    struct round_answer_verified *v = NEW(a, struct round_answer_verified, 1);
    struct copy *copies = NEW(a, struct copy, c->host_count);
    double *left = NEW(a, double, c->host_count);
    struct play_in in = {
        .copies = copies,
        .left = left,
        .count = c->host_count,
        .shares_images = !isnan(c->options[c->chosen].independent_s),
        .seed = isnan(how->seed) ? call->body->decision.seed : (uint64_t)how->seed,
        .stream = out->job_id,
        .trial_count = (uint64_t)how->trial_count,
        .precision_ratio = PLAY_PRECISION_RATIO,
        .budget = call->in.budget,
    };
    struct played played;

    for (size_t i = 0; i < c->host_count; i++) {
        copies[i] = c->hosts[i].copy;
        left[i] = c->hosts[i].left_mi;
    }
    copies_play(&in, &played);
    *v = (struct round_answer_verified){
        .mean_s = played.mean_s,
        .ci95_s = played.ci95_s,
        .trial_count = played.trial_count,
        .agrees = fabs(played.mean_s - out->expected_time_s) <=
                  played.ci95_s + AGREES_RATIO * out->expected_time_s,
        .cut = played.is_cut,
    };
    out->verified = v;
}

/* The members of a choice that was made. */
static void fill_chosen(struct round_call *call, const struct round_choice *c,
                        struct round_answer_choice *out)
{
    const struct remedy_option *o = &c->options[c->chosen];
    size_t nodes = c->host_count ? c->hosts[0].node_count : 0, count = 0;
    const char **names = NEW(call->rq->arena, const char *, c->host_count *nodes);

    for (size_t i = 0; i < c->host_count; i++)
        for (size_t n = 0; n < c->hosts[i].node_count; n++)
            names[count++] = resource_at(call, c->hosts[i].nodes[n])->id;
    out->hosts = names;
    out->host_count = count;
    out->expected_time_s = o->expected_time_s;
    out->lower_bound_s = o->lower_bound_s;
    if (o->lower_bound_s > 0)
        out->gap_ratio = o->expected_time_s / o->lower_bound_s - 1;
    out->success_probability = o->success_probability;
    out->deadline_success_probability = o->done_probability;
    if (call->body->verify)
        verify(call, c, out);
}

static void fill_choice(struct round_call *call, const struct round_choice *c,
                        struct round_answer_choice *out)
{
    struct round_answer_option *options =
        NEW(call->rq->arena, struct round_answer_option, c->option_count);

    for (size_t i = 0; i < c->option_count; i++)
        options[i] = (struct round_answer_option){
            .remedy = remedy_names[c->options[i].remedy],
            .replicas = c->options[i].replicas,
            .interval_s = c->options[i].interval_s,
            .expected_time_s = c->options[i].expected_time_s,
            .expected_cost_cpu_s = c->options[i].expected_cost_cpu_s,
            .success_probability = c->options[i].success_probability,
            .independent_time_s = c->options[i].independent_s,
        };
    *out = (struct round_answer_choice){
        .job_id = job_at(call, c->job)->id,
        .replicas = NAN,
        .interval_s = NAN,
        .expected_time_s = NAN,
        .lower_bound_s = NAN,
        .gap_ratio = NAN,
        .success_probability = NAN,
        .deadline_success_probability = NAN,
        .because = because(call, c),
        .options_compared = options,
        .option_count = c->option_count,
    };
    if (c->chosen != SIZE_MAX) {
        out->choice = options[c->chosen].remedy;
        out->replicas = (double)options[c->chosen].replicas;
        out->interval_s = options[c->chosen].interval_s;
        fill_chosen(call, c, out);
    } else if (c->cheapest != SIZE_MAX) {
        out->cheapest = options[c->cheapest].remedy;
    }
}

static void fill_choices(struct round_call *call, struct round_answer *answer)
{
    size_t count = call->out.choice_count;
    struct round_answer_choice *list =
        NEW(call->rq->arena, struct round_answer_choice, count);
    struct round_answer_objective *objective =
        NEW(call->rq->arena, struct round_answer_objective, 1);

    for (size_t i = 0; i < count; i++) {
        const struct round_choice *c = &call->out.choices[i];

        fill_choice(call, c, &list[i]);
        if (c->chosen == SIZE_MAX)
            continue;
        objective->expected_time_s += c->options[c->chosen].expected_time_s;
        objective->lower_bound_s += c->lower_bound_s;
    }
    answer->choices = list;
    answer->choice_count = count;
    if (!call->out.choices)
        return;
    answer->order = "arrival";
    objective->gap_ratio = objective->lower_bound_s > 0
                               ? objective->expected_time_s / objective->lower_bound_s - 1
                               : (double)NAN;
    call->rq->gap_ratio = objective->gap_ratio;
    answer->objective = objective;
}

/* ---- warnings ---- */

static void warn(struct round_call *call, const char *text)
{
    call->warnings[call->warning_count++] = text;
}

/* Of each start: whether its site holds another active replica of the job. */
static void warn_shared_sites(struct round_call *call)
{
    struct arena *a = call->rq->arena;
    size_t *last = NEW(a, size_t, call->in.job_count); /* 1 + its latest start */
    size_t *earlier = NEW(a, size_t, call->out.action_count);
    size_t count = 0, first = 0;

    for (size_t i = 0; i < call->out.action_count; i++) {
        const struct round_action *action = &call->out.actions[i];
        const struct round_job *job = &call->in.jobs[action->job];
        size_t site = call->resources[action->resource].site;
        bool is_shared = false;

        if (action->kind != ROUND_START)
            continue;
        for (size_t r = 0; r < job->replica_count && !is_shared; r++)
            is_shared = replica_is_active(&job->replicas[r]) &&
                        call->resources[job->replicas[r].resource].site == site;
        for (size_t s = last[action->job]; s && !is_shared; s = earlier[s - 1])
            is_shared = call->resources[call->out.actions[s - 1].resource].site == site;
        earlier[i] = last[action->job];
        last[action->job] = i + 1;
        if (is_shared && count++ == 0)
            first = action->job;
    }
    if (count == 0)
        return;
    warn(call,
         arena_printf(a,
                      "shared_site: %s, first of job '%.256s', "
                      "%s on a site that holds another one of %s "
                      "job; what fails there together takes both",
                      counted(count, "replica").text, job_at(call, first)->id,
                      plural(count, "starts", "start"), plural(count, "its", "their")));
}

static void warn_all(struct round_call *call)
{
    size_t unknown = 0, first = 0;

    warn_shared_sites(call);
    round_call_warn_choices(call);
    round_call_warn_unused(call);
    round_call_warn_histories(call);
    if (!call->has_histories)
        return;
    if (call->histories.unavailable)
        warn(call, "history_unavailable: the stored failures cannot be read now; "
                   "resources without a history in the request count as never seen "
                   "to fail");
    for (size_t i = call->in.resource_count; i-- > 0;) {
        if (!call->resources[i].up || call->resources[i].mean_failure_interval_s > 0)
            continue;
        unknown++;
        first = i;
    }
    if (unknown == 0)
        return;
    warn(call,
         arena_printf(call->rq->arena,
                      "history_missing: of %s, first '%.256s', "
                      "nothing is known of failures; %s as failing "
                      "at once",
                      counted(unknown, "resource").text, resource_at(call, first)->id,
                      plural(unknown, "it counts", "they count")));
}

/* Choices whose expected time is not what playing them says. */
static void warn_differs(struct round_call *call, const struct round_answer *answer)
{
    size_t count = 0, first = 0;

    for (size_t i = answer->choice_count; i-- > 0;) {
        const struct round_answer_verified *v = answer->choices[i].verified;

        if (!v || v->agrees || v->cut)
            continue;
        count++;
        first = i;
    }
    if (count == 0)
        return;
    if (call->out.status == DECISION_OPTIMAL)
        call->out.status = DECISION_FEASIBLE;
    warn(call, arena_printf(call->rq->arena,
                            "check_differs: %s, first of job '%.256s', %s an "
                            "expected time that playing %s copies does not confirm",
                            counted(count, "choice").text, answer->choices[first].job_id,
                            plural(count, "has", "have"), plural(count, "its", "their")));
}

enum error_code round_call_answer(struct round_call *call, struct round_answer *answer)
{
    size_t *active;

    answer->mode = mode_names[call->out.mode];
    answer->free_cpus = call->out.free_cpus;
    answer->free_cpu_limit =
        call->out.free_cpu_limit ? (double)call->out.free_cpu_limit : (double)NAN;
    count_active(call, &active);
    TRY(fill_actions(call, answer));
    fill_counts(call, active, answer);
    fill_unplaced(call, active, answer);
    fill_choices(call, answer);
    warn_differs(call, answer);
    warn_all(call);
    answer->decision.warnings = call->warnings;
    answer->decision.warning_count = call->warning_count;
    return OK;
}

enum error_code round_answer_request(struct request *rq, const struct round_request *body,
                                     const struct policy *table, const char *preset,
                                     struct round_answer *answer)
{
    struct round_call call;

    TRY(round_call_begin(&call, rq, body, table, preset, &answer->decision));
    TRY(round_fn_of(call.policy)(&call.in, call.param, &call.out, rq->arena, rq->err));
    TRY(round_call_answer(&call, answer));
    decision_end(rq, call.policy->name, call.out.status, &answer->decision);
    return OK;
}
