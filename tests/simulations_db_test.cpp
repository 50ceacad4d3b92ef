// simulations_db_test.cpp - the queue of simulations that run without a client, and
// the thread that works it off; with routes of the test's own.
#include "tests/database.hpp"
#include "tests/test_governor.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

extern "C" {
#include "service/background.h"
#include "service/config.h"
#include "service/store_simulation.h"
#include "service/uuid.h"
}

namespace
{
std::string new_uuid()
{
    char text[UUID_TEXT_SIZE];

    uuid_make(text);
    return text;
}

bool eventually(const std::function<bool()> &condition)
{
    for (int i = 0; i < 6000; i++) {
        if (condition())
            return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

// An empty queue.
struct queue : store_fixture {
    queue()
    {
        REQUIRE_OK(db_execute(s, "DELETE FROM simulation", &err));
    }
    std::string add(const std::string &request = "{}", const char *route = "/v1/sleep",
                    const char *kind = nullptr)
    {
        std::string id = new_uuid();
        store_simulation wanted{}, out{};
        unsigned char digest[32] = {0};

        wanted.simulation_id = arena_printf(a, "%s", id.c_str());
        wanted.route = route;
        wanted.kind = kind;
        wanted.request = arena_printf(a, "%s", request.c_str());
        REQUIRE_OK(store_simulation_create(s, tenant, &wanted, {digest, sizeof(digest)},
                                           &out, a, &err));
        CHECK(std::string(out.status) == "queued");
        return id;
    }
    store_simulation read(const std::string &id)
    {
        store_simulation out{};
        REQUIRE_OK(store_simulation_read(s, tenant, id.c_str(), &out, a, &err));
        return out;
    }
    std::string status(const std::string &id)
    {
        return read(id).status;
    }
    bool claim(const std::string &owner, store_simulation *out, double lease_s = 3600)
    {
        bool found = false;
        REQUIRE_OK(
            store_simulation_claim(s, owner.c_str(), lease_s, &found, out, a, &err));
        return found;
    }
    // As if the owner had been silent for so long.
    void end_leases()
    {
        REQUIRE_OK(db_execute(
            s, "UPDATE simulation SET lease_until = now() - interval '1 second'", &err));
    }
    bool renew(const std::string &owner, const store_simulation &claimed,
               bool *cancel = nullptr)
    {
        store_progress half{0.5, 1000, 1};
        bool held = false, wanted = false;
        REQUIRE_OK(store_simulation_renew(s, owner.c_str(), &claimed, 3600, &half, &held,
                                          &wanted, a, &err));
        if (cancel)
            *cancel = wanted;
        return held;
    }
    void finish(const std::string &owner, const store_simulation &claimed,
                const char *status, const char *result)
    {
        store_progress all{1, 2000, 2};
        REQUIRE_OK(store_simulation_finish(s, owner.c_str(), &claimed, status, result,
                                           nullptr, &all, &err));
    }
};
} // namespace

TEST_CASE("a simulation is queued, claimed, renewed and finished", "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::string owner = new_uuid(), id = q.add(R"({"seed":1})");
    store_simulation claimed{};

    REQUIRE(q.claim(owner, &claimed));
    CHECK(claimed.simulation_id == id);
    CHECK(std::string(claimed.tenant) == q.tenant);
    CHECK(std::string(claimed.request) == R"({"seed":1})");
    CHECK(std::string(claimed.route) == "/v1/sleep");
    CHECK(claimed.attempt_count == 1);
    CHECK(q.status(id) == "running");
    REQUIRE(q.renew(owner, claimed));
    CHECK(q.read(id).progress.ratio == 0.5);
    CHECK(q.read(id).progress.event_count == 1000);
    q.finish(owner, claimed, "done", R"({"x":1})");
    store_simulation end = q.read(id);
    CHECK(std::string(end.status) == "done");
    CHECK(std::string(end.result) == R"({"x":1})");
    CHECK(end.progress.run_count == 2);
    CHECK(std::isfinite(end.finished_at_s));
    CHECK_FALSE(q.renew(owner, claimed));
    CHECK_FALSE(q.claim(new_uuid(), &claimed));
}

TEST_CASE("the one that waits longest is claimed first, and each once",
          "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::string first = q.add(), second = q.add();
    store_simulation one{}, two{}, three{};

    REQUIRE(q.claim(new_uuid(), &one));
    REQUIRE(q.claim(new_uuid(), &two));
    CHECK(one.simulation_id == first);
    CHECK(two.simulation_id == second);
    CHECK_FALSE(q.claim(new_uuid(), &three));
}

TEST_CASE("many who claim at the same time get different ones", "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    constexpr int COUNT = 12;
    std::vector<std::thread> threads;
    std::vector<std::string> got(4 * COUNT);

    for (int i = 0; i < COUNT; i++)
        q.add();
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            test_session s(q.d);
            for (int i = 0; i < COUNT; i++) {
                store_simulation out{};
                error err{};
                bool found = false;
                std::string owner = new_uuid();
                if (store_simulation_claim(s, owner.c_str(), 3600, &found, &out, s.a,
                                           &err) == OK &&
                    found)
                    got[(size_t)(t * COUNT + i)] = out.simulation_id;
            }
        });
    for (auto &t : threads)
        t.join();
    std::sort(got.begin(), got.end());
    got.erase(got.begin(),
              std::find_if(got.begin(), got.end(), [](auto &id) { return !id.empty(); }));
    CHECK(got.size() == COUNT);
    CHECK(std::unique(got.begin(), got.end()) == got.end());
}

