// claims_api_test.cpp - POST /v1/claims, /v1/queue-scans, /v1/coallocations/flow-steps
// and .../launch-plans, and two events of /v1/reschedules.
#include "tests/api.hpp"

#include <fstream>

using namespace nlohmann::literals;
using nlohmann::json;

namespace
{

using texts = std::vector<std::string>;

json claim_example(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/" + name + ".json");
    REQUIRE(in);
    return json::parse(in);
}

json answer(api &service, const std::string &path, const json &body)
{
    api_reply r = service.post(path, body.dump());
    INFO(r.body.substr(0, 3000));
    REQUIRE(r.status == 200);
    return r.json();
}

// The mistakes, sorted.
texts mistakes(api &service, const std::string &path, const json &body)
{
    api_reply r = service.post(path, body.dump());
    INFO(r.body.substr(0, 3000));
    CHECK(r.status == 422);
    texts list = r.pointers();
    std::sort(list.begin(), list.end());
    return list;
}

const char *const claims = "/v1/claims", *const scans = "/v1/queue-scans",
                  *const steps = "/v1/coallocations/flow-steps",
                  *const plans = "/v1/coallocations/launch-plans",
                  *const events = "/v1/reschedules";

} // namespace

// ---- claims ----

TEST_CASE("the claim of coallocation.md 9.2", "[api][coallocation]")
{
    api service;
    json got = answer(service, claims, claim_example("claim-incremental"));
    CHECK(got["kind"] == "claim");
    CHECK(got["status"] == "feasible");
    CHECK(got["decision"] == "start_all");
    CHECK(got["fraction_f"].get<double>() == Approx(1.0 / 3).epsilon(1e-12));
    CHECK(got["claim_tries"] == 1);
    CHECK(got["start_components"] == texts{"c0", "c1", "c2"});
    CHECK(got["replaced_components"] ==
          R"([{"component_id":"c1","from_site_id":"B","site_id":"E","file_site_id":"D",
               "transfer_time_s":40.0}])"_json);
    REQUIRE(got["transfers"].size() == 1);
    CHECK(got["transfers"][0]["from_site_id"] == "D");
    CHECK(got["transfers"][0]["to_site_id"] == "E");
    CHECK(got["transfers"][0]["bytes"] == 4e9);
    CHECK(got["transfers"][0]["estimated_s"] == 40);
    CHECK(got["preempt_jobs"] ==
          R"([{"job_id":"s2","site_id":"C","processors":6},
              {"job_id":"s3","site_id":"C","processors":3}])"_json);
    CHECK(got["waiting_components"].empty());
    CHECK(got["abort_components"].empty());
    CHECK(got["next_jct_s"].is_null());
    CHECK(got["l_value"] == 0.75);
    json delta = R"([{"site_id":"A","processors":-16},{"site_id":"B","processors":-8},
                     {"site_id":"C","processors":-8}])"_json;
    CHECK(got["outstanding_delta"] == delta);
    CHECK(got["history_pairs_added"].empty());
    CHECK(got["warnings"].empty());
}

TEST_CASE("claims that wait, end, or are for parts", "[api][coallocation]")
{
    api service;
    json body = claim_example("claim-incremental");

    body["options"]["t_threshold"] = 1;
    json got = answer(service, claims, body);
    CHECK(got["decision"] == "wait");
    CHECK(got["next_jct_s"] == 1375);
    CHECK(got["status"] == "feasible");

    body["now_s"] = 1400; // E8: nothing at D and E, nobody to preempt
    body["running_jobs"] = json::array();
    body["snapshot"]["sites"][4]["processors_idle"] = 0;
    got = answer(service, claims, body);
    CHECK(got["decision"] == "requeue_placement");
    CHECK(got["status"] == "infeasible");
    CHECK(got["l_value"] == 0.5);
    CHECK(got["outstanding_delta"].size() == 3);
    CHECK(got["start_components"].empty());

    body["options"]["max_claim_tries"] = 2;
    body["job"]["claim_tries"] = 2;
    CHECK(answer(service, claims, body)["decision"] == "fail");

    body["job"].erase("jst_s"); // jpt_s + ftt_s
    body["job"]["atomic"] = false;
    body["options"].erase("max_claim_tries");
    got = answer(service, claims, body);
    CHECK(got["decision"] == "start_partial");
    CHECK(got["requeue_components"] == texts{"c1", "c2"});

    body["job"]["policy"] = "FCM"; // its parts are placed by CM
    CHECK(answer(service, claims, body)["decision"] == "start_partial");
    body["job"]["components"][2]["site_id"] = "nowhere"; // nothing is idle there
    CHECK(answer(service, claims, body)["decision"] == "start_partial");
}

