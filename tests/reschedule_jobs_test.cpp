// reschedule_jobs_test.cpp - the rules of migration/gridway and the worked numbers of
// spec gridway.md 3.1 to 3.5.
#include "tests/api.hpp"

extern "C" {
#include "algorithms/migration/gridway_contract.h"
#include "algorithms/migration/gridway_failure.h"
#include "algorithms/migration/gridway_worth.h"
}

using nlohmann::json;

namespace
{

std::vector<double> presets()
{
    std::vector<double> param;
    for (const struct param *p = migration_gridway_params; p->name; p++)
        param.push_back(p->preset);
    return param;
}

json host(const std::string &id, double mips, json more = json::object())
{
    json h = {{"id", id}, {"mips_total", mips}};
    h.update(more);
    return h;
}

// A host that runs one job on its only slot.
json full(const std::string &id, double mips, json more = json::object())
{
    more["job_count"] = 1;
    return host(id, mips, more);
}

json grid(const json &resources, json more = json::object())
{
    json s = {{"resources", resources}};
    s.update(more);
    return s;
}

// A job of 3000 s of which 2000 are done.
json job_on(const std::string &resource, json more = json::object())
{
    json j = {{"id", "j"},
              {"resource_id", resource},
              {"estimate_ref_s", 3000},
              {"work_done_ref_s", 2000}};
    j.update(more);
    return j;
}

json ask(const json &snapshot, const json &jobs, json options = json::object(),
         json more = json::object())
{
    api service;
    json body = {{"snapshot", snapshot},
                 {"jobs", jobs},
                 {"algorithm", "gridway"},
                 {"options", options}};
    body.update(more);
    api_reply r = service.post("/v1/reschedules", body.dump());
    INFO(r.body.substr(0, 2000));
    REQUIRE(r.status == 200);
    return r.json();
}

// The verdict on the only job.
json verdict(const json &snapshot, const json &job, json options = json::object(),
             json more = json::object())
{
    return ask(snapshot, json::array({job}), options, more)["jobs"][0];
}

std::string text(const json &v)
{
    std::string s = v["action"].get<std::string>() + " " + v["reason"].get<std::string>();
    if (!v["resource_id"].is_null())
        s += " " + v["resource_id"].get<std::string>();
    return s;
}

std::string steps(const json &v)
{
    std::string s;
    for (const json &step : v["steps"])
        s += (s.empty() ? "" : ", ") + step["step"].get<std::string>() + " " +
             step["resource_id"].get<std::string>();
    return s;
}

size_t dropped(const json &v, const std::string &reason)
{
    for (const json &d : v["candidates"])
        if (d["reason"] == reason)
            return d["resource_count"];
    return 0;
}

// The worked example of 3.2: here at speed 1, the new host at site N behind a queue of
// 30 s, a restart file of 50 MB that is 100 s old, 10 MB/s.
json worked_grid(double speed)
{
    return grid(
        {full("here", 1, {{"site_id", "H"}}),
         host("new", speed, {{"site_id", "N"}, {"ready_s", 30}})},
        {{"network",
          {{"routes",
            {{{"from_site_id", "H"}, {"to_site_id", "N"}, {"bandwidth_mbps", 80}}}}}}});
}

json worked_job(json more = json::object())
{
    json j = job_on(
        "here",
        {{"event", "resource_discovered"},
         {"restart", {{"work_done_ref_s", 1900}, {"bytes", 50e6}, {"site_id", "H"}}}});
    j.update(more);
    return j;
}

const json patient = {{"max_queue_wait_s", 60}};

} // namespace

TEST_CASE("a move is worthwhile by gridway.md 3.2", "[reschedule_jobs]")
{
    gridway_move move = {30, 5, 0, 1100, 2};
    CHECK(gridway_stay_s(1000, 1) == 1000);
    CHECK(gridway_move_s(&move) == 585);
    CHECK(gridway_pays(1000, 585, 0, 0.1));
    CHECK(gridway_rank_passes(-1000, -585, 0.1));

    move.stage_s = 0;
    move.left_ref_s = 3000; // without a restart file: all of it
    CHECK(gridway_move_s(&move) == 1530);
    CHECK_FALSE(gridway_pays(1000, 1530, 0, 0.1));

    move = {30, 5, 0, 1100, 1.2};
    CHECK(gridway_move_s(&move) == Approx(951.6666666666666).epsilon(1e-14));
    CHECK_FALSE(gridway_rank_passes(-1000, -gridway_move_s(&move), 0.1));
    CHECK(gridway_rank_passes(1, 1.2, 0.1));
    CHECK_FALSE(gridway_pays(1000, gridway_move_s(&move), 0, 0.1));
    CHECK(gridway_stay_s(1000, 0.25) == 4000);
    CHECK(gridway_pays(4000, gridway_move_s(&move), 0, 0.1));

    move.outputs_s = 100;
    CHECK(gridway_move_s(&move) == Approx(1051.6666666666666).epsilon(1e-14));
}

