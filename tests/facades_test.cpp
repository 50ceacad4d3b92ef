// facades_test.cpp - what kube-scheduler and Galaxy ask.
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/model_support.hpp"

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

extern "C" {
#include "algorithms/placement/each.h"
#include "handlers/common/snapshot_json.h"
#include "models/kubernetes.h"
#include "models/tpv.h"
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

double quantity(const char *text)
{
    double value = -1;

    return kubernetes_quantity(text, &value) ? value : -1;
}

kubernetes_args args_of(arena *a, const std::string &text)
{
    kubernetes_args args{};
    error err = collecting_error(a);

    const char *kept = arena_text(a, text.data(), text.size()); // nodes point into it
    REQUIRE(kubernetes_args_read(kept, text.size(), &args, a, &err) == OK);
    return args;
}

json sorted(api &a, const json &body)
{
    api_reply r = a.post("/compat/tpv/process_data", body.dump());

    INFO(r.body);
    REQUIRE(r.status == 200);
    return r.json()["sorted_destinations"];
}

} // namespace

TEST_CASE("quantities of Kubernetes", "[import]")
{
    CHECK(quantity("500m") == Approx(0.5));
    CHECK(quantity("3920m") == Approx(3.92));
    CHECK(quantity("2") == 2);
    CHECK(quantity("0") == 0);
    CHECK(quantity("+1.5") == 1.5);
    CHECK(quantity("16Gi") == 17179869184.0);
    CHECK(quantity("16264900Ki") == 16655257600.0);
    CHECK(quantity("64Mi") == 67108864);
    CHECK(quantity("1Ti") == 1099511627776.0);
    CHECK(quantity("2G") == 2e9);
    CHECK(quantity("4e9") == 4e9);
    CHECK(quantity("4E9") == 4e9);
    CHECK(quantity("4E") == 4e18);
    CHECK(quantity("1e-3") == 1e-3);
    CHECK(quantity("100k") == 1e5);
    CHECK(quantity("5n") == Approx(5e-9));
    for (const char *wrong :
         {"", "m", "-1", "1.2.3", "1Gb", "1 Gi", "GiB", "0x10", "nan"})
        CHECK(quantity(wrong) == -1);
}

TEST_CASE("scores follow expected ends", "[import]")
{
    auto scores = [](std::vector<double> finish) {
        std::vector<int> out(finish.size(), -1);
        kubernetes_scores(finish.data(), finish.size(), out.data());
        return out;
    };
    CHECK(scores({100, 150, 200}) == std::vector<int>{10, 5, 0});
    CHECK(scores({7, 7}) == std::vector<int>{0, 0});
    CHECK(scores({}).empty());
    CHECK(scores({NAN, 3, 1}) == std::vector<int>{0, 0, 10});
    CHECK(scores({NAN}) == std::vector<int>{0});
    CHECK(scores({0, 19, 20}) == std::vector<int>{10, 1, 0}); // 0.5 goes up
}

