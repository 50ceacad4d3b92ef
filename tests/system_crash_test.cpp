// system_crash_test.cpp - kill -9, of PostgreSQL and of the program, in the middle of
// ingesting: what was acknowledged is there, once, and everybody recovers.
#include "tests/system.hpp"

namespace
{
constexpr int BATCH = 50; // samples of one NDJSON body

std::string sample(const std::string &resource, int index)
{
    return "{\"resource_id\":\"" + resource +
           "\",\"observed_at\":" + std::to_string(1764000000 + index) +
           ",\"cpu_available_ratio\":0." + std::to_string(index % 10) + "}";
}

std::string batch(const std::string &resource)
{
    std::string lines;

    for (int i = 0; i < BATCH; i++)
        lines += sample(resource, i) + "\n";
    return lines;
}

// How many samples of each resource are stored, read through the API.
std::map<std::string, int> read_back(const gridplan &g)
{
    std::map<std::string, int> counts;
    std::string token;
    client c(g.port);

    do {
        answer r =
            c.call(request("GET", "/v1/load-samples?page_size=1000" +
                                      (token.empty() ? "" : "&page_token=" + token)));
        REQUIRE(r.status == 200);
        auto page = r.json();
        for (auto &s : page.at("items"))
            counts[s.at("resource_id")]++;
        token = page.contains("next_page_token") && page["next_page_token"].is_string()
                    ? page["next_page_token"]
                    : "";
    } while (!token.empty());
    return counts;
}

// Threads that send until they are told to stop, and what became of it.
class load
{
  public:
    std::atomic<bool> over{false};
    std::atomic<bool> calm{false}; // nothing that is sent from now on may fail
    std::atomic<int> acknowledged{0};

    // Each runs `step` with a connection and a number until it is over.
    void add(int port, const std::function<void(client &, int)> &step)
    {
        threads.emplace_back([=, this] {
            client c(port);
            for (int i = 0; !over; i++) {
                if (c.fd < 0)
                    c = client(port);
                step(c, i);
            }
        });
    }
    // Stores a batch or a single sample; true: it was acknowledged.
    bool store(client &c, const std::string &resource, bool many,
               const std::string &key = "")
    {
        std::string headers = key.empty() ? "" : "Idempotency-Key: " + key + "\r\n";
        bool was_calm = begin_calmly();
        answer r = c.call(
            many ? request("POST", "/v1/load-samples", batch(resource), NDJSON + headers)
                 : request("POST", "/v1/load-samples", sample(resource, 0), headers));
        bool good = r.status == 201;

        std::unique_lock<std::mutex> hold(lock);
        (good ? acked : unknown)[resource] = many ? BATCH : 1;
        if (good)
            unknown.erase(resource);
        acknowledged += good;
        answers[r.status]++;
        if (!good && was_calm)
            failures.push_back(std::to_string(r.status) + " " + r.body);
        calm_requests -= was_calm;
        hold.unlock();
        if (r.status == 0 || r.closes())
            c.hang_up();
        if (!good)
            pause_s(0.02);
        return good;
    }
    void finish()
    {
        over = true;
        for (auto &t : threads)
            t.join();
        threads.clear();
    }
    ~load()
    {
        finish();
    }

    // Every acknowledged sample is there, once; what was not acknowledged is there
    // whole or not at all.
    void compare(const std::map<std::string, int> &stored)
    {
        int missing = 0, doubled = 0, partial = 0, kept = 0;
        auto count = [&](const std::string &name) {
            auto s = stored.find(name);
            return s == stored.end() ? 0 : s->second;
        };

        for (auto &a : acked) {
            missing += count(a.first) < a.second;
            doubled += count(a.first) > a.second;
        }
        for (auto &u : unknown) {
            partial += count(u.first) != 0 && count(u.first) != u.second;
            kept += count(u.first) != 0;
        }
        CHECK(missing == 0);
        CHECK(doubled == 0);
        CHECK(partial == 0);
        std::ostringstream text;
        for (auto &a : answers)
            text << " " << a.second << " x " << a.first;
        report(REPORT(acked.size()
                      << " requests acknowledged, " << missing << " of them missing; "
                      << unknown.size() << " not acknowledged, of them " << kept
                      << " stored; answers:" << text.str()));
    }
    // From now on requests may fail; those that may not are answered.
    void end_calm()
    {
        {
            std::unique_lock<std::mutex> hold(lock);
            calm = false;
        }
        CHECK(eventually([&] { return calm_requests == 0; }, 60));
    }
    void check_calm()
    {
        INFO((failures.empty() ? "" : failures[0]));
        CHECK(failures.empty());
    }

  private:
    std::atomic<int> calm_requests{0}; // sent while it was calm, and not answered

    bool begin_calmly()
    {
        std::unique_lock<std::mutex> hold(lock);
        bool was_calm = calm;

        calm_requests += was_calm;
        return was_calm;
    }
    std::mutex lock;
    std::map<std::string, int> acked, unknown; // samples by resource
    std::map<int, int> answers;                // by status
    std::vector<std::string> failures;         // when calm
    std::vector<std::thread> threads;
};
} // namespace

