// fault_tolerance_test.cpp - checkpointing, copies, or both.
#include "tests/round_support.hpp"

#include <algorithm>

extern "C" {
#include "algorithms/fault_tolerance/copies_play.h"
#include "algorithms/fault_tolerance/fault_tolerance.h"
#include "algorithms/replication/node_sets.h"
}

static const struct policy *policy(const char *name)
{
    return policy_find(fault_tolerance_policies, name);
}

// CombinedFT(1, 2, 2).
static const std::map<std::string, double> combined_1_2_2 = {
    {"replicas_min", 1}, {"replicas_max", 2}, {"free_cpu_limit", 2}};

static grid two_by_two(size_t job_count)
{
    grid g;
    g.resource(0);
    g.resource(1);
    for (size_t i = 0; i < job_count; i++)
        g.job();
    return g;
}

TEST_CASE("combined swings between its modes, example H of fault-tolerance.md 7.2",
          "[fault_tolerance]")
{
    rounds rs;
    grid g = two_by_two(4);
    round_out out = rs.run(policy("combined"), g, combined_1_2_2);
    CHECK(out.mode == ROUND_REPLICATION);
    CHECK(out.free_cpus == 4);
    CHECK(action_texts(out) ==
          texts{"start J0 R0", "start J0 R1", "start J1 R0", "start J2 R1"});
    g.apply(out);

    g.replicas[0][0].completed_mi = 300;
    g.replicas[0][1].completed_mi = 350;
    out = rs.run(policy("combined"), g, combined_1_2_2);
    CHECK(out.mode == ROUND_CHECKPOINTING);
    CHECK(action_texts(out) == texts{"cancel J0 R0", "on J0 R1", "on J1 R0", "on J2 R1",
                                     "start J3 R0", "on J3 R0"});
    g.apply(out);

    g.jobs[0].length_mi = 0; // J0 has finished
    g.replicas[0][1].state = REPLICA_FINISHED;
    g.resources[1].job_count--;
    g.has_finished = true;
    out = rs.run(policy("combined"), g, combined_1_2_2);
    CHECK(out.mode == ROUND_CHECKPOINTING);
    CHECK(out.free_cpus == 1);
    CHECK(out.action_count == 0);

    g.replicas[2][0].state = REPLICA_FINISHED; // and J2
    g.resources[1].job_count--;
    out = rs.run(policy("combined"), g, combined_1_2_2);
    CHECK(out.mode == ROUND_REPLICATION);
    CHECK(out.free_cpus == 2);
    REQUIRE(out.action_count >= 2);
    CHECK(action_text(out.actions[0]) == "start J1 R1");
    CHECK(action_text(out.actions[1]) == "off J1 R0 later");
    CHECK(out.actions[1].replica == 0);
}

TEST_CASE("combined takes CPUs from jobs with copies, example I", "[fault_tolerance]")
{
    rounds rs;
    grid g = two_by_two(4); // N0 K1 K2 K3
    g.copy(1, 0, 600);
    g.copy(2, 0);
    g.copy(1, 1, 500);
    g.copy(3, 1);
    g.jobs[2].is_checkpointing = g.jobs[3].is_checkpointing = true;
    round_out out = rs.run(policy("combined"), g, combined_1_2_2);
    CHECK(action_texts(out) ==
          texts{"cancel J1 R1", "on J1 R0", "start J0 R1", "on J0 R1"});
    uint64_t state = 1;
    round_draw(&state, 1); // one draw, although there is one candidate only
    CHECK(out.random_state == state);
}

TEST_CASE("combined lets jobs wait when none has copies, example J", "[fault_tolerance]")
{
    rounds rs;
    grid g = two_by_two(5); // N0 K1 K2 K3 K4
    g.copy(1, 0);
    g.copy(2, 0);
    g.copy(3, 1);
    g.copy(4, 1);
    round_out out = rs.run(policy("combined"), g, combined_1_2_2);
    CHECK(action_texts(out) == texts{"on J1 R0", "on J2 R0", "on J3 R1", "on J4 R1"});
    REQUIRE(out.wait_count == 1);
    CHECK(out.waits[0].job == 0);
    CHECK(out.waits[0].count[ROUND_NO_FREE_SLOT] == 2);
}

TEST_CASE("combined frees a job's copies once, however many wait", "[fault_tolerance]")
{
    rounds rs;
    grid g;
    for (size_t i = 0; i < 3; i++)
        g.resource(i, 1, 1);
    for (size_t i = 0; i < 4; i++)
        g.job(); // J0 J1 J2 wait, J3 has three copies
    for (size_t i = 0; i < 3; i++)
        g.copy(3, i, (double)i);
    round_out out =
        rs.run(policy("combined"), g, {{"replicas_max", 3}, {"free_cpu_limit", 2}});
    CHECK(action_texts(out) == texts{"cancel J3 R0", "cancel J3 R1", "on J3 R2",
                                     "start J0 R0", "on J0 R0", "start J1 R1",
                                     "on J1 R1"});
    g.replicas[3][0].is_ghost = true; // its slot is free already
    g.resources[0].job_count = 1;     // another job's
    out = rs.run(policy("combined"), g, {{"replicas_max", 3}, {"free_cpu_limit", 2}});
    CHECK(action_texts(out) ==
          texts{"cancel J3 R0", "cancel J3 R1", "on J3 R2", "start J0 R1", "on J0 R1"});
}

