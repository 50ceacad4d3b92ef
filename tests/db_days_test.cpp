// db_days_test.cpp - the database's bad days: what it refuses, partitions that are being
// made, full disks, standbys; and who gets a connection when there are few.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <atomic>
#include <csignal>
#include <regex>
#include <sys/wait.h>
#include <thread>

extern "C" {
#include "service/clock.h"
#include "service/json_scan.h"
#include "service/liveness.h"
#include "service/maintenance.h"
#include "service/uuid.h"
}

namespace
{
// A statement that fails as the server would.
std::string raise(const std::string &sqlstate, const std::string &more = "")
{
    return "DO $$ BEGIN RAISE EXCEPTION 'secret text of the server' USING ERRCODE = '" +
           sqlstate + "'" + more + "; END $$";
}

struct db_stats stats_of(db *d)
{
    struct db_stats s;
    db_stats(d, &s);
    return s;
}

load_sample sample_of(const char *id, double ratio)
{
    load_sample s{};
    s.resource_id = id;
    s.observed_at_s = 1764000000;
    s.cpu_available_ratio = ratio;
    s.memory_available_bytes = s.bandwidth_mbps = s.latency_s = NAN;
    return s;
}
} // namespace

TEST_CASE("what the database refuses is told apart, and not in its words", "[db]")
{
    NEED_DATABASE();
    test_db d;
    test_session s(d);
    const struct {
        const char *sqlstate;
        std::string more;
        error_code code;
        const char *pointer;
    } cases[] = {
        {"23514", ", CONSTRAINT = 'load_sample_ratio_check'", ERR_INVALID,
         "/cpu_available_ratio"},
        {"23514", ", CONSTRAINT = 'observation_check'", ERR_INVALID, "/to_at"},
        {"23514", ", CONSTRAINT = 'some_check'", ERR_INVALID, ""},
        {"23502", ", COLUMN = 'resource_id'", ERR_INVALID, "/resource_id"},
        {"23P01", "", ERR_INVALID, ""},
        {"22003", "", ERR_INVALID, ""},
        {"23505", ", CONSTRAINT = 'execution_name'", ERR_CONFLICT, ""},
        {"23503", "", ERR_CONFLICT, ""},
        {"53100", "", ERR_UNAVAILABLE, ""},
        {"53300", "", ERR_UNAVAILABLE, ""},
        {"53400", "", ERR_UNAVAILABLE, ""},
        {"25006", "", ERR_UNAVAILABLE, ""},
        {"57014", "", ERR_UNAVAILABLE, ""},
        {"57P01", "", ERR_UNAVAILABLE, ""},
        {"54000", "", ERR_TOO_LARGE, ""},
        {"XX000", "", ERR_INTERNAL, ""},
    };

    for (auto &c : cases) {
        CAPTURE(c.sqlstate, c.more);
        error err{};
        CHECK(db_execute(s, raise(c.sqlstate, c.more).c_str(), &err) == c.code);
        CHECK(std::string(err.field) == c.pointer);
        CHECK(std::string(err.text).find("secret") == std::string::npos);
        CHECK((err.retry_after_s > 0) == (c.code == ERR_UNAVAILABLE));
        if (c.more.find("execution_name") != std::string::npos)
            CHECK(std::string(err.text).find("(execution_name)") != std::string::npos);
    }
    CHECK(stats_of(d).check_escaped_count == 6);
    CHECK(db_is_full(d));
    db_set_full(d, false);
    CHECK_FALSE(db_is_full(d));
    CHECK(stats_of(d).partition_retry_count == 0);
}

