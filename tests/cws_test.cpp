// cws_test.cpp - what nf-cws asks of a scheduler of workflows: a run, call by call.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <cmath>
#include <fstream>

extern "C" {
#include "models/cws.h"
}

using nlohmann::json;

namespace
{

const std::string at = "/compat/cws/v1/scheduler/";

api_reply call(api &a, const std::string &method, const std::string &path,
               const std::string &body = "")
{
    return a.call(method, path, body, {{"content_type", "application/json"}});
}

std::string state(api &a, const std::string &task)
{
    api_reply r = call(a, "GET", at + task);

    return r.status == 200 ? r.json()["state"].get<std::string>()
                           : std::to_string(r.status);
}

void clean_tables()
{
    store_fixture f;
    error err{};

    REQUIRE_OK(db_execute(f.s, "TRUNCATE execution, cws_run, cws_task", &err));
}

const char *task = R"x({"runName":"nf-1","task":"ALIGN","name":"ALIGN (s1)","cpus":4,
    "memoryInBytes":17179869184,"repetition":1,"inputSize":4823449600,
    "inputs":{"fileInputs":[{"name":"reads","value":{"storePath":"/secret"}}]}})x";

} // namespace

TEST_CASE("bodies of nf-cws", "[import]")
{
    test_arena a;
    cws_task t;
    cws_metrics m;
    const char *strategy;
    error err = collecting_error(a);

    REQUIRE(cws_task_read(task, strlen(task), &t, a, &err) == OK);
    CHECK(t.process == std::string("ALIGN"));
    CHECK(t.pod == std::string("nf-1"));
    CHECK(t.cpus == 4);
    CHECK(t.memory_bytes == 17179869184.0);
    CHECK(t.input_bytes == 4823449600.0);
    CHECK(t.attempt == 2);
    REQUIRE(cws_task_read(R"({"task":"P","cpus":"x","repetition":null})", 20, &t, a,
                          &err) == ERR_MALFORMED); // cut
    err = collecting_error(a);
    std::string text = R"({"task":"P","cpus":"x","repetition":null,"inputSize":0})";
    REQUIRE(cws_task_read(text.data(), text.size(), &t, a, &err) == OK);
    CHECK(std::isnan(t.cpus));
    CHECK(std::isnan(t.input_bytes));
    CHECK(t.attempt == 1);
    text = R"({"name":"no process"})";
    CHECK(cws_task_read(text.data(), text.size(), &t, a, &err) == ERR_MALFORMED);
    err = collecting_error(a);
    text = R"({"peakRss":100,"realtime":2500,"more":[]})";
    REQUIRE(cws_metrics_read(text.data(), text.size(), &m, a, &err) == OK);
    CHECK(m.run_time_s == 2.5);
    CHECK(m.peak_rss_bytes == 100);
    text = R"({"strategy":null})";
    REQUIRE(cws_strategy_read(text.data(), text.size(), &strategy, a, &err) == OK);
    CHECK(strategy == nullptr);
}

TEST_CASE("a recorded run of nf-cws gets the answers that it needs", "[db]")
{
    NEED_DATABASE();
    clean_tables();
    api a(test_database_url()), other(test_database_url()); // two replicas in turn
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/tests/data/engines/cws-1/cws.ndjson");
    size_t calls = 0;

    for (std::string line; std::getline(in, line); calls++) {
        json c = json::parse(line);
        std::string body = c["body"].is_null() ? "" : c["body"].dump();
        api_reply r = call(calls % 2 ? a : other, c["method"],
                           "/compat/cws" + c["path"].get<std::string>(), body);

        INFO(line << "\n" << r.body);
        CHECK(r.status == c["expect_status"].get<int>());
        if (c["expect_body"].is_string()) // "object": any
            CHECK(r.body == "{}");
        else if (!c["expect_body"].is_null())
            CHECK(r.json() == c["expect_body"]);
        if (r.status != 200)
            CHECK(r.headers["Content-Type"].rfind("text/plain", 0) == 0);
    }
    CHECK(calls == 51);
}

TEST_CASE("tasks of nf-cws: states, metrics, what is not known", "[db]")
{
    NEED_DATABASE();
    clean_tables();
    api a(test_database_url());
    CHECK(call(a, "POST", at + "x", R"({"strategy":"no such thing"})").status == 200);
    CHECK(call(a, "POST", at + "x/task/7", task).body == "{}");
    CHECK(state(a, "x/task/7") == "UNSCHEDULED");
    CHECK(call(a, "POST", "/compat/k8s/prioritize",
               R"({"Pod":{"metadata":{"name":"nf-1"}},"NodeNames":["n"]})")
              .json() == json::parse(R"([{"Host":"n","Score":0}])"));
    CHECK(state(a, "x/task/7") == "SCHEDULED");
    CHECK(call(a, "POST", at + "x/metrics/task/7",
               R"({"ramRequest":1,"peakVmem":2,"peakRss":3000000000,"realtime":69000})")
              .status == 200);
    CHECK(call(a, "POST", at + "x/metrics/task/7", R"({"peakRss":1})").status == 200);
    CHECK(call(a, "DELETE", at + "x/task/7").status == 200);
    CHECK(state(a, "x/task/7") == "FINISHED");
    json page = a.get("/v1/executions").json();
    REQUIRE(page["items"].size() == 1);
    json run = page["items"][0];
    CHECK(run["execution_id"] == "cws:x:7:2");
    CHECK(run["application_id"] == "cws/ALIGN");
    CHECK(run["run_time_s"] == 69);
    CHECK(run["memory_peak_bytes"] == 3000000000);
    CHECK(run["problem_size"] == 4823449600);
    CHECK(run["processors"] == 4);
    CHECK(run.dump().find("secret") == std::string::npos);

    // A second registration begins anew.
    CHECK(call(a, "POST", at + "x", "{}").status == 200);
    CHECK(state(a, "x/task/7") == "404");
    for (const char *method : {"DELETE", "GET"})
        for (const char *id : {"8", "-1", "abc", "99999999999999999999"})
            CHECK(call(a, method, at + "x/task/" + id).status == 404);
    CHECK(call(a, "POST", at + "x/task/abc", task).status == 404);
    CHECK(call(a, "POST", at + "x/metrics/task/8", "{}").status == 404);
    CHECK(call(a, "POST", at + "x/task/8", "{}").status == 400);
    CHECK(call(a, "POST", at + "x/task/8", "\xff").status == 400);

    // A run that is not known.
    CHECK(state(a, "y/task/7") == "400");
    CHECK(call(a, "POST", at + "y/task/7", task).status == 400);
    CHECK(call(a, "POST", at + "y/DAG/edges", "[]").status == 400);
    CHECK(call(a, "PUT", at + "y/startBatch").status == 400);
    CHECK(call(a, "DELETE", at + "y").status == 400);
    CHECK(call(a, "DELETE", at + "x").status == 200);
    CHECK(call(a, "DELETE", at + "x").status == 400);
    for (const char *path : {"v1/file/x", "v1/daemon/x/n", "v1/downloadtask/x", "v2"})
        CHECK(call(a, "POST", std::string("/compat/cws/") + path).status == 404);
}
