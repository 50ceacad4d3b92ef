// checkpoint_intervals_test.cpp - POST /v1/checkpoint-intervals.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <algorithm>
#include <map>
#include <set>

extern "C" {
#include "models/failure_stats.h"
#include "service/clock.h"
}

using namespace nlohmann::literals;

static const char *const path = "/v1/checkpoint-intervals";

namespace
{
bool warned(const api_reply &r, const std::string &begin)
{
    const nlohmann::json answer = r.json();

    for (const auto &text : answer["warnings"])
        if (text.get<std::string>().rfind(begin, 0) == 0)
            return true;
    return false;
}
} // namespace

namespace
{
// Warnings but those of options that the algorithm does not read.
size_t other_warnings(const nlohmann::json &answer)
{
    size_t count = 0;

    for (const auto &text : answer["warnings"])
        count += text.get<std::string>().rfind("option_unused", 0) != 0;
    return count;
}
} // namespace

TEST_CASE("a checkpoint interval is decided from the request alone", "[api][checkpoint]")
{
    api service;
    api_reply r = service.post(
        path, R"({"algorithm":"young","jobs":[{"id":"j","checkpoint_overhead_s":60,)"
              R"("mean_failure_interval_s":3600}]})");
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json().at("/decision_id"_json_pointer).get<std::string>().size() == 36);
    CHECK(r.json().at("/algorithm"_json_pointer).get<std::string>() == "young");
    CHECK(r.json().at("/seed"_json_pointer).get<double>() == 1);
    CHECK(r.json().at("/status"_json_pointer).get<std::string>() == "feasible");
    CHECK(r.json().at("/warnings"_json_pointer).size() == 0);
    CHECK(r.json().at("/timings/parse_s"_json_pointer).get<double>() >= 0);
    CHECK(r.json().at("/timings/decide_s"_json_pointer).get<double>() >= 0);
    CHECK(r.json().at("/intervals"_json_pointer).size() == 1);
    CHECK(r.json().at("/intervals/0/job_id"_json_pointer).get<std::string>() == "j");
    CHECK(r.json().at("/intervals/0/interval_s"_json_pointer).get<double>() ==
          Approx(657.267069).epsilon(1e-9));
    CHECK(r.json().at("/intervals/0/expected_time_ratio"_json_pointer).get<double>() ==
          Approx(1.20759616).epsilon(1e-8));
    CHECK(r.body.find("expected_completion_s") == std::string::npos);
}

TEST_CASE("without an algorithm the exact interval is given, and known run times end",
          "[api][checkpoint]")
{
    api service;
    for (const char *algorithm :
         {"", R"("algorithm":"auto",)", R"("algorithm":"exact",)"}) { // b has no end
        api_reply r = service.post(
            path,
            std::string("{") + algorithm +
                R"("jobs":[{"id":"a","checkpoint_overhead_s":5,"restart_s":20,)"
                R"("mean_failure_interval_s":172800,"execution_time_s":9000},)"
                R"({"id":"b","checkpoint_overhead_s":0,"mean_failure_interval_s":60}]})");
        INFO(r.body);
        REQUIRE(r.status == 200);
        CHECK(r.json().at("/algorithm"_json_pointer).get<std::string>() == "exact");
        CHECK(r.json().at("/intervals/0/interval_s"_json_pointer).get<double>() ==
              Approx(1311.203).epsilon(1e-6));
        CHECK(r.json()
                  .at("/intervals/0/expected_completion_s"_json_pointer)
                  .get<double>() == Approx(9064.7699956).epsilon(1e-9));
        CHECK(r.json().at("/intervals/0/checkpoint_count"_json_pointer).get<double>() ==
              6);
        CHECK(r.json().at("/intervals/1/job_id"_json_pointer).get<std::string>() == "b");
        CHECK(r.json().at("/intervals/1/interval_s"_json_pointer).get<double>() == 1);
        CHECK(warned(r, "at_floor: 1 job, first 'b'"));
        CHECK(r.body.find("; for the first that is 1 s\"") != std::string::npos);
    }
    api_reply r = service.post(path, R"({"algorithm":"exact","options":)"
                                     R"({"min_interval_s":0.25},"jobs":[{"id":"b",)"
                                     R"("checkpoint_overhead_s":0,)"
                                     R"("mean_failure_interval_s":0.01}]})");
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json().at("/intervals/0/interval_s"_json_pointer).get<double>() == 0.25);
    CHECK(r.body.find("; for the first that is 0.25 s\"") != std::string::npos);
}

TEST_CASE("without an algorithm a job that ends gets its best checkpoints",
          "[api][checkpoint]")
{
    api service;
    nlohmann::json body = {{"jobs",
                            {{{"id", "a"},
                              {"event", "start"},
                              {"checkpoint_overhead_s", 600},
                              {"restart_s", 600},
                              {"restart_from_scratch_s", 600},
                              {"reschedule_delay_s", 300},
                              {"mean_failure_interval_s", 21600},
                              {"execution_time_s", 43200}}}}};
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    nlohmann::json got = r.json()["intervals"][0];
    CHECK(r.json()["algorithm"] == "finite");
    CHECK(r.json()["status"] == "optimal");
    CHECK(got["expected_completion_s"].get<double>() ==
          Approx(56756.368752).epsilon(1e-9));
    CHECK(got["lower_bound_s"] == got["expected_completion_s"]);
    CHECK(got["gap_ratio"] == 0);
    CHECK(got["gap_basis"] == "finite");
    CHECK(got["bound_basis"] == "closed_form");
    CHECK(got["checkpoint_count"] == 8);
    CHECK(got["segments"]["count"] == 9);
    CHECK(got["segments"]["last_s"].get<double>() == Approx(16000 / 3.0).epsilon(1e-9));
    CHECK(got["waste_ratio"].get<double>() ==
          Approx(1 - 43200 / 56756.368752).epsilon(1e-9));
    // A formula says how far it is from that, and never takes what does not pay.
    body["algorithm"] = "exact";
    body["jobs"][0]["execution_time_s"] = 7200;
    body["jobs"][0]["checkpoint_overhead_s"] = 1200;
    body["jobs"][0]["restart_s"] = body["jobs"][0]["restart_from_scratch_s"] = 1200;
    body["jobs"][0]["reschedule_delay_s"] = 0;
    r = service.post(path, body.dump());
    got = r.json()["intervals"][0];
    INFO(r.body);
    CHECK(got["reason"] == "too_short");
    CHECK(got["next_request_in_s"].is_null());
    CHECK(got["gap_ratio"].get<double>() == Approx(0.1624).margin(5e-5));
    CHECK(got["best_completion_s"].get<double>() == Approx(9033.398008).epsilon(1e-9));
    CHECK(warned(r, "few_intervals: 1 job, first 'a'"));
    body["jobs"][0]["event"] = "request";
    body["jobs"][0]["remaining_s"] = 30;
    got = service.post(path, body.dump()).json()["intervals"][0];
    CHECK(got["action"] == "omit");
    CHECK(got["reason"] == "cheaper_to_redo");
}

