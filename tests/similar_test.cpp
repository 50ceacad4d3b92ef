// similar_test.cpp - the time of an application of which no run is known: from those that
// are like it. learning.md 16, 5.
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/instances.hpp"
#include "tests/support.hpp"

#include <algorithm>
#include <cmath>
#include <random>

extern "C" {
#include "models/fitted/fitted.h"
}

using nlohmann::json;

TEST_CASE("the median of medians, and at least a factor of 3", "[learning]")
{
    test_arena a;
    fitted_guess g{};
    double three[] = {10, 40, 90}, close[] = {20, 20, 21, 19},
           none[] = {0, NAN, -1, HUGE_VAL};

    REQUIRE(fitted_guess_make(three, 3, &g, a));
    CHECK(g.time_s == 40);
    CHECK(g.count == 3);
    CHECK(fitted_guess_half(&g, 0.8) == Approx(log(4.0))); // the farthest of three
    CHECK(fitted_guess_half(&g, 0.5) == Approx(log(90 / 40.0)));
    REQUIRE(fitted_guess_make(close, 4, &g, a));
    CHECK(g.time_s == 20);
    CHECK(fitted_guess_half(&g, 0.8) == Approx(log(3.0)));
    CHECK(fitted_guess_half(&g, 0.96) == Approx(2 * log(3.0)));
    CHECK_FALSE(fitted_guess_make(none, 4, &g, a));
    CHECK_FALSE(fitted_guess_make(none, 0, &g, a));
    REQUIRE(fitted_guess_make(none + 3, 1, &g, a) == false);
    REQUIRE(fitted_guess_make(three, 1, &g, a));
    CHECK(g.time_s == 10);
    CHECK(fitted_guess_half(&g, 0.8) == Approx(log(3.0)));
}

TEST_CASE("intervals of similar applications are nested and hold their share",
          "[learning][property]")
{
    std::mt19937_64 random(7);

    for (int round = 0; round < 300; round++) {
        test_arena a;
        fitted_guess g{};
        std::vector<double> medians(1 + random() % 20);
        double before = 0;

        for (double &m : medians)
            m = std::exp((double)(random() % 7) - 3) * (random() % 5 ? 1 : 100);
        REQUIRE(fitted_guess_make(medians.data(), medians.size(), &g, a));
        for (double level : {0.01, 0.5, 0.8, 0.9, 0.99}) {
            double half = fitted_guess_half(&g, level), inside = 0;

            for (double m : medians)
                inside += std::fabs(std::log(m / g.time_s)) <= half * (1 + 1e-12);
            CHECK(half >= before);
            CHECK(inside >= std::floor(level * (double)medians.size()));
            before = half;
        }
    }
}

namespace
{
void run(api &a, const std::string &id, const std::string &application, double time_s,
         const json &parameters, const json &more = {})
{
    json body = {{"execution_id", id},
                 {"application_id", application},
                 {"started_at", "2026-11-01T00:00:00Z"},
                 {"run_time_s", time_s},
                 {"processors", 1},
                 {"parameters", parameters}};

    if (more.is_object())
        body.update(more);
    REQUIRE(a.post("/v1/executions", body.dump()).status == 201);
}

json predict(api &a, const json &body)
{
    api_reply r = a.post("/v1/predictions", body.dump());

    INFO(r.body);
    REQUIRE(r.status == 200);
    return r.json();
}
} // namespace

