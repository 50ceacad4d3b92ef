// simulation_life_test.cpp - the simulator against results computed by hand.
#include "tests/simulation_support.hpp"

extern "C" {
#include "algorithms/simulation/kernel.h"
#include "algorithms/simulation/network.h"
}

// ---- kernel ----

TEST_CASE("events come by instant, turn, priority and order of posting", "[simulation]")
{
    test_arena a;
    kernel k{};
    event e{};

    k.arena = a;
    k.now_ms = -1;
    k.end_ms = 1000;
    kernel_post(&k, 20, EVENT_ROUND, nullptr, 1);
    kernel_post(&k, 10, EVENT_SUBMIT, nullptr, 2);
    kernel_post(&k, 10, EVENT_WORK, nullptr, 3);
    kernel_post(&k, 10, EVENT_WORK, nullptr, 4);
    kernel_post(&k, 1000, EVENT_WORK, nullptr, 5); // on the end: never
    kernel_post(&k, 10, EVENT_RESOURCE_ADD, nullptr, 6);
    std::vector<uint32_t> got;
    while (kernel_take(&k, &e)) {
        got.push_back(e.version);
        if (e.version == 3) // comes in the next turn, whatever its priority
            kernel_post(&k, 10, EVENT_RESOURCE_ADD, nullptr, 7);
        if (e.version == 7)
            kernel_post(&k, 10, EVENT_RESOURCE_ADD, nullptr, 8);
        CHECK(kernel_turn_ends(&k) ==
              (e.version == 2 || e.version == 7 || e.version == 8 || e.version == 1));
    }
    CHECK(got == std::vector<uint32_t>{6, 3, 4, 2, 7, 8, 1});
}

TEST_CASE("many events come out in order", "[simulation][property]")
{
    test_arena a;
    kernel k{};
    rng r = rng_create(7);
    event e{};
    size_t taken = 0;
    int64_t last_ms = -1;

    k.arena = a;
    k.now_ms = -1;
    k.end_ms = KERNEL_NEVER;
    for (int i = 0; i < 5000; i++)
        kernel_post(&k, (int64_t)rng_index(&r, 1000), EVENT_WORK, nullptr, 0);
    for (; kernel_take(&k, &e); taken++) {
        CHECK(e.at_ms >= last_ms);
        last_ms = e.at_ms;
        if (taken % 3 == 0 && taken < 9000)
            kernel_post(&k, e.at_ms + (int64_t)rng_index(&r, 100), EVENT_FAIL, nullptr,
                        0);
    }
    CHECK(taken > 5000);
    CHECK(k.count == 0);
}

TEST_CASE("durations are rounded half up to milliseconds", "[simulation]")
{
    CHECK(kernel_ms(0.0005) == 1);
    CHECK(kernel_ms(0.00049) == 0);
    CHECK(kernel_ms(12.3456) == 12346);
    CHECK(kernel_ms(1e300) == KERNEL_NEVER);
    CHECK(kernel_ms(HUGE_VAL) == KERNEL_NEVER);
}

// ---- sharing: simulator.md 4 ----

static test_grid &pin_to_first(test_grid &g)
{
    for (sim_job &job : g.jobs)
        job.resource = 0;
    return g;
}

TEST_CASE("equal sharing follows simulator.md 4", "[simulation]")
{
    struct {
        double j2_mi, end_s[3];
    } cases[] = {{3, {10, 9, 7}}, {4, {11, 11, 7}}};
    for (auto &c : cases)
        DYNAMIC_SECTION("J2 of " << c.j2_mi << " MI")
        {
            test_grid g;
            g.add("cr1", 1, 3);
            g.job(0, 6);
            g.job(2, c.j2_mi);
            g.job(4, 1);
            pin_to_first(g);
            g.s.stop_time_s = 100;
            sim_run_out out =
                run_scenario(g.prepare().s, bound_policy(), 1, g.a, everything);
            for (uint64_t i = 0; i < 3; i++)
                CHECK(row_of(out, i).finish_s == c.end_s[i]);
            CHECK(out.metrics.processed_mi == Approx(7 + c.j2_mi).epsilon(1e-12));
            CHECK(resource_of(out, "cr1").non_idle_s == c.end_s[0]);
            CHECK(resource_of(out, "cr1").fully_loaded_s == 3);
        }
}

