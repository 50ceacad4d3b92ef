// auto_models_db_test.cpp - models that come with the first run, learn by themselves, and
// follow a changed world, with PostgreSQL.
#include "tests/database.hpp"
#include "tests/model_support.hpp"

using nlohmann::json;

namespace
{
struct learning : api {
    std::string app = unique_name("app");
    size_t stored = 0;

    learning() : api(test_database_url())
    {
    }
    json done(const api_reply &reply, int status = 200)
    {
        INFO(reply.body.substr(0, 2000));
        REQUIRE(reply.status == status);
        return reply.json();
    }
    json run(double size, double time_s, const json &more = json::object())
    {
        json e = {{"execution_id", app + "-" + std::to_string(stored)},
                  {"application_id", app},
                  {"started_at", 1700000000.0 + 100 * double(stored)},
                  {"problem_size", size},
                  {"run_time_s", time_s}};
        stored++;
        e.update(more);
        return e;
    }
    void store(const json &list)
    {
        done(post("/v1/executions", list.dump()), 201);
    }
    json refine(const std::string &suffix = "")
    {
        return done(post("/v1/models/" + app + suffix + "/refine", ""));
    }
    json predict(const json &more, int status = 200)
    {
        json body = {{"application_id", app}};
        body.update(more);
        return done(post("/v1/predictions", body.dump()), status);
    }
};
} // namespace

TEST_CASE("beyond so many models none come by themselves, and it is said",
          "[models][api][db]")
{
    NEED_DATABASE();
    learning s;

    config none = *s.handle()->config;
    none.auto_models_max = 0;
    s.handle()->config = &none;
    json answer =
        s.done(s.post("/v1/executions", json::array({s.run(100, 60)}).dump()), 201);
    INFO(answer.dump());
    CHECK(answer["warnings"].dump().find("auto_models_full: ") != std::string::npos);
    CHECK(s.done(s.get("/v1/models?application_id=" + s.app))["items"].empty());
}

TEST_CASE("a model of kind auto tells what is no input, and why", "[models][api][db]")
{
    NEED_DATABASE();
    learning s;
    json runs = json::array(), want = json::array();

    for (int i = 0; i < 70; i++) {
        json parameters = {{"file", "sample-" + std::to_string(i)},
                           {"mode", i % 2 ? "a" : "b"},
                           {"nested", {{"x", i}}},
                           {"list", {i}}};
        for (int k = 10; k < 32; k++) // with size and processors 24 numbers
            parameters["n" + std::to_string(k)] = i % 7 + k;
        if (i % 5 == 0)
            parameters["at_times"] = i;
        runs.push_back(s.run(100 + i, 60 + i, {{"parameters", parameters}}));
    }
    s.store(runs);
    s.refine();
    json model = s.done(s.get("/v1/models/" + s.app));
    INFO(model["inputs_left_out"].dump(1));
    CHECK(model["inputs"].size() == 25);
    for (auto [name, reason] : {std::pair{"at_times", "input_rare"},
                                {"file", "input_unique"},
                                {"list", "input_skipped"},
                                {"nested", "input_skipped"}})
        want.push_back({{"name", name}, {"reason", reason}});
    CHECK(model["inputs_left_out"] == want);

    // One text more than there is room for; names beyond 32 are not even kept.
    for (auto &run : runs) {
        run["application_id"] = s.app + "-more";
        run["execution_id"] = run["execution_id"].get<std::string>() + "-more";
        for (int k = 0; k < 9; k++)
            run["parameters"]["o" + std::to_string(k)] = "x";
    }
    s.store(runs);
    s.refine("-more");
    json left = s.done(s.get("/v1/models/" + s.app + "-more"))["inputs_left_out"];
    INFO(left.dump(1));
    CHECK(left.dump().find(json{{"name", "o8"}, {"reason", "inputs_cut"}}.dump()) !=
          std::string::npos);
    CHECK(left.dump().find(json{{"reason", "inputs_cut"}}.dump()) != std::string::npos);

    // Nothing is left out: nothing is said.
    s.store(json::array({{{"execution_id", s.app + "-plain"},
                          {"application_id", s.app + "-plain"},
                          {"started_at", 1700000000},
                          {"run_time_s", 5}}}));
    s.refine("-plain");
    CHECK_FALSE(
        s.done(s.get("/v1/models/" + s.app + "-plain")).contains("inputs_left_out"));
}