TEST_CASE("applications of the same name tell a time before the first run",
          "[learning][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());

    run(a, "a1", "rnaseq/align", 10, {{"x", 1}});
    run(a, "a2", "rnaseq/align", 12, {{"x", 1}});
    run(a, "b1", "chipseq:ALIGN", 40, {{"x", 2}});
    run(a, "c1", "wgs.align", 90, {{"x", 2}});
    run(a, "c2", "wgs.align", 5000, {{"x", 2}},
        {{"exit_code", 1}}); // a failed run is none
    run(a, "d1", "wgs.aligner", 7777, {{"other", 2}});

    json j = predict(a, {{"application_id", "new/Align"}, {"processors", 1}});
    CHECK(j["run_time_s"] == 40); // of 11, 40, 90
    CHECK(j["run_time_low_s"].get<double>() == Approx(11));
    CHECK(j["run_time_high_s"].get<double>() == Approx(40 * 40 / 11.0));
    CHECK(j["interval_basis"] == "similar_applications");
    CHECK(j["interval_ratio_count"] == 3);
    CHECK(j["method"] == "similar_applications");
    CHECK_FALSE(j.contains("models"));
    CHECK_FALSE(j.contains("basis"));
    CHECK_FALSE(j.contains("extrapolation_ratio"));
    CHECK(j["warnings"] ==
          json{"no_runs: no run of 'new/Align' is known: its time is that of 3 "
               "applications with the same name (first 'chipseq:ALIGN')"});

    // Nested quantiles, several questions, and by inputs where no name fits.
    j = predict(a, {{"application_id", "new/other"},
                    {"queries",
                     {{{"processors", 1}, {"parameters", {{"x", 3}, {"z", 1}}}},
                      {{"processors", 2}}}},
                    {"quantiles", {0.1, 0.5, 0.9}}});
    CHECK(j["results"].size() == 2);
    CHECK(j["results"][0]["run_time_s"] == 40);
    CHECK(j["results"][1]["run_time_s"] == 40);
    CHECK(j["results"][0]["quantiles"][1]["run_time_s"] == 40);
    CHECK(j["results"][0]["quantiles"][0]["run_time_s"] <= 11 + 1e-9);
    CHECK(j["warnings"][0].get<std::string>().find("with such inputs") !=
          std::string::npos);

    // Half of the inputs is not there, or nothing is said of them.
    for (const json &parameters : {json{{"x", 1}, {"q", 1}, {"r", 1}}, json::object()})
        CHECK(a.post("/v1/predictions", json{{"application_id", "new/other"},
                                             {"processors", 1},
                                             {"parameters", parameters}}
                                            .dump())
                  .status == 404);
    // A size is no likeness: nearly all runs have one.
    run(a, "e1", "sized", 60, json::object(), {{"problem_size", 5}});
    CHECK(a.post("/v1/predictions", json{{"application_id", "new/other"},
                                         {"processors", 1},
                                         {"problem_size", 6}}
                                        .dump())
              .status == 404);
    // A name that ends with nothing is like no other.
    CHECK(a.post("/v1/predictions",
                 json{{"application_id", "rnaseq/"}, {"processors", 1}}.dump())
              .status == 404);
}

TEST_CASE("a job whose application never ran is placed by those like it, and replayed",
          "[learning][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    json body = {{"store", true},
                 {"snapshot", {{"resources", {{{"id", "n"}, {"cpus", 1}}}}}},
                 {"jobs", {{{"id", "j"}, {"model", {{"application_id", "p/sort"}}}}}},
                 {"include", {"placements", "run_times"}}};

    CHECK(a.post("/v1/placements", body.dump()).json()["placement_count"] == 0);
    run(a, "s1", "q/sort", 30, json::object());
    api_reply r = a.post("/v1/placements", body.dump());
    INFO(r.body);
    json j = r.json(), basis = j["placements"][0]["run_time_basis"];
    CHECK(j["placements"][0]["run_time_s"] == 30);
    CHECK(basis["interval_basis"] == "similar_applications");
    CHECK(basis["low_s"].get<double>() < 10);
    CHECK_FALSE(basis.contains("model_id"));
    CHECK_FALSE(basis.contains("model_version"));
    CHECK(j["warnings"][0].get<std::string>().find(
              "no_runs: no run of 'p/sort' is known: "
              "its time is that of 1 application") == 0);

    // Another run of the other does not change what was decided.
    run(a, "s2", "q/sort", 3000, json::object());
    std::string id = j["decision_id"];
    json again = a.post("/v1/decisions/" + id + "/replay", "").json();
    CHECK(again["identical"] == true);

    // From its own first run on the others do not count.
    run(a, "own", "p/sort", 5, json::object());
    REQUIRE(a.post("/v1/models/p-sort/refine", "").status == 200);
    json own = predict(a, {{"application_id", "p/sort"}, {"processors", 1}});
    CHECK(own["run_time_s"].get<double>() == Approx(5));
    CHECK(own["interval_basis"] != "similar_applications");
    CHECK(own["models"][0]["id"] == "p-sort");
}
