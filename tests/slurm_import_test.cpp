// slurm_import_test.cpp - Slurm's documents as a cluster and its queue.
#include "tests/database.hpp"
#include "tests/slurm_support.hpp"

using nlohmann::json;

static json import(api &a, const std::string &body)
{
    api_reply r = a.post("/v1/imports/slurm", body);

    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 200);
    return r.json();
}

static json find(const json &list, const char *id)
{
    for (const auto &row : list)
        if (row.at("id").get<std::string>() == id)
            return row;
    FAIL("no " << id);
    return json();
}

TEST_CASE("a recorded job is what it is known to be", "[slurm]")
{
    api a;
    json r = import(a, import_body("plan1", FORM_JSON));
    json run = find(r.at("cluster").at("running"), "6_0");

    CHECK(run.at("resource_ids").dump() == R"(["node2","node3","node4","node5"])");
    CHECK(run.at("cpus").get<double>() == 16);
    CHECK(run.at("memory_bytes").get<double>() == 8388608000.0);
    CHECK(run.at("exclusive").get<bool>());
    CHECK(run.at("expected_end_s").get<double>() == 1795344807);
    CHECK(run.at("array_id").get<std::string>() == "6");

    json wait = find(r.at("jobs"), "6");
    CHECK(wait.at("array").at("task_ids").get<std::string>() == "1-5");
    CHECK(wait.at("array").at("running_max").get<double>() == 2);
    CHECK(wait.at("nodes").get<double>() == 4);
    CHECK(wait.at("cpus").get<double>() == 1);
    CHECK(wait.at("memory_bytes").get<double>() == 500 * 1048576.0);
    CHECK(wait.at("exclusive").get<bool>());
    CHECK(wait.at("time_limit_s").get<double>() == 1800);

    CHECK(find(r.at("jobs"), "1").at("time_limit_s").get<double>() == 5400); // 90 min
    json held = find(r.at("jobs"), "3");
    CHECK(held.at("held").get<bool>());
    CHECK(held.at("held_by").get<std::string>() == "user");
    CHECK(held.at("after").dump() == R"([{"delay_s":0,"job_id":"2","kind":"ok"}])");
    CHECK(held.at("nice").get<double>() == 50);
    CHECK(r.at("lost").size() == 0);
    CHECK(r.at("now_s").get<double>() == Approx(1795343022.717).epsilon(1e-15));
    CHECK(r.at("version").get<std::string>() == "v0.0.38");
}

TEST_CASE("nodes, partitions, licences, shares and settings", "[slurm]")
{
    api a;
    json c = import(a, import_body("plan1", FORM_JSON)).at("cluster");

    REQUIRE(c.at("resources").size() == 8);
    json node = find(c.at("resources"), "node7");
    CHECK(node.at("capacities").dump() == R"({"gpus":4})");
    CHECK(node.at("memory_bytes").get<double>() == 64000 * 1048576.0);
    CHECK(node.at("weight").get<double>() == 30);
    CHECK(node.at("features").dump() == R"(["gpu"])");
    CHECK(node.at("state").get<std::string>() == "up");
    CHECK(c.at("shared_capacities").dump() ==
          R"({"licence.ansys":2,"licence.matlab":3})");

    json batch = find(c.at("partitions"), "batch");
    CHECK(batch.at("default").get<bool>());
    CHECK(batch.at("time_limit_max_s").get<double>() == 172800);
    CHECK(batch.at("time_limit_default_s").get<double>() == 3600);
    CHECK(batch.at("resource_ids").size() == 6);
    json debug = find(c.at("partitions"), "debug");
    CHECK(debug.at("priority_tier").get<double>() == 10);
    CHECK(debug.at("priority_factor").get<double>() == 100);
    CHECK(find(c.at("partitions"), "all").at("nodes_per_job_max").get<double>() == 8);

    json s = c.at("policy_settings");
    CHECK(s.at("bf_window_s").get<double>() == 2880 * 60);
    CHECK(s.at("bf_resolution_s").get<double>() == 60);
    CHECK(s.at("sched_min_interval_s").get<double>() == Approx(0.5));
    CHECK(s.at("bf_licenses").get<bool>());
    CHECK(s.at("select").get<std::string>() == "cores_memory");
    CHECK(s.at("preempt_type").get<std::string>() == "qos");
    CHECK(s.at("preempt_mode").get<std::string>() == "requeue");
    CHECK(s.at("kill_wait_s").get<double>() == 5);
    json p = s.at("priority");
    CHECK(p.at("weight_fair_share").get<double>() == 2000);
    CHECK(p.at("weight_tres").dump() == R"({"cpus":100,"gpus":400,"memory_bytes":200})");
    CHECK(p.at("max_age_s").get<double>() == 86400);
    CHECK(p.at("decay_half_life_s").get<double>() == 7 * 86400);
    CHECK(p.at("calc_period_s").get<double>() == 60);
    CHECK(p.at("fair_share").get<std::string>() == "fair_tree");

    CHECK(find(c.at("qos"), "high").at("preempts").dump() == R"(["low"])");
    CHECK(find(c.at("qos"), "high")
              .at("limits")
              .at("jobs_running_per_user_max")
              .get<double>() == 4);
    json user3 = find(c.at("accounts"), "biology/user3");
    CHECK(user3.at("parent_id").get<std::string>() == "biology");
    CHECK(user3.at("shares").get<double>() == 20);
    CHECK(user3.at("limits").at("jobs_running_max").get<double>() == 3);
    CHECK(find(c.at("accounts"), "biology").at("parent_id").get<std::string>() == "root");
    CHECK(c.at("accounts").size() == 8); // rows of the other cluster are left out
}