TEST_CASE("the first run of an application brings a model, which answers",
          "[models][api][db]")
{
    NEED_DATABASE();
    learning s;

    CHECK(s.post("/v1/predictions", json{{"application_id", s.app}}.dump()).status ==
          404);
    s.store(json::array({s.run(100, 60, {{"site_id", "here"}})}));
    json list = s.done(s.get("/v1/models?application_id=" + s.app));
    REQUIRE(list["items"].size() == 1);
    CHECK(list["items"][0]["kind"] == "auto");
    CHECK(list["items"][0]["id"] == s.app);
    CHECK_FALSE(list["items"][0].contains("site_id"));
    CHECK(s.refine()["outcome"]["learnt_count"] == 1);

    json p = s.predict({{"problem_size", 100}, {"processors", 1}});
    CHECK(p["run_time_s"].get<double>() == Approx(60).epsilon(1e-6));
    CHECK(p["interval_basis"] == "same_configuration");
    CHECK(p["method"] == "history");
    p = s.predict({{"problem_size", 400}});
    CHECK(p["run_time_low_s"].get<double>() <= p["run_time_s"].get<double>());
    CHECK(p["run_time_s"].get<double>() <= p["run_time_high_s"].get<double>());
    CHECK(p["interval_basis"] == "extrapolation");
    // Another run brings no other model; of phases there is none by itself.
    s.store(json::array(
        {s.run(200, 110, {{"site_id", "there"}}), s.run(200, 50, {{"phase_index", 1}})}));
    CHECK(s.done(s.get("/v1/models?application_id=" + s.app))["items"].size() == 1);
    CHECK(s.refine()["outcome"]["learnt_count"] == 1); // of any site
}

TEST_CASE("a model of kind auto follows a changed world, machines and texts",
          "[models][api][db]")
{
    NEED_DATABASE();
    learning s;
    rng r = rng_create(5);
    json list = json::array();
    auto time_of = [&](double n, const std::string &machine, const std::string &mode) {
        return (10 + 0.5 * n) * (machine == "slow" ? 3 : 1) * (mode == "safe" ? 1.5 : 1);
    };
    auto add = [&](int count, double factor) {
        for (int i = 0; i < count; i++) {
            double n = 100 + std::floor(900 * rng_uniform(&r));
            std::string machine = rng_uniform(&r) < 0.5 ? "slow" : "fast";
            std::string mode = rng_uniform(&r) < 0.5 ? "safe" : "quick";
            list.push_back(s.run(n,
                                 factor * time_of(n, machine, mode) *
                                     (1 + 0.04 * (rng_uniform(&r) - 0.5)),
                                 {{"resource_class", machine},
                                  {"parameters", {{"mode", mode}, {"debug", false}}}}));
        }
        s.store(list);
        list = json::array();
    };
    json question = {{"problem_size", 500},
                     {"resource_class", "slow"},
                     {"parameters", {{"mode", "safe"}, {"debug", false}}}};
    double truth = time_of(500, "slow", "safe");

    add(60, 1);
    CHECK(s.refine()["outcome"]["cause"] == "train");
    json p = s.predict(question);
    CHECK(p["run_time_s"].get<double>() == Approx(truth).epsilon(0.08));
    question["resource_class"] = "fast";
    CHECK(s.predict(question)["run_time_s"].get<double>() ==
          Approx(truth / 3).epsilon(0.08));
    question["resource_class"] = "slow";
    // The same in a decision that is stored and asked again after the world has changed.
    question["store"] = true;
    p = s.predict(question);
    add(8, 2);
    json learnt = s.refine();
    CHECK(learnt["outcome"]["cause"] == "change");
    json now = s.done(s.get("/v1/models/" + s.app));
    CHECK(now["summary"]["change"]["factor"].get<double>() == Approx(2).epsilon(0.1));
    CHECK(now["summary"]["change"]["at_execution_id"] == s.app + "-60");
    REQUIRE(now["windows"].size() == 2);
    CHECK(now["windows"][0]["version"] == 1);
    CHECK(now["windows"][0]["run_count"] == 60);
    CHECK_FALSE(now["windows"][0].contains("from_at"));
    CHECK(now["windows"][1]["version"] == 2);
    CHECK(now["windows"][1]["run_count"] == 8);
    CHECK(now["windows"][1]["factor"] == now["summary"]["change"]["factor"]);
    CHECK(now["windows"][1]["from_at"] == now["summary"]["change"]["at"]);
    double weights = 0;
    for (const json &member : now["members"])
        if (member["group"] == "inside")
            weights += member["weight_ratio"].get<double>();
    CHECK(weights == Approx(1));
    CHECK(now["inputs"] ==
          json({"problem_size", "processors", "debug", "mode", "resource_class"}));
    json changed = s.predict(question);
    CHECK(changed["run_time_s"].get<double>() == Approx(2 * truth).epsilon(0.1));
    CHECK(changed["warnings"].dump().find("model_changed") != std::string::npos);
    json again = s.done(
        s.post("/v1/decisions/" + p["decision_id"].get<std::string>() + "/replay", ""));
    CHECK(again.dump().find("\"run_time_s\":" + p["run_time_s"].dump()) !=
          std::string::npos);
    again = s.done(s.post("/v1/decisions/" + p["decision_id"].get<std::string>() +
                              "/replay?with_current_models=true",
                          ""));
    CHECK(again["identical"] == false);
    CHECK(again["answer"]["run_time_s"] == changed["run_time_s"]);
    // A machine that nobody knows: an answer, and a wide interval.
    question["resource_class"] = "new";
    json unknown = s.predict(question);
    CHECK(unknown["interval_basis"] == "machine_prior");
    CHECK(unknown["run_time_high_s"].get<double>() /
              unknown["run_time_low_s"].get<double>() >
          changed["run_time_high_s"].get<double>() /
              changed["run_time_low_s"].get<double>());
}

