// cluster_api_test.cpp - /v1/queue-orders with a cluster: against recordings of a Slurm,
// and bad input.
#include "tests/api.hpp"

#include <fstream>
#include <set>

namespace
{

using nlohmann::json;

json recording(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/tests/data/engines/slurm/requests/" + name +
                     ".json");
    REQUIRE(in);
    std::stringstream text;
    text << in.rdbuf();
    return json::parse(text.str());
}

json decide(const json &body)
{
    api a;
    api_reply r = a.post("/v1/queue-orders", body.dump());
    INFO(r.body.substr(0, 3000));
    REQUIRE(r.status == 200);
    return r.json();
}

std::string row_id(const json &row)
{
    return row.count("array_id") ? row["array_id"].get<std::string>()
                                 : row["job_id"].get<std::string>();
}

struct comparison {
    size_t plans = 0, equal = 0, before = 0; // before: the first that differs
    std::string text;
};

comparison compare(const json &r)
{
    comparison made;
    json answer = decide(r["at_pass"]);
    std::map<std::string, std::vector<json>> ours;
    std::map<std::string, size_t> seen;
    bool all = true;

    for (const auto &row : answer["waiting"])
        if (!row["estimated_start_s"].is_null())
            ours[row_id(row)].push_back(row);
    for (const auto &plan : r["planned"]) {
        std::string id = std::to_string(plan["job_id"].get<long>());
        size_t k = seen[id]++;
        json mine;
        bool same = false;
        if (k < ours[id].size()) {
            mine = ours[id][k];
            std::vector<std::string> nodes;
            for (const auto &n : mine["planned_resource_ids"])
                nodes.push_back(n.get<std::string>());
            std::vector<std::string> theirs;
            for (const auto &n : plan["nodes"])
                theirs.push_back(n.get<std::string>());
            same = std::abs(mine["estimated_start_s"].get<double>() -
                            plan["start_s"].get<double>()) <= 1 &&
                   nodes == theirs;
        }
        all &= same;
        made.plans++;
        made.equal += same;
        made.before += all;
        if (!same)
            made.text += id + ": " + plan["start_s"].dump() + plan["nodes"].dump() + " " +
                         (k < ours[id].size() ? mine["estimated_start_s"].dump() +
                                                    mine["planned_resource_ids"].dump()
                                              : "none") +
                         "\n";
    }
    for (const auto &row : answer["starts"])
        made.text += "starts " + row["job_id"].get<std::string>() + "\n";
    return made;
}

} // namespace

TEST_CASE("plans are those of a recorded Slurm", "[api][cluster]")
{
    size_t plans = 0, equal = 0;
    for (const char *name : {"plan1", "plan2", "plan4", "plan5"}) {
        comparison c = compare(recording(name));
        INFO(name << ": " << c.equal << " of " << c.plans << ", " << c.before
                  << " before the first difference\n"
                  << c.text);
        if (std::string(name) == "plan1" || std::string(name) == "plan2")
            CHECK(c.equal == c.plans);
        else
            CHECK(c.equal >= c.plans * 2 / 3);
        plans += c.plans;
        equal += c.equal;
    }
    INFO(equal << " of " << plans);
    CHECK(double(equal) >= 0.88 * double(plans));
}

TEST_CASE("the queue's order is that in which Slurm tested its rows", "[api][cluster]")
{
    for (const char *name :
         {"plan1", "plan2", "plan4", "plan5", "live1", "live3", "live4"}) {
        json r = recording(name), answer = decide(r["at_pass"]);
        std::vector<std::string> ours, theirs;
        std::set<std::string> tested, there;
        for (const auto &id : r["tested"])
            tested.insert(std::to_string(id.get<long>()));
        for (const char *list : {"starts", "waiting"})
            for (const auto &row : answer[list])
                there.insert(row_id(row));
        // A job that starts is before all that wait, in the answer.
        for (const auto &row : answer["waiting"])
            if (tested.count(row_id(row)) &&
                std::find(ours.begin(), ours.end(), row_id(row)) == ours.end())
                ours.push_back(row_id(row));
        std::set<std::string> mine(ours.begin(), ours.end());
        for (const auto &id : r["tested"])
            if (mine.count(std::to_string(id.get<long>())))
                theirs.push_back(std::to_string(id.get<long>()));
        INFO(name);
        CHECK(ours == theirs);
        CHECK(ours.size() + 3 >= theirs.size());
    }
}

