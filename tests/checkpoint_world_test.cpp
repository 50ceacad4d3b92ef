// checkpoint_world_test.cpp - POST /v1/checkpoint-intervals: levels, alarms, notices,
// silent errors, energy and cost, a shared file system.
#include "tests/api.hpp"

extern "C" {
#include "algorithms/checkpoint/finite_plan.h"
}

using namespace nlohmann::literals;

namespace
{
const char *const path = "/v1/checkpoint-intervals";

bool warned(const nlohmann::json &answer, const std::string &begin)
{
    for (const auto &text : answer["warnings"])
        if (text.get<std::string>().rfind(begin + ":", 0) == 0)
            return true;
    return false;
}

nlohmann::json ask(const nlohmann::json &body)
{
    api service;
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    return r.json();
}

nlohmann::json one_job(nlohmann::json job, nlohmann::json more = nlohmann::json::object())
{
    job["id"] = "j";
    more["jobs"] = nlohmann::json::array({job});
    return more;
}

// The codes of the mistakes by their pointers.
std::map<std::string, std::string> mistakes(const nlohmann::json &body)
{
    api service;
    api_reply r = service.post(path, body.dump());
    std::map<std::string, std::string> out;

    INFO(r.body);
    REQUIRE(r.status == 422);
    const nlohmann::json answer = r.json();
    for (const auto &item : answer["errors"])
        out[item["pointer"].get<std::string>()] = item["code"].get<std::string>();
    return out;
}

const auto levels_b = R"([
    {"level":1,"checkpoint_overhead_s":5,"restart_s":5,"survives_ratio":0.5},
    {"level":2,"checkpoint_overhead_s":15,"restart_s":15,"survives_ratio":0.75},
    {"level":3,"checkpoint_overhead_s":40,"restart_s":60,"survives_ratio":0.9},
    {"level":4,"checkpoint_overhead_s":300,"restart_s":300,"survives_ratio":1}])"_json;
} // namespace

TEST_CASE("a job with levels is answered a pattern", "[api][checkpoint]")
{
    const nlohmann::json answer =
        ask(one_job({{"event", "start"},
                     {"mean_failure_interval_s", 36000},
                     {"reschedule_delay_s", 60},
                     {"execution_time_s", 400000},
                     {"levels", levels_b}},
                    {{"render", {"fti", "scr", "veloc", "dmtcp", "slurm"}}}));
    const nlohmann::json x = answer["intervals"][0], pattern = x["pattern"];

    CHECK(answer["status"] == "feasible");
    REQUIRE(pattern["levels"].size() == 4);
    CHECK(pattern["segment_s"].get<double>() == Approx(828.490).epsilon(1e-5));
    CHECK(pattern["segment_count"] == 16);
    CHECK(pattern["overhead_ratio"].get<double>() == Approx(0.083558).margin(5e-7));
    CHECK(pattern["dropped_levels"].empty());
    const double every[] = {1, 2, 4, 16};
    for (size_t l = 0; l < 4; l++) {
        CHECK(pattern["levels"][l]["level"] == l + 1);
        CHECK(pattern["levels"][l]["every"] == every[l]);
        CHECK(pattern["levels"][l]["interval_s"].get<double>() ==
              Approx(every[l] * 828.490).epsilon(1e-5));
    }
    CHECK(x["interval_s"] == pattern["segment_s"]);
    CHECK(x["next_request_in_s"] == pattern["segment_s"]);
    CHECK(x["reason"] == "started");
    // about what patterns take, without the last checkpoint
    CHECK(x["expected_completion_s"].get<double>() ==
          Approx(400000 * 1.083558).epsilon(2e-3));
    CHECK_FALSE(x.contains("best_completion_s"));
    CHECK(x["rendered"]["fti"] ==
          "ckpt_l1 = 14\nckpt_l2 = 28\nckpt_l3 = 55\nckpt_l4 = 221");
    CHECK(x["rendered"]["scr"] ==
          "SCR_CHECKPOINT_SECONDS=828\nSCR_FLUSH=16\nCKPT=0 INTERVAL=1 TYPE=SINGLE\n"
          "CKPT=1 INTERVAL=2 TYPE=PARTNER\nCKPT=2 INTERVAL=4 TYPE=XOR");
    CHECK(x["rendered"]["veloc"] == "ec_interval = 1657\npersistent_interval = 13256");
    CHECK(x["rendered"]["dmtcp"] == "--interval 13256");
    CHECK(x["rendered"]["slurm"] == "--signal=B:USR1@600");
    CHECK(answer["warnings"].empty());
    // trials go by the pattern, too
    const nlohmann::json played = ask(one_job({{"event", "start"},
                                               {"mean_failure_interval_s", 36000},
                                               {"restart_from_scratch_s", 30},
                                               {"reschedule_delay_s", 60},
                                               {"execution_time_s", 100000},
                                               {"levels", levels_b}},
                                              {{"verify", {{"trial_count", 4000}}}}));
    INFO(played.dump());
    CHECK(played["intervals"][0]["verified"]["agrees"] == true);
    // at a request the job goes on by it
    const nlohmann::json now = ask(one_job(
        {{"mean_failure_interval_s", 36000}, {"levels", levels_b}}))["intervals"][0];
    CHECK(now["action"] == "take");
    CHECK(now["interval_s"].get<double>() > 800);
    // near the end one on the node still pays, and then none does
    for (double left_s : {3000.0, 3.0}) {
        const nlohmann::json end = ask(one_job({{"mean_failure_interval_s", 36000},
                                                {"execution_time_s", 100000},
                                                {"remaining_s", left_s},
                                                {"work_since_checkpoint_s", 1500},
                                                {"levels", levels_b}}))["intervals"][0];
        INFO(end.dump());
        CHECK(end["action"] == (left_s > 10 ? "take" : "omit"));
    }
}

