// idempotency_test.cpp - long computations under an Idempotency-Key: who has the key, who
// waits, what is given again; with a database and without.
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/db_proxy.hpp"

#include <atomic>
#include <thread>

extern "C" {
#include "service/idempotency.h"
#include "service/store_attempt.h"
}

namespace
{
const char body_a[] = "12345678901234567890123456789012";
const char body_b[] = "x2345678901234567890123456789012";
std::string unique_key()
{
    char text[UUID_TEXT_SIZE];
    uuid_make(text);
    return text;
}

store_attempt attempt_of(const store_fixture &f, const char *key, const char *digest,
                         const char *owner_id, const char *route = "/v1/placements")
{
    return {f.tenant, key, route, {(const unsigned char *)digest, 32}, owner_id};
}

store_answer answer_of(const char *text)
{
    store_answer a{};
    a.status = 200;
    a.content_type = "application/json";
    a.body = {(const unsigned char *)text, strlen(text)};
    return a;
}

std::string text_of(const store_answer &a)
{
    return std::string((const char *)a.body.data, a.body.length);
}

struct publication {
    store_attempt attempt;
    store_answer answer;
    bool published;
};

error_code publish(db_session *s, void *context, error *err)
{
    auto *p = static_cast<publication *>(context);
    return store_attempt_publish(s, &p->attempt, &p->answer, &p->published, err);
}

// What a test needs of one attempt.
struct trial {
    store_fixture &f;
    store_attempt attempt;
    attempt_state state = ATTEMPT_FREE;
    uint64_t begun = 0;
    store_answer found{};

    error_code reserve(double lease_s)
    {
        f.err = error{};
        f.err.arena = f.a;
        return store_attempt_reserve(f.s, &attempt, lease_s, &state, &begun, &found, f.a,
                                     &f.err);
    }
    error_code look()
    {
        f.err = error{};
        f.err.arena = f.a;
        return store_attempt_look(f.s, &attempt, &state, &found, f.a, &f.err);
    }
    bool publishes(const char *text)
    {
        publication p{attempt, answer_of(text), false};
        error &err = f.err;
        REQUIRE_OK(db_transaction(f.s, publish, &p, &err));
        return p.published;
    }
};

void age(store_fixture &f, const char *what)
{
    error &err = f.err;
    REQUIRE_OK(db_execute(f.s,
                          ("UPDATE idempotency_key SET " + std::string(what) +
                           " WHERE tenant = '" + f.tenant_text + "'")
                              .c_str(),
                          &err));
}
} // namespace

