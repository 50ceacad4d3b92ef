// simulations_api_test.cpp - /v1/simulations, /v1/workloads and /v1/failure-traces
// through route_answer(); with the tag [db] also what needs PostgreSQL.
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/test_governor.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

extern "C" {
#include "algorithms/simulation/simulation.h"
#include "service/background.h"
#include "service/gzip.h"
#include "service/store_simulation.h"
}

namespace
{
using json = nlohmann::json;

json file_json(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/" + name);
    return json::parse(in);
}

// Test D1 of spec simulator.md 15.
json d1()
{
    return json::parse(R"({
        "runs": 1, "stop": {"time_s": 1000}, "scheduler": {"interval_s": 60},
        "sites": [{"id": "s", "resources": [{"id": "CR1", "mips_total": 1, "n_max": 2},
                                            {"id": "CR2", "mips_total": 2, "n_max": 2}]}],
        "workload": {"jobs": [{"id": "A", "arrival_s": 10, "length_mi": 600},
                              {"id": "B", "arrival_s": 20, "length_mi": 600},
                              {"id": "C", "arrival_s": 70, "length_mi": 1200}]},
        "compare": [{"algorithm": "fjbcr"}], "output": {"per_job": true}})");
}

// A grid that fails, and short runs.
json failing()
{
    return json::parse(R"({
        "runs": 4, "seed": 3, "stop": {"time_s": 40000},
        "sites": [{"id": "s", "resources": [{"number": 4, "n_max": 2,
            "failure": {"distribution": "exponential", "mean": 6000}, "restore": 600}]}],
        "workload": {"generator": "poisson", "length_mi": 1500,
                     "arrival_gap_s": {"distribution": "exponential", "mean": 800}},
        "compare": [{"label": "c", "algorithm": "periodic",
                     "options": {"initial_interval_s": 300}},
                    {"label": "a", "algorithm": "fcfs"},
                    {"label": "b", "algorithm": "migration"}]})");
}

double mean_of(const json &answer, size_t label, const char *metric)
{
    return answer.at("results").at(label).at("metrics").at(metric).at("mean");
}

json without(json answer, std::initializer_list<const char *> members)
{
    for (auto m : members)
        answer.erase(m);
    return answer;
}

// An answer without what differs from call to call.
json comparable(const json &answer)
{
    return without(answer, {"decision_id", "timings"});
}

bool has(const std::vector<std::string> &list, const std::string &what)
{
    return std::find(list.begin(), list.end(), what) != list.end();
}

std::string joined(const json &list)
{
    return list.dump();
}
} // namespace

namespace
{
// Plays a simulation as a replica does without a client; keeps the parts that it leaves.
struct kept_play {
    test_arena arena;
    std::vector<store_part> left;
    decision_status status = DECISION_FEASIBLE;
    store_progress progress{};

    json run(service *handles, const json &body, const std::vector<store_part> &found,
             bool is_cancelled)
    {
        std::string text = body.dump();
        store_parts parts = {found.data(), found.size(), keep, this};
        stored_request stored{};
        reply got{};
        error err{};

        stored.tenant = "";
        stored.path = "/v1/simulations";
        stored.body = text.c_str();
        stored.cancelled = &is_cancelled;
        stored.progress = &progress;
        stored.parts = &parts;
        left.clear();
        if (route_answer_stored(handles, &stored, &status, &got, arena, &err) != OK)
            FAIL(got.body);
        return json::parse(got.body);
    }
    static void keep(void *context, const store_part *part)
    {
        static_cast<kept_play *>(context)->left.push_back(*part);
    }
};
} // namespace

TEST_CASE("runs that are kept are not played again, and the answer is the same",
          "[simulations][api]")
{
    api a;
    json body = failing();
    body["output"] = {{"per_job", true},
                      {"per_resource", true},
                      {"log", true},
                      {"per_path", true},
                      {"log_rows_max", 300}};
    kept_play whole, rest;
    json want = comparable(whole.run(a.handle(), body, {}, false));
    REQUIRE(whole.left.size() == 12); // 4 runs of 3 labels
    CHECK(want["results"][0]["jobs"].size() > 10);
    CHECK(want["results"][1]["log"].size() == 300);
    CHECK(want == comparable(json::parse(a.post("/v1/simulations", body.dump()).body)));

    // With all of them nothing is played: a simulation that is cancelled is complete.
    CHECK(comparable(rest.run(a.handle(), body, whole.left, true)) == want);
    CHECK(rest.status == DECISION_FEASIBLE);
    CHECK(rest.left.empty());
    CHECK(rest.progress.run_count == 4);

    // With some, what is missing is played, in order, and nothing else.
    for (size_t count : {1, 3, 5, 11}) {
        std::vector<store_part> some(whole.left.begin(),
                                     whole.left.begin() + (long)count);
        json cut = rest.run(a.handle(), body, some, true);
        CHECK(cut["runs_completed"] == count / 3);
        CHECK(cut["status"] == "cut");
        CHECK(rest.left.empty());
        CHECK(comparable(rest.run(a.handle(), body, some, false)) == want);
        REQUIRE(rest.left.size() == 12 - count);
        CHECK(rest.left[0].number == count);
    }

    // What is damaged or another program's is played again.
    std::vector<store_part> odd(whole.left);
    std::vector<unsigned char> other(odd[0].content.data,
                                     odd[0].content.data + odd[0].content.length);
    for (size_t length : {(size_t)0, (size_t)7, other.size() / 2, other.size() - 1}) {
        odd[0].content.length = length;
        CHECK(comparable(rest.run(a.handle(), body, odd, false)) == want);
        CHECK(rest.left.size() == 1);
    }
    other[0] ^= 1; // the mark
    odd[0].content = {other.data(), other.size()};
    CHECK(comparable(rest.run(a.handle(), body, odd, false)) == want);
    CHECK(rest.left.size() == 1);
}

namespace
{
// Three runs, whose trials are kept, and not played again by who has them. Returns the
// answer.
json check_kept(api &a, json body, size_t trials_per_run)
{
    kept_play whole, rest;
    body["runs"] = 3;
    json want = comparable(whole.run(a.handle(), body, {}, false));
    CHECK(want["runs_done"] == 3);
    REQUIRE(whole.left.size() == 3 * trials_per_run);
    CHECK(whole.progress.ratio == 1);
    CHECK(want == comparable(json::parse(a.post("/v1/simulations", body.dump()).body)));

    // With all of them nothing is played: a simulation that is cancelled is complete.
    CHECK(comparable(rest.run(a.handle(), body, whole.left, true)) == want);
    CHECK(rest.left.empty());
    CHECK(rest.progress.run_count == 3);

    // With some, what is missing is played.
    for (size_t count = 1; count < 3 * trials_per_run; count++) {
        std::vector<store_part> some(whole.left.begin(),
                                     whole.left.begin() + (long)count);
        json cut = rest.run(a.handle(), body, some, true);
        CHECK(cut["runs_done"] == count / trials_per_run);
        CHECK(cut["status"] == "cut");
        CHECK(joined(cut["warnings"])
                  .find("when " + std::to_string(count / trials_per_run) +
                        " of 3 runs were complete") != std::string::npos);
        CHECK(comparable(rest.run(a.handle(), body, some, false)) == want);
        REQUIRE(rest.left.size() == 3 * trials_per_run - count);
        CHECK(rest.left[0].number == count);
    }
    return want;
}

// Rows of the first run are not kept: it is played again.
void check_kept_with_rows(api &a, json body, size_t trials_per_run)
{
    kept_play whole, rest;
    body["runs"] = 3;
    json want = comparable(whole.run(a.handle(), body, {}, false));
    CHECK(whole.left.size() == 2 * trials_per_run);
    CHECK(comparable(rest.run(a.handle(), body, whole.left, false)) == want);
    CHECK(rest.left.empty());
}
} // namespace

TEST_CASE("trials of workflows that are kept are not played again either",
          "[simulations][api]")
{
    api a;
    json body = file_json("simulation-workflow-given.json");
    body["per_workflow"] = false;
    body.erase("algorithm"); // the three that are compared without
    json want = check_kept(a, body, 3);
    CHECK(want["results"][0]["figures"]["mean_makespan_s"]["mean"] > 0);
    body["per_workflow"] = true;
    check_kept_with_rows(a, body, 3);
}

TEST_CASE("trials of co-allocation that are kept are not played again either",
          "[simulations][api]")
{
    api a;
    json body = file_json("simulation-coallocation.json");
    body["job_count"] = 20;
    body["policies"] = {"close_to_files", "worst_fit"};
    json want = check_kept(a, body, 2);
    CHECK(want["job_count"] == 20);
    uint64_t jobs = 0;
    for (auto &size : want["results"][1]["sizes"])
        jobs += size["job_count"].get<uint64_t>();
    CHECK(jobs == 60);
    body["per_job"] = true;
    check_kept_with_rows(a, body, 2);
}

TEST_CASE("runs of a cluster that are kept are not played again either",
          "[simulations][api]")
{
    api a;
    json body = file_json("simulation-cluster.json");
    json want = check_kept(a, body, 2);
    CHECK(mean_of(want, 0, "checkpoint_count") > 0);
    CHECK(want["differences"].size() > 10);
    body["output"] = {{"per_job", true}};
    check_kept_with_rows(a, body, 2);
}

TEST_CASE("runs of phases that are kept are not played again either",
          "[simulations][api]")
{
    api a;
    json want = check_kept(a, file_json("simulation-multi_phase.json"), 1);
    CHECK(want["results"].size() == 5);
    CHECK(want["results"][0]["mean_s"] > 0);
}