TEST_CASE("timelines and the claiming queue", "[api][coallocation]")
{
    api service;
    json got = answer(service, claims, claim_example("claim-timeline"));
    CHECK(got["kind"] == "timeline");
    CHECK(got["jst_s"] == 1400);
    CHECK(got["claim_times_s"].size() == 9);
    CHECK(got["claim_times_s"][0] == 1200);
    CHECK(got["claim_times_s"][8] == 1400);

    got = answer(service, claims, claim_example("claim-queue"));
    CHECK(got["job_ids"] == texts{"j3", "j1", "j2"});
    CHECK(got["due_count"] == 2);
    CHECK(got["next_jct_s"] == 1320);

    CHECK(mistakes(service, claims, {{"kind", "timeline"}}) == texts{"/ftt_s", "/jpt_s"});
    CHECK(mistakes(service, claims, {{"kind", "tomorrow"}}) == texts{"/kind"});
    json long_one = R"({"kind":"timeline","jpt_s":0,"ftt_s":1e12,"l_value":0})"_json;
    CHECK(service.post(claims, long_one.dump()).status == 413);
}

TEST_CASE("mistakes in claims are named all at once", "[api][coallocation]")
{
    api service;
    json good = claim_example("claim-incremental"), body = good;

    body["job"]["components"][0]["processors"] = -1;
    body["job"]["l_value"] = 2;
    body["job"]["components"][1]["state"] = "gone";
    CHECK(mistakes(service, claims, body) == texts{"/job/components/0/processors",
                                                   "/job/components/1/state",
                                                   "/job/l_value"});
    body = good;
    body["options"]["t_threshold"] = 1.5;
    body["options"]["no_such"] = 1;
    body["job"]["policy"] = "best_fit";
    body["job"]["jct_s"] = 1500;
    body["job"]["components"][0]["site_fixed"] = true;
    body["job"]["components"][0]["site_id"] = "nowhere";
    body["running_jobs"][1]["allocations"][0]["site_id"] = "nowhere";
    body["algorithm"] = "increment";
    CHECK(mistakes(service, claims, body) ==
          texts{"/algorithm", "/job/components/0/site_id", "/job/jct_s", "/job/policy",
                "/options/no_such", "/options/t_threshold",
                "/running_jobs/1/allocations/0/site_id"});
    body = good;
    body["job"]["components"] = json::array();
    CHECK(mistakes(service, claims, body) == texts{"/job/components"});
    body = good;
    body["job"]["components"][1]["id"] = "c0";
    body["running_jobs"][1]["id"] = "s1";
    CHECK(mistakes(service, claims, body) ==
          texts{"/job/components/1/id", "/running_jobs/1/id"});
    body = good;
    body["job"].erase("jst_s");
    body["job"].erase("ftt_s");
    CHECK(mistakes(service, claims, body) == texts{"/job/jst_s"});
    body = good;
    body["snapshot"]["sites"][0]["processors_idle"] = -4;
    CHECK(mistakes(service, claims, body) == texts{"/snapshot/sites/0/processors_idle"});
    for (const char *number : {"NaN", "1e999", "-1e999"}) {
        std::string text = good.dump();
        text.replace(text.find("1300"), 4, number);
        int status = service.post(claims, text).status;
        CHECK((status == 400 || status == 422));
    }
}

// ---- queue scans ----

