// sessions_life_test.cpp - sessions from their definition to their end: what is refused,
// what is the same twice, conditions, replays, replicas.
#include "tests/sessions_api_support.hpp"

#include <algorithm>
#include <thread>

extern "C" {
#include "models/base/rng.h"
#include "models/session/part.h"
}

using namespace session_api;
using nlohmann::json;

namespace
{

std::string definition(const std::string &tasks, const std::string &more = "",
                       const std::string &hosts = two_hosts)
{
    return "{\"workflow\":{\"tasks\":" + tasks +
           "},\"snapshot\":{\"resources\":" + hosts + "}" + more + "}";
}

} // namespace

TEST_CASE("a session is made, is the same, is replaced, and ends", "[api][db]")
{
    NEED_DATABASE();
    session s;
    json made = s.get(s.path).json();
    std::string tag = s.get(s.path).headers["ETag"];

    CHECK(made["status"] == "running");
    CHECK(made["revision"] == 0);
    CHECK(made["counts"]["idle"] == 3);
    CHECK(made["application_id"] == s.id);
    // The same with members in another order.
    api_reply again = s.put("{\"snapshot\":{\"resources\":" + std::string(two_hosts) +
                            "},\"workflow\":{\"tasks\":" + five_tasks + "}}");
    CHECK(again.status == 200);
    CHECK(again.json()["revision"] == 0);
    CHECK(again.headers["ETag"] == tag);
    CHECK(s.put(definition(five_tasks), {{"if_none_match", "*"}}).status == 412);

    s.started("1", 0, "a", "n2");
    api_reply other =
        s.put(definition(R"([{"id":"a"},{"id":"z"}])"), {{"if_match", tag}});
    CHECK(other.status == 412);
    other = s.put(definition(R"([{"id":"a"},{"id":"z"}])",
                             R"(,"application_id":"app","running_max":1,)"
                             R"("expires_after_s":60)"));
    CHECK(other.status == 200);
    CHECK(other.json()["revision"] == 2);
    CHECK(other.json()["counts"]["running"] == 1);
    CHECK(other.json()["counts"]["ready"] == 1);
    json page = s.get("/v1/workflow-sessions?application_id=app&page_size=1000").json();
    CHECK(std::any_of(page["items"].begin(), page["items"].end(),
                      [&](const json &x) { return x["session_id"] == s.id; }));
    page = s.get("/v1/workflow-sessions?application_id=app&status=finished").json();
    CHECK(std::none_of(page["items"].begin(), page["items"].end(),
                       [&](const json &x) { return x["session_id"] == s.id; }));
    CHECK(s.starts(s.get(s.path + "/next").json()).empty()); // running_max

    CHECK(s.call("DELETE", s.path).status == 204);
    CHECK(s.get(s.path).status == 404);
    CHECK(s.post(s.path + "/events", R"({"event_id":"1","kind":"host_up",)"
                                     R"("observed_at":1,"resource_id":"n1"})")
              .status == 404);
}

TEST_CASE("an expired session is gone, but for its reading and its end", "[api][db]")
{
    NEED_DATABASE();
    session s;

    {
        error err{};
        db_options options{};
        db *d = nullptr;
        std::string url = test_database_url();
        options.conninfo = url.c_str();
        options.pool_size = 1;
        options.connect_timeout_s = 2;
        options.wait_timeout_s = 5;
        REQUIRE(db_create(&options, &d, &err) == OK);
        test_arena a;
        db_session *c = db_session_create(d, nullptr, a);
        REQUIRE(db_execute(c,
                           ("UPDATE workflow_session SET expires_at = now() WHERE "
                            "session_id = '" +
                            s.id + "'")
                               .c_str(),
                           &err) == OK);
        db_session_close(c);
        db_close(d);
    }
    CHECK(s.get(s.path).json()["status"] == "expired");
    CHECK(s.get(s.path + "/next").status == 410);
    CHECK(s.get(s.path + "/tasks").status == 410);
    CHECK(s.get(s.path + "/events").status == 410);
    CHECK(s.post(s.path + "/starts", R"({"holder":"h"})").status == 410);
    CHECK(s.post(s.path + "/tasks", R"({"id":"x"})").status == 410);
    CHECK(s.put(definition(R"([{"id":"z"}])")).status == 201);
    CHECK(s.get(s.path).json()["counts"]["ready"] == 1);
}

TEST_CASE("edges of a definition are dependencies, with and without others", "[api][db]")
{
    NEED_DATABASE();
    session s;
    api_reply r = s.put(R"({"workflow":{"tasks":[{"id":"a"},{"id":"b"},)"
                        R"({"id":"c","depends_on":["a"]}],"edges":[)"
                        R"({"parent_id":"a","child_id":"b"},)"
                        R"({"parent_id":"a","child_id":"c"},)"
                        R"({"parent_id":"b","child_id":"c"}]},)"
                        R"("snapshot":{"resources":[{"id":"n1"}]}})");

    INFO(r.body);
    REQUIRE(r.status == 200);
    CHECK(r.json()["counts"]["ready"] == 1);
    CHECK(r.json()["counts"]["idle"] == 2);
    s.ended("1", 0, "a");
    CHECK(s.get(s.path).json()["counts"]["ready"] == 1); // b; c waits for it
    s.ended("2", 1, "b");
    CHECK(s.get(s.path).json()["counts"]["ready"] == 1);
}

TEST_CASE("what a session comes to is stored with each change of it", "[api][db]")
{
    NEED_DATABASE();
    test_db d;
    test_session db(d);
    rng r = rng_create(10);
    auto below = [&](size_t n) { return rng_index(&r, n); };
    const char *const kinds[] = {"started", "started", "ended", "failed", "cancelled"};
    int seen_finished = 0, seen_stuck = 0, seen_running = 0, seen_calm_end = 0,
        number = 0;
    error err{};

    for (int round = 0; round < 18; round++) {
        bool calm = round % 3 == 0; // nothing fails, so that counts alone tell it
        session s("", R"([{"id":"a","estimate_ref_s":4},{"id":"b","attempts_max":1,)"
                      R"("depends_on":["a"]},{"id":"c"}])");
        auto check = [&] {
            json now = s.get(s.path).json();
            std::string of = " FROM workflow_session WHERE session_id = '" + s.id + "'";
            auto ask = [&](const std::string &what) {
                test_arena a;
                return query_number(db, a, ("SELECT " + what + of).c_str());
            };
            std::string status = now["status"];

            INFO(now.dump());
            CHECK(ask("(status = '" + status + "')::int::float8") == 1);
            CHECK(ask("running_count::float8") == now["counts"]["running"]);
            CHECK(ask("(status_revision = revision)::int::float8") == 1);
            CHECK(ask("(counts_revision = revision)::int::float8") == 1);
            CHECK(ask("done_count::float8") == now["counts"]["done"]);
            CHECK(ask("stopped_count::float8") ==
                  (int)now["counts"]["failed"] + (int)now["counts"]["cancelled"]);
            seen_calm_end += calm && status == "finished";
            seen_finished += status == "finished";
            seen_stuck += status == "stuck";
            seen_running += now["counts"]["running"] > 0;
        };

        check();
        for (int step = 0; step < 12; step++) {
            std::string task(1, (char)('a' + below(3)));
            std::string name = std::to_string(number++);
            bool older = step == 9;

            if (older) // it was of an older program: nobody wrote what it comes to
                REQUIRE(db_execute(db,
                                   (std::string("UPDATE workflow_session SET ") +
                                    (round % 2 ? "status_revision = NULL"
                                               : "counts_revision = 1, done_count = 3") +
                                    " WHERE session_id = '" + s.id + "'")
                                       .c_str(),
                                   &err) == OK);
            if (!older && !calm && below(8) == 0)
                s.host(name, (double)below(50), "host_down", below(2) ? "n1" : "n2");
            else if (!older && !calm && below(9) == 0)
                s.post(s.path + "/tasks", R"({"id":")" + task + R"(","remove":true})");
            else if (!older && below(9) == 0)
                s.post(s.path + "/tasks", R"({"id":")" + task + R"(","replace":true,)" +
                                              R"("estimate_ref_s":)" + name + "}");
            else if (!older && below(12) == 0)
                s.post(s.path + "/tasks", R"({"id":"x)" + name + "\"}");
            else
                for (int i = 0; i < 2; i++) {
                    task = std::string(1, (char)('a' + below(3)));
                    s.event(name + "-" + std::to_string(i), (double)below(50),
                            kinds[below(calm ? 3 : 5)],
                            session::of(task, 1 + (int)below(2)) + ",\"resource_id\":\"" +
                                (below(2) ? "n1" : "n2") + "\"");
                }
            check();
        }
        if (round % 2) {
            s.put(definition(R"([{"id":"a"},{"id":"z"}])"));
            check();
        }
    }
    CHECK(seen_finished > 3);
    CAPTURE(seen_finished, seen_calm_end, seen_stuck, seen_running);
    CHECK(seen_calm_end > 3);
    CHECK(seen_stuck > 3);
    CHECK(seen_running > 10);
}

