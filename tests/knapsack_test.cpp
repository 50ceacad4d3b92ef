// knapsack_test.cpp - the most profit of items that fit, from above, against all subsets
// and against the table of a dynamic programme.
#include "tests/support.hpp"

extern "C" {
#include "algorithms/placement/knapsack.h"
}

namespace
{

struct sack {
    std::vector<double> weight, profit;
    double room = 0;
};

struct filled {
    double bound, profit, weight;
    std::vector<uint8_t> taken;
    knapsack_guess guess;
    size_t work;
};

filled fill(const sack &s, double tolerance = 1e-9, knapsack_guess guess = {1, 1},
            budget *b = nullptr)
{
    test_arena a;
    size_t count = s.weight.size();
    ticks t{};
    knapsack_ask ask{s.weight.data(), s.profit.data(), count, s.room, tolerance};
    filled out{0, 0, 0, std::vector<uint8_t>(count + 1), guess, 0};

    t.budget = b;
    t.until = 1;
    out.bound = knapsack_most(knapsack_create(count, a), &ask, &out.guess, &t, &out.work,
                              out.taken.data());
    for (size_t i = 0; i < count; i++)
        if (out.taken[i]) {
            out.profit += s.profit[i];
            out.weight += s.weight[i];
        }
    CHECK(out.weight <= s.room * (1 + 1e-9));
    CHECK(out.guess.rate > 0);
    CHECK(out.guess.rate < HUGE_VAL);
    return out;
}

double brute_force(const sack &s)
{
    double best = 0;

    for (size_t set = 0; set < (size_t)1 << s.weight.size(); set++) {
        double weight = 0, profit = 0;
        for (size_t i = 0; i < s.weight.size(); i++)
            if (set >> i & 1) {
                weight += s.weight[i];
                profit += s.profit[i];
            }
        if (weight <= s.room)
            best = std::fmax(best, profit);
    }
    return best;
}

// Whole weights.
double by_table(const sack &s)
{
    std::vector<double> best((size_t)s.room + 1);

    for (size_t i = 0; i < s.weight.size(); i++)
        for (size_t w = best.size(); w-- > (size_t)s.weight[i];)
            best[w] = std::fmax(best[w], best[w - (size_t)s.weight[i]] + s.profit[i]);
    return best.back();
}

// Zeros, ties, equal items, whole and other numbers, items that fit nowhere.
sack any_sack(uint64_t seed, size_t count_max)
{
    rng r = rng_create(seed);
    size_t count = rng_index(&r, count_max + 1), kind = rng_index(&r, 4);
    double sum = 0;
    sack s;

    for (size_t i = 0; i < count; i++) {
        double weight = kind == 0 ? (double)rng_index(&r, 6) : 10 * rng_uniform(&r);
        double profit = kind == 1   ? 3 * weight // all of one rate
                        : kind == 2 ? weight * (1 + 0.01 * rng_uniform(&r))
                                    : (double)rng_index(&r, 8) - 1;
        if (kind == 3 && rng_index(&r, 5) == 0)
            weight = HUGE_VAL;
        s.weight.push_back(weight);
        s.profit.push_back(profit);
        sum += weight < HUGE_VAL ? weight : 0;
    }
    s.room = rng_index(&r, 8) ? sum * rng_uniform(&r) : 0;
    if (kind == 0)
        s.room = std::floor(s.room);
    return s;
}

// A clock that runs out after being asked *context times.
double countdown(void *context)
{
    size_t *left = static_cast<size_t *>(context);
    return *left == 0 ? 1 : ((*left)--, 0.5);
}

} // namespace

TEST_CASE("three items of which two fit", "[knapsack]")
{
    // By rate 60/10, 100/20, 120/30 into 50: the first two and 20/30 of the last are 240.
    filled f = fill({{10, 20, 30}, {60, 100, 120}, 50});
    CHECK(f.bound == Approx(220).epsilon(1e-8));
    CHECK(f.profit == 220);
    CHECK(f.taken[0] == 0);
}

