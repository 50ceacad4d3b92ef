// job_hazard_test.cpp - how soon any of several nodes fails, and what spares are worth.
#include "tests/support.hpp"

#include <cmath>
#include <vector>

extern "C" {
#include "models/job_hazard.h"
}

namespace
{
failure_law weibull(double shape, double mean_s, double age_s, double count)
{
    return {shape, mean_s / std::tgamma(1 + 1 / shape), age_s, NAN, count};
}

failure_law exponential(double mean_s, double count)
{
    return {NAN, NAN, 0, mean_s, count};
}
} // namespace

TEST_CASE("64 aged nodes as one job", "[job_hazard]")
{
    std::vector<failure_law> laws;

    for (int i = 0; i < 64; i++)
        laws.push_back(weibull(0.7, 5e6, 86400.0 * (1 + 3 * i), 1));
    job_hazard h = {laws.data(), laws.size()};
    CHECK(1 / job_hazard_per_s(&h, 0) == Approx(94670.31).epsilon(1e-7));
    CHECK(job_hazard_survival(&h, 20000) == Approx(0.810036).epsilon(1e-6));
    CHECK(job_hazard_survival(&h, 20000) == Approx(0.8107).margin(7e-4)); // as drawn
    CHECK(job_hazard_mean_s(&h) == Approx(5e6 / 64).epsilon(1e-12));
    CHECK_FALSE(job_hazard_is_constant(&h));
}

TEST_CASE("a law and its inverse", "[job_hazard][property]")
{
    for (double shape : {0.3, 0.7, 1.0, 2.5})
        for (double age_s : {0.0, 1.0, 5e3, 1e7})
            for (double t_s : {0.0, 1.0, 100.0, 1e5}) {
                failure_law law = weibull(shape, 86400, age_s, 1);
                double sum = failure_law_cumulated(&law, t_s);
                CAPTURE(shape, age_s, t_s);
                CHECK(sum >= 0);
                CHECK(failure_law_time_s(&law, sum) ==
                      Approx(t_s).epsilon(1e-6).margin(1e-8 * age_s + 1e-9));
            }
    failure_law law = exponential(50, 1);
    CHECK(failure_law_cumulated(&law, 100) == 2);
    CHECK(failure_law_time_s(&law, 2) == 100);
    CHECK(failure_law_mean_s(&law) == 50);
    law = weibull(1, 50, 7, 1); // a shape of 1 is exponential, whatever the age
    CHECK(failure_law_cumulated(&law, 100) == Approx(2).epsilon(1e-12));
}

TEST_CASE("equal nodes are one row, and so are all exponential ones", "[job_hazard]")
{
    std::vector<failure_law> laws = {weibull(0.7, 1000, 5, 2), exponential(100, 1),
                                     weibull(0.7, 1000, 6, 1), weibull(0.7, 1000, 5, 3),
                                     exponential(300, 6),      weibull(0.8, 1000, 5, 1)};
    std::vector<failure_law> before = laws;
    size_t count = failure_laws_join(laws.data(), laws.size());

    REQUIRE(count == 4);
    CHECK(laws[0].mean_s == Approx(1 / (1 / 100.0 + 6 / 300.0)).epsilon(1e-12));
    CHECK(laws[0].count == 1);
    CHECK(laws[1].count == 5);
    job_hazard all = {before.data(), before.size()}, joined = {laws.data(), count};
    for (double t_s : {1.0, 50.0, 5000.0}) {
        CHECK(job_hazard_per_s(&joined, t_s) ==
              Approx(job_hazard_per_s(&all, t_s)).epsilon(1e-12));
        CHECK(job_hazard_survival(&joined, t_s) ==
              Approx(job_hazard_survival(&all, t_s)).epsilon(1e-12));
    }
    CHECK(failure_laws_join(laws.data(), 0) == 0);
    CHECK(failure_laws_join(laws.data(), 1) == 1);
}

TEST_CASE("waiting for a spare", "[job_hazard]")
{
    const struct {
        double nodes, mean_s, mttr_s, spares, probability, delay_s;
    } cases[] = {
        {64, 5e6, 14400, 0, 1, 14700},
        {64, 5e6, 14400, 1, 0.155634, 1420.562},
        {64, 5e6, 14400, 2, 0.014140, 367.874},
        {256, 2e6, 36000, 2, 0.654357, 8152.284},
    };

    for (auto &c : cases) {
        spare_wait wait = spare_wait_of(c.spares, c.mttr_s, c.mean_s / c.nodes, 300);
        CAPTURE(c.nodes, c.spares);
        CHECK(wait.probability == Approx(c.probability).margin(5e-7));
        CHECK(wait.delay_s == Approx(c.delay_s).margin(6e-4));
    }
    CHECK(spare_wait_of(1e6, 14400, 5e6, 300).delay_s == 300);
    CHECK(spare_wait_of(3, 0, 5e6, 300).delay_s == 300);
}