// With what it was before, and what of it is no JSON of a definition any more.
static void spoil(session &s, const std::string &from, const std::string &to)
{
    test_db d;
    test_session db(d);
    error err{};

    REQUIRE(db_execute(db,
                       ("UPDATE workflow_session SET definition = replace(definition, '" +
                        from + "', '" + to + "') WHERE session_id = '" + s.id + "'")
                           .c_str(),
                       &err) == OK);
}

TEST_CASE("of a definition only the tasks that events are about are read", "[api][db]")
{
    NEED_DATABASE();
    session s;

    keep(s, 0);
    s.started("1", 0, "a", "n2");
    spoil(s, R"("id":"e","estimate_ref_s":2)", R"("id":"e","estimate_ref_s":"two")");
    s.started("2", 0, "d", "n1");
    CHECK(s.ended("3", 2, "a")["stored"] == 1);
    CHECK(s.post(s.path + "/events",
                 R"({"event_id":"4","kind":"ended","task_id":"z","observed_at":1})")
              .json()["errors"][0]["code"] == "unknown_id");
    spoil(s, "\"two\"", "2");
    // Nothing runs any more: all are looked at.
    s.ended("5", 3, "d");
    json now = s.get(s.path).json();
    CHECK(now["counts"]["ready"] == 2);
    CHECK(now["status"] == "running");
}

TEST_CASE("of a finished session no task is read for what is next", "[api][db]")
{
    NEED_DATABASE();
    session s("", R"([{"id":"a"},{"id":"b"},{"id":"c"}])");
    keep(s, 0);
    auto next = [&] {
        json r = s.get(s.path + "/next").json();

        r.erase("now");
        return r;
    };

    s.post(s.path + "/tasks", R"({"id":"c","remove":true})");
    for (const char *task : {"a", "b"}) {
        s.started(std::string(task) + "1", 0, task, "n1");
        s.ended(std::string(task) + "2", 5, task);
    }
    json first = next();
    REQUIRE(first["status"] == "finished");
    CHECK(first["counts"]["done"] == 2);
    CHECK(first["counts"]["cancelled"] == 1);
    CHECK(first["ask_again_in_s"] == 60);
    spoil(s, "\"tasks\"", "\"no_tasks\"");
    CHECK(s.get(s.path + "/next?queue_depth=3").status == 200);
    CHECK(next() == first);
    spoil(s, "\"no_tasks\"", "\"tasks\"");
    // A process that is left over is told, as before.
    s.started("late", 7, "a", "n2", 2);
    json left = next();
    CHECK(left["status"] == "finished");
    REQUIRE(left["cancel"].size() == 1);
    CHECK(next()["cancel"] == left["cancel"]);
}

static std::string part_of(const std::string &definition, std::vector<const char *> ids)
{
    test_arena a;
    name_index wanted;

    name_index_create(&wanted, ids.size(), a);
    for (size_t i = 0; i < ids.size(); i++)
        name_index_add(&wanted, ids[i], i);
    return session_definition_part(definition.c_str(), &wanted, a);
}

TEST_CASE("a definition is cut to some of its tasks however it is written", "[session]")
{
    const char *const text =
        R"({ "seed":1,"workflow" : {"edges":[{"parent_id":"a","child_id":"b"}], "tasks" :)"
        R"( [ {"class":"x","id":"a"} , {"id" : "\u0062","model":{"id":"c"}},)"
        R"({"id":"c, ]}"}] ,"id":"w"},"labels":{"tasks":[{"id":"a"}]} })";

    CHECK(part_of(text, {"b"}) ==
          R"({ "seed":1,"workflow" : {"edges":[], "tasks" : [{"id" : "\u0062",)"
          R"("model":{"id":"c"}}] ,"id":"w"},"labels":{"tasks":[{"id":"a"}]} })");
    CHECK(part_of(text, {"c, ]}", "a"})
              .find(R"([{"class":"x","id":"a"},{"id":"c, ]}"}] ,"id":"w")") !=
          std::string::npos);
    CHECK(part_of(text, {"w"}).find(R"("tasks" : [] ,)") != std::string::npos);
    CHECK(part_of(R"({"workflow":{"id":"w"}})", {"a"}) == R"({"workflow":{"id":"w"}})");
}

TEST_CASE("what runs for ten times as long as expected is said", "[api][db]")
{
    NEED_DATABASE();
    session s;
    double now = clock_wall_s();

    s.started("1", now - s.t - 100, "a", "n2"); // 2 s there
    s.started("2", now - s.t - 50, "d", "n1");  // 6 s
    json tasks = s.get(s.path + "/tasks?status=running").json()["items"];
    REQUIRE(tasks.size() == 2);
    CHECK(tasks[0]["overdue_ratio"].get<double>() == Approx(50).epsilon(0.2));
    CHECK(!tasks[1].contains("overdue_ratio"));
    s.progress("3", now - s.t - 1, "a", 0.5); // it lasts, and is alive
    tasks = s.get(s.path + "/tasks?status=running").json()["items"];
    CHECK(!tasks[0].contains("overdue_ratio"));
}

