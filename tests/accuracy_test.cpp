// accuracy_test.cpp - metrics, intervals, baselines and training plans.
#include "tests/support.hpp"

#include <algorithm>
#include <limits>

extern "C" {
#include "models/performance/accuracy.h"
#include "models/performance/baseline.h"
#include "models/performance/interval.h"
#include "models/performance/plan_runs.h"
}

namespace
{

const double NONE = std::numeric_limits<double>::quiet_NaN();

accuracy accuracy_of(const std::vector<accuracy_pair> &pairs)
{
    test_arena a;
    error err{};
    accuracy out{};
    REQUIRE(accuracy_of(pairs.data(), pairs.size(), &out, a, &err) == OK);
    return out;
}

struct losses {
    std::vector<loss_group> groups;
    double max_pct;
};

losses losses_of(const std::vector<loss_row> &rows)
{
    test_arena a;
    error err{};
    loss_group *groups = nullptr;
    size_t count = 0;
    losses out{};
    REQUIRE(scheduling_loss(rows.data(), rows.size(), &groups, &count, &out.max_pct, a,
                            &err) == OK);
    out.groups.assign(groups, groups + count);
    return out;
}

struct prediction_interval interval_of(double time_s, double level,
                                       const std::vector<double> &executions,
                                       const std::vector<double> &others,
                                       prediction_basis basis = PREDICTION_BASIS_TRAINING)
{
    test_arena a;
    error err{};
    prediction_ratios r = {executions.data(), executions.size(), others.data(),
                           others.size(), basis};
    struct prediction_interval out {
    };
    REQUIRE(prediction_interval(time_s, level, &r, &out, a, &err) == OK);
    return out;
}

// A plan as text: "1x20 2x20 ...", dedicated ones behind a bar.
std::string plan_text(run_plan_in in)
{
    test_arena a;
    error err{};
    struct run_plan plan {
    };
    REQUIRE(run_plan(&in, &plan, a, &err) == OK);
    if (plan.reason)
        return plan.reason;
    auto count = [](const planned_run *runs, size_t n) {
        std::string text;
        for (size_t i = 0, k; i < n; i = k) {
            for (k = i; k < n && runs[k].processors == runs[i].processors;)
                k++;
            text +=
                std::to_string(runs[i].processors) + "x" + std::to_string(k - i) + " ";
        }
        return text;
    };
    for (size_t i = 0; i < plan.run_count; i++) {
        CHECK(plan.runs[i].problem_size >= in.min_problem_size - 0.5);
        CHECK(plan.runs[i].problem_size <= in.max_problem_size + 0.5);
        CHECK_FALSE(plan.runs[i].dedicated);
    }
    return count(plan.runs, plan.run_count) + "| " +
           count(plan.dedicated_runs, plan.dedicated_run_count);
}

double model_time(const void *models, size_t model, const run_candidate *c)
{
    double exponent = static_cast<const double *>(models)[model];
    return exponent < 0
               ? NONE
               : std::pow(c->problem_size, exponent) / static_cast<double>(c->processors);
}

} // namespace

// ---- metrics ----

TEST_CASE("W5: standard error and mean percentage error", "[accuracy]")
{
    std::vector<accuracy_pair> p = {{100, 110}, {200, 190}, {300, 310}, {400, 380}};
    CHECK(standard_error(p.data(), p.size(), 2) == Approx(18.7082869).epsilon(1e-8));
    CHECK(std::isnan(standard_error(p.data(), 2, 2)));
    accuracy a = accuracy_of(p);
    CHECK(a.appe_pct == Approx(5.8333333).epsilon(1e-8));
    CHECK(a.bias_pct == Approx((10 - 5 + 10.0 / 3 - 5) / 4).epsilon(1e-12));
    CHECK(a.worst_ppe_pct == Approx(10).epsilon(1e-12));
    CHECK(a.median_ppe_pct == Approx(5).epsilon(1e-12));
    CHECK(a.ppe_sd_pct ==
          Approx(std::sqrt((17.361111 + 0.694444 + 6.25 + 0.694444) / 3)).epsilon(1e-6));
}

