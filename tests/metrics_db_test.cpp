// metrics_db_test.cpp - what requests count: rows sent, models that learnt, errors of
// models and forecasts.
#include "tests/database.hpp"
#include "tests/exposition.hpp"
#include "tests/model_support.hpp"

using nlohmann::json;

namespace
{
double value(api &a, const std::string &series)
{
    std::string text = a.get("/metrics").body, line = "\ngridplan_" + series + " ";
    size_t at = text.find(line);

    return at == std::string::npos ? 0 : std::stod(text.substr(at + line.size()));
}
} // namespace

TEST_CASE("rows that were sent are counted by what became of them", "[metrics][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string job = unique_name("job"), node = unique_name("node");
    auto rows = [&](const char *history, const char *result) {
        return value(a, std::string("ingest_rows_total{history=\"") + history +
                            "\",result=\"" + result + "\"}");
    };
    json log = {{"job_id", job},
                {"application_id", "app"},
                {"requested_at", 1000},
                {"action", "omit"}};
    std::string sample = R"({"resource_id":")" + node +
                         R"(","observed_at":1000,"cpu_available_ratio":)",
                later = R"({"resource_id":")" + node +
                        R"(","observed_at":1001,"cpu_available_ratio":)";

    for (int status : {201, 200})
        CHECK(a.post("/v1/checkpoint-logs", json::array({log}).dump()).status == status);
    CHECK(rows("checkpoint-logs", "stored") == 1);
    CHECK(rows("checkpoint-logs", "duplicate") == 1);
    CHECK(rows("checkpoint-logs", "refused") == 0);
    CHECK(a.call("POST", "/v1/load-samples", sample + "0.5}\n" + sample + "7}\n",
                 {{"content_type", "application/x-ndjson"}})
              .status == 200);
    CHECK(rows("load-samples", "stored") == 1);
    CHECK(rows("load-samples", "refused") == 1);
    // Of a list with a mistake nothing is stored.
    CHECK(a.post("/v1/load-samples", "[" + sample + "0.5}," + sample + "7}]").status ==
          422);
    CHECK(rows("load-samples", "stored") == 1);
    // An answer given again stores nothing again.
    for (int i = 0; i < 2; i++)
        CHECK(a.call("POST", "/v1/load-samples", "[" + later + "0.25}]",
                     {{"idempotency_key", job}})
                  .status == 201);
    CHECK(rows("load-samples", "stored") == 2);
    check_exposition(a.get("/metrics").body);
}

TEST_CASE("models that learn, and their errors, are counted", "[metrics][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string app = unique_name("app"), refine = "/v1/models/" + app + "/refine";
    auto run = [&](int i, double run_time_s) {
        json list = {{{"execution_id", app + std::to_string(i)},
                      {"application_id", app},
                      {"site_id", "here"},
                      {"started_at", i},
                      {"run_time_s", run_time_s},
                      {"parameters", {{"files", i}}}}};
        REQUIRE(a.post("/v1/executions", list.dump()).status == 201);
    };

    REQUIRE(a.post("/v1/models", json{{"id", app},
                                      {"application_id", app},
                                      {"site_id", "here"},
                                      {"kind", "linear"},
                                      {"settings", {{"inputs", {"files"}}}}}
                                     .dump())
                .status == 201);
    REQUIRE(a.post(refine, "").status == 200);
    CHECK(value(a, "refits_total{kind=\"linear\",result=\"none\"}") == 1);
    for (int i = 1; i <= 12; i++)
        run(i, 4.0 * i);
    REQUIRE(a.post(refine, "").status == 200);
    CHECK(value(a, "refits_total{kind=\"linear\",result=\"train\"}") == 1);
    CHECK(value(a, "refit_seconds_total{kind=\"linear\",result=\"train\"}") > 0);
    CHECK(value(a, "model_error_ratio_count{kind=\"linear\"}") == 0);
    run(13, 50); // 52 was predicted
    REQUIRE(a.post(refine, "").status == 200);
    CHECK(value(a, "model_error_ratio_count{kind=\"linear\"}") == 1);
    CHECK(value(a, "model_error_ratio_sum{kind=\"linear\"}") ==
          Approx(0.04).epsilon(0.05));
    check_exposition(a.get("/metrics").body);
}

TEST_CASE("errors of what forecasts loads are counted", "[metrics][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string node = unique_name("node");
    json list = json::array();

    for (int i = 0; i < 6; i++)
        list.push_back({{"resource_id", node},
                        {"observed_at", 600 * i + 10},
                        {"cpu_available_ratio", i % 2 ? 0.4 : 0.6}});
    REQUIRE(a.post("/v1/load-samples", list.dump()).status == 201);
    json f = a.get("/v1/forecasts?at=3600&resource_id=" + node).json()["items"][0];
    std::string method = "{method=\"" + f["forecaster"].get<std::string>() + "\"}";

    CHECK(value(a, "forecast_error_ratio_count" + method) == 1);
    CHECK(value(a, "forecast_error_ratio_sum" + method) ==
          Approx(f["mae"].get<double>() / f["value"].get<double>()));
}
