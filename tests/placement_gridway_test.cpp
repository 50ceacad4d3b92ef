// placement_gridway_test.cpp - GridWay's rounds and priorities, and the experiment of
// spec gridway.md 6 in small.
#include "tests/placement_support.hpp"

#include <algorithm>

TEST_CASE("gridway starts jobs now, each on its best-ranked free slot", "[placement]")
{
    world w;
    test_arena a;
    w.busy(w.host("fast", 4), {10});
    w.host("slow", 1);
    w.host("medium", 2);
    for (const char *id : {"a", "b", "c"})
        w.task(id, 8);
    placement_out out = decided(w, "gridway", a);
    CHECK(plan_text(out) == "a medium 4, b slow 8");
    CHECK(out.placements[0].rank == -4);
    REQUIRE(reason_of(out, "c", "no_free_now") != nullptr);
    CHECK(reason_of(out, "c", "no_free_now")->resource_count == 3);
}

TEST_CASE("ranks are evaluated as the round fills slots", "[placement]")
{
    world w;
    test_arena a;
    w.host("p").n_max = 3;
    w.host("q").n_max = 4;
    for (const char *id : {"a", "b", "c", "d"})
        w.task(id, 8).rank = "slots_free";
    CHECK(plan_text(decided(w, "gridway", a)) == "a q 8, b p 8, c q 8, d p 8");
    for (job &j : w.jobs)
        j.requirement = "slots_free >= 3";
    CHECK(plan_text(decided(w, "gridway", a)) == "a q 8, b p 8, c q 8");
}

TEST_CASE("an undefined rank comes last, a job without estimate is placed", "[placement]")
{
    world w;
    test_arena a;
    w.host("x");
    w.attributes(w.host("y"), {{"score", VALUE_NUMBER, -5, nullptr}});
    w.task("a", NAN).rank = "score";
    w.task("b", 1).rank = "score";
    placement_out out = decided(w, "gridway", a);
    REQUIRE(out.placement_count == 2);
    CHECK(std::string(out.placements[0].resource_id) == "y");
    CHECK(std::isnan(out.placements[0].finish_s));
    CHECK(std::isnan(out.placements[1].rank));
    CHECK(out.objective.makespan_s == 1);
    CHECK(decided(w, "mct", a).placement_count == 1);
}

TEST_CASE("a round's limits", "[placement]")
{
    world w;
    test_arena a;
    w.host("r").n_max = 100;
    w.host("s", 0.5).n_max = 100;
    for (int i = 0; i < 40; i++)
        w.task("j" + std::to_string(i), 1).user = i % 2 ? "alice" : "bob";
    CHECK(decided(w, "gridway", a).placement_count == 40);
    placement_out out = decided(w, "gridway", a, {option("limits", "gridway5")});
    CHECK(out.placement_count == 10); // 5 on each
    CHECK(reason_of(out, "j39", "no_free_now") != nullptr);
    out =
        decided(w, "gridway", a,
                {option("limits", "gridway5"), option("max_dispatch_per_resource", 0.0)});
    CHECK(out.placement_count == 15);
    CHECK(reason_of(out, "j39", "round_full") != nullptr);
    w.users.push_back({"alice", 5, nullptr, 0, 28});
    out =
        decided(w, "gridway", a,
                {option("limits", "gridway5"), option("max_dispatch_per_resource", 0.0)});
    CHECK(reason_of(out, "j5", "user_limit") != nullptr);
    CHECK(out.placement_count == 15);
    out = decided(w, "gridway", a, {option("max_running_per_resource", 3.0)});
    CHECK(out.placement_count == 6);
}

TEST_CASE("users take turns under the limits of the flood scheduler", "[placement]")
{
    world w;
    test_arena a;
    w.host("r").n_max = 100;
    w.host("s", 0.5).n_max = 100;
    for (int i = 0; i < 20; i++)
        w.task("a" + std::to_string(i), 1).user = "alice";
    for (int i = 0; i < 7; i++)
        w.task("b" + std::to_string(i), 1).user = "bob";
    placement_out out = decided(w, "gridway", a, {option("limits", "gridway5_flood")});
    CHECK(order_text(out) == "a0 a1 a2 a3 a4 b0 b1 b2 b3 b4 a5 a6 a7 a8 a9");
    CHECK(reason_of(out, "b5", "round_full") != nullptr);
    for (size_t i = 0; i < out.placement_count; i++) // ten slots of the fast one
        CHECK(std::string(out.placements[i].resource_id) == (i < 10 ? "r" : "s"));
    out = decided(w, "gridway", a,
                  {option("limits", "gridway5_flood"), option("dispatch_chunk", 0.0)});
    CHECK(out.placement_count == 20); // ten on each
    CHECK(reason_of(out, "a19", "no_free_now") != nullptr);
    w.resources[1].job_count = 8;
    w.users.push_back({"bob", 5, nullptr, 0, 29});
    out = decided(w, "gridway", a,
                  {option("limits", "gridway5_flood"), option("dispatch_chunk", 0.0)});
    CHECK(out.placement_count == 12);
    CHECK(reason_of(out, "b1", "user_limit") != nullptr);
}

