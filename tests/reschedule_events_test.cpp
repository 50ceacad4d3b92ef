// reschedule_events_test.cpp - moves that are reported, what plans learn from them, and
// plans from stored models, snapshots and queue waits.
#include "tests/api.hpp"
#include "tests/database.hpp"
#include "tests/model_support.hpp"

#include <set>

extern "C" {
#include "service/store_reschedule.h"
}

using nlohmann::json;

namespace
{

const char *const events = "/v1/reschedule-events";

json move_of(const std::string &run, const std::string &from, const std::string &to,
             double cost_s, double at_s = 1700000000)
{
    return {{"run_id", run},
            {"from_site_id", from},
            {"to_site_id", to},
            {"phase", 3},
            {"checkpoint_bytes", 1e9},
            {"cost_s", cost_s},
            {"predicted_saving_s", -5},
            {"moved_at", at_s}};
}

json answer_of(api_reply r, int status)
{
    INFO(r.body.substr(0, 1500));
    REQUIRE(r.status == status);
    return r.json();
}

json post(api &service, const char *path, const json &body, int status = 200)
{
    return answer_of(service.post(path, body.dump()), status);
}

json replayed(api &service, const json &answer)
{
    std::string id = answer["decision_id"];
    return answer_of(service.post("/v1/decisions/" + id + "/replay", ""), 200);
}

bool has_warning(const json &answer, const std::string &name)
{
    for (const json &w : answer["warnings"])
        if (w.get<std::string>().rfind(name, 0) == 0)
            return true;
    return false;
}

// A site of machines that are all alike.
json site_of(const std::string &id, const std::string &prefix, size_t machines,
             double cpu)
{
    json resources = json::array();
    for (size_t i = 0; i < machines; i++)
        resources.push_back(
            {{"id", prefix + std::to_string(i)}, {"cpu_available_ratio", cpu}});
    return {{"id", id},
            {"resources", resources},
            {"links", {{"form", "default_with_overrides"}, {"default_mbps", 40}}}};
}

// Phases of so many seconds on one free machine; P machines take 1 / P of it.
json plan_of(const std::string &here, const std::string &there,
             const std::vector<double> &seconds)
{
    json phases = json::array();
    for (size_t k = 0; k < seconds.size(); k++)
        phases.push_back(
            {{"phase", k + 1},
             {"terms", {{{"comp_coefficient_s", seconds[k]}, {"f_pcomp_id", 2}}}}});
    return {{"snapshot",
             {{"sites", {site_of(here, "h", 4, 0.3), site_of(there, "t", 4, 1)}}}},
            {"jobs",
             {{{"id", "j"},
               {"phases", seconds.size()},
               {"phase_models", phases},
               {"current",
                {{"site_id", here}, {"resource_ids", {"h0", "h1", "h2", "h3"}}}}}}},
            {"algorithm", "incremental"},
            {"options", {{"min_interval_s", 0}}},
            {"store", true}};
}

// Executions of a phase (below 0: of whole runs), `factor` times as long as known.
void store_runs(api &service, const std::string &app, int phase, double factor)
{
    json list = executions_of(known_runs(), app);
    for (json &e : list) {
        e["run_time_s"] = e["run_time_s"].get<double>() * factor;
        if (phase >= 0)
            e["phase_index"] = phase;
    }
    post(service, "/v1/executions", list, 201);
}

std::string train(api &service, const std::string &app, const json &site, int phase)
{
    std::string id = app + "-" + std::to_string(phase);
    json make = {{"id", id},
                 {"application_id", app},
                 {"site_id", site},
                 {"kind", "comprehensive"}};
    if (phase >= 0)
        make["phase_index"] = phase;
    post(service, "/v1/models", make, 201);
    answer_of(service.post("/v1/models/" + id + "/train", ""), 200);
    return id;
}

} // namespace

