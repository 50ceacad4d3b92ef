// queue_api_test.cpp - /v1/queue-orders, and simulations of kind "queue".
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/test_governor.hpp"

#include <chrono>
#include <fstream>
#include <sstream>
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

    REQUIRE(in);
    return json::parse(in);
}

// Three jobs, one line without a run time, one that is cut in the middle.
const std::string log_text = "; MaxProcs: 10\n"
                             "; Note: caf\xe9\n"
                             "1 0 -1 100 6 -1 -1 6 100 -1 1 1 1 -1 -1 -1 -1 -1\n"
                             "2 1 -1 50 8 -1 -1 8 50 -1 1 1 1 -1 -1 -1 -1 -1\n"
                             "3 2 -1 -1 2 -1 -1 2 90 -1 1 1 1 -1 -1 -1 -1 -1\n"
                             "4 3 -1 90 2 -1 -1 2 90 -1 1 1 1 -1 -1 -1 -1 -1\n"
                             "5 4 -1 90 2 -1 -1";

json timeless(json answer)
{
    answer.erase("decision_id");
    answer.erase("timings");
    return answer;
}

// Lines of a log that are no comments, by their first columns.
std::vector<std::vector<double>> columns(const std::string &text, size_t count)
{
    std::istringstream in(text);
    std::vector<std::vector<double>> list;
    std::string line;

    while (std::getline(in, line)) {
        std::istringstream fields(line);
        std::vector<double> row(count);

        if (line[0] == ';')
            continue;
        for (double &value : row)
            fields >> value;
        list.push_back(row);
    }
    return list;
}

} // namespace

TEST_CASE("queue orders say who starts and who waits for whom", "[queue][api]")
{
    api a;
    json answer = a.post("/v1/queue-orders", example("queue-easy").dump()).json();

    INFO(answer.dump(1));
    CHECK(answer["algorithm"] == "easy");
    CHECK(answer["status"] == "feasible");
    CHECK(answer["site_id"] == "seth");
    REQUIRE(answer["starts"].size() == 2);
    CHECK(answer["starts"][0] ==
          json({{"job_id", "short"}, {"processors", 10}, {"start_s", 1000}}));
    CHECK(answer["starts"][1]["job_id"] == "narrow");
    REQUIRE(answer["waiting"].size() == 2);
    CHECK(answer["waiting"][0] ==
          json({{"job_id", "wide"},
                {"processors", 40},
                {"estimated_start_s", 1100},
                {"reason", "processors"},
                {"detail", "needs 40 processors, 0 are free until job r1 ends at 1100"},
                {"blocking_job_id", "r1"},
                {"until_s", 1100}}));
    CHECK(answer["unplaced"].empty());
    CHECK(answer["objective"]["free_processors"] == 0);
    CHECK(answer["objective"]["makespan_s"] >= answer["objective"]["lower_bound_s"]);
    CHECK(
        a.post("/v1/queue-orders", R"({"processors": 4, "jobs": []})").json()["status"] ==
        "optimal");
}

TEST_CASE("one processor is no processors in what is said", "[queue][api]")
{
    api a;
    json answer = a.post("/v1/queue-orders", R"({"processors": 4, "now_s": 0,
        "algorithm": "fcfs", "running": [{"id": "r", "processors": 3, "expected_end_s": 9}],
        "jobs": [{"id": "a", "processors": 2, "estimate_s": 1}]})")
                      .json();
    json full = a.post("/v1/queue-orders", R"({"processors": 4, "now_s": 0,
        "algorithm": "fcfs", "running": [{"id": "r", "processors": 4, "expected_end_s": 9}],
        "jobs": [{"id": "a", "processors": 1, "estimate_s": 1}]})")
                    .json();

    CHECK(answer["waiting"][0]["detail"] ==
          "needs 2 processors, 1 is free until job r ends at 9");
    CHECK(full["waiting"][0]["detail"] ==
          "needs 1 processor, 0 are free until job r ends at 9");
}

TEST_CASE("what never fits is said at once", "[queue][api]")
{
    api a;
    json answer = a.post("/v1/queue-orders", R"({"processors": 4, "jobs": [
                             {"id": "j", "processors": 5, "estimate_s": 1}]})")
                      .json();

    CHECK(answer["status"] == "infeasible");
    CHECK(answer["unplaced"] ==
          json::parse(R"([{"job_id": "j", "reasons": [{"reason": "never_fits",
                           "detail": "needs 5 processors, the cluster has 4"}]}])"));
}

TEST_CASE("all mistakes of a queue are told at once", "[queue][api]")
{
    api a;
    api_reply r = a.post("/v1/queue-orders", R"({"processors": 4, "algorithm": "eazy",
        "options": {"depth": 3},
        "jobs": [{"id": "j", "processors": 1, "estimate_s": 1}],
        "running": [{"id": "a", "processors": 3, "expected_end_s": 9},
                    {"id": "b", "processors": 2, "expected_end_s": 9}],
        "reservations": [{"id": "x", "processors": 3, "start_s": 1, "end_s": 5},
                         {"id": "y", "processors": 2, "start_s": 4, "end_s": 6},
                         {"id": "z", "processors": 1, "start_s": 6, "end_s": 6}]})");

    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/algorithm", "/options/depth",
                                                   "/running", "/reservations/1",
                                                   "/reservations/2"});
    CHECK(a.post("/v1/queue-orders",
                 R"({"processors": 0, "jobs": [{"id": "j", "processors": -1,
                     "estimate_s": -1}, {"id": "k", "processors": 1, "estimate_s": 1e308,
                     "submit_s": null}, {"id": "j"}]})")
              .pointers()
              .size() >= 6);
}

namespace
{

// The jobs of a promise: R1 and R2 run, J1 is as wide as the cluster.
json promising(double now_s, json running)
{
    return {{"now_s", now_s},
            {"processors", 10},
            {"algorithm", "conservative"},
            {"running", std::move(running)},
            {"jobs",
             {{{"id", "J1"}, {"processors", 10}, {"estimate_s", 300}},
              {{"id", "J2"}, {"processors", 3}, {"estimate_s", 50}},
              {{"id", "J3"}, {"processors", 6}, {"estimate_s", 50}}}}};
}

json running(const char *id, int processors, double end_s)
{
    return {{"id", id}, {"processors", processors}, {"expected_end_s", end_s}};
}

// The code and all of each warning begin alike.
std::vector<std::string> warnings(const json &answer)
{
    return answer["warnings"].get<std::vector<std::string>>();
}

} // namespace

