// progress_api_test.cpp - predictions of kind remaining_time without a database, through
// route_answer().
#include "tests/api.hpp"

#include <algorithm>
#include <fstream>

using nlohmann::json;

namespace
{

json example(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/prediction-" + name +
                     ".json");
    return json::parse(in);
}

json answer(api &a, const json &body, int status = 200)
{
    api_reply r = a.post("/v1/predictions", body.dump());
    INFO(r.body.substr(0, 1500));
    REQUIRE(r.status == status);
    return r.json();
}

json reports(const std::vector<double> &estimates)
{
    json list = json::array();
    for (size_t i = 1; i <= estimates.size(); i++) {
        double t = 100 * static_cast<double>(i);
        list.push_back({{"elapsed_s", t}, {"progress_pct", 100 * t / estimates[i - 1]}});
    }
    return list;
}

json question(const json &samples, const json &more = json::object())
{
    json body = {{"kind", "remaining_time"}, {"samples", samples}};
    body.update(more);
    return body;
}

bool warns(const json &reply, const std::string &name)
{
    for (const auto &w : reply["warnings"])
        if (w.get<std::string>().rfind(name + ":", 0) == 0)
            return true;
    return false;
}

} // namespace

TEST_CASE("remaining time: the example of the spec", "[progress][api]")
{
    api a;
    json r = answer(a, example("varpro"));
    CHECK(r["kind"] == "remaining_time");
    CHECK(r["algorithm"] == "varpro");
    CHECK(r["status"] == "feasible");
    CHECK(r["source"] == "fit");
    CHECK(r["function"] == "psi1");
    CHECK(r["estimate_ref_s"].get<double>() == Approx(1010.0010).epsilon(1e-6));
    CHECK(r["extrapolated_ref_s"].get<double>() == Approx(1018));
    CHECK(r["remaining_ref_s"].get<double>() == Approx(210.001).epsilon(1e-5));
    CHECK(r["params"][1].get<double>() == Approx(834.5690).epsilon(1e-6));
    CHECK(r["interval"]["low_ref_s"].get<double>() == Approx(975.381).epsilon(1e-6));
    CHECK(r["interval"]["high_ref_s"].get<double>() == Approx(1044.621).epsilon(1e-6));
    CHECK(r["interval"]["level"] == 0.9);
    CHECK(r["res_norm"].get<double>() == Approx(1789.697).epsilon(1e-6));
    CHECK(r["residual_stddev_s"].get<double>() == Approx(18.919).epsilon(1e-4));
    CHECK(r["flags"] == json::array());
    CHECK(r["samples_used"] == 8);
    CHECK(r["candidates"][1]["limit_ref_s"].get<double>() == Approx(1195.75));
    CHECK(r["candidates"][1]["params"][2].get<double>() == Approx(0.000625));
    CHECK(r["resources"][0]["resource_id"] == "CR2");
    CHECK(r["resources"][0]["tasks_after"] == 2);
    CHECK(r["resources"][0]["remaining_s"].get<double>() == Approx(105.0).epsilon(1e-4));

    json seed = answer(a, example("simplex"));
    CHECK(seed["algorithm"] == "simplex");
    CHECK(seed["estimate_ref_s"].get<double>() == Approx(1010.0011).epsilon(1e-3));
    json better = example("varpro");
    better.erase("options");
    json wide = answer(a, better)["interval"];
    CHECK(wide["low_ref_s"] < r["interval"]["low_ref_s"]);
    CHECK(wide["high_ref_s"] > r["interval"]["high_ref_s"]);
    CHECK(wide["low_ref_s"].get<double>() == Approx(896.376).epsilon(1e-6));
    CHECK(wide["high_ref_s"].get<double>() == Approx(1123.626).epsilon(1e-6));
}

