// session_cache_test.cpp - what a replica keeps of sessions: whatever happens, it answers
// as one that keeps nothing.
#include "tests/sessions_api_support.hpp"

#include <cstring>
#include <set>
#include <thread>

using namespace session_api;

namespace
{

// A request as far as the cache sees it.
struct asking {
    test_arena a;
    session_hold hold{};

    explicit asking(session_cache *c)
    {
        hold.cache = c;
        hold.arena = a;
    }
    ~asking()
    {
        session_hold_end(&hold);
    }
    // What it reads of a session: `bytes` beside its number.
    session_kept *read(const char *id, size_t bytes, const char *tenant = "t")
    {
        session_kept *k = session_hold_add(&hold, sizeof(session_kept), tenant, id);

        memset(arena_try(k->arena, 1, bytes), 7, bytes);
        session_hold_read(&hold, k);
        return k;
    }
    session_kept *find(const char *id, const char *tenant = "t")
    {
        return session_hold_find(&hold, tenant, id);
    }
};

struct cache {
    session_cache *c;

    explicit cache(size_t bytes) : c(session_cache_create(bytes))
    {
    }
    ~cache()
    {
        session_cache_close(c);
    }
    cache(const cache &) = delete;
    cache &operator=(const cache &) = delete;
    struct session_cache_stats stats() const
    {
        struct session_cache_stats out {
        };

        session_cache_stats(c, &out);
        return out;
    }
    bool has(const char *id, const char *tenant = "t") const
    {
        return asking(c).find(id, tenant) != nullptr;
    }
};

} // namespace

TEST_CASE("what nobody has asked for in a long time goes", "[session]")
{
    cache c(1 << 20);
    session_kept *old, *young;

    {
        asking one(c.c);

        old = one.read("old", 1000);
        young = one.read("young", 1000);
    }
    old->given_s -= SESSION_CACHE_IDLE_S + 1;
    young->given_s -= SESSION_CACHE_IDLE_S - 100;
    CHECK(c.has("old")); // asked for: it is as new as any
    CHECK(c.stats().count == 2);
    old->given_s -= SESSION_CACHE_IDLE_S + 1;
    CHECK(c.has("young"));
    CHECK_FALSE(c.has("old"));
    CHECK(c.has("young"));
    CHECK(c.stats().dropped_count == 1);
}

TEST_CASE("what is kept of a session is one request's at a time", "[session]")
{
    cache c(1 << 20);
    {
        asking one(c.c);

        CHECK(one.find("s") == nullptr);
        one.read("s", 1000);
        CHECK(one.find("s") != nullptr);
        CHECK_FALSE(c.has("s")); // not yet
    }
    CHECK(c.has("s"));
    CHECK_FALSE(c.has("s", "another tenant"));
    CHECK_FALSE(c.has("another"));

    asking one(c.c), two(c.c);
    session_kept *taken = one.find("s");
    REQUIRE(taken);
    CHECK(one.find("s") == taken);
    CHECK(two.find("s") == nullptr);
    two.read("s", 1000);
    CHECK(c.stats().count == 0);
    session_hold_end(&two.hold);
    session_hold_end(&one.hold);
    CHECK(c.stats().count == 2); // of those that ask at the same time
    asking(c.c).read("s", 1000);
    CHECK(c.stats().count == SESSION_CACHE_OF_ONE);
}

TEST_CASE("what of sessions was not used for longest goes first", "[session]")
{
    cache c(300000);

    for (const char *id : {"a", "b", "c"})
        asking(c.c).read(id, 80000);
    CHECK(c.stats().bytes <= 300000);
    CHECK(c.stats().count == 3);
    CHECK(c.has("a")); // used last
    asking(c.c).read("d", 80000);
    CHECK(c.stats().dropped_count == 1);
    CHECK_FALSE(c.has("b"));
    CHECK((c.has("a") && c.has("c") && c.has("d")));
    asking(c.c).read("large", 500000); // more than there is room for
    CHECK_FALSE(c.has("large"));
    CHECK(c.stats().count == 3);

    cache nothing(0);
    asking without(nothing.c);
    CHECK_FALSE(session_hold_keeps(&without.hold));
    CHECK(without.find("a") == nullptr);
    CHECK_FALSE(session_hold_keeps(nullptr));
}

