// makespan_test.cpp - the kernel for the least makespan on unrelated machines.
#include "tests/support.hpp"

extern "C" {
#include "algorithms/placement/makespan.h"
}

#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace
{
const double NEVER = HUGE_VAL;

struct matrix {
    size_t jobs = 0, machines = 0;
    std::vector<double> time_s, wait_s;

    makespan_problem problem() const
    {
        return {jobs, machines, time_s.data(), wait_s.empty() ? nullptr : wait_s.data()};
    }
};

matrix five_by_three()
{
    return {5, 3, {14, 20, 15, 19, 20, 20, 11, 17, 18, 2, 9, 19, 18, 12, 11}, {}};
}

double length_of(const matrix &m, const size_t *assignment)
{
    std::vector<double> load(m.machines);
    double longest = 0;
    for (size_t j = 0; j < m.machines && !m.wait_s.empty(); j++)
        load[j] = m.wait_s[j];
    for (size_t i = 0; i < m.jobs; i++) {
        double &l = load[assignment[i]];
        l += m.time_s[i * m.machines + assignment[i]];
        longest = std::fmax(longest, l);
    }
    return longest;
}

// Best of all machine_count ^ job_count assignments.
double brute_force(const matrix &m)
{
    std::vector<size_t> at(m.jobs);
    double best = HUGE_VAL;
    for (;;) {
        best = std::fmin(best, length_of(m, at.data()));
        size_t i = 0;
        while (i < m.jobs && ++at[i] == m.machines)
            at[i++] = 0;
        if (i == m.jobs)
            return best;
    }
}

double bound_of(const matrix &m, const budget *b = nullptr)
{
    test_arena a;
    error err{};
    makespan_prices out{};
    makespan_problem p = m.problem();
    REQUIRE(makespan_bound(&p, b, &out, a, &err) == OK);
    double sum = 0;
    for (size_t j = 0; j < m.machines; j++) {
        CHECK(out.price[j] > 0);
        sum += out.price[j];
    }
    CHECK(sum == Approx(1).epsilon(1e-9));
    return out.bound_s;
}

struct result {
    std::vector<size_t> assignment;
    double makespan_s, bound_s;
    size_t steps;
    bool optimal, cut;
};

result search(const matrix &m, const budget &b, uint64_t seed = 1,
              const size_t *initial = nullptr)
{
    test_arena a;
    error err{};
    makespan_answer out{};
    makespan_problem p = m.problem();
    REQUIRE(makespan_search(&p, initial, &b, seed, &out, a, &err) == OK);
    CHECK(std::isfinite(out.makespan_s));
    CHECK(out.bound_s <= out.makespan_s);
    CHECK(out.steps >= 1);
    for (size_t i = 0; i < m.jobs; i++) {
        REQUIRE(out.assignment[i] < m.machines);
        REQUIRE(m.time_s[i * m.machines + out.assignment[i]] < HUGE_VAL);
    }
    CHECK(out.makespan_s == std::fmin(length_of(m, out.assignment), DBL_MAX));
    return {{out.assignment, out.assignment + m.jobs},
            out.makespan_s,
            out.bound_s,
            out.steps,
            out.optimal,
            out.cut};
}

result search_steps(const matrix &m, size_t steps, uint64_t seed = 1)
{
    return search(m, budget{nullptr, nullptr, steps}, seed);
}

// A clock that runs out after being asked *context times.
double countdown(void *context)
{
    size_t *left = static_cast<size_t *>(context);
    return *left == 0 ? 1 : ((*left)--, 0.5);
}

// Range-based times of Braun et al. 2001; kind: 'c'onsistent, 'i'nconsistent.
matrix braun(size_t jobs, size_t machines, char kind, uint64_t seed)
{
    matrix m{jobs, machines, std::vector<double>(jobs * machines), {}};
    rng r = rng_create(seed);
    for (size_t i = 0; i < jobs; i++) {
        double task = 1 + 2999 * rng_uniform(&r);
        double *row = &m.time_s[i * machines];
        for (size_t j = 0; j < machines; j++)
            row[j] = task * (1 + 999 * rng_uniform(&r));
        if (kind == 'c')
            std::sort(row, row + machines);
    }
    return m;
}

// A small matrix with ties, zeros, pairs that cannot be, and waits.
matrix any_small(uint64_t seed)
{
    rng r = rng_create(seed);
    matrix m;
    m.jobs = 1 + rng_index(&r, 6);
    m.machines = 1 + rng_index(&r, 4);
    for (size_t i = 0; i < m.jobs; i++) {
        size_t possible = rng_index(&r, m.machines);
        for (size_t j = 0; j < m.machines; j++) {
            double time_s = seed % 2 ? (double)rng_index(&r, 6) : 10 * rng_uniform(&r);
            bool never = j != possible && rng_index(&r, 4) == 0;
            m.time_s.push_back(never ? NEVER : time_s);
        }
    }
    if (seed % 3 != 0)
        for (size_t j = 0; j < m.machines; j++)
            m.wait_s.push_back(rng_index(&r, 3) ? 0 : (double)rng_index(&r, 12));
    return m;
}

bool load_braun(const char *name, matrix *m)
{
    const char *folder = std::getenv("GRIDPLAN_DATA");
    std::ifstream in(std::string(folder ? folder : "") + "/03-etc/braun-512x16/" + name);
    double ignored;
    if (!folder || !(in >> m->jobs >> m->machines >> ignored))
        return false;
    m->time_s.resize(m->jobs * m->machines);
    for (double &t : m->time_s)
        in >> t;
    return !in.fail();
}
} // namespace

