// reliability_examples_test.cpp - numbers of reliability.md 7 that the tests of their
// parts leave out: what the best is better than, and what a job is told in the end.
#include "tests/support.hpp"

#include <cmath>
#include <vector>

extern "C" {
#include "algorithms/checkpoint/finite_plan.h"
#include "algorithms/checkpoint/levels.h"
#include "algorithms/checkpoint/shared_io.h"
#include "models/failure_rate.h"
#include "models/failure_stats.h"
#include "models/job_hazard.h"
}

namespace
{
constexpr double least_s = 1;

struct costs {
    double c, m, r, d, w, r0;

    finite_job job() const
    {
        return {w, m, c, r, r0, d, least_s};
    }
};

// Time of given works, an attempt after the other (3.3).
double time_of(const costs &x, const std::vector<double> &works)
{
    double sum_s = 0;

    for (size_t i = 0; i < works.size(); i++) {
        double restart_s = i == 0 ? x.r0 : x.r;
        double end_s = works[i] + (i + 1 < works.size() ? x.c : 0);
        sum_s += (x.m + x.d) * std::exp(restart_s / x.m) * std::expm1(end_s / x.m);
    }
    return sum_s;
}

// Of example 4: two hosts of ten days, one of five, two of ten, one of one day.
const failure_exposure hosts[] = {{864000, 0}, {864000, 1}, {432000, 0},
                                  {864000, 5}, {864000, 2}, {86400, 0}};

// Expected time of n segments when the rate is Gamma(shape, rate): E[e^(xL)/x] and
// E[e^(xL)] are known.
double mean_time_s(const costs &x, const failure_rate &of, double n)
{
    double s = of.shape, r = of.rate_s;
    double length_s = (x.w + (n - 1) * (x.c + x.r) + x.r0) / n;
    auto term = [&](double length) {
        double power = std::exp(s * std::log(r) - (s - 1) * std::log(r - length));
        return power / (s - 1) + x.d * power / (r - length);
    };

    return n * term(length_s) - term(x.r0) - (n - 1) * term(x.r);
}
} // namespace

TEST_CASE("example 1: equal segments and exact's interval are worse", "[checkpoint]")
{
    const struct {
        costs of;
        double first_s, last_s, equal_s, interval_s, percent;
    } cases[] = {
        {{1200, 21600, 1200, 0, 7200, 1200}, 7200, NAN, 9033.398008, 6423.2284, 16.24},
        {{300, 3600, 600, 0, 1500, 600}, 1500, NAN, 2198.309086, 1276.8766, 18.70},
        {{300, 3600, 300, 0, 2600, 300}, 1150, 1450, 3891.515378, NAN, 12.12},
        {{60, 3600, 60, 0, 700, 60}, 700, NAN, 785.675681, 617.8906, 7.28},
        {{600, 7200, 600, 0, 36000, 600},
         2528.571429,
         3128.571429,
         59663.583488,
         NAN,
         1.45},
        {{600, 21600, 600, 300, 43200, 600},
         4733.333333,
         5333.333333,
         56766.182486,
         NAN,
         0.98},
        {{60, 86400, 120, 600, 432000, 120}, NAN, NAN, 452187.458485, NAN, NAN},
    };

    for (auto &c : cases) {
        finite_job job = c.of.job();
        finite_plan plan = finite_best(&job);
        double interval_s = finite_endless_interval_s(c.of.c, c.of.m);
        std::vector<double> equal((size_t)plan.count, c.of.w / plan.count);
        CAPTURE(c.of.w, c.of.m);
        CHECK(time_of(c.of, equal) == Approx(c.equal_s).epsilon(2e-9));
        CHECK(plan.expected_s <= time_of(c.of, equal) * (1 + 1e-12));
        if (!std::isnan(c.first_s))
            CHECK(plan.first_s == Approx(c.first_s).epsilon(1e-9));
        if (!std::isnan(c.last_s)) {
            CHECK(plan.last_s == Approx(c.last_s).epsilon(1e-9));
            CHECK(plan.last_s - plan.first_s == Approx(c.of.c).epsilon(1e-9));
        }
        if (!std::isnan(c.interval_s))
            CHECK(interval_s == Approx(c.interval_s).margin(6e-5));
        if (!std::isnan(c.percent))
            CHECK(100 *
                      (finite_expected_of_interval_s(&job, interval_s) / plan.expected_s -
                       1) ==
                  Approx(c.percent).margin(5.1e-3));
    }
}

