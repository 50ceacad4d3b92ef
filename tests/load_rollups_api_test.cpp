// Statistics, pages and forecasts of load samples from roll-ups, and what becomes of
// requests about samples that are gone; through route_answer() and PostgreSQL.
#include "tests/api.hpp"
#include "tests/database.hpp"

extern "C" {
#include "service/maintenance.h"
#include "service/rollup.h"
}

#include <random>

using nlohmann::json;

namespace
{

double now_s()
{
    return static_cast<double>(time(nullptr));
}

double day_before(double days)
{
    return std::floor((now_s() - days * 86400) / 86400) * 86400;
}

std::string number(double x)
{
    char text[32];

    snprintf(text, sizeof(text), "%.0f", x);
    return text;
}

// A database of its own with a day of samples of a host and two links.
struct rolled_api {
    own_database base;
    api a;
    test_db d;
    error err{};
    double day_s = day_before(3);
    std::mt19937_64 random{3};

    explicit rolled_api(const char *name)
        : base(name), a(base.url), d(test_db_options(base.url.c_str()))
    {
        std::string lines;
        double cpu = 0.5;

        for (int i = 0; i < 1440; i++) {
            double at_s = day_s + 60 * i + static_cast<double>(random() % 60);

            cpu = std::min(1.0, std::max(0.0, cpu + draw(-0.1, 0.1)));
            lines += line({{"resource_id", "h"},
                           {"observed_at", at_s},
                           {"cpu_available_ratio", cpu},
                           {"latency_s", draw(0, 0.1)}});
            for (const char *to : {"x", "y"})
                lines += line({{"resource_id", "h"},
                               {"to_resource_id", to},
                               {"observed_at", at_s},
                               {"bandwidth_mbps", std::exp(draw(0, 8))}});
        }
        REQUIRE(add(lines).status == 201);
    }
    double draw(double least, double most)
    {
        return std::uniform_real_distribution<double>(least, most)(random);
    }
    static std::string line(const json &object)
    {
        return object.dump() + "\n";
    }
    api_reply add(const std::string &lines)
    {
        return a.call("POST", "/v1/load-samples", lines,
                      {{"content_type", "application/x-ndjson"}});
    }
    json get(const std::string &target, int status = 200)
    {
        api_reply r = a.get(target);

        INFO(target << " " << r.body.substr(0, 1000));
        REQUIRE(r.status == status);
        return r.json();
    }
    json aggregates(const std::string &more, double from_s, double to_s, int status = 200)
    {
        return get("/v1/load-samples/aggregates?resource_id=h&from=" + number(from_s) +
                       "&to=" + number(to_s) + more,
                   status);
    }
    void roll()
    {
        rollup_options o{};

        REQUIRE_OK(rollup_run(d, &o, now_s(), &err));
    }
    // Samples older than today are removed.
    void expire()
    {
        maintenance_options o{};

        o.rollups = true;
        o.load_partition_by_day = true;
        o.load_sample_kept_days = 1;
        REQUIRE_OK(maintenance_run(d, &o, now_s(), &err));
    }
};

// Counts, means and extremes are the same; percentiles within 1 % of a neighbour's.
void check_same(const json &raw, const json &rolled)
{
    REQUIRE(raw["intervals"].size() == rolled["intervals"].size());
    for (size_t i = 0; i < raw["intervals"].size(); i++) {
        const json &r = raw["intervals"][i], &o = rolled["intervals"][i];

        CHECK(r["start_at"] == o["start_at"]);
        CHECK(r["sample_count"] == o["sample_count"]);
        for (const char *name : {"mean", "min", "max"})
            CHECK(o[name].get<double>() ==
                  Approx(r[name].get<double>()).epsilon(1e-12).margin(1e-300));
        double before = o["min"].get<double>();
        for (const char *name : {"p05", "p25", "p50", "p75", "p95", "max"}) {
            CHECK(o[name].get<double>() >= before);
            before = o[name].get<double>();
        }
    }
}

} // namespace