TEST_CASE("a pattern in whole minutes is judged by all its levels", "[api][checkpoint]")
{
    // 13 and 105 minutes for 789.1 and 6312.5 s: hardly worse, though 789 s are far from
    // what a level that costs 300 s alone would have
    const nlohmann::json good = ask(one_job({{"mean_failure_interval_s", 36000},
                                             {"reschedule_delay_s", 60},
                                             {"levels", {levels_b[0], levels_b[3]}}},
                                            {{"render", {"fti"}}}));
    INFO(good.dump());
    CHECK(good["intervals"][0]["rendered"]["fti"] ==
          "ckpt_l1 = 13\nckpt_l2 = 0\nckpt_l3 = 0\nckpt_l4 = 105");
    CHECK_FALSE(warned(good, "rounded"));
    // a segment of seconds becomes a minute, which is worse
    CHECK(warned(
        ask(one_job(
            {{"mean_failure_interval_s", 36},
             {"levels",
              {{{"level", 1}, {"checkpoint_overhead_s", 0.01}, {"survives_ratio", 1}}}}},
            {{"render", {"fti"}}})),
        "rounded"));
}

TEST_CASE("levels that are not worth it are dropped", "[api][checkpoint]")
{
    const nlohmann::json x = ask(one_job(
        {{"mean_failure_interval_s", 20000},
         {"levels",
          {{{"level", 1}, {"checkpoint_overhead_s", 99}, {"survives_ratio", 0.01}},
           {{"level", 4}, {"checkpoint_overhead_s", 100}, {"survives_ratio", 1}}}}},
        {{"render", {"scr", "veloc"}}}))["intervals"][0];

    CHECK(x["pattern"]["levels"].size() + x["pattern"]["dropped_levels"].size() == 2);
    CHECK(x["pattern"]["segment_count"] == 1);
    CHECK(x["rendered"]["veloc"].get<std::string>().rfind("ec_interval = -1\n", 0) == 0);
    // whole minutes and seconds are too coarse here
    const nlohmann::json coarse = ask(one_job(
        {{"mean_failure_interval_s", 60},
         {"levels",
          {{{"level", 1}, {"checkpoint_overhead_s", 0.01}, {"survives_ratio", 1}}}}},
        {{"render", {"fti"}}}));
    CHECK(warned(coarse, "rounded"));
    const nlohmann::json unknown = ask(one_job(
        {{"levels", levels_b}, {"failure_age_s", 100}}, {{"algorithm", "exact"}}));
    CHECK(warned(unknown, "mean_unknown"));
    CHECK_FALSE(unknown["intervals"][0].contains("pattern"));
}

TEST_CASE("no segment of levels is shorter than a second", "[api][checkpoint]")
{
    api a;

    // Levels that cost nothing, and one that costs more than half a failure interval.
    for (double overhead_s : {0., 2000.}) {
        json body = json::parse(R"({"algorithm": "exact", "jobs": [{"id": "j",
            "execution_time_s": 6000, "mean_failure_interval_s": 1500, "levels": [
                {"level": 1, "checkpoint_overhead_s": 0, "survives_ratio": 0.5},
                {"level": 2, "checkpoint_overhead_s": 0, "survives_ratio": 1}]}]})");
        for (auto &l : body["jobs"][0]["levels"])
            l["checkpoint_overhead_s"] = overhead_s;
        api_reply r = a.post("/v1/checkpoint-intervals", body.dump());
        REQUIRE(r.status == 200);
        json one = r.json()["intervals"][0];
        INFO(one.dump(1));
        double least_s = std::max(1., overhead_s * 1.0001);
        CHECK(one["interval_s"].get<double>() == Approx(least_s).epsilon(1e-12));
        CHECK(one["at_minimum"] == true);
        CHECK(r.json()["warnings"].dump().find("at_floor: 1 job") != std::string::npos);
        const json &p = one["pattern"];
        CHECK(p["segment_s"] == one["interval_s"]);
        // Of one level, or of levels that cost the same: as a single level.
        double attempt = (least_s + overhead_s) / 1500;
        if (p["levels"].size() == 1)
            CHECK(p["overhead_ratio"].get<double>() ==
                  Approx(1500 * std::expm1(attempt) / least_s - 1).epsilon(1e-9));
    }
}

