// history_api_test.cpp - what callers store and read back: load samples, failures,
// executions, snapshots, decisions; through route_answer() and PostgreSQL.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

extern "C" {
#include "service/gzip.h"
#include "service/json.h"
#include "service/uuid.h"
}

namespace
{
// ---- looking into compact JSON ----

size_t skip_string(const std::string &s, size_t i)
{
    for (i++; i < s.size() && s[i] != '"'; i++)
        i += s[i] == '\\';
    return i + 1;
}

// The end of the value that begins at i.
size_t skip(const std::string &s, size_t i)
{
    int depth = 0;

    do {
        if (s[i] == '"') {
            i = skip_string(s, i);
            continue;
        }
        depth += s[i] == '{' || s[i] == '[';
        depth -= s[i] == '}' || s[i] == ']';
        i++;
    } while (i < s.size() && (depth > 0 || !strchr(",]}:", s[i])));
    return i;
}

// The value of "a.0.b" as text; "" if there is none.
std::string at(const std::string &s, const std::string &path)
{
    std::string name = path.substr(0, path.find('.'));
    std::string rest = path.size() > name.size() ? path.substr(name.size() + 1) : "";
    size_t index = 0;

    for (size_t i = 1; i < s.size() && s[i] != '}' && s[i] != ']'; index++) {
        std::string key = std::to_string(index);

        if (s[0] == '{') {
            size_t end = skip_string(s, i);
            key = s.substr(i + 1, end - i - 2);
            i = end + 1;
        }
        size_t end = skip(s, i);
        if (key == name)
            return rest.empty() ? s.substr(i, end - i) : at(s.substr(i, end - i), rest);
        i = end + (s[end] == ',');
    }
    return "";
}

// A string value without its quotes.
std::string text_at(const std::string &s, const std::string &path)
{
    std::string value = at(s, path);

    return value.size() < 2 ? value : value.substr(1, value.size() - 2);
}

double number_at(const std::string &s, const std::string &path)
{
    std::string value = at(s, path);

    return value.empty() || value == "null" ? NAN : std::stod(value);
}

size_t size_at(const std::string &s, const std::string &path)
{
    std::string list = at(s, path);
    size_t count = 0;

    while (!list.empty() && !at(list, std::to_string(count)).empty())
        count++;
    return count;
}

// The pointers of all mistakes of a problem, in order, joined by spaces.
std::string pointers(const api_reply &r)
{
    std::string all;

    for (size_t i = 0; i < size_at(r.body, "errors"); i++) {
        std::string at = "errors." + std::to_string(i);

        all += (i ? " " : "") + (text_at(r.body, at + ".in") == "query"
                                     ? "?/" + text_at(r.body, at + ".name")
                                     : text_at(r.body, at + ".pointer"));
    }
    return all;
}

// ---- the service ----

const char *database()
{
    const char *url = getenv("GRIDPLAN_TEST_DATABASE_URL");

    if (!url)
        WARN("not run: GRIDPLAN_TEST_DATABASE_URL names no database");
    return url;
}

// A name that no other test has.
std::string unique(const std::string &stem)
{
    char id[UUID_TEXT_SIZE];

    uuid_make(id);
    return stem + "-" + id;
}

const std::map<std::string, std::string> ndjson = {
    {"content_type", "application/x-ndjson"}};

std::string json_text(const std::string &text)
{
    return "\"" + text + "\"";
}

std::string sample(const std::string &resource, double at_s, double ratio)
{
    return "{\"resource_id\":" + json_text(resource) +
           ",\"observed_at\":" + std::to_string(at_s) +
           ",\"cpu_available_ratio\":" + std::to_string(ratio) + "}";
}

// Every page of a list, by next_page_token; the ids or times of the elements.
std::vector<std::string> all_pages(api &service, const std::string &target,
                                   const std::string &list, const std::string &member)
{
    std::vector<std::string> values;
    std::string token;

    do {
        api_reply r = service.get(target + (token.empty() ? "" : "&page_token=" + token));

        REQUIRE(r.status == 200);
        token = text_at(r.body, "next_page_token");
        CHECK(r.headers.count("Link") == (token.empty() ? 0 : 1));
        for (size_t i = 0; i < size_at(r.body, list); i++)
            values.push_back(at(r.body, list + "." + std::to_string(i) + "." + member));
    } while (!token.empty() && values.size() < 10000);
    return values;
}

constexpr double T0 = 1700000000; // 2023-11-14T22:13:20Z

// Texts that hurt who pastes them into SQL, JSON or a shell.
const char *const evil[] = {
    "'; DROP TABLE load_sample; --",
    "\\\\' OR ''=''",
    "$1 %s %n",
    "\\u0027\\t\\\"x\\\"",
    "\\\\copy \\n\\\\.\\n",
    "Gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80",
};

std::string snapshot(int resources, const std::string &more = "")
{
    std::string list;

    for (int i = 0; i < resources; i++)
        list += (i ? ",{\"id\":\"r" : "{\"id\":\"r") + std::to_string(i) +
                "\",\"mips_total\":" + std::to_string(100 + i) + "}";
    return "{\"resources\":[" + list + "]" + more + "}";
}
} // namespace

// ---- without a database ----

TEST_CASE("stored data are unavailable without a database", "[api]")
{
    api service;
    struct {
        const char *method, *target, *body;
    } cases[] = {
        {"GET", "/v1/load-samples", ""},
        {"POST", "/v1/load-samples",
         "{\"resource_id\":\"a\",\"observed_at\":1,\"latency_s\":1}"},
        {"GET", "/v1/load-samples/aggregates?resource_id=a", ""},
        {"GET", "/v1/failures", ""},
        {"POST", "/v1/failures", "{\"resource_id\":\"a\",\"down_at\":1}"},
        {"POST", "/v1/failures/recoveries", "{\"resource_id\":\"a\",\"up_at\":1}"},
        {"GET", "/v1/failures/statistics", ""},
        {"GET", "/v1/observations", ""},
        {"GET", "/v1/executions", ""},
        {"POST", "/v1/executions",
         "{\"application_id\":\"a\",\"started_at\":1,\"run_time_s\":1}"},
        {"GET", "/v1/snapshots", ""},
        {"POST", "/v1/snapshots", "{\"resources\":[]}"},
        {"GET", "/v1/snapshots/a", ""},
        {"DELETE", "/v1/snapshots/a", ""},
        {"GET", "/v1/decisions", ""},
        {"GET", "/v1/decisions/a", ""},
        {"POST", "/v1/decisions/a/replay", ""},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.method << " " << c.target)
        {
            CHECK(service.call(c.method, c.target, c.body).status == 503);
        }
}

TEST_CASE("all mistakes of a query are named", "[api]")
{
    api service;
    struct {
        const char *target, *want;
    } cases[] = {
        {"/v1/load-samples?page_size=0&page_token=&order=up&colour=red",
         "?/page_size ?/page_token ?/order ?/colour"},
        {"/v1/load-samples?page_size=1001", "?/page_size"},
        {"/v1/load-samples?page_size=1&page_size=2", "?/page_size"},
        {"/v1/load-samples?page_size=ten", "?/page_size"},
        {"/v1/load-samples?from=yesterday", "?/from"},
        {"/v1/load-samples?from=20&to=10", "?/from"},
        {"/v1/load-samples?resource_id=", "?/resource_id"},
        {"/v1/load-samples/aggregates?measure=heat&interval_s=0",
         "?/measure ?/interval_s ?/resource_id"},
        {"/v1/load-samples/aggregates?resource_id=a&from=0&to=100000&interval_s=1",
         "?/interval_s"},
        {"/v1/failures?from=20&to=10", "?/from"},
        {"/v1/failures/statistics?from=20&to=10", "?/from"},
        {"/v1/executions?page_size=-1", "?/page_size"},
        {"/v1/snapshots?resource_id=a", "?/resource_id"},
        {"/v1/decisions?from=20&to=10", "?/from"},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.target)
        {
            api_reply r = service.get(c.target);

            CHECK(r.status == 422);
            CHECK(pointers(r) == c.want);
        }
}