TEST_CASE("a key is one attempt's until its lease is over", "[idempotency][db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    const std::string first_id = unique_key(), second_id = unique_key();
    const char *one_id = first_id.c_str(), *two_id = second_id.c_str();
    trial one{f, attempt_of(f, "k", body_a, one_id)},
        two{f, attempt_of(f, "k", body_a, two_id)},
        other{f, attempt_of(f, "k", body_b, two_id)},
        elsewhere{f, attempt_of(f, "k", body_a, two_id, "/v1/reschedules")};

    REQUIRE_OK(one.reserve(15));
    CHECK(one.state == ATTEMPT_OURS);
    CHECK(one.begun == 1);
    REQUIRE_OK(two.reserve(15));
    CHECK(two.state == ATTEMPT_RUNNING);
    CHECK(other.reserve(15) == ERR_INVALID);
    REQUIRE(err.first);
    CHECK(std::string(item_kinds[err.first->code].name) == "key_reused");
    CHECK(std::string(err.first->name) == "Idempotency-Key");
    CHECK(elsewhere.reserve(15) == ERR_INVALID);
    REQUIRE_OK(one.look());
    CHECK(one.state == ATTEMPT_OURS);

    SECTION("published: both have the same answer")
    {
        CHECK(one.publishes("{\"a\":1}"));
        CHECK_FALSE(one.publishes("{\"a\":2}"));
        REQUIRE_OK(two.reserve(15));
        CHECK(two.state == ATTEMPT_DONE);
        CHECK(text_of(two.found) == "{\"a\":1}");
        CHECK(other.reserve(15) == ERR_INVALID);
        CHECK(two.begun == 0);
        REQUIRE_OK(store_answer_repeat(f.s, f.tenant, "k", &err));
        CHECK(query_number(f.s, f.a,
                           ("SELECT replay_count FROM idempotency_key WHERE tenant = '" +
                            f.tenant_text + "'")
                               .c_str()) == 1);
        // After a day it is a new request, whatever it asks.
        age(f, "created_at = now() - interval '25 hours'");
        REQUIRE_OK(other.reserve(15));
        CHECK(other.state == ATTEMPT_OURS);
        CHECK(other.begun == 1);
    }
    SECTION("its lease over: taken over, and the first one publishes no more")
    {
        age(f, "lease_until = now() - interval '1 second'");
        CHECK(other.reserve(15) == ERR_INVALID);
        REQUIRE_OK(two.look());
        CHECK(two.state == ATTEMPT_FREE);
        REQUIRE_OK(two.reserve(15));
        CHECK(two.state == ATTEMPT_OURS);
        CHECK(two.begun == 2);
        CHECK_FALSE(one.publishes("{\"a\":1}"));
        CHECK(two.publishes("{\"a\":2}"));
        REQUIRE_OK(one.look());
        CHECK(one.state == ATTEMPT_DONE);
        CHECK(text_of(one.found) == "{\"a\":2}");
    }
    SECTION("renewed: it goes on, and what is not there is not listed")
    {
        store_owner *held;
        size_t count;
        std::string ids = std::string("{") + two_id + "," + one_id + "}";
        age(f, "lease_until = now() - interval '1 second'");
        REQUIRE_OK(store_attempts_renew(f.s, ids.c_str(), 15, &held, &count, f.a, &err));
        REQUIRE(count == 1);
        CHECK(std::string(held[0].owner_id) == one_id);
        REQUIRE_OK(two.reserve(15));
        CHECK(two.state == ATTEMPT_RUNNING);
    }
    SECTION("given back: nobody has it")
    {
        REQUIRE_OK(store_attempt_release(f.s, two_id, &err)); // not its own
        REQUIRE_OK(two.reserve(15));
        CHECK(two.state == ATTEMPT_RUNNING);
        REQUIRE_OK(store_attempt_release(f.s, one_id, &err));
        CHECK_FALSE(one.publishes("{\"a\":1}"));
        REQUIRE_OK(two.look());
        CHECK(two.state == ATTEMPT_FREE);
        REQUIRE_OK(two.reserve(15));
        CHECK(two.state == ATTEMPT_OURS);
        CHECK(two.begun == 1);
    }
    SECTION("a request that only stores has it: running")
    {
        test_session second(f.d);
        store_answer got{};
        bool found = true;
        REQUIRE_OK(db_begin(second, &err));
        REQUIRE_OK(store_answer_find(second, f.tenant, "other", "/v1/placements",
                                     one.attempt.request_sha256, &found, &got, f.a,
                                     &err));
        CHECK_FALSE(found);
        trial third{f, attempt_of(f, "other", body_a, two_id)};
        REQUIRE_OK(third.reserve(15));
        CHECK(third.state == ATTEMPT_RUNNING);
        // And the other way round: 409, not a wait.
        CHECK(store_answer_find(second, f.tenant, "k", "/v1/placements",
                                one.attempt.request_sha256, &found, &got, f.a,
                                &err) == ERR_CONFLICT);
        CHECK(err.retry_after_s == 1);
        db_rollback(second);
    }
}

TEST_CASE("many attempts with short leases: each key is published once",
          "[idempotency][db]")
{
    NEED_DATABASE();
    store_fixture f;
    constexpr int KEYS = 20, CALLERS = 4;
    std::atomic<int> published[KEYS]{}, calls{0};
    std::vector<std::thread> threads;

    for (int c = 0; c < CALLERS; c++)
        threads.emplace_back([&, c] {
            test_arena a;
            unsigned random = (unsigned)c * 7919 + 17;
            for (int k = 0; k < KEYS; k++)
                for (bool done = false; !done;) {
                    test_session s(f.d);
                    error err{};
                    std::string id = unique_key(), key = "race" + std::to_string(k);
                    store_attempt t = attempt_of(f, key.c_str(), body_a, id.c_str());
                    attempt_state state;
                    uint64_t begun;
                    store_answer found{};
                    calls++;
                    if (store_attempt_reserve(s, &t, 0.004, &state, &begun, &found, s.a,
                                              &err) != OK)
                        continue;
                    done = state == ATTEMPT_DONE;
                    random = random * 1664525 + 1013904223;
                    if (state != ATTEMPT_OURS || random >> 30 == 0) // killed
                        continue;
                    usleep(random >> 18 & 8191);
                    publication p{t, answer_of(id.c_str()), false};
                    if (db_transaction(s, publish, &p, &err) == OK && p.published)
                        published[k]++;
                }
        });
    for (auto &t : threads)
        t.join();
    for (auto &p : published)
        CHECK(p == 1);
    CHECK(calls > KEYS * CALLERS);
}

