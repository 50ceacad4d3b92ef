// db_test.cpp - the pool, the migrations and the upkeep against a real PostgreSQL,
// also when it is killed, hangs, or hides behind PgBouncer.
#include "own_server.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <malloc.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern "C" {
#include "service/maintenance.h"
}

extern "C" size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

namespace
{

double clock_s()
{
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

const db_statement select_one = {"select_one", "SELECT 1", DB_REPEATABLE};
const db_statement count_up = {"count_up", "UPDATE counter SET n = n + 1", 0};

// Ends with its scope, and its folder with it.
struct child_process {
    pid_t pid;
    std::string folder;
    ~child_process()
    {
        if (pid > 0) {
            kill(pid, SIGTERM);
            waitpid(pid, nullptr, 0);
        }
        int ignored = system(("rm -rf " + folder).c_str());
        (void)ignored;
    }
};

} // namespace

TEST_CASE("an address that cannot be read is refused, a dead server is not", "[service]")
{
    db *d = nullptr;
    error err{};
    db_options o = test_db_options("postgresql://[half");
    CHECK(db_create(&o, &d, &err) == ERR_INVALID);
    CHECK_FALSE(d);
    db_close(nullptr);

    o = test_db_options("host=/nonexistent user=x dbname=y");
    test_db dead(o);
    test_session s(dead);
    err = {};
    CHECK(db_ready(dead, &err) == ERR_UNAVAILABLE);
    CHECK(db_run(s, &select_one, nullptr, nullptr, &err) == ERR_UNAVAILABLE);
    CHECK(err.retry_after_s >= 1);
    CHECK(db_begin(s, &err) == ERR_UNAVAILABLE);
    db_rollback(s);
    double start_s = clock_s();
    for (int i = 0; i < 1000; i++)
        CHECK(db_run(s, &select_one, nullptr, nullptr, &err) == ERR_UNAVAILABLE);
    CHECK(clock_s() - start_s < 5);
    struct db_stats stats;
    db_stats(dead, &stats);
    CHECK(stats.connect_failure_count < 10);
    CHECK(stats.in_use_count == 0);
}

TEST_CASE("a server that swallows connections holds up one request at most", "[service]")
{
    // A socket that accepts and never answers.
    char folder[] = "/tmp/gridplan-db-mute.XXXXXX";
    REQUIRE(mkdtemp(folder));
    std::string options = std::string("port=5432 user=x dbname=x host=") + folder;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/.s.PGSQL.5432", folder);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(!bind(listener, (sockaddr *)&address, sizeof(address)));
    REQUIRE(!listen(listener, 64));
    {
        test_db d(test_db_options(options.c_str()));
        test_session s(d);
        error err{};
        double start_s = clock_s();
        CHECK(db_run(s, &select_one, nullptr, nullptr, &err) == ERR_UNAVAILABLE);
        CHECK(clock_s() - start_s < 15);
        start_s = clock_s();
        for (int i = 0; i < 10; i++)
            CHECK(db_run(s, &select_one, nullptr, nullptr, &err) == ERR_UNAVAILABLE);
        CHECK(clock_s() - start_s < 2);
    }
    close(listener);
    REQUIRE(!system(("rm -rf " + std::string(folder)).c_str()));
}

TEST_CASE("every type travels both ways", "[db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    struct row {
        const char *text;
        double number, whole, instant;
        uint64_t integer;
        struct db_bytes bytes;
        const char *json, *uuid;
        bool boolean;
    };
    const db_column columns[] = {
        DB_COLUMN(row, text, DB_TEXT),       DB_COLUMN(row, number, DB_NUMBER),
        DB_COLUMN(row, whole, DB_WHOLE),     DB_COLUMN(row, instant, DB_INSTANT),
        DB_COLUMN(row, integer, DB_INTEGER), DB_COLUMN(row, bytes, DB_BYTES),
        DB_COLUMN(row, json, DB_JSON),       DB_COLUMN(row, uuid, DB_UUID),
        DB_COLUMN(row, boolean, DB_BOOLEAN), {}};
    const char *id = "0123abcd-89ab-cdef-0123-456789abcdef";
    db_param given[] = {db_text("x"),           db_number(0.1),
                        db_number(-7),          db_instant(-0.25),
                        db_integer(INT64_MAX),  db_bytes("\0\xff", 2),
                        db_json("{\"a\":[1]}"), db_uuid(id),
                        db_boolean(true),       {}};
    db_param nothing[] = {db_text(nullptr),  db_number(NAN),
                          db_number(NAN),    db_instant(NAN),
                          db_integer(0),     db_bytes(nullptr, 0),
                          db_json(nullptr),  db_uuid(nullptr),
                          db_boolean(false), {}};
    static const db_statement echo = {
        "echo", "SELECT $1, $2, $3::int, $4, $5, $6, $7, $8, $9", DB_REPEATABLE};
    given[2].type = nothing[2].type = DB_WHOLE;
    row got{};
    bool found;
    for (int again = 0; again < 2; again++) {
        REQUIRE_OK(
            db_row(f.s, &echo, given, columns, sizeof(got), &got, &found, f.a, &err));
        REQUIRE(found);
        CHECK(std::string(got.text) == "x");
        CHECK(got.number == 0.1);
        CHECK(got.whole == -7);
        CHECK(got.instant == -0.25);
        CHECK(got.integer == INT64_MAX);
        REQUIRE(got.bytes.length == 2);
        CHECK(!memcmp(got.bytes.data, "\0\xff", 2));
        CHECK(std::string(got.json) == "{\"a\": [1]}");
        CHECK(std::string(got.uuid) == id);
        CHECK(got.boolean);
        REQUIRE_OK(
            db_row(f.s, &echo, nothing, columns, sizeof(got), &got, &found, f.a, &err));
        CHECK_FALSE(got.text);
        CHECK(std::isnan(got.number));
        CHECK(std::isnan(got.whole));
        CHECK(std::isnan(got.instant));
        CHECK_FALSE(got.bytes.data);
        CHECK_FALSE(got.json);
        CHECK_FALSE(got.uuid);
    }
    static const db_statement wrong = {"wrong", "SELECT 1", 0};
    CHECK(db_row(f.s, &wrong, nullptr, columns, sizeof(got), &got, &found, f.a, &err) ==
          ERR_INTERNAL);
    REQUIRE_OK(db_run(f.s, &select_one, nullptr, nullptr, &err));
}

