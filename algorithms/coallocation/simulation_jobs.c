/* coallocation/simulation_jobs.c - placing, claiming and running the scheduler's jobs.
 *
 * All decisions are those of coallocation.h, scan.h, claim.h and faults.h; here is what
 * they do to the state: processors outstanding from the placement to the claim, held from
 * the claim to the end, the records of every placement.
 *
 * Source: spec coallocation.md 7 to 12, 20.2, 20.5.
 */
#include "algorithms/coallocation/priority.h"
#include "algorithms/coallocation/simulation_parts.h"

#include <math.h>

/* ---- beginning ---- */

static void components_of(struct sim *s, const struct co_sim_job *source,
                          const size_t *to_grid, struct co_job *job)
{
    size_t count = source->component_count;
    struct co_component *list = NEW(s->a, struct co_component, count);

    for (size_t c = 0; c < count; c++) {
        list[c] = (struct co_component){
            .id = arena_printf(s->a, "c%zu", c),
            .processors = source->processors[c],
            .fixed_site = source->sites && source->sites[c] != CO_NONE
                              ? to_grid[source->sites[c]]
                              : CO_NONE,
            .file = job->file,
            .bytes = source->file_bytes,
        };
        job->total_processors += source->processors[c];
    }
    if (job->type != CO_FLEXIBLE) {
        job->components = list;
        job->component_count = count;
    }
}

static void begin_job(struct sim *s, size_t j, const size_t *to_grid)
{
    const struct co_sim_job *source = &s->in->jobs[j];
    struct sim_job *job = &s->jobs[j];

    job->source = source;
    job->base_level = source->level;
    job->l = s->in->param[CO_L_INITIAL];
    job->start_s = job->finish_s = (double)NAN;
    job->active_at = CO_NONE;
    job->job = (struct co_job){
        .id = source->id,
        .type = source->type,
        .policy = s->in->policy,
        .param = s->in->param,
        .level = source->level,
        .atomic = true,
        .min_placed = 1,
        .distinct = source->distinct,
        .avoid_soft = true,
        .min_components = 1,
        .min_processors = 1,
        .file = source->file_site_count ? co_file_find(&s->grid, source->id) : CO_NONE,
    };
    components_of(s, source, to_grid, &job->job);
    job->never_fits = co_never_fits(&s->grid, &job->job); /* every site is usable yet */
}

void sim_jobs_begin(struct sim *s)
{
    size_t n = s->in->job_count, sites = s->grid.site_count;
    size_t *to_grid = NEW(s->a, size_t, sites);

    s->jobs = NEW(s->a, struct sim_job, n);
    s->queued = NEW(s->a, struct co_queued, n);
    s->scanned = NEW(s->a, size_t, n);
    s->active.items = NEW(s->a, size_t, n);
    s->outstanding = NEW(s->a, size_t, sites);
    s->number = NEW(s->a, size_t, sites);
    for (size_t level = 0; level < CO_LEVEL_COUNT; level++) {
        s->queues[level].items = NEW(s->a, size_t, n);
    }
    for (size_t i = 0; i < sites; i++)
        to_grid[s->grid.source_index[i]] = i;
    for (size_t j = 0; j < n; j++)
        begin_job(s, j, to_grid);
    s->errors = rng_stream(s->in->seed, "coallocation.error");
}

/* ---- the state that decisions see ---- */

/* Claims queue up behind local jobs that wait; a placement does not look at them. */
static void refresh(struct sim *s, bool for_claim)
{
    for (size_t i = 0; i < s->grid.site_count; i++) {
        const struct sim_site *site = &s->sites[i];
        bool barred = for_claim && s->set->local_priority && site->queue_count;

        s->grid.sites[i].idle = barred ? 0 : sim_idle(site);
        s->grid.sites[i].outstanding = s->outstanding[i];
        s->grid.sites[i].usable = !site->errors.unusable;
    }
}

static void start_local_jobs(struct sim *s)
{
    for (size_t i = 0; i < s->grid.site_count; i++)
        sim_local_start(s, i);
}

static void set_active(struct sim *s, size_t j, bool active)
{
    struct sim_job *job = &s->jobs[j];

    if (active == (job->active_at != CO_NONE))
        return;
    if (active) {
        job->active_at = s->active.count;
        s->active.items[s->active.count++] = j;
    } else {
        size_t last = s->active.items[--s->active.count];

        s->active.items[job->active_at] = last;
        s->jobs[last].active_at = job->active_at;
        job->active_at = CO_NONE;
    }
}

static void stop_component(struct sim *s, struct sim_job *job, size_t c)
{
    if (!job->started[c])
        return;
    s->sites[job->choices[c].site].held -= job->components[c].processors;
    job->started[c] = false;
}

