/* simulation/host.c - resources: how the jobs on one share its speed.
 *
 * Equal sharing. n jobs share the speed, those that stand still for a checkpoint
 * included; so all that work make the same progress, and one number for the host,
 *
 *     v(t) = integral of (mips_total - mips_external) / n dt,
 *
 * says how far each is: a job with `left` MI to do at v is done when v has reached
 * v + left. A change of n or of the load changes only the rate of v, O(1), and the next
 * end is the least of those values. Fraction sharing is the same with v in seconds, the
 * job's speed being its own.
 *
 * An end may be put off often before it comes. So there is one event for a host; when
 * it comes too early, it is posted again.
 *
 * Source: spec simulator.md 4, 5.2; 000_168dd5aef5075332 2.2 [L711-L719].
 */
#include "algorithms/simulation/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXTERNAL_MAX_SHARE 0.95 /* of mips_total, by the load process (spec 5.2) */

static double available_mips(const struct host *h)
{
    return fmax(0, h->mips_total - h->mips_external);
}

double host_speed(const struct host *h, const struct replica *r)
{
    if (h->is_fraction)
        return r->mips;
    return available_mips(h) / (double)(h->running_count ? h->running_count : 1);
}

static bool is_working(const struct replica *r)
{
    return r->stage == STAGE_RUN;
}

double replica_progress_mi(const struct sim *s, const struct replica *r)
{
    const struct host *h = r->host;
    double dt, v;

    if (!is_working(r))
        return r->progress_mi;
    dt = 1e-3 * (double)(s->kernel.now_ms - h->v_ms);
    v = h->v + h->rate * dt;
    return fmin(r->job->length_mi, r->progress_mi + (v - r->begin_v) * r->mips);
}

static bool is_fully_loaded(const struct host *h)
{
    if (h->running_count >= h->n_max)
        return true;
    return h->is_fraction && h->demand_mips >= available_mips(h) * (1 - 1e-12);
}

void host_advance(struct sim *s, struct host *h)
{
    double dt = 1e-3 * (double)(s->kernel.now_ms - h->v_ms);

    if (dt <= 0)
        return;
    h->v_ms = s->kernel.now_ms;
    if (h->is_up)
        h->stats.possible_mi += available_mips(h) * dt;
    if (h->running_count == 0)
        return;
    h->v += h->rate * dt;
    h->stats.processed_mi +=
        h->rate * dt * (h->is_fraction ? h->working_mips : (double)h->working_count);
    h->stats.non_idle_s += dt;
    h->stats.job_s += (double)h->running_count * dt;
    if (is_fully_loaded(h))
        h->stats.fully_loaded_s += dt;
}

static bool ends_before(const struct replica *a, const struct replica *b)
{
    if (a->finish_v != b->finish_v)
        return a->finish_v < b->finish_v;
    return a->job->number < b->job->number;
}

static struct replica *find_first(const struct host *h)
{
    struct replica *first = NULL;

    for (size_t i = 0; i < h->running_count; i++)
        if (is_working(h->running[i]) && (!first || ends_before(h->running[i], first)))
            first = h->running[i];
    return first;
}

static int64_t end_of_first(const struct sim *s, const struct host *h)
{
    double left = h->first->finish_v - h->v;

    if (left <= 0)
        return s->kernel.now_ms;
    return h->rate > 0 ? kernel_after(&s->kernel, left / h->rate) : KERNEL_NEVER;
}

static void post_end(struct sim *s, struct host *h)
{
    h->version++;
    h->posted_ms = h->planned_ms;
    if (h->planned_ms != KERNEL_NEVER)
        kernel_post(&s->kernel, h->planned_ms, EVENT_WORK, h, h->version);
}

void host_replan(struct sim *s, struct host *h)
{
    if (h->running_count == 0)
        h->v = 0; /* so that it never grows beyond its precision */
    if (h->is_fraction)
        h->rate = 1;
    else
        h->rate = available_mips(h) / (double)(h->running_count ? h->running_count : 1);
    if (!h->first && h->working_count > 0)
        h->first = find_first(h);
    h->planned_ms = h->first ? end_of_first(s, h) : KERNEL_NEVER;
    if (h->planned_ms >= h->posted_ms)
        return; /* the event that is posted comes in time, and will see */
    post_end(s, h);
}