TEST_CASE("combined restarts from images and copies as replica_start says",
          "[fault_tolerance]")
{
    rounds rs;
    grid g = two_by_two(2);
    g.jobs[0].has_checkpoint = true; // its resource failed
    g.copy(1, 0);
    g.jobs[1].has_checkpoint = g.jobs[1].is_checkpointing = true;
    for (double scratch : {0.0, 1.0}) {
        auto options = combined_1_2_2;
        options["replica_start"] = scratch;
        options["free_cpu_limit"] = 1;
        round_out out = rs.run(policy("combined"), g, options);
        if (scratch == 0)
            CHECK(action_texts(out) == texts{"start J0 R1 image", "start J0 R0 image",
                                             "start J1 R1 image", "off J1 R0 later"});
        else
            CHECK(action_texts(out) == texts{"start J0 R1 image", "start J0 R0",
                                             "start J1 R1", "off J1 R0 later"});
    }
}

TEST_CASE("combined leaves the checkpointing mode by its hysteresis", "[fault_tolerance]")
{
    rounds rs;
    grid g = two_by_two(0);
    struct {
        round_mode before;
        double hysteresis;
        round_mode want;
    } cases[] = {{ROUND_MODE_NONE, 3, ROUND_REPLICATION},
                 {ROUND_CHECKPOINTING, 0, ROUND_REPLICATION},
                 {ROUND_CHECKPOINTING, 2, ROUND_REPLICATION},
                 {ROUND_CHECKPOINTING, 3, ROUND_CHECKPOINTING},
                 {ROUND_REPLICATION, 3, ROUND_REPLICATION}};
    for (auto &c : cases)
        for (bool by_option : {false, true}) {
            auto options = combined_1_2_2;
            options["switch_hysteresis"] = c.hysteresis;
            options["mode_before"] = by_option ? c.before : ROUND_MODE_NONE;
            g.mode_before = by_option ? ROUND_MODE_NONE : c.before;
            CHECK(rs.run(policy("combined"), g, options).mode == c.want);
        }
}

TEST_CASE("combined may decide its mode after each start", "[fault_tolerance]")
{
    rounds rs;
    grid g = two_by_two(3);
    auto options = combined_1_2_2;
    options["mode_decision"] = 1;
    round_out out = rs.run(policy("combined"), g, options);
    CHECK(out.mode == ROUND_CHECKPOINTING);
    // replicates until one CPU is free, then takes back what it just did
    CHECK(action_texts(out) == texts{"start J0 R0", "start J0 R1", "start J1 R0",
                                     "cancel J0 R1", "on J0 R0", "on J1 R0",
                                     "start J2 R1", "on J2 R1"});
    g.apply(out);
    for (size_t j = 0; j < 3; j++)
        CHECK(g.jobs[j].is_checkpointing);
}

TEST_CASE("combined stops checkpointing where copies run", "[fault_tolerance]")
{
    rounds rs;
    grid g = two_by_two(1);
    g.copy(0, 0, 10);
    g.copy(0, 1, 20);
    g.jobs[0].is_checkpointing = true;
    CHECK(action_texts(rs.run(policy("combined"), g, combined_1_2_2)) ==
          texts{"off J0 R1"});
    g.replicas[0][0].state = REPLICA_TRANSFERRING; // the caller waits for it
    CHECK(rs.run(policy("combined"), g, combined_1_2_2).action_count == 0);
}

TEST_CASE("migration restarts from the last image", "[fault_tolerance]")
{
    rounds rs;
    grid g = two_by_two(3);
    g.resources[1].mips = 2;
    g.copy(0, 0, 100, REPLICA_FAILED);
    g.jobs[0].has_checkpoint = true;
    g.copy(1, 0);
    CHECK(action_texts(rs.run(policy("migration"), g)) ==
          texts{"start J0 R1 image", "start J2 R1"});
    g.can_checkpoint = true;
    round_out out = rs.run(policy("migration"), g);
    CHECK(action_texts(out) ==
          texts{"start J0 R1 image", "on J0 R1", "start J2 R1", "on J2 R1"});
    CHECK(out.actions[1].replica == 1);
}

// ---- expected_time ----

namespace
{
finite_job host_job(double mean_s, double work_s, double c, double r, double d)
{
    return {work_s, mean_s, c, r, 0, d, 1};
}

// The remedies of a job on the best of these hosts.
struct compared {
    test_arena a;
    copies work{};
    remedy_option o[REMEDY_OPTIONS_MAX];
    size_t count = 0;

    explicit compared(const std::vector<finite_job> &jobs, double deadline_s = UNKNOWN,
                      size_t copies_max = 3)
    {
        std::vector<host_class> plain, saved;

        for (auto &job : jobs) {
            plain.push_back({remedy_copy(&job, false), 1});
            saved.push_back({remedy_copy(&job, true), 1});
        }
        remedy_in in{};
        in.plain = plain.data();
        in.saved = saved.data();
        in.class_count = jobs.size();
        in.copies_max = std::min(copies_max, jobs.size());
        in.left_out_s[0] = in.left_out_s[1] = in.max_cost_s = HUGE_VAL;
        in.deadline_s = deadline_s;
        in.wants_bounds = true;
        remedy_compare(&in, &work, o, &count, a);
    }
    const remedy_option &of(remedy kind, uint64_t replicas) const
    {
        for (size_t i = 0; i < count; i++)
            if (o[i].remedy == kind && o[i].replicas == replicas)
                return o[i];
        FAIL("no such option");
        return o[0];
    }
    double time_s(remedy kind, uint64_t replicas) const
    {
        for (size_t i = 0; i < count; i++)
            if (o[i].remedy == kind && o[i].replicas == replicas)
                return o[i].expected_time_s;
        return NAN;
    }
};

// One copy on its own, by events.
double play(const copy &c, rng *r)
{
    double time_s = 0;

    for (double n = 0; n < std::max(1.0, c.plan.count); n++) {
        bool is_last = n + 1 >= c.plan.count, again = false;
        double work_s = n == 0    ? c.plan.first_s
                        : is_last ? c.plan.last_s
                                  : c.plan.middle_s;
        double span_s = work_s + (is_last ? 0 : c.job.overhead_s);

        for (;;) {
            double restart_s = n == 0 ? c.job.scratch_s : c.job.restart_s;
            double all_s = span_s + (again ? restart_s : 0);
            double failure_s = -std::log1p(-rng_uniform(r)) * c.job.mean_s;

            if (failure_s >= all_s) {
                time_s += all_s;
                break;
            }
            time_s += failure_s + c.job.delay_s;
            again = true;
        }
    }
    return time_s;
}
} // namespace