TEST_CASE("a model may begin at an instant, and forget", "[models][api][db]")
{
    NEED_DATABASE();
    learning s;
    json list = json::array(), late = json::array();
    auto make = [&](const char *id, const json &settings) {
        s.done(s.post("/v1/models", json{{"id", s.app + id},
                                         {"application_id", s.app},
                                         {"site_id", id},
                                         {"settings", settings},
                                         {"train", false}}
                                        .dump()),
               201);
    };

    make("-since", {{"since", 1700003000}});
    make("-window", {{"window_s", 2000}});
    for (int i = 0; i < 60; i++) {
        double time_s = i < 30 ? 100 : 300;
        list.push_back(s.run(100, time_s, {{"site_id", "-since"}}));
        s.stored--;
        list.push_back(s.run(100, time_s, {{"site_id", "-window"}}));
        list.back()["execution_id"] = s.app + "-w" + std::to_string(i);
    }
    s.store(list);
    s.refine("-since");
    s.refine("-window");
    json since = s.done(s.get("/v1/models/" + s.app + "-since"));
    CHECK(since["summary"]["sample_count"] == 30);
    CHECK(since["summary"]["change_count"] == 0);
    json samples =
        s.done(s.get("/v1/models/" + s.app + "-since/samples?page_size=60"))["items"];
    CHECK(samples.back()["verdict"] == "left_out");
    // The last 2,000 s: 21 runs; and those of before a change are gone with the window.
    json window = s.done(s.get("/v1/models/" + s.app + "-window"));
    CHECK(window["summary"]["sample_count"].get<int>() <= 22);
    CHECK(s.predict({{"problem_size", 100}, {"site_id", "-window"}})["run_time_s"]
              .get<double>() == Approx(300).epsilon(0.02));
    CHECK(s.post("/v1/models",
                 json{{"application_id", s.app}, {"settings", {{"window_s", 0}}}}.dump())
              .pointers() == std::vector<std::string>{"/settings/window_s"});
}

