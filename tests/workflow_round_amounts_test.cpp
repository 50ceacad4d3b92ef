// workflow_round_amounts_test.cpp - rounds whose tasks need cpus, memory, named and
// shared amounts, on resources that run as many as fit, and keep the rules of groups;
// over POST /v1/workflow-schedules.
#include "tests/api.hpp"

#include <map>
#include <random>
#include <set>

using nlohmann::json;

namespace
{
json round_of(api &a, const json &body)
{
    api_reply r = a.post("/v1/workflow-schedules", body.dump());
    INFO(r.body.substr(0, 2000));
    REQUIRE(r.status == 200);
    return r.json();
}

json task(const std::string &id, double seconds, double cpus)
{
    return {{"id", id}, {"estimate_ref_s", seconds}, {"cpus", cpus}};
}

json round_body(const json &snapshot, const json &tasks,
                const std::string &algorithm = "balanced")
{
    return {{"algorithm", algorithm},
            {"kind", "round"},
            {"snapshot", snapshot},
            {"workflow", {{"tasks", tasks}}}};
}

std::map<std::string, std::vector<std::string>> starts(const json &answer)
{
    std::map<std::string, std::vector<std::string>> list;
    for (const json &p : answer["placements"])
        list[p["task_id"]] = p.contains("resource_ids")
                                 ? p["resource_ids"].get<std::vector<std::string>>()
                                 : std::vector<std::string>{p["resource_id"]};
    return list;
}

std::map<std::string, std::string> reasons(const json &answer)
{
    std::map<std::string, std::string> list;
    for (const json &u : answer["unplaced"])
        list[u["task_id"]] = u["reasons"][0]["reason"];
    return list;
}
} // namespace

TEST_CASE("a round starts what fits: all amounts, licences, several nodes, reservations",
          "[api][round]")
{
    api a;
    json licensed = task("l1", 10, 1), gpu = task("c", 40, 1), second = task("c2", 40, 1),
         longer = task("d", 60, 1), two = task("e", 10, 1), three = task("f", 10, 1);
    licensed["needs"] = {{"lic", 1}};
    json other = licensed, picky = task("h", 10, 1);
    other["id"] = "l2";
    gpu["needs"] = second["needs"] = longer["needs"] = {{"gpus", 1}};
    two["nodes"] = 2;
    three["nodes"] = 3;
    picky["requirement"] = "CPU_MHZ > 10";
    json snapshot = {
        {"shared_capacities", {{"lic", 1}}},
        {"resources",
         {{{"id", "n1"},
           {"mips_total", 1},
           {"cpus", 8},
           {"running", {{{"id", "x"}, {"cpus", 2}}}}},
          {{"id", "n2"},
           {"mips_total", 1},
           {"cpus", 4},
           {"capacities", {{"gpus", 1}}},
           {"reservations",
            {{{"id", "m"}, {"start_s", 50}, {"end_s", 100}, {"all", true}}}}}}}};
    json answer =
        round_of(a, round_body(snapshot,
                               {task("a", 100, 4), task("b", 100, 4), gpu, second, longer,
                                two, three, licensed, other, task("g", 10, 9), picky}));

    CHECK(starts(answer) ==
          std::map<std::string, std::vector<std::string>>{
              {"a", {"n1"}}, {"c", {"n2"}}, {"e", {"n1", "n2"}}, {"l1", {"n1"}}});
    CHECK(reasons(answer) == std::map<std::string, std::string>{{"b", "no_free_now"},
                                                                {"c2", "no_free_now"},
                                                                {"d", "no_free_now"},
                                                                {"f", "too_few_nodes"},
                                                                {"l2", "shared_short"},
                                                                {"g", "too_small"},
                                                                {"h", "requirement"}});
}

