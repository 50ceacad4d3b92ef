/* simulation/output.c - what a run leaves: figures, rows, log.
 *
 * Source: spec simulator.md 12; fault-tolerance.md 2.2, 6.1.
 */
#include "algorithms/simulation/parts.h"

#include <math.h>

static double seconds(int64_t ms)
{
    return 1e-3 * (double)ms;
}

/* ---- rows ---- */

/* The rows, with room for one more. They grow by doubling. */
static void *with_room(struct sim *s, void *rows, size_t row_bytes, size_t count,
                       size_t *size)
{
    enum { ROWS_FIRST = 256 };
    size_t larger = *size ? 2 * *size : ROWS_FIRST;

    if (count < *size)
        return rows;
    rows = arena_grow(s->rows, rows, row_bytes, count, larger);
    *size = larger;
    return rows;
}

void sim_write_log(struct sim *s, enum sim_log_kind kind, const struct grid_job *job,
                   const struct host *host, double value)
{
    struct sim_log_row *log =
        with_room(s, s->log, sizeof(*log), s->log_count, &s->log_size);

    s->log = log;
    s->log[s->log_count++] = (struct sim_log_row){
        .at_s = sim_now_s(s),
        .kind = kind,
        .job_number = job ? (double)job->number + 1 : (double)NAN,
        .resource_id = host ? host->name : NULL,
        .value = value,
    };
}

void sim_note_job(struct sim *s, const struct grid_job *job, enum sim_job_state state,
                  const struct host *host)
{
    struct sim_job_row *rows;

    if (s->job_row_count >= s->wanted->job_rows_max)
        return;
    rows = with_room(s, s->job_rows, sizeof(*rows), s->job_row_count, &s->job_row_size);
    s->job_rows = rows;
    s->job_rows[s->job_row_count++] = (struct sim_job_row){
        .number = job->number + 1,
        .given = job->given,
        .state = state,
        .length_mi = job->length_mi,
        .arrival_s = seconds(job->arrival_ms),
        .start_s = job->started_count ? seconds(job->first_start_ms) : (double)NAN,
        .finish_s = state == SIM_JOB_DONE ? sim_now_s(s) : (double)NAN,
        .resource_id = host ? host->name : NULL,
        .started_count = job->started_count,
        .failed_count = job->failed_count,
        .checkpoint_count = job->checkpoint_count,
        .processed_mi = job->made_mi,
    };
}

static void list_resources(struct sim *s, struct sim_run_out *out)
{
    double end_s = sim_now_s(s);
    struct sim_resource_row *rows;

    if (!s->wanted->per_resource)
        return;
    rows = NEW(s->rows, struct sim_resource_row, s->host_count);
    for (size_t i = 0; i < s->host_count; i++) {
        const struct host *h = &s->hosts[i];
        double span_s = end_s - seconds(h->since_ms);

        rows[i] = (struct sim_resource_row){
            .resource_id = h->name,
            .site_id = s->scenario->sites[h->group->site],
            .mips_total = h->mips_total,
            .availability_ratio =
                h->is_there && span_s > 0 ? 1 - h->stats.down_s / span_s : (double)NAN,
            .downtime_s = h->stats.down_s,
            .non_idle_s = h->stats.non_idle_s,
            .fully_loaded_s = h->stats.fully_loaded_s,
            .processed_mi = h->stats.processed_mi,
            .failures = h->stats.failures,
            .copies_started = h->stats.copies_started,
            .jobs_done = h->stats.jobs_done,
            .received_bytes = h->stats.received_bytes,
            .sent_bytes = h->stats.sent_bytes,
        };
    }
    out->resources = rows;
    out->resource_count = s->host_count;
}

/* ---- the end of the warm-up ---- */