/* Gives back all that the job has; nobody takes it yet. */
static void release(struct sim *s, size_t j)
{
    struct sim_job *job = &s->jobs[j];

    for (size_t c = 0; c < job->component_count; c++)
        if (job->started[c])
            stop_component(s, job, c);
        else
            s->outstanding[job->choices[c].site] -= job->components[c].processors;
    job->component_count = 0;
    set_active(s, j, false);
}

static void enqueue(struct sim *s, size_t j)
{
    struct sim_job *job = &s->jobs[j];
    struct job_list *queue = &s->queues[job->job.level];

    job->state = JOB_QUEUED;
    job->epoch++;
    job->queue_entry_s = s->now_s;
    job->start_s = (double)NAN;
    queue->items[queue->count++] = j;
}

static void give_up(struct sim *s, size_t j, size_t *counter)
{
    s->jobs[j].state = JOB_DONE;
    s->jobs[j].epoch++;
    s->done_count++;
    (*counter)++;
}

/* ---- placing ---- */

static void add_record(struct sim *s, struct sim_job *job)
{
    size_t wanted = job->record_capacity ? 2 * job->record_capacity : 1;

    if (job->record_count == job->record_capacity) {
        job->records = GROW(s->a, job->records, struct co_run_placement,
                            job->record_capacity, wanted);
        job->record_capacity = wanted;
    }
    job->records[job->record_count++] = (struct co_run_placement){
        .queue_entry_s = job->queue_entry_s,
        .jpt_s = job->jpt_s,
        .jst_s = job->jst_s,
        .components = job->record,
        .component_count = job->component_count,
    };
}

/* What lives in the scratch arena is copied. */
static void take_placement(struct sim *s, size_t j, const struct co_placement *p)
{
    struct sim_job *job = &s->jobs[j];
    size_t count = p->component_count;
    struct co_component *components = NEW(s->a, struct co_component, count);

    job->choices = NEW(s->a, struct co_choice, count);
    job->started = NEW(s->a, bool, count);
    job->record = NEW(s->a, struct co_run_component, count);
    for (size_t c = 0; c < count; c++) {
        components[c] = p->components[c];
        job->choices[c] = p->choices[c];
        job->record[c] =
            (struct co_run_component){.site = p->choices[c].site,
                                      .processors = p->components[c].processors,
                                      .claimed_s = (double)NAN};
        s->outstanding[p->choices[c].site] += p->components[c].processors;
    }
    if (job->job.type == CO_FLEXIBLE)
        for (size_t c = 0; c < count; c++) {
            components[c].id = arena_printf(s->a, "c%zu", c);
        }
    job->components = components;
    job->component_count = count;
    job->state = JOB_PLACED;
    job->jpt_s = s->now_s;
    job->jst_s = co_jst_s(s->now_s, p->ftt_s);
    add_record(s, job);
    sim_event(s, co_first_claim_s(s->now_s, p->ftt_s, job->l, &s->set->claim.steps),
              EVENT_CLAIM, j, 0, job->epoch);
}

static void take_scanned(struct sim *s, size_t j, const struct co_scanned *r)
{
    struct sim_job *job = &s->jobs[j];

    job->placement_tries = r->tries;
    job->overtaken = r->overtaken;
    switch (r->outcome) {
    case CO_SCAN_PLACED:
        take_placement(s, j, &r->placement);
        return;
    case CO_SCAN_PROMOTED:
        job->job.level = co_level_above(job->job.level);
        s->queues[job->job.level].items[s->queues[job->job.level].count++] = j;
        s->out.promotion_count++;
        return;
    case CO_SCAN_TRIES:
    case CO_SCAN_WAITED:
        give_up(s, j, &s->out.failed_count);
        return;
    default:
        return;
    }
}

/* Scans the queue from position `from` on. */
static enum error_code scan_queue(struct sim *s, enum co_level level, size_t from)
{
    struct job_list *queue = &s->queues[level];
    size_t count = queue->count - from, kept = from;
    struct co_scan_in in = {.grid = &s->grid,
                            .level = level,
                            .jobs = s->queued,
                            .job_count = count,
                            .now_s = s->now_s,
                            .history = &s->history,
                            .budget = s->in->budget};
    struct co_scan_out out;