TEST_CASE("promises go out and come back", "[queue][api]")
{
    api a;
    json body = promising(10, {running("R1", 3, 100), running("R2", 7, 50)});
    json told = a.post("/v1/queue-orders", body.dump()).json();

    INFO(told.dump(1));
    REQUIRE(told["waiting"].size() == 3);
    for (size_t i = 0; i < 3; i++) {
        double start_s = std::vector<double>{100, 50, 400}[i];

        CHECK(told["waiting"][i]["planned_start_s"] == start_s);
        CHECK(told["waiting"][i]["estimated_start_s"] == start_s);
        CHECK_FALSE(told["waiting"][i].contains("promise_broken"));
    }

    // R1 has ended; without the promises J2 would be told 350.
    json later = promising(20, {running("R2", 7, 50)});
    later["jobs"][0]["planned_start_s"] = 100;
    later["jobs"][1]["planned_start_s"] = 50;
    later["jobs"][2]["planned_start_s"] = 400;
    json kept = a.post("/v1/queue-orders", later.dump()).json();
    INFO(kept.dump(1));
    CHECK(kept["starts"] ==
          json::parse(R"([{"job_id": "J2", "processors": 3, "start_s": 20}])"));
    CHECK(kept["waiting"][0]["planned_start_s"] == 100);
    CHECK(kept["waiting"][1]["planned_start_s"] == 50);
    CHECK(kept["warnings"].empty());
    later["options"] = {{"compress", false}};
    json still = a.post("/v1/queue-orders", later.dump()).json();
    INFO(still.dump(1));
    CHECK(still["starts"].empty());
    CHECK(still["waiting"][1]["planned_start_s"] == 50);
    CHECK(still["waiting"][1]["reason"] == "would_delay");
    CHECK(still["waiting"][1]["detail"] ==
          "keeps the start that it was promised; nobody is in its way now");

    // R2 says that it takes longer. J1 waits for J3 too, which moves up after it.
    later["running"][0]["expected_end_s"] = 120;
    later["options"] = {{"compress", true}};
    json broken = a.post("/v1/queue-orders", later.dump()).json();
    INFO(broken.dump(1));
    CHECK(broken["waiting"][0]["promise_broken"] ==
          json::parse(R"({"by_s": 350, "blocking_job_id": "R2"})"));
    CHECK(warnings(broken) ==
          std::vector<std::string>{"promise_broken: 1 job does not start when it was "
                                   "promised to, by planned_start_s"});

    // Other policies promise nothing.
    later["algorithm"] = "easy";
    json ignored = a.post("/v1/queue-orders", later.dump()).json();
    CHECK_FALSE(ignored["waiting"][0].contains("planned_start_s"));
    CHECK(warnings(ignored) ==
          std::vector<std::string>{
              "ignored: planned_start_s of 3 jobs, first /jobs/0/planned_start_s: easy "
              "makes no promises, conservative does",
              "ignored: /options/compress: easy makes no promises, conservative does"});
    later["jobs"][1]["planned_start_s"] = -31536000;
    CHECK(a.post("/v1/queue-orders", later.dump()).pointers() ==
          std::vector<std::string>{"/jobs/1/planned_start_s"});
    later["jobs"][1]["planned_start_s"] = nullptr;
    CHECK(a.post("/v1/queue-orders", later.dump()).status == 200);
}

TEST_CASE("what a queue says against itself is refused, or answered and said",
          "[queue][api]")
{
    api a;
    json body = promising(1000, {running("late", 2, 900), running("long", 5, 5000)});

    body["algorithm"] = "easy";
    body["running"].push_back(running("J2", 1, 5000));
    CHECK(a.post("/v1/queue-orders", body.dump()).pointers() ==
          std::vector<std::string>{"/jobs/1/id"});
    body["running"].erase(2);
    body["jobs"][1]["submit_s"] = 2000;
    body["jobs"][2]["submit_s"] = 1001;
    body["reservations"] = json::parse(R"([
        {"id": "over", "processors": 10, "start_s": 0, "end_s": 1000},
        {"id": "clash", "processors": 8, "start_s": 3000, "end_s": 6000},
        {"id": "free", "processors": 8, "start_s": 6000, "end_s": 7000}])");
    json answer = a.post("/v1/queue-orders", body.dump()).json();
    INFO(answer.dump(1));
    CHECK(warnings(answer) ==
          std::vector<std::string>{
              "submitted_later: 2 jobs, first /jobs/1/submit_s, are submitted after "
              "now_s; that counts as now_s",
              "overdue: 1 running job, first /running/0/expected_end_s, should have "
              "ended; it is taken to end a second from now",
              "ignored: 1 reservation, first /reservations/0, is over",
              "overcommitted: 1 reservation, first /reservations/1, takes processors "
              "that running jobs hold at that time; there nothing starts"});
}

TEST_CASE("a job that does not say how long it takes is unplaced", "[queue][api]")
{
    api a;

    for (const char *estimate : {R"("estimate_s": null,)", ""})
        for (const char *policy : {"easy", "conservative", "fcfs"}) {
            json answer =
                a.post(
                     "/v1/queue-orders",
                     std::string(R"({"processors": 4, "algorithm": ")") + policy +
                         R"(", "jobs": [{"id": "wide", "processors": 9, "estimate_s": 1},
                           {)" +
                         estimate +
                         R"( "id": "j", "processors": 1}, {"id": "k", "processors": 4,
                           "estimate_s": 5}, {"id": "l", "processors": 4,
                           "estimate_s": 5}]})")
                    .json();

            INFO(answer.dump(1));
            CHECK(answer["status"] == "feasible");
            CHECK(answer["starts"][0]["job_id"] == "k");
            CHECK(answer["waiting"][0]["job_id"] == "l");
            CHECK(answer["waiting"][0]["blocking_job_id"] == "k");
            REQUIRE(answer["unplaced"].size() == 2);
            CHECK(answer["unplaced"][1] ==
                  json::parse(R"({"job_id": "j", "reasons": [{"reason": "no_estimate",
                      "detail": "estimate_s is missing: how long does it run at most?"}]})"));
            CHECK(warnings(answer) ==
                  std::vector<std::string>{"unplaced: 2, never_fits: 1, no_estimate: 1"});
        }
}

TEST_CASE("a queue is decided within its time", "[queue][api]")
{
    api a;
    json body = {{"processors", 1000}, {"algorithm", "conservative"}};
    json jobs = json::array();

    for (int i = 0; i < 2000; i++)
        jobs.push_back({{"id", "j" + std::to_string(i)},
                        {"processors", 1 + i * 7 % 600},
                        {"estimate_s", 10 + i * 131 % 10007}});
    body["jobs"] = jobs;
    body["time_limit_s"] = 1e-6;
    json answer = a.post("/v1/queue-orders", body.dump()).json();
    CHECK(answer["status"] == "cut");
    // 1 + 8 + ... + 113 processors: those start at any rate
    REQUIRE(answer["starts"].size() == 17);
    REQUIRE(answer["waiting"].size() == 1983);
    for (const json &w : answer["waiting"]) {
        REQUIRE(w["reason"] == "time_limit");
        REQUIRE(w["estimated_start_s"].is_number());
        REQUIRE_FALSE(w.contains("planned_start_s"));
    }
    CHECK(answer["objective"]["makespan_s"] >= answer["objective"]["lower_bound_s"]);
    CHECK(warnings(answer) ==
          std::vector<std::string>{"time_limit: the time was up; of 1983 waiting jobs "
                                   "1983 are only put one after the other behind all "
                                   "others"});
}

