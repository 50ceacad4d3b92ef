// service_test.cpp - the modules of service/ that need neither socket nor database:
// settings, worker pool, gzip, rate limiter, keys, metrics, log, identifiers.
#include "exposition.hpp"
#include "support.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
#include "service/auth.h"
#include "service/clock.h"
#include "service/config.h"
#include "service/governor.h"
#include "service/gzip.h"
#include "service/hash.h"
#include "service/log.h"
#include "service/metrics.h"
#include "service/ratelimit.h"
#include "service/uuid.h"
#include "service/worker.h"
}

using namespace std::chrono_literals;

// ---- settings ----

using texts = std::vector<const char *>;

static error_code read_config(texts environment, texts flags, config *c, arena *a,
                              error *err)
{
    environment.push_back(nullptr);
    flags.push_back(nullptr);
    return config_read(environment.data(), flags.data(), c, a, err);
}

static std::string printed(void (*print)(const config *, FILE *), const config *c)
{
    char *text = nullptr;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    print(c, out);
    fclose(out);
    std::string result(text, length);
    free(text);
    return result;
}

TEST_CASE("settings have defaults and come from variables and flags", "[service][config]")
{
    test_arena a;
    error err = collecting_error(a);
    config c{};

    SECTION("defaults")
    {
        REQUIRE(read_config({}, {}, &c, a, &err) == OK);
        CHECK(c.port == 8080);
        CHECK(c.bind == std::string("127.0.0.1"));
        CHECK(c.max_body_bytes == 64u << 20);
        CHECK(c.compute_workers >= 1);
        CHECK(c.db_prepared_statements);
        CHECK_FALSE(c.auth_required);
    }
    SECTION("flags before our variables before customary ones")
    {
        REQUIRE(read_config({"PORT=1", "LOG_LEVEL=debug"}, {}, &c, a, &err) == OK);
        CHECK(c.port == 1);
        CHECK(c.log_level == LOG_DEBUG);
        REQUIRE(read_config({"PORT=1", "GRIDPLAN_PORT=2"}, {}, &c, a, &err) == OK);
        CHECK(c.port == 2);
        REQUIRE(read_config({"PORT=1", "GRIDPLAN_PORT=2"}, {"--port", "3"}, &c, a,
                            &err) == OK);
        CHECK(c.port == 3);
        REQUIRE(read_config({}, {"--port=4", "--bind=::1"}, &c, a, &err) == OK);
        CHECK(c.port == 4);
    }
    SECTION("keys are required unless bound to loopback, or as said")
    {
        struct {
            const char *bind, *auth;
            bool want;
        } cases[] = {
            {"127.0.0.1", "auto", false}, {"127.8.0.1", "auto", false},
            {"::1", "auto", false},       {"0.0.0.0", "auto", true},
            {"::", "auto", true},         {"10.1.2.3", "auto", true},
            {"0.0.0.0", "off", false},    {"127.0.0.1", "on", true},
        };
        for (auto &k : cases) {
            CAPTURE(k.bind, k.auth);
            REQUIRE(read_config({}, {"--bind", k.bind, "--auth", k.auth}, &c, a, &err) ==
                    OK);
            CHECK(c.auth_required == k.want);
        }
    }
    SECTION("what Kubernetes sets for a Service of our name is not a setting")
    {
        REQUIRE(read_config({"GRIDPLAN_PORT=tcp://10.0.0.1:80",
                             "GRIDPLAN_SERVICE_HOST=10.0.0.1",
                             "GRIDPLAN_PORT_80_TCP_ADDR=10.0.0.1"},
                            {}, &c, a, &err) == OK);
        CHECK(c.port == 8080);
        CHECK(c.warning_count == 0);
    }
    SECTION("a misspelt variable is reported")
    {
        REQUIRE(read_config({"GRIDPLAN_PROT=1"}, {}, &c, a, &err) == OK);
        REQUIRE(c.warning_count == 1);
        CHECK_THAT(c.warnings[0], Catch::Contains("GRIDPLAN_PROT"));
    }
}

TEST_CASE("all mistakes in settings are reported at once", "[service][config]")
{
    test_arena a;
    error err = collecting_error(a);
    config c{};

    CHECK(read_config({"GRIDPLAN_PORT=70000", "GRIDPLAN_IO_THREADS=two",
                       "GRIDPLAN_AUTH=maybe", "GRIDPLAN_QUERY_WORKERS=1.5"},
                      {"--bnid", "::", "--bind", "localhost", "--cors-origins",
                       "example.org", "--db-prepared-statements=perhaps",
                       "--max-body-bytes"},
                      &c, a, &err) == ERR_INVALID);
    CHECK(err.item_count == 10);
    std::string all;
    for (error_item *item = err.first; item; item = item->next)
        all += std::string(item->pointer) + ": " + item->detail + "\n";
    CHECK_THAT(all, Catch::Contains("did you mean --bind"));
    CHECK_THAT(all, Catch::Contains("GRIDPLAN_PORT: 70000 is not between 0 and 65535"));
}

