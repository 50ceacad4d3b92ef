// progress_db_test.cpp - stored reports of progress, and what finished tasks teach.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <fstream>
#include <sstream>

extern "C" {
#include "models/progress/evolution.h"
#include "service/clock.h"
#include "service/maintenance.h"
#include "service/store_progress_samples.h"
}

using nlohmann::json;

namespace
{

const char *const samples_path = "/v1/progress-samples";

// A name that no other run has used.
std::string unique(const std::string &stem)
{
    static int number;

    return stem + std::to_string(getpid()) + "-" + std::to_string(number++) + "-" +
           std::to_string(clock_wall_s());
}

json answer_of(const api_reply &r, int status)
{
    INFO(r.body.substr(0, 1500));
    REQUIRE(r.status == status);
    return r.json();
}

json report(const std::string &task, const std::string &application, double work,
            double estimate)
{
    return {{"task_id", task},
            {"application_id", application},
            {"elapsed_s", work},
            {"progress_pct", std::min(100.0, 100 * work / estimate)},
            {"work_done_ref_s", work}};
}

// A task of `length` whose estimates fall, or alternate, to the end.
json task_of(const std::string &task, const std::string &application, double length,
             bool alternates)
{
    json list = json::array();
    for (int i = 1; i <= 50; i++) {
        double w = length * i / 50;
        double e = length * (1 + 0.8 * std::exp(-5 * w / length));
        // A long climb that the fit follows far too high; it comes down only at the end.
        if (alternates)
            e = i < 45 ? length * (0.95 + 0.3 * (1 - std::exp(-1.2 * w / length)))
                       : length;
        list.push_back(report(task, application, w, i == 50 ? w : std::max(e, w)));
    }
    return list;
}

json known(api &service, const std::string &application)
{
    json page = answer_of(
        service.get("/v1/progress-applications?application_id=" + application), 200);
    CHECK_FALSE(page.contains("next_page_token"));
    REQUIRE(page["items"].size() == 1);
    CHECK(page["items"][0]["application_id"] == application);
    return page["items"][0];
}

json predict(api &service, const json &more)
{
    json body = {{"kind", "remaining_time"}};
    body.update(more);
    return answer_of(service.post("/v1/predictions", body.dump()), 200);
}

} // namespace

TEST_CASE("reports are stored, read in pages, and predicted from", "[progress][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string task = unique("task"), application = unique("app");
    const double estimates[] = {1556, 1344, 1251, 1142, 1123, 1063, 1069, 1018};
    json list = json::array();
    for (int i = 0; i < 8; i++)
        list.push_back(report(task, application, 100 * (i + 1), estimates[i]));
    json first = list[0];
    list.erase(0);
    CHECK(answer_of(service.post(samples_path, first.dump()), 201)["stored"] == 1);
    CHECK(answer_of(service.post(samples_path, list.dump()), 201)["stored"] == 7);

    std::string target = std::string(samples_path) + "?page_size=5&task_id=" + task;
    json page = answer_of(service.get(target), 200);
    REQUIRE(page["items"].size() == 5);
    CHECK(page["items"][0]["extrapolated_ref_s"].get<double>() == Approx(1556));
    page = answer_of(
        service.get(target + "&page_token=" + page["next_page_token"].get<std::string>()),
        200);
    CHECK(page["items"].size() == 3);

    json r = predict(service, {{"task_id", task}, {"store", true}});
    CHECK(r["estimate_ref_s"].get<double>() == Approx(1010.001).epsilon(1e-6));
    CHECK(r["application_id"] == application);
    CHECK(r["sample_count"] == 8);
    CHECK_FALSE(r.contains("application"));
    // More comes; the decision is repeated from what it had looked up.
    service.post(samples_path, report(task, application, 900, 2000).dump());
    std::string replay =
        "/v1/decisions/" + r["decision_id"].get<std::string>() + "/replay";
    json again = answer_of(service.post(replay, ""), 200);
    INFO(again.dump());
    CHECK(again["identical"] == true);
    CHECK(predict(service, {{"task_id", task}})["sample_count"] == 9);
    // Nothing new: the last one stands.
    CHECK(predict(service, {{"task_id", task},
                            {"previous",
                             {{"sample_count", 9},
                              {"estimate_ref_s", 1010}}}})["source"] == "cached");
    r = predict(service, {{"task_id", unique("other")}});
    CHECK(r["status"] == "infeasible");
    // A report of the same time that comes later counts.
    service.post(samples_path, report(task, application, 900, 900).dump());
    r = predict(service, {{"task_id", task}});
    CHECK(r["source"] == "finished");
    CHECK(r["estimate_ref_s"] == 900);
}

