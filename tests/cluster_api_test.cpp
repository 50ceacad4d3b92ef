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

TEST_CASE("an account where there are none is said", "[api][cluster]")
{
    json body = small();

    body["jobs"][0]["account_id"] = "a";
    CHECK(post(body).json()["warnings"].empty());
    body["cluster"].erase("accounts");
    json answer = post(body).json();
    REQUIRE(answer["warnings"].size() == 1);
    CHECK(answer["warnings"][0].get<std::string>().find(
              "no_accounts: account_id of 1 job, first /jobs/0/account_id,") == 0);
}

TEST_CASE("what is wrong with a cluster is told with its place", "[api][cluster]")
{
    CHECK(post(small()).status == 200);
    json body = small();
    body["processors"] = 4;
    CHECK(refused(body) == "422 /cluster");
    body = small();
    body["snapshot_id"] = "s";
    CHECK(refused(body) == "422 /cluster");
    body = small();
    body["cluster"]["partitions"][0]["resource_ids"] = json::parse(R"(["n1", "n3"])");
    CHECK(refused(body) == "422 /cluster/partitions/0/resource_ids/1");
    for (const char *member : {"qos_id", "account_id", "partition_id"}) {
        body = small();
        body["cluster"]["running"] = json::parse(
            R"([{"id": "r", "resource_ids": ["n1"], "cpus": 1, "expected_end_s": 5000}])");
        body["cluster"]["running"][0][member] = "x";
        CHECK(refused(body) == std::string("422 /cluster/running/0/") + member);
    }
    CHECK(refused(with_job(R"({"partition_ids": ["q"]})")) ==
          "422 /jobs/0/partition_ids/0");
    CHECK(refused(with_job(R"({"qos_id": "high"})")) == "422 /jobs/0/qos_id");
    CHECK(refused(with_job(R"({"account_id": "b"})")) == "422 /jobs/0/account_id");
    CHECK(refused(with_job(R"({"reservation_id": "x"})")) ==
          "422 /jobs/0/reservation_id");
    for (const char *text :
         {"a&|b", "[a|b", "[a|b&c]", "(a", "a)", "(", "()", "a&", "*2", "a*0", "a|b*2",
          "a|[b|c]", "[a|b]&[c|d]", "((((((((((((((((((a))))))))))))))))))"}) {
        INFO(text);
        std::string members = R"({"features": ")" + std::string(text) + "\"}";
        CHECK(refused(with_job(members.c_str())) == "422 /jobs/0/features");
    }
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
    for (double odd : {-0.5, 0.0, 0.5}) { // -1, or from 1 on
        body["cluster"]["policy_settings"] = {{"bf_interval_s", odd}};
        CHECK(refused(body) == "422 /cluster/policy_settings/bf_interval_s");
    }
    body = small();
    body["options"] = json::parse(R"({"bf_window_s": 1})");
    CHECK(refused(body) == "422 /options/bf_window_s");
    body = small();
    body["algorithm"] = "easyy";
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

TEST_CASE("who is named and is not there is nearly somebody", "[api][cluster]")
{
    for (const char *members :
         {R"({"partition_ids": ["pp"]})", R"({"qos_id": "norml"})",
          R"({"resource_ids_required": ["n12"]})", R"({"account_id": "A"})"}) {
        json first = post(with_job(members)).json()["errors"][0];
        INFO(first.dump());
        CHECK(first["code"] == "unknown_id");
        CHECK(first.value("hint", "").substr(0, 13) == "did you mean ");
    }
}

TEST_CASE("of a partition's limits the first that keeps a job out is named",
          "[api][cluster]")
{
    json body = small();
    body["cluster"]["partitions"][0].update(json::parse(
        R"({"nodes_per_job_min": 2, "nodes_per_job_max": 2, "cpus_per_node_max": 2,
            "qos_allowed": ["normal"], "users_allowed": ["ann"]})"));
    struct {
        const char *job, *name;
        double value, asked; // < 0: a list
    } cases[] = {
        {R"({"time_limit_s": 3601, "nodes": 2})", "time_limit_max_s", 3600, 3601},
        {R"({"nodes": 1})", "nodes_per_job_min", 2, 1},
        {R"({"nodes": 3, "cpus": 3})", "nodes_per_job_max", 2, 3},
        {R"({"nodes": 2, "cpus": 3})", "cpus_per_node_max", 2, 3},
        {R"({"nodes": 2, "user": "ben"})", "users_allowed", -1, -1},
        {R"({"nodes": 2, "user": "ann"})", "qos_allowed", -1, -1},
    };
    for (auto &c : cases) {
        json job = json::parse(c.job);
        job["id"] = "1";
        if (!job.count("time_limit_s"))
            job["time_limit_s"] = 60;
        body["jobs"] = json::array({job});
        json answer = post(body).json();
        INFO(answer.dump());
        REQUIRE(answer["unplaced"].size() == 1);
        json why = answer["unplaced"][0]["reasons"][0];
        CHECK(why["reason"] == "partition_limit");
        CHECK(why["detail"].get<std::string>().find(c.name) == 0);
        CHECK(why.count("limit") == (c.value < 0 ? 0 : 1));
        if (c.value < 0)
            continue;
        CHECK(why["limit"]["scope"] == "partition");
        CHECK(why["limit"]["id"] == "p");
        CHECK(why["limit"]["name"] == c.name);
        CHECK(why["limit"]["value"] == c.value);
        CHECK(why["limit"]["used"] == c.asked);
    }
}

