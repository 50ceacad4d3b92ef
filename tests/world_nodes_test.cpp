// world_nodes_test.cpp - the least completion of a job on several nodes, compared with
// all starts and all sets of nodes.
#include "tests/support.hpp"
#include "tests/world_support.hpp"

extern "C" {
#include "algorithms/world/many_nodes.h"
}

#include <memory>
#include <random>

namespace
{

// A profile of which tests say every step.
struct steps {
    std::vector<double> at_s = {0};
    std::vector<int64_t> free;
    profile p{};

    const profile *made(size_t amount_count)
    {
        p = {at_s.data(), free.data(), at_s.size(), at_s.size(), amount_count};
        return &p;
    }
    // Enough of all amounts in [start_s, end_s), or the step does not overlap.
    bool is_free(const std::vector<int64_t> &at_least, double start_s, double end_s) const
    {
        for (size_t i = 0; i < at_s.size(); i++) {
            double next_s = i + 1 < at_s.size() ? at_s[i + 1] : HUGE_VAL;
            if (at_s[i] >= end_s || next_s <= start_s)
                continue;
            for (size_t k = 0; k < at_least.size(); k++)
                if (free[i * at_least.size() + k] < at_least[k])
                    return false;
        }
        return true;
    }
    bool is_open_at(double t_s) const
    {
        size_t i = at_s.size();
        while (at_s[--i] > t_s)
            ;
        return free[i] >= 1;
    }
};

struct draws {
    std::mt19937_64 bits;
    explicit draws(uint64_t seed) : bits(seed)
    {
    }
    size_t below(size_t n)
    {
        return (size_t)(bits() % n);
    }
    template <class T> T of(std::initializer_list<T> list)
    {
        return list.begin()[below(list.size())];
    }
    steps profile_of(size_t amount_count, int64_t most)
    {
        steps s;
        while (s.at_s.size() < 5 && below(4))
            s.at_s.push_back(s.at_s.back() + (double)(1 + below(3)));
        for (size_t i = 0; i < s.at_s.size() * amount_count; i++)
            s.free.push_back((int64_t)below((size_t)most + 2) - 1);
        return s;
    }
};

// A question with all it points to.
struct tiny {
    world w{};
    world_job job{};
    std::deque<steps> profiles;
    std::vector<nodes_candidate> candidates;
    std::vector<int64_t> at_least;
    std::vector<nodes_shared> shared;
    std::vector<size_t> room;
    std::vector<const profile *> places;
    std::vector<const steps *> node, closed, licence,
        place; // by candidate, shared, value
    nodes_question q{};

    tiny()
    {
        job.time_limit_s = HUGE_VAL;
    }
    const steps *keep(steps s, size_t amount_count)
    {
        profiles.push_back(std::move(s));
        profiles.back().made(amount_count);
        return &profiles.back();
    }
    void add(double run_s, steps s, const steps *never = nullptr, size_t value = 0)
    {
        node.push_back(keep(std::move(s), at_least.size()));
        closed.push_back(never);
        candidates.push_back({candidates.size(), candidates.size(), value, run_s,
                              &node.back()->p, never ? &never->p : nullptr});
    }
    void ask(size_t wanted, double from_s = 0, double latest_s = HUGE_VAL)
    {
        if (room.empty() && places.empty())
            room = {SIZE_MAX};
        q.w = &w;
        q.job = &job;
        q.candidates = candidates.data();
        q.candidate_count = candidates.size();
        q.wanted = wanted;
        q.at_least = at_least.data();
        q.shared = shared.data();
        q.shared_count = shared.size();
        q.room = places.empty() ? room.data() : nullptr;
        q.places = places.data();
        q.value_count = places.empty() ? room.size() : places.size();
        q.from_s = from_s;
        q.latest_s = latest_s;
    }
    std::vector<size_t> best(nodes_answer *out)
    {
        test_arena a;
        std::vector<size_t> positions(q.wanted, WORLD_NONE);
        arena_run_best(a, positions.data(), out);
        return positions;
    }
    // By rising position, as candidates were added.
    bool fits(const std::vector<size_t> &set, double start_s) const;
    double run_of(const std::vector<size_t> &set) const
    {
        double run_s = 0;
        for (size_t i : set)
            run_s = std::max(run_s, run_at[i]);
        return run_s;
    }
    std::vector<double> run_at; // by position: candidates are sorted when asked