TEST_CASE("a simulation whose owner is silent is taken up by the next",
          "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::string dead = new_uuid(), next = new_uuid(), id = q.add();
    store_simulation first{}, second{};

    REQUIRE(q.claim(dead, &first));
    REQUIRE(q.renew(dead, first));
    CHECK_FALSE(q.claim(next, &second));
    q.end_leases();
    REQUIRE(q.claim(next, &second));
    CHECK(second.simulation_id == id);
    CHECK(second.attempt_count == 2);
    CHECK(q.read(id).progress.ratio == 0);
    // The dead one comes back to life: nothing of it counts.
    CHECK_FALSE(q.renew(dead, first));
    q.finish(dead, first, "done", "1");
    CHECK(q.status(id) == "running");
    q.finish(next, second, "done", "2");
    CHECK(std::string(q.read(id).result) == "2");
}

TEST_CASE("what is given back waits as if nobody had had it", "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::string owner = new_uuid(), id = q.add();
    store_simulation claimed{};

    REQUIRE(q.claim(owner, &claimed));
    REQUIRE(store_simulation_release(q.s, owner.c_str(), &claimed, &q.err) == OK);
    CHECK(q.status(id) == "queued");
    CHECK(q.read(id).attempt_count == 0);
    CHECK(std::isnan(q.read(id).started_at_s));
    REQUIRE(q.claim(new_uuid(), &claimed));
    CHECK(claimed.attempt_count == 1);
}