TEST_CASE("all mistakes of a body are named", "[api]")
{
    api service;
    struct {
        const char *path, *body, *want;
    } cases[] = {
        {"/v1/load-samples", "{}", "/resource_id /observed_at"},
        {"/v1/load-samples", "{\"resource_id\":\"a\",\"observed_at\":1}", ""},
        {"/v1/load-samples",
         "[{\"resource_id\":\"a\",\"observed_at\":1},"
         "{\"resource_id\":\"a\",\"observed_at\":9e10,\"latency_s\":1}]",
         "/0 /1/observed_at"},
        {"/v1/load-samples",
         "[{\"resource_id\":\"\",\"observed_at\":\"now\",\"cpu_available_ratio\":1.5,"
         "\"latency_s\":-1,\"heat\":1},7]",
         "/0/resource_id /0/observed_at /0/cpu_available_ratio /0/latency_s /0/heat /1"},
        {"/v1/failures",
         "[{\"resource_id\":\"a\",\"down_at\":20,\"up_at\":10},"
         "{\"resource_id\":\"a\",\"down_at\":20,\"up_at\":9e10}]",
         "/0/up_at /1/up_at"},
        {"/v1/failures/recoveries", "{\"resource_id\":\"a\",\"up_at\":9e10}", "/up_at"},
        {"/v1/failures/recoveries", "{\"up\":1}", "/up /resource_id /up_at"},
        {"/v1/executions",
         "{\"application_id\":\"a\",\"started_at\":9e10,\"run_time_s\":1}",
         "/started_at"},
        {"/v1/executions",
         "{\"application_id\":\"a\",\"run_time_s\":-1,\"parameters\":[1]}",
         "/run_time_s /parameters /started_at"},
        {"/v1/executions",
         "{\"application_id\":\"a\",\"started_at\":1,\"run_time_s\":1,"
         "\"processors\":1.5,\"phase_index\":0.5,\"exit_code\":-0.5,"
         "\"model_version\":1.5}",
         "/processors /phase_index /exit_code /model_version"},
        {"/v1/executions",
         "{\"started_at\":1,\"run_time_s\":0,\"cpu_available_ratio\":0,\"processors\":0}",
         "/run_time_s /cpu_available_ratio /processors /application_id"},
        {"/v1/snapshots?id=a/b",
         "{\"resources\":[{\"id\":\"a\"},{\"id\":\"a\"}],\"x\":1}",
         "?/id /resources/1/id /x"},
        {"/v1/snapshots?id=..", "{\"resources\":[]}", "?/id"},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.path << " " << c.body)
        {
            api_reply r = service.post(c.path, c.body);

            CHECK(r.status == 422);
            CHECK(pointers(r) == c.want);
        }
}

TEST_CASE("what is not JSON is malformed", "[api]")
{
    api service;
    const char *paths[] = {"/v1/load-samples", "/v1/failures", "/v1/executions",
                           "/v1/failures/recoveries", "/v1/snapshots"};

    for (auto path : paths)
        for (auto body : {"", "{", "{} {}", "nul", "\"\\u0000\"", "[1,]"})
            DYNAMIC_SECTION(path << " " << body)
            {
                CHECK(service.post(path, body).status == 400);
            }
}

TEST_CASE("a bad line is told by its number alone", "[api]")
{
    api a;
    auto r = a.call("POST", "/v1/failures", "\n{\"resource_id\": \"\xff\"}\n",
                    {{"content_type", "application/x-ndjson"}});
    auto mistake = r.json()["errors"][0];

    CHECK(mistake["line"] == 2);
    CHECK(mistake["detail"] == "not JSON: column 18 (byte 18): bytes that are not UTF-8");
}

TEST_CASE("an NDJSON body without a good line is refused whole", "[api]")
{
    api service;
    std::string body = "{\n\n{\"resource_id\":\"a\",\"observed_at\":1}\n"
                       "{\"resource_id\":\"a\",\"observed_at\":1,\"heat\":2}\n";
    api_reply r = service.call("POST", "/v1/load-samples", body, ndjson);

    CHECK(r.status == 422);
    CHECK(pointers(r) == "  /heat");
    CHECK(text_at(r.body, "errors.0.line") != text_at(r.body, "errors.1.line"));
    CHECK(at(r.body, "errors.2.line") == "4");
}

// ---- comparing JSON ----

TEST_CASE("JSON texts are compared value by value", "[json]")
{
    struct {
        const char *left, *right, *want;
    } cases[] = {
        {"{}", "{}", ""},
        {"{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1.0}", ""},
        {"{\"a\":1}", "{\"a\":2}", "/a"},
        {"{\"a\":1}", "{\"a\":\"1\"}", "/a"},
        {"{\"a\":true}", "{\"a\":false}", "/a"},
        {"{\"a\":null}", "{}", "/a"},
        {"{}", "{\"a\":{}}", "/a"},
        {"{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":3,\"d\":4,\"b\":5}", "/a /b /d"},
        {"{\"a\":[1,2,3]}", "{\"a\":[1]}", "/a/1 /a/2"},
        {"{\"a\":[{\"x\":1},{\"x\":2}]}", "{\"a\":[{\"x\":1},{\"x\":3}]}", "/a/1/x"},
        {"{\"a/b\":{\"~\":1}}", "{\"a/b\":{\"~\":2}}", "/a~1b/~0"},
        {"{\"skip\":1,\"a\":{\"skip\":1}}", "{\"a\":{\"skip\":2}}", "/a/skip"},
        {"[1,2]", "{}", ""},
        {"1e300", "1.0e300", ""},
    };
    const char *const except[] = {"skip", nullptr};

    for (auto &c : cases)
        DYNAMIC_SECTION(c.left << " and " << c.right)
        {
            test_arena a;
            error err = collecting_error(a);
            const char *const *found;
            size_t count;
            std::string all;

            REQUIRE(json_differences(c.left, c.right, except, 10, &found, &count, a,
                                     &err) == OK);
            for (size_t i = 0; i < count; i++)
                all += (i ? " " : "") + std::string(found[i]);
            CHECK(all == c.want);
            CHECK((count == 0) == (strcmp(c.left, "[1,2]") != 0 && !*c.want));
        }
}

TEST_CASE("only so many differences are listed", "[json]")
{
    test_arena a;
    error err = collecting_error(a);
    const char *const none[] = {nullptr};
    const char *const *found;
    size_t count;

    REQUIRE(json_differences("[1,2,3,4]", "[5,6,7,8]", none, 3, &found, &count, a,
                             &err) == OK);
    CHECK(count == 3);
    CHECK(json_differences("[1", "[1]", none, 3, &found, &count, a, &err) ==
          ERR_MALFORMED);
}

TEST_CASE("a member is read as JSON text", "[json]")
{
    test_arena a;
    error err = collecting_error(a);
    const char *value;

    REQUIRE(json_member("{\"A\":1,\"a\":[1, {\"b\":null}]}", "a", &value, a, &err) == OK);
    CHECK(std::string(value) == "[1,{\"b\":null}]");
    REQUIRE(json_member("{\"A\":1}", "a", &value, a, &err) == OK);
    CHECK(value == nullptr);
}

