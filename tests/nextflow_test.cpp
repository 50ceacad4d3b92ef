// nextflow_test.cpp - what Nextflow sends: messages of its weblog, and trace files.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

extern "C" {
#include "models/nextflow.h"
#include "service/auth.h"
#include "service/facade.h"
#include "service/hash.h"
}

using Catch::Detail::Approx;
using nlohmann::json;

namespace
{

std::string file_of(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/tests/data/engines/" + name, std::ios::binary);
    std::ostringstream text;

    REQUIRE(in);
    text << in.rdbuf();
    return text.str();
}

std::vector<std::string> lines_of(const std::string &name)
{
    std::istringstream in(file_of(name));
    std::vector<std::string> lines;

    for (std::string line; std::getline(in, line);)
        if (!line.empty())
            lines.push_back(line);
    return lines;
}

// Stored executions by their names.
std::map<std::string, json> stored(api &a)
{
    std::map<std::string, json> list;
    std::string target = "/v1/executions?page_size=1000";
    json page = a.get(target).json();

    for (const json &item : page["items"])
        list[item["execution_id"].get<std::string>()] = item;
    return list;
}

// As expected.json says, exactly or within a share.
void compare(const std::map<std::string, json> &list, const json &expected, double share,
             bool has_cpus)
{
    REQUIRE(list.size() == expected["executions"].size());
    for (const json &e : expected["executions"]) {
        auto found = list.find(e["execution_id"].get<std::string>());
        INFO(e.dump());
        REQUIRE(found != list.end());
        const json &x = found->second;
        CHECK(x["application_id"] == e["application_id"]);
        CHECK(x["exit_code"] == e["exit_code"]);
        CHECK(x["run_time_s"].get<double>() ==
              Approx(e["run_time_s"].get<double>()).epsilon(share));
        CHECK(x["parameters"]["attempt"] == e["attempt"]);
        if (has_cpus)
            CHECK(x["processors"] == e["cpus"]);
        const char *pairs[][2] = {{"problem_size", "problem_size"},
                                  {"memory_peak_bytes", "peak_memory_bytes"}};
        for (auto &p : pairs) {
            CHECK(x.contains(p[0]) == !e[p[1]].is_null());
            if (x.contains(p[0]) && !e[p[1]].is_null())
                CHECK(x[p[0]].get<double>() ==
                      Approx(e[p[1]].get<double>()).epsilon(share));
        }
    }
}

api_reply send(api &a, const std::string &message, const std::string &query = "")
{
    return a.call("POST", "/v1/ingest/nextflow" + query, message,
                  {{"content_type", "application/json"}});
}

api_reply trace(api &a, const std::string &text, const std::string &query)
{
    return a.call("POST", "/v1/executions?" + query, text,
                  {{"content_type", "text/tab-separated-values"}});
}

double metric(api &a, const std::string &series)
{
    std::string text = a.get("/metrics").body;
    size_t at = text.find("\n" + series + " ");

    return at == std::string::npos ? 0 : std::stod(text.substr(at + series.size() + 2));
}

// No executions and runs of other cases.
void clean_tables()
{
    store_fixture f;
    error err{};

    REQUIRE_OK(db_execute(f.s, "TRUNCATE execution, ingest_run", &err));
}

std::string duration(const char *cell)
{
    double s;
    bool rounded;

    if (!nextflow_duration(cell, &s, &rounded))
        return "refused";
    return std::isnan(s) ? "missing" : json(s).dump() + (rounded ? " rounded" : "");
}

std::string size(const char *cell)
{
    double bytes;
    bool rounded;

    if (!nextflow_size(cell, &bytes, &rounded))
        return "refused";
    return std::isnan(bytes) ? "missing"
                             : json(bytes).dump() + (rounded ? " rounded" : "");
}

} // namespace