// ---- the API ----

namespace
{
// A service with the thread that renews leases and keeps keys without a database.
struct keyed_api : api {
    explicit keyed_api(const std::string &database = "", size_t key_count = 4096)
        : api(database)
    {
        idempotency_options o{};
        error err{};
        o.db = handle()->db;
        o.lease_s = 1;
        o.key_count = key_count;
        o.key_bytes = 1 << 20;
        o.kept_s = 3600;
        REQUIRE(idempotency_create(&o, &handle()->idempotency, &err) == OK);
    }
    ~keyed_api()
    {
        idempotency_close(handle()->idempotency);
        handle()->idempotency = nullptr;
    }
    api_reply keyed(const std::string &key, const std::string &body,
                    std::map<std::string, std::string> headers = {},
                    const std::string &path = "/v1/placements")
    {
        headers["idempotency_key"] = key;
        return call("POST", path, body, headers);
    }
};

std::string database()
{
    return test_database_url() ? test_database_url() : "";
}

const std::string placement =
    R"({"snapshot":{"resources":[{"id":"m0"},{"id":"m1"}]},"jobs":[{"id":"j0","etc_s":[3.5,4]},)"
    R"({"id":"j1","etc_s":[5,2]}],"algorithm":"min_min","seed":7})";

bool has_warning(const api_reply &r, const std::string &code)
{
    const nlohmann::json answer = r.json();
    for (const auto &w : answer.at("warnings"))
        if (w.get<std::string>().rfind(code + ":", 0) == 0)
            return true;
    return false;
}
} // namespace

TEST_CASE("without a database this process keeps the keys of decisions",
          "[idempotency][api]")
{
    keyed_api a;
    api_reply first = a.keyed("k", placement), again = a.keyed("k", placement);

    REQUIRE(first.status == 200);
    CHECK(first.headers["Idempotency-Stored"] == "false");
    CHECK_FALSE(first.headers.count("Idempotency-Replayed"));
    CHECK(has_warning(first, "idempotency_local"));
    CHECK(again.status == 200);
    CHECK(again.body == first.body);
    CHECK(again.headers["Idempotency-Replayed"] == "true");
    CHECK(again.headers["Idempotency-Stored"] == "false");
    api_reply other = a.keyed("k", placement + " ");
    CHECK(other.status == 422);
    CHECK(other.json()["errors"][0]["code"] == "key_reused");
    CHECK(other.json()["errors"][0]["in"] == "header");
    CHECK(other.json()["errors"][0]["name"] == "Idempotency-Key");
    CHECK_FALSE(other.json()["errors"][0].contains("pointer"));

    // The id comes from the key: the same on every replica, another one without it.
    keyed_api b;
    CHECK(b.keyed("k", placement).json()["decision_id"] == first.json()["decision_id"]);
    CHECK(b.keyed("k2", placement).json()["decision_id"] != first.json()["decision_id"]);
    CHECK(a.post("/v1/placements", placement).json()["decision_id"] !=
          first.json()["decision_id"]);
    CHECK(first.json()["decision_id"].get<std::string>()[14] == '8');

    // Refusals are kept too; what only stores needs the database.
    api_reply bad = a.keyed("bad", "{\"jobs\":7}");
    CHECK(bad.status == 422);
    CHECK(a.keyed("bad", "{\"jobs\":7}").headers["Idempotency-Replayed"] == "true");
    CHECK(a.keyed("bad", placement).status == 422);
    CHECK(a.keyed("s", R"({"resource_id":"r","observed_at":1,"latency_s":1})", {},
                  "/v1/load-samples")
              .status == 503);
    // A key is 1 to 255 characters.
    for (std::string key : {std::string(), std::string(256, 'k'), std::string("a\tb")}) {
        api_reply refused = a.keyed(key, placement);
        CHECK(refused.status == 400);
        CHECK(refused.json()["errors"][0]["in"] == "header");
        CHECK(refused.json()["errors"][0]["name"] == "Idempotency-Key");
    }
    CHECK(a.keyed(std::string(255, 'k'), placement).status == 200);
}

