// placement_lease_api_test.cpp - placements that lease what they start, through
// route_answer() and PostgreSQL.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <atomic>
#include <thread>

using nlohmann::json;

namespace
{
// A stored snapshot of its own, and placements on it.
struct place : api {
    std::string id, path;

    explicit place(const std::string &document = R"({"resources":[{"id":"n","cpus":8}]})")
        : api(test_database_url())
    {
        static std::atomic<int> number;
        id = "placed-" + std::to_string(getpid()) + "-" + std::to_string(number++);
        path = "/v1/snapshots/" + id;
        REQUIRE(post("/v1/snapshots?id=" + id, document).status == 201);
    }
    std::string body(const std::string &jobs, const std::string &more = "",
                     const std::string &owner = "A") const
    {
        return "{\"snapshot_id\":\"" + id + "\",\"algorithm\":\"mct\",\"jobs\":[" + jobs +
               "],\"lease\":{\"owner\":\"" + owner + "\",\"ttl_s\":60}" + more + "}";
    }
    api_reply decide(const std::string &jobs, const std::string &more = "",
                     const std::string &owner = "A",
                     std::map<std::string, std::string> headers = {})
    {
        return call("POST", "/v1/placements", body(jobs, more, owner), headers);
    }
    json leases()
    {
        return get(path + "/leases").json()["items"];
    }
};

std::string warned(const json &answer, const std::string &code)
{
    for (const json &w : answer["warnings"])
        if (w.get<std::string>().rfind(code + ": ", 0) == 0)
            return w.get<std::string>();
    return "";
}

double seconds(const std::string &instant) // of RFC 3339
{
    struct tm t = {};
    const char *rest = strptime(instant.c_str(), "%Y-%m-%dT%H:%M:%S", &t);
    REQUIRE(rest);
    return double(timegm(&t)) + (*rest == '.' ? strtod(rest, nullptr) : 0);
}

double span_s(const json &row)
{
    return seconds(row["end_at"].get<std::string>()) -
           seconds(row["start_at"].get<std::string>());
}
} // namespace

TEST_CASE("what a placement starts is leased for as long as it is held", "[api][db]")
{
    NEED_DATABASE();
    place g(
        R"({"resources":[{"id":"n","cpus":8,"memory_bytes":100,"capacities":{"gpus":2}},
                             {"id":"m","cpus":4}],"shared_capacities":{"lic":3}})");
    api_reply r = g.decide(
        R"({"id":"a","cpus":6,"memory_bytes":7,"needs":{"gpus":1,"lic":2},"estimate_s":10},
           {"id":"z","cpus":1,"estimate_s":0},
           {"id":"two","cpus":2,"nodes":2,"estimate_s":20,"time_limit_s":90},
           {"id":"b","cpus":8,"estimate_s":5})");
    INFO(r.body);
    REQUIRE(r.status == 200);
    json answer = r.json();
    REQUIRE(g.leases().size() == 1);
    json lease = g.leases()[0];
    CHECK(answer["lease_id"] == lease["lease_id"]);
    CHECK(answer["lease_expires_at"] == lease["expires_at"]);
    CHECK(lease["owner"] == "A");
    json rows = lease["placements"]; // b waits for a; z holds nothing
    REQUIRE(rows.size() == 2);
    for (const json &row : rows) {
        CHECK(row["start_at"] == lease["created_at"]);
        if (row["job_id"] == "a") {
            CHECK(row["resource_ids"] == json::parse(R"(["n"])"));
            CHECK(row["cpus"] == 6);
            CHECK(row["memory_bytes"] == 7);
            CHECK(row["needs"] == json::parse(R"({"gpus":1,"lic":2})"));
            CHECK(span_s(row) == Approx(10).epsilon(1e-6));
        } else {
            CHECK(row["job_id"] == "two");
            CHECK(row["resource_ids"] == json::parse(R"(["n","m"])"));
            CHECK(span_s(row) == Approx(20).epsilon(1e-6));
        }
    }
    // The next one sees it: nothing of n is free, and a is leased.
    r = g.decide(R"({"id":"c","cpus":4,"estimate_s":1},{"id":"a","estimate_s":1})", "",
                 "B");
    REQUIRE(r.status == 200);
    answer = r.json();
    CHECK(!answer.contains("lease_id"));
    CHECK(!answer.contains("lease_expires_at"));
    CHECK(warned(answer, "lease_empty") != "");
    CHECK(answer["unplaced"][0]["reasons"][0]["reason"] == "leased");
    CHECK(g.leases().size() == 1);
}

