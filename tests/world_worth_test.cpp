// world_worth_test.cpp - what plans are worth, and which of two is better.
#include "tests/world_check_support.hpp"

extern "C" {
#include "algorithms/world/goal.h"
}

namespace
{

// A plan of rows; run times are those of the world.
class made_plan
{
  public:
    made_plan(const world *w, const std::vector<planned_row> &rows)
        : placed(w->job_count), sequence(w->job_count), on(w->job_count)
    {
        for (auto &row : rows) {
            world_placed &p = placed[row.job];
            on[row.job] = row.on;
            p.positions = on[row.job].data();
            p.position_count = row.on.size();
            p.start_s = row.start_s;
            for (size_t node : row.on)
                p.run_s = std::max(p.run_s, world_run_s(w, &w->jobs[row.job], node));
            p.done_s = p.start_s + p.run_s;
            p.end_s = p.start_s + world_held_s(w, &w->jobs[row.job], p.run_s);
            sequence[plan.placed_count++] = row.job;
        }
        plan.placed = placed.data();
        plan.sequence = sequence.data();
    }
    world_plan plan{};

  private:
    std::vector<world_placed> placed;
    std::vector<size_t> sequence;
    std::vector<std::vector<size_t>> on;
};

double value_of(const world *w, world_objective objective,
                const std::vector<planned_row> &rows)
{
    test_arena a;
    made_plan made(w, rows);
    world_goal goal{{objective}, 1};
    struct world_worth out {
    };

    require_valid(w, &made.plan);
    world_worth(w, &goal, &made.plan, &out, a);
    return out.value[0];
}

// Two unlike nodes, one of them partly taken until 5.
given_world five_jobs()
{
    given_world given;

    given.resources = {{"n1", 8, 16}, {"n2", 4, 8}};
    given.resources[1].speed = 2;
    given.resources[1].capacities = {{"gpus", 1}};
    given.holders = {{"r", {1}, 5, 2, 4}};
    given.jobs = {{"j1", 20, NAN, 4, 4},
                  {"j2", 12, NAN, 2, 6},
                  {"j3", 8, NAN, 4, 8},
                  {"j4", 30, NAN, 2, 2},
                  {"j5", 6, NAN, 1, 1}};
    const double weights[] = {1, 3, 2, 1, 4}, deadlines[] = {15, 8, 6, 20, 5};
    for (size_t j = 0; j < 5; j++) {
        given.jobs[j].weight = weights[j];
        given.jobs[j].deadline_s = deadlines[j];
    }
    return given;
}

} // namespace

TEST_CASE("makespan and total flow of the plans of six policies", "[world][worth]")
{
    given_world given = five_jobs();
    const world *w = given.build();
    const struct {
        const char *policy;
        double makespan_s, total_flow_s;
        std::vector<planned_row> plan;
    } rows[] = {
        {"olb", 30, 74, {{0, {0}}, {1, {0}}, {2, {1}, 5}, {3, {0}}, {4, {1}}}},
        {"met",
         40,
         104,
         {{0, {1}, 5}, {1, {1}, 15}, {2, {1}, 21}, {3, {1}, 25}, {4, {1}}}},
        {"mct", 30, 68, {{0, {1}, 5}, {1, {0}}, {2, {0}}, {3, {0}}, {4, {1}}}},
        {"min_min", 20, 60, {{0, {0}}, {1, {1}, 5}, {2, {0}}, {3, {1}, 3}, {4, {1}}}},
        {"max_min", 30, 68, {{0, {1}, 5}, {1, {0}}, {2, {0}}, {3, {0}}, {4, {1}}}},
        {"sufferage", 20, 68, {{0, {0}}, {1, {1}, 5}, {2, {0}}, {3, {1}}, {4, {0}, 8}}},
    };

    for (auto &row : rows) {
        INFO(row.policy);
        CHECK(value_of(w, OBJECTIVE_MAKESPAN, row.plan) == row.makespan_s);
        CHECK(value_of(w, OBJECTIVE_TOTAL_FLOW, row.plan) == row.total_flow_s);
    }
    CHECK(value_of(w, OBJECTIVE_WEIGHTED_COMPLETION, rows[3].plan) == 99);
    CHECK(value_of(w, OBJECTIVE_WEIGHTED_TARDINESS, rows[3].plan) == 18);
    CHECK(value_of(w, OBJECTIVE_LATE_JOBS, rows[3].plan) == 3);
    CHECK(value_of(w, OBJECTIVE_STARTED_NOW, rows[3].plan) == 7);
    CHECK(value_of(w, OBJECTIVE_NODES_USED, rows[3].plan) == 2);
    CHECK(value_of(w, OBJECTIVE_NODES_USED, rows[1].plan) == 1);
    CHECK(value_of(w, OBJECTIVE_MAKESPAN, {}) == 0);
}

