// slurm_tables_test.cpp - tables as people print them: without -P or -o, with other
// marks, several records in a line of scontrol.
#include "tests/slurm_support.hpp"

using nlohmann::json;

static json import(api &a, const json &with)
{
    json body = {{"now_s", 1795343022}, {"tz_offset_s", 0}};

    body.update(with);
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

static const char *const nodes = "NODELIST|CPUS|MEMORY|STATE|PARTITION\n"
                                 "node[1-3]|16|32000|mix|batch*\n";

TEST_CASE("squeue without options sets its columns by blanks", "[slurm]")
{
    api a;
    json r = import(
        a, {{"sinfo", nodes},
            {"squeue",
             "             JOBID PARTITION     NAME     USER ST       TIME  NODES "
             "NODELIST(REASON)\n"
             "                12     batch   my job    user1 PD       0:00      1 "
             "(Resources)\n"
             "                13     batch     wrap    user1 PD       0:00      2 "
             "(ReqNodeNotAvail, UnavailableNodes:node[1-3])\n"
             "                11     batch    train    user2  R      10:00      1 node1\n"
             "        14_[1-5%2]     batch    arr_a    user2 PD       0:00      1 "
             "(JobArrayTaskLimit)\n"
             "              14_0     batch    arr_a    user2  R       1:00      2 "
             "node[2-3]\n"}});
    const json &running = r.at("cluster").at("running");

    CHECK(named(r.at("jobs"), "12").at("name") == "my job");
    CHECK(named(r.at("jobs"), "13").at("nodes") == 2);
    CHECK(named(r.at("jobs"), "14").at("array").dump() ==
          R"({"id":"14","running_max":2,"task_ids":"1-5"})");
    CHECK(r.at("estimates").at(1).at("reason") == "ReqNodeNotAvail");
    CHECK(named(running, "11").at("resource_ids") == json({"node1"}));
    CHECK(named(running, "14_0").at("resource_ids") == json({"node2", "node3"}));
    CHECK(named(running, "14_0").at("cpus") == 1);
    CHECK(warns(r, "guessed: 2: running jobs of which no document says how many CPUs"));
    CHECK_FALSE(warns(r, "too few"));
}

TEST_CASE("squeue -l and sinfo -l say first when that was", "[slurm]")
{
    api a;
    json r = import(
        a,
        {{"sinfo",
          "Sun Nov 22 10:23:42 2026\n"
          "NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT "
          "AVAIL_FE REASON              \n"
          "node1          1    batch*       mixed 16      2:8:1  32000        0      1   "
          "(null) none                \n"
          "node2          1    batch*        idle 16      2:8:1  32000        0      1   "
          "ib,ssd none                \n"
          "node3          1      long       down* 16      2:8:1  31000        0      1   "
          "(null) Not responding      \n"},
         {"squeue",
          "Sun Nov 22 10:23:42 2026\n"
          "             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  "
          "NODES NODELIST(REASON)\n"
          "                12     batch     wrap    user1  PENDING       0:00   1:30:00  "
          "    1 (Resources)\n"
          "                11     batch     wrap    user2  RUNNING      10:00 UNLIMITED  "
          "    1 node1\n"}});
    const json &c = r.at("cluster");

    CHECK(named(c.at("resources"), "node2").at("features") == json({"ib", "ssd"}));
    CHECK(named(c.at("resources"), "node2").at("memory_bytes") == 32000 * 1048576.0);
    CHECK(named(c.at("resources"), "node2").at("cpus") == 16);
    CHECK(named(c.at("resources"), "node3").at("state") == "down");
    CHECK(named(c.at("partitions"), "batch").at("resource_ids") ==
          json({"node1", "node2"}));
    CHECK(named(c.at("partitions"), "batch").at("default") == true);
    CHECK(named(r.at("jobs"), "12").at("time_limit_s") == 5400);
    CHECK(named(c.at("running"), "11").at("resource_ids") == json({"node1"}));
}

TEST_CASE("sinfo without options knows no CPUs, and says so", "[slurm]")
{
    api a;
    json r = import(a, {{"sinfo", "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
                                  "batch*       up 2-00:00:00      1    mix node1\n"
                                  "batch*       up 2-00:00:00      2   idle node[2-3]\n"
                                  "long         up   infinite      1  down* node4\n"}});
    const json &c = r.at("cluster");

    CHECK(named(c.at("partitions"), "batch").at("resource_ids") ==
          json({"node1", "node2", "node3"}));
    CHECK(named(c.at("partitions"), "batch").at("time_limit_max_s") == 172800);
    CHECK(named(c.at("resources"), "node4").at("state") == "down");
    CHECK(warns(r, "guessed: 3: nodes of which no document says how many CPUs"));
}

TEST_CASE("columns of squeue -O may touch, those of -o go by words", "[slurm]")
{
    api a;
    json r = import(
        a, {{"sinfo", nodes},
            {"squeue",
             "JOBID               PARTITION           NAME                USER           "
             "     STATE               TIME_LIMIT          NODELIST            \n"
             "12                  batch               my long name of a joalice          "
             "     PENDING             1-00:00:00                              \n"
             "11                  batch               x                   bob            "
             "     RUNNING             1-00:00:00          node1               \n"}});

    CHECK(named(r.at("jobs"), "12").at("name") == "my long name of a jo");
    CHECK(named(r.at("jobs"), "12").at("user") == "alice");
    CHECK(named(r.at("jobs"), "12").at("time_limit_s") == 86400);
    r = import(a, {{"sinfo", nodes},
                   {"squeue", "JOBID PARTITION USER ST TIME_LIMIT CPUS\n"
                              "12 batch alice PD 1:00:00 4\n"
                              "1300 batch bob PD 10:00 16\n"}});
    CHECK(named(r.at("jobs"), "1300").at("user") == "bob");
    CHECK(named(r.at("jobs"), "12").at("cpus") == 4);
}

TEST_CASE("other marks, arrays by two columns, priorities as a part", "[slurm]")
{
    api a;
    json r = import(
        a,
        {{"sinfo", nodes},
         {"squeue",
          "CLUSTER: c1\n"
          "ARRAY_JOB_ID,ARRAY_TASK_ID,PARTITION,STATE,CPUS,TIME_LIMIT,NODELIST,PRIORITY\n"
          "12,N/A,batch,PENDING,2,10:00,,0.00000023283064\n"
          "13,4,batch,RUNNING,2,10:00,node1,0.5\n"
          "13,5-9%2,batch,PENDING,2,10:00,,0.00000000000000\n"}});

    CHECK(named(r.at("jobs"), "12").at("priority") == 1000);
    CHECK_FALSE(named(r.at("jobs"), "12").contains("array"));
    CHECK(named(r.at("jobs"), "13").at("held") == true);
    CHECK(named(r.at("jobs"), "13").at("array").dump() ==
          R"({"id":"13","running_max":2,"task_ids":"5-9"})");
    CHECK(named(r.at("cluster").at("running"), "13_4").at("cpus") == 2);
    json two = {{"now_s", 1},
                {"squeue", "CLUSTER: a\nJOBID|ST\n1|PD\nCLUSTER: b\nJOBID|ST\n1|PD\n"}};
    CHECK(a.post("/v1/imports/slurm", two.dump()).pointers() ==
          std::vector<std::string>{"/squeue"});
}

TEST_CASE("scontrol -o has all of a job in a line, its nodes too", "[slurm]")
{
    api a;
    json r = import(
        a,
        {{"sinfo", nodes},
         {"squeue",
          "JobId=18 JobName=wrap UserId=u1(1001) JobState=RUNNING TimeLimit=00:30:00 "
          "StartTime=2026-11-22T10:23:27 Partition=batch NodeList=node[1-2] NumNodes=2 "
          "NumCPUs=8 TRES=cpu=8,mem=4000M,node=2,billing=8 CoreSpec=* JOB_GRES=gpu:2   "
          "Nodes=node1 CPU_IDs=0-5 Mem=3000 GRES=gpu:2(IDX:0-1)   Nodes=node2 "
          "CPU_IDs=0-1 Mem=1000 GRES= MinCPUsNode=1 Features=(null) OverSubscribe=OK "
          "Command=/bin/x WorkDir=/tmp\n"
          "JobId=19 JobName=wrap UserId=u1(1001) JobState=PENDING TimeLimit=UNLIMITED "
          "Partition=batch "
          "NumNodes=1-1 NumCPUs=4 CPUs/Task=4 Command=/home/a b/x.sh WorkDir=/tmp\n"}});
    const json &running = r.at("cluster").at("running");

    REQUIRE(running.size() == 2);
    CHECK(running.at(0).at("resource_ids") == json({"node1"}));
    CHECK(running.at(0).at("cpus") == 6);
    CHECK(running.at(0).at("needs") == json({{"gpus", 2}}));
    CHECK(running.at(1).at("cpus") == 2);
    CHECK(running.at(1).at("memory_bytes") == 1000 * 1048576.0);
    CHECK(named(r.at("jobs"), "19").at("cpus") == 4);
}

TEST_CASE("slurm.conf may begin with comments", "[slurm]")
{
    api a;
    json r = import(a, {{"sinfo", nodes},
                        {"scontrol_config", "# slurm.conf\n#\n\nClusterName=lab\n"
                                            "SchedulerParameters=bf_window=60\n"}});

    CHECK(r.at("name") == "lab");
    CHECK(r.at("cluster").at("policy_settings").at("bf_window_s") == 3600);
}

static const char *const narrow =
    "JobID           JobName    Account  AllocCPUS      State ExitCode               "
    "Start "
    "                End     MaxRSS \n"
    "------------ ---------- ---------- ---------- ---------- -------- "
    "------------------- ------------------- ---------- \n"
    "101            my_job_+       phys          4  COMPLETED      0:0 "
    "2026-11-22T10:00:00 2026-11-22T11:00:00            \n"
    "101.batch         batch       phys          4  COMPLETED      0:0 "
    "2026-11-22T10:00:00 2026-11-22T11:00:00   2097152K \n"
    "102              my job       phys          4 OUT_OF_ME+    0:125 "
    "2026-11-22T10:00:00 2026-11-22T11:00:00            \n"
    "103               a b c       phys          4 CANCELLED+      0:0 "
    "2026-11-22T10:00:00 2026-11-22T11:00:00            \n"
    "1234567890_+          x       phys          4  COMPLETED      0:0 "
    "2026-11-22T10:00:00 2026-11-22T11:00:00            \n"
    "105                   x       phys          4    PENDING      0:0             "
    "Unknown             Unknown            \n";

TEST_CASE("sacct without -P has a rule of dashes, and cuts off", "[slurm]")
{
    api a;
    json r = import(a, {{"sacct", narrow}}), runs = r.at("executions");

    REQUIRE(runs.size() == 3);
    CHECK(runs.at(0).at("run_time_s") == 3600);
    CHECK(runs.at(0).at("processors") == 4);
    CHECK(runs.at(0).at("memory_peak_bytes") == 2147483648.0);
    CHECK(runs.at(1).at("application_id") == "my job");
    CHECK(runs.at(1).at("failure_kind") == "memory");
    CHECK(runs.at(2).at("failure_kind") == "cancelled");
    CHECK(warns(r, "guessed: 1: names of jobs are cut off (+)"));
    CHECK(warns(r, "skipped: 1: rows of accounting with too few or too many fields"));
    CHECK(warns(r, "skipped: 1: jobs of accounting that have not ended"));
}

TEST_CASE("sacct needs a start and an end, or how long it took", "[slurm]")
{
    api a;
    json r = import(a, {{"sacct", "JobID,JobName,Start,Elapsed,State,NCPUS\n"
                                  "1,x,2026-11-22T10:00:00,1-01:00:00,COMPLETED,2\n"}});

    CHECK(r.at("executions").at(0).at("run_time_s") == 90000);
    json bare = {{"sacct", "JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n"
                           "1|x|p|a|1|COMPLETED|0:0\n"}};
    api_reply refused = a.post("/v1/imports/slurm", bare.dump());
    CHECK(refused.pointers() == std::vector<std::string>{"/sacct", "/sacct"});
    CHECK(refused.body.find("no column Start") != std::string::npos);
    CHECK(refused.body.find("no column End") != std::string::npos);
    json headless = {{"sacct", "1|x|2026-11-22T10:00:00|COMPLETED|2\n"}};
    refused = a.post("/v1/imports/slurm", headless.dump());
    CHECK(refused.status == 422);
    CHECK(refused.body.find("--noheader") != std::string::npos);
}

TEST_CASE("times without a zone are taken for UTC, and that is said", "[slurm]")
{
    api a;
    auto start = [&](const char *text, bool offset) {
        json body = {{"now_s", 1},
                     {"sacct", std::string("JobID|JobName|Start|Elapsed|State\n1|x|") +
                                   text + "|10:00|COMPLETED\n"}};
        if (offset)
            body["tz_offset_s"] = 3600;
        json r = json::parse(a.post("/v1/imports/slurm", body.dump()).body);
        return r.at("executions").at(0).at("started_at").get<std::string>() +
               (warns(r, "guessed: 1: runs have times without a zone") ? " guessed" : "");
    };

    CHECK(start("2026-11-22T10:00:00", false) == "2026-11-22T10:00:00Z guessed");
    CHECK(start("2026-11-22T10:00:00", true) == "2026-11-22T09:00:00Z");
    CHECK(start("2026-11-22T10:00:00+0200", false) == "2026-11-22T08:00:00Z");
    CHECK(start("1795341600", false) == "2026-11-22T10:00:00Z");
}

TEST_CASE("sacctmgr and sshare without -P", "[slurm]")
{
    api a;
    json r = import(
        a,
        {{"events",
          "   Cluster        NodeName           TimeStart             TimeEnd  State     "
          "   "
          "                 Reason       User \n"
          "---------- --------------- ------------------- ------------------- ------ "
          "------------------------------ ---------- \n"
          "         c                 2026-11-22T10:18:50             Unknown            "
          "  "
          "  Cluster Registered TRES            \n"
          "         c           node1 2026-11-22T10:18:50             Unknown  DOWN*     "
          "  "
          "          Not responding   root(0) \n"},
         {"associations",
          "   Cluster    Account       User     Share GrpJobs       GrpTRES     MaxWall  "
          " "
          "Def QOS \n"
          "---------- ---------- ---------- --------- ------- ------------- ----------- "
          "--------- \n"
          "         c       root                    1                                    "
          " "
          "        \n"
          "         c       phys                   60       5        cpu=64  1-00:00:00  "
          " "
          " normal \n"},
         {"shares", "             Account       User  RawShares    RawUsage \n"
                    "-------------------- ---------- ---------- ----------- \n"
                    "root                                             14767 \n"
                    " phys                                60        2627 \n"
                    "  phys                    user3         20         815 \n"}});
    json phys = named(r.at("cluster").at("accounts"), "phys");

    REQUIRE(r.at("failures").size() == 1);
    CHECK(r.at("failures").at(0).at("resource_id") == "node1");
    CHECK(r.at("failures").at(0).at("cause") == "Not responding");
    CHECK(phys.at("shares") == 60);
    CHECK(phys.at("limits").at("group").at("cpus") == 64);
    CHECK(phys.at("limits").at("wall_s_max") == 86400);
}

TEST_CASE("squeue without options: who is held, and what is not said", "[slurm]")
{
    api a;
    json r = import(
        a,
        {{"now_s", 1000},
         {"partitions", "PartitionName=p Nodes=n1 Default=YES MaxTime=60\n"},
         {"sinfo", "NodeName=n1 CPUTot=4 RealMemory=1000 State=MIXED\n"},
         {"squeue",
          "             JOBID PARTITION     NAME     USER ST       TIME  NODES "
          "NODELIST(REASON)\n"
          "                11         p     wrap    user1 PD       0:00      1 "
          "(JobHeldUser)\n"
          "                12         p     wrap    user1 PD       0:00      1 "
          "(Dependency)\n"
          "                13         p     wrap    user1 PD       0:00      1 "
          "(BeginTime)\n"
          "                14         p     wrap    user1  R       0:07      1 n1\n"}});
    INFO(r.dump());

    CHECK(named(r.at("jobs"), "11").at("held") == true);
    CHECK_FALSE(named(r.at("jobs"), "12").contains("held"));
    for (const char *text :
         {"guessed: 3: waiting jobs of which no document says how many CPUs",
          "guessed: 3: waiting jobs of which a table does not say what memory",
          "guessed: 4: jobs of which a table does not say the time limit",
          "guessed: 1: jobs wait for a time that no document says: here they may start "
          "now, the first: 13",
          "guessed: 1: jobs wait for others that no document names: here they may start "
          "now, the first: 12"})
        CHECK(warns(r, text));
}

TEST_CASE("columns of squeue -O and -o that are not said, or not of what", "[slurm]")
{
    api a;
    const char *one_node = "NodeName=n1 CPUTot=4 RealMemory=1000 State=MIXED\n";
    json r = import(a, {{"now_s", 1000},
                        {"sinfo", one_node},
                        {"squeue", "JOBID               HET_JOB_ID          STATE        "
                                   "       TIME_LIMIT          \n"
                                   "2                   2                   PENDING      "
                                   "       30:00               \n"
                                   "3                   2                   PENDING      "
                                   "       30:00               \n"
                                   "4                   N/A                 RUNNING      "
                                   "       30:00               \n"}});
    INFO(r.dump());
    CHECK(named(r.at("jobs"), "3").at("group").at("id") == "2");
    CHECK(warns(r, "skipped: 1: running jobs of which no document says on which nodes"));

    r = import(a, {{"now_s", 1000},
                   {"sinfo", one_node},
                   {"squeue", "JOBID|STATE|REASON|CPUS|MIN_MEMORY|TIME_LIMIT|START_TIME\n"
                              "5|PENDING|BeginTime|2|500M|30:00|1970-01-01T01:00:00\n"
                              "6|PENDING|Priority|2|500Mc|30:00|N/A\n"}});
    INFO(r.dump());
    CHECK(named(r.at("jobs"), "5").at("begin_s") == 3600);
    CHECK(warns(r, "guessed: 1: waiting jobs of whose MIN_MEMORY a table does not say "
                   "whether it is that of a node or of a CPU: of a node, the first: 5"));
    CHECK_FALSE(warns(r, "what memory"));
}

TEST_CASE("a reason of squeue -l may be a sentence", "[slurm]")
{
    api a;
    json r = import(
        a,
        {{"now_s", 1000},
         {"sinfo", "NodeName=n1 CPUTot=4 RealMemory=1000 State=MIXED "
                   "Partitions=batch,limc\n"},
         {"squeue",
          "             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI"
          "  NODES NODELIST(REASON)\n"
          "                11     batch \u00fcn\u00efcod     root  PENDING       0:00 "
          "    30:00      1 (Priority)\n"
          "                12     batch      sig     root  PENDING       0:00 "
          "1-02:04:00      2 (BeginTime)\n"
          "                 9      limc       m4     root  PENDING       0:00     "
          "30:00      1 (Nodes required for job are DOWN, DRAINED or reserved for "
          "jobs in higher priority partitions)\n"}});
    INFO(r.dump());
    CHECK(named(r.at("jobs"), "9").at("time_limit_s") == 1800);
    CHECK(named(r.at("jobs"), "12").at("time_limit_s") == 93840);
    CHECK_FALSE(warns(r, "too few or too many"));
}