TEST_CASE("what is wrong with a definition is said where it is", "[api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    const std::string host = R"([{"id":"n"}])";
    struct {
        std::string body, pointer, code;
    } cases[] = {
        {definition(R"([{"id":"a","depends_on":["b"]},{"id":"b","depends_on":["a"]}])"),
         "", "cycle"},
        {definition(R"([{"id":"a","depends_on":["a"]}])"), "", "cycle"},
        {definition(R"([{"id":"a"},{"id":"a"}])"), "/workflow/tasks/1/id", "duplicate"},
        {R"({"workflow":{"tasks":[]}})", "/snapshot", "required"},
        {R"({"workflow":{"tasks":[]},"snapshot":{"resources":[]},"snapshot_id":"x"})",
         "/snapshot_id", "conflict"},
        {R"({"workflow":{"tasks":[]},"snapshot_id":"there is none"})", "/snapshot_id",
         "unknown_id"},
        {definition("[]", R"(,"colour":1)"), "/colour", "unknown_member"},
        {definition("[]", R"(,"algorithm":"balanced")"), "/algorithm",
         "invalid_combination"},
        {definition("[]", R"(,"algorithm":"nobody")"), "/algorithm", "unknown_algorithm"},
        {definition("[]", R"(,"options":{"colour":1})"), "/options/colour",
         "unknown_option"},
        {definition("[]", R"(,"default_ref_s":0)"), "/default_ref_s", "out_of_bounds"},
        {definition("[]", R"(,"replan_min_interval_s":3601)"), "/replan_min_interval_s",
         "out_of_bounds"},
        {definition("[]", R"(,"replan_max_interval_s":0.5)"), "/replan_max_interval_s",
         "out_of_bounds"},
        {definition("[]", R"(,"expires_after_s":59)"), "/expires_after_s",
         "out_of_bounds"},
        {definition(R"([{"id":"a","attempts_max":0}])"), "/workflow/tasks/0/attempts_max",
         "out_of_bounds"},
        {definition(R"([{"id":"a"},{"id":"b","partition_ids":["none"]}])"),
         "/workflow/tasks/1/partition_ids/0", "unknown_id"},
        {definition(R"([{"id":"a","requirement":"cpus_total >"}])"),
         "/workflow/tasks/0/requirement", "expression"},
        {definition(R"([{"id":"a"},{"id":"b","model":{"parameters":[1]}}])"),
         "/workflow/tasks/1/model/parameters", "wrong_type"},
        {definition(R"([{"id":"a","model":{"parameters":"x"}}])"),
         "/workflow/tasks/0/model/parameters", "wrong_type"},
        {definition(R"([{"id":"a","group":{"id":"g","policy":"gang"}},)"
                    R"({"id":"b","group":{"id":"g","policy":"pack"}}])"),
         "/workflow/tasks/1/group/policy", "conflict"},
        {definition(
             R"([{"id":"a","group":{"id":"g","policy":"gang"}},)"
             R"({"id":"b","group":{"id":"g","policy":"gang"},"depends_on":["a"]}])"),
         "/workflow/tasks/1/depends_on", "cycle"},
    };
    for (const auto &c : cases) {
        INFO(c.body);
        api_reply r = a.call("PUT", "/v1/workflow-sessions/x", c.body);
        INFO(r.body);
        REQUIRE(r.status ==
                (c.pointer == "/snapshot_id" && c.code == "unknown_id" ? 404 : 422));
        CHECK(r.json()["errors"][0]["code"] == c.code);
        if (!c.pointer.empty())
            CHECK(r.json()["errors"][0]["pointer"] == c.pointer);
    }
    CHECK(a.call("PUT", "/v1/workflow-sessions/a~b", definition("[]")).status == 422);
    CHECK(
        a.call("PUT", "/v1/workflow-sessions/" + std::string(201, 'x'), definition("[]"))
            .status == 422);
    CHECK(a.get("/v1/workflow-sessions/x").status == 404);
    api_reply latin = a.get("/v1/workflow-sessions/\xfc"); // as HTTP's %FC
    INFO(latin.body);
    CHECK(latin.status == 400);
    CHECK(latin.json()["detail"].get<std::string>().find("is not UTF-8") !=
          std::string::npos);
}

TEST_CASE("what is wrong with events is said where it is", "[api][db]")
{
    NEED_DATABASE();
    session s;
    auto event = [&](const std::string &more, const std::string &kind = "progress") {
        return R"({"event_id":"x","kind":")" + kind + R"(","observed_at":1)" + more + "}";
    };
    struct {
        std::string body, pointer, code;
    } cases[] = {
        {"[" + event(R"(,"task_id":"a","progress_ratio":1.2)") + "]", "/0/progress_ratio",
         "out_of_bounds"},
        {event(R"(,"resource_id":"n1","mips_total":0)", "host_speed"), "/mips_total",
         "out_of_bounds"},
        {event(R"(,"task_id":"a","attempt":0)", "ended"), "/attempt", "out_of_bounds"},
        {event("", "ended"), "/task_id", "required"},
        {event(R"(,"task_id":"a")", "started"), "/resource_id", "required"},
        {event(R"(,"task_id":"a")"), "/progress_ratio", "required"},
        {event(R"(,"resource_id":"n1")", "host_speed"), "/mips_total", "required"},
        {"[" + event(R"(,"task_id":"a")", "ended") + R"(,{"event_id":"y","kind":"no"}])",
         "/1/kind", "not_a_choice"},
        {R"({"event_id":"x","kind":"ended","task_id":"a","observed_at":1772352000000})",
         "/observed_at", "not_an_instant"},
        {R"({"event_id":"x","kind":"ended","task_id":"a","observed_at":)" +
             std::to_string(clock_wall_s() + 2 * 86400) + "}",
         "/observed_at", "out_of_bounds"},
    };
    for (const auto &c : cases) {
        INFO(c.body);
        api_reply r = s.post(s.path + "/events", c.body);
        INFO(r.body);
        REQUIRE(r.status == 422);
        CHECK(r.json()["errors"][0]["code"] == c.code);
        CHECK(r.json()["errors"][0]["pointer"] == c.pointer);
    }
    CHECK(s.get(s.path).json()["revision"] == 0);

    // Lines of NDJSON stand alone; so do events of unknown tasks and resources.
    api_reply r = s.call("POST", s.path + "/events",
                         event(R"(,"task_id":"a")", "ended") + "\n" + "{}\n" +
                             R"({"event_id":"u","kind":"ended","observed_at":1,)"
                             R"("task_id":"nobody"})" +
                             "\n" +
                             R"({"event_id":"v","kind":"host_up","observed_at":1,)"
                             R"("resource_id":"nowhere"})",
                         {{"content_type", "application/x-ndjson"}});
    INFO(r.body);
    REQUIRE(r.status == 200);
    json answer = r.json();
    CHECK(answer["received"] == 4);
    CHECK(answer["stored"] == 1);
    CHECK(answer["refused"] == answer["errors"].size() - 2); // of {} three are missing
    CHECK(answer["errors"].back()["code"] == "unknown_id");
    CHECK(answer["errors"].back()["event_id"] == "v");
    CHECK(answer["errors"].back()["line"] == 4);
    json log = s.get(s.path + "/events?after_seq=0&page_size=10").json()["items"];
    REQUIRE(log.size() == 1);
    CHECK(log[0]["event_id"] == "x");
    CHECK(log[0]["seq"] == 1);
    CHECK(s.get(s.path + "/events?after_seq=1").json()["items"].empty());
}