TEST_CASE("a score of what has been corrected meanwhile is not kept", "[progress][db]")
{
    NEED_DATABASE();
    store_fixture x;
    api service(test_database_url());
    std::string task = unique("task");
    answer_of(service.post(samples_path, report(task, unique("app"), 10, 100).dump()),
              201);
    auto sql = [&](const std::string &text) {
        REQUIRE(db_execute(x.s, text.c_str(), &x.err) == OK);
    };
    auto scored = [&] {
        return query_number(x.s, x.a,
                            ("SELECT count(*) FROM progress_task WHERE scored_at IS NOT"
                             " NULL AND task_id = '" +
                             task + "'")
                                .c_str()) > 0;
    };
    const char *tenant = "default";
    auto read = [&] {
        store_progress_task t{};
        bool found = false;
        REQUIRE(store_progress_task_read(x.s, tenant, task.c_str(), &found, &t, x.a,
                                         &x.err) == OK);
        REQUIRE(found);
        return t;
    };
    progress_score score{};
    sql("UPDATE progress_task SET run_time_s = 100 WHERE task_id = '" + task + "'");
    store_progress_task looked_at = read();
    sql("UPDATE progress_task SET run_time_s = 200, scored_at = NULL WHERE task_id = '" +
        task + "'");
    REQUIRE(store_progress_score(x.s, tenant, &looked_at, &score, &x.err) == OK);
    CHECK_FALSE(scored());
    looked_at = read();
    REQUIRE(store_progress_score(x.s, tenant, &looked_at, &score, &x.err) == OK);
    CHECK(scored());
}

TEST_CASE("NDJSON reports: good lines are stored", "[progress][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string task = unique("task");
    std::string lines = report(task, "a", 10, 100).dump() + "\n{\"task_id\":\"x\"}\n" +
                        R"({"task_id":"x","elapsed_s":1,"progress_pct":101})" + "\n" +
                        report(task, "a", 20, 100).dump() + "\n";
    api_reply r = service.call("POST", samples_path, lines,
                               {{"content_type", "application/x-ndjson"}});
    json a = answer_of(r, 200);
    CHECK(a["stored"] == 2);
    CHECK(a["refused"] == 2);
    CHECK(a["errors"][0]["line"] == 2);
    CHECK(a["errors"].back()["pointer"] == "/progress_pct");
    CHECK(predict(service, {{"task_id", task}})["sample_count"] == 2);
}

TEST_CASE("a report under a former name is stored, and the name of today told",
          "[progress][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string task = unique("task");
    json sent = {{"task_id", task}, {"elapsed_s", 100}, {"progress_pct", 6.4}};
    json told = answer_of(service.post(samples_path, sent.dump()), 201);

    CHECK(told["warnings"] ==
          json::array({"renamed: 'progress_pct' is now 'progress_ratio'"}));
    json stored = answer_of(service.get(std::string(samples_path) + "?task_id=" + task),
                            200)["items"][0];
    CHECK(stored["progress_ratio"] == 0.064);
    json again = {{"task_id", task}, {"elapsed_s", 200}, {"progress_ratio", 0.128}};
    CHECK_FALSE(
        answer_of(service.post(samples_path, again.dump()), 201).contains("warnings"));
}

