// system_keys_test.cpp - the program itself, with requests under an Idempotency-Key that
// compute for long: what they hold meanwhile, who waits, what a hang-up leaves behind.
#include "tests/json.hpp"

#include "system.hpp"

namespace
{
std::string key_line(const std::string &key)
{
    return "Idempotency-Key: " + key + "\r\n";
}

std::string unique_key(const char *what)
{
    static std::atomic<int> number;
    return std::string(what) + std::to_string(getpid()) + "-" + std::to_string(number++);
}
} // namespace

TEST_CASE("keyed decisions hold no connection while they are computed", "[system][db]")
{
    gridplan g({"--database", test_database(), "--db-pool-size", "8", "--query-workers",
                "8", "--compute-workers", "10", "--idempotency-lease-s", "1"});
    REQUIRE(eventually([&] { return g.is_ready(); }));
    const double limit_s = 4;
    std::string body = search_body(limit_s);
    std::vector<std::thread> threads;
    std::atomic<int> answered{0}, other{0};
    double start_s = now_s();

    for (int i = 0; i < 10; i++)
        threads.emplace_back([&, i] {
            answer a = g.post("/v1/placements", body,
                              key_line(unique_key("long") + std::to_string(i)), 120);
            (a.status == 200 ? answered : other)++;
        });
    REQUIRE(eventually([&] { return g.metric("gridplan_keys_held") == 10; }, 60));
    int looks = 0;
    while (now_s() - start_s < limit_s * 0.8 && answered == 0) {
        std::string id = unique_key("r");
        answer stored = g.post("/v1/load-samples",
                               "{\"resource_id\":\"" + id +
                                   "\",\"observed_at\":1764000000,\"latency_s\":1}",
                               key_line(id));
        CHECK(stored.status == 201);
        CHECK(g.get("/v1/load-samples?resource_id=" + id).status == 200);
        CHECK(g.is_ready());
        looks++;
    }
    CHECK(looks > 3);
    for (auto &t : threads)
        t.join();
    CHECK(answered == 10);
    CHECK(other == 0);
    CHECK(g.metric("gridplan_keys_held") == 0);
    report(
        REPORT(looks << " rounds of ingest, read and /readyz beside 10 keyed searches"));
    g.stop();
}

TEST_CASE("of equal requests under one key one computes and the others wait",
          "[system][db]")
{
    gridplan one({"--database", test_database(), "--query-workers", "2"}),
        two({"--database", test_database()});
    REQUIRE(eventually([&] { return one.is_ready() && two.is_ready(); }));
    std::string key = key_line(unique_key("same")), body = search_body(2);
    std::vector<std::thread> threads;
    std::vector<answer> answers(8);

    // More waiters than query workers: they hold none.
    for (size_t i = 0; i < answers.size(); i++)
        threads.emplace_back([&, i] {
            answers[i] = call(i % 4 ? one.port : two.port, "POST", "/v1/placements", body,
                              key + "Prefer: wait=50\r\n", 120);
        });
    REQUIRE(eventually([&] {
        return one.metric("gridplan_keys_waiting") +
                   two.metric("gridplan_keys_waiting") >=
               6;
    }));
    CHECK(one.is_ready());
    answer busy = one.post("/v1/placements", body, key + "Prefer: wait=0\r\n");
    CHECK(busy.status == 409);
    CHECK(busy.field("Retry-After") == "1");
    CHECK(one.post("/v1/placements", body + " ", key).status == 422);
    for (auto &t : threads)
        t.join();
    int replayed = 0;
    for (auto &a : answers) {
        CHECK(a.status == 200);
        CHECK(a.body == answers[0].body);
        replayed += a.field("Idempotency-Replayed") == "true";
    }
    CHECK(replayed == (int)answers.size() - 1);
    one.stop();
    two.stop();
}

