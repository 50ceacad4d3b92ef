// system_hostile_test.cpp - clients that mean harm, or do not know better. After each
// the program still answers, and its memory comes back.
#include "tests/support.hpp"
#include "tests/system.hpp"

#include <random>
#include <zlib.h>

namespace
{
constexpr size_t MIB = 1 << 20;
// Freed memory stays in AddressSanitizer's quarantine (256 MiB) for a while.
const size_t SANE_BYTES = SLOWER == 1 ? 160 * MIB : 1500 * MIB;

const char *const QUICK[] = {"--header-timeout-s", "1", "--body-timeout-s", "1.5"};

void check_healthy(const gridplan &g, const char *after)
{
    CAPTURE(after);
    CHECK(g.get("/livez").status == 200);
    CHECK(g.post("/v1/checkpoint-intervals", checkpoint_body()).status == 200);
    CHECK(g.post("/v1/placements", placement_body()).status == 200);
    CHECK(eventually([&] { return g.metric("gridplan_http_body_memory_bytes") == 0; }));
    size_t bytes = 0;
    CHECK(eventually([&] { return (bytes = resident_bytes(g.pid)) < SANE_BYTES; }, 10));
    CAPTURE(bytes / MIB);
    report(REPORT("after " << after << ": " << bytes / MIB << " MiB resident"));
}

std::string gzip(const std::string &piece, size_t times)
{
    z_stream z{};
    std::string out;
    char buffer[65536];

    REQUIRE(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    for (size_t i = 0; i <= times; i++) {
        z.next_in = (Bytef *)piece.data();
        z.avail_in = i < times ? (uInt)piece.size() : 0;
        do {
            z.next_out = (Bytef *)buffer;
            z.avail_out = sizeof(buffer);
            deflate(&z, i < times ? Z_NO_FLUSH : Z_FINISH);
            out.append(buffer, sizeof(buffer) - z.avail_out);
        } while (z.avail_out == 0);
    }
    deflateEnd(&z);
    return out;
}

std::string repeated(const std::string &what, size_t times)
{
    std::string text;

    text.reserve(what.size() * times);
    for (size_t i = 0; i < times; i++)
        text += what;
    return text;
}
} // namespace

// ---- bodies ----

TEST_CASE("hostile JSON is refused with a problem, and the connection goes on",
          "[system]")
{
    gridplan g;
    constexpr int DEEP = 1000000;
    struct {
        const char *what;
        std::string body;
    } cases[] = {
        {"deep arrays", std::string(DEEP, '[')},
        {"deep arrays, closed", std::string(DEEP, '[') + std::string(DEEP, ']')},
        {"deep objects", repeated("{\"a\":", DEEP) + "1" + std::string(DEEP, '}')},
        {"deep in labels", "{\"labels\":" + std::string(DEEP, '[') +
                               std::string(DEEP, ']') + "," +
                               checkpoint_body().substr(1)},
        {"a repeated member", "{\"algorithm\":\"young\"," + checkpoint_body().substr(1)},
        {"a member repeated with an escape",
         "{\"\\u0061lgorithm\":\"young\"," + checkpoint_body().substr(1)},
        {"1e999",
         R"({"algorithm":"young","jobs":[{"id":"j","checkpoint_overhead_s":1e999,"mean_failure_interval_s":3600}]})"},
        {"-1e999",
         R"({"algorithm":"young","jobs":[{"id":"j","checkpoint_overhead_s":-1e999,"mean_failure_interval_s":3600}]})"},
        {"NaN",
         R"({"algorithm":"young","jobs":[{"id":"j","checkpoint_overhead_s":NaN,"mean_failure_interval_s":3600}]})"},
        {"U+0000",
         R"({"algorithm":"young\u0000","jobs":[{"id":"j","checkpoint_overhead_s":60,"mean_failure_interval_s":3600}]})"},
        {"U+0000 in an id",
         R"({"algorithm":"young","jobs":[{"id":"j\u0000k","checkpoint_overhead_s":60,"mean_failure_interval_s":3600}]})"},
        {"U+0000 in a name", R"({"algorithm\u0000x":"young","jobs":[]})"},
        {"a NUL byte", checkpoint_body() + std::string(1, '\0')},
        {"a NUL byte inside", "{\"algorithm\":\"yo" + std::string(1, '\0') + "ung\"}"},
        {"invalid UTF-8", "{\"algorithm\":\"\xff\xfe\",\"jobs\":[]}"},
        {"overlong UTF-8", "{\"algorithm\":\"\xc0\xaf\",\"jobs\":[]}"},
        {"a surrogate in UTF-8", "{\"algorithm\":\"\xed\xa0\x80\",\"jobs\":[]}"},
        {"cut UTF-8", "{\"algorithm\":\"\xf0\x9f\x98\",\"jobs\":[]}"},
        {"half a surrogate pair", R"({"algorithm":"\ud800","jobs":[]})"},
        {"text after the value", checkpoint_body() + "x"},
        {"two values", checkpoint_body() + checkpoint_body()},
        {"no value", " "},
        {"half a value", checkpoint_body().substr(0, 40)},
        {"another type", "[]"},
        {"a seed beyond 2^53",
         "{\"seed\":9007199254740993," + checkpoint_body().substr(1)},
        {"a number of a million digits",
         "{\"seed\":1" + std::string(DEEP, '0') + "," + checkpoint_body().substr(1)},
        {"a name of a million letters",
         "{\"" + std::string(DEEP, 'a') + "\":1," + checkpoint_body().substr(1)},
        {"a million members",
         "{" + repeated("\"a\":1,", DEEP) + checkpoint_body().substr(1)},
        {"a million mistakes",
         "{\"algorithm\":\"young\",\"jobs\":[" + repeated("1,", DEEP) + "1]}"},
        {"single quotes", "{'algorithm':'young'}"},
        {"a comment", "/* */" + checkpoint_body()},
    };

    for (auto &c : cases) {
        CAPTURE(c.what);
        client to(g.port);
        answer r = to.call(request("POST", "/v1/checkpoint-intervals", c.body));
        bool refused = r.status == 400 || r.status == 413 || r.status == 422;
        CAPTURE(r.status, r.body.substr(0, 300));
        CHECK(refused);
        CHECK_THAT(r.field("Content-Type"),
                   Catch::StartsWith("application/problem+json"));
        CHECK(r.body.size() < 100000);
        if (refused)
            CHECK(r.json().at("status") == r.status);
        CHECK(to.call(request("POST", "/v1/checkpoint-intervals", checkpoint_body()))
                  .status == 200);
    }
    check_healthy(g, "hostile JSON");
    g.stop();
}

TEST_CASE("bodies that are too large are refused, whatever they are wrapped in",
          "[system]")
{
    gridplan g({"--max-body-bytes", "33554432", "--request-memory-bytes", "134217728"});
    constexpr size_t LARGE = 100 * MIB;
    size_t before = resident_bytes(g.pid), peak = 0;
    auto note_peak = [&] { peak = std::max(peak, resident_bytes(g.pid)); };

    SECTION("with its length: refused before it comes")
    {
        client c(g.port);
        REQUIRE(c.put("POST /v1/placements HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                      "application/json\r\nContent-Length: " +
                      std::to_string(LARGE) + "\r\n\r\n"));
        CHECK(c.get().status == 413);
        std::string piece(MIB, ' ');
        for (size_t i = 0; i < LARGE / MIB && c.put(piece); i++)
            note_peak();
        CHECK(c.is_closed(10));
    }
    SECTION("with Expect: 100-continue")
    {
        client c(g.port);
        answer r =
            c.call("POST /v1/placements HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                   "application/json\r\n"
                   "Expect: 100-continue\r\nContent-Length: " +
                   std::to_string(LARGE) + "\r\n\r\n");
        CHECK(r.status == 413);
    }
    SECTION("in chunks")
    {
        client c(g.port);
        std::string piece = "100000\r\n" + std::string(MIB, ' ') + "\r\n";
        bool open =
            c.put("POST /v1/placements HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/json\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n");
        for (size_t i = 0; i < LARGE / MIB && open; i++) {
            open = c.put(piece);
            note_peak();
        }
        if (open)
            c.put("0\r\n\r\n");
        answer r = c.get(20);
        CHECK((r.status == 413 || (r.status == 0 && !open)));
        CHECK(peak < before + 80 * MIB * (size_t)SLOWER);
    }
    SECTION("a gzip bomb of 1 GiB in a few MiB")
    {
        std::string bomb = gzip(std::string(MIB, ' '), 1024);
        REQUIRE(bomb.size() < 8 * MIB);
        answer r = g.post("/v1/placements", bomb, "Content-Encoding: gzip\r\n");
        CHECK(r.status == 413);
        note_peak();
        CHECK(peak < before + 120 * MIB * (size_t)SLOWER);
    }
    SECTION("a gzip bomb of JSON, eight at a time")
    {
        std::string bomb = gzip("[" + repeated("[],", MIB / 3), 60);
        for (int round = 0; round < 3; round++) {
            std::vector<client> all;
            for (int i = 0; i < 8; i++) {
                all.emplace_back(g.port);
                REQUIRE(all.back().put(request("POST", "/v1/load-samples", bomb,
                                               "Content-Encoding: gzip\r\n")));
            }
            for (auto &c : all)
                CHECK(c.get().status == 413);
            report(REPORT(resident_bytes(g.pid) / MIB << " MiB resident after round "
                                                      << round));
        }
    }
    SECTION("JSON that grows when it is read, several at a time")
    {
        const int together = SLOWER == 1 ? 8 : 3; // a sanitizer takes 20 s for eight
        const std::vector<std::pair<const char *, std::string>> bombs = {
            {"/v1/load-samples", gzip("[" + repeated("[],", 10 * MIB) + "0]", 1)},
            {"/v1/placements",
             gzip("{\"jobs\":[" + repeated("{},", 10 * MIB) + "0]}", 1)},
            {"/v1/placements",
             gzip("{\"labels\":[" + repeated("1,", 15 * MIB) + "0]}", 1)},
            {"/v1/snapshots", gzip("{" + repeated("\"a\":0,", 5 * MIB) + "\"b\":1}", 1)},
        };
        for (auto &b : bombs) {
            std::vector<client> all;
            for (int i = 0; i < together; i++) {
                all.emplace_back(g.port);
                REQUIRE(all.back().put(
                    request("POST", b.first, b.second, "Content-Encoding: gzip\r\n")));
            }
            for (auto &c : all) {
                answer r = c.get(120);
                CAPTURE(b.first, r.status, r.body.substr(0, 300));
                CHECK((r.status == 413 || r.status == 422 || r.status == 400));
                note_peak();
            }
        }
        CHECK(peak < 10 * 128 * MIB * (size_t)SLOWER);
    }
    SECTION("damaged gzip")
    {
        std::string good = gzip(checkpoint_body(), 1);
        CHECK(g.post("/v1/checkpoint-intervals", good, "Content-Encoding: gzip\r\n")
                  .status == 200);
        for (size_t i = 0; i < good.size(); i++) {
            std::string bad = i % 2 ? good.substr(0, i) : good;
            bad[std::min(i, bad.size() - 1)] ^= 0x55;
            int status =
                g.post("/v1/checkpoint-intervals", bad, "Content-Encoding: gzip\r\n")
                    .status;
            CAPTURE(i, status);
            CHECK((status == 400 || status == 413 || status == 422 ||
                   (status == 200 && i >= 3 && i < 10)));
        }
        CHECK(
            g.post("/v1/checkpoint-intervals", good, "Content-Encoding: br\r\n").status ==
            415);
    }
    report(REPORT("at most " << peak / MIB << " MiB resident meanwhile, " << before / MIB
                             << " before"));
    check_healthy(g, "large bodies");
    g.stop();
}

// ---- slow and idle clients ----

TEST_CASE("slow clients and half requests are closed in time and cost others nothing",
          "[system]")
{
    gridplan g({QUICK[0], QUICK[1], QUICK[2], QUICK[3], "--body-bytes-per-s", "1000000"});
    std::string whole = request("POST", "/v1/placements", placement_body());
    size_t header = whole.find("\r\n\r\n") + 4;
    std::vector<client> slow;
    std::vector<size_t> sent;

    // Each has sent a different part of a request, and trickles on.
    for (size_t i = 0; i < 200; i++) {
        size_t part = 1 + i % (whole.size() - 2);
        slow.emplace_back(g.port);
        REQUIRE(slow.back().put(whole.substr(0, part)));
        sent.push_back(part);
    }
    double begin_s = now_s();
    size_t closed = 0, answered = 0;
    REQUIRE(eventually(
        [&] {
            for (size_t i = 0; i < slow.size(); i++) {
                // In the header a byte at a time; bodies stand still.
                if (slow[i].fd < 0)
                    continue;
                if (sent[i] + 40 < header)
                    slow[i].put(whole.substr(sent[i]++, 1));
                if (slow[i].is_closed(0.001)) {
                    slow[i].hang_up();
                    closed++;
                }
            }
            answered +=
                g.post("/v1/checkpoint-intervals", checkpoint_body()).status == 200;
            return closed == slow.size();
        },
        30 * SLOWER));
    report(REPORT("200 slow clients closed within " << now_s() - begin_s << " s, "
                                                    << answered << " others answered"));
    CHECK(answered > 0);
    CHECK(g.metric("gridplan_http_slow_connections_closed_total") >= 150);
    check_healthy(g, "slow clients");
    g.stop();
}

TEST_CASE("half requests whose client goes away leave nothing", "[system]")
{
    // Of those that send and close at once some are noticed by the time alone.
    gridplan g({QUICK[0], QUICK[1], QUICK[2], QUICK[3]});
    std::string whole = request("POST", "/v1/placements", search_body(30));

    for (int i = 0; i < 400; i++) {
        client c(g.port);
        REQUIRE(c.put(whole.substr(0, (size_t)i * whole.size() / 400)));
        i % 2 ? c.reset() : c.hang_up();
    }
    CHECK(eventually([&] { return g.metric("gridplan_http_connections") == 1; }));
    CHECK(eventually(
        [&] { return g.metric("gridplan_worker_running{pool=\"compute\"}") == 0; }));
    check_healthy(g, "half requests");
    g.stop();
}

TEST_CASE("thousands of idle connections keep nobody out", "[system]")
{
    rlimit files;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &files) == 0);
    files.rlim_cur = files.rlim_max;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &files) == 0);
    size_t want = std::min<size_t>(
        10000, files.rlim_cur == RLIM_INFINITY ? 10000 : files.rlim_cur - 512);
    // Longer than a busy machine needs to open them all: none is to be closed for its
    // age.
    gridplan g({"--header-timeout-s", "300", "--keepalive-timeout-s", "600"});
    std::vector<client> idle;
    size_t before = resident_bytes(g.pid);

    for (size_t i = 0; i < want; i++) {
        idle.emplace_back(g.port);
        REQUIRE(idle.back().fd >= 0);
        if (i % 2) // half of them have been served before
            REQUIRE(idle.back().call(request("GET", "/livez")).status == 200);
    }
    double begin_s = now_s();
    CHECK(g.post("/v1/checkpoint-intervals", checkpoint_body()).status == 200);
    double took_s = now_s() - begin_s;
    CHECK(took_s < 20);
    double reached = g.metric("gridplan_http_connections");
    size_t peak = resident_bytes(g.pid);
    report(REPORT(reached << " connections reached (limit of files " << files.rlim_cur
                          << "), a new one answered in " << took_s * 1e3 << " ms, "
                          << (peak - std::min(before, peak)) / want << " bytes each"));
    CHECK(reached >= 0.95 * (double)std::min<size_t>(want, 9000));
    // Those that were served are still good.
    size_t good = 0;
    for (size_t i = 1; i < want; i += 100)
        good += idle[i].call(request("GET", "/livez")).status == 200;
    CHECK(good == (want + 98) / 100);
    for (auto &c : idle)
        c.reset();
    CHECK(eventually([&] { return g.metric("gridplan_http_connections") == 1; }));
    check_healthy(g, "idle connections");
    g.stop();
}

