// workflow_evaluations_api_test.cpp - POST /v1/evaluations of kind workflow: what a
// schedule of tasks that depend on each other is worth.
#include "tests/database.hpp"
#include "tests/workflow_api_support.hpp"

using namespace workflow_api;

namespace
{

const std::string path = "/v1/evaluations";

// a (3 on p0, 4 on p1), then b (2), 1.5 s between resources.
json body_with(const json &schedule)
{
    json b = {{"id", "b"},
              {"etc_s", {2, 2}},
              {"depends_on", {{{"task_id", "a"}, {"transfer_s", 1.5}}}}};
    return {{"kind", "workflow"},
            {"snapshot", plain_snapshot(2)},
            {"workflow", {{"tasks", {{{"id", "a"}, {"etc_s", {3, 4}}}, b}}}},
            {"schedule", schedule}};
}

json row(const char *task, const char *resource, double start_s)
{
    return {{"task_id", task}, {"resource_id", resource}, {"start_s", start_s}};
}

std::set<std::string> kinds_of(const json &answer)
{
    std::set<std::string> kinds;
    for (const json &v : answer.at("violations"))
        kinds.insert(v.at("kind"));
    return kinds;
}

} // namespace

TEST_CASE("the optimum of Topcuoglu's example is evaluated",
          "[api][workflow][evaluation]")
{
    api a;
    json j = answered(a, path, example("evaluation-workflow"));
    CHECK(j["kind"] == "workflow");
    CHECK(j["algorithm"] == "workflow");
    CHECK(j["valid"] == true);
    CHECK(j["violations"].empty());
    CHECK(j["objective"]["makespan_s"].get<double>() == Approx(73));
    CHECK(j["objective"]["lower_bound_s"].get<double>() <= 73);
    CHECK(j["objective"]["gap_ratio"].get<double>() ==
          Approx(73 / j["objective"]["lower_bound_s"].get<double>() - 1));
    CHECK(j["repaired_makespan_s"].get<double>() <= 73 + 1e-9);
    CHECK(j["status"] != "infeasible");
}

TEST_CASE("data that never come are the longest time there is, and a violation",
          "[api][workflow][evaluation]")
{
    api a;
    json body = body_with({row("a", "p0", 0), row("b", "p1", 5)});

    body["workflow"]["tasks"][1]["depends_on"][0]["transfer_s"] = 1e308;
    json j = answered(a, path, body);
    CHECK(j["valid"] == false);
    CHECK(j["objective"]["transfer_s"].get<double>() == 1e100);
}

TEST_CASE("a schedule of the service is valid, and worth what it said",
          "[api][workflow][evaluation][property]")
{
    api a;
    for (const char *name :
         {"workflow-heft", "workflow-cpop", "workflow-peft", "workflow-auto"}) {
        INFO(name);
        json body = example(name);
        json made = answered(a, "/v1/workflow-schedules", body);
        json schedule = json::array();
        for (const json &r : made["schedule"]) {
            json given = row("", "", r["start_s"]);
            given["task_id"] = r["task_id"];
            given["resource_id"] = r["resource_id"];
            given["finish_s"] = r["finish_s"];
            schedule.push_back(given);
        }
        body.erase("algorithm");
        body["kind"] = "workflow";
        body["schedule"] = schedule;
        json j = answered(a, path, body);
        INFO(j["violations"].dump());
        CHECK(j["valid"] == true);
        CHECK(j["objective"]["makespan_s"].get<double>() ==
              Approx(made["objective"]["makespan_s"].get<double>()));
        CHECK(j["objective"]["lower_bound_s"].get<double>() ==
              Approx(made["objective"]["lower_bound_s"].get<double>()));
        CHECK(j["repaired_makespan_s"].get<double>() <=
              made["objective"]["makespan_s"].get<double>() + 1e-6);
    }
}