TEST_CASE("parts that are complete are there for the next owner, and gone at the end",
          "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::string dead = new_uuid(), next = new_uuid(), id = q.add(), other = q.add();
    store_simulation first{}, second{};
    const unsigned char bytes[] = {0, 1, 255};
    auto keep = [&](const std::string &owner, uint64_t number, size_t length) {
        store_part part = {number, {bytes, length}};
        REQUIRE(OK == store_simulation_keep(q.s, owner.c_str(), &first, &part, &q.err));
    };
    auto parts = [&](const store_simulation &of) {
        const store_part *list = nullptr;
        size_t count = 0;
        REQUIRE(OK == store_simulation_parts(q.s, &of, &list, &count, q.a, &q.err));
        return std::vector<store_part>(list, list + count);
    };
    auto left = [&] {
        struct row {
            double count;
        };
        const db_column columns[] = {{"count", DB_NUMBER, offsetof(row, count)}, {}};
        const db_statement count = {
            "count_parts", "SELECT count(*)::double precision FROM simulation_part", 0};
        row r{};
        bool is_there = false;
        REQUIRE(OK == db_row(q.s, &count, nullptr, columns, sizeof(r), &r, &is_there, q.a,
                             &q.err));
        return r.count;
    };

    REQUIRE(q.claim(dead, &first));
    CHECK(parts(first).empty());
    keep(dead, 7, 3);
    keep(dead, 2, 1);
    keep(dead, 2, 3); // it is there
    keep(next, 8, 3); // not its own
    REQUIRE(q.renew(dead, first));
    q.end_leases();
    REQUIRE(q.claim(next, &second));
    CHECK(second.simulation_id == id);
    CHECK(second.progress.ratio == 0.5); // it goes on from there
    CHECK(second.progress.run_count == 1);
    keep(dead, 9, 3); // too late
    std::vector<store_part> found = parts(second);
    REQUIRE(found.size() == 2);
    CHECK(found[0].number == 2);
    CHECK(found[0].content.length == 1);
    CHECK(found[1].number == 7);
    CHECK(memcmp(found[1].content.data, bytes, 3) == 0);
    store_parts all = {found.data(), found.size(), nullptr, nullptr};
    CHECK(store_parts_find(&all, 7) == &found[1]);
    CHECK(store_parts_find(&all, 3) == nullptr);
    CHECK(store_parts_find(nullptr, 7) == nullptr);

    REQUIRE(OK == store_simulation_release(q.s, next.c_str(), &second, &q.err));
    CHECK(q.read(id).progress.ratio == 0.5);
    SECTION("finished")
    {
        REQUIRE(q.claim(next, &second));
        // what was not kept is played again: that it is further is told from there on
        bool held = false, wanted = false;
        for (store_progress now : {store_progress{0.25, 10, 0}, {0.75, 3000, 1}}) {
            REQUIRE(OK == store_simulation_renew(q.s, next.c_str(), &second, 3600, &now,
                                                 &held, &wanted, q.a, &q.err));
            CHECK(held);
            CHECK(q.read(id).progress.ratio == std::max(0.5, now.ratio));
            CHECK(q.read(id).progress.event_count ==
                  std::max((uint64_t)1000, now.event_count));
            CHECK(q.read(id).progress.run_count == 1);
        }
        q.finish(dead, first, "done", "1");
        CHECK(left() == 2);
        q.finish(next, second, "done", "1");
        CHECK(q.status(id) == "done");
        CHECK(left() == 0);
    }
    SECTION("cancelled while it waits")
    {
        bool is_there = false;
        store_simulation now{};
        REQUIRE(OK == store_simulation_cancel(q.s, q.tenant, id.c_str(), &is_there, &now,
                                              q.a, &q.err));
        CHECK(is_there);
        CHECK(std::string(now.status) == "cancelled");
        CHECK(left() == 0);
    }
}

TEST_CASE("cancelling depends on who runs it", "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::string owner = new_uuid(), id = q.add();
    store_simulation claimed{}, now{};
    bool found = false, cancel = false;
    auto cancel_it = [&] {
        REQUIRE(store_simulation_cancel(q.s, q.tenant, id.c_str(), &found, &now, q.a,
                                        &q.err) == OK);
        return found ? std::string(now.status) : "none";
    };

    SECTION("waiting: at once")
    {
        CHECK(cancel_it() == "cancelled");
        CHECK_FALSE(q.claim(owner, &claimed));
        CHECK(cancel_it() == "none");
    }
    SECTION("running: its owner is told, and what it has then is kept")
    {
        REQUIRE(q.claim(owner, &claimed));
        CHECK(cancel_it() == "running");
        CHECK(now.cancel_requested);
        REQUIRE(q.renew(owner, claimed, &cancel));
        CHECK(cancel);
        q.finish(owner, claimed, "cut", "{}");
        CHECK(q.status(id) == "cancelled");
        CHECK(std::string(q.read(id).result) == "{}");
    }
    SECTION("running, and it was faster: done stays done")
    {
        REQUIRE(q.claim(owner, &claimed));
        CHECK(cancel_it() == "running");
        q.finish(owner, claimed, "done", "{}");
        CHECK(q.status(id) == "done");
    }
    SECTION("left by a dead owner: at once")
    {
        REQUIRE(q.claim(owner, &claimed));
        q.end_leases();
        CHECK(cancel_it() == "cancelled");
        CHECK_FALSE(q.renew(owner, claimed));
    }
    SECTION("no such simulation")
    {
        id = new_uuid();
        CHECK(cancel_it() == "none");
        id = "no uuid";
        CHECK(cancel_it() == "none");
    }
}

