// members_reschedule_test.cpp - what single options change for running jobs and plans.
#include "tests/members_support.hpp"

using members::answer;
using members::with;
using nlohmann::json;

namespace
{

// The verdict of gridway on one running job with these members.
json gridway(const json &members_of_job, const json &options)
{
    json r = members::example("migration-gridway");

    REQUIRE(r["algorithm"] == "gridway");
    r["pending"] = json::array();
    r["snapshot"]["resources"] =
        json::parse(R"([{"id": "u", "mips_total": 100, "job_count": 1}])");
    r["jobs"] = json::parse(R"([{"id": "j", "resource_id": "u", "estimate_ref_s": 1000,
                                 "work_done_ref_s": 100}])");
    r["jobs"][0].update(members_of_job);
    r["options"] = options;
    return answer("/v1/reschedules", r)["jobs"][0];
}

// The reason of multi_phase when three phases took `actual_s`, not 1000 s.
std::string phase_reason(std::vector<double> actual_s, const json &options)
{
    json r = members::example("migration-multi_phase");

    REQUIRE(r["algorithm"] == "multi_phase");
    r["jobs"][0].erase("stop_phase");
    for (size_t i = 0; i < actual_s.size(); i++)
        r["jobs"][0]["phase_history"][i]["actual_s"] = actual_s[i];
    r["options"] = options;
    return answer("/v1/reschedules", r)["reason"];
}

} // namespace

TEST_CASE("an exit code is a failure only if so wished", "[reschedule]")
{
    json ended = json::parse(R"({"failure": {"stage": "wrapper", "kind": "ended",
                                             "exit_code": 3, "failed_attempts": 1}})");

    CHECK(gridway(ended, json::object())["reason"] == "finished");
    CHECK(gridway(ended, {{"nonzero_exit_fails", true}})["action"] == "retry");
}

TEST_CASE("hopeless stages are not tried again, if so wished", "[reschedule]")
{
    json refused = json::parse(R"({"failure": {"stage": "prolog", "failed_attempts": 1,
                                               "kind": "authorisation"}})");

    CHECK(gridway(refused, json::object())["action"] == "retry");
    CHECK(gridway(refused, {{"skip_hopeless_retries", true}})["action"] != "retry");
}

TEST_CASE("a busy processor violates without a contract", "[reschedule]")
{
    json busy = {{"job_cpu_ratio", 0.3}, {"idle_cpu_ratio", 0.2}};

    CHECK(gridway(busy, json::object())["contract"] == "violated");
    CHECK(gridway(busy, {{"cpu_threshold_ratio", 0.31}})["contract"] == "violated");
    CHECK(gridway(busy, {{"cpu_threshold_ratio", 0.29}})["contract"] == "kept");
}

TEST_CASE("phases that are far from their predictions ask for a new plan", "[reschedule]")
{
    const json none = json::object();

    CHECK(phase_reason({800, 800, 800}, none) == "none");
    CHECK(phase_reason({800, 800, 800}, {{"contract_min_ratio", 0.9}}) == "contract");
    CHECK(phase_reason({2000, 2000, 1000}, none) == "contract");
    CHECK(phase_reason({2000, 2000, 1000}, {{"contract_phases", 1}}) == "none");
    CHECK(phase_reason({2000, 2000, 2000}, none) == "contract");
    CHECK(phase_reason({2000, 2000, 2000}, {{"contract_max_ratio", 3}}) == "none");
}

TEST_CASE("a plan is made anew when it is old", "[reschedule]")
{
    // It is 450 s old.
    CHECK(phase_reason({1000, 1000, 1000}, {{"replan_period_s", 451}}) == "none");
    CHECK(phase_reason({1000, 1000, 1000}, {{"replan_period_s", 449}}) == "periodic");
}

