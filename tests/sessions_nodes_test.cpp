// sessions_nodes_test.cpp - sessions whose tasks need several nodes: plans, starts,
// grants, leases, events, losses, and that no node is ever over its capacity.
#include "tests/sessions_api_support.hpp"

#include <algorithm>
#include <map>
#include <set>

extern "C" {
#include "models/base/rng.h"
}

using namespace session_api;
using nlohmann::json;

namespace
{

const char three_hosts[] = R"([{"id":"n1","mips_total":1,"cpus":2},)"
                           R"({"id":"n2","mips_total":1,"cpus":2},)"
                           R"({"id":"n3","mips_total":1,"cpus":2}])";
const char wide_tasks[] = R"([{"id":"g","nodes":2,"cpus":2,"estimate_s":100},)"
                          R"({"id":"s","cpus":1,"estimate_s":10},)"
                          R"({"id":"t","cpus":2,"estimate_s":10,"depends_on":["g"]}])";

list hosts_of(const json &row)
{
    return row.contains("resource_ids") ? row["resource_ids"].get<list>()
                                        : list{row["resource_id"].get<std::string>()};
}

// "g@n1+n2", sorted
list where(const json &rows)
{
    list out;
    for (const json &row : rows) {
        std::string text;
        for (const std::string &host : hosts_of(row))
            text += (text.empty() ? "@" : "+") + host;
        out.push_back(row["task_id"].get<std::string>() + text);
    }
    std::sort(out.begin(), out.end());
    return out;
}

std::string on(const list &hosts)
{
    return ",\"resource_ids\":" + json(hosts).dump();
}

json task_of(session &s, const std::string &id)
{
    json page = s.get(s.path + "/tasks").json();
    for (const json &row : page["items"])
        if (row["task_id"] == id)
            return row;
    return {};
}

bool warns(const json &answer, const std::string &code)
{
    for (const json &w : answer["warnings"])
        if (w.get<std::string>().rfind(code + ":", 0) == 0)
            return true;
    return false;
}

} // namespace

TEST_CASE("a task of several nodes starts on all of them, and holds them", "[api][db]")
{
    NEED_DATABASE();
    session s("", wide_tasks, "", three_hosts);
    s.t = floor(stored_snapshot::now()) - 20;

    // 4 of 6 cpus for g; s beside it.
    json first = s.ask("h");
    CHECK(where(first["start"]) == list{"g@n1+n2", "s@n3"});
    CHECK(first["start"][0]["resource_id"] == hosts_of(first["start"][0])[0]);
    CHECK(first["start"][0]["run_time_s"] == 100);
    // Told again to the same; to nobody else.
    CHECK(where(s.ask("h")["start"]) == list{"g@n1+n2", "s@n3"});
    CHECK(s.ask("other")["start"].empty());
    json row = task_of(s, "g");
    CHECK(hosts_of(row) == list{"n1", "n2"});

    json stored = s.event("1", 0, "started", session::of("g", 1) + on({"n1", "n2"}));
    CHECK(stored["stored"] == 1);
    CHECK(s.event("1", 0, "started",
                  session::of("g", 1) + on({"n1", "n2"}))["duplicates"] == 1);
    json log = s.get(s.path + "/events").json()["items"];
    CHECK(log[0]["resource_ids"] == json({"n1", "n2"}));
    CHECK(log[0]["resource_id"] == "n1");
    row = task_of(s, "g");
    CHECK(row["status"] == "running");
    CHECK(hosts_of(row) == list{"n1", "n2"});
    CHECK(row["expected_end_at"].get<std::string>().size() > 0);

    // The plan has it on both, until its end.
    std::string now = "?now=" + s.at(20);
    json plan = s.get(s.path + "/plan" + now).json();
    for (const json &x : plan["schedule"])
        if (x["task_id"] == "g") {
            CHECK(hosts_of(x) == list{"n1", "n2"});
            CHECK(x["status"] == "running");
        }
    // The equivalent request says the same.
    api_reply request = s.get(s.path + "/request" + now);
    REQUIRE(request.status == 200);
    json body = request.json();
    for (const json &x : body["workflow"]["tasks"])
        if (x["id"] == "g")
            CHECK(x["resource_ids"] == json({"n1", "n2"}));
    api_reply answer = s.post("/v1/workflow-schedules", request.body);
    INFO(answer.body);
    REQUIRE(answer.status == 200);
    CHECK(raw_member(answer.body, "schedule") ==
          raw_member(s.get(s.path + "/plan" + now).body, "schedule"));

    // t waits for g, and comes where g was.
    s.event("2", 15, "ended", session::of("g", 1));
    CHECK(where(s.ask("other")["start"]).size() == 1);
}

