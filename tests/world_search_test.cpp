// world_search_test.cpp - searches find better plans, never worse ones, and the same ones
// for the same steps.
#include "tests/world_plan_support.hpp"

extern "C" {
#include "algorithms/world/list.h"
#include "algorithms/world/search.h"
}

namespace
{

using texts = std::vector<std::string>;

const world_goal makespan = {{OBJECTIVE_MAKESPAN}, 1};

struct searched {
    test_arena arena;
    const world *w;
    board *b;
    struct world_worth before {
    }, after{};
    struct world_search s {
    };
    world_plan *plan;

    searched(given_world &given, const world_goal &goal, size_t max_steps,
             double enough = NAN)
        : w(given.build()), b(board_create(w, nullptr, arena.a))
    {
        std::vector<size_t> jobs(w->job_count);
        world_order_jobs(w, WORLD_FIFO, jobs.data(), arena.a);
        world_list(b, WORLD_MCT, jobs.data(), 1);
        world_worth(w, &goal, board_plan(b), &before, arena.a);
        s.goal = &goal;
        s.enough = enough;
        s.max_steps = max_steps;
        world_search(b, &s);
        plan = board_plan(b);
        world_worth(w, &goal, plan, &after, arena.a);
        CHECK(wrong_with(w, plan) == "");
        CHECK(world_compare(&goal, &after, &before) <= 0);
    }
    texts where() const
    {
        return where_all(w, plan);
    }
};

given_world packing(size_t nodes, size_t jobs, uint64_t seed)
{
    rng r = rng_stream(seed, "world.search");
    given_world g;
    for (size_t i = 0; i < nodes; i++) {
        g.resources.push_back({"n" + std::to_string(i), 8, 16});
        g.resources.back().speed = 1.0 + static_cast<double>(rng_index(&r, 3));
    }
    for (size_t i = 0; i < jobs; i++)
        g.jobs.push_back({"j" + std::to_string(i),
                          1 + static_cast<double>(rng_index(&r, 50)), NAN,
                          1.0 + static_cast<double>(rng_index(&r, 8)),
                          static_cast<double>(rng_index(&r, 10))});
    return g;
}

} // namespace

TEST_CASE("the order that mct cannot see is found", "[world][search]")
{
    given_world g;
    g.resources = {{"n", 4}};
    g.holders = {{"r", {0}, 10, 2}};
    g.jobs = {{"w", NAN, 10, 4}, {"s1", NAN, 10, 2}, {"s2", NAN, 12, 2}};
    searched s(g, makespan, 0, 30);
    CHECK(s.before.value[0] == 32);
    CHECK(s.after.value[0] == 30);
    CHECK(s.s.steps < 300 * 3);
    REQUIRE(s.s.improved_count >= 1);
    CHECK(s.s.improved[s.s.improved_count - 1].value == 30);
    CHECK_FALSE(s.plan->cut);
}

TEST_CASE("the same steps give the same plan, more steps no worse one", "[world][search]")
{
    double last = HUGE_VAL;
    for (size_t steps : {1, 500, 4000, 20000, 60000}) {
        given_world one = packing(6, 60, 3), two = packing(6, 60, 3);
        searched a(one, makespan, steps), b(two, makespan, steps);
        CAPTURE(steps);
        CHECK(a.where() == b.where());
        CHECK(a.s.steps == b.s.steps);
        CHECK(a.s.steps >= steps);
        CHECK(a.after.value[0] <= last);
        last = a.after.value[0];
        given_world again = packing(6, 60, 3); // what was made, asked for
        searched c(again, makespan, a.s.steps);
        CHECK(c.where() == a.where());
    }
    given_world first = packing(6, 60, 3);
    searched none(first, makespan, 1);
    CHECK(last < 0.97 * none.before.value[0]);
}