TEST_CASE("more connections than are allowed: old idle ones make room", "[system]")
{
    gridplan g({"--max-connections", "100"});
    std::vector<client> idle;
    int served = 0;

    for (int i = 0; i < 400; i++) {
        idle.emplace_back(g.port);
        served += idle.back().call(request("GET", "/livez"), 20).status == 200;
    }
    CHECK(served == 400);
    CHECK(g.metric("gridplan_http_idle_connections_closed_total") >= 300);
    check_healthy(g, "too many connections");
    g.stop();
}

// ---- framing ----

TEST_CASE("a hundred requests sent at once are answered in their order", "[system]")
{
    gridplan g;
    client c(g.port);
    std::string all;

    for (int i = 0; i < 100; i++)
        all += i % 3 == 0 ? request("GET", "/livez", "",
                                    "X-Request-Id: r" + std::to_string(i) + "\r\n")
               : i % 3 == 1
                   ? request("POST", "/v1/checkpoint-intervals", checkpoint_body(),
                             "X-Request-Id: r" + std::to_string(i) + "\r\n")
                   : request("POST", "/v1/placements", placement_body(),
                             "X-Request-Id: r" + std::to_string(i) + "\r\n");
    REQUIRE(c.put(all));
    for (int i = 0; i < 100; i++) {
        answer r = c.get();
        CHECK(r.status == 200);
        CHECK(r.field("X-Request-Id") == "r" + std::to_string(i));
    }
    g.stop();
}