TEST_CASE("a failure of any node ends a job on several", "[api][checkpoint]")
{
    api service;
    nlohmann::json body = {{"algorithm", "young"},
                           {"jobs",
                            {{{"id", "a"},
                              {"checkpoint_overhead_s", 60},
                              {"nodes", 100},
                              {"mean_failure_interval_s", 864000}}}}};
    nlohmann::json got = service.post(path, body.dump()).json()["intervals"][0];
    CHECK(got["mean_failure_interval_s"] == 8640);
    CHECK(got["interval_s"].get<double>() ==
          Approx(std::sqrt(2 * 60 * 8640.0)).epsilon(1e-12));
    body["now_s"] = 100000;
    body["snapshot"]["resources"] = {
        {{"id", "x"}, {"observed_since_s", 0}, {"failure_count", 1}},
        {{"id", "y"}, {"observed_since_s", 0}, {"failure_count", 4}}};
    body["jobs"][0].erase("nodes");
    body["jobs"][0].erase("mean_failure_interval_s");
    body["jobs"][0]["resource_ids"] = {"x", "y"};
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    got = r.json()["intervals"][0];
    CHECK(got["mean_failure_interval_s"].get<double>() == Approx(20000).epsilon(1e-12));
    CHECK(got["basis"]["nodes"] == 2);
    body["algorithm"] = "weibull"; // without a fit each node is exponential
    got = service.post(path, body.dump()).json()["intervals"][0];
    CHECK(got["interval_s"].get<double>() ==
          Approx(std::sqrt(2 * 60 * 20000.0)).epsilon(1e-9));
    body["jobs"][0]["resource_ids"] = {"x", "z", "x"};
    body["jobs"][0]["nodes"] = 4;
    body["jobs"][0]["resource_id"] = "x";
    r = service.post(path, body.dump());
    CHECK(r.status == 422);
    for (const char *pointer : {"/jobs/0/resource_ids", "/jobs/0/nodes",
                                "/jobs/0/resource_ids/1", "/jobs/0/resource_ids/2"})
        CHECK(r.body.find(std::string("\"") + pointer + "\"") != std::string::npos);
}

TEST_CASE("options of a checkpoint decision are bound and checked", "[api][checkpoint]")
{
    api service;
    const std::string jobs = R"("jobs":[{"id":"j","checkpoint_overhead_s":60,)"
                             R"("mean_failure_interval_s":3600}]})";
    api_reply r = service.post(
        path, R"({"algorithm":"daly","options":{"min_interval_s":700},)" + jobs);
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json().at("/intervals/0/interval_s"_json_pointer).get<double>() == 700);
    CHECK(r.json().at("/intervals/0/at_minimum"_json_pointer) == true);

    r = service.post(path,
                     R"({"algorithm":"daly","options":{"min_intervall_s":700},)" + jobs);
    CHECK(r.status == 422);
    CHECK(r.body.find("/options/min_intervall_s") != std::string::npos);
    CHECK(r.body.find("min_interval_s") != std::string::npos);

    r = service.post(path, R"({"algorithm":"youg",)" + jobs);
    CHECK(r.status == 422);
    CHECK(r.body.find("/algorithm") != std::string::npos);
    CHECK(r.body.find("young") != std::string::npos);
}

TEST_CASE("all mistakes of a checkpoint request are named at once", "[api][checkpoint]")
{
    api service;
    api_reply r = service.post(
        path,
        R"({"algorithm":"young","jobs":[)"
        R"({"id":"a","checkpoint_overhead_s":-1,"mean_failure_interval_s":3600},)"
        R"({"id":"b","checkpoint_overhead_s":1,"mean_failure_interval_s":0},)"
        R"({"id":"c","checkpoint_overhead_s":"x"},)"
        R"({"id":"d","checkpoint_overhead_s":1,"mean_failure_interval_s":9,"execution_time_s":0},)"
        R"({"id":"a","checkpoint_overhead_s":1,"mean_failure_interval_s":9,"restart":1}]})");
    INFO(r.body);
    CHECK(r.status == 422);
    for (const char *pointer :
         {"/jobs/0/checkpoint_overhead_s", "/jobs/1/mean_failure_interval_s",
          "/jobs/2/checkpoint_overhead_s", "/jobs/3/execution_time_s", "/jobs/4/id",
          "/jobs/4/restart"})
        CHECK(r.body.find(pointer) != std::string::npos);
}

