// slurm_workload_test.cpp - accounting as a job log: what is a job, and what is left out.
#include "tests/api.hpp"
#include "tests/database.hpp"

extern "C" {
#include "models/slurm/workload.h"
}

#include <cmath>

using nlohmann::json;

namespace
{

const std::string header =
    "JobID|JobIDRaw|JobName|User|Account|QOS|Partition|Submit|Start|End|TimelimitRaw|"
    "Timelimit|State|AllocTRES|ReqTRES|NCPUS\n";

// Two users; a requeued job, a step, an array; one that never ran, one that runs still,
// one that waits; rows out of order.
const std::string rows =
    "20|20|b|bob|p|n|x|2000|2100|2160|2|00:02:00|TIMEOUT|cpu=4,node=1|cpu=2|4\n"
    "20.0|20.0|b|||||2000|2100|2160|||TIMEOUT|cpu=4||4\n"
    "11_0|12|a|ann|p|n|x|1000|1000|1600|90|01:30:00|COMPLETED|cpu=8|cpu=8|8\n"
    "30|30|c|bob|q|h|y|1500|1500|1550|10||PREEMPTED|cpu=1||1\n"
    "30|30|c|bob|q|h|y|1675|1700|1900|10||COMPLETED|cpu=1||1\n"
    "40|40|d|ann|p|n|x|1500|None|1600|10||CANCELLED by 7|||2\n"
    "50|50|e|ann|p|n|x|1500|1600|Unknown|10||RUNNING|cpu=1||1\n"
    "60|60|f|ann|p|n|x|1500|Unknown|Unknown|10||PENDING|||1\n"
    "70|70|g|ann|p|n|x|3000|3000|3010|UNLIMITED|UNLIMITED|FAILED|||3\n";

} // namespace

TEST_CASE("accounting is a log of jobs that ran, each once", "[slurm]")
{
    test_arena a;
    error err = collecting_error(a);
    slurm_records records{};
    slurm_workload w{};
    std::string text = header + rows;

    records.updated_s = std::nan("");
    REQUIRE(slurm_records_read(text.data(), text.size(), "/sacct", &records, a, &err) ==
            OK);
    slurm_workload_read(&records, 0, &w, a);
    REQUIRE(w.job_count == 4);
    CHECK(w.begin_s == 1000);
    CHECK(w.merged == 1);
    CHECK(w.never_ran == 0);
    REQUIRE(w.withdrawn_count == 1); // cancelled while it waited
    CHECK(std::string(w.withdrawn_shapes[0].id) == "40");
    CHECK(w.withdrawn[0].submit_s == 500);
    CHECK(w.withdrawn_shapes[0].cancel_s == 600);
    CHECK(w.withdrawn[0].run_s == 100); // no longer, whenever it starts
    CHECK(w.withdrawn[0].requested_s == 600);
    CHECK(swf_processors(&w.withdrawn[0]) == 2);
    CHECK(w.not_ended == 2);
    CHECK(w.unusable == 0);
    CHECK(w.unlimited == 1);
    struct {
        double submit_s, run_s, requested_s, processors, status;
        const char *user, *account, *partition;
    } want[] = {{0, 600, 5400, 8, 1, "ann", "p", "x"},  // 90 minutes
                {500, 200, 600, 1, 1, "bob", "q", "y"}, // two attempts, one wait
                {1000, 60, 120, 4, 0, "bob", "p", "x"},
                {2000, 10, std::nan(""), 3, 0, "ann", "p", "x"}};
    for (size_t i = 0; i < 4; i++) {
        const swf_job &j = w.jobs[i];
        INFO(i);
        CHECK(j.number == double(i + 1));
        CHECK(j.submit_s == want[i].submit_s);
        CHECK(j.run_s == want[i].run_s);
        CHECK((j.requested_s == want[i].requested_s ||
               (std::isnan(j.requested_s) && std::isnan(want[i].requested_s))));
        CHECK(swf_processors(&j) == want[i].processors);
        CHECK(j.status == want[i].status);
        CHECK(std::string(w.user.name[size_t(j.user)]) == want[i].user);
        CHECK(std::string(w.account.name[size_t(j.group)]) == want[i].account);
        CHECK(std::string(w.partition.name[size_t(j.partition)]) == want[i].partition);
    }
    slurm_records none{};
    slurm_workload_read(&none, 0, &w, a);
    CHECK(w.job_count == 0);
    CHECK(std::isnan(w.begin_s));
}

