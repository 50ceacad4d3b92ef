// placement_models_api_test.cpp - placements of jobs whose run times stored models tell,
// through route_answer() and PostgreSQL.
#include "tests/database.hpp"
#include "tests/model_support.hpp"

using nlohmann::json;

namespace
{
struct models : api {
    std::string app = unique_name("app");

    models() : api(test_database_url())
    {
    }
    json done(const api_reply &r, int status)
    {
        INFO(r.body.substr(0, 3000));
        REQUIRE(r.status == status);
        return r.body.empty() ? json() : r.json();
    }
    // A linear model of T = a + b x, noise as a share of it; its id.
    std::string line(double a, double b, const std::string &site = "", double noise = 0,
                     const std::string &input = "x")
    {
        std::string id = unique_name("model");
        json model = {{"id", id},
                      {"application_id", app},
                      {"kind", "linear"},
                      {"settings", {{"inputs", {input}}}}};
        json runs = json::array();
        rng r = rng_create(7);

        if (!site.empty())
            model["site_id"] = site;
        done(post("/v1/models", model.dump()), 201);
        for (int i = 0; i < 30; i++) {
            double x = 1 + i % 10;
            json run = {
                {"execution_id", unique_name("run")},
                {"application_id", app},
                {"processors", 1},
                {"started_at", 1700000000.0 + 100. * i},
                {"run_time_s", (a + b * x) * (1 + noise * (2 * rng_uniform(&r) - 1))}};
            if (input == "x")
                run["parameters"] = {{"x", x}};
            else
                run[input] = x / 10;
            if (!site.empty())
                run["site_id"] = site;
            runs.push_back(run);
        }
        done(post("/v1/executions", runs.dump()), 201);
        json trained = done(post("/v1/models/" + id + "/train", ""), 200);
        REQUIRE(trained["version"] == 1);
        return id;
    }
    json predict(const json &question)
    {
        return done(post("/v1/predictions", question.dump()), 200);
    }
    api_reply decide(const json &resources, const json &jobs, const json &more = {})
    {
        json body = {{"snapshot", {{"resources", resources}}},
                     {"jobs", jobs},
                     {"algorithm", "mct"}};
        if (more.is_object())
            body.update(more);
        return post("/v1/placements", body.dump());
    }
};

json job(const std::string &id, const json &model, const json &more = {})
{
    json j = {{"id", id}, {"model", model}};
    if (more.is_object())
        j.update(more);
    return j;
}

std::string warned(const json &answer, const std::string &code)
{
    for (const json &w : answer["warnings"])
        if (w.get<std::string>().rfind(code + ": ", 0) == 0)
            return w.get<std::string>();
    return "";
}

const json &placed(const json &answer, const std::string &id)
{
    static const json none;
    for (const json &p : answer["placements"])
        if (p["job_id"] == id)
            return p;
    return none;
}
} // namespace

TEST_CASE("a job's parameter that its model has not learnt is said", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = m.line(2, 3);
    json resources = json::parse(R"([{"id":"n","cpus":2}])");
    json known = {{"model_id", id}, {"parameters", {{"x", 4}}}};
    json more = {{"model_id", id}, {"parameters", {{"x", 4}, {"y", 1}}}};

    CHECK(warned(m.done(m.decide(resources, json::array({job("a", known)})), 200),
                 "inputs_unused")
              .empty());
    json answer = m.done(
        m.decide(resources, {job("a", known), job("b", more), job("c", more)}), 200);
    CHECK(warned(answer, "inputs_unused").find("2 jobs, first /jobs/1/model") !=
          std::string::npos);
    CHECK(placed(answer, "b")["run_time_s"] == placed(answer, "a")["run_time_s"]);
}