TEST_CASE("the example of reports is stored", "[progress][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::ifstream file(GRIDPLAN_SOURCE_DIR "/openapi/examples/progress-report.json");
    std::stringstream text;
    text << file.rdbuf();
    CHECK(answer_of(service.post(samples_path, text.str()), 201)["stored"] == 3);
    CHECK(predict(service, {{"task_id", "sweep-4"}})["source"] == "finished");
}

TEST_CASE("what applications taught is listed by name, in pages", "[progress][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string tag = unique("list");
    for (const char *name : {"-c", "-a", "-b"})
        for (int i = 0; i < 2; i++)
            answer_of(
                service.post(
                    samples_path,
                    task_of(unique("task"), tag + name, 1000 + 100 * i, false).dump()),
                201);
    std::vector<std::string> seen;
    std::string token;
    do {
        json page = answer_of(service.get("/v1/progress-applications?page_size=1" +
                                          (token.empty() ? "" : "&page_token=" + token)),
                              200);
        REQUIRE(page["items"].size() == 1);
        CHECK(page["items"][0]["task_count"] >= 1);
        std::string name = page["items"][0]["application_id"];
        if (name.rfind(tag, 0) == 0) {
            seen.push_back(name.substr(tag.size()));
            CHECK(page["items"][0]["task_count"] == 2);
        }
        token = page.value("next_page_token", "");
    } while (!token.empty());
    CHECK(seen == std::vector<std::string>{"-a", "-b", "-c"});
    json all = answer_of(service.get("/v1/progress-applications"), 200);
    CHECK(all["items"].size() >= 3);
    CHECK(service.get("/v1/progress-applications?page_token=x").status == 422);
}

TEST_CASE("finished tasks teach: shape, ratio of first reports, errors", "[progress][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string application = unique("app");
    CHECK(answer_of(
              service.get("/v1/progress-applications?application_id=" + application), 200)
              .at("items")
              .empty());
    for (int i = 0; i < 6; i++)
        answer_of(service.post(
                      samples_path,
                      task_of(unique("task"), application, 1000 + 100 * i, false).dump()),
                  201);
    json k = known(service, application);
    CHECK(k["task_count"] == 6);
    CHECK(k["policy"] == "fit");
    CHECK(k["psi1_task_count"] == 6);
    CHECK(k["psi1_amplitude_ratio"].get<double>() == Approx(0.8).epsilon(0.05));
    CHECK(k["psi1_decay_ratio"].get<double>() == Approx(5).epsilon(0.05));
    CHECK(k["fit_error_50_ratio"] < k["extrapolation_error_50_ratio"]);
    // One report of 2 %: its estimate is known to be too large by that much.
    std::string task = unique("task");
    service.post(samples_path, report(task, application, 20, 1000).dump());
    json r = predict(service, {{"task_id", task}});
    CHECK(r["source"] == "single_sample");
    CHECK(r["flags"] == json({"corrected"}));
    CHECK(r["estimate_ref_s"].get<double>() ==
          Approx(1000 / k["estimate_05_ratio"].get<double>()));
    CHECK(r["application"]["task_count"] == 6);
    // The simplex starts from the usual shape, and finds the limit.
    json inline_samples = json::array();
    for (int i = 1; i <= 12; i++)
        inline_samples.push_back(
            {{"elapsed_s", 10 * i},
             {"progress_pct", 1.0 * i / (1 + 0.8 * std::exp(-0.05 * i))}});
    r = predict(service, {{"samples", inline_samples},
                          {"application_id", application},
                          {"algorithm", "simplex"},
                          {"options", {{"k_min", 0.1}}}});
    CHECK(r["estimate_ref_s"].get<double>() == Approx(1000).epsilon(1e-3));
}

