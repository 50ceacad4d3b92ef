// coallocations_api_test.cpp - POST /v1/coallocations and what belongs to it.
#include "tests/api.hpp"

#include <fstream>
#include <sstream>

using nlohmann::json;

namespace
{

json example(const std::string &name)
{
    std::ifstream file(GRIDPLAN_SOURCE_DIR "/openapi/examples/" + name + ".json");
    REQUIRE(file);
    return json::parse(file);
}

json answer(const std::string &path, const json &body)
{
    api a;
    api_reply r = a.post("/v1/coallocations" + path, body.dump());

    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 200);
    return r.json();
}

// "D<-D 0" for each component.
std::string places(const json &placement)
{
    std::ostringstream text;

    for (const json &c : placement["components"])
        text << (text.tellp() ? ", " : "") << c["site_id"].get<std::string>() << "<-"
             << (c["file_site_id"].is_null() ? "-" : c["file_site_id"].get<std::string>())
             << " " << c["transfer_time_s"];
    return text.str();
}

} // namespace

TEST_CASE("the sample of coallocation.md 18 is answered", "[api][coallocation]")
{
    json j = answer("", example("coallocation-close_to_files"));
    json p = j["placements"][0];

    CHECK(j["status"] == "optimal");
    CHECK(j["algorithm"] == "close_to_files");
    CHECK(j["unplaced"].empty());
    CHECK(places(p) == "D<-D 0, A<-A 0, E<-D 40, E<-D 40");
    CHECK(p["policy"] == "close_to_files");
    CHECK(p["ftt_s"] == 40);
    CHECK(p["jpt_s"] == 1000);
    CHECK(p["jst_s"] == 1040);
    CHECK(p["jct_s"] == 1030);
    CHECK(p["l_value"] == 0.75);
    CHECK(p["job_spread_ratio"] == 0.75);
    CHECK(p["co_allocated"] == true);
    CHECK(p["transfers"] == json::parse(R"([{"file_id":"f","from_site_id":"D",
        "to_site_id":"E","bytes":4000000000,"estimated_s":40}])"));
    CHECK(p["history_pairs_added"] ==
          json::parse(R"([{"execution_site_id":"E","file_site_id":"A"},
                          {"execution_site_id":"E","file_site_id":"D"}])"));
    CHECK(p["outstanding_delta"] ==
          json::parse(R"([{"site_id":"A","processors":8},{"site_id":"D","processors":16},
                          {"site_id":"E","processors":24}])"));
    CHECK(j["remaining_available"] ==
          json::parse(R"([{"site_id":"A","processors":2},{"site_id":"B","processors":20},
                          {"site_id":"C","processors":30},{"site_id":"D","processors":0},
                          {"site_id":"E","processors":16}])"));
    CHECK(p["objective"] ==
          json::parse(R"({"ftt_s":40,"lower_bound_s":40,"gap_ratio":0})"));
}

TEST_CASE("every policy's example is answered", "[api][coallocation]")
{
    struct {
        const char *name, *status, *places;
    } cases[] = {
        {"worst_fit", "feasible", "E<-D 40, E<-D 40, C<-A 160, B<-A 80"},
        {"cluster_minimisation", "feasible", "E<-D 40, E<-D 40, E<-D 40, C<-A 160"},
        {"gridbus", "feasible", "B<-A 80, A<-A 0, C<-A 160, C<-A 160"},
        {"data_present", "feasible", "D<-D 0"},
        {"flexible_cluster_minimisation", "feasible",
         "E<-D 40, E<-D 40, E<-D 40, C<-A 160"},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.name)
        {
            json j = answer("", example(std::string("coallocation-") + c.name));

            CHECK(j["status"] == c.status);
            CHECK(places(j["placements"][0]) == c.places);
        }
    json j = answer("", example("coallocation-data_present"));
    REQUIRE(j["unplaced"].size() == 1);
    CHECK(j["unplaced"][0]["reason"] == "no_replica");
}

