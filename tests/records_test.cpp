// records_test.cpp - natural keys of stored records, and correcting history: POST with
// on_conflict, PATCH and DELETE; through route_answer() and PostgreSQL.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <algorithm>
#include <thread>

namespace
{
using json = nlohmann::json;
const std::map<std::string, std::string> ndjson = {
    {"content_type", "application/x-ndjson"}};
const std::map<std::string, std::string> merge_patch = {
    {"content_type", "application/merge-patch+json"}};

// A name that no other test uses.
std::string fresh(const std::string &begin)
{
    static int number;
    return begin + "-" + std::to_string(getpid()) + "-" + std::to_string(number++);
}

struct fixture : api {
    fixture() : api(test_database_url())
    {
    }
    json ask(const std::string &method, const std::string &target, const json &body,
             int status, const std::map<std::string, std::string> &headers = {})
    {
        std::string text = body.is_null()     ? ""
                           : body.is_string() ? body.get<std::string>()
                                              : body.dump();
        api_reply r = call(method, target, text, headers);
        INFO(method << " " << target << " " << text << "\n" << r.body);
        REQUIRE(r.status == status);
        return r.body.empty() ? json() : r.json();
    }
    json add(const std::string &target, const json &body, int status)
    {
        return ask("POST", target, body, status);
    }
    json patch(const std::string &target, const json &body, int status)
    {
        return ask("PATCH", target, body, status, merge_patch);
    }
    json remove(const std::string &target, int status)
    {
        return ask("DELETE", target, nullptr, status);
    }
};

// What every record can do, by one of its kind: the members of the key, and one that is
// none, with two values.
struct sample {
    const char *path, *list, *member;
    json record, first, second;
    std::string key; // of the record, as a query
};

std::string sum(const json &answer)
{
    return std::to_string(answer["received"].get<int>()) + " = " +
           std::to_string(answer["stored"].get<int>()) + " stored + " +
           std::to_string(answer["duplicates"].get<int>()) + " duplicates + " +
           std::to_string(answer["replaced"].get<int>()) + " replaced + " +
           std::to_string(answer["refused"].get<int>()) + " refused";
}

std::vector<sample> samples()
{
    std::string id = fresh("r");
    return {
        {"/v1/failures",
         "failures",
         "cause",
         {{"resource_id", id},
          {"component", "disk"},
          {"down_at", "2026-10-01T00:00:00Z"},
          {"up_at", "2026-10-01T01:00:00Z"}},
         "power",
         "network",
         "resource_id=" + id + "&component=disk&down_at=2026-10-01T00:00:00Z"},
    };
}
} // namespace

TEST_CASE("a failure that is reported three times is one", "[records][db]")
{
    NEED_DATABASE();
    fixture service;
    std::string id = fresh("m");
    json report = {{"resource_id", id},
                   {"down_at", "2026-10-01T00:00:00Z"},
                   {"up_at", "2026-10-01T02:00:00Z"}};
    std::string window = "&from=2026-09-01T00:00:00Z&to=2026-11-01T00:00:00Z";
    std::string statistics = "/v1/failures/statistics?resource_id=" + id + window;

    CHECK(sum(service.add("/v1/failures", report, 201)) ==
          "1 = 1 stored + 0 duplicates + 0 replaced + 0 refused");
    for (int i = 0; i < 2; i++)
        CHECK(sum(service.add("/v1/failures", report, 200)) ==
              "1 = 0 stored + 1 duplicates + 0 replaced + 0 refused");
    json found = service.ask("GET", statistics, nullptr, 200);
    CHECK(found["failure_count"] == 1);
    CHECK(found["outage_count"] == 1);

    report["up_at"] = "2026-10-01T03:00:00Z";
    json refused = service.add("/v1/failures", report, 422);
    CHECK(refused["errors"][0]["code"] == "conflict");
    CHECK(refused["errors"][0]["pointer"] == "");
    CHECK(sum(service.add("/v1/failures?on_conflict=keep", report, 200)) ==
          "1 = 0 stored + 1 duplicates + 0 replaced + 0 refused");
    CHECK(service.ask("GET", statistics, nullptr, 200)["mttr_s"] == 7200);
    CHECK(sum(service.add("/v1/failures?on_conflict=replace", report, 200)) ==
          "1 = 0 stored + 0 duplicates + 1 replaced + 0 refused");
    CHECK(service.ask("GET", statistics, nullptr, 200)["mttr_s"] == 10800);
    CHECK(service.ask("GET", statistics, nullptr, 200)["failure_count"] == 1);
}

