// similar_test.cpp - a run time for an application that never ran, from those like it.
#include "tests/support.hpp"

#include <algorithm>
#include <vector>

extern "C" {
#include "models/base/rng.h"
#include "models/fitted/similar.h"
}

namespace
{
similar_application by_name(double median_s)
{
    return {"a", true, median_s, 0, 0};
}

similar_application by_inputs(double median_s, uint64_t known, uint64_t shared)
{
    return {"a", false, median_s, known, shared};
}

similar_time time_of(const std::vector<similar_application> &list)
{
    test_arena a;
    similar_time out;

    similar_time_of(list.data(), list.size(), &out, a);
    return out;
}
} // namespace

TEST_CASE("similar: what names end in", "[similar]")
{
    CHECK(std::string(similar_name_end("nfcore/bacass/FASTQC")) == "FASTQC");
    CHECK(std::string(similar_name_end("FLOW:SUB:SORT")) == "SORT");
    CHECK(std::string(similar_name_end("org/tool.v2:align")) == "align");
    CHECK(std::string(similar_name_end("align")) == "align");
    CHECK(std::string(similar_name_end("align/")).empty());
    CHECK(std::string(similar_name_end("")).empty());
}

TEST_CASE("similar: the median of the medians, and an interval that holds them",
          "[similar]")
{
    // Median 40; ln(40 / 10) is the spread, larger than ln 3: a factor of 4.
    similar_time t = time_of({by_name(90), by_name(10), by_name(40)});
    CHECK(t.count == 3);
    CHECK(t.by == SIMILAR_BY_NAME);
    CHECK(t.time_s == Approx(40));
    CHECK(t.low_s == Approx(10));
    CHECK(t.high_s == Approx(160));
    CHECK(similar_quantile(&t, 0.05) == t.low_s);
    CHECK(similar_quantile(&t, 0.5) == t.time_s);
    CHECK(similar_quantile(&t, 0.95) == t.high_s);
    // An even number: the mean of the middle two, 150; 150 / 100 is less than 3.
    t = time_of({by_name(200), by_name(100)});
    CHECK(t.time_s == Approx(150));
    CHECK(t.low_s == Approx(50));
    CHECK(t.high_s == Approx(450));
    // The one above decides: 100 to 1000 is a factor of 10.
    t = time_of({by_name(100), by_name(100), by_name(1000)});
    CHECK(t.time_s == Approx(100));
    CHECK(t.low_s == Approx(10));
    CHECK(t.high_s == Approx(1000));
}

TEST_CASE("similar: names come before inputs, of which half must be shared", "[similar]")
{
    similar_time t = time_of({by_inputs(500, 2, 2), by_name(60)});
    CHECK(t.count == 1);
    CHECK(t.time_s == Approx(60));
    CHECK(t.low_s == Approx(20));
    CHECK(t.high_s == Approx(180));
    // 1 of 3 is less than half, 2 of 4 are half of them, of none there is no half.
    t = time_of({by_inputs(500, 3, 1), by_inputs(70, 4, 2), by_inputs(900, 0, 0)});
    CHECK(t.count == 1);
    CHECK(t.by == SIMILAR_BY_INPUTS);
    CHECK(t.time_s == Approx(70));
    for (const auto &list : std::vector<std::vector<similar_application>>{
             {}, {by_inputs(500, 3, 1)}, {by_name(0)}, {by_name(NAN)}}) {
        t = time_of(list);
        CHECK(t.count == 0);
        CHECK(std::isnan(t.time_s));
        CHECK(std::isnan(t.low_s));
        CHECK(std::isnan(t.high_s));
    }
}

TEST_CASE("similar: any medians lie in the interval, in any order", "[similar][property]")
{
    rng r = rng_create(11);

    for (int round = 0; round < 500; round++) {
        std::vector<similar_application> list;
        size_t count = 1 + size_t(8 * rng_uniform(&r));
        bool tied = rng_uniform(&r) < 0.2;

        for (size_t i = 0; i < count; i++)
            list.push_back(by_name(tied ? 7 : std::exp(20 * rng_uniform(&r) - 10)));
        similar_time t = time_of(list);
        REQUIRE(t.count == count);
        REQUIRE(t.low_s > 0);
        REQUIRE(t.low_s <= t.time_s / 3 * (1 + 1e-12));
        REQUIRE(t.high_s >= t.time_s * 3 * (1 - 1e-12));
        for (const auto &one : list) {
            REQUIRE(t.low_s <= one.median_s * (1 + 1e-12));
            REQUIRE(one.median_s <= t.high_s * (1 + 1e-12));
        }
        std::reverse(list.begin(), list.end());
        for (auto &one : list)
            one.median_s *= 4; // exact
        similar_time other = time_of(list);
        REQUIRE(other.time_s == 4 * t.time_s);
        REQUIRE(other.high_s == Approx(4 * t.high_s));
        REQUIRE(other.low_s == Approx(4 * t.low_s));
    }
}