TEST_CASE("what one application taught of machines helps another", "[models][api][db]")
{
    NEED_DATABASE();
    learning known, fresh;
    std::string fast = unique_name("fast"), slow = unique_name("slow");
    json list = json::array();

    for (int i = 0; i < 40; i++) {
        double size = 100 * (1 + i % 10);
        list.push_back(known.run(size, 10 + size, {{"resource_class", fast}}));
        list.push_back(known.run(size, 3 * (10 + size), {{"resource_class", slow}}));
    }
    known.store(list);
    known.refine();
    list = json::array();
    for (int i = 0; i < 20; i++)
        list.push_back(fresh.run(100 * (1 + i), 5 + i, {{"resource_class", fast}}));
    fresh.store(list);
    // Effects are worked out once a minute: now is a minute later.
    store_fixture f;
    REQUIRE(db_execute(f.s, "DELETE FROM machine_effect_made", &f.err) == OK);
    fresh.refine();

    json effects = known.done(known.get("/v1/machine-effects?page_size=1000"))["items"];
    double factor_fast = 0, factor_slow = 0;
    for (const json &e : effects) {
        if (e["resource_class"] == fast)
            factor_fast = e["factor"];
        if (e["resource_class"] == slow)
            factor_slow = e["factor"];
    }
    CHECK(factor_slow / factor_fast == Approx(3).epsilon(0.1));
    json question = {{"problem_size", 1050}, {"resource_class", fast}};
    double on_fast = fresh.predict(question)["run_time_s"];
    question["resource_class"] = slow;
    json on_slow = fresh.predict(question);
    CHECK(on_slow["run_time_s"].get<double>() / on_fast == Approx(3).epsilon(0.15));
    CHECK(fresh.get("/v1/machine-effects?page_size=0").status == 422);

    // A new machine of which one application tells: what others answer of it changes at
    // once, though they learn nothing.
    std::string best = unique_name("best");
    question["resource_class"] = best;
    question["store"] = true;
    json unseen = fresh.predict(question);
    question.erase("store");
    CHECK(unseen["interval_basis"] == "machine_prior");
    list = json::array();
    for (int i = 0; i < 20; i++) {
        double size = 100 * (1 + i % 10);
        list.push_back(known.run(size, 0.5 * (10 + size), {{"resource_class", best}}));
    }
    known.store(list);
    REQUIRE(db_execute(f.s, "DELETE FROM machine_effect_made", &f.err) == OK);
    known.refine();
    json told = fresh.predict(question);
    CHECK(told["models"] == unseen["models"]); // no version came
    CHECK(told["interval_basis"] != "machine_prior");
    CHECK(told["run_time_s"].get<double>() / on_fast == Approx(0.5).epsilon(0.15));
    CHECK(told["run_time_high_s"].get<double>() / told["run_time_low_s"].get<double>() <
          unseen["run_time_high_s"].get<double>() /
              unseen["run_time_low_s"].get<double>());
    // what was answered is answered again
    json again = fresh.done(fresh.post(
        "/v1/decisions/" + unseen["decision_id"].get<std::string>() + "/replay", ""));
    CHECK(again["identical"] == true);
}

