/* world/board_create.c - an empty plan: which amounts matter, and what is free of them.
 */
#include "algorithms/world/buckets.h"

#include <stdlib.h>
#include <string.h>

/* Rows that some job needs, of each 1. */
static void find_needed(const struct world *w, bool *needed)
{
    for (size_t i = 0; i < w->job_count; i++) {
        const int64_t *needs = w->jobs[i].needs;

        for (size_t k = 0; k < w->amount_count; k++)
            needed[k] = needed[k] || needs[k] > (k == AMOUNT_PRESENCE ? 1 : 0);
        budget_step(w->budget, w->amount_count / 4 + 1);
    }
}

/* Every resource has presence for a billion jobs: only who takes more of it than 1 makes
 * it worth a look. */
static bool presence_is_short(const struct world *w)
{
    for (size_t i = 0; i < w->holder_count; i++)
        if (w->holders[i].all ||
            (w->holders[i].amounts && w->holders[i].amounts[AMOUNT_PRESENCE] > 1))
            return true;
    return false;
}

static void choose_rows(struct board *b)
{
    const struct world *w = b->w;
    bool needed[AMOUNTS_MAX] = {0}, limited[AMOUNTS_MAX] = {0};

    find_needed(w, needed);
    needed[AMOUNT_PRESENCE] = needed[AMOUNT_PRESENCE] || presence_is_short(w);
    for (size_t i = 0; i < w->resource_count; i++) {
        for (size_t k = 0; k < w->node_amount_count; k++)
            limited[k] = limited[k] || w->resources[i].capacity[k] < AMOUNT_UNLIMITED;
        budget_step(w->budget, w->node_amount_count / 4 + 1);
    }
    for (size_t k = 0; k < w->node_amount_count; k++)
        if (needed[k] && limited[k])
            b->rows[b->row_count++] = k;
}

static int by_start(const void *a, const void *b)
{
    const struct world_holder *const *x = a, *const *y = b;

    return ((*x)->start_s > (*y)->start_s) - ((*x)->start_s < (*y)->start_s);
}

/* Whole reservations of a resource, those that meet joined. */
static void close_times(struct board *b, size_t position)
{
    const struct world *w = b->w;
    const struct world_resource *r = &w->resources[position];
    const struct world_holder **all =
        NEW(b->a, const struct world_holder *, r->holder_count);
    struct board_closed *c = &b->closed[position];
    size_t count = 0;

    for (size_t i = 0; i < r->holder_count; i++) {
        const struct world_holder *h = &w->holders[r->holders[i]];

        if (h->all && fmax(h->start_s, 0) < h->end_s)
            all[count++] = h;
    }
    budget_step(w->budget, r->holder_count + 8 * count);
    qsort(all, count, sizeof(const struct world_holder *), by_start);
    c->starts_s = NEW(b->a, double, count);
    c->ends_s = NEW(b->a, double, count);
    for (size_t i = 0; i < count; i++)
        if (c->count > 0 && all[i]->start_s <= c->ends_s[c->count - 1]) {
            c->ends_s[c->count - 1] = fmax(c->ends_s[c->count - 1], all[i]->end_s);
        } else {
            c->starts_s[c->count] = fmax(all[i]->start_s, 0);
            c->ends_s[c->count++] = all[i]->end_s;
        }
}

static void make_closed(struct board *b)
{
    const struct world *w = b->w;
    bool some = false;

    for (size_t i = 0; i < w->holder_count; i++)
        some = some || w->holders[i].all;
    if (!some)
        return;
    b->closed = NEW(b->a, struct board_closed, w->resource_count);
    for (size_t i = 0; i < w->resource_count; i++)
        if (w->resources[i].holder_count > 0)
            close_times(b, i);
}

static void make_profiles(struct board *b)
{
    const struct world *w = b->w;
    size_t shared = w->amount_count - w->node_amount_count;

    b->now = NEW(b->a, struct profile, w->resource_count);
    b->empty = NEW(b->a, struct profile, w->resource_count);
    b->touched = NEW(b->a, size_t, w->resource_count);
    b->is_touched = NEW(b->a, bool, w->resource_count);
    b->identity = NEW(b->a, size_t, w->resource_count);
    for (size_t i = 0; i < w->resource_count; i++) {
        b->identity[i] = i;
        profile_of_rows(w, i, b->rows, b->row_count, &b->empty[i], b->a);
        profile_copy(&b->now[i], &b->empty[i], b->a);
    }
    b->shared = NEW(b->a, struct board_pool, shared);
    for (size_t k = 0; k < shared; k++) {
        profile_of_shared(w, w->node_amount_count + k, &b->shared[k].empty, b->a);
        b->shared[k].capacity = w->shared_capacity[w->node_amount_count + k];
        profile_copy(&b->shared[k].now, &b->shared[k].empty, b->a);
    }
    if (w->limit_count)
        b->limits = NEW(b->a, struct board_pool, w->limit_count);
    for (size_t k = 0; k < w->limit_count; k++) {
        profile_of_limit(w, &w->limits[k], &b->limits[k].empty, b->a);
        b->limits[k].capacity = w->limits[k].capacity;
        profile_copy(&b->limits[k].now, &b->limits[k].empty, b->a);
    }
}