TEST_CASE("releases, stage-out and jobs without a deadline", "[world][worth]")
{
    given_world given;
    given.resources = {{"n", 4}};
    given.jobs = {{"a", NAN, 10}, {"b", NAN, 5}, {"z", NAN, 0}};
    given.jobs[1].release_s = given.jobs[1].deadline_s = 3;
    given.jobs[1].weight = 0;
    world w = *given.build();
    std::vector<world_job> jobs(w.jobs, w.jobs + 3);
    const std::vector<planned_row> plan = {{0, {0}, 0}, {1, {0}, 4}};

    jobs[0].stage_out_s = 2;
    w.jobs = jobs.data();
    CHECK(value_of(&w, OBJECTIVE_MAKESPAN, plan) == 12);
    CHECK(value_of(&w, OBJECTIVE_TOTAL_FLOW, plan) == 12 + 9 - 3);
    CHECK(value_of(&w, OBJECTIVE_WEIGHTED_TARDINESS, plan) == 0);
    CHECK(value_of(&w, OBJECTIVE_LATE_JOBS, plan) == 1);
    CHECK(value_of(&w, OBJECTIVE_NODES_USED, {{2, {0}, 0}}) == 1);
    CHECK(value_of(&w, OBJECTIVE_COST, {{2, {0}, 0}}) == 0);
}

TEST_CASE("cost: the time with a job of the plan, and its cpus", "[world][worth]")
{
    given_world given;
    given.resources = {{"p1", 8}, {"p2", 8}};
    given.resources[0].price_per_s = given.resources[0].power_node_w = 0.001;
    given.resources[1].price_per_s = given.resources[1].power_node_w = 0.003;
    given.resources[1].speed = 2;
    given.jobs = {{"a", 100, NAN, 4}, {"b", 100, NAN, 4}, {"c", 100, NAN, 2}};
    given_world by_cpu = given;
    for (auto &r : by_cpu.resources)
        r.price_per_cpu_s = 0.0001;
    const world *w = given.build();
    const std::vector<planned_row> cheap = {{0, {0}}, {1, {0}}, {2, {0}, 100}},
                                   fast = {{0, {0}}, {1, {0}}, {2, {1}}};

    CHECK(value_of(w, OBJECTIVE_COST, cheap) == Approx(0.2).epsilon(1e-12));
    CHECK(value_of(w, OBJECTIVE_MAKESPAN, fast) == 100);
    CHECK(value_of(w, OBJECTIVE_COST, fast) == Approx(0.25).epsilon(1e-12));
    CHECK(value_of(w, OBJECTIVE_ENERGY, fast) == Approx(0.25).epsilon(1e-12));
    CHECK(value_of(by_cpu.build(), OBJECTIVE_COST, cheap) == Approx(0.3).epsilon(1e-12));
    // A gap costs nothing, an overlap once.
    CHECK(value_of(w, OBJECTIVE_COST, {{0, {0}, 0}, {1, {0}, 50}, {2, {0}, 500}}) ==
          Approx(0.25).epsilon(1e-12));
}

TEST_CASE("cost goes by the run, not by how long amounts are held", "[world][worth]")
{
    given_world given;
    given.resources = {{"n", 1}, {"m", 1}};
    given.jobs = {{"a", NAN, 10}, {"two", NAN, 10}};
    given.jobs[0].time_limit_s = 100;
    given.jobs[1].nodes = 2;
    given.plan_with_limit = true;
    for (auto &r : given.resources)
        r.price_per_s = r.price_per_cpu_s = 1;
    const world *w = given.build();

    CHECK(value_of(w, OBJECTIVE_COST, {{0, {0}}}) == 20);
    CHECK(value_of(w, OBJECTIVE_COST, {{1, {0, 1}}}) == 40);
}

TEST_CASE("the union of busy times, at random", "[world][worth][property]")
{
    rng r = rng_create(3);

    for (int round = 0; round < 200; round++) {
        given_world given;
        std::vector<planned_row> plan;
        std::vector<bool> busy(40, false);
        given.resources = {{"n", 100}};
        given.resources[0].price_per_s = 1;
        for (size_t j = 0, n = rng_index(&r, 6); j < n; j++) {
            double start = (double)rng_index(&r, 30), run = (double)rng_index(&r, 8);
            given.jobs.push_back({"j", NAN, run});
            plan.push_back({j, {0}, start});
            for (double t = start; t < start + run; t++)
                busy[(size_t)t] = true;
        }
        CHECK(value_of(given.build(), OBJECTIVE_COST, plan) ==
              (double)std::count(busy.begin(), busy.end(), true));
    }
}

