// claim_history_test.cpp - what became of claims, components and transfers: reported, and
// used by the decisions that ask for it.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <fstream>

extern "C" {
#include "models/claim_attempt.h"
#include "service/clock.h"
#include "service/maintenance.h"
#include "service/store_claim.h"
}

using nlohmann::json;

namespace
{

using texts = std::vector<std::string>;

const char *const attempts = "/v1/claim-attempts", *const reports = "/v1/site-errors",
                  *const moved = "/v1/transfers", *const claims = "/v1/claims",
                  *const places = "/v1/coallocations",
                  *const plans = "/v1/coallocations/reservation-plans";

// A name that no other run has used.
std::string fresh(const std::string &stem)
{
    static int number;

    return stem + std::to_string(getpid()) + "-" + std::to_string(number++) + "-" +
           std::to_string(clock_wall_s());
}

json answer_of(const api_reply &r, int status)
{
    INFO(r.body.substr(0, 2000));
    REQUIRE(r.status == status);
    return r.json();
}

json post(api &service, const std::string &path, const json &body, int status = 200)
{
    return answer_of(service.post(path, body.dump()), status);
}

json example(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/" + name + ".json");
    REQUIRE(in);
    return json::parse(in);
}

// The texts "A" to "E" wherever they are: names of this run.
json renamed(json body, const std::string &prefix)
{
    if (body.is_string() && body.get<std::string>().size() == 1)
        return prefix + body.get<std::string>();
    if (body.is_structured())
        for (auto &member : body)
            member = renamed(member, prefix);
    return body;
}

json attempt_of(const std::string &job, double at_s, const json &sites, double l,
                const char *decision)
{
    return {{"job_id", job},   {"attempted_at", at_s}, {"site_ids", sites},
            {"processors", 8}, {"l_value", l},         {"decision", decision}};
}

// A replay gives the same.
void check_replay(api &service, const json &answer)
{
    std::string id = answer["decision_id"];
    json again = post(service, "/v1/decisions/" + id + "/replay", "");

    INFO(again.dump(1));
    CHECK(again["identical"] == true);
}

bool warns(const json &answer, const std::string &of)
{
    for (const json &w : answer["warnings"])
        if (w.get<std::string>().rfind(of, 0) == 0)
            return true;
    return false;
}

// The database cannot be reached.
void lose_database(api &service)
{
    db_options away{};
    error err{};

    away.conninfo = "host=/nonexistent";
    away.pool_size = 1;
    away.connect_timeout_s = 2;
    away.wait_timeout_s = 1;
    REQUIRE(db_create(&away, &service.handle()->db, &err) == OK);
}

const double NOW_S = 1795219200; // 2026-11-21

} // namespace

// ---- reports ----

TEST_CASE("claim attempts are stored once, read in pages, filtered", "[api][claims][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string j = fresh("j"), k = fresh("k"), site = fresh("s");
    json list = {attempt_of(j, NOW_S, {"B", site, "B"}, 0.75, "wait"),
                 attempt_of(j, NOW_S + 60, {site, "B"}, 0.75, "start_all"),
                 attempt_of(k, NOW_S + 30, {"B"}, 0.5, "requeue_placement")};
    list[1]["claim_tries"] = 2;
    list[1]["fraction_f"] = 0.5;
    list[1]["ftt_s"] = 400;

    json stored = post(service, attempts, list, 201);
    CHECK(stored["stored"] == 3);
    CHECK(post(service, attempts, list, 200)["duplicates"] == 3);
    auto get = [&](const std::string &query) {
        return answer_of(service.get(std::string(attempts) + query), 200);
    };
    json page = get("?job_id=" + j + "&page_size=1");
    REQUIRE(page["items"].size() == 1);
    json first = page["items"][0];
    CHECK(first["site_ids"] == json({"B", site}));
    CHECK(first["decision"] == "wait");
    CHECK(first["claim_tries"] == 1);
    CHECK_FALSE(first.contains("ftt_s"));
    page = get("?job_id=" + j +
               "&page_size=1&page_token=" + page["next_page_token"].get<std::string>());
    CHECK(page["items"][0]["decision"] == "start_all");
    CHECK(page["items"][0]["ftt_s"] == 400);
    CHECK(page["items"][0]["claim_tries"] == 2);
    CHECK_FALSE(page.contains("next_page_token"));
    CHECK(get("?site_id=" + site)["items"].size() == 2);
    CHECK(get("?site_id=" + site + "&order=desc")["items"][0]["decision"] == "start_all");
    CHECK(get("?job_id=" + k + "&from=1795219230&to=1795219231")["items"].size() == 1);
    CHECK(get("?job_id=" + k + "&to=1795219230")["items"].empty());
    CHECK(service.get(std::string(attempts) + "?from=2&to=1").status == 422);
}