TEST_CASE("what the server refuses becomes our error", "[db]")
{
    NEED_DATABASE();
    store_fixture f;
    const struct {
        const char *sql;
        error_code code;
    } cases[] = {
        {"SELECT 1/0", ERR_INVALID},
        {"SELECT 'x'::int", ERR_INVALID},
        {"SELECT nonsense", ERR_UNAVAILABLE},
        {"SELECT * FROM no_such_table", ERR_UNAVAILABLE},
        {"SELECT no_such_function(1)", ERR_UNAVAILABLE},
        {"SELECT 'x'::no_such_type", ERR_UNAVAILABLE},
        {"SELEC", ERR_INTERNAL},
        {"INSERT INTO snapshot VALUES ('t', 's', 1, NULL, now(), now())", ERR_INVALID},
        {"SELECT pg_terminate_backend(pg_backend_pid())", ERR_UNAVAILABLE},
    };
    for (auto &c : cases) {
        error err{};
        CAPTURE(c.sql);
        CHECK(db_execute(f.s, c.sql, &err) == c.code);
        CHECK(err.code == c.code);
        REQUIRE_OK(db_execute(f.s, "SELECT 1", &err));
        // In a transaction the rest of it fails, and the commit.
        REQUIRE_OK(db_begin(f.s, &err));
        CHECK(db_execute(f.s, c.sql, &err) == c.code);
        CHECK(db_execute(f.s, "SELECT 1", &err) == ERR_UNAVAILABLE);
        CHECK(db_commit(f.s, &err) == ERR_UNAVAILABLE);
        CHECK_FALSE(db_in_transaction(f.s));
    }
    struct db_stats stats;
    db_stats(f.d, &stats);
    CHECK(stats.in_use_count == 0);
}

TEST_CASE("an exhausted pool answers busy, in time", "[db]")
{
    NEED_DATABASE();
    db_options o = test_db_options();
    o.pool_size = 1;
    o.wait_timeout_s = 0.2;
    test_db d(o);
    test_session first(d), second(d);
    error err{};
    REQUIRE_OK(db_begin(first, &err));
    double start_s = clock_s();
    CHECK(db_run(second, &select_one, nullptr, nullptr, &err) == ERR_BUSY);
    CHECK(err.retry_after_s >= 1);
    CHECK(clock_s() - start_s > 0.15);
    CHECK(clock_s() - start_s < 5);
    REQUIRE_OK(db_commit(first, &err));
    REQUIRE_OK(db_run(second, &select_one, nullptr, nullptr, &err));
    struct db_stats stats;
    db_stats(d, &stats);
    CHECK(stats.pool_size == 1);
    CHECK(stats.connected_count == 1);
    CHECK(stats.in_use_count == 0);
    CHECK(stats.wait_count == 1);
    CHECK(stats.wait_timeout_count == 1);
}

TEST_CASE("many threads share few connections", "[db]")
{
    NEED_DATABASE();
    test_db d;
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 16; i++)
        threads.emplace_back([&] {
            test_session s(d);
            for (int k = 0; k < 50; k++) {
                error err{};
                good += db_run(s, &select_one, nullptr, nullptr, &err) == OK;
            }
        });
    for (auto &t : threads)
        t.join();
    CHECK(good == 16 * 50);
    struct db_stats stats;
    db_stats(d, &stats);
    CHECK(stats.connected_count <= 4);
    CHECK(stats.in_use_count == 0);
    CHECK(stats.lost_count == 0);
}

TEST_CASE("a client that goes away stops its statement", "[db]")
{
    NEED_DATABASE();
    test_db d;
    bool cancelled = false;
    test_session s(d, &cancelled), other(d);
    error err{};
    std::thread later([&] {
        usleep(200000);
        __atomic_store_n(&cancelled, true, __ATOMIC_RELAXED);
    });
    double start_s = clock_s();
    CHECK(db_execute(s, "SELECT pg_sleep(30) /* gone */", &err) == ERR_CANCELLED);
    CHECK(clock_s() - start_s < 15);
    later.join();
    // The server notices, too.
    double left = 1;
    for (int i = 0; i < 50 && left > 0; i++) {
        usleep(100000);
        left = query_number(other, other.a,
                            "SELECT count(*) FROM pg_stat_activity WHERE query "
                            "LIKE '%pg_sleep(30) /* gone%' AND pid <> pg_backend_pid()");
    }
    CHECK(left == 0);
}

