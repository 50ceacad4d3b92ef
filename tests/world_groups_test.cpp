// world_groups_test.cpp - groups and jobs of several nodes on a board: the worked
// examples, and random worlds whose plans are looked at in full.
#include "tests/world_plan_support.hpp"

extern "C" {
#include "algorithms/world/board_groups.h"
}

namespace
{

// Places all jobs in order, each where it completes first, units in the turn of their
// first member; jobs whose predecessors wait come back.
struct placing {
    test_arena a;
    board *b = nullptr;

    const world_plan *place(const world *w)
    {
        error err{};
        REQUIRE(computed(a, &err, [&] {
                    b = board_create(w, nullptr, a);
                    in_order();
                    return OK;
                }) == OK);
        return board_plan(b);
    }
    template <class F> void in_arena(F f)
    {
        error err{};
        REQUIRE(computed(a, &err, [&] {
                    f();
                    return OK;
                }) == OK);
    }
    void in_order()
    {
        const world *w = board_world(b);
        std::vector<bool> done(w->job_count);
        for (bool some = true; some;) {
            some = false;
            for (size_t j = 0; j < w->job_count; j++) {
                if (done[j] || !board_is_due(b, j))
                    continue;
                some = true;
                turn(w, j, done);
                break;
            }
        }
    }

  private:
    void turn(const world *w, size_t j, std::vector<bool> &done)
    {
        done[j] = true;
        if (board_is_unit(b, j)) {
            const world_group &g = w->groups[w->jobs[j].group];
            for (size_t i = 0; i < g.job_count; i++)
                done[g.jobs[i]] = true;
            CHECK(board_unit_of(b, j) == g.jobs[0]);
            board_place_unit(b, j);
            return;
        }
        board_spot spot = board_best(b, j);
        if (spot.done_s < HUGE_VAL)
            board_take(b, j, &spot);
        else {
            size_t on = WORLD_NONE;
            world_wait why = board_why(b, j, &on);
            board_refuse(b, j, why, on);
        }
    }
};

std::vector<std::string> placed(given_world &given)
{
    placing p;
    const world *w = given.build();
    const world_plan *plan = p.place(w);
    CHECK(wrong_with(w, plan) == "");
    return where_all(w, plan);
}

given_job job_of(const char *id, double cpus, double estimate_s, size_t nodes = 1)
{
    given_job j;
    j.id = id;
    j.cpus = cpus;
    j.estimate_s = estimate_s;
    j.nodes = nodes;
    return j;
}

// Two nodes of 4 cpus, the first is full until 6; three members.
given_world two_nodes(world_group_policy policy, double cpus)
{
    given_world g;
    g.resources = {{.id = "n1", .cpus = 4}, {.id = "n2", .cpus = 4}};
    g.holders = {{.id = "r", .positions = {0}, .end_s = 6, .cpus = 4}};
    g.groups = {{"g", policy}};
    for (const char *id : {"m1", "m2", "m3"}) {
        g.jobs.push_back(job_of(id, cpus, 10));
        g.jobs.back().group = 0;
    }
    return g;
}

using names = std::vector<std::string>;

} // namespace

TEST_CASE("Jobs on several nodes start together on all", "[world]")
{
    given_world g;
    for (const char *id : {"n1", "n2", "n3"})
        g.resources.push_back({.id = id, .cpus = 4});
    g.jobs = {job_of("A", 4, 10, 2), job_of("B", 4, 5, 3), job_of("C", 4, 10)};
    CHECK(placed(g) == names{"n1+n2 0-10", "n1+n2+n3 10-15", "n3 0-10"});
}

TEST_CASE("Unlike nodes on a board", "[world]")
{
    struct {
        double busy_until_s;
        std::string where;
    } cases[] = {
        {0, "n2+n4 0-20"}, {15, "n2+n4 15-35"}, {20, "n1+n2 0-40"}, {25, "n1+n2 0-40"}};
    for (auto &c : cases) {
        given_world g;
        for (double speed : {1, 2, 4})
            g.resources.push_back(
                {.id = "n" + std::to_string((int)speed), .cpus = 1, .speed = speed});
        if (c.busy_until_s > 0)
            g.holders = {
                {.id = "r", .positions = {2}, .end_s = c.busy_until_s, .cpus = 1}};
        g.jobs = {job_of("A", 1, NAN, 2)};
        g.jobs[0].estimate_ref_s = 40;
        CHECK(placed(g) == names{c.where});
    }
}

TEST_CASE("Groups follow their rules", "[world]")
{
    struct {
        const char *when;
        world_group_policy policy;
        double cpus;
        names want;
    } cases[] = {
        {"gang", GROUP_GANG, 2, {"n1 6-16", "n1 6-16", "n2 6-16"}},
        {"spread", GROUP_SPREAD, 2, {"n2 0-10", "n1 6-16", "group_spread"}},
        {"pack", GROUP_PACK, 2, {"n2 0-10", "n2 0-10", "n2 10-20"}},
        {"exclude", GROUP_EXCLUDE, 1, {"n2 0-10", "n1 6-16", "n2 10-20"}},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            given_world g = two_nodes(c.policy, c.cpus);
            CHECK(placed(g) == c.want);
        }
    given_world g = two_nodes(GROUP_SPREAD, 2);
    for (auto &j : g.jobs)
        j.group = WORLD_NONE;
    CHECK(placed(g) == names{"n2 0-10", "n2 0-10", "n1 6-16"});
}
