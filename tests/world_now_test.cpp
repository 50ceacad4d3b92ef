// world_now_test.cpp - which jobs start at this moment: worked numbers, and all subsets.
#include "support.hpp"
#include "world_support.hpp"

extern "C" {
#include "algorithms/world/check.h"
#include "algorithms/world/now.h"
}

namespace
{

struct started {
    std::vector<std::string> ids;
    std::vector<now_tier> tiers;
    now_out out;
};

started start_now(const world *w, arena *a, size_t max_nodes = 0)
{
    now_in in{};
    started s{};

    in.w = w;
    in.max_nodes = max_nodes;
    world_start_now(&in, &s.out, a);
    for (size_t j = 0; j < w->job_count; j++)
        if (s.out.plan.placed[j].positions)
            s.ids.push_back(w->jobs[j].id);
    s.tiers.assign(s.out.tiers, s.out.tiers + s.out.tier_count);
    return s;
}

given_job job_of(std::string id, double cpus, double memory, double weight)
{
    given_job j;

    j.id = std::move(id);
    j.cpus = cpus;
    j.memory = memory;
    j.weight = weight;
    return j;
}

// ---- a plan that starts now, looked at naively ----

double held_s(const world *w, size_t job, size_t position)
{
    const world_job *j = &w->jobs[job];

    return world_held_s(w, j, world_run_s(w, j, position));
}

// Free of a row at time t: node rows of `position`, or shared.
int64_t free_at(const world *w, size_t position, size_t k, double t)
{
    bool shared = k >= w->node_amount_count, closed = false;
    int64_t left = shared ? w->shared_capacity[k] : w->resources[position].capacity[k];

    for (size_t h = 0; h < w->holder_count; h++) {
        const world_holder *o = &w->holders[h];
        bool here = shared;
        for (size_t i = 0; i < o->position_count; i++)
            here |= o->positions[i] == position;
        if (!here || o->start_s > t || o->end_s <= t)
            continue;
        closed |= o->all && !shared;
        if (left < AMOUNT_UNLIMITED)
            left -= o->amounts[k];
    }
    return closed && left > 0 ? 0 : left;
}

// Jobs (SIZE_MAX: not started) at their positions, all from 0 on: do they fit?
bool is_valid(const world *w, const std::vector<size_t> &at)
{
    std::vector<double> times = {0};
    for (size_t h = 0; h < w->holder_count; h++)
        times.push_back(w->holders[h].start_s);
    for (double t : times)
        for (size_t k = 0; k < w->amount_count; k++)
            for (size_t r = 0; r < w->resource_count; r++) {
                int64_t sum = 0;
                for (size_t j = 0; j < at.size(); j++)
                    if (at[j] != SIZE_MAX && held_s(w, j, at[j]) > t &&
                        (k >= w->node_amount_count || at[j] == r))
                        sum += w->jobs[j].needs[k];
                if (sum > 0 && sum > free_at(w, r, k, t))
                    return false;
            }
    for (size_t j = 0; j < at.size(); j++) {
        if (at[j] == SIZE_MAX)
            continue;
        if (!world_mask_has(w->jobs[j].choices[0].mask, at[j]) ||
            !world_large_enough(w, &w->jobs[j], at[j]))
            return false;
        for (size_t k = w->node_amount_count; k < w->amount_count; k++)
            if (w->jobs[j].needs[k] > w->shared_capacity[k])
                return false;
        for (size_t h = 0; h < w->holder_count; h++)
            if (w->holders[h].all && w->holders[h].start_s <= 0 &&
                w->holders[h].end_s > 0)
                for (size_t i = 0; i < w->holders[h].position_count; i++)
                    if (w->holders[h].positions[i] == at[j])
                        return false;
    }
    return true;
}

// Weights by priority, the largest first.
std::vector<double> values_of(const world *w, const std::vector<size_t> &at)
{
    std::map<double, double, std::greater<double>> sums;
    std::vector<double> v;

    for (size_t j = 0; j < at.size(); j++)
        if (w->jobs[j].earliest_s <= 0)
            sums[w->jobs[j].priority] += at[j] == SIZE_MAX ? 0 : w->jobs[j].weight;
    for (auto &s : sums)
        v.push_back(s.second);
    return v;
}

std::vector<double> best_of_all(const world *w)
{
    std::vector<size_t> at(w->job_count, SIZE_MAX);
    std::vector<double> best = values_of(w, at);

    for (;;) {
        size_t j = 0;
        while (j < at.size() && at[j] + 1 == w->resource_count)
            at[j++] = SIZE_MAX;
        if (j == at.size())
            return best;
        at[j]++; // SIZE_MAX + 1 is 0
        bool ready = true;
        for (size_t i = 0; i < at.size(); i++)
            ready &= at[i] == SIZE_MAX || w->jobs[i].earliest_s <= 0;
        if (ready && values_of(w, at) > best && is_valid(w, at))
            best = values_of(w, at);
    }
}

given_world draw(rng *r, size_t resources)
{
    given_world g;
    bool named = rng_index(r, 2), timed = rng_index(r, 2);

    if (rng_index(r, 3) == 0)
        g.shared["licence"] = (double)rng_index(r, 4);
    for (size_t i = 0; i < resources; i++) {
        given_resource n;
        n.id = "n" + std::to_string(i);
        n.cpus = (double)rng_index(r, 11) / 2;
        n.memory = (double)rng_index(r, 12);
        n.speed = (double)(1 + rng_index(r, 2));
        if (named && rng_index(r, 2))
            n.capacities["gpus"] = (double)rng_index(r, 3);
        if (rng_index(r, 4) == 0)
            n.n_max = (double)rng_index(r, 4);
        g.resources.push_back(n);
    }
    size_t jobs = rng_index(r, resources == 1 ? 9 : 6);
    for (size_t i = 0; i < jobs; i++) {
        given_job j = job_of("j" + std::to_string(i), (double)(1 + rng_index(r, 6)) / 2,
                             (double)rng_index(r, 6), (double)rng_index(r, 6));
        if (rng_index(r, 4) == 0)
            j.weight += 0.25;
        j.priority = (double)rng_index(r, 1 + rng_index(r, 3));
        if (named && rng_index(r, 3) == 0)
            j.needs["gpus"] = 1;
        if (!g.shared.empty() && rng_index(r, 2))
            j.needs["licence"] = (double)(1 + rng_index(r, 2));
        if (timed && rng_index(r, 4))
            j.estimate_ref_s = (double)rng_index(r, 5);
        else if (rng_index(r, 4) == 0)
            j.estimate_s = (double)rng_index(r, 5);
        j.exclusive = rng_index(r, 8) == 0;
        if (rng_index(r, 10) == 0)
            j.release_s = 1;
        if (rng_index(r, 6) == 0)
            j.only = {rng_index(r, resources)};
        g.jobs.push_back(j);
    }
    size_t holders = rng_index(r, 4);
    for (size_t i = 0; i < holders; i++) {
        given_holder h{};
        h.id = "h" + std::to_string(i);
        h.positions = {rng_index(r, resources)};
        h.reservation = rng_index(r, 2);
        h.start_s = h.reservation ? (double)rng_index(r, 4) : 0;
        h.end_s = rng_index(r, 3) ? h.start_s + 1 + (double)rng_index(r, 3) : HUGE_VAL;
        h.all = h.reservation && rng_index(r, 3) == 0;
        h.cpus = h.all ? 0 : (double)rng_index(r, 4);
        h.memory = h.all ? 0 : (double)rng_index(r, 4);
        if (!g.shared.empty() && rng_index(r, 3) == 0)
            h.needs["licence"] = 1;
        h.weight = 1;
        g.holders.push_back(h);
    }
    return g;
}

void compare(given_world g)
{
    test_arena a;
    const world *w = g.build();
    started s = start_now(w, a);
    std::vector<size_t> at(w->job_count, SIZE_MAX);
    std::vector<double> values, bounds;

    for (size_t j = 0; j < at.size(); j++)
        if (s.out.plan.placed[j].positions) {
            at[j] = s.out.plan.placed[j].positions[0];
            CHECK(s.out.plan.placed[j].start_s == 0);
            CHECK(s.out.plan.placed[j].end_s == held_s(w, j, at[j]));
        }
    REQUIRE(is_valid(w, at));
    for (auto &t : s.tiers) {
        values.push_back(t.value);
        bounds.push_back(t.bound);
    }
    CHECK(values == values_of(w, at));
    std::vector<double> best = best_of_all(w);
    if (w->resource_count == 1) {
        CHECK(s.out.proven);
        CHECK(values == best);
    }
    for (size_t t = 0; t < values.size(); t++) {
        CHECK((bounds[t] >= best[t]));
        if (values[t] != best[t]) {
            CHECK_FALSE(s.tiers[t].proven);
            break; // what follows is bounded given this value
        }
    }
    for (size_t j = 0; j < at.size(); j++) { // nothing that fits is left waiting
        if (at[j] != SIZE_MAX || w->jobs[j].earliest_s > 0)
            continue;
        for (size_t r = 0; r < w->resource_count; r++) {
            at[j] = r;
            CHECK_FALSE(is_valid(w, at));
        }
        at[j] = SIZE_MAX;
    }
}

} // namespace