TEST_CASE("a refused job says why and what came nearest", "[api][coallocation]")
{
    json body = example("coallocation-close_to_files");

    body["snapshot"]["history_pairs"] = json::array();
    json j = answer("", body);
    CHECK(j["status"] == "infeasible");
    CHECK(j["placements"].empty());
    CHECK(j["unplaced"][0] == json::parse(R"({"job_id":"j1","failed_component_id":"c2",
        "reason":"no_history_pair","reasons":[
            {"reason":"too_few_processors","site_count":2},
            {"reason":"no_history_pair","site_count":3}],
        "nearest_miss":{"site_id":"A","processors_short":6},"never_fits":false,
        "placement_tries":1,"history_pairs_added":[]})"));

    body["jobs"][0]["components"][0]["processors"] = 65;
    body["jobs"][0]["placement_tries"] = 7;
    j = answer("", body);
    CHECK(j["unplaced"][0]["never_fits"] == true);
    CHECK(j["unplaced"][0]["placement_tries"] == 8);
    CHECK(j["unplaced"][0]["nearest_miss"] ==
          json::parse(R"({"site_id":"E","processors_short":25})"));
}

TEST_CASE("every kind of job is placed on what the others left", "[api][coallocation]")
{
    json body = example("coallocation-worst_fit");

    body["jobs"] = json::parse(R"([
        {"id":"fixed","request_type":"fixed","components":[
            {"id":"a","processors":16,"site_id":"E","file_id":"f"},
            {"id":"b","processors":8,"site_id":"B","file_id":"f"}]},
        {"id":"semi","request_type":"semi_fixed","policy":"CF","components":[
            {"id":"a","processors":8,"file_id":"f"},
            {"id":"b","processors":8,"site_id":"A","file_id":"f"}]},
        {"id":"split","request_type":"flexible","policy":"FCM","total_processors":40},
        {"id":"apart","component_site_rule":"distinct","atomic":false,
         "min_placed_components":2,"components":[
            {"id":"a","processors":5},{"id":"b","processors":5},{"id":"c","processors":5},
            {"id":"d","processors":5}]},
        {"id":"avoids","avoid_site_ids":["C"],"components":[{"id":"a","processors":9}]},
        {"id":"lost","components":[{"id":"a","processors":1,"file_id":"nowhere"}]},
        {"id":"able","required_capabilities":["jvm"],"components":[
            {"id":"a","processors":1}]}])");
    json j = answer("", body);
    INFO(j.dump(1));
    CHECK(places(j["placements"][0]) == "E<-D 40, B<-A 80");
    CHECK(places(j["placements"][1]) == "D<-D 0, A<-A 0");
    CHECK(places(j["placements"][2]) == "C<-- 0, E<-- 0");
    CHECK(j["placements"][2]["components"][0]["component_id"] == "c0");
    CHECK(places(j["placements"][3]) == "E<-- 0, B<-- 0, D<-- 0");
    CHECK(j["placements"][3]["unplaced_component_ids"] == json::array({"d"}));
    CHECK(places(j["placements"][4]) == "E<-- 0");
    CHECK(j["unplaced"][0]["reason"] == "no_replica");
    CHECK(j["unplaced"][1]["reason"] == "capability");
    CHECK(j["status"] == "feasible");
}

TEST_CASE("reservations, chunks, split_only and warnings", "[api][coallocation]")
{
    json body = example("coallocation-close_to_files");

    body["snapshot"]["sites"][4]["supports_reservation"] = true;
    body["snapshot"]["sites"][1]["measured_at"] = 969;
    body["snapshot"]["sites"][2]["processors_busy"] = 33;
    body["jobs"][0]["estimate_s"] = 100;
    for (int i = 0; i < 4; i++)
        body["jobs"][0]["components"][i]["chunk_bytes"] = 1e9;
    body["snapshot"]["files"][0]["mode"] = "chunk";
    json j = answer("", body), p = j["placements"][0];
    CHECK(p["ftt_s"] == 10);
    CHECK(p["transfers"].size() == 2);
    CHECK(p["components"][2]["reserve"]["start_s"] == 1010);
    CHECK(p["components"][2]["reserve"]["duration_s"].get<double>() ==
          Approx(110).epsilon(1e-12));
    CHECK_FALSE(p["components"][0].contains("reserve"));
    CHECK(j["warnings"].size() == 2);

    json split = example("coallocation-flexible_cluster_minimisation");
    split["split_only"] = true;
    split["jobs"].push_back(split["jobs"][0]);
    split["jobs"][1]["id"] = "j2";
    j = answer("", split);
    CHECK(j["placements"].size() == 2);
    CHECK(places(j["placements"][0]) == places(j["placements"][1]));
}

