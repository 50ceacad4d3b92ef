// model_decisions_test.cpp - every decision that takes a job's model decides as if the
// model's time were written in the request, and says which models it cannot ask.
#include "tests/database.hpp"
#include "tests/model_support.hpp"

using nlohmann::json;

namespace
{
struct learnt : api {
    std::string line = unique_name("line"); // T = 2 + 3 x
    std::string empty = unique_name("empty");
    std::string app = unique_name("app"); // of kind auto, by problem_size

    learnt() : api(test_database_url())
    {
    }
    json done(const api_reply &r, int status = 200)
    {
        INFO(r.body.substr(0, 3000));
        REQUIRE(r.status == status);
        return r.json();
    }
    void learn()
    {
        json runs = json::array(), sizes = json::array();

        done(post("/v1/models", json{{"id", line},
                                     {"application_id", line},
                                     {"kind", "linear"},
                                     {"settings", {{"inputs", {"x"}}}}}
                                    .dump()),
             201);
        done(post("/v1/models", json{{"id", empty}, {"application_id", empty}}.dump()),
             201);
        for (int i = 0; i < 30; i++) {
            double x = 1 + i % 10;
            json run = {{"execution_id", unique_name("run")},
                        {"application_id", line},
                        {"processors", 1},
                        {"started_at", 1700000000.0 + 100. * i},
                        {"run_time_s", (2 + 3 * x) * (1 + 0.01 * (i % 3))},
                        {"parameters", {{"x", x}}}};
            json size = {{"execution_id", unique_name("run")},
                         {"application_id", app},
                         {"started_at", 1700000000.0 + 100. * i},
                         {"problem_size", x},
                         {"processors", 1 + i % 4},
                         {"memory_peak_bytes", 1e9 + 1e8 * x},
                         {"run_time_s", 10 * x}};
            runs.push_back(run);
            sizes.push_back(size);
        }
        done(post("/v1/executions", runs.dump()), 201);
        done(post("/v1/models/" + line + "/train", ""));
        done(post("/v1/executions", sizes.dump()), 201);
        done(post("/v1/models/" + app + "/refine", ""));
        done(post("/v1/models/" + app + "-memory/refine", ""));
    }
    json model(double x)
    {
        return {{"model_id", line}, {"parameters", {{"x", x}}}};
    }
    double time_of(double x)
    {
        json question = model(x);
        question["processors"] = 1;
        return done(post("/v1/predictions", question.dump()))["run_time_s"];
    }
};

// A decision about jobs a and b: its body has $a and $b where they say how long they run.
struct decision {
    const char *name, *path, *body;
    const char *a, *b;       // where they are
    const char *member;      // what a number is written as
    bool takes_silence;      // goes on without a time
    const char *basis = "a"; // who has a run_time_basis: "" nobody
    const char *extra = "";  // $m: a text that only a body with models has
};

#define TWO   R"({"resources":[{"id":"n1","cpus":2},{"id":"n2","cpus":1}]})"
#define SITES R"({"sites":[{"id":"A","processors_total":8,"supports_reservation":true}]})"

const decision decisions[] = {
    {"placements", "/v1/placements",
     R"({"algorithm":"mct","snapshot":)" TWO R"(,"jobs":[{"id":"a",$a},{"id":"b",$b}]})",
     "/jobs/0", "/jobs/1", "estimate_s", true},
    {"search of placements", "/v1/placements",
     R"({"algorithm":"search","snapshot":)" TWO
     R"(,"jobs":[{"id":"a",$a},{"id":"b",$b}]})",
     "/jobs/0", "/jobs/1", "estimate_s", true},
    {"queue order", "/v1/queue-orders",
     R"({"algorithm":"easy_sjf","snapshot":)" TWO
     R"(,"jobs":[{"id":"a",$a},{"id":"b",$b}]})",
     "/jobs/0", "/jobs/1", "estimate_s", true},
    {"conservative queue", "/v1/queue-orders",
     R"({"algorithm":"conservative","snapshot":)" TWO
     R"(,"jobs":[{"id":"a",$a},{"id":"b",$b}]})",
     "/jobs/0", "/jobs/1", "estimate_s", true},
    {"workflow schedule", "/v1/workflow-schedules",
     R"({"algorithm":"heft","snapshot":)" TWO
     R"(,"workflow":{"id":"w","tasks":[{"id":"a",$a},{"id":"b","depends_on":["a"],$b}]}})",
     "/workflow/tasks/0", "/workflow/tasks/1", "estimate_s", true},
    {"workflow round", "/v1/workflow-schedules",
     R"({"algorithm":"balanced","snapshot":)" TWO
     R"(,"workflow":{"id":"w","tasks":[{"id":"a",$a},{"id":"b",$b}]}})",
     "/workflow/tasks/0", "/workflow/tasks/1", "estimate_s", true},
    {"moves of a workflow", "/v1/reschedules",
     R"({"kind":"workflow_round","algorithm":"balanced","snapshot":)" TWO
     R"(,"workflow":{"id":"w","tasks":[{"id":"a","status":"running","resource_id":"n1",
        "progress_ratio":0.5,$a},{"id":"b",$b}]}})",
     "/workflow/tasks/0", "/workflow/tasks/1", "estimate_s", true, ""},
    {"pending jobs of a round", "/v1/reschedules",
     R"({"algorithm":"gridway","snapshot":)" TWO
     R"(,"jobs":[],"pending":[{"id":"a",$a},{"id":"b",$b}]})",
     "/pending/0", "/pending/1", "estimate_s", true},
    {"running jobs of a round", "/v1/reschedules",
     R"({"algorithm":"gridway","snapshot":)" TWO
     R"(,"jobs":[{"id":"a","resource_id":"n1","elapsed_s":1,$a},
                 {"id":"b","resource_id":"n2","elapsed_s":1,$b}]})",
     "/jobs/0", "/jobs/1", "estimate_s", true},
    {"evaluation of a placement", "/v1/evaluations",
     R"({"kind":"placement","snapshot":)" TWO
     R"(,"jobs":[{"id":"a",$a},{"id":"b",$b}],"placements":[
        {"job_id":"a","resource_id":"n1","start_s":0},
        {"job_id":"b","resource_id":"n2","start_s":0}]})",
     "/jobs/0", "/jobs/1", "estimate_s", true, ""},
    {"evaluation of a schedule", "/v1/evaluations",
     R"({"kind":"workflow","snapshot":)" TWO
     R"(,"workflow":{"id":"w","tasks":[{"id":"a",$a},{"id":"b",$b}]},"schedule":[
        {"task_id":"a","resource_id":"n1","start_s":0},
        {"task_id":"b","resource_id":"n2","start_s":0}]})",
     "/workflow/tasks/0", "/workflow/tasks/1", "estimate_s", true, ""},
    {"coallocation", "/v1/coallocations",
     R"({"snapshot":)" SITES
     R"(,"jobs":[{"id":"a","components":[{"id":"c","processors":1}],$a},
                 {"id":"b","components":[{"id":"c","processors":1}],$b}]})",
     "/jobs/0", "/jobs/1", "estimate_s", true},
    {"queue scan", "/v1/queue-scans",
     R"({"snapshot":)" SITES
     R"(,"queues":{"low":[{"id":"a","components":[{"id":"c","processors":1}],$a},
                          {"id":"b","components":[{"id":"c","processors":1}],$b}]}})",
     "/queues/low/0", "/queues/low/1", "estimate_s", true},
    {"times of a simulated cluster", "/v1/simulations",
     R"({"kind":"cluster","cluster":{"resources":[{"id":"n"}]},"output":{"per_job":true},
        "compare":[{"label":"easy","queue":{"algorithm":"easy"}}],
        "jobs":[{"id":"a",$a},{"id":"b",$b}]})",
     "/jobs/0", "/jobs/1", "execution_time_s", false},
    {"beliefs of a simulated cluster", "/v1/simulations",
     R"({"kind":"cluster","cluster":{"resources":[{"id":"n","number":2}]},
        "output":{"per_job":true},
        "compare":[{"label":"easy","queue":{"algorithm":"easy"}}],
        "jobs":[{"id":"c","execution_time_s":20,"time_limit_s":40},
                {"id":"a","execution_time_s":5,"time_limit_s":90,$a},
                {"id":"w","execution_time_s":5,"nodes":2,"time_limit_s":30},
                {"id":"b","execution_time_s":7,"time_limit_s":90,$b}]})",
     "/jobs/1", "/jobs/3", "estimate_s", true},
    {"simulated queue", "/v1/simulations",
     R"({"kind":"queue","policies":["easy"],"per_job":true,$m
        "cluster":{"resources":[{"id":"n","cpus":2}]},
        "jobs":[{"id":"a","run_time_s":10,"time_limit_s":100,$a},
                {"id":"b","run_time_s":20,"time_limit_s":100,"cpus":2,$b}]})",
     "/jobs/0", "/jobs/1", "requested_s", true, "", R"("estimates":"model",)"},
};

