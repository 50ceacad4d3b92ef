// database.hpp - for tests with the tag [db]: a database of their own, given by
// GRIDPLAN_TEST_DATABASE_URL, with the newest schema.
#pragma once
#include "support.hpp"

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include "service/db.h"
#include "service/migrate.h"
#include "service/records/records.h"
#include "service/store.h"
}

inline const char *test_database_url()
{
    return getenv("GRIDPLAN_TEST_DATABASE_URL");
}

// Leaves the test, visibly, when there is no database.
#define NEED_DATABASE()                                                                 \
    do {                                                                                \
        if (!test_database_url()) {                                                     \
            WARN("skipped: GRIDPLAN_TEST_DATABASE_URL is not set (tests/postgres.sh)"); \
            return;                                                                     \
        }                                                                               \
    } while (0)

inline db_options test_db_options(const char *url = test_database_url())
{
    db_options o{};
    o.conninfo = url;
    o.pool_size = 4;
    o.prepared = !getenv("GRIDPLAN_TEST_PREPARED"); // set behind PgBouncer
    o.connect_timeout_s = 2;
    o.wait_timeout_s = 5;
    o.statement_timeout_s = 60;
    return o;
}

// A pool that goes with its scope.
struct test_db {
    db *d = nullptr;
    explicit test_db(const db_options &o = test_db_options())
    {
        error err{};
        INFO(err.text);
        REQUIRE(db_create(&o, &d, &err) == OK);
    }
    ~test_db()
    {
        db_close(d);
    }
    test_db(const test_db &) = delete;
    test_db &operator=(const test_db &) = delete;
    operator db *() const
    {
        return d;
    }
};

// A session with an arena of its own.
struct test_session {
    test_arena a;
    db_session *s;
    explicit test_session(db *d, const bool *cancelled = nullptr)
        : s(db_session_create(d, cancelled, a))
    {
    }
    ~test_session()
    {
        db_session_close(s);
    }
    test_session(const test_session &) = delete;
    test_session &operator=(const test_session &) = delete;
    operator db_session *() const
    {
        return s;
    }
};

// A migrated database, a session, an error, and a tenant nobody else uses.
struct store_fixture {
    test_db d;
    test_session s;
    error err{};
    std::string tenant_text;
    const char *tenant;
    arena *a;

    store_fixture();
};

// REQUIRE that says why not.
#define REQUIRE_OK(call)           \
    do {                           \
        error_code code_ = (call); \
        INFO(err.text);            \
        REQUIRE(code_ == OK);      \
    } while (0)

// Stores structs of a record, of which none may be refused; *stored (if asked for) are
// the new ones.
error_code record_add(db_session *s, const char *tenant, const record *r,
                      const void *list, size_t count, arena *a, error *err,
                      size_t *stored = nullptr, record_policy policy = RECORD_REFUSE);

// All of a record's rows.
inline record_filter all_records()
{
    record_filter f{};
    f.from_at_s = f.to_at_s = NAN;
    return f;
}

// Adds: only those with this value.
inline void filter_by(record_filter &f, const record *r, const char *name,
                      const void *like)
{
    f.like = like;
    f.columns |= 1u << record_place(r, name);
}

// Load samples of the filter's resources and instants.
error_code samples_read(db_session *s, const char *tenant, const store_filter *f,
                        const store_page *page, const load_sample **list, size_t *count,
                        const char **next, arena *a, error *err);

// A new, empty database beside the given one.
struct own_database {
    std::string name, url;
    explicit own_database(const char *name_);
    ~own_database();
    void recreate(bool make);
};

// The statement of a text. It is known by its address on a prepared connection, so it
// stays as long as the program, and there is one for each text.
const db_statement *query_statement(const char *sql);

// The one number that a query gives.
double query_number(db_session *s, arena *a, const char *sql);