TEST_CASE("what an algorithm needs and a job does not say is named", "[api][checkpoint]")
{
    api service;
    auto pointers = [&](const std::string &body) {
        api_reply r = service.post(path, body);
        INFO(r.body);
        REQUIRE(r.status == 422);
        return r.pointers();
    };
    using list = std::vector<std::string>;
    for (const char *algorithm : {"young", "daly", "exact", "weibull"})
        CHECK(pointers(std::string(R"({"algorithm":")") + algorithm +
                       R"(","options":{"alpha":2},"render":["dmtcp","scr2"],"jobs":[)"
                       R"({"id":"a","checkpoint_overhead_s":1},)"
                       R"({"id":"b","checkpoint_overhead_s":1,)"
                       R"("mean_failure_interval_s":null}]})") ==
              list{"/render/1", "/options/alpha", "/jobs/0/mean_failure_interval_s",
                   "/jobs/1/mean_failure_interval_s"});
    for (const char *algorithm : {"last_failure", "mean_failure"}) {
        std::string body = std::string(R"({"algorithm":")") + algorithm +
                           R"(","jobs":[{"id":"a","checkpoint_overhead_s":1,)"
                           R"("mean_failure_interval_s":9,"length_mi":5}]})";
        CHECK(pointers(body) == list{"/jobs/0/execution_time_s"});
        CHECK(service.post(path, body).body.find("execution_time_required") !=
              std::string::npos);
    }
    CHECK(pointers(R"({"algorithm":"none","snapshot":{"resources":[)"
                   R"({"id":"r","failure_count":1.5}]},"jobs":[)"
                   R"({"id":"a","checkpoint_overhead_s":1,"resource_id":"s"}]})") ==
          list{"/snapshot/resources/0/failure_count", "/jobs/0/resource_id"});
    CHECK(pointers(
              R"({"algorithm":"periodic","options":{"initial_interval_s":0},"jobs":[)"
              R"({"id":"a","checkpoint_overhead_s":1,"mean_failure_interval_s":1}]})") ==
          list{"/options/initial_interval_s"});
    CHECK(pointers(
              R"({"jobs":[{"id":"a","checkpoint_overhead_s":1,"length_mi":-1,)"
              R"("completed_mi":-1,"checkpoint_bytes":-1,"initial_interval_s":-1,)"
              R"("interval_cur_s":0,"consecutive_omissions":-1,"event":"stop",)"
              R"("mean_failure_interval_s":1e308},)"
              R"({"id":"a","checkpoint_overhead_s":1,"mean_failure_interval_s":1}]})") ==
          list{"/jobs/0/length_mi", "/jobs/0/completed_mi", "/jobs/0/checkpoint_bytes",
               "/jobs/0/initial_interval_s", "/jobs/0/interval_cur_s",
               "/jobs/0/consecutive_omissions", "/jobs/0/event",
               "/jobs/0/mean_failure_interval_s", "/jobs/1/id"});
    CHECK(pointers(R"({"jobs":[{"id":"a"},{"id":"b","checkpoint_overhead_s":null,)"
                   R"("mean_failure_interval_s":1}]})") ==
          list{"/jobs/0/checkpoint_overhead_s", "/jobs/0/mean_failure_interval_s",
               "/jobs/1/checkpoint_overhead_s"});
    nlohmann::json missing =
        service.post(path, R"({"jobs":[{"id":"a","mean_failure_interval_s":1}]})")
            .json()["errors"][0];
    CHECK(missing["code"] == "required");
    CHECK(missing["detail"] ==
          "the member is missing: How long the job stands still for one checkpoint");
    // of these nothing can be learnt without a database
    CHECK(pointers(R"({"jobs":[{"id":"a","application_id":"x"}]})") ==
          list{"/jobs/0/mean_failure_interval_s"});
    CHECK(pointers(R"({"snapshot":{"resources":[]},"snapshot_id":"x","jobs":[]})") ==
          list{"/snapshot_id"});
}

// The request of fault-tolerance.md 11, in this API's names.
static nlohmann::json spec_request()
{
    return nlohmann::json::parse(R"({
        "now_s": 8410, "seed": 1, "algorithm": "last_failure",
        "options": {"initial_interval_s": 1200, "first_checkpoint_after_s": 60,
                    "interval_step_s": null, "interval_step_fraction": null,
                    "alpha": 1.0, "min_interval_s": null, "min_interval_fraction": 0.01,
                    "max_consecutive_omissions": null, "mf_estimator": "censored",
                    "weibull_shape": null, "weibull_scale_s": null},
        "render": ["dmtcp"],
        "snapshot": {"resources": [
            {"id": "cr1", "site_id": "s1", "mips_total": 1, "mips_external": 0,
             "job_count": 1, "observed_since_s": 0, "last_failure_at_s": null,
             "up_since_s": null, "failure_count": 0, "uptime_total_s": null}]},
        "jobs": [{"id": "j1", "resource_id": "cr1", "event": "request",
                  "length_mi": 7200, "completed_mi": 4800, "checkpoint_overhead_s": 5,
                  "checkpoint_bytes": 10000000, "interval_cur_s": 1200,
                  "consecutive_omissions": 1}]})");
}

TEST_CASE("the example of fault-tolerance.md 11 is answered", "[api][checkpoint]")
{
    api service;
    nlohmann::json body = spec_request();
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json()["status"] == "feasible");
    CHECK(other_warnings(r.json()) == 0);
    nlohmann::json got = r.json()["intervals"][0];
    nlohmann::json want = nlohmann::json::parse(R"({
        "job_id": "j1", "action": "omit", "reason": "resource_stable",
        "next_request_in_s": 1200, "interval_s": 1200, "consecutive_omissions": 2,
        "execution_time_s": 7200, "remaining_s": 2400, "failure_age_s": 8410,
        "mean_failure_interval_s": 8410, "basis": {"failures": 0, "observed_s": 8410,
        "restart_from_scratch_s": 0, "has_checkpoint": true},
        "rendered": {"dmtcp": "--interval 1200"}})");
    for (auto &[name, value] : want.items())
        CHECK(got[name] == value);
    CHECK(got["expected_completion_s"].get<double>() > 7200);
    CHECK(got["waste_ratio"].get<double>() > 0);

    // a second job shares the machine, which half works for others
    body["snapshot"]["resources"][0]["job_count"] = 2;
    body["snapshot"]["resources"][0]["mips_total"] = 4;
    body["snapshot"]["resources"][0]["mips_external"] = 2;
    body["jobs"][0]["length_mi"] = 9000;
    body["jobs"][0]["completed_mi"] = 10000; // more than was thought
    got = service.post(path, body.dump()).json()["intervals"][0];
    CHECK(got["execution_time_s"] == 9000);
    CHECK(got["remaining_s"] == 0);
    CHECK(got["action"] == "take");
    CHECK(got["reason"] == "failed_recently");
    CHECK(got["next_request_in_s"].is_null());

    body["snapshot"]["resources"][0]["mips_external"] = 4; // no speed is left
    got = service.post(path, body.dump()).json()["intervals"][0];
    CHECK(got["action"] == "take");
    CHECK(got["execution_time_s"].is_null());
}

TEST_CASE("every algorithm takes the same request", "[api][checkpoint]")
{
    api service;
    nlohmann::json body = spec_request();
    body["render"] = {"scr", "veloc", "fti", "dmtcp", "slurm"};
    body["jobs"].push_back(body["jobs"][0]);
    body["jobs"][1]["id"] = "j2";
    body["jobs"][1]["event"] = "start";
    struct {
        const char *algorithm, *action, *reason;
        double interval_s, first_s;
    } cases[] = {
        {"periodic", "take", "periodic", 1200, 1200},
        {"last_failure", "omit", "resource_stable", 1200, 1200},
        {"mean_failure", "take", "longer", 2400, 60},
        {"young", "take", "best_interval", std::sqrt(2 * 5 * 8410.0), 290},
        {"daly", "take", "best_interval", 286.69, 286.69},
        {"exact", "take", "best_interval", 286.69, 286.69},
        {"weibull", "take", "best_interval", std::sqrt(2 * 5 * 8410.0), 290},
    };
    for (auto &c : cases) {
        body["algorithm"] = c.algorithm;
        api_reply r = service.post(path, body.dump());
        INFO(c.algorithm << r.body);
        REQUIRE(r.status == 200);
        nlohmann::json now = r.json()["intervals"][0], start = r.json()["intervals"][1];
        CHECK(now["action"] == c.action);
        CHECK(now["reason"] == c.reason);
        CHECK(now["interval_s"].get<double>() == Approx(c.interval_s).epsilon(1e-4));
        CHECK(now["next_request_in_s"] == now["interval_s"]);
        CHECK(now["rendered"].size() == 5);
        CHECK(start["action"] == "none");
        CHECK(start["reason"] == "started");
        CHECK(start["next_request_in_s"].get<double>() ==
              Approx(c.first_s).epsilon(1e-4));
        CHECK(other_warnings(r.json()) == (c.algorithm == std::string("weibull")));
    }
    body["algorithm"] = "none";
    nlohmann::json none = service.post(path, body.dump()).json()["intervals"][0];
    CHECK(none["interval_s"].is_null());
    CHECK(none["next_request_in_s"].is_null());
    CHECK(none["action"] == "none");
    CHECK(none["rendered"] ==
          nlohmann::json::parse(
              R"({"dmtcp":"--interval 0","slurm":"--signal=B:USR1@60"})"));
}