TEST_CASE("policies of a log that are kept are not played again either",
          "[simulations][api]")
{
    api a;
    kept_play whole, rest;
    json body = {
        {"kind", "queue"},       {"processors", 16}, {"policies", {"easy", "fcfs"}},
        {"per_job", true},       {"as_swf", true},   {"jobs", json::array()},
        {"cut_at_request", true}};
    for (int i = 0; i < 60; i++)
        body["jobs"].push_back({{"submit_s", 20 * i},
                                {"processors", 1 + i * 37 % 17}, // some never fit
                                {"run_s", 60 + i * 7919 % 1500},
                                {"requested_s", 60 + i * 7919 % 1000}});
    json want = comparable(whole.run(a.handle(), body, {}, false));
    CHECK(want["never_fit_count"] > 0);
    CHECK(want["results"][0]["jobs"].size() == 60);
    REQUIRE(whole.left.size() == 2);
    CHECK(whole.progress.ratio == 1);
    CHECK(whole.progress.event_count == 240);
    CHECK(want == comparable(json::parse(a.post("/v1/simulations", body.dump()).body)));

    // With both nothing is played, with one the other.
    CHECK(comparable(rest.run(a.handle(), body, whole.left, true)) == want);
    CHECK(rest.left.empty());
    std::vector<store_part> some(whole.left.begin(), whole.left.begin() + 1);
    json cut = rest.run(a.handle(), body, some, true);
    CHECK(cut["status"] == "cut");
    CHECK(cut["ranking"] == json::array({"easy"}));
    CHECK(joined(cut["warnings"]).find("when 1 of 2 policies were done") !=
          std::string::npos);
    CHECK(comparable(rest.run(a.handle(), body, some, false)) == want);
    REQUIRE(rest.left.size() == 1);
    CHECK(rest.left[0].number == 1);

    // What is damaged is played again.
    some[0].content.length -= 8;
    CHECK(comparable(rest.run(a.handle(), body, some, false)) == want);
    CHECK(rest.left.size() == 2);
}

TEST_CASE("the hand-computed day of three jobs is what the service says",
          "[simulations][api]")
{
    api a;
    json answer = a.post("/v1/simulations", d1().dump()).json();

    INFO(answer.dump());
    CHECK(answer["status"] == "feasible");
    CHECK(answer["runs_completed"] == 1);
    CHECK(answer["ranking"] == json::array({"fjbcr"}));
    CHECK(mean_of(answer, 0, "jobs_done") == 3);
    CHECK(mean_of(answer, 0, "job_turnaround_s") == Approx(706.6666667).epsilon(1e-6));
    CHECK(mean_of(answer, 0, "job_wait_s") == Approx(140.0 / 3).epsilon(1e-9));
    CHECK(mean_of(answer, 0, "makespan_s") == Approx(950).epsilon(1e-9));
    CHECK(answer["results"][0]["metrics"]["jobs_done"]["ci95"].is_null());
    CHECK(answer["events_executed"] > 0);
    json jobs = answer["results"][0]["jobs"];
    REQUIRE(jobs.size() == 3);
    for (auto &j : jobs) {
        double end_s = j["job_id"] == "A" ? 600 : j["job_id"] == "B" ? 660 : 960;
        CHECK(j["finish_s"].get<double>() == Approx(end_s).epsilon(1e-9));
        CHECK(j["state"] == "done");
    }
}

// The worked example of spec simulator.md 4: equal sharing by hand.
TEST_CASE("a job that runs when the run ends says where", "[simulations][api]")
{
    api a;
    json body = d1();

    body["stop"]["time_s"] = 100;
    json answer = a.post("/v1/simulations", body.dump()).json();
    const json &jobs = answer["results"][0]["jobs"];
    INFO(jobs.dump(1));
    REQUIRE(jobs.size() == 3);
    for (auto &j : jobs)
        CHECK(j.contains("resource_id") == (j["state"] == "running"));
    CHECK(jobs[0]["state"] == "running");
}

TEST_CASE("jobs that name their resource run there, without any scheduler",
          "[simulations][api]")
{
    api a;
    json body = json::parse(R"({
        "runs": 1, "output": {"per_job": true},
        "sites": [{"id": "s", "resources": [{"id": "CR", "n_max": 3}, {"id": "A"}]}],
        "workload": {"jobs": [
            {"id": "J1", "length_mi": 6, "resource_id": "CR"},
            {"id": "J2", "length_mi": 3, "arrival_s": 2, "resource_id": "CR"},
            {"id": "J3", "length_mi": 1, "arrival_s": 4, "resource_id": "CR"}]},
        "compare": [{"algorithm": "pinned"}, {"algorithm": "max_max"}]})");
    json answer = a.post("/v1/simulations", body.dump()).json();

    INFO(answer.dump().substr(0, 2000));
    CHECK(answer["warnings"].empty());
    for (auto &result : answer["results"]) { // a scheduler does not touch them
        REQUIRE(result["jobs"].size() == 3);
        for (auto &j : result["jobs"]) {
            double end_s = j["job_id"] == "J1" ? 10 : j["job_id"] == "J2" ? 9 : 7;
            CHECK(j["finish_s"].get<double>() == Approx(end_s).epsilon(1e-9));
            CHECK(j["resource_id"] == "CR");
        }
    }
    // Jobs that name none wait, and the answer says why.
    body["workload"]["jobs"][1].erase("resource_id");
    body["stop"] = {{"time_s", 100}};
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(mean_of(answer, 0, "jobs_done") == 2);
    CHECK(mean_of(answer, 1, "jobs_done") == 3);
    CHECK_THAT(joined(answer["warnings"]), Catch::Contains("pinned"));
    // All unknown ones at once, and options that do not exist.
    body["workload"]["jobs"][0]["resource_id"] = "nowhere";
    body["workload"]["jobs"][2]["resource_id"] = "C";
    auto p = a.post("/v1/simulations", body.dump()).pointers();
    CHECK(has(p, "/workload/jobs/0/resource_id"));
    CHECK(has(p, "/workload/jobs/2/resource_id"));
    body["compare"][0]["options"] = {{"x", 1}};
    p = a.post("/v1/simulations", body.dump()).pointers();
    CHECK(has(p, "/compare/0/options/x"));
}

TEST_CASE("what-if: resources of a snapshot fail as they did", "[simulations][api]")
{
    api a;
    json body = file_json("simulation-what-if.json");
    json answer = a.post("/v1/simulations", body.dump()).json();

    INFO(answer.dump().substr(0, 3000));
    CHECK(answer["runs_completed"] == 20);
    CHECK_THAT(joined(answer["warnings"]),
               Catch::Contains("of 1 resource a Weibull distribution (12 failures "
                               "seen), of 1 an exponential one (2 failures seen)"));
    // Without checkpoints it begins anew, without detection it may be lost.
    CHECK(mean_of(answer, 0, "failures") > 0);
    CHECK(mean_of(answer, 0, "makespan_s") > mean_of(answer, 1, "makespan_s"));
    CHECK(mean_of(answer, 1, "checkpoints_per_job") > 50);
    CHECK(mean_of(answer, 3, "jobs_lost_ratio") > 0);
    CHECK(mean_of(answer, 1, "jobs_lost_ratio") == 0);
    // Nothing known: nothing fails, and the answer says so.
    for (auto &r : body["snapshot"]["resources"])
        r = {{"id", r["id"]}, {"mips_total", r["mips_total"]}};
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(mean_of(answer, 0, "failures") == 0);
    CHECK_THAT(joined(answer["warnings"]),
               Catch::Contains("of 2 of 2 resources no history is known"));
    // Instants without repairs: up again at once.
    body["snapshot"]["resources"][0]["failure_times_s"] = {1000, 2000, 3000};
    body["now_s"] = 4000;
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK_THAT(joined(answer["warnings"]), Catch::Contains("up again at once"));
    CHECK(mean_of(answer, 0, "availability_ratio") == 1);
    // Histories that make no sense, and those at the edge.
    body["snapshot"]["resources"][0]["failure_count"] = 2.5;
    CHECK(has(a.post("/v1/simulations", body.dump()).pointers(),
              "/snapshot/resources/0/failure_count"));
    body["max_events"] = 20000;
    for (double value : {0.0, 1e-300, 1e18, 1e300}) {
        body["snapshot"]["resources"][0] = {{"id", "x"},
                                            {"observed_since_s", -value},
                                            {"uptime_total_s", value},
                                            {"failure_count", 1e15},
                                            {"failure_times_s", {-value, value, 1}}};
        CHECK(a.post("/v1/simulations", body.dump()).status == 200);
    }
}

TEST_CASE("policies meet the same runs and are ranked", "[simulations][api]")
{
    api a;
    json answer = a.post("/v1/simulations", failing().dump()).json();

    INFO(answer.dump().substr(0, 3000));
    CHECK(answer["runs_completed"] == 4);
    for (size_t i = 0; i < 3; i++) {
        CHECK(answer["results"][i]["runs"] == 4);
        CHECK(answer["results"][i]["metrics"]["jobs_submitted"] ==
              answer["results"][0]["metrics"]["jobs_submitted"]);
        CHECK(answer["results"][i]["metrics"]["jobs_done"]["ci95"].get<double>() >= 0);
        // Every metric is there, with its three figures.
        CHECK(answer["results"][i]["metrics"].size() == SIM_METRIC_COUNT);
        for (auto &m : answer["results"][i]["metrics"])
            CHECK((m.size() == 3 && m.contains("mean") && m.contains("variance") &&
                   m.contains("ci95")));
    }
    CHECK(answer["results"][0]["checkpoint"] == "periodic");
    CHECK_FALSE(answer["results"][1].contains("checkpoint"));
    CHECK(mean_of(answer, 0, "checkpoints_taken") > 0);
    CHECK(mean_of(answer, 1, "jobs_lost") > 0);
    CHECK(mean_of(answer, 2, "jobs_lost") == 0);
    double best = mean_of(answer, 0, "jobs_done");
    std::vector<std::string> ranking = answer["ranking"];
    for (size_t i = 0; i < 3; i++)
        if (answer["results"][i]["label"] == ranking[0])
            CHECK(mean_of(answer, i, "jobs_done") >= best);
    CHECK(ranking.back() == "a");
}

