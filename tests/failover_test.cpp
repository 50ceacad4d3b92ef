// failover_test.cpp - what the pool does when the primary goes, when another one takes
// over, and when a COMMIT waits for a standby that is not there.
#include "tests/api.hpp"
#include "tests/own_server.hpp"

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <thread>

extern "C" {
#include "service/liveness.h"
#include "service/uuid.h"
}

namespace
{

struct db_stats stats_of(db *d)
{
    struct db_stats s;
    db_stats(d, &s);
    return s;
}

void note(void *context, const char *text)
{
    static_cast<std::vector<std::string> *>(context)->push_back(text);
}

bool is_noted(const std::vector<std::string> &notes, const char *part)
{
    for (const std::string &n : notes)
        if (n.find(part) != std::string::npos)
            return true;
    return false;
}

// Listens on a port of 127.0.0.1, and never answers.
struct mute_server {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int port = 0;
    mute_server()
    {
        sockaddr_in at{};
        socklen_t size = sizeof(at);
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(bind(fd, (sockaddr *)&at, sizeof(at)) == 0);
        REQUIRE(listen(fd, 8) == 0);
        REQUIRE(getsockname(fd, (sockaddr *)&at, &size) == 0);
        port = ntohs(at.sin_port);
    }
    ~mute_server()
    {
        close(fd);
    }
    // Our own socket that leads there; -1: none.
    int client() const
    {
        for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            sockaddr_in at{};
            socklen_t size = sizeof(at);
            int number = atoi(entry.path().filename().c_str());
            if (getpeername(number, (sockaddr *)&at, &size) == 0 &&
                at.sin_family == AF_INET && ntohs(at.sin_port) == port)
                return number;
        }
        return -1;
    }
};

int option_of(int fd, int level, int name)
{
    int value = -1;
    socklen_t size = sizeof(value);
    return getsockopt(fd, level, name, &value, &size) == 0 ? value : -1;
}

struct alive_options {
    int timeout_ms, is_kept, idle_s, interval_s, count;
    bool operator==(const alive_options &) const = default;
};

// What a connection to this address has asked the kernel for.
alive_options ask_options(const mute_server &server, const std::string &more)
{
    std::string address =
        "host=127.0.0.1 dbname=x user=x sslmode=disable gssencmode=disable port=" +
        std::to_string(server.port) + " " + more;
    test_db d(test_db_options(address.c_str()));
    std::atomic<bool> done{false};
    std::thread tries([&] {
        test_session s(d);
        error err{};
        db_begin(s, &err);
        done = true;
    });
    int fd = -1;
    while (fd < 0 && !done)
        fd = server.client();
    alive_options found{option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT),
                        option_of(fd, SOL_SOCKET, SO_KEEPALIVE),
                        option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE),
                        option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL),
                        option_of(fd, IPPROTO_TCP, TCP_KEEPCNT)};
    tries.join();
    return found;
}

// A statement that fails as the server would.
std::string raise(const char *sqlstate)
{
    return std::string("DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '") + sqlstate +
           "'; END $$";
}

const char cancel_waiting[] = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity"
                              " WHERE wait_event = 'SyncRep'";

// A server whose COMMITs wait for a standby that does not exist. What is done meanwhile
// is done on a connection that does not wait.
struct waiting_server : own_server {
    std::string free_url = url + "&options=-c%20synchronous_commit%3Dlocal";

