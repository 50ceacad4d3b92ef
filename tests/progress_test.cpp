// progress_test.cpp - run times from progress reports: every worked example of
// runtime-prediction.md 10, and what must hold for any reports.
#include "tests/support.hpp"

#include <algorithm>
#include <limits>

extern "C" {
#include "models/progress/application.h"
#include "models/progress/evolution.h"
#include "models/progress/progress.h"
}

namespace
{

const double NONE = std::numeric_limits<double>::quiet_NaN();

// The settings of section 10: few reports are enough, and no work is known.
progress_options example_options()
{
    progress_options o = progress_options_init();
    o.min_samples = 4;
    o.abscissa = PROGRESS_ELAPSED;
    return o;
}

struct example {
    std::vector<progress_point> points;
    progress_in in{};
    example(const std::vector<double> &estimates, double work_ref_s = 0,
            double step_s = 100)
    {
        double t = 0;
        for (double e : estimates)
            points.push_back({t += step_s, work_ref_s, e});
        in.options = example_options();
        in.initial_estimate_ref_s = NONE;
    }
    progress_out predict(arena *a)
    {
        progress_out out{};
        in.history.points = points.data();
        in.history.count = in.history.sample_count = points.size();
        REQUIRE(progress_predict(&in, &out, a) == OK);
        return out;
    }
};

std::vector<double> exponential(double limit, double amplitude, size_t count)
{
    std::vector<double> list;
    for (size_t i = 1; i <= count; i++)
        list.push_back(limit + amplitude * std::exp(-0.4 * static_cast<double>(i)));
    return list;
}

const std::vector<double> NOISY = {1556, 1344, 1251, 1142, 1123, 1063, 1069, 1018};
const std::vector<double> FLUCTUATING = {1352.96, 870.75, 841.41, 1058.08,
                                         1071.26, 973.90, 967.98, 1011.73};

void check_params(const progress_candidate &c, const std::vector<double> &want,
                  double tolerance)
{
    for (size_t i = 0; i < want.size(); i++)
        CHECK(c.param[i] == Approx(want[i]).epsilon(tolerance).margin(1e-9));
}

} // namespace

TEST_CASE("progress: one report is extrapolated", "[progress]")
{
    CHECK(progress_extrapolate_ref_s(600, 2, 0.5, 2, 25) == Approx(1800));
    CHECK(progress_extrapolate_ref_s(600, 2, 0, 2, 25) == Approx(2400));
    CHECK(progress_from_work_ref_s(900, 30) == Approx(3000)); // example 8
    CHECK(progress_work_ref_s(progress_work_ref_s(0, 300, 2), 300, 1) == Approx(900));
    CHECK(progress_from_work_ref_s(600, progress_pct_of(20, 80)) == Approx(2400));
    CHECK(progress_pct_of(81, 80) == 100);
    CHECK(progress_share(1, 2, 1) == 0);
}

TEST_CASE("progress: remaining time by both rules", "[progress]")
{
    const struct {
        double estimate, work, pct, by_pct, by_work;
    } rows[] = {{1000, 250, 12.5, 875, 750}, {1000, 250, 50, 500, 750}};
    for (auto &r : rows) {
        CHECK(progress_remaining_ref_s(PROGRESS_RULE_PCT, r.estimate, r.work, r.pct) ==
              Approx(r.by_pct));
        CHECK(progress_remaining_ref_s(PROGRESS_RULE_WORK, r.estimate, r.work, r.pct) ==
              Approx(r.by_work));
    }
    CHECK(progress_remaining_ref_s(PROGRESS_RULE_WORK, 100, 200, 50) == 0);
    CHECK(progress_remaining_s(1350, 4, 1, 1) == Approx(450));
    CHECK(progress_remaining_s(1350, 2, 0.5, 2) == Approx(1800));
    CHECK(std::isinf(progress_remaining_s(1350, 1, 1, 1)));
}

