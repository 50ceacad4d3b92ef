/* world/queue_promises.c - starts that a conservative queue has told before.
 *
 * A job is laid in on the resources that it was told, and where these are not given, or
 * are gone, on those on which it completes first of all that are free at its promise. So
 * as long as all jobs that were told a start come back with their resources, and nothing
 * else was taken meanwhile, all of them fit.
 */
#include "algorithms/world/queue_parts.h"

#include <stdlib.h>
#include <string.h>

/* A job that was promised a start. */
struct promised {
    double start_s; /* not before now */
    size_t rank;    /* in the queue */
    size_t job;
};

struct keeping {
    struct board *b;
    const struct world *w;
    const struct world_queue_promises *promises;
    struct promised *list; /* in the order of promises */
    size_t count;
    struct arena *a;
};

static int by_promise(const void *left, const void *right)
{
    const struct promised *a = left, *b = right;

    if (a->start_s != b->start_s)
        return a->start_s < b->start_s ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static bool is_open(const struct keeping *k, size_t job)
{
    return k->b->state[job] == BOARD_OPEN;
}

static void list_promised(struct keeping *k, const size_t *queue)
{
    k->list = NEW(k->a, struct promised, k->w->job_count);
    for (size_t i = 0; i < k->w->job_count; i++) {
        double start_s = k->promises->of[queue[i]].start_s;

        if (isnan(start_s) || !is_open(k, queue[i]) || board_is_unit(k->b, queue[i]))
            continue;
        k->list[k->count++] = (struct promised){fmax(start_s, 0), i, queue[i]};
    }
    qsort(k->list, k->count, sizeof(*k->list), by_promise);
}

/* On the resources that it was told; done_s HUGE_VAL: they are not free then. */
static struct board_spot fit_there(struct keeping *k, size_t job, double at_s)
{
    const struct world_queue_promise *told = &k->promises->of[job];
    const struct world_job *j = &k->w->jobs[job];
    const struct board_reach there = {told->positions, told->position_count, at_s, at_s};
    struct board_spot best = board_nowhere();

    if (told->position_count != j->nodes || !board_shared_is_enough(k->b, job))
        return best;
    if (j->nodes > 1)
        return board_fit_nodes(k->b, job, &there);
    for (size_t c = 0; c < j->choice_count; c++) {
        struct board_spot spot = board_nowhere();

        if (board_may_go(k->b, job, c, told->positions[0]))
            spot = board_fit(k->b, job, c, told->positions[0], at_s, at_s);
        if (spot.done_s < best.done_s)
            best = spot;
    }
    return best;
}

static struct board_spot fit_promise(struct keeping *k, size_t job, double at_s)
{
    struct board_spot spot = board_nowhere();

    if (board_release_s(k->b, job) > at_s)
        return spot;
    spot = fit_there(k, job, at_s);
    return spot.positions ? spot : queue_fit_at(k->b, job, at_s);
}

static bool is_over(const struct keeping *k)
{
    return budget_step(k->w->budget, k->w->resource_count + 16);
}

/* Each that fits at its promise, as soon as those that it waits for have places. */
static void lay_in(struct keeping *k)
{
    bool *deferred = NEW(k->a, bool, k->count);
    size_t placed;

    do {
        placed = 0;
        for (size_t i = 0; i < k->count; i++) {
            size_t job = k->list[i].job;
            struct board_spot spot;

            if (deferred[i] || !is_open(k, job) || !board_is_due(k->b, job))
                continue;
            if (is_over(k))
                return;
            spot = fit_promise(k, job, k->list[i].start_s);
            deferred[i] = !spot.positions;
            if (spot.positions)
                board_take(k->b, job, &spot);
            placed += spot.positions != NULL;
        }
    } while (placed);
}

/* Those whose promises cannot be kept. */
static void lay_in_broken(struct keeping *k)
{
    size_t placed;

    do {
        placed = 0;
        for (size_t i = 0; i < k->count; i++) {
            size_t job = k->list[i].job;
            struct board_spot spot;

            if (!is_open(k, job) || !board_is_due(k->b, job))
                continue;
            if (is_over(k))
                return;
            spot = board_best(k->b, job);
            if (!spot.positions)
                continue; /* the list policy says why */
            board_take(k->b, job, &spot);
            placed++;
        }
    } while (placed);
}

/* Each moves up to where it starts and completes no later, one of them earlier. */
static void compress(struct keeping *k, const size_t *queue)
{
    size_t *own = NEW(k->a, size_t, k->w->resource_count);

    for (size_t i = 0; i < k->w->job_count; i++) {
        size_t job = queue[i];
        struct board_spot old, spot;

        if (k->b->state[job] != BOARD_PLACED || k->b->plan.placed[job].start_s <= 0)
            continue;
        if (is_over(k))
            return;
        old = board_spot_of(&k->b->plan.placed[job]);
        memcpy(own, old.positions, old.position_count * sizeof(*own));
        old.positions = own;
        board_give(k->b, job);
        spot = board_best(k->b, job);
        if (spot.positions && spot.start_s <= old.start_s && spot.done_s <= old.done_s)
            old = spot;
        board_take(k->b, job, &old);
    }
}

void queue_keep_promises(struct board *b, const size_t *queue,
                         const struct world_queue_promises *promises, struct arena *a)
{
    struct keeping k = {.b = b, .w = board_world(b), .promises = promises, .a = a};

    list_promised(&k, queue);
    lay_in(&k);
    lay_in_broken(&k);
    if (!promises->keeps_gaps)
        compress(&k, queue);
}