    static void run(db *d, const char *sql)
    {
        test_session s(d);
        error err{};
        REQUIRE_OK(db_execute(s, sql, &err));
    }
    // As the administrator: the user of the url may not change settings.
    int psql(const std::string &limit, const std::string &sql) const
    {
        std::string socket = url.substr(url.find("host=") + 5);
        return system((limit + " psql -X -q -A -t -h " +
                       socket.substr(0, socket.find('&')) +
                       " -p 5432 -U postgres -d postgres " + sql + " >/dev/null 2>&1")
                          .c_str());
    }
    // The settings are read again by and by; whether COMMITs wait is tried out, for so
    // long.
    bool does_wait(double limit_s) const
    {
        const char count[] = "-c \"DO \\$\\$ BEGIN IF NOT EXISTS (SELECT FROM "
                             "pg_stat_activity WHERE wait_event = 'SyncRep') THEN RAISE "
                             "'none'; END IF; END \\$\\$\"";
        if (psql("timeout " + std::to_string(limit_s),
                 "-c 'CREATE TABLE probe (n int)' -c 'DROP TABLE probe'"))
            if (psql("", count) == 0) {
                do
                    psql("", "-c \"" + std::string(cancel_waiting) + "\"");
                while (psql("", count) == 0);
                psql("", "-c 'SET synchronous_commit = local' -c 'DROP TABLE IF EXISTS "
                         "probe'");
                return true;
            }
        return false;
    }
    void set_standby(const char *name) const
    {
        if (psql("", "-c \"ALTER SYSTEM SET synchronous_standby_names = '" +
                         std::string(name) + "'\" -c 'SELECT pg_reload_conf()'"))
            throw std::runtime_error("the server's settings cannot be changed");
        // psql alone may take a second to start on a busy machine
        for (int i = 0; *name && !does_wait(0.3 + 0.1 * i); i++)
            if (i == 50)
                throw std::runtime_error("COMMITs do not wait");
    }
};

// Waits until so many processes of the server wait for a standby; for threads.
bool wait_for_waiting(db *d, int wanted)
{
    for (int i = 0; i < 1000; i++) {
        test_session s(d);
        const db_column columns[] = {{"n", DB_NUMBER, 0}, {}};
        double found = -1;
        bool is_found;
        error err{};
        db_row(s,
               query_statement("SELECT count(*) FROM pg_stat_activity WHERE wait_event = "
                               "'SyncRep'"),
               nullptr, columns, sizeof(found), &found, &is_found, s.a, &err);
        if (found == wanted)
            return true;
        usleep(10000);
    }
    return false;
}

error_code insert_one(db_session *s, void *, error *err)
{
    return db_execute(s, "INSERT INTO kept VALUES (1)", err);
}

} // namespace

TEST_CASE("a server that vanishes is noticed, unless the address knows better",
          "[service]")
{
    mute_server server;

    CHECK(ask_options(server, "") == alive_options{5000, 1, 5, 2, 2});
    CHECK(ask_options(server, "tcp_user_timeout=7000 keepalives_idle=30 "
                              "keepalives_interval=3 keepalives_count=4") ==
          alive_options{7000, 1, 30, 3, 4});
    CHECK(ask_options(server, "keepalives=0").is_kept == 0);
}

TEST_CASE("of several servers without a wish the primary is taken, and that is said",
          "[service]")
{
    for (const auto &[url, is_said] : std::vector<std::pair<const char *, bool>>{
             {"postgresql://a,b/x", true},
             {"host=a,b", true},
             {"hostaddr=10.0.0.1,10.0.0.2", true},
             {"postgresql://a,b/x?target_session_attrs=read-write", false},
             {"postgresql://a,b/x?target_session_attrs=any", false},
             {"postgresql://a/x", false}}) {
        std::vector<std::string> notes;
        db_options o = test_db_options(url);
        o.log = note;
        o.log_context = &notes;
        test_db d(o);
        CAPTURE(url);
        CHECK(is_noted(notes, "target_session_attrs=read-write") == is_said);
        CHECK(db_has_several_hosts(d) == (strchr(url, ',') != nullptr));
    }
}

TEST_CASE("while no server takes writes callers are told to come back in a second or two",
          "[service]")
{
    test_db d(test_db_options("postgresql:///none?host=/nonexistent"));
    test_session s(d);
    uint64_t tries = 0;
    auto begin = std::chrono::steady_clock::now();

    for (int i = 0; i < 300; i++) {
        error err{};
        REQUIRE(db_begin(s, &err) == ERR_UNAVAILABLE);
        CHECK((err.retry_after_s == 1 || err.retry_after_s == 2));
        tries = stats_of(d).connect_failure_count;
        usleep(10000);
    }
    CHECK(tries >= 2);
    double least_s = 0; // 0.1, 0.2, 0.4 ... 2 s, a quarter less each
    for (uint64_t i = 1; i < tries; i++)
        least_s += 0.75 * std::min(2.0, 0.1 * std::pow(2, (double)i - 1));
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    CHECK(took.count() >= least_s);
}

