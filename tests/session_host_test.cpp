// session_host_test.cpp - what a host starts now, from a plan made a while ago.
#include "tests/support.hpp"

extern "C" {
#include "algorithms/session/host.h"
}

namespace
{

struct hold {
    double cpus, from_s, to_s;
};
struct row {
    double cpus, time_s, start_s;
    bool may_start;
};

std::vector<bool> starts(double cpus, const std::vector<hold> &holds,
                         const std::vector<row> &rows)
{
    test_arena a;
    std::vector<session_hold> h;
    std::vector<session_waiting> w;
    std::vector<char> out(rows.size() + 1);
    error err{};

    for (const hold &x : holds)
        h.push_back({&x.cpus, x.from_s, x.to_s});
    for (const row &x : rows)
        w.push_back({&x.cpus, x.time_s, x.start_s, x.may_start});
    REQUIRE(computed(a, &err, [&] {
                session_host_starts(&cpus, 1, h.data(), h.size(), w.data(), w.size(),
                                    reinterpret_cast<bool *>(out.data()), nullptr, a);
                return OK;
            }) == OK);
    return {out.begin(), out.end() - 1};
}

using yes = std::vector<bool>;

// Whether the rule's own words hold: every start fits beside what runs and started
// before, and leaves the first that was passed over its place.
yes by_words(double cpus, std::vector<hold> holds, const std::vector<row> &rows)
{
    const row *first = nullptr;
    yes out;
    auto fits = [&](const std::vector<hold> &all, double need, double from, double time) {
        // Whole times: every half second is looked at.
        for (double t = from; t < from + time || t == from; t += 0.5) {
            double taken = need;
            for (const hold &h : all)
                taken += h.from_s <= t && t < h.to_s ? h.cpus : 0;
            if (need > 0 && taken > cpus)
                return false;
        }
        return true;
    };

    for (const row &r : rows) {
        std::vector<hold> with = holds;
        with.push_back({r.cpus, 0, r.time_s});
        bool ok = r.may_start && fits(holds, r.cpus, 0, r.time_s);
        if (ok && first)
            ok = fits(with, first->cpus, std::fmax(0, first->start_s), first->time_s);
        if (ok)
            holds = with;
        else if (!first)
            first = &r;
        out.push_back(ok);
    }
    return out;
}

} // namespace

TEST_CASE("a host starts its tasks in the order of the plan, as room allows", "[session]")
{
    CHECK(starts(1, {}, {}).empty());
    CHECK(starts(1, {}, {{1, 5, 0, true}, {1, 5, 5, true}}) == yes{true, false});
    CHECK(starts(2, {}, {{1, 5, 0, true}, {1, 5, 5, true}}) == yes{true, true});
    CHECK(starts(1, {{1, -9, 3}}, {{1, 5, 0, true}}) == yes{false});
    CHECK(starts(1, {{1, -9, 0}}, {{1, 5, 0, true}}) == yes{true});
}

TEST_CASE("a task that waits keeps its place, and short ones go before it", "[session]")
{
    // 2 cpus, one taken until 4; the first needs both at 4.
    std::vector<hold> busy = {{1, -1, 4}};

    CHECK(starts(2, busy, {{2, 3, 4, true}, {1, 4, 7, true}}) == yes{false, true});
    CHECK(starts(2, busy, {{2, 3, 4, true}, {1, 5, 7, true}}) == yes{false, false});
    // It cannot start for others' sake, and is planned for 4.
    CHECK(starts(1, {}, {{1, 3, 4, false}, {1, 4, 7, true}}) == yes{false, true});
    CHECK(starts(1, {}, {{1, 3, 4, false}, {1, 4.5, 7, true}}) == yes{false, false});
    // Late: its place is now.
    CHECK(starts(1, {}, {{1, 3, -2, false}, {1, 1, 7, true}}) == yes{false, false});
}

TEST_CASE("a reservation that comes is kept free", "[session]")
{
    CHECK(starts(1, {{1, 5, 8}}, {{1, 5, 0, true}}) == yes{true});
    CHECK(starts(1, {{1, 5, 8}}, {{1, 6, 0, true}}) == yes{false});
}

TEST_CASE("what a host starts is what the rule says", "[property]")
{
    for (uint64_t seed = 0; seed < 3000; seed++) {
        rng r = rng_stream(seed, "session host");
        double cpus = double(1 + rng_index(&r, 4));
        std::vector<hold> holds;
        std::vector<row> rows;

        for (size_t i = rng_index(&r, 4); i > 0; i--) {
            double from = double(rng_index(&r, 6)) - 3;
            holds.push_back(
                {double(rng_index(&r, 3)), from, from + double(rng_index(&r, 6))});
        }
        for (size_t i = rng_index(&r, 6); i > 0; i--)
            rows.push_back({double(rng_index(&r, 4)), double(rng_index(&r, 5)),
                            double(rng_index(&r, 8)) - 2, rng_uniform(&r) < 0.7});
        INFO("seed " << seed);
        CHECK(starts(cpus, holds, rows) == by_words(cpus, holds, rows));
    }
}