TEST_CASE("a statement that takes too long is given up", "[db]")
{
    NEED_DATABASE();
    db_options o = test_db_options();
    o.statement_timeout_s = 0.3;
    for (bool prepared : {true, false}) {
        o.prepared = prepared;
        test_db d(o);
        test_session s(d);
        error err{};
        double start_s = clock_s();
        CAPTURE(prepared);
        CHECK(db_execute(s, "SELECT pg_sleep(30)", &err) == ERR_UNAVAILABLE);
        CHECK(clock_s() - start_s < 15);
        REQUIRE_OK(db_begin(s, &err));
        start_s = clock_s();
        CHECK(db_execute(s, "SELECT pg_sleep(30)", &err) == ERR_UNAVAILABLE);
        CHECK(clock_s() - start_s < 15); // by the server
        db_rollback(s);
        db_session_set_timeout(s, 0);
        REQUIRE_OK(db_begin(s, &err));
        REQUIRE_OK(db_execute(s, "SELECT pg_sleep(0.5)", &err));
        REQUIRE_OK(db_commit(s, &err));
    }
}

TEST_CASE("connections that the server closed are replaced unseen", "[db]")
{
    NEED_DATABASE();
    test_db d, killer;
    test_session s(d), k(killer);
    error err{};
    // A connection that has been told to end, but has not yet, could still lose a
    // statement.
    auto others_end = [&] {
        double left = 1;
        for (int i = 0; i < 3000 && left > 0; i++) {
            usleep(10000);
            left = query_number(k, k.a,
                                "SELECT count(*) FROM pg_stat_activity"
                                " WHERE pid <> pg_backend_pid()"
                                " AND datname = current_database()"
                                " AND application_name = 'gridplan'");
        }
        return left == 0;
    };
    REQUIRE_OK(db_execute(k,
                          "DROP TABLE IF EXISTS counter; CREATE TABLE counter (n int);"
                          "INSERT INTO counter VALUES (0)",
                          &err));
    for (int i = 0; i < 5; i++) {
        REQUIRE_OK(db_run(s, &count_up, nullptr, nullptr, &err));
        REQUIRE_OK(
            db_execute(k,
                       "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                       " WHERE pid <> pg_backend_pid() AND datname = current_database()"
                       " AND application_name = 'gridplan'",
                       &err));
        REQUIRE(others_end());
        if (i % 2) {
            REQUIRE_OK(db_begin(s, &err));
            REQUIRE_OK(db_run(s, &count_up, nullptr, nullptr, &err));
            REQUIRE_OK(db_commit(s, &err));
        }
    }
    CHECK(query_number(k, k.a, "SELECT n FROM counter") == 7);
    struct db_stats stats;
    db_stats(d, &stats);
    CHECK(stats.lost_count >= 4);
    CHECK(stats.in_use_count == 0);
    // In the middle of a transaction nothing is repeated.
    REQUIRE_OK(db_begin(s, &err));
    REQUIRE_OK(db_run(s, &count_up, nullptr, nullptr, &err));
    REQUIRE_OK(
        db_execute(k,
                   "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                   " WHERE pid <> pg_backend_pid() AND datname = current_database()"
                   " AND state LIKE 'idle in%'",
                   &err));
    REQUIRE(others_end());
    CHECK(db_run(s, &count_up, nullptr, nullptr, &err) == ERR_UNAVAILABLE);
    CHECK(db_commit(s, &err) == ERR_UNAVAILABLE);
    CHECK(query_number(k, k.a, "SELECT n FROM counter") == 7);
}

namespace
{

struct both_rows {
    const char *first, *second;
    std::atomic<int> *runs, *met;
};

error_code update_both(db_session *s, void *context, error *err)
{
    auto *b = (both_rows *)context;
    ++*b->runs;
    error_code code = db_execute(s, b->first, err);
    ++*b->met; // go on when both hold their first row
    for (int i = 0; i < 1000 && *b->met < 2; i++)
        usleep(10000);
    return code == OK ? db_execute(s, b->second, err) : code;
}

} // namespace

TEST_CASE("a deadlock is tried again", "[db]")
{
    NEED_DATABASE();
    test_db d;
    test_session s(d);
    error err{};
    REQUIRE_OK(db_execute(
        s,
        "DROP TABLE IF EXISTS pair; CREATE TABLE pair (id int PRIMARY KEY, n int);"
        "INSERT INTO pair VALUES (1, 0), (2, 0)",
        &err));
    std::atomic<int> runs{0}, met{0};
    const char *one = "UPDATE pair SET n = n + 1 WHERE id = 1";
    const char *two = "UPDATE pair SET n = n + 1 WHERE id = 2";
    both_rows orders[] = {{one, two, &runs, &met}, {two, one, &runs, &met}};
    error_code codes[2];
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&, i] {
            test_session own(d);
            error own_err{};
            codes[i] = db_transaction(own, update_both, &orders[i], &own_err);
        });
    for (auto &t : threads)
        t.join();
    CHECK(codes[0] == OK);
    CHECK(codes[1] == OK);
    CHECK(runs >= 3);
    CHECK(query_number(s, s.a, "SELECT sum(n) FROM pair") == 4);
}