TEST_CASE("runs on a machine that nothing can be compared with tell of it all the same",
          "[models][api][db]")
{
    NEED_DATABASE();
    learning known, fresh;
    std::string fast = unique_name("fast"), slow = unique_name("slow"),
                alone = unique_name("alone");
    json list = json::array();
    store_fixture f;
    auto a_minute_later = [&] {
        REQUIRE(db_execute(f.s, "UPDATE machine_effect_made SET made_at = 'epoch'",
                           &f.err) == OK);
    };

    for (int i = 0; i < 40; i++) {
        double size = 100 * (1 + i % 10);
        list.push_back(known.run(size, 10 + size, {{"resource_class", fast}}));
        list.push_back(known.run(size, 3 * (10 + size), {{"resource_class", slow}}));
    }
    known.store(list);
    known.refine();
    list = json::array();
    for (int i = 0; i < 20; i++)
        list.push_back(fresh.run(100 * (1 + i), 5 + i, {{"resource_class", fast}}));
    fresh.store(list);
    a_minute_later();
    fresh.refine();
    json question = {{"problem_size", 1050}, {"resource_class", fast}};
    double on_fast = fresh.predict(question)["run_time_s"];
    question["resource_class"] = alone;
    CHECK(fresh.predict(question)["interval_basis"] == "machine_prior");

    // Sizes that ran nowhere else, so no cell has it; 4 times the time of fast.
    auto run_there = [&](int first, int count) {
        list = json::array();
        for (int i = first; i < first + count; i++) {
            double size = 105 + 100 * i;
            list.push_back(known.run(size, 4 * (10 + size), {{"resource_class", alone}}));
        }
        known.store(list);
        known.refine();
        // No run comes any more: whoever refines next, or the background, works it out.
        a_minute_later();
        fresh.refine();
    };
    auto effect_of = [&] {
        json items = known.done(known.get("/v1/machine-effects?page_size=1000"))["items"];
        for (const json &e : items)
            if (e["resource_class"] == alone)
                return e;
        return json();
    };
    run_there(0, 2);
    json effect = effect_of();
    CHECK(effect["run_count"] == 2);
    json two = fresh.predict(question);
    CHECK(two["interval_basis"] == "machine_prior"); // two say little
    double moved = two["run_time_s"].get<double>() / on_fast;
    CHECK(moved > 1.5);
    CHECK(moved < 3.5);
    run_there(2, 7);
    effect = effect_of();
    CHECK(effect["run_count"] == 9);
    json nine = fresh.predict(question);
    CHECK(nine["interval_basis"] == "extrapolation");
    // 9/10 of ln 4, within what the models do not know
    CHECK(nine["run_time_s"].get<double>() / on_fast == Approx(3.5).epsilon(0.2));
    CHECK(nine["run_time_high_s"].get<double>() / nine["run_time_low_s"].get<double>() <
          two["run_time_high_s"].get<double>() / two["run_time_low_s"].get<double>());
    // Its own model has the runs themselves.
    CHECK(known.predict({{"problem_size", 505}, {"resource_class", alone}})["run_time_s"]
              .get<double>() == Approx(4 * 515).epsilon(0.1));
    // Stored and read again with what it rests on.
    question["store"] = true;
    json stored = fresh.predict(question);
    json again = fresh.done(fresh.post(
        "/v1/decisions/" + stored["decision_id"].get<std::string>() + "/replay", ""));
    CHECK(again["identical"] == true);
}

TEST_CASE("engines may say cpus, which are rounded up to processors", "[models][api][db]")
{
    NEED_DATABASE();
    learning s;
    json run = s.run(100, 60, {{"cpus", 2.5}});
    api_reply r = s.post("/v1/executions", json::array({run}).dump());
    CHECK(r.json()["warnings"].dump().find("'cpus' is now 'processors'") !=
          std::string::npos);
    s.refine();
    CHECK(s.done(s.get("/v1/models/" + s.app))["summary"]["processors"]["low"] == 3);
    run = s.run(100, 60, {{"cpus", 0}});
    CHECK(s.post("/v1/executions", json::array({run}).dump()).status == 422);
}

TEST_CASE("numbers at the end of what a double can be are learnt or left out",
          "[models][api][db]")
{
    NEED_DATABASE();
    for (double odd : {1e308, 1e200, 1e151, 1e150, 1e100, 1e-300, 5e-324})
        for (const char *member : {"problem_size", "parameter", "memory_peak_bytes"}) {
            learning s;
            json list = json::array();
            DYNAMIC_SECTION(member << " of " << odd)
            {
                for (int i = 0; i < 30; i++) {
                    json run = s.run(1 + i % 5, 5 + i % 5, {{"memory_peak_bytes", 1e9}});
                    double value = i % 3 ? odd : odd / 2;
                    if (std::string(member) == "parameter")
                        run["parameters"] = {{"x", i % 2 ? value : -value}};
                    else
                        run[member] = value > 0 ? value : 5e-324;
                    list.push_back(run);
                }
                s.store(list);
                s.refine();
                s.refine("-memory");
                json p = s.predict({{"problem_size", 3}});
                INFO(p.dump());
                CHECK(p["run_time_low_s"] <= p["run_time_s"]);
                CHECK(p["run_time_s"] <= p["run_time_high_s"]);
                s.predict({{"problem_size", odd}, {"targets", {"memory_peak_bytes"}}});
                s.done(s.post("/v1/resource-sizings",
                              json{{"tasks",
                                    {{{"id", "t"},
                                      {"application_id", s.app},
                                      {"problem_size", 3},
                                      {"memory_requested_bytes", 1e9}}}}}
                                  .dump()));
                s.done(s.post("/v1/resource-sizings",
                              json{{"tasks",
                                    {{{"id", "t"},
                                      {"application_id", s.app},
                                      {"problem_size", odd},
                                      {"memory_requested_bytes", 1e9}}}}}
                                  .dump()));
            }
        }
}