TEST_CASE("what is lost with one of several nodes is tried again on others", "[api][db]")
{
    NEED_DATABASE();
    session s("", R"([{"id":"g","nodes":2,"cpus":2,"estimate_s":100}])", "", three_hosts);
    s.t = floor(stored_snapshot::now()) - 20;

    CHECK(where(s.ask("h")["start"]) == list{"g@n1+n2"});
    s.event("1", 0, "started", session::of("g", 1) + on({"n1", "n2"}));
    CHECK(s.ask("h")["start"].empty());
    s.host("2", 1, "host_down", "n2");
    json again = s.ask("h");
    CHECK(where(again["start"]) == list{"g@n1+n3"});
    CHECK(again["start"][0]["attempt"] == 2);
    // It ended all the same: the second attempt is nobody's.
    s.event("3", 2, "started", session::of("g", 2) + on({"n1", "n3"}));
    json told = s.event("4", 3, "ended", session::of("g", 1));
    json next = s.get(s.path + "/next").json();
    CHECK(where(next["cancel"]) == list{"g@n1", "g@n3"});
    CHECK(next["counts"]["done"] == 1);
}

TEST_CASE("what nobody needs holds all of its nodes until it is over", "[api][db]")
{
    NEED_DATABASE();
    session s("",
              R"([{"id":"g","nodes":2,"cpus":2,"estimate_s":100},)"
              R"({"id":"x","nodes":2,"cpus":1,"estimate_s":5}])",
              "", three_hosts);
    s.t = floor(stored_snapshot::now()) - 20;

    s.event("1", 0, "started", session::of("g", 1) + on({"n1", "n2"}));
    s.event("2", 1, "started", session::of("g", 2) + on({"n3", "n1"}));
    json next = s.get(s.path + "/next").json();
    CHECK(where(next["cancel"]) == list{"g@n1", "g@n2"});
    CHECK(next["start"].empty()); // x has no two nodes
    s.event("3", 2, "cancelled", session::of("g", 1));
    next = s.get(s.path + "/next").json();
    CHECK(next["cancel"].empty());
    CHECK(next["start"].empty()); // n2 alone is free
    s.event("4", 3, "ended", session::of("g", 2));
    CHECK(where(s.get(s.path + "/next").json()["start"]) == list{"x@n1+n2"});
}

TEST_CASE("a lease of several nodes is in the way of others on each of them", "[api][db]")
{
    NEED_DATABASE();
    stored_snapshot grid(three_hosts);
    session s(grid.id, R"([{"id":"g","nodes":2,"cpus":2,"estimate_s":100}])"),
        other(grid.id, R"([{"id":"a","cpus":2,"estimate_s":1},)"
                       R"({"id":"b","cpus":2,"estimate_s":1},)"
                       R"({"id":"w","nodes":2,"cpus":1,"estimate_s":1}])");
    s.t = other.t = floor(stored_snapshot::now()) - 20;

    CHECK(where(s.ask("h")["start"]) == list{"g@n1+n2"});
    json leases = grid.leases();
    REQUIRE(leases.size() == 1);
    CHECK(leases[0]["placements"][0]["resource_ids"] == json({"n1", "n2"}));
    CHECK(leases[0]["placements"][0]["job_id"] == "g#1");

    json got = other.ask("o");
    REQUIRE(got["start"].size() == 1);
    CHECK(hosts_of(got["start"][0]) == list{"n3"});

    // Started elsewhere than granted: the lease goes with it.
    s.event("1", 0, "started", session::of("g", 1) + on({"n2", "n1"}));
    leases = grid.leases();
    size_t lasting = 0;
    for (const json &lease : leases)
        if (lease["owner"] == "session:" + s.id) {
            lasting++;
            CHECK(lease["placements"][0]["resource_ids"].size() == 2);
        }
    CHECK(lasting == 1);
    s.host("2", 1, "host_down", "n1");
    for (const json &lease : grid.leases())
        CHECK(lease["owner"] != "session:" + s.id);
}