TEST_CASE("migrations run once, in order, and only as they were", "[db]")
{
    NEED_DATABASE();
    own_database base("gridplan_test_migrate");
    db_options o = test_db_options(base.url.c_str());
    auto file = [](const char *name, const char *sql) {
        return asset{name, "text/plain", "", sql, strlen(sql), nullptr, 0};
    };
    const asset list[] = {
        file("0001_one", "CREATE TABLE one (n int); INSERT INTO one VALUES (1)"),
        file("0002_two",
             "INSERT INTO one SELECT pg_sleep(0.2)::text::int FROM one WHERE false;"
             "INSERT INTO one VALUES (2)"),
        file("0003_bad", "INSERT INTO one VALUES (3); SELECT 1/0"),
    };
    const asset edited[] = {list[0], file("0002_two", "SELECT 1")};
    test_db d(o);
    test_session s(d);
    error err{};
    size_t applied = 99;
    CHECK(migrate_check(s, 2, &err) == ERR_UNAVAILABLE);

    std::atomic<size_t> total{0};
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    test_db replicas[] = {test_db(o), test_db(o), test_db(o), test_db(o)};
    for (test_db &own : replicas)
        threads.emplace_back([&] {
            error own_err{};
            size_t mine = 0;
            good += migrate_run(own, list, 2, &mine, &own_err) == OK;
            total += mine;
        });
    for (auto &t : threads)
        t.join();
    CHECK(good == 4);
    CHECK(total == 2);
    CHECK(query_number(s, s.a, "SELECT count(*) FROM one") == 2);
    REQUIRE_OK(migrate_check(s, 2, &err));
    CHECK(migrate_check(s, 1, &err) == ERR_UNAVAILABLE);

    CHECK(migrate_run(d, list, 1, &applied, &err) == ERR_CONFLICT);
    CHECK_THAT(err.text, Catch::Contains("newer"));
    CHECK(migrate_run(d, edited, 2, &applied, &err) == ERR_CONFLICT);
    CHECK_THAT(err.text, Catch::Contains("0002_two has been edited"));
    CHECK(migrate_run(d, list, 3, &applied, &err) != OK);
    CHECK(query_number(s, s.a, "SELECT count(*) FROM one") == 2);
    REQUIRE_OK(migrate_check(s, 2, &err));
    CHECK(applied == 99);
}

TEST_CASE("every table and column says what it is and in which unit", "[db]")
{
    NEED_DATABASE();
    store_fixture f;
    struct row {
        const char *name;
    } * list;
    size_t count;
    const db_column columns[] = {DB_COLUMN(row, name, DB_TEXT), {}};
    static const db_statement uncommented = {
        "uncommented",
        "SELECT c.relname || coalesce('.' || a.attname, '') FROM pg_class c"
        " LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT "
        "a.attisdropped"
        " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')"
        " AND NOT c.relispartition AND c.relname NOT IN ('counter', 'pair')"
        " AND (obj_description(c.oid, 'pg_class') IS NULL OR col_description(c.oid, "
        "a.attnum) IS NULL)",
        0};
    error &err = f.err;
    REQUIRE_OK(db_rows(f.s, &uncommented, nullptr, columns, sizeof(row), (void **)&list,
                       &count, f.a, &err));
    for (size_t i = 0; i < count; i++)
        FAIL_CHECK("no comment: " << list[i].name);
}

// A server without lz4 knows another list of methods: likewise one that asks for a method
// which this server has not.
TEST_CASE("long documents are compressed by lz4 where the server can", "[db]")
{
    NEED_DATABASE();
    own_database base("gridplan_test_lz4");
    test_db d(test_db_options(base.url.c_str()));
    test_session s(d);
    error err{};
    size_t applied, before = 0;
    while (!strstr(migrations[before].path, "_lz4"))
        before++;
    std::string elsewhere = migrations[before].data;
    for (size_t at; (at = elsewhere.find("lz4")) != std::string::npos;)
        elsewhere.replace(at, 3, "lz5");
    auto store = [&](int n) {
        std::string sql = "INSERT INTO snapshot SELECT 't', 's" + std::to_string(n) +
                          "', 1, repeat('a document of one word, ', 10000), now(), now()";
        REQUIRE_OK(db_execute(s, sql.c_str(), &err));
    };
    auto methods = [&](const char *method) {
        std::string sql = "SELECT count(*) FROM snapshot WHERE"
                          " pg_column_compression(document) = '" +
                          std::string(method) + "'";
        return query_number(s, s.a, sql.c_str());
    };

    REQUIRE_OK(migrate_run(d, migrations, before, &applied, &err));
    store(0);
    REQUIRE_OK(db_execute(s, elsewhere.c_str(), &err));
    store(1);
    CHECK(methods("pglz") == 2);
    REQUIRE_OK(migrate_run(d, migrations, migration_count, &applied, &err));
    store(2);
    bool has =
        query_number(s, s.a,
                     "SELECT count(*) FROM pg_settings WHERE name ="
                     " 'default_toast_compression' AND 'lz4' = ANY (enumvals)") == 1;
    CHECK(methods("lz4") == (has ? 1 : 0));
    CHECK(query_number(s, s.a, "SELECT count(DISTINCT document) FROM snapshot") == 1);
    CHECK(query_number(s, s.a,
                       "SELECT count(*) FROM pg_attribute WHERE attcompression ="
                       " 'l'") == (has ? 10 : 0));
}

