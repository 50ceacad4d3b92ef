// sessions_api_test.cpp - runs of workflows, through route_answer() and PostgreSQL.
#include "tests/sessions_api_support.hpp"

using namespace session_api;
using nlohmann::json;

// Worked example 1.
TEST_CASE("a fresh session starts what its first plan starts", "[api][db]")
{
    NEED_DATABASE();
    session s;
    json next = s.next(0);

    CHECK(s.starts(next) == list{"a@n2#1"});
    CHECK(s.plan(0) ==
          list{"a n2 0-2", "b n2 2-8", "c n1 2-10", "d n2 8-11", "e n2 11-12"});
    CHECK(next["plan"]["objective"]["makespan_s"] == 12);
    CHECK(s.queues(next) == list{"n1: c", "n2: b d e"});
    CHECK(next["counts"]["ready"] == 2);
    CHECK(next["counts"]["idle"] == 3);
    CHECK(next["start"][0]["run_time_s"] == 2);
    CHECK(next["start"][0]["run_time_basis"]["source"] == "estimate");
}

// Worked examples 2, 3 and 4.
TEST_CASE("a plan goes on from what the engine has started", "[api][db]")
{
    NEED_DATABASE();
    session s;

    s.started("e1", 0, "a", "n2");
    s.started("e2", 0, "d", "n1");
    json next = s.next(0);
    CHECK(next["revision"] == 2);
    CHECK(s.starts(next).empty());
    CHECK(s.plan(0) ==
          list{"a n2 0-2", "d n1 0-6", "b n2 2-8", "c n2 8-12", "e n2 12-13"});

    json again = s.started("e2", 0, "d", "n1");
    CHECK(again["duplicates"] == 1);
    CHECK(again["revision"] == 2);
    json other = s.started("e2", 1, "d", "n1");
    CHECK(other["refused"] == 1);
    CHECK(other["errors"][0]["code"] == "conflict");
    CHECK(other["errors"][0]["event_id"] == "e2");
    CHECK(other["revision"] == 2);

    s.ended("e3", 2, "a");
    CHECK(s.starts(s.next(2)) == list{"b@n2#1"});
    CHECK(s.plan(2) ==
          list{"a n2 -2-0", "d n1 -2-4", "b n2 0-6", "c n2 6-10", "e n2 10-11"});
}

// Worked examples 5, 6 and 7.
TEST_CASE("an end before its start, a lost host, an end of what was lost", "[api][db]")
{
    NEED_DATABASE();
    session s;
    auto of_b = [&] {
        return s.get("/v1/executions?application_id=" + s.id + "/b").json()["items"];
    };

    s.started("e1", 0, "a", "n2");
    s.started("e2", 0, "d", "n1");
    s.ended("e3", 2, "a");
    s.ended("e5", 8.5, "b");
    json before = s.next(8.5);
    CHECK(s.starts(before) == list{"c@n2#1"});
    CHECK(s.open(s.plan(8.5)) == list{"d n1 -8.5-2.125", "c n2 0-4", "e n2 4-5"});
    CHECK(of_b().empty());
    s.started("e4", 2, "b", "n2");
    json after = s.next(8.5);
    CHECK(s.starts(after) == s.starts(before));
    CHECK(s.open(s.plan(8.5)) == list{"d n1 -8.5-2.125", "c n2 0-4", "e n2 4-5"});
    REQUIRE(of_b().size() == 1);
    CHECK(of_b()[0]["run_time_s"] == 6.5);
    CHECK(of_b()[0]["resource_id"] == "n2");
    CHECK(of_b()[0]["execution_id"] == "session:" + s.id + ":b:1");

    s.started("e6", 8.5, "c", "n2");
    s.ended("e7", 7, "d");
    s.host("e8", 10, "host_down", "n2");
    json lost = s.next(10);
    CHECK(s.starts(lost) == list{"c@n1#2"});
    CHECK(s.open(s.plan(10)) == list{"c n1 0-8", "e n1 8-10"});

    s.ended("e9", 12.5, "c");
    json done = s.next(12.5);
    CHECK(s.starts(done) == list{"e@n1#1"});
    CHECK(done["plan"]["objective"]["makespan_s"] == 2);

    s.started("e10", 10.5, "c", "n1", 2);
    json twice = s.next(12.5);
    CHECK(s.starts(twice).empty());
    CHECK(twice["cancel"] ==
          json::parse(R"([{"task_id":"c","attempt":2,"resource_id":"n1"}])"));
    CHECK(s.open(s.plan(12.5)) == list{"e n1 6-8"});
}