// ---- load samples ----

TEST_CASE("load samples come back as they were stored", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("host");
    api_reply one = service.post("/v1/load-samples",
                                 "{\"resource_id\":" + json_text(id) +
                                     ",\"observed_at\":\"2023-11-14T22:13:20.25Z\","
                                     "\"cpu_available_ratio\":0.1}");
    api_reply two = service.post(
        "/v1/load-samples", "[" + sample(id, T0 + 10, 0.5) +
                                ",{\"resource_id\":" + json_text(id) +
                                ",\"to_resource_id\":\"b\",\"observed_at\":1700000020,"
                                "\"bandwidth_mbps\":1e3,\"latency_s\":0.001,"
                                "\"memory_available_bytes\":null}]");

    CHECK(one.status == 201);
    CHECK(one.body == "{\"received\":1,\"stored\":1,\"duplicates\":0,\"replaced\":0,"
                      "\"refused\":0,\"errors\":[]}");
    CHECK(two.status == 201);
    CHECK(number_at(two.body, "stored") == 2);
    CHECK(service.get("/v1/load-samples?resource_id=" + id).body ==
          "{\"items\":[{\"resource_id\":" + json_text(id) +
              ",\"observed_at\":\"2023-11-14T22:13:20.250000Z\",\"cpu_available_ratio\":"
              "0.1},"
              "{\"resource_id\":" +
              json_text(id) +
              ",\"observed_at\":\"2023-11-14T22:13:30Z\",\"cpu_available_ratio\":0.5},"
              "{\"resource_id\":" +
              json_text(id) +
              ",\"to_resource_id\":\"b\",\"observed_at\":\"2023-11-14T22:13:40Z\","
              "\"bandwidth_mbps\":1000,\"latency_s\":0.001}]}");
    CHECK(size_at(service.get("/v1/load-samples?to_resource_id=b&resource_id=" + id).body,
                  "items") == 1);
    CHECK(service.post("/v1/load-samples", "[]").status == 200);
}

TEST_CASE("one bad element keeps an array from being stored", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("host");
    api_reply r = service.post("/v1/load-samples", "[" + sample(id, T0, 0.5) + "," +
                                                       sample(id, T0 + 1e9, 0.5) + "]");

    CHECK(r.status == 422);
    CHECK(pointers(r) == "/1/observed_at");
    CHECK(size_at(service.get("/v1/load-samples?resource_id=" + id).body, "items") == 0);
}

TEST_CASE("the good lines of NDJSON are stored and the bad ones named", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("host");
    std::string body = sample(id, T0, 0.1) + "\r\n" +                // 1
                       "{\"resource_id\":" + json_text(id) + "}\n" + // 2: two mistakes
                       "\n" +                                        // 3: empty
                       sample(id, T0 + 1e9, 0.2) + "\n" +            // 4: in the future
                       "{not json\n" +                               // 5
                       "{\"resource_id\":" + json_text(id) +
                       ",\"observed_at\":5}\n" + // 6
                       sample(id, T0 + 1, 0.3);  // 7
    api_reply r = service.call("POST", "/v1/load-samples", body, ndjson);

    CHECK(r.status == 200);
    CHECK(number_at(r.body, "received") == 6);
    CHECK(number_at(r.body, "stored") == 2);
    CHECK(number_at(r.body, "refused") == 4);
    struct {
        double line;
        const char *pointer, *code;
    } want[] = {{2, "/observed_at", "required"},
                {4, "/observed_at", "in_the_future"},
                {5, "", "malformed"},
                {6, "", "no_measure"}};
    REQUIRE(size_at(r.body, "errors") == 4);
    for (size_t i = 0; i < 4; i++) {
        std::string e = at(r.body, "errors." + std::to_string(i));
        CAPTURE(e);
        CHECK(number_at(e, "line") == want[i].line);
        CHECK(text_at(e, "pointer") == want[i].pointer);
        CHECK(text_at(e, "code") == want[i].code);
    }
    CHECK(size_at(service.get("/v1/load-samples?resource_id=" + id).body, "items") == 2);
}

TEST_CASE("a hundred thousand lines are stored, and 100 mistakes listed", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("host"), body;
    for (int i = 0; i < 100000; i++)
        body += sample(id, T0 + i, i % 100 / 100.0) + "\n";
    for (int i = 0; i < 300; i++)
        body += "{\"resource_id\":1}\n";
    api_reply r = service.call("POST", "/v1/load-samples", body, ndjson);

    CHECK(r.status == 200);
    CHECK(number_at(r.body, "stored") == 100000);
    CHECK(number_at(r.body, "refused") == 300);
    CHECK(size_at(r.body, "errors") == 100);
    CHECK(number_at(r.body, "errors.0.line") == 100001);
    api_reply mean = service.get("/v1/load-samples/aggregates?resource_id=" + id +
                                 "&from=1700000000&to=1700100000&interval_s=50000");
    REQUIRE(size_at(mean.body, "intervals") == 2);
    CHECK(number_at(mean.body, "intervals.0.sample_count") == 50000);
    CHECK(number_at(mean.body, "intervals.1.mean") == Approx(0.495));
}

TEST_CASE("pages lead to the end of a list, both ways", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("host"), body;
    for (int i = 0; i < 25; i++) // some at the same instant: of other links
        body += "{\"to_resource_id\":\"" + std::string(1, char('a' + i)) + "\"," +
                sample(id, T0 + i / 3, i / 100.0).substr(1) + "\n";
    REQUIRE(service.call("POST", "/v1/load-samples", body, ndjson).status == 201);

    std::string target = "/v1/load-samples?resource_id=" + id;
    auto up =
        all_pages(service, target + "&page_size=10", "items", "cpu_available_ratio");
    auto down = all_pages(service, target + "&page_size=5&order=desc", "items",
                          "cpu_available_ratio");
    REQUIRE(up.size() == 25);
    for (int i = 0; i < 25; i++)
        CHECK(std::stod(up[size_t(i)]) == Approx(i / 100.0));
    CHECK(std::vector<std::string>(up.rbegin(), up.rend()) == down);
    CHECK(all_pages(service, target + "&from=1700000002&to=1700000004", "items",
                    "observed_at")
              .size() == 6);
    CHECK(service.get(target + "&page_token=x").status == 422);
}

