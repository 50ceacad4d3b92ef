// joint_plans_test.cpp - hosts, remedy and copies of jobs, chosen together, over HTTP.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <cmath>
#include <fstream>
#include <set>

#include <unistd.h>

extern "C" {
#include "service/clock.h"
}

using nlohmann::json;
using texts = std::vector<std::string>;

static const char *const path = "/v1/fault-tolerance-plans";

namespace
{
json joint_example()
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/fault_tolerance-joint.json");
    return json::parse(in);
}

// A host that works `mips` and fails every mean_s, of which ten failures tell.
json host(const std::string &id, const std::string &site, double mips, double mean_s)
{
    return {{"id", id},
            {"site_id", site},
            {"mips_total", mips},
            {"n_max", 1},
            {"job_count", 0},
            {"observed_since_s", 1e7 - 10 * mean_s},
            {"failure_count", 10},
            {"last_failure_at_s", 1e7 - 1}};
}

json request_of(const std::vector<json> &hosts, double length_mi)
{
    return {{"now_s", 1e7},
            {"seed", 1},
            {"algorithm", "joint"},
            {"snapshot", {{"resources", hosts}}},
            {"jobs", {{{"id", "j1"}, {"length_mi", length_mi}}}}};
}

json answer_of(api &service, const json &body)
{
    api_reply r = service.post(path, body.dump());
    INFO(body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    return r.json();
}

double expected_s(const json &choice, const std::string &remedy, int replicas)
{
    for (const json &o : choice["options_compared"])
        if (o["remedy"] == remedy && o["replicas"] == replicas)
            return o["expected_time_s"];
    return NAN;
}
} // namespace

TEST_CASE("joint chooses hosts, remedy and copies together", "[api][fault_tolerance]")
{
    api service;
    json body = joint_example();
    json answer = answer_of(service, body), choice = answer["choices"][0];

    CHECK(answer["status"] == "optimal");
    CHECK(answer["order"] == "arrival");
    CHECK(answer["warnings"].empty());
    CHECK(choice["choice"] == "both");
    CHECK(choice["hosts"] == json({"h1", "h3"}));
    CHECK(choice["expected_time_s"].get<double>() == Approx(6924.37).epsilon(1e-3));
    CHECK(choice["lower_bound_s"].get<double>() == Approx(6924.03).epsilon(1e-3));
    CHECK(choice["gap_ratio"].get<double>() ==
          Approx(choice["expected_time_s"].get<double>() /
                     choice["lower_bound_s"].get<double>() -
                 1));
    CHECK(choice["verified"]["agrees"] == true);
    CHECK(choice["verified"]["trial_count"] == 20000);
    CHECK(choice["verified"]["mean_s"].get<double>() == Approx(6921.7).epsilon(2e-3));
    CHECK_FALSE(choice["verified"].contains("cut"));
    CHECK(choice["deadline_success_probability"].get<double>() > 0.99);
    CHECK(expected_s(choice, "none", 1) == Approx(8633.84).epsilon(1e-3));
    CHECK(expected_s(choice, "replication", 2) == Approx(7030.00).epsilon(1e-3));
    CHECK(expected_s(choice, "replication", 3) == Approx(6731.74).epsilon(1e-3));
    CHECK(expected_s(choice, "both", 3) == Approx(6900.78).epsilon(1e-3));

    // three without checkpoints save 2.8 % more
    body["options"].erase("min_gain_ratio");
    choice = answer_of(service, body)["choices"][0];
    CHECK(choice["choice"] == "replication");
    CHECK(choice["hosts"] == json({"h1", "h3", "h5"}));
    // within a limit of cost a slower one
    body["options"]["max_cost_ratio"] = 1;
    answer = answer_of(service, body);
    CHECK(answer["choices"][0]["replicas"] == 1);
    CHECK(answer["status"] == "feasible");
}

TEST_CASE("a host that nearly never lives is not started as a second copy",
          "[api][fault_tolerance]")
{
    api service;
    json body =
        request_of({host("good", "s", 1, 1e6), host("bad", "s", 1.01, 200)}, 9000);
    json &job = body["jobs"][0];

    job["checkpoint_overhead_s"] = job["restart_s"] = job["reschedule_delay_s"] = 60;
    json choice = answer_of(service, body)["choices"][0];
    CHECK(choice["choice"] == "none");
    CHECK(choice["hosts"] == json({"good"}));
    CHECK(choice["expected_time_s"].get<double>() == Approx(9041.164).epsilon(1e-6));
    CHECK(choice["success_probability"].get<double>() == Approx(0.99104).epsilon(1e-5));
    CHECK(expected_s(choice, "both", 2) == Approx(9041.155).epsilon(1e-3));
}