TEST_CASE("mistakes of levels are all told", "[api][checkpoint]")
{
    auto found = mistakes(one_job(
        {{"mean_failure_interval_s", 1000},
         {"silent", {{"mean_interval_s", 1000}}},
         {"levels",
          {{{"level", 2}, {"checkpoint_overhead_s", 50}, {"survives_ratio", 0.5}},
           {{"level", 2}, {"checkpoint_overhead_s", 40}, {"survives_ratio", 0.4}},
           {{"level", 3}, {"checkpoint_overhead_s", 60}},
           {{"level", 5}, {"checkpoint_overhead_s", 70}, {"survives_ratio", 0.9}}}}}));

    CHECK(found["/jobs/0/levels/1/level"] == "out_of_order");
    CHECK(found["/jobs/0/levels/1/checkpoint_overhead_s"] == "out_of_order");
    CHECK(found["/jobs/0/levels/1/survives_ratio"] == "out_of_order");
    CHECK(found["/jobs/0/levels/2/survives_ratio"] == "required");
    CHECK(found["/jobs/0/levels/3/survives_ratio"] == "out_of_bounds");
    CHECK(found["/jobs/0/silent"] == "invalid_combination");
    found = mistakes(one_job({{"mean_failure_interval_s", 1000},
                              {"levels",
                               {{{"level", 3.5}, {"checkpoint_overhead_s", 60}},
                                {{"level", 4}, {"checkpoint_overhead_s", -60}}}}}));
    CHECK(found["/jobs/0/levels/0/level"] == "not_an_integer");
    CHECK(found["/jobs/0/levels/1/checkpoint_overhead_s"] == "out_of_bounds");
    nlohmann::json seven = nlohmann::json::array();
    for (int l = 1; l <= 7; l++)
        seven.push_back(
            {{"level", l}, {"checkpoint_overhead_s", l}, {"survives_ratio", 1}});
    CHECK(mistakes(one_job({{"mean_failure_interval_s", 1000}, {"levels", seven}}))
              .count("/jobs/0/levels") == 1);
}

TEST_CASE("alarms of a predictor", "[api][checkpoint]")
{
    nlohmann::json job = {
        {"checkpoint_overhead_s", 120},
        {"mean_failure_interval_s", 20000},
        {"restart_s", 120},
        {"restart_from_scratch_s", 120},
        {"reschedule_delay_s", 60},
        {"execution_time_s", 200000},
        {"event", "start"},
        {"predictor",
         {{"recall_ratio", 0.7}, {"precision_ratio", 0.4}, {"lead_s", 300}}}};
    const nlohmann::json answer = ask(one_job(job, {{"algorithm", "young"}}));
    const nlohmann::json x = answer["intervals"][0];

    CHECK(x["interval_s"].get<double>() == Approx(4000).epsilon(1e-9));
    CHECK(x["mean_failure_interval_s"] == 20000);
    CHECK(x["planned_mean_interval_s"].get<double>() == Approx(20000 / 0.3));
    CHECK(x["alarm_threshold_s"].get<double>() == Approx(300));
    CHECK(x["expected_completion_s"].get<double>() ==
          Approx(200000 * 1.082).epsilon(3e-3));
    CHECK(x["drawn"]["trial_count"].get<int>() >= 1000);
    CHECK_FALSE(x.contains("lower_bound_s"));
    CHECK(answer["status"] == "feasible");
    // the same bytes again, other ones with another seed
    CHECK(ask(one_job(job, {{"algorithm", "young"}}))["intervals"] ==
          answer["intervals"]);
    CHECK(ask(one_job(job, {{"algorithm", "young"}, {"seed", 2}}))["intervals"] !=
          answer["intervals"]);

    job["event"] = "alarm";
    job["work_since_checkpoint_s"] = 299.9;
    nlohmann::json now = ask(one_job(job, {{"algorithm", "young"}}))["intervals"][0];
    CHECK(now["action"] == "omit");
    CHECK(now["reason"] == "little_to_lose");
    CHECK(now["next_request_in_s"].get<double>() == Approx(4000 - 299.9));
    job["work_since_checkpoint_s"] = 300;
    now = ask(one_job(job, {{"algorithm", "young"}}))["intervals"][0];
    CHECK(now["action"] == "take");
    CHECK(now["reason"] == "alarm");
    CHECK(now["next_request_in_s"].get<double>() == Approx(4000));
    // told too late: as if there were none
    job["predictor"]["lead_s"] = 119;
    const nlohmann::json late = ask(one_job(job, {{"algorithm", "young"}}));
    CHECK(warned(late, "predictor_unused"));
    CHECK(late["intervals"][0]["action"] == "omit");
    CHECK(late["intervals"][0]["interval_s"].get<double>() ==
          Approx(2190.89).epsilon(1e-5));
    // everything is foreseen
    job["predictor"] = {{"recall_ratio", 1}, {"precision_ratio", 1}, {"lead_s", 120}};
    job["event"] = "start";
    job.erase("work_since_checkpoint_s");
    const nlohmann::json sure =
        ask(one_job(job, {{"algorithm", "finite"}}))["intervals"][0];
    CHECK(sure["reason"] == "too_short");
    CHECK(sure["expected_completion_s"].get<double>() ==
          Approx(200000 * 1.015).epsilon(3e-3));
    // a checkpoint on an alarm is cheaper, and worth it sooner
    job["predictor"]["proactive_overhead_s"] = 30;
    job["predictor"]["precision_ratio"] = 0.5;
    CHECK(ask(one_job(job))["intervals"][0]["alarm_threshold_s"] == 60);
}

