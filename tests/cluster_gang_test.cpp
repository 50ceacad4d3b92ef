// cluster_gang_test.cpp - gangs on a cluster: their jobs start together, or none.
#include "tests/api.hpp"

#include <random>

namespace
{

using nlohmann::json;

const char *const policies[] = {"slurm_backfill", "fcfs", "easy",     "easy_sjbf",
                                "conservative",   "sjf",  "first_fit"};

json node(const std::string &id, double cpus)
{
    return {{"id", id}, {"cpus", cpus}};
}

json job(const std::string &id, double submit_s, double limit_s, double cpus,
         const char *gang = nullptr)
{
    json made = {
        {"id", id}, {"submit_s", submit_s}, {"time_limit_s", limit_s}, {"cpus", cpus}};
    if (gang)
        made["group"] = {{"id", gang}, {"policy", "gang"}};
    return made;
}

json post(const char *path, const json &body, int status = 200)
{
    api service;
    api_reply r = service.post(path, body.dump());
    INFO(r.body.substr(0, 2000));
    REQUIRE(r.status == status);
    return r.json();
}

json decide(const char *policy, const json &cluster, const json &jobs)
{
    return post(
        "/v1/queue-orders",
        {{"algorithm", policy}, {"now_s", 0}, {"cluster", cluster}, {"jobs", jobs}});
}

json simulate(const char *policy, const json &nodes, json jobs)
{
    for (auto &j : jobs)
        if (!j.contains("run_time_s"))
            j["run_time_s"] = j["time_limit_s"];
    return post("/v1/simulations", {{"kind", "queue"},
                                    {"policies", json::array({policy})},
                                    {"per_job", true},
                                    {"cluster", {{"resources", nodes}}},
                                    {"jobs", jobs}});
}

} // namespace

TEST_CASE("a gang waits until all of it have room, and is planned at one time",
          "[api][cluster]")
{
    // n1 is taken until 100; a and b need a node each.
    json running = {{"id", "r"},
                    {"cpus", 4},
                    {"resource_ids", {"n1"}},
                    {"time_limit_s", 100},
                    {"elapsed_s", 0}};
    json cluster = {{"resources", {node("n1", 4), node("n2", 4)}},
                    {"running", json::array({running})}};
    json jobs = {job("a", -9, 120, 4, "g"), job("b", -8, 240, 4, "g"),
                 job("c", -7, 30, 4), job("d", -6, 500, 4)};

    for (const char *policy : {"slurm_backfill", "easy", "conservative"}) {
        json answer = decide(policy, cluster, jobs);
        INFO(policy << answer.dump(1));
        REQUIRE(answer["starts"].size() == 1); // in front of the plan
        CHECK(answer["starts"][0]["job_id"] == "c");
        std::map<std::string, json> waits;
        for (auto &w : answer["waiting"])
            waits[w["job_id"]] = w;
        REQUIRE(waits.size() == 3);
        CHECK(waits["a"]["estimated_start_s"] == 100);
        CHECK(waits["b"]["estimated_start_s"] == 100);
        CHECK(waits["a"]["planned_resource_ids"] != waits["b"]["planned_resource_ids"]);
        CHECK(waits["d"]["estimated_start_s"] > 100);
    }
    json first = decide("fcfs", cluster, jobs);
    CHECK(first["starts"].empty());
    CHECK(first["waiting"][0]["reason"] == "group_gang");
    CHECK(first["waiting"][1]["reason"] == "group_gang");
}