TEST_CASE("what of a pod is read", "[import]")
{
    test_arena a;
    kubernetes_args args = args_of(a, file_of("kubernetes/extender-2-nodes.json"));
    CHECK(args.pod.name == std::string("plain-pod"));
    CHECK(args.pod.cpus == Approx(0.5));
    CHECK(args.pod.memory_bytes == 536870912);
    CHECK_FALSE(args.by_name);
    REQUIRE(args.node_count == 2);
    CHECK(args.nodes[1].name == std::string("n2"));
    args = args_of(a, R"({"pod":{"SPEC":{"Containers":[{"resources":{"requests":
        {"cpu":"1","memory":"1Gi"}}},{"resources":{"requests":{"cpu":2}}},{},7],
        "initContainers":[{"resources":{"requests":{"cpu":"2500m","memory":"3Gi"}}},
        {"resources":{"requests":{"memory":"2Gi"}}}]},"metadata":{"name":"p",
        "annotations":{"gridplan.session":"s","gridplan.task":"t","x":"y"}}},
        "nodeNames":["a","b"],"nodes":null})");
    CHECK(args.pod.cpus == 3);
    CHECK(args.pod.memory_bytes == 3 * 1073741824.0);
    CHECK(args.pod.session_id == std::string("s"));
    CHECK(args.pod.task_id == std::string("t"));
    CHECK(args.by_name);
    CHECK(args.node_count == 2);

    // Kubernetes 1.29 and later: init containers that go on beside the others, overhead,
    // and amounts of the pod as a whole.
    args = args_of(a, R"({"Pod":{"spec":{"initContainers":[
        {"resources":{"requests":{"cpu":"1","memory":"2Gi"}}},
        {"restartPolicy":"Always","resources":{"requests":{"cpu":"500m","memory":"1Gi"}}},
        {"resources":{"requests":{"cpu":"4"}}}],
        "containers":[{"resources":{"requests":{"cpu":"2","memory":"3Gi"}}}],
        "overhead":{"cpu":"250m","memory":"128Mi"}}},"Nodes":{"metadata":{},
        "items":[{"metadata":{"name":"n1"}}]},"NodeNames":["a","b"]})");
    CHECK(args.pod.cpus == 4.75);                         // 4 beside 0.5
    CHECK(args.pod.memory_bytes == 4.125 * 1073741824.0); // 3 and 1
    CHECK(args.by_name);
    CHECK(args.node_count == 2);
    args = args_of(a, R"({"Pod":{"spec":{"resources":{"requests":{"cpu":"3"}},
        "containers":[{"resources":{"requests":{"cpu":"2","memory":"3Gi"}}}]}},
        "NodeNames":["a","b"]})");
    CHECK(args.pod.cpus == 3);
    CHECK(args.pod.memory_bytes == 3 * 1073741824.0);

    // A node that cannot take it is left out, with the reason.
    args = args_of(a, R"({"pod":{},"nodeNames":["a","b"]})");
    const char *failed[] = {nullptr, "predicted memory 9.1 GiB exceeds free \"8 GiB\""};
    json answer = json::parse(kubernetes_filter_answer(&args, failed, "", a));
    CHECK(answer["NodeNames"] == json({"a"}));
    CHECK(answer["FailedNodes"]["b"] == failed[1]);
    args = args_of(a, file_of("kubernetes/extender-2-nodes.json"));
    answer = json::parse(kubernetes_filter_answer(&args, failed, "", a));
    REQUIRE(answer["Nodes"]["items"].size() == 1);
    CHECK(answer["Nodes"]["items"][0]["metadata"]["name"] == "n1");
    int scores[] = {10, 3};
    CHECK(json::parse(kubernetes_prioritize_answer(&args, scores, a)) ==
          json::parse(R"([{"Host":"n1","Score":10},{"Host":"n2","Score":3}])"));
}

