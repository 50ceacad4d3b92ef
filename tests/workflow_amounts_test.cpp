// workflow_amounts_test.cpp - workflows whose tasks need cpus, memory and more, on
// resources that run as many of them as fit; over POST /v1/workflow-schedules.
#include "tests/api.hpp"
#include "tests/system.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

using nlohmann::json;

namespace
{
const std::string path = "/v1/workflow-schedules";

json answered(api &a, const json &body, const std::string &where = path)
{
    api_reply r = a.post(where, body.dump());
    INFO(r.body.substr(0, 2000));
    REQUIRE(r.status == 200);
    return r.json();
}

std::set<std::string> refused(api &a, const json &body, const std::string &where = path)
{
    api_reply r = a.post(where, body.dump());
    INFO(r.body.substr(0, 2000));
    CHECK(r.status == 422);
    std::vector<std::string> list = r.pointers();
    return {list.begin(), list.end()};
}

json task(const std::string &id, double seconds, double cpus,
          const std::vector<std::string> &parents = {})
{
    json t = {{"id", id}, {"estimate_ref_s", seconds}, {"cpus", cpus}};
    if (!parents.empty())
        t["depends_on"] = parents;
    return t;
}

json row_of(const json &answer, const std::string &id)
{
    for (const json &r : answer["schedule"])
        if (r["task_id"] == id)
            return r;
    FAIL("no row of " << id);
    return {};
}

bool is_on(const json &row, const std::string &id)
{
    json nodes = row.value("resource_ids", json::array({row["resource_id"]}));
    return std::find(nodes.begin(), nodes.end(), id) != nodes.end();
}

// Everything that a schedule must be, looked at by itself: at every start the tasks and
// running jobs of a node need no more than it has, and tasks follow their parents.
void check_fits(const json &body, const json &answer)
{
    std::map<std::string, json> given, rows;
    for (const json &t : body["workflow"]["tasks"])
        given[t["id"]] = t;
    for (const json &r : answer["schedule"])
        rows[r["task_id"]] = r;
    for (const json &n : body["snapshot"]["resources"]) {
        for (const auto &at : rows) {
            double t = at.second["start_s"], cpus = 0, memory = 0;
            if (!is_on(at.second, n["id"]) || at.second["finish_s"] == t)
                continue;
            for (const auto &r : rows)
                if (is_on(r.second, n["id"]) && r.second["start_s"] <= t &&
                    t < r.second["finish_s"]) {
                    cpus += given[r.first].value("cpus", 1.0);
                    memory += given[r.first].value("memory_bytes", 0.0);
                }
            for (const json &x : n.value("running", json::array()))
                cpus += t < x["expected_end_s"] ? x["cpus"].get<double>() : 0;
            CHECK(cpus <= n["cpus"].get<double>() + 1e-9);
            CHECK(memory <= n.value("memory_bytes", 1e300));
        }
    }
    for (const auto &r : rows)
        for (const json &p : given[r.first].value("depends_on", json::array()))
            if (rows.count(p))
                CHECK(r.second["start_s"].get<double>() >=
                      rows[p]["finish_s"].get<double>() - 1e-9);
    CHECK(answer["objective"]["makespan_s"].get<double>() >=
          answer["objective"]["lower_bound_s"].get<double>() * (1 - 1e-9));
}

// Its own schedule is accepted, and is worth what was said.
void check_accepted(api &a, const json &body, const json &answer)
{
    json question = body;
    question["kind"] = "workflow";
    for (const char *m : {"algorithm", "options", "time_limit_s", "seed"})
        question.erase(m);
    question["schedule"] = json::array();
    for (const json &r : answer["schedule"]) {
        question["schedule"].push_back({{"task_id", r["task_id"]},
                                        {"resource_id", r["resource_id"]},
                                        {"start_s", r["start_s"]},
                                        {"finish_s", r["finish_s"]}});
        if (r.contains("resource_ids"))
            question["schedule"].back()["resource_ids"] = r["resource_ids"];
    }
    json found = answered(a, question, "/v1/evaluations");
    INFO(found["violations"].dump());
    CHECK(found["valid"] == true);
    CHECK(found["objective"]["makespan_s"] == answer["objective"]["makespan_s"]);
}

json random_request(std::mt19937 &rng, size_t count)
{
    auto pick = [&](std::vector<double> of) { return of[rng() % of.size()]; };
    json body = {{"snapshot", {{"resources", json::array()}}},
                 {"workflow", {{"tasks", json::array()}}}};

    for (size_t n = 0; n <= rng() % 3; n++) {
        json r = {{"id", "n" + std::to_string(n)}, {"cpus", pick({1, 2, 4, 8})}};
        if (rng() % 2)
            r["memory_bytes"] = pick({4, 8, 16});
        if (rng() % 3 == 0)
            r["mips_total"] = pick({1, 2, 0.5});
        if (rng() % 3 == 0)
            r["running"] = {{{"id", "r" + std::to_string(n)},
                             {"cpus", pick({1, 2, 4})},
                             {"expected_end_s", pick({1, 5, 10})}}};
        body["snapshot"]["resources"].push_back(r);
    }
    for (size_t i = 0; i < count; i++) {
        json t =
            task("t" + std::to_string(i), pick({0, 1, 2, 5, 10}), pick({0.5, 1, 2, 4}));
        if (rng() % 2)
            t["memory_bytes"] = pick({0, 2, 4});
        if (rng() % 4 == 0)
            t["nodes"] = 1 + rng() % 2;
        if (i > 0 && rng() % 3)
            t["depends_on"] = {"t" + std::to_string(rng() % i)};
        body["workflow"]["tasks"].push_back(t);
    }
    return body;
}
} // namespace

