/* cluster_replay/flows.c - images that share a file system.
 *
 * All that are on their way have the same part of it. So what each has had since a common
 * begin is the same, and the one that ends first is known by one number: an image that
 * takes c alone and begins when each has had v ends when each has had v + c. O(log n) for
 * each that begins or ends.
 *
 * Places: the jobs that run have periods and offsets by checkpoint/shared_io.h, on the
 * clock of the run. A job writes at the first of its places that is half a period away or
 * more. They are made anew when a job asks and others run than the last time, O(n^2) for
 * n jobs.
 *
 * Source: spec reliability.md 8.7 and 6.6.
 */
#include "algorithms/checkpoint/shared_io.h"
#include "algorithms/cluster_replay/parts.h"
#include "models/base/heap.h"

#include <math.h>
#include <stdio.h>

static const double ROUNDING_MS = 1e-3;

static bool ends_before(const struct flow *a, const struct flow *b)
{
    return a->ends != b->ends ? a->ends < b->ends : a->run->sequence < b->run->sequence;
}
HEAP(flow, struct flow, ends_before)

void flows_create(struct engine *e)
{
    if (e->rules->io.has_places)
        e->flows.scratch = arena_create_beside(e->a, arena_cap_bytes(e->a));
}

void flows_close(struct engine *e)
{
    if (e->flows.scratch)
        arena_close(e->flows.scratch);
}

static bool is_void(const struct flow *x)
{
    return x->run->version != x->version;
}

/* Shares out the time that has passed. */
static void move(struct engine *e)
{
    struct flows *f = &e->flows;

    if (f->active)
        f->shared += (double)(e->kernel.now_ms - f->at_ms) / (double)f->active;
    f->at_ms = e->kernel.now_ms;
}

/* The event of the next that ends. */
static void post(struct engine *e)
{
    struct flows *f = &e->flows;
    double left_ms;

    while (f->count && is_void(&f->list[0]))
        flow_pop(f->list, &f->count);
    f->version++;
    if (f->active == 0) {
        f->count = 0;
        f->shared = 0;
        return;
    }
    left_ms = ceil((f->list[0].ends - f->shared) * (double)f->active - ROUNDING_MS);
    if (left_ms < 4e18)
        kernel_post(&e->kernel, later(e->kernel.now_ms, (int64_t)fmax(0, left_ms)),
                    EVENT_FLOW, NULL, f->version);
}

void flows_add(struct engine *e, struct run *r, int64_t alone_ms)
{
    struct flows *f = &e->flows;

    move(e);
    if (f->count == f->room) {
        size_t room = f->room ? 2 * f->room : 64;

        f->list = f->room ? GROW(e->a, f->list, struct flow, f->room, room)
                          : NEW(e->a, struct flow, room);
        f->room = room;
    }
    flow_push(f->list, &f->count,
              (struct flow){f->shared + (double)alone_ms, r, r->version});
    f->active++;
    post(e);
}

void flows_drop(struct engine *e, struct run *r)
{
    if (!e->rules->io.is_shared || !r->course.is_transfer)
        return;
    move(e);
    r->course.is_transfer = false;
    r->version++;
    e->flows.active--;
    post(e);
}

void flows_tick(struct engine *e, uint32_t version)
{
    struct flows *f = &e->flows;

    if (version != f->version)
        return;
    move(e);
    while (f->count &&
           (is_void(&f->list[0]) || f->list[0].ends <= f->shared + ROUNDING_MS)) {
        struct flow first = flow_pop(f->list, &f->count);

        budget_step(e->budget, 8);
        if (is_void(&first))
            continue;
        f->active--;
        life_end(e, first.run);
    }
    post(e);
}

/* ---- places ---- */

/* The jobs that have one, in the order of their numbers. */
static size_t list_jobs(struct engine *e, struct shared_io_job *jobs, struct run **runs,
                        char (*names)[16])
{
    size_t count = 0;

    for (size_t i = 0; i < e->running_count && count < SHARED_IO_JOBS_MAX; i++) {
        struct run *r = e->running[i].run;
        double overhead_s = 1e-3 * (double)e->in->jobs[r->job].checkpoint_ms;

        budget_step(e->budget, 8);
        r->course.period_s = (double)NAN;
        if (r->cleans || !(r->mean_s > 0) || isinf(r->mean_s) || !(overhead_s > 0))
            continue;
        snprintf(names[count], sizeof(names[count]), "%010u", r->job);
        jobs[count] = (struct shared_io_job){.id = names[count],
                                             .overhead_s = overhead_s,
                                             .mean_s = r->mean_s,
                                             .nodes = r->node_count - r->spare_count};
        runs[count++] = r;
    }
    return count;
}

static void make_places(struct engine *e)
{
    struct arena *a = e->flows.scratch;
    struct shared_io_job *jobs = NEW(a, struct shared_io_job, e->running_count);
    struct run **runs = NEW(a, struct run *, e->running_count);
    char(*names)[16] = (char(*)[16])NEW(a, char, 16 * e->running_count);
    size_t count = list_jobs(e, jobs, runs, names);
    struct shared_io_load load;

    e->flows.is_stale = false;
    shared_io_intervals(jobs, count, e->rules->io.use_max_ratio, &load);
    shared_io_stagger(jobs, count, e->rules->io.use_max_ratio, &load, a, e->budget);
    for (size_t i = 0; i < count; i++) {
        runs[i]->course.period_s =
            isnan(jobs[i].offset_s) ? (double)NAN : jobs[i].period_s;
        runs[i]->course.offset_s = jobs[i].offset_s;
    }
    arena_reset(a);
}

double flows_place_s(struct engine *e, struct run *r)
{
    const struct course *c = &r->course;
    double now_s = 1e-3 * (double)e->kernel.now_ms, periods;

    if (!e->rules->io.has_places)
        return (double)NAN;
    if (e->flows.is_stale)
        make_places(e);
    if (isnan(c->period_s))
        return (double)NAN;
    periods = ceil((now_s + c->period_s / 2 - c->offset_s) / c->period_s - 1e-9);
    return c->offset_s + periods * c->period_s - now_s;
}
