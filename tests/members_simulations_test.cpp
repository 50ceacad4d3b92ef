// members_simulations_test.cpp - what single settings change in simulations.
#include "tests/members_support.hpp"

using members::with;
using nlohmann::json;

namespace
{

json first_result(const json &request)
{
    return members::answer("/v1/simulations", request)["results"][0];
}

// Mean of a figure in the first result: `kind` is metrics or figures.
double mean(const json &request, const char *kind, const char *name)
{
    return first_result(request)[kind][name]["mean"];
}

json one_run(const std::string &example)
{
    json r = members::example(example);

    if (r.value("kind", "") != "queue")
        r["runs"] = 1;
    for (const char *list : {"compare", "policies"})
        while (r.contains(list) && r[list].size() > 1)
            r[list].erase(r[list].size() - 1);
    return r;
}

// The mean with this value less that with the other.
double growth(const json &request, const std::string &place, const json &from,
              const json &to, const char *kind, const char *name)
{
    return mean(with(request, place, to), kind, name) -
           mean(with(request, place, from), kind, name);
}

} // namespace

TEST_CASE("work of the scheduler delays jobs", "[simulation]")
{
    json r = one_run("simulation-jobs");

    r["output"]["log"] = false;
    // Three jobs, each planned once before it starts.
    CHECK(growth(r, "/overhead_s/prediction_s", 0, 30, "metrics", "job_wait_s") ==
          Approx(30));

    r["compare"][0] = {{"algorithm", "rescheduling"}};
    r["workload"]["checkpoint_overhead_s"] = 0;
    CHECK(growth(r, "/overhead_s/rescheduling_s", 0, 30, "metrics",
                 "job_turnaround_s") == Approx(15)); // one of two jobs moves
}

TEST_CASE("load from outside takes speed away", "[simulation]")
{
    json r = one_run("simulation-placement");
    const std::string load = "/sites/0/resources/0/load";

    r = with(r, load, {{"interval_s", 60}});
    CHECK(growth(r, load + "/initial_fraction", 0, 0.9, "metrics", "job_run_time_s") >
          100);
    CHECK(growth(r, load + "/change_percent", 1, 100, "metrics", "job_run_time_s") > 100);
}

TEST_CASE("no more jobs are listed than asked for", "[simulation]")
{
    json grid = one_run("simulation-jobs"), queue = one_run("simulation-queue");

    CHECK(first_result(grid)["jobs"].size() == 3);
    CHECK(first_result(with(grid, "/output/job_rows_max", 1))["jobs"].size() == 1);
    CHECK(first_result(queue)["jobs"].size() == 4);
    CHECK(first_result(with(queue, "/job_rows_max", 2))["jobs"].size() == 2);
}

TEST_CASE("Lublin's parameters change what is drawn", "[simulation]")
{
    json r = one_run("simulation-placement");

    r["workload"] = json::parse(
        R"({"generator": "lublin", "job_count": 100, "lublin": {"set": "all"}})");
    // The daily cycle is another one.
    CHECK(growth(r, "/workload/lublin/anum", 8, 12, "metrics", "job_wait_s") != 0);
    // Share of short run times, pa + pb: 0.78, none, all.
    CHECK(growth(r, "/workload/lublin/pa", 0, -1, "metrics", "job_run_time_s") > 500);
    CHECK(growth(r, "/workload/lublin/pa", 0, 1, "metrics", "job_run_time_s") < -100);
}

TEST_CASE("a set of Lublin's parameters replaces that of a preset", "[simulation]")
{
    json low = one_run("simulation-preset"), own = low; // ch4_low_90

    auto waits = [](const json &request) {
        return first_result(with(request, "/stop/time_s", 20000))["metrics"];
    };
    own["workload"] = {{"lublin", {{"set", "low"}}}};
    CHECK(waits(own) == waits(low));
    own["workload"] = {{"lublin", {{"set", "high"}}}};
    CHECK(waits(own) != waits(low));
    json high = low;
    high["preset"] = "ch4_high_90";
    CHECK(waits(own) == waits(high));
}