TEST_CASE("tasks share the cpus of a node", "[workflow][world]")
{
    api a;
    json body = {{"snapshot", {{"resources", {{{"id", "n"}, {"cpus", 8}}}}}},
                 {"workflow",
                  {{"tasks",
                    {task("a", 10, 4), task("b", 10, 4), task("c", 10, 4),
                     task("d", 5, 8, {"a", "b"})}}}}};
    json answer = answered(a, body);
    check_fits(body, answer);
    // Two beside each other, then the third, then all of the node.
    CHECK(answer["objective"]["makespan_s"] == 25);
    CHECK(answer["status"] == "feasible");
    CHECK(answer["objective"]["lower_bound_s"] == Approx(20));
    for (const json &x : answer["schedule"]) // no slot is taken twice
        for (const json &y : answer["schedule"])
            if (x["task_id"] != y["task_id"] && x["slot"] == y["slot"])
                CHECK((x["finish_s"] <= y["start_s"] || y["finish_s"] <= x["start_s"]));
    check_accepted(a, body, answer);

    for (const char *policy : {"heft", "search"}) {
        body["algorithm"] = policy;
        CHECK(answered(a, body)["objective"]["makespan_s"] == 25);
    }
    body["algorithm"] = "peft";
    answer = answered(a, body);
    CHECK(answer["algorithm"] == "heft");
    CHECK(answer["warnings"].dump().find("ignored: /algorithm: peft") !=
          std::string::npos);
}

TEST_CASE("what runs and is reserved is in the way of tasks", "[workflow][world]")
{
    api a;
    json body = {
        {"snapshot",
         {{"shared_capacities", {{"licence", 1}}},
          {"resources",
           {{{"id", "n"},
             {"cpus", 4},
             {"running", {{{"id", "r"}, {"cpus", 3}, {"expected_end_s", 10}}}},
             {"reservations",
              {{{"id", "m"}, {"start_s", 30}, {"end_s", 40}, {"all", true}}}}}}}}},
        {"workflow",
         {{"tasks", {task("narrow", 5, 1), task("wide", 15, 2), task("long", 25, 1)}}}}};
    json answer = answered(a, body);
    CHECK(row_of(answer, "narrow")["start_s"] == 10);
    CHECK(row_of(answer, "long")["start_s"] == 0);
    CHECK(row_of(answer, "wide")["start_s"] == 10);
    CHECK(answer["warnings"].dump().find("ignored") == std::string::npos);

    body["workflow"]["tasks"] = {task("x", 5, 1), task("y", 5, 1)};
    for (json &t : body["workflow"]["tasks"])
        t["needs"] = {{"licence", 1}};
    answer = answered(a, body);
    CHECK(answer["objective"]["makespan_s"] == 10); // one licence: one after the other
    CHECK(answer["status"] == "optimal");
}

TEST_CASE("a run time that is the same everywhere may be 0, and is the only one",
          "[workflow][world]")
{
    api a;
    json body = {{"snapshot", {{"resources", {{{"id", "n"}, {"mips_total", 2}}}}}},
                 {"workflow",
                  {{"tasks",
                    {{{"id", "a"}, {"estimate_s", 0}},
                     {{"id", "b"}, {"estimate_s", 10}, {"depends_on", {"a"}}}}}}}};
    json answer = answered(a, body);
    CHECK(row_of(answer, "a")["finish_s"] == 0);
    CHECK(row_of(answer, "b")["finish_s"] == 10);
    CHECK(answer["status"] == "optimal");
    body["workflow"]["tasks"][1]["estimate_ref_s"] = 20;
    for (const char *algorithm : {"heft", "balanced"}) {
        body["algorithm"] = algorithm;
        CHECK(refused(a, body) == std::set<std::string>{"/workflow/tasks/1/estimate_s"});
    }
}