    refresh(s, false);
    co_available_all(&s->grid, s->number);
    for (size_t i = 0; i < count; i++) {
        const struct sim_job *job = &s->jobs[queue->items[from + i]];

        s->scanned[i] = queue->items[from + i];
        s->queued[i] = (struct co_queued){&job->job, job->placement_tries, job->overtaken,
                                          job->queue_entry_s};
    }
    TRY(co_scan(&in, &s->set->scan, s->number, &out, s->in->scratch, s->err));
    s->out.is_cut = s->out.is_cut || budget_spent(s->in->budget);
    for (size_t i = 0; i < count; i++) {
        size_t j = s->scanned[i];

        take_scanned(s, j, &out.jobs[i]);
        if (s->jobs[j].state == JOB_QUEUED && s->jobs[j].job.level == level)
            queue->items[kept++] = j;
    }
    queue->count = kept;
    arena_reset(s->in->scratch);
    return OK;
}

enum error_code sim_arrival(struct sim *s, size_t j)
{
    struct sim_job *job = &s->jobs[j];
    struct job_list *queue = &s->queues[job->job.level];
    bool may_overtake = s->set->scan.max_overtakes == SIZE_MAX;

    job->submit_s = s->last_arrival_s = s->now_s;
    if (job->never_fits) {
        give_up(s, j, &s->out.never_fit_count);
        return OK;
    }
    enqueue(s, j);
    if (s->set->try_on_arrival && (may_overtake || queue->count == 1))
        return scan_queue(s, job->job.level, queue->count - 1);
    return OK;
}

/* One queue, or when there is no clock one scan for each queue that is not empty. */
enum error_code sim_scan(struct sim *s)
{
    size_t scans = 1;

    if (s->set->event_driven) {
        scans = 0;
        for (size_t level = 0; level < CO_LEVEL_COUNT; level++)
            scans += s->queues[level].count > 0;
    }
    for (size_t i = 0; i < scans; i++) {
        bool nonempty[CO_LEVEL_COUNT];
        enum co_level level;

        for (size_t k = 0; k < CO_LEVEL_COUNT; k++)
            nonempty[k] = s->queues[k].count > 0;
        if (co_scan_next(&s->set->weights, s->cursor, nonempty, &level, &s->cursor))
            TRY(scan_queue(s, level, 0));
    }
    if (s->set->event_driven)
        return OK;
    sim_event(s, s->now_s + s->set->scan_interval_s, EVENT_SCAN, 0, 0, 0);
    return OK;
}

/* ---- claiming ---- */

/* All other jobs that hold processors; *of says which job each is. */
static void list_running(struct sim *s, size_t except, struct co_claim_in *in,
                         const size_t **of)
{
    struct arena *a = s->in->scratch;
    struct co_running_job *list = NEW(a, struct co_running_job, s->active.count);
    size_t *jobs = NEW(a, size_t, s->active.count);

    for (size_t i = 0; i < s->active.count; i++) {
        size_t j = s->active.items[i];
        const struct sim_job *job = &s->jobs[j];
        struct co_running_part *parts =
            NEW(a, struct co_running_part, job->component_count);
        size_t count = 0;

        if (j == except || job->job.level >= s->jobs[except].job.level)
            continue;
        for (size_t c = 0; c < job->component_count; c++)
            if (job->started[c])
                parts[count++] = (struct co_running_part){job->choices[c].site,
                                                          job->components[c].processors};
        jobs[in->running_count] = j;
        list[in->running_count++] = (struct co_running_job){job->job.id, job->job.level,
                                                            job->jst_s, parts, count};
    }
    in->running = list;
    *of = jobs;
}

static void preempt(struct sim *s, const struct co_claim_out *out, const size_t *of)
{
    for (size_t i = 0; i < out->preemption_count; i++) {
        size_t victim = of[out->preemptions[i].running];

        if (s->jobs[victim].active_at == CO_NONE)
            continue;
        release(s, victim);
        enqueue(s, victim);
        s->out.preemption_count++;
    }
}

static void start_components(struct sim *s, size_t j, const struct co_claim_out *out)
{
    struct sim_job *job = &s->jobs[j];

    for (size_t i = 0; i < s->grid.site_count; i++)
        s->outstanding[i] -= out->released[i];
    for (size_t i = 0; i < out->move_count; i++) {
        size_t c = out->moves[i].component;

        job->choices[c] = out->moves[i].to;
        job->record[c].site = out->moves[i].to.site;
        s->out.replaced_count++;
    }
    for (size_t i = 0; i < out->start_count; i++) {
        size_t c = out->start[i];

        job->started[c] = true;
        job->record[c].claimed_s = s->now_s;
        s->sites[job->choices[c].site].held += job->components[c].processors;
    }
    if (out->start_count)
        set_active(s, j, true);
}

/* The processors that waited are given back already. */
static void stop_all(struct sim *s, size_t j)
{
    struct sim_job *job = &s->jobs[j];

    for (size_t c = 0; c < job->component_count; c++)
        stop_component(s, job, c);
    job->component_count = 0;
    set_active(s, j, false);
}