TEST_CASE("only finished simulations are deleted", "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::string id = q.add();
    store_simulation now{};
    bool found;

    CHECK(store_simulation_delete(q.s, q.tenant, id.c_str(), q.a, &q.err) ==
          ERR_CONFLICT);
    REQUIRE(store_simulation_cancel(q.s, q.tenant, id.c_str(), &found, &now, q.a,
                                    &q.err) == OK);
    CHECK(store_simulation_delete(q.s, "somebody else", id.c_str(), q.a, &q.err) ==
          ERR_NOT_FOUND);
    CHECK(store_simulation_delete(q.s, q.tenant, id.c_str(), q.a, &q.err) == OK);
    CHECK(store_simulation_read(q.s, q.tenant, id.c_str(), &now, q.a, &q.err) ==
          ERR_NOT_FOUND);
}

TEST_CASE("simulations are listed newest first, in pages", "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::vector<std::string> ids, seen;
    const char *token = nullptr;

    for (int i = 0; i < 5; i++)
        ids.push_back(q.add());
    std::reverse(ids.begin(), ids.end());
    do {
        store_page page{token, 2};
        const store_simulation *list = nullptr;
        size_t count = 0;
        REQUIRE(store_simulations_list(q.s, q.tenant, "queued", nullptr, &page, &list,
                                       &count, &token, q.a, &q.err) == OK);
        for (size_t i = 0; i < count; i++)
            seen.push_back(list[i].simulation_id);
    } while (token);
    CHECK(seen == ids);
    store_page page{nullptr, 10};
    const store_simulation *list = nullptr;
    size_t count = 1;
    REQUIRE(store_simulations_list(q.s, q.tenant, "done", nullptr, &page, &list, &count,
                                   &token, q.a, &q.err) == OK);
    CHECK(count == 0);
}

TEST_CASE("simulations are listed by their kind", "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::string grid = q.add("{}", "/v1/sleep", "grid");
    std::string old = q.add(), cluster = q.add("{}", "/v1/sleep", "cluster");
    auto listed = [&](const char *status, const char *kind) {
        store_page page{nullptr, 10};
        const store_simulation *list = nullptr;
        size_t count = 0;
        const char *token = nullptr;
        std::vector<std::string> ids;
        REQUIRE(store_simulations_list(q.s, q.tenant, status, kind, &page, &list, &count,
                                       &token, q.a, &q.err) == OK);
        for (size_t i = 0; i < count; i++) {
            ids.push_back(list[i].simulation_id);
            CHECK(std::string(list[i].kind ? list[i].kind : "none") ==
                  (ids[i] == grid  ? "grid"
                   : ids[i] == old ? "none"
                                   : "cluster"));
        }
        return ids;
    };

    CHECK(listed(nullptr, "grid") == std::vector<std::string>{grid});
    CHECK(listed("queued", "cluster") == std::vector<std::string>{cluster});
    CHECK(listed("done", "cluster").empty());
    CHECK(listed(nullptr, "queue").empty());
    CHECK(listed(nullptr, nullptr) == std::vector<std::string>{cluster, old, grid});
    CHECK(std::string(q.read(grid).kind) == "grid");
    CHECK(q.read(old).kind == nullptr);
}