TEST_CASE("a choice is verified as it is asked for", "[api][fault_tolerance]")
{
    api service;
    json body = joint_example();

    body["verify"] = {{"trial_count", 1500}, {"seed", 7}};
    json first = answer_of(service, body)["choices"][0]["verified"];
    CHECK(first["trial_count"] == 1500);
    CHECK(answer_of(service, body)["choices"][0]["verified"] == first);
    body["verify"]["seed"] = 8;
    CHECK(answer_of(service, body)["choices"][0]["verified"] != first);
    for (const json &no : {json(false), json(nullptr)}) {
        body["verify"] = no;
        CHECK_FALSE(answer_of(service, body)["choices"][0].contains("verified"));
    }
    const std::pair<json, const char *> wrong[] = {
        {{{"trial_count", 1000001}}, "/verify/trial_count"},
        {{{"trial_count", 0}}, "/verify/trial_count"},
        {{{"trials", 5}}, "/verify/trials"},
        {"yes", "/verify"},
        {json::array(), "/verify"},
    };
    for (const auto &[value, pointer] : wrong) {
        body["verify"] = value;
        api_reply r = service.post(path, body.dump());
        INFO(value << r.body);
        CHECK(r.status == 422);
        CHECK(r.pointers() == texts{pointer});
    }
    body["algorithm"] = "migration";
    body["verify"] = true;
    body["options"] = json::object();
    CHECK(answer_of(service, body)["warnings"].dump().find("ignored: /verify") !=
          std::string::npos);
}

TEST_CASE("copies that share images are never slower", "[api][fault_tolerance]")
{
    api service;
    json body = joint_example();

    body["options"] = {{"shared_images", true}, {"min_gain_ratio", 0.03}};
    for (auto &r : body["snapshot"]["resources"])
        r["observed_since_s"] = 2000000 - 20000; // M 2000 s: shared images matter
    json answer = answer_of(service, body), choice = answer["choices"][0];
    int shared = 0;
    CHECK(answer["status"] == "feasible");
    for (const json &o : choice["options_compared"]) {
        if (o["remedy"] != "both") {
            CHECK_FALSE(o.contains("independent_time_s"));
            continue;
        }
        CHECK(o["expected_time_s"].get<double>() <=
              o["independent_time_s"].get<double>());
        CHECK(o["expected_time_s"].get<double>() >= 6000);
        shared += o["expected_time_s"].get<double>() <
                  0.97 * o["independent_time_s"].get<double>();
    }
    CHECK(shared == 2);
    CHECK(choice["verified"]["agrees"] == true);
}