TEST_CASE("running tasks move where all they need is free", "[workflow][world][moves]")
{
    api a;
    const json both = {{"a", "fast", 900, 250}}, none = json::array();
    auto body = [](double beside, const json &more = json::object()) {
        json t = task("a", 1000, 3), b = {{"algorithm", "auto"}};

        t.update({{"status", "running"},
                  {"resource_id", "slow"},
                  {"progress_ratio", 0.1},
                  {"elapsed_s", 100}});
        t.update(more);
        b["snapshot"]["resources"] = {{{"id", "slow"}, {"mips_total", 1}, {"cpus", 4}},
                                      {{"id", "fast"}, {"mips_total", 4}, {"cpus", 4}}};
        b["workflow"]["tasks"] = {t, task("b", 100, beside),
                                  task("z", 10, 1, {"a", "b"})};
        return b;
    };
    auto moves = [&](const json &b) {
        json answer = answered(a, b), list = json::array();

        for (const json &m : answer["reschedules"])
            list.push_back({m["task_id"], m["to_resource_id"], m["remaining_before_s"],
                            m["remaining_after_s"]});
        return list;
    };
    // 900 left here, begun anew 1000 / 4 there, beside one cpu of the plan.
    json b = body(1);
    CHECK(moves(b) == both);
    json with = answered(a, b);
    b["options"] = {{"moves", "none"}};
    CHECK(answered(a, b)["schedule"] == with["schedule"]); // which holds without them
    CHECK(moves(b) == none);
    CHECK(moves(body(2)) == none);
    CHECK(moves(body(1, {{"checkpoint_work_ref_s", 100}})) ==
          json{{"a", "fast", 900, 225}});
    CHECK(moves(body(1, {{"requirement", "mips_total < 2"}})) == none);
    CHECK(moves(body(1, {{"nodes", 2}})) == none);
    SECTION("what others have there, now or before it would be done")
    {
        b = body(1);
        b["snapshot"]["resources"][1]["running"] = {
            {{"id", "x"}, {"cpus", 1}, {"expected_end_s", 10}}};
        CHECK(moves(b) == none);
        b["snapshot"]["resources"][1].erase("running");
        b["snapshot"]["resources"][1]["reservations"] = {
            {{"id", "m"}, {"start_s", 249}, {"end_s", 300}, {"all", true}}};
        CHECK(moves(b) == none);
        b["snapshot"]["resources"][1]["reservations"][0]["start_s"] = 250;
        CHECK(moves(b) == both);
    }
    SECTION("what waits for its inputs there holds what it needs")
    {
        json done = task("d", 10, 1), input = {{"task_id", "d"}, {"transfer_s", 1000}};

        done.update({{"status", "done"}, {"resource_id", "slow"}});
        b = body(2, {{"requirement", "mips_total > 0"}});
        b["workflow"]["tasks"][1].update(
            {{"requirement", "mips_total > 2"}, {"depends_on", {input}}});
        b["workflow"]["tasks"].push_back(done);
        CHECK(row_of(answered(a, b), "b")["next"] == true);
        CHECK(moves(b) == none);
        b["workflow"]["tasks"][1]["release_s"] = 249; // not before
        CHECK(moves(b) == none);
        b["workflow"]["tasks"][1]["release_s"] = 250;
        CHECK(moves(b) == both);
        b["workflow"]["tasks"][1]["cpus"] = 1; // room for both
        b["workflow"]["tasks"][1]["release_s"] = 0;
        CHECK(moves(b) == both);
    }
    SECTION("its row among what runs counts once, its licence it keeps")
    {
        b = body(1, {{"needs", {{"licence", 1}}}});
        b["snapshot"]["shared_capacities"] = {{"licence", 1}};
        b["snapshot"]["resources"][0]["running"] = {{{"id", "a"}, {"cpus", 3}}};
        b["workflow"]["tasks"][1]["needs"] = {{"licence", 1}};
        CHECK(moves(b) == both);
    }
    SECTION("by falling gain, as long as there is room")
    {
        json c = task("c", 2000, 1);

        c.update({{"status", "running"},
                  {"resource_id", "slow"},
                  {"progress_ratio", 0.1},
                  {"elapsed_s", 200}});
        b = body(1);
        b["workflow"]["tasks"].push_back(c);
        CHECK(moves(b) == json{{"c", "fast", 1800, 500}});
        b = body(0.5);
        c["cpus"] = 0.5;
        b["workflow"]["tasks"].push_back(c);
        CHECK(moves(b) == json({{"c", "fast", 1800, 500}, {"a", "fast", 900, 250}}));
    }
    SECTION("not if all would end later: its output has a long way from there")
    {
        b = body(1, {{"output_bytes", 1e9}});
        b["workflow"]["tasks"][2]["requirement"] = "mips_total < 2";
        b["snapshot"]["network"] = {{"wan_mbps", 100}, {"lan_mbps", 100}};
        CHECK(moves(b) == both); // 80 s
        b["snapshot"]["network"] = {{"wan_mbps", 10}, {"lan_mbps", 10}};
        CHECK(moves(b) == none); // 800 s
    }
}

