// cluster_simulation_test.cpp - simulations of kind "queue" with a cluster.
#include "tests/api.hpp"

#include <random>

namespace
{

using nlohmann::json;

json node(const std::string &id, double cpus)
{
    return {{"id", id}, {"cpus", cpus}};
}

json job(const std::string &id, double submit_s, double run_s, double limit_s,
         const json &more = json::object())
{
    json made = {{"id", id},
                 {"submit_s", submit_s},
                 {"run_time_s", run_s},
                 {"time_limit_s", limit_s}};
    made.update(more);
    return made;
}

json waits_for(const char *id, const char *kind, double delay_s = 0)
{
    json after = {{"job_id", id}, {"kind", kind}, {"delay_s", delay_s}};
    return {{"after", json::array({after})}};
}

json simulate(const json &body)
{
    api service;
    api_reply r = service.post("/v1/simulations", body.dump());
    INFO(r.body.substr(0, 2000));
    REQUIRE(r.status == 200);
    return r.json();
}

std::vector<std::string> refused(const json &body)
{
    api service;
    api_reply r = service.post("/v1/simulations", body.dump());
    INFO(r.body.substr(0, 2000));
    CHECK(r.status == 422);
    return r.pointers();
}

// Start of each job by one policy; null: never.
std::map<std::string, json> starts(const json &body)
{
    std::map<std::string, json> list;
    json answer = simulate(body);
    for (const json &row : answer["results"][0]["jobs"])
        list[row["job_id"].get<std::string>()] = row["start_s"];
    return list;
}

json base(const char *policy, const json &nodes, const json &jobs)
{
    return {{"kind", "queue"},
            {"policies", json::array({policy})},
            {"per_job", true},
            {"cluster", {{"resources", nodes}}},
            {"jobs", jobs}};
}

} // namespace

TEST_CASE("lines of a log that are not in order are sorted, on a cluster too",
          "[api][cluster]")
{
    auto line = [](int number, int submit, int run, int processors) {
        return std::to_string(number) + " " + std::to_string(submit) + " -1 " +
               std::to_string(run) + " " + std::to_string(processors) +
               " -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n";
    };
    for (const char *policy : {"fcfs", "easy"}) {
        json body = {
            {"kind", "queue"},
            {"policies", json::array({policy})},
            {"per_job", true},
            {"cluster", {{"resources", json::array({node("n", 4)})}}},
            {"swf", line(1, 100, 50, 4) + line(2, 0, 100, 4) + line(3, 50, 10, 2)}};
        json answer = simulate(body), result = answer["results"][0];
        CHECK(answer["skipped_count"] == 0);
        CHECK(result["mean_wait_s"] == 20);
        std::map<int, double> by_number;
        for (const json &row : result["jobs"])
            by_number[row["number"].get<int>()] = row["start_s"].get<double>();
        CHECK(by_number == std::map<int, double>{{1, 110}, {2, 0}, {3, 100}});
        bool told = false;
        for (const json &w : answer["warnings"])
            told |= w.get<std::string>().rfind("unsorted: ", 0) == 0;
        CHECK(told);
    }
}

TEST_CASE("a log on one node has the figures of as many processors", "[api][cluster]")
{
    std::mt19937_64 random(11);
    std::string swf;
    int at = 0;
    for (int i = 1; i <= 60; i++) {
        at += int(random() % 40);
        int run = 1 + int(random() % 90), asked = run + int(random() % 60);
        swf += std::to_string(i) + " " + std::to_string(at) + " -1 " +
               std::to_string(run) + " " + std::to_string(1 + random() % 8) +
               " -1 -1 -1 " + std::to_string(asked) + " -1 1 " +
               std::to_string(random() % 4) + " 1 -1 1 -1 -1 -1\n";
    }
    json policies = {"conservative", "easy",      "easy_sjbf",     "easy_sjf",
                     "fcfs",         "first_fit", "largest_first", "sjf"};
    json body = {
        {"kind", "queue"}, {"policies", policies}, {"swf", swf}, {"details", true}};
    json pool = body, one = body;
    pool["processors"] = 8;
    one["cluster"] = {{"resources", json::array({node("n", 8)})}};
    json want = simulate(pool)["results"], got = simulate(one)["results"];
    REQUIRE(got.size() == 8);
    for (size_t i = 0; i < 8; i++) {
        INFO(want[i]["policy"]);
        for (const char *figure :
             {"mean_wait_s", "max_wait_s", "mean_response_s", "mean_bounded_slowdown",
              "utilisation_ratio", "makespan_s", "jain_index", "gini_wait",
              "overtaken_ratio", "killed_count", "fragmented_core_s"})
            CHECK(got[i][figure].get<double>() ==
                  Approx(want[i][figure].get<double>()).epsilon(1e-12));
        CHECK(got[i]["by_size"] == want[i]["by_size"]);
        CHECK(got[i]["by_user"].size() == want[i]["by_user"].size());
        CHECK(got[i]["percentiles"] == want[i]["percentiles"]);
        REQUIRE(got[i]["utilisation"].size() == want[i]["utilisation"].size());
        CHECK(got[i]["utilisation"][7]["busy_ratio"].get<double>() ==
              Approx(want[i]["utilisation"][7]["busy_ratio"].get<double>()));
    }
}