static void open_jobs(struct board *b)
{
    const struct world *w = b->w;

    for (size_t i = 0; i < w->job_count; i++) {
        b->plan.placed[i] = (struct world_placed){.wait_on = WORLD_NONE};
        b->state[i] = BOARD_OPEN;
        if (w->jobs[i].barred != WORLD_WAIT_NONE)
            board_refuse(b, i, w->jobs[i].barred, WORLD_NONE);
    }
    b->plan.placed_count = 0;
    b->plan.cut = false;
    b->stamp = 0;
}

struct board *board_create(const struct world *w, const struct board_files *files,
                           struct arena *a)
{
    struct board *b = NEW(a, struct board, 1);
    bool several = false;

    b->w = w;
    b->files = files;
    b->a = a;
    b->need_job = WORLD_NONE;
    choose_rows(b);
    make_profiles(b);
    make_closed(b);
    b->plan.placed = NEW(a, struct world_placed, w->job_count);
    b->plan.sequence = NEW(a, size_t, w->job_count);
    b->state = NEW(a, unsigned char, w->job_count);
    b->stamps = NEW(a, size_t, w->job_count);
    for (size_t i = 0; i < w->job_count; i++)
        several = several || w->jobs[i].nodes > 1;
    if (several)
        b->positions = NEW(a, size_t *, w->job_count);
    open_jobs(b);
    if (w->group_count > 0)
        board_groups_create(b);
    buckets_create(b);
    return b;
}

void board_reset(struct board *b)
{
    const struct world *w = b->w;

    for (size_t i = 0; i < w->job_count && b->files && b->files->placed; i++)
        if (b->state[i] == BOARD_PLACED)
            b->files->placed(b->files->context, i, b->plan.placed[i].positions[0],
                             b->plan.placed[i].start_s, false);
    for (size_t i = 0; i < b->touched_count; i++) {
        size_t position = b->touched[i];

        profile_copy(&b->now[position], &b->empty[position], b->a);
        b->is_touched[position] = false;
        budget_step(w->budget, b->empty[position].count);
    }
    b->touched_count = 0;
    buckets_forget(b);
    for (size_t k = 0; k < w->amount_count - w->node_amount_count; k++)
        profile_copy(&b->shared[k].now, &b->shared[k].empty, b->a);
    for (size_t k = 0; b->limits && k < w->limit_count; k++) {
        profile_copy(&b->limits[k].now, &b->limits[k].empty, b->a);
        budget_step(w->budget, b->limits[k].empty.count);
    }
    open_jobs(b);
    if (b->groups)
        board_groups_reset(b);
}

void board_load(struct board *b, const struct world_plan *plan)
{
    board_reset(b);
    for (size_t k = 0; k < plan->placed_count; k++) {
        struct board_spot spot = board_spot_of(&plan->placed[plan->sequence[k]]);

        board_take(b, plan->sequence[k], &spot);
    }
    for (size_t i = 0; i < b->w->job_count; i++)
        if (b->state[i] == BOARD_OPEN && plan->placed[i].wait != WORLD_WAIT_NONE)
            board_refuse(b, i, plan->placed[i].wait, plan->placed[i].wait_on);
}

static int by_stamp(const void *a, const void *b)
{
    const size_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Stamps rise with each job that is placed; those of jobs that lost their places leave
 * gaps. */
struct world_plan *board_plan(struct board *b)
{
    const struct world *w = b->w;
    struct arena_mark mark = arena_mark(b->a);
    size_t *list = NEW(b->a, size_t, 2 * b->plan.placed_count), count = 0;

    for (size_t i = 0; i < w->job_count; i++) {
        if (b->state[i] == BOARD_PLACED) {
            list[2 * count] = b->stamps[i];
            list[2 * count++ + 1] = i;
        } else if (b->state[i] == BOARD_OPEN) {
            b->plan.placed[i].wait =
                b->plan.cut ? WORLD_WAIT_OUT_OF_TIME : WORLD_WAIT_NONE;
        }
    }
    budget_step(w->budget, w->job_count + 16 * count);
    qsort(list, count, 2 * sizeof(*list), by_stamp);
    for (size_t i = 0; i < count; i++)
        b->plan.sequence[i] = list[2 * i + 1];
    arena_rewind(b->a, mark);
    return &b->plan;
}