TEST_CASE("running tasks of the workflow hold what they need", "[workflow][world]")
{
    api a;
    json body = {
        {"snapshot", {{"resources", {{{"id", "n"}, {"cpus", 4}}}}}},
        {"workflow", {{"tasks", {task("a", 10, 3), task("b", 10, 2), task("c", 1, 1)}}}}};
    body["workflow"]["tasks"][0].update(
        {{"status", "running"}, {"resource_id", "n"}, {"finish_s", 7}});
    json answer = answered(a, body);
    CHECK(row_of(answer, "c")["start_s"] == 0);
    CHECK(row_of(answer, "b")["start_s"] == 7);
    CHECK(answer["reschedules"].empty()); // nowhere to go
    CHECK(answer["warnings"].dump().find("/options/moves") == std::string::npos);

    // The cluster's list has it too: it counts once.
    body["snapshot"]["resources"][0]["running"] = {
        {{"id", "a"}, {"cpus", 3}, {"expected_end_s", 7}}};
    CHECK(row_of(answered(a, body), "c")["start_s"] == 0);
}

TEST_CASE("running tasks on several nodes hold all of them", "[workflow][world]")
{
    api a;
    json wide = task("a", 10, 3);
    wide.update({{"nodes", 2},
                 {"status", "running"},
                 {"resource_ids", {"n2", "n1"}},
                 {"finish_s", 7}});
    json body = {{"snapshot",
                  {{"resources",
                    {{{"id", "n1"}, {"cpus", 4}},
                     {{"id", "n2"}, {"cpus", 4}},
                     {{"id", "n3"}, {"cpus", 1}, {"failed", false}}}}}},
                 {"workflow", {{"tasks", {wide, task("b", 10, 2), task("c", 10, 2)}}}}};
    json &given = body["workflow"]["tasks"][0];
    json answer = answered(a, body);
    CHECK(row_of(answer, "b")["start_s"] == 7);
    CHECK(row_of(answer, "c")["start_s"] == 7);
    CHECK(row_of(answer, "a")["resource_ids"] == json({"n1", "n2"}));
    CHECK(row_of(answer, "a")["finish_s"] == 7);

    SECTION("the list of running jobs has it too: it counts once")
    {
        body["snapshot"]["running"] = {{{"id", "a"},
                                        {"cpus", 3},
                                        {"resource_ids", {"n1", "n2"}},
                                        {"expected_end_s", 7}}};
        answer = answered(a, body);
        CHECK(row_of(answer, "b")["start_s"] == 7);
        CHECK(answer["warnings"].dump().find("overcommitted") == std::string::npos);
    }
    SECTION("shared amounts are taken once")
    {
        body["snapshot"]["shared_capacities"] = {{"lic", 2}};
        given["needs"] = {{"lic", 1}};
        body["workflow"]["tasks"][1].update({{"cpus", 1}, {"needs", {{"lic", 1}}}});
        CHECK(row_of(answered(a, body), "b")["start_s"] == 0);
    }
    SECTION("one failed node ends it")
    {
        body["snapshot"]["resources"][1]["failed"] = true;
        body["workflow"]["tasks"][0]["nodes"] = 2;
        answer = answered(a, body);
        CHECK(answer["warnings"].dump().find("restarted") != std::string::npos);
        CHECK(row_of(answer, "b")["start_s"] == 0);
    }
    SECTION("it lasts as long as on the slowest of them")
    {
        given.erase("finish_s");
        given["elapsed_s"] = 0;
        body["snapshot"]["resources"][0]["mips_total"] = 2;
        body["snapshot"]["resources"][1]["mips_total"] = 1;
        CHECK(row_of(answered(a, body), "a")["finish_s"] == 10);
    }
    SECTION("a node that is not named is free, and that is said")
    {
        given.erase("resource_ids");
        given["resource_id"] = "n2";
        answer = answered(a, body);
        CHECK(row_of(answer, "b")["start_s"] == 0);
        CHECK(answer["warnings"].dump().find("running_incomplete: 1") !=
              std::string::npos);
    }
    SECTION("mistakes")
    {
        const std::string at = "/workflow/tasks/0/resource_id";
        given["resource_id"] = "n3";
        CHECK(refused(a, body) == std::set<std::string>{at});
        given.erase("resource_id");
        given["resource_ids"] = {"n1", "n1"};
        CHECK(refused(a, body) == std::set<std::string>{at + "s"});
        given["resource_ids"] = {"n1", "nx"};
        CHECK(refused(a, body) == std::set<std::string>{at + "s/1"});
        given["resource_ids"] = {"n1", "n2", "n3"};
        CHECK(refused(a, body) == std::set<std::string>{at + "s"});
    }
}

