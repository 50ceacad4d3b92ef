// parallel_schedules_api_test.cpp - POST /v1/parallel-schedules.
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/model_support.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

extern "C" {
#include "algorithms/parallel/parallel.h"
}

using json = nlohmann::json;
using namespace nlohmann::literals;

namespace
{

const char *const path = "/v1/parallel-schedules";

// Fixture A of the spec: the best set is {0, 1, 2}, 524.4444 s.
json fixture_site(const std::string &id)
{
    const double cpu[] = {0.9, 0.8, 0.75, 0.5, 0.3, 0.2};
    json s = {{"id", id},
              {"resources", json::array()},
              {"links",
               {{"form", "upper_triangle"},
                {"bandwidth_mbps",
                 {70, 65, 60, 40, 50, 25, 55, 45, 60, 70, 35, 65, 50, 55, 30}}}}};
    for (size_t i = 0; i < 6; i++)
        s["resources"].push_back(
            {{"id", id + std::to_string(i)}, {"cpu_available_ratio", cpu[i]}});
    return s;
}

json fixture_term()
{
    return {{"comp_coefficient_s", 1000},
            {"f_pcomp_id", 2},
            {"comm_coefficient", 6000},
            {"f_bw_id", 2},
            {"f_pcomm_id", 2}};
}

json fixture()
{
    return {{"snapshot", {{"sites", {fixture_site("a")}}}},
            {"jobs", {{{"id", "j"}, {"model", {{"terms", {fixture_term()}}}}}}}};
}

json good(api &service, const json &body)
{
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    return r.json();
}

std::vector<std::string> mistakes(api &service, const json &body)
{
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    CHECK(r.status == 422);
    return r.pointers();
}

using texts = std::vector<std::string>;

} // namespace

TEST_CASE("a machine set is chosen from the request alone, and proven", "[api][parallel]")
{
    api service;
    for (const char *algorithm : {"", "auto", "exact"}) {
        json body = fixture();
        if (*algorithm)
            body["algorithm"] = algorithm;
        json x = good(service, body);
        CHECK(x["algorithm"] == "exact");
        CHECK(x["status"] == "optimal");
        CHECK(x["schedule"]["job_id"] == "j");
        CHECK(x["schedule"]["site_id"] == "a");
        CHECK(x["schedule"]["resource_ids"] == json({"a0", "a1", "a2"}));
        CHECK(x["schedule"]["processors"] == 3);
        CHECK(x["schedule"]["min_cpu_available_ratio"] == 0.75);
        CHECK(x["schedule"]["min_bandwidth_mbps"] == 25);
        CHECK(x["schedule"]["predicted_execution_s"].get<double>() ==
              Approx(524.4444444444).epsilon(1e-12));
        CHECK(x["schedule"]["predicted_queue_wait_s"] == 0);
        CHECK(x["objective"]["makespan_s"] == x["schedule"]["score_s"]);
        CHECK(x["objective"]["lower_bound_s"] == x["schedule"]["score_s"]);
        CHECK(x["objective"]["gap_ratio"] == 0);
        CHECK(x["sites"][0]["site_id"] == "a");
        CHECK(x["unplaced"].empty());
        CHECK(x["warnings"].empty());
        CHECK(x["monotone"] == true);
        CHECK(x["stopped_early"] == false);
        CHECK(x["evaluations"].get<int>() > 0);
    }
}

TEST_CASE("every algorithm answers with a bound, the same each time", "[api][parallel]")
{
    api service;
    for (const struct policy *p = parallel_policies; p->name; p++) {
        json body = fixture();
        CAPTURE(p->name);
        body["algorithm"] = p->name;
        body["options"]["work_budget"] = 2000000;
        if (std::string(p->name) == "threshold_exact") {
            body["snapshot"]["sites"][0]["links"] = {{"form", "uplinks"}};
            for (json &r : body["snapshot"]["sites"][0]["resources"])
                r["uplink_mbps"] = 50;
        }
        json x = good(service, body), again = good(service, body);
        CHECK(x["schedule"] == again["schedule"]);
        CHECK(x["objective"] == again["objective"]);
        double score = x["objective"]["makespan_s"],
               bound = x["objective"]["lower_bound_s"];
        CHECK(bound <= score);
        CHECK(bound > 0);
        CHECK(x["objective"]["gap_ratio"].get<double>() ==
              Approx(score / bound - 1).margin(1e-12));
    }
}