// The document with a member more.
static std::string with(const std::string &document, const std::string &member)
{
    return "{" + member + "," + document.substr(document.find('{') + 1);
}

TEST_CASE("what Slurm itself warns of is passed on", "[slurm]")
{
    api a;
    const std::string description =
        R"("warnings":[{"description":"the plugin is old","source":"a"}])";
    const std::string twice = R"("warnings":[{"description":"one","source":"x"},)"
                              R"({"description":"one"},"two",{"warning":"?"},null])";
    std::string very_long = R"("warnings":["x)"; // two bytes each, from an odd place on
    for (int i = 0; i < 150; i++)
        very_long += "\xc3\xa4";
    very_long += "\"]";
    struct {
        const char *part, *file;
        std::string member, told;
    } cases[] = {
        {"squeue", "t0/squeue.json", description,
         "slurm_warned: 1 warning of Slurm itself, at /squeue: the plugin is old"},
        {"squeue", "t0/squeue.v0040.json", twice,
         "slurm_warned: 5 warnings of Slurm itself, the first at /squeue: one; two"},
        {"squeue", "t0/rest_jobs.json", description,
         "slurm_warned: 1 warning of Slurm itself, at /squeue: the plugin is old"},
        {"sinfo", "t0/sinfo.json", description,
         "slurm_warned: 1 warning of Slurm itself, at /sinfo: the plugin is old"},
        {"partitions", "t0/rest_partitions.json", R"("warnings":[{}])",
         "slurm_warned: 1 warning of Slurm itself, at /partitions"},
        {"reservations", "t0/rest_reservations.json", description,
         "slurm_warned: 1 warning of Slurm itself, at /reservations: the plugin is old"},
        {"sacct", "sacct.json", description,
         "slurm_warned: 1 warning of Slurm itself, at /sacct: the plugin is old"},
    };

    for (const auto &c : cases) {
        INFO(c.part << " " << c.file);
        std::string text = recorded("plan1", c.file);
        REQUIRE(!text.empty());
        json body{{c.part, with(text, c.member)}, {"now_s", 1795343022}};
        json warnings = import(a, body.dump()).at("warnings");
        CHECK(warnings.dump().find("\"" + c.told + "\"") != std::string::npos);
        body[c.part] = with(text, R"("warnings":[])");
        CHECK(import(a, body.dump()).at("warnings").dump().find("slurm_warned") ==
              std::string::npos);
    }
    json body{{"squeue", with(recorded("plan1", "t0/squeue.json"), very_long)}};
    std::string cut = import(a, body.dump()).at("warnings").dump();
    CHECK(cut.find("\xc3\xa4...\"") != std::string::npos);
    CHECK(cut.find(std::string(200, 'x')) == std::string::npos);
}

TEST_CASE("what Slurm warns of in accounting is passed on when it is stored",
          "[slurm][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    const std::string told =
        "slurm_warned: 1 warning of Slurm itself, at the document: old";
    std::string text = with(recorded("plan1", "sacct.json"),
                            R"("warnings":[{"description":"old","source":"x"}])");
    auto post = [&](const std::string &path) {
        api_reply r = a.call("POST", path, text, {{"content_type", "text/plain"}});

        INFO(r.body);
        REQUIRE(r.status < 300);
        return r.json();
    };

    a.call("DELETE", "/v1/workloads/warned-log", "");
    CHECK(post("/v1/workloads?kind=sacct&id=warned-log")
              .at("summary")
              .at("warnings")
              .dump()
              .find("\"" + told + "\"") != std::string::npos);
    CHECK(post("/v1/imports/slurm/history")
              .at("warnings")
              .dump()
              .find("\"" + told + "\"") != std::string::npos);
}

