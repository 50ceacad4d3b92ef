/* checkpoint/foretold_trials.c - trials of jobs that are told of failures and
 * interruptions.
 *
 * Failures come at a constant rate on the clock of the machines, which stands still while
 * the job waits for a node. Each is foreseen with the chance r (recall), and rings an
 * alarm lead_s before it strikes, wherever the job is then; alarms of failures that would
 * strike within lead_s of the start rang before it. The failures are drawn twice from the
 * same numbers, once as they strike and once as they ring, so any number of them may be
 * on their way. False alarms come at a rate of their own. While it works the job saves
 * itself on an alarm if that is worth it.
 *
 * An interruption is told in time: the job saves what it has, its node goes, and it waits
 * and restarts as after a failure. One that comes during a checkpoint waits for its end,
 * and one during a restart finds nothing to save.
 *
 * Source: as alarms.h and interruptions.h.
 */
#include "algorithms/checkpoint/trials.h"

#include <math.h>

/* Failures that are foreseen, in the order of time. */
struct foreseen {
    struct rng rng;
    double at_s;
};

struct run {
    const struct trials_in *in;
    const struct trial_foresight *told;
    double foreseen_per_s, unforeseen_per_s;
    struct foreseen strike, ring; /* the next one to strike, to ring */
    struct rng other;             /* what nobody foresees, and interruptions */
    double unforeseen_s, false_alarm_s, notice_s; /* when the next ones are */
    double clock_s, delays_s;
    double saved_s, done_s; /* work in the image, work done */
    size_t segment;         /* images since the start */
    bool has_image, is_restarted;
    double checkpoints;
    bool is_cut;
};

static double gap_s(struct rng *rng, double per_s)
{
    return per_s > 0 ? -log1p(-rng_uniform(rng)) / per_s : HUGE_VAL;
}

static double strikes_at_s(const struct run *r)
{
    return fmin(r->strike.at_s, r->unforeseen_s);
}

static double rings_at_s(const struct run *r)
{
    return fmin(r->ring.at_s - r->told->lead_s, r->false_alarm_s);
}

/* Moves on to the next alarm that is not past. */
static void next_alarm(struct run *r)
{
    if (r->false_alarm_s <= r->clock_s)
        r->false_alarm_s = r->clock_s + gap_s(&r->other, r->told->false_alarms_per_s);
    while (!r->is_cut && r->ring.at_s - r->told->lead_s <= r->clock_s) {
        r->ring.at_s += gap_s(&r->ring.rng, r->foreseen_per_s);
        r->is_cut = budget_step(r->in->budget, 8);
    }
}

/* Moves on to the next failure that is not past. */
static void next_strike(struct run *r)
{
    if (r->unforeseen_s <= r->clock_s)
        r->unforeseen_s = r->clock_s + gap_s(&r->other, r->unforeseen_per_s);
    while (!r->is_cut && r->strike.at_s <= r->clock_s) {
        r->strike.at_s += gap_s(&r->strike.rng, r->foreseen_per_s);
        r->is_cut = budget_step(r->in->budget, 8);
    }
}

enum passed { PASSED, STRUCK, ALARMED, TOLD };

/* Lets span_s pass, or less. */
static enum passed pass(struct run *r, double span_s, bool hears_alarms,
                        bool hears_notices)
{
    double end_s = r->clock_s + span_s;

    for (;;) {
        double alarm_s = rings_at_s(r), next_s;

        if (budget_step(r->in->budget, 8))
            r->is_cut = true;
        next_s = fmin(alarm_s, hears_notices ? r->notice_s : HUGE_VAL);
        if (r->is_cut || (end_s <= strikes_at_s(r) && end_s <= next_s)) {
            r->clock_s = end_s;
            return PASSED;
        }
        if (strikes_at_s(r) <= next_s) {
            r->clock_s = strikes_at_s(r);
            return STRUCK;
        }
        r->clock_s = next_s;
        if (alarm_s > next_s)
            return TOLD;
        next_alarm(r);
        if (hears_alarms)
            return ALARMED;
    }
}

/* A checkpoint of what is done; false: struck. */
static bool save(struct run *r, double span_s)
{
    if (pass(r, span_s, false, false) == STRUCK)
        return false;
    r->saved_s = r->done_s;
    r->has_image = true;
    r->is_restarted = false;
    r->segment++;
    r->checkpoints++;
    return true;
}

static struct trial_segment next_segment(const struct run *r)
{
    struct trial_state state = {
        .done_s = r->saved_s,
        .left_s = r->in->work_s - r->saved_s,
        .segment = r->segment,
        .age_s = (double)NAN,
        .is_restarted = r->is_restarted,
    };

    return r->in->next(r->in->plan, &state);
}

/* Told of something while it works; false: it has to restart. */
static bool react(struct run *r, enum passed how)
{
    bool has_work = r->done_s > r->saved_s;

    if (how == TOLD) {
        if (has_work)
            save(r, r->told->overhead_s);
        return false;
    }
    if (!has_work || r->done_s - r->saved_s < r->told->threshold_s)
        return true;
    return save(r, r->told->overhead_s);
}

/* Works until it has to restart, or the end: true. */
static bool work(struct run *r)
{
    double work_s = r->in->work_s;

    while (r->done_s < work_s && !r->is_cut) {
        struct trial_segment segment = next_segment(r);
        double to_s = fmin(r->saved_s + segment.work_s, work_s), began_s = r->clock_s;
        enum passed how = pass(r, to_s - r->done_s, true, true);
        bool goes_on = how != STRUCK;

        if (how == PASSED) {
            r->done_s = to_s;
            goes_on = to_s >= work_s || save(r, segment.checkpoint_s);
        } else if (goes_on) {
            r->done_s = fmin(to_s, r->done_s + (r->clock_s - began_s));
            goes_on = react(r, how);
        }
        if (!goes_on || (r->notice_s <= r->clock_s && r->done_s < work_s))
            return false; /* told while it was saved, too */
    }
    return true;
}

/* Goes on from the image. What came while it waited came to nobody. */
static void fall(struct run *r)
{
    r->done_s = r->saved_s;
    r->is_restarted = true;
    r->delays_s += r->in->delay_s;
    next_strike(r);
    if (r->notice_s <= r->clock_s)
        r->notice_s = r->clock_s + gap_s(&r->other, r->told->notices_per_s);
}

static void begin(struct run *r, struct rng *rng)
{
    uint64_t seed = rng_next(rng);
    const struct failure_law *law = r->in->hazard.laws;
    double per_s = law->count / law->mean_s;

    r->foreseen_per_s = r->told->foreseen_ratio * per_s;
    r->unforeseen_per_s = (1 - r->told->foreseen_ratio) * per_s;
    r->strike.rng = r->ring.rng = rng_stream(seed, "foreseen");
    r->other = rng_stream(seed, "others");
    r->notice_s = gap_s(&r->other, r->told->notices_per_s);
    next_strike(r);
    next_alarm(r);
}

bool trials_play_foretold(const struct trials_in *in, struct rng *rng, double *time_s,
                          double *checkpoints)
{
    struct run r = {.in = in, .told = in->foresight, .has_image = in->has_image};

    begin(&r, rng);
    while (!r.is_cut && !work(&r)) {
        enum passed how;

        do {
            fall(&r);
            how = pass(&r, r.has_image ? in->restart_s : in->scratch_s, false, true);
        } while (!r.is_cut && how != PASSED);
    }
    *time_s = r.clock_s + r.delays_s;
    *checkpoints = r.checkpoints;
    return !r.is_cut;
}
