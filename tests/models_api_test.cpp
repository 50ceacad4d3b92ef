// models_api_test.cpp - stored models: made, trained, refined by executions, rolled
// back, ported; through route_answer(), with PostgreSQL where the tag says so.
#include "tests/database.hpp"
#include "tests/model_support.hpp"
#include "tests/test_governor.hpp"

#include <atomic>
#include <functional>
#include <thread>

extern "C" {
#include "service/refits.h"
#include "service/store_model.h"
}

using nlohmann::json;

namespace
{
// A service; with `background` models learn by themselves.
struct models : api {
    refits *r = nullptr;

    explicit models(bool background = false) : api(test_database_url())
    {
        refits_options options{};
        error err{};

        if (!background)
            return;
        handle()->governor = test_governor(2, 16);
        REQUIRE(handle()->governor);
        options.at_once = 2;
        options.poll_s = 0.02;
        REQUIRE(refits_create(handle(), &options, &r, &err) == OK);
        handle()->refits = r;
    }
    ~models()
    {
        handle()->refits = nullptr;
        refits_close(r);
        governor_close(handle()->governor);
    }
    json done(const api_reply &reply, int status)
    {
        INFO(reply.body.substr(0, 2000));
        REQUIRE(reply.status == status);
        return status == 204 ? json() : reply.json();
    }
    json make(const std::string &id, const std::string &app, const json &more = {})
    {
        json body = {{"id", id},
                     {"application_id", app},
                     {"site_id", "here"},
                     {"kind", "comprehensive"}};
        if (more.is_object())
            body.update(more);
        return done(post("/v1/models", body.dump()), 201);
    }
    json read(const std::string &id)
    {
        return done(get("/v1/models/" + id), 200);
    }
    json command(const std::string &id, const std::string &what, const json &body = {},
                 int status = 200)
    {
        return done(
            post("/v1/models/" + id + "/" + what, body.is_null() ? "" : body.dump()),
            status);
    }
    void store(const json &executions)
    {
        json answer = done(post("/v1/executions", executions.dump()), 201);
        REQUIRE(answer["stored"] == executions.size());
    }
    json wait_for(const std::string &id, const std::function<bool(const json &)> &is_so)
    {
        json now;
        for (int i = 0; i < 10000; i++) {
            now = read(id);
            if (is_so(now))
                return now;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        FAIL(now.dump());
        return now;
    }
};

std::vector<known_run> first(const std::vector<known_run> &runs, size_t from, size_t to)
{
    return {runs.begin() + (long)from, runs.begin() + (long)to};
}

json question(const std::string &id)
{
    return {{"model_id", id},
            {"problem_size", 1200},
            {"processors", 4},
            {"cpu_available_ratio", 0.7},
            {"bandwidth_mbps", 60}};
}
} // namespace

TEST_CASE("stored models are unavailable without a database", "[models][api]")
{
    api a;
    struct {
        const char *method, *target, *body;
    } cases[] = {
        {"GET", "/v1/models", ""},
        {"POST", "/v1/models", R"({"application_id":"a"})"},
        {"GET", "/v1/models/x", ""},
        {"DELETE", "/v1/models/x", ""},
        {"POST", "/v1/models/x/train", ""},
        {"POST", "/v1/models/x/refine", ""},
        {"POST", "/v1/models/x/roll-back", R"({"version":1})"},
        {"POST", "/v1/models/x/port", R"({"reference_model_id":"y"})"},
        {"GET", "/v1/models/x/versions", ""},
        {"GET", "/v1/models/x/versions/1", ""},
        {"GET", "/v1/models/x/samples", ""},
        {"POST", "/v1/predictions", R"({"model_id":"x","problem_size":1})"},
        {"POST", "/v1/predictions", R"({"application_id":"x","problem_size":1})"},
    };
    for (auto &c : cases) {
        INFO(c.method << " " << c.target);
        CHECK(a.call(c.method, c.target, c.body).status == 503);
    }
}

TEST_CASE("intervals have levels from 0.5 to 0.99", "[models][api]")
{
    api service;

    for (double level : {0.49, 0.5, 0.99, 0.991}) {
        json body = {{"model_id", "m"}, {"interval_level", level}};
        api_reply r = service.post("/v1/predictions", body.dump());
        bool is_level = level >= 0.5 && level <= 0.99;
        INFO(level << r.body);
        CHECK((r.status == 422) != is_level);
        if (!is_level)
            CHECK(r.json()["errors"][0]["pointer"] == "/interval_level");
    }
}

TEST_CASE("a wrong model is refused before the database is asked", "[models][api]")
{
    api a;
    CHECK(a.post("/v1/models", R"({"id":"a/b","application_id":"a",
                 "kind":"linear","settings":{"inputs":["x","x"]}})")
              .pointers() == std::vector<std::string>{"/id", "/settings/inputs"});
    CHECK(
        a.post("/v1/models", R"({"application_id":"a","phase_index":1.5})").pointers() ==
        std::vector<std::string>{"/phase_index"});
    CHECK(a.post("/v1/models", "{}").pointers() ==
          std::vector<std::string>{"/application_id"});
    CHECK(a.post("/v1/models", R"({"application_id":"a","kind":"cubic"})").status == 422);
    CHECK(a.post("/v1/models", R"({"application_id":"a","kind":"comprehensive",
                 "settings":{"inputs":["x"]}})")
              .pointers() == std::vector<std::string>{"/settings/inputs"});
}

TEST_CASE("a model is made from stored executions, trained, and predicts",
          "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = unique_name("model"), app = unique_name("app");
    m.store(executions_of(known_runs(), app));
    json made = m.make(id, app);
    CHECK(made["state"] == "untrained");
    CHECK(made["version"] == 0);
    CHECK(made["waiting_count"] == 60);
    CHECK(made["train_requested"] == true);

    // Nobody has trained it yet: it says so.
    json p = m.done(m.post("/v1/predictions", question(id).dump()), 200);
    CHECK(p["status"] == "infeasible");
    CHECK(p["reasons"][0]["reason"] == "untrained");

    json learnt = m.command(id, "refine");
    CHECK(learnt["outcome"]["cause"] == "train");
    CHECK(learnt["outcome"]["version"] == 1);
    CHECK(learnt["outcome"]["learnt_count"] == 60);
    CHECK(learnt["state"] == "trained");
    CHECK(learnt["waiting_count"] == 0);
    CHECK(learnt["train_requested"] == false);
    json now = m.read(id);
    CHECK(now["combinations"][0]["f_comp_mask"] == 128);
    CHECK(now["summary"]["sample_count"] == 60);
    CHECK(now["summary"]["cross_appe_ratio"].get<double>() < 1e-5);
    CHECK(now["settings"]["profile"] == "robust");
    p = m.done(m.post("/v1/predictions", question(id).dump()), 200);
    CHECK(p["run_time_s"].get<double>() ==
          Approx(known_time_s(1200, 4, 0.7, 60)).epsilon(1e-6));
    CHECK(p["models"][0]["id"] == id);
    CHECK(p["models"][0]["version"] == 1);
    json by_application = question(id);
    by_application.erase("model_id");
    by_application["application_id"] = app;
    by_application["site_id"] = "here";
    CHECK(m.done(m.post("/v1/predictions", by_application.dump()), 200)["run_time_s"] ==
          p["run_time_s"]);

    json samples = m.done(m.get("/v1/models/" + id + "/samples?page_size=7"), 200);
    CHECK(samples["items"].size() == 7);
    CHECK(samples["items"][0]["verdict"] == "fit");
    CHECK(samples["items"][0]["version"] == 1);
    CHECK(samples.contains("next_page_token"));
    m.done(m.call("DELETE", "/v1/models/" + id), 204);
    CHECK(m.get("/v1/models/" + id).status == 404);
    CHECK(m.get("/v1/models/" + id + "/samples").status == 404);
}