TEST_CASE("every node takes a pod that is not known, in the form asked", "[api]")
{
    api a;
    std::string names = file_of("kubernetes/extender-1.json");
    std::string nodes = file_of("kubernetes/extender-2-nodes.json");

    json j = a.post("/compat/k8s/filter", names).json();
    CHECK(j == json::parse(R"({"Nodes":null,"NodeNames":["n1","n2","n3"],"FailedNodes":{},
                               "FailedAndUnresolvableNodes":{},"Error":""})"));
    j = a.post("/compat/k8s/filter", nodes).json();
    CHECK(j["NodeNames"].is_null());
    CHECK(j["Nodes"]["items"] == json::parse(nodes)["Nodes"]["items"]);
    CHECK(j["Error"] == "");
    CHECK(a.post("/compat/k8s/prioritize", names).json() ==
          json::parse(R"([{"Host":"n1","Score":0},{"Host":"n2","Score":0},
                          {"Host":"n3","Score":0}])"));
    CHECK(a.post("/compat/k8s/prioritize", nodes).json() ==
          json::parse(R"([{"Host":"n1","Score":0},{"Host":"n2","Score":0}])"));

    // Never a failure that a pod would wait for.
    for (const char *text : {"", "[]", "{", "\xff", R"({"Pod":{"metadata":)"}) {
        api_reply r = a.post("/compat/k8s/filter", text);
        CHECK(r.status == 200);
        CHECK(r.json()["Error"] != "");
        CHECK(r.json()["NodeNames"].is_null());
        r = a.post("/compat/k8s/prioritize", text);
        CHECK(r.status == 200);
        CHECK(r.json() == json::array());
    }
    CHECK(a.post("/compat/k8s/filter", "{}").json()["Nodes"]["items"] == json::array());
    CHECK(a.post("/compat/k8s/filter", R"({"Pod":5,"NodeNames":[1,"n"],"Nodes":[]})")
              .json()["NodeNames"] == json({"n"}));
    CHECK(a.post("/compat/k8s/bind", names).status == 404);
    CHECK(a.post("/compat/k8s/preempt", names).status == 404);
}

// A job on each resource of a snapshot by itself.
static std::vector<placement_each> each_of(const json &snapshot, const json &job,
                                           arena *a)
{
    error err = collecting_error(a);
    std::string text = snapshot.dump();
    placement_world none{};
    budget limits{};
    placement_in in{};
    ::snapshot s{};
    ::job j{};
    named_value need{};

    REQUIRE(json_read(&snapshot_json, text.data(), text.size(), &s, nullptr, a, &err) ==
            OK);
    j.id = "pod";
    j.estimate_ref_s = job.value("estimate_ref_s", NAN);
    j.cpus = job.value("cpus", 1.0);
    j.memory_bytes = job.value("memory_bytes", 0.0);
    if (job.contains("needs")) {
        need.name = "gpus";
        need.type = VALUE_NUMBER;
        need.number = job["needs"]["gpus"];
        j.needs = &need;
        j.need_count = 1;
    }
    j.deadline_s = j.queued_at_s = j.deadline_at_s = j.task_index = NAN;
    j.param_start = j.param_increment = j.estimate_s = j.time_limit_s = NAN;
    j.nodes = 1;
    in.snapshot = &s;
    in.jobs = &j;
    in.job_count = 1;
    in.world = &none;
    in.seed = 1;
    in.budget = &limits;
    const placement_each *out;
    REQUIRE(placement_each_find(&in, &out, a, &err) == OK);
    return {out, out + s.resource_count};
}

