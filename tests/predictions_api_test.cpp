// predictions_api_test.cpp - fits, predictions, evaluations and plans that need no
// database, through route_answer().
#include "tests/examples.hpp"
#include "tests/model_support.hpp"

#include <fstream>
#include <sstream>

extern "C" {
#include "models/fitted/fitted.h"
}

using nlohmann::json;

namespace
{
json fit(api &a, const json &body)
{
    api_reply r = a.post("/v1/model-fits", body.dump());
    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 200);
    return r.json();
}

json fit_known(api &a, double noise = 0)
{
    return fit(a,
               {{"kind", "comprehensive"}, {"samples", samples_json(known_runs(noise))}});
}

json model_of(const json &fitted)
{
    return {{"kind", fitted["kind"]},
            {"settings", fitted["settings"]},
            {"packed", fitted["packed"]}};
}

json predict(api &a, const json &body, int status = 200)
{
    api_reply r = a.post("/v1/predictions", body.dump());
    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == status);
    return r.json();
}

json question(double n, double p, double cpu, double bw)
{
    return {{"problem_size", n},
            {"processors", p},
            {"cpu_available_ratio", cpu},
            {"bandwidth_mbps", bw}};
}

json with(json body, const json &more)
{
    body.update(more);
    return body;
}

// T = 2e-4 N^2 / (cpu P) + 0.5 N / (bw sqrt(P)), as combinations.
json combinations()
{
    return {{"combinations",
             {{{"f_comp_mask", 128},
               {"f_comm_mask", 8},
               {"f_bw_id", 2},
               {"f_pcomp_id", 2},
               {"f_pcomm_id", 1},
               {"coefficients", {2e-4, 0.5}}}}}};
}
} // namespace

TEST_CASE("a fit of noise-free runs finds the functions and predicts", "[models][api]")
{
    api a;
    json f = fit_known(a);

    CHECK(f["status"] == "feasible");
    CHECK(f["combinations"][0]["f_comp_mask"] == 128);
    CHECK(f["combinations"][0]["f_comm_mask"] == 8);
    CHECK(f["combinations"][0]["f_bw_id"] == 2);
    CHECK(f["combinations"][0]["coefficients"][0].get<double>() ==
          Approx(2e-4).epsilon(1e-6));
    CHECK(f["summary"]["sample_count"] == 60);
    CHECK(f["summary"]["cross_appe_ratio"].get<double>() < 1e-5);
    CHECK(f["summary"]["problem_size"]["low"] == 500);
    json p = predict(a, with(question(2000, 8, 0.5, 40), {{"model", model_of(f)}}));
    CHECK(p["status"] == "feasible");
    CHECK(p["algorithm"] == "comprehensive");
    CHECK(p["run_time_s"].get<double>() == Approx(208.838835).epsilon(1e-5));
    CHECK(p["run_time_low_s"].get<double>() <= p["run_time_s"].get<double>());
    CHECK(p["run_time_high_s"].get<double>() >= p["run_time_s"].get<double>());
    CHECK(p["interval_basis"] == "extrapolation"); // sizes go up to 1450
    CHECK(p["extrapolation_ratio"].get<double>() == Approx(2000. / 1450));
    CHECK(p["method"] == "native");
    CHECK(p["basis"]["sample_count"] == 60);
    CHECK(p["computation_s"].get<double>() + p["communication_s"].get<double>() ==
          Approx(p["run_time_s"].get<double>()).epsilon(1e-9));
}

TEST_CASE("a prediction from combinations follows W3", "[models][api]")
{
    api a;
    json p = predict(a, with(question(2000, 8, 0.5, 40), {{"model", combinations()}}));
    CHECK(p["run_time_s"].get<double>() == Approx(208.838835).epsilon(1e-8));
    p = predict(a, with(question(3000, 16, 0.5, 40), {{"model", combinations()}}));
    CHECK(p["run_time_s"].get<double>() == Approx(234.375).epsilon(1e-12));
    // Nothing is known of runs: there is no interval.
    CHECK(p["interval_basis"] == "none");
    CHECK_FALSE(p.contains("run_time_low_s"));
}