TEST_CASE("settings of other tools are those of fault-tolerance.md 11",
          "[api][checkpoint]")
{
    api service;
    auto rendered = [&](double interval_s, double latency_s) {
        nlohmann::json body = {{"algorithm", "periodic"},
                               {"render", {"scr", "veloc", "fti", "dmtcp", "slurm"}},
                               {"jobs",
                                {{{"id", "j"},
                                  {"checkpoint_overhead_s", 5},
                                  {"mean_failure_interval_s", 86400},
                                  {"initial_interval_s", interval_s},
                                  {"checkpoint_latency_s", latency_s}}}}};
        api_reply r = service.post(path, body.dump());
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json()["intervals"][0]["rendered"];
    };
    nlohmann::json r = rendered(926.19, 10);
    CHECK(r["scr"] == "SCR_CHECKPOINT_SECONDS=926");
    CHECK(r["veloc"] == "persistent_interval = 926");
    CHECK(r["fti"] == "ckpt_l1 = 0\nckpt_l2 = 0\nckpt_l3 = 0\nckpt_l4 = 15");
    CHECK(r["dmtcp"] == "--interval 926");
    CHECK(r["slurm"] == "--signal=B:USR1@60");
    r = rendered(0.4, 45.25);
    CHECK(r["scr"] == "SCR_CHECKPOINT_SECONDS=1");
    CHECK(r["fti"] == "ckpt_l1 = 0\nckpt_l2 = 0\nckpt_l3 = 0\nckpt_l4 = 1");
    CHECK(r["slurm"] == "--signal=B:USR1@101");
    CHECK(rendered(150, 0)["fti"] ==
          "ckpt_l1 = 0\nckpt_l2 = 0\nckpt_l3 = 0\nckpt_l4 = 3"); // half up
    CHECK(rendered(926.5, 0)["veloc"] == "persistent_interval = 927");
    CHECK(rendered(926.5, 32762.5)["slurm"] == "--signal=B:USR1@65535");
    CHECK_FALSE(rendered(926.5, 32763).contains("slurm"));
}

TEST_CASE("what settings cannot say, and what an algorithm does not read, is warned of",
          "[api][checkpoint]")
{
    api service;
    nlohmann::json body = {
        {"algorithm", "young"},
        {"render", {"scr", "fti", "slurm"}},
        {"options", {{"alpha", 0.5}, {"min_interval_s", 0.5}, {"prior", nullptr}}},
        {"jobs",
         {{{"id", "slow"},
           {"checkpoint_overhead_s", 60},
           {"mean_failure_interval_s", 86400},
           {"checkpoint_latency_s", 40000}},
          {{"id", "quick"},
           {"checkpoint_overhead_s", 0.1},
           {"mean_failure_interval_s", 60}}}}};
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json()["warnings"].size() == 5);
    CHECK(warned(r, "min_interval_raised: 1 job, first 'slow'"));
    CHECK(warned(r, "option_unused: /options/alpha has no part in algorithm young"));
    CHECK(warned(r, "slurm_lead_too_long: 1 job, first 'slow'"));
    CHECK(warned(r, "interval_very_short: 1 job, first 'quick'"));
    CHECK(warned(r, "rounded: 1 job, first 'quick'"));
    CHECK_FALSE(r.json()["intervals"][0]["rendered"].contains("slurm"));
}

TEST_CASE("a checkpoint policy lists the options that it reads", "[api][checkpoint]")
{
    api service;
    nlohmann::json all = service.get("/v1/algorithms?family=checkpoint").json();
    std::map<std::string, std::set<std::string>> options;

    for (const auto &algorithm : all["items"])
        for (const auto &option : algorithm["options"])
            if (algorithm["family"] == "checkpoint")
                options[algorithm["name"]].insert(option["name"]);
    // what settings of tools are written by is for all of them
    CHECK(options["none"] == std::set<std::string>{"fti_level", "slurm_time_quantile"});
    CHECK(options["periodic"] == std::set<std::string>{"fti_level", "initial_interval_s",
                                                       "min_interval_fraction",
                                                       "min_interval_s",
                                                       "slurm_time_quantile"});
    CHECK(options["last_failure"].count("max_consecutive_omissions") == 1);
    CHECK(options["last_failure"].count("alpha") == 0);
    CHECK(options["mean_failure"].count("alpha") == 1);
    CHECK(options["young"].count("weibull_shape") == 0);
    CHECK(options["young"].count("prior") == 1);
    CHECK(options["weibull"].count("weibull_shape") == 1);
}

TEST_CASE("the way of a checkpoint takes time", "[api][checkpoint]")
{
    api service;
    nlohmann::json body = spec_request();
    body["render"] = {"slurm"};
    body["jobs"][0]["checkpoint_bytes"] = 1e9; // 100 s at 80 Mbit/s
    auto lead = [&] {
        return service.post(path, body.dump())
            .json()["intervals"][0]["rendered"]["slurm"];
    };
    CHECK(lead() == "--signal=B:USR1@60"); // no home site
    body["snapshot"]["home_site_id"] = "h";
    CHECK(lead() == "--signal=B:USR1@60"); // no link
    body["snapshot"]["network"] = {{"wan_mbps", 160}, {"wan_latency_s", 0.5}};
    CHECK(lead() == "--signal=B:USR1@111");
    body["snapshot"]["network"]["routes"] = {
        {{"from_site_id", "h"}, {"to_site_id", "s1"}, {"bandwidth_mbps", 40}},
        {{"from_site_id", "s1"}, {"to_site_id", "h"}, {"bandwidth_mbps", 80}}};
    CHECK(lead() == "--signal=B:USR1@210");
    body["jobs"][0]["checkpoint_latency_s"] = 40;
    CHECK(lead() == "--signal=B:USR1@90");
}

