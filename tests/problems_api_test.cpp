// problems_api_test.cpp - what a client reads when something is wrong.
#include "tests/api.hpp"
#include "tests/examples.hpp"

#include <fstream>
#include <set>
#include <sstream>

extern "C" {
#include "service/config.h"
#include "service/problem.h"
}

TEST_CASE("two mistakes of a job: each with its hint", "[api][problem]")
{
    api service;
    auto r = service.call(
        "POST", "/v1/placements",
        R"({"snapshot":{"resources":[{"id":"m"}]},"jobs":[{"name":"a","estimate_ref_s":5}]})",
        {{"request_id", "r1"}});

    CHECK(r.status == 422);
    CHECK(r.headers["Content-Type"] == "application/problem+json");
    auto p = r.json();
    CHECK(p["type"] == "/docs/errors/invalid");
    CHECK(p["title"] == "Some values are not acceptable");
    CHECK(p["code"] == "invalid");
    CHECK(p["detail"] == "a job has no member 'name'");
    CHECK(p["instance"] == "/v1/placements");
    CHECK(p["request_id"] == "r1");
    CHECK(p["error_count"] == 2);
    CHECK(p["errors"][0]["pointer"] == "/jobs/0/name");
    CHECK(p["errors"][0]["code"] == "unknown_member");
    CHECK(p["errors"][0]["detail"] == "a job has no member 'name'");
    CHECK(p["errors"][0]["hint"] == "did you mean 'id'?");
    CHECK(p["errors"][0]["allowed"].dump() == R"(["id"])");
    CHECK(p["errors"][1]["pointer"] == "/jobs/0/id");
    CHECK(p["errors"][1]["code"] == "required");
    CHECK(p["errors"][1]["detail"] ==
          "the member is missing: the job's own name, unique in the request");
}

TEST_CASE("a path that there is not: the nearest one", "[api][problem]")
{
    api service;
    struct {
        const char *method, *path, *hint;
    } cases[] = {
        {"GET", "/v1/placement", "POST /v1/placements"},
        {"POST", "/v1/placement", "/v1/placements"},
        {"GET", "/v1/load_samples", "/v1/load-samples"},
        {"GET", "/V1/Load-Samples", "/v1/load-samples"},
        {"GET", "/v1/loadSamples", "/v1/load-samples"},
        {"GET", "/v1/algoritms", "/v1/algorithms"},
        {"GET", "/v1/decision/abc", "/v1/decisions/abc"},
        {"HEAD", "/v1/failure", "/v1/failures"},
        {"GET", "/livz", "/livez"},
        {"GET", "/v1/teapots", ""},
        {"GET", "/v1/placements/a/b/c", ""},
        {"POST", "/v1/failures/", "/v1/failures"},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.method << " " << c.path)
        {
            auto r = service.call(c.method, c.path);
            CHECK(r.status == 404);
            auto p = r.json();
            CHECK(p["errors"][0]["in"] == "path");
            CHECK(p["errors"][0].value("hint", "") == c.hint);
        }
    CHECK(service.get("/v1/placement").json()["detail"] ==
          "there is no /v1/placement; did you mean POST /v1/placements?");
}

TEST_CASE("a slash at the end leads to the path without it", "[api][problem]")
{
    api service;

    auto r = service.get("/v1/failures/?resource_id=a b&to=2026-11-22T00:00:00%2B01:00");
    CHECK(r.status == 308);
    CHECK(r.headers["Location"].find("/v1/failures?resource_id=a%20b&to=") == 0);
    CHECK(service.call("HEAD", "/v1/failures/").status == 308);
    CHECK(service.get("/v1/failures/").headers["Location"] == "/v1/failures");
    CHECK(service.get("/").status == 200);
    CHECK(service.get("//").headers["Location"] == "/");
    CHECK(service.get("/v1/teapots/").status == 404);
}

TEST_CASE("every 4xx says in errors what is wrong, and where", "[api][problem]")
{
    api service;
    struct {
        const char *method, *path, *body;
        std::map<std::string, std::string> headers;
        int status;
        const char *in, *name;
    } cases[] = {
        {"GET", "/v1/teapots", "", {}, 404, "path", "path"},
        {"DELETE", "/v1/placements", "", {}, 405, "path", "path"},
        {"POST",
         "/v1/placements",
         "{}",
         {{"content_type", "text/css"}},
         415,
         "header",
         "Content-Type"},
        {"POST",
         "/v1/placements",
         "{}",
         {{"accept", "image/png"}},
         406,
         "header",
         "Accept"},
        {"GET", "/v1/failures?page_size=0", "", {}, 422, "query", "page_size"},
        {"GET", "/v1/failures?colour=red", "", {}, 422, "query", "colour"},
        {"POST", "/v1/placements", "{", {}, 400, "", ""},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.method << " " << c.path << " " << c.status)
        {
            auto r = service.call(c.method, c.path, c.body, c.headers);
            CHECK(r.status == c.status);
            auto p = r.json();
            REQUIRE(p["errors"].size() == 1);
            CHECK(p["errors"][0].value("in", "") == c.in);
            CHECK(p["errors"][0].value("name", "") == c.name);
            CHECK(p["errors"][0].contains("pointer") == (*c.in == 0));
            CHECK(p["type"].get<std::string>() ==
                  "/docs/errors/" + p["code"].get<std::string>());
        }
    CHECK(service.get("/v1/failures?colour=red").json()["detail"] ==
          "the query of GET /v1/failures has no member 'colour'");
}

