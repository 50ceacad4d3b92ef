// world_keys_test.cpp - groups of jobs that go by an attribute of resources.
#include "tests/support.hpp"
#include "tests/world_api_support.hpp"

#include <set>

extern "C" {
#include "models/base/rng.h"
}

namespace
{

using fates = std::vector<std::string>;

// Two nodes of rack a, one of rack b, one that says nothing; each of one cpu.
const json racks = json::parse(R"([
    {"id": "a1", "cpus": 1, "attributes": {"Rack": "a"}},
    {"id": "a2", "cpus": 1, "attributes": {"rack": "a"}},
    {"id": "b1", "cpus": 1, "attributes": {"rack": "b"}},
    {"id": "none", "cpus": 1, "attributes": {"rack": null, "room": 1}}])");

json members(size_t count, const json &group)
{
    json jobs = json::array();

    for (size_t i = 0; i < count; i++) {
        jobs.push_back({{"id", "m" + std::to_string(i)}, {"estimate_s", 10}});
        jobs.back()["group"] = {{"id", "g"}};
        jobs.back()["group"].update(group);
    }
    return jobs;
}

json by(const std::string &policy, const std::string &key = "rack")
{
    return {{"policy", policy}, {"key", key}};
}

json asked(const json &resources, const json &jobs)
{
    return {{"snapshot", {{"resources", resources}}}, {"jobs", jobs}};
}

fates fates_of(const json &answer, size_t count)
{
    fates list;

    for (size_t i = 0; i < count; i++)
        list.push_back(fate(answer, "m" + std::to_string(i)));
    return list;
}

std::vector<std::string> warnings_of(const json &answer, const std::string &code)
{
    std::vector<std::string> list;

    for (const std::string w : answer["warnings"])
        if (w.rfind(code + ":", 0) == 0)
            list.push_back(w);
    return list;
}

// How many resources a reason of a job without a place is for; 0: it is not told.
size_t dropped_by(const json &answer, const std::string &job, const std::string &reason)
{
    for (const json &u : answer["unplaced"])
        if (u["job_id"] == job)
            for (const json &r : u["reasons"])
                if (r["reason"] == reason)
                    return r["resource_count"];
    return 0;
}

// The error's items as "kind pointer".
std::vector<std::string> mistakes(const std::string &path, const json &body)
{
    static api a;
    api_reply reply = a.post(path, body.dump());
    std::vector<std::string> list;

    INFO(reply.body);
    REQUIRE(reply.status == 422);
    const json all = reply.json();
    for (const json &e : all["errors"])
        list.push_back(e["code"].get<std::string>() + " " +
                       e["pointer"].get<std::string>());
    return list;
}

json answer_of(const std::string &path, const json &body)
{
    static api a;
    api_reply reply = a.post(path, body.dump());

    INFO(reply.body);
    REQUIRE(reply.status == 200);
    return reply.json();
}

} // namespace

TEST_CASE("a group goes by an attribute of resources", "[api][world]")
{
    auto of = [&](const json &group, size_t count = 3) {
        return fates_of(place(asked(racks, members(count, group))), count);
    };

    CHECK(of(by("spread")) == fates{"a1 0-10", "b1 0-10", "group_spread"});
    CHECK(of(by("exclude")) == fates{"a1 0-10", "b1 0-10", "a1 10-20"});
    CHECK(of(by("pack")) == fates{"a1 0-10", "a2 0-10", "a1 10-20"});
    json two = by("exclude");
    two["max_per_key"] = 2;
    CHECK(of(two, 4) == fates{"a1 0-10", "a2 0-10", "b1 0-10", "a1 10-20"});
    // Of a gang nobody counts.
    json gang = place(asked(racks, members(4, by("gang"))));
    CHECK(fates_of(gang, 4) == fates{"a1 0-10", "a2 0-10", "b1 0-10", "none 0-10"});
    CHECK(warnings_of(gang, "ignored").size() == 1);

    // Jobs of two nodes count twice: no rack but none has two values.
    json wide = members(2, by("spread"));
    for (json &job : wide)
        job["nodes"] = 2;
    json out = place(asked(racks, wide));
    CHECK(fates_of(out, 2) == fates{"a1+b1 0-10", "group_spread"});
    CHECK(dropped_by(out, "m1", "group_key") == 1);
}