TEST_CASE("a scan of coallocation.md 10", "[api][coallocation]")
{
    api service;
    json body = claim_example("scan-weighted_round_robin");
    json got = answer(service, scans, body);
    CHECK(got["scanned_queue"] == "high");
    CHECK(got["next_cursor"] == 2);
    CHECK(got["next_scan_s"] == 660);
    REQUIRE(got["placements"].size() == 2);
    CHECK(got["placements"][0]["job_id"] == "J2");
    CHECK(got["placements"][0]["components"][1]["site_id"] == "B");
    CHECK(got["placements"][1]["components"][0]["site_id"] == "C");
    REQUIRE(got["unplaced"].size() == 1);
    CHECK(got["unplaced"][0]["job_id"] == "J1");
    CHECK(got["unplaced"][0]["placement_tries"] == 3);
    CHECK(got["promoted"] ==
          R"([{"job_id":"J1","from_level":"high","to_level":"super_high"}])"_json);
    CHECK(got["queues_after"]["super_high"] == texts{"J1"});
    CHECK(got["queues_after"]["high"].empty());
    CHECK(got["queues_after"]["low"] == texts{"J4"});

    body["options"]["max_overtakes"] = 1;
    body["options"].erase("promotion_p");
    got = answer(service, scans, body);
    CHECK(got["placements"].size() == 1);
    CHECK(got["queues_after"]["high"] == texts{"J1", "J3"});
    CHECK(got["counts"] ==
          R"([{"job_id":"J1","placement_tries":3,"overtaken_count":1},
              {"job_id":"J3","placement_tries":0,"overtaken_count":0}])"_json);

    body["options"]["max_placement_tries"] = 2;
    got = answer(service, scans, body);
    CHECK(got["failed"] == R"([{"job_id":"J1","reason":"max_placement_tries"}])"_json);
    CHECK(got["queues_after"]["high"].empty());
}

TEST_CASE("members of queued jobs that a scan does not look at are named",
          "[api][coallocation]")
{
    api a;
    json body = claim_example("scan-weighted_round_robin");
    auto warnings = [&] {
        api_reply r = a.post(scans, body.dump());
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json()["warnings"].dump();
    };
    CHECK(warnings() == "[]");
    json &high = body["queues"]["high"];
    high[0]["overtaken_count"] = 1; // the scan counts them
    high[0]["priority"] = "high";   // as its queue
    high[1]["job_class"] = "batch";
    high[1]["group"] = "g";
    body["snapshot"]["history_pairs"] = json::array();
    CHECK(warnings() ==
          R"(["ignored: priority of 1 job (first /queues/high/1/job_class): a job has )"
          R"(the level of its queue",)"
          R"("ignored: group of 1 job (first /queues/high/1/group): jobs are placed in )"
          R"(the order of the list",)"
          R"("ignored: /snapshot/history_pairs: no policy in use has a history table"])");
}

TEST_CASE("choosing a queue only, empty queues, a job that has come",
          "[api][coallocation]")
{
    api service;
    json body = claim_example("scan-weighted_round_robin");
    body["select_only"] = true;
    body["scan_cursor"] = 2;
    json got = answer(service, scans, body);
    CHECK(got["scanned_queue"] == "low");
    CHECK(got["next_cursor"] == 3);
    CHECK(got["placements"].empty());
    CHECK(got["queues_after"]["high"].size() == 3);
    body.erase("snapshot");
    CHECK(answer(service, scans, body)["scanned_queue"] == "low");
    body["queues"] = json::object();
    got = answer(service, scans, body);
    CHECK(got["scanned_queue"].is_null());
    CHECK(got["next_cursor"] == 2);
    CHECK(got["status"] == "feasible");

    body = claim_example("scan-weighted_round_robin");
    body["arrived_job_id"] = "J3";
    got = answer(service, scans, body);
    CHECK(got["next_cursor"] == 0);
    CHECK(got["placements"].size() == 1);
    CHECK(got["queues_after"]["high"] == texts{"J1", "J2"});

    body = claim_example("scan-weighted_round_robin"); // as the source had them
    body["weights"]["n_2"] = 2;
    got = answer(service, scans, body);
    REQUIRE(got["warnings"].size() == 1);
    CHECK(got["warnings"][0].get<std::string>().find("weight_order") == 0);
}

