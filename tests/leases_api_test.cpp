// leases_api_test.cpp - leases of stored snapshots, through route_answer() and
// PostgreSQL, whose clock they go by.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <atomic>
#include <thread>

using nlohmann::json;

namespace
{
// A stored snapshot of its own.
struct grid : api {
    std::string id, path;

    explicit grid(const std::string &document = R"({"resources":[{"id":"n","cpus":8}]})")
        : api(test_database_url())
    {
        static std::atomic<int> number;
        id = "leased-" + std::to_string(getpid()) + "-" + std::to_string(number++);
        path = "/v1/snapshots/" + id;
        REQUIRE(post("/v1/snapshots?id=" + id, document).status == 201);
    }
    static std::string placement(const std::string &job, double cpus,
                                 const std::string &more = "",
                                 const std::string &resources = "\"n\"")
    {
        return "{\"job_id\":\"" + job + "\",\"resource_ids\":[" + resources +
               "],\"cpus\":" + std::to_string(cpus) + more + "}";
    }
    api_reply lease(const std::string &owner, const std::string &placements,
                    double ttl_s = 60, std::map<std::string, std::string> headers = {})
    {
        return call("POST", path + "/leases",
                    "{\"owner\":\"" + owner + "\",\"ttl_s\":" + std::to_string(ttl_s) +
                        ",\"placements\":[" + placements + "]}",
                    headers);
    }
    std::string at(const api_reply &made) const
    {
        return path + "/leases/" + made.json()["lease_id"].get<std::string>();
    }
    api_reply patch(const std::string &target, const std::string &body)
    {
        return call("PATCH", target, body,
                    {{"content_type", "application/merge-patch+json"}});
    }
    json running()
    {
        return get(path).json()["snapshot"].value("running", json::array());
    }
};

void wait_s(double s)
{
    std::this_thread::sleep_for(std::chrono::duration<double>(s));
}

json first_error(const api_reply &r)
{
    return r.json()["errors"][0];
}
} // namespace

TEST_CASE("a lease keeps others out until it expires", "[api][db]")
{
    NEED_DATABASE();
    grid g;
    api_reply a = g.lease("A", g.placement("a", 6), 1.5);
    REQUIRE(a.status == 201);
    CHECK(a.headers["Location"] == g.at(a));
    CHECK(a.json()["owner"] == "A");
    CHECK(a.json()["generation"] == 1);
    CHECK(a.json()["placements"][0]["job_id"] == "a");
    CHECK(a.json()["placements"][0]["start_at"] == a.json()["created_at"]);
    CHECK(!a.json()["placements"][0].contains("end_at"));
    CHECK(g.get(g.at(a)).json() == a.json());

    api_reply refused = g.lease("B", g.placement("b", 4));
    CHECK(refused.status == 409);
    CHECK(refused.json()["code"] == "conflict");
    json error = first_error(refused);
    CHECK(error["pointer"] == "/placements/0");
    CHECK(error["amount"] == "cpus");
    CHECK(error["needed"] == 4);
    CHECK(error["free"] == 2);
    CHECK(error["owners"] == json::parse(R"(["A"])"));
    CHECK(g.get(g.path + "/leases").json()["items"].size() == 1);

    wait_s(1.6);
    CHECK(g.get(g.at(a)).status == 404);
    CHECK(g.patch(g.at(a), R"({"ttl_s":60})").status == 404);
    CHECK(g.call("POST", g.at(a) + "/confirm").status == 404);
    CHECK(g.call("DELETE", g.at(a)).status == 404);
    CHECK(g.get(g.path + "/leases").json()["items"].empty());
    api_reply b = g.lease("B", g.placement("b", 4));
    REQUIRE(b.status == 201);

    api_reply confirmed = g.call("POST", g.at(b) + "/confirm");
    REQUIRE(confirmed.status == 200);
    CHECK(confirmed.json()["generation"] == 2);
    CHECK(g.get(g.path).json()["generation"] == 2);
    REQUIRE(g.running().size() == 1);
    CHECK(g.running()[0]["id"] == "b");
    CHECK(g.running()[0]["cpus"] == 4);
    CHECK(g.running()[0]["resource_ids"] == json::parse(R"(["n"])"));
    CHECK(!g.running()[0].contains("expected_end_at"));
    CHECK(g.get(g.at(b)).status == 404);
    CHECK(first_error(g.lease("C", g.placement("c", 5)))["free"] == 4);
    CHECK(!first_error(g.lease("C", g.placement("c", 5))).contains("line"));
    CHECK(g.lease("C", g.placement("c", 4)).status == 201);
}

