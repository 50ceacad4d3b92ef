// failure_stats_test.cpp - counts, means and fits of failure histories.
#include "tests/support.hpp"

#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

extern "C" {
#include "models/failure_stats.h"
}

static const double NONE = std::numeric_limits<double>::quiet_NaN();

static failure_stats stats_of(const std::vector<failure_interval> &f, double from_s,
                              double to_s)
{
    test_arena a;
    error err{};
    failure_stats s{};
    REQUIRE(failure_stats_fit(f.data(), f.size(), from_s, to_s, &s, a, &err) == OK);
    return s;
}

static double weibull_draw(rng *r, double shape, double scale)
{
    return scale * std::pow(-std::log1p(-rng_uniform(r)), 1 / shape);
}

static double normal_draw(rng *r)
{
    return std::sqrt(-2 * std::log1p(-rng_uniform(r))) *
           std::cos(2 * M_PI * rng_uniform(r));
}

static double weibull_log_likelihood(const std::vector<double> &x, double shape,
                                     double scale)
{
    double sum = 0;
    for (double v : x)
        sum += std::log(shape / scale) + (shape - 1) * std::log(v / scale) -
               std::pow(v / scale, shape);
    return sum;
}

TEST_CASE("availability and the estimators follow fault-tolerance.md 2.2 and 3",
          "[failure_stats]")
{
    failure_stats day = stats_of({{5000, 5300}, {1000, 1200}}, 0, 86400);
    CHECK(100 * day.availability_ratio == Approx(99.42129629629629).epsilon(1e-14));
    CHECK(day.failure_count == 2);
    CHECK(day.mean_gap_s == 4000);

    failure_stats s =
        stats_of({{10000, 11000}, {30000, 33000}, {36000, 36500}}, 0, 50000);
    CHECK(s.mtbf_censored_s == Approx(50000.0 / 3).epsilon(1e-14));
    CHECK(s.mtbf_gap_mean_s == Approx(12000).epsilon(1e-14));
    CHECK(s.mtbf_uptime_mean_s == Approx(45500.0 / 3).epsilon(1e-14));
    CHECK(50000 - s.last_failure_at_s == 14000);
    CHECK(s.mttr_s == 1500);
    CHECK(s.repair_median_s == 1000);
    CHECK(s.availability_ratio == Approx(0.91).epsilon(1e-14));
    CHECK(s.uptime_s == 13500);
    CHECK(s.mean_gap_s == 13000);
}