TEST_CASE("tasks use one of their partitions", "[workflow][world]")
{
    api a;
    json body = {
        {"snapshot",
         {{"resources",
           {{{"id", "n1"}, {"cpus", 1}},
            {{"id", "n2"}, {"cpus", 1}},
            {{"id", "n3"}, {"cpus", 1}}}},
          {"partitions",
           {{{"id", "short"}, {"resource_ids", {"n1"}}, {"time_limit_max_s", 20}},
            {{"id", "long"}, {"resource_ids", {"n2"}}},
            {{"id", "rest"}, {"resource_ids", {"n3"}}, {"default", true}}}}}},
        {"workflow",
         {{"tasks", {task("a", 10, 1), task("b", 30, 1), task("c", 10, 1)}}}}};
    json &tasks = body["workflow"]["tasks"];
    tasks[0]["partition_ids"] = {"short", "long"};
    tasks[1]["partition_ids"] = {"short", "long"};
    json answer = answered(a, body);
    CHECK(row_of(answer, "a")["partition_id"] == "short");
    CHECK(row_of(answer, "a")["resource_id"] == "n1");
    CHECK(row_of(answer, "b")["partition_id"] == "long"); // closed: 30 s are too many
    CHECK(row_of(answer, "c")["resource_id"] == "n3");
    CHECK(row_of(answer, "c")["partition_id"] == "rest");
    CHECK(answer["objective"]["makespan_s"] == 30);
    check_accepted(a, body, answer);

    body["algorithm"] = "balanced";
    json round = answered(a, body);
    for (const json &start : round["placements"])
        CHECK(start["resource_id"] == (start["task_id"] == "a"   ? "n1"
                                       : start["task_id"] == "b" ? "n2"
                                                                 : "n3"));
    body["algorithm"] = "heft";
    tasks[1]["partition_ids"] = {"short"};
    json why = answered(a, body)["unplaced"][0];
    CHECK(why["task_id"] == "b");
    CHECK(why["reasons"][0]["reason"] == "partition");
    tasks[1]["partition_ids"] = {"shrt"};
    CHECK(refused(a, body) == std::set<std::string>{"/workflow/tasks/1/partition_ids/0"});
}

TEST_CASE("data of parents are waited for where tasks need amounts", "[workflow][world]")
{
    api a;
    json body = {{"snapshot",
                  {{"network", {{"wan_mbps", 8}, {"lan_mbps", 8}}},
                   {"resources",
                    {{{"id", "n1"}, {"site_id", "s"}, {"cpus", 2}},
                     {{"id", "n2"}, {"site_id", "s"}, {"cpus", 4}}}}}},
                 {"workflow", {{"tasks", {task("a", 10, 2), task("b", 10, 4, {"a"})}}}}};
    body["workflow"]["tasks"][0]["output_bytes"] = 3e6; // 3 s
    body["workflow"]["tasks"][0]["requirement"] = "cpus_total == 2";
    json answer = answered(a, body);
    CHECK(row_of(answer, "a")["resource_id"] == "n1");
    CHECK(row_of(answer, "b")["resource_id"] == "n2");
    CHECK(row_of(answer, "b")["start_s"] == Approx(13));
    check_accepted(a, body, answer);
}