TEST_CASE("fraction sharing follows simulator.md 4", "[simulation]")
{
    test_grid g;
    g.add("cr1", 10, 100).sharing = SIM_SHARING_FRACTION;
    for (double mips : {4, 4, 3})
        g.job(0, 40).mips_required = mips;
    pin_to_first(g);
    g.s.stop_time_s = 100;
    sim_run_out out = run_scenario(g.prepare().s, bound_policy(), 1, g.a, everything);
    CHECK(row_of(out, 0).finish_s == 10);
    CHECK(row_of(out, 1).finish_s == 10);
    CHECK(row_of(out, 2).start_s == 10); // it waits until it fits
    CHECK(row_of(out, 2).finish_s == Approx(10 + 40 / 3.0).margin(0.001));
}

// ---- end to end: simulator.md 15 ----

static void d1(test_grid &g, double stop_s)
{
    g.add("CR1", 1, 2);
    g.add("CR2", 2, 2);
    g.job(10, 600);
    g.job(20, 600);
    g.job(70, 1200);
    g.s.scheduler_interval_s = 60;
    g.s.stop_time_s = stop_s;
}

TEST_CASE("D1 of simulator.md 15", "[simulation]")
{
    test_grid g;
    bound_policy p;
    d1(g, 1000);
    sim_run_out out = run_scenario(g.prepare().s, p.round("fjbcr"), 1, g.a, everything);
    CHECK(row_of(out, 0).finish_s == 600);
    CHECK(row_of(out, 1).finish_s == 660);
    CHECK(row_of(out, 2).finish_s == 960);
    CHECK(std::string(row_of(out, 0).resource_id) == "CR2");
    CHECK(std::string(row_of(out, 1).resource_id) == "CR1");
    CHECK(out.metrics.job_turnaround_s == Approx(706.6666667));
    CHECK(out.metrics.job_execution_s == Approx(660));
    CHECK(out.metrics.job_wait_s == Approx(140 / 3.0));
    CHECK(resource_of(out, "CR1").non_idle_s == 600);
    CHECK(resource_of(out, "CR2").non_idle_s == 900);
    CHECK(out.metrics.non_idle_ratio == Approx(0.75));
    CHECK(out.metrics.fully_loaded_ratio == Approx(0.24));
    CHECK(resource_of(out, "CR1").processed_mi == Approx(600));
    CHECK(resource_of(out, "CR2").processed_mi == Approx(1800));
    CHECK(out.metrics.makespan_s == 950);
}

TEST_CASE("D2 of simulator.md 15: detection and migration", "[simulation]")
{
    test_grid g;
    bound_policy p;
    d1(g, 2000);
    g.groups[1].traces = g.trace({{300, 500}});
    sim_run_out out =
        run_scenario(g.prepare().s, p.round("migration"), 1, g.a, everything);
    CHECK(row_of(out, 0).finish_s == 1260);
    CHECK(row_of(out, 1).finish_s == 1020);
    CHECK(row_of(out, 2).finish_s == 1140);
    CHECK(resource_of(out, "CR1").processed_mi == Approx(1200));
    CHECK(resource_of(out, "CR2").processed_mi == Approx(1680));
    CHECK(out.metrics.useful_mi == Approx(2400));
    CHECK(out.metrics.availability_ratio == Approx(0.95));
    CHECK(out.metrics.failures_detected == 2);
    CHECK(out.metrics.jobs_lost == 0);
}

TEST_CASE("D3 of simulator.md 15: nobody notices", "[simulation]")
{
    test_grid g;
    bound_policy p;
    d1(g, 2000);
    g.groups[1].traces = g.trace({{300, 500}});
    sim_run_out out = run_scenario(g.prepare().s, p.round("fjbcr"), 1, g.a, everything);
    CHECK(row_of(out, 1).finish_s == 660);
    CHECK(out.metrics.jobs_done == 1);
    CHECK(out.metrics.jobs_lost == 2);
    CHECK(row_of(out, 0).state == SIM_JOB_LOST);
}

// fault-tolerance.md 4: E = 7200, I = 1800, C = 5, L = 10, R = 20
static sim_run_out d4(test_grid &g, double fails_at_s)
{
    bound_policy p;
    g.add("cr1", 1, 1).traces = g.trace({{fails_at_s, UNSAID}});
    g.add("cr2", 1, 1).traces = g.trace({{0, 5400}});
    sim_job &job = g.job(0, 7200);
    job.checkpoint_overhead_s = 5;
    job.checkpoint_bytes = 1.25e6; // 10 s at 1 Mbit/s, and 10 s more for a rollback
    g.s.network.mode = SIM_NETWORK_FIXED;
    g.s.network.bandwidth_mbps = 1;
    g.s.network.latency_s = 0;
    g.s.overhead.rollback_s = 10;
    g.s.stop_time_s = 20000;
    p.round("migration").checkpoint("periodic", {option("initial_interval_s", 1800)});
    return run_scenario(g.prepare().s, p, 1, g.a, everything);
}

