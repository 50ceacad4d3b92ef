// world_due_test.cpp - deadlines come into order where that costs nothing.
#include "tests/world_plan_support.hpp"

extern "C" {
#include "algorithms/world/list.h"
}

namespace
{

using texts = std::vector<std::string>;

struct ordered {
    test_arena arena;
    const world *w;
    board *b;
    texts before;
    double makespan;
    world_plan *plan;

    explicit ordered(given_world &given)
        : w(given.build()), b(board_create(w, nullptr, arena.a))
    {
        std::vector<size_t> jobs(w->job_count);
        world_order_jobs(w, WORLD_FIFO, jobs.data(), arena.a);
        world_list(b, WORLD_MCT, jobs.data(), 1);
        before = where_all(w, board_plan(b));
        makespan = makespan_of(w, board_plan(b));
        world_order_due(b);
        plan = board_plan(b);
        CHECK(wrong_with(w, plan) == "");
    }
    texts where() const
    {
        return where_all(w, plan);
    }
};

given_world three_jobs()
{
    given_world g;
    g.resources = {{"n", 1}};
    g.jobs = {{"a", NAN, 3}, {"b", NAN, 5}, {"c", NAN, 2}};
    g.jobs[1].deadline_s = 20;
    g.jobs[2].deadline_s = 2;
    return g;
}

} // namespace

TEST_CASE("who is due first comes first", "[world][due]")
{
    given_world g = three_jobs();
    ordered o(g);
    CHECK(o.before == texts{"n 0-3", "n 3-8", "n 8-10"});
    CHECK(o.where() == texts{"n 7-10", "n 2-7", "n 0-2"});
    CHECK(order_of(o.w, o.plan) == texts{"c", "b", "a"});
}

TEST_CASE("nothing moves that others could see", "[world][due]")
{
    struct {
        const char *why;
        void (*change)(given_world &);
    } cases[] = {
        {"no deadlines",
         [](given_world &g) { g.jobs[1].deadline_s = g.jobs[2].deadline_s = HUGE_VAL; }},
        {"releases", [](given_world &g) { g.jobs[1].release_s = 3; }},
        {"waits",
         [](given_world &g) {
             g.jobs[1].after = {{0, AFTER_OK}};
         }},
        {"unlike needs", [](given_world &g) { g.jobs[1].cpus = 0.9; }},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.why)
        {
            given_world g = three_jobs();
            c.change(g);
            ordered o(g);
            CHECK(o.where() == o.before);
        }
}

TEST_CASE("a hole ends a chain", "[world][due]")
{
    given_world g = three_jobs();
    given_holder h{"h", {0}, 9};
    h.start_s = 8;
    h.reservation = h.all = true;
    g.holders = {h};
    g.jobs[1].deadline_s = 1;
    ordered o(g);
    CHECK(o.before == texts{"n 0-3", "n 3-8", "n 9-11"});
    CHECK(o.where() == texts{"n 5-8", "n 0-5", "n 9-11"});
}

TEST_CASE("what is held behind a finish does not end later", "[world][due]")
{
    given_world g;
    g.resources = {{"n", 1}};
    g.plan_with_limit = true;
    g.jobs = {{"a", NAN, 100}, {"b", NAN, 10}};
    for (auto &j : g.jobs)
        j.time_limit_s = 100;
    g.jobs[1].deadline_s = 10;
    ordered o(g);
    CHECK(o.where() == o.before); // a would be done at 200, not at 100
    CHECK(o.makespan == 110);
}

TEST_CASE("deadlines in order change neither makespan nor validity",
          "[world][due][property]")
{
    rng r = rng_stream(13, "world.due");
    for (int round = 0; round < 1500; round++) {
        given_world g;
        auto pick = [&](size_t n) { return static_cast<double>(rng_index(&r, n)); };
        bool whole = rng_index(&r, 2);
        for (size_t i = 1 + rng_index(&r, 3); i > 0; i--)
            g.resources.push_back({"r" + std::to_string(i), 1 + pick(3)});
        for (size_t i = rng_index(&r, 12); i > 0; i--) {
            given_job j{"j", NAN, whole ? pick(4) : 0.1 * pick(20), 1 + pick(2)};
            if (rng_index(&r, 2))
                j.deadline_s = pick(6);
            if (rng_index(&r, 8) == 0)
                j.release_s = pick(5);
            if (!g.jobs.empty() && rng_index(&r, 8) == 0)
                j.after = {{rng_index(&r, g.jobs.size()), AFTER_OK}};
            if (rng_index(&r, 3) == 0)
                j.time_limit_s = 0.5 + pick(6);
            g.jobs.push_back(j);
        }
        g.plan_with_limit = rng_index(&r, 4) == 0;
        if (rng_index(&r, 3) == 0)
            g.holders.push_back({"h", {0}, pick(6), 1});
        CAPTURE(round);
        ordered o(g);
        REQUIRE(makespan_of(o.w, o.plan) <= o.makespan * (1 + 1e-9));
        size_t count = 0;
        for (auto &t : o.where())
            count += t.find(' ') != std::string::npos;
        REQUIRE(count == o.plan->placed_count);
    }
}
