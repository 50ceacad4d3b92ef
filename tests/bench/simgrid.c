/* simgrid.c - the grid simulator and SimGrid on the same jobs.
 *
 *     bench_simgrid PEER
 *
 * PEER is the program of simgrid_peer.cpp. 128 hosts of 1 MIPS, shared equally by what
 * runs on them; 100,000 jobs, each with its host and its start. Both are timed without
 * reading the jobs and without writing the finishes; these must agree within what whole
 * milliseconds round off.
 */
#include "algorithms/simulation/simulation.h"
#include "algorithms/simulation/workload.h"
#include "models/base/rng.h"
#include "tests/bench/bench.h"

#include <math.h>

enum { HOSTS = 128, JOBS = 100000, ROUNDS = 5 };

#define MEAN_LENGTH_MI 100.0
#define LOAD_RATIO     0.8
#define ROUNDING_S     0.1 /* a job meets some hundred changes of at most half a ms */

static double exponential(struct rng *r, double mean)
{
    return -mean * log1p(-rng_uniform(r));
}

/* Whole milliseconds, as both sides can express them. */
static double rounded(double seconds)
{
    return floor(seconds * 1e3 + 0.5) / 1e3;
}

static struct sim_job *jobs_create(struct arena *a)
{
    struct sim_job *jobs = NEW(a, struct sim_job, JOBS);
    struct rng r = rng_create(1);
    double at_s = 0;

    if (!jobs)
        bench_stop("no memory");
    for (size_t i = 0; i < JOBS; i++) {
        at_s += exponential(&r, MEAN_LENGTH_MI / (HOSTS * LOAD_RATIO));
        jobs[i] = (struct sim_job){
            .arrival_s = rounded(at_s),
            .length_mi = fmax(0.001, rounded(exponential(&r, MEAN_LENGTH_MI))),
            .resource = rng_index(&r, HOSTS),
            .cpus = 1,
            .mips_required = (double)NAN,
            .session_s = (double)NAN,
            .requested_s = (double)NAN,
        };
    }
    return jobs;
}

static void jobs_write(const struct sim_job *jobs, const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        bench_stop("cannot write %s", path);
    fprintf(file, "hosts %d jobs %d\n", HOSTS, JOBS);
    for (size_t i = 0; i < JOBS; i++)
        fprintf(file, "%.3f %zu %.3f\n", jobs[i].arrival_s, jobs[i].resource,
                jobs[i].length_mi);
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

static struct sim_scenario scenario_create(const struct sim_job *jobs, struct arena *a,
                                           struct error *err)
{
    static const char *const sites[] = {"grid"};
    static struct workload work;
    struct sim_group *group = NEW(a, struct sim_group, 1);
    struct sim_scenario s = sim_scenario_preset();

    if (!group)
        bench_stop("no memory");
    *group = (struct sim_group){.id = "host",
                                .count = HOSTS,
                                .n_max = JOBS,
                                .sharing = SIM_SHARING_EQUAL,
                                .failure_group = SIM_NO_FAILURE_GROUP};
    group->mips_total = distribution_constant(1);
    work = workload_blank(WORKLOAD_BATCH);
    work.jobs = jobs;
    work.given_count = JOBS;
    s.sites = sites;
    s.site_count = 1;
    s.groups = group;
    s.group_count = 1;
    s.workload = &work;
    s.stop_time_s = 1e9;
    s.stop_when_done = true;
    if (workload_prepare(&work, "/workload", a, err) != OK ||
        sim_scenario_prepare(&s, "", a, err) != OK)
        bench_stop("%s %s", err->field, err->text);
    return s;
}

/* Seconds that a run took, jobs in *out when wanted. */
static double run_seconds(const struct sim_scenario *s, const struct sim_output *wanted,
                          struct sim_run_out *out, struct arena *a)
{
    struct sim_policy policy = {.label = "given"};
    struct error err = {.arena = a};
    double began_s = bench_now_s();

    if (sim_run(s, &policy, 1, NULL, wanted, NULL, out, a, &err) != OK)
        bench_stop("%s %s", err.field, err.text);
    return bench_now_s() - began_s;
}

/* Host i of the simulator is the i-th name in byte order; that of SimGrid is hosts[i].
 * Only equality of hosts matters, so the index is enough. */
static double largest_difference_s(const struct sim_run_out *out, const char *path)
{
    double *finish_s = calloc(JOBS, sizeof(*finish_s)), worst_s = 0;
    FILE *file = fopen(path, "r");

    if (!finish_s || !file)
        bench_stop("cannot read %s", path);
    for (size_t i = 0; i < JOBS; i++)
        if (fscanf(file, "%lf", &finish_s[i]) != 1)
            bench_stop("SimGrid gave %zu of %d finishes", i, JOBS);
    fclose(file);
    if (out->job_count != JOBS)
        bench_stop("%zu of %d jobs ended", out->job_count, JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        double off_s = fabs(out->jobs[i].finish_s - finish_s[out->jobs[i].given]);

        if (!(off_s <= worst_s)) /* NAN is worst */
            worst_s = off_s;
    }
    free(finish_s);
    return worst_s;
}

int main(int argc, char **argv)
{
    const char *in = "simgrid_jobs.txt", *finishes = "simgrid_finishes.txt";
    struct arena *a = arena_create((size_t)1 << 32), *run = arena_create((size_t)1 << 32);
    struct error err = {.arena = a};
    struct sim_job *jobs = jobs_create(a);
    struct sim_scenario s = scenario_create(jobs, a, &err);
    struct sim_output wanted = {.job_rows_max = JOBS};
    struct sim_run_out out = {0};
    double ours_s[ROUNDS], theirs_s[ROUNDS], off_s, ours, theirs;

    if (argc != 2 || access(argv[1], X_OK) != 0)
        bench_stop("SimGrid's side is not built: it needs libsimgrid-dev");
    jobs_write(jobs, in);
    for (int i = 0; i < ROUNDS; i++) {
        theirs_s[i] = peer_seconds(argv[1], in, finishes);
        ours_s[i] = run_seconds(&s, NULL, &out, run);
        arena_reset(run);
    }
    run_seconds(&s, &wanted, &out, run);
    off_s = largest_difference_s(&out, finishes);
    ours = bench_quantile(ours_s, ROUNDS, 0.5);
    theirs = bench_quantile(theirs_s, ROUNDS, 0.5);
    bench_row("Same jobs as SimGrid 3.32: 128 hosts, 100,000 jobs, speed", "at least 5x",
              theirs >= 5 * ours ? BENCH_MET : BENCH_MISSED,
              "%.1fx (%.0f against %.0f jobs/s; medians of %d)", theirs / ours,
              JOBS / ours, JOBS / theirs, ROUNDS);
    bench_row("Same jobs as SimGrid: largest difference of a finish", "below 0.1 s",
              off_s < ROUNDING_S ? BENCH_MET : BENCH_MISSED, "%.4f s", off_s);
    remove(in);
    remove(finishes);
    arena_close(run);
    arena_close(a);
    return 0;
}
