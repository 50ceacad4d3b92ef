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
    // Of each target what its user asks for; too few cpus fail nothing.
    CHECK(a.post("/v1/resource-sizings", R"({"target": "disk_peak_bytes", "tasks": [
                 {"id": "a", "application_id": "x", "memory_requested_bytes": 1,
                  "attempt": 2}]})")
              .pointers() == std::vector<std::string>{"/tasks/0/disk_requested_bytes"});
    CHECK(a.post("/v1/resource-sizings", R"({"target": "cpus_used", "tasks": [
                 {"id": "a", "application_id": "x", "attempt": 2}]})")
              .status == 200);
    CHECK(a.post("/v1/resource-sizings", R"({"target": "cpus_used", "tasks": [
                 {"id": "a", "application_id": "x", "cpus_requested": 0}]})")
              .pointers() == std::vector<std::string>{"/tasks/0/cpus_requested"});
    CHECK(a.post("/v1/resource-sizings", R"({"target": "cpus_used", "algorithm": "ladder",
                 "tasks": [{"id": "a", "application_id": "x"}]})")
              .status == 422);
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

TEST_CASE("disk and cpus that nobody has measured are asked for as their users do",
          "[sizing][api]")
{
    api a;
    json tasks = {{{"id", "a"},
                   {"application_id", "x"},
                   {"memory_requested_bytes", 2 * GB},
                   {"disk_requested_bytes", 3 * GB},
                   {"cpus_requested", 1.6}},
                  {{"id", "b"}, {"application_id", "x"}, {"memory_requested_bytes", GB}}};
    json disk = sized(a, {{"target", "disk_peak_bytes"}, {"tasks", tasks}});
    INFO(disk.dump(1));
    CHECK(disk["algorithm"] == "ladder");
    CHECK(disk["tasks"][0]["method"] == "request");
    CHECK(disk["tasks"][0]["attempts"].empty());
    REQUIRE(disk["tasks"][0]["disk_attempts"].size() == 1);
    CHECK(disk["tasks"][0]["disk_attempts"][0]["disk_bytes"] == 3 * GB);
    CHECK(disk["tasks"][1]["reason"] == "no_data");
    CHECK_FALSE(disk["tasks"][1].contains("disk_attempts"));
    json cpus = sized(a, {{"target", "cpus_used"}, {"tasks", tasks}});
    INFO(cpus.dump(1));
    CHECK(cpus["algorithm"] == "quantile");
    CHECK(cpus["status"] == "feasible");
    CHECK(cpus["tasks"][0]["method"] == "request");
    CHECK(cpus["tasks"][0]["cpus"] == 1.6);
    CHECK(cpus["tasks"][1]["reason"] == "no_data");
    CHECK_FALSE(cpus["tasks"][1].contains("cpus"));
    tasks.erase(0);
    CHECK(sized(a, {{"target", "cpus_used"}, {"tasks", tasks}})["status"] ==
          "infeasible");
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

    // What no run had as a parameter has no part, and that is said.
    body = {{"tasks", {task, task}}};
    body["tasks"][0]["id"] = "plain";
    body["tasks"][1]["parameters"] = {{"mood", 3}};
    json both = sized(a, body)["tasks"];
    CHECK(both[0].dump().find("inputs_unused") == std::string::npos);
    CHECK(both[1]["warnings"].dump().find("inputs_unused: 'mood' is no input") !=
          std::string::npos);
    CHECK(both[1]["attempts"] == both[0]["attempts"]);

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

TEST_CASE("disk is sized as memory is, cpus by what nine runs of ten use",
          "[sizing][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string app = unique_name("app");
    rng r = rng_create(4);
    json runs = json::array();

    for (int i = 0; i < 30; i++) {
        double size = 1e6 * (1 + double(i % 6));
        double peak = (0.5 * GB + 100 * size) * (1 + 0.1 * (rng_uniform(&r) - 0.5));
        runs.push_back({{"execution_id", app + std::to_string(i)},
                        {"application_id", app},
                        {"started_at", 1700000000 + 100 * i},
                        {"problem_size", size},
                        {"run_time_s", 100},
                        {"memory_peak_bytes", peak},
                        {"disk_peak_bytes", peak}});
    }
    // They tell nothing of the disk: none used, failed for it, failed otherwise.
    for (int i = 0; i < 3; i++) {
        json run = runs[0];
        run["execution_id"] = app + "-no" + std::to_string(i);
        run["disk_peak_bytes"] = i == 0 ? 0 : 90 * GB;
        run.erase("memory_peak_bytes");
        if (i > 0)
            run["failure_kind"] = i == 1 ? "disk" : "error";
        runs.push_back(run);
    }
    REQUIRE(a.post("/v1/executions", runs.dump()).status == 201);
    for (const char *model : {"-memory", "-disk"}) {
        api_reply learnt = a.post("/v1/models/" + app + model + "/refine", "");
        INFO(learnt.body);
        REQUIRE(learnt.status == 200);
        CHECK(learnt.json()["outcome"]["learnt_count"] == 30);
    }
    CHECK(a.get("/v1/models/" + app + "-cpus").status == 404); // no run says
    json task = {{"id", "t"},
                 {"application_id", app},
                 {"problem_size", 3.5e6},
                 {"memory_requested_bytes", 8 * GB},
                 {"disk_requested_bytes", 8 * GB},
                 {"run_time_s", 100}};
    json failed = task;
    failed["id"] = "failed";
    failed["attempt"] = 2;
    failed["memory_requested_bytes"] = failed["disk_requested_bytes"] = GB;
    json body = {{"tasks", {task, failed}}, {"store", true}};
    json memory = sized(a, body)["tasks"];
    body["target"] = "disk_peak_bytes";
    json answer = sized(a, body), disk = answer["tasks"];
    INFO(disk.dump(1));
    for (size_t i = 0; i < 2; i++) {
        CHECK(disk[i]["method"] == "ladder");
        CHECK(disk[i]["model_id"] == app + "-disk");
        CHECK(disk[i]["attempts"].empty());
        REQUIRE(memory[i]["attempts"].size() > 0);
        REQUIRE(disk[i]["disk_attempts"].size() == memory[i]["attempts"].size());
        for (size_t k = 0; k < memory[i]["attempts"].size(); k++)
            CHECK(disk[i]["disk_attempts"][k]["disk_bytes"] ==
                  memory[i]["attempts"][k]["memory_bytes"]);
        for (const char *same :
             {"peak_bytes", "peak_low_bytes", "peak_high_bytes", "expected_waste_byte_s"})
            CHECK(disk[i][same] == memory[i][same]);
    }
    api_reply replay = a.post(
        "/v1/decisions/" + answer["decision_id"].get<std::string>() + "/replay", "");
    CHECK(replay.json()["identical"] == true);
    // A model of another target is refused, by its name.
    json named = {{"id", "t"}, {"model_id", app + "-memory"}, {"problem_size", 5e6}};
    api_reply wrong =
        a.post("/v1/resource-sizings",
               json{{"target", "disk_peak_bytes"}, {"tasks", {named}}}.dump());
    CHECK(wrong.pointers() == std::vector<std::string>{"/tasks/0/model_id"});
    CHECK(wrong.body.find("not disk_peak_bytes") != std::string::npos);

    // Ten runs that use 1.8 cpus each, and one that says 0, which is not learnt: for
    // their size the half-width of level 0.8 is less than that of level 0.9, 0.0488434,
    // so the quantile lies between 1.8 and 1.8 exp(0.0488434) = 1.89: 2. For ten times
    // the size, which never varied, it is 10 times as much: 18.
    std::string flat = unique_name("flat");
    json used = json::array();
    auto add = [&](double cpus) {
        used.push_back({{"execution_id", flat + std::to_string(used.size())},
                        {"application_id", flat},
                        {"started_at", 1700000000 + 100 * double(used.size())},
                        {"problem_size", 500},
                        {"run_time_s", 100},
                        {"cpus_used", cpus}});
    };
    add(0);
    add(1.8);
    REQUIRE(a.post("/v1/executions", used.dump()).status == 201);
    CHECK(a.get("/v1/models/" + flat + "-cpus").status == 404); // one run says
    used.clear();
    for (int i = 0; i < 9; i++) {
        add(1.8);
        used.back()["execution_id"] = flat + "-" + std::to_string(i);
    }
    REQUIRE(a.post("/v1/executions", used.dump()).status == 201);
    api_reply learnt = a.post("/v1/models/" + flat + "-cpus/refine", "");
    INFO(learnt.body);
    REQUIRE(learnt.status == 200);
    CHECK(learnt.json()["outcome"]["learnt_count"] == 10);
    json cpus =
        sized(a, {{"target", "cpus_used"},
                  {"tasks",
                   {{{"id", "a"}, {"application_id", flat}, {"problem_size", 500}},
                    {{"id", "b"},
                     {"application_id", flat},
                     {"problem_size", 5000},
                     {"attempt", 3}}}}})["tasks"];
    INFO(cpus.dump(1));
    CHECK(cpus[0]["method"] == "quantile");
    CHECK(cpus[0]["cpus"] == 2);
    CHECK(cpus[0]["cpus_used"].get<double>() == Approx(1.8));
    CHECK(cpus[0]["cpus_used_high"].get<double>() ==
          Approx(1.8 * std::exp(0.0488434)).epsilon(1e-6));
    CHECK(cpus[0]["cpus_used_low"].get<double>() ==
          Approx(1.8 * std::exp(-0.0488434)).epsilon(1e-6));
    CHECK_FALSE(cpus[0].contains("peak_bytes"));
    CHECK(cpus[0]["attempts"].empty());
    CHECK(cpus[1]["cpus"] == 18);
    CHECK(cpus[1]["warnings"].dump().find("far_extrapolation") != std::string::npos);

    // Predictions tell them too.
    json predicted =
        a.post("/v1/predictions", json{{"application_id", flat},
                                       {"problem_size", 500},
                                       {"interval_level", 0.9},
                                       {"targets", {"cpus_used", "disk_peak_bytes"}}}
                                      .dump())
            .json();
    INFO(predicted.dump(1));
    CHECK(predicted["cpus_used"]["value"].get<double>() == Approx(1.8));
    CHECK(predicted["cpus_used"]["high"].get<double>() ==
          Approx(cpus[0]["cpus_used_high"].get<double>()));
    CHECK_FALSE(predicted.contains("disk_peak_bytes"));
    CHECK(predicted["warnings"].dump().find("tells its disk_peak_bytes") !=
          std::string::npos);
}

// learning.md 16, 6: failed runs of 20, 30 ... 120 s whose next attempts took 100 s
TEST_CASE("how long a run lasts that fails is learnt once ten are known",
          "[sizing][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string app = unique_name("app");
    json runs = json::array();
    int number = 0;
    auto add = [&](double size, int attempt, double time_s, const char *failure) {
        json run = {{"execution_id", app + std::to_string(number)},
                    {"application_id", app},
                    {"started_at", 1700000000 + 100 * number++},
                    {"problem_size", size},
                    {"attempt", attempt},
                    {"memory_requested_bytes", 2 * GB * attempt},
                    {"run_time_s", time_s}};
        if (failure)
            run["failure_kind"] = failure;
        else
            run["memory_peak_bytes"] = GB * (2.5 + 0.1 * (number % 7));
        runs.push_back(run);
    };
    auto store = [&] {
        REQUIRE(a.post("/v1/executions", runs.dump()).status < 300);
        REQUIRE(a.post("/v1/models/" + app + "-memory/refine", "").status == 200);
        runs = json::array();
    };
    json body = {{"tasks",
                  {{{"id", "t"},
                    {"application_id", app},
                    {"problem_size", 1e6},
                    {"memory_requested_bytes", 4 * GB},
                    {"run_time_s", 100}}}},
                 {"store", true}};
    auto row = [&] { return sized(a, body)["tasks"][0]; };

    // Pairs, and what is none: another size, another failure, no attempt that succeeds.
    for (int i = 0; i < 9; i++) {
        add(1e6 + i, 1, 20 + 10 * i, "memory");
        add(1e6 + i, 2, 100, nullptr);
    }
    add(5e6, 1, 1, "memory");
    add(6e6, 2, 100, nullptr);
    add(7e6, 1, 1, "time_limit");
    add(7e6, 2, 100, nullptr);
    add(8e6, 1, 1, "memory");
    add(8e6, 2, 100, "memory");
    store();
    json answer = sized(a, body), before = answer["tasks"][0];
    CHECK(before["failure_share_ratio"] == 0.5);
    CHECK_FALSE(before.contains("failure_share_run_count"));
    // The tenth: the median of 0.2 ... 1.1 is 0.65.
    add(1e6 + 9, 1, 110, "memory");
    add(1e6 + 9, 2, 100, nullptr);
    store();
    json now = row();
    INFO(now.dump(1));
    CHECK(now["failure_share_ratio"].get<double>() == Approx(0.65));
    CHECK(now["failure_share_run_count"] == 10);
    // Not where the caller wants one half.
    body["learn_failure_share"] = false;
    json half = row();
    CHECK(half["failure_share_ratio"] == 0.5);
    CHECK_FALSE(half.contains("failure_share_run_count"));
    body.erase("learn_failure_share");
    // The same as if it were said.
    body["failure_share_ratio"] = 0.65;
    json said = row();
    CHECK_FALSE(said.contains("failure_share_run_count"));
    CHECK(said["attempts"] == now["attempts"]);
    CHECK(said["expected_waste_byte_s"] == now["expected_waste_byte_s"]);
    // What was decided before stays.
    api_reply replay = a.post(
        "/v1/decisions/" + answer["decision_id"].get<std::string>() + "/replay", "");
    CHECK(replay.json()["identical"] == true);
}
