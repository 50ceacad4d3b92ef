// checkpoint_survival_test.cpp - levels of checkpoints by what stored failures say.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <unistd.h>

extern "C" {
#include "service/clock.h"
}

using nlohmann::json;

namespace
{
const char *const path = "/v1/checkpoint-intervals";

json level(int number, double overhead_s)
{
    return {{"level", number}, {"checkpoint_overhead_s", overhead_s}};
}

json body_of(const std::string &resource)
{
    return {{"algorithm", "young"},
            {"jobs",
             {{{"id", "j"},
               {"resource_id", resource},
               {"mean_failure_interval_s", 20000},
               {"levels", {level(1, 5), level(2, 15), level(4, 300)}}}}}};
}

std::string unique(const char *begin)
{
    return begin + std::to_string(getpid()) + "-" + std::to_string(clock_wall_s());
}

void fail(api &service, const std::string &id, const std::vector<int> &levels,
          const char *kind = "failure", double from_s = 1.6e9)
{
    json rows = json::array();

    for (size_t i = 0; i < levels.size(); i++) {
        double at_s =
            from_s + 10000 * static_cast<double>(i) + (kind[0] == 'f' ? 0 : 500);
        rows.push_back({{"resource_id", id},
                        {"down_at", at_s},
                        {"up_at", at_s + 60},
                        {"kind", kind}});
        if (levels[i] > 0)
            rows.back()["level"] = levels[i];
    }
    api_reply r = service.post("/v1/failures", rows.dump());
    INFO(r.body);
    REQUIRE((r.status == 200 || r.status == 201));
}

bool warned(const json &answer, const std::string &code)
{
    for (const auto &text : answer["warnings"])
        if (text.get<std::string>().rfind(code + ":", 0) == 0)
            return true;
    return false;
}
} // namespace

TEST_CASE("stored failures say what levels survive", "[api][checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    const std::string a = unique("a"), b = unique("b");
    std::vector<int> levels(24, 0); // 4 say nothing

    for (size_t i = 0; i < 20; i++)
        levels[i] = i < 10 ? 1 : i < 15 ? 2 : i < 17 ? 3 : i < 19 ? 4 : 5;
    fail(service, a, levels);
    fail(service, a, std::vector<int>(9, 1), "degraded");

    json body = body_of(a);
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    const json learnt = r.json(),
               survival = learnt["intervals"][0]["pattern"]["survival"];
    CHECK(survival == json{{"scope", "resources"},
                           {"failure_count", 20},
                           {"ratios", {0.5, 0.75, 1}}});
    CHECK(warned(learnt, "levels_exceeded"));
    CHECK_FALSE(warned(learnt, "few_levels"));
    // as if the request had said so
    const double ratios[] = {0.5, 0.75, 1};
    for (size_t l = 0; l < 3; l++)
        body["jobs"][0]["levels"][l]["survives_ratio"] = ratios[l];
    json given = service.post(path, body.dump()).json()["intervals"][0];
    given["pattern"]["survival"] = survival;
    CHECK(given == learnt["intervals"][0]);

    // too few of its own: those of all
    fail(service, b, {1, 1, 2});
    const json all = service.post(path, body_of(b).dump()).json();
    CHECK(all["intervals"][0]["pattern"]["survival"]["scope"] == "all");
    CHECK(all["intervals"][0]["pattern"]["survival"]["failure_count"].get<double>() >=
          23);
    // of several nodes together
    body = body_of(a);
    body["jobs"][0].erase("resource_id");
    body["jobs"][0]["resource_ids"] = {a, b};
    CHECK(service.post(path, body.dump())
              .json()["intervals"][0]["pattern"]["survival"]["failure_count"] == 23);

    // some of them: which is meant?
    body = body_of(a);
    body["jobs"][0]["levels"][2]["survives_ratio"] = 1;
    r = service.post(path, body.dump());
    CHECK(r.status == 422);
    CHECK(r.json()["errors"].size() == 2);
    CHECK(r.json()["errors"][0]["pointer"] == "/jobs/0/levels/0/survives_ratio");
    CHECK(r.json()["errors"][0]["code"] == "required");
}

TEST_CASE("a replay has the levels that were stored then", "[api][checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    const std::string a = unique("r");

    fail(service, a, std::vector<int>(20, 1));
    json body = body_of(a);
    body["store"] = true;
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    const json first = r.json();
    fail(service, a, std::vector<int>(25, 4), "failure", 1.5e9);
    CHECK(service.post(path, body.dump()).json()["intervals"] != first["intervals"]);
    r = service.post(
        "/v1/decisions/" + first["decision_id"].get<std::string>() + "/replay", "");
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json()["answer"]["intervals"] == first["intervals"]);
}

TEST_CASE("a level alone survives everything", "[api][checkpoint]")
{
    api service;
    json body = body_of("x");

    body["jobs"][0]["levels"] = {level(3, 20)};
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json()["intervals"][0]["pattern"]["levels"].size() == 1);
    CHECK_FALSE(r.json()["intervals"][0]["pattern"].contains("survival"));
    // several need a word, or a database to look them up in
    body["jobs"][0]["levels"].push_back(level(4, 30));
    CHECK(service.post(path, body.dump()).status == 503);
    body["jobs"][0]["levels"][1]["level"] = 2;
    r = service.post(path, body.dump());
    CHECK(r.status == 422); // which is known without one
    CHECK(r.json()["errors"][0]["pointer"] == "/jobs/0/levels/1/level");
}