TEST_CASE("accounting says what a job has of each node", "[slurm]")
{
    struct {
        const char *tres;
        double nodes, cpus, memory_bytes, tasks;
        std::map<std::string, double> needs;
    } cases[] = {
        {"cpu=8,mem=4G,node=2,billing=8", 2, 4, 2147483648.0, 0, {}},
        {"cpu=3,mem=300M,node=2", 0, 0, 104857600, 3, {}}, // 2 + 1: tasks
        {"cpu=1,mem=5M", 1, 1, 5242880, 0, {}},
        {"cpu=4,gres/gpu=2,gres/gpu:a100=2,license/matlab=3,node=2",
         2,
         2,
         0,
         0,
         {{"gpus", 1}, {"gres.gpu.a100", 1}, {"licence.matlab", 3}}},
        {"cpu=4,mem=400M", 0, 0, 104857600, 4, {}}, // the nodes are not said
        {"", 1, 1, 0, 0, {}},
        {"cpu=0,mem=0,node=0", 1, 1, 0, 0, {}},
    };
    for (auto &c : cases) {
        test_arena a;
        error err = collecting_error(a);
        slurm_records records{};
        slurm_workload w{};
        std::string text = std::string("JobID|User|Submit|Start|End|State|AllocTRES\n"
                                       "9|ann|200|260|360|COMPLETED|\n"
                                       "7|bob|100|140|150|COMPLETED|") +
                           c.tres + "\n";

        records.updated_s = std::nan("");
        REQUIRE(slurm_records_read(text.data(), text.size(), "/sacct", &records, a,
                                   &err) == OK);
        slurm_workload_read(&records, 0, &w, a);
        INFO(c.tres);
        REQUIRE(w.job_count == 2);
        CHECK(w.mean_wait_s == 50);
        const slurm_shape &s = w.shapes[0]; // in the order of arrival
        CHECK(std::string(s.id) == "7");
        CHECK(std::string(s.user) == "bob");
        CHECK(std::string(w.shapes[1].id) == "9");
        CHECK(s.nodes == c.nodes);
        CHECK(s.cpus == c.cpus);
        CHECK(s.memory_bytes == c.memory_bytes);
        CHECK(s.tasks == c.tasks);
        std::map<std::string, double> needs;
        for (size_t i = 0; i < s.needs.count; i++)
            needs[s.needs.list[i].name] = s.needs.list[i].number;
        CHECK(needs == c.needs);
    }
}

TEST_CASE("accounting says from when on a job could start", "[slurm]")
{
    test_arena a;
    error err = collecting_error(a);
    slurm_records records{};
    slurm_workload w{};
    std::string text = "JobID|Submit|Eligible|Start|End|State|NCPUS\n"
                       "1|100|100|140|150|COMPLETED|1\n"
                       "2|100|160|160|170|COMPLETED|1\n" // after the first one
                       "3|110|Unknown|170|180|COMPLETED|1\n"
                       "4|120|130|150|160|PREEMPTED|1\n" // its first attempt counts
                       "4|120|300|310|320|COMPLETED|1\n";

    records.updated_s = std::nan("");
    REQUIRE(slurm_records_read(text.data(), text.size(), "/sacct", &records, a, &err) ==
            OK);
    slurm_workload_read(&records, 0, &w, a);
    REQUIRE(w.job_count == 4);
    CHECK(w.mean_wait_s == (40 + 60 + 60 + 30) / 4.0); // to the first start
    CHECK(std::isnan(w.shapes[0].eligible_s));
    CHECK(w.shapes[1].eligible_s == 60);
    CHECK(std::isnan(w.shapes[2].eligible_s));
    CHECK(w.shapes[3].eligible_s == 30);
}