TEST_CASE("shares are strict, and small samples have no deviation", "[accuracy]")
{
    accuracy a = accuracy_of({{100, 70}, {100, 130.0 - 1e-9}, {100, 60}, {100, 100}});
    CHECK(a.below_30_pct == 50); // 30 % itself is not below
    CHECK(a.below_40_pct == 75);
    CHECK(std::isnan(accuracy_of({{5, 4}}).ppe_sd_pct));
    CHECK(std::isnan(accuracy_of({}).appe_pct));
    CHECK(accuracy_of({{1e-300, 1e-300}, {1e300, 2e300}}).appe_pct == Approx(50));
}

TEST_CASE("wrong pairs are all named", "[accuracy]")
{
    test_arena a;
    error err = collecting_error(a);
    accuracy out{};
    accuracy_pair p[] = {{0, 1},    {1, NONE},     {-1, HUGE_VAL},
                         {NONE, 1}, {HUGE_VAL, 1}, {1, 1}};
    CHECK(accuracy_of(p, 6, &out, a, &err) == ERR_INVALID);
    CHECK(err.item_count == 6);
    CHECK(std::string(err.first->pointer) == "/pairs/0/actual_s");
}

TEST_CASE("W15: the loss of choosing by prediction", "[accuracy]")
{
    // Table 3.4, first row: chosen 987.27 s, best 951.02 s
    losses l = losses_of({{2000, 8, 987.27, 900, 0}, {2000, 4, 951.02, 950, 0}});
    REQUIRE(l.groups.size() == 1);
    CHECK(l.groups[0].loss_pct == Approx(3.8117).epsilon(1e-4));
    CHECK(l.groups[0].processors == 8);
    CHECK(l.max_pct == l.groups[0].loss_pct);

    // equal predictions: smaller N, then smaller P; an empty group has no loss
    l = losses_of({{300, 2, 40, 10, 2},
                   {200, 4, 30, 10, 2},
                   {200, 2, 20, 10, 2},
                   {100, 1, 10, 11, 2},
                   {1, 1, 5, 5, 0}});
    REQUIRE(l.groups.size() == 3);
    CHECK(l.groups[2].chosen_s == 20);
    CHECK(l.groups[2].best_s == 10);
    CHECK(l.groups[2].loss_pct == Approx(100).epsilon(1e-12));
    CHECK(l.groups[1].row_count == 0);
    CHECK(std::isnan(l.groups[1].loss_pct));
    CHECK(l.groups[0].loss_pct == 0);
    CHECK(losses_of({}).groups.empty());

    test_arena a;
    error err = collecting_error(a);
    loss_row bad[] = {{1, 1, -1, 1, 0}, {1, 1, 1, NONE, 9}};
    loss_group *groups;
    size_t count;
    double most;
    CHECK(scheduling_loss(bad, 2, &groups, &count, &most, a, &err) == ERR_INVALID);
    CHECK(err.item_count == 3);
}

TEST_CASE("sizes group while their dedicated times span 50 s", "[accuracy]")
{
    test_arena a;
    error err = collecting_error(a);
    const double size[] = {400, 100, 200, 300, 100, 500},
                 time[] = {161, 10, 60, 61, 12, 90};
    size_t group[6];
    REQUIRE(loss_groups(size, time, 6, group, a, &err) == OK);
    const size_t want[] = {2, 0, 0, 1, 0, 3};
    CHECK(std::equal(group, group + 6, want));
    const double bad[] = {0, NONE, 1, 1, 1, 1};
    CHECK(loss_groups(bad, bad, 2, group, a, &err) == ERR_INVALID);
    CHECK(err.item_count == 4);
}

// ---- intervals ----

TEST_CASE("W17: the interval of ten ratios", "[accuracy]")
{
    std::vector<double> ratios = {1.1, 0.8, 1.5, 0.95, 1.0, 1.05, 0.9, 1.15, 1.2, 1.3};
    auto i = interval_of(100, 0.8, ratios, {});
    CHECK(i.low_s == Approx(89).epsilon(1e-12));
    CHECK(i.high_s == Approx(132).epsilon(1e-12));
    CHECK(i.basis == PREDICTION_BASIS_EXECUTIONS);
    CHECK(i.ratio_count == 10);
    CHECK(std::string(prediction_basis_names[i.basis]) == "executions");
}