TEST_CASE("all memory of a node is no memory in a table, which is said", "[slurm]")
{
    api a;
    const std::string head = "JOBID|STATE|PARTITION|NODES|CPUS|TIME_LIMIT|MIN_MEMORY\n";
    const std::string sinfo = "NodeName=n1 CPUTot=4 RealMemory=1000 State=IDLE "
                              "Partitions=p";
    auto told = [&](const std::string &memory) {
        json body{{"squeue", head + "7|PENDING|p|1|1|10:00|" + memory + "\n"},
                  {"sinfo", sinfo},
                  {"now_s", 1795343022}};
        return import(a, body.dump()).at("warnings").dump();
    };

    CHECK(told("0").find("guessed: 1: waiting jobs whose MIN_MEMORY a table has as 0") !=
          std::string::npos);
    CHECK(told("500M").find("has as 0") == std::string::npos);
    // As a Slurm 22.05 prints --mem=0 in its other forms.
    json body{{"squeue", "JobId=7 JobName=x\n JobState=PENDING Partition=p NumNodes=1-1 "
                         "NumCPUs=1 NumTasks=1 TRES=cpu=1,mem=1000M,node=1,billing=1 "
                         "MinMemoryNode=0 TimeLimit=00:10:00"},
              {"sinfo", sinfo},
              {"now_s", 1795343022}};
    json r = import(a, body.dump());
    CHECK(r.at("jobs")[0].at("memory_bytes").get<double>() == 1000 * 1048576.0);
    CHECK(r.at("warnings").dump().find("has as 0") == std::string::npos);
}

TEST_CASE("errors of Slurm are told, and not at any length", "[slurm]")
{
    api a;
    auto refusal = [&](const std::string &errors) {
        json body{{"squeue", R"({"jobs":[],"errors":)" + errors + "}"}};
        api_reply r = a.post("/v1/imports/slurm", body.dump());

        REQUIRE(r.status == 422);
        CHECK(r.json().at("errors")[0].at("pointer").get<std::string>() == "/squeue");
        return r.json().at("errors")[0].at("detail").get<std::string>();
    };

    CHECK(refusal(R"([{"error":"no controller","errno":1}])") ==
          "Slurm tells of 1 error: no controller");
    CHECK(
        refusal(R"([{"description":"it failed","error":"why"},"two","three","four"])") ==
        "Slurm tells of 4 errors: it failed why; two; three");
    CHECK(refusal("[{}]") == "Slurm tells of 1 error");
    CHECK(refusal("[\"" + std::string(5000, 'x') + "\"]").size() < 300);
}

// Every element of the answer on a line of its own.
static std::vector<std::string> lines(const json &r)
{
    std::vector<std::string> list;

    for (const auto &member : r.at("cluster").items())
        if (member.value().is_array())
            for (const auto &row : member.value())
                list.push_back(member.key() + " " + row.dump());
        else
            list.push_back(member.key() + " " + member.value().dump());
    for (const auto &job : r.at("jobs"))
        list.push_back("job " + job.dump());
    return list;
}

// Where two differ first; "" if nowhere.
static std::string difference(const std::vector<std::string> &a,
                              const std::vector<std::string> &b)
{
    for (size_t i = 0; i < std::max(a.size(), b.size()); i++)
        if (i >= a.size() || i >= b.size() || a[i] != b[i])
            return (i < a.size() ? a[i] : "(end)") + "\n" +
                   (i < b.size() ? b[i] : "(end)");
    return "";
}

TEST_CASE("all forms of a recording give the same cluster", "[slurm]")
{
    api a;

    for (const std::string &recording : recordings()) {
        INFO(recording);
        json of_json = import(a, import_body(recording, FORM_JSON));
        std::vector<std::string> want = lines(of_json);

        CHECK(of_json.at("lost").size() == 0);
        CHECK(of_json.at("cluster").at("resources").size() == 8);
        json of_text = import(a, import_body(recording, FORM_TEXT));
        CHECK(difference(lines(of_text), want) == "");
        // Texts have sentences for some reasons.
        CHECK(of_text.at("estimates") == of_json.at("estimates"));
        if (!recorded(recording, "t0/rest_jobs.json").empty())
            CHECK(difference(lines(import(a, import_body(recording, FORM_REST))), want) ==
                  "");
        if (!recorded(recording, "t0/squeue.v0040.json").empty())
            CHECK(difference(lines(import(a, import_body(recording, FORM_V40))), want) ==
                  "");
    }
}

// The answer to one document of jobs, with the nodes of plan1.
static json jobs_of(api &a, const std::string &squeue, const std::string &more = "")
{
    std::string body = "{";

    add_part(body, "squeue", squeue);
    add_part(body, "sinfo", recorded("plan1", "t0/sinfo.json"));
    return import(a, body + ", \"now_s\": 1795343100" + more + "}");
}

