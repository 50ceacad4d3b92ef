/* world/list_due.c - deadlines where they cost nothing.
 *
 * A chain: jobs of one node on one resource, each of which starts at the end of the one
 * before, with equal needs, without release, predecessors, successors, files, outputs and
 * group. From each job by start, then order, it goes on with the first such job that is
 * in no chain yet. Its jobs are laid one behind the other from its start, by deadline;
 * unless rounding, or what is held behind a finish, would make its end another.
 *
 * Source: world-model.md 4.3, last paragraph.
 */
#include "algorithms/world/list_parts.h"

#include <stdlib.h>
#include <string.h>

/* A placed job where it stands. */
struct stand {
    size_t job, position, stamp;
    struct board_spot spot;
    double deadline_s;
    bool in_chain;
};

struct due {
    struct board *b;
    struct stand *list; /* by position, start, stamp */
    size_t count;
    size_t *chain; /* of list */
    struct stand *laid;
};

#define END_TOLERANCE 1e-9

static int by_place(const void *a, const void *b)
{
    const struct stand *x = a, *y = b;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (x->spot.start_s != y->spot.start_s)
        return x->spot.start_s < y->spot.start_s ? -1 : 1;
    return (x->stamp > y->stamp) - (x->stamp < y->stamp);
}

/* In a chain `stamp` is the place in it. */
static int by_deadline(const void *a, const void *b)
{
    const struct stand *x = a, *y = b;

    if (x->deadline_s != y->deadline_s)
        return x->deadline_s < y->deadline_s ? -1 : 1;
    return (x->stamp > y->stamp) - (x->stamp < y->stamp);
}

static bool may_move(const struct board *b, size_t job, const bool *is_waited_for)
{
    const struct world_job *j = &b->w->jobs[job];
    const struct world_placed *p = &b->plan.placed[job];
    const struct board_files *f = b->files;

    return b->state[job] == BOARD_PLACED && j->nodes == 1 && j->release_s <= 0 &&
           j->earliest_s <= 0 && j->after_count == 0 && !is_waited_for[job] &&
           j->group == WORLD_NONE && !world_is_limited(j) && j->stage_out_s <= 0 &&
           p->stage_in_s <= 0 && p->start_s < p->end_s &&
           (!f || (f->has_files && !f->has_files(f->context, job)));
}

static void list_stands(struct due *d, const bool *is_waited_for)
{
    const struct board *b = d->b;

    for (size_t i = 0; i < b->w->job_count; i++) {
        const struct world_placed *p = &b->plan.placed[i];

        budget_step(b->w->budget, 8);
        if (!may_move(b, i, is_waited_for))
            continue;
        d->list[d->count++] = (struct stand){.job = i,
                                             .position = p->positions[0],
                                             .stamp = b->stamps[i],
                                             .deadline_s = b->w->jobs[i].deadline_s,
                                             .spot = {.positions = p->positions,
                                                      .position_count = 1,
                                                      .choice = p->choice,
                                                      .start_s = p->start_s,
                                                      .run_s = p->run_s,
                                                      .end_s = p->end_s,
                                                      .done_s = p->done_s}};
    }
    qsort(d->list, d->count, sizeof(*d->list), by_place);
}

static bool are_alike(const struct world *w, size_t a, size_t b)
{
    return memcmp(w->jobs[a].needs, w->jobs[b].needs,
                  w->amount_count * sizeof(*w->jobs[a].needs)) == 0;
}

/* The first in no chain that starts where `before` ends and is like it; d->count: none.
 */
static size_t next_of(const struct due *d, size_t before)
{
    const struct stand *s = &d->list[before];
    size_t low = before + 1, high = d->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct stand *m = &d->list[middle];

        if (m->position > s->position ||
            (m->position == s->position && m->spot.start_s >= s->spot.end_s))
            high = middle;
        else
            low = middle + 1;
    }
    for (; low < d->count; low++) {
        const struct stand *m = &d->list[low];

        if (m->position != s->position || m->spot.start_s > s->spot.end_s)
            break;
        if (!m->in_chain && are_alike(d->b->w, s->job, m->job))
            return low;
        budget_step(d->b->w->budget, 4);
    }
    return d->count;
}

