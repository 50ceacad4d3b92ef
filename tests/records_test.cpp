// records_test.cpp - natural keys of stored records, and correcting history: POST with
// on_conflict, PATCH and DELETE; through route_answer() and PostgreSQL.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <algorithm>
#include <set>
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
    const char *path, *member;
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
    std::string id = fresh("r"), at = "2026-10-01T00:00:00Z";
    return {
        {"/v1/checkpoint-logs",
         "overhead_s",
         {{"job_id", id},
          {"application_id", id},
          {"requested_at", at},
          {"action", "take"}},
         4,
         5,
         "job_id=" + id + "&requested_at=" + at},
        {"/v1/claim-attempts",
         "decision",
         {{"job_id", id},
          {"attempted_at", at},
          {"site_ids", {"b", "a", "b"}},
          {"processors", 4},
          {"l_value", 0.5},
          {"decision", "wait"}},
         "fail",
         "start_all",
         "job_id=" + id + "&attempted_at=" + at},
        {"/v1/failures",
         "cause",
         {{"resource_id", id},
          {"component", "disk"},
          {"down_at", at},
          {"up_at", "2026-10-01T01:00:00Z"}},
         "power",
         "network",
         "resource_id=" + id + "&component=disk&down_at=" + at},
        {"/v1/load-samples",
         "latency_s",
         {{"resource_id", id}, {"observed_at", at}, {"latency_s", 1}},
         0.25,
         0.5,
         "resource_id=" + id + "&observed_at=" + at + "&measures=latency_s"},
        {"/v1/observations",
         "to_at",
         {{"resource_id", id}, {"component", "disk"}, {"from_at", at}},
         "2026-10-02T00:00:00Z",
         "2026-10-03T00:00:00Z",
         "resource_id=" + id + "&component=disk&from_at=" + at},
        {"/v1/progress-samples",
         "work_done_ref_s",
         {{"task_id", id},
          {"application_id", id},
          {"elapsed_s", 10.5},
          {"progress_ratio", 0.5}},
         4,
         5,
         "task_id=" + id + "&elapsed_s=10.5"},
        {"/v1/reschedule-events",
         "cost_s",
         {{"run_id", id},
          {"from_site_id", "a"},
          {"to_site_id", "b"},
          {"cost_s", 1},
          {"moved_at", at}},
         10,
         30,
         "run_id=" + id + "&moved_at=" + at},
        {"/v1/site-errors",
         "error_count",
         {{"site_id", id}, {"job_id", "j"}, {"observed_at", at}},
         2,
         3,
         "site_id=" + id + "&job_id=j&observed_at=" + at},
        {"/v1/transfers",
         "actual_s",
         {{"from_site_id", id},
          {"to_site_id", "b"},
          {"file_id", "f"},
          {"bytes", 1},
          {"estimated_s", 1},
          {"actual_s", 1},
          {"finished_at", at}},
         2,
         3,
         "from_site_id=" + id + "&to_site_id=b&file_id=f&finished_at=" + at},
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
    report["component"] = ""; // in the key it is none
    CHECK(sum(service.add("/v1/failures", report, 200)) ==
          "1 = 0 stored + 1 duplicates + 0 replaced + 0 refused");
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
            const std::string strict = path + "?on_conflict=refuse";
            json problem = service.add(strict, json::array({one, other}), 422);
            CHECK(problem["errors"].size() == 1);
            CHECK(problem["errors"][0]["pointer"] == "/1");
            CHECK(problem["errors"][0]["code"] == "conflict");
            CHECK(service.add(path + "?on_conflict=keep", other, 200)["duplicates"] == 1);
            CHECK(service.add(path + "?on_conflict=never", other,
                              422)["errors"][0]["code"] == "not_a_choice");

            // NDJSON: line by line, and 422 when no line can be stored.
            std::string lines = other.dump() + "\n" + one.dump() + "\n";
            json partial = service.ask("POST", strict, lines, 200, ndjson);
            CHECK(sum(partial) == "2 = 0 stored + 1 duplicates + 0 replaced + 1 refused");
            CHECK(partial["errors"][0]["line"] == 1);
            CHECK(partial["errors"][0]["code"] == "conflict");
            problem = service.ask("POST", strict, other.dump() + "\n", 422, ndjson);
            CHECK(problem["errors"][0]["line"] == 1);

            // PATCH.
            json changed = service.patch(at_key, {{s.member, s.second}}, 200);
            CHECK(changed[s.member] == s.second);
            CHECK(service.add(path, other, 200)["duplicates"] == 1);
            CHECK(service.patch(at_key, {{s.member, s.second}}, 200) == changed);
            size_t cut = s.key.find('&');
            problem = service.patch(
                cut == std::string::npos ? path : path + "?" + s.key.substr(cut + 1),
                json::object(), 422);
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

TEST_CASE("observations are corrected, and never overlap", "[records][db]")
{
    NEED_DATABASE();
    fixture service;
    std::string id = fresh("w"), path = "/v1/observations";
    auto one = [&](int from, int to) {
        json o = {{"resource_id", id}, {"from_at", from}};
        if (to)
            o["to_at"] = to;
        return o;
    };
    auto key = [&](int from) {
        return path + "?resource_id=" + id + "&from_at=" + std::to_string(from);
    };
    auto count = [&](const std::string &more) {
        return service
            .ask("GET", path + "?resource_id=" + id + more, nullptr, 200)["items"]
            .size();
    };
    service.add(path, json::array({one(100, 200), one(300, 0)}), 201);
    service.add(path, one(200, 300), 201); // touches both
    json problem = service.add(path, one(150, 160), 422);
    CHECK(problem["errors"][0]["code"] == "conflict");
    service.add(path + "?on_conflict=keep", one(50, 101), 422);
    service.add(path, one(400, 0), 422);
    CHECK(count("") == 3);
    // A part of it is another thing, and may have a time of its own.
    json part = one(150, 160);
    part["component"] = "disk";
    part["site_id"] = id;
    service.add(path, part, 201);
    CHECK(service.patch(key(150) + "&component=disk", {{"site_id", "s"}},
                        200)["component"] == "disk");
    service.patch(key(150), json::object(), 404); // the whole of it has none
    // What is sent again takes the new values; with PATCH too, but for an overlap.
    CHECK(sum(service.add(path, one(100, 180), 200)) ==
          "1 = 0 stored + 0 duplicates + 1 replaced + 0 refused");
    CHECK_FALSE(service.patch(key(200), {{"site_id", "s"}}, 200).contains("component"));
    service.patch(key(100), {{"to_at", 201}}, 422);
    service.patch(key(100), {{"to_at", nullptr}}, 422);
    service.patch(key(100), {{"to_at", 99}}, 422);
    CHECK(service.patch(key(100), {{"to_at", 200}}, 200)["to_at"] ==
          "1970-01-01T00:03:20Z");
    CHECK(count("&at=199") == 1);
    CHECK(count("&at=155") == 2);
    CHECK(count("&at=99") == 0);
    CHECK(count("&at=1000000") == 1);
    CHECK(count("&component=disk") == 1);
    CHECK(count("&site_id=s") == 2);
    CHECK(count("&from=200&to=300") == 1);
    CHECK(service.remove(key(100) + "&dry_run=true", 200)["deleted"] == 1);
    CHECK(service.remove(path + "?resource_id=" + id + "&from=200", 200)["deleted"] == 2);
    CHECK(count("") == 2);
    service.add(path, one(400, 0), 201);
}

TEST_CASE("observations that would overlap are named, all of them", "[records][db]")
{
    NEED_DATABASE();
    fixture service;
    std::string id = fresh("w"), path = "/v1/observations";
    auto one = [&](int from, int to, const std::string &component = "") {
        json o = {{"resource_id", id}, {"from_at", from}, {"to_at", to}};
        if (!component.empty())
            o["component"] = component;
        return o;
    };
    auto pointers = [&](const json &problem) {
        std::vector<std::string> list;
        for (const json &e : problem["errors"]) {
            CHECK(e["code"] == "conflict");
            CHECK(e["detail"].get<std::string>().find("would overlap") !=
                  std::string::npos);
            list.push_back(e["pointer"]);
        }
        return list;
    };
    using texts = std::vector<std::string>;
    service.add(path, json::array({one(100, 200), one(300, 400)}), 201);
    json problem = service.add(path,
                               json::array({one(200, 250), one(150, 160), one(250, 300),
                                            one(350, 500), one(350, 500, "disk")}),
                               422);
    CHECK(pointers(problem) == texts{"/1", "/3"});
    CHECK(problem["errors"][0]["detail"].get<std::string>().find(
              "from 1970-01-01T00:01:40Z on") != std::string::npos);
    CHECK(pointers(service.add(path, one(50, 101), 422)) == texts{""});
    CHECK(pointers(service.patch("/v1/observations?resource_id=" + id + "&from_at=100",
                                 {{"to_at", 301}}, 422)) == texts{"/to_at"});

    // Of lines the others are stored.
    std::string lines;
    for (const json &o : {one(200, 250), one(150, 160), one(250, 300), one(310, 320)})
        lines += o.dump() + "\n";
    json answer = service.ask("POST", path, lines, 200, ndjson);
    CHECK(answer["stored"] == 2);
    CHECK(answer["refused"] == 2);
    REQUIRE(answer["errors"].size() == 2);
    CHECK(answer["errors"][0]["line"] == 2);
    CHECK(answer["errors"][1]["line"] == 4);
    CHECK(answer["errors"][1]["pointer"] == "");
    CHECK(service.ask("GET", path + "?resource_id=" + id, nullptr, 200)["items"].size() ==
          4);
}

TEST_CASE("observations that overlap each other are named, and of lines alone refused",
          "[records][db]")
{
    NEED_DATABASE();
    fixture service;
    std::string id = fresh("w"), path = "/v1/observations";
    json list = json::array();
    for (auto [from, to] :
         {std::pair{105, 120}, {0, 100}, {30, 40}, {10, 20}, {100, 110}})
        list.push_back({{"resource_id", id}, {"from_at", from}, {"to_at", to}});
    // The third and the fourth are within the second, not within each other.
    json problem = service.add(path, list, 422);
    REQUIRE(problem["errors"].size() == 3);
    CHECK(problem["errors"][0]["pointer"] == "/0/from_at");
    CHECK(problem["errors"][1]["pointer"] == "/2/from_at");
    CHECK(problem["errors"][2]["pointer"] == "/3/from_at");

    std::string lines;
    for (const json &o : list)
        lines += o.dump() + "\n";
    json answer = service.ask("POST", path, lines, 200, ndjson);
    INFO(answer.dump());
    CHECK(answer["received"] == 5);
    CHECK(answer["stored"] == 2);
    CHECK(answer["refused"] == 3);
    REQUIRE(answer["errors"].size() == 3);
    CHECK(answer["errors"][0]["line"] == 1);
    CHECK(answer["errors"][0]["pointer"] == "/from_at");
    CHECK(answer["errors"][2]["line"] == 4);
}

TEST_CASE("a task follows its reports when they are corrected or removed",
          "[records][db]")
{
    NEED_DATABASE();
    fixture service;
    test_db d;
    test_session s(d);
    std::string id = fresh("task"), path = "/v1/progress-samples";
    auto at = [&](double elapsed_s) {
        return path + "?task_id=" + id + "&elapsed_s=" + std::to_string(elapsed_s);
    };
    auto task = [&](const char *what) {
        return query_number(s, s.a,
                            (std::string("SELECT coalesce(sum(") + what +
                             ")::float8, -1) FROM progress_task WHERE task_id = '" + id +
                             "'")
                                .c_str());
    };
    auto known = [&] {
        return service.ask("GET", "/v1/progress-applications?application_id=" + id,
                           nullptr, 200)["items"];
    };
    json list = json::array();
    for (int i = 1; i <= 4; i++)
        list.push_back({{"task_id", id},
                        {"application_id", id},
                        {"elapsed_s", 10 * i},
                        {"progress_ratio", 0.25 * i}});
    service.add(path, list, 201);
    CHECK(task("actual_ref_s") == 40);
    REQUIRE(known().size() == 1);
    CHECK(known()[0]["estimate_10_ratio"] == 1);
    CHECK(task("CASE WHEN scored_at IS NULL THEN 0 ELSE 1 END") == 1);

    // The forms of progress are of what is sent; a change is of what is stored.
    json first = service.patch(at(10), {{"progress_ratio", 0.2}}, 200);
    CHECK(first["extrapolated_ref_s"] == 50);
    CHECK(first["progress_ratio"] == 0.2);
    CHECK(task("CASE WHEN scored_at IS NULL THEN 0 ELSE 1 END") == 0);
    CHECK(known()[0]["estimate_10_ratio"] == 1.25);
    service.patch(at(10), {{"progress_ratio", 1.2}}, 422);
    service.patch(at(10), {{"simulated_s", 3}}, 422);
    service.patch(at(10), {{"elapsed_s", 11}}, 422);
    service.patch(at(10), {{"received_at", 5}}, 422);
    service.patch(at(11), json::object(), 404);

    // Sent again with other values, in another form too, it is replaced.
    CHECK(sum(service.add(path,
                          {{"task_id", id},
                           {"elapsed_s", 10},
                           {"done_count", 1},
                           {"total_count", 4},
                           {"application_id", id}},
                          200)) ==
          "1 = 0 stored + 0 duplicates + 1 replaced + 0 refused");
    CHECK(known()[0]["estimate_10_ratio"] == 1);
    service.patch(at(40), {{"actual_ref_s", 80}}, 200);
    CHECK(task("actual_ref_s") == 80);
    CHECK(known()[0]["estimate_10_ratio"] == 0.5);

    // Without its last report the task is not done; without any it is gone.
    CHECK(service.remove(at(40), 200)["deleted"] == 1);
    CHECK(task("actual_ref_s") == -1);
    CHECK(known().empty());
    CHECK(task("1") == 1);
    CHECK(service.remove(path + "?application_id=" + id, 200)["deleted"] == 3);
    CHECK(task("1") == -1);
}

TEST_CASE("two writers of overlapping observations: one stays", "[records][db][threads]")
{
    NEED_DATABASE();
    fixture service;

    for (int round = 0; round < 10; round++) {
        std::string id = fresh("both");
        std::vector<int> status(4);
        std::vector<std::thread> writers;
        for (int w = 0; w < 4; w++)
            writers.emplace_back([&, w] {
                json o = {{"resource_id", id}, {"from_at", 100 + w}, {"to_at", 200 + w}};
                status[w] = service.post("/v1/observations", o.dump()).status;
            });
        for (std::thread &t : writers)
            t.join();
        CHECK(std::count(status.begin(), status.end(), 201) == 1);
        CHECK(std::count(status.begin(), status.end(), 422) == 3);
    }
}

// Statements store 20,000 records each.
TEST_CASE("a body of many records is stored in parts, and whole", "[records][db]")
{
    fixture f;
    for (const char *path : {"/v1/failures", "/v1/observations"}) {
        bool fails = std::string(path) == "/v1/failures";
        std::string id = fresh("many"), all;
        auto row = [&](int i, int seconds) {
            return json{{"resource_id", id + std::to_string(i % 50)},
                        {fails ? "down_at" : "from_at", 1700000000 + i * 100},
                        {fails ? "up_at" : "to_at", 1700000000 + i * 100 + seconds}}
                       .dump() +
                   "\n";
        };
        for (int i = 0; i < 41000; i++)
            all += row(i, 10);
        all += row(0, 10) + row(1, 20); // again, and otherwise, in another part
        json answer =
            f.ask("POST", std::string(path) + "?on_conflict=refuse", all, 200, ndjson);
        CHECK(sum(answer) == "41002 = 41000 stored + 1 duplicates + 0 replaced + 1 "
                             "refused");
        REQUIRE(answer["errors"].size() == 1);
        CHECK(answer["errors"][0]["line"] == 41002);
        answer =
            f.ask("POST", std::string(path) + "?on_conflict=refuse", all, 200, ndjson);
        CHECK(sum(answer) == "41002 = 0 stored + 41001 duplicates + 0 replaced + 1 "
                             "refused");
        CHECK(answer["errors"][0]["line"] == 41002);
        answer = f.ask("POST", std::string(path) + "?on_conflict=replace",
                       row(40999, 10) + row(40999, 30), 200, ndjson);
        CHECK(sum(answer) == "2 = 0 stored + 1 duplicates + 1 replaced + 0 refused");
    }
}

// Two that begin alike cost the same where there are no statistics yet, and with the
// other one a new record is compared with all that have the first member of its key.
TEST_CASE("one index only begins like a key", "[records][db]")
{
    NEED_DATABASE();
    store_fixture f;

    for (const record *r :
         {&checkpoint_log_record, &claim_attempt_record, &execution_record,
          &failure_record, &load_sample_record, &progress_sample_record,
          &reschedule_event_record, &site_error_record, &transfer_record}) {
        size_t first = 0;
        while (!(r->columns[first].role & RECORD_KEY))
            first++;
        CAPTURE(r->table, r->columns[first].name);
        std::string alike =
            std::string("SELECT count(*) FROM pg_index AS i WHERE indrelid = '") +
            r->table +
            "'::regclass AND pg_get_indexdef(indexrelid, 1, true) = 'tenant'"
            " AND pg_get_indexdef(indexrelid, 2, true) = '" +
            r->columns[first].name + "'";
        CHECK(query_number(f.s, f.a, alike.c_str()) == 1);
    }
}

TEST_CASE("so many records are removed by one call, and more by the next",
          "[records][db]")
{
    NEED_DATABASE();
    fixture service;
    test_db d;
    test_session s(d);
    error err{};
    std::string id = fresh("site"), path = "/v1/site-errors?site_id=" + id;

    REQUIRE_OK(db_execute(
        s,
        ("INSERT INTO site_error (tenant, site_id, observed_at, error_count, start_count,"
         " unusable) SELECT 'default', '" +
         id + "', to_timestamp(n), 1, 0, false FROM generate_series(1, " +
         std::to_string(RECORD_REMOVED_MAX + 3) + ") AS u (n)")
            .c_str(),
        &err));
    const json all = {{"deleted", int(RECORD_REMOVED_MAX)}, {"more", true}};
    CHECK(service.remove(path + "&dry_run=true", 200) == all);
    CHECK(service.remove(path, 200) == all);
    CHECK(service.remove(path, 200) == json{{"deleted", 3}});
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

    while (!strstr(migrations[before].path, "failure_key"))
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
        " ('t', 'c', to_timestamp(100), NULL), ('u', 'c', to_timestamp(100), NULL);"
        "INSERT INTO progress_sample (tenant, task_id, elapsed_s, progress_pct,"
        " received_at) VALUES ('t', 'k', 10, 20, to_timestamp(100)),"
        " ('t', 'k', 10, 40, to_timestamp(300)), ('t', 'k', 10, 30, to_timestamp(200)),"
        " ('t', 'k', 10, 40, to_timestamp(300)), ('t', 'k', 11, 20, to_timestamp(100))",
        &err));
    REQUIRE_OK(migrate_run(d, migrations, migration_count, &applied, &err));
    CHECK(query_number(s, s.a, "SELECT count(*) FROM failure") == 4);
    CHECK(query_number(s, s.a,
                       "SELECT count(*) FROM failure WHERE resource_id = 'b'"
                       " AND up_at IS NOT NULL") == 1);
    CHECK(query_number(s, s.a,
                       "SELECT count(*) FROM double_record"
                       " WHERE record ->> 'resource_id' = 'b'") == 1);
    CHECK(query_number(s, s.a, "SELECT count(*) FROM progress_sample") == 2);
    CHECK(query_number(s, s.a,
                       "SELECT progress_pct FROM progress_sample WHERE elapsed_s = 10") ==
          40); // the last one counted
    CHECK(query_number(s, s.a, "SELECT count(*) FROM double_record") == 3);
}