TEST_CASE("priorities and fair shares are those of a recorded Slurm", "[api][cluster]")
{
    size_t priorities = 0, shares = 0;
    for (const char *name :
         {"plan1", "plan2", "plan4", "plan5", "live1", "live3", "live4"}) {
        json r = recording(name), answer = decide(r["at_t0"]);
        std::map<std::string, json> users;
        for (const auto &job : r["at_t0"]["jobs"])
            users[job["id"].get<std::string>()] = job["user"];
        for (const auto &row : answer["waiting"]) {
            if (!row.count("priority_parts"))
                continue;
            std::string id = row_id(row);
            double told = row["priority_parts"]["fair_share_factor"].get<double>();
            double shown = r["fair_shares"][users[id].get<std::string>()].get<double>();
            INFO(name << " job " << id << " " << row.dump());
            CHECK(std::abs(told - shown) <= 1e-5);
            shares++;
            std::string key = id + " " + row["partition_id"].get<std::string>();
            if (!r["priorities"].count(key))
                continue;
            CHECK(std::abs(row["priority"].get<double>() -
                           r["priorities"][key].get<double>()) <= 1);
            priorities++;
        }
    }
    CHECK(priorities > 100);
    CHECK(shares > 100);
}

namespace
{

json small()
{
    return json::parse(R"({"cluster": {
        "resources": [{"id": "n1", "cpus": 4}, {"id": "n2", "cpus": 4, "features": ["big"]}],
        "partitions": [{"id": "p", "default": true, "time_limit_max_s": 3600}],
        "qos": [{"id": "normal"}], "accounts": [{"id": "a"}],
        "reservations": [{"id": "r", "start_s": 100, "end_s": 200, "resource_ids": ["n2"]}]
        }, "jobs": [{"id": "1", "time_limit_s": 60}]})");
}

api_reply post(const json &body)
{
    api a;
    return a.post("/v1/queue-orders", body.dump());
}

// Status, then the pointers of the mistakes.
std::string refused(const json &body)
{
    api_reply r = post(body);
    std::string text = std::to_string(r.status);
    if (r.status == 422)
        for (const auto &p : r.pointers())
            text += " " + p;
    return text;
}

json with_job(const char *members)
{
    json body = small();
    body["jobs"][0].merge_patch(json::parse(members));
    return body;
}

} // namespace

TEST_CASE("a cluster's queue is answered with nodes, parts and what is free",
          "[api][cluster]")
{
    json body = small();
    body["jobs"] = json::parse(R"([
        {"id": "1", "nodes": 2, "cpus": 4, "time_limit_s": 90},
        {"id": "2", "cpus": 4, "time_limit_s": 60, "features": "big"},
        {"id": "3", "array": {"id": "3", "task_ids": "0-3,9", "running_max": 1}, "held": true},
        {"id": "4", "time_limit_s": 7200}, {"id": "5", "after": ["1"], "time_limit_s": 60},
        {"id": "6", "after": [{"job_id": "77"}], "cpus": 2, "time_limit_s": 60}])");
    body["cluster"]["running"] = json::parse(
        R"([{"id": "0", "resource_ids": ["n1"], "cpus": 3, "expected_end_s": 5000}])");
    json answer = post(body).json();
    INFO(answer.dump(1));
    REQUIRE(answer["starts"].size() == 1);
    CHECK(answer["starts"][0]["job_id"] == "2");
    CHECK(answer["starts"][0]["resource_ids"][0] == "n2");
    CHECK(answer["starts"][0]["cpus_by_resource"][0] == 4);
    CHECK(answer["starts"][0]["time_limit_s"] == 60);
    std::map<std::string, json> waits;
    for (const auto &row : answer["waiting"])
        waits[row["job_id"].get<std::string>()] = row;
    CHECK(waits["1"]["reason"] == "processors");
    CHECK(waits["1"]["estimated_start_s"] == 5000);
    CHECK(waits["1"]["slurm_reason"] == "Resources");
    CHECK(waits["3_9"]["array_id"] == "3");
    CHECK(waits["3_9"]["reason"] == "held");
    CHECK(waits["5"]["reason"] == "dependency");
    CHECK(waits["6"]["reason"] == "processors");
    CHECK(waits["6"]["estimated_start_s"] == 60);
    CHECK(waits["6"]["blocking_job_id"] == "2");
    CHECK(waits.size() == 8);
    REQUIRE(answer["unplaced"].size() == 1);
    CHECK(answer["unplaced"][0]["reasons"][0]["reason"] == "partition_limit");
    CHECK(answer["free"][0]["cpus"] == 1);
    CHECK(answer["warnings"].size() == 2);
}

