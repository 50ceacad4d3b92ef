// replica_counts_test.cpp - POST /v1/replica-counts.
#include "tests/api.hpp"

#include <fstream>
#include <sstream>

using namespace nlohmann::literals;
using nlohmann::json;

static const char *const path = "/v1/replica-counts";

static json example(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/" + name + ".json");
    return json::parse(in);
}

// "start j1 cr1" of each action.
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

// Two resources of two slots in two sites (spec fault-tolerance.md 6.4).
static json two_by_two(const std::string &algorithm, size_t job_count)
{
    json body = {{"algorithm", algorithm},
                 {"now_s", 1000},
                 {"options", json::object()},
                 {"snapshot", {{"resources", json::array()}}},
                 {"jobs", json::array()}};
    for (int i = 1; i <= 2; i++)
        body["snapshot"]["resources"].push_back({{"id", "cr" + std::to_string(i)},
                                                 {"site_id", "s" + std::to_string(i)},
                                                 {"n_max", 2}});
    for (size_t i = 1; i <= job_count; i++)
        body["jobs"].push_back(
            {{"id", "j" + std::to_string(i)}, {"arrival_s", i}, {"length_mi", 1000}});
    return body;
}

TEST_CASE("replica counts follow example E of fault-tolerance.md 6.4",
          "[api][replication]")
{
    api service;
    json body = two_by_two("load_dependent", 4);
    body.erase("now_s");
    body["options"] = {{"replicas_max", 2}, {"free_cpu_limit", 2}};
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    json answer = r.json();
    CHECK(answer["algorithm"] == "load_dependent");
    CHECK(answer["status"] == "feasible");
    CHECK(answer["free_cpus"] == 4);
    CHECK(answer["free_cpu_limit"] == 2);
    CHECK(actions(answer) ==
          texts{"start j1 cr1", "start j1 cr2", "start j2 cr1", "start j3 cr2"});
    CHECK(answer["actions"][1]["replica_index"] == 1);
    CHECK(answer["actions"][1]["site_id"] == "s2");
    CHECK(answer["actions"][1]["start_from"] == "scratch");
    CHECK(answer["replica_counts"][0] ==
          json({{"job_id", "j1"}, {"active", 2}, {"target", 2}}));
    CHECK(answer["replica_counts"][3]["active"] == 0);
    REQUIRE(answer["unplaced"].size() == 3);
    CHECK(answer["unplaced"][2]["job_id"] == "j4");
    CHECK(answer["unplaced"][2]["reasons"][0] ==
          json({{"reason", "no_free_slot"}, {"count", 2}}));
    CHECK(answer["lost"].empty());
    CHECK(answer["warnings"].empty());
    CHECK_FALSE(answer.contains("mode"));
    CHECK_FALSE(answer.contains("choices"));

    // the order of jobs and resources in the request does not matter
    std::reverse(body["jobs"].begin(), body["jobs"].end());
    std::reverse(body["snapshot"]["resources"].begin(),
                 body["snapshot"]["resources"].end());
    json again = service.post(path, body.dump()).json();
    CHECK(again["actions"] == answer["actions"]);
    CHECK(again["replica_counts"][3] == answer["replica_counts"][0]);
}

TEST_CASE("a finished replica ends the others, and a free CPU is used",
          "[api][replication]")
{
    api service;
    json body = two_by_two("load_dependent", 4);
    body["options"] = {{"replicas_max", 2}, {"free_cpu_limit", 2}};
    body["snapshot"]["resources"][0]["job_count"] = 1;
    body["snapshot"]["resources"][1]["job_count"] = 2;
    body["jobs"][0]["replicas"] = {
        {{"id", "a"}, {"resource_id", "cr1"}, {"state", "finished"}},
        {{"id", "b"}, {"resource_id", "cr2"}}};
    body["jobs"][1]["replicas"] = {{{"id", "a"}, {"resource_id", "cr1"}}};
    body["jobs"][2]["replicas"] = {{{"id", "a"}, {"resource_id", "cr2"}}};
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    json answer = r.json();
    CHECK(actions(answer) == texts{"cancel j1 cr2", "start j2 cr2", "start j4 cr1"});
    CHECK(answer["actions"][0]["replica_id"] == "b");
    CHECK(answer["actions"][0]["reason"] == "job_finished");
    CHECK(answer["replica_counts"][0]["active"] == 0);
    CHECK(answer["replica_counts"][0]["target"] == 0);
}

