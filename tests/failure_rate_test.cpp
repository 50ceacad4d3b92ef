// failure_rate_test.cpp - rates of failure from counts, priors and observations.
#include "tests/support.hpp"

#include <algorithm>
#include <random>
#include <vector>

extern "C" {
#include "models/at_risk.h"
#include "models/failure_rate.h"
}

namespace
{
constexpr double day_s = 86400;

// Example 4 of reliability.md 7.
const failure_exposure example_hosts[] = {{10 * day_s, 0}, {10 * day_s, 1},
                                          {5 * day_s, 0},  {10 * day_s, 5},
                                          {10 * day_s, 2}, {day_s, 0}};

rate_prior example_prior()
{
    rate_prior prior{};

    REQUIRE(rate_prior_fit(example_hosts, 6, &prior));
    return prior;
}

// A history with what it points at.
struct story {
    std::vector<at_risk_row> rows;
    std::vector<at_risk_span> spans;
    double now_s;
    double seen_since_s = NAN, from_s = NAN, to_s = NAN, burst_s = 0;
    double up_again_s = NAN;
    size_t component = 0;

    at_risk seen() const
    {
        test_arena a;
        at_risk_in in{};
        at_risk out{};

        in.rows = rows.data();
        in.row_count = rows.size();
        in.spans = spans.data();
        in.span_count = spans.size();
        in.seen_since_s = seen_since_s;
        in.from_s = from_s;
        in.to_s = to_s;
        in.now_s = now_s;
        in.burst_window_s = burst_s;
        in.component = component;
        in.up_again_s = up_again_s;
        at_risk_of(&in, &out, a);
        return out;
    }
};
} // namespace

TEST_CASE("shares and quantiles of the Gamma distribution", "[reliability]")
{
    // Exponential, and a sum of two and of three exponentials.
    CHECK(gamma_share(1, 2) == Approx(1 - std::exp(-2.0)).epsilon(1e-14));
    CHECK(gamma_share(2, 3) == Approx(1 - 4 * std::exp(-3.0)).epsilon(1e-14));
    CHECK(gamma_share(3, 0.1) ==
          Approx(1 - std::exp(-0.1) * (1 + 0.1 + 0.005)).epsilon(1e-10));
    CHECK(gamma_share(0.5, 0) == 0);
    // Chi squared with one degree of freedom: 3.841458820694124 at 95 %.
    CHECK(gamma_quantile(0.5, 0.95) == Approx(3.841458820694124 / 2).epsilon(1e-12));
    CHECK(gamma_quantile(1, 0.5) == Approx(std::log(2.0)).epsilon(1e-14));
    for (double shape : {0.05, 0.3, 0.5, 1.0, 1.4430551, 7.5, 100.0, 10000.0})
        for (double p : {0.001, 0.025, 0.5, 0.9, 0.975, 0.9999})
            DYNAMIC_SECTION(shape << " " << p)
            {
                CHECK(gamma_share(shape, gamma_quantile(shape, p)) ==
                      Approx(p).epsilon(1e-10));
            }
}

TEST_CASE("hosts teach a prior, and it tells of each of them", "[reliability]")
{
    const struct {
        size_t host;
        double mean_s, low_s, high_s;
    } cases[] = {
        {0, 1125036.675, 355451.6, 16977185},
        {1, 664532.667, 256795.5, 4118292},
        {2, 825671.812, NAN, NAN},
        {3, 251975.174, 132114.0, 657408.3},
        {4, 471525.979, NAN, NAN},
        {5, 586179.921, 185201.6, 8845654},
    };
    rate_prior prior = example_prior();

    CHECK(prior.shape == Approx(1.44305512).epsilon(1e-6));
    CHECK(prior.rate_s == Approx(759489.937).epsilon(1e-6));
    CHECK(prior.rate_s / prior.shape == Approx(526306.948).epsilon(1e-6));
    CHECK(prior.log_likelihood == Approx(-2.927637930).epsilon(1e-9));
    CHECK(prior.host_count == 6);
    for (auto &c : cases) {
        failure_rate rate = failure_rate_of(example_hosts[c.host], &prior, day_s);
        failure_range range = failure_rate_range(&rate);

        CHECK(rate.mean_s == Approx(c.mean_s).epsilon(1e-6));
        CHECK(rate.few_failures == (example_hosts[c.host].kill_count < 3));
        CHECK_FALSE(rate.floor_applied);
        if (!std::isnan(c.low_s)) {
            CHECK(range.low_s == Approx(c.low_s).epsilon(1e-6));
            CHECK(range.high_s == Approx(c.high_s).epsilon(1e-6));
        }
    }
}