TEST_CASE("what was not committed, or is no more, is not kept", "[session]")
{
    cache c(1 << 20);
    {
        asking one(c.c);
        one.read("pending", 10)->is_pending = true;
        one.read("undone", 10)->is_pending = true;
        session_hold_undone(&one.hold);
        CHECK(one.find("undone") == nullptr);
        session_kept *again = one.read("undone", 10);
        again->is_pending = true;
        session_hold_committed(&one.hold);
        one.read("pending", 10)->is_pending = true;
        session_kept *stale = one.read("stale", 10);
        session_hold_drop(&one.hold, stale);
        CHECK(one.find("stale") == nullptr);
        CHECK(std::string(stale->session_id) == "stale"); // until the end
    }
    CHECK(c.has("undone"));
    CHECK_FALSE(c.has("pending"));
    CHECK_FALSE(c.has("stale"));
}

TEST_CASE("what a request reads to keep counts as its own memory", "[session]")
{
    cache c(1 << 20);
    test_arena a;
    session_hold hold{};
    size_t cap = arena_cap_bytes(a);

    hold.cache = c.c;
    hold.arena = a;
    session_kept *k = session_hold_add(&hold, sizeof(*k), "t", "s");
    CHECK(arena_cap_bytes(k->arena) - arena_used_bytes(k->arena) <= cap);
    arena_try(k->arena, 1, 100000);
    session_hold_read(&hold, k);
    CHECK(arena_cap_bytes(a) <= cap - 100000);
    session_hold_end(&hold);
    CHECK(arena_cap_bytes(a) == cap);
}

TEST_CASE("threads take and give what is kept of sessions", "[session][threads]")
{
    cache c(400000);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};

    for (int t = 0; t < 4; t++)
        threads.emplace_back([&c, &wrong, t] {
            rng r = rng_stream(uint64_t(t), "session cache");

            for (int i = 0; i < 500; i++) {
                std::string id = "s" + std::to_string(rng_index(&r, 6));
                asking one(c.c);
                session_kept *k = one.find(id.c_str());

                if (!k)
                    k = one.read(id.c_str(), 20000 + rng_index(&r, 40000));
                wrong += id != k->session_id;
                k->is_pending = rng_uniform(&r) < 0.1;
                if (rng_uniform(&r) < 0.1)
                    session_hold_drop(&one.hold, k);
                // Its own alone: ThreadSanitizer would see another one.
                char *text = arena_try_text(k->arena, id.c_str(), id.size());
                wrong += text == nullptr;
            }
        });
    for (auto &t : threads)
        t.join();
    CHECK(wrong == 0);
    CHECK(c.stats().bytes <= 400000);
}

// ---- over the API ----

namespace
{

void execute(const std::string &sql)
{
    test_db d;
    test_session db(d);
    error err{};

    INFO(sql << err.text);
    REQUIRE(db_execute(db, sql.c_str(), &err) == OK);
}

std::string of_session(const session &s)
{
    return " WHERE session_id = '" + s.id + "'";
}

// What changes by itself: the instant of the answer.
json state_of(api &replica, const std::string &path)
{
    json tasks = replica.get(path + "/tasks").json();

    if (tasks.contains("items"))
        for (auto &task : tasks["items"]) {
            task.erase("expected_end_at");
            task.erase("overdue_ratio");
        }
    return tasks;
}

// All that is told of a session, of an instant.
std::vector<std::string> told(api &replica, const std::string &path)
{
    std::vector<std::string> out;

    for (const char *what : {"", "/next?now=1772352030", "/plan?now=1772352030",
                             "/request?now=1772352030", "/events"}) {
        api_reply r = replica.get(path + what);

        out.push_back(std::to_string(r.status) + " " +
                      r.body.substr(0, r.body.find("\"request_id\"")));
    }
    out.push_back(state_of(replica, path)["items"].dump());
    return out;
}

} // namespace