TEST_CASE("a training under a key is made once, and holds nobody up", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string app = unique_name("app"), key = unique_name("key");
    std::string ids[] = {unique_name("keyed"), unique_name("plain")};
    m.store(executions_of(known_runs(), app));
    for (int k = 0; k < 2; k++) {
        m.make(ids[k], app, {{"site_id", "here"}, {"phase_index", nullptr}});
        m.command(ids[k], "refine");
        if (k == 0) // of one name there is one only
            m.done(m.call("POST", "/v1/models/" + ids[0] + "/train", "",
                          {{"idempotency_key", key + "0"}}),
                   200);
        else
            m.command(ids[1], "train");
        json now = m.read(ids[k]);
        CHECK(now["version"] == 2);
        CHECK(now["train_requested"] == false);
        CHECK(now["summary"]["sample_count"] == 60);
        if (k == 0) {
            CHECK(m.call("POST", "/v1/models/" + ids[0] + "/train", "",
                         {{"idempotency_key", key + "0"}})
                      .headers["Idempotency-Replayed"] == "true");
            CHECK(m.read(ids[0])["version"] == 2);
            m.done(m.call("DELETE", "/v1/models/" + ids[0]), 204);
        }
    }
    const std::string train = "/v1/models/" + ids[1] + "/train";
    std::string etag = m.get("/v1/models/" + ids[1]).headers["ETag"];
    CHECK(m.call("POST", train, "",
                 {{"idempotency_key", unique_name("stale")}, {"if_match", "\"g1-1\""}})
              .status == 412);
    api_reply first =
        m.call("POST", train, "", {{"idempotency_key", key}, {"if_match", etag}});
    INFO(first.body);
    REQUIRE(first.status == 200);
    CHECK(first.json()["outcome"]["cause"] == "train");
    CHECK(first.json()["outcome"]["version"] == 3);
    CHECK(first.json()["version"] == 3);
    CHECK(first.headers["ETag"] == m.get("/v1/models/" + ids[1]).headers["ETag"]);
    CHECK(first.headers["ETag"] != etag);
    api_reply again =
        m.call("POST", train, "", {{"idempotency_key", key}, {"if_match", etag}});
    CHECK(again.body == first.body);
    CHECK(again.headers["ETag"] == first.headers["ETag"]);
    CHECK(again.headers["Idempotency-Replayed"] == "true");
    CHECK(m.read(ids[1])["version"] == 3);

    // Somebody changes the model all the while: it is not written over, and is told.
    test_db d;
    std::atomic<bool> done{false};
    std::atomic<int> changes{0};
    std::thread other([&] {
        test_session s(d);
        while (!done) {
            error e{};
            changes +=
                OK ==
                db_execute(
                    s,
                    ("UPDATE model SET generation = generation + 1 WHERE model_id = '" +
                     ids[1] + "'")
                        .c_str(),
                    &e);
        }
    });
    std::string late;
    while (changes == 0)
        usleep(1000);
    // One may be quick enough to come between two changes; not a hundred of them.
    api_reply busy;
    int version = 3;
    for (int i = 0; i < 100 && busy.status != 409; i++) {
        late = unique_name("late");
        busy = m.call("POST", train, "", {{"idempotency_key", late}});
        version += busy.status == 200;
    }
    api_reply plain = m.post(train, ""); // begins again, then leaves it to the others
    done = true;
    other.join();
    INFO(busy.body);
    CHECK(busy.status == 409);
    CHECK(busy.headers["Retry-After"] == "1");
    // It may have been quick enough.
    bool was_quick = plain.status == 200;
    INFO(plain.body);
    if (!was_quick)
        CHECK((plain.status == 409 && plain.headers["Retry-After"] == "1"));
    version += was_quick;
    CHECK(m.read(ids[1])["version"] == version);
    CHECK(m.read(ids[1])["train_requested"] == !was_quick);
    CHECK(m.call("POST", train, "", {{"idempotency_key", late}}).status == 200);
    CHECK(m.read(ids[1])["version"] == version + 1);
}

TEST_CASE("a refinement holds no connection while it computes", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string app = unique_name("app"), id = unique_name("free");
    json runs = executions_of(known_runs(0.1), app);
    for (int k = 2; k < 8; k++)
        for (json more : executions_of(known_runs(0.1, k), app)) {
            more["execution_id"] = unique_name("run");
            runs.push_back(more);
        }
    m.store(runs);
    m.make(id, app, {{"phase_index", nullptr}});

    // While it goes on sessions are looked at: one that had a transaction open would be
    // idle in it for nearly all of the time.
    std::atomic<bool> done{false};
    api_reply reply;
    test_db d;
    test_session s(d);
    auto is_held = [&] {
        return query_number(s, s.a,
                            "SELECT count(*) FROM pg_stat_activity WHERE datname ="
                            " current_database() AND state = 'idle in transaction'") > 0;
    };
    CHECK_FALSE(is_held());
    std::thread client([&] {
        reply = m.post("/v1/models/" + id + "/refine", "");
        done = true;
    });
    int seen = 0, held = 0;
    for (; !done; seen++)
        held += is_held();
    client.join();
    json learnt = m.done(reply, 200);
    CHECK(learnt["outcome"]["cause"] == "train");
    CHECK(learnt["outcome"]["version"] == 1);
    INFO(seen << " looks, " << held << " of them while a transaction was idle");
    CHECK(seen >= 5);
    CHECK(held <= seen / 4);
}

TEST_CASE("who refines a model that changes meanwhile is told", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string app = unique_name("app"), id = unique_name("moved");
    m.store(executions_of(known_runs(), app));
    m.make(id, app, {{"phase_index", nullptr}});
    test_db d;
    std::atomic<bool> done{false};
    std::atomic<int> changes{0};
    std::thread other([&] {
        test_session s(d);
        std::string change = "UPDATE model SET generation = generation + 1 WHERE"
                             " model_id = '" +
                             id + "'";
        while (!done) {
            error e{};
            changes += db_execute(s, change.c_str(), &e) == OK;
        }
    });
    while (changes == 0)
        usleep(1000);
    api_reply busy;
    for (int i = 0; i < 100 && busy.status != 409; i++) {
        busy = m.post("/v1/models/" + id + "/refine", "");
        if (busy.status == 200) // it came between two changes: give it something to do
            m.done(m.post("/v1/models/" + id + "/train", ""), 200);
    }
    done = true;
    other.join();
    INFO(busy.body);
    CHECK(busy.status == 409);
    CHECK(busy.headers["Retry-After"] == "1");
    CHECK(m.command(id, "refine")["version"].get<int>() >= 1);
    // Nothing is left: it is not written again.
    std::string etag = m.get("/v1/models/" + id).headers["ETag"];
    CHECK(m.command(id, "refine")["outcome"].count("cause") == 0);
    CHECK(m.get("/v1/models/" + id).headers["ETag"] == etag);
    CHECK(m.call("POST", "/v1/models/" + id + "/refine", "", {{"if_match", "\"g1-1\""}})
              .status == 412);
}