TEST_CASE("jobs that are not atomic leave their rest in the queue", "[api][coallocation]")
{
    api service;
    json body = claim_example("scan-weighted_round_robin");
    body["queues"]["high"][0]["atomic"] = false;
    body["queues"]["high"][0]["components"].push_back({{"id", "c1"}, {"processors", 2}});
    json got = answer(service, scans, body);
    CHECK(got["placements"][0]["job_id"] == "J1");
    CHECK(got["placements"][0]["unplaced_component_ids"] == texts{"c0"});
    CHECK(got["queues_after"]["high"] == texts{"J1"});
    body["queues"]["high"][0]["components"][0]["processors"] = 5000;
    body["queues"]["high"][0].erase("atomic");
    got = answer(service, scans, body);
    CHECK(got["unplaced"][0]["never_fits"] == true);
}

TEST_CASE("mistakes in scans are named all at once", "[api][coallocation]")
{
    api service;
    json good = claim_example("scan-weighted_round_robin"), body = good;

    body["weights"]["n_1"] = 0;
    body["options"]["max_overtakes"] = -1;
    body["scan_cursor"] = -2;
    CHECK(mistakes(service, scans, body) == texts{"/scan_cursor", "/weights/n_1"});
    body = good;
    body["options"]["max_overtakes"] = -1;
    body["options"]["nonsense"] = 1;
    body["queues"]["low"][0]["id"] = "J1";
    body["queues"]["low"][0]["components"] = json::array();
    body["arrived_job_id"] = "J9";
    CHECK(mistakes(service, scans, body) ==
          texts{"/arrived_job_id", "/options/max_overtakes", "/options/nonsense",
                "/queues/high/0/id", "/queues/low/0/components"});
    body = good;
    body.erase("snapshot");
    CHECK(mistakes(service, scans, body) == texts{"/snapshot"});
    body = good;
    body["queues"]["high"][0]["placement_tries"] = -1;
    body["queues"]["medium"] = json::array();
    CHECK(mistakes(service, scans, body) ==
          texts{"/queues/high/0/placement_tries", "/queues/medium"});
}

TEST_CASE("very many jobs in a queue", "[api][coallocation]")
{
    api service;
    json body = claim_example("scan-weighted_round_robin");
    json &queue = body["queues"]["high"];
    queue = json::array();
    for (int i = 0; i < 3000; i++)
        queue.push_back({{"id", "j" + std::to_string(i)},
                         {"policy", "worst_fit"},
                         {"components", {{{"id", "c"}, {"processors", i % 60 + 1}}}}});
    json got = answer(service, scans, body);
    CHECK(got["placements"].size() + got["unplaced"].size() == 3000);
}

// ---- flow steps, launch plans ----

TEST_CASE("steps of a job", "[api][coallocation]")
{
    api service;
    json body = claim_example("flow-start_all");
    json got = answer(service, steps, body);
    CHECK(got["state"] == "launching");
    CHECK(got["actions"] == R"([{"action":"send_components","at_s":null},
                                {"action":"barrier","at_s":1400}])"_json);
    body["event"] = "requeue_placement";
    got = answer(service, steps, body);
    CHECK(got["state"] == "in_placement_queue");
    CHECK(got["l_value"] == 0.5);

    body["event"] = "accepted";
    CHECK(mistakes(service, steps, body) == texts{"/event"});
    body["event"] = "wait";
    CHECK(mistakes(service, steps, body) == texts{"/job/next_jct_s"});
    body["event"] = "exploded";
    body["job"]["state"] = "lost";
    CHECK(mistakes(service, steps, body) == texts{"/event", "/job/state"});
    body = claim_example("flow-start_all");
    body["limits"]["max_placement_tries"] = 1.5;
    body["options"]["nonsense"] = 1;
    body["algorithm"] = "nonsense";
    CHECK(mistakes(service, steps, body) ==
          texts{"/algorithm", "/limits/max_placement_tries", "/options/nonsense"});
}