TEST_CASE("a partition's most memory of a node or a cpu keeps jobs out", "[api][cluster]")
{
    json body = {{"algorithm", "slurm_backfill"},
                 {"now_s", 0},
                 {"cluster",
                  {{"resources",
                    {{{"id", "n1"}, {"cpus", 4}, {"memory_bytes", 16e9}},
                     {{"id", "n2"}, {"cpus", 4}, {"memory_bytes", 16e9}}}},
                   {"partitions", {{{"id", "p"}, {"default", true}}}}}}};
    struct {
        const char *partition, *job, *name; // nullptr: it starts
        double value, asked;
    } cases[] = {
        {R"({"memory_per_node_max_bytes": 8e9})", R"({"memory_bytes": 9e9})",
         "memory_per_node_max_bytes", 8e9, 9e9},
        {R"({"memory_per_node_max_bytes": 8e9})", R"({"memory_bytes": 8e9})", nullptr, 0,
         0},
        {R"({"memory_per_node_max_bytes": 0})", R"({"memory_bytes": 9e9})", nullptr, 0,
         0},
        // as Slurm has it, who asks by the cpu may have more
        {R"({"memory_per_node_max_bytes": 8e9})",
         R"({"cpus": 4, "memory_per_cpu_bytes": 3e9})", nullptr, 0, 0},
        {R"({"memory_per_node_max_bytes": 8e9})", R"({"tasks": 3, "memory_bytes": 9e9})",
         "memory_per_node_max_bytes", 8e9, 9e9},
        // more memory for a cpu than there may be takes more cpus, if a node has them
        {R"({"memory_per_cpu_max_bytes": 2e9})", R"({"memory_bytes": 8e9})", nullptr, 0,
         0},
        {R"({"memory_per_cpu_max_bytes": 2e9})", R"({"memory_bytes": 9e9})",
         "memory_per_cpu_max_bytes", 2e9, 9e9},
        {R"({"memory_per_cpu_max_bytes": 2e9})",
         R"({"cpus": 2, "memory_per_cpu_bytes": 5e9})", "memory_per_cpu_max_bytes", 2e9,
         5e9},
    };
    for (auto &c : cases) {
        json job = json::parse(c.job);
        job["id"] = "1";
        job["time_limit_s"] = 60;
        body["jobs"] = json::array({job});
        body["cluster"]["partitions"][0] = {{"id", "p"}, {"default", true}};
        body["cluster"]["partitions"][0].update(json::parse(c.partition));
        json answer = post(body).json();
        INFO(c.partition << c.job << answer.dump());
        if (!c.name) {
            CHECK(answer["starts"].size() == 1);
            continue;
        }
        REQUIRE(answer["unplaced"].size() == 1);
        json why = answer["unplaced"][0]["reasons"][0];
        CHECK(why["reason"] == "partition_limit");
        CHECK(why["limit"]["name"] == c.name);
        CHECK(why["limit"]["amount"] == "memory_bytes");
        CHECK(why["limit"]["value"] == c.value);
        CHECK(why["limit"]["used"] == c.asked);
    }
    // No node has so much at all: it is not the partition.
    body["jobs"][0] = {{"id", "1"}, {"time_limit_s", 60}, {"memory_bytes", 17e9}};
    CHECK(post(body).json()["unplaced"][0]["reasons"][0]["reason"] == "requirement");
}

TEST_CASE("what jobs need and nothing of the cluster has is said", "[api][cluster]")
{
    json body = small();
    body["jobs"] = json::parse(
        R"([{"id": "1", "time_limit_s": 60},
            {"id": "2", "time_limit_s": 60, "needs": {"licence.x": 1}},
            {"id": "3", "time_limit_s": 60, "needs": {"licence.x": 0}},
            {"id": "4", "time_limit_s": 60, "needs": {"licence.x": 2}}])");
    json answer = post(body).json();

    INFO(answer.dump());
    CHECK(answer["unplaced"].size() == 2);
    CHECK(answer["warnings"].dump().find(
              "unknown_amount: 2 jobs, first /jobs/1/needs, need what no node and not "
              "the cluster has, as 'licence.x'") != std::string::npos);
    body["cluster"]["shared_capacities"] = {{"licence.x", 3}};
    CHECK(post(body).json()["warnings"].dump().find("unknown_amount") ==
          std::string::npos);
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