TEST_CASE("the history in a request", "[api][checkpoint]")
{
    api service;
    nlohmann::json body = spec_request();
    body["now_s"] = 50000;
    body["algorithm"] = "young";
    nlohmann::json &r = body["snapshot"]["resources"][0];
    r = nlohmann::json::parse(R"({"id":"cr1","observed_since_s":0,)"
                              R"("failure_times_s":[30000,36000,10000]})");
    auto answer = [&] {
        api_reply got = service.post(path, body.dump());
        INFO(got.body);
        REQUIRE(got.status == 200);
        return got.json()["intervals"][0];
    };
    struct {
        const char *estimator;
        double want_s;
    } cases[] = {
        {"censored", 50000.0 / 3}, {"gap_mean", 12000}, {"uptime_mean", 45500 / 3.0}};
    for (auto &c : cases) {
        body["options"]["mf_estimator"] = c.estimator;
        r["uptime_total_s"] = 45500;
        nlohmann::json got = answer();
        CHECK(got["mean_failure_interval_s"].get<double>() ==
              Approx(c.want_s).epsilon(1e-9));
        CHECK(got["failure_age_s"] == 14000);
        CHECK(got["basis"]["failures"] == 3);
        CHECK(got["basis"]["observed_s"] == 50000);
    }
    // single figures instead
    r = nlohmann::json::parse(R"({"id":"cr1","observed_since_s":0,"failure_count":3,)"
                              R"("last_failure_at_s":36000})");
    body["options"]["mf_estimator"] = "gap_mean";
    CHECK(answer()["mean_failure_interval_s"] == 12000);
    CHECK(answer()["failure_age_s"] == 14000);
    // the job's own figure wins
    body["jobs"][0]["mean_failure_interval_s"] = 777;
    CHECK(answer()["mean_failure_interval_s"] == 777);
    CHECK_FALSE(answer()["basis"].contains("failures"));
    // a failure in the future is none yet, or one just now
    body["jobs"][0].erase("mean_failure_interval_s");
    r = nlohmann::json::parse(R"({"id":"cr1","last_failure_at_s":60000})");
    CHECK(answer()["failure_age_s"].is_null());
    r["observed_since_s"] = 0;
    CHECK(answer()["failure_age_s"] == 0);
}

TEST_CASE("weibull is fitted to a resource's gaps, or to its site's", "[api][checkpoint]")
{
    api service;
    nlohmann::json body = spec_request();
    std::vector<double> times = {0}, gaps;
    for (int i = 0; i < 40; i++) // quantiles of a Weibull law, long and short by turns
        gaps.push_back(4000 *
                       std::pow(-std::log(1 - ((i * 17) % 40 + 0.5) / 40), 1 / 0.6));
    for (double gap_s : gaps)
        times.push_back(times.back() + gap_s);
    body["algorithm"] = "weibull";
    body["now_s"] = times.back() + 5000;
    body["snapshot"]["resources"] = {
        {{"id", "cr1"}, {"site_id", "s"}, {"failure_times_s", times}},
        {{"id", "cr2"}, {"site_id", "s"}, {"failure_times_s", {times[40]}}},
        {{"id", "cr3"}, {"site_id", "t"}, {"failure_times_s", {times[40]}}},
        {{"id", "cr4"}, {"failure_times_s", {times[40]}}},
        {{"id", "cr5"},
         {"failure_times_s", std::vector<double>(times.begin(), times.begin() + 9)}}};
    for (int i = 2; i <= 5; i++) {
        body["jobs"].push_back(body["jobs"][0]);
        body["jobs"].back()["id"] = "j" + std::to_string(i);
        body["jobs"].back()["resource_id"] = "cr" + std::to_string(i);
    }
    for (auto &job : body["jobs"]) { // without an end: the rule of the middle
        job.erase("execution_time_s");
        job.erase("remaining_s");
        job.erase("length_mi");
        job.erase("completed_mi");
    }
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    auto middle_s = [](double shape, double scale_s) {
        double want_s = 100;
        for (int i = 0; i < 200; i++) // the hazard in the middle of the interval
            want_s = std::sqrt(
                2 * 5 /
                (shape / scale_s * std::pow((5000 + want_s / 2) / scale_s, shape - 1)));
        return want_s;
    };
    for (size_t i = 0; i < gaps.size(); i++)
        gaps[i] = times[i + 1] - times[i];
    weibull_fit fit = failure_fit_weibull(gaps.data(), gaps.size());
    CHECK(fit.shape < 1);
    nlohmann::json got = r.json();
    CHECK(got["intervals"][0]["interval_s"].get<double>() ==
          Approx(middle_s(fit.shape, fit.scale_s)).epsilon(1e-9));
    // Of a host that failed once, the site's gaps tell the shape.
    CHECK(
        got["intervals"][1]["interval_s"].get<double>() ==
        Approx(middle_s(fit.shape, 5000 / std::tgamma(1 + 1 / fit.shape))).epsilon(1e-9));
    for (int i : {2, 3}) // one failure, 5000 s ago, and nothing more: young
        CHECK(got["intervals"][i]["interval_s"].get<double>() ==
              Approx(std::sqrt(2 * 5 * 5000.0)).epsilon(1e-9));
    CHECK(other_warnings(got) == 1);
    CHECK(warned(r, "history_too_short: 2 jobs"));
    body["options"] = {{"law", "exponential"}};
    got = service.post(path, body.dump()).json();
    double mean_s = got["intervals"][0]["mean_failure_interval_s"];
    CHECK(got["intervals"][0]["interval_s"].get<double>() ==
          Approx(std::sqrt(2 * 5 * mean_s)).epsilon(1e-9));
}

TEST_CASE("a young resource can lean on its site", "[api][checkpoint]")
{
    api service;
    nlohmann::json body = spec_request();
    body["now_s"] = 10000;
    body["algorithm"] = "young";
    body["options"] = {{"site_weight", 1}};
    body["snapshot"]["resources"] = {
        {{"id", "cr1"},
         {"site_id", "s"},
         {"observed_since_s", 9000},
         {"failure_count", 1}},
        {{"id", "cr2"}, {"site_id", "s"}, {"observed_since_s", 0}, {"failure_count", 4}}};
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    // site: 11000 s, 5 failures; (1000 + 1 * 2200) / (1 + 1)
    CHECK(r.json()["intervals"][0]["mean_failure_interval_s"] == 1600);
    body["options"] = {{"site_weight", 0}};
    r = service.post(path, body.dump());
    CHECK(r.json()["intervals"][0]["mean_failure_interval_s"] == 1000);
}