TEST_CASE("plans with alarms and notices are played", "[api][checkpoint]")
{
    nlohmann::json job = {{"checkpoint_overhead_s", 60},
                          {"mean_failure_interval_s", 200000},
                          {"restart_s", 120},
                          {"restart_from_scratch_s", 120},
                          {"reschedule_delay_s", 300},
                          {"execution_time_s", 86400},
                          {"event", "start"}};
    nlohmann::json spot = job, foreseen = job, silent = job;

    spot["notice"] = {{"interruptions_per_hour", 0.25}, {"notice_s", 120}};
    foreseen["mean_failure_interval_s"] = 20000;
    foreseen["predictor"] = {
        {"recall_ratio", 0.7}, {"precision_ratio", 0.4}, {"lead_s", 300}};
    silent["silent"] = {{"mean_interval_s", 60000}, {"verification_s", 30}};
    for (const auto &one : {spot, foreseen, silent}) {
        const nlohmann::json answer = ask(one_job(one, {{"verify", true}}));
        const nlohmann::json x = answer["intervals"][0];

        INFO(answer.dump());
        REQUIRE(x.contains("verified"));
        CHECK(x["verified"]["agrees"] == true);
        CHECK(x["verified"]["trial_count"].get<int>() >= 1000);
        CHECK(x["verified"]["mean_s"] != x["expected_completion_s"]);
        CHECK_FALSE(warned(answer, "verify_skipped"));
        CHECK(ask(one_job(one, {{"verify", true}}))["intervals"][0] == x);
    }
    silent.erase("execution_time_s");
    CHECK(warned(ask(one_job(silent, {{"verify", true}})), "verify_skipped"));
    // notices that come too late are failures, and played as such
    spot["notice"]["notice_s"] = 0;
    CHECK(ask(one_job(spot, {{"verify", true}}))["intervals"][0]["verified"]["agrees"] ==
          true);
}

TEST_CASE("mistakes of predictors and notices", "[api][checkpoint]")
{
    auto found = mistakes(one_job(
        {{"checkpoint_overhead_s", 1},
         {"mean_failure_interval_s", 1000},
         {"event", "alarm"},
         {"predictor", {{"recall_ratio", 0.5}, {"precision_ratio", 0}, {"lead_s", 10}}},
         {"notice", {{"interruptions_per_hour", 1}}}}));
    CHECK(found["/jobs/0/predictor/precision_ratio"] == "out_of_bounds");
    CHECK(found["/jobs/0/notice"] == "conflict");
    CHECK(found["/jobs/0/work_since_checkpoint_s"] == "required");
    found = mistakes(one_job({{"checkpoint_overhead_s", 1},
                              {"mean_failure_interval_s", 1000},
                              {"event", "alarm"},
                              {"work_since_checkpoint_s", 5}}));
    CHECK(found["/jobs/0/predictor"] == "required");
    found = mistakes(
        one_job({{"checkpoint_overhead_s", 1},
                 {"mean_failure_interval_s", 1000},
                 {"predictor",
                  {{"recall_ratio", 1.5}, {"precision_ratio", -1}, {"lead_s", 10}}}}));
    CHECK(found.count("/jobs/0/predictor/recall_ratio") == 1);
    CHECK(found.count("/jobs/0/predictor/precision_ratio") == 1);
    found = mistakes(
        one_job({{"checkpoint_overhead_s", 1},
                 {"mean_failure_interval_s", 1000},
                 {"uptime_s", 5},
                 {"notice", {{"interruptions_per_hour", 1}}}},
                {{"algorithm", "weibull"},
                 {"frontier", true},
                 {"options", {{"weibull_shape", 0.7}, {"weibull_scale_s", 900}}}}));
    CHECK(found["/jobs/0/notice"] == "invalid_combination");
    CHECK(found["/frontier"] == "invalid_combination");
}

