// workflow_simulation_api_test.cpp - POST /v1/simulations of kind workflow.
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/test_governor.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

extern "C" {
#include "service/background.h"
}

using nlohmann::json;

namespace
{

json example(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/" + name + ".json");
    REQUIRE(in.good());
    json body = json::parse(in);
    body["time_limit_s"] = 600;
    return body;
}

json simulate(api &a, const json &body)
{
    api_reply r = a.post("/v1/simulations", body.dump());
    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 200);
    return r.json();
}

// The service with its thread for simulations.
struct live : api {
    background *b = nullptr;

    live() : api(test_database_url())
    {
        background_options options{};
        error err{};
        test_arena a;
        db_session *s = db_session_create(handle()->db, nullptr, a);

        REQUIRE(db_execute(s, "DELETE FROM simulation", &err) == OK);
        db_session_close(s);
        handle()->governor = test_governor(2, 16);
        REQUIRE(handle()->governor);
        options.at_once = 2;
        options.lease_s = 0.5;
        options.poll_s = 0.02;
        REQUIRE(background_create(handle(), &options, &b, &err) == OK);
        handle()->background = b;
    }
    ~live()
    {
        handle()->background = nullptr;
        background_close(b);
        governor_close(handle()->governor);
    }
    api_reply post_async(const json &body)
    {
        return call("POST", "/v1/simulations", body.dump(),
                    {{"prefer", "respond-async"}});
    }
    json wait_for(const std::string &location, const std::string &status)
    {
        for (int i = 0; i < 12000; i++) {
            json now = get(location).json();
            if (now["status"] == status)
                return now;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        FAIL(get(location).body);
        return {};
    }
};

} // namespace

TEST_CASE("kind workflow of POST /v1/simulations", "[api][workflow][simulation]")
{
    api a;
    json body = example("simulation-workflow");
    json answer = simulate(a, body), r = answer["results"];

    CHECK(answer["kind"] == "workflow");
    CHECK(answer["status"] == "feasible");
    CHECK(answer["runs_done"] == 3);
    CHECK(answer["name"] == "does moving tasks pay?");
    REQUIRE(r.size() == 3);
    CHECK(r[0]["label"] == "balanced_static");
    CHECK(r[1]["algorithm"] == "balanced");
    CHECK(r[0]["figures"]["move_count"]["mean"] == 0);
    CHECK(r[0]["figures"]["makespan_reduction_ratio"]["mean"] == 0);
    CHECK(r[1]["figures"]["move_count"]["mean"] > 0);
    CHECK(r[1]["figures"]["makespan_reduction_ratio"]["ci95"].is_number());
    for (auto &one : r) {
        // Common random numbers.
        CHECK(one["figures"]["submitted_ref_s"] == r[0]["figures"]["submitted_ref_s"]);
        CHECK_FALSE(one.contains("workflows"));
    }
    CHECK(simulate(a, body)["results"] == r);

    body["time_limit_s"] = 1e-9;
    answer = simulate(a, body);
    CHECK(answer["status"] == "cut");
    CHECK(answer["results"].empty());
}

TEST_CASE("given workflows on given resources", "[api][workflow][simulation]")
{
    api a;
    json body = example("simulation-workflow-given"), answer = simulate(a, body);
    json r = answer["results"][0];

    CHECK(r["label"] == "balanced");
    REQUIRE(r["workflows"].size() == 1);
    json w = r["workflows"][0];
    CHECK(w["workflow_id"] == "scenario");
    CHECK(w["makespan_s"].get<double>() == Approx(1332).margin(1e-9));
    CHECK(w["done_count"] == 4);
    CHECK(w["tasks"][1]["task_id"] == "short");
    CHECK(w["tasks"][1]["resource_id"] == "fast");
    CHECK(w["tasks"][1]["move_count"] == 1);
    CHECK(w["tasks"][1]["finish_s"].get<double>() == Approx(1019.002).margin(2e-3));
    CHECK(w["tasks"][2]["work_done_ref_s"] == 2000);
    CHECK(r["figures"]["network_bytes"]["mean"] == 1e9);
    CHECK(r["figures"]["mean_makespan_s"]["ci95"].is_null());

    // The same by edges; a second one comes later.
    for (auto &t : body["workflows"][0]["tasks"])
        t.erase("depends_on");
    for (auto &e : {std::pair<const char *, const char *>{"prepare", "short"},
                    {"prepare", "long"},
                    {"short", "collect"},
                    {"long", "collect"},
                    {"long", "collect"}})
        body["workflows"][0]["edges"].push_back(
            {{"parent_id", e.first}, {"child_id", e.second}});
    CHECK(simulate(a, body)["results"][0]["workflows"][0] == w);
    json late = body["workflows"][0];
    late["id"] = "late";
    late["submitted_at"] = "2026-01-01T01:00:00Z";
    body["workflows"][0]["submitted_at"] = "2026-01-01T00:00:00Z";
    body["workflows"].push_back(late);
    json both = simulate(a, body)["results"][0]["workflows"];
    CHECK(both[0] == w);
    CHECK(both[1]["arrival_s"] == 3600);
    CHECK(both[1]["makespan_s"].get<double>() == Approx(1332).margin(0.01));

    // Files come from parents, over the network.
    body = example("simulation-workflow-given");
    body["workflows"][0]["tasks"][0]["output_bytes"] = 1e9;
    body["settings"]["storage"] = "network";
    body["settings"]["storage_site_id"] = "ghent";
    json staged = simulate(a, body)["results"][0];
    CHECK(staged["figures"]["staging_bytes"]["mean"] == 1e9 + 1.5e9 + 1e9);
}