TEST_CASE("a simulation of a queue compares policies", "[queue][api]")
{
    api a;
    json answer = a.post("/v1/simulations", example("simulation-queue").dump()).json();

    INFO(answer.dump(1));
    CHECK(answer["kind"] == "queue");
    CHECK(answer["name"] == "EASY or not");
    CHECK(answer["processors"] == 100);
    REQUIRE(answer["results"].size() == 4);
    CHECK(answer["results"][0]["policy"] == "fcfs");
    CHECK(answer["results"][1]["job_count"] == 4);
    CHECK(answer["results"][1]["jobs"][3]["job_id"] == "small");
    CHECK(answer["results"][1]["jobs"][3]["finish_s"] == 610);
    CHECK(answer["ranking"].size() == 4);
    CHECK(answer["ranking"][3] == "fcfs");
    for (const char *figure :
         {"mean_wait_s", "mean_bounded_slowdown", "utilisation_ratio", "makespan_s"})
        CHECK(answer["results"][0][figure].is_number());
}

TEST_CASE("a log may be the body, and the schedule the answer", "[queue][api]")
{
    const std::map<std::string, std::string> text = {{"content_type", "text/plain"}};
    const std::map<std::string, std::string> both = {{"content_type", "text/plain"},
                                                     {"accept", "text/plain"}};
    api a;
    json answer = a.call("POST", "/v1/simulations?policies=fcfs,easy&estimates=actual",
                         log_text, text)
                      .json();

    INFO(answer.dump(1));
    CHECK(answer["processors"] == 10);
    CHECK(answer["job_count"] == 3);
    CHECK(answer["skipped_count"] == 2);
    CHECK(answer["skipped"] == json::parse(R"([{"reason": "cut_line", "line_count": 1},
                          {"reason": "no_run_time", "line_count": 1}])"));
    CHECK(answer["first_skipped"][0]["line"] == 5);
    REQUIRE(answer["results"].size() == 2);
    CHECK(answer["results"][0]["mean_wait_s"] == (0 + 99 + 97) / 3.0);
    CHECK(answer["results"][1]["mean_wait_s"] == 33);

    json same = {{"kind", "queue"},
                 {"policies", {"fcfs", "easy"}},
                 {"estimates", "actual"},
                 {"swf", log_text}};
    same["swf"] = std::string(log_text).replace(log_text.find('\xe9'), 1, "?");
    CHECK(timeless(a.post("/v1/simulations", same.dump()).json()) == timeless(answer));

    api_reply schedule =
        a.call("POST", "/v1/simulations?policies=easy&processors=8", log_text, both);
    CHECK(schedule.status == 200);
    CHECK(schedule.headers["Content-Type"] == "text/plain; charset=utf-8");
    CHECK(columns(schedule.body, 5) ==
          std::vector<std::vector<double>>{
              {1, 0, 0, 100, 6}, {2, 1, 99, 50, 8}, {4, 3, 0, 90, 2}});
    CHECK(schedule.body.find("; MaxProcs: 8\n") != std::string::npos);
    // What went out comes in again.
    CHECK(a.call("POST", "/v1/simulations?policies=easy", schedule.body, text)
              .json()["results"][0]["mean_wait_s"] == 33);
}

TEST_CASE("a log in any order is played whole, and what is left out is said",
          "[queue][api]")
{
    const std::map<std::string, std::string> text = {{"content_type", "text/plain"}};
    const std::string sorted = "; MaxNodes: 10\n"
                               "1 0 -1 100 6 -1 -1 6 100 -1 1 7 1 -1 -1 1 -1 -1\n"
                               "2 1 -1 50 8 -1 -1 8 50 -1 1 7 1 -1 -1 1 -1 -1\n"
                               "3 2 -1 50 2 -1 -1 2 40 -1 1 8 1 -1 -1 2 2 -1\n"
                               "4 3 -1 90 20 -1 -1 20 90 512 1 -1 1 -1 -1 1 -1 -1\n"
                               "5 4 -1 90 2 -1 -1 2 -1 -1 1 7 1 -1 -1 1 -1 -1\n"
                               "6 1e9 -1 90 2 -1 -1 2 90 -1 1 8 1 -1 -1 1 -1 -1\n";
    std::string shuffled = "6 1e9 -1 90 2 -1 -1 2 90 -1 1 8 1 -1 -1 1 -1 -1\nno job\n";
    api a;

    shuffled = sorted.substr(0, sorted.find('\n') + 1) + shuffled +
               sorted.substr(sorted.find('\n') + 1);
    shuffled.resize(shuffled.find("6 1e9", 40));
    json want =
        a.call("POST", "/v1/simulations?policies=easy&as_swf=true", sorted, text).json();
    json got = a.call("POST", "/v1/simulations?policies=easy&as_swf=true", shuffled, text)
                   .json();
    INFO(got.dump(1));
    CHECK(want["job_count"] == 6);
    CHECK(got["job_count"] == 6);
    for (const char *figure : {"mean_wait_s", "mean_bounded_slowdown", "makespan_s"})
        CHECK(got["results"][0][figure] == want["results"][0][figure]);
    std::vector<std::string> of_jobs = {
        "never_fits: 1 job, first /swf, job number 4, needs more processors than the "
        "cluster has, and is in no figure",
        "run_time_defaulted: 1 job, first /swf, job number 5, asks for no run time; "
        "the scheduler counts on the one it took",
        "requested_raised: 1 job, first /swf, job number 3, ran longer than it asked "
        "for; the scheduler counts on the time it took, see cut_at_request",
        "preceding_ignored: 1 job, first /swf, job number 3, names a preceding_job, "
        "which nobody waits for",
        "memory_ignored: 1 job, first /swf, job number 4, asks for memory, which the "
        "cluster is taken to have",
        "partition_ignored: 1 job, first /swf, job number 3, is of another partition "
        "than the first; all run on one cluster",
        "guessed: /processors is MaxNodes of the log, 10; it says no MaxProcs"};
    CHECK(warnings(want) == of_jobs);
    of_jobs.insert(of_jobs.begin(),
                   {"skipped: 1 line of /swf, first line 3, is no usable job, "
                    "too_few_columns: 1",
                    "unsorted: 5 lines of /swf, first line 4, were not in the order of "
                    "arrival, and have been sorted"});
    CHECK(warnings(got) == of_jobs);

    // What goes out comes in again, whole.
    std::string schedule = got["results"][0]["swf"];
    CHECK(schedule.find("; Note: skipped: 1 line") != std::string::npos);
    json again =
        a.call("POST", "/v1/simulations?policies=easy&processors=10", schedule, text)
            .json();
    CHECK(again["job_count"] == 6);
    CHECK(again["skipped_count"] == 0);
    CHECK(again["results"][0]["mean_wait_s"] == want["results"][0]["mean_wait_s"]);
}

