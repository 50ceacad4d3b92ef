// performance_refine_test.cpp - sets that learn, are carried to another site, are
// summed over phases; and the earlier model.
#include "tests/performance_support.hpp"

#include <algorithm>

extern "C" {
#include "models/performance/porting.h"
#include "models/performance/preliminary.h"
}

namespace
{

using learned = struct perf_update; // a function has the same name

perf_model_set copy_of(const perf_model_set &set, arena *a)
{
    perf_model_set out{};
    perf_set_copy(&set, &out, a);
    return out;
}

learned learn(perf_model_set &set, const perf_sample &run, double predicted_s = NAN)
{
    learned u{};
    perf_update(&set, &run, predicted_s, nullptr, 0, &u);
    return u;
}

perf_sample dedicated(double n, double p, double bw, double t)
{
    return {n, p, 1, bw, t, true, false};
}

// Relative difference of two combinations' answers over some queries.
double distance(const perf_combination &x, const perf_combination &y)
{
    uint64_t state = 77;
    double worst = 0;
    for (int i = 0; i < 20; i++) {
        perf_query q = g1_query(state);
        double a = perf_combination_time_s(&x, &q), b = perf_combination_time_s(&y, &q);
        worst = std::max(worst, std::fabs(a - b) / (1 + std::fabs(b)));
    }
    return worst;
}

} // namespace

TEST_CASE("a run at a time gives what a fit of all runs gives", "[performance][property]")
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (auto profile : {PERF_THESIS, PERF_ROBUST}) {
            test_arena a;
            uint64_t state = seed;
            auto runs = g1_runs(state, 0.10);
            auto more = g1_runs(state, 0.25);
            perf_options options = perf_options_of(profile);
            trained t = train(runs, options, a);
            perf_model_set set = copy_of(t.set, a);

            for (auto &run : more) {
                learn(set, run);
                runs.push_back(run);
            }
            // The same combinations, refitted by LAPACK to all 120 runs.
            perf_model_set all = copy_of(set, a);
            perf_report report{};
            error err{};
            size_t seen = 0;
            all.options.replace_on_reform = false;
            REQUIRE(perf_reform(&all, runs.data(), runs.size(), nullptr, &report, a,
                                &err) == OK);
            for (size_t i = 0; i < set.sorted.count; i++)
                for (size_t j = 0; j < all.sorted.count; j++) {
                    const perf_combination &x = set.sorted.items[i];
                    const perf_combination &y = all.sorted.items[j];
                    if (!perf_combination_same(&x, &y))
                        continue;
                    seen++;
                    CHECK(x.sample_count == y.sample_count);
                    CHECK(std::fabs(x.standard_error - y.standard_error) <=
                          1e-9 * y.standard_error);
                    CHECK(distance(x, y) < 1e-9);
                    for (size_t k = 0; k < perf_term_count(&x); k++)
                        CHECK(x.coefficients[k] ==
                              Approx(y.coefficients[k]).epsilon(1e-9).margin(1e-15));
                }
            CHECK(seen > 0);
            CHECK(set.parallel_seen.sample_count == 80);
            CHECK(set.single_seen.sample_count == 40);
            CHECK(set.version == 61);
        }
}

