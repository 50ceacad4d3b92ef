// checkpoint_logs_test.cpp - the log of checkpoints, what is learnt from it, and
// decisions that are replayed with what they had looked up.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <algorithm>
#include <unistd.h>

extern "C" {
#include "service/clock.h"
}

using nlohmann::json;

static const char *const logs = "/v1/checkpoint-logs";
static const char *const intervals = "/v1/checkpoint-intervals";

// A name that no other run has used.
static std::string unique(const std::string &stem)
{
    static int number;

    return stem + std::to_string(getpid()) + "-" + std::to_string(number++) + "-" +
           std::to_string(clock_wall_s());
}

static json taken(const std::string &application, double at_s, double overhead_s)
{
    return {{"job_id", "j-" + application}, {"application_id", application},
            {"requested_at", at_s},         {"action", "take"},
            {"overhead_s", overhead_s},     {"interval_before_s", 600}};
}

static void store(api &service, const char *where, const json &body)
{
    api_reply r = service.post(where, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 201);
}

static json replay(api &service, const json &answer)
{
    std::string id = answer["decision_id"];
    api_reply r = service.post("/v1/decisions/" + id + "/replay", "");
    INFO(r.body);
    REQUIRE(r.status == 200);
    return r.json();
}

// Whether an I/O thread, which must not wait, answers it.
static bool answered_at_once(api &service, const json &body)
{
    std::string text = body.dump();
    test_arena a;
    message m{};
    reply r{};

    m.method = "POST";
    m.path = intervals;
    m.body = text.c_str();
    m.body_length = text.size();
    return route_answer(service.handle(), &m, nullptr, false, &r, a);
}

// ---- without a database ----

TEST_CASE("checkpoint logs are checked", "[api][checkpoint]")
{
    api service;
    using list = std::vector<std::string>;
    json good = taken("a", 1, 5);
    struct {
        json change;
        list pointers;
    } cases[] = {
        {{{"job_id", nullptr}}, {"/job_id"}},
        {{{"application_id", ""}}, {"/application_id"}},
        {{{"requested_at", 1e11}}, {"/requested_at"}},
        {{{"requested_at", "soon"}}, {"/requested_at"}},
        {{{"action", "skip"}}, {"/action"}},
        {{{"action", "omit"}, {"restart_s", 1}, {"bytes", 1}, {"stored_after_s", 1}},
         {"/overhead_s", "/stored_after_s", "/restart_s", "/bytes"}},
        {{{"overhead_s", -1}, {"interval_before_s", 1e308}},
         {"/interval_before_s", "/overhead_s"}},
        {{{"bytes", "1"}, {"cost_s", 1}}, {"/bytes", "/cost_s"}},
    };
    for (auto &c : cases) {
        json body = good;
        body.update(c.change);
        api_reply r = service.post(logs, body.dump());
        INFO(body << " " << r.body);
        CHECK(r.status == 422);
        list got = r.pointers(), want = c.pointers;
        std::sort(got.begin(), got.end());
        std::sort(want.begin(), want.end());
        CHECK(got == want);
    }
    CHECK(service.post(logs, json::array({good, 1}).dump()).pointers() == list{"/1"});
    CHECK(service.post(logs, good.dump()).status == 503);
    CHECK(service.get(logs).status == 503);
    CHECK(service.get(std::string(logs) + "?from=2&to=1&page_size=0").status == 422);
}

TEST_CASE("only jobs whose overhead is to be learnt need the database",
          "[api][checkpoint]")
{
    api service;
    json body = {{"algorithm", "young"},
                 {"jobs",
                  {{{"id", "j"},
                    {"application_id", "a"},
                    {"checkpoint_overhead_s", 5},
                    {"mean_failure_interval_s", 9000}}}}};
    CHECK(answered_at_once(service, body));
    api_reply r = service.post(intervals, body.dump());
    CHECK(r.status == 200);
    CHECK_FALSE(r.json()["intervals"][0].contains("basis"));
    body["jobs"][0].erase("checkpoint_overhead_s");
    CHECK(service.post(intervals, body.dump()).status == 503);
}