TEST_CASE("what is wrong with a cluster is told with its place", "[api][cluster]")
{
    CHECK(post(small()).status == 200);
    json body = small();
    body["processors"] = 4;
    CHECK(refused(body) == "422 /processors");
    body = small();
    body["snapshot_id"] = "s";
    CHECK(refused(body) == "422 /snapshot_id");
    body = small();
    body["cluster"]["partitions"][0]["resource_ids"] = json::parse(R"(["n1", "n3"])");
    CHECK(refused(body) == "422 /cluster/partitions/0/resource_ids/1");
    CHECK(refused(with_job(R"({"partition_ids": ["q"]})")) ==
          "422 /jobs/0/partition_ids");
    CHECK(refused(with_job(R"({"qos_id": "high"})")) == "422 /jobs/0/qos_id");
    CHECK(refused(with_job(R"({"account_id": "b"})")) == "422 /jobs/0/account_id");
    CHECK(refused(with_job(R"({"reservation_id": "x"})")) ==
          "422 /jobs/0/reservation_id");
    CHECK(refused(with_job(R"({"features": "a&b|c"})")) == "422 /jobs/0/features");
    CHECK(refused(with_job(R"({"features": "[a|b"})")) == "422 /jobs/0/features");
    CHECK(refused(with_job(R"({"tasks": 4, "cpus": 2})")) == "422 /jobs/0/tasks");
    for (const char *list : {"5-1", "0-10:0", "", "1,", "0-200000", "a", "1--2"})
        CHECK(refused(with_job(
                  (R"({"array": {"id": "7", "task_ids": ")" + std::string(list) + "\"}}")
                      .c_str())) == "422 /jobs/0/array/task_ids");
    CHECK(refused(with_job(R"({"after": ["1"]})")) == "422 /jobs/0/after");
    body = with_job(R"({"after": ["nobody"]})");
    CHECK(post(body).json()["warnings"].size() == 1);
    body["strict_dependencies"] = true;
    CHECK(refused(body) == "422 /jobs/0/after/0/job_id");
    body = small();
    body["cluster"]["policy_settings"] = json::parse(R"({"bf_resolution_s": 0})");
    CHECK(refused(body) == "422 /cluster/policy_settings/bf_resolution_s");
    body = small();
    body["options"] = json::parse(R"({"bf_window_s": 1})");
    CHECK(refused(body) == "422 /options/bf_window_s");
    body = small();
    body["algorithm"] = "easy";
    CHECK(refused(body) == "422 /algorithm");
    body = small();
    body["cluster"]["accounts"] =
        json::parse(R"([{"id": "a", "parent_id": "b"}, {"id": "b", "parent_id": "a"}])");
    CHECK(refused(body).substr(0, 24) == "422 /cluster/accounts/0/");
    CHECK(refused(json::parse(R"({"jobs": [{"id": "1", "processors": 1, "held": true}],
                                  "processors": 4})")) == "422 /jobs/0/held");
    CHECK(refused(json::parse(R"({"jobs": [], "processors": 4,
                                  "algorithm": "slurm_backfill"})")) == "422 /algorithm");
}

TEST_CASE("a cycle of dependencies is named", "[api][cluster]")
{
    json body = small();
    body["jobs"] = json::parse(R"([
        {"id": "x", "after": ["a"]}, {"id": "a", "after": ["b"]},
        {"id": "b", "after": ["c"]}, {"id": "c", "after": ["a"]}])");
    api_reply r = post(body);
    CHECK(r.status == 422);
    INFO(r.body);
    CHECK(r.body.find("a -> b -> c -> a") != std::string::npos);
}

TEST_CASE("no partition, one node, nothing waits", "[api][cluster]")
{
    json answer = post(json::parse(R"({"cluster": {"resources": [{"id": "n"}]},
                                       "jobs": []})"))
                      .json();
    CHECK(answer["status"] == "optimal");
    CHECK(answer["free"][0]["partition_id"] == "default");
    answer = post(json::parse(R"({"cluster": {"resources": []}, "jobs": [{"id": "j"}]})"))
                 .json();
    CHECK(answer["status"] == "infeasible");
}

namespace
{

// Why jobs do not run, by their ids: "unplaced qos", "processors", "starts".
std::map<std::string, std::string> outcomes(const json &body)
{
    json answer = decide(body);
    std::map<std::string, std::string> told;
    for (const auto &row : answer["starts"])
        told[row["job_id"].get<std::string>()] = "starts";
    for (const auto &row : answer["waiting"])
        told[row["job_id"].get<std::string>()] =
            row["reason"].get<std::string>() +
            (row["estimated_start_s"].is_null() ? ""
                                                : " " + row["estimated_start_s"].dump());
    for (const auto &row : answer["unplaced"])
        told[row["job_id"].get<std::string>()] =
            "unplaced " + row["reasons"][0]["reason"].get<std::string>();
    return told;
}

} // namespace

TEST_CASE("reservations and qualities of service have their users", "[api][cluster]")
{
    json body = small();
    body["now_s"] = 120;
    body["cluster"]["reservations"][0]["users_allowed"] =
        json::parse(R"(["root", "eva"])");
    body["cluster"]["qos"] = json::parse(R"([{"id": "normal"}, {"id": "high"}])");
    body["cluster"]["accounts"] = json::parse(
        R"([{"id": "a"}, {"id": "a/eva", "parent_id": "a", "user_id": "eva",
             "qos_ids": ["normal"], "default_qos_id": "normal"}])");
    body["jobs"] = json::parse(R"([
        {"id": "1", "user": "eva", "reservation_id": "r", "time_limit_s": 60},
        {"id": "2", "user": "tom", "reservation_id": "r", "time_limit_s": 60},
        {"id": "3", "user": "eva", "reservation_id": "r", "time_limit_s": 600},
        {"id": "4", "user": "eva", "account_id": "a", "qos_id": "high", "time_limit_s": 60},
        {"id": "5", "user": "eva", "nodes": 2, "time_limit_s": 600}])");
    auto told = outcomes(body);
    CHECK(told["1"] == "starts");
    CHECK(told["2"] == "unplaced reservation");
    CHECK(told["3"].substr(0, 3) != "sta");
    CHECK(told["4"] == "unplaced qos");
    CHECK(told["5"] == "reservation 241"); // the end rounded up, and a second

    body["cluster"]["reservations"][0]["flags"] = json::parse(R"(["daily"])");
    body["jobs"] =
        json::parse(R"([{"id": "6", "features": "big", "time_limit_s": 3600}])");
    body["now_s"] = 86400; // a hundred seconds before it comes again
    CHECK(outcomes(body)["6"] == "reservation 86641");
}

