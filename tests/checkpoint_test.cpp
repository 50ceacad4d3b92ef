// checkpoint_test.cpp - intervals between checkpoints.
#include "tests/support.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

extern "C" {
#include "algorithms/checkpoint/checkpoint.h"
}

static const double UNKNOWN = std::numeric_limits<double>::quiet_NaN();

// A job with overhead C on a resource with mean time between failures M.
static checkpoint_in job(double overhead_s, double mean_s, double restart_s = 0,
                         double time_s = UNKNOWN)
{
    checkpoint_in in = checkpoint_in_unknown();
    in.checkpoint_overhead_s = overhead_s;
    in.mean_failure_interval_s = mean_s;
    in.restart_s = restart_s;
    in.execution_time_s = in.remaining_s = time_s;
    return in;
}

// The options of a policy: its presets, but for those that are named.
struct options {
    double value[PARAMS_MAX];

    options(const char *policy, std::vector<std::pair<checkpoint_param, double>> set = {})
    {
        error err{};
        const struct policy *p = policy_find(checkpoint_policies, policy);
        REQUIRE(p != nullptr);
        REQUIRE(params_count(p->params) == CHECKPOINT_PARAM_COUNT);
        REQUIRE(params_bind(p->params, nullptr, 0, value, &err) == OK);
        for (auto &s : set)
            value[s.first] = s.second;
    }
};

static checkpoint_out decide_with(const char *policy, const checkpoint_in &in,
                                  const options &o)
{
    error err{};
    checkpoint_out out{};
    REQUIRE(checkpoint_decide(policy_find(checkpoint_policies, policy), &in, o.value,
                              &out, &err) == OK);
    return out;
}

static checkpoint_out decide(const char *policy, const checkpoint_in &in,
                             double min_interval_s = 0)
{
    return decide_with(policy, in,
                       options(policy, {{CHECKPOINT_MIN_INTERVAL, min_interval_s}}));
}

TEST_CASE("intervals follow fault-tolerance.md 5.4", "[checkpoint]")
{
    struct {
        const char *policy;
        double overhead_s, mean_s, want_s;
    } cases[] = {
        {"young", 5, 86400, 929.516003},
        {"young", 60, 21600, 1609.968944},
        {"daly", 5, 86400, 926.186},
        {"daly", 60, 21600, 1570.217396},
        {"exact", 5, 86400, 926.185662},
        {"exact", 60, 21600, 1570.219876},
        {"exact", 100, 100, 100.01},
        {"daly", 300, 100, 300.03}, // no less than C
        {"exact", 0, 3600, 1},
        {"young", 0, 3600, 1},
        {"daly", 0, 3600, 1},
        {"young", 60, 3600, 657.2670690},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.policy << " " << c.overhead_s << " " << c.mean_s)
        {
            checkpoint_out out =
                decide(c.policy, job(c.overhead_s, c.mean_s, 0, UNKNOWN));
            CHECK(out.interval_s == Approx(c.want_s).epsilon(1e-6));
            CHECK(out.at_minimum == (c.overhead_s == 0 || c.mean_s == 100));
            CHECK(out.at_floor == out.at_minimum);
        }
}

TEST_CASE("the shortest interval is kept", "[checkpoint]")
{
    for (const char *policy : {"young", "daly", "exact"}) {
        checkpoint_out out = decide(policy, job(5, 86400, 0, UNKNOWN), 1200);
        CHECK(out.interval_s == 1200);
        CHECK(out.at_minimum);
        CHECK(out.gap_ratio > 0);
        CHECK_FALSE(decide(policy, job(5, 86400, 0, UNKNOWN), 900).at_minimum);
    }
}