TEST_CASE("ranks and gains at their edges", "[reschedule_jobs]")
{
    double undefined = NAN;
    CHECK(gridway_rank_passes(0, 1e-9, 0.1));
    CHECK_FALSE(gridway_rank_passes(0, 0, 0.1));
    CHECK(gridway_rank_passes(undefined, -5, 0.1));
    CHECK_FALSE(gridway_rank_passes(undefined, undefined, 0.1));
    CHECK_FALSE(gridway_rank_passes(-5, undefined, 0.1));
    CHECK(gridway_rank_passes(10, 11, 0.1));
    CHECK_FALSE(gridway_rank_passes(10, 10.99, 0.1));
    CHECK(gridway_rank_passes(-10, -9, 0.1));

    CHECK(gridway_stay_s(10, 0) == HUGE_VAL);
    CHECK(gridway_stay_s(0, 0) == 0);
    CHECK(gridway_pays(HUGE_VAL, 1e9, 1e6, 0.5));
    CHECK_FALSE(gridway_pays(HUGE_VAL, HUGE_VAL, 0, 0));
    CHECK_FALSE(gridway_pays(undefined, 1, 0, 0));
    CHECK_FALSE(gridway_pays(100, 90, 0, 0.1)); // not more than 10
    CHECK_FALSE(gridway_pays(100, 50, 50, 0.1));
    CHECK(gridway_pays(100, 49, 50, 0.1));
}

TEST_CASE("the contract of gridway.md 3.3", "[reschedule_jobs]")
{
    const reschedule_sample samples[] = {{0, 0}, {60, 55}, {120, 75}, {180, 95}};
    reschedule_contract contract = {1, NAN, 0.5, 2};
    reschedule_job job{};
    job.contract = &contract;
    job.samples = samples;
    job.sample_count = 4;
    job.job_cpu_ratio = job.idle_cpu_ratio = NAN;

    gridway_contract c = gridway_contract_check(&job, 0.5);
    CHECK(c.state == CONTRACT_VIOLATED);
    CHECK(c.observed_per_s == Approx(1.0 / 3).epsilon(1e-14));
    CHECK(c.rate_ratio == Approx(1.0 / 3).epsilon(1e-14));

    contract.window = 3;
    c = gridway_contract_check(&job, 0.5);
    CHECK(c.state == CONTRACT_KEPT);
    CHECK(c.observed_per_s == Approx(95.0 / 180).epsilon(1e-14));

    contract.window = 4;
    CHECK(gridway_contract_check(&job, 0.5).state == CONTRACT_UNKNOWN);

    contract = {NAN, 0.5, 0.5, 2}; // two steps a second
    c = gridway_contract_check(&job, 0.5);
    CHECK(c.state == CONTRACT_VIOLATED);
    CHECK(c.rate_ratio == Approx(1.0 / 6).epsilon(1e-14));

    const reschedule_sample still[] = {{5, 1}, {5, 2}};
    contract = {1, NAN, 0.5, 1};
    job.samples = still;
    job.sample_count = 2;
    CHECK(gridway_contract_check(&job, 0.5).state == CONTRACT_UNKNOWN);

    const reschedule_sample back[] = {{0, 10}, {5, 2}};
    job.samples = back;
    c = gridway_contract_check(&job, 0.5);
    CHECK(c.state == CONTRACT_VIOLATED);
    CHECK(c.rate_ratio == 0);
}

TEST_CASE("without a metric the host tells", "[reschedule_jobs]")
{
    reschedule_job job{};
    job.job_cpu_ratio = 0.3;
    job.idle_cpu_ratio = 0.1;
    CHECK(gridway_contract_check(&job, 0.5).state == CONTRACT_VIOLATED);
    job.idle_cpu_ratio = 0.6; // it does not want more
    CHECK(gridway_contract_check(&job, 0.5).state == CONTRACT_KEPT);
    job.idle_cpu_ratio = 0.1;
    job.job_cpu_ratio = 0.5;
    CHECK(gridway_contract_check(&job, 0.5).state == CONTRACT_KEPT);
    job.job_cpu_ratio = NAN;
    CHECK(gridway_contract_check(&job, 0.5).state == CONTRACT_NONE);
}