/* Takes the jobs from start_s on, one behind the other; false: one does not fit, and none
 * is taken. */
static bool take_all(struct board *b, struct stand *chain, size_t count, double start_s)
{
    double at_s = start_s;

    for (size_t i = 0; i < count; i++) {
        struct stand *s = &chain[i];
        struct board_spot spot =
            board_fit_there(b, s->job, s->spot.choice, s->position, at_s, at_s);

        if (spot.done_s == HUGE_VAL) {
            while (i-- > 0)
                board_give(b, chain[i].job);
            return false;
        }
        board_take(b, s->job, &spot);
        at_s = spot.end_s;
    }
    return true;
}

/* Where the chain ends, and when the last of its jobs is done, by its order. */
static void ends_of(const struct world *w, const struct stand *chain, size_t count,
                    double start_s, double *end_s, double *done_s)
{
    *end_s = start_s;
    *done_s = 0;
    for (size_t i = 0; i < count; i++) {
        double run_s = chain[i].spot.run_s;

        *done_s = fmax(*done_s, *end_s + run_s);
        *end_s += world_held_s(w, &w->jobs[chain[i].job], run_s);
    }
}

static void order_chain(struct due *d, size_t count)
{
    struct board *b = d->b;
    double start_s = d->list[d->chain[0]].spot.start_s, end_s, done_s, was_done_s = 0;
    double was_end_s = d->list[d->chain[count - 1]].spot.end_s;
    bool is_sorted = true;

    for (size_t i = 0; i < count; i++) {
        d->laid[i] = d->list[d->chain[i]];
        d->laid[i].stamp = i;
        was_done_s = fmax(was_done_s, d->laid[i].spot.done_s);
        is_sorted =
            is_sorted && (i == 0 || d->laid[i - 1].deadline_s <= d->laid[i].deadline_s);
    }
    budget_step(b->w->budget, 16 * count);
    if (is_sorted)
        return;
    qsort(d->laid, count, sizeof(*d->laid), by_deadline);
    ends_of(b->w, d->laid, count, start_s, &end_s, &done_s);
    if (fabs(end_s - was_end_s) > END_TOLERANCE * was_end_s ||
        done_s > was_done_s * (1 + END_TOLERANCE))
        return;
    for (size_t i = 0; i < count; i++)
        board_give(b, d->laid[i].job);
    if (!take_all(b, d->laid, count, start_s)) {
        for (size_t i = 0; i < count; i++) {
            const struct stand *s = &d->list[d->chain[i]];

            board_take(b, s->job, &s->spot);
            b->stamps[s->job] = s->stamp;
        }
        return;
    }
    for (size_t i = 0; i < count; i++)
        b->stamps[d->laid[i].job] = d->list[d->chain[i]].stamp;
}

void world_order_due(struct board *b)
{
    const struct world *w = b->w;
    struct arena *scratch = arena_create_beside(b->a, arena_cap_bytes(b->a));
    struct due d = {.b = b};
    bool *is_waited_for = NEW(scratch, bool, w->job_count), some = false;

    for (size_t i = 0; i < w->job_count; i++) {
        some = some || w->jobs[i].deadline_s < HUGE_VAL;
        for (size_t k = 0; k < w->jobs[i].after_count; k++)
            is_waited_for[w->jobs[i].after[k].job] = true;
        budget_step(w->budget, w->jobs[i].after_count + 1);
    }
    if (some) {
        d.list = NEW(scratch, struct stand, w->job_count);
        d.laid = NEW(scratch, struct stand, w->job_count);
        d.chain = NEW(scratch, size_t, w->job_count);
        list_stands(&d, is_waited_for);
    }
    for (size_t i = 0; i < d.count && !board_tick(b); i++) {
        size_t count = 0;

        for (size_t at = i; at < d.count && !d.list[at].in_chain; at = next_of(&d, at)) {
            d.list[at].in_chain = true;
            d.chain[count++] = at;
        }
        if (count > 1)
            order_chain(&d, count);
    }
    arena_close(scratch);
}