TEST_CASE("all mistakes of a request are told at once", "[api][coallocation]")
{
    api a;
    json body = example("coallocation-close_to_files");

    body["algorithm"] = "close_to_fils";
    body["options"] = {{"l_initial", 2}, {"speed", 1}};
    body["snapshot"]["links"].push_back(body["snapshot"]["links"][0]);
    body["snapshot"]["files"][0]["site_ids"][1] = "X";
    body["split_only"] = true;
    body["jobs"] = json::parse(R"([
        {"id":"a","request_type":"fixed","components":[{"id":"x","processors":1}]},
        {"id":"b","components":[{"id":"x","processors":1,"site_id":"Z"}]},
        {"id":"c","request_type":"flexible","min_components":3,"max_components":2,
         "min_component_processors":5,"max_component_processors":4,
         "components":[{"id":"x","processors":1}]},
        {"id":"d","policy":"FCM","total_processors":3},
        {"id":"e","policy":"gb2","allowed_site_ids":["A","Q"],"avoid_site_ids":["R"],
         "components":[{"id":"x","processors":1}]},
        {"id":"f","request_type":"flexible","policy":"gridbus","total_processors":3}])");
    api_reply r = a.post("/v1/coallocations", body.dump());
    CHECK(r.status == 422);
    INFO(r.json().dump(1));
    CHECK(r.pointers() == std::vector<std::string>{"/snapshot/links/10",
                                                   "/snapshot/files/0/site_ids/1",
                                                   "/options/l_initial",
                                                   "/algorithm",
                                                   "/jobs/0/components/0/site_id",
                                                   "/jobs/0/request_type",
                                                   "/jobs/1/components/0/site_id",
                                                   "/jobs/1/components/0/site_id",
                                                   "/jobs/1/request_type",
                                                   "/jobs/2/components",
                                                   "/jobs/2/total_processors",
                                                   "/jobs/2/min_components",
                                                   "/jobs/2/min_component_processors",
                                                   "/jobs/3/policy",
                                                   "/jobs/3/components",
                                                   "/jobs/3/total_processors",
                                                   "/jobs/3/request_type",
                                                   "/jobs/4/policy",
                                                   "/jobs/4/avoid_site_ids/0",
                                                   "/jobs/4/allowed_site_ids/1",
                                                   "/jobs/4/request_type",
                                                   "/jobs/5/policy",
                                                   "/options/speed"});
}

TEST_CASE("values out of bounds and repeated names are told by the tables",
          "[api][coallocation]")
{
    api a;
    json body = example("coallocation-close_to_files");

    body["snapshot"]["sites"][0]["processors_total"] = -1;
    body["jobs"][0]["total_processors"] = 4.5;
    body["snapshot"]["sites"][1]["id"] = "A";
    body["snapshot"]["links"][0]["bandwidth_mbps"] = -3;
    body["snapshot"]["files"][0]["bytes"] = -1;
    body["jobs"][0]["components"][0]["processors"] = 0;
    body["jobs"][0]["components"][1]["id"] = "c0";
    body["jobs"][0]["priority"] = "huge";
    body["jobs"][0]["l_value"] = 1.5;
    body["jobs"][0]["placement_tries"] = -1;
    body["jobs"].push_back(body["jobs"][0]);
    api_reply r = a.post("/v1/coallocations", body.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers().size() >= 11);
    CHECK(a.post("/v1/coallocations", R"({"snapshot":null,"jobs":[]})").status == 422);
    CHECK(a.post("/v1/coallocations", R"({"snapshot":{"sites":[]},"jobs":[]})").status ==
          200);
}

