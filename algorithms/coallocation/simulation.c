/* coallocation/simulation.c - the reference simulator of co-allocation: its events.
 *
 * A heap of events; everything starts empty at the first arrival, the monitor of the
 * load looks then and every interval after, scans come an interval after and every
 * interval from there on. It ends when every job has ended or was given up.
 *
 * Source: spec coallocation.md 20.2, 20.5, 21.
 * Deviation: all jobs are atomic; a run that a preemption stops starts from nothing.
 */
#include "algorithms/coallocation/simulation_parts.h"
#include "models/base/heap.h"
#include "models/base/order.h"

#include <math.h>
#include <stdlib.h>

/* ---- the heap ---- */

static bool before(const struct event *l, const struct event *r)
{
    if (l->at_s < r->at_s || l->at_s > r->at_s)
        return l->at_s < r->at_s;
    return l->kind != r->kind ? l->kind < r->kind : l->number < r->number;
}
HEAP(events, struct event, before)

void sim_event(struct sim *s, double at_s, enum event_kind kind, size_t index,
               size_t size, size_t epoch)
{
    struct event_heap *h = &s->events;
    struct event e = {at_s, kind, h->made++, index, size, epoch};

    if (h->count == h->capacity) {
        size_t wanted = h->capacity ? 2 * h->capacity : 256;

        h->items = GROW(s->a, h->items, struct event, h->capacity, wanted);
        h->capacity = wanted;
    }
    events_push(h->items, &h->count, e);
}

/* ---- beginning ---- */

/* Sites, links and a file for each job that has one, as a snapshot. */
static enum error_code make_grid(struct sim *s)
{
    const struct co_sim_in *in = s->in;
    struct co_site *sites = NEW(s->a, struct co_site, in->grid.site_count);
    struct co_file *files = NEW(s->a, struct co_file, in->job_count);
    struct co_snapshot snapshot = {
        .taken_at_s = (double)NAN,
        .sites = sites,
        .site_count = in->grid.site_count,
        .links = in->grid.links,
        .link_count = in->grid.link_count,
        .default_bandwidth_mbps = in->grid.default_bandwidth_mbps,
        .files = files,
    };

    for (size_t i = 0; i < in->grid.site_count; i++)
        sites[i] = (struct co_site){
            .id = in->grid.sites[i].id,
            .processors_total = (double)in->grid.sites[i].processors,
            .processors_busy = (double)NAN,
            .processors_erroneous = (double)NAN,
            .processors_idle = (double)NAN,
            .usable = true,
            .measured_at_s = (double)NAN,
        };
    for (size_t j = 0; j < in->job_count; j++) {
        const struct co_sim_job *job = &in->jobs[j];
        const char **ids = NEW(s->a, const char *, job->file_site_count);

        for (size_t i = 0; i < job->file_site_count; i++)
            ids[i] = in->grid.sites[job->file_sites[i]].id;
        if (job->file_site_count)
            files[snapshot.file_count++] = (struct co_file){
                job->id, job->file_bytes, CO_WHOLE, ids, job->file_site_count};
    }
    TRY(co_grid_create(&snapshot, "/grid", &s->grid, s->a, s->err));
    TRY(s->err->code);
    return co_history_create(&s->grid, &s->history, s->a);
}

static enum error_code begin(struct sim *s)
{
    const struct co_sim_settings *set = s->set;

    s->now_s = s->started_s = s->in->jobs[0].submit_s;
    s->scan_due_s = (double)NAN;
    TRY(make_grid(s));
    sim_jobs_begin(s);
    sim_sites_begin(s);
    if (!set->backlog)
        for (; s->next_job < s->in->job_count; s->next_job++)
            sim_event(s, s->in->jobs[s->next_job].submit_s, EVENT_ARRIVAL, s->next_job, 0,
                      0);
    if (!set->event_driven)
        sim_event(s, s->now_s + set->scan_interval_s, EVENT_SCAN, 0, 0, 0);
    return OK;
}

/* ---- playing ---- */