TEST_CASE("moves are stored once and listed in pages", "[api][reschedule][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string run = unique_name("run"), a = unique_name("a"), b = unique_name("b");

    json list = {move_of(run, a, b, 10, 1700000000), move_of(run, b, a, 20, 1700000100),
                 move_of(run, a, a, 30, 1700000200)};
    list[2]["phase"] = nullptr;
    list[2].erase("checkpoint_bytes");
    list[2].erase("predicted_saving_s");
    CHECK(post(service, events, list, 201)["stored"] == 3);
    json again = post(service, events, list[0], 200);
    CHECK(again["stored"] == 0);
    CHECK(again["duplicates"] == 1);

    std::string all = std::string(events) + "?run_id=" + run;
    json page = answer_of(service.get(all + "&page_size=2"), 200);
    REQUIRE(page["items"].size() == 2);
    json first = page["items"][0];
    CHECK(first["run_id"] == run);
    CHECK(first["from_site_id"] == a);
    CHECK(first["to_site_id"] == b);
    CHECK(first["phase"] == 3);
    CHECK(first["checkpoint_bytes"] == 1e9);
    CHECK(first["cost_s"] == 10);
    CHECK(first["predicted_saving_s"] == -5);
    CHECK(first["moved_at"] == "2023-11-14T22:13:20Z");
    std::string token = page["next_page_token"];
    page = answer_of(service.get(all + "&page_size=2&page_token=" + token), 200);
    REQUIRE(page["items"].size() == 1);
    CHECK(page["items"][0]["cost_s"] == 30);
    CHECK(page["items"][0].count("phase") == 0);
    CHECK(page.count("next_page_token") == 0);

    auto costs = [&](const std::string &more) {
        std::vector<double> found;
        json got = answer_of(service.get(all + more), 200);
        for (const json &e : got["items"])
            found.push_back(e["cost_s"]);
        return found;
    };
    CHECK(costs("&order=desc") == std::vector<double>{30, 20, 10});
    CHECK(costs("&from_site_id=" + a) == std::vector<double>{10, 30});
    CHECK(costs("&to_site_id=" + b) == std::vector<double>{10});
    CHECK(costs("&from=1700000100&to=1700000200") == std::vector<double>{20});
    page = answer_of(service.get(std::string(events) + "?from_site_id=" + a), 200);
    CHECK(page["items"].size() == 2);
}

TEST_CASE("moves that make no sense are refused", "[api][reschedule][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string run = unique_name("run");

    struct {
        const char *member;
        json value;
    } cases[] = {
        {"run_id", nullptr},
        {"run_id", ""},
        {"from_site_id", nullptr},
        {"to_site_id", 5},
        {"cost_s", nullptr},
        {"cost_s", -1},
        {"cost_s", 1e308},
        {"phase", 0},
        {"phase", 1.5},
        {"checkpoint_bytes", -1},
        {"moved_at", nullptr},
        {"moved_at", "yesterday"},
        {"moved_at", 4e9},
        {"predicted_saving_s", "x"},
        {"unknown", 1},
    };
    for (auto &c : cases) {
        CAPTURE(c.member, c.value.dump());
        json wrong = move_of(run, "a", "b", 10);
        wrong[c.member] = c.value;
        api_reply r = service.post(events, wrong.dump());
        CHECK(r.status == 422);
        CHECK(r.pointers() == std::vector<std::string>{"/" + std::string(c.member)});
    }
    CHECK(service.post(events, "[]").status < 500);
    CHECK(service.post(events, "{").status == 400);

    // Of NDJSON the good lines are stored.
    std::string lines = move_of(run, run, "b", 10).dump() + "\n{\"run_id\":\"x\"}\n" +
                        move_of(run, run, "b", 20, 1700000001).dump() + "\n";
    json got = answer_of(
        service.call("POST", events, lines, {{"content_type", "application/x-ndjson"}}),
        200);
    CHECK(got["stored"] == 2);
    CHECK(got["refused"] == 1);
    CHECK(got["errors"][0]["line"] == 2);
    CHECK(api().post(events, move_of(run, "a", "b", 1).dump()).status == 503);
}