TEST_CASE("hold_back leaves slow slots free", "[placement]")
{
    world w;
    test_arena a;
    w.busy(w.host("fast", 10), {1});
    w.host("slow", 1);
    w.task("a", 100);
    placement_out out = decided(w, "gridway", a, {option("hold_back", true)});
    CHECK(out.placement_count == 0);
    CHECK(reason_of(out, "a", "better_soon") != nullptr);
    CHECK(decided(w, "gridway", a).placement_count == 1);
}

TEST_CASE("bans grow with the time since the first failure", "[placement]")
{
    struct {
        double since_s, ban_s;
    } cases[] = {{0, 360},     {5, 0},       {360, 1530}, {650, 2275},
                 {1800, 3374}, {3600, 3585}, {7200, 3599}};
    for (auto &c : cases)
        CHECK(priority_ban_s(c.since_s, 3600) == c.ban_s);
    CHECK(priority_ban_s(650, 0) == 0);
}

// The five jobs of spec gridway.md 4.1; 0 is some instant.
static void weighted_jobs(world &w)
{
    const double hour_s = 3600, now_s = 1e9;
    w.snap.taken_at_s = now_s;
    w.users.push_back({"alice", 4, w.array({3, 10}), 2, 0});
    w.users.push_back({"bob", 2, w.array({1}), 1, 0});
    struct {
        const char *id, *user;
        double fixed, queued_h, deadline_h;
    } jobs[] = {
        {"A1", "alice", 5, 2, 24}, {"A2", "alice", 5, 2, NAN},     {"B1", "bob", 0, 6, 6},
        {"B2", "bob", 0, 1, NAN},  {"B3", "bob", 0, 1, -1.0 / 60},
    };
    for (auto &j : jobs) {
        job &t = w.task(j.id, 10);
        t.user = w.text(j.user);
        t.fixed_priority = j.fixed;
        t.queued_at_s = now_s - j.queued_h * hour_s;
        t.deadline_at_s = now_s + j.deadline_h * hour_s;
    }
    w.host("r");
}

TEST_CASE("jobs by weighted priority (spec gridway.md 4.1)", "[placement]")
{
    world w;
    test_arena a;
    weighted_jobs(w);
    CHECK(order_text(decided(w, "mct", a)) == "A1 A2 B1 B2 B3");
    CHECK(order_text(decided(w, "mct", a, {option("job_order", "gridway_priority")})) ==
          "B3 A1 B1 A2 B2");
    w.jobs[3].fixed_priority = 20; // urgent
    CHECK(order_text(decided(w, "mct", a, {option("job_order", "gridway_priority")}))
              .substr(0, 2) == "B2");

    w.jobs[3].fixed_priority = 0;
    double common[COMMON_COUNT];
    error err = collecting_error(a);
    placement_problem p;
    double priority[5];
    named_value order = option("job_order", "gridway_priority");
    REQUIRE(params_bind(placement_common_params, &order, 1, common, &err) == OK);
    REQUIRE(problem_prepare(w.request(), common, &p, a, &err) == OK);
    priority_jobs(&p, priority);
    const double want[] = {1.51, 1.00, 1.34, 0.50, 2.00};
    for (size_t i = 0; i < 5; i++)
        CHECK(priority[i] == Approx(want[i]).epsilon(1e-12));
}

TEST_CASE("resources by weighted priority (spec gridway.md 4.2)", "[placement]")
{
    world w;
    test_arena a;
    w.host("r1").fixed_priority = 1;
    w.host("r2").fixed_priority = 2;
    w.host("r3").fixed_priority = 2;
    w.host("unused").fixed_priority = 0;
    w.usage.push_back({"alice", "r1", 400, 200, NAN, NAN});
    w.usage.push_back({"alice", "r3", NAN, 700, NAN, NAN});
    for (const char *id : {"a", "b", "c", "d"})
        w.task(id, 10).user = "alice";
    double common[COMMON_COUNT];
    error err = collecting_error(a);
    placement_problem p;
    REQUIRE(params_bind(placement_common_params, nullptr, 0, common, &err) == OK);
    REQUIRE(problem_prepare(w.request(), common, &p, a, &err) == OK);
    size_t pos[] = {0, 1, 2};
    double rank[] = {2000, 1000, 1500}, priority[3];
    priority_resources(&p, 0, pos, rank, 3, priority);
    CHECK(priority[0] == Approx(2.5).epsilon(1e-12));
    CHECK(priority[1] == Approx(2.0).epsilon(1e-12));
    CHECK(priority[2] == Approx(2.25).epsilon(1e-12));

    const double ranks[] = {2000, 1000, 1500, 9000};
    for (size_t i = 0; i < 4; i++)
        w.attributes(w.resources[i], {{"score", VALUE_NUMBER, ranks[i], nullptr}});
    for (job &j : w.jobs)
        j.rank = "score";
    placement_out out =
        decided(w, "gridway", a, {option("resource_order", "gridway_priority")});
    CHECK(plan_text(out) == "a r1 10, b r3 10, c r2 10");
    CHECK(reason_of(out, "d", "priority_zero")->resource_count == 1);

    double negative[] = {-100, -400};
    common[COMMON_W_RESOURCE_FIXED] = common[COMMON_W_USAGE] = 0;
    priority_resources(&p, 0, pos, negative, 2, priority);
    CHECK(priority[0] == -0.25);
    CHECK(priority[1] == -1);
}