TEST_CASE("links in three forms mean the same", "[api][parallel]")
{
    api service;
    json body = fixture();
    json &links = body["snapshot"]["sites"][0]["links"];
    links = {{"form", "upper_triangle"},
             {"bandwidth_mbps",
              json::array({20, 20, 20, 20, 20, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40})}};
    json triangle = good(service, body);
    links = {{"form", "default_with_overrides"},
             {"default_mbps", 40},
             {"overrides", json::array()}};
    for (int i = 1; i < 6; i++)
        links["overrides"].push_back({{"resource_id", "a" + std::to_string(i)},
                                      {"peer_id", "a0"},
                                      {"bandwidth_mbps", 20}});
    json overrides = good(service, body);
    links = {{"form", "uplinks"}};
    for (int i = 0; i < 6; i++)
        body["snapshot"]["sites"][0]["resources"][static_cast<size_t>(i)]["uplink_mbps"] =
            i == 0 ? 20 : 40;
    json uplinks = good(service, body);
    CHECK(triangle["schedule"] == overrides["schedule"]);
    CHECK(triangle["schedule"] == uplinks["schedule"]);
    CHECK(uplinks["status"] == "optimal");
}

TEST_CASE("of several sites the best is chosen; scaling factors count", "[api][parallel]")
{
    api service;
    json body = fixture();
    json slow = fixture_site("b"), own = fixture_site("c");
    slow["cpu_scaling_factor"] = 1.4;
    slow["bandwidth_scaling_factor"] = 2;
    own["cpu_scaling_factor"] = 100; // has a model of its own: not applied
    own["model"] = {{"terms", {fixture_term()}}};
    own["model"]["terms"][0]["comp_coefficient_s"] = 2000;
    body["snapshot"]["sites"] = {slow, fixture_site("a"), own};
    json x = good(service, body);
    CHECK(x["schedule"]["site_id"] == "a");
    CHECK(x["status"] == "optimal");
    CHECK(x["sites"].size() == 3);
    CHECK(x["heterogeneity_ratio"].get<double>() > 1);
    body["snapshot"]["sites"] = {slow};
    CHECK(good(service, body)["objective"]["makespan_s"].get<double>() ==
          Approx(1.4 * 444.4444444444 + 2 * 80).epsilon(1e-9));
    body["snapshot"]["sites"] = {own};
    CHECK(good(service, body)["objective"]["makespan_s"].get<double>() ==
          Approx(2 * 444.4444444444 + 80).epsilon(1e-9));
}

TEST_CASE("a batch site is charged its queue wait", "[api][parallel]")
{
    api service;
    json body = fixture();
    json &site = body["snapshot"]["sites"][0];
    site["kind"] = "batch";
    site["links"] = {{"form", "default_with_overrides"}, {"default_mbps", 40}};
    for (json &r : site["resources"])
        r.erase("cpu_available_ratio"); // idle when the job gets them
    site["queue_wait_history"] = {{{"processors", 1}, {"wait_s", 0}},
                                  {{"processors", 2}, {"wait_s", 10}},
                                  {{"processors", 3}, {"wait_s", 5000}},
                                  {{"processors", 6}, {"wait_s", 7000}}};
    json x = good(service, body);
    CHECK(x["schedule"]["processors"] == 2);
    CHECK(x["schedule"]["predicted_queue_wait_s"] == 10);
    CHECK(x["schedule"]["predicted_execution_s"].get<double>() == Approx(575));
    CHECK(x["schedule"]["score_s"].get<double>() == Approx(585));
    CHECK(x["monotone"] == false);
    site.erase("queue_wait_history");
    x = good(service, body);
    CHECK(x["schedule"]["processors"] == 6);
    REQUIRE(x["warnings"].size() == 1);
    CHECK(x["warnings"][0].get<std::string>().rfind("queue_wait_unknown", 0) == 0);
}