TEST_CASE("a start that names fewer nodes than its task has is taken as it is",
          "[api][db]")
{
    NEED_DATABASE();
    session s("",
              R"([{"id":"g","nodes":2,"cpus":2,"estimate_s":100},)"
              R"({"id":"x","nodes":2,"cpus":2,"estimate_s":5}])",
              "", three_hosts);
    s.t = floor(stored_snapshot::now()) - 20;
    s.started("1", 0, "g", "n1");
    json next = s.get(s.path + "/next").json();
    CHECK(where(next["start"]) == list{"x@n2+n3"});
    CHECK(warns(next, "running_incomplete"));
}

TEST_CASE("what is wrong with the nodes of a start is said where it is", "[api][db]")
{
    NEED_DATABASE();
    session s("", wide_tasks, "", three_hosts);
    auto refused = [&](const std::string &more) {
        api_reply r = s.post(s.path + "/events",
                             R"({"event_id":"1","kind":"started","observed_at":)" +
                                 s.at(0) + session::of("g", 1) + more + "}");
        INFO(r.body);
        json errors = r.json()["errors"];
        REQUIRE(errors.size() == 1);
        return errors[0]["code"].get<std::string>() + " " +
               errors[0]["pointer"].get<std::string>();
    };
    CHECK(refused("") == "required /resource_id");
    CHECK(refused(R"(,"resource_ids":["n1","nx"])") == "unknown_id /resource_ids/1");
    CHECK(refused(R"(,"resource_ids":["n1","n1"])") == "duplicate /resource_ids");
    CHECK(refused(R"(,"resource_id":"n3","resource_ids":["n1","n2"])") ==
          "conflict /resource_id");
    CHECK(s.get(s.path).json()["counts"]["running"] == 0);
}

TEST_CASE("a task of several nodes that waits keeps its places in an older plan",
          "[api][db]")
{
    NEED_DATABASE();
    // a runs on n1; g waits for it on n1 and n2; the short s fits before, the long l not.
    session s("",
              R"([{"id":"a","cpus":2,"estimate_s":60},)"
              R"({"id":"g","nodes":3,"cpus":2,"estimate_s":100},)"
              R"({"id":"l","cpus":2,"estimate_s":90,"depends_on":["a"]},)"
              R"({"id":"s","cpus":1,"estimate_s":20,"release_s":3600}])",
              R"(,"replan_max_interval_s":3600)", three_hosts);
    s.t = floor(stored_snapshot::now());

    json first = s.ask("h");
    CHECK(std::find_if(first["start"].begin(), first["start"].end(), [](const json &x) {
              return x["task_id"] == "g";
          }) == first["start"].end());
    for (const json &x : first["start"])
        s.event("s-" + x["task_id"].get<std::string>(), 0, "started",
                session::of(x["task_id"], 1) + on(hosts_of(x)));
    json next = s.ask("h");
    // In the queue of each of its hosts.
    size_t queued = 0;
    for (const json &q : next["queues"])
        for (const json &x : q["tasks"])
            queued += x["task_id"] == "g";
    CHECK(queued == 3);
}

// Hosts and what runs there, counted by nobody else's code.
struct watch {
    std::map<std::string, double> capacity;
    std::map<std::string, std::pair<list, double>> held; // by session, task, attempt

    void hold(const std::string &key, const list &hosts, double cpus)
    {
        CHECK(std::set<std::string>(hosts.begin(), hosts.end()).size() == hosts.size());
        held[key] = {hosts, cpus};
        for (const auto &[host, most] : capacity) {
            double used = 0;
            for (const auto &[name, x] : held)
                for (const std::string &at : x.first)
                    used += at == host ? x.second : 0;
            INFO(host << " after " << key);
            CHECK(used <= most);
        }
    }
};

