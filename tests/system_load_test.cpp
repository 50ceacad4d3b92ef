// system_load_test.cpp - the program while all its compute workers search: who else is
// served, who is refused, and who gives up; and its command line.
#include "tests/system.hpp"

namespace
{
// As many searches as there are workers, each of them running.
std::vector<client> start_searches(const gridplan &g, size_t count, double time_limit_s)
{
    std::vector<client> clients;
    double before = g.metric("gridplan_worker_running{pool=\"compute\"}");

    for (size_t i = 0; i < count; i++) {
        clients.emplace_back(g.port);
        REQUIRE(clients.back().put(
            request("POST", "/v1/placements", search_body(time_limit_s))));
    }
    REQUIRE(eventually([&] {
        return g.metric("gridplan_worker_running{pool=\"compute\"}") ==
               before + (double)count;
    }));
    return clients;
}

struct latency {
    std::vector<double> all_s;

    void report_as(const char *name) const
    {
        ::report(REPORT(name << ", all workers searching: p50 "
                             << percentile(all_s, 0.5) * 1e3 << " ms, p99 "
                             << percentile(all_s, 0.99) * 1e3 << " ms, of "
                             << all_s.size()));
    }
};
} // namespace

TEST_CASE("searches on all workers delay nobody else", "[system]")
{
    gridplan g({"--compute-workers", "2"});
    auto searches = start_searches(g, 2, 30);
    latency livez, checkpoint;
    client c(g.port);

    for (int i = 0; i < 300 * soak_factor(); i++) {
        double begin_s = now_s();
        REQUIRE(c.call(request("GET", "/livez")).status == 200);
        livez.all_s.push_back(now_s() - begin_s);
        begin_s = now_s();
        REQUIRE(c.call(request("POST", "/v1/checkpoint-intervals", checkpoint_body()))
                    .status == 200);
        checkpoint.all_s.push_back(now_s() - begin_s);
    }
    livez.report_as("GET /livez");
    checkpoint.report_as("POST /v1/checkpoint-intervals");
    CHECK(percentile(livez.all_s, 1) < 2);
    CHECK(percentile(checkpoint.all_s, 1) < 2);
    CHECK(g.metric("gridplan_worker_running{pool=\"compute\"}") ==
          2); // they still search
    for (auto &s : searches)
        s.hang_up();
    g.stop();
}

// Without keys every address is an owner of its own: bob is 127.0.0.1, alice 127.0.0.2.
TEST_CASE("one client's searches do not keep another's small request waiting", "[system]")
{
    gridplan g({"--compute-workers", "2", "--fair-quantum-s", "0.2"});
    auto searches = start_searches(g, 2, 2);
    std::string heft =
        file_text(GRIDPLAN_SOURCE_DIR "/openapi/examples/workflow-heft.json");
    client alice(g.port, "127.0.0.2");
    double begin_s, took_s;

    for (int i = 0; i < 8; i++) {
        searches.emplace_back(g.port);
        REQUIRE(searches.back().put(request("POST", "/v1/placements", search_body(2))));
    }
    REQUIRE(eventually(
        [&] { return g.metric("gridplan_worker_queue_depth{pool=\"compute\"}") == 8; }));
    begin_s = now_s();
    REQUIRE(alice.call(request("POST", "/v1/workflow-schedules", heft)).status == 200);
    took_s = now_s() - begin_s;
    report(
        REPORT("a small HEFT behind ten searches of another client: " << took_s << " s"));
    // The first two may have ended on a slow machine; all of bob's first come, first
    // served would be eight.
    CHECK(g.metric("gridplan_worker_queue_depth{pool=\"compute\"}") +
              g.metric("gridplan_worker_running{pool=\"compute\"}") +
              g.metric("gridplan_compute_parked") >=
          8);
    for (auto &s : searches)
        s.hang_up();
    REQUIRE(eventually(
        [&] { return g.metric("gridplan_worker_queue_depth{pool=\"compute\"}") == 0; }));
    g.stop();
}

TEST_CASE("what does not fit the queue of searches is refused at once; a client that "
          "hangs up frees its worker",
          "[system]")
{
    gridplan g({"--compute-workers", "2", "--compute-queue-length", "2"});
    auto running = start_searches(g, 2, 30);
    std::vector<client> waiting;
    auto depth = [&] {
        return g.metric("gridplan_worker_queue_depth{pool=\"compute\"}");
    };

    for (int i = 0; i < 2; i++) {
        waiting.emplace_back(g.port);
        REQUIRE(waiting.back().put(request("POST", "/v1/placements", search_body(0.2))));
    }
    REQUIRE(eventually([&] { return depth() == 2; }));
    double begin_s = now_s();
    answer refused = g.post("/v1/placements", search_body(30));
    CHECK(now_s() - begin_s < 20);
    CHECK(refused.status == 503);
    CHECK(atoi(refused.field("Retry-After").c_str()) >= 1);
    CHECK(refused.json().at("status") == 503);
    CHECK(g.metric("gridplan_http_requests_refused_total") == 1);

    // The two that wait get the workers that the two that run give up.
    begin_s = now_s();
    for (auto &r : running)
        r.hang_up();
    for (auto &w : waiting)
        CHECK(w.get().status == 200);
    CHECK(now_s() - begin_s < 30);
    CHECK(eventually(
        [&] { return g.metric("gridplan_worker_running{pool=\"compute\"}") == 0; }));
    CHECK(g.metric("gridplan_http_clients_gone_total") == 2);
    g.stop();
}