TEST_CASE("a run that is corrected while it is learnt is learnt as corrected",
          "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string app = unique_name("app"), id = unique_name("late");
    json runs = executions_of(known_runs(), app);
    m.store(runs);
    m.make(id, app, {{"phase_index", nullptr}});
    m.command(id, "train");
    const bool is_new = GENERATE(true, false); // the run is not learnt yet, or is
    json run = runs[0];
    std::string name = run["execution_id"];
    if (is_new) {
        run["execution_id"] = name = unique_name("run");
        m.store(json::array({run}));
    } else { // so that there is something to learn
        json other = run;
        other["execution_id"] = unique_name("run");
        m.store(json::array({other}));
    }
    double right_s = run["run_time_s"].get<double>() * 1.01;
    json before = m.read(id);

    // Who learns has read all and waits for the model when the correction is committed.
    test_db d;
    test_session s(d), looks(d);
    error e{};
    REQUIRE(db_begin(s, &e) == OK);
    REQUIRE(
        db_execute(s,
                   ("SELECT 1 FROM model WHERE model_id = '" + id + "' FOR NO KEY UPDATE")
                       .c_str(),
                   &e) == OK);
    api_reply reply;
    std::thread client([&] { reply = m.post("/v1/models/" + id + "/refine", ""); });
    auto waits = [&] {
        return query_number(looks, looks.a,
                            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type"
                            " = 'Lock' AND query LIKE '%FROM model AS m%NO KEY UPDATE'"
                            " AND datname = current_database()") > 0;
    };
    for (int i = 0; i < 1000 && !waits(); i++)
        usleep(1000);
    CHECK(waits());
    CHECK(db_execute(s,
                     ("UPDATE execution SET run_time_s = " + std::to_string(right_s) +
                      " WHERE execution_id = '" + name + "'")
                         .c_str(),
                     &e) == OK);
    CHECK(db_commit(s, &e) == OK);
    client.join();
    INFO(reply.body);
    CHECK(reply.status == 409);

    json after = m.read(id);
    CHECK(after["version"] == before["version"]);
    CHECK(after["generation"].get<int>() > before["generation"].get<int>());
    CHECK(after["waiting_count"] == (is_new ? 1 : 2));
    CHECK(after["train_requested"] == !is_new);
    m.command(id, "refine");
    after = m.read(id);
    CHECK(after["version"].get<int>() == before["version"].get<int>() + 1);
    CHECK(after["waiting_count"] == 0);
    int found = 0;
    const json list =
        m.done(m.get("/v1/models/" + id + "/samples?page_size=1000"), 200)["items"];
    for (const json &sample : list)
        if (sample["execution_id"] == name) {
            found++;
            CHECK(sample["run_time_s"].get<double>() == Approx(right_s));
            CHECK(sample["version"] == after["version"]);
        }
    CHECK(found == 1);
}

TEST_CASE("a model forgets runs that are corrected or removed", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::vector<known_run> runs = known_runs(0.05);
    std::string ids[2], apps[2];
    for (int k = 0; k < 2; k++) {
        ids[k] = unique_name("model");
        apps[k] = unique_name("app");
        m.make(ids[k], apps[k]);
    }
    // The first learns run 7 with three times its time, and one run too many.
    json right = executions_of(runs, apps[0]), wrong = right, extra = right[11];
    wrong[7]["run_time_s"] = 3 * right[7]["run_time_s"].get<double>();
    extra["execution_id"] = unique_name("run");
    extra["run_time_s"] = 0.4 * extra["run_time_s"].get<double>();
    wrong.push_back(extra);
    m.store(wrong);
    m.store(executions_of(runs, apps[1]));
    for (const std::string &id : ids)
        m.command(id, "refine");
    auto predicted = [&](int k) {
        return m
            .done(m.post("/v1/predictions", question(ids[k]).dump()), 200)["run_time_s"]
            .get<double>();
    };
    double before = predicted(0);
    CHECK(std::fabs(before / predicted(1) - 1) > 1e-6);
    auto path = [](const json &run) {
        return "/v1/executions/" + run["execution_id"].get<std::string>();
    };
    api_reply r = m.call("PATCH", path(right[7]),
                         json{{"run_time_s", right[7]["run_time_s"]}}.dump(),
                         {{"content_type", "application/merge-patch+json"}});
    REQUIRE(r.status == 200);
    CHECK(m.read(ids[0])["state"] == "stale");
    json listed =
        m.done(m.get("/v1/models?state=stale&application_id=" + apps[0]), 200)["items"];
    REQUIRE(listed.size() == 1);
    CHECK(listed[0]["summary"] == m.read(ids[0])["summary"]); // how well it predicts
    CHECK(listed[0]["summary"]["sample_count"] > 0);
    json stale = m.done(m.post("/v1/predictions", question(ids[0]).dump()), 200);
    CHECK(stale["run_time_s"] == before); // as it was
    CHECK(stale["warnings"].dump().find("history_corrected: runs that 1 model had") !=
          std::string::npos);
    REQUIRE(m.call("DELETE", path(extra), "", {}).status == 204);
    json learnt = m.command(ids[0], "refine");
    CHECK(learnt["outcome"]["cause"] == "correction");
    CHECK(learnt["version"] == 2);
    json now = m.read(ids[0]);
    CHECK(now["state"] == "trained");
    CHECK(m.done(m.post("/v1/predictions", question(ids[0]).dump()), 200)["warnings"]
              .dump()
              .find("history_corrected") == std::string::npos);
    CHECK(now["summary"]["sample_count"] == m.read(ids[1])["summary"]["sample_count"]);
    CHECK(predicted(0) == Approx(predicted(1)).epsilon(1e-9));
    CHECK(now["waiting_count"] == 0);
    CHECK(now["train_requested"] == false);
    // It goes on as any other.
    json single = execution_json_of(runs[3], apps[0], unique_name("run"), 500);
    m.store(json::array({single}));
    CHECK(m.command(ids[0], "refine")["outcome"]["cause"] == "refine");

    // Without any run nothing predicts, and the versions stay.
    r = m.call("DELETE", "/v1/executions?application_id=" + apps[0], "", {});
    REQUIRE(r.status == 200);
    learnt = m.command(ids[0], "refine");
    CHECK(learnt["outcome"].count("cause") == 0);
    now = m.read(ids[0]);
    CHECK(now["state"] == "untrained");
    CHECK(now["version"] == 0);
    CHECK(m.done(m.get("/v1/models/" + ids[0] + "/versions"), 200)["items"].size() == 3);
    m.store(executions_of(runs, apps[0], 600));
    CHECK(m.command(ids[0], "refine")["outcome"]["version"] == 4);
    CHECK(m.read(ids[0])["state"] == "trained");
}