TEST_CASE("progress: examples 1 and 2, exact curves", "[progress]")
{
    test_arena a;
    for (bool falls : {true, false})
        DYNAMIC_SECTION((falls ? "falls" : "rises"))
        {
            example x(exponential(1000, falls ? 800 : -700, 6));
            auto out = x.predict(a);
            size_t hit = falls ? 0 : 1;
            CHECK(out.source == PROGRESS_FROM_fit);
            CHECK(out.chosen == hit);
            CHECK(out.estimate_ref_s == Approx(1000).epsilon(1e-6));
            CHECK(out.extrapolated_ref_s ==
                  Approx(falls ? 1072.574363 : 936.497433).epsilon(1e-6));
            check_params(out.candidates[hit], {1000, falls ? 800.0 : 700.0, 0.004}, 1e-6);
            CHECK(out.candidates[hit].res_norm < 1e-6);
            check_params(out.candidates[1 - hit], {falls ? 1246.505730 : 784.307486, 0},
                         1e-6);
            CHECK(out.candidates[1 - hit].res_norm ==
                  Approx(falls ? 153330.206 : 117393.439).epsilon(1e-6));
        }
    example x(exponential(1000, 800, 6));
    progress_function_in psi1 = {PROGRESS_psi1, true, {1072.5744, 463.6817, 0.005}};
    x.in.options.method = PROGRESS_SIMPLEX;
    x.in.functions = &psi1;
    x.in.function_count = 1;
    check_params(x.predict(a).candidates[0], {1000, 800, 0.004}, 1e-3);
}

TEST_CASE("progress: example 3, noise, by both methods", "[progress]")
{
    test_arena a;
    example x(NOISY);
    x.in.options.interval = PROGRESS_SPEC;
    auto out = x.predict(a);
    check_params(out.candidates[0], {1010.0010, 834.5690, 0.004345441}, 1e-6);
    CHECK(out.candidates[0].res_norm == Approx(1789.6966).epsilon(1e-6));
    check_params(out.candidates[1], {1195.75, 0, 0.000625}, 1e-6);
    CHECK(out.candidates[1].res_norm == Approx(228275.5).epsilon(1e-6));
    CHECK(out.residual_stddev_s == Approx(18.919).epsilon(1e-4));
    CHECK(out.low_ref_s == Approx(975.381).epsilon(1e-6));
    CHECK(out.high_ref_s == Approx(1044.621).epsilon(1e-6));
    CHECK((out.high_ref_s - out.estimate_ref_s) / 1.645 == Approx(21.0458).epsilon(1e-5));

    x.in.options.method = PROGRESS_SIMPLEX;
    progress_function_in functions[] = {{PROGRESS_psi1, true, {1018, 538, 0.00375}},
                                        {PROGRESS_psi2, false, {}}};
    x.in.functions = functions;
    x.in.function_count = 2;
    auto simplex = x.predict(a);
    CHECK(simplex.chosen == 0);
    check_params(simplex.candidates[0], {1010.0011, 834.5691, 0.004345442}, 1e-3);
    CHECK(simplex.candidates[1].limit_ref_s == Approx(1195.75).epsilon(1e-3));
}

TEST_CASE("progress: example 4, estimates that fluctuate", "[progress]")
{
    test_arena a;
    example x(FLUCTUATING);
    auto out = x.predict(a);
    CHECK(out.estimate_ref_s == Approx(970.652).epsilon(1e-6));
    CHECK(out.flags == PROGRESS_AT_UPPER_BOUND);
    CHECK(out.candidates[0].param[2] == Approx(0.0625));
    CHECK(out.candidates[0].res_norm == Approx(46302.956).epsilon(1e-6));
    CHECK(out.candidates[1].limit_ref_s == Approx(1018.50875).epsilon(1e-6));
    CHECK(out.candidates[1].res_norm == Approx(173991.879).epsilon(1e-6));
    CHECK(out.extrapolated_ref_s == 1011.73);
    x.in.options.strict_seed = true; // no bounds: it runs off
    auto seed = x.predict(a);
    CHECK(seed.estimate_ref_s == Approx(970.73).epsilon(1e-3));
    CHECK(seed.candidates[0].param[1] > 1e8);
    x.in.options.strict_seed = false;
    x.in.options.method = PROGRESS_SIMPLEX;
    auto simplex = x.predict(a);
    CHECK(simplex.source == PROGRESS_FROM_fallback);
    CHECK(std::string(simplex.reason) == "no_fit");
    CHECK(simplex.estimate_ref_s == 1011.73);
}