TEST_CASE("parallel schedules take the model that came by itself", "[models][api][db]")
{
    NEED_DATABASE();
    learning s;
    rng r = rng_create(11);
    json list = json::array();
    for (int i = 0; i < 80; i++) {
        double size = 100 + 900 * rng_uniform(&r), p = double(1 << (i % 3));
        list.push_back(s.run(size, 10 + 5 * size / p, {{"processors", p}}));
    }
    s.store(list);
    s.refine();
    json body = json::parse(R"({"snapshot": {"sites": [{"id": "s", "resources":
        [{"id": "a", "cpu_available_ratio": 1}, {"id": "b", "cpu_available_ratio": 0.5},
         {"id": "c", "cpu_available_ratio": 0.9}],
        "links": {"form": "upper_triangle", "bandwidth_mbps": [100, 100, 100]}}]}})");
    body["jobs"] = {{{"id", "p"}, {"application_id", s.app}, {"problem_size", 500}}};
    body["store"] = true;
    json answer = s.done(s.post("/v1/parallel-schedules", body.dump()));
    INFO(answer.dump(1));
    json schedule = answer["schedule"];
    // a and c: half of the work each, at the speed of c
    CHECK(schedule["resource_ids"] == json({"a", "c"}));
    double alone = s.predict({{"problem_size", 500}, {"processors", 2}})["run_time_s"];
    double time_s = schedule["predicted_execution_s"];
    CHECK(time_s == Approx(alone / 0.9).epsilon(0.03));
    CHECK(schedule["run_time_low_s"].get<double>() < time_s);
    CHECK(schedule["run_time_high_s"].get<double>() > time_s);
    CHECK(schedule["interval_basis"] == "inside");
    CHECK(answer["status"] == "feasible");
    CHECK(answer["sites"][0]["status"] == "feasible");
    CHECK(answer["warnings"].dump().find("model_approximated") != std::string::npos);
    json again = s.done(s.post(
        "/v1/decisions/" + answer["decision_id"].get<std::string>() + "/replay", ""));
    CHECK(again["identical"] == true);

    // A kind that knows links is asked first.
    s.done(s.post("/v1/models", json{{"id", s.app + "-so"},
                                     {"application_id", s.app},
                                     {"kind", "scale_out"}}
                                    .dump()),
           201);
    s.refine("-so");
    body["store"] = false;
    json with_terms = s.done(s.post("/v1/parallel-schedules", body.dump()));
    CHECK(with_terms["schedule"]["model_id"] == s.app + "-so");

    // All runs on one processor: more machines make no difference.
    learning one;
    one.store(json::array({one.run(100, 60), one.run(200, 110), one.run(300, 160)}));
    one.refine();
    body["jobs"][0]["application_id"] = one.app;
    body["jobs"][0]["problem_size"] = 200;
    answer = s.done(s.post("/v1/parallel-schedules", body.dump()));
    CHECK(answer["schedule"]["resource_ids"] == json({"a"}));
    CHECK(answer["warnings"].dump().find("processors_ignored") != std::string::npos);
}

TEST_CASE("a training may be told which runs count from now on", "[models][api][db]")
{
    NEED_DATABASE();
    learning s;
    json list = json::array();
    auto train = [&](const json &body) {
        return s.post("/v1/models/" + s.app + "/train", body.dump());
    };

    for (int i = 0; i < 60; i++)
        list.push_back(s.run(100 + i % 7, 100 + i % 3));
    s.store(list);
    s.refine();
    CHECK(s.done(train(json::object()))["outcome"]["cause"] == "train");
    json model = s.done(train({{"window_runs", 20}}));
    CHECK(model["settings"]["robustness"]["window_runs"] == 20);
    CHECK(s.done(s.get("/v1/models/" + s.app))["summary"]["sample_count"] == 20);
    model = s.done(train({{"since", 1700000000.0 + 100 * 50}}));
    CHECK(model["settings"]["robustness"]["window_runs"] == 20); // that stays
    CHECK(s.done(s.get("/v1/models/" + s.app))["summary"]["sample_count"] == 10);
    model = s.done(train({{"window_s", 350}}));
    CHECK(s.done(s.get("/v1/models/" + s.app))["summary"]["sample_count"] == 4);
    // later trainings go on with it
    s.done(s.post("/v1/models/" + s.app + "/train", ""));
    s.store(json::array({s.run(100, 101)}));
    s.refine();
    s.done(s.post("/v1/models/" + s.app + "/train", ""));
    CHECK(s.done(s.get("/v1/models/" + s.app))["summary"]["sample_count"] == 4);
    // later than every run
    s.done(train({{"since", "2090-01-01T00:00:00Z"}}));
    model = s.done(s.get("/v1/models/" + s.app));
    CHECK(model["state"] == "untrained");
    CHECK(model["needs"].get<std::string>().find("61 executions 0 can be used") !=
          std::string::npos);
    CHECK(train({{"window_runs", 19}, {"window_s", 0}, {"x", 1}}).pointers() ==
          std::vector<std::string>{"/window_runs", "/window_s", "/x"});
}

