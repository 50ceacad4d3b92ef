// choices_test.cpp - a name that is none of the choices is answered with all of them.
#include "tests/members_support.hpp"

using members::example;
using members::with;
using nlohmann::json;

TEST_CASE("a refused name is answered with the nearest and with all choices", "[api]")
{
    const struct {
        const char *path, *example, *place, *wrong, *nearest, *other;
    } cases[] = {
        {"/v1/simulations", "simulation-preset", "/preset", "ch4_low_91", "ch4_low_90",
         "ch3_tornado_100"},
        {"/v1/simulations", "simulation-failures", "/workload/preset", "ch4_lowe",
         "ch4_low", "ch4_high"},
        {"/v1/simulations", "simulation-queue", "/policies/0", "esy", "easy",
         "conservative"},
        {"/v1/simulations", "simulation-workflow", "/compare/0/algorithm", "balance",
         "balanced", "workflow_fastest"},
        {"/v1/simulations", "simulation-preset", "/compare/0/algorithm", "fcfz", "fcfs",
         "wqr"},
        {"/v1/simulations", "simulation-coallocation", "/policies/0", "worst_fitt",
         "worst_fit", "close_to_files"},
        {"/v1/simulations", "simulation-multi_phase", "/policies/0/algorithm",
         "incrementel", "incremental", "genetic"},
        {"/v1/fault-tolerance-plans", "fault_tolerance-combined", "/checkpoint/algorithm",
         "yung", "young", "weibull"},
        {"/v1/coallocations", "coallocation-worst_fit", "/algorithm", "worst_fitt",
         "worst_fit", "close_to_files"},
        {"/v1/coallocations/launch-plans", "launch-drunner", "/runner", "DRuner",
         "DRunner", "KRunner"},
        {"/v1/checkpoint-intervals", "checkpoint-young", "/render/0", "vloc", "veloc",
         "scr"},
    };
    api service;

    for (const auto &c : cases) {
        json body = example(c.example);
        INFO(c.path << " " << c.place);
        api_reply r = service.post(c.path, with(body, c.place, c.wrong).dump());
        INFO(r.body.substr(0, 1000));
        CHECK(r.status == 422);
        CHECK(r.body.find("did you mean '" + std::string(c.nearest) + "'? known: '") !=
              std::string::npos);
        CHECK(r.body.find("'" + std::string(c.other) + "'") != std::string::npos);
        CHECK(r.body.find("one of them is") == std::string::npos);
    }
}
