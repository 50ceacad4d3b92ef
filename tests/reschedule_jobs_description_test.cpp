// reschedule_jobs_description_test.cpp - which kind of POST /v1/reschedules a body is,
// and what the description says of it.
#include "tests/api.hpp"

extern "C" {
#include "service/openapi.h"
}

using nlohmann::json;

namespace
{

json description()
{
    test_arena a;
    text_buffer b{};
    b.arena = a;
    openapi_print(routes, &b);
    REQUIRE_FALSE(b.failed);
    return json::parse(std::string(b.data, b.length));
}

// Enough of JSON Schema for the conditions that tell kinds apart; a reference holds.
bool holds(const json &schema, const json &body)
{
    for (const auto &[key, value] : schema.items()) {
        if (key == "allOf")
            for (const json &s : value)
                if (!holds(s, body))
                    return false;
        if (key == "anyOf" && std::none_of(value.begin(), value.end(),
                                           [&](const json &s) { return holds(s, body); }))
            return false;
        if (key == "not" && holds(value, body))
            return false;
        if (key == "required")
            for (const json &name : value)
                if (!body.contains(name))
                    return false;
        if (key != "properties")
            continue;
        for (const auto &[name, s] : value.items()) {
            if (!body.contains(name))
                continue;
            if (s.contains("const") && s["const"] != body[name])
                return false;
            if (s.contains("enum") && std::find(s["enum"].begin(), s["enum"].end(),
                                                body[name]) == s["enum"].end())
                return false;
        }
    }
    return true;
}

} // namespace

TEST_CASE("exactly one kind of the description fits a body", "[api][reschedule_jobs]")
{
    json kinds = description()["components"]["schemas"]["RescheduleRequest"]["oneOf"];
    const std::pair<const char *, const char *> cases[] = {
        {R"({})", "PhaseEndRequest"},
        {R"({"algorithm":"multi_phase"})", "PhaseEndRequest"},
        {R"({"algorithm":"auto"})", "PhaseEndRequest"},
        {R"({"event":"phase_end","algorithm":"gridway"})", "PhaseEndRequest"},
        {R"({"algorithm":"gridway"})", "RunningJobsRequest"},
        {R"({"event":"running_jobs"})", "RunningJobsRequest"},
        {R"({"event":"runner_liveness"})", "RunnerLivenessRequest"},
    };
    for (const auto &[body, name] : cases) {
        std::vector<std::string> fitting;
        for (const json &k : kinds)
            if (holds(k, json::parse(body)))
                fitting.push_back(k["allOf"][0]["$ref"]);
        INFO(body);
        REQUIRE(fitting.size() == 1);
        CHECK(fitting[0] == std::string("#/components/schemas/") + name);
    }
}

TEST_CASE("a body without event is told by its algorithm", "[api][reschedule_jobs]")
{
    api service;
    auto pointers = [&](const char *body) {
        return service.post("/v1/reschedules", body).pointers();
    };
    auto has = [](const std::vector<std::string> &list, const std::string &pointer) {
        return std::find(list.begin(), list.end(), pointer) != list.end();
    };

    // phase_end knows no `pending`.
    CHECK(has(pointers(R"({"pending":[]})"), "/pending"));
    CHECK(has(pointers(R"({"pending":[],"algorithm":"multi_phase"})"), "/pending"));
    CHECK_FALSE(has(pointers(R"({"pending":[],"algorithm":"gridway"})"), "/pending"));
    CHECK_FALSE(has(pointers(R"({"pending":[],"event":"running_jobs"})"), "/pending"));

    api_reply r = service.post("/v1/reschedules",
                               R"({"event":"running_jobs","algorithm":"auto",
                                   "snapshot":{"resources":[]},"jobs":[]})");
    CHECK(r.status == 200);
    CHECK(r.json()["event"] == "running_jobs");
    CHECK(r.json()["algorithm"] == "gridway");
    CHECK(r.json()["status"] == "feasible");
    r = service.post("/v1/reschedules",
                     R"({"event":"running_jobs","algorithm":"multi_phase",
                         "snapshot":{"resources":[]},"jobs":[]})");
    CHECK(r.pointers() == std::vector<std::string>{"/algorithm"});
}