TEST_CASE("a log of a million jobs may be stored, other bodies are shorter", "[queue]")
{
    error_code code;
    char allow[80];
    config c{};

    c.max_body_bytes = 1000;
    c.max_upload_bytes = 5000;
    c.request_memory_bytes = c.total_body_bytes = 9000;
    const route *log = route_find(routes(), "POST", "/v1/workloads", allow, &code);
    const route *store = route_find(routes(), "POST", "/v1/failure-traces", allow, &code);
    const route *play = route_find(routes(), "POST", "/v1/simulations", allow, &code);
    REQUIRE(log);
    REQUIRE(store);
    REQUIRE(play);
    CHECK(route_body_limit(log, &c) == 5000);
    CHECK(route_body_limit(store, &c) == 5000);
    CHECK(route_body_limit(play, &c) == 1000);
    CHECK(route_body_limit(nullptr, &c) == 1000);
    c.request_memory_bytes = 3000; // they are read piece by piece
    c.total_body_bytes = 2000;
    CHECK(route_body_limit(store, &c) == 5000);
    CHECK(route_body_limit(log, &c) == 5000);
    c.max_body_bytes = 6000;
    CHECK(route_body_limit(store, &c) == 6000);
}

TEST_CASE("jobs in any order come out as a log in order", "[queue][api]")
{
    api a;
    json answer = a.post("/v1/simulations", R"({"kind": "queue", "processors": 4,
        "policies": ["fcfs"], "as_swf": true, "per_job": true, "job_rows_max": 2,
        "jobs": [{"submit_s": 9, "run_time_s": 1, "requested_s": 1},
                 {"submit_s": 3, "run_time_s": 1, "requested_s": 1},
                 {"submit_s": 5, "run_time_s": 1, "requested_s": 1, "processors": 5}]})")
                      .json();

    INFO(answer.dump(1));
    CHECK(columns(answer["results"][0]["swf"], 4) ==
          std::vector<std::vector<double>>{{2, 3, 0, 1}, {3, 5, -1, 1}, {1, 9, 0, 1}});
    CHECK(warnings(answer) ==
          std::vector<std::string>{
              "never_fits: 1 job, first /jobs/2, needs more processors than the cluster "
              "has, and is in no figure",
              "truncated: 2 of 3 jobs are listed, see /job_rows_max"});
}

TEST_CASE("a simulation says how waits are spread, by user and by size", "[queue][api]")
{
    const std::map<std::string, std::string> text = {{"content_type", "text/plain"}};
    // One after the other on all processors: waits of 0, 10, 20 and 100 s.
    const std::string log = "1 0 -1 10 4 -1 -1 4 10 -1 1 7 1 -1 -1 -1 -1 -1\n"
                            "2 0 -1 20 4 -1 -1 4 20 -1 1 8 1 -1 -1 -1 -1 -1\n"
                            "3 10 -1 100 1 -1 -1 1 100 -1 1 7 1 -1 -1 -1 -1 -1\n"
                            "4 30 -1 5 4 -1 -1 4 5 -1 1 -1 1 -1 -1 -1 -1 -1\n";
    api a;
    json answer =
        a.call("POST", "/v1/simulations?policies=fcfs&processors=4", log, text).json();
    const json &result = answer["results"][0];

    INFO(answer.dump(1));
    const std::pair<const char *, double> waits[] = {
        {"p50", 15}, {"p75", 40}, {"p90", 76}, {"p95", 88}, {"p99", 97.6}};
    for (auto [name, wait_s] : waits)
        CHECK(result["percentiles"]["wait_s"][name].get<double>() == Approx(wait_s));
    CHECK(result["percentiles"]["response_s"]["p50"] == 67.5); // 10, 30, 105, 120
    CHECK(result["percentiles"]["bounded_slowdown"]["p99"].get<double>() ==
          Approx(1.5 + 0.97 * 9)); // 1, 1.2, 1.5, 10.5
    REQUIRE(result["by_user"].size() == 3);
    CHECK(result["by_user"][0] == json::parse(R"({"key": "7", "job_count": 2,
        "core_s": 140, "mean_wait_s": 10, "p50_wait_s": 10, "p90_wait_s": 18,
        "max_wait_s": 20, "mean_bounded_slowdown": 1.1})"));
    CHECK(result["by_user"][1]["key"] == "8");
    CHECK(result["by_user"][2]["key"] == "unknown");
    REQUIRE(result["by_size"].size() == 2);
    CHECK(result["by_size"][0]["key"] == "2-4");
    CHECK(result["by_size"][0]["core_s"] == 140);
    CHECK(result["by_size"][0]["job_count"] == 3);
    CHECK(result["by_size"][1]["key"] == "1");
    CHECK(warnings(answer).empty());

    json short_one =
        a.call("POST", "/v1/simulations?policies=fcfs&processors=4&table_rows_max=1", log,
               text)
            .json();
    const json &users = short_one["results"][0]["by_user"];
    INFO(short_one.dump(1));
    REQUIRE(users.size() == 2);
    CHECK(users[0]["key"] == "7");
    CHECK(users[1]["key"] == "others");
    CHECK(users[1]["job_count"] == 2);
    CHECK(users[1]["core_s"] == 100);
    CHECK(users[1]["mean_wait_s"] == 55);
    CHECK(users[1]["p50_wait_s"] == 55);
    CHECK(users[1]["max_wait_s"] == 100);
    CHECK(warnings(short_one) ==
          std::vector<std::string>{"truncated: by_user has its first 1 user, and a row "
                                   "for the others, see /table_rows_max"});
    json none = a.call("POST", "/v1/simulations?policies=fcfs&processors=1",
                       "1 0 -1 10 4 -1 -1 4 10 -1 1 7 1 -1 -1 -1 -1 -1\n", text)
                    .json();
    CHECK_FALSE(none["results"][0].contains("percentiles"));
    CHECK(none["results"][0]["by_user"].empty());
    CHECK(none["results"][0]["mean_wait_s"].is_null());
}

