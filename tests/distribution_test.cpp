// distribution_test.cpp - draws, means and mistakes of distributions.
#include "tests/support.hpp"

#include <functional>

extern "C" {
#include "models/distribution.h"
}

static const double NONE = std::nan("");

static distribution make(distribution_kind kind,
                         const std::function<void(distribution &)> &set)
{
    distribution d = distribution_blank(kind);
    set(d);
    return d;
}

static distribution prepared(arena *a, distribution d)
{
    error err = collecting_error(a);
    REQUIRE(distribution_prepare(&d, "/d", a, &err) == OK);
    return d;
}

static distribution gamma_of(double shape, double scale)
{
    return make(DISTRIBUTION_GAMMA, [=](auto &d) { d.shape = shape, d.scale = scale; });
}

static distribution poisson_of(double mean)
{
    return make(DISTRIBUTION_POISSON, [=](auto &d) { d.mean = mean; });
}

static distribution weibull_of_mean(double shape, double mean)
{
    return make(DISTRIBUTION_WEIBULL, [=](auto &d) { d.shape = shape, d.mean = mean; });
}

TEST_CASE("draws with seed 1 are those of simulator.md 8", "[distribution]")
{
    test_arena a;
    struct {
        const char *what;
        distribution d;
        std::vector<double> want;
    } cases[] = {
        {"constant", distribution_constant(7), {7, 7, 7}},
        {"uniform", distribution_uniform(1, 500), {351.757994746, 260.697873349}},
        {"exponential", distribution_exponential(100), {121.375998679, 73.487921391}},
        {"weibull", weibull_of_mean(0.7, 172800), {180036.3997, 87912.4796}},
        {"normal",
         make(DISTRIBUTION_NORMAL, [](auto &d) { d.mean = 0, d.sd = 1; }),
         {-1.545222837140}},
        {"lognormal",
         make(DISTRIBUTION_LOGNORMAL, [](auto &d) { d.mean = 21600, d.sigma = 1; }),
         {2793.989430}},
        {"gamma", gamma_of(6.6784, 0.4871), {1.555990382, 2.709180177}},
        {"gamma below 1", gamma_of(0.5, 2), {0.123760232, 1.943791716}},
        {"poisson in parts", poisson_of(100), {115, 100, 92}},
        {"poisson", poisson_of(3), {5, 1, 8}},
    };
    for (auto &c : cases) {
        DYNAMIC_SECTION(c.what)
        {
            distribution d = prepared(a, c.d);
            rng r = rng_create(1);
            for (double want : c.want)
                CHECK(distribution_draw(&d, &r, nullptr) == Approx(want).epsilon(1e-9));
        }
    }
}

TEST_CASE("scale and mu follow from the mean", "[distribution]")
{
    test_arena a;
    distribution w = prepared(a, weibull_of_mean(0.7, 172800));
    CHECK(w.scale == Approx(136511.92).margin(0.005));
    CHECK(w.scale * std::pow(std::log(2), 1 / 0.7) / 3600 == Approx(22.463).margin(6e-4));
    CHECK(prepared(a, weibull_of_mean(0.7, 1)).scale == Approx(0.7900).margin(6e-5));
    CHECK(prepared(a, weibull_of_mean(0.8, 1)).scale == Approx(0.8826).margin(6e-5));
    distribution l = prepared(
        a, make(DISTRIBUTION_LOGNORMAL, [](auto &d) { d.mean = 21600, d.sigma = 1; }));
    CHECK(l.mu == Approx(9.4804).margin(6e-5));
    CHECK(std::exp(l.mu) / 3600 == Approx(3.639).margin(6e-4));
    // once more changes nothing
    distribution again = prepared(a, w);
    CHECK(again.scale == w.scale);
    CHECK(prepared(a, l).mu == l.mu);
}

TEST_CASE("empirical is the inverse distribution function", "[distribution]")
{
    test_arena a;
    double values[] = {30, 10, 20, 99}, weights[] = {1, 2, 1, 0};
    distribution d = prepared(a, make(DISTRIBUTION_EMPIRICAL, [&](auto &x) {
                                  x.values = values, x.value_count = 4,
                                  x.weights = weights, x.weight_count = 4;
                              }));
    rng r = rng_create(3), same = rng_create(3);
    for (int i = 0; i < 2000; i++) {
        double u = rng_uniform(&same);
        CHECK(distribution_draw(&d, &r, nullptr) == (u < 0.5 ? 10 : u < 0.75 ? 20 : 30));
    }
    CHECK(distribution_mean(&d) == Approx(17.5).epsilon(1e-14));
    CHECK(distribution_least(&d) == 10);
    d = prepared(a, make(DISTRIBUTION_EMPIRICAL,
                         [&](auto &x) { x.values = values, x.value_count = 2; }));
    CHECK(distribution_mean(&d) == Approx(20).epsilon(1e-14));
}

