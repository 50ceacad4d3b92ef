// workflow_schedules_api_test.cpp - POST /v1/workflow-schedules: schedules of workflows
// to the end, and rounds for those that run.
#include "tests/database.hpp"
#include "tests/workflow_api_support.hpp"

extern "C" {
#include "algorithms/workflow/round.h"
}

using namespace workflow_api;

namespace
{

const std::string path = "/v1/workflow-schedules";

const char *const plainest =
    R"({"algorithm":"heft","snapshot":{"resources":[{"id":"p0"},{"id":"p1"}]},)"
    R"("workflow":{"tasks":[{"id":"a","etc_s":[3,4]},{"id":"b","etc_s":[2,2],)"
    R"("depends_on":[{"task_id":"a","transfer_s":1.5}]}]}})";

// The plainest body with other tasks.
json with_tasks(const json &tasks, size_t resources = 2)
{
    return {{"snapshot", plain_snapshot(resources)}, {"workflow", {{"tasks", tasks}}}};
}

double makespan(const json &answer)
{
    return answer.at("objective").at("makespan_s");
}

// One line of numbers with commas between.
std::vector<std::string> cells(const std::string &line)
{
    std::vector<std::string> list;
    std::stringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');)
        list.push_back(cell);
    return list;
}

// A graph of data/04-dag/small-literature.
json literature(const std::string &file)
{
    std::ifstream in(file);
    std::map<int, json> tasks;
    bool edges = false;
    REQUIRE(in.good());
    for (std::string line; std::getline(in, line);) {
        if (line.find("#edges") == 0)
            edges = true;
        size_t colon = line.find(':');
        if (colon == std::string::npos || line[0] == '#')
            continue;
        std::vector<std::string> c = cells(line.substr(colon + 1));
        if (edges) {
            tasks[std::stoi(c[1])]["depends_on"].push_back(
                {{"task_id", std::to_string(std::stoi(c[0]))},
                 {"transfer_s", std::stod(c[2])}});
            continue;
        }
        json &task = tasks[std::stoi(line)];
        task["id"] = std::to_string(std::stoi(line));
        for (const std::string &s : c)
            task["etc_s"].push_back(std::stod(s));
    }
    json list = json::array();
    for (auto &t : tasks)
        list.push_back(t.second);
    return with_tasks(list, list[0]["etc_s"].size());
}

// A graph that a table of run times and one of edges describe.
json tables(const std::string &prefix)
{
    std::ifstream times(prefix + "_task_exe_time.csv"),
        edges(prefix + "_task_connectivity.csv");
    json list = json::array();
    std::string line;
    REQUIRE((times.good() && edges.good()));
    std::getline(times, line);
    std::getline(edges, line);
    while (std::getline(times, line)) {
        std::vector<std::string> c = cells(line);
        json task = {{"id", std::to_string(list.size())}};
        for (size_t i = 1; i < c.size(); i++)
            task["etc_s"].push_back(std::stod(c[i]));
        list.push_back(task);
    }
    for (size_t parent = 0; std::getline(edges, line); parent++) {
        std::vector<std::string> c = cells(line);
        for (size_t child = 0; child + 1 < c.size(); child++)
            if (std::stod(c[child + 1]) > 0)
                list[child]["depends_on"].push_back(
                    {{"task_id", std::to_string(parent)},
                     {"transfer_s", std::stod(c[child + 1])}});
    }
    return with_tasks(list, list[0]["etc_s"].size());
}

// A running task of a set that can be rescheduled, and what is wrong with it.
json running_with(const json &changes)
{
    json task = {{"id", "t"},
                 {"status", "running"},
                 {"resource_id", "p0"},
                 {"estimate_ref_s", 100}};
    task.update(changes);
    json body = with_tasks(json::array({task}));
    body["algorithm"] = "balanced";
    return body;
}

} // namespace

TEST_CASE("the plainest workflow schedule", "[api][workflow]")
{
    api a;
    api_reply r = a.post(path, plainest);
    INFO(r.body);
    REQUIRE(r.status == 200);
    json j = r.json();
    CHECK(j["kind"] == "schedule");
    CHECK(j["algorithm"] == "heft");
    CHECK(j["seed"] == 1);
    CHECK(j["decision_id"].get<std::string>().size() == 36);
    REQUIRE(j["schedule"].size() == 2);
    json first = j["schedule"][0], second = j["schedule"][1];
    CHECK(first["task_id"] == "a");
    CHECK(first["resource_id"] == "p0");
    CHECK(first["start_s"] == 0);
    CHECK(first["finish_s"] == 3);
    CHECK(first["slot"] == 0);
    CHECK(first["status"] == "idle");
    CHECK_FALSE(first.contains("workflow_id"));
    CHECK(second["task_id"] == "b");
    CHECK(second["resource_id"] == "p0");
    CHECK(second["start_s"] == 3);
    CHECK(second["finish_s"] == 5);
    CHECK(second["data_ready_s"] == 3);
    CHECK(j["unplaced"].empty());
    CHECK(j["warnings"].empty());
    CHECK(j["critical_tasks"] == json({"a", "b"}));
    CHECK(j["critical_path"] ==
          json::parse(R"([{"task_id":"a","reason":"start","wait_s":0},
                          {"task_id":"b","reason":"data","wait_s":0}])"));
    CHECK(makespan(j) == 5);
    CHECK(j["objective"]["lower_bound_s"] == 5);
    CHECK(j["objective"]["gap_ratio"] == 0);
    CHECK(j["objective"]["critical_path_s"] == 5);
    CHECK(j["objective"]["speedup_ratio"] == 1);
    CHECK(j["status"] == "optimal");
    CHECK(j["reschedules"].empty());
    CHECK_FALSE(j.contains("import"));
}

