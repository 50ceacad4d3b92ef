/* placement/makespan_walk.c - the assignment that the search changes. */
#include "algorithms/placement/makespan_walk.h"

#include <string.h>

void makespan_walk_create(const struct makespan_field *f, struct makespan_walk *w)
{
    size_t job_count = f->job_count, machine_count = f->machine_count;
    struct arena *a = f->arena;

    *w = (struct makespan_walk){.field = f};
    w->machine_of = NEW(a, uint32_t, job_count);
    w->time = NEW(a, double, job_count);
    w->extra = NEW(a, double, job_count);
    w->load = NEW(a, double, machine_count);
    w->head = NEW(a, uint32_t, machine_count);
    w->next = NEW(a, uint32_t, job_count);
    w->prev = NEW(a, uint32_t, job_count);
    w->undo = NEW(a, struct makespan_place, job_count);
    w->touched_in = NEW(a, size_t, job_count);
    w->accepted_load = NEW(a, double, machine_count);
    w->partners = NEW(a, struct makespan_partner, job_count);
    w->partners_from = NEW(a, uint32_t, machine_count);
    w->partners_least = NEW(a, double, machine_count);
}

static void unlink_job(struct makespan_walk *w, uint32_t job)
{
    if (w->prev[job] == MAKESPAN_NONE)
        w->head[w->machine_of[job]] = w->next[job];
    else
        w->next[w->prev[job]] = w->next[job];
    if (w->next[job] != MAKESPAN_NONE)
        w->prev[w->next[job]] = w->prev[job];
}

static void link_job(struct makespan_walk *w, uint32_t job, uint32_t machine)
{
    w->machine_of[job] = machine;
    w->prev[job] = MAKESPAN_NONE;
    w->next[job] = w->head[machine];
    if (w->head[machine] != MAKESPAN_NONE)
        w->prev[w->head[machine]] = job;
    w->head[machine] = job;
}

static void move_job(struct makespan_walk *w, uint32_t job, uint32_t machine, double time,
                     double extra)
{
    w->load[w->machine_of[job]] -= w->time[job];
    w->load[machine] += time;
    unlink_job(w, job);
    link_job(w, job, machine);
    w->time[job] = time;
    w->extra[job] = extra;
}

void makespan_walk_apply(struct makespan_walk *w, const struct makespan_pair *pair)
{
    uint32_t job = pair->job;

    if (w->touched_in[job] != w->shake) {
        w->touched_in[job] = w->shake;
        w->undo[w->undo_count++] =
            (struct makespan_place){job, w->machine_of[job], w->time[job], w->extra[job]};
    }
    move_job(w, job, pair->machine, pair->time, pair->extra);
}

void makespan_walk_go_back(struct makespan_walk *w)
{
    while (w->undo_count > 0) {
        const struct makespan_place *p = &w->undo[--w->undo_count];
        move_job(w, p->job, p->machine, p->time, p->extra);
    }
    memcpy(w->load, w->accepted_load, w->field->machine_count * sizeof(*w->load));
}

void makespan_walk_accept(struct makespan_walk *w, double makespan)
{
    w->undo_count = 0;
    w->accepted = makespan;
    memcpy(w->accepted_load, w->load, w->field->machine_count * sizeof(*w->load));
}

void makespan_walk_start(struct makespan_walk *w, const size_t *assignment)
{
    const struct makespan_field *f = w->field;
    double makespan = 0;

    memset(w->head, 0xff, f->machine_count * sizeof(*w->head));
    memcpy(w->load, f->wait, f->machine_count * sizeof(*w->load));
    for (size_t i = 0; i < f->job_count; i++) {
        size_t j = assignment[i];

        w->time[i] = f->time[i * f->machine_count + j];
        w->extra[i] = f->prices.price[j] * w->time[i] - w->pairs.least_cost[i];
        w->load[j] += w->time[i];
        makespan = fmax(makespan, w->load[j]);
        link_job(w, (uint32_t)i, (uint32_t)j);
    }
    makespan_walk_accept(w, makespan);
}

size_t makespan_walk_fullest(const struct makespan_walk *w)
{
    size_t full = SIZE_MAX;

    for (size_t j = 0; j < w->field->machine_count; j++)
        if (w->head[j] != MAKESPAN_NONE &&
            (full == SIZE_MAX || w->load[j] > w->load[full]))
            full = j;
    return full;
}
