// lease_test.cpp - what may be given away, against sums of all intervals.
#include "tests/support.hpp"
#include "tests/world_support.hpp"

extern "C" {
#include "algorithms/world/lease.h"
}

namespace
{
// Takes of jobs of a world; those with an owner are granted.
struct leases {
    given_world given;
    std::deque<std::vector<size_t>> at;
    std::vector<lease_take> takes;
    test_arena a;

    void add(const given_job &job, std::vector<size_t> positions, double start_s,
             double end_s, const char *owner = nullptr)
    {
        lease_take t{};
        given.jobs.push_back(job);
        t.job = given.jobs.size() - 1;
        t.positions = at.emplace_back(positions).data();
        t.position_count = positions.size();
        t.start_s = start_s;
        t.end_s = end_s;
        t.owner = owner;
        takes.push_back(t);
    }
    // "TAKE AMOUNT needed free at OWNER,..." of each refusal.
    std::string check()
    {
        const world *w = given.build();
        const lease_refusal *list;
        size_t count = lease_check(w, takes.data(), takes.size(), &list, a);
        std::string text;
        for (size_t i = 0; i < count; i++) {
            const lease_refusal &r = list[i];
            std::ostringstream one;
            one << w->jobs[takes[r.take].job].id << " " << w->amounts[r.amount].name
                << " " << amount_value(w, r.amount, r.needed) << " "
                << amount_value(w, r.amount, r.free) << " " << r.at_s;
            for (size_t k = 0; k < r.owner_count; k++)
                one << (k ? "," : " ") << r.owners[k];
            text += (i ? "; " : "") + one.str();
        }
        return text;
    }
};

given_job of(const char *id, double cpus, named_amounts needs = {})
{
    given_job j;
    j.id = id;
    j.cpus = cpus;
    j.needs = needs;
    return j;
}

given_resource node(const char *id, double cpus)
{
    given_resource r;
    r.id = id;
    r.cpus = cpus;
    return r;
}
} // namespace

TEST_CASE("a lease is granted only beside what others have", "[lease]")
{
    leases l;
    l.given.resources = {node("n", 8)};
    l.add(of("a", 6), {0}, 0, HUGE_VAL, "A");
    l.add(of("b", 4), {0}, 0, HUGE_VAL);
    CHECK(l.check() == "b cpus 4 2 0 A");

    leases beside;
    beside.given.resources = {node("n", 8)};
    beside.add(of("a", 6), {0}, 0, HUGE_VAL, "A");
    beside.add(of("b", 2), {0}, 0, HUGE_VAL);
    CHECK(beside.check() == "");

    leases twice; // what is asked for at once does not get the same twice
    twice.given.resources = {node("n", 8)};
    twice.add(of("a", 5), {0}, 0, 10);
    twice.add(of("b", 5), {0}, 5, 15);
    twice.add(of("c", 5), {0}, 10, 20);
    twice.add(of("d", 3), {0}, 0, HUGE_VAL);
    CHECK(twice.check() == "b cpus 5 3 5");
}

TEST_CASE("what runs, reservations, several nodes and shared amounts stand in the way",
          "[lease]")
{
    leases l;
    l.given.resources = {node("n", 8), node("m", 8)};
    l.given.shared = {{"licence", 1}};
    l.given.holders = {{"r", {0}, 100, 3}, {"whole", {1}, 30}};
    l.given.holders[1].start_s = 20;
    l.given.holders[1].reservation = l.given.holders[1].all = true;
    l.add(of("x", 4, {{"licence", 1}}), {0, 1}, 0, 10, "X");
    l.add(of("two", 2), {0, 1}, 0, 10);    // 8 - 3 - 4 = 1 on the first
    l.add(of("later", 2), {0, 1}, 10, 20); // they are half open
    l.add(of("whole", 1), {1}, 15, 25);    // nothing is free in it
    l.add(of("shared", 1, {{"licence", 1}}), {1}, 5, 12);
    l.add(of("free", 1, {{"licence", 1}}), {1}, 10, 12);
    l.add(of("large", 9), {1}, 40, 50);
    CHECK(l.check() == "two cpus 2 1 0 X; whole cpus 1 0 20; shared licence 1 0 5 X; "
                       "large cpus 9 8 40");
}

