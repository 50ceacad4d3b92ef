// Roll-ups in PostgreSQL: which hours are due, how they are made, and that nothing that
// is stored meanwhile is left out.
#include "tests/database.hpp"

extern "C" {
#include "service/rollup.h"
#include "service/store_rollup.h"
}

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

const double hour_s = 3600;

double day_before(double days)
{
    return std::floor((static_cast<double>(time(nullptr)) - days * 86400) / 86400) *
           86400;
}

std::string text(const rollup_measure &m)
{
    return {reinterpret_cast<const char *>(m.sketch), m.sketch_bytes};
}

bool is_before(const load_rollup &x, const load_rollup &y)
{
    int order = strcmp(x.resource_id, y.resource_id);

    if (order == 0)
        order = strcmp(x.to_resource_id, y.to_resource_id);
    if (order != 0)
        return order < 0;
    return x.level_s != y.level_s ? x.level_s < y.level_s : x.at_s < y.at_s;
}

// One program's database: what is stored, and what should be.
struct rolled {
    test_db d;
    test_session s;
    error err{};
    std::string tenant;
    rollup_options options{};
    rollup_counts counts{};

    explicit rolled(const char *url) : d(options_of(url)), s(d)
    {
        size_t applied;

        REQUIRE_OK(migrate_run(d, migrations, migration_count, &applied, &err));
        options.counts = &counts;
        tenant = "it's \\ 1";
    }
    static db_options options_of(const char *url)
    {
        db_options o = test_db_options(url);
        o.pool_size = 6;
        return o;
    }
    double number(const char *sql)
    {
        test_arena own;
        return query_number(s, own, sql);
    }
    void run(double now_s = static_cast<double>(time(nullptr)))
    {
        REQUIRE_OK(rollup_run(d, &options, now_s, &err));
    }

    std::vector<load_rollup> stored(arena *a)
    {
        const db_param params[] = {db_text(tenant.c_str()), {DB_END, nullptr, 0, 0, {}}};
        std::string sql = std::string("SELECT ") + store_rollup_names +
                          " FROM load_rollup WHERE tenant = $1 ORDER BY resource_id,"
                          " to_resource_id, level_s, at";
        db_statement statement = {"all_rollups", sql.c_str(), DB_ONCE};
        void *list;
        size_t count;

        REQUIRE_OK(db_rows(s, &statement, params, store_rollup_columns,
                           sizeof(load_rollup), &list, &count, a, &err));
        auto *rows = static_cast<load_rollup *>(list);
        return {rows, rows + count};
    }

    // Made of the samples by the model alone.
    std::vector<load_rollup> wanted(arena *a)
    {
        const db_param params[] = {db_text(tenant.c_str()), {DB_END, nullptr, 0, 0, {}}};
        static const db_column columns[] = {
            {"resource_id", DB_TEXT, offsetof(load_sample, resource_id)},
            {"to_resource_id", DB_TEXT, offsetof(load_sample, to_resource_id)},
            {"observed_at", DB_INSTANT, offsetof(load_sample, observed_at_s)},
            {"cpu", DB_NUMBER, offsetof(load_sample, cpu_available_ratio)},
            {"memory", DB_NUMBER, offsetof(load_sample, memory_available_bytes)},
            {"bandwidth", DB_NUMBER, offsetof(load_sample, bandwidth_mbps)},
            {"latency", DB_NUMBER, offsetof(load_sample, latency_s)},
            {}};
        static const db_statement statement = {
            "all_samples",
            "SELECT resource_id, to_resource_id, observed_at, cpu_available_ratio,"
            " memory_available_bytes, bandwidth_mbps, latency_s FROM load_sample"
            " WHERE tenant = $1 ORDER BY resource_id, coalesce(to_resource_id, ''),"
            " observed_at, row_id",
            DB_ONCE};
        void *list;
        size_t count, hour_count, day_count;

        REQUIRE_OK(db_rows(s, &statement, params, columns, sizeof(load_sample), &list,
                           &count, a, &err));
        rollup_maker *hours = rollup_maker_create(a), *days = rollup_maker_create(a);
        for (size_t i = 0; i < count; i++)
            rollup_add_sample(hours, static_cast<load_sample *>(list) + i);
        rollup_end(hours);
        const load_rollup *hour = rollup_rows(hours, &hour_count);
        for (size_t i = 0; i < hour_count; i++)
            if (hour[i].level_s > 60)
                REQUIRE(rollup_add_hour(days, &hour[i]));
        rollup_end(days);
        const load_rollup *day = rollup_rows(days, &day_count);
        std::vector<load_rollup> out(hour, hour + hour_count);
        out.insert(out.end(), day, day + day_count);
        std::sort(out.begin(), out.end(), is_before);
        return out;
    }