TEST_CASE("a job runs as long as its model says", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = m.line(2, 3, "", 0.05);
    json of = {{"model_id", id}, {"parameters", {{"x", 4}}}};
    json want = m.predict({{"model_id", id},
                           {"parameters", {{"x", 4}}},
                           {"processors", 1},
                           {"interval_level", 0.9}});
    json answer = m.done(m.decide(json::parse(R"([{"id":"n","cpus":2}])"),
                                  {job("a", of), job("b", of), job("c", of)}),
                         200);
    CHECK(want["run_time_s"].get<double>() == Approx(14).epsilon(0.05));
    for (const char *j : {"a", "b", "c"}) {
        const json &p = placed(answer, j);
        CHECK(p["run_time_s"] == want["run_time_s"]);
        json basis = p["run_time_basis"];
        CHECK(basis["source"] == "model");
        CHECK(basis["model_id"] == id);
        CHECK(basis["model_version"] == 1);
        CHECK(basis["low_s"] == want["run_time_low_s"]);
        CHECK(basis["high_s"] == want["run_time_high_s"]);
        CHECK(basis["level"] == 0.9);
        CHECK(basis["interval_basis"].get<std::string>() != "");
        CHECK(basis["extrapolation_ratio"] == 1);
        CHECK(!p.contains("run_time_index"));
    }
    CHECK(placed(answer, "c")["start_s"] == want["run_time_s"]);
    CHECK(!answer.contains("run_times"));

    // Nine of ten runs are to be shorter: the upper end of the interval of 80 %.
    json wide = m.predict({{"model_id", id},
                           {"parameters", {{"x", 4}}},
                           {"processors", 1},
                           {"interval_level", 0.8}});
    for (double quantile : {0.9, 0.1}) {
        of["quantile"] = quantile;
        answer = m.done(m.decide(json::parse(R"([{"id":"n","cpus":2}])"),
                                 json::array({job("a", of)})),
                        200);
        CHECK(
            placed(answer, "a")["run_time_s"].get<double>() ==
            Approx(
                wide[quantile > 0.5 ? "run_time_high_s" : "run_time_low_s"].get<double>())
                .epsilon(1e-12));
        CHECK(placed(answer, "a")["run_time_basis"]["low_s"] == want["run_time_low_s"]);
    }
}

TEST_CASE("each site has its own model, and others that without a site",
          "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string east = m.line(0, 10, "east"), west = m.line(0, 2, "west");
    json resources = json::parse(R"([{"id":"e","cpus":1,"site_id":"east"},
                                     {"id":"w","cpus":1,"site_id":"west"},
                                     {"id":"s","cpus":1,"site_id":"south"}])");
    json of = {{"application_id", m.app}, {"parameters", {{"x", 3}}}};
    json jobs = {job("a", of), job("b", of, {{"requirement", "site_id == \"east\""}}),
                 job("c", of, {{"nodes", 2}}),
                 job("d", of, {{"requirement", "site_id == \"south\""}})};
    json answer = m.done(m.decide(resources, jobs), 200);
    INFO(answer.dump());
    CHECK(placed(answer, "a")["resource_id"] == "w");
    CHECK(placed(answer, "a")["run_time_s"].get<double>() == Approx(6).epsilon(1e-6));
    CHECK(placed(answer, "a")["run_time_basis"]["model_id"] == west);
    CHECK(placed(answer, "b")["run_time_s"].get<double>() == Approx(30).epsilon(1e-6));
    CHECK(placed(answer, "b")["run_time_basis"]["model_id"] == east);
    // On both the slower one counts.
    CHECK(placed(answer, "c")["run_time_s"].get<double>() == Approx(30).epsilon(1e-6));
    CHECK(placed(answer, "c")["run_time_basis"]["model_id"] == east);
    // In the south nobody knows.
    REQUIRE(answer["unplaced"].size() == 1);
    CHECK(answer["unplaced"][0]["job_id"] == "d");
    CHECK(warned(answer, "model_no_answer") != "");

    std::string any = m.line(0, 100);
    answer = m.done(m.decide(resources, jobs), 200);
    CHECK(placed(answer, "d")["run_time_s"].get<double>() == Approx(300).epsilon(1e-6));
    CHECK(placed(answer, "d")["run_time_basis"]["model_id"] == any);
    CHECK(placed(answer, "b")["run_time_basis"]["model_id"] == east);
    CHECK(warned(answer, "model_no_answer") == "");
}

