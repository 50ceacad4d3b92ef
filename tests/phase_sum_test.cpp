#include "support.hpp"

extern "C" {
#include "models/performance/phase_sum.h"
}

#include <cmath>

TEST_CASE("phases are summed, and a share that is known stands for a missing one",
          "[performance]")
{
    phase_sum sum{};

    phase_sum_add(&sum, 60, 50, 80);
    phase_sum_add(&sum, 20, 10, 20);
    SECTION("all there")
    {
        REQUIRE(phase_sum_end(&sum));
        CHECK(sum.time_s == 80);
        CHECK(sum.low_s == 60);
        CHECK(sum.high_s == 100);
    }
    SECTION("a fifth of the run is missing")
    {
        phase_sum_miss(&sum, 0.125);
        phase_sum_miss(&sum, 0.075);
        phase_sum_miss(&sum, 0);
        REQUIRE(phase_sum_end(&sum));
        CHECK(sum.time_s == Approx(100).epsilon(1e-12));
        CHECK(sum.low_s == Approx(75).epsilon(1e-12));
        CHECK(sum.high_s == Approx(125).epsilon(1e-12));
    }
    SECTION("a share is not known")
    {
        phase_sum_miss(&sum, NAN);
        CHECK_FALSE(phase_sum_end(&sum));
        CHECK(std::isnan(sum.time_s));
        CHECK(std::isnan(sum.low_s));
        CHECK(std::isnan(sum.high_s));
    }
    SECTION("shares of all of it")
    {
        phase_sum_miss(&sum, 0.5);
        phase_sum_miss(&sum, 0.5);
        CHECK_FALSE(phase_sum_end(&sum));
    }
}

TEST_CASE("no phase takes no time", "[performance]")
{
    phase_sum sum{};

    REQUIRE(phase_sum_end(&sum));
    CHECK(sum.time_s == 0);
}