TEST_CASE("of the keys kept here the longest unused ones go", "[idempotency][api]")
{
    keyed_api a("", 3);
    for (const char *key : {"1", "2", "3"})
        CHECK(a.keyed(key, placement).status == 200);
    CHECK(a.keyed("1", placement).headers.count("Idempotency-Replayed") == 1);
    CHECK(a.keyed("4", placement).status == 200);
    CHECK(a.keyed("1", placement).headers.count("Idempotency-Replayed") == 1);
    CHECK(a.keyed("2", placement).headers.count("Idempotency-Replayed") == 0);
    struct idempotency_stats s;
    idempotency_stats(a.handle()->idempotency, &s);
    CHECK(s.key_count == 3);
    CHECK(s.replay_count == 2);
    // No room at all: computed, and not kept.
    keyed_api none("", 0);
    CHECK(none.keyed("1", placement).status == 200);
    CHECK(none.keyed("1", placement).headers.count("Idempotency-Replayed") == 0);
}

TEST_CASE("what the keys kept here take is leased", "[idempotency]")
{
    governor_options g{};
    g.memory_bytes = size_t{64} << 20;
    g.body_memory_ratio = 0.25;
    g.tenant_memory_ratio = 0.5;
    g.quantum_s = g.queue_wait_s = g.tenant_queue_length = 1;
    g.queues[GOVERNOR_COMPUTE] = {"test", 1, 1, 1, 0};
    std::unique_ptr<governor, void (*)(governor *)> lender(governor_create(&g),
                                                           governor_close);
    idempotency_options o{};
    o.lease_s = 1;
    o.key_count = 1000;
    o.key_bytes = size_t{64} << 20;
    o.kept_s = 3600;
    o.governor = lender.get();
    idempotency *i = nullptr;
    error err{};
    REQUIRE_OK(idempotency_create(&o, &i, &err));
    test_arena a;
    const std::string text(size_t{1} << 20, 'x');
    auto leased = [&] {
        struct governor_stats s;
        governor_stats(lender.get(), &s);
        return s.leased_bytes[GOVERNOR_WORK];
    };
    auto kept = [&] {
        struct idempotency_stats s;
        idempotency_stats(i, &s);
        CHECK(s.key_bytes == leased());
        return s.key_count;
    };
    auto reserve = [&](const std::string &key, const char *owner = body_a) {
        const store_attempt t = {
            "t", key.c_str(), "r", {(const unsigned char *)body_a, 32}, owner};
        attempt_state state = ATTEMPT_FREE;
        store_answer found{};
        REQUIRE_OK(memory_reserve(i, &t, &state, &found, a, &err));
        return state;
    };
    auto publish_one = [&](const std::string &key) {
        const store_attempt t = {
            "t", key.c_str(), "r", {(const unsigned char *)body_a, 32}, body_a};
        const store_answer answer = answer_of(text.c_str());
        memory_publish(i, &t, &answer);
    };

    CHECK(leased() == 0);
    CHECK(reserve("gone") == ATTEMPT_OURS);
    CHECK(leased() > 0);
    memory_release(i, body_a);
    CHECK(leased() == 0);

    // W is 32 MiB, and the keys have a quarter of it at most: 7 answers of 1 MiB.
    for (int k = 0; k < 10; k++) {
        REQUIRE(reserve(std::to_string(k)) == ATTEMPT_OURS);
        publish_one(std::to_string(k));
    }
    CHECK(kept() == 7);
    CHECK(leased() > 7 * text.size());
    CHECK(leased() <= size_t{8} << 20);
    CHECK(reserve("2", body_b) == ATTEMPT_OURS); // forgotten
    CHECK(reserve("3", body_b) == ATTEMPT_DONE);

    // Others have nearly all: old answers make room, as many as it takes.
    const governor_who other = {{"other", {}}, {}, false};
    governor_lease theirs{};
    size_t sum = leased();
    REQUIRE(governor_work_take(lender.get(), &other, &theirs, (size_t{30} << 20) - sum) ==
            GOVERNOR_OK);
    CHECK(reserve("new") == ATTEMPT_OURS);
    publish_one("new");
    struct idempotency_stats s;
    idempotency_stats(i, &s);
    CHECK(s.key_bytes + theirs.bytes == leased());
    CHECK(leased() <= size_t{30} << 20);
    CHECK(reserve("new", body_b) == ATTEMPT_DONE);
    CHECK(s.key_count < 9);
    governor_give(lender.get(), &theirs, SIZE_MAX);
    kept();

    // The service closes the governor first.
    lender.reset();
    idempotency_close(i);
}

