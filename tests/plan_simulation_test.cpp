// plan_simulation_test.cpp - substitute applications on changing loads, and
// POST /v1/simulations of kind multi_phase.
#include "tests/api.hpp"

#include <fstream>

extern "C" {
#include "algorithms/plan/plan_simulation.h"
}

using nlohmann::json;

namespace
{

json example()
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/simulation-multi_phase.json");
    REQUIRE(in.good());
    return json::parse(in);
}

json simulate(api &a, const json &body)
{
    api_reply r = a.post("/v1/simulations", body.dump());
    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 200);
    return r.json();
}

} // namespace

TEST_CASE("substitute applications, rescheduling-plans.md 6.5", "[plan][simulation]")
{
    test_arena a;
    size_t count = 0;
    perf_terms *md = plan_substitute(PLAN_APP_MD, 128, 1, &count, a);

    REQUIRE(md != nullptr);
    REQUIRE(count == 30);
    double w0 = 1 + 0.5 * std::sin(1.0), w5 = 1 + 0.5 * std::sin(6.0);
    CHECK(md[0].terms[0].comp_s == Approx(1.1e5 * w0 / 4).epsilon(1e-12));
    CHECK(md[0].terms[0].comm == Approx(20 * w0).epsilon(1e-12));
    CHECK(md[5].terms[0].comp_s == Approx(1.5e4 * w5 / 4).epsilon(1e-12));
    CHECK(md[5].terms[0].comm == Approx(80 * w5).epsilon(1e-12));
    CHECK_FALSE(perf_terms_monotone(&md[5]));
    CHECK(perf_terms_monotone(&md[0]));
    CHECK(perf_time_s(&md[5], 4, 1, 100) ==
          Approx(1.5e4 * w5 / 16 + 80 * w5 * 4 / 10).epsilon(1e-12));

    plan_substitute(PLAN_APP_CHANGA, 128, 2, &count, a);
    CHECK(count == 15);
    plan_substitute(PLAN_APP_LAMMPS, 128, 4, &count, a);
    CHECK(count == 8);
}

TEST_CASE("plans that are remade bear changing loads", "[api][plan][simulation]")
{
    api a;
    json answer = simulate(a, example());

    CHECK(answer["kind"] == "multi_phase");
    CHECK(answer["runs_done"] == 2);
    REQUIRE(answer["results"].size() == 5);
    json r = answer["results"];
    CHECK(r[0]["mode"] == "remade");
    CHECK(r[0]["algorithm"] == "incremental");
    CHECK(r[3]["mode"] == "single");
    CHECK_FALSE(r[3].contains("algorithm"));
    // A single schedule keeps to a machine that the new loads leave little of.
    CHECK(r[3]["mean_s"].get<double>() > r[0]["mean_s"].get<double>());
    CHECK(r[3]["mean_s"].get<double>() > r[3]["expected_mean_s"].get<double>());
    size_t wins = 0;
    for (auto &x : r) {
        wins += x["wins"].get<size_t>();
        CHECK(x["mean_ratio"].get<double>() >= 1);
        CHECK(x["min_s"] <= x["max_s"]);
    }
    CHECK(wins == 2);
    CHECK(simulate(a, example())["results"] == r);
}

TEST_CASE("with loads that do not change all is as predicted", "[api][plan][simulation]")
{
    api a;
    json body = example();

    body["loads_change"] = "never";
    body["grid"]["sites_max"] = 2;
    body["policies"] = {{{"mode", "fixed"}, {"algorithm", "mcrp_optimal"}},
                        {{"mode", "single"}},
                        {{"mode", "remade"}, {"algorithm", "incremental"}}};
    json r = simulate(a, body)["results"];
    CHECK(r[0]["mean_s"].get<double>() ==
          Approx(r[0]["expected_mean_s"].get<double>()).epsilon(1e-9));
    CHECK(r[1]["mean_s"].get<double>() ==
          Approx(r[1]["expected_mean_s"].get<double>()).epsilon(1e-9));
    CHECK(r[0]["mean_s"].get<double>() <= r[1]["mean_s"].get<double>() * 1.01);

    body["loads_change"] = "phase";
    body["policies"].erase(2);
    CHECK(simulate(a, body)["results"].size() == 2);
}