TEST_CASE("a workload says what its generator does not look at", "[simulation]")
{
    json r = one_run("simulation-placement");
    auto warnings = [&](const char *workload) {
        r["workload"] = json::parse(workload);
        std::vector<std::string> list;
        json answer = members::answer("/v1/simulations", r);
        for (const json &w : answer["warnings"])
            if (w.get<std::string>().rfind("ignored: ", 0) == 0)
                list.push_back(w);
        return list;
    };
    using texts = std::vector<std::string>;

    CHECK(
        warnings(R"({"generator": "poisson", "job_count": 5, "lublin": {"set": "low"},
                       "batch_size": 3})") ==
        texts{"ignored: 2 members (/workload/batch_size, /workload/lublin): jobs of the "
              "generator poisson do not come by them"});
    CHECK(
        warnings(R"({"generator": "lublin", "job_count": 5,
                       "length_mi": 3, "stop_s": 3000})") ==
        texts{"ignored: 1 member (/workload/length_mi): jobs of the generator lublin do "
              "not come by it"});
    CHECK(warnings(R"({"generator": "lublin", "job_count": 5,
                       "lublin": {"set": "low"}})") == texts{});
}

TEST_CASE("sessions are light below a limit and may be turned away", "[simulation]")
{
    json fixed = one_run("simulation-vm-limit"),
         dynamic = one_run("simulation-vm-dynamic_limit");

    REQUIRE(fixed["compare"][0]["algorithm"] == "limit");
    REQUIRE(dynamic["compare"][0]["algorithm"] == "dynamic_limit");
    for (const json &r : {fixed, dynamic})
        CHECK(growth(r, "/compare/0/options/limit_mips", 1, 5, "metrics",
                     "light_sessions") > 0);
    CHECK(growth(dynamic, "/compare/0/options/target_blocking", 0.02, 0.9, "metrics",
                 "jobs_assigned") != 0);
}

TEST_CASE("links and machines of drawn sites lie in their ranges", "[simulation]")
{
    json r = one_run("simulation-multi_phase");
    auto seconds = [&](const std::string &member, const json &value) -> double {
        return first_result(with(r, "/grid/" + member, value))["mean_s"];
    };

    CHECK(seconds("link_capacities_mbps", {100}) >
          seconds("link_capacities_mbps", {10000}));
    CHECK(seconds("link_share_min", 0.2) > seconds("link_share_min", 0.8));
    CHECK(seconds("link_share_max", 0.2) > seconds("link_share_max", 0.8));
    CHECK(seconds("cpu_max", 0.1) > 2 * seconds("cpu_max", 1));
}

TEST_CASE("load, latency and data slow the tasks of workflows down", "[simulation]")
{
    json r = one_run("simulation-workflow");

    CHECK(growth(r, "/grid/external_ratio", 0, 0.9, "figures", "processed_ref_s") < 0);

    // Tasks that move between four sites.
    r["compare"][0] = {{"algorithm", "balanced"}};
    r["grid"] = json::parse(R"({"sites": 4, "resources_per_site": 4})");
    CHECK(growth(r, "/grid/wan_latency_max_s", 0.01, 1000, "figures", "mean_makespan_s") >
          0);
    CHECK(growth(r, "/workload/data_bytes", 0, 1e10, "figures", "mean_makespan_s") != 0);
    r["grid"]["wan_latency_max_s"] = 1000;
    CHECK(growth(r, "/grid/wan_latency_min_s", 0.003, 1000, "figures",
                 "mean_makespan_s") != 0);
}

TEST_CASE("local jobs load clusters and come before claims", "[simulation]")
{
    json r = one_run("simulation-coallocation");

    r["job_count"] = 60;
    r["policies"] = {"worst_fit"};
    CHECK(growth(r, "/settings/local_ratio", 0, 2, "figures", "background_load_ratio") >
          0.1);
    // Longer ones and rarer looks: the same load on average, but another course.
    CHECK(growth(r, "/settings/local_run_time_s", 30, 3000, "figures",
                 "background_load_ratio") == Approx(0).margin(0.02));
    CHECK(growth(r, "/settings/local_run_time_s", 30, 3000, "figures", "wasted_ratio") !=
          0);
    CHECK(growth(r, "/settings/monitor_interval_s", 5, 300, "figures", "wasted_ratio") !=
          0);

    r["settings"] = json::parse(
        R"({"background_lower_ratio": 0.7, "local_ratio": 1.2, "local_run_time_s": 1000})");
    CHECK(growth(r, "/settings/local_priority", true, false, "figures",
                 "job_load_ratio") > 0);

    r["workload"] = "unreliable";
    r.erase("settings");
    CHECK(growth(r, "/settings/avoid_failed_sites", false, true, "figures",
                 "wasted_ratio") < 0);
}
