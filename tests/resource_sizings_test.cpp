// resource_sizings_test.cpp - POST /v1/resource-sizings: what tasks are to ask for.
#include "tests/database.hpp"
#include "tests/model_support.hpp"

using nlohmann::json;

namespace
{
json sized(api &a, const json &body, int status = 200)
{
    api_reply r = a.post("/v1/resource-sizings", body.dump());
    INFO(r.body.substr(0, 2000));
    REQUIRE(r.status == status);
    return r.json();
}

const double GB = 1e9;
} // namespace

TEST_CASE("mistakes of a sizing are all said", "[sizing][api]")
{
    api a;
    api_reply r = a.post("/v1/resource-sizings", R"({"capacity_bytes": 10, "tasks": [
        {"id": "a", "application_id": "x", "model_id": "y"}, {"id": "a"},
        {"id": "c", "application_id": "x", "attempt": 2}]})");
    CHECK(r.status == 422);
    std::vector<std::string> want = {"/capacity_bytes", "/tasks/0/model_id",
                                     "/tasks/1/id", "/tasks/1/application_id",
                                     "/tasks/2/memory_requested_bytes"};
    CHECK(r.pointers() == want);
    CHECK(a.post("/v1/resource-sizings", R"({"tasks": []})").pointers() ==
          std::vector<std::string>{"/tasks"});
    for (const char *bad :
         {R"("max_attempts": 0)", R"("max_attempts": 11)", R"("failure_share_ratio": 0)",
          R"("failure_share_ratio": 1.1)", R"("retry_penalty_bytes": -1)",
          R"("first_failure_ratio_max": 0)", R"("step_bytes": 0)", R"("target": "cpus")",
          R"("options": {"x": 1})", R"("algorithm": "guess")"}) {
        INFO(bad);
        CHECK(a.post("/v1/resource-sizings",
                     std::string("{") + bad +
                         R"(, "tasks": [{"id": "a", "application_id": "x"}]})")
                  .status == 422);
    }
    CHECK(a.post("/v1/resource-sizings", R"({"tasks": [{"id": "a", "application_id": "x",
                 "memory_requested_bytes": 0}]})")
              .pointers() == std::vector<std::string>{"/tasks/0/memory_requested_bytes"});
    CHECK(a.post("/v1/resource-sizings", R"({"tasks": [{"id": "a", "application_id": "x",
                 "processors": 1.5}]})")
              .pointers() == std::vector<std::string>{"/tasks/0/processors"});
    CHECK(a.post("/v1/resource-sizings", R"({"tasks": [{"id": "a", "application_id": "x",
                 "run_time_s": 1.1e9}]})")
              .pointers() == std::vector<std::string>{"/tasks/0/run_time_s"});
}

TEST_CASE("without a history the request stays as it is", "[sizing][api]")
{
    api a;
    json answer = sized(
        a, {{"tasks",
             {{{"id", "a"}, {"application_id", "x"}, {"memory_requested_bytes", 2 * GB}},
              {{"id", "b"}, {"application_id", "x"}},
              {{"id", "c"},
               {"application_id", "x"},
               {"memory_requested_bytes", 2 * GB},
               {"attempt", 2}}}}});

    CHECK(answer["status"] == "feasible");
    json t = answer["tasks"];
    CHECK(t[0]["method"] == "request");
    REQUIRE(t[0]["attempts"].size() == 1);
    CHECK(t[0]["attempts"][0]["memory_bytes"] == 2 * GB);
    CHECK(t[1]["reason"] == "no_data");
    CHECK(t[1]["attempts"].empty());
    CHECK(t[2]["attempts"][0]["attempt"] == 2);
    CHECK(t[2]["attempts"][0]["memory_bytes"] == 4 * GB); // twice what was too little
    CHECK(answer["warnings"].dump().find("history_unavailable") != std::string::npos);
}

TEST_CASE("a request that no machine has is cut, and that is said", "[sizing][api]")
{
    api a;
    json answer = sized(a, {{"capacity_bytes", GB},
                            {"tasks",
                             {{{"id", "a"},
                               {"application_id", "x"},
                               {"memory_requested_bytes", 2 * GB}}}}})["tasks"][0];
    REQUIRE(answer["attempts"].size() == 1);
    CHECK(answer["attempts"][0]["memory_bytes"] == GB);
    CHECK(answer["warnings"][0] ==
          "capacity_too_small: 2000000000 bytes are asked for, which no machine has");
}