TEST_CASE("cells of trace files", "[import]")
{
    struct {
        std::string got, want;
    } cases[] = {
        {duration("1m 2s"), json(62.0).dump() + " rounded"},
        {duration("1d 3h"), json(97200.0).dump() + " rounded"},
        {duration("450ms"), json(0.45).dump() + " rounded"},
        {duration("3.5s"), json(3.5).dump() + " rounded"},
        {duration("2h 5m"), json(7500.0).dump() + " rounded"},
        {duration("20156"), json(20.156).dump()},
        {duration("0"), json(0.0).dump()},
        {duration("-"), "missing"},
        {duration(""), "missing"},
        {duration("5 parsecs"), "refused"},
        {duration("2s 1m"), "refused"},
        {duration("1m 1m"), "refused"},
        {duration("-5s"), "refused"},
        {duration("1,5s"), "refused"},
        {duration("1.2.3s"), "refused"},
        {size("1.5 GB"), json(1610612736.0).dump() + " rounded"},
        {size("512 B"), json(512.0).dump()},
        {size("0"), json(0.0).dump()},
        {size("1 PB"), json(1125899906842624.0).dump() + " rounded"},
        {size("601.2 MB"), json(601.2 * 1048576).dump() + " rounded"},
        {size("1208676473"), json(1208676473.0).dump()},
        {size("-"), "missing"},
        {size("1,5 GB"), "refused"},
        {size("5 EB"), "refused"},
        {size("GB"), "refused"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        INFO(i);
        CHECK(cases[i].got == cases[i].want);
    }
    double x;
    CHECK(nextflow_percent("181.3%", &x));
    CHECK(x == Approx(1.813));
    CHECK(nextflow_percent("97.5", &x));
    CHECK(x == Approx(0.975));
    CHECK(nextflow_percent("-", &x));
    CHECK(std::isnan(x));
    CHECK_FALSE(nextflow_percent("9%%", &x));
    CHECK(nextflow_instant("2026-09-24 14:13:21.542", 0, &x));
    CHECK(x == Approx(1790259201.542).epsilon(1e-15));
    CHECK(nextflow_instant("2026-09-24 14:13:21.542", 7200, &x));
    CHECK(x == Approx(1790259201.542 - 7200).epsilon(1e-15));
    CHECK(nextflow_instant("1790259201542", 7200, &x)); // of no zone
    CHECK(x == Approx(1790259201.542).epsilon(1e-15));
    CHECK(nextflow_instant("-", 0, &x));
    CHECK(std::isnan(x));
    CHECK(nextflow_instant("0", 0, &x)); // not yet
    CHECK(std::isnan(x));
    CHECK(nextflow_instant("2024-02-29 00:00:00", 0, &x));
    CHECK(x == 1709164800);
    for (const char *wrong : {"2026-04-31 00:00:00", "2026-13-01 00:00:00", "yesterday",
                              "2026-09-24T14:13:21", "2026-09-24 14:13", "-5",
                              "2026-09-24 14:13:21.", "2026-09-24 14:13:21.5x"})
        CHECK_FALSE(nextflow_instant(wrong, 0, &x));
}

TEST_CASE("messages: what is read of them", "[import]")
{
    test_arena a;
    auto read = [&](const std::string &text) {
        nextflow_message m;
        error err = collecting_error(a);
        enum error_code code =
            nextflow_message_read(text.data(), text.size(), &m, a, &err);
        CHECK(code == err.code);
        return std::pair(code, m);
    };
    for (const char *text : {"", "[]", "1", "{", R"({"event":1})", R"({"runId":"r"})",
                             R"({"event":"started"} x)", R"({"event":"-"})"})
        CHECK(read(text).first == ERR_MALFORMED);
    CHECK(read(R"({"event":"new_one"})").second.kind == NEXTFLOW_OTHER);
    CHECK(read(R"({"event":"process_completed"})").second.kind == NEXTFLOW_OTHER);
    auto started = read(R"({"event":"started","runId":"r","metadata":{"params":{"x":[{}]},
        "workflow":{"projectName":"p","manifest":{"name":null}}}})")
                       .second;
    CHECK(started.kind == NEXTFLOW_STARTED);
    CHECK(started.application == std::string("p"));
    started =
        read(R"({"metadata":{"workflow":{"manifest":{"name":"m"},"projectName":"p"}},
        "runId":"r","event":"started"})")
            .second;
    CHECK(started.application == std::string("m"));

    auto done = read(R"x({"event":"process_completed","runId":"r","trace":{
        "task_id":7,"name":"A:B (x (y))","status":"COMPLETED","exit":2147483647,
        "attempt":null,"start":1000,"realtime":"2500","%cpu":150,"cpus":"4",
        "memory":-1,"rchar":"-","queue":"q","hostname":"-","peak_rss":"many",
        "read_bytes":{"a":1},"script":"rm -rf /"
}
})x")
                    .second;
    REQUIRE(done.kind == NEXTFLOW_TASK_DONE);
    CHECK(done.task.task_id == std::string("7"));
    CHECK(done.task.process == std::string("A:B"));
    CHECK(std::isnan(done.task.exit_code));
    CHECK(done.task.realtime_s == 2.5);
    CHECK(done.task.start_at_s == 1);
    CHECK(done.task.cpu_ratio == 1.5);
    CHECK(done.task.host == std::string("q"));
    CHECK(std::isnan(done.task.peak_rss_bytes));
    CHECK(done.task.bad_number);

    // As other versions write them, with units.
    auto units = read(R"x({"event":"process_completed","runId":"r","trace":{
        "task_id":8,"name":"A","status":"COMPLETED","realtime":"1m 2s","%cpu":"97.5%",
        "memory":"2 GB","peak_rss":"512 MB","rchar":"1536","start":"1970-01-01 00:00:02"}})x")
                     .second;
    CHECK_FALSE(units.task.bad_number);
    CHECK(units.task.realtime_s == 62);
    CHECK(units.task.cpu_ratio == 0.975);
    CHECK(units.task.memory_bytes == 2147483648.0);
    CHECK(units.task.peak_rss_bytes == 536870912);
    CHECK(units.task.rchar_bytes == 1536);
    CHECK(units.task.start_at_s == 2);

    execution e{};
    bool guessed = true;
    REQUIRE(nextflow_execution(&done.task, "w", "r", &e, &guessed, a) == NEXTFLOW_COUNTS);
    CHECK_FALSE(guessed);
    CHECK(e.execution_id == std::string("r:7:1"));
    CHECK(e.application_id == std::string("w/A:B"));
    CHECK(e.processors == 4);
    CHECK(std::isnan(e.exit_code));
    done.task.exit_code = 140;
    REQUIRE(nextflow_execution(&done.task, "w", "r", &e, &guessed, a) == NEXTFLOW_COUNTS);
    CHECK(json::parse(e.parameters)["failure_kind"] == "time_limit");
    done.task.status = "CACHED";
    CHECK(nextflow_execution(&done.task, "w", "r", &e, &guessed, a) == NEXTFLOW_NOT_RUN);
    // One that failed has failed, whatever its exit code is.
    done.task.status = "FAILED";
    for (double code : {(double)NAN, 0.0, 1.0, 2147483647.0}) {
        done.task.exit_code = code;
        REQUIRE(nextflow_execution(&done.task, "w", "r", &e, &guessed, a) ==
                NEXTFLOW_COUNTS);
        CHECK(e.failure_kind == RUN_FAILURE_ERROR);
        CHECK(json::parse(e.parameters)["failure_kind"] == "error");
        CHECK(std::isnan(e.exit_code) == !(code < 2));
    }
    done.task.exit_code = 137;
    REQUIRE(nextflow_execution(&done.task, "w", "r", &e, &guessed, a) == NEXTFLOW_COUNTS);
    CHECK(e.failure_kind == RUN_FAILURE_MEMORY);
    done.task.exit_code = NAN;
    done.task.realtime_s = NAN;
    CHECK(nextflow_execution(&done.task, "w", "r", &e, &guessed, a) ==
          NEXTFLOW_NO_RUN_TIME);
    done.task.realtime_s = 10;
    done.task.start_at_s = NAN;
    done.task.submit_at_s = 100;
    done.task.duration_s = 14;
    CHECK(nextflow_execution(&done.task, "w", "r", &e, &guessed, a) == NEXTFLOW_COUNTS);
    CHECK(guessed);
    CHECK(e.started_at_s == 104);
}