TEST_CASE("a gang that has room starts, one that never has is unplaced", "[api][cluster]")
{
    json cluster = {{"resources", json::array({node("n1", 4)})}};

    for (const char *policy : policies) {
        INFO(policy);
        json both =
            decide(policy, cluster, {job("a", 0, 9, 2, "g"), job("b", 0, 8, 2, "g")});
        CHECK(both["starts"].size() == 2);
        json never = decide(policy, cluster,
                            {job("a", 0, 9, 3, "g"), job("b", 0, 8, 2, "g"),
                             job("c", 0, 9, 4), job("d", 0, 9, 1, "alone")});
        REQUIRE(never["unplaced"].size() == 2); // by slurm_backfill, too
        CHECK(never["unplaced"][0]["reasons"][0]["reason"] == "group_gang");
        CHECK(never["starts"].size() == 1);
        // One of it is held: all wait.
        json held = {job("a", 0, 9, 2, "g"), job("b", 0, 8, 2, "g"), job("c", 1, 7, 2)};
        held[1]["held"] = true;
        json waits = decide(policy, cluster, held);
        REQUIRE(waits["starts"].size() == 1);
        CHECK(waits["starts"][0]["job_id"] == "c");
    }
    json spread = job("a", 0, 9, 1), tasks = job("b", 0, 9, 1, "g");
    spread["group"] = {{"id", "g"}, {"policy", "spread"}};
    tasks["array"] = {{"id", "b"}, {"task_ids", "0-1"}};
    json wrong = post("/v1/queue-orders",
                      {{"algorithm", "easy"},
                       {"now_s", 0},
                       {"cluster", cluster},
                       {"jobs", {spread, tasks}}},
                      422);
    REQUIRE(wrong["errors"].size() == 2);
    CHECK(wrong["errors"][0]["pointer"] == "/jobs/0/group/policy");
    CHECK(wrong["errors"][1]["pointer"] == "/jobs/1/group");
    wrong =
        post("/v1/simulations",
             {{"kind", "queue"},
              {"processors", 4},
              {"jobs", json::array({{{"run_time_s", 3},
                                     {"group", {{"id", "g"}, {"policy", "gang"}}}}})}},
             422);
    CHECK(wrong["errors"][0]["pointer"] == "/jobs/0/group");
}

TEST_CASE("gangs of a log start together and take no more than there is",
          "[api][cluster][property]")
{
    std::mt19937 draw(11);
    auto any = [&](int n) { return int(draw() % unsigned(n)); };

    for (int round = 0; round < 15; round++) {
        json jobs = json::array(), nodes = json::array();
        double total = 0;
        std::map<std::string, std::string> gang_of;

        for (int i = 0; i <= round % 3; i++) {
            nodes.push_back(node("n" + std::to_string(i), 2 + any(3)));
            total += nodes.back()["cpus"].get<double>();
        }
        for (int i = 0; i < 3 + 2 * round; i++) {
            std::string id = "j" + std::to_string(i), gang = "g" + std::to_string(any(4));
            bool is_one = any(2) == 0;
            json one = job(id, 5 * any(8), 10 + 30 * any(5), 1 + any(2),
                           is_one ? gang.c_str() : nullptr);

            one["run_time_s"] =
                any(3) ? one["time_limit_s"].get<double>() * any(3) / 2 : 0.0;
            if (is_one)
                gang_of[id] = gang;
            jobs.push_back(one);
        }
        for (const char *policy : policies) {
            json answer = simulate(policy, nodes, jobs);
            std::map<std::string, json> start_of;
            std::vector<std::pair<double, double>> changes;

            INFO(policy << " " << nodes.dump() << jobs.dump());
            for (auto &row : answer["results"][0]["jobs"]) {
                std::string id = row["job_id"];
                CHECK((row["outcome"] == "never") == row["start_s"].is_null());
                if (gang_of.count(id)) {
                    std::string gang = gang_of[id];
                    if (start_of.count(gang))
                        CHECK(start_of[gang] == row["start_s"]);
                    start_of[gang] = row["start_s"];
                } else
                    CHECK(!row["start_s"].is_null());
                if (row["start_s"].is_null())
                    continue;
                double p = row["processors"];
                changes.emplace_back(row["start_s"], p);
                changes.emplace_back(row["finish_s"], -p);
            }
            std::sort(changes.begin(), changes.end()); // ends first
            double used = 0;
            for (auto &c : changes) {
                used += c.second;
                CHECK(used <= total);
            }
        }
    }
}
