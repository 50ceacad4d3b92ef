/* checkpoint_foresight.c - jobs whose failures or interruptions are told in advance. */
#include "handlers/checkpoint/checkpoint_decision.h"

#include "algorithms/checkpoint/alarms.h"

/* Trials of a job with alarms are enough at this half width. */
#define HALF_WIDTH 0.001

static struct predictor predictor_of(const struct checkpoint_predictor *x,
                                     double overhead_s)
{
    return (struct predictor){x->recall_ratio, x->precision_ratio, x->lead_s,
                              isnan(x->proactive_overhead_s) ? overhead_s
                                                             : x->proactive_overhead_s};
}

bool checkpoint_has_interruptions(const struct checkpoint_job *job)
{
    return job->world.notice && job->world.notice->interruptions_per_hour > 0;
}

struct interruptions checkpoint_interruptions(const struct interruption_notice *notice,
                                              double nodes, double overhead_s)
{
    return (struct interruptions){
        nodes * notice->interruptions_per_hour / 3600, notice->notice_s,
        isnan(notice->proactive_overhead_s) ? overhead_s : notice->proactive_overhead_s};
}

/* What checkpoints are planned against. */
void checkpoint_foresee(struct checkpoint_work *w, const struct checkpoint_job *job,
                        struct checkpoint_in *in, struct checkpoint_interval *out)
{
    double mean_s = in->mean_failure_interval_s;

    if (job->world.predictor) {
        struct predictor x =
            predictor_of(job->world.predictor, in->checkpoint_overhead_s);

        if (x.recall_ratio > 0 && !predictor_is_used(&x))
            checkpoint_affect(w, CHECKPOINT_WARNS_LEAD, job);
        else if (x.precision_ratio > 0)
            out->world.alarm_threshold_s = predictor_threshold_s(&x);
        in->mean_failure_interval_s = predictor_mean_s(&x, mean_s);
    } else if (checkpoint_has_interruptions(job)) {
        struct interruptions x = checkpoint_interruptions(
            job->world.notice, out->world.nodes, in->checkpoint_overhead_s);
        bool is_foreseen = x.notice_s >= x.overhead_s;

        if (!is_foreseen)
            checkpoint_affect(w, CHECKPOINT_WARNS_NOTICE, job);
        if (isnan(mean_s) && !is_foreseen)
            in->mean_failure_interval_s = 1 / x.per_s;
        else
            in->mean_failure_interval_s = interrupted_mean_s(&x, mean_s);
    }
    /* as if nothing ever failed */
    if (in->mean_failure_interval_s > CHECKPOINT_LONGEST_S)
        in->mean_failure_interval_s = CHECKPOINT_LONGEST_S;
    if (in->mean_failure_interval_s == mean_s || isnan(in->mean_failure_interval_s))
        return;
    out->world.planned_mean_interval_s = in->mean_failure_interval_s;
    in->laws = NULL;
    in->law_count = 0;
}

/* What to do on an alarm. */
static void answer_alarm(const struct checkpoint_job *job, const struct checkpoint_in *in,
                         struct checkpoint_interval *out)
{
    double since_s = job->in.work_since_checkpoint_s;
    bool take = since_s >= out->world.alarm_threshold_s; /* not if it is NAN */
    struct checkpoint_out *x = &out->out;

    x->action = take ? CHECKPOINT_TAKE : CHECKPOINT_OMIT;
    x->reason = take ? CHECKPOINT_REASON_ALARM : CHECKPOINT_REASON_LITTLE_TO_LOSE;
    x->next_request_in_s = take ? x->interval_s : fmax(0, x->interval_s - since_s);
    x->consecutive_omissions = take ? 0 : in->consecutive_omissions;
}

bool checkpoint_world_foretell(const struct checkpoint_job *job,
                               const struct checkpoint_in *in,
                               const struct checkpoint_interval *out,
                               struct checkpoint_foretold *told, struct trials_in *trials)
{
    const struct finite_plan *plan = &out->out.plan;

