// system_sessions_test.cpp - who waits for news of a session: two replicas of one
// database, over real connections.
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
        CHECK(nothing.lasted_s < 10);
    }
    {
        waiting news(two, next + "30", tag);
        pause(0.6);
        CHECK(two.metric("gridplan_workflow_session_waiters") == 1);
        CHECK(one.post(path + "/events", started("1")).status == 200);
        double told_s = now_s();
        news.join();
        CHECK(now_s() - told_s < 5);
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
        CHECK(now.lasted_s < 5);
        CHECK(one.get(next + "30").status == 200);
    }
    {
        // Whoever waits is told when the service ends.
        waiting end(two, next + "60", tag);
        pause(0.6);
        two.stop();
        end.join();
        CHECK(end.reply.status == 304);
        CHECK(end.lasted_s < 20);
    }
    one.stop();
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
