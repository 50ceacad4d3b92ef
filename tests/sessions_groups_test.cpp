// sessions_groups_test.cpp - gangs and packs of a session's tasks: members start
// together, or where the others are, whoever asks, whatever fails, and whatever others
// take meanwhile.
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

const char two_wide[] = R"([{"id":"n1","mips_total":1,"cpus":2},)"
                        R"({"id":"n2","mips_total":1,"cpus":2}])";
const char slow_and_fast[] = R"([{"id":"slow","mips_total":1,"cpus":2},)"
                             R"({"id":"fast","mips_total":9,"cpus":2}])";

std::string member(const std::string &id, const std::string &policy, double cpus,
                   const std::string &more = "")
{
    return "{\"id\":\"" + id + "\",\"cpus\":" + shortly(cpus) +
           ",\"estimate_ref_s\":100,\"group\":{\"id\":\"g\",\"policy\":\"" + policy +
           "\"}" + more + "}";
}

// "a b", sorted
std::string tasks_of(const json &answer)
{
    list ids;
    std::string out;

    for (const json &x : answer["start"])
        ids.push_back(x["task_id"]);
    std::sort(ids.begin(), ids.end());
    for (const std::string &id : ids)
        out += (out.empty() ? "" : " ") + id;
    return out;
}

bool warns(const json &answer, const std::string &code)
{
    for (const json &w : answer["warnings"])
        if (w.get<std::string>().rfind(code + ":", 0) == 0)
            return true;
    return false;
}

} // namespace

TEST_CASE("a gang starts as one, when all of it can", "[api][db]")
{
    NEED_DATABASE();
    // a and b need both hosts, c waits for x, which is on one of them.
    session s("",
              "[" + member("a", "gang", 2) + "," + member("b", "gang", 2) +
                  R"(,{"id":"x","cpus":1,"estimate_ref_s":5}])",
              "", two_wide);
    s.t = floor(stored_snapshot::now()) - 200;

    SECTION("asked by somebody who can take all of it")
    {
        std::string got = tasks_of(s.ask("h"));
        CHECK(got == "a b");
        CHECK(tasks_of(s.ask("h")) == "a b"); // once more, to the same
        CHECK(tasks_of(s.ask("i")).empty());
    }
    SECTION("a plan that GET next has made is as good")
    {
        CHECK(tasks_of(s.get(s.path + "/next").json()) == "a b");
        CHECK(tasks_of(s.ask("h")) == "a b");
    }
    SECTION("not by somebody who asks for one, or for one host, or has one in hands")
    {
        for (const char *few : {R"(,"max_count":1)", R"(,"resource_ids":["n1"])"}) {
            json answer = s.ask("h", few);
            CAPTURE(few, answer.dump());
            CHECK(tasks_of(answer).empty());
            CHECK(warns(answer, "gang_held_back"));
        }
        // x is a candidate, and none of the gang's other members holds anything from it.
        json one = s.ask("h", R"(,"candidate_task_ids":["a","x"])");
        CAPTURE(one.dump(), s.get(s.path + "/plan").body);
        CHECK(tasks_of(one) == "x");
    }
    SECTION("what fails afterwards starts by itself")
    {
        json first = s.ask("h");
        for (const json &x : first["start"])
            s.started(x["task_id"], 0, x["task_id"], x["resource_id"]);
        s.failed("1", 10, "a");
        json again = s.ask("h");
        CHECK(tasks_of(again) == "a");
        CHECK(again["start"][0]["attempt"] == 2);
    }
    SECTION("one that the engine has started leaves the other, which comes when it can")
    {
        s.started("1", 0, "a", "n1");
        CHECK(tasks_of(s.ask("h")) == "b");
    }
}

TEST_CASE("what is no candidate holds nothing from what is, also with amounts",
          "[api][db]")
{
    NEED_DATABASE();
    session s("",
              R"([{"id":"long","cpus":2,"estimate_ref_s":100},)"
              R"({"id":"short","cpus":1,"estimate_ref_s":5}])",
              "", R"([{"id":"n1","mips_total":1,"cpus":2}])");
    s.t = floor(stored_snapshot::now()) - 200;
    CHECK(tasks_of(s.get(s.path + "/next").json()) == "long");
    CHECK(tasks_of(s.ask("h", R"(,"candidate_task_ids":["short"])")) == "short");
}