TEST_CASE("too many events, or too long ones, are refused whole", "[api][db]")
{
    NEED_DATABASE();
    session s;
    std::string one = R"({"event_id":"x","kind":"host_up","observed_at":1,)"
                      R"("resource_id":"n1"})";
    std::string many = "[" + one;
    for (int i = 0; i < 10000; i++)
        many += "," + one;

    CHECK(s.post(s.path + "/events", many + "]").status == 413);
    CHECK(s.get(s.path).json()["revision"] == 0);

    // Each counts alone, however short the others are; blanks around it do not.
    auto event = [&](const std::string &id, size_t blanks) {
        std::string e = one;
        e.replace(e.find("\"x\""), 3, "\"" + id + "}[\\\"\"");
        return e.substr(0, e.size() - 1) + std::string(blanks, ' ') + "}";
    };
    struct {
        std::string body, pointer;
        const char *type;
    } cases[] = {
        {event("a", 8192), "", "application/json"},
        {"[" + event("a", 0) + ", " + event("b", 0) + ",\n" + event("c", 8192) + "," +
             event("d", 0) + "]",
         "/2", "application/json"},
        {event("a", 0) + "\n\n" + event("b", 8192) + "\n" + event("c", 0), "",
         "application/x-ndjson"},
    };
    for (auto &c : cases) {
        api_reply r =
            s.call("POST", s.path + "/events", c.body, {{"content_type", c.type}});
        INFO(r.body);
        CHECK(r.status == 413);
        CHECK(r.json()["detail"].get<std::string>().find("bytes, more than 8192") !=
              std::string::npos);
        CHECK(r.json()["errors"][0]["pointer"] == c.pointer);
        CHECK((r.json()["detail"].get<std::string>().find(", in line 3,") !=
               std::string::npos) == (c.type == std::string("application/x-ndjson")));
    }
    CHECK(s.get(s.path).json()["revision"] == 0);
    CHECK(s.report("[" + event("a", 8000) + std::string(9000, ' ') + "," +
                   event("b", 8000) + "]")["stored"] == 2);
}

TEST_CASE("a start may name as many resources as there are", "[api][db]")
{
    NEED_DATABASE();
    std::string hosts, ids;
    for (int i = 0; i < 1500; i++) {
        std::string id = "\"node" + std::to_string(100000 + i) + "\"";
        hosts += (i ? "," : "") + ("{\"id\":" + id + ",\"cpus\":1}");
        ids += (i ? "," : "") + id;
    }
    session s("", R"([{"id":"g","nodes":1500,"cpus":1,"estimate_s":100}])", "",
              "[" + hosts + "]");
    std::string start = R"({"event_id":"1","kind":"started","observed_at":1,)"
                        R"("task_id":"g","resource_ids":[)" +
                        ids + "]}";

    REQUIRE(start.size() > 2 * 8192);
    CHECK(s.report(start)["stored"] == 1);
}

TEST_CASE("a clock ahead of the service's is said", "[api][db]")
{
    NEED_DATABASE();
    session s;
    json answer = s.report(R"({"event_id":"1","kind":"ended","task_id":"a",)"
                           R"("observed_at":)" +
                           std::to_string(clock_wall_s() + 3600) + "}");

    CHECK(answer["stored"] == 1);
    REQUIRE(answer["warnings"].size() == 1);
    CHECK(answer["warnings"][0].get<std::string>().find("clock_ahead: 1 event happens") ==
          0);
}

TEST_CASE("what has no resource is not said to have no estimate", "[api][db]")
{
    NEED_DATABASE();
    session s("", five_tasks, "", "[]");
    json plan = s.get(s.path + "/plan").json();

    INFO(plan.dump());
    CHECK(plan["unplaced"][0]["reasons"][0]["reason"] == "no_resource");
}

TEST_CASE("a failure of a kind that is not known is said", "[api][db]")
{
    NEED_DATABASE();
    session s;
    auto failed = [&](const std::string &id, const std::string &kind) {
        return s.report(R"({"event_id":")" + id +
                        R"(","kind":"failed","task_id":"a","observed_at":1,)"
                        R"("failure_kind":")" +
                        kind + "\"}")["warnings"];
    };

    CHECK(failed("1", "disk").empty());
    CHECK(failed("2", "oom") ==
          json({"guessed: 1 event has a failure_kind that is not known, the first 'oom': "
                "error, in executions"}));
}

TEST_CASE("tasks come, change and go while a workflow runs", "[api][db]")
{
    NEED_DATABASE();
    session s("", R"([{"id":"a","estimate_ref_s":4,"depends_on":["later"]}])",
              R"(,"default_ref_s":10)");
    auto add = [&](const std::string &body) {
        api_reply r = s.post(s.path + "/tasks", body);
        INFO(r.body);
        REQUIRE(r.status == 200);
        return r.json();
    };
    json next = s.get(s.path + "/next").json();

    CHECK(next["status"] == "stuck");
    CHECK(next["warnings"][0].get<std::string>().find("unknown_dependency: 1") == 0);
    CHECK(s.starts(next).empty());
    json first = add(R"({"id":"later","class":"align"})");
    CHECK(first["stored"] == 1);
    CHECK(first["revision"] == 1);
    next = s.get(s.path + "/next").json();
    CHECK(s.starts(next) == list{"later@n2#1"});
    CHECK(next["start"][0]["run_time_s"] == 5); // nothing is known of it
    CHECK(next["start"][0]["run_time_basis"]["source"] == "default");

    CHECK(add(R"({"id":"later","class":"align"})")["duplicates"] == 1);
    json conflict = add(R"([{"id":"later","cpus":0.5},{"id":"b","default_ref_s":8}])");
    CHECK(conflict["refused"] == 1);
    CHECK(conflict["stored"] == 1);
    CHECK(conflict["errors"][0]["code"] == "conflict");
    CHECK(conflict["errors"][0]["pointer"] == "/0/id");
    CHECK(conflict["errors"][0]["task_id"] == "later");
    CHECK(add(R"({"id":"later","cpus":0.5,"replace":true})")["stored"] == 1);

    api_reply cycle =
        s.post(s.path + "/tasks",
               R"([{"id":"c"},{"id":"later","depends_on":["a"],"replace":true}])");
    CHECK(cycle.status == 422);
    CHECK(cycle.json()["errors"][0]["code"] == "cycle");
    CHECK(cycle.json()["errors"][0]["pointer"] == "/1/depends_on");
    cycle = s.post(s.path + "/tasks", R"({"id":"e","depends_on":["e"]})");
    CHECK(cycle.json()["errors"][0]["pointer"] == "/depends_on/0/task_id");
    api_reply nowhere =
        s.post(s.path + "/tasks", R"([{"id":"c"},{"id":"d","partition_ids":["none"]}])");
    CHECK(nowhere.status == 422);
    CHECK(nowhere.json()["errors"][0]["code"] == "unknown_id");
    json loose =
        s.post(s.path + "/tasks", R"([{"id":"c"},{"id":"d","model":{"parameters":3}}])")
            .json();
    CHECK(loose["errors"][0]["code"] == "wrong_type");
    CHECK(loose["errors"][0]["pointer"] == "/1/model/parameters");
    CHECK(nowhere.json()["errors"][0]["pointer"] == "/1/partition_ids/0");
    CHECK(s.get(s.path + "/tasks").json()["items"].size() == 3);

    CHECK(add(R"({"id":"b","remove":true})")["stored"] == 1);
    CHECK(add(R"({"id":"b","remove":true})")["duplicates"] == 1);
    CHECK(add(R"({"id":"nobody","remove":true})")["errors"][0]["code"] == "unknown_id");
    CHECK(s.get(s.path).json()["counts"]["cancelled"] == 1);
    json b = s.get(s.path + "/tasks?status=cancelled").json()["items"];
    REQUIRE(b.size() == 1);
    CHECK(b[0]["task_id"] == "b");
}