TEST_CASE("a round moves a running task only where its amounts are free", "[api][round]")
{
    api a;
    json root = task("root", 10, 1), b = task("b", 1000, 4), c = task("c", 200, 1),
         end = task("end", 10, 1);
    root["status"] = "done";
    b["depends_on"] = c["depends_on"] = {"root"};
    b["status"] = c["status"] = "running";
    b["resource_id"] = "slow";
    c["resource_id"] = "fast";
    end["depends_on"] = {"b", "c"};
    json snapshot = {{"resources",
                      {{{"id", "slow"}, {"mips_total", 1}, {"cpus", 4}},
                       {{"id", "fast"}, {"mips_total", 10}, {"cpus", 5}}}}};
    json tasks = {root, b, c, end};

    CHECK(round_of(a, round_body(snapshot, tasks))["reschedules"][0]["to_resource_id"] ==
          "fast");
    SECTION("the caller's list of running jobs has them too: they count once")
    {
        snapshot["resources"][0]["running"] = {{{"id", "b"}, {"cpus", 4}}};
        snapshot["resources"][1]["running"] = {{{"id", "c"}, {"cpus", 1}}};
        CHECK(round_of(a,
                       round_body(snapshot, tasks))["reschedules"][0]["to_resource_id"] ==
              "fast");
    }
    SECTION("too narrow by one cpu")
    {
        snapshot["resources"][1]["cpus"] = 4;
        json answer = round_of(a, round_body(snapshot, tasks));
        CHECK(answer["reschedules"].empty());
        CHECK(answer["skipped"][0] ==
              json({{"task_id", "b"}, {"reason", "no_better_resource"}}));
    }
    SECTION("taken by others")
    {
        snapshot["resources"][1]["running"] = {{{"id", "x"}, {"cpus", 1}}};
        CHECK(round_of(a, round_body(snapshot, tasks))["reschedules"].empty());
    }
    SECTION("reserved before it would be done (in 100 s)")
    {
        snapshot["resources"][1]["reservations"] = {
            {{"id", "m"}, {"start_s", 99}, {"end_s", 500}, {"all", true}}};
        CHECK(round_of(a, round_body(snapshot, tasks))["reschedules"].empty());
        snapshot["resources"][1]["reservations"][0]["start_s"] = 100;
        CHECK(round_of(a, round_body(snapshot, tasks))["reschedules"].size() == 1);
    }
}

TEST_CASE("a round leaves a task on several nodes where it runs, and takes all of them",
          "[api][round]")
{
    api a;
    json root = task("root", 10, 1), b = task("b", 1000, 4), c = task("c", 200, 1),
         end = task("end", 10, 1), wide = task("wide", 300, 4);
    root["status"] = "done";
    b["depends_on"] = c["depends_on"] = {"root"};
    b["status"] = c["status"] = wide["status"] = "running";
    b["resource_id"] = "slow";
    c["resource_id"] = wide["resource_id"] = "fast";
    end["depends_on"] = {"b", "c"};
    json body = {{"algorithm", "balanced"},
                 {"kind", "round"},
                 {"options", {{"balance", "longest_only"}}},
                 {"snapshot",
                  {{"resources",
                    {{{"id", "slow"}, {"mips_total", 1}, {"cpus", 4}},
                     {{"id", "fast"}, {"mips_total", 10}, {"cpus", 5}},
                     {{"id", "third"}, {"mips_total", 1}, {"cpus", 4}}}}}},
                 {"workflows",
                  {{{"id", "v"}, {"tasks", {root, b, c, end}}},
                   {{"id", "w"}, {"tasks", json::array({wide})}}}}};
    json &other = body["workflows"][1]["tasks"];

    // On one node it makes room for what a set waits for.
    json moved = round_of(a, body);
    INFO(moved.dump());
    REQUIRE(moved["reschedules"].size() == 2);
    CHECK(moved["reschedules"][0]["task_id"] == "b");
    CHECK(moved["reschedules"][0]["to_resource_id"] == "fast");
    CHECK(moved["reschedules"][1]["task_id"] == "wide");

    other[0]["nodes"] = 2;
    other[0].erase("resource_id");
    other[0]["resource_ids"] = {"fast", "third"};
    json kept = round_of(a, body);
    CHECK(kept["reschedules"].empty());
    CHECK(kept["warnings"].dump().find("running_incomplete") == std::string::npos);

    SECTION("nothing starts on any of its nodes")
    {
        other.push_back(task("new", 10, 2));
        CHECK(reasons(round_of(a, body))["new"] == "no_free_now");
        body["snapshot"]["resources"][2]["cpus"] = 6;
        CHECK(starts(round_of(a, body))["new"] == std::vector<std::string>{"third"});
    }
    SECTION("a node that is not named is free, and that is said")
    {
        other[0].erase("resource_ids");
        other[0]["resource_id"] = "fast";
        other.push_back(task("new", 10, 1));
        json answer = round_of(a, body);
        CHECK(starts(answer)["new"] == std::vector<std::string>{"third"});
        CHECK(answer["warnings"].dump().find("running_incomplete: 1") !=
              std::string::npos);
        CHECK(answer["reschedules"].empty());
    }
    SECTION("it is started again when one of them has failed")
    {
        body["snapshot"]["resources"][2]["failed"] = true;
        json answer = round_of(a, body);
        CHECK(answer["warnings"].dump().find("restarted") != std::string::npos);
    }
}