TEST_CASE("secrets come from files and are never printed", "[service][config]")
{
    test_arena a;
    error err = collecting_error(a);
    config c{};
    char path[] = "/tmp/gridplan-secret-XXXXXX";
    int fd = mkstemp(path);

    REQUIRE(fd >= 0);
    REQUIRE(write(fd, "postgres://u:hunter2@db/x\n", 26) == 26);
    close(fd);
    std::string variable = std::string("GRIDPLAN_DATABASE_FILE=") + path;
    REQUIRE(read_config({variable.c_str()}, {}, &c, a, &err) == OK);
    CHECK(c.database == std::string("postgres://u:hunter2@db/x"));
    std::string text = printed(config_print, &c);
    CHECK_THAT(text, Catch::Contains("postgres://u:***@db/x"));
    CHECK_THAT(text, !Catch::Contains("hunter2"));
    unlink(path);
    CHECK(read_config({variable.c_str()}, {}, &c, a, &err) == ERR_INVALID);

    struct {
        const char *given, *want;
    } cases[] = {
        {"", ""},
        {"postgres://u@h/d", "postgres://u@h/d"},
        {"postgresql://u:p/w@h/d", "postgresql://u:***@h/d"},
        {"postgres://h/d?user=u&password=p&sslmode=require",
         "postgres://h/d?user=u&password=***&sslmode=require"},
        {"host=h password=p user=u", "host=h password=*** user=u"},
        {"host=h password = 'a b\\'c' user=u", "host=h password = *** user=u"},
    };
    for (auto &k : cases)
        CHECK(config_mask(k.given, a) == std::string(k.want));
}

TEST_CASE("settings are sorted and all in --help", "[service][config]")
{
    test_arena a;
    error err = collecting_error(a);
    config c{};
    std::string last, name,
        help = printed([](const config *, FILE *out) { config_help(out); }, &c);

    REQUIRE(read_config({}, {}, &c, a, &err) == OK);
    std::istringstream lines(printed(config_print, &c));
    for (std::string line; std::getline(lines, line);) {
        name = line.substr(0, line.find(' '));
        CHECK(last < name);
        last = name;
        for (char &ch : name)
            ch = ch == '_' ? '-' : ch;
        CHECK_THAT(help, Catch::Contains("--" + name));
    }
}

// ---- worker pool ----

struct gate {
    std::atomic<bool> open{false};
    std::atomic<int> started{0}, done{0};
};

static void pass_gate(void *context)
{
    gate *g = static_cast<gate *>(context);

    g->started++;
    while (!g->open)
        std::this_thread::sleep_for(1ms);
    g->done++;
}

TEST_CASE("a worker pool refuses what does not fit, and finishes what it took",
          "[service][worker]")
{
    gate g;
    worker_pool *pool = worker_pool_create("test", 2, 3, 1);
    REQUIRE(pool);

    for (int i = 0; i < 2; i++)
        CHECK(worker_submit(pool, pass_gate, &g));
    while (g.started < 2)
        std::this_thread::sleep_for(1ms);
    CHECK(worker_running_count(pool) == 2);
    for (int i = 0; i < 3; i++)
        CHECK(worker_submit(pool, pass_gate, &g));
    CHECK(worker_is_full(pool));
    CHECK_FALSE(worker_submit(pool, pass_gate, &g));
    CHECK(worker_waiting_count(pool) == 3);
    CHECK_FALSE(worker_pool_drain(pool, 0.02));
    g.open = true;
    CHECK(worker_pool_drain(pool, 10));
    CHECK(g.done == 5);
    CHECK(worker_submit(pool, pass_gate, &g));
    worker_pool_close(pool);
    CHECK(g.done == 6);
    worker_pool_close(nullptr);
}

TEST_CASE("a worker pool serves many threads", "[service][worker]")
{
    gate g;
    g.open = true;
    std::atomic<int> taken{0};
    worker_pool *pool = worker_pool_create("test", 4, 16, 0);
    std::vector<std::thread> callers;

    for (int i = 0; i < 4; i++)
        callers.emplace_back([&] {
            for (int k = 0; k < 500; k++)
                taken += worker_submit(pool, pass_gate, &g);
        });
    for (auto &t : callers)
        t.join();
    CHECK(worker_pool_drain(pool, 30));
    CHECK(g.done == taken);
    CHECK(taken > 0);
    worker_pool_close(pool);
}

// ---- gzip ----

static std::string pack(const std::string &text, arena *a)
{
    const char *out;
    size_t length;

    REQUIRE(gzip_deflate(text.data(), text.size(), &out, &length, a));
    return std::string(out, length);
}

TEST_CASE("gzip round trips at all sizes", "[service][gzip]")
{
    for (size_t size : {400u, 513u, 1024u, 40000u, 70000u, 3000000u}) {
        test_arena a;
        error err{};
        std::string text, packed;
        const char *out;
        size_t length;

        while (text.size() < size)
            text += "{\"id\":\"job-" + std::to_string(text.size()) + "\"},";
        packed = pack(text, a);
        CHECK(packed.size() < text.size() / 2);
        REQUIRE(gzip_inflate(packed.data(), packed.size(), text.size(), &out, &length, a,
                             &err) == OK);
        CHECK(std::string(out, length) == text);
        CHECK(out[length] == 0);
        CHECK(gzip_inflate(packed.data(), packed.size(), text.size() - 1, &out, &length,
                           a, &err) == ERR_TOO_LARGE);
    }
}

TEST_CASE("gzip refuses bombs, damage, cuts and trailing garbage", "[service][gzip]")
{
    test_arena a;
    error err{};
    const char *out;
    size_t length = 0;
    std::string zeros(20'000'000, '0'), packed = pack(zeros, a),
                                        small = pack(std::string(500, 'x'), a);

    {
        test_arena tight(2'000'000);
        CHECK(gzip_inflate(packed.data(), packed.size(), 100'000'000, &out, &length,
                           tight, &err) == ERR_TOO_LARGE);
        CHECK(gzip_inflate(packed.data(), packed.size(), 100'000, &out, &length, tight,
                           &err) == ERR_TOO_LARGE);
    }
    for (size_t cut = 0; cut < small.size(); cut++)
        CHECK(gzip_inflate(small.data(), cut, 1000, &out, &length, a, &err) ==
              ERR_MALFORMED);
    std::string bad = small + "x";
    CHECK(gzip_inflate(bad.data(), bad.size(), 1000, &out, &length, a, &err) ==
          ERR_MALFORMED);
    bad = small;
    bad[bad.size() - 5] = (char)(bad[bad.size() - 5] ^ 1); // the checksum
    CHECK(gzip_inflate(bad.data(), bad.size(), 1000, &out, &length, a, &err) ==
          ERR_MALFORMED);
    CHECK(gzip_inflate("{\"a\":1}", 7, 1000, &out, &length, a, &err) == ERR_MALFORMED);
    bad = small + small; // members may follow each other
    REQUIRE(gzip_inflate(bad.data(), bad.size(), 1000, &out, &length, a, &err) == OK);
    CHECK(length == 1000);
    CHECK(gzip_inflate(bad.data(), bad.size(), 999, &out, &length, a, &err) ==
          ERR_TOO_LARGE);
}