TEST_CASE("after some failures idle connections are asked whether they lead to a standby",
          "[db]")
{
    NEED_DATABASE();
    test_db admin;
    test_session a(admin);
    error err{};
    std::string schema = "standby_" + std::to_string(getpid());
    // The one function stands before the server's own.
    std::string url = std::string(test_database_url()) + "&options=-c%20search_path%3D" +
                      schema + "%2Cpg_catalog";

    REQUIRE_OK(db_execute(a,
                          ("CREATE SCHEMA " + schema + "; CREATE TABLE " + schema +
                           ".is_standby (pid int); CREATE FUNCTION " + schema +
                           ".pg_is_in_recovery() RETURNS bool LANGUAGE sql AS 'SELECT "
                           "pg_backend_pid() IN (SELECT pid FROM " +
                           schema + ".is_standby)'")
                              .c_str(),
                          &err));
    {
        test_db d(test_db_options(url.c_str()));
        std::vector<std::string> lost;
        auto make_idle = [&] {
            std::vector<std::unique_ptr<test_session>> held;
            for (int i = 0; i < 4; i++) {
                held.push_back(std::make_unique<test_session>(d));
                REQUIRE_OK(db_begin(*held.back(), &err));
            }
        };
        auto fail_at = [&](const char *sqlstate, int count) {
            for (int i = 0; i < count; i++) {
                test_session s(d);
                error ignored{};
                CHECK(db_execute(s, raise(sqlstate).c_str(), &ignored) ==
                      ERR_UNAVAILABLE);
                make_idle(); // those that are not asked say nothing
            }
        };
        auto all_are_standbys = [&] {
            REQUIRE_OK(db_execute(
                a,
                ("INSERT INTO " + schema + ".is_standby SELECT pid FROM pg_stat_activity")
                    .c_str(),
                &err));
        };

        make_idle();
        all_are_standbys();
        uint64_t before = stats_of(d).lost_count;
        CHECK(before == 0);
        fail_at("53200", 5); // that says nothing of the primary
        CHECK(stats_of(d).lost_count == before);
        // Each of them is the end of its own connection; the statement is sent twice.
        fail_at("25006", 1);
        usleep(1100000); // an error now and then
        fail_at("25006", 1);
        CHECK(stats_of(d).lost_count <= 4);
        before = stats_of(d).lost_count;
        usleep(1100000);
        make_idle();
        all_are_standbys();
        {
            test_session s(d);
            error ignored{};
            for (int i = 0; i < 3; i++)
                db_execute(s, raise("57P01").c_str(), &ignored);
        }
        CHECK(stats_of(d).lost_count == before + 3);
        make_idle();
        CHECK(stats_of(d).lost_count == before + 4); // the one that was left is asked
        before = stats_of(d).lost_count;
        make_idle();
        CHECK(stats_of(d).lost_count == before); // the new ones are not asked
    }
    REQUIRE_OK(db_execute(a, ("DROP SCHEMA " + schema + " CASCADE").c_str(), &err));
}

TEST_CASE("a transaction that went with its connection before COMMIT is begun again",
          "[db]")
{
    NEED_DATABASE();
    test_db d, other;
    test_session s(d), o(other);
    error err{};
    struct play {
        const char *trouble;
        int failures, calls;
    };
    auto body = [](db_session *session, void *context, error *e) -> error_code {
        auto *p = static_cast<play *>(context);
        error_code code = db_execute(session, "INSERT INTO begun VALUES (1)", e);
        if (code == OK && p->calls++ < p->failures)
            code = db_execute(session, p->trouble, e);
        return code;
    };
    std::string standby = raise("25006");

    for (const char *trouble :
         {"SELECT pg_terminate_backend(pg_backend_pid())", standby.c_str()}) {
        CAPTURE(trouble);
        REQUIRE_OK(db_execute(s, "DROP TABLE IF EXISTS begun; CREATE TABLE begun (n int)",
                              &err));
        play two{trouble, 2, 0}, three{trouble, 3, 0};
        REQUIRE_OK(db_transaction(s, body, &two, &err));
        CHECK(two.calls == 3);
        CHECK(query_number(o, o.a, "SELECT count(*) FROM begun") == 1);
        CHECK(db_transaction(s, body, &three, &err) == ERR_UNAVAILABLE);
        CHECK(three.calls == 3);
        CHECK(db_is_undone(s));
        CHECK_FALSE(db_is_in_doubt(s));
        CHECK(query_number(o, o.a, "SELECT count(*) FROM begun") == 1);
        REQUIRE_OK(db_begin(s, &err));
        CHECK_FALSE(db_is_undone(s));
        db_rollback(s);
        err = error{};
    }
    REQUIRE_OK(db_execute(s, "DROP TABLE begun", &err));
}