TEST_CASE("requests follow what was used", "[sizing][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string app = unique_name("app");
    rng r = rng_create(3);
    json runs = json::array();

    for (int i = 0; i < 60; i++) {
        double size = 1e6 * (1 + double(i % 12));
        runs.push_back({{"execution_id", app + std::to_string(i)},
                        {"application_id", app},
                        {"started_at", 1700000000 + 100 * i},
                        {"problem_size", size},
                        {"run_time_s", 100 + size / 1e5},
                        {"memory_requested_bytes", 8 * GB},
                        {"memory_peak_bytes",
                         (0.5 * GB + 100 * size) * (1 + 0.1 * (rng_uniform(&r) - 0.5))}});
    }
    REQUIRE(a.post("/v1/executions", runs.dump()).status == 201);
    for (const char *model : {"", "-memory"})
        REQUIRE(a.post("/v1/models/" + app + model + "/refine", "").status == 200);

    json task = {{"id", "t"},
                 {"application_id", app},
                 {"problem_size", 5e6},
                 {"memory_requested_bytes", 8 * GB}};
    json body = {{"tasks", {task}}, {"store", true}};
    json answer = sized(a, body), t = answer["tasks"][0];
    INFO(answer.dump(1));
    CHECK(t["method"] == "ladder");
    CHECK(t["model_id"] == app + "-memory");
    CHECK(t["peak_bytes"].get<double>() == Approx(1 * GB).epsilon(0.1));
    double first = t["attempts"][0]["memory_bytes"];
    CHECK(first > 1 * GB);
    CHECK(first < 2.5 * GB);
    CHECK(first == std::floor(first));
    CHECK(t["attempts"][0]["failure_ratio"].get<double>() < 0.1);
    CHECK(t["attempts"].back()["memory_bytes"] == 8 * GB);
    CHECK(t["attempts"].back()["failure_ratio"] == 0);
    CHECK(t["run_time_s"].get<double>() == Approx(150).epsilon(0.1));
    CHECK(t["expected_waste_byte_s"].get<double>() <
          0.3 * t["requested_waste_byte_s"].get<double>());
    for (size_t i = 1; i < t["attempts"].size(); i++)
        CHECK(t["attempts"][i]["memory_bytes"] > t["attempts"][i - 1]["memory_bytes"]);

    // The same after more was learnt, when it is asked for as it was.
    json more = runs[0];
    more["execution_id"] = app + "-more";
    more["memory_peak_bytes"] = 3 * GB;
    REQUIRE(a.post("/v1/executions", more.dump()).status == 201);
    REQUIRE(a.post("/v1/models/" + app + "-memory/refine", "").status == 200);
    api_reply replay = a.post(
        "/v1/decisions/" + answer["decision_id"].get<std::string>() + "/replay", "");
    INFO(replay.body.substr(0, 1000));
    REQUIRE(replay.status == 200);
    CHECK(replay.json()["identical"] == true);

    // It failed: more, and one attempt less.
    body["tasks"][0]["attempt"] = 2;
    body["tasks"][0]["memory_requested_bytes"] = first;
    json second = sized(a, body)["tasks"][0];
    CHECK(second["attempts"][0]["attempt"] == 2);
    CHECK(second["attempts"][0]["memory_bytes"].get<double>() > first);
    CHECK(second["attempts"].size() <= 3);
    // Steps, a safe first attempt, a machine that is too small.
    body["tasks"][0] = task;
    body["step_bytes"] = GB;
    json stepped = sized(a, body)["tasks"][0];
    for (const json &attempt : stepped["attempts"])
        CHECK(std::fmod(attempt["memory_bytes"].get<double>(), GB) == 0);
    body["step_bytes"] = 1;
    body["first_failure_ratio_max"] = 0.001;
    CHECK(sized(a, body)["tasks"][0]["attempts"][0]["failure_ratio"].get<double>() <=
          0.001);
    body["first_failure_ratio_max"] = 1;
    body["capacity_bytes"] = 0.9 * GB;
    json small = sized(a, body)["tasks"][0];
    CHECK(small["attempts"].back()["memory_bytes"] == 0.9 * GB);
    CHECK(small["attempts"].back()["failure_ratio"].get<double>() > 0.5);
    CHECK(small["warnings"].dump().find("capacity_too_small") != std::string::npos);
    body["tasks"][0]["attempt"] = 2;
    body["tasks"][0]["memory_requested_bytes"] = 0.9 * GB;
    json none = sized(a, body);
    CHECK(none["status"] == "infeasible");
    CHECK(none["tasks"][0]["reason"] == "capacity_too_small");

    // By a model's name; a model of times is none.
    json named = {{"id", "t"}, {"model_id", app + "-memory"}, {"problem_size", 5e6}};
    json by_name = sized(a, {{"tasks", {named}}});
    CHECK(by_name["tasks"][0]["method"] == "ladder");
    named["model_id"] = app;
    api_reply wrong = a.post("/v1/resource-sizings", json{{"tasks", {named}}}.dump());
    CHECK(wrong.pointers() == std::vector<std::string>{"/tasks/0/model_id"});
    named["model_id"] = "none-of-these";
    wrong = a.post("/v1/resource-sizings", json{{"tasks", {named}}}.dump());
    CHECK(wrong.pointers() == std::vector<std::string>{"/tasks/0/model_id"});
}
