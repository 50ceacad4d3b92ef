// http_test.cpp - the server with real sockets, a route table of its own and no
// database; and the program itself, started and stopped.
#include "client.hpp"
#include "support.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
#include "handlers/operations/routes.h"
#include "service/auth.h"
#include "service/config.h"
#include "service/cpu_quota.h"
#include "service/governor.h"
#include "service/http.h"
#include "service/lookup.h"
#include "service/metrics.h"
#include "service/ratelimit.h"
#include "service/watch.h"
#include "service/worker.h"
}

using namespace std::chrono_literals;

namespace
{

static double seconds_since(steady::time_point start)
{
    return std::chrono::duration<double>(steady::now() - start).count();
}

// ---- the routes ----

// What the handlers of one test share with it.
static std::atomic<bool> gate_open, gate_cancelled;
static std::atomic<int> gate_entered;

static error_code reply_text(request *rq, char *text)
{
    if (!text)
        return fail_memory(rq->err);
    rq->reply->content_type = "text/plain";
    rq->reply->body = text;
    rq->reply->body_length = strlen(text);
    return OK;
}

// The length of the body and the sum of its bytes.
static error_code echo(request *rq, const void *in, void *)
{
    const raw_body *body = static_cast<const raw_body *>(in);
    unsigned sum = 0;

    for (size_t i = 0; i < body->length; i++)
        sum += (unsigned char)body->text[i];
    return reply_text(rq, arena_printf(rq->arena, "%zu %u", body->length, sum));
}

// As wait_at_gate(), for those who ask by turns.
static std::mutex turns_lock;
static std::vector<std::string> turns; // addresses, as they came in

static error_code take_turn(request *rq, const void *, void *)
{
    {
        std::lock_guard<std::mutex> lock(turns_lock);
        turns.push_back(rq->message->remote_address);
    }
    gate_entered++;
    while (!gate_open)
        std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(5ms);
    return reply_text(rq, arena_printf(rq->arena, "done"));
}

// Waits for the gate or for being told to stop.
static error_code wait_at_gate(request *rq, const void *, void *)
{
    gate_entered++;
    while (!gate_open && !__atomic_load_n(rq->cancelled, __ATOMIC_RELAXED))
        std::this_thread::sleep_for(1ms);
    if (__atomic_load_n(rq->cancelled, __ATOMIC_RELAXED))
        gate_cancelled = true;
    return reply_text(rq, arena_printf(rq->arena, "through"));
}

// Keeps a processor busy.
static error_code spin(request *rq, const void *, void *)
{
    gate_entered++;
    while (!gate_open && !__atomic_load_n(rq->cancelled, __ATOMIC_RELAXED))
        ;
    return reply_text(rq, arena_printf(rq->arena, "spun"));
}

// Computes, as algorithms do, until the gate opens.
static error_code search(request *rq, const void *, void *)
{
    gate_entered++;
    while (!gate_open && !budget_step(&rq->budget, 100))
        ;
    return reply_text(rq, arena_printf(rq->arena, "found"));
}

// The path's value and the query's pairs.
struct show_query {
    const char *x, *y, *z, *e, *n;
};
static json_field text_row(const char *name, size_t offset)
{
    json_field row{};

    row.name = name;
    row.doc = "";
    row.max = 100;
    row.offset = offset;
    row.type = JSON_TYPE_TEXT;
    return row;
}
#define ROW(name) text_row(#name, offsetof(show_query, name))
static const json_field show_rows[] = {ROW(x), ROW(y), ROW(z), ROW(e), ROW(n), {}};
#undef ROW
static const json_object show_json = {"ShowQuery", "", sizeof(show_query), show_rows};

static error_code show(request *rq, const void *, void *)
{
    text_buffer b{};

    b.arena = rq->arena;
    text_addf(&b, "[%s]", rq->path_value[0]);
    for (size_t i = 0; i < rq->message->query_count; i++)
        text_addf(&b, "%s=%s;", rq->message->query[i].name, rq->message->query[i].value);
    text_add(&b, "", 1);
    return b.failed ? fail_memory(rq->err) : reply_text(rq, b.data);
}

static error_code large(request *rq, const void *, void *)
{
    char *text = NEW(rq->arena, char, 20'000'001);

    if (text)
        memset(text, 'x', 20'000'000);
    return reply_text(rq, text);
}

// Longer than a body may take.
static error_code nap(request *rq, const void *, void *)
{
    std::this_thread::sleep_for(700ms);
    return reply_text(rq, arena_printf(rq->arena, "awake"));
}

#define ROW(method, path, run, work, flags)                                            \
    {                                                                                  \
        method, path, "", nullptr, run, nullptr, nullptr, nullptr, work, SCOPE_DECIDE, \
            flags, "", "", nullptr                                                     \
    }
static const route test_routes[] = {
    ROW("POST", "/echo", echo, WORK_INLINE, ROUTE_RAW_BODY | ROUTE_RAW_REPLY),
    ROW("POST", "/gate", wait_at_gate, WORK_COMPUTE, ROUTE_RAW_BODY | ROUTE_RAW_REPLY),
    ROW("GET", "/large", large, WORK_INLINE, ROUTE_RAW_REPLY),
    ROW("GET", "/nap", nap, WORK_INLINE, ROUTE_RAW_REPLY),
    ROW("POST", "/query", wait_at_gate, WORK_QUERY, ROUTE_RAW_BODY | ROUTE_RAW_REPLY),
    {"GET", "/quotas", "", nullptr, get_quotas, nullptr, &quotas_json, nullptr,
     WORK_INLINE, SCOPE_DECIDE, 0, "", "", nullptr},
    ROW("POST", "/search", search, WORK_COMPUTE, ROUTE_RAW_BODY | ROUTE_RAW_REPLY),
    {"GET", "/show/{id}", "", nullptr, show, nullptr, nullptr, &show_json, WORK_INLINE,
     SCOPE_DECIDE, ROUTE_RAW_REPLY, "", "", nullptr},
    ROW("GET", "/turn", take_turn, WORK_QUERY, ROUTE_RAW_REPLY),
    ROW("POST", "/spin", spin, WORK_COMPUTE, ROUTE_RAW_BODY | ROUTE_RAW_REPLY),
    {},
};

// ---- a server for the length of a test ----

struct server {
    test_arena a;
    config c{};
    struct service s {
    };
    struct http *h = nullptr;

