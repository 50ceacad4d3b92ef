// slurm_history_test.cpp - what accounting says of jobs that ended, and of nodes that
// failed.
#include "tests/database.hpp"
#include "tests/slurm_support.hpp"

#include <ctime>
#include <regex>

#include <algorithm>

using nlohmann::json;

static json history(api &a, const std::string &sacct, const std::string &events = "",
                    const std::string &more = "")
{
    std::string body = "{";

    add_part(body, "sacct", sacct);
    add_part(body, "events", events);
    api_reply r = a.post("/v1/imports/slurm", body + more + ", \"now_s\": 1}");
    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 200);
    return r.json();
}

TEST_CASE("each end of a job is what it says of its run time", "[slurm]")
{
    api a;
    json r = history(
        a,
        "Cluster|JobID|JobIDRaw|JobName|User|Submit|Eligible|Start|End|State|ExitCode|"
        "AllocTRES|ReqTRES|NodeList|MaxRSS\n"
        "c|1|1|run_001|ann|1000|1010|1030|1130|COMPLETED|0:0|cpu=4,node=1|mem=1G|n1|\n"
        "c|1.batch|1.batch|batch||1030|1030|1030|1130|COMPLETED|0:0|||n1|1000K\n"
        "c|1.0|1.0|x||1030|1030|1030|1130|COMPLETED|0:0|||n1|2000K\n"
        "c|2|2|run_002|ann|1000|1000|1000|4600|TIMEOUT|0:0|cpu=4|mem=2G,node=2|n[1-2]|\n"
        "c|3|3|big|ann|1000|1000|1000|1100|OUT_OF_MEMORY|0:125|cpu=1|mem=2G,node=2|n1|\n"
        "c|4|4|a|b|ann|1000|1000|1000|1100|FAILED|3:0|cpu=1||n1|\n"
        "c|5|5|x|ann|1000|1000|None|1100|CANCELLED by 1001|0:0|||None assigned|\n"
        "c|6|6|x|ann|1000|1000|1000|1100|CANCELLED by 1001|0:15|cpu=1||n1|\n"
        "c|7|7|x|ann|1000|1000|1000|Unknown|RUNNING|0:0|cpu=1||n1|\n"
        "c|8|8|x|ann|1000|1000|1000|1100|NODE_FAIL|0:0|cpu=1||n3|\n"
        "c|9|9|x|ann|1000|1000|1000|1050|PREEMPTED|0:0|cpu=1||n1|\n"
        "c|9|9|x|ann|1175|1175|1200|1300|COMPLETED|0:0|cpu=1||n1|\n");
    json runs = r.at("executions");

    REQUIRE(runs.size() == 8);
    CHECK(runs.at(0).at("execution_id").get<std::string>() == "slurm:c:1:1030");
    CHECK(runs.at(0).at("application_id").get<std::string>() == "run");
    CHECK(runs.at(0).at("run_time_s").get<double>() == 100);
    CHECK(runs.at(0).at("queue_wait_s").get<double>() == 20);
    CHECK(runs.at(0).at("processors").get<double>() == 4);
    CHECK(runs.at(0).at("memory_peak_bytes").get<double>() == 2048000);
    CHECK(runs.at(0).at("exit_code").get<double>() == 0);
    CHECK(runs.at(0).at("resource_id").get<std::string>() == "n1");
    CHECK(runs.at(1).at("application_id").get<std::string>() == "run");
    CHECK(runs.at(1).at("exit_code").get<double>() == 1);
    CHECK_FALSE(runs.at(1).contains("resource_id"));
    CHECK(runs.at(2).at("exit_code").get<double>() == 253);
    CHECK(runs.at(3).at("application_id").get<std::string>() == "a|b");
    CHECK(runs.at(3).at("exit_code").get<double>() == 3);
    CHECK(runs.at(6).at("execution_id").get<std::string>() == "slurm:c:9:1000");
    CHECK(runs.at(7).at("execution_id").get<std::string>() == "slurm:c:9:1200");

    std::string kinds;
    for (const auto &row : r.at("censored"))
        kinds += row.at("failure_kind").get<std::string>() + " ";
    CHECK(kinds == "time_limit memory error cancelled host cancelled ");
    CHECK(r.at("censored").at(1).at("memory_requested_bytes").get<double>() ==
          1073741824.0);
    REQUIRE(r.at("failures").size() == 1);
    CHECK(r.at("failures").at(0).at("resource_id").get<std::string>() == "n3");
    std::string warnings = r.at("warnings").dump();
    CHECK(warnings.find("skipped: 1: jobs of accounting that have not ended") !=
          std::string::npos);
    CHECK(warnings.find("skipped: 1: jobs of accounting that never ran") !=
          std::string::npos);
}