TEST_CASE("newer events alone are read of a session that is kept", "[api][db]")
{
    NEED_DATABASE();
    session s;
    api other(test_database_url());
    uint64_t misses = kept(s).new_count;

    CHECK(misses == 1); // PUT
    s.started("1", 0, "a", "n2");
    CHECK(s.get(s.path).json()["counts"]["running"] == 1);
    // What was read before is not read again: this would be no definition, and no event.
    execute("UPDATE workflow_session SET definition = '{}'" + of_session(s));
    execute("UPDATE workflow_session_event SET observed_at = observed_at + '5 s'" +
            of_session(s));
    s.started("2", 0, "d", "n1");
    s.ended("3", 2, "a");
    json now = s.get(s.path).json();
    CHECK(now["counts"]["running"] == 1);
    CHECK(now["counts"]["done"] == 1);
    CHECK(s.get(s.path + "/tasks?status=done").json()["items"][0]["run_time_s"] == 2);
    // Nothing runs any more.
    CHECK(s.ended("4", 3, "d")["stored"] == 1);
    CHECK(s.get(s.path).json()["counts"]["ready"] == 2);
    CHECK(kept(s).new_count == misses);
    CHECK(kept(s).hit_count > 3);
    CHECK(kept(s).stale_count == 0);
    CHECK(other.get(s.path).status != 200);
}

TEST_CASE("of a finished session no task is read for starts", "[api][db]")
{
    NEED_DATABASE();
    session s("", R"([{"id":"a"},{"id":"b"}])");
    keep(s, 0);
    auto ask = [&](const std::string &more = "") {
        json r = s.ask("h", more);

        r.erase("now");
        return r;
    };

    for (const char *task : {"a", "b"}) {
        s.started(std::string(task) + "1", 0, task, "n1");
        s.ended(std::string(task) + "2", 5, task);
    }
    json first = ask();
    REQUIRE(first["status"] == "finished");
    execute("UPDATE workflow_session SET definition = '{}', expires_at ="
            " expires_at - interval '10 s'" +
            of_session(s));
    std::string expires = "SELECT extract(epoch FROM expires_at - now())"
                          " FROM workflow_session" +
                          of_session(s);
    CHECK(ask() == first);
    CHECK(ask(R"(,"max_count":3,"queue_depth":2)") == first);
    test_db d;
    test_session db(d);
    static std::string query; // known by its address
    query = expires;
    CHECK(query_number(db, db.a, query.c_str()) > 604795); // it was asked for
    // Candidates are looked at.
    CHECK(s.post(s.path + "/starts", R"({"holder":"h","candidate_task_ids":["a"]})")
              .status != 200);
    execute("DELETE FROM workflow_session" + of_session(s));
    CHECK(s.post(s.path + "/starts", R"({"holder":"h"})").status == 404);
}

TEST_CASE("a session that was deleted and made anew is another one", "[api][db]")
{
    NEED_DATABASE();
    session s;
    api other(test_database_url()), none(test_database_url());
    std::string definition = s.get(s.path).json()["definition"].dump();

    keep(none, 0);
    s.started("1", 0, "a", "n2");
    CHECK(told(s, s.path) == told(none, s.path));
    CHECK(other.call("DELETE", s.path).status == 204);
    CHECK(s.get(s.path).status == 404);
    CHECK(s.post(s.path + "/events",
                 R"({"event_id":"1","kind":"ended","observed_at":1,"task_id":"a"})")
              .status == 404);
    // As many events, of the same numbers, and the same definition.
    CHECK(other.call("PUT", s.path, definition).status == 201);
    api_reply r =
        other.post(s.path + "/events",
                   R"({"event_id":"1","kind":"started","observed_at":1772352000,)"
                   R"("task_id":"d","resource_id":"n1"})");
    CHECK(r.status == 200);
    CHECK(s.get(s.path + "/tasks?status=running").json()["items"][0]["task_id"] == "d");
    CHECK(told(s, s.path) == told(none, s.path));
    CHECK(kept(s).stale_count > 0);
}

TEST_CASE("events that a server has lost are lost with it", "[api][db]")
{
    NEED_DATABASE();
    session s;
    api none(test_database_url());

    keep(none, 0);
    s.started("1", 0, "a", "n2");
    s.ended("2", 1, "a");
    CHECK(told(s, s.path) == told(none, s.path));
    // As if the last transaction had not been, and another one had come in its place.
    execute("UPDATE workflow_session_event SET event_id = '3', kind = 2, received_at ="
            " received_at + interval '1 ms'" +
            of_session(s) + " AND seq = 2");
    CHECK(s.get(s.path).json()["counts"]["done"] == 0);
    CHECK(told(s, s.path) == told(none, s.path));
    execute("UPDATE workflow_session SET revision = 1, event_count = 1" + of_session(s));
    execute("DELETE FROM workflow_session_event" + of_session(s) + " AND seq = 2");
    CHECK(s.get(s.path).json()["counts"]["running"] == 1);
    CHECK(told(s, s.path) == told(none, s.path));
}

