/* plan_answer.c - how plans look in an answer. */
#include "handlers/operations/policy_words.h"
#include "handlers/rescheduling/plan_parts.h"
#include "models/base/plural.h"
#include "models/performance/log_interval.h"

#define T struct plan_answer_interval
static const struct json_field interval_rows[] = {
    JSON_INTEGER(T, first_phase, 0, JSON_EXACT, 0, 0, "First phase, from 1"),
    JSON_INTEGER(T, last_phase, 0, JSON_EXACT, 0, 0, "Last phase"),
    JSON_ID(T, site_id, 0, "Where they run"),
    JSON_TEXTS(T, resource_ids, resource_count, 0, 0, "On which machines"),
    JSON_INTEGER(T, processors, 0, JSON_EXACT, 0, 0, "Number of machines"),
    JSON_NUMBER(T, predicted_s, 0, 0, 0, 0,
                "Time of its phases, with the wait in a batch queue"),
    JSON_CHOICE(T, action, plan_action_names, 0, 0,
                "start; keep: the machines of the interval before; intra_site: move to "
                "other machines of the site; inter_site: move to another site"),
    JSON_NUMBER(T, reschedule_cost_s, 0, 0, 0, 0, "Cost of the move to it"),
    JSON_WORD(
        T, reschedule_cost_basis, plan_cost_names, JSON_OPTIONAL,
        "Of a move: fixed (given), modelled (worked out from the checkpoint), learnt "
        "(mean of reported moves), default"),
    JSON_NUMBER(T, reschedule_cost_samples, 0, 0, 0, JSON_OPTIONAL | JSON_WHOLE,
                "learnt: how many moves were reported"),
    JSON_BOOLEAN(T, valid, 0, 0, "It lasts at least min_interval_s"),
    JSON_NUMBER(
        T, run_time_low_s, 0, 0, 0, JSON_OPTIONAL,
        "Of predicted_s, where all of its phases have stored models: lower end of "
        "the interval of level 0.9, of the phase that is known worst"),
    JSON_NUMBER(T, run_time_high_s, 0, 0, 0, JSON_OPTIONAL, "Upper end"),
    JSON_WORD(T, interval_basis, log_group_names, JSON_OPTIONAL,
              "What the interval of the farthest phase rests on"),
    JSON_NUMBER(T, extrapolation_ratio, 0, 0, 0, JSON_OPTIONAL,
                "How far the farthest phase lies outside what its model has seen; 1: "
                "inside"),
    JSON_NUMBER(T, model_error_ratio, 0, 0, 0, JSON_OPTIONAL,
                "The largest of the usual errors of these models there"),
    {0},
};
#undef T
const struct json_object plan_interval_json = {
    "PlanInterval", "Phases that run on the same machines",
    sizeof(struct plan_answer_interval), interval_rows};

#define T struct plan_answer_model
static const struct json_field model_rows[] = {
    JSON_INTEGER(T, phase, 0, JSON_EXACT, 0, 0, "The phase, from 1"),
    JSON_TEXT(T, site_id, 0, "Where it runs"),
    JSON_TEXT(T, model_id, 0, "The stored model of its time there"),
    JSON_NUMBER(T, model_version, 0, 0, 0, JSON_WHOLE, "Its version"),
    JSON_RATIO(T, model_error_ratio, model_error_pct, 0, 0, JSON_OPTIONAL,
               "Its mean error on runs that it had not seen"),
    {0},
};
#undef T
const struct json_object plan_model_json = {"PlanModel", "A stored model behind a plan",
                                            sizeof(struct plan_answer_model), model_rows};

enum { SITE_UNUSABLE };
static const char *const reason_names[] = {"site_unusable", NULL};

#define T struct plan_answer_reason
static const struct json_field reason_rows[] = {
    JSON_WORD(T, reason, reason_names, 0, "site_unusable"),
    JSON_TEXT(T, site_id, JSON_OPTIONAL, "The site"),
    JSON_TEXT(T, detail, 0, "In words"),
    {0},
};
#undef T
static const struct json_object reason_json = {"PlanReason", "Why a site is not used",
                                               sizeof(struct plan_answer_reason),
                                               reason_rows};

#define T struct plan_answer_unplaced
static const struct json_field unplaced_rows[] = {
    JSON_TEXT(T, job_id, 0, "The job"),
    JSON_LIST(T, reasons, reason_count, struct plan_answer_reason, &reason_json, 0, 0,
              "Why, site by site"),
    {0},
};
#undef T
const struct json_object plan_unplaced_json = {"PlanUnplaced", "A job without a plan",
                                               sizeof(struct plan_answer_unplaced),
                                               unplaced_rows};

#define T struct plan_best_list
static const struct json_field best_list_rows[] = {
    JSON_WORD_OF(T, algorithm, plan_words, 0, "The best of the planners that ask little"),
    JSON_NUMBER(T, value, 0, 0, 0, 0, "Its total_predicted_s"),
    {0},
};
#undef T
const struct json_object plan_best_list_json = {
    "PlanBestList", "What a plan is compared with", sizeof(struct plan_best_list),
    best_list_rows};