TEST_CASE("attempts have their own steps, and memory is asked for in three ways",
          "[slurm]")
{
    api a;
    json r = history(
        a,
        "JobID|JobIDRaw|JobName|Start|End|State|ExitCode|NCPUS|ReqMem|ReqNodes|MaxRSS\n"
        "10|10|x|1000|1100|NODE_FAIL|0:0|4|4Gn|2|\n"
        "10.batch|10.batch|batch|1000|1100|CANCELLED|0:15|2|4Gn||1024K\n"
        "10|10|x|1200|1300|COMPLETED|0:0|4|4Gn|2|\n"
        "10.batch|10.batch|batch|1200|1300|COMPLETED|0:0|2|4Gn||3M\n"
        "10.0|10.0|step|1210|1290|COMPLETED|0:0|2|4Gn||2M\n"
        "11|11|x|1000|1100|TIMEOUT|0:0|4|500Mc|2|1.5G\n"
        "12|12|x|1000|1100|FAILED|2:0|4|2000M|2|120\n"
        "13|13|x|1000|1100|FAILED|0:9|4|0n|2|\n");
    json runs = r.at("executions");
    auto figure = [&](size_t i, const char *name) {
        return runs.at(i).contains(name) ? runs.at(i).at(name).get<double>() : -1;
    };

    REQUIRE(runs.size() == 5);
    CHECK(figure(0, "memory_peak_bytes") == 1048576);
    CHECK(figure(1, "memory_peak_bytes") == 3145728);
    CHECK(figure(0, "attempt") == 1);
    CHECK(figure(1, "attempt") == 2);
    CHECK(runs.at(0).at("failure_kind").get<std::string>() == "host");
    CHECK(!runs.at(1).contains("failure_kind"));
    CHECK(figure(0, "memory_requested_bytes") == 4 * 1073741824.0);        // of a node
    CHECK(figure(2, "memory_requested_bytes") == 4 * 500 * 1048576.0 / 2); // of a cpu
    CHECK(figure(3, "memory_requested_bytes") == 2000 * 1048576.0 / 2);    // of the job
    CHECK(figure(4, "memory_requested_bytes") == -1);
    CHECK(figure(3, "memory_peak_bytes") == 120);
    CHECK(figure(3, "exit_code") == 2);
    CHECK(figure(4, "exit_code") == 137);
}

TEST_CASE("accounting as JSON since v0.0.40", "[slurm]")
{
    api a;
    json job = json::parse(R"({"job_id": 77, "name": "run_001", "cluster": "c1",
        "nodes": "n[1-2]", "allocation_nodes": 2,
        "time": {"eligible": 900, "submission": 900, "start": 1000, "end": 4600,
                 "limit": {"set": true, "infinite": false, "number": 90}},
        "state": {"current": ["OUT_OF_MEMORY"], "reason": "None"},
        "exit_code": {"status": ["SIGNALED"],
                      "return_code": {"set": false, "infinite": false, "number": 0},
                      "signal": {"id": {"set": true, "infinite": false, "number": 9}}},
        "tres": {"allocated": [{"type": "cpu", "name": "", "id": 1, "count": 8},
                               {"type": "gres", "name": "gpu", "id": 9, "count": 2}],
                 "requested": [{"type": "cpu", "name": "", "id": 1, "count": 8},
                               {"type": "mem", "name": "", "id": 2, "count": 4000},
                               {"type": "node", "name": "", "id": 4, "count": 2}]},
        "steps": [{"step": {"name": "batch"}, "tres": {
            "allocated": [{"type": "mem", "count": 4000}],
            "requested": {"min": [{"type": "mem", "count": 1}],
                          "max": [{"type": "cpu", "name": "", "count": 9999999999},
                                  {"type": "mem", "name": "", "count": 5368709120}],
                          "total": [{"type": "mem", "count": 9999999999}]}}},
                  {"tres": {"requested": {"max": [{"type": "mem", "count": 7}]}}},
                  {"step": {"name": "extern"}}, 5]})");
    json r = history(a, (json{{"jobs", {job, job}}, {"errors", json::array()}}).dump());
    json run = r.at("executions").at(0);

    CHECK(run.at("processors").get<double>() == 8);
    CHECK(run.at("memory_peak_bytes").get<double>() == 5368709120.0);
    CHECK(run.at("memory_requested_bytes").get<double>() == 2000 * 1048576.0);
    CHECK(run.at("failure_kind").get<std::string>() == "memory");
    CHECK(run.at("exit_code").get<double>() == 137);
}

