// world_search_api_test.cpp - POST /v1/placements where amounts count: searches, what
// auto tries, and jobs on several nodes that start now.
#include "tests/world_api_support.hpp"

#include <regex>

namespace
{

// Worked example E10: unlike nodes, one busy, five jobs.
json five_jobs()
{
    return json::parse(R"({
        "snapshot": {"resources": [
            {"id": "n1", "cpus": 8, "memory_bytes": 16},
            {"id": "n2", "mips_total": 2, "cpus": 4, "memory_bytes": 8,
             "capacities": {"gpus": 1},
             "running": [{"id": "r", "cpus": 2, "memory_bytes": 4,
                          "expected_end_s": 5}]}]},
        "jobs": [
            {"id": "j1", "estimate_ref_s": 20, "cpus": 4, "memory_bytes": 4,
             "weight": 1, "deadline_s": 15},
            {"id": "j2", "estimate_ref_s": 12, "cpus": 2, "memory_bytes": 6,
             "weight": 3, "deadline_s": 8},
            {"id": "j3", "estimate_ref_s": 8, "cpus": 4, "memory_bytes": 8,
             "weight": 2, "deadline_s": 6},
            {"id": "j4", "estimate_ref_s": 30, "cpus": 2, "memory_bytes": 2,
             "weight": 1, "deadline_s": 20},
            {"id": "j5", "estimate_ref_s": 6, "cpus": 1, "memory_bytes": 1,
             "weight": 4, "deadline_s": 5}]})");
}

// Jobs that do not pack well in the order of the request.
json packing(int nodes, int jobs)
{
    json body = {{"algorithm", "search"}, {"seed", 3}};
    unsigned draw = 12345;
    auto next = [&](unsigned below) {
        draw = draw * 1664525 + 1013904223;
        return static_cast<double>((draw >> 16) % below);
    };
    for (int i = 0; i < nodes; i++)
        body["snapshot"]["resources"].push_back({{"id", "n" + std::to_string(i)},
                                                 {"cpus", 8},
                                                 {"capacities", {{"gpus", i % 3}}},
                                                 {"running",
                                                  {{{"id", "r" + std::to_string(i)},
                                                    {"cpus", 2},
                                                    {"expected_end_s", 1 + next(40)}}}}});
    for (int i = 0; i < jobs; i++)
        body["jobs"].push_back({{"id", "j" + std::to_string(i)},
                                {"cpus", 1 + next(8)},
                                {"estimate_s", 1 + next(50)},
                                {"needs", {{"gpus", i % 7 ? 0 : 1}}}});
    return body;
}

double value(const json &answer)
{
    return answer["objective"]["values"][0]["value"];
}

// The plan as the checker of plans sees it.
void check_is_valid(const json &request, const json &answer)
{
    static api a;
    json body = {{"kind", "placement"},
                 {"snapshot", request["snapshot"]},
                 {"jobs", request["jobs"]},
                 {"placements", json::array()}};
    for (const json &p : answer["placements"]) {
        json row = {{"job_id", p["job_id"]},
                    {"start_s", p["start_s"]},
                    {"finish_s", p["finish_s"]}};
        for (const char *name : {"resource_id", "resource_ids"})
            if (p.contains(name))
                row[name] = p[name];
        body["placements"].push_back(row);
    }
    api_reply reply = a.post("/v1/evaluations", body.dump());
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    CHECK(reply.json()["valid"] == true);
}

} // namespace

TEST_CASE("a search where amounts count finds the optimum of small worlds",
          "[api][world][search]")
{
    for (auto [objective, least] :
         std::vector<std::pair<std::string, double>>{{"makespan_s", 20},
                                                     {"total_flow_s", 60},
                                                     {"weighted_completion_s", 99},
                                                     {"weighted_tardiness_s", 18}}) {
        json body = five_jobs();
        body["objective"] = {objective};
        json j = place(body, "search");
        INFO(objective);
        CHECK(value(j) == Approx(least));
        CHECK(j["algorithm"] == "search");
        CHECK(j["best_list"]["value"] >= least);
        CHECK(j["status"] == "feasible"); // no bound is so high
        CHECK_FALSE(j.contains("because"));
        check_is_valid(body, j);
    }
    json body = five_jobs();
    body["jobs"].erase(4);
    body["jobs"].erase(1);
    body["snapshot"]["resources"].erase(1);
    json j = place(body, "search"); // the longest job is a bound
    CHECK(j["status"] == "optimal");
    CHECK(j["steps"] == 0);
    CHECK(j["best_list"]["value"] == 30);
}