TEST_CASE("completion follows fault-tolerance.md 7.4", "[checkpoint]")
{
    // its table has D = 900; with D = 0 the time is the table's cost, less a checkpoint
    // at the end and a restart of the first segment
    checkpoint_out out = decide("exact", job(5, 172800, 20, 9000));
    CHECK(out.interval_s == Approx(1311.203).epsilon(1e-6));
    CHECK(out.expected_completion_s == Approx(9069.864).epsilon(1e-3));
    CHECK(out.expected_completion_s == Approx(9064.7699956).epsilon(1e-9));
    CHECK(out.checkpoint_count == 6);
    out = decide("exact", job(5, 10800, 20, 9000));
    CHECK(out.interval_s == Approx(325.309).epsilon(2e-6));
    CHECK(out.expected_completion_s == Approx(9296.710).epsilon(1e-3));
    CHECK(out.expected_completion_s == Approx(9291.5388444).epsilon(1e-9));

    checkpoint_out brief = decide("young", job(60, 3600, 20, 600));
    CHECK(brief.checkpoint_count == 0);
    CHECK(brief.expected_completion_s ==
          Approx(3600 * std::expm1(600 / 3600.0)).epsilon(1e-12));
    checkpoint_out even = decide("young", job(50, 10000, 0, 3000));
    CHECK(even.interval_s == 1000);
    CHECK(even.checkpoint_count == 2); // the job ends where the third would be
    checkpoint_out open = decide("young", job(60, 3600, 20, UNKNOWN));
    CHECK(std::isnan(open.checkpoint_count));
    CHECK(std::isnan(open.expected_completion_s));
}

TEST_CASE("hopeless jobs get numbers, not accidents", "[checkpoint]")
{
    for (const char *policy : {"young", "daly", "exact"}) {
        checkpoint_out out = decide(policy, job(1e15, 1e-3, 1e15, 1e15));
        CHECK(out.interval_s > 0);
        CHECK(std::isfinite(out.interval_s));
        CHECK(out.waste_ratio == 1);
        CHECK(std::isinf(out.expected_time_ratio));
        CHECK(std::isnan(out.gap_ratio));
    }
}

TEST_CASE("checkpoint policies are sorted, documented and found by name", "[checkpoint]")
{
    CHECK(policy_find(checkpoint_policies, "") == nullptr);
    CHECK(policy_find(checkpoint_policies, "Young") == nullptr);
    for (const struct policy *p = checkpoint_policies; p->name; p++) {
        CHECK(policy_find(checkpoint_policies, p->name) == p);
        CHECK((!p[1].name || std::strcmp(p->name, p[1].name) < 0));
        CHECK(std::strlen(p->purpose) > 0);
        CHECK((p->cites || p->idea));
        for (const param *row = p->params; row->name; row++) {
            CHECK(std::strlen(row->doc) > 0);
            CHECK((row->preset >= row->min || std::isnan(row->preset)));
        }
    }
}