TEST_CASE("spot machines, and what they cost", "[api][checkpoint]")
{
    nlohmann::json job = {
        {"checkpoint_overhead_s", 60},
        {"mean_failure_interval_s", 200000},
        {"restart_s", 120},
        {"restart_from_scratch_s", 120},
        {"reschedule_delay_s", 300},
        {"execution_time_s", 86400},
        {"event", "start"},
        {"price_per_s", 0.001},
        {"currency", "EUR"},
        {"notice", {{"interruptions_per_hour", 0.25}, {"notice_s", 120}}}};
    const nlohmann::json told = ask(one_job(job))["intervals"][0];

    CHECK(told["expected_completion_s"].get<double>() == Approx(91631.86).epsilon(1e-7));
    CHECK(told["checkpoint_count"] == 17);
    CHECK(told["currency"] == "EUR");
    double busy_s = 88675.99 * (200000 / 200300.0 + 180 / 14400.0);
    CHECK(told["expected_cost"].get<double>() == Approx(0.001 * busy_s).epsilon(1e-6));
    REQUIRE(told["offers"].size() == 1);
    CHECK(told["offers"][0]["expected_time_s"] == told["expected_completion_s"]);
    CHECK(told["offers"][0]["expected_cost"].get<double>() ==
          Approx(told["expected_cost"].get<double>()).epsilon(1e-12));
    CHECK(told["offers"][0]["is_spot"] == true);
    job["pay_while_waiting"] = true;
    CHECK(ask(one_job(job))["intervals"][0]["expected_cost"].get<double>() ==
          Approx(91.63186).epsilon(1e-7));
    job["notice"]["notice_s"] = 0;
    const nlohmann::json answer = ask(one_job(job));
    CHECK(warned(answer, "notice_too_short"));
    CHECK(answer["intervals"][0]["expected_completion_s"].get<double>() ==
          Approx(98036.83).epsilon(1e-7));
    CHECK(answer["intervals"][0]["checkpoint_count"] == 69);
    // a checkpoint on notice that is quicker
    job["notice"]["notice_s"] = 50;
    job["notice"]["proactive_overhead_s"] = 50;
    CHECK(ask(one_job(job))["intervals"][0]["expected_completion_s"].get<double>() ==
          Approx(88675.99 * (1 + 470 / 14400.0)).epsilon(1e-7));
    job["notice"] = {{"interruptions_per_hour", 0.25}};
    // two nodes are taken back twice as often
    job["notice"]["interruptions_per_hour"] = 0.125;
    job["nodes"] = 2;
    job["mean_failure_interval_s"] = 400000;
    const nlohmann::json two = ask(one_job(job))["intervals"][0];
    CHECK(two["expected_completion_s"].get<double>() == Approx(98036.83).epsilon(1e-7));
    CHECK(two["expected_cost"].get<double>() == Approx(2 * 98.03683).epsilon(1e-7));
}

TEST_CASE("offers of resources with a price", "[api][checkpoint]")
{
    nlohmann::json job = {
        {"checkpoint_overhead_s", 60},
        {"restart_s", 120},
        {"execution_time_s", 86400},
        {"event", "start"},
        {"price_per_s", 0.003},
        {"mean_failure_interval_s", 200000},
        {"notice", {{"interruptions_per_hour", 0.25}, {"notice_s", 120}}}};
    nlohmann::json resources = nlohmann::json::array();
    for (const char *id : {"cheap", "dear", "free"})
        resources.push_back({{"id", id},
                             {"mips_total", 100},
                             {"n_max", 1},
                             {"observed_since_s", 0},
                             {"failure_count", 4},
                             {"last_failure_at_s", 500000},
                             {"uptime_total_s", 900000},
                             {"price_per_s", id[0] == 'c'   ? 0.001
                                             : id[0] == 'd' ? 0.01
                                                            : 0}});
    const nlohmann::json answer =
        ask(one_job(job, {{"now_s", 1000000}, {"snapshot", {{"resources", resources}}}}));
    const nlohmann::json offers = answer["intervals"][0]["offers"];

    INFO(answer.dump());
    REQUIRE(offers.size() == 3);
    CHECK_FALSE(warned(answer, "ignored"));
    CHECK(offers[0]["resource_id"] == "cheap");
    CHECK(offers[0]["is_spot"] == false);
    CHECK_FALSE(offers[1].contains("resource_id"));
    CHECK(offers[1]["is_spot"] == true);
    CHECK(offers[2]["resource_id"] == "dear");
    CHECK(offers[0]["expected_cost"].get<double>() <
          offers[1]["expected_cost"].get<double>());
    CHECK_FALSE(warned(answer, "offers_left_out"));

    // where nobody saw failures there is no price, and that is said; so is a job that
    // fails there faster than it is saved, and a resource beyond the first thousand
    resources.push_back({{"id", "new"}, {"price_per_s", 0.002}});
    resources.push_back({{"id", "bad"},
                         {"observed_since_s", 999900},
                         {"failure_count", 1000},
                         {"last_failure_at_s", 999999},
                         {"price_per_s", 0.0001}});
    for (int r = 0; r < 1000; r++)
        resources.push_back({{"id", "r" + std::to_string(r)}});
    resources.push_back({{"id", "last"}, {"price_per_s", 0.002}});
    const nlohmann::json less =
        ask(one_job(job, {{"algorithm", "finite"},
                          {"now_s", 1000000},
                          {"snapshot", {{"resources", resources}}},
                          {"options", {{"mf_estimator", "censored"}}}}));
    INFO(less.dump());
    CHECK(less["intervals"][0]["offers"] == offers);
    CHECK(warned(less, "offers_left_out"));
    CHECK(less["warnings"].dump().find("for the first 3 resources") != std::string::npos);
}

