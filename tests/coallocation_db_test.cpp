// coallocation_db_test.cpp - the catalogue of replicas, and history tables of
// close_to_files that are kept between requests.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <fstream>

extern "C" {
#include "service/clock.h"
#include "service/store_coallocation.h"
}

using nlohmann::json;

namespace
{

const char *const catalogue = "/v1/replicas";
const char *const lookups = "/v1/coallocations/replica-lookups";

// A name that no other run has used.
std::string unique(const std::string &stem)
{
    static int number;

    return stem + std::to_string(getpid()) + "-" + std::to_string(number++) + "-" +
           std::to_string(clock_wall_s());
}

json answer_of(const api_reply &r, int status)
{
    INFO(r.body.substr(0, 1500));
    REQUIRE(r.status == status);
    return r.json();
}

json post(api &service, const std::string &path, const json &body, int status = 200)
{
    return answer_of(service.post(path, body.dump()), status);
}

json replica(const std::string &file, const std::string &site, double bytes)
{
    return {{"file_id", file}, {"site_id", site}, {"bytes", bytes}};
}

// The sample request, whose sites A to E get names of their own.
json sample(const std::string &prefix)
{
    std::ifstream file(GRIDPLAN_SOURCE_DIR
                       "/openapi/examples/coallocation-close_to_files.json");
    json body = json::parse(file);

    for (json &s : body["snapshot"]["sites"])
        s["id"] = prefix + s["id"].get<std::string>();
    for (json &l : body["snapshot"]["links"])
        for (const char *end : {"from_site_id", "to_site_id"})
            l[end] = prefix + l[end].get<std::string>();
    for (json &f : body["snapshot"]["files"])
        for (json &site : f["site_ids"])
            site = prefix + site.get<std::string>();
    body["snapshot"].erase("history_pairs");
    body["history_table"] = "persisted";
    return body;
}

json pair(const std::string &prefix, const std::string &execution,
          const std::string &file)
{
    return {{"execution_site_id", prefix + execution}, {"file_site_id", prefix + file}};
}

double uses(const std::string &execution, const std::string &file)
{
    test_db d;
    test_session s(d);
    std::string sql = "SELECT coalesce(sum(uses), -1) FROM co_history_pair WHERE "
                      "execution_site_id = '" +
                      execution + "' AND file_site_id = '" + file + "'";

    return query_number(s, s.a, sql.c_str());
}

} // namespace

TEST_CASE("replicas are stored, replaced, read in pages and forgotten",
          "[api][coallocation][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    // A number and a space begin a page's token too.
    std::string f = unique("2 f é/"), g = unique("g");
    json list = {replica(f, "B", 5), replica(f, "A", 4), replica(g, "A", 3),
                 replica(f, "B", 6)};

    list[3]["url"] = "gsiftp://b.example/f";
    json stored = post(service, catalogue, list, 200);
    CHECK(stored["received"] == 4);
    CHECK(stored["stored"] == 3);
    CHECK(stored["duplicates"] == 1);
    CHECK(post(service, catalogue, replica(g, "A", 7), 201)["stored"] == 1);

    json page = answer_of(
        service.get(std::string(catalogue) + "?file_id=" + f + "&page_size=1"), 200);
    REQUIRE(page["items"].size() == 1);
    CHECK(page["items"][0]["site_id"] == "A");
    CHECK(page["items"][0]["bytes"] == 4);
    CHECK(page["items"][0].contains("updated_at"));
    CHECK_FALSE(page["items"][0].contains("url"));
    page = answer_of(service.get(std::string(catalogue) + "?file_id=" + f +
                                 "&page_size=1&page_token=" +
                                 page["next_page_token"].get<std::string>()),
                     200);
    REQUIRE(page["items"].size() == 1);
    CHECK(page["items"][0]["bytes"] == 6);
    CHECK(page["items"][0]["url"] == "gsiftp://b.example/f");
    CHECK_FALSE(page.contains("next_page_token"));

    std::string files;
    std::string token;
    do { // the whole catalogue, one by one: other tests may have files in it
        page =
            answer_of(service.get(std::string(catalogue) + "?page_size=1" + token), 200);
        for (const json &r : page["items"])
            if (r["file_id"] == f || r["file_id"] == g)
                files += r["file_id"] == f ? "f" : "g";
        token = "&page_token=" + page.value("next_page_token", "");
    } while (page.contains("next_page_token"));
    CHECK(files == "ffg");

    auto forget = [&](const std::string &which) {
        return answer_of(service.call("DELETE", catalogue + which), 200)["deleted"];
    };
    CHECK(forget("?file_id=" + f + "&site_id=A") == 1);
    CHECK(forget("?file_id=" + f) == 1);
    CHECK(forget("?file_id=" + f) == 0);
    CHECK(service.call("DELETE", catalogue).status == 422);
    CHECK(post(service, lookups, {{"file_ids", {f}}})["unresolved"] == json({f}));
}