TEST_CASE("a model sees the machine's load", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = m.line(20, -1, "", 0, "cpu_available_ratio"); // 20 - 10 ratio
    json answer = m.done(
        m.decide(json::parse(R"([{"id":"loaded","cpus":1,"cpu_available_ratio":0.2},
                                 {"id":"free","cpus":1,"cpu_available_ratio":0.9},
                                 {"id":"too","cpus":1,"cpu_available_ratio":0.9}])"),
                 {job("a", {{"model_id", id}}), job("b", {{"model_id", id}}),
                  job("c", {{"model_id", id}})},
                 {{"algorithm", "olb"}}),
        200);
    INFO(answer.dump());
    std::map<std::string, double> by;
    for (const json &p : answer["placements"])
        by[p["resource_id"].get<std::string>()] = p["run_time_s"].get<double>();
    CHECK(by["loaded"] == Approx(18).epsilon(1e-6));
    CHECK(by["free"] == Approx(11).epsilon(1e-6));
    CHECK(by["too"] == by["free"]);
}

TEST_CASE("where a run time comes from is said", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = m.line(2, 3);
    json of = {{"model_id", id}, {"parameters", {{"x", 1}}}};
    json silent = {{"model_id", id}};
    json jobs = {job("model", of),
                 job("etc", of, {{"etc_s", {7}}}),
                 job("speed", of, {{"estimate_ref_s", 8}}),
                 job("given", of, {{"estimate_s", 9}}),
                 job("limit", silent, {{"time_limit_s", 10}}),
                 job("nothing", silent)};
    json resources = json::parse(R"([{"id":"n","cpus":64}])");
    json answer = m.done(m.decide(resources, jobs), 200);
    CHECK(placed(answer, "model")["run_time_s"].get<double>() == Approx(5).epsilon(1e-6));
    CHECK(placed(answer, "etc")["run_time_s"] == 7);
    CHECK(placed(answer, "speed")["run_time_s"] == 8);
    CHECK(placed(answer, "given")["run_time_s"] == 9);
    CHECK(placed(answer, "limit")["run_time_s"] == 10);
    for (const char *j : {"etc", "speed", "given", "limit"})
        CHECK(!placed(answer, j).contains("run_time_basis"));
    CHECK(warned(answer, "model_not_used").rfind("model_not_used: 3 jobs have", 0) == 0);
    CHECK(warned(answer, "model_not_used").find("/jobs/1/model") != std::string::npos);
    CHECK(warned(answer, "model_no_answer").find(": 2 jobs") == std::string::npos);
    CHECK(warned(answer, "model_no_answer").find("of 2 jobs") != std::string::npos);
    CHECK(warned(answer, "model_no_answer").find("/jobs/4/model") != std::string::npos);
    CHECK(warned(answer, "run_time_from_limit") != "");
    REQUIRE(answer["unplaced"].size() == 1);
    json reason = answer["unplaced"][0]["reasons"][0];
    CHECK(answer["unplaced"][0]["job_id"] == "nothing");
    CHECK(reason["reason"] == "no_estimate");
    CHECK(reason["detail"].get<std::string>().find("it needs the input 'x'") !=
          std::string::npos);

    answer = m.done(m.decide(resources, jobs, {{"include", {"placements", "run_times"}}}),
                    200);
    CHECK(placed(answer, "model")["run_time_basis"]["source"] == "model");
    CHECK(placed(answer, "etc")["run_time_basis"] == json({{"source", "etc"}}));
    CHECK(placed(answer, "speed")["run_time_basis"] == json({{"source", "estimate"}}));
    CHECK(placed(answer, "given")["run_time_basis"] == json({{"source", "estimate"}}));
    CHECK(placed(answer, "limit")["run_time_basis"] == json({{"source", "limit"}}));
}

TEST_CASE("many jobs share where their run times come from", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = m.line(2, 3);
    json jobs = json::array();
    for (int i = 0; i < 1001; i++)
        jobs.push_back(i % 4 == 3
                           ? json({{"id", std::to_string(i)}, {"estimate_s", 1}})
                           : job(std::to_string(i),
                                 {{"model_id", id}, {"parameters", {{"x", 1 + i % 4}}}}));
    json resources = json::parse(R"([{"id":"n","cpus":64}])");
    json answer = m.done(m.decide(resources, jobs), 200);
    REQUIRE(answer["run_times"].size() == 3);
    REQUIRE(answer["placements"].size() == 1001);
    for (const json &p : answer["placements"]) {
        int i = std::stoi(p["job_id"].get<std::string>());
        CHECK(!p.contains("run_time_basis"));
        REQUIRE(p.contains("run_time_index") == (i % 4 != 3));
        if (i % 4 == 3)
            continue;
        const json &basis = answer["run_times"][p["run_time_index"].get<size_t>()];
        CHECK(basis["model_id"] == id);
        CHECK(p["run_time_s"].get<double>() == Approx(5 + 3 * (i % 4)).epsilon(1e-6));
    }
    answer = m.done(m.decide(resources, jobs, {{"include", {"placements", "run_times"}}}),
                    200);
    CHECK(answer["run_times"].size() == 4);
}

