// ensemble_test.cpp - times from whatever is known of runs: the members, their weights,
// what is known of configurations, and the whole as numbers.
#include "tests/support.hpp"

#include <algorithm>
#include <array>
#include <map>

extern "C" {
#include "models/ensemble/ensemble.h"
#include "models/ensemble/internal.h"
}

namespace
{
const double none = NAN;

// Runs with the inputs problem_size and processors first.
struct runs {
    std::vector<std::vector<double>> value;
    std::vector<double> y, weight;
    std::vector<ensemble_run> run;

    void add(std::vector<double> x, double time_s, double w = 1)
    {
        value.push_back(std::move(x));
        y.push_back(std::log(time_s));
        weight.push_back(w);
    }
    ensemble_data data()
    {
        run.clear();
        for (size_t i = 0; i < y.size(); i++)
            run.push_back({value[i].data(), y[i], weight[i], false});
        return {run.data(), run.size(), value.empty() ? 0 : value[0].size(),
                nullptr,    0,          1,
                false,      nullptr};
    }
};

struct fitted {
    test_arena memory;
    ensemble e{};

    explicit fitted(runs &r)
    {
        ensemble_data d = r.data();
        ensemble_fit(&d, nullptr, &e, memory);
    }
    ensemble_answer ask(const std::vector<double> &x) const
    {
        ensemble_answer out;
        ensemble_predict(&e, x.data(), &out);
        return out;
    }
    // The interval's half at a level, without later errors.
    double half(const ensemble_answer &at, double level)
    {
        arena *a = memory;
        log_errors errors[LOG_GROUP_COUNT] = {};
        auto *recent = NEW(a, log_recent, LOG_GROUP_COUNT);
        log_set set;

        for (auto &list : errors)
            list.list = NEW(a, log_error, LOG_ERRORS_MAX);
        for (size_t i = 0; i < e.error_count; i++) {
            const ensemble_error &x = e.error[i];
            log_errors &to = errors[x.group];
            to.list[to.count++] = {std::fabs(x.error), x.spread, x.configuration};
        }
        log_set_of(errors, recent, at.group, &set, a);
        return log_half(log_set_quantile(&set, level), set.scale, at.spread, at.distance,
                        at.runs, at.constant_distance);
    }
};

double noise(rng &r)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += rng_uniform(&r);
    return sum - 6;
}

// Runs with numbers, a category, missing values and repeats.
runs mixed(uint64_t seed, size_t count)
{
    rng r = rng_create(seed);
    runs out;

    for (size_t i = 0; i < count; i++) {
        double n = std::floor(1 + 8 * rng_uniform(&r)),
               p = std::exp2(std::floor(4 * rng_uniform(&r)));
        double machine = ensemble_text(rng_uniform(&r) < 0.5 ? "\"slow\"" : "\"fast\"");
        double factor = machine == ensemble_text("\"slow\"") ? 2 : 1;

        out.add({100 * n, p,
                 rng_uniform(&r) < 0.2 ? none : std::floor(3 * rng_uniform(&r)), machine},
                factor * (10 + 0.5 * 100 * n / p + 3 * std::log(p)) *
                    std::exp(0.05 * noise(r)),
                rng_uniform(&r) < 0.05 ? 0 : 1);
    }
    return out;
}
} // namespace

TEST_CASE("a configuration moves by the median of what was wrong there", "[ensemble]")
{
    const double residual[] = {0.10, 0.14, 0.30};

    CHECK(ensemble_moved(residual, 3) == Approx(0.12).epsilon(1e-12));
    CHECK(std::exp(ensemble_moved(residual, 3)) == Approx(1.1274969).epsilon(1e-7));
    CHECK(ensemble_moved(residual, 0) == 0);
    CHECK(ensemble_moved(residual, 1) == Approx(0.10 / 1.5).epsilon(1e-12));
}