TEST_CASE("values of a key are equal as in expressions", "[api][world]")
{
    json nodes = json::parse(R"([
        {"id": "n1", "cpus": 1, "attributes": {"k": 1}},
        {"id": "n2", "cpus": 1, "attributes": {"k": true}},
        {"id": "n3", "cpus": 1, "attributes": {"k": "1"}},
        {"id": "n4", "cpus": 1, "attributes": {"k": 0}},
        {"id": "n5", "cpus": 1, "attributes": {"k": -0.0}},
        {"id": "n6", "cpus": 1, "attributes": {"k": false}},
        {"id": "n7", "cpus": 1, "attributes": {"k": "A"}},
        {"id": "n8", "cpus": 1, "attributes": {"k": "a"}},
        {"id": "n9", "cpus": 1, "attributes": {"k": ""}}])");
    json out = place(asked(nodes, members(9, by("spread", "k"))));

    // 1, "1", 0, "A", "a" and "": six values.
    CHECK(fates_of(out, 9) == fates{"n1 0-10", "n3 0-10", "n4 0-10", "n7 0-10", "n8 0-10",
                                    "n9 0-10", "group_spread", "group_spread",
                                    "group_spread"});
    CHECK(dropped_by(out, "m8", "group_key") == 0);
}

TEST_CASE("a key that no resource has, or that has another meaning", "[api][world]")
{
    json out = place(asked(racks, members(2, by("spread", "rak"))));
    std::vector<std::string> said = warnings_of(out, "unknown_attribute");

    CHECK(out["placements"].empty());
    REQUIRE(said.size() == 1);
    CHECK(said[0] == "unknown_attribute: no resource has 'rak', by which 1 group goes; "
                     "did you mean 'rack'?");
    CHECK(dropped_by(out, "m0", "group_key") == 4);
    for (const json &u : out["unplaced"])
        CHECK(u["reasons"].back()["reason"] == "group_key");

    // Names that expressions derive are no attributes.
    out = place(asked(racks, members(2, by("spread", "cpus_total"))));
    CHECK(warnings_of(out, "unknown_attribute").size() == 1);
    CHECK(dropped_by(out, "m1", "group_key") == 4);
    json stated = racks;
    stated[0]["attributes"]["cpus_total"] = 5;
    out = place(asked(stated, members(2, by("spread", "CPUS_TOTAL"))));
    CHECK(fates_of(out, 2) == fates{"a1 0-10", "group_spread"});
    CHECK(dropped_by(out, "m1", "group_key") == 3);

    // Filters before it are told first, and partitions behind it.
    json body = asked(racks, members(2, by("spread")));
    for (size_t i = 1; i < 4; i++)
        body["snapshot"]["resources"][i]["attributes"]["ok"] = 1;
    body["snapshot"]["partitions"] = {{{"id", "p"}, {"resource_ids", {"none", "b1"}}}};
    for (json &job : body["jobs"]) {
        job["partition_ids"] = {"p"};
        job["requirement"] = "ok == 1";
    }
    body["jobs"][0]["cpus"] = 2;
    out = place(body);
    CHECK(fates_of(out, 2) == fates{"too_small", "b1 0-10"});
    CHECK(dropped_by(out, "m0", "requirement") == 1);
    CHECK(dropped_by(out, "m0", "group_key") == 1);
    CHECK(dropped_by(out, "m0", "partition") == 1); // a2
    CHECK(dropped_by(out, "m0", "too_small") == 1); // b1

    // No resource at all: there is nothing to warn of.
    out = place(asked(json::array(), members(1, by("spread", "x"))));
    CHECK(warnings_of(out, "unknown_attribute").empty());
}

TEST_CASE("members that run count for the value of their resource", "[api][world]")
{
    auto of = [&](const std::string &policy, const std::string &at) {
        json nodes = racks;

        for (json &n : nodes) {
            n["cpus"] = 2;
            if (n["id"] == at)
                n["running"] = {
                    {{"id", "r"}, {"cpus", 1}, {"group", "g"}, {"expected_end_s", 5}}};
        }
        return place(asked(nodes, members(2, by(policy))));
    };

    CHECK(fates_of(of("spread", "a2"), 2) == fates{"b1 0-10", "group_spread"});
    CHECK(fates_of(of("exclude", "a2"), 2) == fates{"b1 0-10", "a1 5-15"});
    CHECK(fates_of(of("pack", "b1"), 2) == fates{"b1 0-10", "b1 5-15"});
    for (const char *policy : {"spread", "exclude", "pack"}) {
        json out = of(policy, "none");

        CHECK(fate(out, "m0") == "a1 0-10");
        CHECK(warnings_of(out, "ignored") ==
              std::vector<std::string>{
                  "ignored: 1 running member is on a resource without the attribute that "
                  "the group goes by, and counts for no value of it"});
    }
    CHECK(warnings_of(of("spread", "a1"), "ignored").empty());
}

