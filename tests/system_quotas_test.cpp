// system_quotas_test.cpp - quotas of keys and tenants: set by the program, shown by the
// service, and kept by it.
#include "tests/system.hpp"

namespace
{
struct operator_of {
    std::string url;

    std::string run(std::vector<std::string> words, int wanted_status = 0) const
    {
        int status = -1;

        words.insert(words.begin(), build_binary);
        words.insert(words.end(), {"--database", url});
        std::string text = run_command(words, &status);
        INFO(text);
        CHECK(status == wanted_status);
        return text;
    }
};

std::string new_key(const operator_of &o, std::vector<std::string> words)
{
    words.insert(words.begin(), {"key", "create"});
    std::string text = o.run(words);

    return text.substr(text.rfind("gp_"), 80);
}
} // namespace

TEST_CASE("quotas are set in their bounds, and shown", "[system][quota][db]")
{
    operator_of o{test_database()};

    o.run({"migrate"});
    for (std::vector<std::string> bad : std::vector<std::vector<std::string>>{
             {"tenant", "set", "gamma", "--weight", "0"},
             {"tenant", "set", "gamma", "--weight", "nan"},
             {"tenant", "set", "gamma", "--memory-bytes", "5"},
             {"tenant", "set", "gamma", "--rate-per-s", "x", "--burst-count", "0.5"},
             {"key", "create", "--tenant", "gamma", "--weight", "2"},
             {"key", "create", "--tenant", "gamma", "--cpu-s-per-hour", "-1"}}) {
        std::string flag = bad[bad.size() - 2];

        CAPTURE(flag, bad.back());
        CHECK_THAT(o.run(bad, 2), Catch::Contains(flag));
    }
    CHECK_THAT(
        o.run({"tenant", "set", "gamma", "--rate-per-s", "x", "--burst-count", "0.5"}, 2),
        Catch::Contains("--rate-per-s") && Catch::Contains("--burst-count"));
    CHECK_THAT(o.run({"key", "list", "--tenant", "gamma"}), Catch::Equals(""));
    CHECK_THAT(o.run({"tenant", "show", "gamma"}), Catch::Equals("tenant gamma:\n"));
    CHECK_THAT(o.run({"tenant", "set", "gamma", "--burst-count=30", "--weight", "2"}),
               Catch::Contains("--burst-count 30") && Catch::Contains("--weight 2"));
    CHECK_THAT(o.run({"tenant", "set", "gamma", "--weight", "default", "--memory-bytes",
                      "none"}),
               Catch::Equals("tenant gamma:  --burst-count 30  --memory-bytes none\n"));
    CHECK_THAT(o.run({"tenant", "show", "gamma"}),
               Catch::Contains("--burst-count 30  --memory-bytes none"));
}

TEST_CASE("keys stay within their quotas and their tenant's", "[system][quota][db]")
{
    operator_of o{test_database()};

    o.run({"migrate"});
    o.run({"tenant", "set", "delta", "--rate-per-s", "1", "--burst-count", "30",
           "--time-limit-max-s", "0.5"});
    std::string key = new_key(o, {"--tenant", "delta", "--cpu-s-per-hour", "2",
                                  "--rate-per-s", "100", "--burst-count", "40"});
    std::string header = "Authorization: Bearer " + key + "\r\n";
    gridplan g({"--auth", "on", "--database", o.url});
    client c(g.port);
    auto ask = [&] { return c.call(request("GET", "/v1/quotas", "", header)); };

    answer first;
    REQUIRE(eventually([&] { // until the database is up to date
        first = ask();
        return first.status == 200;
    }));
    CHECK(first.field("RateLimit-Policy") == "\"default\";q=30;w=30");
    CHECK_THAT(first.field("RateLimit"), Catch::StartsWith("\"default\";r=2"));
    nlohmann::json quotas = first.json(), items = quotas["items"];
    REQUIRE(items.size() == 3);
    CHECK(items[0]["policy"] == "default");
    CHECK(items[0]["scope"] == "tenant"); // 30 are less than the key's 40
    CHECK(items[0]["limit"] == 30);
    CHECK(items[0]["reset_s"] == 1);
    CHECK(items[1] == nlohmann::json::parse(R"({"policy": "cpu", "scope": "key",
        "limit": 2, "unit": "cpu-seconds", "remaining": 2, "reset_s": 1800})"));
    CHECK(items[2] == nlohmann::json::parse(R"({"policy": "time_limit",
        "scope": "tenant", "limit": 0.5, "unit": "seconds", "remaining": 0.5})"));

    CHECK(c.call(request("POST", "/v1/placements", search_body(30), header)).status ==
          422); // the tenant's limit is 0.5 s
    // Searches of 0.4 s, of little CPU each if others have it, until less than a second
    // is left: then the next one must wait, what only reads need not.
    answer refused;
    int searches = 0;
    for (; searches < 300 && refused.status != 429; searches++)
        refused = c.call(request("POST", "/v1/placements", search_body(0.4), header));
    REQUIRE(refused.status == 429);
    CHECK(searches > 1);
    CHECK(atoi(refused.field("Retry-After").c_str()) >= 1);
    nlohmann::json problem = refused.json();
    CHECK(problem["code"] == "rate_limited");
    CHECK(problem["violated_policies"] == nlohmann::json::parse(R"(["cpu"])"));
    CHECK(ask().status == 200);

    o.run({"key", "set", key.substr(3, 12), "--cpu-s-per-hour", "none", "--rate-per-s",
           "0.001", "--burst-count", "1"});
    g.send_signal(SIGHUP);
    REQUIRE(eventually([&] {
        refused = ask();
        return refused.status == 429;
    }));
    problem = refused.json();
    CHECK(problem["violated_policies"] == nlohmann::json::parse(R"(["default"])"));
    g.stop();
}