static size_t queue_length(const struct sim *s)
{
    size_t length = 0;

    for (size_t level = 0; level < CO_LEVEL_COUNT; level++)
        length += s->queues[level].count;
    return length;
}

/* What the time until `to_s` adds to the integrals. */
static void pass_time(struct sim *s, double to_s)
{
    double span_s = to_s - s->now_s, warm_s = s->started_s + s->set->warmup_s;
    double background = 0, held = 0;

    for (size_t i = 0; i < s->grid.site_count; i++) {
        background += (double)(s->sites[i].local + s->sites[i].dummy);
        held += (double)s->sites[i].held;
    }
    s->background_s += background * span_s;
    s->held_s += held * span_s;
    if (s->next_job < s->in->job_count && to_s > warm_s) {
        span_s = to_s - fmax(s->now_s, warm_s);
        precise_add(&s->busy_s, (long double)(background + held) * span_s);
        precise_add(&s->busy_window_s, span_s);
    }
    s->now_s = to_s;
}

static enum error_code play_event(struct sim *s, const struct event *e)
{
    bool of_job =
        e->kind == EVENT_CLAIM || e->kind == EVENT_LAUNCH || e->kind == EVENT_END;

    if (of_job && s->jobs[e->index].epoch != e->epoch)
        return OK;
    switch (e->kind) {
    case EVENT_LOCAL_END:
        sim_local_end(s, e->index, e->size);
        return OK;
    case EVENT_END:
        sim_end(s, e->index);
        return OK;
    case EVENT_LAUNCH:
        sim_launch(s, e->index);
        return OK;
    case EVENT_READMIT:
        co_site_readmit(&s->sites[e->index].errors, s->set->unusable_cooldown_s,
                        s->now_s);
        return OK;
    case EVENT_LOCAL_ARRIVAL:
        sim_local_arrival(s, e->index);
        return OK;
    case EVENT_ARRIVAL:
        return sim_arrival(s, e->index);
    case EVENT_CLAIM:
        return sim_claim(s, e->index);
    case EVENT_MONITOR:
        sim_monitor(s);
        return OK;
    default:
        s->scan_due_s = (double)NAN;
        return sim_scan(s);
    }
}

/* When a scan should follow an event of this kind where there is no clock for it; NAN:
 * it does not help. After a claim later: at once it might place the job again that was
 * just refused, for ever. */
static double scan_after(const struct sim *s, enum event_kind kind)
{
    switch (kind) {
    case EVENT_SCAN:
    case EVENT_MONITOR:
    case EVENT_LOCAL_ARRIVAL:
        return (double)NAN;
    case EVENT_CLAIM:
        return s->now_s + s->set->claim.steps.min_interval_s;
    default:
        return s->now_s;
    }
}

/* What follows an event: a scan where there is no clock for it, more jobs where a
 * backlog is kept. */
static void after_event(struct sim *s, enum event_kind kind)
{
    double scan_s = scan_after(s, kind);
    size_t waiting = queue_length(s);

    if (s->set->event_driven && waiting && !isnan(scan_s) && !(s->scan_due_s <= scan_s)) {
        s->scan_due_s = scan_s;
        sim_event(s, scan_s, EVENT_SCAN, 0, 0, 0);
    }
    if (s->set->backlog && kind == EVENT_ARRIVAL)
        s->arriving--;
    while (waiting + s->arriving < s->set->backlog && s->next_job < s->in->job_count) {
        sim_event(s, s->now_s, EVENT_ARRIVAL, s->next_job++, 0, 0);
        s->arriving++;
    }
}

static bool budget_over(const struct sim *s)
{
    struct budget *b = s->in->budget;
    size_t events = s->out.event_count;

    if (!b)
        return false;
    return (b->max_steps && events >= b->max_steps) ||
           (events % 256 == 0 && budget_spent(b));
}

static enum error_code play(struct sim *s)
{
    double end_s = s->started_s + s->set->horizon_s;