TEST_CASE("the Link header leads to the next page", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("host");
    REQUIRE(service
                .post("/v1/load-samples",
                      "[" + sample(id, T0, 0) + "," + sample(id, T0 + 1, 1) + "]")
                .status == 201);
    api_reply first = service.get("/v1/load-samples?resource_id=" + id +
                                  "&from=2000-01-01T00:00:00Z&page_size=1");
    std::string token = text_at(first.body, "next_page_token");

    CHECK(first.headers["Link"] ==
          "</v1/load-samples?resource_id=" + id +
              "&from=2000-01-01T00%3A00%3A00Z&page_size=1&page_token=" + token +
              ">; rel=\"next\"");
    api_reply second =
        service.get("/v1/load-samples?resource_id=" + id +
                    "&from=2000-01-01T00:00:00Z&page_size=1&page_token=" + token);
    CHECK(number_at(second.body, "items.0.cpu_available_ratio") == 1);
    CHECK(second.headers.count("Link") == 0);

    // Of another list, or of other filters of this one, it would lead nowhere.
    for (std::string other :
         {"/v1/failures?page_token=" + token, "/v1/executions?page_token=" + token,
          "/v1/load-samples?page_token=" + token,
          "/v1/load-samples?resource_id=x&from=2000-01-01T00:00:00Z&page_token=" +
              token}) {
        api_reply r = service.get(other);
        INFO(other);
        CHECK(r.status == 422);
        CHECK(text_at(r.body, "errors.0.name") == "page_token");
        CHECK(text_at(r.body, "errors.0.code") == "page_token");
    }
    // A window may have moved on.
    CHECK(number_at(service
                        .get("/v1/load-samples?to=2100-01-01T00:00:00Z&page_size=9"
                             "&resource_id=" +
                             id + "&page_token=" + token)
                        .body,
                    "items.0.cpu_available_ratio") == 1);
    // Release 1.1.0 gave them without saying of what.
    CHECK(number_at(service
                        .get("/v1/load-samples?resource_id=" + id +
                             "&page_token=" + token.substr(token.find('.') + 1))
                        .body,
                    "items.0.cpu_available_ratio") == 1);
}

TEST_CASE("aggregates say what an interval's samples say", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("host");
    REQUIRE(service
                .post("/v1/load-samples", "[" + sample(id, T0 + 1, 0.2) + "," +
                                              sample(id, T0 + 2, 0.4) + "," +
                                              sample(id, T0 + 3, 0.9) + "," +
                                              sample(id, T0 + 25, 1) + "]")
                .status == 201);
    api_reply r = service.get("/v1/load-samples/aggregates?resource_id=" + id +
                              "&from=1700000000&to=1700000030&interval_s=10");

    CHECK(r.status == 200);
    REQUIRE(size_at(r.body, "intervals") == 2);
    std::string first = at(r.body, "intervals.0");
    CHECK(text_at(first, "start_at") == "2023-11-14T22:13:20Z");
    CHECK(number_at(first, "sample_count") == 3);
    CHECK(number_at(first, "mean") == Approx(0.5).epsilon(1e-12));
    CHECK(number_at(first, "min") == 0.2);
    CHECK(number_at(first, "p50") == 0.4);
    CHECK(number_at(first, "max") == 0.9);
    CHECK(text_at(r.body, "intervals.1.start_at") == "2023-11-14T22:13:40Z");
    CHECK(text_at(r.body, "measure") == "cpu_available_ratio");
    CHECK(
        size_at(
            service.get("/v1/load-samples/aggregates?measure=latency_s&resource_id=" + id)
                .body,
            "intervals") == 0);
}

TEST_CASE("a request with the same Idempotency-Key is done once", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("host");
    std::map<std::string, std::string> key = {{"idempotency_key", unique("key")}};
    api_reply bad =
        service.call("POST", "/v1/load-samples", "{\"resource_id\":\"a\"}", key);
    api_reply first = service.call("POST", "/v1/load-samples", sample(id, T0, 1), key);
    api_reply again = service.call("POST", "/v1/load-samples", sample(id, T0, 1), key);
    api_reply other = service.call("POST", "/v1/load-samples", sample(id, T0, 0), key);
    api_reply elsewhere = service.call("POST", "/v1/failures", sample(id, T0, 1), key);

    CHECK(bad.status == 422);
    CHECK(first.status == 201);
    CHECK(again.status == 201);
    CHECK(again.body == first.body);
    CHECK(other.status == 422);
    CHECK(elsewhere.status == 422);
    CHECK(size_at(service.get("/v1/load-samples?resource_id=" + id).body, "items") == 1);
}

TEST_CASE("a compressed body and a key work for every bulk route", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("id"), q = json_text(id);
    struct {
        const char *path;
        std::string body;
    } cases[] = {
        {"/v1/load-samples", "[" + sample(id, T0, 1) + "]"},
        {"/v1/failures", "[{\"resource_id\":" + q + ",\"down_at\":1}]"},
        {"/v1/executions",
         "[{\"application_id\":" + q + ",\"started_at\":1,\"run_time_s\":1}]"},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.path)
        {
            test_arena a;
            std::string plain = c.body + std::string(1000, ' ');
            const char *packed;
            size_t length;
            REQUIRE(gzip_deflate(plain.data(), plain.size(), &packed, &length, a));
            std::string body(packed, length);
            std::map<std::string, std::string> headers = {
                {"content_encoding", "gzip"}, {"idempotency_key", unique("key")}};
            api_reply first = service.call("POST", c.path, body, headers);
            api_reply again = service.call("POST", c.path, body, headers);

            CHECK(first.status == 201);
            CHECK(again.body == first.body);
        }
    CHECK(size_at(service.get("/v1/executions?application_id=" + id).body, "items") <= 1);
    CHECK(size_at(service.get("/v1/failures?resource_id=" + id).body, "failures") <= 1);
}

TEST_CASE("texts that look like SQL are only texts", "[api][db]")
{
    if (!database())
        return;
    api service(database());

    for (std::string text : evil)
        DYNAMIC_SECTION(text)
        {
            std::string id = unique("x"), q = "\"" + id + text + "\"";
            api_reply run = service.post(
                "/v1/executions",
                "{\"execution_id\":" + q + ",\"application_id\":" + json_text(id) +
                    ",\"site_id\":" + q + ",\"resource_id\":" + q +
                    ",\"started_at\":1,\"run_time_s\":1,\"parameters\":{" + q + ":" + q +
                    "}}");
            api_reply failure =
                service.post("/v1/failures", "{\"resource_id\":" + json_text(id) +
                                                 ",\"down_at\":1,\"cause\":" + q +
                                                 ",\"component\":" + q + "}");
            api_reply load = service.post("/v1/load-samples",
                                          "{\"resource_id\":" + json_text(id) +
                                              ",\"to_resource_id\":" + q +
                                              ",\"observed_at\":1,\"latency_s\":1}");

            CHECK(run.status == 201);
            CHECK(failure.status == 201);
            CHECK(load.status == 201);
            // What JSON prints may be escaped otherwise than what was sent.
            auto same = [](const std::string &left, const std::string &right) {
                test_arena a;
                error err = collecting_error(a);
                const char *const none[] = {nullptr};
                const char *const *found;
                size_t count = 1;
                REQUIRE(json_differences(left.c_str(), right.c_str(), none, 1, &found,
                                         &count, a, &err) == OK);
                return count == 0;
            };
            std::string r = service.get("/v1/executions?application_id=" + id).body;
            CHECK(same(at(r, "items.0.execution_id"), q));
            CHECK(same(at(r, "items.0.site_id"), q));
            CHECK(same(at(r, "items.0.parameters"), "{" + q + ":" + q + "}"));
            r = service.get("/v1/failures?resource_id=" + id).body;
            CHECK(same(at(r, "items.0.cause"), q));
            r = service.get("/v1/load-samples?resource_id=" + id).body;
            CHECK(same(at(r, "items.0.to_resource_id"), q));
            // In queries and paths, as they are.
            CHECK(service.get("/v1/load-samples?resource_id=" + text).status == 200);
            CHECK(service.get("/v1/decisions?endpoint=" + text).status == 200);
            CHECK(service.get("/v1/load-samples?page_token=" + text).status == 422);
            CHECK(service.get("/v1/snapshots/" + text).status == 404);
            CHECK(service.get("/v1/decisions/" + text).status == 404);
        }
    CHECK(service.get("/v1/load-samples").status == 200);
}

// ---- failures ----