TEST_CASE("odd histories are counted, not refused", "[failure_stats]")
{
    struct {
        const char *when;
        std::vector<failure_interval> failures;
        double from_s, to_s;
        size_t failure_count, outage_count, zero_gap_count;
        double downtime_s, uptime_s, last_failure_at_s, mttr_s;
        bool down;
    } cases[] = {
        {"none", {}, 0, 100, 0, 0, 0, 0, 100, NONE, NONE, false},
        {"simultaneous", {{10, 20}, {10, 30}}, 0, 100, 2, 1, 1, 20, 70, 10, 15, false},
        {"overlapping", {{15, 40}, {10, 20}}, 0, 100, 2, 1, 0, 30, 60, 15, 17.5, false},
        {"one inside the other",
         {{10, 50}, {20, 30}},
         0,
         100,
         2,
         1,
         0,
         40,
         50,
         20,
         25,
         false},
        {"touching", {{10, 20}, {20, 30}}, 0, 100, 2, 1, 0, 20, 70, 20, 10, false},
        {"still down", {{10, 20}, {90, NONE}}, 0, 100, 2, 2, 0, 20, 0, 90, 10, true},
        {"open and covered later",
         {{10, NONE}, {20, 30}},
         0,
         100,
         2,
         1,
         0,
         90,
         0,
         20,
         10,
         true},
        {"ends after the window", {{90, 200}}, 0, 100, 1, 1, 0, 10, 0, 90, NONE, true},
        {"ends with the window", {{90, 100}}, 0, 100, 1, 1, 0, 10, 0, 90, 10, false},
        {"begins before the window",
         {{-10, 5}},
         0,
         100,
         0,
         0,
         0,
         5,
         95,
         NONE,
         NONE,
         false},
        {"covers the window", {{-10, 500}}, 0, 100, 0, 0, 0, 100, 0, NONE, NONE, true},
        {"wholly before", {{-10, -5}}, 0, 100, 0, 0, 0, 0, 100, NONE, NONE, false},
        {"wholly after", {{200, 300}}, 0, 100, 0, 0, 0, 0, 100, NONE, NONE, false},
        {"repair of zero length",
         {{10, 10}, {20, 20}},
         0,
         100,
         2,
         2,
         0,
         0,
         80,
         20,
         0,
         false},
        {"window from the data",
         {{10, 20}, {60, 70}},
         NONE,
         NONE,
         2,
         2,
         0,
         20,
         0,
         60,
         10,
         false},
        {"window open to the left",
         {{200, 300}},
         NONE,
         100,
         0,
         0,
         0,
         0,
         0,
         NONE,
         NONE,
         false},
        {"window open to the right",
         {{-10, -5}},
         0,
         NONE,
         0,
         0,
         0,
         0,
         0,
         NONE,
         NONE,
         false},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            failure_stats s = stats_of(c.failures, c.from_s, c.to_s);
            CHECK(s.failure_count == c.failure_count);
            CHECK(s.outage_count == c.outage_count);
            CHECK(s.zero_gap_count == c.zero_gap_count);
            CHECK(s.downtime_s == c.downtime_s);
            CHECK(s.uptime_s == c.uptime_s);
            CHECK(s.down == c.down);
            CHECK((s.last_failure_at_s == c.last_failure_at_s ||
                   (std::isnan(s.last_failure_at_s) && std::isnan(c.last_failure_at_s))));
            CHECK(
                (s.mttr_s == c.mttr_s || (std::isnan(s.mttr_s) && std::isnan(c.mttr_s))));
        }
}

TEST_CASE("what cannot be known is NAN", "[failure_stats]")
{
    failure_stats none = stats_of({}, NONE, NONE);
    CHECK(std::isnan(none.window_s));
    CHECK(std::isnan(none.mtbf_censored_s));
    CHECK(std::isnan(none.availability_ratio));

    failure_stats young = stats_of({}, 0, 500);
    CHECK(young.availability_ratio == 1);
    CHECK(young.mtbf_censored_s == 500);
    CHECK(young.mtbf_gap_mean_s == 500);
    CHECK(young.mtbf_uptime_mean_s == 500);
    CHECK(std::isnan(young.mean_gap_s));

    failure_stats one = stats_of({{5, 5}}, NONE, NONE);
    CHECK(one.window_s == 0);
    CHECK(std::isnan(one.availability_ratio));
    CHECK(std::isnan(one.exponential.rate_per_s));
    CHECK(std::isnan(one.weibull.shape));
    CHECK(std::isnan(one.repair.mu));
    CHECK(one.mttr_s == 0);
    CHECK(one.best == FAILURE_MODEL_NONE);

    failure_stats two = stats_of({{5, 6}, {15, 16}}, NONE, NONE);
    CHECK(two.exponential.rate_per_s == Approx(0.1).epsilon(1e-14));
    CHECK(std::isnan(two.weibull.shape));
    CHECK(std::isnan(two.lognormal.mu));
    CHECK(std::isnan(two.repair.mu)); // both repairs take 1 s
}

TEST_CASE("a window that ends before it begins is refused", "[failure_stats]")
{
    test_arena a;
    error err{};
    failure_stats s{};
    s.failure_count = 7;
    CHECK(failure_stats_fit(nullptr, 0, 10, 5, &s, a, &err) == ERR_INVALID);
    CHECK(s.failure_count == 7);
}

TEST_CASE("the arena's cap is an error, never a crash", "[failure_stats][memory]")
{
    std::vector<failure_interval> f;
    for (int i = 0; i < 1000; i++)
        f.push_back({i * 10.0, i * 10.0 + i % 7});
    for (size_t cap = 0;; cap += 4096) {
        test_arena a(cap);
        error err{};
        failure_stats s{};
        enum error_code code = computed(a, &err, [&] {
            return failure_stats_fit(f.data(), f.size(), NONE, NONE, &s, a, &err);
        });
        if (code == OK)
            break;
        CHECK(code == ERR_TOO_LARGE);
        REQUIRE(cap < (1u << 20));
    }
}