TEST_CASE("dependencies, begins, limits and what has no place", "[slurm]")
{
    api a;
    json r = jobs_of(a, R"({"jobs": [
        {"job_id": 1, "job_state": "PENDING", "priority": 5, "partition": "batch,debug",
         "dependency": "afterok:12_3:13(unfulfilled),after:75_*+5,singleton",
         "time_limit": 90, "nice": 2147483600, "eligible_time": 1795343200,
         "tres_req_str": "cpu=8,mem=8G,node=2", "max_nodes": 5, "node_count": 2,
         "tasks_per_node": 0, "features": "ib&bigmem", "required_nodes": "node[1-2]",
         "memory_per_node": 4096, "deadline": 1795350000, "time_minimum": 30},
        {"job_id": 2, "job_state": ["PENDING"], "priority": {"set": true, "number": 0},
         "state_reason": "JobHeldAdmin", "partition": "batch", "het_job_id": 2,
         "dependency": "afterany:14?afternotok:15", "nice": -10,
         "time_limit": {"set": false, "infinite": true, "number": 0}},
        {"job_id": 3, "job_state": "PENDING", "partition": "nowhere", "priority": 1},
        {"job_id": 4, "job_state": "PENDING", "partition": "all", "priority": 1,
         "dependency": "afterburstbuffer:3,sometimes:4", "burst_buffer": "#BB",
         "exclusive": ["user"], "array_job_id": 4, "array_task_string": "0-3:2%2"},
        {"job_id": 2, "job_state": "PENDING", "partition": "all"},
        {"job_state": "PENDING"}
    ]})");
    json one = r.at("jobs").at(0);

    CHECK(
        one.at("after").dump() ==
        R"([{"delay_s":0,"job_id":"12_3","kind":"ok"},{"delay_s":0,"job_id":"13","kind":"ok"},)"
        R"({"delay_s":300,"job_id":"75","kind":"start"}])");
    CHECK(one.at("singleton").get<bool>());
    CHECK(one.at("partition_ids").dump() == R"(["batch","debug"])");
    CHECK(one.at("time_limit_s").get<double>() == 5400);
    CHECK(one.at("time_limit_min_s").get<double>() == 1800);
    CHECK(one.at("begin_s").get<double>() == 1795343200);
    CHECK(one.at("deadline_s").get<double>() == 1795350000);
    CHECK(one.at("nodes").get<double>() == 2);
    CHECK(one.at("nodes_max").get<double>() == 5);
    CHECK(one.at("cpus").get<double>() == 4);
    CHECK(one.at("memory_bytes").get<double>() == 4294967296.0);
    CHECK(one.at("features").get<std::string>() == "ib&bigmem");
    CHECK(one.at("resource_ids_required").dump() == R"(["node1","node2"])");
    CHECK(one.at("nice").get<double>() == 2147483600);

    json two = find(r.at("jobs"), "2");
    CHECK(two.at("held_by").get<std::string>() == "admin");
    CHECK(two.at("after_mode").get<std::string>() == "any");
    CHECK(two.at("after").at(1).at("kind").get<std::string>() == "notok");
    CHECK(two.at("nice").get<double>() == -10);
    CHECK(two.at("time_limit_s").get<double>() == 31536000);

    json four = find(r.at("jobs"), "4");
    CHECK(four.at("exclusive_user").get<bool>());
    CHECK(four.at("after").at(0).at("kind").get<std::string>() == "any");
    CHECK(four.at("array").dump() == R"({"id":"4","running_max":2,"task_ids":"0-3:2"})");

    CHECK(r.at("jobs").size() == 3);
    CHECK(r.at("unplaced").dump() == R"([{"job_id":"3","reason":"unknown_partition"}])");
    std::string lost = r.at("lost").dump(), warnings = r.at("warnings").dump();
    CHECK(lost.find(R"({"count":1,"examples":["2"],"what":"heterogeneous_job"})") !=
          std::string::npos);
    CHECK(lost.find("burst_buffer") != std::string::npos);
    CHECK(lost.find("afterburstbuffer") != std::string::npos);
    for (const char *word : {"unknown_partition: 1", "nowhere", "sometimes:4",
                             "skipped: 1: records without a name", "/squeue/jobs/5",
                             "records of a name that was there before", "365 days"}) {
        INFO(word << " in " << warnings);
        CHECK(warnings.find(word) != std::string::npos);
    }
}

TEST_CASE("components of a heterogeneous job are a gang", "[slurm]")
{
    api a;
    json by_form[] = {
        jobs_of(a, R"({"jobs": [
            {"job_id": 7, "job_state": "PENDING", "priority": 9, "partition": "batch",
             "time_limit": 10, "het_job_id": 7, "het_job_offset": 0, "cpus": 1},
            {"job_id": 8, "job_state": "PENDING", "priority": 9, "partition": "gpu",
             "time_limit": 10, "het_job_id": 7, "het_job_offset": 1, "cpus": 1},
            {"job_id": 9, "job_state": "PENDING", "priority": 8, "partition": "batch",
             "time_limit": 10, "het_job_id": 0, "cpus": 1}]})"),
        jobs_of(a, R"({"jobs": [
            {"job_id": 7, "job_state": ["PENDING"], "partition": "batch",
             "priority": {"set": true, "infinite": false, "number": 9},
             "het_job_id": {"set": true, "infinite": false, "number": 7}},
            {"job_id": 8, "job_state": ["PENDING"], "partition": "gpu",
             "priority": {"set": true, "infinite": false, "number": 9},
             "het_job_id": {"set": true, "infinite": false, "number": 7}},
            {"job_id": 9, "job_state": ["PENDING"], "partition": "batch",
             "priority": {"set": true, "infinite": false, "number": 8},
             "het_job_id": {"set": true, "infinite": false, "number": 0}}]})"),
        jobs_of(a, "JOBID|PARTITION|STATE|PRIORITY\n7+0|batch|PENDING|9\n"
                   "7+1|gpu|PENDING|9\n9|batch|PENDING|8\n"),
    };
    for (const json &r : by_form) {
        INFO(r.at("jobs").dump());
        REQUIRE(r.at("jobs").size() == 3);
        CHECK(r.at("jobs").at(0).at("group").dump() == R"({"id":"7","policy":"gang"})");
        CHECK(r.at("jobs").at(1).at("group") == r.at("jobs").at(0).at("group"));
        CHECK_FALSE(r.at("jobs").at(2).contains("group"));
        CHECK(r.at("lost").dump().find(R"({"count":2)") != std::string::npos);
        // A decision takes it as it is.
        json order = {{"algorithm", "slurm_backfill"},
                      {"now_s", r.at("now_s")},
                      {"cluster", r.at("cluster")},
                      {"jobs", r.at("jobs")}};
        api_reply decided = a.post("/v1/queue-orders", order.dump());
        INFO(decided.body);
        CHECK(decided.status == 200);
    }
}

