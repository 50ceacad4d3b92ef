// world_plans_property_test.cpp - every plan of every list policy goes through the
// independent checker.
#include "tests/world_check_support.hpp"
#include "tests/world_draw.hpp"

extern "C" {
#include "algorithms/world/list.h"
}

namespace
{

constexpr world_rule rules[] = {WORLD_OLB,       WORLD_MET,       WORLD_MCT,
                                WORLD_KPB,       WORLD_MIN_MIN,   WORLD_MAX_MIN,
                                WORLD_DUPLEX,    WORLD_SUFFERAGE, WORLD_SUFFERAGE_PASS,
                                WORLD_XSUFFERAGE};
constexpr size_t order_count = WORLD_SMITH + 1;

// Jobs with a place.
size_t planned(const world *w, world_rule rule, world_order order)
{
    test_arena a;
    board *b = board_create(w, nullptr, a);
    std::vector<size_t> jobs(w->job_count);

    world_order_jobs(w, order, jobs.data(), a);
    world_list(b, rule, jobs.data(), 0.5);
    world_plan *plan = board_plan(b);
    INFO("rule " << rule << " order " << order);
    require_valid(w, plan);
    return plan->placed_count;
}

// Real times, several hundred jobs, everything else as in the tiny ones.
given_world crowd(uint64_t seed)
{
    drawn_world d(seed, false);
    given_world &g = d.given;
    size_t jobs = 50 + d.below(200);

    for (auto &n : g.resources)
        n.cpus = 16, n.n_max = NAN, n.capacities["gpus"] = 4;
    g.jobs.resize(1);
    g.jobs[0].group = WORLD_NONE;
    g.jobs[0].after.clear();
    g.jobs.assign(jobs, g.jobs[0]);
    for (size_t i = 0; i < jobs; i++) {
        given_job &j = g.jobs[i];
        j.etc_s.clear();
        j.only.clear();
        j.estimate_s = NAN;
        j.estimate_ref_s = 100 * rng_uniform(&d.r);
        j.cpus = 8 * rng_uniform(&d.r) + 0.1;
        j.nodes = d.below(8) == 0 ? 1 + d.below(g.resources.size()) : 1;
        j.release_s = d.below(3) == 0 ? 200 * rng_uniform(&d.r) : 0;
        j.time_limit_s = d.below(3) == 0 ? 120 * rng_uniform(&d.r) + 1 : HUGE_VAL;
        j.needs = {};
        if (d.below(4) == 0)
            j.needs["gpus"] = (double)(1 + d.below(4));
        if (i > 0 && d.below(4) == 0)
            j.after = {{d.below(i), (world_after_kind)d.below(3)}};
        else if (!g.groups.empty() && d.below(10) == 0)
            j.group = d.below(g.groups.size());
    }
    return g;
}

} // namespace

TEST_CASE("plans of all list policies are valid, in tiny worlds with everything",
          "[world][check][property]")
{
    size_t worlds = is_shorter() ? 150 : 2000, placed = 0;

    for (uint64_t seed = 1; seed <= worlds; seed++) {
        drawn_world d(seed, false);
        const world *w = d.given.build();
        INFO("seed " << seed);
        for (world_rule rule : rules)
            placed += planned(w, rule, (world_order)(seed % order_count));
    }
    CHECK(placed > worlds * 10);
}

TEST_CASE("plans of all list policies and orders are valid, in larger worlds",
          "[.][world][check][property]")
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        given_world given = crowd(seed);
        const world *w = given.build();
        INFO("seed " << seed);
        for (world_rule rule : rules)
            for (size_t order = 0; order < order_count; order++)
                planned(w, rule, (world_order)order);
    }
}
