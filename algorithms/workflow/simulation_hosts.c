/* workflow/simulation_hosts.c - resources, their load from outside and their shares.
 *
 * All tasks that run on a resource make the same progress: v is that of one since the
 * start, and a task is done when v reaches its start_v plus what it had left. A change
 * of the number or of the load touches v and one event.
 *
 * Source: spec workflows.md 2.1, 9.1 (5.1); simulator.md 5.
 */
#include "algorithms/workflow/simulation_parts.h"

#include <math.h>
#include <stdio.h>

#define EXTERNAL_MAX_SHARE 0.95 /* of mips_total, by changes (simulator.md 5.2) */

double wsim_host_speed(const struct wsim_host *h)
{
    return fmax(0, h->given->mips_total - h->mips_external);
}

void wsim_host_advance(struct wsim *s, struct wsim_host *h)
{
    double dt = 1e-3 * (double)(s->kernel.now_ms - h->v_ms);

    if (!(dt > 0))
        return;
    h->v += h->rate * dt;
    h->processed_ref_s += (double)h->running_count * h->rate * dt;
    h->possible_ref_s += wsim_host_speed(h) * dt;
    h->slot_s += (double)h->slot_count * dt;
    h->v_ms = s->kernel.now_ms;
}

static double finish_v(const struct wsim_task *t)
{
    return t->start_v + fmax(0, t->given->evolution.limit_ref_s - t->work_ref_s);
}

static struct wsim_task *first_to_finish(const struct wsim_host *h)
{
    struct wsim_task *first = h->running[0];

    for (size_t i = 1; i < h->running_count; i++)
        if (finish_v(h->running[i]) < finish_v(first))
            first = h->running[i];
    return first;
}

/* After a change: the rate, and when the next task is done. */
static void replan(struct wsim *s, struct wsim_host *h)
{
    h->version++;
    h->rate = 0;
    if (!h->running_count)
        return;
    h->rate = wsim_host_speed(h) / (double)h->running_count;
    if (h->rate > 0)
        kernel_post(&s->kernel,
                    kernel_after(&s->kernel,
                                 fmax(0, finish_v(first_to_finish(h)) - h->v) / h->rate),
                    EVENT_WORK, h, h->version);
}

void wsim_host_run(struct wsim *s, struct wsim_task *t)
{
    struct wsim_host *h = t->host;

    wsim_host_advance(s, h);
    t->start_v = h->v;
    t->began_ms = s->kernel.now_ms;
    t->position = h->running_count;
    h->running[h->running_count++] = t;
    replan(s, h);
}

double wsim_task_work(const struct wsim_task *t)
{
    double work;

    if (t->stage != WSIM_RUNNING)
        return t->work_ref_s;
    work = t->work_ref_s + (t->host->v - t->start_v);
    return fmin(work, t->given->evolution.limit_ref_s);
}

void wsim_host_stop(struct wsim *s, struct wsim_task *t)
{
    struct wsim_host *h = t->host;
    struct wsim_task *last = h->running[h->running_count - 1];

    wsim_host_advance(s, h);
    t->work_ref_s = wsim_task_work(t);
    t->elapsed_s += 1e-3 * (double)(s->kernel.now_ms - t->began_ms);
    h->running[t->position] = last;
    last->position = t->position;
    h->running_count--;
    replan(s, h);
}

void wsim_host_take_slot(struct wsim *s, struct wsim_host *h)
{
    wsim_host_advance(s, h);
    h->slot_count++;
    s->out.slots_exceeded += h->slot_count > h->given->n_max;
}

void wsim_host_give_slot(struct wsim *s, struct wsim_host *h)
{
    wsim_host_advance(s, h);
    h->slot_count--;
}

void wsim_on_work(struct wsim *s, struct wsim_host *h)
{
    struct wsim_task *t = first_to_finish(h);

    wsim_host_advance(s, h);
    h->v = fmax(h->v, finish_v(t)); /* whatever the rounding to milliseconds left */
    wsim_task_work_done(s, t);
}

/* ---- load ---- */

static void post_load(struct wsim *s, struct wsim_host *h)
{
    if (s->set->load_interval_s > 0 && h->given->mips_external > 0)
        kernel_post(&s->kernel, kernel_after(&s->kernel, s->set->load_interval_s),
                    EVENT_LOAD, h, 0);
}

void wsim_on_load(struct wsim *s, struct wsim_host *h)
{
    double low = s->set->load_change_min, high = s->set->load_change_max;
    double change = low + (high - low) * rng_uniform(&h->load);
    double sign = rng_uniform(&h->load) < 0.5 ? -1 : 1;
    double mips = h->mips_external + sign * change * h->given->mips_external;

    wsim_host_advance(s, h);
    h->mips_external = fmin(fmax(mips, 0), EXTERNAL_MAX_SHARE * h->given->mips_total);
    replan(s, h);
    post_load(s, h);
}

void wsim_hosts_begin(struct wsim *s)
{
    const struct workflow_sim_grid *grid = &s->in->grid;

    s->hosts = NEW(s->a, struct wsim_host, grid->resource_count);
    for (size_t i = 0; i < grid->resource_count; i++) {
        struct wsim_host *h = &s->hosts[i];
        char name[48];

        snprintf(name, sizeof(name), "cr%zu.load", i);
        h->given = &grid->resources[i];
        h->index = i;
        h->mips_external = h->given->mips_external;
        h->load = rng_stream(s->in->seed, name);
        h->seen_speed = wsim_host_speed(h);
        h->running = NEW(s->a, struct wsim_task *, h->given->n_max);
        post_load(s, h);
    }
}