TEST_CASE("a job without a partition where none is the default has no place", "[slurm]")
{
    api a;
    json body = {{"now_s", 1000},
                 {"partitions", "PartitionName=p\n   Default=NO Nodes=n1\n"
                                "PartitionName=q\n   Default=NO Nodes=n1\n"},
                 {"squeue",
                  {{"jobs",
                    {{{"job_id", 1}, {"job_state", "PENDING"}},
                     {{"job_id", 2}, {"job_state", "PENDING"}, {"partition", "q"}}}}}}};
    json r = a.post("/v1/imports/slurm", body.dump()).json();
    INFO(r.dump());
    CHECK(r.at("unplaced").dump() == R"([{"job_id":"1","reason":"unknown_partition"}])");
    REQUIRE(r.at("jobs").size() == 1);
    CHECK(r.at("jobs").at(0).at("id").get<std::string>() == "2");
}

TEST_CASE("what a running job has of each node, by all that may be said", "[slurm]")
{
    api a;
    json r = jobs_of(a, R"x({"jobs": [
        {"job_id": 1, "job_state": "COMPLETING", "partition": "gpu", "nodes": "node[7-8]",
         "time_limit": 10, "start_time": 1795343000, "licenses": "matlab:2,x@srv:1",
         "gres_detail": ["gpu:1(IDX:0)", "gpu:tesla:3(IDX:1-3)"],
         "job_resources": {
        "nodes":
        {
            "count" : 2, "list" : "node[7-8]", "allocation" : [
                {
                    "name" : "node7",
                    "cpus" : {"count" : 6, "used" : 0},
                    "memory" : {"used" : 0, "allocated" : 100}
                },
                {"name" : "node8", "cpus" : {"count" : 6}, "memory" : {"allocated" : 100}}
            ]
        }}
},
        {"job_id": 2, "job_state": "RUNNING", "partition": "batch", "nodes": "node[1-2]",
         "time_limit": 10, "start_time": 1795343000,
         "tres_alloc_str": "cpu=6,mem=2000M,node=2,gres/gpu=4"},
        {"job_id": 3, "job_state": "SUSPENDED", "partition": "batch", "nodes": "node3",
         "start_time": 1795343000, "tres_alloc_str": "cpu=6,mem=1000M,node=1"}
    ]
})x");
    json run = r.at("cluster").at("running");

    REQUIRE(run.size() == 4);
    CHECK(run.at(0).at("needs").dump() ==
          R"({"gpus":1,"licence.matlab":2,"licence.x/srv":1})");
    CHECK(run.at(0).at("cpus").get<double>() == 6);
    CHECK(run.at(0).at("memory_bytes").get<double>() == 104857600);
    CHECK(run.at(1).at("id").get<std::string>() == "1");
    CHECK(run.at(1).at("needs").dump() == R"({"gpus":3,"gres.gpu.tesla":3})");
    CHECK(run.at(2).at("cpus").get<double>() == 3);
    CHECK(run.at(2).at("needs").dump() == R"({"gpus":2})");
    CHECK(run.at(3).at("cpus").get<double>() == 0);
    CHECK(run.at(3).at("memory_bytes").get<double>() == 1048576000);
    CHECK_FALSE(run.at(3).contains("expected_end_s"));
    CHECK(r.at("warnings").dump().find("suspended") != std::string::npos);
}

TEST_CASE("amounts without a limit of what runs are none that are known", "[slurm]")
{
    api a;
    json r = jobs_of(a, R"x({"jobs": [
        {"job_id": 1, "job_state": "RUNNING", "partition": "batch", "nodes": "node[1-2]",
         "time_limit": 10, "start_time": 1795343000, "job_resources": {"allocated_nodes": [
            {"nodename": "node1", "memory_allocated": -1,
             "sockets": {"0": {"cores": {"0": "allocated"}}}},
            {"nodename": "node2", "cpus": {"count": {"set": true, "infinite": true}},
             "memory": {"allocated": {"infinite": true, "number": 0}}}]}},
        {"job_id": 2, "job_state": "RUNNING", "partition": "batch", "nodes": "node3",
         "start_time": 1795343000, "tres_alloc_str": "cpu=UNLIMITED,mem=UNLIMITED,node=1"}
    ]
})x");
    json run = r.at("cluster").at("running");

    REQUIRE(run.size() == 3);
    for (const auto &row : run)
        CHECK(row.at("memory_bytes").get<double>() == 0);
    CHECK(run.at(0).at("cpus").get<double>() > 0);
    CHECK(run.at(1).at("cpus").get<double>() == 0);
    CHECK(run.at(2).at("cpus").get<double>() == 1);
}

