// forecast_test.cpp - loads of runs, the load history and the forecaster battery.
#include "tests/support.hpp"

#include <algorithm>
#include <limits>

extern "C" {
#include "models/forecast/battery.h"
#include "models/forecast/forecast.h"
#include "models/forecast/min_avg.h"
}

namespace
{

const double NONE = std::numeric_limits<double>::quiet_NaN();

double u01(uint64_t *state)
{
    return static_cast<double>(splitmix64(state) >> 11) * 0x1p-53;
}

double between(uint64_t *state, double low, double high)
{
    return low + (high - low) * u01(state);
}

load_sample cpu_sample(const char *id, double at_s, double ratio)
{
    return {id, nullptr, at_s, ratio, NONE, NONE, NONE};
}

load_sample link_sample(const char *from, const char *to, double at_s, double mbps)
{
    return {from, to, at_s, NONE, NONE, mbps, NONE};
}

// W1 of performance-models.md: three processors, three links, samples every 120 s.
std::vector<load_sample> w1_samples()
{
    const struct {
        const char *from, *to;
        double value[3];
    } rows[] = {
        {"n1", nullptr, {0.9, 0.7, 0.8}},   {"n2", nullptr, {0.5, 0.7, 0.3}},
        {"n3", nullptr, {0.2, 0.95, 0.95}}, {"n1", "n2", {80, 60, 70}},
        {"n3", "n1", {20, 40, 90}},         {"n2", "n3", {55, 45, 50}},
    };
    std::vector<load_sample> out;
    for (int k = 2; k >= 0; k--)
        for (auto &r : rows)
            out.push_back(r.to ? link_sample(r.from, r.to, 120 * k, r.value[k])
                               : cpu_sample(r.from, 120 * k, r.value[k]));
    return out;
}

struct run_case {
    std::vector<load_sample> samples;
    std::vector<const char *> ids;
    double from_s = 0, to_s = 240;
    load_mean mean = LOAD_MEAN_PLAIN;
};

enum error_code least_of(const run_case &c, min_avg *out, error *err, arena *a)
{
    min_avg_in in = {c.samples.data(), c.samples.size(), c.ids.data(), c.ids.size(),
                     c.from_s,         c.to_s,           c.mean};
    return min_avg_of_run(&in, out, a, err);
}

min_avg least_of(const run_case &c)
{
    test_arena a;
    error err = collecting_error(a);
    min_avg out{};
    REQUIRE(least_of(c, &out, &err, a) == OK);
    return out;
}

// Kinds of all mistakes, sorted, as one text.
std::string kinds_of(const error &err)
{
    std::vector<std::string> kinds;
    std::string all;
    for (const error_item *i = err.first; i; i = i->next)
        kinds.push_back(std::string(i->pointer) + " " + item_kinds[i->code].name);
    std::sort(kinds.begin(), kinds.end());
    for (auto &k : kinds)
        all += k + "\n";
    return all;
}

struct history {
    std::vector<load_sample> samples;
    std::vector<const char *> ids;
    double now_at_s = NONE, history_s = LOAD_HISTORY_S, horizon_s = 600;
    forecast_mode mode = FORECAST_MODE_MIN_OF_FORECASTS;
};

enum error_code forecast_of(const history &h, struct load_forecast *out, arena *a,
                            error *err)
{
    load_series *series;
    size_t count;
    enum error_code code = load_series_of_samples(h.samples.data(), h.samples.size(),
                                                  &series, &count, a, err);
    if (code != OK)
        return code;
    load_forecast_in in = {series,     count,       h.ids.data(), h.ids.size(),
                           h.now_at_s, h.history_s, h.mode,       h.horizon_s};
    return load_forecast(&in, out, a, err);
}

struct load_forecast forecast_of(const history &h, arena *a)
{
    error err = collecting_error(a);
    struct load_forecast out {
    };
    REQUIRE(forecast_of(h, &out, a, &err) == OK);
    return out;
}

} // namespace

// ---- the load of a run ----