TEST_CASE("a combination is worked out for the problem size", "[api][parallel]")
{
    api service;
    json body = fixture();
    // W3 of performance-models.md: 2e-4 N^2 / (c P) + 0.5 N / (b sqrt(P))
    body["jobs"][0]["problem_size"] = 2000;
    body["jobs"][0]["model"] = {{"combination",
                                 {{"f_comp_mask", 128},
                                  {"f_comm_mask", 8},
                                  {"f_bw_id", 2},
                                  {"f_pcomp_id", 2},
                                  {"f_pcomm_id", 1},
                                  {"coefficients", {2e-4, 0.5}}}}};
    json x = good(service, body);
    double p = x["schedule"]["processors"], c = x["schedule"]["min_cpu_available_ratio"];
    double b = x["schedule"]["min_bandwidth_mbps"];
    CHECK(x["schedule"]["predicted_execution_s"].get<double>() ==
          Approx(800 / (c * p) + 1000 / (b * std::sqrt(p))).epsilon(1e-12));
    body["jobs"][0]["model"]["combination"]["coefficients"] = {1};
    CHECK(mistakes(service, body) == texts{"/jobs/0/model/combination"});
    body["jobs"][0]["model"]["combination"]["coefficients"] = {-1, 1};
    CHECK(mistakes(service, body) == texts{"/jobs/0/model/combination"});
    body["jobs"][0].erase("problem_size");
    CHECK(mistakes(service, body) == texts{"/jobs/0/problem_size"});
}

TEST_CASE("members of a schedule that nothing looks at are named", "[api][parallel]")
{
    api service;
    auto ignored = [&](const json &body) {
        const json answer = good(service, body);
        texts found;
        for (const json &w : answer["warnings"])
            if (w.get<std::string>().rfind("ignored: ", 0) == 0)
                found.push_back(w.get<std::string>().substr(9));
        return found;
    };
    json body = fixture();
    CHECK(ignored(body).empty());
    json &job = body["jobs"][0];
    job["problem_size"] = 10;
    job["application_id"] = "app";
    json &sites = body["snapshot"]["sites"];
    sites.push_back(fixture_site("b"));
    sites.push_back(fixture_site("c"));
    sites[1]["queue_wait_history"] = {{{"processors", 1}, {"wait_s", 5}}};
    sites[2]["queue_wait_history"] = sites[1]["queue_wait_history"];
    sites[1]["resources"][2]["uplink_mbps"] = 3;
    sites[2]["links"]["default_mbps"] = 4;
    sites[2]["link_capacity_mbps"] = 100;
    sites[0]["cpu_scaling_factor"] = 2; // the job's model is scaled by it
    CHECK(ignored(body) ==
          texts{"/jobs/0/application_id: models are given, none is looked up",
                "/jobs/0/problem_size: terms are worked out for it already",
                "queue_wait_history of 2 sites (first "
                "/snapshot/sites/1/queue_wait_history): only jobs of a batch site wait",
                "links/default_mbps of 1 site (first "
                "/snapshot/sites/2/links/default_mbps): links have another form",
                "resources/*/uplink_mbps of 1 site (first "
                "/snapshot/sites/1/resources/*/uplink_mbps): links have another form"});
    sites[1]["kind"] = "batch";
    body["algorithm"] = "exact";
    json model = job["model"];
    for (json &site : sites)
        site["model"] = model;
    CHECK(ignored(body) ==
          texts{"/jobs/0/model: every site has its own",
                "/jobs/0/application_id: models are given, none is looked up",
                "/jobs/0/problem_size: terms are worked out for it already",
                "cpu_scaling_factor of 1 site (first "
                "/snapshot/sites/0/cpu_scaling_factor): the model is of the site itself",
                "queue_wait_history of 1 site (first "
                "/snapshot/sites/2/queue_wait_history): only jobs of a batch site wait",
                "resources/*/cpu_available_ratio of 1 site (first "
                "/snapshot/sites/1/resources/*/cpu_available_ratio): a batch site gives "
                "a job its machines alone",
                "link_capacity_mbps of 1 site (first "
                "/snapshot/sites/2/link_capacity_mbps): the algorithm makes no grid",
                "links/default_mbps of 1 site (first "
                "/snapshot/sites/2/links/default_mbps): links have another form",
                "resources/*/uplink_mbps of 1 site (first "
                "/snapshot/sites/1/resources/*/uplink_mbps): links have another form"});
}