static std::vector<double> logged(const sim_run_out &out, sim_log_kind kind, bool value)
{
    std::vector<double> list;
    for (size_t i = 0; i < out.log_count; i++)
        if (out.log[i].kind == kind)
            list.push_back(value ? out.log[i].value : out.log[i].at_s);
    return list;
}

TEST_CASE("D4: the restart timeline of fault-tolerance.md 4", "[simulation]")
{
    test_grid g;
    sim_run_out out = d4(g, 5000);
    CHECK(logged(out, SIM_LOG_CHECKPOINT_REQUEST, false) ==
          std::vector<double>{1800, 3605, 7220});
    CHECK(logged(out, SIM_LOG_CHECKPOINT_STORED, false) ==
          std::vector<double>{1815, 3620, 7235});
    CHECK(logged(out, SIM_LOG_CHECKPOINT_STORED, true) ==
          std::vector<double>{1800, 3600, 5400});
    CHECK(logged(out, SIM_LOG_JOB_RUN, false) == std::vector<double>{0, 5420});
    CHECK(row_of(out, 0).finish_s == 9025);
    CHECK(row_of(out, 0).checkpoint_count == 3);
    CHECK(row_of(out, 0).processed_mi == Approx(4990 + 3600));
}

TEST_CASE("an image on its way is lost with its resource", "[simulation]")
{
    test_grid g;
    sim_run_out out = d4(g, 3615);
    CHECK(logged(out, SIM_LOG_JOB_RUN, true) == std::vector<double>{0, 1800});
    CHECK(row_of(out, 0).finish_s == 5420 + 5400 + 2 * 5);
}

TEST_CASE("D6 of simulator.md 15: slots are reserved during the input", "[simulation]")
{
    test_grid g;
    bound_policy p;
    d1(g, 2000);
    for (sim_job &job : g.jobs)
        job.input_bytes = 1.25e6;
    g.s.network.mode = SIM_NETWORK_FIXED;
    g.s.network.bandwidth_mbps = 0.1;
    g.s.network.latency_s = 0;
    sim_run_out out = run_scenario(g.prepare().s, p.round("fjbcr"), 1, g.a, everything);
    CHECK(logged(out, SIM_LOG_JOB_START, false) == std::vector<double>{60, 60, 120});
    CHECK(logged(out, SIM_LOG_JOB_RUN, false) == std::vector<double>{160, 160, 220});
    CHECK(row_of(out, 0).finish_s == 700);
    CHECK(row_of(out, 1).finish_s == 760);
    CHECK(row_of(out, 2).finish_s == 1060);
}

TEST_CASE("availability follows fault-tolerance.md 2.2", "[simulation]")
{
    test_grid g;
    g.add("cr1", 1, 1).traces = g.trace({{5000, 5300}, {1000, 1200}});
    g.add("cr2", 1, 1);
    g.s.stop_time_s = 86400;
    sim_run_out out = run_scenario(g.prepare().s, bound_policy(), 1, g.a, everything);
    CHECK(resource_of(out, "cr1").availability_ratio ==
          Approx(0.9942129629629629).epsilon(1e-14));
    CHECK(out.metrics.availability_ratio == Approx(0.9971064814814815).epsilon(1e-14));

    test_grid open; // still down at the end, down from the start
    open.add("cr1", 1, 1).traces = open.trace({{-50, 25}, {20, 50}, {75, UNSAID}});
    open.s.stop_time_s = 100;
    out = run_scenario(open.prepare().s, bound_policy(), 1, open.a, everything);
    CHECK(out.metrics.availability_ratio == Approx(0.25));
}

TEST_CASE("a job that ends when its resource fails is done", "[simulation]")
{
    test_grid g;
    bound_policy p;
    g.add("cr1", 1, 2).traces = g.trace({{100, 150}});
    g.job(0, 50);
    g.job(0, 50); // both end at 100
    g.s.stop_time_s = 1000;
    sim_run_out out = run_scenario(g.prepare().s, p.round("fjbcr"), 1, g.a, everything);
    CHECK(out.metrics.jobs_done == 2);
    CHECK(out.metrics.failures == 1);
}

