// slurm_forms_test.cpp - forms of Slurm's documents that no recording has: tables of
// squeue and sinfo, JSON since v0.0.40.
#include "tests/slurm_support.hpp"

using nlohmann::json;

static json import(api &a, const json &body)
{
    api_reply r = a.post("/v1/imports/slurm", body.dump());

    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 200);
    return r.json();
}

static json named(const json &list, const std::string &id)
{
    for (const auto &row : list)
        if (row.at("id").get<std::string>() == id)
            return row;
    FAIL("no " << id);
    return json();
}

static bool warns(const json &answer, const std::string &text)
{
    for (const auto &w : answer.at("warnings"))
        if (w.get<std::string>().find(text) != std::string::npos)
            return true;
    return false;
}

static const char *const two_nodes = "NODELIST|CPUS|MEMORY|STATE|PARTITION\n"
                                     "n1|16|32000|mix|batch*\nn2|16|32000|alloc|batch*\n";

TEST_CASE("a table of squeue has short states, and reasons among the nodes", "[slurm]")
{
    api a;
    json r = import(
        a, {{"now_s", 1795343022},
            {"tz_offset_s", 0},
            {"sinfo", two_nodes},
            {"squeue",
             "JOBID|PARTITION|NAME|USER|ST|TIME|TIME_LIMIT|NODES|CPUS|MIN_MEMORY|"
             "NODELIST(REASON)|PRIORITY|SUBMIT_TIME|START_TIME\n"
             "12|batch|my job|u1|PD|0:00|1:30:00|2|16|4000M|(Resources)|100|"
             "2026-11-22T10:00:00|N/A\n"
             "11|batch|a|u1|R|10:00|30:00|1|8|1G|n1|100|2026-11-22T10:00:00|"
             "2026-11-22T10:10:00\n"
             "13_[1-5%2]|batch|a|u1|PD|0:00|2:00:00|1|4|4000Mc|(JobHeldUser)|0|"
             "2026-11-22T10:00:00|N/A\n"
             "13_0|batch|a|u1|R|5:00|2:00:00|1|4|4000Mc|n1|7|2026-11-22T10:00:00|N/A\n"
             "14|batch|a|u1|CG|0:00|1-00:00:00|1|4|0|n2|5|2026-11-22T10:00:00|"
             "2026-11-22T10:10:00\n"
             "15|batch|a|u1|S|0:00|1-00:00:00|1|4|2G|n2|5|2026-11-22T10:00:00|"
             "2026-11-22T10:10:00\n"
             "16|batch|a|u1|CD|0:00|1-00:00:00|1|4|2G|n2|5|2026-11-22T10:00:00|"
             "2026-11-22T10:10:00\n"
             "17|batch|a|u1|XX|0:00|1:00|1|4|2G||5|2026-11-22T10:00:00|N/A\n"}});
    const json &running = r.at("cluster").at("running");
    json wait = named(r.at("jobs"), "12"), tasks = named(r.at("jobs"), "13");

    CHECK(running.size() == 4);
    CHECK(r.at("jobs").size() == 2);
    CHECK(named(running, "11").at("memory_bytes").get<double>() == 1073741824);
    CHECK(named(running, "11").at("cpus").get<double>() == 8);
    CHECK(named(running, "11").at("expected_end_s").get<double>() == 1795342200 + 1800);
    // Without a start: as long ago as it runs.
    CHECK(named(running, "13_0").at("expected_end_s").get<double>() ==
          1795343022 - 300 + 7200);
    CHECK(named(running, "13_0").at("memory_bytes").get<double>() ==
          4 * 4000 * 1048576.0);
    CHECK(named(running, "14").at("resource_ids").dump() == R"(["n2"])");
    CHECK(named(running, "15").at("cpus").get<double>() == 0);
    CHECK(named(running, "15").at("memory_bytes").get<double>() == 2147483648.0);
    CHECK(wait.at("nodes").get<double>() == 2);
    CHECK(wait.at("cpus").get<double>() == 8);
    CHECK(wait.at("memory_bytes").get<double>() == 4000 * 1048576.0);
    CHECK(wait.at("time_limit_s").get<double>() == 5400);
    CHECK(tasks.at("array").dump() == R"({"id":"13","running_max":2,"task_ids":"1-5"})");
    CHECK(tasks.at("held").get<bool>());
    CHECK(tasks.at("memory_bytes").get<double>() == 4 * 4000 * 1048576.0);
    for (const auto &e : r.at("estimates"))
        CHECK(e.at("reason").get<std::string>() ==
              (e.at("job_id").get<std::string>() == "12" ? "Resources" : "JobHeldUser"));
    CHECK(warns(r, "skipped: 1: jobs of a state that is not known are left out, the "
                   "first: XX, at /squeue/jobs/7"));
}

