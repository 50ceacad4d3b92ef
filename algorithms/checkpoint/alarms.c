/* checkpoint/alarms.c - checkpoints on alarms of a failure predictor. */
#include "algorithms/checkpoint/alarms.h"

#include "models/base/rng.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

enum { BLOCK = 1000, NAME_MAX_BYTES = 400 };

bool predictor_is_used(const struct predictor *x)
{
    return x->recall_ratio > 0 && x->lead_s >= x->overhead_s;
}

double predictor_mean_s(const struct predictor *x, double mean_s)
{
    if (!predictor_is_used(x))
        return mean_s;
    return x->recall_ratio < 1 ? mean_s / (1 - x->recall_ratio) : HUGE_VAL;
}

double predictor_threshold_s(const struct predictor *x)
{
    return x->precision_ratio > 0 ? x->overhead_s / x->precision_ratio : HUGE_VAL;
}

/* ---- one run ---- */

struct run {
    const struct alarm_play *play;
    struct rng rng;
    double now_s;
    double failure_s, alarm_s; /* when the next unforeseen failure and alarm are */
    double foretold_s;         /* when the failure of an alarm strikes; infinite: none */
    double failure_rate, alarm_rate;
    double saved_s, done_s; /* work in the last image, work done */
    bool has_image;
    double checkpoints;
    bool is_cut;
};

static double after(struct run *r, double rate)
{
    return rate > 0 ? r->now_s - log1p(-rng_uniform(&r->rng)) / rate : HUGE_VAL;
}

/* The alarm that is due now: whether a failure follows is told by a throw. While one is
 * foretold a second one is left out, as it strikes a job that is down. */
static void ring(struct run *r)
{
    const struct predictor *x = &r->play->predictor;

    if (rng_uniform(&r->rng) < x->precision_ratio && r->foretold_s > 1e300)
        r->foretold_s = r->now_s + x->lead_s;
    r->alarm_s = after(r, r->alarm_rate);
}

/* Struck down at now_s: what is not saved is lost, and nothing strikes while it waits. */
static void fall(struct run *r)
{
    r->done_s = r->saved_s;
    if (r->failure_s <= r->now_s)
        r->failure_s = after(r, r->failure_rate);
    r->foretold_s = HUGE_VAL;
    r->now_s += r->play->job.delay_s;
    /* without memory, what would have come meanwhile is drawn again */
    r->failure_s = after(r, r->failure_rate);
    r->alarm_s = after(r, r->alarm_rate);
}

enum passed { PASSED, STRUCK, ALARMED };

/* Lets span_s pass, or less. Alarms end it only while the job works. */
static enum passed pass(struct run *r, double span_s, bool works)
{
    double end_s = r->now_s + span_s;

    for (;;) {
        double strikes_s = fmin(r->failure_s, r->foretold_s);

        if (budget_step(r->play->budget, 8))
            r->is_cut = true;
        if (r->is_cut || (end_s <= strikes_s && end_s <= r->alarm_s)) {
            r->now_s = end_s;
            return PASSED;
        }
        if (strikes_s <= r->alarm_s) {
            r->now_s = strikes_s;
            return STRUCK;
        }
        r->now_s = r->alarm_s;
        ring(r);
        if (works)
            return ALARMED;
    }
}

/* The work at which the next checkpoint is planned; that of the whole job: none is. */
static double next_at(const struct run *r)
{
    const struct alarm_play *play = r->play;
    double work_s = play->job.work_s, left_s = work_s - r->saved_s,
           c = play->job.overhead_s;

    double segments = round((left_s - c) / play->interval_s);

    if (!play->is_even)
        return left_s > play->interval_s * (1 + 1e-12) ? r->saved_s + play->interval_s
                                                       : work_s;
    return segments > 1 ? r->saved_s + (left_s - c) / segments : work_s;
}

/* A checkpoint of span_s of what is done; false: struck. */
static bool save(struct run *r, double span_s)
{
    if (pass(r, span_s, false) == STRUCK)
        return false;
    r->saved_s = r->done_s;
    r->has_image = true;
    r->checkpoints++;
    return true;
}

/* Works until a failure or the end; true: struck. */
static bool work(struct run *r)
{
    const struct alarm_play *play = r->play;

    while (r->done_s < play->job.work_s && !r->is_cut) {
        double to_s = next_at(r), began_s = r->now_s;
        enum passed how = pass(r, to_s - r->done_s, true);

        if (how == STRUCK)
            return true;
        if (how == PASSED) {
            r->done_s = to_s;
            if (to_s < play->job.work_s && !save(r, play->job.overhead_s))
                return true;
            continue;
        }
        r->done_s = fmin(to_s, r->done_s + (r->now_s - began_s));
        if (r->done_s - r->saved_s >= play->threshold_s && r->done_s > r->saved_s &&
            !save(r, play->predictor.overhead_s))
            return true;
    }
    return false;
}

static double run_once(struct run *r)
{
    const struct alarm_play *play = r->play;

    r->now_s = r->saved_s = r->done_s = 0;
    r->has_image = false;
    r->foretold_s = HUGE_VAL;
    r->failure_s = after(r, r->failure_rate);
    r->alarm_s = after(r, r->alarm_rate);
    while (work(r)) {
        do
            fall(r);
        while (!r->is_cut &&
               pass(r, r->has_image ? play->job.restart_s : play->job.scratch_s, false) ==
                   STRUCK);
    }
    return r->now_s;
}

/* ---- blocks ---- */

struct alarm_drawn alarms_draw(const struct alarm_play *play)
{
    const struct predictor *x = &play->predictor;
    double rate = 1 / play->job.mean_s, sum = 0, squares = 0, checkpoints = 0;
    bool is_used = predictor_is_used(x);
    double foreseen = is_used ? x->recall_ratio * rate : 0;
    struct alarm_drawn out = {.mean_s = (double)NAN, .half_s = (double)NAN};

    assert(play->interval_s > 0 && play->job.work_s > 0 && play->trials_max >= 1);
    for (size_t block = 0; out.trial_count < play->trials_max; block++) {
        char name[NAME_MAX_BYTES];
        size_t count = play->trials_max - out.trial_count;
        double block_sum = 0, block_squares = 0, block_checkpoints = 0;
        struct run r = {.play = play,
                        .failure_rate = rate - foreseen,
                        .alarm_rate = is_used ? foreseen / x->precision_ratio : 0};

        count = count > BLOCK ? BLOCK : count;
        snprintf(name, sizeof(name), "checkpoint.alarms.%zu.%s", block, play->name);
        r.rng = rng_stream(play->seed, name);
        for (size_t trial = 0; trial < count && !r.is_cut; trial++) {
            double time_s = run_once(&r);

            block_sum += time_s;
            block_squares += time_s * time_s;
            block_checkpoints += r.checkpoints;
            r.checkpoints = 0;
        }
        out.is_cut = r.is_cut;
        if (r.is_cut)
            break; /* an unfinished block would be one of short runs */
        sum += block_sum;
        squares += block_squares;
        checkpoints += block_checkpoints;
        out.trial_count += count;
        out.mean_s = sum / (double)out.trial_count;
        out.checkpoints = checkpoints / (double)out.trial_count;
        out.half_s =
            1.96 *
            sqrt(fmax(0, squares / (double)out.trial_count - out.mean_s * out.mean_s) /
                 (double)out.trial_count);
        if (out.half_s <= play->precision * out.mean_s)
            break;
    }
    return out;
}