TEST_CASE("tasks of several nodes, limits and times that are the same everywhere",
          "[workflow][world]")
{
    api a;
    json body = {
        {"snapshot",
         {{"resources", {{{"id", "n1"}, {"cpus", 4}}, {{"id", "n2"}, {"cpus", 4}}}}}},
        {"workflow", {{"tasks", json::array()}}}};
    json &tasks = body["workflow"]["tasks"];
    tasks = {{{"id", "mpi"}, {"nodes", 2}, {"cpus", 4}, {"estimate_s", 10}},
             {{"id", "after"},
              {"depends_on", {"mpi"}},
              {"estimate_s", 30},
              {"time_limit_s", 20}}};
    json answer = answered(a, body);
    CHECK(row_of(answer, "mpi")["resource_ids"] == json({"n1", "n2"}));
    CHECK(row_of(answer, "after")["start_s"] == 10);
    CHECK(row_of(answer, "after")["finish_s"] == 30);
    CHECK(answer["warnings"].dump().find("killed: 1 task runs longer") !=
          std::string::npos);
    CHECK(answer["status"] == "optimal");

    tasks[0]["nodes"] = 3;
    tasks[1]["needs"] = {{"gpu", 1}};
    answer = answered(a, body);
    REQUIRE(answer["unplaced"].size() == 2);
    CHECK(answer["unplaced"][0]["reasons"][0]["reason"] == "too_few_nodes");
    CHECK(answer["unplaced"][1]["reasons"][0]["reason"] == "after_unplaced");
    CHECK(answer["warnings"].dump().find("first /workflow/tasks/1/needs") !=
          std::string::npos);
    tasks[1].erase("depends_on");
    json why = answered(a, body)["unplaced"][1]["reasons"][0];
    CHECK(why["reason"] == "too_small");
    CHECK(why["amounts"] == json::parse(R"([{"name":"gpu","needed":1,"short_count":2,
                                              "alone_count":2,"largest":0}])"));
    CHECK(why["resource_count"] == 2);
    // One of the two nodes is too small.
    body["snapshot"]["resources"][1]["cpus"] = 2;
    tasks[0]["nodes"] = 2;
    answer = answered(a, body);
    CHECK(answer["unplaced"][0]["reasons"][0]["reason"] == "too_few_nodes");
    CHECK(answer["unplaced"][0]["reasons"][0]["detail"] ==
          "it needs 2 nodes, and 1 suits it");

    tasks[0]["requirement"] = "cpus >";
    tasks[1]["cpus"] = 0;
    CHECK(refused(a, body) == std::set<std::string>{"/workflow/tasks/1/cpus"});
    tasks[1].erase("cpus");
    CHECK(refused(a, body) == std::set<std::string>{"/workflow/tasks/0/requirement"});
}

TEST_CASE("a resource runs as many tasks as it has slots, unless slots is false",
          "[workflow][world]")
{
    api a;
    json body = {{"snapshot", {{"resources", {{{"id", "n"}, {"n_max", 2}}}}}},
                 {"workflow",
                  {{"tasks",
                    {{{"id", "a"}, {"estimate_ref_s", 5}},
                     {{"id", "b"}, {"estimate_ref_s", 5}}}}}}};
    auto makespan = [&] {
        return answered(a, body)["objective"]["makespan_s"].get<double>();
    };

    for (const char *name : {"auto", "heft", "cpop", "peft", "search"}) {
        body["algorithm"] = name;
        body.erase("options");
        CHECK(makespan() == 5);
        body["options"] = {{"slots", false}};
        CHECK(makespan() == 10);
    }
    body["snapshot"]["resources"][0].erase("n_max");
    body["snapshot"]["resources"][0]["cpus"] = 2;
    CHECK(makespan() == 10);
    body["options"] = json::object();
    CHECK(makespan() == 5);
    body["options"] = {{"slots", false}};
    body["workflow"]["tasks"][0]["cpus"] = 2; // now amounts count
    CHECK(answered(a, body)["warnings"].dump().find("option_unused: /options/slots") !=
          std::string::npos);
}

TEST_CASE("schedules of tasks on several nodes are evaluated", "[workflow][world]")
{
    api a;
    json data = {{"task_id", "a"}, {"transfer_s", 2}};
    json body = {{"kind", "workflow"},
                 {"snapshot",
                  {{"resources",
                    {{{"id", "n1"}, {"cpus", 4}},
                     {{"id", "n2"}, {"cpus", 4}, {"mips_total", 0.5}},
                     {{"id", "n3"}, {"cpus", 4}}}}}},
                 {"workflow",
                  {{"tasks",
                    {{{"id", "a"}, {"estimate_ref_s", 5}},
                     {{"id", "mpi"},
                      {"nodes", 2},
                      {"cpus", 4},
                      {"estimate_ref_s", 10},
                      {"depends_on", {data}}}}}}}};
    auto judged = [&](const json &mpi) {
        body["schedule"] = {{{"task_id", "a"}, {"resource_id", "n1"}, {"start_s", 0}},
                            mpi};
        return answered(a, body, "/v1/evaluations");
    };
    json row = {{"task_id", "mpi"}, {"resource_ids", {"n1", "n2"}}, {"start_s", 7}};
    json found = judged(row);
    INFO(found.dump(1));
    CHECK(found["valid"] == true);
    CHECK(found["objective"]["makespan_s"] == 27); // the slower node's time

    auto kind_of = [&](const json &mpi) {
        json answer = judged(mpi);
        CHECK(answer["valid"] == false);
        return answer["violations"].empty() ? json() : answer["violations"][0]["kind"];
    };
    row["start_s"] = 6; // the data are on n1 at 5, on n2 at 7
    CHECK(kind_of(row) == "transfer");
    row["start_s"] = 7;
    row["finish_s"] = 17;
    CHECK(kind_of(row) == "finish_differs");
    row.erase("finish_s");
    row["resource_ids"] = {"n1", "n2", "n3"};
    CHECK(kind_of(row) == "node_count");
    row["resource_ids"] = {"n2", "n2"};
    CHECK(kind_of(row) == "same_node_twice");

    auto refused_at = [&](const json &mpi) {
        body["schedule"] = {{{"task_id", "a"}, {"resource_id", "n1"}, {"start_s", 0}},
                            mpi};
        return refused(a, body, "/v1/evaluations");
    };
    row["resource_ids"] = {"n2", "none"};
    CHECK(refused_at(row) == std::set<std::string>{"/schedule/1/resource_ids/1"});
    row["resource_ids"] = {"n2", "n3"};
    row["resource_id"] = "n1";
    CHECK(refused_at(row) == std::set<std::string>{"/schedule/1/resource_id"});
    row.erase("resource_ids");
    CHECK(refused_at(row) == std::set<std::string>{"/schedule/1/resource_ids"});
    row.erase("resource_id");
    CHECK(refused_at(row) == std::set<std::string>{"/schedule/1/resource_id"});
    body["workflow"]["tasks"][1].erase("nodes");
    row["resource_ids"] = {"n2", "n3"};
    CHECK(refused_at(row) == std::set<std::string>{"/schedule/1/resource_ids"});
}