TEST_CASE("W12: who is last five times in a row goes", "[performance]")
{
    const struct {
        size_t length, low;
    } cases[] = {{25, 2}, {9, 0}, {10, 1}, {200, 20}};

    for (auto &c : cases) {
        INFO("list of " << c.length);
        std::vector<perf_combination> items;
        for (size_t i = 0; i < c.length; i++)
            items.push_back(combination(perf_candidates[i % 77],
                                        perf_candidates[i / 77 % 77], 1 + (int)i % 8, 2,
                                        1));
        perf_combination dummy{};
        perf_model_set set = inline_set(&dummy);
        set.sorted = {items.data(), items.size()};
        for (auto &item : items)
            perf_combination_clear(&item);
        uint64_t state = 1;
        auto runs = g1_runs(state, 0.2);
        size_t evicted = 0;
        for (size_t i = 20; i < 60; i++) {
            std::vector<perf_combination> before(set.sorted.items,
                                                 set.sorted.items + set.sorted.count);
            size_t low = set.sorted.count / 10;
            bool fits;
            learned u = learn(set, runs[i]);

            evicted += u.evicted;
            REQUIRE(set.sorted.count == before.size() - u.evicted);
            fits = std::isfinite(set.sorted.items[0].standard_error);
            // While nothing fits nobody is counted; then the last few, and who leaves
            // was among them.
            for (size_t r = 0; r < set.sorted.count; r++) {
                const perf_combination &now = set.sorted.items[r];
                auto old = std::find_if(before.begin(), before.end(), [&](auto &x) {
                    return perf_combination_same(&x, &now);
                });
                bool last = fits && r >= set.sorted.count - (low - u.evicted);
                REQUIRE(old != before.end());
                REQUIRE(now.low_rank_streak == (last ? old->low_rank_streak + 1 : 0));
                REQUIRE(now.low_rank_streak < 5);
            }
            for (auto &old : before) {
                bool stays =
                    std::any_of(set.sorted.items, set.sorted.items + set.sorted.count,
                                [&](auto &x) { return perf_combination_same(&x, &old); });
                if (!stays)
                    REQUIRE(old.low_rank_streak == 4);
            }
        }
        CHECK((evicted > 0) == (c.low > 0));
        CHECK(set.sorted.count >= 9);
    }
}

TEST_CASE("fifty predictions call for a new list", "[performance]")
{
    test_arena a;
    uint64_t state = 6;
    auto runs = g1_runs(state, 0.1);
    trained t = train(runs, perf_options_of(PERF_THESIS), a);
    perf_model_set set = copy_of(t.set, a);
    size_t calls = 0;

    for (int i = 0; i < 50; i++) {
        perf_sample run = g1_group(state, 4, 1, 100, 0.1, {1, truth_a})[0];
        learned u = learn(set, run, run.time_s * 1.1);
        CHECK(u.ppe_ratio == Approx(0.1));
        CHECK(u.used);
        calls += u.reform_due;
        runs.push_back(run);
    }
    CHECK(calls == 1);
    CHECK(set.predictions_since_reform == 50);
    perf_report report{};
    error err{};
    perf_model_set before = copy_of(set, a);
    REQUIRE(perf_reform(&set, runs.data(), runs.size(), nullptr, &report, a, &err) == OK);
    CHECK(set.predictions_since_reform == 0);
    CHECK(set.version == before.version + 1);
    CHECK(report.fits_evaluated > 10000);
    REQUIRE(set.sorted.count > 0);
    for (size_t i = 0; i < set.sorted.count; i++) {
        CHECK(set.sorted.items[i].sample_count == 90);
        CHECK(set.sorted.items[i].rank_error <= 1.2 * set.sorted.items[0].rank_error);
    }
}

TEST_CASE("a run far from its prediction is an outlier", "[performance]")
{
    test_arena a;
    uint64_t state = 6;
    auto runs = g1_runs(state, 0.1);
    for (auto profile : {PERF_THESIS, PERF_ROBUST}) {
        trained t = train(runs, perf_options_of(profile), a);
        perf_model_set set = copy_of(t.set, a);
        learned u = learn(set, runs[50], runs[50].time_s * 4.1);
        CHECK(u.outlier);
        CHECK(u.used == (profile == PERF_THESIS));
        CHECK(set.outlier_count == 1);
        CHECK_FALSE(learn(set, runs[50], runs[50].time_s * 3.9).outlier);
        perf_sample bad = runs[50];
        bad.time_s = -1;
        u = learn(set, bad, 10);
        CHECK_FALSE(u.used);
        CHECK(std::isnan(u.ppe_ratio));
    }
}

TEST_CASE("a set that nothing fits any more asks for a new list", "[performance]")
{
    test_arena a;
    uint64_t state = 1;
    trained t = train(g1_runs(state, 0), perf_options_of(PERF_THESIS), a);
    perf_model_set set = copy_of(t.set, a);
    perf_sample tiny = {0.5, 2, 0.5, 0.5, 1, false, false};
    bool logs_only = true;

    for (size_t i = 0; i < set.sorted.count; i++)
        logs_only = logs_only && perf_mask_needs_log(set.sorted.items[i].comp_mask |
                                                     set.sorted.items[i].comm_mask);
    learned u = learn(set, tiny);
    CHECK(u.reform_due == logs_only);
    CHECK(predict(set, {1000, 4, 0.5, 40}).status == PERF_READY);
}