TEST_CASE("copies on several nodes are as good as all their nodes",
          "[api][fault_tolerance]")
{
    api service;
    // a: two quick nodes and one that fails; b: two slow ones
    json body = request_of({host("a1", "a", 2, 50000), host("a2", "a", 2, 50000),
                            host("a3", "a", 2, 500), host("b1", "b", 1, 90000),
                            host("b2", "b", 1.5, 45000), host("c1", "c", 9, 1e6)},
                           9000);
    json &job = body["jobs"][0];
    job["nodes"] = 2;
    job["restart_s"] = 20;
    job["reschedule_delay_s"] = 100;
    job["checkpoint_overhead_s"] = 1e5; // none pays
    body["verify"] = {{"trial_count", 2000}};
    json answer = answer_of(service, body), choice = answer["choices"][0];
    CHECK(choice["hosts"] == json({"a1", "a2"}));
    // E 4500, M 25000, and twice the CPU time
    double time_s = 25100 * std::expm1(4500 / 25000.0);
    CHECK(expected_s(choice, "none", 1) == Approx(time_s).epsilon(1e-9));
    CHECK(choice["options_compared"][0]["expected_cost_cpu_s"].get<double>() ==
          Approx(2 * time_s * 25000 / 25100).epsilon(1e-9));
    CHECK(choice["verified"]["agrees"] == true);
    CHECK(answer["actions"][0]["resource_id"] == "a1");
    CHECK(answer["actions"][0]["resource_ids"] == json({"a1", "a2"}));
    // b1 and b2 together are as slow as b1, and the only other set
    REQUIRE(choice["options_compared"].size() == 4);
    CHECK(choice["lower_bound_s"].get<double>() <= time_s);
    CHECK(choice["lower_bound_s"].get<double>() >= 4500 * (1 - 1e-3));

    body["options"]["min_gain_ratio"] = 0;
    choice = answer_of(service, body)["choices"][0];
    CHECK(choice["hosts"] == json({"a1", "a2", "b1", "b2"}));

    SECTION("exactly these nodes, or some of these")
    {
        job.erase("nodes");
        job["resource_ids"] = {"a3", "b1"};
        choice = answer_of(service, body)["choices"][0];
        CHECK(choice["hosts"] == json({"a3", "b1"}));
        job.erase("resource_ids");
        job["pool_resource_ids"] = {"b2", "b1", "a1"};
        job["nodes"] = 2;
        choice = answer_of(service, body)["choices"][0];
        CHECK(choice["hosts"] == json({"b1", "b2"}));
        job["nodes"] = 1;
        choice = answer_of(service, body)["choices"][0];
        CHECK(choice["hosts"][0] == "a1");
        job["nodes"] = 3;
        answer = answer_of(service, body);
        CHECK(answer["choices"].empty());
        CHECK(answer["unplaced"][0]["reasons"][0] ==
              json({{"reason", "too_few_nodes"}, {"count", 6}}));
    }
    SECTION("a copy that runs says where")
    {
        for (size_t r : {0, 1})
            body["snapshot"]["resources"][r]["job_count"] = 1;
        job["replicas"] = {{{"id", "r1"},
                            {"resource_id", "a1"},
                            {"resource_ids", {"a2", "a1"}},
                            {"completed_mi", 8000}}};
        choice = answer_of(service, body)["choices"][0];
        CHECK(choice["hosts"][0] == "a1");
        CHECK(expected_s(choice, "none", 1) ==
              Approx(25100 * std::expm1(500 / 25000.0)).epsilon(1e-9));
        job["replicas"][0]["state"] = "finished";
        job["replicas"].push_back(
            {{"id", "r2"}, {"resource_id", "b1"}, {"resource_ids", {"b1", "b2"}}});
        for (size_t r : {3, 4})
            body["snapshot"]["resources"][r]["job_count"] = 1;
        answer = answer_of(service, body);
        CHECK(answer["actions"][0]["action"] == "cancel");
    }
}

TEST_CASE("after a failure a copy waits for a spare node, or for the repair",
          "[api][fault_tolerance]")
{
    api service;
    std::vector<json> hosts;
    for (int i = 0; i < 64; i++)
        hosts.push_back(host("n" + std::to_string(100 + i), "s", 1, 5e6));
    json body = request_of(hosts, 40000);
    body["now_s"] = 1e8;
    for (auto &r : body["snapshot"]["resources"]) {
        r["observed_since_s"] = 5e7;
        r["last_failure_at_s"] = 9e7;
    }
    json &job = body["jobs"][0];
    job["nodes"] = 64;
    job["mttr_s"] = 14400;
    job["reschedule_delay_s"] = 300;
    const struct {
        const char *replacement;
        int spares;
        double delay_s;
    } cases[] = {{"any", 0, 300},
                 {"same", 0, 14700},
                 {"spare", 1, 1420.562},
                 {"spare", 2, 367.874}};

    for (auto &c : cases) {
        job["replacement"] = c.replacement;
        job["spare_nodes"] = c.spares;
        json choice = answer_of(service, body)["choices"][0];
        double mean_s = 5e6 / 64;
        INFO(c.replacement << c.spares);
        CHECK(choice["hosts"].size() == 64);
        CHECK(expected_s(choice, "none", 1) ==
              Approx((mean_s + c.delay_s) * std::expm1(40000 / mean_s)).epsilon(1e-7));
    }
    job.erase("replacement"); // with spares they are used
    CHECK(expected_s(answer_of(service, body)["choices"][0], "none", 1) ==
          Approx((5e6 / 64 + 367.874) * std::expm1(40000 * 64 / 5e6)).epsilon(1e-7));
    job.erase("mttr_s");
    api_reply r = service.post(path, body.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers() == texts{"/jobs/0/mttr_s"});
}