TEST_CASE("mistakes of a simulation of a queue", "[queue][api]")
{
    const std::map<std::string, std::string> text = {{"content_type", "text/plain"}};
    api a;
    auto pointers = [&](const char *body) {
        return a.post("/v1/simulations", body).pointers();
    };
    using list = std::vector<std::string>;

    CHECK(pointers(R"({"kind": "queu"})") == list{"/kind"});
    CHECK(pointers(R"({"kind": 3})") == list{"/kind"});
    CHECK(pointers(R"({"kind": "queue"})") == list{"/workload_id"});
    CHECK(pointers(R"({"kind": "queue", "policies": ["easy", "eazy", "easy"],
                       "jobs": [{"run_time_s": 1}], "swf": ""})") ==
          list{"/policies/1", "/policies/2", "/jobs"});
    CHECK(pointers(R"({"kind": "queue", "jobs": [{"run_time_s": 1}]})") ==
          list{"/processors"});
    CHECK(pointers(R"({"kind": "queue", "processors": 3, "jobs": [{"run_time_s": 1}],
            "reservations": [{"processors": 4, "start_s": 1, "end_s": 2}]})") ==
          list{"/reservations/0"});
    CHECK(pointers(R"({"kind": "queue", "processors": 3, "swf": "no log"})") ==
          list{"/swf"});
    CHECK(pointers(R"({"kind": "queue", "processors": 1, "compare": []})") ==
          list{"/compare"});
    CHECK(a.call("POST", "/v1/simulations?processors=3", "{}").status == 422);
    CHECK(a.call("POST", "/v1/simulations?processor=3", log_text, text).pointers() ==
          list{"?/processor"});
    CHECK(a.call("POST", "/v1/simulations", "{}", {{"accept", "text/plain"}}).status ==
          422);
    CHECK(
        a.call("POST", "/v1/simulations", "{}", {{"content_type", "text/csv"}}).status ==
        415);
    CHECK(a.call("POST", "/v1/simulations", log_text,
                 {{"content_type", "text/plain"}, {"accept", "text/plain"}})
              .pointers() == list{"/policies"});
    CHECK(a.call("POST", "/v1/simulations", log_text,
                 {{"content_type", "text/plain"}, {"prefer", "respond-async"}})
              .status == 503);
}

TEST_CASE("jobs wider than the cluster are counted, not run", "[queue][api]")
{
    api a;
    json answer =
        a.post("/v1/simulations", R"({"kind": "queue", "processors": 4, "jobs": [
                             {"id": "wide", "processors": 5, "run_time_s": 1},
                             {"processors": 4, "run_time_s": 1}]})")
            .json();

    CHECK(answer["never_fit_count"] == 1);
    CHECK(answer["never_fits"] == json::parse(R"([{"job_id": "wide", "number": 1,
                                   "processors": 5, "reason": "never_fits"}])"));
    for (const json &result : answer["results"]) {
        CHECK(result["job_count"] == 1);
        CHECK(result["never_fit_count"] == 1);
    }
}

namespace
{

// The service with its thread for simulations.
struct live : api {
    background *b = nullptr;