TEST_CASE("a row that meets a partition being made is sent again", "[db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;

    // Without a constraint's name it is a partition: three tries, then 503.
    CHECK(db_execute(f.s, raise("23514").c_str(), &err) == ERR_UNAVAILABLE);
    CHECK(err.retry_after_s == 1);
    CHECK(stats_of(f.d).partition_retry_count == 3);
    CHECK(stats_of(f.d).check_escaped_count == 0);

    // Twice in the way, then gone: the whole transaction is run again.
    int tries = 0;
    auto run = [](db_session *s, void *context, error *e) {
        if (++*static_cast<int *>(context) < 3)
            return db_execute(s, raise("23514").c_str(), e);
        return OK;
    };
    err = error{};
    REQUIRE_OK(db_transaction(f.s, run, &tries, &err));
    CHECK(tries == 3);

    // The real thing: COPY into a table while its partitions come.
    std::atomic<bool> stop{false};
    std::atomic<int> refused{0}, stored{0};
    std::thread writer([&] {
        test_session s(f.d);
        while (!stop) {
            error e{};
            load_sample list[20];
            for (int i = 0; i < 20; i++) {
                list[i] = sample_of("r", 0.5);
                list[i].observed_at_s =
                    1000000000 + 2678400.0 * (i % 12) + i / 12 + 2 * (stored + refused);
            }
            (record_add(s, f.tenant, &load_sample_record, list, 20, s.a, &e) == OK
                 ? stored
                 : refused)++;
        }
    });
    maintenance_options o{};
    o.months_ahead = 0;
    for (int month = 0; month < 12; month++) {
        err = error{};
        REQUIRE_OK(maintenance_run(f.d, &o, 1000000000 + 2678400.0 * month, &err));
    }
    stop = true;
    writer.join();
    CHECK(refused == 0);
    CHECK(stored > 0);
    CHECK(query_number(
              f.s, f.a,
              ("SELECT count(*) FROM load_sample WHERE tenant = '" + f.tenant_text + "'")
                  .c_str()) == 20 * stored);
    bool all = false;
    REQUIRE_OK(maintenance_has_partitions(f.s, 1000000000, &all, f.a, &err));
    CHECK(all);
    REQUIRE_OK(maintenance_has_partitions(f.s, 900000000, &all, f.a, &err));
    CHECK_FALSE(all);
}

namespace
{
// A database of its own with rows of November 2025 that came before their partition.
struct late_rows {
    own_database base;
    test_db d;
    test_session s;
    maintenance_options o{};
    uint64_t moved = 0;
    std::string said;

    late_rows(const char *name, const char *at)
        : base(name), d(test_db_options(base.url.c_str())), s(d)
    {
        error err{};
        size_t applied;
        REQUIRE_OK(migrate_run(d, migrations, migration_count, &applied, &err));
        REQUIRE_OK(
            db_execute(s,
                       ("INSERT INTO load_sample (tenant, resource_id, observed_at,"
                        " cpu_available_ratio) SELECT 't', 'r' || i, " +
                        std::string(at))
                           .c_str(),
                       &err));
        o.moved_row_count = &moved;
        o.log_context = &said;
        o.log = [](void *context, const char *text) {
            *static_cast<std::string *>(context) += std::string(text) + "\n";
        };
    }
    double number(const char *sql)
    {
        test_arena own;
        return query_number(s, own, sql);
    }
};

const double november_s = 1764000000; // 2025-11-24T16:00:00Z
const char *const in_order = "SELECT count(*) FROM load_sample WHERE observed_at ="
                             " '2025-11-01Z'::timestamptz + cpu_available_ratio * 1e6 *"
                             " interval '1 second'";
} // namespace