TEST_CASE("one pool: what starts now is the best set, proven at the root", "[world]")
{
    given_world g;
    test_arena a;
    given_resource n;
    n.id = "n";
    n.cpus = 10;
    n.memory = 20;
    g.resources = {n};
    for (int i = 0; i < 3; i++)
        g.jobs.push_back(job_of("A" + std::to_string(i), 3, 2, 5));
    for (int i = 0; i < 2; i++)
        g.jobs.push_back(job_of("B" + std::to_string(i), 4, 9, 7));
    for (int i = 0; i < 5; i++)
        g.jobs.push_back(job_of("C" + std::to_string(i), 1, 4, 2));
    started s = start_now(g.build(), a);

    CHECK(s.ids == std::vector<std::string>{"A0", "A1", "C0", "C1", "C2", "C3"});
    REQUIRE(s.tiers.size() == 1);
    CHECK(s.tiers[0].value == 18);
    CHECK(s.tiers[0].bound == 18);
    CHECK(s.out.proven);
    CHECK(s.out.node_count == 0);
    CHECK(s.out.class_count == 3);
    for (size_t j = 0; j < 10; j++)
        if (!s.out.plan.placed[j].positions)
            CHECK(s.out.plan.placed[j].wait == WORLD_WAIT_NO_FREE_NOW);
}