TEST_CASE("a search where tasks need amounts starts from a schedule", "[workflow][world]")
{
    api a;
    // Two of three tasks run beside each other; the wide one goes anywhere.
    json body = {{"snapshot", {{"resources", {{{"id", "n"}, {"cpus", 4}}}}}},
                 {"workflow",
                  {{"tasks",
                    {task("w", 10, 4), task("x", 10, 2), task("y", 12, 2),
                     task("z", 2, 2, {"x"})}}}},
                 {"algorithm", "search"},
                 {"options", {{"max_steps", 1}}}};
    auto rows = [](std::vector<std::pair<std::string, json>> list) {
        json initial = json::array();
        for (auto &[id, start] : list)
            initial.push_back(
                {{"task_id", id}, {"resource_id", "n"}, {"start_s", start}});
        return initial;
    };
    auto with = [&](const json &initial) {
        json b = body;
        b["initial"] = initial;
        return b;
    };
    auto refusal = [&](const json &initial) {
        json b = answered(a, with(initial));
        for (const json &w : b["warnings"])
            if (w.get<std::string>().rfind("initial_refused", 0) == 0)
                return w.get<std::string>();
        return std::string();
    };
    json best = rows({{"x", 0}, {"y", 0}, {"z", 10}, {"w", 12}});
    json out = answered(a, with(best));
    CHECK(refusal(best) == "");
    CHECK(out["objective"]["makespan_s"] == 22);
    check_fits(body, out);
    check_accepted(a, body, out);
    // Needless waiting goes; without times rows are placed as they stand.
    out = answered(a, with(rows({{"x", 5}, {"y", 5}, {"z", 15}, {"w", 17}})));
    CHECK(out["objective"]["makespan_s"] == 22);
    json null = json();
    out = answered(a, with(rows({{"x", null}, {"y", null}, {"z", null}, {"w", null}})));
    CHECK(out["objective"]["makespan_s"] == 22);
    // An answer as it stands is started from, and never made worse.
    body["algorithm"] = "auto";
    body.erase("options");
    json first = answered(a, body);
    json again = answered(a, with(first["schedule"]));
    CHECK(again["objective"]["makespan_s"].get<double>() <=
          first["objective"]["makespan_s"].get<double>());
    CHECK(refusal(first["schedule"]) == "");

    CHECK(refusal(rows({{"x", 0}, {"y", 0}, {"z", 10}, {"w", 5}}))
              .find("amount_exceeded") != std::string::npos);
    CHECK(refusal(rows({{"x", 0}, {"y", 0}, {"z", 9}, {"w", 12}})).find("before_after") !=
          std::string::npos);
    CHECK(refusal(rows({{"z", null}, {"x", null}, {"y", null}, {"w", null}}))
              .find("precedence") != std::string::npos);
    CHECK(refused(a, with(rows({{"x", 0}, {"y", 0}, {"w", 12}}))) ==
          std::set<std::string>{"/initial"});
    CHECK(refused(a, with(rows({{"x", 0}, {"y", 0}, {"x", 0}, {"z", 10}, {"w", 12}}))) ==
          std::set<std::string>{"/initial/2/task_id"});
    body["algorithm"] = "heft";
    CHECK(refused(a, with(best)) == std::set<std::string>{"/initial"});
}

