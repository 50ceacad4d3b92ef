/* cluster_play.c - the runs of a cluster simulation, and what they come to.
 *
 * A trial is one label in one run. Generated jobs are drawn anew for each, from the run's
 * seed, so that all labels meet the same ones; failures are drawn by node and wall time.
 */
#include "handlers/common/experiment.h"
#include "handlers/simulation_cluster/cluster_simulation_parts.h"

#include "algorithms/queue/outcome.h"
#include "models/base/order.h"
#include "models/base/plural.h"

#include <stdlib.h>
#include <string.h>

static const double SLOWDOWN_BOUND_S = 10;
static const double percents[CLUSTER_PERCENTILES] = {0.5, 0.9, 0.95, 0.99};

/* Figures of a trial: the metrics, then percentiles of the times, and what is told. */
enum {
    FIGURE_PERCENTILES = CLUSTER_METRIC_COUNT,
    FIGURE_TRUNCATED_S = FIGURE_PERCENTILES + CLUSTER_TIME_COUNT * CLUSTER_PERCENTILES,
    FIGURE_JOB_COUNT,
    FIGURE_UNREACHED, /* 1: stop.jobs was not reached */
    FIGURE_STUCK,     /* 1: jobs wait for ever */
    FIGURE_COUNT
};
#define PERCENTILE_NAMES(name) #name ".p50", #name ".p90", #name ".p95", #name ".p99",
static const char *const figure_names[] = {
#define X(name, doc) #name,
    CLUSTER_TIMES(X) CLUSTER_FIGURES(X)
#undef X
#define X(name, doc) PERCENTILE_NAMES(name)
        CLUSTER_TIMES(X)
#undef X
            "truncated_s",
    "job_count",
    "unreached",
    "stuck",
    NULL,
};
_Static_assert(sizeof(figure_names) / sizeof(*figure_names) == FIGURE_COUNT + 1,
               "a name for each");

/* ---- figures of a run ---- */

/* The times of jobs, as far as they are known. */
struct times {
    double *values[CLUSTER_TIME_COUNT];
    size_t count[CLUSTER_TIME_COUNT];
};

static void note_job(struct times *t, const struct replay_job *j,
                     const struct replay_outcome *o)
{
    double turnaround_s, run_s;

    if (o->first_start_ms == REPLAY_NEVER)
        return;
    t->values[CLUSTER_METRIC_job_wait_s][t->count[CLUSTER_METRIC_job_wait_s]++] =
        1e-3 * (double)(o->first_start_ms - j->submit_ms);
    if (o->state != REPLAY_DONE && o->state != REPLAY_KILLED)
        return;
    turnaround_s = 1e-3 * (double)(o->end_ms - j->submit_ms);
    run_s =
        1e-3 * (double)(o->state == REPLAY_DONE ? j->run_ms : o->end_ms - o->start_ms);
    t->values[CLUSTER_METRIC_job_turnaround_s]
             [t->count[CLUSTER_METRIC_job_turnaround_s]++] = turnaround_s;
    t->values[CLUSTER_METRIC_bounded_slowdown]
             [t->count[CLUSTER_METRIC_bounded_slowdown]++] =
        queue_bounded_slowdown(turnaround_s, run_s, SLOWDOWN_BOUND_S);
}

/* Nearest rank. */
static double percentile(const double *sorted, size_t count, double share)
{
    size_t rank = (size_t)ceil(share * (double)count - 1e-9);

    return sorted[rank ? rank - 1 : 0];
}

static void fill_times(struct times *t, double *figures, struct budget *b)
{
    for (size_t m = 0; m < CLUSTER_TIME_COUNT; m++) {
        double *p = figures + FIGURE_PERCENTILES + m * CLUSTER_PERCENTILES, sum = 0;
        size_t count = t->count[m];

        for (size_t i = 0; i < count; i++)
            sum += t->values[m][i];
        figures[m] = count ? sum / (double)count : (double)NAN;
        sort_numbers(t->values[m], count);
        for (size_t i = 0; i < CLUSTER_PERCENTILES; i++)
            p[i] = count ? percentile(t->values[m], count, percents[i]) : (double)NAN;
        budget_step(b, 32 * count);
    }
}

static double node_s(const struct replay_totals *t, enum replay_time time)
{
    return t->is_exact ? (double)t->node_ms[time] / 1000 : t->node_s[time];
}