TEST_CASE("progress: examples 5, 6, 9, 10: little to fit", "[progress]")
{
    test_arena a;
    example constant({1200, 1200, 1200, 1200, 1200});
    auto out = constant.predict(a);
    CHECK(out.source == PROGRESS_FROM_fit);
    CHECK(out.chosen == 0);
    CHECK(out.estimate_ref_s == 1200);
    CHECK(out.candidates[0].param[1] == 0);
    CHECK(out.flags == 0);
    CHECK(out.candidates[0].res_norm == out.candidates[1].res_norm);

    example one({1500});
    CHECK(one.predict(a).source == PROGRESS_FROM_single_sample);
    CHECK(one.predict(a).estimate_ref_s == 1500);
    CHECK(std::isnan(one.predict(a).low_ref_s));
    example two({1500, 1400});
    CHECK(two.predict(a).source == PROGRESS_FROM_extrapolation);
    CHECK(two.predict(a).estimate_ref_s == 1400);
    CHECK(two.predict(a).low_ref_s == Approx(0.4 * 1400));
    CHECK(two.predict(a).high_ref_s == Approx(1.6 * 1400));
    two.in.options.interval = PROGRESS_CALIBRATED;
    CHECK(two.predict(a).low_ref_s == 1400);
    CHECK(two.predict(a).high_ref_s == 1500);
    two.in.options.strict_seed = true;
    CHECK(two.predict(a).source == PROGRESS_FROM_fit);
    CHECK(two.predict(a).estimate_ref_s == Approx(1061.57).epsilon(1e-3));

    example cached(NOISY);
    cached.in.previous_count = 8;
    cached.in.previous_estimate_ref_s = cached.predict(a).estimate_ref_s;
    cached.in.previous_estimate_ref_s = 1021.3;
    CHECK(cached.predict(a).source == PROGRESS_FROM_cached);
    CHECK(cached.predict(a).estimate_ref_s == 1021.3);
    CHECK(cached.predict(a).low_ref_s <= 1021.3);
    cached.in.previous_count = 7;
    CHECK(cached.predict(a).source == PROGRESS_FROM_fit);

    example none({});
    CHECK(none.predict(a).source == PROGRESS_FROM_none);
    none.in.initial_estimate_ref_s = 700;
    CHECK(none.predict(a).source == PROGRESS_FROM_initial_estimate);
    CHECK(none.predict(a).estimate_ref_s == 700);

    example late({500, 500}, 800); // more work is done than was expected of all
    CHECK(late.predict(a).estimate_ref_s == 800);
    late.in.history.finished = true;
    CHECK(late.predict(a).source == PROGRESS_FROM_finished);
    CHECK(late.predict(a).estimate_ref_s == 800);
}

TEST_CASE("progress: example 7, straight lines", "[progress]")
{
    test_arena a;
    example falls({1500, 1400, 1300, 1200}), rises({900, 1000, 1100, 1200});
    auto out = falls.predict(a);
    CHECK(out.estimate_ref_s == Approx(548.958604).epsilon(1e-6));
    CHECK(out.candidates[0].res_norm == Approx(155.239170).epsilon(1e-6));
    CHECK(out.candidates[0].param[2] == Approx(0.00125));
    CHECK(out.flags == PROGRESS_AT_LOWER_BOUND);
    out = rises.predict(a);
    CHECK(out.estimate_ref_s == Approx(1851.041396).epsilon(1e-6));
    CHECK(out.chosen == 1);
    CHECK(out.candidates[1].res_norm == Approx(155.239170).epsilon(1e-6));
    falls.in.options.k_min = rises.in.options.k_min = 0.05;
    out = falls.predict(a);
    CHECK(out.candidates[0].limit_ref_s == Approx(-6650.1).epsilon(1e-4));
    CHECK(out.source == PROGRESS_FROM_fallback);
    CHECK(std::string(out.reason) == "limit_out_of_range");
    CHECK(rises.predict(a).candidates[1].limit_ref_s == Approx(9050.1).epsilon(1e-4));
    CHECK(rises.predict(a).estimate_ref_s == 1200);
    example with_work({1500, 1400, 1300, 1200}, 600);
    CHECK(with_work.predict(a).source == PROGRESS_FROM_fallback);
    CHECK(with_work.predict(a).estimate_ref_s == 1200);
}

