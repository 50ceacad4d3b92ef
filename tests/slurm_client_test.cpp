// slurm_client_test.cpp - gridplan slurm: the program, with recorded documents, and with
// programs in the place of Slurm's.
#include "tests/slurm_support.hpp"

#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using nlohmann::json;

// A folder that goes with its scope.
struct folder {
    std::string path;
    folder()
    {
        char name[] = "/tmp/gridplan-client.XXXXXX";
        REQUIRE(mkdtemp(name));
        path = name;
    }
    ~folder()
    {
        std::string command = "rm -rf -- '" + path + "'";
        if (system(command.c_str()) != 0)
            WARN("left " << path);
    }
    std::string write(const std::string &name, const std::string &text,
                      bool runs = false) const
    {
        std::string file = path + "/" + name;
        std::ofstream(file) << text;
        if (runs)
            REQUIRE(chmod(file.c_str(), 0755) == 0);
        return file;
    }
    std::string read(const std::string &name) const
    {
        std::stringstream text;
        text << std::ifstream(path + "/" + name).rdbuf();
        return text.str();
    }
};

struct ended {
    int status;
    std::string out, err;
};

// Runs the program; `before` stands before it on the line of the shell.
static ended client(const folder &f, const std::string &arguments,
                    const std::string &before = "")
{
    std::string line = before + " env -u GRIDPLAN_URL " + std::string(build_binary) +
                       " slurm " + arguments + " >'" + f.path + "/out' 2>'" + f.path +
                       "/err'";
    int status = system(line.c_str());

    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, f.read("out"), f.read("err")};
}

static const std::string plan1 =
    "--from " GRIDPLAN_SOURCE_DIR "/tests/data/engines/slurm/plan1/t0";

TEST_CASE("a snapshot of a folder reads back as the same cluster", "[slurm][system]")
{
    folder f;
    ended e = client(f, "snapshot " + plan1 + " --out " + f.path + "/s.json");

    INFO(e.err);
    REQUIRE(e.status == 0);
    CHECK(json::parse(f.read("s.json")).at("schema").get<std::string>() ==
          "gridplan-slurm/1");
    std::string direct = client(f, "snapshot --anonymise " + plan1).out;
    CHECK(client(f, "snapshot --anonymise --from " + f.path + "/s.json").out == direct);
    json r = json::parse(direct);
    CHECK(r.at("jobs").size() == 19);
    for (const char *name : {"user1", "user4", "physics", "biology", "\"j05\"", "c1"}) {
        INFO(name);
        CHECK(direct.find(name) == std::string::npos);
    }
    // Who is twice there is the same, and the tree of accounts holds together.
    CHECK(direct.find("\"parent_id\":\"root\"") != std::string::npos);
    for (const auto &account : r.at("cluster").at("accounts"))
        if (account.contains("user_id"))
            CHECK(account.at("id").get<std::string>() ==
                  account.at("parent_id").get<std::string>() + "/" +
                      account.at("user_id").get<std::string>());
}

TEST_CASE("why jobs wait, by Slurm and by a decision", "[slurm][system]")
{
    folder f;
    std::string decision = f.write("d.json", R"({"starts": [{"job_id": "9"}], "waiting": [
        {"job_id": "1", "estimated_start_s": 1795343100, "reason": "nodes"},
        {"job_id": "6_1", "estimated_start_s": 1795343050, "reason": "licence"}]})");
    ended e = client(f, "advise " + plan1 + " --decision " + decision + " --user user4");

    INFO(e.err);
    REQUIRE(e.status == 0);
    CHECK(e.out.find("9            user4      Priority               nothing            "
                     "2026-11-22T14:03:00Z   now\n") != std::string::npos);
    CHECK(e.out.find("6_1          user4      Resources              licence            "
                     "2026-11-22T11:33:00Z   2026-11-22T10:24:10Z\n") !=
          std::string::npos);
    CHECK(e.out.find("\n6  ") == std::string::npos); // its tasks stand for it
    CHECK(e.out.find("user1") == std::string::npos);
    CHECK(client(f, "advise " + plan1 + " --decision " + decision + " --job 6 --json")
              .out == f.read("d.json") + "\n");
    CHECK(
        client(f, "advise " + plan1 + " --decision " + decision + " --job 4711").status ==
        4);
}