TEST_CASE("every policy answers everything within bounds, the same each time",
          "[checkpoint][property]")
{
    rng r = rng_stream(1, "checkpoint_test");
    auto any = [&r](double low, double high) {
        return std::exp(std::log(low) + rng_uniform(&r) * std::log(high / low));
    };
    auto perhaps = [&r](double value) { return rng_uniform(&r) < 0.8 ? value : UNKNOWN; };
    for (const struct policy *p = checkpoint_policies; p->name; p++)
        for (int round = 0; round < 3000; round++) {
            checkpoint_in in = checkpoint_in_unknown();
            in.checkpoint_overhead_s =
                rng_uniform(&r) < 0.1 ? 0 : any(1e-12, CHECKPOINT_LONGEST_S);
            in.mean_failure_interval_s =
                perhaps(any(CHECKPOINT_SHORTEST_S, CHECKPOINT_LONGEST_S));
            in.restart_s = any(1e-6, 1e6);
            in.execution_time_s =
                rng_uniform(&r) < 0.1 ? HUGE_VAL : any(1e-3, CHECKPOINT_LONGEST_S);
            in.remaining_s = in.execution_time_s * rng_uniform(&r);
            in.execution_time_upper_s = perhaps(in.execution_time_s * 2);
            in.remaining_upper_s = perhaps(in.remaining_s * 2);
            in.failure_age_s = perhaps(any(1e-6, 1e12));
            in.uptime_s = rng_uniform(&r) < 0.1 ? 0 : perhaps(any(1e-6, 1e12));
            in.initial_interval_s = perhaps(any(CHECKPOINT_SHORTEST_S, 1e12));
            in.interval_cur_s = perhaps(any(CHECKPOINT_SHORTEST_S, 1e12));
            in.consecutive_omissions = rng_index(&r, 5);
            in.weibull_shape = perhaps(any(0.01, 1000));
            in.weibull_scale_s = perhaps(any(1e-3, 1e12));
            in.start = rng_uniform(&r) < 0.3;
            options o(p->name);
            if (rng_uniform(&r) < 0.5)
                o.value[CHECKPOINT_MIN_INTERVAL] = any(1e-6, 1e9);
            if (rng_uniform(&r) < 0.5)
                o.value[CHECKPOINT_OMISSIONS_MAX] = (double)rng_index(&r, 3);
            if (rng_uniform(&r) < 0.5)
                o.value[CHECKPOINT_STEP_FRACTION] = rng_uniform(&r) + 1e-3;
            checkpoint_out out = decide_with(p->name, in, o);
            checkpoint_out again = decide_with(p->name, in, o);
            CAPTURE(p->name, round, in.checkpoint_overhead_s, in.mean_failure_interval_s,
                    in.execution_time_s, in.start);
            REQUIRE(out.interval_s == again.interval_s);
            REQUIRE(out.next_request_in_s == again.next_request_in_s);
            REQUIRE(out.action == again.action);
            REQUIRE(out.min_interval_s >= CHECKPOINT_SHORTEST_S);
            REQUIRE(out.interval_s >= out.min_interval_s);
            REQUIRE((out.min_interval_s > in.checkpoint_overhead_s ||
                     o.value[CHECKPOINT_MIN_INTERVAL] == 0));
            REQUIRE(unsigned(out.action) <= CHECKPOINT_NONE);
            REQUIRE(unsigned(out.reason) < CHECKPOINT_REASON_COUNT);
            REQUIRE(out.next_request_in_s > 0);
            if (std::strcmp(p->name, "none") == 0) {
                REQUIRE(std::isinf(out.interval_s));
                REQUIRE(out.action == CHECKPOINT_NONE);
            } else {
                REQUIRE(std::isfinite(out.interval_s));
                REQUIRE((out.action == CHECKPOINT_NONE) == in.start);
                REQUIRE((out.action == CHECKPOINT_OMIT) ==
                        (out.consecutive_omissions > 0));
            }
            REQUIRE(!(out.expected_time_ratio < 1 - 1e-9));
            REQUIRE(!(out.waste_ratio < 0));
            REQUIRE(!(out.waste_ratio > 1));
            REQUIRE(!(out.gap_ratio < 0));
            REQUIRE(out.checkpoint_count >= 0);
            REQUIRE(!(out.expected_completion_s < in.execution_time_s * (1 - 1e-9)));
            bool known = !std::isnan(checkpoint_mean_s(&in));
            REQUIRE(std::isnan(out.expected_time_ratio) == !known);
            REQUIRE(std::isnan(out.waste_ratio) == !known);
        }
}

TEST_CASE("no interval beats exact", "[checkpoint][property]")
{
    for (double cost = 1e-14; cost < 40; cost *= 1.7) {
        checkpoint_in in = job(cost * 3600, 3600, 10, UNKNOWN);
        double best_s = checkpoint_best_interval_s(&in);
        double best = checkpoint_expected_time_ratio(&in, best_s);
        CAPTURE(cost);
        // the equation itself, in a form that does not cancel
        double y = best_s / 3600;
        if (y > 0.01 && cost < 10)
            CHECK(-(std::log1p(-y) + y) == Approx(cost).epsilon(1e-9));
        else if (y <= 0.01)
            CHECK(y * y / 2 * (1 + 2 * y / 3 + y * y / 2) == Approx(cost).epsilon(1e-5));
        for (double factor : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0})
            CHECK(checkpoint_expected_time_ratio(&in, best_s * factor) >=
                  best * (1 - 1e-13));
        checkpoint_in longer = job(cost * 3600 * 1.1, 3600, 10, UNKNOWN);
        CHECK(checkpoint_best_interval_s(&longer) >= best_s);
    }
}

TEST_CASE("every column of checkpoint_formulas.csv comes out", "[checkpoint]")
{
    const char *data = getenv("GRIDPLAN_DATA");
    if (!data) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return;
    }
    std::ifstream in(std::string(data) + "/reference/checkpoint_formulas.csv");
    std::string line;
    REQUIRE(std::getline(in, line));
    size_t rows = 0;
    for (; std::getline(in, line); rows++) {
        double c[9];
        REQUIRE(std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", c, c + 1,
                            c + 2, c + 3, c + 4, c + 5, c + 6, c + 7, c + 8) == 9);
        const char *policies[] = {"young", "daly", "exact"};
        for (int i = 0; i < 3; i++) {
            checkpoint_out out = decide(policies[i], job(c[0], c[1], c[2], UNKNOWN));
            CAPTURE(line, policies[i]);
            CHECK(out.interval_s == Approx(c[3 + i]).margin(1e-6).epsilon(0));
            CHECK(out.expected_time_ratio == Approx(c[6 + i]).margin(1e-8).epsilon(0));
        }
    }
    CHECK(rows == 20);
}