TEST_CASE("copies that die are waited for", "[fault_tolerance]")
{
    const struct {
        double mean_s;
        double none_s, saved_s, two_s, two_saved_s, three_s, three_saved_s;
    } c = {10800, 15221.418, 10363.008, 11042.93, 9724.97, 9865.55, 9495.48};
    compared got({3, host_job(c.mean_s, 9000, 20, 20, 900)});

    REQUIRE(got.count == 6);
    CHECK(got.time_s(REMEDY_NONE, 1) == Approx(c.none_s).epsilon(1e-7));
    CHECK(got.time_s(REMEDY_CHECKPOINTING, 1) == Approx(c.saved_s).epsilon(1e-7));
    CHECK(got.time_s(REMEDY_REPLICATION, 2) == Approx(c.two_s).epsilon(1e-3));
    CHECK(got.time_s(REMEDY_BOTH, 2) == Approx(c.two_saved_s).epsilon(1e-3));
    CHECK(got.time_s(REMEDY_REPLICATION, 3) == Approx(c.three_s).epsilon(1e-3));
    CHECK(got.time_s(REMEDY_BOTH, 3) == Approx(c.three_saved_s).epsilon(1e-3));
    double p = std::exp(-9000 / 10800.0), p_saved = std::exp(-9260 / 10800.0);
    CHECK(got.o[0].success_probability == Approx(p));
    CHECK(got.o[2].success_probability == Approx(1 - std::pow(1 - p, 2)));
    CHECK(got.o[4].success_probability == Approx(1 - std::pow(1 - p_saved, 2)));
    CHECK(std::isnan(got.o[0].interval_s));
    CHECK(got.o[1].interval_s == Approx((9000 + 13 * 40.0) / 14 - 40).epsilon(1e-9));
}

namespace
{
// A copy's course with every segment followed to the end of the grid.
void follow_all(const copy &c, double step_s, std::vector<double> &left,
                std::vector<double> &held)
{
    size_t count = left.size(), begin = 0, n_end = (size_t)std::max(1.0, c.plan.count);
    size_t delay = (size_t)std::round(c.job.delay_s / step_s);
    double end_s = 0, done = 0, keeps = std::exp(-step_s / c.job.mean_s);
    std::vector<double> in(count), again, out;

    in[0] = 1;
    for (size_t n = 0; n < n_end; n++) {
        double restart_s = n ? c.job.restart_s : c.job.scratch_s, fresh = 0, repeated = 0;
        end_s += n_end == 1 ? c.job.work_s
                 : n + 1 == n_end
                     ? c.plan.last_s
                     : (n ? c.plan.middle_s : c.plan.first_s) + c.job.overhead_s;
        size_t end = std::max((size_t)1, (size_t)std::round(end_s / step_s));
        size_t first = std::max((size_t)1, end - std::min(begin, end)), second = first;
        if (restart_s > 0)
            second += std::max((size_t)1, (size_t)std::round(restart_s / step_s));
        again.assign(count, 0);
        out.assign(count, 0);
        for (size_t j = 0; j < count; j++) {
            double a = j >= first ? in[j - first] * std::pow(keeps, (double)first) : 0;
            double b =
                j >= second ? again[j - second] * std::pow(keeps, (double)second) : 0;
            fresh = std::max(0.0, fresh - a) + in[j];
            repeated = std::max(0.0, repeated - b) + again[j];
            out[j] = a + b;
            held[j] += fresh + repeated;
            if (j + 1 + delay < count)
                again[j + 1 + delay] = (1 - keeps) * (fresh + repeated);
            fresh *= keeps;
            repeated *= keeps;
        }
        in = out;
        begin = end;
    }
    for (size_t j = 0; j < count; j++)
        left[j] = std::max(0.0, 1 - (done += in[j]));
}
} // namespace

TEST_CASE("courses of copies leave nothing out, equal ones or not",
          "[fault_tolerance][property]")
{
    const finite_job jobs[] = {
        host_job(600, 2000, 1, 20, 900), host_job(600, 2000, 1, 20, 900),
        host_job(9000, 2500, 60, 0, 0),  host_job(700, 2100, 0.5, 3, 5),
        host_job(600, 2000, 1, 20, 900), host_job(1e9, 2600, 60, 20, 60)};

    for (bool is_saved : {true, false}) {
        test_arena a;
        copies c{};
        bool is_good = false;
        std::vector<copy> list;

        for (auto &job : jobs)
            list.push_back(remedy_copy(&job, is_saved));
        CHECK((list[0].plan.count > 40) == is_saved);
        copies_follow(&c, list.data(), list.size(), &is_good, a);
        REQUIRE(is_good);
        for (size_t i = 0; i < list.size(); i++) {
            std::vector<double> left(c.step_count), held(c.step_count);
            double worst = 0;

            CAPTURE(is_saved, i);
            follow_all(list[i], c.step_s, left, held);
            for (size_t j = 0; j < c.step_count; j++)
                worst = std::max({worst, std::fabs(left[j] - c.course[i].left[j]),
                                  std::fabs(held[j] - c.course[i].held[j])});
            CHECK(worst < 1e-12);
        }
        CHECK(c.course[1].left == c.course[0].left); // worked out once
        CHECK(c.course[4].held == c.course[0].held);
        CHECK(c.course[2].left != c.course[0].left);
    }
}