TEST_CASE("every finding of gridway.md 3.4 has its decision", "[reschedule_jobs]")
{
    struct {
        const char *what;
        reschedule_failure f;
        double retries, on_failure, skip, nonzero;
        gridway_action action;
        gridway_reason reason;
    } const cases[] = {
        {"first failed prolog",
         {STAGE_PROLOG, FAILURE_STAGING, 1, NAN, true, false},
         1,
         ON_FAILURE_RESCHEDULE,
         0,
         0,
         ACTION_RETRY,
         REASON_RETRY_LEFT},
        {"second failed prolog",
         {STAGE_PROLOG, FAILURE_STAGING, 2, NAN, true, false},
         1,
         ON_FAILURE_RESCHEDULE,
         0,
         0,
         ACTION_RESCHEDULE,
         REASON_RETRIES_EXHAUSTED},
        {"a later failed wrapper",
         {STAGE_WRAPPER, FAILURE_ENDED, 1, NAN, true, false},
         1,
         ON_FAILURE_RESCHEDULE,
         0,
         0,
         ACTION_RETRY,
         REASON_RETRY_LEFT},
        {"no retries",
         {STAGE_PROLOG, FAILURE_STAGING, 1, NAN, true, false},
         0,
         ON_FAILURE_RESCHEDULE,
         0,
         0,
         ACTION_RESCHEDULE,
         REASON_RETRIES_EXHAUSTED},
        {"hold",
         {STAGE_EPILOG, FAILURE_CONNECTION, 2, NAN, true, false},
         1,
         ON_FAILURE_HOLD,
         0,
         0,
         ACTION_HOLD,
         REASON_RETRIES_EXHAUSTED},
        {"silent job manager",
         {STAGE_WRAPPER, FAILURE_JOB_MANAGER_SILENT, 9, NAN, true, false},
         1,
         ON_FAILURE_RESCHEDULE,
         0,
         0,
         ACTION_RESTART_JOB_MANAGER,
         REASON_JOB_MANAGER_SILENT},
        {"finished",
         {STAGE_WRAPPER, FAILURE_ENDED, 1, 0, true, false},
         1,
         ON_FAILURE_RESCHEDULE,
         0,
         0,
         ACTION_KEEP,
         REASON_FINISHED},
        {"an exit code of its own",
         {STAGE_WRAPPER, FAILURE_ENDED, 1, 3, true, false},
         1,
         ON_FAILURE_RESCHEDULE,
         0,
         0,
         ACTION_KEEP,
         REASON_FINISHED},
        {"which fails",
         {STAGE_WRAPPER, FAILURE_ENDED, 1, 3, true, false},
         1,
         ON_FAILURE_RESCHEDULE,
         0,
         1,
         ACTION_RETRY,
         REASON_RETRY_LEFT},
        {"0 never fails",
         {STAGE_WRAPPER, FAILURE_ENDED, 1, 0, true, false},
         1,
         ON_FAILURE_RESCHEDULE,
         0,
         1,
         ACTION_KEEP,
         REASON_FINISHED},
        {"cancelled",
         {STAGE_WRAPPER, FAILURE_ENDED, 1, NAN, true, true},
         1,
         ON_FAILURE_RESCHEDULE,
         0,
         0,
         ACTION_CANCELLED,
         REASON_CANCELLED},
        {"hopeless, tried again",
         {STAGE_SUBMISSION, FAILURE_AUTHORISATION, 1, NAN, true, false},
         3,
         ON_FAILURE_RESCHEDULE,
         0,
         0,
         ACTION_RETRY,
         REASON_RETRY_LEFT},
        {"hopeless, skipped",
         {STAGE_SUBMISSION, FAILURE_AUTHORISATION, 1, NAN, true, false},
         3,
         ON_FAILURE_RESCHEDULE,
         1,
         0,
         ACTION_RESCHEDULE,
         REASON_HOPELESS},
        {"bad description, skipped",
         {STAGE_SUBMISSION, FAILURE_JOB_DESCRIPTION, 1, NAN, true, false},
         3,
         ON_FAILURE_HOLD,
         1,
         0,
         ACTION_HOLD,
         REASON_HOPELESS},
        {"expired credential, skipped",
         {STAGE_SUBMISSION, FAILURE_CREDENTIAL_EXPIRED, 1, NAN, true, false},
         3,
         ON_FAILURE_RESCHEDULE,
         1,
         0,
         ACTION_HOLD,
         REASON_HOPELESS},
        {"authentication is not hopeless",
         {STAGE_SUBMISSION, FAILURE_AUTHENTICATION, 1, NAN, true, false},
         3,
         ON_FAILURE_RESCHEDULE,
         1,
         0,
         ACTION_RETRY,
         REASON_RETRY_LEFT},
    };
    for (auto &c : cases)
        DYNAMIC_SECTION(c.what)
        {
            std::vector<double> param = presets();
            param[GRIDWAY_RETRIES] = c.retries;
            param[GRIDWAY_ON_FAILURE] = c.on_failure;
            param[GRIDWAY_SKIP_HOPELESS] = c.skip;
            param[GRIDWAY_NONZERO_FAILS] = c.nonzero;
            gridway_ruling r = gridway_failure_rule(&c.f, param.data());
            CHECK(r.action == c.action);
            CHECK(r.reason == c.reason);
            CHECK_FALSE(r.resource_failed);
        }
    reschedule_failure gone = {STAGE_WRAPPER, FAILURE_JOB_MANAGER_SILENT, 1, NAN, false,
                               false};
    CHECK(gridway_failure_rule(&gone, presets().data()).resource_failed);
}

TEST_CASE("the worked migration of gridway.md 3.2", "[reschedule_jobs][api]")
{
    json v = verdict(worked_grid(2), worked_job(), patient);
    CHECK(text(v) == "migrate worthwhile new");
    CHECK(v["start_s"] == 30);
    CHECK(v["stay_s"] == 1000);
    CHECK(v["move_s"] == 585);
    CHECK(v["gain_s"] == 415);
    CHECK(v["rank_present"] == -1000);
    CHECK(v["rank_new"] == -585);
    CHECK(v["lost_ref_s"] == 100);
    CHECK(v["bytes_moved"] == 50e6);
    CHECK(v["move_bound_s"] == 550);
    CHECK(v["restart"] == false);
    CHECK(steps(v) == "cancel_wrapper here, prolog new, epilog here, wrapper new");
    CHECK(v["steps"][1]["duration_s"] == 5);
    CHECK(v["steps"][1]["bytes"] == 50e6);
    CHECK(v["steps"][3]["duration_s"] == 550);

    // Without a restart file all is done again.
    v = verdict(worked_grid(2), worked_job({{"restart", nullptr}, {"rank", "1"}}),
                {{"max_queue_wait_s", 60}, {"rank_threshold", 0}});
    CHECK(text(v) == "keep gain_too_small");
    CHECK(v["move_s"] == 1530);
    CHECK(v["gain_s"] == -530);
    CHECK(v["candidate_resource_id"] == "new");
    CHECK(v["resource_id"].is_null());

    v = verdict(worked_grid(1.2), worked_job(), patient);
    CHECK(text(v) == "keep rank_too_low");
    CHECK(v["rank_new"].get<double>() == Approx(-951.6666666666666).epsilon(1e-12));
    CHECK(dropped(v, "rank_too_low") == 1);

    v = verdict(worked_grid(1.2), worked_job({{"rank", "mips_free"}}), patient);
    CHECK(text(v) == "keep gain_too_small");
    CHECK(v["gain_s"].get<double>() == Approx(48.33333333333337).epsilon(1e-9));
}