TEST_CASE("a COMMIT that no standby has confirmed is not acknowledged", "[db][api]")
{
    NEED_DATABASE();
    waiting_server server;
    api a(server.url);
    test_db free(test_db_options(server.free_url.c_str()));
    const char body[] =
        R"({"resource_id":"r","observed_at":1764000000,"cpu_available_ratio":0.5})";
    const std::map<std::string, std::string> key = {{"idempotency_key", "key-of-commit"}};
    test_session s(free);
    bool waited = false;
    auto cancel = [&] {
        error err{};
        test_session c(free);
        waited = wait_for_waiting(free, 1);
        db_execute(c, cancel_waiting, &err);
    };

    server.set_standby("nobody");
    std::thread first(cancel);
    api_reply r = a.call("POST", "/v1/load-samples", body, key);
    first.join();
    REQUIRE(waited);
    CHECK(r.status == 503);
    CHECK(r.headers["Retry-After"] == "1");
    CHECK(r.json()["detail"] == "it is not known whether it was stored; send it again "
                                "with an Idempotency-Key");
    CHECK(stats_of(a.handle()->db).unconfirmed_count == 1);
    // It is seen; and its answer waits as well.
    CHECK(query_number(s, s.a, "SELECT count(*) FROM load_sample") == 1);
    std::thread second(cancel);
    r = a.call("POST", "/v1/load-samples", body, key);
    second.join();
    REQUIRE(waited);
    CHECK(r.status == 503);
    CHECK(stats_of(a.handle()->db).unconfirmed_count == 2);
    server.set_standby("");
    r = a.call("POST", "/v1/load-samples", body, key);
    CHECK(r.status == 201);
    CHECK(r.headers["Idempotency-Replayed"] == "true");
    CHECK(query_number(s, s.a, "SELECT count(*) FROM load_sample") == 1);
}