TEST_CASE("samples of other measures are other samples", "[records][db]")
{
    NEED_DATABASE();
    fixture service;
    std::string id = fresh("s"), path = "/v1/load-samples";
    json cpu = {{"resource_id", id}, {"observed_at", 1000}, {"cpu_available_ratio", 0.5}};
    json link = {{"resource_id", id}, {"observed_at", 1000}, {"latency_s", 0.5}};
    json to = link;
    to["to_resource_id"] = "b";

    CHECK(service.add(path, json::array({cpu, link, to, cpu}), 200)["stored"] == 3);
    std::string key =
        path + "?resource_id=" + id + "&observed_at=1000&measures=latency_s";
    CHECK(service.patch(key, {{"latency_s", 0.25}}, 200)["latency_s"] == 0.25);
    json problem =
        service.patch(key, {{"latency_s", nullptr}, {"bandwidth_mbps", 1}}, 422);
    CHECK(problem["errors"].size() == 2); // both measures: it would be another sample
    CHECK(problem["errors"][0]["code"] == "not_allowed");
    problem = service.remove(path + "?resource_id=" + id + "&measures=speed", 422);
    CHECK(problem["errors"][0]["code"] == "not_a_choice");
    CHECK(problem["errors"][0]["allowed"].size() == 4);
    CHECK(
        service.remove(path + "?resource_id=" + id + "&measures=latency_s,bandwidth_mbps",
                       200)["deleted"] == 0);
    CHECK(service.remove(path + "?resource_id=" + id + "&to_resource_id=b",
                         200)["deleted"] == 1);
    CHECK(service.remove(path + "?resource_id=" + id + "&from=999&to=1001",
                         200)["deleted"] == 2);
}

