// checkpoint_levels_test.cpp - patterns of checkpoints at several levels, against the
// equations solved by LAPACK, against all patterns nearby and against drawn failures.
#include "tests/support.hpp"

#include <lapacke.h>
#include <random>
#include <vector>

extern "C" {
#include "algorithms/checkpoint/finite_plan.h"
#include "algorithms/checkpoint/levels.h"
}

namespace
{
struct levels_case {
    std::vector<level> levels;
    double mean_s, delay_s;

    levels_job job() const
    {
        return {levels.data(), levels.size(), mean_s, delay_s, nullptr};
    }
};

const levels_case case_a = {{{10, 10, 0.8}, {100, 100, 1}}, 20000, 0};
const levels_case case_b = {
    {{5, 5, 0.5}, {15, 15, 0.75}, {40, 60, 0.9}, {300, 300, 1}}, 36000, 60};
const levels_case case_c = {{{30, 30, 0.1}, {60, 60, 1}}, 20000, 0};

levels_pattern pattern_of(std::vector<size_t> levels, std::vector<double> m)
{
    levels_pattern pattern{};

    pattern.level_count = levels.size();
    for (size_t l = 0; l < levels.size(); l++) {
        pattern.levels[l] = levels[l];
        pattern.every[l] = l > 0 ? pattern.every[l - 1] * m[l - 1] : 1;
    }
    return pattern;
}

// What the levels of a pattern cost, and which failures go back to each.
struct used {
    std::vector<double> c, r, rate;
};

used used_of(const levels_case &c, const levels_pattern &p)
{
    used u;
    double below = 0;

    for (size_t l = 0; l < p.level_count; l++) {
        const level &own = c.levels[p.levels[l]];
        u.c.push_back(own.overhead_s);
        u.r.push_back(own.restart_s);
        u.rate.push_back((own.survives_ratio - below) / c.mean_s);
        below = own.survives_ratio;
    }
    return u;
}

size_t level_of(const levels_pattern &p, size_t boundary)
{
    size_t top = 0;

    for (size_t l = 0; l < p.level_count; l++)
        if (boundary % static_cast<size_t>(p.every[l]) == 0)
            top = l;
    return top;
}

// T_0 from the whole system of equations: unknowns T_i and Q_l(i).
double by_lapack(const levels_case &c, const levels_pattern &p)
{
    used u = used_of(c, p);
    size_t levels = p.level_count;
    size_t segments = static_cast<size_t>(p.every[levels - 1]);
    size_t n = segments * (1 + levels);
    std::vector<double> a(n * n), b(n);
    std::vector<lapack_int> pivot(n);
    double rate = 1 / c.mean_s;
    auto q = [&](size_t l, size_t i) { return segments + l * segments + i; };

    for (size_t i = 0; i < segments; i++) {
        double fails = -expm1(-rate * (p.segment_s + u.c[level_of(p, i + 1)]));
        a[i * n + i] = 1;
        if (i + 1 < segments)
            a[i * n + i + 1] -= 1 - fails;
        b[i] = fails / rate + fails * c.delay_s;
        for (size_t l = 0; l < levels; l++)
            a[i * n + q(l, i)] -= fails * u.rate[l] / rate;
        for (size_t l = 0; l < levels; l++) {
            size_t row = q(l, i), back = i / static_cast<size_t>(p.every[l]) *
                                         static_cast<size_t>(p.every[l]);
            double breaks = -expm1(-rate * u.r[l]);
            a[row * n + row] += 1;
            a[row * n + back] -= 1 - breaks;
            b[row] = breaks / rate + breaks * c.delay_s;
            for (size_t k = 0; k < levels; k++)
                a[row * n + q(std::max(k, l), i)] -= breaks * u.rate[k] / rate;
        }
    }
    REQUIRE(LAPACKE_dgesv(LAPACK_ROW_MAJOR, static_cast<lapack_int>(n), 1, a.data(),
                          static_cast<lapack_int>(n), pivot.data(), b.data(), 1) == 0);
    return b[0];
}

// A job of so many segments, played; the last has work last_s and no checkpoint if
// it ends a job.
struct player {
    const levels_case &c;
    const levels_pattern &p;
    unsigned seed;
    used u = used_of(c, p);
    std::mt19937_64 random{seed};
    std::exponential_distribution<double> draw{1 / c.mean_s};

    size_t failure_class()
    {
        double x = std::uniform_real_distribution<double>()(random) / c.mean_s;
        size_t l = 0;
        while (l + 1 < u.rate.size() && x >= u.rate[l])
            x -= u.rate[l++];
        return l;
    }