TEST_CASE("intervals rest on finished tasks once there are 20", "[progress][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string application = unique("app"), running = unique("runs");
    json list = json::array(), interval;

    for (int i = 1; i <= 20; i++)
        list.push_back(
            report(running, application, 10 * i, 1000 + 300 * std::exp(-i / 5.0)));
    answer_of(service.post(samples_path, list.dump()), 201);
    interval = predict(service, {{"task_id", running}})["interval"];
    CHECK_FALSE(interval.contains("task_count"));
    for (int t = 0; t < 55; t++) {
        answer_of(service.post(
                      samples_path,
                      task_of(unique("task"), application, 800 + 10 * t, false).dump()),
                  201);
        if (t == 10)
            CHECK_FALSE(predict(service, {{"task_id", running}})["interval"].contains(
                "task_count"));
    }
    // What waits is scored with the next reports, as time allows.
    for (int i = 0; i < 100 && known(service, application)["task_count"] < 55; i++)
        service.post(samples_path, report(unique("more"), application, 10, 1000).dump());
    json r = predict(service, {{"task_id", running}, {"store", true}});
    INFO(r.dump());
    CHECK(r["interval"]["task_count"] == 55);
    CHECK(r["interval"]["level"] == 0.9);
    CHECK(r["interval"]["low_ref_s"] <= r["estimate_ref_s"]);
    CHECK(r["interval"]["high_ref_s"] >= r["estimate_ref_s"]);
    // Reports of the request, of the same application, are told likewise.
    json own = predict(service, {{"application_id", application},
                                 {"samples",
                                  {{{"elapsed_s", 100}, {"progress_pct", 10}},
                                   {{"elapsed_s", 150}, {"progress_pct", 15}},
                                   {{"elapsed_s", 180}, {"progress_pct", 18}}}}});
    CHECK(own["interval"]["task_count"] == 55);
    // The other rules of intervals are as they are named.
    own = predict(service, {{"task_id", running}, {"options", {{"interval", "spec"}}}});
    CHECK_FALSE(own["interval"].contains("task_count"));
    // Further tasks do not change what was said.
    answer_of(service.post(samples_path,
                           task_of(unique("task"), application, 5000, false).dump()),
              201);
    std::string id = r["decision_id"];
    CHECK(answer_of(service.post("/v1/decisions/" + id + "/replay", ""),
                    200)["identical"] == true);
}

TEST_CASE("an application whose fits lose is extrapolated", "[progress][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string application = unique("app"), task = unique("task");
    json all = json::array();
    for (int i = 0; i < 31; i++)
        for (const json &s : task_of(unique("task"), application, 1000 + i, true))
            all.push_back(s);
    answer_of(service.post(samples_path, all.dump()), 201);
    json k;
    for (int i = 0; i < 50; i++) { // some are scored at a time
        k = known(service, application);
        if (k["task_count"] == 31)
            break;
    }
    REQUIRE(k["task_count"] == 31);
    INFO(k.dump());
    CHECK(k["fit_error_50_ratio"] > k["extrapolation_error_50_ratio"]);
    CHECK(k["policy"] == "extrapolation");
    json running = task_of(task, application, 1000, true);
    for (size_t i = 0; i < 20; i++)
        service.post(samples_path, running[i].dump());
    json r = predict(service, {{"task_id", task}});
    CHECK(r["source"] == "policy");
    CHECK(r["estimate_ref_s"] == r["extrapolated_ref_s"]);
    CHECK(r["interval"]["low_ref_s"] < r["estimate_ref_s"]);
}

TEST_CASE("an execution of the task's name ends it", "[progress][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string application = unique("app"), task = unique("task");
    json list = task_of(task, application, 1000, false);
    for (int i = 0; i < 10; i++)
        list.erase(list.size() - 1); // the last report is of 80 %
    for (auto &s : list) {
        s.erase("application_id");
        s.erase("work_done_ref_s");
        s["mips_total"] = 2;
    }
    answer_of(service.post(samples_path, list.dump()), 201);
    json execution = {{"execution_id", task},
                      {"application_id", application},
                      {"started_at", "2026-11-20T10:00:00Z"},
                      {"run_time_s", 1000}};
    answer_of(service.post("/v1/executions", execution.dump()), 201);
    json k = known(service, application);
    CHECK(k["task_count"] == 1);
    // 2000 of work at twice the speed, and so the estimates: E over final as before.
    CHECK(k["estimate_50_ratio"].get<double>() < 1.1);
    CHECK(k["estimate_50_ratio"].get<double>() > 1);
}

