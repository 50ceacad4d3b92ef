// drift_test.cpp - outliers, changes of the run times and intervals from errors: worked
// numbers (spec learning.md 12).
#include "tests/support.hpp"

#include <algorithm>

extern "C" {
#include "models/performance/drift.h"
#include "models/performance/log_interval.h"
}

#define REQUIRE_OK(call) REQUIRE((call) == OK)

namespace
{
struct arena_fixture {
    test_arena memory;
    arena *a = memory;
    error err = collecting_error(memory);
};

const drift_rule rule = drift_rule_preset;

// The sums after each z; -1 as start: no change.
struct summed {
    std::vector<double> up, down;
    long start = -1;
};

summed sum_up(const std::vector<double> &z)
{
    drift_sums sums{};
    summed out;

    for (size_t i = 0; i < z.size(); i++) {
        size_t start = 0;
        drift_sums before = sums;
        drift_verdict v = drift_add(&sums, &rule, i, z[i] * 0.05, 0.05, &start);
        double clamped = std::clamp(z[i], -3., 3.);

        out.up.push_back(std::max(0., before.up + clamped - 1));
        out.down.push_back(std::max(0., before.down - clamped - 1));
        if (v == DRIFT_CHANGE) {
            out.start = (long)start;
            CHECK(sums.up == 0);
            CHECK(sums.down == 0);
        } else {
            CHECK(sums.up == Approx(out.up.back()).margin(1e-12));
            CHECK(sums.down == Approx(out.down.back()).margin(1e-12));
        }
    }
    return out;
}

void check_list(const std::vector<double> &list, const std::vector<double> &wanted)
{
    REQUIRE(list.size() == wanted.size());
    for (size_t i = 0; i < list.size(); i++)
        CHECK(list[i] == Approx(wanted[i]).margin(1e-12));
}
} // namespace

TEST_CASE("Sums tell a change from a strange run", "[robust]")
{
    summed fast = sum_up({0.4, -1.2, 4.6, 3.9, 5.1});
    check_list(fast.up, {0, 0, 2, 4, 6});
    check_list(fast.down, {0, 0.2, 0, 0, 0});
    CHECK(fast.start == 2);

    summed none = sum_up({0.2, 6.9, -0.3, 0.8, -0.5, 7.0, 0.1, -1.1});
    check_list(none.up, {0, 2, 0.7, 0.5, 0, 2, 1.1, 0});
    CHECK(none.start == -1);

    summed slow = sum_up({2.5, 1.8, 2.2, 2.9});
    CHECK(slow.start == 0);
    CHECK(slow.up[2] == Approx(3.5));

    // Too short is what too long is.
    summed down = sum_up({-0.4, 1.2, -4.6, -3.9, -5.1});
    check_list(down.down, {0, 0, 2, 4, 6});
    CHECK(down.start == 2);
}

TEST_CASE("A run is an outlier by its ratio and the scale of errors", "[robust]")
{
    CHECK(drift_is_outlier(&rule, std::log(1000.), 0.05));
    CHECK(drift_is_outlier(&rule, -std::log(5.), 0.05));
    CHECK_FALSE(drift_is_outlier(&rule, std::log(2.), 0.05));
    CHECK_FALSE(drift_is_outlier(&rule, std::log(4.), 0.4)); // the limit is 4 s = 1.6
    CHECK(drift_is_outlier(&rule, std::log(5.), 0.4));
}

TEST_CASE("Runs of before a change weigh less with every new one", "[robust]")
{
    CHECK(drift_old_weight(3) == Approx(0.76923).epsilon(1e-5));
    CHECK(drift_old_weight(10) == Approx(0.5));
    CHECK(drift_old_weight(59) == Approx(0.14493).epsilon(1e-4));
    CHECK(drift_old_weight(60) == 0);
}

namespace
{
// Errors of one group, each of a configuration of its own unless `configurations`.
struct error_sets : arena_fixture {
    std::vector<log_error> list[LOG_GROUP_COUNT];
    std::vector<log_recent> recent{LOG_GROUP_COUNT};

    void add(log_group group, std::vector<double> sizes, size_t configurations = 0)
    {
        for (size_t i = 0; i < sizes.size(); i++)
            list[group].push_back({sizes[i], 0,
                                   configurations ? (double)(i % configurations)
                                                  : (double)list[group].size()});
    }
    log_set set(log_group group)
    {
        log_errors errors[LOG_GROUP_COUNT];
        log_set out{};

        for (size_t g = 0; g < LOG_GROUP_COUNT; g++)
            errors[g] = {list[g].data(), list[g].size()};
        log_set_of(errors, recent.data(), group, &out, a);
        return out;
    }
    double half(log_group group, double level, double u = 0, double d = 1, double n = 0,
                double d_c = 1)
    {
        log_set s = set(group);
        return log_half(log_set_quantile(&s, level), s.scale, u, d, n, d_c);
    }
};
const std::vector<double> ten = {.02, .05, .03, .10, .08, .01, .04, .06, .07, .02};
} // namespace