TEST_CASE("errors of sites and transfers are stored and read", "[api][claims][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string site = fresh("s"), other = fresh("t");
    json list = {{{"site_id", site}, {"observed_at", NOW_S}},
                 {{"site_id", site},
                  {"observed_at", NOW_S + 1},
                  {"error_count", 0},
                  {"start_count", 7},
                  {"job_id", "j"},
                  {"consecutive_errors", 0},
                  {"unusable", true},
                  {"message", "x"}}};

    CHECK(post(service, reports, list, 201)["stored"] == 2);
    json page = answer_of(service.get(std::string(reports) + "?site_id=" + site), 200);
    REQUIRE(page["items"].size() == 2);
    CHECK(page["items"][0]["error_count"] == 1);
    CHECK(page["items"][0]["unusable"] == false);
    CHECK(page["items"][1]["start_count"] == 7);
    CHECK(page["items"][1]["message"] == "x");
    page = answer_of(service.get(std::string(reports) + "?site_id=" + site + "&job_id=j"),
                     200);
    CHECK(page["items"].size() == 1);

    json one = {{"from_site_id", site}, {"to_site_id", other}, {"bytes", 1e9},
                {"estimated_s", 10},    {"actual_s", 20},      {"finished_at", NOW_S}};
    json two = one;
    two["file_id"] = "f";
    std::string lines = one.dump() + "\n{\"from_site_id\": 1}\n" + two.dump() + "\n";
    api_reply r =
        service.call("POST", moved, lines, {{"content_type", "application/x-ndjson"}});
    CHECK(answer_of(r, 200)["stored"] == 2);
    CHECK(r.json()["refused"] == 1);
    CHECK(r.json()["errors"][0]["line"] == 2);
    page = answer_of(service.get(std::string(moved) + "?from_site_id=" + site +
                                 "&to_site_id=" + other),
                     200);
    REQUIRE(page["items"].size() == 2);
    CHECK(page["items"][0]["actual_s"] == 20);
    // Safe to send again.
    one["job_id"] = "j";
    for (int i = 0; i < 2; i++)
        CHECK(
            service.call("POST", moved, one.dump(), {{"idempotency_key", site}}).status ==
            201);
    page = answer_of(service.get(std::string(moved) + "?from_site_id=" + site), 200);
    CHECK(page["items"].size() == 3);
    for (const char *name : {"attempt-two", "site-error-delft", "transferred-one"}) {
        json body = example(name);
        const char *path = name[0] == 'a' ? attempts : name[0] == 's' ? reports : moved;
        api_reply again = service.post(path, body.dump());
        INFO(again.body);
        CHECK((again.status == 201 || again.status == 200));
    }
}

TEST_CASE("wrong reports are refused all at once, and nothing is stored",
          "[api][claims][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string j = fresh("j");
    json bad = attempt_of(j, NOW_S, json::array(), 1.5, "perhaps");
    bad["processors"] = 0;
    bad["claim_tries"] = 0;
    bad["fraction_f"] = -1;
    json list = {attempt_of(j, NOW_S, {"A"}, 1, "wait"), bad};
    auto mistakes = [&](const char *path, const json &body) {
        api_reply r = service.post(path, body.dump());
        CHECK(r.status == 422);
        texts sorted = r.pointers();
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    };

    CHECK(mistakes(attempts, list) == texts{"/1/claim_tries", "/1/decision",
                                            "/1/fraction_f", "/1/l_value",
                                            "/1/processors"});
    json odd = attempt_of(j, 4e9, json::array(), 1, "wait");
    CHECK(mistakes(attempts, odd) == texts{"/attempted_at", "/site_ids"});
    odd["processors"] = 1.5;
    CHECK(mistakes(attempts, odd) == texts{"/processors"});
    CHECK(answer_of(service.get(std::string(attempts) + "?job_id=" + j), 200)["items"]
              .empty());
    CHECK(
        mistakes(reports, {{"site_id", ""}, {"observed_at", 4e9}, {"error_count", -1}}) ==
        texts{"/error_count", "/site_id"});
    CHECK(mistakes(reports, {{"site_id", "s"}, {"observed_at", 1}, {"error_count", 0}}) ==
          texts{"/error_count"});
    CHECK(mistakes(moved, {{"from_site_id", "a"},
                           {"to_site_id", "a"},
                           {"bytes", 1},
                           {"estimated_s", 1},
                           {"actual_s", 1},
                           {"finished_at", 1}}) == texts{"/to_site_id"});
    CHECK(mistakes(moved, {{"from_site_id", "a"}, {"bytes", -1}, {"estimated_s", 0}}) ==
          texts{"/actual_s", "/bytes", "/estimated_s", "/finished_at", "/to_site_id"});
}

