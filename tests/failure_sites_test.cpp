// failure_sites_test.cpp - which hosts are of a site, and teach the others a prior.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <ctime>

namespace
{
const double begin_s = 1e9;

nlohmann::json observed(const std::string &id, const char *site)
{
    nlohmann::json o = {{"resource_id", id}, {"from_at", begin_s}};

    if (site)
        o["site_id"] = site;
    return o;
}

nlohmann::json down(const std::string &id, double from_s, double to_s, const char *site,
                    const char *kind = "failure")
{
    nlohmann::json f = {{"resource_id", id},
                        {"down_at", begin_s + from_s},
                        {"up_at", begin_s + to_s},
                        {"kind", kind}};

    if (site)
        f["site_id"] = site;
    return f;
}

// Six hosts of the site "s", known of it by observations, failures or both; and others.
void store_hosts(api &service)
{
    nlohmann::json rows = {
        down("h0", 1e5, 1.1e5, nullptr), down("h0", 5e5, 5.2e5, nullptr),
        down("h2", 5e4, 6e4, "t"), // it has moved since
        down("h2", 2e5, 2.1e5, "s"),     down("h2", 3e5, 3.2e5, nullptr),
        down("h3", 7e5, 7e5, "s"),       down("h5", 4e5, 4.5e5, "s", "maintenance"),
        down("other", 1e5, 2e5, "s"), // its observation says where it is
        down("third", 1e5, 2e5, "t"),
    };
    for (int i = 0; i < 5; i++)
        rows.push_back(down("h4", 1e5 * i + 5e4, 1e5 * i + 5.1e4, "s"));
    REQUIRE(service.post("/v1/failures", rows.dump()).status == 201);
    rows = {observed("h0", "s"), observed("h1", "s"), observed("h4", nullptr),
            observed("other", "t")};
    REQUIRE(service.post("/v1/observations", rows.dump()).status == 201);
}
} // namespace

TEST_CASE("hosts are of the site that their failures name", "[api][db]")
{
    NEED_DATABASE();
    own_database own("gridplan_failure_sites");
    api service(own.url);
    store_hosts(service);
    // k and T of h0 .. h5, and 1 / rate; prior and rates by a program of their own
    const struct {
        double kills, at_risk_s, mean_s;
    } hosts[] = {{2, 970000, 508053.3414}, {0, 1000000, 1110614.451},
                 {3, 960000, 398669.4011}, {1, 1000000, 704703.0364},
                 {5, 995000, 285497.278},  {0, 950000, 1081814.276}};
    const std::string window = "from=1000000000&to=1001000000";

    for (size_t i = 0; i < 6; i++) {
        std::string id = "h" + std::to_string(i);
        api_reply r =
            service.get("/v1/failures/statistics?" + window + "&resource_id=" + id);
        INFO(id << " " << r.body);
        REQUIRE(r.status == 200);
        nlohmann::json found = r.json();
        CHECK(found["kill_count"] == hosts[i].kills);
        CHECK(found["at_risk_s"] == hosts[i].at_risk_s);
        CHECK(found["prior"]["scope"] == "site");
        CHECK(found["prior"]["host_count"] == 6);
        CHECK(found["prior"]["shape"].get<double>() == Approx(1.73610056).epsilon(1e-5));
        CHECK(found["prior"]["rate_s"].get<double>() == Approx(928138.376).epsilon(1e-5));
        CHECK(found["mtbf_bayes_s"].get<double>() ==
              Approx(hosts[i].mean_s).epsilon(1e-6));
    }
    nlohmann::json all =
        service.get("/v1/failures/statistics?site_id=s&" + window).json();
    CHECK(all["kill_count"] == 11);
    CHECK(all["at_risk_s"] == 5875000);
    all = service.get("/v1/failures/statistics/resources?site_id=s&" + window).json();
    CHECK(all["items"].size() == 6);
}

TEST_CASE("a snapshot may name the site of hosts that nobody has seen", "[api][db]")
{
    NEED_DATABASE();
    own_database own("gridplan_failure_sites");
    api service(own.url);
    store_hosts(service);
    nlohmann::json body = {
        {"algorithm", "young"},
        {"jobs", {{{"id", "j"}, {"resource_id", "new"}, {"checkpoint_overhead_s", 60}}}},
        {"snapshot", {{"resources", {{{"id", "new"}, {"site_id", "s"}}}}}}};
    api_reply r = service.post("/v1/checkpoint-intervals", body.dump());

    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json()["intervals"][0]["basis"]["prior_scope"] == "site");
}

TEST_CASE("only a failure begins a history that nobody said the begin of", "[api][db]")
{
    NEED_DATABASE();
    own_database own("gridplan_failure_sites");
    api service(own.url);
    const double day_s = 86400, now_s = double(std::time(nullptr));
    auto statistics = [&] {
        api_reply r = service.get("/v1/failures/statistics?resource_id=m");
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json();
    };
    auto store = [&](const char *kind, double days_ago) {
        nlohmann::json row = down("m", 0, 0, nullptr, kind);
        row["down_at"] = now_s - days_ago * day_s;
        row["up_at"] = now_s - days_ago * day_s + 3600;
        REQUIRE(service.post("/v1/failures", row.dump()).status == 201);
    };

    store("maintenance", 5);
    store("degraded", 4);
    nlohmann::json found = statistics();
    CHECK(found["kill_count"] == 0);
    CHECK(found["at_risk_s"] == 0); // it was there, but who would have stored a failure?
    CHECK(found["mtbf_bayes_s"].is_null());
    nlohmann::json body = {{"algorithm", "young"}, {"options", {{"prior", "none"}}}};
    body["jobs"] = {{{"id", "j"}, {"resource_id", "m"}, {"checkpoint_overhead_s", 60}}};
    api_reply r = service.post("/v1/checkpoint-intervals", body.dump());
    INFO(r.body);
    CHECK(r.json()["intervals"][0]["reason"] == "unknown_failures");

    store("failure", 3);
    found = statistics();
    CHECK(found["kill_count"] == 0); // the condition, as without the other rows
    CHECK(found["at_risk_s"].get<double>() == Approx(3 * day_s - 3600).margin(60));
    store("maintenance", 2);
    store("failure", 1);
    found = statistics();
    CHECK(found["kill_count"] == 1);
    CHECK(found["at_risk_s"].get<double>() == Approx(3 * day_s - 3 * 3600).margin(60));
    // An explicit window wins.
    found = service
                .get("/v1/failures/statistics?resource_id=m&from=" +
                     std::to_string((long)(now_s - 6 * day_s)) +
                     "&to=" + std::to_string((long)(now_s - 3.5 * day_s)))
                .json();
    CHECK(found["kill_count"] == 0);
    CHECK(found["at_risk_s"].get<double>() == Approx(2.5 * day_s - 3600).margin(2));
}
