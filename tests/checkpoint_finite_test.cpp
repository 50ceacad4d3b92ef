// checkpoint_finite_test.cpp - the best checkpoints of a job that ends, and what the
// formulas do near its end.
#include "tests/support.hpp"

#include <random>

extern "C" {
#include "algorithms/checkpoint/checkpoint.h"
}

namespace
{
constexpr double least_s = CHECKPOINT_SHORTEST_S;

finite_job job_of(double c, double m, double r, double d, double w, double r0)
{
    return {w, m, c, r, r0, d, least_s};
}

checkpoint_in input(const finite_job &job)
{
    checkpoint_in in = checkpoint_in_unknown();

    in.checkpoint_overhead_s = job.overhead_s;
    in.mean_failure_interval_s = job.mean_s;
    in.restart_s = job.restart_s;
    in.restart_from_scratch_s = job.scratch_s;
    in.reschedule_delay_s = job.delay_s;
    in.execution_time_s = in.remaining_s = job.work_s;
    return in;
}

checkpoint_out decide(const char *name, const checkpoint_in &in)
{
    const struct policy *policy = policy_find(checkpoint_policies, name);
    double param[PARAMS_MAX];
    checkpoint_out out{};
    error err{};

    REQUIRE(policy);
    REQUIRE(params_bind(policy->params, nullptr, 0, param, &err) == OK);
    REQUIRE(checkpoint_decide(policy, &in, param, &out, &err) == OK);
    return out;
}

// The time that the segments take when failures are drawn.
double play(const finite_job &job, const finite_plan &plan, std::mt19937_64 &random)
{
    std::exponential_distribution<double> draw(1 / job.mean_s);
    double time_s = 0;

    for (double n = 0; n < plan.count; n++) {
        bool is_last = n + 1 == plan.count, again = false;
        double work_s = n == 0 ? plan.first_s : is_last ? plan.last_s : plan.middle_s;
        double end_s = work_s + (is_last ? 0 : job.overhead_s);

        for (;;) {
            double restart_s = n == 0 ? job.scratch_s : job.restart_s;
            double span_s = end_s + (again ? restart_s : 0), failure_s = draw(random);

            if (failure_s >= span_s) {
                time_s += span_s;
                break;
            }
            time_s += failure_s + job.delay_s;
            again = true;
        }
    }
    return time_s;
}
} // namespace

TEST_CASE("the best number of segments, and the true cost of exact", "[checkpoint]")
{
    const struct {
        double c, m, r, d, w, n, best_s, exact_s;
    } cases[] = {
        {1200, 21600, 1200, 0, 7200, 1, 9033.398008, 10500.051799},
        {300, 3600, 600, 0, 1500, 1, 2198.309086, 2609.482595},
        {300, 3600, 300, 0, 2600, 2, 3881.351528, 4351.896320},
        {60, 3600, 60, 0, 700, 1, 785.675681, 842.901917},
        {600, 7200, 600, 0, 36000, 14, 59625.529917, 60491.922617},
        {600, 21600, 600, 300, 43200, 9, 56756.368752, 57312.780032},
        {60, 86400, 120, 600, 432000, 136, 452187.436841, 452189.242452},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.w)
        {
            finite_job job = job_of(c.c, c.m, c.r, c.d, c.w, c.r);
            finite_plan plan = finite_best(&job);
            double interval_s = finite_endless_interval_s(c.c, c.m);

            CHECK(plan.count == c.n);
            CHECK(plan.expected_s == Approx(c.best_s).epsilon(1e-9));
            CHECK(plan.is_proved);
            CHECK(finite_expected_of_interval_s(&job, interval_s) ==
                  Approx(c.exact_s).epsilon(1e-9));
            checkpoint_in in = input(job);
            in.start = true;
            checkpoint_out out = decide("exact", in);
            CHECK(out.expected_completion_s == Approx(c.exact_s).epsilon(1e-9));
            CHECK(out.best_completion_s == Approx(c.best_s).epsilon(1e-9));
            CHECK(out.gap_ratio == Approx(c.exact_s / c.best_s - 1).margin(1e-9));
            CHECK(out.waste_ratio == Approx(1 - c.w / c.exact_s).margin(1e-9));
            // Never worse than doing without: it says so.
            if (finite_expected_s(&job, 1) < c.exact_s)
                CHECK(out.reason == CHECKPOINT_REASON_TOO_SHORT);
            out = decide("finite", in);
            CHECK(out.gap_ratio == 0);
            CHECK(out.checkpoint_count == c.n - 1);
            CHECK(out.expected_completion_s == Approx(c.best_s).epsilon(1e-9));
            CHECK((out.reason == CHECKPOINT_REASON_TOO_SHORT) == (c.n == 1));
            CHECK(std::isinf(out.next_request_in_s) == (c.n == 1));
        }
}