// ---- detection: fault-tolerance.md 2.3 ----

// A job of 1000 s on a resource that is down for 10 s at 700 s, between two polls.
static sim_run_out short_outage(test_grid &g, bound_policy &p, sim_detection detection)
{
    g.add("cr1", 1, 1).traces = g.trace({{700, 710}});
    g.add("cr2", 1, 1).traces = g.trace({{0, UNSAID}});
    g.job(0, 1000).checkpoint_overhead_s = 0;
    g.s.is_interval_s = 300;
    g.s.scheduler_interval_s = 600;
    g.s.detection = detection;
    g.s.stop_time_s = 5000;
    sim_run_out out = run_scenario(g.prepare().s, p, 1, g.a, everything);
    for (double at_s : logged(out, SIM_LOG_INFORMATION_POLL, false))
        REQUIRE((at_s < 700 || at_s > 710));
    return out;
}

TEST_CASE("a short outage is missed by polling", "[simulation]")
{
    test_grid g;
    bound_policy p;
    p.round("failure_detection_replication", {option("replicas", 1)});
    sim_run_out out = short_outage(g, p, SIM_DETECTION_POLL);
    CHECK(out.metrics.jobs_done == 0);
    CHECK(out.metrics.jobs_lost == 1); // believed active, in fact gone
    CHECK(out.metrics.failures_detected == 0);
}

TEST_CASE("an incarnation reveals a short outage", "[simulation]")
{
    test_grid g;
    bound_policy p;
    p.round("failure_detection_replication", {option("replicas", 1)});
    sim_run_out out = short_outage(g, p, SIM_DETECTION_INCARNATION);
    CHECK(out.metrics.failures_detected == 1);
    CHECK(row_of(out, 0).finish_s == 2200); // from scratch at the round of 1200
    CHECK(row_of(out, 0).started_count == 2);
}

TEST_CASE("the loss of a job under checkpointing is always noticed", "[simulation]")
{
    test_grid g;
    bound_policy p;
    p.round("migration").checkpoint("periodic", {option("initial_interval_s", 300)});
    sim_run_out out = short_outage(g, p, SIM_DETECTION_POLL);
    CHECK(row_of(out, 0).finish_s == 1200 + 1000 - 600); // from the image of 600
}

TEST_CASE("hosts that fail alike are drawn to a site that is as they are", "[simulation]")
{
    double taken[2];

    for (size_t i = 0; i < 2; i++) {
        test_grid g;
        bound_policy p;
        for (const char *id : {"cr1", "cr2", "cr3"})
            g.add(id, 1, 1).traces = g.trace({{1000, 1010}, {2000, 2010}});
        g.job(3000, 20000).checkpoint_overhead_s = 20;
        g.s.stop_time_s = 40000;
        p.round("migration").checkpoint("young", {option("site_weight", i * 5.0)});
        taken[i] =
            run_scenario(g.prepare().s, p, 1, g.a, everything).metrics.checkpoints_taken;
    }
    CHECK(taken[0] > 20);
    CHECK(taken[1] == taken[0]);
}

TEST_CASE("a resource that is down refuses, and is known to be down", "[simulation]")
{
    test_grid g;
    bound_policy p;
    g.add("cr1", 2, 1).traces = g.trace({{50, 2000}});
    g.add("cr2", 1, 1);
    g.job(590, 100);
    g.s.is_interval_s = 10000; // one poll at most: it shows what was at the start
    g.s.scheduler_interval_s = 600;
    g.s.stop_time_s = 3000;
    p.round("fjbcr");
    sim_run_out out = run_scenario(g.prepare().s, p, 4, g.a, everything);
    REQUIRE(logged(out, SIM_LOG_INFORMATION_POLL, false).empty());
    CHECK(out.metrics.starts_refused == 1);
    CHECK(logged(out, SIM_LOG_JOB_REFUSE, false) == std::vector<double>{600});
    CHECK(row_of(out, 0).start_s == 1200);
    CHECK(std::string(row_of(out, 0).resource_id) == "cr2");
}

