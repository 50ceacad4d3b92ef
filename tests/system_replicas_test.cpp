// system_replicas_test.cpp - two replicas on one database, behind the nginx that
// docker/nginx.conf configures: nobody can tell which of them answers.
#include "tests/system.hpp"

#include <regex>

namespace
{
int free_port()
{
    sockaddr_in at{};
    socklen_t length = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(fd, (sockaddr *)&at, sizeof(at)) == 0);
    getsockname(fd, (sockaddr *)&at, &length);
    close(fd);
    return ntohs(at.sin_port);
}

// Replaces what must be there exactly once.
void replace(std::string &text, const std::string &what, const std::string &by)
{
    INFO("docker/nginx.conf: " << what);
    REQUIRE(occurrences(text, what) == 1);
    text.replace(text.find(what), what.size(), by);
}

// nginx as it is shipped, but for addresses and folders.
class proxy : public process
{
  public:
    int port = 0;

    explicit proxy(const std::vector<int> &replicas)
    {
        for (int attempt = 0; attempt < 5 && port == 0; attempt++)
            try_start(replicas, free_port());
        INFO(text());
        REQUIRE(port > 0);
    }
    ~proxy() override
    {
        kill_now();
    }

  private:
    void try_start(const std::vector<int> &replicas, int wanted)
    {
        std::string conf = file_text(GRIDPLAN_SOURCE_DIR "/docker/nginx.conf"), servers;

        for (int r : replicas)
            servers += "server 127.0.0.1:" + std::to_string(r) +
                       " max_fails=2 fail_timeout=5s;\n";
        for (std::string kind : {"client", "proxy", "fastcgi", "uwsgi", "scgi"})
            replace(conf, "_temp_path /tmp/" + kind + ";",
                    "_temp_path " + files.path + "/" + kind + ";");
        replace(conf, "server gridplan:8080 max_fails=2 fail_timeout=5s;", servers);
        replace(conf, "listen 8080;", "listen 127.0.0.1:" + std::to_string(wanted) + ";");
        replace(conf, "pid /tmp/nginx.pid;",
                "pid " + files.path + "/pid; daemon off; master_process off;");
        std::ofstream(files.path + "/nginx.conf") << conf;
        start(
            {"nginx", "-p", files.path, "-e", "stderr", "-c", files.path + "/nginx.conf"},
            files.path + "/log");
        if (eventually([&] {
                return !runs() || call(wanted, "GET", "/v1/service-info").status == 200;
            }) &&
            runs())
            port = wanted;
        else
            end(5);
    }
    folder files;
};

// A new database beside the test's.
struct own_database {
    std::string name, url;

    explicit own_database(const std::string &name_) : name(name_), url(test_database())
    {
        size_t slash = url.find('/', url.find("//") + 2), end = url.find('?', slash);

        sql(test_database(), "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)");
        sql(test_database(), "CREATE DATABASE " + name);
        url.replace(slash + 1, end - slash - 1, name);
    }
    ~own_database()
    {
        sql(test_database(), "DROP DATABASE " + name + " WITH (FORCE)");
    }
};

// The two replicas and what is before them.
struct replicas {
    gridplan one, two;
    proxy front;

    explicit replicas(const std::string &url)
        : one({"--database", url}), two({"--database", url}), front({one.port, two.port})
    {
        REQUIRE(eventually([&] { return one.is_ready() && two.is_ready(); }));
    }
    void stop()
    {
        front.kill_now();
        one.stop();
        two.stop();
    }
};

// An answer without what differs from call to call.
std::string comparable(const std::string &body)
{
    static const std::regex varying(R"re("decision_id":"[^"]*"|"timings":\{[^}]*\})re");

    return std::regex_replace(body, varying, "");
}

std::string unique(const std::string &stem)
{
    static std::atomic<int> count{0};

    return stem + "-" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

size_t list_size(int port, const std::string &target, const std::string &list)
{
    answer r = call(port, "GET", target);

    INFO(r.body);
    REQUIRE(r.status == 200);
    return r.json().at(list).size();
}
} // namespace