TEST_CASE("a table of sinfo has rows for nodes that are alike, in each partition",
          "[slurm]")
{
    api a;
    json r = import(
        a, {{"now_s", 1000},
            {"sinfo",
             "PARTITION|AVAIL|TIMELIMIT|NODES|STATE|CPUS(A/I/O/T)|S:C:T|MEMORY|WEIGHT|"
             "AVAIL_FEATURES|GRES|NODELIST\n"
             "batch*|up|2-00:00:00|2|idle|8/24/0/32|2:8:1|32000|5|ib,fast|"
             "gpu:tesla:4(S:0)|n[1-2]\n"
             "batch*|up|2-00:00:00|1|drng|0/0/16/16|2:8:1|31000+|1|(null)|(null)|n3\n"
             "long|down|infinite|2|idle|8/24/0/32|2:8:1|32000|5|ib,fast|(null)|"
             "n[1-2]\n"}});
    const json &c = r.at("cluster");
    json batch = named(c.at("partitions"), "batch"),
         stopped = named(c.at("partitions"), "long");

    REQUIRE(c.at("resources").size() == 3);
    CHECK(named(c.at("resources"), "n2").dump() ==
          R"({"capacities":{"gpus":4,"gres.gpu.tesla":4},"cores_per_socket":8,)"
          R"("cpus":16,"features":["ib","fast"],"id":"n2","memory_bytes":33554432000,)"
          R"("sockets":2,"state":"up","threads_per_core":1,"weight":5})");
    CHECK(named(c.at("resources"), "n3").at("state").get<std::string>() == "drain");
    CHECK(named(c.at("resources"), "n3").at("cpus").get<double>() == 16);
    CHECK(batch.at("resource_ids").dump() == R"(["n1","n2","n3"])");
    CHECK(batch.at("default").get<bool>());
    CHECK(batch.at("time_limit_max_s").get<double>() == 172800);
    CHECK(stopped.at("resource_ids").dump() == R"(["n1","n2"])");
    CHECK(stopped.at("state").get<std::string>() == "down");
    CHECK(!stopped.contains("time_limit_max_s"));
    CHECK(r.at("warnings").size() == 1);
    CHECK(warns(r, "guessed: 1: rows of sinfo for nodes that are not alike"));
}

TEST_CASE("memory with a suffix, all nodes, reservations that come again", "[slurm]")
{
    api a;
    json r = import(a, json::parse(R"({"now_s": 1795343022, "tz_offset_s": 0,
        "squeue": {"jobs": []},
        "sinfo": {"nodes": [{"name": "n1", "cpus": 4, "real_memory": "2G"},
                            {"name": "n2", "cpus": 4, "real_memory": "4000M"}]},
        "partitions": "PartitionName=all Nodes=ALL State=UP MaxTime=10",
        "reservations": {"reservations": [
            {"name": "r", "node_list": "n1", "start_time": 1795350000,
             "end_time": 1795360000, "flags": ["WEEKDAY", "MAINT"]},
            {"name": "d", "node_list": "n1", "start_time": 1795350000,
             "end_time": 1795360000, "flags": ["DAILY"]}]}})"));
    const json &cluster = r.at("cluster");

    CHECK(named(cluster.at("resources"), "n1").at("memory_bytes") == 2147483648.0);
    CHECK(named(cluster.at("resources"), "n2").at("memory_bytes") == 4194304000.0);
    CHECK(named(cluster.at("partitions"), "all").at("resource_ids") ==
          json({"n1", "n2"}));
    CHECK(named(cluster.at("reservations"), "d").at("flags") == json({"daily"}));
    CHECK(r.at("lost") ==
          json::parse(
              R"([{"what": "reservation_repeats", "count": 1, "examples": ["r"]}])"));
    CHECK_FALSE(warns(r, "unknown_node"));
}