TEST_CASE("what jobs on several nodes may not say", "[api][fault_tolerance]")
{
    const struct {
        const char *why;
        json job;
        texts pointers;
    } cases[] = {
        {"another number",
         {{"nodes", 3}, {"resource_ids", {"a", "b"}}},
         {"/jobs/0/nodes"}},
        {"a node twice, one unknown",
         {{"resource_ids", {"a", "a", "z"}}},
         {"/jobs/0/resource_ids/1", "/jobs/0/resource_ids/2"}},
        {"no such pool", {{"pool_resource_ids", {"z"}}}, {"/jobs/0/pool_resource_ids/0"}},
        {"a pool beside the nodes",
         {{"pool_resource_ids", {"a"}}, {"resource_ids", {"a"}}},
         {"/jobs/0/pool_resource_ids"}},
        {"where is the copy?",
         {{"nodes", 2}, {"replicas", {{{"id", "r"}, {"resource_id", "a"}}}}},
         {"/jobs/0/replicas/0/resource_ids"}},
        {"it is elsewhere",
         {{"nodes", 2},
          {"replicas",
           {{{"id", "r"}, {"resource_id", "a"}, {"resource_ids", {"b", "c"}}}}}},
         {"/jobs/0/replicas/0/resource_ids"}},
        {"too many nodes",
         {{"replicas",
           {{{"id", "r"}, {"resource_id", "a"}, {"resource_ids", {"a", "c"}}}}}},
         {"/jobs/0/replicas/0/resource_ids"}},
        {"two copies share a node",
         {{"nodes", 2},
          {"replicas",
           {{{"id", "r"}, {"resource_id", "a"}, {"resource_ids", {"a", "c"}}},
            {{"id", "s"}, {"resource_id", "b"}, {"resource_ids", {"b", "c"}}}}}},
         {"/jobs/0/replicas/1/resource_id"}},
        {"spares without a number", {{"replacement", "spare"}}, {"/jobs/0/spare_nodes"}},
        {"spares that are not used",
         {{"replacement", "any"}, {"spare_nodes", 2}},
         {"/jobs/0/spare_nodes"}},
        {"half a spare", {{"spare_nodes", 0.5}, {"mttr_s", 1}}, {"/jobs/0/spare_nodes"}},
        {"no deadline", {{"deadline_s", 0}}, {"/jobs/0/deadline_s"}},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.why)
        {
            api service;
            json body = request_of(
                {host("a", "s", 1, 1e5), host("b", "s", 1, 1e5), host("c", "s", 1, 1e5)},
                100);
            body["jobs"][0].update(c.job);
            api_reply r = service.post(path, body.dump());
            INFO(r.body);
            CHECK(r.status == 422);
            CHECK(r.pointers() == c.pointers);
        }
}

TEST_CASE("later jobs get what earlier ones leave", "[api][fault_tolerance]")
{
    api service;
    json body = joint_example();
    json second = body["jobs"][0];
    second["id"] = "j0";
    second["arrival_s"] = 1;
    body["jobs"].push_back(second);
    json answer = answer_of(service, body);
    CHECK(answer["status"] == "feasible");
    REQUIRE(answer["choices"].size() == 2);
    CHECK(answer["choices"][0]["job_id"] == "j1");
    CHECK(answer["choices"][1]["job_id"] == "j0");
    std::set<std::string> used;
    for (const json &c : answer["choices"])
        for (const json &h : c["hosts"])
            CHECK(used.insert(h.get<std::string>()).second);
    for (const json &c : answer["choices"])
        CHECK(c["gap_ratio"].get<double>() >= 0);
}

TEST_CASE("a joint plan survives every memory cap", "[api][memory]")
{
    api service;
    std::string body = joint_example().dump();
    int status = 0;
    for (size_t cap = 16384; status != 200; cap += 65536) {
        status = service.call("POST", path, body, {}, cap).status;
        CHECK((status == 200 || status == 413));
        REQUIRE(cap < (size_t{1} << 25));
    }
}