TEST_CASE("a schedule of a workflow that runs can be evaluated as it was answered",
          "[api][workflow][evaluation]")
{
    api a;
    json body = example("workflow-auto-running");
    json made = answered(a, "/v1/workflow-schedules", body);
    size_t begun = 0;
    for (const json &r : made["schedule"])
        begun += r["start_s"].is_null();
    REQUIRE(begun > 0); // what runs need not say when it began
    body.erase("algorithm");
    body.erase("options");
    body["kind"] = "workflow";
    body["schedule"] = made["schedule"];
    body["time_limit_s"] = 1;
    json j = answered(a, path, body);
    INFO(j["violations"].dump());
    CHECK(j["valid"] == true);
    CHECK(j["objective"]["makespan_s"] == made["objective"]["makespan_s"]);
    CHECK(j["warnings"].dump().find(
              "ignored: /schedule: 3 rows of tasks that have begun") !=
          std::string::npos);
    CHECK(j["warnings"].dump().find("ignored: /time_limit_s") != std::string::npos);

    body["schedule"].back()["start_s"] = nullptr;
    body["schedule"].back()["resource_id"] = nullptr;
    std::string at = "/schedule/" + std::to_string(body["schedule"].size() - 1);
    CHECK(refused(a, path, body) == std::set<std::string>{at + "/resource_id"});
}

TEST_CASE("what a schedule breaks is named", "[api][workflow][evaluation]")
{
    api a;
    json j = answered(a, path, body_with({row("a", "p0", 0), row("b", "p0", 3)}));
    CHECK(j["valid"] == true);
    CHECK(j["status"] == "optimal");
    CHECK(j["objective"]["makespan_s"] == 5);
    CHECK(j["repaired_gap_ratio"] == 0);

    // b begins before its input is there: half a second is missing.
    j = answered(a, path, body_with({row("a", "p0", 0), row("b", "p1", 4)}));
    CHECK(kinds_of(j) == std::set<std::string>{"transfer"});
    CHECK(j["valid"] == false);
    CHECK(j["status"] == "infeasible");
    CHECK(j["violations"][0]["task_id"] == "b");
    CHECK(j["violations"][0]["other_task_id"] == "a");
    CHECK(j["violations"][0]["by_s"].get<double>() == Approx(0.5));
    CHECK(j["objective"]["makespan_s"] == 6);
    CHECK(j["repaired_makespan_s"].get<double>() == Approx(6.5));

    // b before a is done, on the same resource at the same time.
    j = answered(a, path, body_with({row("a", "p0", 0), row("b", "p0", 1)}));
    CHECK(kinds_of(j).count("precedence") == 1);
    CHECK(kinds_of(j).count("capacity") == 1);
    j = answered(a, path, body_with(json::array({row("a", "p0", 0)})));
    CHECK(kinds_of(j) == std::set<std::string>{"missing"});
    CHECK(j["repaired_makespan_s"].is_null());
    j = answered(a, path, body_with(json::array()));
    CHECK(j["violations"].size() == 2);
    j = answered(a, path,
                 body_with({row("a", "p0", 0), row("b", "p0", 3), row("b", "p1", 9)}));
    CHECK(kinds_of(j).count("twice") == 1);

    json body = body_with({row("a", "p0", 0), row("b", "p0", 3)});
    body["schedule"][0]["finish_s"] = 2;
    j = answered(a, path, body);
    CHECK(kinds_of(j).count("too_short") == 1);
    body = body_with({row("a", "p0", 0), row("b", "p0", 3)});
    body["workflow"]["tasks"][0]["release_s"] = 1;
    body["availability"] = {{{"resource_id", "p0"}, {"to_s", 4}}};
    j = answered(a, path, body);
    CHECK(kinds_of(j) == std::set<std::string>{"release", "not_available"});
    body = body_with({row("a", "p0", 0), row("b", "p0", 3)});
    body["workflow"]["tasks"][1]["etc_s"] = {nullptr, 2};
    CHECK(kinds_of(answered(a, path, body)).count("cannot_run") == 1);
}