TEST_CASE("a weblog becomes executions, in any order and twice", "[db]")
{
    NEED_DATABASE();
    for (const char *folder : {"nextflow-1", "nextflow-2"}) {
        clean_tables();
        api a(test_database_url());
        std::vector<std::string> lines = lines_of(std::string(folder) + "/weblog.ndjson");
        json expected = json::parse(file_of(std::string(folder) + "/expected.json"));

        INFO(folder);
        CHECK(lines.size() == expected["events"].get<size_t>());
        for (const std::string &line : lines) {
            api_reply r = send(a, line);
            INFO(line << r.body);
            CHECK(r.status == 200);
            CHECK(r.body == "{}");
        }
        compare(stored(a), expected, 1e-15, true);
        std::mt19937 draw(5);
        std::shuffle(lines.begin(), lines.end(), draw);
        for (const std::string &line : lines)
            CHECK(send(a, line).status == 200);
        compare(stored(a), expected, 1e-15, true);
        double n = (double)expected["executions"].size();
        CHECK(metric(a, "gridplan_facade_events_total{facade=\"nextflow\",result="
                        "\"stored\"}") == n);
        CHECK(metric(a, "gridplan_facade_events_total{facade=\"nextflow\",result="
                        "\"duplicate\"}") == n);
        CHECK(metric(a, "gridplan_facade_events_total{facade=\"nextflow\",result="
                        "\"run\"}") == 2);
    }
}