TEST_CASE("progress: the constant is assessed by the points less three", "[progress]")
{
    std::vector<progress_function_in> all = {{PROGRESS_psi1, false, {}},
                                             {PROGRESS_psi2, false, {}},
                                             {PROGRESS_constant, false, {}}};
    rng r = rng_create(12);
    size_t beaten = 0, between = 0;

    for (int round = 0; round < 400; round++) {
        test_arena a;
        size_t n = 4 + (size_t)(5 * rng_uniform(&r));
        std::vector<double> list;
        for (size_t i = 1; i <= n; i++)
            list.push_back(1000 + 200 * std::exp(-0.8 * (double)i) +
                           100 * (rng_uniform(&r) - 0.5));
        example e(list);
        e.in.functions = all.data();
        e.in.function_count = all.size();
        auto out = e.predict(a);
        double least = HUGE_VAL, constant = NAN;
        for (size_t k = 0; k < out.candidate_count; k++) {
            const progress_candidate &c = out.candidates[k];
            if (c.function == PROGRESS_constant)
                constant = c.res_norm;
            else
                least = std::min(least, c.res_norm);
        }
        if (!(least > 0) || !(constant > least))
            continue;
        double f = (constant - least) / 2 / (least / (double)(n - 3));
        double wrong = (constant - least) / 2 / (least / (double)(n - 2));
        if (std::fabs(f - 4) < 1e-6)
            continue;
        CAPTURE(round, n, f);
        CHECK((out.candidates[out.chosen].function == PROGRESS_constant) == (f < 4));
        beaten += f >= 4;
        between += f < 4 && wrong >= 4;
    }
    CHECK(beaten > 50);
    CHECK(between > 10); // where any other number of parameters would decide otherwise
}

TEST_CASE("progress: the constant has to be beaten by enough", "[progress]")
{
    test_arena a;
    progress_function_in all[] = {{PROGRESS_psi1, false, {}},
                                  {PROGRESS_psi2, false, {}},
                                  {PROGRESS_constant, false, {}}};
    auto winner = [&](const std::vector<double> &e) {
        example x(e);
        x.in.functions = all;
        x.in.function_count = 3;
        auto out = x.predict(a);
        return out.candidates[out.chosen].function;
    };
    CHECK(winner(NOISY) == PROGRESS_psi1);
    CHECK(winner(FLUCTUATING) == PROGRESS_psi1);
    CHECK(winner({1500, 1400, 1300, 1200}) == PROGRESS_psi1);
    CHECK(winner({1000, 1010, 1000, 1010, 1000, 1010}) == PROGRESS_constant);
    CHECK(winner({5, 5, 5, 5}) == PROGRESS_constant);
    example alone(NOISY);
    alone.in.functions = &all[2];
    alone.in.function_count = 1;
    CHECK(alone.predict(a).estimate_ref_s == Approx(1195.75));
    CHECK(alone.predict(a).low_ref_s < 1195.75);
}

TEST_CASE("progress: reports are sorted, cleaned and thinned", "[progress]")
{
    test_arena a;
    progress_history h{};
    std::vector<progress_sample> s = {
        {300, 30, 2, 0, 1, NONE}, {100, 0, 1, 0, 1, NONE},  {200, 10, 1, 0.5, 1, NONE},
        {300, 25, 1, 0, 2, NONE}, {400, 20, 1, 0, 1, NONE}, {0, 5, 1, 0, 1, NONE},
    };
    REQUIRE(progress_history_of(s.data(), s.size(), 500, &h, a) == OK);
    REQUIRE(h.count == 3);
    CHECK(h.points[0].estimate_ref_s == Approx(1000)); // 100 * 200 * 0.5 / 10
    CHECK(h.points[1].estimate_ref_s == Approx(600));  // the later of the two at 300
    CHECK(h.points[1].work_ref_s == Approx(150));
    CHECK(h.points[2].estimate_ref_s == Approx(2000));
    CHECK(h.warnings == (PROGRESS_WARN_BACKWARDS | PROGRESS_WARN_DUPLICATES |
                         PROGRESS_WARN_UNUSABLE | PROGRESS_WARN_SHARE));
    CHECK_FALSE(h.work_known);
    s = {{600, 30, NONE, NONE, NONE, 900},
         {300, 20, NONE, NONE, NONE, 950},
         {700, 100, NONE, NONE, NONE, 1000}};
    REQUIRE(progress_history_of(s.data(), s.size(), 500, &h, a) == OK);
    CHECK(h.points[1].estimate_ref_s == Approx(3000));
    CHECK(h.work_known);
    CHECK(h.finished);
    CHECK(h.warnings == PROGRESS_WARN_WORK_FELL);
    REQUIRE(progress_history_of(nullptr, 0, 500, &h, a) == OK);
    CHECK(h.count == 0);
    CHECK_FALSE(h.work_known);

    std::vector<progress_point> points;
    for (int i = 1; i <= 10; i++)
        points.push_back({i * 1.0, 0, 1});
    REQUIRE(progress_thin(points.data(), 10, 8) == 8);
    std::vector<double> left;
    for (int i = 0; i < 8; i++)
        left.push_back(points[static_cast<size_t>(i)].elapsed_s);
    CHECK(left == std::vector<double>{1, 3, 5, 6, 7, 8, 9, 10});
}

