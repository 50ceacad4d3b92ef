// slurm_export_test.cpp - decisions as changes of a Slurm queue.
#include "tests/slurm_support.hpp"

#include <algorithm>
#include <random>

extern "C" {
#include "models/slurm/advice.h"
}

using nlohmann::json;
using list = std::vector<std::string>;

static json export_of(api &a, const std::string &body)
{
    api_reply r = a.post("/v1/exports/slurm", body);

    INFO(r.body);
    REQUIRE(r.status == 200);
    return r.json();
}

static list lines(api &a, const std::string &body)
{
    list found;
    json r = export_of(a, body);

    for (const auto &row : r.at("actions"))
        found.push_back(row.at("line").get<std::string>());
    return found;
}

TEST_CASE("only what is not in its order is changed", "[slurm]")
{
    api a;
    const std::string jobs =
        R"("jobs": [{"id": "10", "priority": 30}, {"id": "11", "priority": 20},
        {"id": "12", "priority": 10}, {"id": "13", "priority": 10}, {"id": "14", "priority": 0, "held": true}])";

    CHECK(lines(a, R"({"order": ["10", "11", "12", "13"], )" + jobs + "}") == list{});
    CHECK(lines(a, R"({"order": ["12", "10", "11"], )" + jobs + "}") ==
          list{"scontrol update jobid=12 priority=4000000"});
    CHECK(lines(a, R"({"order": ["10", "13", "12"], )" + jobs + "}") ==
          list{"scontrol update jobid=10 priority=4000000",
               "scontrol update jobid=13 priority=3999990"});
    CHECK(lines(a, R"({"order": ["14", "10"], )" + jobs + "}") ==
          list{"scontrol release 14", "scontrol update jobid=14 priority=4000000"});
    CHECK(
        lines(a, R"({"order": ["11", "10"], "priority_base": 25, "priority_step": 1, )" +
                     jobs + "}") == list{"scontrol update jobid=11 priority=25",
                                         "scontrol update jobid=10 priority=24"});
    // What is not known is set; a task has its array's.
    CHECK(lines(a, R"({"order": ["99", "12_3", "13"], )" + jobs + "}") ==
          list{"scontrol update jobid=99 priority=4000000"});
    CHECK(lines(a, R"({"order": []})") == list{});
    json cut = export_of(a, R"({"order": ["1", "2", "3"], "changes_max": 2})");
    CHECK(cut.at("actions").size() == 2);
    CHECK(cut.at("left_out_count").get<double>() == 1);
}

TEST_CASE("the least nices that bring about an order", "[slurm]")
{
    api a;
    const std::string rest = R"(, "mode": "nice", "jobs": [{"id": "1", "priority": 100},
        {"id": "2", "priority": 150}, {"id": "3", "priority": 150, "nice": 20},
        {"id": "4", "priority": 10, "nice": -5}]})";

    CHECK(lines(a, R"({"order": ["1", "2", "3"])" + rest) ==
          list{"scontrol update jobid=2 nice=50", "scontrol update jobid=3 nice=70"});
    // An older job of the same priority comes first: one more is needed for 1 after 2.
    CHECK(lines(a, R"({"order": ["2", "1"])" + rest) == list{});
    CHECK(lines(a, R"({"order": ["3", "2", "1"])" + rest) ==
          list{"scontrol update jobid=2 nice=1"});
    CHECK(lines(a, R"({"order": ["4"])" + rest) ==
          list{"scontrol update jobid=4 nice=0"});
}