// What the packer makes of `text`, in pieces of so many bytes.
static std::string pack_pieces(const std::string &text, size_t piece, size_t room)
{
    gzip_packer *p = gzip_packer_create();
    std::string packed, out(room, 0);
    size_t length;
    bool more;

    for (size_t at = 0; at < text.size(); at += piece) {
        gzip_packer_feed(p, text.data() + at, std::min(piece, text.size() - at));
        do {
            more = gzip_pack(p, false, out.data(), room, &length);
            packed.append(out, 0, length);
        } while (more);
    }
    do {
        more = gzip_pack(p, true, out.data(), room, &length);
        packed.append(out, 0, length);
    } while (more);
    gzip_packer_close(p);
    return packed;
}

TEST_CASE("gzip packs and unpacks in pieces", "[service][gzip]")
{
    auto add = [](void *to, const char *piece, size_t length, error *) {
        ((std::string *)to)->append(piece, length);
        return OK;
    };
    auto stop = [](void *, const char *, size_t, error *err) {
        return fail(err, ERR_CONFLICT, "", "enough");
    };

    for (size_t size : {0, 1, 2, 100, 65536, 1000000}) {
        std::string text;
        for (size_t i = 0; i < size; i++)
            text += "0123456789 abc\n"[(i * i / 7 + i) % 15];
        for (size_t piece : {1, 7, 65536}) {
            test_arena a;
            error err{};
            if (piece == 1 && size > 100)
                continue;
            CAPTURE(size, piece);
            std::string packed = pack_pieces(text, piece, 50 + piece), back, whole;
            REQUIRE(gzip_inflate_pieces(packed.data(), packed.size(), size, add, &back, a,
                                        &err) == OK);
            CHECK(back == text);
            if (size > 0)
                CHECK(gzip_inflate_pieces(packed.data(), packed.size(), size - 1, add,
                                          &whole, a, &err) == ERR_TOO_LARGE);
            err = {};
            for (size_t cut : {size_t{0}, packed.size() / 2, packed.size() - 1})
                CHECK(gzip_inflate_pieces(packed.data(), cut, size, add, &whole, a,
                                          &err) == ERR_MALFORMED);
            err = {};
            if (size > 0)
                CHECK(gzip_inflate_pieces(packed.data(), packed.size(), size, stop,
                                          nullptr, a, &err) == ERR_CONFLICT);
            err = {};
            std::string two = packed + packed;
            back.clear();
            CHECK(gzip_inflate_pieces(two.data(), two.size(), 2 * size, add, &back, a,
                                      &err) == OK);
            CHECK(back == text + text);
            two = packed + "x";
            CHECK(gzip_inflate_pieces(two.data(), two.size(), size, add, &back, a,
                                      &err) == ERR_MALFORMED);
        }
    }
}

TEST_CASE("gzip leaves alone what does not get smaller", "[service][gzip]")
{
    test_arena a;
    rng r = rng_create(1);
    std::string noise;
    const char *out = "kept";
    size_t length = 7;

    for (int i = 0; i < 3000; i++)
        noise += (char)rng_index(&r, 256);
    CHECK_FALSE(gzip_deflate(noise.data(), noise.size(), &out, &length, a));
    CHECK(out == std::string("kept"));
    CHECK(length == 7);
}

TEST_CASE("Accept-Encoding is understood", "[service][gzip]")
{
    struct {
        const char *header;
        bool want;
    } cases[] = {
        {nullptr, false},
        {"", false},
        {"gzip", true},
        {"GZIP", true},
        {"deflate, gzip", true},
        {"gzip;q=0", false},
        {"gzip;q=0.000", false},
        {"gzip; q=0.5", true},
        {"*", true},
        {"*;q=0", false},
        {"identity", false},
        {"gzip;q=0, *", false},
        {"br,gzip;q=0.1 , x", true},
        {"xgzip", false},
    };
    for (auto &k : cases) {
        CAPTURE(k.header ? k.header : "none");
        CHECK(gzip_accepted(k.header) == k.want);
    }
}

// ---- rate limiter ----

TEST_CASE("a token bucket allows a burst, then the rate", "[service][ratelimit]")
{
    ratelimit *limits = ratelimit_create(64);
    ratelimit_state s{};

    for (int i = 0; i < 5; i++)
        CHECK(ratelimit_take(limits, "key", 2, 5, 100, &s));
    CHECK(s.remaining_count == 0);
    CHECK(s.reset_s == Approx(0.5).epsilon(1e-12));
    CHECK(s.window_s == Approx(2.5).epsilon(1e-12));
    CHECK_FALSE(ratelimit_take(limits, "key", 2, 5, 100, &s));
    CHECK(s.retry_after_s == Approx(0.5).epsilon(1e-12));
    CHECK(ratelimit_take(limits, "other", 2, 5, 100, &s));
    CHECK(s.remaining_count == 4);
    CHECK(ratelimit_take(limits, "key", 2, 5, 100.5, &s));
    CHECK_FALSE(ratelimit_take(limits, "key", 2, 5, 100.5, &s));
    CHECK_FALSE(ratelimit_take(limits, "key", 2, 5, 99, &s)); // a clock that goes back
    CHECK(ratelimit_take(limits, "key", 2, 5, 1000, &s));
    CHECK(s.remaining_count == 4); // never more than the burst
    ratelimit_close(limits);
    ratelimit_close(nullptr);
}