TEST_CASE("a tenant cannot queue simulations without end", "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::string id = q.add();

    std::string copies =
        "INSERT INTO simulation (tenant, simulation_id, created_at, route, request, "
        "request_sha256, status, progress_ratio, event_count, run_count, attempt_count, "
        "cancel_requested) SELECT tenant, gen_random_uuid(), created_at, route, request, "
        "request_sha256, status, 0, 0, 0, 0, false FROM simulation, "
        "generate_series(2, 1000)";
    REQUIRE(db_execute(q.s, copies.c_str(), &q.err) == OK);
    store_simulation wanted{}, out{};
    unsigned char digest[32] = {0};
    std::string other = new_uuid();
    wanted.simulation_id = other.c_str();
    wanted.route = "/v1/sleep";
    wanted.request = "{}";
    CHECK(store_simulation_create(q.s, q.tenant, &wanted, {digest, 32}, &out, q.a,
                                  &q.err) == ERR_BUSY);
    CHECK(q.err.retry_after_s > 0);
    CHECK(store_simulation_create(q.s, "another tenant", &wanted, {digest, 32}, &out, q.a,
                                  &q.err) == OK);
    REQUIRE(db_execute(q.s, "DELETE FROM simulation", &q.err) == OK);
}

TEST_CASE("uploads are stored, listed, read back byte for byte and deleted",
          "[simulations][db]")
{
    NEED_DATABASE();
    store_fixture f;
    const unsigned char bytes[] = {'1', ' ', 0xff, 0, '\n'};
    auto kind = GENERATE(STORE_WORKLOAD, STORE_FAILURE_TRACE);
    store_trace trace{}, out{};
    const char *token = nullptr;

    trace.format = "swf";
    trace.document = {bytes, sizeof(bytes)};
    trace.line_count = 3;
    trace.record_count = 2;
    trace.skipped_count = 1;
    trace.summary = "{}";
    for (const char *id : {"b", "a"}) {
        trace.trace_id = id;
        REQUIRE(store_trace_create(f.s, f.tenant, kind, &trace, &out, f.a, &f.err) == OK);
        CHECK(out.document_bytes == sizeof(bytes));
    }
    CHECK(store_trace_create(f.s, f.tenant, kind, &trace, &out, f.a, &f.err) ==
          ERR_CONFLICT);
    REQUIRE(store_trace_read(f.s, f.tenant, kind, "a", true, &out, f.a, &f.err) == OK);
    REQUIRE(out.document.length == sizeof(bytes));
    CHECK(memcmp(out.document.data, bytes, sizeof(bytes)) == 0);
    CHECK(out.record_count == 2);
    REQUIRE(store_trace_read(f.s, f.tenant, kind, "a", false, &out, f.a, &f.err) == OK);
    CHECK(out.document.data == nullptr);
    store_page page{nullptr, 1};
    const store_trace *list = nullptr;
    size_t count = 0;
    REQUIRE(store_traces_list(f.s, f.tenant, kind, &page, &list, &count, &token, f.a,
                              &f.err) == OK);
    REQUIRE(count == 1);
    CHECK(std::string(list[0].trace_id) == "a");
    REQUIRE(token);
    page.token = token;
    REQUIRE(store_traces_list(f.s, f.tenant, kind, &page, &list, &count, &token, f.a,
                              &f.err) == OK);
    REQUIRE(count == 1);
    CHECK(std::string(list[0].trace_id) == "b");
    CHECK_FALSE(token);
    CHECK(store_trace_delete(f.s, f.tenant, kind, "a", &f.err) == OK);
    CHECK(store_trace_delete(f.s, f.tenant, kind, "a", &f.err) == ERR_NOT_FOUND);
    CHECK(store_trace_read(f.s, f.tenant, kind, "a", true, &out, f.a, &f.err) ==
          ERR_NOT_FOUND);
}

// ---- the thread ----

