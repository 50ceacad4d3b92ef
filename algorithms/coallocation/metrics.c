/* coallocation/metrics.c - what a schedule of co-allocated jobs was worth.
 *
 * Figures of a job come from its last placement and, where it says so, from all; shares
 * of the processors from every claim and run, cut to the window. The queue is longest
 * at an entry: entries and placements are swept in the order of time, placements first.
 *
 * Source: spec coallocation.md 7, 16.
 */
#include "algorithms/coallocation/metrics.h"

#include "algorithms/coallocation/timeline.h"
#include "models/base/order.h"

#include <math.h>
#include <stdlib.h>

/* Sums of figures; all members of struct co_job_figures are double. */
enum { FIGURES = sizeof(struct co_job_figures) / sizeof(double) };
_Static_assert(sizeof(struct co_job_figures) == FIGURES * sizeof(double), "only doubles");

union figures {
    struct co_job_figures named;
    double value[FIGURES];
};

struct sums {
    double sum[FIGURES];
    size_t count[FIGURES];
};

static void add(struct sums *s, const struct co_job_figures *figures)
{
    union figures f = {.named = *figures};

    for (size_t i = 0; i < FIGURES; i++)
        if (!isnan(f.value[i])) {
            s->sum[i] += f.value[i];
            s->count[i]++;
        }
}

static struct co_job_figures mean(const struct sums *s)
{
    union figures f;

    for (size_t i = 0; i < FIGURES; i++)
        f.value[i] = s->count[i] ? s->sum[i] / (double)s->count[i] : (double)NAN;
    return f.named;
}