static void follow(struct sim *s, size_t j, const struct co_claim_out *out)
{
    struct sim_job *job = &s->jobs[j];

    job->claim_tries = out->tries;
    job->l = out->l;
    switch (out->decision) {
    case CO_START_ALL:
        job->state = JOB_CLAIMED;
        sim_event(s, fmax(s->now_s, job->jst_s), EVENT_LAUNCH, j, 0, job->epoch);
        return;
    case CO_START_PARTIAL:
    case CO_WAIT:
        sim_event(s, out->next_jct_s, EVENT_CLAIM, j, 0, job->epoch);
        return;
    case CO_REQUEUE_PLACEMENT:
        stop_all(s, j);
        enqueue(s, j);
        s->out.requeue_count++;
        return;
    default:
        stop_all(s, j);
        give_up(s, j, &s->out.failed_count);
    }
}

enum error_code sim_claim(struct sim *s, size_t j)
{
    struct sim_job *job = &s->jobs[j];
    struct co_claim_in in = {
        .grid = &s->grid,
        .job = &job->job,
        .base_level = job->base_level,
        .components = job->components,
        .choices = job->choices,
        .started = job->started,
        .component_count = job->component_count,
        .now_s = s->now_s,
        .jst_s = job->jst_s,
        .jct_s = s->now_s,
        .l = job->l,
        .tries = job->claim_tries,
        .history = &s->history,
    };
    struct co_claim_out out;
    const size_t *of = NULL;

    refresh(s, true);
    list_running(s, j, &in, &of);
    TRY(co_claim(&in, &s->set->claim, &out, s->in->scratch, s->err));
    preempt(s, &out, of);
    start_components(s, j, &out);
    follow(s, j, &out);
    arena_reset(s->in->scratch);
    start_local_jobs(s);
    return OK;
}

/* ---- running ---- */

static bool on_several_sites(const struct sim_job *job)
{
    for (size_t c = 1; c < job->component_count; c++)
        if (job->choices[c].site != job->choices[0].site)
            return true;
    return false;
}

static double run_s(const struct sim *s, const struct sim_job *job)
{
    return job->source->run_time_s * (on_several_sites(job) ? s->set->slowdown_ratio : 1);
}

static void avoid(struct sim *s, struct sim_job *job, size_t site)
{
    if (!s->set->avoid_failed_sites)
        return;
    if (!job->barred)
        job->barred = NEW(s->a, char, s->grid.site_count);
    job->barred[site] = CO_AVOIDED;
    job->job.barred = job->barred;
}

/* One step of the clock late, so that rounding does not make it early. */
static void readmit_later(struct sim *s, size_t at)
{
    double cooldown_s = s->set->unusable_cooldown_s;

    if (isinf(cooldown_s))
        return;
    sim_event(s, nextafter(s->now_s + cooldown_s, HUGE_VAL), EVENT_READMIT, at, 0, 0);
}

/* Draws for each component whether its site errs. */
static void draw_errors(struct sim *s, struct sim_job *job, bool *failed)
{
    *failed = false;
    for (size_t c = 0; c < job->component_count; c++) {
        size_t at = job->choices[c].site;
        struct sim_site *site = &s->sites[at];

        if (rng_uniform(&s->errors) >= site->failure_ratio) {
            co_site_success(&site->errors);
            continue;
        }
        *failed = true;
        avoid(s, job, at);
        if (!co_site_error(&site->errors, s->set->error_threshold, s->now_s))
            continue;
        s->out.unusable_site_count++;
        readmit_later(s, at);
    }
}

void sim_launch(struct sim *s, size_t j)
{
    struct sim_job *job = &s->jobs[j];
    struct co_run_placement *record = &job->records[job->record_count - 1];
    bool failed;

    record->started = true;
    draw_errors(s, job, &failed);
    if (failed) {
        record->failed_soft = true;
        s->out.soft_error_count++;
        release(s, j);
        enqueue(s, j);
        start_local_jobs(s);
        return;
    }
    job->state = JOB_RUNNING;
    job->start_s = s->now_s;
    sim_event(s, s->now_s + fmin(run_s(s, job), s->set->max_run_time_s), EVENT_END, j, 0,
              job->epoch);
}

void sim_end(struct sim *s, size_t j)
{
    struct sim_job *job = &s->jobs[j];

    if (run_s(s, job) > s->set->max_run_time_s) {
        give_up(s, j, &s->out.failed_count);
    } else {
        job->finish_s = s->now_s;
        job->state = JOB_DONE;
        job->epoch++;
        s->done_count++;
    }
    release(s, j);
    start_local_jobs(s);
}
