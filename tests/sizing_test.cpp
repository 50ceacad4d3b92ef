// sizing_test.cpp - the requests that waste least: worked numbers, and all ladders tried.
#include "tests/support.hpp"

extern "C" {
#include "algorithms/sizing/sizing.h"
}

namespace
{
struct asked {
    test_arena memory;
    std::vector<sizing_point> points = {{2, .5}, {3, .3}, {6, .15}, {16, .05}};
    sizing_rules rules = {4, 0.5, 0, 1, 1e-9, 1e-9, HUGE_VAL};
    struct sizing_ladder out = {};

    std::vector<double> ladder()
    {
        sizing_best(points.data(), points.size(), &rules, nullptr, &out, memory);
        return {out.request, out.request + out.count};
    }
};
using requests = std::vector<double>;

// All ladders of these candidates that end with the last, by brute force.
void try_all(const std::vector<sizing_point> &p, const sizing_rules &rules,
             const requests &candidates, requests &ladder, size_t from, double &best)
{
    for (size_t i = from; i < candidates.size(); i++) {
        ladder.push_back(candidates[i]);
        double failing = 0;
        for (const auto &x : p)
            failing += x.peak > ladder[0] ? x.weight : 0;
        if (i + 1 == candidates.size() && failing <= rules.first_failure_max + 1e-12)
            best = std::min(best, sizing_cost(p.data(), p.size(), &rules, ladder.data(),
                                              ladder.size()));
        if (ladder.size() < rules.attempts)
            try_all(p, rules, candidates, ladder, i + 1, best);
        ladder.pop_back();
    }
}
} // namespace

TEST_CASE("the ladder of four peaks", "[sizing]")
{
    asked a;
    auto check = [&](const requests &want, double cost) {
        requests got = a.ladder();
        REQUIRE(got.size() == want.size());
        for (size_t i = 0; i < want.size(); i++)
            CHECK(got[i] == Approx(want[i]).epsilon(1e-6));
        CHECK(a.out.cost == Approx(cost).epsilon(1e-6));
        CHECK(a.out.cost == Approx(sizing_cost(a.points.data(), a.points.size(), &a.rules,
                                               got.data(), got.size()))
                                .epsilon(1e-9));
    };

    check({3, 6, 16}, 0.95);
    CHECK(a.out.failure[0] == Approx(0.2));
    CHECK(a.out.failure[2] == 0);
    a.rules.retry_penalty = 1;
    check({3, 6, 16}, 1.2);
    a.rules.retry_penalty = 0;
    a.rules.attempts = 2;
    check({3, 16}, 2.3);
    a.rules.attempts = 1;
    check({16}, 12.4);
    a.rules.attempts = 4;
    a.rules.failure_share = 0.1;
    check({2, 3, 6, 16}, 0.19);
    a.rules.failure_share = 0.5;
    a.rules.first_failure_max = 0.05;
    check({6, 16}, 3.05);
    a.rules.first_failure_max = 1;
    a.rules.step = 4;
    check({4, 8, 16}, 2.2);
    a.rules.step = 5;
    a.rules.capacity = 16;
    check({5, 10, 16}, 3.45);
    const double rule_of_thumb[] = {6.6, 16};
    a.rules.step = 1e-9;
    CHECK(sizing_cost(a.points.data(), 4, &a.rules, rule_of_thumb, 2) == Approx(3.635));
    // The second attempt, after 3 failed.
    a.points = {{6, .75}, {16, .25}};
    a.rules.attempts = 3;
    check({6, 16}, 0.75);
}

TEST_CASE("no ladder is better than the one found", "[sizing][property]")
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        rng r = rng_create(seed);
        asked a;
        size_t count = 1 + rng_index(&r, 7);
        double sum = 0, peak = 0;
        bool stepped = seed % 2;

        a.points.clear();
        for (size_t i = 0; i < count; i++) {
            peak += 1 + double(rng_index(&r, 4)) * (stepped ? 0.5 : 1);
            a.points.push_back({peak, 1 + double(rng_index(&r, 5))});
            sum += a.points[i].weight;
        }
        for (auto &p : a.points)
            p.weight /= sum;
        a.rules.attempts = 1 + rng_index(&r, 4);
        a.rules.failure_share = 0.1 + 0.9 * rng_uniform(&r);
        a.rules.retry_penalty = double(rng_index(&r, 3));
        a.rules.first_failure_max = rng_index(&r, 2) ? 1 : 0.25;
        a.rules.step = stepped ? 1 + double(rng_index(&r, 5)) : 1e-9;
        a.rules.least = stepped ? 1 : 1e-9;

        requests candidates, ladder;
        if (stepped)
            for (double x = a.rules.step; x < peak + a.rules.step; x += a.rules.step)
                candidates.push_back(x);
        else
            for (const auto &p : a.points)
                candidates.push_back(p.peak);
        double best = HUGE_VAL;
        try_all(a.points, a.rules, candidates, ladder, 0, best);
        requests got = a.ladder();
        CAPTURE(seed, count, a.rules.attempts, a.rules.step);
        REQUIRE(got.size() <= a.rules.attempts);
        CHECK(a.out.cost == Approx(best).epsilon(1e-6).margin(1e-7));
        for (size_t i = 1; i < got.size(); i++)
            CHECK(got[i] > got[i - 1]);
        CHECK(got.back() >= peak * (1 - 1e-12));
        CHECK(a.out.failure[got.size() - 1] == 0);
        CHECK(a.out.failure[0] <= a.rules.first_failure_max + 1e-12);
    }
}