TEST_CASE("two nodes: feasible, with the bound of their sum", "[world]")
{
    given_world g;
    test_arena a;
    given_resource n1, n2;
    n1.id = "n1";
    n1.cpus = 10;
    n2.id = "n2";
    n2.cpus = 6;
    g.resources = {n1, n2};
    g.jobs = {job_of("a", 7, 0, 7), job_of("b", 5, 0, 4), job_of("c", 5, 0, 4),
              job_of("d", 4, 0, 3), job_of("e", 3, 0, 2)};
    started s = start_now(g.build(), a);

    CHECK(s.ids == std::vector<std::string>{"a", "b", "e"});
    CHECK(s.out.plan.placed[0].positions[0] == 0);
    CHECK(s.out.plan.placed[1].positions[0] == 1);
    CHECK(s.out.plan.placed[4].positions[0] == 0);
    CHECK(s.tiers[0].value == 13);
    CHECK(s.tiers[0].bound == 14);
    CHECK_FALSE(s.out.proven);
}

TEST_CASE("priorities come before weights", "[world]")
{
    given_world g;
    test_arena a;
    given_resource n;
    n.id = "n";
    n.cpus = 4;
    g.resources = {n};
    g.jobs = {job_of("h", 3, 0, 1), job_of("l1", 2, 0, 10), job_of("l2", 2, 0, 10)};
    g.jobs[0].priority = 2;
    g.jobs[1].priority = g.jobs[2].priority = 1;
    given_world flat = g;
    started s = start_now(g.build(), a);

    CHECK(s.ids == std::vector<std::string>{"h"});
    REQUIRE(s.tiers.size() == 2);
    CHECK(s.tiers[0].priority == 2);
    CHECK(s.tiers[0].value == 1);
    CHECK(s.tiers[1].priority == 1);
    CHECK(s.tiers[1].value == 0);
    CHECK(s.tiers[1].bound == 0);
    CHECK(s.out.proven);

    flat.jobs[0].priority = 1;
    s = start_now(flat.build(), a);
    CHECK(s.ids == std::vector<std::string>{"l1", "l2"});
    CHECK(s.tiers[0].value == 20);
}

