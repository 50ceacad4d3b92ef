// door_test.cpp - what is refused before a body is read: keys, and who may ask how often.
// Real sockets, a route table of its own, and keys in a list.
#include "client.hpp"
#include "support.hpp"
#include "tests/test_governor.hpp"

#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <vector>

extern "C" {
#include "service/auth.h"
#include "service/config.h"
#include "service/crowd.h"
#include "service/door.h"
#include "service/health.h"
#include "service/http.h"
#include "service/listen.h"
#include "service/lookup.h"
#include "service/metrics.h"
#include "service/worker.h"
}

using namespace std::chrono_literals;

namespace
{

// ---- keys in a list, and a database that may be slow or away ----

struct key_list {
    std::mutex lock;
    std::map<std::string, auth_key> keys; // by id
    std::atomic<int> asked{0}, asking{0}, asking_most{0};
    std::atomic<bool> open{true}, down{false};
};

static error_code find_in_list(void *context, const char *key_id, auth_key *key,
                               error *err)
{
    key_list *list = static_cast<key_list *>(context);
    int now = ++list->asking, most = list->asking_most;
    error_code code = OK;

    while (now > most && !list->asking_most.compare_exchange_weak(most, now))
        ;
    list->asked++;
    while (!list->open)
        std::this_thread::sleep_for(1ms);
    {
        std::lock_guard<std::mutex> hold(list->lock);
        auto at = list->keys.find(key_id);
        if (list->down)
            code = fail(err, ERR_UNAVAILABLE, "", "the database is away");
        else if (at == list->keys.end())
            code = fail(err, ERR_NOT_FOUND, "", "no key");
        else
            *key = at->second;
    }
    list->asking--;
    return code;
}

static std::string add_key(key_list &list, unsigned scopes = SCOPE_DECIDE)
{
    char text[AUTH_KEY_SIZE];
    auth_key key{};

    REQUIRE(auth_key_make(text, &key));
    strcpy(key.tenant, "alpha");
    key.scopes = scopes;
    key.expires_at_s = NAN;
    key.quota = key.tenant_quota = quota_none();
    std::lock_guard<std::mutex> hold(list.lock);
    list.keys[key.key_id] = key;
    return text;
}

static std::string unknown_key(unsigned i)
{
    char text[AUTH_KEY_SIZE];

    snprintf(text, sizeof(text), "gp_%012x_%064x", i * 7919u + 1, i);
    return text;
}

// ---- the routes: the length of the body, and who asked ----

static error_code tell(request *rq, const void *in, void *)
{
    const raw_body *body = static_cast<const raw_body *>(in);
    char *text = arena_printf(rq->arena, "%zu %s %s", body ? body->length : 0,
                              rq->principal.tenant, rq->message->remote_address);

    if (!text)
        return fail_memory(rq->err);
    rq->reply->content_type = "text/plain";
    rq->reply->body = text;
    rq->reply->body_length = strlen(text);
    return OK;
}

#define ROW(method, path, scope, work, flags)                                           \
    {                                                                                   \
        method, path, "", nullptr, tell, nullptr, nullptr, nullptr, work, scope, flags, \
            "", "", nullptr                                                             \
    }
static const route door_routes[] = {
    ROW("GET", "/livez", SCOPE_NONE, WORK_INLINE, ROUTE_RAW_REPLY | ROUTE_PROBE),
    ROW("GET", "/metrics", SCOPE_NONE, WORK_INLINE,
        ROUTE_RAW_REPLY | ROUTE_PROBE | ROUTE_METRICS),
    ROW("GET", "/open", SCOPE_NONE, WORK_INLINE, ROUTE_RAW_REPLY),
    ROW("GET", "/tell", SCOPE_DECIDE, WORK_INLINE, ROUTE_RAW_REPLY),
    ROW("POST", "/tell", SCOPE_DECIDE, WORK_INLINE, ROUTE_RAW_BODY | ROUTE_RAW_REPLY),
    ROW("POST", "/work", SCOPE_DECIDE, WORK_COMPUTE, ROUTE_RAW_BODY | ROUTE_RAW_REPLY),
    {},
};

struct server {
    test_arena a;
    config c{};
    key_list keys;
    struct service s {
    };
    struct http *h = nullptr;

    explicit server(std::vector<const char *> flags = {"--auth", "on"})
    {
        const char *no_environment[] = {nullptr};
        error err = collecting_error(a);

        flags.insert(flags.begin(),
                     {"--port", "0", "--compute-workers", "1", "--query-workers", "4"});
        flags.push_back(nullptr);
        REQUIRE(config_read(no_environment, flags.data(), &c, a, &err) == OK);
        s.config = &c;
        s.routes = door_routes;
        s.metrics = metrics_create(false);
        s.auth = auth_create(c.auth_required, c.unknown_keys_per_address_per_s,
                             find_in_list, &keys);
        s.governor = test_governor(1, 16);
        s.lookups = worker_pool_create("lookup", lookups_at_once(c.query_workers),
                                       c.query_queue_length, 0);
        REQUIRE(http_start(&s, &h, &err) == OK);
    }
    ~server()
    {
        keys.open = true;
        http_drain(h);
        CHECK(http_wait(h, 10));
        http_close(h);
        worker_pool_close(s.lookups);
        governor_close(s.governor);
        auth_close(s.auth);
        metrics_close(s.metrics);
    }
    int port() const
    {
        return http_port(h);
    }
    struct http_stats stats() const
    {
        struct http_stats now;

