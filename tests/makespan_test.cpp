// makespan_test.cpp - the kernel for the least makespan on unrelated machines.
#include "tests/support.hpp"

extern "C" {
#include "algorithms/placement/makespan.h"
#include "algorithms/placement/prices.h"
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

bound_list bounds_of(const matrix &m, double upper_s = HUGE_VAL, budget *b = nullptr)
{
    test_arena a;
    bound_list out{};
    makespan_problem p = m.problem();
    REQUIRE(makespan_bound(&p, upper_s, b, &out, a) == OK);
    CHECK((b || out.known[BOUND_LONGEST_JOB])); // none was seen when there was no time
    return out;
}

double bound_of(const matrix &m, budget *b = nullptr)
{
    bound_list all = bounds_of(m, HUGE_VAL, b);
    return bound_list_best(&all);
}

// The value of the best prices alone.
double priced_of(const matrix &m)
{
    return bounds_of(m).value[BOUND_PRICED];
}

struct result {
    std::vector<size_t> assignment;
    double makespan_s, bound_s;
    bound_list bounds;
    size_t steps;
    bool optimal, cut;
};

result search(const matrix &m, budget b, uint64_t seed = 1, const size_t *known = nullptr,
              bound_effort effort = EFFORT_FULL)
{
    test_arena a;
    makespan_answer out{};
    makespan_problem p = m.problem();
    makespan_ask ask{known, nullptr, &b, effort, b.used != nullptr, seed};
    REQUIRE(makespan_search(&p, &ask, &out, a) == OK);
    CHECK(std::isfinite(out.makespan_s));
    CHECK(bound_list_best(&out.bounds) <= out.makespan_s * (1 + 1e-9));
    CHECK((out.steps >= 1 || out.cut));
    for (size_t i = 0; i < m.jobs; i++) {
        REQUIRE(out.assignment[i] < m.machines);
        REQUIRE(m.time_s[i * m.machines + out.assignment[i]] < HUGE_VAL);
    }
    CHECK(out.makespan_s == std::fmin(length_of(m, out.assignment), DBL_MAX));
    for (size_t k = 1; k < out.improved.count; k++) {
        CHECK(out.improved.item[k].steps > out.improved.item[k - 1].steps);
        CHECK(out.improved.item[k].value < out.improved.item[k - 1].value);
    }
    return {{out.assignment, out.assignment + m.jobs},
            out.makespan_s,
            std::fmin(bound_list_best(&out.bounds), out.makespan_s),
            out.bounds,
            out.steps,
            out.optimal,
            out.cut};
}

result search_steps(const matrix &m, size_t steps, uint64_t seed = 1)
{
    return search(m, make_budget(nullptr, nullptr, steps), seed);
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
    CHECK(priced_of(m) == Approx(839.0 / 43).epsilon(1e-4));
    CHECK(priced_of(m) <= 839.0 / 43);
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
    CHECK(priced_of(m) == Approx(2058.922).epsilon(1e-3));
    CHECK(priced_of(m) <= 2058.92215);
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
            CHECK(priced_of(m) == Approx(c.bound_s).epsilon(1e-4));
            CHECK(priced_of(m) <= c.programme_s);
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
        CHECK(r.bound_s >= r.makespan_s * (1 - 1e-9));
    }
}

TEST_CASE("the bound is never above the optimum with a short budget", "[makespan]")
{
    for (size_t asked = 0; asked < 20; asked++) {
        size_t left = asked;
        budget b = make_budget(countdown, &left);
        CHECK(bound_of(five_by_three(), &b) <= 25);
    }
}

TEST_CASE("what the clock cut is repeated by its steps", "[makespan][property]")
{
    for (char kind : {'c', 'i'})
        for (bound_effort effort : {EFFORT_NONE, EFFORT_FAST, EFFORT_FULL})
            for (size_t asked : {0, 1, 3, 20, 200}) {
                matrix m = braun(150, 7, kind, 5);
                size_t left = asked;
                CAPTURE(kind, asked, effort);
                result cut = search(m, make_budget(countdown, &left), 7, nullptr, effort);
                CHECK(cut.cut);
                if (cut.steps == 0) // jobs in order, each where it ends first
                    continue;
                result again = search(m, make_budget(nullptr, nullptr, cut.steps), 7,
                                      nullptr, effort);
                CHECK_FALSE(again.cut);
                CHECK(again.steps == cut.steps);
                CHECK(again.assignment == cut.assignment);
                CHECK(again.makespan_s == cut.makespan_s);
            }
}