TEST_CASE("requests that two servers could read differently are read by nobody",
          "[system]")
{
    gridplan g({QUICK[0], QUICK[1], QUICK[2], QUICK[3]});
    // What a smuggler would hide: it must never be answered as a request of its own.
    std::string hidden = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n",
                length = std::to_string(hidden.size());
    std::string begin = "POST /v1/checkpoint-intervals HTTP/1.1\r\nHost: localhost"
                        "\r\nContent-Type: application/json\r\n";
    struct {
        const char *what;
        std::string text;
    } cases[] = {
        {"two lengths",
         begin + "Content-Length: 0\r\nContent-Length: " + length + "\r\n\r\n" + hidden},
        {"two lengths, the other way round",
         begin + "Content-Length: " + length + "\r\nContent-Length: 0\r\n\r\n" + hidden},
        {"the same length twice",
         begin + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nnull" + hidden},
        {"a list of lengths",
         begin + "Content-Length: 0, " + length + "\r\n\r\n" + hidden},
        {"length and chunks",
         begin + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
             hidden},
        {"chunks and length",
         begin + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n" +
             hidden},
        {"chunks twice",
         begin + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" + hidden},
        {"chunks, not last",
         begin + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + hidden},
        {"an unknown encoding",
         begin + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden},
        {"a space before the colon",
         begin + "Transfer-Encoding : chunked\r\nContent-Length: 0\r\n\r\n" + hidden},
        {"a tab in the encoding",
         begin + "Transfer-Encoding:\tchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" +
             hidden},
        {"a folded header",
         begin + "Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" +
             hidden},
        {"a folded length", begin + "Content-Length: 0\r\n  0\r\n\r\n" + hidden},
        {"a length with a sign", begin + "Content-Length: +4\r\n\r\nnull" + hidden},
        {"a negative length", begin + "Content-Length: -1\r\n\r\n" + hidden},
        {"a hexadecimal length", begin + "Content-Length: 0x4\r\n\r\nnull" + hidden},
        {"a length beyond 2^64",
         begin + "Content-Length: 18446744073709551620\r\n\r\nnull" + hidden},
        {"a length of letters", begin + "Content-Length: many\r\n\r\n" + hidden},
        {"an empty length", begin + "Content-Length: \r\n\r\n" + hidden},
        {"a space before the colon of the length",
         begin + "Content-Length : " + length + "\r\n\r\n" + hidden},
        {"an encoding that is folded twice",
         begin + "Transfer-Encoding:\r\n\r\n chunked\r\n\r\n0\r\n\r\n"},
        {"a chunk with a sign",
         begin + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n" + hidden},
        {"a chunk beyond 2^64",
         begin + "Transfer-Encoding: chunked\r\n\r\n1ffffffffffffffff\r\n\r\n" + hidden},
        {"a chunk without its end",
         begin + "Transfer-Encoding: chunked\r\n\r\n4\r\nnullX0\r\n\r\n" + hidden},
        {"chunks of letters",
         begin + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n" + hidden},
    };

    for (auto &c : cases) {
        CAPTURE(c.what);
        client to(g.port);
        size_t before = occurrences(g.text(), "/smuggled");
        REQUIRE(to.put(c.text));
        std::vector<int> statuses;
        for (answer r; (r = to.get(10)).status;)
            statuses.push_back(r.status);
        CAPTURE(statuses);
        // One refusal at most, then the connection is closed.
        CHECK(statuses.size() <= 1);
        CHECK(std::all_of(statuses.begin(), statuses.end(),
                          [](int s) { return s >= 400 && s < 500; }));
        CHECK(to.is_closed(10));
        CHECK(occurrences(g.text(), "/smuggled") == before);
    }
    check_healthy(g, "smuggling");
    g.stop();
}

TEST_CASE("huge and numerous headers are refused", "[system]")
{
    gridplan g({QUICK[0], QUICK[1], QUICK[2], QUICK[3]});
    struct {
        const char *what;
        std::string text;
    } cases[] = {
        {"a header of 1 MiB",
         request("GET", "/livez", "", "X: " + std::string(MIB, 'a') + "\r\n")},
        {"a header name of 1 MiB",
         request("GET", "/livez", "", std::string(MIB, 'a') + ": x\r\n")},
        {"100000 headers", request("GET", "/livez", "", repeated("X: y\r\n", 100000))},
        {"a path of 1 MiB", request("GET", "/" + std::string(MIB, 'a'))},
        {"a query of 1 MiB",
         request("GET", "/v1/algorithms?family=" + std::string(MIB, 'a'))},
        {"10000 parameters", request("GET", "/v1/algorithms?" + repeated("a=1&", 5000))},
        {"a key of 1 MiB",
         request("GET", "/livez", "",
                 "Authorization: Bearer " + std::string(MIB, 'a') + "\r\n")},
        {"a line without an end", std::string(MIB, 'a')},
        {"no line", std::string(MIB, '\n')},
    };

    for (auto &c : cases) {
        CAPTURE(c.what);
        client to(g.port);
        to.put(c.text); // it may be closed before the end
        answer r = to.get(10);
        CAPTURE(r.status);
        CHECK((r.status == 0 || (r.status >= 400 && r.status < 500)));
        to.reset();
        CHECK(g.get("/livez").status == 200);
    }
    // What is only large goes through.
    CHECK(g.get("/livez", "X: " + std::string(8000, 'a') + "\r\n").status == 200);
    CHECK(g.get("/livez", repeated("X: y\r\n", 100)).status == 200);
    check_healthy(g, "headers");
    g.stop();
}

TEST_CASE("odd paths and methods are refused", "[system]")
{
    gridplan g({QUICK[0], QUICK[1], QUICK[2], QUICK[3]});
    struct {
        const char *text; // the request line
        std::vector<int> want;
    } cases[] = {
        {"GET /livez%00 HTTP/1.1", {400}},
        {"GET /v1/snapshots/a%00b HTTP/1.1", {400}},
        {"GET /v1/algorithms?family=a%00b HTTP/1.1", {400}},
        {"GET /v1/algorithms?a%00=b HTTP/1.1", {400}},
        {"GET /livez%zz HTTP/1.1", {400}},
        {"GET /livez% HTTP/1.1", {400}},
        {"GET /livez%0 HTTP/1.1", {400}},
        {"GET /../../etc/passwd HTTP/1.1", {404}},
        {"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1", {404}},
        {"GET //livez HTTP/1.1", {404}},
        {"GET /livez/ HTTP/1.1", {308}},
        {"GET /v1/snapshots/a%2fb HTTP/1.1", {404}},
        {"GET http://127.0.0.1/livez HTTP/1.1", {200, 400, 404}},
        {"GET * HTTP/1.1", {400, 404}},
        {"CONNECT 127.0.0.1:22 HTTP/1.1", {400, 404, 405}},
        {"TRACE /livez HTTP/1.1", {405, 404, 501}},
        {"BREW /livez HTTP/1.1", {405}},
        {"DELETE /livez HTTP/1.1", {405}},
        {"PATCH /v1/placements HTTP/1.1", {405}},
        {"OPTIONS /v1/placements HTTP/1.1", {204}},
        {"GET /livez HTTP/9.9", {0, 400, 505}},
        {"GET /livez FTP/1.1", {0, 400, 505}},
        {"GET", {0, 400}},
        {"\x16\x03\x01\x02", {0, 400}}, // TLS to a plain port
    };

    for (auto &c : cases) {
        CAPTURE(c.text);
        client to(g.port);
        REQUIRE(to.put(std::string(c.text) + "\r\nHost: localhost\r\n\r\n"));
        int status = to.get(10).status;
        CHECK_THAT(c.want, Catch::VectorContains(status));
    }
    check_healthy(g, "odd paths");
    g.stop();
}

namespace
{
std::string noise(std::mt19937 &random, const std::vector<std::string> &good)
{
    std::string text;

    if (random() % 3 == 0) {
        for (size_t k = 1 + random() % 2000; k > 0; k--)
            text += (char)random();
        return text;
    }
    text = good[random() % good.size()];
    for (size_t k = 1 + random() % 4; k > 0 && !text.empty(); k--) {
        size_t at = random() % text.size();

        switch (random() % 4) {
        case 0:
            text[at] = (char)random();
            break;
        case 1:
            text.erase(at, 1 + random() % 8);
            break;
        case 2:
            text.insert(at, text.substr(random() % text.size(), random() % 40));
            break;
        default:
            text[at] = (char)(text[at] ^ 1 << random() % 8);
        }
    }
    return text;
}
} // namespace

TEST_CASE("random bytes and damaged requests disturb nobody", "[system]")
{
    gridplan g({QUICK[0], QUICK[1], QUICK[2], QUICK[3]});
    const std::vector<std::string> good = {
        request("POST", "/v1/checkpoint-intervals", checkpoint_body()),
        request("POST", "/v1/placements", placement_body()),
        request("GET", "/v1/algorithms?family=placement"),
        "POST /v1/placements HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
        "chunked\r\n\r\n5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n",
    };
    std::mutex lock;
    std::map<int, int> statuses;
    std::vector<std::string> wrong;
    std::vector<std::thread> threads;

    for (unsigned t = 0; t < 16; t++)
        threads.emplace_back([&, t] {
            std::mt19937 random(20251121 + t);
            for (int i = 0; i < (is_long_run() ? 100 : 40) * soak_factor(); i++) {
                std::string text = noise(random, good);
                client c(g.port);
                c.put(text);
                shutdown(c.fd, SHUT_WR);
                answer r = c.get(5);
                std::lock_guard<std::mutex> hold(lock);
                statuses[r.status]++;
                // 501: a damaged encoding, 505: a damaged version. Nothing else is ours.
                if (r.status >= 500 && r.status != 501 && r.status != 505)
                    wrong.push_back(text + "\n -> " + r.body);
            }
        });
    for (auto &t : threads)
        t.join();
    std::ostringstream text;
    for (auto &s : statuses)
        text << " " << s.second << " x " << s.first;
    report(REPORT("answers to noise:" << text.str()));
    INFO((wrong.empty() ? "" : wrong[0]));
    CHECK(wrong.empty());
    CHECK(statuses[400] > 0);
    check_healthy(g, "noise");
    g.stop();
}

// ---- SQL ----

namespace
{
const std::vector<std::string> &injections()
{
    static const std::vector<std::string> list = {
        "'; DROP TABLE load_sample; --",
        "' OR '1'='1",
        "\"; DROP TABLE snapshot; --",
        "\\'; DELETE FROM decision; --",
        "$1; SELECT pg_sleep(30)",
        "%s%n%x %27%20OR%201=1",
        "\t\\copy \\N \\. {}\",\"",
        "Robert\n'); DROP TABLE failure;--",
        "\xc3\xbc' \xf0\x9f\x98\x80\" \xe2\x80\xae",
        "{\"$where\":\"1\"}",
    };
    return list;
}

std::string escaped(const std::string &text)
{
    std::string out;
    char buffer[4];

    for (unsigned char c : text) {
        snprintf(buffer, sizeof(buffer), "%%%02x", c);
        out += buffer;
    }
    return out;
}

// Calls `change` for every string in the document, however deep, and undoes it.
void for_each_string(nlohmann::json &whole, nlohmann::json &part, const std::string &evil,
                     const std::function<void(const nlohmann::json &)> &change)
{
    if (part.is_string()) {
        nlohmann::json before = part;
        part = evil;
        change(whole);
        part = before;
        return;
    }
    if (part.is_structured())
        for (auto &inner : part)
            for_each_string(whole, inner, evil, change);
}
} // namespace

TEST_CASE("SQL in strings is stored and comes back unchanged", "[system][db]")
{
    gridplan g({"--database", test_database()});
    REQUIRE(eventually([&] { return g.is_ready(); }));
    auto stored = [&](const std::string &target, const nlohmann::json &body,
                      int want = 201) {
        answer r = g.post(target, body.dump());
        CAPTURE(target, body.dump(), r.body);
        CHECK(r.status == want);
        return r;
    };

    for (size_t i = 0; i < injections().size(); i++) {
        const std::string &evil = injections()[i];
        std::string own = evil + std::to_string(getpid()),
                    id = "sql-" + std::to_string(getpid()) + "-" + std::to_string(i);
        CAPTURE(evil);
        stored("/v1/load-samples", {{"resource_id", own},
                                    {"to_resource_id", evil},
                                    {"observed_at", 1764000000},
                                    {"latency_s", 1}});
        auto sample = g.get("/v1/load-samples?resource_id=" + escaped(own) +
                            "&to_resource_id=" + escaped(evil))
                          .json();
        REQUIRE(sample.at("items").size() == 1);
        CHECK(sample["items"][0].at("resource_id") == own);
        CHECK(sample["items"][0].at("to_resource_id") == evil);

        stored("/v1/failures", {{"resource_id", own},
                                {"down_at", 1764000000},
                                {"cause", evil},
                                {"component", evil}});
        auto failure = g.get("/v1/failures?resource_id=" + escaped(own)).json();
        REQUIRE(failure.at("items").size() == 1);
        CHECK(failure["items"][0].at("cause") == evil);
        CHECK(failure["items"][0].at("component") == evil);
        answer up = stored("/v1/failures/recoveries",
                           {{"resource_id", own}, {"up_at", 1764000001}}, 200);
        CHECK(up.json().at("closed_count") == 1);
        CHECK(g.get("/v1/failures/statistics?resource_id=" + escaped(own))
                  .json()
                  .at("resource_id") == own);

        stored("/v1/executions", {{"execution_id", own},
                                  {"application_id", own},
                                  {"site_id", evil},
                                  {"resource_id", evil},
                                  {"parameters", {{evil, evil}}},
                                  {"started_at", 1764000000},
                                  {"run_time_s", 1}});
        auto run = g.get("/v1/executions?application_id=" + escaped(own) +
                         "&site_id=" + escaped(evil))
                       .json();
        REQUIRE(run.at("items").size() == 1);
        for (const char *name : {"site_id", "resource_id"})
            CHECK(run["items"][0].at(name) == evil);
        CHECK(run["items"][0].at("execution_id") == own);
        CHECK(run["items"][0].at("parameters") == nlohmann::json({{evil, evil}}));

        nlohmann::json grid = {
            {"home_site_id", evil},
            {"resources", {{{"id", evil}, {"site_id", evil}, {"mips_total", 2}}}},
            {"files", {{{"id", evil}, {"site_ids", {evil}}}}}};
        answer made = g.post("/v1/snapshots?id=" + id, grid.dump());
        CAPTURE(made.body);
        REQUIRE(made.status == 201);
        CHECK(g.get("/v1/snapshots/" + id).json().at("snapshot") == grid);
        CHECK(g.post("/v1/snapshots?id=" + escaped(evil), grid.dump()).status ==
              422); // not a name for a path
        CHECK(g.get("/v1/snapshots/" + escaped(evil)).status == 404);

        nlohmann::json ask = {{"snapshot_id", id},
                              {"jobs", {{{"id", evil}, {"estimate_ref_s", 4}}}},
                              {"algorithm", "mct"},
                              {"labels", {{evil, evil}}},
                              {"store", true}};
        answer decided = g.post("/v1/placements", ask.dump());
        CAPTURE(decided.body);
        REQUIRE(decided.status == 200);
        CHECK(decided.json().at("placements").at(0).at("job_id") == evil);
        CHECK(decided.json().at("placements").at(0).at("resource_id") == evil);
        CHECK(decided.json().at("labels") == ask["labels"]);
        CHECK(g.get(decided.field("Location")).json().at("request") == ask);
        CHECK(g.get("/v1/decisions/" + escaped(evil)).status == 404);

        std::string header; // as it could come in a header
        for (char c : evil)
            header += (unsigned char)c < 32 ? ' ' : c;
        for (const char *name :
             {"Idempotency-Key", "If-Match", "If-None-Match", "X-Request-Id", "Prefer",
              "traceparent", "Authorization"}) {
            CAPTURE(name);
            int status = g.post("/v1/load-samples",
                                nlohmann::json({{"resource_id", own},
                                                {"observed_at", 1764000001},
                                                {"latency_s", 1}})
                                    .dump(),
                                std::string(name) + ": " + header + "\r\n")
                             .status;
            CHECK((status / 100 == 2 || status / 100 == 4));
        }
    }
    for (const char *table : {"load_sample", "failure", "execution", "snapshot",
                              "decision", "idempotency_key"})
        CHECK(std::stol(
                  sql(test_database(), std::string("SELECT count(*) FROM ") + table)) >=
              (long)injections().size() - 1);
    g.stop();
}

TEST_CASE("SQL in every string member and every parameter of the API is harmless",
          "[system][db]")
{
    gridplan g({"--database", test_database()});
    REQUIRE(eventually([&] { return g.is_ready(); }));
    auto description = g.get("/openapi.json").json();
    client c(g.port);
    int parameters = 0, members = 0;

    auto harmless = [&](const std::string &text) {
        answer r = c.call(text);
        CAPTURE(text, r.body);
        CHECK(r.status >= 200);
        CHECK(r.status < 500);
        if (r.status == 0 || r.closes())
            c = client(g.port);
    };
    for (auto &path : description.at("paths").items())
        for (auto &method : path.value().items()) {
            std::string name = method.key();
            std::transform(name.begin(), name.end(), name.begin(), ::toupper);
            if (!method.value().is_object() || name == "PARAMETERS")
                continue;
            for (auto &p : method.value().value("parameters", nlohmann::json::array()))
                for (auto &evil : injections()) {
                    std::string target = path.key(), place = p.value("in", ""),
                                parameter = p.value("name", "");
                    if (place == "path")
                        target = target.substr(0, target.find('{')) + escaped(evil) +
                                 target.substr(target.find('}') + 1);
                    else if (place == "query")
                        target = target.substr(0, target.find('{')) +
                                 (target.find('{') == std::string::npos ? "" : "x") +
                                 "?" + parameter + "=" + escaped(evil);
                    else
                        continue;
                    parameters++;
                    harmless(request(name, target,
                                     name == "GET" || name == "DELETE" ? "" : "{}"));
                }
        }
    CHECK(parameters >= 300);

    std::vector<std::pair<std::string, std::string>> bodies = {
        {"/v1/load-samples",
         R"({"resource_id":"a","to_resource_id":"b","observed_at":"2025-11-21T00:00:00Z","latency_s":1})"},
        {"/v1/failures",
         R"({"resource_id":"a","down_at":"2025-11-21T00:00:00Z","up_at":"2025-11-21T00:00:01Z","cause":"c","component":"d"})"},
        {"/v1/failures/recoveries",
         R"({"resource_id":"a","up_at":"2025-11-21T00:00:01Z"})"},
        {"/v1/executions",
         R"({"execution_id":"e","application_id":"a","site_id":"s","resource_id":"r","parameters":{"p":"q"},)"
         R"("started_at":"2025-11-21T00:00:00Z","run_time_s":1})"},
        {"/v1/snapshots",
         R"({"taken_at":"2025-11-21T00:00:00Z","home_site_id":"s","resources":[{"id":"a","site_id":"s","sharing":"space",)"
         R"("observed_at":"2025-11-21T00:00:00Z","allowed":["o"],"attributes":{"os":"linux"}}],)"
         R"("files":[{"id":"f","site_ids":["s"]}],"network":{"routes":[{"from_site_id":"s","to_site_id":"t","bandwidth_mbps":1}]}})"},
        {"/v1/placements",
         R"({"snapshot_id":"x","algorithm":"mct","options":{"rank":"x"},"labels":{"l":"m"},"store":true,)"
         R"("jobs":[{"id":"j","estimate_ref_s":1,"user":"u","organisations":["o"],"requirement":"true","rank":"1",)"
         R"("input_file_ids":["f"]}],"users":[{"user":"u"}],"usage":[{"user":"u","resource_id":"a"}]})"},
        {"/v1/checkpoint-intervals",
         R"({"algorithm":"young","labels":"l","jobs":[{"id":"j","checkpoint_overhead_s":60,"mean_failure_interval_s":3600}]})"},
    };
    for (auto &b : bodies) {
        auto body = nlohmann::json::parse(b.second);
        for (auto &evil : injections())
            for_each_string(body, body, evil, [&](const nlohmann::json &changed) {
                members++;
                harmless(request("POST", b.first, changed.dump()));
            });
    }
    CHECK(members >= 400);
    report(REPORT(parameters << " parameters and " << members << " members sent"));
    for (const char *table : {"load_sample", "failure", "execution", "snapshot",
                              "decision", "idempotency_key", "api_key"})
        CHECK(sql(test_database(), std::string("SELECT count(*) >= 0 FROM ") + table) ==
              "t");
    g.stop();
}