void sim_stable(struct sim *s)
{
    uint64_t ended = s->totals.ended_total;

    for (size_t i = 0; i < s->host_count; i++) {
        struct host *h = &s->hosts[i];

        if (!h->is_there)
            continue;
        host_advance(s, h);
        for (size_t r = 0; r < h->running_count; r++)
            host_settle(h, h->running[r]);
        h->stats = (struct host_stats){0};
        h->since_ms = s->kernel.now_ms;
        if (!h->is_up)
            h->down_since_ms = s->kernel.now_ms;
    }
    for (size_t i = 0; i < s->storage_count; i++) {
        s->storages[i].used_byte_s = 0;
        s->storages[i].refused = 0;
        s->storages[i].since_ms = s->kernel.now_ms;
    }
    for (size_t i = 0; i < s->path_size; i++)
        s->paths[i] = (struct path){0};
    s->path_count = 0;
    s->totals = (struct totals){.ended_total = ended};
    for (size_t i = 0; i < s->user_count; i++)
        s->user_mi[i] = 0;
}

/* ---- the end ---- */

/* Where the first of its replicas that exist is; NULL: none does. */
static const struct host *where_is(const struct grid_job *job)
{
    for (size_t i = 0; i < job->replica_count; i++)
        if (!job->replicas[i]->is_haunting)
            return job->replicas[i]->host;
    return NULL;
}

/* Jobs that have not ended: lost, if no replica is left and nobody knows. */
static void close_jobs(struct sim *s, uint64_t *left)
{
    struct grid_job *job = s->unfinished;

    while (job && job->next)
        job = job->next; /* the first to come */
    for (; job; job = job->previous) {
        bool is_running = job->alive_count > 0;
        bool is_known = s->flags & ROUND_DETECTS &&
                        (job->replica_count == 0 || job->noticed_count > 0);
        bool is_lost = job->started_count > 0 && !is_running && !is_known;

        if (job->is_counted) {
            s->totals.lost += is_lost;
            *left += !is_lost;
        }
        sim_note_job(s, job,
                     is_lost      ? SIM_JOB_LOST
                     : is_running ? SIM_JOB_RUNNING
                                  : SIM_JOB_WAITING,
                     is_running ? where_is(job) : NULL);
        budget_step(s->budget, 1 + job->replica_count);
    }
}

struct host_sums {
    double availability, non_idle, fully_loaded, jobs, processed_mi, possible_mi;
    double count;
};

static struct host_sums sum_hosts(struct sim *s)
{
    struct host_sums sums = {0};

    for (size_t i = 0; i < s->host_count; i++) {
        const struct host *h = &s->hosts[i];
        double span_s = sim_now_s(s) - seconds(h->since_ms);

        if (!h->is_there || span_s <= 0)
            continue;
        sums.count++;
        sums.availability += 1 - h->stats.down_s / span_s;
        sums.non_idle += h->stats.non_idle_s / span_s;
        sums.fully_loaded += h->stats.fully_loaded_s / span_s;
        sums.jobs += h->stats.job_s / span_s;
        sums.processed_mi += h->stats.processed_mi;
        sums.possible_mi += h->stats.possible_mi;
    }
    return sums;
}

static double ratio(double of, double by)
{
    return by > 0 ? of / by : (double)NAN;
}

/* (sum x)^2 / (n sum x^2) over the users. */
static double fairness(const struct sim *s)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < s->user_count; i++) {
        sum += s->user_mi[i];
        squares += s->user_mi[i] * s->user_mi[i];
    }
    return ratio(sum * sum, (double)s->user_count * squares);
}