TEST_CASE("transfer estimates follow coallocation.md 5", "[api][coallocation]")
{
    json j = answer("/transfer-estimates", example("transfer-estimate"));
    std::string text;

    for (const json &e : j["estimates"])
        text += e["execution_site_id"].get<std::string>() +
                e["file_site_id"].get<std::string>() + e["transfer_time_s"].dump() +
                (e["best"] ? "* " : " ");
    CHECK(text == "AA0* DD0* ED40* BA80* BD80 CA160* CD160 AD320 DA320 EA640 ");

    json body = example("transfer-estimate");
    size_t unreachable = 0;
    body["snapshot"]["links"] = json::array();
    j = answer("/transfer-estimates", body);
    for (const json &e : j["estimates"])
        unreachable += e["transfer_time_s"].is_null();
    CHECK(unreachable > 0);

    body = example("transfer-estimate");
    body["execution_site_ids"] = {"E", "E"};
    body["bytes"] = 1e9;
    CHECK(answer("/transfer-estimates", body)["estimates"].size() == 2);
    body["file_id"] = "g";
    j = answer("/transfer-estimates", body);
    CHECK(j["status"] == "infeasible");
    body["execution_site_ids"] = {"E", "X"};
    body["algorithm"] = "CF";
    api a;
    CHECK(a.post("/v1/coallocations/transfer-estimates", body.dump()).pointers() ==
          std::vector<std::string>{"/algorithm", "/execution_site_ids/1"});
}

TEST_CASE("replicas are looked up", "[api][coallocation]")
{
    json j = answer("/replica-lookups", example("replica-lookup"));

    CHECK(j["unresolved"] == json::array({"g"}));
    CHECK(j["replicas"][0]["file_id"] == "f");
    CHECK(j["replicas"][0]["locations"][1] ==
          json::parse(R"({"site_id":"D","url":"gsiftp://d.example/f",
                          "bytes":4000000000})"));
}

TEST_CASE("reservation plans follow coallocation.md 14", "[api][coallocation]")
{
    struct {
        std::vector<std::pair<const char *, int>> needs;
        double duration_s;
        double start_s; // NAN: none
    } cases[] = {
        {{{"A", 8}, {"B", 6}, {"C", 8}}, 120, 150},
        {{{"A", 16}, {"B", 16}}, 120, 100},
        {{{"A", 16}, {"B", 16}}, 200, NAN},
        {{{"A", 8}, {"A", 8}, {"C", 8}}, 120, 150},
    };
    for (auto &c : cases) {
        json body = example("reservation-plan");

        body["components"] = json::array();
        for (auto &need : c.needs)
            body["components"].push_back(
                {{"id", "c" + std::to_string(body["components"].size())},
                 {"site_id", need.first},
                 {"processors", need.second}});
        body["duration_s"] = c.duration_s;
        json j = answer("/reservation-plans", body);
        if (std::isnan(c.start_s)) {
            CHECK(j["status"] == "infeasible");
            CHECK(j["start_s"].is_null());
        } else {
            CHECK(j["start_s"] == c.start_s);
        }
    }
    json body = example("reservation-plan");
    body["reference_processors"] = 11;
    body["speedups"] =
        json::parse(R"([{"processors":11,"speedup":10},{"processors":22,"speedup":20}])");
    CHECK(answer("/reservation-plans", body)["duration_s"] == 60);

    api a;
    body["speedups"] = json::array();
    body["sites"][0]["windows"][1]["start_s"] = 99;
    body["sites"][1]["windows"][0]["end_s"] = 0;
    body["components"][0]["site_id"] = "Z";
    CHECK(a.post("/v1/coallocations/reservation-plans", body.dump()).pointers() ==
          std::vector<std::string>{"/sites/0/windows/1", "/sites/1/windows/0/end_s",
                                   "/components/0/site_id", "/speedups", "/speedups"});
}

TEST_CASE("advice follows coallocation.md 15", "[api][coallocation]")
{
    json body = example("co-allocate-or-not");
    json j = answer("/advice", body);

    CHECK(j["advice"] == "wait");
    CHECK(j["slowdown"].get<double>() == Approx(6.2286).epsilon(1e-4));
    CHECK(j["available"] == 116);
    CHECK(j["watch"] == json::parse(R"([{"site_id":"E","processors_short":8}])"));
    body["co_allocated_run_time_s"] = 40;
    CHECK(answer("/advice", body)["advice"] == "co_allocate");
    body["processors"] = 40;
    CHECK(answer("/advice", body)["advice"] == "single_site");
    body.erase("single_run_time_s");
    api a;
    CHECK(a.post("/v1/coallocations/advice", body.dump()).pointers() ==
          std::vector<std::string>{"/single_run_time_s"});
    body.erase("co_allocated_run_time_s");
    CHECK(a.post("/v1/coallocations/advice", body.dump()).pointers() ==
          std::vector<std::string>{"/slowdown"});
}