TEST_CASE("a job on each resource ends when it would end there alone", "[property]")
{
    std::mt19937 random(20);
    auto draw = [&](int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random);
    };
    api a;
    for (int round = 0; round < 60; round++) {
        test_arena memory;
        json resources = json::array();
        for (int i = draw(0, 5); i > 0; i--) {
            json running = json::array();
            for (int k = draw(0, 3); k > 0; k--) {
                json row = {{"id", "r" + std::to_string(i) + "-" + std::to_string(k)},
                            {"cpus", draw(1, 2)},
                            {"memory_bytes", draw(0, 3)}};
                if (draw(0, 4))
                    row["expected_end_s"] = draw(1, 9);
                if (draw(0, 1))
                    row["needs"] = {{"gpus", draw(0, 2)}};
                running.push_back(row);
            }
            resources.push_back({{"id", "n" + std::to_string(i)},
                                 {"mips_total", draw(0, 3)},
                                 {"cpus", draw(1, 6)},
                                 {"memory_bytes", draw(1, 8)},
                                 {"running", running}});
            if (draw(0, 1))
                resources.back()["capacities"] = {{"gpus", draw(0, 3)}};
            if (draw(0, 6) == 0)
                resources.back()["failed"] = true;
        }
        json s = {{"resources", resources}};
        json job = {{"id", "pod"},
                    {"estimate_ref_s", draw(0, 10)},
                    {"cpus", draw(1, 3)},
                    {"memory_bytes", draw(0, 5)}};
        if (draw(0, 1))
            job["needs"] = {{"gpus", draw(0, 2)}};
        auto each = each_of(s, job, memory);
        for (size_t i = 0; i < resources.size(); i++) {
            json only = {{"snapshot", {{"resources", {resources[i]}}}},
                         {"jobs", {job}},
                         {"algorithm", "mct"}};
            json plan = a.post("/v1/placements", only.dump()).json();
            INFO(only.dump() << " " << plan.dump());
            if (plan["placements"].empty())
                CHECK(std::isnan(each[i].finish_s));
            else
                CHECK(each[i].finish_s ==
                      plan["placements"][0]["finish_s"].get<double>());

            // What is short now, amount by amount.
            double memory_free = resources[i]["memory_bytes"], gpus_free = 0;
            if (resources[i].contains("capacities"))
                gpus_free = resources[i]["capacities"]["gpus"];
            for (auto &r : resources[i]["running"]) {
                memory_free -= r["memory_bytes"].get<double>();
                if (r.contains("needs"))
                    gpus_free -= r["needs"]["gpus"].get<double>();
            }
            double memory_needed = job["memory_bytes"],
                   gpus_needed =
                       job.contains("needs") ? job["needs"]["gpus"].get<double>() : 0;
            std::string want = memory_needed > 0 && memory_needed > memory_free
                                   ? "memory_bytes"
                               : gpus_needed > 0 && gpus_needed > gpus_free ? "gpus"
                                                                            : "";
            CHECK((each[i].short_of ? each[i].short_of : "") == want);
            if (want == "memory_bytes") {
                CHECK(each[i].needed == memory_needed);
                CHECK(each[i].free == std::max(0.0, memory_free));
            }
        }
    }
}

// Nodes n1, n2 of the stored world and n9, of which it knows nothing.
static json pod_body(const std::string &name, const json &annotations = json::object())
{
    return {
        {"Pod",
         {{"metadata", {{"name", name}, {"annotations", annotations}}},
          {"spec",
           {{"containers",
             {{{"resources", {{"requests", {{"cpu", "1"}, {"memory", "1Gi"}}}}}}}}}}}},
        {"NodeNames", {"n9", "n1", "n2"}}};
}