TEST_CASE("no subset has more profit, and one has hardly less", "[knapsack][property]")
{
    const double rates[] = {1e-6, 0.3, 1, 3, 1e6}, reaches[] = {1e-9, 0.5, 1e9};

    for (uint64_t seed = 1; seed <= 1500; seed++) {
        sack s = any_sack(seed, 12);
        double best = brute_force(s);
        CAPTURE(seed, s.weight.size(), s.room);
        filled f = fill(s, 1e-9, {rates[seed % 5], reaches[seed % 3]});
        CHECK(f.bound >= best * (1 - 1e-12));
        CHECK(f.bound <= best * (1 + 3e-9) + 1e-12);
        CHECK(f.profit >= best * (1 - 3e-9));
        // Where the guess of the last question begins the answer is the same.
        if (s.room > 0 && f.guess.reach > 0) {
            filled again = fill(s, 1e-9, f.guess);
            CHECK(again.bound == Approx(f.bound).epsilon(1e-8).margin(1e-12));
        }
        filled rough = fill(s, 0.05);
        CHECK(rough.bound >= best * (1 - 1e-12));
        CHECK(rough.bound <=
              best * 1.11 + 1e-12); // divided, they bring at most twice as much
    }
}

TEST_CASE("hundreds of items agree with a table", "[knapsack][property]")
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        rng r = rng_create(seed);
        sack s;
        for (size_t i = 0; i < 300; i++) {
            double weight = (double)(1 + rng_index(&r, 100));
            s.weight.push_back(weight);
            s.profit.push_back(seed % 2 ? weight + (double)rng_index(&r, 20)
                                        : (double)rng_index(&r, 100));
        }
        s.room = (double)(100 + rng_index(&r, 3000));
        double best = by_table(s);
        CAPTURE(seed, s.room);
        filled f = fill(s);
        CHECK(f.bound >= best * (1 - 1e-12));
        CHECK(f.bound <= best * (1 + 3e-9));
        CHECK(f.profit >= 0.999 * best);
    }
}

TEST_CASE("with more sets than can be kept the answer still holds", "[knapsack]")
{
    // One rate, and weights that meet the room exactly by chance only.
    sack s;
    rng r = rng_create(7);
    for (size_t i = 0; i < 400; i++) {
        s.weight.push_back(1 + rng_uniform(&r));
        s.profit.push_back(s.weight.back() * (1 + 1e-3 * rng_uniform(&r)));
    }
    s.room = 150;
    filled exact = fill(s), rough = fill(s, 1e-4);
    CHECK(exact.bound >= exact.profit);
    CHECK(exact.bound <= rough.bound * (1 + 1e-12));
    CHECK(rough.bound >= exact.profit);
    CHECK(rough.bound <= rough.profit * (1 + 2e-4));
    CHECK(rough.work < exact.work);
}

TEST_CASE("wherever the clock ends it the answer holds", "[knapsack]")
{
    for (size_t asked = 0; asked < 8; asked++)
        for (uint64_t seed = 1; seed <= 40; seed++) {
            sack s = any_sack(seed, 12);
            size_t left = asked;
            budget b = make_budget(countdown, &left);
            CHECK(fill(s, 1e-9, {0.1, 1e-3}, &b).bound >= brute_force(s) * (1 - 1e-12));
        }
}

TEST_CASE("nothing to take", "[knapsack]")
{
    CHECK(fill({{}, {}, 10}).bound == 0);
    CHECK(fill({{5}, {1}, 4}).bound == 0);
    CHECK(fill({{HUGE_VAL}, {1}, 4}).bound == 0);
    CHECK(fill({{1, 1}, {0, -2}, 4}).bound == 0);
    CHECK(fill({{0, 0}, {2, 3}, 0}).bound == Approx(5));
    CHECK(fill({{4}, {3}, 4}).profit == 3);
}
