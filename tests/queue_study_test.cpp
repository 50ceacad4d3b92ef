// queue_study_test.cpp - simulations of kind "queue": details, and studies of variants.
#include "tests/api.hpp"
#include "tests/system.hpp"

extern "C" {
#include "models/base/rng.h"
}

#include <cmath>
#include <thread>

using nlohmann::json;

namespace
{

// Jobs of so many days, of three users, on a cluster of 8.
std::string log_of(int days, uint64_t seed = 1)
{
    rng r = rng_stream(seed, "study log");
    std::string text = "; MaxProcs: 8\n";
    int number = 0;

    for (double at_s = 0; at_s < days * 86400.0;
         at_s += std::floor(20000 * rng_uniform(&r))) {
        int run = int(20000 * rng_uniform(&r)), cpus = 1 + int(8 * rng_uniform(&r));
        char line[200];

        number++;
        snprintf(line, sizeof(line),
                 "%d %.0f -1 %d %d -1 -1 %d %d -1 1 %d %d -1 %d %d -1 -1\n", number, at_s,
                 run, cpus, cpus, run * 2, int(3 * rng_uniform(&r)), number % 2,
                 number % 4, 1);
        text += line;
    }
    return text;
}

json timeless(json answer)
{
    answer.erase("decision_id");
    answer.erase("timings");
    return answer;
}

} // namespace

TEST_CASE("no share of what is there is above 1, however long the log", "[queue][api]")
{
    api a;
    const json one_node = R"({"resources":[{"id":"n","cpus":3}]})"_json;

    for (bool clustered : {false, true})
        for (double run_s : {0.1, 0.3, 1.0 / 3, 0.7})
            for (double submit_s : {0.0, 100.3, 1e6 + 0.7}) {
                json body = {{"kind", "queue"},
                             {"policies", {"fcfs"}},
                             {"details", true},
                             {"utilisation_step_s", 2}};
                if (clustered)
                    body["cluster"] = one_node;
                else
                    body["processors"] = 3;
                for (int i = 0; i < 90; i++)
                    body["jobs"].push_back({{"id", std::to_string(i)},
                                            {clustered ? "cpus" : "processors", 1},
                                            {"run_time_s", run_s},
                                            {"submit_s", submit_s}});
                json r = a.post("/v1/simulations", body.dump()).json();
                INFO(r.dump().substr(0, 600));
                REQUIRE(r.contains("results"));
                const json &f = r["results"][0];
                CHECK(f["utilisation_ratio"] <= 1);
                if (!clustered) // there jobs begin and end in whole milliseconds
                    CHECK(f["utilisation_ratio"] == 1);
                REQUIRE(f["utilisation"].size() >= 2);
                for (const json &step : f["utilisation"])
                    CHECK(step["busy_ratio"] <= 1);
            }
}