TEST_CASE("reading a checkpoint costs so many times its transfer", "[reschedule]")
{
    json r = members::example("migration-multi_phase");
    auto cost = [&](double factor) -> double {
        return answer("/v1/reschedules",
                      with(r, "/options/redistribution_factor", factor))["target"]
            .at("reschedule_cost_s");
    };

    CHECK(cost(0) < cost(1));
    CHECK(cost(2) - cost(1) == Approx(cost(1) - cost(0)));

    r = members::example("plan-mcrp_optimal");
    auto plan_cost = [&](double factor) -> double {
        return answer("/v1/rescheduling-plans", with(r, "/options/redistribution_factor",
                                                     factor))["total_reschedule_cost_s"];
    };
    REQUIRE(r["algorithm"] == "mcrp_optimal");
    CHECK(plan_cost(0) > 0);
    CHECK(plan_cost(0) < plan_cost(0.01));
    CHECK(plan_cost(50) == 0); // not worth a move any more
}

TEST_CASE("the scheduler of each phase is an option", "[reschedule]")
{
    json r = members::example("migration-multi_phase");
    auto target = [&](const char *scheduler) {
        return answer("/v1/reschedules",
                      with(r, "/options/scheduler", scheduler))["target"]["resource_ids"];
    };

    // Site b is slow; of two equal machines of a one has the lower number.
    for (json &resource : r["snapshot"]["sites"][1]["resources"])
        resource["cpu_available_ratio"] = 0.3;
    CHECK(target("exact") == json::parse(R"(["a1", "a2", "a3"])"));
    CHECK(target("random") == json::parse(R"(["a1", "a2", "a4"])"));
}

TEST_CASE("the fit of a running task's estimate has options", "[workflow]")
{
    json r = members::example("workflow_round-balanced");
    json samples = json::array();
    const double percent[] = {6.09,   15.013, 23.357, 35.754,
                              45.643, 51.539, 59.106, 83.889};

    REQUIRE(r["algorithm"] == "balanced");
    for (size_t i = 0; i < 8; i++)
        samples.push_back({{"elapsed_s", 200 * (i + 1)},
                           {"work_done_ref_s", 100 * (i + 1)},
                           {"progress_ratio", percent[i] / 100},
                           {"mips_total", 1},
                           {"mips_external", 0},
                           {"job_count", 1}});
    json &task = r["workflows"][0]["tasks"][1];
    task.erase("work_done_ref_s");
    task.erase("progress_ratio");
    task["progress_samples"] = samples;
    r["options"] = {{"predictor", "fit"}};
    auto estimate = [&](const char *option, const json &value) {
        return answer("/v1/workflow-schedules",
                      with(r, std::string("/options/") + option, value))
            .at("estimates")[0];
    };
    auto seconds = [&](const char *option, const json &value) -> double {
        return estimate(option, value)["estimate_ref_s"];
    };

    CHECK(estimate("fit_min_samples", 8)["source"] == "fit");
    CHECK(estimate("fit_min_samples", 9)["source"] == "extrapolation");
    // Two ways to the same least squares.
    CHECK(seconds("fit_method", "varpro") != seconds("fit_method", "simplex"));
    CHECK(seconds("fit_method", "varpro") ==
          Approx(seconds("fit_method", "simplex")).epsilon(1e-4));
    CHECK(seconds("fit_smoothing", "median") < seconds("fit_smoothing", "none"));
    CHECK(seconds("fit_smoothing", "mean") < seconds("fit_smoothing", "median"));

    // Time and work differ when others share the resource.
    for (size_t i = 0; i < 8; i++) {
        task["progress_samples"][i]["elapsed_s"] = 100 * (i + 1) * (1 + 0.3 * (double)i);
        task["progress_samples"][i]["job_count"] = i % 2 + 1;
    }
    CHECK(seconds("fit_abscissa", "elapsed_s") != seconds("fit_abscissa", "work_ref_s"));
}

TEST_CASE("oscillation is looked for in the last reports", "[workflow]")
{
    json r = members::example("workflow_round-balanced");
    const double percent[] = {8, 20, 27, 40, 43, 60, 70, 80, 90, 95}; // calm at last

    REQUIRE(r["algorithm"] == "balanced");
    json &task = r["workflows"][0]["tasks"][1];
    task.erase("work_done_ref_s");
    task.erase("progress_ratio");
    task["progress_samples"] = json::array();
    for (size_t i = 0; i < 10; i++)
        task["progress_samples"].push_back({{"elapsed_s", 100 * (i + 1)},
                                            {"work_done_ref_s", 100 * (i + 1)},
                                            {"progress_ratio", percent[i] / 100},
                                            {"mips_total", 1},
                                            {"mips_external", 0},
                                            {"job_count", 1}});
    for (auto [window, source] :
         {std::pair{5, "extrapolation"}, std::pair{8, "average"}}) {
        r["options"] = {{"estimate_filter", "auto"}, {"filter_window", window}};
        CHECK(answer("/v1/workflow-schedules", r)["estimates"][0]["source"] == source);
    }
}