// ---- with one ----

TEST_CASE("checkpoint logs are stored once, listed and paged", "[api][checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string a = unique("a"), b = unique("b");
    json list = json::array();
    for (int i = 0; i < 7; i++)
        list.push_back(taken(i < 5 ? a : b, 1.7e9 + i, i));
    list[2]["resource_id"] = a;
    list[3].update({{"action", "omit"}, {"interval_after_s", 1200}});
    list[3].erase("overhead_s");
    list[4].update({{"stored_after_s", 2}, {"restart_s", 3}, {"bytes", 4}});
    store(service, logs, list);
    api_reply again = service.post(logs, list.dump());
    CHECK(again.status == 200);
    CHECK(again.json()["duplicates"] == 7);

    auto times = [&](const std::string &query) {
        std::vector<double> got;
        std::string token;
        do {
            api_reply r = service.get(std::string(logs) + "?page_size=2&" + query +
                                      (token.empty() ? "" : "&page_token=" + token));
            INFO(r.body);
            REQUIRE(r.status == 200);
            json page = r.json();
            for (const json &log : page["items"])
                got.push_back(log.value("overhead_s", -1.0));
            token = page.value("next_page_token", "");
        } while (!token.empty());
        return got;
    };
    using numbers = std::vector<double>;
    CHECK(times("application_id=" + a) == numbers{0, 1, 2, -1, 4});
    CHECK(times("application_id=" + a + "&order=desc") == numbers{4, -1, 2, 1, 0});
    CHECK(times("application_id=" + a + "&from=1700000001&to=1700000003") ==
          numbers{1, 2});
    CHECK(times("resource_id=" + a) == numbers{2});
    CHECK(times("job_id=j-" + b + "&order=desc") == numbers{6, 5});

    json got = service.get(std::string(logs) + "?application_id=" + a).json();
    got = got["items"];
    CHECK(got[3]["action"] == "omit");
    CHECK(got[3]["interval_after_s"] == 1200);
    CHECK_FALSE(got[3].contains("bytes"));
    CHECK(got[4]["restart_s"] == 3);

    // NDJSON: the good line is stored
    std::string lines = taken(b, 1.7e9 + 50, 1).dump() + "\n{\"job_id\":\"x\"}\n";
    api_reply r =
        service.call("POST", logs, lines, {{"content_type", "application/x-ndjson"}});
    CHECK(r.status == 200);
    CHECK(r.json()["stored"] == 1);
    CHECK(r.json()["errors"][0]["line"] == 2);
}

TEST_CASE("the cost of a checkpoint is learnt from its application's logs",
          "[api][checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string known = unique("known"), bare = unique("bare"), none = unique("none");
    json list = json::array();
    for (int i = 0; i < 4; i++) { // C = 2.5, L = 10 of two, R = 30 of one
        list.push_back(taken(known, 1.7e9 + i, 1 + i));
        if (i < 2)
            list.back()["stored_after_s"] = 5 + 10 * i;
    }
    list[3]["restart_s"] = 30;
    list.push_back(taken(known, 1.7e9 + 9, 0));
    list.back()["action"] = "omit";
    list.back().erase("overhead_s");
    list.push_back(taken(bare, 1.7e9, 8));
    store(service, logs, list);

    auto job = [](const char *id, const std::string &application) {
        return json{{"id", id},
                    {"application_id", application},
                    {"mean_failure_interval_s", 9000}};
    };
    json body = {{"algorithm", "exact"},
                 {"render", {"slurm"}},
                 {"jobs", {job("a", known), job("b", bare), job("c", known)}}};
    body["jobs"][2].update({{"restart_s", 7}, {"checkpoint_latency_s", 1}});
    CHECK_FALSE(answered_at_once(service, body));
    api_reply r = service.post(intervals, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    json got = r.json()["intervals"];
    CHECK(got[0]["basis"] == json{{"checkpoint_logs", 4},
                                  {"checkpoint_overhead_s", 2.5},
                                  {"checkpoint_latency_s", 10},
                                  {"restart_s", 30}});
    CHECK(got[1]["basis"] == json{{"checkpoint_logs", 1}, {"checkpoint_overhead_s", 8}});

    // as if the jobs had said it
    json said = body;
    json figures[] = {
        {{"checkpoint_overhead_s", 2.5}, {"checkpoint_latency_s", 10}, {"restart_s", 30}},
        {{"checkpoint_overhead_s", 8}},
        {{"checkpoint_overhead_s", 2.5}}};
    for (int i = 0; i < 3; i++)
        said["jobs"][i].update(figures[i]);
    json want = service.post(intervals, said.dump()).json()["intervals"];
    for (int i = 0; i < 3; i++) {
        got[i].erase("basis");
        CHECK(got[i] == want[i]);
    }

    // a tenant's newest 1000 count; nothing is known of others
    body["jobs"].push_back(job("d", none));
    body["jobs"].push_back({{"id", "e"}, {"mean_failure_interval_s", 1}});
    r = service.post(intervals, body.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/4/checkpoint_overhead_s",
                                                   "/jobs/3/checkpoint_overhead_s"});
    CHECK(r.json()["errors"][1]["code"] == "required");
}