TEST_CASE("queries are answered in their order, like single questions", "[models][api]")
{
    api a;
    json f = fit_known(a, 0.1), body = {{"model", model_of(f)}, {"bandwidth_mbps", 40}};
    std::vector<json> questions;
    for (int i = 0; i < 200; i++)
        questions.push_back({{"problem_size", 600 + 10 * i},
                             {"processors", 1 << (i % 4)},
                             {"cpu_available_ratio", 0.5 + (i % 5) * 0.1}});
    body["queries"] = questions;
    json many = predict(a, body);
    REQUIRE(many["results"].size() == 200);
    for (int i = 0; i < 200; i += 37) {
        json one = predict(a, with(questions[(size_t)i],
                                   {{"model", model_of(f)}, {"bandwidth_mbps", 40}}));
        CHECK(one["run_time_s"] == many["results"][(size_t)i]["run_time_s"]);
        CHECK(one["run_time_low_s"] == many["results"][(size_t)i]["run_time_low_s"]);
    }
    for (const json &r : many["results"])
        CHECK(r["run_time_s"].get<double>() > 0);
}

TEST_CASE("quantiles are the ends of intervals", "[models][api]")
{
    api a;
    json f = fit_known(a, 0.1);
    json body = with(question(2000, 8, 0.5, 40), {{"model", model_of(f)}});

    CHECK_FALSE(predict(a, body).contains("quantiles"));
    body["quantiles"] = {0.05, 0.25, 0.5, 0.9, 0.95};
    body["interval_level"] = 0.9;
    json p = predict(a, body);
    REQUIRE(p["quantiles"].size() == 5);
    for (size_t i = 0; i < 5; i++) {
        CHECK(p["quantiles"][i]["quantile"] == body["quantiles"][i]);
        if (i > 0)
            CHECK(p["quantiles"][i]["run_time_s"] > p["quantiles"][i - 1]["run_time_s"]);
    }
    CHECK(p["quantiles"][0]["run_time_s"] == p["run_time_low_s"]);
    CHECK(p["quantiles"][2]["run_time_s"] == p["run_time_s"]);
    CHECK(p["quantiles"][4]["run_time_s"] == p["run_time_high_s"]);
    // of each of many
    json many = body;
    many["queries"] = {question(2000, 8, 0.5, 40), question(3000, 8, 0.5, 40)};
    json results = predict(a, many)["results"];
    CHECK(results[0]["quantiles"] == p["quantiles"]);
    CHECK(results[1]["quantiles"][4]["run_time_s"] == results[1]["run_time_high_s"]);
    // mistakes
    body["quantiles"] = {0.5, 0.5, 0.2};
    p = predict(a, body, 422);
    CHECK(p["errors"][0]["pointer"] == "/quantiles/1");
    CHECK(p["errors"][0]["code"] == "not_allowed");
    CHECK(p["errors"][1]["pointer"] == "/quantiles/2");
    body["quantiles"] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
    p = predict(a, body, 422);
    CHECK(p["errors"][0]["pointer"] == "/quantiles");
    CHECK(p["errors"][0]["code"] == "too_many");
    body["quantiles"] = {0.001, 0.5};
    p = predict(a, body, 422);
    CHECK(p["errors"][0]["code"] == "out_of_bounds");
    body["quantiles"] = {0.5};
    body["phases"] = {{{"phase_index", 0}}};
    CHECK(predict(a, body, 422)["errors"][0]["code"] == "invalid_combination");
}

