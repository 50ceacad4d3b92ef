/* checkpoint/finite_plan.c - the best checkpoints of a job that ends. */
#include "algorithms/checkpoint/finite_plan.h"

#include <assert.h>
#include <math.h>

/* e^x - 1 with x beyond this is no double. */
#define SPAN_MAX 700.0

/* ---- the endless job ---- */

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
double finite_endless_interval_s(double overhead_s, double mean_s)
{
    enum { STEPS_MAX = 60 };
    double cost = overhead_s / mean_s;
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

/* ---- plans ---- */

/* Expected time of one segment. */
static double segment_s(const struct finite_job *job, double restart_s, double span_s)
{
    double m = job->mean_s;

    return (m + job->delay_s) * exp(restart_s / m) * expm1(span_s / m);
}

/* The lengths of a plan of n segments. false: a segment would have no work. */
static bool lay_out(const struct finite_job *job, double n, struct finite_plan *out)
{
    double c = job->overhead_s, r = job->restart_s, r0 = job->scratch_s;
    double length = (job->work_s + (n - 1) * (c + r) + r0) / n;

    *out = (struct finite_plan){.count = n, .first_s = job->work_s};
    out->middle_s = out->last_s = (double)NAN;
    if (n <= 1)
        return true;
    out->first_s = length - r0 - c;
    if (!(out->first_s > 0)) { /* an image first */
        out->first_s = 0;
        length = (job->work_s + (n - 2) * c + (n - 1) * r) / (n - 1);
    }
    if (n > 2)
        out->middle_s = length - r - c;
    out->last_s = length - r;
    return (n <= 2 || out->middle_s > 0) && out->last_s > 0;
}

/* The sum over the segments of a plan. */
static double cost_of(const struct finite_job *job, const struct finite_plan *plan)
{
    double n = plan->count, sum;

    if (n <= 1)
        return segment_s(job, job->scratch_s, job->work_s);
    sum = segment_s(job, job->scratch_s, plan->first_s + job->overhead_s) +
          segment_s(job, job->restart_s, plan->last_s);
    if (n > 2)
        sum += (n - 2) * segment_s(job, job->restart_s, plan->middle_s + job->overhead_s);
    return sum;
}

double finite_expected_s(const struct finite_job *job, double n)
{
    double m = job->mean_s, c = job->overhead_s, r = job->restart_s, r0 = job->scratch_s;
    double length = (job->work_s + (n - 1) * (c + r) + r0) / n;
    struct finite_plan plan;

    if (!lay_out(job, n, &plan))
        return HUGE_VAL;
    if (n > 1 && !(plan.first_s > 0)) {
        length = (job->work_s + (n - 2) * c + (n - 1) * r) / (n - 1);
        return (m + job->delay_s) * (exp(r0 / m) * expm1(c / m) +
                                     (n - 1) * exp(r / m) * expm1((length - r) / m));
    }
    if (length / m > SPAN_MAX)
        return HUGE_VAL;
    return (m + job->delay_s) *
           (n * expm1(length / m) - expm1(r0 / m) - (n - 1) * expm1(r / m));
}

#define ROUNDED (1 - 1e-12)

/* The same with segments between checkpoints no shorter than least_s: those that would be
 * are that long, and first and last share what is left. false: nothing is. */
static bool lay_out_floored(const struct finite_job *job, double n,
                            struct finite_plan *out)
{
    double least_s = job->least_s, rest_s;

    if (!(n > 1)) {
        lay_out(job, n, out);
        out->expected_s = finite_expected_s(job, n);
        return true;
    }
    if (!lay_out(job, n, out))
        return false;
    if (n > 2 ? out->middle_s >= least_s * ROUNDED
              : !(out->first_s > 0 && out->first_s < least_s)) {
        out->expected_s = finite_expected_s(job, n);
        return true;
    }
    rest_s = job->work_s - (n - 2) * least_s;
    if (n > 2)
        out->middle_s = least_s;
    if (out->first_s > 0)
        out->first_s =
            fmax(least_s,
                 fmin(rest_s - least_s,
                      (rest_s + job->restart_s - job->scratch_s - job->overhead_s) / 2));
    out->last_s = rest_s - out->first_s;
    out->expected_s = out->last_s > 0 ? cost_of(job, out) : HUGE_VAL;
    out->at_floor = true;
    return out->last_s > 0;
}

/* E of that; infinite: there is no such plan. */
static double floored_s(const struct finite_job *job, double n)
{
    struct finite_plan plan;

    return lay_out_floored(job, n, &plan) ? plan.expected_s : HUGE_VAL;
}

struct finite_plan finite_plan_of_count(const struct finite_job *job, double n)
{
    struct finite_plan plan;

    if (!lay_out_floored(job, n, &plan))
        plan.count = 0;
    return plan;
}

/* A walk from a number of segments to the best: it begins near it, and beyond
 * TIES_MAX values that are equal are so by rounding. */
#define TIES_MAX 1e6
enum { WALK_MAX = 10000 };

/* About how many segments of least_s are best where all are: the first is longer by what
 * its restart is shorter. */
static double near_floor(const struct finite_job *job)
{
    double longer_s = fmax(0, job->restart_s - job->scratch_s - job->overhead_s);

    return fmax(1, floor((job->work_s - longer_s) / job->least_s));
}

/* Segments of least E: down from a start while it falls, then up. E is finite for
 * some n, or for n = 1 only, or never. */
static double best_count(const struct finite_job *job)
{
    double endless_s = finite_endless_interval_s(job->overhead_s, job->mean_s);
    double most = fmax(1, floor(job->work_s / job->least_s)) + 1; /* one may be empty */
    double n = fmin(most, fmax(1, ceil(job->work_s / fmax(endless_s, job->least_s))));
    double best_s = floored_s(job, n), near = near_floor(job), near_s;
    bool falls = true;

    near_s = near < n ? floored_s(job, near) : HUGE_VAL;
    if (near_s < best_s) {
        n = near;
        best_s = near_s;
    }
    while (n > 1 && !isfinite(best_s)) {
        n = floor(n / 2);
        best_s = floored_s(job, n);
    }
    for (int step = 0; step < WALK_MAX && n > 1 && falls; step++) {
        double less_s = floored_s(job, n - 1);

        falls = less_s < best_s || (less_s == best_s && n < TIES_MAX);
        n -= falls;
        best_s = falls ? less_s : best_s;
    }
    falls = true;
    for (int step = 0; step < WALK_MAX && n < most && falls; step++) {
        double more_s = floored_s(job, n + 1);

        falls = more_s < best_s;
        n += falls;
        best_s = falls ? more_s : best_s;
    }
    return n;
}

struct finite_plan finite_best(const struct finite_job *job)
{
    double n = best_count(job), again_s;
    struct finite_plan plan;

    assert(job->work_s > 0 && job->mean_s > 0);
    lay_out_floored(job, n, &plan);
    again_s = cost_of(job, &plan);
    plan.is_proved =
        !plan.at_floor && isfinite(plan.expected_s) &&
        fabs(again_s - plan.expected_s) <= 1e-9 * plan.expected_s &&
        (n <= 1 || finite_expected_s(job, n - 1) >= plan.expected_s * (1 - 1e-12)) &&
        finite_expected_s(job, n + 1) >= plan.expected_s * (1 - 1e-12);
    plan.at_floor =
        plan.at_floor ||
        (job->work_s < (n + 1) * job->least_s + job->overhead_s + job->restart_s &&
         finite_expected_s(job, n + 1) < plan.expected_s * (1 - 1e-12));
    return plan;
}

/* ---- given intervals ---- */

double finite_checkpoints_of_interval(double work_s, double interval_s)
{
    return fmax(0, ceil(work_s / interval_s - 1e-12) - 1);
}

double finite_expected_of_interval_s(const struct finite_job *job, double interval_s)
{
    double checkpoints = finite_checkpoints_of_interval(job->work_s, interval_s);
    double sum_s;

    if (checkpoints < 1)
        return segment_s(job, job->scratch_s, job->work_s);
    sum_s = segment_s(job, job->scratch_s, interval_s + job->overhead_s);
    if (checkpoints > 1)
        sum_s += (checkpoints - 1) *
                 segment_s(job, job->restart_s, interval_s + job->overhead_s);
    return sum_s + segment_s(job, job->restart_s, job->work_s - checkpoints * interval_s);
}

struct finite_plan finite_plan_of_interval(const struct finite_job *job,
                                           double interval_s)
{
    double checkpoints = finite_checkpoints_of_interval(job->work_s, interval_s);
    struct finite_plan plan = {.count = checkpoints + 1,
                               .expected_s =
                                   finite_expected_of_interval_s(job, interval_s),
                               .first_s = interval_s,
                               .middle_s = checkpoints > 1 ? interval_s : (double)NAN,
                               .last_s = job->work_s - checkpoints * interval_s};

    if (checkpoints < 1) {
        plan.first_s = job->work_s;
        plan.last_s = (double)NAN;
    }
    return plan;
}

/* ---- a request ---- */

/* What does not depend on the number of segments that follow. */
struct question {
    double q, c, m;
    double again_s; /* A: what a failure costs now */
    double each_s;  /* K */
};

/* Value of a checkpoint after s more work, with n equal segments behind it. */
static double value_at(const struct question *x, double n, double s)
{
    double span = (s + x->c) / x->m;
    double rest = (x->q - s + (n - 1) * x->c) / (n * x->m);

    if (rest > SPAN_MAX)
        return HUGE_VAL;
    return -expm1(-span) * x->again_s + exp(-span) * x->each_s * n * expm1(rest);
}

/* The best s for n segments behind the checkpoint; q: none. */
static double best_wait(const struct question *x, double n)
{
    double length = x->m * log((x->again_s + x->each_s * n) / (x->each_s * (n + 1)));

    return fmin(fmax(x->q + (n - 1) * x->c - n * length, 0), x->q);
}

/* Value of the best s for n segments, or of s = 0 (is_now); infinite: none is good. */
static double value_of(const struct question *x, double n, bool is_now)
{
    double s = is_now ? 0 : best_wait(x, n);

    return s < x->q ? value_at(x, n, s) : HUGE_VAL;
}

/* The n of least value, from a start down and up. */
static double best_segments(const struct question *x, double from, double most,
                            bool is_now, double *value_s)
{
    double best = fmin(fmax(from, 1), most), best_s = value_of(x, best, is_now);

    while (best > 1 && !isfinite(best_s)) {
        best = floor(best / 2);
        best_s = value_of(x, best, is_now);
    }
    for (int direction = -1; direction <= 1; direction += 2) {
        bool falls = true;

        for (int step = 0; step < WALK_MAX && falls; step++) {
            double n = best + direction;
            double value = n >= 1 && n <= most ? value_of(x, n, is_now) : HUGE_VAL;

            falls = value < best_s;
            best = falls ? n : best;
            best_s = falls ? value : best_s;
        }
    }
    *value_s = best_s;
    return best;
}

struct finite_answer finite_decide(const struct finite_request *request)
{
    const struct finite_job *job = &request->job;
    double m = job->mean_s, held = m + job->delay_s;
    double restart_s = request->has_image ? job->restart_s : job->scratch_s;
    struct finite_job again = *job;
    struct question x = {.q = request->left_s, .c = job->overhead_s, .m = m};
    struct finite_answer out = {.in_s = HUGE_VAL, .next_s = HUGE_VAL};
    double from = ceil(x.q / fmax(finite_endless_interval_s(x.c, m), job->least_s));
    double most = fmax(1, floor(x.q / job->least_s)), n, now, value_s;

    again.work_s = request->since_image_s + request->left_s;
    again.scratch_s = restart_s;
    x.again_s = held + finite_best(&again).expected_s + held * expm1(restart_s / m);
    x.each_s = held * exp(job->restart_s / m);
    out.never_s = -expm1(-x.q / m) * x.again_s;
    now = best_segments(&x, from, most, true, &out.take_s);
    n = best_segments(&x, from, most, false, &value_s);
    out.value_s = out.never_s;
    if (!(value_s < out.never_s))
        return out;
    out.value_s = value_s;
    out.segments = n;
    out.in_s = best_wait(&x, n);
    out.take = out.in_s <= 0;
    if (out.take)
        n = now;
    if (n > 1)
        out.next_s = fmax(job->least_s, (x.q - out.in_s + (n - 1) * x.c) / n - x.c);
    return out;
}