TEST_CASE("of two plans: unplaced jobs, then level after level", "[world][worth]")
{
    const world_goal goal{{OBJECTIVE_STARTED_NOW, OBJECTIVE_MAKESPAN}, 2};
    auto compare = [&](const struct world_worth &a, const struct world_worth &b) {
        CHECK(world_compare(&goal, &a, &b) == -world_compare(&goal, &b, &a));
        return world_compare(&goal, &a, &b);
    };

    CHECK(compare({0, {1, 9}}, {1, {9, 1}}) < 0);
    CHECK(compare({0, {2, 9}}, {0, {1, 1}}) < 0); // more weight is better
    CHECK(compare({0, {2, 8}}, {0, {2, 9}}) < 0); // a shorter plan is
    CHECK(compare({0, {2, 9}}, {0, {2, 9}}) == 0);
    CHECK(compare({0, {2, 9e9}}, {0, {2, 9e9 + 8}}) == 0);
    CHECK(compare({0, {2, 9e9}}, {0, {2, 9e9 + 10}}) < 0);
    CHECK(compare({0, {2, 0}}, {0, {2, 0.9e-9}}) == 0);
    CHECK(compare({0, {2, 0}}, {0, {2, 2e-9}}) < 0);
}

TEST_CASE("objectives are read by name, all mistakes at once", "[world][worth]")
{
    test_arena a;
    error err = collecting_error(a);
    world_goal goal{};
    const char *two[] = {"cost", "makespan_s"};

    REQUIRE(world_goal_read(nullptr, 0, &goal, &err) == OK);
    CHECK(goal.level_count == 1);
    CHECK(goal.level[0] == OBJECTIVE_MAKESPAN);
    REQUIRE(world_goal_read(two, 2, &goal, &err) == OK);
    REQUIRE(goal.level_count == 2);
    CHECK(goal.level[0] == OBJECTIVE_COST);
    CHECK(goal.level[1] == OBJECTIVE_MAKESPAN);
    CHECK(world_goal_has(&goal, OBJECTIVE_MAKESPAN));
    CHECK_FALSE(world_goal_has(&goal, OBJECTIVE_ENERGY));

    const char *wrong[] = {"costs", "cost", "cost"};
    CHECK(world_goal_read(wrong, 3, &goal, &err) == ERR_INVALID);
    REQUIRE(err.item_count == 2);
    CHECK(std::string(err.first->pointer) == "/objective/0");
    CHECK(err.first->code == ITEM_NOT_A_CHOICE);
    CHECK(std::string(err.first->next->pointer) == "/objective/2");
    CHECK(err.first->next->code == ITEM_DUPLICATE);
    error empty = collecting_error(a), many = collecting_error(a);
    CHECK(world_goal_read(two, 0, &goal, &empty) == ERR_INVALID);
    CHECK(empty.first->code == ITEM_TOO_SHORT);
    const char *five[] = {"cost", "energy_j", "late_jobs", "nodes_used", "makespan_s"};
    CHECK(world_goal_read(five, 5, &goal, &many) == ERR_INVALID);
    CHECK(many.first->code == ITEM_TOO_LONG);
}

TEST_CASE("values and their bounds: gaps, sides, and when they are proven",
          "[world][worth]")
{
    const world_goal goal{
        {OBJECTIVE_STARTED_NOW, OBJECTIVE_MAKESPAN, OBJECTIVE_LATE_JOBS, OBJECTIVE_COST},
        4};
    const struct world_worth worth {
        0,
        {
            13, 30, 0, 5
        }
    };
    struct world_bound bounds[4] = {};
    world_value v[4];

    bounds[0] = {true, 14, {}};
    bounds[1] = {true, 30 * (1 - 1e-9), {}};
    bounds[2] = {true, 0, {}};
    CHECK_FALSE(world_values(&goal, &worth, bounds, v));
    CHECK(std::string(v[0].bound_kind) == "upper");
    CHECK(v[0].gap_ratio == Approx(1.0 / 13));
    CHECK_FALSE(v[0].proven);
    CHECK(std::string(v[1].name) == "makespan_s");
    CHECK(v[1].proven);
    CHECK(v[1].gap_ratio == 0);
    CHECK(v[2].proven);
    CHECK(std::isnan(v[2].gap_ratio)); // 0 / 0
    CHECK(std::isnan(v[3].bound));
    CHECK(std::string(v[3].bound_kind) == "lower");
    CHECK_FALSE(v[3].proven);
    bounds[0].value = 13 - 1e-12; // by rounding
    bounds[3] = {true, 4, {}};
    CHECK_FALSE(world_values(&goal, &worth, bounds, v));
    CHECK(v[0].bound == 13);
    CHECK(v[3].gap_ratio == 0.25);
    bounds[3].value = 5;
    CHECK(world_values(&goal, &worth, bounds, v));
    CHECK_FALSE(world_values(&goal, &worth, nullptr, v));
}