TEST_CASE("members weigh by the fourth power of their errors", "[ensemble]")
{
    const double one[] = {1, 1, 1, 1}, ridge[] = {.05, .04, .06, .05},
                 trees[] = {.2, -.1, .3, -.2};
    double e_ridge = ensemble_error_of(0.12, one, ridge, 4);
    double e_trees = ensemble_error_of(0.10, one, trees, 4);
    double weight[ENSEMBLE_MEMBER_COUNT] = {ensemble_weight(e_ridge),
                                            ensemble_weight(e_trees), 1e9, 1e9, 1e9};
    double answer[ENSEMBLE_MEMBER_COUNT] = {std::log(100), std::log(130), none, none,
                                            none};
    double y, u;

    CHECK(e_ridge == Approx(0.085).epsilon(1e-12));
    CHECK(e_trees == Approx(0.15).epsilon(1e-12));
    CHECK(weight[0] / (weight[0] + weight[1]) == Approx(0.9065260).epsilon(1e-7));
    ensemble_mix(answer, weight, &y, &u);
    CHECK(std::exp(y) == Approx(102.4827).epsilon(1e-6));
    CHECK(u == Approx(0.0763731).epsilon(1e-6));
    answer[0] = answer[1] = none;
    ensemble_mix(answer, weight, &y, &u);
    CHECK(std::isnan(y));
    CHECK(ensemble_weight(0) == ensemble_weight(0.01));
    CHECK(ensemble_error_of(0.1, one, std::array<double, 1>{50}.data(), 1) ==
          Approx(1.4 / 5));
}

TEST_CASE("ten runs on a line", "[ensemble]")
{
    runs r;
    for (int n = 100; n <= 1000; n += 100)
        r.add({double(n)}, 10 + 0.5 * n);
    fitted f(r);

    ensemble_answer inside = f.ask({550});
    CHECK(inside.group == LOG_INSIDE);
    CHECK(std::exp(inside.member[ENSEMBLE_RIDGE]) == Approx(285.0939).epsilon(1e-6));
    CHECK(std::exp(inside.member[ENSEMBLE_SCALE_OUT]) == Approx(285.0).epsilon(1e-4));
    CHECK(std::exp(inside.member[ENSEMBLE_LINEAR]) == Approx(285.0).epsilon(1e-4));
    CHECK(std::isnan(inside.member[ENSEMBLE_TREES]));
    CHECK(std::exp(inside.y) == Approx(285.0177).epsilon(1e-4));
    // 13 errors of 10 configurations weigh 11.2426; weighing 1 each they gave 0.03945.
    CHECK(f.half(inside, 0.9) == Approx(0.0442880).epsilon(1e-6));

    ensemble_answer outside = f.ask({2000});
    CHECK(outside.group == LOG_OUTSIDE);
    CHECK(outside.distance == 2);
    CHECK(outside.is_unknown);
    CHECK(std::exp(outside.member[ENSEMBLE_RIDGE]) == Approx(986.8754).epsilon(1e-4));
    CHECK(std::exp(outside.member[ENSEMBLE_SCALE_OUT]) == Approx(1010).epsilon(1e-4));
    CHECK(std::exp(outside.y) == Approx(1009.3775).epsilon(1e-4));
}

TEST_CASE("a scale-out of eight runs", "[ensemble]")
{
    runs r;
    for (double n : {2., 4., 8., 16.})
        for (double s : {100., 400.})
            r.add({s, n}, 20 + 8 * s / n + 3 * std::log(n) + 0.5 * n);
    fitted f(r);

    ensemble_answer in = f.ask({200, 4});
    CHECK(std::exp(in.member[ENSEMBLE_SCALE_OUT]) == Approx(426.1589).epsilon(1e-4));
    CHECK(std::exp(in.member[ENSEMBLE_RIDGE]) == Approx(430.1316).epsilon(1e-4));
    CHECK(std::exp(in.member[ENSEMBLE_LINEAR]) == Approx(429.3949).epsilon(1e-4));
    CHECK(std::exp(in.y) == Approx(426.5722).epsilon(1e-4));
    ensemble_answer out = f.ask({400, 32});
    CHECK(std::exp(out.member[ENSEMBLE_SCALE_OUT]) == Approx(146.3972).epsilon(1e-4));
    CHECK(std::exp(out.member[ENSEMBLE_RIDGE]) == Approx(164.5612).epsilon(1e-4));
    CHECK(std::exp(out.member[ENSEMBLE_LINEAR]) == Approx(131.3426).epsilon(1e-4));
    CHECK(std::exp(out.y) == Approx(137.2262).epsilon(1e-4));
}