TEST_CASE("a violated contract moves a job at its observed rate",
          "[reschedule_jobs][api]")
{
    json contract = {{"expected_per_s", 1}, {"window", 1}};
    json v = verdict(
        worked_grid(1.2),
        worked_job(
            {{"event", "none"},
             {"contract", contract},
             {"samples", {{{"t_s", 0}, {"value", 0}}, {{"t_s", 100}, {"value", 25}}}}}),
        patient);
    CHECK(text(v) == "migrate worthwhile new");
    CHECK(v["event"] == "contract_violated");
    CHECK(v["contract"] == "violated");
    CHECK(v["observed_per_s"] == 0.25);
    CHECK(v["stay_s"] == 4000);
    CHECK(v["gain_s"].get<double>() == Approx(3048.3333333333335).epsilon(1e-12));

    v = verdict(
        worked_grid(1.2),
        worked_job(
            {{"event", "none"},
             {"contract", contract},
             {"samples", {{{"t_s", 0}, {"value", 0}}, {{"t_s", 100}, {"value", 75}}}}}),
        patient);
    CHECK(text(v) == "keep contract_kept");
    v = verdict(worked_grid(1.2), worked_job({{"event", "none"}, {"contract", contract}}),
                patient);
    CHECK(text(v) == "keep no_verdict");
    v = verdict(worked_grid(1.2), worked_job({{"event", "none"}}), patient);
    CHECK(text(v) == "keep no_event");
    v = verdict(
        worked_grid(1.2),
        worked_job({{"event", "none"}, {"job_cpu_ratio", 0.2}, {"idle_cpu_ratio", 0.1}}));
    CHECK(text(v) == "keep no_free_now"); // the host is only free in 30 s
    CHECK(v["event"] == "contract_violated");
}

TEST_CASE("a contract takes the first candidate that pays, not the fastest gain",
          "[reschedule_jobs][api]")
{
    // By rank far comes first and pays; near would gain more.
    json s = grid({full("here", 1), host("near", 4, {{"attributes", {{"score", 1}}}}),
                   host("far", 2, {{"attributes", {{"score", 5}}}}),
                   host("slow", 1, {{"attributes", {{"score", 9}}}})});
    json v = verdict(s, job_on("here", {{"event", "contract_violated"},
                                        {"work_done_ref_s", 0},
                                        {"rank", "score"}}));
    CHECK(text(v) == "migrate worthwhile far");
    CHECK(dropped(v, "gain_too_small") == 1);
    CHECK(dropped(v, "not_tried") == 1);
    CHECK(dropped(v, "present") == 1);
}

TEST_CASE("every event of gridway.md 3.1 has its tests", "[reschedule_jobs][api]")
{
    // Both are slower: neither test would pass.
    json s = grid({full("here", 2), host("old", 1), host("other", 0.5)});
    json base = {{"history", {"old"}}};
    auto on = [&](const char *event, json more = json::object(),
                  json options = json::object()) {
        more.update(base);
        more["event"] = event;
        return verdict(s, job_on("here", more), options);
    };

    CHECK(text(on("resource_discovered")) == "keep rank_too_low");
    CHECK(text(on("resource_failed")) == "migrate forced old");
    CHECK(text(on("network_failed")) == "migrate forced old");
    CHECK(text(on("cancelled_by_owner")) == "migrate forced old");
    CHECK(text(on("suspended_by_owner")) == "migrate forced other");
    CHECK(text(on("user_requested")) == "migrate forced other");
    CHECK(text(on("contract_violated")) == "keep gain_too_small");
    CHECK(text(on("requirements_changed")) == "keep rank_too_low");
    CHECK(text(on("requirements_changed", {{"requirement", "mips_total < 2"}})) ==
          "migrate forced old");
    CHECK(dropped(on("user_requested"), "history") == 1);
    CHECK(dropped(on("resource_failed"), "history") == 0);

    CHECK(steps(on("resource_failed")) == "prolog old, wrapper old");
    CHECK(steps(on("cancelled_by_owner")) == "prolog old, epilog here, wrapper old");
    CHECK(steps(on("user_requested")) ==
          "cancel_wrapper here, prolog other, epilog here, wrapper other");

    json later = {{"suspension_timeout_s", 600}};
    CHECK(text(on("suspended_by_owner", {{"suspended_s", 599}}, later)) ==
          "keep suspended_shortly");
    CHECK(text(on("suspended_by_owner", {{"suspended_s", 600}}, later)) ==
          "migrate forced other");
}

TEST_CASE("a job without a place stays if it runs, else it waits again",
          "[reschedule_jobs][api]")
{
    json s = grid({full("here", 1), full("busy", 9)});
    auto on = [&](json more) { return text(verdict(s, job_on("here", more))); };

    CHECK(on({{"event", "resource_failed"}}) == "requeue no_free_now");
    CHECK(on({{"event", "cancelled_by_owner"}}) == "requeue no_free_now");
    CHECK(on({{"event", "user_requested"}}) == "keep no_free_now");
    CHECK(on({{"event", "resource_discovered"}}) == "keep no_free_now");
    CHECK(on({{"event", "resource_failed"}, {"requirement", "mips_total > 100"}}) ==
          "requeue no_resource");
    json alone = ask(grid(json::array({full("here", 1)})),
                     json::array({job_on("here", {{"event", "resource_failed"}})}));
    CHECK(alone["status"] == "infeasible");
    CHECK(alone["objective"]["requeued_count"] == 1);
}