TEST_CASE("a running job moves to a faster resource", "[simulation]")
{
    test_grid g;
    bound_policy p;
    g.add("a", 1, 1);
    g.add("b", 4, 1).register_s = 100;
    sim_job &job = g.job(0, 1000);
    job.checkpoint_overhead_s = 10;
    job.input_bytes = 1.25e6;
    job.checkpoint_bytes = 1.25e6; // 1 s each at 10 Mbit/s
    g.s.network.mode = SIM_NETWORK_FIXED;
    g.s.network.bandwidth_mbps = 10;
    g.s.network.latency_s = 0;
    g.s.stop_time_s = 3000;
    p.round("rescheduling");
    sim_run_out out = run_scenario(g.prepare().s, p, 1, g.a, everything);
    CHECK(out.metrics.migrations == 1);
    CHECK(logged(out, SIM_LOG_JOB_MIGRATE, true) == std::vector<double>{99});
    // 10 s for the checkpoint, 2 s for input and image together, then 901 MI at 4 MIPS
    CHECK(row_of(out, 0).finish_s == Approx(112 + 901 / 4.0).margin(0.001));
}

TEST_CASE("the middleware takes its time", "[simulation]")
{
    test_grid g;
    bound_policy p;
    g.add("cr1", 1, 1);
    g.job(0, 100);
    g.s.overhead.is_query_s = 1;
    g.s.overhead.scheduling_s = 2;
    g.s.overhead.dispatch_s = 4;
    g.s.scheduler_interval_s = 60;
    g.s.stop_time_s = 1000;
    sim_run_out out = run_scenario(g.prepare().s, p.round("fjbcr"), 1, g.a, everything);
    CHECK(row_of(out, 0).start_s == 3);
    CHECK(row_of(out, 0).finish_s == 107);
}

TEST_CASE("load from outside slows a resource", "[simulation]")
{
    test_grid g;
    g.add("cr1", 2, 1).traces = g.trace({}, {{0, 1}, {50, 0}, {60, 2}, {100, 1.5}});
    g.job(0, 100);
    pin_to_first(g);
    g.s.stop_time_s = 1000;
    sim_run_out out = run_scenario(g.prepare().s, bound_policy(), 1, g.a, everything);
    // 50 by 50, 70 by 60, none until 100, then 0.5 MIPS
    CHECK(row_of(out, 0).finish_s == 160);
}

// ---- network: simulator.md 6 ----

TEST_CASE("flows share links as in simulator.md 6", "[simulation]")
{
    network_flow flows[2] = {{network_weight(0.002), HUGE_VAL, 1, {0}, 0},
                             {network_weight(0.007), HUGE_VAL, 1, {0}, 0}};
    double left = 1000, sum;

    network_share(flows, 2, &left, &sum, 1);
    CHECK(flows[0].rate_mbps == Approx(777.7777778));
    CHECK(flows[1].rate_mbps == Approx(222.2222222));
    flows[1].cap_mbps = 5;
    left = 1000;
    network_share(flows, 2, &left, &sum, 1);
    CHECK(flows[0].rate_mbps == Approx(995));
    CHECK(flows[1].rate_mbps == Approx(5));
    CHECK(left == Approx(0).margin(1e-9));
}

static void shared_network(test_grid &g, double wan_share_mbps)
{
    g.s.network.mode = SIM_NETWORK_SHARED;
    g.s.network.lan_mbps = 1000;
    g.s.network.lan_latency_s = 0.001;
    g.s.network.wan_share_mbps = wan_share_mbps;
    g.s.network.wan_latency_s = distribution_constant(0.005);
    g.s.stop_time_s = 10000;
}

TEST_CASE("transfers in a shared network follow simulator.md 6", "[simulation]")
{
    SECTION("a route through a wide area has a share of its own")
    {
        test_grid g;
        g.add("cr1", 1, 1);
        g.job(0, 0).input_bytes = 2e9;
        pin_to_first(g);
        shared_network(g, 5);
        sim_run_out out = run_scenario(g.prepare().s, bound_policy(), 1, g.a, everything);
        CHECK(row_of(out, 0).finish_s == Approx(3200.007).margin(1e-9));
    }
    SECTION("two of equal round trips")
    {
        test_grid g;
        g.add("cr1", 1, 2);
        g.job(0, 0).input_bytes = 1e9;
        g.job(0, 0).input_bytes = 2e9;
        pin_to_first(g);
        shared_network(g, HUGE_VAL);
        sim_run_out out = run_scenario(g.prepare().s, bound_policy(), 1, g.a, everything);
        CHECK(row_of(out, 0).finish_s == Approx(16.007).margin(1e-9));
        CHECK(row_of(out, 1).finish_s == Approx(24.007).margin(1e-9));
    }
    SECTION("alone")
    {
        test_grid g;
        g.add("cr1", 1, 1);
        g.job(0, 0).input_bytes = 10e9;
        g.job(2000, 0).input_bytes = 10e6;
        pin_to_first(g);
        shared_network(g, 100);
        g.s.network.wan_latency_s = distribution_constant(0);
        g.s.network.lan_latency_s = 0;
        sim_run_out out = run_scenario(g.prepare().s, bound_policy(), 1, g.a, everything);
        CHECK(row_of(out, 0).finish_s == 800);
        CHECK(row_of(out, 1).finish_s == Approx(2000.8));
    }
}