// Worked example 9.5 of face.md, and one that nothing explains.
TEST_CASE("a slot that is held for ever, on a resource with others, refuses no plan",
          "[api][workflow]")
{
    api service;
    json running = {{"etc_s", {60}},
                    {"status", "running"},
                    {"resource_id", "n1"},
                    {"start_s", 0},
                    {"finish_s", 60}};
    json body = {{"algorithm", "heft"},
                 {"snapshot", {{"resources", {{{"id", "n1"}}}}}},
                 {"workflow", {{"tasks", {{{"id", "c"}, {"etc_s", {5}}}}}}}};
    for (const char *id : {"a", "b"}) { // more than there are slots
        json task = running;
        task["id"] = id;
        body["workflow"]["tasks"].push_back(task);
    }
    json j = service.post(path, body.dump()).json();
    INFO(j.dump());
    CHECK(j["status"] == "optimal");
    CHECK(j["objective"]["lower_bound_s"] == 65);

    // One of two slots is in use, nobody knows until when.
    body = {
        {"algorithm", "heft"},
        {"options", {{"slots", true}}},
        {"snapshot", {{"resources", {{{"id", "n1"}, {"job_count", 1}, {"n_max", 2}}}}}},
        {"workflow",
         {{"tasks",
           {{{"id", "c"}, {"etc_s", {5}}},
            {{"id", "d"}, {"etc_s", {5}}, {"depends_on", {"c"}}}}}}}};
    j = service.post(path, body.dump()).json();
    CHECK(j["status"] == "optimal");
    CHECK(j["objective"]["lower_bound_s"] == 10);
}

TEST_CASE("the critical path says why each task does not start earlier",
          "[api][workflow]")
{
    api service;
    json schedule;
    auto path = [&](const std::string &tasks) {
        api_reply r = service.post(
            "/v1/workflow-schedules",
            R"({"algorithm":"heft","snapshot":{"resources":[{"id":"r0"},{"id":"r1"}]},
            "workflow":{"id":"w","tasks":)" +
                tasks + "}}");
        INFO(r.body);
        REQUIRE(r.status == 200);
        json list = r.json()["critical_path"], ids = json::array();
        for (auto &c : list)
            ids.push_back(c["task_id"]);
        CHECK(ids == r.json()["critical_tasks"]);
        schedule = r.json()["schedule"];
        return list;
    };
    auto planned = [&](const char *task, const char *resource, double start_s,
                       double finish_s) {
        const json &row = row_of(schedule, task);
        INFO(row);
        CHECK(row["resource_id"] == resource);
        CHECK(row["start_s"].get<double>() == Approx(start_s));
        CHECK(row["finish_s"].get<double>() == Approx(finish_s));
    };
    json diamond = path(R"([{"id":"split","etc_s":[null,10]},
        {"id":"left","etc_s":[null,150],"depends_on":["split"]},
        {"id":"right","etc_s":[200,null],
         "depends_on":[{"task_id":"split","transfer_s":32}]},
        {"id":"merge","etc_s":[null,20],
         "depends_on":["left",{"task_id":"right","transfer_s":0.08}]}])");
    planned("split", "r1", 0, 10);
    planned("left", "r1", 10, 160);
    planned("right", "r0", 42, 242);
    planned("merge", "r1", 242.08, 262.08);
    REQUIRE(diamond.size() == 3);
    CHECK(diamond[0] ==
          json::parse(R"({"task_id":"split","reason":"start","wait_s":0})"));
    CHECK(diamond[1] ==
          json::parse(R"({"task_id":"right","reason":"transfer","wait_s":32})"));
    CHECK(diamond[2]["task_id"] == "merge");
    CHECK(diamond[2]["reason"] == "transfer");
    CHECK(diamond[2]["wait_s"].get<double>() == Approx(0.08).epsilon(1e-12));

    json second = path(R"([{"id":"a","etc_s":[3,null]},
        {"id":"b","etc_s":[2,null],"depends_on":["a"]},{"id":"c","etc_s":[null,4.5]}])");
    planned("a", "r0", 0, 3);
    planned("b", "r0", 3, 5);
    planned("c", "r1", 0, 4.5);
    CHECK(second == json::parse(R"([{"task_id":"a","reason":"start","wait_s":0},
                                    {"task_id":"b","reason":"data","wait_s":0}])"));

    json queue = path(R"([{"id":"a","etc_s":[5,null]},{"id":"b","etc_s":[3,null]}])");
    REQUIRE(queue.size() == 2);
    CHECK(queue[1]["reason"] == "resource");

    json late = path(R"([{"id":"a","etc_s":[5,5],"release_s":7}])");
    CHECK(late == json::parse(R"([{"task_id":"a","reason":"waits","wait_s":7}])"));

    // Of two that end together the one with the least name.
    json tie = path(R"([{"id":"y","etc_s":[4,null]},{"id":"x","etc_s":[null,4]},
        {"id":"z","etc_s":[1,1],"depends_on":["y","x"]}])");
    CHECK(tie[0]["task_id"] == "x");
    CHECK(tie[1]["reason"] == "data");
}