TEST_CASE("what all share starts from a plan that GET next has made, unless it is gone",
          "[api][db]")
{
    NEED_DATABASE();
    std::string task = R"("cpus":1,"needs":{"licence":1},"estimate_ref_s":)";
    session s("", R"([{"id":"a",)" + task + R"(100},{"id":"b",)" + task + "50}]",
              R"(,"replan_max_interval_s":3600)",
              two_wide + std::string(R"(,"shared_capacities":{"licence":1})"));
    s.t = floor(stored_snapshot::now()) - 200;

    CHECK(tasks_of(s.get(s.path + "/next").json()) == "a");
    SECTION("as it was")
    {
        CHECK(tasks_of(s.ask("h")) == "a");
    }
    SECTION("the engine has started the other one")
    {
        json plan = s.get(s.path + "/plan").json();
        for (const json &x : plan["schedule"])
            if (x["task_id"] == "b") // where it is planned, only sooner
                s.started("1", 0, "b", x["resource_id"]);
        CHECK(tasks_of(s.ask("h")).empty());
        s.ended("2", 50, "b");
        CHECK(tasks_of(s.ask("h")) == "a");
    }
}

TEST_CASE("a gang waits for what one of its members waits for", "[api][db]")
{
    NEED_DATABASE();
    session s("",
              "[" + member("a", "gang", 1) + "," +
                  member("b", "gang", 1, R"(,"depends_on":["x"])") +
                  R"(,{"id":"x","cpus":1,"estimate_ref_s":50}])",
              R"(,"replan_max_interval_s":3600)", two_wide);
    s.t = floor(stored_snapshot::now()) - 200;

    CHECK(tasks_of(s.ask("h")) == "x");
    s.started("1", 0, "x", "n1");
    CHECK(tasks_of(s.ask("h")).empty());
    SECTION("done")
    {
        s.ended("2", 50, "x");
        CHECK(tasks_of(s.ask("h")) == "a b");
    }
    SECTION("failed for good: none of it starts, and that is said")
    {
        s.failed("2", 50, "x");
        s.started("3", 51, "x", "n1", 2);
        s.failed("4", 52, "x", 2);
        s.started("5", 53, "x", "n1", 3);
        s.failed("6", 54, "x", 3);
        json answer = s.ask("h");
        INFO(answer.dump());
        CHECK(answer["counts"]["blocked"] == 1);
        CHECK(tasks_of(answer).empty());
        CHECK(warns(answer, "gang_held_back")); // when it is planned
        CHECK(tasks_of(s.ask("h")).empty());
    }
}

TEST_CASE("of a gang all members have their amounts of a stored snapshot, or none",
          "[api][db]")
{
    NEED_DATABASE();
    stored_snapshot grid(two_wide);
    session s(grid.id, "[" + member("a", "gang", 2) + "," + member("b", "gang", 2) + "]",
              R"(,"replan_min_interval_s":3600,"replan_max_interval_s":3600)");
    s.t = floor(stored_snapshot::now()) - 200;

    CHECK(tasks_of(s.get(s.path + "/next").json()) == "a b"); // a plan that holds
    session other(grid.id, R"([{"id":"y","cpus":1,"estimate_ref_s":5}])");
    json taken = other.ask("o");
    REQUIRE(taken["start"].size() == 1);
    CHECK(tasks_of(s.ask("h")).empty());
    CHECK(grid.leases().size() == 1);
    other.started("1", 0, "y", taken["start"][0]["resource_id"]);
    other.ended("2", 5, "y");
    CHECK(tasks_of(s.ask("h")) == "a b");
    CHECK(grid.leases().size() == 2);
}

TEST_CASE("a pack goes on where its members are and were", "[api][db]")
{
    NEED_DATABASE();
    for (std::string policy : {"pack", "same_site"}) {
        session s("",
                  "[" + member("a", policy, 1) + "," + member("b", policy, 1) + "," +
                      member("c", policy, 1, R"(,"depends_on":["a"])") + "]",
                  "", slow_and_fast);
        s.t = floor(stored_snapshot::now()) - 500;
        CAPTURE(policy);

        json first = s.ask("h");
        CHECK(session::starts(first) == list{"a@fast#1", "b@fast#1"});
        s.started("1", 0, "a", "slow");             // the engine knows better
        CHECK(session::starts(s.ask("i")).empty()); // b is granted on the other one
        s.started("2", 1, "b", "slow");
        s.ended("3", 100, "a");
        CHECK(session::starts(s.ask("h")) == list{"c@slow#1"});
        s.ended("4", 100, "b");
        s.started("5", 101, "c", "slow");
        s.failed("6", 102, "c");
        CHECK(session::starts(s.ask("h")) == list{"c@slow#2"}); // only done ones are left
    }
}

