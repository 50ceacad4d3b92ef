// checkpoint_energy_test.cpp - where the time of plans goes, and what power it takes.
#include "tests/support.hpp"

#include <random>
#include <vector>

extern "C" {
#include "algorithms/checkpoint/energy.h"
#include "algorithms/checkpoint/trials.h"
}

namespace
{
const finite_job worked = {43200, 21600, 600, 600, 600, 300, 1};
const power watts = {100, 200, 50};

double energy_of(const finite_job &job, const power &p, double n)
{
    finite_plan plan = finite_plan_of_count(&job, n);
    if (plan.count < 1)
        return HUGE_VAL;
    time_parts parts = finite_time_parts(&job, &plan);
    return energy_j(&p, &parts);
}

finite_job draw_job(std::mt19937_64 &random)
{
    std::uniform_real_distribution<double> u;
    double m = pow(10, 3 + 2 * u(random));
    return {m * pow(10, -1 + 2 * u(random)),
            m,
            m * 0.05 * u(random),
            m * 0.05 * u(random),
            random() % 3 ? 0 : m * 0.1 * u(random),
            random() % 2 ? 0 : m * 0.05 * u(random),
            1e-3};
}
} // namespace

TEST_CASE("the worked example of energy", "[checkpoint]")
{
    finite_plan plan = finite_best(&worked);
    time_parts parts = finite_time_parts(&worked, &plan);
    double counts[64], all = 0;

    CHECK(plan.count == 9);
    CHECK(parts.total_s == Approx(56756.368752).epsilon(1e-9));
    CHECK(parts.work_s == Approx(49578.0).margin(0.06));
    CHECK(parts.checkpoint_s == Approx(4867.3).margin(0.06));
    CHECK(parts.recovery_s == Approx(1533.6).margin(0.06));
    CHECK(parts.failures == Approx(2.5916).margin(6e-5));
    CHECK(energy_j(&watts, &parts) == Approx(1.59113e7).epsilon(5e-6));
    CHECK(energy_j(&watts, &parts) / 3.6e6 == Approx(4.4198).margin(6e-5));
    CHECK(energy_of(worked, watts, 12) / 3.6e6 == Approx(4.3828).margin(6e-5));
    CHECK(finite_expected_s(&worked, 12) == Approx(57236.3).margin(0.06));
    CHECK(energy_best_count(&worked, &watts, 9) == 12);
    REQUIRE(energy_frontier(&worked, &watts, 9, 64, counts, &all) == 4);
    CHECK(all == 4);
    for (int i = 0; i < 4; i++)
        CHECK(counts[i] == 9 + i);
}

TEST_CASE("drawn failures are as many as the worked example of energy has",
          "[checkpoint]")
{
    trial_finite plan = {finite_best(&worked), worked.overhead_s};
    failure_law law = {NAN, NAN, 0, worked.mean_s, 1};
    trials_in in{};
    trials_out with{}, without{};
    test_arena memory;

    in.work_s = worked.work_s;
    in.restart_s = worked.restart_s;
    in.scratch_s = worked.scratch_s;
    in.hazard = {&law, 1};
    in.next = trial_next_finite;
    in.plan = &plan;
    in.seed = 1;
    in.stream = "j";
    in.trial_count = 100000;
    trials_run(&in, &without, memory);
    in.delay_s = worked.delay_s; // the same failures, each with a delay
    trials_run(&in, &with, memory);
    double failures = (with.mean_s - without.mean_s) / worked.delay_s;
    CHECK(failures == Approx(2.5916).margin(0.012)); // standard deviation of 0.005
    CHECK(failures == Approx(2.5934).margin(0.012)); // as others have drawn it
}

TEST_CASE("the frontier is that of all plans", "[checkpoint][property]")
{
    std::mt19937_64 random(4);
    std::uniform_real_distribution<double> u;

    for (int i = 0; i < 100; i++) {
        finite_job job = draw_job(random);
        power p = {100 * u(random), i % 4 ? 200 * u(random) : 0,
                   i % 3 ? 300 * u(random) : 0};
        double fastest = finite_best(&job).count, counts[4000], all = 0;
        size_t count = energy_frontier(&job, &p, fastest, 4000, counts, &all);
        std::vector<double> brute;
        double least = HUGE_VAL;

        // all numbers of segments by rising time
        std::vector<double> order;
        for (double n = 1; n < fastest * 4 + 50; n++)
            if (std::isfinite(finite_expected_s(&job, n)))
                order.push_back(n);
        std::stable_sort(order.begin(), order.end(), [&](double a, double b) {
            return finite_expected_s(&job, a) < finite_expected_s(&job, b);
        });
        for (double n : order)
            if (energy_of(job, p, n) < least) {
                least = energy_of(job, p, n);
                brute.push_back(n);
            }
        INFO("job " << i << ", fastest " << fastest);
        REQUIRE(count >= 1);
        CHECK(energy_of(job, p, counts[count - 1]) == Approx(least).epsilon(1e-12));
        CHECK(std::vector<double>(counts, counts + count) == brute);
    }
}