TEST_CASE("of a weblog nothing secret is kept", "[db]")
{
    NEED_DATABASE();
    clean_tables();
    api a(test_database_url());
    for (const std::string &line : lines_of("nextflow-1/weblog.ndjson"))
        CHECK(send(a, line).status == 200);
    store_fixture f;
    error err{};
    for (const char *table : {"execution", "ingest_run", "idempotency_key", "decision"})
        for (const char *secret : {"SECRET", "/wf/", "outdir", "main.nf"}) {
            std::string sql = std::string("DO $$ BEGIN IF EXISTS (SELECT FROM ") + table +
                              " t WHERE t::text LIKE '%" + secret +
                              "%') THEN RAISE EXCEPTION 'found'; END IF; END $$";
            INFO(sql);
            CHECK(db_execute(f.s, sql.c_str(), &err) == OK);
        }
}

TEST_CASE("the application of a run: query, manifest, project, nextflow", "[db]")
{
    NEED_DATABASE();
    clean_tables();
    api a(test_database_url());
    auto task = [](const std::string &run, int id) {
        return R"({"event":"process_completed","runId":")" + run +
               R"(","trace":{"task_id":)" + std::to_string(id) + R"x(,"name":"P (x)",
               "status" : "COMPLETED",
                          "start" : 1790259202715,
                          "realtime" : 1000,
                          "exit" : 0
    }
})x";
    };
    CHECK(send(a, task("u", 1)).status == 200);
    CHECK(send(a, R"({"event":"started","runId":"v","metadata":{"workflow":
                     {"projectName":"proj"}}})")
              .status == 200);
    CHECK(send(a, task("v", 1)).status == 200);
    CHECK(send(a, task("v", 2), "?application_id=mine").status == 200);
    std::map<std::string, json> list = stored(a);
    CHECK(list["u:1:1"]["application_id"] == "nextflow/P");
    CHECK(list["v:1:1"]["application_id"] == "proj/P");
    CHECK(list["v:2:1"]["application_id"] == "mine/P");
    CHECK(a.call("POST", "/compat/nextflow", task("w", 3)).status == 200);
    CHECK(stored(a).count("w:3:1") == 1);

    // Too long names, no run: counted, not stored.
    CHECK(send(a, task(std::string(300, 'r'), 1)).status == 200);
    CHECK(send(a, R"({"event":"process_completed","trace":{"task_id":1}})").status ==
          200);
    CHECK(stored(a).size() == 4);
    CHECK(metric(a, "gridplan_facade_events_total{facade=\"nextflow\",result="
                    "\"ignored\"}") == 2);
}

TEST_CASE("a weblog without a database, and bodies that are no messages", "[api]")
{
    api a;
    std::string done = R"({"event":"process_completed","runId":"r","trace":{"task_id":1,
        "status":"COMPLETED","start":1790259202715,"realtime":1000}})";

    CHECK(send(a, R"({"event":"process_submitted"})").status == 200);
    CHECK(send(a, R"({"event":"what_is_new","x":1})").body == "{}");
    api_reply r = send(a, done);
    CHECK(r.status == 503);
    CHECK(r.headers["Content-Type"].rfind("text/plain", 0) == 0);
    for (const char *text : {"", "x", "[1]", "{}", "{\"event\":\"\xff\"}"}) {
        r = send(a, text);
        CHECK(r.status == 400);
        CHECK(r.headers["Content-Type"].rfind("text/plain", 0) == 0);
    }
    CHECK(a.call("POST", "/v1/ingest/nextflow", R"({"event":"completed"})",
                 {{"content_type", "text/html"}})
              .status == 200); // whatever the type says
    CHECK(a.call("POST", "/compat/other", "{}").status == 404);
}

TEST_CASE("trace files become executions, exact or rounded", "[db]")
{
    NEED_DATABASE();
    for (const char *folder : {"nextflow-1", "nextflow-2"})
        for (bool raw : {true, false}) {
            clean_tables();
            api a(test_database_url());
            std::string base = folder;
            json expected = json::parse(file_of(base + "/expected.json"));
            std::string id = expected["executions"][0]["execution_id"];
            std::string query = "format=nextflow_trace&application_id=lab/demo&run_id=" +
                                id.substr(0, id.find(':'));

            INFO(base << (raw ? " raw" : " text"));
            api_reply r =
                trace(a, file_of(base + (raw ? "/trace-raw.tsv" : "/trace.tsv")), query);
            INFO(r.body);
            REQUIRE(r.status == 201);
            json answer = r.json();
            CHECK(answer["stored"] == expected["executions"].size());
            CHECK(answer["refused"] == 0);
            std::string warnings = answer["warnings"].dump();
            CHECK((warnings.find("rounded_values: ") != std::string::npos) == !raw);
            CHECK(warnings.find("guessed: ") != std::string::npos); // no column start

            // A trace has no attempt: a second one has a task_id of its own.
            for (json &e : expected["executions"]) {
                std::string name = e["execution_id"];
                e["execution_id"] = name.substr(0, name.rfind(':')) + ":1";
                e["attempt"] = 1;
            }
            compare(stored(a), expected, raw ? 1e-15 : 0.045, false);
            CHECK(trace(a, file_of(base + (raw ? "/trace-raw.tsv" : "/trace.tsv")), query)
                      .json()["duplicates"] == expected["executions"].size());
        }
}