TEST_CASE("partitions are made ahead, filled and dropped", "[db]")
{
    NEED_DATABASE();
    own_database base("gridplan_test_upkeep");
    test_db d(test_db_options(base.url.c_str()));
    test_session s(d);
    error err{};
    size_t applied;
    REQUIRE_OK(migrate_run(d, migrations, migration_count, &applied, &err));
    const double now_s = 1764000000; // 2025-11-24T16:00:00Z
    auto at = [](double at_s) {
        return load_sample{"r", nullptr, at_s, 1, NAN, NAN, NAN};
    };
    const load_sample samples[] = {at(now_s), at(now_s + 30 * 86400),
                                   at(832000000 /* 1996 */), at(now_s - 100 * 86400)};
    REQUIRE_OK(record_add(s, "t", &load_sample_record, samples, 4, s.a, &err));
    CHECK(query_number(s, s.a, "SELECT count(*) FROM load_sample_default") == 4);

    maintenance_options o{};
    o.months_ahead = 2;
    o.interval_s = 3600;
    error errors[3] = {};
    std::vector<std::thread> threads;
    for (error &own : errors)
        threads.emplace_back([&] { maintenance_run(d, &o, now_s, &own); });
    for (auto &t : threads)
        t.join();
    for (error &own : errors) {
        INFO(own.text);
        CHECK(own.code == OK);
    }
    REQUIRE_OK(maintenance_run(d, &o, now_s, &err));
    for (const char *table :
         {"load_sample", "failure", "execution", "checkpoint_log", "reschedule_event",
          "claim_attempt", "site_error", "transfer_actual"})
        for (const char *month : {"2025_11", "2025_12", "2026_01"}) {
            CAPTURE(table, month);
            CHECK(query_number(s, s.a,
                               ("SELECT count(*) FROM pg_inherits WHERE inhrelid = '" +
                                std::string(table) + "_" + month + "'::regclass")
                                   .c_str()) == 1);
        }
    CHECK(query_number(s, s.a, "SELECT count(*) FROM load_sample") == 4);
    CHECK(query_number(s, s.a, "SELECT count(*) FROM load_sample_2025_11") == 1);
    CHECK(query_number(s, s.a, "SELECT count(*) FROM load_sample_2025_12") == 1);
    CHECK(query_number(
              s, s.a,
              "SELECT count(*) FROM pg_indexes WHERE tablename = 'execution_2025_12'") ==
          3);
    // Both months of a row at the border.
    const load_sample border[] = {at(1764547200 - 1e-6), at(1764547200)};
    REQUIRE_OK(record_add(s, "t", &load_sample_record, border, 2, s.a, &err));
    CHECK(query_number(s, s.a, "SELECT count(*) FROM load_sample_2025_11") == 2);
    CHECK(query_number(s, s.a, "SELECT count(*) FROM load_sample_2025_12") == 2);

    // Three months later, with 60 days kept: November goes, and 1996.
    REQUIRE_OK(db_execute(
        s,
        "INSERT INTO idempotency_key SELECT 't', i::text, 'r', '', 200, '', '',"
        " '', '', to_timestamp(1764000000) FROM generate_series(1, 25000) AS i",
        &err));
    REQUIRE_OK(db_execute(
        s,
        "INSERT INTO decision SELECT 't', gen_random_uuid(), to_timestamp(1764000000"
        " + i * 86400), 'r', '', '', 1, '', '', '', '' FROM generate_series(0, 89) AS i",
        &err));
    o.load_sample_kept_days = 60;
    o.decision_kept_days = 30;
    REQUIRE_OK(maintenance_run(d, &o, now_s + 90 * 86400, &err));
    CHECK(query_number(s, s.a, "SELECT count(*) FROM load_sample_default") == 0);
    CHECK(query_number(
              s, s.a,
              "SELECT count(*) FROM pg_class WHERE relname = 'load_sample_2025_11'") ==
          0);
    CHECK(query_number(s, s.a, "SELECT count(*) FROM load_sample_2025_12") == 2);
    CHECK(query_number(
              s, s.a,
              "SELECT count(*) FROM pg_class WHERE relname = 'failure_2025_11'") == 1);
    CHECK(query_number(s, s.a, "SELECT count(*) FROM idempotency_key") == 0);
    CHECK(query_number(s, s.a, "SELECT count(*) FROM decision") == 30);

    // The thread makes a round at once, and stops when told.
    maintenance *m = nullptr;
    REQUIRE_OK(maintenance_create(d, &o, &m, &err));
    double made = 0;
    for (int i = 0; i < 100 && made == 0; i++) {
        usleep(50000);
        made = query_number(
            s, s.a,
            "SELECT count(*) FROM pg_class WHERE relname = 'execution_' ||"
            " to_char(now() AT TIME ZONE 'UTC' + interval '2 months', 'YYYY_MM')");
    }
    CHECK(made == 1);
    double start_s = clock_s();
    maintenance_close(m);
    CHECK(clock_s() - start_s < 15);
    maintenance_close(nullptr);
}