namespace
{
// A small world: amounts 0 to a few, ties, resources of nothing, tasks that run.
struct drawn {
    std::mt19937 random;
    json snapshot, tasks;

    explicit drawn(unsigned seed) : random(seed)
    {
        static const double speeds[] = {1, 1, 2, 40};
        snapshot = {{"resources", json::array()}};
        if (any(2))
            snapshot["shared_capacities"] = {{"lic", any(3)}};
        for (int r = 0, n = 1 + any(3); r < n; r++) {
            json node = {{"id", "n" + std::to_string(r)},
                         {"mips_total", speeds[any(4)]},
                         {"cpus", any(7)}};
            if (any(2))
                node["memory_bytes"] = any(5);
            if (any(2))
                node["capacities"] = {{"gpus", any(3)}};
            if (any(4) == 0)
                node["n_max"] = any(4);
            if (any(4) == 0)
                node["sharing"] = "equal";
            if (any(3) == 0)
                node["running"] = {
                    {{"id", "x" + std::to_string(r)}, {"cpus", 1 + any(2)}}};
            if (any(3) == 0)
                node["reservations"] = {
                    {{"id", "m"}, {"start_s", any(30)}, {"end_s", 31}, {"all", true}}};
            snapshot["resources"].push_back(node);
        }
        tasks = json::array();
        int first = any(2) ? add_set() : 0;
        for (int i = first, n = first + any(8); i < n; i++)
            add_task(i);
    }
    int any(int count)
    {
        return static_cast<int>(random() % static_cast<unsigned>(count));
    }
    std::string some_node()
    {
        return "n" + std::to_string(any(static_cast<int>(snapshot["resources"].size())));
    }
    // Tasks that run and are waited for together.
    int add_set()
    {
        int count = 1 + any(3);
        json last = {{"id", "t" + std::to_string(count + 1)},
                     {"depends_on", json::array()}};
        tasks.push_back({{"id", "t0"}, {"status", "done"}});
        for (int i = 1; i <= count; i++) {
            std::string id = "t" + std::to_string(i);
            tasks.push_back({{"id", id},
                             {"cpus", 1 + any(3)},
                             {"memory_bytes", any(2)},
                             {"estimate_ref_s", 10 + 10 * any(40)},
                             {"depends_on", {"t0"}},
                             {"status", "running"},
                             {"resource_id", some_node()}});
            last["depends_on"].push_back(id);
        }
        tasks.push_back(last);
        return count + 2;
    }
    void add_task(int i)
    {
        json t = {{"id", "t" + std::to_string(i)},
                  {"cpus", 1 + any(3)},
                  {"memory_bytes", any(4)}};
        if (any(6))
            t["estimate_ref_s"] = any(4) * 10;
        if (any(3) == 0)
            t["needs"] = {{"gpus", any(3)}};
        if (any(4) == 0)
            t["needs"]["lic"] = any(3);
        if (any(5) == 0)
            t["exclusive"] = true;
        if (any(5) == 0)
            t["nodes"] = 1 + any(3);
        if (any(5) == 0)
            t["time_limit_s"] = 1 + any(20);
        if (i > 0 && any(2))
            t["depends_on"] = {"t" + std::to_string(any(i))};
        if (!t.contains("depends_on") && !t.contains("nodes") && any(3) == 0) {
            t["status"] = "running";
            t["resource_id"] = some_node();
        }
        tasks.push_back(t);
    }
    json &node(const std::string &id)
    {
        return snapshot["resources"][std::stoul(id.substr(1))];
    }
    json &task_of(const std::string &id)
    {
        return tasks[std::stoul(id.substr(1))];
    }
};

double number(const json &from, const std::string &name, double otherwise)
{
    return from.contains(name) ? from[name].get<double>() : otherwise;
}

double cpus_of(const json &task)
{
    return number(task, "cpus", 1);
}

// What is held now on a node, and of the licence; `extra`: a task that is tried there.
struct held {
    double cpus = 0, memory = 0, gpus = 0, jobs = 0, licences = 0;
    bool exclusive = false;
    void add(const json &t)
    {
        json needs = t.value("needs", json::object());
        cpus += cpus_of(t);
        memory += number(t, "memory_bytes", 0);
        gpus += number(needs, "gpus", 0);
        licences += number(needs, "lic", 0);
        jobs++;
        exclusive |= t.value("exclusive", false);
    }
};

// Whether a task may be added to what a node holds. What it needs 0 of is not looked at.
bool fits(const json &node, const held &h, double licences_free, const json &t,
          double held_s)
{
    json needs = t.value("needs", json::object());
    auto short_of = [](double need, double free) { return need > 0 && need > free; };

    if (node.contains("reservations")) {
        const json &m = node["reservations"][0];
        if (m["start_s"] < held_s)
            return false;
    }
    return !short_of(cpus_of(t), node["cpus"].get<double>() - h.cpus) &&
           !(node.contains("memory_bytes") &&
             short_of(number(t, "memory_bytes", 0),
                      node["memory_bytes"].get<double>() - h.memory)) &&
           !short_of(number(needs, "gpus", 0),
                     number(node.value("capacities", json::object()), "gpus", 0) -
                         h.gpus) &&
           !short_of(number(needs, "lic", 0), licences_free) &&
           !(node.contains("n_max") && h.jobs + 1 > node["n_max"].get<double>()) &&
           !h.exclusive && !(t.value("exclusive", false) && h.jobs > 0);
}
} // namespace