    double play(size_t segments, bool is_job, double last_s, double scratch_s)
    {
        double time_s = 0;
        for (size_t i = 0; i < segments;) {
            bool ends = is_job && i + 1 == segments;
            double span_s = ends ? last_s : p.segment_s + u.c[level_of(p, i + 1)];
            double failure_s = draw(random);
            if (failure_s >= span_s) {
                time_s += span_s;
                i++;
                continue;
            }
            time_s += failure_s + c.delay_s;
            for (size_t l = failure_class();;) {
                size_t every = static_cast<size_t>(p.every[l]), back = i / every * every;
                double restart_s = is_job && back == 0 ? scratch_s : u.r[l];
                failure_s = draw(random);
                if (failure_s >= restart_s) {
                    time_s += restart_s;
                    i = back;
                    break;
                }
                time_s += failure_s + c.delay_s;
                l = std::max(l, failure_class());
            }
        }
        return time_s;
    }
};

struct estimate {
    double mean_s, half_s; // at 95 %
};

estimate played(const levels_case &c, const levels_pattern &p, int trials,
                double work_s = 0, double scratch_s = 0, unsigned seed = 7)
{
    player player{c, p, seed};
    double sum = 0, squares = 0;
    size_t segments = static_cast<size_t>(p.every[p.level_count - 1]);
    double last_s = 0;

    if (work_s > 0) {
        segments = static_cast<size_t>(levels_checkpoints(&p, work_s)) + 1;
        last_s = work_s - static_cast<double>(segments - 1) * p.segment_s;
    }
    for (int trial = 0; trial < trials; trial++) {
        double time_s = player.play(segments, work_s > 0, last_s, scratch_s);
        sum += time_s;
        squares += time_s * time_s;
    }
    double mean_s = sum / trials;
    return {mean_s, 1.96 * sqrt((squares / trials - mean_s * mean_s) / trials)};
}

levels_case draw_case(std::mt19937_64 &random)
{
    std::uniform_real_distribution<double> u;
    size_t count = 2 + random() % 3;
    levels_case c{{}, pow(10, 3.7 + 1.5 * u(random)), u(random) < 0.5 ? 0.0 : 60.0};
    double cost_s = 2 + 20 * u(random), survives = 0;

    for (size_t l = 0; l < count; l++) {
        survives =
            l + 1 == count ? 1 : survives + (1 - survives) * (0.3 + 0.5 * u(random));
        c.levels.push_back({cost_s, cost_s * (0.5 + u(random)), survives});
        cost_s *= 1.5 + 4 * u(random);
    }
    return c;
}

// The least overhead of all m within `reach` of the pattern's, and of all levels.
double least_nearby(const levels_case &c, const levels_pattern &p, int reach)
{
    levels_job job = c.job();
    size_t free = p.level_count - 1;
    std::vector<int> step(free, -reach);
    double least = HUGE_VAL;

    for (;;) {
        std::vector<double> m(free);
        double segments = 1;
        bool is_valid = true;
        for (size_t l = 0; l < free; l++) {
            m[l] = p.every[l + 1] / p.every[l] + step[l];
            is_valid = is_valid && m[l] >= 1;
            segments *= m[l];
        }
        if (is_valid && segments <= LEVELS_SEGMENTS_MAX) {
            levels_pattern trial =
                pattern_of(std::vector<size_t>(p.levels, p.levels + p.level_count), m);
            levels_best_segment(&job, &trial);
            least = std::min(least, trial.overhead_ratio);
        }
        size_t l = 0;
        while (l < free && ++step[l] > reach)
            step[l++] = -reach;
        if (l == free)
            return least;
    }
}
} // namespace