    if (job->world.predictor && !isnan(out->world.planned_mean_interval_s)) {
        struct predictor x =
            predictor_of(job->world.predictor, in->checkpoint_overhead_s);

        told->foresight = predictor_foresight(&x, out->world.failure_mean_s);
        told->law.mean_s = out->world.failure_mean_s;
    } else if (checkpoint_has_interruptions(job) &&
               isnan(out->world.planned_mean_interval_s)) {
        struct interruptions x = checkpoint_interruptions(
            job->world.notice, out->world.nodes, in->checkpoint_overhead_s);

        told->foresight = (struct trial_foresight){.notices_per_s = x.per_s,
                                                   .overhead_s = x.overhead_s};
        told->law.mean_s = in->mean_failure_interval_s;
    } else {
        return false;
    }
    told->law.shape = told->law.scale_s = (double)NAN;
    told->law.age_s = 0;
    told->law.count = 1;
    told->plan =
        (struct trial_even){out->out.interval_s, in->checkpoint_overhead_s, false};
    if (plan->count > 0)
        told->plan = (struct trial_even){plan->count > 2   ? plan->middle_s
                                         : plan->count > 1 ? plan->first_s
                                                           : HUGE_VAL,
                                         in->checkpoint_overhead_s, plan->count > 1};
    trials->foresight = &told->foresight;
    trials->hazard = (struct job_hazard){&told->law, 1};
    trials->next = trial_next_even;
    trials->plan = &told->plan;
    return true;
}

/* The expected time with alarms, by trials. */
static void draw(struct checkpoint_work *w, const struct checkpoint_job *job,
                 const struct checkpoint_in *in, struct checkpoint_interval *out)
{
    struct checkpoint_drawn *drawn = NEW(w->rq->arena, struct checkpoint_drawn, 1);
    struct checkpoint_foretold told;
    struct finite_job known;
    struct trials_out got;
    struct trials_in trials = {
        .work_s = in->execution_time_s,
        .restart_s = in->restart_s,
        .scratch_s = in->restart_from_scratch_s,
        .delay_s = in->reschedule_delay_s,
        .seed = w->body->decision.seed,
        .stream = arena_printf(w->rq->arena, "expected %s", job->id),
        .trial_count = TRIALS_PRESET,
        .half_width_ratio = HALF_WIDTH,
        .budget = &w->rq->budget,
    };

    if (!checkpoint_finite_job(in, CHECKPOINT_SHORTEST_S, &known) ||
        !checkpoint_world_foretell(job, in, out, &told, &trials))
        return;
    known.mean_s = out->world.failure_mean_s;
    if (!isfinite(finite_expected_of_interval_s(&known, told.plan.interval_s)))
        return; /* it would not end */
    trials_run(&trials, &got, NULL);
    if (got.cut)
        checkpoint_affect(w, CHECKPOINT_WARNS_CUT_WORLD, job);
    out->out.expected_completion_s = got.mean_s;
    if (isnan(got.mean_s))
        return;
    out->out.waste_ratio = 1 - in->execution_time_s / got.mean_s;
    *drawn =
        (struct checkpoint_drawn){got.ci95_s, got.checkpoints, got.trial_count, got.cut};
    out->world.drawn = drawn;
}

/* Figures of the planned failures alone are not those of the job. */
static void forget(struct checkpoint_interval *out)
{
    struct checkpoint_out *x = &out->out;

    x->bound = CHECKPOINT_BOUND_NONE;
    x->lower_bound_s = NAN;
    x->expected_time_ratio = x->waste_ratio = x->gap_ratio = NAN;
    x->best_completion_s = x->best_checkpoint_count = NAN;
    x->expected_completion_s = NAN;
}

static void add_interruptions(const struct checkpoint_job *job,
                              const struct checkpoint_in *in,
                              struct checkpoint_interval *out)
{
    struct interruptions x = checkpoint_interruptions(job->world.notice, out->world.nodes,
                                                      in->checkpoint_overhead_s);
    double planned_s = out->out.expected_completion_s, m = in->mean_failure_interval_s;
    double each_s = x.overhead_s + in->restart_s;

    if (x.notice_s < x.overhead_s)
        x.per_s = 0; /* they are among the failures */
    out->world.busy_s = planned_s * (m / (m + in->reschedule_delay_s) + x.per_s * each_s);
    if (x.per_s <= 0)
        return;
    forget(out);
    out->out.expected_completion_s =
        planned_s * (1 + x.per_s * (each_s + in->reschedule_delay_s));
    if (!isnan(planned_s))
        out->out.waste_ratio = 1 - in->execution_time_s / out->out.expected_completion_s;
}

void checkpoint_add_foresight(struct checkpoint_work *w, const struct checkpoint_job *job,
                              const struct checkpoint_in *in,
                              struct checkpoint_interval *out)
{
    if (job->event == EVENT_ALARM)
        answer_alarm(job, in, out);
    if (job->world.predictor && !isnan(out->world.planned_mean_interval_s)) {
        forget(out);
        draw(w, job, in, out);
        w->is_unproved = true;
    }
    if (checkpoint_has_interruptions(job)) {
        add_interruptions(job, in, out);
        w->is_unproved = true;
    }
}