TEST_CASE("replicas that start at the same time bring the schema up to date once",
          "[system][db]")
{
    own_database d("test_system_two");
    gridplan one({"--database", d.url}, false), two({"--database", d.url}, false);
    std::string files =
        run_command({"sh", "-c", "ls " GRIDPLAN_SOURCE_DIR "/migrations/*.sql | wc -l"});
    auto applied = [](const gridplan &g) {
        std::string text = g.text();
        size_t at = text.find("database ready, ");
        return at == std::string::npos ? -1 : atoi(text.c_str() + at + 16);
    };

    one.wait_for_port();
    two.wait_for_port();
    REQUIRE(eventually([&] { return one.is_ready() && two.is_ready(); }));
    REQUIRE(eventually([&] { return applied(one) >= 0 && applied(two) >= 0; }));
    CHECK(atoi(files.c_str()) > 0);
    CHECK(applied(one) + applied(two) == atoi(files.c_str()));
    for (auto *g : {&one, &two}) {
        INFO(g->text());
        CHECK(occurrences(g->text(), "\"level\":\"error\"") == 0);
        CHECK(occurrences(g->text(), "trying again") == 0);
    }
    // The command agrees that there is nothing left to do.
    CHECK_THAT(run_command({build_binary, "migrate", "--database", d.url}),
               Catch::StartsWith("0 of "));
    one.stop();
    two.stop();
}

TEST_CASE("the same request and seed get the same answer from every replica",
          "[system][db]")
{
    replicas r(test_database());
    auto search = nlohmann::json::parse(search_body(600));
    search["options"] = {{"max_steps", 200}};
    search.erase("time_limit_s");
    std::vector<std::pair<const char *, std::string>> requests = {
        {"/v1/placements", placement_body()},
        {"/v1/placements", search.dump()},
        {"/v1/checkpoint-intervals", checkpoint_body()},
    };

    for (auto &q : requests) {
        std::string first = comparable(r.one.post(q.first, q.second).body);
        REQUIRE_THAT(first, Catch::Contains("\"algorithm\""));
        CHECK(comparable(r.two.post(q.first, q.second).body) == first);
        for (int i = 0; i < 4; i++) {
            answer a = call(r.front.port, "POST", q.first, q.second);
            CHECK(a.status == 200);
            CHECK(comparable(a.body) == first);
        }
    }
    r.stop();
    // The proxy has used both.
    for (int port : {r.one.port, r.two.port})
        CHECK(occurrences(r.front.text(),
                          "\"upstream\":\"127.0.0.1:" + std::to_string(port) + "\"") > 0);
}

TEST_CASE("history put in through one replica is read through the other", "[system][db]")
{
    replicas r(test_database());
    std::string id = unique("node");
    const gridplan *both[] = {&r.one, &r.two};

    for (int i = 0; i < 40; i++) {
        std::string at = std::to_string(1764000000 + i);
        int port = i % 4 < 2 ? r.front.port : both[i % 2]->port;
        CHECK(call(port, "POST", "/v1/load-samples",
                   "{\"resource_id\":\"" + id + "\",\"observed_at\":" + at +
                       ",\"latency_s\":1}")
                  .status == 201);
        CHECK(call(port, "POST", "/v1/failures",
                   "{\"resource_id\":\"" + id + "\",\"down_at\":" + at +
                       ",\"up_at\":" + at + "}")
                  .status == 201);
        CHECK(call(port, "POST", "/v1/executions",
                   "{\"application_id\":\"" + id + "\",\"started_at\":" + at +
                       ",\"run_time_s\":1}")
                  .status == 201);
        // At once, not after a while.
        for (auto *g : both)
            CHECK(list_size(g->port, "/v1/load-samples?resource_id=" + id, "items") ==
                  (size_t)i + 1);
    }
    for (auto *g : both) {
        CHECK(list_size(g->port, "/v1/failures?resource_id=" + id, "items") == 40);
        CHECK(list_size(g->port, "/v1/executions?application_id=" + id, "items") == 40);
    }
    // A page token of one is understood by the other.
    std::string target = "/v1/load-samples?page_size=15&resource_id=" + id;
    auto page = r.one.get(target).json();
    page =
        r.two.get(target + "&page_token=" + page.at("next_page_token").get<std::string>())
            .json();
    CHECK(page.at("items").size() == 15);
    target = "/v1/failures/statistics?to=1764001000&resource_id=" + id;
    CHECK(r.one.get(target).json().at("failure_count") == 40);
    CHECK(r.one.get(target).body == r.two.get(target).body);
    r.stop();
}

