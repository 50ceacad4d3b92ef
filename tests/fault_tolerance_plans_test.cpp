// fault_tolerance_plans_test.cpp - POST /v1/fault-tolerance-plans.
#include "tests/api.hpp"

#include <fstream>

using namespace nlohmann::literals;
using nlohmann::json;

static const char *const path = "/v1/fault-tolerance-plans";

static json example(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/fault_tolerance-" + name +
                     ".json");
    return json::parse(in);
}

static std::vector<std::string> actions(const json &answer)
{
    std::vector<std::string> list;
    for (const json &a : answer.at("actions"))
        list.push_back(a.at("action").get<std::string>() + " " +
                       a.at("job_id").get<std::string>() + " " +
                       a.at("resource_id").get<std::string>());
    return list;
}

using texts = std::vector<std::string>;

TEST_CASE("combined swings as example H of fault-tolerance.md 7.2 says",
          "[api][fault_tolerance]")
{
    api service;
    json body = example("combined"); // its second round
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    json answer = r.json();
    CHECK(answer["mode"] == "checkpointing");
    CHECK(answer["free_cpus"] == 0);
    CHECK(actions(answer) == texts{"cancel j1 cr1", "checkpoint_on j1 cr2",
                                   "checkpoint_on j2 cr1", "checkpoint_on j3 cr2",
                                   "start j4 cr1", "checkpoint_on j4 cr1"});
    CHECK(answer["actions"][0]["reason"] == "mode_switch");
    CHECK(answer["actions"][0]["replica_id"] == "j1.1");
    CHECK(answer["actions"][1]["when"] == "now");
    CHECK(answer["actions"][1]["interval_s"] == 1800); // of mean_failure
    CHECK(answer["actions"][1]["next_request_in_s"] == 60);
    CHECK(answer["actions"][5]["replica_index"] == 0);
    for (const json &count : answer["replica_counts"]) {
        CHECK(count["active"] == 1);
        CHECK(count["target"] == 1);
    }

    body.erase("checkpoint"); // then only whether, not how often
    answer = service.post(path, body.dump()).json();
    CHECK_FALSE(answer["actions"][1].contains("interval_s"));

    body["options"]["free_cpu_limit"] = 1; // fourth round: j1 and j3 have finished
    body["jobs"].erase(2);
    body["jobs"].erase(0);
    body["jobs"][1]["replicas"] = {{{"id", "j4.1"}, {"resource_id", "cr1"}}};
    for (auto &job : body["jobs"])
        job["checkpointing"] = true;
    body["snapshot"]["resources"][1]["job_count"] = 0;
    answer = service.post(path, body.dump()).json();
    CHECK(answer["mode"] == "replication");
    CHECK(actions(answer) == texts{"start j2 cr2", "checkpoint_off j2 cr1",
                                   "start j4 cr2", "checkpoint_off j4 cr1"});
    CHECK(answer["actions"][1]["when"] == "replica_running");
}

TEST_CASE("mode_before is an option that may be null", "[api][fault_tolerance]")
{
    api service;
    json body = example("combined");
    body["jobs"] = json::array();
    for (auto &x : body["snapshot"]["resources"])
        x["job_count"] = 0;
    body["options"]["switch_hysteresis"] = 3;
    body["options"]["mode_before"] = nullptr;
    CHECK(service.post(path, body.dump()).json()["mode"] == "replication");
    body["options"]["mode_before"] = "checkpointing"; // needs 2 + 3 of 4 CPUs
    CHECK(service.post(path, body.dump()).json()["mode"] == "checkpointing");
}

TEST_CASE("migration restarts elsewhere from the image", "[api][fault_tolerance]")
{
    api service;
    json answer = service.post(path, example("migration").dump()).json();
    CHECK(actions(answer) == texts{"start j1 cr2", "checkpoint_on j1 cr2", "start j2 cr2",
                                   "checkpoint_on j2 cr2"});
    CHECK(answer["actions"][0]["start_from"] == "checkpoint");
    CHECK(answer["actions"][2]["start_from"] == "scratch");
    CHECK(answer["actions"][1]["interval_s"] == 1800);
    CHECK(answer["lost"].empty());
}