TEST_CASE("example 2: an image before any work is worth it", "[checkpoint]")
{
    finite_job job = costs{60, 3600, 60, 0, 3600, 1200}.job();

    CHECK(finite_expected_s(&job, 4) == Approx(4599.859216).epsilon(1e-9));
    CHECK(finite_best(&job).expected_s == Approx(4430.538808).epsilon(1e-9));
    CHECK(1 - 4430.538808 / 4599.859216 == Approx(0.038).margin(2e-3));
    job = costs{600, 21600, 600, 300, 43200, 7200}.job();
    finite_plan plan = finite_best(&job);
    CHECK(plan.first_s == 0);
    CHECK(plan.middle_s + job.overhead_s + job.restart_s ==
          Approx(5933.333333).epsilon(1e-9));
}

TEST_CASE("example 5: the mean rate gives the best plan under what is not known",
          "[reliability]")
{
    rate_prior prior{};
    costs x{600, 0, 600, 300, 432000, 600};

    REQUIRE(rate_prior_fit(hosts, 6, &prior));
    failure_rate rate = failure_rate_of(hosts[5], &prior, MEAN_FLOOR_PRESET_S);
    CHECK(rate.mean_s == Approx(586179.921).epsilon(1e-6));
    x.m = rate.mean_s;
    finite_job job = x.job();
    CHECK(finite_best(&job).count == 17);
    CHECK(mean_time_s(x, rate, 17) == Approx(452341.27).epsilon(1e-7));
    for (double n = 1; n < 60; n++)
        CHECK(mean_time_s(x, rate, n) >= mean_time_s(x, rate, 17));
    // the median of the rate is not as good
    job.mean_s = rate.rate_s / gamma_quantile(rate.shape, 0.5);
    CHECK(finite_best(&job).count == 15);
    CHECK(mean_time_s(x, rate, 15) == Approx(452457.38).epsilon(1e-7));
}

TEST_CASE("example 6: what Young's interval becomes", "[reliability]")
{
    failure_rate floored = failure_rate_of({600, 0}, nullptr, MEAN_FLOOR_PRESET_S);
    failure_rate fifty = failure_rate_of({500000, 50}, nullptr, MEAN_FLOOR_PRESET_S);

    CHECK(floored.floor_applied);
    CHECK(std::sqrt(2 * 60 * floored.mean_s) == Approx(3219.937888).epsilon(1e-9));
    CHECK_FALSE(fifty.floor_applied);
    CHECK(std::sqrt(2 * 60 * fifty.mean_s) == Approx(1090.008629).epsilon(1e-9));
    // The same history where repairs that overlap are one outage.
    std::vector<failure_interval> downs;
    for (int i = 0; i < 50; i++)
        downs.push_back({10000.0 * i, 10000.0 * i + 20000});
    failure_stats merged{};
    test_arena memory;
    error err{};
    REQUIRE(failure_stats_fit(downs.data(), downs.size(), 0, 500000, &merged, memory,
                              &err) == OK);
    CHECK(merged.failure_count == 50);
    CHECK(merged.outage_count == 1);
    CHECK(merged.mtbf_censored_s == 500000);
    CHECK(std::sqrt(2 * 60 * merged.mtbf_censored_s) ==
          Approx(7745.966692).epsilon(1e-9));
    // README's m0: three failures, no observation
    failure_rate m0 = failure_rate_of({4406400, 2}, nullptr, MEAN_FLOOR_PRESET_S);
    CHECK(m0.mean_s == 1762560);
    CHECK(m0.few_failures);
}