TEST_CASE("nobody knows how the time goes with what never varied", "[ensemble]")
{
    runs r;
    for (int i = 0; i < 10; i++)
        r.add({500}, 100);
    fitted f(r);

    ensemble_answer same = f.ask({500});
    CHECK(same.group == LOG_SAME);
    CHECK(std::exp(same.y) == Approx(100));
    CHECK(f.half(same, 0.9) == Approx(0.0488434).epsilon(1e-6));
    ensemble_answer far = f.ask({5000});
    CHECK(far.group == LOG_OUTSIDE);
    CHECK(far.distance == Approx(10));
    CHECK(far.constant_distance == Approx(10));
    CHECK(std::exp(far.y) == Approx(100));
    CHECK(f.half(far, 0.9) == Approx(std::log(10)));
}

TEST_CASE("an ensemble answers from its first run on", "[ensemble]")
{
    for (size_t count : {1, 2, 3, 5, 23, 24, 60}) {
        CAPTURE(count);
        runs r = mixed(count, count);
        r.weight[0] = 1;
        fitted f(r);

        for (const auto &x :
             std::vector<std::vector<double>>{{100, 1, 0, ensemble_text("\"slow\"")},
                                              {1e9, 1e6, 1e12, ensemble_text("\"new\"")},
                                              {1e-9, 1, -5, none},
                                              {none, none, none, none},
                                              {0, 0, 0, none}}) {
            ensemble_answer a = f.ask(x);
            double half = f.half(a, 0.9);
            CHECK(std::isfinite(a.y));
            CHECK(a.spread >= 0);
            CHECK(a.distance >= 1);
            CHECK(half > 0);
            CHECK(f.half(a, 0.5) <= half);
        }
    }
    runs nobody;
    fitted f(nobody);
    CHECK(std::isnan(f.ask({100}).y));
}

TEST_CASE("what a question lacks, or nobody has seen, is unknown territory", "[ensemble]")
{
    runs r = mixed(3, 60);
    double slow = ensemble_text("\"slow\"");
    fitted f(r);

    CHECK(f.ask({150, 2, 1, slow}).group == LOG_INSIDE);
    CHECK(f.ask({150, 2, 1, ensemble_text("\"other\"")}).is_unknown);
    CHECK(f.ask({none, 2, 1, slow}).is_unknown);
    CHECK_FALSE(f.ask({1000, 2, 1, slow}).is_unknown); // outside, but not far
    CHECK(f.ask({1000, 2, 1, slow}).group == LOG_OUTSIDE);
    CHECK(f.ask({1600, 2, 1, slow}).is_unknown);
}

TEST_CASE("machine terms that are not known get their mean", "[ensemble]")
{
    runs r;
    for (int i = 0; i < 30; i++)
        r.add({100.0 * (1 + i % 10), 1, 0.5 + 0.05 * (i % 7)}, 10 + i % 10);
    fitted f(r);

    CHECK_FALSE(f.ask({150, 1, none}).is_unknown);
    CHECK(f.ask({150, 1, none}).y == Approx(f.ask({150, 1, f.e.input[2].mean}).y));
    // Where some runs lack it as well, that they do says something.
    r.value[3][2] = none;
    fitted some(r);
    CHECK(some.ask({150, 1, none}).is_unknown);
}