TEST_CASE("no node is ever over its capacity, whoever asks and whatever fails",
          "[api][db][property]")
{
    NEED_DATABASE();
    int wide_starts = 0, done = 0, losses = 0;

    for (uint64_t seed = 0; seed < (is_shorter() ? 6 : 40); seed++) {
        rng r = rng_stream(seed, "sessions nodes");
        auto below = [&](size_t n) { return rng_index(&r, n); };
        json hosts = json::array();
        watch w;
        for (int h = 0; h < 4; h++) {
            double cpus = double(1 + below(4));
            std::string id = "n" + std::to_string(h);
            hosts.push_back({{"id", id}, {"mips_total", 1 + below(2)}, {"cpus", cpus}});
            w.capacity[id] = cpus;
        }
        stored_snapshot grid(hosts.dump());
        struct running {
            session *of;
            std::string key, task;
            int attempt;
            list hosts;
            bool started;
        };
        std::map<std::string, json> tasks;
        std::vector<std::unique_ptr<session>> sessions;
        std::vector<running> list_of;
        for (int k = 0; k < 2; k++) {
            json graph = json::array();
            for (int i = 0; i < 6; i++) {
                json t = {{"id", "t" + std::to_string(i)},
                          {"cpus", 1 + below(2)},
                          {"estimate_ref_s", 1 + below(50)},
                          {"attempts_max", 100}};
                if (below(2))
                    t["nodes"] = 1 + below(3);
                if (i && below(3) == 0)
                    t["depends_on"] = {"t" + std::to_string(below(size_t(i)))};
                graph.push_back(t);
                tasks[std::to_string(k) + t["id"].get<std::string>()] = t;
            }
            sessions.push_back(std::make_unique<session>(
                grid.id, graph.dump(),
                below(2) ? R"(,"replan_max_interval_s":3600)" : ""));
            sessions.back()->t = floor(stored_snapshot::now()) - 1000;
        }
        double clock = 0;
        int number = 0;
        auto report = [&](session &s, const std::string &kind, const std::string &more) {
            return s.event("e" + std::to_string(number++), clock += 1, kind, more);
        };
        INFO("seed " << seed);
        for (int step = 0; step < 60; step++) {
            size_t k = below(2);
            session &s = *sessions[k];
            size_t what = below(10);

            if (what < 5) { // a holder of its own: told again is told before
                json answer = s.ask("h" + std::to_string(number++));
                for (const json &x : answer["start"]) {
                    std::string task = x["task_id"];
                    const json &t = tasks[std::to_string(k) + task];
                    int attempt = x["attempt"];
                    list places = hosts_of(x);
                    std::string key = s.id + " " + task + " " + std::to_string(attempt);

                    CHECK(places.size() == t.value("nodes", size_t{1}));
                    CHECK(w.held.count(key) == 0);
                    w.hold(key, places, t["cpus"]);
                    wide_starts += places.size() > 1;
                    list_of.push_back({&s, key, task, attempt, places, false});
                }
            } else if (!list_of.empty() && what < 9) {
                size_t i = below(list_of.size());
                running &x = list_of[i];

                if (!x.started) {
                    list order = x.hosts;
                    if (below(2))
                        std::reverse(order.begin(), order.end());
                    report(*x.of, "started", session::of(x.task, x.attempt) + on(order));
                    x.started = true;
                } else {
                    report(*x.of, below(4) ? "ended" : "failed",
                           session::of(x.task, x.attempt));
                    w.held.erase(x.key);
                    list_of.erase(list_of.begin() + long(i));
                }
            } else if (what == 9 && below(3) == 0) { // what began there is lost
                std::string host = "n" + std::to_string(below(4));
                report(s, "host_down", ",\"resource_id\":\"" + host + "\"");
                for (size_t i = list_of.size(); i-- > 0;)
                    if (list_of[i].of == &s && list_of[i].started &&
                        std::count(list_of[i].hosts.begin(), list_of[i].hosts.end(),
                                   host)) {
                        w.held.erase(list_of[i].key);
                        list_of.erase(list_of.begin() + long(i));
                        losses++;
                    }
                report(s, "host_up", ",\"resource_id\":\"" + host + "\"");
            }
        }
        for (const auto &s : sessions)
            done += s->get(s->path).json()["counts"]["done"].get<int>();
    }
    CHECK(wide_starts > 10);
    CHECK(done > 20);
    CHECK(losses > 0);
}