std::string with(const decision &d, const std::string &a, const std::string &b,
                 bool models)
{
    std::string body = d.body;
    auto put = [&](const char *name, const std::string &text) {
        size_t at = body.find(name);
        if (at != std::string::npos)
            body.replace(at, 2, text);
    };
    put("$a", a);
    put("$b", b);
    put("$m", models ? d.extra : "");
    return body;
}

std::string model_text(const json &model)
{
    return "\"model\":" + model.dump();
}

std::string number_text(const decision &d, double time_s)
{
    return "\"" + std::string(d.member) + "\":" + json(time_s).dump();
}

// What is decided, without what says when, and whence the times are.
json decided(const json &answer)
{
    if (answer.is_array()) {
        json list = json::array();
        for (const json &x : answer)
            list.push_back(decided(x));
        return list;
    }
    if (!answer.is_object())
        return answer;
    json out = json::object();
    for (const auto &[name, value] : answer.items())
        if (name != "decision_id" && name != "timings" && name != "run_time_basis" &&
            name != "run_times" && name != "events_executed")
            out[name] = decided(value);
    return out;
}

// The first basis of a model that it has.
json basis_in(const json &answer)
{
    if (answer.is_array())
        for (const json &x : answer)
            if (json found = basis_in(x); !found.is_null())
                return found;
    if (!answer.is_object())
        return json();
    for (const auto &[name, value] : answer.items())
        if (name == "run_time_basis")
            return value;
        else if (json found = basis_in(value); !found.is_null())
            return found;
    return json();
}