TEST_CASE("rows that came before their partition are moved some at a time", "[db]")
{
    NEED_DATABASE();
    // 100 rows, 3 of each instant but 22 of the 10th, one to the first instant of the
    // month, one to the last one, and some of other months.
    late_rows late("gridplan_test_moves",
                   "'2025-11-01Z'::timestamptz + s * interval '1 second', s * 1e-6"
                   " FROM (SELECT i, CASE WHEN i = 99 THEN 2591999.999999 ELSE"
                   " CASE WHEN i BETWEEN 30 AND 51 THEN 30 ELSE i END / 3 END AS s"
                   " FROM generate_series(0, 99) AS i) AS x");
    error err{};
    late.o.moved_at_once = 7;
    REQUIRE_OK(db_execute(late.s,
                          "INSERT INTO load_sample (tenant, resource_id, observed_at)"
                          " VALUES ('t', 'old', '2025-10-31 23:59:59.999999Z'),"
                          " ('t', 'next', '2025-12-01Z')",
                          &err));
    REQUIRE(late.number(in_order) == 100);

    SECTION("all at once when there is nobody in the way")
    {
        REQUIRE_OK(maintenance_run(late.d, &late.o, november_s, &err));
        CHECK(late.moved == 100);
        // Up to 7 rows a step, never some of one instant only; the last step takes 14.
        CHECK(late.said.substr(0, late.said.find('\n')) ==
              "moved 6 rows of load_sample_default to load_sample_2025_11, more are to "
              "follow");
        CHECK(late.said.find("moved 25 rows") == std::string::npos);
        CHECK(late.said.find("moved 22 rows") != std::string::npos);
        CHECK(late.said.rfind("more are to follow") <
              late.said.rfind("of load_sample_default to load_sample_2025_11\n"));
    }
    SECTION("by whom comes after one who was killed")
    {
        for (int left = 3; left > 0; left--) {
            pid_t child = fork();
            if (child == 0) {
                struct db *own = nullptr;
                db_options options = test_db_options(late.base.url.c_str());
                error e{};
                late.o.log = [](void *, const char *) { kill(getpid(), SIGKILL); };
                if (db_create(&options, &own, &e) == OK)
                    maintenance_run(own, &late.o, november_s, &e);
                _exit(1);
            }
            int status = 0;
            REQUIRE(waitpid(child, &status, 0) == child);
            REQUIRE(WIFSIGNALED(status));
            CHECK(late.number(in_order) == 100);
            CHECK(late.number("SELECT count(*) FROM load_sample_2025_11") ==
                  6 * (4 - left));
            CHECK(late.number("SELECT count(*) FROM load_sample_default") ==
                  102 - 6 * (4 - left));
        }
        // What takes long comes last: all tables have a partition that takes rows.
        bool all;
        REQUIRE_OK(maintenance_has_partitions(late.s, november_s, &all, late.s.a, &err));
        CHECK(all);
        REQUIRE_OK(maintenance_run(late.d, &late.o, november_s, &err));
        CHECK(late.moved == 100 - 3 * 6);
    }
    SECTION("while a statement holds the table, nothing is moved, and none is lost")
    {
        test_session reader(late.d);
        REQUIRE_OK(db_begin(reader, &err));
        REQUIRE_OK(db_execute(reader, "SELECT count(*) FROM load_sample", &err));
        error own{};
        CHECK(maintenance_run(late.d, &late.o, november_s, &own) == ERR_CONFLICT);
        CHECK(late.moved == 0);
        db_rollback(reader);
        REQUIRE_OK(maintenance_run(late.d, &late.o, november_s, &err));
    }
    CHECK(late.number(in_order) == 100);
    CHECK(late.number("SELECT count(*) FROM load_sample_2025_11") == 100);
    CHECK(late.number("SELECT count(*) FROM load_sample_default") == 2);
    CHECK(late.number("SELECT count(*) FROM pg_indexes WHERE tablename ="
                      " 'load_sample_2025_11'") == 2);
    // Nothing is left to do; the next month is made as ever.
    uint64_t moved = late.moved;
    REQUIRE_OK(maintenance_run(late.d, &late.o, november_s, &err));
    CHECK(late.moved == moved);
    REQUIRE_OK(maintenance_run(late.d, &late.o, november_s + 7 * 86400, &err));
    CHECK(late.number("SELECT count(*) FROM load_sample_2025_12") == 1);
    // The border of the month is where it was.
    REQUIRE_OK(db_execute(late.s,
                          "INSERT INTO load_sample (tenant, resource_id, observed_at)"
                          " VALUES ('t', 'x', '2025-11-30 23:59:59.999999Z')",
                          &err));
    CHECK(late.number("SELECT count(*) FROM load_sample_2025_11") == 101);
}

