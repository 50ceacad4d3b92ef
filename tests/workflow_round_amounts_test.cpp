// workflow_round_amounts_test.cpp - rounds whose tasks need cpus, memory, named and
// shared amounts, on resources that run as many as fit; over POST /v1/workflow-schedules.
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