TEST_CASE("an amount that nobody has is the most there is, with a warning", "[slurm]")
{
    api a;
    json r = jobs_of(a, R"x({"jobs": [
        {"job_id": 1, "job_state": "PENDING", "partition": "batch", "time_limit": 10,
         "licenses": "cpu=2,mem=1000M"}
    ]
})x");
    json needs = r.at("jobs").at(0).at("needs");

    CHECK(needs.at("licence.cpu").get<double>() == 2);
    CHECK(needs.at("licence.mem").get<double>() == 1e9);
    CHECK(r.at("warnings").dump().find("clamped: ") != std::string::npos);
}

TEST_CASE("scheduler parameters beyond Slurm's bounds have no effect, as there",
          "[slurm]")
{
    api a;
    auto settings = [&](const std::string &parameters) {
        json r = import(
            a, json({{"now_s", 1795343022},
                     {"tz_offset_s", 0},
                     {"scontrol_config",
                      "SchedulerParameters     = " + parameters + "\nClusterName = c\n"},
                     {"squeue", {{"jobs", json::array()}}},
                     {"sinfo", {{"nodes", {{{"name", "n1"}, {"cpus", 4}}}}}}})
                   .dump());
        std::string said = r.at("cluster").at("policy_settings").dump();

        return r.at("warnings").dump().find("beyond Slurm's") == std::string::npos
                   ? said
                   : said + " ignored";
    };

    CHECK(settings("bf_interval=-1,bf_window=43200") ==
          R"({"bf_interval_s":-1,"bf_window_s":2592000})");
    for (const char *odd :
         {"bf_interval=0", "bf_interval=10801", "bf_window=100000", "bf_max_job_test=0",
          "bf_max_job_array_resv=5000", "bf_resolution=7200", "sched_min_interval=-5"}) {
        CAPTURE(odd);
        CHECK(settings(odd) == "{} ignored");
    }
}

TEST_CASE("forms of amounts that other versions write", "[slurm]")
{
    api a;
    json r = jobs_of(a, R"x({"jobs": [
        {"job_id": 1, "job_state": "PENDING", "partition": "gpu", "node_count": 1,
         "time_limit": {"number": 90}, "tres_per_node": "gres/gpu:a100=2",
         "tres_req_str": "cpu=1,mem=1G,node=1"},
        {"job_id": 2, "job_state": "PENDING", "partition": "gpu", "node_count": 1,
         "time_limit": {"set": true, "infinite": false, "number": "30"},
         "tres_req_str": "cpu=1,mem=1G,node=1,gres/gpu:a100=2,gres/shard=3"},
        {"job_id": 3, "job_state": "PENDING", "partition": "gpu", "node_count": 1,
         "time_limit": 10, "array_job_id": 0, "array_task_string": "0-3",
         "tres_per_node": "gres/shard:4", "tres_req_str": "cpu=1,mem=1G,node=1"},
        {"job_id": 4, "job_state": "PENDING", "partition": "gpu", "node_count": 2,
         "time_limit": 10,
         "tres_req_str": "cpu=2,mem=1G,node=2,gres/gpu=4,gres/gpu:a100=2"}
    ]})x");
    const json &jobs = r.at("jobs");

    REQUIRE(jobs.size() == 4);
    CHECK(jobs.at(0).at("time_limit_s").get<double>() == 5400);
    CHECK(jobs.at(0).at("needs").dump() == R"({"gpus":2,"gres.gpu.a100":2})");
    CHECK(jobs.at(1).at("time_limit_s").get<double>() == 1800);
    CHECK(jobs.at(1).at("needs").dump() == R"({"gpus":2,"gres.gpu.a100":2})");
    CHECK(jobs.at(2).at("id").get<std::string>() == "3");
    CHECK(jobs.at(2).at("array").at("id").get<std::string>() == "3");
    CHECK_FALSE(jobs.at(2).contains("needs"));
    CHECK(jobs.at(3).at("needs").dump() == R"({"gpus":2,"gres.gpu.a100":1})");
    // Parts of a device are lost: no node has them here.
    CHECK(r.at("lost").dump() ==
          R"([{"count":2,"examples":["gres/shard","shard"],"what":"mps_or_shard"}])");
}