TEST_CASE("a trace file with nothing but wrong rows is refused, and says why", "[api]")
{
    api a;
    std::string head = "task_id\tname\tstatus\tstart\trealtime\n";
    std::string query = "format=nextflow_trace&application_id=w&run_id=r";
    api_reply r = trace(a,
                        head + "1\tA (x)\tCOMPLETED\t2026-09-24 14:13:21\tlong\n"
                               "-\tB (x)\tCOMPLETED\t2026-09-24 14:13:21\t5s\n",
                        query);

    INFO(r.body);
    REQUIRE(r.status == 422);
    REQUIRE(r.json()["errors"].size() == 2);
    CHECK(r.json()["errors"][0]["line"] == 2);
    CHECK(r.json()["errors"][0]["pointer"] == "/realtime");
    CHECK(r.json()["errors"][1]["line"] == 3);
}

TEST_CASE("a trace file may have a mark of UTF-8, and what trace.sep says", "[db]")
{
    NEED_DATABASE();
    for (const char *sep : {"\t", ",", ";", "|"}) {
        clean_tables();
        api a(test_database_url());
        std::string text = "\xef\xbb\xbftask_id\tname\tstatus\tstart\trealtime\n"
                           "1\tA (x)\tCOMPLETED\t2026-09-24 14:13:21\t1500\n";

        for (char &c : text)
            c = c == '\t' ? *sep : c;
        api_reply r = trace(a, text, "format=nextflow_trace&application_id=w&run_id=r");
        INFO(r.body);
        REQUIRE(r.status == 201);
        json rows = a.get("/v1/executions?application_id=w/A").json()["items"];
        REQUIRE(rows.size() == 1);
        CHECK(rows[0]["run_time_s"] == 1.5);
    }
}

