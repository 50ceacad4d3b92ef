/* world_bounds.c - what bounds cost, by effort, on generated worlds. */
#include "tests/bench/bench.h"
#include "tests/bench/world_generator.h"

#include "algorithms/world/list.h"
#include "algorithms/world/objective.h"

static double cpu_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* A plan that places every job that fits anywhere, if only one after the other. */
static struct world_plan place_all(const struct world *w, struct arena *a)
{
    static const size_t somewhere[] = {0};
    struct world_plan plan = {.placed = NEW(a, struct world_placed, w->job_count)};

    for (size_t j = 0; j < w->job_count; j++)
        for (size_t p = 0; p < w->resource_count; p++)
            if (world_mask_has(w->jobs[j].choices[0].mask, p) &&
                world_large_enough(w, &w->jobs[j], p)) {
                plan.placed[j] = (struct world_placed){
                    .positions = somewhere, .position_count = 1, .done_s = 4000};
                plan.placed_count++;
                break;
            }
    return plan;
}

/* So much is running on every node until different times. */
static void hold(struct world *w, size_t each, struct arena *a)
{
    struct world_holder *holders = NEW(a, struct world_holder, each * w->resource_count);
    struct world_resource *resources = NEW(a, struct world_resource, w->resource_count);

    for (size_t p = 0; p < w->resource_count; p++) {
        size_t *on = NEW(a, size_t, each), *position = NEW(a, size_t, 1);

        *position = p;
        resources[p] = w->resources[p];
        resources[p].holders = on;
        resources[p].holder_count = each;
        for (size_t i = 0; i < each; i++) {
            int64_t *amounts = NEW(a, int64_t, w->amount_count);

            on[i] = p * each + i;
            amounts[AMOUNT_CPUS] = resources[p].capacity[AMOUNT_CPUS] / (int64_t)each;
            amounts[AMOUNT_PRESENCE] = 1;
            holders[on[i]] =
                (struct world_holder){.id = "r",
                                      .end_s = (double)(1 + (on[i] * 7919) % 3600),
                                      .amounts = amounts,
                                      .positions = position,
                                      .position_count = 1,
                                      .group = WORLD_NONE};
        }
    }
    w->resources = resources;
    w->holders = holders;
    w->holder_count = each * w->resource_count;
}

static void measure(const char *what, const struct world *w,
                    enum world_objective objective, struct arena *a)
{
    static const char *const efforts[] = {"longest", "single", "all", "ascent"};
    struct world_plan plan = place_all(w, a);
    struct world_goal goal = {{objective}, 1};
    struct world_worth worth = {.value = {HUGE_VAL}};
    double best_s[4], bound[4];

    for (enum bound_work work = BOUNDS_LONGEST; work <= BOUNDS_ASCENT; work++) {
        best_s[work] = HUGE_VAL;
        for (int i = 0; i < 3; i++) {
            struct world_bound out;
            double began_s = cpu_s();

            world_bounds(w, &goal, &plan, &worth, work, &out, a);
            best_s[work] = fmin(best_s[work], cpu_s() - began_s);
            bound[work] = out.value;
        }
    }
    for (enum bound_work work = BOUNDS_LONGEST; work <= BOUNDS_ASCENT; work++) {
        char row[256];

        snprintf(row, sizeof(row), "%s, effort `%s`", what, efforts[work]);
        bench_row(row, "-", BENCH_NO_TARGET, "%.3f s CPU (best of 3), bound %.6g",
                  best_s[work], bound[work]);
    }
}

/* How far a plan of `mct`, longest jobs first, is from its bound, and what that costs. */
static void measure_plan(const struct world *w, struct arena *a)
{
    struct world_goal goal = {{OBJECTIVE_MAKESPAN}, 1};
    size_t *order = NEW(a, size_t, w->job_count);
    struct board *b = board_create(w, NULL, a);
    struct world_plan *plan;
    struct world_worth worth;
    struct world_bound out;
    double began_s = cpu_s(), planned_s;

    world_order_jobs(w, WORLD_LONGEST, order, a);
    world_list(b, WORLD_MCT, order, 1);
    plan = board_plan(b);
    world_worth(w, &goal, plan, &worth, a);
    planned_s = cpu_s();
    world_bounds(w, &goal, plan, &worth, BOUNDS_ASCENT, &out, a);
    bench_row("`mct`, `longest`, 5,000 nodes x 100,000 jobs: its bound, all efforts",
              "proven optimal",
              worth.value[0] - out.value <= 1e-9 * worth.value[0] ? BENCH_MET
                                                                  : BENCH_MISSED,
              "makespan %.6g, bound %.6g; plan %.3f s, bound %.3f s CPU; %zu unplaced",
              worth.value[0], out.value, planned_s - began_s, cpu_s() - planned_s,
              worth.unplaced_count);
}

static void run(void *context)
{
    struct arena *a = context;
    struct world *large = world_generate(5000, 100000, 1.2, 1, false, a);
    struct world *small = world_generate(50, 1000, 0.5, 1, true, a);

    measure_plan(large, a);
    measure("bounds of the makespan, 50 nodes x 1,000 jobs", small, OBJECTIVE_MAKESPAN,
            a);
    measure("bounds of the makespan, 5,000 nodes x 100,000 jobs", large,
            OBJECTIVE_MAKESPAN, a);
    measure("bounds of weighted completion, 5,000 nodes x 100,000 jobs", large,
            OBJECTIVE_WEIGHTED_COMPLETION, a);

    hold(large, 4, a);
    measure("bounds of the makespan, 5,000 full nodes x 100,000 jobs", large,
            OBJECTIVE_MAKESPAN, a);
}

int main(void)
{
    struct arena *a = arena_create((size_t)1 << 33);

    if (!a || !arena_run(a, run, a))
        bench_stop("no memory");
    arena_close(a);
    return 0;
}