TEST_CASE("too few hosts or failures teach nothing", "[reliability]")
{
    rate_prior prior{};
    const failure_exposure two[] = {{day_s, 2}, {day_s, 2}, {0, 5}};
    const failure_exposure quiet[] = {{day_s, 1}, {day_s, 1}, {day_s, 0}};
    const failure_exposure alike[] = {{day_s, 1}, {day_s, 1}, {day_s, 1}};

    CHECK_FALSE(rate_prior_fit(nullptr, 0, &prior));
    CHECK_FALSE(rate_prior_fit(two, 3, &prior));
    CHECK_FALSE(rate_prior_fit(quiet, 3, &prior));
    // Closer than chance: as alike as hosts can be.
    REQUIRE(rate_prior_fit(alike, 3, &prior));
    CHECK(prior.shape == 10000);
    CHECK(prior.rate_s / prior.shape == Approx(day_s).epsilon(1e-6));
}

TEST_CASE("one failure ten minutes ago says little", "[reliability]")
{
    rate_prior prior = example_prior();
    failure_exposure ten_minutes = {600, 0}, year = {365 * day_s, 1}, never = {0, 0};
    failure_rate rate = failure_rate_of(ten_minutes, &prior, day_s);

    CHECK(rate.mean_s == Approx(526722.732).epsilon(1e-6));
    CHECK(std::sqrt(2 * 60 * rate.mean_s) == Approx(7950.265900).epsilon(1e-6));
    rate = failure_rate_of(ten_minutes, nullptr, day_s);
    CHECK(rate.mean_s == day_s);
    CHECK(rate.floor_applied);
    CHECK(failure_rate_of(ten_minutes, nullptr, 0).mean_s == 1200);
    CHECK(failure_rate_of(year, nullptr, day_s).mean_s == 21024000);
    CHECK(std::isnan(failure_rate_of(never, nullptr, day_s).mean_s));
}

TEST_CASE("rates of the nodes of a job add up", "[reliability]")
{
    rate_prior prior = example_prior();
    rate_sum sum{};

    for (size_t host = 0; host < 4; host++) {
        failure_rate rate = failure_rate_of(example_hosts[host], &prior, day_s);

        rate_sum_add(&sum, &rate, 1);
    }
    failure_rate job = rate_sum_total(&sum);
    failure_range range = failure_rate_range(&job);

    CHECK(job.mean_s == Approx(132040.102065).epsilon(1e-6));
    CHECK(job.shape == Approx(11.621589984).epsilon(1e-6));
    CHECK(job.rate_s == Approx(1534515.927645).epsilon(1e-6));
    CHECK(range.low_s == Approx(79944.500).epsilon(1e-6));
    CHECK(range.high_s == Approx(258743.919).epsilon(1e-6));
}

TEST_CASE("400 equal hosts are told from 10 days each", "[reliability][property]")
{
    std::mt19937 random(1);
    std::poisson_distribution<int> draw(2); // MTBF 5 days
    std::vector<failure_exposure> hosts;
    std::vector<double> ratio;
    rate_prior prior{};

    for (int i = 0; i < 400; i++)
        hosts.push_back({10 * day_s, (double)draw(random)});
    REQUIRE(rate_prior_fit(hosts.data(), hosts.size(), &prior));
    for (auto &host : hosts)
        ratio.push_back(failure_rate_of(host, &prior, day_s).mean_s / (5 * day_s));
    std::sort(ratio.begin(), ratio.end());
    CHECK(ratio[20] > 0.85);
    CHECK(ratio[379] < 1.15);
}

TEST_CASE("components fail one by one, however long their repairs", "[reliability]")
{
    std::vector<at_risk_row> rows;

    for (size_t i = 0; i < 50; i++)
        rows.push_back(
            {10000.0 * (double)i, 10000.0 * (double)i + 20000, i + 1, FAILURE_FAILURE});
    at_risk seen = story{rows, {{-1, NAN}}, 499999}.seen();

    CHECK(seen.seen.kill_count == 50);
    CHECK(seen.seen.at_risk_s == 500000);
    CHECK(failure_rate_of(seen.seen, nullptr, day_s).mean_s ==
          Approx(9900.990099).epsilon(1e-9));
    // Alone each has failed once, and is not at risk while it is repaired.
    story one{rows, {{-1, NAN}}, 499999};
    one.component = 7;
    seen = one.seen();
    CHECK(seen.seen.kill_count == 1);
    CHECK(seen.seen.at_risk_s == 480000);
}