TEST_CASE("a category or a machine that no run had makes intervals wide", "[models][api]")
{
    api a;
    json samples = json::array();
    const char *const tools[] = {"align", "sort", "index"};

    for (int i = 0; i < 40; i++)
        samples.push_back({{"run_time_s", 10 * (1 + i % 3) + 0.01 * (i % 7)},
                           {"problem_size", 100 + i % 4},
                           {"parameters", {{"tool", tools[i % 3]}}},
                           {"resource_class", i % 2 ? "old" : "new"}});
    json fit =
        a.post("/v1/model-fits", json{{"kind", "auto"}, {"samples", samples}}.dump())
            .json();
    auto asked = [](const char *tool, const char *machine) {
        return json{{"problem_size", 100},
                    {"parameters", {{"tool", tool}}},
                    {"resource_class", machine}};
    };
    json body = {{"model", {{"packed", fit["packed"]}}}, {"interval_level", 0.9}};
    body["queries"] = {asked("sort", "new"), asked("fold", "new"), asked("sort", "best")};
    json p = predict(a, body)["results"];
    auto half = [&](int i) {
        return std::log(p[i]["run_time_high_s"].get<double>() /
                        p[i]["run_time_s"].get<double>());
    };
    // learning.md 4.3: s0 is at least 0.35; the quantile of a level of 0.9 is above 1
    CHECK(half(0) < 0.1);
    CHECK(p[1]["interval_basis"] == "extrapolation");
    CHECK(half(1) > 0.35);
    CHECK(p[2]["interval_basis"] == "machine_prior");
    CHECK(half(2) > 0.35);
}

TEST_CASE("a model that an earlier release packed still predicts", "[models][api]")
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/tests/data/packed-model.json");
    json earlier = json::parse(in);
    api a;
    json results = predict(a, {{"model", {{"packed", earlier["packed"]}}},
                               {"interval_level", 0.9},
                               {"queries", earlier["queries"]}})["results"];

    REQUIRE(results.size() == earlier["results"].size());
    for (size_t i = 0; i < results.size(); i++)
        for (const char *member : {"run_time_s", "run_time_low_s", "run_time_high_s"})
            CHECK(results[i][member].get<double>() ==
                  Approx(earlier["results"][i][member].get<double>()).epsilon(1e-12));
}

TEST_CASE("a fit says what its intervals are made of", "[models][api]")
{
    api a;
    json samples = json::array();

    for (int i = 0; i < 10; i++)
        samples.push_back({{"run_time_s", 100}, {"problem_size", 500}});
    for (const char *kind : {"auto", "linear"}) {
        INFO(kind);
        json fit =
            a.post("/v1/model-fits", json{{"kind", kind}, {"samples", samples}}.dump())
                .json();
        json p = predict(a, {{"model", {{"packed", fit["packed"]}}},
                             {"interval_level", 0.9},
                             {"problem_size", 500}});
        REQUIRE(fit["intervals"].size() == 3);
        json same = fit["intervals"][0];
        CHECK(same["group"] == "same_configuration");
        CHECK(fit["intervals"][1]["group"] == "inside");
        CHECK(fit["intervals"][2]["group"] == "extrapolation");
        // one member, so no spread; learning.md 12, example 8: 0.0488434
        double half =
            same["s0"].get<double>() * same["q90"].get<double>() * std::sqrt(1 + 1 / 8.0);
        CHECK(p["run_time_high_s"].get<double>() ==
              Approx(p["run_time_s"].get<double>() * std::exp(half)).epsilon(1e-9));
        if (std::string(kind) == "auto") {
            CHECK(half == Approx(0.0488434).epsilon(1e-5));
            CHECK(same["error_count"] >= 10);
        }
    }
}

TEST_CASE("predictions far outside say so, and are never negative", "[models][api]")
{
    api a;
    json f = fit_known(a, 0.3);
    struct {
        double n, p, cpu, bw;
    } cases[] = {{1e6, 8, 0.5, 40},  {1, 2, 0.5, 40},      {1e-3, 4, 0.5, 40},
                 {1000, 1e6, 1, 40}, {1000, 4, 1e-9, 40},  {1000, 4, 0.5, 1e-9},
                 {1e300, 2, 1, 1},   {1000, 4, 0.5, 1e300}};
    for (auto &c : cases) {
        INFO(c.n << " " << c.p << " " << c.cpu << " " << c.bw);
        json p =
            predict(a, with(question(c.n, c.p, c.cpu, c.bw), {{"model", model_of(f)}}));
        if (p["status"] == "infeasible") {
            CHECK(p["reasons"].size() == 1);
            CHECK_FALSE(p.contains("run_time_s"));
            continue;
        }
        CHECK(p["run_time_s"].get<double>() > 0);
        CHECK(std::isfinite(p["run_time_s"].get<double>()));
        CHECK(p["warnings"].size() >= (c.bw == 1e300 ? 0u : 1u));
    }
    json unusable = predict(a, with(question(1000, 4, 0, 40), {{"model", model_of(f)}}));
    CHECK(unusable["status"] == "infeasible");
    CHECK(unusable["reasons"][0]["reason"] == "resource_unusable");
}