TEST_CASE("a search says what it has proven, and the service accepts what it gives",
          "[api][workflow]")
{
    // t2 takes no time: with it behind t1 the answer would be 20.
    json body = with_tasks({{{"id", "t0"}, {"etc_s", {4, 4}}},
                            {{"id", "t1"},
                             {"etc_s", {8, 8}},
                             {"depends_on", {{{"task_id", "t0"}, {"transfer_s", 0}}}}},
                            {{"id", "t2"},
                             {"etc_s", {0, 0}},
                             {"depends_on", {{{"task_id", "t0"}, {"transfer_s", 8}}}}},
                            {{"id", "t3"},
                             {"etc_s", {8, 8}},
                             {"depends_on", {{{"task_id", "t2"}, {"transfer_s", 0}}}}}});
    body["time_limit_s"] = 1;
    api a;
    for (const char *algorithm : {"search", "auto"}) {
        body["algorithm"] = algorithm;
        json j = answered(a, path, body);
        CHECK(j["status"] == "optimal");
        CHECK(makespan(j) == 12);
        CHECK(j["objective"]["lower_bound_s"] == 12);
        CHECK(j["bounds"][0]["value_s"] == 12);
        CHECK(j["best_list"]["algorithm"] == "heft");
        CHECK(j["best_list"]["value"] == 12);
        CHECK(j["bound_effort"] == "full");
        json check = {{"kind", "workflow"},
                      {"snapshot", body["snapshot"]},
                      {"workflow", body["workflow"]},
                      {"schedule", json::array()}};
        for (const json &row : j["schedule"])
            check["schedule"].push_back({{"task_id", row["task_id"]},
                                         {"resource_id", row["resource_id"]},
                                         {"start_s", row["start_s"]},
                                         {"finish_s", row["finish_s"]}});
        json e = answered(a, "/v1/evaluations", check);
        CHECK(e["valid"] == true);
        CHECK(e["objective"]["makespan_s"] == 12);
        CHECK(e["repaired_makespan_s"] == 12);
    }
    body["algorithm"] = "search";
    body["options"] = {{"start", "mct"}};
    CHECK(refused(a, path, body) == std::set<std::string>{"/options/start"});
}

TEST_CASE("transfers follow from bytes and links too", "[api][workflow]")
{
    api a;
    // b is at home on p1: 10^6 bytes take 8 s at 1 Mbit/s, and 0.5 s of latency.
    json body = with_tasks(
        {{{"id", "a"}, {"etc_s", {3, nullptr}}, {"output_bytes", 1e6}},
         {{"id", "b"}, {"etc_s", {nullptr, 2}}, {"depends_on", {{{"task_id", "a"}}}}}});
    body["algorithm"] = "heft";
    body["snapshot"]["network"] = {{"wan_mbps", 1}, {"wan_latency_s", 0.5}};
    json j = answered(a, path, body);
    CHECK(row_of(j["schedule"], "b")["start_s"].get<double>() == Approx(11.5));
    CHECK(makespan(j) == Approx(13.5));
    CHECK(j["objective"]["transfer_s"].get<double>() == Approx(8.5));
    body["workflow"]["tasks"][1]["depends_on"][0]["bytes"] = 2e6;
    CHECK(makespan(answered(a, path, body)) == Approx(21.5));
    body["workflow"]["tasks"][1]["depends_on"][0]["transfer_s"] = 1;
    CHECK(makespan(answered(a, path, body)) == Approx(6));
}

TEST_CASE("Topcuoglu's example: HEFT 80, CPOP 86, PEFT 85", "[api][workflow]")
{
    api a;
    const struct {
        const char *name;
        double makespan_s;
    } cases[] = {{"heft", 80}, {"cpop", 86}, {"peft", 85}};
    for (auto &c : cases) {
        json j = answered(a, path, example(std::string("workflow-") + c.name));
        CHECK(makespan(j) == Approx(c.makespan_s).epsilon(1e-12));
        CHECK(j["schedule"].size() == 10);
        CHECK(j["schedule"][0]["workflow_id"] == "topcuoglu");
        CHECK(j["objective"]["lower_bound_s"].get<double>() <= 73);
        CHECK(j["objective"]["gap_ratio"].get<double>() ==
              Approx(c.makespan_s / j["objective"]["lower_bound_s"].get<double>() - 1));
    }
    // workflows.md 8.1: task, resource, start, finish of HEFT.
    const struct {
        const char *task, *resource;
        double start_s, finish_s;
    } want[] = {{"n0", "p2", 0, 9},   {"n2", "p2", 9, 28},  {"n3", "p1", 18, 26},
                {"n1", "p0", 27, 40}, {"n4", "p2", 28, 38}, {"n5", "p1", 26, 42},
                {"n8", "p1", 56, 68}, {"n6", "p2", 38, 49}, {"n7", "p0", 57, 62},
                {"n9", "p1", 73, 80}};
    json j = answered(a, path, example("workflow-heft"));
    for (auto &w : want) {
        const json &row = row_of(j["schedule"], w.task);
        INFO(w.task);
        CHECK(row["resource_id"] == w.resource);
        CHECK(row["start_s"].get<double>() == Approx(w.start_s));
        CHECK(row["finish_s"].get<double>() == Approx(w.finish_s));
    }
}

TEST_CASE("small graphs of the literature over HTTP, workflows.md 8.1", "[api][workflow]")
{
    const char *data = getenv("GRIDPLAN_DATA");
    if (!data) {
        WARN("skipped: GRIDPLAN_DATA does not name the data folder");
        return;
    }
    api a;
    std::string folder = std::string(data) + "/04-dag/";
    std::ifstream reference(std::string(data) + "/reference/dag_small_optimal.csv");
    std::string line;
    size_t count = 0;
    REQUIRE(reference.good());
    std::getline(reference, line);
    while (std::getline(reference, line)) {
        std::vector<std::string> c = cells(line);
        json body = c[0].find("heft-canonical") != std::string::npos
                        ? tables(folder + "heft-canonical/canonicalgraph")
                    : c[0].find("peft-example") != std::string::npos
                        ? tables(folder + "peft-example/peftgraph")
                        : literature(folder + "small-literature/" + c[0] + ".txt");
        const char *const names[] = {"heft", "cpop", "peft"};
        double best_s = HUGE_VAL;
        for (size_t i = 0; i < 3; i++) {
            INFO(c[0] << " " << names[i]);
            body["algorithm"] = names[i];
            json j = answered(a, path, body);
            CHECK(makespan(j) == Approx(std::stod(c[4 + i])).epsilon(1e-9));
            CHECK(j["objective"]["lower_bound_s"].get<double>() <=
                  std::stod(c[7]) + 1e-9);
            best_s = std::min(best_s, makespan(j));
        }
        body.erase("algorithm");
        json j = answered(a, path, body);
        CHECK(makespan(j) <= best_s + 1e-9);
        CHECK(makespan(j) >= std::stod(c[7]) - 1e-9);
        count++;
    }
    CHECK(count == 7);
}

