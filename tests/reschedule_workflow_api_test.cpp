// reschedule_workflow_api_test.cpp - POST /v1/reschedules for workflows: the moves of a
// round, without starts.
#include "tests/database.hpp"
#include "tests/workflow_api_support.hpp"

extern "C" {
#include "algorithms/workflow/round.h"
}

using namespace workflow_api;

namespace
{
const std::string path = "/v1/reschedules";
}

TEST_CASE("step 2 alone moves as a whole round does", "[api][workflow][reschedule]")
{
    api a;
    json body = example("migration-workflow_round");
    json j = answered(a, path, body);
    CHECK(j["kind"] == "workflow_round");
    CHECK(j["algorithm"] == "balanced");
    CHECK(moves_of(j) == std::vector<std::string>{"migrate a CR1 CR2 5000.007",
                                                  "migrate b CR0 CR1 3416.002"});
    CHECK_FALSE(j.contains("placements"));
    CHECK_FALSE(j.contains("because"));
    json round = body;
    round.erase("kind");
    json whole = answered(a, "/v1/workflow-schedules", round);
    CHECK(j["reschedules"] == whole["reschedules"]);
    CHECK(j["parent_sets"] == whole["parent_sets"]);

    // A ready task is none of its business.
    body["workflows"][0]["tasks"].push_back({{"id", "ready"}, {"estimate_ref_s", 5}});
    CHECK(answered(a, path, body)["reschedules"] == j["reschedules"]);
    round["workflows"] = body["workflows"];
    CHECK(answered(a, "/v1/workflow-schedules", round)["placements"].size() == 1);
}

TEST_CASE("every dynamic policy means a round of workflows",
          "[api][workflow][reschedule][property]")
{
    api a;
    for (const struct policy *p = workflow_round_policies; p->name; p++) {
        json body = example("migration-workflow_round");
        INFO(p->name);
        body["algorithm"] = p->name;
        json j = answered(a, path, body);
        CHECK(j["kind"] == "workflow_round");
        CHECK(j["algorithm"] == p->name);
        if (!(p->flags & WORKFLOW_ROUND_MOVES))
            CHECK(j["reschedules"].empty());
        CHECK(timeless(answered(a, path, body)) == timeless(j));
    }
}

TEST_CASE("with the event the algorithm may be missing", "[api][workflow][reschedule]")
{
    api a;
    json body = example("migration-workflow_round");
    body.erase("algorithm");
    body["kind"] = "workflow_round";
    json j = answered(a, path, body);
    CHECK(moves_of(j) == std::vector<std::string>{"migrate a CR1 CR2 5000.007"});
    CHECK(j["because"].get<std::string>().find("longest") != std::string::npos);
    body["algorithm"] = "auto";
    CHECK(timeless(answered(a, path, body)) == timeless(j));
    body["options"] = {{"balance", "all"}};
    CHECK(moves_of(answered(a, path, body)).size() == 2);
    body["algorithm"] = "heft";
    CHECK(refused(a, path, body) == std::set<std::string>{"/algorithm"});
}

TEST_CASE("mistakes in a round of workflows", "[api][workflow][reschedule]")
{
    api a;
    json body = example("migration-workflow_round");
    json &tasks = body["workflows"][0]["tasks"];
    tasks[1]["progress_ratio"] = 1.2;
    tasks[2]["resource_id"] = nullptr;
    CHECK(refused(a, path, body) ==
          std::set<std::string>{"/workflows/0/tasks/1/progress_ratio"});
    tasks[1]["progress_ratio"] = 0.2;
    tasks[1]["resource_id"] = "CR9";
    CHECK(refused(a, path, body) ==
          std::set<std::string>{"/workflows/0/tasks/1/resource_id",
                                "/workflows/0/tasks/2/resource_id"});
    body = example("migration-workflow_round");
    body["options"] = {{"gamma", 2}, {"theta", 0.5}, {"delay_rule", "none"}};
    CHECK(refused(a, path, body) == std::set<std::string>{"/options/gamma",
                                                          "/options/theta",
                                                          "/options/delay_rule"});
    body = example("migration-workflow_round");
    body["carry_over"] = json::array();
    CHECK(refused(a, path, body) == std::set<std::string>{"/carry_over"});
    body.erase("carry_over");
    body.erase("workflows");
    body.erase("snapshot");
    CHECK(refused(a, path, body) == std::set<std::string>{"/snapshot", "/workflow"});
}

TEST_CASE("a stored round replays the same", "[api][workflow][reschedule][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    json body = example("migration-workflow_round");
    body["store"] = true;
    std::string id = answered(service, path, body)["decision_id"];
    CHECK(answered(service, "/v1/decisions/" + id + "/replay", json())["identical"] ==
          true);
}