TEST_CASE("wrong replicas are refused all at once", "[api][coallocation][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    json bad = {replica("", "A", 1), replica("f", "A", -1), {{"file_id", "f"}}};
    api_reply r = service.post(catalogue, bad.dump());

    CHECK(r.status == 422);
    CHECK(r.pointers() ==
          std::vector<std::string>{"/0/file_id", "/1/bytes", "/2/site_id"});
    CHECK(service.get(std::string(catalogue) + "?page_token=x").status == 422);
}

TEST_CASE("replicas that the snapshot does not have come from the catalogue",
          "[api][coallocation][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string f = unique("f"), g = unique("g"), h = unique("h");
    json snapshot = {{"sites", {{{"id", "A"}, {"processors_idle", 0}}}},
                     {"replicas", {replica(f, "A", 1)}}};

    post(service, catalogue,
         {replica(f, "Z", 9),
          replica(g, "Z", 2),
          replica(g, "B", 2),
          {{"file_id", g}, {"site_id", "C"}}},
         201);
    json j = post(service, lookups, {{"snapshot", snapshot}, {"file_ids", {h, g, f, g}}});
    REQUIRE(j["replicas"].size() == 3);
    CHECK(j["unresolved"] == json({h}));
    CHECK(j["warnings"].empty());
    for (size_t i : {0, 2}) {
        CHECK(j["replicas"][i]["file_id"] == g);
        CHECK(j["replicas"][i]["source"] == "catalogue");
        REQUIRE(j["replicas"][i]["locations"].size() == 3);
        CHECK(j["replicas"][i]["locations"][0]["site_id"] == "B");
        CHECK(j["replicas"][i]["locations"][1]["bytes"].is_null());
        CHECK(j["replicas"][i]["locations"][2]["site_id"] == "Z");
    }
    CHECK(j["replicas"][1]["source"] == "snapshot");
    REQUIRE(j["replicas"][1]["locations"].size() == 1);
    CHECK(j["replicas"][1]["locations"][0]["site_id"] == "A");

    j = post(service, lookups, {{"file_ids", {f}}});
    CHECK(j["replicas"][0]["locations"][0]["site_id"] == "Z");
    CHECK(post(service, lookups, {{"file_ids", json::array()}})["replicas"].empty());
}

TEST_CASE("lookups and placements without a database say so", "[api][coallocation]")
{
    api service;
    json snapshot = {{"sites", {{{"id", "A"}, {"processors_idle", 0}}}}};
    json j = post(service, lookups, {{"snapshot", snapshot}, {"file_ids", {"f"}}});

    CHECK(j["unresolved"] == json({"f"}));
    post(service, lookups, {{"file_ids", {"f"}}}, 503);
    post(service, "/v1/coallocations", sample(""), 503);
    json wrong = sample("");
    wrong["history_table"] = "kept";
    post(service, "/v1/coallocations", wrong, 422);
}

TEST_CASE("a catalogue that cannot be read is a warning if there is a snapshot",
          "[api][coallocation]")
{
    api service;
    db_options away{};
    error err{};

    away.conninfo = "host=/nonexistent";
    away.pool_size = 1;
    away.connect_timeout_s = 2;
    away.wait_timeout_s = 1;
    REQUIRE(db_create(&away, &service.handle()->db, &err) == OK);
    json snapshot = {{"sites", {{{"id", "A"}, {"processors_idle", 0}}}},
                     {"replicas", {replica("f", "A", 1)}}};
    json j = post(service, lookups, {{"snapshot", snapshot}, {"file_ids", {"f", "g"}}});

    CHECK(j["replicas"].size() == 1);
    CHECK(j["unresolved"] == json({"g"}));
    REQUIRE(j["warnings"].size() == 1);
    CHECK(j["warnings"][0].get<std::string>().rfind("catalogue_unavailable", 0) == 0);
    // What has all its inputs does not ask.
    j = post(service, lookups, {{"snapshot", snapshot}, {"file_ids", {"f"}}});
    CHECK(j["warnings"].empty());
    post(service, lookups, {{"file_ids", {"f"}}}, 503);
}

