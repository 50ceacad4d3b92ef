// evaluations_api_test.cpp - POST /v1/evaluations: what a schedule of co-allocated jobs
// was worth.
#include "tests/api.hpp"

#include <algorithm>
#include <fstream>

extern "C" {
#include "algorithms/coallocation/metrics.h"
}

using nlohmann::json;

namespace
{

json example()
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR
                     "/openapi/examples/evaluation-coallocation.json");
    REQUIRE(in.good());
    return json::parse(in);
}

json evaluate(api &a, const json &body)
{
    api_reply r = a.post("/v1/evaluations", body.dump());
    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 200);
    return r.json();
}

std::vector<std::string> pointers(api &a, const json &body)
{
    api_reply r = a.post("/v1/evaluations", body.dump());
    INFO(r.body.substr(0, 1000));
    CHECK(r.status == 422);
    return r.pointers();
}

json component(const char *site, int processors, json claim_s)
{
    return {{"site_id", site}, {"processors", processors}, {"claim_s", claim_s}};
}

// Example 7b of coallocation.md: a component fails at 470, the job comes back.
json restarted()
{
    json job = {{"id", "again"}, {"submit_s", 0}, {"start_s", 710}, {"finish_s", 902}};
    job["placements"] = {{{"queue_entry_s", 0},
                          {"jpt_s", 60},
                          {"jst_s", 460},
                          {"started", true},
                          {"failed_soft", true},
                          {"components", {component("A", 16, 360)}}},
                         {{"queue_entry_s", 470},
                          {"jpt_s", 710},
                          {"jst_s", 710},
                          {"components", {component("B", 16, 710)}}}};
    return job;
}

} // namespace

TEST_CASE("shares of the processors, coallocation.md 16",
          "[api][coallocation][evaluation]")
{
    api a;
    json answer = evaluate(a, example());

    CHECK(answer["kind"] == "coallocation");
    CHECK(answer["status"] == "feasible");
    CHECK(answer["job_load_ratio"].get<double>() == Approx(0.024540).epsilon(2e-5));
    CHECK(answer["wasted_ratio"].get<double>() == Approx(0.012781).epsilon(2e-5));
    CHECK(answer["gained_ratio"].get<double>() == Approx(0.038344).epsilon(2e-5));
    CHECK(answer["background_load_ratio"].get<double>() == Approx(0.35).epsilon(1e-9));
    CHECK(answer["total_load_ratio"].get<double>() ==
          Approx(0.35 + 0.024540 + 0.012781).epsilon(1e-5));
    CHECK(answer["max_queue_length"] == 1);
    CHECK(answer["throughput_per_min"].get<double>() == Approx(60.0 / 652));

    // Example 7a.
    json f = answer["jobs"][0]["figures"];
    CHECK(f["placement_s"] == 60);
    CHECK(f["total_placement_s"] == 60);
    CHECK(f["transfer_s"] == 400);
    CHECK(f["gained_s"] == 300);
    CHECK(f["wasted_s"] == 100);
    CHECK(f["waiting_s"] == 460);
    CHECK(f["run_time_s"] == 192);
    CHECK(f["spread_ratio"] == 1);
    CHECK(f["co_allocated_ratio"] == 1);
    CHECK(f["failure_ratio"] == 0);
    CHECK(f["start_overhead_s"].is_null());
    CHECK(answer["sizes"][0]["size"] == "2x16");
    json cumulative = {{{"at_s", 0}, {"job_count", 0}},
                       {{"at_s", 460}, {"job_count", 1}},
                       {{"at_s", 652}, {"job_count", 1}}};
    CHECK(answer["cumulative"] == cumulative);
}

