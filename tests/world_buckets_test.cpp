// world_buckets_test.cpp - the best place by bounds is the best place of all.
#include "tests/world_plan_support.hpp"

extern "C" {
#include "algorithms/world/buckets_parts.h"
#include "algorithms/world/list.h"
}

namespace
{

// Enough resources for several blocks; ties, equal speeds, zeros, matrices, limits.
given_world wide_world(rng &r)
{
    given_world g;
    auto pick = [&](size_t n) { return static_cast<double>(rng_index(&r, n)); };
    bool whole = rng_index(&r, 2), equal = rng_index(&r, 3) == 0;
    bool matrix = rng_index(&r, 5) == 0, far = rng_index(&r, 20) == 0;
    size_t nodes = 16 + rng_index(&r, 80), jobs = rng_index(&r, 60);
    auto time = [&]() { return whole ? pick(6) : 0.01 * pick(600); };

    for (size_t i = 0; i < nodes; i++) {
        g.resources.push_back(
            {"r" + std::to_string(i), equal ? 2 : pick(5), rng_index(&r, 3) ? 4 : NAN});
        g.resources.back().speed = equal               ? 1
                                   : rng_index(&r, 10) ? 0.5 * (1 + pick(4))
                                                       : 0;
        if (rng_index(&r, 3) == 0)
            g.holders.push_back(
                {"h", {i}, rng_index(&r, 5) ? time() : HUGE_VAL, pick(3)});
    }
    if (rng_index(&r, 3) == 0)
        g.shared = {{"licence", 1 + pick(3)}};
    double work = time();
    for (size_t i = 0; i < jobs; i++) {
        given_job j{"j" + std::to_string(i)};
        j.cpus = equal ? 1 : rng_index(&r, 2) ? 1 + pick(4) : 0.3 * (1 + pick(9));
        j.memory = pick(5);
        if (matrix && rng_index(&r, 4))
            for (size_t k = 0; k < nodes; k++)
                j.etc_s.push_back(rng_index(&r, 6) ? time() : HUGE_VAL);
        else if (rng_index(&r, 4))
            j.estimate_ref_s = equal ? work : time();
        else
            j.estimate_s = time();
        if (rng_index(&r, 5) == 0)
            j.time_limit_s = 0.1 + time();
        if (rng_index(&r, 5) == 0)
            j.release_s = far ? 1e17 : time();
        if (rng_index(&r, 8) == 0)
            j.exclusive = true;
        if (!g.shared.empty() && rng_index(&r, 3) == 0)
            j.needs["licence"] = 1;
        if (i > 0 && rng_index(&r, 8) == 0)
            j.after.push_back({rng_index(&r, i), AFTER_OK});
        while (rng_index(&r, 3))
            j.only.push_back(rng_index(&r, nodes));
        g.jobs.push_back(j);
    }
    g.plan_with_limit = rng_index(&r, 4) == 0;
    return g;
}

bool same(const board_spot &a, const board_spot &b)
{
    return a.done_s == b.done_s && a.start_s == b.start_s && a.end_s == b.end_s &&
           (a.done_s == HUGE_VAL || a.positions[0] == b.positions[0]);
}

} // namespace

namespace
{

// The pair of a job through two choices, its own and another's, with and without bounds.
void compare_pairs(board *b, std::vector<world_job> &jobs, size_t j, rng &r)
{
    world_job before = jobs[j];
    world_choice two[] = {before.choices[0], jobs[rng_index(&r, jobs.size())].choices[0]};
    buckets *bounds = b->buckets;
    bool by_site = rng_index(&r, 2);

    jobs[j].choices = two;
    jobs[j].choice_count = 1 + rng_index(&r, 2);
    board_pair fast = board_pair_of(b, j, by_site);
    b->buckets = nullptr;
    board_pair all = board_pair_of(b, j, by_site);
    b->buckets = bounds;
    jobs[j] = before;
    CAPTURE(by_site);
    REQUIRE(same(fast.best, all.best));
    REQUIRE(same(fast.rival, all.rival));
    REQUIRE(fast.best.choice == all.best.choice);
    REQUIRE(fast.rival.choice == all.rival.choice);
}

} // namespace

TEST_CASE("bounds find the place that a look at all finds", "[world][buckets][property]")
{
    rng r = rng_stream(21, "world.buckets");
    size_t several = 0;
    for (int round = 0; round < (is_shorter() ? 400 : 8000); round++) {
        test_arena arena;
        given_world g = wide_world(r);
        world *w = const_cast<world *>(g.build());
        std::vector<world_resource> turned(w->resources,
                                           w->resources + w->resource_count);
        if (rng_index(&r, 2)) // positions are not the snapshot's order
            for (size_t i = 0; i < turned.size(); i++)
                turned[i].index = turned.size() - 1 - i;
        for (auto &x : turned)
            x.site = rng_index(&r, 3);
        w->site_count = 3;
        w->resources = turned.data();
        std::vector<world_job> jobs(w->jobs, w->jobs + w->job_count);
        w->jobs = jobs.data();
        board *b = board_create(w, nullptr, arena.a);
        REQUIRE(b->buckets);
        several += b->buckets->count > 1;
        CAPTURE(round, w->resource_count, w->job_count);
        for (size_t j = 0; j < w->job_count; j++) {
            CAPTURE(j);
            board_spot spot = board_best(b, j), all = board_best_of_all(b, j, 0);
            if (!board_shared_is_enough(b, j))
                all = board_nowhere();
            REQUIRE(same(spot, all));
            compare_pairs(b, jobs, j, r);
            if (spot.done_s < HUGE_VAL && rng_index(&r, 8))
                board_take(b, j, &spot);
            if (j > 0 && b->plan.placed[j - 1].positions && rng_index(&r, 10) == 0)
                board_give(b, j - 1);
            if (rng_index(&r, 100) == 0)
                board_reset(b);
        }
    }
    CHECK(several > 100);
}

TEST_CASE("equal jobs share a bucket, others do not", "[world][buckets]")
{
    test_arena arena;
    given_world g;
    for (int i = 0; i < 40; i++)
        g.resources.push_back({"r", 4});
    g.jobs = {{"a", 8},      {"b", 8},         {"c", 15},        {"d", 40},
              {"e", NAN, 8}, {"f", 8, NAN, 3}, {"g", 8, NAN, 4}, {"z", 0}};
    const world *w = g.build();
    board *b = board_create(w, nullptr, arena.a);
    const buckets *t = b->buckets;
    REQUIRE(t);
    CHECK(t->of_job[0] == t->of_job[1]);
    CHECK(t->of_job[0] == t->of_job[2]);
    CHECK(t->of_job[5] == t->of_job[6]);
    CHECK(t->count == 5);
    CHECK(t->list[t->of_job[2]].corner_s == 8);
    CHECK(t->corners[t->of_job[6] * b->row_count] == 3000000);
}
