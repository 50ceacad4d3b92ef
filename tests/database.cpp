// database.cpp - what tests with a database share (database.hpp).
#include "tests/database.hpp"

#include <map>
#include <mutex>

store_fixture::store_fixture() : s(d)
{
    static int number;
    size_t applied = 0;
    INFO(err.text);
    REQUIRE(migrate_run(d, migrations, migration_count, &applied, &err) == OK);
    tenant_text = "tenant " + std::to_string(getpid()) + " " + std::to_string(number++);
    tenant = tenant_text.c_str();
    a = s.a;
    err.arena = a;
}

error_code record_add(db_session *s, const char *tenant, const record *r,
                      const void *list, size_t count, arena *a, error *err,
                      size_t *stored, record_policy policy)
{
    record_stored out{};
    error_code code = record_store(s, tenant, r, list, count, policy, true, &out, a, err);
    if (code == OK && out.refused_count > 0)
        return fail(err, ERR_CONFLICT, "", "%zu are stored otherwise", out.refused_count);
    if (stored)
        *stored = out.stored;
    return code;
}

error_code samples_read(db_session *s, const char *tenant, const store_filter *f,
                        const store_page *page, const load_sample **list, size_t *count,
                        const char **next, arena *a, error *err)
{
    load_sample like{};
    record_filter filter{};

    like.resource_id = f->resource_id;
    like.to_resource_id = f->to_resource_id;
    if (f->resource_id)
        filter_by(filter, &load_sample_record, "resource_id", &like);
    if (f->to_resource_id)
        filter_by(filter, &load_sample_record, "to_resource_id", &like);
    filter.from_at_s = f->from_at_s;
    filter.to_at_s = f->to_at_s;
    filter.newest_first = f->newest_first;
    return record_read(s, tenant, &load_sample_record, &filter, page, (const void **)list,
                       count, next, a, err);
}

own_database::own_database(const char *name_) : name(name_)
{
    recreate(true);
    std::string base = test_database_url();
    size_t slash = base.find('/', base.find("//") + 2);
    size_t end = base.find('?', slash);
    url = base.substr(0, slash + 1) + name + base.substr(end);
}

own_database::~own_database()
{
    recreate(false);
}

void own_database::recreate(bool make)
{
    test_db d;
    test_session s(d);
    error err{};

    REQUIRE_OK(db_execute(
        s, ("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)").c_str(), &err));
    if (make)
        REQUIRE_OK(db_execute(s, ("CREATE DATABASE " + name).c_str(), &err));
}

const db_statement *query_statement(const char *sql)
{
    struct kept {
        std::string name, text;
        db_statement statement;
    };
    static std::mutex lock;
    static std::map<std::string, kept> all;
    std::lock_guard<std::mutex> guard(lock);
    auto found = all.find(sql);

    if (found == all.end()) {
        found = all.emplace(sql, kept{}).first;
        kept &k = found->second;
        k.name = "query_" + std::to_string(all.size());
        k.text = "SELECT (" + std::string(sql) + ")::float8";
        k.statement = {k.name.c_str(), k.text.c_str(), 0};
    }
    return &found->second.statement;
}

double query_number(db_session *s, arena *a, const char *sql)
{
    struct row {
        double number;
    } row{NAN};
    const db_column columns[] = {{"number", DB_NUMBER, offsetof(struct row, number)}, {}};
    error err{};
    bool found;
    error_code code = db_row(s, query_statement(sql), nullptr, columns, sizeof(row), &row,
                             &found, a, &err);
    INFO(sql << ": " << err.text);
    REQUIRE(code == OK);
    return row.number;
}