TEST_CASE("nices of any queue are the least, and it is in order then",
          "[slurm][property]")
{
    rng r = rng_create(7);

    for (int round = 0; round < 300; round++) {
        test_arena a;
        size_t count = rng_index(&r, 6);
        std::vector<slurm_ordered> jobs(count);
        std::vector<std::string> ids(count);
        slurm_order how{SLURM_BY_NICE, 4000000, 10, 1000};
        slurm_changes out{};
        error err{};

        for (size_t i = 0; i < count; i++) {
            ids[i] = std::to_string(rng_index(&r, 50) + 50 * i);
            jobs[i] = {ids[i].c_str(), 100.0 + double(rng_index(&r, 4)),
                       double(rng_index(&r, 3)), false};
        }
        std::shuffle(jobs.begin(), jobs.end(), std::minstd_rand(unsigned(round)));
        REQUIRE(computed(a, &err, [&] {
                    slurm_order_changes(&how, jobs.data(), count, &out, a);
                    return OK;
                }) == OK);
        std::vector<double> nice(count);
        for (size_t i = 0; i < count; i++)
            nice[i] = jobs[i].nice;
        for (size_t k = 0; k < out.count; k++)
            for (size_t i = 0; i < count; i++)
                if (jobs[i].id == std::string(out.list[k].job_id)) {
                    CHECK(out.list[k].value > nice[i]);
                    nice[i] = out.list[k].value;
                }
        auto comes_first = [&](size_t i, size_t k, const std::vector<double> &n) {
            double x = jobs[i].priority + jobs[i].nice - n[i],
                   y = jobs[k].priority + jobs[k].nice - n[k];
            return x != y ? x > y : std::stol(jobs[i].id) < std::stol(jobs[k].id);
        };
        for (size_t i = 0; i + 1 < count; i++) {
            CHECK(comes_first(i, i + 1, nice));
            if (nice[i + 1] > jobs[i + 1].nice) { // one less is not enough
                std::vector<double> less = nice;
                less[i + 1]--;
                CHECK_FALSE(comes_first(i, i + 1, less));
            }
        }
    }
}

TEST_CASE("a decision is an order: what starts now, then by the plan", "[slurm]")
{
    api a;

    CHECK(
        lines(
            a,
            R"({"decision": {"decision_id": "x", "starts": [{"job_id": "7", "time_limit_s": 5401}],
        "waiting": [{"job_id": "3", "estimated_start_s": 900, "reason": "nodes"},
                    {"job_id": "2", "estimated_start_s": 60}, {"job_id": "1", "estimated_start_s": null}],
        "preemptions": [{"job_id": "7", "stop": ["50"]}], "unplaced": []}})") ==
        list{"scontrol update jobid=7 priority=4000000",
             "scontrol update jobid=2 priority=3999990",
             "scontrol update jobid=3 priority=3999980",
             "scontrol update jobid=7 timelimit=91"});
    CHECK(lines(a, R"({"decision": {"starts": [], "preemptions": [{"stop": ["50"]}]},
                       "with_preemptions": true})") == list{"scontrol requeue 50"});
}

TEST_CASE("all changes in all forms", "[slurm]")
{
    api a;
    const std::string actions = R"("actions": [
        {"kind": "priority", "job_id": "12", "value": 3999990}, {"kind": "nice", "job_id": "12_3", "value": 40},
        {"kind": "release", "job_id": "12"}, {"kind": "hold", "job_id": "13"},
        {"kind": "time_limit", "job_id": "12", "value": 5341}, {"kind": "begin", "job_id": "12", "value": 1795345200},
        {"kind": "requeue", "job_id": "14"},
        {"kind": "drain", "resource_id": "node3", "reason": "it's $(reboot) \"now\" `x`"},
        {"kind": "resume", "resource_id": "node3"}]})";
    json r = export_of(a, "{" + actions);
    list found;

    for (const auto &row : r.at("actions"))
        found.push_back(row.at("line").get<std::string>());
    CHECK(found ==
          list{"scontrol update jobid=12 priority=3999990",
               "scontrol update jobid=12_3 nice=40", "scontrol release 12",
               "scontrol hold 13", "scontrol update jobid=12 timelimit=90",
               "scontrol update jobid=12 starttime=2026-11-22T11:00:00",
               "scontrol requeue 14",
               "scontrol update nodename=node3 state=drain 'reason=gridplan: it'\\''s "
               "$(reboot) \"now\" `x`'",
               "scontrol update nodename=node3 state=resume"});
    CHECK(r.at("actions").at(7).at("arguments").at(4).get<std::string>() ==
          "reason=gridplan: it's $(reboot) \"now\" `x`");
    CHECK(r.at("actions").at(7).at("undo").get<std::string>() ==
          "scontrol update nodename=node3 state=resume");
    CHECK(r.at("actions").at(2).at("undo").get<std::string>() == "scontrol hold 12");

    r = export_of(a, R"({"render": "slurmrestd", )" + actions);
    CHECK(r.at("actions").at(0).at("path").get<std::string>() == "/slurm/v0.0.38/job/12");
    CHECK(r.at("actions").at(0).at("body").dump() == R"({"priority":3999990})");
    CHECK(r.at("actions").size() == 6);
    CHECK(r.at("warnings").dump().find("ignored: 3 changes") != std::string::npos);
    r = export_of(a, R"({"render": "slurmrestd", "version": "v0.0.40", )" + actions);
    CHECK(r.at("actions").at(0).at("body").dump() ==
          R"({"priority":{"infinite":false,"number":3999990,"set":true}})");
    CHECK(r.at("actions").size() == 8);
    CHECK(r.at("actions").at(6).at("path").get<std::string>() ==
          "/slurm/v0.0.40/node/node3");
    r = export_of(a, R"({"render": "sbatch", )" + actions);
    CHECK(r.at("actions").at(3).at("option").get<std::string>() == "--time=90");
    CHECK(r.at("actions").at(4).at("option").get<std::string>() ==
          "--begin=2026-11-22T11:00:00");
}