TEST_CASE("mistakes in the body of a schedule to evaluate", "[api][workflow][evaluation]")
{
    api a;
    json body = body_with({row("x", "p0", 0), row("b", "p9", 3)});
    CHECK(refused(a, path, body) ==
          std::set<std::string>{"/schedule/0/task_id", "/schedule/1/resource_id"});
    body = body_with({{{"task_id", "a"}}, row("b", "p0", 0)});
    body["algorithm"] = "heft";
    body["schedule"][1]["finish"] = 3;
    CHECK(refused(a, path, body) ==
          std::set<std::string>{"/schedule/0/start_s", "/schedule/1/finish"});
    body["schedule"][0]["start_s"] = 0;
    body["schedule"][1].erase("finish");
    body.erase("algorithm");
    CHECK(refused(a, path, body) == std::set<std::string>{"/schedule/0/resource_id"});
    body = body_with({row("a", "p0", 0), row("b", "p0", 3)});
    body["algorithm"] = "heft";
    body["options"] = {{"gamma", 1}};
    CHECK(refused(a, path, body) ==
          std::set<std::string>{"/algorithm", "/options/gamma"});
    body = body_with(json::array());
    body.erase("schedule");
    body.erase("workflow");
    CHECK(refused(a, path, body) == std::set<std::string>{"/schedule"});
    body["schedule"] = json::array();
    CHECK(refused(a, path, body) == std::set<std::string>{"/workflow"});
    body["kind"] = "workflw";
    api_reply r = a.post(path, body.dump());
    CHECK(r.body.find("did you mean 'workflow'") != std::string::npos);
}

TEST_CASE("rows of several workflows name theirs", "[api][workflow][evaluation]")
{
    api a;
    json body = body_with(
        {row("a", "p0", 0), row("b", "p0", 3), row("a", "p1", 0), row("b", "p1", 4)});
    json one = body["workflow"], two = body["workflow"];
    one["id"] = "one";
    two["id"] = "two";
    body.erase("workflow");
    body["workflows"] = {one, two};
    CHECK(refused(a, path, body).count("/schedule/0/workflow_id") == 1);
    for (size_t i = 0; i < 4; i++)
        body["schedule"][i]["workflow_id"] = i < 2 ? "one" : "two";
    json j = answered(a, path, body);
    INFO(j["violations"].dump());
    CHECK(j["valid"] == true);
    CHECK(j["objective"]["makespan_s"] == 6);
    body["schedule"][3]["workflow_id"] = "three";
    CHECK(refused(a, path, body) == std::set<std::string>{"/schedule/3/workflow_id"});
}

TEST_CASE("long schedules are checked", "[api][workflow][evaluation]")
{
    api a;
    json tasks = json::array(), schedule = json::array();
    const int count = 10000;
    for (int i = 0; i < count; i++) {
        std::string id = std::to_string(i);
        json task = {{"id", id}, {"estimate_ref_s", 1}};
        if (i)
            task["depends_on"] = {{{"task_id", std::to_string(i - 1)}}};
        tasks.push_back(task);
        schedule.push_back({{"task_id", id}, {"resource_id", "p0"}, {"start_s", i}});
    }
    json body = {{"kind", "workflow"},
                 {"snapshot", plain_snapshot(1)},
                 {"workflow", {{"tasks", tasks}}},
                 {"schedule", schedule}};
    json j = answered(a, path, body);
    CHECK(j["valid"] == true);
    CHECK(j["objective"]["makespan_s"] == count);
    CHECK(j["status"] == "optimal");
}

TEST_CASE("an evaluation needs no more memory than it may have",
          "[api][workflow][memory]")
{
    api a;
    std::string body = body_with({row("a", "p0", 0), row("b", "p1", 4)}).dump();
    bool done = false;
    for (size_t cap = 256; !done; cap += 512) {
        api_reply r = a.call("POST", path, body, {}, cap);
        done = r.status == 200;
        if (!done)
            REQUIRE(r.status == 413);
        REQUIRE(cap < 4000000);
    }
}

TEST_CASE("a stored evaluation of a workflow replays the same", "[api][workflow][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    json body = example("evaluation-workflow");
    body["store"] = true;
    json made = answered(service, path, body);
    std::string id = made["decision_id"];
    CHECK(answered(service, "/v1/decisions/" + id + "/replay", json())["identical"] ==
          true);
}
