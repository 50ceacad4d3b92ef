// world_profile_test.cpp - what is free over time, against sums of all intervals.
#include "tests/support.hpp"
#include "tests/world_support.hpp"

#include <algorithm>

extern "C" {
#include "algorithms/world/profile.h"
}

namespace
{

using amounts_list = std::vector<int64_t>;

struct interval {
    double start_s, end_s;
    amounts_list taken;
};

// The sums themselves.
struct naive {
    amounts_list capacity;
    std::vector<interval> taken;

    int64_t free(size_t k, double t) const
    {
        int64_t left = capacity[k];
        for (auto &i : taken)
            if (i.start_s <= t && t < i.end_s && left < AMOUNT_UNLIMITED)
                left -= i.taken[k];
        return left;
    }
    std::vector<double> times() const
    {
        std::vector<double> all = {0};
        for (auto &i : taken)
            for (double t : {i.start_s, i.end_s})
                if (t < HUGE_VAL)
                    all.push_back(t);
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }
    bool fits(const amounts_list &need, double start, double end) const
    {
        auto enough = [&](double t) {
            for (size_t k = 0; k < need.size(); k++)
                if (need[k] > 0 && free(k, t) < need[k])
                    return false;
            return true;
        };
        if (!(start < end))
            return true;
        if (!enough(start))
            return false;
        for (double t : times())
            if (start < t && t < end && !enough(t))
                return false;
        return true;
    }
    double fit(const amounts_list &need, double held, double from, double latest) const
    {
        if (from > latest)
            return HUGE_VAL;
        if (fits(need, from, from + held))
            return from;
        std::vector<double> all = times();
        for (size_t i = 1; i < all.size(); i++)
            if (all[i] > from && all[i] <= latest && changes(all[i - 1], all[i]) &&
                fits(need, all[i], all[i] + held))
                return all[i];
        return HUGE_VAL;
    }
    bool changes(double before, double t) const
    {
        for (size_t k = 0; k < capacity.size(); k++)
            if (free(k, before) != free(k, t))
                return true;
        return false;
    }
};

amounts_list at_least(const amounts_list &need)
{
    amounts_list of = need;
    for (auto &n : of)
        if (n == 0)
            n = INT64_MIN;
    return of;
}

double fit(const profile &p, const amounts_list &need, double held, double from,
           double latest = HUGE_VAL)
{
    size_t looks = 0;
    double s = profile_fit_amounts(&p, at_least(need).data(), held, from, latest, &looks);
    CHECK((looks > 0 || s == HUGE_VAL));
    return s;
}

profile make(const amounts_list &capacity, arena *a)
{
    profile p{};
    profile_reset(&p, capacity.data(), capacity.size(), a);
    return p;
}

// Equal, sorted, without a step that changes nothing, and right everywhere.
bool agrees(const profile &p, const naive &n)
{
    for (size_t i = 0; i < p.count; i++) {
        if (i ? !(p.at_s[i - 1] < p.at_s[i]) : p.at_s[0] != 0)
            return false;
        if (i &&
            std::equal(p.free + i * p.amount_count, p.free + (i + 1) * p.amount_count,
                       p.free + (i - 1) * p.amount_count))
            return false;
    }
    for (double t : n.times())
        for (size_t k = 0; k < p.amount_count; k++)
            if (p.free[profile_at(&p, t) * p.amount_count + k] != n.free(k, t))
                return false;
    return true;
}

struct same_steps {
    std::vector<double> at;
    amounts_list free;
    explicit same_steps(const profile &p)
        : at(p.at_s, p.at_s + p.count), free(p.free, p.free + p.count * p.amount_count)
    {
    }
    bool operator==(const same_steps &o) const
    {
        return at == o.at && free == o.free;
    }
};

} // namespace