TEST_CASE("what holds jobs back on a cluster holds them back in a simulation",
          "[api][cluster]")
{
    json two = {node("n1", 4), node("n2", 4)};

    for (const char *policy : {"slurm_backfill", "easy", "conservative", "fcfs"}) {
        INFO(policy);
        SECTION(std::string(policy) + ": dependencies, with what became of the other")
        {
            json jobs = {job("a", 0, 100, 50),
                         job("b", 0, 30, 60),
                         job("on_failure", 0, 10, 60, waits_for("a", "notok")),
                         job("never", 0, 10, 60, waits_for("a", "ok")),
                         job("then", 0, 10, 60, waits_for("b", "ok", 5)),
                         job("any", 0, 10, 60, waits_for("never", "any")),
                         job("held", 0, 10, 60, {{"held", true}})};
            auto got = starts(base(policy, two, jobs));
            CHECK(got["a"] == 0);
            CHECK(got["on_failure"] == 50); // a is killed at its limit
            CHECK(got["never"].is_null());
            CHECK(got["then"] == 35);
            CHECK(got["any"] == 50);
            CHECK(got["held"].is_null());
        }
        SECTION(std::string(policy) + ": an array's tasks that run at a time, licences")
        {
            json jobs = {
                job("x", 0, 20, 20,
                    {{"array", {{"id", "9"}, {"task_ids", "0-3"}, {"running_max", 1}}}}),
                job("m1", 0, 50, 60, {{"needs", {{"licence.m", 2}}}}),
                job("m2", 0, 50, 60, {{"needs", {{"licence.m", 2}}}})};
            json body = base(policy, two, jobs);
            body["cluster"]["shared_capacities"] = {{"licence.m", 3}};
            auto got = starts(body);
            CHECK(got["9_0"] == 0);
            CHECK(got["9_1"] == 20);
            CHECK(got["9_3"] == 60);
            CHECK(got["m1"] == 0);
            CHECK(got["m2"] == 50);
        }
        SECTION(std::string(policy) + ": reservations, limits of users")
        {
            json jobs = {job("short", 0, 50, 50, {{"nodes", 2}, {"cpus", 4}}),
                         job("long", 1, 200, 200, {{"nodes", 2}, {"cpus", 4}})};
            json body = base(policy, two, jobs);
            body["cluster"]["reservations"] = json::parse(
                R"([{"id": "r", "start_s": 100, "end_s": 300, "resource_ids": ["n2"]}])");
            auto got = starts(body);
            CHECK(got["short"] == 0);
            CHECK(got["long"] == 300);
        }
    }
}

TEST_CASE("who is cancelled leaves the queue, or ends", "[api][cluster]")
{
    json all = {{"cpus", 4}};
    json jobs = {job("a", 0, 100, 100, all), job("b", 1, 100, 100, all),
                 job("c", 2, 100, 100, all), job("d", 3, 100, 100, all)};

    jobs[0]["ok"] = false;
    jobs[1]["cancel_s"] = 50;
    jobs[2]["cancel_s"] = 130;
    jobs.push_back(job("e", 4, 10, 20, waits_for("b", "notok")));
    jobs.push_back(job("f", 4, 10, 20, waits_for("a", "ok")));
    jobs.push_back(job("g", 5, 10, 20, waits_for("a", "notok")));
    for (const char *policy :
         {"fcfs", "easy", "conservative", "first_fit", "slurm_backfill"}) {
        json answer = simulate(base(policy, json::array({node("n", 4)}), jobs));
        json &rows = answer["results"][0]["jobs"];
        std::map<std::string, json> row;

        INFO(policy << answer.dump(1));
        for (auto &r : rows)
            row[r["job_id"]] = r;
        CHECK(row["b"]["start_s"].is_null());
        CHECK(row["b"]["outcome"] == "cancelled");
        CHECK(row["c"]["start_s"] == 100); // not behind the plan of b
        CHECK(row["c"]["finish_s"] == 130);
        CHECK(row["c"]["outcome"] == "cancelled");
        CHECK(row["e"]["start_s"] >= 130);
        CHECK(row["f"]["outcome"] == "never");
        CHECK(row["g"]["start_s"] >= 130);
        CHECK(answer["results"][0]["never_fit_count"] == 1);
        CHECK(answer["results"][0]["job_count"] == 5);
        const json &at = answer["results"][0]["utilisation"][20]; // of seconds
        CHECK(at["from_s"] == 20 * 2);
        CHECK(at["waiting_count"] == 5); // b to g without f, which never runs
        CHECK(answer["warnings"].dump().find("cancelled: 1 job") != std::string::npos);
    }
    CHECK(refused(base("fcfs", json::array({node("n", 4)}),
                       json::array({job("a", 10, 1, 1, {{"cancel_s", 9}})}))) ==
          std::vector<std::string>{"/jobs/0/cancel_s"});
}

