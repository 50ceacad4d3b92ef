// cws_test.cpp - what nf-cws asks of a scheduler of workflows: a run, call by call.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <cmath>
#include <fstream>
#include <functional>

extern "C" {
#include "models/base/rng.h"
#include "models/cws.h"
#include "models/cws_graph.h"
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

    REQUIRE_OK(db_execute(f.s, "TRUNCATE execution, cws_run CASCADE", &err));
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

namespace
{

// Ranks by their definition: the longest of all paths, over the edges that are left when
// each that closes a cycle with those before it is cut.
std::vector<double> ranks_by_hand(const std::vector<double> &time_s,
                                  const std::vector<cws_edge> &edges, size_t *cut)
{
    size_t n = time_s.size();
    std::vector<std::vector<size_t>> next(n);
    std::function<bool(size_t, size_t)> leads = [&](size_t from, size_t to) {
        if (from == to)
            return true;
        for (size_t v : next[from])
            if (leads(v, to))
                return true;
        return false;
    };
    std::function<double(size_t)> longest = [&](size_t v) {
        double most = 0;
        for (size_t w : next[v])
            most = std::max(most, longest(w));
        return most + time_s[v];
    };
    std::vector<double> out;

    *cut = 0;
    for (const cws_edge &e : edges) {
        size_t from = (size_t)e.from_uid / 3, to = (size_t)e.to_uid / 3;
        if (e.from_uid % 3 || e.to_uid % 3)
            continue; // no such vertex
        if (leads(to, from))
            ++*cut;
        else
            next[from].push_back(to);
    }
    for (size_t v = 0; v < n; v++)
        out.push_back(longest(v));
    return out;
}

} // namespace

TEST_CASE("ranks of the processes of nf-cws are longest paths", "[import][property]")
{
    rng r = rng_create(3);

    for (int round = 0; round < 3000; round++) {
        test_arena a;
        size_t n = rng_index(&r, 8), m = n ? rng_index(&r, 15) : 0, loose = 0;
        std::vector<cws_vertex> vertices;
        std::vector<cws_edge> edges;
        std::vector<double> time_s, rank_s(n + 1);

        for (size_t i = 0; i < n; i++) {
            vertices.push_back({3 * (n - 1 - i), "P", "PROCESS"});
            time_s.push_back((double)rng_index(&r, 4)); // zeros and ties
        }
        for (size_t i = 0; i < m; i++) {
            edges.push_back({i, 3 * rng_index(&r, n), 3 * rng_index(&r, n)});
            if (rng_index(&r, 9) == 0)
                edges.back().to_uid++, loose++;
        }
        size_t cut = 0, cut_by_hand, loose_told = 0;
        cws_ranks(vertices.data(), time_s.data(), n, edges.data(), m, rank_s.data(), &cut,
                  &loose_told, nullptr, a);
        std::vector<double> by_uid(time_s.rbegin(), time_s.rend());
        std::vector<double> want = ranks_by_hand(by_uid, edges, &cut_by_hand);
        CHECK(cut == cut_by_hand);
        CHECK(loose_told == loose);
        for (size_t i = 0; i < n; i++)
            CHECK(rank_s[i] == want[n - 1 - i]);
    }
}

TEST_CASE("graphs of nf-cws: what says nothing is left out", "[import]")
{
    test_arena a;
    error err = collecting_error(a);
    cws_vertex *v;
    cws_edge *e;
    uint64_t *uids;
    size_t count, ignored;
    auto of = [&](const std::string &text, auto read, auto **list) {
        err = collecting_error(a);
        return read(text.data(), text.size(), list, &count, &ignored, a, &err);
    };

    REQUIRE(of(R"([{"uid":0,"label":null,"type":"NODE"},{"uid":7,"label":"A","x":[1],)"
               R"("type":"PROCESS"},{"label":"B"},{"uid":-1},{"uid":1.5},{"uid":"2"}])",
               cws_vertices_read, &v) == OK);
    CHECK(count == 2);
    CHECK(ignored == 4);
    CHECK(!cws_is_process(&v[0]));
    CHECK(cws_is_process(&v[1]));
    CHECK(v[1].uid == 7);
    REQUIRE(of(R"([{"uid":1,"from":null,"to":3},{"uid":2,"from":0,"to":7},{"uid":3}])",
               cws_edges_read, &e) == OK);
    CHECK(count == 1);
    CHECK(ignored == 2);
    CHECK(e[0].from_uid == 0);
    CHECK(e[0].to_uid == 7);
    REQUIRE(of(R"([3,{"uid":4},"5",6])", cws_uids_read, &uids) == ERR_MALFORMED);
    REQUIRE(of(R"([3,{"uid":4},6.5])", cws_uids_read, &uids) == OK);
    CHECK(count == 2);
    CHECK(ignored == 1);
    CHECK(of("", cws_uids_read, &uids) == OK);
    CHECK(count == 0);
    for (const char *bad : {"{}", "null", "[", "[null]", "[[]]", "[{}] x"})
        CHECK(of(bad, cws_vertices_read, &v) == ERR_MALFORMED);
}

TEST_CASE("tasks of nf-cws have an order, of whichever replica", "[db]")
{
    NEED_DATABASE();
    clean_tables();
    api a(test_database_url()), other(test_database_url());
    std::string run = at + "ordered";
    auto start = [&](const char *strategy) {
        CHECK(call(a, "POST", run, "{\"strategy\":\"" + std::string(strategy) + "\"}")
                  .status == 200);
    };
    auto add = [&](int id, const std::string &process) {
        CHECK(call(id % 2 ? a : other, "POST", run + "/task/" + std::to_string(id),
                   R"({"task":")" + process + R"(","runName":"p)" + std::to_string(id) +
                       "\"}")
                  .status == 200);
    };
    auto took = [&](int id, int ms) {
        CHECK(call(a, "POST", run + "/metrics/task/" + std::to_string(id),
                   R"({"realtime":)" + std::to_string(ms) + "}")
                  .status == 200);
    };
    auto order = [&] {
        std::string out;
        json j = call(a, "GET", run).json();
        CHECK(call(other, "GET", run).json() == j);
        for (const json &t : j["tasks"])
            out += t["task_id"].dump() + ":" +
                   (t.contains("rank_s") ? t["rank_s"].dump() : "-") + " ";
        return out;
    };

    CHECK(call(a, "GET", run).status == 400);
    start("rank_max-fair");
    CHECK(call(a, "POST", run + "/DAG/vertices",
               R"([{"uid":0,"label":"in","type":"ORIGIN"},
                   {"uid":1,"label":"A","type":"PROCESS"},
                   {"uid":2,"label":"B","type":"PROCESS"},
                   {"uid":3,"label":"C","type":"PROCESS"},
                   {"uid":4,"label":"map","type":"OPERATOR"}])")
              .status == 200);
    CHECK(call(other, "POST", run + "/DAG/edges",
               R"([{"uid":10,"from":0,"to":1},{"uid":11,"from":1,"to":4},
                   {"uid":12,"from":4,"to":3},{"uid":13,"from":3,"to":1},
                   {"uid":14,"from":3,"to":null},{"uid":15,"from":2,"to":99}])")
              .status == 200);
    for (int id = 1; id <= 4; id++)
        add(id, id == 1 ? "C" : id == 2 ? "B" : id == 3 ? "A" : "Z");
    // Nobody has run: 60 s each. A leads to C over an operator; 3 -> 1 is cut.
    CHECK(order() == "3:120 1:60 2:60 4:- ");
    json j = call(a, "GET", run).json();
    CHECK(j["order"] == "rank");
    CHECK(j["strategy"] == "rank_max-fair");
    CHECK(j["vertex_count"] == 5);
    CHECK(j["edge_count"] == 5); // one has no end
    CHECK(j["processes"].size() == 3);
    CHECK(j["warnings"].size() == 3);
    CHECK(j["warnings"][0] == "cycle: 1 edge that closes one is cut");
    took(1, 8000);
    took(2, 20000);
    // A as the mean of these two, 14 s.
    CHECK(order() == "3:22 2:20 1:8 4:- ");
    // Duplicates are accepted, and the first stays.
    CHECK(call(a, "POST", run + "/DAG/vertices",
               R"([{"uid":3,"label":"X","type":"NODE"},{"uid":3},{"uid":5}])")
              .status == 200);
    CHECK(call(a, "GET", run).json()["vertex_count"] == 6);
    CHECK(order() == "3:22 2:20 1:8 4:- ");
    CHECK(call(a, "DELETE", run + "/DAG/edges", "[12]").status == 200);
    CHECK(call(a, "DELETE", run + "/DAG/vertices", R"([{"uid":5},{"uid":77}])").status ==
          200);
    CHECK(call(a, "DELETE", run + "/DAG/vertices").status == 200);
    CHECK(call(a, "GET", run).json()["vertex_count"] == 5);
    CHECK(order() == "1:22 2:20 3:14 4:- ");
    CHECK(call(a, "POST", run + "/DAG/edges", "{}").status == 400);

    start("fifo");
    CHECK(call(a, "GET", run).json()["vertex_count"] == 0);
    for (int id : {9, 2, 5})
        add(id, "A");
    CHECK(order() == "9:- 2:- 5:- ");
    CHECK(call(a, "GET", run).json()["order"] == "arrival");

    std::string metrics = a.get("/metrics").body + other.get("/metrics").body;
    auto shows = [&](const std::string &series) {
        INFO(series << " in " << metrics);
        CHECK(metrics.find("\ngridplan_facade_" + series + "\n") != std::string::npos);
    };
    shows("dropped_total{facade=\"cws\",reason=\"incomplete\"} 1"); // an edge without end
    shows("events_total{facade=\"cws\",result=\"incomplete\"} 1");
    shows("requests_total{facade=\"cws\",code=\"400\"} 2");
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

    // A second registration begins anew, whatever it says of a strategy.
    CHECK(call(a, "POST", at + "x", "").status == 200);
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