TEST_CASE("negative times fall back to coefficients that cannot be", "[performance]")
{
    // N - 1000 for the computation: negative below N = 1000.
    perf_combination c = combination(1U | 1U << 3, 0, PERF_NONE, 2, PERF_NONE);
    for (double n : {1500.0, 2000.0, 2500.0, 3000.0, 3500.0}) {
        perf_sample run = {n, 2, 1, 10, (n - 1000) / 2, false, false};
        perf_combination_add(&c, &run, {false, false});
    }
    perf_combination_solve(&c, {false, false});
    REQUIRE(c.coefficients[0] == Approx(-1000));
    perf_model_set set = inline_set(&c);
    perf_prediction p = predict(set, {2000, 2, 1, 10});
    CHECK(p.time_s == Approx(500));
    CHECK(p.method == PERF_NATIVE);
    p = predict(set, {500, 2, 1, 10});
    CHECK(p.status == PERF_READY);
    CHECK(p.method == PERF_FALLBACK);
    CHECK(p.time_s > 0);
    CHECK((p.warnings & PERF_WARN_FELL_BACK) != 0);

    // Without statistics there is nothing to refit.
    perf_combination bare =
        combination(1U | 1U << 3, 0, PERF_NONE, 2, PERF_NONE, {-1000, 1});
    set = inline_set(&bare);
    CHECK(predict(set, {500, 2, 1, 10}).status == PERF_NO_USABLE_COMBINATION);
    perf_term term;
    double single_s;
    CHECK(perf_set_term(&set, 500, &term, &single_s) == PERF_NO_USABLE_COMBINATION);
    CHECK(perf_set_term(&set, 2000, &term, &single_s) == PERF_READY);
    CHECK(term.comp_s == 1000);
    CHECK(std::isnan(single_s));
}

TEST_CASE("a bare combination raises a bandwidth that its logarithm refuses",
          "[performance]")
{
    perf_combination c = combination(1U << 3, 1U << 3, 8, 2, 2, {1, 1});
    perf_model_set set = inline_set(&c);
    perf_prediction p = predict(set, {100, 2, 1, 0.5});
    CHECK(p.status == PERF_READY);
    CHECK((p.warnings & PERF_WARN_BANDWIDTH_RAISED) != 0);
    CHECK(p.communication_s == Approx(50 / (1.001 * std::log(1.001))));
    p = predict(set, {100, 1, 0.001, NAN}); // its own f_comp, without the rest
    CHECK(p.time_s == Approx(10000));
    CHECK((p.warnings & PERF_WARN_CPU_RAISED) != 0);
}

TEST_CASE("far from what was seen the best five are asked", "[performance]")
{
    std::vector<perf_combination> items;
    for (double x : {1000.0, 1.0, 1.1, 1.2, 1.3})
        items.push_back(combination(1U << 3, 0, PERF_NONE, 2, PERF_NONE, {x}));
    perf_combination dummy{};
    perf_model_set set = inline_set(&dummy);
    set.sorted = {items.data(), items.size()};
    set.options.guard = true;
    perf_sample seen = {100, 4, 0.5, 10, 1, false, false};
    perf_seen_add(&set.parallel_seen, &seen);

    perf_prediction p = predict(set, {100, 4, 0.5, 10});
    CHECK(p.time_s == Approx(1000.0 * 100 / 2));
    CHECK((p.warnings & PERF_WARN_GUARDED) == 0);
    p = predict(set, {201, 4, 0.5, 10});
    CHECK((p.warnings & PERF_WARN_GUARDED) != 0);
    CHECK(p.time_s == Approx(1.2 * 201 / 2));
    CHECK(p.head_time_s == Approx(1000.0 * 201 / 2));
    CHECK(p.rank == 4);
    CHECK(p.problem_size_ratio == Approx(2.01));
    set.options.guard = false;
    CHECK(predict(set, {201, 4, 0.5, 10}).time_s == Approx(1000.0 * 201 / 2));
}