TEST_CASE("a lease of a placement holds until the time limit that it was planned with",
          "[api][db]")
{
    NEED_DATABASE();
    place g;
    const std::string job = R"({"id":"a","estimate_s":20,"time_limit_s":90})";
    REQUIRE(g.decide(job, R"(,"options":{"plan_with":"limit"})").status == 200);
    REQUIRE(g.leases().size() == 1);
    CHECK(span_s(g.leases()[0]["placements"][0]) == Approx(90).epsilon(1e-6));
    // Without run times: nobody knows its end.
    REQUIRE(g.post("/v1/placements",
                   "{\"snapshot_id\":\"" + g.id +
                       R"(","objective":["started_now_weight"],"jobs":[{"id":"b"}],
                          "lease":{"owner":"B"}})")
                .status == 200);
    REQUIRE(g.leases().size() == 2);
    CHECK(!g.leases()[1]["placements"][0].contains("end_at"));
    CHECK(seconds(g.leases()[1]["expires_at"].get<std::string>()) -
              seconds(g.leases()[1]["created_at"].get<std::string>()) ==
          Approx(60).epsilon(1e-6));
}

TEST_CASE("a lease of a placement needs a stored snapshot and an owner", "[api][db]")
{
    NEED_DATABASE();
    place g;
    api_reply r = g.post(
        "/v1/placements",
        R"({"snapshot":{"resources":[{"id":"n"}]},"jobs":[{"id":"a","estimate_s":1}],
            "lease":{"owner":"session:x","ttl_s":60}})");
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/lease/owner", "/lease"});
    r = g.decide(R"({"id":"a","estimate_s":1})", R"(,"what_if":3)");
    CHECK(r.status == 422);
    CHECK(g.leases().empty());
    r = g.post("/v1/placements", "{\"snapshot_id\":\"" + g.id +
                                     R"(","jobs":[],"lease":{"ttl_s":0.5,"x":1}})");
    CHECK(r.status == 422);
    CHECK(r.pointers() ==
          std::vector<std::string>{"/lease/ttl_s", "/lease/x", "/lease/owner"});
}

TEST_CASE("deciding again does not lease again", "[api][db]")
{
    NEED_DATABASE();
    place g;
    api_reply r = g.decide(R"({"id":"a","cpus":3,"estimate_s":100})", ",\"store\":true");
    REQUIRE(r.status == 200);
    const std::string decision =
        "/v1/decisions/" + r.json()["decision_id"].get<std::string>();
    json stored = g.get(decision).json();
    CHECK(stored["answer"]["lease_id"] == r.json()["lease_id"]);
    for (int i = 0; i < 2; i++) {
        api_reply replay = g.call("POST", decision + "/replay");
        INFO(replay.body);
        REQUIRE(replay.status == 200);
        CHECK(replay.json()["identical"] == true);
        CHECK(!replay.json()["answer"].contains("lease_id"));
    }
    CHECK(g.leases().size() == 1);
}

TEST_CASE("placing again with its key gives the first lease", "[api][db]")
{
    NEED_DATABASE();
    place g;
    const std::string a = R"({"id":"a","cpus":5,"estimate_s":100})";
    std::map<std::string, std::string> key = {{"idempotency_key", g.id}};
    api_reply first = g.decide(a, ",\"store\":true", "A", key);
    REQUIRE(first.status == 200);
    api_reply again = g.decide(a, ",\"store\":true", "A", key);
    CHECK(again.status == 200);
    CHECK(again.body == first.body);
    CHECK(again.headers["Idempotency-Replayed"] == "true");
    REQUIRE(g.leases().size() == 1);
    CHECK(g.leases()[0]["lease_id"] == first.json()["lease_id"]);
    // Also when nobody has the lease any more: it was given once.
    REQUIRE(g.call("DELETE",
                   g.path + "/leases/" + first.json()["lease_id"].get<std::string>())
                .status == 204);
    CHECK(g.decide(a, ",\"store\":true", "A", key).body == first.body);
    CHECK(g.leases().empty());
}

namespace
{
// A snapshot whose row somebody else holds while a placement is decided.
struct holder {
    test_db pool;
    test_session session{pool};
    error err = collecting_error(session.a);

