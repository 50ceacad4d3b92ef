/* world_generator.h - worlds W(m, n, sigma, seed) for benchmarks: unlike nodes with cpus,
 * memory, GPUs, speeds and eight classes; jobs with amounts and a filter of classes.
 * Positions are by falling speed, as the service has them. world_generate_equal(): as
 * many nodes and jobs of one kind.
 *
 * xorshift64 (13, 7, 17), its seed mixed with the caller's, nine values dropped. All of
 * it is here, because every program of this folder is built from one file.
 *
 * Source: world-model.md 10.
 */
#ifndef GRIDPLAN_WORLD_GENERATOR_H
#define GRIDPLAN_WORLD_GENERATOR_H

#include "algorithms/world/world.h"

#include <stdlib.h>

enum { WORLD_CLASSES = 8, WORLD_MASKS = 256, WORLD_AMOUNTS = AMOUNT_NAMED + 1 };

struct world_draw {
    uint64_t state;
};

static inline uint64_t world_next(struct world_draw *d)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return d->state;
}

static inline uint64_t world_whole(struct world_draw *d, uint64_t from, uint64_t to)
{
    return from + world_next(d) % (to - from + 1);
}

static inline double world_real(struct world_draw *d)
{
    return (double)(world_next(d) >> 11) * 0x1p-53;
}

static inline void world_draw_node(struct world_draw *d, struct world_resource *r,
                                   size_t index, size_t *class_of, struct arena *a)
{
    static const double gib = 1024.0 * 1024 * 1024;
    int64_t *capacity = NEW(a, int64_t, WORLD_AMOUNTS);
    double cpus = (double)(16 << world_whole(d, 0, 3));
    double memory = cpus * (double)(2 << world_whole(d, 0, 2)) * gib;
    double gpus = world_real(d) < 0.7 ? 0 : (double)(4 << world_whole(d, 0, 1));

    *r = (struct world_resource){.id = "n", .index = index, .capacity = capacity};
    r->speed = 0.5 + 1.5 * world_real(d);
    class_of[index] = world_whole(d, 0, WORLD_CLASSES - 1);
    capacity[AMOUNT_CPUS] = amount_units(cpus, AMOUNT_UNITS_PER_ONE);
    capacity[AMOUNT_MEMORY] = amount_units(memory, 1);
    capacity[AMOUNT_DISK] = capacity[AMOUNT_JOBS] = AMOUNT_UNLIMITED;
    capacity[AMOUNT_PRESENCE] = AMOUNT_PRESENCE_ALL;
    capacity[AMOUNT_NAMED] = amount_units(gpus, AMOUNT_UNITS_PER_ONE);
}

/* Returns the mask of classes that it may use. */
static inline uint64_t world_draw_job(struct world_draw *d, struct world_job *j,
                                      double sigma, bool fold, struct arena *a)
{
    static const double gib = 1024.0 * 1024 * 1024, turn = 6.283185307179586;
    int64_t *needs = NEW(a, int64_t, WORLD_AMOUNTS);
    double cpus = world_real(d) < 0.3 ? (double)world_whole(d, 1, 32)
                                      : (double)(1 << world_whole(d, 0, 5));
    double memory, gpus, first;

    if (fold && cpus > 16 && world_real(d) < 0.5)
        cpus = 16;
    memory = cpus * (1 + 7 * world_real(d)) * gib;
    gpus = world_real(d) < 0.15 ? (double)(1 << world_whole(d, 0, 2)) : 0;
    first = fmax(world_real(d), 0x1p-54);
    *j = (struct world_job){.id = "j",
                            .needs = needs,
                            .nodes = 1,
                            .estimate_s = NAN,
                            .time_limit_s = HUGE_VAL,
                            .deadline_s = HUGE_VAL,
                            .weight = 1,
                            .group = WORLD_NONE};
    j->estimate_ref_s =
        600 * exp(sigma * sqrt(-2 * log(first)) * cos(turn * world_real(d)));
    needs[AMOUNT_CPUS] = amount_units(cpus, AMOUNT_UNITS_PER_ONE);
    needs[AMOUNT_MEMORY] = amount_units(memory, 1);
    needs[AMOUNT_JOBS] = needs[AMOUNT_PRESENCE] = 1;
    needs[AMOUNT_NAMED] = amount_units(gpus, AMOUNT_UNITS_PER_ONE);
    return world_whole(d, 1, WORLD_MASKS - 1);
}