    after_event(s, EVENT_MONITOR);
    while (s->done_count < s->in->job_count && s->events.count) {
        struct event e = events_pop(s->events.items, &s->events.count);

        if (e.at_s > end_s) {
            pass_time(s, end_s);
            return OK;
        }
        if (budget_over(s)) {
            s->out.is_cut = true;
            return OK;
        }
        s->out.event_count++;
        pass_time(s, e.at_s);
        TRY(play_event(s, &e));
        after_event(s, e.kind);
        if (s->out.is_cut)
            return OK;
    }
    return OK;
}

/* ---- what came out ---- */

static void median_placement(struct sim *s)
{
    double *list = NEW(s->a, double, s->in->job_count);
    size_t count = 0;

    for (size_t j = 0; j < s->in->job_count; j++)
        if (s->jobs[j].record_count)
            list[count++] = s->out.metrics.job[j].total_placement_s;
    sort_numbers(list, count);
    s->out.median_placement_s = co_percentile(list, count, 50);
}

static void make_records(struct sim *s)
{
    struct co_run_job *records = NEW(s->a, struct co_run_job, s->in->job_count);

    for (size_t j = 0; j < s->in->job_count; j++) {
        const struct sim_job *job = &s->jobs[j];

        records[j] = (struct co_run_job){
            .submit_s = job->submit_s,
            .deployed_s = (double)NAN,
            .start_s = job->start_s,
            .finish_s = job->finish_s,
            .placements = job->records,
            .placement_count = job->record_count,
            .placement_tries = (double)job->placement_tries,
            .claim_tries = (double)job->claim_tries,
        };
        s->out.unfinished_count += job->state != JOB_DONE;
    }
    s->out.records = records;
}

static void measure_responses(struct sim *s)
{
    double sum_s = 0, last_s = (double)NAN;
    size_t count = 0;

    for (size_t j = 0; j < s->in->job_count; j++) {
        const struct sim_job *job = &s->jobs[j];

        if (isnan(job->finish_s))
            continue;
        sum_s += job->finish_s - job->submit_s;
        last_s = isnan(last_s) ? job->finish_s : fmax(last_s, job->finish_s);
        count++;
    }
    s->out.mean_response_s = count ? sum_s / (double)count : (double)NAN;
    s->out.end_after_last_arrival_s = last_s - s->last_arrival_s;
    s->out.local_mean_response_s =
        s->local_count ? s->local_response_s / (double)s->local_count : (double)NAN;
}

static enum error_code finish(struct sim *s)
{
    size_t sites = s->grid.site_count;
    bool *unusable = NEW(s->a, bool, sites);
    struct co_metrics_in in = {
        .job_count = s->in->job_count,
        .window_start_s = s->started_s,
        .window_end_s = s->now_s,
        .background_processor_s = s->background_s,
    };

    for (size_t i = 0; i < sites; i++) {
        in.capacity_processors += (double)s->sites[i].processors;
        unusable[s->grid.source_index[i]] = s->sites[i].errors.unusable;
    }
    make_records(s);
    in.jobs = s->out.records;
    TRY(co_metrics(&in, &s->out.metrics, s->a, s->err));
    median_placement(s);
    measure_responses(s);
    s->out.maximal_utilisation_ratio =
        s->set->backlog && precise_total(&s->busy_window_s) > 0
            ? (double)(precise_total(&s->busy_s) /
                       (precise_total(&s->busy_window_s) * in.capacity_processors))
            : (double)NAN;
    s->out.site_unusable = unusable;
    s->out.processor_seconds = s->held_s;
    return OK;
}

enum error_code co_simulate(const struct co_sim_in *in, struct co_sim_out *out,
                            struct arena *a, struct error *err)
{
    struct sim *s = NEW(a, struct sim, 1);

    if (in->job_count == 0)
        return invalid(err, "/jobs", ITEM_TOO_SHORT, "there are no jobs");
    s->in = in;
    s->set = &in->settings;
    s->a = a;
    s->err = err;
    TRY(begin(s));
    TRY(play(s));
    if (!s->out.is_cut)
        TRY(finish(s));
    *out = s->out;
    return OK;
}