    // The bytes of what is stored are those of what the samples say.
    void check()
    {
        test_arena own;
        std::vector<load_rollup> got = stored(own.a), want = wanted(own.a);

        REQUIRE(got.size() == want.size());
        for (size_t i = 0; i < got.size(); i++) {
            bool same = strcmp(got[i].resource_id, want[i].resource_id) == 0 &&
                        strcmp(got[i].to_resource_id, want[i].to_resource_id) == 0 &&
                        got[i].level_s == want[i].level_s && got[i].at_s == want[i].at_s;

            for (size_t k = 0; same && k < ROLLUP_MEASURES; k++) {
                const rollup_measure &g = got[i].measure[k], &w = want[i].measure[k];

                same = g.moments.count == w.moments.count &&
                       (g.moments.count == 0 ||
                        (memcmp(&g.moments, &w.moments, sizeof(moments)) == 0 &&
                         text(g) == text(w)));
            }
            INFO("row " << i << " of " << got.size() << ": " << got[i].resource_id
                        << " level " << got[i].level_s);
            REQUIRE(same);
        }
    }
};

load_sample sample(const char *resource, double at_s, double value,
                   const char *to = nullptr)
{
    return {resource,
            to,
            at_s,
            to ? NAN : value,
            NAN,
            to ? 100 * value : NAN,
            to ? 0.001 * value : NAN};
}

// Somebody who stores and corrects, in transactions that stay open for a while.
struct writer {
    test_session s;
    error err{};
    const rolled &of;
    bool open = false;

    explicit writer(rolled &r) : s(r.d), of(r)
    {
    }
    void begin()
    {
        REQUIRE_OK(db_begin(s, &err));
        open = true;
    }
    void add(const std::vector<load_sample> &list)
    {
        size_t stored;

        REQUIRE_OK(record_add(s, of.tenant.c_str(), &load_sample_record, list.data(),
                              list.size(), s.a, &err, &stored, RECORD_KEEP));
    }
    void replace(const load_sample &one)
    {
        REQUIRE_OK(record_add(s, of.tenant.c_str(), &load_sample_record, &one, 1, s.a,
                              &err, nullptr, RECORD_REPLACE));
    }
    void remove(const char *resource, double from_s, double to_s)
    {
        load_sample like{};
        record_filter filter = all_records();
        size_t removed;
        bool more;

        like.resource_id = resource;
        filter_by(filter, &load_sample_record, "resource_id", &like);
        filter.from_at_s = from_s;
        filter.to_at_s = to_s;
        REQUIRE_OK(record_remove(s, of.tenant.c_str(), &load_sample_record, &filter,
                                 false, &removed, &more, s.a, &err));
    }
    void end(bool commit)
    {
        if (!open)
            return;
        open = false;
        if (commit)
            REQUIRE_OK(db_commit(s, &err));
        else
            db_rollback(s);
    }
};

// What writers do between two statements of whoever makes the hours. Each has resources
// of its own, as one who waits for another's row would never end here.
struct interleaving {
    rolled &r;
    std::mt19937_64 random;
    std::vector<std::unique_ptr<writer>> writers;
    double day_s = day_before(3);
    bool in_round = false;