TEST_CASE("progress: smoothing leaves the ends as they are", "[progress]")
{
    test_arena a;
    std::vector<double> spiked = exponential(1000, 800, 12);
    example x(spiked);
    x.points[5].estimate_ref_s = 5000;
    x.in.options.screen = false; // it would be left out
    x.in.options.smoothing = PROGRESS_MEDIAN;
    double smooth = x.predict(a).estimate_ref_s;
    x.in.options.smoothing = PROGRESS_AS_IS;
    CHECK(std::fabs(smooth - 1000) < 20);
    CHECK(std::fabs(x.predict(a).estimate_ref_s - 1000) > 100);
    example line({10, 20, 60, 40, 50});
    line.in.options.smoothing = PROGRESS_MEAN;
    progress_function_in constant = {PROGRESS_constant, false, {}};
    line.in.functions = &constant;
    line.in.function_count = 1; // 10, 30, 36, 50, 50
    CHECK(line.predict(a).candidates[0].limit_ref_s == Approx(176.0 / 5));
}

TEST_CASE("progress: oscillation and its mean", "[progress]")
{
    test_arena a;
    const std::vector<double> e = {1000, 1400, 1050, 1350, 1100, 1300};
    CHECK(progress_oscillates(e.data(), e.size(), 8));
    CHECK(progress_filtered_ref_s(PROGRESS_FILTER_AUTO, e.data(), e.size(), 8) ==
          Approx(1200));
    CHECK(progress_filtered_ref_s(PROGRESS_FILTER_NONE, e.data(), e.size(), 8) == 1300);
    const std::vector<double> calm = {1000, 1005, 1000, 1005, 1000, 1005};
    CHECK_FALSE(progress_oscillates(calm.data(), calm.size(), 8));
    CHECK(progress_filtered_ref_s(PROGRESS_FILTER_AUTO, calm.data(), 6, 8) == 1005);
    CHECK(progress_filtered_ref_s(PROGRESS_FILTER_AVERAGE, calm.data(), 6, 8) ==
          Approx(1002.5));
    // Of an old oscillation nothing is seen in the window.
    std::vector<double> calmed = e;
    calmed.insert(calmed.end(), 8, 1200);
    CHECK_FALSE(progress_oscillates(calmed.data(), calmed.size(), 8));
    example few(e);
    few.in.options.min_samples = 8;
    few.in.options.estimate_filter = PROGRESS_FILTER_AUTO;
    auto out = few.predict(a);
    CHECK(out.source == PROGRESS_FROM_average);
    CHECK(out.flags == PROGRESS_OSCILLATING);
    CHECK(out.estimate_ref_s == Approx(1200));
}

TEST_CASE("progress: example 11, how estimates evolve", "[progress]")
{
    evolution e = {EVOLUTION_over, 1000, 1600, 0.5, 0.5, 0.4, 100, 80, 15, 1, 0, 1.0001};
    CHECK(evolution_estimate_ref_s(&e, 200, 0) == Approx(1359.463171).epsilon(1e-9));
    e.model = EVOLUTION_under;
    e.limit_ref_s = 1600;
    CHECK(evolution_estimate_ref_s(&e, 200, 0) == Approx(1240.536829).epsilon(1e-9));
    e.model = EVOLUTION_fluctuating;
    e.limit_ref_s = 1000;
    CHECK(evolution_estimate_ref_s(&e, 200, 0) == Approx(800.292962).epsilon(1e-8));
    e.sign = -1;
    CHECK(evolution_estimate_ref_s(&e, 200, 0) == Approx(1199.707038).epsilon(1e-8));
    CHECK(evolution_estimate_ref_s(&e, 2000, 0) == Approx(2000.2));
    e.noise_ratio = 0.05;
    CHECK(evolution_estimate_ref_s(&e, 200, 1) == Approx(1279.707038).epsilon(1e-8));
    CHECK(evolution_progress_pct(200, 1600) == 12.5);

    evolution_setting setting = evolution_setting_init();
    rng one = rng_create(1), two = rng_create(1);
    for (int m = 0; m < EVOLUTION_MODEL_COUNT; m++) {
        evolution x =
            evolution_draw(static_cast<evolution_model>(m), 500, &setting, &one);
        evolution y = evolution_draw(EVOLUTION_over, 500, &setting, &two);
        CHECK(x.r1 == y.r1); // the same numbers, whatever the model
        CHECK(x.amplitude_ref_s >= 750);
        CHECK(x.amplitude_ref_s < 1000);
        CHECK(x.limit_ref_s >= 500);
    }
}