TEST_CASE("worked patterns of levels", "[checkpoint]")
{
    levels_job job = case_a.job();
    levels_pattern best = levels_best(&job);

    CHECK(best.level_count == 2);
    CHECK(best.every[1] == 6);
    CHECK(best.segment_s == Approx(687.400).epsilon(1e-4));
    CHECK(best.overhead_ratio == Approx(0.075913).margin(5e-7));
    CHECK(best.pattern_s == Approx(4437.492).epsilon(1e-4));
    CHECK(best.first_order_ratio == Approx(0.070711).margin(5e-7));
    best.segment_s = 687.4;
    CHECK(levels_pattern_s(&job, &best) == Approx(4437.492).margin(2e-3));
    levels_pattern top = pattern_of({1}, {});
    levels_best_segment(&job, &top);
    CHECK(top.segment_s == Approx(1933.90).epsilon(1e-5));
    CHECK(top.overhead_ratio == Approx(0.112595).margin(5e-7));

    job = case_b.job();
    best = levels_best(&job);
    CHECK(best.level_count == 4);
    CHECK(best.every[1] == 2);
    CHECK(best.every[2] == 4);
    CHECK(best.every[3] == 16);
    CHECK(best.segment_s == Approx(828.490).epsilon(1e-5));
    CHECK(best.overhead_ratio == Approx(0.083558).margin(5e-7));
    CHECK(best.pattern_s == Approx(14363.469).epsilon(1e-6));
    levels_pattern other = pattern_of({0, 1, 2, 3}, {2, 3, 3});
    levels_best_segment(&job, &other);
    CHECK(other.segment_s == Approx(722.772).epsilon(1e-5));
    CHECK(other.overhead_ratio == Approx(0.084314).margin(5e-7));
    CHECK(other.pattern_s == Approx(14106.826).epsilon(1e-6));
    other = pattern_of({0, 1, 2, 3}, {2, 2, 3});
    levels_best_segment(&job, &other);
    CHECK(other.overhead_ratio == Approx(0.084444).margin(5e-7));
    other = pattern_of({3}, {});
    levels_best_segment(&job, &other);
    CHECK(other.overhead_ratio == Approx(0.152504).margin(5e-7));

    job = case_c.job();
    best = levels_best(&job);
    CHECK(best.level_count == 2);
    CHECK(best.every[1] == 1);
    CHECK(best.segment_s == Approx(1509.454).epsilon(1e-5));
    CHECK(best.overhead_ratio == Approx(0.084721).margin(5e-7));
    CHECK(best.pattern_s == Approx(1637.337).epsilon(1e-6));
    CHECK(std::isnan(best.first_order_ratio));
    other = pattern_of({1}, {});
    levels_best_segment(&job, &other);
    CHECK(other.overhead_ratio == Approx(0.084884).margin(5e-7));
}

TEST_CASE("a single level is exact's interval", "[checkpoint]")
{
    for (double c_s : {0.5, 60.0, 1200.0})
        for (double restart_s : {0.0, 60.0}) {
            levels_case one{{{c_s, restart_s, 1}}, 3600, 0};
            levels_job job = one.job();
            levels_pattern best = levels_best(&job);
            double endless_s = finite_endless_interval_s(c_s, 3600);

            CHECK(best.segment_s == Approx(endless_s).epsilon(1e-6));
            CHECK(best.overhead_ratio + 1 ==
                  Approx(3600 * exp(restart_s / 3600) * expm1((endless_s + c_s) / 3600) /
                         endless_s)
                      .epsilon(1e-9));
        }
    levels_case one{{{60, 60, 1}}, 3600, 0};
    levels_job job = one.job();
    CHECK(levels_best(&job).segment_s == Approx(617.891).epsilon(1e-6));
    CHECK(levels_best(&job).overhead_ratio == Approx(0.227488).margin(5e-7));
}

TEST_CASE("substitution solves the equations of a pattern", "[checkpoint][property]")
{
    std::mt19937_64 random(3);

    for (int i = 0; i < 60; i++) {
        levels_case c = draw_case(random);
        std::vector<size_t> all;
        std::vector<double> m;
        levels_job job = c.job();

        for (size_t l = 0; l < c.levels.size(); l++) {
            all.push_back(l);
            m.push_back(static_cast<double>(1 + random() % 4));
        }
        levels_pattern p = pattern_of(all, m);
        p.segment_s =
            c.mean_s * pow(10, -3 + 3 * std::uniform_real_distribution<>()(random));
        CHECK(levels_pattern_s(&job, &p) == Approx(by_lapack(c, p)).epsilon(1e-9));
    }
    levels_job job = case_b.job();
    levels_pattern best = levels_best(&job);
    CHECK(best.pattern_s == Approx(by_lapack(case_b, best)).epsilon(1e-11));
}