double co_percentile(const double *sorted, size_t count, double p)
{
    double at = p / 100 * (double)(count ? count - 1 : 0);
    size_t below = (size_t)at;

    if (count == 0)
        return (double)NAN;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* ---- one job ---- */

double co_skew(const struct co_run_placement *placement)
{
    double fastest = -HUGE_VAL, slowest = HUGE_VAL;
    size_t known = 0;

    for (size_t i = 0; i < placement->component_count; i++) {
        const struct co_run_component *c = &placement->components[i];

        if (!c->has_progress)
            continue;
        known++;
        fastest = fmax(fastest, c->progress_ratio);
        slowest = fmin(slowest, c->progress_ratio);
    }
    if (known == 0 || (known == 1 && placement->component_count > 1))
        return (double)NAN;
    return fastest - slowest;
}

static size_t distinct_sites(const struct co_run_placement *p)
{
    size_t count = 0;

    for (size_t i = 0; i < p->component_count; i++) {
        size_t before = 0;

        while (before < i && p->components[before].site != p->components[i].site)
            before++;
        count += before == i;
    }
    return count;
}

/* Means over the processors that were claimed. */
static void claim_figures(const struct co_run_job *job, const struct co_run_placement *p,
                          struct co_job_figures *out)
{
    double processors = 0, gained = 0, wasted = 0;

    for (size_t i = 0; i < p->component_count; i++) {
        const struct co_run_component *c = &p->components[i];
        struct co_times times = {
            .submitted_s = job->submit_s,
            .queue_entry_s = p->queue_entry_s,
            .jpt_s = p->jpt_s,
            .jst_s = p->jst_s,
            .claimed_s = c->claimed_s,
            .transfers_done_at_s = (double)NAN,
            .original_jst_s = (double)NAN,
        };
        struct co_durations d = co_durations(&times);

        if (isnan(c->claimed_s))
            continue;
        processors += (double)c->processors;
        gained += d.gained_s * (double)c->processors;
        wasted += d.wasted_s * (double)c->processors;
    }
    if (processors > 0) {
        out->gained_s = gained / processors;
        out->wasted_s = wasted / processors;
    }
}

static void placement_figures(const struct co_run_job *job, struct co_job_figures *out)
{
    const struct co_run_placement *first = &job->placements[0];
    const struct co_run_placement *last = &job->placements[job->placement_count - 1];
    size_t sites = distinct_sites(last);
    double started = 0;

    out->failures = out->total_placement_s = 0;
    for (size_t i = 0; i < job->placement_count; i++) {
        const struct co_run_placement *p = &job->placements[i];

        out->total_placement_s += p->jpt_s - p->queue_entry_s;
        started += p->started;
        out->failures += p->started && p->failed_soft;
    }
    out->placement_s = last->jpt_s - last->queue_entry_s;
    out->transfer_s = last->jst_s - last->jpt_s;
    if (!isnan(job->start_s))
        out->start_delay_s = last->jst_s - first->jst_s;
    out->co_allocated_ratio = sites > 1;
    out->spread_ratio = (double)sites / (double)last->component_count;
    if (started > 0)
        out->failure_ratio = out->failures / started;
    claim_figures(job, last, out);
}

static struct co_job_figures figures_of(const struct co_run_job *job)
{
    union figures f;

    for (size_t i = 0; i < FIGURES; i++)
        f.value[i] = (double)NAN;
    f.named.waiting_s = job->start_s - job->submit_s;
    f.named.run_time_s = job->finish_s - job->start_s;
    f.named.start_overhead_s = job->start_s - job->deployed_s;
    f.named.placement_tries = job->placement_tries;
    f.named.claim_tries = job->claim_tries;
    if (job->placement_count)
        placement_figures(job, &f.named);
    return f.named;
}

/* ---- shares of the processors ---- */

struct window {
    double start_s, end_s;
};

/* What of a span lies in the window; 0 where it is not known or runs backwards. */
static double inside(const struct window *w, double from_s, double to_s)
{
    double length_s = fmin(to_s, w->end_s) - fmax(from_s, w->start_s);

    return isnan(from_s) || isnan(to_s) ? 0 : fmax(0, length_s);
}

struct shares {
    double runs, wasted, gained; /* processor-seconds */
};

static void add_shares(const struct co_run_job *job, const struct window *w,
                       struct shares *sum)
{
    for (size_t k = 0; k < job->placement_count; k++) {
        const struct co_run_placement *p = &job->placements[k];
        bool last = k + 1 == job->placement_count;

        for (size_t c = 0; c < p->component_count; c++) {
            const struct co_run_component *part = &p->components[c];
            double processors = (double)part->processors;

            if (last && p->started)
                sum->runs += processors * inside(w, job->start_s, job->finish_s);
            sum->wasted += processors * inside(w, part->claimed_s, p->jst_s);
            sum->gained += isnan(part->claimed_s)
                               ? 0
                               : processors * inside(w, p->jpt_s, part->claimed_s);
        }
    }
}

/* ---- the queue ---- */

struct change {
    double at_s;
    int by; /* -1: placed, 1: entered */
};

static int compare_changes(const void *left, const void *right)
{
    const struct change *l = left, *r = right;

    if (l->at_s < r->at_s || l->at_s > r->at_s)
        return l->at_s < r->at_s ? -1 : 1;
    return l->by - r->by;
}

/* A job that is placed the moment it enters was not in the queue. */
static void max_queue(const struct co_metrics_in *in, double *longest, struct arena *a)
{
    size_t total = 0, count = 0;
    struct change *changes;
    double length = 0;

    for (size_t j = 0; j < in->job_count; j++)
        total += in->jobs[j].placement_count;
    changes = NEW(a, struct change, 2 * total);
    for (size_t j = 0; j < in->job_count; j++)
        for (size_t k = 0; k < in->jobs[j].placement_count; k++) {
            const struct co_run_placement *p = &in->jobs[j].placements[k];

            if (!(p->jpt_s > p->queue_entry_s))
                continue;
            changes[count++] = (struct change){p->queue_entry_s, 1};
            changes[count++] = (struct change){p->jpt_s, -1};
        }
    qsort(changes, count, sizeof(*changes), compare_changes);
    *longest = 0;
    for (size_t i = 0; i < count; i++) {
        length += changes[i].by;
        *longest = fmax(*longest, length);
    }
}

/* ---- by size ---- */

struct sized {
    size_t components, processors; /* of the largest component */
    size_t job;
};

static int compare_sized(const void *left, const void *right)
{
    const struct sized *l = left, *r = right;

    if (l->components != r->components)
        return l->components < r->components ? -1 : 1;
    if (l->processors != r->processors)
        return l->processors < r->processors ? -1 : 1;
    return l->job < r->job ? -1 : l->job > r->job;
}

static bool same_size(const struct sized *l, const struct sized *r)
{
    return l->components == r->components && l->processors == r->processors;
}

static size_t sort_by_size(const struct co_metrics_in *in, struct sized *order)
{
    size_t count = 0;

    for (size_t j = 0; j < in->job_count; j++) {
        const struct co_run_placement *p = in->jobs[j].placements;

        if (in->jobs[j].placement_count == 0)
            continue;
        order[count] = (struct sized){p->component_count, 0, j};
        for (size_t c = 0; c < p->component_count; c++)
            if (p->components[c].processors > order[count].processors)
                order[count].processors = p->components[c].processors;
        count++;
    }
    qsort(order, count, sizeof(*order), compare_sized);
    return count;
}

static struct co_size_metrics measure_size(const struct sized *group, size_t count,
                                           const struct co_job_figures *job,
                                           double *placement_s)
{
    struct sums sums = {0};
    struct co_size_metrics m = {.component_count = group->components,
                                .processors = group->processors,
                                .job_count = count};

    for (size_t i = 0; i < count; i++) {
        add(&sums, &job[group[i].job]);
        placement_s[i] = job[group[i].job].total_placement_s;
    }
    sort_numbers(placement_s, count);
    m.mean = mean(&sums);
    m.placement_p25_s = co_percentile(placement_s, count, 25);
    m.placement_p50_s = co_percentile(placement_s, count, 50);
    m.placement_p90_s = co_percentile(placement_s, count, 90);
    return m;
}

static void measure_sizes(const struct co_metrics_in *in, struct co_metrics *out,
                          struct arena *a)
{
    struct sized *order = NEW(a, struct sized, in->job_count);
    double *placement_s = NEW(a, double, in->job_count);
    struct co_size_metrics *sizes;
    size_t count, group_count = 0;

    count = sort_by_size(in, order);
    for (size_t i = 0; i < count; i++)
        group_count += i == 0 || !same_size(&order[i], &order[i - 1]);
    sizes = NEW(a, struct co_size_metrics, group_count);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && same_size(&order[from], &order[to]); to++)
            ;
        sizes[out->size_count++] =
            measure_size(&order[from], to - from, out->job, placement_s);
    }
    out->sizes = sizes;
}