TEST_CASE("what is not committed is not kept", "[api][db]")
{
    NEED_DATABASE();
    session s;
    api none(test_database_url());
    std::string trigger = "refuse_" + std::to_string(getpid());
    uint64_t misses = kept(s).new_count;
    auto ended = [&](bool with_key) {
        std::map<std::string, std::string> key;

        if (with_key)
            key["idempotency_key"] = unique_id("key");
        return s
            .call("POST", s.path + "/events",
                  R"({"event_id":"e","kind":"ended","observed_at":1772352002,)"
                  R"("task_id":"a"})",
                  key)
            .status;
    };

    keep(none, 0);
    s.started("1", 0, "a", "n2");
    s.event("2", 1, "failed", session::of("d", 1) + ",\"final\":true");
    for (bool with_key : {false, true}) {
        // Nothing runs any more, and a task has failed: what it comes to is worked out,
        // and then refused.
        execute("CREATE OR REPLACE FUNCTION refuse_standing() RETURNS trigger LANGUAGE "
                "plpgsql AS $$BEGIN RAISE 'refused'; END$$; CREATE TRIGGER " +
                trigger +
                " BEFORE UPDATE OF status ON workflow_session FOR EACH ROW WHEN "
                "(NEW.session_id = '" +
                s.id + "') EXECUTE FUNCTION refuse_standing()");
        CHECK(ended(with_key) == 500);
        execute("DROP TRIGGER " + trigger + " ON workflow_session");
        CHECK(s.get(s.path).json()["counts"]["done"] == 0);
        s.progress(with_key ? "4" : "3", 1, "a", 0.5); // has the number of the lost one
        CHECK(s.get(s.path).json()["counts"]["done"] == 0);
        CHECK(told(s, s.path) == told(none, s.path));
        misses += 1;
        CHECK(kept(s).new_count == misses); // what was half read was lost
    }
    CHECK(ended(true) == 200);
    CHECK(told(s, s.path) == told(none, s.path));
    CHECK(s.get(s.path).json()["counts"]["done"] == 1);
    CHECK(kept(s).new_count == misses); // committed
}

namespace
{

// A run at random of some sessions, over replicas.
struct walk {
    rng r;
    std::vector<std::string> ids;
    int numbers = 0;

    explicit walk(uint64_t seed) : r(rng_stream(seed, "session cache walk"))
    {
        for (int i = 0; i < 3; i++)
            ids.push_back(unique_id("walk"));
    }
    size_t below(size_t n)
    {
        return rng_index(&r, n);
    }
    std::string task(const std::string &id, size_t before)
    {
        std::string parents;

        for (size_t p = 0; p < before; p++)
            if (rng_uniform(&r) < 0.3)
                parents += (parents.empty() ? "\"t" : ",\"t") + std::to_string(p) + "\"";
        return R"({"id":")" + id + R"(","class":"k)" + std::to_string(below(2)) +
               R"(","attempts_max":)" + std::to_string(1 + below(3)) +
               R"(,"depends_on":[)" + parents + "]" +
               (below(2) ? ",\"estimate_ref_s\":" + std::to_string(1 + below(9)) : "") +
               "}";
    }
    std::string definition()
    {
        std::string tasks, edges;
        size_t count = below(7);

        for (size_t i = 0; i < count; i++)
            tasks += (i ? "," : "") + task("t" + std::to_string(i), i);
        if (count > 2)
            edges = R"(,"edges":[{"parent_id":"t0","child_id":"t2"}])";
        return R"({"workflow":{"tasks":[)" + tasks + "]" + edges +
               R"(},"learn":false,"snapshot":{"resources":)" + two_hosts + "}}";
    }
    std::string event()
    {
        static const char *const of_tasks[] = {"started", "started", "started",
                                               "ended",   "ended",   "cancelled",
                                               "failed",  "progress"};
        static const char *const of_hosts[] = {"host_up", "host_down", "host_speed"};
        bool is_of_task = rng_uniform(&r) < 0.85;
        std::string kind = is_of_task ? of_tasks[below(8)] : of_hosts[below(3)];
        std::string out = R"({"event_id":"e)" + std::to_string(below(200)) +
                          R"(","kind":")" + kind + R"(","observed_at":17723520)" +
                          std::to_string(10 + below(20));

        if (is_of_task)
            out += R"(,"task_id":"t)" + std::to_string(below(9)) + R"(","attempt":)" +
                   std::to_string(1 + below(3));
        if (kind == "started" || !is_of_task)
            out += R"(,"resource_id":"n)" + std::to_string(1 + below(2)) + "\"";
        if (kind == "progress")
            out += R"(,"progress_ratio":0.)" + std::to_string(below(10));
        if (kind == "host_speed")
            out += R"(,"mips_total":)" + std::to_string(1 + below(4));
        return out + "}";
    }
    std::string events()
    {
        std::string out;
        size_t count = 1 + below(6);

        for (size_t i = 0; i < count; i++)
            out += (i ? "," : "[") + event();
        return out + "]";
    }
    void step(api &replica, const std::string &path)
    {
        std::map<std::string, std::string> key;
        double what = rng_uniform(&r);

        if (below(4) == 0)
            key["idempotency_key"] = unique_id("key");
        if (what < 0.1)
            replica.call("DELETE", path);
        else if (what < 0.25)
            replica.call("PUT", path, definition());
        else if (what < 0.35)
            replica.call("POST", path + "/tasks",
                         task("t" + std::to_string(below(9)), below(5)), key);
        else if (what < 0.4)
            replica.call("POST", path + "/tasks",
                         R"({"id":"t)" + std::to_string(below(6)) + R"(","remove":true})",
                         key);
        else if (what < 0.75)
            replica.call("POST", path + "/events", events(), key);
        else if (what < 0.85)
            replica.call("POST", path + "/starts",
                         R"({"holder":"h)" + std::to_string(below(2)) +
                             R"(","hold_s":3600,"events":)" + events() + "}",
                         key);
        else if (what < 0.9)
            replica.call("POST", path + "/starts", R"({"holder":"h0","hold_s":3600})",
                         key);
        else if (what < 0.95)
            replica.get("/v1/workflow-sessions");
        else
            replica.get(path + "/next");
    }
};

} // namespace

