// workflow_units_test.cpp - gangs and packs of tasks; over POST /v1/workflow-schedules.
#include "tests/api.hpp"

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

json task(const std::string &id, double seconds, double cpus, const std::string &policy,
          const std::vector<std::string> &parents = {})
{
    json t = {{"id", id}, {"estimate_s", seconds}, {"cpus", cpus}};
    if (!policy.empty())
        t["group"] = {{"id", "g"}, {"policy", policy}};
    if (!parents.empty())
        t["depends_on"] = parents;
    return t;
}

json body_of(const json &resources, const json &tasks, const char *algorithm = "heft")
{
    return {{"snapshot", {{"resources", resources}}},
            {"workflow", {{"id", "w"}, {"tasks", tasks}}},
            {"algorithm", algorithm}};
}

// "n1 0-10", or the reason.
std::string fate(const json &answer, const std::string &id)
{
    for (const json &r : answer["schedule"])
        if (r["task_id"] == id) {
            std::ostringstream text;

            text << r["resource_id"].get<std::string>() << " "
                 << r["start_s"].get<double>() << "-" << r["finish_s"].get<double>();
            return text.str();
        }
    for (const json &u : answer["unplaced"])
        if (u["task_id"] == id)
            return u["reasons"][0]["reason"];
    return "nowhere";
}

// n1 and n2 of 4 cpus, n1 full until 6.
json two_nodes()
{
    return {{{"id", "n1"},
             {"cpus", 4},
             {"running", {{{"id", "r"}, {"cpus", 4}, {"expected_end_s", 6}}}}},
            {{"id", "n2"}, {"cpus", 4}}};
}

json three(const std::string &policy)
{
    return {task("m1", 10, 2, policy), task("m2", 10, 2, policy),
            task("m3", 10, 2, policy)};
}
} // namespace

TEST_CASE("a gang of tasks starts together, a pack is on one resource",
          "[workflow][world][groups]")
{
    api a;
    json gang = answered(a, body_of(two_nodes(), three("gang"))); // E11 of world-model.md
    CHECK(fate(gang, "m1") == "n1 6-16");
    CHECK(fate(gang, "m2") == "n1 6-16");
    CHECK(fate(gang, "m3") == "n2 6-16");
    CHECK(gang["objective"]["makespan_s"] == 16);
    json pack = answered(a, body_of(two_nodes(), three("pack")));
    CHECK(fate(pack, "m1") == "n2 0-10");
    CHECK(fate(pack, "m2") == "n2 0-10");
    CHECK(fate(pack, "m3") == "n2 10-20");

    // The turn of the first member, once what all of them wait for has a place.
    json tasks = three("gang");
    tasks.push_back(task("p", 3, 1, ""));
    tasks.push_back(task("q", 5, 4, "", {"m1"}));
    tasks[1]["depends_on"] = {"p"};
    json answer = answered(a, body_of({{{"id", "n"}, {"cpus", 6}}}, tasks));
    CHECK(fate(answer, "p") == "n 0-3");
    for (const char *id : {"m1", "m2", "m3"})
        CHECK(fate(answer, id) == "n 3-13");
    CHECK(fate(answer, "q") == "n 13-18");

    // Members of a pack may depend on each other, also where others would be faster.
    tasks = {task("a", 10, 1, "pack"), task("b", 10, 1, "pack", {"a"}),
             task("c", 10, 1, "pack", {"b"}), task("d", 10, 1, "", {"c"})};
    answer =
        answered(a, body_of({{{"id", "n1"}, {"cpus", 1}}, {{"id", "n2"}, {"cpus", 1}}},
                            tasks, "auto"));
    CHECK(fate(answer, "a") == "n1 0-10");
    CHECK(fate(answer, "b") == "n1 10-20");
    CHECK(fate(answer, "c") == "n1 20-30");
    CHECK(fate(answer, "d") == "n1 30-40");
}