namespace
{
// What the test's route does: goes on until it is stopped, or not.
struct order {
    const char *wish; // "end", "fail", "run"
    double number;
};
struct echo {
    double number;
};

std::atomic<int> begun{0};

error_code post_order(request *rq, const void *in, void *out)
{
    auto *wanted = static_cast<const order *>(in);
    store_progress progress{0.25, 10, 0};

    begun++;
    if (!rq->progress) // no REQUIRE: Catch2 has one thread
        return fail(rq->err, ERR_INTERNAL, "", "no progress to write to");
    progress_write(rq->progress, progress);
    static_cast<echo *>(out)->number = wanted->number;
    rq->decision_status = DECISION_FEASIBLE;
    if (strcmp(wanted->wish, "fail") == 0)
        return invalid(rq->err, "/wish", ITEM_CONFLICT, "as you wish");
    while (strcmp(wanted->wish, "run") == 0 && !budget_spent(&rq->budget))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (strcmp(wanted->wish, "run") == 0)
        rq->decision_status = DECISION_CUT;
    progress_write(rq->progress, {1, 20, 1});
    return OK;
}

json_field text_row(const char *name, size_t offset)
{
    json_field f{};
    f.name = name;
    f.doc = "";
    f.type = JSON_TYPE_TEXT;
    f.offset = offset;
    f.max = 10;
    return f;
}
json_field number_row(const char *name, size_t offset)
{
    json_field f{};
    f.name = name;
    f.doc = "";
    f.type = JSON_TYPE_NUMBER;
    f.offset = offset;
    f.max = 1e9;
    return f;
}
const json_field order_rows[] = {text_row("wish", offsetof(order, wish)),
                                 number_row("number", offsetof(order, number)),
                                 {}};
const json_object order_json = {"Order", "", sizeof(order), order_rows};
const json_field echo_rows[] = {number_row("number", offsetof(echo, number)), {}};
const json_object echo_json = {"Echo", "", sizeof(echo), echo_rows};
const route order_routes[] = {{"POST", "/v1/order", "order", nullptr, post_order,
                               &order_json, &echo_json, nullptr, WORK_COMPUTE,
                               SCOPE_DECIDE, ROUTE_ASYNC, "", "", nullptr},
                              {}};

// A replica with a database pool of its own.
struct replica {
    test_db d;
    config settings{};
    service handles{};
    background *b = nullptr;
    error err{};

    explicit replica(double lease_s = 30)
    {
        settings.request_memory_bytes = size_t{1} << 26;
        settings.simulation_time_limit_s = 600;
        settings.time_limit_max_s = 600;
        handles.config = &settings;
        handles.db = d;
        handles.routes = order_routes;
        handles.governor = test_governor(2, 8);
        REQUIRE(handles.governor);
        background_options options{};
        options.at_once = 2;
        options.lease_s = lease_s;
        options.poll_s = 0.02;
        REQUIRE(background_create(&handles, &options, &b, &err) == OK);
    }
    void close()
    {
        background_close(b);
        governor_close(handles.governor);
        b = nullptr;
        handles.governor = nullptr;
    }
    ~replica()
    {
        close();
    }
};
} // namespace

TEST_CASE("what is queued is answered without a client", "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::string good = q.add(R"({"wish":"end","number":7})", "/v1/order");
    std::string bad = q.add(R"({"wish":"fail","number":8})", "/v1/order");
    std::string odd = q.add("{}", "/v1/nowhere");
    replica r;

    REQUIRE(eventually([&] {
        return q.status(good) == "done" && q.status(bad) == "failed" &&
               q.status(odd) == "failed";
    }));
    CHECK(std::string(q.read(good).result) == R"({"number":7})");
    CHECK(q.read(good).progress.event_count == 20);
    CHECK_THAT(q.read(bad).error, Catch::Contains("as you wish"));
    CHECK(q.read(bad).result == nullptr);
    CHECK_THAT(q.read(odd).error, Catch::Contains("/v1/nowhere"));
}

TEST_CASE("progress is seen, and a cancelled one keeps what it has", "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    replica r(0.5);
    std::string id = q.add(R"({"wish":"run","number":9})", "/v1/order");
    store_simulation now{};
    bool found;

    background_wake(r.b);
    REQUIRE(eventually([&] { return q.read(id).progress.ratio == 0.25; }));
    CHECK(q.status(id) == "running");
    CHECK(background_running_count(r.b) == 1);
    REQUIRE(store_simulation_cancel(q.s, q.tenant, id.c_str(), &found, &now, q.a,
                                    &q.err) == OK);
    CHECK(found);
    REQUIRE(eventually([&] { return q.status(id) == "cancelled"; }));
    CHECK(std::string(q.read(id).result) == R"({"number":9})");
}