TEST_CASE("W1: averages first, then the minimum", "[forecast]")
{
    min_avg all = least_of({w1_samples(), {"n1", "n2", "n3"}});
    CHECK(all.cpu_available_ratio == Approx(0.5).epsilon(1e-12));
    CHECK(all.bandwidth_mbps == Approx(50).epsilon(1e-12));
    CHECK(all.cpu_resource == 1);

    min_avg some = least_of({w1_samples(), {"n1", "n3"}});
    CHECK(some.cpu_available_ratio == Approx(0.7).epsilon(1e-12));
    CHECK(some.bandwidth_mbps == Approx(50).epsilon(1e-12));
    CHECK(some.cpu_resource == 1);
    CHECK(some.link_from == 1); // measured from n3 to n1
    CHECK(some.link_to == 0);

    min_avg one = least_of({w1_samples(), {"n1", "n1"}});
    CHECK(one.cpu_available_ratio == Approx(0.8).epsilon(1e-12));
    CHECK(std::isnan(one.bandwidth_mbps));
}

TEST_CASE("both directions of a link are two links", "[forecast]")
{
    auto samples = w1_samples();
    samples.push_back(link_sample("n1", "n3", 60, 10));
    CHECK(least_of({samples, {"n1", "n3"}}).bandwidth_mbps == 10);
}

TEST_CASE("samples are weighed by time, or taken from nearby", "[forecast]")
{
    std::vector<load_sample> s = {cpu_sample("a", 30, 0.2), cpu_sample("a", 40, 0.8),
                                  cpu_sample("a", 200, 1.0)};
    struct {
        const char *when;
        double from_s, to_s;
        load_mean mean;
        double want;
    } cases[] = {
        {"plain", 0, 100, LOAD_MEAN_PLAIN, 0.5},
        {"first from the start, last to the end", 0, 100, LOAD_MEAN_TIME_WEIGHTED,
         0.4 * 0.2 + 0.6 * 0.8},
        {"an instant", 40, 40, LOAD_MEAN_TIME_WEIGHTED, 0.8},
        {"the ends count", 30, 40, LOAD_MEAN_PLAIN, 0.5},
        {"none inside: the nearest two", 50, 190, LOAD_MEAN_PLAIN, 0.9},
        {"after all", 300, 400, LOAD_MEAN_TIME_WEIGHTED, 1.0},
        {"before all", 0, 10, LOAD_MEAN_PLAIN, 0.2},
        {"between, nearer to one", 45, 50, LOAD_MEAN_PLAIN, 0.8},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            min_avg out = least_of({s, {"a"}, c.from_s, c.to_s, c.mean});
            CHECK(out.cpu_available_ratio == Approx(c.want).epsilon(1e-12));
        }
}

TEST_CASE("all that is wrong with a run's samples is said at once", "[forecast]")
{
    test_arena a;
    error err = collecting_error(a);
    run_case c = {w1_samples(), {"n1", "n2", "n4"}, 10, 0};
    min_avg out{};
    out.cpu_resource = 77;
    c.samples.push_back(cpu_sample("n1", 0, 0));
    c.samples.push_back(cpu_sample("n2", 0, 1.5));
    c.samples.push_back(link_sample("n1", "n2", 0, -1));
    c.samples.push_back(link_sample("n1", "n2", HUGE_VAL, 1e308));
    c.samples.push_back(cpu_sample("not chosen", 0, -5));
    CHECK(least_of(c, &out, &err, a) == ERR_INVALID);
    CHECK(kinds_of(err) == "/resource_ids/2 no_samples\n"
                           "/resource_ids/2 no_samples\n"
                           "/resource_ids/2 no_samples\n"
                           "/samples/18/cpu_available_ratio invalid_availability\n"
                           "/samples/19/cpu_available_ratio invalid_availability\n"
                           "/samples/20/bandwidth_mbps invalid_availability\n"
                           "/samples/21/observed_at out_of_bounds\n"
                           "/to out_of_bounds\n");
    CHECK(out.cpu_resource == 77);
}

TEST_CASE("many processors without links are refused, not enumerated for ever",
          "[forecast]")
{
    test_arena a;
    error err = collecting_error(a);
    std::vector<std::string> names(3000);
    run_case c;
    for (size_t i = 0; i < names.size(); i++) {
        names[i] = "n" + std::to_string(i);
        c.ids.push_back(names[i].c_str());
        c.samples.push_back(cpu_sample(names[i].c_str(), 0, 0.5));
    }
    min_avg out{};
    CHECK(least_of(c, &out, &err, a) == ERR_INVALID);
    CHECK(err.item_count == ERROR_ITEMS_MAX);
}