// ---- a job alone on a machine that does not fail while it runs ----

struct course {
    std::vector<double> request_s, interval_s; // of each request: when, and I_cur after
    std::string actions;                       // t: taken, o: omitted
    double end_s;
};

// Asks the policy as a scheduler does. `failure_s`: LF; the mean is in.mean_....
static course run_alone(const char *policy, checkpoint_in in, const options &o,
                        double start_s, double failure_s)
{
    const struct policy *p = policy_find(checkpoint_policies, policy);
    double now_s = start_s, done_s = 0, time_s = in.execution_time_s;
    checkpoint_out out{};
    error err{};
    course c;

    in.start = true;
    in.remaining_s = time_s;
    in.failure_age_s = now_s - failure_s;
    REQUIRE(checkpoint_fn_of(p)(&in, o.value, &out, &err) == OK);
    in.start = false;
    while (done_s + out.next_request_in_s < time_s) {
        REQUIRE(c.request_s.size() < 1000);
        now_s += out.next_request_in_s;
        done_s += out.next_request_in_s;
        in.remaining_s = time_s - done_s;
        in.failure_age_s = now_s - failure_s;
        in.interval_cur_s = out.interval_s;
        in.consecutive_omissions = out.consecutive_omissions;
        REQUIRE(checkpoint_fn_of(p)(&in, o.value, &out, &err) == OK);
        c.request_s.push_back(now_s);
        c.interval_s.push_back(out.interval_s);
        c.actions += out.action == CHECKPOINT_TAKE ? 't' : 'o';
        now_s += out.action == CHECKPOINT_TAKE ? in.checkpoint_overhead_s : 0;
    }
    c.end_s = now_s + time_s - done_s;
    return c;
}

using seconds = std::vector<double>;

TEST_CASE("LastFailureCP follows example A of fault-tolerance.md 5.2", "[checkpoint]")
{
    checkpoint_in in = job(5, UNKNOWN, 0, 7200);
    options o("last_failure", {{CHECKPOINT_INITIAL_INTERVAL, 1200}});
    course c = run_alone("last_failure", in, o, 3600, 0);
    CHECK(c.request_s == seconds{4800, 6005, 7210, 8410, 9610});
    CHECK(c.actions == "ttooo");
    CHECK(c.end_s == 10810);
    CHECK(c.interval_s == seconds{1200, 1200, 1200, 1200, 1200});

    o.value[CHECKPOINT_OMISSIONS_MAX] = 1;
    c = run_alone("last_failure", in, o, 3600, 0);
    CHECK(c.request_s == seconds{4800, 6005, 7210, 8410, 9615});
    CHECK(c.actions == "ttoto");
    CHECK(c.end_s == 10815);
}