TEST_CASE("failures are stored, listed and closed", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("node"), q = json_text(id);
    api_reply r = service.post(
        "/v1/failures", "[{\"resource_id\":" + q +
                            ",\"down_at\":1000,\"up_at\":1600,\"cause\":"
                            "\"hardware\",\"component\":\"disk\"},{\"resource_id\":" +
                            q + ",\"down_at\":5000}]");

    CHECK(r.status == 201);
    r = service.get("/v1/failures?resource_id=" + id);
    CHECK(text_at(r.body, "items.0.component") == "disk");
    CHECK(at(r.body, "items.1.up_at") == "null");
    r = service.post("/v1/failures/recoveries",
                     "{\"resource_id\":" + q + ",\"up_at\":4000}");
    CHECK(r.status == 200);
    CHECK(number_at(r.body, "closed_count") == 0);
    r = service.post("/v1/failures/recoveries",
                     "{\"resource_id\":" + q + ",\"up_at\":5600}");
    CHECK(r.body == "{\"resource_id\":" + q +
                        ",\"up_at\":\"1970-01-01T01:33:20Z\",\"closed_count\":1}");
    r = service.get("/v1/failures?resource_id=" + id + "&order=desc&page_size=1");
    CHECK(text_at(r.body, "items.0.up_at") == "1970-01-01T01:33:20Z");
    CHECK(all_pages(service, "/v1/failures?resource_id=" + id + "&page_size=1", "items",
                    "down_at")
              .size() == 2);
}

TEST_CASE("failure statistics understand overlapping and open failures", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("node"), list;
    struct {
        const char *down, *up;
    } rows[] = {{"1000", "1600"},
                {"1000,\"component\":\"fan\"", "1000"},
                {"1500", "2000"},
                {"5000", "5600"},
                {"9000", "null"}};
    for (auto &row : rows)
        list += (list.empty() ? "{\"resource_id\":" : ",{\"resource_id\":") +
                json_text(id) + ",\"down_at\":" + row.down + ",\"up_at\":" + row.up + "}";
    REQUIRE(service.post("/v1/failures", "[" + list + "]").status == 201);
    api_reply r =
        service.get("/v1/failures/statistics?from=0&to=10000&resource_id=" + id);

    CHECK(r.status == 200);
    CHECK(number_at(r.body, "failure_count") == 5);
    CHECK(number_at(r.body, "outage_count") == 3);
    CHECK(number_at(r.body, "zero_gap_count") == 1);
    CHECK(number_at(r.body, "downtime_s") == 1000 + 600 + 1000);
    CHECK(number_at(r.body, "availability_ratio") == Approx(0.74).epsilon(1e-12));
    CHECK(number_at(r.body, "mean_gap_s") == 2000);
    CHECK(number_at(r.body, "repair_count") == 4);
    CHECK(number_at(r.body, "uptime_s") == 0);
    CHECK(at(r.body, "down") == "true");
    CHECK(text_at(r.body, "from_at") == "1970-01-01T00:00:00Z");
    CHECK(text_at(r.body, "best_model") != "none");
    CHECK(at(r.body, "warnings") == "[]");
    CHECK(number_at(r.body, "kill_count") == 3);
    CHECK(number_at(r.body, "at_risk_s") == 10000 - 1000 - 600 - 1000);
    // From the first failure until the last event: nothing was heard for decades.
    r = service.get("/v1/failures/statistics?resource_id=" + id);
    CHECK(text_at(r.body, "from_at") == "1970-01-01T00:16:40Z");
    CHECK(number_at(r.body, "window_s") == 8000);
    CHECK(r.body.find("history_ended: of 1 resource") != std::string::npos);
    CHECK(r.body.find("observation_start_unknown: of 1 resource") != std::string::npos);
    // Nothing known.
    r = service.get("/v1/failures/statistics?resource_id=" + unique("none"));
    CHECK(r.status == 200);
    CHECK(number_at(r.body, "failure_count") == 0);
    CHECK(at(r.body, "weibull.shape") == "null");
    CHECK(text_at(r.body, "best_model") == "none");
    CHECK(service.get("/v1/failures/statistics").status == 200);
}

TEST_CASE("observations say how long a resource did not fail", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("watched"), site = unique("site"), list;
    std::string head = "{\"resource_id\":" + json_text(id);

    for (int i = 0; i < 50; i++) // 10000 s apart, repairs of 20000 s
        list += (i ? "," : "") + head + ",\"component\":\"c" + std::to_string(i) +
                "\",\"down_at\":" + std::to_string(1000000000 + 10000 * i) +
                ",\"up_at\":" + std::to_string(1000020000 + 10000 * i) + "}";
    REQUIRE(service.post("/v1/failures", "[" + list + "]").status == 201);
    api_reply r = service.post("/v1/observations",
                               head +
                                   ",\"from_at\":1000000000,\"to_at\":1000500000,"
                                   "\"site_id\":" +
                                   json_text(site) + "}");
    INFO(r.body);
    CHECK(r.status == 201);
    r = service.get("/v1/failures/statistics?resource_id=" + id);
    INFO(r.body);
    CHECK(number_at(r.body, "kill_count") == 50);
    CHECK(number_at(r.body, "at_risk_s") == 500000);
    CHECK(number_at(r.body, "window_s") == 500000);
    CHECK(number_at(r.body, "outage_count") == 1); // as always: merged
    r = service.get("/v1/failures/statistics?site_id=" + site);
    INFO(r.body);
    CHECK(number_at(r.body, "mtbf_bayes_s") == Approx(500000 / 50.5).epsilon(1e-12));
    CHECK(number_at(r.body, "rate_per_s") == Approx(50.5 / 500000).epsilon(1e-12));
    CHECK(number_at(r.body, "mtbf_interval_s.0") < 500000 / 50.5);
    CHECK(number_at(r.body, "mtbf_interval_s.1") > 500000 / 50.5);
    r = service.get("/v1/failures/statistics?resource_id=" + id + "&component=c7");
    CHECK(number_at(r.body, "kill_count") == 1);
    CHECK(number_at(r.body, "at_risk_s") == 480000);
    CHECK(number_at(r.body, "failure_count") == 1);

    // Closed for good, and watched again later: the gap between counts nothing.
    r = service.post("/v1/observations",
                     head + ",\"from_at\":1000000000,\"to_at\":1000400000}");
    CHECK(r.status == 200);
    CHECK(number_at(r.body, "replaced") == 1);
    r = service.post("/v1/observations", head + ",\"from_at\":1000400000}");
    CHECK(r.status == 201); // touches
    r = service.post("/v1/observations", head + ",\"from_at\":1000300000}");
    CHECK(r.status == 422);
    CHECK(r.body.find("conflict") != std::string::npos);
    r = service.post("/v1/observations",
                     "[" + head + ",\"from_at\":5}," + head + ",\"from_at\":9}]");
    CHECK(r.status == 422);
    CHECK(pointers(r) == "/1/from_at");
    r = service.post("/v1/observations",
                     head + ",\"from_at\":9,\"to_at\":9,\"component\":\"x\","
                            "\"component_count\":2}");
    CHECK(pointers(r) == "/to_at /component_count");
    r = service.get("/v1/observations?resource_id=" + id);
    CHECK(number_at(r.body, "items.0.component_count") == 1);
    CHECK(at(r.body, "items.1.to_at").empty());
    CHECK(at(r.body, "items.2").empty());
    r = service.get("/v1/observations?resource_id=" + id + "&at=1000100000");
    CHECK(text_at(r.body, "items.0.from_at") == "2001-09-09T01:46:40Z");
    CHECK(at(r.body, "items.1").empty());
    r = service.call("DELETE", "/v1/observations?from_at=1000400000&resource_id=" + id,
                     "");
    CHECK(number_at(r.body, "deleted") == 1);
    r = service.call("DELETE", "/v1/observations?from_at=1000400000&resource_id=" + id,
                     "");
    CHECK(number_at(r.body, "deleted") == 0);
}