TEST_CASE("Weibull and exponential samples give their parameters back", "[failure_stats]")
{
    for (double shape : {0.3, 0.7, 1.0, 2.5, 20.0})
        for (double scale : {1e-3, 3600.0, 1e7}) {
            CAPTURE(shape, scale);
            const size_t n = 20000;
            rng r = rng_stream(1, "failure_stats_test");
            std::vector<double> x(n);
            for (double &v : x)
                v = weibull_draw(&r, shape, scale);
            weibull_fit fit = failure_fit_weibull(x.data(), n);
            // standard errors: 0.78 shape / sqrt(n), 1.05 scale / (shape sqrt(n))
            CHECK(fit.shape == Approx(shape).epsilon(4 * 0.78 / std::sqrt(n)));
            CHECK(fit.scale_s == Approx(scale).epsilon(4 * 1.05 / shape / std::sqrt(n)));
            CHECK_FALSE(fit.capped);
            double direct = weibull_log_likelihood(x, fit.shape, fit.scale_s);
            CHECK(fit.log_likelihood == Approx(direct).epsilon(1e-9));
            for (double d : {0.99, 1.01}) {
                CHECK(weibull_log_likelihood(x, fit.shape * d, fit.scale_s) < direct);
                CHECK(weibull_log_likelihood(x, fit.shape, fit.scale_s * d) < direct);
            }
            exponential_fit e = failure_fit_exponential(x.data(), n);
            CHECK(fit.log_likelihood >=
                  e.log_likelihood - 1e-6 * std::fabs(e.log_likelihood));
            if (shape == 1)
                CHECK(e.rate_per_s == Approx(1 / scale).epsilon(4 / std::sqrt(n)));
            CHECK(failure_weibull_mean_s(shape, scale) ==
                  Approx(scale * std::tgamma(1 + 1 / shape)).epsilon(1e-12));
        }
}

TEST_CASE("the best model is the one that was drawn from", "[failure_stats]")
{
    const char *want[] = {"exponential", "lognormal", "weibull"};
    for (int model = 0; model < 3; model++) {
        rng r = rng_stream(3, "failure_stats_test.best");
        std::vector<failure_interval> f;
        double t = 1.7e9;
        for (int i = 0; i < 2000; i++) {
            f.push_back({t, t + std::exp(7 + normal_draw(&r))});
            t += model == 0   ? weibull_draw(&r, 1, 1e6)
                 : model == 1 ? std::exp(12 + 1.5 * normal_draw(&r))
                              : weibull_draw(&r, 0.6, 1e6);
        }
        failure_stats s = stats_of(f, NONE, NONE);
        CHECK(std::string(failure_model_name(s.best)) == want[model]);
        CHECK(s.repair.mu == Approx(7).margin(0.1));
        CHECK(s.repair.sigma == Approx(1).margin(0.1));
    }
}

TEST_CASE("fits survive extreme and equal values", "[failure_stats]")
{
    std::vector<std::vector<double>> cases = {
        {1e-300, 1e300},       {1e-300, 2e-300, 3e-300},
        {1e300, 5e299, 2e299}, {1e-300, 1, 1e300, 1e10, 1e-10},
        {1, 1 + 1e-7},         {3600, 3600.001, 3599.999}};
    for (auto &x : cases) {
        weibull_fit w = failure_fit_weibull(x.data(), x.size());
        exponential_fit e = failure_fit_exponential(x.data(), x.size());
        CHECK(w.shape > 0);
        CHECK(w.shape <= WEIBULL_SHAPE_MAX);
        CHECK(std::isfinite(w.scale_s));
        CHECK(w.scale_s > 0);
        CHECK(std::isfinite(w.log_likelihood));
        CHECK(std::isfinite(e.log_likelihood));
        CHECK(std::isfinite(failure_fit_lognormal(x.data(), x.size()).log_likelihood));
    }
    std::vector<double> equal(50, 86400.0);
    weibull_fit w = failure_fit_weibull(equal.data(), equal.size());
    CHECK(w.capped);
    CHECK(w.shape == WEIBULL_SHAPE_MAX);
    CHECK(w.scale_s == Approx(86400).epsilon(1e-3));
    CHECK(std::isfinite(w.log_likelihood));
    CHECK(std::isnan(failure_fit_lognormal(equal.data(), equal.size()).sigma));
}