TEST_CASE("what is malformed has byte, line and column", "[api][problem]")
{
    api service;

    for (auto &c : std::vector<std::pair<std::string, std::string>>{
             {"{\"a\":1,\n \"b\"", "line 2, column 4 (byte 12)"},
             {"{}\n {}", "line 2, column 2 (byte 5)"},
             {"{\"a\":\n\"\xff\"}", "line 2, column 2 (byte 8)"}}) {
        auto r = service.post("/v1/placements", c.first);
        CHECK(r.status == 400);
        CHECK(r.json()["errors"][0]["code"] == "malformed");
        CHECK_THAT(r.json()["detail"].get<std::string>(), Catch::Contains(c.second));
    }
}

TEST_CASE("what is not UTF-8 in a request's head is malformed", "[api][problem]")
{
    api service;
    const struct {
        const char *path, *in, *name, *where;
    } cases[] = {
        {"/v1/snapshots/a\xff", "path", "path", "column 16 (byte 16)"},
        {"/v1/failures?resource_id=\xc3\xa9\xff", "query", "resource_id",
         "column 3 (byte 3)"},
        {"/v1/failures?\xed\xa0\x80=1", "query", "%ED%A0%80", "column 1 (byte 1)"},
    };

    for (const auto &c : cases) {
        auto r = service.get(c.path);
        INFO(r.body);
        CHECK(r.status == 400);
        auto mistake = r.json()["errors"][0];
        CHECK(mistake["code"] == "malformed");
        CHECK(mistake["in"] == c.in);
        CHECK(mistake["name"] == c.name);
        CHECK_THAT(mistake["detail"].get<std::string>(), Catch::Contains(c.where));
        CHECK_THAT(mistake["hint"].get<std::string>(), Catch::Contains("%C3%A9"));
    }
    auto r = service.call("POST", "/v1/placements", "{}", {{"idempotency_key", "\xff"}});
    CHECK(r.status == 400);
    CHECK(r.json()["errors"][0]["name"] == "Idempotency-Key");
}

TEST_CASE("pages of codes are whole addresses when the service knows its own",
          "[problem]")
{
    test_arena a;
    config settings{};
    error err = collecting_error(a);
    reply r{};

    settings.public_url = "https://plan.example.org";
    fail(&err, ERR_STALE, "", "changed since");
    problem_reply(&settings, &err, "/v1/snapshots/a", "r1", &r, a);
    CHECK(r.status == 412);
    auto p = nlohmann::json::parse(std::string(r.body, r.body_length));
    CHECK(p["type"] == "https://plan.example.org/docs/errors/stale");
    CHECK(p["errors"][0]["in"] == "header");
    CHECK(p["errors"][0]["name"] == "If-Match");
    CHECK(p["errors"][0]["code"] == "stale");
}

TEST_CASE("the instance of a problem is a path in UTF-8", "[api][problem]")
{
    api service;

    CHECK(service.get("/v1/sn\xff\"\xc3\xa4 x").json()["instance"] ==
          "/v1/sn%FF%22%C3%A4%20x");
}

TEST_CASE("lines of NDJSON are told by their number", "[api][problem]")
{
    api service;
    auto r = service.call("POST", "/v1/failures",
                          "{\"resource_id\":\"a\",\"down_at\":20,\"up_at\":10}\n\n[]\n{",
                          {{"content_type", "application/x-ndjson"}});

    CHECK(r.status == 422);
    auto p = r.json();
    REQUIRE(p["errors"].size() == 3);
    CHECK(p["errors"][0]["line"] == 1);
    CHECK(p["errors"][0]["pointer"] == "/up_at");
    CHECK(p["errors"][1]["line"] == 3);
    CHECK(p["errors"][1]["pointer"] == "");
    CHECK(p["errors"][2]["line"] == 4);
    CHECK(p["errors"][2]["code"] == "malformed");
}