TEST_CASE("what an import warns of is said beside the table", "[slurm][system]")
{
    folder f;
    std::string squeue = recorded("plan1", "t0/squeue.json");

    squeue = R"({"warnings":[{"description":"two\u001b[31m old"}],)" +
             squeue.substr(squeue.find('{') + 1);
    f.write("squeue.json", squeue);
    f.write("sinfo.json", recorded("plan1", "t0/sinfo.json"));
    f.write("now_s", recorded("plan1", "t0/now_s"));
    ended e = client(f, "advise --from " + f.path);
    INFO(e.err);
    CHECK(e.status == 0);
    CHECK(e.err.find("gridplan: warning: slurm_warned: 1 warning of Slurm itself, at "
                     "/squeue: two [31m old\n") != std::string::npos);
    CHECK(e.out.find("slurm_warned") == std::string::npos);
}

// Programs in the place of Slurm's: they print a file of the recording, and write down
// with what they were called.
static std::string fake_slurm(const folder &f, const std::string &squeue = "")
{
    const std::string t0 = GRIDPLAN_SOURCE_DIR "/tests/data/engines/slurm/plan1/t0/";
    const std::string note = "#!/bin/sh\nfor x; do printf '<%s>' \"$x\"; done >>'" +
                             f.path + "/calls'; echo >>'" + f.path + "/calls'\n";

    f.write("squeue", squeue.empty() ? note + "exec cat " + t0 + "squeue.json\n" : squeue,
            true);
    f.write("sinfo", note + "exec cat " + t0 + "sinfo.json\n", true);
    f.write("sshare", "#!/bin/sh\nexit 1\n", true);
    f.write("sacctmgr", "#!/bin/sh\nexit 1\n", true);
    f.write(
        "scontrol",
        note +
            "case $*-$PWD in 'update jobid=1 '*) echo 'no such job' >&2; exit 1;; esac\n"
            "case \"$1 $2 $3\" in\n'-d show job') exec cat " +
            t0 + "scontrol_show_job.txt;;\n'show '*) exec cat " + t0 +
            "scontrol_show_$2.txt;;\nesac\n",
        true);
    return "PATH='" + f.path + "':$PATH";
}

TEST_CASE("changes are made without a shell, to the first that fails", "[slurm][system]")
{
    folder f;
    std::string path = fake_slurm(f);
    std::string decision = f.write("d.json", R"({"starts": [{"job_id": "9"}], "waiting": [
        {"job_id": "3", "estimated_start_s": 5}, {"job_id": "1", "estimated_start_s": 9},
        {"job_id": "2", "estimated_start_s": 12}]})");

    ended dry = client(f, "apply --decision " + decision, path);
    INFO(dry.err);
    CHECK(dry.status == 0);
    CHECK(dry.out == "scontrol update jobid=9 priority=4000000\nscontrol release 3\n"
                     "scontrol update jobid=3 priority=3999990\n");
    CHECK(f.read("calls").find("update") == std::string::npos);

    decision = f.write("d.json", R"({"starts": [{"job_id": "9"}], "waiting": [
        {"job_id": "2", "estimated_start_s": 7}, {"job_id": "1", "estimated_start_s": 9},
        {"job_id": "3", "estimated_start_s": 12}]})");
    ended e = client(f, "apply --yes --decision " + decision, path);
    CHECK(e.status == 1);
    CHECK(e.out == "scontrol update jobid=9 priority=4000000\n"
                   "scontrol update jobid=2 priority=3999990\n"
                   "scontrol update jobid=1 priority=3999980\n");
    CHECK(e.err.find("no such job") != std::string::npos);
    CHECK(e.err.find("to undo what was done:\n  scontrol update jobid=2 priority=2186\n"
                     "  scontrol update jobid=9 priority=") != std::string::npos);
    CHECK(f.read("calls").find(
              "<update><jobid=9><priority=4000000>\n<update><jobid=2>"
              "<priority=3999990>\n<update><jobid=1><priority=3999980>\n") !=
          std::string::npos);
    CHECK(f.read("calls").find("release") == std::string::npos);

    decision = f.write("d.json", R"({"starts": [], "waiting": []})");
    CHECK(client(f, "apply --decision " + decision, path).status == 4);
    decision = f.write("d.json", R"({"starts": [{"job_id": "1; reboot"}]})");
    CHECK(client(f, "apply --yes --decision " + decision, path).status == 3);
}