TEST_CASE("upkeep does not make ingest wait for long", "[db]")
{
    NEED_DATABASE();
    own_database base("gridplan_test_locks");
    test_db d(test_db_options(base.url.c_str()));
    test_session reader(d);
    error err{};
    size_t applied;
    REQUIRE_OK(migrate_run(d, migrations, migration_count, &applied, &err));
    REQUIRE_OK(db_begin(reader, &err)); // a long report
    REQUIRE_OK(db_execute(reader, "SELECT count(*) FROM load_sample", &err));
    std::atomic<bool> done{false};
    double longest_s = 0;
    int stored = 0;
    std::thread ingest([&] {
        test_session s(d);
        while (!done) {
            const load_sample one = {"r", nullptr, 1764000000.0 + stored, 1, NAN,
                                     NAN, NAN};
            error own{};
            double start_s = clock_s();
            stored += record_add(s, "t", &load_sample_record, &one, 1, s.a, &own) == OK;
            longest_s = std::max(longest_s, clock_s() - start_s);
        }
    });
    maintenance_options o{};
    error own{};
    CHECK(maintenance_run(d, &o, 1764000000, &own) == ERR_CONFLICT);
    done = true;
    ingest.join();
    CHECK(longest_s < 4);
    CHECK(stored > 0);
    db_rollback(reader);
    REQUIRE_OK(maintenance_run(d, &o, 1764000000, &err));
    test_session s(d);
    CHECK(query_number(s, s.a, "SELECT count(*) FROM load_sample_2025_11") == stored);
}

namespace
{
size_t heap_bytes()
{
    // What AddressSanitizer counts, without what it keeps of what was freed.
    return __sanitizer_get_current_allocated_bytes
               ? __sanitizer_get_current_allocated_bytes()
               : mallinfo2().uordblks + mallinfo2().hblkhd;
}

// Lends up to a limit, and looks at the heap each time.
struct watching_lender {
    size_t limit_bytes, lent_bytes = 0, taken_count = 0, beyond_bytes = 0;
    size_t begin_bytes = heap_bytes();
    arena_lease lease{};

    explicit watching_lender(size_t limit) : limit_bytes(limit)
    {
        lease.take = [](void *context, size_t bytes) {
            auto *l = static_cast<watching_lender *>(context);
            size_t now = heap_bytes();
            l->beyond_bytes =
                std::max(l->beyond_bytes, now - std::min(now, l->begin_bytes));
            if (l->lent_bytes + bytes > l->limit_bytes)
                return false;
            l->lent_bytes += bytes;
            l->taken_count++;
            return true;
        };
        lease.give = [](void *context, size_t bytes) {
            static_cast<watching_lender *>(context)->lent_bytes -= bytes;
        };
        lease.context = this;
    }
};
} // namespace

TEST_CASE("rows are leased as they arrive, and libpq holds one of them", "[db]")
{
    NEED_DATABASE();
    test_db d;
    test_session s(d);
    error err{};
    struct row {
        const char *text;
    };
    const db_column columns[] = {{"text", DB_TEXT, offsetof(row, text)}, {}};
    const db_statement many = {
        "many_rows", "SELECT repeat('x', 200) FROM generate_series(1, 200000)", 0};
    const db_statement prepared = {"few_rows", "SELECT 'x'", 0};
    row *list = nullptr;
    size_t count = 0;
    REQUIRE_OK(db_rows(s, &prepared, nullptr, columns, sizeof(row), (void **)&list,
                       &count, s.a, &err)); // connected

    // Arenas of 256 KiB and more are mapped: the heap has what libpq has.
    for (size_t limit : {size_t{1} << 22, size_t{1} << 28}) {
        CAPTURE(limit);
        watching_lender lender(limit);
        test_arena a;
        arena_set_lease(a, &lender.lease);
        error own{};
        error_code code = db_rows(s, &many, nullptr, columns, sizeof(row), (void **)&list,
                                  &count, a, &own);
        CAPTURE(lender.beyond_bytes, lender.lent_bytes, own.text);
        CHECK(lender.taken_count > 4); // not at once
        CHECK(lender.beyond_bytes < 4 << 20);
        if (limit > 1 << 22) {
            CHECK(code == OK);
            CHECK(count == 200000);
            CHECK(lender.lent_bytes > 200000 * 200);
        } else {
            // The server need not send the rest.
            CHECK(code == ERR_TOO_LARGE);
            CHECK(arena_lacks_lease(a));
            struct db_stats stats;
            db_stats(d, &stats);
            CHECK(stats.in_use_count == 0);
        }
        arena_reset(a);
        CHECK(lender.lent_bytes == 0);
    }
    REQUIRE_OK(db_rows(s, &prepared, nullptr, columns, sizeof(row), (void **)&list,
                       &count, s.a, &err));
}