TEST_CASE("time_limit_s is kept", "[system]")
{
    gridplan g({"--time-limit-max-s", "2"});
    struct {
        const char *when;
        double asked_s, want_s;
    } cases[] = {{"as asked", 1, 1}, {"as much as there is", 2, 2}};

    for (auto &c : cases) {
        CAPTURE(c.when);
        double begin_s = now_s();
        answer r = g.post("/v1/placements", search_body(c.asked_s));
        double took_s = now_s() - begin_s;
        REQUIRE(r.status == 200);
        CHECK(r.json().at("status") == "cut");
        CHECK(r.json().at("placements").size() == 512);
        CHECK(took_s >= c.want_s * 0.99);
        CHECK(took_s < c.want_s + 10);
        report(REPORT("time_limit_s " << c.asked_s << " took " << took_s << " s"));
    }
    answer r = g.post("/v1/placements", search_body(600)); // not cut to 2 in silence
    CHECK(r.status == 422);
    CHECK(r.json().at("errors").at(0).at("pointer") == "/time_limit_s");
    g.stop();
}

// ---- the command line ----

TEST_CASE("the command line says what it takes, and all that is wrong with it",
          "[system]")
{
    struct {
        std::vector<std::string> arguments;
        std::map<std::string, std::string> variables;
        int status;
        std::vector<std::string> says;
    } cases[] = {
        {{"--help"},
         {},
         0,
         {"usage: gridplan", "serve", "migrate", "key", "openapi", "--check-config",
          "--port", "GRIDPLAN_PORT", "--shutdown-grace-s", "DATABASE_URL"}},
        {{"--version"}, {}, 0, {"gridplan "}},
        {{"--check-config"},
         {{"GRIDPLAN_PORT", "81"}},
         0,
         {"port 81", "bind 127.0.0.1", "compute_workers"}},
        {{"--check-config", "--port", "82"},
         {{"GRIDPLAN_PORT", "81"}, {"PORT", "80"}},
         0,
         {"port 82"}},
        {{"--check-config"},
         {{"PORT", "80"}, {"SHUTDOWN_GRACE_S", "3"}},
         0,
         {"port 80", "shutdown_grace_s 3"}},
        {{"--check-config"},
         {{"DATABASE_URL", "postgresql://u:hunter2@h/d"}},
         0,
         {"postgresql://u:***@h/d"}},
        {{"--check-config"}, {{"GRIDPLAN_PROT", "1"}}, 0, {"GRIDPLAN_PROT"}},
        {{"--check-config", "--bind", "nowhere", "--auth", "maybe", "--no-such-flag",
          "1"},
         {{"GRIDPLAN_PORT", "65536"},
          {"GRIDPLAN_IO_THREADS", "many"},
          {"LOG_LEVEL", "loud"}},
         2,
         {"nowhere", "maybe", "no-such-flag", "65536", "many", "loud"}},
        {{"serve", "--port", "-1"}, {}, 2, {"port"}},
        {{"sevre"}, {}, 2, {"no command 'sevre'"}},
    };

    for (auto &c : cases) {
        std::vector<std::string> command = c.arguments;
        std::map<std::string, std::string> variables = {
            {"DATABASE_URL", ""}, {"PORT", ""}, {"LOG_LEVEL", ""}};
        int status = -1;

        command.insert(command.begin(), build_binary);
        for (auto &v : c.variables)
            variables[v.first] = v.second;
        std::string text = run_command(command, &status, variables);
        // one space in each gap of the list
        text.erase(std::unique(text.begin(), text.end(),
                               [](char a, char b) { return a == ' ' && b == ' '; }),
                   text.end());
        INFO(text);
        CHECK(status == c.status);
        for (auto &what : c.says)
            CHECK_THAT(text, Catch::Contains(what));
        CHECK_THAT(text, !Catch::Contains("hunter2"));
    }
}

TEST_CASE("the description of the API is the same from the command line and over HTTP",
          "[system]")
{
    gridplan g;
    int status = -1;
    std::string printed = run_command({build_binary, "openapi"}, &status);
    answer served = g.get("/openapi.json");

    REQUIRE(status == 0);
    REQUIRE(served.status == 200);
    auto document = nlohmann::json::parse(printed);
    CHECK(document == served.json());
    CHECK(document.at("openapi").get<std::string>().substr(0, 3) == "3.1");
    for (const char *path :
         {"/v1/placements", "/v1/checkpoint-intervals", "/v1/load-samples", "/readyz"})
        CHECK(document.at("paths").contains(path));
    CHECK(g.get("/openapi.json", "If-None-Match: " + served.field("ETag") + "\r\n")
              .status == 304);
    g.stop();
}