TEST_CASE("run times are learnt within a session, on the host before elsewhere",
          "[api][db]")
{
    NEED_DATABASE();
    std::string tasks = "[";
    for (int i = 1; i <= 4; i++)
        tasks += std::string(i > 1 ? "," : "") + R"({"id":"t)" + std::to_string(i) +
                 R"(","class":"align","model":{"problem_size":)" +
                 std::to_string(i * 10) + "}}";
    session s("", tasks + R"(,{"id":"u","class":"align","depends_on":["t4"],)"
                          R"("model":{"problem_size":100}}])");
    auto run = [&](int i, const std::string &host, double lasted) {
        std::string id = "t" + std::to_string(i);
        s.started("s" + id, i * 100, id, host);
        s.ended("e" + id, i * 100 + lasted, id);
    };
    auto time_of = [&](const std::string &host) {
        json body = json::parse(s.get(s.path + "/request?now=" + s.at(1000)).body);
        for (const auto &t : body["workflow"]["tasks"])
            if (t["id"] == "u")
                return t["etc_s"][host == "n2"].get<double>();
        return -1.0;
    };

    CHECK(time_of("n1") == 60);
    CHECK(time_of("n2") == 30);
    run(1, "n2", 12);
    CHECK(time_of("n2") == 12);
    CHECK(time_of("n1") == 24); // 12 s at speed 2
    run(2, "n2", 22);
    CHECK(time_of("n2") == 17);
    run(3, "n2", 32); // 2 + size, by three different sizes
    CHECK(time_of("n2") == Approx(102));
    CHECK(time_of("n1") == Approx(204));
    run(4, "n1", 50);
    CHECK(time_of("n1") == 50);
}

TEST_CASE("what earlier sessions have taught stands before a session's own attempts",
          "[models][api][db]")
{
    NEED_DATABASE();
    std::string app = unique_id("app");
    json tasks = json::parse(R"([
        {"id":"t","class":"align","model":{"problem_size":40}},
        {"id":"u","class":"align","model":{"problem_size":40},"estimate_ref_s":5},
        {"id":"v","class":"sort"},
        {"id":"w","class":"sort","model":{"application_id":"","problem_size":10}},
        {"id":"x","model":{"model_id":"there-is-none"}}])");
    tasks[3]["model"]["application_id"] = app + "/align";
    session s("", tasks.dump(), R"(,"application_id":")" + app + "\"");
    auto task = [&](const std::string &id) {
        json body = json::parse(s.get(s.path + "/request").body);
        for (const auto &t : body["workflow"]["tasks"])
            if (t["id"] == id)
                return t["etc_s"];
        return json();
    };
    CHECK(task("t") == json({60, 30}));

    json model = {{"id", app},
                  {"application_id", app + "/align"},
                  {"kind", "linear"},
                  {"settings", {{"inputs", {"problem_size"}}}}};
    json runs = json::array();
    for (int i = 0; i < 30; i++)
        runs.push_back({{"execution_id", unique_id("run")},
                        {"application_id", app + "/align"},
                        {"processors", 1},
                        {"problem_size", 1 + i % 10},
                        {"started_at", 1700000000.0 + 100. * i},
                        {"run_time_s", 2 + 3. * (1 + i % 10)}});
    REQUIRE(s.post("/v1/models", model.dump()).status == 201);
    REQUIRE(s.post("/v1/executions", runs.dump()).status == 201);
    REQUIRE(s.post("/v1/models/" + app + "/train", "").status == 200);
    for (int host = 0; host < 2; host++) {
        CHECK(task("t")[host].get<double>() == Approx(122));
        CHECK(task("w")[host].get<double>() == Approx(32));
    }
    CHECK(task("u") == json({5, 2.5})); // its own
    CHECK(task("v") == json({60, 30})); // its class has no model
    CHECK(task("x") == json({60, 30})); // nor is there this one

    s.started("s", 0, "u", "n1");
    s.ended("e", 100, "u");
    CHECK(task("t")[0].get<double>() == Approx(122)); // not 100
    json next = json::parse(s.get(s.path + "/next").body);
    json basis;
    for (const auto &row : next["start"])
        if (row["task_id"] == "t" || row["task_id"] == "w")
            basis = row["run_time_basis"];
    INFO(next.dump());
    CHECK(basis["source"] == "model");
    CHECK(basis["model_id"] == app);
    CHECK(basis["model_version"] == 1);
    CHECK(next["warnings"].dump().find(
              "model_missing: there is no model that 1 task names "
              "(first /workflow/tasks/4/model)") != std::string::npos);

    tasks[0]["model"]["model_id"] = app;
    tasks[0]["model"]["application_id"] = app;
    json refused = s.put(R"({"workflow":{"tasks":)" + tasks.dump() +
                         R"(},"snapshot":{"resources":)" + two_hosts + "}}")
                       .json();
    CHECK(refused["status"] == 422);
    CHECK(refused["errors"][0]["pointer"] == "/workflow/tasks/0/model/model_id");
}

TEST_CASE("numbers of a task's parameters are asked for beside what no model takes",
          "[models][api][db]")
{
    NEED_DATABASE();
    std::string app = unique_id("app");
    json tasks = json::parse(R"([
        {"id":"t","class":"align","model":{"parameters":{"files":7}}},
        {"id":"u","class":"align","model":
         {"parameters":{"list":[1,2],"of":{"a":1},"none":null,"files":20}}},
        {"id":"v","class":"align","model":{"parameters":null}}])");
    session s("", tasks.dump(), R"(,"application_id":")" + app + "\"");
    json runs = json::array();

    for (int i = 0; i < 30; i++)
        runs.push_back({{"execution_id", unique_id("run")},
                        {"application_id", app + "/align"},
                        {"processors", 1},
                        {"parameters", {{"files", 1 + i % 10}, {"list", {i}}}},
                        {"started_at", 1700000000.0 + 100. * i},
                        {"run_time_s", 2 + 3. * (1 + i % 10)}});
    REQUIRE(s.post("/v1/models", json{{"id", app},
                                      {"application_id", app + "/align"},
                                      {"kind", "linear"},
                                      {"settings", {{"inputs", {"files"}}}}}
                                     .dump())
                .status == 201);
    REQUIRE(s.post("/v1/executions", runs.dump()).status == 201);
    REQUIRE(s.post("/v1/models/" + app + "/train", "").status == 200);

    json asked = s.get(s.path + "/request").json()["workflow"]["tasks"];
    CHECK(asked[0]["etc_s"][0].get<double>() == Approx(23));
    CHECK(asked[1]["etc_s"][0].get<double>() == Approx(62));
    CHECK(asked[2]["etc_s"] == json({60, 30}));
}