TEST_CASE("JSON of sinfo since v0.0.40", "[slurm]")
{
    api a;
    json number = {{"set", true}, {"infinite", false}, {"number", 90}};
    json none = {{"set", false}, {"infinite", true}, {"number", 0}};
    json partition = {
        {"name", "batch"},
        {"nodes", {{"configured", "n[1-3]"}, {"total", 3}}},
        {"partition", {{"state", {"UP"}}}},
        {"priority", {{"job_factor", 10}, {"tier", 3}}},
        {"defaults", {{"memory_per_cpu", 0}, {"time", number}}},
        {"maximums",
         {{"time", number},
          {"nodes", none},
          {"over_time_limit", number},
          {"oversubscribe", {{"jobs", 4}, {"flags", {"force"}}}}}},
    };
    auto row = [&](json names, json state, double cpus) {
        return json{{"node", {{"state", state}}},
                    {"nodes", {{"total", names.size()}, {"nodes", names}}},
                    {"cpus", {{"minimum", cpus}, {"maximum", cpus}, {"total", 99}}},
                    {"sockets", {{"minimum", 2}, {"maximum", 2}}},
                    {"memory", {{"minimum", 32000}, {"allocated", 5}}},
                    {"weight", {{"minimum", 5}, {"maximum", 5}}},
                    {"features", {{"total", "ib,fast"}, {"active", "ib"}}},
                    {"gres", {{"total", "gpu:tesla:4"}, {"used", "gpu:1"}}},
                    {"partition", partition}};
    };
    json r = import(a, {{"now_s", 1000},
                        {"sinfo",
                         {{"sinfo",
                           {row({"n1", "n2"}, {"IDLE"}, 16),
                            row({"n3"}, {"DOWN", "NOT_RESPONDING"}, 8)}}}}});
    const json &c = r.at("cluster");
    json p = c.at("partitions").at(0);

    CHECK(named(c.at("resources"), "n2").dump() ==
          R"({"capacities":{"gpus":4,"gres.gpu.tesla":4},"cpus":16,)"
          R"("features":["ib","fast"],"id":"n2","memory_bytes":33554432000,)"
          R"("sockets":2,"state":"up","weight":5})");
    CHECK(named(c.at("resources"), "n3").at("state").get<std::string>() == "down");
    CHECK(named(c.at("resources"), "n3").at("cpus").get<double>() == 8);
    CHECK(p.dump() ==
          R"({"id":"batch","over_time_limit_s":5400,"priority_factor":10,)"
          R"("priority_tier":3,"resource_ids":["n1","n2","n3"],"shared_jobs_max":4,)"
          R"("sharing":"force","state":"up","time_limit_default_s":5400,)"
          R"("time_limit_max_s":5400})");
    CHECK(r.at("warnings").empty());
}