TEST_CASE("a search of so many steps gives the same plan again", "[api][world][search]")
{
    json body = packing(4, 60);
    body["options"] = {{"max_steps", 6000}, {"start", "mct"}};
    json j = place(body), again = place(body);
    CHECK(j["placements"] == again["placements"]);
    CHECK(j["improved_at_steps"] == again["improved_at_steps"]);
    CHECK(j["steps"] >= 6000);
    CHECK(value(j) < j["best_list"]["value"].get<double>());
    REQUIRE_FALSE(j["improved_at_steps"].empty());
    CHECK(j["improved_at_steps"].back()["value"] == value(j));
    CHECK(j["improved_at_steps"].back()["steps"] <= j["steps"]);
    CHECK(j["status"] == "feasible");
    CHECK(j["bound_effort"] == "full");
    check_is_valid(body, j);

    body["options"]["bound_effort"] = "none";
    json cheap = place(body);
    CHECK(cheap["bound_effort"] == "none");
    CHECK(cheap["placements"] == j["placements"]);
    CHECK(cheap["objective"]["lower_bound_s"] <= j["objective"]["lower_bound_s"]);
}

TEST_CASE("a search goes on to the limit, and its steps replay it",
          "[api][world][search]")
{
    json body = packing(4, 60);
    body["time_limit_s"] = 0.3;
    body["options"] = {{"start", "mct"}};
    json j = place(body);
    CHECK(j["placement_count"] == 60);
    CHECK((j["status"] == "cut" || j["status"] == "optimal"));
    CHECK(value(j) <= j["best_list"]["value"].get<double>());
    check_is_valid(body, j);
    if (j["steps"] == 0)
        return;
    body.erase("time_limit_s");
    body["options"]["max_steps"] = j["steps"];
    CHECK(value(place(body)) == value(j));
}

TEST_CASE("auto searches where amounts count, and says what came of it",
          "[api][world][search]")
{
    json body = packing(4, 60);
    json j = place(body, "auto"), again = place(body, "auto");
    std::string because = j["because"];
    static const std::regex form(
        "mct [0-9.]+, mct longest [0-9.]+( \\(best\\))?, .*search [0-9.]+.*");
    INFO(because);
    CHECK(std::regex_match(because, form));
    CHECK(because.find(" (best)") != std::string::npos);
    CHECK(j["placements"] == again["placements"]);
    CHECK(j["steps"] > 0);
    CHECK(value(j) <= j["best_list"]["value"].get<double>());
    CHECK(value(j) <= value(place(body, "mct")));
    check_is_valid(body, j);

    // What has no place in any plan does not keep a search from its end.
    body = json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 8, "capacities": {"gpus": 1}}]},
        "jobs": [{"id": "a", "estimate_s": 10, "needs": {"gpus": 1}},
                 {"id": "b", "estimate_s": 10, "needs": {"gpus": 1}},
                 {"id": "c", "cpus": 9, "estimate_s": 10}]})");
    j = place(body, "auto");
    CHECK(j["because"] == "mct 20 with jobs left out (best)");
    CHECK(j["steps"] == 0);
    CHECK(fate(j, "c") == "too_small");
    CHECK(j["status"] == "feasible");
    CHECK(place(body, "search")["steps"] == 0);
}