TEST_CASE("a quarter of a million late rows are moved while requests go on", "[db]")
{
    NEED_DATABASE();
    late_rows late("gridplan_test_many_moves",
                   "'2025-11-01Z'::timestamptz + i * interval '1 second', i * 1e-6"
                   " FROM generate_series(0, 250000) AS i");
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0}, refused{0};
    double longest_s = 0;
    int stored = 0;
    std::thread writer([&] {
        test_session s(late.d);
        while (!done) {
            load_sample one = sample_of("new", 0.5);
            one.observed_at_s += 1e-3 * (stored + refused);
            error own{};
            double start_s = clock_monotonic_s();
            if (record_add(s, "u", &load_sample_record, &one, 1, s.a, &own) == OK)
                stored++;
            else
                refused++;
            longest_s = std::max(longest_s, clock_monotonic_s() - start_s);
            usleep(1000);
        }
    });
    std::thread reader([&] {
        test_session s(late.d);
        while (!done) {
            test_arena own;
            wrong += query_number(
                         s, own, "SELECT count(*) FROM load_sample WHERE tenant = 't'") !=
                     250001;
        }
    });
    error err{};
    double begin_s = clock_monotonic_s();
    error_code code = maintenance_run(late.d, &late.o, november_s, &err);
    double took_s = clock_monotonic_s() - begin_s;
    done = true;
    writer.join();
    reader.join();
    INFO(err.text);
    CHECK(code == OK);
    CHECK(wrong == 0);
    CHECK(refused == 0);
    CHECK(stored > 0);
    CAPTURE(took_s, longest_s, late.said);
    CHECK(late.said.find(
              "moved 50000 rows of load_sample_default to load_sample_2025_11, more"
              " are to follow\n") == 0);
    // Whoever comes in between waits for one step, not for all.
    CHECK(longest_s < took_s);
    CHECK(late.number("SELECT count(*) FROM load_sample_2025_11") == 250001 + stored);
    CHECK(late.number("SELECT count(*) FROM load_sample_default") == 0);
    CHECK(late.moved >= 250001);
    CHECK(late.number(in_order) >= 250001);
}

TEST_CASE("replicas that begin together leave no partition out", "[db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    maintenance_options o{};
    std::vector<maintenance *> all(3);
    const char *const made =
        "SELECT count(*) FROM pg_inherits JOIN pg_class ON oid = inhrelid"
        " WHERE relname ~ '_[0-9]{4}_[0-9]{2}$' AND right(relname, 7) >="
        " to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM')"
        " AND right(relname, 7) <="
        " to_char(now() AT TIME ZONE 'UTC' + interval '6 months', 'YYYY_MM')";

    o.months_ahead = 6;
    o.interval_s = 3600;
    for (auto &m : all)
        REQUIRE_OK(maintenance_create(f.d, &o, &m, &err));
    double count = 0;
    for (int i = 0; i < 300 && count < 11 * 7; i++) {
        usleep(50000);
        count = query_number(f.s, f.a, made);
    }
    CHECK(count == 11 * 7);
    for (auto m : all)
        maintenance_close(m);
}

TEST_CASE("a keyed request that meets a partition being made is run again", "[api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    test_db d;
    test_session s(d);
    error err{};
    char key[UUID_TEXT_SIZE];
    uuid_make(key);
    std::string table = "meets_" + std::to_string(getpid());

    // The first two rows of this resource fail as such a row does; a sequence remembers.
    REQUIRE_OK(db_execute(
        s,
        ("CREATE SEQUENCE " + table +
         ";"
         "CREATE FUNCTION " +
         table +
         "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
         " IF NEW.resource_id = '" +
         table + "' AND nextval('" + table +
         "') < 3 THEN"
         " RAISE EXCEPTION 'secret' USING ERRCODE = '23514'; END IF; RETURN NEW; END $$;"
         "CREATE TRIGGER " +
         table +
         " BEFORE INSERT ON load_sample"
         " FOR EACH ROW EXECUTE FUNCTION " +
         table + "()")
            .c_str(),
        &err));
    std::string body =
        "{\"resource_id\":\"" + table + "\",\"observed_at\":1764000000,\"latency_s\":1}";
    api_reply r = a.call("POST", "/v1/load-samples", body, {{"idempotency_key", key}});
    CHECK(r.status == 201);
    CHECK(query_number(
              s, s.a,
              ("SELECT count(*) FROM load_sample WHERE resource_id = '" + table + "'")
                  .c_str()) == 1);
    REQUIRE_OK(db_execute(s,
                          ("DROP TRIGGER " + table + " ON load_sample; DROP FUNCTION " +
                           table + "; DROP SEQUENCE " + table)
                              .c_str(),
                          &err));
}

