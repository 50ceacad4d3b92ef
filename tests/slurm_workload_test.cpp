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
    CHECK(w.never_ran == 1);
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
    CHECK(info["skipped_count"] == 3);
    CHECK(info["summary"]["warnings"].size() == 2);
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
    CHECK(played["warnings"].dump().find("skipped: of accounting 2 row(s)") !=
          std::string::npos);
    CHECK(played["warnings"].dump().find("run_time_defaulted: 1 job") !=
          std::string::npos);
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