TEST_CASE("a decision under a key is made once, its answer drawn as asked",
          "[idempotency][api][db]")
{
    NEED_DATABASE();
    keyed_api a(database());
    std::string key = unique_key();
    const std::map<std::string, std::string> svg = {{"accept", "image/svg+xml"}};
    api_reply drawn = a.keyed(key, placement, svg);

    REQUIRE(drawn.status == 200);
    CHECK(drawn.headers["Content-Type"] == "image/svg+xml");
    CHECK_FALSE(drawn.headers.count("Idempotency-Stored"));
    api_reply json = a.keyed(key, placement), again = a.keyed(key, placement, svg);
    CHECK(json.headers["Content-Type"] == "application/json");
    CHECK(json.headers["Idempotency-Replayed"] == "true");
    CHECK_FALSE(has_warning(json, "idempotency_local"));
    CHECK(again.headers["Content-Type"] == "image/svg+xml");
    CHECK(again.body == drawn.body);
    CHECK(a.keyed(key, placement, {{"accept", "text/vnd.graphviz"}}).status == 406);

    // A text that the answer has; one that it has not.
    std::string queue = R"({"kind":"queue","processors":4,"policies":["fcfs"],"jobs":[)"
                        R"({"id":"1","submit_s":0,"processors":2,"run_time_s":10}]})";
    std::string text_key = unique_key(), json_key = unique_key();
    const std::map<std::string, std::string> plain = {{"accept", "text/plain"}};
    api_reply swf = a.keyed(text_key, queue, plain, "/v1/simulations");
    INFO(swf.body);
    REQUIRE(swf.status == 200);
    api_reply swf_again = a.keyed(text_key, queue, plain, "/v1/simulations");
    CHECK(swf_again.body == swf.body);
    CHECK(swf_again.headers["Content-Type"] == swf.headers["Content-Type"]);
    CHECK(a.keyed(json_key, queue, {}, "/v1/simulations").status == 200);
    CHECK(a.keyed(json_key, queue, plain, "/v1/simulations").status == 406);
    CHECK(a.keyed(json_key, queue, {}, "/v1/simulations").status == 200);
}

TEST_CASE("what a keyed request stores is stored once, with its answer",
          "[idempotency][api][db]")
{
    NEED_DATABASE();
    keyed_api a(database());
    std::string key = unique_key();
    auto body = nlohmann::json::parse(placement);
    body["store"] = true;
    api_reply first = a.keyed(key, body.dump()), again = a.keyed(key, body.dump());

    REQUIRE(first.status == 200);
    CHECK(again.body == first.body);
    CHECK(again.headers["Location"] == first.headers["Location"]);
    std::string location =
        "/v1/decisions/" + first.json()["decision_id"].get<std::string>();
    CHECK(first.headers["Location"] == location);
    CHECK(a.get(location).json()["answer"] == first.json());

    // The key forgotten, the decision kept: computed anew, the decision as it was.
    test_db d;
    test_session s(d);
    error err{};
    REQUIRE_OK(db_execute(
        s, ("DELETE FROM idempotency_key WHERE idempotency_key = '" + key + "'").c_str(),
        &err));
    api_reply anew = a.keyed(key, body.dump());
    CHECK(anew.status == 200);
    CHECK_FALSE(anew.headers.count("Idempotency-Replayed"));
    CHECK(anew.json()["decision_id"] == first.json()["decision_id"]);
    CHECK(a.get(location).json()["answer"] == first.json());

    // An upload is a long computation that stores.
    std::string name = "w" + unique_key(),
                swf = "1 0 -1 60 2 -1 -1 2 90 -1 1 1 1 -1 1 -1 -1 -1\n";
    std::string path = "/v1/workloads?id=" + name;
    const std::map<std::string, std::string> text = {{"content_type", "text/plain"}};
    std::string upload_key = unique_key();
    api_reply made = a.keyed(upload_key, swf, text, path);
    INFO(made.body);
    REQUIRE(made.status == 201);
    CHECK(a.keyed(upload_key, swf, text, path).body == made.body);
    // A conflict is no answer for ever: the key is given back.
    std::string conflict_key = unique_key();
    CHECK(a.keyed(conflict_key, swf, text, path).status == 409);
    CHECK(a.call("DELETE", "/v1/workloads/" + name).status == 204);
    CHECK(a.keyed(conflict_key, swf, text, path).status == 201);
}