TEST_CASE("costs of moves are running means of each pair and tenant", "[reschedule][db]")
{
    NEED_DATABASE();
    store_fixture f;
    error &err = f.err;
    auto store = [&](const char *tenant, const char *from, const char *to, double cost_s,
                     double at_s) {
        reschedule_event e{"run", from, to, NAN, NAN, cost_s, NAN, at_s};
        size_t stored;
        REQUIRE_OK(
            record_add(f.s, tenant, &reschedule_event_record, &e, 1, f.a, &err, &stored));
        return stored;
    };
    const store_move_cost *list;
    size_t count;

    CHECK(store(f.tenant, "a", "b", 10, 1) == 1);
    CHECK(store(f.tenant, "a", "b", 40, 2) == 1);
    CHECK(store(f.tenant, "a", "b", 40, 2) == 0); // stored before: does not count
    CHECK(store(f.tenant, "b", "a", 7, 3) == 1);
    CHECK(store(f.tenant, "a", "a", 5, 4) == 1);
    CHECK(store(f.tenant, "c", "a", 6, 5) == 1);
    CHECK(store("of another tenant", "b", "b", 6, 1) <= 1);
    reschedule_event several[] = {{"other", "a", "b", 1, 2, 100, 3, 1},
                                  {"other", "a", "b", 1, 2, 10, 3, 2},
                                  {"other", "a", "b", 1, 2, 100, 3, 1}}; // twice
    size_t stored;
    REQUIRE_OK(record_add(f.s, f.tenant, &reschedule_event_record, several, 3, f.a, &err,
                          &stored));
    CHECK(stored == 2);
    REQUIRE_OK(
        store_move_costs(f.s, f.tenant, "[\"b\",\"a\",\"x\"]", &list, &count, f.a, &err));
    std::map<std::pair<uint64_t, uint64_t>, std::pair<uint64_t, double>> found;
    for (size_t i = 0; i < count; i++)
        found[{list[i].from, list[i].to}] = {list[i].event_count, list[i].mean_cost_s};
    CHECK(found.size() == 3);
    CHECK(found[{1, 0}].first == 4);
    CHECK(found[{1, 0}].second == Approx(40).epsilon(1e-12)); // 10, 40, 100, 10
    CHECK(found[{0, 1}] == std::make_pair(uint64_t{1}, 7.0));
    CHECK(found[{1, 1}] == std::make_pair(uint64_t{1}, 5.0));
}

TEST_CASE("reported moves are the costs of the next plan", "[api][reschedule][plan][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string here = unique_name("here"), there = unique_name("there");
    json body = plan_of(here, there, {200, 100});

    // 300 s at 1.2 machines' worth, or at 4: 175 s would be saved, moving is taken to
    // cost 300 s.
    json stays = post(service, "/v1/rescheduling-plans", body);
    CHECK(stays["plan"][0]["action"] == "keep");
    CHECK(stays["plan"][0].count("reschedule_cost_basis") == 0);
    body["jobs"][0]["current"]["resource_ids"] = {"gone"};
    json assumed = post(service, "/v1/rescheduling-plans", body);
    CHECK(assumed["plan"][0]["action"] == "intra_site"); // 120 s
    CHECK(assumed["plan"][0]["reschedule_cost_basis"] == "default");
    CHECK(assumed["plan"][0].count("reschedule_cost_samples") == 0);
    body["jobs"][0]["current"]["resource_ids"] = {"h0", "h1", "h2", "h3"};

    post(service, events,
         {move_of("r1", here, there, 20), move_of("r2", here, there, 40)}, 201);
    json moves = post(service, "/v1/rescheduling-plans", body);
    CHECK(moves["plan"][0]["action"] == "inter_site");
    CHECK(moves["plan"][0]["reschedule_cost_s"] == 30);
    CHECK(moves["plan"][0]["reschedule_cost_basis"] == "learnt");
    CHECK(moves["plan"][0]["reschedule_cost_samples"] == 2);
    CHECK(moves["total_predicted_s"].get<double>() == Approx(75 + 30));

    // What is given, or can be worked out, goes before.
    body["options"]["inter_site_cost_s"] = 50;
    json given = post(service, "/v1/rescheduling-plans", body);
    CHECK(given["plan"][0]["reschedule_cost_s"] == 50);
    CHECK(given["plan"][0]["reschedule_cost_basis"] == "fixed");
    CHECK(given["plan"][0].count("reschedule_cost_samples") == 0);
    body["options"].erase("inter_site_cost_s");
    body["jobs"][0]["checkpoint_bytes"] = 1e7;
    for (json &s : body["snapshot"]["sites"])
        s["checkpoint_bandwidth_mbps"] = 80;
    body["snapshot"]["routes"] = {
        {{"from_site_id", here}, {"to_site_id", there}, {"bandwidth_mbps", 10}}};
    json worked = post(service, "/v1/rescheduling-plans", body);
    CHECK(worked["plan"][0]["reschedule_cost_s"].get<double>() == Approx(1 + 8 + 1));
    CHECK(worked["plan"][0]["reschedule_cost_basis"] == "modelled");

    // Later moves do not change a replay; a move now asks for the same costs.
    post(service, events, move_of("r3", here, there, 3000), 201);
    for (const json &made : {stays, assumed, moves, given, worked})
        CHECK(replayed(service, made)["identical"] == true);
    json run = plan_of(here, there, {200, 100});
    run["algorithm"] = "multi_phase";
    run["jobs"][0]["phases_done"] = 0;
    run["jobs"][0]["stop_phase"] = nullptr;
    run["jobs"][0]["current"]["resource_ids"] = {"gone"};
    json forced = post(service, "/v1/reschedules", run);
    CHECK(forced["decision"] == "migrate");
    CHECK(forced["target"]["reschedule_cost_basis"] == "default");
    post(service, events, move_of("r4", here, here, 77), 201);
    forced = post(service, "/v1/reschedules", run);
    CHECK(forced["target"]["reschedule_cost_s"] == 77);
    CHECK(forced["target"]["reschedule_cost_basis"] == "learnt");
    CHECK(forced["target"]["reschedule_cost_samples"] == 1);
    CHECK(replayed(service, forced)["identical"] == true);
}