TEST_CASE("details of a replay: tables, fairness, use, losses", "[queue][api]")
{
    api a;
    json body = {{"kind", "queue"},
                 {"processors", 4},
                 {"policies", {"fcfs"}},
                 {"details", true},
                 {"utilisation_step_s", 10},
                 {"cut_at_request", true},
                 {"swf", "1 0 -1 20 4 -1 -1 4 10 -1 1 1 7 -1 2 1 -1 -1\n"
                         "2 0 -1 10 4 -1 -1 4 10 -1 1 2 7 -1 3 1 -1 -1\n"
                         "3 5 -1 5 2 -1 -1 2 10 -1 1 1 8 -1 2 -1 -1 -1\n"}};
    json r = a.post("/v1/simulations", body.dump()).json();

    INFO(r.dump(1));
    const json &f = r["results"][0];
    // 1 runs 0..10 (killed), 2 runs 10..20, 3 runs 20..25
    CHECK(f["killed_count"] == 1);
    CHECK(f["killed_core_s"] == 40);
    CHECK(f["preempted_count"] == 0);
    CHECK(f["fragmented_core_s"] == 0);
    CHECK(f["overtaken_ratio"] == 0);
    // users wait 7.5 and 10; slowdowns (1 + 2) / 2 and 2
    CHECK(f["gini_wait"].get<double>() == Approx(5.0 / (2 * 4 * 8.75)));
    CHECK(f["jain_index"].get<double>() == Approx(3.5 * 3.5 / (2 * (2.25 + 4))));
    REQUIRE(f["by_account"].size() == 2);
    CHECK(f["by_account"][0]["key"] == "7");
    CHECK(f["by_account"][0]["core_s"] == 80);
    CHECK(f["by_qos"][0]["key"] == "2");
    CHECK(f["by_qos"][0]["core_s"] == 50);
    CHECK(f["by_partition"][1]["key"] == "unknown");
    REQUIRE(f["utilisation"].size() == 3);
    CHECK(f["utilisation"][0]["busy_ratio"] == 1);
    CHECK(f["utilisation"][0]["queued_core_s"] == 50);
    CHECK(f["utilisation"][0]["waiting_count"] == 1.5);
    CHECK(f["utilisation"][2]["busy_ratio"] == 0.25);
    CHECK(f["utilisation"][2]["from_s"] == 20);

    // Without them the answer is as it always was.
    body.erase("utilisation_step_s");
    body["details"] = false;
    json plain = a.post("/v1/simulations", body.dump()).json();
    for (const char *member :
         {"by_account", "by_qos", "by_partition", "jain_index", "gini_wait",
          "overtaken_ratio", "utilisation", "killed_count", "fragmented_core_s"})
        CHECK_FALSE(plain["results"][0].contains(member));
    for (auto &[name, value] : plain["results"][0].items())
        CHECK(f[name] == value);

    // Steps that are too short are made longer, and it says so.
    body["details"] = true;
    body["utilisation_step_s"] = 1;
    body["swf"] = "1 0 -1 5 4 -1 -1 4 10 -1 1 1 7 -1 2 1 -1 -1\n"
                  "2 20000 -1 5 4 -1 -1 4 10 -1 1 1 7 -1 2 1 -1 -1\n";
    json coarse = a.post("/v1/simulations", body.dump()).json();
    CHECK(coarse["results"][0]["utilisation"].size() <= 10000);
    CHECK(coarse["warnings"].dump().find("clamped: /utilisation_step_s") !=
          std::string::npos);
    // No job that runs: nothing to tell.
    body["swf"] = "1 0 -1 5 9 -1 -1 9 10 -1 1 1 7 -1 2 1 -1 -1\n";
    json none = a.post("/v1/simulations", body.dump()).json();
    CHECK_FALSE(none["results"][0].contains("jain_index"));
    CHECK_FALSE(none["results"][0].contains("utilisation"));
    CHECK(none["results"][0]["killed_count"] == 0);
}

TEST_CASE("a study compares variants with a base", "[queue][api]")
{
    api a;
    json body = {
        {"kind", "queue"},
        {"seed", 7},
        {"swf", log_of(70)},
        {"study",
         {{"base", {{"id", "today"}, {"policy", "fcfs"}}},
          {"variants",
           {{{"id", "same"}},
            {{"id", "easy"}, {"policy", "easy"}},
            {{"id", "small"}, {"cluster_changes", {{"processors", 4}}}}}},
          {"grid", {{"workload_scale", {0.5, 2}}, {"policy", {"easy", "easy_sjbf"}}}},
          {"resamples", 200}}}};
    json answer = a.post("/v1/simulations", body.dump()).json();
    INFO(answer.dump(1));
    const json &s = answer["study"];

    CHECK(answer["results"].empty());
    CHECK(s["block"] == "week");
    CHECK(s["block_count"] == 10);
    CHECK(s["base"]["id"] == "today");
    CHECK_FALSE(s["base"].contains("vs_base"));
    std::vector<std::string> ids;
    for (const json &v : s["variants"])
        ids.push_back(v["id"]);
    CHECK(ids == std::vector<std::string>{"same", "easy", "small",
                                          "policy=easy,workload_scale=0.5",
                                          "policy=easy,workload_scale=2",
                                          "policy=easy_sjbf,workload_scale=0.5",
                                          "policy=easy_sjbf,workload_scale=2"});
    CHECK(answer["ranking"].size() == 8);
    CHECK(s["variants"][0]["verdict"] == "undecided");
    CHECK(s["variants"][0]["vs_base"]["wait_s"]["mean"] == 0);
    CHECK(s["variants"][1]["verdict"] == "better");
    CHECK(s["variants"][2]["never_fit_count"] > 0);
    CHECK(s["variants"][2]["compared_count"] < s["base"]["job_count"]);
    CHECK(s["variants"][4]["workload_scale"] == 2);

    // Figures are those of a simulation of the policies, and so are the differences.
    json plain = a.post("/v1/simulations", json({{"kind", "queue"},
                                                 {"swf", body["swf"]},
                                                 {"policies", {"fcfs", "easy"}}})
                                               .dump())
                     .json();
    for (auto &[name, value] : s["base"]["figures"].items()) {
        CHECK(value == plain["results"][0][name]);
        CHECK(s["variants"][1]["figures"][name] == plain["results"][1][name]);
    }
    CHECK(s["variants"][1]["vs_base"]["wait_s"]["mean"].get<double>() ==
          Approx(plain["results"][1]["mean_wait_s"].get<double>() -
                 plain["results"][0]["mean_wait_s"].get<double>()));
    CHECK(s["variants"][1]["vs_base"]["bounded_slowdown"]["mean"].get<double>() ==
          Approx(plain["results"][1]["mean_bounded_slowdown"].get<double>() -
                 plain["results"][0]["mean_bounded_slowdown"].get<double>()));
    for (const json &v : s["variants"])
        for (auto &[name, c] : v["vs_base"].items()) {
            CHECK(c["low"] <= c["high"]);
            CHECK(c["verdict"] == (c["high"] < 0  ? "better"
                                   : c["low"] > 0 ? "worse"
                                                  : "undecided"));
        }
    // Same request and seed, same bytes; another seed, other intervals.
    CHECK(timeless(a.post("/v1/simulations", body.dump()).json()) == timeless(answer));
    body["seed"] = 8;
    json other = a.post("/v1/simulations", body.dump()).json();
    CHECK(other["study"]["base"] == s["base"]);
    CHECK(other["study"]["variants"][1]["vs_base"]["wait_s"]["mean"] ==
          s["variants"][1]["vs_base"]["wait_s"]["mean"]);
    CHECK(other["study"]["variants"][1]["vs_base"] != s["variants"][1]["vs_base"]);
}

