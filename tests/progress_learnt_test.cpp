// progress_learnt_test.cpp - intervals of running tasks from the errors of finished ones.
// learning.md 16, 3 and 4.2.
#include "tests/support.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

extern "C" {
#include "models/progress/application.h"
}

namespace
{
progress_out predicted(double estimate, double low, double high)
{
    progress_out p{};

    p.source = PROGRESS_FROM_fit;
    p.estimate_ref_s = estimate;
    p.low_ref_s = low;
    p.high_ref_s = high;
    return p;
}

progress_sample at(double elapsed_s, double pct)
{
    return {elapsed_s, pct, NAN, NAN, NAN, NAN};
}
} // namespace

TEST_CASE("tenths of progress", "[progress]")
{
    CHECK(progress_bin_of(0) == 0);
    CHECK(progress_bin_of(9.99) == 0);
    CHECK(progress_bin_of(10) == 1);
    CHECK(progress_bin_of(100) == 9);
    CHECK(progress_bin_of(-1) == 0);
    CHECK(progress_bin_of(1e308) == 9);

    progress_sample one[] = {at(1, 35)}, two[] = {at(1, 35), at(2, 45)};
    CHECK(progress_bin_now(one, 1) == 3);
    CHECK(progress_bin_now(two, 2) == 4); // the middle of both
    // A bad report alone, in whatever order they come: 30, 33, 99 of the last three.
    progress_sample list[] = {at(10, 10), at(20, 20), at(30, 30), at(40, 99), at(50, 33)};
    std::sort(list, list + 5, [](auto &a, auto &b) { return a.elapsed_s < b.elapsed_s; });
    do
        CHECK(progress_bin_now(list, 5) == 3);
    while (std::next_permutation(
        list, list + 5, [](auto &a, auto &b) { return a.elapsed_s < b.elapsed_s; }));
}

TEST_CASE("of 20 errors the wider interval counts, of 50 theirs", "[progress]")
{
    test_arena a;
    std::vector<double> errors(60, 0.0);
    progress_out p = predicted(1000, 990, 1001);

    CHECK_FALSE(progress_learnt_interval(errors.data(), 19, 0, &p, a));
    CHECK(p.low_ref_s == 990);
    // s0 = 0.2 / 22; of 20 zeros and the table the 37th of 41 is its 17th: 2.313.
    REQUIRE(progress_learnt_interval(errors.data(), 20, 0, &p, a));
    CHECK(p.low_ref_s == Approx(1000 * exp(-2.313 * 0.2 / 22)).epsilon(1e-9));
    CHECK(p.high_ref_s == Approx(1000 * exp(2.313 * 0.2 / 22)).epsilon(1e-9));
    p = predicted(1000, 500, 2000);
    REQUIRE(progress_learnt_interval(errors.data(), 49, 0, &p, a));
    CHECK(p.low_ref_s == 500);
    CHECK(p.high_ref_s == 2000);
    // s0 = 0.2 / 52; the 64th of 71 is its 14th: 1.535.
    REQUIRE(progress_learnt_interval(errors.data(), 50, 0, &p, a));
    CHECK(p.low_ref_s == Approx(1000 * exp(-1.535 * 0.2 / 52)).epsilon(1e-9));
    CHECK(p.high_ref_s == Approx(1000 * exp(1.535 * 0.2 / 52)).epsilon(1e-9));

    // The work done is the least; without an interval of its own theirs alone is there.
    p = predicted(1000, NAN, NAN);
    REQUIRE(progress_learnt_interval(errors.data(), 20, 999, &p, a));
    CHECK(p.low_ref_s == 999);
    CHECK(p.high_ref_s > 1000);
    // What is no prediction has none.
    for (progress_source source :
         {PROGRESS_FROM_none, PROGRESS_FROM_finished, PROGRESS_FROM_cached,
          PROGRESS_FROM_initial_estimate}) {
        p = predicted(1000, 990, 1001);
        p.source = source;
        CHECK_FALSE(progress_learnt_interval(errors.data(), 60, 0, &p, a));
    }
    CHECK_FALSE(progress_learnt_interval(nullptr, 0, 0, &p, a));
}

TEST_CASE("learnt intervals hold nine of ten tasks like those that taught them",
          "[progress][property]")
{
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    size_t held = 0, asked = 0;

    for (int round = 0; round < 400; round++) {
        test_arena a;
        double scale = 0.02 + 0.3 * (double)(random() % 10) / 10;
        std::vector<double> errors(50 + random() % 100);
        progress_out p = predicted(1000, 999, 1001);

        for (double &e : errors)
            e = scale * normal(random);
        REQUIRE(progress_learnt_interval(errors.data(), errors.size(), 1, &p, a));
        for (int i = 0; i < 20; i++) {
            double actual = 1000 * std::exp(scale * normal(random));
            held += actual >= p.low_ref_s && actual <= p.high_ref_s;
            asked++;
        }
    }
    CHECK((double)held / (double)asked > 0.88);
    CHECK((double)held / (double)asked < 0.97);
}

TEST_CASE("a finished task has an error at the first report of each tenth", "[progress]")
{
    test_arena a;
    progress_score score{};
    progress_history history{};
    // 5, 15, 18, 55 % reported; it was twice as long as the reports said: ln 2.
    progress_point points[] = {
        {50, 50, 1000}, {150, 150, 1000}, {180, 180, 1000}, {550, 550, 1000}};

    history.points = points;
    history.count = history.sample_count = 4;
    history.work_known = true;
    REQUIRE(progress_score_of(&history, 2000, &score, a) == OK);
    for (size_t k = 0; k < PROGRESS_BINS; k++) {
        INFO(k);
        if (k == 0 || k == 1 || k == 5)
            CHECK(score.log_error[k] == Approx(log(2)).epsilon(0.01));
        else
            CHECK(std::isnan(score.log_error[k]));
    }
    history.count = history.sample_count = 0;
    REQUIRE(progress_score_of(&history, 1, &score, a) == OK);
    for (double e : score.log_error)
        CHECK(std::isnan(e));
}