TEST_CASE("nodes pass by what the pod's task has used, and score by its end", "[api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    const double GIB = 1073741824;
    std::string app = "cws/" + unique_name("P"), process = app.substr(4);
    std::string snapshot_id = unique_name("nodes"), pod = unique_name("pod");
    std::string run = unique_name("run"), session = unique_name("session");
    config changed = *a.handle()->config;
    changed.k8s_snapshot_id = snapshot_id.c_str();

    json nodes = {{{"id", "n1"},
                   {"mips_total", 1},
                   {"cpus", 8},
                   {"memory_bytes", 16 * GIB},
                   {"running",
                    {{{"id", "x"},
                      {"cpus", 1},
                      {"memory_bytes", 8 * GIB},
                      {"expected_end_at", "2040-01-01T00:00:00Z"}}}}},
                  {{"id", "n2"},
                   {"mips_total", 1},
                   {"cpus", 8},
                   {"memory_bytes", 32 * GIB},
                   {"capacities", {{"gpus", 2}}}}};
    REQUIRE(a.post("/v1/snapshots?id=" + snapshot_id, json{{"resources", nodes}}.dump())
                .status == 201);
    json runs = json::array();
    for (int i = 0; i < 40; i++)
        runs.push_back({{"execution_id", app + std::to_string(i)},
                        {"application_id", app},
                        {"started_at", 1700000000 + 100 * i},
                        {"problem_size", 100},
                        {"run_time_s", 60 + i % 3},
                        {"memory_peak_bytes", (8.4 + 0.02 * (i % 40)) * GIB}});
    REQUIRE(a.post("/v1/executions", runs.dump()).status == 201);
    for (const char *model : {"", "-memory"}) {
        api_reply r = a.post("/v1/models/cws-" + process + model + "/refine", "");
        INFO(r.body);
        REQUIRE(r.status == 200);
    }
    std::string at = "/compat/cws/v1/scheduler/" + run;
    REQUIRE(a.post(at, "{}").status == 200);
    REQUIRE(a.post(at + "/task/1", json{{"runName", pod},
                                        {"task", process},
                                        {"cpus", 1},
                                        {"memoryInBytes", GIB},
                                        {"inputSize", 100}}
                                       .dump())
                .status == 200);
    auto filter = [&](const json &body) {
        return a.post("/compat/k8s/filter", body.dump()).json();
    };
    auto scores = [&](const json &body) {
        json r = a.post("/compat/k8s/prioritize", body.dump()).json();
        return std::vector<int>{r[0]["Score"], r[1]["Score"], r[2]["Score"]};
    };

    // Without the setting nothing is known.
    CHECK(filter(pod_body(pod))["FailedNodes"].empty());
    CHECK(scores(pod_body(pod)) == std::vector<int>{0, 0, 0});
    a.handle()->config = &changed;
    json j = filter(pod_body(pod));
    INFO(j.dump());
    CHECK(j["NodeNames"] == json({"n9", "n2"}));
    std::string why = j["FailedNodes"]["n1"];
    CHECK(why.find("predicted memory 9.") == 0);
    CHECK(why.find(" GiB exceeds free 8 GiB") != std::string::npos);
    // It starts on n2 now, on n1 when x ends; n9 is not known.
    CHECK(scores(pod_body(pod)) == std::vector<int>{0, 0, 10});
    CHECK(filter(pod_body("another"))["FailedNodes"].empty());
    CHECK(scores(pod_body("another")) == std::vector<int>{0, 0, 0});

    // A task of a session, named by annotations, with its needs.
    json tasks = json::parse(R"([{"id":"t","estimate_ref_s":10,"needs":{"gpus":1}},
                                 {"id":"u","estimate_ref_s":10},
                                 {"id":"v","estimate_ref_s":10,"needs":{"gpus":3}}])");
    REQUIRE(
        a.call(
             "PUT", "/v1/workflow-sessions/" + session,
             json{{"workflow", {{"tasks", tasks}}}, {"snapshot_id", snapshot_id}}.dump())
            .status == 201);
    auto body = [&](const char *task) {
        return pod_body("other",
                        {{"gridplan.session", session}, {"gridplan.task", task}});
    };
    j = filter(body("t"));
    INFO(j.dump());
    CHECK(j["NodeNames"] == json({"n9", "n2"}));
    CHECK(j["FailedNodes"]["n1"] == "needs 1 gpus, exceeds free 0");
    CHECK(filter(body("u"))["FailedNodes"].empty());
    CHECK(scores(body("u")) == std::vector<int>{0, 0, 0}); // both end at the same time
    j = pod_body("other", {{"gridplan.session", session}, {"gridplan.task", "v"}});
    j["NodeNames"] = {"n1", "n2"};
    CHECK(filter(j)["NodeNames"] == json({"n1", "n2"})); // all would fail: all pass
    CHECK(filter(body("no such task"))["FailedNodes"].empty());
    CHECK(filter(pod_body(
        "x", {{"gridplan.session", "no"}, {"gridplan.task", "t"}}))["FailedNodes"]
              .empty());
    changed.k8s_snapshot_id = "no such snapshot";
    CHECK(filter(pod_body(pod))["FailedNodes"].empty());
}