TEST_CASE("hosts of copies are chosen together", "[fault_tolerance]")
{
    const double hosts[][2] = {
        {20000, 7000}, {50000, 9000}, {8000, 6000}, {100000, 12000}, {30000, 8000}};
    struct {
        remedy kind;
        std::vector<size_t> chosen;
        double time_s, bound_s;
    } cases[] = {
        {REMEDY_NONE, {0}, 8633.84, UNKNOWN},
        {REMEDY_REPLICATION, {0, 2}, 7030.00, 6841.92},
        {REMEDY_REPLICATION, {0, 2, 4}, 6731.74, 6709.08},
        {REMEDY_CHECKPOINTING, {2}, 7329.39, 7278.65},
        {REMEDY_BOTH, {0, 2}, 6924.37, 6924.03},
        {REMEDY_BOTH, {0, 2, 4}, 6900.78, UNKNOWN},
    };
    std::vector<finite_job> jobs;

    for (auto &host : hosts)
        jobs.push_back(host_job(host[0], host[1], 60, 120, 600));
    compared got(jobs);
    for (auto &c : cases) {
        const remedy_option &o = got.of(c.kind, c.chosen.size());

        CAPTURE(c.kind, c.chosen);
        CHECK(std::vector<size_t>(o.classes, o.classes + o.replicas) == c.chosen);
        CHECK(o.expected_time_s == Approx(c.time_s).epsilon(1e-3));
        CHECK(o.is_proved);
        if (!std::isnan(c.bound_s))
            CHECK(o.lower_bound_s == Approx(c.bound_s).epsilon(1e-3));
        CHECK(o.lower_bound_s <= o.expected_time_s);
        CHECK(o.lower_bound_s >= 6000);
    }
    // 5.5 % for the second copy, and 2.8 % for a third where none takes checkpoints
    auto chosen = [&got](size_t copies_max, double min_gain_ratio) {
        return &got.o[remedy_choose(got.o, got.count, HUGE_VAL, copies_max,
                                    min_gain_ratio)];
    };
    CHECK(chosen(2, 0.01) == &got.of(REMEDY_BOTH, 2));
    CHECK(chosen(3, 0.01) == &got.of(REMEDY_REPLICATION, 3));
    CHECK(chosen(3, 0.03) == &got.of(REMEDY_BOTH, 2));
    CHECK(chosen(3, 0.06) == &got.of(REMEDY_CHECKPOINTING, 1));
}

TEST_CASE("a deadline is kept as likely as the copies are done by then",
          "[fault_tolerance]")
{
    compared got({3, host_job(10800, 9000, 20, 20, 900)}, 12000);
    const struct {
        remedy kind;
        uint64_t replicas;
        double want;
    } cases[] = {{REMEDY_NONE, 1, 0.514},        {REMEDY_CHECKPOINTING, 1, 0.903},
                 {REMEDY_REPLICATION, 2, 0.764}, {REMEDY_BOTH, 2, 0.991},
                 {REMEDY_REPLICATION, 3, 0.885}, {REMEDY_BOTH, 3, 0.999}};

    for (auto &c : cases) {
        CAPTURE(c.kind, c.replicas);
        CHECK(got.of(c.kind, c.replicas).done_probability == Approx(c.want).margin(1e-3));
    }
    // Without checkpoints: done at once, or after one failure within 2100 s, or two
    // within 1200 s, or three within 300 s. Example 11 says 0.511: it stops after the
    // first.
    const double m = 10800, p = std::exp(-9000 / m);
    const double one = -std::expm1(-2100 / m),
                 two = 1 - std::exp(-1200 / m) * (1 + 1200 / m),
                 three = 1 - std::exp(-300 / m) * (1 + 300 / m + 300 / m * 300 / m / 2);
    CHECK(p * (1 + one) == Approx(0.511).margin(5e-4));
    CHECK(got.of(REMEDY_NONE, 1).done_probability ==
          Approx(p * (1 + one + two + three)).epsilon(2e-4));
    compared early({3, host_job(10800, 9000, 20, 20, 900)}, 8999);
    compared exact({3, host_job(10800, 9000, 20, 20, 900)}, 9000);
    compared late({3, host_job(10800, 9000, 20, 20, 900)}, 1e9);
    for (size_t i = 0; i < early.count; i++) {
        CHECK(early.o[i].done_probability == 0);
        CHECK(late.o[i].done_probability == Approx(1).margin(1e-9));
    }
    CHECK(exact.o[0].done_probability == Approx(std::exp(-9000 / 10800.0)).epsilon(1e-3));
    CHECK(
        std::isnan(compared({host_job(10800, 9000, 20, 20, 900)}).o[0].done_probability));
}

namespace
{
// All sets of k hosts by themselves: the least time of any.
double least_of_all(const std::vector<copy> &list, size_t k, copies &work, arena *a)
{
    bool is_good = false;
    double best_s = HUGE_VAL;

    copies_follow(&work, list.data(), list.size(), &is_good, a);
    REQUIRE(is_good);
    std::vector<size_t> places(k);
    for (size_t i = 0; i < k; i++)
        places[i] = i;
    for (;;) {
        best_s = std::min(best_s, copies_together(&work, places.data(), k).time_s);
        size_t i = k;
        while (i > 0 && places[i - 1] == list.size() - k + i - 1)
            i--;
        if (i == 0)
            return best_s;
        places[i - 1]++;
        for (; i < k; i++)
            places[i] = places[i - 1] + 1;
    }
}
} // namespace