TEST_CASE("outages are detected by state and by boot", "[api][replication]")
{
    api service;
    json body = example("replication-failure_dependent"); // example G
    CHECK(actions(service.post(path, body.dump()).json()) ==
          texts{"start j1 cr1", "start j2 cr1"});
    body["options"]["detection"] = "poll"; // nobody saw it
    CHECK(actions(service.post(path, body.dump()).json()) ==
          texts{"start j3 cr1", "start j4 cr1"});
    body["snapshot"]["resources"][0]["failed"] = true;
    json answer = service.post(path, body.dump()).json();
    CHECK(answer["actions"].empty());
    CHECK(answer["replica_counts"][0]["active"] == 1);
    CHECK(answer["replica_counts"][1]["active"] == 0);
    CHECK(answer["lost"].empty());
    // a policy without detection believes what it is told, and gives failed jobs up
    body["algorithm"] = "load_dependent";
    body["options"].erase("detection");
    answer = service.post(path, body.dump()).json();
    CHECK(answer["replica_counts"][1]["active"] == 1);
    body["jobs"][1]["replicas"][0]["state"] = "failed";
    answer = service.post(path, body.dump()).json();
    CHECK(answer["lost"] == json({"j2"}));
}

TEST_CASE("target_success says what copies achieve, and what would do",
          "[api][replication]")
{
    api service;
    json body = example("replication-target_success");
    // two failures in 50000 s: p = exp(-5000/25000) of a copy
    double p = std::exp(-0.2);
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    json answer = r.json();
    CHECK(answer["status"] == "feasible");
    CHECK(answer["replica_counts"][0]["active"] == 2);
    CHECK(answer["replica_counts"][0]["success_probability"].get<double>() ==
          Approx(1 - (1 - p) * (1 - p)).epsilon(1e-12));
    CHECK(answer["replica_counts"][0]["needed"] == 2);

    body["options"]["replicas_max"] = 1;
    body["snapshot"]["resources"][1]["site_id"] = "s1";
    body["snapshot"]["resources"][2]["site_id"] = "s1";
    body["snapshot"]["resources"][3]["site_id"] = "s1";
    answer = service.post(path, body.dump()).json();
    CHECK(answer["status"] == "infeasible");
    CHECK(answer["replica_counts"][0]["needed"] == 2);
    body["options"]["replicas_max"] = 2;
    answer = service.post(path, body.dump()).json();
    REQUIRE(answer["warnings"].size() == 1);
    CHECK(answer["warnings"][0].get<std::string>().find("shared_site: 2 replicas") == 0);

    for (auto &x : body["snapshot"]["resources"]) // nothing is known
        for (const char *member :
             {"observed_since_s", "failure_count", "last_failure_at_s"})
            x.erase(member);
    answer = service.post(path, body.dump()).json();
    INFO(answer.dump());
    CHECK(answer["status"] == "infeasible");
    std::string warnings = answer["warnings"].dump();
    CHECK(warnings.find("history_missing: of 4 resources") != std::string::npos);
    CHECK(warnings.find("history_unavailable") != std::string::npos);
}

TEST_CASE("target_success counts copies on several nodes, and by a deadline",
          "[api][replication]")
{
    api service;
    json body = example("replication-target_success");
    body["jobs"].erase(1);
    json &job = body["jobs"][0];
    double p = std::exp(-0.2);

    job["nodes"] = 2; // which all are on sites of their own
    json answer = service.post(path, body.dump()).json();
    CHECK(answer["actions"].empty());
    CHECK(answer["unplaced"][0]["reasons"][0]["reason"] == "too_few_nodes");
    for (auto &r : body["snapshot"]["resources"])
        r["site_id"] = "s1";
    answer = service.post(path, body.dump()).json();
    REQUIRE(answer["actions"].size() == 2);
    CHECK(answer["actions"][0]["resource_ids"].size() == 2);
    CHECK(answer["replica_counts"][0]["success_probability"].get<double>() ==
          Approx(1 - (1 - p * p) * (1 - p * p)).epsilon(1e-12));

    job["nodes"] = 1;
    job["deadline_s"] = 1e7; // restarts included: one copy will do
    answer = service.post(path, body.dump()).json();
    CHECK(answer["actions"].size() == 1);
    json count = answer["replica_counts"][0];
    CHECK(count["deadline_success_probability"].get<double>() == Approx(1).margin(1e-6));
    CHECK_FALSE(count.contains("success_probability"));
    job["deadline_s"] = 5000; // no time for a restart
    count = service.post(path, body.dump()).json()["replica_counts"][0];
    CHECK(count["deadline_success_probability"].get<double>() ==
          Approx(1 - (1 - p) * (1 - p)).epsilon(1e-3));
}