TEST_CASE("runs that teach nothing give a reason", "[models][api]")
{
    api a;
    json one = sample_json(known_runs()[0]), same = json::array(), odd = json::array();
    for (int i = 0; i < 60; i++)
        same.push_back(one);
    for (int i = 0; i < 60; i++)
        odd.push_back({{"run_time_s", 1 + i}, {"processors", 2}});
    for (const json &samples : {json::array(), json::array({one}), same, odd}) {
        INFO(samples.size());
        json f = fit(a, {{"kind", "comprehensive"}, {"samples", samples}});
        CHECK(f["status"] == "infeasible");
        CHECK_FALSE(f["reasons"][0]["reason"].get<std::string>().empty());
        CHECK_FALSE(f.contains("packed"));
        json p = predict(
            a, with(question(1000, 2, 0.5, 50),
                    {{"model", {{"kind", "comprehensive"}, {"samples", samples}}}}));
        CHECK(p["status"] == "infeasible");
        CHECK(p["reasons"][0]["reason"] == f["reasons"][0]["reason"]);
    }
}

TEST_CASE("every kind is fitted, packed, and predicts the same unpacked",
          "[models][api][property]")
{
    api a;
    for (size_t k = 0; model_kind_names[k]; k++) {
        std::string kind = model_kind_names[k];
        INFO(kind);
        json body = {{"kind", kind}, {"samples", json::array()}};
        for (const known_run &run : known_runs(0.05))
            if (kind != "preliminary" || run.processors == 2)
                body["samples"].push_back(sample_json(run));
        if (kind == "preliminary")
            body["settings"] = {{"comp_degree", 2}, {"comm_degree", 1}};
        json f = fit(a, body);
        INFO(f.dump().substr(0, 500));
        REQUIRE(f["status"] == "feasible");
        CHECK(f["summary"]["fit_appe_ratio"].get<double>() >= 0);
        json direct = predict(a, with(question(900, 2, 0.6, 50), {{"model", body}}));
        json packed =
            predict(a, with(question(900, 2, 0.6, 50), {{"model", model_of(f)}}));
        CHECK(direct["run_time_s"] == packed["run_time_s"]);
        CHECK(direct["run_time_low_s"] == packed["run_time_low_s"]);
        CHECK(packed["run_time_s"].get<double>() > 0);
        CHECK(packed["run_time_low_s"].get<double>() <=
              packed["run_time_high_s"].get<double>());
    }
}