TEST_CASE("sets of hosts are the best of all sets, or nearly, and never below the bound",
          "[fault_tolerance][property]")
{
    rng r = rng_stream(1, "fault_tolerance_test.host_sets");
    double worst = 0;

    for (int i = 0; i < (is_shorter() ? 12 : 30); i++) {
        size_t count = 5 + rng_index(&r, 8);
        bool is_whole = i % 3 == 0; // equal and whole figures
        std::vector<copy> list[2];
        std::vector<host_class> classes[2];
        test_arena a;
        copies work{}, other{};

        for (size_t h = 0; h < count; h++) {
            double work_s = 6000 * (1 + rng_uniform(&r));
            double mean_s = 4000 * std::exp(3 * rng_uniform(&r));
            if (is_whole) {
                work_s = 1000 * (double)(6 + rng_index(&r, 3));
                mean_s = 10000 * (double)(1 + rng_index(&r, 3));
            }
            finite_job job =
                host_job(mean_s, work_s, i % 5 ? 60 : 0, 120, i % 4 ? 600 : 0);
            job.least_s = 200; // no thousands of segments where checkpoints cost nothing
            for (bool is_saved : {false, true}) {
                list[is_saved].push_back(remedy_copy(&job, is_saved));
                classes[is_saved].push_back({list[is_saved].back(), 1});
            }
        }
        for (bool is_saved : {false, true}) {
            host_sets_in in{};
            host_set all[3], greedy[3];

            in.classes = classes[is_saved].data();
            in.class_count = count;
            in.copies_max = 3;
            in.products_max = HOST_SETS_PRODUCTS_MAX;
            in.left_out_s = in.max_cost_s = HUGE_VAL;
            in.deadline_s = UNKNOWN;
            in.wants_bounds = true;
            host_sets_search(&in, &work, all, a);
            in.products_max = 0;
            host_sets_search(&in, &work, greedy, a);
            for (size_t k = 2; k <= 3; k++) {
                double want_s = least_of_all(list[is_saved], k, other, a);

                CAPTURE(i, is_saved, k, count);
                CHECK(all[k - 1].time_s == Approx(want_s).epsilon(1e-9));
                CHECK(all[k - 1].is_complete);
                CHECK_FALSE(greedy[k - 1].is_complete);
                CHECK(greedy[k - 1].time_s >= want_s * (1 - 1e-9));
                CHECK(greedy[k - 1].time_s <= want_s * 1.01);
                CHECK(all[k - 1].lower_bound_s <= want_s * (1 + 1e-9));
                CHECK(std::is_sorted(all[k - 1].classes, all[k - 1].classes + k));
                worst = std::max(worst, greedy[k - 1].time_s / want_s - 1);
            }
        }
    }
    CHECK(worst < 1e-3); // 3e-10
}

TEST_CASE("hosts that are alike are as good as classes of one", "[fault_tolerance]")
{
    test_arena a;
    copies work{};
    finite_job good = host_job(20000, 7000, 60, 120, 600);
    finite_job bad = host_job(5000, 9000, 60, 120, 600);
    host_class classes[] = {{remedy_copy(&bad, false), 2},
                            {remedy_copy(&good, false), 2}};
    host_set sets[4];
    host_sets_in in{};

    in.classes = classes;
    in.class_count = 2;
    in.copies_max = 4;
    in.products_max = HOST_SETS_PRODUCTS_MAX;
    in.left_out_s = in.max_cost_s = HUGE_VAL;
    in.deadline_s = UNKNOWN;
    in.wants_bounds = true;
    host_sets_search(&in, &work, sets, a);
    compared single({bad, bad, good, good}, UNKNOWN, 4);
    const std::vector<size_t> want[] = {{1}, {1, 1}, {0, 1, 1}, {0, 0, 1, 1}};
    for (size_t k = 1; k <= 4; k++) {
        const remedy_option &o = single.of(k > 1 ? REMEDY_REPLICATION : REMEDY_NONE, k);

        CHECK(std::vector<size_t>(sets[k - 1].classes, sets[k - 1].classes + k) ==
              want[k - 1]);
        CHECK(sets[k - 1].time_s == Approx(o.expected_time_s).epsilon(1e-12));
        CHECK(sets[k - 1].lower_bound_s == Approx(o.lower_bound_s).epsilon(1e-12));
    }
    // hosts that are no class work for 6500 s at least: the bound knows no more
    in.left_out_s = 6500;
    host_sets_search(&in, &work, sets, a);
    CHECK(sets[1].lower_bound_s <= 6500);
    CHECK(sets[1].lower_bound_s >= 6400);
    // one that is on its way is in every set
    in.left_out_s = HUGE_VAL;
    in.fixed_count = 1;
    classes[0].host_count = 1;
    in.copies_max = 3;
    host_sets_search(&in, &work, sets, a);
    CHECK(sets[0].classes[0] == 0);
    CHECK(std::vector<size_t>(sets[1].classes, sets[1].classes + 2) ==
          std::vector<size_t>{0, 1});
    CHECK(sets[2].time_s ==
          Approx(single.of(REMEDY_REPLICATION, 3).expected_time_s).epsilon(1e-12));
}

TEST_CASE("a quick copy and slow ones are on one grid", "[fault_tolerance]")
{
    const finite_job slow = host_job(1e9, 2000, 60, 120, 600);
    const finite_job quick = host_job(1e9, 10, 60, 120, 600);
    compared got({slow, slow, quick});

    for (uint64_t copies : {2, 3}) {
        CHECK(got.time_s(REMEDY_REPLICATION, copies) == Approx(10).epsilon(1e-2));
        CHECK(got.time_s(REMEDY_BOTH, copies) == got.time_s(REMEDY_REPLICATION, copies));
    }
    // the quick one hardly ever ends: steps are coarser, but both are followed
    compared other({host_job(1.5, 10, 60, 120, 600), host_job(1e9, 500, 60, 120, 600)});
    CHECK(other.time_s(REMEDY_REPLICATION, 2) <= 500.1);
    CHECK(other.time_s(REMEDY_REPLICATION, 2) > 450);
}