namespace
{

// Four nodes of 4 cpus, of which n1 to n3 are taken until 1000, 2000, 3000.
json settings_body(const char *settings)
{
    json body = json::parse(R"({"now_s": 0, "cluster": {"resources": [
        {"id": "n1", "cpus": 4, "sockets": 2, "cores_per_socket": 2}, {"id": "n2", "cpus": 4},
        {"id": "n3", "cpus": 4}, {"id": "n4", "cpus": 4}],
        "partitions": [{"id": "p", "default": true, "resource_ids": ["n1", "n2", "n3", "n4"]},
                       {"id": "q", "resource_ids": ["n4"]}],
        "running": [{"id": "a", "resource_ids": ["n1"], "cpus": 4, "expected_end_s": 1000},
                    {"id": "b", "resource_ids": ["n2"], "cpus": 4, "expected_end_s": 1020},
                    {"id": "c", "resource_ids": ["n3"], "cpus": 4, "expected_end_s": 3000}]
        }, "jobs": []})");
    body["algorithm"] = "slurm_backfill";
    body["options"] = json::parse(settings);
    for (int i = 1; i <= 4; i++) {
        json job = json::parse(R"({"cpus": 4, "time_limit_s": 600, "user": "u"})");
        job["id"] = std::to_string(i);
        body["jobs"].push_back(job);
    }
    return body;
}

// "starts", "1000", "-": without a plan; for jobs 1 to 4.
std::string starts(const json &body)
{
    std::string text;
    json answer = decide(body);
    std::map<std::string, std::string> told;
    for (const auto &row : answer["starts"])
        told[row["job_id"].get<std::string>()] = "starts";
    for (const auto &row : answer["waiting"])
        told[row["job_id"].get<std::string>()] =
            row["estimated_start_s"].is_null() ? "-" : row["estimated_start_s"].dump();
    for (auto &[id, what] : told)
        text += what + " ";
    return text;
}

} // namespace

TEST_CASE("each setting of slurm_backfill does what it says", "[api][cluster]")
{
    struct {
        const char *settings, *want;
    } cases[] = {
        {"{}", "starts 600 1020 1020 "},
        {R"({"bf_end_grouping": false})", "starts 600 1000 1020 "},
        {R"({"bf_interval_s": -1})", "starts - - - "},
        {R"({"bf_max_job_test": 2})", "starts 600 1020 - "},
        {R"({"bf_max_job_user": 1})", "starts 600 - - "},
        {R"({"bf_max_job_user_part": 1})", "starts 600 - - "},
        {R"({"bf_max_job_part": 2})", "starts 600 1020 - "},
        {R"({"bf_window_s": 900})", "starts 600 - - "},
        {R"({"bf_resolution_s": 300})", "starts 600 1020 1020 "},
        {R"({"bf_window_linear_s": 5})", "starts 600 1020 1020 "},
        {R"({"sched_max_job_start": 1})", "starts 600 1020 1020 "},
        {R"({"partition_job_depth": 1})", "starts 600 1020 1020 "},
        {R"({"bf_max_job_array_resv": 0})", "starts 600 1020 1020 "},
        {R"({"strict_reservations": true})", "starts 600 1020 1020 "},
        {R"({"reserve_whole_nodes": false})", "starts 600 1020 1020 "},
        // Without effect on the present.
        {R"({"sched_interval_s": 5, "sched_min_interval_s": 2, "default_queue_depth": 1,
             "defer": true, "kill_wait_s": 5, "over_time_limit_s": 60,
             "requeue_delay_s": 5, "bf_running_job_reserve": true,
             "preempt_exempt_s": 7})",
         "starts 600 1020 1020 "},
    };
    for (const auto &c : cases) {
        INFO(c.settings);
        CHECK(starts(settings_body(c.settings)) == c.want);
        json body = settings_body("{}");
        body["cluster"]["policy_settings"] = json::parse(c.settings);
        CHECK(starts(body) == c.want);
    }
}

TEST_CASE("settings that one decision does not see are told", "[api][cluster]")
{
    json body = {{"algorithm", "slurm_backfill"},
                 {"now_s", 1000},
                 {"cluster", {{"resources", {{{"id", "n1"}, {"cpus", 4}}}}}},
                 {"jobs", {{{"id", "j"}, {"time_limit_s", 60}}}}};
    api a;
    auto warned = [&] {
        api_reply r = a.post("/v1/queue-orders", body.dump());
        INFO(r.body);
        REQUIRE(r.status == 200);
        json answer = r.json();
        std::string text;
        for (const json &w : answer["warnings"])
            if (w.get<std::string>().rfind("without_effect", 0) == 0)
                text = w;
        return text;
    };
    CHECK(warned().empty());
    body["cluster"]["policy_settings"] = {{"sched_interval_s", 60},
                                          {"bf_window_s", 3600}};
    CHECK(warned().empty()); // as by default; with an effect
    body["cluster"]["policy_settings"]["kill_wait_s"] = 60;
    body["cluster"]["policy_settings"]["defer"] = true;
    CHECK(warned() == "without_effect: 2 settings of the policy, first "
                      "/cluster/policy_settings/kill_wait_s, say what happens between "
                      "decisions; this one does not see them");
    body["cluster"].erase("policy_settings");
    body["cluster"]["partitions"] = {{{"id", "p"}},
                                     {{"id", "q"}, {"over_time_limit_s", 60}}};
    body["jobs"][0]["partition_ids"] = {"p"};
    CHECK(warned().find("1 setting of the policy, first "
                        "/cluster/partitions/1/over_time_limit_s") != std::string::npos);
    body["options"] = {{"over_time_limit_s", 30}};
    CHECK(warned().find("over_time_limit_s") != std::string::npos);
}