TEST_CASE("snapshots changed through both replicas lose no change", "[system][db]")
{
    replicas r(test_database());
    std::string id = unique("snapshot"), target = "/v1/snapshots/" + id;
    std::atomic<int> done{0}, stale{0}, other{0};
    std::vector<std::thread> threads;
    constexpr int THREADS = 4, CHANGES = 15;

    REQUIRE(r.one
                .post("/v1/snapshots?id=" + id,
                      R"({"resources":[{"id":"m","mips_total":1}]})")
                .status == 201);
    for (int t = 0; t < THREADS; t++)
        threads.emplace_back([&, t] {
            client c(t % 2 ? r.one.port : r.two.port);
            for (int mine = 0; mine < CHANGES && !other;) {
                answer got = c.call(request("GET", target));
                if (got.status != 200) {
                    other++;
                    break;
                }
                auto stored = nlohmann::json::parse(got.body).at("snapshot");
                double value = stored["resources"][0]["mips_total"];
                stored["resources"][0]["mips_total"] = value + 1;
                answer changed = c.call(
                    request("PATCH", target,
                            nlohmann::json({{"resources", stored["resources"]}}).dump(),
                            "Content-Type: application/merge-patch+json\r\nIf-Match: " +
                                got.field("ETag") + "\r\n"));
                mine += changed.status == 200;
                (changed.status == 200 ? done : changed.status == 412 ? stale : other)++;
            }
        });
    for (auto &t : threads)
        t.join();
    CHECK(other == 0);
    CHECK(done == THREADS * CHANGES);
    auto last = call(r.front.port, "GET", target).json();
    CHECK(last.at("generation") == 1 + THREADS * CHANGES);
    CHECK(last.at("snapshot").at("resources").at(0).at("mips_total") ==
          1 + THREADS * CHANGES);
    // A decision by either replica sees the newest.
    std::string ask = R"({"snapshot_id":")" + id +
                      R"(","jobs":[{"id":"j","estimate_ref_s":610}],"algorithm":"mct"})";
    for (int port : {r.one.port, r.two.port, r.front.port})
        CHECK(call(port, "POST", "/v1/placements", ask)
                  .json()
                  .at("placements")
                  .at(0)
                  .at("run_time_s") == Approx(10.0));
    report(REPORT(done << " changes, " << stale << " refused as stale"));
    r.stop();
}

TEST_CASE("an Idempotency-Key holds across replicas", "[system][db]")
{
    replicas r(test_database());
    std::atomic<int> created{0}, running{0}, other{0};

    for (int i = 0; i < 10; i++) {
        std::string id = unique("once"), key = "Idempotency-Key: " + id + "\r\n";
        std::string body =
            "{\"resource_id\":\"" + id + "\",\"observed_at\":1764000000,\"latency_s\":1}";
        std::vector<std::thread> threads;

        for (int t = 0; t < 6; t++)
            threads.emplace_back([&, t] {
                int port = t % 3 == 0   ? r.one.port
                           : t % 3 == 1 ? r.two.port
                                        : r.front.port;
                answer a = call(port, "POST", "/v1/load-samples", body, key);
                (a.status == 201 ? created : a.status == 409 ? running : other)++;
            });
        for (auto &t : threads)
            t.join();
        CHECK(list_size(r.one.port, "/v1/load-samples?resource_id=" + id, "items") == 1);
        for (int port : {r.one.port, r.two.port}) {
            answer again = call(port, "POST", "/v1/load-samples", body, key);
            CHECK(again.status == 201);
            CHECK(again.field("Idempotency-Replayed") == "true");
            CHECK(call(port, "POST", "/v1/load-samples", body + " ", key).status == 422);
        }
    }
    CHECK(other == 0);
    CHECK(created >= 10);
    report(REPORT("60 requests with 10 keys: " << created << " answered, " << running
                                               << " told to wait (409)"));
    r.stop();
}

