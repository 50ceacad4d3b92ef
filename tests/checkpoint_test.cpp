// checkpoint_test.cpp - intervals between checkpoints.
#include "tests/support.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

extern "C" {
#include "algorithms/checkpoint/checkpoint.h"
}

static const double UNKNOWN = std::numeric_limits<double>::quiet_NaN();

static checkpoint_out decide(const char *policy, checkpoint_in in,
                             double min_interval_s = 0)
{
    error err{};
    checkpoint_out out{};
    const checkpoint_policy *p = checkpoint_policy_find(policy);
    REQUIRE(p != nullptr);
    REQUIRE(checkpoint_decide(p, &in, &min_interval_s, &out, &err) == OK);
    return out;
}

TEST_CASE("intervals follow fault-tolerance.md 5.4", "[checkpoint]")
{
    struct {
        const char *policy;
        double overhead_s, mean_s, want_s;
    } cases[] = {
        {"young", 5, 86400, 929.516003}, {"young", 60, 21600, 1609.968944},
        {"daly", 5, 86400, 926.186},     {"daly", 60, 21600, 1570.217396},
        {"exact", 5, 86400, 926.185662}, {"exact", 60, 21600, 1570.219876},
        {"exact", 300, 100, 98.133937},  {"daly", 300, 100, 100},
        {"exact", 0, 3600, 0.001},       {"young", 0, 3600, 0.001},
        {"daly", 0, 3600, 0.001},        {"young", 60, 3600, 657.2670690},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.policy << " " << c.overhead_s << " " << c.mean_s)
        {
            checkpoint_out out = decide(c.policy, {c.overhead_s, c.mean_s, 0, UNKNOWN});
            CHECK(out.interval_s == Approx(c.want_s).epsilon(1e-6));
            CHECK(out.at_minimum == (c.overhead_s == 0));
        }
}

TEST_CASE("the shortest interval is kept", "[checkpoint]")
{
    for (const char *policy : {"young", "daly", "exact"}) {
        checkpoint_out out = decide(policy, {5, 86400, 0, UNKNOWN}, 1200);
        CHECK(out.interval_s == 1200);
        CHECK(out.at_minimum);
        CHECK(out.gap_ratio > 0);
        CHECK_FALSE(decide(policy, {5, 86400, 0, UNKNOWN}, 900).at_minimum);
    }
}

TEST_CASE("completion follows fault-tolerance.md 7.4", "[checkpoint]")
{
    // its table has D = 900; with D = 0 the time is the table's cost
    checkpoint_out out = decide("exact", {5, 172800, 20, 9000});
    CHECK(out.interval_s == Approx(1311.203).epsilon(1e-6));
    CHECK(out.expected_completion_s == Approx(9069.864).epsilon(1e-6));
    CHECK(out.checkpoint_count == 6);
    out = decide("exact", {5, 10800, 20, 9000});
    CHECK(out.interval_s == Approx(325.309).epsilon(2e-6));
    CHECK(out.expected_completion_s == Approx(9296.710).epsilon(1e-6));

    checkpoint_out brief = decide("young", {60, 3600, 20, 600});
    CHECK(brief.checkpoint_count == 0);
    CHECK(brief.expected_completion_s ==
          Approx(3600 * std::expm1(600 / 3600.0)).epsilon(1e-12));
    checkpoint_out even = decide("young", {50, 10000, 0, 3000});
    CHECK(even.interval_s == 1000);
    CHECK(even.checkpoint_count == 2); // the job ends where the third would be
    checkpoint_out open = decide("young", {60, 3600, 20, UNKNOWN});
    CHECK(std::isnan(open.checkpoint_count));
    CHECK(std::isnan(open.expected_completion_s));
}

TEST_CASE("hopeless jobs get numbers, not accidents", "[checkpoint]")
{
    for (const char *policy : {"young", "daly", "exact"}) {
        checkpoint_out out = decide(policy, {1e15, 1e-3, 1e15, 1e15});
        CHECK(out.interval_s > 0);
        CHECK(std::isfinite(out.interval_s));
        CHECK(out.waste_ratio == 1);
        CHECK(std::isinf(out.expected_time_ratio));
        CHECK(std::isnan(out.gap_ratio));
    }
}