TEST_CASE("a job that is leased and runs counts once", "[api][db]")
{
    NEED_DATABASE();
    grid g;
    api_reply a = g.lease("A", g.placement("a", 6));
    REQUIRE(a.status == 201);
    REQUIRE(
        g.patch(g.path, R"({"resources_by_id":{"n":{"running_by_id":{"a":{"cpus":6}}}}})")
            .status == 200);
    api_reply again = g.lease("B", g.placement("a", 1));
    CHECK(again.status == 409);
    CHECK(first_error(again)["code"] == "duplicate");
    CHECK(first_error(again)["pointer"] == "/placements/0/job_id");
    api_reply more = g.lease("B", g.placement("b", 3));
    CHECK(first_error(more)["free"] == 2);
    CHECK(first_error(more)["owners"] == json::array());
    REQUIRE(g.lease("B", g.placement("b", 2)).status == 201);
    again = g.lease("C", g.placement("b", 0.5));
    CHECK(again.status == 409);
    CHECK(first_error(again)["code"] == "duplicate");
    CHECK(first_error(again)["owners"] == json::parse(R"(["B"])"));

    REQUIRE(g.call("POST", g.at(a) + "/confirm").status == 200);
    CHECK(g.running().empty());
    CHECK(g.get(g.path).json()["snapshot"]["resources"][0]["running"].size() == 1);
    CHECK(first_error(g.lease("C", g.placement("c", 1)))["free"] == 0);
}

TEST_CASE("a lease is prolonged, given back, listed and read", "[api][db]")
{
    NEED_DATABASE();
    grid g;
    api_reply a = g.lease("A", g.placement("a", 2), 1),
              b = g.lease("B", g.placement("b", 2));
    REQUIRE(a.status == 201);
    api_reply beat = g.patch(g.at(a), R"({"ttl_s":50})");
    CHECK(beat.status == 200);
    CHECK(beat.json()["expires_at"] > a.json()["expires_at"]);
    CHECK(g.get(g.at(a)).json()["expires_at"] == beat.json()["expires_at"]);
    CHECK(g.patch(g.at(a), "{}").pointers() == std::vector<std::string>{"/ttl_s"});
    CHECK(g.patch(g.at(a), R"({"ttl_s":0.5})").status == 422);
    CHECK(g.patch(g.at(a), R"({"owner":"C"})").status == 422);

    api_reply page = g.get(g.path + "/leases?page_size=1");
    CHECK(page.json()["items"].size() == 1);
    CHECK(page.json()["items"][0]["owner"] == "A");
    page = g.get(g.path + "/leases?page_size=1&page_token=" +
                 page.json()["next_page_token"].get<std::string>());
    CHECK(page.json()["items"][0]["owner"] == "B");
    CHECK(!page.json().contains("next_page_token"));
    CHECK(g.get(g.path + "/leases?owner=B").json()["items"].size() == 1);
    CHECK(g.get(g.path + "/leases?owner=none").json()["items"].empty());
    CHECK(g.get("/v1/snapshots/none/leases").status == 404);
    CHECK(g.get(g.path + "/leases/none").status == 404);
    CHECK(g.get(g.path + "/leases?page_token=AAAA").status == 422);

    CHECK(g.call("DELETE", g.at(b)).status == 204);
    CHECK(g.call("DELETE", g.at(b)).status == 404);
    CHECK(g.lease("C", g.placement("b", 6)).status == 201);
    CHECK(g.call("DELETE", g.path).status == 204);
    CHECK(g.get(g.at(a)).status == 404);
}