TEST_CASE("the same request has the same answer; another seed another one",
          "[simulations][api]")
{
    api a;
    json body = failing();
    json one = a.post("/v1/simulations", body.dump()).json();

    CHECK(comparable(one) == comparable(a.post("/v1/simulations", body.dump()).json()));
    body["seed"] = 4;
    CHECK(one["results"] != a.post("/v1/simulations", body.dump()).json()["results"]);
    // The second run is alone the first of the seed that the answer lists.
    json two = failing(), first = failing();
    two["seed"] = 3, two["runs"] = 2;
    json played = a.post("/v1/simulations", two.dump()).json();
    CHECK(played["seeds"][0] == 3);
    CHECK(played["seeds"][1].get<uint64_t>() > 1000);
    CHECK(played["seeds"].size() == 2);
    first["seed"] = played["seeds"][1], first["runs"] = 1;
    json only = failing();
    only["runs"] = 1;
    double both = mean_of(played, 1, "submitted_mi");
    CHECK(both == Approx((mean_of(a.post("/v1/simulations", first.dump()).json(), 1,
                                  "submitted_mi") +
                          mean_of(a.post("/v1/simulations", only.dump()).json(), 1,
                                  "submitted_mi")) /
                         2)
                      .epsilon(1e-9));
    two["seed_scheme"] = "sequence";
    CHECK(a.post("/v1/simulations", two.dump()).json()["seeds"] == json({3, 4}));
}

TEST_CASE("jobs of several processors are refused by a grid of slots",
          "[simulations][api]")
{
    api a;
    json body = d1();

    body["workload"]["jobs"][1]["cpus"] = 84;
    api_reply r = a.post("/v1/simulations", body.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/workload/jobs/1/cpus"});
    body["ignore_width"] = true;
    json answer = a.post("/v1/simulations", body.dump()).json();
    CHECK_THAT(joined(answer["warnings"]), Catch::Contains("width_ignored: 1 job"));
    CHECK(mean_of(answer, 0, "jobs_done") == 3);
}

TEST_CASE("a generator that is stopped by the limit says so", "[simulations][api]")
{
    api a;
    json body = d1();

    body.erase("output");
    body["stop"]["time_s"] = 20000;
    body["scheduler"]["interval_s"] = 100000;
    body["workload"] = {
        {"generator", "poisson"}, {"length_mi", 1}, {"arrival_gap_s", 0.01}};
    json answer = a.post("/v1/simulations", body.dump()).json();
    INFO(answer.dump().substr(0, 2000));
    CHECK(answer["status"] == "cut");
    CHECK_THAT(joined(answer["warnings"]), Catch::Contains("workload_truncated"));
    CHECK(mean_of(answer, 0, "jobs_submitted") == 200000);
    // The figures are of 2000 s, not of the 20000 that were asked for.
    double end_s = 0;
    std::string warning = joined(answer["warnings"]);
    size_t at = warning.find("the first at ");
    REQUIRE(at != std::string::npos);
    end_s = std::stod(warning.substr(at + 13));
    CHECK(end_s == Approx(2000.01));
    CHECK_THAT(warning, Catch::Contains("1 of 1 run ended"));
    json shorter = body;
    shorter["stop"]["time_s"] = end_s;
    json same = a.post("/v1/simulations", shorter.dump()).json();
    CHECK(same["status"] == "feasible");
    CHECK(same["results"][0]["metrics"] == answer["results"][0]["metrics"]);
    // What would come is no matter when the end is asked for before it.
    body["stop"]["time_s"] = 1999;
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(answer["status"] == "feasible");
    body["stop"]["time_s"] = 20000;
    body["workload"]["job_count"] = 1000; // as many as were asked for
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(answer["status"] == "feasible");
}

TEST_CASE("bursts keep the stated mean time between failures", "[simulations][api]")
{
    api a;
    const double end_s = 2e8;
    json body = json::parse(R"({
        "runs": 1, "seed": 2, "scheduler": {"interval_s": 1e8},
        "failure_groups": [{"id": "g", "burst_probability": 0.5}],
        "sites": [{"id": "s", "resources": [{"number": 8, "failure_group": "g",
            "failure": {"distribution": "exponential", "mean": 100000},
            "restore": 1000}]}],
        "workload": {"jobs": [{"id": "j", "arrival_s": 0, "length_mi": 1}]},
        "compare": [{"algorithm": "fjbcr"}]})");

    body["stop"]["time_s"] = end_s;
    json answer = a.post("/v1/simulations", body.dump()).json();
    INFO(answer.dump().substr(0, 2000));
    double kept = 8 * end_s / mean_of(answer, 0, "failures");
    CHECK(kept == Approx(101000).epsilon(0.04));
    body["failure_groups"][0]["burst_rate"] = "added";
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(8 * end_s / mean_of(answer, 0, "failures") < 30000);
}

TEST_CASE("max_events cuts at the same event every time", "[simulations][api]")
{
    api a;
    json body = failing();
    json whole = a.post("/v1/simulations", body.dump()).json();
    size_t events = whole["events_executed"];

    body["max_events"] = events / 2;
    json cut = a.post("/v1/simulations", body.dump()).json();
    CHECK(cut["status"] == "cut");
    CHECK(cut["runs_completed"] > 0);
    CHECK(cut["runs_completed"] < 4);
    CHECK(cut["events_executed"] <= events / 2);
    CHECK_THAT(joined(cut["warnings"]), Catch::Contains("max_events"));
    CHECK(comparable(cut) == comparable(a.post("/v1/simulations", body.dump()).json()));
    body["max_events"] = 10;
    cut = a.post("/v1/simulations", body.dump()).json();
    CHECK(cut["status"] == "cut");
    CHECK(cut["runs_completed"] == 0);
    CHECK(cut["ranking"].empty());
    CHECK(cut["results"][0]["metrics"]["jobs_done"]["mean"].is_null());
}

TEST_CASE("a scenario that would never end is stopped and says so", "[simulations][api]")
{
    api a;
    json body = d1();

    body["runs"] = 2;
    body.erase("stop"); // until all jobs are done, which takes longer than a failure
    body["compare"][0]["algorithm"] = "migration";
    body["sites"][0]["resources"] =
        json::parse(R"([{"id": "CR1", "failure": 100, "restore": 10}])");
    body["max_events"] = 20000;
    json answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(answer["status"] == "cut");
    CHECK(answer["runs_completed"] == 0);
    CHECK_THAT(joined(answer["warnings"]), Catch::Contains("may never end"));
}

TEST_CASE("the clock cuts, and what is complete is the answer", "[simulations][api]")
{
    api a;
    json body = failing();

    body["time_limit_s"] = 1e-9;
    json answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(answer["status"] == "cut");
    CHECK(answer["runs_completed"] == 0);
    CHECK_THAT(joined(answer["warnings"]), Catch::Contains("respond-async"));
}

TEST_CASE("a job that no resource can do in time is warned of", "[simulations][api]")
{
    api a;
    json body = d1();

    body["workload"]["jobs"][0]["length_mi"] = 1e6;
    json answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(answer["status"] == "feasible");
    CHECK_THAT(joined(answer["warnings"]), Catch::Contains("too_long"));
    CHECK(mean_of(answer, 0, "jobs_done") < 3);
}

TEST_CASE("outages, load traces and failure groups are played", "[simulations][api]")
{
    api a;
    json body = file_json("simulation-jobs.json");
    json answer = a.post("/v1/simulations", body.dump()).json();

    INFO(answer.dump().substr(0, 3000));
    // Tests D3 and D2 of the spec.
    CHECK(mean_of(answer, 0, "jobs_done") == 1);
    CHECK(mean_of(answer, 0, "jobs_lost") == 2);
    CHECK(mean_of(answer, 1, "jobs_done") == 3);
    CHECK(mean_of(answer, 1, "processed_mi") == Approx(2880).epsilon(1e-9));
    CHECK(answer["results"][0]["log"].size() > 5);
    for (const auto &line : answer["results"][0]["log"]) {
        bool is_job = line["event"].get<std::string>().rfind("Job.", 0) == 0;

        if (is_job)
            CHECK(line["job_number"].get<double>() >= 1);
        if (line["event"].get<std::string>().rfind("CR.", 0) == 0)
            CHECK(line["job_number"].is_null());
        if (line["job_number"].is_number())
            CHECK(line["job_number"].get<double>() < 9007199254740992.0);
    }
    CHECK(answer["results"][0]["resources"].size() == 2);
    body["output"]["log_rows_max"] = 3;
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(answer["results"][0]["log"].size() == 3);
    body.erase("output");
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK_FALSE(answer["results"][0].contains("log"));
    CHECK_FALSE(answer["results"][0].contains("jobs"));
}

TEST_CASE("mistakes in a scenario come all at once", "[simulations][api]")
{
    api a;
    json body = json::parse(R"({
        "runs": 21, "seed": -1, "stop": {"time_s": -5},
        "failure_groups": [{"id": "g", "burst_probability": 2}],
        "sites": [{"id": "s", "resources": [{"number": 0, "mips_total": -1, "n_max": 0}]},
                  {"id": "s", "resources": []}],
        "workload": {"generator": "lublinn", "jobs": [{"length_mi": -1}]},
        "compare": [{"algorithm": "fcfs", "options": 5}, {"label": "x"}],
        "outputs": {}})");
    api_reply r = a.post("/v1/simulations", body.dump());

    INFO(r.body);
    CHECK(r.status == 422);
    auto p = r.pointers();
    for (const char *pointer :
         {"/runs", "/seed", "/stop/time_s", "/failure_groups/0/burst_probability",
          "/sites/0/resources/0/number", "/sites/0/resources/0/n_max", "/sites/1/id",
          "/workload/generator", "/workload/jobs/0/length_mi", "/compare/0/options",
          "/compare/1/algorithm", "/outputs"})
        CHECK(has(p, pointer));
}

