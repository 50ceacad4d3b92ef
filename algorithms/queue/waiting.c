/* queue/waiting.c - the waiting jobs, to be found by rank, width and estimate. */
#include "algorithms/queue/waiting.h"

#include <math.h>
#include <stdlib.h>

/* ---- the tree ---- */

void min_tree_create(struct min_tree *t, size_t count, struct arena *a)
{
    t->leaf_count = 1;
    while (t->leaf_count < count)
        t->leaf_count *= 2;
    t->least = NEW(a, double, 2 * t->leaf_count);
    for (size_t i = 0; i < 2 * t->leaf_count; i++)
        t->least[i] = HUGE_VAL;
}

void min_tree_set(struct min_tree *t, size_t position, double value)
{
    size_t i = position + t->leaf_count;

    t->least[i] = value;
    for (i /= 2; i; i /= 2) {
        double left = t->least[2 * i], right = t->least[2 * i + 1];
        double least = left < right ? left : right;

        if (t->least[i] == least)
            return; /* so is it above */
        t->least[i] = least;
    }
}

size_t min_tree_first(const struct min_tree *t, size_t from, double limit)
{
    size_t i = from + t->leaf_count;

    if (from >= t->leaf_count)
        return SIZE_MAX;
    while (!(t->least[i] <= limit)) {
        while (i & 1) /* a right child, or the root */
            i /= 2;
        if (i == 0)
            return SIZE_MAX;
        i++;
    }
    while (i < t->leaf_count)
        i = t->least[2 * i] <= limit ? 2 * i : 2 * i + 1;
    return i - t->leaf_count;
}

double min_tree_least(const struct min_tree *t)
{
    return t->least[1];
}

/* ---- orders ---- */

struct key {
    double value[2];
    size_t job;
};

static int compare_keys(const void *left, const void *right)
{
    const struct key *l = left, *r = right;

    for (size_t i = 0; i < 2; i++)
        if (l->value[i] != r->value[i])
            return l->value[i] < r->value[i] ? -1 : 1;
    return l->job < r->job ? -1 : l->job > r->job;
}

static double key_of(const struct queue_job *job, enum queue_order order)
{
    return order == QUEUE_SHORTEST  ? job->estimate_s
           : order == QUEUE_LARGEST ? -(double)job->processors
                                    : 0;
}

/* Jobs in an order, and the rank of each. */
static bool rank_jobs(const struct queue_job *jobs, size_t count, enum queue_order order,
                      size_t **rank, size_t **job_of_rank, struct arena *a)
{
    struct key *keys = NEW(a, struct key, count);

    *rank = NEW(a, size_t, count);
    *job_of_rank = NEW(a, size_t, count);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct key){{key_of(&jobs[i], order), 0}, i};
    if (order != QUEUE_ARRIVAL)
        qsort(keys, count, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < count; i++) {
        (*rank)[keys[i].job] = i;
        (*job_of_rank)[i] = keys[i].job;
    }
    return true;
}

static void make_classes(struct waiting *w, size_t count, struct arena *a)
{
    struct key *keys = NEW(a, struct key, count);

    w->width_position = NEW(a, size_t, count);
    w->job_of_width_position = NEW(a, size_t, count);
    w->class_of = NEW(a, size_t, count);
    w->classes = NEW(a, struct width_class, count);
    min_tree_create(&w->by_width, count, a);
    for (size_t i = 0; i < count; i++)
        keys[i] =
            (struct key){{(double)w->jobs[i].processors, (double)w->backfill_rank[i]}, i};
    qsort(keys, count, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < count; i++) {
        uint64_t processors = w->jobs[keys[i].job].processors;

        if (!w->class_count || w->classes[w->class_count - 1].processors != processors)
            w->classes[w->class_count++] =
                (struct width_class){.processors = processors, .begin = i};
        w->classes[w->class_count - 1].end = i + 1;
        w->width_position[keys[i].job] = i;
        w->job_of_width_position[i] = keys[i].job;
        w->class_of[keys[i].job] = w->class_count - 1;
    }
}

void waiting_create(struct waiting *w, const struct policy *policy,
                    const struct queue_job *jobs, size_t count, struct arena *a)
{
    size_t *unused;

    *w = (struct waiting){.jobs = jobs};
    rank_jobs(jobs, count, queue_discipline_of(policy)->order, &w->rank, &w->job_of_rank,
              a);
    min_tree_create(&w->by_rank, count, a);
    w->has_backfill = queue_discipline_of(policy)->rule == QUEUE_FIT ||
                      queue_discipline_of(policy)->rule == QUEUE_EASY;
    if (!w->has_backfill)
        return;
    rank_jobs(jobs, count, queue_discipline_of(policy)->backfill_order, &w->backfill_rank,
              &unused, a);
    make_classes(w, count, a);
}

/* ---- who waits ---- */

void waiting_add(struct waiting *w, size_t job, double value)
{
    min_tree_set(&w->by_rank, w->rank[job], value);
    w->count++;
    if (!w->has_backfill)
        return;
    min_tree_set(&w->by_width, w->width_position[job], w->jobs[job].estimate_s);
    w->classes[w->class_of[job]].waiting_count++;
}

void waiting_remove(struct waiting *w, size_t job)
{
    min_tree_set(&w->by_rank, w->rank[job], HUGE_VAL);
    w->count--;
    if (!w->has_backfill)
        return;
    min_tree_set(&w->by_width, w->width_position[job], HUGE_VAL);
    w->classes[w->class_of[job]].waiting_count--;
}

size_t waiting_first(const struct waiting *w)
{
    size_t rank = min_tree_first(&w->by_rank, 0, QUEUE_TIME_MAX_S * 4);

    return rank == SIZE_MAX ? SIZE_MAX : w->job_of_rank[rank];
}