TEST_CASE("a reservation hinders what runs into it, and what may run for ever", "[world]")
{
    given_world g;
    test_arena a;
    given_resource n;
    n.id = "n";
    n.cpus = 4;
    g.resources = {n};
    g.jobs = {job_of("unknown", 1, 0, 9), job_of("long", 1, 0, 1),
              job_of("short", 1, 0, 1), job_of("longer", 1, 0, 5)};
    g.jobs[1].estimate_s = 5;
    g.jobs[2].estimate_s = 4;
    g.jobs[3].estimate_s = 6;
    given_holder h{};
    h.id = "r";
    h.positions = {0};
    h.reservation = true;
    h.start_s = 4;
    h.end_s = 10;
    h.cpus = 3;
    g.holders = {h};
    started s = start_now(g.build(), a);

    CHECK(s.ids == std::vector<std::string>{"unknown", "short"});
    CHECK(s.out.plan.placed[0].end_s == HUGE_VAL);
    CHECK(s.out.plan.placed[2].end_s == 4);
    CHECK(s.out.proven);
}

TEST_CASE("inside a class the first in the queue start", "[world]")
{
    given_world g;
    test_arena a;
    given_resource n;
    n.id = "n";
    n.cpus = 2;
    g.resources = {n};
    for (int i = 0; i < 4; i++)
        g.jobs.push_back(job_of("j" + std::to_string(i), 1, 0, 1));
    world *w = const_cast<world *>(g.build());
    const_cast<world_job *>(w->jobs)[0].queued_at_s = 7;
    const_cast<world_job *>(w->jobs)[1].queued_at_s = 5;
    const_cast<world_job *>(w->jobs)[2].queued_at_s = 7;
    const_cast<world_job *>(w->jobs)[3].queued_at_s = 6;
    CHECK(start_now(w, a).ids == std::vector<std::string>{"j1", "j3"});
}