TEST_CASE("worked example A and its variants, workflows.md 11", "[api][workflow]")
{
    api a;
    const struct {
        json options;
        std::vector<std::string> moves;
    } cases[] = {
        {{{"balance", "all"}},
         {"migrate a CR1 CR2 5000.007", "migrate b CR0 CR1 3416.002"}},
        {{{"balance", "longest_only"}}, {"migrate a CR1 CR2 5000.007"}},
        {{{"gamma", 0.35}}, {"migrate b CR0 CR2 4050.007"}},
        {{{"gamma", 0.35}, {"balance", "longest_only"}}, {}},
        {{{"include_checkpoint_cost", true}, {"checkpoint_s", 2}, {"restart_s", 30}},
         {"migrate a CR1 CR2 5032.007", "migrate b CR0 CR1 3448.002"}},
        {{{"re_min_s", 8000}}, {}},
        {{{"gamma", 1}}, {}},
    };
    for (auto &c : cases) {
        INFO(c.options.dump());
        json j = answered(a, path, example_a(c.options));
        CHECK(moves_of(j) == c.moves);
        CHECK(j["kind"] == "round");
        CHECK(j["algorithm"] == "balanced");
        CHECK(j["placements"].empty());
        CHECK(j["stale_resources"] == 0);
        CHECK_FALSE(j.contains("schedule"));
    }
    json j = answered(a, path, example_a(json::object()));
    const json &first = j["reschedules"][0];
    CHECK(first["seq"] == 1);
    CHECK(first["group"] == 1);
    CHECK(first["workflow_id"] == "w1");
    CHECK(first["remaining_before_s"].get<double>() == Approx(7200));
    CHECK(first["transfer_s"].get<double>() == Approx(3200.007).epsilon(1e-9));
    CHECK(first["transfer_bytes"] == 2e9);
    CHECK(first["role"] == "longest");
    CHECK(first["parent_set"] == json({"a", "b"}));
    CHECK(j["objective"]["makespan_before_s"].get<double>() == Approx(7200));
    CHECK(j["objective"]["makespan_s"].get<double>() == Approx(5000.007).epsilon(1e-9));
    bool found = false;
    for (const json &set : j["parent_sets"]) {
        if (set["members"] != json({"a", "b"}))
            continue;
        found = true;
        CHECK(set["children"] == json::array({"c"}));
        CHECK(set["state"] == "running");
        CHECK(set["max_remaining_before_s"].get<double>() == Approx(7200));
    }
    CHECK(found);
    j = answered(a, path, example_a({{"re_min_s", 8000}}));
    CHECK(row_of(j["skipped"], "a")["reason"] == "below_re_min");
    CHECK(row_of(j["skipped"], "b")["reason"] == "below_re_min");
}

TEST_CASE("auto: a schedule for what has not begun, else a round", "[api][workflow]")
{
    api a;
    json body = json::parse(plainest);
    for (const char *name : {"", "auto"}) {
        body.erase("algorithm");
        if (*name)
            body["algorithm"] = name;
        json j = answered(a, path, body);
        CHECK(j["kind"] == "schedule");
        CHECK(makespan(j) == 5);
        CHECK_FALSE(j["because"].get<std::string>().empty());
    }
    // What runs changes nothing: all that is still to come is planned again.
    json running = example_a(json::object());
    for (const char *member : {"kind", "algorithm", "options"})
        running.erase(member);
    json j = answered(a, path, running);
    CHECK(j["kind"] == "schedule");
    CHECK(row_of(j["schedule"], "a")["status"] == "running");
    CHECK(row_of(j["schedule"], "a")["remaining_source"] == "progress");
    running["options"] = {{"slots", true}};
    CHECK(answered(a, path, running)["kind"] == "schedule");

    // A round is for those who ask for it.
    running["options"] = {{"moves", "rounds"}, {"slots", true}};
    j = answered(a, path, running);
    CHECK(j["kind"] == "round");
    CHECK(j["algorithm"] == "balanced");
    CHECK(j["warnings"][0] == "ignored: a round does not use: /options/slots");
    CHECK(moves_of(j) == std::vector<std::string>{"migrate a CR1 CR2 5000.007"});
    running["options"] = {{"moves", "rounds"}, {"balance", "all"}};
    CHECK(moves_of(answered(a, path, running)).size() == 2);
    // ... or name the kind.
    running["options"] = {{"balance", "all"}};
    running["kind"] = "round";
    j = answered(a, path, running);
    CHECK(j["kind"] == "round");
    CHECK(j["because"].get<std::string>().find("kind round: ") == 0);
    CHECK(moves_of(j).size() == 2);
    running["algorithm"] = "balanced";
    CHECK(answered(a, path, running)["kind"] == "round");
    running["kind"] = "schedule";
    CHECK(refused(a, path, running) == std::set<std::string>{"/kind"});
    running["algorithm"] = "auto";
    running["options"] = {{"moves", "rounds"}};
    CHECK(refused(a, path, running) == std::set<std::string>{"/kind"});
    running.erase("kind");
    running["algorithm"] = "heft";
    CHECK(refused(a, path, running) == std::set<std::string>{"/options/moves"});
    running["kind"] = "round";
    running.erase("options");
    CHECK(refused(a, path, running) == std::set<std::string>{"/kind"});
    running["kind"] = "schedule";
    CHECK(answered(a, path, running)["kind"] == "schedule");
    running["kind"] = "plan";
    CHECK(refused(a, path, running) == std::set<std::string>{"/kind"});

    body["workflow"]["tasks"][0].erase("etc_s");
    j = answered(a, path, body);
    CHECK(j["kind"] == "schedule");
    CHECK(j["unplaced"].empty());
    CHECK(j["warnings"][0].get<std::string>().find("run_times_guessed: 1 of 2") == 0);

    body = json::parse(plainest);
    body.erase("algorithm");
    body["carry_over"] = {{{"task_ids", {"a"}}}};
    j = answered(a, path, body);
    CHECK(j["kind"] == "schedule");
    CHECK(j["warnings"][0].get<std::string>().find("ignored: /carry_over: ") == 0);
    body["algorithm"] = "heft";
    CHECK(refused(a, path, body) == std::set<std::string>{"/carry_over"});
    body["algorithm"] = "balancd";
    api_reply r = a.post(path, body.dump());
    CHECK(r.pointers() == std::vector<std::string>{"/algorithm"});
    CHECK(r.body.find("did you mean 'balanced'") != std::string::npos);
}

