// boundary_test.cpp - what happens exactly at a limit, at a tie, and where one element
// more or less makes the difference: small mistakes that larger tests do not see.
#include "tests/coallocation_support.hpp"
#include "tests/placement_support.hpp"
#include "tests/round_support.hpp"
#include "tests/workflow_support.hpp"

extern "C" {
#include "algorithms/checkpoint/checkpoint.h"
#include "algorithms/coallocation/advice.h"
#include "algorithms/coallocation/priority.h"
#include "algorithms/coallocation/slot.h"
#include "algorithms/replication/replication.h"
#include "algorithms/simulation/network.h"
#include "models/distribution.h"
#include "models/regression/internal.h"
#include "models/reliability.h"
}

TEST_CASE("olb takes the slot that is free first, of more resources than it scans",
          "[placement][boundary]")
{
    rng r = rng_create(3);

    for (size_t resources : {255, 256, 257, 300}) {
        world w;
        std::vector<double> free_s(resources), speed(resources);
        test_arena a;

        for (size_t i = 0; i < resources; i++) {
            speed[i] = 1 + (double)rng_index(&r, 3);
            w.host("m" + std::to_string(1000 + i), speed[i]);
        }
        for (size_t j = 0; j < 3 * resources; j++)
            w.task("j" + std::to_string(10000 + j), 6.0 * (double)(1 + rng_index(&r, 4)));
        placement_out out = decided(w, "olb", a);
        REQUIRE(out.placement_count == w.jobs.size());
        for (size_t j = 0; j < out.placement_count; j++) {
            auto best =
                std::min_element(free_s.begin(), free_s.end()); // the first of them
            size_t at = (size_t)(best - free_s.begin());

            INFO(resources << " resources, job " << j);
            REQUIRE(out.placements[j].start_s == *best);
            REQUIRE(out.placements[j].resource_id == std::string(w.resources[at].id));
            *best += w.jobs[j].estimate_ref_s / speed[at];
        }
    }
}

TEST_CASE("a job of two segments has no checkpoint behind the first image",
          "[checkpoint][boundary]")
{
    const policy *policy = policy_find(checkpoint_policies, "finite");
    size_t found = 0;

    for (double work_s = 50; work_s < 3000; work_s *= 1.1) {
        checkpoint_in in = checkpoint_in_unknown();
        checkpoint_out out{};
        double param[PARAMS_MAX];
        error err{};

        in.checkpoint_overhead_s = 20;
        in.mean_failure_interval_s = 2000;
        in.restart_s = 1;
        in.restart_from_scratch_s = 6000; // an image before any work pays
        in.reschedule_delay_s = 0;
        in.execution_time_s = in.remaining_s = work_s;
        in.start = true;
        REQUIRE(params_bind(policy->params, nullptr, 0, param, &err) == OK);
        REQUIRE(checkpoint_decide(policy, &in, param, &out, &err) == OK);
        if (out.reason != CHECKPOINT_REASON_IMAGE_FIRST)
            continue;
        INFO(work_s << " s in " << out.plan.count << " segments");
        if (out.plan.count <= 2)
            CHECK(out.next_request_in_s == HUGE_VAL);
        else
            CHECK(out.next_request_in_s == out.plan.middle_s);
        found |= out.plan.count <= 2 ? 1 : 2;
    }
    CHECK(found == 3); // both were met
}

TEST_CASE("a window with exactly the processors that are needed is enough",
          "[coallocation][boundary]")
{
    test_arena a;
    const co_window one[] = {{0, 10, 3}, {10, 30, 4}}, two[] = {{5, 30, 2}};
    co_slot_site sites[] = {{one, 2, 4}, {two, 1, 2}};
    double start_s = NAN;

    co_common_slot(sites, 2, 20, 0, 100, &start_s, a);
    CHECK(start_s == 10);
    sites[0].processors = 3;
    co_common_slot(sites, 2, 20, 0, 100, &start_s, a);
    CHECK(start_s == 5);
    sites[1].processors = 3;
    co_common_slot(sites, 2, 20, 0, 100, &start_s, a);
    CHECK(std::isnan(start_s));
}

TEST_CASE("who waits watches what each site lacks", "[coallocation][boundary]")
{
    coallocation_support::clusters c({3, 7, 5}, {});
    co_advised out{};

    co_advise(&c.grid, 8, 2, 1.25, &out, c.a);
    CHECK(out.advice == CO_ADVICE_WAIT);
    REQUIRE(out.watch_count == 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK(out.watch[i].site == c.site(i == 0 ? "B" : i == 1 ? "C" : "A"));
        CHECK(out.watch[i].processors_short == (i == 0 ? 1u : i == 1 ? 3u : 5u));
    }
}

TEST_CASE("a run time on the threshold has the higher level", "[coallocation][boundary]")
{
    auto level = [](double run_time_s) {
        return co_priority_by_runtime(run_time_s, co_runtime_thresholds_s,
                                      CO_RUNTIME_THRESHOLDS);
    };

    for (size_t i = 0; i < CO_RUNTIME_THRESHOLDS; i++) {
        double at_s = co_runtime_thresholds_s[i];

        CHECK(level(at_s) == CO_LEVEL_COUNT - 1 - i);
        CHECK(level(std::nextafter(at_s, HUGE_VAL)) == CO_LEVEL_COUNT - 2 - i);
    }
    CHECK(level(NAN) == CO_SUPER_LOW);
}