TEST_CASE("what the tables cannot see is checked too", "[simulations][api]")
{
    api a;
    struct {
        const char *when;
        const char *patch; // a merge patch on d1()
        const char *pointer;
    } cases[] = {
        {"no grid", R"({"sites": null})", "/sites"},
        {"an empty grid", R"({"sites": []})", "/sites"},
        {"a site without resources", R"({"sites": [{"id": "s", "resources": []}]})",
         "/sites"},
        {"too many resources",
         R"({"sites": [{"id": "s", "resources": [{"number": 1999}, {"number": 2}]}]})",
         "/sites"},
        {"no policy", R"({"compare": []})", "/compare"},
        {"an unknown policy", R"({"compare": [{"algorithm": "fcsf"}]})",
         "/compare/0/algorithm"},
        {"an unknown option",
         R"({"compare": [{"algorithm": "wqr", "options": {"nonsense": 1}}]})",
         "/compare/0/options/nonsense"},
        {"an unknown checkpoint policy",
         R"({"compare": [{"algorithm": "migration", "checkpoint": {"algorithm": "x"}}]})",
         "/compare/0/checkpoint/algorithm"},
        {"an unknown checkpoint option",
         R"({"compare": [{"algorithm": "fcfs", "checkpoint":
             {"algorithm": "periodic", "options": {"x": 1}}}]})",
         "/compare/0/checkpoint/options/x"},
        {"two checkpoint policies",
         R"({"compare": [{"algorithm": "young", "checkpoint": {"algorithm": "daly"}}]})",
         "/compare/0/checkpoint"},
        {"a label twice",
         R"({"compare": [{"algorithm": "fcfs"}, {"algorithm": "fcfs"}]})",
         "/compare/1/label"},
        {"a vm policy for jobs", R"({"compare": [{"algorithm": "full_fill"}]})",
         "/compare/0/algorithm"},
        {"a failure that ends before it starts",
         R"({"sites": [{"id": "s", "resources": [{"outages": [{"down_s": 5, "up_s": 4}]}]}]})",
         "/sites/0/resources/0/outages/0/up_s"},
        {"outages of many",
         R"({"sites": [{"id": "s", "resources": [{"number": 2, "outages": [{"down_s": 5}]}]}]})",
         "/sites/0/resources/0/outages"},
        {"failures without repair",
         R"({"sites": [{"id": "s", "resources": [{"failure": 5}]}]})",
         "/sites/0/resources/0/restore"},
        {"an unknown failure group",
         R"({"sites": [{"id": "s", "resources": [{"failure_group": "g"}]}]})",
         "/sites/0/resources/0/failure_group"},
        {"a distribution without its parameter",
         R"({"sites": [{"id": "s", "resources": [{"mips_total": {"distribution": "uniform",
             "l_bound": 1}}]}]})",
         "/sites/0/resources/0/mips_total/u_bound"},
        {"an unknown preset", R"({"preset": "ch4_hihg_90"})", "/preset"},
        {"an unknown workload", R"({"workload": {"preset": "x", "jobs": null}})",
         "/workload/preset"},
        {"no jobs at all", R"({"workload": null})", "/workload"},
        {"jobs and a generator", R"({"workload": {"generator": "poisson"}})",
         "/workload/jobs"},
        {"swf without a log", R"({"workload": {"generator": "swf", "jobs": null}})",
         "/workload_id"},
        {"an immediate service with an interval",
         R"({"information_service": {"mode": "immediate", "interval_s": 5}})",
         "/information_service/interval_s"},
        {"sites and a snapshot", R"({"snapshot": {"resources": [{"id": "a"}]}})",
         "/sites"},
        {"a snapshot that is not there",
         R"({"sites": null, "resources_from_snapshot": true})", "/snapshot"},
        {"a load trace that goes back",
         R"({"sites": [{"id": "s", "resources": [{"load_trace": [
             {"at_s": 5, "mips_external": 0}, {"at_s": 4, "mips_external": 0}]}]}]})",
         "/sites/0/resources/0/load_trace/1/at_s"},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            json body = d1();
            body.merge_patch(json::parse(c.patch));
            api_reply r = a.post("/v1/simulations", body.dump());
            INFO(body.dump() << "\n" << r.body);
            CHECK(r.status == 422);
            CHECK(has(r.pointers(), c.pointer));
        }
}

TEST_CASE("numbers at the edge are answered or refused, never worse",
          "[simulations][api]")
{
    api a;
    json values = {0, -0.0, 1e-300, 1e11, 1e18, 1e308, -1};
    const char *places[] = {
        "/sites/0/resources/0/mips_total", "/stop/time_s",
        "/workload/jobs/0/length_mi",      "/scheduler/interval_s",
        "/workload/jobs/0/arrival_s",      "/stable_after_s",
        "/sites/0/resources/0/failure",    "/sites/0/resources/0/restore"};
    for (auto place : places)
        for (auto &value : values) {
            json body = d1();
            body["max_events"] = 3000;
            if (std::string(place).find("failure") != std::string::npos)
                body["sites"][0]["resources"][0]["restore"] = 1;
            if (std::string(place).find("restore") != std::string::npos)
                body["sites"][0]["resources"][0]["failure"] = 100;
            body[json::json_pointer(place)] = value;
            api_reply r = a.post("/v1/simulations", body.dump());
            INFO(place << " " << value << "\n" << r.body.substr(0, 1000));
            CHECK((r.status == 200 || r.status == 422));
        }
}

TEST_CASE("a snapshot can be the grid", "[simulations][api]")
{
    api a;
    json body = d1();

    body.erase("sites");
    body["snapshot"] = json::parse(
        R"({"resources": [{"id": "CR1", "site_id": "x", "mips_total": 1, "n_max": 2, "sharing": "equal"},
                          {"id": "CR2", "site_id": "x", "mips_total": 2, "n_max": 2, "sharing": "equal"}]})");
    json answer = a.post("/v1/simulations", body.dump()).json();
    INFO(answer.dump().substr(0, 2000));
    CHECK(mean_of(answer, 0, "job_turnaround_s") == Approx(706.6666667).epsilon(1e-6));
    CHECK(answer["warnings"].size() == 1); // nothing fails, as nothing is known
    CHECK_THAT(joined(answer["warnings"]), Catch::Contains("no history is known"));
    body["snapshot"]["resources"][0]["sharing"] = "slots";
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK_THAT(joined(answer["warnings"]), Catch::Contains("slots"));
}

TEST_CASE("presets are scenarios that the request overrides", "[simulations][api]")
{
    api a;
    json body = file_json("simulation-preset.json");
    json answer = a.post("/v1/simulations", body.dump()).json();

    INFO(answer.dump().substr(0, 2000));
    CHECK(answer["runs_completed"] == 2);
    CHECK(mean_of(answer, 0, "simulated_s") == Approx(86400).epsilon(1e-6));
    CHECK(mean_of(answer, 0, "jobs_submitted") > 10);
    body["workload"] = {{"generator", "simple_daily"}, {"job_count", 25}};
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(mean_of(answer, 0, "jobs_submitted") == 25);
}

TEST_CASE("without a database simulations need a client", "[simulations][api]")
{
    api a;
    api_reply r =
        a.call("POST", "/v1/simulations", d1().dump(), {{"prefer", "respond-async"}});

    CHECK(r.status == 503);
    CHECK_THAT(r.body,
               Catch::Contains("without a database") && Catch::Contains("respond-async"));
    CHECK(a.get("/v1/simulations").status == 503);
    json body = d1();
    body["workload_id"] = "x";
    body.erase("workload");
    CHECK(a.post("/v1/simulations", body.dump()).status == 503);
}

TEST_CASE("a simulation with little memory fails in order", "[simulations][memory]")
{
    api a;
    std::string body = d1().dump();
    int status = 0;

    for (size_t cap = 0; status != 200 && cap < (size_t{1} << 26);
         cap = cap ? cap * 5 / 4 : 1024) {
        api_reply r = a.call("POST", "/v1/simulations", body, {}, cap);
        status = r.status;
        INFO(cap << " " << r.body.substr(0, 500));
        REQUIRE((status == 200 || status == 413 || status == 503));
    }
    CHECK(status == 200);
}

TEST_CASE("uploads are checked before anything is stored", "[simulations][api]")
{
    api a;

    CHECK(a.call("POST", "/v1/workloads", "x", {{"content_type", "application/json"}})
              .status == 415);
    CHECK(a.call("POST", "/v1/workloads", "no swf\n", {{"content_type", "text/plain"}})
              .status == 422);
    CHECK(a.call("POST", "/v1/workloads", "", {{"content_type", "text/plain"}}).status ==
          422);
    CHECK(a.call("POST", "/v1/workloads?id=a/b", "", {{"content_type", "text/plain"}})
              .status == 422);
    CHECK(a.call("POST", "/v1/failure-traces", "x\n", {{"content_type", "text/plain"}})
              .pointers() == std::vector<std::string>{"?/format"});
    CHECK(a.call("POST", "/v1/failure-traces?format=fta", "x\n",
                 {{"content_type", "text/plain"}})
              .status == 422);
    // What is right, and only then the database that is missing.
    CHECK(a.call("POST", "/v1/workloads", "1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n",
                 {{"content_type", "text/plain"}})
              .status == 503);
}

// ---- with a database ----

namespace
{
const std::map<std::string, std::string> AS_TEXT = {{"content_type", "text/plain"}};

// The service with its thread for simulations.
struct live : api {
    background *b = nullptr;