    live() : api(test_database_url())
    {
        background_options options{};
        error err{};
        test_arena a;
        db_session *s = db_session_create(handle()->db, nullptr, a);

        REQUIRE(db_execute(s, "DELETE FROM simulation; DELETE FROM workload", &err) ==
                OK);
        db_session_close(s);
        handle()->governor = test_governor(2, 16);
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

} // namespace

TEST_CASE("an uploaded log is played without a client, and its schedule read",
          "[queue][db]")
{
    NEED_DATABASE();
    live a;

    REQUIRE(a.call("POST", "/v1/workloads?id=small", log_text,
                   {{"content_type", "text/plain"}})
                .status == 201);
    CHECK(a.get("/v1/workloads/small/document").body == log_text);
    json summary = a.get("/v1/workloads/small/summary").json();
    CHECK(summary["job_count"] == 3);
    CHECK(summary["processors"] == 10);
    CHECK(summary["user_count"] == summary["users"].size());
    CHECK(summary["weeks"].size() == 1);
    CHECK(summary["weeks"][0]["core_s"] == summary["core_s"]);
    CHECK(summary["weeks"][0]["job_count"] == 3);
    CHECK(a.get("/v1/workloads/none/summary").status == 404);
    // Three weeks, the second without an arrival; two users and one that is not known.
    REQUIRE(a.call("POST", "/v1/workloads?id=weeks",
                   "2 1209700 -1 100 4 -1 -1 4 100 -1 1 7 1 -1 1 2 -1 -1\n"
                   "1 100 -1 50 2 -1 -1 2 50 -1 1 7 1 -1 1 1 -1 -1\n"
                   "3 1209699 -1 10 1 -1 -1 1 10 -1 1 -1 1 -1 1 2 -1 -1\n"
                   "4 1300000 -1 1000 1 -1 -1 1 10 -1 1 3 1 -1 1 2 -1 -1\n",
                   {{"content_type", "text/plain"}})
                .status == 201);
    summary = a.get("/v1/workloads/weeks/summary").json();
    INFO(summary.dump(1));
    CHECK(summary["core_s"] == 1510);
    CHECK(summary["span_s"] == 1299900);
    CHECK_FALSE(summary.contains("load_ratio"));
    CHECK(summary["user_count"] == 3);
    CHECK(summary["users"][0]["key"] == "3");
    CHECK(summary["users"][1]["core_s"] == 500);
    CHECK(summary["users"][2]["key"] == "unknown");
    CHECK(summary["partitions"][0]["key"] == "2");
    CHECK(summary["partitions"][0]["core_s"] == 1410);
    REQUIRE(summary["week_count"] == 3);
    CHECK(summary["weeks"][0]["from_s"] == 100);
    CHECK(summary["weeks"][1]["from_s"] == 604900);
    CHECK(summary["weeks"][1]["job_count"] == 1);
    CHECK(summary["weeks"][2]["from_s"] == 1209700);
    CHECK(summary["weeks"][2]["core_s"] == 1400);
    json body = {
        {"kind", "queue"},        {"name", "mine"}, {"policies", {"fcfs", "easy"}},
        {"workload_id", "small"}, {"as_swf", true}, {"per_job", true}};
    json direct = a.post("/v1/simulations", body.dump()).json();
    CHECK(direct["job_count"] == 3);
    api_reply queued =
        a.call("POST", "/v1/simulations", body.dump(), {{"prefer", "respond-async"}});
    INFO(queued.body);
    REQUIRE(queued.status == 202);
    std::string path = queued.headers["Location"];
    json end = a.wait_for(path, "done");
    CHECK(timeless(end["result"]) == timeless(direct));
    CHECK(end["progress_ratio"] == 1);
    CHECK(end["name"] == "mine");
    api_reply schedule = a.get(path + "/schedule?policy=easy");
    CHECK(schedule.status == 200);
    CHECK(schedule.body == direct["results"][1]["swf"].get<std::string>());
    CHECK(a.get(path + "/schedule").body ==
          direct["results"][0]["swf"].get<std::string>());
    CHECK(a.get(path + "/schedule?policy=sjf").status == 404);
    body["workload_id"] = "none";
    CHECK(a.post("/v1/simulations", body.dump()).pointers() ==
          std::vector<std::string>{"/workload_id"});
    // So is a study.
    json study = {
        {"kind", "queue"},
        {"workload_id", "small"},
        {"study", {{"grid", {{"policy", {"fcfs", "sjf"}}, {"workload_scale", {1, 2}}}}}}};
    direct = a.post("/v1/simulations", study.dump()).json();
    CHECK(direct["study"]["variants"].size() == 4);
    queued =
        a.call("POST", "/v1/simulations", study.dump(), {{"prefer", "respond-async"}});
    REQUIRE(queued.status == 202);
    end = a.wait_for(queued.headers["Location"], "done");
    CHECK(timeless(end["result"]) == timeless(direct));
    // A text without a client is kept as the JSON that it stands for.
    queued =
        a.call("POST", "/v1/simulations?policies=easy", log_text,
               {{"content_type", "text/plain"}, {"prefer", "respond-async, wait=30"}});
    CHECK(queued.status == 200);
    CHECK(queued.json()["results"][0]["mean_wait_s"] == 33);
    // Stored, and replayed.
    body["workload_id"] = "small";
    body["store"] = true;
    json stored = a.post("/v1/simulations", body.dump()).json();
    CHECK(a.post("/v1/decisions/" + stored["decision_id"].get<std::string>() + "/replay",
                 "")
              .json()["identical"] == true);
}

TEST_CASE("a workload says what simulations do not use", "[queue][db]")
{
    NEED_DATABASE();
    live a;
    const std::map<std::string, std::string> text = {{"content_type", "text/plain"}};
    json summary = a.call("POST", "/v1/workloads?id=turned",
                          "2 9 -1 50 8 -1 -1 8 50 -1 1 1 1 -1 -1 -1 -1 -1\nno job\n"
                          "1 0 -1 10 6 -1 -1 6 10 -1 1 1 1 -1 -1 -1 -1 -1\n",
                          text)
                       .json()["summary"];

    INFO(summary.dump(1));
    CHECK(summary["first_submit_s"] == 0);
    CHECK(summary["last_submit_s"] == 9);
    CHECK(summary["warnings"] ==
          json::parse(
              R"(["skipped: 1 line, first line 2, is no usable job, see skipped",
              "unsorted: 1 line, first line 3, is not in the order of arrival; simulations sort it"])"));
    json answer = a.post("/v1/simulations", R"({"kind": "queue", "processors": 10,
                             "policies": ["fcfs"], "workload_id": "turned"})")
                      .json();
    CHECK(answer["job_count"] == 2);
    CHECK(warnings(answer).size() == 2);
}

TEST_CASE("a replay that takes long is cancelled, and keeps what is done", "[queue][db]")
{
    NEED_DATABASE();
    live a;
    json jobs = json::array();

    for (int i = 0; i < 60000; i++)
        jobs.push_back({{"processors", 1 + i * 7 % 60},
                        {"run_time_s", 100 + i % 97},
                        {"requested_s", 1000 + i * 13 % 991}});
    json body = {{"kind", "queue"},
                 {"processors", 100},
                 {"policies", {"fcfs", "conservative"}},
                 {"jobs", jobs}};
    api_reply queued =
        a.call("POST", "/v1/simulations", body.dump(), {{"prefer", "respond-async"}});
    REQUIRE(queued.status == 202);
    std::string path = queued.headers["Location"];
    while (a.get(path).json()["progress_ratio"] < 0.5)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(a.call("DELETE", path).status == 202);
    json end = a.wait_for(path, "cancelled");
    CHECK(end["result"]["status"] == "cut");
    CHECK(end["result"]["results"].size() == 1);
    CHECK(end["result"]["warnings"].size() == 1);
}

namespace
{

// One resource of 100 cpus as a snapshot, where queue-easy.json has a pool.
json easy_on_resource()
{
    json pool = example("queue-easy"), body = {{"algorithm", "easy"}};
    json resource = {{"id", "seth"}, {"cpus", pool["processors"]}};

    for (const json &r : pool["running"])
        resource["running"].push_back(
            {{"id", r["id"]},
             {"cpus", r["processors"]},
             {"expected_end_s", r["expected_end_s"].get<double>() - 1000}});
    for (const json &r : pool["reservations"])
        resource["reservations"].push_back(
            {{"id", r["id"]},
             {"cpus", r["processors"]},
             {"start_s", r["start_s"].get<double>() - 1000},
             {"end_s", r["end_s"].get<double>() - 1000}});
    for (const json &j : pool["jobs"])
        body["jobs"].push_back({{"id", j["id"]},
                                {"cpus", j["processors"]},
                                {"estimate_s", j["estimate_s"]}});
    body["snapshot"] = {{"resources", {resource}}};
    return body;
}

} // namespace

TEST_CASE("a queue on a resource answers as one on its processors", "[queue][api]")
{
    api a;
    json pool = a.post("/v1/queue-orders", example("queue-easy").dump()).json();
    json answer = a.post("/v1/queue-orders", easy_on_resource().dump()).json();

    INFO(answer.dump(1));
    REQUIRE(answer["starts"].size() == pool["starts"].size());
    for (size_t i = 0; i < pool["starts"].size(); i++) {
        CHECK(answer["starts"][i]["job_id"] == pool["starts"][i]["job_id"]);
        CHECK(answer["starts"][i]["resource_id"] == "seth");
        CHECK(answer["starts"][i]["start_s"] == 0);
        CHECK(answer["starts"][i]["processors"] == pool["starts"][i]["processors"]);
    }
    REQUIRE(answer["waiting"].size() == pool["waiting"].size());
    for (size_t i = 0; i < pool["waiting"].size(); i++) {
        CHECK(answer["waiting"][i]["job_id"] == pool["waiting"][i]["job_id"]);
        CHECK(answer["waiting"][i]["estimated_start_s"] ==
              pool["waiting"][i]["estimated_start_s"].get<double>() - 1000);
    }
    CHECK(answer["waiting"][0]["reason"] == "no_free_now");
    CHECK(answer["waiting"][0]["blocking_job_id"] == "r1");
    CHECK(answer["waiting"][0]["until_s"] == 100);
    CHECK(answer["waiting"][0]["detail"] ==
          "too little is free until job r1 ends at 100");
    CHECK(answer["objective"]["free_processors"] == pool["objective"]["free_processors"]);
    CHECK(answer["warnings"].empty());
}

TEST_CASE("a queue on amounts says who goes where", "[queue][api]")
{
    api a;
    json answer = a.post("/v1/queue-orders", example("queue-snapshot").dump()).json();

    INFO(answer.dump(1));
    REQUIRE(answer["starts"].size() == 2);
    CHECK(answer["starts"][0]["job_id"] == "train");
    CHECK(answer["starts"][0]["resource_id"] == "n1");
    CHECK(answer["starts"][1]["job_id"] == "small");
    CHECK(answer["starts"][1]["resource_id"] == "n1");
    REQUIRE(answer["waiting"].size() == 2);
    CHECK(answer["waiting"][0]["job_id"] == "pair");
    CHECK(answer["waiting"][0]["estimated_start_s"] == 1200);
    CHECK(answer["waiting"][0]["blocking_job_id"] == "r7");
    CHECK(answer["waiting"][1]["job_id"] == "after");
    CHECK(answer["waiting"][1]["reason"] == "not_released");
    CHECK(answer["waiting"][1]["blocking_job_id"] == "pair");
    CHECK(answer["waiting"][1]["until_s"] == 2100);
    REQUIRE(answer["unplaced"].size() == 1);
    CHECK(answer["unplaced"][0]["job_id"] == "huge");
    json why = answer["unplaced"][0]["reasons"][0];
    CHECK(why["reason"] == "too_small");
    CHECK(why["resource_count"] == why["amounts"][0]["short_count"]);
    CHECK(why["amounts"][0]["name"] == "cpus");
    CHECK(why["amounts"][0]["largest"] < why["amounts"][0]["needed"]);
    CHECK(why["nearest_miss"]["shortfall"] > 0);
}

TEST_CASE("exactly one form of a queue is given", "[queue][api]")
{
    api a;
    auto wrong = [&](const char *body) {
        api_reply r = a.post("/v1/queue-orders", body);
        CHECK(r.status == 422);
        return r.pointers();
    };
    using list = std::vector<std::string>;

    CHECK(wrong(R"({"jobs": []})") == list{"/processors"});
    CHECK(wrong(R"({"processors": 2, "snapshot": {"resources": []}, "jobs": []})") ==
          list{"/processors"});
    CHECK(wrong(R"({"snapshot": {"resources": []},
        "running": [{"id": "r", "processors": 1, "expected_end_s": 9}],
        "reservations": [{"id": "x", "processors": 1, "start_s": 1, "end_s": 5}],
        "jobs": []})") == list{"/running", "/reservations"});
    CHECK(wrong(R"({"snapshot": {"resources": []}, "now_s": 5,
        "jobs": [{"id": "j", "processors": 1, "submit_s": 0, "planned_start_s": 3}]})") ==
          list{"/now_s", "/jobs/0/processors", "/jobs/0/submit_s"});
    CHECK(wrong(R"({"processors": 2, "finished_jobs": [{"id": "f"}],
        "jobs": [{"id": "j", "cpus": 2, "estimate_s": 1},
                 {"id": "k", "processors": 1, "nodes": 2}]})") ==
          list{"/finished_jobs", "/jobs/0/processors", "/jobs/0/cpus", "/jobs/1/nodes"});
    CHECK(wrong(R"({"snapshot": {"resources": [{"id": "n"}]}, "algorithm": "eazy",
        "jobs": [{"id": "j", "estimate_s": 1, "after": ["nobody"]}]})") ==
          list{"/algorithm", "/jobs/0/after/0/job_id"});
}