static db_options small_pool()
{
    db_options o = test_db_options();

    o.pool_size = 4;
    o.wait_timeout_s = 0.3;
    return o;
}

TEST_CASE("a statement for which the server has no connection costs the pool one", "[db]")
{
    NEED_DATABASE();
    for (const char *sqlstate : {"53300", "53400"}) {
        INFO(sqlstate);
        test_db d(small_pool());
        std::vector<std::unique_ptr<test_session>> held;
        test_session s(d);
        error err{};

        for (int i = 0; i < 3; i++) {
            held.push_back(std::make_unique<test_session>(d));
            REQUIRE_OK(db_begin(*held.back(), &err));
        }
        CHECK(db_execute(s, raise("53200").c_str(), &err) == ERR_UNAVAILABLE);
        CHECK(stats_of(d).connected_count == 4);
        CHECK(db_execute(s, raise(sqlstate).c_str(), &err) == ERR_UNAVAILABLE);
        CHECK(stats_of(d).connected_count == 3);
        CHECK(db_execute(s, "SELECT 1", &err) != OK); // there are three for a while
        CHECK(stats_of(d).connected_count == 3);
        db_rollback(*held[0]);
        CHECK(db_execute(s, "SELECT 1", &err) == OK);

        // But never none.
        test_db one(small_pool());
        test_session t(one);
        for (int i = 0; i < 3; i++) {
            CHECK(db_execute(t, raise(sqlstate).c_str(), &err) == ERR_UNAVAILABLE);
            CHECK(db_execute(t, "SELECT 1", &err) == OK);
        }
    }
}

// How many connections the database takes: `more` than it has, or any.
static void limit_connections(db_session *s, const char *more)
{
    error err{};
    const std::string sql =
        std::string("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT %s',"
                    " current_database(), ") +
        more + "); END $$";

    REQUIRE_OK(db_execute(s, sql.c_str(), &err));
}

TEST_CASE("a pool that gets no further connection does with those it has", "[db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    test_db d(small_pool());
    test_session a(d), b(d), c(d);

    limit_connections(f.s, "2 + (SELECT count(*) FROM pg_stat_activity"
                           " WHERE datname = current_database())");
    bool has_two = db_begin(a, &err) == OK && db_begin(b, &err) == OK;
    error_code third = db_begin(c, &err);
    limit_connections(f.s, "-1");
    CHECK(has_two);
    CHECK(third != OK);
    usleep(300000); // so that a server that was merely away would be asked again
    CHECK(db_begin(c, &err) != OK);
    CHECK(stats_of(d).connected_count == 2);
    db_rollback(b);
    CHECK(db_begin(c, &err) == OK);
}

