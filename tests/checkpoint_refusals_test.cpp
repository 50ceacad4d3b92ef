// checkpoint_refusals_test.cpp - what POST /v1/checkpoint-intervals and its histories
// refuse, row by row of reliability.md 10.
#include "tests/api.hpp"

using nlohmann::json;

namespace
{
json with(const char *more)
{
    json job = {{"id", "j"},
                {"checkpoint_overhead_s", 60},
                {"mean_failure_interval_s", 36000},
                {"execution_time_s", 86400}};

    job.merge_patch(json::parse(more));
    return job;
}

std::map<std::string, std::string> mistakes(const char *path, const json &body)
{
    api service;
    api_reply r = service.post(path, body.dump());
    std::map<std::string, std::string> out;

    INFO(r.body);
    CHECK(r.status == 422);
    if (r.status == 422)
        for (const json answer = r.json(); const auto &item : answer["errors"])
            out[item["pointer"].get<std::string>()] = item["code"].get<std::string>();
    return out;
}
} // namespace

TEST_CASE("jobs that make no sense are refused at the member", "[api][checkpoint]")
{
    const struct {
        const char *why, *job, *request, *pointer, *code;
    } cases[] = {
        {"a resource and several nodes", R"({"resource_id": "a", "nodes": 2})", "{}",
         "/jobs/0/nodes", "conflict"},
        {"another number of nodes", R"({"resource_ids": ["a", "b"], "nodes": 3})", "{}",
         "/jobs/0/nodes", "conflict"},
        {"a resource and a list", R"({"resource_id": "a", "resource_ids": ["a", "b"]})",
         "{}", "/jobs/0/resource_ids", "conflict"},
        {"no nodes", R"({"resource_ids": []})", "{}", "/jobs/0/resource_ids",
         "too_short"},
        {"a node without a name", R"({"resource_ids": ["a", ""]})", "{}",
         "/jobs/0/resource_ids/1", "too_short"},
        {"a pool with one", R"({"pool_resource_ids": [""], "nodes": 2})", "{}",
         "/jobs/0/pool_resource_ids/0", "too_short"},
        {"a node twice", R"({"resource_ids": ["a", "b", "a"]})", "{}",
         "/jobs/0/resource_ids/2", "duplicate"},
        {"levels out of order",
         R"({"levels": [{"level": 2, "checkpoint_overhead_s": 1, "survives_ratio": 0.5},
             {"level": 1, "checkpoint_overhead_s": 2, "survives_ratio": 1}]})",
         "{}", "/jobs/0/levels/1/level", "out_of_order"},
        {"a dearer level that survives less",
         R"({"levels": [{"level": 1, "checkpoint_overhead_s": 1, "survives_ratio": 0.5},
             {"level": 2, "checkpoint_overhead_s": 2, "survives_ratio": 0.4},
             {"level": 3, "checkpoint_overhead_s": 3, "survives_ratio": 1}]})",
         "{}", "/jobs/0/levels/1/survives_ratio", "out_of_order"},
        {"nothing survives all",
         R"({"levels": [{"level": 1, "checkpoint_overhead_s": 1, "survives_ratio": 0.5}]})",
         "{}", "/jobs/0/levels/0/survives_ratio", "out_of_bounds"},
        {"a cheaper higher level",
         R"({"levels": [{"level": 1, "checkpoint_overhead_s": 3, "survives_ratio": 0.5},
             {"level": 2, "checkpoint_overhead_s": 2, "survives_ratio": 1}]})",
         "{}", "/jobs/0/levels/1/checkpoint_overhead_s", "out_of_order"},
        {"a recall above 1",
         R"({"predictor": {"recall_ratio": 1.1, "precision_ratio": 1, "lead_s": 60}})",
         "{}", "/jobs/0/predictor/recall_ratio", "out_of_bounds"},
        {"alarms that are never right",
         R"({"predictor": {"recall_ratio": 0.5, "precision_ratio": 0, "lead_s": 60}})",
         "{}", "/jobs/0/predictor/precision_ratio", "out_of_bounds"},
        {"notice and predictor",
         R"({"predictor": {"recall_ratio": 0.5, "precision_ratio": 1, "lead_s": 60},
             "notice": {"interruptions_per_hour": 1}})",
         "{}", "/jobs/0/notice", "conflict"},
        {"spares, and nobody knows of repairs", R"({"spare_nodes": 2})", "{}",
         "/jobs/0/mttr_s", "required"},
        {"finite without an end", R"({"execution_time_s": null})",
         R"({"algorithm": "finite"})", "/jobs/0/execution_time_s",
         "execution_time_required"},
        {"more since the checkpoint than is done",
         R"({"remaining_s": 86000, "work_since_checkpoint_s": 401})", "{}",
         "/jobs/0/work_since_checkpoint_s", "out_of_bounds"},
        {"a dynamic programme of several nodes", R"({"nodes": 2, "uptime_s": 5})",
         R"({"algorithm": "weibull", "options": {"method": "dp", "weibull_shape": 0.7,
             "weibull_scale_s": 9000}})",
         "/options/method", "invalid_combination"},
        {"silent with levels",
         R"({"silent": {"mean_interval_s": 9000},
             "levels": [{"level": 1, "checkpoint_overhead_s": 1, "survives_ratio": 1}]})",
         "{}", "/jobs/0/silent", "invalid_combination"},
        {"a frontier of ageing nodes", R"({"uptime_s": 5})",
         R"({"algorithm": "weibull", "frontier": true,
             "options": {"weibull_shape": 0.7, "weibull_scale_s": 9000}})",
         "/frontier", "invalid_combination"},
        {"a file system without bandwidth", "{}",
         R"({"shared_io": {"bandwidth_mbps": 0}})", "/shared_io/bandwidth_mbps",
         "out_of_bounds"},
        {"too many trials", "{}", R"({"verify": {"trial_count": 1000001}})",
         "/verify/trial_count", "out_of_bounds"},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.why)
        {
            json body = json::parse(c.request);
            body["jobs"] = json::array({with(c.job)});
            auto found = mistakes("/v1/checkpoint-intervals", body);
            CHECK(found[c.pointer] == c.code);
        }
    // one node is what a resource is
    api service;
    json body = {{"jobs", {with(R"({"resource_id": "a", "nodes": 1})")}}};
    CHECK(service.post("/v1/checkpoint-intervals", body.dump()).status == 200);
    // of no nodes that is all there is to say
    body = {{"jobs", {with(R"({"resource_ids": [], "mean_failure_interval_s": null})")}}};
    CHECK(mistakes("/v1/checkpoint-intervals", body) ==
          std::map<std::string, std::string>{{"/jobs/0/resource_ids", "too_short"}});
    // and more than 6 levels, 100,000 nodes, or all of these at once
    body = {{"jobs", {with("{}")}}};
    json &job = body["jobs"][0];
    for (int l = 1; l <= 7; l++)
        job["levels"].push_back(
            {{"level", l}, {"checkpoint_overhead_s", l}, {"survives_ratio", 1}});
    for (int n = 0; n <= 100000; n++)
        job["resource_ids"].push_back(std::to_string(n));
    job["predictor"] = {{"recall_ratio", -1}, {"precision_ratio", 2}, {"lead_s", 1}};
    auto found = mistakes("/v1/checkpoint-intervals", body);
    CHECK(found.count("/jobs/0/levels") == 1);
    CHECK(found.count("/jobs/0/resource_ids") == 1);
    CHECK(found.count("/jobs/0/predictor/recall_ratio") == 1);
    CHECK(found.count("/jobs/0/predictor/precision_ratio") == 1);
}