  private:
    void arena_run_best(arena *a, size_t *positions, nodes_answer *out)
    {
        run_at.clear();
        for (auto &c : candidates)
            run_at.push_back(c.run_s);
        error err{};
        REQUIRE(computed(a, &err, [&] {
                    nodes_room *space = nodes_room_create(
                        candidates.size(), shared.size(), q.value_count, a);
                    nodes_best(space, &q, positions, out);
                    return OK;
                }) == OK);
    }
};

bool tiny::fits(const std::vector<size_t> &set, double start_s) const
{
    double held_s = world_held_s(&w, &job, run_of(set)), end_s = start_s + held_s;
    std::map<size_t, size_t> members;
    for (size_t i : set) {
        for (auto &c : candidates)
            if (c.position == i)
                members[c.value]++;
        if (held_s > 0 ? !node[i]->is_free(at_least, start_s, end_s)
                       : closed[i] && !closed[i]->is_open_at(start_s))
            return false;
    }
    for (size_t k = 0; held_s > 0 && k < shared.size(); k++)
        if (!licence[k]->is_free({shared[k].at_least}, start_s, end_s))
            return false;
    for (auto &m : members)
        if (places.empty() ? m.second > room[m.first]
                           : held_s > 0 && !place[m.first]->is_free({(int64_t)m.second},
                                                                    start_s, end_s))
            return false;
    return true;
}

// All starts at which something begins, all sets: the least (completion, start, run).
nodes_answer brute(const tiny &t)
{
    nodes_answer best{HUGE_VAL, HUGE_VAL, HUGE_VAL, 0, 0};
    std::vector<double> starts = {t.q.from_s};
    for (auto &s : t.profiles)
        for (double at_s : s.at_s)
            if (at_s > t.q.from_s)
                starts.push_back(at_s);
    size_t n = t.candidates.size();
    for (size_t bits = 0; bits < size_t{1} << n; bits++) {
        std::vector<size_t> set;
        for (size_t i = 0; i < n; i++)
            if (bits >> i & 1)
                set.push_back(i);
        if (set.size() != t.q.wanted)
            continue;
        for (double start_s : starts) {
            double run_s = t.run_of(set), done_s = start_s + run_s;
            if (start_s > t.q.latest_s || !t.fits(set, start_s))
                continue;
            if (std::tie(done_s, start_s, run_s) <
                std::tie(best.done_s, best.start_s, best.run_s))
                best = {start_s, run_s, done_s, 0, 0};
        }
    }
    return best;
}

// Everything at once: zeros, ties, shared amounts, values with and without profiles.
void draw(draws &d, tiny &t)
{
    size_t n = 1 + d.below(5), amounts = 1 + d.below(2), values = 1 + d.below(3);
    int kind = (int)d.below(4);
    bool integers = d.below(2);
    for (size_t k = 0; k < amounts; k++)
        t.at_least.push_back(k == 0 || d.below(4) ? 1 + (int64_t)d.below(2) : INT64_MIN);
    if (d.below(4) == 0) {
        t.w.plan_with_limit = d.below(2);
        t.job.time_limit_s = 5;
    }
    for (size_t i = 0; i < n; i++) {
        double run_s = integers ? (double)d.below(5) : d.of({0.0, 0.1, 0.3, 0.7, 2.5});
        steps open = d.profile_of(amounts, 3), shut;
        // Reserved as a whole in some of the steps in which there is nothing of the
        // first.
        shut.at_s = open.at_s;
        for (size_t k = 0; k < open.at_s.size(); k++)
            shut.free.push_back(open.free[k * amounts] > 0 || d.below(2));
        const steps *closed = d.below(2) ? t.keep(std::move(shut), 1) : nullptr;
        t.add(run_s, std::move(open), closed, kind >= 2 ? d.below(values) : 0);
    }
    for (size_t k = d.below(3); kind != 1 && k-- > 0;) {
        t.licence.push_back(t.keep(d.profile_of(1, 2), 1));
        t.shared.push_back({&t.licence.back()->p, 1});
    }
    for (size_t v = 0; kind >= 2 && v < values; v++) {
        if (kind == 2) {
            t.room.push_back(d.below(3));
            continue;
        }
        t.place.push_back(t.keep(d.profile_of(1, 3), 1));
        t.places.push_back(&t.place.back()->p);
    }
    t.ask(1 + d.below(n), d.of({0.0, 0.0, 1.0, 2.5}),
          d.below(3) ? HUGE_VAL : (double)d.below(5));
}

} // namespace

