// world_knapsack_test.cpp - how many of each class to take: against all sets.
#include "support.hpp"

#include <functional>

extern "C" {
#include "algorithms/world/knapsack.h"
}

namespace
{

struct given_knapsack {
    std::vector<int64_t> room, counts, weights, needs;
    std::vector<size_t> tiers;
    size_t tier_count = 1, max_nodes = 0;
    struct budget *budget = nullptr;

    knapsack build() const
    {
        knapsack k{};
        k.row_count = room.size();
        k.room = room.data();
        k.class_count = counts.size();
        k.needs = needs.data();
        k.counts = counts.data();
        k.weights = weights.data();
        k.tiers = tiers.data();
        k.tier_count = tier_count;
        k.max_nodes = max_nodes;
        k.budget = budget;
        return k;
    }
};

struct solved {
    std::vector<int64_t> taken;
    std::vector<knapsack_tier> tiers;
    size_t nodes;
};

solved solve(const given_knapsack &g)
{
    test_arena a;
    knapsack k = g.build();
    solved s{std::vector<int64_t>(g.counts.size()),
             std::vector<knapsack_tier>(g.tier_count), 0};

    s.nodes = knapsack_solve(&k, s.taken.data(), s.tiers.data(), a);
    return s;
}

bool fits(const given_knapsack &g, const std::vector<int64_t> &taken)
{
    for (size_t r = 0; r < g.room.size(); r++) {
        int64_t sum = 0;
        for (size_t c = 0; c < taken.size(); c++)
            sum += taken[c] * g.needs[c * g.room.size() + r];
        if (sum > g.room[r])
            return false;
    }
    return true;
}

std::vector<int64_t> values_of(const given_knapsack &g, const std::vector<int64_t> &taken)
{
    std::vector<int64_t> v(g.tier_count, 0);
    for (size_t c = 0; c < taken.size(); c++)
        v[g.tiers[c]] += taken[c] * g.weights[c];
    return v;
}

// The largest values, tier after tier, of all sets.
std::vector<int64_t> best_of_all(const given_knapsack &g)
{
    std::vector<int64_t> taken(g.counts.size(), 0), best(g.tier_count, -1);
    std::function<void(size_t)> go = [&](size_t c) {
        if (c == taken.size()) {
            if (fits(g, taken))
                best = std::max(best, values_of(g, taken));
            return;
        }
        for (taken[c] = 0; taken[c] <= g.counts[c]; taken[c]++)
            go(c + 1);
        taken[c] = 0;
    };
    go(0);
    return best;
}

given_knapsack draw(rng *r)
{
    given_knapsack g;
    size_t rows = 1 + rng_index(r, 3), classes = rng_index(r, 6);
    int64_t large = rng_index(r, 3) == 0 ? 1000003 : 1;

    g.tier_count = 1 + rng_index(r, 3);
    for (size_t k = 0; k < rows; k++)
        g.room.push_back(large * (int64_t)(1 + rng_index(r, 14)));
    for (size_t c = 0; c < classes; c++) {
        int64_t most = (int64_t)rng_index(r, 4);
        for (size_t k = 0; k < rows; k++) {
            int64_t d = large * (int64_t)rng_index(r, 7);
            if (d > 0)
                most = std::min(most, g.room[k] / d);
            g.needs.push_back(d);
        }
        for (size_t k = 0; most == 0 && k < rows; k++)
            g.needs[c * rows + k] = std::min(g.needs[c * rows + k], g.room[k]);
        g.counts.push_back(most);
        g.weights.push_back((int64_t)rng_index(r, 8) * (rng_index(r, 3) ? 1 : 1000000));
        g.tiers.push_back(rng_index(r, g.tier_count));
    }
    return g;
}

void compare(const given_knapsack &g)
{
    solved s = solve(g);
    std::vector<int64_t> best = best_of_all(g), values;

    REQUIRE(fits(g, s.taken));
    for (size_t t = 0; t < g.tier_count; t++) {
        CHECK(s.tiers[t].proven);
        CHECK(s.tiers[t].bound == s.tiers[t].value);
        values.push_back(s.tiers[t].value);
    }
    CHECK(values == best);
    CHECK(values_of(g, s.taken) == best);

    test_arena a;
    knapsack k = g.build();
    std::vector<int64_t> bounds(g.tier_count);
    knapsack_bounds(&k, best.data(), bounds.data(), a);
    for (size_t t = 0; t < g.tier_count; t++)
        CHECK(bounds[t] >= best[t]);
}

} // namespace