TEST_CASE("a switch of the query needs no value", "[api][problem]")
{
    api service;

    for (const char *form : {"?verbose", "?verbose=", "?verbose=1", "?verbose=true"}) {
        auto r = service.get(std::string("/readyz") + form);
        INFO(form);
        CHECK(r.status == 200);
        CHECK(r.json().contains("database"));
    }
    for (const char *form : {"", "?verbose=0", "?verbose=false"})
        CHECK(!service.get(std::string("/readyz") + form).json().contains("database"));
    CHECK(service.get("/readyz?verbose=yes").status == 422);
}

TEST_CASE("an algorithm of another endpoint is told where it belongs", "[api][problem]")
{
    api service;
    auto p = service
                 .post("/v1/placements", R"({"algorithm":"heft","snapshot":{"resources":
                 [{"id":"m"}]},"jobs":[{"id":"a","estimate_ref_s":5}]})")
                 .json();

    CHECK(p["errors"][0]["code"] == "unknown_algorithm");
    CHECK(p["errors"][0]["hint"] == "'heft' belongs to POST /v1/workflow-schedules");
    CHECK(p["errors"][0]["allowed"].size() <= 20);
    p = service
            .post("/v1/placements", R"({"algorithm":"mim_min","snapshot":{"resources":
                 [{"id":"m"}]},"jobs":[{"id":"a","estimate_ref_s":5}]})")
            .json();
    CHECK(p["errors"][0]["hint"] == "did you mean 'min_min'?");
    CHECK(p["errors"][0]["allowed"][0] == "min_min");
    p = service
            .post("/v1/placements", R"({"algorithm":"weightedRound-Robin",
                 "snapshot":{"resources":[{"id":"m"}]},
                 "jobs":[{"id":"a","estimate_ref_s":5}]})")
            .json();
    CHECK(p["errors"][0]["hint"] ==
          "'weighted_round_robin' belongs to POST /v1/queue-scans");
}

TEST_CASE("a task may name the tasks it depends on without an object", "[api][problem]")
{
    api service;
    auto ask = [&](const std::string &depends_on) {
        auto r = service.post(
            "/v1/workflow-schedules",
            R"({"algorithm":"heft","snapshot":{"resources":[{"id":"m"}]},"workflow":{"tasks":[
            {"id":"a","estimate_ref_s":1},{"id":"b","estimate_ref_s":1,"depends_on":)" +
                depends_on + "}]}}");
        return r;
    };

    auto longer = ask(R"([{"task_id":"a"}])"), shorter = ask(R"(["a"])");
    REQUIRE(shorter.status == 200);
    CHECK(shorter.json()["objective"].dump() == longer.json()["objective"].dump());
    CHECK(ask(R"(["x"])").pointers() ==
          std::vector<std::string>{"/workflow/tasks/1/depends_on/0/task_id"});
    CHECK(ask(R"([""])").status == 422);
    CHECK(ask("[1]").status == 422);
}

TEST_CASE("the time limit in force: refused above, and told", "[api][problem]")
{
    api service;
    std::string rest = R"("snapshot":{"resources":[{"id":"m","mips_total":1}]},
        "jobs":[{"id":"a","estimate_ref_s":5}]})";
    auto r = service.post("/v1/placements", R"({"time_limit_s":3600,)" + rest);

    CHECK(r.status == 422);
    auto e = r.json()["errors"][0];
    CHECK(e["pointer"] == "/time_limit_s");
    CHECK(e["code"] == "out_of_bounds");
    CHECK(e["detail"] == "3600 is more than the 600 s that are in force here");
    CHECK(e["allowed"].dump() == "[600]");

    for (const char *given : {"{\"time_limit_s\":600,", "{"}) {
        r = service.post("/v1/placements", given + rest);
        REQUIRE(r.status == 200);
        CHECK(r.json()["timings"]["time_limit_s"] == 600);
        CHECK(r.json()["timings"]["cut"] == false);
    }
    CHECK(service.post("/v1/placements", "{\"time_limit_s\":2.5," + rest)
              .json()["timings"]["time_limit_s"] == 2.5);

    auto limits = service.get("/v1/service-info").json()["limits"];
    CHECK(limits["time_limit_max_s"] == 600);
    CHECK(limits["simulation_time_limit_s"] == 3600);
    CHECK(limits["max_body_bytes"] == 67108864);
    CHECK(limits["max_upload_bytes"] == 4294967296);
    CHECK(limits["page_size_max"] == 1000);
    CHECK(!limits.contains("rate_limit_per_s")); // there is none
}

TEST_CASE("GET /v1/errors has every code that is sent", "[api][problem]")
{
    api service;
    auto all = service.get("/v1/errors").json();
    auto has = [&](const char *list, const std::string &code) {
        for (const auto &row : all[list])
            if (row["code"] == code)
                return true;
        return false;
    };

    CHECK(has("error_codes", "invalid"));
    CHECK(has("item_codes", "unknown_member"));
    CHECK(has("warning_codes", "ignored"));
    CHECK(has("warning_codes", "cpu_below_seen"));
    for (const char *never : {"ok", "cancelled", "would_block"})
        CHECK(!has("error_codes", never));
    CHECK(all["item_codes"].size() == ITEM_CODE_COUNT);
}

