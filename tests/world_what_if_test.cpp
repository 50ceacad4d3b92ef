// world_what_if_test.cpp - which change of a capacity would help most jobs.
#include "support.hpp"
#include "world_support.hpp"

#include <set>

extern "C" {
#include "algorithms/world/what_if.h"
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

given_job job_of(std::string id, double cpus, double memory, double weight = 1)
{
    given_job j;

    j.id = std::move(id);
    j.cpus = cpus;
    j.memory = memory;
    j.weight = weight;
    return j;
}

what_if changes_of(const world *w, arena *a)
{
    std::vector<size_t> jobs;
    what_if out{};

    for (size_t j = 0; j < w->job_count; j++)
        jobs.push_back(j);
    world_what_if(w, jobs.data(), jobs.size(), &out, a);
    return out;
}

struct change {
    size_t count;
    double weight, ratio;
    size_t position;
    std::string name;
    int64_t value;
    size_t first;

    bool operator<(const change &o) const
    {
        return std::tie(o.count, o.weight, ratio, position, name, value) <
               std::tie(count, weight, o.ratio, o.position, o.name, o.value);
    }
};

bool lacks_only(const world *w, size_t job, size_t r, size_t k)
{
    const int64_t *capacity = w->resources[r].capacity, *needs = w->jobs[job].needs;
    bool only = world_mask_has(w->jobs[job].choices[0].mask, r) && needs[k] > capacity[k];

    for (size_t l = 0; l < w->node_amount_count; l++)
        only &= l == k || needs[l] <= capacity[l];
    return only;
}

// All changes to a need of a job that they help, each tried on its own.
std::vector<change> try_all(const world *w)
{
    std::vector<change> all;

    for (size_t r = 0; r < w->resource_count; r++)
        for (size_t k = 0; k < w->node_amount_count; k++) {
            int64_t capacity = w->resources[r].capacity[k];
            std::set<int64_t> values;
            for (size_t j = 0; j < w->job_count; j++)
                if (lacks_only(w, j, r, k))
                    values.insert(w->jobs[j].needs[k]);
            for (int64_t v : values) {
                change c{0,
                         0,
                         capacity > 0 ? (double)v / (double)capacity : HUGE_VAL,
                         r,
                         w->amounts[k].name,
                         v,
                         SIZE_MAX};
                for (size_t j = 0; j < w->job_count; j++) {
                    if (!lacks_only(w, j, r, k) || w->jobs[j].needs[k] > v)
                        continue;
                    c.count++;
                    c.weight += w->jobs[j].weight;
                    c.first = std::min(c.first, j);
                }
                all.push_back(c);
            }
        }
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace

TEST_CASE("the changes that help most jobs, best first", "[world]")
{
    given_world g;
    test_arena a;
    g.resources = {node("A", 8, 32), node("B", 16, 16)};
    g.jobs = {job_of("u2", 12, 24), job_of("u3", 24, 8), job_of("u4", 16, 20)};
    what_if out = changes_of(g.build(), a);
    struct {
        size_t position, amount;
        int64_t value;
        size_t count;
    } want[] = {{0, AMOUNT_CPUS, 24000000, 3},
                {1, AMOUNT_MEMORY, 24, 2},
                {0, AMOUNT_CPUS, 16000000, 2},
                {1, AMOUNT_MEMORY, 20, 1},
                {0, AMOUNT_CPUS, 12000000, 1}};

    REQUIRE(out.change_count == 5);
    for (size_t i = 0; i < 5; i++) {
        CHECK(out.changes[i].position == want[i].position);
        CHECK(out.changes[i].amount == want[i].amount);
        CHECK(out.changes[i].value == want[i].value);
        CHECK(out.changes[i].job_count == want[i].count);
        CHECK(out.changes[i].weight == (double)want[i].count);
        CHECK(out.changes[i].listed_count == want[i].count);
    }
    CHECK(out.changes[1].jobs[0] == 0);
    CHECK(out.changes[1].jobs[1] == 2);
    CHECK_FALSE(out.cut);
}

TEST_CASE("changes equal trying each of them", "[world][property]")
{
    rng r = rng_stream(1, "world.what_if");
    int count = is_shorter() ? 400 : 3000;
    for (int i = 0; i < count; i++) {
        CAPTURE(i);
        test_arena a;
        given_world g;
        size_t resources = 1 + rng_index(&r, 5), jobs = rng_index(&r, 12);
        for (size_t n = 0; n < resources; n++) {
            g.resources.push_back(node("n" + std::to_string(n), (double)rng_index(&r, 10),
                                       (double)rng_index(&r, 10)));
            if (rng_index(&r, 2))
                g.resources.back().capacities["gpus"] = (double)rng_index(&r, 3);
        }
        for (size_t n = 0; n < jobs; n++) {
            g.jobs.push_back(job_of("j" + std::to_string(n),
                                    (double)(1 + rng_index(&r, 14)),
                                    (double)rng_index(&r, 14), (double)rng_index(&r, 3)));
            if (rng_index(&r, 3) == 0)
                g.jobs.back().needs["gpus"] = (double)rng_index(&r, 4);
            if (rng_index(&r, 3) == 0)
                g.jobs.back().only = {rng_index(&r, resources)};
        }
        const world *w = g.build();
        what_if out = changes_of(w, a);
        std::vector<change> want = try_all(w);
        REQUIRE(out.change_count == std::min<size_t>(5, want.size()));
        for (size_t n = 0; n < out.change_count; n++) {
            const what_if_change &c = out.changes[n];
            CHECK(c.position == want[n].position);
            CHECK(w->amounts[c.amount].name == want[n].name);
            CHECK(c.value == want[n].value);
            CHECK(c.job_count == want[n].count);
            CHECK(c.weight == want[n].weight);
            CHECK(c.jobs[0] == want[n].first);
        }
    }
}