TEST_CASE("tenants have reports of their own; old months go", "[store][claims][db]")
{
    NEED_DATABASE();
    store_fixture a, b;
    error &err = a.err;
    const char *const sites[] = {"A"};
    const claim_attempt try_one{"j", NOW_S, sites, 1, 1, 0.5, 1, NAN, NAN, CLAIM_FAIL};
    const store_site_error report{"A", NOW_S, 1, 2, NAN, false, nullptr, nullptr};
    const store_transfer transfer{"A", "B", nullptr, nullptr, 1, 1, exp(1), NOW_S};
    const store_claim_outcome *outcomes;
    const store_site_starts *starts;
    const store_link_bias *biases;
    size_t count;

    REQUIRE_OK(
        record_add(a.s, a.tenant, &claim_attempt_record, &try_one, 1, a.a, &err, &count));
    REQUIRE_OK(record_add(a.s, a.tenant, &site_error_record, &report, 1, a.a, &err));
    REQUIRE_OK(record_add(a.s, a.tenant, &transfer_record, &transfer, 1, a.a, &err));
    for (store_fixture *f : {&a, &b}) {
        size_t want = f == &a;
        REQUIRE_OK(store_claim_outcomes(f->s, f->tenant, "[\"A\"]", NOW_S, NOW_S + 1,
                                        &outcomes, &count, f->a, &err));
        CHECK(count == 2 * want);
        REQUIRE_OK(store_site_starts_find(f->s, f->tenant, "[\"C\",\"A\"]", NOW_S,
                                          NOW_S + 1, &starts, &count, f->a, &err));
        REQUIRE(count == 2 * want);
        if (want) {
            CHECK(starts[0].site == 1);
            CHECK(starts[0].start_count == 2);
            CHECK(std::isnan(starts[1].site));
            CHECK(starts[1].error_count == 1);
        }
        REQUIRE_OK(store_link_biases(f->s, f->tenant, "[\"B\",\"A\"]", NOW_S, NOW_S + 1,
                                     &biases, &count, f->a, &err));
        REQUIRE(count == want);
        if (want) {
            CHECK(biases[0].from == 1);
            CHECK(biases[0].to == 0);
            CHECK(biases[0].mean_log_ratio == Approx(1));
        }
    }
    REQUIRE_OK(store_claim_outcomes(a.s, a.tenant, "[\"A\",\"B\"]", NOW_S, NOW_S + 1,
                                    &outcomes, &count, a.a, &err));
    REQUIRE(count == 1); // of any sites
    CHECK_FALSE(outcomes[0].same_sites);
    CHECK(outcomes[0].step == 10);
    CHECK(outcomes[0].success_count == 0);

    maintenance_options o{};
    o.months_ahead = 1;
    o.interval_s = 3600;
    REQUIRE_OK(maintenance_run(a.d, &o, NOW_S, &err));
    for (const char *table : {"claim_attempt", "site_error", "transfer_actual"}) {
        std::string sql = "SELECT count(*) FROM " + std::string(table) +
                          "_2026_11 WHERE tenant = '" + a.tenant_text + "'";
        CHECK(query_number(a.s, a.a, sql.c_str()) == 1);
    }
    o.claim_attempt_kept_days = o.site_error_kept_days = o.transfer_kept_days = 30;
    REQUIRE_OK(maintenance_run(a.d, &o, NOW_S + 80 * 86400, &err));
    for (const char *table : {"claim_attempt", "site_error", "transfer_actual"}) {
        std::string sql = "SELECT count(*) FROM " + std::string(table);
        CHECK(query_number(a.s, a.a,
                           (sql + " WHERE tenant = '" + a.tenant_text + "'").c_str()) ==
              0);
    }
}

// ---- L ----