TEST_CASE("Unlike nodes: the least completion, then the earlier start", "[world]")
{
    struct {
        const char *when;
        double busy_until_s, start_s, done_s;
        std::vector<size_t> positions;
    } cases[] = {
        {"all free", 0, 0, 20, {1, 2}},
        {"the fastest busy until 15", 15, 15, 35, {1, 2}},
        {"until 20: both end at 40", 20, 0, 40, {0, 1}},
        {"until 25", 25, 0, 40, {0, 1}},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            tiny t;
            t.at_least = {1};
            t.add(40, {{0}, {1}, {}});
            t.add(20, {{0}, {1}, {}});
            if (c.busy_until_s > 0)
                t.add(10, {{0, c.busy_until_s}, {0, 1}, {}});
            else
                t.add(10, {{0}, {1}, {}});
            t.ask(2);
            nodes_answer out{};
            CHECK(t.best(&out) == c.positions);
            CHECK(out.start_s == c.start_s);
            CHECK(out.done_s == c.done_s);
        }
}

TEST_CASE("Several nodes: all starts and sets give no better one", "[world][property]")
{
    draws d(20261);
    size_t found = 0, rounds = is_long_run() ? 1000000 : 6000;
    for (size_t i = 0; i < rounds; i++) {
        tiny t;
        draw(d, t);
        nodes_answer out{};
        std::vector<size_t> set = t.best(&out);
        nodes_answer want = brute(t);
        CAPTURE(i, t.q.wanted, t.candidates.size(), want.start_s, want.run_s);
        REQUIRE(out.done_s == want.done_s);
        REQUIRE(out.start_s == want.start_s);
        REQUIRE(out.run_s == want.run_s);
        if (want.done_s == HUGE_VAL)
            continue;
        found++;
        REQUIRE(std::is_sorted(set.begin(), set.end()));
        REQUIRE(std::adjacent_find(set.begin(), set.end()) == set.end());
        REQUIRE(t.fits(set, out.start_s));
        REQUIRE(t.run_of(set) == out.run_s);
    }
    CHECK(found > rounds / 4);
}

TEST_CASE("Equal run times: the nodes of least index that are free", "[world][property]")
{
    draws d(20262);
    for (size_t i = 0; i < 2000; i++) {
        tiny t;
        size_t n = 2 + d.below(5);
        t.at_least = {1};
        for (size_t k = 0; k < n; k++)
            t.add(2, d.profile_of(1, 2));
        t.ask(1 + d.below(n - 1));
        nodes_answer out{};
        std::vector<size_t> set = t.best(&out), want;
        for (size_t k = 0; k < n && want.size() < t.q.wanted; k++)
            if (out.done_s < HUGE_VAL &&
                t.node[k]->is_free(t.at_least, out.start_s, out.start_s + 2))
                want.push_back(k);
        if (out.done_s < HUGE_VAL)
            REQUIRE(set == want);
    }
}

TEST_CASE("Many run times: valid, and as good as the quantiles allow",
          "[world][property]")
{
    draws d(20263);
    for (size_t i = 0; i < 15; i++) {
        tiny t;
        size_t n = 80 + d.below(150), wanted = 1 + d.below(5);
        t.at_least = {1};
        for (size_t k = 0; k < n; k++)
            t.add(1 + (double)d.below(4000) / 100, d.profile_of(1, 1));
        t.ask(wanted);
        nodes_answer out{};
        std::vector<size_t> set = t.best(&out);
        // Exact: for each run time the first start of enough nodes within it.
        double exact_s = HUGE_VAL;
        for (double limit_s : t.run_at)
            for (double start_s = 0; start_s < 15; start_s++) {
                std::vector<double> run;
                for (size_t k = 0; k < n; k++)
                    if (t.run_at[k] <= limit_s &&
                        t.node[k]->is_free(t.at_least, start_s, start_s + limit_s))
                        run.push_back(t.run_at[k]);
                std::sort(run.begin(), run.end());
                if (run.size() >= wanted)
                    exact_s = std::min(exact_s, start_s + run[wanted - 1]);
            }
        REQUIRE(out.done_s < HUGE_VAL);
        REQUIRE(t.fits(set, out.start_s));
        CHECK(out.done_s >= exact_s);
        CHECK(out.done_s <= exact_s + 40.0 / 8);
    }
}

TEST_CASE("Several nodes and a budget that is spent: nothing, or what was found",
          "[world]")
{
    tiny t;
    budget spent = make_budget([](void *) { return 1.0; }, nullptr);
    t.w.budget = &spent;
    t.at_least = {1};
    for (int k = 0; k < 100; k++)
        t.add(1 + k % 7, {{0}, {1}, {}});
    t.ask(5);
    nodes_answer out{};
    t.best(&out);
    CHECK(out.done_s == HUGE_VAL);
    CHECK(out.start_s == HUGE_VAL);
}