TEST_CASE("both agrees with copies that are played", "[fault_tolerance][property]")
{
    rng r = rng_stream(1, "fault_tolerance_test.copies");
    const double cases[][3] = {{10800, 9000, 900}, {3000, 5000, 60}, {40000, 9000, 0}};

    for (auto &c : cases) {
        finite_job jobs[2] = {host_job(c[0], c[1], 20, 20, c[2]),
                              host_job(3 * c[0], 1.2 * c[1], 20, 20, c[2])};
        compared got({jobs[0], jobs[1]});
        for (bool is_saved : {false, true}) {
            copy first = remedy_copy(&jobs[0], is_saved);
            copy second = remedy_copy(&jobs[1], is_saved);
            double sum = 0, squares = 0;
            const int trials = 4000;

            for (int i = 0; i < trials; i++) {
                double time_s = std::min(play(first, &r), play(second, &r));

                sum += time_s;
                squares += time_s * time_s;
            }
            double mean_s = sum / trials;
            double error_s = std::sqrt((squares / trials - mean_s * mean_s) / trials);
            double told_s = got.time_s(is_saved ? REMEDY_BOTH : REMEDY_REPLICATION, 2);
            CAPTURE(c[0], is_saved);
            CHECK(std::fabs(told_s - mean_s) < 4 * error_s + 1e-3 * mean_s);
        }
    }
}

namespace
{
played play_all(const std::vector<copy> &list, bool shares_images, uint64_t trials,
                uint64_t seed = 1)
{
    std::vector<double> left(list.size(), 9000);
    play_in in{};
    played out{};

    in.copies = list.data();
    in.left = left.data();
    in.count = list.size();
    in.shares_images = shares_images;
    in.seed = seed;
    in.stream = "j1";
    in.trial_count = trials;
    in.precision_ratio = 0;
    copies_play(&in, &out);
    return out;
}
} // namespace

TEST_CASE("copies that are played take the time that is worked out", "[fault_tolerance]")
{
    const finite_job job = host_job(10800, 9000, 20, 20, 900);
    finite_job image_first = job; // an image before any work
    image_first.scratch_s = 3000;
    struct {
        std::vector<copy> list;
        double want_s;
    } cases[] = {
        {{remedy_copy(&job, false)}, 15221.418},
        {{remedy_copy(&job, true)}, 10363.008},
        {{remedy_copy(&job, false), remedy_copy(&job, false)}, 11042.93},
        {{remedy_copy(&job, true), remedy_copy(&job, true)}, 9724.97},
        {{remedy_copy(&image_first, true)},
         remedy_copy(&image_first, true).plan.expected_s},
    };
    CHECK(cases[4].list[0].plan.first_s == 0);
    for (auto &c : cases) {
        played p = play_all(c.list, false, 4000);
        CAPTURE(c.want_s, p.mean_s, p.ci95_s);
        CHECK(p.trial_count == 4000);
        CHECK_FALSE(p.is_cut);
        CHECK(std::fabs(p.mean_s - c.want_s) < 2 * p.ci95_s + 1e-3 * c.want_s);
    }
    CHECK(play_all(cases[1].list, false, 1500).mean_s ==
          play_all(cases[1].list, false, 1500).mean_s);
    CHECK(play_all(cases[1].list, false, 1500).mean_s !=
          play_all(cases[1].list, false, 1500, 2).mean_s);
    const finite_job never = host_job(1, 9000, 20, 20, 900);
    CHECK(std::isnan(play_all({remedy_copy(&never, false)}, false, 1000).mean_s));
}

TEST_CASE("copies that share images are done sooner", "[fault_tolerance]")
{
    const finite_job jobs[] = {host_job(2000, 9000, 20, 20, 900),
                               host_job(1500, 7000, 20, 20, 900)};
    std::vector<copy> list;

    for (auto &job : jobs)
        list.push_back(remedy_copy(&job, true));
    played apart = play_all(list, false, 4000), shared = play_all(list, true, 4000);
    CHECK(shared.mean_s + shared.ci95_s < 0.97 * apart.mean_s);
    CHECK(shared.mean_s > 7000);
    // alone there is nothing to share
    CHECK(play_all({list[0]}, true, 1000).mean_s ==
          Approx(play_all({list[0]}, false, 1000).mean_s).epsilon(1e-12));
}

TEST_CASE("sets of nodes end soonest of all of their site", "[fault_tolerance][property]")
{
    rng r = rng_stream(1, "fault_tolerance_test.node_sets");

    for (int i = 0; i < 60; i++) {
        size_t count = rng_index(&r, 9), size = 1 + rng_index(&r, 3), set_count = 0;
        std::vector<free_node> nodes;
        std::set<size_t> used;
        test_arena a;
        node_set *sets = nullptr;
        double left_out_s = 0;

        for (size_t n = 0; n < count; n++)
            nodes.push_back({n, n % 2, 1000 * (double)(1 + rng_index(&r, 4)),
                             2000 * (double)(1 + rng_index(&r, 5))});
        const std::vector<free_node> all = nodes;
        node_sets_find(nodes.data(), count, size, 2, &sets, &set_count, &left_out_s,
                       nullptr, a);
        for (size_t s = 0; s < set_count; s++) {
            double rate = 0, time_s = 0, best_s = HUGE_VAL;
            size_t site = all[sets[s].nodes[0]].site;

            REQUIRE(sets[s].count == size);
            CHECK(std::is_sorted(sets[s].nodes, sets[s].nodes + size));
            for (unsigned bits = 0; bits < 1u << count; bits++) { // of what is left
                double rates = 0, longest_s = 0;
                size_t taken = 0;

                for (size_t n = 0; n < count; n++) {
                    if (!(bits >> n & 1))
                        continue;
                    if (all[n].site != site || used.count(n))
                        taken = 99;
                    taken++;
                    rates += 1 / all[n].mean_s;
                    longest_s = std::max(longest_s, all[n].time_s);
                }
                if (taken == size)
                    best_s = std::min(best_s, std::expm1(longest_s * rates) / rates);
            }
            for (size_t n = 0; n < size; n++) {
                size_t node = sets[s].nodes[n];

                CHECK(all[node].site == site);
                CHECK(used.insert(node).second);
                rate += 1 / all[node].mean_s;
                time_s = std::max(time_s, all[node].time_s);
            }
            CHECK(sets[s].time_s == time_s);
            CHECK(sets[s].mean_s == Approx(1 / rate).epsilon(1e-12));
            CHECK(std::expm1(time_s * rate) / rate == Approx(best_s).epsilon(1e-9));
            CHECK((left_out_s <= time_s || std::isinf(left_out_s)));
        }
        size_t want = std::min<size_t>(2, (count + 1) / 2 / size) +
                      std::min<size_t>(2, count / 2 / size);
        CHECK(set_count == want);
    }
}