std::string warned(const json &answer, const std::string &code)
{
    for (const json &w : answer["warnings"])
        if (w.get<std::string>().rfind(code + ": ", 0) == 0)
            return w.get<std::string>();
    return "";
}
} // namespace

TEST_CASE("decisions with models are those with the models' times", "[models][api][db]")
{
    NEED_DATABASE();
    learnt m;
    m.learn();
    double a_s = m.time_of(4), b_s = m.time_of(9);
    REQUIRE(a_s < b_s);
    for (const decision &d : decisions) {
        DYNAMIC_SECTION(d.name)
        {
            json told = m.done(m.post(
                d.path, with(d, model_text(m.model(4)), model_text(m.model(9)), true)));
            json written = m.done(
                m.post(d.path, with(d, number_text(d, a_s), number_text(d, b_s), false)));
            INFO(told.dump());
            INFO(written.dump());
            CHECK(decided(told) == decided(written));
            json other = m.done(m.post(
                d.path, with(d, model_text(m.model(10)), model_text(m.model(9)), true)));
            json basis = basis_in(told);
            if (!*d.basis)
                return;
            REQUIRE(basis.is_object());
            CHECK(basis["source"] == "model");
            CHECK(basis["model_id"] == m.line);
            CHECK(basis["low_s"] < basis["high_s"]);
            CHECK(basis_in(other)["low_s"] > basis["low_s"]); // of a longer time
            CHECK(basis["level"] == 0.9);
            CHECK(basis["interval_basis"].get<std::string>() != "");
        }
    }
}

TEST_CASE("models that there are not are named, each where it is", "[models][api][db]")
{
    NEED_DATABASE();
    learnt m;
    m.learn();
    json none = {{"model_id", "nope"}},
         other = {{"model_id", "nope"}, {"problem_size", 3}};
    for (const decision &d : decisions) {
        DYNAMIC_SECTION(d.name)
        {
            json refused = m.done(
                m.post(d.path, with(d, model_text(none), model_text(other), true)), 422);
            INFO(refused.dump());
            std::set<std::string> places;
            for (const json &e : refused["errors"])
                if (e["code"] == "unknown_id")
                    places.insert(e["pointer"].get<std::string>());
            CHECK(places == std::set<std::string>{std::string(d.a) + "/model/model_id",
                                                  std::string(d.b) + "/model/model_id"});
        }
    }
}