TEST_CASE("example 7: four unlike hosts as one job, and 64 aged ones", "[reliability]")
{
    rate_prior prior{};
    rate_sum sum{};

    REQUIRE(rate_prior_fit(hosts, 6, &prior));
    for (int i = 0; i < 4; i++) {
        failure_rate rate = failure_rate_of(hosts[i], &prior, MEAN_FLOOR_PRESET_S);
        rate_sum_add(&sum, &rate, 1);
    }
    double mean_s = rate_sum_total(&sum).mean_s;
    CHECK(std::sqrt(2 * 600 * mean_s) == Approx(12587.617824).epsilon(1e-6));
    finite_job job = costs{600, mean_s, 600, 300, 864000, 0}.job();
    finite_plan plan = finite_best(&job);
    CHECK(plan.count == 71);
    CHECK(plan.last_s + job.restart_s == Approx(13352.112677).epsilon(1e-9));
    CHECK(plan.first_s == Approx(12752.112677).epsilon(1e-9));
    CHECK(plan.middle_s == Approx(12152.112677).epsilon(1e-9));
    CHECK(plan.expected_s == Approx(957664.334273).epsilon(1e-6));

    std::vector<failure_law> laws;
    for (int i = 0; i < 64; i++)
        laws.push_back(
            {0.7, 5e6 / std::tgamma(1 + 1 / 0.7), 86400.0 * (1 + 3 * i), NAN, 1});
    job_hazard h = {laws.data(), laws.size()};
    double x_s = 10000;
    for (int i = 0; i < 100; i++)
        x_s = std::sqrt(2 * 600 / job_hazard_per_s(&h, x_s / 2));
    CHECK(x_s == Approx(10666.662).epsilon(1e-7));
    CHECK(std::sqrt(2 * 600 * job_hazard_mean_s(&h)) == Approx(9682.458).epsilon(1e-7));
}

TEST_CASE("example 10: the first order of four levels, and one left out", "[checkpoint]")
{
    const std::vector<level> all = {
        {5, 5, 0.5}, {15, 15, 0.75}, {40, 60, 0.9}, {300, 300, 1}};
    const double added_s[] = {5, 10, 25, 260},
                 interval_s[] = {848.5, 1697.1, 3464.1, 13682.1};
    levels_job job = {all.data(), all.size(), 36000, 60, nullptr};
    double first_order = 0;

    for (size_t i = 0; i < 4; i++)
        first_order += 2 * added_s[i] / interval_s[i];
    CHECK(levels_best(&job).first_order_ratio == Approx(first_order).epsilon(1e-4));
    // without level 2 its failures go back to level 3
    const std::vector<level> left = {all[0], all[2], all[3]};
    job.levels = left.data();
    job.level_count = left.size();
    levels_pattern best = levels_best(&job);
    CHECK(best.level_count == 3);
    CHECK(best.overhead_ratio == Approx(0.085831).margin(1e-6));
}

TEST_CASE("example 11: a host that nearly never lives", "[fault_tolerance]")
{
    // C and R, which the example leaves out, are 30 s by its figure
    finite_job bad = costs{30, 200, 30, 60, 8910.89, 0}.job();
    finite_plan plan = finite_best(&bad);

    CHECK(plan.count == 98);
    CHECK(plan.expected_s == Approx(24464.8).margin(0.06));
    CHECK(finite_expected_s(&bad, 1) > 1e15);
}

TEST_CASE("example 16: one period for all would be too much", "[checkpoint]")
{
    shared_io_job jobs[] = {{"a", 600, 20000, 512, NAN, NAN, NAN, NAN},
                            {"b", 300, 40000, 256, NAN, NAN, NAN, NAN},
                            {"c", 120, 80000, 64, NAN, NAN, NAN, NAN},
                            {"d", 400, 30000, 128, NAN, NAN, NAN, NAN}};
    shared_io_load load{};
    double together = 0;

    shared_io_intervals(jobs, 4, 0.2, &load);
    for (auto &j : jobs)
        together += j.overhead_s / jobs[0].interval_s;
    CHECK(jobs[0].interval_s == Approx(6056.891).margin(6e-4));
    CHECK(together == Approx(0.2344).margin(6e-5));
}