TEST_CASE("memory of a partition, for a node or with its highest bit for a cpu",
          "[slurm]")
{
    api a;
    auto memory = [&](const char *number) {
        std::string text =
            std::string(
                R"({"partitions": [{"name": "p", "defaults": {"memory_per_cpu": )") +
            number + "}}]}";
        json p = import(a, {{"now_s", 1}, {"partitions", text}})
                     .at("cluster")
                     .at("partitions")
                     .at(0);

        p.erase("id");
        p.erase("state");
        p.erase("sharing");
        p.erase("priority_tier");
        p.erase("priority_factor");
        return p.dump();
    };

    CHECK(memory("2000") == R"({"memory_per_node_default_bytes":2097152000})");
    CHECK(memory("9223372036854777808") ==
          R"({"memory_per_cpu_default_bytes":2097152000})");
    CHECK(memory("0") == "{}");
    CHECK(memory("18446744073709551615") == "{}");
    CHECK(memory("18446744073709551614") == "{}");
    CHECK(memory("9.2233720368547778e+18") == "{}"); // as a double: not known any more
}

// A job of v0.0.41 that waits, with other members.
static json job_v41(int id, const json &with)
{
    auto number = [](double n) {
        return json{{"set", true}, {"infinite", false}, {"number", n}};
    };
    json unset = {{"set", false}, {"infinite", false}, {"number", 0}};
    json job = {{"job_id", id},
                {"account", "phys"},
                {"user_name", "u1"},
                {"partition", "batch"},
                {"qos", "normal"},
                {"priority", number(100)},
                {"submit_time", number(900)},
                {"eligible_time", number(900)},
                {"time_limit", number(90)},
                {"job_state", {"PENDING"}},
                {"node_count", number(2)},
                {"tasks", number(8)},
                {"cpus_per_task", number(1)},
                {"max_nodes", number(0)},
                {"memory_per_cpu", number(500)},
                {"memory_per_node", unset},
                {"tres_req_str", "cpu=8,mem=4000M,node=2,billing=8"},
                {"exclusive", json::array()},
                {"shared", json::array()},
                {"array_job_id", number(0)},
                {"array_task_id", unset},
                {"flags", json::array()}};

    job.update(with);
    return job;
}

static json import_jobs(api &a, const json &jobs, const json &more = json::object())
{
    json body = {{"squeue", {{"jobs", jobs}}}, {"sinfo", two_nodes}, {"now_s", 1000}};

    body.update(more);
    return import(a, body);
}

TEST_CASE("what a job depends on, and what becomes of it when that cannot be", "[slurm]")
{
    api a;
    json r = import_jobs(
        a, {job_v41(1, {{"dependency", "afterok:12_3(unfulfilled):13,afterany:14"}}),
            job_v41(2, {{"dependency", "afterok:12?afternotok:13+10"}}),
            job_v41(3, {{"dependency", "afterok:12_3:13,afterany:14?singleton"}}),
            job_v41(4, {{"flags", {"KILL_INVALID_DEPENDENCY"}}}),
            job_v41(5, {{"dependency", "afterok:x"}})});
    auto after = [&](const char *id) {
        std::string text;

        for (const auto &x : named(r.at("jobs"), id).value("after", json::array()))
            text += x.at("kind").get<std::string>() + ":" +
                    x.at("job_id").get<std::string>() + "+" +
                    std::to_string(x.at("delay_s").get<int>()) + " ";
        return text;
    };

    CHECK(after("1") == "ok:12_3+0 ok:13+0 any:14+0 ");
    CHECK(!named(r.at("jobs"), "1").contains("after_mode"));
    CHECK(after("2") == "ok:12+0 notok:13+600 ");
    CHECK(named(r.at("jobs"), "2").at("after_mode").get<std::string>() == "any");
    CHECK(after("3") == "ok:12_3+0 ok:13+0 any:14+0 ");
    CHECK(named(r.at("jobs"), "3").at("after_mode").get<std::string>() == "any");
    CHECK(named(r.at("jobs"), "3").at("singleton").get<bool>());
    CHECK(!named(r.at("jobs"), "1").at("kill_on_invalid_dependency").get<bool>());
    CHECK(named(r.at("jobs"), "4").at("kill_on_invalid_dependency").get<bool>());
    CHECK(warns(r, "guessed: 1: dependencies with both , and ?"));
    CHECK(warns(r, "malformed: 1: texts of dependencies"));
    r = import_jobs(
        a, {job_v41(1, json::object()), job_v41(2, {{"flags", {"NO_KILL_INV_DEP"}}})},
        {{"scontrol_config", "SchedulerParameters = kill_invalid_depend\n"}});
    CHECK(named(r.at("jobs"), "1").at("kill_on_invalid_dependency").get<bool>());
    CHECK(!named(r.at("jobs"), "2").at("kill_on_invalid_dependency").get<bool>());
}

