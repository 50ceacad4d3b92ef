// placements_api_test.cpp - POST /v1/placements and the round of POST /v1/reschedules:
// what limits jobs, how those without a place are listed, what refused values are told.
#include "tests/api.hpp"

extern "C" {
#include "algorithms/placement/placement.h"
}

using nlohmann::json;

TEST_CASE("a refused value is told all that there are", "[api]")
{
    api a;
    auto post = [&](const std::string &more) {
        return a.post("/v1/placements", R"({"snapshot":{"resources":[{"id":"n"}]},
            "jobs":[{"id":"j","estimate_ref_s":1}])" +
                                            more + "}");
    };
    api_reply r = post(R"(,"algorithm":"annealing")");
    CHECK(r.status == 422);
    for (const placement_policy *p = placement_policies; p->name; p++)
        CHECK(r.body.find("'" + std::string(p->name) + "'") != std::string::npos);
    r = a.post("/v1/placements", R"({"snapshot":{"resources":[{"id":"n"}]},
        "jobs":[{"id":"j","estimate_ref_s":1,"gpus":2}]})");
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/gpus"});
    CHECK(r.body.find("'cpus'") == std::string::npos);
}

TEST_CASE("ids are counted in characters, as the description says", "[api]")
{
    api a;
    auto post = [&](size_t count) {
        std::string id;
        for (size_t i = 0; i < count; i++)
            id += "\xe6\xbc\xa2"; // one character of three bytes
        return a.post("/v1/placements",
                      R"({"snapshot":{"resources":[{"id":"n"}]},"jobs":[{"id":")" + id +
                          R"(","estimate_ref_s":1}]})");
    };
    CHECK(post(86).status == 200);
    CHECK(post(256).status == 200);
    api_reply r = post(257);
    CHECK(r.status == 422);
    CHECK(r.body.find("257 characters are more than 256") != std::string::npos);
}