TEST_CASE("without a policy, without jobs, without resources", "[api][replication]")
{
    api service;
    json body = two_by_two("auto", 2);
    json answer = service.post(path, body.dump()).json();
    CHECK(answer["algorithm"] == "failure_dependent");
    body.erase("algorithm");
    body["jobs"] = json::array();
    answer = service.post(path, body.dump()).json();
    CHECK(answer["algorithm"] == "failure_dependent");
    CHECK(answer["status"] == "feasible");
    CHECK(answer["actions"].empty());
    body = two_by_two("fcfs", 2);
    for (auto &x : body["snapshot"]["resources"])
        x["failed"] = true;
    answer = service.post(path, body.dump()).json();
    CHECK(answer["status"] == "infeasible");
    CHECK(answer["unplaced"][0]["reasons"][0] ==
          json({{"reason", "no_resource_up"}, {"count", 2}}));
    body["snapshot"]["resources"] = json::array();
    answer = service.post(path, body.dump()).json();
    CHECK(answer["status"] == "infeasible");
    CHECK(answer["unplaced"].size() == 2);
}

TEST_CASE("resources without a site have one of their own", "[api][replication]")
{
    api service;
    json body = two_by_two("unconditional", 1);
    body.erase("now_s");
    for (auto &x : body["snapshot"]["resources"])
        x.erase("site_id");
    json answer = service.post(path, body.dump()).json();
    CHECK(actions(answer) == texts{"start j1 cr1", "start j1 cr2"});
    CHECK(answer["warnings"].empty());
    CHECK_FALSE(answer["actions"][0].contains("site_id"));
}

TEST_CASE("all mistakes of a replication request are named at once", "[api][replication]")
{
    api service;
    json body = two_by_two("load_dependent", 3);
    body["options"] = {{"replicas_min", 3}, {"replicas_max", 2}};
    body["snapshot"]["resources"][0]["n_max"] = 1.5;
    body["jobs"][0]["state"] = "running";
    body["jobs"][1]["replicas"] = {
        {{"id", "a"}, {"resource_id", "cr1"}},
        {{"id", "b"}, {"resource_id", "cr1"}},
        {{"id", "c"}, {"resource_id", "cr1"}, {"state", "failed"}}};
    body["jobs"][1]["state"] = "waiting";
    body["jobs"][1]["replicas_started"] = 1;
    body["jobs"][2]["replicas"] = {{{"id", "a"}, {"resource_id", "cr9"}}};
    body["jobs"][2]["replicas_started"] = 0;
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    CHECK(r.status == 422);
    CHECK(r.pointers() ==
          texts{"/options/replicas_min", "/snapshot/resources/0/n_max", "/jobs/0/state",
                "/jobs/1/state", "/jobs/1/replicas_started",
                "/jobs/1/replicas/1/resource_id", "/jobs/2/replicas_started",
                "/jobs/2/replicas/0/resource_id"});
}