TEST_CASE("memory 0 is all of a node, which the total of the job says", "[slurm]")
{
    api a;
    json zero = {{"set", true}, {"infinite", false}, {"number", 0}};
    json all = {{"memory_per_node", zero},
                {"memory_per_cpu", zero},
                {"tres_req_str", "cpu=8,mem=62.5G,node=2,billing=8"}};
    json nodes = all;

    nodes["max_nodes"] = {{"set", true}, {"infinite", false}, {"number", 2}};
    json r =
        import_jobs(a, {job_v41(1, all), job_v41(2, nodes), job_v41(3, json::object())});

    CHECK(named(r.at("jobs"), "1").at("tasks").get<double>() == 8);
    CHECK(named(r.at("jobs"), "1").at("memory_bytes").get<double>() == 33554432000);
    CHECK(named(r.at("jobs"), "2").at("nodes").get<double>() == 2);
    CHECK(named(r.at("jobs"), "2").at("memory_bytes").get<double>() == 33554432000);
    CHECK(named(r.at("jobs"), "3").at("memory_per_cpu_bytes").get<double>() == 524288000);
    CHECK(!named(r.at("jobs"), "3").contains("memory_bytes"));
}

TEST_CASE("what no document has is said, and queues take what was imported", "[slurm]")
{
    api a;
    json r = import_jobs(
        a,
        {job_v41(1, {{"tres_req_str", "cpu=8,node=1"}}),
         job_v41(2, {{"account", "chem"}, {"qos", "high"}}),
         job_v41(3, {{"resv_name", "gone"}}), job_v41(4, {{"partition", "nowhere"}}),
         job_v41(5, {{"job_state", {"RUNNING"}},
                     {"account", "old"},
                     {"start_time", 900},
                     {"nodes", "n1"}})},
        {{"partitions", "PartitionName=batch\n   AllowAccounts=phys,chem "
                        "AllowQos=normal,high\n   Nodes=n[1-2] State=UP QoS=limits\n"},
         {"associations", "Cluster|Account|User|Share|QOS|Def QOS\n"
                          "c|root|||high|\nc|phys||60|urgent|\n"}});
    json queue = {{"algorithm", "slurm_backfill"},
                  {"now_s", r.at("now_s")},
                  {"cluster", r.at("cluster")},
                  {"jobs", r.at("jobs")}};
    std::string unplaced = r.at("unplaced").dump();

    CHECK(unplaced == R"([{"job_id":"3","reason":"unknown_reservation"},)"
                      R"({"job_id":"4","reason":"unknown_partition"}])");
    CHECK(warns(r, "unknown_qos: 4: "));
    CHECK(warns(r, "unknown_account: 2: "));
    CHECK(warns(r, "unknown_reservation: 1: "));
    CHECK(named(r.at("cluster").at("accounts"), "old").at("shares").get<double>() == 0);
    CHECK(named(r.at("cluster").at("qos"), "high").at("priority").get<double>() == 0);
    api_reply q = a.post("/v1/queue-orders", queue.dump());
    INFO(q.body);
    CHECK(q.status == 200);
    // Without any document of accounts, and none that names one, nothing is asked of
    // them.
    r = import_jobs(a, {job_v41(1, json::object()), job_v41(2, json::object())});
    CHECK(!r.at("cluster").contains("accounts"));
    queue = {{"algorithm", "slurm_backfill"},
             {"now_s", 1000},
             {"cluster", r.at("cluster")},
             {"jobs", r.at("jobs")}};
    CHECK(a.post("/v1/queue-orders", queue.dump()).status == 200);
}

