// world_test.cpp - amounts in whole units.
#include "tests/support.hpp"
#include "tests/world_support.hpp"

TEST_CASE("amounts are whole units", "[world]")
{
    CHECK(amount_units(0.1, AMOUNT_UNITS_PER_ONE) == 100000);
    CHECK(amount_units(0, AMOUNT_UNITS_PER_ONE) == 0);
    CHECK(amount_units(1e-9, AMOUNT_UNITS_PER_ONE) == 1);
    CHECK(amount_units(2.5, 1) == 3);
    CHECK(amount_units(0.4, 1) == 1);
    CHECK(amount_units(NAN, 1) == AMOUNT_UNLIMITED);
    CHECK(amount_units(1e18, 1) == AMOUNT_UNLIMITED);
    CHECK(amount_units(9.9e17, 1) == 990000000000000000);
    CHECK(amount_units(1e9, AMOUNT_UNITS_PER_ONE) == 1000000000000000);
}

TEST_CASE("sums of amounts do not overflow", "[world]")
{
    CHECK(amount_add(1, 2) == 3);
    CHECK(amount_add(AMOUNT_UNLIMITED, -5) == AMOUNT_UNLIMITED);
    CHECK(amount_add(AMOUNT_UNLIMITED - 1, 1) == AMOUNT_UNLIMITED);
    CHECK(amount_add(AMOUNT_UNLIMITED - 1, AMOUNT_UNLIMITED - 1) == AMOUNT_UNLIMITED);
    CHECK(amount_add(-AMOUNT_UNLIMITED + 1, -5) == -AMOUNT_UNLIMITED);
    CHECK(amount_add(5, -AMOUNT_UNLIMITED + 1) == -AMOUNT_UNLIMITED + 6);
}

TEST_CASE("a world by hand has what was given", "[world]")
{
    given_world given;
    given.resources = {{"a", 4}, {"b", 8, 64}, {"c"}};
    given.resources[1].capacities = {{"gpus", 2}};
    given.jobs = {{"j", NAN, 10, 0.7}, {"k", 5}};
    given.jobs[0].needs = {{"gpus", 1}, {"licence.x", 1}};
    given.jobs[1].only = {2};
    given.shared = {{"licence.x", 3}};
    given.holders = {{"r", {1}, 20, 2}};
    const world *w = given.build();

    REQUIRE(w->node_amount_count == AMOUNT_NAMED + 1);
    REQUIRE(w->amount_count == AMOUNT_NAMED + 2);
    CHECK(w->resources[0].capacity[AMOUNT_JOBS] == AMOUNT_UNLIMITED);
    CHECK(w->resources[2].capacity[AMOUNT_JOBS] == 1);
    CHECK(w->resources[0].capacity[AMOUNT_NAMED] == 0);
    CHECK(w->shared_capacity[AMOUNT_NAMED + 1] == 3000000);
    CHECK(w->jobs[0].needs[AMOUNT_CPUS] == 700000);
    CHECK(w->jobs[0].needs[AMOUNT_PRESENCE] == 1);
    CHECK(world_large_enough(w, &w->jobs[0], 1));
    CHECK_FALSE(world_large_enough(w, &w->jobs[0], 0));
    CHECK(world_mask_has(w->jobs[1].choices[0].mask, 2));
    CHECK_FALSE(world_mask_has(w->jobs[1].choices[0].mask, 0));
    CHECK(w->resources[1].holder_count == 1);
    CHECK(world_run_s(w, &w->jobs[0], 0) == 10);
}