TEST_CASE("what is wrong with models of jobs is said, all of it", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = m.line(2, 3);
    json resources = json::parse(R"([{"id":"n","cpus":64}])");
    api_reply r =
        m.decide(resources, {job("a", json::object()),
                             job("b", {{"model_id", id}, {"application_id", m.app}}),
                             job("c", {{"model_id", id}, {"processors", 1}})});
    CHECK(r.status == 422);
    CHECK(r.pointers() ==
          std::vector<std::string>{"/jobs/0/model/model_id", "/jobs/1/model/model_id"});
    r = m.decide(
        resources,
        json::array(
            {job("c", {{"model_id", id}, {"phase_index", 0.5}, {"processors", 1.5}})}));
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/model/phase_index",
                                                   "/jobs/0/model/processors"});
    r = m.decide(resources,
                 {job("a", {{"model_id", id}}), job("b", {{"model_id", "no-such"}}),
                  job("c", {{"application_id", "no-such"}}),
                  job("d", {{"model_id", "no-such"}, {"quantile", 0.9}})});
    INFO(r.body);
    CHECK(r.status == 422);
    CHECK(r.pointers() ==
          std::vector<std::string>{"/jobs/1/model/model_id", "/jobs/3/model/model_id"});
    CHECK(r.json()["errors"][0]["code"] == "unknown_id");
    r = m.decide(resources, json::array({job("a", {{"model_id", id}, {"quantile", 1}})}));
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/model/quantile"});
}

TEST_CASE("an application that nobody knows yet is no mistake; a model of memory is",
          "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    json resources = json::parse(R"([{"id":"n","cpus":64}])");
    json of = {{"application_id", "no-such"}};
    json limited = job("limited", of);
    limited["time_limit_s"] = 50;
    json answer = m.done(m.decide(resources, {job("a", of), limited}), 200);
    REQUIRE(answer["placements"].size() == 1);
    CHECK(answer["placements"][0]["job_id"] == "limited");
    CHECK(answer["placements"][0]["run_time_s"] == 50);
    REQUIRE(answer["unplaced"].size() == 1);
    CHECK(answer["unplaced"][0]["reasons"][0]["reason"] == "no_estimate");
    CHECK(answer["unplaced"][0].dump().find("no-such") != std::string::npos);
    CHECK(answer["warnings"].dump().find("model_missing: there is no model that 2 jobs "
                                         "name (first /jobs/0/model)") !=
          std::string::npos);

    std::string id = unique_name("memory");
    m.done(m.post("/v1/models", json{{"id", id},
                                     {"application_id", m.app},
                                     {"settings", {{"target", "memory_peak_bytes"}}}}
                                    .dump()),
           201);
    api_reply r = m.decide(resources, json::array({job("a", {{"model_id", id}})}));
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/model/model_id"});
    CHECK(r.json()["errors"][0]["code"] == "conflict");
}

TEST_CASE("parameters that no model can look at are refused", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    json resources = json::parse(R"([{"id":"n","cpus":64}])"), many = json::object();
    std::string id = m.line(2, 3);
    json of = {{"model_id", id}, {"parameters", {{"x", 1e301}, {"y", -1e300}}}};
    api_reply r = m.decide(resources, json::array({job("a", of)}));
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/model/parameters/x"});
    CHECK(r.json()["errors"][0]["code"] == "not_allowed");
    r = m.post("/v1/predictions", of.dump());
    CHECK(r.pointers() == std::vector<std::string>{"/parameters/x"});
    for (int i = 0; i < 65; i++)
        many["p" + std::to_string(100 + i)] = 1;
    r = m.post("/v1/predictions",
               json{{"model_id", id}, {"queries", {{{"parameters", many}}}}}.dump());
    CHECK(r.pointers() == std::vector<std::string>{"/queries/0/parameters/p164"});
}