TEST_CASE("the presets and the policies of a simulation of workflows",
          "[api][workflow][simulation]")
{
    api a;
    json small = {{"kind", "workflow"},
                  {"runs", 1},
                  {"time_limit_s", 600},
                  {"grid", {{"sites", 2}, {"resources_per_site", 4}}},
                  {"workload", {{"workflow_count", 10}}}};

    for (auto *preset : {"ch5_workflow", "ch6_prediction"}) {
        json body = small;
        body["preset"] = preset;
        json r = simulate(a, body)["results"];
        REQUIRE(r.size() == 3); // the usual ones
        CHECK(r[1]["label"] == "longest_only");
        CHECK(r[2]["figures"]["submitted_count"]["mean"] == 10);
    }
    json body = small;
    for (auto *name : {"balanced", "balanced_grouped", "balanced_reduced_overhead",
                       "balanced_static", "workflow_fastest"})
        body["compare"].push_back({{"algorithm", name}});
    body["compare"].push_back({{"algorithm", "balanced_static"},
                               {"label", "random"},
                               {"use_estimates", false}});
    body["compare"].push_back({{"algorithm", "balanced"},
                               {"label", "fit"},
                               {"options", {{"predictor", "fit"}, {"theta", 2}}}});
    CHECK(simulate(a, body)["results"].size() == 7);
    body = small;
    body["algorithm"] = "balanced";
    body["options"] = {{"gamma", 0.2}};
    CHECK(simulate(a, body)["results"].size() == 1);
}