TEST_CASE("a queue is as if who was cancelled at once had not been there",
          "[api][cluster][property]")
{
    std::mt19937 draw(7);
    auto any = [&](int n) { return double(draw() % unsigned(n)); };

    for (int round = 0; round < 12; round++)
        for (const char *policy :
             {"fcfs", "easy_sjf", "conservative", "slurm_backfill"}) {
            json with = json::array(), without = json::array();

            for (int i = 0; i < 3 * (round % 5); i++) {
                json one = job("j" + std::to_string(i), 10 * any(6), any(4) * 30,
                               30 + 30 * any(4), {{"cpus", 1 + any(3)}});
                bool gone = any(3) == 0;

                if (gone)
                    one["cancel_s"] = one["submit_s"];
                else
                    without.push_back(one);
                with.push_back(one);
            }
            if (without.empty())
                continue;
            INFO(policy << with.dump());
            auto some = starts(base(policy, {node("n", 2), node("m", 3)}, without));
            auto all = starts(base(policy, {node("n", 2), node("m", 3)}, with));
            for (auto &[id, start_s] : some)
                CHECK(all[id] == start_s);
        }
}

TEST_CASE("a study's load moves all that is said of a job", "[api][cluster]")
{
    json more = {{"cpus", 4}};
    json jobs = {job("a", 0, 10, 10, more), job("b", 100, 10, 10, more)};
    json body = {{"kind", "queue"},
                 {"cluster", {{"resources", json::array({node("n", 4)})}}}};

    jobs[1]["begin_s"] = 130;
    body["jobs"] = jobs;
    body["study"] = {
        {"base", {{"policy", "fcfs"}}},
        {"variants", json::array({{{"id", "twice"}, {"workload_scale", 2}}})}};
    json study = simulate(body)["study"];
    INFO(study.dump(1));
    CHECK(study["base"]["figures"]["mean_wait_s"] == 15);
    CHECK(study["variants"][0]["figures"]["mean_wait_s"] == 15);
}

TEST_CASE("a higher quality of service stops a lower one, which runs again",
          "[api][cluster]")
{
    json jobs = {job("low", 0, 100, 200, {{"cpus", 4}, {"qos_id", "low"}}),
                 job("high", 30, 50, 60, {{"cpus", 4}, {"qos_id", "high"}})};
    json body = base("slurm_backfill", json::array({node("n", 4)}), jobs);
    body["cluster"]["qos"] = json::parse(
        R"([{"id": "low"}, {"id": "high", "priority": 10, "preempts": ["low"]}])");
    body["cluster"]["policy_settings"] = {
        {"preempt_type", "qos"}, {"preempt_mode", "requeue"}, {"requeue_delay_s", 60}};
    json answer = simulate(body), result = answer["results"][0];
    CHECK(result["preempted_count"] == 1);
    CHECK(result["lost_core_s"] == 120);
    json low = result["jobs"][0], high = result["jobs"][1];
    CHECK(high["start_s"] == 30);
    CHECK(low["start_s"] == 0);
    CHECK(low["finish_s"] == 190); // requeued, eligible 60 s after 30
    CHECK(low["preempted_count"] == 1);
    CHECK(result["mean_wait_s"] == 0);
    CHECK(result["mean_response_s"] == Approx((190 + 50) / 2.0));

    body["cluster"]["policy_settings"]["preempt_mode"] = "cancel";
    result = simulate(body)["results"][0];
    CHECK(result["jobs"][0]["outcome"] == "cancelled");
    CHECK(result["jobs"][0]["finish_s"] == 30);
    CHECK(simulate(body)["warnings"].empty());

    // What only a decision of now would do is said.
    body["cluster"]["qos"][0].update({{"grace_s", 30}, {"preempt_mode", "requeue"}});
    json partition = {{"id", "p"}, {"default", true}, {"over_time_limit_s", 60}};
    body["cluster"]["partitions"] = json::array({partition});
    json warnings = simulate(body)["warnings"];
    REQUIRE(warnings.size() == 3);
    for (const char *member :
         {"grace_s of 1", "preempt_mode of 1", "over_time_limit_s of 1"})
        CHECK(warnings.dump().find(std::string("without_effect: ") + member) !=
              std::string::npos);
}

TEST_CASE("a simulation says which settings change nothing", "[api][cluster]")
{
    json body = base("slurm_backfill", json::array({node("n", 4)}),
                     json::array({job("a", 0, 10, 20)}));
    body["cluster"]["policy_settings"] =
        json::parse(R"({"kill_wait_s": 5, "priority": {"weight_assoc": 5}})");
    json warnings = simulate(body)["warnings"];
    REQUIRE(warnings.size() == 2);
    CHECK(warnings[0] == "without_effect: 1 member of "
                         "/cluster/policy_settings/priority, first weight_assoc: "
                         "associations have no factor of their own here");
    CHECK(warnings[1].get<std::string>().find("without_effect: kill_wait_s of") == 0);
    body["cluster"]["policy_settings"] = {{"bf_running_job_reserve", true}};
    warnings = simulate(body)["warnings"];
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].get<std::string>().find("without_effect: bf_running_job_reserve") ==
          0);
}