TEST_CASE("members of a cluster that change nothing are told", "[api][cluster]")
{
    json body = json::parse(R"({"algorithm": "slurm_backfill", "now_s": 1000,
        "cluster": {"resources": [{"id": "n1", "cpus": 4}]},
        "jobs": [{"id": "j", "time_limit_s": 60}]})");
    json &cluster = body["cluster"];
    auto warned = [&] {
        std::vector<std::string> list;
        json warnings = decide(body)["warnings"];
        for (const json &w : warnings)
            list.push_back(w);
        return list;
    };
    auto of = [&](const char *priority) {
        cluster["policy_settings"] = {{"priority", json::parse(priority)}};
        std::vector<std::string> list = warned();
        if (list.empty())
            return std::string();
        CHECK(list.size() == 1);
        const std::string head = "without_effect: ";
        CHECK(list[0].rfind(head, 0) == 0);
        return list[0].substr(head.size(), 1) +
               list[0].substr(list[0].find("first ") + 5);
    };
    CHECK(of(R"({"weight_age": 1, "weight_job_size": 1, "weight_tres": {"cpus": 1}})") ==
          "");
    CHECK(of(R"({"weight_assoc": 1})") ==
          "1 weight_assoc: associations have no factor of their own here");
    CHECK(of(R"({"weight_assoc": 1, "weight_fair_share": 1, "weight_partition": 1,
                 "weight_qos": 1})")
              .substr(0, 14) == "4 weight_assoc");
    CHECK(of(R"({"weight_fair_share": 1})") ==
          "1 weight_fair_share: the cluster has no accounts");
    CHECK(of(R"({"weight_partition": 1})") ==
          "1 weight_partition: no partition has a priority_factor");
    CHECK(of(R"({"weight_qos": 1})") ==
          "1 weight_qos: no quality of service has a priority");
    CHECK(of(R"({"weight_tres": {"gpus": 1}})").substr(0, 18) == "1 weight_tres/gpus");
    CHECK(of(R"({"weight_tres": {"gpus": 0, "nodes": 1, "memory_bytes": 1}})") == "");
    CHECK(of(R"({"accrue_always": true, "favor_small": true,
                 "small_relative_to_time": true, "fair_share": "classic",
                 "damping": 2})") == "5 accrue_always: age has no weight");
    CHECK(of(R"({"type": "basic", "weight_age": 1, "weight_tres": {"cpus": 1}})") ==
          "2 weight_age: type basic goes by submission alone");
    CHECK(of(R"({"decay_half_life_s": 5, "calc_period_s": 5})") ==
          "2 /cluster/policy_settings/priority/decay_half_life_s, say what happens "
          "between decisions; this one does not see them");
    cluster["accounts"] = json::parse(R"([{"id": "a"}])");
    cluster["qos"] = json::parse(R"([{"id": "q", "priority": 1}])");
    cluster["partitions"] = json::parse(R"([{"id": "p", "default": true,
                                             "priority_factor": 1}])");
    CHECK(of(R"({"weight_fair_share": 1, "weight_partition": 1, "weight_qos": 1,
                 "fair_share": "classic", "damping": 2})") == "");
    cluster["qos"][0]["usage_factor"] = 2;
    CHECK(of("{}").find("1 /cluster/qos/0/usage_factor, says what happens between") == 0);

    cluster["qos"] = json::parse(R"([{"id": "q", "flags": ["no_reserve", "no_decay"]},
                                     {"id": "r", "flags": ["x"], "preempts": ["q"]}])");
    cluster["policy_settings"] = json::object();
    CHECK(warned() ==
          std::vector<std::string>{"without_effect: 1 member about preemption, first "
                                   "/cluster/qos/1/preempts: preempt_mode is off",
                                   "without_effect: 2 flags, first 'no_decay' of "
                                   "/cluster/qos/0/flags/1, do nothing here"});
    cluster["qos"][0].erase("flags");
    cluster["qos"][1].erase("flags");
    cluster["policy_settings"] = {{"preempt_mode", "requeue"}, {"preempt_exempt_s", 9}};
    CHECK(warned() == std::vector<std::string>{
                          "without_effect: 3 members about preemption, first "
                          "/cluster/policy_settings/preempt_mode: preempt_type is none"});
    cluster["policy_settings"]["preempt_type"] = "partition_prio";
    CHECK(warned() ==
          std::vector<std::string>{"without_effect: 1 member about preemption, first "
                                   "/cluster/qos/1/preempts: preempt_type is not qos"});
    cluster["policy_settings"]["preempt_type"] = "qos";
    CHECK(warned().empty());

    body["algorithm"] = "easy";
    CHECK(warned() ==
          std::vector<std::string>{"without_effect: 2 settings, first "
                                   "/cluster/policy_settings/preempt_exempt_s, are of "
                                   "slurm_backfill; easy does not read them"});
    cluster["policy_settings"] = {{"select", "cpus"}};
    cluster["qos"][1].erase("preempts");
    CHECK(warned().empty());
}