TEST_CASE("no pattern nearby is better, and drawn failures agree",
          "[checkpoint][property]")
{
    std::mt19937_64 random(11);
    int outside = 0;

    for (int i = 0; i < 20; i++) {
        levels_case c = draw_case(random);
        levels_job job = c.job();
        levels_pattern best = levels_best(&job);
        INFO("case " << i << ", " << c.levels.size() << " levels");

        CHECK_FALSE(best.is_cut);
        CHECK(best.overhead_ratio <= least_nearby(c, best, is_shorter() ? 2 : 3) * 1.005);
        // draws of its own: with those of the others one mishap would be that of many
        estimate drawn = played(c, best, 4000, 0, 0, 7 + static_cast<unsigned>(i));
        outside += std::abs(drawn.mean_s - best.pattern_s) > drawn.half_s;
        CHECK(best.pattern_s == Approx(drawn.mean_s).margin(3 * drawn.half_s));
        // and no other choice of levels
        for (unsigned set = 0; set < 1u << (c.levels.size() - 1); set++) {
            std::vector<size_t> some;
            for (size_t l = 0; l < c.levels.size(); l++)
                if (l + 1 == c.levels.size() || set >> l & 1)
                    some.push_back(l);
            levels_pattern other =
                pattern_of(some, std::vector<double>(c.levels.size(), 2));
            levels_best_segment(&job, &other);
            CHECK(best.overhead_ratio <= other.overhead_ratio * (1 + 1e-9));
        }
    }
    CHECK(outside <= 1); // of 20 at 95 %; 28 of 600 such cases are
}

TEST_CASE("a job that ends goes by a pattern", "[checkpoint]")
{
    levels_job job = case_b.job();
    levels_pattern p = levels_best(&job);

    for (double work_s : {100.0, 828.49, 5000.0, 40000.0})
        for (double scratch_s : {0.0, 200.0}) {
            double expected_s = levels_expected_s(&job, &p, work_s, scratch_s);
            estimate drawn = played(case_b, p, 20000, work_s, scratch_s);
            CHECK(expected_s == Approx(drawn.mean_s).margin(1.6 * drawn.half_s));
        }
    // one level is a job with equal intervals
    levels_case one{{{60, 90, 1}}, 3600, 30};
    job = one.job();
    p = pattern_of({0}, {});
    p.segment_s = 600;
    finite_job same = {5000, 3600, 60, 90, 20, 30, 1e-3};
    CHECK(levels_expected_s(&job, &p, 5000, 20) ==
          Approx(finite_expected_of_interval_s(&same, 600)).epsilon(1e-12));
    CHECK(levels_checkpoints(&p, 5000) == 8);
    CHECK(levels_checkpoints(&p, 600) == 0);
    // very long ones by whole patterns
    CHECK(levels_expected_s(&job, &p, 600.0 * 1000000, 20) ==
          Approx(levels_expected_s(&job, &p, 600.0 * 1000001, 20)).epsilon(2e-6));
}

TEST_CASE("levels at the edges", "[checkpoint][property]")
{
    // Levels without failures of their own are left out; costs of 0 and equal ones.
    levels_case c{{{10, 10, 0.5}, {20, 20, 0.5}, {20, 20, 1}, {50, 50, 1}}, 5000, 0};
    levels_job job = c.job();
    levels_pattern p = levels_best(&job);
    for (size_t l = 0; l < p.level_count; l++)
        CHECK((p.levels[l] == 0 || p.levels[l] == 2));
    levels_case free_of_cost{{{0, 0, 0.5}, {0, 0, 1}}, 5000, 0};
    job = free_of_cost.job();
    p = levels_best(&job);
    CHECK(p.overhead_ratio >= 0);
    CHECK(p.overhead_ratio < 1e-3);
    // Cheap below dear: more segments than a pattern may have.
    levels_case steep{{{1e-3, 0, 0.99}, {5000, 5000, 1}}, 50000, 0};
    job = steep.job();
    p = levels_best(&job);
    CHECK(p.every[p.level_count - 1] <= LEVELS_SEGMENTS_MAX);
    CHECK(std::isfinite(p.overhead_ratio));
    // Without hope.
    levels_case hopeless{{{1e9, 1e9, 1}}, 10, 0};
    job = hopeless.job();
    p = levels_best(&job);
    CHECK(p.pattern_s == HUGE_VAL);
    // A budget that is spent still leaves a pattern to name.
    budget none{};
    none.used = [](void *) { return 1.0; };
    job = case_b.job();
    job.budget = &none;
    p = levels_best(&job);
    CHECK(p.is_cut);
    CHECK(p.level_count >= 1);
    CHECK(p.overhead_ratio < 0.09);
    // Equal input, equal bits.
    job = case_b.job();
    levels_pattern once = levels_best(&job), twice = levels_best(&job);
    CHECK(once.segment_s == twice.segment_s);
    CHECK(once.pattern_s == twice.pattern_s);
}