TEST_CASE("a replica that keeps sessions answers as one that keeps none", "[api][db]")
{
    NEED_DATABASE();
    api large(test_database_url()), small(test_database_url()), none(test_database_url());
    api *const replicas[] = {&large, &small, &none};
    size_t walks = is_long_run() ? 60 : is_shorter() ? 4 : 12;

    keep(small, 100000); // one session pushes the others out
    keep(none, 0);
    for (uint64_t seed = 0; seed < walks; seed++) {
        walk w(seed);

        for (int i = 0; i < 60; i++) {
            std::string path = "/v1/workflow-sessions/" + w.ids[w.below(w.ids.size())];

            w.step(*replicas[w.below(3)], path);
            if (w.below(3))
                path = "/v1/workflow-sessions/" + w.ids[w.below(w.ids.size())];
            INFO("walk " << seed << " step " << i);
            auto want = told(none, path);
            REQUIRE(told(large, path) == want);
            REQUIRE(told(small, path) == want);
        }
        for (const std::string &id : w.ids)
            none.call("DELETE", "/v1/workflow-sessions/" + id);
    }
    CHECK(kept(large).hit_count > 100 * walks);
    CHECK(kept(large).stale_count > 0);
    CHECK(kept(small).dropped_count > 0);
    CHECK(kept(none).hit_count + kept(none).new_count == 0);
}

TEST_CASE("requests at the same time go on from what is kept, and agree",
          "[api][db][threads]")
{
    NEED_DATABASE();
    session s;
    api none(test_database_url());
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};

    keep(none, 0);
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&s, &wrong, t] {
            walk w(uint64_t(1000 + t));

            for (int i = 0; i < 40; i++) {
                int status;

                if (t < 2)
                    status = s.call("POST", s.path + "/events", w.events()).status;
                else if (i % 4 == 0)
                    status =
                        s.call("POST", s.path + "/starts", R"({"holder":"h","hold_s":1})")
                            .status;
                else if (i % 4 == 1)
                    status = s.call("POST", s.path + "/tasks",
                                    w.task("t" + std::to_string(i), 2))
                                 .status;
                else
                    status = s.call("GET", s.path + (i % 4 == 2 ? "/next" : "")).status;
                wrong += status != 200 && status != 503 && status != 422;
            }
        });
    for (auto &t : threads)
        t.join();
    CHECK(wrong == 0);
    CHECK(told(s, s.path) == told(none, s.path));
    CHECK(kept(s).hit_count > 0);
}
