/* checkpoint/trial_plans.c - the plans that trials play. */
#include "algorithms/checkpoint/trials.h"

#include "algorithms/checkpoint/checkpoint.h"

#include <math.h>

struct trial_segment trial_next_finite(const void *plan, const struct trial_state *state)
{
    const struct trial_finite *p = plan;
    struct trial_segment out = {p->plan.middle_s, p->overhead_s, 0};

    if (state->segment == 0)
        out.work_s = p->plan.first_s;
    if ((double)state->segment + 1 >= p->plan.count)
        out.work_s = state->left_s;
    return out;
}

struct trial_segment trial_next_interval(const void *plan,
                                         const struct trial_state *state)
{
    const struct trial_interval *p = plan;
    struct trial_segment out = {p->interval_s, p->overhead_s, 0};

    /* what is left by rounding is no segment of its own */
    if (state->left_s <= p->interval_s * (1 + 1e-9))
        out.work_s = state->left_s;
    return out;
}

struct trial_segment trial_next_even(const void *plan, const struct trial_state *state)
{
    const struct trial_even *p = plan;
    double segments = round((state->left_s - p->overhead_s) / p->interval_s);
    struct trial_segment out = {state->left_s, p->overhead_s, 0};

    if (p->is_even && segments > 1)
        out.work_s = (state->left_s - p->overhead_s) / segments;
    else if (!p->is_even && state->left_s > p->interval_s * (1 + 1e-9))
        out.work_s = p->interval_s;
    return out;
}

struct trial_segment trial_next_renewal(const void *plan, const struct trial_state *state)
{
    const struct renewal_table *table = plan;

    return (struct trial_segment){
        renewal_segment_s(table, state->left_s, state->age_s, state->is_restarted),
        table->job.overhead_s, 0};
}

struct trial_midpoint trial_midpoint_of(const struct failure_law *law, double overhead_s,
                                        double restart_s, double least_s, double work_s)
{
    struct failure_law at = *law;
    struct job_hazard hazard = {&at, 1};
    struct trial_midpoint out = {
        .overhead_s = overhead_s, .restart_s = restart_s, .least_s = least_s};
    double last_s = 3 * work_s + restart_s + law->age_s;

    out.first_age_s = fmin(checkpoint_midpoint_s(&hazard, overhead_s, 0), last_s) / 64;
    out.first_age_s = fmax(out.first_age_s, 1e-9 * last_s);
    out.growth = pow(last_s / out.first_age_s, 1.0 / (TRIAL_MIDPOINT_AGES - 2));
    for (int i = 0; i < TRIAL_MIDPOINT_AGES; i++) {
        at.age_s = i ? out.first_age_s * pow(out.growth, i - 1) : 0;
        out.interval_s[i] = checkpoint_midpoint_s(&hazard, overhead_s, 0);
    }
    at.age_s = 0;
    out.again_s = checkpoint_midpoint_s(&hazard, overhead_s, restart_s);
    return out;
}

/* Between two ages of the table. */
static double interval_at(const struct trial_midpoint *p, double age_s)
{
    double at = age_s / p->first_age_s, below;

    if (!(at > 1))
        return p->interval_s[0] + at * (p->interval_s[1] - p->interval_s[0]);
    at = fmin(1 + log(at) / log(p->growth), TRIAL_MIDPOINT_AGES - 1.001);
    below = floor(at);
    return p->interval_s[(int)below] +
           (at - below) * (p->interval_s[(int)below + 1] - p->interval_s[(int)below]);
}

struct trial_segment trial_next_midpoint(const void *plan,
                                         const struct trial_state *state)
{
    const struct trial_midpoint *p = plan;
    double interval_s = state->is_restarted ? p->again_s : interval_at(p, state->age_s);
    double work_s =
        checkpoint_midpoint_segment_s(interval_s, state->left_s, p->overhead_s);

    return (struct trial_segment){
        work_s < state->left_s ? fmax(work_s, p->least_s) : work_s, p->overhead_s, 0};
}