TEST_CASE("settings that need accounts, arrays, limits or reservations", "[api][cluster]")
{
    json body = settings_body(R"({"bf_max_job_assoc": 1})");
    body["cluster"]["accounts"] = json::parse(R"([{"id": "a"}])");
    for (int i = 0; i < 4; i++)
        body["jobs"][i]["account_id"] = "a";
    CHECK(starts(body) == "starts 600 - - ");

    body = settings_body(R"({"bf_max_job_array_resv": 1})");
    body["jobs"] = json::parse(
        R"([{"id": "0", "array": {"id": "0", "task_ids": "1-4"}, "cpus": 4,
             "time_limit_s": 600}])");
    CHECK(starts(body) == "starts 600 - - ");

    // A limit passes the row over, or closes its partition.
    body = settings_body(R"({"assoc_limit_stop": false, "bf_interval_s": -1})");
    body["cluster"]["accounts"] =
        json::parse(R"([{"id": "a", "user_id": "u", "limits": {"wall_s_max": 500}}])");
    body["jobs"][1]["user"] = "v";
    CHECK(starts(body) == "- starts - - ");
    body["options"]["assoc_limit_stop"] = true;
    CHECK(starts(body) == "- - - - ");

    // Job 1 starts by backfill when the main loop may start nobody... and that once.
    body = settings_body(R"({"bf_max_job_start": 1})");
    body["cluster"]["running"] = json::array();
    body["jobs"][0]["nodes"] = 5; // can never run, and closes nothing
    body["jobs"][1]["partition_ids"] = json::parse(R"(["q"])");
    CHECK(starts(body) == "starts starts starts ");

    // On n1, which is reserved from 1200 on, job 1 would end behind 1200.
    body = settings_body("{}");
    body["cluster"]["reservations"] = json::parse(
        R"([{"id": "r", "start_s": 1200, "end_s": 5000, "accounts_allowed": [],
             "resource_ids": ["n1"]}])");
    body["jobs"] = json::array({body["jobs"][0]});
    body["jobs"][0]["resource_ids_required"] = json::parse(R"(["n1"])");
    CHECK(starts(body) == "1020 "); // as Slurm plans
    body["options"]["strict_reservations"] = true;
    CHECK(starts(body) == "5041 ");
    body["jobs"][0].erase("resource_ids_required");
    body["jobs"][0]["resource_ids_excluded"] = json::parse(R"(["n1", "n4"])");
    CHECK(starts(body) == "1020 ");
}