TEST_CASE("without a database a stored history is not there", "[api][checkpoint]")
{
    api service;
    std::string job = R"("jobs":[{"id":"j","resource_id":"r","checkpoint_overhead_s":5,)"
                      R"("execution_time_s":3600}]})";
    api_reply r = service.post(path, R"({"now_s":8410,"algorithm":"young",)" + job);
    INFO(r.body);
    REQUIRE(r.status == 200);
    nlohmann::json got = r.json();
    REQUIRE(got["warnings"].size() == 2);
    CHECK(got["warnings"][0].get<std::string>().rfind("history_missing: 1 job", 0) == 0);
    CHECK(got["warnings"][1].get<std::string>().rfind("history_unavailable", 0) == 0);
    CHECK(got["intervals"][0]["reason"] == "unknown_failures");
    CHECK(got["intervals"][0]["interval_s"] == 1800);
    CHECK(got["intervals"][0]["expected_time_ratio"].is_null());
    CHECK(got["intervals"][0]["basis"]["observed_s"] == 0);

    r = service.post(path,
                     R"({"now_s":8410,"algorithm":"young","snapshot":{"resources":[)"
                     R"({"id":"r","observed_since_s":410}]},)" +
                         job);
    INFO(r.body);
    got = r.json();
    REQUIRE(got["warnings"].size() == 1);
    CHECK(got["intervals"][0]["mean_failure_interval_s"] == 8000);
    CHECK(got["intervals"][0]["basis"]["observed_s"] == 8000);
}

// Whether a request is answered on the thread that reads the network.
static bool answered_at_once(api &service, const std::string &body)
{
    test_arena a;
    message m{};
    reply r{};
    m.method = "POST";
    m.path = path;
    m.body = body.data();
    m.body_length = body.size();
    m.remote_address = "127.0.0.1";
    return route_answer(service.handle(), &m, nullptr, false, &r, a);
}

TEST_CASE("a hundred thousand jobs are one request", "[million][api][checkpoint]")
{
    api service;
    std::string jobs;
    for (int i = 0; i < 100000; i++)
        jobs += (i ? ",{\"id\":\"" : "{\"id\":\"") + std::to_string(i) +
                "\",\"resource_id\":\"r" + std::to_string(i % 3) +
                "\",\"checkpoint_overhead_s\":5}";
    const std::string head =
        R"({"now_s":9000,"algorithm":"young","snapshot":{"resources":[)"
        R"({"id":"r0","observed_since_s":0,"failure_count":2},)"
        R"({"id":"r1","observed_since_s":0,"failure_count":2},)"
        R"({"id":"r2","observed_since_s":0,"failure_count":2}]},)"
        R"("jobs":[)";
    if (!is_sanitized() || is_long_run()) {
        api_reply all = service.post(path, head + jobs + "]}");
        REQUIRE(all.status == 200);
        CHECK(std::count(all.body.begin(), all.body.end(), '{') > 200000);
    }
    api_reply r = service.post(
        path,
        head + jobs + R"(,{"id":"x","resource_id":"r1","checkpoint_overhead_s":5}]})");
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs"});
}

TEST_CASE("random checkpoint requests are answered", "[api][checkpoint][property]")
{
    api service;
    rng random = rng_stream(1, "checkpoint_intervals_test");
    auto any = [&] { return std::exp(rng_uniform(&random) * 40 - 12); };
    for (const char *algorithm : {"daly", "exact", "last_failure", "mean_failure", "none",
                                  "periodic", "weibull", "young"})
        for (int round = 0; round < 20; round++) {
            nlohmann::json body = {{"algorithm", algorithm}, {"now_s", any() - any()}};
            body["options"] = {{"site_weight", std::fmin(any(), 100)}};
            for (int i = 0; i < 3; i++) {
                nlohmann::json r = {{"id", std::to_string(i)}, {"site_id", "s"}};
                for (const char *name : {"observed_since_s", "last_failure_at_s",
                                         "up_since_s", "uptime_total_s", "mips_total"})
                    if (rng_uniform(&random) < 0.5)
                        r[name] = any();
                if (rng_uniform(&random) < 0.5)
                    r["failure_count"] = std::floor(any());
                for (size_t k = rng_index(&random, 12); k > 0; k--)
                    r["failure_times_s"].push_back(any() - any());
                body["snapshot"]["resources"].push_back(r);
                nlohmann::json job = {{"id", std::to_string(i)},
                                      {"resource_id", std::to_string(i)},
                                      {"event", i ? "request" : "start"},
                                      {"length_mi", any()},
                                      {"checkpoint_overhead_s", std::fmin(any(), 1e15)}};
                if (rng_uniform(&random) < 0.5)
                    job["completed_mi"] = any();
                body["jobs"].push_back(job);
            }
            body["render"] = {"scr", "veloc", "fti", "dmtcp", "slurm"};
            api_reply r = service.post(path, body.dump());
            CAPTURE(body.dump(), r.body);
            REQUIRE(r.status == 200);
            REQUIRE(r.json()["intervals"].size() == 3);
            nlohmann::json again = service.post(path, body.dump()).json();
            REQUIRE(again["intervals"] == r.json()["intervals"]);
        }
}

static void store_failure(api &service, const std::string &resource, double down_s,
                          double up_s)
{
    nlohmann::json body = {{"resource_id", resource}, {"down_at", down_s}};
    if (up_s > 0)
        body["up_at"] = up_s;
    api_reply r = service.post("/v1/failures", body.dump());
    INFO(r.body);
    REQUIRE(r.status == 201);
}