    void lock(const std::string &id)
    {
        store_snapshot head{};
        REQUIRE(db_begin(session.s, &err) == OK);
        REQUIRE(store_snapshot_lock(session.s, "default", id.c_str(), &head, session.a,
                                    &err) == OK);
    }
    // Changes it, and lets go.
    void change(const std::string &id, const char *document)
    {
        store_snapshot now{};
        if (document)
            REQUIRE(store_snapshot_change(session.s, "default", id.c_str(), document,
                                          &now, session.a, &err) == OK);
        REQUIRE(db_commit(session.s, &err) == OK);
    }
};

void wait_s(double s)
{
    std::this_thread::sleep_for(std::chrono::duration<double>(s));
}
} // namespace

TEST_CASE("a placement that was overtaken is decided again", "[api][db][threads]")
{
    NEED_DATABASE();
    for (bool keyed : {false, true})
        DYNAMIC_SECTION((keyed ? "with a key" : "without a key"))
        {
            place g;
            holder other;
            api_reply r{};
            other.lock(g.id);
            std::thread t([&] {
                std::map<std::string, std::string> key;
                if (keyed)
                    key["idempotency_key"] = g.id;
                r = g.decide(R"({"id":"a","cpus":3,"estimate_s":100})", ",\"store\":true",
                             "A", key);
            });
            wait_s(0.5); // it has decided for n, and waits for the row
            other.change(g.id, R"({"resources":[{"id":"m","cpus":3}]})");
            t.join();
            INFO(r.body);
            REQUIRE(r.status == 200);
            CHECK(r.json()["placements"][0]["resource_id"] == "m");
            REQUIRE(g.leases().size() == 1);
            CHECK(g.leases()[0]["placements"][0]["resource_ids"] ==
                  json::parse(R"(["m"])"));
            CHECK(g.leases()[0]["generation"] == 2);
            // What is stored is the decision that counts.
            json stored =
                g.get("/v1/decisions/" + r.json()["decision_id"].get<std::string>())
                    .json();
            CHECK(stored["answer"]["placements"][0]["resource_id"] == "m");
            CHECK(g.call("POST", "/v1/decisions/" +
                                     r.json()["decision_id"].get<std::string>() +
                                     "/replay")
                      .json()["identical"] == true);
        }
}

TEST_CASE("a snapshot that is gone when its placement is leased is not known",
          "[api][db][threads]")
{
    NEED_DATABASE();
    place g;
    holder other;
    api_reply r{};
    other.lock(g.id);
    std::thread t([&] { r = g.decide(R"({"id":"a","estimate_s":100})"); });
    wait_s(0.5);
    REQUIRE(store_snapshot_delete(other.session.s, "default", g.id.c_str(), 0,
                                  other.session.a, &other.err) == OK);
    other.change(g.id, nullptr);
    t.join();
    INFO(r.body);
    CHECK(r.status == 404);
    CHECK(r.pointers() == std::vector<std::string>{"/snapshot_id"});
}

TEST_CASE("a placement that is overtaken time and again leases nothing",
          "[api][db][threads]")
{
    NEED_DATABASE();
    place g(R"({"resources":[{"id":"n","cpus":7,"capacities":{"x":1}},
                             {"id":"m","cpus":5,"capacities":{"x":1}},
                             {"id":"busy","cpus":1000}]})");
    std::string jobs;
    std::atomic<bool> done{false};
    std::atomic<int> wrong{0};
    api_reply r{};
    for (int i = 0; i < 60; i++) // a search that takes its time
        jobs +=
            (i ? ",{\"id\":\"j" : "{\"id\":\"j") + std::to_string(i) +
            "\",\"cpus\":" + std::to_string(1 + i * 7 % 5) +
            ",\"needs\":{\"x\":0.1},\"estimate_s\":" + std::to_string(10 + i * i % 37) +
            "}";
    std::thread t([&] {
        for (int i = 0; !done; i++) {
            api_reply other = g.post(
                g.path + "/leases",
                "{\"owner\":\"B\",\"ttl_s\":1,\"placements\":[{\"job_id\":\"x" +
                    std::to_string(i) + "\",\"resource_ids\":[\"busy\"],\"cpus\":0.1}]}");
            wrong += other.status != 201;
            wait_s(0.01);
        }
    });
    r = g.post("/v1/placements",
               "{\"snapshot_id\":\"" + g.id +
                   R"(","algorithm":"search","time_limit_s":0.3,"store":true,)"
                   R"("options":{"max_steps":1000000000},"jobs":[)" +
                   jobs + R"(],"lease":{"owner":"A"}})");
    done = true;
    t.join();
    CHECK(wrong == 0);
    INFO(r.body);
    REQUIRE(r.status == 409);
    CHECK(r.json()["code"] == "conflict");
    CHECK(r.json()["detail"].get<std::string>().find("3 times") != std::string::npos);
    for (const json &lease : g.leases())
        CHECK(lease["owner"] == "B");
}

