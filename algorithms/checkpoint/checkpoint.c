/* checkpoint/checkpoint.c - what checkpoint policies share. */
#include "algorithms/checkpoint/checkpoint.h"

#include <math.h>
#include <string.h>

const struct checkpoint_policy checkpoint_policies[] = {
#define X(name, purpose, source) \
    {#name, purpose, source, checkpoint_##name, checkpoint_##name##_params},
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

void checkpoint_set_interval(double interval_s, double min_interval_s,
                             struct checkpoint_out *out)
{
    double least_s = fmax(min_interval_s, CHECKPOINT_SHORTEST_S);

    out->at_minimum = interval_s < least_s;
    out->interval_s = fmax(interval_s, least_s);
}

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

enum error_code checkpoint_decide(const struct checkpoint_policy *policy,
                                  const struct checkpoint_in *in, const double *param,
                                  struct checkpoint_out *out, struct error *err)
{
    struct checkpoint_out o = {0};
    double best_s = fmax(checkpoint_best_interval_s(in), CHECKPOINT_SHORTEST_S);

    TRY(policy->run(in, param, &o, err));
    o.expected_time_ratio = checkpoint_expected_time_ratio(in, o.interval_s);
    o.waste_ratio = fmax(0, 1 - 1 / o.expected_time_ratio);
    o.gap_ratio = o.expected_time_ratio / checkpoint_expected_time_ratio(in, best_s) - 1;
    if (o.gap_ratio < 0)
        o.gap_ratio = 0; /* rounding */
    /* an end comes before the checkpoint of the same instant */
    o.checkpoint_count = ceil(in->execution_time_s / o.interval_s) - 1;
    o.expected_completion_s = expected_completion_s(in, &o);
    *out = o;
    return OK;
}