TEST_CASE("what is wrong with a lease is said where it is", "[api][db]")
{
    NEED_DATABASE();
    grid g(R"({"resources":[{"id":"n","cpus":8},{"id":"m","cpus":8,"n_max":1}],)"
           R"("shared_capacities":{"licence":1}})");
    struct {
        std::string body;
        int status;
        std::vector<std::string> pointers;
    } cases[] = {
        {R"({"owner":"session:1","placements":[{"job_id":"a","resource_ids":["n"]}]})",
         422,
         {"/owner"}},
        {R"({"owner":"A","ttl_s":0,"placements":[]})", 422, {"/ttl_s", "/placements"}},
        {R"({"owner":"A","placements":[]})", 422, {"/placements"}},
        {R"({"owner":"A","placements":[{"job_id":"a","resource_ids":[]},)"
         R"({"job_id":"a","resource_ids":["n","n"],"start_s":5,"end_s":5}]})",
         422,
         {"/placements/0/resource_ids", "/placements/1/job_id", "/placements/1/end_s",
          "/placements/1/resource_ids/1"}},
        {R"({"owner":"A","placements":[{"job_id":"a","resource_ids":["n","x"]}]})",
         422,
         {"/placements/0/resource_ids/1"}},
        {R"({"owner":"A","placements":[{"job_id":"a","resource_ids":["n"],"cpus":0}]})",
         422,
         {"/placements/0/cpus"}},
        {R"({"owner":"A","placements":[{"job_id":"a","resource_ids":["n"],)"
         R"("needs":{"gpus":1}}]})",
         409,
         {"/placements/0"}},
        {R"({"owner":"A","placements":[{"job_id":"a","resource_ids":["n","m"],)"
         R"("needs":{"licence":1}},{"job_id":"b","resource_ids":["n"],)"
         R"("needs":{"licence":1}},{"job_id":"c","resource_ids":["m"]},)"
         R"({"job_id":"d","resource_ids":["n"],"exclusive":true}]})",
         409,
         {"/placements/1", "/placements/2", "/placements/3"}},
    };
    for (const auto &c : cases) {
        INFO(c.body);
        api_reply r = g.post(g.path + "/leases", c.body);
        CHECK(r.status == c.status);
        CHECK(r.pointers() == c.pointers);
    }
    CHECK(g.get(g.path + "/leases").json()["items"].empty());
    api_reply r = g.post(g.path + "/leases", cases[7].body);
    CHECK(r.json()["errors"][0]["amount"] == "licence");
    CHECK(r.json()["errors"][1]["amount"] == "n_max");
    CHECK(r.json()["errors"][2]["amount"] == "exclusive");
    CHECK(r.json()["errors"][2]["needed"] == 1);
    CHECK(r.json()["errors"][2]["free"] == 0);
    CHECK(g.post("/v1/snapshots/none/leases",
                 R"({"owner":"A","placements":[{"job_id":"a","resource_ids":["n"]}]})")
              .status == 404);
}

TEST_CASE("a lease waits for what runs and for reservations, as time goes by",
          "[api][db]")
{
    NEED_DATABASE();
    // From when it was stored: r until 1 s, m from 100 s on.
    grid g(R"({"resources":[{"id":"n","cpus":8,"running":[{"id":"r","cpus":5,)"
           R"("expected_end_s":0.9}],"reservations":[{"id":"m","start_s":100,)"
           R"("end_s":200,"all":true}]}]})");
    CHECK(first_error(g.lease("A", g.placement("a", 4)))["free"] == 0); // the reservation
    CHECK(first_error(g.lease("A", g.placement("a", 4, ",\"end_s\":50")))["free"] == 3);
    CHECK(g.lease("A", g.placement("a", 3, ",\"end_s\":50")).status == 201);
    CHECK(g.lease("A", g.placement("later", 8, ",\"start_s\":50,\"end_s\":99")).status ==
          201);
    wait_s(1);
    // r should have ended: it is awaited any moment, and holds its cpus for that second.
    CHECK(g.lease("B", g.placement("b", 5, ",\"end_s\":40")).status == 409);
    CHECK(g.lease("B", g.placement("b", 5, ",\"start_s\":2,\"end_s\":40")).status == 201);
    CHECK(g.lease("B", g.placement("c", 8, ",\"start_s\":210")).status == 201);
}