TEST_CASE("a decision with models is the same when they are gone", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string east = m.line(0, 10, "east", 0.1), id = m.line(2, 3, "", 0.1);
    json resources = json::parse(R"([{"id":"e","cpus":1,"site_id":"east"},
                                     {"id":"w","cpus":1,"site_id":"west"}])");
    json of = {{"application_id", m.app}, {"parameters", {{"x", 3}}}};
    json jobs = {job("a", of), job("b", of), job("c", {{"model_id", id}})};
    json answer = m.done(m.decide(resources, jobs, {{"store", true}}), 200);
    for (const std::string &gone : {east, id})
        REQUIRE(m.call("DELETE", "/v1/models/" + gone).status == 204);
    CHECK(m.decide(resources, jobs).status == 422);
    json replay = m.done(
        m.post("/v1/decisions/" + answer["decision_id"].get<std::string>() + "/replay",
               ""),
        200);
    INFO(replay.dump());
    CHECK(replay["identical"] == true);
}

TEST_CASE("a plan of jobs with models is judged by their times", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = m.line(2, 3);
    json body = {
        {"kind", "placement"},
        {"snapshot", {{"resources", json::parse(R"([{"id":"n","cpus":1}])")}}},
        {"jobs",
         {job("a", {{"model_id", id}, {"parameters", {{"x", 2}}}}),
          job("b", {{"model_id", id}, {"parameters", {{"x", 3}}}}, {{"estimate_s", 4}})}},
        {"placements", json::parse(R"([{"job_id":"a","resource_id":"n","start_s":0},
                                  {"job_id":"b","resource_id":"n","start_s":8.1}])")}};
    json answer = m.done(m.post("/v1/evaluations", body.dump()), 200);
    INFO(answer.dump());
    CHECK(answer["valid"] == true);
    CHECK(answer["objective"]["makespan_s"].get<double>() == Approx(12.1).epsilon(1e-6));
    CHECK(warned(answer, "model_not_used") != "");
    body["placements"][1]["start_s"] = 7.9;
    answer = m.done(m.post("/v1/evaluations", body.dump()), 200);
    CHECK(answer["valid"] == false);
    CHECK(answer["violations"][0]["rule"] == "amount_exceeded");
    body["jobs"][0]["model"]["model_id"] = "no-such";
    CHECK(m.post("/v1/evaluations", body.dump()).pointers() ==
          std::vector<std::string>{"/jobs/0/model/model_id"});
}

TEST_CASE("jobs of a queue on a snapshot run as long as their models say",
          "[models][queue][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = m.line(2, 3);
    json body = {
        {"snapshot", {{"resources", json::parse(R"([{"id":"n","cpus":1}])")}}},
        {"algorithm", "easy"},
        {"jobs",
         {job("a", {{"model_id", id}, {"parameters", {{"x", 2}}}}),
          job("b", {{"model_id", id}, {"parameters", {{"x", 3}}}}, {{"estimate_s", 4}}),
          job("c", {{"model_id", id}, {"parameters", {{"x", 1}}}}),
          job("d", {{"model_id", id}})}}};
    json answer = m.done(m.post("/v1/queue-orders", body.dump()), 200);
    INFO(answer.dump());
    CHECK(answer["starts"][0]["job_id"] == "a");
    CHECK(answer["starts"][0]["run_time_basis"]["model_id"] == id);
    CHECK(answer["waiting"][0]["job_id"] == "b");
    CHECK(answer["waiting"][0]["estimated_start_s"].get<double>() ==
          Approx(8).epsilon(1e-6));
    CHECK(!answer["waiting"][0].contains("run_time_basis"));
    CHECK(answer["waiting"][1]["estimated_start_s"].get<double>() ==
          Approx(12).epsilon(1e-6));
    CHECK(answer["waiting"][1]["run_time_basis"]["source"] == "model");
    CHECK(answer["unplaced"][0]["job_id"] == "d");
    CHECK(answer["unplaced"][0]["reasons"][0]["reason"] == "no_estimate");
    CHECK(warned(answer, "model_not_used") != "");
    CHECK(warned(answer, "model_no_answer") != "");
    body["jobs"][0]["model"]["model_id"] = "no-such";
    CHECK(m.post("/v1/queue-orders", body.dump()).pointers() ==
          std::vector<std::string>{"/jobs/0/model/model_id"});
    // A pool of processors has no models.
    CHECK(m.post("/v1/queue-orders",
                 R"({"processors":4,"jobs":[{"id":"a","processors":1,"estimate_s":1,
                     "model":{"model_id":"x"}}]})")
              .pointers() == std::vector<std::string>{"/jobs/0/model"});
}