TEST_CASE("a start from scratch that costs another time", "[checkpoint]")
{
    const struct {
        double c, m, r, d, w, r0, n, first_s, middle_s, last_s, best_s;
    } cases[] = {
        {300, 3600, 300, 0, 2600, 0, 2, 1300, NAN, 1300, 3716.434604},
        {600, 21600, 600, 300, 43200, 0, 9, 15800 / 3.0, 14000 / 3.0, 15800 / 3.0,
         56573.821883},
        {600, 7200, 600, 0, 36000, 0, 14, 21600 / 7.0, 17400 / 7.0, 21600 / 7.0,
         59247.174029},
        {60, 3600, 60, 0, 3600, 1200, 7, 0, 590, 650, 4430.538808},
        {600, 21600, 600, 300, 43200, 7200, 10, 0, 14200 / 3.0, 16000 / 3.0,
         57617.267888},
        // An image, then all work at once: shorter than two checkpoints, and yet as short
        // as it may be. (M + D)(e^((R0+C)/M) - e^(R0/M) + e^((W+R)/M) - e^(R/M)).
        {65.41, 3270.48, 65.41, 0, 96.59, 6540.96, 2, 0, NAN, 96.59, 588.1945986851},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.w << " " << c.r0)
        {
            finite_job job = job_of(c.c, c.m, c.r, c.d, c.w, c.r0);
            finite_plan plan = finite_best(&job);
            double works_s = plan.first_s + plan.last_s;

            CHECK(plan.count == c.n);
            CHECK(plan.expected_s == Approx(c.best_s).epsilon(1e-9));
            CHECK(plan.first_s == Approx(c.first_s).margin(1e-9));
            CHECK(plan.last_s == Approx(c.last_s).epsilon(1e-9));
            CHECK(std::isnan(plan.middle_s) == std::isnan(c.middle_s));
            if (c.n > 2) {
                CHECK(plan.middle_s == Approx(c.middle_s).epsilon(1e-9));
                works_s += (c.n - 2) * plan.middle_s;
            }
            CHECK(works_s == Approx(c.w).epsilon(1e-12));
            CHECK(plan.is_proved);
        }
    checkpoint_in in = input(job_of(60, 3600, 60, 0, 3600, 1200));
    in.start = true;
    checkpoint_out out = decide("finite", in);
    CHECK(out.action == CHECKPOINT_TAKE);
    CHECK(out.reason == CHECKPOINT_REASON_IMAGE_FIRST);
    CHECK(out.next_request_in_s == Approx(590).epsilon(1e-12));

    in = input(job_of(65.41, 3270.48, 65.41, 0, 96.59, 6540.96)); // C is over W/2
    in.start = true;
    out = decide("finite", in);
    CHECK(out.action == CHECKPOINT_TAKE);
    CHECK(out.reason == CHECKPOINT_REASON_IMAGE_FIRST);
    CHECK(std::isinf(out.next_request_in_s));
    CHECK(out.plan.count == 2);
    CHECK(out.plan.expected_s == Approx(588.1945986851).epsilon(1e-9));
    CHECK_FALSE(out.at_floor);
}

TEST_CASE("checkpoints that cost nothing come as often as they may", "[checkpoint]")
{
    checkpoint_in in = input(job_of(0, 7000, 20, 0, 5000, 0));

    for (bool start : {true, false}) {
        in.start = start;
        checkpoint_out out = decide("finite", in);
        CHECK(out.plan.middle_s == 1); // a second each, after what R0 spares the first
        CHECK(out.plan.count > 4970);
        CHECK(out.at_floor);
        CHECK(out.at_minimum);
    }
}

TEST_CASE("a checkpoint near the end of a job is taken if it pays", "[checkpoint]")
{
    const struct {
        double c, m, r, d, since_s, left_s;
        bool take;
        double in_s, segments, value_s, take_s;
    } cases[] = {
        {600, 86400, 600, 0, 3600, 30, false, HUGE_VAL, 0, 31.4998, 657.9284},
        {60, 3600, 60, 0, 600, 30, false, HUGE_VAL, 0, NAN, NAN},
        {60, 3600, 60, 0, 600, 700, false, 20, 1, 858.2161, 858.3503},
        {60, 3600, 60, 0, 620, 5000, true, 0, 8, 6136.8715, 6136.8715},
        {300, 21600, 300, 60, 1000, 20000, false, 2450, 5, 23943.3833, 24098.7156},
        {300, 21600, 300, 60, 3400, 20000, true, 0, 6, 24138.6922, 24138.6922},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.since_s << " " << c.left_s)
        {
            finite_request request = {job_of(c.c, c.m, c.r, c.d, 1, c.r), c.since_s,
                                      c.left_s, true};
            finite_answer answer = finite_decide(&request);

            CHECK(answer.take == c.take);
            CHECK((answer.in_s == c.in_s || answer.in_s == Approx(c.in_s).epsilon(1e-9)));
            CHECK(answer.segments == c.segments);
            if (!std::isnan(c.value_s)) {
                CHECK(answer.value_s == Approx(c.value_s).margin(6e-5));
                CHECK(answer.take_s == Approx(c.take_s).margin(6e-5));
            }
        }
}