TEST_CASE("the least average is what a plain computation finds", "[forecast][property]")
{
    uint64_t state = 11;
    for (int round = 0; round < 100; round++) {
        const char *names[] = {"a", "b", "c", "d"};
        double sum[4][4] = {}, count[4][4] = {}, cpu = 1, bandwidth = HUGE_VAL;
        run_case c = {{}, {"a", "b", "c", "d"}, 0, 100};
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                for (int k = 0; k < 5; k++) {
                    double v = i == j ? between(&state, 0.1, 1) : between(&state, 1, 90);
                    c.samples.push_back(i == j
                                            ? cpu_sample(names[i], 10 * k, v)
                                            : link_sample(names[i], names[j], 10 * k, v));
                    sum[i][j] += v;
                    count[i][j]++;
                }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                double &least = i == j ? cpu : bandwidth;
                least = std::min(least, sum[i][j] / count[i][j]);
            }
        min_avg out = least_of(c);
        CHECK(out.cpu_available_ratio == Approx(cpu).epsilon(1e-12));
        CHECK(out.bandwidth_mbps == Approx(bandwidth).epsilon(1e-12));
    }
}

// ---- the battery ----

TEST_CASE("W10: eighteen forecasters and their errors", "[forecast]")
{
    const double h[] = {0.50, 0.60, 0.40, 0.70, 0.65, 0.55};
    const double mae[] = {0.15,         0.114,    0.115742625, 0.111942, 0.108557625,
                          0.109328,     0.113578, 0.117568,    0.12125,  0.128359375,
                          0.12,         0.12,     0.114,       0.114,    0.1166666667,
                          0.1166666667, 0.12,     0.12};
    battery b{};
    for (double v : h)
        battery_add(&b, v);
    for (int f = 0; f < FORECASTER_COUNT; f++)
        CHECK(battery_mae(&b, static_cast<forecaster>(f)) ==
              Approx(mae[f]).epsilon(1e-9));
    struct battery_forecast got = battery_forecast(&b);
    CHECK(got.forecaster == FORECASTER_exp_15);
    CHECK(got.value == Approx(0.5469182187).epsilon(1e-9));
    CHECK(b.forecast[FORECASTER_run_mean] == Approx(0.5666666667).epsilon(1e-9));
    CHECK(b.forecast[FORECASTER_last] == 0.55);
    CHECK(b.forecast[FORECASTER_median_5] == Approx(0.60).epsilon(1e-12));
    CHECK(b.forecast[FORECASTER_exp_50] == Approx(0.584375).epsilon(1e-9));
}

TEST_CASE("W11: sixty uniform values", "[forecast]")
{
    uint64_t state = 7;
    battery b{};
    for (int i = 0; i < 60; i++) {
        double v = between(&state, 0.065, 0.72);
        if (i == 0)
            CHECK(v == Approx(0.3203384852).epsilon(1e-9));
        battery_add(&b, v);
    }
    struct battery_forecast got = battery_forecast(&b);
    CHECK(got.forecaster == FORECASTER_run_mean);
    CHECK(got.value == Approx(0.3884349539).epsilon(1e-9));
    CHECK(got.mae == Approx(0.1679697548).epsilon(1e-9));
    CHECK(battery_mae(&b, FORECASTER_last) == Approx(0.2059540549).epsilon(1e-9));
    CHECK(b.forecast[FORECASTER_adaptive_median_5_21] ==
          Approx(0.4387334177).epsilon(1e-9));
    CHECK(b.forecast[FORECASTER_adaptive_median_21_51] ==
          Approx(0.4023541310).epsilon(1e-9));
}

TEST_CASE("short series: nothing, one value, equal values", "[forecast]")
{
    CHECK(std::isnan(battery_run(nullptr, 0).value));
    const double one[] = {0.3};
    CHECK(battery_run(one, 1).value == 0.3);
    CHECK(std::isnan(battery_run(one, 1).mae));
    const std::vector<double> same(100, 0.7);
    struct battery_forecast got = battery_run(same.data(), same.size());
    CHECK(got.value == 0.7);
    CHECK(got.forecaster == FORECASTER_last); // ties: the lowest index
}