    live() : api(test_database_url())
    {
        background_options options{};
        error err{};
        db_session *s;
        test_arena a;

        s = db_session_create(handle()->db, nullptr, a);
        REQUIRE(db_execute(s,
                           "DELETE FROM simulation; DELETE FROM workload;"
                           "DELETE FROM failure_trace",
                           &err) == OK);
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
    api_reply post_async(const json &body, const std::string &prefer = "respond-async")
    {
        return call("POST", "/v1/simulations", body.dump(), {{"prefer", prefer}});
    }
    json wait_for(const std::string &location, const std::string &status)
    {
        for (int i = 0; i < 6000; i++) {
            json now = get(location).json();
            if (now["status"] == status)
                return now;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        FAIL(get(location).body);
        return {};
    }
};

// Jobs that are never done, on machines that fail for thousands of years.
json endless()
{
    json body = failing();
    body["stop"]["time_s"] = 1e11;
    body["max_events"] = 9e15;
    body["runs"] = 20;
    body["workload"] = {{"jobs", json::array()}};
    for (int i = 0; i < 8; i++)
        body["workload"]["jobs"].push_back({{"arrival_s", i}, {"length_mi", 1e14}});
    body["compare"] = json::parse(R"([{"algorithm": "migration"}])");
    return body;
}
} // namespace

TEST_CASE("a simulation without a client has the same result as one with",
          "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    json body = failing();
    body["name"] = "mine";
    api_reply r = a.post_async(body);

    INFO(r.body);
    REQUIRE(r.status == 202);
    CHECK(r.headers["Preference-Applied"] == "respond-async");
    CHECK(r.headers["Retry-After"] == "1");
    CHECK(r.json()["name"] == "mine");
    CHECK(r.json()["kind"] == "stored");
    CHECK(r.json()["simulates"] == "grid");
    std::string location = r.headers["Location"];
    CHECK(location == "/v1/simulations/" + r.json()["id"].get<std::string>());
    json end = a.wait_for(location, "done");
    CHECK(end["progress_ratio"] == 1);
    CHECK(end["runs_completed"] == 4);
    CHECK(end["attempt_count"] == 1);
    json direct = a.post("/v1/simulations", body.dump()).json();
    CHECK(comparable(end["result"]) == comparable(direct));
    CHECK(end["events_executed"] == direct["events_executed"]);
    // It is in the list, without its result, and can be deleted once.
    json list = a.get("/v1/simulations?status=done").json()["items"];
    REQUIRE(list.size() == 1);
    CHECK(list[0]["id"] == end["id"]);
    CHECK(list[0]["kind"] == "stored");
    CHECK(list[0]["simulates"] == "grid");
    CHECK(end["kind"] == "stored");
    CHECK(end["result"]["kind"] == "grid");
    CHECK(a.get("/v1/simulations?simulates=grid").json()["items"].size() == 1);
    CHECK(a.get("/v1/simulations?simulates=queue").json()["items"].empty());
    CHECK(a.get("/v1/simulations?simulates=grd").status == 422);
    CHECK_FALSE(list[0].contains("result"));
    CHECK(a.call("DELETE", location).status == 204);
    CHECK(a.call("DELETE", location).status == 404);
    CHECK(a.get(location).status == 404);
    CHECK(a.get("/v1/simulations/no-uuid").status == 404);
}

TEST_CASE("who waits gets the answer at once if it is there in time", "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    api_reply r = a.post_async(d1(), "respond-async, wait=30");

    INFO(r.body);
    CHECK(r.status == 200);
    CHECK(r.json()["results"].size() == 1);
    CHECK(a.wait_for(r.headers["Location"], "done")["result"] == r.json());
    r = a.post_async(endless(), "respond-async, wait=1");
    CHECK(r.status == 202);
    CHECK(a.call("DELETE", r.headers["Location"]).status == 202);
    a.wait_for(r.headers["Location"], "cancelled");
}

TEST_CASE("a running simulation is watched and cancelled", "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    std::string location = a.post_async(endless()).headers["Location"];
    json now;

    do
        now = a.wait_for(location, "running");
    while (now["events_executed"] == 0);
    CHECK(now["progress_ratio"] < 1);
    api_reply r = a.call("DELETE", location);
    CHECK((r.status == 202 && r.json()["cancel_requested"] == true));
    now = a.wait_for(location, "cancelled");
    CHECK(now["result"]["status"] == "cut");
    CHECK(now["result"]["runs_completed"] == 0);
    CHECK(a.call("DELETE", location).status == 204);
}

TEST_CASE("bad scenarios are refused before they are queued", "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    json body = d1();

    body["compare"][0]["algorithm"] = "nothing";
    CHECK(a.post_async(body).status == 422);
    body = d1();
    body.erase("workload");
    body["workload_id"] = "nothing";
    body["failure_trace_id"] = "nothing";
    CHECK(a.post_async(body).pointers() == std::vector<std::string>{"/workload_id"});
    CHECK(a.get("/v1/simulations").json()["items"].empty());
}

TEST_CASE("what goes wrong without a client is told", "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    json body = d1();
    body.erase("workload");
    body["workload_id"] = "log";

    a.call("POST", "/v1/workloads?id=log", "1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n",
           AS_TEXT);
    // It is deleted before anybody takes it up: nobody does while draining.
    __atomic_store_n(&a.handle()->draining, true, __ATOMIC_RELAXED);
    std::string location = a.post_async(body).headers["Location"];
    CHECK(a.call("DELETE", "/v1/workloads/log").status == 204);
    __atomic_store_n(&a.handle()->draining, false, __ATOMIC_RELAXED);
    json end = a.wait_for(location, "failed");
    CHECK(end["error"]["status"] == 409);
    CHECK_THAT(end["error"].dump(), Catch::Contains("/workload_id"));
}

TEST_CASE("a simulation keeps the snapshot as it was when it was queued",
          "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    json body = d1();
    std::string name = "grid" + std::to_string(getpid());
    body.erase("sites");
    body["snapshot_id"] = name;

    json snapshot = json::parse(R"({"resources": [{"id": "CR1", "mips_total": 1}]})");
    REQUIRE(a.post("/v1/snapshots?id=" + name, snapshot.dump()).status == 201);
    json direct = a.post("/v1/simulations", body.dump()).json();
    __atomic_store_n(&a.handle()->draining, true, __ATOMIC_RELAXED);
    std::string location = a.post_async(body).headers["Location"];
    CHECK(a.call("DELETE", "/v1/snapshots/" + name).status == 204);
    __atomic_store_n(&a.handle()->draining, false, __ATOMIC_RELAXED);
    CHECK(a.wait_for(location, "done")["result"]["results"] == direct["results"]);
}

TEST_CASE("an Idempotency-Key queues a simulation once", "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    std::string key = "k" + std::to_string(getpid());
    auto post = [&] {
        return a.call("POST", "/v1/simulations", d1().dump(),
                      {{"prefer", "respond-async, wait=5"}, {"idempotency_key", key}});
    };
    api_reply one = post(), two = post();

    CHECK(one.status == 202);
    CHECK(two.status == 202);
    CHECK(one.headers["Location"] == two.headers["Location"]);
    a.wait_for(one.headers["Location"], "done");
    CHECK(a.get("/v1/simulations").json()["items"].size() == 1);
}

TEST_CASE("a log in Standard Workload Format is stored and simulated",
          "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    std::string swf = "; Computer: test\n; MaxProcs: 4\n"
                      "1 0 0 100 1 -1 -1 1 200 -1 1 1 1 1 1 1 -1 -1\n"
                      "2 10 0 50 1 -1 -1 1 60 -1 1 2 1 1 1 1 -1 -1\n"
                      "rubbish\n"
                      "3 20 0 -1 1 -1 -1 1 60 -1 1 2 1 1 1 1 -1 -1\n";
    api_reply r = a.call("POST", "/v1/workloads?id=log", swf, AS_TEXT);

    INFO(r.body);
    REQUIRE(r.status == 201);
    CHECK(r.headers["Location"] == "/v1/workloads/log");
    json info = r.json();
    CHECK(info["job_count"] == 2);
    CHECK(info["skipped_count"] == 2);
    CHECK(info["line_count"] == 6);
    CHECK(info["document_bytes"] == swf.size());
    CHECK(info["summary"]["computer"] == "test");
    CHECK(info["summary"]["skipped"].size() == 2);
    CHECK(info["summary"]["first_skipped"][0]["line"] == 5);
    CHECK(a.call("POST", "/v1/workloads?id=log", swf, AS_TEXT).status == 409);
    CHECK(a.get("/v1/workloads/log").json() == info);
    CHECK(a.get("/v1/workloads/log/document").body == swf);
    CHECK(a.get("/v1/workloads").json()["items"].size() == 1);
    json body = d1();
    body.erase("workload");
    body.erase("stop");
    body["workload_id"] = "log";
    json answer = a.post("/v1/simulations", body.dump()).json();
    INFO(answer.dump().substr(0, 2000));
    CHECK(mean_of(answer, 0, "jobs_done") == 2);
    CHECK(mean_of(answer, 0, "submitted_mi") == Approx(150).epsilon(1e-9));
    body["workload"] = {{"job_count", 1}, {"swf_mips", 2}};
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(mean_of(answer, 0, "submitted_mi") == Approx(200).epsilon(1e-9));
    CHECK(a.call("DELETE", "/v1/workloads/log").status == 204);
    CHECK(a.get("/v1/workloads/log").status == 404);

    test_arena space;
    const char *packed;
    size_t length;
    std::string large;
    for (int i = 0; i < 2000; i++)
        large += std::to_string(i + 1) + " " + std::to_string(i) +
                 " 0 100 1 -1 -1 1 200 -1 1 1 1 1 1 1 -1 -1\n";
    REQUIRE(gzip_deflate(large.data(), large.size(), &packed, &length, space));
    r = a.call(
        "POST", "/v1/workloads", std::string(packed, length),
        {{"content_type", "application/octet-stream"}, {"content_encoding", "gzip"}});
    CHECK(r.status == 201);
    CHECK(r.json()["job_count"] == 2000);
    CHECK(a.get(r.headers["Location"] + "/document").body == large);
}

TEST_CASE("a log has so many lines, and no more", "[simulations][api]")
{
    api a;
    std::string lines(20000001, '\n');
    api_reply r = a.call("POST", "/v1/workloads", lines, AS_TEXT);

    CHECK(r.status == 413);
    CHECK(r.body.find("more than 20000000 lines") != std::string::npos);
    lines.pop_back();
    r = a.call("POST", "/v1/workloads", lines, AS_TEXT);
    CHECK(r.status == 422); // none is a job
}

// Jobs of an SWF log that needs more than one piece; the last lines are not in order.
static std::string long_log(size_t *jobs)
{
    std::string text = "; MaxProcs: 8\n";

    for (*jobs = 0; text.size() < 2 * STORE_PIECE_BYTES + 1000; ++*jobs)
        text += std::to_string(*jobs + 1) + " " + std::to_string(*jobs * 20) +
                " -1 100 1 -1 -1 1 200 -1 1 " + std::to_string(*jobs % 7) +
                " 1 1 1 1 -1 -1\n";
    text += "999999 5 -1 7 1 -1 -1 1 200 -1 1 1 1 1 1 1 -1 -1\nrubbish\n";
    ++*jobs;
    return text;
}

TEST_CASE("a long log is stored in pieces, packed or not", "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    test_arena space;
    size_t jobs, length;
    const char *packed;
    std::string swf = long_log(&jobs);
    api_reply r = a.call("POST", "/v1/workloads?id=long", swf,
                         {{"content_type", "text/plain"}, {"idempotency_key", "long-1"}});

    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 201);
    json info = r.json();
    CHECK(info["job_count"] == jobs);
    CHECK(info["skipped_count"] == 1);
    CHECK(info["document_bytes"] == swf.size());
    CHECK(info["summary"]["first_submit_s"] == 0);
    CHECK(info["summary"]["warnings"].size() == 2);
    CHECK(a.get("/v1/workloads/long").json() == info);
    CHECK(a.get("/v1/workloads").json()["items"][0]["document_bytes"] == swf.size());
    CHECK(a.get("/v1/workloads/long/document").body == swf);
    r = a.call("GET", "/v1/workloads/long/document", "", {}, STORE_PIECE_BYTES);
    CHECK(r.status == 413);
    CHECK(r.body.find("GRIDPLAN_REQUEST_MEMORY_BYTES") != std::string::npos);
    // The same again is answered from what was kept; another is no retry.
    r = a.call("POST", "/v1/workloads?id=long", swf,
               {{"content_type", "text/plain"}, {"idempotency_key", "long-1"}});
    CHECK(r.status == 201);
    CHECK(r.headers["Idempotency-Replayed"] == "true");
    r = a.call("POST", "/v1/workloads?id=long", swf + "\n",
               {{"content_type", "text/plain"}, {"idempotency_key", "long-1"}});
    CHECK(r.status == 422);