TEST_CASE("a grid's combinations come in the order of its members", "[queue][api]")
{
    using texts = std::vector<std::string>;
    struct {
        const char *grid;
        texts ids;
    } cases[] = {
        {R"({"workload_scale": [2, 1], "policy": ["fcfs", "easy"]})",
         {"policy=fcfs,workload_scale=2", "policy=easy,workload_scale=2",
          "policy=fcfs,workload_scale=1", "policy=easy,workload_scale=1"}},
        {R"({"policy": ["fcfs", "easy"], "workload_scale": [2, 1]})",
         {"policy=fcfs,workload_scale=2", "policy=fcfs,workload_scale=1",
          "policy=easy,workload_scale=2", "policy=easy,workload_scale=1"}},
        {R"({"processors": [3, 4], "estimates": [], "policy": ["easy"],
             "workload_scale": [1]})",
         {"policy=easy,workload_scale=1,processors=3",
          "policy=easy,workload_scale=1,processors=4"}},
    };
    api a;
    for (auto &c : cases) {
        std::string body = R"({"kind": "queue", "processors": 4, "jobs": [
            {"run_time_s": 5, "submit_s": 0}], "labels": {"study": {"grid": {"policy": 1}}},
            "study": {"resamples": 1, "grid": )" +
                           std::string(c.grid) + "}}";
        json answer = a.post("/v1/simulations", body).json();
        INFO(answer.dump(1));
        texts ids;
        for (const json &v : answer["study"]["variants"])
            ids.push_back(v["id"]);
        CHECK(ids == c.ids);
    }
}

TEST_CASE("a study is the same from one thread and from eight at once", "[queue][api]")
{
    std::string body =
        json({{"kind", "queue"},
              {"seed", 3},
              {"swf", log_of(70)},
              {"time_limit_s", 300},
              {"study",
               {{"base", {{"policy", "fcfs"}}},
                {"grid", {{"policy", {"easy", "sjf"}}, {"workload_scale", {1, 1.5}}}},
                {"resamples", 200}}}})
            .dump();
    auto ask = [&](std::string *to) {
        api a;
        *to = timeless(a.post("/v1/simulations", body).json()).dump();
    };
    std::string alone;
    std::vector<std::string> together(8);
    std::vector<std::thread> threads;

    ask(&alone);
    for (std::string &to : together)
        threads.emplace_back(ask, &to);
    for (std::thread &t : threads)
        t.join();
    CHECK(json::parse(alone)["study"]["variants"].size() == 4);
    for (const std::string &one : together)
        CHECK(one == alone);
}