// Those of a stored thing, of a header or the command line, of the load or the
// connection, or what a bound refuses first; a conflict and what is malformed are
// mistakes' codes too.
const std::set<std::string> codes_without_example = {
    "busy",
    "forbidden",
    "gone",
    "header_too_large",
    "internal",
    "invalid_availability",
    "key_reused",
    "misdirected",
    "not_aligned",
    "not_trained",
    "precondition_required",
    "quota",
    "rate_limited",
    "raw_expired",
    "slow_client",
    "still_running",
    "target_too_long",
    "too_large",
    "unauthenticated",
    "unavailable",
};

// openapi/examples/error-CODE: a request that is refused so, and one that is not. That
// the answer is the recorded one is with the tests of all examples.
TEST_CASE("every code has a request that shows it", "[api][problem]")
{
    api service;
    const auto all = service.get("/v1/errors").json();
    std::set<std::string> codes;
    size_t right_count = 0;

    for (const char *list : {"error_codes", "item_codes"})
        for (const auto &row : all[list])
            codes.insert(row["code"].get<std::string>());
    CHECK(codes.size() > ITEM_CODE_COUNT);
    for (const std::string &code : codes) {
        std::string text = example_file("error-" + code + ".answer.json");
        INFO(code);
        CHECK(text.empty() == (codes_without_example.count(code) == 1));
        if (text.empty())
            continue;
        const auto answer = nlohmann::json::parse(text);
        bool shown = answer["code"] == code;
        for (const auto &e : answer.value("errors", nlohmann::json::array()))
            shown |= e["code"] == code;
        CHECK(shown);
    }
    for (const example &e : examples()) {
        std::string right = example_file(e.name + ".right.json");
        if (right.empty())
            continue;
        auto answer = service.call(e.method, e.target, right);
        INFO(e.name << " " << answer.body.substr(0, 300));
        CHECK((answer.status == 200 || answer.status == 503)); // 503: to be stored
        right_count++;
    }
    CHECK(right_count > 40);
}

TEST_CASE("what is not stored: the tenant's nearest name", "[api][db][problem]")
{
    const char *url = getenv("GRIDPLAN_TEST_DATABASE_URL");
    REQUIRE(url);
    api service(url);

    service.call("DELETE", "/v1/snapshots/hinted-lab", "", {{"if_match", "*"}});
    REQUIRE(service.post("/v1/snapshots?id=hinted-lab", R"({"resources":[{"id":"m"}]})")
                .status == 201);
    auto r = service.get("/v1/snapshots/hinted-lob");
    CHECK(r.status == 404);
    auto e = r.json()["errors"][0];
    CHECK(e["in"] == "path");
    CHECK(e["name"] == "snapshot_id");
    CHECK(e["hint"] == "did you mean 'hinted-lab'?");

    r = service.post(
        "/v1/placements",
        R"({"snapshot_id":"hinted-lob","jobs":[{"id":"a","estimate_ref_s":5}]})");
    e = r.json()["errors"][0];
    CHECK(e["pointer"] == "/snapshot_id");
    CHECK(e["code"] == "unknown_id");
    CHECK(e["hint"] == "did you mean 'hinted-lab'?");
    CHECK(e["allowed"].dump() == R"(["hinted-lab"])");

    for (const char *path : {"/v1/workloads/nothing-near", "/v1/models/nothing-near",
                             "/v1/failure-traces/nothing-near"}) {
        r = service.get(path);
        CHECK(r.status == 404);
        e = r.json()["errors"][0];
        CHECK(e["in"] == "path");
        CHECK(!e.contains("hint"));
    }
}

TEST_CASE("a name that is none of a list: the list, nearest first", "[api][problem]")
{
    api service;
    struct {
        const char *path, *body, *pointer, *first;
    } cases[] = {
        {"/v1/simulations",
         R"({"kind":"grid","preset":"nowhere","compare":[{"algorithm":"fcfs"}]})",
         "/preset", ""},
        {"/v1/simulations",
         R"({"kind":"queue","processors":1,"jobs":[{"run_time_s":1}],"policies":["eesy"]})",
         "/policies/0", "easy"},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.body)
        {
            auto r = service.post(c.path, c.body);
            CHECK(r.status == 422);
            auto p = r.json();
            INFO(p.dump());
            CHECK(p["errors"][0]["pointer"].get<std::string>().find(c.pointer) == 0);
            CHECK(p["errors"][0]["allowed"].size() > 0);
            CHECK(p["errors"][0]["allowed"].size() <= 20);
            if (*c.first)
                CHECK(p["errors"][0]["allowed"][0] == c.first);
        }
}