TEST_CASE("states of nodes in all words", "[slurm]")
{
    api a;
    struct {
        const char *state, *want;
    } cases[] = {
        {R"("state": "idle", "state_flags": ["DRAIN"])", "drain"},
        {R"("state": ["IDLE", "DRAIN"])", "drain"},
        {R"("state": "allocated", "state_flags": ["PLANNED"])", "up"},
        {R"("state": ["DOWN", "NOT_RESPONDING"])", "down"},
        {R"("state": ["MIXED", "MAINTENANCE"])", "maint"},
        {R"("state": ["IDLE", "POWERED_DOWN"])", "down"},
        {R"("state": ["FUTURE"])", "future"},
        {R"("state": "idle*")", "down"},
        {R"("state": ["IDLE", "DYNAMIC_NORM"])", "up"},
    };
    for (auto &c : cases) {
        std::string body = "{";
        INFO(c.state);
        add_part(
            body, "sinfo",
            std::string(R"({"nodes": [{"name": "n", "cpus": 4, "partitions": ["p"], )") +
                c.state + "}]}");
        json r = import(a, body + ", \"now_s\": 1}");
        CHECK(r.at("cluster").at("resources").at(0).at("state").get<std::string>() ==
              c.want);
        CHECK(r.at("cluster").at("partitions").at(0).at("id").get<std::string>() == "p");
    }
    std::string body = "{";
    add_part(body, "sinfo", "NodeName=n CPUTot=4 State=IDLE+DRAIN+NOT_RESPONDING\n");
    CHECK(import(a, body + ", \"now_s\": 1}")
              .at("cluster")
              .at("resources")
              .at(0)
              .at("state")
              .get<std::string>() == "down");
}

TEST_CASE("what is no document of Slurm is told as what it is", "[slurm]")
{
    api a;
    std::string squeue = recorded("plan1", "t0/squeue.json");
    struct {
        std::string text;
        const char *says;
    } cases[] = {
        {"hello", "neither JSON with jobs[] nor key=value records nor a table"},
        {"<html><body>502", "HTML"},
        {"slurm_load_jobs error: Unable to contact slurm controller",
         "an error of a Slurm command"},
        {squeue.substr(0, squeue.size() / 2), "breaks off at byte"},
        {R"({"errors": [{"error": "Zero Bytes were transmitted", "error_code": 1}], "jobs": []})",
         "Zero Bytes were transmitted"},
        {R"({"ping": []})", "JSON without jobs[]"},
        {"A|B|C\n1|2|3\n", "no known column"},
        {"{\"jobs\": [}", "line 1"},
    };
    for (auto &c : cases) {
        std::string body = "{";
        add_part(body, "squeue", c.text);
        api_reply r = a.post("/v1/imports/slurm", body + "}");
        INFO(c.text.substr(0, 100) << "\n" << r.body);
        CHECK(r.status == 422);
        CHECK(r.pointers() == std::vector<std::string>{"/squeue"});
        CHECK(r.body.find(c.says) != std::string::npos);
    }
    CHECK(a.post("/v1/imports/slurm", "{}").pointers() ==
          std::vector<std::string>{"/squeue"});
    CHECK(a.post("/v1/imports/slurm", R"({"squeue": 5, "sinfo": "x"})").pointers() ==
          std::vector<std::string>{"/squeue", "/sinfo"});
    CHECK(a.post("/v1/imports/slurm", R"({"squeu": "x"})").status == 422);
}

TEST_CASE("texts that users write cannot add fields to a record", "[slurm]")
{
    api a;
    json r = jobs_of(
        a, "JobId=7 JobName=a b Priority=99 c\n"
           "   UserId=user1(1001) GroupId=g(1)\n"
           "   Priority=5 Nice=0 Account=physics QOS=normal\n"
           "   JobState=PENDING Reason=Priority Dependency=(null)\n"
           "   TimeLimit=01:30:00 TimeMin=N/A\n"
           "   Partition=batch NumNodes=1-1 NumCPUs=1 NumTasks=1\n"
           "   TRES=cpu=1,mem=500M,node=1\n"
           "   Command=/x Partition=debug\n   Comment=Nice=7 Licenses=matlab:9\n");
    json job = r.at("jobs").at(0);

    CHECK(job.at("name").get<std::string>() == "a b Priority=99 c");
    CHECK(job.at("priority").get<double>() == 5);
    CHECK(job.at("partition_ids").dump() == R"(["batch"])");
    CHECK(job.at("nice").get<double>() == 0);
    CHECK_FALSE(job.contains("needs"));
    CHECK(job.at("time_limit_s").get<double>() == 5400);
}

TEST_CASE("a table with a | in a name", "[slurm]")
{
    api a;
    json r = jobs_of(a, "JOBID|PARTITION|NAME|USER|STATE|TIME_LIMIT|PRIORITY\n"
                        "1|batch|plain|user1|PENDING|1:30:00|3\n"
                        "2|batch|a|b|user1|PENDING|30:00|2\n"
                        "3|batch\n");

    CHECK(r.at("jobs").at(0).at("time_limit_s").get<double>() == 5400);
    CHECK(r.at("jobs").at(1).at("name").get<std::string>() == "a|b");
    CHECK(r.at("jobs").at(1).at("time_limit_s").get<double>() == 1800);
    std::string warnings = r.at("warnings").dump();
    CHECK(warnings.find("rows of tables with a |") != std::string::npos);
    CHECK(warnings.find("too few or too many fields") != std::string::npos);
}