TEST_CASE("a study is the same however many play it", "[queue][system]")
{
    const json grid = {{"policy", {"easy", "sjf", "conservative"}},
                       {"workload_scale", {1, 1.5}}};
    json body = {
        {"kind", "queue"},
        {"seed", 3},
        {"swf", log_of(40)},
        {"time_limit_s", 300},
        {"study", {{"base", {{"policy", "fcfs"}}}, {"grid", grid}, {"resamples", 200}}}};
    json on_cluster = body;
    std::map<std::string, std::string> alone;

    on_cluster["swf"] = log_of(5);
    on_cluster["cluster"] = {{"resources", {{{"id", "n1"}, {"cpus", 8}}}}};
    json both = body;
    both.erase("study");
    both["policies"] = {"fcfs", "easy", "sjf"};
    both["per_job"] = true;
    for (const char *workers : {"1", "4"}) {
        gridplan g({"--compute-workers", workers});

        for (auto &[name, asked] : {std::pair<std::string, json>("study", body),
                                    {"on a cluster", on_cluster},
                                    {"policies", both}}) {
            answer a = g.post("/v1/simulations", asked.dump());
            CAPTURE(name, workers);
            REQUIRE(a.status == 200);
            std::string said = timeless(json::parse(a.body)).dump();
            if (*workers == '1')
                alone[name] = said;
            CHECK(said == alone[name]);
        }
        // What a client does not wait for ends, with all who help.
        body["study"]["resamples"] = 201;
        {
            client c(g.port);
            REQUIRE(c.put(request("POST", "/v1/simulations", body.dump())));
            usleep(100000);
        }
        CHECK(eventually(
            [&] { return g.metric("gridplan_worker_running{pool=\"compute\"}") == 0; },
            10));
        body["study"]["resamples"] = 200;
        CHECK(eventually(
            [&] {
                return g.metric("gridplan_memory_leased_bytes{pool=\"work\"}") <=
                       256 * 1024;
            },
            10));
    }
}

TEST_CASE("a study of a short log has no intervals", "[queue][api]")
{
    api a;
    json body = {{"kind", "queue"},
                 {"swf", log_of(5)},
                 {"study", {{"variants", {{{"id", "fcfs"}, {"policy", "fcfs"}}}}}}};
    json s = a.post("/v1/simulations", body.dump()).json()["study"];

    INFO(s.dump(1));
    CHECK(s["base"]["policy"] == "easy");
    CHECK_FALSE(s.contains("block"));
    CHECK(s["variants"][0]["interval_absent"] == "too_short");
    CHECK(s["variants"][0]["verdict"] == "undecided");
    CHECK_FALSE(s["variants"][0]["vs_base"]["wait_s"].contains("low"));
    CHECK(s["variants"][0]["vs_base"]["wait_s"]["mean"].is_number());
    body["swf"] = log_of(9);
    s = a.post("/v1/simulations", body.dump()).json()["study"];
    CHECK(s["block"] == "day");
    CHECK(s["variants"][0]["vs_base"]["wait_s"].contains("low"));
}

TEST_CASE("what is wrong with a study is said at once", "[queue][api]")
{
    api a;
    auto pointers = [&](json study, json more = json::object()) {
        json body = {
            {"kind", "queue"},
            {"processors", 4},
            {"study", study},
            {"jobs", {{{"run_time_s", 1}}, {{"run_time_s", 1}, {"submit_s", 9}}}}};
        body.update(more);
        return a.post("/v1/simulations", body.dump()).pointers();
    };
    using list = std::vector<std::string>;
    json one = {{{"id", "v"}}};

    CHECK(pointers(json::object()) == list{"/study"});
    CHECK(pointers({{"variants", json::array()}}) == list{"/study"});
    CHECK(pointers({{"variants", one}, {"warm_up_s", 5}, {"cool_down_s", 5}}) ==
          list{"/study"});
    CHECK(pointers({{"variants", {{{"id", "v"}, {"policy", "eesy"}}}},
                    {"base", {{"policy", "fcsf"}}},
                    {"grid", {{"policy", {"easy", "nope"}}, {"processors", {2}}}}}) ==
          list{"/study/base/policy", "/study/variants/0/policy", "/study/grid/policy/1"});
    CHECK(pointers({{"grid", {{"processors", {1, 1.5, 0}}}}}) ==
          list{"/study/grid/processors/1", "/study/grid/processors/2"});
    CHECK(pointers({{"variants", {{{"id", "base"}}}}}) == list{"/study"});
    CHECK(pointers({{"variants", one}},
                   {{"policies", {"easy"}}, {"per_job", true}, {"as_swf", true}}) ==
          list{"/policies", "/per_job", "/as_swf"});
    json scales = json::array(), processors = json::array();
    for (int i = 1; i <= 9; i++) {
        scales.push_back(i);
        processors.push_back(i);
    }
    CHECK(
        pointers({{"grid", {{"workload_scale", scales}, {"processors", processors}}}}) ==
        list{"/study"});
    CHECK(pointers({{"grid", {{"estimates", {"actual", "none"}}}}}) ==
          list{"/study/grid/estimates/1"});
    CHECK(pointers({{"variants", {{{"id", "v"}, {"workload_scale", 0}}}}}) ==
          list{"/study/variants/0/workload_scale"});
    CHECK(pointers({{"variants", one}, {"confidence", 1}, {"resamples", 0}}) ==
          list{"/study/confidence", "/study/resamples"});
    // A grid without lists is none; with one variant beside it, that is enough.
    CHECK(pointers({{"variants", one}, {"grid", json::object()}}).empty());
}
