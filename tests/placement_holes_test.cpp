// placement_holes_test.cpp - jobs in front of others that were placed before them.
#include "tests/placement_support.hpp"

#include <algorithm>
#include <set>

extern "C" {
#include "algorithms/placement/free_profile.h"
}

namespace
{

// What is taken on a host, and when.
struct taken {
    double start_s, end_s, cpus, memory_bytes;
};

// Slots, cpus and memory are enough at the instant, with the job.
bool has_room(const resource &h, const std::vector<taken> &on, double t_s, const job &j)
{
    double cpus = j.cpus, memory = j.memory_bytes;
    size_t used = 1;
    for (auto &x : on)
        if (x.start_s <= t_s && x.end_s > t_s) {
            cpus += x.cpus;
            memory += x.memory_bytes;
            used++;
        }
    bool slots = std::isfinite(h.n_max) || !std::isfinite(h.cpus);
    return t_s >= h.ready_s && (!slots || used <= resource_slots(&h)) &&
           !(cpus > h.cpus * (1 + 1e-9)) && !(memory > h.memory_bytes * (1 + 1e-9));
}

// The first instant from which there is room for as long as the job runs.
double first_start_s(const resource &h, const std::vector<taken> &on, const job &j,
                     double time_s)
{
    std::set<double> instants{std::max(j.release_s, h.ready_s)};
    double best_s = HUGE_VAL;
    for (auto &x : on)
        if (x.end_s > j.release_s)
            instants.insert(std::max(x.end_s, h.ready_s));
    for (double t_s : instants) {
        bool room = t_s >= j.release_s && has_room(h, on, t_s, j);
        for (auto &x : on)
            if (x.start_s > t_s && x.start_s < t_s + time_s)
                room = room && has_room(h, on, x.start_s, j);
        if (room)
            best_s = std::min(best_s, t_s);
    }
    return best_s;
}

// mct by looking everywhere: "job host start", one a line.
std::string naive_mct(const world &w)
{
    std::vector<std::vector<taken>> on(w.resources.size());
    std::string s;
    for (size_t k = 0; k < w.resources.size(); k++)
        for (size_t i = 0; i < w.resources[k].free_at_count; i++) {
            const resource &h = w.resources[k];
            double slots = static_cast<double>(resource_slots(&h));
            double end_s = h.free_at_s[i];
            on[k].push_back({-1,
                             std::isnan(end_s) ? HUGE_VAL : std::max(end_s, h.ready_s),
                             h.cpus / slots, h.memory_bytes / slots});
        }
    for (auto &j : w.jobs) {
        size_t best = 0;
        double best_s = HUGE_VAL, start_s = 0;
        for (size_t k = 0; k < w.resources.size(); k++) {
            const resource &h = w.resources[k];
            double time_s = j.etc_count ? j.etc_s[k] : j.estimate_ref_s / h.mips_total;
            if (j.cpus > h.cpus || j.memory_bytes > h.memory_bytes)
                continue;
            double at_s = first_start_s(h, on[k], j, time_s);
            if (at_s + time_s < best_s) {
                best = k;
                best_s = at_s + time_s;
                start_s = at_s;
            }
        }
        if (!(best_s < HUGE_VAL))
            continue;
        if (best_s > start_s)
            on[best].push_back({start_s, best_s, j.cpus, j.memory_bytes});
        char text[96];
        snprintf(text, sizeof(text), "%s %s %.9g\n", j.id, w.resources[best].id, start_s);
        s += text;
    }
    return s;
}

std::string starts_text(const placement_out &out)
{
    std::string s;
    for (size_t i = 0; i < out.placement_count; i++) {
        char text[96];
        snprintf(text, sizeof(text), "%s %s %.9g\n", out.placements[i].job_id,
                 out.placements[i].resource_id, out.placements[i].start_s);
        s += text;
    }
    return s;
}

void random_world(world &w, rng &r)
{
    bool whole = rng_index(&r, 2), limited = rng_index(&r, 4),
         released = rng_index(&r, 2);
    auto number = [&](double most) {
        return whole ? static_cast<double>(rng_index(&r, static_cast<uint64_t>(most) + 1))
                     : most * rng_uniform(&r);
    };
    size_t hosts = rng_index(&r, 4), jobs = rng_index(&r, 14);
    for (size_t i = 0; i < hosts; i++) {
        resource &h = w.host("r" + std::to_string(i), 1 + static_cast<double>(i % 2));
        if (limited && rng_index(&r, 4))
            h.cpus = 1 + number(5);
        if (limited && rng_index(&r, 2))
            h.memory_bytes = 10 + number(20);
        if (rng_index(&r, 3) == 0)
            h.n_max = static_cast<double>(1 + rng_index(&r, 3));
        if (rng_index(&r, 4) == 0)
            w.busy(h, {rng_index(&r, 3) ? 1 + number(9) : NAN});
        if (rng_index(&r, 5) == 0)
            h.ready_s = number(4);
    }
    for (size_t i = 0; i < jobs; i++) {
        job &j = w.task("j" + std::to_string(i), number(10));
        j.cpus = limited ? 1 + number(4) : 1;
        j.memory_bytes = limited ? number(15) : 0;
        j.release_s = released && rng_index(&r, 2) ? number(12) : 0;
    }
}

} // namespace