TEST_CASE("a million rows in one COPY; a third of it under a sanitizer", "[db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    const size_t count = is_sanitized() ? 300000 : 1000000;
    std::vector<std::string> names;
    for (int i = 0; i < 1000; i++)
        names.push_back("host-" + std::to_string(i));
    std::vector<load_sample> rows(count);
    for (size_t i = 0; i < count; i++)
        rows[i] = {names[i % 1000].c_str(),
                   nullptr,
                   1700000000.0 + (double)(i / 1000),
                   0.5,
                   1e9,
                   NAN,
                   NAN};
    double start_s = clock_s();
    REQUIRE_OK(
        record_add(f.s, f.tenant, &load_sample_record, rows.data(), count, f.a, &err));
    WARN("COPY of " << count << " load samples: "
                    << (int)((double)count / (clock_s() - start_s)) << " rows/s");
    CHECK(query_number(
              f.s, f.a,
              ("SELECT count(*) FROM load_sample WHERE tenant = '" + f.tenant_text + "'")
                  .c_str()) == (double)count);
    // A large page of it comes back.
    const load_sample *list;
    size_t got;
    const char *next;
    store_filter filter{};
    filter.from_at_s = filter.to_at_s = NAN;
    store_page page{nullptr, 200000};
    REQUIRE_OK(
        samples_read(f.s, f.tenant, &filter, &page, &list, &got, &next, f.a, &err));
    CHECK(got == 200000);
    CHECK(next);
    REQUIRE_OK(db_execute(
        f.s, ("DELETE FROM load_sample WHERE tenant = '" + f.tenant_text + "'").c_str(),
        &err));
}

TEST_CASE("what was acknowledged survives kill -9; the pool recovers, and does not hang",
          "[db]")
{
    NEED_DATABASE();
    own_server server;
    test_db d(test_db_options(server.url.c_str()));
    error err{};
    size_t applied;
    REQUIRE_OK(migrate_run(d, migrations, migration_count, &applied, &err));

    std::atomic<bool> done{false};
    std::atomic<int> next_number{0}, wrong{0};
    std::vector<std::vector<int>> acknowledged(8);
    std::atomic<int> acknowledged_count{0};
    std::vector<std::thread> threads;
    for (size_t i = 0; i < acknowledged.size(); i++)
        threads.emplace_back([&, i] {
            while (!done) {
                test_session s(d);
                int number = next_number++;
                std::string name = std::to_string(number);
                const load_sample one = {name.c_str(), nullptr, 1764000000, 1,
                                         NAN,          NAN,     NAN};
                error own{};
                error_code code;
                if (number % 2) {
                    code = record_add(s, "t", &load_sample_record, &one, 1, s.a, &own);
                } else {
                    code = db_begin(s, &own);
                    if (code == OK)
                        code =
                            record_add(s, "t", &load_sample_record, &one, 1, s.a, &own);
                    if (code == OK)
                        code = db_commit(s, &own);
                }
                if (code == OK) {
                    acknowledged[i].push_back(number);
                    acknowledged_count++;
                } else {
                    wrong += code != ERR_UNAVAILABLE && code != ERR_BUSY;
                    usleep(2000);
                }
            }
        });
    for (int round = 0; round < 2; round++) {
        int before = acknowledged_count;
        for (int i = 0; i < 600 && acknowledged_count < before + 200; i++)
            usleep(50000);
        CHECK(acknowledged_count >= before + 200);
        kill(server.pid(), SIGKILL);
        // its children may answer a little longer, and then readiness is taken for
        // granted
        for (int i = 0; i < 200 && db_ready(d, &err) == OK; i++)
            usleep(50000);
        CHECK(db_ready(d, &err) == ERR_UNAVAILABLE);
        server.start();
    }
    int before = acknowledged_count;
    for (int i = 0; i < 600 && acknowledged_count < before + 200; i++)
        usleep(50000);
    CHECK(acknowledged_count >= before + 200);
    REQUIRE_OK(db_ready(d, &err));

    done = true;
    for (auto &t : threads)
        t.join();
    CHECK(wrong == 0);
    test_session s(d);
    const load_sample *list;
    size_t count;
    const char *next;
    store_filter filter{};
    filter.from_at_s = filter.to_at_s = NAN;
    store_page page{nullptr, 1000000};
    REQUIRE_OK(samples_read(s, "t", &filter, &page, &list, &count, &next, s.a, &err));
    std::vector<bool> stored((size_t)next_number);
    for (size_t i = 0; i < count; i++)
        stored[(size_t)atoi(list[i].resource_id)] = true;
    size_t missing = 0;
    for (auto &numbers : acknowledged)
        for (int number : numbers)
            missing += !stored[(size_t)number];
    CHECK(missing == 0);
    struct db_stats stats;
    db_stats(d, &stats);
    CHECK(stats.in_use_count == 0);
    CHECK(stats.lost_count > 0);

    // A server that hangs is given up in time.
    db_options o = test_db_options(server.url.c_str());
    o.statement_timeout_s = 0.5;
    test_db hung(o);
    test_session h(hung);
    REQUIRE_OK(db_run(h, &select_one, nullptr, nullptr, &err));
    REQUIRE_OK(db_begin(h, &err));
    server.signal_all(SIGSTOP);
    double start_s = clock_s();
    CHECK(db_run(h, &select_one, nullptr, nullptr, &err) == ERR_UNAVAILABLE);
    db_rollback(h);
    CHECK(clock_s() - start_s < 20);
    CHECK(db_run(h, &select_one, nullptr, nullptr, &err) == ERR_UNAVAILABLE); // connects
    start_s = clock_s();
    CHECK(db_run(h, &select_one, nullptr, nullptr, &err) == ERR_UNAVAILABLE); // does not
    CHECK(clock_s() - start_s < 2);
    server.signal_all(SIGCONT);
    bool worked = false;
    for (int i = 0; i < 100 && !worked; i++) {
        usleep(100000);
        worked = db_run(h, &select_one, nullptr, nullptr, &err) == OK;
    }
    CHECK(worked);
}