TEST_CASE("resources of the snapshot carry their price and notice", "[api][checkpoint]")
{
    auto host = [](const char *id, double price, nlohmann::json notice) {
        nlohmann::json r = {{"id", id},
                            {"observed_since_s", 0},
                            {"failure_count", 4},
                            {"last_failure_at_s", 700000},
                            {"uptime_total_s", 1000000}};
        if (price > 0)
            r["price_per_s"] = price;
        if (!notice.is_null())
            r["notice"] = notice;
        return r;
    };
    nlohmann::json spot = {{"interruptions_per_hour", 0.25}, {"notice_s", 120}};
    nlohmann::json more = {
        {"now_s", 1000000},
        {"snapshot",
         {{"resources",
           {host("spot", 0.001, spot), host("firm", 0.003, nullptr),
            host("late", 0.0005,
                 {{"interruptions_per_hour", 0.75}, {"notice_s", 10}})}}}}};
    nlohmann::json job = {{"checkpoint_overhead_s", 60},
                          {"restart_s", 120},
                          {"restart_from_scratch_s", 120},
                          {"reschedule_delay_s", 300},
                          {"execution_time_s", 86400},
                          {"mean_failure_interval_s", 200000},
                          {"event", "start"},
                          {"resource_id", "spot"}};
    const nlohmann::json here = ask(one_job(job, more));
    const nlohmann::json x = here["intervals"][0];

    INFO(here.dump());
    CHECK(x["expected_completion_s"].get<double>() == Approx(91631.86).epsilon(1e-7));
    CHECK_FALSE(warned(here, "ignored"));
    // as if the job had said it
    nlohmann::json said = job;
    said["price_per_s"] = 0.001;
    said["notice"] = spot;
    CHECK(ask(one_job(said, more))["intervals"][0] == x);
    // on-demand beside spot
    REQUIRE(x["offers"].size() == 3);
    std::map<std::string, bool> is_spot;
    for (const auto &offer : x["offers"])
        is_spot[offer["resource_id"]] = offer["is_spot"];
    CHECK(is_spot ==
          std::map<std::string, bool>{{"spot", true}, {"firm", false}, {"late", true}});
    // the job's own word wins
    said["notice"] = {{"interruptions_per_hour", 0}};
    said["price_per_s"] = 1;
    const nlohmann::json own = ask(one_job(said, more))["intervals"][0];
    CHECK(own["expected_completion_s"].get<double>() == Approx(88675.99).epsilon(1e-7));
    CHECK(own["expected_cost"].get<double>() > 80000);
    // of several nodes: all interruptions, the shortest notice, the mean of the prices
    nlohmann::json both = job;
    both.erase("resource_id");
    both["resource_ids"] = {"spot", "late"};
    const nlohmann::json two = ask(one_job(both, more));
    CHECK(warned(two, "notice_too_short"));
    both["price_per_s"] = 0.00075;
    both["notice"] = {{"interruptions_per_hour", 0.5}, {"notice_s", 10}};
    CHECK(ask(one_job(both, more))["intervals"] == two["intervals"]);
    // where a notice has no part that is said
    job["predictor"] = {{"recall_ratio", 0.5}, {"precision_ratio", 0.5}, {"lead_s", 300}};
    CHECK(warned(ask(one_job(job, more)), "notice_unused"));
    job.erase("predictor");
    job["resource_id"] = "firm";
    CHECK_FALSE(warned(ask(one_job(job, more)), "notice_unused"));
    // elsewhere it is not looked at
    api service;
    api_reply r = service.post(
        "/v1/placements", nlohmann::json{{"snapshot", more["snapshot"]},
                                         {"jobs", {{{"id", "j"}, {"estimate_s", 10}}}}}
                              .dump());
    INFO(r.body);
    CHECK(r.status == 200);
    CHECK(r.body.find("ignored: notice of 2 resources") != std::string::npos);
}