TEST_CASE("stored failures are read by resource id", "[api][checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string tag = std::to_string(getpid()) + "-" + std::to_string(clock_wall_s());
    std::string a = "a" + tag, b = "b" + tag, c = "c" + tag;
    const double base = 1.7e9;

    store_failure(service, a, base + 10000, base + 11000);
    store_failure(service, a, base + 30000, base + 33000);
    store_failure(service, a, base + 36000, base + 36500);
    store_failure(service, a, base + 90000, 0); // after now
    store_failure(service, b, base + 5000, 0);  // followed by another, so it was up again
    store_failure(service, b, base + 8000, 0);  // never said to be up again: it is down
    api_reply sample =
        service.post("/v1/load-samples", nlohmann::json{{"resource_id", a},
                                                        {"observed_at", base},
                                                        {"cpu_available_ratio", 1}}
                                             .dump());
    INFO(sample.body);
    REQUIRE(sample.status == 201);

    nlohmann::json body = {{"now_s", base + 50000},
                           {"algorithm", "young"},
                           {"options", {{"prior", "none"}, {"mean_floor_s", 0}}}};
    for (const std::string &id : {a, b, c})
        body["jobs"].push_back(
            {{"id", id}, {"resource_id", id}, {"checkpoint_overhead_s", 5}});
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    nlohmann::json got = r.json()["intervals"];
    CHECK(got[0]["mean_failure_interval_s"].get<double>() ==
          Approx((50000 - 4500) / 3.5).epsilon(1e-9));
    CHECK(got[0]["failure_age_s"] == 14000);
    CHECK(got[0]["basis"]["failures"] == 3);
    CHECK(got[0]["basis"]["failure_count"] == 3);
    CHECK(got[0]["basis"]["at_risk_s"] == 45500);
    // the first failure is why it is watched; while it is down it is not at risk
    CHECK(got[1]["mean_failure_interval_s"] == 3000 / 1.5);
    CHECK(got[1]["basis"]["failure_count"] == 1);
    CHECK(got[1]["basis"]["at_risk_s"] == 3000);
    CHECK(got[1]["failure_age_s"] == 42000);
    CHECK(warned(r, "resource_down: 1 resource failed and nothing says that it is "
                    "up again: '" +
                        b + "' since 2023-11-15T00:26:40Z; "));
    CHECK(got[2]["basis"]["failures"] == 0);
    CHECK(got[2]["reason"] == "unknown_failures");
    CHECK(warned(r, "history_missing: 1 job"));
    CHECK(warned(r, "observation_start_unknown: 1 job"));
    CHECK(warned(r, "few_failures: 1 job"));
    CHECK_FALSE(warned(r, "mean_floor_applied"));
    body.erase("options");
    body["options"] = {{"prior", "none"}};
    r = service.post(path, body.dump());
    CHECK(r.json()["intervals"][1]["mean_failure_interval_s"] == 86400);
    CHECK(warned(r, "mean_floor_applied: 1 job"));
    body["options"] = {{"mf_estimator", "censored"}};
    r = service.post(path, body.dump());
    CHECK(r.json()["intervals"][1]["mean_failure_interval_s"] == 22500);

    // the snapshot says since when; what it says of failures is not looked up
    body["options"] = {{"mf_estimator", "uptime_mean"}};
    body["snapshot"]["resources"] = {
        {{"id", a}, {"observed_since_s", base + 20000}},
        {{"id", b}, {"failure_count", 0}, {"observed_since_s", base}},
        {{"id", c}, {"observed_since_s", base}}};
    r = service.post(path, body.dump());
    INFO(r.body);
    got = r.json()["intervals"];
    CHECK(got[0]["basis"]["failures"] == 2);
    CHECK(got[0]["mean_failure_interval_s"] == (30000 - 3500) / 2);
    CHECK(got[1]["mean_failure_interval_s"] == 50000);
    CHECK(got[2]["mean_failure_interval_s"] == 50000);
    CHECK(r.json()["warnings"].empty());
}

TEST_CASE("who is no longer watched was seen only until then", "[api][checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string id = "past" + std::to_string(getpid()) + std::to_string(clock_wall_s());
    const double base = 1.7e9;

    for (int i = 0; i < 2; i++) { // with a gap in between
        nlohmann::json o = {{"resource_id", id},
                            {"from_at", base + i * 20000},
                            {"to_at", base + i * 20000 + 10000}};
        REQUIRE(service.post("/v1/observations", o.dump()).status == 201);
    }
    store_failure(service, id, base + 5000, base + 6000);
    nlohmann::json body = {
        {"now_s", base + 1e6},
        {"algorithm", "young"},
        {"jobs", {{{"id", "j"}, {"resource_id", id}, {"checkpoint_overhead_s", 5}}}}};
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    nlohmann::json basis = r.json()["intervals"][0]["basis"];
    CHECK(basis["observed_s"] == 20000);
    CHECK(basis["at_risk_s"] == 19000);
    body["jobs"][0]["resource_ids"] = {id};
    body["jobs"][0].erase("resource_id");
    CHECK(service.post(path, body.dump()).json()["intervals"][0]["basis"]["observed_s"] ==
          20000);
}

TEST_CASE("a host that is down is told, until something says that it is up",
          "[api][checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string tag = std::to_string(getpid()) + "-" + std::to_string(clock_wall_s());
    const double base = 1.7e9;
    std::vector<std::string> ids;
    nlohmann::json body = {{"now_s", base + 50000},
                           {"algorithm", "young"},
                           {"options", {{"prior", "none"}, {"mean_floor_s", 0}}}};

    for (int i = 0; i < 5; i++) {
        ids.push_back("down" + std::to_string(i) + tag);
        api_reply seen = service.post(
            "/v1/observations",
            nlohmann::json{{"resource_id", ids[i]}, {"from_at", base}}.dump());
        REQUIRE(seen.status == 201);
        store_failure(service, ids[i], base + 10000, base + 11000);
        store_failure(service, ids[i], base + 20000, i < 4 ? 0 : base + 20500);
        body["jobs"].push_back(
            {{"id", ids[i]}, {"resource_id", ids[i]}, {"checkpoint_overhead_s", 5}});
    }
    body["jobs"].push_back(
        {{"id", "all"}, {"resource_ids", ids}, {"checkpoint_overhead_s", 5}});
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    nlohmann::json got = r.json()["intervals"];
    for (int i = 0; i < 4; i++) {
        CHECK(got[i]["basis"]["at_risk_s"] == 20000 - 1000);
        CHECK(got[i]["basis"]["failure_count"] == 2);
        CHECK(got[i]["mean_failure_interval_s"] == 19000 / 2.5);
    }
    CHECK(got[4]["basis"]["at_risk_s"] == 50000 - 1500);
    CHECK(got[5]["basis"]["at_risk_s"] == 4 * 19000 + 48500);
    std::string head = "resource_down: 4 resources failed and nothing says that they "
                       "are up again: '" +
                       ids[0] + "' since 2023-11-15T03:46:40Z, '" + ids[1] + "' since ";
    CHECK(warned(r, head));
    CHECK(r.body.find(ids[2] + "' since 2023-11-15T03:46:40Z, ...; no time at risk") !=
          std::string::npos);

    // a recovery ends it; so do a new observation and what the snapshot says
    REQUIRE(
        service
            .post("/v1/failures/recoveries",
                  nlohmann::json{{"resource_id", ids[0]}, {"up_at", base + 30000}}.dump())
            .status == 200);
    body["snapshot"]["resources"] = {{{"id", ids[1]}, {"up_since_s", base + 40000}},
                                     {{"id", ids[2]}},
                                     {{"id", ids[0]}},
                                     {{"id", ids[3]}, {"up_since_s", base + 15000}},
                                     {{"id", ids[4]}}};
    r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    got = r.json()["intervals"];
    CHECK(got[0]["basis"]["at_risk_s"] == 50000 - 1000 - 10000);
    CHECK(got[1]["basis"]["at_risk_s"] == 50000 - 1000);
    CHECK(got[3]["basis"]["at_risk_s"] == 19000);
    CHECK(warned(r, "resource_down: 2 resources "));
}