TEST_CASE("of several events the one that forces a move counts", "[reschedule_jobs][api]")
{
    json s = grid({full("here", 2), host("slow", 1)});
    json v =
        verdict(s, job_on("here", {{"events", {"resource_discovered", "user_requested"}},
                                   {"event", "contract_violated"}}));
    CHECK(text(v) == "migrate forced slow");
    CHECK(v["event"] == "user_requested");
    v = verdict(
        s, job_on("here", {{"events", {"resource_discovered", "requirements_changed"}}}));
    CHECK(v["event"] == "requirements_changed");
    // A failed host outweighs a retry on it.
    v = verdict(s, job_on("here", {{"event", "resource_failed"},
                                   {"failure", {{"stage", "prolog"}}}}));
    CHECK(text(v) == "migrate forced slow");
    // What the snapshot says of the host counts as well.
    v = verdict(grid({full("here", 2, {{"failed", true}}), host("slow", 1)}),
                job_on("here", {{"event", "resource_discovered"}}));
    CHECK(text(v) == "migrate forced slow");
    CHECK(steps(v) == "prolog slow, wrapper slow");
}

TEST_CASE("a job that nothing happened to stays, on a failed host with a warning",
          "[reschedule_jobs][api]")
{
    json out = ask(grid({full("here", 1, {{"failed", true}}), host("new", 9)}),
                   json::array({job_on("here")}));
    CHECK(text(out["jobs"][0]) == "keep no_event");
    CHECK(out["warnings"][0].get<std::string>().rfind("failed_host", 0) == 0);
    CHECK(ask(grid({full("here", 1), host("new", 9)}),
              json::array({job_on("here")}))["warnings"]
              .empty());
}

TEST_CASE("failures over the API", "[reschedule_jobs][api]")
{
    json s = grid({full("here", 2), host("slow", 1)});
    auto on = [&](json failure, json options = json::object()) {
        return verdict(s, job_on("here", {{"failure", failure}}), options);
    };

    json v = on({{"stage", "prolog"}, {"kind", "staging"}});
    CHECK(text(v) == "retry retry_left");
    CHECK(steps(v) == "prolog here");
    CHECK(v["event"] == "stage_failed");
    v = on({{"stage", "prolog"}, {"kind", "staging"}, {"failed_attempts", 2}});
    CHECK(text(v) == "reschedule retries_exhausted slow");
    CHECK(steps(v) == "prolog slow, epilog here, wrapper slow");
    CHECK(v["forced"] == true);
    v = on({{"stage", "prolog"}, {"failed_attempts", 2}}, {{"on_failure", "hold"}});
    CHECK(text(v) == "hold retries_exhausted");
    v = on({{"stage", "wrapper"}, {"kind", "job_manager_silent"}});
    CHECK(text(v) == "restart_job_manager job_manager_silent");
    CHECK(steps(v) == "job_manager here");
    v = on({{"stage", "wrapper"},
            {"kind", "job_manager_silent"},
            {"gatekeeper_answers", false}});
    CHECK(text(v) == "migrate forced slow");
    CHECK(v["event"] == "resource_failed");
    v = on({{"stage", "wrapper"}, {"kind", "ended"}, {"exit_code", 7}});
    CHECK(text(v) == "keep finished");
    CHECK(v["exit_code"] == 7);
    v = on({{"stage", "wrapper"}, {"kind", "ended"}, {"cancelled", true}});
    CHECK(text(v) == "cancelled cancelled");
    v = on({{"stage", "wrapper"}, {"kind", "ended"}, {"failed_attempts", 2}});
    CHECK(text(v) == "reschedule retries_exhausted slow");
}

TEST_CASE("a restart file that went with its host is lost", "[reschedule_jobs][api]")
{
    json net = {{"network", {{"wan_mbps", 80}}}};
    json s = grid(
        {full("here", 1, {{"site_id", "A"}}), host("new", 1, {{"site_id", "B"}})}, net);
    json file = {{"work_done_ref_s", 1900}, {"bytes", 10e6}};
    json v =
        verdict(s, job_on("here", {{"event", "resource_failed"}, {"restart", file}}));
    CHECK(v["restart"] == true);
    CHECK(v["lost_ref_s"] == 2000);
    CHECK(v["move_s"] == 3000);
    CHECK(v["bytes_moved"] == 0);

    v = verdict(s, job_on("here", {{"event", "user_requested"}, {"restart", file}}));
    CHECK(v["restart"] == false);
    CHECK(v["lost_ref_s"] == 100);
    CHECK(v["move_s"] == 1101);

    file["site_id"] = "A"; // on a server of the site
    v = verdict(s, job_on("here", {{"event", "resource_failed"}, {"restart", file}}));
    CHECK(v["restart"] == false);
    CHECK(v["move_s"] == 1101);

    // No way to it: start again.
    s["network"].erase("wan_mbps");
    v = verdict(s, job_on("here", {{"event", "resource_failed"}, {"restart", file}}));
    CHECK(v["restart"] == true);
    CHECK(v["move_s"] == 3000);
}