// ---- porting ----

static perf_model_set w13_reference(perf_combination *c)
{
    *c = combination(1U << 7, 1U << 3, 2, 2, 1, {2e-4, 10});
    return inline_set(c);
}

TEST_CASE("W13: factors from dedicated runs", "[performance]")
{
    test_arena a;
    perf_combination c;
    perf_model_set reference = w13_reference(&c);
    perf_porting port{};
    const double noise[] = {0.02, -0.01, 0.015, -0.02, 0.01, -0.015};

    auto runs_of = [&](double r_cpu, double r_bw, double bw, double sign) {
        std::vector<perf_sample> runs = {dedicated(1000, 1, NAN, 200 * r_cpu)};
        for (int i = 0; i < 6; i++) {
            double n = 400 + 200 * i;
            double t = r_cpu * 2e-4 * n * n / 2 + r_bw * 10 * n / (bw * std::sqrt(2.0));
            runs.push_back(dedicated(n, 2, bw, t * (1 + sign * noise[i])));
        }
        return runs;
    };
    auto port_it = [&](double sign) {
        auto ours = runs_of(1, 1, 95, sign), theirs = runs_of(1.6, 1.3, 400, -sign);
        REQUIRE(perf_port(&reference, ours.data(), ours.size(), theirs.data(),
                          theirs.size(), 1, &port, a) == OK);
        REQUIRE(port.outcome == PERF_READY);
        CHECK(port.cpu_factor == Approx(1.6).epsilon(1e-12));
    };

    port_it(0);
    CHECK(port.bandwidth_factor == Approx(1.3).epsilon(1e-9));
    CHECK(port.goodness_reference < 1e-12);
    CHECK(port.status == PERF_PORTING_MATCHED);

    port_it(1);
    CHECK(port.fitted.coefficients[0] == Approx(1.9256614544e-4).epsilon(1e-9));
    CHECK(port.fitted.coefficients[1] == Approx(10.426597912).epsilon(1e-9));
    CHECK(port.goodness_reference == Approx(0.0125241115).epsilon(1e-8));
    CHECK(port.best_factor == Approx(1.6739961775).epsilon(1e-9));
    CHECK(port.status == PERF_PORTING_NOT_MATCHED);
    CHECK(port.bandwidth_factor == Approx(1.4962356561).epsilon(1e-9));
    CHECK(port.goodness_target == Approx(0.0200404963).epsilon(1e-8));

    reference.options.rule.relative = true;
    port_it(1);
    CHECK(port.fitted.coefficients[0] == Approx(1.9285201857e-4).epsilon(1e-9));
    CHECK(port.fitted.coefficients[1] == Approx(10.3892373323).epsilon(1e-9));
    CHECK(port.goodness_reference == Approx(0.0126699437).epsilon(1e-8));
    CHECK(port.best_factor == Approx(1.4322428613).epsilon(1e-9));
    CHECK(port.status == PERF_PORTING_NOT_MATCHED);
    CHECK(port.bandwidth_factor == Approx(1.4962356561).epsilon(1e-9));
    CHECK(port.goodness_target == Approx(0.0196665).epsilon(1e-5));
}

TEST_CASE("a porting without what it needs says so", "[performance]")
{
    test_arena a;
    perf_combination c;
    perf_model_set reference = w13_reference(&c);
    perf_porting port{};
    std::vector<perf_sample> one = {dedicated(1000, 1, NAN, 200)};
    auto outcome = [&](const std::vector<perf_sample> &x,
                       const std::vector<perf_sample> &y) {
        REQUIRE(perf_port(&reference, x.data(), x.size(), y.data(), y.size(), 1, &port,
                          a) == OK);
        return port.outcome;
    };
    CHECK(outcome({}, {}) == PERF_INSUFFICIENT_SAMPLES);
    CHECK(outcome(one, one) == PERF_INSUFFICIENT_SAMPLES);
    std::vector<perf_sample> same = one, absurd = one;
    for (int i = 0; i < 6; i++) {
        same.push_back(dedicated(1000, 2, 95, 150));
        absurd.push_back(dedicated(400 + 200 * i, 2, 95, 1));
    }
    CHECK(outcome(same, same) == PERF_INSUFFICIENT_SAMPLES); // one size: one mean
    // Communication that would have to be negative.
    REQUIRE(outcome(absurd, absurd) == PERF_READY);
    CHECK(port.bandwidth_factor > 0);
    std::vector<perf_sample> other = absurd;
    other[0].problem_size = 77;
    CHECK(outcome(absurd, other) == PERF_INSUFFICIENT_SAMPLES);

    // Both sides the same function of N: dedicated runs cannot tell them apart.
    perf_combination twin = combination(1U << 7, 1U << 7, 2, 2, 2, {1e-4, 1});
    perf_model_set twins = inline_set(&twin);
    REQUIRE(perf_port(&twins, absurd.data(), absurd.size(), absurd.data(), absurd.size(),
                      1, &port, a) == OK);
    CHECK(port.status == PERF_PORTING_NOT_IDENTIFIABLE);
    CHECK(port.bandwidth_factor == 1);
}