TEST_CASE("earliest counts the job itself among those that share the resource",
          "[replication][boundary]")
{
    rounds rs;
    grid g;

    g.resource(0, 10, 9, 3); // 2.5 for each of four
    g.resource(0, 4, 9, 1);  // 2 for each of two
    g.job();
    CHECK(action_texts(rs.run(policy_find(replication_policies, "unconditional"), g,
                              {{"replicas", 1}, {"placement", 2}})) ==
          texts{"start J0 R0"});
}

TEST_CASE("the link that is full first holds the flows, whatever its capacity",
          "[simulation][boundary]")
{
    network_flow flows[2] = {{1, HUGE_VAL, 2, {0, 1}, 0}, {4, HUGE_VAL, 1, {1}, 0}};
    double left[2] = {4, 10}, sum[2];

    network_share(flows, 2, left, sum, 2);
    CHECK(flows[0].rate_mbps == Approx(2)); // 10 in five parts, before 4 in one
    CHECK(flows[1].rate_mbps == Approx(8));
    CHECK(left[0] == Approx(2));
    CHECK(left[1] == Approx(0).margin(1e-12));
}

TEST_CASE("tasks of one second are part of the grain", "[workflow][boundary]")
{
    // 1 + 2 + 2 on two equal processors: 3 is possible, and a grain of 2 would say 4.
    test_arena a;
    error err = collecting_error(a);
    flows::request r = flows::by_matrix({{1, 1}, {2, 2}, {2, 2}}, {});
    workflow_out out{};

    REQUIRE(workflow_decide(r.build(), policy_find(workflow_policies, "search"), nullptr,
                            0, &out, a, &err) == OK);
    CHECK(out.objective.makespan_s == 3);
    CHECK(out.objective.lower_bound_s <= 3);
    CHECK(out.status == DECISION_OPTIMAL);
}

TEST_CASE("the mean by Jeffreys' prior adds half a failure", "[reliability][boundary]")
{
    reliability r{};

    reliability_begin(&r, 0);
    CHECK(reliability_mean_s(&r, MF_BAYES, 100) == 200);
    reliability_fail(&r, 100);
    reliability_restore(&r, 110);
    CHECK(reliability_mean_s(&r, MF_BAYES, 140) == Approx(130 / 1.5).epsilon(1e-15));
}

TEST_CASE("foreign load takes from the speed, and slots share it", "[models][boundary]")
{
    resource r = flows::make_resource("m", 1000);

    r.cpu_available_ratio = 0.5;
    r.mips_external = 200;
    CHECK(resource_speed_mips(&r) == 300);
    r.mips_external = 500;
    CHECK(resource_speed_mips(&r) == 0);
    r.mips_external = 0;
    r.n_max = 2;
    r.sharing = SHARING_EQUAL;
    CHECK(resource_speed_mips(&r) == 250);
}

TEST_CASE("weights that are all zero are a mistake", "[distribution][boundary]")
{
    const double values[] = {1, 2}, none[] = {0, 0}, one[] = {0, 1};
    distribution d = distribution_blank(DISTRIBUTION_EMPIRICAL);
    test_arena a;
    error err = collecting_error(a);

    d.values = values;
    d.value_count = d.weight_count = 2;
    d.weights = none;
    CHECK(distribution_prepare(&d, "/d", a, &err) == ERR_INVALID);
    REQUIRE(err.first);
    CHECK(std::string(err.first->pointer) == "/d/weights");
    d.weights = one;
    error fine = collecting_error(a);
    REQUIRE(distribution_prepare(&d, "/d", a, &fine) == OK);
    CHECK(distribution_mean(&d) == 2);
}

TEST_CASE("of names that are equally near the first is meant", "[models][boundary]")
{
    const char *const names[] = {"cpus_a", "cpus_b", "cpus_c", nullptr};

    CHECK(std::string(names_nearest("cpus_x", names, 3)) == "cpus_a");
}

TEST_CASE("quantiles of Student's distribution are those of tables",
          "[regression][boundary]")
{
    // Two-sided; Abramowitz and Stegun, table 26.10.
    const struct {
        double level, freedom, quantile;
    } rows[] = {{0.9, 1, 6.314},  {0.95, 1, 12.706}, {0.9, 2, 2.920},  {0.95, 2, 4.303},
                {0.9, 3, 2.353},  {0.95, 3, 3.182},  {0.9, 4, 2.132},  {0.95, 5, 2.571},
                {0.9, 10, 1.812}, {0.95, 11, 2.201}, {0.99, 30, 2.750}};

    for (auto &row : rows) {
        INFO(row.level << " " << row.freedom);
        CHECK(student_quantile(row.level, row.freedom) ==
              Approx(row.quantile).margin(6e-4));
    }
}