TEST_CASE("from executions to models, schedules, plans and costs",
          "[api][reschedule][plan][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string app = unique_name("app"), there = unique_name("there");

    // A whole run takes 1.5 times the known time: its two phases 1 and 0.5 times.
    store_runs(service, app, -1, 1.5);
    store_runs(service, app, 0, 1);
    store_runs(service, app, 1, 0.5);
    train(service, app, "here", -1);
    std::string one = train(service, app, "here", 0),
                two = train(service, app, "here", 1);

    double now_s = known_time_s(1200, 4, 0.3, 40), then_s = known_time_s(1200, 4, 1, 40);
    json schedule = post(
        service, "/v1/parallel-schedules",
        {{"snapshot", {{"sites", {site_of("here", "h", 4, 0.3)}}}},
         {"jobs", {{{"id", "j"}, {"application_id", app}, {"problem_size", 1200}}}}});
    CHECK(schedule["schedule"]["predicted_execution_s"].get<double>() ==
          Approx(1.5 * now_s).epsilon(1e-6));

    // By application: there are no models for the other site, which is left out.
    json body = plan_of("here", there, {1, 1});
    json &job = body["jobs"][0];
    job.erase("phase_models");
    job["application_id"] = app;
    job["problem_size"] = 1200;
    json by_app = post(service, "/v1/rescheduling-plans", body);
    CHECK(by_app["plan"][0]["site_id"] == "here");
    CHECK(by_app["plan"][0]["action"] == "keep");
    CHECK(by_app["total_predicted_s"].get<double>() ==
          Approx(schedule["schedule"]["predicted_execution_s"]).epsilon(1e-6));
    CHECK(has_warning(by_app, "site_left_out"));
    REQUIRE(by_app["models"].size() == 2);
    CHECK(by_app["models"][0]["model_id"] == one);
    CHECK(by_app["models"][1]["model_id"] == two);
    CHECK(by_app["models"][1]["phase"] == 2);
    CHECK(by_app["models"][1]["model_version"] == 1);

    // By name, for all sites; a site scales them by its factors.
    job["phase_models"] = {{{"phase", 1}, {"model_id", one}},
                           {{"phase", 2}, {"model_id", two}}};
    json stays = post(service, "/v1/rescheduling-plans", body);
    CHECK(stays["warnings"].empty());
    CHECK(stays["plan"][0]["action"] == "keep");
    CHECK(stays["total_predicted_s"].get<double>() == Approx(1.5 * now_s).epsilon(1e-6));

    // What moves really cost changes the next plan.
    post(service, events, move_of(app, "here", there, 12), 201);
    json moves = post(service, "/v1/rescheduling-plans", body);
    CHECK(moves["plan"][0]["action"] == "inter_site");
    CHECK(moves["plan"][0]["reschedule_cost_s"] == 12);
    CHECK(moves["plan"][0]["reschedule_cost_basis"] == "learnt");
    CHECK(moves["total_predicted_s"].get<double>() ==
          Approx(1.5 * then_s + 12).epsilon(1e-6));
    body["snapshot"]["sites"][1]["cpu_scaling_factor"] = 4;
    json slow = post(service, "/v1/rescheduling-plans", body);
    CHECK(slow["plan"][0]["action"] == "keep");

    // Any amount of memory is enough, or refused.
    json small = body;
    small.erase("store");
    int status = 413;
    for (size_t cap = 4096; status != 200; cap += 16384) {
        status =
            service.call("POST", "/v1/rescheduling-plans", small.dump(), {}, cap).status;
        CHECK((status == 200 || status == 413));
        REQUIRE(cap < 4000000);
    }

    // A site's own model is not scaled, and an unknown name is a mistake.
    body["snapshot"]["sites"][1]["phase_models"] = job["phase_models"];
    CHECK(post(service, "/v1/rescheduling-plans", body)["plan"][0]["action"] ==
          "inter_site");
    body["snapshot"]["sites"][1]["phase_models"][1]["model_id"] = "no-" + app;
    job["phase_models"][0]["model_id"] = "neither-" + app;
    body["snapshot"]["sites"][1]["phase_models"].erase(0);
    api_reply r = service.post("/v1/rescheduling-plans", body.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers() ==
          std::vector<std::string>{"/jobs/0/phase_models/0/model_id",
                                   "/snapshot/sites/1/phase_models/0/model_id"});

    // Replays take the models of then.
    for (const std::string &id : {one, two})
        service.call("DELETE", "/v1/models/" + id, "", {{"if_match", "*"}});
    for (const json &made : {by_app, stays, moves, slow})
        CHECK(replayed(service, made)["identical"] == true);
    CHECK(post(service, "/v1/rescheduling-plans",
               json{{"snapshot", body["snapshot"]},
                    {"jobs",
                     {{{"id", "j"},
                       {"phases", 2},
                       {"application_id", app},
                       {"problem_size", 1200}}}}},
               422)["errors"][0]["pointer"] ==
          "/snapshot/sites/1/phase_models/0/model_id");
}