TEST_CASE("a profile starts with all that there is, for ever", "[world][profile]")
{
    test_arena arena;
    profile p = make({4, AMOUNT_UNLIMITED}, arena.a);

    CHECK(p.count == 1);
    CHECK(fit(p, {4, 1}, 10, 0) == 0);
    CHECK(fit(p, {4, 1}, HUGE_VAL, 7) == 7);
    CHECK(fit(p, {5, 0}, 10, 0) == HUGE_VAL);
    CHECK(fit(p, {4, 0}, 10, 5, 4) == HUGE_VAL);
    CHECK(fit(p, {4, 0}, 10, 5, 5) == 5);
    CHECK(fit(p, {4, 0}, 10, HUGE_VAL) == HUGE_VAL);
}

TEST_CASE("a short job starts in the hole before a wide one", "[world][profile]")
{
    test_arena arena;
    profile p = make({4}, arena.a);
    const amounts_list two = {2}, four = {4};

    profile_take_amounts(&p, 0, 10, two.data(), arena.a);
    CHECK(fit(p, four, 10, 0) == 10);
    profile_take_amounts(&p, 10, 20, four.data(), arena.a);
    CHECK(fit(p, two, 10, 0) == 0);
    CHECK(fit(p, two, 12, 0) == 20);
    CHECK(fit(p, two, 12, 0, 19) == HUGE_VAL);
    CHECK(fit(p, {0}, 12, 0) == 0);
    profile_take_amounts(&p, 0, 10, two.data(), arena.a);
    CHECK(p.count == 2); // both intervals are full: one step
    profile_give_amounts(&p, 0, 10, two.data(), arena.a);
    CHECK(p.count == 3);
}

TEST_CASE("more held than there is: only who needs none of it fits", "[world][profile]")
{
    test_arena arena;
    profile p = make({2, 8}, arena.a);
    const amounts_list three = {3, 0};

    profile_take_amounts(&p, 0, 4, three.data(), arena.a);
    CHECK(p.free[0] == -1);
    CHECK(fit(p, {1, 0}, 2, 0) == 4);
    CHECK(fit(p, {0, 8}, 2, 0) == 0);
}

TEST_CASE("a length that vanishes beside its start is none", "[world][profile]")
{
    test_arena arena;
    profile p = make({1}, arena.a);
    const amounts_list one = {1};

    profile_take_amounts(&p, 0, 1e18, one.data(), arena.a);
    CHECK(fit(p, one, 1, 0) == 1e18);
    CHECK(fit(p, one, 1, 1e17) == 1e17);
    profile_take_amounts(&p, 1e18, 1e18 + 1, one.data(), arena.a);
    CHECK(p.count == 2);
    CHECK(fit(p, one, 0, 3) == 3);
}

TEST_CASE("what is free of a resource and of a shared amount", "[world][profile]")
{
    test_arena arena;
    given_world given;
    given.resources = {{"a", 4}, {"b", 8}};
    given.shared = {{"licence", 2}};
    given.jobs = {{"j", NAN, 1}};
    given.jobs[0].needs = {{"licence", 1}};
    given.holders = {
        {"r", {0}, 10, 3, 0, 0, {{"licence", 3}}}, // twice what there is, with q
        {"q", {0, 1}, HUGE_VAL, 2},
        {"p", {0}, 30, 0},
        {"nothing", {0}, 5, 4},
    };
    given.holders[2].reservation = given.holders[2].all = true;
    given.holders[2].start_s = 20;
    given.holders[3].start_s = 5; // of no length
    given.holders[3].reservation = true;
    const world *w = given.build();
    profile p{};

    profile_of_resource(w, 0, &p, arena.a);
    REQUIRE(p.count == 4);
    CHECK(p.amount_count == w->node_amount_count);
    CHECK(std::vector<double>(p.at_s, p.at_s + 4) == std::vector<double>{0, 10, 20, 30});
    CHECK(p.free[AMOUNT_CPUS] == -1000000);
    CHECK(p.free[p.amount_count + AMOUNT_CPUS] == 2000000);
    CHECK(p.free[2 * p.amount_count + AMOUNT_CPUS] == 0);
    CHECK(p.free[2 * p.amount_count + AMOUNT_MEMORY] == 0);
    CHECK(p.free[2 * p.amount_count + AMOUNT_PRESENCE] == 0);
    CHECK(p.free[3 * p.amount_count + AMOUNT_CPUS] == 2000000);
    CHECK(p.free[3 * p.amount_count + AMOUNT_MEMORY] == AMOUNT_UNLIMITED);
    CHECK(p.free[3 * p.amount_count + AMOUNT_PRESENCE] == AMOUNT_PRESENCE_ALL - 1);
    profile_of_resource(w, 1, &p, arena.a);
    CHECK(p.count == 1);
    CHECK(p.free[AMOUNT_CPUS] == 6000000);
    profile_of_shared(w, AMOUNT_NAMED, &p, arena.a);
    REQUIRE(p.count == 2);
    CHECK(p.free[0] == -1000000);
    CHECK(p.at_s[1] == 10);
    CHECK(p.free[1] == 2000000);
}