TEST_CASE("what Slurm's programs do wrong is told, within the time", "[slurm][system]")
{
    folder f;
    // The plugin of --json is missing: the text says it all.
    std::string path =
        fake_slurm(f, "#!/bin/sh\necho 'squeue: error: unable to find plugin' >&2\n"
                      "exit 1\n");
    ended e = client(f, "snapshot", path);
    CHECK(e.status == 0);
    CHECK(e.out.find("JobId=18 ArrayJobId=6") != std::string::npos);

    f.write("scontrol", "#!/bin/sh\necho 'slurm_load: Unable to contact' >&2\nexit 1\n",
            true);
    e = client(f, "snapshot", path);
    CHECK(e.status == 1);
    CHECK(e.err.find("scontrol: exit status 1: slurm_load: Unable to contact") !=
          std::string::npos);

    f.write("squeue", "#!/bin/sh\nsleep 100 &\nwait\n", true);
    f.write("scontrol", "#!/bin/sh\nexec sleep 100\n", true);
    e = client(f, "snapshot --timeout 0.3", "timeout 20 env " + path);
    CHECK(e.status == 1);
    CHECK(e.err.find("scontrol: no answer within 0.3 s") != std::string::npos);

    CHECK(client(f, "snapshot", "PATH=/nonexistent:/usr/bin:/bin ").status == 1);
    // Output that is larger than any pipe, and a complaint beside it.
    f.write("squeue",
            "#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' x >&2\n"
            "printf '{\"jobs\": []}'; head -c 3000000 /dev/zero | tr '\\0' ' '\n",
            true);
    path = fake_slurm(f, f.read("squeue"));
    e = client(f, "snapshot", path);
    CHECK(e.status == 0);
    CHECK(e.out.size() > 3000000);
}

TEST_CASE("accounting that is not to be had is told, also when it is asked again",
          "[slurm][system]")
{
    folder f;
    std::string path = fake_slurm(f);

    f.write("sacct", "#!/bin/sh\necho 'accounting storage is disabled' >&2\nexit 1\n",
            true);
    ended e = client(f, "what-if", path);
    CHECK(e.status == 1);
    CHECK(e.err == "gridplan: sacct: exit status 1: accounting storage is disabled\n");
    f.write("sacct",
            "#!/bin/sh\necho 'Invalid field requested: SubmitLine' >&2\nexit 1\n", true);
    e = client(f, "what-if", path);
    CHECK(e.status == 1);
    CHECK(e.err ==
          "gridplan: sacct: exit status 1: Invalid field requested: SubmitLine\n");
}

TEST_CASE("a cluster without licences has advice, and who never starts is told why",
          "[slurm][system]")
{
    folder f;
    const std::string t0 = GRIDPLAN_SOURCE_DIR "/tests/data/engines/slurm/plan1/t0/";
    std::string path = fake_slurm(f);

    f.write("scontrol",
            "#!/bin/sh\ncase \"$1 $2 $3\" in\n'show licenses ') echo 'No licenses "
            "configured in Slurm.';;\n'show partition ') sed '/^PartitionName=all/,$s/"
            "MaxMemPerNode=UNLIMITED/MaxMemPerNode=1000/' " +
                t0 + "scontrol_show_partition.txt;;\n'show '*) exec cat " + t0 +
                "scontrol_show_$2.txt;;\nesac\n",
            true);
    ended e = client(f, "advise --job 1", path); // 30,000 MiB of a node, in partition all
    INFO(e.out << e.err);
    CHECK(e.status == 0);
    CHECK(e.out.find("Priority               partition_limit    2026-11-22T11:53:00Z   "
                     "never\n") != std::string::npos);
}

