/* simgrid_cluster_peer.cpp - the workload of bench_simgrid_cluster, run by SimGrid.
 *
 *     simgrid_cluster_peer WORKLOAD FINISHES
 *
 * WORKLOAD holds a line "hosts H jobs N" and N lines "arrival_s nodes run_s" by arrival.
 * Jobs start in that order as soon as enough nodes are free, each on nodes of its own.
 * Writes the finish of each job in seconds, a line each, to FINISHES, and prints the
 * seconds of the processor that the run itself took.
 */
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

struct job {
    double arrival_s;
    unsigned nodes;
    double run_s, finish_s;
    std::vector<unsigned> at;
};

static std::vector<job> jobs;
static std::vector<sg::Host *> hosts;
static std::vector<unsigned> idle_hosts;
static size_t arrived, started;

static void start_heads();

static double cpu_s()
{
    timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

static void run_job(size_t i)
{
    job &j = jobs[i];

    sg::this_actor::execute(j.run_s * 1e6);
    j.finish_s = sg::Engine::get_clock();
    idle_hosts.insert(idle_hosts.end(), j.at.begin(), j.at.end());
    start_heads();
}

static void start_heads()
{
    while (started < arrived && jobs[started].nodes <= idle_hosts.size()) {
        job &j = jobs[started];
        size_t i = started++;

        j.at.assign(idle_hosts.end() - j.nodes, idle_hosts.end());
        idle_hosts.resize(idle_hosts.size() - j.nodes);
        sg::Actor::create("job", hosts[j.at[0]], [i] { run_job(i); });
    }
}

int main(int argc, char **argv)
{
    sg::Engine engine(&argc, argv);
    unsigned host_count = 0;
    size_t job_count = 0;

    if (argc != 3)
        return 2;
    FILE *in = fopen(argv[1], "r");
    if (!in || fscanf(in, "hosts %u jobs %zu", &host_count, &job_count) != 2)
        return 2;
    jobs.resize(job_count);
    for (job &j : jobs)
        if (fscanf(in, "%lf %u %lf", &j.arrival_s, &j.nodes, &j.run_s) != 3)
            return 2;
    fclose(in);

    auto *zone = sg::create_full_zone("cluster");
    for (unsigned h = 0; h < host_count; h++) {
        hosts.push_back(zone->create_host("h" + std::to_string(h), 1e6));
        idle_hosts.push_back(h);
    }
    zone->seal();
    sg::Actor::create("arrivals", hosts[0], [] {
        for (; arrived < jobs.size();) {
            if (jobs[arrived].arrival_s > sg::Engine::get_clock())
                sg::this_actor::sleep_until(jobs[arrived].arrival_s);
            arrived++;
            start_heads();
        }
    });

    double began_s = cpu_s();
    engine.run();
    double took_s = cpu_s() - began_s;

    FILE *out = fopen(argv[2], "w");
    if (!out)
        return 2;
    for (const job &j : jobs)
        fprintf(out, "%.9f\n", j.finish_s);
    fclose(out);
    printf("%.6f\n", took_s);
    return 0;
}
