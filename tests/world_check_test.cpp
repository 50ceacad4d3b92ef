// world_check_test.cpp - the independent checker: each rule, and against a naive one.
#include "tests/world_check_support.hpp"

using rules = std::vector<std::string>;

namespace
{

// Two nodes of 4 cpus, a job of 2 cpus and 10 s for each row.
given_world two_nodes(size_t job_count)
{
    static const char *const ids[] = {"j0", "j1", "j2", "j3", "j4", "j5"};
    given_world given;

    given.resources = {{"n0", 4}, {"n1", 4}};
    for (size_t j = 0; j < job_count; j++)
        given.jobs.push_back({ids[j], NAN, 10, 2});
    return given;
}

} // namespace

TEST_CASE("a plan without rows breaks nothing", "[world][check]")
{
    given_world given = two_nodes(2);

    CHECK(rules_of(given.build(), {}).empty());
}

TEST_CASE("who is not known, or comes twice", "[world][check]")
{
    given_world given = two_nodes(2);
    const world *w = given.build();

    CHECK(rules_of(w, {{WORLD_NONE, {0}}, {1, {0}}}) == rules{"unknown_id"});
    CHECK(rules_of(w, {{0, {WORLD_NONE}}}) == rules{"unknown_id"});
    CHECK(rules_of(w, {{0, {0}}, {1, {0}}, {0, {1}}}) == rules{"duplicate"});
    auto found = violations_of(w, {{0, {0}}, {0, {1}, 3}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].row == 1);
    CHECK(found[0].others == std::vector<size_t>{0});
}

TEST_CASE("how many nodes, and which", "[world][check]")
{
    given_world given = two_nodes(1);
    given.resources.push_back({"n2", 4});
    given.jobs[0].nodes = 2;
    given.jobs[0].only = {0, 1};
    const world *w = given.build();

    CHECK(rules_of(w, {{0, {0, 1}}}).empty());
    auto found = violations_of(w, {{0, {0}}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].text() == "node_count row 0 on - amount - at nan: 2 of 1");
    CHECK(rules_of(w, {{0, {1, 1}}}) == rules{"same_node_twice"});
    found = violations_of(w, {{0, {0, 2}}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].text() == "not_eligible row 0 on 2 amount - at nan: 0 of 0");
}

TEST_CASE("all nodes of a job are in one partition", "[world][check]")
{
    given_world given;
    given.resources = {{"n0", 4}, {"n1", 4}, {"n2", 4}};
    given.jobs = {{"j", NAN, 10, 2}};
    given.jobs[0].nodes = 2;
    world w = *given.build();
    world_job job = w.jobs[0];
    const uint64_t left = 3, right = 6;
    const world_choice choices[] = {{"left", &left, 2, nullptr, 0},
                                    {"right", &right, 2, nullptr, 0}};

    job.choices = choices;
    job.choice_count = 2;
    w.jobs = &job;
    CHECK(rules_of(&w, {{0, {0, 1}}}).empty());
    CHECK(rules_of(&w, {{0, {2, 1}}}).empty());
    auto found = violations_of(&w, {{0, {0, 2}}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].text() == "not_eligible row 0 on - amount - at nan: 0 of 0");
}

TEST_CASE("jobs that must not be placed", "[world][check]")
{
    given_world given = two_nodes(1);
    world w = *given.build();
    world_job job = w.jobs[0];

    w.jobs = &job;
    job.barred = WORLD_WAIT_AFTER_FAILED;
    CHECK(rules_of(&w, {{0, {0}}}) == rules{"before_after"});
    job.barred = WORLD_WAIT_LEASED;
    CHECK(rules_of(&w, {{0, {0}}}) == rules{"not_eligible"});
    job.barred = WORLD_WAIT_NO_ESTIMATE;
    CHECK(rules_of(&w, {{0, {0}}}) == rules{"no_estimate"});
    job.barred = WORLD_WAIT_NONE;
    CHECK(rules_of(&w, {{0, {0}}}).empty());
}

