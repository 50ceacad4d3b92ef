/* simulation_run.c - several policies on the same scenario, several times. */
#include "handlers/simulation/simulation_run.h"

#include "handlers/common/experiment.h"
#include "handlers/simulation/simulation_kept.h"

/* All metrics, and when a run ended before its time. */
enum { TRUNCATED_S = SIM_METRIC_COUNT };
static const char *const figure_names[] = {
#define X(name, doc) #name,
    SIM_METRICS(X)
#undef X
        "truncated_s",
    NULL,
};

/* Jobs done, then fewer lost (spec simulator.md 13). */
static const struct experiment_key keys[] = {{SIM_METRIC_jobs_done, true},
                                             {SIM_METRIC_jobs_lost, false}};

struct playing {
    struct request *rq;
    const struct simulation_plan *plan;
    struct simulation_result *results;
};

static enum error_code play_trial(void *context, struct experiment_trial *trial)
{
    struct playing *p = context;
    const struct simulation_plan *plan = p->plan;
    struct sim_scenario scenario = *plan->scenario;
    struct sim_run_out out = {0};

    trial->is_cut = plan->max_events && trial->events_before >= plan->max_events;
    if (trial->is_cut)
        return OK;
    if (plan->max_events)
        scenario.max_events = plan->max_events - trial->events_before;
    TRY(sim_run(&scenario, &plan->labels[trial->label].policy, trial->seed, trial->budget,
                trial->run == 0 ? &plan->wanted : NULL, &trial->progress, &out,
                p->rq->arena, p->rq->err));
    trial->progress.events = (uint64_t)out.metrics.events;
    trial->is_cut = out.status == DECISION_CUT;
    for (size_t m = 0; m < SIM_METRIC_COUNT; m++)
        trial->figures[m] = sim_metric(&out.metrics, (enum sim_metric)m);
    trial->figures[TRUNCATED_S] = out.truncated_s;
    if (trial->run == 0) {
        p->results[trial->label].first = out;
        if (p->rq->parts)
            trial->rest = simulation_pack(&out, trial->arena);
    }
    return OK;
}

static bool take_rows(void *context, const struct experiment_trial *trial,
                      struct experiment_bytes rest)
{
    struct playing *p = context;

    if (trial->run > 0)
        return rest.length == 0;
    return simulation_unpack(rest, &p->results[trial->label].first, p->rq->arena);
}

/* Of all labels the same, if it comes to that. */
static void count_truncated(const struct experiment *played,
                            struct simulation_outcome *out)
{
    out->truncated_s = (double)NAN;
    for (size_t run = 0; run < played->runs_done; run++) {
        double truncated_s = (double)NAN;

        for (size_t i = 0; i < played->in->label_count; i++)
            truncated_s =
                fmin(truncated_s, experiment_figure(played, run, i, TRUNCATED_S));
        out->truncated_count += isnan(truncated_s) ? 0U : 1U;
        out->truncated_s = fmin(out->truncated_s, truncated_s);
    }
}

/* Without complete runs there is no rank either: as they were given. */
static void summarise(const struct simulation_plan *plan, const struct experiment *played,
                      struct simulation_outcome *out, struct arena *a)
{
    size_t count = plan->label_count;
    double *means = NEW(a, double, count *SIM_METRIC_COUNT);
    const char **labels = NEW(a, const char *, count);

    out->ranking = NEW(a, size_t, count);
    for (size_t i = 0; i < count; i++) {
        for (size_t m = 0; m < SIM_METRIC_COUNT; m++) {
            out->results[i].metrics[m] = experiment_summary(played, i, m);
            means[i * SIM_METRIC_COUNT + m] = out->results[i].metrics[m].mean;
        }
        labels[i] = plan->labels[i].policy.label;
        out->ranking[i] = i;
    }
    if (played->runs_done)
        experiment_rank(means, count, SIM_METRIC_COUNT, keys, 2, labels, out->ranking);
}

enum error_code simulation_play(struct request *rq, const struct simulation_plan *plan,
                                struct simulation_outcome *out)
{
    struct playing p = {rq, plan,
                        NEW(rq->arena, struct simulation_result, plan->label_count)};
    struct experiment_in in = {.figure_names = figure_names,
                               .label_count = plan->label_count,
                               .run_count = plan->run_count,
                               .seed = plan->seed,
                               .seed_scheme = plan->seed_scheme,
                               .play = play_trial,
                               .take = take_rows,
                               .context = &p};
    struct experiment played;

    TRY(simulation_experiment(rq, &in, &played));
    out->results = p.results;
    out->status = played.is_cut ? DECISION_CUT : DECISION_FEASIBLE;
    out->events_spent =
        played.is_cut && plan->max_events && played.event_count >= plan->max_events;
    out->runs_completed = played.runs_done;
    out->events_executed = played.event_count;
    if (played.runs_done == 0)
        for (size_t i = 0; i < plan->label_count; i++)
            out->results[i].first = (struct sim_run_out){0};
    count_truncated(&played, out);
    summarise(plan, &played, out, rq->arena);
    return OK;
}