TEST_CASE("use counts as its quality of service says", "[api][cluster]")
{
    json jobs =
        json::array({job("first", 0, 100, 100, {{"user", "ann"}, {"account_id", "a"}}),
                     job("A", 1, 50, 50, {{"user", "ann"}, {"account_id", "a"}}),
                     job("B", 2, 50, 50, {{"user", "bob"}, {"account_id", "b"}})});
    for (json &one : jobs)
        one["cpus"] = 4;
    json body = base("slurm_backfill", json::array({node("n", 4)}), jobs);
    body["cluster"]["qos"] = json::parse(R"([{"id": "free", "usage_factor": 0}])");
    body["cluster"]["accounts"] = json::parse(
        R"([{"id": "a"}, {"id": "ua", "parent_id": "a", "user_id": "ann"},
            {"id": "b"}, {"id": "ub", "parent_id": "b", "user_id": "bob"}])");
    body["cluster"]["policy_settings"] =
        json::parse(R"({"priority": {"weight_fair_share": 1000, "calc_period_s": 10}})");
    std::map<std::string, json> found = starts(body);
    CHECK(found["B"] == 100); // ann has used the node
    CHECK(found["A"] == 150);
    body["jobs"][0]["qos_id"] = "free";
    found = starts(body);
    CHECK(found["A"] == 100);
    CHECK(found["B"] == 150);
}

TEST_CASE("a simulation says which running jobs should have ended", "[api][cluster]")
{
    json jobs = json::array({job("a", 0, 10, 20)});
    json body = base("easy", json::array({node("n", 4)}), jobs);
    body["cluster"]["running"] = json::parse(
        R"([{"id": "r", "resource_ids": ["n"], "cpus": 4, "expected_end_s": 0}])");
    json answer = simulate(body);
    CHECK(answer["warnings"].dump().find("overdue: 1 running job, first 'r'") !=
          std::string::npos);
    CHECK(answer["results"][0]["jobs"][0]["start_s"] == 1);
}

TEST_CASE("passes of backfill are a second apart at least", "[api][cluster]")
{
    json jobs = {job("a", 90000, 100, 200, {{"cpus", 4}}),
                 job("b", 90001, 100, 200, {{"cpus", 4}}),
                 job("c", 90002, 100, 200, {{"cpus", 4}})};
    json body = base("slurm_backfill", json::array({node("n", 4)}), jobs);
    for (double interval_s : {3.6e-297, 1e-12, 5e-324, 0.0, 0.99, -0.5}) {
        body["cluster"]["policy_settings"] = {{"bf_interval_s", interval_s}};
        CHECK(api().post("/v1/simulations", body.dump()).pointers() ==
              std::vector<std::string>{"/cluster/policy_settings/bf_interval_s"});
    }
    for (double interval_s : {-1.0, 1.0}) {
        body["cluster"]["policy_settings"] = {{"bf_interval_s", interval_s}};
        CHECK(simulate(body)["results"][0]["jobs"][2]["start_s"] == 90200);
    }
}

TEST_CASE("idle cores that a waiting job cannot have are told", "[api][cluster]")
{
    json jobs = {job("a", 0, 100, 100, {{"cpus", 3}}),
                 job("b", 0, 100, 100, {{"cpus", 3}}),
                 job("wide", 10, 10, 10, {{"cpus", 2}})};
    json result =
        simulate(base("first_fit", {node("n1", 4), node("n2", 4)}, jobs))["results"][0];
    CHECK(result["fragmented_core_s"] == 180); // two cores from 10 to 100
}

TEST_CASE("the header of a log says nodes", "[api][cluster]")
{
    std::string head = "; MaxNodes: 2\n; MaxProcs: 8\n";
    std::string swf = head + "1 0 -1 10 6 -1 -1 -1 10 -1 1 1 1 -1 1 3 -1 -1\n"
                             "2 0 -1 10 2 -1 -1 -1 10 -1 1 1 1 -1 1 3 -1 -1\n"
                             "3 0 -1 10 1 -1 -1 -1 10 -1 1 1 1 -1 1 3 -1 -1\n";
    json body = {{"kind", "queue"},
                 {"policies", json::array({"easy"})},
                 {"swf", swf},
                 {"per_job", true},
                 {"cluster", {{"from_header", true}}}};
    json answer = simulate(body);
    CHECK(answer["processors"] == 8);
    CHECK(answer["results"][0]["jobs"][1]["start_s"] == 0);
    CHECK(answer["results"][0]["jobs"][2]["start_s"] == 10);
    CHECK(answer["warnings"][0].get<std::string>().rfind("partition_ignored: 3 jobs",
                                                         0) == 0);
    body["swf"] = swf.substr(head.size());
    CHECK(refused(body) == std::vector<std::string>{"/cluster/from_header"});
}

