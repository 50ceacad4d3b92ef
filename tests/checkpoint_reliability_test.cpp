// checkpoint_reliability_test.cpp - what checkpoint policies know of a resource.
#include "tests/support.hpp"

#include <cmath>
#include <limits>
#include <vector>

extern "C" {
#include "models/reliability.h"
}

static const double UNKNOWN = std::numeric_limits<double>::quiet_NaN();

static reliability of(const std::vector<failure_interval> &failures, double since_s,
                      double now_s, std::vector<double> *gaps = nullptr)
{
    test_arena a;
    reliability r{};
    size_t gap_count = 0;
    std::vector<double> gap_s(failures.size() + 1);
    reliability_of(failures.data(), failures.size(), since_s, now_s, &r, gap_s.data(),
                   &gap_count, a);
    gap_s.resize(gap_count);
    if (gaps)
        *gaps = gap_s;
    return r;
}

TEST_CASE("estimators from counters follow fault-tolerance.md 3", "[checkpoint]")
{
    const double now_s = 50000;
    std::vector<failure_interval> failures = {
        {30000, 33000}, {10000, 11000}, {36000, 36500}};
    std::vector<double> gaps;
    reliability stored = of(failures, 0, now_s, &gaps), counted;
    reliability_begin(&counted, 0);
    for (size_t i : {1, 0, 2}) {
        reliability_fail(&counted, failures[i].down_at_s);
        reliability_restore(&counted, failures[i].up_at_s);
    }
    CHECK(gaps == std::vector<double>{20000, 6000});
    for (const reliability &r : {stored, counted}) {
        CHECK(r.failure_count == 3);
        CHECK(reliability_mean_s(&r, MF_CENSORED, now_s) ==
              Approx(16666.6667).epsilon(1e-8));
        CHECK(reliability_mean_s(&r, MF_GAP_MEAN, now_s) == 12000);
        CHECK(reliability_mean_s(&r, MF_UPTIME_MEAN, now_s) ==
              Approx(15166.6667).epsilon(1e-8));
        CHECK(reliability_failure_age_s(&r, now_s) == 14000);
        CHECK(reliability_uptime_s(&r, now_s) == 13500);
        CHECK(reliability_mttr_s(&r) == 1500);
        CHECK(reliability_availability_ratio(&r, now_s) == Approx(0.91).epsilon(1e-12));
    }
}

TEST_CASE("availability from counters follows fault-tolerance.md 2.2", "[checkpoint]")
{
    reliability r = of({{1000, 1200}, {5000, 5300}}, 0, 86400);
    CHECK(100 * reliability_availability_ratio(&r, 86400) ==
          Approx(99.42129629629629).epsilon(1e-13));
    CHECK(50 * (reliability_availability_ratio(&r, 86400) + 1) ==
          Approx(99.71064814814815).epsilon(1e-13));
    r = of({}, 0, 0);
    CHECK(std::isnan(reliability_availability_ratio(&r, 0)));
    CHECK(std::isnan(reliability_mttr_s(&r)));
    r = of({}, 100, 1100);
    CHECK(reliability_availability_ratio(&r, 1100) == 1);
}

TEST_CASE("a resource that was never seen to fail has its age", "[checkpoint]")
{
    reliability r = of({}, 400, 1000);
    for (mf_estimator e : {MF_CENSORED, MF_GAP_MEAN, MF_UPTIME_MEAN})
        CHECK(reliability_mean_s(&r, e, 1000) == 600);
    CHECK(reliability_failure_age_s(&r, 1000) == 600);
    CHECK(reliability_uptime_s(&r, 1000) == 600);
    // a clock that goes backwards gives no negative times
    CHECK(reliability_mean_s(&r, MF_CENSORED, 100) == 0);
    CHECK(reliability_failure_age_s(&r, 100) == 0);
    CHECK(reliability_uptime_s(&r, 100) == 0);
    CHECK(reliability_shrunk_mean_s(&r, MF_CENSORED, 1000, 200, 1) == 800);
    r = of({{500, 600}}, 400, 1000);
    CHECK(reliability_shrunk_mean_s(&r, MF_CENSORED, 1000, 200, 1) == 400);
}

TEST_CASE("overlapping, open and outer failures", "[checkpoint]")
{
    std::vector<double> gaps;
    reliability r = of({{100, 300}, {200, 250}, {300, 400}, {900, UNKNOWN}, {1200, 1300}},
                       0, 1000, &gaps);
    CHECK(r.failure_count == 2); // 100 to 400, and 900
    CHECK(r.down);
    CHECK(reliability_uptime_s(&r, 1000) == 0);
    CHECK(reliability_uptime_total_s(&r, 1000) == 600);
    CHECK(gaps == std::vector<double>{100, 100, 600});

    r = of({{50, 150}, {20, 30}}, 100, 1000); // down when it was first seen
    CHECK(r.failure_count == 0);
    CHECK(reliability_uptime_total_s(&r, 1000) == 850);
    CHECK(reliability_failure_age_s(&r, 1000) == 900);
    CHECK(std::isnan(reliability_mttr_s(&r)));

    r = of({{700, 800}}, UNKNOWN, 1000); // seen from its first failure on
    CHECK(r.observed_since_s == 700);
    CHECK(reliability_mean_s(&r, MF_CENSORED, 1000) == 300);

    reliability_begin(&r, 0);
    reliability_restore(&r, 10); // it is up
    reliability_fail(&r, 20);
    reliability_fail(&r, 30); // it is down
    CHECK(r.failure_count == 1);
    CHECK(r.last_failure_at_s == 20);
    CHECK(r.repair_count == 0);
}

TEST_CASE("counters agree with failure_stats", "[checkpoint][property]")
{
    rng random = rng_stream(1, "checkpoint_reliability_test");
    for (int round = 0; round < 500; round++) {
        std::vector<failure_interval> list(rng_index(&random, 12));
        for (auto &f : list) {
            f.down_at_s = std::floor(rng_uniform(&random) * 1200) - 100;
            f.up_at_s = f.down_at_s + std::floor(rng_uniform(&random) * 80);
            if (rng_uniform(&random) < 0.03)
                f.up_at_s = UNKNOWN;
        }
        test_arena a;
        error err{};
        failure_stats s{};
        CAPTURE(round);
        REQUIRE(failure_stats_fit(list.data(), list.size(), 0, 1000, &s, a, &err) == OK);
        reliability r = of(list, 0, 1000);
        REQUIRE(r.failure_count == s.outage_count);
        REQUIRE(r.down == s.down);
        REQUIRE(reliability_uptime_s(&r, 1000) == Approx(s.uptime_s));
        REQUIRE(reliability_uptime_total_s(&r, 1000) == Approx(1000 - s.downtime_s));
        REQUIRE(reliability_mean_s(&r, MF_CENSORED, 1000) == Approx(s.mtbf_censored_s));
        REQUIRE(reliability_mean_s(&r, MF_UPTIME_MEAN, 1000) ==
                Approx(s.mtbf_uptime_mean_s));
    }
}