TEST_CASE("moves have bounds, and pay where the example says", "[api][workflow]")
{
    api a;
    json body = example("workflow-auto-running");
    json j = answered(a, path, body);
    REQUIRE(j["reschedules"].size() == 1);
    CHECK(j["reschedules"][0]["action"] == "migrate");
    CHECK(j["reschedules"][0]["gain_s"].get<double>() > 30);
    CHECK_FALSE(j["reschedules"][0].contains("role"));
    for (const json &options :
         {json{{"move_gain_min_s", -1}}, json{{"move_gain_min_ratio", 1.5}}}) {
        body["options"] = options;
        CHECK(refused(a, path, body) ==
              std::set<std::string>{"/options/" + options.begin().key()});
    }
}

TEST_CASE("a static algorithm goes on from what has begun", "[api][workflow]")
{
    api a;
    json body = with_tasks({{{"id", "a"},
                             {"etc_s", {3, 4}},
                             {"status", "done"},
                             {"resource_id", "p0"},
                             {"start_s", -5},
                             {"finish_s", -2}},
                            {{"id", "b"},
                             {"etc_s", {8, 8}},
                             {"status", "running"},
                             {"resource_id", "p0"},
                             {"start_s", -2},
                             {"progress_ratio", 0.25}},
                            {{"id", "c"},
                             {"etc_s", {2, 2}},
                             {"depends_on", {{{"task_id", "a"}, {"transfer_s", 1}}}}}});
    body["algorithm"] = "heft";
    json j = answered(a, path, body);
    CHECK(row_of(j["schedule"], "b")["finish_s"].get<double>() == Approx(6));
    CHECK(row_of(j["schedule"], "b")["status"] == "running");
    CHECK(row_of(j["schedule"], "c")["resource_id"] == "p1");
    CHECK(makespan(j) == Approx(6));
}

TEST_CASE("edges mean the same as depends_on, and both can be mixed", "[api][workflow]")
{
    api a;
    json body = example("workflow-heft");
    json want = timeless(answered(a, path, body));
    json edges = json::array(), half = json::array(), mixed = body;
    json &tasks = body["workflow"]["tasks"];
    for (size_t i = 0; i < tasks.size(); i++) {
        for (const json &d : tasks[i].value("depends_on", json::array())) {
            json edge = {{"parent_id", d["task_id"]},
                         {"child_id", tasks[i]["id"]},
                         {"transfer_s", d["transfer_s"]}};
            edges.push_back(edge);
            if (i % 2)
                half.push_back(edge);
        }
        tasks[i].erase("depends_on");
        if (i % 2)
            mixed["workflow"]["tasks"][i].erase("depends_on");
    }
    body["workflow"]["edges"] = edges;
    mixed["workflow"]["edges"] = half;
    CHECK(timeless(answered(a, path, body)) == want);
    CHECK(timeless(answered(a, path, mixed)) == want);
    body["workflows"] = json::array({body["workflow"]});
    body.erase("workflow");
    CHECK(timeless(answered(a, path, body)) == want);
}

TEST_CASE("mistakes of edges, all at once", "[api][workflow]")
{
    api a;
    json body = with_tasks({{{"id", "a"}, {"etc_s", {1, 1}}},
                            {{"id", "b"},
                             {"etc_s", {1}},
                             {"depends_on", {{{"task_id", "a"}}, {{"task_id", "z"}}}}}});
    body["workflow"]["edges"] = {
        {{"parent_id", "a"}, {"child_id", "b"}}, {{"parent_id", "x"}, {"child_id", "y"}},
        {{"parent_id", "b"}, {"child_id", "b"}}, {{"parent_id", "a"}, {"child_id", "c"}},
        {{"parent_id", "b"}, {"child_id", "a"}}, {{"parent_id", "b"}, {"child_id", "a"}}};
    body["algorithm"] = "hft";
    std::set<std::string> p = refused(a, path, body);
    for (const char *pointer :
         {"/algorithm", "/workflow/edges/0", "/workflow/edges/1/parent_id",
          "/workflow/edges/1/child_id", "/workflow/edges/2", "/workflow/edges/3/child_id",
          "/workflow/edges/5", "/workflow/tasks/1/etc_s",
          "/workflow/tasks/1/depends_on/1/task_id"}) {
        INFO(pointer);
        CHECK(p.count(pointer) == 1);
    }
    CHECK(p.count("/workflow/edges/4") == 0); // of the cycle, which is another mistake
}