TEST_CASE("what a round starts and moves fits, and what it leaves does not", "[property]"
                                                                             "[round]")
{
    static const char *const policies[] = {"balanced", "balanced_static",
                                           "workflow_fastest", "balanced_grouped"};
    api a;
    size_t started = 0, moved = 0, left = 0;

    for (unsigned seed = 0; seed < 1000; seed++) {
        drawn d(seed);
        std::map<std::string, held> nodes;
        double licences = d.snapshot.contains("shared_capacities")
                              ? d.snapshot["shared_capacities"]["lic"].get<double>()
                              : 0;
        json answer = round_of(a, round_body(d.snapshot, d.tasks, policies[seed % 4]));
        INFO("seed " << seed << ": " << d.snapshot.dump() << d.tasks.dump()
                     << answer.dump());
        std::map<std::string, std::string> now;

        for (const json &n : d.snapshot["resources"]) {
            held &h = nodes[n["id"]];
            for (const json &x : n.value("running", json::array()))
                h.add(x);
        }
        for (const json &t : d.tasks)
            if (t.contains("resource_id"))
                now[t["id"]] = t["resource_id"];
        for (const json &m : answer["reschedules"])
            if (m["to_resource_id"].is_null())
                now.erase(m["task_id"]);
            else
                now[m["task_id"]] = m["to_resource_id"];
        std::set<std::string> came;
        for (const json &m : answer["reschedules"])
            came.insert(m["task_id"]);
        for (auto &at : now)
            if (!came.count(at.first)) {
                nodes[at.second].add(d.task_of(at.first));
                licences -=
                    number(d.task_of(at.first).value("needs", json::object()), "lic", 0);
            }
        for (auto &at : now)
            if (came.count(at.first)) {
                json t = d.task_of(at.first);
                double share = 0;
                for (const json &m : answer["reschedules"])
                    if (m["task_id"] == at.first && m["remaining_after_s"].is_number())
                        share = m["remaining_after_s"];
                if (t.contains("needs")) // it keeps its licences
                    t["needs"].erase("lic");
                CHECK(fits(d.node(at.second), nodes[at.second], 0, t,
                           std::min(share, number(t, "time_limit_s", 1e9))));
                nodes[at.second].add(d.task_of(at.first));
                licences -=
                    number(d.task_of(at.first).value("needs", json::object()), "lic", 0);
                moved++;
            }
        for (const json &p : answer["placements"]) {
            const json &t = d.task_of(p["task_id"]);
            double held_s =
                p["expected_s"].is_null() ? 1e9 : p["expected_s"].get<double>();
            std::vector<std::string> on = starts(answer)[p["task_id"]];
            CHECK(on.size() == t.value("nodes", 1u));
            held_s = std::min(held_s, number(t, "time_limit_s", 1e9));
            for (auto &id : on) {
                CHECK(fits(d.node(id), nodes[id], licences, t, held_s));
                nodes[id].add(t);
            }
            licences -= number(t.value("needs", json::object()), "lic", 0);
            started++;
        }
        for (const json &u : answer["unplaced"]) {
            const json &t = d.task_of(u["task_id"]);
            std::string why = u["reasons"][0]["reason"];
            size_t room = 0, large = 0;
            for (const json &n : d.snapshot["resources"]) {
                double speed = n["mips_total"];
                double s = t.contains("estimate_ref_s")
                               ? t["estimate_ref_s"].get<double>() / speed
                               : 1e9;
                if (n.value("sharing", "") == "equal")
                    s *= nodes[n["id"]].jobs + 1;
                s = std::min(s, number(t, "time_limit_s", 1e9));
                s = std::max(s, 1e-9);
                room += fits(n, nodes[n["id"]], licences, t, s);
                json empty = n;
                empty.erase("reservations");
                large += fits(empty, held(), 1e9, t, s);
            }
            if (why != "time_limit")
                CHECK(room < t.value("nodes", 1u));
            if (why == "too_small")
                CHECK((large == 0 || t.value("needs", json::object()).contains("lic")));
            if (why == "no_free_now")
                CHECK(large >= t.value("nodes", 1u));
            left++;
        }
    }
    CHECK(started > 300);
    CHECK(moved > 20);
    CHECK(left > 300);
}