#define T struct plan_answer_objective
static const struct json_field objective_rows[] = {
    JSON_NUMBER(T, makespan_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "total_predicted_s; null: no plan"),
    JSON_NUMBER(T, lower_bound_s, 0, 0, 0, JSON_MAY_BE_NULL,
                "No plan takes less under these loads; null: not known"),
    JSON_NUMBER(T, gap_ratio, 0, 0, 0, JSON_MAY_BE_NULL,
                "makespan_s / lower_bound_s - 1; null: no plan, or no bound"),
    {0},
};
#undef T
const struct json_object plan_objective_json = {"PlanObjective", "How good the plan is",
                                                sizeof(struct plan_answer_objective),
                                                objective_rows};

static double finite_or_null(double number)
{
    return number < HUGE_VAL ? number : (double)NAN;
}

/* Where the cost of the move from the site `from` to the interval comes from. */
static void fill_basis(const struct plan_call *call, size_t from,
                       const struct plan_interval *interval,
                       struct plan_answer_interval *out)
{
    const struct plan_cost_basis *basis;

    if (from == SIZE_MAX ||
        (interval->action != PLAN_INTRA && interval->action != PLAN_INTER))
        return;
    basis = &call->basis[from * call->in.site_count + interval->place.site];
    out->reschedule_cost_basis = basis->name;
    if (basis->event_count)
        out->reschedule_cost_samples = (double)basis->event_count;
}

/* What the stored model of a phase says of a time of 1 s. */
static void ask_interval(const struct plan_call *call, const struct stored_model *m,
                         const struct plan_interval *interval,
                         struct stored_interval *found)
{
    double inputs[STORED_INPUTS] = {call->job->problem_size, (double)NAN, (double)NAN,
                                    (double)NAN};
    size_t count;

    plan_machines_members(call->at[interval->place.site].machines,
                          interval->place.schedule, &count);
    inputs[1] = (double)count;
    stored_model_interval(m, 1, inputs, found);
}

/* How far the models of all its phases can be trusted. */
static void fill_interval(const struct plan_call *call,
                          const struct plan_interval *interval,
                          struct plan_answer_interval *out)
{
    double low = 1, high = 1, error_ratio = 0, farthest = 0;
    const char *basis = NULL;

    out->run_time_low_s = out->run_time_high_s = (double)NAN;
    out->extrapolation_ratio = out->model_error_ratio = (double)NAN;
    for (size_t k = interval->first; k <= interval->last; k++) {
        const struct stored_model *m = call->at[interval->place.site].stored[k - 1];
        struct stored_interval found;

        if (!m)
            return;
        ask_interval(call, m, interval, &found);
        if (!found.basis || isnan(found.low_s))
            return;
        low = fmin(low, found.low_s);
        high = fmax(high, found.high_s);
        error_ratio = fmax(error_ratio, found.error_ratio);
        if (found.extrapolation_ratio > farthest) {
            farthest = found.extrapolation_ratio;
            basis = found.basis;
        }
    }
    out->run_time_low_s = low * interval->time_s;
    out->run_time_high_s = high * interval->time_s;
    out->extrapolation_ratio = farthest;
    out->model_error_ratio = error_ratio;
    out->interval_basis = basis;
}

void plan_call_interval(struct plan_call *call, size_t from,
                        const struct plan_interval *interval,
                        struct plan_answer_interval *out)
{
    const struct plan_call_site *at = &call->at[interval->place.site];
    const struct site *site = &at->given->site;
    size_t count;
    const size_t *members =
        plan_machines_members(at->machines, interval->place.schedule, &count);
    const char **ids = NEW(call->rq->arena, const char *, count);

    for (size_t i = 0; i < count; i++)
        ids[i] = site->resources[at->usable.resource[members[i]]].id;
    *out = (struct plan_answer_interval){
        .first_phase = interval->first,
        .last_phase = interval->last,
        .site_id = site->id,
        .resource_ids = ids,
        .resource_count = count,
        .processors = count,
        .predicted_s = interval->time_s,
        .action = interval->action,
        .reschedule_cost_s = interval->cost_s,
        .reschedule_cost_samples = NAN,
        .valid = interval->valid,
    };
    fill_basis(call, from, interval, out);
    fill_interval(call, interval, out);
}

#define FAR_RATIO 2.0 /* beyond, the caller is warned */

/* How far the stored model of a phase is asked outside what it has seen. */
static double distance_of(const struct plan_call *call, const struct stored_model *m,
                          const struct plan_interval *interval)
{
    struct stored_interval found;

    ask_interval(call, m, interval, &found);
    return found.extrapolation_ratio > 1 ? found.extrapolation_ratio : 1;
}