TEST_CASE("LastFailureCP at its boundaries", "[checkpoint]")
{
    options o("last_failure", {{CHECKPOINT_OMISSIONS_MAX, 2}});
    struct {
        const char *when;
        double age_s, time_s, upper_s;
        uint64_t omitted;
        checkpoint_action action;
        checkpoint_reason reason;
        uint64_t omissions;
    } cases[] = {
        {"as old as the job is long", 7200, 7200, UNKNOWN, 0, CHECKPOINT_TAKE,
         CHECKPOINT_REASON_FAILED_RECENTLY, 0},
        {"older", 7200.001, 7200, UNKNOWN, 0, CHECKPOINT_OMIT,
         CHECKPOINT_REASON_RESOURCE_STABLE, 1},
        {"second omission", 9000, 7200, UNKNOWN, 1, CHECKPOINT_OMIT,
         CHECKPOINT_REASON_RESOURCE_STABLE, 2},
        {"limit", 9000, 7200, UNKNOWN, 2, CHECKPOINT_TAKE,
         CHECKPOINT_REASON_OMISSION_LIMIT, 0},
        {"failure in the future", -50, 7200, UNKNOWN, 0, CHECKPOINT_TAKE,
         CHECKPOINT_REASON_FAILED_RECENTLY, 0},
        {"no speed", 1e9, HUGE_VAL, UNKNOWN, 0, CHECKPOINT_TAKE,
         CHECKPOINT_REASON_FAILED_RECENTLY, 0},
        {"nothing known", UNKNOWN, 7200, UNKNOWN, 0, CHECKPOINT_TAKE,
         CHECKPOINT_REASON_FAILED_RECENTLY, 0},
        {"an uncertain run time", 9000, 7200, 10000, 0, CHECKPOINT_TAKE,
         CHECKPOINT_REASON_FAILED_RECENTLY, 0},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            checkpoint_in in = job(5, UNKNOWN, 0, c.time_s);
            in.failure_age_s = c.age_s;
            in.execution_time_upper_s = c.upper_s;
            in.consecutive_omissions = c.omitted;
            in.initial_interval_s = 600;
            checkpoint_out out = decide_with("last_failure", in, o);
            CHECK(out.action == c.action);
            CHECK(out.reason == c.reason);
            CHECK(out.consecutive_omissions == c.omissions);
            CHECK(out.interval_s == 600);
            CHECK(out.next_request_in_s == 600);
        }
}

TEST_CASE("MeanFailureCP follows B1 to B3 of fault-tolerance.md 5.3", "[checkpoint]")
{
    options o("mean_failure",
              {{CHECKPOINT_INITIAL_INTERVAL, 1800}, {CHECKPOINT_MIN_INTERVAL, 720}});

    course b1 = run_alone("mean_failure", job(2, 20000, 0, 14400), o, 0, 0);
    CHECK(b1.request_s == seconds{60, 3662, 9064});
    CHECK(b1.interval_s == seconds{3600, 5400, 7200});
    CHECK(b1.end_s == 14406);

    course b2 = run_alone("mean_failure", job(2, 7200, 0, 14400), o, 0, 0);
    seconds want, interval(10, 720);
    for (int k = 0; k <= 10; k++)
        want.push_back(60 + 722 * k);
    want.insert(want.end(), {9802, 14124});
    interval.insert(interval.end(), {2520, 4320, 6120});
    CHECK(b2.request_s == want);
    CHECK(b2.interval_s == interval);
    CHECK(b2.end_s == 14426);

    o.value[CHECKPOINT_INITIAL_INTERVAL] = 7200;
    o.value[CHECKPOINT_MIN_INTERVAL] = 180;
    course b3 = run_alone("mean_failure", job(2, 1800, 0, 3600), o, 0, 0);
    want.clear();
    for (int k = 0; k <= 10; k++)
        want.push_back(60 + 182 * k);
    interval.assign(10, 180);
    interval.push_back(7380);
    CHECK(b3.request_s == want);
    CHECK(b3.interval_s == interval);
    CHECK(b3.end_s == 3622);

    course periodic =
        run_alone("periodic", job(2, 20000, 0, 14400),
                  options("periodic", {{CHECKPOINT_INITIAL_INTERVAL, 1800}}), 0, 0);
    CHECK(periodic.actions == "ttttttt");
    CHECK(periodic.end_s == 14414);
    CHECK(run_alone("none", job(2, 20000, 0, 14400), options("none"), 0, 0).end_s ==
          14400);
}