TEST_CASE("a trace gives its values in order, again and again", "[distribution]")
{
    test_arena a;
    double values[] = {3, 1, 2};
    distribution d = prepared(a, make(DISTRIBUTION_TRACE, [&](auto &x) {
                                  x.values = values, x.value_count = 3;
                              }));
    rng r = rng_create(3);
    rng untouched = r;
    size_t position = 0;
    for (double want : {3., 1., 2., 3., 1.})
        CHECK(distribution_draw(&d, &r, &position) == want);
    CHECK(memcmp(&r, &untouched, sizeof(r)) == 0);
    CHECK(distribution_mean(&d) == Approx(2).epsilon(1e-14));
    CHECK(distribution_least(&d) == 1);
}

TEST_CASE("every mistake is named with its pointer", "[distribution]")
{
    double list[] = {1, NONE, 3}, weights[] = {0, 0, -1};
    struct {
        const char *what;
        distribution d;
        std::vector<std::string> pointers;
    } cases[] = {
        {"nothing given",
         distribution_blank(DISTRIBUTION_UNIFORM),
         {"/x/l_bound", "/x/u_bound"}},
        {"bounds reversed", distribution_uniform(2, 1), {"/x/u_bound"}},
        {"beyond all bounds", distribution_constant(1e308), {"/x/value"}},
        {"infinite", distribution_constant(HUGE_VAL), {"/x/value"}},
        {"mean 0", distribution_exponential(0), {"/x/mean"}},
        {"negative mean", distribution_exponential(-1), {"/x/mean"}},
        {"poisson that takes for ever", poisson_of(1e6), {"/x/mean"}},
        {"not its own",
         make(DISTRIBUTION_CONSTANT, [](auto &d) { d.value = d.sd = 1; }),
         {"/x/sd"}},
        {"scale and mean",
         make(DISTRIBUTION_WEIBULL, [](auto &d) { d.shape = d.scale = d.mean = 1; }),
         {"/x/mean"}},
        {"neither mu nor mean",
         make(DISTRIBUTION_LOGNORMAL, [](auto &d) { d.sigma = 1; }),
         {"/x/mean"}},
        {"two at once",
         make(DISTRIBUTION_GAMMA, [](auto &d) { d.shape = -1; }),
         {"/x/shape", "/x/scale"}},
        {"a min that hardly any draw meets",
         make(DISTRIBUTION_NORMAL, [](auto &d) { d.mean = 0, d.sd = 1, d.min = 10; }),
         {"/x/min"}},
        {"a min above a constant",
         make(DISTRIBUTION_NORMAL, [](auto &d) { d.mean = 0, d.sd = 0, d.min = 1; }),
         {"/x/min"}},
        {"p",
         make(DISTRIBUTION_HYPER_GAMMA,
              [](auto &d) { d.p = 1.5, d.shape = d.scale = d.shape2 = d.scale2 = 1; }),
         {"/x/p"}},
        {"no values", distribution_blank(DISTRIBUTION_TRACE), {"/x/values"}},
        {"values, weights",
         make(DISTRIBUTION_EMPIRICAL,
              [&](auto &d) {
                  d.values = list, d.value_count = 3, d.weights = weights,
                  d.weight_count = 3;
              }),
         {"/x/values/1", "/x/weights/2", "/x/weights"}},
        {"weights too few",
         make(DISTRIBUTION_EMPIRICAL,
              [&](auto &d) {
                  d.values = list, d.value_count = 1, d.weights = list,
                  d.weight_count = 2;
              }),
         {"/x/weights", "/x/weights/1", "/x/weights"}},
        {"weights of a trace",
         make(DISTRIBUTION_TRACE,
              [&](auto &d) {
                  d.values = list, d.value_count = 1, d.weights = list,
                  d.weight_count = 1;
              }),
         {"/x/weights"}},
    };
    for (auto &c : cases) {
        DYNAMIC_SECTION(c.what)
        {
            test_arena a;
            error err = collecting_error(a);
            CHECK(distribution_prepare(&c.d, "/x", a, &err) == ERR_INVALID);
            std::vector<std::string> found;
            for (error_item *i = err.first; i; i = i->next)
                found.push_back(i->pointer);
            CHECK(found == c.pointers);
        }
    }
}

