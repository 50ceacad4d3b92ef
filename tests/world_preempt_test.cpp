// world_preempt_test.cpp - what to stop so that a job can start now.
#include "support.hpp"
#include "world_support.hpp"

extern "C" {
#include "algorithms/world/cover.h"
#include "algorithms/world/preempt.h"
}

namespace
{

given_resource node(std::string id, double cpus, double memory)
{
    given_resource r;

    r.id = std::move(id);
    r.cpus = cpus;
    r.memory = memory;
    return r;
}

given_job job_of(double cpus, double memory, double priority = 1)
{
    given_job j;

    j.id = "j";
    j.cpus = cpus;
    j.memory = memory;
    j.priority = priority;
    j.estimate_s = 10;
    return j;
}

given_holder running(std::string id, std::vector<size_t> at, double cpus, double memory,
                     double weight)
{
    given_holder h{};

    h.id = std::move(id);
    h.positions = std::move(at);
    h.cpus = cpus;
    h.memory = memory;
    h.weight = weight;
    h.preemptible = true;
    h.end_s = 100;
    return h;
}

preemption propose(const world *w, arena *a, size_t max_nodes = 0)
{
    preemption out{};

    world_preempt(w, nullptr, 0, max_nodes, &out, a);
    return out;
}

std::vector<size_t> stops(const preemption &p)
{
    return {p.stop, p.stop + p.stop_count};
}

// ---- naively ----

// Whether job 0 fits there from 0 on when the holders of the set are stopped.
bool fits(const world *w, unsigned stopped, size_t position)
{
    const world_job *j = &w->jobs[0];
    double held = world_held_s(w, j, world_run_s(w, j, position));
    std::vector<double> times = {0};

    for (size_t h = 0; h < w->holder_count; h++)
        if (w->holders[h].start_s < held)
            times.push_back(w->holders[h].start_s);
    for (double t : times)
        for (size_t k = 0; k < w->amount_count; k++) {
            bool shared = k >= w->node_amount_count, closed = false;
            int64_t free =
                shared ? w->shared_capacity[k] : w->resources[position].capacity[k];
            for (size_t h = 0; h < w->holder_count; h++) {
                const world_holder *o = &w->holders[h];
                bool here = shared;
                for (size_t i = 0; i < o->position_count; i++)
                    here |= o->positions[i] == position;
                if (!here || (stopped >> h & 1) || o->start_s > t || o->end_s <= t)
                    continue;
                closed |= o->all && !shared;
                if (free < AMOUNT_UNLIMITED)
                    free -= o->amounts[k];
            }
            if (closed || (j->needs[k] > 0 && j->needs[k] > free))
                return false;
        }
    return true;
}

struct best_stop {
    bool possible = false;
    double weight = 0;
    size_t count = 0;
    std::vector<size_t> stop;
};

// All sets of candidates; enough nodes must fit.
best_stop try_all(const world *w)
{
    best_stop best;

    for (unsigned set = 0; set < 1u << w->holder_count; set++) {
        best_stop now{true, 0, 0, {}};
        size_t nodes = 0;
        bool allowed = true;
        for (size_t h = 0; h < w->holder_count; h++) {
            const world_holder *o = &w->holders[h];
            if (!(set >> h & 1))
                continue;
            allowed &= o->kind == HOLDER_RUNNING && o->preemptible &&
                       o->priority < w->jobs[0].priority;
            now.weight += o->weight;
            now.stop.push_back(h);
        }
        now.count = now.stop.size();
        for (size_t r = 0; allowed && r < w->resource_count; r++)
            nodes += fits(w, set, r);
        if (!allowed || nodes < w->jobs[0].nodes)
            continue;
        if (!best.possible ||
            std::tie(now.weight, now.count) < std::tie(best.weight, best.count))
            best = now;
    }
    return best;
}

given_world draw(rng *r, size_t nodes)
{
    given_world g;
    size_t resources = nodes + rng_index(r, 2), holders = rng_index(r, 8);

    if (rng_index(r, 3) == 0)
        g.shared["licence"] = (double)rng_index(r, 3);
    for (size_t i = 0; i < resources; i++)
        g.resources.push_back(node("n" + std::to_string(i), (double)(2 + rng_index(r, 6)),
                                   (double)rng_index(r, 8)));
    g.jobs = {job_of((double)(1 + rng_index(r, 6)), (double)rng_index(r, 6),
                     (double)(1 + rng_index(r, 2)))};
    g.jobs[0].nodes = nodes;
    if (!g.shared.empty() && rng_index(r, 2))
        g.jobs[0].needs["licence"] = 1;
    for (size_t i = 0; i < holders; i++) {
        std::vector<size_t> at = {rng_index(r, resources)};
        if (resources > 1 && rng_index(r, 4) == 0)
            at = {0, 1};
        given_holder h = running("h" + std::to_string(i), at, (double)rng_index(r, 4),
                                 (double)rng_index(r, 4), (double)rng_index(r, 5));
        h.preemptible = rng_index(r, 5) > 0;
        h.priority = (double)rng_index(r, 2);
        if (rng_index(r, 4) == 0)
            h.end_s = (double)(1 + rng_index(r, 12));
        if (rng_index(r, 6) == 0) {
            h.reservation = true;
            h.start_s = (double)rng_index(r, 12);
            h.end_s = h.start_s + 5;
            h.all = rng_index(r, 4) == 0;
        }
        if (!g.shared.empty() && rng_index(r, 2))
            h.needs["licence"] = 1;
        g.holders.push_back(h);
    }
    return g;
}

void compare(given_world g)
{
    test_arena a;
    const world *w = g.build();
    preemption got = propose(w, a);
    best_stop want = try_all(w);
    unsigned set = 0;

    CHECK((!got.possible || want.possible));
    if (w->jobs[0].nodes == 1)
        CHECK(got.possible == want.possible);
    if (!got.possible)
        return;
    for (size_t h : stops(got)) {
        CHECK(w->holders[h].preemptible);
        CHECK(w->holders[h].priority < w->jobs[0].priority);
        set |= 1u << h;
    }
    REQUIRE(got.position_count == w->jobs[0].nodes);
    for (size_t i = 0; i < got.position_count; i++) {
        CHECK(fits(w, set, got.positions[i]));
        CHECK((i == 0 || got.positions[i - 1] < got.positions[i]));
    }
    CHECK(got.weight >= want.weight);
    if (w->jobs[0].nodes == 1)
        CHECK(got.proven);
    if (!got.proven)
        return;
    CHECK(got.weight == want.weight);
    if (w->jobs[0].nodes == 1)
        CHECK(got.stop_count == want.count);
}

} // namespace