TEST_CASE("a plan holds until something unexpected happens", "[api][db]")
{
    NEED_DATABASE();
    session s("", five_tasks,
              R"(,"replan_min_interval_s":0,"replan_max_interval_s":3600)");
    auto next = [&] { return s.get(s.path + "/next"); };
    auto report = [&](const std::string &id, const std::string &more) {
        s.report(R"({"event_id":")" + id + R"(","observed_at":)" +
                 std::to_string(clock_wall_s()) + more + "}");
    };
    std::string planned = next().json()["plan"]["planned_at"],
                tag = next().headers["ETag"];

    CHECK(next().json()["plan"]["planned_at"] == planned);
    CHECK(s.starts(next().json()) == list{"a@n2#1"});
    CHECK(s.call("GET", s.path + "/next", "", {{"if_none_match", tag}}).status == 304);
    report("1", R"(,"kind":"started","task_id":"a","resource_id":"n2")");
    CHECK(s.call("GET", s.path + "/next", "", {{"if_none_match", tag}}).status == 200);
    CHECK(next().json()["plan"]["planned_at"] == planned); // as planned
    CHECK(s.starts(next().json()).empty());
    report("2", R"(,"kind":"ended","task_id":"a")");
    json after = next().json();
    CHECK(after["plan"]["planned_at"] != planned);
    CHECK(s.starts(after) == list{"b@n2#1", "c@n1#1"});
    planned = after["plan"]["planned_at"];
    report("3", R"(,"kind":"started","task_id":"b","resource_id":"n2")");
    report("4", R"(,"kind":"progress","task_id":"b","progress_ratio":0.000001)");
    CHECK(next().json()["plan"]["planned_at"] != planned); // its end is far away
    planned = next().json()["plan"]["planned_at"];
    report("5", R"(,"kind":"started","task_id":"c","resource_id":"n2")");
    CHECK(next().json()["plan"]["planned_at"] != planned); // elsewhere
    planned = next().json()["plan"]["planned_at"];
    CHECK(s.ask("h", R"(,"candidate_task_ids":["d"])")["plan"]["planned_at"] != planned);
}

TEST_CASE("for a while a plan holds whatever happens", "[api][db]")
{
    NEED_DATABASE();
    session s("", five_tasks, R"(,"replan_min_interval_s":3600)");
    std::string planned = s.get(s.path + "/next").json()["plan"]["planned_at"];

    s.started("1", 0, "a", "n2");
    s.ended("2", 2, "a");
    json next = s.get(s.path + "/next").json();
    CHECK(next["plan"]["planned_at"] == planned);
    // What the hosts had next in that plan, which can start now.
    CHECK(s.starts(next) == list{"b@n2#1", "c@n1#1"});
    CHECK(next["ask_again_in_s"].get<double>() >= 0.05);
}

TEST_CASE("grants are held for a while, and by one holder", "[api][db]")
{
    NEED_DATABASE();
    session s("", R"([{"id":"a"},{"id":"b"},{"id":"c"}])", R"(,"running_max":2)");
    json first = s.ask("H1", R"(,"hold_s":1,"max_count":1,"queue_depth":1)");

    CHECK(first["start"].size() == 1);
    CHECK(first["queues"][0]["tasks"].size() == 1);
    json second = s.ask("H2", R"(,"resource_ids":["n1"])");
    REQUIRE(second["start"].size() == 1); // running_max 2
    CHECK(second["start"][0]["resource_id"] == "n1");
    CHECK(s.ask("H3")["start"].empty());
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    json third = s.ask("H3");
    CHECK(s.starts(third) == s.starts(first));
    json nowhere = s.ask("H4", R"(,"resource_ids":["nx","n2","ny"])");
    CHECK(nowhere["warnings"].dump().find(
              "unknown_resource: 2 resources of resource_ids, "
              "first 'nx', are not in the snapshot") != std::string::npos);
    CHECK(s.get(s.path + "/next?resource_ids=nx")
              .json()["warnings"]
              .dump()
              .find("unknown_resource: 1 resource of") != std::string::npos);
}

TEST_CASE("events that come with starts are stored first", "[api][db]")
{
    NEED_DATABASE();
    session s;
    json answer = s.ask("h", R"(,"events":[{"event_id":"1","kind":"started",)"
                             R"("observed_at":1772352000,"task_id":"a",)"
                             R"("resource_id":"n2"},{"event_id":"2","kind":"ended",)"
                             R"("observed_at":1772352002,"task_id":"a"},)"
                             R"({"event_id":"3","kind":"ended","observed_at":1,)"
                             R"("task_id":"x"}])");

    CHECK(answer["events"]["stored"] == 2);
    CHECK(answer["events"]["errors"][0]["pointer"] == "/events/2/task_id");
    CHECK(answer["counts"]["done"] == 1);
    CHECK(s.starts(answer) == list{"b@n2#1", "c@n1#1"});
    api_reply wrong = s.post(s.path + "/starts", R"({"holder":"h","events":[{"event_id":)"
                                                 R"("4","kind":"ended",)"
                                                 R"("observed_at":1}]})");
    CHECK(wrong.status == 422);
    CHECK(wrong.json()["errors"][0]["pointer"] == "/events/0/task_id");
}

TEST_CASE("replays answer as of a revision and an instant", "[api][db]")
{
    NEED_DATABASE();
    session s;

    s.started("1", 0, "a", "n2");
    json then = s.next(1);
    s.ended("2", 2, "a");
    json replay = s.get(s.path + "/next?now=" + s.at(1) + "&revision=1").json();
    CHECK(replay == then);
    CHECK(replay["warnings"][0].get<std::string>().find("leases_not_replayed") == 0);
    s.post(s.path + "/tasks", R"({"id":"f"})");
    CHECK(s.get(s.path + "/next?now=" + s.at(1) + "&revision=1").json() == then);
    CHECK(s.starts(s.get(s.path + "/next?now=" + s.at(0) + "&revision=0").json()) ==
          list{"a@n2#1"});

    // What is not there yet is not the last one under another name.
    for (const char *what : {"next", "plan", "request"}) {
        api_reply r = s.get(s.path + "/" + what + "?now=" + s.at(0) + "&revision=4");
        INFO(r.body);
        REQUIRE(r.status == 422);
        CHECK(r.json()["errors"][0]["name"] == "revision");
        CHECK(r.json()["errors"][0]["code"] == "out_of_bounds");
        CHECK(r.json()["errors"][0]["detail"] ==
              "revision 4 has not been reached: the last one is 3");
        CHECK(s.get(s.path + "/" + what + "?now=" + s.at(0) + "&revision=3").status ==
              200);
    }
}

TEST_CASE("an inline chart shows what ran, runs and will run", "[api][db]")
{
    NEED_DATABASE();
    session s;

    s.started("1", 0, "a", "n2");
    s.ended("2", 2, "a");
    api_reply chart =
        s.call("GET", s.path + "/plan?now=" + s.at(2), "", {{"accept", "image/svg+xml"}});
    CHECK(chart.status == 200);
    CHECK(chart.headers["Content-Type"].find("image/svg+xml") == 0);
    CHECK(chart.body.find("<svg") != std::string::npos);
}

namespace
{

// A graph of classes k0 and k1, and what an engine with a bad clock says of its run.
struct history {
    std::string tasks;
    std::vector<std::string> events;