    explicit server(std::vector<const char *> flags = {})
    {
        const char *no_environment[] = {nullptr};
        error err = collecting_error(a);

        gate_open = gate_cancelled = false;
        gate_entered = 0;
        flags.insert(flags.begin(),
                     {"--port", "0", "--compute-workers", "2", "--query-workers", "2"});
        flags.push_back(nullptr);
        REQUIRE(config_read(no_environment, flags.data(), &c, a, &err) == OK);
        s.config = &c;
        s.routes = test_routes;
        s.metrics = metrics_create(false);
        governor_options options = governor_options_of(&c);
        s.governor = governor_create(&options);
        s.lookups = worker_pool_create("lookup", lookups_at_once(c.query_workers),
                                       c.query_queue_length, 0);
        REQUIRE(http_start(&s, &h, &err) == OK);
    }

    void stop(double grace_s)
    {
        http_drain(h);
        REQUIRE(http_wait(h, grace_s));
        http_close(h);
        h = nullptr;
    }

    ~server()
    {
        gate_open = true;
        if (h)
            stop(10);
        worker_pool_close(s.lookups);
        governor_close(s.governor);
        metrics_close(s.metrics);
    }

    int port() const
    {
        return http_port(h);
    }

    governor_queue_stats queue(governor_queue q) const
    {
        struct governor_stats now;

        governor_stats(s.governor, &now);
        return now.queues[q];
    }

    struct http_stats stats() const
    {
        struct http_stats now;

