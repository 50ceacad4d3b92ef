/* scaling.c - cost at three sizes of what should be near-linear in its input.
 *
 * Placements: in jobs x resources; as both grow together by 4, linear is the exponent
 * 2. Checkpoint intervals: in jobs, with a quarter above 1 for caches that get full. */
#include "algorithms/checkpoint/checkpoint.h"
#include "tests/bench/grid.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { SIZES = 3, ROUNDS = 5 };

static const size_t sizes[SIZES] = {2500, 10000, 40000};

static const double PAIRS_EXPONENT = 2, JOBS_EXPONENT = 1.25;

static void report(const char *what, double most, const double *seconds)
{
    double exponent = log(seconds[SIZES - 1] / seconds[0]) /
                      log((double)sizes[SIZES - 1] / (double)sizes[0]);

    bench_row(what,
              most < 2 ? "exponent under 1.25 (ours)"
                       : "exponent under 2: linear in jobs x resources",
              exponent < most ? BENCH_MET : BENCH_MISSED,
              "%.2f (%.1f ms, %.1f ms, %.1f ms for 2,500, 10,000, 40,000)", exponent,
              1e3 * seconds[0], 1e3 * seconds[1], 1e3 * seconds[2]);
}

static double placement_s(const struct policy *policy, const struct grid *g,
                          struct arena *run)
{
    struct placement_in in = {
        .snapshot = &g->snapshot, .jobs = g->jobs, .job_count = g->job_count, .seed = 1};
    double seconds[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        struct error err = {.arena = run};
        struct placement_out out = {0};
        double began_s = bench_now_s();

        if (placement_decide(&in, policy, NULL, 0, &out, run, &err) != OK)
            bench_stop("%s fails: %s %s", policy->name, err.field, err.text);
        seconds[i] = bench_now_s() - began_s;
        arena_reset(run);
    }
    return bench_quantile(seconds, ROUNDS, 0.5);
}

static void measure_placements(void)
{
    static const char *const names[] = {"auto", "mct", "met", "min_min", "olb"};
    struct arena *a = arena_create((size_t)1 << 32), *run = arena_create((size_t)1 << 34);
    struct grid g[SIZES];

    for (size_t s = 0; s < SIZES; s++)
        g[s] = grid_create(sizes[s], sizes[s], 256, a);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct policy *policy = policy_find(placement_policies, names[i]);
        double seconds[SIZES];
        char what[128];

        if (!policy)
            bench_stop("there is no policy %s", names[i]);
        for (size_t s = 0; s < SIZES; s++)
            seconds[s] = placement_s(policy, &g[s], run);
        snprintf(what, sizeof(what), "`%s`, n jobs on n resources, in process", names[i]);
        report(what, PAIRS_EXPONENT, seconds);
    }
    arena_close(run);
    arena_close(a);
}

/* The whole way over HTTP: reading, checking, deciding and printing n jobs. */
static void measure_checkpoints(void)
{
    struct bench_process service = bench_start_service(false, NULL);
    int fd = bench_connect(service.port);
    double seconds[SIZES];

    for (size_t s = 0; s < SIZES; s++) {
        struct bench_text body = {0};
        double round_s[ROUNDS];

        bench_add(&body, "{\"algorithm\":\"exact\",\"jobs\":[");
        for (size_t i = 0; i < sizes[s]; i++)
            bench_add(&body,
                      "%s{\"id\":\"job-%zu\",\"checkpoint_overhead_s\":%zu,"
                      "\"mean_failure_interval_s\":%zu}",
                      i ? "," : "", i, 1 + i % 100, 3600 + i % 100000);
        bench_add(&body, "]}");
        for (int i = 0; i < ROUNDS; i++)
            round_s[i] =
                bench_post(fd, "/v1/checkpoint-intervals", body.data, body.length)
                    .seconds;
        seconds[s] = bench_quantile(round_s, ROUNDS, 0.5);
    }
    close(fd);
    bench_end(&service);
    report("`exact` checkpoint intervals of n jobs, over HTTP", JOBS_EXPONENT, seconds);
}

int main(void)
{
    measure_placements();
    measure_checkpoints();
    return 0;
}
