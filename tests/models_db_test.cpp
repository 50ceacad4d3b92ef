// models_db_test.cpp - models in the store: the queue of what they are to learn, the lock
// of who refines, versions; without the mathematics.
#include "tests/database.hpp"

#include <thread>

extern "C" {
#include "service/store_model.h"
}

namespace
{
// A tenant with a model of the application "app" at site "s".
struct shelf : store_fixture {
    store_model model{};

    explicit shelf(bool train = false)
    {
        model = make("m", "app", "s", NAN, train);
    }
    store_model make(const char *id, const char *app, const char *site, double phase,
                     bool train = false)
    {
        store_model wanted{}, out{};

        wanted.model_id = id;
        wanted.application_id = app;
        wanted.site_id = site;
        wanted.phase_index = phase;
        wanted.kind = "linear";
        wanted.settings = "{}";
        REQUIRE_OK(store_model_create(s, tenant, &wanted, train, &out, a, &err));
        return out;
    }
    void run(const std::string &id, double at_s, const char *site = "s",
             double exit_code = NAN)
    {
        execution e{};
        size_t stored;

        e.execution_id = id.c_str();
        e.application_id = "app";
        e.site_id = site;
        e.started_at_s = at_s;
        e.run_time_s = 12;
        e.processors = 2;
        e.phase_index = e.problem_size = e.cpu_available_ratio = e.bandwidth_mbps = NAN;
        e.memory_peak_bytes = e.predicted_s = e.model_version = NAN;
        e.exit_code = exit_code;
        REQUIRE_OK(record_add(s, tenant, &execution_record, &e, 1, a, &err, &stored,
                              RECORD_KEEP));
    }
    store_model read()
    {
        store_model out{};
        REQUIRE_OK(store_model_read(s, tenant, "m", &out, a, &err));
        return out;
    }
    std::vector<std::string> samples(store_samples_which which)
    {
        const store_sample *list;
        size_t count;
        std::vector<std::string> ids;
        REQUIRE_OK(store_model_samples(s, tenant, "m", which, &list, &count, a, &err));
        for (size_t i = 0; i < count; i++)
            ids.push_back(list[i].execution_id);
        return ids;
    }
    bool waits()
    {
        const store_model_name *list;
        size_t count;
        bool found = false;
        REQUIRE_OK(store_models_waiting(s, 1000, &list, &count, a, &err));
        for (size_t i = 0; i < count; i++)
            found = found || (std::string(list[i].tenant) == tenant &&
                              std::string(list[i].model_id) == "m");
        return found;
    }
    // Writes a version that has learnt all the news.
    void advance(const char *cause = "refine")
    {
        const store_sample *list;
        store_model locked{};
        store_model_version v{};
        struct store_model_advance what {
        };
        const double numbers[] = {1.5, NAN, HUGE_VAL, -0.0, 1e-310};

        REQUIRE_OK(db_begin(s, &err));
        REQUIRE_OK(store_model_await(s, tenant, "m", &locked, a, &err));
        REQUIRE_OK(store_model_samples(s, tenant, "m", STORE_SAMPLES_NEW, &list,
                                       &what.looked_at_count, a, &err));
        auto *copy = NEW(a, store_sample, what.looked_at_count + 1);
        for (size_t i = 0; i < what.looked_at_count; i++) {
            copy[i] = list[i];
            copy[i].verdict = "fit";
        }
        v.parent_version = locked.version;
        v.cause = cause;
        v.state = "trained";
        v.summary = "{}";
        v.layout = 1;
        v.numbers = store_numbers(numbers, 5, a);
        what.version = &v;
        what.looked_at = copy;
        REQUIRE_OK(store_model_advance(s, &locked, &what, a, &err));
        REQUIRE_OK(db_commit(s, &err));
    }
};
} // namespace

TEST_CASE("numbers of a model keep every bit", "[models]")
{
    test_arena a;
    const double given[] = {0, -0.0, 1.5, NAN, HUGE_VAL, -HUGE_VAL, 1e-310, 1e308, M_PI};
    size_t count = 0;
    struct db_bytes bytes = store_numbers(given, 9, a);
    const double *back = store_numbers_read(bytes, &count, a);
    REQUIRE(count == 9);
    CHECK(bytes.length == 72);
    CHECK(memcmp(given, back, sizeof(given)) == 0);
}

