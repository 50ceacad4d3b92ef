/* world.c - plans of amounts over time, in process: mct on 5,000 resources x 100,000
 * jobs, and how it grows; what the search makes of the best list plan.
 *
 * Worlds are those of generator W of the specification of the world model, section 10. */
#include "tests/bench/bench.h"

#include "algorithms/world/list.h"
#include "algorithms/world/search.h"

#include <math.h>
#include <string.h>

enum { NODES = 5000, JOBS = 100000, CLASSES = 8, MASKS = 256 };

struct generator {
    uint64_t state;
};

static uint64_t next(struct generator *g)
{
    g->state ^= g->state << 13;
    g->state ^= g->state >> 7;
    g->state ^= g->state << 17;
    return g->state;
}

static int64_t whole(struct generator *g, int64_t low, int64_t high)
{
    return low + (int64_t)(next(g) % (uint64_t)(high - low + 1));
}

static double real(struct generator *g)
{
    return (double)(next(g) >> 11) * 0x1p-53;
}

#define GIB 1073741824.0

struct made {
    struct world w;
    struct world_resource *resources;
    struct world_job *jobs;
    struct world_choice choices[MASKS];
};

static int by_speed(const void *a, const void *b)
{
    const struct world_resource *x = a, *y = b;

    if (x->speed != y->speed)
        return x->speed > y->speed ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void make_nodes(struct made *m, size_t count, bool equal, struct generator *g,
                       struct arena *a)
{
    size_t words = count / 64 + 1;

    m->resources = NEW(a, struct world_resource, count);
    for (size_t i = 0; i < count; i++) {
        int64_t *capacity = NEW(a, int64_t, AMOUNT_NAMED + 1),
                cpus = 16 << whole(g, 0, 3);
        double memory = (double)(cpus * (2 << whole(g, 0, 2))) * GIB;
        int64_t gpus = real(g) < 0.7 ? 0 : 4 << whole(g, 0, 1);
        double speed = 0.5 + 1.5 * real(g);

        capacity[AMOUNT_CPUS] = (equal ? 32 : cpus) * AMOUNT_UNITS_PER_ONE;
        capacity[AMOUNT_MEMORY] = equal ? (int64_t)(64 * GIB) : (int64_t)memory;
        capacity[AMOUNT_DISK] = capacity[AMOUNT_JOBS] = AMOUNT_UNLIMITED;
        capacity[AMOUNT_PRESENCE] = AMOUNT_PRESENCE_ALL;
        capacity[AMOUNT_NAMED] = equal ? 0 : gpus * AMOUNT_UNITS_PER_ONE;
        m->resources[i] = (struct world_resource){.id = "n",
                                                  .index = i,
                                                  .speed = equal ? 1 : speed,
                                                  .site = (size_t)whole(g, 0, 7),
                                                  .capacity = capacity};
    }
    qsort(m->resources, count, sizeof(*m->resources), by_speed);
    for (size_t k = 1; k < MASKS; k++) {
        uint64_t *mask = NEW(a, uint64_t, words);

        for (size_t i = 0; i < count; i++)
            if (equal || k >> m->resources[i].site & 1) {
                mask[i / 64] |= (uint64_t)1 << i % 64;
                m->choices[k].count++;
            }
        m->choices[k].mask = mask;
    }
    for (size_t i = 0; i < count; i++)
        m->resources[i].site = 0;
}

static void make_jobs(struct made *m, size_t count, double sigma, bool halves, bool equal,
                      struct generator *g, struct arena *a)
{
    m->jobs = NEW(a, struct world_job, count);
    for (size_t i = 0; i < count; i++) {
        int64_t *needs = NEW(a, int64_t, AMOUNT_NAMED + 1);
        int64_t cpus = real(g) < 0.3 ? whole(g, 1, 32) : 1 << whole(g, 0, 5);
        double memory, gpus, work;

        if (halves && cpus > 16 && real(g) < 0.5)
            cpus = 16;
        memory = (double)cpus * (1 + 7 * real(g)) * GIB;
        gpus = real(g) < 0.15 ? (double)(1 << whole(g, 0, 2)) : 0;
        work = sqrt(-2 * log(fmax(real(g), 0x1p-54)));
        work = 600 * exp(sigma * work * cos(2 * M_PI * real(g)));
        needs[AMOUNT_CPUS] = (equal ? 4 : cpus) * AMOUNT_UNITS_PER_ONE;
        needs[AMOUNT_MEMORY] = equal ? (int64_t)(8 * GIB) : (int64_t)memory;
        needs[AMOUNT_JOBS] = needs[AMOUNT_PRESENCE] = 1;
        needs[AMOUNT_NAMED] = equal ? 0 : (int64_t)gpus * AMOUNT_UNITS_PER_ONE;
        m->jobs[i] =
            (struct world_job){.id = "j",
                               .needs = needs,
                               .nodes = 1,
                               .estimate_ref_s = equal ? 600 : work,
                               .estimate_s = NAN,
                               .time_limit_s = HUGE_VAL,
                               .deadline_s = HUGE_VAL,
                               .weight = 1,
                               .group = WORLD_NONE,
                               .choices = &m->choices[equal ? 1 : whole(g, 1, 255)],
                               .choice_count = 1};
    }
}

static const struct world *make(struct made *m, size_t nodes, size_t jobs, double sigma,
                                uint64_t seed, bool halves, bool equal, struct arena *a)
{
    static const int64_t nothing_shared[AMOUNT_NAMED + 1];
    static const char *const names[] = {"cpus",  "memory_bytes", "disk_bytes",
                                        "n_max", "exclusive",    "gpus"};
    struct generator g = {88172645463325252u ^ 7919 * seed};

    *m = (struct made){0};
    for (int i = 0; i < 9; i++)
        next(&g);
    make_nodes(m, nodes, equal, &g, a);
    make_jobs(m, jobs, sigma, halves, equal, &g, a);
    m->w.node_amount_count = m->w.amount_count = AMOUNT_NAMED + 1;
    for (size_t k = 0; k <= AMOUNT_NAMED; k++)
        m->w.amounts[k] = (struct world_amount){
            names[k], k == AMOUNT_CPUS || k == AMOUNT_NAMED ? AMOUNT_UNITS_PER_ONE : 1};
    m->w.shared_capacity = nothing_shared;
    m->w.resources = m->resources;
    m->w.resource_count = nodes;
    m->w.site_count = 1;
    m->w.jobs = m->jobs;
    m->w.job_count = jobs;
    return &m->w;
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct result {
    double cpu_s, makespan_s, used_mib;
    size_t placed_count;
};

static struct result list(const struct world *w, enum world_order order)
{
    struct arena *a = arena_create((size_t)1 << 32);
    size_t *jobs = NEW(a, size_t, w->job_count);
    struct result r = {.cpu_s = cpu_s()};
    const struct world_plan *plan;
    struct board *b;

    world_order_jobs(w, order, jobs, a);
    b = board_create(w, NULL, a);
    world_list(b, WORLD_MCT, jobs, 1);
    plan = board_plan(b);
    r.cpu_s = cpu_s() - r.cpu_s;
    r.placed_count = plan->placed_count;
    for (size_t i = 0; i < w->job_count; i++)
        if (plan->placed[i].positions)
            r.makespan_s = fmax(r.makespan_s, plan->placed[i].done_s);
    r.used_mib = (double)arena_used_bytes(a) / 1048576;
    arena_close(a);
    return r;
}

static void row(const char *name, const char *target, bool met, const struct result *r)
{
    bench_row(name, target, met ? BENCH_MET : BENCH_MISSED,
              "%.2f s, %.0f MiB (makespan %.1f s, %zu placed)", r->cpu_s, r->used_mib,
              r->makespan_s, r->placed_count);
}

/* A clock of CPU time. */
struct clock {
    double began_s, limit_s;
};

static double used_share(void *context)
{
    const struct clock *c = context;

    return (cpu_s() - c->began_s) / c->limit_s;
}

/* What is left of the best list plan's makespan after limit_s of searching. */
static double search(struct world *w, double limit_s, double *list_s, size_t *steps)
{
    static const enum world_order orders[] = {WORLD_FIFO, WORLD_LONGEST, WORLD_VOLUME,
                                              WORLD_BALANCED};
    static const struct world_goal goal = {{OBJECTIVE_MAKESPAN}, 1};
    struct arena *a = arena_create((size_t)1 << 32);
    struct clock clock = {cpu_s(), limit_s};
    struct budget budget = {.used = used_share, .context = &clock};
    struct world_search s = {.goal = &goal, .enough = NAN};
    struct board *b = board_create(w, NULL, a);
    size_t *jobs = NEW(a, size_t, w->job_count), best = 0;
    struct world_worth worth;

    *list_s = HUGE_VAL;
    for (size_t i = 0; i <= 4; i++) { /* the best once more */
        world_order_jobs(w, orders[i < 4 ? i : best], jobs, a);
        board_reset(b);
        world_list(b, WORLD_MCT, jobs, 1);
        world_worth(w, &goal, board_plan(b), &worth, a);
        if (worth.value[0] < *list_s) {
            *list_s = worth.value[0];
            best = i;
        }
    }
    clock.began_s = cpu_s();
    w->budget = &budget;
    world_search(b, &s);
    w->budget = NULL;
    world_worth(w, &goal, board_plan(b), &worth, a);
    *steps = s.steps;
    arena_close(a);
    return worth.value[0];
}

static void search_rows(struct arena *a)
{
    static const uint64_t seeds[] = {1, 4, 5};
    double sum = 0, list_s, made_s;
    size_t steps;
    struct made m;

    for (int i = 0; i < 3; i++) {
        make(&m, 50, 1000, 0.5, seeds[i], true, false, a);
        made_s = search(&m.w, 4, &list_s, &steps);
        bench_row("search, 50 resources x 1,000 jobs with amounts, 4 s of CPU",
                  "at most 0.88 of the best list plan",
                  made_s / list_s <= 0.88 ? BENCH_MET : BENCH_MISSED,
                  "%.3f (%.0f to %.0f s, %zu steps)", made_s / list_s, list_s, made_s,
                  steps);
        sum += made_s / list_s;
        arena_reset(a);
    }
    bench_row("the same, mean of the three", "at most 0.80",
              sum / 3 <= 0.80 ? BENCH_MET : BENCH_MISSED, "%.3f", sum / 3);
    make(&m, 200, 4000, 0.5, 2, true, false, a);
    made_s = search(&m.w, 8, &list_s, &steps);
    bench_row("search, 200 resources x 4,000 jobs with amounts, 8 s of CPU",
              "at most 0.94 of the best list plan",
              made_s / list_s <= 0.94 ? BENCH_MET : BENCH_MISSED,
              "%.3f (%.0f to %.0f s, %zu steps)", made_s / list_s, list_s, made_s, steps);
    arena_reset(a);
}

int main(void)
{
    struct arena *a = arena_create((size_t)1 << 32);
    struct result r[3], one;
    struct made m;
    double growth;

    for (int i = 0; i < 3; i++) {
        size_t jobs = (size_t)JOBS >> (2 - i);

        r[i] = list(make(&m, NODES, jobs, 1.2, 1, false, false, a), WORLD_FIFO);
        arena_reset(a);
    }
    row("mct with amounts, 5,000 resources x 100,000 jobs, CPU on one core",
        "at most 2.5 s, 64 MiB", r[2].cpu_s <= 2.5 && r[2].used_mib <= 64, &r[2]);
    growth = log(r[2].cpu_s / r[0].cpu_s) / log(4);
    bench_row("the same, growth from 25,000 jobs", "at most n^1.6",
              growth <= 1.6 ? BENCH_MET : BENCH_MISSED, "n^%.2f (%.2f, %.2f, %.2f s)",
              growth, r[0].cpu_s, r[1].cpu_s, r[2].cpu_s);
    one = list(make(&m, NODES, JOBS, 1.2, 1, false, false, a), WORLD_LONGEST);
    row("the same, mct by falling run time", "at most 2.5 s, 64 MiB",
        one.cpu_s <= 2.5 && one.used_mib <= 64, &one);
    arena_reset(a);
    one = list(make(&m, NODES, JOBS, 1.2, 1, false, true, a), WORLD_FIFO);
    row("mct, 5,000 equal resources x 100,000 equal jobs", "at most 0.3 s",
        one.cpu_s <= 0.3, &one);
    arena_reset(a);
    search_rows(a);
    arena_close(a);
    return 0;
}