TEST_CASE("expected_time compares the remedies of fault-tolerance.md 7.4",
          "[api][fault_tolerance]")
{
    api service;
    json body = example("expected_time");
    for (const char *algorithm : {"expected_time", "auto"}) {
        body["algorithm"] = algorithm;
        api_reply r = service.post(path, body.dump());
        INFO(r.body);
        REQUIRE(r.status == 200);
        json answer = r.json();
        CHECK(answer["algorithm"] == "expected_time");
        CHECK(answer["warnings"].empty());
        json choice = answer["choices"][0];
        CHECK(choice["choice"] == "replication");
        CHECK(choice["replicas"] == 2);
        CHECK(choice["because"].get<std::string>().find("within max_cost_ratio") !=
              std::string::npos);
        REQUIRE(choice["options_compared"].size() == 6);
        json third = choice["options_compared"][2];
        CHECK(third["remedy"] == "replication");
        CHECK(third["expected_time_s"].get<double>() == Approx(9010.296).epsilon(1e-3));
        CHECK(third["expected_cost_cpu_s"].get<double>() ==
              Approx(17931.654).epsilon(1e-3));
        CHECK(choice["options_compared"][1]["interval_s"].get<double>() ==
              Approx((9000 + 6 * 25) / 7.0 - 25).epsilon(1e-9));
        CHECK(actions(answer) == texts{"start j1 cr1", "start j1 cr2"});
        CHECK(answer["objective"]["lower_bound_s"] == 9000);
        CHECK(answer["objective"]["expected_time_s"].get<double>() ==
              Approx(9010.296).epsilon(1e-3));
        CHECK(answer["objective"]["gap_ratio"].get<double>() ==
              Approx(9010.296 / 9000 - 1).epsilon(0.1));
    }
    body["options"]["max_cost_ratio"] = 1;
    json answer = service.post(path, body.dump()).json();
    CHECK(answer["status"] == "infeasible");
    CHECK(answer["actions"].empty());
    CHECK(answer["choices"][0]["choice"].is_null());
    CHECK(answer["choices"][0]["cheapest"] == "checkpointing");
    CHECK(answer["unplaced"][0]["reasons"][0] ==
          json({{"reason", "over_max_cost_ratio"}, {"count", 4}}));
    CHECK(answer["objective"]["gap_ratio"].is_null());

    body["options"] = {{"max_cost_ratio", nullptr}};
    answer = service.post(path, body.dump()).json();
    CHECK(answer["choices"][0]["choice"] == "replication");
    CHECK(answer["choices"][0]["replicas"] == 2); // a third saves 0.1 %
    body["options"]["min_gain_ratio"] = 0;
    answer = service.post(path, body.dump()).json();
    CHECK(answer["choices"][0]["replicas"] == 3);
}

TEST_CASE("what a fault-tolerance request may not say", "[api][fault_tolerance]")
{
    struct {
        const char *why;
        json patch;
        texts pointers;
    } cases[] = {
        {"of another family", {{"algorithm", "fcfs"}}, {"/algorithm"}},
        {"no such checkpoint policy",
         {{"checkpoint", {{"algorithm", "hourly"}}}},
         {"/checkpoint/algorithm"}},
        {"everything at once",
         {{"checkpoint",
           {{"algorithm", "young"}, {"options", {{"alpha", 7}, {"beta", 1}}}}},
          {"options", {{"replicas_min", 9}, {"replicas_max", 2}}},
          {"jobs", {{{"id", "a"}, {"length_mi", 1}, {"state", "running"}}}}},
         {"/options/replicas_min", "/checkpoint/options/alpha",
          "/checkpoint/options/beta", "/jobs/0/state"}},
        {"negative overhead",
         {{"jobs", {{{"id", "a"}, {"length_mi", 1}, {"checkpoint_overhead_s", -1}}}}},
         {"/jobs/0/checkpoint_overhead_s"}},
        {"work in two ways, and in none",
         {{"jobs",
           {{{"id", "a"}, {"length_mi", 1}, {"execution_time_s", 1}},
            {{"id", "b"}},
            {{"id", "c"}, {"length_mi", nullptr}},
            {{"id", "d"}, {"execution_time_s", 0}}}}},
         {"/jobs/0/execution_time_s", "/jobs/1/length_mi", "/jobs/2/length_mi",
          "/jobs/3/execution_time_s"}},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.why)
        {
            api service;
            json body = example("combined");
            body.merge_patch(c.patch);
            api_reply r = service.post(path, body.dump());
            INFO(r.body);
            CHECK(r.status == 422);
            texts found = r.pointers();
            std::sort(found.begin(), found.end());
            std::sort(c.pointers.begin(), c.pointers.end());
            CHECK(found == c.pointers);
        }
}

TEST_CASE("a job's execution time is its work at 1 MIPS", "[api][fault_tolerance]")
{
    api service;
    for (const char *name : {"combined", "migration", "expected_time", "joint"}) {
        json body = example(name), answers[2];
        for (int way = 0; way < 2; way++) {
            for (json &job : body["jobs"]) {
                double work = job.contains("length_mi") ? job["length_mi"]
                                                        : job["execution_time_s"];
                job.erase("length_mi");
                job.erase("execution_time_s");
                job[way ? "execution_time_s" : "length_mi"] = work;
            }
            api_reply r = service.post(path, body.dump());
            INFO(name << r.body);
            REQUIRE(r.status == 200);
            answers[way] = r.json();
            for (const char *own : {"decision_id", "timings", "input_digest"})
                answers[way].erase(own);
        }
        CHECK(answers[0] == answers[1]);
    }
}

TEST_CASE("the same request gives the same plan", "[api][fault_tolerance]")
{
    api service;
    for (const char *name : {"combined", "migration", "expected_time"}) {
        json body = example(name);
        json first = service.post(path, body.dump()).json();
        json second = service.post(path, body.dump()).json();
        for (json *answer : {&first, &second}) {
            answer->erase("decision_id");
            answer->erase("timings");
        }
        CHECK(first == second);
    }
}

TEST_CASE("a fault-tolerance plan survives every memory cap", "[api][memory]")
{
    api service;
    for (const char *name : {"combined", "expected_time"}) {
        std::string body = example(name).dump();
        int status = 0;
        for (size_t cap = 2048; status != 200; cap += 2048) {
            status = service.call("POST", path, body, {}, cap).status;
            CHECK((status == 200 || status == 413));
            REQUIRE(cap < (size_t{1} << 24));
        }
    }
}