TEST_CASE("each further execution is predicted, then learnt", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = unique_name("model"), app = unique_name("app");
    std::vector<known_run> runs = known_runs(0.1), more = known_runs(0.1, 2);
    m.make(id, app);
    m.store(executions_of(runs, app));
    m.command(id, "refine");

    json single = execution_json_of(more[45], app, app + "-x", 1000);
    json answer = m.done(m.post("/v1/executions", single.dump()), 201);
    REQUIRE(answer["models"].size() == 1);
    CHECK(answer["models"][0]["model_id"] == id);
    CHECK(answer["models"][0]["version"] == 1);
    double predicted_s = answer["models"][0]["predicted_s"];
    CHECK(
        100 * answer["models"][0]["ppe_ratio"].get<double>() ==
        Approx(100 * std::fabs(predicted_s - more[45].run_time_s) / more[45].run_time_s));
    // Once more: stored once, learnt once.
    answer = m.done(m.post("/v1/executions", single.dump()), 200);
    CHECK(answer["duplicates"] == 1);
    CHECK_FALSE(answer.contains("models"));
    CHECK(m.read(id)["waiting_count"] == 1);

    json learnt = m.command(id, "refine");
    CHECK(learnt["outcome"]["cause"] == "refine");
    CHECK(learnt["version"] == 2);
    json now = m.read(id);
    CHECK(now["summary"]["sample_count"] == 61);
    CHECK(now["summary"]["unseen_count"] == 1);
    CHECK(
        100 * now["summary"]["unseen_appe_ratio"].get<double>() ==
        Approx(100 * std::fabs(predicted_s - more[45].run_time_s) / more[45].run_time_s));
    json samples = m.done(m.get("/v1/models/" + id + "/samples?page_size=1"), 200);
    CHECK(samples["items"][0]["predicted_s"].get<double>() == Approx(predicted_s));
    CHECK(samples["items"][0]["predicted_version"] == 1);

    // 54 predictions later the list was formed anew, and the interval rests on them.
    std::vector<known_run> rest;
    for (size_t i = 20; i < 60; i++)
        rest.push_back(more[i]);
    for (size_t i = 0; i < 14; i++)
        rest.push_back(known_runs(0.1, 3)[20 + i]);
    m.store(executions_of(rest, app, 2000));
    learnt = m.command(id, "refine");
    CHECK(learnt["outcome"]["cause"] == "reform");
    CHECK(learnt["outcome"]["learnt_count"] == 54);
    json p = m.done(m.post("/v1/predictions", question(id).dump()), 200);
    CHECK(p["interval_basis"] == "inside");
    CHECK(p["interval_ratio_count"].get<int>() > 50);
    CHECK(p["basis"]["unseen_count"] == 55);
    CHECK(p["run_time_s"].get<double>() ==
          Approx(known_time_s(1200, 4, 0.7, 60)).epsilon(0.2));
    // Nothing waits: nothing changes.
    CHECK_FALSE(m.command(id, "refine")["outcome"].contains("cause"));
    CHECK(m.read(id)["version"] == 3);

    // Under a key it learns once, and says so again.
    const std::string refine = "/v1/models/" + id + "/refine", key = unique_name("key");
    m.store(json::array({execution_json_of(more[46], app, app + "-y", 5000)}));
    api_reply first = m.call("POST", refine, "", {{"idempotency_key", key}});
    INFO(first.body);
    CHECK(first.status == 200);
    CHECK(first.json()["outcome"]["cause"] == "refine");
    CHECK(first.json()["outcome"]["learnt_count"] == 1);
    m.store(json::array({execution_json_of(more[47], app, app + "-z", 5001)}));
    api_reply again = m.call("POST", refine, "", {{"idempotency_key", key}});
    CHECK(again.body == first.body);
    CHECK(again.headers["Idempotency-Replayed"] == "true");
    CHECK(m.read(id)["version"] == 4);
    CHECK(m.read(id)["waiting_count"] == 1);
}

TEST_CASE("refining run by run ends where refining at once does", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::vector<known_run> runs = known_runs(0.05), more = known_runs(0.05, 9);
    std::string ids[2], apps[2];
    for (int k = 0; k < 2; k++) {
        ids[k] = unique_name("model");
        apps[k] = unique_name("app");
        m.make(ids[k], apps[k]);
        m.store(executions_of(runs, apps[k]));
        m.command(ids[k], "refine");
    }
    std::vector<known_run> news = first(more, 20, 32);
    m.store(executions_of(news, apps[0], 100));
    m.command(ids[0], "refine");
    for (size_t i = 0; i < news.size(); i++) {
        m.store(executions_of({news[i]}, apps[1], 100 + i));
        m.command(ids[1], "refine");
    }
    json one = m.read(ids[0]), two = m.read(ids[1]);
    CHECK(one["version"] == 2);
    CHECK(two["version"] == 13);
    CHECK(one["summary"] == two["summary"]);
    CHECK(one["combinations"] == two["combinations"]);
}

TEST_CASE("a roll-back brings an earlier version back", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = unique_name("model"), app = unique_name("app");
    std::vector<known_run> more = known_runs(0.5, 5);
    m.make(id, app);
    m.store(executions_of(known_runs(), app));
    m.command(id, "refine");
    json before = m.read(id);
    double predicted_s =
        m.done(m.post("/v1/predictions", question(id).dump()), 200)["run_time_s"];
    for (size_t i = 0; i < 3; i++) {
        m.store(executions_of({more[30 + i]}, app, 100 + i));
        m.command(id, "refine");
    }
    CHECK(m.read(id)["version"] == 4);
    CHECK(m.command(id, "roll-back", {{"version", 4}}, 409)["status"] == 409);
    CHECK(m.command(id, "roll-back", {{"version", 9}}, 409)["status"] == 409);
    json back = m.command(id, "roll-back", {{"version", 1}});
    CHECK(back["version"] == 1);
    CHECK(back["last_version"] == 4);
    CHECK(m.read(id)["combinations"] == before["combinations"]);
    CHECK(m.done(m.post("/v1/predictions", question(id).dump()), 200)["run_time_s"] ==
          predicted_s);
    // The next version is another one; those that were abandoned stay so.
    m.store(executions_of({known_runs(0, 7)[50]}, app, 200));
    json learnt = m.command(id, "refine");
    CHECK(learnt["version"] == 5);
    CHECK(m.read(id)["summary"]["sample_count"] == 61);
    CHECK(m.command(id, "roll-back", {{"version", 3}}, 409)["status"] == 409);
    json versions = m.done(m.get("/v1/models/" + id + "/versions"), 200)["items"];
    REQUIRE(versions.size() == 5);
    CHECK(versions[0]["version"] == 5);
    CHECK(versions[0]["parent_version"] == 1);
    CHECK(versions[1]["abandoned"] == true);
    CHECK(versions[4]["abandoned"] == false);
    CHECK(m.done(m.get("/v1/models/" + id + "/versions/1?combinations=1"),
                 200)["combinations"][0] == before["combinations"][0]);
    CHECK(m.get("/v1/models/" + id + "/versions/17").status == 404);
    CHECK(m.get("/v1/models/" + id + "/versions/x").status == 404);
    // Trained anew, it knows all of them.
    learnt = m.command(id, "train");
    CHECK(learnt["outcome"]["cause"] == "train");
    json now = m.read(id);
    CHECK(now["version"] == 6);
    CHECK(now["summary"]["sample_count"].get<int>() +
              now["summary"]["outlier_count"].get<int>() ==
          64);
    CHECK(now["summary"]["unseen_count"].get<int>() >= 1);
}

TEST_CASE("changes of a model are compared and set", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = unique_name("model"), app = unique_name("app");
    m.make(id, app);
    m.store(executions_of(known_runs(0.1), app));
    std::string old = m.get("/v1/models/" + id).headers["ETag"];
    CHECK(m.call("GET", "/v1/models/" + id, "", {{"if_none_match", old}}).status == 304);
    api_reply trained =
        m.call("POST", "/v1/models/" + id + "/train", "", {{"if_match", old}});
    CHECK(trained.status == 200);
    std::string tag = trained.headers["ETag"];
    CHECK(tag == m.get("/v1/models/" + id).headers["ETag"]);
    CHECK(tag != old);
    m.store(executions_of({known_runs(0.1, 4)[40]}, app, 100));
    m.command(id, "refine");
    for (const char *what : {"train", "roll-back", "port"}) {
        json body = {{"version", 1}};
        if (std::string(what) == "port")
            body = {{"reference_model_id", "x"}};
        if (std::string(what) == "train")
            body = json::object();
        CHECK(m.call("POST", "/v1/models/" + id + "/" + what, body.dump(),
                     {{"if_match", tag}})
                  .status == 412);
    }
    CHECK(m.call("DELETE", "/v1/models/" + id, "", {{"if_match", tag}}).status == 412);
    tag = m.get("/v1/models/" + id).headers["ETag"];
    CHECK(m.call("POST", "/v1/models/" + id + "/roll-back", R"({"version":1})",
                 {{"if_match", tag}})
              .status == 200);
    CHECK(m.call("DELETE", "/v1/models/" + id, "", {{"if_match", "*"}}).status == 204);
    CHECK(m.call("DELETE", "/v1/models/" + id).status == 404);
}