TEST_CASE("what an interval rests on", "[accuracy]")
{
    const std::vector<double> nine(9, 1.1), three = {0.5, 1, 2}, two = {1, 2};
    auto i = interval_of(10, 0.8, nine, three);
    CHECK(i.basis == PREDICTION_BASIS_TRAINING);
    CHECK(i.ratio_count == 3);
    CHECK(i.low_s == Approx(6).epsilon(1e-12));
    CHECK(interval_of(10, 0.8, nine, three, PREDICTION_BASIS_REFERENCE).basis ==
          PREDICTION_BASIS_REFERENCE);
    i = interval_of(10, 0.8, nine, two);
    CHECK(i.basis == PREDICTION_BASIS_NONE);
    CHECK(std::isnan(i.low_s));
    // the latest fifty; what is no ratio is passed over
    std::vector<double> many(100, 9.0);
    many.insert(many.end(), 50, 1.0);
    many.insert(many.end(), {NONE, -1, 0, HUGE_VAL});
    i = interval_of(10, 0.8, many, {});
    CHECK(i.ratio_count == 50);
    CHECK(i.high_s == 10);
}

TEST_CASE("eight of ten runs fall into their interval", "[accuracy][property]")
{
    rng random = rng_create(77);
    auto ratio = [&] {
        return std::exp(0.3 * std::sqrt(-2 * std::log1p(-rng_uniform(&random))) *
                        std::cos(2 * M_PI * rng_uniform(&random)));
    };
    for (size_t known : {size_t{12}, size_t{30}, size_t{50}}) {
        double inside = 0;
        for (int round = 0; round < 1500; round++) {
            std::vector<double> ratios(known);
            for (auto &r : ratios)
                r = ratio();
            auto i = interval_of(100, 0.8, ratios, {});
            double actual_s = 100 * ratio();
            inside += actual_s >= i.low_s && actual_s <= i.high_s;
        }
        INFO(known << " ratios: " << inside / 15 << " %");
        CHECK(inside / 1500 > 0.68);
        CHECK(inside / 1500 < 0.84);
    }
}

// ---- baselines ----

TEST_CASE("W16: stochastic values, as normal distributions and as intervals",
          "[accuracy]")
{
    test_arena a;
    error err = collecting_error(a);
    const stochastic_work work = {200, 1000, 1};
    const stochastic cpu[] = {{0.5, 0.1}}, link[] = {{40, 8}};
    stochastic_in in = {&work, 1, cpu, 1, link, 1, 100};
    struct stochastic_time t {
    };
    REQUIRE(stochastic_time(&in, &t, &err) == OK);
    CHECK(t.normal.mean == Approx(425).epsilon(1e-12));
    CHECK(t.normal.spread == Approx(80.1561).epsilon(1e-6));
    CHECK(t.interval.low == Approx(354.1667).epsilon(1e-6));
    CHECK(t.interval.high == Approx(531.25).epsilon(1e-12));

    // twice under the same load: twice as much, and as uncertain; the slowest counts
    const stochastic_work twice = {200, 1000, 2};
    const stochastic cpus[] = {{0.9, 0}, {0.5, 0.1}};
    in = {&twice, 1, cpus, 2, link, 1, 100};
    REQUIRE(stochastic_time(&in, &t, &err) == OK);
    CHECK(t.normal.mean == Approx(850).epsilon(1e-12));
    CHECK(t.normal.spread == Approx(160.3122).epsilon(1e-6));
    CHECK(t.interval.high == Approx(1062.5).epsilon(1e-12));

    const stochastic bad[] = {{0, 0.1}, {NONE, 1}, {1, -1}};
    const stochastic_work idle = {-1, NONE, 0};
    in = {&idle, 1, bad, 3, bad, 1, 0};
    CHECK(stochastic_time(&in, &t, &err) == ERR_INVALID);
    CHECK(err.item_count == 6);
}