TEST_CASE("the mean cost of moves follows corrections", "[records][db]")
{
    NEED_DATABASE();
    fixture service;
    std::string id = fresh("run"), site = fresh("site"), path = "/v1/reschedule-events";
    auto move = [&](int number, double cost_s) {
        return json{{"run_id", id},
                    {"from_site_id", site},
                    {"to_site_id", "b"},
                    {"cost_s", cost_s},
                    {"moved_at", number * 100}};
    };
    auto mean = [&] {
        test_db d;
        test_session s(d);
        return query_number(s, s.a,
                            ("SELECT coalesce((SELECT mean_cost_s FROM reschedule_cost"
                             " WHERE from_site_id = '" +
                             site + "'), -1)")
                                .c_str());
    };

    service.add(path, json::array({move(1, 10), move(2, 20), move(3, 60)}), 201);
    CHECK(mean() == Approx(30));
    service.patch(path + "?run_id=" + id + "&moved_at=300", {{"cost_s", 90}}, 200);
    CHECK(mean() == Approx(40));
    CHECK(service.add(path + "?on_conflict=replace", move(3, 30), 200)["replaced"] == 1);
    CHECK(mean() == Approx(20));
    CHECK(service.remove(path + "?run_id=" + id + "&from=100&to=200", 200)["deleted"] ==
          1);
    CHECK(mean() == Approx(25));
    CHECK(service.remove(path + "?from_site_id=" + site, 200)["deleted"] == 2);
    CHECK(mean() == -1);
}