    explicit history(rng &r)
    {
        size_t count = 1 + rng_index(&r, 8);

        for (size_t i = 0; i < count; i++) {
            std::string parents;

            for (size_t p = 0; p < i; p++)
                if (rng_uniform(&r) < 0.3)
                    parents +=
                        (parents.empty() ? "\"t" : ",\"t") + std::to_string(p) + "\"";
            tasks += (i ? "," : "[") + std::string(R"({"id":"t)") + std::to_string(i) +
                     R"(","class":"k)" + std::to_string(rng_index(&r, 2)) +
                     R"(","attempts_max":)" + std::to_string(1 + rng_index(&r, 3)) +
                     R"(,"depends_on":[)" + parents + "]" +
                     (rng_uniform(&r) < 0.5
                          ? ",\"estimate_ref_s\":" + std::to_string(1 + rng_index(&r, 9))
                          : "") +
                     "}";
        }
        tasks += "]";
        for (size_t i = 0; i < 20; i++)
            events.push_back(draw(r, i, count));
    }

    static std::string draw(rng &r, size_t number, size_t count)
    {
        static const char *const of_tasks[] = {"started",   "started", "started",
                                               "ended",     "ended",   "failed",
                                               "cancelled", "progress"};
        static const char *const of_hosts[] = {"host_up", "host_down", "host_speed"};
        bool task = rng_uniform(&r) < 0.85;
        std::string kind = task ? of_tasks[rng_index(&r, 8)] : of_hosts[rng_index(&r, 3)];
        std::string out = R"({"event_id":"e)" + std::to_string(number * 7 % 20) +
                          R"(","kind":")" + kind + R"(","observed_at":17723520)" +
                          std::to_string(10 + rng_index(&r, 8));

        if (task)
            out += R"(,"task_id":"t)" + std::to_string(rng_index(&r, count)) +
                   R"(","attempt":)" + std::to_string(1 + rng_index(&r, 3));
        if (kind == "started" || !task)
            out += R"(,"resource_id":"n)" + std::to_string(1 + rng_index(&r, 2)) + "\"";
        if (kind == "failed" && rng_uniform(&r) < 0.2)
            out += R"(,"final":true)";
        if ((kind == "failed" || kind == "ended") && rng_uniform(&r) < 0.5)
            out += R"(,"run_time_s":)" + std::to_string(1 + rng_index(&r, 5));
        if (kind == "progress")
            out += R"(,"progress_ratio":0.)" + std::to_string(rng_index(&r, 10));
        if (kind == "host_speed")
            out += R"(,"mips_total":)" + std::to_string(1 + rng_index(&r, 4));
        return out + "}";
    }
};

// Sends it in another order, in batches, some of it twice, to one replica or the other.
void send(rng &r, session &s, api &other, std::vector<std::string> events)
{
    for (size_t i = events.size(); i > 1; i--)
        std::swap(events[i - 1], events[rng_index(&r, i)]);
    for (size_t at = 0; at < events.size();) {
        size_t count = std::min(events.size() - at, 1 + rng_index(&r, 10));
        std::string body;

        for (size_t i = 0; i < count; i++)
            body += (i ? "," : "[") + events[at + i];
        if (at > 0)
            body += "," + events[rng_index(&r, at)];
        api &to = rng_uniform(&r) < 0.5 ? static_cast<api &>(s) : other;
        api_reply reply = to.post(s.path + "/events", body + "]");
        INFO(reply.body);
        REQUIRE(reply.status == 200);
        at += count;
    }
}

// Without names of the session.
std::string without(std::string text, const std::string &name)
{
    for (size_t at; (at = text.find(name)) != std::string::npos;)
        text.erase(at, name.size());
    return text;
}

// What was learnt of a run, by execution.
std::map<std::string, json> learnt(session &s, const std::string &application)
{
    std::map<std::string, json> out;

    for (const char *kind : {"k0", "k1"}) {
        json answer =
            s.get("/v1/executions?application_id=" + application + "%2F" + kind).json();

        for (auto &e : answer["items"]) {
            json kept;
            for (const char *member : {"resource_id", "started_at", "run_time_s",
                                       "exit_code", "attempt", "failure_kind"})
                if (e.contains(member))
                    kept[member] = e[member];
            out[without(e["execution_id"], s.id)] = kept;
        }
    }
    return out;
}

} // namespace

TEST_CASE("whatever the order and the replica, the answer is the same to the byte",
          "[api][db]")
{
    NEED_DATABASE();
    rng r = rng_stream(1, "session replicas");
    api other(test_database_url());
    int histories = is_long_run() ? 60 : is_shorter() ? 10 : 20;
    int rounds = is_long_run() ? 20 : 4;

    for (int h = 0; h < histories; h++) {
        history what(r);
        std::string want_next, want_plan;
        std::map<std::string, json> want_learnt;

        for (int round = 0; round < rounds; round++) {
            std::string application = unique_id("app");
            session s("", what.tasks, R"(,"application_id":")" + application + "\"");

            INFO("history " << h << " round " << round << " " << what.tasks);
            send(r, s, other, what.events);
            std::string now = "?now=" + s.at(20 + 10);
            std::string next = without(s.get(s.path + "/next" + now).body, s.id);
            std::string plan = without(other.get(s.path + "/plan" + now).body, s.id);
            auto told = learnt(s, application);
            if (round == 0) {
                want_next = next;
                want_plan = plan;
                want_learnt = told;
                api_reply request = s.get(s.path + "/request" + now);
                api_reply answer = s.post("/v1/workflow-schedules", request.body);
                INFO(request.body << answer.body);
                REQUIRE(answer.status == 200);
                for (const char *member : {"schedule", "unplaced", "objective"})
                    CHECK(raw_member(plan, member) == raw_member(answer.body, member));
            }
            CHECK(next == want_next);
            CHECK(plan == want_plan);
            CHECK(told == want_learnt);
        }
    }
}

TEST_CASE("sessions on one snapshot are never given the same amounts", "[api][db]")
{
    NEED_DATABASE();
    stored_snapshot grid(R"([{"id":"n1","cpus":2},{"id":"n2","cpus":3}])");
    std::string tasks = "[";
    for (int i = 0; i < 12; i++)
        tasks += std::string(i ? "," : "") + R"({"id":"t)" + std::to_string(i) +
                 R"(","estimate_ref_s":5})";
    tasks += "]";
    session one(grid.id, tasks), two(grid.id, tasks);
    std::vector<std::unique_ptr<api>> replicas; // not in threads: Catch is not safe there
    std::vector<std::thread> holders;
    std::atomic<int> wrong{0};

    for (int i = 0; i < 4; i++)
        replicas.push_back(std::make_unique<api>(test_database_url()));
    for (int i = 0; i < 4; i++)
        holders.emplace_back([&, i] {
            api &mine = *replicas[i];
            const session &s = i % 2 ? one : two;
            for (int round = 0; round < 3; round++)
                if (mine.post(s.path + "/starts", "{\"holder\":\"h" + std::to_string(i) +
                                                      "\",\"max_count\":2}")
                        .status != 200)
                    wrong++;
        });
    for (auto &h : holders)
        h.join();
    CHECK(wrong == 0);
    std::map<std::string, double> taken;
    for (const auto &lease : grid.leases())
        for (const auto &p : lease["placements"])
            taken[p["resource_ids"][0]] += p["cpus"].get<double>();
    CHECK(taken["n1"] <= 2);
    CHECK(taken["n2"] <= 3);
    CHECK(taken["n1"] + taken["n2"] >= 4); // the last asked with all news
}