TEST_CASE("rows of a trace file that cannot be read are named", "[db]")
{
    NEED_DATABASE();
    clean_tables();
    api a(test_database_url());
    std::string head = "task_id\tprocess\tname\tstatus\texit\tattempt\tstart\trealtime\t"
                       "rchar\thostname\tmore\r\n";
    std::string query =
        "format=nextflow_trace&application_id=w&run_id=r&utc_offset_s=3600";
    api_reply r = trace(
        a,
        head + "1\tP\tP (1)\tCOMPLETED\t0\t2\t2026-09-24 14:13:21\t1m 2s\t1.5 GB\th1\tx\n"
               "2\tP\tP (2)\tCOMPLETED\t0\t1\t2026-09-24 14:13:21\tlong\t1\th1\tx\n"
               "\n"
               "3\tP\tP (3)\tCACHED\t0\t1\t2026-09-24 14:13:21\t5s\t1\th1\tx\n"
               "4\tP\tP (4)\tCOMPLETED\t0\t1\t2026-09-24 14:13:21\t-\t1\th1\tx\n"
               "5\tP\tP (5)\tFAILED\t137\t1\t2026-09-24 14:13:21\t9s\t1,5 GB\th1\n"
               "6\tP\tP (6)\tFAILED\t137\t1\t2026-09-24 14:13:21\t9s\n"
               "-\tP\tP (7)\tFAILED\t1\t1\t2026-09-24 14:13:21\t9s\n",
        query);
    INFO(r.body);
    REQUIRE(r.status == 200);
    json j = r.json();
    CHECK(j["stored"] == 2);
    CHECK(j["refused"] == 3);
    std::string errors;
    for (const json &e : j["errors"])
        errors += e["line"].dump() + e["pointer"].get<std::string>() + " ";
    CHECK(errors == "3/realtime 7/rchar 9/task_id ");
    std::string warnings = j["warnings"].dump();
    CHECK(warnings.find("ignored: 1 row (first in line 5)") != std::string::npos);
    CHECK(warnings.find("no_run_time: 1 row (first in line 6)") != std::string::npos);
    std::map<std::string, json> list = stored(a);
    CHECK(list["r:1:2"]["run_time_s"] == 62);
    CHECK(list["r:1:2"]["resource_id"] == "h1");
    CHECK(list["r:1:2"]["started_at"].get<std::string>().substr(0, 19) ==
          "2026-09-24T13:13:21");
    CHECK(list["r:6:1"]["parameters"]["failure_kind"] == "memory");

    CHECK(warnings.find("short_rows: 3 rows have fewer cells") != std::string::npos);

    // A file that breaks off would give another number; columns are named once.
    r = trace(a,
              "task_id\tname\trealtime\tstart\n1\tP\t5s\t2026-09-24 14:13:21\tx\n"
              "2\tP\t10s\t2026-09-24 14:13:21\n3\tP\t1",
              "format=nextflow_trace&application_id=w&run_id=cut");
    INFO(r.body);
    j = r.json();
    CHECK(j["stored"] == 1);
    CHECK(j["refused"] == 2);
    CHECK(j["errors"][0]["line"] == 2);
    CHECK(j["errors"][0]["detail"] == "more cells than columns");
    CHECK(j["errors"][1]["line"] == 4);
    CHECK(j["errors"][1]["detail"] == "a row that breaks off");
    r = trace(a, "task_id\tname\tname\trealtime\tx\tx\n1\tP\tQ\t5s\t1\t2\n", query);
    CHECK(r.status == 422);
    CHECK(r.body.find("line 1: the column name is there twice") != std::string::npos);

    // Any set of columns that tells tasks apart.
    r = trace(a,
              "native_id\tname\thash\trealtime\tstart\n"
              "77\tP (1)\ta1/b2c3\t5s\t2026-09-24 14:13:21\n"
              "78\tP (2)\t-\t5s\t2026-09-24 14:13:22\n",
              "format=nextflow_trace&application_id=w&run_id=hashes");
    INFO(r.body);
    CHECK(r.json()["stored"] == 2);
    CHECK(r.json()["warnings"].dump().find("guessed: 2 runs are named by hash") !=
          std::string::npos);
    CHECK(stored(a).count("hashes:a1/b2c3:1") == 1);
    CHECK(stored(a).count("hashes:78:1") == 1);

    r = trace(a, "name\tstatus\nx\ty\n", query);
    CHECK(r.status == 422);
    CHECK(r.body.find("no column task_id") != std::string::npos);
    CHECK(trace(a, "", query).status == 422);
    r = trace(a, head, "on_conflict=keep");
    CHECK(r.status == 422);
    CHECK(r.pointers() ==
          std::vector<std::string>{"?/format", "?/application_id", "?/run_id"});
    r = a.call("POST", "/v1/executions?run_id=r", "[]",
               {{"content_type", "application/json"}});
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"?/run_id"});
}

// ---- keys, names, switches ----

namespace
{

struct known_key {
    std::string text, id;
    unsigned scopes;
};
std::vector<known_key> known_keys;

enum error_code find_key(void *, const char *key_id, auth_key *key, error *err)
{
    for (const known_key &k : known_keys)
        if (k.id == key_id) {
            *key = auth_key{};
            strcpy(key->key_id, key_id);
            strcpy(key->tenant, "lab");
            hash_sha256(k.text.data(), k.text.size(), key->digest_sha256);
            key->scopes = k.scopes;
            key->expires_at_s = NAN;
            key->quota = key->tenant_quota = quota_none();
            return OK;
        }
    return fail(err, ERR_NOT_FOUND, "", "none");
}

std::string new_key(unsigned scopes)
{
    char text[AUTH_KEY_SIZE];
    auth_key made{};

    REQUIRE(auth_key_make(text, &made));
    known_keys.push_back({text, made.key_id, scopes});
    return text;
}

std::string base64(const std::string &text)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    unsigned bits = 0;
    int count = 0;

    for (unsigned char c : text) {
        bits = bits << 8 | c;
        for (count += 8; count >= 6; count -= 6)
            out += digits[bits >> (count - 6) & 63];
    }
    if (count > 0)
        out += digits[bits << (6 - count) & 63];
    return out + std::string((4 - out.size() % 4) % 4, '=');
}

} // namespace

