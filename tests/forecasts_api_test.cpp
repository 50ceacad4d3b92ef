// forecasts_api_test.cpp - GET /v1/forecasts, and predictions for resources whose load
// is stored; through route_answer() and PostgreSQL.
#include "tests/database.hpp"
#include "tests/model_support.hpp"

#include <algorithm>

using nlohmann::json;

namespace
{
constexpr double T0 = 1700000400; // a multiple of 600
const double w10[] = {0.50, 0.60, 0.40, 0.70, 0.65, 0.55};

json get(api &a, const std::string &target, int status = 200)
{
    api_reply r = a.get(target);
    INFO(target << " " << r.body.substr(0, 1000));
    REQUIRE(r.status == status);
    return r.json();
}

// Two samples in each 600 s, whose means are W10's; a second resource and a link.
std::string store_w10(api &a)
{
    std::string id = unique_name("node");
    json list = json::array();
    for (int i = 0; i < 6; i++)
        for (double off : {-0.05, 0.05}) {
            double at = T0 + 600 * i + (off > 0 ? 300 : 10);
            list.push_back({{"resource_id", id},
                            {"observed_at", at},
                            {"cpu_available_ratio", w10[i] + off}});
            list.push_back({{"resource_id", id + "-b"},
                            {"observed_at", at},
                            {"cpu_available_ratio", 0.8}});
            list.push_back({{"resource_id", id},
                            {"to_resource_id", id + "-b"},
                            {"observed_at", at},
                            {"bandwidth_mbps", 100 * (w10[i] + off)}});
        }
    REQUIRE(a.post("/v1/load-samples", list.dump()).status == 201);
    return id;
}

std::string at(double seconds)
{
    return "&at=" + std::to_string(seconds);
}
} // namespace

TEST_CASE("forecasts follow W10 from stored samples", "[forecast][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string id = store_w10(a);
    json f = get(a, "/v1/forecasts?resource_id=" + id + at(T0 + 3600));
    REQUIRE(f["items"].size() == 2);
    const json &cpu = f["items"][0], &link = f["items"][1];
    CHECK(cpu["measure"] == "cpu_available_ratio");
    CHECK(cpu["value"].get<double>() == Approx(0.5469182187).epsilon(1e-9));
    CHECK(cpu["forecaster"] == "exp_15");
    CHECK(cpu["mae"].get<double>() == Approx(0.108557625).epsilon(1e-9));
    CHECK(cpu["bucket_count"] == 6);
    CHECK(cpu["last"].get<double>() == Approx(0.55).epsilon(1e-12));
    CHECK(cpu["low"].get<double>() ==
          Approx(0.5469182187 + 0.108557625 * std::log(0.2)).epsilon(1e-9));
    CHECK(cpu["high"].get<double>() <= 1);
    CHECK(link["to_resource_id"] == id + "-b");
    CHECK(link["value"].get<double>() == Approx(54.69182187).epsilon(1e-9));
    CHECK(get(a, "/v1/forecasts?resource_id=" + id + "&to_resource_id=" + id + "-b" +
                     at(T0 + 3600))["items"]
              .size() == 1);
    // Steady load: nothing to doubt.
    json steady = get(a, "/v1/forecasts?resource_id=" + id + "-b" + at(T0 + 3600));
    CHECK(steady["items"][0]["low"] == steady["items"][0]["high"]);
}

TEST_CASE("a forecast knows only what was complete then", "[forecast][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string id = store_w10(a);
    std::string target = "/v1/forecasts?resource_id=" + id;
    CHECK(get(a, target + at(T0 + 3599))["items"][0]["bucket_count"] == 5);
    CHECK(get(a, target + at(T0 + 600))["items"][0]["bucket_count"] == 1);
    CHECK(get(a, target + at(T0 + 600))["items"][0]["low"].is_null());
    CHECK(get(a, target + at(T0 + 599))["items"].empty());
    CHECK(get(a, target + at(T0 + 3600) +
                     "&history_s=1200")["items"][0]["bucket_count"] == 2);
    CHECK(get(a, target)["items"].empty()); // long ago
    CHECK(get(a, "/v1/forecasts?resource_id=none" + at(T0))["items"].empty());
}

TEST_CASE("forecasts of all resources come in pages", "[forecast][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string first = store_w10(a), second = store_w10(a), token;
    std::vector<std::string> seen;
    int pages = 0;
    do {
        json f = get(a, "/v1/forecasts?page_size=2" + at(T0 + 3600) +
                            (token.empty() ? "" : "&page_token=" + token));
        for (const json &row : f["items"])
            if (!row.contains("to_resource_id"))
                seen.push_back(row["resource_id"]);
        token = f.value("next_page_token", "");
        pages++;
    } while (!token.empty() && pages < 1000);
    CHECK(pages >= 2);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    for (const std::string &id : {first, first + "-b", second, second + "-b"})
        CHECK(std::count(seen.begin(), seen.end(), id) == 1);
}

TEST_CASE("forecasts refuse what makes no sense", "[forecast][api]")
{
    api a;
    CHECK(a.get("/v1/forecasts").status == 503);
    for (const char *query :
         {"history_s=1", "history_s=nan", "interval_level=1", "to_resource_id=x",
          "at=yesterday", "page_size=0", "colour=red"})
        CHECK(a.get(std::string("/v1/forecasts?") + query).status == 422);
}

TEST_CASE("predictions take the loads of stored resources", "[forecast][models][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string id = store_w10(a);
    json body = {{"model",
                  {{"combinations",
                    {{{"f_comp_mask", 128},
                      {"f_comm_mask", 8},
                      {"f_bw_id", 2},
                      {"f_pcomp_id", 2},
                      {"f_pcomm_id", 1},
                      {"coefficients", {2e-4, 0.5}}}}}}},
                 {"problem_size", 2000},
                 {"resource_ids", {id, id + "-b"}},
                 {"at", T0 + 3600},
                 {"store", true}};
    api_reply r = a.post("/v1/predictions", body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    json p = r.json();
    CHECK(p["run_time_s"].get<double>() ==
          Approx(known_time_s(2000, 2, 0.5469182187, 54.69182187)).epsilon(1e-8));
    CHECK(p["loads"]["resources"].size() == 3);
    // A replay has the loads as they were.
    REQUIRE(a.post("/v1/load-samples", json{{"resource_id", id},
                                            {"observed_at", T0 + 3000},
                                            {"cpu_available_ratio", 0}}
                                           .dump())
                .status == 201);
    CHECK(a.post("/v1/predictions", body.dump()).json()["run_time_s"] != p["run_time_s"]);
    json replay =
        a.call("POST", "/v1/decisions/" + p["decision_id"].get<std::string>() + "/replay")
            .json();
    INFO(replay.dump());
    CHECK(replay["identical"] == true);
    body["resource_ids"] = {id, "unknown"};
    p = a.post("/v1/predictions", body.dump()).json();
    CHECK(p["status"] == "infeasible");
    CHECK(p["reasons"][0]["reason"] == "no_load_history");
}