TEST_CASE("kinds of failures are stored, and decide what counts", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("kinds"), head = "{\"resource_id\":" + json_text(id);
    api_reply r = service.post(
        "/v1/failures",
        "[" + head + ",\"down_at\":1000,\"up_at\":1100,\"kind\":\"failure\"," +
            "\"site_id\":\"s\",\"detected_at\":1010,\"boot_id\":\"b\",\"level\":2}," +
            head + ",\"down_at\":2000,\"up_at\":2500,\"kind\":\"maintenance\"}," + head +
            ",\"down_at\":3000,\"up_at\":3500,\"kind\":\"degraded\"}]");

    CHECK(r.status == 201);
    r = service.get("/v1/failures?resource_id=" + id);
    CHECK(text_at(r.body, "items.0.kind") == "failure");
    CHECK(text_at(r.body, "items.0.boot_id") == "b");
    CHECK(number_at(r.body, "items.0.level") == 2);
    CHECK(text_at(r.body, "items.2.kind") == "degraded");
    r = service.get("/v1/failures/statistics?from=0&to=10000&resource_id=" + id);
    CHECK(number_at(r.body, "kill_count") == 1);
    CHECK(number_at(r.body, "at_risk_s") == 10000 - 100 - 500);
    r = service.post("/v1/failures",
                     head + ",\"down_at\":9,\"detected_at\":8,\"kind\":\"sad\"}");
    CHECK(r.status == 422);
}

TEST_CASE("the log of LANL's system 15 gives the published fit", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/tests/data/lanl_system_15.csv");
    std::string id = unique("lanl"), line, body;
    while (std::getline(in, line)) {
        double begin_min, down_min;
        if (std::sscanf(line.c_str(), "%lf,%lf", &begin_min, &down_min) == 2)
            body += "{\"resource_id\":" + json_text(id) +
                    ",\"down_at\":" + std::to_string(begin_min * 60) +
                    ",\"up_at\":" + std::to_string((begin_min + down_min) * 60) + "}\n";
    }
    REQUIRE(service.call("POST", "/v1/failures", body, ndjson).status == 201);
    std::string r = service.get("/v1/failures/statistics?resource_id=" + id).body;

    CHECK(number_at(r, "failure_count") == 54);
    CHECK(number_at(r, "mean_gap_s") / 3600 == Approx(122.149).margin(6e-4));
    CHECK(number_at(r, "weibull.shape") == Approx(0.8838).margin(6e-5));
    CHECK(number_at(r, "weibull.scale_s") / 3600 == Approx(113.9305).margin(6e-5));
    CHECK(number_at(r, "repair_median_s") / 60 == Approx(30).margin(0.51));
    CHECK(text_at(r, "best_model") == "lognormal");
}

// ---- executions ----

TEST_CASE("executions are stored once", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string app = unique("app"), run = unique("run");
    auto body = [&](const std::string &name, const std::string &more) {
        return "{\"application_id\":" + json_text(app) + ",\"started_at\":1700000000," +
               (name.empty() ? "" : "\"execution_id\":" + json_text(name) + ",") +
               "\"run_time_s\":12.5" + more + "}";
    };
    api_reply first =
        service.post("/v1/executions", body(run, ",\"parameters\":{\"n\":100},"
                                                 "\"processors\":8,"
                                                 "\"exit_code\":-9"));
    api_reply again = service.post("/v1/executions?on_conflict=keep", body(run, ""));
    api_reply mixed =
        service.post("/v1/executions?on_conflict=keep",
                     "[" + body(run, "") + "," + body(run, ",\"phase_index\":0") + "," +
                         body("", "") + "]");

    CHECK(first.status == 201);
    CHECK(first.body ==
          "{\"received\":1,\"stored\":1,\"duplicates\":0,\"replaced\":0,"
          "\"refused\":0,\"errors\":[],\"load_filled_count\":0,\"warnings\":[\"not_"
          "learnt: 1 of 1 "
          "record has an exit_code other than 0, a failure_kind other than none or is "
          "ignored: no model learns its run time\"]}");
    CHECK(again.status == 200);
    CHECK(number_at(again.body, "duplicates") == 1);
    CHECK(mixed.status == 200);
    CHECK(number_at(mixed.body, "stored") == 2);
    api_reply r = service.get("/v1/executions?application_id=" + app);
    REQUIRE(size_at(r.body, "items") == 3);
    std::string e = at(r.body, "items.0");
    CHECK(text_at(e, "execution_id") == run);
    CHECK(number_at(e, "processors") == 8);
    CHECK(number_at(e, "exit_code") == -9);
    CHECK(number_at(e, "parameters.n") == 100);
    CHECK(at(e, "phase_index") == "");
    CHECK(at(e, "dedicated") == "false");
    CHECK(all_pages(service, "/v1/executions?page_size=2&application_id=" + app, "items",
                    "execution_id")
              .size() == 3);
    CHECK(
        size_at(service.get("/v1/executions?site_id=nowhere&application_id=" + app).body,
                "items") == 0);
}

TEST_CASE("NDJSON of executions may be partly stored", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string app = unique("app");
    std::string good = "{\"application_id\":" + json_text(app) +
                       ",\"started_at\":1,\"run_time_s\":1,\"execution_id\":" +
                       json_text(unique("run")) + "}\n";
    std::string bad = "{\"application_id\":\"a\",\"started_at\":1,\"run_time_s\":1,"
                      "\"parameters\":7}\n";
    api_reply r = service.call("POST", "/v1/executions", good + bad + good, ndjson);

    CHECK(r.status == 200);
    CHECK(number_at(r.body, "received") == 3);
    CHECK(number_at(r.body, "stored") == 1);
    CHECK(number_at(r.body, "duplicates") == 1);
    CHECK(number_at(r.body, "refused") == 1);
    CHECK(text_at(r.body, "errors.0.pointer") == "/parameters");
}

// ---- snapshots ----

