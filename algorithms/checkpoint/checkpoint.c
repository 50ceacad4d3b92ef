/* checkpoint/checkpoint.c - what checkpoint policies share. */
#include "algorithms/checkpoint/checkpoint.h"

const char *const checkpoint_action_names[] = {"take", "omit", "none", NULL};

const char *const checkpoint_methods[] = {"auto", "midpoint", "dp", NULL};
const char *const checkpoint_bounds[] = {"auto", "none", "dp", NULL};
const char *const checkpoint_laws[] = {"auto", "exponential", NULL};

const char *const checkpoint_reason_names[] = {
#define X(symbol, name, meaning) #name,
    CHECKPOINT_REASONS(X)
#undef X
        NULL,
};

const struct policy checkpoint_policies[] = {
#define X(policy, needs, does, described)     \
    {.name = #policy,                         \
     .purpose = does,                         \
     described,                               \
     .params = checkpoint_##policy##_params,  \
     .run = (policy_fn *)checkpoint_##policy, \
     .flags = CHECKPOINT_NEEDS_##needs},
    CHECKPOINT_POLICIES(X)
#undef X
        {0},
};

bool checkpoint_reads_option(const struct policy *policy, size_t option)
{
    checkpoint_fn *run = checkpoint_fn_of(policy);
    bool by_mean = policy->flags & CHECKPOINT_NEEDS_MEAN;

    switch (option) {
    case CHECKPOINT_MIN_INTERVAL:
    case CHECKPOINT_MIN_FRACTION:
    case CHECKPOINT_INITIAL_INTERVAL:
        return run != checkpoint_none;
    case CHECKPOINT_FIRST_AFTER:
    case CHECKPOINT_STEP:
    case CHECKPOINT_STEP_FRACTION:
    case CHECKPOINT_ALPHA:
        return run == checkpoint_mean_failure;
    case CHECKPOINT_OMISSIONS_MAX:
        return run == checkpoint_last_failure;
    case CHECKPOINT_WEIBULL_SHAPE:
    case CHECKPOINT_WEIBULL_SCALE:
    case CHECKPOINT_METHOD_OPTION:
    case CHECKPOINT_BOUND_OPTION:
    case CHECKPOINT_LAW_OPTION:
        return policy->flags & CHECKPOINT_NEEDS_WEIBULL;
    case CHECKPOINT_FTI_LEVEL:
    case CHECKPOINT_SLURM_QUANTILE:
        return true; /* of what is answered, whoever decided */
    default:         /* how the mean failure interval comes from a history */
        return by_mean;
    }
}

struct checkpoint_in checkpoint_in_unknown(void)
{
    return (struct checkpoint_in){
        .mean_failure_interval_s = NAN,
        .execution_time_s = NAN,
        .remaining_s = NAN,
        .execution_time_upper_s = NAN,
        .remaining_upper_s = NAN,
        .failure_age_s = NAN,
        .uptime_s = NAN,
        .initial_interval_s = NAN,
        .interval_cur_s = NAN,
        .weibull_shape = NAN,
        .weibull_scale_s = NAN,
        .work_since_checkpoint_s = NAN,
        .has_checkpoint = NAN,
        .node_count = 1,
    };
}

/* ---- for the policies ---- */

void checkpoint_raise_minimum(const struct checkpoint_in *in, struct checkpoint_out *out)
{
    if (out->min_interval_s > in->checkpoint_overhead_s)
        return;
    out->min_interval_s = in->checkpoint_overhead_s * 1.0001;
    out->min_interval_raised = true;
}

void checkpoint_set_minimum(const struct checkpoint_in *in, const double *param,
                            struct checkpoint_out *out)
{
    double least_s = param[CHECKPOINT_MIN_INTERVAL];
    double share = param[CHECKPOINT_MIN_FRACTION];

    if (!(least_s > 0) && share > 0 && isfinite(in->execution_time_s))
        least_s = share * in->execution_time_s;
    out->min_interval_raised = false;
    out->min_interval_s = fmax(least_s, CHECKPOINT_SHORTEST_S);
    if (least_s > 0)
        checkpoint_raise_minimum(in, out);
}

void checkpoint_set_interval(const struct checkpoint_in *in, double interval_s,
                             enum checkpoint_reason reason, struct checkpoint_out *out)
{
    bool done = !in->start && in->remaining_s <= 0;

    out->at_minimum = interval_s < out->min_interval_s;
    out->interval_s = fmax(interval_s, out->min_interval_s);
    out->action = in->start ? CHECKPOINT_NONE : CHECKPOINT_TAKE;
    out->reason = in->start ? CHECKPOINT_REASON_STARTED : reason;
    out->next_request_in_s = done ? HUGE_VAL : out->interval_s;
    out->consecutive_omissions = 0;
    out->history_too_short = false;
    out->at_floor = false;
}

double checkpoint_initial_s(const struct checkpoint_in *in, const double *param)
{
    return in->initial_interval_s > 0 ? in->initial_interval_s
                                      : param[CHECKPOINT_INITIAL_INTERVAL];
}

double checkpoint_mean_s(const struct checkpoint_in *in)
{
    return isfinite(in->mean_failure_interval_s) ? in->mean_failure_interval_s
                                                 : in->failure_age_s;
}

void checkpoint_by_formula(const struct checkpoint_in *in, const double *param,
                           checkpoint_formula_fn *formula, struct checkpoint_out *out)
{
    double mean_s = checkpoint_mean_s(in);

    checkpoint_set_minimum(in, param, out);
    if (isnan(mean_s)) {
        checkpoint_set_interval(in, checkpoint_initial_s(in, param),
                                CHECKPOINT_REASON_UNKNOWN_FAILURES, out);
        return;
    }
    mean_s = fmax(mean_s, CHECKPOINT_SHORTEST_S);
    checkpoint_set_floored(in, param, formula(in->checkpoint_overhead_s, mean_s), out);
    checkpoint_spare(in, out);
}

double checkpoint_floor_s(const struct checkpoint_in *in, const double *param,
                          const struct checkpoint_out *out)
{
    double second_s =
        param[CHECKPOINT_MIN_INTERVAL] > 0 ? fmin(1, param[CHECKPOINT_MIN_INTERVAL]) : 1;

    return fmax(out->min_interval_s, fmax(second_s, in->checkpoint_overhead_s * 1.0001));
}

void checkpoint_set_floored(const struct checkpoint_in *in, const double *param,
                            double interval_s, struct checkpoint_out *out)
{
    double floor_s = checkpoint_floor_s(in, param, out);

    checkpoint_set_interval(in, fmax(interval_s, floor_s),
                            CHECKPOINT_REASON_BEST_INTERVAL, out);
    out->at_floor = interval_s < floor_s;
    out->floor_s = floor_s;
    out->at_minimum = out->at_floor;
}

/* ---- a job that ends ---- */

bool checkpoint_finite_job(const struct checkpoint_in *in, double least_s,
                           struct finite_job *out)
{
    double mean_s = checkpoint_mean_s(in);

    *out = (struct finite_job){
        .work_s = in->execution_time_s,
        .mean_s = fmax(mean_s, CHECKPOINT_SHORTEST_S),
        .overhead_s = in->checkpoint_overhead_s,
        .restart_s = in->restart_s,
        .scratch_s = in->has_checkpoint > 0 ? in->restart_s : in->restart_from_scratch_s,
        .delay_s = in->reschedule_delay_s,
        .least_s = least_s,
    };
    return mean_s > 0 && isfinite(mean_s) && in->execution_time_s > 0 &&
           isfinite(in->execution_time_s);
}

double checkpoint_since_s(const struct checkpoint_in *in, double interval_s)
{
    if (!isnan(in->work_since_checkpoint_s))
        return in->work_since_checkpoint_s;
    return in->interval_cur_s > 0 ? in->interval_cur_s : interval_s;
}

double checkpoint_image(const struct checkpoint_in *in, double interval_s)
{
    double since_s = checkpoint_since_s(in, interval_s);

    if (!isfinite(in->execution_time_s))
        return (double)NAN;
    if (!isnan(in->has_checkpoint))
        return in->has_checkpoint > 0;
    if (in->start || !in->remaining_is_known)
        return 0;
    return isnan(since_s) ? since_s : in->execution_time_s - in->remaining_s > since_s;
}

bool checkpoint_question(const struct checkpoint_in *in, double interval_s,
                         double least_s, struct finite_request *out)
{
    double since_s = checkpoint_since_s(in, interval_s);
    double done_s = in->execution_time_s - in->remaining_s;

    if (!checkpoint_finite_job(in, least_s, &out->job) || !(in->remaining_s > 0) ||
        !isfinite(in->remaining_s))
        return false;
    out->has_image = checkpoint_image(in, interval_s) > 0;
    out->since_image_s = fmin(since_s, fmax(0, done_s));
    out->left_s = in->remaining_s;
    return true;
}

void checkpoint_omit(const struct checkpoint_in *in, double next_s,
                     struct checkpoint_out *out)
{
    out->action = CHECKPOINT_OMIT;
    out->reason = CHECKPOINT_REASON_CHEAPER_TO_REDO;
    out->next_request_in_s = next_s;
    out->consecutive_omissions = in->consecutive_omissions + 1;
}

void checkpoint_spare(const struct checkpoint_in *in, struct checkpoint_out *out)
{
    struct finite_request request;
    struct finite_answer answer;
    struct finite_job job;

    if (in->start && checkpoint_finite_job(in, CHECKPOINT_SHORTEST_S, &job) &&
        finite_expected_s(&job, 1) <=
            finite_expected_of_interval_s(&job, out->interval_s)) {
        out->reason = CHECKPOINT_REASON_TOO_SHORT;
        out->next_request_in_s = HUGE_VAL;
    }
    if (in->start || !in->remaining_is_known)
        return;
    if (in->remaining_s <= 0)
        checkpoint_omit(in, HUGE_VAL, out); /* it is done */
    if (!checkpoint_question(in, out->interval_s, out->interval_s, &request))
        return;
    answer = finite_decide(&request);
    if (answer.never_s < answer.take_s)
        checkpoint_omit(in, answer.in_s, out);
}

/* ---- the figures ---- */

double checkpoint_best_interval_s(const struct checkpoint_in *in)
{
    return finite_endless_interval_s(in->checkpoint_overhead_s,
                                     in->mean_failure_interval_s);
}

double checkpoint_expected_time_ratio(const struct checkpoint_in *in, double interval_s)
{
    double mean_s = in->mean_failure_interval_s;
    double span = (interval_s + in->checkpoint_overhead_s) / mean_s;

    return exp(in->restart_s / mean_s) * expm1(span) *
           ((mean_s + in->reschedule_delay_s) / interval_s);
}

/* Without checkpoints a job's end is all that saves its work. */
static double ratio_without(const struct checkpoint_in *in)
{
    double span = in->execution_time_s / in->mean_failure_interval_s;
    double dear = 1 + in->reschedule_delay_s / in->mean_failure_interval_s;

    if (isinf(span))
        return HUGE_VAL;
    return span > 0 ? dear * expm1(span) / span : span + 1;
}

void checkpoint_add_expected(double work_s, double expected_s, struct checkpoint_out *out)
{
    out->expected_completion_s = fmax(expected_s, work_s); /* but for rounding */
    out->waste_ratio = fmax(0, 1 - work_s / expected_s);
    if (out->bound != CHECKPOINT_BOUND_DP)
        return;
    out->gap_ratio = fmax(0, expected_s / out->lower_bound_s - 1);
    out->gap_is_finite = true;
}

/* A job that ends on nodes with laws: what a constant rate would give is left out. */
static void add_law_figures(double work_s, struct checkpoint_out *out)
{
    double expected_s = out->expected_completion_s;

    out->gap_ratio = (double)NAN;
    if (out->bound == CHECKPOINT_BOUND_NONE) {
        out->lower_bound_s = work_s;
        out->bound = CHECKPOINT_BOUND_TRIVIAL;
    }
    if (!isnan(expected_s))
        checkpoint_add_expected(work_s, expected_s, out);
}

/* What the interval means for a job whose end is known. */
static void add_finite_figures(const struct checkpoint_in *in, struct checkpoint_out *out)
{
    struct finite_job job;
    struct finite_plan best;

    if (!checkpoint_finite_job(in, CHECKPOINT_SHORTEST_S, &job))
        return;
    if (out->by_law) {
        add_law_figures(job.work_s, out);
        return;
    }
    if (out->min_interval_s > 0)
        job.least_s = fmin(out->min_interval_s, job.work_s);
    best = out->plan.count > 0 ? out->plan : finite_best(&job);
    out->expected_completion_s =
        out->plan.count > 0 ? out->plan.expected_s
                            : finite_expected_of_interval_s(&job, out->interval_s);
    out->never_ends = !isfinite(best.expected_s) || !isfinite(out->expected_completion_s);
    if (!isfinite(out->expected_completion_s))
        out->expected_completion_s = (double)NAN;
    if (out->never_ends || isnan(out->expected_completion_s))
        return;
    /* By rounding a tiny job might take less than its work, or nothing. */
    out->expected_completion_s = fmax(out->expected_completion_s, job.work_s);
    out->best_completion_s =
        fmax(fmin(best.expected_s, out->expected_completion_s), job.work_s);
    out->best_checkpoint_count = best.count - 1;
    out->waste_ratio = fmax(0, 1 - job.work_s / out->expected_completion_s);
    out->gap_ratio = out->expected_completion_s / out->best_completion_s - 1;
    out->gap_is_finite = true;
    out->lower_bound_s = out->best_completion_s;
    out->bound = CHECKPOINT_BOUND_CLOSED_FORM;
}

static double count_checkpoints(const struct checkpoint_in *in,
                                const struct checkpoint_out *out)
{
    if (isnan(in->execution_time_s))
        return (double)NAN;
    if (isinf(out->interval_s))
        return 0;
    if (out->plan.count > 0)
        return out->plan.count - 1;
    /* an end comes before the checkpoint of the same instant */
    return finite_checkpoints_of_interval(in->execution_time_s, out->interval_s);
}

void checkpoint_add_figures(const struct checkpoint_in *in, struct checkpoint_out *out)
{
    struct checkpoint_in known = *in;
    double mean_s = checkpoint_mean_s(in);
    double best_s;

    out->checkpoint_count = count_checkpoints(in, out);
    out->expected_time_ratio = out->waste_ratio = out->gap_ratio = NAN;
    out->best_completion_s = out->best_checkpoint_count = NAN;
    if (!out->by_law) {
        out->expected_completion_s = out->lower_bound_s = NAN;
        out->bound = CHECKPOINT_BOUND_NONE;
    }
    if (!(mean_s > 0)) {
        if (out->by_law && isfinite(in->execution_time_s))
            add_law_figures(in->execution_time_s, out);
        return;
    }
    known.mean_failure_interval_s = fmax(mean_s, CHECKPOINT_SHORTEST_S);
    best_s = fmax(checkpoint_best_interval_s(&known), CHECKPOINT_SHORTEST_S);
    out->expected_time_ratio =
        isinf(out->interval_s) ? ratio_without(&known)
                               : checkpoint_expected_time_ratio(&known, out->interval_s);
    if (!isnan(out->expected_time_ratio)) {
        out->waste_ratio = fmax(0, 1 - 1 / out->expected_time_ratio);
        out->gap_ratio =
            out->expected_time_ratio / checkpoint_expected_time_ratio(&known, best_s) - 1;
    }
    add_finite_figures(&known, out);
    if (out->gap_ratio < 0)
        out->gap_ratio = 0; /* rounding, or a job too short for checkpoints */
}

enum error_code checkpoint_decide(const struct policy *policy,
                                  const struct checkpoint_in *in, const double *param,
                                  struct checkpoint_out *out, struct error *err)
{
    struct checkpoint_in known = *in;
    struct checkpoint_out o = {.has_image = (double)NAN};

    known.has_checkpoint = checkpoint_image(in, (double)NAN);
    TRY(checkpoint_fn_of(policy)(&known, param, &o, err));
    if (isnan(o.has_image))
        o.has_image = checkpoint_image(&known, o.interval_s);
    known.has_checkpoint = o.has_image;
    checkpoint_add_figures(&known, &o);
    *out = o;
    return OK;
}