TEST_CASE("what cannot be done is answered with reasons", "[api][parallel]")
{
    api service;
    json body = fixture();
    body["snapshot"]["sites"].push_back(fixture_site("b"));
    body["jobs"][0]["min_processors"] = 6;
    for (size_t i : {0U, 1U, 2U})
        body["snapshot"]["sites"][0]["resources"][i]["cpu_available_ratio"] = 0;
    body["snapshot"]["sites"][1]["resources"][5].erase("cpu_available_ratio");
    json x = good(service, body);
    CHECK(x["status"] == "infeasible");
    CHECK_FALSE(x.contains("schedule"));
    CHECK(x["objective"]["makespan_s"].is_null());
    REQUIRE(x["unplaced"].size() == 1);
    json reasons = x["unplaced"][0]["reasons"];
    CHECK(x["unplaced"][0]["job_id"] == "j");
    CHECK(reasons[0]["reason"] == "resource_unusable");
    CHECK(reasons[0]["resource_count"] == 4);
    CHECK(reasons[1]["reason"] == "below_min_processors");
    CHECK(reasons[1]["resource_count"] == 8);
    CHECK(reasons[1]["nearest_miss"] ==
          json({{"site_id", "b"}, {"processors_short", 1}}));

    body = fixture();
    body["jobs"][0]["min_processors"] = 3;
    body["snapshot"]["sites"][0]["links"] = {
        {"form", "default_with_overrides"},
        {"overrides",
         {{{"resource_id", "a0"}, {"peer_id", "a1"}, {"bandwidth_mbps", 5}}}}};
    x = good(service, body);
    CHECK(x["status"] == "infeasible");
    CHECK(x["unplaced"][0]["reasons"][0]["reason"] == "no_linked_set");
    CHECK(x["unplaced"][0]["reasons"][0]["resource_count"] == 6);

    body = fixture();
    body["snapshot"]["sites"][0]["resources"] = json::array();
    body["snapshot"]["sites"][0]["links"] = {{"form", "uplinks"}};
    x = good(service, body);
    CHECK(x["status"] == "infeasible");
    CHECK(x["unplaced"][0]["reasons"][0]["reason"] == "below_min_processors");
    body["snapshot"]["sites"] = json::array();
    CHECK(good(service, body)["status"] == "infeasible");
}

TEST_CASE("all mistakes are told at once", "[api][parallel]")
{
    api service;
    json body = fixture();
    json &sites = body["snapshot"]["sites"];
    sites[0]["links"]["bandwidth_mbps"] = {1, 2};
    sites.push_back(fixture_site("b"));
    sites[1]["links"] = {{"form", "uplinks"}};
    for (size_t i = 0; i < 5; i++)
        sites[1]["resources"][i]["uplink_mbps"] = 5;
    sites.push_back(fixture_site("c"));
    sites[2]["links"] = {
        {"form", "default_with_overrides"},
        {"overrides",
         {{{"resource_id", "c0"}, {"peer_id", "x"}, {"bandwidth_mbps", 5}}}}};
    sites[2]["model"] = json::object();
    body["algorithm"] = "exakt";
    body["jobs"][0]["model"]["terms"] = json::array();
    CHECK(mistakes(service, body) ==
          texts{"/algorithm", "/snapshot/sites/0/links/bandwidth_mbps",
                "/snapshot/sites/1/resources/5/uplink_mbps",
                "/snapshot/sites/2/links/overrides/0/peer_id", "/snapshot/sites/2/model",
                "/jobs/0/model/terms"});
}