TEST_CASE("a plan of a stored snapshot with the load to be expected",
          "[api][reschedule][plan][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string a = unique_name("a"), b = unique_name("b"), m = unique_name("m");
    json resources = json::array();

    for (int i = 0; i < 4; i++)
        resources.push_back({{"id", m + std::to_string(i)},
                             {"site_id", i < 2 ? a : b},
                             {"cpu_available_ratio", 0.5}});
    json network = {
        {"lan_mbps", 40},
        {"routes",
         {{{"from_site_id", a}, {"to_site_id", b}, {"bandwidth_mbps", 5}},
          {{"from_site_id", a}, {"to_site_id", "x"}, {"bandwidth_mbps", 5}}}}};
    json stored = post(
        service, "/v1/snapshots",
        {{"taken_at", 1700006000}, {"resources", resources}, {"network", network}}, 201);

    json body = plan_of(a, b, {4000, 8000});
    body["snapshot_id"] = stored["id"];
    CHECK(post(service, "/v1/rescheduling-plans", body, 422)["errors"][0]["pointer"] ==
          "/snapshot_id");
    body.erase("snapshot");
    body["jobs"][0].erase("current");
    json plain = post(service, "/v1/rescheduling-plans", body);
    CHECK(plain["plan"][0]["site_id"] == a);
    CHECK(plain["total_predicted_s"].get<double>() == Approx(12000));
    CHECK(has_warning(plain, "no_load_history"));

    json samples = json::array();
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 2; i++)
            samples.push_back({{"resource_id", m + std::to_string(i)},
                               {"observed_at", 1700000400 + 600.0 * k},
                               {"cpu_available_ratio", 0.25}});
    post(service, "/v1/load-samples", samples, 201);
    json seen = post(service, "/v1/rescheduling-plans", body);
    CHECK(seen["plan"][0]["site_id"] == b);
    CHECK(seen["warnings"].empty());
    body["options"]["use_forecast"] = false;
    CHECK(post(service, "/v1/rescheduling-plans", body)["plan"][0]["site_id"] == a);
    for (const json &made : {plain, seen})
        CHECK(replayed(service, made)["identical"] == true);
    body["snapshot_id"] = "no-" + m;
    CHECK(service.post("/v1/rescheduling-plans", body.dump()).status == 404);
}