void host_on_work(struct sim *s, struct host *h)
{
    h->posted_ms = KERNEL_NEVER;
    if (h->planned_ms > s->kernel.now_ms) {
        post_end(s, h);
        return;
    }
    host_advance(s, h);
    while (h->first && h->planned_ms <= s->kernel.now_ms)
        replica_work_done(s, h->first); /* which plans anew */
    if (h->posted_ms == KERNEL_NEVER)
        host_replan(s, h);
}

/* ---- who runs ---- */

static void grow_running(struct sim *s, struct host *h)
{
    size_t size = h->running_size ? 2 * h->running_size : 2;
    struct replica **running =
        GROW(s->arena, h->running, struct replica *, h->running_count, size);

    h->running = running;
    h->running_size = size;
}

static void begin_work(struct host *h, struct replica *r)
{
    r->stage = STAGE_RUN;
    r->begin_v = h->v;
    r->finish_v = h->v + fmax(0, r->job->length_mi - r->progress_mi) / r->mips;
    h->working_count++;
    h->working_mips += r->mips;
    if (h->working_count == 1 || (h->first && ends_before(r, h->first)))
        h->first = r;
}

/* Instants are whole milliseconds, so v may be a little off the end of a job; what is
 * counted as processed is what its jobs have gained. */
void host_settle(struct host *h, struct replica *r)
{
    double made_mi, gained_mi;

    if (!is_working(r))
        return;
    made_mi = (h->v - r->begin_v) * r->mips;
    gained_mi = fmin(made_mi, r->job->length_mi - r->progress_mi);

    h->stats.processed_mi += gained_mi - made_mi;
    r->progress_mi += gained_mi;
    r->job->made_mi += gained_mi;
    r->begin_v = h->v;
}

static void end_work(struct host *h, struct replica *r)
{
    host_settle(h, r);
    h->working_count--;
    h->working_mips = h->working_count ? h->working_mips - r->mips : 0;
    if (h->first == r)
        h->first = NULL;
}

void host_run(struct sim *s, struct replica *r)
{
    struct host *h = r->host;

    if (h->running_count == h->running_size)
        grow_running(s, h);
    host_advance(s, h);
    h->reserved_count--;
    r->mips = h->is_fraction ? r->job->mips_required : 1;
    r->position = h->running_count;
    h->running[h->running_count++] = r;
    begin_work(h, r);
    host_replan(s, h);
}

void host_stop(struct sim *s, struct replica *r)
{
    struct host *h = r->host;
    struct replica *last = h->running[h->running_count - 1];

    host_advance(s, h);
    if (is_working(r))
        end_work(h, r);
    r->stage = STAGE_GHOST;
    last->position = r->position;
    h->running[r->position] = last;
    h->running_count--;
    if (h->is_fraction)
        h->demand_mips =
            h->running_count + h->reserved_count ? h->demand_mips - r->mips : 0;
    host_replan(s, h);
}

void host_pause(struct sim *s, struct replica *r)
{
    host_advance(s, r->host);
    end_work(r->host, r);
    r->stage = STAGE_CHECKPOINT;
    host_replan(s, r->host);
}

void host_resume(struct sim *s, struct replica *r)
{
    host_advance(s, r->host);
    begin_work(r->host, r);
    host_replan(s, r->host);
}

bool host_has_room(const struct host *h, const struct grid_job *job)
{
    if (h->reserved_count + h->running_count >= h->n_max)
        return false;
    return !h->is_fraction ||
           h->demand_mips + job->mips_required <= available_mips(h) * (1 + 1e-12);
}

/* ---- load from outside ---- */

static void set_load(struct sim *s, struct host *h, double mips)
{
    host_advance(s, h);
    h->mips_external = mips;
    host_replan(s, h);
    information_note(s, h);
    sim_log(s, SIM_LOG_RESOURCE_LOAD, NULL, h, mips);
}

static void post_load(struct sim *s, struct host *h)
{
    const struct sim_trace *trace = h->trace;

    if (trace && h->load_next < trace->load_count)
        kernel_post(&s->kernel, kernel_ms(trace->load[h->load_next].at_s), EVENT_LOAD, h,
                    0);
    else if (!trace && h->group->load.interval_s > 0)
        kernel_post(&s->kernel, kernel_after(&s->kernel, h->group->load.interval_s),
                    EVENT_LOAD, h, 0);
}