TEST_CASE("values out of range are refused with their pointers", "[api][parallel]")
{
    api service;
    struct {
        json::json_pointer at;
        json value;
        texts want;
    } cases[] = {
        {"/snapshot/sites/0/resources/0/cpu_available_ratio"_json_pointer,
         -0.1,
         {"/snapshot/sites/0/resources/0/cpu_available_ratio"}},
        {"/snapshot/sites/0/resources/0/cpu_available_ratio"_json_pointer,
         1.5,
         {"/snapshot/sites/0/resources/0/cpu_available_ratio"}},
        {"/snapshot/sites/0/resources/1/id"_json_pointer,
         "a0",
         {"/snapshot/sites/0/resources/1/id"}},
        {"/snapshot/sites/0/links/bandwidth_mbps/3"_json_pointer,
         -1,
         {"/snapshot/sites/0/links/bandwidth_mbps/3"}},
        {"/snapshot/sites/0/links/form"_json_pointer,
         "ring",
         {"/snapshot/sites/0/links/form"}},
        {"/snapshot/sites/0/kind"_json_pointer, "cloud", {"/snapshot/sites/0/kind"}},
        {"/snapshot/sites/0/cpu_scaling_factor"_json_pointer,
         0,
         {"/snapshot/sites/0/cpu_scaling_factor"}},
        {"/jobs/0/min_processors"_json_pointer, 0, {"/jobs/0/min_processors"}},
        {"/jobs/0/model/terms/0/f_pcomp_id"_json_pointer,
         19,
         {"/jobs/0/model/terms/0/f_pcomp_id"}},
        {"/jobs/0/model/terms/0/f_bw_id"_json_pointer,
         2.5,
         {"/jobs/0/model/terms/0/f_bw_id"}},
        {"/jobs/0/model/terms/0/f_bw_id"_json_pointer,
         nullptr,
         {"/jobs/0/model/terms/0/f_bw_id"}},
        {"/jobs/0/model/terms/0/comm_coefficient"_json_pointer,
         -5,
         {"/jobs/0/model/terms/0/comm_coefficient"}},
        {"/jobs/0/model"_json_pointer, nullptr, {"/jobs/0/model"}},
        {"/jobs"_json_pointer, json::array(), {"/jobs"}},
        {"/options/be_modes"_json_pointer, 1, {"/options/be_modes"}},
    };
    for (auto &x : cases) {
        json body = fixture();
        body[x.at] = x.value;
        CAPTURE(x.at.to_string());
        CHECK(mistakes(service, body) == x.want);
    }
    json two = fixture();
    two["jobs"].push_back({{"id", "k"}, {"model", {{"terms", {fixture_term()}}}}});
    CHECK(mistakes(service, two) == texts{"/jobs"});
    json none = fixture();
    none.erase("snapshot");
    CHECK(mistakes(service, none) == texts{"/snapshot"});
    json both = fixture();
    both["snapshot_id"] = "s";
    CHECK(mistakes(service, both) == texts{"/snapshot_id"});
}

TEST_CASE("algorithms refuse sites that they cannot treat", "[api][parallel]")
{
    api service;
    json body = fixture();
    body["algorithm"] = "threshold_exact";
    CHECK(mistakes(service, body) == texts{"/algorithm"});
    body["algorithm"] = "brute_force";
    json &site = body["snapshot"]["sites"][0];
    site["resources"] = json::array();
    site["links"] = {{"form", "default_with_overrides"}, {"default_mbps", 10}};
    for (int i = 0; i < 21; i++)
        site["resources"].push_back(
            {{"id", std::to_string(i)}, {"cpu_available_ratio", 0.5}});
    CHECK_FALSE(mistakes(service, body).empty());
}

TEST_CASE("extreme numbers are answered or refused, never more", "[api][parallel]")
{
    api service;
    for (double extreme : {1e-300, 1e300, 1e308})
        for (const char *algorithm : {"auto", "box_elimination", "dynamic_programming"}) {
            json body = fixture();
            body["algorithm"] = algorithm;
            body["jobs"][0]["model"]["terms"][0]["comp_coefficient_s"] = extreme;
            body["snapshot"]["sites"][0]["links"]["bandwidth_mbps"][0] = extreme;
            body["snapshot"]["sites"][0]["resources"][0]["cpu_available_ratio"] = 1e-300;
            CAPTURE(extreme, algorithm);
            api_reply r = service.post(path, body.dump());
            CHECK(r.status == 200);
        }
    json zero = fixture();
    zero["jobs"][0]["model"]["terms"][0] = {{"comp_coefficient_s", 0}, {"f_pcomp_id", 2}};
    json x = good(service, zero);
    CHECK(x["status"] == "infeasible"); // no time is positive
}

