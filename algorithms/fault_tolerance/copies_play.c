/* fault_tolerance/copies_play.c - copies of a job, played event by event. */
#include "algorithms/fault_tolerance/copies_play.h"

#include "models/base/budget.h"
#include "models/base/rng.h"

#include <math.h>

enum { TRIALS_AT_ONCE = 1000, ATTEMPTS_MAX = 100000 };

/* Images closer than this share of the work are the same. */
#define SAME_RATIO 1e-9

/* One copy in a trial. */
struct course {
    const struct copy *copy;
    double scale;  /* seconds of its own work in a unit of left work */
    double done_s; /* own work that its image holds, or that it has begun after */
    double image_s;
    double at_s; /* when its attempt ends, or fails */
    bool fails, is_again, has_image;
    double goal_s; /* own work at the attempt's end */
};

static double after_s(struct rng *r, double mean_s)
{
    return -log1p(-rng_uniform(r)) * mean_s;
}

/* Own work at the end of the segment that goes on from c->done_s. */
static double goal_of(const struct course *c)
{
    const struct copy *copy = c->copy;
    const struct finite_plan *plan = &copy->plan;
    double same_s = SAME_RATIO * copy->job.work_s, done_s = c->done_s, n;

    if (plan->count > 1 && !(plan->first_s > 0) && !c->has_image)
        return 0; /* an image before any work */
    if (plan->count <= 1 || copy->job.work_s - plan->last_s <= done_s + same_s)
        return copy->job.work_s;
    if (done_s < plan->first_s - same_s)
        return plan->first_s;
    n = floor((done_s - plan->first_s + same_s) / plan->middle_s);
    return fmin(plan->first_s + (n + 1) * plan->middle_s,
                copy->job.work_s - plan->last_s);
}

/* The next attempt, from at_s on. */
static void attempt(struct course *c, struct rng *r)
{
    const struct finite_job *job = &c->copy->job;
    double restart_s = c->has_image ? job->restart_s : job->scratch_s, span_s, failure_s;

    c->goal_s = goal_of(c);
    span_s = (c->is_again ? restart_s : 0) + c->goal_s - c->done_s +
             (c->goal_s < job->work_s ? job->overhead_s : 0);
    failure_s = after_s(r, job->mean_s);
    c->fails = failure_s < span_s;
    c->at_s += c->fails ? failure_s : span_s;
}

static size_t next_of(const struct course *list, size_t count)
{
    size_t next = 0;

    for (size_t i = 1; i < count; i++)
        if (list[i].at_s < list[next].at_s)
            next = i;
    return next;
}

/* The newest image of any, in the copy's own work. */
static void read_newest(const struct play_in *in, struct course *list, struct course *c)
{
    for (size_t i = 0; i < in->count && in->shares_images; i++) {
        const struct course *other = &list[i];
        double left, done_s;

        if (!other->has_image)
            continue;
        left = in->left[i] - other->image_s / other->scale;
        done_s = c->copy->job.work_s - left * c->scale;
        if (done_s <= c->done_s)
            continue;
        c->done_s = fmin(done_s, c->copy->job.work_s);
        c->has_image = true;
        c->image_s = c->done_s;
    }
}

/* Of one trial; NAN: it takes too many attempts. */
static double play_one(const struct play_in *in, struct rng *r)
{
    struct course list[COPIES_MAX];

    for (size_t i = 0; i < in->count; i++) {
        list[i] = (struct course){.copy = &in->copies[i], .scale = 1};
        if (in->shares_images && in->left[i] > 0)
            list[i].scale = in->copies[i].job.work_s / in->left[i];
        attempt(&list[i], r);
    }
    for (size_t events = 0; events < ATTEMPTS_MAX; events++) {
        struct course *c = &list[next_of(list, in->count)];

        if (!c->fails && c->goal_s >= c->copy->job.work_s)
            return c->at_s;
        c->is_again = c->fails;
        if (c->fails) {
            c->at_s += c->copy->job.delay_s;
            c->done_s = c->has_image ? c->image_s : 0;
            read_newest(in, list, c);
        } else {
            c->done_s = c->image_s = c->goal_s;
            c->has_image = true;
        }
        attempt(c, r);
    }
    return (double)NAN;
}

void copies_play(const struct play_in *in, struct played *out)
{
    struct rng r = rng_stream(in->seed, in->stream);
    double sum = 0, squares = 0;
    bool is_endless = true;

    *out = (struct played){.mean_s = (double)NAN, .ci95_s = (double)NAN};
    for (size_t i = 0; i < in->count; i++)
        is_endless = is_endless && !isfinite(in->copies[i].plan.expected_s);
    while (!is_endless && out->trial_count < in->trial_count) {
        uint64_t left = in->trial_count - out->trial_count;
        double block = 0, block_squares = 0, n;

        for (uint64_t i = 0; i < left && i < TRIALS_AT_ONCE; i++) {
            double time_s = play_one(in, &r);

            block += time_s;
            block_squares += time_s * time_s;
            if (budget_step(in->budget, 64 * in->count)) {
                out->is_cut = true;
                return;
            }
        }
        out->trial_count += left < TRIALS_AT_ONCE ? left : TRIALS_AT_ONCE;
        sum += block;
        squares += block_squares;
        n = (double)out->trial_count;
        out->mean_s = sum / n;
        out->ci95_s =
            n > 1
                ? 1.96 * sqrt(fmax(0, squares / n - out->mean_s * out->mean_s) / (n - 1))
                : (double)NAN;
        if (isnan(out->mean_s) || out->ci95_s <= in->precision_ratio * out->mean_s)
            return;
    }
}