TEST_CASE("nobody takes the whole pool while others wait", "[db]")
{
    NEED_DATABASE();
    db_options o = test_db_options();
    o.pool_size = 4;
    o.wait_timeout_s = 4;
    test_db d(o);
    const db_caller greedy{"greedy", "r1", 0}, other{"other", "r2", 0};
    std::vector<std::unique_ptr<test_session>> held;
    error err{};

    // Alone, an owner may have all.
    for (int i = 0; i < 4; i++) {
        held.push_back(std::make_unique<test_session>(d));
        db_session_set_caller(*held.back(), &greedy);
        REQUIRE_OK(db_begin(*held.back(), &err));
    }
    // Two wait: what is given back goes to the other one, though the greedy one was
    // first.
    std::atomic<int> order{0}, greedy_at{0}, other_at{0};
    std::thread first([&] {
        test_session s(d);
        error e{};
        db_session_set_caller(s, &greedy);
        if (db_begin(s, &e) == OK) // it has the connection while it counts
            greedy_at = ++order;
        db_rollback(s);
    });
    while (stats_of(d).wait_count < 1)
        usleep(1000);
    std::thread second([&] {
        test_session s(d);
        error e{};
        db_session_set_caller(s, &other);
        if (db_begin(s, &e) == OK)
            other_at = ++order;
        db_rollback(s);
    });
    while (stats_of(d).wait_count < 2)
        usleep(1000);
    db_rollback(*held[0]);
    second.join();
    first.join();
    CHECK(other_at == 1);
    CHECK(greedy_at == 2);

    // A deadline ends the wait before the pool's own limit, but not at once.
    test_session late(d);
    db_caller hurried{"other", "r3", clock_monotonic_s() - 5};
    db_session_set_caller(late, &hurried);
    error e{};
    REQUIRE_OK(db_begin(*held[0], &err));
    double begin_s = clock_monotonic_s();
    CHECK(db_execute(late, "SELECT 1", &e) == ERR_BUSY);
    CHECK(clock_monotonic_s() - begin_s < 3.6);
    CHECK(clock_monotonic_s() - begin_s > 0.9);

    // When waits are long every second one fails fast; when nobody waits, nobody does.
    std::vector<std::thread> crowd;
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    std::atomic<double> last_s{0}, given_up_s{HUGE_VAL};
    for (int i = 0; i < 120; i++)
        crowd.emplace_back([&] {
            test_session s(d);
            error x{};
            ready++;
            while (!go)
                usleep(1000);
            double came_s = clock_monotonic_s();
            for (double s = last_s;
                 s < came_s && !last_s.compare_exchange_weak(s, came_s);)
                ;
            db_execute(s, "SELECT 1", &x);
            double left_s = clock_monotonic_s();
            for (double s = given_up_s;
                 left_s < s && !given_up_s.compare_exchange_weak(s, left_s);)
                ;
        });
    while (ready < 120)
        usleep(1000);
    go = true;
    for (auto &t : crowd)
        t.join();
    uint64_t shed = stats_of(d).shed_count;
    if (last_s < given_up_s - 0.5) // all came before the first of them had given up
        CHECK(shed == 0);
    else
        WARN("a busy machine: some came when others had waited their time");
    for (int i = 0; i < 6; i++) {
        test_session s(d);
        error x{};
        db_caller quick{"other", "", clock_monotonic_s()};
        db_session_set_caller(s, &quick);
        CHECK(db_execute(s, "SELECT 1", &x) == ERR_BUSY);
        CHECK(x.retry_after_s == 1);
    }
    CHECK(stats_of(d).shed_count == shed + 3);
    held.clear();
    for (int i = 0; i < 10; i++) {
        test_session s(d);
        error x{};
        CHECK(db_execute(s, "SELECT 1", &x) == OK);
    }
    CHECK(stats_of(d).shed_count == shed + 3);
}

TEST_CASE("of several servers the one is wanted that takes writes", "[db]")
{
    NEED_DATABASE();
    // Read-only for us, as a standby is for all.
    std::string one = std::string(test_database_url()) +
                      "&options=-c%20default_transaction_read_only%3Don";
    std::string two =
        std::regex_replace(one, std::regex("(host|port)=([^&]*)"), "$1=$2,$2");
    auto reads = [](const std::string &url) {
        test_db d(test_db_options(url.c_str()));
        test_session s(d);
        error err{};
        error_code code = db_execute(s, "SELECT 1", &err);

        if (code == OK)
            CHECK(db_execute(s, "DELETE FROM disk_probe", &err) == ERR_UNAVAILABLE);
        return code;
    };

    REQUIRE(two != one);
    CHECK(reads(one) == OK);
    CHECK(reads(two) == ERR_UNAVAILABLE);
    CHECK(reads(two + "&target_session_attrs=any") == OK);
}