TEST_CASE("run times: none, not there, and another finish", "[world][check]")
{
    given_world given = two_nodes(2);
    given.resources[1].speed = 4;
    given.jobs[0].estimate_s = NAN;
    const world *w = given.build();

    CHECK(rules_of(w, {{0, {0}}}) == rules{"no_estimate"});
    CHECK(rules_of(w, {{1, {0}, 3, 13.0000009}}).empty());
    CHECK(rules_of(w, {{1, {0}, 3, 13.0000011}}) == rules{"finish_differs"});
    CHECK(rules_of(w, {{1, {0}, 3, 12}}) == rules{"finish_differs"});
    CHECK(rules_of(w, {{1, {0}, 3, 15, 2}}).empty());

    given_world etc = two_nodes(1);
    etc.jobs[0].etc_s = {HUGE_VAL, 5};
    w = etc.build();
    CHECK(rules_of(w, {{0, {0}}}) == rules{"not_eligible"});
    CHECK(rules_of(w, {{0, {1}, 0, 5}}).empty());

    given_world slow = two_nodes(1);
    slow.resources[1].speed = 0.5;
    slow.jobs = {{"j", 10}};
    slow.jobs[0].nodes = 2;
    given_world limited = slow;
    limited.jobs[0].time_limit_s = 15; // killed
    w = slow.build();
    CHECK(rules_of(w, {{0, {0, 1}, 0, 20}}).empty());
    CHECK(rules_of(w, {{0, {0, 1}, 0, 10}}) == rules{"finish_differs"});
    w = limited.build();
    CHECK(rules_of(w, {{0, {0, 1}, 0, 15}}).empty());
}

TEST_CASE("a job larger than what is there is said once", "[world][check]")
{
    given_world given = two_nodes(1);
    given.shared = {{"licence", 1}};
    given.jobs[0].cpus = 5;
    given.jobs[0].needs = {{"gpus", 1}, {"licence", 2}};
    const world *w = given.build();
    auto found = violations_of(w, {{0, {1}}});

    REQUIRE(found.size() == 3);
    CHECK(found[0].text() == "too_large row 0 on 1 amount 0 at nan: 5000000 of 4000000");
    CHECK(found[1].text() == "too_large row 0 on 1 amount 5 at nan: 1000000 of 0");
    CHECK(found[2].text() == "too_large row 0 on - amount 6 at nan: 2000000 of 1000000");
}

TEST_CASE("not before the release, and not before now", "[world][check]")
{
    given_world given = two_nodes(2);
    given.jobs[0].release_s = 7;
    const world *w = given.build();

    CHECK(rules_of(w, {{0, {0}, 7}}).empty());
    CHECK(rules_of(w, {{0, {0}, 7 - 1e-10}}).empty());
    CHECK(rules_of(w, {{0, {0}, 6.9}}) == rules{"before_release"});
    CHECK(rules_of(w, {{1, {0}, -0.1}}) == rules{"before_release"});
}