TEST_CASE("a stored decision is read and replayed by the other replica", "[system][db]")
{
    replicas r(test_database());
    auto body = nlohmann::json::parse(placement_body());
    body["store"] = true;
    body["labels"] = {{"ticket", 17}};

    for (int i = 0; i < 4; i++) {
        const gridplan &writes = i % 2 ? r.one : r.two, &reads = i % 2 ? r.two : r.one;
        answer made = writes.post("/v1/placements", body.dump());
        REQUIRE(made.status == 200);
        answer read = reads.get(made.field("Location"));
        REQUIRE(read.status == 200);
        CHECK(read.json().at("request") == body);
        CHECK_THAT(read.body, Catch::Contains("\"answer\":" + made.body));
        answer replayed = reads.post(made.field("Location") + "/replay", "");
        REQUIRE(replayed.status == 200);
        CHECK(replayed.json().at("identical") == true);
        CHECK(comparable(replayed.json().at("answer").dump()) ==
              comparable(made.json().dump()));
    }
    r.stop();
}

TEST_CASE("one replica killed is no outage behind the proxy", "[system][db]")
{
    replicas r(test_database());
    std::string id = unique("outage");
    int failed = 0;

    REQUIRE(r.two.post("/v1/snapshots?id=" + id, R"({"resources":[]})").status == 201);
    r.one.kill_now();
    for (int i = 0; i < 50; i++) {
        failed += call(r.front.port, "GET", "/v1/snapshots/" + id).status != 200;
        failed +=
            call(r.front.port, "POST", "/v1/checkpoint-intervals", checkpoint_body())
                .status != 200;
    }
    CHECK(failed == 0);
    r.front.kill_now();
    r.two.stop();
}

TEST_CASE("clients of two replicas place and lease, and never get more than there is",
          "[system][db]")
{
    gridplan one({"--database", test_database()}), two({"--database", test_database()});
    std::string id = unique("shared");
    std::string snapshot = R"({"resources":[{"id":"n","cpus":8},{"id":"m","cpus":4}]})";
    std::atomic<int> leased{0}, wrong{0};
    std::vector<std::thread> clients;

    REQUIRE(eventually([&] { return one.is_ready() && two.is_ready(); }));
    REQUIRE(call(one.port, "POST", "/v1/snapshots?id=" + id, snapshot).status == 201);
    auto place = [&](int port, const std::string &job) {
        answer r = call(port, "POST", "/v1/placements",
                        "{\"snapshot_id\":\"" + id +
                            R"(","lease":{"owner":"o"},"jobs":[{"id":")" + job +
                            R"(","cpus":1.5,"estimate_s":500}]})");
        leased += r.status == 200 && r.body.find("\"lease_id\"") != std::string::npos;
        wrong += r.status != 200 && r.status != 409;
        return r.status;
    };
    for (int c = 0; c < 4; c++)
        clients.emplace_back([&, c] {
            for (int i = 0; i < 5; i++)
                place(c % 2 ? two.port : one.port,
                      std::to_string(c) + "-" + std::to_string(i));
        });
    for (auto &c : clients)
        c.join();
    CHECK(wrong == 0);
    CHECK(leased <= 7);
    for (int i = 0; i < 8; i++) // whom nobody overtakes gets what is left
        CHECK(place(i % 2 ? two.port : one.port, "last-" + std::to_string(i)) == 200);
    CHECK(leased == 7); // five of 1.5 on eight, two on four
    CHECK(list_size(one.port, "/v1/snapshots/" + id + "/leases", "items") == 7);
    one.stop();
    two.stop();
}