TEST_CASE("acquire plans follow coallocation.md 15", "[api][coallocation]")
{
    json body = example("acquire-plan");
    json j = answer("/acquire-plans", body);

    CHECK(j["action"] == "release");
    CHECK(j["release_site_ids"] == json::array({"B", "A"}));
    for (auto &sites : {json::array({"C", "A"}), json::array({"A", "C"})}) {
        j = answer("/acquire-plans", {{"mode", "odp2"}, {"site_ids", sites}});
        CHECK(j["action"] == "acquire");
        CHECK(j["next_site_id"] == "A");
    }
    body["mode"] = "odp2";
    j = answer("/acquire-plans", body);
    CHECK(j["action"] == "wait");
    CHECK(j["release_site_ids"].empty());
    CHECK(j["next_site_id"] == "C");
    body.erase("failed_site_id");
    body["acquired_site_ids"] = {"A", "B", "C"};
    CHECK(answer("/acquire-plans", body)["action"] == "done");
    body["acquired_site_ids"] = {"A", "A", "Z"};
    body["failed_site_id"] = "A";
    api a;
    CHECK(a.post("/v1/coallocations/acquire-plans", body.dump()).pointers() ==
          std::vector<std::string>{"/acquired_site_ids/1", "/acquired_site_ids/2",
                                   "/failed_site_id"});
}

TEST_CASE("popular files are named with the sites that lack them", "[api][coallocation]")
{
    json j = answer("/replication-advice", example("file-replication"));

    CHECK(j["files"] == json::parse(R"([{"file_id":"f","access_count":8,
                                         "copy_to_site_ids":["E","B"]}])"));
}

TEST_CASE("the largest request ends soon and a small cap is told", "[api][coallocation]")
{
    api a;
    json body = example("coallocation-worst_fit");
    json component = body["jobs"][0]["components"][0];

    component["processors"] = 1;
    for (int i = 4; i < 20000; i++) {
        component["id"] = "x" + std::to_string(i);
        body["jobs"][0]["components"].push_back(component);
    }
    api_reply r = a.post("/v1/coallocations", body.dump());
    CHECK(r.json()["status"] == "infeasible");
    CHECK(r.json()["unplaced"][0]["never_fits"] == true);
}

TEST_CASE("co-allocation needs no more memory than it may have", "[api][memory]")
{
    api a;
    std::string body = example("coallocation-close_to_files").dump();

    for (size_t cap = 0;; cap = cap * 5 / 4 + 512) {
        api_reply r = a.call("POST", "/v1/coallocations", body, {}, cap);
        if (r.status == 200)
            break;
        REQUIRE((r.status == 413 || r.status == 500 || r.status == 503));
        REQUIRE(cap < (size_t{1} << 24));
    }
}