TEST_CASE("keys of a group agree, and are names", "[api][world]")
{
    json jobs = members(3, by("spread"));

    jobs[1]["group"]["key"] = "RACK"; // the same attribute
    CHECK(fates_of(place(asked(racks, jobs)), 3) ==
          fates{"a1 0-10", "b1 0-10", "group_spread"});
    jobs[1]["group"].erase("key");
    jobs[2]["group"]["key"] = "room";
    CHECK(mistakes("/v1/placements", asked(racks, jobs)) ==
          std::vector<std::string>{"conflict /jobs/1/group/key",
                                   "conflict /jobs/2/group/key"});
    CHECK(mistakes("/v1/placements", asked(racks, members(1, by("same_site")))) ==
          std::vector<std::string>{"conflict /jobs/0/group/key"});
    for (const json &wrong :
         {json(1), json(true), json::array(), json(""), json(std::string(257, 'k'))}) {
        jobs = members(1, by("spread"));
        jobs[0]["group"]["key"] = wrong;
        std::vector<std::string> said = mistakes("/v1/placements", asked(racks, jobs));
        INFO(wrong.dump());
        REQUIRE(said.size() == 1);
        CHECK(said[0].find(" /jobs/0/group/key") != std::string::npos);
    }
    jobs = members(1, by("spread"));
    jobs[0]["group"]["key"] = nullptr; // as if it were not given
    CHECK(fate(place(asked(racks, jobs)), "m0") == "a1 0-10");
}

TEST_CASE("keys of groups hold in queues, workflows, rounds and evaluations",
          "[api][world]")
{
    json jobs = members(3, by("spread")), body;

    body = asked(racks, jobs);
    body["algorithm"] = "easy";
    json out = answer_of("/v1/queue-orders", body);
    CHECK(out["starts"].size() == 2);
    CHECK(out["unplaced"][0]["reasons"].back()["reason"] == "group_spread");
    body["jobs"][0]["group"]["key"] = body["jobs"][1]["group"]["key"] =
        body["jobs"][2]["group"]["key"] = "rak";
    out = answer_of("/v1/queue-orders", body);
    CHECK(out["starts"].empty());
    CHECK(dropped_by(out, "m0", "group_key") == 4);

    // Tasks of a workflow.
    json tasks = members(3, by("spread"));
    for (const char *algorithm : {"heft", "balanced", "workflow_fastest"}) {
        bool round = std::string(algorithm) != "heft";
        json flow = {{"algorithm", algorithm},
                     {"snapshot", {{"resources", racks}}},
                     {"workflow", {{"tasks", tasks}}}};
        INFO(algorithm);
        if (round)
            flow["algorithm"] = algorithm;
        out = answer_of("/v1/workflow-schedules", flow);
        INFO(out.dump());
        const json &unplaced = out["unplaced"];
        REQUIRE(unplaced.size() == 1);
        CHECK(unplaced[0]["reasons"].back()["reason"] == "group_spread");
        for (json &t : flow["workflow"]["tasks"])
            t["group"]["key"] = "rak";
        out = answer_of("/v1/workflow-schedules", flow);
        REQUIRE(out["unplaced"].size() == 3);
        CHECK(out["unplaced"][0]["reasons"].back()["reason"] == "group_key");
        CHECK(says(out, "unknown_attribute: no resource has 'rak'"));
    }

    // A job that runs may not move to where there is no rack.
    json round = {{"algorithm", "gridway"},
                  {"snapshot", {{"resources", {racks[0], racks[3]}}}},
                  {"jobs",
                   {{{"id", "x"},
                     {"estimate_s", 1000},
                     {"elapsed_s", 500},
                     {"resource_id", "a1"},
                     {"event", "user_requested"},
                     {"group", {{"id", "g"}, {"policy", "spread"}, {"key", "rack"}}}}}}};
    out = answer_of("/v1/reschedules", round);
    CHECK(out["jobs"][0]["action"] == "keep");
    bool told = false;
    for (const json &d : out["jobs"][0]["candidates"])
        told = told || (d["reason"] == "group_key" && d["resource_count"] == 1);
    CHECK(told);
    round["jobs"][0]["group"]["key"] = "room";
    CHECK(answer_of("/v1/reschedules", round)["jobs"][0]["action"] == "migrate");

    // A plan of somebody else.
    body = {{"kind", "placement"},
            {"snapshot", {{"resources", racks}}},
            {"jobs", members(3, by("spread"))},
            {"placements",
             {{{"job_id", "m0"}, {"resource_id", "a1"}, {"start_s", 0}},
              {{"job_id", "m1"}, {"resource_id", "a2"}, {"start_s", 20}},
              {{"job_id", "m2"}, {"resource_id", "none"}, {"start_s", 0}}}}};
    out = answer_of("/v1/evaluations", body);
    REQUIRE(out["violation_count"] == 2);
    std::set<std::string> rules;
    for (const json &v : out["violations"])
        rules.insert(v["rule"].get<std::string>() + " " + v["job_id"].get<std::string>());
    CHECK(rules == std::set<std::string>{"group_spread m1", "not_eligible m2"});
    CHECK(out.dump().find("group_key: the resource has not the attribute") !=
          std::string::npos);
}