TEST_CASE("what an observation says of a history", "[reliability]")
{
    const double open = NAN;
    const std::vector<at_risk_row> rows = {
        {100, 200, 0, FAILURE_FAILURE},     // begins the history if nothing else does
        {150, 160, 3, FAILURE_FAILURE},     // the whole is down already
        {200, 210, 3, FAILURE_FAILURE},     // up again in that instant
        {300, 400, 0, FAILURE_MAINTENANCE}, // takes time only
        {350, 360, 0, FAILURE_FAILURE},     // inside it
        {500, 900, 2, FAILURE_DEGRADED},    // nothing
        {600, open, 0, FAILURE_FAILURE},    // counts, takes no time
        {600, 610, 2, FAILURE_FAILURE},     // the same instant: one kill
        {605, 606, 4, FAILURE_FAILURE},
    };
    const struct {
        const char *when;
        std::vector<at_risk_span> spans;
        double seen_since_s, from_s, to_s, burst_s;
        double kills, at_risk_s, observed_s;
        size_t outside;
        bool start_unknown;
    } cases[] = {
        {"nobody watched", {}, NAN, NAN, NAN, 0, 3, 700, 900, 0, true},
        {"seen before", {}, 50, NAN, NAN, 0, 4, 750, 950, 0, false},
        {"still watched", {{0, NAN}}, NAN, NAN, NAN, 0, 4, 800, 1000, 0, false},
        {"with a pause", {{0, 250}, {550, NAN}}, NAN, NAN, NAN, 0, 4, 600, 700, 1, false},
        {"decommissioned", {{0, 550}}, NAN, NAN, NAN, 0, 2, 350, 550, 3, false},
        {"in a window", {{0, NAN}}, NAN, 150, 550, 0, 1, 250, 400, 0, false},
        {"a window alone", {}, NAN, 0, 550, 0, 2, 350, 550, 0, false},
        {"bursts are one", {{0, NAN}}, NAN, NAN, NAN, 5, 3, 800, 1000, 0, false},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            story told{rows, c.spans, 1000};
            told.seen_since_s = c.seen_since_s;
            told.from_s = c.from_s;
            told.to_s = c.to_s;
            told.burst_s = c.burst_s;
            at_risk seen = told.seen();
            CHECK(seen.seen.kill_count == c.kills);
            CHECK(seen.seen.at_risk_s == c.at_risk_s);
            CHECK(seen.observed_s == c.observed_s);
            CHECK(seen.outside_count == c.outside);
            CHECK(seen.start_unknown == c.start_unknown);
            CHECK_FALSE(seen.history_ended);
        }
}

TEST_CASE("what is down is not at risk", "[reliability]")
{
    const double open = NAN;
    const struct {
        const char *when;
        std::vector<at_risk_row> rows;
        std::vector<at_risk_span> spans;
        size_t component;
        double up_again_s, down_since_s, at_risk_s, kills;
    } cases[] = {
        {"to the end", {{100, open, 0, FAILURE_FAILURE}}, {}, 0, NAN, 100, 100, 1},
        {"in maintenance",
         {{100, open, 0, FAILURE_MAINTENANCE}},
         {},
         0,
         NAN,
         100,
         100,
         0},
        {"slow only", {{100, open, 0, FAILURE_DEGRADED}}, {}, 0, NAN, NAN, 1000, 0},
        {"a part of it", {{100, open, 3, FAILURE_FAILURE}}, {}, 0, NAN, NAN, 1000, 1},
        {"the part itself", {{100, open, 3, FAILURE_FAILURE}}, {}, 3, NAN, 100, 100, 1},
        {"with its whole", {{100, open, 0, FAILURE_FAILURE}}, {}, 3, NAN, 100, 100, 0},
        {"failed again",
         {{100, open, 0, FAILURE_FAILURE}, {400, 500, 0, FAILURE_FAILURE}},
         {},
         0,
         NAN,
         NAN,
         900,
         2},
        {"a part failed again",
         {{100, open, 0, FAILURE_FAILURE}, {400, 500, 3, FAILURE_FAILURE}},
         {},
         0,
         NAN,
         NAN,
         1000,
         2},
        {"slow later",
         {{100, open, 0, FAILURE_FAILURE}, {400, 500, 0, FAILURE_DEGRADED}},
         {},
         0,
         NAN,
         100,
         100,
         1},
        {"failed in that instant as well",
         {{100, open, 0, FAILURE_FAILURE}, {100, 500, 3, FAILURE_FAILURE}},
         {},
         0,
         NAN,
         100,
         100,
         1},
        {"in repair already",
         {{50, 400, 0, FAILURE_MAINTENANCE}, {100, open, 0, FAILURE_FAILURE}},
         {},
         0,
         NAN,
         100,
         50,
         0},
        {"watched anew",
         {{100, open, 0, FAILURE_FAILURE}},
         {{0, 300}, {600, NAN}},
         0,
         NAN,
         NAN,
         700,
         1},
        {"to be watched anew",
         {{100, open, 0, FAILURE_FAILURE}},
         {{0, 300}, {2000, NAN}},
         0,
         NAN,
         100,
         100,
         1},
        {"somebody says that it is up",
         {{100, open, 0, FAILURE_FAILURE}},
         {},
         0,
         700,
         NAN,
         1000,
         1},
        {"somebody said so before",
         {{100, open, 0, FAILURE_FAILURE}},
         {},
         0,
         70,
         100,
         100,
         1},
        {"still to come", {{1500, open, 0, FAILURE_FAILURE}}, {}, 0, NAN, NAN, 1000, 0},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            story told{c.rows, c.spans, 1000};
            if (c.spans.empty())
                told.from_s = 0;
            told.component = c.component;
            told.up_again_s = c.up_again_s;
            at_risk seen = told.seen();
            CHECK(seen.seen.at_risk_s == c.at_risk_s);
            CHECK(seen.seen.kill_count == c.kills);
            if (std::isnan(c.down_since_s))
                CHECK(std::isnan(seen.down_since_s));
            else
                CHECK(seen.down_since_s == c.down_since_s);
        }
}