TEST_CASE("19.5: a model carried to another site", "[performance]")
{
    test_arena a;
    uint64_t state = 1;
    trained t = train(g1_runs(state, 0), perf_options_of(PERF_THESIS), a);
    auto target_s = [](double n, double p, double cpu, double bw) {
        return 1.6 * 2e-4 * n * n / (cpu * p) +
               (p > 1 ? 1.3 * 0.5 * n / (bw * std::sqrt(p)) : 0);
    };
    std::vector<perf_sample> ours = {dedicated(1000, 1, NAN, truth_a(1000, 1, 1, 1))};
    std::vector<perf_sample> theirs = {dedicated(1000, 1, NAN, target_s(1000, 1, 1, 1))};
    for (int n = 400; n <= 1400; n += 200) {
        ours.push_back(dedicated(n, 2, 95, truth_a(n, 2, 1, 95)));
        theirs.push_back(dedicated(n, 2, 400, target_s(n, 2, 1, 400)));
    }
    perf_porting port{};
    REQUIRE(perf_port(&t.set, ours.data(), ours.size(), theirs.data(), theirs.size(), 1,
                      &port, a) == OK);
    CHECK(port.cpu_factor == Approx(1.6).epsilon(1e-9));
    CHECK(port.bandwidth_factor == Approx(1.3).epsilon(1e-6));

    perf_model_set set{};
    REQUIRE(perf_ported_set(&t.set, &port, &set, a) == OK);
    CHECK(set.state == PERF_STATE_PORTED);
    auto right = [&](perf_method method) {
        for (int i = 0; i < 50; i++) {
            perf_query q = g1_query(state);
            perf_prediction p = predict(set, q);
            REQUIRE(p.status == PERF_READY);
            CHECK(p.method == method);
            CHECK(p.time_s == Approx(target_s(q.problem_size, q.processors,
                                              q.cpu_available_ratio, q.bandwidth_mbps))
                                  .epsilon(1e-6));
        }
    };
    right(PERF_SCALED);
    CHECK(predict(set, {1000, 1, 0.5, NAN}).time_s == Approx(640).epsilon(1e-6));
    perf_term term;
    double single_s;
    REQUIRE(perf_set_term(&set, 1000, &term, &single_s) == PERF_READY);
    CHECK(term.comp_s == Approx(1.6 * 200).epsilon(1e-6));
    CHECK(term.comm == Approx(1.3 * 500).epsilon(1e-6));
    CHECK(single_s == Approx(320).epsilon(1e-6));

    // The target drifts away from the factors: its own runs say so.
    auto drifted = [&](const perf_query &q) {
        return 2 * target_s(q.problem_size, q.processors, q.cpu_available_ratio,
                            q.bandwidth_mbps);
    };
    size_t training = 0;
    for (int i = 0; i < 30; i++) {
        perf_query q = g1_query(state);
        perf_sample run = {q.problem_size,
                           q.processors,
                           q.cpu_available_ratio,
                           q.bandwidth_mbps,
                           drifted(q),
                           false,
                           false};
        learned u = learn(set, run);
        CHECK(u.used);
        CHECK_FALSE(u.reform_due);
        training += u.training_due;
    }
    CHECK(training == 1);
    perf_query q = g1_query(state);
    perf_prediction p = predict(set, q);
    CHECK(p.method == PERF_REFIT);
    CHECK(p.time_s == Approx(drifted(q)).epsilon(1e-6));
}