TEST_CASE("a knapsack whose program is whole is proven at the root", "[world]")
{
    given_knapsack g;
    g.room = {10, 20};
    g.needs = {3, 2, 4, 9, 1, 4};
    g.counts = {3, 2, 5};
    g.weights = {5, 7, 2};
    g.tiers = {0, 0, 0};
    solved s = solve(g);

    CHECK(s.tiers[0].value == 18);
    CHECK(s.tiers[0].bound == 18);
    CHECK(s.tiers[0].proven);
    CHECK(s.nodes == 0);
    CHECK(s.taken == std::vector<int64_t>{2, 0, 4});
}

TEST_CASE("a larger tier comes first, whatever the others weigh", "[world]")
{
    given_knapsack g;
    g.room = {4};
    g.needs = {3, 2};
    g.counts = {1, 2};
    g.weights = {1, 10};
    g.tiers = {0, 1};
    g.tier_count = 2;
    solved s = solve(g);

    CHECK(s.taken == std::vector<int64_t>{1, 0});
    CHECK(s.tiers[0].value == 1);
    CHECK(s.tiers[1].value == 0);
    CHECK(s.tiers[1].bound == 0);
    g.tiers = {0, 0};
    g.tier_count = 1;
    s = solve(g);
    CHECK(s.tiers[0].value == 20);
}

TEST_CASE("eight tiers whose product is beyond doubles are still exact", "[world]")
{
    // 1,000 of weight 2 and 5 in each tier, room for 500 of the first and one more.
    given_knapsack g;
    g.room = {1001};
    g.tier_count = 8;
    for (size_t t = 0; t < 8; t++) {
        g.needs.insert(g.needs.end(), {2, 3});
        g.counts.insert(g.counts.end(), {t == 0 ? 400 : 20, 20});
        g.weights.insert(g.weights.end(), {2000000000, 3500000000});
        g.tiers.insert(g.tiers.end(), {t, t});
    }
    solved s = solve(g);
    // 20 of 3 and 400 of 2 leave 141: 20 of 3 (60) and 20 of 2 (40) of the next tier
    // leave 41: 13 of 3 and 1 of 2.
    CHECK(s.tiers[0].value == 870000000000);
    CHECK(s.tiers[1].value == 110000000000);
    CHECK(s.tiers[2].value == 47500000000);
    for (auto &t : s.tiers)
        CHECK(t.proven);
}

TEST_CASE("a knapsack that runs out of nodes or time says so", "[world]")
{
    given_knapsack g;
    rng r = rng_create(7);
    g.room = {100003, 90001};
    for (size_t c = 0; c < 60; c++) {
        g.needs.push_back(3001 + 2 * (int64_t)rng_index(&r, 4000));
        g.needs.push_back(2001 + 2 * (int64_t)rng_index(&r, 4000));
        g.counts.push_back(3);
        g.weights.push_back(2000 + (int64_t)rng_index(&r, 9000));
        g.tiers.push_back(0);
    }
    g.max_nodes = 50;
    solved s = solve(g);
    CHECK(s.nodes == 50);
    CHECK_FALSE(s.tiers[0].proven);
    CHECK(s.tiers[0].bound > s.tiers[0].value);
    REQUIRE(fits(g, s.taken));

    budget spent = make_budget([](void *) { return 2.0; }, nullptr);
    g.budget = &spent;
    s = solve(g);
    CHECK_FALSE(s.tiers[0].proven);
    CHECK(s.tiers[0].bound >= s.tiers[0].value);
    REQUIRE(fits(g, s.taken));
}

TEST_CASE("knapsacks equal the best of all sets", "[world][property]")
{
    rng r = rng_stream(1, "world.knapsack");
    int count = is_shorter() ? 600 : 4000;
    for (int i = 0; i < count; i++) {
        CAPTURE(i);
        compare(draw(&r));
    }
}

TEST_CASE("many knapsacks equal the best of all sets", "[.][world][property]")
{
    rng r = rng_stream(2, "world.knapsack");
    for (int i = 0; i < 100000; i++) {
        CAPTURE(i);
        compare(draw(&r));
    }
}