TEST_CASE("random errors are a test switch that exact ignores", "[api][parallel]")
{
    api service;
    json body = fixture();
    body["options"]["perturbation_ratio"] = 0.3;
    body["algorithm"] = "exact";
    json x = good(service, body);
    CHECK(x["schedule"]["score_s"].get<double>() == Approx(524.4444444444));
    CHECK(x["warnings"][0].get<std::string>().rfind("perturbation_ignored", 0) == 0);
    body["algorithm"] = "dynamic_programming";
    x = good(service, body);
    CHECK(x["schedule"]["score_s"].get<double>() >= 524.44);
    CHECK(x["warnings"].empty());
}

TEST_CASE("every example of the family is answered with a proof or a bound",
          "[api][parallel]")
{
    api service;
    size_t count = 0;
    for (const struct policy *p = parallel_policies; p->name; p++) {
        std::ifstream file(
            std::string(GRIDPLAN_SOURCE_DIR "/openapi/examples/parallel-") + p->name +
            ".json");
        std::stringstream text;
        CAPTURE(p->name);
        REQUIRE(file.good());
        text << file.rdbuf();
        api_reply r = service.post(path, text.str());
        INFO(r.body);
        REQUIRE(r.status == 200);
        CHECK(r.json()["objective"]["lower_bound_s"].get<double>() > 0);
        CHECK(r.json()["schedule"]["processors"].get<int>() > 0);
        count++;
    }
    CHECK(count >= 15);
}

TEST_CASE("any amount of memory is enough, or refused", "[api][parallel][memory]")
{
    api service;
    std::string body = fixture().dump();
    bool answered = false;

    for (size_t cap = 4096; cap < 1 << 22 && !answered; cap += 16384) {
        api_reply r = service.call("POST", path, body, {}, cap);
        CAPTURE(cap, r.body);
        CHECK((r.status == 200 || r.status == 413));
        answered = r.status == 200;
    }
    CHECK(answered);
}

TEST_CASE("a stored model and a stored snapshot are used, and kept for a replay",
          "[api][parallel][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    char id[UUID_TEXT_SIZE];
    uuid_make(id);
    std::string mark = id, app = "md-" + mark, model = "model-" + mark;

    json executions = json::array();
    for (const known_run &run : known_runs())
        executions.push_back(execution_json_of(
            run, app, mark + "-" + std::to_string(executions.size()), executions.size()));
    REQUIRE(service.post("/v1/executions", executions.dump()).status == 201);
    json make = {{"id", model},
                 {"application_id", app},
                 {"site_id", "here"},
                 {"kind", "comprehensive"}};
    REQUIRE(service.post("/v1/models", make.dump()).status == 201);
    REQUIRE(service.post("/v1/models/" + model + "/train", "").status == 200);

    json snapshot = {{"taken_at", 1700006000}, {"resources", json::array()}};
    snapshot["network"] = {{"lan_mbps", 40}};
    for (int i = 0; i < 4; i++)
        snapshot["resources"].push_back({{"id", mark + std::to_string(i)},
                                         {"site_id", "here"},
                                         {"cpu_available_ratio", 0.5}});
    api_reply stored = service.post("/v1/snapshots", snapshot.dump());
    INFO(stored.body);
    REQUIRE(stored.status == 201);
    std::string snapshot_id = stored.json()["id"];

    json body = {
        {"snapshot_id", snapshot_id},
        {"store", true},
        {"jobs", {{{"id", "j"}, {"application_id", app}, {"problem_size", 1200}}}}};
    json plain = good(service, body);
    CHECK(plain["status"] == "optimal");
    CHECK(plain["schedule"]["site_id"] == "here");
    CHECK(plain["schedule"]["model_id"] == model);
    CHECK(plain["schedule"]["processors"] == 4);
    CHECK(plain["schedule"]["predicted_execution_s"].get<double>() ==
          Approx(known_time_s(1200, 4, 0.5, 40)).epsilon(1e-6));
    CHECK(plain["warnings"][0].get<std::string>().rfind("no_load_history", 0) == 0);

    // The load that was seen goes before the snapshot's numbers.
    json samples = json::array();
    for (int k = 0; k < 6; k++) {
        double at = 1700000400 + 600.0 * k;
        samples.push_back({{"resource_id", mark + "0"},
                           {"observed_at", at},
                           {"cpu_available_ratio", 0.25}});
        samples.push_back({{"resource_id", mark + "1"},
                           {"to_resource_id", mark + "2"},
                           {"observed_at", at},
                           {"bandwidth_mbps", 30}});
    }
    api_reply loads = service.post("/v1/load-samples", samples.dump());
    INFO(loads.body);
    REQUIRE((loads.status == 200 || loads.status == 201));
    body["algorithm"] = "all_machines";
    body["options"] = {{"pre_evaluate", false}};
    json seen = good(service, body);
    CHECK(seen["schedule"]["min_cpu_available_ratio"] == 0.25);
    CHECK(seen["schedule"]["min_bandwidth_mbps"] == 30);
    CHECK(seen["warnings"].empty());
    body["options"]["use_forecast"] = false;
    CHECK(good(service, body)["schedule"]["min_cpu_available_ratio"] == 0.5);

    // A model by name; another site scales it, an unknown name is a mistake.
    body = fixture();
    body["jobs"][0] = {
        {"id", "j"}, {"problem_size", 1200}, {"model", {{"model_id", model}}}};
    json other = good(service, body);
    CHECK(other["schedule"]["model_id"] == model);
    body["snapshot"]["sites"][0]["cpu_scaling_factor"] = 2;
    CHECK(good(service, body)["schedule"]["score_s"] > other["schedule"]["score_s"]);
    body["jobs"][0]["model"]["model_id"] = "no-" + mark;
    CHECK(mistakes(service, body) == texts{"/jobs/0/model/model_id"});
    body["jobs"][0] = {
        {"id", "j"}, {"problem_size", 1200}, {"application_id", "no-" + mark}};
    json none = good(service, body);
    CHECK(none["status"] == "infeasible");
    CHECK(none["unplaced"][0]["reasons"][0]["reason"] == "model_missing");

    // Replays use what was looked up then.
    REQUIRE(
        service.call("DELETE", "/v1/models/" + model, "", {{"if_match", "*"}}).status !=
        500);
    for (const json &made : {plain, seen}) {
        std::string decision = made["decision_id"];
        api_reply r = service.post("/v1/decisions/" + decision + "/replay", "");
        INFO(r.body);
        REQUIRE(r.status == 200);
        CHECK(r.json()["identical"] == true);
    }
}