TEST_CASE("a stored history table learns, by coallocation.md 6.2 example 6a",
          "[api][coallocation][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string p = unique("s");
    json body = sample(p);
    auto place = [&] { return post(service, "/v1/coallocations", body); };

    // Empty: only sites with the file, and it stays empty.
    json j = place();
    CHECK(j["status"] == "infeasible");
    CHECK(uses(p + "E", p + "A") == -1);

    // The caller gives a poor pair: 640 s, but the table learns.
    body["snapshot"]["history_pairs"] = {pair(p, "E", "A"), pair(p, "B", "C")};
    body["store"] = true;
    json first = place();
    REQUIRE(first["placements"].size() == 1);
    CHECK(first["placements"][0]["ftt_s"] == 640);
    CHECK(first["placements"][0]["history_pairs_added"] ==
          json({pair(p, "E", "A"), pair(p, "E", "D")}));
    CHECK(uses(p + "E", p + "A") == 1);
    CHECK(uses(p + "E", p + "D") == 1);
    CHECK(uses(p + "B", p + "C") == 0);

    // Now it has the better one.
    body["snapshot"].erase("history_pairs");
    j = place();
    CHECK(j["placements"][0]["ftt_s"] == 40);
    CHECK(uses(p + "E", p + "D") == 2);

    // A replay sees what the decision saw, and stores nothing.
    for (const json &made : {first, j}) {
        std::string id = made["decision_id"];
        json again = post(service, "/v1/decisions/" + id + "/replay", "");
        CHECK(again["identical"] == true);
    }
    CHECK(uses(p + "E", p + "D") == 2);

    // Each job counts.
    body["jobs"].push_back(body["jobs"][0]);
    body["jobs"][1]["id"] = "again";
    body["jobs"][1]["components"].erase(1);
    body["jobs"][1]["components"].erase(1);
    body["jobs"][1]["components"].erase(1);
    CHECK(place()["placements"].size() == 2);
    CHECK(uses(p + "E", p + "D") == 4);
}

TEST_CASE("tenants have replicas and history tables of their own", "[store][db]")
{
    NEED_DATABASE();
    store_fixture a, b;
    error &err = a.err;
    store_replica r{"f", "A", nullptr, NAN, NAN};
    store_pair_uses u{"A", "B", 1};
    const store_location *found;
    const store_pair *pairs;
    size_t count;

    REQUIRE_OK(store_replicas(a.s, a.tenant, &r, 1, &count, a.a, &err));
    REQUIRE_OK(store_history_pairs(a.s, a.tenant, &u, 1, a.a, &err));
    REQUIRE_OK(store_replicas_find(b.s, b.tenant, "[\"f\"]", &found, &count, b.a, &err));
    CHECK(count == 0);
    REQUIRE_OK(store_history_pairs_find(b.s, b.tenant, "[\"A\",\"B\"]", &pairs, &count,
                                        b.a, &err));
    CHECK(count == 0);
    REQUIRE_OK(store_history_pairs_find(a.s, a.tenant, "[\"B\",\"A\"]", &pairs, &count,
                                        a.a, &err));
    REQUIRE(count == 1);
    CHECK(pairs[0].execution == 1);
    CHECK(pairs[0].file == 0);
    REQUIRE_OK(store_replicas_delete(b.s, b.tenant, "f", nullptr, &count, &err));
    CHECK(count == 0);
}

TEST_CASE("a placement has the launch plan of its runner", "[api][coallocation]")
{
    api service;
    json body = sample("");
    body.erase("history_table");
    body["snapshot"]["sites"][3]["supports_reservation"] = true; // D
    for (const char *runner : {"DRunner", "IRunner", "KRunner"}) {
        body["jobs"][0]["runner"] = runner;
        json placed = post(service, "/v1/coallocations", body)["placements"][0];
        json plan = placed["launch_plan"];
        json launch = {{"job_id", "j"},
                       {"runner", runner},
                       {"jst_s", placed["jst_s"]},
                       {"components", json::array()}};

        CHECK(plan["runner"] == runner);
        CHECK(plan["launch_at_s"] == 1040);
        REQUIRE(plan["per_component"].size() == 4);
        CHECK(plan["per_component"][0]["claim_at_s"] == 1040); // reserved on D
        CHECK(plan["per_component"][1]["claim_at_s"] == 1030);
        // The same as by itself.
        for (const json &c : placed["components"])
            launch["components"].push_back(
                {{"id", c["component_id"]},
                 {"processors", c["processors"]},
                 {"site_id", c["site_id"]},
                 {"claim_at_s", c["site_id"] == "D" ? 1040 : 1030}});
        json alone = post(service, "/v1/coallocations/launch-plans", launch);
        for (const auto &[name, value] : plan.items())
            CHECK(alone[name] == value);
    }
    body["jobs"][0]["runner"] = "my own";
    json placed = post(service, "/v1/coallocations", body)["placements"][0];
    CHECK_FALSE(placed.contains("launch_plan"));
}
