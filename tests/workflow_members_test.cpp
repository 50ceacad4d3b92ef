// workflow_members_test.cpp - what tasks of workflows may say besides their needs: who
// runs them, groups, and what is not looked at; and why they have no place.
#include "tests/api.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

using nlohmann::json;

namespace
{

json decided(const json &body)
{
    static api a;

    api_reply r = a.post("/v1/workflow-schedules", body.dump());
    INFO(body.dump() << "\n" << r.body);
    REQUIRE(r.status == 200);
    return r.json();
}

// "node start-finish" of a task, else its reason.
std::map<std::string, std::string> fates(const json &answer)
{
    std::map<std::string, std::string> fate;

    for (const char *list : {"schedule", "placements"})
        for (const json &row : answer.value(list, json::array()))
            fate[row["task_id"]] =
                row["resource_id"].get<std::string>() +
                (row.contains("finish_s") && !row["start_s"].is_null()
                     ? " " + std::to_string(row["start_s"].get<int>()) + "-" +
                           std::to_string(row["finish_s"].get<int>())
                     : "");
    for (const json &row : answer["unplaced"])
        fate[row["task_id"]] = row["reasons"][0]["reason"];
    return fate;
}

bool says(const json &answer, const std::string &warning)
{
    for (const json &w : answer["warnings"])
        if (w == warning)
            return true;
    return false;
}

using fate = std::map<std::string, std::string>;

} // namespace

TEST_CASE("tasks run where their user may", "[api][workflow][world]")
{
    json body = json::parse(R"({"snapshot": {"resources": [
            {"id": "n", "allowed": []}, {"id": "m", "allowed": ["user:ann"]},
            {"id": "q", "allowed": ["vo:x"]}]},
        "workflow": {"tasks": [{"id": "a", "estimate_ref_s": 4},
            {"id": "b", "estimate_ref_s": 4, "user": "ann"},
            {"id": "c", "estimate_ref_s": 4, "user": "bob", "organisations": ["x"]}]}})");
    CHECK(fates(decided(body)) ==
          fate{{"a", "unauthorised"}, {"b", "m 0-4"}, {"c", "q 0-4"}});
    body["algorithm"] = "balanced"; // a round
    CHECK(fates(decided(body)) == fate{{"a", "unauthorised"}, {"b", "m"}, {"c", "q"}});

    body = json::parse(R"({"snapshot": {"resources": [{"id": "n", "cpus": 2}],
            "partitions": [{"id": "p", "resource_ids": ["n"], "default": true,
                            "users_allowed": ["ann"]}]},
        "workflow": {"tasks": [{"id": "a", "estimate_s": 4, "user": "ann"},
                               {"id": "b", "estimate_s": 4}]}})");
    CHECK(fates(decided(body)) == fate{{"a", "n 0-4"}, {"b", "partition"}});
}

TEST_CASE("what plans of workflows do not look at is said", "[api][workflow][world]")
{
    json body = json::parse(R"({"snapshot": {"resources": [{"id": "n"}]},
        "workflows": [{"id": "u", "tasks": [{"id": "a", "estimate_ref_s": 4}]},
            {"id": "v", "tasks": [{"id": "b", "estimate_ref_s": 4, "weight": 1},
                {"id": "c", "estimate_ref_s": 4, "priority": 3, "weight": 0},
                {"id": "d", "estimate_ref_s": 4, "priority": -1, "preemptible": true}]}]})");
    for (const char *algorithm : {"heft", "auto", "balanced"}) {
        body["algorithm"] = algorithm;
        json answer = decided(body);
        INFO(answer["warnings"].dump());
        CHECK(says(answer, "ignored: priority of 2 tasks (first "
                           "/workflows/1/tasks/1/priority): tasks go by what depends on "
                           "them"));
        CHECK(says(answer,
                   "ignored: weight of 1 task (first "
                   "/workflows/1/tasks/1/weight): the objective is the makespan"));
        CHECK(says(answer,
                   "ignored: preemptible of 1 task (first "
                   "/workflows/1/tasks/2/preemptible): nothing is stopped for others"));
    }
}