TEST_CASE("destinations by their distance to the data", "[api]")
{
    api a;
    json body = json::parse(file_of("tpv/request-1.json"));
    CHECK(sorted(a, body) == json({"fr_slurm", "be_pulsar", "cz_pulsar"}));

    tpv_place store{"s", 48.0, 7.85, 0}, cz{"cz", 50.08, 14.43, 0},
        be{"be", 50.8, 4.35, 0};
    CHECK(tpv_distance_km(&store, &store) == 0);
    CHECK(tpv_distance_km(&store, &cz) == Approx(532.23).margin(0.005));
    CHECK(tpv_distance_km(&store, &be) == Approx(401.25).margin(0.005));
    tpv_place nowhere{"x", NAN, 3, 0}, pole{"p", 90, 0, 0}, other{"q", -90, 120, 0};
    CHECK(std::isnan(tpv_distance_km(&store, &nowhere)));
    CHECK(tpv_distance_km(&pole, &other) == Approx(6371 * 3.14159265358979));

    // The store with most counts, not the first; places unknown come last, as sent.
    body =
        json::parse(R"({"destinations":[{"id":"z"},{"id":"far","context":{"latitude":10,
        "longitude":0}},{"id":"y"},{"id":"near","context":{"latitude":1,"longitude":0}},
        {"id":"z"},{"no":"id"}],
        "datasets":{"a":{"object_store_id":"s1","size":1},"b":{"object_store_id":"s2",
        "size":2},"c":{"object_store_id":"s2","size":2},"d":{"object_store_id":"no","size":9}},
        "objectstores":{"s1":{"latitude":11,"longitude":0},
                        "s2":{"latitude":0,"longitude":0}}})");
    CHECK(sorted(a, body) == json({"near", "far", "z", "y"}));
    CHECK(sorted(a, json::parse(R"({"objectstores":{},"destinations":[{"id":"b"},
        {"id":"a","context":{"latitude":1,"longitude":1}}]})")) == json({"b", "a"}));
    CHECK(sorted(a, json::parse(R"({"destinations":null,"job_info":[],"datasets":3})")) ==
          json::array());
    api_reply r = a.post("/compat/tpv/process_data", "[1]");
    CHECK(r.status == 400);
    CHECK(r.headers["Content-Type"].rfind("text/plain", 0) == 0);
}

TEST_CASE("destinations where the tool has run come first, by their times", "[db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    json body = json::parse(file_of("tpv/request-1.json"));
    std::string tool = body["job_info"]["tool_id"];
    auto ran = [&](const char *id, const char *place, bool site, double run, double wait,
                   int exit_code) {
        json e = {{"execution_id", id},
                  {"application_id", "galaxy/" + tool},
                  {site ? "site_id" : "resource_id", place},
                  {"started_at", 1790000000},
                  {"run_time_s", run},
                  {"queue_wait_s", wait},
                  {"exit_code", exit_code}};
        CHECK(a.post("/v1/executions", e.dump()).status == 201);
    };
    CHECK(sorted(a, body) == json({"fr_slurm", "be_pulsar", "cz_pulsar"}));
    ran("1", "cz_pulsar", true, 100, 50, 0);
    CHECK(sorted(a, body) == json({"cz_pulsar", "fr_slurm", "be_pulsar"}));
    ran("2", "be_pulsar", false, 120, 0, 0);
    CHECK(sorted(a, body) == json({"be_pulsar", "cz_pulsar", "fr_slurm"}));
    ran("3", "be_pulsar", false, 300, 0, 0); // a mean of 210
    CHECK(sorted(a, body) == json({"cz_pulsar", "be_pulsar", "fr_slurm"}));
    ran("4", "fr_slurm", true, 1, 0, 1); // that failed
    CHECK(sorted(a, body) == json({"cz_pulsar", "be_pulsar", "fr_slurm"}));
    body["job_info"]["tool_id"] = "other";
    CHECK(sorted(a, body) == json({"fr_slurm", "be_pulsar", "cz_pulsar"}));
}