TEST_CASE("old reports and their tasks are deleted", "[progress][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string application = unique("app"), task = unique("task");
    answer_of(service.post(samples_path, task_of(task, application, 1000, false).dump()),
              201);
    known(service, application);
    maintenance_options options{};
    error err{};
    options.progress_sample_kept_days = 1;
    options.months_ahead = 1;
    REQUIRE(maintenance_run(service.handle()->db, &options, clock_wall_s(), &err) == OK);
    CHECK(known(service, application)["task_count"] == 1);
    REQUIRE(maintenance_run(service.handle()->db, &options, clock_wall_s() + 70 * 86400.0,
                            &err) == OK);
    CHECK(answer_of(
              service.get("/v1/progress-applications?application_id=" + application), 200)
              .at("items")
              .empty());
    json page =
        answer_of(service.get(std::string(samples_path) + "?task_id=" + task), 200);
    CHECK(page["items"].empty());
}

TEST_CASE("decisions about workflows use the stored reports of running tasks",
          "[progress][workflow][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string task = unique("task");
    json list = json::array({report(task, "a", 100, 1000), report(task, "a", 200, 800)});
    answer_of(service.post(samples_path, list.dump()), 201);
    json running = {{"id", task},          {"estimate_ref_s", 5000},
                    {"status", "running"}, {"resource_id", "p0"},
                    {"start_s", -300},     {"depends_on", json::array()}};
    json body = {{"snapshot", {{"resources", {{{"id", "p0"}}, {{"id", "p1"}}}}}},
                 {"workflow", {{"tasks", {running}}}},
                 {"store", true}};
    std::string decided;
    for (const char *name : {"auto", "heft"}) {
        body["algorithm"] = name;
        json j = answer_of(service.post("/v1/workflow-schedules", body.dump()), 200);
        // 800 s in all, 200 done at the last report and 100 since.
        CHECK(j["schedule"][0]["finish_s"].get<double>() == Approx(500));
        CHECK(j["schedule"][0]["remaining_source"] == "stored");
        decided = j["decision_id"];
    }
    // Later reports change nothing of what was decided.
    answer_of(service.post(samples_path, report(task, "a", 250, 400).dump()), 201);
    json again =
        answer_of(service.post("/v1/decisions/" + decided + "/replay", "{}"), 200);
    CHECK(again.dump().find("\"finish_s\":500") != std::string::npos);
    body["algorithm"] = "balanced";
    json j = answer_of(service.post("/v1/workflow-schedules", body.dump()), 200);
    CHECK(j["estimates"][0]["estimate_ref_s"].get<double>() == Approx(400));
    CHECK(j["estimates"][0]["source"] == "extrapolation");
    CHECK(j["estimates"][0]["remaining_source"] == "stored");
    // A task may have another name there.
    json other = body;
    other["workflow"]["tasks"][0]["id"] = "x";
    other["workflow"]["tasks"][0]["task_id"] = task;
    j = answer_of(service.post("/v1/workflow-schedules", other.dump()), 200);
    CHECK(j["estimates"][0]["task_id"] == "x");
    CHECK(j["estimates"][0]["remaining_source"] == "stored");
    other["workflow"]["tasks"][0]["progress_samples"] = {
        {{"elapsed_s", 100}, {"progress_ratio", 0.5}}};
    j = answer_of(service.post("/v1/workflow-schedules", other.dump()), 200);
    CHECK(j["estimates"][0]["remaining_source"] == "progress");
    body["progress"] = "given";
    body["algorithm"] = "heft";
    j = answer_of(service.post("/v1/workflow-schedules", body.dump()), 200);
    CHECK(j["schedule"][0]["finish_s"].get<double>() == Approx(4700));
    body["progress"] = "ignore";
    body["workflow"]["tasks"][0]["progress_pct"] = 50;
    j = answer_of(service.post("/v1/workflow-schedules", body.dump()), 200);
    CHECK(j["schedule"][0]["finish_s"].get<double>() == Approx(4700));
}