// Worked examples 8 and 9.
TEST_CASE("what is overdue, and what progress says", "[api][db]")
{
    NEED_DATABASE();
    session s;

    s.started("e2", 0, "d", "n1");
    CHECK(s.plan(3) ==
          list{"d n1 -3-3", "a n2 0-2", "b n2 2-8", "c n1 3-11", "e n2 11-12"});
    CHECK(s.plan(8) ==
          list{"d n1 -8-2", "a n2 0-2", "b n2 2-8", "c n1 2-10", "e n2 10-11"});
    s.progress("p1", 6, "d", 0.25);
    CHECK(s.plan(6) ==
          list{"d n1 -6-18", "a n2 0-2", "b n2 2-8", "c n2 8-12", "e n2 18-19"});
    json late = s.progress("p0", 4, "d", 0.9);
    CHECK(late["superseded"] == json::parse(R"(["p0"])"));
    CHECK(s.plan(6) ==
          list{"d n1 -6-18", "a n2 0-2", "b n2 2-8", "c n2 8-12", "e n2 18-19"});
    s.speed("v1", 6, "n1", 4);
    json next = s.next(6);
    CHECK(next["plan"]["objective"]["makespan_s"] == 18.5);
    CHECK(s.plan(6).back() == "e n1 18-18.5");
}

// Worked example 10.
TEST_CASE("a task that fails too often blocks what waits for it", "[api][db]")
{
    NEED_DATABASE();
    session s;

    for (int i = 1; i <= 3; i++)
        s.failed("f" + std::to_string(i), i, "a", i);
    json next = s.next(4);
    CHECK(s.starts(next) == list{"d@n2#1"});
    CHECK(next["counts"]["failed"] == 1);
    CHECK(next["counts"]["blocked"] == 3);
    CHECK(s.open(s.plan(4)) == list{"d n2 0-3"});
    json rows = s.get(s.path + "/tasks?status=blocked").json()["items"];
    CHECK(rows.size() == 3);
    CHECK(rows[0]["task_id"] == "b");
}

// Worked example 11: candidates hold no host from each other.
TEST_CASE("what an engine has started all the same holds its host", "[api][db]")
{
    NEED_DATABASE();
    session s;
    s.started("1", 0, "a", "n1");
    s.event("2", 1, "failed", s.of("a", 1) + ",\"final\":true");
    s.started("3", 1, "b", "n2"); // though a failed, and stays blocked no longer than it
    json next = s.next(2);
    INFO(next.dump());
    CHECK(next["counts"]["running"] == 1);
    CHECK(s.starts(next) == list{"d@n1#1"}); // n2 has b until 7
    CHECK(s.open(s.plan(2)) == list{"b n2 -1-5", "d n1 0-6"});
    s.ended("4", 7, "b");
    CHECK(s.starts(s.next(7)) == list{"d@n2#1"});
    api_reply request = s.get(s.path + "/request?now=" + s.at(7));
    CHECK(s.post("/v1/workflow-schedules", request.body).status == 200);
}

TEST_CASE("candidates come first, and who asks again is told the same", "[api][db]")
{
    NEED_DATABASE();
    session s;
    CHECK(s.starts(s.ask("h0", R"(,"candidate_task_ids":[])")) == list{}); // none in hand
    json d = s.ask("h0", R"(,"candidate_task_ids":["d","x"],"max_count":1)");

    CHECK(s.starts(d) == list{"d@n2#1"});
    CHECK(d["not_startable"] == json::parse(R"([{"task_id":"x","status":"unknown"}])"));

    session t;
    json first = t.ask("H1");
    CHECK(t.starts(first) == list{"a@n2#1"});
    CHECK(first["start"][0].contains("hold_until_at"));
    json second = t.ask("H2");
    CHECK(t.starts(second).empty());
    json again = t.ask("H1");
    CHECK(t.starts(again) == list{"a@n2#1"});
    CHECK(again["start"][0]["hold_until_at"] == first["start"][0]["hold_until_at"]);
    json rows = t.get(t.path + "/tasks").json()["items"];
    CHECK(rows[0]["holder"] == "H1");
    CHECK(rows[0]["resource_id"] == "n2");
    CHECK(rows[0]["hold_until_at"] == first["start"][0]["hold_until_at"]);
    CHECK_FALSE(rows[1].contains("holder"));
}

// Worked example 12: at 10 b would end at the same time on both.
TEST_CASE("what others have of a stored snapshot is not free", "[api][db]")
{
    NEED_DATABASE();
    stored_snapshot grid;
    session s(grid.id);

    REQUIRE(grid.post("/v1/snapshots/" + grid.id + "/leases",
                      R"({"owner":"x","placements":[{"job_id":"y","resource_ids":)"
                      R"(["n2"],"end_s":10.2}]})")
                .status == 201);
    json next = s.get(s.path + "/next").json();
    CHECK(s.starts(next) == list{"a@n1#1"});
    CHECK(s.queues(next) == list{"n1: b", "n2: c d e"});
    CHECK(next["plan"]["objective"]["makespan_s"].get<double>() ==
          Approx(18.1).margin(0.1));
}

