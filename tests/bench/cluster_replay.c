/* cluster_replay.c - how fast a cluster with failures is played: whole nodes and shared
 * ones, events a second by the number of hosts, memory.
 *
 * Times are of the processor, of one core. Jobs of 1 to 128 nodes come at a
 * load of 0.85; a host fails every 5e7 s (Weibull, shape 0.7), images are taken each
 * hour.
 */
#include "algorithms/cluster_replay/replay.h"
#include "models/base/rng.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { SHAPES = 64, JOBS = 1000000 };

struct measured {
    double cpu_s, events_per_s, peak_mb;
    uint64_t done_count, kills;
};

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Nodes of a job: 1 to 128, powers of two alike, fewer on a small cluster. */
static uint32_t draw_nodes(struct rng *r, size_t hosts)
{
    uint32_t nodes = (uint32_t)1 << rng_index(r, 8);

    while (nodes > hosts / 2)
        nodes /= 2;
    return nodes ? nodes : 1;
}

static void make_jobs(struct replay_job *jobs, size_t count, size_t hosts, bool shared,
                      int64_t (*needs)[2])
{
    struct rng r = rng_stream(1, "bench.cluster_replay");
    double at_s = 0, work = 0, *gaps = calloc(count, sizeof(*gaps));

    for (size_t i = 0; i < SHAPES; i++) {
        needs[i][0] = 1 + (int64_t)(i % 16);
        needs[i][1] = ((int64_t)1 + (int64_t)(i / 4)) << 30;
    }
    for (size_t j = 0; j < count; j++) {
        double run_s = 60 - 7200 * log(1 - rng_uniform(&r));
        const int64_t *need = needs[rng_index(&r, SHAPES)];

        jobs[j] = (struct replay_job){
            .run_ms = (int64_t)(1000 * run_s),
            .limit_ms = (int64_t)(1000 * run_s * (1.1 + 2 * rng_uniform(&r))) + 600000,
            .estimate_ms = -1,
            .cancel_ms = REPLAY_NEVER,
            .need = need,
            .nodes = draw_nodes(&r, hosts),
            .exclusive = !shared,
            .checkpoint_ms = 60000,
            .restart_ms = 60000,
        };
        work += run_s * jobs[j].nodes * (shared ? (double)need[0] / 64 : 1);
        gaps[j] = -log(1 - rng_uniform(&r));
    }
    for (size_t j = 0; j < count; j++) {
        jobs[j].submit_ms = (int64_t)(1000 * at_s);
        at_s += gaps[j] * work / (double)count / (0.85 * (double)hosts);
    }
    free(gaps);
}

/* Plays. */
static struct measured run(size_t hosts, size_t count, bool shared)
{
    static int64_t needs[SHAPES][2];
    int64_t amounts[] = {64, (int64_t)256 << 30};
    const struct policy *periodic = policy_find(checkpoint_policies, "periodic");
    double param[CHECKPOINT_PARAM_COUNT];
    struct arena *a = arena_create((size_t)4 << 30),
                 *scratch = arena_create((size_t)4 << 30);
    struct error err = {.arena = a};
    struct distribution failure = distribution_blank(DISTRIBUTION_WEIBULL);
    struct distribution restore = distribution_exponential(7200);
    struct replay_job *jobs = calloc(count, sizeof(*jobs));
    struct replay_nodes nodes = {hosts,    amounts,     1,  1,  &failure,
                                 &restore, REPLAY_NONE, -1, "n"};
    struct replay_in in = {.groups = &nodes,
                           .group_count = 1,
                           .amount_count = 2,
                           .jobs = jobs,
                           .job_count = count,
                           .rules = replay_rules_default(),
                           .seed = 1,
                           .stop_ms = REPLAY_NEVER};
    struct replay_out out;
    struct rusage usage;
    struct measured result;
    double began_s, used_s;

    failure.shape = 0.7;
    failure.mean = 5e7;
    if (distribution_prepare(&failure, "", a, &err) != OK)
        bench_stop("it could not be played: %s", err.text);
    for (size_t i = 0; i < CHECKPOINT_PARAM_COUNT; i++)
        param[i] = periodic->params[i].preset;
    param[CHECKPOINT_INITIAL_INTERVAL] = 3600;
    in.rules.checkpoint = periodic;
    in.rules.checkpoint_param = param;
    make_jobs(jobs, count, hosts, shared, needs);
    began_s = cpu_s();
    if (replay_play(&in, NULL, &out, a, scratch, &err) != OK)
        bench_stop("it could not be played: %s", err.text);
    used_s = cpu_s() - began_s;
    getrusage(RUSAGE_SELF, &usage);
    if (out.totals.done_count != count)
        bench_stop("only %llu of %zu jobs are done",
                   (unsigned long long)out.totals.done_count, count);
    result = (struct measured){used_s, (double)out.totals.events / used_s,
                               (double)usage.ru_maxrss / 1024, out.totals.done_count,
                               out.totals.failure_kills};
    arena_close(scratch);
    arena_close(a);
    free(jobs);
    return result;
}

int main(void)
{
    struct measured large = run(10000, JOBS, false), small = run(128, JOBS, false);
    struct measured shared;
    double ratio = large.events_per_s / small.events_per_s;
    bool met = large.cpu_s <= 5 && large.peak_mb <= 600;

    bench_row(
        "10,000 hosts that fail, 1,000,000 jobs on 1 to 128 whole nodes, load 0.85, "
        "EASY, hourly checkpoints",
        "at most 5 s of a core, 600 MB", met ? BENCH_MET : BENCH_MISSED,
        "%.2f s, %.0f MB (%.0f events/s; %llu times a job was killed with a node)",
        large.cpu_s, large.peak_mb, large.events_per_s, (unsigned long long)large.kills);
    bench_row("the same: events/s, of those on 128 hosts", "at least 0.5",
              ratio >= 0.5 ? BENCH_MET : BENCH_MISSED, "%.2f (%.0f events/s there)",
              ratio, small.events_per_s);
    shared = run(10000, JOBS, true);
    bench_row("the same on shared nodes of 64 cpus, with memory",
              "at most 20 s of a core", shared.cpu_s <= 20 ? BENCH_MET : BENCH_MISSED,
              "%.2f s (%.0f events/s)", shared.cpu_s, shared.events_per_s);
    return 0;
}