TEST_CASE("only a request that needs the stored history waits for it",
          "[api][checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    nlohmann::json body = {
        {"algorithm", "young"},
        {"jobs",
         {{{"id", "j"}, {"checkpoint_overhead_s", 5}, {"mean_failure_interval_s", 9}}}}};
    CHECK(answered_at_once(service, body.dump()));
    body["jobs"][0]["resource_id"] = "r"; // its own figure still wins
    CHECK(answered_at_once(service, body.dump()));
    body["jobs"][0].erase("mean_failure_interval_s");
    CHECK_FALSE(answered_at_once(service, body.dump()));
    body["now_s"] = 100;
    body["snapshot"]["resources"] = {{{"id", "r"}, {"observed_since_s", 0}}};
    CHECK_FALSE(answered_at_once(service, body.dump()));
    body["snapshot"]["resources"][0]["failure_count"] = 0;
    CHECK(answered_at_once(service, body.dump()));
}

TEST_CASE("of a long stored history the newest failures count", "[api][checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string id = "long" + std::to_string(getpid()) + std::to_string(clock_wall_s());
    const double base = 1.7e9;
    nlohmann::json list = nlohmann::json::array();
    for (int i = 0; i < 1500; i++) // 100 s apart, then 10 s
        list.push_back({{"resource_id", id},
                        {"down_at", base + (i < 400 ? 100.0 * i : 36000 + 10.0 * i)},
                        {"up_at", base + 1 + (i < 400 ? 100.0 * i : 36000 + 10.0 * i)}});
    REQUIRE(service.post("/v1/failures", list.dump()).status == 201);
    nlohmann::json body = {
        {"now_s", base + 36000 + 15000},
        {"algorithm", "exact"},
        {"options", {{"prior", "none"}}},
        {"jobs", {{{"id", "j"}, {"resource_id", id}, {"checkpoint_overhead_s", 0.1}}}}};
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    nlohmann::json got = r.json()["intervals"][0];
    CHECK(got["basis"]["failures"] == 999);
    // up 9 of 10 s
    CHECK(got["mean_failure_interval_s"].get<double>() == Approx(9).epsilon(1e-3));
    CHECK(warned(r, "history_cut: 1 job"));
}

TEST_CASE("a job that cannot get on is answered with a warning", "[api][checkpoint]")
{
    api service;
    api_reply r = service.post(
        path,
        R"({"algorithm":"exact","jobs":[{"id":"fine","checkpoint_overhead_s":1,)"
        R"("mean_failure_interval_s":3600},{"id":"lost","checkpoint_overhead_s":1e9,)"
        R"("mean_failure_interval_s":1}]})");
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(warned(r, "hopeless: 1 job, first 'lost'"));
    CHECK(warned(r, "at_floor: 1 job, first 'lost'"));
    CHECK(r.json().at("/intervals/1/interval_s"_json_pointer).get<double>() == 1.0001e9);
    CHECK(r.json().at("/intervals/1/waste_ratio"_json_pointer).get<double>() == 1);
    CHECK(r.body.find(R"("expected_time_ratio":null)") != std::string::npos);
}

TEST_CASE("what remains of a job is no more than all of it", "[api][checkpoint]")
{
    api service;
    nlohmann::json job = {{"id", "j"},
                          {"execution_time_s", 7200},
                          {"checkpoint_overhead_s", 60},
                          {"restart_s", 60},
                          {"mean_failure_interval_s", 86400}};
    auto ask = [&](double execution_s, double remaining_s) {
        job["execution_time_s"] = execution_s;
        job["remaining_s"] = remaining_s;
        return service.post(
            path, nlohmann::json{{"algorithm", "finite"}, {"jobs", {job}}}.dump());
    };
    api_reply longer = ask(7200, 8000), as_long = ask(8000, 8000);

    CHECK(warned(longer, "clamped: 1 job, first 'j', has remaining_s above"));
    CHECK_FALSE(warned(as_long, "clamped"));
    CHECK(longer.json()["intervals"] == as_long.json()["intervals"]);
}

TEST_CASE("a checkpoint decision survives every memory cap", "[api][memory]")
{
    api service;
    std::string body = R"({"jobs":[)";
    for (int i = 0; i < 200; i++)
        body += (i ? "," : "") + std::string(R"({"id":"j)") + std::to_string(i) +
                R"(","checkpoint_overhead_s":60,"mean_failure_interval_s":30})";
    body += "]}";
    int status = 0;
    for (size_t cap = 4096; status != 200; cap += 4096) {
        status = service.call("POST", path, body, {}, cap).status;
        CHECK((status == 200 || status == 413));
        REQUIRE(cap < (size_t{1} << 24));
    }
}

TEST_CASE("a decision from histories survives every memory cap", "[api][memory]")
{
    api service;
    nlohmann::json body = spec_request();
    body["algorithm"] = "weibull";
    for (int i = 0; i < 60; i++) {
        nlohmann::json r = {{"id", std::to_string(i)}, {"site_id", "s"}};
        for (int k = 0; k < 5; k++)
            r["failure_times_s"].push_back(i + 700 * k);
        body["snapshot"]["resources"].push_back(r);
        body["jobs"].push_back(body["jobs"][0]);
        body["jobs"].back()["id"] = r["id"];
        body["jobs"].back()["resource_id"] = r["id"];
    }
    std::string text = body.dump();
    int status = 0;
    for (size_t cap = 4096; status != 200; cap += 4096) {
        status = service.call("POST", path, text, {}, cap).status;
        CHECK((status == 200 || status == 413));
        REQUIRE(cap < (size_t{1} << 24));
    }
}

TEST_CASE("a number of checkpoints beyond what JSON carries is said to be the largest",
          "[api][checkpoint]")
{
    api service;
    api_reply r = service.post(path, R"({"algorithm": "periodic",
        "options": {"initial_interval_s": 1200},
        "snapshot": {"resources": [{"id": "r", "mips_total": 1}]},
        "jobs": [{"id": "j", "resource_id": "r", "length_mi": 7e303,
                  "checkpoint_overhead_s": 5, "mean_failure_interval_s": 1e6}]})");

    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json()["intervals"][0]["checkpoint_count"] == 9007199254740991.0);
    CHECK(
        warned(r, "clamped: 1 job, first 'j', would be checkpointed more than 2^53 - 1"));
}