TEST_CASE("input files and queued outputs are part of a move", "[reschedule_jobs][api]")
{
    json s =
        grid({full("here", 1, {{"site_id", "A"}}), host("new", 4, {{"site_id", "B"}})},
             {{"home_site_id", "H"},
              {"network", {{"wan_mbps", 80}}},
              {"files",
               {{{"id", "f"}, {"bytes", 10e6}, {"site_ids", {"H"}}},
                {{"id", "g"}, {"bytes", 90e6}, {"site_ids", {"H", "B"}}}}}});
    json v = verdict(s, job_on("here", {{"event", "user_requested"},
                                        {"input_file_ids", {"f", "g"}},
                                        {"output_bytes", 40e6},
                                        {"queued_output_bytes", 20e6}}));
    // f takes 1 s, the rest of the work 750 s from the start, queued outputs 2 s.
    CHECK(v["move_s"] == 753);
    CHECK(v["rank_new"] == -755); // with the outputs of the end, 4 s
    CHECK(v["bytes_moved"] == 30e6);
    CHECK(v["steps"][1]["bytes"] == 10e6);
    CHECK(v["steps"][2]["bytes"] == 20e6);
    CHECK(v["steps"][2]["duration_s"] == 2);
    CHECK(v["outputs_lost"] == false);

    v = verdict(
        s, job_on("here", {{"event", "network_failed"}, {"queued_output_bytes", 20e6}}));
    CHECK(v["outputs_lost"] == true);
    CHECK(v["bytes_moved"] == 0);
}

TEST_CASE("a shared file is paid once a site", "[reschedule_jobs][api]")
{
    // Prolog of the second task finds the executable: 3.5.
    json s =
        grid({full("h1", 1, {{"site_id", "A"}}), full("h2", 1, {{"site_id", "A"}}),
              host("n", 4, {{"site_id", "B"}, {"n_max", 2}})},
             {{"network", {{"wan_mbps", 8}, {"wan_latency_s", 0.01}}},
              {"files",
               {{{"id", "exe"}, {"bytes", 0.5e6}, {"shared", true}, {"site_ids", {"H"}}},
                {{"id", "mesh"}, {"bytes", 0.5e6}, {"shared", true}, {"site_ids", {"H"}}},
                {{"id", "p1"}, {"bytes", 1e3}, {"site_ids", {"H"}}},
                {{"id", "p2"}, {"bytes", 1e3}, {"site_ids", {"H"}}}}}});
    json jobs = {job_on("h1", {{"event", "user_requested"},
                               {"input_file_ids", {"exe", "mesh", "p1"}}}),
                 job_on("h2", {{"id", "k"},
                               {"event", "user_requested"},
                               {"input_file_ids", {"exe", "mesh", "p2"}}})};
    json out = ask(s, jobs);
    CHECK(out["jobs"][0]["steps"][1]["duration_s"].get<double>() ==
          Approx(1.031).epsilon(1e-12));
    CHECK(out["jobs"][0]["bytes_moved"] == 1001000);
    CHECK(out["jobs"][1]["bytes_moved"] == 1000);
    CHECK(out["objective"]["bytes_moved"] == 1002000);
}

TEST_CASE("pending jobs come first, within the limits", "[reschedule_jobs][api]")
{
    json s = grid({full("here", 1), host("a", 4), host("b", 3)});
    json pending = {{"pending", {{{"id", "p"}, {"estimate_ref_s", 10}}}}};
    json out = ask(s, json::array({job_on("here", {{"event", "user_requested"}})}),
                   json::object(), pending);
    CHECK(out["placements"][0]["resource_id"] == "a");
    CHECK(text(out["jobs"][0]) == "migrate forced b");

    pending["pending"].push_back({{"id", "q"}, {"estimate_ref_s", 10}});
    pending["pending"].push_back({{"id", "r"}, {"estimate_ref_s", 10}});
    out = ask(s, json::array({job_on("here", {{"event", "user_requested"}})}),
              json::object(), pending);
    CHECK(out["placements"].size() == 2);
    CHECK(out["unplaced"][0]["job_id"] == "r");
    CHECK(text(out["jobs"][0]) == "keep no_free_now");

    out = ask(s, json::array({job_on("here", {{"event", "user_requested"}})}),
              {{"dispatch_chunk", 1}}, pending);
    CHECK(out["placements"].size() == 1);
    CHECK(text(out["jobs"][0]) == "keep round_full");

    // Held back for a faster host that is free soon: its slot is left to the move.
    s = grid(
        {full("here", 1), full("fast", 100, {{"free_at_s", {1}}}), host("slow", 0.1)});
    pending = {{"pending", {{{"id", "p"}, {"estimate_ref_s", 10}}}}};
    out = ask(s, json::array({job_on("here", {{"event", "user_requested"}})}),
              {{"hold_back", true}}, pending);
    CHECK(out["unplaced"][0]["reasons"].back()["reason"] == "better_soon");
    CHECK(text(out["jobs"][0]) == "migrate forced slow");
}

