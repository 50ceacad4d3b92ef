/* world/order.c - in which order jobs have their turn. */
#include "algorithms/world/list.h"
#include "algorithms/world/queue.h"

#include <stdlib.h>

struct ranked {
    double tier, key, queued_at_s; /* largest, least, least first */
    size_t job;
};

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int c = compare(y->tier, x->tier);

    if (c == 0)
        c = compare(x->key, y->key);
    if (c == 0)
        c = compare(x->queued_at_s, y->queued_at_s);
    return c ? c : (x->job > y->job) - (x->job < y->job);
}

/* What all orders ask about the resources. */
struct sizes {
    int64_t largest[AMOUNTS_MAX]; /* capacity; not limited by any: AMOUNT_UNLIMITED */
    bool speed_falls;             /* by position */
};

static struct sizes sizes_of(const struct world *w)
{
    struct sizes s = {.speed_falls = true};

    for (size_t i = 0; i < w->resource_count; i++) {
        const struct world_resource *r = &w->resources[i];

        for (size_t k = 0; k < w->node_amount_count; k++)
            if (r->capacity[k] < AMOUNT_UNLIMITED && r->capacity[k] > s.largest[k])
                s.largest[k] = r->capacity[k];
        s.speed_falls =
            s.speed_falls && (i == 0 || r->speed <= w->resources[i - 1].speed);
        budget_step(w->budget, w->node_amount_count);
    }
    for (size_t k = w->node_amount_count; k < w->amount_count; k++)
        s.largest[k] = w->shared_capacity[k];
    return s;
}

/* The largest share of the largest capacity that the job takes of any amount. */
static double share_of(const struct world *w, const struct sizes *s, size_t job)
{
    double most = 0;

    for (size_t k = 0; k < w->amount_count; k++)
        if (s->largest[k] > 0 && w->jobs[job].needs[k] > 0)
            most = fmax(most, (double)w->jobs[job].needs[k] / (double)s->largest[k]);
    return most;
}

/* The least run time; 0: it can run nowhere. Where speeds fall the first resource that
 * can take a job without times of its own is the fastest. */
static double least_run_s(const struct world *w, const struct sizes *s, size_t job)
{
    const struct world_job *j = &w->jobs[job];
    double least_s = HUGE_VAL;

    for (size_t c = 0; c < j->choice_count; c++)
        for (size_t i = 0; i < w->resource_count; i++) {
            double run_s;

            budget_step(w->budget, 1);
            if (!world_mask_has(j->choices[c].mask, i) || !world_large_enough(w, j, i))
                continue;
            run_s = world_run_s(w, j, i);
            least_s = fmin(least_s, run_s);
            if (!j->etc_s && s->speed_falls && run_s < HUGE_VAL)
                break;
        }
    return least_s < HUGE_VAL ? least_s : 0;
}

static double key_of(const struct world *w, const struct sizes *s, enum world_order order,
                     size_t job)
{
    const struct world_job *j = &w->jobs[job];
    double run_s, share;

    if (order == WORLD_FIFO)
        return 0;
    if (order == WORLD_PRIORITY)
        return -j->priority;
    if (order == WORLD_DEADLINE)
        return j->deadline_s;
    run_s = least_run_s(w, s, job);
    if (order == WORLD_LONGEST)
        return -run_s;
    share = share_of(w, s, job) * (double)j->nodes;
    if (order == WORLD_VOLUME)
        return -run_s * share;
    if (order == WORLD_BALANCED)
        return -sqrt(run_s) * share;
    return j->weight > 0 ? run_s * share / j->weight : HUGE_VAL;
}

void world_order_jobs(const struct world *w, enum world_order order, size_t *jobs,
                      struct arena *a)
{
    struct sizes s = sizes_of(w);
    struct ranked *ranked = NEW(a, struct ranked, w->job_count);

    for (size_t i = 0; i < w->job_count; i++) {
        const struct world_job *j = &w->jobs[i];

        ranked[i] = (struct ranked){j->tier, key_of(w, &s, order, i),
                                    order == WORLD_PRIORITY ? j->queued_at_s : 0, i};
        budget_step(w->budget, 16);
    }
    qsort(ranked, w->job_count, sizeof(*ranked), by_rank);
    for (size_t i = 0; i < w->job_count; i++)
        jobs[i] = ranked[i].job;
}

/* Shortest: those that can run nowhere are no matter. */
static double queue_key(const struct world *w, const struct sizes *s,
                        enum queue_order order, size_t job)
{
    if (order == QUEUE_SHORTEST)
        return least_run_s(w, s, job);
    if (order == QUEUE_LARGEST)
        return -share_of(w, s, job) * (double)w->jobs[job].nodes;
    return 0;
}

void world_queue_order(const struct world *w, enum queue_order order, size_t *jobs,
                       struct arena *a)
{
    struct sizes s = sizes_of(w);
    struct ranked *ranked = NEW(a, struct ranked, w->job_count);

    for (size_t i = 0; i < w->job_count; i++) {
        const struct world_job *j = &w->jobs[i];

        ranked[i] =
            (struct ranked){j->tier, queue_key(w, &s, order, i), j->queued_at_s, i};
        budget_step(w->budget, 16);
    }
    qsort(ranked, w->job_count, sizeof(*ranked), by_rank);
    for (size_t i = 0; i < w->job_count; i++)
        jobs[i] = ranked[i].job;
}