TEST_CASE("gangs and packs wait in a queue as one", "[queue][api]")
{
    api a;
    json body = json::parse(R"({"snapshot": {"resources": [
        {"id": "n1", "cpus": 4, "running": [{"id": "r", "cpus": 4, "expected_end_s": 6}]},
        {"id": "n2", "cpus": 4}]}, "jobs": [
        {"id": "m1", "cpus": 2, "estimate_s": 10, "group": {"id": "g", "policy": "gang"}},
        {"id": "m2", "cpus": 2, "estimate_s": 10, "group": {"id": "g", "policy": "gang"}},
        {"id": "m3", "cpus": 2, "estimate_s": 10, "group": {"id": "g", "policy": "gang"}},
        {"id": "short", "cpus": 4, "estimate_s": 6},
        {"id": "long", "cpus": 4, "estimate_s": 7}]})");
    auto answer = [&](const char *algorithm) {
        body["algorithm"] = algorithm;
        api_reply r = a.post("/v1/queue-orders", body.dump());
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json();
    };
    auto begins = [](const json &of, const std::string &id) {
        for (const json &s : of["starts"])
            if (s["job_id"] == id)
                return 0.0;
        for (const json &w : of["waiting"])
            if (w["job_id"] == id)
                return w["estimated_start_s"].get<double>();
        return -1.0;
    };

    json easy = answer("easy"); // all three at 6; who ends before that may start
    for (const char *id : {"m1", "m2", "m3"})
        CHECK(begins(easy, id) == 6);
    CHECK(begins(easy, "short") == 0);
    CHECK(begins(easy, "long") == 16);
    CHECK(easy["waiting"][0]["blocking_job_id"] == "r");
    json fcfs = answer("fcfs");
    CHECK(begins(fcfs, "m1") == 6);
    CHECK(begins(fcfs, "short") == 16);
    body["jobs"][2]["cpus"] = 5; // there is no such node
    easy = answer("easy");
    CHECK(easy["unplaced"].size() == 3);
    CHECK(begins(easy, "long") == 6);

    body["jobs"][2]["cpus"] = 2;
    for (int i = 0; i < 3; i++)
        body["jobs"][i]["group"]["policy"] = "pack";
    easy = answer("easy"); // two of them at once, the third behind them
    CHECK(begins(easy, "m1") == 0);
    CHECK(begins(easy, "m2") == 0);
    CHECK(begins(easy, "m3") == 10);
    CHECK(begins(easy, "short") == 6);
}

TEST_CASE("a queue on resources is cut by the time limit, and says so", "[queue][api]")
{
    api a;
    json body = {{"time_limit_s", 1e-9}, {"snapshot", {{"resources", json::array()}}}};

    for (int i = 0; i < 50; i++)
        body["snapshot"]["resources"].push_back(
            {{"id", "n" + std::to_string(i)}, {"cpus", 4}});
    for (int i = 0; i < 500; i++)
        body["jobs"].push_back(
            {{"id", "j" + std::to_string(i)}, {"cpus", 3}, {"estimate_s", 10 + i}});
    json answer = a.post("/v1/queue-orders", body.dump()).json();

    INFO(answer["warnings"].dump(1));
    CHECK(answer["status"] == "cut");
    CHECK(answer["starts"].size() >= 1);
    CHECK(answer["starts"].size() + answer["waiting"].size() == 500);
    CHECK(answer["unplaced"].empty());
    for (const char *policy : {"easy", "conservative", "first_fit"}) {
        body["algorithm"] = policy;
        answer = a.post("/v1/queue-orders", body.dump()).json();
        double before = 0;
        for (const json &w : answer["waiting"]) {
            CHECK(w["estimated_start_s"].get<double>() >= before);
            if (w["reason"] == "time_limit")
                before = w["estimated_start_s"].get<double>();
        }
        CHECK(before > 0);
        CHECK(answer["starts"].size() + answer["waiting"].size() == 500);
    }
    CHECK(answer["warnings"].dump().find("time_limit: the time was up") !=
          std::string::npos);
}

