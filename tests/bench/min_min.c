/* min_min.c - Min-min on a matrix of 2,048 jobs x 64 resources, in process. */
#include "tests/bench/grid.h"

enum { JOBS = 2048, RESOURCES = 64, ROUNDS = 15 };

int main(void)
{
    struct arena *a = arena_create((size_t)1 << 32), *run = arena_create((size_t)1 << 32);
    struct grid g = grid_create_matrix(JOBS, RESOURCES, a);
    struct placement_in in = {
        .snapshot = &g.snapshot, .jobs = g.jobs, .job_count = JOBS, .seed = 1};
    const struct policy *policy = policy_find(placement_policies, "min_min");
    double seconds[ROUNDS], median_s;
    double makespan_s = 0;

    if (!policy)
        bench_stop("there is no policy min_min");
    for (int i = 0; i < ROUNDS; i++) {
        struct error err = {.arena = run};
        struct placement_out out = {0};
        double began_s = bench_now_s();

        if (placement_decide(&in, policy, NULL, 0, &out, run, &err) != OK)
            bench_stop("min_min fails: %s %s", err.field, err.text);
        seconds[i] = bench_now_s() - began_s;
        makespan_s = out.objective.makespan_s;
        if (out.placement_count != JOBS)
            bench_stop("min_min placed %zu of %d jobs", out.placement_count, JOBS);
        arena_reset(run);
    }
    median_s = bench_quantile(seconds, ROUNDS, 0.5);
    bench_row("Min-min, matrix of 2,048 x 64, in process (checks, plan, bound)",
              "under 20 ms", median_s < 0.020 ? BENCH_MET : BENCH_MISSED,
              "%.1f ms (median of %d, slowest %.1f ms; makespan %.0f s)", 1e3 * median_s,
              ROUNDS, 1e3 * bench_quantile(seconds, ROUNDS, 1), makespan_s);
    arena_close(run);
    arena_close(a);
    return 0;
}