TEST_CASE("remaining time: sources", "[progress][api]")
{
    api a;
    json r = answer(a, {{"kind", "remaining_time"}});
    CHECK(r["status"] == "infeasible");
    CHECK(r["reasons"][0]["reason"] == "no_sample");
    CHECK_FALSE(r.contains("estimate_ref_s"));
    r = answer(a, question(json::array(), {{"estimate_ref_s", 500}}));
    CHECK(r["source"] == "initial_estimate");
    CHECK(r["remaining_ref_s"] == 500);
    r = answer(a, question(reports({1500})));
    CHECK(r["source"] == "single_sample");
    CHECK_FALSE(r.contains("interval"));
    r = answer(a, question(reports({1500, 1400})));
    CHECK(r["source"] == "extrapolation");
    CHECK(r["interval"]["high_ref_s"].get<double>() == Approx(1.6 * 1400));
    r = answer(a,
               question(reports({1500, 1400}), {{"options", {{"strict_seed", true}}}}));
    CHECK(r["source"] == "fit");
    CHECK(r["algorithm"] == "simplex");
    CHECK(r["estimate_ref_s"].get<double>() == Approx(1061.57).epsilon(1e-3));
    json lines = reports({1500, 1400, 1300, 1200});
    for (auto &s : lines)
        s["work_done_ref_s"] = s["elapsed_s"].get<double>();
    r = answer(a, question(lines, {{"options", {{"min_samples", 4}, {"k_min", 0.05}}}}));
    CHECK(r["source"] == "fallback");
    CHECK(r["source_reason"] == "limit_out_of_range");
    CHECK(r["abscissa"] == "work_ref_s");
    r = answer(a, question(lines, {{"previous",
                                    {{"sample_count", 4}, {"estimate_ref_s", 777}}}}));
    CHECK(r["source"] == "cached");
    CHECK(r["estimate_ref_s"] == 777);
    lines.push_back({{"elapsed_s", 900}, {"progress_pct", 100}});
    r = answer(a, question(lines));
    CHECK(r["source"] == "finished");
    CHECK(r["remaining_ref_s"] == 0);
    CHECK(r["estimate_ref_s"] == 900);
    r = answer(a, question(reports({1000, 1400, 1050, 1350, 1100, 1300}),
                           {{"options", {{"estimate_filter", "auto"}}}}));
    CHECK(r["source"] == "average");
    CHECK(r["flags"] == json({"oscillating"}));
    CHECK(r["estimate_ref_s"].get<double>() == Approx(1200));
    r = answer(a, question(reports({2000}),
                           {{"options", {{"remaining_rule", "pct"}}},
                            {"resources",
                             {{{"id", "r"}, {"mips_total", 1}, {"mips_external", 1}}}}}));
    CHECK(r["remaining_ref_s"].get<double>() == Approx(1900));
    CHECK(r["resources"][0]["reason"] == "no_free_speed");
}

TEST_CASE("remaining time: the forms of progress agree", "[progress][api]")
{
    api a;
    const json forms[] = {
        {{"progress_pct", 25}},
        {{"simulated_s", 21600}, {"simulated_total_s", 86400}},
        {{"done_count", 10}, {"total_count", 40}},
    };
    for (json f : forms) {
        f.update({{"elapsed_s", 600},
                  {"mips_total", 2},
                  {"mips_external", 0.5},
                  {"job_count", 2}});
        CHECK(answer(a, question(json::array({f})))["estimate_ref_s"].get<double>() ==
              Approx(1800));
        f["work_done_ref_s"] = 500;
        CHECK(answer(a, question(json::array({f})))["estimate_ref_s"].get<double>() ==
              Approx(2000));
    }
}

TEST_CASE("remaining time: what is wrong is said, all at once", "[progress][api]")
{
    api a;
    const struct {
        json body;
        std::vector<std::string> pointers;
    } cases[] = {
        {question({{{"elapsed_s", -1}, {"progress_ratio", 1.01}, {"job_count", 0.5}},
                   {{"progress_ratio", -1}}}),
         {"/samples/0/elapsed_s", "/samples/0/progress_ratio", "/samples/0/job_count",
          "/samples/1/progress_ratio", "/samples/1/elapsed_s"}},
        {question({{{"elapsed_s", 1}},
                   {{"elapsed_s", 1}, {"progress_ratio", 0.01}, {"done_count", 1}},
                   {{"elapsed_s", 1}, {"simulated_s", 1}},
                   {{"elapsed_s", 1}, {"total_count", 1}}}),
         {"/samples/0/progress_ratio", "/samples/1/progress_ratio",
          "/samples/2/simulated_total_s", "/samples/3/done_count"}},
        {question(json::array(), {{"functions", {{{"name", "psi3"}}}}}),
         {"/functions/0/name"}},
        {question(json::array(), {{"functions",
                                   {{{"name", "psi1"}, {"init", {1, 2}}},
                                    {{"name", "psi2"}, {"init", {1, -2, 3}}},
                                    {{"name", "psi1"}}}}}),
         {"/functions/0/init", "/functions/1/init", "/functions/2/name"}},
        {question(json::array(), {{"functions", json::array()}}), {"/functions"}},
        {question(json::array(),
                  {{"options", {{"window", 4}, {"k_min", 60}}}, {"algorithm", "magic"}}),
         {"/algorithm", "/options/window", "/options/k_max"}},
        {question(json::array(), {{"options", {{"min_samples", 1}, {"nothing", 1}}}}),
         {"/options/min_samples", "/options/nothing"}},
        {question(json::array(), {{"previous", {{"sample_count", 0}}}}),
         {"/previous/sample_count", "/previous/estimate_ref_s"}},
        {question(json::array(), {{"resources",
                                   {{{"id", "x"}, {"mips_total", 1}},
                                    {{"id", "x"}, {"mips_total", -1}}}}}),
         {"/resources/1/mips_total", "/resources/1/id"}},
        {{{"kind", "magic"}}, {"/kind"}},
    };
    for (auto &c : cases) {
        api_reply r = a.post("/v1/predictions", c.body.dump());
        INFO(c.body.dump() << "\n" << r.body);
        CHECK(r.status == 422);
        auto got = r.pointers(), want = c.pointers;
        std::sort(got.begin(), got.end());
        std::sort(want.begin(), want.end());
        CHECK(got == want);
    }
    for (const char *number : {"NaN", "1e999", "-1e309", "\"5\"", "null"}) {
        api_reply r = a.post("/v1/predictions",
                             std::string("{\"kind\":\"remaining_time\",\"samples\":[{"
                                         "\"progress_pct\":1,\"elapsed_s\":") +
                                 number + "}]}");
        CHECK(r.status >= 400);
        CHECK(r.status < 500);
    }
}