TEST_CASE("runs that failed or are ignored teach no time; peaks get a model",
          "[models][api][db]")
{
    NEED_DATABASE();
    learning s;
    json list = json::array();

    for (int i = 0; i < 6; i++)
        list.push_back(s.run(
            100 * (1 + i), 10 * (1 + i),
            {{"memory_peak_bytes", 1e8 * (1 + i)}, {"memory_requested_bytes", 2e9}}));
    list.push_back(s.run(800, 3,
                         {{"exit_code", 137},
                          {"failure_kind", "memory"},
                          {"memory_peak_bytes", 4e8},
                          {"memory_requested_bytes", 4e8}}));
    list.push_back(s.run(900, 3, {{"failure_kind", "time_limit"}, {"exit_code", 140}}));
    list.push_back(s.run(900, 3, {{"ignored", true}}));
    list.push_back(s.run(900, 3, {{"exit_code", 1}}));
    s.store(list);
    CHECK(s.refine()["outcome"]["learnt_count"] == 6);
    json memory = s.refine("-memory");
    CHECK(memory["outcome"]["learnt_count"] == 7); // the bound too
    CHECK(s.done(s.get("/v1/models/" + s.app + "-memory"))["settings"]["target"] ==
          "memory_peak_bytes");
    // A time is never answered from memory.
    api_reply bytes =
        s.post("/v1/predictions",
               json{{"model_id", s.app + "-memory"}, {"problem_size", 300}}.dump());
    CHECK(bytes.pointers() == std::vector<std::string>{"/model_id"});
    CHECK(bytes.json()["errors"][0]["code"] == "conflict");
    CHECK(s.predict({{"problem_size", 300}})["models"][0]["id"] == s.app);
    // Both with one question.
    json both = s.predict({{"problem_size", 300},
                           {"interval_level", 0.9},
                           {"targets", {"run_time_s", "memory_peak_bytes"}}});
    CHECK(both["run_time_s"].get<double>() == Approx(30).epsilon(0.1));
    CHECK(both["memory_peak_bytes"]["value"].get<double>() == Approx(3e8).epsilon(0.1));
    CHECK(both["memory_peak_bytes"]["low"] < both["memory_peak_bytes"]["value"]);
    CHECK(both["memory_peak_bytes"]["high"] > both["memory_peak_bytes"]["value"]);
    CHECK(both["memory_peak_bytes"]["interval_basis"] == "same_configuration");
    json many =
        s.predict({{"queries", {{{"problem_size", 200}}, {{"problem_size", 300}}}},
                   {"interval_level", 0.9},
                   {"targets", {"memory_peak_bytes"}}});
    CHECK(many["results"][1]["memory_peak_bytes"] == both["memory_peak_bytes"]);
    CHECK_FALSE(s.predict({{"problem_size", 300}}).contains("memory_peak_bytes"));
    json wrong = s.predict({{"targets", {"run_time_s", "beauty", "run_time_s"}}}, 422);
    CHECK(wrong["errors"][0]["pointer"] == "/targets/1");
    CHECK(wrong["errors"].size() == 2);
    wrong = s.predict({{"targets",
                        {"run_time_s", "memory_peak_bytes", "disk_peak_bytes",
                         "cpus_used", "run_time_s"}}},
                      422);
    CHECK(wrong["errors"].size() == 2); // twice, and too many
    CHECK(
        s.done(
            s.post("/v1/predictions",
                   json{{"model_id", s.app}, {"targets", {"memory_peak_bytes"}}}.dump()),
            422)["errors"][0]["pointer"] == "/targets");
    // Ignored later: it is learnt no more.
    std::string path = "/v1/executions/" + s.app + "-0";
    json patched = s.done(s.call("PATCH", path, R"({"ignored":true})",
                                 {{"content_type", "application/merge-patch+json"}}));
    CHECK(patched["ignored"] == true);
    CHECK(s.done(s.get("/v1/models/" + s.app))["train_requested"] == true);
    s.refine();
    CHECK(s.done(s.get("/v1/models/" + s.app))["summary"]["sample_count"] == 5);

    api_reply bad =
        s.post("/v1/executions",
               json::array({s.run(1, 1, {{"failure_kind", "memory"}, {"exit_code", 0}}),
                            s.run(1, 2e9)})
                   .dump());
    CHECK(bad.status == 422);
    CHECK(bad.body.find("/0/failure_kind") != std::string::npos);
    CHECK(bad.body.find("/1/run_time_s") != std::string::npos);
}

