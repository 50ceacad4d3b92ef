/* workflow/simulation.c - a day of a grid that runs workflows: its events.
 *
 * The chain of events of the grid simulator (simulation/kernel.h), with its order of
 * simultaneous ones: transfers and stages, ends of work, checkpoints, loads, arrivals,
 * looks of the information service, rounds. It ends at the horizon.
 *
 * Source: spec simulator.md 2; workflows.md 2, 9.1.
 * Deviation: a round acts at once: the delays of the middleware, "several seconds" of ten
 * minutes, are not modelled.
 */
#include "algorithms/workflow/round_plan.h"
#include "algorithms/workflow/simulation_parts.h"

#include <math.h>

/* ---- beginning ---- */

/* What the scheduler is told of the network: inside a site two links, else three. */
static void begin_network(struct wsim *s)
{
    const struct workflow_sim_grid *g = &s->in->grid;
    size_t n = g->site_count;

    s->site_mbps = NEW(s->a, double, n *n);
    s->site_latency_s = NEW(s->a, double, n *n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            bool wan = i != j;

            s->site_mbps[i * n + j] = wan ? fmin(g->wan_mbps, g->lan_mbps) : g->lan_mbps;
            s->site_latency_s[i * n + j] =
                2 * g->lan_latency_s + (wan ? g->wan_latency_s[i * n + j] : 0);
        }
    }
}

static void read_options(struct wsim *s)
{
    const double *param = s->in->policy.param;

    s->fits = param[WF_PREDICTOR] == WF_FIT && !s->in->policy.no_estimates;
    s->final_sets = param[WF_FINAL_TASK_AS_SET] != 0;
    s->prediction = progress_options_init();
    s->prediction.screen = false; /* as in the source: no report is bad here */
    s->prediction.method = (enum progress_method)param[WF_FIT_METHOD];
    s->prediction.min_samples = (size_t)param[WF_FIT_MIN_SAMPLES];
    s->prediction.abscissa = (enum progress_abscissa)param[WF_FIT_ABSCISSA];
    s->prediction.smoothing = (enum progress_smoothing)param[WF_FIT_SMOOTHING];
    s->prediction.max_points = s->set->fit_points;
    s->prediction.estimate_filter = (enum progress_filter)param[WF_ESTIMATE_FILTER];
    s->prediction.filter_window = (size_t)param[WF_FILTER_WINDOW];
    s->prediction.interval =
        param[WF_CONFIDENCE] > 0 ? PROGRESS_CALIBRATED : PROGRESS_NO_INTERVAL;
}

static enum error_code begin(struct wsim *s)
{
    struct rng phase = rng_stream(s->in->seed, "is.phase");
    double interval_s = s->set->information_interval_s;

    s->kernel = (struct kernel){.arena = s->a, .end_ms = kernel_ms(s->set->horizon_s)};
    read_options(s);
    begin_network(s);
    wsim_hosts_begin(s);
    TRY(wsim_jobs_begin(s));
    if (interval_s > 0)
        kernel_post(&s->kernel, kernel_ms(interval_s * rng_uniform(&phase)), EVENT_POLL,
                    NULL, 0);
    kernel_post(&s->kernel, 0, EVENT_ROUND, NULL, 0);
    return OK;
}

/* ---- playing ---- */

static void play_task_event(struct wsim *s, const struct event *e)
{
    struct wsim_task *t = e->target;

    if (t->version != e->version)
        return;
    if (e->kind == EVENT_FLOW)
        wsim_flow_drained(s, t);
    else
        wsim_task_proceed(s, t);
}

static void play_event(struct wsim *s, const struct event *e)
{
    switch (e->kind) {
    case EVENT_WORK:
        if (((struct wsim_host *)e->target)->version == e->version)
            wsim_on_work(s, e->target);
        break;
    case EVENT_LOAD:
        wsim_on_load(s, e->target);
        break;
    case EVENT_SUBMIT:
        wsim_on_arrival(s);
        break;
    case EVENT_POLL:
        wsim_poll(s);
        kernel_post(&s->kernel, kernel_after(&s->kernel, s->set->information_interval_s),
                    EVENT_POLL, NULL, 0);
        break;
    case EVENT_ROUND:
        wsim_round(s);
        kernel_post(&s->kernel, kernel_after(&s->kernel, s->set->round_interval_s),
                    EVENT_ROUND, NULL, 0);
        break;
    default:
        play_task_event(s, e);
    }
}