// ---- several runs: simulator.md 12 ----

TEST_CASE("means and variances follow simulator.md 12", "[simulation]")
{
    double jobs[] = {4602, 3531, 4054}, done[] = {4554, 3492, 4035};
    sim_summary two = sim_summarise(jobs, 2), three = sim_summarise(jobs, 3);

    CHECK(two.mean == 4066.5);
    CHECK(two.variance == 573520.5);
    CHECK(two.ci95 == Approx(12.706 * std::sqrt(573520.5 / 2)));
    CHECK(three.mean == Approx(4062.333333333));
    CHECK(three.variance == Approx(286812.333333333));
    CHECK(three.ci95 == Approx(4.303 * std::sqrt(286812.333333333 / 3)));
    CHECK(sim_summarise(done, 3).mean == Approx(4027));
    CHECK(std::isnan(sim_summarise(jobs, 1).ci95));
    CHECK(std::isnan(sim_summarise(jobs, 0).mean));
    double with_gaps[] = {UNSAID, 1, UNSAID, 3};
    CHECK(sim_summarise(with_gaps, 4).count == 2);
    CHECK(sim_summarise(with_gaps, 4).mean == 2);
}

TEST_CASE("metrics are named by their table", "[simulation]")
{
    double values[] = {2, 100, 4, 200, 9, 300};
    CHECK(sim_summarise_every(values, 3, 2).mean == 5);
    CHECK(sim_summarise_every(values + 1, 2, 2).mean == 150);
    CHECK(std::string(sim_metric_rows[SIM_METRIC_jobs_done].name) == "jobs_done");
    CHECK(sim_metric_rows[SIM_METRIC_COUNT].name == nullptr);
}

TEST_CASE("a star by links and routes is the short form", "[simulation][property]")
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        test_grid star, listed;
        bound_policy p;
        std::vector<sim_link> links;
        std::vector<sim_route> routes;
        std::deque<std::vector<size_t>> ways;
        static const char *const names[] = {"n0", "n1", "n2", "n3"};
        static const char *const ids[] = {"a", "b", "c", "d"};

        for (test_grid *g : {&star, &listed}) {
            rng r = rng_create(seed);
            g->sites = {"s1", "s2"};
            for (size_t i = 0; i < 4; i++) {
                sim_group &group = g->add(ids[i], 1, 2);
                group.site = i / 2;
                group.fails = true;
                group.failure = distribution_exponential(3000);
                group.restore = distribution_exponential(300);
                if (g == &listed)
                    group.node = 1 + 3 + i;
            }
            for (size_t i = 0; i < 60; i++) {
                sim_job &job = g->job(20 * (double)i, 100 + 100 * rng_uniform(&r));
                job.input_bytes = 1e9 * rng_uniform(&r);
                job.output_bytes = 3e8 * rng_uniform(&r);
                job.checkpoint_bytes = 1e8;
            }
            shared_network(*g, 40);
            g->s.network.lan_mbps = 50;
        }
        for (size_t i = 0; i < 4; i++)
            links.push_back({ids[i], SIM_LINK_LAN, 50, 0.002}); // and the switch's
        links.push_back({"wide", SIM_LINK_WAN, 40, 0.005});
        for (size_t i = 0; i < 4; i++) {
            ways.push_back({4, i});
            routes.push_back({2, 3 + i, ways.back().data(), 2});
        }
        listed.s.network.links = links.data();
        listed.s.network.link_count = links.size();
        listed.s.network.routes = routes.data();
        listed.s.network.route_count = routes.size();
        listed.s.network.nodes = names;
        listed.s.network.node_count = 4;
        p.round("failure_dependent")
            .checkpoint("periodic", {option("initial_interval_s", 60)});
        sim_run_out a = run_scenario(star.prepare().s, p, seed, star.a, everything);
        sim_run_out b = run_scenario(listed.prepare().s, p, seed, listed.a, everything);
        CHECK(a.metrics.jobs_done > 20);
        CHECK(a.event_hash == b.event_hash);
        CHECK(a.metrics.makespan_s == b.metrics.makespan_s);
        CHECK(a.metrics.input_bytes == b.metrics.input_bytes);
        CHECK(b.path_count > 4);
    }
}