TEST_CASE("members of a co-allocation that nothing looks at are named",
          "[api][coallocation]")
{
    using texts = std::vector<std::string>;
    auto ignored = [](const json &answer) {
        texts found;
        for (const json &w : answer["warnings"])
            if (w.get<std::string>().rfind("ignored: ", 0) == 0)
                found.push_back(w.get<std::string>().substr(9));
        return found;
    };
    json body = example("coallocation-close_to_files");
    CHECK(ignored(answer("", body)).empty());
    json second = body["jobs"][0];
    second["id"] = "second";
    second.update({{"priority", "high"},
                   {"group", "g"},
                   {"min_placed_components", 2},
                   {"avoid_sites_soft", false},
                   {"estimate_s", 10},
                   {"max_components", 3},
                   {"equal_components", true},
                   {"overtaken_count", 4}});
    second["components"][1].erase("file_id");
    second["components"][1]["chunk_bytes"] = 7;
    body["jobs"].push_back(second);
    second["id"] = "third";
    second.erase("group");
    body["jobs"][1]["priority"] = "low";
    body["jobs"].push_back(second);
    body["seed"] = 2;
    body["time_limit_s"] = 10; // places are searched for
    CHECK(ignored(answer("", body)) ==
          texts{"priority of 1 job (first /jobs/2/priority): jobs are placed in the "
                "order of the list",
                "group of 1 job (first /jobs/1/group): jobs are placed in the order of "
                "the list",
                "overtaken_count of 2 jobs (first /jobs/1/overtaken_count): jobs are "
                "placed in the order of the list",
                "min_placed_components of 2 jobs (first /jobs/1/min_placed_components): "
                "an atomic job needs a place for all",
                "avoid_sites_soft of 2 jobs (first /jobs/1/avoid_sites_soft): there are "
                "no avoid_site_ids",
                "estimate_s of 2 jobs (first /jobs/1/estimate_s): no site has "
                "supports_reservation",
                "max_components of 2 jobs (first /jobs/1/max_components): it is for "
                "flexible jobs",
                "equal_components of 2 jobs (first /jobs/1/equal_components): it is for "
                "flexible jobs",
                "components/*/chunk_bytes of 2 jobs (first "
                "/jobs/1/components/*/chunk_bytes): the component has no file_id",
                "/seed: nothing is left to chance"});
    // What is looked at is not named.
    for (json &j : body["jobs"]) {
        j["atomic"] = false;
        j["avoid_site_ids"] = json::array({"A"});
    }
    body["snapshot"]["sites"][0]["supports_reservation"] = true;
    texts less = ignored(answer("", body));
    CHECK(less.size() == 7);
    CHECK(less[3].rfind("max_components", 0) == 0);

    json flexible = example("coallocation-flexible_cluster_minimisation");
    flexible["jobs"][0].update({{"max_components", 9}, {"equal_components", false}});
    flexible["snapshot"]["history_pairs"] = json::array();
    CHECK(ignored(answer("", flexible)) ==
          texts{"/snapshot/history_pairs: no policy in use has a history table"});

    json advice = example("co-allocate-or-not");
    advice["slowdown"] = 2;
    advice["time_limit_s"] = 5;
    advice["seed"] = 7;
    CHECK(ignored(answer("/advice", advice)) ==
          texts{"/single_run_time_s: slowdown is given",
                "/co_allocated_run_time_s: slowdown is given",
                "/seed: nothing is left to chance",
                "/time_limit_s: nothing is searched for"});

    json plan = example("reservation-plan");
    plan.erase("reference_processors");
    plan["speedups"] = json::parse(R"([{"processors":1,"speedup":1}])");
    CHECK(ignored(answer("/reservation-plans", plan)) ==
          texts{"/speedups: there is no reference_processors"});
}

TEST_CASE("members of flow steps and launch plans that nothing looks at are named",
          "[api][coallocation]")
{
    api a;
    auto ignored = [&](const char *path, const json &body) {
        api_reply r = a.post(path, body.dump());
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json()["warnings"].dump();
    };
    json step = {{"now_s", 0},
                 {"event", "accepted"},
                 {"job", {{"id", "j"}, {"state", "submitted"}}},
                 {"levels", {{"policy", "group"}, {"groups", json::array()}}}};
    CHECK(ignored("/v1/coallocations/flow-steps", step) == "[]");
    step["levels"]["runtime_thresholds_s"] = {1, 2, 3};
    CHECK(ignored("/v1/coallocations/flow-steps", step) ==
          R"(["ignored: /levels/runtime_thresholds_s: the policy is another one"])");
    step["job"]["priority"] = "high";
    CHECK(ignored("/v1/coallocations/flow-steps", step) ==
          R"(["ignored: /levels/policy: the job has a priority",)"
          R"("ignored: /levels/runtime_thresholds_s: the job has a priority"])");

    json launch = {{"job_id", "j"},
                   {"jst_s", 0},
                   {"runner", "IRunner"},
                   {"nameserver_mode", "pooled"},
                   {"nameservers", {{{"id", "n"}, {"site_id", "A"}}}},
                   {"components", {{{"id", "c"}, {"site_id", "A"}, {"processors", 1}}}}};
    CHECK(ignored("/v1/coallocations/launch-plans", launch) == "[]");
    launch["nameserver_mode"] = "per_job";
    CHECK(ignored("/v1/coallocations/launch-plans", launch) ==
          R"(["ignored: /nameservers: nameserver_mode is per_job"])");
    launch["nameserver_mode"] = "pooled";
    launch["runner"] = "KRunner";
    CHECK(ignored("/v1/coallocations/launch-plans", launch) ==
          R"(["ignored: /nameserver_mode: the runner has no nameserver",)"
          R"("ignored: /nameservers: the runner has no nameserver"])");
}
