// system_sessions_test.cpp - who waits for news of a session: two replicas of one
// database, over real connections.
#include "tests/database.hpp"
#include "tests/system.hpp"

#include <thread>

using nlohmann::json;

namespace
{

const char definition[] =
    R"({"workflow":{"tasks":[{"id":"a","estimate_ref_s":40},)"
    R"({"id":"b","estimate_ref_s":12,"depends_on":["a"]}]},)"
    R"("snapshot":{"resources":[{"id":"n","cpus":1}]},"replan_max_interval_s":3600})";

std::string started(const std::string &id)
{
    return R"({"event_id":")" + id + R"(","kind":"started","task_id":"a",)" +
           R"("resource_id":"n","observed_at":)" + std::to_string(time(nullptr)) + "}";
}

struct waiting {
    std::thread thread;
    answer reply;
    double lasted_s = 0;

    waiting(const gridplan &to, const std::string &target, const std::string &tag)
    {
        thread = std::thread([this, &to, target, tag] {
            double began_s = now_s();
            reply = to.get(target, "If-None-Match: " + tag + "\r\n");
            lasted_s = now_s() - began_s;
        });
    }
    ~waiting()
    {
        join();
    }
    void join()
    {
        if (thread.joinable())
            thread.join();
    }
};

void pause(double s)
{
    std::this_thread::sleep_for(std::chrono::duration<double>(s));
}

} // namespace

TEST_CASE("a session's news wake who waits at another replica, or nobody", "[system][db]")
{
    gridplan one({"--database", test_database()});
    gridplan two({"--database", test_database()});
    std::string path = "/v1/workflow-sessions/news", next = path + "/next?wait_s=";

    REQUIRE(eventually([&] { return one.is_ready() && two.is_ready(); }));
    REQUIRE(call(one.port, "PUT", path, definition).status == 201);
    answer first = one.get(path + "/next");
    REQUIRE(first.status == 200);
    std::string tag = first.field("ETag");

    {
        waiting nothing(two, next + "1", tag);
        nothing.join();
        CHECK(nothing.reply.status == 304);
        CHECK(nothing.reply.field("ETag") == tag);
        CHECK(nothing.lasted_s > 0.9);
        CHECK(nothing.lasted_s < 30);
    }
    {
        waiting news(two, next + "30", tag);
        pause(0.6);
        CHECK(two.metric("gridplan_workflow_session_waiters") == 1);
        CHECK(one.post(path + "/events", started("1")).status == 200);
        double told_s = now_s();
        news.join();
        CHECK(now_s() - told_s < 20);
        CHECK(news.reply.status == 200);
        CHECK(news.reply.json()["revision"] == 1);
        CHECK(news.reply.field("ETag") != tag);
        tag = news.reply.field("ETag");
        CHECK(two.metric("gridplan_workflow_session_waiters") == 0);
    }
    {
        // What is another one already is answered at once, and so is no condition.
        waiting now(one, next + "30", "\"0-0-0\"");
        now.join();
        CHECK(now.reply.status == 200);
        CHECK(now.lasted_s < 20);
        CHECK(one.get(next + "30").status == 200);
    }
    {
        // Whoever waits is told when the service ends.
        waiting end(two, next + "60", tag);
        pause(0.6);
        two.stop();
        end.join();
        CHECK(end.reply.status == 304);
        CHECK(end.lasted_s < 40);
    }
    one.stop();
}