TEST_CASE("jobs that start in any case take their room and count", "[world]")
{
    given_world g;
    test_arena a;
    given_resource n1, n2;
    n1.id = "n1";
    n2.id = "n2";
    n1.cpus = n2.cpus = 4;
    g.resources = {n1, n2};
    g.jobs = {job_of("wide", 3, 0, 5), job_of("one", 1, 0, 1), job_of("two", 2, 0, 1)};
    g.jobs[0].nodes = 2;
    const world *w = g.build();
    const size_t both[] = {0, 1};
    std::vector<world_placed> placed(3);
    placed[0].positions = both;
    placed[0].position_count = 2;
    placed[0].end_s = placed[0].done_s = placed[0].run_s = HUGE_VAL;
    world_plan before{};
    before.placed = placed.data();
    now_in in{};
    now_out out{};
    in.w = w;
    in.before = &before;
    world_start_now(&in, &out, a);

    CHECK(out.plan.placed[0].positions == both);
    CHECK(out.plan.placed[1].positions);
    CHECK_FALSE(out.plan.placed[2].positions);
    CHECK(out.tiers[0].value == 6);
    CHECK(out.tiers[0].bound >= 6);
    CHECK(out.plan.placed_count == 2);
    in.before = nullptr;
    world_start_now(&in, &out, a);
    CHECK_FALSE(out.plan.placed[0].positions);
    CHECK(out.tiers[0].value == 2);
    CHECK(out.tiers[0].bound == 6); // 6 + 1 cpus, and half of the last: 6.5
    CHECK_FALSE(out.proven);
}

namespace
{

now_out start_all(const world *w, arena *a)
{
    now_in in{};
    now_out out{};

    in.w = w;
    world_start_all(&in, &out, a);
    return out;
}

// The independent checker, for jobs with run times.
void check_plan(const world *w, const world_plan *plan)
{
    test_arena a;
    size_t count;
    const world_claim *claims = world_claims(w, plan, &count, a);
    struct world_check out {
    };

    world_check(w, claims, count, &out, a);
    CHECK(out.violation_count == 0);
}

} // namespace

TEST_CASE("jobs on several nodes start with the others, by tier and weight", "[world]")
{
    given_world g;
    test_arena a;
    given_resource n1, n2;
    n1.id = "n1";
    n2.id = "n2";
    n1.cpus = n2.cpus = 4;
    g.resources = {n1, n2};
    g.jobs = {job_of("wide", 3, 0, 5), job_of("one", 1, 0, 1), job_of("two", 2, 0, 1)};
    g.jobs[0].nodes = 2;

    SECTION("the heavy wide one first")
    {
        now_out out = start_all(g.build(), a);
        CHECK(out.plan.placed[0].position_count == 2);
        CHECK(out.plan.placed[0].end_s == HUGE_VAL);
        CHECK(out.plan.placed[1].positions);
        CHECK_FALSE(out.plan.placed[2].positions);
        CHECK(out.tiers[0].value == 6);
        CHECK(out.proven);
    }
    SECTION("not before jobs of a larger priority")
    {
        g.jobs[2].priority = 1;
        now_out out = start_all(g.build(), a);
        CHECK_FALSE(out.plan.placed[0].positions);
        CHECK(out.plan.placed[1].positions);
        CHECK(out.plan.placed[2].positions);
        CHECK(out.tiers[0].value == 1);
    }
    SECTION("behind them where there is room")
    {
        g.jobs[1].priority = 1;
        now_out out = start_all(g.build(), a);
        CHECK(out.plan.placed[0].positions);
        CHECK(out.plan.placed[1].positions);
    }
}

