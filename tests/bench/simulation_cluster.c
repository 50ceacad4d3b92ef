/* simulation_cluster.c - simulations of kind cluster over HTTP: 10,000 nodes that fail
 * and a million jobs, on whole nodes and on shared ones.
 *
 * Seconds are of the service's processor, from the request to its answer: drawing the
 * jobs, playing, sorting for percentiles, printing. The bars are those of the machine
 * alone (bench_cluster_replay), so that the rest has to fit in.
 */
#include "tests/bench/bench.h"

/* Of the process, all its threads. */
static double cpu_s(pid_t pid)
{
    char path[64], line[1024];
    unsigned long user = 0, system = 0;
    const char *at;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    if (!file || !fgets(line, sizeof(line), file))
        bench_stop("cannot read %s", path);
    fclose(file);
    at = strrchr(line, ')');
    if (!at || sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                      &user, &system) != 2)
        bench_stop("cannot read the times of %s", path);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* The number behind "name":, or of its mean. */
static double number_of(const char *json, const char *name)
{
    char key[64];
    const char *at;

    snprintf(key, sizeof(key), "\"%s\":", name);
    at = strstr(json, key);
    if (!at)
        bench_stop("the answer has no %s", name);
    at += strlen(key);
    if (strncmp(at, "{\"mean\":", 8) == 0)
        at += 8;
    return strtod(at, NULL);
}

struct measured {
    double cpu_s, peak_mb, jobs, events, kills;
};

/* A run; stop_s: jobs come so long. */
static struct measured play(int hosts, double stop_s, bool shared)
{
    struct bench_process service = bench_start_service(false, NULL);
    double mean_nodes = hosts < 256 ? 16 : 31.875;
    double load = shared ? 8.0 / 64 : 1; /* of a node that a job has */
    double gap_s = mean_nodes * 7200 * load / (0.85 * hosts);
    struct measured m;
    struct bench_reply reply;
    char body[4096];
    double began_s;
    int fd;

    snprintf(
        body, sizeof(body),
        "{\"kind\":\"cluster\",\"runs\":1,\"time_limit_s\":500,\"stop\":{\"time_s\":%.0f}"
        ","
        "\"cluster\":{\"resources\":[{\"id\":\"n\",\"number\":%d,\"cpus\":64,"
        "\"memory_bytes\":256e9,\"failure\":{\"distribution\":\"weibull\",\"shape\":0.7,"
        "\"mean\":5e7},\"restore\":{\"distribution\":\"exponential\",\"mean\":7200}}]},"
        "\"workload\":{\"generator\":\"poisson\",\"arrival_gap_s\":{\"distribution\":"
        "\"exponential\",\"mean\":%.17g},\"length_mi\":{\"distribution\":"
        "\"exponential\",\"mean\":7200}},\"job_defaults\":{\"nodes\":{\"distribution\":"
        "\"empirical\",\"values\":[%s]},%s\"checkpoint_overhead_s\":60,\"restart_s\":60},"
        "\"compare\":[{\"queue\":{\"algorithm\":\"easy\"},\"checkpoint\":{\"algorithm\":"
        "\"periodic\",\"options\":{\"initial_interval_s\":3600}}}]}",
        stop_s * gap_s, hosts, gap_s,
        hosts < 256 ? "1,2,4,8,16,32,64,1" : "1,2,4,8,16,32,64,128",
        shared ? "\"cpus\":8,\"memory_bytes\":30e9," : "\"exclusive\":true,");
    fd = bench_connect(service.port);
    bench_reset_peak(service.pid);
    began_s = cpu_s(service.pid);
    reply = bench_post(fd, "/v1/simulations", body, strlen(body));
    if (reply.status != 200)
        bench_stop("status %d: %.300s", reply.status, reply.body);
    if (strstr(reply.body, "\"status\":\"cut\""))
        bench_stop("the time was up before a run was complete");
    m = (struct measured){.cpu_s = cpu_s(service.pid) - began_s,
                          .peak_mb = bench_memory_bytes(service.pid, "VmHWM") / 1048576,
                          .jobs = number_of(reply.body, "job_count"),
                          .events = number_of(reply.body, "events_executed"),
                          .kills = number_of(reply.body, "failure_killed_count")};
    close(fd);
    bench_end(&service);
    return m;
}

int main(void)
{
    struct measured large = play(10000, 998000, false), small = play(128, 998000, false);
    struct measured shared;
    double ratio = large.events / large.cpu_s / (small.events / small.cpu_s);

    bench_row(
        "POST /v1/simulations, kind cluster: 10,000 nodes that fail, a million "
        "generated jobs on 1 to 128 whole nodes, load 0.85, EASY, hourly checkpoints",
        "at most 600 MB; ours: 10 s of a core",
        large.cpu_s <= 10 && large.peak_mb <= 600 ? BENCH_MET : BENCH_MISSED,
        "%.2f s, %.0f MB (%.0f jobs, %.0f events, %.0f times a job was killed with "
        "a node)",
        large.cpu_s, large.peak_mb, large.jobs, large.events, large.kills);
    bench_row("the same: events/s, of those on 128 nodes", "at least 0.5",
              ratio >= 0.5 ? BENCH_MET : BENCH_MISSED, "%.2f (%.0f jobs in %.2f s there)",
              ratio, small.jobs, small.cpu_s);
    shared = play(10000, 998000, true);
    bench_row("the same on shared nodes, with memory", "at most 20 s of a core",
              shared.cpu_s <= 20 ? BENCH_MET : BENCH_MISSED,
              "%.2f s, %.0f MB (%.0f jobs)", shared.cpu_s, shared.peak_mb, shared.jobs);
    return 0;
}