TEST_CASE("a batch site waits as its stored executions did",
          "[api][reschedule][plan][db]")
{
    NEED_DATABASE();
    api service(test_database_url());
    std::string id = unique_name("batch"), app = unique_name("app");
    json runs = json::array();

    for (int i = 0; i < 4; i++)
        runs.push_back({{"application_id", app},
                        {"site_id", id},
                        {"started_at", 1700000000 + i},
                        {"run_time_s", 10},
                        {"processors", i < 2 ? 2 : 4},
                        {"queue_wait_s", i < 2 ? 100 + 100 * i : 5000}});
    runs.push_back(runs[0]); // says nothing of a wait
    runs[4]["started_at"] = 1700000100;
    runs[4].erase("queue_wait_s");
    post(service, "/v1/executions", runs, 201);
    json listed =
        answer_of(service.get("/v1/executions?application_id=" + app), 200)["items"];
    CHECK(listed[0]["queue_wait_s"] == 100);
    CHECK(listed[4].count("queue_wait_s") == 0);

    json site = site_of(id, "b", 4, 1);
    site["kind"] = "batch";
    json term = {{{"comp_coefficient_s", 4000}, {"f_pcomp_id", 2}}};
    json schedule = {{"snapshot", {{"sites", {site}}}},
                     {"jobs", {{{"id", "j"}, {"model", {{"terms", term}}}}}},
                     {"store", true}};
    json got = post(service, "/v1/parallel-schedules", schedule);
    CHECK(got["schedule"]["processors"] == 2);
    CHECK(got["schedule"]["predicted_queue_wait_s"] == 150);
    CHECK(got["warnings"].empty());

    json plan = {{"snapshot", {{"sites", {site}}}},
                 {"jobs",
                  {{{"id", "j"},
                    {"phases", 1},
                    {"phase_models", {{{"phase", 1}, {"terms", term}}}}}}},
                 {"algorithm", "optimal"},
                 {"store", true}};
    json planned = post(service, "/v1/rescheduling-plans", plan);
    CHECK(planned["plan"][0]["processors"] == 2);
    CHECK(planned["plan"][0]["predicted_s"].get<double>() == Approx(2000 + 150));

    // Waits of the request go before; those of the store are kept for a replay.
    plan["snapshot"]["sites"][0]["queue_wait_history"] = {
        {{"processors", 1}, {"wait_s", 0}}};
    CHECK(post(service, "/v1/rescheduling-plans", plan)["plan"][0]["processors"] == 4);
    for (json &e : runs) { // other runs: without a name that is told by the instant
        e["queue_wait_s"] = 0;
        e["started_at"] = e["started_at"].get<double>() + 1000;
    }
    post(service, "/v1/executions", runs, 201);
    CHECK(replayed(service, got)["identical"] == true);
    CHECK(replayed(service, planned)["identical"] == true);
}

TEST_CASE("plans go on without the stored history, and say so", "[api][reschedule][plan]")
{
    // A server that is not there.
    test_db nowhere(test_db_options("host=/nonexistent dbname=none"));
    api service;
    json body = plan_of("here", "there", {200, 100});

    body.erase("store");
    body["jobs"][0]["current"]["resource_ids"] = {"gone"};
    body["snapshot"]["sites"][1]["kind"] = "batch";
    for (bool has_database : {false, true}) {
        CAPTURE(has_database);
        service.handle()->db = has_database ? nowhere.d : nullptr;
        json got = post(service, "/v1/rescheduling-plans", body);
        CHECK(got["plan"][0]["reschedule_cost_basis"] == "default");
        CHECK(has_warning(got, "queue_wait_unknown"));
        size_t unavailable = 0;
        for (const json &w : got["warnings"])
            unavailable += w.get<std::string>().rfind("history_unavailable", 0) == 0;
        CHECK(unavailable == (has_database ? 2 : 0)); // of waits, and of costs
        // Whoever gives the costs needs no history.
        body["options"]["inter_site_cost_s"] = 1;
        for (json &s : body["snapshot"]["sites"])
            s["intra_site_cost_s"] = 1;
        body["snapshot"]["sites"][1]["queue_wait_history"] = {
            {{"processors", 1}, {"wait_s", 0}}};
        CHECK(post(service, "/v1/rescheduling-plans", body)["warnings"].empty());
        body["options"].erase("inter_site_cost_s");
        for (json &s : body["snapshot"]["sites"])
            s.erase("intra_site_cost_s");
        body["snapshot"]["sites"][1].erase("queue_wait_history");
    }
    service.handle()->db = nullptr; // it is not the service's to close
}