TEST_CASE("a session's own grants and starts leave its plan, those of others do not",
          "[api][db]")
{
    NEED_DATABASE();
    stored_snapshot grid;
    session s(grid.id, five_tasks,
              R"(,"replan_min_interval_s":0,"replan_max_interval_s":3600)");
    session other(grid.id, R"([{"id":"x","estimate_ref_s":1}])");
    json first = s.ask("h");
    std::string planned = first["plan"]["planned_at"];

    CHECK(s.starts(first) == list{"a@n2#1"});
    CHECK(s.get(s.path + "/next").json()["plan"]["planned_at"] == planned);
    s.report(R"({"event_id":"1","kind":"started","task_id":"a","resource_id":"n2",)"
             R"("observed_at":)" +
             std::to_string(grid.now()) + "}");
    json second = s.ask("h");
    CHECK(second["plan"]["planned_at"] == planned);
    CHECK(s.starts(second).empty());
    CHECK(s.starts(other.ask("h")) == list{"x@n1#1"});
    CHECK(s.get(s.path + "/next").json()["plan"]["planned_at"] != planned);
}

TEST_CASE("a running task whose move pays is said when moves are asked for", "[api][db]")
{
    NEED_DATABASE();
    for (const char *moves : {"none", "paying"}) {
        session s("", R"([{"id":"a","estimate_ref_s":10000}])",
                  std::string(R"(,"moves":")") + moves + "\"",
                  R"([{"id":"n1","mips_total":1,"cpus":1},)"
                  R"({"id":"n2","mips_total":10,"cpus":1}])");
        s.started("1", 0, "a", "n1");
        json next = s.next(10);
        INFO(next.dump());
        if (*moves == 'n') {
            CHECK(next["move"].empty());
            continue;
        }
        REQUIRE(next["move"].size() == 1);
        CHECK(next["move"][0]["task_id"] == "a");
        CHECK(next["move"][0]["attempt"] == 1);
        CHECK(next["move"][0]["from_resource_id"] == "n1");
        CHECK(next["move"][0]["to_resource_id"] == "n2");
        CHECK(next["move"][0]["gain_s"].get<double>() > 8000);
    }
}

TEST_CASE("a session begins without tasks, and gets them as they come", "[api][db]")
{
    NEED_DATABASE();
    session s("", "[]", R"(,"algorithm":"search","options":{"max_steps":50})");
    json next = s.get(s.path + "/next").json();

    CHECK(next["status"] == "running");
    CHECK(next["start"].empty());
    CHECK(s.post(s.path + "/tasks", R"([{"id":"a"},{"id":"b","depends_on":["a"]}])")
              .status == 200);
    CHECK(s.starts(s.ask("h")) == list{"a@n2#1"});
}

TEST_CASE("two runs of one workflow on one snapshot have the same tasks", "[api][db]")
{
    NEED_DATABASE();
    stored_snapshot grid(R"([{"id":"n1","cpus":2},{"id":"n2","cpus":1}])");
    session one(grid.id, five_tasks), two(grid.id, five_tasks);

    CHECK(session::starts(one.ask("h", R"(,"max_count":1)")) == list{"a@n1#1"});
    list begun = session::starts(two.ask("h", R"(,"max_count":2)"));
    REQUIRE(begun.size() == 2); // a#1 of both is there, and ends at another time
    CHECK(std::count(begun.begin(), begun.end(), "a@n1#1") +
              std::count(begun.begin(), begun.end(), "a@n2#1") ==
          1);
    json next = one.get(one.path + "/next").json();
    CHECK(next["plan"]["status"].is_string());
    api_reply request = one.get(one.path + "/request");
    INFO(request.body);
    CHECK(request.body.find("\"session:" + two.id + "/a#1\"") != std::string::npos);
    CHECK(grid.post("/v1/workflow-schedules", request.body).status == 200);

    // What is to be cancelled holds its host under a name of its own, too.
    one.started("1", 0, "a", "n1");
    one.ended("2", 1, "a", 2);
    next = one.get(one.path + "/next").json();
    CHECK(next["cancel"].size() == 1);

    // All that runs, of whoever asks for a placement.
    api_reply placed = grid.post(
        "/v1/placements", R"({"jobs":[{"id":"j","estimate_ref_s":1}],"snapshot_id":")" +
                              grid.id + R"(","algorithm":"mct"})");
    INFO(placed.body);
    CHECK(placed.status == 200);
}

TEST_CASE("starts of a session keep what spreads and excludes apart", "[api][db]")
{
    NEED_DATABASE();
    static const char hosts[] = R"([{"id":"n1","mips_total":1,"cpus":4,"site_id":"s"},)"
                                R"({"id":"n2","mips_total":1,"cpus":4,"site_id":"s"}])";
    auto tasks = [](const std::string &group) {
        std::string text;
        for (const char *id : {"a", "b", "c"})
            text += std::string(text.empty() ? "[" : ",") + "{\"id\":\"" + id +
                    R"(","estimate_ref_s":100,"group":{"id":"g",)" + group + "}}";
        return text + "]";
    };
    static const char holds[] =
        R"(,"replan_min_interval_s":1000,"replan_max_interval_s":3600)";

    auto report = [](session &s, const std::string &id, const std::string &kind,
                     const std::string &more) {
        s.report("{\"event_id\":\"" + id + "\",\"kind\":\"" + kind +
                 R"(","observed_at":)" + std::to_string(clock_wall_s()) + more + "}");
    };
    auto next = [](session &s) { return s.starts(s.get(s.path + "/next").json()); };

    SECTION("spread, against the plan")
    {
        session s("", tasks(R"("policy":"spread")"), holds, hosts);
        CHECK(next(s) == list{"a@n1#1", "b@n2#1"});
        report(s, "1", "started", R"(,"task_id":"a","resource_id":"n2")");
        CHECK(next(s).empty());
    }
    SECTION("exclude on a resource")
    {
        session s("", tasks(R"("policy":"exclude")"), holds, hosts);
        CHECK(next(s) == list{"a@n1#1", "b@n2#1"});
        report(s, "1", "started", R"(,"task_id":"a","resource_id":"n1")");
        CHECK(next(s) == list{"b@n2#1"});
        report(s, "2", "started", R"(,"task_id":"b","resource_id":"n2")");
        CHECK(next(s).empty());
        report(s, "3", "ended", R"(,"task_id":"a")");
        CHECK(next(s) == list{"c@n1#1"}); // where the plan has it, when it can
    }
    SECTION("exclude on a site")
    {
        session s("", tasks(R"("policy":"exclude","key":"site_id","max_per_key":2)"),
                  holds, hosts);
        CHECK(next(s).size() == 2);
        CHECK(s.ask("h", R"(,"max_count":1)")["start"].size() == 1);
        CHECK(s.starts(s.ask("other")).size() == 1);
        CHECK(next(s).empty());
    }
}