// A shell takes the line apart into the arguments, whatever is in them.
TEST_CASE("a shell reads a line as the very arguments", "[slurm][property]")
{
    rng r = rng_create(3);
    const std::string letters = "a '\"$`\\;&|<>(){}*?[]#~!=%-\xc3\xa4";

    for (int round = 0; round < 40; round++) {
        test_arena a;
        error err{};
        std::string reason, script, got;
        slurm_action action{};
        slurm_command command{};
        const char *line = nullptr;
        char buffer[512];

        for (size_t i = 0, n = rng_index(&r, 12); i < n; i++)
            reason += letters[rng_index(&r, letters.size() - 2)];
        action.kind = SLURM_ACT_DRAIN;
        action.resource_id = "node-1.x";
        action.reason = reason.c_str();
        REQUIRE(slurm_action_check(&action, "/actions/0", &err) == OK);
        REQUIRE(computed(a, &err, [&] {
                    slurm_action_command(&action, 0, &command, a);
                    line = slurm_command_line(&command, a);
                    return OK;
                }) == OK);
        script =
            "scontrol() { for x; do printf '%s\\n' \"$x\"; done; }; " + std::string(line);
        REQUIRE(setenv("GRIDPLAN_TEST_SCRIPT", script.c_str(), 1) == 0);
        FILE *shell = popen("eval \"$GRIDPLAN_TEST_SCRIPT\"", "r");
        REQUIRE(shell);
        while (size_t n = fread(buffer, 1, sizeof(buffer), shell))
            got.append(buffer, n);
        CHECK(pclose(shell) == 0);
        INFO(line);
        CHECK(got == "update\nnodename=node-1.x\nstate=drain\nreason=gridplan: " +
                         reason + "\n");
    }
}

TEST_CASE("names of other characters are refused, all at once", "[slurm]")
{
    api a;

    for (const char *id : {"", "12;reboot", "-1", "12_", "_3", "12_3_4", "1 2", "$(x)",
                           "12\\n", "9999999999999999999"}) {
        INFO(id);
        CHECK(
            a.post("/v1/exports/slurm", std::string(R"({"order": ["5", ")") + id + "\"]}")
                .pointers() == list{"/order/1"});
    }
    CHECK(a.post("/v1/exports/slurm", R"({"actions": [
        {"kind": "drain", "resource_id": "node1 state=down"}, {"kind": "drain", "resource_id": "-n"},
        {"kind": "drain", "resource_id": "n", "reason": "a\u0007"}, {"kind": "priority", "job_id": "1"},
        {"kind": "nice", "job_id": "1", "value": -1}, {"kind": "release"},
        {"kind": "time_limit", "job_id": "1", "value": 0}]})")
              .pointers() == list{"/actions/0/resource_id", "/actions/1/resource_id",
                                  "/actions/2/reason", "/actions/3/value",
                                  "/actions/4/value", "/actions/5/job_id",
                                  "/actions/6/value"});
    CHECK(a.post("/v1/exports/slurm", R"({"order": ["1"], "decision": {}})").pointers() ==
          list{"/decision"});
    CHECK(a.post("/v1/exports/slurm", R"({"decision": {"x": 1}})").pointers() ==
          list{"/decision"});
    CHECK(a.post("/v1/exports/slurm", R"({"version": "v1/../x"})").pointers() ==
          list{"/version"});
    CHECK(a.post("/v1/exports/slurm", R"({"decision": {"starts": [{"job_id": "a b"}]}})")
              .pointers() == list{"/decision"});
}