TEST_CASE("rows of every policy say the nodes of who started", "[api][cluster]")
{
    json body = base("easy", {node("n1", 4), node("n2", 4)},
                     {job("a", 0, 10, 10, {{"nodes", 2}, {"cpus", 3}}),
                      job("b", 0, 10, 10, {{"cpus", 2}}), job("c", 1, 5, 5),
                      job("no", 1, 5, 5, {{"cpus", 5}})});
    body["policies"] = {"easy", "fcfs", "conservative"};
    json answer = simulate(body);
    REQUIRE(answer["results"].size() == 3);
    for (const json &of : answer["results"]) {
        INFO(of.dump());
        for (const json &row : of["jobs"]) {
            if (row["start_s"].is_null())
                CHECK_FALSE(row.contains("resource_ids"));
            else
                CHECK(row["resource_ids"].size() == (row["job_id"] == "a" ? 2 : 1));
        }
    }
    body["job_rows_max"] = 1;
    CHECK(simulate(body)["results"][1]["jobs"][0]["resource_ids"] == json({"n1", "n2"}));
}

TEST_CASE("a study on a cluster", "[api][cluster]")
{
    json jobs = json::array();
    std::mt19937_64 random(5);
    double at = 0;
    for (int i = 0; i < 200; i++) {
        at += double(random() % 9000);
        double run = 60 + double(random() % 20000);
        jobs.push_back(
            job("j" + std::to_string(i), at, run, run + double(random() % 20000),
                {{"cpus", 1 + random() % 4}, {"user", "u" + std::to_string(i % 3)}}));
    }
    json body = base("easy", {node("n1", 4), node("n2", 4)}, jobs);
    body.erase("policies");
    body.erase("per_job");
    body["study"] = json::parse(R"({"variants": [
        {"id": "same"},
        {"id": "more", "cluster_changes": {"add_nodes": [{"like": "n1", "count": 2}]}},
        {"id": "less", "cluster_changes": {"drop_nodes": ["n2"]}},
        {"id": "cut", "cluster_changes": {"time_limit_max_s": 100}},
        {"id": "easy", "policy": "easy"}],
        "grid": {"bf_interval_s": [60, 600], "policy": ["slurm_backfill"]}})");
    json answer = simulate(body), study = answer["study"];
    std::map<std::string, json> by_id;
    for (const json &v : study["variants"])
        by_id[v["id"].get<std::string>()] = v;
    CHECK(study["base"]["policy"] == "slurm_backfill");
    CHECK(study["block"] == "day");
    CHECK(by_id.size() == 7);
    CHECK(by_id["same"]["vs_base"]["wait_s"]["mean"] == 0);
    CHECK(by_id["more"]["processors"] == 16);
    CHECK(by_id["more"]["verdict"] == "better");
    CHECK(by_id["less"]["processors"] == 4);
    CHECK(by_id["less"]["verdict"] == "worse");
    CHECK(by_id["less"]["worst_hurt_users"][0]["user"].get<std::string>()[0] == 'u');
    CHECK(by_id["cut"]["figures"]["mean_response_s"] <
          study["base"]["figures"]["mean_response_s"]);
    CHECK(by_id.count("policy=slurm_backfill,bf_interval_s=600") == 1);
    json again = simulate(body)["study"];
    CHECK(again.dump() == study.dump());
}

TEST_CASE("what runs on a node that fails waits again, or has failed", "[api][cluster]")
{
    for (const char *policy : {"slurm_backfill", "easy", "conservative", "fcfs"}) {
        json jobs = {
            job("wide", 0, 100, 150,
                {{"nodes", 2}, {"cpus", 4}, {"resource_ids_required", {"n1", "n2"}}}),
            job("once", 0, 100, 300,
                {{"cpus", 4}, {"requeue", false}, {"resource_ids_required", {"n3"}}}),
            job("mourns", 0, 10, 20, waits_for("once", "notok")),
            job("other", 0, 500, 600, {{"cpus", 2}, {"resource_ids_required", {"n4"}}})};
        json body = base(
            policy, {node("n1", 4), node("n2", 4), node("n3", 4), node("n4", 4)}, jobs);
        INFO(policy);
        body["cluster"]["policy_settings"] = {{"requeue_delay_s", 30}};
        // n1 is down twice at a time, up again at 70; what ends then has ended.
        body["failures"] = json::parse(R"([
            {"resource_id": "n1", "down_s": 40, "up_s": 60},
            {"resource_id": "n1", "down_s": 50, "up_s": 70},
            {"resource_id": "n3", "down_s": 20},
            {"resource_id": "n4", "down_s": 500, "up_s": 501}])");
        json result = simulate(body)["results"][0];
        std::map<std::string, json> rows;
        INFO(result.dump(1));
        for (const json &row : result["jobs"])
            rows[row["job_id"].get<std::string>()] = row;
        CHECK(rows["wide"]["start_s"] == 0);
        CHECK(rows["wide"]["finish_s"].get<double>() == Approx(170).epsilon(1e-6));
        CHECK(rows["wide"]["outcome"] == "done");
        CHECK(rows["wide"]["failed_count"] == 1);
        CHECK(rows["wide"]["resource_ids"] == json({"n1", "n2"}));
        CHECK(rows["other"]["resource_ids"] == json::array({"n4"}));
        CHECK(rows["wide"]["preempted_count"] == 0);
        CHECK(rows["once"]["outcome"] == "failed");
        CHECK(rows["once"]["finish_s"] == 20);
        CHECK(rows["mourns"]["start_s"].get<double>() == Approx(20).epsilon(1e-6));
        CHECK(rows["other"]["outcome"] == "done");
        CHECK(rows["other"]["failed_count"] == 0);
        CHECK(result["failed_count"] == 2);
        CHECK(result["preempted_count"] == 0);
        CHECK(result["lost_core_s"] == 40 * 8 + 20 * 4);
    }
}