TEST_CASE("limits by name, and rights of partitions", "[api][cluster]")
{
    struct {
        const char *limits, *name;
    } cases[] = {
        {R"({"jobs_running_max": 1})", "jobs_running_max"},
        {R"({"jobs_running_per_user_max": 1})", "jobs_running_per_user_max"},
        {R"({"jobs_running_per_account_max": 1})", "jobs_running_per_account_max"},
        {R"({"wall_s_max": 599})", "wall_s_max"},
        {R"({"group": {"jobs_running": 1}})", "group"},
        {R"({"group": {"cpus": 5}})", "group"},
        {R"({"group": {"nodes": 1}})", "group"},
        {R"({"group": {"cpu_s_running": 6399}})", "group"},
        {R"({"group": {"cpu_s": 6399}})", "group"},
        {R"({"per_job": {"cpus": 3}})", "per_job"},
        {R"({"per_user": {"cpus": 7}})", "per_user"},
        {R"({"per_node": {"cpus": 3}})", "per_node"},
        {R"({"jobs_submitted_max": 1})", ""},
    };
    for (const auto &c : cases)
        for (const char *scope : {"qos", "partition_qos", "account", "partition"}) {
            json body = settings_body("{}");
            json &cluster = body["cluster"];
            cluster["accounts"] = json::parse(R"([{"id": "a"}])");
            cluster["qos"] =
                json::parse(R"([{"id": "x", "usage_factor": 2}, {"id": "y"}])");
            // One job runs for each scope.
            cluster["running"] = json::parse(
                R"([{"id": "r", "resource_ids": ["n1"], "cpus": 4, "user": "u",
                     "account_id": "a", "qos_id": "x", "partition_id": "p",
                     "expected_end_s": 1000, "exclusive_user": true}])");
            cluster["partitions"][0]["qos_id"] = "y";
            if (scope == std::string("qos"))
                cluster["qos"][0]["limits"] = json::parse(c.limits);
            else if (scope == std::string("partition_qos"))
                cluster["qos"][1]["limits"] = json::parse(c.limits);
            else if (scope == std::string("account"))
                cluster["accounts"][0]["limits"] = json::parse(c.limits);
            else
                cluster["partitions"][0]["limits"] = json::parse(c.limits);
            body["jobs"] = json::array({body["jobs"][0]});
            body["jobs"][0].merge_patch(
                json::parse(R"({"account_id": "a", "qos_id": "x"})"));
            json answer = decide(body);
            INFO(c.limits << " " << scope << " " << answer.dump(1));
            if (!*c.name) {
                CHECK(answer["starts"].size() == 1);
                continue;
            }
            REQUIRE(answer["waiting"].size() == 1);
            CHECK(answer["waiting"][0]["reason"] == "limit");
            CHECK(answer["waiting"][0]["limit"]["scope"] == scope);
            CHECK(answer["waiting"][0]["limit"]["name"] == c.name);
        }

    struct {
        const char *partition, *job, *want;
    } rights[] = {
        {R"({"accounts_allowed": ["a"]})", R"({"account_id": "b"})", "unplaced"},
        {R"({"accounts_allowed": ["a"]})", R"({"account_id": "aa"})", "starts"},
        {R"({"accounts_denied": ["a"]})", R"({"account_id": "aa"})", "unplaced"},
        {R"({"accounts_denied": ["a"]})", R"({"account_id": "b"})", "starts"},
        {R"({"qos_allowed": ["x"]})", R"({"qos_id": "x"})", "starts"},
        {R"({"qos_allowed": ["x"]})", "{}", "unplaced"},
        {R"({"nodes_per_job_min": 2})", "{}", "unplaced"},
        {R"({"cpus_per_node_max": 3})", "{}", "unplaced"},
        {R"({"time_limit_max_s": 500})", "{}", "unplaced"},
        {R"({"time_limit_default_s": 100, "time_limit_max_s": 500})",
         R"({"time_limit_s": null})", "starts"},
        {R"({"memory_per_node_default_bytes": 1000})", "{}", "unplaced"},
        {R"({"memory_per_node_default_bytes": 1000})", R"({"memory_bytes": 10})",
         "starts"},
        {"{}", R"({"cpus": 2, "memory_per_cpu_bytes": 300})", "unplaced"},
        {"{}", R"({"cpus": 1, "memory_per_cpu_bytes": 300})", "starts"},
        {R"({"state": "inactive"})", "{}", "partition_down"},
        {R"({"sharing": "exclusive"})", R"({"cpus": 1})", "starts"},
    };
    for (const auto &c : rights) {
        json body = settings_body("{}");
        for (int i = 0; i < 4; i++)
            body["cluster"]["resources"][i]["memory_bytes"] = 500;
        body["cluster"]["accounts"] =
            json::parse(R"([{"id": "a"}, {"id": "aa", "parent_id": "a"}, {"id": "b"}])");
        body["cluster"]["qos"] = json::parse(R"([{"id": "x"}])");
        body["cluster"]["partitions"][0].merge_patch(json::parse(c.partition));
        body["jobs"] = json::array({body["jobs"][0]});
        body["jobs"][0].merge_patch(json::parse(c.job));
        INFO(c.partition << " " << c.job);
        CHECK(outcomes(body)["1"].substr(0, strlen(c.want)) == c.want);
    }
}

