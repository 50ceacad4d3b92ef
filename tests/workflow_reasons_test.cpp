// workflow_reasons_test.cpp - why tasks have no place, by the words of placements.
#include "tests/api.hpp"

using nlohmann::json;

namespace
{

json decided(const json &body)
{
    static api a;

    api_reply r = a.post("/v1/workflow-schedules", body.dump());
    INFO(body.dump() << "\n" << r.body);
    REQUIRE(r.status == 200);
    return r.json();
}

} // namespace

TEST_CASE("why no resource takes a task is told by the words of placements",
          "[api][workflow][world]")
{
    const struct {
        const char *resources, *task, *reason;
        int count;
    } cases[] = {
        {"[]", R"({"id": "a", "estimate_ref_s": 1})", "no_resource", 0},
        {R"([{"id": "n", "failed": true}, {"id": "m", "failed": true}, {"id": "k"}])",
         R"({"id": "a", "etc_s": [1, 2, null]})", "failed", 2},
        {R"([{"id": "n"}, {"id": "m"}])", R"({"id": "a", "etc_s": [null, null]})",
         "no_estimate", 2},
        {R"([{"id": "n", "job_count": 1}])", R"({"id": "a", "estimate_ref_s": 1})",
         "unknown_end", 1},
        {R"([{"id": "n", "cpus": 1, "failed": true}, {"id": "m", "cpus": 2}])",
         R"({"id": "a", "estimate_ref_s": 1, "requirement": "cpus_total > 4"})", "failed",
         1},
        {R"([{"id": "n", "cpus": 1}, {"id": "m", "cpus": 2}])",
         R"({"id": "a", "estimate_ref_s": 1, "requirement": "cpus_total > 4"})",
         "requirement", 2},
        {R"([{"id": "n", "cpus": 1, "reservations": [
              {"id": "x", "start_s": 0, "end_s": null, "all": true}]}])",
         R"({"id": "a", "estimate_ref_s": 1})", "reserved_for_ever", 1},
        {R"([{"id": "n", "cpus": 1, "running": [{"id": "x"}]}])",
         R"({"id": "a", "estimate_ref_s": 1})", "unknown_end", 1},
    };
    for (auto &c : cases) {
        json body = {{"snapshot", {{"resources", json::parse(c.resources)}}},
                     {"workflow", {{"tasks", {json::parse(c.task)}}}}};
        json answer = decided(body), reason = answer["unplaced"][0]["reasons"][0];
        INFO(body.dump() << "\n" << reason.dump());
        CHECK(reason["reason"] == c.reason);
        CHECK(reason["resource_count"] == c.count);
        CHECK(reason["detail"] != "");
    }
    json body = json::parse(R"({"snapshot": {"resources": [{"id": "n", "cpus": 1}],
            "shared_capacities": {"l": 1}, "running": [
                {"id": "x", "resource_ids": ["n"], "cpus": 0.5, "needs": {"l": 1}}]},
        "workflow": {"tasks": [{"id": "a", "estimate_s": 1, "cpus": 0.5,
                                "needs": {"l": 1}}]}})");
    CHECK(decided(body)["unplaced"][0]["reasons"][0]["reason"] == "shared_short");
}