TEST_CASE("a snapshot has what Slurm can still say", "[slurm][system]")
{
    const std::string t0 = GRIDPLAN_SOURCE_DIR "/tests/data/engines/slurm/plan1/t0/";
    folder f;
    std::string path = fake_slurm(f);

    // All that was said is kept, lists of tasks in full.
    f.write("sprio", "#!/bin/sh\n[ \"$*\" = -l ] && echo PRIORITIES\n", true);
    f.write("sacctmgr", "#!/bin/sh\nprintf '%s' \"$SLURM_BITSTR_LEN\"\n", true);
    ended e = client(f, "snapshot", path);
    REQUIRE(e.status == 0);
    json r = json::parse(e.out);
    CHECK(r.at("sprio") == "PRIORITIES\n");
    CHECK(r.at("nodes").get<std::string>() ==
          recorded("plan1", "t0/" + std::string("scontrol_show_node.txt")));
    CHECK(r.at("qos") == "0");
    f.write("sacctmgr", "#!/bin/sh\nexit 1\n", true);
    json whole = json::parse(client(f, "snapshot --anonymise", path).out);

    // Since v0.0.39 sinfo has a row for nodes that are alike: scontrol tells them apart.
    f.write("sinfo",
            "#!/bin/sh\necho '{\"sinfo\": [{\"nodes\": {\"nodes\": [\"node[1-8]\"]}, "
            "\"cpus\": {\"minimum\": 1, \"maximum\": 64}}]}'\n",
            true);
    r = json::parse(client(f, "snapshot --anonymise", path).out);
    CHECK(r.at("cluster").at("resources") == whole.at("cluster").at("resources"));

    // Tables, where neither JSON nor scontrol can be had.
    f.write("squeue",
            "#!/bin/sh\n[ \"$1 $2\" = '-a -o' ] || exit 1\nprintf '%s\\n' "
            "'JOBID|ARRAY_JOB_ID|PARTITION|USER|STATE|NODES|CPUS|MIN_MEMORY|TIME_LIMIT|"
            "START_TIME|NODELIST|REASON|NAME' "
            "'41|41|batch|user1|PENDING|2|8|500M|1:30:00|N/A||Priority|a'\n",
            true);
    f.write("sinfo",
            "#!/bin/sh\n[ \"$1 $2 $3\" = '-a -N -o' ] || exit 1\nprintf '%s\\n' "
            "'NODELIST|PARTITION|STATE|CPUS|MEMORY' 'node1|batch*|idle|16|32000' "
            "'node2|batch*|idle|16|32000'\n",
            true);
    f.write("scontrol",
            "#!/bin/sh\ncase \"$*\" in *'show job'|*'show node') exit 1;; esac\n"
            "exec cat " +
                t0 + "scontrol_show_$2.txt\n",
            true);
    e = client(f, "advise", path);
    INFO(e.out << e.err);
    CHECK(e.status == 0);
    CHECK(e.out.find("\n41 ") != std::string::npos);
    r = json::parse(client(f, "snapshot --anonymise", path).out);
    CHECK(r.at("jobs").at(0).at("time_limit_s") == 5400);
    CHECK(r.at("cluster").at("resources").at(1).at("cpus") == 16);

    // Times of a bundle may be of another zone than UTC.
    json bundle = {{"schema", "gridplan-slurm/1"},
                   {"now_s", 1795343022},
                   {"tz_offset_s", 3600},
                   {"squeue", "JobId=7 JobState=RUNNING NodeList=node1 NumCPUs=1 "
                              "StartTime=2026-11-22T11:23:42 TimeLimit=01:00:00\n"},
                   {"sinfo", "NodeName=node1 CPUTot=4 RealMemory=1000 State=MIXED\n"}};
    f.write("b.json", bundle.dump());
    r = json::parse(client(f, "snapshot --anonymise --from '" + f.path + "/b.json'").out);
    CHECK(r.at("cluster").at("running").at(0).at("expected_end_s") == 1795343022 + 3600);
}