TEST_CASE("an attempt of a session has a lease from its grant to its end", "[api][db]")
{
    NEED_DATABASE();
    stored_snapshot grid;
    session s(grid.id);
    auto report = [&](const std::string &id, const std::string &kind,
                      const std::string &more) {
        return s.report("{\"event_id\":\"" + id + "\",\"kind\":\"" + kind +
                        "\",\"observed_at\":" + std::to_string(grid.now()) +
                        ",\"task_id\":\"a\"" + more + "}");
    };

    CHECK(s.starts(s.ask("x")) == list{"a@n2#1"});
    json leases = grid.leases();
    REQUIRE(leases.size() == 1);
    CHECK(leases[0]["owner"] == "session:" + s.id);
    CHECK(leases[0]["placements"][0]["job_id"] == "a#1");
    CHECK(leases[0].contains("expires_at"));

    json answer = report("1", "started", R"(,"resource_id":"n2","running_id":"job7")");
    CHECK(answer["stored"] == 1);
    CHECK(answer["warnings"].empty());
    leases = grid.leases();
    REQUIRE(leases.size() == 1);
    CHECK_FALSE(leases[0].contains("expires_at"));
    CHECK(leases[0]["placements"][0]["running_id"] == "job7");

    std::string before = leases[0]["placements"][0]["end_at"];
    report("p", "progress", R"(,"progress_ratio":0.000001)");
    s.ask("x");
    leases = grid.leases();
    for (const auto &l : leases)
        if (l["placements"][0]["job_id"] == "a#1")
            CHECK(l["placements"][0]["end_at"].get<std::string>() > before);

    report("2", "ended", "");
    for (const auto &l : grid.leases())
        CHECK(l["placements"][0]["job_id"] != "a#1");
    CHECK(s.starts(s.ask("x")).size() == 2);
    CHECK(grid.leases().size() == 2);
    CHECK(s.call("DELETE", s.path).status == 204);
    CHECK(grid.leases().empty());
}

TEST_CASE("what is expected to run for ever has a lease without an end", "[api][db]")
{
    NEED_DATABASE();
    stored_snapshot grid;
    session s(grid.id);
    double began_s = stored_snapshot::now() - 1000 - s.t;

    s.started("1", began_s, "a", "n2");
    s.event("2", began_s + 999, "progress",
            s.of("a", 1) + ",\"progress_ratio\":1e-11"); // 3 million years
    s.ask("h");
    json leases = grid.leases();
    INFO(leases.dump());
    bool found = false;
    for (auto &l : leases)
        for (auto &p : l["placements"])
            if (p["job_id"] == "a#1") {
                found = true;
                CHECK_FALSE(p.contains("end_at"));
            }
    CHECK(found);
    CHECK(s.get(s.path + "/tasks").status == 200);
    s.ask("h"); // and it can be read again
    CHECK(grid.post("/v1/placements",
                    R"({"jobs":[{"id":"j","estimate_ref_s":1}],"snapshot_id":")" +
                        grid.id + R"("})")
              .status == 200);
    s.ended("3", began_s + 1000, "a");
}

TEST_CASE("an attempt that nobody granted beyond a resource's room is said", "[api][db]")
{
    NEED_DATABASE();
    stored_snapshot grid;
    session s(grid.id), other(grid.id);

    CHECK(s.starts(s.ask("x")) == list{"a@n2#1"});
    json answer = other.report(
        R"({"event_id":"1","kind":"started","task_id":"a","resource_id":"n2",)"
        R"("observed_at":)" +
        std::to_string(grid.now()) + "}");
    REQUIRE(answer["warnings"].size() == 1);
    CHECK(answer["warnings"][0].get<std::string>().find("overcommitted: 1") == 0);
    CHECK(grid.leases().size() == 2);
}

TEST_CASE("a session's plan is the answer to its request", "[api][db]")
{
    NEED_DATABASE();
    session s;

    s.started("e1", 0, "a", "n2");
    s.started("e2", 0, "d", "n1");
    s.ended("e3", 2, "a");
    s.started("e4", 2.5, "a", "n1", 2);
    s.host("h", 3, "host_speed", "n1", R"(,"mips_total":3)");
    for (double at : {0.0, 1.0, 2.0, 3.5, 9.0}) {
        api_reply request = s.get(s.path + "/request?now=" + s.at(at));
        REQUIRE(request.status == 200);
        api_reply answer = s.post("/v1/workflow-schedules", request.body);
        INFO(request.body);
        REQUIRE(answer.status == 200);
        api_reply plan = s.get(s.path + "/plan?now=" + s.at(at));
        for (const char *member : {"schedule", "unplaced", "objective"})
            CHECK(raw_member(plan.body, member) == raw_member(answer.body, member));
    }
}