TEST_CASE("each record is stored once, changed and removed by its key", "[records][db]")
{
    NEED_DATABASE();
    fixture service;

    for (const sample &s : samples())
        DYNAMIC_SECTION(s.path)
        {
            std::string path = s.path, at_key = path + "?" + s.key;
            json one = s.record, other = s.record;
            one[s.member] = s.first;
            other[s.member] = s.second;

            // The same again; one that differs, by all policies.
            CHECK(service.add(path, one, 201)["stored"] == 1);
            CHECK(service.add(path, one, 200)["duplicates"] == 1);
            CHECK(service.add(path, json::array(), 200)["received"] == 0);
            json problem = service.add(path, json::array({one, other}), 422);
            CHECK(problem["errors"].size() == 1);
            CHECK(problem["errors"][0]["pointer"] == "/1");
            CHECK(problem["errors"][0]["code"] == "conflict");
            CHECK(service.add(path + "?on_conflict=keep", other, 200)["duplicates"] == 1);
            CHECK(service.add(path + "?on_conflict=never", other,
                              422)["errors"][0]["code"] == "not_a_choice");

            // NDJSON: line by line, and 422 when no line can be stored.
            std::string lines = other.dump() + "\n" + one.dump() + "\n";
            json partial = service.ask("POST", path, lines, 200, ndjson);
            CHECK(sum(partial) == "2 = 0 stored + 1 duplicates + 0 replaced + 1 refused");
            CHECK(partial["errors"][0]["line"] == 1);
            CHECK(partial["errors"][0]["code"] == "conflict");
            problem = service.ask("POST", path, other.dump() + "\n", 422, ndjson);
            CHECK(problem["errors"][0]["line"] == 1);

            // PATCH.
            json changed = service.patch(at_key, {{s.member, s.second}}, 200);
            CHECK(changed[s.member] == s.second);
            CHECK(service.add(path, other, 200)["duplicates"] == 1);
            CHECK(service.patch(at_key, {{s.member, s.second}}, 200) == changed);
            size_t cut = s.key.find('&') == std::string::npos ? 0 : s.key.find('&') + 1;
            problem = service.patch(path + "?" + s.key.substr(cut), json::object(), 422);
            CHECK(problem["errors"][0]["code"] == "required");
            CHECK(problem["errors"][0]["in"] == "query");
            std::string member = s.key.substr(0, s.key.find('='));
            problem = service.patch(at_key, {{member, "another"}}, 422);
            CHECK(problem["errors"][0]["pointer"] == "/" + member);
            CHECK(problem["errors"][0]["code"] == "not_allowed");
            problem = service.patch(at_key, {{"no_such_member", 1}}, 422);
            CHECK(problem["errors"][0]["code"] == "unknown_member");
            service.ask("PATCH", at_key, "[]", 415,
                        {{"content_type", "application/json-patch+json"}});

            // DELETE.
            problem = service.remove(path + "?from=0&to=1", 422);
            CHECK(problem["errors"][0]["code"] == "required");
            CHECK(problem["errors"][0]["in"] == "query");
            CHECK(service.remove(at_key + "&dry_run=true", 200) == json{{"deleted", 1}});
            CHECK(service.remove(at_key + "&to=0", 200) == json{{"deleted", 0}});
            CHECK(service.remove(at_key, 200) == json{{"deleted", 1}});
            CHECK(service.remove(at_key, 200) == json{{"deleted", 0}});
            service.patch(at_key, json::object(), 404);

            // In one body: the first is stored, or the last counts.
            json both = json::array({one, other, one});
            CHECK(sum(service.add(path + "?on_conflict=keep", both, 200)) ==
                  "3 = 1 stored + 2 duplicates + 0 replaced + 0 refused");
            CHECK(sum(service.add(path + "?on_conflict=replace",
                                  json::array({one, other}), 200)) ==
                  "2 = 0 stored + 1 duplicates + 1 replaced + 0 refused");
            CHECK(service.remove(at_key, 200) == json{{"deleted", 1}});
        }
}