TEST_CASE("progress: any reports give finite answers", "[progress][property]")
{
    rng r = rng_create(5);
    for (int round = 0; round < 300; round++) {
        test_arena a;
        size_t count = rng_index(&r, 25);
        std::vector<progress_sample> samples;
        double size = std::pow(10, 40 * rng_uniform(&r) - 20);
        for (size_t i = 0; i < count; i++)
            samples.push_back({size * rng_uniform(&r), 100 * rng_uniform(&r),
                               4 * rng_uniform(&r), rng_uniform(&r), 1.0,
                               round % 2 ? NONE : size * rng_uniform(&r)});
        progress_in in{};
        in.options = progress_options_init();
        in.options.method = round % 3 ? PROGRESS_VARPRO : PROGRESS_SIMPLEX;
        in.options.strict_seed = round % 7 == 0;
        in.options.smoothing = static_cast<progress_smoothing>(rng_index(&r, 3));
        in.options.interval = static_cast<progress_interval_rule>(rng_index(&r, 4));
        in.initial_estimate_ref_s = NONE;
        REQUIRE(progress_history_of(samples.data(), count, 500, &in.history, a) == OK);
        progress_out out{}, again{}, shuffled{};
        REQUIRE(progress_predict(&in, &out, a) == OK);
        if (in.history.count == 0) {
            CHECK(out.source == PROGRESS_FROM_none);
            continue;
        }
        CHECK(std::isfinite(out.estimate_ref_s));
        CHECK((in.options.strict_seed || out.estimate_ref_s > 0));
        if (!std::isnan(out.low_ref_s)) {
            CHECK(out.low_ref_s <= out.estimate_ref_s);
            CHECK(out.high_ref_s >= out.estimate_ref_s);
            CHECK(std::isfinite(out.high_ref_s));
        }
        REQUIRE(progress_predict(&in, &again, a) == OK);
        CHECK(again.estimate_ref_s == out.estimate_ref_s);
        for (size_t i = count; i > 1; i--)
            std::swap(samples[i - 1], samples[rng_index(&r, i)]);
        REQUIRE(progress_history_of(samples.data(), count, 500, &in.history, a) == OK);
        REQUIRE(progress_predict(&in, &shuffled, a) == OK);
        CHECK(shuffled.estimate_ref_s == out.estimate_ref_s);
    }
}

TEST_CASE("progress: times and estimates may be of any unit", "[progress][property]")
{
    rng r = rng_create(6);
    evolution_setting setting = evolution_setting_init();
    setting.noise_ratio = 0.05;
    for (int round = 0; round < 60; round++) {
        test_arena a;
        auto model = static_cast<evolution_model>(round % EVOLUTION_MODEL_COUNT);
        evolution e = evolution_draw(model, 1000, &setting, &r);
        example plain({}), scaled({});
        for (int i = 1; i <= 40; i++) {
            double w = i * 10, estimate = evolution_report_ref_s(&e, w, &r);
            plain.points.push_back({w, w, estimate});
            scaled.points.push_back({w * 60, w * 1024, estimate * 1024});
        }
        auto one = plain.predict(a), other = scaled.predict(a);
        CHECK(other.source == one.source);
        CHECK(other.estimate_ref_s == Approx(1024 * one.estimate_ref_s).epsilon(1e-6));
        CHECK(other.low_ref_s == Approx(1024 * one.low_ref_s).epsilon(1e-4).margin(1e-6));
    }
}

TEST_CASE("progress: the fit beats extrapolation", "[progress][property]")
{
    // A small part of tests/bench/progress.c.
    const double shares[] = {0.2, 0.35, 0.6};
    rng r = rng_create(7);
    for (int cell = 0; cell < 9; cell++) {
        evolution_setting setting = evolution_setting_init();
        const double noise[] = {0, 0.05, 0.5};
        setting.noise_ratio = noise[cell % 3];
        double fit[3] = {0}, extrapolation[3] = {0};
        int held = 0, asked = 0;
        for (int task = 0; task < 30; task++) {
            evolution e = evolution_draw(static_cast<evolution_model>(cell / 3), 1000,
                                         &setting, &r);
            for (size_t k = 0; k < 3; k++) {
                test_arena a;
                example x({});
                for (double w = 5; w <= shares[k] * e.limit_ref_s; w += 5)
                    x.points.push_back({w, w, evolution_report_ref_s(&e, w, &r)});
                auto out = x.predict(a);
                double truth = e.limit_ref_s;
                fit[k] += std::fabs(out.estimate_ref_s - truth) / truth;
                extrapolation[k] += std::fabs(out.extrapolated_ref_s - truth) / truth;
                asked += k > 0;
                held += k > 0 && out.low_ref_s <= truth * 1.000001 &&
                        out.high_ref_s >= truth * 0.999999;
            }
        }
        CAPTURE(cell);
        for (size_t k = 0; k < 3; k++)
            CHECK(fit[k] < extrapolation[k]);
        CHECK(held >= 0.8 * asked);
    }
}