TEST_CASE("a search that is cut short can be repeated by its steps", "[world][search]")
{
    given_world g = packing(5, 50, 4);
    int questions = 40;
    budget clock = make_budget(
        [](void *left) { return (*static_cast<int *>(left))-- > 0 ? 0.0 : 1.0; },
        &questions);
    test_arena arena;
    world *w = const_cast<world *>(g.build());
    std::vector<size_t> jobs(w->job_count);
    world_order_jobs(w, WORLD_FIFO, jobs.data(), arena.a);
    board *b = board_create(w, nullptr, arena.a);
    world_list(b, WORLD_MCT, jobs.data(), 1);
    w->budget = &clock;
    struct world_search s {
    };
    s.goal = &makespan;
    s.enough = NAN;
    world_search(b, &s);
    w->budget = nullptr;
    CHECK(s.cut);
    REQUIRE(s.steps > 0);
    CHECK(board_plan(b)->placed_count == 50);
    CHECK_FALSE(board_plan(b)->cut);
    given_world again = packing(5, 50, 4);
    searched c(again, makespan, s.steps);
    CHECK(c.where() == where_all(w, board_plan(b)));
}

TEST_CASE("no steps: the plan stays", "[world][search]")
{
    given_world g = packing(3, 20, 5), plain = packing(3, 20, 5);
    budget none{};
    none.no_steps = true;
    g.budget = &none;
    searched s(g, makespan, 0);
    CHECK(s.s.steps == 0);
    CHECK(s.after.value[0] == s.before.value[0]);
}

TEST_CASE("searches keep plans valid and never make them worse",
          "[world][search][property]")
{
    rng r = rng_stream(31, "world.search");
    size_t better = 0;
    for (int round = 0; round < (is_shorter() ? 150 : 3000); round++) {
        given_world g;
        auto pick = [&](size_t n) { return static_cast<double>(rng_index(&r, n)); };
        for (size_t i = 1 + rng_index(&r, 4); i > 0; i--) {
            g.resources.push_back({"n", pick(5), rng_index(&r, 3) ? 4 : NAN});
            g.resources.back().speed = 1 + pick(2);
        }
        size_t coupled = rng_index(&r, 3);
        if (coupled == 1)
            g.shared = {{"licence", pick(3)}};
        for (size_t i = 0, n = rng_index(&r, 12); i < n; i++) {
            given_job j{"j", pick(6), NAN, 1 + pick(4), pick(4)};
            if (rng_index(&r, 4) == 0)
                j.time_limit_s = 0.5 + pick(5);
            if (rng_index(&r, 4) == 0)
                j.release_s = pick(5);
            if (rng_index(&r, 3) == 0)
                j.deadline_s = pick(8);
            if (coupled == 1 && rng_index(&r, 2))
                j.needs = {{"licence", 1}};
            if (coupled == 2 && i > 0 && rng_index(&r, 3) == 0)
                j.after = {{rng_index(&r, i), AFTER_OK}};
            if (coupled == 2 && rng_index(&r, 4) == 0)
                j.nodes = 1 + rng_index(&r, 3);
            g.jobs.push_back(j);
        }
        if (rng_index(&r, 2)) {
            given_holder h{"h", {rng_index(&r, g.resources.size())}, 0, pick(3)};
            h.reservation = true;
            h.start_s = pick(4);
            h.end_s = h.start_s + 1 + pick(4);
            h.all = rng_index(&r, 2);
            g.holders.push_back(h);
        }
        g.plan_with_limit = rng_index(&r, 4) == 0;
        world_goal goal = {{static_cast<world_objective>(rng_index(&r, OBJECTIVE_COUNT)),
                            OBJECTIVE_TOTAL_FLOW},
                           1 + rng_index(&r, 2)};
        if (goal.level[0] == OBJECTIVE_TOTAL_FLOW || rng_index(&r, 2))
            goal = makespan;
        CAPTURE(round, goal.level[0], coupled);
        searched s(g, goal, 1 + rng_index(&r, 2000));
        REQUIRE(wrong_with(s.w, s.plan) == "");
        REQUIRE(world_compare(&goal, &s.after, &s.before) <= 0);
        better += world_compare(&goal, &s.after, &s.before) < 0;
    }
    CHECK(better > 20);
}