TEST_CASE("refusals are kept, and so is a request that nobody survives",
          "[idempotency][api][db]")
{
    NEED_DATABASE();
    keyed_api a(database());
    std::string key = unique_key(), deadly = unique_key();
    api_reply bad = a.keyed(key, "{\"jobs\":7}"), again = a.keyed(key, "{\"jobs\":7}");

    CHECK(bad.status == 422);
    CHECK(again.status == 422);
    CHECK(again.body == bad.body);
    CHECK(again.headers["Content-Type"] == "application/problem+json");
    CHECK(again.headers["Idempotency-Replayed"] == "true");

    // Three attempts have begun it and are silent since.
    test_db d;
    test_session s(d);
    error err{};
    CHECK(a.keyed(deadly, placement).status == 200);
    REQUIRE_OK(db_execute(
        s,
        ("UPDATE idempotency_key SET state = 'running', attempt_count = 3,"
         " owner_id = gen_random_uuid(), lease_until = now() - interval '1 second'"
         " WHERE idempotency_key = '" +
         deadly + "'")
            .c_str(),
        &err));
    api_reply given_up = a.keyed(deadly, placement);
    CHECK(given_up.status == 500);
    CHECK(given_up.json()["detail"] ==
          "3 attempts have begun this and none has ended it");
    CHECK(a.keyed(deadly, placement).body == given_up.body);
}

TEST_CASE("who waits for a key has the answer of who computes it",
          "[idempotency][api][db]")
{
    NEED_DATABASE();
    keyed_api a(database());
    std::string key = unique_key();
    test_db d;
    test_session s(d);
    error err{};
    auto row = [&](const std::string &what) {
        REQUIRE_OK(db_execute(
            s, (what + " WHERE idempotency_key = '" + key + "'").c_str(), &err));
    };
    api_reply first = a.keyed(key, placement);
    REQUIRE(first.status == 200);

    // Another attempt has it, and goes on.
    row("UPDATE idempotency_key SET state = 'running', owner_id = gen_random_uuid(),"
        " lease_until = now() + interval '1 hour'");
    api_reply busy = a.keyed(key, placement, {{"prefer", "wait=0"}});
    CHECK(busy.status == 409);
    CHECK(busy.headers["Retry-After"] == "1");
    CHECK(busy.json()["code"] == "conflict");
    CHECK(busy.json()["errors"][0]["code"] == "still_running");
    CHECK(a.keyed(key, placement + " ", {{"prefer", "wait=0"}}).status == 422);

    // It ends while somebody waits: a wait without a number is the usual one.
    std::thread other([&] {
        test_session t(d);
        error e{};
        usleep(300000);
        db_execute(t,
                   ("UPDATE idempotency_key SET state = 'done', owner_id = NULL"
                    " WHERE idempotency_key = '" +
                    key + "'")
                       .c_str(),
                   &e);
    });
    api_reply waited = a.keyed(key, placement, {{"prefer", "wait="}});
    other.join();
    CHECK(waited.status == 200);
    CHECK(waited.body == first.body);
    CHECK(waited.headers["Idempotency-Replayed"] == "true");

    // Or it is silent: then it is taken over.
    row("UPDATE idempotency_key SET state = 'running', owner_id = gen_random_uuid(),"
        " lease_until = now() + interval '0.3 s'");
    api_reply taken = a.keyed(key, placement);
    CHECK(taken.status == 200);
    CHECK_FALSE(taken.headers.count("Idempotency-Replayed"));
    struct idempotency_stats stats;
    idempotency_stats(a.handle()->idempotency, &stats);
    CHECK(stats.takeover_count == 1);
    CHECK(stats.held_count == 0);
}