TEST_CASE("one node that fails, against a plain program", "[api][cluster][property]")
{
    std::mt19937_64 random(23);

    for (int round = 0; round < 12; round++) {
        size_t count = size_t(round % 5) * 2;
        std::vector<int> submit, run, ready(count), finish(count, -1), tries(count, 0);
        std::vector<std::pair<int, int>> outages;
        const int delay = int(random() % 3) * 7;
        json jobs = json::array(), failures = json::array();

        for (size_t i = 0; i < count; i++) {
            submit.push_back((i ? submit[i - 1] : 0) + int(random() % 20));
            run.push_back(int(random() % 4) * 10);
            ready[i] = submit[i];
            jobs.push_back(job("j" + std::to_string(i), submit[i], run[i], 50));
        }
        for (size_t i = 0; i < size_t(round % 4); i++) {
            int down = int(random() % 100);
            outages.push_back({down, down + int(random() % 3) * 15});
            failures.push_back({{"resource_id", "n"},
                                {"down_s", outages[i].first},
                                {"up_s", outages[i].second}});
        }
        for (int t = 0, busy = -1, end = 0; t < 3000 && count; t++) {
            bool is_up = true, fails = false;
            for (auto &o : outages) {
                is_up &= !(o.first <= t && t < o.second);
                fails |= o.first == t && o.second > t;
            }
            if (busy >= 0 && end == t) {
                finish[size_t(busy)] = t;
                busy = -1;
            }
            if (fails && busy >= 0) {
                ready[size_t(busy)] = t + delay;
                tries[size_t(busy)]++;
                busy = -1;
            }
            for (size_t i = 0; i < count && is_up && busy < 0; i++) {
                if (finish[i] >= 0 || ready[i] > t || submit[i] > t)
                    continue;
                busy = int(i);
                end = t + run[i];
                if (run[i] > 0)
                    break;
                finish[i] = t;
                busy = -1;
            }
        }
        for (const char *policy :
             {"fcfs", "easy", "first_fit", "conservative", "slurm_backfill"}) {
            bool is_exact = policy[0] == 'f' || policy[0] == 'e';
            json body = base(policy, json::array({node("n", 1)}), jobs);
            body["cluster"]["policy_settings"] = {{"requeue_delay_s", delay}};
            body["failures"] = failures;
            if (jobs.empty())
                continue;
            json result = simulate(body)["results"][0];
            INFO(policy << " " << body.dump() << result.dump());
            for (size_t i = 0; i < count; i++) {
                const json &row = result["jobs"][i];
                double ends = row["finish_s"].get<double>();
                CHECK(row["outcome"] == "done");
                if (is_exact) {
                    CHECK(ends == finish[i]);
                    CHECK(row.value("failed_count", 0) == tries[i]);
                }
                for (auto &o : outages) // its last attempt meets none
                    if (o.second > o.first && run[i] > 0)
                        CHECK((ends <= o.first || ends - run[i] >= o.second));
            }
        }
    }
}

TEST_CASE("a study's variants meet the same failures", "[api][cluster]")
{
    json jobs = json::array();
    for (int i = 0; i < 6; i++)
        jobs.push_back(job("j" + std::to_string(i), 0, 100, 150, {{"cpus", 4}}));
    json body = base("easy", {node("n1", 4), node("n2", 4)}, jobs);
    body["failures"] = json::parse(R"([{"resource_id": "n2", "down_s": 50}])");
    json bad = body;
    body.erase("policies");
    body.erase("per_job");
    body["study"] = json::parse(R"({"base": {"policy": "fcfs"}, "variants": [
        {"id": "same"}, {"id": "without", "cluster_changes": {"drop_nodes": ["n2"]}},
        {"id": "more", "cluster_changes": {"add_nodes": [{"like": "n2", "count": 1}]}}]})");
    json study = simulate(body)["study"];
    auto wait = [&](size_t i) {
        return study["variants"][i]["figures"]["mean_wait_s"].get<double>();
    };
    INFO(study.dump(1));
    // The second one starts at once on n2, and comes back on n1 at 200.
    CHECK(study["base"]["figures"]["mean_wait_s"] == (100 + 300 + 400 + 500) / 6.0);
    CHECK(study["variants"][0]["figures"] == study["base"]["figures"]);
    CHECK(wait(1) == (100 + 200 + 300 + 400 + 500) / 6.0);
    CHECK(wait(2) < study["base"]["figures"]["mean_wait_s"].get<double>());

    bad["failures"] = json::parse(R"([{"resource_id": "n22", "down_s": 5, "up_s": 4},
                                      {"resource_id": "n1", "down_s": -1}])");
    CHECK(refused(bad) == std::vector<std::string>{"/failures/1/down_s"});
    bad["failures"][1]["down_s"] = 1;
    CHECK(refused(bad) ==
          std::vector<std::string>{"/failures/0/up_s", "/failures/0/resource_id"});
    bad["processors"] = 4;
    bad.erase("cluster");
    for (json &j : bad["jobs"])
        j.erase("cpus"), j.erase("time_limit_s");
    CHECK(refused(bad) == std::vector<std::string>{"/failures"});
}