TEST_CASE("no policy takes a checkpoint of 600 s with 30 s left", "[checkpoint]")
{
    checkpoint_in in = input(job_of(600, 86400, 600, 0, 7200, 0));

    in.remaining_s = 30;
    in.remaining_is_known = true;
    in.interval_cur_s = 3600;
    in.uptime_s = in.failure_age_s = 5000;
    in.weibull_shape = 0.7;
    in.weibull_scale_s = 86400;
    for (const char *name : {"young", "daly", "exact", "finite", "weibull"}) {
        checkpoint_out out = decide(name, in);

        CAPTURE(name);
        CHECK(out.action == CHECKPOINT_OMIT);
        CHECK(out.reason == CHECKPOINT_REASON_CHEAPER_TO_REDO);
        CHECK(std::isinf(out.next_request_in_s));
        CHECK(out.consecutive_omissions == 1);
    }
    // The published baselines do what they always did.
    CHECK(decide("periodic", in).action == CHECKPOINT_TAKE);
}

TEST_CASE("segments are best among all ways to cut a job", "[checkpoint][property]")
{
    std::mt19937_64 random(3);
    auto pick = [&](std::initializer_list<double> from) {
        return *(from.begin() + random() % from.size());
    };

    for (int trial = 0; trial < 400; trial++) {
        double m = pick({1, 50, 3600, 86400});
        finite_job job = job_of(m * pick({0, 1e-3, 0.01, 0.1, 1}), m,
                                m * pick({0, 0.01, 0.5}), m * pick({0, 0.1, 2}),
                                m * pick({1e-3, 0.1, 1, 3}), m * pick({0, 0.01, 0.7}));
        job.least_s = m * 1e-2;
        finite_plan plan = finite_best(&job);
        double most = std::max(1.0, std::floor(job.work_s / job.least_s));
        double best_s = HUGE_VAL;

        CAPTURE(trial, m, plan.count, job.overhead_s, job.work_s);
        for (double n = 1; n <= most + 1; n++) {
            finite_plan of = finite_plan_of_count(&job, n);
            double cost_s = finite_expected_s(&job, n);
            if (of.count < 1)
                continue;
            best_s = std::min(best_s, of.expected_s);
            REQUIRE((n < 3 || of.middle_s >= job.least_s * (1 - 1e-9)));
            REQUIRE((std::isinf(cost_s) || of.expected_s >= cost_s * (1 - 1e-12)));
            REQUIRE((of.at_floor || of.expected_s == Approx(cost_s).epsilon(1e-12)));
            REQUIRE(of.first_s + (n > 2 ? (n - 2) * of.middle_s : 0) +
                        (n > 1 ? of.last_s : 0) ==
                    Approx(job.work_s).epsilon(1e-9));
        }
        REQUIRE(plan.expected_s == Approx(best_s).epsilon(1e-12));
        // No interval of equal work beats it either.
        for (double n = 1; n <= std::min(most, 40.0); n++)
            REQUIRE(finite_expected_of_interval_s(&job, job.work_s / n) >=
                    plan.expected_s * (1 - 1e-12));
    }
}

TEST_CASE("expected times are those of drawn failures", "[checkpoint][property]")
{
    std::mt19937_64 random(5);
    const double cases[][6] = {{300, 3600, 300, 0, 2600, 300},
                               {60, 3600, 60, 0, 3600, 1200},
                               {600, 21600, 600, 300, 43200, 0}};

    for (auto &c : cases) {
        finite_job job = job_of(c[0], c[1], c[2], c[3], c[4], c[5]);
        finite_plan plan = finite_best(&job);
        double sum = 0, squares = 0;
        const int trials = 20000;

        for (int i = 0; i < trials; i++) {
            double time_s = play(job, plan, random);

            sum += time_s;
            squares += time_s * time_s;
        }
        double mean = sum / trials;
        double error_s = std::sqrt((squares / trials - mean * mean) / trials);
        CHECK(std::fabs(mean - plan.expected_s) < 4 * error_s);
    }
}