TEST_CASE("stored decisions can be removed", "[records][db]")
{
    NEED_DATABASE();
    fixture service;
    json body = {{"snapshot", {{"resources", {{{"id", "m"}}}}}},
                 {"jobs", {{{"id", "a"}, {"estimate_ref_s", 5}}}},
                 {"store", true}};
    std::string id = service.add("/v1/placements", body, 200)["decision_id"];
    std::string path = "/v1/decisions/" + id,
                all = "/v1/decisions?endpoint=/v1/placements";

    service.ask("GET", path, nullptr, 200);
    service.remove(path, 204);
    service.remove(path, 404);
    service.remove("/v1/decisions/none", 404);
    service.ask("GET", path, nullptr, 404);
    CHECK(service.remove("/v1/decisions", 422)["errors"][0]["code"] == "required");
    for (int i = 0; i < 2; i++)
        service.add("/v1/placements", body, 200);
    CHECK(service.remove(all + "&dry_run=true", 200)["deleted"] >= 2);
    CHECK(service.remove(all + "&to=1000", 200)["deleted"] == 0);
    CHECK(service.remove(all, 200)["deleted"] >= 2);
    CHECK(service.remove(all, 200) == json{{"deleted", 0}});
}

TEST_CASE("runs without a name get one, by which they are the same again",
          "[records][db]")
{
    NEED_DATABASE();
    fixture service;
    std::string app = fresh("nameless"), path = "/v1/executions";
    json run = {{"application_id", app}, {"started_at", 1000}, {"run_time_s", 10}};
    auto list = [&] {
        return service.ask("GET", path + "?application_id=" + app, nullptr, 200)["items"];
    };
    CHECK(service.add(path, run, 201)["stored"] == 1);
    CHECK(service.add(path, run, 200)["duplicates"] == 1);
    // Each member of its key makes it another run.
    std::vector<json> others(5, run);
    others[0]["phase_index"] = 0;
    others[1]["started_at"] = 1001;
    others[2]["problem_size"] = 7;
    others[3]["resource_id"] = "m";
    others[4]["parameters"] = {{"n", 1}};
    for (const json &other : others) {
        CHECK(service.add(path, other, 201)["stored"] == 1);
        CHECK(service.add(path, other, 200)["duplicates"] == 1);
    }
    json all = list();
    REQUIRE(all.size() == 6);
    std::set<std::string> names;
    for (const json &e : all) {
        std::string id = e["execution_id"];
        INFO(id);
        CHECK(id.size() == 36);
        CHECK(id[14] == '5'); // the version
        names.insert(id);
    }
    CHECK(names.size() == 6);
    // Another run time is a correction, not another run.
    run["run_time_s"] = 20;
    CHECK(service.add(path, run, 422)["errors"][0]["code"] == "conflict");
    CHECK(service.add(path + "?on_conflict=replace", run, 200)["replaced"] == 1);
    std::string one = path + "/" + all[0]["execution_id"].get<std::string>();
    std::string phase = all[0].contains("phase_index") ? "?phase_index=0" : "";
    CHECK(service.patch(one + phase, {{"run_time_s", 30}}, 200)["run_time_s"] == 30);
    service.remove(one + phase, 204);
    CHECK(list().size() == 5);
}