static bool budget_over(struct wsim *s, const struct event *e)
{
    enum { EVENTS_BETWEEN = 256 };
    struct budget *b = s->in->budget;

    if (e->kind != EVENT_ROUND && s->out.event_count % EVENTS_BETWEEN != 0)
        return false;
    if (s->in->time_ratio)
        *s->in->time_ratio = fmin(1, wsim_now_s(s) / s->set->horizon_s);
    return budget_spent(b);
}

static void play(struct wsim *s)
{
    struct budget *b = s->in->budget;
    struct event e;

    while (!s->failed && !s->out.is_cut && kernel_take(&s->kernel, &e)) {
        if ((b && b->max_steps && s->out.event_count >= b->max_steps) ||
            budget_over(s, &e)) {
            s->out.is_cut = true;
            return;
        }
        s->out.event_count++;
        play_event(s, &e);
    }
}

/* ---- what came out ---- */

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

static void sum_hosts(struct wsim *s)
{
    double possible = 0, slot_s = 0, slots_s = 0;

    for (size_t i = 0; i < s->in->grid.resource_count; i++) {
        struct wsim_host *h = &s->hosts[i];

        wsim_host_advance(s, h);
        s->out.processed_ref_s += h->processed_ref_s;
        possible += h->possible_ref_s;
        slot_s += h->slot_s;
        slots_s += (double)h->given->n_max * s->set->horizon_s;
    }
    s->out.utilisation_ratio = ratio(s->out.processed_ref_s, possible);
    s->out.slot_utilisation_ratio = ratio(slot_s, slots_s);
}

static void sum_jobs(struct wsim *s)
{
    struct workflow_sim_job_row *rows =
        NEW(s->a, struct workflow_sim_job_row, s->in->job_count);
    double makespan_s = 0, of_jobs = 0, of_tasks = 0;

    for (size_t i = 0; i < s->in->job_count; i++) {
        struct wsim_job *job = &s->jobs[i];
        size_t count = job->given->task_count;
        struct workflow_sim_task_row *tasks =
            NEW(s->a, struct workflow_sim_task_row, count);
        bool finished = !isnan(job->row.finish_s);

        if (finished)
            makespan_s += job->row.finish_s - job->given->arrival_s;
        for (size_t t = 0; t < count; t++) {
            double length = job->given->tasks[t].evolution.limit_ref_s;

            tasks[t] = job->tasks[t].row;
            tasks[t].work_ref_s = wsim_task_work(&job->tasks[t]);
            of_jobs += finished ? length : 0;
            of_tasks += isnan(tasks[t].finish_s) ? 0 : length;
        }
        rows[i] = job->row;
        rows[i].tasks = tasks;
    }
    s->out.jobs = rows;
    s->out.mean_makespan_s = ratio(makespan_s, (double)s->out.finished_count);
    s->out.useful_submitted_ratio = ratio(of_jobs, s->out.submitted_ref_s);
    s->out.useful_processed_ratio = ratio(of_tasks, s->out.processed_ref_s);
}

static void finish(struct wsim *s)
{
    s->kernel.now_ms = kernel_ms(s->set->horizon_s);
    sum_hosts(s);
    s->out.done_ratio =
        ratio((double)s->out.finished_count, (double)s->out.submitted_count);
    s->out.checkpoints_per_task =
        ratio((double)s->out.checkpoint_count, (double)s->out.started_task_count);
    s->out.mean_wait_s = ratio(s->wait_s, (double)s->out.started_task_count);
    sum_jobs(s);
}

enum error_code workflow_simulate(const struct workflow_sim_in *in,
                                  struct workflow_sim_out *out, struct arena *a,
                                  struct error *err)
{
    struct wsim *s = NEW(a, struct wsim, 1);

    s->in = in;
    s->set = &in->settings;
    s->a = a;
    s->err = err;
    TRY(begin(s));
    play(s);
    TRY(s->failed);
    if (!s->out.is_cut)
        finish(s);
    *out = s->out;
    return OK;
}