        http_stats(h, &now);
        return now;
    }
};

// ---- requests ----

static std::string post(const std::string &path, const std::string &body,
                        const std::string &headers = "")
{
    return "POST " + path +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
           headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

static std::string get(const std::string &path, const char *method = "GET")
{
    return std::string(method) + " " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

static std::string chunked(const std::string &path,
                           const std::vector<std::string> &pieces)
{
    std::string text =
        "POST " + path +
        " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    char length[32];

    for (auto &piece : pieces) {
        if (piece.empty()) // would be the end
            continue;
        snprintf(length, sizeof(length), "%zx\r\n", piece.size());
        text += length + piece + "\r\n";
    }
    return text + "0\r\n\r\n";
}

static std::string text_of(size_t length) // JSON
{
    return "\"" + std::string(length - 2, 'a') + "\"";
}

static std::string sum_of(const std::string &body)
{
    unsigned sum = 0;

    for (char c : body)
        sum += (unsigned char)c;
    return std::to_string(body.size()) + " " + std::to_string(sum);
}

static bool eventually(const std::function<bool()> &condition, double limit_s = 60)
{
    steady::time_point start = steady::now();

    while (!condition()) {
        if (seconds_since(start) > limit_s)
            return false;
        std::this_thread::sleep_for(2ms);
    }
    return true;
}

} // namespace

// ---- requests ----

TEST_CASE("one connection carries many requests of all kinds", "[http]")
{
    server s;
    client c(s.port());

    gate_open = true;
    for (int i = 0; i < 3; i++) {
        REQUIRE(c.put(post("/echo", "[1]")));
        answer r = c.get();
        CHECK(r.status == 200);
        CHECK(r.body == sum_of("[1]"));
        CHECK_THAT(r.header, Catch::Contains("X-Request-Id: "));
        REQUIRE(c.put(post("/gate", "[]")));
        CHECK(c.get().body == "through");
        REQUIRE(c.put(post("/query", "[]")));
        CHECK(c.get().body == "through");
        REQUIRE(c.put(get("/show/x")));
        CHECK(c.get().body == "[x]");
    }
    CHECK(s.stats().connection_count == 1);
}

TEST_CASE("pipelined requests are answered in their order", "[http]")
{
    server s;
    client c(s.port());
    std::string all;

    gate_open = true;
    for (int i = 0; i < 20; i++)
        all += post("/echo", text_of(10 + (size_t)i)) + post("/gate", "[]") +
               get("/show/" + std::to_string(i));
    REQUIRE(c.put(all));
    for (int i = 0; i < 20; i++) {
        CHECK(c.get().body == sum_of(text_of(10 + (size_t)i)));
        CHECK(c.get().body == "through");
        CHECK(c.get().body == "[" + std::to_string(i) + "]");
    }
}

TEST_CASE("bodies of any length and form arrive whole", "[http]")
{
    server s({"--max-body-bytes", "1048576"});
    client c(s.port());

    for (size_t length : {2u, 100u, 16384u, 16385u, 65535u, 65537u, 300000u, 1048576u}) {
        CAPTURE(length);
        std::string body = text_of(length);
        REQUIRE(c.put(post("/echo", body)));
        CHECK(c.get().body == sum_of(body));
        REQUIRE(c.put(chunked("/echo", {body.substr(0, 1), body.substr(1, length / 2),
                                        body.substr(1 + length / 2)})));
        CHECK(c.get().body == sum_of(body));
    }
    CHECK(eventually([&] { return s.stats().body_bytes == 0; }));
    std::string body = text_of(50), request = post("/echo", body);
    for (char ch : request) { // byte by byte
        REQUIRE(c.put(std::string(1, ch)));
        std::this_thread::sleep_for(200us);
    }
    CHECK(c.get().body == sum_of(body));
}

TEST_CASE("bodies beyond the limit are refused", "[http]")
{
    server s({"--max-body-bytes", "100000"});

    SECTION("announced: at once, without reading")
    {
        client c(s.port());
        REQUIRE(c.put(
            "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100001\r\n\r\n"));
        answer r = c.get(5);
        CHECK(r.status == 413);
        CHECK_THAT(r.header, Catch::Contains("application/problem+json"));
        CHECK_THAT(r.body, Catch::Contains("GRIDPLAN_MAX_BODY_BYTES"));
    }
    SECTION("announced as more than a number holds")
    {
        client c(s.port());
        REQUIRE(c.put("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                      "99999999999999999999999\r\n\r\n"));
        int status = c.get(5).status;
        CHECK((status == 413 || status == 400));
    }
    SECTION("a client that sends it all the same gets the answer")
    {
        client c(s.port());
        c.put(post("/echo", text_of(3'000'000)));
        CHECK(c.get(5).status == 413);
    }
    SECTION("a client that asks first does not send it")
    {
        client c(s.port());
        REQUIRE(c.put("POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: "
                      "100-continue\r\nContent-Length: 100001\r\n\r\n"));
        CHECK(c.get(5).status == 413);
        client unknown(s.port());
        REQUIRE(unknown.put("POST /nothing HTTP/1.1\r\nHost: localhost\r\nExpect: "
                            "100-continue\r\nContent-Length: 9\r\n\r\n"));
        REQUIRE(unknown.more(5));
        CHECK_THAT(unknown.pending, Catch::StartsWith("HTTP/1.1 404"));
        client d(s.port());
        REQUIRE(d.put("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                      "application/json\r\nExpect: 100-continue\r\n"
                      "Content-Length: 2\r\n\r\n"));
        REQUIRE(d.more(5));
        CHECK_THAT(d.pending, Catch::Contains("100 Continue"));
        REQUIRE(d.put("[]"));
        CHECK(d.get(5).status == 200);
    }
    SECTION("chunked: read to the end, then refused; the connection goes on")
    {
        client c(s.port());
        REQUIRE(c.put(chunked("/echo", {text_of(99000), std::string(2000, ' ')})));
        CHECK(c.get(5).status == 413);
        REQUIRE(c.put(post("/echo", "[]")));
        CHECK(c.get().status == 200);
    }
    SECTION("chunked without end: cut off")
    {
        client c(s.port());
        bool open = c.put("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                          "chunked\r\n\r\n");
        // However fast it comes: the library reads on for a moment before it closes.
        const auto begun = std::chrono::steady_clock::now();
        while (open &&
               std::chrono::steady_clock::now() - begun < std::chrono::seconds(20))
            open = c.put("400\r\n" + std::string(1024, ' ') + "\r\n");
        CHECK_FALSE(open);
    }
    CHECK(eventually([&] { return s.stats().request_count == 0; }));
    CHECK(s.stats().body_bytes == 0);
}

TEST_CASE("the bodies of all requests together are bounded", "[http]")
{
    server s({"--max-body-bytes", "1000000", "--total-body-bytes", "1048576"});
    client first(s.port()), second(s.port());
    std::string body = text_of(900000), request = post("/echo", body);

    REQUIRE(first.put(request.substr(0, 50000)));
    CHECK(eventually([&] { return s.stats().body_bytes == 65536; })); // the first step
    REQUIRE(first.put(request.substr(50000, 750000)));
    CHECK(eventually([&] { return s.stats().body_bytes == body.size(); }));
    REQUIRE(second.put(request.substr(0, request.size() - body.size())));
    answer r = second.get(5); // before its body
    CHECK(r.status == 503);
    CHECK_THAT(r.header, Catch::Contains("Retry-After: "));
    CHECK(r.closes());
    client third(s.port()); // which does not say how much will come
    std::vector<std::string> pieces(30, std::string(30000, ' '));
    third.put(chunked("/echo", pieces));
    r = third.get(5);
    CHECK(r.status == 503);
    CHECK(r.closes());
    REQUIRE(first.put(request.substr(800000)));
    CHECK(first.get().body == sum_of(body));
    CHECK(eventually([&] { return s.stats().body_bytes == 0; }));
    client again(s.port());
    REQUIRE(again.put(request));
    CHECK(again.get().body == sum_of(body));
    CHECK(eventually([&] { return s.stats().body_bytes == 0; }));
}

TEST_CASE("paths and queries are decoded", "[http]")
{
    server s;
    struct {
        const char *path;
        int status;
        const char *body;
    } cases[] = {
        {"/show/a%20b?x=1&y=%26%3D&z=a+b&e=&n", 200, "[a b]x=1;y=&=;z=a b;e=;n=;"},
        {"/show/%E2%82%AC", 200, "[\xe2\x82\xac]"},
        {"/show/100%2525", 200, "[100%25]"},
        {"/show/a%00b", 400, nullptr},
        {"/show/a%zz", 400, nullptr},
        {"/show/a%2", 400, nullptr},
        {"/show/a%", 400, nullptr},
        {"/show/a?x=%00", 400, nullptr},
        {"/show/a?%g0=1", 400, nullptr},
        {"/nothing", 404, nullptr},
    };
    for (auto &k : cases) {
        CAPTURE(k.path);
        client c(s.port());
        REQUIRE(c.put(get(k.path)));
        answer r = c.get();
        CHECK(r.status == k.status);
        if (k.body)
            CHECK(r.body == k.body);
    }
    std::string many = "/show/a?";
    for (int i = 0; i < 201; i++)
        many += "x" + std::to_string(i) + "=1&";
    client c(s.port());
    REQUIRE(c.put(get(many)));
    CHECK(c.get().status == 400);
}

TEST_CASE("a header that says one thing is there once", "[http]")
{
    server s;

    for (const char *twice : {"Host: localhost\r\n", "Idempotency-Key: a\r\n"}) {
        client c(s.port());

        INFO(twice);
        REQUIRE(c.put(std::string("GET /show/a HTTP/1.1\r\nHost: localhost\r\n") + twice +
                      twice + "\r\n"));
        answer r = c.get();
        CHECK(r.status == 400);
        CHECK_THAT(r.body, Catch::Contains("is there more than once"));
    }
}

TEST_CASE("HEAD has the header only; unknown paths and methods keep the connection",
          "[http]")
{
    server s;
    client c(s.port());

    REQUIRE(c.put(get("/show/abc", "HEAD")));
    answer r = c.get(20, true);
    CHECK(r.status == 200);
    CHECK_THAT(r.header, Catch::Contains("Content-Length: 5"));
    REQUIRE(c.put(post("/nothing", text_of(200000))));
    CHECK(c.get().status == 404);
    REQUIRE(c.put(post("/show/abc", text_of(200000))));
    r = c.get();
    CHECK(r.status == 405);
    CHECK_THAT(r.header, Catch::Contains("Allow: GET, HEAD, OPTIONS"));
    REQUIRE(c.put(get("/echo", "OPTIONS")));
    CHECK(c.get().status == 204);
    REQUIRE(c.put(get("/show/still")));
    CHECK(c.get().body == "[still]");
}

TEST_CASE("a body that no route reads is refused, unless it says nothing", "[http]")
{
    server s;
    auto ask = [&](const std::string &head, const std::string &body) {
        client c(s.port());

        REQUIRE(c.put(head + " HTTP/1.1\r\nHost: localhost\r\n" + body));
        return c.get();
    };
    auto counted = [](const std::string &body) {
        return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    };

    for (const char *nothing : {"", "{}", " {\r\n\t}\n"})
        CHECK(ask("GET /show/a", counted(nothing)).status == 200);
    for (const std::string &body :
         {counted("{\"site_id\":\"a\"}"), counted("x"), counted(std::string(1, '\0')),
          std::string("Transfer-Encoding: chunked\r\n\r\n3\r\n{1}\r\n0\r\n\r\n"),
          std::string("Expect: 100-continue\r\nContent-Length: 9\r\n\r\n")}) {
        answer r = ask("GET /show/a", body);
        CAPTURE(body);
        CHECK(r.status == 400);
        CHECK_THAT(r.body, Catch::Contains("GET /show/{id} takes no body"));
    }
    client c(s.port());
    REQUIRE(c.put(post("/echo", "x")));
    CHECK(c.get().status == 200);
}

TEST_CASE("requests whose length is ambiguous are refused", "[http]")
{
    server s;

    for (const char *headers :
         {"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
          "Content-Length: 2\r\nContent-Length: 3\r\n",
          "Transfer-Encoding: gzip, chunked\r\n", "Content-Length: +2\r\n",
          "Content-Length: 2x\r\n", "Content-Length: -2\r\n"}) {
        CAPTURE(headers);
        client c(s.port());
        REQUIRE(c.put(std::string("POST /echo HTTP/1.1\r\nHost: localhost\r\n") +
                      headers + "\r\n"));
        CHECK(c.get(5).status == 400);
        CHECK(c.is_closed(5));
    }
}

TEST_CASE("noise does not disturb the server", "[http]")
{
    server s({"--header-timeout-s", "0.5"});
    rng r = rng_create(7);

    for (int i = 0; i < 60; i++) {
        client c(s.port());
        std::string noise = i % 3 == 0   ? "POST /echo HTTP/1.1\r\n"
                            : i % 3 == 1 ? "GET /show/%41 "
                                         : "";
        for (size_t n = rng_index(&r, 3000); n > 0; n--)
            noise += (char)rng_index(&r, i % 2 ? 256 : 128);
        c.put(noise);
        c.more(0.005);
    }
    client longest(s.port());
    longest.put("GET /show/" + std::string(100000, 'a') + " HTTP/1.1\r\n\r\n");
    CHECK(longest.get(5).status >= 400);
    client c(s.port());
    REQUIRE(c.put(post("/echo", "[1]")));
    CHECK(c.get().body == sum_of("[1]"));
    CHECK(eventually([&] { return s.stats().request_count == 0; }));
}

// ---- clients that are slow, idle or gone ----

TEST_CASE("clients that are too slow are closed, however steadily they trickle", "[http]")
{
    server s({"--header-timeout-s", "0.5", "--body-timeout-s", "0.5",
              "--body-bytes-per-s", "1000", "--keepalive-timeout-s", "1"});
    struct {
        const char *what;
        std::string begin, piece;
    } cases[] = {
        {"says nothing", "", ""},
        {"request line", "G", "E"},
        {"header", "GET /show/a HTTP/1.1\r\n", "x"},
        {"body",
         "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Content-Length: 1000\r\n\r\n",
         "a"},
        {"chunks",
         "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Transfer-Encoding: chunked\r\n\r\n",
         "1\r\na\r\n"},
        {"idle after a request", get("/show/a"), ""},
        {"next request line", get("/show/a"), "P"},
        {"large reply not read", get("/large"), "-"},
    };
    for (auto &k : cases)
        DYNAMIC_SECTION(k.what)
        {
            if (k.piece == "-") {
                // 20 MB at 1,000 bytes a second would be allowed 5.5 hours: not closed.
                server other({"--body-timeout-s", "0.5", "--body-bytes-per-s", "1000"});
                client reader(other.port());

                REQUIRE(reader.put(k.begin));
                std::this_thread::sleep_for(1s);
                CHECK(other.stats().slow_count == 0);
                return;
            }
            client c(s.port());
            steady::time_point start = steady::now();

            c.put(k.begin);
            while (!c.is_closed(0.05) && seconds_since(start) < 30)
                c.put(k.piece);
            CHECK(seconds_since(start) > 0.4);
            CHECK(seconds_since(start) < 20); // a busy machine included
        }
}

TEST_CASE("a slow body that is fast enough is served", "[http]")
{
    server s({"--body-timeout-s", "1.5", "--body-bytes-per-s", "100"});
    client c(s.port());
    std::string body = text_of(2000), request = post("/echo", body);

    for (size_t at = 0; at < request.size(); at += 100) {
        REQUIRE(c.put(request.substr(at, 100)));
        std::this_thread::sleep_for(100ms);
    }
    CHECK(c.get().body == sum_of(body));
}

TEST_CASE("nobody is too slow while the service has its turn", "[http]")
{
    server s({"--body-timeout-s", "0.3", "--body-bytes-per-s", "1e6"});
    client c(s.port());

    REQUIRE(c.put(get("/nap")));
    CHECK(c.get().body == "awake");
    CHECK(s.stats().slow_count == 0);
}

TEST_CASE("a computation learns that its client has gone", "[http]")
{
    server s;

    for (const char *path : {"/gate", "/query"}) {
        gate_cancelled = false;
        gate_entered = 0;
        {
            client c(s.port());
            REQUIRE(c.put(post(path, "[]")));
            REQUIRE(eventually([] { return gate_entered == 1; }));
            std::this_thread::sleep_for(120ms);
            CHECK_FALSE(gate_cancelled);
        }
        CHECK(eventually([] { return gate_cancelled.load(); }));
        CHECK(eventually([&] { return s.stats().connection_count == 0; }));
    }
    CHECK(s.stats().gone_count == 2);
}

TEST_CASE("hang-ups are looked for often, but not at any cost", "[http]")
{
    CHECK(watch_pause_ms(0, 0) == 25);
    CHECK(watch_pause_ms(1, 0) == 10);
    CHECK(watch_pause_ms(1, 0.4) == 10);
    CHECK(watch_pause_ms(200, 0.8) == 20);
    CHECK(watch_pause_ms(0, 0.8) == 25);
    CHECK(watch_pause_ms(1, 2.5) == 50);
    CHECK(watch_pause_ms(0, 1000) == 50);
}

TEST_CASE("a reply goes out whole to a slow reader", "[http]")
{
    server s;
    client c(s.port());

    REQUIRE(c.put(get("/large")));
    std::this_thread::sleep_for(100ms);
    answer r = c.get();
    CHECK(r.status == 200);
    CHECK(r.body.size() == 20'000'000);
}

// ---- many at a time ----

TEST_CASE("what does not fit the queue is refused at once", "[http]")
{
    server s({"--compute-workers", "1", "--compute-queue-length", "2"});
    std::vector<client> waiting;

    for (int i = 0; i < 3; i++) {
        waiting.emplace_back(s.port());
        REQUIRE(waiting.back().put(post("/gate", "[]")));
        REQUIRE(eventually([&] { return s.stats().request_count == (size_t)i + 1; }));
        if (i == 0)
            REQUIRE(eventually([] { return gate_entered == 1; }));
    }
    REQUIRE(eventually([&] {
        struct governor_stats now;

        governor_stats(s.s.governor, &now);
        return now.queues[GOVERNOR_COMPUTE].queued_count == 2;
    }));
    for (int i = 0; i < 5; i++) {
        client c(s.port());
        steady::time_point start = steady::now();
        REQUIRE(c.put(post("/gate", "[]")));
        answer r = c.get();
        CHECK(r.status == 503);
        CHECK(seconds_since(start) < 5);
        CHECK_THAT(r.header, Catch::Contains("Retry-After: "));
        CHECK_THAT(r.body, Catch::Contains("\"busy\"") || Catch::Contains("waiting"));
        REQUIRE(c.put(post("/echo", "[]"))); // the connection goes on
        CHECK(c.get().status == 200);
    }
    gate_open = true;
    for (client &c : waiting)
        CHECK(c.get().body == "through");
    CHECK(s.stats().refused_count == 5);
}

TEST_CASE("small decisions are quick while all processors search", "[http]")
{
    unsigned cores = std::max(2u, std::thread::hardware_concurrency());
    std::string workers = std::to_string(cores);
    server s({"--compute-workers", workers.c_str()});
    std::vector<client> searches;
    std::vector<double> times;
    client c(s.port());

    for (unsigned i = 0; i < cores; i++) {
        searches.emplace_back(s.port());
        REQUIRE(searches.back().put(post("/spin", "[]")));
    }
    REQUIRE(eventually([&] { return gate_entered == (int)cores; }));
    for (int i = 0; i < 200; i++) {
        steady::time_point start = steady::now();
        REQUIRE(c.put(post("/echo", "[1]")));
        REQUIRE(c.get().status == 200);
        times.push_back(seconds_since(start));
    }
    gate_open = true;
    for (client &search : searches)
        CHECK(search.get().body == "spun");
    std::sort(times.begin(), times.end());
    CHECK(times[100] < 1); // a sanitizer and a busy machine included
    INFO("median " << times[100] << " s, longest " << times.back() << " s");
    CHECK(times[190] < 5);
}

TEST_CASE("idle connections do not keep others out", "[http]")
{
    server s({"--max-connections", "200", "--io-threads", "1"});
    std::vector<client> idle;

    for (int i = 0; i < 150; i++) {
        idle.emplace_back(s.port());
        REQUIRE(idle.back().put(get("/show/a")));
        REQUIRE(idle.back().get().status == 200);
    }
    for (int i = 0; i < 300; i++) {
        idle.emplace_back(s.port());
        REQUIRE(idle.back().put(get("/show/a")));
        REQUIRE(idle.back().get().status == 200);
        if (i % 10 == 0)
            std::this_thread::sleep_for(20ms);
    }
    CHECK(s.stats().idle_count > 200);
    CHECK(idle.front().is_closed(10)); // the longest idle one
    REQUIRE(idle.back().put(get("/show/b")));
    CHECK(idle.back().get().body == "[b]");
}

TEST_CASE("thousands of idle connections cost others nothing", "[http]")
{
    server s;
    std::vector<client> idle;

    for (int i = 0; i < 2000; i++) {
        idle.emplace_back(s.port());
        REQUIRE(idle.back().fd >= 0);
    }
    client c(s.port());
    steady::time_point start = steady::now();
    for (int i = 0; i < 50; i++) {
        REQUIRE(c.put(post("/echo", "[1]")));
        REQUIRE(c.get().status == 200);
    }
    CHECK(seconds_since(start) < 20);
    CHECK(eventually([&] { return s.stats().connection_count == 2001; }));
}

TEST_CASE("many clients at once are all answered", "[http]")
{
    server s({"--compute-queue-length", "1000"});
    std::vector<std::thread> threads;
    std::atomic<int> good{0};

    gate_open = true;
    for (int t = 0; t < 8; t++)
        threads.emplace_back([&, t] {
            client c(s.port());
            for (int i = 0; i < 60; i++) {
                std::string body = text_of(3 + (size_t)(i * 997 + t));
                if (i % 10 == 9) {
                    client other(s.port());
                    std::swap(c, other);
                }
                if (i % 3 == 0)
                    good += c.put(post("/gate", "[]")) && c.get().body == "through";
                else
                    good += c.put(post("/echo", body)) && c.get().body == sum_of(body);
            }
        });
    for (auto &t : threads)
        t.join();
    CHECK(good == 480);
}

// ---- the end ----

TEST_CASE("draining finishes what is in flight and takes nothing new", "[http]")
{
    server s;
    client running(s.port()), idle(s.port());

    REQUIRE(idle.put(get("/show/a")));
    REQUIRE(idle.get().status == 200);
    REQUIRE(running.put(post("/gate", "[]")));
    REQUIRE(eventually([] { return gate_entered == 1; }));
    http_drain(s.h);
    CHECK(s.s.draining);
    REQUIRE(idle.put(get("/show/b"))); // was sent before the client could know
    answer r = idle.get();
    CHECK(r.body == "[b]");
    CHECK_THAT(r.header, Catch::Contains("Connection: close"));
    client late(s.port());
    CHECK(late.fd < 0);
    std::thread opener([] {
        std::this_thread::sleep_for(300ms);
        gate_open = true;
    });
    steady::time_point start = steady::now();
    CHECK(http_wait(s.h, 20));
    CHECK(seconds_since(start) < 30);
    opener.join();
    r = running.get();
    CHECK(r.body == "through");
    CHECK_FALSE(gate_cancelled);
    CHECK_THAT(r.header, Catch::Contains("Connection: close"));
    http_close(s.h);
    s.h = nullptr;
}

// auth_find_fn: the one key there is.
static error_code find_key(void *context, const char *key_id, auth_key *key, error *err)
{
    const auth_key *known = static_cast<const auth_key *>(context);

    if (strcmp(known->key_id, key_id) != 0)
        return fail(err, ERR_NOT_FOUND, "", "there is none");
    *key = *known;
    return OK;
}

TEST_CASE("queries go in turn by owner, not as they came", "[http]")
{
    server s({"--query-workers", "1"});
    std::vector<client> greedy;

    turns.clear();
    for (size_t i = 0; i < 4; i++) {
        greedy.emplace_back(s.port());
        REQUIRE(greedy.back().put(get("/turn")));
        REQUIRE(eventually([&] {
            return s.queue(GOVERNOR_QUERY).queued_count + (size_t)gate_entered == i + 1;
        }));
    }
    client other(s.port(), "127.0.0.2");
    REQUIRE(other.put(get("/turn")));
    REQUIRE(eventually([&] { return s.queue(GOVERNOR_QUERY).queued_count == 4; }));
    CHECK(s.queue(GOVERNOR_QUERY).running_count == 1);
    gate_open = true;
    CHECK(other.get().body == "done");
    for (auto &c : greedy)
        CHECK(c.get().body == "done");
    CHECK(turns == std::vector<std::string>{"127.0.0.1", "127.0.0.2", "127.0.0.1",
                                            "127.0.0.1", "127.0.0.1"});
}

TEST_CASE("what an I/O thread computes is charged to its owner", "[http]")
{
    server s({"--compute-workers", "1"});
    client busy(s.port()), asks(s.port(), "127.0.0.2"), waits(s.port(), "127.0.0.2");

    REQUIRE(busy.put(post("/gate", "[]")));
    REQUIRE(eventually([] { return gate_entered == 1; }));
    for (int i = 0; i < 10; i++) {
        REQUIRE(asks.put(post("/echo", text_of(10'000))));
        CHECK(asks.get().status == 200);
    }
    REQUIRE(waits.put(post("/gate", "[]")));
    REQUIRE(eventually([&] { return s.queue(GOVERNOR_COMPUTE).queued_count == 1; }));
    CHECK(s.queue(GOVERNOR_COMPUTE).spread_s > 0); // the first one has not looked yet
    gate_open = true;
    CHECK(busy.get().body == "through");
    CHECK(waits.get().body == "through");
}

TEST_CASE("a quota of computations at once is the tenant's own limit", "[http]")
{
    server s({"--auth", "on"});
    client first(s.port()), second(s.port()), third(s.port());
    char text[AUTH_KEY_SIZE];
    auth_key key{};

    REQUIRE(auth_key_make(text, &key));
    strcpy(key.tenant, "t");
    key.scopes = SCOPE_DECIDE;
    key.expires_at_s = NAN;
    key.quota = key.tenant_quota = quota_none();
    key.tenant_quota.concurrent_count = 1;
    s.s.auth = auth_create(true, 5, find_key, &key);
    std::string header = "Authorization: Bearer " + std::string(text) + "\r\n";

    gate_open = true;
    REQUIRE(first.put(post("/gate", "[]", header)));
    CHECK(first.get().body == "through"); // from now on the key is remembered
    gate_open = false;
    REQUIRE(first.put(post("/gate", "[]", header)));
    REQUIRE(eventually([] { return gate_entered == 2; }));
    REQUIRE(second.put(post("/gate", "[]", header)));
    REQUIRE(eventually([&] {
        struct governor_stats now;

        governor_stats(s.s.governor, &now);
        return now.queues[GOVERNOR_COMPUTE].queued_count == 1 &&
               now.queues[GOVERNOR_COMPUTE].owners[0].name == std::string("t");
    })); // a worker is free, and not for t
    REQUIRE(third.put(post("/gate", "[]", header)));
    answer refused = third.get();
    CHECK(refused.status == 429);
    CHECK(refused.field("Retry-After") == "1");
    CHECK(refused.json()["violated_policies"] == nlohmann::json{"concurrent"});
    CHECK(gate_entered == 2);
    gate_open = true;
    CHECK(first.get().body == "through");
    CHECK(second.get().body == "through");
    s.stop(10);
    auth_close(s.s.auth);
}

// Two tenants with a key each, and what each may take.
struct two_tenants {
    std::map<std::string, auth_key> keys;
    std::string bearer[2];

    explicit two_tenants(server &s)
    {
        for (int i = 0; i < 2; i++) {
            char text[AUTH_KEY_SIZE];
            auth_key key{};

            REQUIRE(auth_key_make(text, &key));
            snprintf(key.tenant, sizeof(key.tenant), "tenant%d", i);
            key.scopes = SCOPE_DECIDE;
            key.expires_at_s = NAN;
            key.quota = key.tenant_quota = quota_none();
            keys[key.key_id] = key;
            bearer[i] = "Authorization: Bearer " + std::string(text) + "\r\n";
        }
        s.s.auth = auth_create(true, 5, find, &keys);
        s.s.limits = ratelimit_create(64);
        s.s.cpu_quota = cpu_quota_create(nullptr, 60);
        REQUIRE((s.s.auth && s.s.limits && s.s.cpu_quota));
    }
    auth_key &of(const char *tenant)
    {
        for (auto &[id, key] : keys)
            if (std::string(key.tenant) == tenant)
                return key;
        throw std::out_of_range(tenant);
    }
    static error_code find(void *context, const char *key_id, auth_key *key, error *err)
    {
        auto &all = *static_cast<std::map<std::string, auth_key> *>(context);
        auto at = all.find(key_id);

        if (at == all.end())
            return fail(err, ERR_NOT_FOUND, "", "there is none");
        *key = at->second;
        return OK;
    }
    static void release(server &s)
    {
        cpu_quota_close(s.s.cpu_quota);
        ratelimit_close(s.s.limits);
        auth_close(s.s.auth);
    }
};

static nlohmann::json quotas_of(client &c, const std::string &bearer)
{
    std::string text = get("/quotas");

    REQUIRE(c.put(text.insert(text.size() - 2, bearer)));
    answer a = c.get();
    REQUIRE(a.status == 200);
    return a.json()["items"];
}

TEST_CASE("every quota in force is shown, and used up while it computes", "[http][quota]")
{
    server s({"--auth", "on"});
    two_tenants tenants(s);
    auth_key &first = tenants.of("tenant0"), &second = tenants.of("tenant1");
    client a(s.port()), b(s.port()), searching(s.port());

    first.quota.rate_per_s = 1;
    first.quota.burst_count = 100;
    first.quota.cpu_s_per_hour = 20;
    first.quota.concurrent_count = 8;
    first.tenant_quota.concurrent_count = 2;
    first.tenant_quota.memory_bytes = 1e9;
    first.quota.memory_bytes = 2e9;
    first.quota.time_limit_max_s = 7;
    second.tenant_quota.cpu_s_per_hour = 20;

    nlohmann::json items = quotas_of(a, tenants.bearer[0]);
    REQUIRE(items.size() == 5);
    CHECK(items[0]["policy"] == "default");
    CHECK(items[1]["policy"] == "cpu");
    CHECK(items[1]["remaining"] == 20);
    CHECK(items[2] == nlohmann::json::parse(R"({"policy": "concurrent",
        "scope": "tenant", "limit": 2, "unit": "concurrent-requests", "remaining": 2})"));
    CHECK(items[3] == nlohmann::json::parse(R"({"policy": "memory", "scope": "tenant",
        "limit": 1000000000, "unit": "bytes", "remaining": 1000000000})"));
    CHECK(items[4] == nlohmann::json::parse(R"({"policy": "time_limit", "scope": "key",
        "limit": 7, "unit": "seconds", "remaining": 7})"));
    REQUIRE(quotas_of(b, tenants.bearer[1]).size() == 1);

    REQUIRE(searching.put(post("/search", "[]", tenants.bearer[0])));
    REQUIRE(eventually([] { return gate_entered == 1; }));
    REQUIRE(eventually([&] { // long before it ends
        items = quotas_of(a, tenants.bearer[0]);
        return items[1]["remaining"] < 20;
    }));
    CHECK(items[2]["remaining"] == 1);
    CHECK(items[3]["remaining"] < 999'000'000);
    items = quotas_of(b, tenants.bearer[1]);
    CHECK(items[0]["remaining"] == 20);
    gate_open = true;
    answer found = searching.get();
    CHECK(found.body == "found");
    CHECK(found.field("RateLimit-Policy") ==
          "\"default\";q=100;w=100, \"concurrent\";q=2;qu=\"concurrent-requests\"");
    CHECK_THAT(found.field("RateLimit"), Catch::StartsWith("\"default\";r=9") &&
                                             Catch::EndsWith(";t=1, \"concurrent\";r=1"));

    // Without a limit of requests, and of what is refused outside of a handler.
    REQUIRE(b.put(post("/gate", "[]", tenants.bearer[1])));
    CHECK(b.get().field("RateLimit") == "");
    REQUIRE(a.put("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/json\r\nContent-Length: 999999999999\r\n" +
                  tenants.bearer[0] + "\r\n"));
    answer refused = a.get();
    CHECK(refused.status == 413);
    s.stop(10);
    two_tenants::release(s);
}

TEST_CASE("when the grace is over computations are cut short and answer", "[http]")
{
    server s({"--compute-workers", "1"});
    client first(s.port()), second(s.port());

    REQUIRE(first.put(post("/gate", "[]")));
    REQUIRE(second.put(post("/gate", "[]")));
    REQUIRE(eventually([] { return gate_entered == 1; }));
    steady::time_point start = steady::now();
    s.stop(0.3);
    CHECK(seconds_since(start) < 20);
    CHECK(gate_cancelled);
    CHECK(first.get().body == "through");
    answer waiting = second.get(); // begun when the first ended, or never
    CHECK((waiting.body == "through" || waiting.status == 503));
}

TEST_CASE("a port that is taken is reported with what to do", "[http]")
{
    server s;
    std::string port = std::to_string(http_port(s.h));
    const char *no_environment[] = {nullptr},
               *flags[] = {"--port", port.c_str(), nullptr};
    test_arena a;
    error err = collecting_error(a);
    config c{};
    struct service other {
    };
    struct http *h = nullptr;

    REQUIRE(config_read(no_environment, flags, &c, a, &err) == OK);
    other.config = &c;
    other.routes = test_routes;
    CHECK(http_start(&other, &h, &err) == ERR_CONFLICT);
    CHECK(h == nullptr);
    CHECK_THAT(err.text, Catch::Contains(port) && Catch::Contains("--port"));
}

// ---- the program ----

// Runs the program; what it printed on both outputs and its exit status.
static std::string run_program(const std::string &arguments, int *status)
{
    std::string text,
        command = std::string("env -u DATABASE_URL -u PGHOST -u PGDATABASE ") +
                  build_binary + " " + arguments + " 2>&1";
    FILE *out = popen(command.c_str(), "re");
    char buffer[4096];

    REQUIRE(out);
    while (size_t n = fread(buffer, 1, sizeof(buffer), out))
        text.append(buffer, n);
    int code = pclose(out);
    *status = WIFEXITED(code) ? WEXITSTATUS(code) : -1;
    return text;
}

TEST_CASE("the program checks its command line", "[http][program]")
{
    struct {
        const char *arguments;
        int status;
        const char *says;
    } cases[] = {
        {"--version", 0, "gridplan "},
        {"--help", 0, "--max-body-bytes"},
        {"--check-config --database postgres://u:hunter2@h/d", 0, "postgres://u:***@h/d"},
        {"--check-config --port x --bind y", 2, "bind: 'y' is no"},
        {"sevre", 2, "no command 'sevre'"},
        {"migrate", 2, "no database is set"},
        {"key", 2, "key create"},
        {"key create --scopes root --database postgresql://localhost:1/x", 2,
         "no scope 'root'"},
        {"key list --database postgresql://127.0.0.1:1/x", 1, "gridplan: "},
        {"--bind 203.0.113.1 --port 0", 1, "no address of this machine"},
        {"algorithms heft", 0, "rank_u(i) ="}, // the page of one, rows of several
        {"algorithms fcfs", 0, "family: replication"},
        {"algorithms hefty", 2, "there is no 'hefty'"},
    };
    for (auto &k : cases) {
        int status = -1;
        CAPTURE(k.arguments);
        CHECK_THAT(run_program(k.arguments, &status), Catch::Contains(k.says));
        CHECK(status == k.status);
    }
}

// The program as a child, with its stderr; the port is read from its first lines.
struct program {
    pid_t pid = -1;
    int port = 0, out = -1;
    std::string text;

    explicit program(std::vector<const char *> flags)
    {
        int ends[2];

        REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
        flags.insert(flags.begin(), {build_binary, "--port", "0"});
        flags.push_back(nullptr);
        pid = fork();
        if (pid == 0) {
            dup2(ends[1], 2);
            unsetenv("DATABASE_URL");
            unsetenv("PGHOST");
            unsetenv("PGDATABASE");
            execv(build_binary, const_cast<char *const *>(flags.data()));
            _exit(127);
        }
        close(ends[1]);
        out = ends[0];
        for (size_t at; port == 0 && read_more();)
            if ((at = text.find("on http://127.0.0.1:")) != std::string::npos)
                port = atoi(text.c_str() + at + 20);
    }
    bool read_more()
    {
        char buffer[4096];
        ssize_t n = read(out, buffer, sizeof(buffer));

        if (n > 0)
            text.append(buffer, (size_t)n);
        return n > 0;
    }
    int end()
    {
        int status = 0;

        while (read_more())
            ;
        if (pid > 0)
            waitpid(pid, &status, 0);
        pid = -1;
        return status;
    }
    ~program()
    {
        if (pid > 0) {
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
        }
        close(out);
    }
};

TEST_CASE("the program starts without a database and ends with SIGTERM",
          "[http][program]")
{
    program p({"--log-level", "info"});
    REQUIRE(p.port > 0);
    client c(p.port);

    CHECK_THAT(p.text,
               Catch::Contains("no database") || Catch::Contains("keys not required"));
    REQUIRE(c.put(get("/livez")));
    CHECK(c.get().status == 200);
    REQUIRE(c.put(get("/readyz")));
    CHECK(c.get().status == 200);
    REQUIRE(c.put(get("/metrics")));
    std::string metrics = c.get().body;
    for (const char *name :
         {"\ngridplan_http_connections 1\n",
          "\ngridplan_worker_queue_depth{pool=\"compute\"} 0\n",
          "\ngridplan_build_info{version=",
          "\ngridplan_http_requests_total{route=\"/livez\",code=\"200\"} 1\n"})
        CHECK_THAT(metrics, Catch::Contains(name));
    CHECK_THAT(metrics, !Catch::Contains("\nhttp_connections"));
    REQUIRE(c.put(get("/v1/algorithms")));
    CHECK(c.get().status == 200);
    kill(p.pid, SIGHUP);
    REQUIRE(c.put(get("/livez")));
    CHECK(c.get().status == 200);
    kill(p.pid, SIGTERM);
    int status = p.end();
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK_THAT(p.text, Catch::Contains("\"route\":\"/v1/algorithms\"") &&
                           Catch::Contains("\"msg\":\"ended\""));
    for (const char *probe : {"/livez", "/readyz", "/metrics"})
        CHECK_THAT(p.text, !Catch::Contains("\"route\":\"" + std::string(probe) + "\""));
}

TEST_CASE("probes and scrapes are in the log when everything is, or when they fail",
          "[http][program]")
{
    program p({"--log-level", "debug", "--metrics-names", "both"});
    REQUIRE(p.port > 0);
    client c(p.port);

    for (const char *probe : {"/livez", "/readyz", "/metrics"}) {
        REQUIRE(c.put(get(probe)));
        CHECK(c.get().status == 200);
    }
    REQUIRE(c.put(get("/metrics")));
    CHECK_THAT(
        c.get().body,
        Catch::Contains("\nhttp_connections 1\n") &&
            Catch::Contains("\ngridplan_http_connections 1\n") &&
            Catch::Contains("\nhttp_requests_total{route=\"/livez\",method=\"GET\","
                            "code=\"200\"} 1\n"));
    kill(p.pid, SIGTERM);
    p.end();
    for (const char *probe : {"/livez", "/readyz", "/metrics"})
        CHECK_THAT(p.text, Catch::Contains("\"route\":\"" + std::string(probe) + "\""));

    program down({"--database", "postgresql://127.0.0.1:1/x"});
    REQUIRE(down.port > 0);
    client d(down.port);
    REQUIRE(d.put(get("/readyz")));
    CHECK(d.get().status == 503);
    kill(down.pid, SIGTERM);
    down.end();
    CHECK_THAT(down.text, Catch::Contains("\"route\":\"/readyz\""));
}

TEST_CASE("the largest owners are told on the listener of operators only",
          "[http][program]")
{
    program alone({}), p({"--admin-bind", "127.0.0.1"});
    REQUIRE(alone.port > 0);
    REQUIRE(p.port > 0);
    std::string admin = "probes and metrics alone on 127.0.0.1 port ";
    while (p.text.find(admin) == std::string::npos && p.read_more())
        ;
    REQUIRE(p.text.find(admin) != std::string::npos);
    client first(p.port),
        second(atoi(p.text.c_str() + p.text.find(admin) + admin.size())),
        only(alone.port);

    REQUIRE(first.put(get("/metrics")));
    CHECK(first.get().status == 404);
    REQUIRE(second.put(get("/metrics")));
    std::string told = second.get().body;
    CHECK_THAT(told, Catch::Contains("\ngridplan_owner_jobs{owner=\"other\",") &&
                         Catch::Contains("\ngridplan_http_connections "));
    REQUIRE(only.put(get("/metrics")));
    answer r = only.get();
    CHECK(r.status == 200);
    CHECK_THAT(r.body, !Catch::Contains("owner_jobs") && !Catch::Contains("owner="));
}

TEST_CASE("a second signal stops the server at once", "[http][program]")
{
    program p({"--log-level", "info"});
    REQUIRE(p.port > 0);
    client c(p.port);
    steady::time_point start = steady::now();

    REQUIRE(c.put(
        "POST /v1/checkpoint-intervals HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        "application/json\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n"));
    REQUIRE(eventually([&] { return c.more(0.1) || !c.pending.empty(); }));
    REQUIRE(c.pending.rfind("HTTP/1.1 100", 0) == 0); // it waits for the body
    kill(p.pid, SIGTERM);
    while (p.text.find("SIGTERM") == std::string::npos && p.read_more())
        ;
    std::this_thread::sleep_for(300ms);
    CHECK(waitpid(p.pid, nullptr, WNOHANG) == 0); // the request is still in flight
    kill(p.pid, SIGTERM);
    int status = p.end();
    CHECK(WIFSIGNALED(status));
    CHECK(seconds_since(start) < 30);
}

TEST_CASE("keys are compulsory when told so, and an unreachable database is said",
          "[http][program]")
{
    program p({"--auth", "on", "--database", "postgresql://127.0.0.1:1/x"});
    REQUIRE(p.port > 0);
    client c(p.port);

    REQUIRE(c.put(get("/livez")));
    CHECK(c.get().status == 200);
    REQUIRE(c.put(get("/readyz")));
    CHECK(c.get().status == 503);
    REQUIRE(c.put(post("/v1/checkpoint-intervals", "{}")));
    answer r = c.get();
    CHECK(r.status == 401);
    CHECK_THAT(r.header, Catch::Contains("WWW-Authenticate: Bearer"));
    std::string key =
        "Authorization: Bearer gp_000000000000_" + std::string(64, 'a') + "\r\n";
    client other(p.port); // a body that was refused is not read to its end
    REQUIRE(other.put(post("/v1/checkpoint-intervals", "{}", key)));
    CHECK(other.get().status == 503); // the key cannot be looked up now
    kill(p.pid, SIGTERM);
    CHECK(WEXITSTATUS(p.end()) == 0);
    CHECK_THAT(p.text, Catch::Contains("without the database for now"));
}

TEST_CASE("keys are made, used and revoked", "[http][program][db]")
{
    const char *url = getenv("GRIDPLAN_TEST_DATABASE_URL");
    if (!url)
        FAIL("GRIDPLAN_TEST_DATABASE_URL is not set");
    std::string database = std::string(" --database '") + url + "'";
    int status = -1;

    run_program("migrate" + database, &status);
    REQUIRE(status == 0);
    std::string said = run_program(
        "key create --tenant alpha --scopes decide --expires-days 1 --label test" +
            database,
        &status);
    REQUIRE(status == 0);
    std::string key = said.substr(said.rfind("gp_"), 80), id = key.substr(3, 12);
    CHECK_THAT(run_program("key list --tenant alpha" + database, &status),
               Catch::Contains(id) && Catch::Contains("valid") && !Catch::Contains(key));
    CHECK_THAT(run_program("key list --tenant beta" + database, &status),
               !Catch::Contains(id));

    program p({"--auth", "on", "--database", url});
    REQUIRE(p.port > 0);
    std::string header = "Authorization: Bearer " + key + "\r\n";
    auto ask = [&](const char *path) { // whose key is refused loses the connection
        client c(p.port);
        REQUIRE(c.put(post(path, "{}", header)));
        return c.get().status;
    };
    CHECK(ask("/v1/checkpoint-intervals") == 422); // let in; the body lacks members
    CHECK(ask("/v1/load-samples") == 403);
    run_program("key revoke " + id + database, &status);
    CHECK(status == 0);
    kill(p.pid, SIGHUP);
    CHECK(eventually([&] { return ask("/v1/checkpoint-intervals") == 401; }));
    CHECK_THAT(run_program("key list --tenant alpha" + database, &status),
               Catch::Contains("revoked"));
    run_program("key revoke 000000000000" + database, &status);
    CHECK(status == 1);
    kill(p.pid, SIGTERM);
    CHECK(WEXITSTATUS(p.end()) == 0);
}
