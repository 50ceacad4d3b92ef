// simulation_queue_test.cpp - the simulator against formulas: queues, restarts.
#include "tests/simulation_support.hpp"

// Mean wait in an M/M/c queue (Erlang C).
static double wait_mmc_s(double gap_s, double service_s, int c)
{
    double load = service_s / gap_s, term = 1, sum = 0;
    for (int k = 0; k < c; k++) {
        sum += term;
        term *= load / (k + 1);
    }
    double busy = term * c / (c - load);
    return busy / (sum + busy) * service_s / (c - load);
}

TEST_CASE("waiting times are those of M/M/c", "[simulation][property]")
{
    struct {
        int servers;
        double gap_s, service_s;
    } cases[] = {{1, 100, 80}, {3, 100, 240}};
    CHECK(wait_mmc_s(100, 80, 1) == Approx(320));
    for (auto &c : cases)
        DYNAMIC_SECTION("M/M/" << c.servers)
        {
            std::vector<double> waits, busy;
            for (uint64_t seed = 1; seed <= 8; seed++) {
                test_grid g;
                bound_policy p;
                g.add("cr", 1, 1, (size_t)c.servers);
                g.w = workload_blank(WORKLOAD_POISSON);
                g.w.arrival_gap_s = g.keep(distribution_exponential(c.gap_s));
                g.w.length_mi = g.keep(distribution_exponential(c.service_s));
                g.s.stable_after_s = 50000;
                g.s.stop_time_s = 650000;
                p.round("fjbcr");
                sim_metrics m = run_scenario(g.prepare().s, p, seed, g.a).metrics;
                waits.push_back(m.job_wait_s);
                busy.push_back(m.non_idle_ratio);
                CHECK(m.jobs_submitted == Approx(600000 / c.gap_s).epsilon(0.05));
            }
            sim_summary wait = sim_summarise(waits.data(), waits.size());
            sim_summary load = sim_summarise(busy.data(), busy.size());
            INFO(wait.mean << " +- " << wait.ci95);
            CHECK(std::abs(wait.mean - wait_mmc_s(c.gap_s, c.service_s, c.servers)) <
                  1.2 * wait.ci95);
            CHECK(std::abs(load.mean - 0.8) < 1.2 * load.ci95);
        }
}

TEST_CASE("pinned jobs queue for their resource", "[simulation]")
{
    test_grid g;
    g.add("cr", 1, 1);
    for (int i = 0; i < 4; i++)
        g.job(10 * i, 25).resource = 0;
    g.s.stop_time_s = 1e6;
    g.s.stop_when_done = true;
    sim_run_out out = run_scenario(g.prepare().s, bound_policy(), 1, g.a, everything);
    for (uint64_t i = 0; i < 4; i++)
        CHECK(row_of(out, i).finish_s == 25.0 * (double)(i + 1));
    CHECK(out.metrics.simulated_s == 100);
}

TEST_CASE("checkpointing takes the time of fault-tolerance.md 7.4",
          "[simulation][property]")
{
    // one job on one resource; the last piece of work needs no checkpoint
    const double E = 9000, M = 10800, C = 30, R = 60, D = 900, w = 900;
    std::vector<double> times, costs;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        test_grid g;
        bound_policy p;
        sim_group &group = g.add("cr", 1, 1);
        group.fails = true;
        group.failure = distribution_exponential(M);
        group.restore = distribution_constant(D);
        g.job(0, E).checkpoint_overhead_s = C;
        g.s.overhead.rollback_s = R;
        g.s.stop_time_s = 1e9;
        g.s.stop_when_done = true;
        p.round("migration").checkpoint("periodic", {option("initial_interval_s", w)});
        sim_metrics m = run_scenario(g.prepare().s, p, seed, g.a).metrics;
        times.push_back(m.job_run_time_s);
        costs.push_back(m.non_idle_ratio * m.simulated_s);
    }
    double x = std::exp(R / M) * std::expm1((w + C) / M);
    double last = std::exp(R / M) * std::expm1(w / M);
    double want_s = ((E / w - 1) * x + last) * (M + D);
    sim_summary time = sim_summarise(times.data(), times.size());
    INFO(time.mean << " +- " << time.ci95 << ", want " << want_s);
    CHECK(std::abs(time.mean - want_s) < 1.2 * time.ci95);
    CHECK(time.ci95 < 0.03 * want_s);
}

TEST_CASE("the desktop grid's loss follows fault-tolerance.md 9.1",
          "[simulation][property]")
{
    // always busy: done per period of uptime U(1, F) of jobs of length L
    struct {
        double longest, length, done;
    } cases[] = {{500, 210, 0.7415}, {200, 90, 0.6533}};
    for (auto &c : cases) {
        std::vector<double> lost;
        double d = 0;
        for (double k = 1; k * c.length < c.longest; k++)
            d += (c.longest - std::max(1.0, k * c.length)) / (c.longest - 1);
        CHECK(d == Approx(c.done).epsilon(1e-4));
        for (uint64_t seed = 1; seed <= 4; seed++) {
            test_grid g;
            bound_policy p;
            sim_group &group = g.add("cr", 1, 1, 20);
            group.fails = true;
            group.failure = distribution_uniform(1, c.longest);
            group.restore = distribution_uniform(1, 40);
            g.w = workload_blank(WORKLOAD_POISSON);
            g.w.arrival_gap_s = g.keep(distribution_constant(c.length / 40));
            g.w.length_mi = g.keep(distribution_constant(c.length));
            g.s.stop_time_s = 20000;
            p.round("fcfs");
            sim_metrics m = run_scenario(g.prepare().s, p, seed, g.a).metrics;
            lost.push_back(m.jobs_lost_ratio);
        }
        CHECK(sim_summarise(lost.data(), 4).mean == Approx(1 / (1 + d)).epsilon(0.02));
    }
}