TEST_CASE("levels of jobs that are accepted, coallocation.md 4", "[api][coallocation]")
{
    api service;
    json body =
        R"({"now_s":0,"job":{"id":"j","state":"submitted","job_class":"occasional",
                    "group":"night","estimate_s":600},"event":"accepted"})"_json;
    CHECK(answer(service, steps, body)["queue"] == "high");
    body["levels"] = R"({"policy":"runtime"})"_json;
    CHECK(answer(service, steps, body)["queue"] == "high");
    body["levels"]["runtime_thresholds_s"] = {600, 700, 800};
    CHECK(answer(service, steps, body)["queue"] == "super_high");
    body["levels"] =
        R"({"policy":"group","groups":[{"id":"night","priority":"super_low"}]})"_json;
    CHECK(answer(service, steps, body)["queue"] == "super_low");
    body["job"]["group"] = "day";
    CHECK(answer(service, steps, body)["queue"] == "low");
    body["job"]["priority"] = "super_high";
    CHECK(answer(service, steps, body)["queue"] == "super_high");
    body["levels"]["runtime_thresholds_s"] = {1, 2};
    CHECK(mistakes(service, steps, body) == texts{"/levels/runtime_thresholds_s"});
    body["levels"]["runtime_thresholds_s"] = {3, 2, 1};
    CHECK(mistakes(service, steps, body) ==
          texts{"/levels/runtime_thresholds_s/1", "/levels/runtime_thresholds_s/2"});
    body["job"]["state"] = "in_placement_queue";
    body["event"] = "placed";
    body["levels"] = json::object();
    CHECK(answer(service, steps, body)["queue"].is_null());
}

TEST_CASE("launch plans of placed jobs", "[api][coallocation]")
{
    api service;
    json body = claim_example("launch-drunner");
    json got = answer(service, plans, body);
    CHECK(got["launch_at_s"] == 460);
    CHECK(got["order_rule"] == "simultaneous");
    CHECK(got["order"] == texts{"c0", "c2", "c1"});
    CHECK(got["barrier"] == R"({"type":"duroc","release_at_s":460})"_json);
    CHECK(got["pre_phase"] == texts{"create_sandbox", "stage_in"});
    CHECK(got["nameserver"].is_null());
    CHECK(got["per_component"][1]["claim_at_s"] == 360);
    CHECK(got["post_phase"] == texts{"stage_out", "cleanup"});
    CHECK(got["required_capability"] == "globus");

    body["runner"] = "IRunner";
    body["nameserver_mode"] = "pooled";
    body["nameservers"] = R"([{"id":"n2","site_id":"B","job_count":1},
                              {"id":"n1","site_id":"C","job_count":1}])"_json;
    got = answer(service, plans, body);
    CHECK(got["nameserver"] ==
          R"({"mode":"pooled","site_id":"C","instance_id":"n1"})"_json);
    CHECK(got["per_component"][0]["pre_submission"] == texts{"add_runtime_libs"});

    body["runner"] = "KRunner";
    body["components"][0]["after"] = {"c1"};
    CHECK(answer(service, plans, body)["order"] == texts{"c2", "c1", "c0"});
    body["components"][1]["after"] = {"c0"};
    CHECK(mistakes(service, plans, body) == texts{"/components/0/after"});
    body["components"][1]["after"] = {"c9"};
    body["runner"] = "ORunner";
    CHECK(mistakes(service, plans, body) == texts{"/components/1/after/0", "/runner"});
    body["components"] = json::array();
    CHECK(mistakes(service, plans, body) == texts{"/components"});
}

// ---- events ----

TEST_CASE("a soft error counts, and the job goes elsewhere", "[api][coallocation]")
{
    api service;
    json body = claim_example("migration-component_error");
    json got = answer(service, events, body);
    CHECK(got["kind"] == "component_error");
    CHECK(got["algorithm"] == "component_error");
    CHECK(got["actions"] == texts{"abort_job", "restart_job"});
    CHECK(got["avoid_site_ids"] == texts{"Delft"});
    CHECK(got["site_error_counters"][0]["consecutive_errors"] == 3);
    CHECK(got["unusable_site_ids"] == texts{"Delft"});
    CHECK(got["notify_admin"] == true);
    CHECK(got["requeue"] ==
          R"({"queue":"high","position":"tail","component_ids":["c0","c1"]})"_json);
    CHECK(
        got["freed_processors"] ==
        R"([{"site_id":"Delft","processors":16},{"site_id":"VU","processors":16}])"_json);

    body["site_error_counters"] =
        got["site_error_counters"]; // they come back as they are
    body["now_s"] = 500;
    got = answer(service, events, body);
    CHECK(got["notify_admin"] == false); // told once
    CHECK(got["site_error_counters"][0]["consecutive_errors"] == 4);
    body["options"]["unusable_cooldown_s"] = 20;
    got = answer(service, events, body);
    CHECK(got["readmitted_site_ids"] == texts{"Delft"});
    CHECK(got["site_error_counters"][0]["consecutive_errors"] == 1);

    body = claim_example("migration-component_error");
    body["started_site_ids"] = {"Delft"};
    body["job"]["atomic"] = false;
    got = answer(service, events, body);
    CHECK(got["actions"] == texts{"replace_components"});
    CHECK(got["site_error_counters"][0]["consecutive_errors"] == 1);
    CHECK(got["requeue"]["component_ids"] == texts{"c0"});
    CHECK(got["freed_processors"].size() == 1);

    body["error"]["group"] = "hard";
    got = answer(service, events, body);
    CHECK(got["actions"] == texts{"notify_runner", "abort_job_and_runner"});
    CHECK(got["requeue"].is_null());
    CHECK(got["freed_processors"].size() == 2);
    CHECK(got["avoid_site_ids"].empty());
}