TEST_CASE("final tasks are a parent set too, unless not wished", "[workflow]")
{
    json r = members::example("workflow_round-balanced");

    REQUIRE(r["algorithm"] == "balanced");
    auto sets = [&](bool wished) {
        return answer("/v1/workflow-schedules",
                      with(r, "/options/final_task_as_set", wished))["parent_sets"]
            .size();
    };
    CHECK(sets(true) == 3);
    CHECK(sets(false) == 2);
}

TEST_CASE("what is known of failures decides what copies are worth", "[replication]")
{
    json r = members::example("replication-target_success");
    auto probability = [&](const char *estimator) -> double {
        return answer("/v1/replica-counts",
                      with(r, "/options/mf_estimator",
                           estimator))["replica_counts"][0]["success_probability"];
    };
    // 2 failures in 50,000 s: 25,000 s apart, but the last was at 30,000 s.
    REQUIRE(r["algorithm"] == "target_success");
    CHECK(probability("censored") == Approx(0.967141).epsilon(1e-5));
    CHECK(probability("gap_mean") == Approx(0.919646).epsilon(1e-5));

    r = members::example("fault_tolerance-expected_time");
    REQUIRE(r["algorithm"] == "expected_time");
    auto seconds = [&](const char *estimator) -> double {
        return answer(
            "/v1/fault-tolerance-plans",
            with(r, "/options/mf_estimator",
                 estimator))["choices"][0]["options_compared"][0]["expected_time_s"];
    };
    CHECK(seconds("gap_mean") > seconds("censored"));
}

TEST_CASE("a host of which little is known fails so seldom at most", "[replication]")
{
    json r = members::example("replication-target_success");

    // One host without a failure in 50,000 s, and nobody to compare it with.
    r["snapshot"]["resources"] = json::parse(
        R"([{"id": "cr1", "mips_total": 1, "n_max": 1, "observed_since_s": 0,
             "failure_count": 0}])");
    r["options"]["mf_estimator"] = "bayes";
    auto probability = [&](double floor_s) -> double {
        return answer("/v1/replica-counts",
                      with(r, "/options/mean_floor_s",
                           floor_s))["replica_counts"][0]["success_probability"];
    };
    CHECK(probability(1e6) == Approx(std::exp(-5000 / 1e6)));
    CHECK(probability(1e8) == Approx(std::exp(-5000 / 1e8)));
    CHECK(probability(0) < probability(1e6));

    r = members::example("fault_tolerance-expected_time");
    REQUIRE(r["algorithm"] == "expected_time");
    r["options"]["mf_estimator"] = "bayes";
    auto seconds = [&](double floor_s) -> double {
        return answer(
            "/v1/fault-tolerance-plans",
            with(r, "/options/mean_floor_s",
                 floor_s))["choices"][0]["options_compared"][0]["expected_time_s"];
    };
    CHECK(seconds(1e8) < seconds(0));
}

TEST_CASE("a checkpoint pays for work that would be lost", "[checkpoint]")
{
    json r = members::example("checkpoint-exact");

    r["jobs"][0]["remaining_s"] = 1200;
    for (auto [since_s, action] : {std::pair{0, "omit"}, std::pair{3000, "take"}}) {
        r["jobs"][0]["work_since_checkpoint_s"] = since_s;
        CHECK(answer("/v1/checkpoint-intervals", r)["intervals"][0]["action"] == action);
    }
}

TEST_CASE("actions want so many free processors", "[fault_tolerance]")
{
    json r = members::example("fault_tolerance-combined");
    auto limit = [&](double share) -> int {
        return answer(
            "/v1/fault-tolerance-plans",
            with(r, "/options/free_cpu_limit_fraction", share))["free_cpu_limit"];
    };

    REQUIRE(r["algorithm"] == "combined");
    CHECK(limit(0) == 1);
    CHECK(limit(0.9) == 4);
}