    REQUIRE(gzip_deflate(swf.data(), swf.size(), &packed, &length, space));
    r = a.call("POST", "/v1/workloads?id=packed", std::string(packed, length),
               {{"content_type", "text/plain"}, {"content_encoding", "gzip"}});
    REQUIRE(r.status == 201);
    CHECK(r.json()["summary"] == info["summary"]);
    CHECK(a.get("/v1/workloads/packed/document").body == swf);
    CHECK(a.get("/v1/workloads/packed/summary").json()["weeks"] ==
          a.get("/v1/workloads/long/summary").json()["weeks"]);
    r = a.call("POST", "/v1/workloads?id=cut", std::string(packed, length - 100),
               {{"content_type", "text/plain"}, {"content_encoding", "gzip"}});
    CHECK(r.status == 400);
    CHECK(r.body.find("cut short") != std::string::npos);
    CHECK(a.get("/v1/workloads/cut").status == 404);

    // Simulations read it as they read a text.
    json by_id = {{"kind", "queue"},
                  {"policies", {"fcfs", "easy"}},
                  {"workload_id", "long"},
                  {"time_limit_s", 300}};
    json by_text = by_id;
    by_text.erase("workload_id");
    by_text["swf"] = swf;
    json one = a.post("/v1/simulations", by_id.dump()).json();
    json two = a.post("/v1/simulations", by_text.dump()).json();
    CHECK(one["job_count"] == jobs);
    CHECK(one["results"] == two["results"]);
    CHECK(one["skipped"] == two["skipped"]);

    json grid = d1();
    grid.erase("workload");
    grid.erase("stop");
    grid["workload_id"] = "long";
    grid["workload"] = {{"job_count", 2}};
    grid["time_limit_s"] = 300;
    CHECK(mean_of(a.post("/v1/simulations", grid.dump()).json(), 0, "jobs_done") == 2);