TEST_CASE("of many checkpoint logs the newest count", "[api][checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string application = unique("many");
    json list = json::array();
    for (int i = 0; i < 1500; i++)
        list.push_back(taken(application, 1.7e9 + i, i < 500 ? 100 : 4));
    store(service, logs, list);
    json body = {{"jobs",
                  {{{"id", "j"},
                    {"application_id", application},
                    {"mean_failure_interval_s", 9000}}}}};
    json got = service.post(intervals, body.dump()).json()["intervals"][0]["basis"];
    CHECK(got == json{{"checkpoint_logs", 1000}, {"checkpoint_overhead_s", 4}});
}

TEST_CASE("a replay decides with what was looked up", "[api][checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string a = unique("a"), b = unique("b");
    auto fail_at = [&](const std::string &id, double down_at, double up_at) {
        json body = {{"resource_id", id}, {"down_at", down_at}};
        if (up_at > 0)
            body["up_at"] = up_at;
        store(service, "/v1/failures", body);
    };
    double now_s = clock_wall_s();
    for (int i = 0; i < 6; i++)
        fail_at(a, now_s - 90000.25 + 5001.3 * i * (2 + i % 2),
                now_s - 89000.7 + 5001.3 * i * (2 + i % 2));
    fail_at(b, now_s - 5000, 0);
    store(service, logs, taken(a, now_s - 10, 3.7));

    // by the clock and the database
    json jobs = {
        {{"id", "x"}, {"resource_id", a}, {"application_id", a}},
        {{"id", "y"}, {"resource_id", b}, {"checkpoint_overhead_s", 5}},
        {{"id", "z"}, {"resource_id", unique("c")}, {"checkpoint_overhead_s", 5}}};
    json resources = {{{"id", a}, {"site_id", "s"}, {"mips_total", 100}},
                      {{"id", b}, {"site_id", "s"}, {"mips_total", 90}}};
    struct {
        const char *path;
        json body;
    } cases[] = {
        {intervals, {{"algorithm", "exact"}, {"jobs", jobs}}},
        {intervals, {{"algorithm", "weibull"}, {"jobs", {jobs[0], jobs[1]}}}},
        {"/v1/replica-counts",
         {{"algorithm", "target_success"},
          {"snapshot", {{"resources", resources}}},
          {"jobs", {{{"id", "x"}, {"length_mi", 1e6}}}}}},
        {"/v1/fault-tolerance-plans",
         {{"algorithm", "expected_time"},
          {"snapshot", {{"resources", resources}}},
          {"jobs", {{{"id", "x"}, {"length_mi", 1e6}, {"checkpoint_overhead_s", 5}}}}}},
    };
    cases[1].body["options"] = {{"site_weight", 1}};
    cases[1].body["snapshot"] = {{"resources", resources}};
    std::vector<json> made;
    for (auto &c : cases) {
        c.body["store"] = true;
        api_reply r = service.post(c.path, c.body.dump());
        INFO(r.body);
        REQUIRE(r.status == 200);
        made.push_back(r.json());
    }
    CHECK(made[0]["intervals"][0]["basis"]["checkpoint_logs"] == 1);
    CHECK(made[0]["intervals"][0]["basis"]["failures"].get<int>() >= 2);

    for (int i = 0; i < 5; i++)
        fail_at(a, now_s - 900 + 100 * i, now_s - 850 + 100 * i);
    fail_at(b, now_s - 700, now_s - 690);
    json recovery = {{"resource_id", b}, {"up_at", now_s}};
    CHECK(service.post("/v1/failures/recoveries", recovery.dump()).status == 200);
    store(service, logs, taken(a, now_s - 5, 100));
    for (size_t i = 0; i < made.size(); i++) {
        CAPTURE(cases[i].path);
        json again = replay(service, made[i]);
        CHECK(again["differences"] == json::array());
        CHECK(again["identical"] == true);
        // while a new decision is another one
        json fresh = service.post(cases[i].path, cases[i].body.dump()).json();
        for (const char *member : {"decision_id", "timings"}) {
            fresh.erase(member);
            made[i].erase(member);
        }
        if (i < 2)
            CHECK(fresh != made[i]);
    }
}