TEST_CASE("arithmetic of stochastic values", "[accuracy]")
{
    stochastic x = {10, 3}, y = {5, 4};
    CHECK(stochastic_sum(x, y, false).spread == Approx(5).epsilon(1e-12));
    CHECK(stochastic_sum(x, y, true).spread == Approx(7).epsilon(1e-12));
    CHECK(stochastic_product(x, y, false).mean == 50);
    CHECK(stochastic_product(x, y, false).spread ==
          Approx(50 * std::sqrt(0.09 + 0.64)).epsilon(1e-12));
    CHECK(stochastic_quotient(x, y, false).spread ==
          Approx(2 * std::sqrt(0.09 + 0.64)).epsilon(1e-12));
    CHECK(stochastic_max(x, y).spread == 3);
    CHECK(range_product({-1, 2}, {-3, 4}).low == -6);
    CHECK(range_product({-1, 2}, {-3, 4}).high == 8);
    CHECK(range_quotient({1, 2}, {4, 8}).low == 0.125);
    CHECK(range_quotient({1, 2}, {0, 8}).high == HUGE_VAL);
    CHECK(range_quotient({1, 2}, {-1, 8}).low == -HUGE_VAL);
    CHECK(range_max({1, 5}, {2, 3}).low == 2);

    const double values[] = {0.2, 0.4, 0.6};
    stochastic s = stochastic_of(values, 3);
    CHECK(s.mean == Approx(0.4).epsilon(1e-12));
    CHECK(s.spread == Approx(0.4).epsilon(1e-12));
    CHECK(range_of_cpu(s).low == 0.01); // 0 is clamped
    CHECK(range_of_cpu(s).high == Approx(0.8).epsilon(1e-12));
    CHECK(range_of_link({50, 80}, 100).low == 1);
    CHECK(range_of_link({50, 80}, 100).high == 100);
    CHECK(stochastic_of(values, 1).spread == 0);
    CHECK(std::isnan(stochastic_of(values, 0).mean));
}

TEST_CASE("the ScaLAPACK formula", "[accuracy]")
{
    scalapack_in in = {1000, 4, 32, 1e-9, 1e-7, 1e-4, 0.5, NONE, NONE, NONE, NONE};
    double want = 22.0 / 3 * 1e9 / 4 * 2e-9 + 5 * 2 * 1e6 / 2 * 1e-7 +
                  (8.5 * 32 + 2) * 1000 / 32 * 1e-4;
    CHECK(scalapack_time_s(&in) == Approx(want).epsilon(1e-12));
    in.bandwidth_mbps = 64;
    CHECK(scalapack_time_s(&in) == Approx(want + 5e6 * (1e-6 - 1e-7)).epsilon(1e-12));
    in.words = 0;
    CHECK(scalapack_time_s(&in) == Approx(want - 0.5).epsilon(1e-12));
    for (double *member : {&in.problem_size, &in.processors, &in.block_size,
                           &in.cpu_available_ratio, &in.bandwidth_mbps}) {
        double kept = *member;
        *member = 0;
        CHECK(std::isnan(scalapack_time_s(&in)));
        *member = kept;
    }
    in.problem_size = 1e308;
    CHECK(std::isnan(scalapack_time_s(&in)));
}

TEST_CASE("loads that baselines see", "[accuracy]")
{
    const baseline_load run = {0.5, 40}, start = {0.9, 80};
    for (int b = 0; b < BASELINE_COUNT; b++) {
        baseline_load got = baseline_loads(static_cast<baseline>(b), run, start, 95);
        std::string name = baseline_names[b];
        double want = name == "load_blind" ? 1 : name == "uniform_start" ? 0.9 : 0.5;
        CHECK(got.cpu_available_ratio == want);
        CHECK(got.bandwidth_mbps == (name == "load_blind"      ? 95
                                     : name == "uniform_start" ? 80
                                                               : 40));
    }
    CHECK(baseline_names[BASELINE_COUNT] == nullptr);
}

// ---- plans ----

TEST_CASE("W9: what other strategies would run", "[accuracy]")
{
    run_overhead rows[RUN_OVERHEAD_COUNT];
    run_overheads(30, 4, 3, rows);
    const double least[] = {360, 120, 360, 300, NONE, 250, 60};
    const double most[] = {360, 120, 360, 1000, NONE, 500, 60};
    for (int i = 0; i < RUN_OVERHEAD_COUNT; i++) {
        INFO(rows[i].name);
        CHECK((rows[i].min_runs == least[i] || std::isnan(least[i])));
        CHECK(std::isnan(rows[i].min_runs) == std::isnan(least[i]));
        CHECK((rows[i].max_runs == most[i] || std::isnan(most[i])));
    }
}