TEST_CASE("an import that stores history takes the scope ingest, and else stores nothing",
          "[slurm][api][db]")
{
    NEED_DATABASE();
    clean_tables();
    api a(test_database_url());
    a.handle()->auth = auth_create(true, 100, find_key, nullptr);
    std::string decide = new_key(SCOPE_DECIDE), ingest = new_key(SCOPE_INGEST),
                both = new_key(SCOPE_DECIDE | SCOPE_INGEST);
    std::string document = R"("sacct":"JobID|JobName|Start|End|State|NodeList\n)"
                           R"(1|x|1790000000|1790000100|COMPLETED|n1\n",)"
                           R"("sinfo":"NODELIST|CPUS|MEMORY|STATE\nn1|4|1000|idle\n",)"
                           R"("store_snapshot":"import-scope","now_s":1790000200)";
    auto post = [&](const std::string &key, const char *ingests) {
        return a.call("POST", "/v1/imports/slurm", "{" + document + ingests + "}",
                      {{"authorization", "Bearer " + key}});
    };
    auto get = [&](const std::string &path) {
        return a.call("GET", path, "", {{"authorization", "Bearer " + both}});
    };

    a.call("DELETE", "/v1/snapshots/import-scope", "",
           {{"authorization", "Bearer " + both}});
    api_reply refused = post(decide, ",\"ingest\":true");
    INFO(refused.body);
    CHECK(refused.status == 403);
    CHECK(refused.json()["code"] == "forbidden");
    CHECK(refused.pointers() == std::vector<std::string>{"/ingest"});
    CHECK(get("/v1/snapshots/import-scope").status == 404);
    CHECK(get("/v1/executions").json()["items"].empty());
    CHECK(post(ingest, ",\"ingest\":true").status == 403); // it does not decide

    CHECK(post(decide, ",\"ingest\":false").status == 200);
    CHECK(get("/v1/snapshots/import-scope").status == 200);
    CHECK(get("/v1/executions").json()["items"].empty());
    api_reply stored = post(both, ",\"ingest\":true");
    INFO(stored.body);
    CHECK(stored.status == 200);
    CHECK(get("/v1/executions").json()["items"].size() == 1);
    a.call("DELETE", "/v1/snapshots/import-scope", "",
           {{"authorization", "Bearer " + both}});
    auth_close(a.handle()->auth);
    a.handle()->auth = nullptr;
}

TEST_CASE("keys of scope facade open what other tools call, and nothing else", "[api]")
{
    api a;
    a.handle()->auth = auth_create(true, 100, find_key, nullptr);
    std::string facade = new_key(SCOPE_FACADE), decide = new_key(SCOPE_DECIDE),
                ingest = new_key(SCOPE_INGEST), admin = new_key(SCOPE_ADMIN),
                both = new_key(SCOPE_FACADE | SCOPE_DECIDE);
    std::string message = R"({"event":"process_started"})";
    auto with = [&](const std::string &path, const std::string &key) {
        return a.call("POST", path, message, {{"authorization", "Bearer " + key}}).status;
    };
    auto in_path = [&](const std::string &key) {
        return a.call("POST", "/compat/nextflow/k/" + key, message).status;
    };

    CHECK(with("/v1/ingest/nextflow", facade) == 200);
    CHECK(with("/v1/ingest/nextflow", ingest) == 200);
    CHECK(with("/v1/ingest/nextflow", admin) == 200);
    CHECK(with("/v1/ingest/nextflow", decide) == 403);
    CHECK(with("/compat/nextflow", both) == 200);
    CHECK(a.call("POST", "/v1/ingest/nextflow", message).status == 401);
    CHECK(a.call("POST", "/v1/ingest/nextflow", message,
                 {{"authorization", "Basic " + base64("gridplan:" + facade)}})
              .status == 200);
    CHECK(with("/v1/placements", facade) == 403);
    CHECK(with("/v1/executions", facade) == 403);

    // In the path: a key that can do nothing else, below /compat/ only.
    CHECK(in_path(facade) == 200);
    for (const std::string &key : {decide, ingest, admin, both})
        CHECK(in_path(key) == 404);
    CHECK(in_path("gp_000000000000_" + std::string(64, '0')) == 401);
    CHECK(in_path("nonsense") == 401);
    CHECK(a.call("POST", "/v1/ingest/nextflow/k/" + facade, message).status == 404);
    api_reply r = a.call("POST", "/compat/nextflow/k/" + decide, message);
    CHECK(r.body.find("gp_") == std::string::npos);
    for (auto &h : r.headers)
        CHECK(h.second.find("gp_") == std::string::npos);
    CHECK(a.get("/metrics").body.find("gp_") == std::string::npos);
    auth_close(a.handle()->auth);
    a.handle()->auth = nullptr;
}