TEST_CASE("nobody who goes away ends a COMMIT; its place stays empty for a while", "[db]")
{
    NEED_DATABASE();
    waiting_server server;
    test_db free(test_db_options(server.free_url.c_str()));
    db_options o = test_db_options(server.url.c_str());
    o.pool_size = 2;
    o.statement_timeout_s = 0.5;
    o.wait_timeout_s = 0.2;
    test_db d(o);
    error err{};
    bool cancelled = false, waited = false;

    waiting_server::run(free, "CREATE TABLE kept (n int)");
    {
        // The client goes away, and the standby comes.
        test_session s(d, &cancelled);
        server.set_standby("nobody");
        REQUIRE_OK(db_begin(s, &err));
        REQUIRE_OK(insert_one(s, nullptr, &err));
        std::thread other([&] {
            waited = wait_for_waiting(free, 1);
            __atomic_store_n(&cancelled, true, __ATOMIC_RELAXED);
            usleep(300000); // longer than it takes to look at the flag
            server.set_standby("");
        });
        error_code code = db_commit(s, &err);
        other.join();
        CHECK(waited);
        INFO(err.text);
        CHECK(code == OK);
        CHECK(stats_of(d).lost_count == 0);
    }
    {
        // The same for a write that is its own transaction.
        const db_statement alone = {"insert_alone", "INSERT INTO kept VALUES (2)", 0};
        test_session s(d, &cancelled);
        cancelled = false;
        server.set_standby("nobody");
        std::thread other([&] {
            waited = wait_for_waiting(free, 1);
            __atomic_store_n(&cancelled, true, __ATOMIC_RELAXED);
            usleep(300000);
            server.set_standby("");
        });
        error_code code = db_run(s, &alone, nullptr, nullptr, &err);
        other.join();
        CHECK(waited);
        CHECK(code == OK);
        CHECK(stats_of(d).lost_count == 0);
        waiting_server::run(free, "DELETE FROM kept WHERE n = 2");
    }
    // It does not come: the time is over, the server's process waits on.
    server.set_standby("nobody");
    test_session s(d), t(d), u(d);
    REQUIRE(db_transaction(s, insert_one, nullptr, &err) == ERR_UNAVAILABLE);
    CHECK(std::string(err.text).find("it is not known") == 0);
    CHECK(stats_of(d).unconfirmed_count == 1);
    CHECK(wait_for_waiting(free, 1));
    CHECK(query_number(u, u.a, "SELECT count(*) FROM kept") == 1);
    REQUIRE_OK(db_begin(t, &err));
    CHECK(db_begin(u, &err) == ERR_BUSY); // its place is empty ...
    db_rollback(t);
    CHECK(db_transaction(t, insert_one, nullptr, &err) == ERR_UNAVAILABLE);
    CHECK(wait_for_waiting(free, 2));
    REQUIRE_OK(db_begin(t, &err)); // ... but one is left
    CHECK(db_begin(u, &err) == ERR_BUSY);
    db_rollback(t);
    // What does not wait says nothing of a standby.
    REQUIRE_OK(db_begin(t, &err));
    REQUIRE_OK(db_commit_locally(t, &err));
    REQUIRE_OK(insert_one(t, nullptr, &err));
    REQUIRE_OK(db_commit(t, &err));
    REQUIRE_OK(db_begin(t, &err));
    CHECK(db_begin(u, &err) == ERR_BUSY);
    db_rollback(t);
    // A COMMIT that is confirmed does.
    server.set_standby("");
    for (int i = 0; i < 100 && db_transaction(t, insert_one, nullptr, &err) != OK; i++)
        usleep(20000); // the settings are read again in a moment
    REQUIRE_OK(db_begin(t, &err));
    REQUIRE_OK(db_begin(u, &err));
}

TEST_CASE("whether a standby confirms is shown, and missed where it could be",
          "[db][api]")
{
    NEED_DATABASE();
    waiting_server server;
    std::vector<std::string> notes;
    size_t host = server.url.find("host=") + 5;
    std::string folder = server.url.substr(host, server.url.find('&', host) - host);
    std::string two = server.url.substr(0, host) + folder + "," + folder +
                      "&port=5432,5432&target_session_attrs=read-write";

    for (const std::string &url : {server.url, two}) {
        CAPTURE(url);
        api a(url);
        liveness_options o{a.handle()->db, 0.05, 0, note, &notes};
        error err{};
        auto becomes = [&](const char *wanted) {
            for (int i = 0; i < 3000; i++) {
                auto json = a.get("/readyz?verbose").json();
                if (json.value("synchronous", "") == wanted)
                    return true;
                usleep(10000);
            }
            return false;
        };
        REQUIRE_OK(liveness_create(&o, &a.handle()->liveness, &err));
        std::unique_ptr<liveness, decltype(&liveness_close)> closing(
            a.handle()->liveness, liveness_close); // also when something is thrown
        CHECK_FALSE(a.get("/readyz?verbose").json().contains("synchronous"));
        liveness_begin(a.handle()->liveness);
        CHECK(becomes("off"));
        auto warned = a.get("/readyz?verbose")
                          .json()["warnings"]
                          .dump()
                          .find("synchronous_standby_names") != std::string::npos;
        CHECK(warned == (url == two));
        server.set_standby("nobody");
        CHECK(becomes("on"));
        CHECK(a.get("/readyz?verbose")
                  .json()["warnings"]
                  .dump()
                  .find("synchronous_standby_names") == std::string::npos);
        CHECK(a.get("/readyz").status == 200); // its write waits for nobody
        server.set_standby("");
        CHECK(becomes("off"));
        closing.reset();
        a.handle()->liveness = nullptr;
        CHECK(is_noted(notes, "synchronous_standby_names is empty") == (url == two));
    }
}