TEST_CASE("executions become samples of the models that they concern", "[models][db]")
{
    NEED_DATABASE();
    shelf x;
    error &err = x.err;
    CHECK_FALSE(x.waits());
    x.run("b", 2000);
    x.run("a", 1000);
    x.run("a", 1000); // the same run
    x.run("elsewhere", 1000, "t");
    x.run("nowhere", 1000, nullptr);
    x.run("failed", 1000, "s", 1);
    CHECK(x.samples(STORE_SAMPLES_NEW) == std::vector<std::string>{"a", "b"});
    CHECK(x.read().unlearnt_count == 2);
    CHECK(x.waits());
    x.advance();
    CHECK(x.samples(STORE_SAMPLES_NEW).empty());
    CHECK(x.samples(STORE_SAMPLES_KNOWN) == std::vector<std::string>{"a", "b"});
    CHECK_FALSE(x.waits());
    CHECK(x.read().version == 1);
    CHECK(std::string(x.read().state) == "trained");
    x.run("c", 1500);
    CHECK(x.samples(STORE_SAMPLES_NEW) == std::vector<std::string>{"c"});
    CHECK(x.samples(STORE_SAMPLES_ALL) == std::vector<std::string>{"a", "c", "b"});
    store_model_version v{};
    REQUIRE_OK(store_model_version_read(x.s, x.tenant, "m", 1, &v, x.a, &x.err));
    size_t count;
    CHECK(store_numbers_read(v.numbers, &count, x.a)[0] == 1.5);
    CHECK(count == 5);
}

TEST_CASE("a new model begins with the executions that are stored", "[models][db]")
{
    NEED_DATABASE();
    shelf x;
    x.run("a", 1000, "t");
    x.run("b", 2000, "t");
    store_model late = x.make("late", "app", "t", NAN);
    CHECK(late.unlearnt_count == 2);
    CHECK(x.make("phase", "app", "t", 3).unlearnt_count == 0);
    CHECK(x.make("other", "app2", "t", NAN).unlearnt_count == 0);
}

TEST_CASE("one claims a model at a time, and executions do not wait for it",
          "[models][db]")
{
    NEED_DATABASE();
    shelf x;
    error &err = x.err;
    test_session other(x.d);
    store_model_name name{x.tenant, "m"}, none{x.tenant, "none"};
    bool ours = false;

    x.run("a", 1000);
    CHECK(x.waits());
    REQUIRE_OK(store_model_claim(x.s, &name, 60, &ours, &x.err));
    CHECK(ours);
    CHECK_FALSE(x.waits());
    REQUIRE_OK(store_model_claim(other, &name, 60, &ours, &x.err));
    CHECK_FALSE(ours);
    x.run("b", 1001);
    CHECK(x.read().unlearnt_count == 2);
    REQUIRE_OK(store_model_claim_until(x.s, &name, 30, &x.err)); // kept up
    REQUIRE_OK(store_model_claim(other, &name, 60, &ours, &x.err));
    CHECK_FALSE(ours);
    REQUIRE_OK(store_model_claim_until(x.s, &name, 0, &x.err)); // given back
    CHECK(x.waits());
    REQUIRE_OK(store_model_claim_until(x.s, &name, 60, &x.err)); // there is none any more
    REQUIRE_OK(store_model_claim(other, &name, 0.05, &ours, &x.err));
    CHECK(ours);
    usleep(60000); // and ends by itself
    REQUIRE_OK(store_model_claim(x.s, &name, 60, &ours, &x.err));
    CHECK(ours);
    CHECK(x.read().generation == 1); // nobody's version has changed
    REQUIRE_OK(store_model_claim(x.s, &none, 60, &ours, &x.err));
    CHECK_FALSE(ours);
}

TEST_CASE("what is not committed is not learnt", "[models][db]")
{
    NEED_DATABASE();
    shelf x;
    error &err = x.err;
    x.run("a", 1000);
    REQUIRE_OK(db_begin(x.s, &x.err));
    store_model locked{};
    store_sample sample{};
    REQUIRE_OK(store_model_await(x.s, x.tenant, "m", &locked, x.a, &x.err));
    sample.execution_id = "a";
    sample.verdict = "fit";
    sample.predicted_s = sample.predicted_version = sample.version = NAN;
    store_model_version v{};
    v.cause = "train";
    v.state = "trained";
    v.summary = "{}";
    v.numbers = store_numbers(nullptr, 0, x.a);
    struct store_model_advance what {
        &v, nullptr, &sample, 1, false
    };
    REQUIRE_OK(store_model_advance(x.s, &locked, &what, x.a, &x.err));
    db_rollback(x.s); // as if the process had died
    CHECK(x.read().version == 0);
    CHECK(x.samples(STORE_SAMPLES_NEW) == std::vector<std::string>{"a"});
    CHECK(x.waits());
}

