// members_models_test.cpp - what single members change in models, predictions and
// schedules of parallel applications.
#include "tests/members_support.hpp"

extern "C" {
#include "models/performance/drift.h"
}

using members::answer;
using members::with;
using nlohmann::json;

namespace
{

json fit(const char *example, const char *member, const json &value)
{
    return answer("/v1/model-fits", with(members::example(example),
                                         std::string("/settings/") + member, value));
}

json schedule(const json &request, const char *option, const json &value)
{
    return answer("/v1/parallel-schedules",
                  with(request, std::string("/options/") + option, value));
}

} // namespace

TEST_CASE("combinations are ranked by the metric", "[performance]")
{
    const char *const example = "model-fit-comprehensive";
    json by_error = fit(example, "selection_metric", "standard_error")["summary"];
    json by_appe = fit(example, "selection_metric", "appe")["summary"];

    CHECK(by_error["standard_error"] < by_appe["standard_error"]);
    CHECK(by_appe["fit_appe_ratio"] < by_error["fit_appe_ratio"]);
}

TEST_CASE("more functions mean more fits", "[performance]")
{
    const char *const example = "model-fit-comprehensive";

    CHECK(fit(example, "extended_functions", true)["summary"]["fits_evaluated"] >
          fit(example, "extended_functions", false)["summary"]["fits_evaluated"]);
}

TEST_CASE("a power law passes over small inputs", "[performance]")
{
    // Ten runs, 500 to 1400.
    for (auto [least, count] : {std::pair{500, 10}, std::pair{501, 9}, std::pair{900, 6}})
        CHECK(fit("model-fit-power_law", "min_input", least)["coefficients"][0] == count);
}

TEST_CASE("one processor has combinations of its own", "[performance]")
{
    json fitted = answer("/v1/model-fits", members::example("model-fit-comprehensive"));
    json r = members::example("prediction-combinations");
    auto seconds = [&] { return answer("/v1/predictions", r).at("run_time_s"); };

    r["model"] = json::object();
    for (const char *member : {"kind", "settings", "combinations", "single_combinations"})
        r["model"][member] = fitted[member];
    REQUIRE_FALSE(fitted["single_combinations"].empty());
    r["problem_size"] = 1000;
    json parallel = seconds();
    r["processors"] = 1;
    json single = seconds();

    // What they say of themselves is worked out, not taken from the document.
    for (json &c : r["model"]["combinations"])
        c["monotone_in_p"] = !c["monotone_in_p"].get<bool>();
    CHECK(seconds() == single);

    r["model"]["single_combinations"] = json::array();
    CHECK(seconds() != single);
    r["processors"] = 8;
    CHECK(seconds() == parallel);
}

TEST_CASE("a limit far above the estimates is not believed", "[progress]")
{
    json r = members::example("prediction-varpro");
    const double percent[] = {1, 1.5, 1.9, 2.2, 2.4, 2.5, 2.55, 2.58};
    auto source = [&](double factor) {
        return answer("/v1/predictions",
                      with(r, "/options/max_factor", factor))["source"];
    };

    REQUIRE(r["samples"].size() == 8);
    for (size_t i = 0; i < 8; i++)
        r["samples"][i]["progress_ratio"] = percent[i] / 100;
    CHECK(source(1000) == "fit");
    CHECK(source(2) == "fallback");
}

TEST_CASE("annealing takes as long as it is told", "[parallel]")
{
    json r = members::example("parallel-simulated_annealing");
    auto rounds = [&](const char *option, const json &value) -> double {
        return schedule(r, option, value)["iterations"];
    };

    CHECK(rounds("end_temperature", 1e-3) > 10 * rounds("end_temperature", 99));
    CHECK(rounds("accept_limit", 100) > rounds("accept_limit", 0));
    auto evaluations = [&](int steps) -> double {
        return schedule(r, "steps", steps)["evaluations"];
    };
    CHECK(evaluations(100) > 10 * evaluations(1));

    r = members::example("parallel-sa_random_start");
    CHECK(schedule(r, "start_temperature", 0.01)["objective"]["makespan_s"] >
          schedule(r, "start_temperature", 1e4)["objective"]["makespan_s"]);
}

TEST_CASE("the exact method gives up after so much work", "[parallel]")
{
    json r = members::example("parallel-auto");

    // Then another method takes its place, with more work.
    CHECK(schedule(r, "exact_work_budget", 1)["work_units"] >
          schedule(r, "exact_work_budget", 300000000)["work_units"]);
}

