/* parallel_exact.c - proving the best set of 1,024 machines, and how far the heuristics
 * are off where links are uplinks. */
#include "tests/bench/clusters.h"

enum { CLUSTERS = 12, UPLINK_CLUSTERS = 10, SIZES = 4 };

/* Full matrices of the reference generator, all four capacities. */
static void prove_large(struct arena *a)
{
    static const double capacities[] = {100, 1000, 5000, 10000};
    double seconds[CLUSTERS], slowest_s;
    int proven = 0;

    for (int i = 0; i < CLUSTERS; i++) {
        struct cluster c =
            clusters_reference(1024, capacities[i % 4], 12345 + (uint64_t)i, a);
        double began_s = bench_now_s();
        struct parallel_out out = clusters_run(&c, &clusters_md, "exact", 0, a);

        seconds[i] = bench_now_s() - began_s;
        proven += out.status == DECISION_OPTIMAL;
        arena_reset(a);
    }
    slowest_s = bench_quantile(seconds, CLUSTERS, 1);
    bench_row("Machine set out of 1,024 machines, full bandwidth matrix, `exact`",
              "proven in under 1 s",
              proven == CLUSTERS && slowest_s < 1 ? BENCH_MET : BENCH_MISSED,
              "%d of %d proven; %.2f s (median, slowest %.2f s)", proven, CLUSTERS,
              bench_quantile(seconds, CLUSTERS, 0.5), slowest_s);
}

/* The same where links have structure, seen from the matrix. */
static void prove_uplinks(struct arena *a)
{
    struct cluster c = clusters_uplinks(1024, 1, a);
    struct parallel_out known = clusters_run(&c, &clusters_md, "threshold_exact", 0, a);
    struct parallel_out out;
    double began_s;

    c.machines.uplink_mbps = NULL;
    began_s = bench_now_s();
    out = clusters_run(&c, &clusters_md, "exact", 0, a);
    bench_row("The same with uplinks, given as a matrix", "that of threshold_exact",
              out.score_s == known.score_s && out.status == DECISION_OPTIMAL
                  ? BENCH_MET
                  : BENCH_MISSED,
              "%.1f ms", 1e3 * (bench_now_s() - began_s));
    arena_reset(a);
}

/* Spec parallel-scheduling.md 9.6, item 11: mean and greatest ratio to the optimum. */
static void compare_uplinks(size_t n, const char *name, struct arena *a)
{
    double sum = 0, most = 0;

    for (uint64_t i = 0; i < UPLINK_CLUSTERS; i++) {
        struct cluster c = clusters_uplinks(n, 1000 + i, a);
        double best_s = clusters_run(&c, &clusters_md, "threshold_exact", 0, a).score_s;
        double ratio = clusters_run(&c, &clusters_md, name, 0, a).score_s / best_s;

        sum += ratio;
        most = fmax(most, ratio);
        arena_reset(a);
    }
    printf("| `%s`, %zu machines with uplinks, score over the optimum | | %.3f (most "
           "%.3f) | |\n",
           name, n, sum / UPLINK_CLUSTERS, most);
}

int main(void)
{
    static const char *const names[] = {"box_elimination", "dynamic_programming",
                                        "cpu_prefix", "all_machines"};
    static const size_t sizes[SIZES] = {32, 64, 128, 256};
    struct arena *a = arena_create((size_t)1 << 33);

    prove_large(a);
    prove_uplinks(a);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (size_t k = 0; k < SIZES; k++)
            compare_uplinks(sizes[k], names[i], a);
    arena_close(a);
    return 0;
}