static void fill_jobs(const struct sim *s, struct sim_metrics *m, uint64_t left,
                      double span_s)
{
    const struct totals *t = &s->totals;
    double done = (double)t->done;

    m->jobs_submitted = (double)t->submitted;
    m->jobs_assigned = (double)t->assigned;
    m->jobs_done = done;
    m->jobs_lost = (double)t->lost;
    m->jobs_rejected = (double)t->rejected;
    m->jobs_left = (double)left;
    m->jobs_lost_ratio = ratio(m->jobs_lost, m->jobs_lost + done);
    m->jobs_per_hour = ratio(3600 * done, span_s);
    m->job_turnaround_s = ratio(t->turnaround_s, done);
    m->job_wait_s = ratio(t->wait_s, (double)t->assigned);
    m->job_run_time_s = ratio(t->run_s, done);
    m->job_execution_s = ratio(t->execution_s, done);
    m->job_length_mi = ratio(t->length_mi, done);
    m->failed_length_mi = ratio(t->failed_length_mi, (double)t->failed_jobs);
    m->makespan_s =
        t->done ? seconds(t->last_done_ms - t->first_arrival_ms) : (double)NAN;
    m->checkpoints_per_job = ratio(t->checkpoints, done);
    m->submitted_mi = t->submitted_mi;
    m->useful_mi = t->length_mi;
    m->useful_work_fraction = ratio(t->length_mi, t->submitted_mi);
    m->light_sessions = (double)t->light;
    m->light_sessions_accepted = (double)t->light_accepted;
    m->heavy_sessions = (double)t->heavy;
    m->heavy_sessions_accepted = (double)t->heavy_accepted;
    m->cpu_demand_ratio = ratio(t->demand, t->demand_count);
    m->fairness_ratio = fairness(s);
}

static void fill_counts(const struct sim *s, struct sim_metrics *m, double span_s)
{
    const struct totals *t = &s->totals;

    m->copies_started = (double)t->copies_started;
    m->copies_done = (double)t->copies_done;
    m->copies_failed = (double)t->copies_failed;
    m->copies_cancelled = (double)t->copies_cancelled;
    m->starts_refused = (double)t->refused;
    m->migrations = (double)t->migrations;
    m->checkpoints_taken = (double)t->taken;
    m->checkpoints_omitted = (double)t->omitted;
    m->failures = (double)t->failures;
    m->failures_detected = (double)t->detected;
    m->input_bytes = t->input_bytes;
    m->output_bytes = t->output_bytes;
    m->checkpoint_bytes = t->checkpoint_bytes;
    m->restart_bytes = t->restart_bytes;
    for (size_t i = 0; i < s->storage_count; i++)
        m->storage_used_bytes += ratio(s->storages[i].used_byte_s, span_s);
    m->storage_refused = (double)t->storage_refused;
    m->rounds = (double)t->rounds;
    m->rounds_skipped = (double)t->skipped;
    m->events = (double)s->event_count;
    m->simulated_s = sim_now_s(s);
}

static void fill_hosts(struct sim *s, struct sim_metrics *m)
{
    struct host_sums sums = sum_hosts(s);

    m->availability_ratio = ratio(sums.availability, sums.count);
    m->non_idle_ratio = ratio(sums.non_idle, sums.count);
    m->fully_loaded_ratio = ratio(sums.fully_loaded, sums.count);
    m->jobs_on_resource = ratio(sums.jobs, sums.count);
    m->processed_mi = sums.processed_mi;
    m->useful_ratio = ratio(m->useful_mi, sums.processed_mi);
    m->processed_ratio = ratio(sums.processed_mi, m->submitted_mi);
    m->utilisation_ratio = ratio(sums.processed_mi, sums.possible_mi);
}

enum error_code sim_close(struct sim *s, struct sim_run_out *out)
{
    double span_s = seconds(s->kernel.now_ms - s->stable_ms);
    uint64_t left = 0;

    for (size_t i = 0; i < s->host_count; i++) {
        struct host *h = &s->hosts[i];

        if (!h->is_there)
            continue;
        host_advance(s, h);
        for (size_t r = 0; r < h->running_count; r++)
            host_settle(h, h->running[r]);
        if (!h->is_up)
            h->stats.down_s += seconds(s->kernel.now_ms - h->down_since_ms);
    }
    for (size_t i = 0; i < s->storage_count; i++)
        storage_count(s, &s->storages[i], 0);
    sim_log(s, SIM_LOG_END, NULL, NULL, (double)NAN);
    close_jobs(s, &left);
    fill_jobs(s, &out->metrics, left, span_s);
    fill_counts(s, &out->metrics, span_s);
    fill_hosts(s, &out->metrics);
    list_resources(s, out);
    storages_list(s, out);
    paths_list(s, out);
    out->jobs = s->job_rows;
    out->job_count = s->job_row_count;
    out->log = s->log;
    out->log_count = s->log_count;
    out->event_hash = s->event_hash;
    return s->failed;
}