TEST_CASE("a search keeps what couples nodes", "[api][world][search]")
{
    json body = packing(4, 24);
    body["snapshot"]["shared_capacities"] = {{"licence", 2}};
    for (size_t i = 0; i < 24; i++) {
        json &job = body["jobs"][i];
        if (i % 4 == 0)
            job["needs"]["licence"] = 1;
        if (i % 5 == 0) {
            job["nodes"] = 2;
            job["needs"].erase("gpus");
        }
        if (i % 6 == 1)
            job["after"] = {{{"job_id", "j" + std::to_string(i + 1)}, {"kind", "ok"}}};
        if (i % 8 == 3)
            job["group"] = {{"id", "g"}, {"policy", "gang"}};
    }
    body["objective"] = {"weighted_completion_s", "makespan_s"};
    body["options"] = {{"max_steps", 4000}};
    json j = place(body);
    CHECK(j["placement_count"] == 24);
    CHECK(value(j) <= j["best_list"]["value"].get<double>());
    check_is_valid(body, j);
}

TEST_CASE("searches with nothing to place, or nowhere to", "[api][world][search]")
{
    for (const char *policy : {"auto", "search"})
        for (const char *objective : {"makespan_s", "started_now_weight", "nodes_used"}) {
            json body = five_jobs();
            body["objective"] = {objective};
            body["jobs"] = json::array();
            json j = place(body, policy);
            CHECK(j["steps"] == 0);
            CHECK(j["placement_count"] == 0);
            body = five_jobs();
            body["objective"] = {objective};
            body["snapshot"]["resources"] = json::array();
            j = place(body, policy);
            CHECK(j["status"] == "infeasible");
            CHECK(j["unplaced_count"] == 5);
        }
    json body = five_jobs();
    body["objective"] = {"started_now_weight"};
    json j = place(body, "search");
    CHECK(value(j) == value(place(body, "auto")));
    CHECK(j["placement_count"] == 5);
    check_is_valid(body, j);
}

TEST_CASE("priorities and weights count where advice is asked for", "[api][world]")
{
    json body = json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 4, "running": [
            {"id": "r", "cpus": 4, "preemptible": true, "priority": 1,
             "expected_end_s": 9}]}]},
        "jobs": [{"id": "a", "cpus": 4, "estimate_s": 5, "priority": 2, "weight": 3},
                 {"id": "b", "cpus": 5, "estimate_s": 5, "weight": 7}]})");
    json j = place(body);
    CHECK(says(j, "ignored: priority of 1 job"));
    CHECK(says(j, "ignored: weight of 2 jobs"));
    body["preempt"] = true;
    body["what_if"] = true;
    j = place(body);
    CHECK_FALSE(says(j, "ignored: priority"));
    CHECK_FALSE(says(j, "ignored: weight"));
    REQUIRE(j["preemptions"].size() == 1);
    CHECK(j["preemptions"][0]["stop"] == json({"r"}));
    REQUIRE(j["what_if"].size() == 1);
    CHECK(j["what_if"][0]["weight"] == 7);
}

TEST_CASE("jobs on several nodes and gangs start now", "[api][world]")
{
    json body = json::parse(R"({
        "snapshot": {"resources": [{"id": "n1", "cpus": 4}, {"id": "n2", "cpus": 4},
                                   {"id": "n3", "cpus": 2}]},
        "jobs": [{"id": "w", "nodes": 2, "cpus": 4, "weight": 9, "estimate_s": 5},
                 {"id": "g1", "cpus": 2, "weight": 1, "estimate_s": 5,
                  "group": {"id": "g", "policy": "gang"}},
                 {"id": "g2", "cpus": 2, "weight": 1, "estimate_s": 5,
                  "group": {"id": "g", "policy": "gang"}},
                 {"id": "s", "cpus": 2, "weight": 3, "estimate_s": 5}],
        "objective": ["started_now_weight"]})");
    json j = place(body, "auto");
    CHECK(fate(j, "w") == "n1+n2 0-5");
    CHECK(fate(j, "s") == "n3 0-5");
    CHECK(j["placement_count"] == 2); // of the gang all or none
    CHECK(value(j) == 12);
    body["jobs"][0]["nodes"] = 1;
    j = place(body, "auto");
    CHECK(j["placement_count"] == 4);
    CHECK(j["status"] == "optimal");
    check_is_valid(body, j);
}
