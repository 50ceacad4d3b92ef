// world_bounds_property_test.cpp - no bound of a random tiny world is above the optimum.
#include "tests/world_bounds_support.hpp"

extern "C" {
#include "models/base/rng.h"
}

namespace
{
// Numbers for worlds: integers, with many zeros and ties.
struct dice {
    rng r;
    explicit dice(uint64_t seed) : r(rng_stream(seed, "world_bounds"))
    {
    }
    double up_to(size_t most)
    {
        return (double)rng_index(&r, most + 1);
    }
    size_t size(size_t from, size_t to)
    {
        return from + rng_index(&r, to - from + 1);
    }
    bool one_in(size_t n)
    {
        return rng_index(&r, n) == 0;
    }
};

void add_resources(given_world &given, dice &d)
{
    bool alike = d.one_in(2), slots = d.one_in(4), costs = d.one_in(2);
    size_t count = d.size(1, 3);
    for (size_t i = 0; i < count; i++) {
        given_resource r;
        if (alike && i > 0) {
            given.resources.push_back(given.resources[0]);
            continue;
        }
        r.id = "r";
        r.cpus = slots ? NAN : 1 + d.up_to(3);
        r.n_max = slots || d.one_in(4) ? 1 + d.up_to(1) : NAN;
        r.memory = d.one_in(2) ? d.up_to(5) : NAN;
        if (d.one_in(3))
            r.capacities = {{"gpus", d.up_to(2)}};
        r.speed = d.one_in(3) ? 2 : d.one_in(4) ? 4 : 1;
        if (costs) {
            r.price_per_s = d.up_to(3);
            r.price_per_cpu_s = d.up_to(2);
            r.power_node_w = d.up_to(3);
            r.power_per_cpu_w = d.up_to(2);
        }
        given.resources.push_back(r);
    }
    if (d.one_in(3))
        given.shared = {{"licence", d.up_to(2)}};
}

void add_holders(given_world &given, dice &d)
{
    size_t count = d.one_in(3) ? 0 : d.size(0, 3);
    for (size_t i = 0; i < count; i++) {
        given_holder h;
        h.id = "h";
        h.reservation = d.one_in(2);
        h.start_s = h.reservation ? d.up_to(6) : 0;
        h.end_s = d.one_in(15) ? HUGE_VAL : h.start_s + 1 + d.up_to(5);
        h.all = h.reservation && d.one_in(2);
        for (size_t r = 0; r < given.resources.size(); r++)
            if (d.one_in(2))
                h.positions.push_back(r);
        h.cpus = h.all ? 0 : d.up_to(3);
        h.memory = h.all ? 0 : d.up_to(3);
        h.exclusive = !h.reservation && d.one_in(8);
        if (!given.shared.empty() && d.one_in(2))
            h.needs = {{"licence", d.up_to(3)}};
        given.holders.push_back(h);
    }
}

void add_time(given_world &given, given_job &j, dice &d, size_t way)
{
    if (way == 0)
        j.estimate_s = d.up_to(6);
    else if (way == 1)
        j.estimate_ref_s = d.up_to(12);
    else
        for (size_t r = 0; r < given.resources.size(); r++)
            j.etc_s.push_back(d.one_in(6) ? HUGE_VAL : d.up_to(6));
    if (d.one_in(5) || (given.plan_with_limit && d.one_in(2)))
        j.time_limit_s = 1 + d.up_to(8);
}

void add_jobs(given_world &given, dice &d, size_t most)
{
    size_t count = d.size(1, most), way = d.size(0, 3);
    bool equal = d.one_in(4);
    for (size_t i = 0; i < count; i++) {
        given_job j;
        if (equal && i > 0) {
            given.jobs.push_back(given.jobs[0]);
            continue;
        }
        j.id = "j";
        add_time(given, j, d, way < 3 ? way : d.size(0, 2));
        j.cpus = 1 + d.up_to(3);
        j.memory = d.one_in(2) ? d.up_to(4) : 0;
        if (d.one_in(5))
            j.needs = {{"gpus", d.up_to(1)}};
        if (!given.shared.empty() && d.one_in(2))
            j.needs["licence"] = d.up_to(2);
        j.nodes = d.one_in(4) ? d.size(1, given.resources.size()) : 1;
        j.exclusive = d.one_in(10);
        j.release_s = d.one_in(3) ? d.up_to(6) : 0;
        j.deadline_s = d.one_in(3) ? HUGE_VAL : d.up_to(12);
        j.weight = d.up_to(3);
        if (given.resources.size() > 1 && d.one_in(6))
            j.only = {rng_index(&d.r, given.resources.size())};
        if (i > 0 && d.one_in(4))
            j.after = {{rng_index(&d.r, i), (world_after_kind)d.size(0, 2)}};
        given.jobs.push_back(j);
    }
}

given_world random_world(uint64_t seed, size_t jobs_most)
{
    dice d(seed);
    given_world given;
    given.plan_with_limit = d.one_in(5);
    add_resources(given, d);
    add_holders(given, d);
    add_jobs(given, d, jobs_most);
    return given;
}

// The same world with the resources of each job in two partitions, which share one.
struct parted {
    world w;
    std::vector<world_job> jobs;
    std::vector<uint64_t> masks;
    std::vector<world_choice> choices;