TEST_CASE("now and the time zone are guessed with a warning", "[slurm]")
{
    api a;
    std::string body = "{";
    add_part(body, "squeue", recorded("plan1", "t0/scontrol_show_job.txt"));
    add_part(body, "sinfo", recorded("plan1", "t0/sinfo.json"));
    json r = import(a, body + "}");
    std::string warnings = r.at("warnings").dump();

    CHECK(warnings.find("time of receipt") != std::string::npos);
    CHECK(warnings.find("taken for UTC") != std::string::npos);
    r = jobs_of(a, recorded("plan1", "t0/scontrol_show_job.txt"),
                ", \"tz_offset_s\": 3600");
    CHECK(find(r.at("cluster").at("running"), "6_0").at("expected_end_s").get<double>() ==
          1795344807 - 3600);
    body = R"({"sinfo": {"nodes": [], "last_update": {"set": true, "number": 17}}})";
    CHECK(import(a, body).at("now_s").get<double>() == 17);
}

TEST_CASE("tasks on any nodes are not tasks on one", "[slurm]")
{
    api a;
    auto job = [&](const char *nodes) {
        return jobs_of(a,
                       std::string("JobId=7 JobName=a\n   JobState=PENDING Priority=5\n"
                                   "   Partition=batch TimeLimit=1-00:00:00 NumNodes=") +
                           nodes +
                           " NumCPUs=6 NumTasks=6 CPUs/Task=1\n"
                           "   TRES=cpu=6,mem=3000M,node=1 NtasksPerN:B:S:C=0:0:*:*\n")
            .at("jobs")
            .at(0);
    };
    json any = job("1"), one = job("1-1"), range = job("1-3");

    CHECK(any.at("tasks").get<double>() == 6);
    CHECK_FALSE(any.contains("nodes"));
    CHECK_FALSE(one.contains("tasks"));
    CHECK(one.at("cpus").get<double>() == 6);
    CHECK(range.at("nodes_max").get<double>() == 3);
    json untracked =
        jobs_of(a, R"({"jobs": [{"job_id": 1, "job_state": "PENDING", "priority": 1,
        "partition": "batch", "time_limit": 5, "node_count": 3, "max_nodes": 3, "cpus": 12}]})")
            .at("jobs")
            .at(0);
    CHECK(untracked.at("nodes").get<double>() == 3);
    CHECK(untracked.at("cpus").get<double>() == 4);
}

TEST_CASE("counts that say nothing, and states that hold a job", "[slurm]")
{
    api a;
    auto job = [&](const std::string &members) {
        return jobs_of(a, R"({"jobs": [{"job_id": 1, "priority": 7, "partition": "batch",
            "time_limit": 5, )" +
                              members + "}]}")
            .at("jobs")
            .at(0);
    };
    struct {
        const char *count;
        double nodes;
    } counts[] = {
        {"4294967294", 1}, {"4294967295", 1},
        {"null", 1},       {"0", 1},
        {"3", 3},          {"200000", 100000},
        {"-2", 1},         {R"({"set": false, "infinite": false, "number": 9})", 1}};
    for (auto &c : counts) {
        json w = job(R"("job_state": "PENDING", "tasks": 1, "node_count": )" +
                     std::string(c.count));
        INFO(c.count);
        CHECK(w.at("nodes").get<double>() == c.nodes);
        CHECK_FALSE(w.contains("held"));
    }
    for (const char *state :
         {R"("REQUEUE_HOLD")", R"(["PENDING", "SPECIAL_EXIT"])", R"("RESV_DEL_HOLD")"}) {
        json w = job(R"("job_state": )" + std::string(state));
        INFO(state);
        CHECK(w.at("held").get<bool>());
        CHECK(w.at("held_by").get<std::string>() == "user");
    }
    CHECK_FALSE(job(R"("job_state": "REQUEUED")").contains("held"));
}

TEST_CASE("what scontrol says where there is nothing is no error", "[slurm]")
{
    api a;
    json body = {{"now_s", 1},
                 {"squeue", "No jobs in the system\n"},
                 {"reservations", "No reservations in the system\n"},
                 {"licenses", "No licenses configured in Slurm.\n"},
                 {"sinfo", "NodeName=n1 CPUTot=4 RealMemory=1000 State=IDLE\n"}};
    json r = import(a, body.dump());

    CHECK(r.at("cluster").at("resources").size() == 1);
    CHECK(r.at("warnings").dump().find("in which nothing is") == std::string::npos);
    body["squeue"] = "\n";
    body["reservations"] = "";
    r = import(a, body.dump());
    INFO(r.at("warnings").dump());
    CHECK(
        r.at("warnings")
            .dump()
            .find(
                "skipped: 2: documents in which nothing is, as of a command that failed, "
                "at /squeue") != std::string::npos);
}