TEST_CASE("accounting says what jobs waited for, by the commands that submitted them",
          "[slurm]")
{
    test_arena a;
    error err = collecting_error(a);
    slurm_records records{};
    slurm_workload w{};
    std::string text =
        "JobID|JobIDRaw|JobName|Submit|Eligible|Start|End|State|NCPUS|SubmitLine\n"
        "1|1|a|100|100|140|150|COMPLETED|1|sbatch a.sh\n"
        "2|2|b|100|150|160|170|FAILED|1|sbatch -d afterok:1 b.sh\n"
        "3_0|4|c|100|100|170|180|COMPLETED|1|sbatch --array=0-1%1 c.sh\n"
        "3_1|3|c|100|100|180|190|COMPLETED|1|sbatch --array=0-1%1 c.sh\n"
        "5|5|d|110|190|200|210|COMPLETED|1|sbatch -d afterany:3:99 --hold d.sh\n"
        "6|6|e|110|190|200|210|COMPLETED|1|sbatch -d afterok:3?afterok:2 e.sh\n"
        "7|7|f|110|190|200|210|COMPLETED|1|sbatch -d afterok:2?afterok:99 f.sh\n"
        "8_[2-4%2]|8|g|110|110|None|300|CANCELLED by 5|1|sbatch -a 2-4%2 g.sh\n"
        "9|9|h|120|170|180|190|COMPLETED|1|sbatch -d afterany:8 h.sh\n"
        "10|10|i|120|170|180|190|COMPLETED|1|sbatch -d singleton i.sh\n"
        "11|11|j|120|120|None|130|DEADLINE|1|sbatch -d afterok:12,later:3 j.sh\n"
        "12|12|k|130|120|140|150|COMPLETED|1|sbatch -d afterok:13 k.sh\n"
        "13|13|l|130|120|140|150|COMPLETED|1|sbatch -d afterok:12 l.sh\n"
        "14|14|m|130|120|None|Unknown|CANCELLED|1|sbatch m.sh\n"
        "15_0|16|n|130|130|140|150|COMPLETED|1|sbatch -a 0-1 -d aftercorr:3 n.sh\n"
        "17+0|17|o|130|130|140|150|COMPLETED|1|sbatch o.sh\n"
        "17+1|18|o|130|130|140|150|COMPLETED|1|sbatch o.sh\n";

    records.updated_s = std::nan("");
    REQUIRE(slurm_records_read(text.data(), text.size(), "/sacct", &records, a, &err) ==
            OK);
    slurm_workload_read(&records, 0, &w, a);
    std::map<std::string, std::string> all;
    auto note = [&](const slurm_shape &s) {
        std::string to = std::isnan(s.eligible_s)
                             ? ""
                             : "from " + std::to_string(int(s.eligible_s)) + " ";
        for (size_t i = 0; i < s.after_count; i++)
            to += std::string(s.after[i].kind) + " " + s.after[i].job_id + " ";
        to += s.any_after ? "any " : "";
        to += s.singleton ? "singleton " : "";
        to += s.gang ? std::string("gang ") + s.gang + " " : "";
        to += s.ends_well ? "" : "badly ";
        if (s.array_id)
            to += std::string("array ") + s.array_id + " " + s.task_ids + "%" +
                  std::to_string(int(s.running_max)) + " ";
        if (!std::isnan(s.cancel_s))
            to += "until " + std::to_string(int(s.cancel_s));
        all[s.id] = to;
    };
    for (size_t i = 0; i < w.job_count; i++)
        note(w.shapes[i]);
    for (size_t i = 0; i < w.withdrawn_count; i++)
        note(w.withdrawn_shapes[i]);
    std::map<std::string, std::string> want = {
        {"1", ""},
        {"2", "ok 1 badly "},
        {"3_0", "array 3 0%1 "},
        {"3_1", "array 3 1%1 "},
        {"5", "from 90 any 3_0 any 3_1 "}, // 99 is gone; held until then
        {"6", "ok 3_0 ok 3_1 ok 2 any "},
        {"7", "from 90 "}, // 99 is gone: met
        {"8", "badly array 8 2-4%2 until 200"},
        {"9", "from 70 "}, // many tasks in a row
        {"10", "from 70 singleton "},
        {"11", "badly until 30"}, // it cannot be read
        {"12", ""},               // nobody waits for who came later
        {"13", "ok 12 "},
        {"15_0", "corr 3_0 "},
        {"17", "gang 17 "},
        {"18", "gang 17 "},
    };
    CHECK(all == want);
    CHECK(w.never_ran == 1);
}

TEST_CASE("settings of slurm.conf by their names and units", "[slurm]")
{
    struct {
        const char *name, *value, *object, *member;
        double number; // NAN: on or off
        bool is_on;
    } cases[] = {
        {"bf_window", "2880", nullptr, "bf_window_s", 172800, false},
        {"sched_min_interval", "2000000", nullptr, "sched_min_interval_s", 2, false},
        {"bf_licenses", nullptr, nullptr, "bf_licenses", NAN, true},
        {"defer", "no", nullptr, "defer", NAN, false},
        {"PriorityWeightFairshare", "7", "priority", "weight_fair_share", 7, false},
        {"PriorityMaxAge", "7-0", "priority", "max_age_s", 604800, false},
        {"PriorityMaxAge", "90", "priority", "max_age_s", 5400, false},
        {"PriorityFavorSmall", "YES", "priority", "favor_small", NAN, true},
        {"KillWait", "30", nullptr, "kill_wait_s", 30, false},
        {"bf_window", nullptr, nullptr, nullptr, 0, false},
        {"bf_window", "x", nullptr, nullptr, 0, false},
        {"defer", "5", nullptr, nullptr, 0, false},
        {"bf_max_time", "5", nullptr, nullptr, 0, false},
    };
    for (auto &c : cases) {
        slurm_setting s{};
        INFO(c.name << " " << (c.value ? c.value : "-"));
        REQUIRE(slurm_setting_read(c.name, c.value, &s) == (c.member != nullptr));
        if (!c.member)
            continue;
        CHECK(std::string(s.member) == c.member);
        CHECK(std::string(s.object ? s.object : "") == (c.object ? c.object : ""));
        if (std::isnan(c.number)) {
            CHECK(std::isnan(s.number));
            CHECK(s.is_on == c.is_on);
        } else
            CHECK(s.number == Approx(c.number).epsilon(1e-12));
    }
}