TEST_CASE("tasks of a group spread, or keep apart in time", "[api][workflow][world]")
{
    json body = json::parse(R"({"snapshot": {"resources": [{"id": "n", "cpus": 4},
                                                           {"id": "m", "cpus": 4}]},
        "workflow": {"tasks": [{"id": "a", "estimate_ref_s": 4},
            {"id": "b", "estimate_ref_s": 4}, {"id": "c", "estimate_ref_s": 4}]}})");
    json &tasks = body["workflow"]["tasks"];
    auto group = [&](const char *text) {
        for (json &t : tasks)
            t["group"] = json::parse(text);
    };
    group(R"({"id": "g", "policy": "spread"})");
    CHECK(fates(decided(body)) ==
          fate{{"a", "n 0-4"}, {"b", "m 0-4"}, {"c", "group_spread"}});
    group(R"({"id": "g", "policy": "spread", "max_per_key": 2})");
    CHECK(fates(decided(body))["c"] == "m 0-4"); // n has two
    group(R"({"id": "g", "policy": "exclude"})");
    json answer = decided(body);
    CHECK(answer["objective"]["makespan_s"] == 8);

    // A member that runs counts where it is: for spread in the whole plan, for exclude
    // until its end.
    tasks[2].merge_patch(
        {{"status", "running"}, {"resource_id", "n"}, {"start_s", -1}, {"finish_s", 3}});
    group(R"({"id": "g", "policy": "spread"})");
    tasks[1]["depends_on"] = {"a"};
    fate found = fates(decided(body));
    CHECK(found["a"] == "m 0-4");
    CHECK(found["b"] == "group_spread");
    group(R"({"id": "g", "policy": "exclude"})");
    body["snapshot"]["resources"].erase(1);
    found = fates(decided(body));
    CHECK(found["a"] == "n 3-7");
    CHECK(found["b"] == "n 7-11");

    api a;
    group(R"({"id": "g", "policy": "gang"})");
    CHECK(a.post("/v1/workflow-schedules", body.dump()).pointers() ==
          std::vector<std::string>{"/workflow/tasks/1/depends_on"}); // b waits for a
    group(R"({"id": "g", "policy": "spread"})");
    tasks[0]["group"]["policy"] = "exclude"; // they do not agree
    CHECK(a.post("/v1/workflow-schedules", body.dump()).pointers() ==
          std::vector<std::string>{"/workflow/tasks/1/group/policy"});
    tasks[0]["group"]["policy"] = "spread";
    body["algorithm"] = "balanced"; // a round keeps them too
    CHECK(a.post("/v1/workflow-schedules", body.dump()).status == 200);
}

TEST_CASE("groups of tasks hold in random schedules", "[api][workflow][world][property]")
{
    std::mt19937 rng(3);
    auto below = [&](unsigned n) { return (unsigned)(rng() % n); };

    for (int round = 0; round < (is_shorter() ? 60 : 1000); round++) {
        json body, groups = json::array();
        unsigned nodes = 1 + below(3), count = 1 + below(6);
        for (unsigned i = 0; i < nodes; i++)
            body["snapshot"]["resources"].push_back({{"id", "n" + std::to_string(i)},
                                                     {"cpus", 1 + below(4)},
                                                     {"site_id", i % 2 ? "s" : "t"},
                                                     {"mips_total", 1 + below(2)}});
        for (unsigned g = 0; g < 2; g++)
            groups.push_back({{"id", "g" + std::to_string(g)},
                              {"policy", below(2) ? "spread" : "exclude"},
                              {"key", below(2) ? "site_id" : "resource_id"},
                              {"max_per_key", 1 + below(2)}});
        for (unsigned i = 0; i < count; i++) {
            json t = {{"id", "t" + std::to_string(i)},
                      {"estimate_ref_s", below(4) * 2},
                      {"group", groups[below(2)]}};
            if (i && below(2))
                t["depends_on"] = {"t" + std::to_string(below(i))};
            body["workflow"]["tasks"].push_back(t);
        }
        body["algorithm"] = below(2) ? "heft" : "auto";
        json answer = decided(body);
        INFO(body.dump() << "\n" << answer.dump());
        auto find = [](const json &list, const char *id, const json &value) {
            return *std::find_if(list.begin(), list.end(),
                                 [&](const json &x) { return x[id] == value; });
        };
        auto value = [&](const json &row, const json &g) {
            return g["key"] == "site_id" ? find(body["snapshot"]["resources"], "id",
                                                row["resource_id"])["site_id"]
                                         : row["resource_id"];
        };
        for (const json &row : answer["schedule"]) {
            json g = find(body["workflow"]["tasks"], "id", row["task_id"])["group"];
            unsigned beside = 0;
            double start = row["start_s"], finish = row["finish_s"];
            for (const json &other : answer["schedule"]) {
                bool member =
                    find(body["workflow"]["tasks"], "id", other["task_id"])["group"] == g;
                bool at = other["start_s"] <= start && start < other["finish_s"];
                if (member && value(row, g) == value(other, g) &&
                    (g["policy"] == "spread" || (at && finish > start)))
                    beside++;
            }
            CHECK(beside <= g["max_per_key"]);
        }
    }
}