TEST_CASE("the matrix of spec gridway 5.2 has bound 839/43 and optimum 25", "[makespan]")
{
    matrix m = five_by_three();
    CHECK(bound_of(m) == Approx(839.0 / 43).epsilon(1e-4));
    CHECK(bound_of(m) <= 839.0 / 43);
    result r = search_steps(m, 1000);
    CHECK(r.makespan_s == 25);
    CHECK(r.bound_s == 25);
    CHECK(r.optimal);
}

TEST_CASE("the bound of equal tasks is spec gridway 5.3's", "[makespan]")
{
    const double speed_s[] = {62, 1000, 350, 520, 421};
    matrix m{50, 5, {}, {}};
    for (size_t i = 0; i < m.jobs; i++)
        m.time_s.insert(m.time_s.end(), speed_s, speed_s + 5);
    CHECK(bound_of(m) == Approx(2058.922).epsilon(1e-3));
    CHECK(bound_of(m) <= 2058.92215);
    CHECK(search_steps(m, 2000).makespan_s == 2105);
}

TEST_CASE("bound and search keep their promises on Braun's matrices", "[makespan]")
{
    struct {
        const char *name;
        double bound_s, programme_s, gap;
    } cases[] = {
        {"u_c_lolo.0", 5132.82890, 5132.828966, 0.001},
        {"u_i_hihi.0", 2909326.184, 2909326.595, 0.0095},
        {"u_s_lohi.0", 120452.1212, 120452.2814, 0.0075},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.name)
        {
            matrix m;
            if (!load_braun(c.name, &m)) {
                WARN("skipped: GRIDPLAN_DATA does not lead to " << c.name);
                return;
            }
            CHECK(bound_of(m) == Approx(c.bound_s).epsilon(1e-7));
            CHECK(bound_of(m) <= c.programme_s);
            CHECK(search_steps(m, 100000).makespan_s <= c.programme_s * (1 + c.gap));
        }
}

TEST_CASE("bound <= optimum, and small problems are solved", "[makespan][property]")
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        matrix m = any_small(seed);
        double optimum_s = brute_force(m);
        CAPTURE(seed, m.jobs, m.machines);
        CHECK(bound_of(m) <= optimum_s);
        result r = search_steps(m, 50, seed);
        CHECK(r.optimal);
        CHECK(r.makespan_s == Approx(optimum_s).epsilon(1e-11).margin(0));
        CHECK(r.bound_s == r.makespan_s);
    }
}

TEST_CASE("the bound is never above the optimum with a short budget", "[makespan]")
{
    for (size_t asked = 0; asked < 20; asked++) {
        size_t left = asked;
        budget b{countdown, &left, 0};
        CHECK(bound_of(five_by_three(), &b) <= 839.0 / 43);
    }
}