TEST_CASE("progress: options are checked", "[progress]")
{
    test_arena a;
    double value[PARAMS_MAX];
    error err = collecting_error(a);
    REQUIRE(params_count(progress_params) == PROGRESS_OPTION_COUNT);
    REQUIRE(params_bind(progress_params, nullptr, 0, value, &err) == OK);
    progress_options o{};
    REQUIRE(progress_options_bind(value, &o, &err) == OK);
    CHECK(o.min_samples == 8);
    CHECK(o.max_points == 500);
    CHECK(o.k_min == 0.5);
    CHECK(o.filter_window == 8);
    value[2] = 60; // k_min above k_max
    value[7] = 4;  // an even window
    CHECK(progress_options_bind(value, &o, &err) == ERR_INVALID);
    CHECK(err.item_count == 2);
}

TEST_CASE("progress: what finished tasks teach", "[progress]")
{
    test_arena a;
    std::vector<progress_point> points;
    for (int i = 1; i <= 100; i++) {
        double w = 20.0 * i;
        points.push_back({w, w, 2000 * (1 + 0.8 * std::exp(-5 * w / 2000))});
    }
    progress_history h{};
    h.points = points.data();
    h.count = h.sample_count = points.size();
    h.work_known = true;
    progress_score score{};
    REQUIRE(progress_score_of(&h, 2000, &score, a) == OK);
    CHECK(std::string(score.function) == "psi1");
    CHECK(score.amplitude_ratio == Approx(0.8).epsilon(1e-6));
    CHECK(score.decay_ratio == Approx(5).epsilon(1e-6));
    CHECK(score.fit_error[2] < 1e-6);
    CHECK(score.extrapolation_error[2] == Approx(0.8 * std::exp(-2.5)).epsilon(1e-6));
    CHECK(score.estimate_ratio[0] > score.estimate_ratio[3]);
    h.count = 0;
    REQUIRE(progress_score_of(&h, 2000, &score, a) == OK);
    CHECK(std::isnan(score.fit_error[0]));
    CHECK(score.function == nullptr);

    progress_application known{};
    known.task_count = 30;
    for (int k = 0; k < PROGRESS_SHARES; k++) {
        known.fit_error[k] = 0.3;
        known.extrapolation_error[k] = 0.2;
    }
    const double ratio[] = {2, 1.5, NONE, 1.1};
    std::copy(ratio, ratio + 4, known.estimate_ratio);
    CHECK(progress_fit_loses(&known));
    CHECK(progress_estimate_ratio(&known, 1) == 2);
    CHECK(progress_estimate_ratio(&known, 7.5) == Approx(1.75));
    CHECK(progress_estimate_ratio(&known, 30) == Approx(1.3));
    CHECK(progress_estimate_ratio(&known, 90) == Approx(1.1));
    example x(NOISY);
    x.in.known = &known;
    CHECK(x.predict(a).source == PROGRESS_FROM_policy);
    CHECK(x.predict(a).estimate_ref_s == 1018);
    known.task_count = 29;
    CHECK_FALSE(progress_fit_loses(&known));
    CHECK(x.predict(a).source == PROGRESS_FROM_fit);
    known.task_count = 4;
    CHECK(progress_estimate_ratio(&known, 1) == 1);
    CHECK(progress_estimate_ratio(nullptr, 1) == 1);
    CHECK_FALSE(progress_fit_loses(nullptr));
}