TEST_CASE("the table of buckets is bounded and keeps the empty ones",
          "[service][ratelimit]")
{
    ratelimit *limits = ratelimit_create(16);
    ratelimit_state s{};

    while (ratelimit_take(limits, "greedy", 0.001, 100, 1, &s))
        ;
    for (int i = 0; i < 10000; i++)
        CHECK(ratelimit_take(limits, std::to_string(i).c_str(), 10, 100, 1, &s));
    CHECK_FALSE(ratelimit_take(limits, "greedy", 0.001, 100, 1, &s));
    ratelimit_close(limits);
}

// ---- keys ----

struct key_store {
    std::vector<auth_key> keys;
    bool down = false;
    std::atomic<int> asked{0};
};

static error_code find_in_store(void *context, const char *key_id, auth_key *key,
                                error *err)
{
    key_store *store = static_cast<key_store *>(context);

    store->asked++;
    if (store->down)
        return fail(err, ERR_UNAVAILABLE, "", "down");
    for (auto &k : store->keys)
        if (strcmp(k.key_id, key_id) == 0) {
            *key = k;
            return OK;
        }
    return fail(err, ERR_NOT_FOUND, "", "no key");
}

static std::string add_key(key_store &store, unsigned scopes, double expires_at_s = NAN)
{
    char text[AUTH_KEY_SIZE];
    auth_key key{};

    REQUIRE(auth_key_make(text, &key));
    strcpy(key.tenant, "alpha");
    key.scopes = scopes;
    key.expires_at_s = expires_at_s;
    key.quota = key.tenant_quota = quota_none();
    store.keys.push_back(key);
    return text;
}

static std::string base64(const std::string &text)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;

    for (size_t i = 0; i < text.size(); i += 3) {
        unsigned n = 0;
        for (size_t k = 0; k < 3; k++)
            n = n << 8 | (i + k < text.size() ? (unsigned char)text[i + k] : 0u);
        for (size_t k = 0; k < 4; k++)
            out += i + k > text.size() ? '=' : digits[n >> (18 - 6 * k) & 63];
    }
    return out;
}

TEST_CASE("keys are checked by header, digest, scope, expiry and revocation",
          "[service][auth]")
{
    test_arena a;
    key_store store;
    std::string key = add_key(store, SCOPE_DECIDE), admin = add_key(store, SCOPE_ADMIN);
    std::string expired = add_key(store, SCOPE_DECIDE, 1000),
                revoked = add_key(store, SCOPE_DECIDE);
    std::string wrong = key;

    store.keys.back().revoked = true;
    wrong.back() = wrong.back() == '0' ? '1' : '0';
    struct {
        const char *when;
        std::string header;
        scope wanted;
        error_code want;
    } cases[] = {
        {"bearer", "Bearer " + key, SCOPE_DECIDE, OK},
        {"lower case", "bearer " + key, SCOPE_DECIDE, OK},
        {"basic", "Basic " + base64("anybody:" + key), SCOPE_DECIDE, OK},
        {"basic, no user", "Basic " + base64(":" + key), SCOPE_DECIDE, OK},
        {"other scope", "Bearer " + key, SCOPE_INGEST, ERR_FORBIDDEN},
        {"admin may do all", "Bearer " + admin, SCOPE_INGEST, OK},
        {"wrong secret", "Bearer " + wrong, SCOPE_DECIDE, ERR_UNAUTHENTICATED},
        {"expired", "Bearer " + expired, SCOPE_DECIDE, ERR_UNAUTHENTICATED},
        {"revoked", "Bearer " + revoked, SCOPE_DECIDE, ERR_UNAUTHENTICATED},
        {"unknown", "Bearer gp_000000000000_" + std::string(64, '0'), SCOPE_DECIDE,
         ERR_UNAUTHENTICATED},
        {"too long", "Bearer " + key + "0", SCOPE_DECIDE, ERR_UNAUTHENTICATED},
        {"not a key", "Bearer abc", SCOPE_DECIDE, ERR_UNAUTHENTICATED},
        {"no colon", "Basic " + base64(key), SCOPE_DECIDE, ERR_UNAUTHENTICATED},
        {"bad base64", "Basic !!!", SCOPE_DECIDE, ERR_UNAUTHENTICATED},
        {"long base64", "Basic " + std::string(5000, 'A'), SCOPE_DECIDE,
         ERR_UNAUTHENTICATED},
        {"other scheme", "Digest " + key, SCOPE_DECIDE, ERR_UNAUTHENTICATED},
        {"empty", "", SCOPE_DECIDE, ERR_UNAUTHENTICATED},
    };
    auth *au = auth_create(true, 5, find_in_store, &store);
    for (auto &k : cases)
        DYNAMIC_SECTION(k.when)
        {
            error err = collecting_error(a);
            auth_grant grant{};
            auth_result r = auth_check(au, k.header.c_str(), nullptr, k.wanted, true,
                                       &grant, a, &err);
            CHECK(r == (k.want == OK ? AUTH_ALLOWED : AUTH_REFUSED));
            CHECK(err.code == k.want);
            if (k.want == OK) {
                CHECK(grant.who.tenant == std::string("alpha"));
                CHECK(strlen(grant.who.key_id) == 12);
            }
        }
    error err{};
    auth_grant grant{};
    CHECK(auth_check(au, nullptr, nullptr, SCOPE_DECIDE, false, &grant, a, &err) ==
          AUTH_REFUSED);
    CHECK(auth_check(au, nullptr, nullptr, SCOPE_NONE, false, &grant, a, &err) ==
          AUTH_ALLOWED);
    CHECK(auth_check(nullptr, nullptr, nullptr, SCOPE_ADMIN, false, &grant, a, &err) ==
          AUTH_ALLOWED);
    CHECK(grant.who.tenant == std::string("default"));
    auth_close(au);
}