TEST_CASE("running jobs hold what they need, not a slot's part of the resource",
          "[reschedule_jobs][api][world]")
{
    // A slot's part would be 2 of 8 cpus and 16 of 64 bytes.
    json s = grid(json::array(
        {full("here", 1, {{"n_max", 4}, {"cpus", 8}, {"memory_bytes", 64}})}));
    json running = job_on("here", {{"cpus", 6}, {"memory_bytes", 60}});
    struct {
        double cpus, memory_bytes;
        const char *why; // NULL: it starts
    } rows[] = {{2, 4, nullptr},
                {2.5, 4, "unknown_end"},
                {2, 5, "unknown_end"},
                {9, 0, "too_small"},
                {1, 65, "too_small"}};
    for (auto &row : rows) {
        json p = {{"id", "p"},
                  {"estimate_ref_s", 10},
                  {"cpus", row.cpus},
                  {"memory_bytes", row.memory_bytes}};
        json out = ask(s, json::array({running}), json::object(),
                       {{"pending", json::array({p})}});
        INFO(out.dump());
        CHECK(out["placements"].size() == (row.why ? 0 : 1));
        if (row.why)
            CHECK(out["unplaced"][0]["reasons"][0]["reason"] == row.why);
        // One that has ended holds nothing but its slot, which has no such job.
        json ended = running;
        ended["failure"] = {{"stage", "wrapper"}, {"kind", "ended"}, {"exit_code", 0}};
        out =
            ask(s, json::array({ended}), json::object(), {{"pending", json::array({p})}});
        INFO(out.dump());
        CHECK(out["placements"].size() ==
              (row.cpus <= 6 && row.memory_bytes <= 48 ? 1 : 0));
    }

    // The target's amounts are taken by the job that moved there first; what the move
    // leaves behind is not given away in the same round.
    s = grid({full("here", 1, {{"n_max", 4}, {"cpus", 8}}),
              host("there", 1, {{"n_max", 4}, {"cpus", 8}})});
    json moves = json::array();
    for (const char *id : {"first", "second"})
        moves.push_back(
            job_on("here", {{"id", id}, {"cpus", 4}, {"event", "user_requested"}}));
    moves.push_back(
        job_on("there", {{"id", "third"}, {"cpus", 3}, {"event", "user_requested"}}));
    s["resources"][0]["job_count"] = 2;
    s["resources"][1]["job_count"] = 1;
    json out = ask(s, moves);
    CHECK(text(out["jobs"][0]) == "migrate forced there");
    CHECK(out["jobs"][1]["action"] == "keep");
    CHECK(out["jobs"][2]["action"] == "keep");
}

TEST_CASE("what running jobs hold of amounts that no resource states is said",
          "[reschedule_jobs][api][world]")
{
    json jobs = {job_on("plain", {{"cpus", 2}, {"memory_bytes", 5}}),
                 job_on("sized", {{"id", "k"}, {"cpus", 2}, {"memory_bytes", 5}})};
    auto said = [&](const json &more) {
        std::vector<std::string> list;
        json s = grid({full("sized", 1, {{"cpus", 4}, {"memory_bytes", 9}}),
                       full("plain", 1, more)});
        const json out = ask(s, jobs);
        for (const json &w : out["warnings"])
            list.push_back(w);
        return list;
    };
    const std::string behind =
        ": the resource does not say how much it has, and the job holds a slot";
    CHECK(said(json::object()) ==
          std::vector<std::string>{
              "ignored: cpus of 1 running job (first /jobs/0/cpus)" + behind,
              "ignored: memory_bytes of 1 running job (first /jobs/0/memory_bytes)" +
                  behind});
    CHECK(said({{"cpus", 4}, {"memory_bytes", 9}}).empty());
}

TEST_CASE("limits of users and resources hold for moves", "[reschedule_jobs][api]")
{
    json s = grid({full("h1", 1), full("h2", 1), host("n", 4, {{"n_max", 8}})});
    json jobs = {job_on("h1", {{"user", "u"}, {"event", "user_requested"}}),
                 job_on("h2", {{"id", "k"}, {"user", "u"}, {"event", "user_requested"}})};
    auto moved = [](const json &out) {
        return out["objective"]["moved_count"].get<int>();
    };

    CHECK(moved(ask(s, jobs)) == 2);
    CHECK(moved(ask(s, jobs, {{"max_dispatch_per_resource", 1}})) == 1);
    CHECK(moved(ask(s, jobs, {{"max_running_per_resource", 1}})) == 1);
    // Moves leave the number of running jobs as it is.
    CHECK(moved(ask(s, jobs, {{"max_running_per_user", 2}})) == 2);
    json out = ask(s, jobs, {{"max_running_per_user", 1}});
    CHECK(text(out["jobs"][0]) == "keep user_limit");
    CHECK(moved(ask(s, jobs, {{"limits", "gridway5"}})) == 2);
    out = ask(s, jobs, {{"limits", "gridway5"}},
              {{"users", {{{"user", "u"}, {"running_jobs", 31}}}}});
    CHECK(text(out["jobs"][1]) == "keep user_limit");
}

TEST_CASE("moves within a budget: forced ones, then the most gain",
          "[reschedule_jobs][api]")
{
    json s = grid({full("h1", 1), full("h2", 1), full("h3", 1),
                   host("n", 10, {{"n_max", 3}, {"site_id", "N"}})},
                  {{"network", {{"wan_mbps", 80}}}});
    auto job = [](const char *id, const char *on, double estimate, const char *event,
                  double bytes) {
        return json{{"id", id},
                    {"resource_id", on},
                    {"estimate_ref_s", estimate},
                    {"work_done_ref_s", 10},
                    {"event", event},
                    {"restart", {{"work_done_ref_s", 10}, {"bytes", bytes}}}};
    };
    json jobs = {job("small", "h1", 1000, "resource_discovered", 1e6),
                 job("large", "h2", 9000, "resource_discovered", 30e6),
                 job("forced", "h3", 100, "user_requested", 1e6)};
    auto texts = [](const json &out) {
        std::string t;
        for (const json &v : out["jobs"])
            t += (t.empty() ? "" : ", ") + text(v);
        return t;
    };

    CHECK(texts(ask(s, jobs)) ==
          "migrate worthwhile n, migrate worthwhile n, migrate forced n");
    json out = ask(s, jobs, {{"max_moves", 2}});
    CHECK(texts(out) == "keep move_budget, migrate worthwhile n, migrate forced n");
    CHECK(out["objective"]["left_out_count"] == 1);
    CHECK(out["objective"]["forced_count"] == 1);
    CHECK(out["jobs"][0]["gain_s"] > 0); // what is left out
    CHECK(texts(ask(s, jobs, {{"max_moves", 1}})) ==
          "keep move_budget, keep move_budget, migrate forced n");
    out = ask(s, jobs, {{"max_bytes_moved", 20e6}});
    CHECK(texts(out) == "migrate worthwhile n, keep bytes_budget, migrate forced n");
    CHECK(out["objective"]["bytes_moved"] == 2e6);
    CHECK(out["objective"]["gain_bound_s"] >= out["objective"]["gain_s"]);
}