TEST_CASE("answers of a request are best among all moments", "[checkpoint][property]")
{
    std::mt19937_64 random(9);

    for (int trial = 0; trial < 200; trial++) {
        double m = 3600, u = (double)(random() % 3000), q = 1 + (double)(random() % 9000);
        finite_request request = {
            job_of((double)(random() % 400), m, (double)(random() % 600), 60, 1, 30), u,
            q, random() % 2 == 0};
        request.job.least_s = 1;
        finite_answer answer = finite_decide(&request);

        CAPTURE(trial, u, q, request.job.overhead_s);
        REQUIRE(answer.value_s <= answer.never_s);
        REQUIRE(answer.value_s <= answer.take_s * (1 + 1e-12));
        if (answer.take)
            REQUIRE(answer.value_s == Approx(answer.take_s).epsilon(1e-12));
        if (answer.segments == 0)
            REQUIRE(answer.value_s == answer.never_s);
    }
}

TEST_CASE("costs that make no sense end in no time", "[checkpoint]")
{
    finite_job job = job_of(1e9, 1, 1e9, 0, 1e15, 0);

    job.least_s = 1;
    CHECK(std::isinf(finite_best(&job).expected_s));
    job = job_of(0, 1e-3, 0, 0, 1e15, 0);
    job.least_s = 1e-3;
    CHECK(finite_best(&job).count >= 1);
    checkpoint_in in = input(job_of(1e6, 10, 1e6, 0, 1e6, 1e6));
    CHECK(decide("finite", in).never_ends);
    CHECK(std::isnan(decide("exact", in).best_completion_s));
}

TEST_CASE("the hazard is looked at in the middle of an interval", "[checkpoint]")
{
    checkpoint_in in = checkpoint_in_unknown();
    failure_law laws[64];

    in.checkpoint_overhead_s = 600;
    for (int i = 0; i < 64; i++)
        laws[i] = {0.7, 5e6 / std::tgamma(1 + 1 / 0.7), 86400.0 * (1 + 3 * i), NAN, 1};
    in.laws = laws;
    in.law_count = 64;
    CHECK(decide("weibull", in).interval_s == Approx(10666.662).epsilon(1e-6));
    // A node that has just been restored: neither 0 nor without end.
    in.laws = nullptr;
    in.law_count = 0;
    in.uptime_s = 0;
    in.start = true;
    in.checkpoint_overhead_s = 86.4;
    for (double shape : {0.5, 0.7, 1.0, 1.5, 2.0}) {
        in.weibull_shape = shape;
        in.weibull_scale_s = 86400 / std::tgamma(1 + 1 / shape);
        checkpoint_out out = decide("weibull", in);
        CAPTURE(shape, out.interval_s);
        double x = out.interval_s, t = x / 2;
        double hazard =
            shape / in.weibull_scale_s * std::pow(t / in.weibull_scale_s, shape - 1);
        CHECK(x == Approx(std::sqrt(2 * 86.4 / hazard)).epsilon(1e-6));
        CHECK(x > 500);
        CHECK(x < 40000);
        CHECK_FALSE(out.history_too_short);
    }
    // A shape of 1 is Young's.
    in.weibull_shape = 1;
    in.weibull_scale_s = 86400;
    CHECK(decide("weibull", in).interval_s ==
          Approx(std::sqrt(2 * 86.4 * 86400)).epsilon(1e-8));
    // Few segments of a job that ends are equal.
    in.execution_time_s = in.remaining_s = 10000;
    CHECK(decide("weibull", in).interval_s == Approx((10000 - 86.4) / 3).epsilon(1e-12));
    in.execution_time_s = in.remaining_s = 2000;
    CHECK(decide("weibull", in).reason == CHECKPOINT_REASON_TOO_SHORT);
}

TEST_CASE("no interval is shorter than a second unless that is asked for", "[checkpoint]")
{
    const struct policy *policy = policy_find(checkpoint_policies, "young");
    checkpoint_in in = checkpoint_in_unknown();
    double param[PARAMS_MAX];
    checkpoint_out out{};
    error err{};

    in.checkpoint_overhead_s = 1e-6;
    in.mean_failure_interval_s = 2;
    out = decide("young", in);
    CHECK(out.interval_s == 1);
    CHECK(out.at_floor);
    REQUIRE(params_bind(policy->params, nullptr, 0, param, &err) == OK);
    param[CHECKPOINT_MIN_INTERVAL] = 0.5;
    REQUIRE(checkpoint_decide(policy, &in, param, &out, &err) == OK);
    CHECK(out.interval_s == 0.5);
    in.checkpoint_overhead_s = 100; // a checkpoint takes longer than the machine lives
    out = decide("young", in);
    CHECK(out.interval_s == Approx(100.01).epsilon(1e-12));
    CHECK(out.at_floor);
}