TEST_CASE("remaining time: bad reports are used or left out, with a warning",
          "[progress][api]")
{
    api a;
    json r = answer(a, question({{{"elapsed_s", 100}, {"progress_pct", 10}},
                                 {{"elapsed_s", 200}, {"progress_pct", 5}},
                                 {{"elapsed_s", 300}, {"progress_pct", 0}},
                                 {{"elapsed_s", 200}, {"progress_pct", 6}}}));
    CHECK(r["sample_count"] == 2);
    CHECK(warns(r, "progress_fell"));
    CHECK(warns(r, "duplicate_reports"));
    CHECK(warns(r, "unusable_reports"));
    CHECK_FALSE(warns(r, "share_changed"));
    r = answer(a, question({{{"elapsed_s", 1e308}, {"progress_pct", 1e-300}},
                            {{"elapsed_s", 1e-308}, {"progress_pct", 100}}}));
    CHECK(r["source"] == "finished");
    json huge = json::array();
    for (int i = 1; i <= 9; i++)
        huge.push_back({{"elapsed_s", i * 1e305}, {"progress_pct", i + i % 3}});
    r = answer(a, question(huge));
    CHECK(r["source"] == "fallback");
    CHECK(r["source_reason"] == "no_fit");
}

TEST_CASE("remaining time: very many reports", "[progress][api]")
{
    api a;
    std::string list;
    for (int i = 1; i <= 100000; i++)
        list += (i > 1 ? "," : "") + std::string("{\"elapsed_s\":") + std::to_string(i) +
                ",\"progress_pct\":" + std::to_string(i / 2000.0) + "}";
    auto body = [&](const std::string &more) {
        return "{\"kind\":\"remaining_time\",\"samples\":[" + list + more + "]}";
    };
    api_reply r = a.post("/v1/predictions", body(""));
    REQUIRE(r.status == 200);
    CHECK(r.json()["sample_count"] == 100000);
    CHECK(r.json()["samples_used"] <= 500);
    CHECK(warns(r.json(), "thinned"));
    r = a.post("/v1/predictions", body(",{\"elapsed_s\":0,\"progress_pct\":1}"));
    CHECK(r.status == 422);
}

TEST_CASE("remaining time: without a database", "[progress][api]")
{
    api a;
    json body = example("varpro");
    body["application_id"] = "app"; // nothing can be learnt, and that is all
    json r = answer(a, body);
    CHECK(r["source"] == "fit");
    CHECK(warns(r, "application_unknown"));
    CHECK(a.post("/v1/predictions",
                 json{{"kind", "remaining_time"}, {"task_id", "t"}}.dump())
              .status == 503);
    CHECK(a.post("/v1/progress-samples",
                 R"({"task_id":"t","elapsed_s":1,"progress_pct":1})")
              .status == 503);
    CHECK(a.post("/v1/progress-samples", R"({"task_id":"t","elapsed_s":1})").status ==
          422);
}

TEST_CASE("remaining time: memory that runs out is an error, not a crash",
          "[progress][memory]")
{
    api a;
    std::string body = example("varpro").dump();
    int status = 0;
    for (size_t cap = 1024; status != 200 && cap < (size_t{1} << 28); cap = cap * 5 / 4) {
        status = a.call("POST", "/v1/predictions", body, {}, cap).status;
        CHECK((status == 200 || status == 413));
    }
    CHECK(status == 200);
}