TEST_CASE("there is one model of a subject, and lists come in pages", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string app = unique_name("app");
    m.make(app + "-a", app);
    m.make(app + "-b", app, {{"kind", "linear"}});
    m.make(app + "-c", app, {{"phase_index", 0}});
    m.make(app + "-d", app, {{"site_id", nullptr}});
    for (json body :
         {json{{"id", app + "-a"}, {"application_id", "other"}},
          json{{"application_id", app}, {"site_id", "here"}, {"kind", "comprehensive"}},
          json{{"application_id", app}, {"kind", "comprehensive"}}})
        CHECK(m.post("/v1/models", body.dump()).status == 409);
    std::string token;
    std::vector<std::string> ids;
    do {
        json page = m.done(m.get("/v1/models?page_size=3&application_id=" + app +
                                 (token.empty() ? "" : "&page_token=" + token)),
                           200);
        for (const json &model : page["items"]) {
            ids.push_back(model["id"]);
            CHECK(!model.contains("summary")); // there is no version
        }
        token = page.value("next_page_token", "");
    } while (!token.empty());
    CHECK(ids ==
          std::vector<std::string>{app + "-a", app + "-b", app + "-c", app + "-d"});
    CHECK(m.done(m.get("/v1/models?kind=linear&application_id=" + app), 200)["items"]
              .size() == 1);
    CHECK(m.done(m.get("/v1/models?state=trained&application_id=" + app), 200)["items"]
              .empty());
    // The same request again, and again with its key.
    json body = {{"application_id", app}, {"site_id", "there"}};
    api_reply once =
        m.call("POST", "/v1/models", body.dump(), {{"idempotency_key", app}});
    api_reply twice =
        m.call("POST", "/v1/models", body.dump(), {{"idempotency_key", app}});
    CHECK(once.status == 201);
    CHECK(twice.body == once.body);
    CHECK(twice.headers["ETag"] == once.headers["ETag"]);
}

TEST_CASE("a model learns the runs of its subject only", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string app = unique_name("app");
    m.make(app + "-here", app);
    m.make(app + "-any", app, {{"site_id", nullptr}});
    m.make(app + "-phase", app, {{"phase_index", 2}});
    json run = execution_json_of(known_runs()[40], app, "", 0);
    std::vector<json> changes = {json::object(),
                                 json{{"site_id", "there"}},
                                 json{{"site_id", nullptr}},
                                 json{{"phase_index", 2}},
                                 json{{"phase_index", 1}},
                                 json{{"exit_code", 137}},
                                 json{{"exit_code", 0}},
                                 json{{"application_id", "x"}}};
    for (const json &change : changes) {
        json e = run;
        e["execution_id"] = unique_name("run");
        e.update(change);
        m.store(json::array({e}));
    }
    CHECK(m.read(app + "-here")["waiting_count"] == 2);
    CHECK(m.read(app + "-any")["waiting_count"] == 1);
    CHECK(m.read(app + "-phase")["waiting_count"] == 1);
}

TEST_CASE("runs of one, none, alike or absurd leave a model that says so",
          "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = unique_name("model"), app = unique_name("app");
    m.make(id, app);
    CHECK(m.command(id, "train")["outcome"]["reason"] == "insufficient_samples");
    m.store(executions_of({known_runs()[0]}, app));
    json learnt = m.command(id, "refine");
    CHECK(learnt["outcome"]["reason"] == "insufficient_samples");
    CHECK(learnt["note"] == "insufficient_samples");
    CHECK_THAT(m.read(id)["needs"].get<std::string>(),
               Catch::StartsWith("comprehensive needs") &&
                   Catch::Contains("of 1 execution 1 can be used: 1 on one processor"));
    CHECK(learnt["waiting_count"] == 0);
    m.store(executions_of(std::vector<known_run>(60, known_runs()[40]), app, 10));
    CHECK(m.command(id, "refine")["outcome"].contains("reason"));
    CHECK(m.read(id)["state"] == "untrained");
    json odd = execution_json_of(known_runs()[40], app, app + "-odd", 99);
    odd["run_time_s"] = 0;
    CHECK(m.post("/v1/executions", odd.dump()).status == 422);
    odd["run_time_s"] = -5;
    CHECK(m.post("/v1/executions", odd.dump()).status == 422);
    odd = {{"execution_id", app + "-bare"},
           {"application_id", app},
           {"site_id", "here"},
           {"started_at", 1},
           {"run_time_s", 1e9}};
    json answer = m.done(m.post("/v1/executions", odd.dump()), 201);
    CHECK(answer["models"][0]["reason"] == "untrained");
    // Good ones make it a model all the same, an outlier does not spoil it.
    m.store(executions_of(known_runs(), app, 200));
    learnt = m.command(id, "refine");
    INFO(learnt.dump());
    CHECK(learnt["outcome"]["cause"] == "train");
    CHECK_FALSE(m.read(id).contains("needs"));
    known_run far = known_runs()[45];
    far.run_time_s /= 20; // predicted 20 times too long
    m.store(executions_of({far}, app, 300));
    CHECK(m.command(id, "refine")["outcome"]["cause"] == "refine");
    CHECK(m.done(m.get("/v1/models/" + id + "/samples?page_size=1"),
                 200)["items"][0]["verdict"] == "outlier");
    json p = m.done(m.post("/v1/predictions", question(id).dump()), 200);
    CHECK(p["run_time_s"].get<double>() ==
          Approx(known_time_s(1200, 4, 0.7, 60)).epsilon(0.05));
}

namespace
{
// Sizes over a tenth of the range, 10 + 0.5 N seconds, within a few percent.
std::vector<known_run> line_runs(size_t count, double factor, uint64_t seed)
{
    std::vector<known_run> runs;
    rng r = rng_create(seed);

    for (size_t i = 0; i < count; i++) {
        double n = 100 + std::floor(900 * rng_uniform(&r));
        double noise = 1 + 0.08 * (rng_uniform(&r) - 0.5);
        runs.push_back({n, 1, 1, 1, factor * (10 + 0.5 * n) * noise});
    }
    return runs;
}
} // namespace