TEST_CASE("a clock that ends after the first fill leaves what it has filled",
          "[makespan]")
{
    matrix m = braun(200, 16, 'i', 3);

    for (bound_effort effort : {EFFORT_NONE, EFFORT_FAST, EFFORT_FULL}) {
        result known{}, first{};

        for (size_t asks = 0; asks < 1000 && first.steps == 0; asks++) {
            size_t left = asks;

            known = first;
            first = search(m, make_budget(countdown, &left), 7, nullptr, effort);
        }
        INFO("effort " << effort);
        REQUIRE(first.cut);
        CHECK(first.steps >= 1); // how many between two looks depends on the machine
        CHECK(first.steps < 1000);
        CHECK(known.steps == 0); // jobs in order, each where it ends first
        CHECK(first.makespan_s < 0.95 * known.makespan_s);
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
    result r = search(m, make_budget(nullptr, nullptr, 1), 2, best.assignment.data());
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

TEST_CASE("wherever the clock ends it there is a plan, and a bound that holds",
          "[makespan]")
{
    matrix m = braun(1500, 40, 'i', 3);
    std::vector<size_t> known(m.jobs);
    for (double &t : m.time_s)
        t = std::ceil(t / 1000); // grain is looked for
    for (size_t i = 0; i < m.jobs; i++)
        known[i] = i % m.machines;
    double known_s = length_of(m, known.data()), best_s = search_steps(m, 500).makespan_s;
    makespan_problem p = m.problem();
    size_t bounded = 0, improved = 0;
    for (size_t asks = 0; asks < 90; asks += asks < 20 ? 1 : 10)
        for (bound_effort effort : {EFFORT_NONE, EFFORT_FAST, EFFORT_FULL}) {
            INFO(asks << " asks, effort " << effort);
            size_t left = asks;
            result r = search(m, make_budget(countdown, &left), 1, known.data(), effort);
            CHECK(r.cut);
            CHECK_FALSE(r.optimal);
            CHECK(r.makespan_s <= known_s);
            CHECK(r.bound_s <= best_s);
            improved += r.makespan_s < known_s;
            left = asks;
            budget b = make_budget(countdown, &left);
            test_arena a;
            bound_list bounds{};
            REQUIRE(makespan_bound(&p, best_s, &b, &bounds, a) == OK);
            CHECK(bound_list_best(&bounds) <= best_s);
            bounded += bound_list_best(&bounds) > 0;
            if (asks < 6)
                CHECK(left == 0); // every pass asks, more seldom when it is quick
        }
    CHECK(bounded > 60);
    CHECK(improved > 3);
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
            budget b = make_budget(nullptr, nullptr, 20);
            makespan_answer out{};
            makespan_ask ask{nullptr, nullptr, &b, EFFORT_FULL, false, 1};
            code = computed(a, &err, [&] { return makespan_search(&p, &ask, &out, a); });
            if (code != OK) {
                CHECK(err.code == ERR_TOO_LARGE);
                CHECK(out.assignment == nullptr);
            }
        }
        CHECK(code == OK);
    }
}