TEST_CASE("a decision that looked nothing up keeps nothing", "[api][checkpoint][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    json body = {
        {"store", true},
        {"jobs",
         {{{"id", "j"}, {"checkpoint_overhead_s", 5}, {"mean_failure_interval_s", 9}}}}};
    json made = service.post(intervals, body.dump()).json();
    std::string id = made["decision_id"];
    CHECK_FALSE(service.get("/v1/decisions/" + id).json().contains("history"));
    CHECK(replay(service, made)["identical"] == true);

    // of the clock alone: the present
    body["snapshot"]["resources"] = {{{"id", "r"}, {"failure_times_s", {1, 5e8, 1e9}}}};
    body["jobs"] = {{{"id", "j"}, {"checkpoint_overhead_s", 5}, {"resource_id", "r"}}};
    made = service.post(intervals, body.dump()).json();
    id = made["decision_id"];
    json kept = service.get("/v1/decisions/" + id).json()["history"];
    CHECK(kept["resource_histories"]["resources"] == json::array());
    CHECK(kept["resource_histories"]["now_s"].get<double>() ==
          Approx(clock_wall_s()).margin(60));
    CHECK(replay(service, made)["identical"] == true);
}

TEST_CASE("checkpoint logs and their replay bear any cap of memory",
          "[api][checkpoint][db][memory]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string a = unique("a");
    store(service, "/v1/failures",
          {{"resource_id", a}, {"down_at", 1.7e9}, {"up_at", 1.7e9 + 5}});
    store(service, logs, taken(a, 1.7e9, 2));
    json body = {{"store", true},
                 {"jobs", {{{"id", "x"}, {"resource_id", a}, {"application_id", a}}}}};
    json made = service.post(intervals, body.dump()).json();
    std::string id = made["decision_id"];
    struct {
        const char *method;
        std::string target, body;
    } cases[] = {
        {"POST", intervals, body.dump()},
        {"POST", "/v1/decisions/" + id + "/replay", ""},
        {"POST", logs, taken(a, 1.7e9 + 1, 2).dump()},
        {"GET", std::string(logs) + "?application_id=" + a, ""},
    };
    for (auto &c : cases) {
        int status = 0;
        for (size_t cap = 1024; status < 200 || status > 299; cap += 1024) {
            CAPTURE(c.target, cap, status);
            status = service.call(c.method, c.target, c.body, {}, cap).status;
            CHECK((status == 200 || status == 201 || status == 413));
            REQUIRE(cap < (size_t{1} << 22));
        }
    }
}