TEST_CASE("statistics from roll-ups are those of the samples", "[rollup][api][db]")
{
    NEED_DATABASE();
    rolled_api r("gridplan_test_rollup_api");
    double from_s = r.day_s, to_s = r.day_s + 86400;
    const char *const measures[] = {"&measure=cpu_available_ratio", "&measure=latency_s",
                                    "&measure=bandwidth_mbps",
                                    "&measure=bandwidth_mbps&to_resource_id=x"};
    struct {
        int interval_s, level_s;
    } cases[] = {{60, 60},   {600, 60},    {3600, 3600},
                 {5400, 60}, {7200, 3600}, {86400, 86400}};
    std::map<std::string, json> raw;

    auto ask = [&](const std::string &measure, int interval_s) {
        return measure + "&interval_s=" + std::to_string(interval_s);
    };
    for (const char *m : measures)
        for (auto &c : cases) {
            std::string q = ask(m, c.interval_s);
            raw[q] = r.aggregates(q, from_s, to_s);
            CHECK(raw[q]["level_s"] == 0);
            CHECK(raw[q]["quantile_error_ratio"] == 0);
            // Nothing is made yet: samples stand in for all of it.
            check_same(raw[q], r.aggregates(q + "&source=rollup", from_s, to_s));
        }
    r.roll();
    for (const char *m : measures)
        for (auto &c : cases) {
            std::string q = ask(m, c.interval_s);
            json rolled = r.aggregates(q + "&source=rollup", from_s, to_s);
            CHECK(rolled["level_s"] == c.level_s);
            CHECK(rolled["quantile_error_ratio"] == 0.01);
            check_same(raw[q], rolled);
            // An end within an hour, and within a minute.
            for (double end_s : {to_s - 1800, to_s - 5000, to_s - 61})
                check_same(r.aggregates(q + "&source=raw", from_s, end_s),
                           r.aggregates(q + "&source=rollup", from_s, end_s));
            CHECK(r.aggregates(q, from_s, to_s) == raw[q]); // auto: they are still there
        }

    // An hour that is due again is read from its samples.
    REQUIRE(r.add(r.line({{"resource_id", "h"},
                          {"observed_at", from_s + 5000.5},
                          {"cpu_available_ratio", 0.999}}))
                .status == 201);
    for (auto &c : cases) {
        std::string q = ask(measures[0], c.interval_s);
        check_same(r.aggregates(q, from_s, to_s),
                   r.aggregates(q + "&source=rollup", from_s, to_s));
    }

    // What no roll-up fits.
    json refused = r.aggregates("&source=rollup&interval_s=90", from_s, to_s, 422);
    CHECK(refused["errors"][0]["code"] == "not_aligned");
    CHECK(refused["errors"][0]["name"] == "interval_s");
    CHECK(refused["errors"][0]["detail"].get<std::string>().find("interval_s=120") !=
          std::string::npos);
    refused = r.aggregates("&source=rollup&interval_s=3600", from_s + 1, to_s, 422);
    CHECK(refused["errors"][0]["code"] == "not_aligned");
    refused = r.aggregates("&source=some", from_s, to_s, 422);
    CHECK(refused["errors"][0]["code"] == "not_a_choice");
}

