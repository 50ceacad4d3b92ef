/* simgrid_cluster.c - the machine of kind cluster and SimGrid on the same jobs.
 *
 *     bench_simgrid_cluster PEER
 *
 * PEER is the program of simgrid_cluster_peer.cpp. Jobs of 1 to 128 whole nodes come at a
 * load of 0.85 to 128, 1,000 and 10,000 nodes that are alike, and start first come, first
 * served. Of both the processor's time counts, without reading the jobs and without
 * writing the finishes; these must be the same to the millisecond. SimGrid has no queue
 * policies: the peer brings the queue, and plays a job as one activity on the first of
 * its nodes, which is the least that it can be asked for. On failing nodes, with
 * checkpoints, there is nothing to compare with.
 */
#include "algorithms/cluster_replay/replay.h"
#include "models/base/rng.h"
#include "tests/bench/bench.h"

#include <math.h>

enum { JOBS = 100000, ROUNDS = 3, WIDTHS = 8 };

struct site {
    size_t hosts;
    struct replay_job *jobs;
};

/* Of the processor. */
static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void make_jobs(struct site *s)
{
    static const int64_t need[] = {1};
    struct rng r = rng_stream(1, "bench.simgrid_cluster");
    double at_s = 0, work_s = 0, *gaps = calloc(JOBS, sizeof(*gaps));

    s->jobs = calloc(JOBS, sizeof(*s->jobs));
    if (!gaps || !s->jobs)
        bench_stop("no memory");
    for (size_t j = 0; j < JOBS; j++) {
        double run_s = 60 - 7200 * log1p(-rng_uniform(&r));
        uint32_t nodes = (uint32_t)1 << rng_index(&r, WIDTHS);

        while (nodes > s->hosts / 2)
            nodes /= 2;
        s->jobs[j] = (struct replay_job){.run_ms = (int64_t)(1000 * run_s),
                                         .limit_ms = REPLAY_NEVER,
                                         .estimate_ms = -1,
                                         .cancel_ms = REPLAY_NEVER,
                                         .need = need,
                                         .nodes = nodes,
                                         .exclusive = true};
        work_s += run_s * nodes;
        gaps[j] = -log1p(-rng_uniform(&r));
    }
    for (size_t j = 0; j < JOBS; j++) {
        s->jobs[j].submit_ms = (int64_t)(1000 * at_s);
        at_s += gaps[j] * work_s / JOBS / (0.85 * (double)s->hosts);
    }
    free(gaps);
}

static void jobs_write(const struct site *s, const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        bench_stop("cannot write %s", path);
    fprintf(file, "hosts %zu jobs %d\n", s->hosts, JOBS);
    for (size_t j = 0; j < JOBS; j++)
        fprintf(file, "%.3f %u %.3f\n", 1e-3 * (double)s->jobs[j].submit_ms,
                s->jobs[j].nodes, 1e-3 * (double)s->jobs[j].run_ms);
    if (fclose(file) != 0)
        bench_stop("cannot write %s", path);
}

/* Seconds that SimGrid took; its finishes are in the file `out`. */
static double peer_seconds(const char *peer, const char *in, const char *out)
{
    char command[4096];
    double seconds = 0;
    FILE *pipe;

    snprintf(command, sizeof(command), "'%s' '%s' '%s'", peer, in, out);
    pipe = popen(command, "r");
    if (!pipe || fscanf(pipe, "%lf", &seconds) != 1 || pclose(pipe) != 0)
        bench_stop("SimGrid's side failed: %s", command);
    return seconds;
}

static double run_seconds(const struct site *s, struct replay_out *out, struct arena *a,
                          struct arena *scratch)
{
    static const int64_t amounts[] = {1};
    struct replay_nodes nodes = {s->hosts, amounts,     1,  1,  NULL,
                                 NULL,     REPLAY_NONE, -1, "n"};
    struct replay_in in = {.groups = &nodes,
                           .group_count = 1,
                           .amount_count = 1,
                           .jobs = s->jobs,
                           .job_count = JOBS,
                           .rules = replay_rules_default(),
                           .seed = 1,
                           .stop_ms = REPLAY_NEVER};
    struct error err = {.arena = a};
    double began_s;

    in.rules.policy = policy_find(queue_policies, "fcfs");
    arena_reset(a);
    arena_reset(scratch);
    began_s = cpu_s();
    if (replay_play(&in, NULL, out, a, scratch, &err) != OK)
        bench_stop("%s %s", err.field, err.text);
    return cpu_s() - began_s;
}

static double largest_difference_s(const struct replay_out *out, const char *path)
{
    double worst_s = 0, finish_s;
    FILE *file = fopen(path, "r");

    if (!file)
        bench_stop("cannot read %s", path);
    for (size_t j = 0; j < JOBS; j++) {
        if (fscanf(file, "%lf", &finish_s) != 1)
            bench_stop("SimGrid gave %zu of %d finishes", j, JOBS);
        worst_s = fmax(worst_s, fabs(1e-3 * (double)out->outcomes[j].end_ms - finish_s));
    }
    fclose(file);
    return worst_s;
}

static void compare(const char *peer, size_t hosts, struct arena *a,
                    struct arena *scratch)
{
    const char *in = "simgrid_cluster_jobs.txt", *finishes = "simgrid_cluster_out.txt";
    struct site s = {.hosts = hosts};
    struct replay_out out = {0};
    double ours_s[ROUNDS], theirs_s[ROUNDS], ours, theirs, off_s;
    char what[160];

    make_jobs(&s);
    jobs_write(&s, in);
    for (int i = 0; i < ROUNDS; i++) {
        theirs_s[i] = peer_seconds(peer, in, finishes);
        ours_s[i] = run_seconds(&s, &out, a, scratch);
    }
    off_s = largest_difference_s(&out, finishes);
    ours = bench_quantile(ours_s, ROUNDS, 0.5);
    theirs = bench_quantile(theirs_s, ROUNDS, 0.5);
    snprintf(what, sizeof(what),
             "Same jobs as SimGrid, first come, first served on whole nodes: %zu hosts, "
             "100,000 jobs, speed",
             hosts);
    bench_row(what, "at least 5x", theirs >= 5 * ours ? BENCH_MET : BENCH_MISSED,
              "%.1fx (%.0f against %.0f jobs/s; medians of %d)", theirs / ours,
              JOBS / ours, JOBS / theirs, ROUNDS);
    bench_row("the same: largest difference of a finish", "below 0.001 s",
              off_s < 0.001 ? BENCH_MET : BENCH_MISSED, "%.6f s", off_s);
    remove(in);
    remove(finishes);
    free(s.jobs);
}

int main(int argc, char **argv)
{
    static const size_t hosts[] = {128, 1000, 10000};
    struct arena *a = arena_create((size_t)1 << 32),
                 *scratch = arena_create((size_t)1 << 32);

    if (argc != 2 || access(argv[1], X_OK) != 0)
        bench_stop("SimGrid's side is not built: it needs libsimgrid-dev");
    for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++)
        compare(argv[1], hosts[i], a, scratch);
    arena_close(scratch);
    arena_close(a);
    return 0;
}