TEST_CASE("a claim chooses its L by the claims on its sites", "[api][claims][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string p = fresh("s");
    json list = json::array();
    auto add = [&](size_t count, const json &sites, double l, const char *decision) {
        for (size_t i = 0; i < count; i++)
            list.push_back(attempt_of(fresh("j"), NOW_S - 100, sites, l, decision));
    };
    json sites = {p + "B", p + "A"};
    add(38, sites, 0.5, "start_all");
    add(2, sites, 0.51, "requeue_placement"); // counts as 0.5
    add(80, sites, 0.75, "start_all");
    add(20, sites, 0.75, "fail");
    add(30, sites, 0.75, "wait"); // ends nothing
    add(10, sites, 1, "start_all");
    post(service, attempts, list, 201);

    json body = {{"kind", "timeline"},
                 {"jpt_s", 1000},
                 {"ftt_s", 400},
                 {"l_value", 0.25},
                 {"site_ids", {p + "A", p + "B", p + "A"}},
                 {"processors", 32},
                 {"l_choice", {{"at", NOW_S}, {"prior_weight", 0}}},
                 {"store", true}};
    json j = post(service, claims, body);
    CHECK(j["l_choice"]["basis"] == "history");
    CHECK(j["l_choice"]["l_value"] == 0.75);
    CHECK(j["l_choice"]["samples"] == 150);
    CHECK(j["l_choice"]["success_ratio"] == Approx(0.8));
    REQUIRE(j["l_choice"]["candidates"].size() == 2);
    CHECK(j["l_choice"]["candidates"][0]["success_ratio"] == Approx(0.95));
    CHECK(j["l_choice"]["candidates"][0]["cost_processor_s"] == Approx(32 * 220));
    CHECK(j["l_choice"]["candidates"][1]["cost_processor_s"] == Approx(32 * 180));
    CHECK(j["claim_times_s"] == json({1300, 1375, 1393.75, 1398.4375, 1400}));
    CHECK(j["warnings"].empty());
    check_replay(service, j);

    body["l_choice"]["requeue_cost_s"] = 2000;
    j = post(service, claims, body);
    CHECK(j["l_choice"]["l_value"] == 0.5);
    body["site_ids"] = {p + "C"}; // nobody was claimed there
    j = post(service, claims, body);
    CHECK(j["l_choice"]["basis"] == "given");
    CHECK(j["l_choice"]["l_value"] == 0.25);
    CHECK(j["l_choice"]["success_ratio"].is_null());
    CHECK(warns(j, "few_samples"));
    body["site_ids"] = json::array();
    body.erase("processors");
    api_reply r = service.post(claims, body.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers() == texts{"/site_ids", "/processors"});

    // One try: JCT is JPT + L FTT by the new L, and so are the next ones.
    json one = example("claim-incremental");
    one["job"]["components"].erase(2);
    one = renamed(one, p);
    one["job"].erase("jct_s");
    one["job"].erase("l_value");
    one["job"]["jpt_s"] = 1000;
    one["job"]["ftt_s"] = 400;
    one["options"]["t_threshold"] = 1;
    one["now_s"] = 1299;
    one["l_choice"] = {{"at", NOW_S}};
    one["store"] = true;
    j = post(service, claims, one);
    CHECK(j["l_choice"]["basis"] == "history");
    CHECK(j["l_value"] == 0.75);
    CHECK(j["decision"] == "wait");
    CHECK(j["claim_tries"] == 0);
    CHECK(j["next_jct_s"] == 1300);
    check_replay(service, j);
    one["now_s"] = 1300;
    j = post(service, claims, one);
    CHECK(j["claim_tries"] == 1);
    CHECK(j["next_jct_s"] == 1375);
    one["job"].erase("jpt_s");
    one["job"].erase("ftt_s");
    one["job"]["jst_s"] = 1400;
    r = service.post(claims, one.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers() == texts{"/job/ftt_s"});
}

TEST_CASE("without the database decisions are made without history", "[api][claims]")
{
    for (bool away : {false, true}) {
        api service;
        if (away)
            lose_database(service);
        json body = example("claim-incremental");
        body["l_choice"] = json::object();
        body["job"]["jpt_s"] = 1000;
        json j = post(service, claims, body);
        CHECK(j["decision"] == "start_all");
        CHECK(j["l_choice"]["basis"] == "given");
        CHECK(warns(j, "history_unavailable"));

        body = example("coallocation-close_to_files");
        json plain = post(service, places, body);
        CHECK_FALSE(plain.contains("history_basis"));
        body["from_history"] = {
            {"links", true}, {"transfer_bias", true}, {"idle_horizon_s", 600}};
        j = post(service, places, body);
        CHECK(j["placements"] == plain["placements"]);
        CHECK(warns(j, "history_unavailable"));

        body = example("migration-component_error");
        body["threshold_choice"] = json::object();
        j = post(service, "/v1/reschedules", body);
        CHECK(j["site_thresholds"][0]["basis"] == "option");
        CHECK(j["site_thresholds"][0]["error_threshold"] == 3);
        CHECK(warns(j, "history_unavailable"));

        body = example("reservation-plan");
        body["duration_from"] = {{"application_id", "a"}};
        j = post(service, plans, body);
        CHECK(j["duration_basis"]["basis"] == "given");
        CHECK(warns(j, "history_unavailable"));
        CHECK(j["start_s"] ==
              post(service, plans, example("reservation-plan"))["start_s"]);

        body = example("coallocation-close_to_files");
        body.erase("snapshot");
        body["snapshot_id"] = "none";
        post(service, places, body, 503);
    }
}

// ---- thresholds ----