TEST_CASE("options of a queue are for one form or the other, and said", "[queue][api]")
{
    api a;
    auto answer = [&](const char *body) {
        api_reply r = a.post("/v1/queue-orders", body);
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json();
    };
    json r = answer(R"({"snapshot": {"resources": [{"id": "n", "cpus": 1}]},
        "options": {"plan_with": "limit"}, "algorithm": "easy",
        "jobs": [{"id": "a", "estimate_s": 10, "time_limit_s": 100},
                 {"id": "b", "estimate_s": 10}]})");
    CHECK(r["waiting"][0]["estimated_start_s"] == 100);
    CHECK(r["warnings"].empty());
    r = answer(R"({"snapshot": {"resources": [{"id": "n", "cpus": 1}]},
        "options": {"compress": false}, "algorithm": "easy", "jobs": []})");
    CHECK(r["warnings"].dump().find("ignored: /options/compress") != std::string::npos);
    r = answer(R"({"processors": 4, "options": {"plan_with": "limit"},
        "algorithm": "easy", "jobs": []})");
    CHECK(r["warnings"].dump().find("ignored: /options/plan_with") != std::string::npos);
    CHECK(r["warnings"].dump().find("compress") == std::string::npos);
    CHECK(a.post("/v1/queue-orders",
                 R"({"processors": 4, "options": {"plan_with": "guess"}, "jobs": []})")
              .pointers() == std::vector<std::string>{"/options/plan_with"});
}

TEST_CASE("promises on a snapshot go out and come back", "[queue][api]")
{
    api a;
    json body = json::parse(R"({"algorithm": "conservative",
        "snapshot": {"resources": [
            {"id": "n", "cpus": 4, "running": [{"id": "r", "cpus": 4,
                                                "expected_end_s": 100}]},
            {"id": "m", "cpus": 1}]},
        "jobs": [{"id": "a", "cpus": 4, "estimate_s": 50},
                 {"id": "b", "cpus": 1, "estimate_s": 20},
                 {"id": "c", "cpus": 1, "estimate_s": 30}]})");
    auto answer = [&] {
        api_reply r = a.post("/v1/queue-orders", body.dump());
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json();
    };
    json told = answer();
    REQUIRE(told["starts"].size() == 1);
    CHECK(told["starts"][0]["job_id"] == "b");
    REQUIRE(told["waiting"].size() == 2);
    CHECK(told["waiting"][0]["planned_start_s"] == 100);
    CHECK(told["waiting"][0]["planned_resource_ids"] == json::parse(R"(["n"])"));
    CHECK(told["waiting"][1]["planned_start_s"] == 20);
    CHECK(told["waiting"][1]["planned_resource_ids"] == json::parse(R"(["m"])"));

    // Ten seconds later b runs, and r will end late; d comes, and is small.
    body["snapshot"]["resources"][0]["running"][0]["expected_end_s"] = 95;
    body["snapshot"]["resources"][1]["running"] = {
        {{"id", "b"}, {"cpus", 1}, {"expected_end_s", 10}}};
    body["jobs"] = json::array();
    for (int i : {0, 1}) {
        const json &w = told["waiting"][(size_t)i];
        body["jobs"].push_back(
            {{"id", w["job_id"]},
             {"cpus", i ? 1 : 4},
             {"estimate_s", i ? 30 : 50},
             {"planned_start_s", w["planned_start_s"].get<double>() - 10},
             {"planned_resource_ids", w["planned_resource_ids"]}});
    }
    body["jobs"].push_back({{"id", "d"}, {"cpus", 1}, {"estimate_s", 15}});
    json kept = answer();
    REQUIRE(kept["waiting"].size() == 3);
    CHECK(kept["waiting"][0]["planned_start_s"] == 95);
    CHECK(kept["waiting"][0]["promise_broken"] ==
          json::parse(R"({"by_s": 5, "blocking_job_id": "r"})"));
    CHECK(kept["waiting"][1]["planned_start_s"] == 10);
    CHECK_FALSE(kept["waiting"][1].contains("promise_broken"));
    CHECK(kept["waiting"][2]["planned_start_s"] == 40);
    CHECK(warnings(kept) ==
          std::vector<std::string>{"promise_broken: 1 job does not start when it was "
                                   "promised to, by planned_start_s"});

    // Other policies promise nothing.
    body["algorithm"] = "easy";
    body["options"] = {{"compress", false}};
    json ignored = answer();
    CHECK_FALSE(ignored["waiting"][0].contains("planned_start_s"));
    CHECK_FALSE(ignored["waiting"][0].contains("planned_resource_ids"));
    CHECK(warnings(ignored) ==
          std::vector<std::string>{
              "ignored: planned_start_s of 2 jobs, first /jobs/0/planned_start_s: easy "
              "makes no promises, conservative does",
              "ignored: /options/compress: easy makes no promises, conservative does"});
    body["algorithm"] = "conservative";

    // A gap that is kept, and said.
    body["snapshot"]["resources"][0]["running"] = json::array();
    json d = body["jobs"][2];
    body["jobs"] = {body["jobs"][0], body["jobs"][1]};
    json still = answer();
    CHECK(still["waiting"][0]["planned_start_s"] == 90);
    CHECK(still["waiting"][0]["detail"] ==
          "keeps the start that it was promised; nobody is in its way now");
    body["options"] = {{"compress", true}};
    CHECK(answer()["starts"][0]["job_id"] == "a");

    // What makes no sense, and what is planned anew.
    body["jobs"][0]["group"] = {{"id", "g"}, {"policy", "gang"}};
    CHECK(answer()["warnings"].dump().find("planned_start_s of 1 job of gangs") !=
          std::string::npos);
    body["jobs"][0]["planned_start_s"] = -31536001;
    d["planned_resource_ids"] = {"m"};
    body["jobs"].push_back(d);
    CHECK(a.post("/v1/queue-orders", body.dump()).pointers() ==
          std::vector<std::string>{"/jobs/0/planned_start_s",
                                   "/jobs/2/planned_resource_ids"});
}