TEST_CASE("silent errors are answered verified checkpoints", "[api][checkpoint]")
{
    nlohmann::json job = {
        {"checkpoint_overhead_s", 120},
        {"mean_failure_interval_s", 40000},
        {"restart_s", 120},
        {"reschedule_delay_s", 60},
        {"silent", {{"mean_interval_s", 60000}, {"verification_s", 30}}}};
    const nlohmann::json exact =
        ask(one_job(job, {{"algorithm", "exact"}}))["intervals"][0];

    CHECK(exact["interval_s"].get<double>() == Approx(2189).margin(0.6));
    CHECK(exact["expected_time_ratio"].get<double>() == Approx(1.146416).margin(5e-7));
    const nlohmann::json young =
        ask(one_job(job, {{"algorithm", "young"}}))["intervals"][0];
    CHECK(young["interval_s"].get<double>() == Approx(3098.4).margin(0.05));
    CHECK(young["expected_time_ratio"].get<double>() == Approx(1.155225).margin(2e-6));
    job["execution_time_s"] = 100000;
    job["event"] = "start";
    const nlohmann::json finite =
        ask(one_job(job, {{"algorithm", "finite"}}))["intervals"][0];
    double segments = 100000 / finite["interval_s"].get<double>();
    CHECK(segments == Approx(std::round(segments)).epsilon(1e-9));
    CHECK(finite["checkpoint_count"].get<double>() == std::round(segments) - 1);
    CHECK(finite["expected_completion_s"].get<double>() ==
          Approx(100000 * 1.1464).epsilon(3e-3));
}

TEST_CASE("energy, the frontier and an objective", "[api][checkpoint]")
{
    nlohmann::json job = {
        {"checkpoint_overhead_s", 600},
        {"mean_failure_interval_s", 21600},
        {"restart_s", 600},
        {"restart_from_scratch_s", 600},
        {"reschedule_delay_s", 300},
        {"execution_time_s", 43200},
        {"event", "start"},
        {"power", {{"static_w", 100}, {"compute_w", 200}, {"io_w", 50}}}};
    const nlohmann::json answer = ask(one_job(job, {{"frontier", true}}));
    const nlohmann::json x = answer["intervals"][0];

    CHECK(answer["status"] == "optimal");
    CHECK(x["energy_j"].get<double>() == Approx(1.59113e7).epsilon(5e-6));
    CHECK(x["parts"]["work_s"].get<double>() == Approx(49578.0).margin(0.06));
    CHECK(x["parts"]["failure_count"].get<double>() == Approx(2.5916).margin(6e-5));
    REQUIRE(x["frontier"].size() == 4);
    for (size_t i = 0; i < 4; i++)
        CHECK(x["frontier"][i]["segment_count"] == 9 + i);
    CHECK(x["frontier"][0]["energy_j"] == x["energy_j"]);
    CHECK_FALSE(x["frontier"][0].contains("expected_cost"));
    const nlohmann::json least =
        ask(one_job(job, {{"objective", {"energy_j", "expected_time_s"}}}));
    CHECK(least["intervals"][0]["segments"]["count"] == 12);
    CHECK(least["intervals"][0]["energy_j"] == x["frontier"][3]["energy_j"]);
    CHECK(least["intervals"][0]["expected_completion_s"].get<double>() ==
          Approx(57236.3).margin(0.06));
    CHECK(least["intervals"][0]["gap_ratio"].get<double>() > 0);
    CHECK(least["status"] == "feasible");
    // 4 nodes take four times as much
    job["nodes"] = 4;
    job["mean_failure_interval_s"] = 86400;
    CHECK(ask(one_job(job))["intervals"][0]["energy_j"].get<double>() ==
          Approx(4 * 1.59113e7).epsilon(5e-6));
    // a formula's interval has its own energy
    const nlohmann::json young =
        ask(one_job(job, {{"algorithm", "young"}}))["intervals"][0];
    CHECK(young["energy_j"].get<double>() > 4 * 1.57e7);
    CHECK(young["parts"]["work_s"].get<double>() +
              young["parts"]["checkpoint_s"].get<double>() +
              young["parts"]["recovery_s"].get<double>() +
              young["parts"]["waiting_s"].get<double>() ==
          Approx(young["expected_completion_s"].get<double>()).epsilon(1e-9));

    auto found = mistakes(one_job({{"checkpoint_overhead_s", 1},
                                   {"mean_failure_interval_s", 1000},
                                   {"execution_time_s", 100}},
                                  {{"objective", {"energy_j", "beauty"}}}));
    CHECK(found["/jobs/0/power"] == "required");
    CHECK(found["/objective/1"] == "not_a_choice");
    found = mistakes(one_job({{"checkpoint_overhead_s", 1},
                              {"mean_failure_interval_s", 1000},
                              {"execution_time_s", 100}},
                             {{"objective", {"cost"}}}));
    CHECK(found["/jobs/0/price_per_s"] == "required");
}