TEST_CASE("a process that ends in order gives its simulations back", "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    auto first = std::make_unique<replica>();
    std::string id = q.add(R"({"wish":"run","number":9})", "/v1/order");

    REQUIRE(eventually([&] { return q.status(id) == "running"; }));
    bool draining = GENERATE(true, false);
    if (draining) { // SIGTERM: long before the end
        __atomic_store_n(&first->handles.draining, true, __ATOMIC_RELAXED);
        REQUIRE(eventually([&] { return q.status(id) == "queued"; }));
    }
    first->close();
    CHECK(q.status(id) == "queued");
    CHECK(q.read(id).attempt_count == 0);
    int before = begun;
    replica second;
    REQUIRE(eventually([&] { return q.status(id) == "running" && begun > before; }));
}

TEST_CASE("a simulation that was lost to another is stopped", "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    replica r(0.5);
    std::string id = q.add(R"({"wish":"run","number":9})", "/v1/order");
    std::string owner = new_uuid();

    REQUIRE(eventually([&] { return background_running_count(r.b) == 1; }));
    REQUIRE(db_execute(q.s,
                       ("UPDATE simulation SET owner_id = '" + owner +
                        "', lease_until = now() + interval '1 hour'")
                           .c_str(),
                       &q.err) == OK);
    REQUIRE(eventually([&] { return background_running_count(r.b) == 0; }));
    CHECK(q.status(id) == "running");
}

TEST_CASE("a simulation that takes its processes with it is given up",
          "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::string id = q.add(R"({"wish":"end","number":1})", "/v1/order");
    store_simulation claimed{};
    int before = begun;

    for (int i = 0; i < BACKGROUND_ATTEMPTS_MAX; i++) {
        REQUIRE(q.claim(new_uuid(), &claimed));
        q.end_leases();
    }
    replica r;
    REQUIRE(eventually([&] { return q.status(id) == "failed"; }));
    CHECK(begun == before);
    CHECK_THAT(q.read(id).error, Catch::Contains("memory"));
}

TEST_CASE("a cancelled simulation of a dead process is not begun again",
          "[simulations][db]")
{
    NEED_DATABASE();
    queue q;
    std::string id = q.add(R"({"wish":"run","number":1})", "/v1/order");
    store_simulation claimed{};
    int before = begun;

    REQUIRE(q.claim(new_uuid(), &claimed));
    REQUIRE(db_execute(q.s, "UPDATE simulation SET cancel_requested = true", &q.err) ==
            OK);
    q.end_leases();
    replica r;
    REQUIRE(eventually([&] { return q.status(id) == "cancelled"; }));
    CHECK(begun == before);
}

TEST_CASE("Prefer is read as RFC 7240 writes it", "[simulations]")
{
    struct {
        const char *text;
        bool async;
        double wait_s;
    } cases[] = {
        {nullptr, false, NAN},
        {"", false, NAN},
        {"respond-async", true, NAN},
        {"Respond-Async", true, NAN},
        {"respond-async, wait=10", true, 10},
        {"wait=10,respond-async", true, 10},
        {"wait=3, wait=10", false, 3},
        {"return=minimal; foo=\"bar\", respond-async;x=1 , wait=7;y", true, 7},
        {"respond-asynchronously", false, NAN},
        {"wait=x", false, NAN},
        {"wait=-1", false, NAN},
        {"wait=", false, NAN},
        {",,, ", false, NAN},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION((c.text ? c.text : "(none)"))
        {
            preference p = preference_read(c.text);
            CHECK(p.respond_async == c.async);
            CHECK((std::isnan(c.wait_s) ? std::isnan(p.wait_s) : p.wait_s == c.wait_s));
        }
}