TEST_CASE("two writers of the same records store each once", "[records][db][threads]")
{
    NEED_DATABASE();
    fixture service;

    for (const sample &s : samples())
        DYNAMIC_SECTION(s.path)
        {
            enum { WRITERS = 4, RECORDS = 40 };
            std::string member = s.key.substr(0, s.key.find('=')), id = fresh("w");
            json list = json::array();
            for (int i = 0; i < RECORDS; i++) {
                list.push_back(s.record);
                list.back()[member] = id + std::to_string(i);
            }
            std::vector<std::thread> threads;
            std::vector<json> answers(WRITERS);
            for (int w = 0; w < WRITERS; w++)
                threads.emplace_back([&, w] {
                    json mine = list;
                    if (w % 2) // in the other order: nobody waits in a circle
                        std::reverse(mine.begin(), mine.end());
                    answers[w] = json::parse(service.post(s.path, mine.dump()).body);
                });
            for (std::thread &t : threads)
                t.join();
            int stored = 0, duplicates = 0;
            for (const json &a : answers) {
                INFO(a.dump());
                REQUIRE(a.contains("stored"));
                stored += a["stored"].get<int>();
                duplicates += a["duplicates"].get<int>();
            }
            CHECK(stored == RECORDS);
            CHECK(duplicates == (WRITERS - 1) * RECORDS);
        }
}

TEST_CASE("doubles of earlier times go when keys become unique", "[records][db]")
{
    NEED_DATABASE();
    own_database own("gridplan_doubles");
    test_db d(test_db_options(own.url.c_str()));
    test_session s(d);
    error err{};
    size_t applied, before = 0;

    while (!strstr(migrations[before].name, "failure_key"))
        before++;
    REQUIRE_OK(migrate_run(d, migrations, before, &applied, &err));
    REQUIRE_OK(db_execute(
        s,
        "INSERT INTO failure (tenant, resource_id, down_at, up_at, component, cause)"
        " SELECT 't', 'a', to_timestamp(100), to_timestamp(200), 'disk', 'x'"
        " FROM generate_series(1, 3);"
        "INSERT INTO failure (tenant, resource_id, down_at, up_at) VALUES"
        " ('t', 'b', to_timestamp(100), NULL), ('t', 'b', to_timestamp(100), "
        "to_timestamp(150)),"
        " ('t', 'c', to_timestamp(100), NULL), ('u', 'c', to_timestamp(100), NULL)",
        &err));
    REQUIRE_OK(migrate_run(d, migrations, migration_count, &applied, &err));
    CHECK(query_number(s, s.a, "SELECT count(*) FROM failure") == 4);
    CHECK(query_number(s, s.a,
                       "SELECT count(*) FROM failure WHERE resource_id = 'b'"
                       " AND up_at IS NOT NULL") == 1);
    CHECK(query_number(s, s.a,
                       "SELECT count(*) FROM double_record"
                       " WHERE record ->> 'resource_id' = 'b'") == 1);
    CHECK(query_number(s, s.a, "SELECT count(*) FROM double_record") == 1);
}