TEST_CASE("command lines that are wrong", "[slurm][system]")
{
    folder f;
    std::string file = f.write("x.json", R"({"schema": "other/1"})");

    for (const std::string &arguments :
         {std::string(), std::string("frobnicate"), std::string("advise --nope"),
          std::string("advise --user"), "apply --yes " + plan1,
          "apply --yes --render sbatch " + plan1, "apply --mode loud " + plan1,
          "advise --from " + file, std::string("advise --from /nonexistent"),
          "advise --from " + f.path, "advise --timeout x " + plan1,
          "apply --decision /nonexistent " + plan1}) {
        INFO(arguments);
        ended e = client(f, arguments);
        CHECK(e.status == 2);
        CHECK(e.err.find("gridplan: ") == 0);
    }
    ended e = client(f, "snapshot --anonymise --url http://127.0.0.1:9 " + plan1);
    CHECK(e.status == 3);
    CHECK(e.err.find("curl") != std::string::npos);
}

TEST_CASE("accounting goes to the history of a service", "[slurm][system]")
{
    folder f;
    const std::string recording = GRIDPLAN_SOURCE_DIR "/tests/data/engines/slurm/plan1/";
    // In the place of curl: what is sent is kept.
    f.write("curl",
            "#!/bin/sh\nfor url; do :; done\nfor x; do printf '<%s>' \"$x\"; done >>'" +
                f.path + "/calls'\ncat >>'" + f.path + "/bodies'\necho >>'" + f.path +
                "/bodies'\ncat '" + f.path + "/converted'\nprintf '\\n200'\n",
            true);
    f.write("sacct",
            "#!/bin/sh\nprintf '<%s>' \"$@\" >>'" + f.path + "/calls'\nexec cat " +
                recording + "sacct.txt\n",
            true);
    f.write("sacctmgr", "#!/bin/sh\nexec cat " + recording + "t0/sacctmgr_events.txt\n",
            true);
    f.write("converted",
            R"({"executions": [{"execution_id": "x"}, {"execution_id": "y"}],
                "failures": [], "ingested": {"executions_stored": 1,
                "executions_duplicates": 1, "failures_stored": 0,
                "failures_duplicates": 0, "refused": 0}})");
    auto sent = [&] {
        std::vector<json> list;
        std::stringstream lines(f.read("bodies"));
        for (std::string line; std::getline(lines, line);)
            if (!line.empty())
                list.push_back(json::parse(line));
        remove((f.path + "/bodies").c_str());
        return list;
    };
    f.write("key", "gp_secret\n");
    REQUIRE(chmod((f.path + "/key").c_str(), 0600) == 0);

    ended e = client(
        f, "ingest --since now-7days --url http://x:1/ --key-file '" + f.path + "/key'",
        "PATH='" + f.path + "':$PATH");
    INFO(e.err);
    CHECK(e.status == 0);
    CHECK(e.out == "executions: 4 sent, 2 stored, 2 there before\nfailures: 0 sent\n");
    std::vector<json> bodies = sent();
    REQUIRE(bodies.size() == 2); // events say how long nodes were down: they come first
    CHECK(bodies.at(0).at("events").get<std::string>() ==
          recorded("plan1", "t0/sacctmgr_events.txt"));
    CHECK(bodies.at(1).at("sacct").get<std::string>() == recorded("plan1", "sacct.txt"));
    CHECK(bodies.at(1).at("ingest").get<bool>());
    CHECK(f.read("calls").find("<-S><now-7days>") != std::string::npos);
    CHECK(f.read("calls").find("<http://x:1/v1/imports/slurm>") != std::string::npos);
    CHECK(f.read("calls").find("gp_secret") ==
          std::string::npos); // in no list of processes

    // What is long goes in parts, each with the first line, none between a job and its
    // steps.
    std::string head = "Cluster|JobID|JobName|MaxRSS\n", rows;
    for (int i = 0; rows.size() < 18000000; i++) {
        std::string id = "c|" + std::to_string(i), filler(3000, 'x');
        rows += id + "|" + filler + "|\n";
        for (int k = 0; k < i % 5; k++)
            rows += id + "." + std::to_string(k) + "|" + filler + "|1K\n";
    }
    f.write("long", head + rows);
    f.write("sacct", "#!/bin/sh\nexec cat '" + f.path + "/long'\n", true);
    e = client(f, "ingest --url http://x:1", "PATH='" + f.path + "':$PATH");
    CHECK(e.status == 0);
    bodies = sent();
    REQUIRE(bodies.size() == 4);
    std::string together;
    for (size_t i = 1; i < bodies.size(); i++) {
        std::string part = bodies.at(i).at("sacct").get<std::string>();
        CHECK((part.size() < 8500000 && part.substr(0, head.size()) == head));
        part = part.substr(head.size());
        CHECK(part.substr(0, part.find('|', 2)).find('.') == std::string::npos);
        together += part;
    }
    CHECK((together == rows));
    f.write("curl", "#!/bin/sh\ncat >/dev/null\nprintf '{\"detail\": \"no\"}\\n503'\n",
            true);
    CHECK(client(f, "ingest --url http://x:1", "PATH='" + f.path + "':$PATH").status ==
          3);

    // What was kept in a folder is not asked for again.
    f.write("curl",
            "#!/bin/sh\ncat >>'" + f.path + "/bodies'\necho >>'" + f.path +
                "/bodies'\ncat '" + f.path + "/converted'\nprintf '\\n200'\n",
            true);
    remove((f.path + "/bodies").c_str());
    f.write("sacct", "#!/bin/sh\nexit 1\n", true);
    e = client(f, "ingest --url http://x:1 --from '" + recording + "'",
               "PATH='" + f.path + "':$PATH");
    INFO(e.err);
    CHECK(e.status == 0);
    bodies = sent();
    REQUIRE(bodies.size() == 2);
    CHECK(bodies.at(0).at("events").get<std::string>() ==
          recorded("plan1", "t0/sacctmgr_events.txt"));
    CHECK(bodies.at(1).at("sacct").get<std::string>() == recorded("plan1", "sacct.txt"));
    folder empty;
    CHECK(client(f, "ingest --url http://x:1 --from '" + empty.path + "'").status == 2);
    empty.write("sacct.json", R"({"jobs": []})");
    e = client(f, "ingest --url http://x:1 --from '" + empty.path + "'",
               "PATH='" + f.path + "':$PATH");
    CHECK(sent().at(0).at("sacct").get<std::string>() == R"({"jobs": []})");
    CHECK(client(f, "ingest --since 3d --url http://x:1 --from '" + empty.path + "'")
              .status == 2);

    // Nothing ended since then: there was nothing to do.
    f.write("converted", R"({"executions": [], "failures": [], "ingested":
            {"executions_stored": 0, "executions_duplicates": 0, "failures_stored": 0,
             "failures_duplicates": 0, "refused": 0}})");
    f.write("sacct",
            "#!/bin/sh\nprintf '<%s>' \"$@\" >'" + f.path +
                "/calls'\necho 'JobID|Submit|Start|End|State|NCPUS'\n",
            true);
    e = client(f, "ingest --since 7d --url http://x:1", "PATH='" + f.path + "':$PATH");
    CHECK(e.status == 4);
    CHECK(e.out == "executions: 0 sent\nfailures: 0 sent\n");
    CHECK(e.err.find("nothing to do") != std::string::npos);
    CHECK(f.read("calls").find("<-S><now-7days>") != std::string::npos);

    CHECK(client(f, "ingest").status == 2);
    CHECK(client(f, "ingest --since=-x --url http://x:1").status == 2);
    f.write("sacct",
            "#!/bin/sh\necho 'Slurm accounting storage is disabled' >&2\nexit 1\n", true);
    e = client(f, "ingest --url http://x:1", "PATH='" + f.path + "':$PATH");
    CHECK(e.status == 1);
    CHECK(e.err.find("storage is disabled") != std::string::npos);
}

