// placement_preempt_api_test.cpp - what placements would stop, and plans that assume it,
// through route_answer().
#include "tests/api.hpp"

#include <set>

using nlohmann::json;

namespace
{
json runs(const std::string &id, double cpus, double weight, double end_s = 100)
{
    return {{"id", id},
            {"cpus", cpus},
            {"weight", weight},
            {"preemptible", true},
            {"expected_end_s", end_s}};
}

json node(const std::string &id, double cpus, const json &running)
{
    return {{"id", id}, {"cpus", cpus}, {"running", running}};
}

json waiting(const std::string &id, double cpus, double priority, bool preempt = false)
{
    json j = {{"id", id}, {"cpus", cpus}, {"priority", priority}, {"estimate_s", 10}};
    if (preempt)
        j["preempt"] = true;
    return j;
}

json asked(const json &resources, const json &jobs, const json &more = json::object())
{
    json body = {
        {"snapshot", {{"resources", resources}}}, {"jobs", jobs}, {"algorithm", "mct"}};
    body.update(more);
    return body;
}

json decide(const json &body)
{
    static api a;
    api_reply r = a.post("/v1/placements", body.dump());
    INFO(body.dump() << " " << r.body.substr(0, 3000));
    REQUIRE(r.status == 200);
    return r.json();
}

std::string warned(const json &answer, const std::string &code)
{
    for (const json &w : answer["warnings"])
        if (w.get<std::string>().rfind(code + ": ", 0) == 0)
            return w.get<std::string>();
    return "";
}

double start_of(const json &answer, const std::string &id)
{
    for (const json &p : answer["placements"])
        if (p["job_id"] == id)
            return p["start_s"].get<double>();
    return -1;
}

const json assumed = {{"preempt", true}, {"options", {{"assume_preempted", true}}}};
} // namespace

TEST_CASE("only jobs that ask are told what to stop for them", "[world][api]")
{
    json resources =
        json::array({node("n", 8, {runs("a", 4, 1), runs("b", 2, 1), runs("c", 2, 3)})});
    json jobs = {waiting("x", 4, 1, true), waiting("y", 4, 1), waiting("z", 4, 0, true)};
    json answer = decide(asked(resources, jobs));
    REQUIRE(answer["preemptions"].size() == 1); // z is no more important than what runs
    CHECK(answer["preemptions"][0]["job_id"] == "x");
    CHECK(answer["preemptions"][0]["stop"] == json::parse(R"(["a"])"));
    CHECK(answer["preemptions"][0]["weight"] == 1);
    CHECK(start_of(answer, "x") == 100); // it is a proposal
    answer = decide(asked(resources, jobs, {{"preempt", true}}));
    CHECK(answer["preemptions"].size() == 2);
    for (json &j : jobs)
        j.erase("preempt");
    CHECK(!decide(asked(resources, jobs)).contains("preemptions"));
}

TEST_CASE("a plan can assume that what is proposed is stopped", "[world][api]")
{
    json resources =
        json::array({node("n", 8, {runs("a", 4, 1), runs("b", 2, 1), runs("c", 2, 3)})});
    json answer = decide(asked(resources, json::array({waiting("x", 4, 1)}), assumed));
    CHECK(start_of(answer, "x") == 0);
    CHECK(answer["objective"]["makespan_s"] == 10);
    CHECK(answer["status"] == "optimal");
    REQUIRE(answer["preemptions"].size() == 1);
    CHECK(answer["preemptions"][0]["stop"] == json::parse(R"(["a"])"));
    CHECK(warned(answer, "preempted")
              .rfind("preempted: the plan assumes that 1 running "
                     "job is stopped",
                     0) == 0);

    // One after the other, the larger priority first: each takes what is left.
    answer = decide(
        asked(resources, {waiting("low", 4, 1), waiting("high", 4, 2)},
              {{"preempt", true},
               {"options", {{"assume_preempted", true}, {"job_order", "priority"}}}}));
    REQUIRE(answer["preemptions"].size() == 2);
    CHECK(answer["preemptions"][0]["job_id"] == "high");
    CHECK(answer["preemptions"][0]["stop"] == json::parse(R"(["a"])"));
    CHECK(answer["preemptions"][1]["job_id"] == "low");
    CHECK(answer["preemptions"][1]["stop"] == json::parse(R"(["b","c"])"));
    CHECK(start_of(answer, "high") == 0);
    CHECK(start_of(answer, "low") == 0);
    CHECK(warned(answer, "preempted_for_others") == "");

    // What is stopped for one may start another in the same gap, without a stop.
    answer = decide(asked(resources, {waiting("x", 3, 1), waiting("y", 1, 1)}, assumed));
    REQUIRE(answer["preemptions"].size() == 1);
    CHECK(answer["preemptions"][0]["stop"] == json::parse(R"(["a"])"));
    CHECK(start_of(answer, "x") == 0);
    CHECK(start_of(answer, "y") == 0);

    // Nothing helps: nothing is stopped.
    answer = decide(asked(resources, json::array({waiting("x", 4, 0)}), assumed));
    CHECK(answer["preemptions"].empty());
    CHECK(start_of(answer, "x") == 100);
    CHECK(warned(answer, "preempted") == "");
}