// ---- phases ----

TEST_CASE("W14: phases add up", "[performance]")
{
    perf_combination c[] = {combination(1U << 7, 1U << 3, 2, 2, 1, {2e-4, 0.5}),
                            combination(1U << 4, 1U << 7, 2, 2, 2, {3e-3, 2e-4}),
                            combination(1U << 3, 1U << 3, 2, 1, 15, {1e-2, 2})};
    const double want[] = {208.83883476, 13.90135369, 222.08628979};
    perf_model_set set[] = {inline_set(&c[0]), inline_set(&c[1]), inline_set(&c[2])};
    const perf_model_set *sets[] = {&set[0], &set[1], &set[2]};
    const perf_query query = {2000, 8, 0.5, 40};
    const perf_query queries[] = {query, query, query};
    perf_prediction phases[3];
    double time_s;

    REQUIRE(perf_predict_phases(sets, queries, 3, nullptr, phases, &time_s) ==
            PERF_READY);
    for (int i = 0; i < 3; i++)
        CHECK(phases[i].time_s == Approx(want[i]).epsilon(1e-9));
    CHECK(time_s == Approx(444.82647825).epsilon(1e-10));

    sets[1] = nullptr;
    CHECK(perf_predict_phases(sets, queries, 3, nullptr, phases, &time_s) ==
          PERF_PHASE_MODEL_MISSING);
    CHECK(std::isnan(time_s));
    CHECK(phases[1].status == PERF_PHASE_MODEL_MISSING);
    const double share[] = {0.5, 0.2, 0.3};
    REQUIRE(perf_predict_phases(sets, queries, 3, share, phases, &time_s) == PERF_READY);
    CHECK(time_s == Approx((want[0] + want[2]) / 0.8).epsilon(1e-9));
    const perf_model_set *none[] = {nullptr};
    CHECK(perf_predict_phases(none, queries, 1, share, phases, &time_s) ==
          PERF_PHASE_MODEL_MISSING);
}

// ---- the earlier model ----

namespace
{

double w4_s(double n, double cpu, double bw)
{
    return 1e-9 * n * n * n + 2e-6 * n * n + 1e-3 * n + 1 +
           (2e-9 * n * n * n + 1e-6 * n * n + 5e-4 * n + 0.5) / cpu +
           (4e-5 * n * n + 1e-3 * n + 2) / bw;
}

std::vector<perf_sample> w4_runs(uint64_t &state, int from, int to)
{
    std::vector<perf_sample> runs;
    for (int n = from; n <= to; n += 100) {
        double cpu = between(state, 0.065, 0.72), bw = between(state, 2, 80);
        runs.push_back({(double)n, 4, cpu, bw, w4_s(n, cpu, bw), false, false});
    }
    return runs;
}

perf_preliminary preliminary(const std::vector<perf_sample> &runs, size_t comp,
                             size_t comm, bool relative)
{
    test_arena a;
    error err{};
    perf_preliminary m{};
    REQUIRE(perf_preliminary_fit(runs.data(), runs.size(), comp, comm, relative, &m, a,
                                 &err) == OK);
    return m;
}

double time_of(const perf_preliminary &m, const perf_sample &s)
{
    perf_query q = {s.problem_size, s.processors, s.cpu_available_ratio,
                    s.bandwidth_mbps};
    perf_prediction p{};
    perf_preliminary_predict(&m, &q, &p);
    return p.time_s;
}

double appe_over(const perf_preliminary &m, const std::vector<perf_sample> &runs)
{
    double sum = 0;
    for (auto &run : runs)
        sum += std::fabs(time_of(m, run) - run.time_s) / run.time_s;
    return 100 * sum / (double)runs.size();
}

} // namespace