TEST_CASE("a machine that changes is learnt anew, the others stay", "[models][api][db]")
{
    NEED_DATABASE();
    learning s;
    const char *names[] = {"x", "y", "z"};
    json list = json::array();
    auto on = [](const char *name) { return json{{"resource_class", name}}; };

    for (int i = 0; i < 60; i++)
        list.push_back(s.run(100, 100, on(names[i % 3])));
    s.store(list);
    s.refine();
    CHECK(s.done(s.get("/v1/models/" + s.app))["summary"]["change_count"] == 0);
    // One by one; each is an outlier at first, and one of x is one and stays so.
    json first, learnt, outlier;
    for (int round = 1; round <= 4; round++)
        for (const char *name : names) {
            double time_s = *name == 'z' ? 500 : *name == 'x' && round == 2 ? 0.1 : 100;
            json run = s.run(100, time_s, on(name));
            if (*name == 'z' && round == 1)
                first = run;
            if (time_s < 1)
                outlier = run;
            s.store(json::array({run}));
            learnt = s.refine();
            CHECK((learnt["outcome"]["cause"] == "change") ==
                  (round == 4 && *name == 'z'));
        }
    json model = s.done(s.get("/v1/models/" + s.app));
    json change = model["summary"]["change"];
    INFO(change.dump());
    CHECK(model["summary"]["change_count"] == 1);
    CHECK(change["scope"] == "resource_class");
    CHECK(change["resource_class"] == "z");
    CHECK_FALSE(change.contains("site_id"));
    CHECK(change["factor"].get<double>() == Approx(5).epsilon(0.02));
    CHECK(change["earlier_run_count"] == 20);
    CHECK(change["at_execution_id"] == first["execution_id"]);
    CHECK(model["windows"].back()["scope"] == "resource_class");
    CHECK_FALSE(model["windows"][0].contains("scope"));
    size_t outliers = 0;
    json samples = s.done(s.get("/v1/models/" + s.app + "/samples?page_size=100"));
    for (const json &sample : samples["items"]) {
        outliers += sample["verdict"] == "outlier";
        CHECK((sample["verdict"] == "outlier") ==
              (sample["execution_id"] == outlier["execution_id"]));
    }
    CHECK(outliers == 1);
    auto time_s = [&](const char *name) {
        json p = s.predict({{"problem_size", 100}, {"resource_class", name}});
        CHECK(p["warnings"].dump().find("by a factor of 5 for one resource_class") !=
              std::string::npos);
        return p["run_time_s"].get<double>();
    };
    CHECK(time_s("z") == Approx(500).epsilon(0.05));
    CHECK(time_s("x") == Approx(100).epsilon(0.05));
    // It stays in what later versions say.
    s.store(json::array({s.run(100, 100, on("x"))}));
    s.refine();
    change = s.done(s.get("/v1/models/" + s.app))["summary"]["change"];
    CHECK(change["resource_class"] == "z");
    CHECK(change["at_execution_id"] == first["execution_id"]);
}