TEST_CASE("so many ants leave pheromone", "[parallel]")
{
    json r = members::example("parallel-ant_colony");
    std::vector<double> found[2];
    json resources = json::array(), bandwidths = json::array();

    // Links without an order, so that three rounds do not find the best.
    for (size_t i = 0; i < 30; i++) {
        resources.push_back({{"id", "m" + std::to_string(i)},
                             {"cpu_available_ratio", 0.05 * (double)(1 + i * 7 % 20)}});
        for (size_t k = i + 1; k < 30; k++)
            bandwidths.push_back(1 + (i * 37 + k * 53 + i * k * 11) % 95);
    }
    json &site = r["snapshot"]["sites"][0];
    site["resources"] = resources;
    site["links"] = {{"form", "upper_triangle"}, {"bandwidth_mbps", bandwidths}};
    while (r["snapshot"]["sites"].size() > 1)
        r["snapshot"]["sites"].erase(1);
    r["jobs"][0]["model"] = json::parse(R"({"terms": [{"comp_coefficient_s": 1000,
        "f_pcomp_id": 2, "comm_coefficient": 20000, "f_bw_id": 2, "f_pcomm_id": 1}]})");
    r["options"] = {{"rounds", 3}, {"ants", 40}, {"pre_evaluate", false}};
    for (int seed = 1; seed <= 4; seed++) {
        r["seed"] = seed;
        found[0].push_back(schedule(r, "top_ants", 1)["objective"]["makespan_s"]);
        found[1].push_back(schedule(r, "top_ants", 30)["objective"]["makespan_s"]);
        CHECK(schedule(r, "top_ants", 40)["evaluations"] ==
              schedule(r, "top_ants", 1000)["evaluations"]); // all ants
    }
    CHECK(found[0] != found[1]);
}

TEST_CASE("what is a change and what an outlier is set", "[performance]")
{
    // Runs that take e^(2 s) times as long as predicted: so many until a change.
    auto runs_until_change = [](const drift_rule &rule, double z) {
        drift_sums sums{};
        size_t start, i = 0;

        while (i < 100 &&
               drift_add(&sums, &rule, i, 0.05 * z, 0.05, &start) != DRIFT_CHANGE)
            i++;
        return i + 1; // 101: never
    };
    drift_rule rule = drift_rule_preset;

    CHECK(runs_until_change(rule, 2) == 6); // 6 (2 - 1) > 5
    rule.cusum_limit = 8.5;
    CHECK(runs_until_change(rule, 2) == 9);
    rule.cusum_slack = 0.5;
    CHECK(runs_until_change(rule, 2) == 6); // 6 * 1.5 > 8.5
    CHECK(runs_until_change(rule, 9) == 4); // 4 (3 - 0.5) > 8.5
    rule.error_clamp = 9;
    CHECK(runs_until_change(rule, 8) == 2); // 2 (8 - 0.5) > 8.5

    // Errors are counted in their own scale, 0.05, or in a larger least one.
    drift_rule coarse = drift_rule_preset;
    coarse.scale_floor = 0.025;
    CHECK(runs_until_change(coarse, 1) == 101);
    coarse.scale_floor = 0.5;
    CHECK(runs_until_change(coarse, 9) == 101);

    CHECK(drift_is_outlier(&rule, std::log(3.1), 0.05));
    rule.outlier_ratio = 3.2;
    CHECK_FALSE(drift_is_outlier(&rule, std::log(3.1), 0.05));
}

TEST_CASE("so many latest runs are remembered", "[performance]")
{
    json r = json::parse(R"({"kind": "run_time", "problem_size": 300, "model":
        {"kind": "linear", "settings": {"inputs": ["problem_size"]}}})");

    for (int i = 0; i < 40; i++)
        r["model"]["samples"].push_back(
            {{"problem_size", 100 + 10 * i},
             {"run_time_s", (5 + 2 * i) * (1 + 0.01 * (i * 7 % 5 - 2))}});
    auto count = [&](int most) -> int {
        return answer("/v1/predictions", with(r, "/model/settings/robustness/window_runs",
                                              most))["interval_ratio_count"];
    };
    CHECK(count(20) == 20);
    CHECK(count(2000) > 30);
}