TEST_CASE("sessions are counted by what they come to, by every replica", "[system][db]")
{
    own_database d("test_system_census");
    gridplan one({"--database", d.url}), two({"--database", d.url});
    const std::string all = "/v1/workflow-sessions/";
    auto are = [&](int running, int finished, int stuck, int expired) {
        return eventually(
            [&] {
                auto is = [&](const gridplan &g, const char *status, int count) {
                    return g.metric("gridplan_workflow_sessions{status=\"" +
                                    std::string(status) + "\"}") == count;
                };
                auto shows = [&](const gridplan &g) {
                    return is(g, "running", running) && is(g, "finished", finished) &&
                           is(g, "stuck", stuck) && is(g, "expired", expired);
                };
                return shows(one) && shows(two);
            },
            90); // counted by and by
    };
    auto event = [&](const std::string &id, const std::string &kind,
                     const std::string &task) {
        return one
            .post(all + id + "/events", R"({"event_id":")" + kind + task +
                                            R"(","kind":")" + kind +
                                            R"(","resource_id":"n","task_id":")" + task +
                                            R"(","final":true,"observed_at":)" +
                                            std::to_string(time(nullptr)) + "}")
            .status;
    };

    REQUIRE(eventually([&] { return one.is_ready() && two.is_ready(); }));
    CHECK(are(0, 0, 0, 0));
    for (const char *id : {"a", "b", "c"})
        REQUIRE(call(one.port, "PUT", all + id, definition).status == 201);
    CHECK(are(3, 0, 0, 0));
    CHECK(event("a", "failed", "a") == 200); // b waits for it
    CHECK(event("b", "ended", "a") == 200);
    CHECK(event("b", "started", "b") == 200);
    CHECK(are(2, 0, 1, 0));
    CHECK(event("b", "ended", "b") == 200);
    CHECK(are(1, 1, 1, 0));
    CHECK(call(one.port, "DELETE", all + "c").status == 204);
    CHECK(are(0, 1, 1, 0));
    {
        test_db own(test_db_options(d.url.c_str()));
        test_session s(own);
        error err{};
        REQUIRE(db_execute(s,
                           "UPDATE workflow_session SET expires_at = now() WHERE"
                           " session_id = 'a'",
                           &err) == OK);
    }
    CHECK(are(0, 1, 0, 1));
    one.stop();
    two.stop();
}

TEST_CASE("many wait for one session, and all are woken", "[system][db]")
{
    gridplan g({"--database", test_database(), "--workflow-session-waits", "40"});
    std::string path = "/v1/workflow-sessions/many", next = path + "/next?wait_s=30";
    std::vector<client> clients;
    int woken = 0, refused = 0;

    REQUIRE(eventually([&] { return g.is_ready(); }));
    REQUIRE(call(g.port, "PUT", path, definition).status == 201);
    std::string tag = g.get(path + "/next").field("ETag");
    for (int i = 0; i < 45; i++) {
        clients.emplace_back(g.port);
        REQUIRE(clients.back().put("GET " + next +
                                   " HTTP/1.1\r\nHost: localhost\r\n"
                                   "If-None-Match: " +
                                   tag + "\r\n\r\n"));
    }
    REQUIRE(eventually(
        [&] { return g.metric("gridplan_workflow_session_waiters") == 40; }, 20));
    pause(2); // the other five are refused meanwhile
    CHECK(g.post(path + "/events", started("1")).status == 200);
    for (client &c : clients) {
        int status = c.get(30).status;
        woken += status == 200;
        refused += status == 503;
    }
    CHECK(woken == 40);
    CHECK(refused == 5);
    g.stop();
}

TEST_CASE("a run of nf-cws goes on at another replica when its own is killed",
          "[system][db]")
{
    own_database d("test_system_cws");
    const std::string at = "/compat/cws/v1/scheduler/killed";
    auto one = std::make_unique<gridplan>(std::vector<std::string>{"--database", d.url});
    gridplan two({"--database", d.url});
    auto order = [&](const gridplan &g) {
        answer r = g.get(at);
        std::string out;

        if (r.status != 200)
            return std::to_string(r.status);
        json body = r.json();
        for (const json &t : body["tasks"])
            out += t["task_id"].dump() + t["state"].dump() + t["rank_s"].dump() + " ";
        return out;
    };

    REQUIRE(eventually([&] { return one->is_ready() && two.is_ready(); }));
    CHECK(one->post(at, R"({"strategy":"rank_max-fair"})").status == 200);
    CHECK(one->post(at + "/DAG/vertices", R"([{"uid":1,"label":"A","type":"PROCESS"},
                                               {"uid":2,"label":"B","type":"PROCESS"}])")
              .status == 200);
    CHECK(one->post(at + "/DAG/edges", R"([{"uid":3,"from":1,"to":2}])").status == 200);
    CHECK(one->post(at + "/task/1", R"({"task":"B"})").status == 200);
    CHECK(one->post(at + "/task/2", R"({"task":"A"})").status == 200);
    CHECK(call(two.port, "DELETE", at + "/task/1").status == 200);
    const std::string want = R"(2"UNSCHEDULED"120 1"FINISHED"60 )";
    CHECK(order(*one) == want);
    CHECK(order(two) == want);
    for (int round = 0; round < 3; round++) {
        one->kill_now();
        CHECK(order(two) == want);
        CHECK(two.post(at + "/task/1", R"({"task":"B"})").status == 200);
        one = std::make_unique<gridplan>(std::vector<std::string>{"--database", d.url});
        REQUIRE(eventually([&] { return one->is_ready(); }));
        CHECK(order(*one) == R"(2"UNSCHEDULED"120 1"UNSCHEDULED"60 )");
        CHECK(call(one->port, "DELETE", at + "/task/1").status == 200);
        CHECK(order(two) == want);
    }
    one->stop();
    two.stop();
}

