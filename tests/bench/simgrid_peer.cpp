/* simgrid_peer.cpp - the workload of bench_simulation, run by SimGrid for comparison.
 *
 *     simgrid_peer WORKLOAD FINISHES
 *
 * WORKLOAD holds a line "hosts H jobs N" and N lines "start_s host length_mi" by start;
 * each host has 1 MIPS, shared equally by its jobs. Writes the finish of each job in
 * seconds, a line each, to FINISHES, and prints the seconds that the run itself took.
 */
#include <simgrid/s4u.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

struct job {
    double start_s;
    unsigned host;
    double length_mi;
};

int main(int argc, char **argv)
{
    sg::Engine engine(&argc, argv);
    std::vector<job> jobs;
    std::vector<sg::Host *> hosts;
    unsigned host_count = 0;
    size_t job_count = 0;

    if (argc != 3)
        return 2;
    FILE *in = fopen(argv[1], "r");
    if (!in || fscanf(in, "hosts %u jobs %zu", &host_count, &job_count) != 2)
        return 2;
    jobs.resize(job_count);
    for (job &j : jobs)
        if (fscanf(in, "%lf %u %lf", &j.start_s, &j.host, &j.length_mi) != 3)
            return 2;
    fclose(in);

    sg::Engine::set_config("cpu/optim:TI"); // the fastest of its three
    auto *zone = sg::create_full_zone("grid");
    for (unsigned h = 0; h < host_count; h++)
        hosts.push_back(zone->create_host("h" + std::to_string(h), 1e6));
    zone->seal();

    std::vector<sg::ExecPtr> execs(job_count);
    sg::Actor::create("driver", hosts[0], [&] {
        for (size_t i = 0; i < job_count; i++) {
            if (jobs[i].start_s > sg::Engine::get_clock())
                sg::this_actor::sleep_until(jobs[i].start_s);
            execs[i] = sg::Exec::init();
            execs[i]->set_host(hosts[jobs[i].host]);
            execs[i]->set_flops_amount(jobs[i].length_mi * 1e6);
            execs[i]->start();
        }
        for (auto &e : execs)
            e->wait();
    });

    auto begin = std::chrono::steady_clock::now();
    engine.run();
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;

    FILE *out = fopen(argv[2], "w");
    if (!out)
        return 2;
    for (auto &e : execs)
        fprintf(out, "%.9f\n", e->get_finish_time());
    fclose(out);
    printf("%.6f\n", took.count());
    return 0;
}