TEST_CASE("MeanFailureCP says why, and keeps its bounds", "[checkpoint]")
{
    options o("mean_failure", {{CHECKPOINT_INITIAL_INTERVAL, 1800}});
    struct {
        const char *when;
        double remaining_s, mean_s, cur_s, want_s;
        checkpoint_reason reason;
        bool at_minimum;
    } cases[] = {
        {"stable", 5000, 20000, 1800, 3600, CHECKPOINT_REASON_LONGER, false},
        {"volatile", 5000, 4000, 3600, 1800, CHECKPOINT_REASON_SHORTER, false},
        {"clamped", 5000, 4000, 1800, 144, CHECKPOINT_REASON_SHORTER, true},
        {"at the minimum", 5000, 4000, 144, 144, CHECKPOINT_REASON_AT_MINIMUM, true},
        {"fails as it ends", 4000, 4000, 3600, 1800, CHECKPOINT_REASON_SHORTER, false},
        {"as long as the job", 100, 20000, 14400, 12600, CHECKPOINT_REASON_SHORTER,
         false},
        {"past alpha once", 100, 20000, 14399, 16199, CHECKPOINT_REASON_LONGER, false},
        {"mean unknown, age short", 5000, UNKNOWN, 3600, 1800, CHECKPOINT_REASON_SHORTER,
         false},
        {"mean infinite, age short", 5000, HUGE_VAL, 3600, 1800,
         CHECKPOINT_REASON_SHORTER, false},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            checkpoint_in in = job(2, c.mean_s, 0, 14400);
            in.remaining_s = c.remaining_s;
            in.interval_cur_s = c.cur_s;
            in.failure_age_s = 3000;
            checkpoint_out out = decide_with("mean_failure", in, o);
            CHECK(out.action == CHECKPOINT_TAKE);
            CHECK(out.interval_s == c.want_s);
            CHECK(out.next_request_in_s == c.want_s);
            CHECK(out.reason == c.reason);
            CHECK(out.at_minimum == c.at_minimum);
        }

    checkpoint_in in = job(2, 20000, 0, 14400);
    in.interval_cur_s = 1800;
    in.remaining_s = 5000;
    options step = o;
    step.value[CHECKPOINT_STEP_FRACTION] = 0.05;
    CHECK(decide_with("mean_failure", in, step).interval_s == 1800 + 720);
    step.value[CHECKPOINT_STEP] = 10;
    CHECK(decide_with("mean_failure", in, step).interval_s == 1810);
    step.value[CHECKPOINT_ALPHA] = 0.125; // of E: 1800
    CHECK(decide_with("mean_failure", in, step).interval_s == 1790);
    in.remaining_upper_s = 30000;
    CHECK(decide_with("mean_failure", in, o).reason == CHECKPOINT_REASON_SHORTER);
    in.remaining_s = 0;
    in.remaining_upper_s = UNKNOWN;
    CHECK(std::isinf(decide_with("mean_failure", in, o).next_request_in_s));
}

TEST_CASE("MeanFailureCP starts soon, or never in a short job", "[checkpoint]")
{
    options o("mean_failure", {{CHECKPOINT_INITIAL_INTERVAL, 1800}});
    checkpoint_in in = job(2, 20000, 0, 14400);
    in.start = true;
    checkpoint_out out = decide_with("mean_failure", in, o);
    CHECK(out.action == CHECKPOINT_NONE);
    CHECK(out.reason == CHECKPOINT_REASON_STARTED);
    CHECK(out.interval_s == 1800);
    CHECK(out.next_request_in_s == 60);
    in.initial_interval_s = 30; // the first request is not brought forward; I_min 144
    out = decide_with("mean_failure", in, o);
    CHECK(out.next_request_in_s == 60);
    CHECK(out.interval_s == 144);
    in.execution_time_s = in.remaining_s = 60;
    out = decide_with("mean_failure", in, o);
    CHECK(out.reason == CHECKPOINT_REASON_TOO_SHORT);
    CHECK(std::isinf(out.next_request_in_s));
}

TEST_CASE("the shortest interval is longer than a checkpoint takes", "[checkpoint]")
{
    checkpoint_in in = job(5, 10, 0, 100);
    in.interval_cur_s = 6;
    checkpoint_out out = decide_with("mean_failure", in, options("mean_failure"));
    CHECK(out.min_interval_s == Approx(5.0005).epsilon(1e-14));
    CHECK(out.min_interval_raised);
    CHECK(out.interval_s == out.min_interval_s);
    in.checkpoint_overhead_s = 0.5;
    out = decide_with("mean_failure", in, options("mean_failure"));
    CHECK(out.min_interval_s == 1);
    CHECK_FALSE(out.min_interval_raised);
    // formulas are left alone, unless a least interval is set
    CHECK_FALSE(decide("exact", job(300, 100)).min_interval_raised);
    out = decide("exact", job(300, 100), 200);
    CHECK(out.min_interval_raised);
    CHECK(out.interval_s == Approx(300.03).epsilon(1e-14));
}