    interleaving(rolled &r_, uint64_t seed) : r(r_), random(seed)
    {
        for (int i = 0; i < 2; i++)
            writers.push_back(std::make_unique<writer>(r));
    }
    double draw(int n)
    {
        return static_cast<double>(random() % static_cast<uint64_t>(n));
    }
    std::string name(size_t who)
    {
        return "w" + std::to_string(who) + (random() % 2 ? "" : "-long-name");
    }
    // No two open transactions may wait for each other: marks of the same part of the
    // same hour do, so each writer has an hour of its own while both are open.
    double instant(size_t who)
    {
        return day_s + hour_s * (static_cast<double>(who) * 2 + draw(2)) +
               60 * draw(3) * 20 + 10 * draw(6);
    }
    void act(size_t who)
    {
        writer &w = *writers[who];
        std::string resource = name(who);

        if (!w.open) {
            if (random() % 2)
                w.begin();
        } else if (random() % 4 == 0) {
            w.end(random() % 5 > 0);
            return;
        }
        switch (random() % 5) {
        case 0:
            w.remove(resource.c_str(), day_s + hour_s * static_cast<double>(who) * 2,
                     day_s + hour_s * (static_cast<double>(who) * 2 + 1 + draw(2)));
            break;
        case 1:
            w.replace(sample(resource.c_str(), instant(who), draw(100) / 100));
            break;
        default: {
            std::vector<load_sample> list;
            size_t n = 1 + random() % 5;

            while (list.size() < n)
                list.push_back(sample(resource.c_str(), instant(who), draw(1000) / 1000,
                                      random() % 3 ? nullptr : "far"));
            w.add(list);
        }
        }
    }
    static void pause(void *context, rollup_stage stage)
    {
        auto *self = static_cast<interleaving *>(context);

        for (uint64_t n = self->random() % 4; n > 0; n--)
            self->act(self->random() % self->writers.size());
        // The marks are removed next: who holds one must end.
        if (stage == ROLLUP_ROWS_WRITTEN)
            for (auto &w : self->writers)
                w->end(self->random() % 5 > 0);
    }
    void play()
    {
        r.options.pause = pause;
        r.options.pause_context = this;
        for (int round = 0; round < 2; round++) {
            for (uint64_t n = random() % 5; n > 0; n--)
                act(random() % writers.size());
            for (auto &w : writers) // a transaction with a number holds up the round
                w->end(random() % 5 > 0);
            r.run();
        }
        for (auto &w : writers)
            w->end(true);
        r.options.pause = nullptr;
        // What was due is made in one more round.
        r.run();
    }
};

void play_all(rolled &r, int count, uint64_t seed)
{
    error &err = r.err;

    for (int i = 0; i < count; i++) {
        INFO("seed " << seed << " interleaving " << i);
        interleaving(r, seed + static_cast<uint64_t>(i)).play();
        CHECK(r.number("SELECT count(*) FROM rollup_due") == 0);
        r.check();
        if (i % 20 == 19)
            REQUIRE_OK(
                db_execute(r.s, "TRUNCATE load_sample, load_rollup, rollup_due", &r.err));
    }
}

} // namespace

TEST_CASE("hours that are due are made, and again when their samples change",
          "[rollup][db]")
{
    NEED_DATABASE();
    own_database base("gridplan_test_rollup");
    rolled r(base.url.c_str());
    error &err = r.err;
    writer w(r);
    double day_s = day_before(2);
    std::vector<load_sample> list;
    std::mt19937_64 random(7);

    for (int i = 0; i < 3000; i++)
        list.push_back(sample(
            i % 3 ? "host-a" : "host-b", day_s + 30 * static_cast<double>(i),
            static_cast<double>(random() % 1001) / 1000, i % 5 ? nullptr : "switch"));
    w.add(list);
    CHECK(r.number("SELECT count(*) FROM rollup_due") == 50);
    r.run();
    r.check();
    CHECK(r.number("SELECT count(*) FROM rollup_due") == 0);
    CHECK(r.counts.samples_read == 3000);
    CHECK(r.number("SELECT count(*) FROM load_rollup WHERE level_s = 86400") == 8);
    uint64_t hours = r.counts.hours_made;
    CHECK(hours == 25);

    r.run(); // nothing is left to do
    CHECK(r.counts.hours_made == hours);

    w.replace(sample("host-a", day_s + 30, 0.123, nullptr));
    r.run();
    CHECK(r.counts.hours_made == hours + 1);
    r.check();
    w.remove("host-b", day_s + 7200, day_s + 7200 + 1800);
    w.remove("host-a", day_s + 3600, day_s + 7200); // a whole hour
    CHECK(r.number("SELECT count(*) FROM rollup_due") == 2);
    r.run();
    r.check();

    // The same again is no change; it leaves a mark at most, and the same bytes.
    REQUIRE_OK(
        db_execute(r.s, "CREATE TABLE before AS SELECT * FROM load_rollup", &r.err));
    REQUIRE_OK(db_execute(r.s,
                          "INSERT INTO rollup_due (tenant, at, shard) SELECT DISTINCT"
                          " tenant, date_bin('1 hour', observed_at, 'epoch'),"
                          " hashtext(resource_id) & 63 FROM load_sample",
                          &r.err));
    r.run();
    CHECK(r.number("SELECT count(*) FROM (SELECT * FROM before EXCEPT"
                   " SELECT * FROM load_rollup) AS x") == 0);
    CHECK(r.number("SELECT count(*) FROM (SELECT * FROM load_rollup EXCEPT"
                   " SELECT * FROM before) AS x") == 0);
}

