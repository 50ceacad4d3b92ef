// checkpoint_intervals_test.cpp - POST /v1/checkpoint-intervals.
#include "tests/api.hpp"

using namespace nlohmann::literals;

static const char *const path = "/v1/checkpoint-intervals";

TEST_CASE("a checkpoint interval is decided from the request alone", "[api][checkpoint]")
{
    api service;
    api_reply r = service.post(
        path, R"({"algorithm":"young","jobs":[{"id":"j","checkpoint_overhead_s":60,)"
              R"("mean_failure_interval_s":3600}]})");
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json().at("/decision_id"_json_pointer).get<std::string>().size() == 36);
    CHECK(r.json().at("/algorithm"_json_pointer).get<std::string>() == "young");
    CHECK(r.json().at("/seed"_json_pointer).get<double>() == 1);
    CHECK(r.json().at("/status"_json_pointer).get<std::string>() == "feasible");
    CHECK(r.json().at("/warnings"_json_pointer).size() == 0);
    CHECK(r.json().at("/timings/parse_s"_json_pointer).get<double>() >= 0);
    CHECK(r.json().at("/timings/decide_s"_json_pointer).get<double>() >= 0);
    CHECK(r.json().at("/intervals"_json_pointer).size() == 1);
    CHECK(r.json().at("/intervals/0/job_id"_json_pointer).get<std::string>() == "j");
    CHECK(r.json().at("/intervals/0/interval_s"_json_pointer).get<double>() ==
          Approx(657.267069).epsilon(1e-9));
    CHECK(r.json().at("/intervals/0/expected_time_ratio"_json_pointer).get<double>() ==
          Approx(1.20759616).epsilon(1e-8));
    CHECK(r.body.find("expected_completion_s") == std::string::npos);
}

TEST_CASE("without an algorithm the exact interval is given, and known run times end",
          "[api][checkpoint]")
{
    api service;
    for (const char *algorithm :
         {"", R"("algorithm":"auto",)", R"("algorithm":"exact",)"}) {
        api_reply r = service.post(
            path,
            std::string("{") + algorithm +
                R"("jobs":[{"id":"a","checkpoint_overhead_s":5,"restart_s":20,)"
                R"("mean_failure_interval_s":172800,"execution_time_s":9000},)"
                R"({"id":"b","checkpoint_overhead_s":0,"mean_failure_interval_s":60}]})");
        INFO(r.body);
        REQUIRE(r.status == 200);
        CHECK(r.json().at("/algorithm"_json_pointer).get<std::string>() == "exact");
        CHECK(r.json().at("/intervals/0/interval_s"_json_pointer).get<double>() ==
              Approx(1311.203).epsilon(1e-6));
        CHECK(r.json()
                  .at("/intervals/0/expected_completion_s"_json_pointer)
                  .get<double>() == Approx(9069.864).epsilon(1e-6));
        CHECK(r.json().at("/intervals/0/checkpoint_count"_json_pointer).get<double>() ==
              6);
        CHECK(r.json().at("/intervals/1/job_id"_json_pointer).get<std::string>() == "b");
        CHECK(r.json().at("/intervals/1/interval_s"_json_pointer).get<double>() == 0.001);
    }
}

TEST_CASE("options of a checkpoint decision are bound and checked", "[api][checkpoint]")
{
    api service;
    const std::string jobs = R"("jobs":[{"id":"j","checkpoint_overhead_s":60,)"
                             R"("mean_failure_interval_s":3600}]})";
    api_reply r = service.post(
        path, R"({"algorithm":"daly","options":{"min_interval_s":700},)" + jobs);
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json().at("/intervals/0/interval_s"_json_pointer).get<double>() == 700);
    CHECK(r.json().at("/intervals/0/at_minimum"_json_pointer) == true);

    r = service.post(path,
                     R"({"algorithm":"daly","options":{"min_intervall_s":700},)" + jobs);
    CHECK(r.status == 422);
    CHECK(r.body.find("/options/min_intervall_s") != std::string::npos);
    CHECK(r.body.find("min_interval_s") != std::string::npos);

    r = service.post(path, R"({"algorithm":"youg",)" + jobs);
    CHECK(r.status == 422);
    CHECK(r.body.find("/algorithm") != std::string::npos);
    CHECK(r.body.find("young") != std::string::npos);
}

TEST_CASE("all mistakes of a checkpoint request are named at once", "[api][checkpoint]")
{
    api service;
    api_reply r = service.post(
        path,
        R"({"algorithm":"young","jobs":[)"
        R"({"id":"a","checkpoint_overhead_s":-1,"mean_failure_interval_s":3600},)"
        R"({"id":"b","checkpoint_overhead_s":1,"mean_failure_interval_s":0},)"
        R"({"id":"c","checkpoint_overhead_s":1},)"
        R"({"id":"d","checkpoint_overhead_s":1,"mean_failure_interval_s":9,"execution_time_s":0},)"
        R"({"id":"a","checkpoint_overhead_s":1,"mean_failure_interval_s":9,"restart":1}]})");
    INFO(r.body);
    CHECK(r.status == 422);
    for (const char *pointer :
         {"/jobs/0/checkpoint_overhead_s", "/jobs/1/mean_failure_interval_s",
          "/jobs/2/mean_failure_interval_s", "/jobs/3/execution_time_s", "/jobs/4/id",
          "/jobs/4/restart"})
        CHECK(r.body.find(pointer) != std::string::npos);
}

TEST_CASE("a job that cannot get on is answered with a warning", "[api][checkpoint]")
{
    api service;
    api_reply r = service.post(
        path,
        R"({"algorithm":"exact","jobs":[{"id":"fine","checkpoint_overhead_s":1,)"
        R"("mean_failure_interval_s":3600},{"id":"lost","checkpoint_overhead_s":1e9,)"
        R"("mean_failure_interval_s":1}]})");
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json().at("/warnings"_json_pointer).size() == 1);
    CHECK(r.json().at("/warnings/0"_json_pointer).get<std::string>().find("'lost'") !=
          std::string::npos);
    CHECK(r.json().at("/intervals/1/interval_s"_json_pointer).get<double>() == 1);
    CHECK(r.json().at("/intervals/1/waste_ratio"_json_pointer).get<double>() == 1);
    CHECK(r.body.find(R"("expected_time_ratio":null)") != std::string::npos);
}

TEST_CASE("a checkpoint decision survives every memory cap", "[api][memory]")
{
    api service;
    std::string body = R"({"jobs":[)";
    for (int i = 0; i < 200; i++)
        body += (i ? "," : "") + std::string(R"({"id":"j)") + std::to_string(i) +
                R"(","checkpoint_overhead_s":60,"mean_failure_interval_s":30})";
    body += "]}";
    int status = 0;
    for (size_t cap = 4096; status != 200; cap += 4096) {
        status = service.call("POST", path, body, {}, cap).status;
        CHECK((status == 200 || status == 413));
        REQUIRE(cap < (size_t{1} << 24));
    }
}