TEST_CASE("what-if replays what accounting has on its cluster", "[slurm][client]")
{
    folder f;
    std::string copy = "cp -r " GRIDPLAN_SOURCE_DIR
                       "/tests/data/engines/slurm/plan1/t0/. '" +
                       f.path + "'";
    std::string sacct = "JobID|JobIDRaw|User|Account|Partition|QOS|Submit|Start|End|"
                        "TimelimitRaw|State|AllocTRES\n";

    for (int i = 1; i <= 40; i++) { // they wait for one another
        std::string id = std::to_string(i);
        sacct += id + "|" + id + "|user" + std::to_string(i % 3) + "|a|batch|normal|" +
                 std::to_string(1000 + 10 * i) + "|" + std::to_string(5000 + 10 * i) +
                 "|" + std::to_string(5000 + 10 * i + 50 * (i % 7)) +
                 "|60|COMPLETED|cpu=" + std::to_string(i % 5 ? 20 + i : 96) + "\n";
    }
    REQUIRE(system(copy.c_str()) == 0);
    f.write("sacct.txt", sacct);
    std::string from = "what-if --from '" + f.path + "' ";
    ended e = client(f, from);
    INFO(e.out << e.err);
    CHECK(e.status == 0);
    for (const char *word : {"now ", "conservative", "easy_sjbf", "fcfs", "too_short"})
        CHECK(e.out.find(word) != std::string::npos);
    CHECK(e.err.find("40 jobs of accounting") != std::string::npos);
    e = client(f,
               from + "--policy fcfs --policy=sjf --add-nodes like=node1,count=2 --json");
    REQUIRE(e.status == 0);
    json study = json::parse(e.out)["study"];
    CHECK(study["base"]["policy"] == "slurm_backfill");
    CHECK(study["base"]["processors"] == 128);
    REQUIRE(study["variants"].size() == 3);
    CHECK(study["variants"][1]["id"] == "sjf");
    CHECK(study["variants"][2]["processors"] == 160);
    CHECK(study["variants"][2]["vs_base"]["wait_s"]["mean"] < 0);

    // Settings by the names and units of slurm.conf, or as the service has them.
    e = client(f, from + "--set bf_interval=600,sched_interval=600,defer "
                         "--set PriorityWeightAge=5000,PriorityFavorSmall=yes "
                         "--set bf_window_s=7200,preempt_mode=cancel --json");
    INFO(e.err);
    REQUIRE(e.status == 0);
    study = json::parse(e.out)["study"];
    REQUIRE(study["variants"].size() == 3);
    CHECK(study["variants"][0]["id"] == "bf_interval=600,sched_interval=600,defer");
    CHECK(study["variants"][0]["vs_base"]["wait_s"]["mean"] > 0);
    CHECK(study["variants"][1]["policy"] == "slurm_backfill");

    CHECK(client(f, from + "--add-nodes like=node99,count=1").status == 2);
    CHECK(client(f, from + "--add-nodes node1").status == 2);
    CHECK(client(f, from + "--add-nodes like=node1,count=0").status == 2);
    CHECK(client(f, from + "--set defer2").status == 2);
    CHECK(client(f, from + "--set ''").status == 2);
    CHECK(client(f, from + "--set bf_window=999999").status == 3); // 43200 at most
    CHECK(client(f, from + "--set bf_windows=60").status == 3);
    CHECK(client(f, from + "--since=-x").status == 2);
    CHECK(client(f, from + "--policy nope").status == 3);
    CHECK(client(f, "what-if " + plan1).status == 2); // no accounting in it
    f.write("sacct.txt", "JobID|Submit|Start|End|State|NCPUS\n");
    CHECK(client(f, from).status == 4);

    // The documents may be in t0 below, as a recording has them.
    folder above;
    REQUIRE(system(("cp -r " GRIDPLAN_SOURCE_DIR "/tests/data/engines/slurm/plan1/t0 '" +
                    above.path + "'")
                       .c_str()) == 0);
    above.write("sacct.txt", sacct);
    e = client(f, "what-if --policy fcfs --from '" + above.path + "'");
    INFO(e.err);
    CHECK(e.status == 0);
    CHECK(client(f, "advise --from '" + above.path + "'").status == 0);
}