TEST_CASE("jobs that share, depend and stretch", "[api][cluster]")
{
    json body = settings_body("{}");
    body["cluster"]["running"] = json::parse(
        R"([{"id": "a", "resource_ids": ["n1"], "cpus": 1, "user": "v",
             "exclusive_user": true, "name": "lone", "expected_end_s": 1000}])");
    auto one = [&](const char *job) {
        body["jobs"] = json::array({json::parse(job)});
        json answer = decide(body);
        if (answer["unplaced"].size())
            return "unplaced " +
                   answer["unplaced"][0]["reasons"][0]["reason"].get<std::string>();
        if (!answer["starts"].size())
            return answer["waiting"][0]["slurm_reason"].get<std::string>();
        return answer["starts"][0]["resource_ids"].dump();
    };
    CHECK(one(R"({"id": "1", "user": "u"})") == R"(["n2"])");
    CHECK(one(R"({"id": "1", "user": "v"})") == R"(["n1"])");
    CHECK(one(R"({"id": "1", "nodes": 2, "nodes_max": 3})") == R"(["n2","n3","n4"])");
    CHECK(one(R"({"id": "1", "nodes": 3, "nodes_max": 9, "exclusive_user": true})") ==
          R"(["n2","n3","n4"])");
    CHECK(one(R"({"id": "1", "user": "v", "name": "lone", "singleton": true})") ==
          "Dependency");
    CHECK(one(R"({"id": "1", "user": "u", "name": "lone", "singleton": true})") ==
          R"(["n2"])");
    CHECK(one(R"({"id": "1", "held": true, "held_by": "admin"})") == "JobHeldAdmin");
    CHECK(one(R"({"id": "1", "site_factor": 5, "requeue": false, "comment": "c"})") ==
          R"(["n2"])");
    body["finished_jobs"] =
        json::parse(R"([{"id": "x", "ok": false}, {"id": "y", "ok": true}])");
    CHECK(one(R"({"id": "1", "after": ["x"]})") == "unplaced dependency_never");
    CHECK(one(R"({"id": "1", "after": ["x"], "kill_on_invalid_dependency": false})") ==
          "DependencyNeverSatisfied");
    CHECK(one(R"({"id": "1", "after": [{"job_id": "x", "kind": "notok"}]})") ==
          R"(["n2"])");
    CHECK(one(R"({"id": "1", "after": [{"job_id": "y", "kind": "notok"}]})") ==
          "unplaced dependency_never");
    CHECK(one(R"({"id": "1", "after": ["a", "y"]})") == "Dependency");
    CHECK(one(R"({"id": "1", "after": ["a", "y"], "after_mode": "any"})") == R"(["n2"])");
    CHECK(one(R"({"id": "1", "after": [{"job_id": "a", "kind": "start"}]})") ==
          R"(["n2"])");
    CHECK(one(R"({"id": "1", "after": [{"job_id": "a", "kind": "start",
                                        "delay_s": 60}]})") == "Dependency");
    CHECK(one(R"({"id": "1", "nodes": 4, "time_limit_s": 7200, "time_limit_min_s": 60,
                  "cpus": 4})") == "Resources");
    // Two jobs on one cpu, where a partition lets them.
    body["cluster"]["partitions"][1].merge_patch(
        json::parse(R"({"sharing": "force", "shared_jobs_max": 2,
                        "preemptible_by_tier": false})"));
    body["cluster"]["running"] = json::parse(
        R"([{"id": "a", "resource_ids": ["n4"], "cpus": 4, "expected_end_s": 1000}])");
    CHECK(one(R"({"id": "1", "cpus": 4, "partition_ids": ["q"]})") == R"(["n4"])");
    CHECK(one(R"({"id": "1", "cpus": 8, "partition_ids": ["q"]})") ==
          "unplaced requirement");
}

TEST_CASE("how priorities are reckoned can be said", "[api][cluster]")
{
    auto of = [](const char *priority) {
        json body = settings_body("{}");
        body["now_s"] = 1000;
        body["cluster"]["policy_settings"]["priority"] = json::parse(priority);
        for (int i = 0; i < 4; i++) {
            body["jobs"][i]["submit_s"] = 0;
            body["jobs"][i]["eligible_s"] = 500;
            body["jobs"][i]["nodes"] = 4;
        }
        return decide(body)["waiting"][0]["priority"].get<double>();
    };
    CHECK(of(R"({"weight_age": 1000, "max_age_s": 2000})") == 250);
    CHECK(of(R"({"weight_age": 1000, "max_age_s": 2000, "accrue_always": true})") == 500);
    CHECK(of(R"({"weight_job_size": 100})") == 100);
    CHECK(of(R"({"weight_job_size": 100, "favor_small": true})") == 1);
    CHECK(of(R"({"weight_job_size": 1000, "small_relative_to_time": true})") == 100);
    CHECK(of(R"({"weight_tres": {"nodes": 40, "cpus": 2}})") == 42);
    CHECK(of(R"({"type": "basic"})") == 4);
    CHECK(of(R"({"weight_assoc": 100, "calc_period_s": 60, "decay_half_life_s": 100,
                 "damping": 2, "fair_share": "classic"})") == 1);
}