TEST_CASE("a slot is used before a released job", "[placement]")
{
    for (const char *policy : {"mct", "olb", "met", "kpb"}) {
        INFO(policy);
        world w;
        test_arena a;
        w.host("n");
        w.task("a", 10).release_s = 1000;
        w.task("b", 10);
        w.task("c", 990); // the hole has room for exactly this behind b
        w.task("d", 1);   // none is left
        placement_out out = decided(w, policy, a);
        CHECK(times_text(out) == "a 1000-1010, b 0-10, c 10-1000, d 1010-1011");
        for (size_t i = 0; i < out.placement_count; i++)
            CHECK(out.placements[i].slot == 0);
    }
}

TEST_CASE("short jobs start in the hole before a wide one if they fit", "[placement]")
{
    world w; // example E1 of world-model.md: 2 of 4 cpus are taken until 10
    test_arena a;
    resource &h = w.host("n");
    h.cpus = 4;
    h.n_max = 2;
    w.busy(h, {10});
    w.task("w", 10).cpus = 4;
    w.task("s1", 10).cpus = 2;
    w.task("s2", 12).cpus = 2; // would run into w
    placement_out out = decided(w, "mct", a);
    CHECK(times_text(out) == "s1 0-10, s2 20-32, w 10-20");
    CHECK(out.objective.makespan_s == 32);
}

TEST_CASE("mct with holes is what looking everywhere gives", "[placement][property]")
{
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        rng r = rng_create(seed);
        world w;
        test_arena a;
        random_world(w, r);
        placement_out out = decided(w, "mct", a);
        INFO("seed " << seed);
        CHECK(starts_text(out) == naive_mct(w));
        for (size_t i = 0; i < out.placement_count; i++)
            for (size_t k = 0; k < i; k++) {
                const placement &x = out.placements[i], &y = out.placements[k];
                if (std::string(x.resource_id) == y.resource_id && x.slot == y.slot)
                    CHECK((x.start_s >= y.finish_s || y.start_s >= x.finish_s));
            }
    }
}

TEST_CASE("a profile gives back what was free, and joins equal steps", "[placement]")
{
    test_arena a;
    free_profile p{};
    amounts all = {{4, 400, AMOUNT_UNLIMITED}}, need = {{1, 100, 7}};
    size_t looks = 0;
    free_profile_hold ten = {0, 0, 10}, none = {0, 0, 0};
    free_profile_reset(&p, &all, a);
    CHECK(free_profile_fit(&p, &need, &ten, 3, HUGE_VAL, &looks) == 3);
    for (int i = 0; i < 4; i++)
        free_profile_take(&p, 10, 20, &need, a);
    CHECK(p.count == 3);
    CHECK(p.steps[1].free.of[AMOUNT_CPUS] == 0);
    CHECK(p.steps[1].free.of[AMOUNT_MEMORY] == AMOUNT_UNLIMITED);
    CHECK(free_profile_fit(&p, &need, &ten, 0, HUGE_VAL, &looks) == 0);
    CHECK(free_profile_fit(&p, &need, &ten, 0.5, HUGE_VAL, &looks) == 20);
    CHECK(free_profile_fit(&p, &need, &ten, 0.5, 19, &looks) == HUGE_VAL);
    CHECK(free_profile_fit(&p, &need, &none, 15, HUGE_VAL, &looks) == 20);
    amounts nothing = {{0, 0, 0}};
    CHECK(free_profile_fit(&p, &nothing, &ten, 15, HUGE_VAL, &looks) == 15);
    for (int i = 0; i < 4; i++)
        free_profile_take(&p, 20, 30, &need, a); // the same is free: one step
    CHECK(p.count == 3);
    free_profile_take(&p, 5, HUGE_VAL, &need, a); // more than there is
    CHECK(p.steps[2].free.of[AMOUNT_SLOTS] == -1);
    CHECK(free_profile_fit(&p, &nothing, &ten, 12, HUGE_VAL, &looks) == 12);
    amounts five = {{5, 0, 0}};
    CHECK(free_profile_fit(&p, &five, &ten, 0, HUGE_VAL, &looks) == HUGE_VAL);
}

TEST_CASE("fractions add up in whole units", "[placement]")
{
    for (double largest : {1.0, 4.0, 3e9, 1e18}) {
        double scale = amount_scale(largest);
        int64_t room = amount_room(largest, scale);
        CHECK(amount_need(0.7 * largest, scale) + amount_need(0.2 * largest, scale) +
                  amount_need(0.1 * largest, scale) <=
              room);
        CHECK(10 * amount_need(0.1 * largest, scale) <= room);
        CHECK(3 * amount_need(largest / 3, scale) <= room);
        CHECK(amount_need(largest * (1 + 1e-9), scale) > room);
        CHECK(amount_need(0, scale) == 0);
    }
    CHECK(amount_need(HUGE_VAL, 1) == AMOUNT_UNLIMITED);
    CHECK(amount_room(HUGE_VAL, 1) == AMOUNT_UNLIMITED);
    CHECK(amount_scale(HUGE_VAL) == 1);
    CHECK(amount_scale(0) == 1);
    rng r = rng_create(3);
    for (int i = 0; i < 1000; i++) { // what is not more in doubles is not more in units
        double scale = amount_scale(std::ldexp(1.0, static_cast<int>(rng_index(&r, 60))));
        double has = std::ldexp(rng_uniform(&r), static_cast<int>(rng_index(&r, 40)));
        CHECK(amount_need(has, scale) <= amount_room(has, scale));
    }
}