TEST_CASE("a search starts from where a gang runs, without times",
          "[workflow][world][groups]")
{
    api a;
    json tasks = three("gang");
    tasks.push_back(task("p", 3, 1, ""));
    tasks.push_back(task("q", 5, 4, "", {"m1"}));
    tasks[1]["depends_on"] = {"p"};
    json body = body_of({{{"id", "n1"}, {"cpus", 6}}, {{"id", "n2"}, {"cpus", 4}}}, tasks,
                        "search");
    body["options"] = {{"max_steps", 1}};
    auto started = [&](const std::string &m3) {
        body["initial"] = json::array();
        for (auto [id, at] : std::vector<std::pair<std::string, std::string>>{
                 {"m1", "n1"}, {"q", "n2"}, {"p", "n1"}, {"m2", "n1"}, {"m3", m3}})
            body["initial"].push_back({{"task_id", id}, {"resource_id", at}});
        return answered(a, body);
    };
    // All at 3, once p has ended; q, which stands before p, waits for m1.
    json answer = started("n1");
    CHECK(answer["warnings"].dump().find("initial_refused") == std::string::npos);
    CHECK(answer["objective"]["makespan_s"] == 18);

    // Two nodes that are free at another time each: 6 and 9.
    body["snapshot"]["resources"][0]["running"] = {
        {{"id", "x"}, {"cpus", 6}, {"expected_end_s", 6}}};
    body["snapshot"]["resources"][1]["running"] = {
        {{"id", "y"}, {"cpus", 4}, {"expected_end_s", 9}}};
    body["workflow"]["tasks"].erase(3);
    body["workflow"]["tasks"][1]["depends_on"] = json::array();
    body["initial"] = json::array();
    for (auto [id, at] : std::vector<std::pair<std::string, std::string>>{
             {"m1", "n1"}, {"m2", "n1"}, {"m3", "n2"}, {"q", "n2"}})
        body["initial"].push_back({{"task_id", id}, {"resource_id", at}});
    answer = answered(a, body);
    CHECK(answer["warnings"].dump().find("initial_refused") == std::string::npos);

    // A member without a row.
    body["initial"].erase(2);
    CHECK(answered(a, body)["warnings"].dump().find("initial_refused") !=
          std::string::npos);
}

TEST_CASE("a pack goes on where its members were", "[workflow][world][groups]")
{
    api a;
    json resources = {{{"id", "slow"}, {"cpus", 4}}, {{"id", "fast"}, {"cpus", 4}}};
    auto where = [&](json tasks, const char *algorithm = "heft") {
        return fate(answered(a, body_of(resources, tasks, algorithm)), "m2");
    };
    json m1 = task("m1", 10, 2, "pack"), m2 = m1;

    m1.erase("estimate_s");
    m1["etc_s"] = {10, 2};
    m2 = m1;
    m2["id"] = "m2";
    CHECK_THAT(where({m1, m2}), Catch::StartsWith("fast"));
    m1["status"] = "done";
    m1["resource_id"] = "slow";
    for (const char *algorithm : {"heft", "auto", "search", "cpop", "peft"}) {
        CAPTURE(algorithm);
        CHECK_THAT(where({m1, m2}, algorithm), Catch::StartsWith("slow"));
    }
    // What is done elsewhere too leaves no value on which all are.
    json m3 = m1;
    m3["id"] = "m3";
    m3["resource_id"] = "fast";
    CHECK(where({m1, m3, m2}) == "group_pack");
    // Where it was is not said, not known, or no matter.
    m1.erase("resource_id");
    CHECK_THAT(where({m1, m2}), Catch::StartsWith("fast"));
    m1["resource_id"] = "slow";
    for (json *t : {&m1, &m2})
        (*t)["group"]["policy"] = "spread";
    CHECK_THAT(where({m1, m2}), Catch::StartsWith("fast"));
}

TEST_CASE("tasks of gangs and packs without a place say why", "[workflow][world][groups]")
{
    api a;
    json tasks = three("gang");
    tasks[2]["cpus"] = 5;
    tasks.push_back(task("after", 1, 1, "", {"m1"}));
    json answer = answered(a, body_of(two_nodes(), tasks, "auto"));
    CHECK(fate(answer, "m1") == "group_gang");
    CHECK(fate(answer, "m2") == "group_gang");
    CHECK(fate(answer, "m3") == "too_small");
    CHECK(fate(answer, "after") == "after_unplaced");
    CHECK(answer["status"] == "infeasible");

    tasks = three("pack");
    tasks[0]["requirement"] = "cpus_total > 4";
    json nodes = two_nodes();
    nodes[0]["cpus"] = 8;
    nodes[0].erase("running");
    tasks[1]["partition_ids"] = tasks[2]["partition_ids"] = {"small"};
    json body = body_of(nodes, tasks);
    body["snapshot"]["partitions"] = {{{"id", "small"}, {"resource_ids", {"n2"}}}};
    answer = answered(a, body); // two of them, on n2
    CHECK(fate(answer, "m1") == "group_pack");
    CHECK(fate(answer, "m2") == "n2 0-10");
    CHECK(fate(answer, "m3") == "n2 0-10");
}