TEST_CASE("only what begins and is still there is confirmed", "[api][db]")
{
    NEED_DATABASE();
    grid g(R"({"taken_at":"2026-01-05T10:00:00Z","resources":[{"id":"n","cpus":8},)"
           R"({"id":"m","cpus":8}]})");
    api_reply a = g.lease("A", g.placement("a", 1, ",\"end_s\":600") + "," +
                                   g.placement("later", 1, ",\"start_s\":100"));
    api_reply b = g.lease("B", g.placement("b", 2, ",\"end_s\":600", "\"n\",\"m\""));
    REQUIRE(a.status == 201);
    REQUIRE(b.status == 201);
    api_reply r = g.call("POST", g.at(a) + "/confirm");
    CHECK(r.status == 409);
    CHECK(r.json()["error_count"] == 1);
    REQUIRE(g.call("DELETE", g.path + "/resources/m").status == 204);
    CHECK(g.call("POST", g.at(b) + "/confirm").status == 409);
    CHECK(g.get(g.path).json()["generation"] == 2);
    CHECK(g.get(g.path + "/leases").json()["items"].size() == 2);
    REQUIRE(g.call("PUT", g.path + "/resources/m", R"({"cpus":8})").status == 201);
    r = g.call("POST", g.at(b) + "/confirm");
    REQUIRE(r.status == 200);
    CHECK(r.json()["generation"] == 4);
    CHECK(g.running()[0]["expected_end_at"] == b.json()["placements"][0]["end_at"]);
    CHECK(g.running()[0].contains("started_at"));
}

TEST_CASE("leases of sessions are seen and not touched", "[api][db]")
{
    NEED_DATABASE();
    grid g;
    api_reply a = g.lease("A", g.placement("a", 6));
    test_db d;
    test_session s(d);
    error err{};
    REQUIRE_OK(db_execute(
        s,
        ("UPDATE snapshot_lease SET owner = 'session:7', expires_at = NULL WHERE "
         "snapshot_id = '" +
         g.id + "'")
            .c_str(),
        &err));
    CHECK(!g.get(g.at(a)).json().contains("expires_at"));
    CHECK(first_error(g.lease("B", g.placement("b", 4)))["owners"] ==
          json::parse(R"(["session:7"])"));
    CHECK(g.patch(g.at(a), R"({"ttl_s":5})").status == 409);
    CHECK(g.call("DELETE", g.at(a)).status == 409);
    CHECK(g.call("POST", g.at(a) + "/confirm").status == 409);
    CHECK(g.get(g.path + "/leases").json()["items"].size() == 1);
}

TEST_CASE("leasing again with its key gives the first answer", "[api][db]")
{
    NEED_DATABASE();
    grid g;
    std::map<std::string, std::string> key = {{"idempotency_key", g.id}};
    api_reply first = g.lease("A", g.placement("a", 6), 60, key);
    api_reply again = g.lease("A", g.placement("a", 6), 60, key);
    CHECK(first.status == 201);
    CHECK(again.status == 201);
    CHECK(again.body == first.body);
    CHECK(again.headers["Location"] == first.headers["Location"]);
    api_reply refused =
        g.lease("B", g.placement("b", 6), 60, {{"idempotency_key", g.id + "b"}});
    CHECK(refused.status == 409);
    REQUIRE(g.call("DELETE", g.at(first)).status == 204);
    CHECK(
        g.lease("B", g.placement("b", 6), 60, {{"idempotency_key", g.id + "b"}}).status ==
        201);
}

