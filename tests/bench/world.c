/* world.c - plans of amounts over time, in process: mct on 5,000 resources x 100,000
 * jobs, and how it grows; what the search makes of the best list plan.
 *
 * Worlds are those of world_generator.h. */
#include "tests/bench/bench.h"
#include "tests/bench/world_generator.h"

#include "algorithms/world/list.h"
#include "algorithms/world/search.h"

#include <math.h>
#include <string.h>

enum { NODES = 5000, JOBS = 100000 };

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

    for (int i = 0; i < 3; i++) {
        made_s =
            search(world_generate(50, 1000, 0.5, seeds[i], true, a), 4, &list_s, &steps);
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
    made_s = search(world_generate(200, 4000, 0.5, 2, true, a), 8, &list_s, &steps);
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
    double growth;

    for (int i = 0; i < 3; i++) {
        size_t jobs = (size_t)JOBS >> (2 - i);

        r[i] = list(world_generate(NODES, jobs, 1.2, 1, false, a), WORLD_FIFO);
        arena_reset(a);
    }
    row("mct with amounts, 5,000 resources x 100,000 jobs, CPU on one core",
        "at most 2.5 s, 64 MiB", r[2].cpu_s <= 2.5 && r[2].used_mib <= 64, &r[2]);
    growth = log(r[2].cpu_s / r[0].cpu_s) / log(4);
    bench_row("the same, growth from 25,000 jobs", "at most n^1.6",
              growth <= 1.6 ? BENCH_MET : BENCH_MISSED, "n^%.2f (%.2f, %.2f, %.2f s)",
              growth, r[0].cpu_s, r[1].cpu_s, r[2].cpu_s);
    one = list(world_generate(NODES, JOBS, 1.2, 1, false, a), WORLD_LONGEST);
    row("the same, mct by falling run time", "at most 2.5 s, 64 MiB",
        one.cpu_s <= 2.5 && one.used_mib <= 64, &one);
    arena_reset(a);
    one = list(world_generate_equal(NODES, JOBS, a), WORLD_FIFO);
    row("mct, 5,000 equal resources x 100,000 equal jobs", "at most 0.3 s",
        one.cpu_s <= 0.3, &one);
    arena_reset(a);
    search_rows(a);
    arena_close(a);
    return 0;
}