TEST_CASE("what is stopped for others is told", "[api][cluster]")
{
    json body = settings_body("{}");
    body["cluster"]["qos"] = json::parse(
        R"([{"id": "low", "grace_s": 30}, {"id": "high", "preempts": ["low"]}])");
    body["cluster"]["running"][0]["qos_id"] = "low";
    body["cluster"]["running"][0]["elapsed_s"] = 40;
    for (int i = 0; i < 4; i++)
        body["jobs"][i]["qos_id"] = "high";
    body["cluster"]["policy_settings"] =
        json::parse(R"({"preempt_type": "qos", "preempt_mode": "requeue"})");
    json answer = decide(body);
    REQUIRE(answer["preemptions"].size() == 1);
    json told = answer["preemptions"][0];
    CHECK(told["job_id"] == "2");
    CHECK(told["stop"][0] == "a");
    CHECK(told["resource_ids"][0] == "n1");
    CHECK(told["mode"] == "requeue");
    CHECK(told["lost_s"] == 40);
    CHECK(told["grace_s"] == 30);
    // A quality of service may say otherwise.
    body["cluster"]["qos"][0]["preempt_mode"] = "cancel";
    CHECK(decide(body)["preemptions"].size() == 1);
    CHECK(decide(body)["preemptions"][0]["mode"] == "cancel");
    body["cluster"]["qos"][0]["preempt_mode"] = "off";
    CHECK(!decide(body).contains("preemptions"));
    body["cluster"]["qos"][0].erase("preempt_mode");
    body["cluster"]["policy_settings"]["preempt_mode"] = "off";
    CHECK(!decide(body).contains("preemptions"));
    // By tiers.
    body["cluster"]["policy_settings"] =
        json::parse(R"({"preempt_type": "partition_prio", "preempt_mode": "cancel"})");
    body["cluster"]["running"][0]["partition_id"] = "q";
    body["cluster"]["partitions"][0]["priority_tier"] = 5;
    CHECK(decide(body)["preemptions"][0]["mode"] == "cancel");
    body["cluster"]["partitions"][1]["preemptible_by_tier"] = false;
    CHECK(!decide(body).contains("preemptions"));
}

TEST_CASE("a time limit cuts the plans; those made are told", "[api][cluster]")
{
    json body =
        json::parse(R"({"algorithm": "slurm_backfill", "cluster": {"resources": []},
        "jobs": [], "options": {"bf_max_job_test": 1000000, "bf_window_s": 2592000}})");
    for (int i = 0; i < 300; i++)
        body["cluster"]["resources"].push_back(
            {{"id", "n" + std::to_string(i)}, {"cpus", 8}});
    for (int i = 0; i < 2500; i++)
        body["jobs"].push_back({{"id", std::to_string(i)},
                                {"nodes", 1 + i * 7 % 40},
                                {"cpus", 1 + i % 8},
                                {"time_limit_s", 600 + i * 37 % 7200}});
    body["time_limit_s"] = 0.05;
    json answer = decide(body);
    CHECK(answer["status"] == "cut");
    CHECK(answer["starts"].size() + answer["waiting"].size() == 2500);
    CHECK(answer["starts"].size() > 0);
    CHECK(answer["waiting"].back()["reason"] == "time_limit");
    CHECK(answer["timings"]["decide_s"].get<double>() < 10);
    body.erase("time_limit_s");
    body["jobs"].erase(size_t{400});
    answer = decide(body);
    CHECK(answer["status"] == "feasible");
    for (const auto &row : answer["waiting"])
        CHECK(row["reason"] != "time_limit");
}

TEST_CASE("the example has a chart", "[api][cluster]")
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/queue-slurm_backfill.json");
    json body = json::parse(in);
    api a;
    api_reply r =
        a.call("POST", "/v1/queue-orders", body.dump(), {{"accept", "image/svg+xml"}});
    CHECK(r.status == 200);
    CHECK(r.body.substr(0, 200).find("<svg") != std::string::npos);
}

TEST_CASE("features are joined by and, or, brackets and parentheses", "[cluster]")
{
    api a;
    auto nodes = [&](const std::string &text, int count) {
        api_reply r = a.post(
            "/v1/queue-orders",
            R"({"algorithm": "slurm_backfill", "now_s": 0, "cluster": {"resources": [
                {"id": "a", "cpus": 1, "features": ["a"]},
                {"id": "b", "cpus": 1, "features": ["b"]},
                {"id": "ac", "cpus": 1, "features": ["a", "c"]},
                {"id": "bc", "cpus": 1, "features": ["b", "c"]},
                {"id": "c", "cpus": 1, "features": ["c"]}]},
                "jobs": [{"id": "j", "cpus": 1, "time_limit_s": 9, "nodes": )" +
                std::to_string(count) + R"(, "features": ")" + text + "\"}]}");
        json starts = r.json().at("starts");

        return starts.empty() ? "none" : starts.at(0).at("resource_ids").dump();
    };

    CHECK(nodes("a&c", 1) == R"(["ac"])");
    CHECK(nodes("a&c", 2) == "none");
    CHECK(nodes("a|b", 2) == R"(["a","b"])");
    CHECK(nodes("(a|b)&c", 2) == R"(["ac","bc"])");
    CHECK(nodes("c&(a|b)", 2) == R"(["ac","bc"])");
    CHECK(nodes("a&c|b", 3) == R"(["b","ac","bc"])"); // from left to right
    CHECK(nodes("b|a&c", 3) == "none");
    CHECK(nodes("b|a&c", 2) == R"(["ac","bc"])");
    CHECK(nodes("[a|b]", 2) == R"(["a","ac"])"); // the same for both
    CHECK(nodes("c&[a|b]", 1) == R"(["ac"])");
    CHECK(nodes("[a|b]&c", 2) == "none");
    CHECK(nodes("[a*1&b*1]", 2) == R"(["a","b"])");
    CHECK(nodes("((a|b)&c)*2", 2) == R"(["ac","bc"])");
}