TEST_CASE("holders of more than 64 bits", "[world][profile]")
{
    test_arena arena;
    given_world given;
    given.resources = {{"a", 4, 9e17}};
    given.jobs = {{"j", NAN, 1}};
    for (int i = 0; i < 100; i++)
        given.holders.push_back({"r", {0}, 10.0 + i, 0, 9e17});
    const world *w = given.build();
    profile p{};

    profile_of_resource(w, 0, &p, arena.a);
    CHECK(p.free[AMOUNT_MEMORY] == -AMOUNT_UNLIMITED);
    CHECK(p.free[(p.count - 1) * p.amount_count + AMOUNT_MEMORY] == 900000000000000000);
    CHECK(p.free[(p.count - 2) * p.amount_count + AMOUNT_MEMORY] == 0);
    CHECK(p.free[(p.count - 3) * p.amount_count + AMOUNT_MEMORY] == -900000000000000000);
}

TEST_CASE("fit, take and give are those of the sums", "[world][profile][property]")
{
    rng r = rng_stream(7, "world.profile");
    auto time = [&]() {
        static const double some[] = {0, 0, 1, 2, 3, 5, 8, 0.5, 0.25, 1e17, HUGE_VAL};
        return rng_index(&r, 2) ? static_cast<double>(rng_index(&r, 12))
                                : some[rng_index(&r, 11)];
    };
    for (int round = 0; round < 400; round++) {
        test_arena arena;
        size_t amounts = 1 + rng_index(&r, 3);
        naive n;
        for (size_t k = 0; k < amounts; k++)
            n.capacity.push_back(rng_index(&r, 8) ? (int64_t)rng_index(&r, 6)
                                                  : AMOUNT_UNLIMITED);
        auto some_amounts = [&]() {
            amounts_list list;
            for (size_t k = 0; k < amounts; k++)
                list.push_back((int64_t)rng_index(&r, 4));
            return list;
        };
        profile p = make(n.capacity, arena.a);
        std::vector<same_steps> before;
        for (size_t i = rng_index(&r, 12); i > 0; i--) {
            double start = std::min(time(), 1e17);
            interval next = {start, rng_index(&r, 4) ? start + time() : time(),
                             some_amounts()};
            before.emplace_back(p);
            profile_take_amounts(&p, next.start_s, next.end_s, next.taken.data(),
                                 arena.a);
            n.taken.push_back(next);
        }
        REQUIRE(agrees(p, n));
        profile copy{};
        profile_copy(&copy, &p, arena.a);
        REQUIRE(same_steps(copy) == same_steps(p));
        for (int i = 0; i < 12; i++) {
            amounts_list need = some_amounts();
            double held = time(), from = time(),
                   latest = rng_index(&r, 3) ? HUGE_VAL : time();
            if (from == HUGE_VAL)
                from = 4;
            CAPTURE(round, held, from, latest);
            REQUIRE(fit(p, need, held, from, latest) == n.fit(need, held, from, latest));
        }
        for (size_t i = n.taken.size(); i-- > 0;) {
            profile_give_amounts(&p, n.taken[i].start_s, n.taken[i].end_s,
                                 n.taken[i].taken.data(), arena.a);
            REQUIRE(same_steps(p) == before[i]);
        }
    }
}