TEST_CASE("mistakes in a simulation of workflows", "[api][workflow][simulation]")
{
    api a;
    auto pointers = [&](const json &body) {
        api_reply r = a.post("/v1/simulations", body.dump());
        INFO(r.body.substr(0, 2000));
        CHECK(r.status == 422);
        return r.pointers();
    };
    using list = std::vector<std::string>;
    json body = example("simulation-workflow-given");

    body["grid"]["sites"] = 3;
    body["grid"]["resources"][0]["mips_external"] = 5;
    body["workload"] = {{"parallelism", 3}, {"load_ratio", 0.4}};
    body["workflows"][0]["tasks"][0]["depends_on"] = {{{"task_id", "collect"}}};
    body["workflows"][0]["tasks"][1]["depends_on"][0]["task_id"] = "nothing";
    body["workflows"][0]["tasks"][2]["estimate_ref_s"] = 0;
    body["workflows"][0]["tasks"][3]["status"] = "done";
    body["settings"]["storage"] = "network";
    body["settings"]["stage_in_s"] = 3;
    body["settings"]["storage_site_id"] = "paris";
    body["settings"]["load_change_min_ratio"] = 2;
    body["compare"] = json::parse(R"([
        {"algorithm": "balanced", "options": {"gamma": 2, "no_such": 1}},
        {"algorithm": "balanced"}, {"algorithm": "heft"}])");
    list found = pointers(body);
    for (auto *wanted :
         {"/grid/sites", "/grid/resources/0/mips_external", "/workload/parallelism",
          "/workload/load_ratio", "/workflows/0/tasks/1/depends_on/0/task_id",
          "/workflows/0/tasks/2/estimate_ref_s", "/workflows/0/tasks/3/status",
          "/workflows/0/tasks/0/depends_on", "/settings/stage_in_s",
          "/settings/storage_site_id", "/settings/load_change_max_ratio", "/algorithm",
          "/compare/0/options/gamma", "/compare/0/options/no_such", "/compare/1/label",
          "/compare/2/algorithm"}) {
        INFO(wanted);
        CHECK(std::count(found.begin(), found.end(), wanted) == 1);
    }

    const struct {
        const char *body;
        list wanted;
    } cases[] = {
        {R"({"grid": {"mips_min": 5}})", {"/grid/mips_max"}},
        {R"({"grid": {"sites": 100, "resources_per_site": 100}})",
         {"/grid/resources_per_site"}},
        {R"({"grid": {"mips_max": -1}, "workload": {"spread_ratio": 1}})",
         {"/grid/mips_max", "/workload/spread_ratio"}},
        {R"({"workload": {"variation": "low", "spread_ratio": 0.3}})",
         {"/workload/spread_ratio"}},
        {R"({"workload": {"workflow_count": 5, "load_ratio": 0.3}})",
         {"/workload/load_ratio"}},
        {R"({"workload": {"nominal_ref_s": 1e-6}})", {"/workload"}},
        {R"({"settings": {"storage_site_id": "s0"}})", {"/settings/storage_site_id"}},
        {R"({"settings": {"information_interval_s": 1e-9, "report_ratio": 1e-9}})",
         {"/settings/information_interval_s", "/settings/report_ratio"}},
        {R"({"settings": {"horizon_s": 1e308}})", {"/settings/horizon_s"}},
        {R"({"options": {"gamma": 1}})", {"/options"}},
        {R"({"algorithm": "balance"})", {"/algorithm"}},
        {R"({"algorithm": "balanced", "options": {"theta": 0}})", {"/options/theta"}},
        {R"({"preset": "ch7"})", {"/preset"}},
        {R"({"runs": 0, "no_such": 1})", {"/no_such", "/runs"}},
    };
    for (auto &c : cases) {
        json one = json::parse(c.body);
        one["kind"] = "workflow";
        INFO(c.body);
        list got = pointers(one);
        std::sort(got.begin(), got.end());
        CHECK(got == c.wanted);
    }
}

TEST_CASE("a simulation of workflows without a client", "[workflow][simulations][db]")
{
    NEED_DATABASE();
    live a;
    json body = example("simulation-workflow");
    body["grid"]["resources_per_site"] = 4;
    api_reply r = a.post_async(body);

    REQUIRE(r.status == 202);
    json end = a.wait_for(r.headers["Location"], "done");
    CHECK(end["progress_ratio"] == 1);
    CHECK(end["runs_completed"] == 3);
    CHECK(end["result"]["results"] == simulate(a, body)["results"]);

    body["settings"] = {{"horizon_s", 1e8}, {"round_interval_s", 10}};
    body["workload"] = {{"workflow_count", 1000}};
    body["runs"] = 1000;
    body.erase("time_limit_s");
    std::string location = a.post_async(body).headers["Location"];
    json now;
    do
        now = a.wait_for(location, "running");
    while (now["progress_ratio"] == 0);
    CHECK(now["progress_ratio"] < 1);
    CHECK(a.call("DELETE", location).status == 202);
    CHECK(a.wait_for(location, "cancelled")["result"]["status"] == "cut");

    body["runs"] = 0;
    CHECK(a.post_async(body).status == 422);
}

TEST_CASE("rows of workflows that do not finish are drawn and described",
          "[api][workflow][simulation]")
{
    api a;
    json body = example("simulation-workflow");
    body["per_workflow"] = true;
    CHECK(a.post("/v1/simulations", body.dump()).status == 200);
}

TEST_CASE("workflows that a simulation does not list are said",
          "[api][workflow][simulation]")
{
    api a;
    json body = {
        {"kind", "workflow"},
        {"grid", {{"sites", 1}, {"resources_per_site", 1}}},
        {"workload", {{"load_ratio", 0.2}, {"parallelism", 1}, {"nominal_ref_s", 1e-3}}},
        {"settings", {{"round_interval_s", 1e6}, {"horizon_s", 60}}},
        {"algorithm", "balanced"},
        {"runs", 1},
        {"per_workflow", true}};
    api_reply r = a.post("/v1/simulations", body.dump());
    INFO(r.body.substr(0, 500));
    REQUIRE(r.status == 200);
    json answer = r.json();
    CHECK(answer["results"][0]["workflows"].size() == 10000);
    CHECK(answer["warnings"][0].get<std::string>().find(
              "truncated: /per_workflow: of each policy the last 2") == 0);
}