TEST_CASE("behind PgBouncer in transaction mode everything works", "[db]")
{
    NEED_DATABASE();
    const char *program = "/usr/sbin/pgbouncer";
    if (access(program, X_OK)) {
        WARN("skipped: " << program << " is not installed");
        return;
    }
    own_database base("gridplan_test_bouncer");
    char folder[] = "/tmp/gridplan-bouncer.XXXXXX";
    REQUIRE(mkdtemp(folder));
    std::string url = base.url, host = url.substr(url.find("host=") + 5);
    host = host.substr(0, host.find('&'));
    {
        std::ofstream ini(std::string(folder) + "/pgbouncer.ini");
        ini << "[databases]\n* = host=" << host
            << " port=5432 user=gridplan\n[pgbouncer]\n"
            << "listen_addr =\nunix_socket_dir = " << folder << "\nlisten_port = 6432\n"
            << "auth_type = any\npool_mode = transaction\ndefault_pool_size = 2\n"
            << "server_reset_query_always = 1\nserver_reset_query = DISCARD ALL\n"
            << "logfile = " << folder << "/log\npidfile = " << folder << "/pid\n";
    }
    bool root = getuid() == 0;
    REQUIRE(!system(
        (std::string(root ? "chown -R postgres " : "chmod 700 ") + folder).c_str()));
    child_process bouncer{fork(), folder};
    if (bouncer.pid == 0) {
        std::string command = std::string("exec ") + program + " -q " +
                              (root ? "-u postgres " : "") + folder + "/pgbouncer.ini";
        int null = open("/dev/null", O_RDWR);
        dup2(null, 1);
        dup2(null, 2);
        execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        _exit(127);
    }
    std::string socket = std::string(folder) + "/.s.PGSQL.6432";
    for (int i = 0; i < 100 && access(socket.c_str(), F_OK); i++)
        usleep(50000);
    {
        std::string bounced = "host=" + std::string(folder) +
                              " port=6432 user=gridplan dbname=gridplan_test_bouncer";
        db_options o = test_db_options(bounced.c_str());
        o.pool_size = 8; // more than the two behind it
        o.prepared = false;
        test_db d(o);
        error err{};
        bool listening = false;
        for (int k = 0; k < 100 && !listening; k++) {
            test_session s(d);
            listening = db_run(s, &select_one, nullptr, nullptr, &err) == OK;
            usleep(listening ? 0 : 100000);
        }
        REQUIRE(listening);
        size_t applied = 0;
        REQUIRE_OK(migrate_run(d, migrations, migration_count, &applied, &err));
        CHECK(applied == migration_count);
        maintenance_options m{};
        m.load_sample_kept_days = 10;
        REQUIRE_OK(maintenance_run(d, &m, 1764000000, &err));
        std::atomic<int> good{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; i++)
            threads.emplace_back([&, i] {
                test_session s(d);
                for (int k = 0; k < 30; k++) {
                    error own{};
                    std::string name = std::to_string(i) + "." + std::to_string(k);
                    failure one{};

                    one.resource_id = name.c_str();
                    one.down_at_s = 1764000000;
                    one.up_at_s = one.detected_at_s = one.level = NAN;
                    store_snapshot snapshot{};
                    struct db_bytes hash = {(const unsigned char *)"", 1};
                    store_answer answer{};
                    bool found = true;
                    size_t closed = 0;
                    good +=
                        db_begin(s, &own) == OK &&
                        store_answer_find(s, "t", name.c_str(), "r", hash, &found,
                                          &answer, s.a, &own) == OK &&
                        !found &&
                        record_add(s, "t", &failure_record, &one, 1, s.a, &own) == OK &&
                        store_snapshot_create(s, "t", name.c_str(), "{}", &snapshot, s.a,
                                              &own) == OK &&
                        store_answer_save(s, "t", name.c_str(), "r", hash, &answer,
                                          &own) == OK &&
                        db_commit(s, &own) == OK &&
                        store_failure_close(s, "t", name.c_str(), 1764000001, &closed,
                                            &own) == OK &&
                        closed == 1;
                }
            });
        for (auto &t : threads)
            t.join();
        CHECK(good == 8 * 30);
        REQUIRE_OK(db_ready(d, &err));

        // With prepared statements it cannot work; the message says what to do.
        o.prepared = true;
        test_db prepared(o);
        test_session one(prepared);
        bool told = false;
        for (int i = 0; i < 20 && !told; i++) {
            error own{};
            test_session two(prepared);
            db_begin(two, &own); // takes the server connection that knows the statement
            told = db_run(one, &select_one, nullptr, nullptr, &own) == ERR_UNAVAILABLE &&
                   strstr(own.text, "PgBouncer");
            db_rollback(two);
        }
        CHECK(told);
    }
}