TEST_CASE("energy of plans at the edges", "[api][checkpoint]")
{
    nlohmann::json job = {{"checkpoint_overhead_s", 0},
                          {"mean_failure_interval_s", 21600},
                          {"restart_s", 600},
                          {"execution_time_s", 43200},
                          {"event", "start"},
                          {"price_per_s", 1},
                          {"power", {{"static_w", 100}, {"io_w", 50}}}};
    const nlohmann::json body =
        one_job(job, {{"frontier", true}, {"objective", {"energy_j"}}});
    nlohmann::json x = ask(body)["intervals"][0];

    // what costs nothing is still not done more than once a second
    CHECK(x["interval_s"].get<double>() >= 1);
    CHECK(x["gap_ratio"].get<double>() >= 0);
    CHECK(x["offers"][0]["interval_s"].get<double>() >= 1);
    for (const auto &point : x["frontier"])
        CHECK(point["segment_count"].get<double>() <= 43200);
    // sums of 1e22 s hide no work
    job["checkpoint_overhead_s"] = 600;
    job["restart_from_scratch_s"] = 1e6;
    x = ask(one_job(job))["intervals"][0];
    CHECK(x["parts"]["work_s"].get<double>() >= 43200);
    CHECK(x["parts"]["checkpoint_s"].get<double>() >= 600);
}

TEST_CASE("jobs share a file system", "[api][checkpoint]")
{
    nlohmann::json jobs = nlohmann::json::array();
    const double c[] = {600, 300, 120, 400}, m[] = {20000, 40000, 80000, 30000},
                 nodes[] = {512, 256, 64, 128};
    for (size_t i = 0; i < 4; i++)
        jobs.push_back({{"id", std::string(1, static_cast<char>('a' + i))},
                        {"event", "start"},
                        {"nodes", nodes[i]},
                        {"mean_failure_interval_s", m[i] * nodes[i]}});
    for (size_t i = 0; i < 4; i++) // 8 bits of a byte, at 1 Gbit/s
        if (i == 0)
            jobs[i]["checkpoint_bytes"] = c[i] * 1e9 / 8;
        else
            jobs[i]["checkpoint_overhead_s"] = c[i];
    nlohmann::json body = {{"algorithm", "exact"},
                           {"jobs", jobs},
                           {"shared_io", {{"bandwidth_mbps", 1000}}}};
    const nlohmann::json answer = ask(body);
    const double offset_s[] = {0, 1000, 1300, 600};

    CHECK(answer["unconstrained_load_ratio"].get<double>() ==
          Approx(0.292748).margin(5e-7));
    CHECK(answer["load_ratio"].get<double>() == Approx(0.324069).margin(5e-7));
    for (size_t i = 0; i < 4; i++) {
        CHECK(answer["intervals"][i]["period_s"].get<double>() ==
              Approx(4381.780).margin(6e-4));
        CHECK(answer["intervals"][i]["offset_s"].get<double>() ==
              Approx(offset_s[i]).margin(1e-6));
        CHECK(answer["intervals"][i]["overlap_s"] == 0);
    }
    CHECK(answer["intervals"][0]["interval_s"].get<double>() ==
          Approx(4898.979).margin(6e-4));
    body["shared_io"]["use_max_ratio"] = 0.2;
    const nlohmann::json tight = ask(body);
    CHECK(tight["intervals"][2]["interval_s"].get<double>() ==
          Approx(10019.476).margin(6e-4));
    CHECK(tight["intervals"][2]["period_s"].get<double>() == Approx(7100).epsilon(1e-9));
    body["shared_io"]["bandwidth_mbps"] = 0;
    CHECK(mistakes(body).count("/shared_io/bandwidth_mbps") == 1);
    body["shared_io"]["bandwidth_mbps"] = 10;
    body["jobs"][0]["checkpoint_bytes"] = 1e308;
    CHECK(mistakes(body)["/jobs/0/checkpoint_bytes"] == "out_of_bounds");
    body["jobs"][0]["checkpoint_bytes"] = 1e20;
    body["jobs"][1]["mean_failure_interval_s"] = 1e15;
    const nlohmann::json huge = ask(body);
    for (const auto &each : huge["intervals"])
        CHECK(each["period_s"].get<double>() > 0);
    body["jobs"][0]["levels"] = levels_b;
    CHECK(mistakes(body)["/jobs/0/levels"] == "invalid_combination");
}