TEST_CASE("a write says whether the database takes writes", "[db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    char id[UUID_TEXT_SIZE];
    uuid_make(id);
    std::string own =
        std::string("SELECT count(*) FROM liveness WHERE replica_id = '") + id + "'";

    CHECK(liveness_try(f.d, id, f.a, &err) == LIVENESS_OK);
    CHECK(liveness_try(f.d, id, f.a, &err) == LIVENESS_OK);
    CHECK(query_number(f.s, f.a, own.c_str()) == 1);

    // The disk was full: it is tried with rows that need room, and emptied again.
    db_set_full(f.d, true);
    CHECK(liveness_try(f.d, id, f.a, &err) == LIVENESS_OK);
    CHECK_FALSE(db_is_full(f.d));
    CHECK(query_number(f.s, f.a, "SELECT count(*) FROM disk_probe") == 0);
    // It is still full.
    REQUIRE_OK(db_execute(f.s,
                          ("CREATE OR REPLACE FUNCTION no_room() RETURNS trigger LANGUAGE"
                           " plpgsql AS $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE ="
                           " '53100'; END $$; CREATE TRIGGER no_room BEFORE INSERT ON"
                           " disk_probe FOR EACH ROW EXECUTE FUNCTION no_room()"),
                          &err));
    db_set_full(f.d, true);
    CHECK(liveness_try(f.d, id, f.a, &err) == LIVENESS_FULL);
    REQUIRE_OK(db_execute(f.s, "DROP TRIGGER no_room ON disk_probe", &err));
    CHECK(liveness_try(f.d, id, f.a, &err) == LIVENESS_OK);

    // Read-only, as a standby is.
    std::string url = std::string(test_database_url()) +
                      "&options=-c%20default_transaction_read_only%3Don";
    test_db standby(test_db_options(url.c_str()));
    CHECK(liveness_try(standby, id, f.a, &err) == LIVENESS_READ_ONLY);
    // Away.
    test_db none(test_db_options("postgresql:///none?host=/nonexistent"));
    CHECK(liveness_try(none, id, f.a, &err) == LIVENESS_DOWN);
}

TEST_CASE("/readyz says what the last write said", "[api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    liveness_options o{a.handle()->db, 0.2, 0.5, nullptr, nullptr};
    error err{};

    CHECK(a.get("/readyz?verbose").json()["database"] == "ok");
    CHECK(a.get("/readyz?verbose=true").status == 200);
    CHECK(a.get("/readyz?verbose=false").json().contains("database") == false);
    CHECK(a.get("/readyz?verbose=perhaps").status == 422);

    REQUIRE_OK(liveness_create(&o, &a.handle()->liveness, &err));
    api_reply starting = a.get("/readyz?verbose");
    CHECK(starting.status == 503);
    CHECK(starting.json()["status"] == "starting");
    liveness_begin(a.handle()->liveness);
    auto becomes = [&](const char *status) {
        for (int i = 0; i < 500; i++) {
            if (a.get("/readyz").json()["status"] == status)
                return true;
            usleep(10000);
        }
        return false;
    };
    // Nobody makes the partitions here: late, and said.
    CHECK(becomes("ok"));
    CHECK(a.get("/readyz?verbose").json()["warnings"].size() <= 1);
    test_session s(a.handle()->db);
    REQUIRE_OK(db_execute(s,
                          ("CREATE OR REPLACE FUNCTION no_room() RETURNS trigger LANGUAGE"
                           " plpgsql AS $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE ="
                           " '53100'; END $$; CREATE TRIGGER no_room BEFORE INSERT ON"
                           " disk_probe FOR EACH ROW EXECUTE FUNCTION no_room()"),
                          &err));
    db_set_full(a.handle()->db, true);
    CHECK(becomes("full"));
    CHECK(a.get("/readyz?verbose").json()["database"] == "the database's disk is full");
    CHECK(a.get("/readyz").status == 503);
    REQUIRE_OK(db_execute(s, "DROP TRIGGER no_room ON disk_probe", &err));
    CHECK(becomes("ok"));
    liveness_close(a.handle()->liveness);
    a.handle()->liveness = nullptr;
}

TEST_CASE("problem documents are UTF-8, whatever the request was", "[api]")
{
    api a;
    const std::string texts[] = {"\xff",
                                 "\xc3\xa9\xff",
                                 "\xe2\x82",
                                 "\xf0\x9f\x98\x80",
                                 "\xc0\xaf",
                                 std::string(200, '\xe9'),
                                 std::string(99, 'a') + "\xc3\xa9"};
    for (const auto &text : texts) {
        api_reply r = a.get("/v1/" + text);
        CHECK(r.status == 404);
        CHECK(json_is_utf8(r.body.data(), r.body.size()));
    }
    CHECK(a.get("/v1/\xff").json()["instance"] == "/v1/%FF");
    CHECK(a.get("/v1/\xc3\xa9\xff").json()["instance"] == "/v1/%C3%A9%FF");
}