TEST_CASE("a stored model says how far it can be trusted", "[api][parallel][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    char id[UUID_TEXT_SIZE];
    uuid_make(id);
    std::string mark = id, app = "md-" + mark, model = "model-" + mark;
    rng r = rng_create(2);
    json executions = json::array();
    auto make = [&](const std::string &kind, const json &settings = json::object()) {
        json body = {{"id", model + "-" + kind},
                     {"application_id", app},
                     {"kind", kind},
                     {"settings", settings}};
        REQUIRE(service.post("/v1/models", body.dump()).status == 201);
        REQUIRE(service.post("/v1/models/" + model + "-" + kind + "/train", "").status ==
                200);
    };
    auto time_s = [](double size, double n) {
        return 20 + 8 * size / n + 3 * std::log(n) + 0.5 * n;
    };

    for (size_t i = 0; i < 60; i++) {
        double size = 100 + 50 * (double)(i % 7), n = std::pow(2, (double)(i % 5));
        executions.push_back(
            {{"application_id", app},
             {"execution_id", mark + "-" + std::to_string(i)},
             {"started_at", 1700000000 + i},
             {"problem_size", size},
             {"processors", n},
             {"run_time_s", time_s(size, n) * (1 + 0.02 * (rng_uniform(&r) - 0.5))}});
    }
    REQUIRE(service.post("/v1/executions", executions.dump()).status == 201);
    make("scale_out");

    json body = fixture();
    json machines = json::array();
    for (int i = 0; i < 16; i++)
        machines.push_back(
            {{"id", "m" + std::to_string(i)}, {"cpu_available_ratio", 0.5}});
    body["snapshot"]["sites"] = {
        {{"id", "s"},
         {"resources", machines},
         {"links", {{"form", "default_with_overrides"}, {"default_mbps", 100}}}}};
    body["jobs"][0] = {{"id", "j"}, {"application_id", app}, {"problem_size", 300}};
    json inside = good(service, body);
    CHECK(inside["status"] == "optimal");
    json s = inside["schedule"];
    CHECK(s["model_id"] == model + "-scale_out");
    CHECK(s["processors"] == 16);
    double found_s = s["predicted_execution_s"];
    CHECK(found_s == Approx(time_s(300, 16) / 0.5).epsilon(0.03));
    CHECK(s["run_time_low_s"].get<double>() < found_s);
    CHECK(s["run_time_high_s"].get<double>() > found_s);
    CHECK(s["interval_basis"] == "inside");
    CHECK(s["extrapolation_ratio"] == 1);
    CHECK(s["model_error_ratio"].get<double>() < 0.05);
    CHECK(inside["warnings"].empty());

    // Ten times outside nothing is optimal, whatever the search proves.
    body["jobs"][0]["problem_size"] = 4000;
    json far = good(service, body);
    CHECK(far["status"] == "feasible");
    CHECK(far["schedule"]["extrapolation_ratio"].get<double>() == 10);
    CHECK(far["schedule"]["interval_basis"] == "extrapolation");
    double far_s = far["schedule"]["predicted_execution_s"];
    CHECK(far["schedule"]["run_time_high_s"].get<double>() / far_s >
          s["run_time_high_s"].get<double>() / found_s);
    REQUIRE(far["warnings"].size() == 1);
    CHECK(far["warnings"][0].get<std::string>().rfind("far_extrapolation", 0) == 0);
    // Three times outside it may be, with a warning.
    body["jobs"][0]["problem_size"] = 1200;
    json near = good(service, body);
    CHECK(near["status"] == "optimal");
    CHECK(near["warnings"].size() == 1);

    // A model of the size alone is used, and says what it does not know.
    make("linear");
    body["jobs"][0] = {
        {"id", "j"}, {"problem_size", 300}, {"model", {{"model_id", model + "-linear"}}}};
    json constant = good(service, body);
    CHECK(constant["schedule"]["model_id"] == model + "-linear");
    REQUIRE(constant["warnings"].size() == 1);
    CHECK(constant["warnings"][0].get<std::string>().rfind("processors_ignored", 0) == 0);
}

