// machine_effect_test.cpp - how much faster machines are than each other: worked numbers.
#include "tests/support.hpp"

#include <algorithm>
#include <string>

extern "C" {
#include "handlers/placement/machine_priors.h"
#include "models/ensemble/machine_effect.h"
}

TEST_CASE("effects of three machines from two tasks", "[ensemble]")
{
    test_arena memory;
    std::vector<machine_run> runs = {{0, 0, std::log(100)},
                                     {1, 0, std::log(200)},
                                     {0, 1, std::log(10)},
                                     {1, 1, std::log(18)},
                                     {2, 1, std::log(40)}};
    double effect[4];
    size_t count[4];

    machine_effects(runs.data(), runs.size(), 3, 2, nullptr, effect, count, memory);
    CHECK(effect[0] == Approx(-0.281495).epsilon(1e-5));
    CHECK(effect[1] == Approx(0.038739).epsilon(1e-4));
    CHECK(effect[2] == Approx(0.242756).epsilon(1e-5));
    CHECK(count[0] == 2);
    CHECK(count[2] == 1);

    // A task that ran on one machine only says nothing of it.
    runs.push_back({3, 2, 50});
    double again[4];
    machine_effects(runs.data(), runs.size(), 4, 3, nullptr, again, count, memory);
    for (int m = 0; m < 3; m++)
        CHECK(again[m] == effect[m]);
    CHECK(again[3] == 0);
    CHECK(count[3] == 0);

    const double b[] = {std::log(4.0), std::log(7.5), std::log(12.0)};
    double slope;
    double prior = machine_effect_by_benchmark(b, effect, 3, std::log(9.0), &slope);
    CHECK(slope == Approx(0.5185695).epsilon(1e-6));
    CHECK(prior == Approx(0.1219623).epsilon(1e-6));
    CHECK(std::exp(prior) == Approx(1.1297115).epsilon(1e-6));
    const double errors[] = {0.35, 0.31};
    double a = machine_effect_by_runs(prior, errors, 2);
    CHECK(a == Approx(0.2051774).epsilon(1e-6));
    CHECK(std::exp(a) == Approx(1.2277428).epsilon(1e-6));
    CHECK(machine_effect_by_runs(NAN, errors, 2) == Approx(0.22));
    CHECK(machine_effect_by_runs(NAN, errors, 0) == 0);
    CHECK(machine_effect_by_runs(prior, errors, 0) == Approx(prior));
    CHECK(machine_effect_with_prior(prior, machine_effect_by_runs(NAN, errors, 2), 2) ==
          Approx(a));
    CHECK(machine_effect_with_prior(prior, 0, 0) == Approx(prior));
}

TEST_CASE("effects are found again in runs that were made from them",
          "[ensemble][property]")
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        test_arena memory;
        rng r = rng_create(seed);
        size_t machines = seed % 6, cells = seed % 30;
        std::vector<double> truth(machines), effect(machines + 1);
        std::vector<size_t> count(machines + 1);
        std::vector<machine_run> runs;
        double mean = 0;

        for (auto &t : truth)
            mean += (t = rng_uniform(&r) - 0.5) / double(machines);
        for (size_t c = 0; c < cells; c++)
            for (size_t m = 0; m < machines; m++)
                for (int k = 0; k < 8; k++)
                    runs.push_back({m, c, double(c) + truth[m]});
        machine_effects(runs.data(), runs.size(), machines, cells, nullptr, effect.data(),
                        count.data(), memory);
        double sum = 0;
        for (size_t m = 0; m < machines; m++) {
            sum += effect[m];
            if (cells >= 10 && machines >= 2)
                CHECK(effect[m] == Approx(truth[m] - mean).margin(0.04));
        }
        CHECK(sum == Approx(0).margin(1e-9));
    }
}