TEST_CASE("cycles are named", "[api][workflow]")
{
    api a;
    json body = with_tasks({{{"id", "a"}, {"etc_s", {1, 1}}},
                            {{"id", "b"}, {"etc_s", {1, 1}}},
                            {{"id", "c"}, {"etc_s", {1, 1}}}});
    body["workflow"]["edges"] = {{{"parent_id", "a"}, {"child_id", "b"}},
                                 {{"parent_id", "b"}, {"child_id", "c"}},
                                 {{"parent_id", "c"}, {"child_id", "a"}}};
    for (const char *name : {"auto", "heft", "balanced"}) {
        body["algorithm"] = name;
        api_reply r = a.post(path, body.dump());
        INFO(name << r.body);
        CHECK(r.status == 422);
        CHECK(r.body.find("cycle") != std::string::npos);
        for (const char *task : {"a", "b", "c"})
            CHECK(r.json()["errors"][0]["detail"].get<std::string>().find(task) !=
                  std::string::npos);
    }
}

TEST_CASE("values of tasks are checked", "[api][workflow]")
{
    api a;
    const struct {
        json changes;
        const char *member;
    } cases[] = {
        {{{"progress_ratio", -1}}, "progress_ratio"},
        {{{"progress_ratio", 1.005}}, "progress_ratio"},
        {{{"elapsed_s", -1}}, "elapsed_s"},
        {{{"estimate_ref_s", -1}}, "estimate_ref_s"},
        {{{"input_bytes", -1}}, "input_bytes"},
        {{{"output_bytes", -1e300}}, "output_bytes"},
        {{{"checkpoint_bytes", -1}}, "checkpoint_bytes"},
        {{{"work_done_ref_s", -1}}, "work_done_ref_s"},
        {{{"release_s", -1}}, "release_s"},
        {{{"transfer_remaining_s", -1}}, "transfer_remaining_s"},
        {{{"etc_s", {1, -2}}}, "etc_s/1"},
        {{{"etc_s", {1, 2, 3}}}, "etc_s"},
        {{{"status", "finished"}}, "status"},
        {{{"resource_id", nullptr}}, "resource_id"},
        {{{"resource_id", "p9"}}, "resource_id"},
        {{{"input_file_ids", {"none"}}}, "input_file_ids/0"},
        {{{"depends_on", {{{"task_id", "none"}}}}}, "depends_on/0/task_id"},
        {{{"depends_on", {{{"task_id", "t"}}}}}, "depends_on/0/task_id"},
        {{{"progress_samples", {{{"elapsed_s", 1}, {"progress_ratio", 1.01}}}}},
         "progress_samples/0/progress_ratio"},
        {{{"progress_samples", {{{"elapsed_s", -1}, {"progress_ratio", 0.01}}}}},
         "progress_samples/0/elapsed_s"},
        {{{"runtime", 1}}, "runtime"},
    };
    for (auto &c : cases) {
        INFO(c.changes.dump());
        CHECK(refused(a, path, running_with(c.changes))
                  .count(std::string("/workflow/tasks/0/") + c.member) == 1);
    }
    CHECK(a.post(path, R"({"workflow":{"tasks":[{"id":"a","etc_s":[NaN]}]}})").status ==
          400);
    CHECK(a.post(path, "{").status == 400);
    json far = running_with({{"estimate_ref_s", 1e308}, {"work_done_ref_s", 0}});
    CHECK(a.post(path, far.dump()).status == 200);
}

TEST_CASE("numbers below and above what can be, all at once, workflows.md 5.8",
          "[api][workflow]")
{
    api a;
    json body = with_tasks(
        {{{"id", "a"}, {"progress_ratio", -1}, {"elapsed_s", -1}, {"input_bytes", -1}},
         {{"id", "b"},
          {"progress_ratio", 1.005},
          {"output_bytes", -1},
          {"checkpoint_bytes", -1},
          {"since_last_move_s", -1},
          {"depends_on", {{{"task_id", "a"}, {"bytes", -1}}}}}});
    body["algorithm"] = "balanced";
    body["snapshot"]["resources"][0]["mips_total"] = -1;
    body["snapshot"]["resources"][1]["mips_external"] = -1;
    CHECK(refused(a, path, body) ==
          std::set<std::string>{
              "/snapshot/resources/0/mips_total", "/snapshot/resources/1/mips_external",
              "/workflow/tasks/0/elapsed_s", "/workflow/tasks/0/input_bytes",
              "/workflow/tasks/0/progress_ratio", "/workflow/tasks/1/checkpoint_bytes",
              "/workflow/tasks/1/depends_on/0/bytes", "/workflow/tasks/1/output_bytes",
              "/workflow/tasks/1/progress_ratio", "/workflow/tasks/1/since_last_move_s"});
}

TEST_CASE("the description tells every reason to leave a task where it is",
          "[api][workflow][openapi]")
{
    api a;
    json rows = a.get("/openapi.json").json()["components"]["schemas"]["WorkflowSkip"];
    std::string text = rows["properties"]["reason"]["description"];

    for (size_t i = 0; workflow_skip_names[i]; i++) {
        INFO(text);
        CHECK(text.find(std::string(workflow_skip_names[i]) + " (" +
                        workflow_skip_texts[i] + ")") != std::string::npos);
    }
}