TEST_CASE("what a peak may be", "[sizing]")
{
    test_arena memory;
    std::vector<double> errors(300, 0.5);
    sizing_peak peak = {std::log(100), 0.1, errors.data(), 0, 1000, 0};
    sizing_point *points;
    size_t count;
    double cut;

    sizing_points(&peak, &points, &count, &cut, memory);
    REQUIRE(count == 41); // the table on both sides, and the cap
    CHECK(points[0].peak == Approx(100 * std::exp(-0.546)));
    CHECK(points[39].peak == Approx(100 * std::exp(0.546)));
    CHECK(points[40].peak == 1000);
    CHECK(points[40].weight == Approx(1 / 21.));
    CHECK(cut == 0);

    peak.error_count = errors.size(); // the last 200
    sizing_points(&peak, &points, &count, &cut, memory);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += points[i].weight;
    CHECK(sum == Approx(1));
    CHECK(points[count - 1].weight == Approx(1 / 221.));

    peak.cap = 110; // 10 of the table's greater half and nothing else are above
    peak.error_count = 0;
    sizing_points(&peak, &points, &count, &cut, memory);
    CHECK(points[count - 1].peak == 110);
    CHECK(cut == Approx(5 / 21.));
    CHECK(points[count - 1].weight == Approx(cut + 1 / 21.));

    peak.failed = 100; // nothing below is possible any more
    sizing_points(&peak, &points, &count, &cut, memory);
    CHECK(points[0].peak > 100);
    // Had the peak been just what was asked for, it would not have failed.
    const double none_off[] = {0};
    peak.error = none_off;
    peak.error_count = 1;
    peak.failed = std::exp(peak.y);
    sizing_points(&peak, &points, &count, &cut, memory);
    CHECK(points[0].peak > peak.failed);
    peak.error_count = 0;
    peak.failed = 1e9;
    sizing_points(&peak, &points, &count, &cut, memory);
    REQUIRE(count == 1);
    CHECK(points[0].weight == 1);
}

TEST_CASE("many points are merged from below", "[sizing][property]")
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        test_arena memory;
        rng r = rng_create(seed);
        std::vector<double> errors(seed * 5);
        sizing_peak peak = {3, 0.3, nullptr, errors.size(), 200, seed % 3 ? 0. : 20.};
        sizing_point *points;
        size_t count;
        double cut, sum = 0;

        for (auto &e : errors)
            e = 4 * rng_uniform(&r) - 2;
        peak.error = errors.data();
        sizing_points(&peak, &points, &count, &cut, memory);
        REQUIRE(count >= 1);
        CHECK(count <= SIZING_POINTS_MAX);
        for (size_t i = 0; i < count; i++) {
            sum += points[i].weight;
            CHECK(points[i].weight > 0);
            if (i > 0)
                CHECK(points[i].peak > points[i - 1].peak);
        }
        CHECK(sum == Approx(1));
        CHECK(points[count - 1].peak == 200);
    }
}

TEST_CASE("rounding up leaves what is a multiple but for rounding errors", "[sizing]")
{
    CHECK(sizing_round_up(1.8, 0.25) == 2);
    CHECK(sizing_round_up(2.25, 0.25) == 2.25);
    CHECK(sizing_round_up(std::nextafter(2.25, 3), 0.25) == 2.25);
    CHECK(sizing_round_up(2.2500001, 0.25) == 2.5);
    CHECK(sizing_round_up(1e-300, 0.25) == 0.25);
    rng r = rng_create(8);
    for (int i = 0; i < 1000; i++) {
        double x = std::exp(30 * rng_uniform(&r) - 10), y = sizing_round_up(x, 0.25);
        CHECK(y >= x * (1 - 1e-11));
        CHECK(y - 0.25 < x);
        CHECK(std::fmod(y, 0.25) == 0);
    }
}