TEST_CASE("an execution is corrected by its name, and models follow", "[records][db]")
{
    NEED_DATABASE();
    fixture service;
    std::string id = fresh("app"), run = fresh("run"), path = "/v1/executions/" + run;
    json model = {{"id", id}, {"application_id", id}, {"kind", "linear"}};
    json body = {{"execution_id", run},        {"application_id", id},
                 {"started_at", 1000},         {"run_time_s", 10},
                 {"problem_size", 4},          {"processors", 2},
                 {"cpu_available_ratio", 0.5}, {"parameters", {{"n", 1}}}};
    auto learnt = [&] {
        return service.ask("GET", "/v1/models/" + id + "/samples", nullptr, 200);
    };

    service.add("/v1/models", model, 201);
    service.add("/v1/executions", body, 201);
    body["phase_index"] = 1;
    service.add("/v1/executions", body, 201);
    INFO(learnt().dump());
    REQUIRE(learnt().dump().find("\"run_time_s\":10") != std::string::npos);
    json changed =
        service.patch(path, {{"run_time_s", 20}, {"parameters", {{"m", 2}}}}, 200);
    CHECK(changed["run_time_s"] == 20);
    CHECK(changed["parameters"] == json{{"n", 1}, {"m", 2}});
    CHECK_FALSE(changed.contains("phase_index"));
    CHECK(learnt().dump().find("\"run_time_s\":20") != std::string::npos);
    CHECK(learnt().dump().find("\"run_time_s\":10") == std::string::npos);
    CHECK(service.patch(path + "?phase_index=1", {{"started_at", 2000}},
                        200)["phase_index"] == 1);
    CHECK(service.patch(path, {{"phase_index", 2}}, 422)["errors"][0]["code"] ==
          "not_allowed");
    service.patch(path, {{"run_time_s", -1}}, 422);
    service.patch(path + "?phase_index=7", json::object(), 404);
    service.remove(path, 204);
    service.remove(path, 404);
    CHECK(learnt().dump().find(run) == std::string::npos);
    service.remove(path + "?phase_index=1", 204);
}