TEST_CASE("two services and many threads never lease more than there is",
          "[api][db][threads]")
{
    NEED_DATABASE();
    grid g;
    api other(test_database_url());
    std::atomic<int> granted{0}, refused{0}, wrong{0};
    std::vector<std::thread> threads;

    for (int t = 0; t < 8; t++)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 6; i++) {
                std::string job = std::to_string(t) + "-" + std::to_string(i);
                api &service = t % 2 ? other : static_cast<api &>(g);
                api_reply r =
                    service.post(g.path + "/leases", R"({"owner":"o","placements":[)" +
                                                         g.placement(job, 1.5) + "]}");
                (r.status == 201 ? granted : r.status == 409 ? refused : wrong)++;
                if (r.status == 201 && i % 2)
                    wrong += service.call("DELETE", r.headers["Location"]).status != 204;
            }
        });
    for (auto &t : threads)
        t.join();
    CHECK(wrong == 0);
    CHECK(granted + refused == 48);
    double held = 0;
    json all = g.get(g.path + "/leases").json()["items"];
    for (const json &lease : all)
        held += lease["placements"][0]["cpus"].get<double>();
    CHECK(held <= 8);
    CHECK(held >= 6); // what was given back is given away again
}

TEST_CASE("decisions see live leases and leave their jobs alone", "[api][db]")
{
    NEED_DATABASE();
    grid g;
    auto decide = [&](const std::string &jobs, const std::string &more = "") {
        return g.post("/v1/placements", "{\"snapshot_id\":\"" + g.id +
                                            "\",\"algorithm\":\"mct\",\"jobs\":[" + jobs +
                                            "]" + more + "}");
    };
    auto warned = [](const json &answer, const std::string &code) {
        for (const json &w : answer["warnings"])
            if (w.get<std::string>().rfind(code + ": ", 0) == 0)
                return w.get<std::string>();
        return std::string();
    };
    const std::string four = R"({"id":"four","cpus":4,"estimate_s":10})";
    json before = decide(four).json();
    CHECK(before["placements"][0]["start_s"] == 0);
    CHECK(warned(before, "leases") == "");

    api_reply a = g.lease("A", g.placement("a", 6, ",\"end_s\":100") + "," +
                                   g.placement("later", 5, ",\"start_s\":200"));
    REQUIRE(a.status == 201);
    api_reply r = decide(four + R"(,{"id":"a","cpus":1,"estimate_s":5},)"
                                R"({"id":"two","cpus":2,"estimate_s":10})",
                         ",\"store\":true");
    REQUIRE(r.status == 200);
    json answer = r.json();
    REQUIRE(answer["placements"].size() == 2);
    for (const json &p : answer["placements"])
        if (p["job_id"] == "two")
            CHECK(p["start_s"] == 0);
        else
            CHECK((p["start_s"] > 90 && p["start_s"] <= 100));
    REQUIRE(answer["unplaced"].size() == 1);
    CHECK(answer["unplaced"][0]["job_id"] == "a");
    CHECK(answer["unplaced"][0]["reasons"][0]["reason"] == "leased");
    CHECK(warned(answer, "leases").rfind("leases: 1 ", 0) == 0);

    api_reply long_one = decide(R"({"id":"long","cpus":4,"estimate_s":150})");
    CHECK(long_one.json()["placements"].empty()); // never four beside the later lease

    // What is decided again sees what was there then.
    REQUIRE(g.call("DELETE", g.at(a)).status == 204);
    CHECK(warned(decide(four).json(), "leases") == "");
    api_reply replay = g.call(
        "POST", "/v1/decisions/" + answer["decision_id"].get<std::string>() + "/replay");
    REQUIRE(replay.status == 200);
    INFO(replay.body);
    CHECK(replay.json()["identical"] == true);
}

TEST_CASE("a decision that does not look at leases says so", "[api][db]")
{
    NEED_DATABASE();
    grid g;
    REQUIRE(g.lease("A", g.placement("a", 6)).status == 201);
    api_reply r =
        g.post("/v1/workflow-schedules",
               "{\"snapshot_id\":\"" + g.id +
                   R"(","workflow":{"tasks":[{"id":"t","estimate_ref_s":5}]}})");
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.body.find("leases: 1 of /snapshot_id") != std::string::npos); // it does
    r = g.post(
        "/v1/replica-counts",
        "{\"snapshot_id\":\"" + g.id +
            R"(","algorithm":"unconditional","now_s":0,"jobs":[{"id":"t","arrival_s":0,"length_mi":100}]})");
    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.body.find("ignored: 1 lease of /snapshot_id") != std::string::npos);
}