TEST_CASE("what belongs to the request as a whole is checked", "[api][workflow]")
{
    api a;
    CHECK(refused(a, path, json::object()) ==
          std::set<std::string>{"/snapshot", "/workflow"});
    json body = json::parse(plainest);
    body["workflows"] = json::array();
    body["snapshot_id"] = "s";
    body["stg"] = "1\n";
    CHECK(refused(a, path, body) ==
          std::set<std::string>{"/snapshot_id"}); // the form first
    body.erase("snapshot_id");
    CHECK(refused(a, path, body) == std::set<std::string>{"/workflow"});
    body = json::parse(plainest);
    body["workflows"] = {body["workflow"]};
    body["workflows"][0]["id"] = "w";
    CHECK(refused(a, path, body) == std::set<std::string>{"/workflows"});
    body = json::parse(plainest);
    body["speeds"] = {1, 2};
    CHECK(refused(a, path, body) == std::set<std::string>{"/speeds"});
    body = json::parse(plainest);
    body["availability"] = {{{"resource_id", "p7"}, {"from_s", 0}},
                            {{"resource_id", "p0"}, {"from_s", 5}, {"to_s", 1}}};
    CHECK(refused(a, path, body) ==
          std::set<std::string>{"/availability/0/resource_id", "/availability/1/to_s"});
    body = json::parse(plainest);
    json &tasks = body["workflow"]["tasks"];
    tasks.push_back(tasks[0]);
    CHECK(refused(a, path, body).count("/workflow/tasks/2/id") == 1);
    body = json::parse(plainest);
    json one = body["workflow"];
    body.erase("workflow");
    body["workflows"] = {one, one};
    CHECK(refused(a, path, body) ==
          std::set<std::string>{"/workflows/0/id", "/workflows/1/id"});
    body["workflows"][0]["id"] = body["workflows"][1]["id"] = "w";
    CHECK(refused(a, path, body).count("/workflows/1/id") == 1);
    body["workflows"][1]["id"] = "v";
    json j = answered(a, path, body);
    CHECK(j["schedule"].size() == 4);
    CHECK(j["schedule"][0].contains("workflow_id"));
    body["options"] = {{"slts", true}};
    CHECK(refused(a, path, body) == std::set<std::string>{"/options/slts"});
}

TEST_CASE("nothing to do is no mistake, workflows.md 5.8", "[api][workflow]")
{
    api a;
    for (const char *name : {"auto", "heft", "balanced", "workflow_fastest"}) {
        INFO(name);
        json body = with_tasks(json::array());
        body["algorithm"] = name;
        json j = answered(a, path, body);
        CHECK(j["status"] != "infeasible");
        body["workflows"] = json::array();
        body.erase("workflow");
        answered(a, path, body);
        // One task on its own, and no resource at all.
        body = with_tasks({{{"id", "t"}, {"estimate_ref_s", 7}}}, 1);
        body["algorithm"] = name;
        j = answered(a, path, body);
        CHECK(j["unplaced"].empty());
        if (j["kind"] == "schedule")
            CHECK(makespan(j) == 7);
        else
            CHECK(j["placements"][0]["resource_id"] == "p0");
        body["snapshot"]["resources"] = json::array();
        j = answered(a, path, body);
        CHECK(j["status"] == "infeasible");
        CHECK(j["unplaced"][0]["task_id"] == "t");
        CHECK_FALSE(j["unplaced"][0]["reasons"].empty());
    }
}

TEST_CASE("a task without a place has reasons, and so have its children",
          "[api][workflow]")
{
    api a;
    json body = with_tasks(
        {{{"id", "a"}, {"etc_s", {nullptr, nullptr}}},
         {{"id", "b"}, {"etc_s", {1, 1}}, {"depends_on", {{{"task_id", "a"}}}}},
         {{"id", "c"}, {"etc_s", {1, 2}}}});
    body["algorithm"] = "heft";
    json j = answered(a, path, body);
    CHECK(j["schedule"].size() == 1);
    REQUIRE(j["unplaced"].size() == 2);
    CHECK(j["unplaced"][0]["task_id"] == "a");
    CHECK(j["unplaced"][0]["reasons"][0]["resource_count"] == 2);
    CHECK(j["unplaced"][1]["task_id"] == "b");
    CHECK(j["unplaced"][1]["reasons"][0]["reason"] == "after_unplaced");
}

TEST_CASE("progress that runs backwards is taken, with a warning", "[api][workflow]")
{
    api a;
    json body = running_with({{"progress_ratio", 0.2},
                              {"elapsed_s", 30},
                              {"progress_samples",
                               {{{"elapsed_s", 10}, {"progress_ratio", 0.3}},
                                {{"elapsed_s", 20}, {"progress_ratio", 0.25}},
                                {{"elapsed_s", 30}, {"progress_ratio", 0.2}}}}});
    json j = answered(a, path, body);
    REQUIRE(j["warnings"].size() == 1);
    CHECK(j["warnings"][0].get<std::string>().find("1 task, first 't'") !=
          std::string::npos);
}

TEST_CASE("tasks that wait come first in the next round", "[api][workflow]")
{
    api a;
    json list = json::array({{{"id", "root"}, {"status", "done"}}});
    for (int i = 0; i < 4; i++)
        list.push_back({{"id", "t" + std::to_string(i)},
                        {"estimate_ref_s", 100 - i},
                        {"depends_on", {{{"task_id", "root"}}}}});
    json body = with_tasks(list, 2);
    body["algorithm"] = "balanced";
    json j = answered(a, path, body);
    CHECK(j["placements"].size() == 2);
    REQUIRE(j["carry_over"].size() >= 1);
    CHECK(j["unplaced"].size() == 2);
    // What is carried over goes back as it came.
    body["carry_over"] = j["carry_over"];
    json next = answered(a, path, body);
    CHECK(next["placements"][0]["task_id"] == j["carry_over"][0]["task_ids"][0]);
    body["carry_over"] = {{{"task_ids", {"nobody"}}}};
    CHECK(refused(a, path, body).size() == 1);
}