    parted(const world *of, size_t shared)
        : w(*of), jobs(of->jobs, of->jobs + of->job_count), masks(2 * of->job_count),
          choices(2 * of->job_count)
    {
        uint64_t low = (uint64_t{2} << shared) - 1, high = ~uint64_t{0} << shared;
        for (size_t j = 0; j < jobs.size(); j++) {
            masks[2 * j] = jobs[j].choices->mask[0] & low;
            masks[2 * j + 1] = jobs[j].choices->mask[0] & high;
            for (size_t c = 2 * j; c < 2 * j + 2; c++)
                choices[c] = {nullptr, &masks[c], (size_t)__builtin_popcountll(masks[c]),
                              nullptr, 0};
            jobs[j].choices = &choices[2 * j];
            jobs[j].choice_count = 2;
        }
        w.jobs = jobs.data();
    }
    parted(const parted &) = delete;
    parted &operator=(const parted &) = delete;
};

// No bound of a level is above the least value, whatever the effort.
void check_levels(const world *w, const brute &best,
                  const std::vector<world_objective> &objectives)
{
    double makespan_s = best.least(OBJECTIVE_MAKESPAN);
    for (auto o : objectives) {
        double least = best.least(o);
        for (auto work : {BOUNDS_LONGEST, BOUNDS_SINGLE, BOUNDS_ALL, BOUNDS_ASCENT}) {
            double bound = bound_of(w, o, work, makespan_s);
            INFO("objective " << o << ", work " << work);
            REQUIRE(bound <= least + 1e-9 * std::max(1.0, least));
            REQUIRE(bound >= 0);
        }
    }
    double nodes = bounds_of(all_placed(w), {OBJECTIVE_MAKESPAN, OBJECTIVE_NODES_USED},
                             {makespan_s, 0})[1];
    REQUIRE(nodes <= best.least_nodes(makespan_s));
}

const std::vector<world_objective> REGULAR = {OBJECTIVE_MAKESPAN,
                                              OBJECTIVE_TOTAL_FLOW,
                                              OBJECTIVE_WEIGHTED_COMPLETION,
                                              OBJECTIVE_WEIGHTED_TARDINESS,
                                              OBJECTIVE_LATE_JOBS,
                                              OBJECTIVE_NODES_USED,
                                              OBJECTIVE_COST,
                                              OBJECTIVE_ENERGY};

struct checked {
    size_t worlds; // in which all jobs have a place
    size_t met;    // by the bound of the makespan
};

checked check_worlds(uint64_t first_seed, size_t count, size_t jobs_most)
{
    size_t checked = 0, met = 0;
    for (uint64_t seed = first_seed; seed < first_seed + count; seed++) {
        given_world given = random_world(seed, jobs_most);
        const world *whole = given.build();
        parted two(whole, seed % whole->resource_count);
        const world *w = seed % 4 == 0 ? &two.w : whole;
        brute best(w);
        double makespan_s = best.least(OBJECTIVE_MAKESPAN);
        INFO("seed " << seed);
        if (!(makespan_s < HUGE_VAL))
            continue;
        check_levels(w, best, REGULAR);
        // Of length 0 it may have to wait, which is not counted.
        if (w->job_count == 1 && best.least_run_s() > 0)
            REQUIRE(bound_of(w, OBJECTIVE_MAKESPAN, BOUNDS_LONGEST) == makespan_s);
        met += bound_of(w, OBJECTIVE_MAKESPAN, BOUNDS_ASCENT, makespan_s) >=
               makespan_s * (1 - 1e-9);
        checked++;
    }
    return {checked, met};
}

// Cost and energy may be less where jobs wait for each other.
size_t check_costs(uint64_t first_seed, size_t count)
{
    size_t checked = 0;
    for (uint64_t seed = first_seed; seed < first_seed + count; seed++) {
        given_world given = random_world(seed, 2);
        const world *w = given.build();
        brute best(w, 8);
        INFO("seed " << seed);
        if (!(best.least(OBJECTIVE_MAKESPAN) < HUGE_VAL))
            continue;
        for (auto o : {OBJECTIVE_COST, OBJECTIVE_ENERGY})
            REQUIRE(bound_of(w, o) <=
                    best.least(o) + 1e-9 * std::max(1.0, best.least(o)));
        checked++;
    }
    return checked;
}

// Share of worlds of equal nodes with one amount whose bound is the optimum.
double share_met(uint64_t first_seed, size_t count, size_t jobs_most)
{
    size_t met = 0;
    for (uint64_t seed = first_seed; seed < first_seed + count; seed++) {
        dice d(seed);
        given_world given;
        given.resources.assign(d.size(1, 3), {"n", 10});
        for (size_t i = d.size(2, jobs_most); i > 0; i--)
            given.jobs.push_back({"j", NAN, 1 + d.up_to(9), 1 + d.up_to(9)});
        const world *w = given.build();
        double least = brute(w).least(OBJECTIVE_MAKESPAN);
        double bound = bound_of(w, OBJECTIVE_MAKESPAN, BOUNDS_ASCENT, least);
        INFO("seed " << seed);
        REQUIRE(bound <= least * (1 + 1e-9));
        met += bound >= least * (1 - 1e-9);
    }
    return (double)met / (double)count;
}
} // namespace

TEST_CASE("no bound of a tiny world is above the optimum", "[world][bounds][property]")
{
    CHECK(check_worlds(1, 600, 3).worlds > 200);
}

TEST_CASE("no bound of cost is above the optimum", "[world][bounds][property]")
{
    CHECK(check_costs(1, 100) > 30);
}

TEST_CASE("the bound is the optimum of most tiny worlds with one amount",
          "[world][bounds][property]")
{
    CHECK(share_met(1, 60, 4) >= 0.55);
}

// By hand, in a release build; minutes.
TEST_CASE("no bound of many tiny worlds is above the optimum", "[.][world-bounds-many]")
{
    checked seen = check_worlds(1000000, 14000, 4);
    WARN(seen.worlds << " worlds, optimum met in " << seen.met);
    CHECK(seen.worlds >= 5000);
    size_t costs = check_costs(1000000, 4000);
    WARN(costs << " worlds with costs");
    CHECK(costs >= 1000);
    double share = share_met(1000000, 2000, 5);
    WARN("optimum met in a share of " << share);
    CHECK(share >= 0.55);
}