        http_stats(h, &now);
        return now;
    }
};

static bool within(double limit_s, const std::function<bool()> &condition)
{
    for (double end_s = now_s() + limit_s; !condition();) {
        if (now_s() > end_s)
            return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

static std::string bearer(const std::string &key)
{
    return "Authorization: Bearer " + key + "\r\n";
}

// The header of a POST whose body is announced and does not come yet.
static std::string head(const std::string &path, const std::string &headers,
                        size_t length)
{
    return "POST " + path +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
           headers + "Content-Length: " + std::to_string(length) + "\r\n\r\n";
}

static std::string get(const std::string &path, const std::string &headers = "")
{
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

// The test's routes are not in the description: put and get, not call.
static answer ask(client &c, const std::string &request, double limit_s = 20)
{
    return c.put(request) ? c.get(limit_s) : answer();
}

} // namespace

// ---- the form of the key ----

TEST_CASE("senseless keys in front of large bodies hold nothing and shut nobody out",
          "[http][door]")
{
    server s;
    std::string key = add_key(s.keys), big(30'000'000, 'x');
    std::vector<client> rude;

    for (int i = 0; i < 16; i++) {
        rude.emplace_back(s.port());
        REQUIRE(
            rude.back().put(head("/tell", "Authorization: nonsense\r\n", 60'000'000)));
    }
    client honest(s.port());
    answer a = ask(honest, head("/tell", bearer(key), big.size()) + big);
    CHECK(a.status == 200);
    CHECK(a.body == "30000000 alpha 127.0.0.1");
    for (auto &c : rude) {
        answer refused = c.get(10);
        CHECK(refused.status == 401);
        CHECK(refused.closes());
        CHECK(refused.field("Content-Type") == "application/problem+json");
        CHECK_FALSE(refused.field("WWW-Authenticate").empty());
        CHECK_FALSE(refused.field("X-Request-Id").empty());
        CHECK(c.is_closed(5));
    }
    CHECK(s.keys.asked == 1); // the honest one
}

TEST_CASE("the form of a key is checked with the header", "[http][door]")
{
    server s;
    std::string key = add_key(s.keys), ingest = add_key(s.keys, SCOPE_INGEST);
    struct {
        const char *when;
        std::string headers;
        int want;
        bool closes;
    } cases[] = {
        {"none", "", 401, true},
        {"no key", "Authorization: x\r\n", 401, true},
        {"too short", bearer(key.substr(1)), 401, true},
        {"too long", bearer(key + "0"), 401, true},
        {"other digits", bearer("gp_" + std::string(12, 'g') + key.substr(15)), 401,
         true},
        {"a word behind it", bearer(key + " x"), 400, true},
        {"a blank behind it", bearer(key + " "), 200, false},
        {"unknown", bearer(unknown_key(1)), 401, true},
        {"other scope", bearer(ingest), 403, true},
        {"good", bearer(key), 200, false},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            client sender(s.port());
            // twice: looked up, and remembered
            for (int round = 0; round < 2; round++) {
                client connection(s.port());
                REQUIRE(connection.put(head("/tell", c.headers, 5)));
                if (c.want == 200)
                    REQUIRE(connection.put("12345"));
                answer a = connection.get(10);
                CHECK(a.status == c.want);
                CHECK(a.closes() == c.closes);
                if (a.status >= 400) {
                    CHECK(a.json()["status"] == c.want);
                    CHECK(a.json()["request_id"] == a.field("X-Request-Id"));
                }
            }
        }
    // Without a body what is missing costs no connection; what is senseless does.
    client c(s.port());
    CHECK(ask(c, get("/tell")).status == 401);
    CHECK(ask(c, get("/tell", bearer(unknown_key(1)))).status == 401);
    CHECK(ask(c, get("/open", "Authorization: x\r\n")).status == 200);
    CHECK(ask(c, get("/tell", bearer(key))).status == 200);
    answer last = ask(c, get("/tell", "Authorization: x\r\n"));
    CHECK(last.status == 401);
    CHECK(last.closes());
}

// ---- the look-up ----

TEST_CASE("no byte of a body is read before its key is known", "[http][door]")
{
    server s;
    std::string key = add_key(s.keys), body(3'000'000, 'x');
    std::vector<std::thread> senders;
    std::vector<answer> answers(12);
    client c(s.port());

    s.keys.open = false;
    for (size_t i = 0; i < answers.size(); i++)
        senders.emplace_back([&, i] {
            client sender(s.port());
            // whole, in pieces, or asking first
            const char *expect = i % 3 == 1 ? "Expect: 100-continue\r\n" : "";
            std::string chunk = "POST /tell HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                                "application/json\r\nTransfer-Encoding: chunked\r\n" +
                                bearer(key) + "\r\n2dc6c0\r\n" + body + "\r\n0\r\n\r\n";
            if (i % 3 == 2)
                answers[i] = ask(sender, chunk, 60);
            else
                answers[i] = ask(
                    sender, head("/tell", expect + bearer(key), body.size()) + body, 60);
        });
    CHECK(within(10, [&] { return s.stats().request_count == answers.size(); }));
    CHECK(within(10, [&] { return s.keys.asking == 2; }));
    std::this_thread::sleep_for(50ms);
    CHECK(s.stats().body_bytes == 0);
    CHECK(s.keys.asking_most == 2); // half of four query workers
    CHECK(ask(c, get("/open")).status == 200);
    s.keys.open = true;
    for (auto &t : senders)
        t.join();
    for (auto &a : answers) {
        CHECK(a.status == 200);
        CHECK(a.body == "3000000 alpha 127.0.0.1");
    }
}

TEST_CASE("a look-up ends as the database says, and the connection goes on",
          "[http][door]")
{
    server s;
    std::string key = add_key(s.keys);
    client c(s.port());

    s.keys.down = true;
    client early(s.port());
    REQUIRE(early.put(head("/tell", bearer(key), 1'000'000))); // and no body
    answer a = early.get(10);
    CHECK(a.status == 503);
    CHECK(a.closes());
    CHECK(early.is_closed(5));
    CHECK(ask(c, get("/tell", bearer(key))).status == 503);
    s.keys.down = false;
    CHECK(ask(c, get("/tell", bearer(key))).body == "0 alpha 127.0.0.1");
    CHECK(ask(c, head("/work", bearer(key), 2) + "{}").body == "2 alpha 127.0.0.1");
    // several in one piece, the first of which is looked up
    std::string other = add_key(s.keys), three;
    for (int i = 0; i < 3; i++)
        three += head("/tell", bearer(other), (size_t)i) + std::string((size_t)i, 'x');
    REQUIRE(c.put(three));
    for (int i = 0; i < 3; i++)
        CHECK(c.get(10).body == std::to_string(i) + " alpha 127.0.0.1");
    // asking first
    REQUIRE(
        c.put(head("/tell", "Expect: 100-continue\r\n" + bearer(add_key(s.keys)), 3)));
    REQUIRE(within(10, [&] { return c.more(0.1) || !c.pending.empty(); }));
    CHECK(c.pending.rfind("HTTP/1.1 100", 0) == 0);
    CHECK(ask(c, "abc").body == "3 alpha 127.0.0.1");
    client refused(s.port());
    REQUIRE(refused.put(
        head("/tell", "Expect: 100-continue\r\n" + bearer(unknown_key(2)), 3)));
    REQUIRE(within(10, [&] { return refused.more(0.1) || !refused.pending.empty(); }));
    CHECK(refused.pending.rfind("HTTP/1.1 401", 0) == 0);
}

TEST_CASE("clients that go away during a look-up leave nothing", "[http][door]")
{
    server s;
    std::string key = add_key(s.keys);

    s.keys.open = false;
    for (unsigned i = 0; i < 15; i++) {
        client c(s.port());
        REQUIRE(c.put(head("/tell", bearer(i % 2 ? key : unknown_key(i)), 100'000)));
        if (i % 3 == 0)
            c.reset();
    }
    std::this_thread::sleep_for(100ms);
    s.keys.open = true;
    CHECK(within(20, [&] { return s.stats().connection_count == 0; }));
    CHECK(s.stats().request_count == 0);
    CHECK(s.stats().body_bytes == 0);
    client c(s.port());
    CHECK(ask(c, get("/tell", bearer(key))).status == 200);
}

// ---- many unknown keys ----

TEST_CASE("a flood of unknown keys costs its own address only", "[http][door]")
{
    server s({"--auth", "on", "--trusted-proxies", "127.0.0.0/8"});
    client flood(s.port()), others(s.port());
    int unknown = 0, limited = 0;

    for (unsigned i = 0; i < 300; i++) {
        answer a = ask(flood, get("/tell", "X-Forwarded-For: 203.0.113.9\r\n" +
                                               bearer(unknown_key(i))));
        unknown += a.status == 401;
        limited += a.status == 429;
        if (a.status == 429) {
            CHECK(a.field("Retry-After") == "1");
            CHECK(a.json()["code"] == "rate_limited");
        }
    }
    CHECK(unknown + limited == 300);
    CHECK(unknown >= AUTH_UNKNOWN_BURST);
    CHECK(limited > 100);
    CHECK(s.keys.asked < 200);
    // Keys that nobody has seen here yet, from elsewhere; of IPv6 a /64 is one address.
    for (unsigned i = 0; i < 40; i++) {
        std::string from = "X-Forwarded-For: 2001:db8:0:1::" + std::to_string(i) + "\r\n";
        answer a = ask(others, get("/tell", from + bearer(add_key(s.keys))));
        CHECK(a.status == 200);
        CHECK(a.body == "0 alpha 2001:db8:0:1::/64");
    }
    limited = 0;
    for (unsigned i = 0; i < 40; i++) {
        std::string from = "X-Forwarded-For: 2001:db8:0:2::" + std::to_string(i) + "\r\n";
        limited +=
            ask(others, get("/tell", from + bearer(unknown_key(1000 + i)))).status == 429;
    }
    CHECK(limited > 0);
}

TEST_CASE("look-ups that wait do not keep known keys from the query workers",
          "[http][door]")
{
    server s({"--auth", "on", "--trusted-proxies", "127.0.0.0/8", "--query-queue-length",
              "8"});
    std::string key = add_key(s.keys);
    client c(s.port());
    std::vector<client> flood;
    int busy = 0;

    REQUIRE(ask(c, get("/tell", bearer(key))).status == 200);
    s.keys.open = false;
    for (unsigned i = 0; i < 30; i++) {
        flood.emplace_back(s.port());
        REQUIRE(flood.back().put(get("/tell", "X-Forwarded-For: 203.0.113." +
                                                  std::to_string(i) + "\r\n" +
                                                  bearer(unknown_key(i)))));
    }
    CHECK(within(10, [&] { return s.stats().refused_count >= 20; })); // 2 run, 8 wait
    CHECK(within(10, [&] {
        return s.keys.asking == 2 && worker_waiting_count(s.s.lookups) == 0;
    }));
    CHECK(ask(c, get("/tell", bearer(key))).status == 200);
    s.keys.open = true;
    for (auto &f : flood) {
        answer a = f.get(20);
        CHECK((a.status == 401 || a.status == 503));
        busy += a.status == 503;
    }
    CHECK((busy >= 20 && busy < 24)); // a runner may have been late to take its first
}

TEST_CASE("a key that was known before is looked up before the others", "[http][door]")
{
    server s({"--auth", "on", "--trusted-proxies", "127.0.0.0/8", "--query-queue-length",
              "8"});
    std::string key = add_key(s.keys);
    client c(s.port());
    std::vector<client> flood;

    REQUIRE(ask(c, get("/tell", bearer(key))).status == 200);
    auth_reload(s.s.auth);
    s.keys.open = false;
    for (unsigned i = 0; i < 20; i++) {
        flood.emplace_back(s.port());
        REQUIRE(flood.back().put(get("/tell", "X-Forwarded-For: 203.0.113." +
                                                  std::to_string(i) + "\r\n" +
                                                  bearer(unknown_key(i)))));
    }
    REQUIRE(within(10, [&] { return s.stats().refused_count >= 10; }));
    REQUIRE(c.put(get("/tell", bearer(key))));
    std::this_thread::sleep_for(20ms);
    s.keys.open = true;
    CHECK(c.get(10).status == 200);
}

TEST_CASE("a line of look-ups keeps its order and its bound", "[service][door]")
{
    struct step {
        struct lookup l {
        };
        int number = 0;
        std::vector<int> *done = nullptr;
        std::atomic<bool> *open = nullptr;
        std::atomic<int> *begun = nullptr;
    };
    std::atomic<bool> open{false};
    std::atomic<int> begun{0};
    std::vector<int> done;
    worker_pool *pool = worker_pool_create("test", 2, 4, 0);
    lookup_line *line = lookup_line_create(pool, 1, 3);
    std::vector<step> steps(6);
    const bool known[] = {false, false, false, false, false, true};
    const bool want[] = {true, true, true, true, false, true};

    for (int i = 0; i < 6; i++) {
        step &st = steps[(size_t)i];
        st.number = i;
        st.done = &done;
        st.open = &open;
        st.begun = &begun;
        st.l.context = &st;
        st.l.run = [](void *context) {
            step *self = static_cast<step *>(context);
            ++*self->begun;
            while (!*self->open)
                std::this_thread::sleep_for(1ms);
            self->done->push_back(self->number);
        };
        CHECK(lookup_submit(line, &st.l, known[i]) == want[i]);
        if (i == 0)
            REQUIRE(within(10, [&] { return begun == 1; }));
    }
    open = true;
    CHECK(worker_pool_drain(pool, 10));
    CHECK(done == std::vector<int>{0, 5, 1, 2, 3});
    worker_pool_close(pool);
    step late;
    late.l = {[](void *) {}, nullptr, nullptr};
    worker_pool *full = worker_pool_create("full", 1, 1, 0);
    std::atomic<bool> leave{false};
    auto wait = [](void *context) {
        while (!*static_cast<std::atomic<bool> *>(context))
            std::this_thread::sleep_for(1ms);
    };
    REQUIRE(worker_submit(full, wait, &leave));
    REQUIRE(within(10, [&] { return worker_running_count(full) == 1; }));
    REQUIRE(worker_submit(full, wait, &leave)); // and no place is left
    lookup_line *stuck = lookup_line_create(full, 2, 3);
    CHECK_FALSE(lookup_submit(stuck, &late.l, false)); // the pool takes no worker for it
    CHECK_FALSE(lookup_submit(stuck, &late.l, true));
    leave = true;
    worker_pool_close(full);
    lookup_line_close(stuck);
    lookup_line_close(line);
}

// ---- addresses ----

TEST_CASE("the client is the one that a trusted proxy names", "[http][door]")
{
    server trusting({"--trusted-proxies", "127.0.0.1/32,10.0.0.0/24"}), wary;
    struct {
        std::string headers;
        const char *want;
    } cases[] = {
        {"", "127.0.0.1"},
        {"X-Forwarded-For: 203.0.113.7\r\n", "203.0.113.7"},
        {"X-Forwarded-For: 10.9.9.9, 203.0.113.7, 10.0.0.2\r\n", "203.0.113.7"},
        {"X-Forwarded-For: 203.0.113.7\r\nx-forwarded-for: 10.0.0.2\r\n", "203.0.113.7"},
        {"X-Forwarded-For: x, 10.0.0.2\r\n", "10.0.0.2"},
        {"X-Forwarded-For: [2001:db8::1]:443\r\n", "2001:db8::/64"},
        {"Forwarded: for=203.0.113.7\r\n", "127.0.0.1"},
    };
    client c(trusting.port()), w(wary.port());
    std::string key = add_key(wary.keys);

    for (auto &k : cases) {
        INFO(k.headers);
        CHECK(ask(c, get("/tell", k.headers)).body == "0 default " + std::string(k.want));
        CHECK(ask(w, get("/tell", k.headers + bearer(key))).body == "0 alpha 127.0.0.1");
    }
}

TEST_CASE("connections of one address are counted, of trusted proxies not",
          "[http][door]")
{
    server counting({"--connections-per-address", "3"});
    server trusting(
        {"--connections-per-address", "3", "--trusted-proxies", "127.0.0.0/8"});
    std::vector<client> some;

    for (int round = 0; round < 3; round++) {
        some.clear();
        REQUIRE(within(10, [&] { return counting.stats().connection_count == 0; }));
        for (int i = 0; i < 3; i++) {
            some.emplace_back(counting.port());
            CHECK(ask(some.back(), get("/open")).status == 200);
        }
        client more(counting.port());
        CHECK(ask(more, get("/open"), 5).status == 0);
        CHECK(ask(some[0], get("/open")).status == 200);
    }
    some.clear();
    for (int i = 0; i < 10; i++) {
        some.emplace_back(trusting.port());
        CHECK(ask(some.back(), get("/open")).status == 200);
    }
}

TEST_CASE("a crowd counts each address by itself", "[service][door]")
{
    auto from = [](const std::string &text) {
        address a{};
        REQUIRE(address_read(text.c_str(), text.size(), &a));
        return a;
    };
    crowd *few = crowd_create(2, 1); // two slots: chains
    std::vector<address> all;

    for (int i = 0; i < 100; i++)
        all.push_back(from("10.0.0." + std::to_string(i)));
    for (auto &a : all) {
        CHECK(crowd_enter(few, &a));
        CHECK(crowd_enter(few, &a));
        CHECK_FALSE(crowd_enter(few, &a));
    }
    for (auto &a : all)
        crowd_leave(few, &a);
    for (auto &a : all) {
        CHECK(crowd_enter(few, &a));
        CHECK_FALSE(crowd_enter(few, &a));
        crowd_leave(few, &a);
        crowd_leave(few, &a);
        CHECK(crowd_enter(few, &a));
    }
    address one = from("2001:db8::1"), same = from("2001:db8::ffff:1"),
            other = from("2001:db8:0:1::1");
    CHECK(crowd_enter(few, &one));
    CHECK(crowd_enter(few, &same));
    CHECK_FALSE(crowd_enter(few, &same));
    CHECK(crowd_enter(few, &other));
    crowd_close(few);
    crowd *any = crowd_create(0, 1000);
    for (int i = 0; i < 100; i++)
        CHECK(crowd_enter(any, &one));
    crowd_close(any);
}

// ---- Host, Origin, Content-Type ----

TEST_CASE("hosts are served by name, address or setting", "[service][door]")
{
    struct {
        const char *allowed, *host;
        bool keys;
        int want; // 0: served
    } cases[] = {
        {"auto", "localhost", false, 0},
        {"auto", "LocalHost:8080", false, 0},
        {"auto", "localhost.", false, 0},
        {"auto", "127.0.0.1:8080", false, 0},
        {"auto", "192.0.2.7", false, 0},
        {"auto", "[::1]:8080", false, 0},
        {"auto", "[2001:db8::1]", false, 0},
        {"auto", "laptop", false, 0},
        {"auto", "laptop:80", false, 0},
        {"auto", "evil.example", false, 421},
        {"auto", "localhost.evil.example", false, 421},
        {"auto", "127.0.0.1.evil.example", false, 421},
        {"auto", "evil.example:8080", false, 421},
        {"auto", "[evil.example]", false, 421},
        {"auto", "localhost:8080:evil", false, 421},
        {"auto", "", false, 421},
        {"auto", "plan.public", false, 0},
        {"auto", "Plan.Public:8080", false, 0},
        {"auto", "public", false, 421},
        {"auto", "plan.public.evil.example", false, 421},
        {"plan.example", "plan.public", false, 421},
        {"auto", "evil.example", true, 0},
        {"*", "evil.example", false, 0},
        {"gridplan,plan.example", "plan.example:80", false, 0},
        {"gridplan, plan.example", "PLAN.example", false, 0},
        {"gridplan,plan.example", "localhost", false, 421},
        {"gridplan,plan.example", "localhost", true, 421},
        {"gridplan,plan.example", "127.0.0.1", false, 421},
        {"auto,gridplan", "localhost", false, 0},
        {"auto,gridplan", "gridplan", false, 0},
        {"auto,gridplan", "grid", false, 421},
        {"auto,gridplan", "grid", true, 0},
        {"", "localhost", true, 421},
        {"auto", nullptr, false, 400},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.allowed << " " << (c.host ? c.host : "none") << c.keys)
        {
            door d{c.keys, c.allowed, "", "laptop", "https://plan.public:444/grid"};
            door_head head{"POST", c.host, nullptr, nullptr, true, false};
            error err{};
            error_code code = door_check(&d, &head, &err);
            CHECK(code == err.code);
            CHECK((code == OK ? 0 : error_kinds[code].http_status) == c.want);
        }
    door d{false, "auto", "", "laptop", ""};
    door_head old{"POST", nullptr, nullptr, nullptr, false, false};
    error err{};
    CHECK(door_check(&d, &old, &err) == OK); // HTTP/1.0
}

TEST_CASE("pages of elsewhere may not write while there are no keys", "[service][door]")
{
    const char *none = nullptr;
    struct {
        const char *method, *host, *origin, *site;
        bool https, allowed;
    } cases[] = {
        {"POST", "localhost:8080", none, none, false, true},
        {"POST", "localhost:8080", "http://localhost:8080", "same-origin", false, true},
        {"POST", "LOCALHOST:8080", "http://localhost:8080", none, false, true},
        {"POST", "127.0.0.1", "http://127.0.0.1:80", none, false, true},
        {"POST", "[::1]:8080", "http://[::1]:8080", none, false, true},
        {"POST", "localhost:8080", "http://localhost:9000", none, false, false},
        {"POST", "localhost:8080", "http://localhost", none, false, false},
        {"POST", "localhost:8080", "https://localhost:8080", none, false, false},
        {"POST", "plan.example", "https://plan.example", none, true, true},
        {"POST", "plan.example", "https://plan.example:443", none, true, true},
        {"POST", "plan.example", "http://plan.example", none, true, false},
        {"POST", "localhost:8080", "http://evil.example", none, false, false},
        {"POST", "localhost:8080", "http://localhost:8080.evil.example", none, false,
         false},
        {"POST", "localhost:8080", "null", none, false, false},
        {"POST", "localhost:8080", "", none, false, false},
        {"POST", "localhost:8080", "https://app.example", "cross-site", false, true},
        {"PUT", "localhost:8080", "http://evil.example", none, false, false},
        {"PATCH", "localhost:8080", "http://evil.example", none, false, false},
        {"DELETE", "localhost:8080", "http://evil.example", none, false, false},
        {"GET", "localhost:8080", "http://evil.example", none, false, true},
        {"HEAD", "localhost:8080", "http://evil.example", none, false, true},
        {"OPTIONS", "localhost:8080", "http://evil.example", none, false, true},
        {"POST", "localhost:8080", none, "cross-site", false, false},
        {"POST", "localhost:8080", none, "same-site", false, true},
        {"POST", "localhost:8080", none, "none", false, true},
        {"GET", "localhost:8080", none, "cross-site", false, true},
    };
    for (auto &c : cases)
        for (bool keys : {false, true})
            DYNAMIC_SECTION(c.method << " " << c.host << " "
                                     << (c.origin ? c.origin : "-") << " "
                                     << (c.site ? c.site : "-") << keys)
            {
                door d{keys, "*", "https://app.example,https://b.example", "laptop", ""};
                door_head head{c.method, c.host, c.origin, c.site, true, c.https};
                error err{};
                CHECK(door_check(&d, &head, &err) ==
                      (c.allowed || keys ? OK : ERR_FORBIDDEN));
            }
}

TEST_CASE(
    "foreign hosts, foreign pages and bodies without a type are refused at the header",
    "[http][door]")
{
    server s(std::vector<const char *>{});
    std::string at = "Host: localhost:" + std::to_string(s.port()) + "\r\n",
                json = "Content-Type: application/json\r\n",
                two = "Content-Length: 2\r\n";
    struct {
        const char *when;
        std::string header;
        int want;
    } cases[] = {
        {"plain", at + json + two, 200},
        {"by address", "Host: 127.0.0.1\r\n" + json + two, 200},
        {"a rebound name", "Host: evil.example\r\n" + json + two, 421},
        {"no host", json + two, 400},
        {"no host, but its name with a blank behind it",
         "Host : localhost\r\n" + json + two, 400},
        {"two hosts", at + "Host: localhost\r\n" + json + two, 400},
        {"two hosts, the first rebound", "Host: evil.example\r\n" + at + json + two, 400},
        {"own page",
         at + json + two + "Origin: http://localhost:" + std::to_string(s.port()) +
             "\r\n",
         200},
        {"foreign page", at + json + two + "Origin: https://evil.example\r\n", 403},
        {"foreign page without Origin",
         at + json + two + "Sec-Fetch-Site: cross-site\r\n", 403},
        {"no type", at + two, 415},
        {"plain text", at + two + "Content-Type: text/plain\r\n", 415},
        {"a form", at + two + "Content-Type: application/x-www-form-urlencoded\r\n", 415},
        {"a form with files", at + two + "Content-Type: multipart/form-data\r\n", 415},
        {"json with a charset",
         at + two + "Content-Type: application/json; charset=utf-8\r\n", 200},
        {"two codings",
         at + json + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400},
        {"two keys of a retry",
         at + json + two + "Idempotency-Key: a\r\nIdempotency-Key: b\r\n", 400},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            client connection(s.port());
            REQUIRE(connection.put("POST /tell HTTP/1.1\r\n" + c.header + "\r\n"));
            if (c.want == 200)
                REQUIRE(connection.put("{}"));
            answer a = connection.get(10);
            CHECK(a.status == c.want);
            if (c.want >= 400) {
                CHECK(a.field("Content-Type") == "application/problem+json");
                CHECK(a.closes());
                CHECK(connection.is_closed(5));
            }
            if (c.want == 400 || c.want == 421)
                CHECK(a.body.find("\"instance\":\"/tell\"") != std::string::npos);
            if (std::string(c.when) == "two keys of a retry")
                CHECK(a.body.find("\"errors\":[{\"in\":\"header\","
                                  "\"name\":\"Idempotency-Key\"") != std::string::npos);
        }
    client nameless(s.port()); // the library's own words
    REQUIRE(nameless.put("POST /tell HTTP/1.1\r\n" + json + two + "\r\n"));
    CHECK(nameless.get(10).status == 400);
    // A page may read; what it may see of that the browser decides by the origin.
    client c(s.port());
    CHECK(ask(c, get("/tell", "Origin: https://evil.example\r\n")).status == 200);
    CHECK(ask(c, "POST /tell HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
              .status == 200); // nothing: nothing to say the type of
    // With a key a body without a type is JSON, and any host and page will do.
    server keyed;
    client k(keyed.port());
    std::string key = add_key(keyed.keys);
    CHECK(ask(k, "POST /tell HTTP/1.1\r\nHost: plan.example\r\nOrigin: "
                 "https://evil.example\r\nContent-Length: 2\r\n" +
                     bearer(key) + "\r\n{}")
              .status == 200);
}

// ---- headers of any length ----

TEST_CASE("headers that are too large are answered in our words", "[http][door]")
{
    server s(std::vector<const char *>{});
    auto parameters = [](int count) {
        std::string text = "/open?";
        for (int i = 0; i < count; i++)
            text += "p" + std::to_string(i) + "=" + std::to_string(i) + "&";
        return text;
    };
    auto fields = [](size_t count, size_t length) {
        std::string text;
        for (size_t i = 0; i < count; i++)
            text +=
                "X-" + std::to_string(100 + i) + ": " + std::string(length, 'x') + "\r\n";
        return text;
    };
    struct {
        const char *when;
        std::string target, headers;
        int want;
    } cases[] = {
        {"200 parameters", parameters(200), "", 422} /* the route has none */,
        {"201 parameters", parameters(201), "", 400},
        {"250 parameters", parameters(250), "", 400},
        {"800 parameters", parameters(800), "", 400},
        {"a long target", "/open?x=" + std::string(16 * 1024 - 8, 'x'), "", 422},
        {"one byte more", "/open?x=" + std::string(16 * 1024 - 7, 'x'), "", 414},
        {"a target of 20000 bytes", "/" + std::string(19999, 'x'), "", 414},
        {"30 kB of fields", "/open", fields(30, 993), 200},
        {"a field of 30 kB", "/open", fields(1, 30000), 200},
        {"33 kB of fields", "/open", fields(33, 993), 431},
        {"40 kB of fields", "/open", fields(40, 993), 431},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            client connection(s.port());
            answer a = ask(connection, get(c.target, c.headers), 10);
            CHECK(a.status == c.want);
            if (c.want != 200) {
                CHECK(a.field("Content-Type") == "application/problem+json");
                CHECK_FALSE(a.field("X-Request-Id").empty());
                CHECK(a.json()["status"] == c.want);
            }
            if (c.want == 200 || c.want > 400) // read whole: the connection goes on
                CHECK(ask(connection, get("/open")).status == 200);
        }
}

// ---- further listeners ----

// A connection to a socket of this machine.
static client local_client(const std::string &path)
{
    client c(-1);
    sockaddr_un to{};

    c.hang_up();
    to.sun_family = AF_UNIX;
    strcpy(to.sun_path, path.c_str());
    c.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(c.fd, (sockaddr *)&to, sizeof(to)) != 0)
        c.hang_up();
    return c;
}

static std::string socket_path(const char *name)
{
    return "/tmp/gridplan-door-" + std::to_string(getpid()) + "-" + name;
}

TEST_CASE("probes and metrics have a listener of their own when one is set",
          "[http][door]")
{
    server s({"--admin-bind", "127.0.0.1"}), alone(std::vector<const char *>{});
    struct {
        const char *path;
        int first, admin, alone;
    } cases[] = {
        {"/livez", 200, 200, 200}, {"/metrics", 404, 200, 200}, {"/open", 200, 404, 200},
        {"/tell", 200, 404, 200},  {"/nowhere", 404, 404, 404},
    };
    client first(s.port()), admin(http_admin_port(s.h)), only(alone.port());

    REQUIRE(http_admin_port(s.h) > 0);
    CHECK(http_admin_port(alone.h) == 0);
    for (auto &c : cases) {
        INFO(c.path);
        CHECK(ask(first, get(c.path)).status == c.first);
        CHECK(ask(admin, get(c.path)).status == c.admin);
        CHECK(ask(only, get(c.path)).status == c.alone);
    }
    CHECK(ask(admin, head("/tell", "", 2) + "{}").status == 404);
}

TEST_CASE("a socket of this machine is for its user alone and goes with the service",
          "[http][door]")
{
    std::string path = socket_path("socket");
    struct stat there {
    };
    {
        server s({"--unix-socket", path.c_str(), "--admin-bind", "127.0.0.1"});
        client c = local_client(path);
        REQUIRE(lstat(path.c_str(), &there) == 0);
        CHECK(S_ISSOCK(there.st_mode));
        CHECK((there.st_mode & 0777) == 0600);
        CHECK(ask(c, get("/tell", "X-Forwarded-For: 203.0.113.7\r\n")).body ==
              "0 default unix");
        CHECK(ask(c, head("/tell", "", 2) + "{}").body == "2 default unix");
        CHECK(ask(c, head("/work", "", 2) + "{}").body == "2 default unix");
        CHECK(ask(c, get("/metrics")).status == 200);
        CHECK(ask(c, "POST /tell HTTP/1.1\r\nHost: evil.example\r\nContent-Length: "
                     "0\r\n\r\n")
                  .status == 421);
        CHECK(s.stats().connection_count == 1);
    }
    CHECK(lstat(path.c_str(), &there) != 0);
    {
        server s({"--unix-socket", path.c_str(), "--auth", "on"}); // keys follow auth
        client c = local_client(path);
        CHECK(ask(c, get("/tell")).status == 401);
        CHECK(ask(c, get("/tell", bearer(add_key(s.keys)))).body == "0 alpha unix");
    }
}

TEST_CASE("the place of a socket is taken from the dead only", "[service][door]")
{
    std::string path = socket_path("place");
    struct stat there {
    };
    error err{};
    unix_path first{}, second{};
    int a = -1, b = -1;

    REQUIRE(listen_unix(path.c_str(), &a, &first, &err) == OK);
    CHECK(listen_unix(path.c_str(), &b, &second, &err) == ERR_CONFLICT); // it lives
    CHECK(err.field == std::string("/unix_socket"));
    close(b);
    close(a); // without removing it: as after a kill
    REQUIRE(listen_unix(path.c_str(), &a, &second, &err) == OK);
    listen_unix_remove(&first); // another one is there now
    if (first.inode != second.inode)
        CHECK(lstat(path.c_str(), &there) == 0);
    listen_unix_remove(&second);
    CHECK(lstat(path.c_str(), &there) != 0);
    close(a);
    std::ofstream(path) << "a file";
    err = {};
    CHECK(listen_unix(path.c_str(), &a, &first, &err) == ERR_CONFLICT);
    close(a);
    CHECK(std::ifstream(path).good());
    unlink(path.c_str());
    std::string longest(UNIX_PATH_MAX_BYTES + 1, 'x');
    CHECK(listen_unix(longest.c_str(), &a, &first, &err) == ERR_INVALID);
}

TEST_CASE("listeners that cannot be are refused at the start, by name", "[service][door]")
{
    test_arena a;
    std::string longest(UNIX_PATH_MAX_BYTES + 1, 'x');
    struct {
        std::vector<const char *> flags;
        const char *pointer;
    } cases[] = {
        {{"--admin-port", "8080"}, "/admin_port"},
        {{"--port", "9", "--admin-port", "9"}, "/admin_port"},
        {{"--admin-bind", "here"}, "/admin_bind"},
        {{"--unix-socket", longest.c_str()}, "/unix_socket"},
        {{"--trusted-proxies", "10.0.0.0/33"}, "/trusted_proxies"},
        {{"--trusted-proxies", "10.0.0.0/8,proxy"}, "/trusted_proxies"},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.pointer << c.flags[1])
        {
            const char *none[] = {nullptr};
            config read{};
            error err = collecting_error(a);
            c.flags.push_back(nullptr);
            CHECK(config_read(none, c.flags.data(), &read, a, &err) == ERR_INVALID);
            REQUIRE(err.first);
            CHECK(err.first->pointer == std::string(c.pointer));
        }
}

TEST_CASE("health says what a service says, or why it cannot", "[http][door]")
{
    std::string path = socket_path("health");
    server s({"--unix-socket", path.c_str(), "--admin-bind", "127.0.0.1"});
    std::string port = std::to_string(s.port()), url = "http://127.0.0.1:" + port,
                named = "http://localhost:" + port + "/x";
    config here = s.c, nobody = s.c;
    struct {
        const char *when, *url, *socket;
        const config *c;
        bool ready, healthy;
        const char *line;
    } cases[] = {
        {"url", url.c_str(), nullptr, &s.c, false, true, "/livez: 200"},
        {"name and path", named.c_str(), nullptr, &s.c, false, true, "/livez: 200"},
        {"not ready", url.c_str(), nullptr, &s.c, true, false, "/readyz: 404"},
        {"socket", nullptr, path.c_str(), &s.c, false, true, "/livez: 200"},
        {"no socket", nullptr, "/nowhere", &s.c, false, false, "No such file"},
        {"settings", nullptr, nullptr, &here, false, true, "/livez: 200"},
        {"nobody", nullptr, nullptr, &nobody, false, false, "refused"},
    };
    here.admin_port = (size_t)http_admin_port(s.h);
    nobody.has_admin = false;
    nobody.port = 1;
    for (auto &c : cases)
        DYNAMIC_SECTION(c.when)
        {
            health_target target{c.url, c.socket, c.ready};
            char line[HEALTH_LINE_SIZE];
            bool healthy = !c.healthy;
            error err{};
            REQUIRE(health_ask(&target, c.c, &healthy, line, &err) == OK);
            INFO(line);
            CHECK(healthy == c.healthy);
            CHECK_THAT(line, Catch::Contains(c.line));
        }
}

TEST_CASE("health takes plain URLs only, and does not wait for ever", "[http][door]")
{
    config c{};

    for (const char *bad : {"https://localhost", "localhost:8080", "http://",
                            "http://a:b", "http://[::1", ""}) {
        health_target target{bad, nullptr, false};
        char line[HEALTH_LINE_SIZE];
        bool healthy = false;
        error err{};
        INFO(bad);
        CHECK(health_ask(&target, &c, &healthy, line, &err) == ERR_INVALID);
    }
    // One that takes connections and says nothing.
    int silent = -1, silent_port = 0;
    char line[HEALTH_LINE_SIZE];
    bool healthy = true;
    error err{};

    REQUIRE(listen_tcp("127.0.0.1", 0, "", &silent, &silent_port, &err) == OK);
    std::string quiet = "http://127.0.0.1:" + std::to_string(silent_port);
    health_target target{quiet.c_str(), nullptr, false};
    double start_s = now_s();
    CHECK(health_ask(&target, &c, &healthy, line, &err) == OK);
    CHECK_FALSE(healthy);
    CHECK(now_s() - start_s > 2.5);
    CHECK(now_s() - start_s < 10);
    close(silent);
}