TEST_CASE("a change of unit scales a fit and nothing else", "[failure_stats][property]")
{
    rng r = rng_stream(5, "failure_stats_test.unit");
    for (int round = 0; round < 50; round++) {
        std::vector<double> x, y;
        size_t n = 2 + rng_index(&r, 40);
        double unit = std::exp(20 * (rng_uniform(&r) - 0.5));
        for (size_t i = 0; i < n; i++) {
            x.push_back(weibull_draw(&r, 0.2 + 3 * rng_uniform(&r), 1e5) + 1e-9);
            y.push_back(x.back() / unit);
        }
        weibull_fit a = failure_fit_weibull(x.data(), n),
                    b = failure_fit_weibull(y.data(), n);
        CHECK(b.shape == Approx(a.shape).epsilon(1e-9));
        CHECK(b.scale_s * unit == Approx(a.scale_s).epsilon(1e-9));
        CHECK(b.log_likelihood == Approx(a.log_likelihood + double(n) * std::log(unit))
                                      .epsilon(1e-8)
                                      .margin(1e-6));
    }
}

TEST_CASE("order of the failures does not matter, time adds up",
          "[failure_stats][property]")
{
    rng r = rng_stream(7, "failure_stats_test.order");
    for (int round = 0; round < 200; round++) {
        std::vector<failure_interval> f;
        for (size_t i = rng_index(&r, 30); i > 0; i--) {
            double down = std::floor(100 * rng_uniform(&r)) - 20;
            double up =
                rng_uniform(&r) < 0.1 ? NONE : down + std::floor(20 * rng_uniform(&r));
            f.push_back({down, up});
        }
        failure_stats a = stats_of(f, 0, 60);
        for (size_t i = f.size(); i > 1; i--)
            std::swap(f[i - 1], f[rng_index(&r, i)]);
        failure_stats b = stats_of(f, 0, 60);
        CHECK(a.outage_count == b.outage_count);
        CHECK(a.downtime_s == b.downtime_s);
        CHECK(a.availability_ratio == b.availability_ratio);
        CHECK((a.weibull.shape == b.weibull.shape || std::isnan(a.weibull.shape)));
        CHECK(a.outage_count <= a.failure_count);
        CHECK(a.failure_count ==
              a.gap_count + a.zero_gap_count + (a.failure_count > 0 ? 1 : 0));
        CHECK(a.downtime_s >= 0);
        CHECK(a.downtime_s <= 60);
        // by brute force, second by second
        auto down_at = [&f](int t) {
            return std::any_of(f.begin(), f.end(), [t](const failure_interval &x) {
                return x.down_at_s <= t && !(x.up_at_s <= t);
            });
        };
        double down_s = 0;
        for (int t = 0; t < 60; t++)
            down_s += down_at(t);
        CHECK(a.downtime_s == down_s);
        CHECK(a.down == down_at(60));
        CHECK((!a.down || a.uptime_s == 0));
    }
}

// ---- the LANL logs ----

struct lanl_row {
    double mtbf_h, shape, scale_h, weibull_nll, exp_nll, mu, sigma, lognormal_nll,
        repair_mean_min, repair_median_min;
    size_t records, zero_gaps;
};

static void check_lanl(const std::vector<failure_interval> &f, const lanl_row &want)
{
    failure_stats s = stats_of(f, NONE, NONE);
    double to_hours = double(s.gap_count) * std::log(3600);
    CHECK(s.failure_count == want.records);
    CHECK(s.zero_gap_count == want.zero_gaps);
    CHECK(s.mean_gap_s / 3600 == Approx(want.mtbf_h).margin(6e-4));
    CHECK(s.weibull.shape == Approx(want.shape).margin(6e-5));
    CHECK(s.weibull.scale_s / 3600 == Approx(want.scale_h).margin(6e-5));
    CHECK(-s.weibull.log_likelihood - to_hours == Approx(want.weibull_nll).margin(6e-3));
    CHECK(-s.exponential.log_likelihood - to_hours == Approx(want.exp_nll).margin(6e-3));
    CHECK(s.lognormal.mu - std::log(3600) == Approx(want.mu).margin(6e-5));
    CHECK(s.lognormal.sigma == Approx(want.sigma).margin(6e-5));
    CHECK(-s.lognormal.log_likelihood - to_hours ==
          Approx(want.lognormal_nll).margin(6e-3));
    CHECK(s.mttr_s / 60 == Approx(want.repair_mean_min).margin(0.051));
    CHECK(s.repair_median_s / 60 == Approx(want.repair_median_min).margin(0.51));
}