TEST_CASE("what is placed as one cannot wait for itself", "[workflow][world][groups]")
{
    api a;
    json nodes = {{{"id", "n"}, {"cpus", 8}}};
    json tasks = three("gang");

    tasks[2]["depends_on"] = {"m1"};
    api_reply r = a.post(path, body_of(nodes, tasks).dump());
    INFO(r.body);
    REQUIRE(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/workflow/tasks/2/depends_on"});
    CHECK(r.json()["errors"][0]["code"] == "cycle");
    CHECK(r.body.find("group 'g'") != std::string::npos);

    tasks = three("pack"); // through a task outside
    tasks.push_back(task("out", 1, 1, "", {"m1"}));
    tasks[1]["depends_on"] = {"out"};
    r = a.post(path, body_of(nodes, tasks).dump());
    REQUIRE(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/workflow/tasks/1/depends_on"});
    tasks[1]["depends_on"] = {"m1"};
    CHECK(answered(a, body_of(nodes, tasks))["unplaced"].empty());

    tasks = three("gang"); // two units behind each other
    for (const char *id : {"k1", "k2"}) {
        json t = task(id, 1, 1, "gang");
        t["group"]["id"] = "k";
        tasks.push_back(t);
    }
    tasks[3]["depends_on"] = {"m1"};
    CHECK(answered(a, body_of(nodes, tasks))["unplaced"].empty());
    tasks[1]["depends_on"] = {"k2"};
    r = a.post(path, body_of(nodes, tasks).dump());
    REQUIRE(r.status == 422);
    CHECK(r.json()["errors"][0]["code"] == "cycle");
}

TEST_CASE("data of a gang are there when it starts", "[workflow][world][groups]")
{
    api a;
    json nodes = {{{"id", "n1"}, {"cpus", 2}, {"site_id", "A"}},
                  {{"id", "n2"}, {"cpus", 2}, {"site_id", "B"}}};
    json tasks = {task("p", 10, 1, "", {}), task("m1", 10, 2, "gang"),
                  task("m2", 10, 2, "gang")};
    for (int i : {1, 2})
        tasks[i]["depends_on"] = {{{"task_id", "p"}, {"bytes", 1e6}}}; // 8 s at 1 Mbit/s
    json body = body_of(nodes, tasks);
    body["snapshot"]["network"] = {{"routes",
                                    {{{"from_site_id", "A"},
                                      {"to_site_id", "B"},
                                      {"bandwidth_mbps", 1},
                                      {"latency_s", 0}}}}};
    json answer = answered(a, body);
    CHECK(fate(answer, "p") == "n1 0-10");
    CHECK(fate(answer, "m1") == "n1 18-28");
    CHECK(fate(answer, "m2") == "n2 18-28");

    // Of several nodes: none to which no data can come.
    body["snapshot"]["network"]["routes"][0]["to_site_id"] = "C";
    body["snapshot"]["resources"].push_back(
        {{"id", "n3"}, {"cpus", 2}, {"site_id", "A"}});
    body["workflow"]["tasks"] = {tasks[0], task("wide", 10, 1, "")};
    body["workflow"]["tasks"][1]["nodes"] = 2;
    body["workflow"]["tasks"][1]["depends_on"] = tasks[1]["depends_on"];
    answer = answered(a, body);
    CHECK(fate(answer, "p") == "n1 0-10");
    REQUIRE(answer["schedule"].size() == 2);
    CHECK(answer["schedule"][1]["resource_ids"] == json({"n1", "n3"}));
}

namespace
{
json random_tasks(std::mt19937 &rng, const std::string &policy)
{
    json tasks = json::array();
    size_t n = rng() % 9;

    for (size_t i = 0; i < n; i++) {
        json t = task("t" + std::to_string(i), static_cast<double>(rng() % 4) * 10,
                      1 + rng() % 3, rng() % 2 ? policy : "");
        for (size_t k = 0; k < i; k++)
            if (rng() % 6 == 0)
                t["depends_on"].push_back(
                    {{"task_id", "t" + std::to_string(k)},
                     {"bytes", static_cast<double>(rng() % 3) * 1e6}});
        if (rng() % 8 == 0)
            t["nodes"] = 2;
        if (rng() % 4 == 0)
            t["needs"]["gpus"] = 1;
        tasks.push_back(t);
    }
    return tasks;
}

json random_nodes(std::mt19937 &rng)
{
    json nodes = json::array();
    size_t m = 1 + rng() % 4;

    for (size_t i = 0; i < m; i++) {
        json r = {{"id", "n" + std::to_string(i)},
                  {"cpus", 1 + rng() % 6},
                  {"capacities", {{"gpus", rng() % 3}}},
                  {"mips_total", 1 + rng() % 2}};
        if (rng() % 2)
            r["site_id"] = rng() % 2 ? "A" : "B";
        if (rng() % 3 == 0)
            r["running"] = {{{"id", "x" + std::to_string(i)},
                             {"cpus", 1},
                             {"expected_end_s", 5 + rng() % 30}}};
        nodes.push_back(r);
    }
    return nodes;
}

// Rows of members keep the rule.
void check_rule(const json &body, const json &answer, const std::string &policy)
{
    std::set<std::string> members, nodes, sites;
    std::set<double> starts;
    std::map<std::string, std::string> site;
    size_t placed = 0;

    for (const json &r : body["snapshot"]["resources"])
        site[r["id"]] = r.value("site_id", "of " + r["id"].get<std::string>());
    for (const json &t : body["workflow"]["tasks"])
        if (t.contains("group"))
            members.insert(t["id"].get<std::string>());
    for (const json &row : answer["schedule"]) {
        if (!members.count(row["task_id"]))
            continue;
        placed++;
        starts.insert(row["start_s"].get<double>());
        for (const json &id :
             row.value("resource_ids", json::array({row["resource_id"]}))) {
            nodes.insert(id.get<std::string>());
            sites.insert(site[id]);
        }
    }
    if (policy == "gang") {
        CHECK(starts.size() <= 1);
        CHECK((placed == 0 || placed == members.size()));
    } else {
        CHECK((policy == "pack" ? nodes : sites).size() <= 1);
    }
}
} // namespace

TEST_CASE("gangs and packs of tasks at random keep their rule, and are accepted",
          "[workflow][world][groups][property]")
{
    static const char *const policies[] = {"gang", "pack", "same_site"};
    std::mt19937 rng(11);
    api a;
    size_t answers = 0, whole = 0, started_from = 0;

    for (size_t round = 0; round < (is_shorter() ? 150 : 1500); round++) {
        const std::string policy = policies[round % 3];
        json body = body_of(random_nodes(rng), random_tasks(rng, policy),
                            round % 2 ? "heft" : "search");
        if (round % 2 == 0)
            body["options"]["max_steps"] = 20;
        body["snapshot"]["network"] = {{"routes",
                                        {{{"from_site_id", "A"},
                                          {"to_site_id", "B"},
                                          {"bandwidth_mbps", 1},
                                          {"latency_s", 1}}}}};
        CAPTURE(round, body.dump());
        api_reply r = a.post(path, body.dump());
        if (r.status == 422) { // a way from one member to another
            const json refusal = r.json();
            for (const json &e : refusal["errors"])
                CHECK(e["code"] == "cycle");
            continue;
        }
        REQUIRE(r.status == 200);
        const json answer = r.json();
        answers++;
        check_rule(body, answer, policy);
        CHECK(answer["schedule"].size() + answer["unplaced"].size() ==
              body["workflow"]["tasks"].size());
        CHECK(answered(a, body)["schedule"] == answer["schedule"]);
        if (!answer["unplaced"].empty())
            continue;
        whole++;
        json question = {{"kind", "workflow"},
                         {"snapshot", body["snapshot"]},
                         {"workflow", body["workflow"]},
                         {"schedule", json::array()}};
        for (const json &row : answer["schedule"]) {
            json kept = {{"task_id", row["task_id"]}, {"start_s", row["start_s"]}};
            const char *where =
                row.contains("resource_ids") ? "resource_ids" : "resource_id";
            kept[where] = row[where];
            question["schedule"].push_back(kept);
        }
        CHECK(answered(a, question, "/v1/evaluations")["valid"] == true);

        // Where each of them runs is enough to start from, in the order of starts.
        json again = body;
        again["algorithm"] = "search";
        again["options"] = {{"max_steps", 1}};
        again["initial"] = json::array();
        std::vector<json> rows = answer["schedule"];
        std::stable_sort(rows.begin(), rows.end(), [](const json &l, const json &r) {
            return l["start_s"] != r["start_s"] ? l["start_s"] < r["start_s"]
                                                : l["finish_s"] < r["finish_s"];
        });
        for (const json &row : rows) {
            const char *where =
                row.contains("resource_ids") ? "resource_ids" : "resource_id";
            again["initial"].push_back(
                {{"task_id", row["task_id"]}, {where, row[where]}});
        }
        json from = answered(a, again);
        INFO(from["warnings"].dump());
        CHECK(from["warnings"].dump().find("initial_refused") == std::string::npos);
        started_from++;
        CHECK(answer["objective"]["lower_bound_s"].get<double>() <=
              answer["objective"]["makespan_s"].get<double>() * (1 + 1e-9));
    }
    CHECK(answers > 100);
    CHECK(whole > 30);
    CHECK(started_from == whole);
}