TEST_CASE("a stored model follows run times that change", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    auto kind = GENERATE("linear", "normal_form", "power_law");
    double factor = GENERATE(2., 0.2);
    auto app = unique_name("drift");
    auto id = app + "-" + kind;
    json ask = {{"model_id", id}, {"problem_size", 555.5}, {"interval_level", 0.9}};

    INFO(kind << " x " << factor);
    if (kind == std::string("power_law") && factor < 1 && is_shorter())
        return;
    m.store(executions_of(line_runs(60, 1, 1), app));
    m.done(
        m.post(
            "/v1/models",
            json{{"id", id}, {"application_id", app}, {"site_id", "here"}, {"kind", kind}}
                .dump()),
        201);
    m.command(id, "refine");
    json before = m.read(id);
    CHECK(before["summary"]["sample_count"] == 60);
    CHECK(before["summary"]["change_count"] == 0);
    json p = m.done(m.post("/v1/predictions", ask.dump()), 200);
    CHECK(p["run_time_s"].get<double>() == Approx(287.75).epsilon(0.06));
    CHECK(p["warnings"].empty());

    // One run at a time, as they come in; sooner or later all are believed.
    std::vector<known_run> later = line_runs(12, factor, 2);
    bool noticed = false;
    for (size_t i = 0; i < later.size(); i++) {
        m.store(executions_of({later[i]}, app, 100 + i));
        json learnt = m.command(id, "refine");
        if (learnt["outcome"]["cause"] == "change" && !noticed) {
            noticed = true;
            CHECK(i <= 5);
        }
    }
    CHECK(noticed);
    json now = m.read(id);
    CHECK(now["summary"]["change_count"].get<int>() >= 1);
    CHECK(now["summary"]["change"].contains("at"));
    json samples = m.done(m.get("/v1/models/" + id + "/samples?page_size=100"), 200);
    for (const json &s : samples["items"])
        CHECK(s["verdict"] == "fit"); // what was an outlier is none any more
    json change = now["summary"]["change"];
    bool is_known = false; // the run that it begins with
    for (const json &s : samples["items"])
        if (s["execution_id"] == change["at_execution_id"]) {
            is_known = true;
            CHECK(s["started_at"] == change["at"]);
        }
    CHECK(is_known);
    p = m.done(m.post("/v1/predictions", ask.dump()), 200);
    double time_s = p["run_time_s"];
    CHECK(time_s == Approx(factor * 287.75).epsilon(0.15));
    CHECK(p["run_time_low_s"].get<double>() < time_s);
    CHECK(p["run_time_high_s"].get<double>() > time_s);
    REQUIRE(p["warnings"].size() == 1);
    CHECK_THAT(p["warnings"][0].get<std::string>(), Catch::StartsWith("model_changed"));

    // A roll-back goes behind the change; a training believes it again.
    m.done(m.post("/v1/models/" + id + "/roll-back",
                  json{{"version", before["version"]}}.dump()),
           200);
    p = m.done(m.post("/v1/predictions", ask.dump()), 200);
    CHECK(p["run_time_s"].get<double>() == Approx(287.75).epsilon(0.06));
    CHECK(m.command(id, "train")["outcome"]["learnt_count"].get<int>() >= 12);
    p = m.done(m.post("/v1/predictions", ask.dump()), 200);
    CHECK(p["run_time_s"].get<double>() == Approx(factor * 287.75).epsilon(0.15));
}

TEST_CASE("a stored model is not moved by one hung run", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    auto kind = GENERATE("linear", "normal_form", "power_law");
    auto app = unique_name("hung");
    auto id = app + "-" + kind;
    json ask = {{"model_id", id}, {"problem_size", 555.5}, {"interval_level", 0.9}};

    m.store(executions_of(line_runs(60, 1, 3), app));
    m.done(
        m.post(
            "/v1/models",
            json{{"id", id}, {"application_id", app}, {"site_id", "here"}, {"kind", kind}}
                .dump()),
        201);
    m.command(id, "refine");
    json before = m.done(m.post("/v1/predictions", ask.dump()), 200);
    m.store(executions_of(line_runs(1, 1000, 4), app, 100));
    m.command(id, "refine");
    CHECK(m.done(m.get("/v1/models/" + id + "/samples?page_size=1"),
                 200)["items"][0]["verdict"] == "outlier");
    for (int round = 0; round < 2; round++) {
        json p = m.done(m.post("/v1/predictions", ask.dump()), 200);
        for (auto member : {"run_time_s", "run_time_low_s", "run_time_high_s"})
            CHECK(p[member].get<double>() ==
                  Approx(before[member].get<double>()).epsilon(0.01));
        m.command(id, "train");
    }
}

TEST_CASE("a model that is being trained says when to come again", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    auto app = unique_name("busy");
    m.done(m.post("/v1/models",
                  json{{"id", app}, {"application_id", app}, {"kind", "linear"}}.dump()),
           201);
    test_db d;
    test_session s(d);
    error err{};
    store_model locked{};
    err.arena = s.a;
    REQUIRE(db_begin(s, &err) == OK);
    REQUIRE(store_model_await(s, "default", app.c_str(), &locked, s.a, &err) == OK);
    auto both = [&](const api_reply &reply) {
        INFO(reply.body);
        CHECK(reply.status == 409);
        CHECK(reply.headers.at("Retry-After") == "1");
    };
    // Others wait for it, but not for long.
    for (const char *what : {"/refine", "/train"})
        both(m.post("/v1/models/" + app + what, ""));
    both(m.call("DELETE", "/v1/models/" + app));
    std::thread ends([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        db_rollback(s);
    });
    CHECK(m.post("/v1/models/" + app + "/train", "").status == 200);
    ends.join();
    CHECK(m.post("/v1/models/" + app + "/refine", "").status == 200);
}

TEST_CASE("unknown models and applications are not found", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    CHECK(m.get("/v1/models/none").status == 404);
    CHECK(m.call("DELETE", "/v1/models/none").status == 404);
    for (const char *what : {"train", "refine"})
        CHECK(m.post("/v1/models/none/" + std::string(what), "").status == 404);
    CHECK(m.post("/v1/models/none/roll-back", R"({"version":1})").status == 404);
    CHECK(m.post("/v1/models/none/port", R"({"reference_model_id":"x"})").status == 404);
    CHECK(m.get("/v1/models/none/versions").status == 404);
    CHECK(m.get("/v1/models/none/versions/1").status == 404);
    CHECK(m.post("/v1/predictions", R"({"model_id":"none","problem_size":1})").status ==
          404);
    CHECK(m.post("/v1/predictions",
                 R"({"application_id":"none","site_id":"s","problem_size":1})")
              .status == 404);
    CHECK(m.post("/v1/experiment-plans", R"({"model_id":"none","min_problem_size":1,
                 "max_problem_size":2})")
              .status == 404);
}

TEST_CASE("regressions learn from parameters of executions", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string app = unique_name("app");
    for (const char *kind : {"linear", "power_law", "normal_form"})
        m.make(app + "-" + kind, app,
               {{"kind", kind}, {"settings", {{"inputs", {"files"}}}}});
    json list = json::array();
    for (int i = 1; i <= 12; i++)
        list.push_back(
            {{"execution_id", app + std::to_string(i)},
             {"application_id", app},
             {"site_id", "here"},
             {"started_at", i},
             {"run_time_s", 4.0 * i},
             {"parameters", {{"files", i}, {"mode", "fast"}, {"nested", {1, 2}}}}});
    m.store(list);
    for (const char *kind : {"linear", "power_law", "normal_form"}) {
        std::string id = app + "-" + kind;
        INFO(kind);
        CHECK(m.command(id, "refine")["outcome"]["cause"] == "train");
        json more = list[0];
        more["execution_id"] = unique_name("run");
        more["started_at"] = 100;
        more["parameters"]["files"] = 14;
        more["run_time_s"] = 56;
        m.store(json::array({more}));
        CHECK(m.command(id, "refine")["version"] == 2);
        json p =
            m.done(m.post("/v1/predictions",
                          json{{"model_id", id}, {"parameters", {{"files", 10}}}}.dump()),
                   200);
        CHECK(p["run_time_s"].get<double>() == Approx(40).epsilon(0.02));
    }
}