TEST_CASE("what a replication request may not say", "[api][replication]")
{
    struct {
        const char *why;
        json patch;
        const char *pointer;
    } cases[] = {
        {"no such policy", {{"algorithm", "loaddependent"}}, "/algorithm"},
        {"of another family", {{"algorithm", "combined"}}, "/algorithm"},
        {"limit below one",
         {{"options", {{"free_cpu_limit", 0}}}},
         "/options/free_cpu_limit"},
        {"no such option", {{"options", {{"replicas", 2}}}}, "/options/replicas"},
        {"checkpoints are for plans",
         {{"checkpoint", {{"algorithm", "young"}}}},
         "/checkpoint"},
        {"negative length",
         {{"jobs", {{{"id", "a"}, {"length_mi", -1}}}}},
         "/jobs/0/length_mi"},
        {"too large",
         {{"jobs", {{{"id", "a"}, {"length_mi", 1.5e308}}}}},
         "/jobs/0/length_mi"},
        {"length missing", {{"jobs", {{{"id", "a"}}}}}, "/jobs/0/length_mi"},
        {"jobs of one name",
         {{"jobs", {{{"id", "a"}, {"length_mi", 1}}, {{"id", "a"}, {"length_mi", 1}}}}},
         "/jobs/1/id"},
        {"replicas of one name",
         {{"jobs",
           {{{"id", "a"},
             {"length_mi", 1},
             {"replicas",
              {{{"id", "r"}, {"resource_id", "cr1"}},
               {{"id", "r"}, {"resource_id", "cr2"}}}}}}}},
         "/jobs/0/replicas/1/id"},
        {"negative progress",
         {{"jobs",
           {{{"id", "a"},
             {"length_mi", 1},
             {"replicas",
              {{{"id", "r"}, {"resource_id", "cr1"}, {"completed_mi", -1}}}}}}}},
         "/jobs/0/replicas/0/completed_mi"},
        {"half a job",
         {{"snapshot", {{"resources", {{{"id", "x"}, {"job_count", 0.5}}}}}}},
         "/snapshot/resources/0/job_count"},
        {"no resources", {{"snapshot", nullptr}}, "/snapshot"},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.why)
        {
            api service;
            json body = two_by_two("load_dependent", 1);
            body.merge_patch(c.patch);
            api_reply r = service.post(path, body.dump());
            INFO(r.body);
            CHECK(r.status == 422);
            CHECK(r.pointers() == texts{c.pointer});
        }
    api service;
    CHECK(service.post(path, "{").status == 400);
    CHECK(service.post(path, "[]").status == 422);
}

TEST_CASE("algorithms that know of one node refuse copies on several",
          "[api][replication][world]")
{
    struct {
        const char *member;
        json value;
        const char *pointer, *code; // NULL: it is taken
    } cases[] = {
        {"nodes", 1, nullptr, nullptr},
        {"nodes", nullptr, nullptr, nullptr},
        {"resource_ids", json::array(), nullptr, nullptr},
        {"resource_ids", {"cr2"}, nullptr, nullptr},
        {"nodes", 2, "/jobs/1/nodes", "not_allowed"},
        {"nodes", 0, "/jobs/1/nodes", "out_of_bounds"},
        {"nodes", 1.5, "/jobs/1/nodes", "not_an_integer"},
        {"nodes", 100001, "/jobs/1/nodes", "out_of_bounds"},
        {"resource_ids", {"cr1", "cr2"}, "/jobs/1/resource_ids", "not_allowed"},
    };
    const std::pair<const char *, const char *> endpoints[] = {
        {path, "load_dependent"}, {"/v1/fault-tolerance-plans", "combined"}};
    api service;

    for (auto &[endpoint, algorithm] : endpoints) {
        const json plain = two_by_two(algorithm, 2);
        const json want = service.post(endpoint, plain.dump()).json();
        for (auto &c : cases) {
            json body = plain;
            body["jobs"][1][c.member] = c.value;
            api_reply r = service.post(endpoint, body.dump());
            INFO(endpoint << " " << c.member << " " << c.value << " " << r.body);
            if (!c.pointer) {
                REQUIRE(r.status == 200);
                CHECK(r.json()["actions"] == want["actions"]);
                continue;
            }
            REQUIRE(r.status == 422);
            CHECK(r.pointers() == texts{c.pointer});
            const json mistake = r.json()["errors"][0];
            CHECK(mistake["code"] == c.code);
            if (c.code == std::string("not_allowed"))
                CHECK(
                    mistake["hint"] ==
                    "joint, expected_time and target_success take jobs on several nodes");
        }
    }
}

TEST_CASE("a replication decision survives every memory cap", "[api][memory]")
{
    api service;
    json body = two_by_two("failure_dependent", 100);
    int status = 0;
    for (size_t cap = 8192; status != 200; cap += 8192) {
        status = service.call("POST", path, body.dump(), {}, cap).status;
        CHECK((status == 200 || status == 413));
        REQUIRE(cap < (size_t{1} << 24));
    }
}

TEST_CASE("thousands of jobs are decided", "[api][replication]")
{
    api service;
    json body = two_by_two("unconditional", 4000);
    for (size_t i = 3; i <= 1000; i++)
        body["snapshot"]["resources"].push_back({{"id", "cr" + std::to_string(i)},
                                                 {"site_id", "s" + std::to_string(i % 9)},
                                                 {"n_max", 4}});
    api_reply r = service.post(path, body.dump());
    REQUIRE(r.status == 200);
    json answer = r.json();
    CHECK(answer["actions"].size() == 4 * 998 + 4);
    CHECK(answer["unplaced"].size() == 4000 - (4 * 998 + 4) / 2);
}