TEST_CASE("fewer machines are preferred when that is asked for", "[api][parallel]")
{
    api service;
    json body = fixture(), &site = body["snapshot"]["sites"][0];

    // 100 s / P and a wait of P s: 10 machines are best, 8 are within 5 %.
    site["resources"] = json::array();
    site["queue_wait_history"] = json::array();
    for (int i = 0; i < 12; i++)
        site["resources"].push_back({{"id", "m" + std::to_string(i)}});
    site["links"] = {{"form", "default_with_overrides"}, {"default_mbps", 100}};
    site["kind"] = "batch";
    for (int p = 1; p <= 12; p++)
        site["queue_wait_history"].push_back({{"processors", p}, {"wait_s", p}});
    body["jobs"][0]["model"] = {{"terms",
                                 {{{"comp_coefficient_s", 100},
                                   {"f_pcomp_id", 2},
                                   {"comm_coefficient", 0},
                                   {"f_bw_id", 2},
                                   {"f_pcomm_id", 2}}}}};
    json best = good(service, body);
    CHECK(best["schedule"]["processors"] == 10);
    CHECK_FALSE(best["schedule"].contains("least_score_s"));
    CHECK(best["status"] == "optimal");
    body["prefer_fewer_machines"] = true;
    json fewer = good(service, body);
    CHECK(fewer["schedule"]["processors"] == 8);
    CHECK(fewer["schedule"]["resource_ids"].size() == 8);
    CHECK(fewer["schedule"]["score_s"].get<double>() == Approx(20.5));
    CHECK(fewer["schedule"]["least_score_s"].get<double>() == Approx(20));
    CHECK(fewer["objective"]["gap_ratio"].get<double>() == Approx(0.025));
    CHECK(fewer["status"] == "feasible");
    CHECK(fewer["sites"][0]["status"] == "feasible");
    CHECK(fewer["sites"][0]["processors"] == 8);

    // A second site that does it on fewer is taken, though it is slower.
    json second = site;
    second["id"] = "b";
    second["cpu_scaling_factor"] = 0.98;
    for (json &r : second["resources"])
        r["id"] = "b" + r["id"].get<std::string>();
    body["snapshot"]["sites"].push_back(second);
    json two = good(service, body);
    CHECK(two["schedule"]["site_id"] == "b");
    CHECK(two["schedule"]["processors"].get<int>() <= 8);
}