TEST_CASE("windows hold what they say, whatever the order of values",
          "[forecast][property]")
{
    uint64_t state = 3;
    std::vector<double> h;
    battery b{};
    for (int i = 0; i < 300; i++) {
        // few distinct values: equal ones must leave in the order they came
        h.push_back(std::floor(between(&state, 0, 6)) / 4);
        battery_add(&b, h.back());
        auto last = [&](size_t w) {
            std::vector<double> v(h.end() - static_cast<long>(std::min(w, h.size())),
                                  h.end());
            std::sort(v.begin(), v.end());
            return v;
        };
        auto mean = [](const std::vector<double> &v, size_t drop) {
            double sum = 0;
            for (size_t k = drop; k < v.size() - drop; k++)
                sum += v[k];
            return sum / static_cast<double>(v.size() - 2 * drop);
        };
        auto median = [](const std::vector<double> &v) {
            return (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
        };
        CHECK(b.forecast[FORECASTER_median_31] == Approx(median(last(31))).margin(1e-12));
        CHECK(b.forecast[FORECASTER_median_5] == Approx(median(last(5))).margin(1e-12));
        CHECK(b.forecast[FORECASTER_mean_31] == Approx(mean(last(31), 0)).margin(1e-12));
        CHECK(b.forecast[FORECASTER_trimmed_51] ==
              Approx(mean(last(51), last(51).size() * 3 / 10)).margin(1e-12));
        CHECK(b.forecast[FORECASTER_adaptive_median_21_51] ==
              Approx(median(last(b.window[FORECASTER_adaptive_median_21_51])))
                  .margin(1e-12));
        CHECK(b.window[FORECASTER_adaptive_median_21_51] >= 21);
        CHECK(b.window[FORECASTER_adaptive_median_21_51] <= 51);
        CHECK(b.window[FORECASTER_adaptive_median_5_21] >= 5);
        CHECK(b.window[FORECASTER_adaptive_median_5_21] <= 21);
    }
}

TEST_CASE("a forecast stays within what was seen, to the bit the same twice",
          "[forecast][property]")
{
    uint64_t state = 5;
    for (int round = 0; round < 200; round++) {
        size_t n = 1 + static_cast<size_t>(between(&state, 0, 120));
        double scale = std::pow(10, between(&state, -300, 300)), low = HUGE_VAL, high = 0;
        std::vector<double> h(n);
        for (auto &v : h) {
            v = scale * u01(&state);
            low = std::min(low, v);
            high = std::max(high, v);
        }
        struct battery_forecast one = battery_run(h.data(), n),
                                two = battery_run(h.data(), n);
        CHECK(one.value >= low * (1 - 1e-12));
        CHECK(one.value <= high * (1 + 1e-12));
        CHECK(std::memcmp(&one.value, &two.value, sizeof(double)) == 0);
        CHECK(one.forecaster == two.forecaster);
    }
}

// ---- history and modes ----

TEST_CASE("raw samples become averages of 600 s by their own time", "[forecast]")
{
    test_arena a;
    error err = collecting_error(a);
    load_series *series;
    size_t count;
    std::vector<load_sample> s = {
        link_sample("b", "a", 1200, 40), cpu_sample("a", 1199.9, 0.3),
        cpu_sample("a", 600, 0.5),       cpu_sample("a", -1, 1.0),
        cpu_sample("a", 599, 0),         cpu_sample("b", 5, NONE),
    };
    REQUIRE(load_series_of_samples(s.data(), s.size(), &series, &count, a, &err) == OK);
    REQUIRE(count == 2);
    CHECK(std::string(series[0].to_resource_id) == "a"); // first appearance first
    REQUIRE(series[1].bucket_count == 3);
    CHECK(series[1].buckets[0].start_at_s == -600);
    CHECK(series[1].buckets[1].start_at_s == 0);
    CHECK(series[1].buckets[1].mean == 0);
    CHECK(series[1].buckets[2].mean == Approx(0.4).epsilon(1e-12));

    s = {cpu_sample("a", 0, 1.2), cpu_sample("a", HUGE_VAL, 0.5),
         link_sample("a", "b", 0, -1)};
    CHECK(load_series_of_samples(s.data(), s.size(), &series, &count, a, &err) ==
          ERR_INVALID);
    CHECK(kinds_of(err) == "/history/0/cpu_available_ratio invalid_availability\n"
                           "/history/1/observed_at out_of_bounds\n"
                           "/history/2/bandwidth_mbps invalid_availability\n");
}

TEST_CASE("blocks of the run's length end at the newest bucket", "[forecast]")
{
    // Buckets 10, 20, 30, 40, blocks of 720 s: 15, 26.6667, 38.3333 (spec 9.2).
    test_arena a;
    history h = {{}, {"a", "b"}};
    for (int k = 0; k < 4; k++) {
        h.samples.push_back(cpu_sample("a", 600 * k, 1));
        h.samples.push_back(cpu_sample("b", 600 * k, 1));
        h.samples.push_back(link_sample("a", "b", 600 * k, 10 * (k + 1)));
    }
    const double blocks[] = {15, 80.0 / 3, 115.0 / 3};
    h.mode = FORECAST_MODE_DURATION_MATCHED;
    h.horizon_s = 720;
    struct load_forecast f = forecast_of(h, a);
    CHECK(f.mode_used == FORECAST_MODE_DURATION_MATCHED);
    CHECK(f.interval_count == 3);
    CHECK(f.horizon_s == 720);
    CHECK(f.bandwidth_mbps == Approx(battery_run(blocks, 3).value).epsilon(1e-12));

    h.horizon_s = 2401; // no block is complete
    f = forecast_of(h, a);
    CHECK(f.mode_used == FORECAST_MODE_MIN_OF_FORECASTS);
    CHECK(f.horizon_s == 600);
    CHECK(std::isfinite(f.bandwidth_mbps));
}

TEST_CASE("the three modes differ as they should", "[forecast]")
{
    // Two processors take turns being slow: each one's mean is 0.6, of the minimum 0.2.
    test_arena a;
    history h = {{}, {"a", "b"}};
    for (int k = 0; k < 100; k++) {
        h.samples.push_back(cpu_sample("a", 600 * k, k % 2 ? 0.2 : 1.0));
        h.samples.push_back(cpu_sample("b", 600 * k, k % 2 ? 1.0 : 0.2));
        h.samples.push_back(link_sample("a", "b", 600 * k, 50));
    }
    struct load_forecast each = forecast_of(h, a);
    h.mode = FORECAST_MODE_FORECAST_OF_MIN;
    struct load_forecast minimum = forecast_of(h, a);
    h.mode = FORECAST_MODE_DURATION_MATCHED;
    h.horizon_s = 1200;
    struct load_forecast blocks = forecast_of(h, a);
    CHECK(each.cpu_available_ratio > 0.5);
    CHECK(minimum.cpu_available_ratio == Approx(0.2).epsilon(1e-12));
    CHECK(minimum.interval_count == 100);
    CHECK(blocks.cpu_available_ratio == Approx(0.6).epsilon(1e-9));
    CHECK(each.resource_count == 3);
    CHECK(each.resources[2].to_resource_id != nullptr); // links after processors
    CHECK(each.bandwidth_mbps == 50);
}

TEST_CASE("only complete buckets of the window are read", "[forecast]")
{
    test_arena a;
    history h = {{}, {"a"}};
    for (int k = 0; k < 10; k++)
        h.samples.push_back(cpu_sample("a", 600 * k, k < 5 ? 0.1 : 0.9));
    h.now_at_s = 5999; // the tenth is not complete
    h.history_s = 2400;
    struct load_forecast f = forecast_of(h, a);
    CHECK(f.resources[0].bucket_count == 3); // 3600 to 5400
    CHECK(f.cpu_available_ratio == Approx(0.9).epsilon(1e-12));
    h.history_s = 600;
    h.now_at_s = 500;
    f = forecast_of(h, a);
    CHECK(std::string(f.reason) == "no_load_history");
    CHECK(std::isnan(f.cpu_available_ratio));
}

TEST_CASE("who has no history is named", "[forecast]")
{
    test_arena a;
    history h = {{cpu_sample("a", 0, 0.5), cpu_sample("b", 0, 0.5),
                  link_sample("a", "c", 0, 3), link_sample("a", "a", 0, 3)},
                 {"a", "b", "c"}};
    struct load_forecast f = forecast_of(h, a);
    REQUIRE(f.reason);
    CHECK(std::string(f.reason) == "no_load_history");
    REQUIRE(f.missing_count == 3);
    CHECK(std::string(f.missing[0]) == "a|b");
    CHECK(std::string(f.missing[1]) == "b|c");
    CHECK(std::string(f.missing[2]) == "c");

    std::vector<std::string> names(200);
    history many;
    for (size_t i = 0; i < names.size(); i++) {
        names[i] = "n" + std::to_string(i);
        many.ids.push_back(names[i].c_str());
    }
    f = forecast_of(many, a);
    CHECK(f.missing_count == 200 * 201 / 2);
    CHECK(f.missing_listed == 20);
}

TEST_CASE("intervals that one resource lacks are skipped", "[forecast]")
{
    test_arena a;
    history h = {{}, {"a", "b"}};
    for (int k = 0; k < 30; k++) {
        h.samples.push_back(cpu_sample("a", 600 * k, 0.5));
        if (k % 3 == 0)
            h.samples.push_back(cpu_sample("b", 600 * k, 0.4));
        h.samples.push_back(link_sample("b", "a", 600 * k, 9));
    }
    h.mode = FORECAST_MODE_FORECAST_OF_MIN;
    struct load_forecast f = forecast_of(h, a);
    CHECK(f.interval_count == 10);
    CHECK(f.cpu_available_ratio == Approx(0.4).epsilon(1e-12));

    // none in common: the first mode answers
    history apart = {
        {cpu_sample("a", 0, 0.5), cpu_sample("b", 600, 0.4), link_sample("a", "b", 0, 7)},
        {"a", "b"}};
    apart.mode = FORECAST_MODE_FORECAST_OF_MIN;
    f = forecast_of(apart, a);
    CHECK(f.mode_used == FORECAST_MODE_MIN_OF_FORECASTS);
    CHECK(f.cpu_available_ratio == 0.4);
}

TEST_CASE("odd requests for forecasts are refused or survived", "[forecast]")
{
    test_arena a;
    error err = collecting_error(a);
    struct load_forecast f {
    };
    history bad;
    bad.history_s = 0;
    bad.mode = FORECAST_MODE_DURATION_MATCHED;
    bad.horizon_s = NONE;
    CHECK(forecast_of(bad, &f, a, &err) == ERR_INVALID);
    CHECK(kinds_of(err) == "/history_s out_of_bounds\n/horizon_s out_of_bounds\n"
                           "/resource_ids required\n");

    history far = {{cpu_sample("a", 0, 0.5), cpu_sample("a", 1e18, 0.7),
                    cpu_sample("a", 1e300, 0.9)},
                   {"a"}};
    for (auto mode : {FORECAST_MODE_MIN_OF_FORECASTS, FORECAST_MODE_FORECAST_OF_MIN,
                      FORECAST_MODE_DURATION_MATCHED}) {
        far.mode = mode;
        far.horizon_s = 1e-9;
        far.history_s = LOAD_HISTORY_MAX_S;
        f = forecast_of(far, a);
        CHECK(f.cpu_available_ratio == Approx(0.9).epsilon(1e-12));
    }
}

TEST_CASE("forecasts depend on neither the order nor on others", "[forecast][property]")
{
    uint64_t state = 17;
    for (int round = 0; round < 60; round++) {
        test_arena a;
        history h = {{}, {"a", "b", "c"}};
        const char *names[] = {"a", "b", "c", "d"};
        for (int k = 0; k < 40; k++)
            for (int i = 0; i < 4; i++)
                for (int j = i; j < 4; j++)
                    h.samples.push_back(i == j
                                            ? cpu_sample(names[i], 300 * k, u01(&state))
                                            : link_sample(names[i], names[j], 300 * k,
                                                          between(&state, 1, 100)));
        h.mode = static_cast<forecast_mode>(round % 3);
        h.horizon_s = between(&state, 600, 3000);
        struct load_forecast one = forecast_of(h, a);
        // by bucket, so that sums keep their order; buckets in any order
        std::stable_sort(h.samples.begin(), h.samples.end(),
                         [](const load_sample &x, const load_sample &y) {
                             return std::floor(x.observed_at_s / 600) >
                                    std::floor(y.observed_at_s / 600);
                         });
        h.samples.erase(std::remove_if(h.samples.begin(), h.samples.end(),
                                       [](const load_sample &s) {
                                           return s.resource_id[0] == 'd' ||
                                                  (s.to_resource_id &&
                                                   s.to_resource_id[0] == 'd');
                                       }),
                        h.samples.end());
        struct load_forecast two = forecast_of(h, a);
        CHECK(one.cpu_available_ratio == two.cpu_available_ratio);
        CHECK(one.bandwidth_mbps == two.bandwidth_mbps);
        CHECK(one.mode_used == h.mode);
        CHECK(one.cpu_available_ratio >= 0);
        CHECK(one.cpu_available_ratio <= 1);
    }
}

TEST_CASE("the horizon is the run time in whole two minutes", "[forecast]")
{
    CHECK(load_forecast_horizon_s(1) == 600);
    CHECK(load_forecast_horizon_s(600) == 600);
    CHECK(load_forecast_horizon_s(601) == 720);
    CHECK(load_forecast_horizon_s(1e9) == 7200);
    CHECK(load_forecast_horizon_s(HUGE_VAL) == 7200);
    CHECK(load_forecast_horizon_s(NONE) == 600);
}