// learning.md 10.2, example 17
TEST_CASE("progress: the interval also speaks of the last report and of fewer",
          "[progress]")
{
    test_arena a;
    example x(NOISY);
    auto out = x.predict(a);
    CHECK(out.low_ref_s == Approx(896.376).epsilon(1e-6));
    CHECK(out.high_ref_s == Approx(1123.626).epsilon(1e-6));

    SECTION("a last report that is far from the limit widens it by half")
    {
        std::vector<double> far = NOISY;
        far.back() = 1300; // not far enough to be dropped
        example y(far);
        y.in.options.interval = PROGRESS_SPEC;
        auto spec = y.predict(a);
        y.in.options.interval = PROGRESS_STEADY;
        auto steady = y.predict(a);
        REQUIRE(steady.source == PROGRESS_FROM_fit);
        REQUIRE(steady.dropped_count == 0);
        double half = spec.high_ref_s - spec.estimate_ref_s +
                      0.5 * std::fabs(spec.estimate_ref_s - 1300);
        CHECK(steady.high_ref_s - steady.estimate_ref_s ==
              Approx(half * (1 + 10. / 8)).epsilon(1e-9));
    }
    SECTION("what two thirds of twelve reports or more would have said counts")
    {
        std::vector<double> all = {1556, 1344, 1251, 1142, 1123, 1063,
                                   1069, 1018, 1150, 1180, 1210, 1240};
        example y(all), first({all.begin(), all.begin() + 8});
        double earlier = first.predict(a).estimate_ref_s;
        y.in.options.interval = PROGRESS_SPEC;
        auto spec = y.predict(a);
        y.in.options.interval = PROGRESS_STEADY;
        auto steady = y.predict(a);
        REQUIRE(steady.source == PROGRESS_FROM_fit);
        double limit = spec.estimate_ref_s, half = spec.high_ref_s - limit +
                                                   0.5 * std::fabs(limit - 1240) +
                                                   std::fabs(limit - earlier);
        CHECK(std::fabs(limit - earlier) > 50);
        CHECK(steady.high_ref_s - limit == Approx(half * (1 + 10. / 12)).epsilon(1e-9));
    }
}

TEST_CASE("one bad report changes no prediction", "[progress]")
{
    test_arena a;
    std::vector<double> estimates{1556, 1344, 1251, 1142, 1123, 1063, 1069, 1018};
    auto predict = [&](bool screen) {
        std::vector<progress_sample> list;
        for (size_t i = 0; i < estimates.size(); i++) {
            double t = 100.0 * static_cast<double>(i + 1);
            list.push_back({t, 100 * t / estimates[i], NAN, NAN, NAN, NAN});
        }
        progress_in in{};
        progress_out out{};
        in.options = progress_options_init();
        in.options.screen = screen;
        in.initial_estimate_ref_s = NAN;
        REQUIRE(progress_history_of(list.data(), list.size(), 500, &in.history, a) == OK);
        REQUIRE(progress_predict(&in, &out, a) == OK);
        return out;
    };
    CHECK(predict(true).estimate_ref_s == Approx(1010.001).epsilon(1e-6));
    CHECK(predict(true).dropped_count == 0);
    estimates.push_back(9000); // 10 % at 900 s
    CHECK(predict(true).estimate_ref_s == Approx(1010.001).epsilon(1e-6));
    CHECK(predict(true).dropped_count == 1);
    CHECK(predict(false).estimate_ref_s > 9000);
    for (size_t at = 0; at < 9; at++) { // wherever it is
        estimates = {1556, 1344, 1251, 1142, 1123, 1063, 1069, 1018, 1020};
        estimates[at] = 20000;
        INFO(at);
        CHECK(predict(true).dropped_count == 1);
        CHECK(predict(true).estimate_ref_s == Approx(1010).epsilon(0.1));
    }
    estimates = {1000, 1000, 1000, 9000, 9000, 9000, 1000, 1000, 1000}; // a phase
    CHECK(predict(true).dropped_count == 0);
    for (int bad = 1; bad <= 4; bad++)
        for (int at : {8, 4}) { // three that say the same are a phase, at the end as well
            estimates = {1556, 1344, 1251, 1142, 1123, 1063, 1069, 1018};
            estimates.insert(estimates.begin() + at, bad, 9000);
            INFO(bad << " at " << at);
            CHECK(predict(true).dropped_count == size_t(bad < 3 ? bad : 0));
        }
    estimates = {1556, 1344, 1251, 1142, 1123, 1063, 1069, 1018, 9000, 40000, 9000};
    CHECK(predict(true).dropped_count == 3); // they do not say the same
    estimates = {1000, 9000, 1000, 1000};    // too few to tell
    CHECK(predict(true).dropped_count == 0);
    estimates = {1000, 1000, 1000, 1000, 1000}; // equal: nothing differs
    CHECK(predict(true).dropped_count == 0);
}