    for (const char *name : {"long", "packed"})
        CHECK(a.call("DELETE", std::string("/v1/workloads/") + name).status == 204);
    CHECK(a.get("/v1/workloads/long/document").status == 404);
}

TEST_CASE("a stored log and stored failures are played on a cluster", "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    std::string swf = "; MaxProcs: 16\n"
                      "1 0 0 100 6 -1 -1 6 200 -1 1 1 1 1 1 1 -1 -1\n"
                      "2 10 0 50 1 -1 -1 1 40 512 1 2 1 1 1 1 -1 -1\n"
                      "rubbish\n"
                      "9 20 0 30 40 -1 -1 40 60 -1 1 2 1 1 1 2 1 -1\n"
                      "4 30 0 30 2 -1 -1 2 -1 -1 1 2 1 1 1 2 -1 -1\n";
    REQUIRE(a.call("POST", "/v1/workloads?id=log", swf, AS_TEXT).status == 201);
    json body = {
        {"kind", "cluster"},
        {"workload_id", "log"},
        {"cluster",
         {{"resources",
           {{{"id", "n"}, {"number", 2}, {"cpus", 4}}, {{"id", "m"}, {"cpus", 2}}}}}},
        {"compare", {{{"queue", {{"algorithm", "easy"}}}}}},
        {"output", {{"per_job", true}}}};
    api_reply r = a.post("/v1/simulations", body.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/workload_id"});
    CHECK_THAT(r.body, Catch::Contains("1 job is wider") && Catch::Contains("number 9;"));
    body["wide_jobs"] = "drop";
    json answer = a.post("/v1/simulations", body.dump()).json();
    INFO(answer.dump(1).substr(0, 9000));
    const json &jobs = answer["results"][0]["jobs"];
    CHECK(answer["refused_count"] == 1);
    REQUIRE(jobs.size() == 3);
    // 6 processors on nodes of 4: 2 nodes of 3; 1 on the smallest; 2 likewise
    CHECK(jobs[0]["resource_ids"] == json({"n1", "n2"}));
    CHECK(jobs[0]["cpus"] == 3);
    CHECK(jobs[0]["number"] == 1);
    CHECK(jobs[1]["resource_id"] == "n1"); // fewest free cpus first
    CHECK(jobs[2]["number"] == 4);
    CHECK(jobs[2]["resource_id"] == "m");
    for (std::string code : {"skipped", "never_fits", "run_time_defaulted",
                             "requested_raised", "memory_ignored", "partition_ignored"})
        CHECK_THAT(joined(answer["warnings"]), Catch::Contains(code + ":"));
    body["cut_at_request"] = true;
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(answer["results"][0]["jobs"][1]["state"] == "killed");
    CHECK(answer["results"][0]["jobs"][1]["finish_s"] == 50);
    body["swf_map"] = "node";
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(answer["refused_count"] == 2);
    CHECK(answer["results"][0]["jobs"][0]["nodes"] == 1);

    // n2 is down from 20 to 60 s of the trace, which begins at its first failure.
    std::string trace = "# a comment\n"
                        "1 0 1 1 n1 0 1000 1001 5\n"
                        "2 0 2 1 n2 0 1020 1060 5\n";
    r = a.call("POST", "/v1/failure-traces?id=t&format=fta", trace, AS_TEXT);
    if (r.status == 201) {
        body["swf_map"] = "pack";
        body["failure_trace_id"] = "t";
        answer = a.post("/v1/simulations", body.dump()).json();
        INFO(answer.dump(1).substr(0, 3000));
        CHECK_THAT(joined(answer["warnings"]),
                   Catch::Contains("2 of 3 nodes fail, by their names"));
        CHECK(answer["results"][0]["metrics"]["failure_killed_count"]["mean"] > 0);
    }
    CHECK(r.status == 201);

    // What was asked for is played with the upload as it was.
    body["store"] = true;
    answer = a.post("/v1/simulations", body.dump()).json();
    std::string replay =
        "/v1/decisions/" + answer["decision_id"].get<std::string>() + "/replay";
    CHECK(a.post(replay, "{}").json()["identical"] == true);
    a.call("DELETE", "/v1/workloads/log");
    CHECK(a.post(replay, "{}").status == 409);
}

TEST_CASE("a failure trace is stored and laid over the resources", "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    std::string text = "# event_id component_id node_id platform_id node_name event_type "
                       "event_start_time event_stop_time event_end_reason\n"
                       "0 0 0 1 s-2 1 0.0 200.0 NULL\n"
                       "0 0 0 1 s-2 0 200.0 700.0 NULL\n"
                       "0 0 0 1 s-2 0 9000.0 9400.0 NULL\n"
                       "0 0 0 1 elsewhere 0 100.0 NULL NULL\n"
                       "0 0 0 1 s-2 0 900.0 800.0 NULL\n";
    api_reply r = a.call("POST", "/v1/failure-traces?id=t", text,
                         {{"content_type", "text/tab-separated-values"}});
    INFO(r.body);
    REQUIRE(r.status == 201);
    CHECK(r.json()["format"] == "fta");
    CHECK(r.json()["skipped_count"] == 1);
    CHECK(r.json()["summary"]["open_count"] == 1);
    CHECK(r.json()["summary"]["resource_count"] == 2);
    CHECK(r.json()["failure_count"] == 3);
    CHECK(a.get("/v1/failure-traces/t/document").body == text);
    json body = failing();
    body["sites"][0]["resources"][0].erase("failure");
    body["sites"][0]["resources"][0].erase("restore");
    body["failure_trace_id"] = "t";
    json answer = a.post("/v1/simulations", body.dump()).json();
    INFO(answer.dump().substr(0, 2000));
    // The run begins with the trace's first failure: s-2 is down from 100 and 8900 on.
    CHECK(mean_of(answer, 0, "failures") == 2);
    CHECK(mean_of(answer, 0, "availability_ratio") ==
          Approx(1 - 900.0 / 4 / 40000).epsilon(1e-9));
    CHECK_THAT(joined(answer["warnings"]), Catch::Contains("by their names"));
    body["failure_trace_from"] = 8000;
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(mean_of(answer, 0, "failures") == 1);
    body["sites"][0]["id"] = "other";
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK_THAT(joined(answer["warnings"]), Catch::Contains("the order of names"));
    CHECK(a.get("/v1/failure-traces").json()["items"].size() == 1);
    CHECK(a.call("DELETE", "/v1/failure-traces/t").status == 204);
}

TEST_CASE("resources of a stored snapshot fail as the stored failures say",
          "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    json failures = json::array();

    for (int i = 0; i < 12; i++) {
        failures.push_back({{"resource_id", "many"},
                            {"down_at", 1764000000 + 20000 * i + 500 * (i % 5)},
                            {"up_at", 1764000600 + 20000 * i + 500 * (i % 5)}});
        if (i % 4 == 0)
            failures.push_back({{"resource_id", "few"},
                                {"down_at", 1764000000 + 20000 * i},
                                {"up_at", 1764001000 + 20000 * i}});
    }
    REQUIRE(a.post("/v1/failures", failures.dump()).status == 201);
    json snapshot = {{"taken_at", 1764300000},
                     {"resources", {{{"id", "many"}}, {{"id", "few"}}, {{"id", "new"}}}}};
    REQUIRE(a.post("/v1/snapshots?id=what-if", snapshot.dump()).status == 201);
    json body = {
        {"snapshot_id", "what-if"},
        {"runs", 3},
        {"stop", {{"time_s", 2000000}}},
        {"output", {{"per_resource", true}}},
        {"workload", {{"jobs", {{{"length_mi", 90000}}}}}},
        {"compare",
         {{{"algorithm", "periodic"}, {"options", {{"initial_interval_s", 1800}}}}}}};
    json answer = a.post("/v1/simulations", body.dump()).json();

    INFO(answer.dump().substr(0, 3000));
    CHECK_THAT(joined(answer["warnings"]),
               Catch::Contains("of 1 resource a Weibull distribution (12 failures "
                               "seen), of 1 an exponential one (3 failures seen)"));
    CHECK_THAT(joined(answer["warnings"]), Catch::Contains("of 1 of 3 resources"));
    // In the order of names: few, many, new.
    json rows = answer["results"][0]["resources"];
    REQUIRE(rows.size() == 3);
    CHECK(rows[0]["failures"] > 0);
    CHECK(rows[1]["failures"] > 40);
    CHECK(rows[1]["failures"] < 160);
    CHECK(rows[2]["failures"] == 0);
    double down_s = rows[1]["downtime_s"], count = rows[1]["failures"];
    CHECK(down_s / count == Approx(600).epsilon(0.5)); // exponential of mean 600
    CHECK(a.call("DELETE", "/v1/snapshots/what-if").status == 204);
}

TEST_CASE("placement policies schedule a simulated grid", "[simulations][api]")
{
    api a;
    json body = file_json("simulation-placement.json");
    body["time_limit_s"] = 600; // valgrind takes its time
    json answer = a.post("/v1/simulations", body.dump()).json();
    INFO(answer.dump().substr(0, 3000));
    CHECK(answer["runs_completed"] == 3);
    REQUIRE(answer["results"].size() == 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK(mean_of(answer, i, "jobs_done") == 60);
        CHECK(mean_of(answer, i, "jobs_lost") == 0);
        CHECK(mean_of(answer, i, "failures") > 0);
    }
    // least completion time knows that slow resources are slow
    CHECK(mean_of(answer, 0, "makespan_s") < mean_of(answer, 1, "makespan_s"));
    CHECK(comparable(a.post("/v1/simulations", body.dump()).json()) ==
          comparable(answer));

    // Every one of the table by its name, with its options at their defaults.
    json list = a.get("/v1/algorithms").json()["items"];
    body["compare"] = json::array();
    body["runs"] = 1;
    for (const json &algorithm : list)
        if (algorithm["family"] == "placement")
            body["compare"].push_back({{"algorithm", algorithm["name"]}});
    CHECK(body["compare"].size() >= 14);
    answer = a.post("/v1/simulations", body.dump()).json();
    for (size_t i = 0; i < body["compare"].size(); i++)
        CHECK(mean_of(answer, i, "jobs_done") == 60);

    // Options are those of the placement endpoint; mistakes are found together.
    body["compare"] = json::parse(R"([
        {"algorithm": "kpb", "options": {"percent": 1000}},
        {"algorithm": "search", "options": {"max_steps": -1, "steps": 3}},
        {"algorithm": "min_mim"}])");
    api_reply r = a.post("/v1/simulations", body.dump());
    auto p = r.pointers();
    INFO(r.body);
    CHECK(r.status == 422);
    CHECK(has(p, "/compare/1/options/max_steps"));
    CHECK(has(p, "/compare/1/options/steps"));
    CHECK(has(p, "/compare/2/algorithm"));
    CHECK_THAT(r.body, Catch::Contains("min_min"));
}

TEST_CASE("links and routes one by one", "[simulations][api]")
{
    // Spec simulator.md 6, example 4: flows of 1 and 2 GB share a link of 1000 Mbit/s and
    // end at 16 and 24 s, each a latency of 7 ms later.
    json body = json::parse(R"({
        "runs": 1, "output": {"per_job": true, "per_path": true, "per_resource": true},
        "network": {"mode": "shared",
            "links": [{"id": "core", "bandwidth_mbps": 1000, "latency_s": 0.005},
                      {"id": "a", "bandwidth_mbps": 10000, "latency_s": 0.002},
                      {"id": "b", "bandwidth_mbps": 10000, "latency_s": 0.002},
                      {"id": "slow", "kind": "wan", "bandwidth_mbps": 5}],
            "routes": [{"from_node_id": "store", "to_node_id": "A", "link_ids": ["core", "a"]},
                       {"from_node_id": "store", "to_node_id": "B", "link_ids": ["core", "b"]},
                       {"from_node_id": "images", "to_node_id": "A", "link_ids": ["slow"]},
                       {"from_node_id": "images", "to_node_id": "B", "link_ids": ["slow"]}]},
        "storage_resources": [{"id": "SR", "node_id": "store", "capacity_bytes": 1e9}],
        "checkpoint_servers": [{"id": "CS", "node_id": "images"}, {"id": "spare"}],
        "sites": [{"id": "s", "resources": [{"id": "ra", "node_id": "A"},
                                            {"id": "rb", "node_id": "B"}]}],
        "workload": {"jobs": [
            {"id": "one", "length_mi": 10, "input_bytes": 1e9, "resource_id": "ra"},
            {"id": "two", "length_mi": 10, "input_bytes": 2e9, "resource_id": "rb",
             "output_bytes": 5e8}]},
        "compare": [{"algorithm": "pinned"}]})");
    api a;
    json answer = a.post("/v1/simulations", body.dump()).json();
    INFO(answer.dump().substr(0, 4000));
    json result = answer["results"][0];
    CHECK(result["jobs"][0]["finish_s"].get<double>() == Approx(26.007).margin(1e-6));
    // its output alone: 4 s and the latency
    CHECK(result["jobs"][1]["finish_s"].get<double>() == Approx(38.014).margin(1e-6));
    REQUIRE(result["paths"].size() == 3);
    CHECK(result["paths"][0]["from_node_id"] == "B");
    CHECK(result["paths"][0]["to_node_id"] == "store");
    CHECK(result["paths"][0]["bytes"] == 5e8);
    CHECK(result["paths"][0]["jobs_allocated"] == 0);
    CHECK(result["paths"][1]["to_node_id"] == "A");
    CHECK(result["paths"][1]["jobs_allocated"] == 1);
    CHECK(result["paths"][1]["jobs_allocated_ratio"] == 0.5);
    CHECK(result["paths"][2]["transfer_count"] == 1);
    REQUIRE(result["storages"].size() == 1);
    CHECK(result["storages"][0]["storage_id"] == "SR");
    CHECK(result["storages"][0]["used_end_bytes"] == 5e8);