TEST_CASE("the key is taken out of a path once", "[api]")
{
    test_arena a;
    struct {
        const char *path, *want, *key;
    } cases[] = {
        {"/compat/k8s/k/KEY/filter", "/compat/k8s/filter", "Bearer KEY"},
        {"/compat/nextflow/k/KEY", "/compat/nextflow", "Bearer KEY"},
        {"/compat/cws/k/KEY/v1/k/x", "/compat/cws/v1/k/x", "Bearer KEY"},
        {"/compat/tpv/process_data", "/compat/tpv/process_data", nullptr},
        {"/compat/k8s/k", "/compat/k8s/k", nullptr},
        {"/compat/", "/compat/", nullptr},
        {"/v1/k/KEY/x", "/v1/k/KEY/x", nullptr},
    };
    for (auto &c : cases) {
        message m{};
        error err{};

        m.path = c.path;
        for (int twice = 0; twice < (std::string(c.path).find("v1/k") > 20 ? 2 : 1);
             twice++)
            REQUIRE(facade_take_key(&m, a, &err) == OK);
        CHECK(m.path == std::string(c.want));
        CHECK(m.key_in_path == (c.key != nullptr));
        CHECK((m.authorization ? m.authorization : std::string("none")) ==
              (c.key ? c.key : "none"));
    }
    CHECK(facade_of("/compat/k8s/filter") == std::string("k8s"));
    CHECK(facade_of("/v1/ingest/nextflow") == std::string("nextflow"));
    CHECK(facade_of("/compat/k8") == nullptr);
    CHECK(facade_of("/v1/placements") == nullptr);
}

TEST_CASE("facades can be switched off one by one", "[api]")
{
    CHECK(facade_is_on("all", "tpv"));
    CHECK(facade_is_on("cws, tpv", "tpv"));
    CHECK_FALSE(facade_is_on("cws, tpv", "k8s"));
    CHECK_FALSE(facade_is_on("", "k8s"));
    test_arena arena;
    error err = collecting_error(arena);
    facade_check_setting("cws,nextfow, all", &err);
    CHECK(err.item_count == 1);

    api a;
    config changed = *a.handle()->config;
    changed.facades = "k8s";
    a.handle()->config = &changed;
    CHECK(send(a, R"({"event":"completed"})").status == 404);
    CHECK(a.call("POST", "/compat/nextflow", R"({"event":"completed"})").status == 404);
    changed.facades = "k8s,nextflow";
    CHECK(send(a, R"({"event":"completed"})").status == 200);
}

TEST_CASE("nf-cws is served where the setting says, besides /compat/cws", "[api]")
{
    api a;
    config changed = *a.handle()->config;
    auto status = [&](const char *mount, const std::string &path) {
        changed.cws_mount = mount;
        return a.call("GET", path, "").status;
    };

    a.handle()->config = &changed;
    CHECK(status("/compat/cws", "/compat/cws/health") == 200);
    CHECK(status("/compat/cws", "/cws/health") == 404);
    CHECK(status("/compat/cws", "/health") == 404);
    CHECK(status("/cws", "/cws/health") == 200);
    CHECK(status("/cws", "/cws/k/KEY/health") == 200);
    CHECK(status("/cws", "/compat/cws/health") == 200);
    CHECK(status("/cws", "/cwsx/health") == 404);
    CHECK(status("/cws", "/cws") == 404);
    CHECK(status("/cws", "/health") == 404);
    CHECK(status("/a/b", "/a/b/health") == 200);
    CHECK(status("", "/health") == 200);
    CHECK(status("/", "/health") == 200);
    CHECK(status("/", "/k/KEY/health") == 200);
    CHECK(status("", "/k/KEY/health") == 200);
    CHECK(status("", "/compat/cws/health") == 200);
    // Of the others the database is asked, which there is not.
    CHECK(status("", "/v1/scheduler/run/task/1") == 503);
    CHECK(status("/cws", "/v1/scheduler/run/task/1") == 404);
    CHECK(status("", "/v1/algorithms") == 200);

    for (const char *good : {"", "/", "/cws", "/a/b-c.d_e~f", "/compat/cws"}) {
        test_arena arena;
        error err = collecting_error(arena);
        facade_check_mount(good, &err);
        INFO(good);
        CHECK(err.item_count == 0);
    }
    for (const char *bad : {"cws", "/cws/", "//cws", "/a//b", "/v1", "/v1/x", "/docs",
                            "/compat", "/compat/k8s", "/k", "/c ws", "/c%20"}) {
        test_arena arena;
        error err = collecting_error(arena);
        facade_check_mount(bad, &err);
        INFO(bad);
        CHECK(err.item_count == 1);
    }
}
