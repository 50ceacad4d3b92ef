// ensemble_trees_test.cpp - the trees of an ensemble, one by one.
#include "tests/support.hpp"

#include <algorithm>
#include <array>

extern "C" {
#include "models/ensemble/internal.h"
}

TEST_CASE("one tree", "[ensemble]")
{
    test_arena memory;
    const size_t width = tree_width(1);
    std::vector<uint8_t> bins(8 * width);
    const size_t edges[] = {7};
    double r[] = {0, .1, 0, .1, 1.0, 1.1, 1.6, 1.5}, w[] = {1, 1, 1, 1, 1, 1, 1, 1};
    const tree_rules rules = {1, 2, 4, 1, 1, 2};
    tree_node node[TREE_NODES];

    for (size_t i = 0; i < 8; i++)
        bins[i * width] = (uint8_t)i;
    tree_grow(tree_room(bins.data(), 1, edges, w, 8, memory), r, &rules, nullptr, node);
    CHECK(node[0].input == 0);
    CHECK(node[0].bin == 3); // at 4.5
    CHECK(node[1].input == TREE_LEAF);
    CHECK(node[1].value == Approx(0.04).epsilon(1e-6));
    CHECK(node[2].input == TREE_LEAF);
    CHECK(node[2].value == Approx(1.04).epsilon(1e-6));
    CHECK(r[0] == Approx(-0.04).epsilon(1e-6));
    CHECK(r[7] == Approx(0.46).epsilon(1e-6));
}

TEST_CASE("a tree's splits are the best there are", "[ensemble][property]")
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        test_arena memory;
        rng random = rng_create(seed);
        size_t count = seed % 90, inputs = 1 + seed % 5, width = tree_width(inputs);
        double light = seed % 2 ? 0.3 : 0; // of weight below 1
        std::vector<uint8_t> bins(count * width);
        std::vector<size_t> edges;
        std::vector<double> r(count), w(count);
        const tree_rules rules = {1, 4, 4, 0.5, 1, 1};
        tree_node node[TREE_NODES];

        for (size_t k = 0; k < inputs; k++)
            edges.push_back(k % 3 == 0 ? 5 : k % 3 == 1 ? 63 : 1);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < inputs; k++)
                bins[i * width + k] =
                    uint8_t(double(edges[k] + 1) * rng_uniform(&random));
        for (size_t i = 0; i < count; i++) {
            r[i] = std::floor(5 * rng_uniform(&random)) / 4; // ties
            w[i] = rng_uniform(&random) < light ? 0.5 : 1;
        }
        std::vector<double> before = r;
        tree_grow(tree_room(bins.data(), inputs, edges.data(), w.data(), count, memory),
                  r.data(), &rules, nullptr, node);
        auto gain = [&](const std::vector<size_t> &rows, size_t k, size_t b) {
            double g[2] = {0, 0}, h[2] = {0, 0};
            for (size_t i : rows) {
                bool right = bins[i * width + k] > b;
                g[right] += w[i] * before[i];
                h[right] += w[i];
            }
            if (h[0] < 1 || h[1] < 1)
                return -1.;
            return g[0] * g[0] / (h[0] + 1) + g[1] * g[1] / (h[1] + 1) -
                   (g[0] + g[1]) * (g[0] + g[1]) / (h[0] + h[1] + 1);
        };
        std::array<std::vector<size_t>, TREE_NODES> rows;
        for (size_t i = 0; i < count; i++)
            rows[0].push_back(i);
        for (size_t n = 0; n < TREE_NODES; n++) {
            double best = 0;
            for (size_t k = 0; k < inputs; k++)
                for (size_t b = 0; b < edges[k]; b++)
                    best = std::max(best, gain(rows[n], k, b));
            if (node[n].input != TREE_LEAF) {
                REQUIRE(n < 15);
                CHECK(gain(rows[n], node[n].input, node[n].bin) ==
                      Approx(best).epsilon(1e-9));
                for (size_t i : rows[n])
                    rows[2 * n + 1 + (bins[i * width + node[n].input] > node[n].bin)]
                        .push_back(i);
                continue;
            }
            if (n < 15 && rows[n].size() >= 4)
                CHECK(best < 1e-8);
            for (size_t i : rows[n])
                CHECK(r[i] == Approx(before[i] - double(node[n].value)).margin(1e-12));
        }
    }
}