// ---- groups ----

namespace
{
json member(const std::string &id, const std::string &group, const std::string &policy,
            double seconds = 10, double cpus = 1)
{
    json t = task(id, seconds, cpus);
    t["group"] = {{"id", group}, {"policy", policy}};
    return t;
}

json node_of(const std::string &id, double speed, double cpus, const std::string &site)
{
    return {{"id", id}, {"mips_total", speed}, {"cpus", cpus}, {"site_id", site}};
}

json runs_on(json t, const std::string &resource)
{
    t["status"] = "running";
    t["resource_id"] = resource;
    return t;
}

using on = std::map<std::string, std::vector<std::string>>;
using why = std::map<std::string, std::string>;
} // namespace

TEST_CASE("a round spreads, with those that run", "[api][round]")
{
    api a;
    const std::string policy = GENERATE("spread", "exclude");
    json snapshot = {{"resources", {node_of("n1", 2, 8, "s"), node_of("n2", 1, 8, "s")}}};
    json a1 = member("a1", "g", policy, 30), a2 = member("a2", "g", policy, 20),
         a3 = member("a3", "g", policy, 10);

    json answer = round_of(a, round_body(snapshot, {a1, a2, a3}));
    CHECK(starts(answer) == on{{"a1", {"n1"}}, {"a2", {"n2"}}});
    CHECK(reasons(answer) == why{{"a3", "group_spread"}});
    CHECK(answer["carry_over"].size() == 1);
    SECTION("a task of the request runs")
    {
        answer = round_of(a, round_body(snapshot, {runs_on(a1, "n1"), a2, a3}));
        CHECK(starts(answer) == on{{"a2", {"n2"}}});
    }
    SECTION("a job of others runs")
    {
        snapshot["resources"][0]["running"] = {
            {{"id", "x"}, {"cpus", 1}, {"group", "g"}}};
        CHECK(starts(round_of(a, round_body(snapshot, {a1, a2, a3}))) ==
              on{{"a1", {"n2"}}});
    }
    SECTION("two for each site")
    {
        for (json *t : {&a1, &a2, &a3}) {
            (*t)["group"]["key"] = "site_id";
            (*t)["group"]["max_per_key"] = 2;
        }
        CHECK(reasons(round_of(a, round_body(snapshot, {a1, a2, a3}))) ==
              why{{"a3", "group_spread"}});
        a1["nodes"] = 2;
        CHECK(starts(round_of(a, round_body(snapshot, {a1, a2, a3}))) ==
              on{{"a1", {"n1", "n2"}}});
        a1["group"]["max_per_key"] = a2["group"]["max_per_key"] =
            a3["group"]["max_per_key"] = 1;
        CHECK(starts(round_of(a, round_body(snapshot, {a1, a2, a3}))) ==
              on{{"a2", {"n1"}}});
    }
}