void host_start_load(struct sim *s, struct host *h)
{
    const struct sim_load *load = &h->group->load;

    if (h->trace) {
        while (h->load_next < h->trace->load_count &&
               kernel_ms(h->trace->load[h->load_next].at_s) <= s->kernel.now_ms)
            h->mips_external = h->trace->load[h->load_next++].mips_external;
    } else if (load->interval_s > 0) {
        size_t position = h->number;
        double fraction = distribution_draw(&load->initial_fraction, &h->load, &position);

        fraction = fmin(fmax(fraction, 0), EXTERNAL_MAX_SHARE);
        h->load_step_mips = fraction * h->mips_total;
        h->mips_external = h->load_step_mips;
    }
    if (h->mips_external > 0)
        sim_log(s, SIM_LOG_RESOURCE_LOAD, NULL, h, h->mips_external);
    post_load(s, h);
}

void host_on_load(struct sim *s, struct host *h)
{
    if (h->trace) {
        set_load(s, h, h->trace->load[h->load_next++].mips_external);
    } else {
        double percent =
            distribution_draw(&h->group->load.change_percent, &h->load, &h->load_at);
        double sign = rng_uniform(&h->load) < 0.5 ? -1 : 1;
        double mips = h->mips_external + sign * percent / 100 * h->load_step_mips;

        set_load(s, h, fmin(fmax(mips, 0), EXTERNAL_MAX_SHARE * h->mips_total));
    }
    post_load(s, h);
}

/* ---- creation ---- */

static int compare_names(const void *a, const void *b)
{
    const struct sim_resource_name *x = a, *y = b;

    return strcmp(x->id, y->id);
}

static const char *name_of(const struct sim_group *g, size_t number, struct arena *a)
{
    if (g->count == 1 && g->first_number == 0)
        return g->id;
    return arena_printf(a, "%s%zu", g->id, g->first_number + number);
}

void sim_resource_names(const struct sim_scenario *s,
                        const struct sim_resource_name **names, size_t *count,
                        struct arena *a)
{
    struct sim_resource_name *list;
    size_t n = 0;

    for (size_t g = 0; g < s->group_count; g++)
        n += s->groups[g].count;
    list = NEW(a, struct sim_resource_name, n);
    n = 0;
    for (size_t g = 0; g < s->group_count; g++) {
        for (size_t i = 0; i < s->groups[g].count; i++, n++) {
            list[n] = (struct sim_resource_name){name_of(&s->groups[g], i, a), g, i};
        }
    }
    qsort(list, n, sizeof(*list), compare_names);
    *names = list;
    *count = n;
}

/* The stream ID.PURPOSE. */
static void stream_of(struct sim *s, const struct host *h, const char *purpose,
                      struct rng *stream)
{
    const char *name = arena_printf(s->arena, "%s.%s", h->id, purpose);

    *stream = rng_stream(s->seed, name);
}

static void host_create(struct sim *s, struct host *h,
                        const struct sim_resource_name *name)
{
    const struct sim_group *g = &s->scenario->groups[name->group];
    size_t position = name->number;
    struct rng mips;

    h->id = name->id;
    h->name = name->id;
    if (s->wanted->per_resource || s->wanted->job_rows_max || s->wanted->log_rows_max)
        h->name = arena_text(s->rows, name->id, strlen(name->id));
    h->number = name->number;
    h->group = g;
    h->trace = g->traces ? &g->traces[name->number] : NULL;
    h->n_max = g->n_max;
    h->is_fraction = g->sharing == SIM_SHARING_FRACTION;
    stream_of(s, h, "mips", &mips);
    stream_of(s, h, "failure", &h->failure);
    stream_of(s, h, "restore", &h->restore);
    stream_of(s, h, "load", &h->load);
    stream_of(s, h, "burst", &h->burst);
    h->mips_total = fmax(0, distribution_draw(&g->mips_total, &mips, &position));
    h->planned_ms = h->posted_ms = KERNEL_NEVER;
    h->slowed = failures_slowed(s, h);
    failures_create(s, h);
    kernel_post(&s->kernel, kernel_ms(g->register_s), EVENT_RESOURCE_ADD, h, 0);
}

void hosts_create(struct sim *s)
{
    const struct sim_resource_name *names;

    sim_resource_names(s->scenario, &names, &s->host_count, s->arena);
    s->hosts = NEW(s->arena, struct host, s->host_count);
    for (size_t i = 0; i < s->host_count; i++) {
        s->hosts[i].index = i;
        host_create(s, &s->hosts[i], &names[i]);
    }
}