TEST_CASE("accounting is stored once, failures get their end", "[slurm][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    // What an earlier run has stored has other names.
    const std::string tag = "c" + std::to_string(std::time(nullptr));
    auto rewritten = [&](const std::string &text) {
        return std::regex_replace(text, std::regex("ing"), tag);
    };
    auto ingest = [&](const char *up) {
        std::string body = "{\"ingest\": true";
        add_part(body, "sacct",
                 rewritten("Cluster|JobID|JobName|Start|End|State|ExitCode|NodeList\n"
                           "ing|1|ing_1|1790000000|1790000100|COMPLETED|0:0|ing_1\n"
                           "ing|2|ing_2|1790000000|1790000100|TIMEOUT|0:0|ing_1\n"
                           "ing|3|ing_3|1790000000|1790000100|NODE_FAIL|0:0|ing_[1-2]\n"
                           "ing|4|ing_4|4790000000|4790000100|COMPLETED|0:0|ing_1\n"));
        add_part(body, "events",
                 rewritten(std::string("Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n"
                                       "ing|ing_3|1790000000|") +
                           up + "|DOWN|power\n"));
        api_reply r = a.post("/v1/imports/slurm", body + "}");
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json().at("ingested").dump();
    };

    // The fourth is of the future.
    CHECK(ingest("Unknown") ==
          R"({"executions_duplicates":0,"executions_stored":3,"failures_duplicates":0,)"
          R"("failures_stored":3,"refused":1})");
    CHECK(ingest("Unknown") ==
          R"({"executions_duplicates":3,"executions_stored":0,"failures_duplicates":3,)"
          R"("failures_stored":0,"refused":1})");
    CHECK(ingest("1790000050") ==
          R"({"executions_duplicates":3,"executions_stored":0,"failures_duplicates":2,)"
          R"("failures_stored":1,"refused":1})");
    json runs = a.get("/v1/executions?application_id=" + tag).json().at("items");
    REQUIRE(runs.size() == 3);
    std::string kinds;
    for (const auto &row : runs)
        kinds += row.at("failure_kind").get<std::string>() + " ";
    CHECK(kinds == "none time_limit host ");
    json down = a.get("/v1/failures?resource_id=" + tag + "_3").json().at("items");
    REQUIRE(down.size() == 1);
    CHECK(!down.at(0).at("up_at").is_null());
}

TEST_CASE("storing accounting takes a database", "[slurm][api]")
{
    api a;
    std::string body = "{\"ingest\": true";

    add_part(body, "sacct", "JobID|JobName|Start|End|State\n1|x|1000|1100|COMPLETED\n");
    CHECK(a.post("/v1/imports/slurm", body + "}").status == 503);
}