TEST_CASE("shapes of the source, rescheduling-plans.md 6.6", "[plan][simulation]")
{
    api a;
    json body = example();

    // One cluster, static loads: near the optimum, and the genetic planner at it when
    // moves cost nothing.
    body["runs"] = 6;
    body["grid"] = {{"sites_min", 1},
                    {"sites_max", 1},
                    {"machines_min", 48},
                    {"machines_max", 48},
                    {"cpu_scaling_factors", {1}}};
    body["loads_change"] = "never";
    for (auto *application : {"md", "lammps", "changa"})
        for (double cost_s : {0.0, 300.0}) {
            CAPTURE(application, cost_s);
            body["application"] = application;
            body["grid"]["intra_site_cost_s"] = cost_s;
            body["options"] = {{"seeded", false}};
            body["policies"] = json::array();
            for (auto *algorithm : {"optimal", "incremental", "division", "genetic"})
                body["policies"].push_back({{"mode", "fixed"}, {"algorithm", algorithm}});
            json r = simulate(a, body)["results"];
            double optimal_s = r[0]["mean_s"];
            for (auto &x : r) {
                CHECK(x["mean_s"].get<double>() >= optimal_s * (1 - 1e-9));
                CHECK(x["mean_s"].get<double>() <= optimal_s * 1.12);
            }
            CHECK(r[3]["mean_s"].get<double>() <=
                  optimal_s * (cost_s > 0 ? 1.05 : 1.005));
        }

    // Several, all loads drawn anew after each interval.
    body["application"] = "md";
    body["runs"] = 3;
    body["grid"] = {
        {"sites_min", 3}, {"sites_max", 4}, {"machines_min", 8}, {"machines_max", 24}};
    body["loads_change"] = "interval";
    body["options"] = {{"population", 40}, {"generations", 10}};
    body["policies"] = {{{"mode", "remade"}, {"algorithm", "incremental"}},
                        {{"mode", "remade"}, {"algorithm", "genetic"}},
                        {{"mode", "single"}}};
    json r = simulate(a, body)["results"];
    double incremental_s = r[0]["mean_s"], genetic_s = r[1]["mean_s"];
    CHECK(r[2]["mean_s"].get<double>() >= 2 * incremental_s);
    CHECK(genetic_s / incremental_s == Approx(1).margin(0.15));
}

TEST_CASE("what is wrong with a simulation of phases is said", "[api][plan][simulation]")
{
    api a;
    struct {
        const char *path;
        json value;
        const char *pointer;
    } cases[] = {
        {"/grid/sites_min", 4, "/grid/sites_max"},
        {"/grid/machines_max", 7, "/grid/machines_max"},
        {"/policies/0/algorithm", "x", "/policies/0/algorithm"},
        {"/policies/0/mode", "x", "/policies/0/mode"},
        {"/application", "given", "/phases"},
        {"/runs", 0, "/runs"},
        {"/grid/cpu_min", 0, "/grid/cpu_min"},
        {"/merged_phases", 31, "/merged_phases"},
    };
    for (auto &c : cases) {
        CAPTURE(c.path);
        json body = example();
        body[json::json_pointer(c.path)] = c.value;
        api_reply r = a.post("/v1/simulations", body.dump());
        INFO(r.body);
        CHECK(r.status == 422);
        CHECK(r.pointers() == std::vector<std::string>{c.pointer});
    }
    json given = example();
    given["application"] = "given";
    given["phases"] = {{{"terms", {{{"comp_coefficient_s", 9000}, {"f_pcomp_id", 2}}}}},
                       {{"terms", {{{"comp_coefficient_s", 90000}, {"f_pcomp_id", 2}}}}}};
    CHECK(simulate(a, given)["results"].size() == 5);
}