TEST_CASE("parts of the time add up, as drawn failures do", "[checkpoint][property]")
{
    std::mt19937_64 random(6);

    for (int i = 0; i < 100; i++) {
        finite_job job = draw_job(random);
        finite_plan best = finite_best(&job);
        finite_plan equal = finite_plan_of_interval(&job, job.work_s * 0.3);

        for (const finite_plan *plan : {&best, &equal}) {
            time_parts parts = finite_time_parts(&job, plan);
            CHECK(parts.total_s == Approx(plan->expected_s).epsilon(1e-9));
            CHECK(parts.work_s >= job.work_s * (1 - 1e-9));
            CHECK(parts.work_s + parts.checkpoint_s + parts.recovery_s +
                      job.delay_s * parts.failures ==
                  Approx(parts.total_s).epsilon(1e-9));
        }
    }
    // drawn: the worked example
    std::exponential_distribution<double> draw(1 / worked.mean_s);
    finite_plan plan = finite_best(&worked);
    time_parts sum{}, parts = finite_time_parts(&worked, &plan);
    const int trials = 20000;
    for (int trial = 0; trial < trials; trial++)
        for (double j = 0; j < plan.count; j++) {
            double w_s = j == 0                ? plan.first_s
                         : j + 1 == plan.count ? plan.last_s
                                               : plan.middle_s;
            double c_s = j + 1 == plan.count ? 0 : worked.overhead_s;
            for (double r_s = 0;; r_s = worked.restart_s) {
                double at_s = draw(random);
                double lasts_s = std::min(at_s, r_s + w_s + c_s);
                sum.recovery_s += std::min(lasts_s, r_s);
                sum.work_s += std::min(std::max(lasts_s - r_s, 0.0), w_s);
                sum.checkpoint_s += std::max(lasts_s - r_s - w_s, 0.0);
                if (at_s >= r_s + w_s + c_s)
                    break;
                sum.failures++;
            }
        }
    CHECK(parts.work_s == Approx(sum.work_s / trials).epsilon(0.005));
    CHECK(parts.checkpoint_s == Approx(sum.checkpoint_s / trials).epsilon(0.005));
    CHECK(parts.recovery_s == Approx(sum.recovery_s / trials).epsilon(0.03));
    CHECK(parts.failures == Approx(sum.failures / trials).epsilon(0.03));
}

TEST_CASE("energy at the edges", "[checkpoint]")
{
    finite_job job = {10, 1e6, 0, 0, 0, 0, 1};
    power nothing = {0, 0, 0};
    double counts[64], all = 0;

    CHECK(energy_frontier(&job, &nothing, 1, 64, counts, &all) == 1);
    job = {1e9, 10, 1e6, 1e6, 0, 0, 1}; // hopeless
    finite_plan plan = finite_best(&job);
    time_parts parts = finite_time_parts(&job, &plan);
    CHECK(parts.total_s == HUGE_VAL);
    CHECK(energy_best_count(&job, &watts, plan.count) == plan.count);
    // a long frontier is thinned out, both ends stay
    job = {1e8, 20000, 60, 60, 0, 600, 1};
    power hungry = {0, 300, 0};
    plan = finite_best(&job);
    size_t count = energy_frontier(&job, &hungry, plan.count, 64, counts, &all);
    CHECK(count == 64);
    CHECK(all > 64);
    CHECK(counts[0] == plan.count);
    CHECK(counts[63] == energy_best_count(&job, &hungry, plan.count));
    job = {100, 21600, 600, 600, 600, 300, 1}; // no work left in a segment
    CHECK(finite_plan_of_count(&job, 3).count == 0);
    CHECK(finite_plan_of_count(&job, 1).count == 1);
}