TEST_CASE("plans of performance-models.md 8", "[accuracy]")
{
    struct {
        size_t low, high;
        run_plan_size size;
        const char *want;
    } cases[] = {
        {1, 8, RUN_PLAN_FULL, "1x20 2x20 4x10 8x10 | 1x1 2x6 "},
        {1, 100, RUN_PLAN_MINIMUM, "1x10 2x10 4x5 8x5 | 1x1 2x6 "},
        {1, 6, RUN_PLAN_FULL, "1x20 2x20 4x10 6x10 | 1x1 2x6 "},
        {1, 3, RUN_PLAN_FULL, "1x20 2x20 3x20 | 1x1 2x6 "},
        {3, 8, RUN_PLAN_FULL, "3x40 6x10 8x10 | 3x1 6x6 "},
        {3, 8, RUN_PLAN_MINIMUM, "3x20 6x5 8x5 | 3x1 6x6 "},
        {1, 2, RUN_PLAN_FULL, "too_few_processors"},
        {1, 1, RUN_PLAN_FULL, "too_few_processors"},
        {8, 8, RUN_PLAN_FULL, "too_few_processors"},
        {SIZE_MAX / 2 + 1, SIZE_MAX, RUN_PLAN_MINIMUM,
         "9223372036854775808x20 18446744073709551615x10 | "
         "9223372036854775808x1 18446744073709551615x6 "},
    };
    for (auto &c : cases)
        CHECK(plan_text({500, 1450, c.low, c.high, c.size}) == c.want);
}

TEST_CASE("problem sizes are spread evenly", "[accuracy]")
{
    test_arena a;
    error err = collecting_error(a);
    run_plan_in in = {500, 1450, 1, 8, RUN_PLAN_FULL};
    struct run_plan plan {
    };
    REQUIRE(run_plan(&in, &plan, a, &err) == OK);
    for (size_t i = 0; i < 20; i++)
        CHECK(plan.runs[i].problem_size == 500 + 50 * static_cast<double>(i));
    REQUIRE(plan.dedicated_run_count == 7);
    CHECK(plan.dedicated_runs[0].problem_size == 975);
    CHECK(plan.dedicated_runs[1].problem_size == 500);
    CHECK(plan.dedicated_runs[6].problem_size == 1450);
    CHECK(plan.dedicated_runs[6].dedicated);

    run_plan_in bad = {NONE, 0, 0, 0, RUN_PLAN_FULL};
    CHECK(run_plan(&bad, &plan, a, &err) == ERR_INVALID);
    CHECK(err.item_count == 3);
}

TEST_CASE("the next runs are those the models disagree on", "[accuracy]")
{
    test_arena a;
    const double exponents[] = {1, 2, -1}; // the last cannot say
    const run_candidate candidates[] = {
        {2, 2, 1, 100},   {1, 4, 1, 100},  {100, 2, 1, 100},
        {100, 2, 1, 100}, {10, 8, 1, 100}, {100, 4, 1, 100},
    };
    run_choice *out;
    size_t count;
    run_choose_next(candidates, 6, exponents, 3, nullptr, model_time, 10, &out, &count,
                    a);
    REQUIRE(count == 5); // one is there twice
    const size_t want[] = {2, 5, 4, 0, 1};
    for (size_t i = 0; i < count; i++)
        CHECK(out[i].candidate == want[i]);
    // 50 and 5000 s: mean 2525, standard deviation 2475
    CHECK(out[0].mean_s == Approx(2525).epsilon(1e-12));
    CHECK(out[0].disagreement_ratio == Approx(2475.0 / 2525).epsilon(1e-12));
    CHECK(out[4].disagreement_ratio == 0);

    const double weight[] = {1, 0, 1}; // one model alone cannot disagree
    run_choose_next(candidates, 6, exponents, 3, weight, model_time, 2, &out, &count, a);
    CHECK(count == 2);
    CHECK(out[0].candidate == 0);
    CHECK(std::isnan(out[0].disagreement_ratio));
    CHECK(out[0].mean_s == 1);
}

TEST_CASE("combinations of the performance model choose runs, too", "[accuracy]")
{
    test_arena a;
    perf_combination list[2] = {};
    for (auto &c : list) {
        c.comp_mask = 1U << 7; // N^2 / (cpu P), W3's computation
        c.bw_id = c.pcomm_id = -1;
        c.pcomp_id = 2;
        c.coefficients[0] = 2e-4;
    }
    list[1].pcomp_id = 1; // N^2 / (cpu sqrt P)
    const run_candidate candidates[] = {{2000, 2, 0.5, 40}, {2000, 8, 0.5, 40}};
    run_choice *out;
    size_t count;
    run_choose_next(candidates, 2, list, 2, nullptr, run_predict_combination, 1, &out,
                    &count, a);
    REQUIRE(count == 1);
    CHECK(out[0].candidate == 1);
    CHECK(run_predict_combination(list, 0, &candidates[1]) == Approx(200).epsilon(1e-9));
}
