// fault_tolerance_test.cpp - checkpointing, copies, or both.
#include "tests/round_support.hpp"

#include <algorithm>

extern "C" {
#include "algorithms/fault_tolerance/fault_tolerance.h"
}

static const round_policy *policy(const char *name)
{
    return fault_tolerance_policy_find(name);
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

static remedy_in example(double mean_s)
{
    return {9000, mean_s, 5, 20, 900, 0.001, 3};
}

TEST_CASE("remedies take and cost what fault-tolerance.md 7.4 says", "[fault_tolerance]")
{
    struct {
        double mean_s, interval_s, time_s[6], cost[6];
    } rows[] = {
        {172800,
         1311.203,
         {9286.615, 9117.103, 9017.716, 9000.995, 9035.030, 9034.325},
         {9238.498, 9069.864, 17584.574, 26312.364, 18001.036, 27000.012}},
        {10800,
         325.309,
         {15221.418, 10071.436, 11936.013, 10553.481, 9166.955, 9139.212},
         {14050.540, 9296.710, 17951.352, 22360.641, 18016.346, 27000.738}},
    };
    const remedy remedies[] = {REMEDY_NONE,        REMEDY_CHECKPOINTING,
                               REMEDY_REPLICATION, REMEDY_REPLICATION,
                               REMEDY_BOTH,        REMEDY_BOTH};
    const uint64_t copies[] = {1, 1, 2, 3, 2, 3};
    for (size_t row = 0; row < 2; row++) {
        remedy_in in = example(rows[row].mean_s);
        remedy_option o[REMEDY_OPTIONS_MAX];
        REQUIRE(remedy_compare(&in, o) == 6);
        for (size_t i = 0; i < 6; i++) {
            CAPTURE(row, i);
            CHECK(o[i].remedy == remedies[i]);
            CHECK(o[i].replicas == copies[i]);
            CHECK(o[i].expected_time_s == Approx(rows[row].time_s[i]).epsilon(1e-7));
            CHECK(o[i].expected_cost_cpu_s == Approx(rows[row].cost[i]).epsilon(1e-7));
        }
        CHECK(o[1].interval_s == Approx(rows[row].interval_s).epsilon(2e-6));
        CHECK(std::isnan(o[0].interval_s));
        double limits[] = {UNKNOWN, 2.5 * 9000, 1.5 * 9000};
        size_t chosen[2][3] = {{3, 2, 1}, {5, 4, 1}};
        for (size_t l = 0; l < 3; l++)
            CHECK(remedy_choose(o, 6, limits[l], 3) == chosen[row][l]);
        CHECK(remedy_choose(o, 6, UNKNOWN, 1) == 1);
        CHECK(remedy_choose(o, 6, 9000, 3) == SIZE_MAX);
        CHECK(remedy_cheapest(o, 6, 3) == 1);
    }
    remedy_in in = example(172800);
    remedy_option o[REMEDY_OPTIONS_MAX];
    remedy_compare(&in, o);
    CHECK(o[0].success_probability == Approx(std::exp(-9000 / 172800.0)));
    CHECK(o[2].success_probability ==
          Approx(1 - std::pow(1 - std::exp(-9000 / 172800.0), 2)));
}

TEST_CASE("remedies are numbers for everything within bounds",
          "[fault_tolerance][property]")
{
    rng r = rng_stream(1, "fault_tolerance_test.remedy");
    auto any = [&r](double low, double high) {
        return std::exp(std::log(low) + rng_uniform(&r) * std::log(high / low));
    };
    for (int i = 0; i < 500; i++) {
        remedy_in in = {any(1e-3, 1e15),  any(1e-3, 1e15), any(1e-9, 1e6),
                        any(1e-9, 1e6),   any(1e-9, 1e6),  0.001,
                        REMEDY_COPIES_MAX};
        if (i % 50 == 0)
            in.execution_s = i % 100 ? 0 : HUGE_VAL;
        remedy_option o[REMEDY_OPTIONS_MAX];
        size_t count = remedy_compare(&in, o);
        CHECK(count == 2 * REMEDY_COPIES_MAX);
        for (size_t k = 0; k < count; k++) {
            CAPTURE(in.execution_s, in.mean_failure_interval_s, k, o[k].expected_time_s);
            CHECK((std::isnan(o[k].expected_time_s) ||
                   o[k].expected_time_s >= in.execution_s * (1 - 1e-9)));
            CHECK((std::isnan(o[k].expected_cost_cpu_s) ||
                   o[k].expected_cost_cpu_s >= in.execution_s * (1 - 1e-9)));
            CHECK(o[k].success_probability >= 0);
            CHECK(o[k].success_probability <= 1);
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
        {172800, UNKNOWN, {"start J0 R0", "start J0 R1", "start J0 R2"}},
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
        CHECK(action_texts(rs.run(policy("expected_time"), g)) ==
              texts{"on J0 R1", "start J0 R0", "on J0 R0", "start J0 R2", "on J0 R2"});
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

TEST_CASE("fault-tolerance policies keep their promises", "[fault_tolerance][property]")
{
    check_table(fault_tolerance_policies, "fault_tolerance_test");
}

TEST_CASE("fault-tolerance policies are documented", "[fault_tolerance]")
{
    check_rows(fault_tolerance_policies);
}