static void fill_prices(const struct cluster_playing *p, const struct replay_out *out,
                        double *figures)
{
    double cost = 0, energy_j = 0;

    for (size_t g = 0; g < p->site.group_count; g++) {
        const struct cluster_group_in *in = p->site.groups[g].in;
        double held_s = out->held[g].node_s,
               cpu_s = out->held[g].cpu_s / p->site.cpu_units;

        cost += in->price_per_s * held_s + in->price_per_cpu_s * cpu_s;
        energy_j += in->power_node_w * held_s + in->power_per_cpu_w * cpu_s;
    }
    figures[CLUSTER_METRIC_cost] = cost;
    figures[CLUSTER_METRIC_energy_j] = energy_j;
}

static double all_cpus(const struct cluster_site *s)
{
    double sum = 0;

    for (size_t g = 0; g < s->group_count; g++)
        sum += (double)s->nodes[g].count * (double)s->nodes[g].amounts[REPLAY_CPUS];
    return sum;
}

static void fill_totals(const struct cluster_playing *p, const struct replay_totals *t,
                        double *figures)
{
    long double cpu_ms = (long double)all_cpus(&p->site) * t->end_ms;
    double duration_s = 1e-3 * (double)t->end_ms;

    figures[CLUSTER_METRIC_jobs_done] = (double)t->done_count;
    figures[CLUSTER_METRIC_jobs_lost] = (double)t->lost_count;
    figures[CLUSTER_METRIC_never_fit_count] = (double)t->never_count;
    figures[CLUSTER_METRIC_killed_count] = (double)t->killed_count;
    figures[CLUSTER_METRIC_failure_killed_count] = (double)t->failure_kills;
    figures[CLUSTER_METRIC_checkpoint_count] = (double)t->checkpoints;
    figures[CLUSTER_METRIC_failure_count] = (double)t->failures;
#define X(name, doc) \
    figures[CLUSTER_METRIC_node_seconds_##name] = node_s(t, REPLAY_TIME_##name);
    REPLAY_TIMES(X)
#undef X
    figures[CLUSTER_METRIC_utilisation_ratio] =
        cpu_ms > 0 ? (double)(t->cpu_busy_ms / cpu_ms) : (double)NAN;
    figures[CLUSTER_METRIC_duration_s] = duration_s;
    figures[CLUSTER_METRIC_makespan_s] = 1e-3 * (double)t->last_end_ms;
}

static void fill_figures(struct cluster_playing *p, struct experiment_trial *trial,
                         const struct cluster_jobs *jobs, const struct replay_out *out)
{
    struct times t = {0};
    size_t unfinished = 0, started = 0;

    for (size_t m = 0; m < CLUSTER_TIME_COUNT; m++)
        t.values[m] = NEW(trial->scratch, double, jobs->count);
    for (size_t i = 0; i < jobs->count; i++) {
        const struct replay_outcome *o = &out->outcomes[i];

        note_job(&t, &jobs->jobs[i], o);
        started += o->first_start_ms < REPLAY_NEVER;
        unfinished += o->state == REPLAY_WAITING || o->state == REPLAY_RUNNING;
        budget_step(trial->budget, 16);
    }
    fill_times(&t, trial->figures, trial->budget);
    fill_totals(p, &out->totals, trial->figures);
    fill_prices(p, out, trial->figures);
    trial->figures[CLUSTER_METRIC_jobs_unfinished] = (double)unfinished;
    trial->figures[CLUSTER_METRIC_restarts_per_job] =
        started ? (double)out->totals.restarts / (double)started : (double)NAN;
    trial->figures[FIGURE_TRUNCATED_S] = jobs->truncated_s;
    trial->figures[FIGURE_JOB_COUNT] = (double)jobs->count;
}

/* ---- rows ---- */

static double seconds_of(int64_t ms)
{
    return ms == REPLAY_NEVER ? (double)NAN : 1e-3 * (double)ms;
}

static void name_nodes(struct cluster_playing *p, const struct replay_outcome *o,
                       struct cluster_job_row *row)
{
    const char **ids = NEW(p->a, const char *, o->nodes);

    for (size_t i = 0; i < o->nodes; i++) {
        ids[i] = cluster_host_name(&p->site, o->node_ids[i], p->a);
        budget_step(&p->rq->budget, 32);
    }
    if (o->nodes == 1) {
        row->resource_id = ids[0];
        return;
    }
    row->resource_ids = ids;
    row->resource_id_count = o->nodes;
}

static void list_jobs(struct cluster_playing *p, size_t label,
                      const struct cluster_jobs *jobs, const struct replay_out *out)
{
    size_t count = jobs->count;
    struct cluster_job_row *rows;
    const struct cluster_settings *slurm = p->labels[label].rules.slurm;
    bool preempts = slurm && slurm->preempt_type != CLUSTER_PREEMPT_NONE;

    if (count > p->body->output.job_rows_max)
        count = (size_t)p->body->output.job_rows_max;
    rows = NEW(p->a, struct cluster_job_row, count);
    for (size_t i = 0; i < count; i++) {
        const struct replay_outcome *o = &out->outcomes[i];

        rows[i] = (struct cluster_job_row){
            .job_id = jobs->given ? p->body->jobs[jobs->given[i]].id : NULL,
            .number = jobs->numbers ? jobs->numbers[i]
                      : jobs->given ? (double)NAN
                                    : (double)(i + 1),
            .state = o->state,
            .reason = o->state == REPLAY_NEVER_FITS ? cluster_row_reasons[0] : NULL,
            .arrival_s = seconds_of(jobs->jobs[i].submit_ms),
            .start_s = seconds_of(o->first_start_ms),
            .last_start_s = seconds_of(o->start_ms),
            .finish_s = seconds_of(o->end_ms),
            .nodes = o->nodes,
            .cpus = (double)o->cpus / p->site.cpu_units,
            .restarts = o->restarts,
            .failure_kills = o->failure_kills,
            .preemptions = preempts ? (double)o->preemptions : (double)NAN,
            .checkpoints = o->checkpoints,
            .run_time_index = UINT64_MAX,
        };
        if (jobs->given)
            cluster_models_tell(p, jobs->given[i], &rows[i]);
        if (o->node_ids)
            name_nodes(p, o, &rows[i]);
    }
    p->results[label].jobs = rows;
    p->results[label].job_count = count;
}

/* ---- a trial ---- */

static void note_progress(void *context, double ratio, uint64_t events)
{
    struct experiment_trial *trial = context;

    trial->progress = (struct sim_progress){.events = events, .time_ratio = ratio};
}

static struct replay_in input_of(const struct cluster_playing *p,
                                 const struct experiment_trial *trial,
                                 const struct cluster_jobs *jobs)
{
    const struct simulation_stop *stop = p->body->stop;
    const struct cluster_site *s = &p->site;
    double stop_s =
        fmin(p->stop_s, isnan(jobs->truncated_s) ? HUGE_VAL : jobs->truncated_s);

    return (struct replay_in){
        .groups = s->nodes,
        .group_count = s->group_count,
        .amount_count = s->amount_count,
        .shared = s->shared,
        .shared_count = s->with->shared_capacity_count,
        .bursts = s->bursts,
        .burst_count = p->body->failure_group_count,
        .sets = s->sets,
        .set_count = s->set_count,
        .reservations = s->reservations,
        .reservation_count = s->reservation_count,
        .outages = s->outages,
        .outage_count = s->outage_count,
        .jobs = jobs->jobs,
        .job_count = jobs->count,
        .owners = p->owners ? &p->limits : NULL,
        .ranks = p->ranks,
        .rules = p->labels[trial->label].rules,
        .seed = trial->seed,
        .stop_ms = isinf(stop_s) ? REPLAY_NEVER : kernel_ms(stop_s),
        .stop_jobs = stop ? stop->jobs : 0,
        .max_events =
            p->body->max_events ? p->body->max_events - trial->events_before : 0,
        .warm_up_ms = p->body->initial_state == SIM_INITIAL_STATIONARY
                          ? kernel_ms(p->body->warm_up_s)
                          : 0,
        .keep_nodes = trial->run == 0 && p->body->output.per_job,
        .budget = trial->budget,
    };
}

static enum error_code play_trial(void *context, struct experiment_trial *trial)
{
    struct cluster_playing *p = context;
    struct cluster_jobs jobs = p->jobs;
    struct replay_watch watch = {.progress = note_progress, .context = trial};
    struct replay_out out;
    struct replay_in in;
    uint64_t through;

    trial->is_cut = p->body->max_events && trial->events_before >= p->body->max_events;
    if (trial->is_cut)
        return OK;
    if (p->generates)
        TRY(cluster_jobs_draw(p, trial->seed, &jobs, trial->arena));
    in = input_of(p, trial, &jobs);
    TRY(replay_play(&in, &watch, &out, trial->arena, trial->scratch, p->err));
    note_progress(trial, 1, out.totals.events);
    trial->is_cut = out.is_cut;
    if (out.is_cut)
        return OK;
    arena_reset(trial->scratch);
    fill_figures(p, trial, &jobs, &out);
    through = out.totals.done_count + out.totals.killed_count + out.totals.lost_count +
              out.totals.never_count + out.totals.cancelled_count;
    trial->figures[FIGURE_UNREACHED] = in.stop_jobs && through < in.stop_jobs;
    trial->figures[FIGURE_STUCK] =
        out.is_stuck && !in.stop_jobs && through < in.job_count;
    if (trial->run == 0 && p->body->output.per_job)
        list_jobs(p, trial->label, &jobs, &out);
    return OK;
}

/* Whether the mean of a figure is known well enough, for each label. */
static bool is_enough(void *context, const struct experiment *e)
{
    const struct cluster_playing *p = context;
    size_t metric = (size_t)p->confidence_metric;
    size_t least = p->body->runs ? (size_t)p->body->runs : 2;

    if (e->runs_done < least || e->runs_done < 2)
        return false;
    for (size_t i = 0; i < p->body->compare_count; i++) {
        struct sim_summary s = experiment_summary(e, i, metric);

        if (!(s.ci95 <= p->body->confidence->half_width_ratio * fabs(s.mean)))
            return false;
    }
    return true;
}

/* ---- over the runs ---- */

static void fill_results(struct cluster_playing *p, const struct experiment *played)
{
    for (size_t i = 0; i < p->body->compare_count; i++) {
        struct cluster_label_answer *to = &p->results[i];

        to->label = p->labels[i].label;
        to->queue = p->labels[i].queue;
        to->checkpoint = p->labels[i].checkpoint;
        to->runs = played->runs_done;
        for (size_t m = 0; m < CLUSTER_METRIC_COUNT; m++) {
            struct cluster_figure *f = &to->metrics.metric[m];

            f->summary = experiment_summary(played, i, m);
            budget_step(&p->rq->budget, 8 * played->runs_done);
            for (size_t k = 0; k < CLUSTER_PERCENTILES; k++)
                f->percentile[k] =
                    m < CLUSTER_TIME_COUNT
                        ? experiment_summary(
                              played, i, FIGURE_PERCENTILES + m * CLUSTER_PERCENTILES + k)
                              .mean
                        : (double)NAN;
        }
    }
    p->answer->results = p->results;
    p->answer->result_count = p->body->compare_count;
}

/* Run by run, the label's figure less the baseline's. */
static bool compare(const struct cluster_playing *p, const struct experiment *played,
                    size_t label, size_t metric, struct cluster_difference *to)
{
    double *values = NEW(p->a, double, played->runs_done);
    struct sim_summary s;

    budget_step(&p->rq->budget, 8 * played->runs_done);
    for (size_t run = 0; run < played->runs_done; run++)
        values[run] = experiment_figure(played, run, label, metric) -
                      experiment_figure(played, run, p->baseline, metric);
    s = sim_summarise(values, played->runs_done);
    if (s.count < 2)
        return false;
    *to = (struct cluster_difference){.label = p->labels[label].label,
                                      .baseline = p->labels[p->baseline].label,
                                      .metric = cluster_metric_names[metric],
                                      .mean = s.mean,
                                      .ci95 = s.ci95,
                                      .significant = fabs(s.mean) > s.ci95};
    return true;
}

static void fill_differences(struct cluster_playing *p, const struct experiment *played)
{
    size_t labels = p->body->compare_count, count = 0;
    struct cluster_difference *list =
        NEW(p->a, struct cluster_difference, labels * CLUSTER_METRIC_COUNT);

    for (size_t i = 0; i < labels && played->runs_done > 1; i++)
        for (size_t m = 0; i != p->baseline && m < CLUSTER_METRIC_COUNT; m++) {
            budget_step(&p->rq->budget, played->runs_done);
            count += compare(p, played, i, m, &list[count]);
        }
    p->answer->differences = list;
    p->answer->difference_count = count;
}

static void rank(struct cluster_playing *p, const struct experiment *played)
{
    static const struct experiment_key keys[] = {
        {CLUSTER_METRIC_bounded_slowdown, false},
        {CLUSTER_METRIC_job_turnaround_s, false}};
    size_t count = p->body->compare_count;
    double *means = NEW(p->a, double, count *CLUSTER_METRIC_COUNT);
    const char **given = NEW(p->a, const char *, count);
    const char **names = NEW(p->a, const char *, count);
    size_t *order = NEW(p->a, size_t, count);

    for (size_t i = 0; i < count; i++) {
        given[i] = p->labels[i].label;
        budget_step(&p->rq->budget, CLUSTER_METRIC_COUNT);
        for (size_t m = 0; m < CLUSTER_METRIC_COUNT; m++)
            means[i * CLUSTER_METRIC_COUNT + m] =
                p->results[i].metrics.metric[m].summary.mean;
    }
    experiment_rank(means, count, CLUSTER_METRIC_COUNT, keys, 2, given, order);
    for (size_t i = 0; i < count; i++)
        names[i] = given[order[i]];
    p->answer->ranking = names;
    p->answer->ranking_count = played->runs_done ? count : 0;
}

/* ---- what the caller should know ---- */

/* Of runs that are complete: how many, and the first instant. */
static bool warn_truncated(struct cluster_playing *p, const struct experiment *played)
{
    double first_s = (double)NAN;
    size_t count = 0;

    for (size_t run = 0; run < played->runs_done; run++) {
        double at_s = experiment_figure(played, run, 0, FIGURE_TRUNCATED_S);

        count += isnan(at_s) ? 0U : 1U;
        first_s = fmin(first_s, at_s);
    }
    if (count)
        decision_warn(p->rq, &p->answer->decision,
                      "workload_truncated: the generator at /workload makes more jobs "
                      "than are played: %zu of %s ended when the next one would "
                      "have come, the first at %.10g s, and the figures are of the time "
                      "before. Ask for an earlier stop.time_s, or a larger jobs_max",
                      count, counted(played->runs_done, "run").text, first_s);
    return count > 0;
}

/* Runs of all labels of which the figure is 1. */
static size_t runs_with(const struct cluster_playing *p, const struct experiment *played,
                        size_t figure)
{
    size_t count = 0;

    for (size_t run = 0; run < played->runs_done; run++)
        for (size_t i = 0; i < p->body->compare_count; i++) {
            count += experiment_figure(played, run, i, figure) > 0;
            budget_step(&p->rq->budget, 1);
        }
    return count;
}

static void warn_unreached(struct cluster_playing *p, const struct experiment *played)
{
    size_t count = runs_with(p, played, FIGURE_UNREACHED);
    size_t stuck = runs_with(p, played, FIGURE_STUCK);

    if (stuck)
        decision_warn(p->rq, &p->answer->decision,
                      "stop_unreachable: %s ended with jobs_unfinished: nothing "
                      "more happens that could start them, as nodes stay down",
                      counted(stuck, "run").text);
    if (count)
        decision_warn(p->rq, &p->answer->decision,
                      "stop_unreachable: %s ended before /stop/jobs jobs were "
                      "through: no more came",
                      counted(count, "run").text);
}

static void warn_never(struct cluster_playing *p)
{
    for (size_t i = 0; i < p->body->compare_count; i++) {
        double count =
            p->results[i].metrics.metric[CLUSTER_METRIC_never_fit_count].summary.mean;

        if (!(count > 0))
            continue;
        decision_warn(p->rq, &p->answer->decision,
                      "never_fits: %.10g job%s of a run could never start under the "
                      "label %.80s, and %s in no other figure",
                      count, count == 1 ? "" : "s", p->labels[i].label,
                      count == 1 ? "is" : "are");
        return;
    }
}

/* Labels that io.stagger does nothing for. */
static void warn_unstaggered(struct cluster_playing *p)
{
    size_t count = 0, first = 0;

    for (size_t i = 0; i < p->body->compare_count; i++) {
        const struct replay_rules *rules = &p->labels[i].rules;

        if (!rules->checkpoint || rules->io.has_places)
            continue;
        first = count++ ? first : i;
    }
    if (p->body->io && p->body->io->stagger && count)
        decision_warn(p->rq, &p->answer->decision,
                      "stagger_unused: %s, first %.80s, %s a checkpoint policy "
                      "that does not go by failures, and %s to its intervals",
                      counted(count, "label").text, p->labels[first].label,
                      plural(count, "has", "have"), plural(count, "keeps", "keep"));
}

static void warn_rows(struct cluster_playing *p)
{
    uint64_t most = p->body->output.job_rows_max;

    if (p->body->output.per_job && p->answer->job_count > most)
        decision_warn(p->rq, &p->answer->decision,
                      "truncated: %llu of %llu jobs are listed, see "
                      "/output/job_rows_max",
                      (unsigned long long)most, (unsigned long long)p->answer->job_count);
}

static void warn_confidence(struct cluster_playing *p, const struct experiment *played)
{
    const struct cluster_confidence *c = p->body->confidence;

    if (p->confidence_metric < 0 || played->is_cut || is_enough(p, played))
        return;
    decision_warn(p->rq, &p->answer->decision,
                  "confidence_missed: after %s, /confidence/runs_max, %s is not "
                  "known to %.6g of its mean for each label",
                  counted(played->runs_done, "run").text,
                  cluster_metric_names[p->confidence_metric], c->half_width_ratio);
}

static void warn_cut(struct cluster_playing *p, const struct experiment *played)
{
    if (played->is_cut && p->body->max_events &&
        played->event_count >= p->body->max_events)
        decision_warn(p->rq, &p->answer->decision,
                      "max_events: %s did not suffice: %zu of %s %s complete",
                      counted(p->body->max_events, "event").text, played->runs_done,
                      counted(played->in->run_count, "run").text,
                      plural(played->in->run_count, "is", "are"));
    else
        simulation_warn_cut(p->rq, played, "{run was|runs were} complete",
                            &p->answer->decision);
}

static void fill_seeds(struct cluster_playing *p, const struct experiment *played)
{
    double *seeds = NEW(p->a, double, played->runs_done);

    for (size_t run = 0; run < played->runs_done; run++)
        seeds[run] =
            (double)experiment_seed(p->body->decision.seed, played->in->seed_scheme, run);
    p->answer->seeds = seeds;
    p->answer->seed_count = played->runs_done;
}

/* ---- all ---- */

static bool is_drawn(const struct cluster_playing *p)
{
    return p->generates || p->site.draws;
}

static size_t runs_of(const struct cluster_playing *p)
{
    if (p->confidence_metric >= 0)
        return (size_t)p->body->confidence->runs_max;
    if (p->body->runs)
        return (size_t)p->body->runs;
    return is_drawn(p) ? 5 : 1;
}

enum error_code cluster_play(struct cluster_playing *p)
{
    struct experiment_in in = {
        .figure_names = figure_names,
        .label_count = p->body->compare_count,
        .run_count = runs_of(p),
        .first_run_again = p->body->output.per_job,
        .seed = p->body->decision.seed,
        .seed_scheme = (enum experiment_seeds)p->body->seed_scheme,
        .play = play_trial,
        .enough = p->confidence_metric >= 0 ? is_enough : NULL,
        .context = p,
    };
    struct experiment played;
    bool truncated;

    p->results = NEW(p->a, struct cluster_label_answer, p->body->compare_count);
    TRY(simulation_experiment(p->rq, &in, &played));
    fill_results(p, &played);
    fill_differences(p, &played);
    rank(p, &played);
    fill_seeds(p, &played);
    p->answer->name = p->body->name;
    p->answer->host_count = p->site.host_count;
    p->answer->job_count = p->jobs.count;
    if (p->generates)
        p->answer->job_count =
            played.runs_done
                ? (uint64_t)experiment_figure(&played, 0, 0, FIGURE_JOB_COUNT)
                : 0;
    p->answer->runs_done = played.runs_done;
    p->answer->events_executed = played.event_count;
    truncated = warn_truncated(p, &played);
    warn_unreached(p, &played);
    warn_never(p);
    warn_unstaggered(p);
    cluster_owners_warn(p);
    warn_rows(p);
    warn_confidence(p, &played);
    warn_cut(p, &played);
    decision_end(p->rq, "simulation",
                 played.is_cut || truncated ? DECISION_CUT : DECISION_FEASIBLE,
                 &p->answer->decision);
    return OK;
}