TEST_CASE("costs of hundreds of mean failure intervals have no time", "[api][checkpoint]")
{
    api service;

    for (const char *more :
         {R"({"checkpoint_overhead_s": 8e7})", R"({"restart_s": 8e7})"}) {
        json body = {{"algorithm", "finite"}, {"jobs", {with(more)}}};
        api_reply r = service.post("/v1/checkpoint-intervals", body.dump());
        INFO(r.body);
        REQUIRE(r.status == 200);
        // without a checkpoint it still ends; a restart is only read with one
        const json answer = r.json();
        for (const auto &x : answer["intervals"])
            if (x.contains("expected_completion_s"))
                CHECK(x["expected_completion_s"].get<double>() < 1e15);
    }
    json body = {
        {"algorithm", "finite"},
        {"jobs", {with(R"({"execution_time_s": 1e9, "mean_failure_interval_s": 10,
                                    "checkpoint_overhead_s": 8000})")}}};
    const json answer = service.post("/v1/checkpoint-intervals", body.dump()).json();
    INFO(answer.dump());
    CHECK_FALSE(answer["intervals"][0].contains("expected_completion_s"));
    bool is_told = false;
    for (const auto &text : answer["warnings"])
        is_told |= text.get<std::string>().rfind("hopeless:", 0) == 0;
    CHECK(is_told);
    // nor has a job that is never saved
    body["algorithm"] = "none";
    body["jobs"][0]["checkpoint_overhead_s"] = 1;
    CHECK(service.post("/v1/checkpoint-intervals", body.dump()).body.find("hopeless: ") !=
          std::string::npos);
}

TEST_CASE("histories that make no sense are refused at the member", "[api][reliability]")
{
    const struct {
        const char *why, *path, *row, *pointer;
    } cases[] = {
        {"it ends before it begins", "/v1/observations",
         R"({"resource_id": "a", "from_at": 2000, "to_at": 1000})", "/to_at"},
        {"it ends as it begins", "/v1/observations",
         R"({"resource_id": "a", "from_at": 2000, "to_at": 2000})", "/to_at"},
        {"a component, and many", "/v1/observations",
         R"({"resource_id": "a", "from_at": 2000, "component": "d", "component_count": 3})",
         "/component_count"},
        {"no component", "/v1/observations",
         R"({"resource_id": "a", "from_at": 2000, "component_count": 0})",
         "/component_count"},
        {"up before it is down", "/v1/failures",
         R"({"resource_id": "a", "down_at": 2000, "up_at": 1999})", "/up_at"},
        {"another kind", "/v1/failures",
         R"({"resource_id": "a", "down_at": 2000, "kind": "tired"})", "/kind"},
        {"half a level", "/v1/failures",
         R"({"resource_id": "a", "down_at": 2000, "level": 1.5})", "/level"},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.why)
        {
            auto found = mistakes(c.path, json::parse(c.row));
            INFO(json(found).dump());
            CHECK((found.count(c.pointer) || found.count(std::string("/0") + c.pointer)));
        }
}
