// charts_api_test.cpp - pictures at addresses of their own: what the query says of them.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <regex>

namespace
{

size_t count_of(const std::string &text, const std::string &what)
{
    size_t count = 0;

    for (size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + 1))
        count++;
    return count;
}

} // namespace

TEST_CASE("a stored decision is drawn as the query says", "[charts][api][db]")
{
    NEED_DATABASE();
    own_database own("gridplan_charts");
    api service(own.url);
    nlohmann::json body = nlohmann::json::parse(R"({"snapshot":{"resources":[{"id":"p0"},
        {"id":"p1"}]},"algorithm":"mct","store":true,"jobs":[{"id":"a1","etc_s":[10,20]},
        {"id":"b2","etc_s":[20,10]},{"id":"c3","etc_s":[10,50]}]})");
    api_reply made = service.post("/v1/placements", body.dump());
    REQUIRE(made.status == 200);
    std::string path =
        "/v1/decisions/" + made.json()["decision_id"].get<std::string>() + "/chart";

    api_reply r = service.get(path);
    CHECK(r.status == 200);
    CHECK(r.headers["Content-Type"] == "image/svg+xml");
    CHECK(r.body.rfind("<svg", 0) == 0);
    CHECK(r.headers["Content-Security-Policy"] ==
          "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    CHECK(r.headers["X-Content-Type-Options"] == "nosniff");
    CHECK(r.body.find("prefers-color-scheme") != std::string::npos);
    CHECK(r.body == service.get(path).body); // the same bytes
    for (const char *id : {"a1", "b2", "c3"})
        CHECK(r.body.find(id) != std::string::npos);

    std::string light = service.get(path + "?theme=light").body,
                dark = service.get(path + "?theme=dark").body;
    CHECK(light.find("prefers-color-scheme") == std::string::npos);
    CHECK(dark.find("prefers-color-scheme") == std::string::npos);
    CHECK(light.find("#15181c") == std::string::npos);
    CHECK(dark.find(".gp-ground{fill:#15181c}") != std::string::npos);

    std::string late = service.get(path + "?from_s=12").body;
    CHECK(late.find("c3") != std::string::npos); // 10 to 20 on p0
    CHECK(late.find("a1") == std::string::npos); // ended at 10
    std::string early = service.get(path + "?to_s=5").body;
    CHECK(early.find("a1") != std::string::npos);
    CHECK(early.find("c3") == std::string::npos);

    std::string bars = service.get(path + "?mode=bars").body,
                summary = service.get(path + "?mode=summary").body;
    CHECK(bars == r.body);
    CHECK(summary != r.body);
    CHECK(summary.find("busy") != std::string::npos);
    CHECK(count_of(summary, "<title>") <
          count_of(bars, "<title>")); // no tooltips of bars

    CHECK(service.get(path + "?from_s=5&to_s=5").status == 422);
    CHECK(service.get(path + "?from_s=6&to_s=5").pointers() ==
          std::vector<std::string>{"?/to_s"});
    CHECK(service.get(path + "?mode=odd").status == 422);
    CHECK(service.get(path + "?theme=odd").status == 422);
    CHECK(
        service.get("/v1/decisions/00000000-0000-4000-8000-000000000000/chart").status ==
        404);

    // Nothing with times in it.
    made = service.post("/v1/checkpoint-intervals", R"({"algorithm":"young","store":true,
        "jobs":[{"id":"j","checkpoint_overhead_s":60,"mean_failure_interval_s":3600,
        "execution_time_s":7200,"restart_s":60}]})");
    REQUIRE(made.status == 200);
    r = service.get("/v1/decisions/" + made.json()["decision_id"].get<std::string>() +
                    "/chart");
    CHECK(r.status == 406);
}

TEST_CASE("the critical path and transfers are drawn when they are wanted",
          "[charts][api][db]")
{
    NEED_DATABASE();
    own_database own("gridplan_charts_workflow");
    api service(own.url);
    api_reply made = service.post("/v1/workflow-schedules", R"({"store":true,
        "algorithm":"heft","snapshot":{"resources":[{"id":"p0"},{"id":"p1"}]},
        "workflow":{"id":"w","tasks":[{"id":"a","etc_s":[3,9]},
        {"id":"b","etc_s":[9,2],"depends_on":[{"task_id":"a"}]}]}})");
    INFO(made.body);
    REQUIRE(made.status == 200);
    std::string path =
        "/v1/decisions/" + made.json()["decision_id"].get<std::string>() + "/chart";
    std::string with = service.get(path).body,
                without = service.get(path + "?critical=false").body;

    CHECK(with.find("on the chain that ends last") != std::string::npos);
    CHECK(without.find("on the chain that ends last") == std::string::npos);
    CHECK(service.get(path + "?transfers=false")
              .body.find("its last input is on its way") == std::string::npos);
    CHECK(service.get("/v1/simulations/00000000-0000-4000-8000-000000000000/chart")
              .status == 404);
}
