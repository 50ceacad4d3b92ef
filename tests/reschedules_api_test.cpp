// reschedules_api_test.cpp - POST /v1/reschedules, and the rules of multi_phase.
#include "tests/api.hpp"
#include "tests/plan_support.hpp"

#include <fstream>
#include <set>

extern "C" {
#include "algorithms/migration/multi_phase.h"
}

using nlohmann::json;
using namespace plan_support;

namespace
{

const seconds eight = {
    {600, 600, 600, 1500, 1500, 1500, 600, 600},
    {1500, 1500, 1500, 600, 600, 600, 1500, 1500},
};

// The eight phases on one cluster, on schedule X.
struct running {
    test_arena a;
    grid_of g{{eight}, 300};
    std::vector<double> option = options(1200);
    std::vector<double> param;
    std::vector<multi_phase_done> history;
    multi_phase_in in{};

    explicit running(size_t done)
    {
        for (const struct param *p = migration_multi_phase_params; p->name; p++)
            param.push_back(p->preset);
        g.in.current = {0, 0};
        g.in.first_phase = done < 8 ? done + 1 : 8;
        in.plan = &g.in;
        in.plan_option = option.data();
        in.phases_done = done;
        in.since_last_move_s = HUGE_VAL;
        in.since_plan_s = 0;
    }
    multi_phase_out decide()
    {
        multi_phase_out out{};
        error err = collecting_error(a);
        in.history = history.data();
        in.history_count = history.size();
        REQUIRE(migration_multi_phase(&in, param.data(), &out, a, &err) == OK);
        return out;
    }
};

} // namespace

TEST_CASE("stop logic, rescheduling-plans.md 5.4", "[migration]")
{
    auto stops = [](size_t done, size_t stop_phase) {
        running r(done);
        r.in.stop_phase = stop_phase;
        return std::string(r.decide().reason) == "plan_marker";
    };

    CHECK_FALSE(stops(1, 3));
    CHECK_FALSE(stops(2, 3));
    CHECK(stops(3, 3));
    CHECK_FALSE(stops(3, 5)); // a new plan came after phase 2
    CHECK_FALSE(stops(4, 5));
    CHECK(stops(5, 5));
    CHECK(stops(6, 5)); // a plan whose marker has been passed
    CHECK_FALSE(stops(6, 0));
}

TEST_CASE("a running application moves at a marker if that saves time", "[migration]")
{
    running r(3);
    r.in.stop_phase = 3;
    multi_phase_out out = r.decide();
    CHECK(out.decision == MIGRATION_MIGRATE);
    CHECK(out.keep_s == 4500);
    CHECK(out.move_s == 2100); // 1800 and the move
    REQUIRE(out.has_plan);
    CHECK(out.plan.intervals[0].first == 4);
    CHECK(out.plan.intervals[0].last == 6);
    CHECK(out.plan.intervals[0].action == PLAN_INTRA);
    CHECK(out.plan.stop_phase == 6);

    r.param[MULTI_PHASE_SAVING] = 0.6;
    out = r.decide();
    CHECK(out.decision == MIGRATION_KEEP);
    CHECK(out.plan.intervals[0].action == PLAN_KEEP);
    CHECK(std::isnan(out.expectation_factor));
}

TEST_CASE("the first rule that applies decides", "[migration]")
{
    running r(3);
    r.in.since_plan_s = 100;
    CHECK(std::string(r.decide().reason) == "none");
    CHECK(r.decide().decision == MIGRATION_KEEP);
    CHECK_FALSE(r.decide().has_plan);

    r.in.since_plan_s = 600;
    multi_phase_out out = r.decide();
    CHECK(std::string(out.reason) == "periodic");
    CHECK(out.decision == MIGRATION_REPLAN);
    CHECK(out.plan.intervals[0].action == PLAN_KEEP); // a new plan, but no move

    // 1.5 times as long over the last three phases: a new plan from here.
    r.history = {{100, 10}, {100, 150}, {100, 160}, {100, 140}};
    out = r.decide();
    CHECK(std::string(out.reason) == "contract");
    CHECK(out.decision == MIGRATION_MIGRATE);
    r.param[MULTI_PHASE_SAVING] = 1; // nothing saves that much
    out = r.decide();
    CHECK(out.decision == MIGRATION_KEEP);
    CHECK(out.expectation_factor == Approx(1.5));
    r.history = {{100, 60}, {100, 65}, {100, 70}};
    CHECK(std::string(r.decide().reason) == "contract");
    r.history = {{100, 200}, {100, 200}}; // too few
    CHECK(std::string(r.decide().reason) == "periodic");
    r.history = {{100, 130}, {100, 130}, {100, 130}}; // the limit itself is inside
    CHECK(std::string(r.decide().reason) == "periodic");

    r.history = {{100, 150}, {100, 160}, {100, 140}};
    r.in.since_last_move_s = 1199;
    out = r.decide();
    CHECK(std::string(out.reason) == "min_interval");
    CHECK(out.decision == MIGRATION_KEEP);

    r.in.stop_phase = 3; // a planned move is not barred
    CHECK(std::string(r.decide().reason) == "plan_marker");

    r.in.machine_gone = true;
    r.param[MULTI_PHASE_SAVING] = 1;
    out = r.decide();
    CHECK(std::string(out.reason) == "forced");
    CHECK(out.decision == MIGRATION_MIGRATE); // no test of what it saves
    CHECK(out.keep_s == HUGE_VAL);

    running ended(8);
    ended.in.machine_gone = true;
    CHECK(std::string(ended.decide().reason) == "finished");
    CHECK(ended.decide().decision == MIGRATION_KEEP);
}