TEST_CASE("inputs of regressions come from parameters", "[models][api]")
{
    api a;
    json samples = json::array();
    for (int i = 1; i <= 20; i++)
        samples.push_back({{"run_time_s", 3 + 2 * i}, {"parameters", {{"files", i}}}});
    json f = fit(a, {{"kind", "linear"},
                     {"settings", {{"inputs", {"files"}}}},
                     {"samples", samples}});
    CHECK(f["formula"].get<std::string>().find("files") != std::string::npos);
    json p = predict(a, {{"model", model_of(f)}, {"parameters", {{"files", 15}}}});
    CHECK(p["run_time_s"].get<double>() == Approx(33).epsilon(1e-9));
    api_reply r = a.post("/v1/predictions", json{{"model", model_of(f)}}.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/files"});
    CHECK(p["interval_basis"] == "same_configuration");
    p = predict(a, {{"model", model_of(f)}, {"parameters", {{"files", 100}}}});
    REQUIRE(p["warnings"].size() == 1);
    CHECK_THAT(p["warnings"][0].get<std::string>(),
               Catch::StartsWith("far_extrapolation") && Catch::EndsWith(": files"));
}

TEST_CASE("many questions say each warning once, with a count", "[models][api]")
{
    api a;
    json samples = json::array();
    for (int i = 1; i <= 20; i++)
        samples.push_back({{"run_time_s", 3 + 2 * i},
                           {"problem_size", i},
                           {"parameters", {{"files", 7}}}});
    json f = fit(a, {{"kind", "linear"},
                     {"settings", {{"inputs", {"problem_size", "files"}}}},
                     {"samples", samples}});
    json queries = json::array();
    for (double size : {5., 50., 10.5, 100., 60.})
        queries.push_back(
            {{"problem_size", size}, {"parameters", {{"files", size == 100 ? 70 : 7}}}});
    json p = predict(a, {{"model", model_of(f)}, {"queries", queries}});
    CHECK_FALSE(p.contains("interval_basis"));
    CHECK(p["results"][0]["interval_basis"] == "same_configuration");
    CHECK(p["results"][1]["interval_basis"] == "extrapolation");
    CHECK(p["results"][1]["extrapolation_ratio"].get<double>() == 2.5);
    CHECK(p["results"][2]["interval_basis"] == "inside");
    CHECK(p["results"][3]["warnings"] ==
          json::array({"far_extrapolation", "input_never_varied"}));
    // Ten times an input that never varied: ten times shorter or longer.
    double time_s = p["results"][3]["run_time_s"];
    CHECK(p["results"][3]["run_time_low_s"].get<double>() <= time_s / 10 * (1 + 1e-9));
    REQUIRE(p["warnings"].size() == 3);
    // What a line over one of two inputs leaves out is said by the fit as well.
    CHECK_THAT(p["warnings"][0].get<std::string>(), Catch::StartsWith("inputs_unused"));
    CHECK(f["warnings"] == json::array({p["warnings"][0]}));
    CHECK_THAT(p["warnings"][1].get<std::string>(),
               Catch::StartsWith("far_extrapolation") &&
                   Catch::EndsWith("3 times, first /queries/1"));
    CHECK_THAT(p["warnings"][2].get<std::string>(),
               Catch::StartsWith("input_never_varied") &&
                   Catch::EndsWith("1 time, first /queries/3"));
}

TEST_CASE("what makes no sense is refused, all of it at once", "[models][api]")
{
    api a;
    json m = combinations();
    struct {
        json body;
        std::vector<std::string> pointers;
    } cases[] = {
        {{{"model", m},
          {"processors", 2},
          {"problem_size", -1},
          {"cpu_available_ratio", 1.5},
          {"bandwidth_mbps", -2}},
         {"/bandwidth_mbps", "/cpu_available_ratio", "/problem_size"}},
        {{{"model", m}, {"processors", 2}}, {"/problem_size", "/bandwidth_mbps"}},
        {{{"model", m}, {"processors", 1.5}, {"problem_size", 5}}, {"/processors"}},
        {{{"problem_size", 5}}, {"/model_id"}},
        {{{"model", m}, {"application_id", "x"}}, {"/model_id"}},
        {{{"model", m}, {"queries", json::array()}}, {"/queries"}},
        {{{"model", m}, {"queries", {{{"problem_size", 0}}, {{"processors", 0}}}}},
         {"/queries/0/problem_size", "/queries/1/processors"}},
        {{{"model", m}, {"phases", {{{"phase_index", 0}}}}}, {"/application_id"}},
        {{{"model", json::object()}, {"problem_size", 5}}, {"/model"}},
        {{{"model", {{"packed", "AAAA"}}}, {"problem_size", 5}}, {"/model/packed"}},
        {{{"model", {{"packed", "!"}}}, {"problem_size", 5}}, {"/model/packed"}},
        {{{"model",
           {{"combinations", {{{"f_comp_mask", 128}, {"coefficients", {1, 2}}}}}}},
          {"problem_size", 5}},
         {"/model/combinations/0"}},
        {{{"model", {{"combinations", {{{"f_comp_mask", 0}, {"coefficients", {1}}}}}}},
          {"problem_size", 5}},
         {"/model/combinations/0"}},
        {{{"model",
           {{"combinations",
             {{{"f_comp_mask", 1.5}, {"f_bw_id", 2.5}, {"coefficients", {1}}}}}}},
          {"problem_size", 5}},
         {"/model/combinations/0/f_bw_id", "/model/combinations/0/f_comp_mask"}},
        {{{"kind", "load"}}, {"/resource_ids"}},
        {{{"model", m}, {"problem_size", 5}, {"algorithm", "x"}}, {"/algorithm"}},
        {{{"model",
           {{"samples",
             {{{"run_time_s", 0}}, {{"run_time_s", 1}, {"processors", 1.5}}}}}}},
         {"/model/samples/0/run_time_s", "/model/samples/1/processors"}},
        {{{"model", {{"samples", {{{"run_time_s", 1}, {"processors", 1.5}}}}}}},
         {"/model/samples/0/processors"}},
        {{{"model",
           {{"kind", "scale_out"},
            {"settings", {{"inputs", {"a"}}}},
            {"samples", json::array()}}}},
         {"/model/settings/inputs"}},
    };
    for (auto &c : cases) {
        api_reply r = a.post("/v1/predictions", c.body.dump());
        INFO(c.body.dump() << "\n" << r.body);
        CHECK(r.status == 422);
        CHECK(r.pointers() == c.pointers);
    }
    for (const char *number : {"1e999", "NaN", "-1e309"}) {
        api_reply r = a.post("/v1/predictions", std::string("{\"model\":") + m.dump() +
                                                    ",\"problem_size\":" + number + "}");
        CHECK(r.status >= 400);
        CHECK(r.status < 500);
    }
    api_reply r = a.post("/v1/predictions", json{{"model", m},
                                                 {"problem_size", 1e308},
                                                 {"bandwidth_mbps", 1e308},
                                                 {"processors", 2}}
                                                .dump());
    CHECK(r.status == 200);
    CHECK(r.json()["status"] == "infeasible");
}

TEST_CASE("100,000 queries are taken, one more is refused", "[models][api]")
{
    api a;
    std::string queries = "{\"problem_size\":1000}";
    std::string body = "{\"model\":" + combinations().dump() +
                       ",\"processors\":2,\"bandwidth_mbps\":50,\"queries\":[" + queries;
    for (int i = 1; i < 100000; i++)
        body += "," + queries;
    api_reply r = a.post("/v1/predictions", body + "]}");
    CHECK(r.status == 200);
    r = a.post("/v1/predictions", body + "," + queries + "]}");
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/queries"});
}

TEST_CASE("loads are forecast from the history in the request", "[models][forecast][api]")
{
    api a;
    json history = json::array();
    const double w10[] = {0.50, 0.60, 0.40, 0.70, 0.65, 0.55};
    for (int i = 0; i < 6; i++) {
        history.push_back({{"resource_id", "n1"},
                           {"observed_at", 600 * i},
                           {"cpu_available_ratio", w10[i]}});
        history.push_back({{"resource_id", "n2"},
                           {"observed_at", 600 * i},
                           {"cpu_available_ratio", 0.9}});
        history.push_back({{"resource_id", "n1"},
                           {"to_resource_id", "n2"},
                           {"observed_at", 600 * i},
                           {"bandwidth_mbps", 40}});
    }
    json body = {{"kind", "load"}, {"resource_ids", {"n1", "n2"}}, {"history", history}};
    json l = predict(a, body);
    CHECK(l["loads"]["cpu_available_ratio"].get<double>() ==
          Approx(0.5469182187).epsilon(1e-9));
    CHECK(l["loads"]["bandwidth_mbps"] == 40);
    CHECK(l["loads"]["resources"].size() == 3);
    CHECK(l["loads"]["resources"][0]["forecaster"] == "exp_15");
    CHECK(l["loads"]["resources"][0]["bucket_count"] == 6);

    body["kind"] = "run_time";
    body["model"] = combinations();
    body["problem_size"] = 2000;
    json p = predict(a, body); // two processors: those in resource_ids
    CHECK(p["run_time_s"].get<double>() ==
          Approx(known_time_s(2000, 2, 0.5469182187, 40)).epsilon(1e-8));
    body["forecast_mode"] = "duration_matched";
    p = predict(a, body);
    CHECK(p["loads"]["forecast_mode"] == "duration_matched");
    CHECK(p["loads"]["horizon_s"].get<double>() >= 600);
    body["resource_ids"] = {"n1", "n3"};
    p = predict(a, body);
    CHECK(p["status"] == "infeasible");
    CHECK(p["reasons"][0]["reason"] == "no_load_history");
    CHECK(p["loads"]["missing"].size() >= 1);
    body["history"][0]["cpu_available_ratio"] = 2;
    CHECK(a.post("/v1/predictions", body.dump()).pointers() ==
          std::vector<std::string>{"/history/0/cpu_available_ratio"});
}

TEST_CASE("evaluations give W15 and the errors of pairs", "[models][api]")
{
    api a;
    json body = {{"pairs",
                  {{{"actual_s", 100}, {"predicted_s", 110}},
                   {{"actual_s", 200}, {"predicted_s", 180}}}},
                 {"configurations",
                  {{{"problem_size", 1},
                    {"processors", 4},
                    {"actual_s", 987.27},
                    {"predicted_s", 900}},
                   {{"problem_size", 1},
                    {"processors", 8},
                    {"actual_s", 951.02},
                    {"predicted_s", 950}}}}};
    api_reply r = a.post("/v1/model-evaluations", body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json()["appe_ratio"].get<double>() == Approx(0.1).epsilon(1e-12));
    CHECK(r.json()["bias_ratio"].get<double>() == Approx(0).margin(1e-12));
    CHECK(r.json()["max_loss_ratio"].get<double>() == Approx(0.038117).epsilon(1e-4));
    CHECK(r.json()["losses"][0]["processors"] == 4);
    CHECK(a.post("/v1/model-evaluations", "{}").status == 422);
    // What there is nothing to work out from is null.
    json few = a.post("/v1/model-evaluations",
                      R"({"pairs":[{"actual_s":100,"predicted_s":110}]})")
                   .json();
    CHECK(few["appe_ratio"].get<double>() == Approx(0.1));
    CHECK(few["ppe_sd_ratio"].is_null());
    CHECK(few["max_loss_ratio"].is_null());
    // An error in percent that no double holds is refused, not left out.
    for (const char *pair : {R"({"actual_s":5e-324,"predicted_s":110})",
                             R"({"actual_s":200,"predicted_s":1.8e302})"}) {
        INFO(pair);
        CHECK(a.post("/v1/model-evaluations", std::string(R"({"pairs":[)") + pair + "]}")
                  .status == 422);
    }
    CHECK(a.post("/v1/model-evaluations", R"({"pairs":[{"actual_s":0,"predicted_s":1}]})")
              .pointers() == std::vector<std::string>{"/pairs/0/actual_s"});
}

TEST_CASE("an experiment plan follows section 8, and then the disagreement",
          "[models][api]")
{
    api a;
    json body = {{"min_problem_size", 500}, {"max_problem_size", 1450}};
    api_reply r = a.post("/v1/experiment-plans", body.dump());
    INFO(r.body.substr(0, 500));
    REQUIRE(r.status == 200);
    json plan = r.json();
    CHECK(plan["experiments"].size() == 60);
    CHECK(plan["experiments"][1]["problem_size"] == 550);
    CHECK(plan["dedicated_runs"].size() == 7);
    CHECK(plan["overheads"].size() == 7);
    CHECK(plan["overheads"][0]["min_runs"] ==
          3 * plan["overheads"][1]["min_runs"].get<int>()); // s*q*k and s*q
    body["max_processors"] = 2;
    plan = a.post("/v1/experiment-plans", body.dump()).json();
    CHECK(plan["status"] == "infeasible");
    CHECK(plan["reasons"][0]["reason"] == "too_few_processors");
    CHECK(a.post("/v1/experiment-plans", R"({"min_problem_size":5,"max_problem_size":4,
                 "min_processors":9})")
              .pointers() ==
          std::vector<std::string>{"/max_problem_size", "/max_processors"});
    CHECK(a.post("/v1/experiment-plans", "{}").status == 422);

    json f = fit_known(a, 0.2);
    body = {{"model", model_of(f)},
            {"min_problem_size", 500},
            {"max_problem_size", 5000},
            {"max_processors", 16},
            {"want", 4}};
    r = a.post("/v1/experiment-plans", body.dump());
    INFO(r.body.substr(0, 500));
    REQUIRE(r.status == 200);
    plan = r.json();
    REQUIRE(plan["experiments"].size() == 4);
    CHECK(plan["experiments"][0]["disagreement_ratio"].get<double>() >=
          plan["experiments"][3]["disagreement_ratio"].get<double>());
}