TEST_CASE("a job that came back, coallocation.md 7b", "[api][coallocation][evaluation]")
{
    api a;
    json body = example();

    body["jobs"] = {restarted()};
    body["window_end_s"] = 902;
    json answer = evaluate(a, body), f = answer["jobs"][0]["figures"];
    CHECK(f["placement_s"] == 240);
    CHECK(f["total_placement_s"] == 300);
    CHECK(f["start_delay_s"] == 250);
    CHECK(f["failures"] == 1);
    CHECK(f["failure_ratio"] == 0.5);
    CHECK(f["wasted_s"] == 0);
    CHECK(f["spread_ratio"] == 1);
    CHECK(f["co_allocated_ratio"] == 0);
    // Both claims held processors before the start; only one run ended.
    CHECK(answer["wasted_ratio"].get<double>() ==
          Approx(16 * 100 / (384.0 * 902)).epsilon(1e-9));
    CHECK(answer["job_load_ratio"].get<double>() ==
          Approx(16 * 192 / (384.0 * 902)).epsilon(1e-9));

    // k starts until it ended well: (k - 1) / k.
    for (size_t k : {1, 2, 3, 4}) {
        json job = restarted(), failed = job["placements"][0];
        job["placements"] = json::array();
        for (size_t i = 1; i < k; i++)
            job["placements"].push_back(failed);
        job["placements"].push_back(restarted()["placements"][1]);
        body["jobs"] = {job};
        CHECK(evaluate(a, body)["failure_ratio"].get<double>() ==
              Approx(static_cast<double>(k - 1) / static_cast<double>(k)).margin(1e-12));
    }
}

TEST_CASE("the skew of a job is between its fastest and its slowest component",
          "[api][coallocation][evaluation]")
{
    api a;
    json body = example(), job = restarted();
    json &parts = job["placements"][1]["components"];
    const struct {
        std::vector<json> progress;
        json want;
    } cases[] = {
        {{0.25, 0.75, 0.5}, 0.5},     {{0.5, 0.5}, 0},      {{0, 1}, 1},
        {{0.25, nullptr, 0.5}, 0.25}, {{0.25}, 0},          {{0}, 0},
        {{0.25, nullptr}, nullptr},   {{nullptr}, nullptr},
    };

    for (auto &c : cases) {
        parts = json::array();
        for (auto &progress : c.progress) {
            parts.push_back(component("B", 16, 710));
            parts.back()["progress_ratio"] = progress;
        }
        body["jobs"] = {job};
        json answer = evaluate(a, body);
        INFO(answer.dump(1));
        CHECK(answer["jobs"][0].value("coallocation_skew", json()) == c.want);
        CHECK(answer.value("coallocation_skew", json()) == c.want);
    }
    json other = restarted(), third = restarted();
    other["id"] = "other";
    third["id"] = "third";
    for (json *one : {&job, &other}) {
        json &list = (*one)["placements"][1]["components"];
        list = {component("B", 16, 710), component("C", 16, 710)};
        list[0]["progress_ratio"] = one == &job ? 0.5 : 0.75;
        list[1]["progress_ratio"] = 0.25;
    }
    body["jobs"] = {job, other, third};
    CHECK(evaluate(a, body)["coallocation_skew"] == 0.375);
    body["jobs"][0]["placements"][1]["components"][0]["progress_ratio"] = 1.5;
    CHECK(a.post("/v1/evaluations", body.dump()).status == 422);
}

TEST_CASE("what is not known stays out of the figures", "[api][coallocation][evaluation]")
{
    api a;
    json body = example();

    body["jobs"].push_back({{"id", "waiting"}, {"submit_s", 600}});
    body["jobs"].push_back({{"id", "runs"},
                            {"submit_s", 10},
                            {"deployed_s", 95},
                            {"start_s", 100},
                            {"placements",
                             {{{"queue_entry_s", 10},
                               {"jpt_s", 20},
                               {"jst_s", 100},
                               {"components",
                                {component("A", 8, 100), component("A", 8, 100),
                                 component("A", 4, 100), component("A", 4, 100)}}}}}});
    body.erase("background_processor_s");
    json answer = evaluate(a, body);
    CHECK(answer["job_count"] == 3);
    CHECK(answer["placed_count"] == 2);
    CHECK(answer["started_count"] == 2);
    CHECK(answer["finished_count"] == 1);
    CHECK(answer["background_load_ratio"].is_null());
    CHECK(answer["total_load_ratio"].is_null());
    CHECK(answer["co_allocated_ratio"] == 0.5);
    CHECK(answer["jobs"][1]["figures"]["placement_s"].is_null());
    CHECK(answer["jobs"][2]["figures"]["spread_ratio"] == 0.25);
    CHECK(answer["jobs"][2]["figures"]["start_overhead_s"] == 5);
    CHECK(answer["jobs"][2]["figures"]["run_time_s"].is_null());
    CHECK(answer["mean"]["start_overhead_s"] == 5);
    CHECK(answer["max_queue_length"] == 2);
    CHECK(answer["sizes"].size() == 2);

    body["jobs"] = json::array();
    answer = evaluate(a, body);
    CHECK(answer["failure_ratio"].is_null());
    CHECK(answer["max_queue_length"] == 0);
    CHECK(answer["job_load_ratio"] == 0);
}