TEST_CASE("W4: eleven coefficients come back", "[performance]")
{
    uint64_t state = 42;
    auto runs = w4_runs(state, 100, 8000);
    auto larger = w4_runs(state, 9000, 12000);
    REQUIRE(runs.size() == 80);
    CHECK(runs[2].time_s == Approx(10.4226988485).epsilon(1e-11));
    CHECK(runs[79].time_s == Approx(4118.5157708967).epsilon(1e-12));
    CHECK(larger[0].time_s == Approx(17626.15833414).epsilon(1e-12));

    perf_preliminary m = preliminary(runs, 3, 2, false);
    REQUIRE(m.status == PERF_READY);
    REQUIRE(m.coefficient_count == 11);
    const double want[] = {1e-9, 2e-6, 1e-3, 1, 2e-9, 1e-6, 5e-4, 0.5, 4e-5, 1e-3, 2};
    for (int k = 0; k < 11; k++)
        CHECK(m.coefficients[k] == Approx(want[k]).epsilon(1e-8));
    CHECK(m.standard_error * m.standard_error * 69 < 1e-20);
    CHECK(appe_over(m, larger) < 1e-9);

    // The same, a run at a time; compared where the model is used.
    perf_preliminary one = preliminary({}, 3, 2, false);
    CHECK(one.status == PERF_INSUFFICIENT_SAMPLES);
    CHECK(std::isnan(time_of(one, runs[0])));
    for (auto &run : runs)
        CHECK(perf_preliminary_update(&one, &run));
    for (auto &run : larger)
        CHECK(time_of(one, run) == Approx(time_of(m, run)).epsilon(1e-9));
}

TEST_CASE("W4: relative errors help against noise", "[performance]")
{
    uint64_t state = 42;
    auto runs = w4_runs(state, 100, 8000);
    auto larger = w4_runs(state, 9000, 12000);
    double plain = 0, relative = 0;

    for (uint64_t seed = 100; seed < 120; seed++) {
        uint64_t noise = seed;
        auto noisy = runs;
        for (auto &run : noisy)
            run.time_s *= 1 + 0.2 * (2 * unit(noise) - 1);
        plain += appe_over(preliminary(noisy, 3, 2, false), larger) / 20;
        relative += appe_over(preliminary(noisy, 3, 2, true), larger) / 20;
    }
    CHECK(plain == Approx(12.47).margin(0.006));
    CHECK(relative == Approx(4.51).margin(0.006));
}

TEST_CASE("a preliminary model says what it cannot do", "[performance]")
{
    test_arena a;
    uint64_t state = 42;
    auto runs = w4_runs(state, 100, 8000);
    perf_preliminary m{};
    error err{};

    auto few = std::vector<perf_sample>(runs.begin(), runs.begin() + 11);
    CHECK(preliminary(few, 3, 2, false).status == PERF_INSUFFICIENT_SAMPLES);
    auto constant = runs;
    for (auto &run : constant)
        run.cpu_available_ratio = 0.5;
    CHECK(preliminary(constant, 3, 2, false).status == PERF_RANK_DEFICIENT);
    auto mixed = runs;
    mixed[5].processors = 8;
    CHECK(perf_preliminary_fit(mixed.data(), mixed.size(), 3, 2, false, &m, a, &err) ==
          ERR_INVALID);
    CHECK(perf_preliminary_fit(runs.data(), runs.size(), 5, 2, false, &m, a, &err) ==
          ERR_INVALID);
    CHECK(perf_preliminary_fit(runs.data(), runs.size(), 3, 5, false, &m, a, &err) ==
          ERR_INVALID);
    m = preliminary(runs, 3, 2, true);
    CHECK_FALSE(perf_preliminary_update(&m, &mixed[5]));
    perf_sample far = {1e6, 4, 0.01, 0.02, 1, false, false};
    perf_query q = {far.problem_size, 4, 0.01, 0.02};
    perf_prediction p{};
    perf_preliminary_predict(&m, &q, &p);
    CHECK((p.warnings & PERF_WARN_SIZE_FAR) != 0);
    CHECK((p.status != PERF_READY || p.time_s > 0));
    q.processors = 8;
    perf_preliminary_predict(&m, &q, &p);
    CHECK(p.status == PERF_NO_USABLE_COMBINATION);
    q = {1000, 4, 0, 10};
    perf_preliminary_predict(&m, &q, &p);
    CHECK(p.status == PERF_RESOURCE_UNUSABLE);
}