TEST_CASE("a round packs where most fits, and goes on there", "[api][round]")
{
    api a;
    json snapshot = {{"resources",
                      {node_of("fast", 10, 1, "s"), node_of("wide", 1, 4, "t"),
                       node_of("other", 1, 4, "t")}}};
    json p1 = member("p1", "g", "pack", 30), p2 = member("p2", "g", "pack", 20),
         p3 = member("p3", "g", "pack", 10), last = member("p4", "g", "pack", 10, 4);

    CHECK(starts(round_of(a, round_body(snapshot, {p1, p2, p3}))) ==
          on{{"p1", {"wide"}}, {"p2", {"wide"}}, {"p3", {"wide"}}});
    SECTION("one alone: where it ends first")
    {
        CHECK(starts(round_of(a, round_body(snapshot, json::array({p1})))) ==
              on{{"p1", {"fast"}}});
    }
    SECTION("one that waits for it will not fit there")
    {
        last["depends_on"] = {"p1"};
        CHECK(starts(round_of(a, round_body(snapshot, {p1, last}))) ==
              on{{"p1", {"wide"}}});
    }
    SECTION("one runs: the others go there, or wait")
    {
        json answer = round_of(a, round_body(snapshot, {runs_on(p1, "fast"), p2, p3}));
        CHECK(answer["placements"].empty());
        CHECK(reasons(answer) == why{{"p2", "group_pack"}, {"p3", "group_pack"}});
        answer = round_of(a, round_body(snapshot, {runs_on(p1, "other"), p2, p3}));
        CHECK(starts(answer) == on{{"p2", {"other"}}, {"p3", {"other"}}});
    }
    SECTION("one is done: the others go where it was, or wait")
    {
        json done = runs_on(p1, "other");
        done["status"] = "done";
        CHECK(starts(round_of(a, round_body(snapshot, {done, p2, p3}))) ==
              on{{"p2", {"other"}}, {"p3", {"other"}}});
        CHECK(
            reasons(round_of(a, round_body(snapshot, {done, runs_on(p2, "wide"), p3}))) ==
            why{{"p3", "group_pack"}});
    }
    SECTION("they run on two: no value holds all")
    {
        CHECK(reasons(round_of(a, round_body(snapshot, {runs_on(p1, "wide"),
                                                        runs_on(p2, "other"), p3}))) ==
              why{{"p3", "group_pack"}});
    }
    SECTION("same_site")
    {
        for (json *t : {&p1, &p2, &p3}) {
            (*t)["group"]["policy"] = "same_site";
            (*t)["cpus"] = 3;
        }
        json answer = round_of(a, round_body(snapshot, {p1, p2, p3}));
        CHECK(starts(answer) == on{{"p1", {"wide"}}, {"p2", {"other"}}});
        CHECK(reasons(answer) == why{{"p3", "no_free_now"}});
    }
}

TEST_CASE("a gang starts as a whole or not at all", "[api][round]")
{
    api a;
    const std::string policy = GENERATE("balanced", "workflow_fastest");
    json snapshot = {{"resources", {node_of("n1", 2, 4, "s"), node_of("n2", 1, 2, "s")}}};
    json g1 = member("g1", "g", "gang", 30, 2), g2 = member("g2", "g", "gang", 20, 4),
         single = task("single", 100, 1);

    // The larger one first, or they would not fit.
    CHECK(starts(round_of(a, round_body(snapshot, {g1, g2}, policy))) ==
          on{{"g1", {"n2"}}, {"g2", {"n1"}}});
    SECTION("not together: who is behind them starts")
    {
        g1["cpus"] = 3;
        json answer = round_of(a, round_body(snapshot, {g1, g2, single}, policy));
        CHECK(starts(answer) == on{{"single", {"n1"}}});
        CHECK(reasons(answer).at("g1") == "group_gang");
        CHECK(reasons(answer).at("g2") == "no_free_now");
    }
    SECTION("one is not ready")
    {
        g2["depends_on"] = {"single"};
        json answer = round_of(a, round_body(snapshot, {g1, g2, single}, policy));
        CHECK(starts(answer) == on{{"single", {"n1"}}});
        CHECK(reasons(answer) == why{{"g1", "group_gang"}});
    }
    SECTION("one runs already: the others start without it")
    {
        CHECK(starts(round_of(a, round_body(snapshot, {runs_on(g1, "n2"), g2},
                                            policy))) == on{{"g2", {"n1"}}});
    }
    SECTION("of several nodes")
    {
        g2["nodes"] = 2;
        g2["cpus"] = 2;
        CHECK(starts(round_of(a, round_body(snapshot, {g1, g2}, policy))) ==
              on{{"g1", {"n1"}}, {"g2", {"n1", "n2"}}});
        snapshot["resources"][0]["cpus"] = 3;
        CHECK(round_of(a, round_body(snapshot, {g1, g2, single}, policy))["placements"]
                  .size() == 1);
    }
    SECTION("one that waits for another never would")
    {
        g2["depends_on"] = {"g1"};
        api_reply r = a.post("/v1/workflow-schedules",
                             round_body(snapshot, {g1, g2}, policy).dump());
        CHECK(r.status == 422);
        CHECK(r.json()["errors"][0]["code"] == "cycle");
        CHECK(r.json()["errors"][0]["pointer"] == "/workflow/tasks/1/depends_on");
        CHECK(starts(round_of(
                  a, round_body(snapshot, {runs_on(g1, "n2"), g2}, policy))) == on{});
    }
}