/* Once, however many phases it concerns. */
static enum error_code warn_far(struct plan_call *call, const struct plan_out *out)
{
    const char *model_id = NULL;
    size_t far = 0;

    call->extrapolation_ratio = 1;
    for (size_t i = 0; i < out->interval_count; i++)
        for (size_t k = out->intervals[i].first; k <= out->intervals[i].last; k++) {
            const struct stored_model *m =
                call->at[out->intervals[i].place.site].stored[k - 1];
            double d;

            if (!m)
                continue;
            call->is_approximate = call->is_approximate || m->is_approximate;
            d = distance_of(call, m, &out->intervals[i]);
            far += d > FAR_RATIO;
            if (d <= call->extrapolation_ratio)
                continue;
            call->extrapolation_ratio = d;
            model_id = m->model_id;
        }
    return far > 0 ? plan_call_warn(
                         call,
                         "far_extrapolation: %zu of %s %s more than twice "
                         "outside what their models have seen, model "
                         "'%.100s' %.3g times",
                         far,
                         counted(call->in.phase_count - call->in.first_phase + 1, "phase")
                             .text,
                         plural(far, "lies", "lie"), model_id, call->extrapolation_ratio)
                   : OK;
}

/* The stored models of the phases where they run. */
static void fill_models(struct plan_call *call, const struct plan_out *out,
                        struct plan_answer_part *part)
{
    struct plan_answer_model *list =
        NEW(call->rq->arena, struct plan_answer_model, call->in.phase_count);

    for (size_t i = 0; i < out->interval_count; i++)
        for (size_t k = out->intervals[i].first; k <= out->intervals[i].last; k++) {
            const struct stored_model *m =
                call->at[out->intervals[i].place.site].stored[k - 1];

            if (m)
                list[part->model_count++] = (struct plan_answer_model){
                    k, m->site_id, m->model_id, m->version, m->error_pct};
        }
    part->models = part->model_count ? list : NULL;
}

static void fill_plan(struct plan_call *call, const struct plan_out *out,
                      struct plan_answer_part *part)
{
    struct arena *a = call->rq->arena;
    struct plan_answer_interval *plan =
        NEW(a, struct plan_answer_interval, out->interval_count);
    double *markers = NEW(a, double, out->interval_count);

    for (size_t i = 0; i < out->interval_count; i++) {
        size_t from = i ? out->intervals[i - 1].place.site : call->in.current.site;

        plan_call_interval(call, from, &out->intervals[i], &plan[i]);
        markers[i] = (double)out->intervals[i].last;
    }
    part->plan = plan;
    part->interval_markers = markers;
    part->plan_count = part->marker_count = out->interval_count;
}

/* Why no site can run it. */
static void fill_unplaced(struct plan_call *call, const struct plan_out *out,
                          struct plan_answer_part *part)
{
    size_t n = call->in.site_count;
    struct plan_answer_unplaced *unplaced =
        NEW(call->rq->arena, struct plan_answer_unplaced, 1);
    struct plan_answer_reason *reasons =
        NEW(call->rq->arena, struct plan_answer_reason, n);

    for (size_t s = 0; s < n; s++)
        reasons[s] = (struct plan_answer_reason){reason_names[SITE_UNUSABLE],
                                                 call->sites[s].id, out->site_why[s]};
    *unplaced = (struct plan_answer_unplaced){call->job->id, reasons, n};
    part->unplaced = unplaced;
    part->unplaced_count = 1;
}

enum error_code plan_call_answer(struct plan_call *call, const struct plan_out *out,
                                 struct plan_answer_part *part,
                                 struct decision_answer *decision)
{
    *part = (struct plan_answer_part){
        .stop_phase = out->stop_phase ? (double)out->stop_phase : (double)NAN,
        .total_predicted_s = finite_or_null(out->total_s),
        .total_reschedule_cost_s = out->interval_count ? out->cost_s : (double)NAN,
        .single_schedule_s = finite_or_null(out->single_s),
        .scheduler_calls = out->calls,
        .stopped_early = out->status == DECISION_CUT,
        .because = out->because,
        .bound_effort = out->bound_effort,
        .bounds = out->bounds,
        .bound_count = out->bound_count,
        .best_list = out->best_list,
        .improved_at_steps = out->improved_at_steps,
        .improvement_count = out->improvement_count,
        .steps = out->calls,
        .objective = {finite_or_null(out->total_s),
                      out->lower_bound_s > 0 ? out->lower_bound_s : (double)NAN,
                      out->gap_ratio},
    };
    fill_plan(call, out, part);
    fill_models(call, out, part);
    TRY(warn_far(call, out));
    if (out->interval_count == 0 && out->site_why) /* a plan was asked for */
        fill_unplaced(call, out, part);
    for (size_t i = 0; i < out->warning_count; i++)
        TRY(plan_call_warn(call, "%s", out->warnings[i]));
    decision->warnings = call->warnings;
    decision->warning_count = call->warning_count;
    return OK;
}
