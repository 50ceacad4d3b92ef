/* world/ready.c - a heap of who is ready, and counts of who is waited for. */
#include "algorithms/world/ready.h"

#include "models/base/heap.h"

static bool is_before(const struct ready *r, const size_t *a, const size_t *b)
{
    return r->key[*a] < r->key[*b];
}

HEAP_IN(turns, size_t, struct ready, is_before)

bool ready_is_unit(const struct ready *r, size_t job)
{
    return board_is_unit(r->b, job);
}

/* Who waits for whom, units as one. */
static void link_jobs(struct ready *r, struct arena *a)
{
    const struct board *b = r->b;
    const struct world *w = b->w;
    size_t total = 0;

    r->first_next = NEW(a, size_t, w->job_count + 2);
    for (size_t i = 0; i < w->job_count; i++)
        for (size_t k = 0; k < w->jobs[i].after_count; k++, total++) {
            r->first_next[w->jobs[i].after[k].job + 2]++;
            budget_step(w->budget, 1);
        }
    for (size_t i = 2; i < w->job_count + 2; i++)
        r->first_next[i] += r->first_next[i - 1];
    r->next = NEW(a, size_t, total);
    for (size_t i = 0; i < w->job_count; i++)
        for (size_t k = 0; k < w->jobs[i].after_count; k++) {
            size_t from = w->jobs[i].after[k].job;

            r->next[r->first_next[from + 1]++] = i;
            budget_step(w->budget, 1);
            if (b->state[from] == BOARD_OPEN && b->state[i] == BOARD_OPEN &&
                board_unit_of(b, from) != board_unit_of(b, i))
                r->waits[board_unit_of(b, i)]++;
        }
}

struct ready *ready_create(struct board *b, const size_t *order, bool units_first,
                           struct arena *a)
{
    const struct world *w = b->w;
    struct ready *r = NEW(a, struct ready, 1);

    *r = (struct ready){.b = b,
                        .rank = NEW(a, size_t, w->job_count),
                        .key = NEW(a, size_t, w->job_count),
                        .waits = NEW(a, size_t, w->job_count),
                        .heap = NEW(a, size_t, w->job_count)};
    for (size_t i = 0; i < w->job_count; i++)
        r->key[i] = SIZE_MAX;
    for (size_t i = 0; i < w->job_count; i++) {
        size_t first = board_unit_of(b, order[i]);
        size_t key = units_first ? w->job_count + i : i;

        r->rank[order[i]] = i;
        if (units_first && ready_is_unit(r, first))
            key = first;
        if (r->key[first] > key)
            r->key[first] = key;
        budget_step(w->budget, 4);
    }
    link_jobs(r, a);
    for (size_t i = 0; i < w->job_count; i++)
        if (b->state[i] == BOARD_OPEN && r->waits[board_unit_of(b, i)] == 0) {
            size_t first = board_unit_of(b, i);

            r->waits[first] = SIZE_MAX; /* a unit comes in once */
            turns_push(r, r->heap, &r->count, first);
            budget_step(w->budget, 8);
        }
    return r;
}

size_t ready_pop(struct ready *r)
{
    return r->count > 0 ? turns_pop(r, r->heap, &r->count) : WORLD_NONE;
}

void ready_decided(struct ready *r, size_t job)
{
    const struct board *b = r->b;

    for (size_t k = r->first_next[job]; k < r->first_next[job + 1]; k++) {
        size_t next = r->next[k], first = board_unit_of(b, next);

        budget_step(b->w->budget, 4);
        if (first == board_unit_of(b, job) || b->state[next] != BOARD_OPEN ||
            r->waits[first] == SIZE_MAX || --r->waits[first] > 0)
            continue;
        r->waits[first] = SIZE_MAX;
        turns_push(r, r->heap, &r->count, first);
    }
}

void ready_place(struct ready *r, size_t job, const struct board_spot *spot)
{
    size_t wait_on;

    if (spot->done_s < HUGE_VAL) {
        board_take(r->b, job, spot);
    } else {
        enum world_wait wait = board_why(r->b, job, &wait_on);

        board_refuse(r->b, job, wait, wait_on);
    }
    ready_decided(r, job);
}

void ready_place_unit(struct ready *r, size_t first_member)
{
    struct board *b = r->b;
    const struct world_group *g = &b->w->groups[b->w->jobs[first_member].group];

    board_place_unit(b, first_member);
    for (size_t i = 0; i < g->job_count; i++)
        if (b->state[g->jobs[i]] != BOARD_OPEN)
            ready_decided(r, g->jobs[i]);
}