// ---- the 50-task experiment, replayed with placement_decide() at every event ----

struct running {
    double end_s = HUGE_VAL, started_s = 0;
    bool busy = false;
};

static const double frozen_from_s = 1052, frozen_to_s = 2022;

static double lognormal(rng &r, double mean)
{
    const double sigma = std::sqrt(std::log(1 + 0.2 * 0.2));
    double z = std::sqrt(-2 * std::log(1 - rng_uniform(&r))) *
               std::cos(2 * M_PI * rng_uniform(&r));
    return std::exp(std::log(mean) - sigma * sigma / 2 + sigma * z);
}

// Makespan of one run; `on_pegasus` counts its tasks. Pegasus is host 0.
static double sweep(uint64_t seed, bool hold_back, bool freeze, size_t &on_pegasus)
{
    const double mean_s[] = {62, 1000, 350, 520, 421};
    const char *names[] = {"pegasus", "draco", "solea", "ursa", "babieca"};
    running hosts[5];
    double now_s = 0;
    size_t pending = 50, running_count = 0;
    rng r = rng_stream(seed, "experiment");
    test_arena a;
    while (pending || running_count) {
        bool frozen = freeze && now_s >= frozen_from_s && now_s < frozen_to_s;
        arena_reset(a);
        world w;
        for (size_t i = 0; i < 5; i++) {
            resource &h = w.host(names[i], 1 / mean_s[i]);
            h.failed = i == 0 && frozen;
            if (hosts[i].busy)
                w.busy(h, {std::max(0.0, hosts[i].started_s + mean_s[i] - now_s)});
        }
        for (size_t i = 0; i < pending; i++)
            w.task("t" + std::to_string(i), 1);
        placement_out out = decided(w, "gridway", a, {option("hold_back", hold_back)});
        for (size_t k = 0; k < out.placement_count; k++) {
            size_t i = 0;
            while (std::string(names[i]) != out.placements[k].resource_id)
                i++;
            REQUIRE(!hosts[i].busy);
            hosts[i] = {now_s + lognormal(r, mean_s[i]), now_s, true};
            if (i == 0 && freeze && now_s < frozen_from_s &&
                hosts[0].end_s > frozen_from_s)
                hosts[0].end_s += frozen_to_s - frozen_from_s;
            pending--;
            running_count++;
            on_pegasus += i == 0;
        }
        double next_s = HUGE_VAL;
        for (auto &h : hosts)
            if (h.busy)
                next_s = std::min(next_s, h.end_s);
        for (double event_s : {frozen_from_s, frozen_to_s})
            if (freeze && event_s > now_s)
                next_s = std::min(next_s, event_s);
        now_s = next_s;
        for (auto &h : hosts)
            if (h.busy && h.end_s <= now_s) {
                h.busy = false;
                running_count--;
            }
    }
    return now_s;
}

TEST_CASE("the sweep of 50 tasks has the shape of spec gridway.md 6", "[placement]")
{
    const int runs = 100;
    double mean[2][2] = {};
    size_t pegasus[2] = {};
    for (int hold_back = 0; hold_back < 2; hold_back++)
        for (int freeze = 0; freeze < 2; freeze++)
            for (int seed = 1; seed <= runs; seed++) {
                size_t count = 0;
                mean[hold_back][freeze] +=
                    sweep(static_cast<uint64_t>(seed), hold_back, freeze, count) / runs;
                if (hold_back)
                    pegasus[freeze] += count;
            }
    INFO("means: " << mean[0][0] << " " << mean[0][1] << " hold_back " << mean[1][0]
                   << " " << mean[1][1] << " pegasus " << pegasus[0] / 100.0 << " "
                   << pegasus[1] / 100.0);
    CHECK(mean[0][0] > 2105 * 1.10);
    CHECK(mean[0][0] < 2105 * 1.30);
    CHECK(mean[1][0] < 2105 * 1.06);
    CHECK(mean[1][1] < 2800 * 1.05);
    CHECK(mean[0][1] > mean[1][1]);
    CHECK(pegasus[0] >= pegasus[1] + 4 * runs);
}

TEST_CASE("gridway places equal jobs on equal nodes without looking at all",
          "[placement]")
{
    world w;
    test_arena a;
    for (size_t i = 0; i < 5000; i++)
        w.host("r" + std::to_string(i)).cpus = 16;
    for (size_t i = 0; i < 100000; i++)
        w.task("j" + std::to_string(i), 100);
    placement_out out = decided(w, "gridway", a);
    REQUIRE(out.placement_count == 80000);
    CHECK(out.unplaced_class_count == 1);
    for (size_t i : {0, 15, 16, 79999})
        CHECK(std::string(out.placements[i].resource_id) ==
              "r" + std::to_string(i / 16)); // ties go to the lowest index
}