TEST_CASE("PostgreSQL killed under load loses nothing that was acknowledged", "[system]")
{
    cluster database;
    gridplan g({"--database", database.url});
    std::atomic<int> not_alive{0}, alive{0}, undecided{0}, decided{0};
    load l;

    REQUIRE(eventually([&] { return g.is_ready(); }));
    for (int t = 0; t < 4; t++)
        l.add(g.port, [&l, t](client &c, int i) {
            l.store(c, "t" + std::to_string(t) + "-" + std::to_string(i), t < 2);
        });
    l.add(g.port, [&](client &c, int) {
        (c.call(request("GET", "/livez")).status == 200 ? alive : not_alive)++;
        pause_s(0.005);
    });
    l.add(g.port, [&](client &c, int i) {
        bool place = i % 2;
        answer r = c.call(
            place ? request("POST", "/v1/placements", placement_body())
                  : request("POST", "/v1/checkpoint-intervals", checkpoint_body()));
        (r.status == 200 ? decided : undecided)++;
        pause_s(0.005);
    });
    for (int round = 0; round < 2 * soak_factor(); round++) {
        int before = l.acknowledged;
        REQUIRE(eventually([&] { return l.acknowledged >= before + 50; }));
        l.end_calm();
        database.kill_now();
        double begin_s = now_s();
        REQUIRE(eventually([&] { return g.get("/readyz").status == 503; }));
        double noticed_s = now_s() - begin_s;
        database.start();
        begin_s = now_s();
        REQUIRE(eventually([&] { return g.is_ready(); }));
        double recovered_s = now_s() - begin_s;
        l.calm = true;
        report(REPORT("not ready " << noticed_s << " s after the kill, ready again "
                                   << recovered_s << " s after PostgreSQL"));
    }
    int before = l.acknowledged;
    CHECK(eventually([&] { return l.acknowledged >= before + 50; }));
    l.finish();
    l.check_calm();
    CHECK(not_alive == 0);
    CHECK(undecided == 0);
    CHECK(alive > 0);
    CHECK(decided > 0);
    l.compare(read_back(g));
    g.stop();
}

TEST_CASE("the program killed while ingesting loses nothing and doubles nothing",
          "[system][db]")
{
    std::vector<std::string> flags = {"--database", test_database()};
    std::string run =
        std::to_string(getpid()) + "-" + std::to_string((long)(now_s() * 1e3)) + "-";
    auto g = std::make_unique<gridplan>(flags);
    int port = g->port;
    load l;

    flags.insert(flags.end(), {"--port", std::to_string(port)});
    REQUIRE(eventually([&] { return g->is_ready(); }));
    for (int t = 0; t < 6; t++)
        l.add(port, [&, t](client &c, int i) {
            std::string name = run + std::to_string(t) + "-" + std::to_string(i);
            if (t < 2) // without a key nobody knows whether to send it again
                l.store(c, name, t == 0);
            else
                while (!l.store(c, name, t < 4, name)) {
                    if (c.fd < 0)
                        c = client(port);
                }
        });
    for (int round = 0; round < 3 * soak_factor(); round++) {
        int before = l.acknowledged;
        REQUIRE(eventually([&] { return l.acknowledged >= before + 60; }, 60));
        g->kill_now();
        g = std::make_unique<gridplan>(flags);
    }
    int before = l.acknowledged;
    REQUIRE(eventually([&] { return l.acknowledged >= before + 20; }, 60));
    l.finish();
    l.compare(read_back(*g));
    g->stop();
}

TEST_CASE("a server that recovers from a crash is waited for, not stopped", "[system]")
{
    cluster c;
    std::string log = c.path() + "/cluster/log";

    sql(c.url, "CREATE TABLE much AS SELECT i, repeat('x', 100) FROM"
               " generate_series(1, 600000) AS i");
    c.kill_now();
    size_t before = file_text(log).size();
    // Several at once, a little apart: who comes later finds a server that takes no
    // connections yet, and must not take its socket for one that was left behind.
    std::vector<std::thread> others;
    std::vector<int> status(4, -1);
    for (size_t i = 0; i < status.size(); i++)
        others.emplace_back([&, i] {
            std::this_thread::sleep_for(std::chrono::milliseconds(70 * i));
            run_command({GRIDPLAN_SOURCE_DIR "/tests/postgres.sh", "start", c.path()},
                        &status[i]);
        });
    for (auto &t : others)
        t.join();
    CHECK(status == std::vector<int>(4, 0));
    c.start();
    CHECK(sql(c.url, "SELECT count(*) FROM much") == "600000");
    std::string since = file_text(log).substr(before);
    CHECK(since.find("redo starts") != std::string::npos);
    CHECK(since.find("shutdown request") == std::string::npos);
}