TEST_CASE("the load of a run is worked out from what was measured", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string app = unique_name("app");
    auto cpu = [](const char *id, double at, double x) {
        return json{{"resource_id", id}, {"observed_at", at}, {"cpu_available_ratio", x}};
    };
    auto link = [](const char *id, const char *to, double at, double x) {
        return json{{"resource_id", id},
                    {"to_resource_id", to},
                    {"observed_at", at},
                    {"bandwidth_mbps", x}};
    };
    json samples = json::array();
    const double n1[] = {.9, .7, .8}, n2[] = {.5, .7, .3}, n3[] = {.2, .95, .95};
    const double l12[] = {80, 60, 70}, l13[] = {20, 40, 90}, l23[] = {55, 45, 50};
    for (int i = 0; i < 3; i++) {
        double at = 1000 + 10 * i;
        for (const json &s : {cpu("n1", at, n1[i]), cpu("n2", at, n2[i]),
                              cpu("n3", at, n3[i]), link("n1", "n2", at, l12[i]),
                              link("n1", "n3", at, l13[i]), link("n2", "n3", at, l23[i])})
            samples.push_back(s);
    }
    json run = {{"application_id", app},
                {"started_at", 1000},
                {"run_time_s", 30},
                {"processors", 3},
                {"resource_ids", {"n1", "n2", "n3"}},
                {"load_samples", samples}};
    m.done(m.post("/v1/executions", run.dump()), 201);
    json stored = m.done(m.get("/v1/executions?application_id=" + app), 200)["items"][0];
    CHECK(stored["cpu_available_ratio"].get<double>() == Approx(0.5).epsilon(1e-12));
    CHECK(stored["bandwidth_mbps"].get<double>() == Approx(50).epsilon(1e-12));

    run["resource_ids"].push_back("n4");
    CHECK(m.post("/v1/executions", run.dump()).status == 422);
    run["resource_ids"] = {"n1", "n3"};
    run["load_samples"][0]["cpu_available_ratio"] = 0;
    CHECK(m.post("/v1/executions", run.dump()).pointers() ==
          std::vector<std::string>{"/load_samples/0/cpu_available_ratio"});
    run["cpu_available_ratio"] = 0.5;
    CHECK(m.post("/v1/executions", run.dump()).pointers() ==
          std::vector<std::string>{"/load_samples"});
    run["resource_ids"] = json::array();
    run.erase("load_samples");
    CHECK(m.post("/v1/executions", run.dump()).pointers() ==
          std::vector<std::string>{"/resource_ids"});
}

TEST_CASE("a run without a load takes what is stored of its machines",
          "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string app = unique_name("app"), n = unique_name("n");
    double t = 1690000000;
    json samples = json::array();
    auto cpu = [&](int i, double at, double x) {
        samples.push_back({{"resource_id", n + std::to_string(i)},
                           {"observed_at", at},
                           {"cpu_available_ratio", x}});
    };
    auto link = [&](int i, int k, double at, double x) {
        samples.push_back({{"resource_id", n + std::to_string(i)},
                           {"to_resource_id", n + std::to_string(k)},
                           {"observed_at", at},
                           {"bandwidth_mbps", x}});
    };
    cpu(1, t + 10, 0.9);
    cpu(1, t + 500, 0.7);
    cpu(2, t + 20, 0.25);
    cpu(2, t + 900, 0.75);
    cpu(3, t + 20, 1);
    link(1, 2, t + 30, 80);
    link(1, 2, t + 40, 40);
    link(1, 9, t + 30, 1); // not a machine of the run
    cpu(1, t + 5000, 0.01);
    m.done(m.post("/v1/load-samples", samples.dump()), 201);

    json run = {{"execution_id", app + "-1"},
                {"application_id", app},
                {"started_at", t},
                {"run_time_s", 1000},
                {"resource_ids", {n + "1", n + "2", n + "3"}}};
    json other = run, unknown = run, given = run, dedicated = run, brief = run;
    other["execution_id"] = app + "-2";
    other.erase("resource_ids");
    other["resource_id"] = n + "1";
    unknown["execution_id"] = app + "-3";
    unknown["resource_ids"].push_back(n + "4"); // has no samples: nobody knows the least
    given["execution_id"] = app + "-4";
    given["cpu_available_ratio"] = 0.6;
    dedicated["execution_id"] = app + "-5";
    dedicated["dedicated"] = true;
    brief["execution_id"] = app + "-6"; // 5 s, but the samples of 600 s around it
    brief["started_at"] = t + 150;
    brief["run_time_s"] = 5;
    brief["resource_ids"] = {n + "1"};
    brief["exit_code"] = 3;
    json answer =
        m.done(m.post("/v1/executions",
                      json::array({run, other, unknown, given, dedicated, brief}).dump()),
               201);
    CHECK(answer["load_filled_count"] == 3);
    REQUIRE(answer["warnings"].size() == 2);
    CHECK_THAT(answer["warnings"][0].get<std::string>(),
               Catch::StartsWith("load_filled: 3 of 6 records"));
    CHECK_THAT(answer["warnings"][1].get<std::string>(),
               Catch::StartsWith("not_learnt: 1 of 6 records has an exit_code"));
    std::map<std::string, json> stored;
    json list = m.done(m.get("/v1/executions?application_id=" + app), 200);
    for (const json &e : list["items"])
        stored[e["execution_id"].get<std::string>().substr(app.size())] = e;
    CHECK(stored["-1"]["processors"] == 3);
    CHECK(stored["-1"]["resource_id"] == n + "1");
    CHECK(stored["-1"]["cpu_available_ratio"].get<double>() == Approx(0.5));
    CHECK(stored["-1"]["bandwidth_mbps"].get<double>() == Approx(60));
    CHECK(stored["-2"]["processors"] == 1);
    CHECK(stored["-2"]["cpu_available_ratio"].get<double>() == Approx(0.8));
    CHECK_FALSE(stored["-2"].contains("bandwidth_mbps"));
    CHECK(stored["-3"]["processors"] == 4);
    CHECK_FALSE(stored["-3"].contains("cpu_available_ratio"));
    CHECK(stored["-4"]["cpu_available_ratio"] == 0.6);
    CHECK_FALSE(stored["-5"].contains("cpu_available_ratio"));
    CHECK(stored["-6"]["cpu_available_ratio"].get<double>() == Approx(0.9));
}

TEST_CASE("phases have a model each, and add up", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string app = unique_name("app");
    double sum_s = 0;
    for (int phase = 0; phase < 3; phase++) {
        std::string id = app + "-" + std::to_string(phase);
        json list = executions_of(known_runs(0, 1 + (uint64_t)phase), app);
        m.make(id, app, {{"phase_index", phase}});
        for (json &e : list) {
            e["phase_index"] = phase;
            e["run_time_s"] = e["run_time_s"].get<double>() * (phase + 1);
        }
        m.store(list);
        m.command(id, "refine");
        sum_s += (phase + 1) * known_time_s(1000, 4, phase == 1 ? 0.4 : 0.8, 50);
    }
    json body = {{"application_id", app},
                 {"site_id", "here"},
                 {"problem_size", 1000},
                 {"processors", 4},
                 {"cpu_available_ratio", 0.8},
                 {"bandwidth_mbps", 50},
                 {"phases",
                  {{{"phase_index", 0}},
                   {{"phase_index", 1}, {"cpu_available_ratio", 0.4}},
                   {{"phase_index", 2}}}}};
    json p = m.done(m.post("/v1/predictions", body.dump()), 200);
    CHECK(p["run_time_s"].get<double>() == Approx(sum_s).epsilon(1e-6));
    CHECK(p["phases"].size() == 3);
    CHECK(p["phases"][1]["phase_index"] == 1);
    body["phases"].push_back({{"phase_index", 7}});
    p = m.done(m.post("/v1/predictions", body.dump()), 200);
    CHECK(p["status"] == "infeasible");
    CHECK(p["reasons"][0]["reason"] == "phase_model_missing");
    CHECK_FALSE(p.contains("run_time_s"));
    body["phases"][3]["share_ratio"] = 0.2;
    p = m.done(m.post("/v1/predictions", body.dump()), 200);
    CHECK(p["run_time_s"].get<double>() == Approx(sum_s / 0.8).epsilon(1e-6));
}