TEST_CASE("which inputs are known", "[ensemble]")
{
    runs r;
    for (int i = 0; i < 200; i++) {
        std::string id = "\"run-" + std::to_string(i) + "\"";
        r.add({100.0 + i % 5, 1, i % 3 ? none : 7., ensemble_text(id.c_str()),
               ensemble_text(i % 2 ? "\"a\"" : "\"b\""),
               i % 2 ? 3. : ensemble_text("\"x\""), i < 100 ? 7. : none},
              10);
    }
    fitted f(r);

    REQUIRE(f.e.input_count == 5);
    CHECK(f.e.input[0].is_used);
    CHECK_FALSE(f.e.input[1].is_used); // one value
    CHECK(f.e.input[2].column == 4);   // 2: fewer than half have it; 3: names runs
    CHECK(f.e.input[2].value_count == 2);
    CHECK(f.e.input[3].is_text);     // a number among texts
    CHECK(f.e.input[4].column == 6); // just half have it
    CHECK(f.ask({100, 1, none, none, ensemble_text("\"a\""), 3, 7}).group == LOG_SAME);
}

TEST_CASE("an ensemble is the same after it was stored", "[ensemble][property]")
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        test_arena memory;
        runs r = mixed(seed, seed * seed);
        r.weight[0] = 1;
        fitted f(r);
        std::vector<double> packed(ensemble_pack(&f.e, nullptr));
        ensemble copy{};

        REQUIRE(ensemble_pack(&f.e, packed.data()) == packed.size());
        REQUIRE(ensemble_unpack(packed.data(), packed.size(), &copy, memory));
        rng random = rng_create(seed);
        for (int i = 0; i < 50; i++) {
            std::vector<double> x = {900 * rng_uniform(&random),
                                     std::floor(1 + 9 * rng_uniform(&random)), 1,
                                     ensemble_text(i % 2 ? "\"slow\"" : "\"fast\"")};
            ensemble_answer a = f.ask(x), b;
            ensemble_predict(&copy, x.data(), &b);
            CHECK(a.y == b.y);
            CHECK(a.spread == b.spread);
            CHECK(a.group == b.group);
        }
        for (size_t cut = 0; cut < packed.size(); cut += 1 + packed.size() / 40)
            CHECK_FALSE(ensemble_unpack(packed.data(), cut, &copy, memory));
        // Anything may come from storage.
        for (size_t i = 0; i < packed.size(); i += 1 + packed.size() / 300)
            for (double bad : {-1., 1e300, 0.5, double(INFINITY), none, 3., 7e14}) {
                std::vector<double> wrong = packed;
                wrong[i] = bad;
                if (!ensemble_unpack(wrong.data(), wrong.size(), &copy, memory))
                    continue;
                ensemble_answer b;
                double x[] = {100, 2, 1, ensemble_text("\"slow\"")};
                ensemble_predict(&copy, x, &b);
            }
    }
}

TEST_CASE("an ensemble takes no more room than it needs", "[ensemble]")
{
    // learning.md 13.4: 60 kB for 2,000 runs of 10 inputs, all of different
    // configurations
    runs r;
    rng random = rng_create(5);
    for (int i = 0; i < (is_shorter() ? 500 : 2000); i++) {
        std::vector<double> x;
        for (int k = 0; k < 10; k++)
            x.push_back(1 + rng_uniform(&random));
        r.add(x, x[0] * x[1] + x[2]);
    }
    fitted f(r);
    size_t bytes = 8 * ensemble_pack(&f.e, nullptr), runs = r.weight.size();
    CHECK(bytes < 27000 + 16 * runs);
}

TEST_CASE("a further run joins its configuration's history", "[ensemble]")
{
    runs r;
    for (int n = 100; n <= 1000; n += 100)
        r.add({double(n), 1}, 10 + 0.5 * n);
    fitted f(r);
    double x[] = {555, 1};

    ensemble_answer before = f.ask({555, 1});
    CHECK(before.group == LOG_INSIDE);
    for (int i = 0; i < 12; i++)
        ensemble_see(&f.e, x, std::log(400), f.memory);
    ensemble_answer after = f.ask({555, 1});
    CHECK(after.group == LOG_SAME);
    CHECK(after.runs == 8);
    CHECK(std::exp(after.y) == Approx(400).epsilon(0.03));
    CHECK(f.ask({333, 1}).y == Approx(f.ask({333, 1}).y));
}