TEST_CASE("thresholds of sites come from their reports", "[api][claims][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string bad = fresh("bad"), good = fresh("good"), few = fresh("few");
    double ago_s = 10;
    auto report = [&](const std::string &site, int errors, int starts) {
        return json{{"site_id", site},
                    {"observed_at", NOW_S - ago_s++},
                    {"error_count", errors},
                    {"start_count", starts}};
    };
    post(service, reports,
         {report(bad, 50, 20), report(bad, 10, 20), report(good, 5, 95),
          report(few, 1, 2)},
         201);
    json body = example("migration-component_error");
    auto error_at = [&](const std::string &site) {
        json at = body;
        at["job"]["components"][0]["site_id"] = site;
        at["site_error_counters"] = {{{"site_id", site}, {"consecutive_errors", 1}}};
        at["options"]["error_threshold"] = 7;
        at["threshold_choice"] = {{"at", NOW_S}, {"prior_weight", 0}};
        at["store"] = true;
        return at;
    };
    json j = post(service, "/v1/reschedules", error_at(bad));
    json row = j["site_thresholds"][0];
    CHECK(j["site_thresholds"].size() == 1);
    CHECK(row["site_id"] == bad);
    CHECK(row["samples"] == 100);
    CHECK(row["error_ratio"] == Approx(0.6));
    CHECK(row["error_threshold"] == 1);
    CHECK(j["unusable_site_ids"] == json({bad}));
    CHECK(j["notify_admin"] == true);
    check_replay(service, j);

    json mild = error_at(good);
    j = post(service, "/v1/reschedules", mild);
    CHECK(j["site_thresholds"][0]["error_threshold"] == 3);
    CHECK(j["unusable_site_ids"].empty());
    mild["site_error_counters"][0]["consecutive_errors"] = 2;
    CHECK(post(service, "/v1/reschedules", mild)["unusable_site_ids"] == json({good}));
    mild.erase("threshold_choice"); // the option again
    j = post(service, "/v1/reschedules", mild);
    CHECK(j["unusable_site_ids"].empty());
    CHECK_FALSE(j.contains("site_thresholds"));

    j = post(service, "/v1/reschedules", error_at(few));
    CHECK(j["site_thresholds"][0]["basis"] == "option");
    CHECK(j["site_thresholds"][0]["error_threshold"] == 7);
    CHECK(warns(j, "few_samples"));
    mild["threshold_choice"] = {{"confidence", 1}, {"min_samples", 0}, {"what", 1}};
    api_reply r = service.post("/v1/reschedules", mild.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers().size() == 3);
}

// ---- links, transfers, idle processors ----

TEST_CASE("links and their biases come from the history", "[api][claims][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string p = fresh("s");
    json body = renamed(example("coallocation-worst_fit"), p);
    body["jobs"] = {
        {{"id", "job"},
         {"policy", "worst_fit"},
         {"components", {{{"id", "c0"}, {"processors", 16}, {"file_id", "big"}}}}}};
    body["snapshot"]["files"] = {
        {{"id", "big"}, {"bytes", 4e9}, {"site_ids", {p + "A"}}}};
    body["store"] = true;
    json j = post(service, places, body);
    // E has most room; A to E at 50 Mbit/s.
    CHECK(j["placements"][0]["components"][0]["site_id"] == p + "E");
    CHECK(j["placements"][0]["ftt_s"] == 640);

    // Twelve buckets of 100 Mbit/s from E to A: good for A to E as well.
    json samples = json::array();
    for (int i = 1; i <= 12; i++)
        samples.push_back({{"resource_id", p + "E"},
                           {"to_resource_id", p + "A"},
                           {"observed_at", NOW_S - 600 * i},
                           {"bandwidth_mbps", 100}});
    post(service, "/v1/load-samples", samples, 201);
    body["from_history"] = {{"links", true}, {"at", NOW_S}};
    j = post(service, places, body);
    CHECK(j["placements"][0]["ftt_s"] == Approx(320));
    REQUIRE(j["history_basis"]["links"].size() == 2);
    CHECK(j["history_basis"]["links"][0]["from_site_id"] == p + "A");
    CHECK(j["history_basis"]["links"][0]["bandwidth_mbps"] == Approx(100));
    CHECK(j["history_basis"]["links"][0]["bucket_count"] == 12);
    check_replay(service, j);

    // Fifteen transfers that took twice as long, and a weight of five.
    json list = json::array();
    for (int i = 0; i < 15; i++)
        list.push_back({{"from_site_id", p + "A"},
                        {"to_site_id", p + "E"},
                        {"bytes", 1},
                        {"estimated_s", 10 + i},
                        {"actual_s", 2 * (10 + i)},
                        {"finished_at", NOW_S - 50 - i}});
    post(service, moved, list, 201);
    body["from_history"]["transfer_bias"] = true;
    j = post(service, places, body);
    CHECK(j["placements"][0]["ftt_s"] == Approx(320 * pow(2, 0.9375)));
    CHECK(j["history_basis"]["transfer_biases"][0]["factor"] == Approx(pow(2, 0.9375)));
    CHECK(j["history_basis"]["transfer_biases"][0]["transfer_count"] == 15);
    check_replay(service, j);

    // The same for estimates, claims and scans.
    json estimate = {{"snapshot", body["snapshot"]},
                     {"file_id", "big"},
                     {"execution_site_ids", {p + "E"}},
                     {"from_history", body["from_history"]}};
    j = post(service, "/v1/coallocations/transfer-estimates", estimate);
    CHECK(j["estimates"][0]["transfer_time_s"] == Approx(320 * pow(2, 0.9375)));
    json scan = {{"snapshot", body["snapshot"]},
                 {"queues", {{"low", body["jobs"]}}},
                 {"from_history", body["from_history"]},
                 {"store", true}};
    j = post(service, "/v1/queue-scans", scan);
    CHECK(j["placements"][0]["ftt_s"] == Approx(320 * pow(2, 0.9375)));
    check_replay(service, j);

    body["from_history"] = {{"links", true}, {"at", 1000}}; // long before
    j = post(service, places, body);
    CHECK(j["placements"][0]["ftt_s"] == 640);
    CHECK(warns(j, "no_history"));
    body["from_history"] = {{"idle_horizon_s", 1}, {"window_s", 0}, {"prior_weight", -1}};
    api_reply r = service.post(places, body.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers().size() == 3);
}