TEST_CASE("moves keep the rules of groups", "[api][round]")
{
    api a;
    json root = task("root", 10, 1), b = member("b", "g", "spread", 1000),
         c = member("c", "g", "spread", 200), end = task("end", 10, 1);
    root["status"] = "done";
    b["depends_on"] = c["depends_on"] = {"root"};
    end["depends_on"] = {"b", "c"};
    json snapshot = {
        {"resources", {node_of("slow", 1, 4, "s"), node_of("fast", 10, 4, "t")}}};
    auto moves = [&] {
        size_t count = 0;
        json body =
            round_body(snapshot, {root, runs_on(b, "slow"), runs_on(c, "fast"), end});
        json answer = round_of(a, body);
        for (const json &m : answer["reschedules"])
            count += m["task_id"] == "b";
        return count;
    };

    CHECK(moves() == 0);
    b["group"]["max_per_key"] = c["group"]["max_per_key"] = 2;
    CHECK(moves() == 1);
    for (json *t : {&b, &c})
        (*t)["group"] = {{"id", "g"}, {"policy", "pack"}};
    CHECK(moves() == 1); // together again
    c.erase("group");
    CHECK(moves() == 1); // the only one of its pack
    snapshot["resources"][0]["running"] = {{{"id", "x"}, {"cpus", 1}, {"group", "g"}}};
    CHECK(moves() == 0);
    for (json *t : {&b, &c})
        (*t)["group"] = {{"id", "g"}, {"policy", "gang"}};
    CHECK(moves() == 1);
}

namespace
{
// drawn, with groups and sites.
struct drawn_groups : drawn {
    explicit drawn_groups(unsigned seed) : drawn(seed)
    {
        static const char *const policies[] = {"spread", "exclude", "pack", "same_site",
                                               "gang"};
        size_t count = 1 + static_cast<size_t>(any(2));
        std::vector<json> groups;

        for (size_t g = 0; g < count; g++) {
            json group = {{"id", "g" + std::to_string(g)}, {"policy", policies[any(5)]}};
            std::string policy = group["policy"];
            if (policy != "same_site" && any(2))
                group["key"] = "site_id";
            if ((policy == "spread" || policy == "exclude") && any(2))
                group["max_per_key"] = 1 + any(2);
            groups.push_back(group);
        }
        for (json &n : snapshot["resources"]) {
            n["site_id"] = "s" + std::to_string(any(2));
            n["cpus"] = n["cpus"].get<int>() + any(5);
            if (n.contains("running") && any(2))
                n["running"][0]["group"] = groups[0]["id"];
        }
        for (json &t : tasks)
            if (any(3))
                t["group"] = groups[static_cast<size_t>(any(static_cast<int>(count)))];
        for (json &t : tasks) // no member waits for one: that may be a circle
            if (t.contains("group") && t["id"] != "t0" && t.contains("depends_on") &&
                !t.contains("status"))
                t.erase("depends_on");
    }
};

std::string value_of(drawn &d, const json &group, const std::string &resource)
{
    bool site = group.value("key", "") == "site_id" || group["policy"] == "same_site";
    return site ? d.node(resource)["site_id"].get<std::string>() : resource;
}

// Members on each value: those of others, and of the tasks.
std::map<std::string, size_t> members(drawn &d, const json &group, const on &places)
{
    std::map<std::string, size_t> at;

    for (const json &n : d.snapshot["resources"])
        for (const json &x : n.value("running", json::array()))
            if (x.value("group", "") == group["id"])
                at[value_of(d, group, n["id"])]++;
    for (auto &p : places)
        if (d.task_of(p.first).contains("group") &&
            d.task_of(p.first)["group"]["id"] == group["id"])
            for (auto &r : p.second)
                at[value_of(d, group, r)]++;
    return at;
}
} // namespace