TEST_CASE("the cheapest stop that frees what is lacking", "[world]")
{
    given_world g;
    test_arena a;

    SECTION("need 4: the light one")
    {
        g.resources = {node("n", 8, NAN)};
        g.holders = {running("a", {0}, 4, 0, 1), running("b", {0}, 2, 0, 1),
                     running("c", {0}, 2, 0, 3)};
        g.jobs = {job_of(4, 0)};
        preemption p = propose(g.build(), a);
        CHECK(stops(p) == std::vector<size_t>{0});
        CHECK(p.weight == 1);
        CHECK(p.proven);
    }
    SECTION("need 6: two of them")
    {
        g.resources = {node("n", 8, NAN)};
        g.holders = {running("a", {0}, 4, 0, 1), running("b", {0}, 2, 0, 1),
                     running("c", {0}, 2, 0, 3)};
        g.jobs = {job_of(6, 0)};
        preemption p = propose(g.build(), a);
        CHECK(stops(p) == std::vector<size_t>{0, 1});
        CHECK(p.weight == 2);
    }
    SECTION("two amounts: not the one that has both")
    {
        g.resources = {node("n", 8, 14)};
        g.holders = {running("x", {0}, 4, 8, 5), running("y", {0}, 3, 2, 2),
                     running("z", {0}, 0, 4, 2)};
        g.jobs = {job_of(4, 6)};
        preemption p = propose(g.build(), a);
        CHECK(stops(p) == std::vector<size_t>{1, 2});
        CHECK(p.weight == 4);
        CHECK(p.proven);
    }
}

