// checkpoint_interruptions_test.cpp - machines that are taken back after a notice.
#include "tests/support.hpp"

#include <random>

extern "C" {
#include "algorithms/checkpoint/interruptions.h"
}

namespace
{
const finite_job worked = {86400, 200000, 60, 120, 120, 300, 1};

// The plan played with failures, and with interruptions that are foreseen: at each the
// job is saved in time. A delay is free of both.
double play(const finite_job &job, const interruptions &x, const finite_plan &plan,
            std::mt19937_64 &random, double *busy_s)
{
    std::exponential_distribution<double> failure(1 / job.mean_s), told(x.per_s);
    double time_s = 0, done_s = 0, saved_s = 0, restart_s = 0, held_s = 0;
    auto due = [&] { // the work at which the next checkpoint is written
        double end_s = plan.first_s;
        while (end_s <= saved_s + 1e-9)
            end_s += plan.middle_s;
        return end_s > job.work_s - plan.last_s + 1e-9 ? job.work_s : end_s;
    };

    for (;;) {
        double to_s = due(), c_s = to_s < job.work_s ? job.overhead_s : 0;
        double span_s = restart_s + to_s - done_s + c_s;
        double fails_s = failure(random), told_s = told(random);
        double lasts_s = std::min({fails_s, told_s, span_s});

        time_s += lasts_s;
        held_s += lasts_s;
        if (lasts_s == span_s) {
            if (to_s == job.work_s) {
                *busy_s += held_s;
                return time_s;
            }
            done_s = saved_s = to_s;
            restart_s = 0;
            continue;
        }
        if (lasts_s == told_s) { // what is done is saved, whatever it was at
            double worked_s = std::min(std::max(lasts_s - restart_s, 0.0), to_s - done_s);
            done_s = saved_s = saved_s > done_s + worked_s ? saved_s : done_s + worked_s;
            time_s += x.overhead_s;
            held_s += x.overhead_s;
        } else {
            done_s = saved_s;
        }
        time_s += job.delay_s;
        restart_s = job.restart_s;
    }
}
} // namespace

TEST_CASE("the worked spot machine", "[checkpoint]")
{
    interruptions x = {1.0 / 14400, 120, 60};
    interrupted_plan told = interrupted_best(&worked, &x);

    CHECK(told.is_foreseen);
    CHECK(told.plan.count == 18);
    CHECK(told.plan.expected_s == Approx(88675.99).epsilon(1e-7));
    CHECK(told.expected_s == Approx(91631.86).epsilon(1e-7));
    x.notice_s = 0;
    interrupted_plan struck = interrupted_best(&worked, &x);
    CHECK_FALSE(struck.is_foreseen);
    CHECK(struck.plan.count == 70);
    CHECK(struck.expected_s == Approx(98036.83).epsilon(1e-7));
    CHECK(struck.expected_s > told.expected_s);
    CHECK(told.busy_s < told.expected_s);
    CHECK(told.busy_s > worked.work_s);
}

TEST_CASE("drawn interruptions agree with the count of their costs", "[checkpoint]")
{
    interruptions x = {1.0 / 14400, 120, 60};
    interrupted_plan told = interrupted_best(&worked, &x);
    std::mt19937_64 random(8);
    double sum = 0, busy_s = 0;
    const int trials = 4000;

    for (int trial = 0; trial < trials; trial++)
        sum += play(worked, x, told.plan, random, &busy_s);
    // An interruption's image takes the place of a planned one now and then.
    CHECK(told.expected_s == Approx(sum / trials).epsilon(0.004));
    CHECK(told.expected_s > sum / trials * 0.999);
    CHECK(told.busy_s == Approx(busy_s / trials).epsilon(0.004));
}

TEST_CASE("interruptions at the edges", "[checkpoint][property]")
{
    interruptions never = {0, 0, 60};

    CHECK(interrupted_best(&worked, &never).expected_s ==
          finite_best(&worked).expected_s);
    CHECK(interrupted_mean_s(&never, HUGE_VAL) == HUGE_VAL);
    // equal notice and overhead is enough; a job of work that no notice concerns
    interruptions just = {1e-4, 60, 60}, late = {1e-4, 59.999, 60};
    CHECK(interrupted_best(&worked, &just).is_foreseen);
    CHECK_FALSE(interrupted_best(&worked, &late).is_foreseen);
    CHECK(interrupted_mean_s(&late, 1e4) == Approx(5000));
    for (double per_s : {0.0, 1e-7, 1e-5, 1e-3}) {
        interruptions a = {per_s, 100, 60}, b = {per_s, 10, 60};
        CHECK(interrupted_best(&worked, &a).expected_s <=
              interrupted_best(&worked, &b).expected_s);
        CHECK(interrupted_best(&worked, &a).busy_s <=
              interrupted_best(&worked, &a).expected_s);
    }
}