TEST_CASE("a workload may be Slurm's accounting", "[slurm][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    auto post = [&](const std::string &query, const std::string &text) {
        return a.call("POST", "/v1/workloads?id=acct-log&" + query, text,
                      {{"content_type", "text/plain"}});
    };
    a.call("DELETE", "/v1/workloads/acct-log", "");
    api_reply r = post("kind=sacct", header + rows);
    INFO(r.body);
    REQUIRE(r.status == 201);
    json info = r.json();
    CHECK(info["format"] == "sacct");
    CHECK(info["job_count"] == 4);
    CHECK(info["line_count"] == 10);
    CHECK(info["skipped_count"] == 2);
    CHECK(info["summary"]["warnings"].size() == 3);
    CHECK(a.get("/v1/workloads/acct-log/document").body == header + rows);
    json summary = a.get("/v1/workloads/acct-log/summary").json();
    CHECK(summary["users"][0]["key"] == "ann");
    CHECK(summary["users"][0]["core_s"] == 4830);
    CHECK(summary["partitions"][1]["key"] == "y");
    json body = {{"kind", "queue"},
                 {"workload_id", "acct-log"},
                 {"processors", 8},
                 {"policies", {"fcfs"}},
                 {"per_job", true}};
    json played = a.post("/v1/simulations", body.dump()).json();
    INFO(played.dump(1));
    CHECK(played["job_count"] == 4);
    CHECK(played["results"][0]["jobs"][1]["start_s"] == 600);
    CHECK(played["warnings"].dump().find("skipped: of accounting 2 rows") !=
          std::string::npos);
    CHECK(played["warnings"].dump().find("run_time_defaulted: 1 job") !=
          std::string::npos);

    // On a cluster jobs have their names, and who was cancelled is in the queue so long.
    body.erase("processors");
    body["policies"] = {"fcfs", "slurm_backfill"};
    body["cluster"] = {{"resources", {{{"id", "n1"}, {"cpus", 8}}}},
                       {"partitions", {{{"id", "x"}}, {{"id", "y"}}}},
                       {"accounts", {{{"id", "p"}}}}};
    played = a.post("/v1/simulations", body.dump()).json();
    INFO(played.dump(1));
    CHECK(played["job_count"] == 5);
    std::map<std::string, json> found;
    for (auto &row : played["results"][0]["jobs"])
        found[row["job_id"]] = row;
    CHECK(found.count("11_0"));
    CHECK(found["30"]["start_s"] == 600);
    CHECK(found["30"]["partition_id"] == "y");
    CHECK(found["40"]["outcome"] == "cancelled");
    CHECK(found["40"]["start_s"].is_null());
    CHECK(played["results"][0]["job_count"] == 4);
    CHECK(played["results"][0]["never_fit_count"] == 0);
    CHECK(played["results"][0]["by_user"][0]["key"] == "ann");
    std::string warnings = played["warnings"].dump();
    CHECK(warnings.find("cancelled: 1 job") != std::string::npos);
    CHECK(warnings.find("qos_ignored: 5 jobs") != std::string::npos);
    CHECK(warnings.find("account_ignored: 1 job") != std::string::npos);
    a.call("DELETE", "/v1/workloads/acct-log", "");

    // What is none.
    CHECK(post("kind=sacct", "no accounting\n").status == 422);
    CHECK(post("kind=sacct", header).status == 422);
    CHECK(post("kind=sacct", "1 0 -1 60 2 -1 -1 2 90 -1 1 1 1 -1 1 -1 -1 -1\n").status ==
          422);
    CHECK(post("kind=slurm", header + rows).pointers() ==
          std::vector<std::string>{"?/kind"});
    CHECK(post("kind=swf", header + rows).status == 422);
    CHECK(a.get("/v1/workloads/acct-log").status == 404);
}