TEST_CASE("limits of associations and QOS as JSON", "[slurm]")
{
    api a;
    json r = import(a, json::parse(R"({"now_s": 1, "associations": {"associations": [
        {"account": "root", "cluster": "c", "shares_raw": 1},
        {"account": "phys", "cluster": "c", "shares_raw": 60, "parent_account": "root",
         "qos": ["high"], "default": {"qos": "high"},
         "max": {"jobs": {"active": {"set": true, "infinite": false, "number": 4},
                          "total": {"set": false, "infinite": true, "number": 0},
                          "per": {"count": {"set": true, "infinite": false, "number": 9},
                                  "wall_clock": {"set": true, "infinite": false,
                                                 "number": 90}}},
                 "tres": {"total": [{"type": "cpu", "name": "", "id": 1, "count": 64},
                                    {"type": "gres", "name": "gpu", "count": 8}],
                          "group": {"minutes": [{"type": "cpu", "count": 1000}]},
                          "per": {"job": [{"type": "mem", "count": 4000}]}}}}]},
        "qos": {"qos": [{"name": "high",
            "priority": {"set": true, "infinite": false, "number": 100},
            "flags": ["NO_RESERVE", "DENY_LIMIT"],
            "preempt": {"list": ["low"], "mode": ["REQUEUE"]},
            "limits": {"grace_time": 30, "max": {
                "wall_clock": {"per": {"job": {"set": true, "infinite": false,
                                               "number": 60}}},
                "jobs": {"active_jobs": {"per": {
                    "user": {"set": true, "infinite": false, "number": 3}}}},
                "tres": {"per": {"user": [{"type": "node", "count": 2}]}}}}}]}})"));
    json phys = named(r.at("cluster").at("accounts"), "phys");
    json high = named(r.at("cluster").at("qos"), "high");

    CHECK(phys.at("shares").get<double>() == 60);
    CHECK(phys.at("parent_id").get<std::string>() == "root");
    CHECK(phys.at("limits").dump() ==
          R"({"group":{"cpu_s":60000,"cpus":64,"jobs_running":9,"needs":{"gpus":8}},)"
          R"("jobs_running_max":4,"per_job":{"memory_bytes":4194304000},)"
          R"("wall_s_max":5400})");
    CHECK(high.at("priority").get<double>() == 100);
    CHECK(high.at("grace_s").get<double>() == 30);
    CHECK(high.at("flags").dump() == R"(["no_reserve","deny_on_limit"])");
    CHECK(high.at("preempt_mode").get<std::string>() == "requeue");
    CHECK(high.at("preempts").dump() == R"(["low"])");
    CHECK(high.at("limits").dump() ==
          R"({"jobs_running_per_user_max":3,"per_user":{"nodes":2},"wall_s_max":3600})");
}

TEST_CASE("a limit of nothing is one, too", "[slurm]")
{
    api a;
    json r = import(a, json::parse(R"({"now_s": 1, "associations": {"associations": [
        {"account": "root", "cluster": "c", "shares_raw": 1}]},
        "qos": {"qos": [{"name": "cpu_only", "limits": {"max": {"tres": {"total": [
            {"type": "gres", "name": "gpu", "count": 0},
            {"type": "license", "name": "matlab", "count": 3}]}}}}]}})"));

    CHECK(named(r.at("cluster").at("qos"), "cpu_only").at("limits").at("group").dump() ==
          R"({"needs":{"gpus":0,"licence.matlab":3}})");
}