TEST_CASE("when samples are gone roll-ups answer, and nothing of that time changes",
          "[rollup][api][db]")
{
    NEED_DATABASE();
    rolled_api r("gridplan_test_rollup_gone");
    double from_s = r.day_s, to_s = r.day_s + 86400;
    std::string old = r.line({{"resource_id", "h"},
                              {"observed_at", from_s + 77},
                              {"cpu_available_ratio", 0.5}});
    std::string recent = r.line({{"resource_id", "h"},
                                 {"observed_at", now_s() - 5},
                                 {"cpu_available_ratio", 0.5}});
    json raw = r.aggregates("&interval_s=3600", from_s, to_s);

    r.expire(); // nothing is made: nothing goes
    CHECK(r.aggregates("&interval_s=3600", from_s, to_s) == raw);
    r.roll();
    r.expire();
    CHECK(r.get("/v1/load-samples?resource_id=h&to=" + number(to_s))["items"].empty());
    json rolled = r.aggregates("&interval_s=3600", from_s, to_s);
    CHECK(rolled["level_s"] == 3600);
    check_same(raw, rolled);
    r.aggregates("&interval_s=90", from_s, to_s, 422);
    r.aggregates("&interval_s=3600", from_s + 30, to_s, 422);
    CHECK(r.aggregates("&interval_s=3600&source=raw", from_s, to_s)["intervals"].empty());

    // Late samples of that time are refused, by line where there are lines.
    api_reply one =
        r.a.call("POST", "/v1/load-samples", old, {{"content_type", "application/json"}});
    CHECK(one.status == 409);
    CHECK(one.json()["errors"][0]["code"] == "raw_expired");
    CHECK(one.json()["errors"][0]["pointer"] == "/observed_at");
    api_reply some = r.add(recent + old + recent);
    CHECK(some.status == 200);
    CHECK(some.json()["stored"] == 1);
    CHECK(some.json()["refused"] == 1);
    CHECK(some.json()["errors"][0]["line"] == 2);
    CHECK(some.json()["errors"][0]["code"] == "raw_expired");
    CHECK(r.add(old).status == 409);
    std::string key = "resource_id=h&observed_at=" + number(from_s + 77);
    CHECK(r.a.call("PATCH", "/v1/load-samples?" + key + "&measures=cpu_available_ratio",
                   "{\"cpu_available_ratio\":0.25}",
                   {{"content_type", "application/merge-patch+json"}})
              .status == 409);
    CHECK(r.a.call("DELETE", "/v1/load-samples?" + key).status == 409);
    CHECK(r.a.call("DELETE", "/v1/load-samples?resource_id=h&from=" + number(from_s))
              .status == 409);
    CHECK(r.a.call("DELETE", "/v1/load-samples?resource_id=h").status == 200);
    r.roll();
    check_same(raw, r.aggregates("&interval_s=3600", from_s, to_s));
}

TEST_CASE("forecasts are the same from samples and from roll-ups", "[rollup][api][db]")
{
    NEED_DATABASE();
    rolled_api r("gridplan_test_rollup_forecast");
    std::vector<json> before;
    auto ask = [&](double at_s) {
        return r.get("/v1/forecasts?resource_id=h&at=" + number(at_s))["items"];
    };
    const double when[] = {4000, 40000, 86400, 50001};

    for (double at_s : when)
        before.push_back(ask(r.day_s + at_s));
    auto check = [&](bool gone) {
        for (size_t i = 0; i < before.size(); i++) {
            json after = ask(r.day_s + when[i]);
            REQUIRE(after.size() == before[i].size());
            for (size_t k = 0; k < after.size(); k++)
                for (const char *name : {"value", "mae", "last"})
                    CHECK(after[k][name].get<double>() ==
                          Approx(before[i][k][name].get<double>())
                              .epsilon(gone ? 1e-11 : 1e-12));
        }
    };
    r.roll();
    check(false);
    r.expire();
    check(true);
}

TEST_CASE("roll-ups are listed in pages", "[rollup][api][db]")
{
    NEED_DATABASE();
    rolled_api r("gridplan_test_rollup_pages");
    std::string token;
    size_t count = 0;

    CHECK(r.get("/v1/load-rollups?resource_id=h")["items"].empty());
    r.roll();
    do {
        json page = r.get("/v1/load-rollups?resource_id=h&level_s=3600&page_size=7" +
                          (token.empty() ? "" : "&page_token=" + token));
        for (const json &row : page["items"]) {
            CHECK(row["level_s"] == 3600);
            CHECK(row["measures"].size() == (row.contains("to_resource_id") ? 1 : 2));
            CHECK(row["measures"][0]["count"] == 60);
            count++;
        }
        token = page.value("next_page_token", "");
    } while (!token.empty());
    CHECK(count == 72);
    CHECK(r.get("/v1/load-rollups?resource_id=h&level_s=86400")["items"].size() == 3);
    CHECK(
        r.get("/v1/load-rollups?resource_id=h&to_resource_id=x&level_s=60&page_size=1000"
              "&from=" +
              number(r.day_s) + "&to=" + number(r.day_s + 3600))["items"]
            .size() == 60);
    CHECK(r.get("/v1/load-rollups?resource_id=nobody")["items"].empty());
    json refused = r.get("/v1/load-rollups?level_s=61", 422);
    CHECK(refused["errors"].size() == 2);
    CHECK(refused["errors"][0]["code"] == "not_a_choice");
    CHECK(refused["errors"][0]["name"] == "level_s");
}
