// system_lifecycle_test.cpp - the program's signals, its keys, and its limits.
#include "tests/exposition.hpp"
#include "tests/system.hpp"

namespace
{
// Runs `gridplan key ...`; what it printed, without the last line end.
std::string key_command(const std::string &url, std::vector<std::string> words,
                        int *status = nullptr)
{
    int code = -1;
    words.insert(words.begin(), {build_binary, "key"});
    words.insert(words.end(), {"--database", url});
    std::string text = run_command(words, &code);

    INFO(text);
    if (status)
        *status = code;
    else
        REQUIRE(code == 0);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

// A new key, of which only the last line is the key itself.
std::string make_key(const std::string &url, const std::string &tenant,
                     const std::string &scopes, const std::vector<std::string> &more = {})
{
    std::vector<std::string> words = {"create", "--tenant", tenant, "--scopes", scopes};
    words.insert(words.end(), more.begin(), more.end());
    std::string text = key_command(url, words), key = text.substr(text.rfind('\n') + 1);

    REQUIRE(key.size() == 80);
    REQUIRE_THAT(key, Catch::StartsWith("gp_"));
    return key;
}

std::string key_id(const std::string &key)
{
    return key.substr(3, 12);
}

std::string bearer(const std::string &key)
{
    return "Authorization: Bearer " + key + "\r\n";
}

std::string basic(const std::string &text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;

    for (size_t i = 0; i < text.size(); i += 3) {
        unsigned n = 0;
        for (size_t k = 0; k < 3; k++)
            n = n << 8 | (i + k < text.size() ? (unsigned char)text[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            out += i + k > text.size() ? '=' : letters[n >> (18 - 6 * k) & 63];
    }
    return "Authorization: Basic " + out + "\r\n";
}

std::string tenant_name(const std::string &stem)
{
    return stem + "-" + std::to_string(getpid()) + "-" +
           std::to_string((long)(now_s() * 1e6));
}

const char *const SAMPLE =
    R"({"resource_id":"m","observed_at":1764000000,"latency_s":1})";
} // namespace

// ---- signals ----

TEST_CASE("SIGTERM under load leaves no request unanswered", "[system]")
{
    for (int round = 0; round < 3 * soak_factor(); round++) {
        gridplan g({"--shutdown-grace-s", "20", "--compute-workers", "2"});
        std::atomic<int> answered{0}, unanswered{0}, refused{0}, told_to_close{0};
        std::vector<std::thread> threads;
        std::string body = search_body(0.2);

        for (int t = 0; t < 8; t++)
            threads.emplace_back([&, t] {
                client c(g.port);
                for (bool more = c.fd >= 0; more;) {
                    // To compare the description with itself takes longer than the
                    // service waits for a connection that is idle.
                    answer r;
                    if (t == 1 && c.put(request("GET", "/openapi.json")))
                        r = c.get();
                    if (t != 1)
                        r = c.call(t == 0  ? request("POST", "/v1/placements", body)
                                   : t % 2 ? request("POST", "/v1/checkpoint-intervals",
                                                     checkpoint_body())
                                           : request("GET", "/v1/algorithms"));
                    (r.status == 200 ? answered : r.status == 0 ? unanswered : refused)++;
                    told_to_close += r.closes();
                    more = r.status == 200 && !r.closes();
                }
            });
        REQUIRE(eventually([&] { return answered > 200; }));
        g.send_signal(SIGTERM);
        for (auto &t : threads)
            t.join();
        CHECK(g.end() == 0);
        report(REPORT(answered << " answered until the end, " << unanswered << " not"));
        CHECK(unanswered == 0);
        CHECK(refused == 0);
        CHECK(told_to_close == 8); // each connection ended with a whole answer
        CHECK_THAT(g.text(), Catch::Contains("\"msg\":\"ended\""));
        CHECK(client(g.port).fd < 0);
    }
}

TEST_CASE("the program ends well however busy its connections are", "[system]")
{
    for (int round = 0; round < 20 * soak_factor(); round++) {
        gridplan g;
        std::atomic<int> answered{0};
        std::vector<std::thread> threads;

        for (int t = 0; t < 4; t++)
            threads.emplace_back([&] {
                for (bool more = true; more;) {
                    client c(g.port); // old and new connections
                    for (int i = 0; i < 20 && more; i++) {
                        more =
                            c.fd >= 0 && c.call(request("GET", "/livez")).status == 200;
                        answered += more;
                    }
                }
            });
        CHECK(eventually([&] { return answered > 100; }));
        g.send_signal(SIGTERM);
        int status = g.end();
        for (auto &t : threads)
            t.join();
        INFO(g.text().substr(g.text().size() > 500 ? g.text().size() - 500 : 0));
        CHECK(status == 0);
    }
}

TEST_CASE("while it ends the program is not ready, and searches are cut short when the "
          "grace is over",
          "[system]")
{
    gridplan g({"--shutdown-grace-s", "1.5", "--compute-workers", "1"});
    client ready(g.port), search(g.port);

    REQUIRE(ready.call(request("GET", "/readyz")).status == 200);
    REQUIRE(search.put(request("POST", "/v1/placements", search_body(60))));
    REQUIRE(eventually(
        [&] { return g.metric("gridplan_worker_running{pool=\"compute\"}") == 1; }));
    double begin_s = now_s();
    g.send_signal(SIGTERM);
    REQUIRE(eventually([&] { return client(g.port).fd < 0; }));
    answer r = ready.call(request("GET", "/readyz"));
    CHECK(r.status == 503);
    CHECK(r.closes());
    r = search.get();
    CHECK(r.status == 200);
    CHECK(r.json().at("status") == "cut");
    CHECK(g.end() == 0);
    CHECK(now_s() - begin_s >= 1.4);
    CHECK(now_s() - begin_s < 20);
}

TEST_CASE("a second signal ends the program at once", "[system]")
{
    for (int first : {SIGTERM, SIGINT}) {
        gridplan g({"--compute-workers", "1"});
        client search(g.port);

        REQUIRE(search.put(request("POST", "/v1/placements", search_body(60))));
        REQUIRE(eventually(
            [&] { return g.metric("gridplan_worker_running{pool=\"compute\"}") == 1; }));
        g.send_signal(first);
        REQUIRE(eventually([&] {
            return g.text().find("finishing what is under way") != std::string::npos;
        }));
        double begin_s = now_s();
        g.send_signal(SIGTERM);
        CHECK(g.end() == 1000 + SIGTERM);
        CHECK(now_s() - begin_s < 20);
    }
}

TEST_CASE("a port that is taken is an error that says so", "[system]")
{
    gridplan g;
    int status = -1;
    std::string port = std::to_string(g.port),
                text = run_command({build_binary, "--port", port}, &status);

    CHECK(status == 1);
    CHECK_THAT(text, Catch::Contains("port " + port) && Catch::Contains("taken") &&
                         Catch::Contains("--port"));
    CHECK(g.get("/livez").status == 200);
    g.stop();
}

// ---- keys ----

TEST_CASE("keys open what their scopes say, by Bearer and by Basic", "[system][db]")
{
    std::string url = test_database();
    gridplan g({"--database", url, "--auth", "on"});
    REQUIRE(eventually([&] { return g.is_ready(); }));
    std::string decide = make_key(url, tenant_name("d"), "decide"),
                ingest = make_key(url, tenant_name("i"), "ingest"),
                both = make_key(url, tenant_name("b"), "decide,ingest"), wrong = decide;
    wrong.back() = wrong.back() == '0' ? '1' : '0';
    struct {
        const char *when;
        std::string header;
        int decides, ingests;
    } cases[] = {
        {"no key", "", 401, 401},
        {"decide", bearer(decide), 200, 403},
        {"ingest", bearer(ingest), 403, 201},
        {"both", bearer(both), 200, 201},
        {"Basic, the key as password", basic("anybody:" + decide), 200, 403},
        {"Basic, no user", basic(":" + both), 200, 201},
        {"Basic, the key as user", basic(decide + ":"), 401, 401},
        {"a wrong secret", bearer(wrong), 401, 401},
        {"no such key", bearer("gp_000000000000_" + std::string(64, 'a')), 401, 401},
        {"a secret alone", bearer(decide.substr(16)), 401, 401},
        {"rubbish", bearer("x"), 401, 401},
        {"SQL", bearer("gp_' OR 1=1 --_" + std::string(64, 'a')), 400, 400},
        {"another scheme", "Authorization: Digest " + decide + "\r\n", 401, 401},
    };

    for (auto &c : cases) {
        CAPTURE(c.when);
        answer decided = g.post("/v1/checkpoint-intervals", checkpoint_body(), c.header);
        CHECK(decided.status == c.decides);
        int ingested = g.post("/v1/load-samples", SAMPLE, c.header).status;
        CHECK((ingested == 200 ? 201 : ingested) == c.ingests); // 200: sent before
        if (c.decides == 401)
            CHECK_THAT(decided.field("WWW-Authenticate"),
                       Catch::Contains("Bearer") && Catch::Contains("Basic"));
        for (const char *open : {"/livez", "/readyz", "/metrics", "/openapi.json"})
            CHECK(g.get(open, c.header).status == 200);
    }
    // Tenants do not see each other.
    CHECK(g.get("/v1/load-samples", bearer(ingest)).json().at("items").size() == 1);
    CHECK(g.get("/v1/load-samples", bearer(decide)).json().at("items").empty());
    // The key itself is nowhere in the log or the database.
    CHECK(occurrences(g.text(), decide.substr(16)) == 0);
    CHECK(sql(url, "SELECT count(*) FROM api_key k WHERE k::text LIKE '%" +
                       decide.substr(16) + "%'") == "0");
    check_exposition(g.get("/metrics").body); // all that a replica with a database has
    g.stop();
}

TEST_CASE("keys end when they expire, and when they are revoked", "[system][db]")
{
    std::string url = test_database(), tenant = tenant_name("ends");
    gridplan g({"--database", url, "--auth", "on"});
    REQUIRE(eventually([&] { return g.is_ready(); }));
    auto status = [&](const std::string &key) {
        return g.post("/v1/checkpoint-intervals", checkpoint_body(), bearer(key)).status;
    };
    std::string revoked = make_key(url, tenant, "decide"),
                kept = make_key(url, tenant, "decide");
    std::string brief = make_key(
        url, tenant, "decide", {"--expires-days", "0.0001", "--label", "brief"}); // 8.6 s

    CHECK(status(brief) == 200);
    CHECK(eventually([&] { return status(brief) == 401; }));
    CHECK(status(revoked) == 200);
    CHECK(status(kept) == 200);
    CHECK_THAT(key_command(url, {"revoke", key_id(revoked)}), Catch::Contains("revoked"));
    g.send_signal(SIGHUP);
    CHECK(eventually([&] { return status(revoked) == 401; },
                     5)); // not only after AUTH_FRESH_S
    CHECK(status(kept) == 200);
    CHECK(eventually(
        [&] { return g.text().find("reading the keys again") != std::string::npos; }));
    std::string list = key_command(url, {"list", "--tenant", tenant});
    CHECK(occurrences(list, "\n") == 2);
    CHECK_THAT(list, Catch::Contains(key_id(brief) + "  expired") &&
                         Catch::Contains(key_id(revoked) + "  revoked") &&
                         Catch::Contains(key_id(kept) + "  valid"));
    int code = 0;
    key_command(url, {"revoke", "ffffffffffff"}, &code);
    CHECK(code == 1);
    for (auto &bad :
         std::vector<std::vector<std::string>>{{"create", "--scopes", "root"},
                                               {"create", "--expires-days", "-1"},
                                               {"create", "--tenant", ""},
                                               {"revoke"},
                                               {"destroy"}}) {
        CAPTURE(bad);
        key_command(url, bad, &code);
        CHECK(code == 2);
    }
    g.stop();
}

TEST_CASE("keys are compulsory on all addresses, unless switched off", "[system][db]")
{
    std::string url = test_database(), key;
    {
        gridplan g({"--database", url, "--bind", "0.0.0.0"});
        REQUIRE(eventually([&] { return g.is_ready(); }));
        key = make_key(url, tenant_name("all"), "decide");
        CHECK(g.post("/v1/checkpoint-intervals", checkpoint_body()).status == 401);
        CHECK(g.post("/v1/checkpoint-intervals", checkpoint_body(), bearer(key)).status ==
              200);
        CHECK_THAT(g.text(), Catch::Contains("keys required"));
        g.stop();
    }
    {
        gridplan g({"--bind", "0.0.0.0"});
        CHECK(g.post("/v1/checkpoint-intervals", checkpoint_body()).status == 401);
        CHECK(eventually(
            [&] { return g.text().find("nobody will be let in") != std::string::npos; }));
        g.stop();
    }
    {
        gridplan g({"--bind", "0.0.0.0", "--auth", "off"});
        CHECK(g.post("/v1/checkpoint-intervals", checkpoint_body()).status == 200);
        g.stop();
    }
}

TEST_CASE("keys that were seen work while the database is away", "[system]")
{
    cluster database;
    gridplan g({"--database", database.url, "--auth", "on"});
    REQUIRE(eventually([&] { return g.is_ready(); }));
    std::string seen = make_key(database.url, "t", "decide"),
                unseen = make_key(database.url, "t", "decide");
    auto status = [&](const std::string &key) {
        return g.post("/v1/checkpoint-intervals", checkpoint_body(), bearer(key)).status;
    };

    CHECK(status(seen) == 200);
    database.kill_now();
    REQUIRE(eventually([&] { return !g.is_ready(); }));
    g.send_signal(SIGHUP);
    REQUIRE(eventually(
        [&] { return g.text().find("reading the keys again") != std::string::npos; }));
    for (int i = 0; i < 10; i++)
        CHECK(status(seen) == 200);
    CHECK(status(unseen) == 503);
    database.start();
    CHECK(eventually([&] { return status(unseen) == 200; }));
    g.stop();
}

// ---- rate limits ----

TEST_CASE("more requests than the rate allows get 429 and Retry-After", "[system]")
{
    gridplan g({"--rate-limit-per-s", "2", "--rate-burst-count", "5"});
    client c(g.port);
    int allowed = 0, refused = 0, other = 0;
    answer last;

    for (int i = 0; i < 30; i++) {
        answer r = c.call(request("POST", "/v1/checkpoint-intervals", checkpoint_body()));
        (r.status == 200 ? allowed : r.status == 429 ? refused : other)++;
        if (r.status == 429)
            last = r;
        CHECK(r.field("RateLimit") != "");
        CHECK(c.call(request("GET", "/livez")).status == 200); // never limited
    }
    CHECK(other == 0);
    CHECK(allowed >= 5);
    CHECK(refused > 0);
    int wait_s = atoi(last.field("Retry-After").c_str());
    REQUIRE(wait_s >= 1);
    REQUIRE(wait_s <= 5);
    CHECK(last.json().at("status") == 429);
    pause_s(wait_s); // that is what is tested: the time that it names is enough
    CHECK(c.call(request("POST", "/v1/checkpoint-intervals", checkpoint_body())).status ==
          200);
    g.stop();
}