TEST_CASE("a study changes settings by merge patches", "[api][cluster]")
{
    json jobs = json::array();
    for (int i = 0; i < 40; i++)
        jobs.push_back(job("j" + std::to_string(i), i * 5, 60 + 30 * (i % 5),
                           120 + 60 * (i % 7),
                           {{"cpus", 1 + i % 4}, {"user", "u" + std::to_string(i % 3)}}));
    json body = base("easy", {node("n0", 4), node("n1", 4)}, jobs);
    body.erase("policies");
    body.erase("per_job");
    body["cluster"]["policy_settings"] = json::parse(
        R"({"bf_interval_s": 600, "priority": {"weight_age": 1000, "max_age_s": 600,
            "weight_tres": {"cpus": 5}}})");
    auto play = [&](const char *patch, const char *settings) {
        json copy = body;
        if (settings)
            copy["cluster"]["policy_settings"] = json::parse(settings);
        copy["study"] = {{"variants", {{{"id", "x"}}}}, {"resamples", 2}};
        if (patch)
            copy["study"]["variants"][0]["settings"] = json::parse(patch);
        json r = simulate(copy)["study"];
        return (patch ? r["variants"][0] : r["base"])["figures"].dump();
    };
    std::string as_is = play(nullptr, nullptr);

    CHECK(play("{}", nullptr) == as_is);
    for (const char *same : {R"({"bf_interval_s": 600})", R"({"priority": {}})",
                             R"({"priority": {"weight_age": 1000, "weight_qos": null}})"})
        CHECK(play(same, nullptr) == as_is);
    // One member of an object in it changes, the others stay.
    CHECK(play(R"({"priority": {"weight_job_size": 9000, "favor_small": true}})",
               nullptr) ==
          play(nullptr, R"({"bf_interval_s": 600, "priority": {"weight_age": 1000,
               "max_age_s": 600, "weight_tres": {"cpus": 5}, "weight_job_size": 9000,
               "favor_small": true}})"));
    // Null: the default; amounts are replaced as a whole.
    CHECK(play(R"({"bf_interval_s": null, "priority": {"weight_age": null,
                   "weight_tres": {"nodes": 7}}})",
               nullptr) ==
          play(nullptr,
               R"({"priority": {"max_age_s": 600, "weight_tres": {"nodes": 7}}})"));
    CHECK(play(R"({"priority": null})", nullptr) ==
          play(nullptr, R"({"bf_interval_s": 600})"));
    CHECK(play(R"({"priority": {"weight_job_size": 9000, "favor_small": true}})",
               nullptr) != as_is);

    auto mistakes = [&](const char *patch) {
        json copy = body;
        copy["study"] = {{"variants", {{{"id", "x"}, {"settings", json::parse(patch)}}}}};
        return refused(copy);
    };
    using texts = std::vector<std::string>;
    CHECK(mistakes(R"({"bf_window_s": 1, "priority": {"wait": 1, "weight_age": -1}})") ==
          texts{"/study/variants/0/settings/bf_window_s",
                "/study/variants/0/settings/priority/wait",
                "/study/variants/0/settings/priority/weight_age"});
    CHECK(mistakes("[1]") == texts{"/study/variants/0/settings"});
    CHECK(mistakes(R"({"priority": 5})") == texts{"/study/variants/0/settings/priority"});
}