TEST_CASE("what the clock cut is repeated by its steps", "[makespan][property]")
{
    for (char kind : {'c', 'i'})
        for (size_t asked : {0, 1, 3, 20, 100}) {
            matrix m = braun(150, 7, kind, 5);
            size_t left = asked;
            CAPTURE(kind, asked);
            result cut = search(m, budget{countdown, &left, 0}, 7);
            CHECK(cut.cut);
            result again = search_steps(m, cut.steps, 7);
            CHECK_FALSE(again.cut);
            CHECK(again.steps == cut.steps);
            CHECK(again.assignment == cut.assignment);
            CHECK(again.makespan_s == cut.makespan_s);
        }
}

TEST_CASE("more steps never make the makespan worse", "[makespan][property]")
{
    matrix m = braun(100, 8, 'i', 3);
    double before_s = HUGE_VAL;
    for (size_t steps : {1, 10, 100, 1000, 10000}) {
        result r = search_steps(m, steps);
        CHECK(r.steps == steps);
        CHECK(r.makespan_s <= before_s);
        before_s = r.makespan_s;
    }
    CHECK(before_s <= bound_of(m) * 1.06);
}

TEST_CASE("the answer is never worse than the initial assignment", "[makespan]")
{
    matrix m = braun(60, 6, 'i', 11);
    result best = search_steps(m, 20000);
    result r = search(m, budget{nullptr, nullptr, 1}, 2, best.assignment.data());
    CHECK(r.makespan_s <= best.makespan_s);
}

TEST_CASE("a long wait of a machine that stays idle does not count", "[makespan]")
{
    matrix m{3, 2, {5, 1, 5, 1, 5, 1}, {0, 1000}};
    result r = search_steps(m, 10);
    CHECK(r.makespan_s == 15);
    CHECK(r.optimal);
    matrix many = braun(100, 4, 'i', 1);
    many.wait_s = {0, 0, 0, 1e12};
    CHECK(search_steps(many, 1000).makespan_s < 1e9);
}

TEST_CASE("edges of the search end well", "[makespan]")
{
    struct {
        const char *when;
        size_t jobs, machines;
        double time_s;
    } cases[] = {
        {"one job, one machine", 1, 1, 3},
        {"one machine", 1000, 1, 0.1},
        {"all equal", 1000, 13, 2},
        {"all zero", 500, 5, 0},
        {"more machines than jobs", 30, 300, 4},
        {"huge", 400, 7, 1e300},
        {"beyond doubles", 40, 1, 1e308},
        {"tiny", 200, 5, 5e-324},
        {"small", 200, 5, 1e-200},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            matrix m{c.jobs,
                     c.machines,
                     std::vector<double>(c.jobs * c.machines, c.time_s),
                     {}};
            double rounds = std::ceil((double)c.jobs / (double)c.machines);
            result r = search_steps(m, 300);
            CHECK(r.makespan_s ==
                  Approx(std::fmin(rounds * c.time_s, DBL_MAX)).epsilon(1e-9));
        }
}

TEST_CASE("pairs that cannot be are never chosen", "[makespan]")
{
    matrix m = braun(300, 20, 'i', 8);
    rng r = rng_create(1);
    for (size_t i = 0; i < m.jobs; i++)
        for (size_t j = 0; j < m.machines; j++)
            if (j != i % m.machines && rng_index(&r, 10) != 0)
                m.time_s[i * m.machines + j] = NEVER;
    result found = search_steps(m, 3000); // checks every pair
    CHECK(found.makespan_s >= bound_of(m));
}

TEST_CASE("many jobs are searched too", "[makespan]")
{
    matrix m = braun(30000, 50, 'i', 4);
    result r = search_steps(m, 500);
    CHECK(r.makespan_s <= r.bound_s * 1.02);
}

TEST_CASE("every allocation that fails is reported", "[makespan][memory]")
{
    for (matrix m : {five_by_three(), braun(80, 4, 'c', 2)}) {
        makespan_problem p = m.problem();
        size_t cap_bytes = 0;
        enum error_code code = ERR_TOO_LARGE;
        for (; code != OK && cap_bytes < (size_t{1} << 22); cap_bytes += 512) {
            test_arena a(cap_bytes);
            error err{};
            budget b{nullptr, nullptr, 20};
            makespan_answer out{};
            code = makespan_search(&p, nullptr, &b, 1, &out, a, &err);
            if (code != OK) {
                CHECK(err.code == ERR_TOO_LARGE);
                CHECK(out.assignment == nullptr);
            }
        }
        CHECK(code == OK);
    }
}