TEST_CASE("runners that are silent have crashed", "[api][coallocation]")
{
    api service;
    json body = claim_example("migration-runner_liveness");
    json got = answer(service, events, body);
    CHECK(got["dead_job_ids"] == texts{"j1"});
    CHECK(
        got["freed_processors"] ==
        R"([{"site_id":"VU","processors":16},{"site_id":"Delft","processors":8}])"_json);
    body["runners"][1]["last_reply_s"] = 0;
    got = answer(service, events, body);
    CHECK(got["dead_job_ids"] == texts{"j1", "j2"});
    CHECK(got["freed_processors"][0]["processors"] == 24);
}

TEST_CASE("mistakes in events are named all at once", "[api][coallocation]")
{
    api service;
    json body = claim_example("migration-component_error");
    body["error"]["component_id"] = "c9";
    body["error"]["component_ids"] = {"c1", "c1"};
    body["site_error_counters"].push_back(body["site_error_counters"][0]);
    body["options"]["error_threshold"] = 0;
    body["algorithm"] = "multi_phase";
    CHECK(mistakes(service, events, body) ==
          texts{"/algorithm", "/error/component_id", "/error/component_ids/1",
                "/options/error_threshold", "/site_error_counters/1/site_id"});
    body = claim_example("migration-component_error");
    body["error"].erase("component_id");
    CHECK(mistakes(service, events, body) == texts{"/error/component_id"});
    CHECK(mistakes(service, events, {{"kind", "earthquake"}}) == texts{"/kind"});
    body = claim_example("migration-runner_liveness");
    body["runners"][1]["job_id"] = "j1";
    body["options"]["timeout_s"] = -1;
    CHECK(mistakes(service, events, body) ==
          texts{"/options/timeout_s", "/runners/1/job_id"});
}

TEST_CASE("every example of these endpoints is answered, twice the same",
          "[api][coallocation][property]")
{
    api service;
    const struct {
        const char *path, *name;
    } cases[] = {
        {claims, "claim-incremental"},
        {claims, "claim-timeline"},
        {claims, "claim-queue"},
        {scans, "scan-weighted_round_robin"},
        {steps, "flow-start_all"},
        {steps, "flow-accepted"},
        {plans, "launch-drunner"},
        {events, "migration-component_error"},
        {events, "migration-runner_liveness"},
    };
    for (const auto &c : cases) {
        INFO(c.name);
        json body = claim_example(c.name), first = answer(service, c.path, body);
        json second = answer(service, c.path, body);
        for (const char *member : {"decision_id", "timings"}) {
            first.erase(member);
            second.erase(member);
        }
        CHECK(first == second);
    }
}

TEST_CASE("these endpoints with any memory limit", "[api][coallocation][memory]")
{
    api service;
    const struct {
        const char *path, *name;
    } cases[] = {{claims, "claim-incremental"},
                 {scans, "scan-weighted_round_robin"},
                 {plans, "launch-drunner"},
                 {events, "migration-component_error"}};
    for (const auto &c : cases) {
        std::string body = claim_example(c.name).dump();
        int status = 0;
        for (size_t cap = 2000; status != 200 && cap < 2000000; cap += cap / 8) {
            status = service.call("POST", c.path, body, {}, cap).status;
            CHECK((status == 200 || status == 413 || status == 503 || status == 500));
        }
        CHECK(status == 200);
    }
}