TEST_CASE("only what may be stopped and helps is proposed", "[world]")
{
    given_world g;
    test_arena a;

    g.resources = {node("n", 4, NAN)};
    g.holders = {running("a", {0}, 4, 0, 1)};
    g.jobs = {job_of(4, 0)};
    SECTION("equal priority is not enough")
    {
        g.holders[0].priority = 1;
        CHECK_FALSE(propose(g.build(), a).possible);
    }
    SECTION("not preemptible")
    {
        g.holders[0].preemptible = false;
        CHECK_FALSE(propose(g.build(), a).possible);
    }
    SECTION("a reservation begins before the job would end")
    {
        given_holder r = running("r", {0}, 1, 0, 1);
        r.reservation = true;
        r.start_s = 5;
        r.end_s = 50;
        g.holders.push_back(r);
        CHECK_FALSE(propose(g.build(), a).possible);
    }
    SECTION("what runs ends before the reservation begins")
    {
        given_holder r = running("r", {0}, 3, 0, 1);
        r.reservation = true;
        r.start_s = 5;
        r.end_s = 50;
        g.holders.push_back(r);
        g.holders[0].end_s = 5;
        g.jobs[0].cpus = 1;
        CHECK(stops(propose(g.build(), a)) == std::vector<size_t>{0});
    }
    SECTION("it can start without")
    {
        g.holders[0].cpus = 0;
        preemption p = propose(g.build(), a);
        CHECK(p.possible);
        CHECK(p.stop_count == 0);
    }
    SECTION("what the plan starts stays")
    {
        given_world more = g;
        more.holders[0].cpus = 2;
        more.jobs.push_back(job_of(2, 0));
        const world *w = more.build();
        std::vector<world_placed> placed(2);
        const size_t at = 0;
        size_t sequence = 1;
        placed[1].positions = &at;
        placed[1].position_count = 1;
        placed[1].end_s = 10;
        world_plan plan{placed.data(), &sequence, 1, false};
        preemption p{};
        world_preempt(w, &plan, 0, 0, &p, a);
        CHECK_FALSE(p.possible);
        world_preempt(w, nullptr, 0, 0, &p, a);
        CHECK(p.possible);
    }
}

TEST_CASE("a job on several nodes stops what is on several nodes once", "[world]")
{
    given_world g;
    test_arena a;

    g.resources = {node("n1", 4, NAN), node("n2", 4, NAN), node("n3", 4, NAN)};
    g.holders = {running("wide", {0, 1}, 4, 0, 3), running("one", {2}, 4, 0, 2)};
    g.jobs = {job_of(4, 0)};
    g.jobs[0].nodes = 2;
    preemption p = propose(g.build(), a);
    REQUIRE(p.possible);
    CHECK_FALSE(p.proven); // the third is cheapest: 2 + 3, where wide alone would do
    CHECK(p.position_count == 2);
    CHECK(p.weight == 5);
}

TEST_CASE("a search that is cut proposes what it has", "[world]")
{
    given_world g;
    test_arena a;

    g.resources = {node("n", 100, NAN)};
    for (int i = 0; i < 25; i++)
        g.holders.push_back(
            running("h" + std::to_string(i), {0}, 4, 0, (double)(1 + i * 7 % 5)));
    g.jobs = {job_of(50, 0)};
    const world *w = g.build();
    preemption p = propose(w, a, 10);
    CHECK(p.possible);
    CHECK_FALSE(p.proven);
    CHECK(propose(w, a).weight <= p.weight);
}

TEST_CASE("stops equal the best of all sets", "[world][property]")
{
    rng r = rng_stream(1, "world.preempt");
    int count = is_shorter() ? 600 : 4000;
    for (int i = 0; i < count; i++) {
        CAPTURE(i);
        compare(draw(&r, i % 4 == 0 ? 2 : 1));
    }
}

TEST_CASE("many stops equal the best of all sets", "[.][world][property]")
{
    rng r = rng_stream(2, "world.preempt");
    for (int i = 0; i < 50000; i++) {
        CAPTURE(i);
        compare(draw(&r, 1 + rng_index(&r, 3)));
    }
}