TEST_CASE("a history that nobody continues has ended", "[reliability]")
{
    const std::vector<at_risk_row> rows = {
        {0, 10, 0, FAILURE_FAILURE}, {10 * day_s, 10 * day_s + 60, 0, FAILURE_FAILURE}};
    at_risk seen = story{rows, {}, 109 * day_s}.seen();

    CHECK_FALSE(seen.history_ended);
    CHECK(seen.to_s == 109 * day_s);
    seen = story{rows, {}, 1000 * day_s}.seen();
    CHECK(seen.history_ended);
    CHECK(seen.to_s == 10 * day_s + 60);
    seen = story{rows, {{0, NAN}}, 1000 * day_s}.seen(); // somebody still watches
    CHECK_FALSE(seen.history_ended);
    CHECK(seen.to_s == 1000 * day_s);
    seen = story{{}, {}, 5}.seen();
    CHECK(std::isnan(seen.from_s));
    CHECK(seen.seen.at_risk_s == 0);
    CHECK(seen.seen.kill_count == 0);
}

TEST_CASE("time at risk agrees with looking at every second", "[reliability][property]")
{
    std::mt19937 random(7);

    for (int trial = 0; trial < 300; trial++) {
        std::vector<at_risk_row> rows;
        int count = (int)(random() % 6);

        for (int i = 0; i < count; i++) {
            double down_s = (double)(random() % 20);
            double up_s = down_s + (double)(random() % 6);

            rows.push_back({down_s, up_s, random() % 3, (failure_kind)(random() % 3)});
        }
        double from_s = (double)(random() % 5), to_s = 10 + (double)(random() % 15);
        at_risk seen = story{rows, {{from_s, to_s}}, 30}.seen();
        double lost_s = 0, kills = 0, last_s = -1;

        for (double t = from_s; t < to_s; t++) {
            bool is_lost = false;

            for (auto &r : rows)
                is_lost = is_lost || (r.component == 0 && r.kind != FAILURE_DEGRADED &&
                                      r.down_at_s <= t && r.up_at_s > t);
            lost_s += is_lost;
        }
        for (double t = from_s; t <= to_s; t++)
            for (auto &r : rows) {
                bool is_hidden = false;

                for (auto &o : rows)
                    is_hidden =
                        is_hidden || (o.component == 0 && o.kind != FAILURE_DEGRADED &&
                                      o.down_at_s < t && o.up_at_s > t);
                if (r.kind == FAILURE_FAILURE && r.down_at_s == t && !is_hidden &&
                    last_s < t) {
                    kills++;
                    last_s = t;
                }
            }
        CAPTURE(trial);
        REQUIRE(seen.seen.at_risk_s == to_s - from_s - lost_s);
        REQUIRE(seen.seen.kill_count == kills);
    }
}