TEST_CASE("a type that was never seen is told by benchmarks of the snapshot",
          "[ensemble]")
{
    // example 14; d is what its 9.0 s say
    const double effects[] = {-0.281495, 0.038739, 0.242756};
    const double seconds[] = {4, 7.5, 12, 9};
    const char *const types[] = {"a", "b", "c", "d"};
    std::vector<fitted_effect> known;
    named_value benchmark[4][2] = {};
    resource hosts[8] = {};
    snapshot s{};
    machine_prior out[8];
    test_arena a;

    for (int i = 0; i < 3; i++)
        known.push_back({ensemble_text(types[i]), effects[i], 0});
    std::sort(known.begin(), known.end(), [](auto &x, auto &y) { return x.key < y.key; });
    for (int i = 0; i < 8; i++) {
        hosts[i].resource_class = types[i % 4];
        hosts[i].mips_total = 1;
        benchmark[i % 4][0].name = "cpu";
        benchmark[i % 4][0].type = VALUE_NUMBER;
        benchmark[i % 4][0].number = seconds[i % 4];
        benchmark[i % 4][1] = benchmark[i % 4][0];
        benchmark[i % 4][1].name = i % 2 ? "disk" : "net"; // nothing that all have
        hosts[i].benchmarks = benchmark[i % 4];
        hosts[i].benchmark_count = 2;
    }
    s.resources = hosts;
    s.resource_count = 8;
    auto ask = [&] { machine_priors(&s, known.data(), known.size(), nullptr, out, a); };
    ask();
    for (int i = 0; i < 8; i++) {
        if (i % 4 < 3)
            CHECK(std::isnan(out[i].effect));
        else
            CHECK(out[i].effect == Approx(0.1219623).epsilon(1e-5));
    }
    CHECK(out[3].scale_least == 0.15);
    // example 14 on: two runs there with the errors 0.35 and 0.31
    const double errors[] = {0.35, 0.31};
    const double alone = machine_effect_by_runs(NAN, errors, 2);
    std::vector<fitted_effect> before = known;
    known.push_back({ensemble_text("d"), alone, 2});
    std::sort(known.begin(), known.end(), [](auto &x, auto &y) { return x.key < y.key; });
    ask();
    CHECK(alone + out[3].effect == Approx(0.2051774).epsilon(1e-5));
    CHECK(out[3].scale_least == 0.15);
    CHECK(out[3].runs == 2);
    CHECK(std::isnan(out[0].effect)); // and it says nothing of the others
    hosts[3].benchmark_count = 0;
    ask();
    CHECK(out[3].effect == 0); // nothing but the runs: the model has them
    hosts[3].benchmark_count = 2;
    known = before;
    // not measured: nothing is known of it, unless speeds differ
    hosts[3].benchmark_count = 0;
    ask();
    CHECK(out[3].effect == 0);
    CHECK(out[3].scale_least == 0.35);
    for (int i = 0; i < 4; i++)
        hosts[i].mips_total = 1 / seconds[i];
    ask();
    CHECK(out[3].effect == Approx(0.1219623).epsilon(1e-5));
    CHECK(out[3].scale_least == 0.35);
    // who says no type has no prior; nor has anybody where no effect is known
    hosts[3].resource_class = nullptr;
    ask();
    CHECK(std::isnan(out[3].effect));
    known.clear();
    ask();
    CHECK(std::isnan(out[7].effect));
    // what it does to a prediction
    struct fitted_prediction p {
    };
    struct fitted_interval interval {
    };
    p.time_s = 100, p.low_s = 80, p.high_s = 130;
    interval.by_group = true;
    interval.scale[LOG_OUTSIDE] = 0.1;
    struct machine_prior prior = {std::log(2.0), 0.15, 0};
    CHECK(machine_prior_interval(&prior, &interval).scale_least == 0.15);
    CHECK(machine_prior_interval(&prior, &interval).scale[LOG_OUTSIDE] == 0.1);
    machine_prior_apply(&prior, &p);
    CHECK(p.time_s == Approx(200));
    CHECK(p.low_s == Approx(160));
    CHECK(p.high_s == Approx(260));
    CHECK(std::string(p.own_basis) == "machine_prior");
    prior.runs = 3; // enough
    p.own_basis = "extrapolation";
    machine_prior_apply(&prior, &p);
    CHECK(std::string(p.own_basis) == "extrapolation");
    CHECK(machine_prior_interval(&prior, &interval).scale_least == 0);
}