TEST_CASE("a study changes partitions by merge patches", "[api][cluster]")
{
    json jobs = json::array();
    for (int i = 0; i < 30; i++)
        jobs.push_back(job("j" + std::to_string(i), i * 10, 100, 200,
                           {{"cpus", 4}, {"partition_ids", {i % 3 ? "a" : "b"}}}));
    json body =
        base("easy", {node("n0", 4), node("n1", 4), node("n2", 4), node("n3", 4)}, jobs);
    body.erase("policies");
    body.erase("per_job");
    body["cluster"]["partitions"] = json::parse(R"([
        {"id": "a", "resource_ids": ["n0", "n1"], "default": true, "time_limit_max_s": 500},
        {"id": "b", "resource_ids": ["n2", "n3"], "priority_tier": 2}])");
    auto play = [&](const char *text, const char *partitions) {
        json copy = body;
        if (partitions)
            copy["cluster"]["partitions"] = json::parse(partitions);
        copy["study"] = {{"variants", {{{"id", "x"}}}}, {"resamples", 2}};
        if (text)
            copy["study"]["variants"][0]["cluster_changes"] = {
                {"partitions", json::parse(text)}};
        json r = simulate(copy)["study"];
        return (text ? r["variants"][0] : r["base"])["figures"].dump();
    };
    const char *wide = R"([
        {"id": "a", "resource_ids": ["n0", "n1", "n2", "n3"], "default": true,
         "time_limit_max_s": 500, "priority_tier": 3},
        {"id": "b", "resource_ids": ["n2", "n3"], "priority_tier": 2}])";

    CHECK(play("{}", nullptr) == play(nullptr, nullptr));
    CHECK(play(R"({"a": {"resource_ids": ["n0", "n1", "n2", "n3"], "priority_tier": 3}})",
               nullptr) == play(nullptr, wide));
    // Null: the default, which is all nodes.
    CHECK(play(R"({"a": {"resource_ids": null, "priority_tier": 3}})", nullptr) ==
          play(nullptr, wide));
    CHECK(play(R"({"c": {"resource_ids": ["n3"]}})", nullptr) == play(nullptr, nullptr));
    CHECK(play(R"({"a": {"resource_ids": ["n0"]}})", nullptr) != play(nullptr, nullptr));

    auto mistakes = [&](const char *text) {
        json copy = body;
        copy["study"] = {
            {"variants",
             {{{"id", "x"}, {"cluster_changes", {{"partitions", json::parse(text)}}}}}}};
        return refused(copy);
    };
    const std::string at = "/study/variants/0/cluster_changes/partitions";
    CHECK(mistakes("[1]") == std::vector<std::string>{at});
    CHECK(mistakes(R"({"a": {"time_limit_max_s": "x", "foo": 1}, "b": null})") ==
          std::vector<std::string>{at + "/a/foo", at + "/a/time_limit_max_s", at + "/b"});
    CHECK(mistakes(R"({"a": {"resource_ids": ["n9"]}})").size() == 1);
}

TEST_CASE("mistakes of a simulation on a cluster", "[api][cluster]")
{
    json jobs = json::array({job("a", 0, 10, 20)});
    json good = base("easy", json::array({node("n", 4)}), jobs);
    auto with = [&](const char *pointer, const json &value) {
        json body = good;
        body[json::json_pointer(pointer)] = value;
        return refused(body);
    };
    CHECK(with("/processors", 4) == std::vector<std::string>{"/cluster"});
    CHECK(with("/cluster", json::object()) ==
          std::vector<std::string>{"/cluster/resources"});
    CHECK(with("/policies/0", "slurm_backfil") ==
          std::vector<std::string>{"/policies/0"});
    CHECK(with("/jobs/0/processors", 2) ==
          std::vector<std::string>{"/jobs/0/processors"});
    CHECK(with("/jobs/0/partition_ids", json::array({"q"})) ==
          std::vector<std::string>{"/jobs/0/partition_ids/0"});
    json pool = good;
    pool.erase("cluster");
    pool["processors"] = 4;
    pool["jobs"][0].erase("time_limit_s");
    pool["jobs"][0]["qos_id"] = "x";
    CHECK(refused(pool) == std::vector<std::string>{"/jobs/0/qos_id"});
    pool["jobs"][0].erase("qos_id");
    pool["policies"] = {"slurm_backfill"};
    CHECK(refused(pool) == std::vector<std::string>{"/policies/0"});
    json study = good;
    study.erase("policies");
    study.erase("per_job");
    study["study"] =
        json::parse(R"({"variants": [{"id": "v", "settings": {"bf_window_s": 1}}]})");
    CHECK(refused(study) ==
          std::vector<std::string>{"/study/variants/0/settings/bf_window_s"});
    study["study"] = json::parse(
        R"({"variants": [{"id": "v", "cluster_changes": {"drop_nodes": ["m"]}}]})");
    CHECK(refused(study) == std::vector<std::string>{"/study"});
}

TEST_CASE("who counts on models says of which jobs", "[api][cluster]")
{
    json jobs = {job("a", 0, 10, 20), job("b", 0, 10, 20)};
    json body = base("easy", json::array({node("n", 1)}), jobs);
    body["estimates"] = "model";
    CHECK(refused(body) == std::vector<std::string>{"/estimates"});
    json study = body;
    study.erase("policies");
    study.erase("per_job");
    study.erase("estimates");
    study["study"] = json::parse(R"({"variants": [{"id": "m", "estimates": "model"}]})");
    CHECK(refused(study) == std::vector<std::string>{"/study"});
    study.erase("cluster");
    study["processors"] = 1;
    study["study"] = json::parse(
        R"({"base": {"estimates": "model"}, "variants": [{"id": "m", "estimates": "model"}],
            "grid": {"estimates": ["actual", "model", "guessed"]}})");
    for (json &j : study["jobs"])
        j.erase("time_limit_s");
    CHECK(refused(study) ==
          std::vector<std::string>{"/study/base/estimates", "/study/variants/0/estimates",
                                   "/study/grid/estimates/1", "/study/grid/estimates/2"});
    study.erase("study");
    study["estimates"] = "model";
    CHECK(refused(study) == std::vector<std::string>{"/estimates"});
    study["estimates"] = "actual";
    study["jobs"][0]["model"] = {{"model_id", "m"}};
    CHECK(refused(study) == std::vector<std::string>{"/jobs/0/model"});
}