TEST_CASE("cool-down and run time keep a job where it is", "[reschedule_jobs][api]")
{
    json s = grid({full("here", 1), host("new", 9)});
    json moved = {{"event", "resource_discovered"},
                  {"work_done_ref_s", 0},
                  {"last_moved_s_ago", 50},
                  {"elapsed_s", 400}};
    auto on = [&](json options, json more = json::object()) {
        json m = moved;
        m.update(more);
        return text(verdict(s, job_on("here", m), options));
    };

    CHECK(on(json::object()) == "migrate worthwhile new");
    CHECK(on({{"cool_down_s", 60}}) == "keep cooling_down");
    CHECK(on({{"cool_down_s", 50}}) == "migrate worthwhile new");
    CHECK(on({{"cool_down_s", 60}}, {{"event", "user_requested"}}) ==
          "migrate forced new");
    CHECK(on({{"max_run_before_move_s", 300}}) == "keep ran_too_long");
    CHECK(on({{"max_run_before_move_s", 300}}, {{"event", "contract_violated"}}) ==
          "migrate worthwhile new");
    CHECK(on({{"min_gain_s", 2667}}) == "keep gain_too_small");
    CHECK(on({{"min_gain_s", 2666}}) == "migrate worthwhile new");
    CHECK(on({{"min_gain_ratio", 0.9}}) == "keep gain_too_small");
    CHECK(on({{"rank_threshold", 0.9}}) == "keep rank_too_low");
}

TEST_CASE("slots that are free soon may be waited for, each once",
          "[reschedule_jobs][api]")
{
    json s =
        grid({full("h1", 1), full("h2", 1), full("h3", 1),
              host("n", 10, {{"n_max", 2}, {"job_count", 2}, {"free_at_s", {40, 20}}})});
    json jobs = json::array();
    for (const char *on : {"h1", "h2", "h3"})
        jobs.push_back(job_on(on, {{"id", on}, {"event", "user_requested"}}));
    json out = ask(s, jobs);
    CHECK(text(out["jobs"][0]) == "keep no_free_now");
    out = ask(s, jobs, {{"max_queue_wait_s", 40}});
    CHECK(text(out["jobs"][0]) == "migrate forced n");
    CHECK(out["jobs"][0]["start_s"] == 20);
    CHECK(out["jobs"][1]["start_s"] == 40);
    CHECK(out["jobs"][1]["move_s"] == 340);
    CHECK(text(out["jobs"][2]) == "keep no_free_now");
    out = ask(s, jobs, {{"max_queue_wait_s", 39}});
    CHECK(out["objective"]["moved_count"] == 1);
}

TEST_CASE("a matrix of times counts for the rest of a run", "[reschedule_jobs][api]")
{
    json s = grid({full("here", 1), host("a", 1), host("b", 1)});
    json v = verdict(
        s, job_on("here", {{"event", "resource_discovered"},
                           {"etc_s", {3000, 300, nullptr}},
                           {"restart", {{"work_done_ref_s", 1500}, {"site_id", "x"}}}}));
    // One third is left here; nobody reaches site x, so there all of it.
    CHECK(v["stay_s"] == 1000);
    CHECK(text(v) == "migrate worthwhile a");
    CHECK(v["move_s"] == 300);
    CHECK(dropped(v, "no_estimate") == 1);
}

TEST_CASE("names of expressions speak of the rest of a run", "[reschedule_jobs][api]")
{
    json s = grid({full("here", 1), host("a", 2), host("b", 3)});
    auto on = [&](json more) {
        more["event"] = "requirements_changed";
        more["restart"] = {{"work_done_ref_s", 2000}, {"bytes", 0}};
        return verdict(s, job_on("here", more));
    };
    s["network"] = {{"wan_mbps", 1}};
    CHECK(text(on({{"requirement", "execution_s < 1001"}})) == "migrate worthwhile b");
    CHECK(text(on({{"requirement", "execution_s > 400 && execution_s < 600"}})) ==
          "migrate forced a");
    CHECK(text(on({{"requirement", "turnaround_s < 100"}})) == "keep no_resource");
    CHECK(dropped(on({{"requirement", "turnaround_s < 100"}}), "requirement") == 2);
    CHECK(on({{"rank", "-execution_s"}})["rank_present"] == -1000);
    CHECK(on({{"rank", "queue_wait_s + transfer_s"}})["rank_present"] == 0);
    CHECK(on({{"rank", "gpu"}})["rank_present"].is_null());
}