TEST_CASE("a snapshot is stored, read, replaced and deleted", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("grid"), path = "/v1/snapshots/" + id;
    std::string document = "{ \"resources\" : [ {\"id\":\"a\", \"mips_total\": 1.50} ] }";
    api_reply created = service.post("/v1/snapshots?id=" + id, document);
    std::string tag = created.headers["ETag"];

    CHECK(created.status == 201);
    CHECK(created.headers["Location"] == path);
    CHECK(text_at(created.body, "id") == id);
    CHECK(number_at(created.body, "generation") == 1);
    CHECK(service.post("/v1/snapshots?id=" + id, document).status == 409);
    api_reply read = service.get(path);
    CHECK(read.status == 200);
    CHECK(read.headers["ETag"] == tag);
    CHECK(read.body.find("\"snapshot\":" + document) != std::string::npos);
    CHECK(service.call("GET", path, "", {{"if_none_match", tag}}).status == 304);

    CHECK(service.call("PUT", path, snapshot(2), {{"if_none_match", "*"}}).status == 412);
    CHECK(service.call("PUT", path, snapshot(2), {{"if_match", "\"other\""}}).status ==
          412);
    CHECK(service.call("PUT", path, snapshot(2), {{"if_match", "W/" + tag}}).status ==
          412);
    CHECK(service.call("PUT", path, "{}", {{"if_match", tag}}).status == 422);
    api_reply put =
        service.call("PUT", path, snapshot(2), {{"if_match", "\"x\", " + tag}});
    CHECK(put.status == 200);
    CHECK(number_at(put.body, "generation") == 2);
    CHECK(put.headers["ETag"] != tag);
    CHECK(service.call("PUT", path, snapshot(3), {{"if_match", tag}}).status == 412);
    CHECK(service.call("PUT", path, snapshot(3), {{"if_match", "*"}}).status == 200);
    CHECK(service.call("GET", path, "", {{"if_none_match", tag}}).status == 200);
    CHECK(size_at(service.get(path).body, "snapshot.resources") == 3);

    CHECK(service.call("DELETE", path, "", {{"if_match", tag}}).status == 412);
    api_reply gone = service.call("DELETE", path);
    CHECK(gone.status == 204);
    CHECK(gone.body == "");
    CHECK(service.call("DELETE", path).status == 404);
    CHECK(service.get(path).status == 404);
    CHECK(service.call("PUT", path, snapshot(1), {{"if_match", "*"}}).status == 404);
    CHECK(
        service
            .call("PATCH", path, "{}", {{"content_type", "application/merge-patch+json"}})
            .status == 404);
    // Another one of the same name is not the old version.
    api_reply made = service.call("PUT", path, document, {{"if_none_match", "*"}});
    CHECK(made.status == 201);
    CHECK(made.headers["Location"] == path);
    CHECK(made.headers["ETag"] != tag);
    put = service.call("PUT", path, snapshot(2));
    CHECK(put.status == 200);
    CHECK(put.headers["ETag"] != made.headers["ETag"]);
    CHECK(service.call("DELETE", path).status == 204);
    CHECK(service.call("PUT", path, snapshot(1)).status == 201);
    CHECK(service.call("PUT", "/v1/snapshots/a%20b", snapshot(1)).status == 422);
}

TEST_CASE("a snapshot without a name gets one", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    api_reply r = service.post("/v1/snapshots", snapshot(1));

    CHECK(r.status == 201);
    CHECK(text_at(r.body, "id").size() == 36);
    CHECK(service.get(r.headers["Location"]).status == 200);
    auto ids = all_pages(service, "/v1/snapshots?page_size=1", "items", "id");
    CHECK(std::count(ids.begin(), ids.end(), at(r.body, "id")) == 1);
    CHECK(std::is_sorted(ids.begin(), ids.end()));
}

TEST_CASE("a merge patch changes a snapshot", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("grid"), path = "/v1/snapshots/" + id;
    std::string tag = service
                          .post("/v1/snapshots?id=" + id,
                                snapshot(3, ",\"home_site_id\":\"s\",\"network\":{"
                                            "\"wan_mbps\":10,\"lan_mbps\":100}"))
                          .headers["ETag"];
    auto patch = [&](const std::string &body, const std::string &if_match = "") {
        std::map<std::string, std::string> headers = {
            {"content_type", "application/merge-patch+json"}};
        if (!if_match.empty())
            headers["if_match"] = if_match;
        return service.call("PATCH", path, body, headers);
    };
    api_reply r = patch("{\"home_site_id\":null,\"network\":{\"wan_mbps\":20}}");

    CHECK(r.status == 200);
    CHECK(number_at(r.body, "generation") == 2);
    std::string now = at(service.get(path).body, "snapshot");
    CHECK(at(now, "home_site_id") == "");
    CHECK(number_at(now, "network.wan_mbps") == 20);
    CHECK(number_at(now, "network.lan_mbps") == 100);
    CHECK(size_at(now, "resources") == 3);

    CHECK(patch("{\"network\":{}}", tag).status == 412);
    CHECK(patch("{\"resources\":[{\"id\":\"only\"}]}", r.headers["ETag"]).status == 200);
    CHECK(size_at(service.get(path).body, "snapshot.resources") == 1); // lists go whole
    r = patch("{\"resources\":[{\"id\":\"a\",\"cpus\":-1},{}],\"colour\":1}");
    CHECK(r.status == 422);
    CHECK(pointers(r) == "/resources/0/cpus /resources/1/id /colour");
    CHECK(patch("[]").status == 422);
    CHECK(patch("{").status == 400);
    CHECK(patch("").status == 400);
    CHECK(service.call("PATCH", path, "{}", {{"content_type", "text/plain"}}).status ==
          415);
    CHECK(number_at(service.get(path).body, "generation") == 3);
}

TEST_CASE("patches at the same time do not undo each other", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("grid"), path = "/v1/snapshots/" + id;
    std::atomic<int> done{0}, other{0};
    REQUIRE(service.post("/v1/snapshots?id=" + id, snapshot(1)).status == 201);
    auto work = [&](const std::string &member) {
        for (int i = 1; i <= 10; i++) {
            int status =
                service
                    .call("PATCH", path,
                          "{\"network\":{\"" + member + "\":" + std::to_string(i) + "}}",
                          {{"content_type", "application/merge-patch+json"}})
                    .status;
            done += status == 200;
            other += status != 200 && status != 412;
        }
    };
    std::thread one(work, "wan_latency_s"), two(work, "lan_latency_s");
    one.join();
    two.join();

    CHECK(other == 0);
    CHECK(number_at(service.get(path).body, "generation") == 1 + done);
    CHECK(done >= 10);
}

TEST_CASE("storing a snapshot again with its key gives the first answer", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::map<std::string, std::string> key = {{"idempotency_key", unique("key")}};
    api_reply first = service.call("POST", "/v1/snapshots", snapshot(1), key);
    api_reply again = service.call("POST", "/v1/snapshots", snapshot(1), key);

    CHECK(first.status == 201);
    CHECK(again.status == 201);
    CHECK(again.headers["Location"] == first.headers["Location"]);
    CHECK(again.headers["ETag"] == first.headers["ETag"]);
    CHECK(again.body == first.body);
}

// ---- decisions ----

namespace
{
std::string jobs(int count)
{
    std::string list;

    for (int i = 0; i < count; i++)
        list += (i ? ",{\"id\":\"j" : "{\"id\":\"j") + std::to_string(i) +
                "\",\"estimate_ref_s\":" + std::to_string(1000 + i * 37 % 500) + "}";
    return "\"jobs\":[" + list + "]";
}
} // namespace

TEST_CASE("a stored decision is read and replayed", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string request = "{\"snapshot\":" + snapshot(3) + "," + jobs(20) +
                          ",\"algorithm\":\"min_min\",\"seed\":7,\"store\":true,"
                          "\"labels\":{\"who\":\"me\"}}";
    api_reply made = service.post("/v1/placements", request);
    REQUIRE(made.status == 200);
    std::string id = text_at(made.body, "decision_id");
    api_reply read = service.get("/v1/decisions/" + id);

    CHECK(read.status == 200);
    CHECK(at(read.body, "request") == request);
    CHECK(at(read.body, "answer") == made.body);
    CHECK(text_at(read.body, "endpoint") == "/v1/placements");
    CHECK(number_at(read.body, "seed") == 7);
    api_reply replay = service.post("/v1/decisions/" + id + "/replay", "");
    CHECK(replay.status == 200);
    CHECK(text_at(replay.body, "decision_id") == id);
    CHECK(at(replay.body, "identical") == "true");
    CHECK(at(replay.body, "differences") == "[]");
    CHECK(at(replay.body, "answer.placements") == at(made.body, "placements"));
    // It stored nothing.
    std::string again = text_at(replay.body, "answer.decision_id");
    CHECK(service.get("/v1/decisions/" + again).status == 404);
    auto ids = all_pages(service, "/v1/decisions?page_size=2&endpoint=placements",
                         "items", "decision_id");
    CHECK(std::count(ids.begin(), ids.end(), json_text(id)) == 1);
    CHECK(size_at(service.get("/v1/decisions?endpoint=/v1/nothing").body, "items") == 0);
    CHECK(service.get("/v1/decisions/" + unique("")).status == 404);
    CHECK(service.post("/v1/decisions/nothing/replay", "").status == 404);
}