TEST_CASE("groups of a session's tasks go by an attribute of hosts", "[api][db]")
{
    const char hosts[] =
        R"([{"id":"h1","mips_total":1,"cpus":2,"attributes":{"rack":"a"}},)"
        R"({"id":"h2","mips_total":1,"cpus":2,"attributes":{"Rack":"a"}},)"
        R"({"id":"h3","mips_total":1,"cpus":2}])";
    auto tasks = [](const std::string &policy) {
        auto one = [&](const std::string &id) {
            return "{\"id\":\"" + id +
                   "\",\"cpus\":2,\"estimate_ref_s\":100,\"group\":{\"id\":\"g\","
                   "\"policy\":\"" +
                   policy + "\",\"key\":\"rack\"}}";
        };
        return "[" + one("a") + "," + one("b") + "," + one("c") + "]";
    };

    NEED_DATABASE();
    session spread("", tasks("spread"), "", hosts);
    CHECK(session::starts(spread.ask("h")) == list{"a@h1#1"}); // rack a has one
    CHECK(session::starts(spread.ask("i")).empty());
    session pack("", tasks("pack"), "", hosts);
    CHECK(session::starts(pack.ask("h")) == list{"a@h1#1", "b@h2#1"}); // both of rack a
    CHECK(session::starts(pack.ask("i")).empty());                     // h3 is of no rack
}

TEST_CASE("gangs start together and packs are on one host, whoever asks and what fails",
          "[api][db][property]")
{
    NEED_DATABASE();
    int whole = 0, packed = 0;

    for (uint64_t seed = 0; seed < (is_shorter() ? 6 : 40); seed++) {
        rng r = rng_stream(seed, "sessions groups");
        auto below = [&](size_t n) { return rng_index(&r, n); };
        json hosts = json::array(), graph = json::array();
        std::map<std::string, std::string> policy_of;
        std::map<std::string, double> room;
        for (int h = 0; h < 3; h++) {
            std::string id = "n" + std::to_string(h);
            room[id] = double(2 + below(3));
            hosts.push_back(
                {{"id", id}, {"mips_total", 1 + below(2)}, {"cpus", room[id]}});
        }
        for (int i = 0; i < 9; i++) {
            std::string group = "g" + std::to_string(i % 3), id = "t" + std::to_string(i);
            json t = {{"id", id},
                      {"cpus", 1},
                      {"estimate_ref_s", 1 + below(50)},
                      {"attempts_max", 100}};
            if (i % 3 < 2) {
                policy_of[id] = i % 3 ? "pack" : "gang";
                t["group"] = {{"id", group}, {"policy", policy_of[id]}};
            }
            if (i % 3 == 2 && i > 2)
                t["depends_on"] = {"t" + std::to_string(i - 3)};
            graph.push_back(t);
        }
        session s("", graph.dump(), below(2) ? R"(,"replan_max_interval_s":3600)" : "",
                  hosts.dump());
        s.t = floor(stored_snapshot::now()) - 1000;
        struct running {
            std::string task, host;
            int attempt;
            bool started;
        };
        std::vector<running> live;
        std::set<std::string> gang_left = {"t0", "t3", "t6"}, pack_hosts;
        double clock = 0;
        int number = 0;
        INFO("seed " << seed);
        for (int step = 0; step < 40; step++) {
            if (below(2)) {
                std::string few =
                    below(3) ? "" : R"(,"max_count":)" + std::to_string(1 + below(4));
                json answer = s.ask("h" + std::to_string(number++), few);
                std::set<std::string> gang;
                for (const json &x : answer["start"]) {
                    std::string task = x["task_id"], host = x["resource_id"];
                    if (policy_of[task] == "gang" && x["attempt"] == 1)
                        gang.insert(task);
                    if (policy_of[task] == "pack")
                        pack_hosts.insert(host);
                    CHECK(--room[host] >= 0);
                    live.push_back({task, host, x["attempt"], false});
                }
                CHECK((gang.empty() || gang == gang_left));
                whole += gang.size() == 3;
            } else if (!live.empty()) {
                size_t i = below(live.size());
                running &x = live[i];

                std::string more = session::of(x.task, x.attempt);
                if (!x.started) {
                    s.event("e" + std::to_string(number++), clock += 1, "started",
                            more + ",\"resource_id\":\"" + x.host + "\"");
                    x.started = true;
                } else {
                    s.event("e" + std::to_string(number++), clock += 1,
                            below(4) ? "ended" : "failed", more);
                    room[x.host]++;
                    live.erase(live.begin() + long(i));
                }
            }
        }
        CHECK(pack_hosts.size() <= 1);
        packed += pack_hosts.size() == 1;
    }
    CHECK(whole > 2);
    CHECK(packed > 2);
}
