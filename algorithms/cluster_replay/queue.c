/* cluster_replay/queue.c - who waits, and who runs by expected ends. */
#include "algorithms/cluster_replay/parts.h"

#include <math.h>
#include <string.h>

void queue_create(struct engine *e)
{
    line_create(&e->line, e->a);
    line_create(&e->backfill, e->a);
    e->has_backfill_line = e->discipline->backfill_order != e->discipline->order;
    e->running_room = 64;
    e->running = NEW(e->a, struct running_entry, e->running_room);
    e->fresh_room = 64;
    e->fresh = NEW(e->a, uint32_t, e->fresh_room);
    e->shadow.job = REPLAY_NONE;
}

/* Share of the largest capacities that it asks for, in nodes. */
static double width_of(const struct engine *e, uint32_t job)
{
    const struct replay_job *j = &e->in->jobs[job];
    double width = 0;

    for (size_t c = 0; c < e->class_count; c++)
        for (size_t i = 0; i < e->amount_count; i++)
            if (e->classes[c].amounts[i] > 0)
                width =
                    fmax(width, (double)j->need[i] / (double)e->classes[c].amounts[i]);
    return (e->whole || j->exclusive ? 1 : width) * j->nodes;
}

static double key_of(const struct engine *e, uint32_t job, enum queue_order order)
{
    if (order == QUEUE_SHORTEST)
        return (double)e->lives[job].estimate_ms;
    return order == QUEUE_LARGEST ? -width_of(e, job) : 0;
}

struct line_entry queue_entry(const struct engine *e, uint32_t job, bool backfill)
{
    const struct replay_job *j = &e->in->jobs[job];
    const struct life *life = &e->lives[job];

    return (struct line_entry){.priority = j->priority,
                               .key = backfill ? life->backfill_key : life->key,
                               .arrival_ms = life->arrival_ms,
                               .job = job,
                               .nodes = j->nodes + j->spare_nodes};
}

static int64_t queued_cpus(const struct engine *e, uint32_t job)
{
    const struct replay_job *j = &e->in->jobs[job];

    return j->need[REPLAY_CPUS] * (int64_t)j->nodes;
}

static void note_fresh(struct engine *e, uint32_t job)
{
    if (e->fresh_count == e->fresh_room) {
        e->fresh = GROW(e->a, e->fresh, uint32_t, e->fresh_room, 2 * e->fresh_room);
        e->fresh_room *= 2;
    }
    e->fresh[e->fresh_count++] = job;
}

void queue_add(struct engine *e, uint32_t job)
{
    struct life *life = &e->lives[job];
    struct line_entry entry;

    life->estimate_ms = life_estimate_ms(e, job);
    e->irregular |= life->has_started;
    life->key = key_of(e, job, e->discipline->order);
    life->backfill_key = key_of(e, job, e->discipline->backfill_order);
    if (life->in_front) {
        life->key = life->backfill_key = -HUGE_VAL;
        life->arrival_ms = -(int64_t)++e->sequence;
    }
    life->stage = LIFE_WAITS;
    entry = queue_entry(e, job, false);
    line_add(&e->line, &entry);
    if (e->has_backfill_line) {
        entry = queue_entry(e, job, true);
        line_add(&e->backfill, &entry);
    }
    note_fresh(e, job);
    e->queue_changed = e->changed = true;
    e->now.waiting_count++;
    e->now.queued_cpus += queued_cpus(e, job);
}

void queue_take(struct engine *e, uint32_t job)
{
    struct line_entry entry = queue_entry(e, job, false);

    line_remove(&e->line, &entry);
    if (e->has_backfill_line) {
        entry = queue_entry(e, job, true);
        line_remove(&e->backfill, &entry);
    }
    e->changed = true;
    e->now.waiting_count--;
    e->now.queued_cpus -= queued_cpus(e, job);
    if (e->shadow.job == job)
        e->shadow.job = REPLAY_NONE;
}

/* ---- what runs ---- */

static const int64_t OVERDUE_MS = 1000; /* who should have ended ends so soon (ours) */

int64_t running_end_ms(const struct engine *e, const struct running_entry *x)
{
    int64_t now_ms = e->kernel.now_ms;

    if (x->end_ms > now_ms || (x->end_ms == now_ms && x->run->start_ms == now_ms))
        return x->end_ms;
    return now_ms + OVERDUE_MS;
}

static size_t running_place(const struct engine *e, const struct run *r)
{
    size_t low = 0, high = e->running_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct running_entry *x = &e->running[middle];

        if (x->end_ms < r->expected_ms ||
            (x->end_ms == r->expected_ms && x->run->sequence < r->sequence))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void running_add(struct engine *e, struct run *r)
{
    size_t at = running_place(e, r);

    if (e->running_count == e->running_room) {
        e->running = GROW(e->a, e->running, struct running_entry, e->running_room,
                          2 * e->running_room);
        e->running_room *= 2;
    }
    memmove(e->running + at + 1, e->running + at,
            (e->running_count - at) * sizeof(*e->running));
    e->running[at] = (struct running_entry){r->expected_ms, r};
    e->running_count++;
}

void running_remove(struct engine *e, struct run *r)
{
    size_t at = running_place(e, r);

    e->running_count--;
    memmove(e->running + at, e->running + at + 1,
            (e->running_count - at) * sizeof(*e->running));
}