TEST_CASE("random schedules with amounts to start from: never worse, and valid",
          "[workflow][world][property]")
{
    api a;
    for (unsigned seed = 1; seed <= (is_shorter() ? 60u : 200u); seed++) {
        std::mt19937 rng(seed);
        json body = random_request(rng, rng() % 8);
        body["algorithm"] = "heft";
        json listed = answered(a, body);
        body["algorithm"] = "search";
        body["options"] = {{"max_steps", 1}};
        body["initial"] = listed["schedule"];
        if (seed % 3 == 0)
            for (json &row : body["initial"])
                row["start_s"] = json();
        json out = answered(a, body);
        INFO(seed << " " << body.dump() << out.dump());
        for (const json &w : out["warnings"])
            CHECK(w.get<std::string>().rfind("initial_refused", 0) != 0);
        CHECK(out["objective"]["makespan_s"].get<double>() <=
              listed["objective"]["makespan_s"].get<double>() * (1 + 1e-12));
        CHECK(out["schedule"].size() == listed["schedule"].size());
        body.erase("initial");
        check_fits(body, out);
        if (out["unplaced"].empty())
            check_accepted(a, body, out);
    }
}

TEST_CASE("schedules with amounts fit, at random", "[workflow][world][property]")
{
    api a;
    std::mt19937 rng(7);
    size_t optimal = 0;

    for (size_t round = 0; round < 60; round++) {
        CAPTURE(round);
        json body = random_request(rng, rng() % 9);
        body["options"] = {{"max_steps", 20}};
        body["algorithm"] = round % 2 ? "auto" : "search";
        json answer = answered(a, body);
        check_fits(body, answer);
        CHECK(answer["schedule"].size() + answer["unplaced"].size() ==
              body["workflow"]["tasks"].size());
        if (answer["unplaced"].empty())
            check_accepted(a, body, answer);
        optimal += answer["status"] == "optimal";
        CHECK(answered(a, body)["schedule"] == answer["schedule"]);
    }
    CHECK(optimal >= 30);
}

TEST_CASE("39 tasks on two nodes of eight cores have a schedule that fits, with a bound",
          "[workflow][world]")
{
    api a;
    std::mt19937 rng(39);
    json body = {{"snapshot",
                  {{"resources",
                    {{{"id", "n1"}, {"cpus", 8}, {"memory_bytes", 16e9}},
                     {{"id", "n2"}, {"cpus", 8}, {"memory_bytes", 16e9}}}}}},
                 {"workflow", {{"tasks", json::array()}}}};
    for (int i = 0; i < 39; i++) {
        json t =
            task("t" + std::to_string(i), 1 + double(rng() % 60), double(1 << rng() % 4));
        t["memory_bytes"] = 1e9 * double(1 + rng() % 8);
        if (i >= 13)
            t["depends_on"] = {"t" + std::to_string(rng() % 13)};
        body["workflow"]["tasks"].push_back(t);
    }
    json heft = body;
    heft["algorithm"] = "heft";
    double first = answered(a, heft)["objective"]["makespan_s"];
    json answer = answered(a, body);
    check_fits(body, answer);
    check_accepted(a, body, answer);
    CHECK(answer["objective"]["makespan_s"].get<double>() <= first);
    CHECK(answer["objective"]["gap_ratio"].get<double>() < 0.15);
    report(REPORT("39 tasks: heft " << first << " s, auto "
                                    << answer["objective"]["makespan_s"] << " s, bound "
                                    << answer["objective"]["lower_bound_s"] << " s"));
}

TEST_CASE("importers pass on cores and memory", "[workflow][world]")
{
    api a;
    json file = json::parse(R"({"name":"w","schemaVersion":"1.5","workflow":{
        "specification":{"tasks":[
            {"id":"a","name":"a","parents":[],"children":[],"inputFiles":[],"outputFiles":[]},
            {"id":"b","name":"b","parents":[],"children":[],"inputFiles":[],"outputFiles":[]}],
            "files":[]},
        "execution":{"makespanInSeconds":9,"executedAt":"2026-01-01T00:00:00Z","tasks":[
            {"id":"a","runtimeInSeconds":10,"coreCount":4,"memoryInBytes":10000000000},
            {"id":"b","runtimeInSeconds":10,"coreCount":4,"memoryInBytes":10000000000}]}}})");
    json body = {{"wfformat", file},
                 {"snapshot", {{"resources", {{{"id", "n"}, {"cpus", 8}}}}}}};
    CHECK(answered(a, body)["objective"]["makespan_s"] == 10);
    body["snapshot"]["resources"][0]["memory_bytes"] = 16e9;
    CHECK(answered(a, body)["objective"]["makespan_s"] == 20);
    body["snapshot"]["resources"][0] = {{"id", "n"}}; // a slot, as ever
    body["algorithm"] = "peft";
    json answer = answered(a, body);
    CHECK(answer["algorithm"] == "peft");
    CHECK(answer["objective"]["makespan_s"] == 20);
}