// Requests that wait hold no thread and no connection to the database: with two of these
// a thousand wait, and others are answered as before.
TEST_CASE("a thousand wait for news, and nobody else waits for them", "[system][db]")
{
    const size_t all = 1000, sessions = 4;
    gridplan g({"--database", test_database(), "--db-pool-size", "2"});
    auto path = [](size_t i) {
        return "/v1/workflow-sessions/thousand-" + std::to_string(i % sessions);
    };
    std::vector<std::string> tags;
    std::vector<std::unique_ptr<client>> clients;
    auto thread_count = [&] {
        return std::stoul(run_command(
            {"sh", "-c", "ls /proc/" + std::to_string(g.pid) + "/task | wc -l"}));
    };
    auto latency_s = [&] { // of a request that reads the database; the 95th percentile
        std::vector<double> took;
        for (int i = 0; i < 100; i++) {
            double began_s = now_s();
            CHECK(g.get("/v1/snapshots?page_size=1").status == 200);
            took.push_back(now_s() - began_s);
        }
        return percentile(took, 0.95);
    };

    REQUIRE(eventually([&] { return g.is_ready(); }));
    for (size_t i = 0; i < sessions; i++) {
        call(g.port, "DELETE", path(i));
        REQUIRE(call(g.port, "PUT", path(i), definition).status == 201);
        tags.push_back(g.get(path(i) + "/next").field("ETag"));
    }
    double alone_s = latency_s();
    size_t threads = thread_count(), bytes = resident_bytes(g.pid);
    for (size_t i = 0; i < all; i++) {
        clients.push_back(std::make_unique<client>(g.port));
        REQUIRE(clients.back()->put("GET " + path(i) +
                                    "/next?wait_s=60 HTTP/1.1\r\nHost: localhost\r\n"
                                    "If-None-Match: " +
                                    tags[i % sessions] + "\r\n\r\n"));
    }
    REQUIRE(eventually(
        [&] { return g.metric("gridplan_workflow_session_waiters") == all; }, 30));
    double beside_s = latency_s();
    size_t more_bytes = resident_bytes(g.pid) - bytes;
    report(REPORT("1000 wait: " << more_bytes / all << " bytes each, " << threads
                                << " threads before, " << thread_count()
                                << " now; others take " << alone_s * 1e3 << " ms alone, "
                                << beside_s * 1e3 << " ms beside them"));
    CHECK(g.metric("gridplan_db_pool_in_use") <= 2);
    CHECK(thread_count() <= threads + 2); // pools grow with what is busy, not with these
    CHECK(more_bytes < (size_t)SLOWER * all * 150000);
    CHECK(beside_s < 15); // nobody stands behind those that wait

    double told_s = now_s();
    for (size_t i = 0; i < sessions; i++)
        CHECK(g.post(path(i) + "/events", started("1")).status == 200);
    size_t woken = 0;
    for (auto &c : clients)
        woken += c->get(30).status == 200;
    double woken_s = now_s() - told_s;
    report(REPORT("1000 are told of an event of theirs within " << woken_s << " s"));
    CHECK(woken == all);
    CHECK(g.metric("gridplan_workflow_session_waiters") == 0);
    g.stop();
}