TEST_CASE("loads count what lies in the window", "[coallocation][evaluation]")
{
    test_arena a;
    error err = collecting_error(a);
    co_run_component part{0, 10, 40, false, 0};
    co_run_placement placement{0, 20, 60, &part, 1, true, false};
    co_run_job job{0, NAN, 60, 160, &placement, 1, NAN, NAN};
    co_metrics_in in{&job, 1, 10, 50, 150, 0};
    struct co_metrics out {
    };

    REQUIRE(co_metrics(&in, &out, a, &err) == OK);
    CHECK(out.gained_ratio == 0);
    CHECK(out.wasted_ratio == Approx(0.1));
    CHECK(out.job_load_ratio == Approx(0.9));
    CHECK(out.total_load_ratio == Approx(1));

    const double sorted[] = {1, 2, 4, 8};
    CHECK(co_percentile(sorted, 4, 0) == 1);
    CHECK(co_percentile(sorted, 4, 25) == Approx(1.75));
    CHECK(co_percentile(sorted, 4, 50) == Approx(3));
    CHECK(co_percentile(sorted, 4, 90) == Approx(6.8));
    CHECK(co_percentile(sorted, 4, 100) == 8);
    CHECK(std::isnan(co_percentile(sorted, 0, 50)));
}

TEST_CASE("mistakes in an evaluation", "[api][coallocation][evaluation]")
{
    api a;
    json body = example();
    using list = std::vector<std::string>;

    body["jobs"][0]["placements"][0]["jpt_s"] = -5;
    body["jobs"][0]["placements"][0]["jst_s"] = -10;
    body["jobs"][0]["placements"][0]["components"][0]["claim_s"] = -7;
    body["jobs"][0]["finish_s"] = 400;
    body["jobs"].push_back(body["jobs"][0]);
    body["jobs"][1]["placements"] = json::array();
    body["window_end_s"] = 0;
    list found = pointers(a, body);
    for (auto *wanted : {"/jobs/0/placements/0/jpt_s", "/jobs/0/placements/0/jst_s",
                         "/jobs/0/placements/0/components/0/claim_s", "/jobs/0/finish_s",
                         "/jobs/1/id", "/jobs/1/start_s", "/window_end_s"})
        CHECK(std::count(found.begin(), found.end(), wanted) == 1);

    body = example();
    body["jobs"][0]["placements"][0]["components"][0]["processors"] = 0;
    CHECK(pointers(a, body) == list{"/jobs/0/placements/0/components/0/processors"});
    body = example();
    body["jobs"][0]["submit_s"] = 1e308;
    body["capacity_processors"] = 0;
    CHECK(pointers(a, body).size() == 2);
    body = example();
    body["jobs"][0]["placements"][0]["components"] = json::array();
    body["options"] = {{"x", 1}};
    CHECK(pointers(a, body).size() == 2);
    body = example();
    body.erase("window_end_s");
    CHECK(pointers(a, body) == list{"/window_end_s"});
    body = example();
    body["kind"] = "unknown";
    CHECK(pointers(a, body) == list{"/kind"});
}