TEST_CASE("tasks of workflows run as long as their models say",
          "[models][workflow][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string east = m.line(0, 10, "east"), west = m.line(0, 2, "west");
    auto task = [&](const std::string &id, double x, const json &more = json::object()) {
        json t = {{"id", id},
                  {"model", {{"application_id", m.app}, {"parameters", {{"x", x}}}}}};
        t.update(more);
        return t;
    };
    json body = {
        {"algorithm", "heft"},
        {"store", true},
        {"snapshot",
         {{"resources", json::parse(R"([{"id":"e","site_id":"east","mips_total":1},
                                        {"id":"w","site_id":"west","mips_total":1}])")}}},
        {"workflow",
         {{"tasks",
           {task("a", 5), task("b", 1, {{"depends_on", {"a"}}}),
            task("c", 3, {{"depends_on", {"a"}}, {"estimate_s", 7}})}}}}};
    json answer = m.done(m.post("/v1/workflow-schedules", body.dump()), 200);
    INFO(answer.dump());
    std::map<std::string, json> rows;
    for (const json &row : answer["schedule"])
        rows[row["task_id"].get<std::string>()] = row;
    auto time_of = [&](const std::string &id) {
        return rows[id]["finish_s"].get<double>() - rows[id]["start_s"].get<double>();
    };
    CHECK(rows["a"]["resource_id"] == "w");
    CHECK(time_of("a") == Approx(10).epsilon(1e-6));
    CHECK(rows["a"]["run_time_basis"]["model_id"] == west);
    CHECK(time_of("b") == Approx(rows["b"]["resource_id"] == "w" ? 2 : 10).epsilon(1e-6));
    CHECK(rows["b"]["run_time_basis"]["model_id"] ==
          (rows["b"]["resource_id"] == "w" ? west : east));
    CHECK(time_of("c") == Approx(7).epsilon(1e-6));
    CHECK(!rows["c"].contains("run_time_basis"));
    CHECK(warned(answer, "model_not_used").find("1 task has") != std::string::npos);
    CHECK(warned(answer, "model_not_used").find("/workflow/tasks/2/model") !=
          std::string::npos);

    // The same plan is worth the same when it is judged.
    json judged = body;
    judged.erase("algorithm");
    judged.erase("store");
    judged["kind"] = "workflow";
    judged["schedule"] = json::array();
    for (const json &row : answer["schedule"])
        judged["schedule"].push_back({{"task_id", row["task_id"]},
                                      {"resource_id", row["resource_id"]},
                                      {"start_s", row["start_s"]},
                                      {"finish_s", row["finish_s"]}});
    json verdict = m.done(m.post("/v1/evaluations", judged.dump()), 200);
    INFO(verdict.dump());
    CHECK(verdict["valid"] == true);
    CHECK(warned(verdict, "model_not_used") != "");

    // A round asks them too; what the task says itself comes first.
    json round = body;
    round["algorithm"] = "balanced";
    json counted = m.done(m.post("/v1/workflow-schedules", round.dump()), 200);
    CHECK(warned(counted, "model_not_used").find("/workflow/tasks/2/model") !=
          std::string::npos);
    CHECK(warned(counted, "ignored") == "");
    REQUIRE(counted["placements"].size() > 0);
    for (const json &start : counted["placements"])
        if (start["task_id"] != "c") {
            CHECK(start["how"] != "random");
            CHECK(start["expected_s"].get<double>() > 0);
        }
    for (json &t : round["workflow"]["tasks"]) {
        t.erase("estimate_s");
        t["estimate_ref_s"] = 5;
    }
    counted = m.done(m.post("/v1/workflow-schedules", round.dump()), 200);
    CHECK(warned(counted, "model_not_used").find("3 tasks have") != std::string::npos);

    // Several workflows, and what is wrong.
    json several = body;
    several.erase("workflow");
    several["workflows"] = {{{"id", "u"}, {"tasks", json::array({task("a", 5)})}},
                            {{"id", "v"}, {"tasks", {task("a", 5), task("b", 1)}}}};
    several["workflows"][1]["tasks"][1]["model"] = {{"model_id", "no-such"}};
    CHECK(m.post("/v1/workflow-schedules", several.dump()).pointers() ==
          std::vector<std::string>{"/workflows/1/tasks/1/model/model_id"});
    several["workflows"][1]["tasks"][1]["model"] = {{"application_id", m.app}};
    json guessed = m.done(m.post("/v1/workflow-schedules", several.dump()), 200);
    CHECK(warned(guessed, "model_no_answer").find("/workflows/1/tasks/1/model") !=
          std::string::npos);
    CHECK(guessed["schedule"].size() == 3); // it gets the median of the others

    // What was decided is decided again when the models are gone.
    for (const std::string &gone : {east, west})
        REQUIRE(m.call("DELETE", "/v1/models/" + gone).status == 204);
    CHECK_FALSE(warned(m.done(m.post("/v1/workflow-schedules", body.dump()), 200),
                       "model_missing")
                    .empty());
    json replay = m.done(
        m.post("/v1/decisions/" + answer["decision_id"].get<std::string>() + "/replay",
               ""),
        200);
    INFO(replay.dump());
    CHECK(replay["identical"] == true);
}

TEST_CASE("a simulated queue counts on what models tell", "[models][api][db]")
{
    NEED_DATABASE();
    models m;
    std::string id = m.line(2, 3);
    auto sized = [&](const char *name, double run_s, double limit_s, double x) {
        json j = {{"id", name}, {"run_time_s", run_s}, {"time_limit_s", limit_s}};
        if (x > 0)
            j["model"] = {{"model_id", id}, {"parameters", {{"x", x}}}};
        return j;
    };
    // The long one has the first cpu until 35; wide waits for both. The short one, of 8
    // s, asks for 100 and is thought to take 8 (x 2): behind nobody's back it fits
    // before 35.
    json jobs = {sized("long", 35, 35, 11), sized("wide", 10, 10, 0),
                 sized("short", 8, 100, 2), sized("over", 40, 50, 10)};
    jobs[1]["cpus"] = 2;
    json body = {{"kind", "queue"},
                 {"policies", {"easy"}},
                 {"per_job", true},
                 {"cluster", {{"resources", {{{"id", "n"}, {"cpus", 2}}}}}},
                 {"jobs", jobs}};
    auto starts = [&](const char *estimates) {
        body["estimates"] = estimates;
        json answer = m.done(m.post("/v1/simulations", body.dump()), 200);
        std::map<std::string, double> list;
        for (const json &row : answer["results"][0]["jobs"])
            list[row["job_id"].get<std::string>()] = row["start_s"].get<double>();
        CHECK(warned(answer, "run_time_defaulted").empty() ==
              (std::string(estimates) != "model"));
        return list;
    };
    auto asked = starts("requested"), told = starts("model"), took = starts("actual");
    CHECK(asked["wide"] == 35);
    CHECK(asked["short"] == 45);
    CHECK(told["short"] == 0);
    // `over` is thought to take 32 and would end at 40 > 35: it waits for the wide one.
    CHECK(told["wide"] == 35);
    CHECK(told["over"] == 45);
    CHECK(took["short"] == 0);

    body.erase("policies");
    body.erase("per_job");
    body["estimates"] = "requested";
    body["study"] = {{"base", {{"policy", "easy"}}},
                     {"variants", {{{"id", "m"}, {"estimates", "model"}}}}};
    json study = m.done(m.post("/v1/simulations", body.dump()), 200)["study"];
    INFO(study.dump(1));
    CHECK(study["variants"][0]["estimates"] == "model");
    CHECK(study["variants"][0]["figures"]["mean_wait_s"] <
          study["base"]["figures"]["mean_wait_s"].get<double>());
    body["jobs"][0]["model"]["model_id"] = "nobody";
    api_reply r = m.post("/v1/simulations", body.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/model/model_id"});
}