TEST_CASE("ties go by how likely idle processors stay", "[api][claims][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string p = fresh("s");
    json samples = json::array();
    // x falls every other 600 s, y never.
    for (int i = 1; i <= 20; i++)
        for (const char *s : {"x", "y"})
            samples.push_back({{"resource_id", p + s},
                               {"observed_at", NOW_S - 600 * i},
                               {"cpu_available_ratio", *s == 'x' && i % 2 ? 0.2 : 0.7}});
    post(service, "/v1/load-samples", samples, 201);
    json body = {{"snapshot",
                  {{"sites",
                    {{{"id", p + "w"}, {"processors_idle", 8}},
                     {{"id", p + "x"}, {"processors_idle", 8}},
                     {{"id", p + "y"}, {"processors_idle", 8}}}}}},
                 {"jobs",
                  {{{"id", "j"},
                    {"policy", "WF"},
                    {"components", {{{"id", "c"}, {"processors", 4}}}}}}},
                 {"store", true}};
    auto site = [](const json &j) {
        return j["placements"][0]["components"][0]["site_id"];
    };
    CHECK(site(post(service, places, body)) == p + "w");
    body["from_history"] = {{"idle_horizon_s", 600}, {"at", NOW_S}};
    json j = post(service, places, body);
    CHECK(site(j) == p + "y");
    REQUIRE(j["history_basis"]["idle"].size() == 2);
    for (const json &row : j["history_basis"]["idle"])
        CHECK(row["stay_ratio"] == // 19 instants: 10 of x fall
              Approx(row["site_id"] == p + "x" ? 10.0 / 21 : 20.0 / 21).margin(0.05));
    check_replay(service, j);
}

// ---- stored snapshots and history tables ----

TEST_CASE("stored snapshots do for parallel jobs", "[api][claims][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string id = fresh("lab");
    json stored = {
        {"resources",
         {{{"id", "a1"}, {"site_id", "A"}, {"n_max", 8}, {"job_count", 3}},
          {{"id", "a2"}, {"site_id", "A"}, {"n_max", 4}},
          {{"id", "b1"}, {"site_id", "B"}, {"n_max", 16}},
          {{"id", "b2"}, {"site_id", "B"}, {"n_max", 4}, {"failed", true}},
          {{"id", "lonely"}, {"n_max", 2}}}},
        {"network",
         {{"routes",
           {{{"from_site_id", "A"}, {"to_site_id", "B"}, {"bandwidth_mbps", 400}},
            {{"from_site_id", "A"}, {"to_site_id", "Z"}, {"bandwidth_mbps", 1}}}},
          {"wan_mbps", 100},
          {"wan_latency_s", 2}}},
        {"files", {{{"id", "f"}, {"bytes", 4e9}, {"site_ids", {"A"}}}}}};
    answer_of(service.post("/v1/snapshots?id=" + id, stored.dump()), 201);
    json body = {{"snapshot_id", id},
                 {"jobs",
                  {{{"id", "j"},
                    {"policy", "WF"},
                    {"components",
                     {{{"id", "c0"}, {"processors", 16}, {"file_id", "f"}},
                      {{"id", "c1"}, {"processors", 9}, {"file_id", "f"}},
                      {{"id", "c2"}, {"processors", 2}, {"file_id", "f"}}}}}}},
                 {"store", true}};
    json j = post(service, places, body);
    REQUIRE(j["placements"].size() == 1);
    json c = j["placements"][0]["components"];
    CHECK(c[0]["site_id"] == "B");
    CHECK(c[0]["transfer_time_s"] == 80);
    CHECK(c[1]["site_id"] == "A"); // 12 less 3 in use
    CHECK(c[2]["site_id"] == "lonely");
    CHECK(c[2]["transfer_time_s"] == 322);
    check_replay(service, j);
    body["jobs"][0]["components"][0]["processors"] = 21;
    CHECK(post(service, places, body)["unplaced"][0]["never_fits"] == true);
    body["jobs"][0]["components"][0]["processors"] = 18; // b2 may come back
    CHECK(post(service, places, body)["unplaced"][0]["never_fits"] == false);

    json scan = {{"snapshot_id", id}, {"queues", {{"low", body["jobs"]}}}};
    CHECK(post(service, "/v1/queue-scans", scan)["unplaced"].size() == 1);
    json claim = {
        {"snapshot_id", id},
        {"now_s", 10},
        {"job",
         {{"id", "j"},
          {"jpt_s", 0},
          {"ftt_s", 20},
          {"components", {{{"id", "c"}, {"processors", 9}, {"site_id", "A"}}}}}}};
    CHECK(post(service, claims, claim)["decision"] == "start_all");
    claim["job"]["components"][0]["processors"] = 10;
    CHECK(post(service, claims, claim)["decision"] == "wait");
    for (const char *path : {places, claims, "/v1/queue-scans"}) {
        json both = path == claims ? claim : path == places ? body : scan;
        both["snapshot"] = {{"sites", json::array()}};
        CHECK(service.post(path, both.dump()).pointers() == texts{"/snapshot_id"});
        both.erase("snapshot");
        both.erase("snapshot_id");
        CHECK(service.post(path, both.dump()).pointers() == texts{"/snapshot"});
        both["snapshot_id"] = "no such";
        CHECK(service.post(path, both.dump()).pointers() == texts{"/snapshot_id"});
    }
}