TEST_CASE("a model that has no answer, and what a question lacks, are said",
          "[models][api][db]")
{
    NEED_DATABASE();
    learnt m;
    m.learn();
    for (const decision &d : decisions) {
        DYNAMIC_SECTION(d.name)
        {
            std::string b = model_text(m.model(9));
            api_reply r =
                m.post(d.path, with(d, model_text({{"model_id", m.empty}}), b, true));
            if (d.takes_silence) {
                json answer = m.done(r);
                INFO(answer.dump());
                std::string said = warned(answer, "model_no_answer");
                CHECK(said.find("of 1 ") != std::string::npos);
                CHECK(said.find(std::string(d.a) + "/model") != std::string::npos);
            } else {
                CHECK(m.done(r, 422)["errors"][0]["pointer"] ==
                      std::string(d.a) + "/" + d.member);
            }
            json lacking = m.done(m.post(
                d.path, with(d, model_text({{"application_id", m.app}}), b, true)));
            INFO(lacking.dump());
            std::string said = warned(lacking, "inputs_missing");
            CHECK(said.find("1 ") != std::string::npos);
            CHECK(said.find(std::string(d.a) + "/model") != std::string::npos);
            json full = m.done(m.post(
                d.path,
                with(d, model_text({{"application_id", m.app}, {"problem_size", 3}}), b,
                     true)));
            CHECK(warned(full, "inputs_missing").empty());
        }
    }
}

TEST_CASE("mistakes in parameters and unknown models are told together",
          "[models][api][db]")
{
    NEED_DATABASE();
    learnt m;
    json wide = {{"model_id", "nope"}, {"parameters", json::object()}};
    for (int i = 0; i < 65; i++)
        wide["parameters"]["p" + std::to_string(i)] = i;
    json refused =
        m.done(m.post("/v1/placements",
                      json{{"snapshot", json::parse(TWO)},
                           {"jobs",
                            {{{"id", "a"}, {"model", wide}},
                             {{"id", "b"}, {"model", {{"model_id", "none"}}}}}}}
                          .dump()),
               422);
    INFO(refused.dump());
    std::set<std::string> places;
    for (const json &e : refused["errors"])
        places.insert(e["pointer"].get<std::string>());
    CHECK(places == std::set<std::string>{"/jobs/0/model/parameters/p9",
                                          "/jobs/0/model/model_id",
                                          "/jobs/1/model/model_id"});
}

TEST_CASE("a plan of phases says how far their models can be trusted",
          "[models][plan][parallel][api][db]")
{
    NEED_DATABASE();
    learnt m;
    m.learn();
    const json site = json::parse(R"({"sites":[{"id":"A",
        "resources":[{"id":"m0","cpu_available_ratio":0.9}],
        "links":{"form":"default_with_overrides"}}]})");
    auto plan = [&](const std::string &model, double size, int status) {
        json phase = {{"phase", 1}, {"model_id", model}};
        json one = {{"id", "a"},
                    {"phases", 1},
                    {"problem_size", size},
                    {"phase_models", json::array({phase})}};
        return m.done(
            m.post("/v1/rescheduling-plans",
                   json{{"snapshot", site}, {"jobs", json::array({one})}}.dump()),
            status);
    };
    json answer = plan(m.app, 5, 200), row = answer["plan"][0];
    INFO(answer.dump());
    CHECK(answer["status"] == "feasible"); // its terms only follow the model's times
    CHECK(row["run_time_low_s"] < row["predicted_s"]);
    CHECK(row["run_time_high_s"] > row["predicted_s"]);
    CHECK(row["extrapolation_ratio"] == 1);
    CHECK(row["interval_basis"] == "inside");
    CHECK(row["model_error_ratio"] > 0);
    json far = plan(m.app, 50, 200);
    CHECK(far["plan"][0]["extrapolation_ratio"] == 5);
    CHECK(far["plan"][0]["interval_basis"] == "extrapolation");

    // A model of memory has no run time to tell.
    CHECK(plan(m.app + "-memory", 5, 422)["errors"][0]["code"] == "conflict");
    json job = {{"id", "a"}, {"problem_size", 5}, {"model", {{"model_id", m.app}}}};
    auto parallel = [&](int status) {
        return m.done(
            m.post("/v1/parallel-schedules",
                   json{{"snapshot", site}, {"jobs", json::array({job})}}.dump()),
            status);
    };
    CHECK(parallel(200)["schedule"]["run_time_low_s"].get<double>() > 0);
    job["model"]["model_id"] = m.app + "-memory";
    CHECK(parallel(422)["errors"][0]["pointer"] == "/jobs/0/model/model_id");
}