TEST_CASE("roll-backs abandon versions and leave out their samples", "[models][db]")
{
    NEED_DATABASE();
    shelf x;
    error &err = x.err;
    store_model out{};
    for (int i = 0; i < 4; i++) {
        x.run("run" + std::to_string(i), 1000 + i);
        x.advance();
    }
    CHECK(x.read().version == 4);
    uint64_t generation = x.read().generation;
    CHECK(store_model_roll_back(x.s, x.tenant, "m", generation + 1, 2, &out, x.a,
                                &x.err) == ERR_STALE);
    x.err = collecting_error(x.a);
    REQUIRE_OK(
        store_model_roll_back(x.s, x.tenant, "m", generation, 2, &out, x.a, &x.err));
    CHECK(out.version == 2);
    CHECK(out.last_version == 4);
    CHECK(query_number(x.s, x.a,
                       arena_printf(x.a,
                                    "SELECT count(*) FROM model_sample WHERE tenant ="
                                    " '%s' AND verdict = 'left_out'",
                                    x.tenant)) == 2);
    for (uint64_t version : {2, 3, 4, 5}) {
        CHECK(store_model_roll_back(x.s, x.tenant, "m", 0, version, &out, x.a, &x.err) ==
              ERR_CONFLICT);
        x.err = collecting_error(x.a);
    }
    x.run("next", 2000);
    x.advance();
    CHECK(x.read().version == 5);
    CHECK(store_model_roll_back(x.s, x.tenant, "m", 0, 3, &out, x.a, &x.err) ==
          ERR_CONFLICT);
    x.err = collecting_error(x.a);
    REQUIRE_OK(store_model_roll_back(x.s, x.tenant, "m", 0, 1, &out, x.a, &x.err));
    CHECK(out.version == 1);
}

TEST_CASE("old versions go, the current one never", "[models][db]")
{
    NEED_DATABASE();
    shelf x;
    error &err = x.err;
    for (int i = 0; i < STORE_MODEL_VERSIONS_KEPT + 5; i++)
        x.advance();
    CHECK(query_number(x.s, x.a,
                       arena_printf(x.a,
                                    "SELECT count(*) FROM model_version WHERE tenant ="
                                    " '%s'",
                                    x.tenant)) == (double)STORE_MODEL_VERSIONS_KEPT);
    store_model_version v{};
    REQUIRE_OK(
        store_model_version_read(x.s, x.tenant, "m", x.read().version, &v, x.a, &x.err));
    CHECK(store_model_version_read(x.s, x.tenant, "m", 1, &v, x.a, &x.err) ==
          ERR_NOT_FOUND);
}

TEST_CASE("a model that failed waits a while, and a deleted one for nothing",
          "[models][db]")
{
    NEED_DATABASE();
    shelf x(true);
    error &err = x.err;
    CHECK(x.waits());
    REQUIRE_OK(store_model_postpone(x.s, x.tenant, "m", "no luck", 60, &x.err));
    CHECK_FALSE(x.waits());
    CHECK(std::string(x.read().note) == "no luck");
    store_model out{};
    REQUIRE_OK(store_model_train(x.s, x.tenant, "m", 0, nullptr, &out, x.a, &x.err));
    CHECK(x.waits());
    REQUIRE_OK(store_model_delete(x.s, x.tenant, "m", 0, x.a, &x.err));
    CHECK_FALSE(x.waits());
    CHECK(store_model_read(x.s, x.tenant, "m", &out, x.a, &x.err) == ERR_NOT_FOUND);
    x.err = collecting_error(x.a);
    x.run("late", 1000);
    CHECK(query_number(x.s, x.a,
                       arena_printf(x.a,
                                    "SELECT count(*) FROM model_sample WHERE tenant ="
                                    " '%s'",
                                    x.tenant)) == 0);
}

TEST_CASE("models made while executions are stored miss none", "[models][db][threads]")
{
    NEED_DATABASE();
    shelf x;
    error &err = x.err;
    std::vector<std::thread> threads;
    const int each = 60;

    for (int k = 0; k < 3; k++)
        threads.emplace_back([&, k] {
            test_session s(x.d);
            error failed{};
            for (int i = 0; i < each; i++) {
                std::string id = std::to_string(k) + "-" + std::to_string(i);
                execution e{};
                size_t stored;
                e.execution_id = id.c_str();
                e.application_id = "app";
                e.site_id = "busy";
                e.started_at_s = 1000 + i;
                e.run_time_s = e.processors = 1;
                e.phase_index = e.problem_size = e.cpu_available_ratio = NAN;
                e.bandwidth_mbps = e.memory_peak_bytes = e.exit_code = NAN;
                e.predicted_s = e.model_version = NAN;
                record_add(s, x.tenant, &execution_record, &e, 1, s.a, &failed, &stored);
            }
        });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    x.make("busy", "app", "busy", NAN);
    for (std::thread &t : threads)
        t.join();
    store_model out{};
    REQUIRE_OK(store_model_read(x.s, x.tenant, "busy", &out, x.a, &x.err));
    CHECK(out.unlearnt_count == 3 * each);
}

TEST_CASE("tenants do not see each other's models", "[models][db]")
{
    NEED_DATABASE();
    shelf one, two;
    error &err = one.err;
    store_model out{};
    one.run("a", 1000);
    CHECK(one.read().unlearnt_count == 1);
    CHECK(two.read().unlearnt_count == 0);
    REQUIRE_OK(store_model_delete(one.s, one.tenant, "m", 0, one.a, &one.err));
    CHECK(two.read().version == 0);
    CHECK(store_model_read(two.s, "nobody", "m", &out, two.a, &two.err) == ERR_NOT_FOUND);
}