TEST_CASE("scans and claims have the stored history table", "[api][claims][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string p = fresh("s");
    json body = renamed(example("coallocation-close_to_files"), p);
    json pairs = {{{"execution_site_id", p + "E"}, {"file_site_id", p + "A"}}};
    body["snapshot"].erase("history_pairs");
    json scan = {{"now_s", 1000},
                 {"snapshot", body["snapshot"]},
                 {"queues", {{"low", body["jobs"]}}},
                 {"algorithm", "close_to_files"},
                 {"history_table", "persisted"},
                 {"store", true}};
    auto uses = [&](const std::string &execution, const std::string &file) {
        test_db d;
        test_session s(d);
        return query_number(s, s.a,
                            ("SELECT coalesce(sum(uses), -1) FROM co_history_pair WHERE "
                             "execution_site_id = '" +
                             p + execution + "' AND file_site_id = '" + p + file + "'")
                                .c_str());
    };
    // As of 6a: an empty table fails, a poor one learns.
    CHECK(post(service, "/v1/queue-scans", scan)["placements"].empty());
    scan["snapshot"]["history_pairs"] = pairs;
    json j = post(service, "/v1/queue-scans", scan);
    CHECK(j["placements"][0]["ftt_s"] == 640);
    CHECK(uses("E", "A") == 1);
    CHECK(uses("E", "D") == 1);
    check_replay(service, j);
    CHECK(uses("E", "D") == 1);
    scan["snapshot"].erase("history_pairs");
    CHECK(post(service, "/v1/queue-scans", scan)["placements"][0]["ftt_s"] == 40);
    CHECK(uses("E", "D") == 2);
    scan["history_table"] = "request"; // all pairs
    CHECK(post(service, "/v1/queue-scans", scan)["placements"][0]["ftt_s"] == 40);
    CHECK(uses("E", "D") == 2);

    // Claims: with the pair (E, D) a component moves there, without any it waits.
    std::string q = fresh("s");
    json claim = renamed(example("claim-incremental"), q);
    claim["job"]["policy"] = "close_to_files";
    claim["running_jobs"] = json::array();
    claim["history_table"] = "persisted";
    claim["store"] = true;
    j = post(service, claims, claim);
    CHECK(j["replaced_components"].empty());
    claim["snapshot"]["history_pairs"] = {
        {{"execution_site_id", q + "E"}, {"file_site_id", q + "D"}}};
    j = post(service, claims, claim);
    REQUIRE(j["replaced_components"].size() == 1);
    CHECK(j["replaced_components"][0]["site_id"] == q + "E");
    check_replay(service, j);
    claim["snapshot"].erase("history_pairs");
    j = post(service, claims, claim);
    CHECK(j["replaced_components"].size() == 1);
    std::swap(p, q);
    CHECK(uses("E", "D") == 2);
}

// ---- reservations ----