// ---- beyond the sources: fault-tolerance.md 12 and 13 ----

TEST_CASE("a job that fails again and again is given up", "[simulation]")
{
    test_grid g;
    // up for 50 s at a time: 100 MI are never done
    std::vector<failure_interval> down;
    for (int i = 0; i < 2000; i++)
        down.push_back({50.0 + 60 * i, 60.0 + 60 * i});
    g.add("a", 1, 1).traces = g.trace(down);
    g.job(0, 100);
    g.job(0, 40);
    g.s.stop_time_s = 1e5;
    g.s.stop_when_done = true;
    g.prepare();
    for (const char *name : {"migration", "failure_dependent",
                             "failure_detection_replication", "target_success"})
        for (double restarts : {0.0, 1.0, 4.0}) {
            bound_policy p;
            size_t copies = strcmp(name, "failure_dependent") == 0 ? 3
                            : strcmp(name, "target_success") == 0  ? 3
                            : strcmp(name, "migration") == 0       ? 1
                                                                   : 2;
            INFO(name << " " << restarts);
            p.round(name, {option("max_restarts", restarts)});
            sim_run_out out = run_scenario(g.s, p, 1, g.a, everything);
            CHECK(row_of(out, 0).state == SIM_JOB_LOST);
            CHECK(row_of(out, 0).started_count == copies + (size_t)restarts);
            CHECK(row_of(out, 1).state == SIM_JOB_DONE);
            CHECK(out.metrics.simulated_s < 1000);
        }
    bound_policy endless;
    endless.round("migration");
    sim_run_out out = run_scenario(g.s, endless, 1, g.a, everything);
    CHECK(row_of(out, 0).state != SIM_JOB_LOST);
    CHECK(row_of(out, 0).started_count > 1000);
}

TEST_CASE("copies go where transfer and run end first", "[simulation]")
{
    // fast is far away: 8 Mbit take 1.6 s at 5 Mbit/s, 0.008 s at 1000
    test_grid g;
    bound_policy spread, earliest;
    std::vector<sim_link> links{{"near", SIM_LINK_LAN, 1000, 0},
                                {"far", SIM_LINK_WAN, 5, 0}};
    std::vector<size_t> near{0}, far{1};
    std::vector<sim_route> routes{{2, 0, near.data(), 1}, {2, 1, far.data(), 1}};
    g.sites = {"n", "f"};
    g.add("slow", 1, 1);
    g.add("fast", 2, 1).site = 1;
    g.job(0, 100).input_bytes = 1e9; // 8 s there, 1600 s away
    g.job(0, 100).input_bytes = 1e4;
    g.s.network.mode = SIM_NETWORK_SHARED;
    g.s.network.links = links.data();
    g.s.network.link_count = 2;
    g.s.network.routes = routes.data();
    g.s.network.route_count = 2;
    g.s.stop_time_s = 1e4;
    g.prepare();
    spread.round("migration");
    earliest.round("migration", {option("placement", "earliest")});
    sim_run_out out = run_scenario(g.s, spread, 1, g.a, everything);
    CHECK(row_of(out, 0).finish_s == Approx(1650)); // the fastest first
    out = run_scenario(g.s, earliest, 1, g.a, everything);
    CHECK(row_of(out, 0).finish_s == Approx(108));
    CHECK(row_of(out, 1).finish_s == Approx(50.016));
}