TEST_CASE("examples of models are answered", "[models][api]")
{
    api a;
    size_t count = 0;
    for (const example &e : examples()) {
        static const std::set<std::string> paths = {"/v1/predictions", "/v1/model-fits",
                                                    "/v1/experiment-plans",
                                                    "/v1/model-evaluations"};
        if (!e.row || paths.count(e.target) == 0)
            continue;
        api_reply r = a.post(e.target, e.body);
        INFO(e.name << " " << r.body.substr(0, 500));
        CHECK(r.status == 200);
        if (r.json().contains("status"))
            CHECK(r.json()["status"] != "infeasible");
        count++;
    }
    CHECK(count >= 6);
}

TEST_CASE("a parameter that no run had is said to have no part", "[models][api]")
{
    api a;
    json samples = json::array();
    for (int i = 0; i < 30; i++)
        samples.push_back({{"problem_size", 100 * (1 + i % 10)},
                           {"run_time_s", 10 + 50 * (1 + i % 10) + i % 3},
                           {"parameters", {{"mode", i % 2 ? "a" : "b"}}}});
    json f = fit(a, {{"kind", "auto"}, {"samples", samples}});
    json body = {
        {"model", model_of(f)}, {"problem_size", 300}, {"parameters", {{"mode", "a"}}}};
    auto warned = [](const json &answer) { return answer["warnings"].dump(); };

    CHECK(warned(predict(a, body)).find("inputs_unused") == std::string::npos);
    for (const char *name : {"mood", "problem_size"}) { // a term is no parameter
        body["parameters"] = {{"mode", "a"}, {name, 3}};
        CHECK(warned(predict(a, body))
                  .find("inputs_unused: A parameter is no input of the model, and has no "
                        "part in the answer: " +
                        std::string(name)) != std::string::npos);
    }
    // once for many questions
    body["parameters"] = {{"mode", "a"}};
    body["queries"] = {{{"problem_size", 400}},
                       {{"parameters", {{"mood", 1}}}},
                       {{"parameters", {{"mode", "b"}, {"mood", 2}}}}};
    json p = predict(a, body);
    CHECK(warned(p).find("2 times, first /queries/1") != std::string::npos);
    CHECK_FALSE(p["results"][0].contains("warnings"));
    CHECK(p["results"][1]["warnings"] == json{"inputs_unused"});
    CHECK(p["results"][1]["run_time_s"].get<double>() > 0);
    // kinds without parameters
    body = with(question(2000, 8, 0.5, 40), {{"model", combinations()}});
    CHECK(warned(predict(a, body)).find("inputs_unused") == std::string::npos);
    body["parameters"] = {{"mode", 1}};
    CHECK(warned(predict(a, body)).find("inputs_unused") != std::string::npos);
}

TEST_CASE("memory that runs out while predicting is an error, not a crash",
          "[models][memory]")
{
    api a;
    json body = with(question(900, 2, 0.6, 50),
                     {{"model", {{"samples", samples_json(known_runs(0.1))}}}});
    int status = 0;
    for (size_t cap = 1024; status != 200 && cap < (size_t{1} << 28); cap = cap * 3 / 2) {
        status = a.call("POST", "/v1/predictions", body.dump(), {}, cap).status;
        CHECK((status == 200 || status == 413));
    }
    CHECK(status == 200);
}