TEST_CASE("what runs and cannot be is told", "[api][cluster]")
{
    json body = small();
    body["now_s"] = 90;
    body["cluster"]["running"] = json::parse(R"([
        {"id": "a", "resource_ids": ["n1"], "cpus": 3, "expected_end_s": 80},
        {"id": "b", "resource_ids": ["n1"], "cpus": 3, "expected_end_s": 500},
        {"id": "c", "resource_ids": ["n2"], "cpus": 1}])");
    std::set<std::string> codes;
    json warnings = decide(body)["warnings"];
    for (const auto &w : warnings)
        codes.insert(w.get<std::string>().substr(0, w.get<std::string>().find(':')));
    CHECK(codes ==
          std::set<std::string>{"overcommitted", "overdue", "reserved", "unknown_end"});
}

TEST_CASE("amounts of a job by its tasks, cpus and defaults", "[api][cluster]")
{
    json body = json::parse(R"({"cluster": {"resources": [
        {"id": "n1", "cpus": 8, "memory_bytes": 8000, "threads_per_core": 2}],
        "partitions": [{"id": "p", "default": true, "memory_per_cpu_default_bytes": 500,
                        "memory_per_cpu_max_bytes": 1000}]}, "jobs": []})");
    auto cpus = [&](const char *job) {
        body["jobs"] = json::array({json::parse(job)});
        json answer = decide(body);
        return answer["starts"].size()
                   ? answer["starts"][0]["cpus_by_resource"][0].dump()
                   : answer["unplaced"][0]["reasons"][0]["reason"].dump();
    };
    CHECK(cpus(R"({"id": "1"})") == "2"); // a whole core
    CHECK(cpus(R"({"id": "1", "cpus": 3})") == "4");
    CHECK(cpus(R"({"id": "1", "tasks": 5})") == "6");
    CHECK(cpus(R"({"id": "1", "tasks_per_node": 2, "cpus_per_task": 3})") == "6");
    CHECK(cpus(R"({"id": "1", "memory_bytes": 5000})") == "6"); // 1000 a cpu at most
    CHECK(cpus(R"({"id": "1", "cpus": 8, "memory_bytes": 8001})") == "\"requirement\"");
    body["cluster"]["policy_settings"] = json::parse(R"({"select": "cpus"})");
    CHECK(cpus(R"({"id": "1", "cpus": 8, "memory_bytes": 8000})") == "8");
    CHECK(cpus(R"({"id": "1", "cpus": 3})") == "3");
}
