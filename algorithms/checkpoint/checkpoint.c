/* checkpoint/checkpoint.c - what checkpoint policies share. */
#include "algorithms/checkpoint/checkpoint.h"

#include <string.h>

const char *const checkpoint_action_names[] = {"take", "omit", "none", NULL};

const char *const checkpoint_reason_names[] = {
#define X(symbol, name, meaning) #name,
    CHECKPOINT_REASONS(X)
#undef X
        NULL,
};

const struct checkpoint_policy checkpoint_policies[] = {
#define X(name, needs, purpose, source) \
    {#name,                             \
     purpose,                           \
     source,                            \
     CHECKPOINT_NEEDS_##needs,          \
     checkpoint_##name,                 \
     checkpoint_##name##_params},
    CHECKPOINT_POLICIES(X)
#undef X
        {0},
};

const struct checkpoint_policy *checkpoint_policy_find(const char *name)
{
    for (const struct checkpoint_policy *p = checkpoint_policies; p->name; p++) {
        if (strcmp(p->name, name) == 0)
            return p;
    }
    return NULL;
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
    checkpoint_set_interval(in, formula(in->checkpoint_overhead_s, mean_s),
                            CHECKPOINT_REASON_BEST_INTERVAL, out);
}

/* ---- the figures ---- */

/* -(log(1 - y) + y) = y^2/2 + y^3/3 + ..., 0 <= y < 1. */
static double excess(double y)
{
    double sum = 0;

    if (y > 0.01)
        return -(log1p(-y) + y);
    for (int k = 9; k >= 2; k--) /* without the cancellation of the logarithm */
        sum = sum * y + 1.0 / k;
    return sum * y * y;
}

/* I = M y with y the root of excess(y) = C/M. excess() is convex and both start
 * values lie to the right of the root: y^2/2 <= excess(y) gives sqrt(2 C/M), and
 * log(1 - y) = -C/M - y >= -C/M - 1 the other. So Newton's steps go down to the
 * root and never past it, until rounding ends them. */
double checkpoint_best_interval_s(const struct checkpoint_in *in)
{
    enum { STEPS_MAX = 60 };
    double mean_s = in->mean_failure_interval_s;
    double cost = in->checkpoint_overhead_s / mean_s;
    double y = fmin(sqrt(2 * cost), -expm1(-1 - cost));

    if (cost > 36)
        return mean_s; /* 1 - y is below the rounding of 1 */
    for (int step = 0; step < STEPS_MAX && y > 0; step++) {
        double next = y - (excess(y) - cost) * (1 - y) / y;

        if (!(next < y))
            break;
        y = next;
    }
    return mean_s * y;
}

double checkpoint_expected_time_ratio(const struct checkpoint_in *in, double interval_s)
{
    double mean_s = in->mean_failure_interval_s;
    double span = (interval_s + in->checkpoint_overhead_s) / mean_s;

    return exp(in->restart_s / mean_s) * expm1(span) * (mean_s / interval_s);
}

/* A job that ends before its first checkpoint starts anew after a failure, and
 * then fetches nothing. */
static double expected_completion_s(const struct checkpoint_in *in,
                                    const struct checkpoint_out *out)
{
    double mean_s = in->mean_failure_interval_s;

    if (in->execution_time_s <= out->interval_s)
        return mean_s * expm1(in->execution_time_s / mean_s);
    return in->execution_time_s * out->expected_time_ratio;
}

/* Without checkpoints a job's end is all that saves its work. */
static double ratio_without(const struct checkpoint_in *in)
{
    double span = in->execution_time_s / in->mean_failure_interval_s;

    if (isinf(span))
        return HUGE_VAL;
    return span > 0 ? expm1(span) / span : span + 1;
}

void checkpoint_add_figures(const struct checkpoint_in *in, struct checkpoint_out *out)
{
    struct checkpoint_in known = *in;
    double mean_s = checkpoint_mean_s(in);
    double best_s;

    if (isnan(in->execution_time_s))
        out->checkpoint_count = NAN;
    else if (isinf(out->interval_s))
        out->checkpoint_count = 0;
    else /* an end comes before the checkpoint of the same instant */
        out->checkpoint_count = fmax(0, ceil(in->execution_time_s / out->interval_s) - 1);
    out->expected_time_ratio = out->waste_ratio = out->gap_ratio = NAN;
    out->expected_completion_s = NAN;
    if (!(mean_s > 0))
        return;
    known.mean_failure_interval_s = fmax(mean_s, CHECKPOINT_SHORTEST_S);
    best_s = fmax(checkpoint_best_interval_s(&known), CHECKPOINT_SHORTEST_S);
    out->expected_time_ratio =
        isinf(out->interval_s) ? ratio_without(&known)
                               : checkpoint_expected_time_ratio(&known, out->interval_s);
    out->expected_completion_s = expected_completion_s(&known, out);
    if (isnan(out->expected_time_ratio))
        return;
    out->waste_ratio = fmax(0, 1 - 1 / out->expected_time_ratio);
    out->gap_ratio =
        out->expected_time_ratio / checkpoint_expected_time_ratio(&known, best_s) - 1;
    if (out->gap_ratio < 0)
        out->gap_ratio = 0; /* rounding, or a job too short for checkpoints */
}

enum error_code checkpoint_decide(const struct checkpoint_policy *policy,
                                  const struct checkpoint_in *in, const double *param,
                                  struct checkpoint_out *out, struct error *err)
{
    struct checkpoint_out o = {0};

    TRY(policy->run(in, param, &o, err));
    checkpoint_add_figures(in, &o);
    *out = o;
    return OK;
}