TEST_CASE("every dynamic policy answers the worked example twice the same",
          "[api][workflow][property]")
{
    api a;
    for (const struct policy *p = workflow_round_policies; p->name; p++) {
        json body = example_a(json::object());
        INFO(p->name);
        body["algorithm"] = p->name;
        body["seed"] = 77;
        json j = answered(a, path, body);
        CHECK(j["algorithm"] == p->name);
        CHECK(timeless(j) == timeless(answered(a, path, body)));
        if (!(p->flags & WORKFLOW_ROUND_MOVES))
            CHECK(j["reschedules"].empty());
    }
}

TEST_CASE("a round is no picture", "[api][workflow][pictures]")
{
    api a;
    for (const struct policy *p = workflow_round_policies; p->name; p++)
        for (const char *type : {"image/svg+xml", "text/vnd.graphviz"}) {
            std::string body = example(std::string("workflow_round-") + p->name).dump();
            api_reply r = a.call("POST", path, body, {{"accept", type}});
            INFO(p->name << r.body);
            CHECK(r.status == 406);
            CHECK(r.json()["code"] == "not_acceptable");
            CHECK(r.json()["detail"].get<std::string>().find("accept application/json") !=
                  std::string::npos);
        }
}

TEST_CASE("another tool's graph, and resources in short", "[api][workflow]")
{
    api a;
    // Two tasks between the dummies that begin and end such a graph.
    json body = {{"algorithm", "heft"},
                 {"speeds", {1, 2}},
                 {"stg", "2\n0 0 0\n1 4 1 0\n2 6 1 1\n3 0 1 2\n"}};
    json j = answered(a, path, body);
    CHECK(makespan(j) == Approx(5));
    CHECK(j["import"]["format"] == "stg");
    body["dax"] = "<adag/>";
    CHECK(refused(a, path, body).size() >= 1);
    body.erase("dax");
    body["stg"] = "no graph";
    CHECK(refused(a, path, body).count("/stg") == 1);
}

TEST_CASE("a million edges are read and scheduled", "[api][workflow]")
{
    api a;
    // Two layers of a thousand tasks, everything needed by everything: half of it is said
    // by the children, half by edges.
    std::string body = R"({"algorithm":"heft","snapshot":{"resources":[{"id":"p"},)"
                       R"({"id":"q"}]},"workflow":{"tasks":[)";
    const size_t width = 1000;
    std::string parents, edges;
    std::vector<std::string> ends;
    for (size_t k = 0; k < width; k++)
        ends.push_back(R"(,"child_id":")" + std::to_string(width + k) + R"("})");
    for (size_t i = 0; i < width; i++) {
        const std::string id = std::to_string(i);
        body += R"({"id":")" + id + R"(","estimate_ref_s":1},)";
        if (i < width / 2) {
            parents += std::string(i ? "," : "") + R"({"task_id":")" + id + R"("})";
            continue;
        }
        const std::string begin = R"(,{"parent_id":")" + id + '"';
        for (const std::string &end : ends)
            edges.append(begin, edges.empty(), std::string::npos).append(end);
    }
    for (size_t i = width; i < 2 * width; i++)
        body += std::string(i > width ? "," : "") + R"({"id":")" + std::to_string(i) +
                R"(","estimate_ref_s":1,"depends_on":[)" + parents + "]}";
    body += R"(],"edges":[)" + edges + "]}}";
    api_reply r = a.call("POST", path, body, {}, size_t{4} << 30);
    INFO(r.body.substr(0, 500));
    REQUIRE(r.status == 200);
    json j = r.json();
    CHECK(j["schedule"].size() == 2 * width);
    CHECK(makespan(j) == Approx(1000));
    CHECK(j["status"] == "optimal");
}

TEST_CASE("workflow schedules need no more memory than they may have",
          "[api][workflow][memory]")
{
    api a;
    json edges = json::parse(plainest);
    edges["workflow"]["tasks"][1].erase("depends_on");
    edges["workflow"]["edges"] = {{{"parent_id", "a"}, {"child_id", "b"}}};
    const std::string bodies[] = {plainest, edges.dump(),
                                  example_a(json::object()).dump()};
    for (const std::string &body : bodies) {
        bool done = false;
        for (size_t cap = 256; !done; cap += cap < 65536 ? 512 : 16384) {
            api_reply r = a.call("POST", path, body, {}, cap);
            done = r.status == 200;
            if (!done)
                REQUIRE(r.status == 413);
            REQUIRE(cap < 16000000);
        }
    }
}

TEST_CASE("stored decisions about workflows replay the same", "[api][workflow][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    for (const char *name :
         {"workflow-heft", "workflow-auto", "workflow_round-balanced",
          "workflow_round-balanced_grouped", "workflow_round-workflow_fastest"}) {
        INFO(name);
        json body = example(name);
        body["store"] = true;
        json made = answered(service, path, body);
        json again = answered(service,
                              "/v1/decisions/" + made["decision_id"].get<std::string>() +
                                  "/replay",
                              json());
        CHECK(again["identical"] == true);
    }
}

TEST_CASE("list algorithms place deferred tasks behind all others", "[api]")
{
    api a;

    for (const char *name : {"heft", "cpop", "peft"})
        for (bool deferred : {false, true}) {
            // One host: the longer task would be first.
            std::string body =
                R"({"snapshot":{"resources":[{"id":"n","mips_total":1}]},"workflow":)"
                R"({"tasks":[{"id":"a","estimate_ref_s":5,"deferred":)" +
                std::string(deferred ? "true" : "false") +
                R"(},{"id":"b","estimate_ref_s":2}]},"algorithm":")" + name + "\"}";
            api_reply r = a.post("/v1/workflow-schedules", body);
            INFO(body);
            REQUIRE(r.status == 200);
            CHECK(r.json()["schedule"][0]["task_id"] == (deferred ? "b" : "a"));
        }
}
