// members_db_test.cpp - what single members change in decisions from what is stored.
#include "tests/database.hpp"
#include "tests/members_support.hpp"
#include "tests/model_support.hpp"

#include <unistd.h>

extern "C" {
#include "service/clock.h"
}

using nlohmann::json;

namespace
{

// A name that no other run has used.
std::string fresh(const std::string &stem)
{
    static int number;

    return stem + std::to_string(getpid()) + "-" + std::to_string(number++) + "-" +
           std::to_string(clock_wall_s());
}

json post(api &service, const std::string &path, const json &body, int status = 200)
{
    api_reply reply = service.post(path, body.dump());

    INFO(path << " " << reply.body.substr(0, 2000));
    REQUIRE(reply.status == status);
    return reply.json();
}

} // namespace

TEST_CASE("of several models of an application the kind is chosen", "[models][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string app = fresh("app");
    json runs = json::array();

    for (int i = 1; i <= 12; i++)
        runs.push_back({{"execution_id", fresh("run")},
                        {"application_id", app},
                        {"site_id", "here"},
                        {"started_at", 1000 * i},
                        {"problem_size", 100 * i},
                        {"processors", 1},
                        {"run_time_s", 0.01 * 100 * i * 100 * i}});
    post(service, "/v1/executions", runs, 201);
    for (const char *kind : {"linear", "power_law"}) {
        std::string id = fresh(kind);

        post(service, "/v1/models",
             {{"id", id},
              {"application_id", app},
              {"site_id", "here"},
              {"kind", kind},
              {"settings", {{"inputs", {"problem_size"}}}}},
             201);
        REQUIRE(service.post("/v1/models/" + id + "/train", "").status == 200);
    }
    json question = {{"application_id", app}, {"site_id", "here"}, {"problem_size", 500}};
    double seconds[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        const char *kind = i ? "power_law" : "linear";

        question["model_kind"] = kind;
        json answer = post(service, "/v1/predictions", question);
        CHECK(answer["models"][0]["kind"] == kind);
        seconds[i] = answer["run_time_s"];
    }
    CHECK(seconds[1] == Approx(2500).epsilon(1e-3)); // 0.01 N^2
    CHECK(seconds[0] != Approx(2500).epsilon(1e-3));
}

TEST_CASE("a site that is seldom broken may err more often", "[claims][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string site = fresh("site");
    json r = members::example("migration-component_error");

    // Fails 5 % of its components as usual: ln(b / (1 - b) * 0.05 / 0.95) / ln 0.05
    post(service, "/v1/site-errors",
         json::parse("[" +
                     json{{"site_id", site},
                          {"observed_at", 5000},
                          {"error_count", 5},
                          {"start_count", 95}}
                         .dump() +
                     "]"),
         201);
    r["job"]["components"][0]["site_id"] = site;
    r["site_error_counters"][0]["site_id"] = site;
    for (auto [ratio, threshold] :
         {std::pair{0.5, 2}, std::pair{0.01, 3}, std::pair{1e-6, 6}}) {
        r["threshold_choice"] = {
            {"at", 6000}, {"prior_weight", 0}, {"broken_ratio", ratio}};
        json sites = post(service, "/v1/reschedules", r)["site_thresholds"];
        REQUIRE(sites.size() == 1);
        CHECK(sites[0]["error_threshold"] == threshold);
    }
}

TEST_CASE("failures come at a falling rate, if that is fitted", "[replication][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    json r = members::example("replication-target_success"), failures = json::array();
    std::string id = fresh("node");
    double down_s = 1000;

    // Bursts: nine short gaps, then a long one.
    for (int i = 0; i < 40; i++) {
        failures.push_back(
            {{"resource_id", id}, {"down_at", down_s}, {"up_at", down_s + 1}});
        down_s += i % 10 == 9 ? 100000 : 100 + 10 * i;
    }
    post(service, "/v1/failures", failures, 201);
    REQUIRE(r["algorithm"] == "target_success");
    r["now_s"] = down_s;
    r["snapshot"]["resources"] = json::parse(
        "[" + json{{"id", id}, {"site_id", fresh("s")}, {"mips_total", 1}}.dump() + "]");
    auto probability = [&](const char *distribution) -> double {
        r["options"]["failure_distribution"] = distribution;
        return post(service, "/v1/replica-counts",
                    r)["replica_counts"][0]["success_probability"];
    };
    // Long up already: by the fit it is less likely to fail soon.
    CHECK(probability("weibull") > probability("exponential"));
}

TEST_CASE("failures close together may count as one", "[checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    json r = members::example("checkpoint-mean_failure"), failures = json::array();
    std::string id = fresh("node");

    for (int i = 1; i <= 20; i++)
        for (int after_s : {0, 30})
            failures.push_back({{"resource_id", id},
                                {"down_at", 10000 * i + after_s},
                                {"up_at", 10000 * i + after_s + 1}});
    post(service, "/v1/failures", failures, 201);
    r["now_s"] = 210000;
    r["snapshot"]["resources"] = json::parse("[" + json{{"id", id}}.dump() + "]");
    while (r["jobs"].size() > 1)
        r["jobs"].erase(1);
    r["jobs"][0]["resource_id"] = id;
    r["algorithm"] = "young"; // sqrt(2 overhead mean)
    auto interval = [&](double window_s) -> double {
        r["options"] = {{"burst_window_s", window_s}};
        return post(service, "/v1/checkpoint-intervals", r)["intervals"][0]["interval_s"];
    };
    CHECK(interval(20) == interval(0));
    // Half as many failures.
    CHECK(interval(40) == Approx(std::sqrt(2) * interval(20)).epsilon(0.02));
}

TEST_CASE("a host without a past is taken for one of its site, or for one of all",
          "[replication][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    json failures = json::array(), resources = json::array();
    std::string bad = fresh("bad"), good = fresh("good");
    struct {
        std::string site;
        int count;
    } sites[] = {{bad, 40}, {good, 2}};

    for (auto &site : sites)
        for (int host = 0; host < 8; host++) {
            std::string id = fresh("node");

            resources.push_back({{"id", id}, {"site_id", site.site}, {"mips_total", 1}});
            for (int i = 1; i <= site.count + host % 3; i++)
                failures.push_back({{"resource_id", id},
                                    {"down_at", 1e6 * i / (site.count + 3)},
                                    {"up_at", 1e6 * i / (site.count + 3) + 1}});
        }
    post(service, "/v1/failures", failures, 201);
    for (const char *name :
         {"replication-target_success", "fault_tolerance-expected_time"}) {
        bool replicas = std::string(name) == "replication-target_success";
        json r = members::example(name);

        r["now_s"] = 1e6;
        r["snapshot"]["resources"] = resources;
        REQUIRE(r["algorithm"] == (replicas ? "target_success" : "expected_time"));
        r["options"] = {{"mf_estimator", "bayes"}};
        auto figure = [&](const char *prior) {
            json answer = post(
                service, replicas ? "/v1/replica-counts" : "/v1/fault-tolerance-plans",
                members::with(r, "/options/prior", prior));
            return replicas
                       ? answer["replica_counts"][0]["success_probability"]
                       : answer["choices"][0]["options_compared"][0]["expected_time_s"];
        };
        CHECK(figure("site") != figure("all"));
    }
}