TEST_CASE("keys that were seen need no database, also when it is down", "[service][auth]")
{
    test_arena a;
    key_store store;
    std::string key = "Bearer " + add_key(store, SCOPE_DECIDE);
    auth *au = auth_create(true, 5, find_in_store, &store);
    error err{};
    auth_grant grant{};

    CHECK(auth_check(au, key.c_str(), nullptr, SCOPE_DECIDE, false, &grant, a, &err) ==
          AUTH_NEEDS_DATABASE);
    store.down = true;
    CHECK(auth_check(au, key.c_str(), nullptr, SCOPE_DECIDE, true, &grant, a, &err) ==
          AUTH_REFUSED);
    CHECK(err.code == ERR_UNAVAILABLE);
    store.down = false;
    CHECK(auth_check(au, key.c_str(), nullptr, SCOPE_DECIDE, true, &grant, a, &err) ==
          AUTH_ALLOWED);
    CHECK(auth_check(au, key.c_str(), nullptr, SCOPE_DECIDE, false, &grant, a, &err) ==
          AUTH_ALLOWED);
    CHECK(store.asked == 2);
    store.down = true;
    auth_reload(au);
    CHECK(auth_check(au, key.c_str(), nullptr, SCOPE_DECIDE, false, &grant, a, &err) ==
          AUTH_NEEDS_DATABASE);
    CHECK(auth_check(au, key.c_str(), nullptr, SCOPE_DECIDE, true, &grant, a, &err) ==
          AUTH_ALLOWED);
    CHECK(auth_check(au, key.c_str(), nullptr, SCOPE_DECIDE, false, &grant, a, &err) ==
          AUTH_ALLOWED);
    CHECK(store.asked == 3);
    store.down = false;
    store.keys[0].revoked = true;
    auth_reload(au);
    CHECK(auth_check(au, key.c_str(), nullptr, SCOPE_DECIDE, true, &grant, a, &err) ==
          AUTH_REFUSED);
    CHECK(err.code == ERR_UNAUTHENTICATED);
    auth_close(au);
}

TEST_CASE("unknown keys are looked up only so often", "[service][auth]")
{
    test_arena a;
    key_store store;
    auth *au = auth_create(true, 5, find_in_store, &store);
    auth_grant grant{};
    int limited = 0;

    for (int i = 0; i < 500; i++) {
        char key[100];
        error err{};
        snprintf(key, sizeof(key), "Bearer gp_%012x_%064x", (unsigned)i * 7919u, 0u);
        CHECK(auth_check(au, key, nullptr, SCOPE_DECIDE, true, &grant, a, &err) ==
              AUTH_REFUSED);
        limited += err.code == ERR_RATE_LIMITED;
    }
    CHECK(store.asked < 200);
    CHECK(limited > 200);
    auth_close(au);
}

TEST_CASE("many threads check keys at once", "[service][auth]")
{
    key_store store;
    std::vector<std::string> keys;
    auth *au = auth_create(true, 5, find_in_store, &store);
    std::atomic<int> refused{0};
    std::vector<std::thread> callers;

    for (int i = 0; i < 20; i++)
        keys.push_back("Bearer " + add_key(store, SCOPE_DECIDE));
    for (int t = 0; t < 4; t++)
        callers.emplace_back([&, t] {
            test_arena a;
            for (int i = 0; i < 500; i++) {
                error err{};
                auth_grant grant{};
                if (t == 0 && i % 50 == 0)
                    auth_reload(au);
                refused +=
                    auth_check(au, keys[(size_t)i % keys.size()].c_str(), nullptr,
                               SCOPE_DECIDE, true, &grant, a, &err) != AUTH_ALLOWED;
            }
        });
    for (auto &t : callers)
        t.join();
    CHECK(refused <= 400); // the limit on unknown keys may hit the first round
    auth_close(au);
}

TEST_CASE("scopes are read and printed", "[service][auth]")
{
    test_arena a;
    error err{};
    unsigned scopes = 0;

    REQUIRE(auth_scopes_read("ingest,decide", &scopes, &err) == OK);
    CHECK(scopes == (SCOPE_DECIDE | SCOPE_INGEST));
    CHECK(auth_scopes_print(scopes, a) == std::string("decide,ingest"));
    CHECK(auth_scopes_read("decide,root", &scopes, &err) == ERR_INVALID);
    CHECK(auth_scopes_read("", &scopes, &err) == ERR_INVALID);
}

// ---- metrics ----

static const route metric_routes[] = {
    {"GET", "/v1/a", "a", nullptr, nullptr, nullptr, nullptr, nullptr, WORK_INLINE,
     SCOPE_NONE, 0, "", "", nullptr},
    {"POST", "/v1/a", "a", nullptr, nullptr, nullptr, nullptr, nullptr, WORK_INLINE,
     SCOPE_NONE, 0, "", "", nullptr},
    {},
};

static std::string metrics_text(metrics *m, bool openmetrics,
                                const struct governor_stats *owners = nullptr)
{
    test_arena a;
    text_buffer b{};

    b.arena = a;
    metrics_print(m, owners, openmetrics, &b);
    REQUIRE_FALSE(b.failed);
    return std::string(b.data, b.length);
}