TEST_CASE("without a run time the adaptive policies refuse", "[checkpoint]")
{
    for (const struct policy *p = checkpoint_policies; p->name; p++) {
        checkpoint_in in = job(5, 3600);
        checkpoint_out out{};
        error err{};
        options o(p->name);
        bool needs = p->flags & CHECKPOINT_NEEDS_TIME;
        CAPTURE(p->name);
        CHECK(checkpoint_decide(p, &in, o.value, &out, &err) ==
              (needs ? ERR_INVALID : OK));
    }
}

// x = sqrt(2 C / h(age + x/2)), by bisection.
static double midpoint_s(double overhead_s, double shape, double scale_s, double age_s)
{
    double low = 0, high = 1e12;

    for (int i = 0; i < 200; i++) {
        double x = low + (high - low) / 2;
        double hazard = shape / scale_s * std::pow((age_s + x / 2) / scale_s, shape - 1);

        (x * x * hazard < 2 * overhead_s ? low : high) = x;
    }
    return low;
}

TEST_CASE("weibull looks at the hazard in the middle of the interval", "[checkpoint]")
{
    options o("weibull",
              {{CHECKPOINT_WEIBULL_SHAPE, 0.7}, {CHECKPOINT_WEIBULL_SCALE, 136511.92}});
    for (double age_s : {0.0, 60.0, 3600.0, 86400.0, 604800.0}) {
        checkpoint_in in = job(5, UNKNOWN);
        in.uptime_s = age_s;
        in.start = true;
        checkpoint_out out = decide_with("weibull", in, o);
        CAPTURE(age_s);
        CHECK(out.interval_s ==
              Approx(midpoint_s(5, 0.7, 136511.92, age_s)).epsilon(1e-8));
        CHECK_FALSE(out.history_too_short);
        CHECK_FALSE(out.at_minimum);
        // from the history as from the options
        in.weibull_shape = 0.7;
        in.weibull_scale_s = 136511.92;
        CHECK(decide_with("weibull", in, options("weibull")).interval_s ==
              out.interval_s);
    }
    checkpoint_in in = job(5, 86400);

    options one("weibull",
                {{CHECKPOINT_WEIBULL_SHAPE, 1}, {CHECKPOINT_WEIBULL_SCALE, 86400}});
    for (double age_s : {0.0, 1.0, 1e6}) {
        in.uptime_s = age_s;
        CHECK(decide_with("weibull", in, one).interval_s ==
              Approx(decide("young", in).interval_s).epsilon(1e-12));
    }
    options wears("weibull",
                  {{CHECKPOINT_WEIBULL_SHAPE, 3}, {CHECKPOINT_WEIBULL_SCALE, 86400}});
    in.uptime_s = 0;
    CHECK(decide_with("weibull", in, wears).interval_s ==
          Approx(midpoint_s(5, 3, 86400, 0)).epsilon(1e-8));

    checkpoint_out out = decide_with("weibull", in, options("weibull"));
    CHECK(out.history_too_short);
    CHECK(out.interval_s == decide("young", in).interval_s);
}

TEST_CASE("while nothing is known the initial interval is used", "[checkpoint]")
{
    for (const char *policy : {"young", "daly", "exact", "weibull"}) {
        checkpoint_in in = job(5, UNKNOWN);
        in.initial_interval_s = 1234;
        checkpoint_out out = decide(policy, in);
        CHECK(out.interval_s == 1234);
        CHECK(out.reason == CHECKPOINT_REASON_UNKNOWN_FAILURES);
        CHECK(std::isnan(out.expected_time_ratio));
        in.failure_age_s = 86400; // never seen to fail: its age
        CHECK(decide(policy, in).interval_s == decide(policy, job(5, 86400)).interval_s);
    }
}

TEST_CASE("without checkpoints a failure costs everything", "[checkpoint]")
{
    checkpoint_out out = decide("none", job(5, 10800, 20, 9000));
    CHECK(std::isinf(out.interval_s));
    CHECK(std::isinf(out.next_request_in_s));
    CHECK(out.checkpoint_count == 0);
    CHECK(out.expected_completion_s == Approx(14050.540).epsilon(1e-7));
    CHECK(out.expected_time_ratio == Approx(14050.540 / 9000).epsilon(1e-7));
    CHECK(out.gap_ratio > 0);
    out = decide("none", job(5, 10800, 20));
    CHECK(std::isnan(out.expected_time_ratio));
    CHECK(std::isnan(out.waste_ratio));
    CHECK(std::isnan(out.checkpoint_count));
}