TEST_CASE("a replay sees the stored snapshot as it was", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    std::string name = unique("grid");
    REQUIRE(service.post("/v1/snapshots?id=" + name, snapshot(3)).status == 201);
    api_reply made =
        service.post("/v1/placements", "{\"snapshot_id\":" + json_text(name) + "," +
                                           jobs(10) + ",\"store\":true}");
    REQUIRE(made.status == 200);
    REQUIRE(service.call("PUT", "/v1/snapshots/" + name, snapshot(1), {{"if_match", "*"}})
                .status == 200);
    std::string path = "/v1/decisions/" + text_at(made.body, "decision_id");

    CHECK(at(service.post(path + "/replay", "").body, "identical") == "true");
    REQUIRE(service.call("DELETE", "/v1/snapshots/" + name).status == 204);
    CHECK(at(service.post(path + "/replay", "").body, "identical") == "true");
    CHECK(size_at(service.get(path).body, "snapshot.resources") == 3);
}

TEST_CASE("a search that was cut is replayed by its steps", "[api][db]")
{
    if (!database())
        return;
    api service(database());
    api_reply made = service.post("/v1/placements",
                                  "{\"snapshot\":" + snapshot(8) + "," + jobs(100) +
                                      ",\"algorithm\":\"search\",\"time_limit_s\":0.3,"
                                      "\"store\":true}");
    REQUIRE(made.status == 200);
    if (text_at(made.body, "status") != "cut" || number_at(made.body, "steps") < 1) {
        WARN("not run: the search was " << at(made.body, "status") << " after "
                                        << at(made.body, "steps") << " steps");
        return;
    }
    api_reply replay = service.post(
        "/v1/decisions/" + text_at(made.body, "decision_id") + "/replay", "");

    CHECK(replay.status == 200);
    CHECK(at(replay.body, "identical") == "true");
    CHECK(at(replay.body, "differences") == "[]");
    CHECK(at(replay.body, "answer.steps") == at(made.body, "steps"));
    CHECK(at(replay.body, "ignored") ==
          "[\"decision_id\",\"timings\",\"lease_id\",\"lease_expires_at\",\"status\","
          "\"warnings\",\"because\",\"bounds\",\"stopped_early\"]");
}

TEST_CASE("a search without time for a step is replayed with what it was given",
          "[api][db]")
{
    if (!database())
        return;
    api service(database());
    const struct {
        const char *path, *rows; // of the answer, which are the next request's initial
        std::string body;
        const char *algorithm;
    } cases[] = {
        {"/v1/placements", "placements", "\"snapshot\":" + snapshot(8) + "," + jobs(40),
         "search"},
        {"/v1/placements", "placements", "\"snapshot\":" + snapshot(8) + "," + jobs(40),
         "auto"},
        {"/v1/workflow-schedules", "schedule",
         "\"snapshot\":" + snapshot(3) +
             R"(,"workflow":{"id":"w","tasks":[{"id":"a","estimate_ref_s":9000},{"id":"b","estimate_ref_s":5000},)"
             R"({"id":"c","estimate_ref_s":7000},{"id":"d","estimate_ref_s":4000},)"
             R"({"id":"e","estimate_ref_s":8000},{"id":"f","estimate_ref_s":6500},)"
             R"({"id":"g","estimate_ref_s":3000}]})",
         "search"},
    };
    test_db d;
    test_session s(d);
    error err{};

    for (auto &c : cases)
        DYNAMIC_SECTION(c.path << " " << c.algorithm)
        {
            auto ask = [&](const std::string &more) {
                return service.post(c.path, "{" + c.body + ",\"algorithm\":\"" +
                                                c.algorithm + "\"," + more + "}");
            };
            api_reply best = ask("\"options\":{\"max_steps\":20000}");
            INFO(best.body);
            REQUIRE(best.status == 200);
            // A plan that no list policy finds, and one step does not beat.
            api_reply made = ask("\"options\":{\"max_steps\":1},\"store\":true,"
                                 "\"initial\":" +
                                 at(best.body, c.rows));
            INFO(made.body);
            REQUIRE(made.status == 200);
            REQUIRE(at(made.body, "objective.makespan_s") ==
                    at(best.body, "objective.makespan_s"));
            REQUIRE(number_at(made.body, "objective.makespan_s") <
                    number_at(made.body, "best_list.value"));
            // As it is stored when the clock ends it before that step.
            std::string id = text_at(made.body, "decision_id");
            REQUIRE_OK(db_execute(
                s,
                (R"(UPDATE decision SET status = 'cut', request = replace(request, )"
                 R"('"options":{"max_steps":1}', '"time_limit_s":0.01'), answer = )"
                 R"(regexp_replace(regexp_replace(answer, '"steps":1\M', '"steps":0'), )"
                 R"('"status":"[a-z]+"', '"status":"cut"') WHERE decision_id = ')" +
                 id + "'")
                    .c_str(),
                &err));
            api_reply stored = service.get("/v1/decisions/" + id);
            REQUIRE(at(stored.body, "answer.steps") == "0");
            REQUIRE(at(stored.body, "request.time_limit_s") == "0.01");
            api_reply replay = service.post("/v1/decisions/" + id + "/replay", "");
            INFO(replay.body);
            CHECK(replay.status == 200);
            CHECK(at(replay.body, "identical") == "true");
            CHECK(at(replay.body, "differences") == "[]");
            CHECK(at(replay.body, "answer.steps") == "0");
            CHECK(at(replay.body, std::string("answer.") + c.rows) ==
                  at(made.body, c.rows));
        }
}

// ---- memory ----

TEST_CASE("history endpoints bear any cap of memory", "[api][db][memory]")
{
    if (!database())
        return;
    api service(database());
    std::string id = unique("host");
    struct {
        const char *method, *target;
        std::string body;
        std::map<std::string, std::string> headers;
    } cases[] = {
        {"POST", "/v1/load-samples", sample(id, T0, 1) + "\n{}\n", ndjson},
        {"POST",
         "/v1/executions",
         "[{\"application_id\":\"a\",\"started_at\":1,\"run_time_s\":1}]",
         {}},
        {"GET", "/v1/load-samples?page_size=1", "", {}},
        {"GET", "/v1/failures/statistics", "", {}},
        {"POST", "/v1/snapshots", snapshot(3), {}},
        {"GET", "/v1/snapshots?page_size=1", "", {}},
    };

    for (auto &c : cases)
        DYNAMIC_SECTION(c.method << " " << c.target)
        {
            int status = 0;

            for (size_t cap = 0; cap < (size_t{1} << 22); cap += 97 + cap / 8) {
                status = service.call(c.method, c.target, c.body, c.headers, cap).status;
                if (status < 300)
                    break;
                CHECK((status == 413 || status == 503));
            }
            CHECK(status / 100 == 2);
        }
}