TEST_CASE("a fuzzy reservation through the API", "[api][claims]")
{
    api service;
    json body = example("reservation-plan-fuzzy");
    json j = post(service, plans, body);
    CHECK(j["algorithm"] == "fuzzy_slot");
    CHECK(j["status"] == "optimal");
    CHECK(j["start_s"] == 0);
    CHECK(j["end_s"] == Approx(140));
    CHECK(j["processors"] == 16);
    CHECK(j["cost"] == Approx(2240));
    CHECK(
        j["reservations"] ==
        json::parse(R"([{"site_id":"B","processors":16,"start_s":0,"duration_s":140}])"));
    body["fuzzy"] = {{"min_processors", 5}, {"max_processors", 20}};
    j = post(service, plans, body); // 8 and 16 of the table
    CHECK(j["processors"] == 16);
    body.erase("speedups");
    body["serial_ratio"] = 0; // twice as many, twice as fast
    j = post(service, plans, body);
    CHECK(j["processors"] == 20);
    CHECK(j["end_s"] == Approx(80));
    body["latest_end_s"] = 79;
    j = post(service, plans, body);
    CHECK(j["status"] == "infeasible");
    CHECK(j["start_s"].is_null());
    CHECK(j["reservations"].empty());
    body["latest_end_s"] = 400;
    body["fuzzy"] = {{"processor_counts", {4, 4}}, {"max_sites", 1}};
    CHECK(post(service, plans, body)["end_s"] == 400);

    auto mistakes = [&](const json &wrong) {
        api_reply r = service.post(plans, wrong.dump());
        INFO(r.body);
        CHECK(r.status == 422);
        return r.pointers();
    };
    json wrong = body;
    wrong["components"] = {{{"id", "c"}, {"site_id", "A"}, {"processors", 1}}};
    wrong["speedups"] = {{{"processors", 4}, {"speedup", 2}}};
    wrong.erase("duration_s");
    wrong["fuzzy"] = {{"processor_counts", {4}},
                      {"max_sites", 1},
                      {"criteria", {{{"criterion", "cost"}}, {{"criterion", "cost"}}}}};
    CHECK(mistakes(wrong) ==
          texts{"/fuzzy", "/duration_s", "/serial_ratio", "/fuzzy/criteria/1/criterion"});
    wrong["fuzzy"].update({{"processor_counts", {1.5}}, {"max_sites", 1.5}});
    CHECK(mistakes(wrong) == texts{"/fuzzy/max_sites", "/fuzzy/processor_counts/0"});
    wrong = body;
    wrong["fuzzy"] = json::object();
    CHECK(mistakes(wrong) == texts{"/fuzzy/min_processors"});
    wrong["fuzzy"] = {{"min_processors", 9}, {"max_processors", 8}};
    CHECK(mistakes(wrong) == texts{"/fuzzy/max_processors"});
    wrong["fuzzy"] = {{"min_processors", 1}, {"max_processors", 1025}};
    CHECK(mistakes(wrong) == texts{"/fuzzy/max_processors"});
    wrong["fuzzy"] = {{"min_processors", -1}, {"criteria", {{{"criterion", "luck"}}}}};
    CHECK(mistakes(wrong).size() == 2);
    wrong = example("reservation-plan-fuzzy");
    wrong["fuzzy"]["processor_counts"] = {4, 5};
    CHECK(mistakes(wrong) == texts{"/speedups"});
    wrong.erase("fuzzy");
    CHECK(mistakes(wrong) == texts{"/components"});
}

TEST_CASE("reservations are as long as stored executions", "[api][claims][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string app = fresh("app");
    json runs = json::array();
    auto add = [&](int processors, double run_time_s, int exit_code) {
        runs.push_back({{"execution_id", fresh("e")},
                        {"application_id", app},
                        {"started_at", NOW_S - 1000},
                        {"run_time_s", run_time_s},
                        {"processors", processors},
                        {"exit_code", exit_code}});
    };
    for (int i = 0; i <= 10; i++)
        add(16, 100 + 10 * i, 0);
    for (int i = 0; i < 5; i++)
        add(4, 390, 0);
    add(16, 9999, 1); // did not end well
    add(8, 50, 0);    // too few
    answer_of(service.post("/v1/executions", runs.dump()), 201);
    json body = example("reservation-plan-fuzzy");
    for (const char *gone : {"duration_s", "reference_processors", "speedups"})
        body.erase(gone);
    body["duration_from"] = {{"application_id", app}, {"at", NOW_S}, {"quantile", 0.9}};
    body["fuzzy"]["criteria"] = {{{"criterion", "end_s"}}};
    body["store"] = true;
    json j = post(service, plans, body);
    CHECK(j["processors"] == 16); // 8 and 32 are not known
    CHECK(j["duration_s"] == Approx(190));
    CHECK(j["duration_basis"]["basis"] == "executions");
    CHECK(j["duration_basis"]["samples"] == 11);
    check_replay(service, j);
    body["fuzzy"]["processor_counts"] = {8};
    j = post(service, plans, body);
    CHECK(j["status"] == "infeasible");
    CHECK(warns(j, "few_samples"));
    body["duration_s"] = 77;
    j = post(service, plans, body);
    CHECK(j["duration_s"] == 77);
    CHECK(j["duration_basis"]["basis"] == "given");
    body.erase("fuzzy");
    body["components"] = {{{"id", "c"}, {"site_id", "A"}, {"processors", 4}}};
    j = post(service, plans, body);
    CHECK(j["duration_s"] == 390);
    CHECK(j["cost"] == Approx(2 * 4 * 390));
    check_replay(service, j);
}