/* ---- all ---- */

static void count_jobs(const struct co_metrics_in *in, struct co_metrics *m)
{
    m->job_count = in->job_count;
    for (size_t j = 0; j < in->job_count; j++) {
        m->placed_count += in->jobs[j].placement_count > 0;
        m->started_count += isnan(in->jobs[j].start_s) ? 0 : 1;
        m->finished_count += isnan(in->jobs[j].finish_s) ? 0 : 1;
    }
}

static void measure_loads(const struct co_metrics_in *in, struct co_metrics *m)
{
    struct window w = {in->window_start_s, in->window_end_s};
    double window_s = w.end_s - w.start_s;
    double all = in->capacity_processors * window_s;
    struct shares sum = {0};

    for (size_t j = 0; j < in->job_count; j++)
        add_shares(&in->jobs[j], &w, &sum);
    if (!(all > 0))
        all = (double)NAN;
    m->background_load_ratio = in->background_processor_s / all;
    m->job_load_ratio = sum.runs / all;
    m->wasted_ratio = sum.wasted / all;
    m->gained_ratio = sum.gained / all;
    m->total_load_ratio = m->background_load_ratio + m->job_load_ratio + m->wasted_ratio;
    m->throughput_per_min =
        window_s > 0 ? (double)m->started_count * 60 / window_s : (double)NAN;
}

static void measure_failures(const struct co_metrics_in *in, struct co_metrics *m)
{
    double started = 0, failed = 0;

    for (size_t j = 0; j < in->job_count; j++)
        for (size_t k = 0; k < in->jobs[j].placement_count; k++) {
            const struct co_run_placement *p = &in->jobs[j].placements[k];

            started += p->started;
            failed += p->started && p->failed_soft;
        }
    m->failure_ratio = started > 0 ? failed / started : (double)NAN;
}

enum error_code co_metrics(const struct co_metrics_in *in, struct co_metrics *out,
                           struct arena *a, struct error *err)
{
    struct co_job_figures *job = NEW(a, struct co_job_figures, in->job_count);
    struct co_metrics m = {.job = job};
    struct sums sums = {0};

    (void)err;
    for (size_t j = 0; j < in->job_count; j++) {
        job[j] = figures_of(&in->jobs[j]);
        add(&sums, &job[j]);
    }
    count_jobs(in, &m);
    m.mean = mean(&sums);
    measure_loads(in, &m);
    measure_failures(in, &m);
    m.co_allocated_ratio = m.mean.co_allocated_ratio;
    max_queue(in, &m.max_queue_length, a);
    measure_sizes(in, &m, a);
    *out = m;
    return OK;
}

void co_cumulative(const struct co_run_job *jobs, size_t job_count, const double *at_s,
                   size_t count, size_t *started_by, struct arena *a)
{
    double *start_s = NEW(a, double, job_count);
    size_t known = 0;

    for (size_t j = 0; j < job_count; j++)
        if (!isnan(jobs[j].start_s))
            start_s[known++] = jobs[j].start_s;
    sort_numbers(start_s, known);
    for (size_t i = 0; i < count; i++) {
        size_t low = 0, high = known;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (start_s[middle] <= at_s[i])
                low = middle + 1;
            else
                high = middle;
        }
        started_by[i] = low;
    }
}