TEST_CASE("after what it waits for", "[world][check]")
{
    given_world given = two_nodes(4);
    given.jobs[1].after = {{0, AFTER_OK}};
    given.jobs[2].after = {{0, AFTER_ANY}};
    given.jobs[3].after = {{0, AFTER_START}};
    world w = *given.build();

    CHECK(rules_of(&w, {{0, {0}, 5}, {1, {0}, 15}, {2, {1}, 15}, {3, {0}, 5}}).empty());
    auto found = violations_of(&w, {{0, {0}, 5}, {1, {0}, 14.9}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule == "before_after");
    CHECK(found[0].others == std::vector<size_t>{0});
    CHECK(rules_of(&w, {{0, {0}, 5}, {2, {0}, 14.9}}) == rules{"before_after"});
    CHECK(rules_of(&w, {{0, {0}, 5}, {3, {0}, 4.9}}) == rules{"before_after"});
    CHECK(rules_of(&w, {{1, {0}, 20}}) == rules{"before_after"});

    // What runs, and is waited for, ends at 30, or nobody knows when.
    world_job job = w.jobs[0];
    w.jobs = &job;
    w.job_count = 1;
    job.earliest_s = 30;
    CHECK(rules_of(&w, {{0, {0}, 30}}).empty());
    CHECK(rules_of(&w, {{0, {0}, 29}}) == rules{"before_after"});
    job.earliest_s = HUGE_VAL;
    CHECK(rules_of(&w, {{0, {0}, 1e9}}) == rules{"before_after"});
}

TEST_CASE("one violation for each excess without a break", "[world][check]")
{
    given_world given = two_nodes(6);
    const world *w = given.build();

    // 0-10: 3 jobs; 10-20: 3 again, without a break; 40-50: none too many.
    auto found = violations_of(w, {{0, {0}, 0},
                                   {1, {0}, 0},
                                   {2, {0}, 5},
                                   {3, {0}, 10},
                                   {4, {0}, 10},
                                   {5, {0}, 40}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].text() ==
          "amount_exceeded row 2 on 0 amount 0 at 5.000000: 6000000 of 4000000");
    CHECK(found[0].others == std::vector<size_t>{1, 0});
    // With a break it is two.
    found = violations_of(
        w, {{0, {0}, 0}, {1, {0}, 0}, {2, {0}, 5}, {3, {0}, 14}, {4, {0}, 14}});
    REQUIRE(found.size() == 2);
    CHECK(found[1].at_s == 14);
    // It ends where the next begins, whatever the last digit is.
    CHECK(rules_of(w, {{0, {0}, 0}, {1, {0}, 0}, {2, {0}, 10 - 1e-9}, {3, {0}, 10}})
              .empty());
    CHECK(rules_of(w, {{0, {0}, 0}, {1, {0}, 0}, {2, {0}, 10 - 1e-6}}).size() == 1);
}

TEST_CASE("at most 1,000 are listed, the first in time", "[world][check]")
{
    given_world given;
    std::vector<planned_row> plan;

    given.resources = {{"n", 1}};
    given.jobs.assign(2000, {"j", NAN, 5, 2});
    const world *w = given.build();
    for (size_t i = 0; i < 2000; i++)
        plan.push_back({i, {0}, 10.0 * (double)(1999 - i)});
    test_arena a;
    auto claims = claims_of(plan);
    struct world_check out {
    };
    world_check(w, claims.data(), claims.size(), &out, a);
    CHECK(out.violation_count == 2000);
    REQUIRE(out.listed_count == 1000);
    for (size_t i = 0; i < 1000; i++)
        CHECK(out.violations[i].claim == 1999 - i);
}

TEST_CASE("sums of whole units do not overflow", "[world][check]")
{
    given_world given;
    std::vector<planned_row> plan;

    given.resources = {{"n", 64, 9.9e17}};
    given.jobs.assign(20, {"j", NAN, 5, 1, 9.9e17});
    const world *w = given.build();
    for (size_t i = 0; i < 20; i++)
        plan.push_back({i, {0}, 0});
    auto found = violations_of(w, plan);
    REQUIRE(found.size() == 1);
    CHECK(found[0].amount == AMOUNT_MEMORY);
    CHECK(found[0].needed == INT64_MAX);
    CHECK(found[0].others.size() == 10);
}

TEST_CASE("exclusive jobs, n_max and what runs share nothing", "[world][check]")
{
    given_world given = two_nodes(3);
    given.jobs[0].exclusive = true;
    given.resources.push_back({"slots"});
    given.resources[2].n_max = 1;
    given.holders = {{"r", {1}, 20, 1}};
    const world *w = given.build();

    auto found = violations_of(w, {{0, {0}, 0}, {1, {0}, 5}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].amount == AMOUNT_PRESENCE);
    CHECK(found[0].at_s == 5);
    found = violations_of(w, {{0, {1}, 10}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].amount == AMOUNT_PRESENCE);
    CHECK(rules_of(w, {{0, {1}, 20}}).empty());
    found = violations_of(w, {{1, {2}, 0}, {2, {2}, 9}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].amount == AMOUNT_JOBS);
}

TEST_CASE("where running jobs take too much nothing may be added", "[world][check]")
{
    given_world given = two_nodes(2);
    given.resources[0].capacities = {{"gpus", 1}};
    given.jobs[1].cpus = 1;
    given.jobs[1].needs = {{"gpus", 1}};
    given.jobs.push_back({"none", NAN, 10, 0});
    given.jobs[2].needs = {{"gpus", 1}};
    given.holders = {{"r", {0}, 20, 6}};
    const world *w = given.build();

    auto found = violations_of(w, {{0, {0}, 0}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].text() ==
          "amount_exceeded row 0 on 0 amount 0 at 0.000000: 2000000 of -2000000");
    // One that needs none of it may.
    CHECK(rules_of(w, {{2, {0}, 0}}).empty());
    CHECK(rules_of(w, {{0, {0}, 20}}).empty());
}

TEST_CASE("in a reservation of all nothing is free", "[world][check]")
{
    given_world given = two_nodes(1);
    given.jobs.push_back({"z", NAN, 0, 1});
    given.holders = {{"m", {0}, 8}};
    given.holders[0].start_s = 5;
    given.holders[0].reservation = given.holders[0].all = true;
    const world *w = given.build();

    CHECK(rules_of(w, {{0, {0}, 0}}) == rules{"amount_exceeded", "amount_exceeded"});
    CHECK(rules_of(w, {{0, {0}, 8}}).empty());
    // A job of no length: nowhere inside.
    auto found = violations_of(w, {{1, {0}, 6}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule == "amount_exceeded");
    CHECK(found[0].at_s == 6);
    for (double at : {5.0, 5 + 1e-10, 8 - 1e-10, 8.0})
        CHECK(rules_of(w, {{1, {0}, at}}).empty());
    CHECK(rules_of(w, {{1, {1}, 6}}).empty());
}

TEST_CASE("a job of no length takes nothing", "[world][check]")
{
    given_world given;
    given.resources = {{"n", 1}};
    given.jobs = {{"a", NAN, 10}, {"z", NAN, 0}, {"b", NAN, 10}, {"large", NAN, 0, 2}};
    const world *w = given.build();

    for (double at : {0.0, 3.0, 10.0, 20.0, 99.0})
        CHECK(rules_of(w, {{0, {0}, 0}, {1, {0}, at}, {2, {0}, 10}}).empty());
    CHECK(rules_of(w, {{3, {0}, 0}}) == rules{"too_large"});
}

TEST_CASE("shared amounts are taken once a job", "[world][check]")
{
    given_world given = two_nodes(2);
    given.shared = {{"licence", 1}};
    given.jobs[0].nodes = 2;
    for (auto &j : given.jobs)
        j.needs = {{"licence", 1}};
    given.holders = {{"r", {}, 4}};
    given.holders[0].needs = {{"licence", 1}};
    const world *w = given.build();

    CHECK(rules_of(w, {{0, {0, 1}, 4}, {1, {0}, 14}}).empty());
    auto found = violations_of(w, {{0, {0, 1}, 4}, {1, {0}, 13}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].text() ==
          "shared_exceeded row 1 on - amount 5 at 13.000000: 2000000 of 1000000");
    CHECK(rules_of(w, {{0, {0, 1}, 3}}) == rules{"shared_exceeded"});
}

TEST_CASE("plan_with limit: amounts are held for the limit, the finish is the run's",
          "[world][check]")
{
    given_world given;
    given.resources = {{"n", 1}};
    given.jobs = {{"a", NAN, 10}, {"b", NAN, 10}};
    given.jobs[0].time_limit_s = given.jobs[1].time_limit_s = 100;
    given.jobs[1].after = {{0, AFTER_OK}};
    given.resources.push_back({"m", 1});
    given_world estimated = given;
    given.plan_with_limit = true;
    const world *w = given.build();

    CHECK(rules_of(w, {{0, {0}, 0, 10}, {1, {0}, 100, 110}}).empty());
    CHECK(rules_of(w, {{0, {0}, 0, 10}, {1, {1}, 10, 20}}).empty());
    CHECK(rules_of(w, {{0, {0}, 0}, {1, {0}, 99}}) == rules{"amount_exceeded"});
    CHECK(rules_of(estimated.build(), {{0, {0}, 0}, {1, {0}, 10}}).empty());
}

TEST_CASE("groups: gang", "[world][check]")
{
    given_world given = two_nodes(3);
    given.groups = {{"g", GROUP_GANG}};
    for (auto &j : given.jobs)
        j.group = 0;
    const world *w = given.build();

    CHECK(rules_of(w, {{0, {0}, 6}, {1, {0}, 6}, {2, {1}, 6}}).empty());
    auto found = violations_of(w, {{0, {0}, 6}, {1, {0}, 7}, {2, {1}, 6}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule == "group_gang");
    CHECK(found[0].row == 1);
    CHECK(rules_of(w, {{0, {0}, 6}, {2, {1}, 6}}) == rules{"group_gang"});
}

TEST_CASE("groups: spread and exclude, with members that run", "[world][check]")
{
    for (auto policy : {GROUP_SPREAD, GROUP_EXCLUDE}) {
        given_world given = two_nodes(3);
        const char *rule = policy == GROUP_SPREAD ? "group_spread" : "group_exclude";
        given.resources.push_back({"n2", 4});
        given.groups = {{"g", policy}};
        for (auto &j : given.jobs)
            j.group = 0, j.cpus = 1;
        given.holders = {{"r", {2}, 30, 1}};
        given.holders[0].group = 0;
        const world *w = given.build();
        INFO(rule);

        CHECK(rules_of(w, {{0, {0}, 0}, {1, {1}, 0}}).empty());
        CHECK(rules_of(w, {{0, {0}, 0}, {1, {0}, 5}}) == rules{rule});
        CHECK(rules_of(w, {{0, {2}, 20}}) == rules{rule});
        // One after the other is apart in time only.
        CHECK(rules_of(w, {{0, {0}, 0}, {1, {0}, 10}}).empty() ==
              (policy == GROUP_EXCLUDE));
        CHECK(rules_of(w, {{0, {2}, 30}}).empty() == (policy == GROUP_EXCLUDE));
    }
}

TEST_CASE("groups: by site, two on each", "[world][check]")
{
    for (auto policy : {GROUP_SPREAD, GROUP_EXCLUDE}) {
        given_world given = two_nodes(4);
        given.resources[1].site = 1;
        given.resources.push_back({"n2", 4});
        given.resources[2].site = 1;
        given.groups = {{"g", policy, GROUP_BY_SITE, 2}};
        for (auto &j : given.jobs)
            j.group = 0;
        const world *w = given.build();

        CHECK(rules_of(w, {{0, {0}, 0}, {1, {0}, 0}, {2, {1}, 0}, {3, {2}, 0}}).empty());
        CHECK(rules_of(w, {{0, {1}, 0}, {1, {0}, 0}, {2, {1}, 0}, {3, {2}, 0}}).size() ==
              1);
    }
}

TEST_CASE("groups: pack, where what runs says", "[world][check]")
{
    given_world given = two_nodes(3);
    given.resources[1].site = 1;
    given.resources.push_back({"n2", 4});
    given.resources[2].site = 1;
    given.groups = {{"g", GROUP_PACK}};
    for (auto &j : given.jobs)
        j.group = 0;
    given_world by_site = given, held = given;
    by_site.groups[0].key = GROUP_BY_SITE;
    held.holders = {{"r", {1}, 5, 1}};
    held.holders[0].group = 0;
    const world *w = given.build();

    CHECK(rules_of(w, {{0, {1}, 0}, {1, {1}, 0}, {2, {1}, 10}}).empty());
    CHECK(rules_of(w, {{0, {1}, 0}, {1, {1}, 0}}).empty());
    CHECK(rules_of(w, {{0, {1}, 0}, {1, {2}, 0}}) == rules{"group_pack"});
    w = by_site.build();
    CHECK(rules_of(w, {{0, {1}, 0}, {1, {2}, 0}}).empty());
    CHECK(rules_of(w, {{0, {1}, 0}, {1, {0}, 0}}) == rules{"group_pack"});
    w = held.build();
    CHECK(rules_of(w, {{0, {1}, 0}}).empty());
    CHECK(rules_of(w, {{0, {0}, 0}}) == rules{"group_pack"});
}

TEST_CASE("what nobody has time for is not known", "[world][check]")
{
    given_world given = two_nodes(2);
    budget spent{};
    spent.spent = true;
    spent.used = [](void *) { return 2.0; };
    given.budget = &spent;
    const world *w = given.build();
    test_arena a;
    std::vector<planned_row> plan = {{0, {0}, 0}, {1, {0}, 0}};
    auto claims = claims_of(plan);
    struct world_check out {
    };

    world_check(w, claims.data(), claims.size(), &out, a);
    CHECK(out.cut);
}

// The plans of the worked examples of the specification.

TEST_CASE("backfilling: what runs, a wide job and short ones", "[world][check]")
{
    given_world given;
    given.resources = {{"n", 4}};
    given.holders = {{"r", {0}, 10, 2}};
    given.jobs = {{"w", NAN, 10, 4}, {"s1", NAN, 10, 2}, {"s2", NAN, 12, 2}};
    const world *w = given.build();

    CHECK(rules_of(w, {{0, {0}, 10, 20}, {1, {0}, 0, 10}, {2, {0}, 20, 32}}).empty());
    CHECK(rules_of(w, {{0, {0}, 20, 30}, {1, {0}, 10, 20}, {2, {0}, 0, 12}}).empty());
    auto found = violations_of(w, {{0, {0}, 10, 20}, {1, {0}, 20, 30}, {2, {0}, 0, 12}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].at_s == 10);
    CHECK(found[0].row == 0);
    CHECK(found[0].others == std::vector<size_t>{2});
}

TEST_CASE("an end that nobody knows is never", "[world][check]")
{
    given_world given;
    given.resources = {{"n", 4}};
    given.holders = {{"r", {0}, HUGE_VAL, 3}};
    given.holders[0].end_unknown = true;
    given.jobs = {{"a", NAN, 10, 2}, {"b", NAN, 10, 1}};
    const world *w = given.build();

    CHECK(rules_of(w, {{1, {0}, 0, 10}}).empty());
    CHECK(rules_of(w, {{0, {0}, 1e9}}) == rules{"amount_exceeded"});
}

TEST_CASE("several nodes side by side", "[world][check]")
{
    given_world given;
    given.resources = {{"n1", 4}, {"n2", 4}, {"n3", 4}};
    given.jobs = {{"A", NAN, 10, 4}, {"B", NAN, 5, 4}, {"C", NAN, 10, 4}};
    given.jobs[0].nodes = 2;
    given.jobs[1].nodes = 3;
    const world *w = given.build();

    CHECK(rules_of(w, {{0, {0, 1}, 0, 10}, {1, {0, 1, 2}, 10, 15}, {2, {2}, 0, 10}})
              .empty());
    CHECK(rules_of(w, {{0, {0, 1}, 0, 10}, {1, {0, 1, 2}, 9}, {2, {2}, 0, 10}}) ==
          rules{"amount_exceeded", "amount_exceeded", "amount_exceeded"});
}

TEST_CASE("fractions of a cpu add up", "[world][check]")
{
    given_world given;
    std::vector<planned_row> plan;
    given.resources = {{"n", 1}};
    given.jobs.assign(10, {"j", NAN, 10, 0.1});
    given.jobs.push_back({"more", NAN, 10, 0.000001});
    const world *w = given.build();

    for (size_t j = 0; j < 10; j++)
        plan.push_back({j, {0}, 0});
    CHECK(rules_of(w, plan).empty());
    plan.push_back({10, {0}, 9});
    CHECK(rules_of(w, plan) == rules{"amount_exceeded"});
}