/* One choice for each mask of classes. */
static inline struct world_choice *
world_draw_choices(const struct world_resource *resources, const size_t *class_of,
                   size_t count, struct arena *a)
{
    struct world_choice *choices = NEW(a, struct world_choice, WORLD_MASKS);

    for (size_t m = 0; m < WORLD_MASKS; m++) {
        uint64_t *mask = NEW(a, uint64_t, count / 64 + 1);

        for (size_t p = 0; p < count; p++)
            if (m >> class_of[resources[p].index] & 1) {
                mask[p / 64] |= (uint64_t)1 << p % 64;
                choices[m].count++;
            }
        choices[m].mask = mask;
    }
    return choices;
}

static inline int world_by_speed(const void *a, const void *b)
{
    const struct world_resource *x = (const struct world_resource *)a;
    const struct world_resource *y = (const struct world_resource *)b;

    if (x->speed != y->speed)
        return x->speed > y->speed ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static inline struct world *world_of(struct world_resource *resources, size_t nodes,
                                     struct world_job *list, size_t jobs, struct arena *a)
{
    static const char *const names[] = {"cpus",  "memory_bytes", "disk_bytes",
                                        "n_max", "exclusive",    "gpus"};
    struct world *w = NEW(a, struct world, 1);

    for (size_t k = 0; k < WORLD_AMOUNTS; k++) {
        bool whole = k != AMOUNT_CPUS && k < AMOUNT_NAMED;

        w->amounts[k] =
            (struct world_amount){names[k], whole ? 1.0 : AMOUNT_UNITS_PER_ONE};
    }
    w->node_amount_count = w->amount_count = WORLD_AMOUNTS;
    w->shared_capacity = NEW(a, int64_t, WORLD_AMOUNTS);
    w->resources = resources;
    w->resource_count = nodes;
    w->site_count = 1;
    w->without_files = true;
    w->jobs = list;
    w->job_count = jobs;
    return w;
}

/* fold: half of the jobs with more than 16 cpus have 16. */
static inline struct world *world_generate(size_t nodes, size_t jobs, double sigma,
                                           uint64_t seed, bool fold, struct arena *a)
{
    struct world_draw d = {88172645463325252U ^ 7919 * seed};
    struct world_resource *resources = NEW(a, struct world_resource, nodes);
    struct world_job *list = NEW(a, struct world_job, jobs);
    size_t *class_of = NEW(a, size_t, nodes);
    const struct world_choice *choices;

    for (int i = 0; i < 9; i++)
        world_next(&d);
    for (size_t i = 0; i < nodes; i++)
        world_draw_node(&d, &resources[i], i, class_of, a);
    qsort(resources, nodes, sizeof(*resources), world_by_speed);
    choices = world_draw_choices(resources, class_of, nodes, a);
    for (size_t j = 0; j < jobs; j++) {
        uint64_t mask = world_draw_job(&d, &list[j], sigma, fold, a);

        list[j].choices = &choices[mask];
        list[j].choice_count = 1;
    }
    return world_of(resources, nodes, list, jobs, a);
}

/* Nodes of 32 cpus and 64 GiB; jobs of 4 cpus, 8 GiB and 600 s that may use all. */
static inline struct world *world_generate_equal(size_t nodes, size_t jobs,
                                                 struct arena *a)
{
    static const int64_t gib = INT64_C(1) << 30;
    struct world *w = world_generate(nodes, jobs, 1, 1, false, a);
    struct world_resource *resources = (struct world_resource *)w->resources;
    struct world_job *list = (struct world_job *)w->jobs;
    struct world_choice *all = NEW(a, struct world_choice, 1);
    uint64_t *mask = NEW(a, uint64_t, nodes / 64 + 1);

    for (size_t i = 0; i < nodes; i++) {
        int64_t *capacity = (int64_t *)resources[i].capacity;

        mask[i / 64] |= (uint64_t)1 << i % 64;
        resources[i].index = i;
        resources[i].speed = 1;
        capacity[AMOUNT_CPUS] = 32 * AMOUNT_UNITS_PER_ONE;
        capacity[AMOUNT_MEMORY] = 64 * gib;
        capacity[AMOUNT_NAMED] = 0;
    }
    *all = (struct world_choice){NULL, mask, nodes};
    for (size_t j = 0; j < jobs; j++) {
        int64_t *needs = (int64_t *)list[j].needs;

        list[j].estimate_ref_s = 600;
        list[j].choices = all;
        needs[AMOUNT_CPUS] = 4 * AMOUNT_UNITS_PER_ONE;
        needs[AMOUNT_MEMORY] = 8 * gib;
        needs[AMOUNT_NAMED] = 0;
    }
    return w;
}

#endif