TEST_CASE("a COMMIT without an answer: what the key says was done is the answer",
          "[idempotency][api][db]")
{
    NEED_DATABASE();
    const struct {
        const char *name;
        commit_fate fate;
        bool is_stored; // by the COMMIT itself
    } cases[] = {{"the answer is lost", commit_fate::answer_is_lost, true},
                 {"COMMIT is lost", commit_fate::is_lost, false},
                 {"COMMIT comes late", commit_fate::is_late, true}};
    db_proxy proxy;
    keyed_api a(proxy.url);
    test_db d;
    test_session s(d);

    for (auto &c : cases)
        DYNAMIC_SECTION(c.name)
        {
            std::string id = "doubt " + unique_key();
            const std::string sample = R"({"resource_id":")" + id +
                                       R"(","observed_at":1764000000,"latency_s":1})";
            const std::string count =
                "SELECT count(*) FROM load_sample WHERE resource_id = '" + id + "'";

            // One transaction, with its key in it.
            std::string key = unique_key();
            proxy.next(c.fate);
            api_reply r = a.keyed(key, sample, {}, "/v1/load-samples");
            CHECK(proxy.has_struck());
            INFO(r.body);
            CHECK(r.status == 201);
            CHECK(query_number(s, s.a, count.c_str()) == 1);
            CHECK(a.keyed(key, sample, {}, "/v1/load-samples").body == r.body);
            CHECK(query_number(s, s.a, count.c_str()) == 1);

            // Without a key nobody can know, and that is said.
            proxy.next(c.fate);
            api_reply unknown =
                a.call("POST", "/v1/models", R"({"application_id":")" + id + R"("})");
            REQUIRE(proxy.has_struck());
            CHECK(unknown.status == 503);
            CHECK(unknown.headers["Retry-After"] == "1");
            CHECK(unknown.json()["detail"] ==
                  "it is not known whether it was stored; send it again with an "
                  "Idempotency-Key");
            usleep(c.fate == commit_fate::is_late ? 500000 : 0);
            CHECK(query_number(
                      s, s.a,
                      ("SELECT count(*) FROM model WHERE application_id = '" + id + "'")
                          .c_str()) == c.is_stored);
            // An execution has a name: it is sent twice.
            proxy.next(c.fate, id, 1);
            api_reply named = a.call(
                "POST", "/v1/executions",
                R"({"execution_id":")" + id +
                    R"(","application_id":"a","started_at":1764000000,"run_time_s":5})");
            REQUIRE(proxy.has_struck());
            CHECK(named.status / 100 == 2);
            CHECK(query_number(
                      s, s.a,
                      ("SELECT count(*) FROM execution WHERE execution_id = '" + id + "'")
                          .c_str()) == 1);

            // Two transactions: that of the key, and that of the answer.
            auto body = nlohmann::json::parse(placement);
            body["store"] = true;
            for (int commit : {1, 2}) {
                CAPTURE(commit);
                std::string decided = unique_key();
                proxy.next(c.fate, commit);
                api_reply first = a.keyed(decided, body.dump());
                CHECK(proxy.has_struck());
                INFO(first.body);
                REQUIRE(first.status == 200);
                CHECK_FALSE(first.headers.count("Idempotency-Stored"));
                std::string decision_id = first.json()["decision_id"];
                CHECK(
                    query_number(s, s.a,
                                 ("SELECT count(*) FROM decision WHERE decision_id = '" +
                                  decision_id + "'")
                                     .c_str()) == 1);
                api_reply again = a.keyed(decided, body.dump());
                CHECK(again.body == first.body);
                CHECK(again.headers["Idempotency-Replayed"] == "true");
                CHECK(query_number(s, s.a,
                                   ("SELECT count(*) FROM idempotency_key WHERE state = "
                                    "'done' AND idempotency_key = '" +
                                    decided + "'")
                                       .c_str()) == 1);
            }
            struct idempotency_stats stats;
            idempotency_stats(a.handle()->idempotency, &stats);
            CHECK(stats.held_count == 0);
            CHECK(stats.takeover_count == 0);
        }
}

TEST_CASE("a server process that is ended in COMMIT has stored nothing, or it is found",
          "[idempotency][api][db]")
{
    NEED_DATABASE();
    keyed_api a(database());
    test_db d;
    test_session s(d);
    error err{};
    std::string table = "ends_" + std::to_string(getpid());

    // The first time that a row of this resource is committed its process is ended.
    REQUIRE_OK(db_execute(
        s,
        ("CREATE SEQUENCE " + table + "; CREATE FUNCTION " + table +
         "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('" + table +
         "') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM "
         "pg_sleep(5); END IF; RETURN NULL; END $$;"
         "CREATE CONSTRAINT TRIGGER " +
         table +
         " AFTER INSERT ON load_sample DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
         " WHEN (NEW.resource_id = '" +
         table + "') EXECUTE FUNCTION " + table + "()")
            .c_str(),
        &err));
    api_reply r = a.keyed(unique_key(),
                          R"({"resource_id":")" + table +
                              R"(","observed_at":1764000000,"latency_s":1})",
                          {}, "/v1/load-samples");
    INFO(r.body);
    CHECK(r.status == 201);
    CHECK_FALSE(r.headers.count("Idempotency-Replayed"));
    CHECK(query_number(
              s, s.a,
              ("SELECT count(*) FROM load_sample WHERE resource_id = '" + table + "'")
                  .c_str()) == 1);
    struct db_stats stats;
    db_stats(a.handle()->db, &stats);
    CHECK(stats.unconfirmed_count == 1);
    REQUIRE_OK(db_execute(s,
                          ("DROP TRIGGER " + table + " ON load_sample; DROP FUNCTION " +
                           table + "; DROP SEQUENCE " + table)
                              .c_str(),
                          &err));
}