TEST_CASE("the most memory of a partition's nodes, in every form", "[slurm]")
{
    api a;
    for (const char *partitions :
         {"PartitionName=p\n   DefMemPerCPU=500 MaxMemPerNode=8000\n   Nodes=n1\n",
          R"({"partitions": [{"name": "p", "maximums": {"memory_per_cpu": 8000}}]})",
          R"({"partitions": [{"name": "p", "maximums": {"partition_memory_per_node":
              {"set": true, "infinite": false, "number": 8000}}}]})"}) {
        json p = import(a, {{"now_s", 1}, {"partitions", partitions}})
                     .at("cluster")
                     .at("partitions")
                     .at(0);
        INFO(p.dump());
        CHECK(p.at("memory_per_node_max_bytes") == 8000 * 1048576.0);
        CHECK_FALSE(p.contains("memory_per_cpu_max_bytes"));
    }
    json p = import(a, {{"now_s", 1},
                        {"partitions", "PartitionName=p MaxMemPerNode=UNLIMITED\n"}})
                 .at("cluster")
                 .at("partitions")
                 .at(0);
    CHECK_FALSE(p.contains("memory_per_node_max_bytes"));

    // Slurm counts the memory of one cpu against it, unless it says that it is too much.
    for (const char *reason : {"Resources", "MaxMemPerLimit"}) {
        json job = {{"job_id", 7},           {"job_state", "PENDING"},
                    {"priority", 9},         {"partition", "p"},
                    {"time_limit", 10},      {"cpus", 16},
                    {"tasks", 16},           {"max_nodes", 1},
                    {"node_count", 1},       {"tres_req_str", "cpu=16,node=1"},
                    {"memory_per_cpu", 900}, {"state_reason", reason}};
        json row = import_jobs(a, json::array({job}),
                               {{"partitions", "PartitionName=p MaxMemPerNode=8000\n"}})
                       .at("jobs")
                       .at(0);
        INFO(row.dump());
        if (*reason == 'R')
            CHECK(row.at("memory_per_cpu_bytes") == 900 * 1048576.0);
        else
            CHECK(row.at("memory_bytes") == 16 * 900 * 1048576.0);
        CHECK(row.contains("memory_bytes") != row.contains("memory_per_cpu_bytes"));
    }
}

TEST_CASE("JSON of 22.05 does not say the cpus of a task", "[slurm]")
{
    api a;
    auto job = [&](const json &with) {
        json row = {{"job_id", 7},          {"job_state", "PENDING"},
                    {"priority", 9},        {"partition", "batch"},
                    {"time_limit", 10},     {"cpus_per_task", nullptr},
                    {"max_nodes", 0},       {"node_count", 1},
                    {"tasks_per_node", 0},  {"memory_per_node", nullptr},
                    {"memory_per_cpu", 500}};
        row.update(with);
        return import_jobs(a, json::array({row})).at("jobs").at(0);
    };
    // sbatch -n 3 -c 4
    json spread = job({{"tasks", 3}, {"cpus", 12}, {"tres_req_str", "cpu=12,node=1"}});
    CHECK(spread.at("tasks") == 3);
    CHECK(spread.at("cpus_per_task") == 4);
    // sbatch -N 1 --ntasks-per-node 2 -c 4
    json fixed = job({{"tasks", 2},
                      {"tasks_per_node", 2},
                      {"cpus", 8},
                      {"max_nodes", 1},
                      {"tres_req_str", "cpu=8,node=1"}});
    CHECK(fixed.at("cpus") == 8);
    CHECK(fixed.at("memory_bytes") == 8 * 500 * 1048576.0);
    // sbatch -N 1 -n 2 --mem-per-cpu 1500, with 500 at most
    json raised = job({{"tasks", 2},
                       {"cpus", 6},
                       {"max_nodes", 1},
                       {"tres_req_str", "cpu=2,mem=3000M,node=1"}});
    CHECK(raised.at("cpus") == 6);
    CHECK(raised.at("memory_bytes") == 3000 * 1048576.0);
    // sbatch -n 3
    CHECK(job({{"tasks", 3}, {"cpus", 3}, {"tres_req_str", "cpu=3,node=1"}})
              .at("cpus_per_task") == 1);
}