TEST_CASE("what-if keeps dependencies, arrays and who was cancelled", "[slurm][client]")
{
    folder f;
    std::string copy = "cp -r " GRIDPLAN_SOURCE_DIR
                       "/tests/data/engines/slurm/plan1/t0/. '" +
                       f.path + "'";
    // 2 waits for 1; of array 3 one task runs at once; all CPUs would be 4's for an hour,
    // but for its end in the queue at 1150.
    std::string sacct =
        "JobID|JobIDRaw|User|Partition|Submit|Eligible|Start|End|TimelimitRaw|State|"
        "AllocTRES|ReqTRES|SubmitLine\n"
        "1|1|a|batch|1000|1000|1000|1200|10|COMPLETED|cpu=1,node=1|cpu=1|sbatch x\n"
        "2|2|a|batch|1000|1900|1900|2000|10|COMPLETED|cpu=1,node=1|cpu=1|"
        "sbatch -d afterok:1 x\n"
        "3_0|4|a|batch|1000|1000|1500|1600|10|COMPLETED|cpu=1,node=1|cpu=1|"
        "sbatch -a 0-1%1 x\n"
        "3_1|3|a|batch|1000|1000|1600|1700|10|COMPLETED|cpu=1,node=1|cpu=1|"
        "sbatch -a 0-1%1 x\n"
        "4|5|a|batch|1000|1000|None|1150|60|CANCELLED by 7||cpu=96,node=6|sbatch x\n"
        "5|6|a|batch|1010|1010|1010|1020|10|COMPLETED|cpu=96,node=6|cpu=96|sbatch x\n";

    REQUIRE(system(copy.c_str()) == 0);
    f.write("sacct.txt", sacct);
    ended e = client(f, "what-if --from '" + f.path + "' --policy fcfs --json");
    INFO(e.out << e.err);
    REQUIRE(e.status == 0);
    CHECK(e.err.find("5 jobs of accounting, 1 cancelled before it ran") !=
          std::string::npos);
    json study = json::parse(e.out)["study"];
    json &fcfs = study["variants"][0];
    CHECK(fcfs["never_fit_count"] == 0);
    // Waits 0, 200 (when 1 has ended), 0 and 100, and 290: 5 is behind 2, until 1300.
    CHECK(fcfs["figures"]["mean_wait_s"] == (0 + 200 + 0 + 100 + 290) / 5.0);

    // A Slurm before 21.08 does not know the command that submitted a job.
    std::string path = fake_slurm(f);
    f.write(
        "sacct",
        "#!/bin/sh\ncase \"$*\" in *SubmitLine*) echo 'sacct: error: Invalid field "
        "requested: \"SubmitLine\"' >&2; exit 1;; esac\n"
        "printf 'JobID|Submit|Start|End|State|NCPUS\\n7|100|100|110|COMPLETED|1\\n'\n",
        true);
    e = client(f, "what-if --policy fcfs", path);
    INFO(e.out << e.err);
    CHECK(e.status == 0);
    CHECK(e.err.find("1 job of accounting") != std::string::npos);
}