TEST_CASE("worked examples of bounds: grain, pigeonhole, elimination", "[makespan]")
{
    auto rows = [](size_t machines, std::vector<double> times) {
        return matrix{times.size() / machines, machines, times, {}};
    };
    auto equal = [](size_t machines, std::vector<double> times) {
        matrix m{times.size(), machines, {}, {}};
        for (double t : times)
            m.time_s.insert(m.time_s.end(), machines, t);
        return m;
    };
    SECTION("grain")
    {
        matrix m = equal(3, std::vector<double>(25, 5));
        CHECK(priced_of(m) == Approx(125.0 / 3).epsilon(1e-6));
        CHECK(bounds_of(m).value[BOUND_GRAIN] == 45);
        m = equal(2, {5, 5, 5});
        CHECK(priced_of(m) == Approx(7.5).epsilon(1e-6));
        CHECK(bounds_of(m).value[BOUND_GRAIN] == 10);
    }
    SECTION("pigeonhole")
    {
        bound_list b = bounds_of(equal(3, {6, 6, 6, 6}));
        CHECK(b.value[BOUND_PRICED] == Approx(8).epsilon(1e-6));
        CHECK(b.value[BOUND_PIGEONHOLE] == 12);
        b = bounds_of(equal(3, {7, 7, 6, 6, 5, 5, 4}));
        CHECK(b.value[BOUND_PRICED] == Approx(40.0 / 3).epsilon(1e-6));
        CHECK(b.value[BOUND_PIGEONHOLE] == 14);
        CHECK(b.value[BOUND_GRAIN] == 14);
    }
    SECTION("elimination")
    {
        matrix m = rows(2, {20, 26, 14, 40, 3, 3, 3, 3});
        bound_list b = bounds_of(m, 26);
        CHECK(b.value[BOUND_PRICED] == Approx(21.825).epsilon(2e-3));
        CHECK(b.value[BOUND_ELIMINATED] == 26);
        m = rows(2, {28, 31, 7, 16, 6, 16, 4, 14});
        b = bounds_of(m, 31);
        CHECK(b.value[BOUND_PRICED] == Approx(23.643).epsilon(2e-3));
        CHECK(b.value[BOUND_LONGEST_JOB] == 28);
        CHECK(b.value[BOUND_ELIMINATED] == 31);
        CHECK(search_steps(m, 100).makespan_s == 31);
    }
    SECTION("the kernel's rounds")
    {
        matrix m = rows(2, {2, 4, 3, 3, 4, 2});
        bound_list b = bounds_of(m);
        CHECK(b.value[BOUND_PRICED] == Approx(3.5).epsilon(1e-8));
        CHECK(b.value[BOUND_PIGEONHOLE] == 4);
        CHECK(search_steps(m, 100).makespan_s == 5);
        CHECK(search_steps(m, 100).optimal);
        prices_problem p{3, 2, m.time_s.data(), nullptr, nullptr, 0};
        test_arena a;
        ticks clock{};

        clock.until = 1;
        // The prices before the second and third round are the best so far of 2 and 3.
        prices one{}, again{};
        REQUIRE(prices_improve(&p, 1, 0.3, 0.005, &clock, &one, a) == OK);
        CHECK(one.value == 3.5);
        double second[] = {0.563934, 0.436066}, third[] = {0.497423, 0.502577};
        again.price = second;
        REQUIRE(prices_improve(&p, 1, 0.3, 0.005, &clock, &again, a) == OK);
        CHECK(again.value == Approx(3.308199).epsilon(1e-5));
        again = {third, 0, 0};
        REQUIRE(prices_improve(&p, 1, 0.3, 0.005, &clock, &again, a) == OK);
        CHECK(again.value == Approx(3.492270).epsilon(1e-5));
    }
}

TEST_CASE("grain is relative, and rounds up from below", "[makespan]")
{
    auto equal = [](std::vector<double> times) {
        matrix m{times.size(), 2, {}, {}};
        for (double t : times)
            m.time_s.insert(m.time_s.end(), 2, t);
        return m;
    };
    CHECK(bound_of(equal({0.1, 0.2, 0.2})) == Approx(0.3).epsilon(1e-9));
    CHECK(bound_of(equal({0.1, 0.2})) <= 0.2);
    // No multiples of anything: the bound stays below the mean.
    bound_list b = bounds_of(equal({6e8 + 0.37251, 5e8 + 0.11337, 4e8 + 0.77713}));
    CHECK_FALSE(b.known[BOUND_GRAIN]);
    // A wait counts: the load of the machine is 0.5 + whole seconds.
    matrix m = equal({2, 2, 2});
    m.wait_s = {0.5, 0.5};
    CHECK(bound_of(m) == Approx(4.5).epsilon(1e-9));
}

TEST_CASE("matrices of few big jobs are no traps", "[makespan]")
{
    // A quarter of the machines is 20 times faster for a part of the jobs, and some are
    // long: most jobs have one cheap machine, and nothing could leave that of a big job.
    rng r = rng_create(2);
    matrix m{512, 32, {}, {}};
    for (size_t i = 0; i < m.jobs; i++) {
        double base = std::exp(3 + 1.5 *
                                       (rng_uniform(&r) + rng_uniform(&r) +
                                        rng_uniform(&r) + rng_uniform(&r) - 2) *
                                       1.7);
        bool fits = rng_uniform(&r) < 0.3;
        for (size_t j = 0; j < m.machines; j++) {
            double t = base * (0.8 + 0.45 * rng_uniform(&r));
            m.time_s.push_back(fits && j < m.machines / 4 ? t / 20 : t);
        }
    }
    result found = search_steps(m, 8000);
    CHECK(found.makespan_s <= found.bound_s * 1.015);
}