    // An image goes its own way: 1 MB at 5 Mbit/s, 1.6 s.
    json other = body;
    for (json &job : other["workload"]["jobs"]) {
        job.erase("resource_id");
        job["checkpoint_bytes"] = 1e6;
        job["length_mi"] = 1000;
    }
    other["compare"] = json::parse(R"([{"algorithm": "periodic",
                                        "options": {"initial_interval_s": 300}}])");
    answer = a.post("/v1/simulations", other.dump()).json();
    INFO(answer.dump().substr(0, 4000));
    bool is_seen = false;
    for (const json &path : answer["results"][0]["paths"])
        is_seen |= path["to_node_id"] == "images" && path["transfer_count"] == 3;
    CHECK(is_seen);

    // What is wrong is told together.
    other = body;
    other["network"]["lan_mbps"] = 100;
    other["network"]["routes"][0]["link_ids"][0] = "nothing";
    other["network"]["routes"].erase(1);
    auto p = a.post("/v1/simulations", other.dump()).pointers();
    CHECK(has(p, "/network/lan_mbps"));
    CHECK(has(p, "/network/routes/0/link_ids/0"));
    other = body;
    other["network"]["routes"].erase(1);
    p = a.post("/v1/simulations", other.dump()).pointers();
    CHECK(p == std::vector<std::string>{"/sites/0/resources/1"});
    other = body;
    other["network"]["mode"] = "fixed";
    other["storage_bytes"] = 5;
    p = a.post("/v1/simulations", other.dump()).pointers();
    CHECK(has(p, "/network/links"));
    CHECK(has(p, "/storage_bytes"));
}

TEST_CASE("of several storage resources the nearest with room is used",
          "[simulations][api]")
{
    json body = json::parse(R"({
        "runs": 1, "output": {"per_resource": true, "per_path": true},
        "network": {"mode": "shared", "wan_latency_s": 0.005},
        "storage_resources": [{"id": "far"},
                              {"id": "near", "node_id": "s2", "capacity_bytes": 25}],
        "sites": [{"id": "s1", "resources": [{"id": "r1"}]},
                  {"id": "s2", "resources": [{"id": "r2"}]}],
        "workload": {"jobs": []}, "compare": [{"algorithm": "pinned"}]})");
    for (int i = 0; i < 4; i++)
        body["workload"]["jobs"].push_back({{"length_mi", 10},
                                            {"output_bytes", 10},
                                            {"input_bytes", 1},
                                            {"resource_id", i ? "r2" : "r1"}});
    api a;
    json answer = a.post("/v1/simulations", body.dump()).json();
    INFO(answer.dump().substr(0, 4000));
    json storages = answer["results"][0]["storages"];
    CHECK(mean_of(answer, 0, "jobs_done") == 4);
    CHECK(storages[0]["used_end_bytes"] == 20); // of r1, and what found no room
    CHECK(storages[1]["used_end_bytes"] == 20);
    CHECK(answer["results"][0]["paths"].size() == 4);
    body["storage_resources"][0]["capacity_bytes"] = 15;
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(mean_of(answer, 0, "jobs_lost") == 1);
    CHECK(answer["results"][0]["storages"][1]["refused_count"] == 1);
}

TEST_CASE("user interfaces submit independently", "[simulations][api]")
{
    json body = json::parse(R"({
        "runs": 1, "seed": 5, "stop": {"time_s": 20000},
        "output": {"per_job": true},
        "sites": [{"id": "s", "resources": [{"number": 8, "n_max": 4}]}],
        "user_interfaces": [
            {"id": "desk", "workload": {"jobs": [{"id": "X", "length_mi": 50},
                {"id": "Y", "arrival_s": 30, "length_mi": 70, "resource_id": "s-3"}]}},
            {"id": "lab", "workload": {"generator": "poisson", "length_mi": 100,
                "arrival_gap_s": {"distribution": "exponential", "mean": 100}}},
            {"id": "late", "workload": {"generator": "uniform_stream", "start_s": 10000,
                                        "length_mi": 33, "user_count": 3}}],
        "compare": [{"algorithm": "fjbcr"}]})");
    auto jobs_of = [](const json &answer, double length_mi) {
        std::vector<double> arrivals;
        for (const json &job : answer["results"][0]["jobs"])
            if (job["length_mi"] == length_mi)
                arrivals.push_back(job["arrival_s"]);
        std::sort(arrivals.begin(), arrivals.end());
        return arrivals;
    };
    api a;
    json answer = a.post("/v1/simulations", body.dump()).json();
    INFO(answer.dump().substr(0, 3000));
    auto lab = jobs_of(answer, 100), late = jobs_of(answer, 33);
    CHECK(lab.size() > 150);
    CHECK(late.size() > 30);
    CHECK(late.front() >= 10000);
    CHECK(jobs_of(answer, 50) == std::vector<double>{0});
    double number = 0;
    for (const json &job : answer["results"][0]["jobs"])
        if (job.value("job_id", "") == "Y")
            CHECK(job["resource_id"] == "s-3");
        else
            number = std::max(number, job["number"].get<double>());
    CHECK(number == (double)(lab.size() + late.size()) + 2); // from 1
    // Without the desk the others submit the same.
    body["user_interfaces"].erase(0);
    answer = a.post("/v1/simulations", body.dump()).json();
    CHECK(jobs_of(answer, 100) == lab);
    CHECK(jobs_of(answer, 33) == late);

    body["user_interfaces"][0]["workload"]["generator"] = "vm_session";
    body["user_interfaces"][1]["workload"]["generator"] = "interfaces";
    body["workload"] = {{"generator", "poisson"}};
    auto p = a.post("/v1/simulations", body.dump()).pointers();
    CHECK(has(p, "/workload"));
    CHECK(has(p, "/user_interfaces/0/workload"));
    CHECK(has(p, "/user_interfaces/1/workload/generator"));
}

TEST_CASE("what is queued or replayed is played with the uploads that were asked for",
          "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    auto upload = [&](int seconds) {
        a.call("DELETE", "/v1/workloads/log");
        std::string swf =
            "1 0 0 " + std::to_string(seconds) + " 1 -1 -1 1 200 -1 1 1 1 1 1 1 -1 -1\n";
        REQUIRE(a.call("POST", "/v1/workloads?id=log", swf, AS_TEXT).status == 201);
    };
    json body = d1();
    body.erase("workload");
    body["workload_id"] = "log";
    body["store"] = true;
    upload(100);
    json answer = a.post("/v1/simulations", body.dump()).json();
    std::string replay =
        "/v1/decisions/" + answer["decision_id"].get<std::string>() + "/replay";
    CHECK(a.post(replay, "{}").json()["identical"] == true);

    // Two without end keep the third waiting.
    std::string first = a.post_async(endless()).headers["Location"];
    std::string second = a.post_async(endless()).headers["Location"];
    a.wait_for(first, "running");
    a.wait_for(second, "running");
    std::string queued = a.post_async(body).headers["Location"];
    std::string same = a.post_async(body).headers["Location"];
    upload(100); // the same content: nothing has changed
    CHECK(a.post(replay, "{}").json()["identical"] == true);
    REQUIRE(a.call("DELETE", first).status == 202);
    json now = a.wait_for(queued, "done");
    CHECK(comparable(now["result"])["results"] == comparable(answer)["results"]);
    a.wait_for(same, "done");

    std::string third = a.post_async(endless()).headers["Location"];
    a.wait_for(third, "running");
    queued = a.post_async(body).headers["Location"];
    std::string gone = a.post_async(body).headers["Location"];
    upload(50);
    api_reply r = a.post(replay, "{}");
    CHECK(r.status == 409);
    CHECK_THAT(r.body, Catch::Contains("its SHA-256 was"));
    REQUIRE(a.call("DELETE", third).status == 202);
    now = a.wait_for(queued, "failed");
    CHECK(now["error"]["status"] == 409);
    a.wait_for(gone, "failed");
    CHECK(a.call("DELETE", "/v1/workloads/log").status == 204);
    r = a.post(replay, "{}");
    CHECK(r.status == 409);
    CHECK_THAT(r.body, Catch::Contains("deleted"));
    a.call("DELETE", second);
}

TEST_CASE("what is queued is played with the failures that were known",
          "[simulations][db]")
{
    NEED_DATABASE();
    live a;
    std::string host = "pinned-" + std::to_string(time(nullptr));
    auto report = [&](int from) {
        json failures = json::array();
        for (int i = 0; i < 12; i++)
            failures.push_back({{"resource_id", host},
                                {"down_at", from + 20000 * i + 500 * (i % 5)},
                                {"up_at", from + 600 + 20000 * i + 500 * (i % 5)}});
        REQUIRE(a.post("/v1/failures", failures.dump()).status == 201);
    };
    json body = {
        {"snapshot", {{"taken_at", 1764300000}, {"resources", {{{"id", host}}}}}},
        {"runs", 2},
        {"stop", {{"time_s", 500000}}},
        {"workload", {{"jobs", {{{"length_mi", 90000}}}}}},
        {"compare", {{{"algorithm", "migration"}}}}};
    report(1764000000);
    json answer = a.post("/v1/simulations", body.dump()).json();
    std::string first = a.post_async(endless()).headers["Location"];
    std::string second = a.post_async(endless()).headers["Location"];
    a.wait_for(first, "running");
    a.wait_for(second, "running");
    std::string queued = a.post_async(body).headers["Location"];
    report(1764007000);
    CHECK(comparable(a.post("/v1/simulations", body.dump()).json()) !=
          comparable(answer));
    REQUIRE(a.call("DELETE", first).status == 202);
    json now = a.wait_for(queued, "done");
    CHECK(comparable(now["result"]) == comparable(answer));
    a.call("DELETE", second);
}

TEST_CASE("a queue without jobs is one, which nobody waits in", "[simulations][api]")
{
    api a;
    for (const char *place : {R"("processors": 4)",
                              R"("snapshot": {"resources": [{"id": "n", "cpus": 1}]})"}) {
        api_reply r = a.post("/v1/simulations", R"({"kind": "queue", "jobs": [], )" +
                                                    std::string(place) + "}");
        INFO(r.body);
        REQUIRE(r.status == 200);
        json answer = r.json();
        CHECK(answer["status"] == "feasible");
        CHECK(answer["job_count"] == 0);
        CHECK(answer["results"][0]["mean_wait_s"].is_null());
    }
    CHECK(a.post("/v1/simulations", R"({"kind": "queue", "processors": 4})").pointers() ==
          std::vector<std::string>{"/workload_id"});
}