TEST_CASE("hosts that the stored history says are down are told",
          "[api][fault_tolerance][db]")
{
    if (!test_database_url())
        return;
    api service(test_database_url());
    std::string tag = std::to_string(getpid()) + "-" + std::to_string(clock_wall_s());
    std::string up = "up" + tag, down = "down" + tag;
    const double base = 1.7e9;
    json failures = json::array();
    for (const std::string &id : {up, down})
        for (int i = 1; i <= 5; i++)
            failures.push_back({{"resource_id", id},
                                {"down_at", base + 10000 * i},
                                {"up_at", base + 10000 * i + 100}});
    failures.back().erase("up_at");
    REQUIRE(service.post("/v1/failures", failures.dump()).status == 201);

    json body = request_of({host(up, "s", 1, 1), host(down, "s", 1, 1)}, 1000);
    body["now_s"] = base + 100000;
    body["options"] = {{"prior", "none"}, {"mean_floor_s", 0}, {"replicas_max", 1}};
    for (json &one : body["snapshot"]["resources"])
        for (const char *member :
             {"observed_since_s", "failure_count", "last_failure_at_s"})
            one.erase(member);
    body["jobs"][0]["resource_ids"] = {down};
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    json answer = r.json();
    CHECK(r.body.find("resource_down: 1 resource failed and nothing says that it "
                      "is up again: '" +
                      down + "' since 2023-11-15T12:06:40Z; ") != std::string::npos);
    // 40000 s with three ends of repairs in it, and 4 failures besides the first
    double mean_s = (40000 - 400) / 4.5;
    REQUIRE(answer["choices"][0]["options_compared"][0]["remedy"] == "none");
    CHECK(answer["choices"][0]["options_compared"][0]["expected_time_s"].get<double>() ==
          Approx(mean_s * std::expm1(1000 / mean_s)).epsilon(1e-3));

    REQUIRE(service
                .post("/v1/failures/recoveries",
                      json{{"resource_id", down}, {"up_at", base + 60000}}.dump())
                .status == 200);
    r = service.post(path, body.dump());
    CHECK(r.body.find("resource_down") == std::string::npos);
    mean_s = (90000 - 400 - 10000) / 4.5;
    CHECK(
        r.json()["choices"][0]["options_compared"][0]["expected_time_s"].get<double>() ==
        Approx(mean_s * std::expm1(1000 / mean_s)).epsilon(1e-3));
}

TEST_CASE("what a choice leaves out is told", "[api][fault_tolerance]")
{
    api service;
    auto ask = [&](const json &body) {
        api_reply r = service.post(path, body.dump());
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json();
    };
    auto warned = [](const json &answer, const std::string &begin) {
        for (const std::string w : answer["warnings"])
            if (w.rfind(begin, 0) == 0)
                return true;
        return false;
    };
    json answer = ask(request_of({}, 1000)); // nowhere to go
    CHECK(answer["unplaced"][0]["reasons"] ==
          json({{{"reason", "no_resource_up"}, {"count", 0}}}));
    CHECK(answer["status"] == "infeasible");

    answer = ask(request_of({host("a", "s", 1, 1e-3)}, 9000)); // it fails at once
    CHECK(answer["unplaced"][0]["reasons"] ==
          json({{{"reason", "without_end"}, {"count", 1}}}));
    CHECK_FALSE(warned(answer, "at_floor"));

    // Checkpoints that cost nothing: one a second, too many for copies side by side.
    json body = request_of({host("a", "s", 1, 1e4), host("b", "t", 1, 1e4)}, 9000);
    answer = ask(body);
    CHECK(answer["choices"][0]["interval_s"] == 1);
    CHECK(warned(answer, "at_floor: 1 job, first 'j1', "));
    CHECK(warned(answer, "expected_skipped: 1 option, first of job 'j1', "));
    body["jobs"][0]["checkpoint_overhead_s"] = 60;
    answer = ask(body);
    CHECK(answer["warnings"].empty());
    // Longer than the time between failures: segments as short as they may be.
    body["snapshot"]["resources"] = {host("a", "s", 1, 1000)};
    body["jobs"][0]["checkpoint_overhead_s"] = 2000;
    answer = ask(body);
    CHECK(answer["choices"][0]["interval_s"].get<double>() == Approx(2000.2));
    CHECK(warned(answer, "at_floor: 1 job,"));
}