TEST_CASE("rounds keep the rules of groups, and leave nobody who could start",
          "[property][round]")
{
    static const char *const policies[] = {"balanced", "balanced_static",
                                           "workflow_fastest", "balanced_grouped"};
    api a;
    std::map<std::string, size_t> started, kept_up;
    size_t moved = 0;

    for (unsigned seed = 0; seed < (is_shorter() ? 1500u : 6000u); seed++) {
        drawn_groups d(seed);
        json body = round_body(d.snapshot, d.tasks, policies[seed % 4]);
        INFO(seed << ": " << body.dump());
        json answer = round_of(a, body);
        INFO(answer.dump());
        on before, after, came = starts(answer);
        std::map<std::string, std::string> waits = reasons(answer);
        std::map<std::string, held> nodes;
        double licences = d.snapshot.contains("shared_capacities")
                              ? d.snapshot["shared_capacities"]["lic"].get<double>()
                              : 0;

        for (const json &t : d.tasks)
            if (t.contains("resource_id"))
                before[t["id"]] = {t["resource_id"]};
        after = before;
        for (const json &m : answer["reschedules"]) {
            const json &t = d.task_of(m["task_id"]);
            after[m["task_id"]] = {m.value("to_resource_id", "")};
            if (m["to_resource_id"].is_null())
                after.erase(m["task_id"]);
            moved += t.contains("group");
        }
        for (auto &s : came)
            after[s.first] = s.second;
        for (const json &n : d.snapshot["resources"])
            for (const json &x : n.value("running", json::array()))
                nodes[n["id"]].add(x);
        for (auto &p : after) {
            for (auto &r : p.second)
                nodes[r].add(d.task_of(p.first));
            licences -=
                number(d.task_of(p.first).value("needs", json::object()), "lic", 0);
        }
        std::map<std::string, json> groups;
        for (const json &t : d.tasks)
            if (t.contains("group"))
                groups[t["group"]["id"]] = t["group"];
        for (auto &[id, group] : groups) {
            const std::string policy = group["policy"];
            auto was = members(d, group, before), is = members(d, group, after);
            size_t most = group.value("max_per_key", 1u), list = 0, ran = 0, began = 0;

            for (const json &t : d.tasks)
                if (t.contains("group") && t["group"]["id"] == id &&
                    t.value("status", "") != "done") {
                    list++;
                    ran += before.count(t["id"]);
                    began += came.count(t["id"]);
                    CHECK((policy != "gang" || !before.count(t["id"]) ||
                           after.count(t["id"]) || list + ran == 2));
                }
            started[policy] += began;
            if (policy == "gang") {
                CHECK((began == 0 || began == list - ran));
            } else if (policy == "spread" || policy == "exclude") {
                for (auto &v : is)
                    CHECK(v.second <= std::max(most, was[v.first]));
            } else if (was.size() <= 1) {
                CHECK(is.size() <= 1);
            } else {
                CHECK(began == 0);
                for (auto &v : is)
                    CHECK(was.count(v.first) == 1);
            }
        }
        for (auto &[id, reason] : waits) {
            const json &t = d.task_of(id);
            std::map<std::string, size_t> is;
            std::string policy;
            if (t.contains("group")) {
                policy = t["group"]["policy"];
                is = members(d, t["group"], after);
            }
            if (reason == "time_limit" || policy == "gang" || t.value("nodes", 1) > 1)
                continue;
            size_t room = 0, allowed = 0;
            for (const json &n : d.snapshot["resources"]) {
                double s = t.contains("estimate_ref_s")
                               ? t["estimate_ref_s"].get<double>() /
                                     n["mips_total"].get<double>()
                               : 1e9;
                if (n.value("sharing", "") == "equal")
                    s *= nodes[n["id"]].jobs + 1;
                s = std::max(std::min(s, number(t, "time_limit_s", 1e9)), 1e-9);
                if (!fits(n, nodes[n["id"]], licences, t, s))
                    continue;
                room++;
                if (policy.empty())
                    allowed++;
                else if (policy == "spread" || policy == "exclude")
                    allowed += is[value_of(d, t["group"], n["id"])] <
                               t["group"].value("max_per_key", 1u);
                else // a pack that is nowhere waits for a value that is large enough
                    allowed +=
                        is.size() == 1 && is.count(value_of(d, t["group"], n["id"])) == 1;
            }
            CHECK(allowed == 0);
            if (reason.starts_with("group_")) {
                CHECK(room > 0);
                kept_up[policy]++;
            }
        }
    }
    for (const char *policy : {"spread", "exclude", "pack", "same_site"}) {
        CAPTURE(policy);
        CHECK(started[policy] > 100);
        CHECK(kept_up[policy] > 20);
    }
    CHECK(started["gang"] > 50);
    CHECK(moved > 10);
}