TEST_CASE("an hour closes 15 minutes after its end, when nobody writes any more",
          "[rollup][db]")
{
    NEED_DATABASE();
    own_database base("gridplan_test_rollup_close");
    rolled r(base.url.c_str());
    double now_s = static_cast<double>(time(nullptr));
    // The next full hour: samples of it leave no marks today.
    double hour = std::floor(now_s / hour_s) * hour_s + hour_s;
    writer w(r);

    r.run(now_s);
    w.add({sample("a", hour + 1, 0.5), sample("b", hour + 3599, 0.25)});
    CHECK(r.number("SELECT count(*) FROM rollup_due") == 0);
    r.run(hour + hour_s + 899);
    CHECK(r.number("SELECT count(*) FROM load_rollup") == 0);

    // One who has begun to write before the hour's end + 10 minutes is waited for.
    w.begin();
    w.add({sample("c", hour + 2, 0.75)});
    r.run(hour + hour_s + 900);
    CHECK(r.number("SELECT count(*) FROM load_rollup") == 0);
    w.end(true);
    r.run(hour + hour_s + 900);
    CHECK(r.number("SELECT count(*) FROM load_rollup WHERE level_s = 3600") == 3);
    CHECK(r.number("SELECT count(*) FROM rollup_due") == 0);
    CHECK(r.number("SELECT extract(epoch FROM known_until) FROM rollup_progress"
                   " WHERE level_s = 3600") == hour + hour_s);
    r.check();
}

TEST_CASE("one replica at a time makes roll-ups", "[rollup][db]")
{
    NEED_DATABASE();
    own_database base("gridplan_test_rollup_one");
    rolled r(base.url.c_str());
    error &err = r.err;
    writer w(r), other(r);

    w.add({sample("a", day_before(2), 0.5)});
    other.begin();
    REQUIRE_OK(db_execute(other.s, "SELECT pg_advisory_xact_lock(7453010373643070832)",
                          &other.err));
    r.run();
    CHECK(r.number("SELECT count(*) FROM load_rollup") == 0);
    other.end(true);
    r.run();
    CHECK(r.number("SELECT count(*) FROM load_rollup") == 3);
}

TEST_CASE("who is killed while making an hour leaves it due", "[rollup][db]")
{
    NEED_DATABASE();
    own_database base("gridplan_test_rollup_kill");
    rolled r(base.url.c_str());
    writer w(r);
    double day_s = day_before(2);

    for (int stage = ROLLUP_VERSIONS_READ; stage <= ROLLUP_ROWS_WRITTEN; stage++) {
        w.add({sample("a", day_s + 10 * stage, 0.5), sample("b", day_s + 4000, 0.125)});
        pid_t child = fork();
        if (child == 0) {
            struct db *own = nullptr;
            db_options options = test_db_options(base.url.c_str());
            error e{};

            r.options.pause_context = &stage;
            r.options.pause = [](void *context, rollup_stage at) {
                if (at == *static_cast<int *>(context))
                    kill(getpid(), SIGKILL);
            };
            if (db_create(&options, &own, &e) == OK)
                rollup_run(own, &r.options, static_cast<double>(time(nullptr)), &e);
            _exit(1);
        }
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        REQUIRE(WIFSIGNALED(status));
        CHECK(r.number("SELECT count(*) FROM rollup_due") > 0);
        // The server notices when it next writes to the dead one's socket.
        while (r.number("SELECT count(*) FROM pg_stat_activity WHERE datname ="
                        " current_database() AND state = 'idle in transaction'") > 0)
            usleep(1000);
        r.run();
        CHECK(r.number("SELECT count(*) FROM rollup_due") == 0);
        r.check();
    }
}

TEST_CASE("what is stored while its hour is made is in the roll-up after the next round",
          "[rollup][db]")
{
    NEED_DATABASE();
    own_database base("gridplan_test_rollup_race");
    rolled r(base.url.c_str());

    play_all(r, is_shorter() ? 15 : 100, static_cast<uint64_t>(time(nullptr)) / 86400);
    CHECK(r.counts.changed_meanwhile > 0);
}

TEST_CASE("10,000 interleavings of storing and making hours", "[.interleavings]")
{
    NEED_DATABASE();
    own_database base("gridplan_test_rollup_races");
    rolled r(base.url.c_str());

    play_all(r, 10000, 1);
    CHECK(r.counts.changed_meanwhile > 1000);
}