TEST_CASE("LANL system 15 gives the published fit", "[failure_stats]")
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/tests/data/lanl_system_15.csv");
    std::string line;
    std::vector<failure_interval> f;
    while (std::getline(in, line)) {
        double begin_min, down_min;
        if (std::sscanf(line.c_str(), "%lf,%lf", &begin_min, &down_min) == 2)
            f.push_back({begin_min * 60, (begin_min + down_min) * 60});
    }
    check_lanl(f, {122.149, 0.8838, 113.9305, 306.90, 307.68, 4.1455, 1.1637, 302.95,
                   138.3, 30, 54, 0});
}

static std::vector<std::string> split(const std::string &line)
{
    std::vector<std::string> parts;
    std::string part;
    std::istringstream in(line);
    while (std::getline(in, part, ','))
        parts.push_back(part);
    return parts;
}

// Local times are read as UTC; the repair's length comes from its own column,
// because clocks change by an hour in between.
static double lanl_instant(const std::string &text)
{
    struct tm tm = {};
    REQUIRE(strptime(text.c_str(), "%m/%d/%Y %H:%M", &tm) != nullptr);
    return double(timegm(&tm));
}

TEST_CASE("every row of lanl_systems.csv comes out", "[failure_stats]")
{
    const char *data = getenv("GRIDPLAN_DATA");
    if (!data) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return;
    }
    std::map<std::string, std::vector<failure_interval>> systems;
    std::string line;
    std::ifstream log(std::string(data) +
                      "/02-failures/lanl-cfdr/sample-systems-6-15-24.csv");
    REQUIRE(std::getline(log, line));
    while (std::getline(log, line)) {
        auto cell = split(line);
        REQUIRE(cell.size() > 18);
        double begin_s = lanl_instant(cell[16]);
        systems[cell[0]].push_back({begin_s, begin_s + 60 * std::stod(cell[18])});
    }
    std::ifstream reference(std::string(data) + "/reference/lanl_systems.csv");
    REQUIRE(std::getline(reference, line));
    size_t rows = 0;
    while (std::getline(reference, line)) {
        auto c = split(line);
        auto number = [&c](size_t i) { return std::stod(c[i]); };
        CAPTURE(c[0]);
        check_lanl(systems[c[0]],
                   {number(6), number(8), number(9), number(10), number(11), number(12),
                    number(13), number(14), number(15), number(16), size_t(number(3)),
                    size_t(number(7))});
        rows++;
    }
    CHECK(rows == 3);
}

TEST_CASE("a model with more parameters has to earn them", "[failure_stats]")
{
    // Log-likelihoods worked out apart from this program: exponential -36.6397,
    // lognormal -35.8928, Weibull -36.2819. By AIC, with one parameter and twice two,
    // 75.279 is the least of 75.279, 75.786 and 76.564.
    std::vector<failure_interval> f;
    double t = 1.7e9;

    for (double gap_s : {0.0, 200.0, 200.0, 1300.0, 300.0, 800.0}) {
        t += gap_s;
        f.push_back({t, t + 1});
    }
    failure_stats s = stats_of(f, NONE, NONE);
    CHECK(s.exponential.log_likelihood == Approx(-36.63968391864597).epsilon(1e-12));
    CHECK(s.lognormal.log_likelihood == Approx(-35.892777830425274).epsilon(1e-12));
    CHECK(s.weibull.log_likelihood == Approx(-36.28190547122133).epsilon(1e-9));
    CHECK(s.weibull.shape == Approx(1.3681718321938734).epsilon(1e-9));
    CHECK(s.best == FAILURE_MODEL_EXPONENTIAL);
}