TEST_CASE("a model is carried over to another site", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string app = unique_name("app");
    m.make(app + "-here", app);
    m.make(app + "-there", app, {{"site_id", "there"}});
    m.store(executions_of(known_runs(), app));
    m.command(app + "-here", "refine");
    json ours = json::array(), theirs = json::array();
    for (int i = 0; i < 7; i++) {
        double n = i ? 300 + 200 * i : 1000, p = i ? 2 : 1;
        json run = {{"problem_size", n}, {"processors", p}, {"dedicated", true}};
        if (i)
            run["bandwidth_mbps"] = 95;
        run["run_time_s"] = known_time_s(n, p, 1, 95);
        ours.push_back(run);
        if (i)
            run["bandwidth_mbps"] = 400;
        run["run_time_s"] =
            1.6 * 2e-4 * n * n / p + (i ? 1.3 * 0.5 * n / (400 * std::sqrt(2.)) : 0);
        theirs.push_back(run);
    }
    json body = {{"reference_model_id", app + "-here"},
                 {"reference_runs", ours},
                 {"target_runs", theirs}};
    json ported = m.command(app + "-there", "port", body);
    INFO(ported.dump());
    CHECK(ported["state"] == "ported");
    // Under a key it is carried over once.
    std::string port = "/v1/models/" + app + "-there/port", key = unique_name("key");
    api_reply keyed = m.call("POST", port, body.dump(), {{"idempotency_key", key}});
    INFO(keyed.body);
    CHECK(keyed.status == 200);
    CHECK(keyed.json()["version"] == 2);
    CHECK(keyed.headers["ETag"] == m.get("/v1/models/" + app + "-there").headers["ETag"]);
    api_reply again = m.call("POST", port, body.dump(), {{"idempotency_key", key}});
    CHECK(again.body == keyed.body);
    CHECK(again.headers["Idempotency-Replayed"] == "true");
    CHECK(m.read(app + "-there")["version"] == 2);
    json other = body;
    other["target_runs"].erase(0);
    CHECK(m.call("POST", port, other.dump(), {{"idempotency_key", key}}).status == 422);
    CHECK(ported["outcome"]["cause"] == "port");
    json now = m.read(app + "-there");
    CHECK(now["summary"]["porting"]["cpu_factor"].get<double>() ==
          Approx(1.6).epsilon(1e-6));
    CHECK(now["summary"]["porting"]["bandwidth_factor"].get<double>() ==
          Approx(1.3).epsilon(1e-3));
    CHECK(now["summary"]["porting"]["reference_model_id"] == app + "-here");
    json q = question(app + "-there");
    json p = m.done(m.post("/v1/predictions", q.dump()), 200);
    CHECK(p["method"] == "scaled");
    CHECK(p["run_time_s"].get<double>() ==
          Approx(1.6 * 2e-4 * 1200 * 1200 / (0.7 * 4) + 1.3 * 0.5 * 1200 / (60 * 2))
              .epsilon(1e-3));
    // Its own executions teach it further.
    known_run run = known_runs()[45];
    run.run_time_s *= 1.5;
    json e = execution_json_of(run, app, unique_name("run"), 500);
    e["site_id"] = "there";
    m.store(json::array({e}));
    CHECK(m.command(app + "-there", "refine")["outcome"]["cause"] == "refine");
    CHECK(m.read(app + "-there")["summary"]["porting"]["reference_model_id"] ==
          app + "-here");
    body["reference_model_id"] = "none";
    CHECK(m.post("/v1/models/" + app + "-there/port", body.dump()).pointers() ==
          std::vector<std::string>{"/reference_model_id"});
    body["reference_model_id"] = app + "-there";
    CHECK(m.post("/v1/models/" + app + "-here/port", body.dump()).status == 422);
    body = {{"reference_model_id", app + "-here"}}; // no dedicated executions are stored
    CHECK(m.command(app + "-there", "port", body)["outcome"]["reason"] ==
          "insufficient_samples");
}

TEST_CASE("a stored prediction is replayed as the model was", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = unique_name("model"), app = unique_name("app");
    m.make(id, app);
    m.store(executions_of(known_runs(0.1), app));
    m.command(id, "refine");
    json body = question(id);
    body["store"] = true;
    json p = m.done(m.post("/v1/predictions", body.dump()), 200);
    m.store(executions_of(first(known_runs(0.4, 8), 20, 50), app, 100));
    m.command(id, "refine");
    CHECK(m.done(m.post("/v1/predictions", question(id).dump()), 200)["run_time_s"] !=
          p["run_time_s"]);
    json replay = m.done(
        m.post("/v1/decisions/" + p["decision_id"].get<std::string>() + "/replay", ""),
        200);
    INFO(replay.dump());
    CHECK(replay["identical"] == true);
}

TEST_CASE("models learn by themselves, by two replicas each run once",
          "[models][api][db][threads]")
{
    NEED_DATABASE();
    models one(true), two(true);
    std::string id = unique_name("model"), app = unique_name("app");
    std::vector<known_run> more = known_runs(0.05, 11);
    one.make(id, app);
    one.store(executions_of(known_runs(0.05), app));
    one.wait_for(id, [](const json &now) { return now["version"] != 0; });
    json answer_before = one.done(one.post("/v1/predictions", question(id).dump()), 200);
    CHECK(answer_before["status"] == "feasible");

    // 40 executions, one by one, through both; some twice.
    std::vector<std::thread> threads;
    for (int k = 0; k < 2; k++)
        threads.emplace_back([&, k] {
            models &m = k ? two : one;
            for (size_t i = (size_t)k; i < 40; i += 2) {
                json e = execution_json_of(more[20 + i], app,
                                           app + "-more-" + std::to_string(i), 100 + i);
                m.post("/v1/executions", e.dump());
                if (i % 5 == 0)
                    (k ? one : two).post("/v1/executions", e.dump());
            }
        });
    for (std::thread &t : threads)
        t.join();
    json now = two.wait_for(id, [](const json &j) {
        return j["waiting_count"] == 0 && j["summary"]["unseen_count"] == 40;
    });
    // What is done holds no memory.
    CHECK(comes_to_rest(one.handle()->governor));
    CHECK(comes_to_rest(two.handle()->governor));
    // Nothing lost, nothing doubled; and not more versions than executions.
    CHECK(now["summary"]["sample_count"].get<int>() +
              now["summary"]["outlier_count"].get<int>() ==
          100);
    CHECK(now["version"].get<int>() <= 42);
    json samples = one.done(one.get("/v1/models/" + id + "/samples?page_size=1000"), 200);
    REQUIRE(samples["items"].size() == 100);
    size_t predicted = 0;
    for (const json &s : samples["items"])
        predicted += s.contains("predicted_s");
    CHECK(predicted == 40);
    // What was learnt bit by bit is what a training of all would know.
    json again = one.command(id, "train");
    CHECK(again["outcome"]["cause"] == "train");
    CHECK(one.read(id)["summary"]["sample_count"].get<int>() ==
          now["summary"]["sample_count"].get<int>());
}

TEST_CASE("a batch of runs makes one version", "[models][api][db][threads]")
{
    NEED_DATABASE();
    models one(true), two(true);
    std::string id = unique_name("model"), app = unique_name("app");
    one.make(id, app);
    one.store(executions_of(known_runs(0.05), app));
    one.wait_for(id, [](const json &now) { return now["version"] == 1; });
    for (size_t batch = 0; batch < 3; batch++) {
        one.store(executions_of(first(known_runs(0.05, 20 + batch), 20, 35), app,
                                100 + 100 * batch));
        one.wait_for(id, [&](const json &now) {
            return now["waiting_count"] == 0 && now["version"] == 2 + batch;
        });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK(two.read(id)["version"] == 4);
    CHECK(two.read(id)["summary"]["unseen_count"] == 45);
}