TEST_CASE("a plan that gives what was stopped to others says so", "[world][api]")
{
    json resources = json::array({node("n", 4, json::array({runs("a", 4, 1)}))});
    json jobs = {waiting("first", 4, 0), waiting("x", 4, 1, true)};
    json more = {{"options", {{"assume_preempted", true}}}};
    json answer = decide(asked(resources, jobs, more));
    CHECK(start_of(answer, "first") == 0);
    CHECK(start_of(answer, "x") == 10);
    CHECK(warned(answer, "preempted_for_others").find("/jobs/1") != std::string::npos);
    more["options"]["job_order"] = "priority";
    answer = decide(asked(resources, jobs, more));
    CHECK(start_of(answer, "x") == 0);
    CHECK(warned(answer, "preempted_for_others") == "");
    // Jobs that start now or not at all: the same.
    more = assumed;
    more["algorithm"] = "auto";
    more["objective"] = {"started_now_weight"};
    answer = decide(asked(resources, jobs, more));
    CHECK(start_of(answer, "x") == 0);
    CHECK(answer["placement_count"] == 1);
}

TEST_CASE("the option to assume stops is said to be unused, or refused", "[world][api]")
{
    json resources = json::array({node("n", 4, json::array({runs("a", 4, 1)}))});
    json jobs = json::array({waiting("x", 4, 1)});
    json answer =
        decide(asked(resources, jobs, {{"options", {{"assume_preempted", true}}}}));
    CHECK(answer["warnings"].dump().find("/options/assume_preempted") !=
          std::string::npos);
    CHECK(start_of(answer, "x") == 100);
    api a;
    json body = asked(resources, jobs, assumed);
    body["lease"] = {{"owner", "o"}};
    api_reply r = a.post("/v1/placements", body.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/lease", "/lease"});
    r = a.post("/v1/reschedules",
               R"({"snapshot":{"resources":[{"id":"n"}]},"jobs":[],
                   "options":{"assume_preempted":true}})");
    CHECK(r.status == 422);
}

TEST_CASE("a plan that assumes stops is that of a snapshot without the stopped",
          "[world][api][property]")
{
    rng r = rng_create(11);
    auto upto = [&](int n) { return (int)(rng_uniform(&r) * n); };
    int stopped = 0;

    for (int round = 0; round < 300; round++) {
        json resources = json::array(), jobs = json::array();
        json rows = json::array();
        int nodes = 1 + upto(3), number = 0;

        for (int n = 0; n < nodes; n++) {
            json running = json::array();
            for (int k = upto(4); k > 0; k--)
                running.push_back({{"id", "r" + std::to_string(number++)},
                                   {"cpus", 1 + upto(3)},
                                   {"weight", upto(3)},
                                   {"preemptible", upto(4) > 0},
                                   {"priority", upto(2)},
                                   {"expected_end_s", 5 * (1 + upto(4))}});
            resources.push_back(node("n" + std::to_string(n), 2 + upto(7), running));
            if (upto(3) == 0)
                resources.back()["running"] = json::array();
        }
        for (int k = upto(2); k > 0; k--) // on two nodes, or one
            rows.push_back(
                {{"id", "s" + std::to_string(k)},
                 {"resource_ids", nodes > 1 ? json({"n0", "n1"}) : json::array({"n0"})},
                 {"cpus", 1 + upto(2)},
                 {"weight", upto(3)},
                 {"preemptible", true},
                 {"expected_end_s", 5 * (1 + upto(4))}});
        for (int k = upto(5); k >= 0; k--) {
            jobs.push_back(
                waiting("j" + std::to_string(k), 1 + upto(4), upto(4), upto(2) == 0));
            if (nodes > 1 && upto(4) == 0)
                jobs.back()["nodes"] = 2;
        }
        json body = asked(resources, jobs, {{"options", {{"assume_preempted", true}}}});
        body["snapshot"]["running"] = rows;
        body["options"]["job_order"] = upto(2) ? "priority" : "fifo";
        json answer = decide(body);
        std::set<std::string> gone;
        if (answer.contains("preemptions"))
            for (const json &p : answer["preemptions"])
                for (const json &id : p["stop"])
                    CHECK(gone.insert(id.get<std::string>()).second); // once
        stopped += (int)gone.size();
        auto take_out = [&](json &list) {
            json kept = json::array();
            for (const json &row : list)
                if (!gone.count(row["id"].get<std::string>()))
                    kept.push_back(row);
            list = kept;
        };
        for (json &n : body["snapshot"]["resources"])
            take_out(n["running"]);
        take_out(body["snapshot"]["running"]);
        body["options"].erase("assume_preempted");
        for (json &j : body["jobs"])
            j.erase("preempt");
        json plain = decide(body); // the same policy on what is left
        INFO(round << " " << answer.dump());
        CHECK(plain["placements"] == answer["placements"]);
        CHECK(plain["objective"] == answer["objective"]);
    }
    CHECK(stopped > 50);
}