TEST_CASE("groups start now as their rules let them", "[world]")
{
    given_world g;
    test_arena a;
    given_resource n1, n2;
    n1.id = "n1";
    n2.id = "n2";
    n1.cpus = n2.cpus = 4;
    g.resources = {n1, n2};
    for (int i = 0; i < 3; i++) {
        g.jobs.push_back(job_of("m" + std::to_string(i), 2, 0, 1));
        g.jobs.back().group = 0;
    }
    given_holder h{};
    h.id = "h";
    h.positions = {0};
    h.cpus = 4;
    h.end_s = 6;
    h.weight = 1;

    SECTION("spread: one on each node")
    {
        g.groups = {{"g", GROUP_SPREAD}};
        now_out out = start_all(g.build(), a);
        CHECK(out.plan.placed_count == 2);
        CHECK(out.plan.placed[2].wait == WORLD_WAIT_GROUP_SPREAD);
    }
    SECTION("gang: all")
    {
        g.groups = {{"g", GROUP_GANG}};
        CHECK(start_all(g.build(), a).plan.placed_count == 3);
    }
    SECTION("gang: not before all can")
    {
        g.groups = {{"g", GROUP_GANG}};
        g.holders = {h};
        now_out out = start_all(g.build(), a);
        CHECK(out.plan.placed_count == 0);
        CHECK(out.plan.placed[0].wait == WORLD_WAIT_GROUP_GANG);
    }
    SECTION("gang: nobody can")
    {
        g.groups = {{"g", GROUP_GANG}};
        h.positions = {0, 1};
        g.holders = {h};
        now_out out = start_all(g.build(), a);
        CHECK(out.plan.placed[0].wait == WORLD_WAIT_NO_FREE_NOW);
    }
    SECTION("pack: those that fit on one node")
    {
        g.groups = {{"g", GROUP_PACK}};
        g.holders = {h};
        now_out out = start_all(g.build(), a);
        CHECK(out.plan.placed_count == 2);
        for (size_t j = 0; j < 3; j++)
            if (out.plan.placed[j].positions)
                CHECK(out.plan.placed[j].positions[0] == 1);
            else // n2 is full
                CHECK(out.plan.placed[j].wait == WORLD_WAIT_NO_FREE_NOW);
    }
}

TEST_CASE("several nodes do not start what needs more of a shared amount than there is",
          "[world]")
{
    given_world g;
    test_arena a;
    given_resource n;
    n.cpus = 4;
    g.resources = {n, n};
    g.resources[0].id = "n1";
    g.resources[1].id = "n2";
    g.shared = {{"licence", 1}};
    g.jobs = {job_of("wide", 1, 0, 1)};
    g.jobs[0].nodes = 2;
    g.jobs[0].estimate_s = 0; // holds nothing, and still has to be possible
    g.jobs[0].needs = {{"licence", 2}};
    CHECK(start_all(g.build(), a).plan.placed_count == 0);
}

TEST_CASE("what starts now passes the checker", "[world][property]")
{
    rng r = rng_stream(4, "world.now");
    int count = is_shorter() ? 200 : 1500;
    for (int i = 0; i < count; i++) {
        CAPTURE(i);
        test_arena a;
        given_world g = draw(&r, 2 + rng_index(&r, 2));
        g.groups = {{"g", (world_group_policy)rng_index(&r, 4)}};
        for (auto &j : g.jobs) {
            if (std::isnan(j.estimate_ref_s) && std::isnan(j.estimate_s))
                j.estimate_s = (double)(1 + rng_index(&r, 4));
            if (rng_index(&r, 3) == 0)
                j.nodes = 2;
            else if (rng_index(&r, 3) == 0)
                j.group = 0;
        }
        const world *w = g.build();
        now_out out = start_all(w, a);
        check_plan(w, &out.plan);
        for (size_t t = 0; t < out.tier_count; t++)
            CHECK(out.tiers[t].value <= out.tiers[t].bound);
    }
}

TEST_CASE("one pool starts the best of all sets", "[world][property]")
{
    rng r = rng_stream(1, "world.now");
    int count = is_shorter() ? 400 : 2500;
    for (int i = 0; i < count; i++) {
        CAPTURE(i);
        compare(draw(&r, 1));
    }
}

TEST_CASE("several resources: valid, and no bound below the best", "[world][property]")
{
    rng r = rng_stream(2, "world.now");
    int count = is_shorter() ? 200 : 1500;
    for (int i = 0; i < count; i++) {
        CAPTURE(i);
        compare(draw(&r, 1 + rng_index(&r, 3)));
    }
}

TEST_CASE("many worlds start the best of all sets", "[.][world][property]")
{
    rng r = rng_stream(3, "world.now");
    for (int i = 0; i < 20000; i++) {
        CAPTURE(i);
        compare(draw(&r, i % 2 ? 1 : 1 + rng_index(&r, 3)));
    }
}