TEST_CASE("rounds of combined need not look at jobs that only wait", "[simulation]")
{
    // the same decisions with and without the count of jobs that have replicas
    test_grid g;
    bound_policy p, again;
    g.add("cr", 1, 2, 6);
    g.groups[0].fails = true;
    g.groups[0].failure = distribution_exponential(4000);
    g.groups[0].restore = distribution_exponential(400);
    for (int i = 0; i < 400; i++)
        g.job(5 * i, 300 + 7 * (i % 50)).checkpoint_overhead_s = 1;
    g.s.stop_time_s = 30000;
    g.prepare();
    p.round("combined", {option("free_cpu_limit", 4)})
        .checkpoint("periodic", {option("initial_interval_s", 100)});
    again.round("combined", {option("free_cpu_limit", 4)})
        .checkpoint("periodic", {option("initial_interval_s", 100)});
    struct policy uncounted = *again.policy.round;
    round_fn *run = [](const round_in *in, const double *param, round_out *out, arena *a,
                       error *err) {
        round_in copy = *in;
        copy.held_job_count = 0;
        return fault_tolerance_combined(&copy, param, out, a, err);
    };
    uncounted.run = reinterpret_cast<policy_fn *>(run);
    again.policy.round = &uncounted;
    sim_run_out x = run_scenario(g.s, p, 3, g.a), y = run_scenario(g.s, again, 3, g.a);
    CHECK(x.metrics.jobs_done > 300);
    CHECK(x.event_hash == y.event_hash);
    CHECK(memcmp(&x.metrics, &y.metrics, sizeof(x.metrics)) == 0);
}

namespace
{

const struct policy *asked; // by poorer()

// The round without what the simulator keeps to be quick, and with nonsense in what the
// policy's flags say that it does not read.
error_code poorer(const round_in *in, const double *param, round_out *out, arena *a,
                  error *err)
{
    std::vector<round_resource> resources(in->resources,
                                          in->resources + in->resource_count);
    std::vector<round_job> jobs(in->jobs, in->jobs + in->job_count);
    std::vector<std::vector<round_replica>> replicas;
    round_in copy = *in;

    for (size_t r = 0; in->show_reliability && r < in->resource_count; r++) {
        in->show_reliability(in->context, r);
        resources[r] = in->resources[r];
    }
    copy.show_reliability = nullptr;
    for (auto &r : resources)
        if (!(asked->flags & ROUND_RELIABILITY))
            r.mean_failure_interval_s = r.uptime_s = 1 + (double)(&r - &resources[0]);
    for (auto &j : jobs) {
        replicas.emplace_back(j.replicas, j.replicas + j.replica_count);
        for (auto &r : replicas.back())
            if (!(asked->flags & ROUND_PROGRESS))
                r.completed_mi = (double)(r.resource * 7 % 5);
        j.replicas = replicas.back().data();
    }
    copy.resources = resources.data();
    copy.jobs = jobs.data();
    copy.started_counts = copy.active_counts = copy.settled = nullptr;
    copy.kept = nullptr;
    return round_fn_of(asked)(&copy, param, out, a, err);
}

} // namespace

TEST_CASE("policies decide the same without counts, and read what they say they read",
          "[simulation][property]")
{
    test_grid g;
    g.add("cr", 1, 2, 6);
    g.groups[0].fails = true;
    g.groups[0].failure = distribution_exponential(3000);
    g.groups[0].restore = distribution_exponential(400);
    for (int i = 0; i < 150; i++)
        g.job(20 * (i / 3), 200 + 9 * (i % 40)).checkpoint_overhead_s = 1;
    g.s.scheduler_interval_s = 7;
    g.s.stop_time_s = 8000;
    g.prepare();
    for (const struct policy *table :
         {replication_policies, fault_tolerance_policies, dispatch_policies})
        for (asked = table; asked->name; asked++) {
            struct policy other = *asked;

            INFO(asked->name);
            other.run = reinterpret_cast<policy_fn *>(poorer);
            // This one looks hours ahead for each job, which takes half a minute there.
            bool is_slow = strcmp(asked->name, "expected_time") == 0 ||
                           strcmp(asked->name, "joint") == 0;
            bool shorter = is_slow && is_shorter();
            g.s.stop_time_s = shorter ? 1200 : 8000;
            for (uint64_t seed : {1, 2}) {
                bound_policy p, again;

                if (shorter && seed > 1)
                    continue;
                for (bound_policy *x : {&p, &again}) {
                    x->round(asked->name);
                    if (seed % 2) // without, nobody takes any
                        x->checkpoint("periodic", {option("initial_interval_s", 100)});
                }
                again.policy.round = &other;
                sim_run_out x = run_scenario(g.s, p, seed, g.a),
                            y = run_scenario(g.s, again, seed, g.a);
                CHECK(x.metrics.jobs_done > (shorter ? 5 : 30));
                CHECK(x.event_hash == y.event_hash);
                CHECK(memcmp(&x.metrics, &y.metrics, sizeof(x.metrics)) == 0);
            }
        }
}