TEST_CASE("a copy more must be worth it", "[fault_tolerance]")
{
    compared got({3, host_job(172800, 9000, 5, 20, 900)});

    // one: 9111.9 with checkpoints; two: 9010.3; three: 9000.4
    CHECK(remedy_choose(got.o, 6, UNKNOWN, 3, 0) == 3);
    CHECK(remedy_choose(got.o, 6, UNKNOWN, 3, 0.01) == 2);
    CHECK(remedy_choose(got.o, 6, UNKNOWN, 3, 0.02) == 1);
    CHECK(got.o[2].expected_cost_cpu_s == Approx(17931.65).epsilon(1e-3));
    CHECK(remedy_choose(got.o, 6, 1.5 * 9000, 3, 0) == 1);
    CHECK(remedy_choose(got.o, 6, 2.5 * 9000, 3, 0) == 2);
    CHECK(remedy_choose(got.o, 6, UNKNOWN, 1, 0) == 1);
    CHECK(remedy_choose(got.o, 6, 9000, 3, 0) == SIZE_MAX);
    CHECK(remedy_cheapest(got.o, 6, 3) == 1);
}

TEST_CASE("remedies are numbers for everything within bounds",
          "[fault_tolerance][property]")
{
    rng r = rng_stream(1, "fault_tolerance_test.remedy");
    auto any = [&r](double low, double high) {
        return std::exp(std::log(low) + rng_uniform(&r) * std::log(high / low));
    };
    for (int i = 0; i < 60; i++) {
        std::vector<finite_job> jobs;
        double least_s = HUGE_VAL;

        for (int host = 0; host < 3; host++) {
            finite_job job = {any(1e-3, 1e15),
                              any(1e-3, 1e15),
                              any(1e-9, 1e6),
                              any(1e-9, 1e6),
                              any(1e-9, 1e6),
                              any(1e-9, 1e6),
                              1};

            if (i % 20 == 0)
                job.work_s = i % 40 ? 0 : HUGE_VAL;
            if (i % 7 == 0) // comparable scales
                job = {any(10, 1e4),
                       any(10, 1e5),
                       any(1, 100),
                       any(1, 100),
                       any(1, 100),
                       any(1, 100),
                       1};
            least_s = std::min(least_s, job.work_s);
            jobs.push_back(job);
        }
        compared got(jobs);
        CHECK(got.count == 6);
        for (size_t k = 0; k < got.count; k++) {
            const remedy_option &o = got.o[k];

            CAPTURE(i, k, o.expected_time_s, least_s);
            CHECK((std::isnan(o.expected_time_s) ||
                   o.expected_time_s >= least_s * (1 - 2e-3)));
            CHECK((std::isnan(o.expected_cost_cpu_s) ||
                   o.expected_cost_cpu_s >= least_s * (1 - 2e-3)));
            CHECK(o.success_probability >= 0);
            CHECK(o.success_probability <= 1);
        }
    }
}

static grid failing_grid(double mean_s)
{
    grid g;
    for (size_t i = 0; i < 4; i++) {
        g.resource(i, 1, 1);
        g.resources[i].mean_failure_interval_s = mean_s;
    }
    size_t job = g.job(9000);
    g.jobs[job].checkpoint_overhead_s = 5;
    g.jobs[job].restart_s = 20;
    g.jobs[job].reschedule_delay_s = 900;
    return g;
}