TEST_CASE_METHOD(error_sets, "Intervals of worked examples", "[robust]")
{
    SECTION("no error is known")
    {
        CHECK(half(LOG_INSIDE, 0.5) == Approx(0.1065).epsilon(1e-6));
        CHECK(half(LOG_INSIDE, 0.6827) == Approx(0.1741).epsilon(1e-6));
        CHECK(half(LOG_INSIDE, 0.8) == Approx(0.2313).epsilon(1e-6));
        CHECK(half(LOG_INSIDE, 0.9) == Approx(0.3505).epsilon(1e-6));
        CHECK(half(LOG_INSIDE, 0.95) == Approx(0.5460).epsilon(1e-6));
        CHECK(100 * std::exp(half(LOG_INSIDE, 0.9)) == Approx(141.9777).epsilon(1e-6));
        CHECK(100 * std::exp(-half(LOG_INSIDE, 0.9)) == Approx(70.4336).epsilon(1e-6));
        CHECK(100 * std::exp(half(LOG_INSIDE, 0.6)) == Approx(114.5567).epsilon(1e-6));
    }
    SECTION("ten errors of ten configurations")
    {
        add(LOG_INSIDE, ten);
        CHECK(set(LOG_INSIDE).scale == Approx(0.0541667).epsilon(1e-6));
        CHECK(half(LOG_INSIDE, 0.5) == Approx(0.0508083).epsilon(1e-6));
        CHECK(half(LOG_INSIDE, 0.9) == Approx(0.1496625).epsilon(1e-6));
        CHECK(half(LOG_INSIDE, 0.9, 0.05, 4) == Approx(0.4075104).epsilon(1e-6));
    }
    SECTION("ten errors of two configurations")
    {
        add(LOG_INSIDE, ten, 2);
        CHECK(set(LOG_INSIDE).scale == Approx(0.0619959).epsilon(1e-6));
        CHECK(half(LOG_INSIDE, 0.9) == Approx(0.2172958).epsilon(1e-6));
    }
    SECTION("an input that never varied")
    {
        add(LOG_SAME, std::vector<double>(10, 0), 1);
        CHECK(half(LOG_SAME, 0.9, 0, 1, 8) == Approx(0.0488434).epsilon(1e-6));
        CHECK(half(LOG_OUTSIDE, 0.9, 0, 10) == Approx(0.5926).epsilon(1e-4));
        CHECK(half(LOG_OUTSIDE, 0.9, 0, 10, 0, 10) == Approx(std::log(10.)));
    }
}

TEST_CASE_METHOD(error_sets, "Errors of seen configurations never widen or narrow others",
                 "[robust][property]")
{
    rng r = rng_create(4);

    for (int round = 0; round < 50; round++) {
        double before, low = 0;

        for (auto &group : list)
            group.clear();
        for (int i = 0; i < (int)(rng_uniform(&r) * 40); i++)
            add(LOG_INSIDE, {rng_uniform(&r) < 0.2 ? 0 : rng_uniform(&r)}, 1 + i % 7);
        before = half(LOG_INSIDE, 0.9);
        for (int i = 0; i < 30; i++)
            add(LOG_SAME, {1e-6 * i}, 1);
        CHECK(half(LOG_INSIDE, 0.9) == before);
        for (double level : {0.5, 0.6827, 0.8, 0.9, 0.95, 0.99}) { // nested
            CHECK(half(LOG_INSIDE, level) >= low);
            low = half(LOG_INSIDE, level);
        }
    }
}

TEST_CASE("Distance of a question from what was seen", "[robust]")
{
    CHECK(log_distance(2500, 100, 1000) == 2.5);
    CHECK(log_distance(40, 100, 1000) == 2.5);
    CHECK(log_distance(16, 2, 8) == 2);
    CHECK(log_distance(100, 100, 1000) == 1);
    CHECK(log_distance(-1, 0, 5) == 2); // no ratio to speak of
    CHECK(log_distance(7, -1, 5) == 2);
    std::vector<size_t> folds;
    for (size_t i = 0; i < 10; i++)
        folds.push_back(log_fold_of(i, 10));
    CHECK(folds == std::vector<size_t>{3, 2, 1, 0, 4, 3, 2, 1, 0, 4});
    CHECK(log_fold_count(9) == 9);
    CHECK(log_fold_of(7, 9) == 7);
    CHECK(log_fold_count(10) == 5);
}