TEST_CASE("a hang-up gives the key back, and a pause beyond the lease loses it",
          "[system][db]")
{
    gridplan one({"--database", test_database(), "--idempotency-lease-s", "1"}),
        two({"--database", test_database(), "--idempotency-lease-s", "1"});
    REQUIRE(eventually([&] { return one.is_ready() && two.is_ready(); }));
    std::string key = unique_key("gone"), body = search_body(60);
    auto rows = [&](const std::string &name) {
        return sql(test_database(), "SELECT count(*) FROM idempotency_key WHERE"
                                    " idempotency_key = '" +
                                        name + "'");
    };
    {
        client c(one.port);
        REQUIRE(c.put(request("POST", "/v1/placements", body, key_line(key))));
        REQUIRE(eventually([&] { return rows(key) == "1"; }));
        REQUIRE(eventually([&] { return one.metric("gridplan_keys_held") == 1; }));
    }
    CHECK(eventually([&] { return rows(key) == "0"; }, 10 * SLOWER));

    // Paused beyond its lease: the other one takes over, and both give its answer.
    std::string lost = unique_key("lost");
    answer first, second;
    body = search_body(2);
    std::thread caller([&] {
        first =
            one.post("/v1/placements", body, key_line(lost) + "Prefer: wait=50\r\n", 120);
    });
    REQUIRE(eventually([&] { return one.metric("gridplan_keys_held") == 1; }));
    one.send_signal(SIGSTOP);
    second =
        two.post("/v1/placements", body, key_line(lost) + "Prefer: wait=50\r\n", 120);
    one.send_signal(SIGCONT);
    caller.join();
    CHECK(second.status == 200);
    CHECK(first.status == 200);
    CHECK(first.body == second.body);
    CHECK(two.metric("gridplan_takeovers_total") == 1);
    CHECK(sql(test_database(), "SELECT attempt_count FROM idempotency_key WHERE"
                               " idempotency_key = '" +
                                   lost + "'") == "2");
    one.stop();
    two.stop();
}

TEST_CASE("a decision whose database dies while it is computed is answered", "[system]")
{
    cluster c;
    gridplan g({"--database", c.url});
    REQUIRE(eventually([&] { return g.is_ready(); }));
    answer a;
    std::string key = key_line(unique_key("dies"));
    std::thread caller([&] { a = g.post("/v1/placements", search_body(2), key, 120); });
    REQUIRE(eventually([&] { return g.metric("gridplan_keys_held") == 1; }));
    c.kill_now();
    caller.join();
    CHECK(a.status == 200);
    CHECK(a.field("Idempotency-Stored") == "false");
    CHECK_THAT(a.body, Catch::Contains("idempotency_local"));
    // What only stores is not acknowledged.
    CHECK(g.post("/v1/load-samples",
                 R"({"resource_id":"r","observed_at":1,"latency_s":1})",
                 key_line(unique_key("store")))
              .status == 503);
    CHECK_FALSE(g.is_ready());
    CHECK(g.get("/readyz?verbose").json().at("status") == "down");
    g.stop();
}

TEST_CASE("a dynamic programme whose replica is killed is computed by another one",
          "[system][db]")
{
    std::vector<std::string> flags = {"--database", test_database(),
                                      "--idempotency-lease-s", "1"};
    gridplan one(flags), two(flags);
    REQUIRE(eventually([&] { return one.is_ready() && two.is_ready(); }));
    const char *path = "/v1/checkpoint-intervals";
    nlohmann::json body = {{"algorithm", "weibull"},
                           {"options",
                            {{"weibull_shape", 0.7},
                             {"weibull_scale_s", 70000},
                             {"method", "dp"},
                             {"bound", "dp"}}},
                           {"jobs", nlohmann::json::array()}};
    for (int i = 0; i < (build_is_sanitized ? 3 : 10); i++)
        body["jobs"].push_back({{"id", "j" + std::to_string(i)},
                                {"event", "start"},
                                {"uptime_s", 1000 * i},
                                {"checkpoint_overhead_s", 86},
                                {"execution_time_s", 340000}});
    std::string key = key_line(unique_key("dp"));
    client c(one.port);
    REQUIRE(c.put(request("POST", path, body.dump(), key)));
    REQUIRE(eventually([&] { return one.metric("gridplan_keys_held") == 1; }));
    one.kill_now();

    // Who asks again meanwhile waits until the key is nobody's.
    answer again = two.post(path, body.dump(), key + "Prefer: wait=50\r\n", 120);
    REQUIRE(again.status == 200);
    CHECK(two.metric("gridplan_takeovers_total") == 1);
    nlohmann::json calm = two.post(path, body.dump(), "", 120).json(), got = again.json();
    CHECK(got["intervals"] == calm["intervals"]);
    CHECK(got["intervals"][0]["bound_basis"] == "dp");
    answer third = two.post(path, body.dump(), key);
    CHECK(third.body == again.body);
    CHECK(third.field("Idempotency-Replayed") == "true");
    two.stop();
}