TEST_CASE("the largest owners have series of their own, and no more than so many",
          "[service][metrics]")
{
    metrics *m = metrics_create(false);
    auto stats = std::make_unique<struct governor_stats>();
    governor_queue_stats &queue = stats->queues[GOVERNOR_COMPUTE];

    REQUIRE(m);
    CHECK(metrics_text(m, false).find("owner") == std::string::npos);
    for (auto &q : stats->queues) {
        q.owner_count = GOVERNOR_OWNERS_SHOWN + 1;
        for (int i = 0; i < GOVERNOR_OWNERS_SHOWN; i++)
            snprintf(q.owners[i].name, GOVERNOR_NAME_SIZE, "owner%d", i);
        strcpy(q.owners[GOVERNOR_OWNERS_SHOWN].name, "other");
    }
    strcpy(queue.owners[0].name, "a \"b\"");
    queue.owners[0].queued_count = 3;
    queue.owners[1].background = true;
    queue.owners[1].parked_count = 2;
    strcpy(queue.owners[2].name, "other"); // a tenant may be called so
    queue.owners[2].running_count = 4;
    queue.owners[GOVERNOR_OWNERS_SHOWN].running_count = 5;

    std::string text = metrics_text(m, false, stats.get());
    size_t count = 0;
    std::set<std::string> series;

    for (const char *line :
         {"gridplan_owner_jobs{owner=\"a \\\"b\\\"\",work=\"compute\",state=\"queued\"} "
          "3\n",
          "gridplan_owner_jobs{owner=\"owner1\",work=\"background\",state=\"parked\"} "
          "2\n",
          "gridplan_owner_jobs{owner=\"other\",work=\"compute\",state=\"running\"} 9\n",
          "gridplan_owner_jobs{owner=\"owner0\",work=\"query\",state=\"queued\"} 0\n"})
        CHECK_THAT(text, Catch::Contains(line));
    for (size_t at = 0; (at = text.find("gridplan_owner_jobs{", at)) != std::string::npos;
         at++, count++)
        series.insert(text.substr(at, text.find('}', at) - at));
    CHECK(count == series.size());
    CHECK(count == 3 * (20 + 21)); // two of one name are one
    CHECK_THAT(metrics_text(m, true, stats.get()), Catch::EndsWith("# EOF\n"));
    metrics_close(m);
}

static void add_row(metrics *m, enum metric_type type, const char *name,
                    const char *labels, metric_fn *read, bool had_no_prefix)
{
    metric_row row{type, name, labels, "Things.", read, nullptr, had_no_prefix};

    CHECK(metrics_add(m, &row));
}

/* Some of everything. */
static void count_some(metrics *m)
{
    metrics_rows rows{3, 2, 1};

    metrics_request(m, &metric_routes[0], 200, 0.002);
    metrics_request(m, &metric_routes[1], 200, 0.003);
    metrics_request(m, &metric_routes[1], 200, 400);
    metrics_request(m, nullptr, 404, 0.0001);
    metrics_decision(m, &metric_routes[1], "min_min", DECISION_OPTIMAL, 0.02, 0);
    metrics_decision(m, &metric_routes[1], "min_min", DECISION_CUT, 0.04, 0.004);
    metrics_decision(m, &metric_routes[1], "a\"b\\c\n", DECISION_CUT, 0.02, NAN);
    metrics_unplaced(m, "memory_bytes", 3);
    metrics_unplaced(m, "none", 0);
    metrics_check_failure(m, &metric_routes[1]);
    metrics_estimate(m, &metric_routes[1], 0.5);
    metrics_queue_wait(m, &metric_routes[1], 0.05);
    metrics_model_error(m, "linear", 0.25);
    metrics_model_error(m, "linear", NAN);
    metrics_forecast_error(m, "mean", 0.15);
    metrics_ingested(m, &metric_routes[1], &rows);
    rows = {1, 0, 0};
    metrics_ingested(m, &metric_routes[1], &rows);
    metrics_refit(m, "linear", "refine", 0.5);
    metrics_renamed(m, 2);
    metrics_renamed(m, 1);
    add_row(
        m, METRIC_COUNTER, "gridplan_things_total", "", [](void *) { return 7.0; },
        false);
    add_row(
        m, METRIC_GAUGE, "gridplan_depth", "pool=\"x\"", [](void *) { return 1.5; },
        true);
    add_row(
        m, METRIC_GAUGE, "gridplan_depth", "pool=\"y\"", [](void *) { return 2.5; },
        true);
}

