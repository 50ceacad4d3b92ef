/* performance_model.c - performance models: learning from 60 runs, one more run, and
 * predictions in batch. In process. */
#include "models/base/rng.h"
#include "models/performance/performance.h"
#include "tests/bench/bench.h"

#include <math.h>

enum { ROUNDS = 31, RUNS = 60, QUERIES = 1000000 };

static double draw(uint64_t *state, double low, double high)
{
    return low + (high - low) * ((double)(splitmix64(state) >> 11) * 0x1p-53);
}

/* The runs of spec performance-models.md 19.2: 20, 20, 10, 10 on 1, 2, 4, 8
 * processors, times within 10 % of their truth. */
static void make_runs(struct perf_sample *runs)
{
    static const double processors[] = {1, 2, 4, 8};
    uint64_t state = 1;
    size_t count = 0;

    for (int g = 0; g < 4; g++)
        for (int i = 0; i < (g < 2 ? 20 : 10); i++) {
            struct perf_sample *s = &runs[count++];
            double p = processors[g], n = 500 + (g < 2 ? 50 : 100) * i;

            *s = (struct perf_sample){.problem_size = n, .processors = p};
            s->cpu_available_ratio = draw(&state, 0.065, 0.72);
            s->bandwidth_mbps = draw(&state, 2, 80);
            s->time_s = (2e-4 * n * n / (s->cpu_available_ratio * p) +
                         (p > 1 ? 0.5 * n / (s->bandwidth_mbps * sqrt(p)) : 0)) *
                        draw(&state, 0.9, 1.1);
        }
}

static void measure_training(enum perf_profile profile, const struct perf_sample *runs,
                             struct arena *a)
{
    struct perf_options options = perf_options_of(profile);
    struct perf_report report = {0};
    struct perf_model_set set;
    double seconds[ROUNDS], median_s;
    char what[128];

    for (int i = 0; i < ROUNDS; i++) {
        struct error err = {.arena = a};
        double began_s;

        arena_reset(a);
        began_s = bench_now_s();
        if (perf_train(runs, RUNS, &options, NULL, &set, &report, a, &err) != OK ||
            set.status != PERF_READY)
            bench_stop("no model from %d runs: %s", RUNS, err.text);
        seconds[i] = bench_now_s() - began_s;
    }
    median_s = bench_quantile(seconds, ROUNDS, 0.5);
    snprintf(what, sizeof(what), "Performance model from %d runs, profile %s, in process",
             RUNS, perf_profile_names[profile]);
    bench_row(what, "under 50 ms", median_s < 0.050 ? BENCH_MET : BENCH_MISSED,
              "%.1f ms (median of %d, slowest %.1f ms; %zu fits, %zu combinations kept)",
              1e3 * median_s, ROUNDS, 1e3 * bench_quantile(seconds, ROUNDS, 1),
              report.fits_evaluated, set.sorted.count);
}

static void measure_predictions(const struct perf_model_set *set)
{
    struct perf_query *queries = calloc(QUERIES, sizeof(*queries));
    uint64_t state = 2;
    double seconds[ROUNDS], sum_s = 0, median_s;

    if (!queries)
        bench_stop("no memory for the queries");
    for (size_t i = 0; i < QUERIES; i++)
        queries[i] =
            (struct perf_query){draw(&state, 500, 2900), floor(draw(&state, 1, 17)),
                                draw(&state, 0.05, 1), draw(&state, 1, 100)};
    for (int r = 0; r < ROUNDS; r++) {
        double began_s = bench_now_s();

        for (size_t i = 0; i < QUERIES; i++) {
            struct perf_prediction p;

            perf_predict(set, &queries[i], &p);
            if (p.status != PERF_READY)
                bench_stop("query %zu has no answer: %s", i, perf_status_names[p.status]);
            sum_s += p.time_s;
        }
        seconds[r] = bench_now_s() - began_s;
    }
    median_s = bench_quantile(seconds, ROUNDS, 0.5);
    bench_row("Predictions of run times in batch, in process", "1,000,000/s",
              QUERIES / median_s >= 1e6 ? BENCH_MET : BENCH_MISSED,
              "%.2f million/s (median of %d; mean time %.1f s)",
              1e-6 * QUERIES / median_s, ROUNDS, sum_s / ROUNDS / QUERIES);
    free(queries);
}

static void measure_updates(struct perf_model_set *set, const struct perf_sample *runs)
{
    enum { UPDATES = 1000 };
    size_t combinations = set->sorted.count;
    double began_s = bench_now_s(), seconds;

    for (size_t i = 0; i < UPDATES; i++) {
        struct perf_update update;

        perf_update(set, &runs[20 + i % 40], NAN, NULL, 0, &update);
    }
    seconds = bench_now_s() - began_s;
    bench_row("One more run refines the whole list, in process", "-", BENCH_NO_TARGET,
              "%.1f us (mean of %d; %zu combinations at first, %zu at the end)",
              1e6 * seconds / UPDATES, UPDATES, combinations, set->sorted.count);
}

int main(void)
{
    struct arena *a = arena_create((size_t)1 << 30), *run = arena_create((size_t)1 << 30);
    struct perf_options options = perf_options_of(PERF_ROBUST);
    struct perf_sample runs[RUNS];
    struct perf_model_set set;
    struct perf_report report;
    struct error err = {.arena = a};

    make_runs(runs);
    measure_training(PERF_THESIS, runs, run);
    measure_training(PERF_ROBUST, runs, run);
    if (perf_train(runs, RUNS, &options, NULL, &set, &report, a, &err) != OK)
        bench_stop("no model: %s", err.text);
    measure_predictions(&set);
    measure_updates(&set, runs);
    arena_close(run);
    arena_close(a);
    return 0;
}