TEST_CASE("events of nodes are failures", "[slurm]")
{
    api a;
    const std::string events =
        "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"
        "c||2026-11-22T10:18:50|Unknown||Cluster Registered TRES|\n"
        "c|n1|2026-11-22T10:00:00|2026-11-22T11:00:00|DOWN*|power|root(0)\n"
        "c|n2|2026-11-22T10:00:00|Unknown|FAIL|a|b|root(0)\n"
        "c|n3|2026-11-22T10:00:00|Unknown|IDLE*|Not responding|root(0)\n"
        "c|n4|2026-11-22T10:00:00|2026-11-22T11:00:00|DRAIN|update|root(0)\n"
        "c|n5|2026-11-22T10:00:00|2026-11-22T11:00:00|INVAL|gres|root(0)\n";
    json r = history(a, "", events).at("failures");

    REQUIRE(r.size() == 3);
    CHECK(r.at(0).dump() == R"({"cause":"power","down_at":"2026-11-22T10:00:00Z",)"
                            R"("resource_id":"n1","up_at":"2026-11-22T11:00:00Z"})");
    CHECK_FALSE(r.at(1).contains("up_at"));
    CHECK(r.at(1).at("cause").get<std::string>() == "a|b");
    CHECK(r.at(2).at("resource_id").get<std::string>() == "n3");
    CHECK(history(a, "", events, ", \"drain_is_failure\": true").at("failures").size() ==
          4);
}

TEST_CASE("accounting of the recordings, as text and as JSON", "[slurm]")
{
    api a;

    for (const std::string &recording : recordings()) {
        std::string text = recorded(recording, "sacct.txt");
        std::string as_json = recorded(recording, "sacct.json");
        INFO(recording);
        json r = history(a, text, "", ", \"tz_offset_s\": 0");
        json truth = json::parse(recorded(recording, "truth.json"));
        size_t ran = 0;

        CHECK(r.at("warnings").dump().find("too few") == std::string::npos);
        if (recording.substr(0, 4) == "live") {
            for (const auto &row : truth.at("actual"))
                ran += row.contains("start_s") && row.at("start_s").is_number() &&
                       row.at("end_s").get<double>() > row.at("start_s").get<double>();
            CHECK(r.at("executions").size() == ran);
        }
        if (as_json.empty() || !r.contains("executions"))
            continue;
        json j = history(a, as_json);
        REQUIRE(j.contains("executions"));
        CHECK(j.at("executions").size() == r.at("executions").size());
        auto told = [](const json &from) {
            std::vector<std::string> list;
            for (const auto &row : from.at("executions"))
                list.push_back(row.at("execution_id").dump() +
                               row.at("application_id").dump() +
                               row.at("run_time_s").dump());
            std::sort(list.begin(), list.end());
            return list;
        };
        CHECK(told(j) == told(r));
    }
}

TEST_CASE("patterns of applications", "[slurm]")
{
    api a;
    const std::string rows =
        "JobID|JobName|User|Account|Start|End|State\n"
        "1|fit-12|ann|phys|1000|1100|COMPLETED\n2|007|ann|phys|1000|1100|COMPLETED\n";

    json r = history(a, rows, "", R"(, "application_pattern": "{account}/{name}!")")
                 .at("executions");
    CHECK(r.at(0).at("application_id").get<std::string>() == "phys/fit!");
    CHECK(r.at(1).at("application_id").get<std::string>() == "phys/007!");
    auto application = [&](const std::string &pattern) {
        return history(a, rows, "", ", \"application_pattern\": " + json(pattern).dump())
            .at("executions")
            .at(0)
            .at("application_id")
            .get<std::string>();
    };
    CHECK(application("{account}/{name} s/i/o/") == "phys/fot");
    CHECK(application("s/[a-z]/x/") == "xit");
    CHECK(application("{account}.{user} s/[aeny]+/-/g s/^ph//") == "-s.-");
    CHECK(application("{account} s/s$/z/ s/^/lab\\// s/h*/_/g") == "_l_a_b_/_p_y_z_");
    CHECK(application("{account} s/p|phy/Q/") == "Qs"); // the longest
    CHECK(application("{account} s/.*//") == "job");
    for (const char *bad : {"{nam}", "{name", "{", "", "{{name}}", "s/a/", "s/a", "s//b/",
                            "s/a/b/ {name}", "s/(/b/", "{name} s/a/b/x"}) {
        INFO(bad);
        std::string body = "{";
        add_part(body, "sacct", rows);
        CHECK(a.post("/v1/imports/slurm",
                     body + ", \"application_pattern\": \"" + bad + "\"}")
                  .pointers() == std::vector<std::string>{"/application_pattern"});
    }
}