TEST_CASE("a decision that has all it needs is made while the database is down",
          "[idempotency][api]")
{
    api plain;
    db_options o = test_db_options("postgresql:///none?host=/nonexistent");
    error err{};
    REQUIRE(db_create(&o, &plain.handle()->db, &err) == OK);
    api_reply r =
        plain.call("POST", "/v1/placements", placement, {{"idempotency_key", "k"}});
    CHECK(r.status == 200);
    CHECK(r.headers["Idempotency-Stored"] == "false");
    CHECK(has_warning(r, "idempotency_local"));
    auto body = nlohmann::json::parse(placement);
    body["store"] = true;
    api_reply stored =
        plain.call("POST", "/v1/placements", body.dump(), {{"idempotency_key", "k"}});
    CHECK(stored.status == 503);
    CHECK(plain
              .call("POST", "/v1/load-samples",
                    R"({"resource_id":"r","observed_at":1,"latency_s":1})",
                    {{"idempotency_key", "k"}})
              .status == 503);
}

TEST_CASE("a key from an outage to its end: contract.md 18 O", "[idempotency][api][db]")
{
    NEED_DATABASE();
    keyed_api one(database()), two(database());
    const std::string k1 = "k1 " + unique_key();
    db_options away = test_db_options("postgresql:///none?host=/nonexistent");
    db *gone = nullptr, *ones = one.handle()->db, *twos = two.handle()->db;
    error err{};
    auto without_timings = [](const api_reply &r) {
        nlohmann::json answer = r.json();
        answer.erase("timings");
        return answer;
    };

    // While it is down the decision is made, and on another instance the same.
    REQUIRE(db_create(&away, &gone, &err) == OK);
    one.handle()->db = two.handle()->db = gone;
    api_reply first = one.keyed(k1, placement), elsewhere = two.keyed(k1, placement);
    one.handle()->db = ones;
    two.handle()->db = twos;
    db_close(gone);
    for (const api_reply *r : {&first, &elsewhere}) {
        INFO(r->body);
        REQUIRE(r->status == 200);
        auto headers = r->headers;
        CHECK(headers["Idempotency-Stored"] == "false");
        CHECK_FALSE(headers.count("Idempotency-Replayed"));
        CHECK(has_warning(*r, "idempotency_local"));
    }
    const std::string d = first.json()["decision_id"];
    CHECK(d[14] == '8'); // of the key
    CHECK(without_timings(first) == without_timings(elsewhere));

    // It is back: made once more, of the same id, and kept from now on.
    api_reply back = one.keyed(k1, placement);
    INFO(back.body);
    REQUIRE(back.status == 200);
    CHECK(back.json()["decision_id"] == d);
    CHECK_FALSE(back.headers.count("Idempotency-Stored"));
    CHECK_FALSE(back.headers.count("Idempotency-Replayed"));
    CHECK(back.json()["warnings"].empty());
    auto same = without_timings(first);
    same["warnings"] = nlohmann::json::array();
    CHECK(without_timings(back) == same);

    for (keyed_api *a : {&one, &two}) {
        api_reply again = a->keyed(k1, placement);
        CHECK(again.status == 200);
        CHECK(again.body == back.body);
        CHECK(again.headers["Idempotency-Replayed"] == "true");
        CHECK_FALSE(again.headers.count("Idempotency-Stored"));
        api_reply other = a->keyed(k1, placement + " ");
        CHECK(other.status == 422);
        CHECK(other.json()["errors"][0]["code"] == "key_reused");
        CHECK(other.json()["errors"][0]["in"] == "header");
        CHECK(other.json()["errors"][0]["name"] == "Idempotency-Key");
    }
}