TEST_CASE("places and exclusive use of a node are given away once", "[lease]")
{
    leases l;
    l.given.resources = {node("n", NAN), node("m", 8)};
    l.given.resources[0].n_max = 1;
    given_job alone = of("alone", 1);
    alone.exclusive = true;
    l.add(of("a", 1), {0}, 0, 10, "A");
    l.add(of("b", 1), {0}, 9, 12);
    l.add(of("c", 1), {1}, 0, 10, "B");
    l.add(alone, {1}, 0, 10);
    l.add(of("d", 1), {0}, 10, HUGE_VAL);
    CHECK(l.check() == "b n_max 1 0 9 A; alone exclusive 1e+09 1e+09 0 B");
}

TEST_CASE("leases are granted exactly when no sum exceeds what there is",
          "[lease][property]")
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct rng g = rng_create(seed);
        auto whole = [&](double n) { return std::floor(rng_uniform(&g) * n); };
        leases l;
        size_t nodes = 1 + (size_t)whole(3);
        for (size_t i = 0; i < nodes; i++)
            l.given.resources.push_back(node("n", 2 + whole(6)));
        l.given.shared = {{"s", 1 + whole(3)}};
        for (size_t i = 0; i < (size_t)whole(3); i++)
            l.given.holders.push_back(
                {"r", {(size_t)whole((double)nodes)}, 1 + whole(6), whole(4)});
        std::vector<size_t> granted;
        size_t count = (size_t)whole(9);
        for (size_t i = 0; i < count; i++) {
            double start = whole(6);
            std::vector<size_t> on;
            for (size_t p = 0; p < nodes; p++)
                if (whole(2) > 0)
                    on.push_back(p);
            l.add(of("j", whole(4), {{"s", whole(2)}}), on, start,
                  whole(4) > 0 ? start + 1 + whole(5) : HUGE_VAL,
                  i < count / 3 ? "o" : nullptr);
        }
        const world *w = l.given.build();
        const lease_refusal *list;
        size_t refused = lease_check(w, l.takes.data(), l.takes.size(), &list, l.a),
               r = 0;
        REQUIRE(refused <= count);
        auto used = [&](size_t p, double t, bool shared) {
            double sum = 0;
            for (auto &h : l.given.holders)
                sum += !shared && h.positions[0] == p && t < h.end_s ? h.cpus : 0;
            for (size_t i : granted) {
                const lease_take &k = l.takes[i];
                const given_job &j = l.given.jobs[k.job];
                bool on = std::find(k.positions, k.positions + k.position_count, p) !=
                          k.positions + k.position_count;
                if (k.start_s <= t && t < k.end_s)
                    sum += shared ? j.needs.at("s") : on ? j.cpus : 0;
            }
            return sum;
        };
        for (size_t i = 0; i < count; i++)
            if (l.takes[i].owner)
                granted.push_back(i);
        for (size_t i = 0; i < count; i++) {
            const lease_take &k = l.takes[i];
            const given_job &j = l.given.jobs[k.job];
            bool fits = true;
            if (k.owner)
                continue;
            for (double t = k.start_s; t < k.end_s && t < 13; t++) {
                for (size_t p = 0; p < k.position_count; p++)
                    fits = fits &&
                           (j.cpus == 0 || used(k.positions[p], t, false) + j.cpus <=
                                               l.given.resources[k.positions[p]].cpus);
                fits = fits &&
                       (j.needs.at("s") == 0 ||
                        used(0, t, true) + j.needs.at("s") <= l.given.shared.at("s"));
            }
            INFO("seed " << seed << " take " << i);
            REQUIRE((r < refused && list[r].take == i) == !fits);
            if (fits)
                granted.push_back(i);
            else
                REQUIRE(list[r].free < list[r].needed);
            r += !fits;
        }
        CHECK(r == refused);
    }
}

TEST_CASE("without time nothing is granted", "[lease]")
{
    leases l;
    budget none{};
    none.max_steps = 1;
    none.no_steps = true;
    none.used = [](void *) { return 1.0; };
    l.given.resources = {node("n", 8)};
    l.given.budget = &none;
    l.add(of("a", 1), {0}, 0, 1);
    const lease_refusal *list;
    CHECK(lease_check(l.given.build(), l.takes.data(), 1, &list, l.a) == SIZE_MAX);
}