TEST_CASE("metrics are printed in both formats", "[service][metrics]")
{
    metrics *m = metrics_create(false);
    REQUIRE(m);
    count_some(m);
    metrics_renamed(nullptr, 1);
    metrics_unplaced(nullptr, "x", 1);
    metrics_request(nullptr, nullptr, 200, 1);

    std::string text = metrics_text(m, false), open = metrics_text(m, true);
    for (const char *line : {
             "gridplan_http_requests_total{route=\"/v1/a\",code=\"200\"} 3\n",
             "gridplan_http_requests_total{route=\"none\",code=\"404\"} 1\n",
             "gridplan_http_request_duration_seconds_bucket{work=\"inline\",le=\"0.001\"}"
             " 1\n",
             "gridplan_http_request_duration_seconds_bucket{work=\"inline\",le=\"0.003\"}"
             " 3\n",
             "gridplan_http_request_duration_seconds_bucket{work=\"inline\",le=\"100.0\"}"
             " 3\n",
             "gridplan_http_request_duration_seconds_bucket{work=\"inline\",le=\"+Inf\"} "
             "4\n",
             "gridplan_http_request_duration_seconds_count{work=\"inline\"} 4\n",
             "gridplan_http_request_seconds_total{route=\"/v1/a\"} 400.005\n",
             "gridplan_decision_duration_seconds_bucket{endpoint=\"/v1/a\",le=\"0.03\"} "
             "2\n",
             "gridplan_decisions_total{endpoint=\"/v1/a\",algorithm=\"min_min\"} 2\n",
             "gridplan_decisions_total{endpoint=\"/v1/a\",algorithm=\"a\\\"b\\\\c\\n\"} "
             "1\n",
             "gridplan_decision_seconds_total{endpoint=\"/v1/a\",algorithm=\"min_min\"} "
             "0.06\n",
             "gridplan_decision_status_total{endpoint=\"/v1/a\",status=\"cut\"} 2\n",
             "gridplan_decision_status_total{endpoint=\"/v1/a\",status=\"optimal\"} 1\n",
             "gridplan_decision_gap_ratio_bucket{endpoint=\"/v1/a\",le=\"0.0\"} 1\n",
             "gridplan_decision_gap_ratio_bucket{endpoint=\"/v1/a\",le=\"0.01\"} 2\n",
             "gridplan_decision_gap_ratio_count{endpoint=\"/v1/a\"} 2\n",
             "gridplan_jobs_unplaced_total{reason=\"memory_bytes\"} 3\n",
             "gridplan_check_failures_total{endpoint=\"/v1/a\"} 1\n",
             "gridplan_memory_estimate_ratio_count{work=\"inline\"} 1\n",
             "gridplan_worker_queue_wait_seconds_bucket{work=\"inline\",le=\"0.1\"} 1\n",
             "gridplan_model_error_ratio_bucket{kind=\"linear\",le=\"0.2\"} 0\n",
             "gridplan_model_error_ratio_bucket{kind=\"linear\",le=\"0.3\"} 1\n",
             "gridplan_forecast_error_ratio_bucket{method=\"mean\",le=\"0.2\"} 1\n",
             "gridplan_ingest_rows_total{history=\"a\",result=\"stored\"} 4\n",
             "gridplan_ingest_rows_total{history=\"a\",result=\"duplicate\"} 2\n",
             "gridplan_ingest_rows_total{history=\"a\",result=\"refused\"} 1\n",
             "gridplan_refits_total{kind=\"linear\",result=\"refine\"} 1\n",
             "gridplan_refit_seconds_total{kind=\"linear\",result=\"refine\"} 0.5\n",
             "gridplan_renamed_members_total 3\n",
             "gridplan_metrics_dropped_total 0\n",
             "gridplan_contract_violations_total 0\n",
             "gridplan_things_total 7\n",
             "gridplan_depth{pool=\"x\"} 1.5\n",
             "gridplan_build_info{version=\"",
         }) {
        CHECK_THAT(text, Catch::Contains(line));
        CHECK_THAT(open, Catch::Contains(line));
    }
    CHECK_THAT(text, !Catch::Contains("reason=\"none\""));
    CHECK_THAT(text, Catch::Contains("# TYPE gridplan_things_total counter\n"));
    CHECK_THAT(text, !Catch::Contains("# EOF"));
    CHECK_THAT(open, Catch::Contains("# TYPE gridplan_things counter\n"));
    CHECK_THAT(open, Catch::EndsWith("# EOF\n"));
    CHECK(metrics_names_openmetrics(
        "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"));
    CHECK_FALSE(metrics_names_openmetrics(nullptr));
    check_exposition(text);
    for (size_t at = 0; (at = text.find("# TYPE ", at)) != std::string::npos; at++)
        CHECK((text.compare(at + 7, 9, "gridplan_") == 0 ||
               text.compare(at + 7, 8, "process_") == 0));
    metrics_close(m);
}

TEST_CASE("open files are counted", "[service][metrics]")
{
    metrics *m = metrics_create(false);
    auto number = [&](const char *name) {
        std::string text = metrics_text(m, false);
        size_t at = text.find("\n" + std::string(name) + " ");

        REQUIRE(at != std::string::npos);
        return std::stod(text.substr(at + strlen(name) + 2));
    };
    double before = number("process_open_fds");
    int ends[2];

    CHECK(before >= 3);
    CHECK(number("process_max_fds") > before);
    REQUIRE(pipe(ends) == 0);
    CHECK(number("process_open_fds") == before + 2);
    close(ends[0]);
    close(ends[1]);
    CHECK(number("process_open_fds") == before);
    metrics_close(m);
}

TEST_CASE("the names of the release before are kept beside the new ones",
          "[service][metrics]")
{
    metrics *m = metrics_create(true);
    count_some(m);
    std::string text = metrics_text(m, false), open = metrics_text(m, true);

    for (const char *line : {
             "\nhttp_requests_total{route=\"/v1/a\",method=\"POST\",code=\"200\"} 2\n",
             "\nhttp_requests_total{route=\"none\",method=\"any\",code=\"404\"} 1\n",
             "\nhttp_request_duration_seconds_bucket{route=\"/v1/"
             "a\",method=\"POST\",le=\"0.0025\"} 0\n",
             "\nhttp_request_duration_seconds_bucket{route=\"/v1/"
             "a\",method=\"POST\",le=\"300.0\"} 1\n",
             "\nhttp_request_duration_seconds_count{route=\"/v1/a\",method=\"POST\"} 2\n",
             "\ndecision_duration_seconds_count{endpoint=\"/v1/"
             "a\",algorithm=\"min_min\"} 2\n",
             "\ndecision_gap_ratio_count{endpoint=\"/v1/a\",algorithm=\"min_min\"} 2\n",
             "\njobs_unplaced_total{reason=\"memory_bytes\"} 3\n",
             "\nmodel_error_ratio_count 1\n",
             "\ndepth{pool=\"x\"} 1.5\ndepth{pool=\"y\"} 2.5\n",
             "\nbuild_info{version=\"",
             "\nlog_lines_dropped_total 0\n",
             "\ngridplan_decisions_total{endpoint=\"/v1/a\",algorithm=\"min_min\"} 2\n",
         }) {
        CHECK_THAT(text, Catch::Contains(line));
        CHECK_THAT(open, Catch::Contains(line));
    }
    CHECK_THAT(text, !Catch::Contains("\nthings_total"));
    check_exposition(text);
    metrics_close(m);
}

