#include "support.hpp"

extern "C" {
#include "algorithms/checkpoint/times.h"
}

#include <cmath>

namespace
{

checkpoint_in blank()
{
    checkpoint_in in{};

    in.execution_time_s = in.remaining_s = NAN;
    return in;
}

// 1,000 MIPS, of which a half is there and 100 are others', for two jobs: 200 each.
resource shared()
{
    resource r{};

    r.mips_total = 1000;
    r.cpu_available_ratio = 0.5;
    r.mips_external = 100;
    r.job_count = 2;
    return r;
}

} // namespace

TEST_CASE("a job's times follow from its length and its share of the resource",
          "[checkpoint]")
{
    const resource half = shared();
    resource idle = half, busy = half;

    idle.job_count = 0; // a job that is alone has all of it
    busy.mips_external = 500;
    struct {
        const char *when;
        double length_mi, completed_mi;
        const resource *r;
        double want_s, want_left_s;
    } cases[] = {
        {"nothing is done", 2000, NAN, &half, 10, 10},
        {"a quarter is done", 2000, 500, &half, 10, 7.5},
        {"all is done", 2000, 2000, &half, 10, 0},
        {"more than all is done", 2000, 3000, &half, 10, 0},
        {"nobody is there", 2000, NAN, &idle, 5, 5},
        {"others take it all", 2000, 500, &busy, HUGE_VAL, HUGE_VAL},
        {"others take it all, but it is done", 2000, 2000, &busy, HUGE_VAL, 0},
        {"no resource", 2000, 500, nullptr, NAN, NAN},
        {"no length", NAN, NAN, &half, NAN, NAN},
        {"no length, and some of it done", NAN, 500, &half, NAN, NAN},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            checkpoint_in in = blank();
            checkpoint_fill_times(c.length_mi, c.completed_mi, c.r, &in);
            if (std::isnan(c.want_s))
                CHECK(std::isnan(in.execution_time_s));
            else
                CHECK(in.execution_time_s == c.want_s);
            if (std::isnan(c.want_left_s))
                CHECK(std::isnan(in.remaining_s));
            else
                CHECK(in.remaining_s == c.want_left_s);
        }
}

TEST_CASE("times that are given stay, and say the speed", "[checkpoint]")
{
    const resource r = shared();
    checkpoint_in in = blank();

    in.execution_time_s = 100;
    checkpoint_fill_times(2000, 500, &r, &in);
    CHECK(in.execution_time_s == 100);
    CHECK(in.remaining_s == 75);
    in.remaining_s = 3;
    checkpoint_fill_times(2000, 500, &r, &in);
    CHECK(in.remaining_s == 3);
    in = blank();
    in.execution_time_s = 100; // without a length all of it is left
    checkpoint_fill_times(NAN, 500, nullptr, &in);
    CHECK(in.remaining_s == 100);
}