TEST_CASE("checkpoint policies are sorted, documented and found by name", "[checkpoint]")
{
    CHECK(checkpoint_policy_find("") == nullptr);
    CHECK(checkpoint_policy_find("Young") == nullptr);
    for (const checkpoint_policy *p = checkpoint_policies; p->name; p++) {
        CHECK(checkpoint_policy_find(p->name) == p);
        CHECK((!p[1].name || std::strcmp(p->name, p[1].name) < 0));
        CHECK(std::strlen(p->purpose) > 0);
        CHECK(std::strlen(p->source) > 0);
        for (const param *row = p->params; row->name; row++) {
            CHECK(std::strlen(row->doc) > 0);
            CHECK((row->preset >= row->min || std::isnan(row->preset)));
        }
    }
}

TEST_CASE("every policy answers everything within bounds, the same each time",
          "[checkpoint][property]")
{
    rng r = rng_stream(1, "checkpoint_test");
    auto any = [&r](double low, double high) {
        return std::exp(std::log(low) + rng_uniform(&r) * std::log(high / low));
    };
    for (const checkpoint_policy *p = checkpoint_policies; p->name; p++)
        for (int round = 0; round < 3000; round++) {
            checkpoint_in in = {any(1e-12, CHECKPOINT_LONGEST_S),
                                any(CHECKPOINT_SHORTEST_S, CHECKPOINT_LONGEST_S),
                                any(1e-6, 1e6), any(1e-3, CHECKPOINT_LONGEST_S)};
            error err{};
            checkpoint_out out{}, again{};
            double param[PARAMS_MAX];
            REQUIRE(params_bind(p->params, nullptr, 0, param, &err) == OK);
            REQUIRE(checkpoint_decide(p, &in, param, &out, &err) == OK);
            REQUIRE(checkpoint_decide(p, &in, param, &again, &err) == OK);
            CHECK(out.interval_s == again.interval_s);
            CAPTURE(p->name, in.checkpoint_overhead_s, in.mean_failure_interval_s);
            CHECK(out.interval_s >= CHECKPOINT_SHORTEST_S);
            CHECK(std::isfinite(out.interval_s));
            CHECK(out.expected_time_ratio >= 1 - 1e-12);
            CHECK(out.waste_ratio >= 0);
            CHECK(out.waste_ratio <= 1);
            CHECK(!(out.gap_ratio < 0));
            CHECK(out.checkpoint_count >= 0);
            CHECK(out.expected_completion_s >= in.execution_time_s * (1 - 1e-12));
        }
}

TEST_CASE("no interval beats exact", "[checkpoint][property]")
{
    for (double cost = 1e-14; cost < 40; cost *= 1.7) {
        checkpoint_in in = {cost * 3600, 3600, 10, UNKNOWN};
        double best_s = checkpoint_best_interval_s(&in);
        double best = checkpoint_expected_time_ratio(&in, best_s);
        CAPTURE(cost);
        // the equation itself, in a form that does not cancel
        double y = best_s / 3600;
        if (y > 0.01 && cost < 10)
            CHECK(-(std::log1p(-y) + y) == Approx(cost).epsilon(1e-9));
        else if (y <= 0.01)
            CHECK(y * y / 2 * (1 + 2 * y / 3 + y * y / 2) == Approx(cost).epsilon(1e-5));
        for (double factor : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0})
            CHECK(checkpoint_expected_time_ratio(&in, best_s * factor) >=
                  best * (1 - 1e-13));
        checkpoint_in longer = {cost * 3600 * 1.1, 3600, 10, UNKNOWN};
        CHECK(checkpoint_best_interval_s(&longer) >= best_s);
    }
}

TEST_CASE("every column of checkpoint_formulas.csv comes out", "[checkpoint]")
{
    const char *data = getenv("GRIDPLAN_DATA");
    if (!data) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return;
    }
    std::ifstream in(std::string(data) + "/reference/checkpoint_formulas.csv");
    std::string line;
    REQUIRE(std::getline(in, line));
    size_t rows = 0;
    for (; std::getline(in, line); rows++) {
        double c[9];
        REQUIRE(std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", c, c + 1,
                            c + 2, c + 3, c + 4, c + 5, c + 6, c + 7, c + 8) == 9);
        const char *policies[] = {"young", "daly", "exact"};
        for (int i = 0; i < 3; i++) {
            checkpoint_out out = decide(policies[i], {c[0], c[1], c[2], UNKNOWN});
            CAPTURE(line, policies[i]);
            CHECK(out.interval_s == Approx(c[3 + i]).margin(1e-6).epsilon(0));
            CHECK(out.expected_time_ratio == Approx(c[6 + i]).margin(1e-8).epsilon(0));
        }
    }
    CHECK(rows == 20);
}