namespace
{

json example()
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/migration-multi_phase.json");
    REQUIRE(in.good());
    return json::parse(in);
}

json reschedule(api &a, const json &body)
{
    api_reply r = a.post("/v1/reschedules", body.dump());
    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 200);
    return r.json();
}

} // namespace

TEST_CASE("the example moves at its marker", "[api][migration]")
{
    api a;
    json answer = reschedule(a, example());

    CHECK(answer["algorithm"] == "multi_phase");
    CHECK(answer["reason"] == "plan_marker");
    REQUIRE(answer["decision"] == "migrate");
    CHECK(answer["target"] == answer["plan"][0]);
    CHECK(answer["plan"][0]["first_phase"] == 4);
    CHECK(answer["saving_s"].get<double>() ==
          Approx(answer["predicted_keep_s"].get<double>() -
                 answer["predicted_move_s"].get<double>()));
    CHECK(answer["saving_s"].get<double>() > 0);
    CHECK(answer["expectation_factor"].is_null());
    CHECK(reschedule(a, example())["plan"] == answer["plan"]);

    // The example has what the cost is worked out from.
    CHECK(answer["target"]["reschedule_cost_basis"] == "modelled");
    json body = example();
    for (json &s : body["snapshot"]["sites"])
        s.erase("intra_site_cost_s");
    body["options"].erase("inter_site_cost_s");
    body["jobs"][0].erase("checkpoint_bytes");
    body["jobs"][0]["current"]["resource_ids"] = {"gone"}; // so that it has to move
    answer = reschedule(a, body);
    REQUIRE(answer["decision"] == "migrate");
    CHECK(answer["target"]["reschedule_cost_basis"] == "default");
    CHECK(answer["target"].count("reschedule_cost_samples") == 0);
}

TEST_CASE("the plan at the end of a phase ends by steps", "[api][migration]")
{
    api a;
    json body = example();

    body["options"]["max_steps"] = 3;
    body["options"]["bound_effort"] = "none"; // option of multi_phase's plans
    json answer = reschedule(a, body);
    CHECK(answer["steps"] == 3);
    CHECK(answer["bound_effort"] == "none");
    CHECK(answer["status"] != "cut");
    CHECK(answer["plan"].back()["last_phase"] == body["jobs"][0]["phases"]);
    CHECK(reschedule(a, body)["plan"] == answer["plan"]);
}

TEST_CASE("a running job by its state", "[api][migration]")
{
    api a;
    json body = example();
    json &job = body["jobs"][0];

    job.erase("stop_phase");
    json answer = reschedule(a, body);
    CHECK(answer["decision"] == "keep");
    CHECK(answer["reason"] == "none");
    CHECK(answer["plan"].empty());
    CHECK(answer["target"].is_null());
    CHECK(answer["predicted_keep_s"].is_null());
    CHECK(answer["status"] == "feasible");
    CHECK(answer["unplaced"].empty());

    job["since_plan_s"] = 601;
    answer = reschedule(a, body);
    CHECK(answer["decision"] == "replan");
    CHECK(answer["plan"][0]["action"] == "keep");
    CHECK(answer["target"].is_null());

    job["current"]["resource_ids"].push_back("a99"); // one that is gone
    answer = reschedule(a, body);
    CHECK(answer["reason"] == "forced");
    CHECK(answer["decision"] == "migrate");
    CHECK(answer["predicted_keep_s"].is_null());
    CHECK(answer["target"]["action"] != "keep");

    job["min_processors"] = 10; // and nowhere to go
    answer = reschedule(a, body);
    CHECK(answer["status"] == "infeasible");
    CHECK(answer["decision"] == "keep");
    CHECK(answer["unplaced"].size() == 1);

    job["phases_done"] = 6;
    CHECK(reschedule(a, body)["reason"] == "finished");
}

TEST_CASE("what is wrong with a running job is said all at once", "[api][migration]")
{
    api a;
    json body = example();
    json &job = body["jobs"][0];

    job["phases_done"] = 7;
    job["stop_phase"] = 2.5;
    job["current"]["site_id"] = "c";
    body["algorithm"] = "multi-phase";
    body["options"] = {{"planner", "none"}, {"population", 1}};
    api_reply r = a.post("/v1/reschedules", body.dump());
    INFO(r.body);
    CHECK(r.status == 422);
    auto at = r.pointers();
    CHECK(std::set<std::string>(at.begin(), at.end()) ==
          std::set<std::string>{"/algorithm", "/options/planner", "/options/population",
                                "/jobs/0/phases_done", "/jobs/0/stop_phase",
                                "/jobs/0/current/site_id"});

    for (auto *missing : {"current", "phases_done", "phases", "id"}) {
        json less = example();
        less["jobs"][0].erase(missing);
        CHECK(a.post("/v1/reschedules", less.dump()).status == 422);
    }
    json zero = example();
    zero["jobs"][0]["phase_history"][0]["predicted_s"] = 0;
    CHECK(a.post("/v1/reschedules", zero.dump()).status == 422);
}