// A key is to an attribute what site_id is to sites, and a requirement keeps members off
// resources without it: three ways to ask the same.
TEST_CASE("random worlds: a key is as good as a site", "[api][world][property]")
{
    const char *const policies[] = {"spread", "pack", "exclude"};
    const char *const algorithms[] = {"mct",    "olb",       "min_min", "max_min",
                                      "duplex", "sufferage", "gridway", "search",
                                      "auto",   "kpb",       "met"};
    size_t placed = 0;

    for (uint64_t seed = 1; seed <= (is_shorter() ? 40u : 400u); seed++) {
        rng r = rng_create(seed);
        auto below = [&](size_t n) { return rng_index(&r, n); };
        json by_key = {{"snapshot", {{"resources", json::array()}}},
                       {"jobs", json::array()}};
        json by_site = by_key;
        size_t nodes = below(5), jobs = below(5);

        for (size_t i = 0; i < nodes; i++) {
            json n = {{"id", "n" + std::to_string(i)},
                      {"cpus", 1 + below(3)},
                      {"mips_total", 1 + below(2)}};
            size_t rack = below(4);
            json m = n;
            if (rack < 3)
                n["attributes"] = m["attributes"] = {{"rack", rack}};
            m["site_id"] = "s" + std::to_string(rack);
            if (below(4) == 0) {
                json run = {{"id", "r" + std::to_string(i)},
                            {"cpus", 0.5 + (double)below(2)},
                            {"expected_end_s", 1 + below(3)}};
                if (rack < 3 && below(2))
                    run["group"] = "g";
                n["running"] = m["running"] = {run};
            }
            by_key["snapshot"]["resources"].push_back(n);
            by_site["snapshot"]["resources"].push_back(m);
        }
        json group = {{"id", "g"}, {"policy", policies[below(3)]}};
        if (group["policy"] != "pack" && below(2))
            group["max_per_key"] = 2;
        for (size_t j = 0; j < jobs; j++) {
            json job = {{"id", "j" + std::to_string(j)},
                        {"cpus", 0.5 + (double)below(2)},
                        {"estimate_s", below(4)},
                        {"nodes", below(4) ? 1 : 2}};
            by_key["jobs"].push_back(job);
            by_site["jobs"].push_back(job);
            if (below(4) == 0)
                continue;
            by_key["jobs"][j]["group"] = by_site["jobs"][j]["group"] = group;
            by_key["jobs"][j]["group"]["key"] = "rack";
            by_site["jobs"][j]["group"]["key"] = "site_id";
            by_site["jobs"][j]["requirement"] = "rack >= 0";
        }
        for (const char *algorithm : algorithms) {
            by_key["algorithm"] = by_site["algorithm"] = algorithm;
            if (std::string(algorithm) == "search" || std::string(algorithm) == "auto")
                by_key["options"] = by_site["options"] = {{"max_steps", 2000}};
            else
                by_key["options"] = by_site["options"] = json::object();
            json a = place(by_key, algorithm), b = place(by_site, algorithm);
            INFO(seed << " " << algorithm << "\n" << by_key.dump());
            CHECK(a["placements"] == b["placements"]);
            CHECK(a["objective"] == b["objective"]);
            CHECK(a["status"] == b["status"]);
            placed += a["placements"].size();
        }
    }
    CHECK(placed > 300);
}
