/* checkpoint_verify.c - answered checkpoints are played with drawn failures. */
#include "algorithms/checkpoint/trials.h"
#include "handlers/checkpoint/checkpoint_decision.h"

#include "models/base/order.h"

#include <math.h>

/* Enough is known of a mean at this half width; and what agrees with it. */
#define HALF_WIDTH_RATIO 1e-3
#define AGREES_RATIO     2e-3

/* The plan that was answered. */
union plan {
    struct trial_finite finite;
    struct trial_interval interval;
    struct trial_midpoint midpoint;
};

static void set_plan(const struct checkpoint_in *in, const struct checkpoint_out *out,
                     union plan *plan, struct trials_in *trials)
{
    trials->plan = plan;
    if (out->table) {
        trials->next = trial_next_renewal;
        trials->plan = out->table;
    } else if (out->plan.count > 0) {
        trials->next = trial_next_finite;
        plan->finite = (struct trial_finite){out->plan, in->checkpoint_overhead_s};
    } else if (out->by_law && out->law.count == 1) {
        trials->next = trial_next_midpoint;
        plan->midpoint =
            trial_midpoint_of(&out->law, in->checkpoint_overhead_s, in->restart_s,
                              out->floor_s, in->execution_time_s);
    } else {
        trials->next = trial_next_interval;
        plan->interval =
            (struct trial_interval){out->interval_s, in->checkpoint_overhead_s};
    }
}

/* The nodes, as the decision saw them. */
static bool set_nodes(const struct checkpoint_in *in, const struct checkpoint_out *out,
                      struct failure_law *own, struct trials_in *trials)
{
    *own = (struct failure_law){NAN, NAN, 0, checkpoint_mean_s(in), 1};
    trials->hazard = (struct job_hazard){own, 1};
    if (!out->by_law)
        return own->mean_s > 0 && isfinite(own->mean_s);
    if (out->law.count > 0)
        *own = out->law;
    else
        trials->hazard = (struct job_hazard){in->laws, in->law_count};
    return true;
}

/* The least time of a trial within which the share p of them ended; NAN: not kept. */
static double quantile_of(const struct trials_in *trials, size_t count, double p)
{
    if (!trials->times_s || count == 0)
        return (double)NAN;
    sort_numbers(trials->times_s, count);
    return trials->times_s[(size_t)fmax(0, ceil(p * (double)count - 1e-9) - 1)];
}

static void verify(struct checkpoint_work *w, const struct checkpoint_job *job,
                   const struct trials_in *trials, double expected_s,
                   struct checkpoint_interval *out)
{
    struct checkpoint_verified *verified =
        NEW(w->rq->arena, struct checkpoint_verified, 1);
    struct trials_out got;
    double quantile_s;

    trials_run(trials, &got, w->scratch);
    quantile_s =
        quantile_of(trials, got.trial_count, w->param[CHECKPOINT_SLURM_QUANTILE]);
    *verified = (struct checkpoint_verified){
        .mean_s = got.mean_s,
        .ci95_s = got.ci95_s,
        .trial_count = got.trial_count,
        .cut = got.cut,
        .quantile_s = quantile_s,
        .agrees = fabs(got.mean_s - expected_s) <= got.ci95_s + AGREES_RATIO * expected_s,
    };
    out->verified = verified;
    if (verified->agrees)
        return;
    w->is_unproved = true;
    if (got.trial_count > 0)
        checkpoint_affect(w, CHECKPOINT_WARNS_CHECK_DIFFERS, job);
}

/* Trials for an expected time that no formula gives: of the job as a whole. */
static void expect(struct checkpoint_work *w, const struct checkpoint_job *job,
                   const struct checkpoint_in *in, struct trials_in *trials,
                   struct checkpoint_interval *out)
{
    struct trials_out got;

    trials->stream = arena_printf(w->scratch, "expected %s", job->id);
    trials->trial_count = TRIALS_PRESET;
    trials_run(trials, &got, w->scratch);
    out->out.never_ends = got.endless;
    if (!got.endless && got.trial_count > 0)
        checkpoint_add_expected(in->execution_time_s, got.mean_s, &out->out);
}

void checkpoint_play(struct checkpoint_work *w, const struct checkpoint_job *job,
                     const struct checkpoint_in *in, struct checkpoint_interval *out)
{
    static const struct checkpoint_verify preset = {TRIALS_PRESET, NAN};
    const struct checkpoint_verify *asked = job->verify ? job->verify : w->body->verify;
    bool is_whole = in->start || !in->remaining_is_known;
    struct checkpoint_foretold told;
    struct failure_law own;
    union plan plan;
    struct trials_in trials = {
        .work_s = in->execution_time_s,
        .restart_s = in->restart_s,
        .scratch_s = in->restart_from_scratch_s,
        .delay_s = in->reschedule_delay_s,
        .has_image = in->has_checkpoint > 0,
        .seed = w->body->decision.seed,
        .half_width_ratio = HALF_WIDTH_RATIO,
        .budget = &w->rq->budget,
    };
    bool can = is_whole && w->scratch && in->execution_time_s > 0 &&
               isfinite(in->execution_time_s) &&
               set_nodes(in, &out->out, &own, &trials) && !out->out.never_ends;
    bool expects = can && out->out.by_law && isnan(out->out.expected_completion_s);

    if (expects && w->body->job_count > CHECKPOINT_FEW_JOBS) {
        checkpoint_affect(w, CHECKPOINT_WARNS_EXPECTED_SKIPPED, job);
        expects = false;
    }
    if (!asked && checkpoint_wants_limit(w))
        asked = &preset;
    if (asked && !can)
        checkpoint_affect(w, CHECKPOINT_WARNS_UNVERIFIED, job);
    if (!can || (!expects && !asked))
        return;
    set_plan(in, &out->out, &plan, &trials);
    if (job->world.silent) {
        trials.silent_mean_s = job->world.silent->mean_interval_s;
        trials.verification_s = job->world.silent->verification_s;
    }
    checkpoint_world_play(w, job, out, &trials);
    checkpoint_world_foretell(job, in, out, &told, &trials);
    if (expects)
        expect(w, job, in, &trials, out);
    if (!asked)
        return;
    if (isnan(out->out.expected_completion_s)) {
        checkpoint_affect(w, CHECKPOINT_WARNS_UNVERIFIED, job);
        return;
    }
    trials.stream = job->id;
    trials.trial_count = (size_t)asked->trial_count;
    if (checkpoint_wants_limit(w)) { /* which takes all trials */
        trials.times_s = NEW(w->scratch, double, trials.trial_count);
        trials.half_width_ratio = 0;
    }
    if (!isnan(asked->seed))
        trials.seed = (uint64_t)asked->seed;
    verify(w, job, &trials, out->out.expected_completion_s, out);
}