// One of each kind, with parameters of every size.
static std::vector<distribution> many(arena *a, rng *r)
{
    static double values[] = {0.5, 0, 1e18, 3};
    auto spread = [r] { return std::exp(20 * rng_uniform(r) - 10); };
    auto shape = [r] { return 0.05 + std::exp(8 * rng_uniform(r) - 4); };
    std::vector<distribution> list = {
        distribution_constant(spread()),
        distribution_uniform(1, 1 + spread()),
        distribution_exponential(spread()),
        make(DISTRIBUTION_NORMAL,
             [&](auto &d) {
                 d.mean = spread(), d.sd = spread(), d.min = d.mean + 2 * d.sd;
             }),
        make(DISTRIBUTION_LOGNORMAL, [&](auto &d) { d.mean = spread(), d.sigma = 20; }),
        make(DISTRIBUTION_WEIBULL, [&](auto &d) { d.mean = 1e18, d.shape = 0.05; }),
        weibull_of_mean(shape(), spread()),
        poisson_of(100 * rng_uniform(r) + 1e-9),
        gamma_of(shape(), spread()),
        gamma_of(0.05, 1e18),
        make(DISTRIBUTION_HYPER_GAMMA,
             [&](auto &d) {
                 d.p = rng_uniform(r), d.shape = shape(), d.scale = 1, d.shape2 = shape(),
                 d.scale2 = spread();
             }),
        make(DISTRIBUTION_EMPIRICAL,
             [&](auto &d) { d.values = values, d.value_count = 4; }),
        make(DISTRIBUTION_TRACE, [&](auto &d) { d.values = values, d.value_count = 4; }),
    };
    for (auto &d : list)
        d = prepared(a, d);
    return list;
}

TEST_CASE("draws are finite, not below the least, and repeatable",
          "[distribution][property]")
{
    test_arena a;
    rng r = rng_stream(1, "distribution_test.many");
    for (int round = 0; round < 50; round++) {
        for (auto &d : many(a, &r)) {
            rng one = r, two = r;
            size_t p1 = 0, p2 = 0;
            double least = distribution_least(&d);
            CAPTURE(distribution_names[d.kind]);
            CHECK(std::isfinite(distribution_mean(&d)));
            for (int i = 0; i < 20; i++) {
                double x = distribution_draw(&d, &one, &p1);
                if (!std::isfinite(x) || x < least ||
                    x != distribution_draw(&d, &two, &p2))
                    FAIL("drew " << x << ", least " << least);
            }
        }
    }
}

TEST_CASE("means of many draws come near the mean", "[distribution][property]")
{
    test_arena a;
    double values[] = {5, 1, 3}, weights[] = {1, 0, 3};
    distribution list[] = {
        distribution_constant(4),
        distribution_uniform(1, 3),
        distribution_exponential(10),
        make(DISTRIBUTION_NORMAL, [](auto &d) { d.mean = 600, d.sd = 120, d.min = 60; }),
        make(DISTRIBUTION_NORMAL, [](auto &d) { d.mean = 1, d.sd = 2, d.min = 2; }),
        make(DISTRIBUTION_LOGNORMAL, [](auto &d) { d.mean = 9000, d.sigma = 0.6; }),
        weibull_of_mean(0.7, 100),
        poisson_of(3),
        poisson_of(100),
        gamma_of(6.6784, 0.4871),
        gamma_of(0.5, 2),
        make(DISTRIBUTION_HYPER_GAMMA,
             [](auto &d) {
                 d.p = 0.3, d.shape = 2, d.scale = 1, d.shape2 = 9, d.scale2 = 2;
             }),
        make(DISTRIBUTION_EMPIRICAL,
             [&](auto &d) {
                 d.values = values, d.value_count = 3, d.weights = weights,
                 d.weight_count = 3;
             }),
        make(DISTRIBUTION_TRACE, [&](auto &d) { d.values = values, d.value_count = 3; }),
    };
    for (auto &given : list) {
        distribution d = prepared(a, given);
        rng r = rng_stream(2, distribution_names[d.kind]);
        size_t position = 0, n = 30000;
        double sum = 0, squares = 0;
        for (size_t i = 0; i < n; i++) {
            double x = distribution_draw(&d, &r, &position);
            sum += x;
            squares += x * x;
        }
        double mean = sum / double(n);
        double error = std::sqrt(std::fmax(0, squares / double(n) - mean * mean) / n);
        CAPTURE(distribution_names[d.kind]);
        CHECK(std::fabs(mean - distribution_mean(&d)) <= 4 * error + 1e-9);
    }
}

TEST_CASE("distributions fail cleanly when memory is short", "[distribution][memory]")
{
    double values[] = {3, 1, 2};
    error_code code = ERR_TOO_LARGE;
    for (size_t cap = 0; code != OK; cap += 16) {
        REQUIRE(cap < 100000);
        test_arena a(cap);
        if (!a.a)
            continue;
        error err{};
        distribution d = make(DISTRIBUTION_EMPIRICAL,
                              [&](auto &x) { x.values = values, x.value_count = 3; });
        code = computed(a, &err, [&] { return distribution_prepare(&d, "", a, &err); });
        CHECK((code == OK || code == ERR_TOO_LARGE));
    }
}