TEST_CASE("two services that place and lease never give away more than there is",
          "[api][db][threads]")
{
    NEED_DATABASE();
    place g(R"({"resources":[{"id":"n","cpus":8},{"id":"m","cpus":4}]})");
    api second(test_database_url());
    std::atomic<int> leased{0}, empty{0}, refused{0}, wrong{0};
    std::vector<std::thread> threads;

    for (int t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 6; i++) {
                std::string job = "{\"id\":\"" + std::to_string(t) + "-" +
                                  std::to_string(i) +
                                  "\",\"cpus\":1.5,\"estimate_s\":50}";
                api &service = t % 2 ? second : static_cast<api &>(g);
                std::map<std::string, std::string> key;
                if (i % 3 == 0)
                    key["idempotency_key"] = g.id + job;
                api_reply r = service.call("POST", "/v1/placements",
                                           g.body(job, "", std::to_string(t)), key);
                if (r.status == 200)
                    (r.body.find("\"lease_id\"") != std::string::npos ? leased : empty)++;
                else
                    (r.status == 409 ? refused : wrong)++;
            }
        });
    for (auto &t : threads)
        t.join();
    CHECK(wrong == 0);
    CHECK(leased > 0);
    CHECK(leased + empty + refused == 24);
    for (int i = 0; i < 8; i++) { // whom nobody overtakes gets what is left
        api_reply r = g.decide("{\"id\":\"last-" + std::to_string(i) +
                               "\",\"cpus\":1.5,\"estimate_s\":50}");
        REQUIRE(r.status == 200);
        leased += r.json().contains("lease_id");
    }
    CHECK(leased == 7); // five of 1.5 on eight, two on four
    std::map<std::string, double> held;
    for (const json &lease : g.leases())
        for (const json &row : lease["placements"])
            held[row["resource_ids"][0].get<std::string>()] += row["cpus"].get<double>();
    CHECK(held["n"] == 7.5);
    CHECK(held["m"] == 3);
}

TEST_CASE("copies of a job are leased one by one", "[api][db]")
{
    NEED_DATABASE();
    place p;
    std::string sweep = R"({"id":"a","cpus":2,"estimate_s":100,"count":6})";
    json first = p.decide(sweep).json();
    CHECK(first["placements"][0]["indexes"] == json{0, 3});
    json rows = p.leases()[0]["placements"];
    REQUIRE(rows.size() == 4);
    for (size_t i = 0; i < 4; i++)
        CHECK(rows[i]["job_id"] == "a[" + std::to_string(i) + "]");

    // The same jobs again: four are leased under their numbers, two are left.
    json again = p.decide(sweep, "", "B").json();
    REQUIRE(again["placements"].size() == 1);
    CHECK(again["placements"][0]["indexes"] == json{4, 5});
    CHECK(again["placements"][0]["start_s"].get<double>() > 90);
    REQUIRE(again["unplaced"].size() == 1);
    CHECK(again["unplaced"][0]["indexes"] == json{0, 3});
    CHECK(again["unplaced"][0]["reasons"].back()["reason"] == "leased");

    std::string path = p.path + "/leases/" + first["lease_id"].get<std::string>();
    REQUIRE(p.post(path + "/confirm", "").status == 200);
    api_reply r = p.decide(sweep, "", "B");
    CHECK(r.status == 422); // copies run
    CHECK(r.body.find("a[0]") != std::string::npos);
    CHECK(r.json()["errors"][0]["hint"] ==
          "that copy of the job runs, as of a lease that was confirmed: ask for those "
          "that do not run under another id");
    CHECK(p.decide(R"({"id":"b","cpus":2,"estimate_s":100,"count":2})").status == 200);
    r = p.decide(R"({"id":"a[0]","cpus":2,"estimate_s":100})");
    CHECK(r.json()["errors"][0]["hint"] ==
          "the job runs, as of a lease that was confirmed: leave it out, or give what is "
          "to run beside it another id");
    std::string name(250, 'x');
    r = p.decide("{\"id\":\"" + name + R"(","estimate_s":1,"count":2})");
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/id"});
}