TEST_CASE("expected_time starts the remedy of least expected time", "[fault_tolerance]")
{
    rounds rs;
    struct {
        double mean_s, ratio;
        texts want;
    } cases[] = {
        {172800, UNKNOWN, {"start J0 R0", "start J0 R1"}}, // a third saves 0.2 %
        {172800, 2.5, {"start J0 R0", "start J0 R1"}},
        {172800, 1.5, {"start J0 R0", "on J0 R0"}},
        {10800,
         UNKNOWN,
         {"start J0 R0", "on J0 R0", "start J0 R1", "on J0 R1", "start J0 R2",
          "on J0 R2"}},
        {10800, 2.5, {"start J0 R0", "on J0 R0", "start J0 R1", "on J0 R1"}},
        {10800, 1.5, {"start J0 R0", "on J0 R0"}},
        {10800, 1, {}},
    };
    for (auto &c : cases) {
        CAPTURE(c.mean_s, c.ratio);
        grid g = failing_grid(c.mean_s);
        round_out out = rs.run(policy("expected_time"), g, {{"max_cost_ratio", c.ratio}});
        CHECK(action_texts(out) == c.want);
        CHECK(out.status == (c.want.empty() ? DECISION_INFEASIBLE : DECISION_FEASIBLE));
        REQUIRE(out.choice_count == 1);
        CHECK(out.choices[0].execution_s == 9000);
        CHECK(out.choices[0].cheapest == 1);
    }
    SECTION("no host is chosen blind to its failures")
    {
        grid g;
        g.resource(0, 1, 1);
        g.resource(0, 9000 / 8910.89, 1);
        g.resources[0].mean_failure_interval_s = 1e6;
        g.resources[1].mean_failure_interval_s = 200;
        size_t job = g.job(9000);
        g.jobs[job].checkpoint_overhead_s = g.jobs[job].restart_s = 60;
        g.jobs[job].reschedule_delay_s = 60;
        round_out out = rs.run(policy("expected_time"), g);
        CHECK(action_texts(out) == texts{"start J0 R0"});
        const round_choice &c = out.choices[0];
        CHECK(c.chosen == 0);
        CHECK(c.options[0].expected_time_s == Approx(9041.164).epsilon(1e-6));
        CHECK(c.options[0].success_probability == Approx(0.99104).epsilon(1e-4));
        CHECK(c.lower_bound_s == Approx(8910.89).epsilon(1e-6));
        CHECK(c.execution_s == 9000);
    }
    SECTION("with room for two copies two are chosen")
    {
        grid g = failing_grid(172800);
        g.resources[2].up = g.resources[3].up = false;
        CHECK(action_texts(rs.run(policy("expected_time"), g)) ==
              texts{"start J0 R0", "start J0 R1"});
    }
    SECTION("a running job gets copies and checkpoints, and loses no copy")
    {
        grid g = failing_grid(10800);
        g.copy(0, 1, 4000);
        // without an image a copy would begin with all of its 9000 s
        CHECK(action_texts(rs.run(policy("expected_time"), g)) == texts{"on J0 R1"});
        g.jobs[0].has_checkpoint = true;
        CHECK(action_texts(rs.run(policy("expected_time"), g)) ==
              texts{"on J0 R1", "start J0 R0 image", "on J0 R0", "start J0 R2 image",
                    "on J0 R2"});
        g.jobs[0].is_checkpointing = true;
        g.resources[1].mean_failure_interval_s = 1e12;
        round_out out = rs.run(policy("expected_time"), g, {{"max_cost_ratio", 1.0001}});
        CHECK(action_texts(out) == texts{"off J0 R1"});
        CHECK(out.choices[0].execution_s == 5000);
    }
    SECTION("a job without any room is only a job that waits")
    {
        grid g = failing_grid(10800);
        for (auto &x : g.resources)
            x.n_max = 0;
        round_out out = rs.run(policy("expected_time"), g);
        CHECK(out.status == DECISION_FEASIBLE);
        CHECK(out.choice_count == 0);
        CHECK(out.wait_count == 1);
    }
    SECTION("hopeless resources are never chosen")
    {
        grid g = failing_grid(0);
        round_out out = rs.run(policy("expected_time"), g);
        CHECK(out.status == DECISION_INFEASIBLE);
        CHECK(out.choices[0].chosen == SIZE_MAX);
    }
}

TEST_CASE("hosts that others surpass are left out, and none is missed",
          "[fault_tolerance]")
{
    rng r = rng_stream(1, "fault_tolerance_test.surpassed");

    for (size_t count : {60, 90}) {
        rounds rs;
        grid g;
        test_arena a;
        copies work{};
        std::vector<host_class> classes;

        g.job(9000);
        g.jobs[0].checkpoint_overhead_s = 1e5; // no checkpoint pays
        g.jobs[0].reschedule_delay_s = 600;
        for (size_t i = 0; i < count; i++) {
            g.resource(i, 1 + rng_uniform(&r), 1);
            g.resources[i].mean_failure_interval_s = 5000 + 20000 * rng_uniform(&r);
            finite_job job = host_job(g.resources[i].mean_failure_interval_s,
                                      9000 / g.resources[i].mips, 1e5, 0, 600);
            classes.push_back({remedy_copy(&job, false), 1});
        }
        round_out out = rs.run(policy("joint"), g, {{"min_gain_ratio", 0}});
        const round_choice &c = out.choices[0];
        host_set sets[3];
        host_sets_in in{};

        // without those far too slow to matter all fit
        std::sort(classes.begin(), classes.end(),
                  [](const host_class &x, const host_class &y) {
                      return x.copy.plan.expected_s < y.copy.plan.expected_s;
                  });
        classes.resize(60);
        in.classes = classes.data();
        in.class_count = classes.size();
        in.copies_max = 3;
        in.products_max = HOST_SETS_PRODUCTS_MAX;
        in.left_out_s = in.max_cost_s = HUGE_VAL;
        in.deadline_s = UNKNOWN;
        in.wants_bounds = true;
        host_sets_search(&in, &work, sets, a);
        REQUIRE(c.option_count == 6);
        CAPTURE(count);
        CHECK(c.options[0].expected_time_s == Approx(sets[0].time_s).epsilon(1e-12));
        for (size_t k : {2, 3}) {
            const remedy_option &o = c.options[k];

            CHECK(o.remedy == REMEDY_REPLICATION);
            CHECK(o.expected_time_s == Approx(sets[k - 1].time_s).epsilon(1e-4));
            CHECK(o.lower_bound_s <= o.expected_time_s);
            CHECK(o.is_proved);
        }
    }
}

TEST_CASE("fault-tolerance policies keep their promises", "[fault_tolerance][property]")
{
    check_table(fault_tolerance_policies, "fault_tolerance_test");
}

TEST_CASE("fault-tolerance policies are documented", "[fault_tolerance]")
{
    check_rows(fault_tolerance_policies);
}