static size_t occurrences(const std::string &text, const char *part)
{
    size_t count = 0;

    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at++)
        count++;
    return count;
}

TEST_CASE("the number of series of a family is bounded", "[service][metrics]")
{
    metrics *m = metrics_create(false);

    for (int i = 0; i < METRICS_SERIES_MAX + 5; i++) {
        metrics_unplaced(m, ("reason-" + std::to_string(i)).c_str(), 2);
        metrics_decision(m, &metric_routes[1], std::to_string(i).c_str(),
                         DECISION_OPTIMAL, 1, 0.1);
    }
    std::string text = metrics_text(m, false);

    CHECK(occurrences(text, "\ngridplan_jobs_unplaced_total{") == METRICS_SERIES_MAX);
    CHECK(occurrences(text, "\ngridplan_decisions_total{") == METRICS_SERIES_MAX);
    // 5 times 2 jobs, 5 decisions and the 5 sums of their times
    CHECK_THAT(text, Catch::Contains("\ngridplan_metrics_dropped_total 20\n"));
    CHECK_THAT(text,
               Catch::Contains("gridplan_decision_duration_seconds_count{endpoint=\"/v1/"
                               "a\"} 2005\n"));
    metrics_unplaced(m, "reason-7", 1); // those that are there go on
    CHECK_THAT(metrics_text(m, false),
               Catch::Contains("gridplan_jobs_unplaced_total{reason=\"reason-7\"} 3\n"));
    metrics_close(m);
}

TEST_CASE("counting by many threads loses nothing", "[service][metrics]")
{
    metrics *m = metrics_create(false);
    std::vector<std::thread> threads;

    for (int t = 0; t < 4; t++)
        threads.emplace_back([&] {
            for (int i = 0; i < 1000; i++) {
                metrics_request(m, &metric_routes[0], 200, 0.001);
                metrics_unplaced(m, std::to_string(i % 10).c_str(), 1);
            }
        });
    for (auto &t : threads)
        t.join();
    std::string text = metrics_text(m, false);
    CHECK_THAT(text, Catch::Contains("{route=\"/v1/a\",code=\"200\"} 4000\n"));
    CHECK_THAT(text, Catch::Contains("jobs_unplaced_total{reason=\"7\"} 400\n"));
    metrics_close(m);
}

// ---- log ----

TEST_CASE("log lines are JSON objects whatever is in them", "[service][log]")
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(log_open(LOG_INFO, ends[1]));
    log_access access{};
    std::string longest(5000, '"');

    access.request_id = "r-1";
    access.method = "GET";
    access.route = "/v1/\"x\"\n\x01";
    access.tenant = "caf\xc3\xa9 \xff";
    access.error = longest.c_str();
    access.status = 500;
    access.duration_s = 0.0012345;
    access.reply_bytes = 42;
    log_request(&access);
    log_write(LOG_DEBUG, "not this");
    log_write(LOG_INFO, "hello %d", 7);
    log_close();
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;)
        text.append(buffer, (size_t)n);
    close(ends[0]);
    log_open(LOG_WARNING, 2); // as it was
    log_close();

    test_arena a;
    std::istringstream lines(text);
    size_t count = 0;
    for (std::string line; std::getline(lines, line); count++) {
        error err = collecting_error(a);
        const char *changed = nullptr;
        CAPTURE(line);
        CHECK(json_replace_member(line.data(), line.size(), "ts", "1", &changed, a,
                                  &err) == OK);
    }
    CHECK(count == 2);
    CHECK_THAT(text, Catch::Contains("\"status\":500,\"duration_ms\":1.235,"));
    CHECK_THAT(text, Catch::Contains("\"tenant\":\"caf\xc3\xa9 ?\""));
    CHECK_THAT(text, Catch::Contains("\"level\":\"info\",\"msg\":\"hello 7\"}"));
}

TEST_CASE("a log that nobody reads blocks nobody", "[service][log]")
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(log_open(LOG_INFO, ends[1]));
    size_t before = log_dropped_count();
    auto start = std::chrono::steady_clock::now();

    for (int i = 0; i < 20000; i++)
        log_write(LOG_INFO,
                  "line %d ...........................................................",
                  i);
    CHECK(std::chrono::steady_clock::now() - start < 10s);
    CHECK(log_dropped_count() > before);
    std::thread reader([&] {
        char buffer[65536];
        while (read(ends[0], buffer, sizeof(buffer)) > 0)
            ;
    });
    log_close();
    close(ends[1]);
    reader.join();
    close(ends[0]);
    log_open(LOG_WARNING, 2);
    log_close();
}

// ---- identifiers ----

TEST_CASE("identifiers differ, sort by time and have version 7", "[service][uuid]")
{
    std::set<std::string> seen;
    char text[UUID_TEXT_SIZE], later[UUID_TEXT_SIZE];

    for (int i = 0; i < 10000; i++) {
        uuid_make(text);
        CHECK(seen.insert(text).second);
    }
    CHECK(strlen(text) == 36);
    CHECK(text[14] == '7');
    CHECK(std::string("89ab").find(text[19]) != std::string::npos);
    std::this_thread::sleep_for(3ms);
    uuid_make(later);
    CHECK(std::string(text) < later);
}
