// makespan_whole_test.cpp - the bound of jobs that are not divided.
#include "tests/support.hpp"

extern "C" {
#include "algorithms/placement/makespan_parts.h"
}

#include <fstream>

namespace
{

struct matrix {
    size_t jobs = 0, machines = 0;
    std::vector<double> time_s, wait_s;
};

double brute_force(const matrix &m)
{
    std::vector<size_t> at(m.jobs);
    double best = HUGE_VAL;
    for (;;) {
        std::vector<double> load = m.wait_s;
        double longest = 0;
        for (size_t i = 0; i < m.jobs; i++) {
            load[at[i]] += m.time_s[i * m.machines + at[i]];
            longest = std::fmax(longest, load[at[i]]);
        }
        best = std::fmin(best, longest);
        size_t i = 0;
        while (i < m.jobs && ++at[i] == m.machines)
            at[i++] = 0;
        if (i == m.jobs)
            return best;
    }
}

// Ties, zeros, pairs that cannot be, waits; every job can run somewhere.
matrix any_small(uint64_t seed)
{
    rng r = rng_create(seed);
    matrix m;
    m.jobs = 1 + rng_index(&r, 7);
    m.machines = 1 + rng_index(&r, 3);
    for (size_t i = 0; i < m.jobs; i++) {
        size_t possible = rng_index(&r, m.machines);
        for (size_t j = 0; j < m.machines; j++) {
            double time_s = seed % 2 ? (double)rng_index(&r, 6) : 10 * rng_uniform(&r);
            bool never = j != possible && rng_index(&r, 4) == 0;
            m.time_s.push_back(never ? HUGE_VAL : time_s);
        }
    }
    for (size_t j = 0; j < m.machines; j++)
        m.wait_s.push_back(rng_index(&r, 3) ? 0 : (double)rng_index(&r, 12));
    return m;
}

// Priced, and then whole jobs below a plan of `upper_s`; 0: no such bound.
bound_list bounds_of(const matrix &m, double upper_s, size_t work_max = SIZE_MAX)
{
    test_arena a;
    ticks t{};
    makespan_field f{};
    makespan_problem p{m.jobs, m.machines, m.time_s.data(), m.wait_s.data()};

    t.until = 1;
    makespan_field_create(&p, &t, &f, a);
    REQUIRE(makespan_price(&f, false) == OK);
    makespan_whole(&f, upper_s * f.scale, work_max);
    return f.bounds;
}

} // namespace

TEST_CASE("three equal jobs on two equal machines take two of them", "[makespan]")
{
    // Divided they would take 15; within less than 20 no machine does more than one.
    matrix m{3, 2, std::vector<double>(6, 10), {0, 0}};
    bound_list all = bounds_of(m, 20);
    CHECK(all.value[BOUND_PRICED] == Approx(15).epsilon(1e-6));
    CHECK(all.value[BOUND_WHOLE_JOBS] == Approx(20).epsilon(1e-6));
    CHECK(all.value[BOUND_WHOLE_JOBS] <= 20);
}

TEST_CASE("no plan is shorter than the bound of whole jobs", "[makespan][property]")
{
    size_t better = 0, whole = 0;

    for (uint64_t seed = 1; seed <= 1200; seed++) {
        matrix m = any_small(seed);
        double optimum_s = brute_force(m);
        CAPTURE(seed, m.jobs, m.machines, optimum_s);
        for (double above : {1.0, 1.01, 1.5}) {
            bound_list all = bounds_of(m, optimum_s * above);
            CHECK(bound_list_best(&all) <= optimum_s * (1 + 1e-12));
            if (!all.known[BOUND_WHOLE_JOBS])
                continue;
            whole++;
            better += all.value[BOUND_WHOLE_JOBS] > 1.01 * all.value[BOUND_PRICED];
        }
    }
    CHECK(whole > 1000);
    CHECK(better > 800); // mostly the prices leave something to be found
}

TEST_CASE("most of the gap of Braun's matrices is the bound's", "[makespan]")
{
    struct {
        const char *name;
        double known_s, closed; // the best plan known; share of the gap to it
    } cases[] = {{"u_c_lolo.0", 5135.70, 0.4},
                 {"u_i_hihi.0", 2924720.0, 0.8},
                 {"u_s_lohi.0", 120998.73, 0.75}};
    const char *folder = std::getenv("GRIDPLAN_DATA");

    for (auto &c : cases)
        DYNAMIC_SECTION(c.name)
        {
            matrix m;
            std::ifstream in(std::string(folder ? folder : "") + "/03-etc/braun-512x16/" +
                             c.name);
            double ignored;
            if (!folder || !(in >> m.jobs >> m.machines >> ignored)) {
                WARN("skipped: GRIDPLAN_DATA does not lead to " << c.name);
                return;
            }
            m.time_s.resize(m.jobs * m.machines);
            m.wait_s.resize(m.machines);
            for (double &t : m.time_s)
                in >> t;
            bound_list all = bounds_of(m, c.known_s, 12'000'000);
            double priced = all.value[BOUND_PRICED], found = all.value[BOUND_WHOLE_JOBS];
            CHECK(found < c.known_s);
            CHECK((found - priced) / (c.known_s - priced) > c.closed);
        }
}

TEST_CASE("the bound of whole jobs ends where there is nothing to gain", "[makespan]")
{
    matrix one{1, 1, {5}, {0}}, none{2, 2, {0, 0, 0, 0}, {0, 0}};

    CHECK_FALSE(bounds_of(one, 5).known[BOUND_WHOLE_JOBS]);
    CHECK_FALSE(bounds_of(none, 0).known[BOUND_WHOLE_JOBS]);
    CHECK_FALSE(bounds_of({3, 2, std::vector<double>(6, 10), {0, 0}}, 20, 0)
                    .known[BOUND_WHOLE_JOBS]);
}
