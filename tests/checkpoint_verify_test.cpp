// checkpoint_verify_test.cpp - POST /v1/checkpoint-intervals: jobs on several nodes,
// spares, laws of nodes, and trials of what is answered.
#include "tests/api.hpp"

#include <cmath>
#include <random>
#include <set>

using nlohmann::json;

namespace
{
const char *const path = "/v1/checkpoint-intervals";

json job()
{
    return {{"id", "j"},
            {"event", "start"},
            {"execution_time_s", 43200},
            {"checkpoint_overhead_s", 600},
            {"restart_s", 600},
            {"reschedule_delay_s", 300}};
}

json body_of(const char *algorithm, const json &one)
{
    return {{"algorithm", algorithm}, {"jobs", json::array({one})}};
}

json decide(api &service, const json &body)
{
    api_reply r = service.post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 200);
    return r.json();
}

bool warned(const json &answer, const std::string &code)
{
    for (const auto &text : answer["warnings"])
        if (text.get<std::string>().rfind(code + ":", 0) == 0)
            return true;
    return false;
}

// One node of mean 86400, as new.
json aged(double shape)
{
    json body = body_of("weibull", job());
    body["options"] = {{"weibull_shape", shape},
                       {"weibull_scale_s", 86400 / std::tgamma(1 + 1 / shape)}};
    body["jobs"][0].update({{"uptime_s", 0},
                            {"checkpoint_overhead_s", 864},
                            {"restart_s", 864},
                            {"restart_from_scratch_s", 864},
                            {"reschedule_delay_s", 0}});
    return body;
}
} // namespace

TEST_CASE("answers with silent errors are played too", "[api][checkpoint]")
{
    api service;

    for (const char *algorithm : {"auto", "exact", "young"}) {
        json body = body_of(algorithm, job());
        body["verify"] = true;
        body["jobs"][0].update(
            {{"mean_failure_interval_s", 40000},
             {"silent", {{"mean_interval_s", 60000}, {"verification_s", 30}}}});
        json got = decide(service, body), one = got["intervals"][0];
        CHECK_FALSE(warned(got, "verify_skipped"));
        CHECK(one["verified"]["agrees"] == true);
        CHECK(got["status"] == "feasible");
    }
}

TEST_CASE("answers are played when that is asked for", "[api][checkpoint]")
{
    api service;
    json body = body_of("finite", job());
    body["jobs"][0]["mean_failure_interval_s"] = 21600;
    body["verify"] = true;
    json got = decide(service, body), one = got["intervals"][0];
    CHECK(got["status"] == "optimal");
    CHECK(one["verified"]["agrees"] == true);
    CHECK(one["verified"]["cut"] == false);
    CHECK(std::fabs(one["verified"]["mean_s"].get<double>() - 56573.821883) <
          1.5 * one["verified"]["ci95_s"].get<double>());
    CHECK(one["expected_completion_s"].get<double>() ==
          Approx(56573.821883).epsilon(1e-9));
    // The same again, whatever else is asked; other draws with another seed.
    body["jobs"].push_back(job());
    body["jobs"][1].update({{"id", "k"}, {"mean_failure_interval_s", 30000}});
    json again = decide(service, body)["intervals"];
    CHECK(again[0]["verified"] == one["verified"]);
    body["verify"] = {{"seed", 77}, {"trial_count", 2000}};
    again = decide(service, body)["intervals"];
    CHECK(again[0]["verified"]["mean_s"] != one["verified"]["mean_s"]);
    CHECK(again[0]["verified"]["trial_count"].get<int>() <= 2000);
    // A job's own word wins.
    body["jobs"][0]["verify"] = {{"trial_count", 500}};
    body["verify"] = false;
    again = decide(service, body)["intervals"];
    CHECK(again[0]["verified"]["trial_count"] == 500);
    CHECK(again[1].count("verified") == 0);
    // Formulas too; and what has no end has nothing to compare.
    body = body_of("young", body["jobs"][1]);
    body["verify"] = true;
    CHECK(decide(service, body)["intervals"][0]["verified"]["agrees"] == true);
    body["jobs"][0].erase("execution_time_s");
    got = decide(service, body);
    CHECK(warned(got, "verify_skipped"));
    CHECK(got["intervals"][0].count("verified") == 0);
    body["verify"] = {{"trial_count", 1000001}};
    api_reply r = service.post(path, body.dump());
    CHECK(r.status == 422);
    CHECK(r.json()["errors"][0]["pointer"] == "/verify/trial_count");
    CHECK(r.json()["errors"][0]["detail"].get<std::string>().find("1000000") !=
          std::string::npos);
}

TEST_CASE("a node that ages is decided by a dynamic programme", "[api][checkpoint]")
{
    api service;
    json body = aged(0.7);
    json one = decide(service, body)["intervals"][0];
    CHECK(one["expected_completion_s"].get<double>() == Approx(51038.68).epsilon(1e-4));
    CHECK(one["lower_bound_s"].get<double>() == Approx(50820.96).epsilon(3e-4));
    CHECK(one["bound_basis"] == "dp");
    CHECK(one["gap_ratio"].get<double>() ==
          Approx(one["expected_completion_s"].get<double>() /
                     one["lower_bound_s"].get<double>() -
                 1)
              .epsilon(1e-9));
    CHECK(one["gap_basis"] == "finite");
    CHECK(one.count("best_completion_s") == 0);
    CHECK(one["waste_ratio"].get<double>() == Approx(1 - 43200 / 51038.68).epsilon(1e-3));
    // A gap that is the bound's does not say that other checkpoints are better.
    json long_one = aged(0.5);
    json warnings = decide(service, long_one);
    CHECK(warnings["intervals"][0]["bound_basis"] == "dp");
    CHECK(warnings["intervals"][0]["gap_ratio"].get<double>() > 0.01);
    CHECK_FALSE(warned(warnings, "few_intervals"));
    body["options"]["bound"] = "none";
    one = decide(service, body)["intervals"][0];
    CHECK(one["lower_bound_s"] == 43200);
    CHECK(one["bound_basis"] == "trivial");
    CHECK(one["gap_ratio"].is_null());
    // The rule of the middle is close, and is played for its expected time.
    body["options"]["method"] = "midpoint";
    body["verify"] = {{"trial_count", 3000}};
    one = decide(service, body)["intervals"][0];
    CHECK(one["expected_completion_s"].get<double>() == Approx(51038.68).epsilon(0.01));
    CHECK(one["verified"]["trial_count"] == 3000);
    // Several nodes have no programme, and their expected time is played.
    body["jobs"][0]["nodes"] = 4;
    one = decide(service, body)["intervals"][0];
    CHECK(one["expected_completion_s"].get<double>() > 52000);
    CHECK(one["bound_basis"] == "trivial");
    body["options"]["method"] = "dp";
    api_reply r = service.post(path, body.dump());
    CHECK(r.status == 422);
    CHECK(r.json()["errors"][0]["pointer"] == "/options/method");
    CHECK(r.json()["errors"][0]["code"] == "invalid_combination");
}

TEST_CASE("a running job asks the dynamic programme", "[api][checkpoint]")
{
    api service;
    json body = aged(0.7);
    body["jobs"][0].update({{"event", "request"},
                            {"remaining_s", 30},
                            {"work_since_checkpoint_s", 3600},
                            {"uptime_s", 20000}});
    json one = decide(service, body)["intervals"][0];
    CHECK(one["action"] == "omit");
    CHECK(one["reason"] == "cheaper_to_redo");
    CHECK(one["next_request_in_s"].is_null());
    body["jobs"][0].update({{"remaining_s", 20000}, {"work_since_checkpoint_s", 13200}});
    one = decide(service, body)["intervals"][0];
    CHECK(one["action"] == "take");
    CHECK(one["next_request_in_s"].get<double>() > 5000);
    body["jobs"][0]["work_since_checkpoint_s"] = 23201;
    api_reply r = service.post(path, body.dump());
    CHECK(r.status == 422);
    CHECK(r.json()["errors"][0]["pointer"] == "/jobs/0/work_since_checkpoint_s");
}

TEST_CASE("a node that fits no law but Weibull's is found by auto", "[api][checkpoint]")
{
    api service;
    std::mt19937_64 random(4);
    std::weibull_distribution<double> draw(0.5, 20000);
    std::vector<double> times = {0};
    for (int i = 0; i < 60; i++)
        times.push_back(times.back() + 1 + draw(random));
    json body = body_of("auto", job());
    body["now_s"] = times.back() + 5000;
    body["jobs"][0]["resource_id"] = "r";
    body["snapshot"]["resources"] = {
        {{"id", "r"}, {"site_id", "s"}, {"failure_times_s", times}},
        {{"id", "q"}, {"site_id", "s"}, {"failure_times_s", {times[9]}}}};
    json got = decide(service, body);
    CHECK(got["algorithm"] == "weibull");
    CHECK(got["intervals"][0]["bound_basis"] == "dp");
    body["options"] = {{"law", "exponential"}};
    CHECK(decide(service, body)["algorithm"] == "finite");
    // The other host of the site has no fit, but the site's shape.
    body.erase("options");
    body["jobs"][0]["resource_id"] = "q";
    CHECK(decide(service, body)["algorithm"] == "finite");
    body["algorithm"] = "weibull";
    body["jobs"][0].erase("resource_id");
    body["jobs"][0]["resource_ids"] = {"q", "r"};
    got = decide(service, body)["intervals"][0];
    CHECK(got["basis"]["laws"]["weibull"] == 2);
    CHECK(got["basis"]["laws"]["exponential"] == 0);
    CHECK(got["expected_completion_s"].get<double>() > 43200);
    body["options"] = {{"law", "exponential"}};
    got = decide(service, body)["intervals"][0];
    CHECK(got["basis"]["laws"]["exponential"] == 2);
    CHECK(got["bound_basis"] == "closed_form");
}

TEST_CASE("spares, and nodes that come back", "[api][checkpoint]")
{
    api service;
    json body = body_of("finite", job());
    body["jobs"][0].update(
        {{"nodes", 64}, {"mean_failure_interval_s", 5e6}, {"mttr_s", 14400}});
    json one = decide(service, body)["intervals"][0];
    CHECK(one.count("effective_delay_s") == 0);
    body["jobs"][0]["spare_nodes"] = 1;
    one = decide(service, body)["intervals"][0];
    CHECK(one["effective_delay_s"].get<double>() == Approx(1420.562).epsilon(1e-6));
    CHECK(one["wait_for_spare_probability"].get<double>() ==
          Approx(0.155634).epsilon(1e-5));
    // More spares than there are other resources are said; nobody says which there are.
    auto warns = [&] {
        return decide(service, body)["warnings"].dump().find("spares_exceed: 1 job") !=
               std::string::npos;
    };
    CHECK_FALSE(warns());
    json pooled = body;
    std::swap(pooled, body);
    for (int i = 0; i < 65; i++)
        body["snapshot"]["resources"].push_back({{"id", "n" + std::to_string(i)}});
    CHECK_FALSE(warns());
    body["jobs"][0]["spare_nodes"] = 2;
    CHECK(warns());
    std::swap(pooled, body);
    body["jobs"][0]["replacement"] = "any";
    CHECK(decide(service, body)["intervals"][0].count("effective_delay_s") == 0);
    body["jobs"][0]["replacement"] = "same";
    one = decide(service, body)["intervals"][0];
    CHECK(one["effective_delay_s"].get<double>() == 14700);
    CHECK(one["wait_for_spare_probability"] == 1);
    body["jobs"][0].erase("mttr_s");
    api_reply r = service.post(path, body.dump());
    CHECK(r.status == 422);
    CHECK(r.json()["errors"][0]["pointer"] == "/jobs/0/mttr_s");
    CHECK(r.json()["errors"][0]["code"] == "required");
}

TEST_CASE("nodes of a pool fail as its resources do in the mean", "[api][checkpoint]")
{
    api service;
    json body = body_of("young", job());
    body["now_s"] = 1e6;
    body["snapshot"]["resources"] = {
        {{"id", "a"}, {"observed_since_s", 0}, {"failure_count", 4}},
        {{"id", "b"}, {"observed_since_s", 0}, {"failure_count", 1}}};
    body["jobs"][0]["nodes"] = 6;
    double mean_s = 1e6 / (6 * 2.5);
    json one = decide(service, body)["intervals"][0];
    CHECK(one["mean_failure_interval_s"].get<double>() == Approx(mean_s).epsilon(1e-12));
    CHECK(one["basis"]["nodes"] == 6);
    body["jobs"][0]["pool_resource_ids"] = {"b"};
    one = decide(service, body)["intervals"][0];
    CHECK(one["mean_failure_interval_s"].get<double>() == Approx(1e6 / 6).epsilon(1e-12));
    body["jobs"][0]["pool_resource_ids"] = {"b", "z", "b"};
    body["jobs"][0]["resource_ids"] = json::array();
    json errors = service.post(path, body.dump()).json()["errors"];
    std::set<std::string> pointers;
    for (const json &e : errors)
        pointers.insert(e["pointer"].get<std::string>());
    CHECK(pointers == std::set<std::string>{"/jobs/0/pool_resource_ids/1",
                                            "/jobs/0/pool_resource_ids/2",
                                            "/jobs/0/resource_ids"});
    body["jobs"][0]["spare_nodes"] = 0.5;
    CHECK(service.post(path, body.dump()).json()["errors"][0]["pointer"] ==
          "/jobs/0/spare_nodes");
}

TEST_CASE("whether there is an image is what the job says", "[api][checkpoint]")
{
    api service;
    json body = body_of("finite", job());
    body["jobs"][0].update(
        {{"mean_failure_interval_s", 21600}, {"restart_from_scratch_s", 7200}});
    json one = decide(service, body)["intervals"][0];
    CHECK(one["action"] == "take");
    CHECK(one["reason"] == "image_first");
    CHECK(one["expected_completion_s"].get<double>() ==
          Approx(57617.267888).epsilon(1e-9));
    body["jobs"][0]["has_checkpoint"] = true; // R0 := R
    one = decide(service, body)["intervals"][0];
    CHECK(one["expected_completion_s"].get<double>() ==
          Approx(56756.368752).epsilon(1e-9));
    CHECK(one["segments"]["count"] == 9);
    body["jobs"][0]["has_checkpoint"] = 1;
    CHECK(service.post(path, body.dump()).status == 422);
}

TEST_CASE("what a restart costs is decided once, and the basis says it",
          "[api][checkpoint]")
{
    api service;
    json body = body_of("finite", job());
    json &x = body["jobs"][0];
    auto one = [&] { return decide(service, body)["intervals"][0]; };
    auto expected = [&] { return one()["expected_completion_s"].get<double>(); };
    const json none = {{"restart_from_scratch_s", 7200}, {"has_checkpoint", false}},
               image = {{"restart_from_scratch_s", 600}, {"has_checkpoint", true}};

    x.update({{"mean_failure_interval_s", 21600}, {"restart_from_scratch_s", 7200}});
    CHECK(one()["basis"] == none);
    x["has_checkpoint"] = true;
    CHECK(one()["basis"] == image);
    x.erase("has_checkpoint");
    // at a request: what is done, against what was done since
    x.update({{"event", "request"}, {"remaining_s", 38000}});
    for (const char *u : {"work_since_checkpoint_s", "interval_cur_s"}) {
        x[u] = 5200;
        CHECK(one()["basis"] == none);
        CHECK(expected() == Approx(57617.267888).epsilon(1e-9));
        x[u] = 5199;
        CHECK(one()["basis"] == image);
        CHECK(expected() == Approx(56756.368752).epsilon(1e-9));
        x["has_checkpoint"] = false;
        CHECK(one()["basis"] == none);
        x.erase("has_checkpoint");
        x.erase(u);
    }
    // without both the interval of the policy: of finite the first segment, which is
    // empty here, of young a fixed one
    CHECK(one()["basis"] == image);
    CHECK(expected() == Approx(56756.368752).epsilon(1e-9));
    for (const char *policy : {"young", "exact", "periodic", "none"}) {
        body["algorithm"] = policy;
        x["remaining_s"] = 38000;
        CHECK(one()["basis"] == (policy[0] == 'n' ? none : image));
        x["remaining_s"] = 43000;
        CHECK(one()["basis"] == none);
    }
    // who has nothing left to do saves nothing
    x["remaining_s"] = 0;
    for (const char *policy : {"finite", "young", "exact", "daly", "weibull"})
        for (double u : {0.0, 5000.0}) {
            body["algorithm"] = policy;
            x["work_since_checkpoint_s"] = u;
            INFO(policy << " " << u);
            CHECK(one()["action"] == "omit");
            CHECK(one()["reason"] == "cheaper_to_redo");
            CHECK(one()["next_request_in_s"].is_null());
        }
    // where nothing rests on it, it is left out
    x.erase("work_since_checkpoint_s");
    x.erase("remaining_s");
    x.erase("execution_time_s");
    body["algorithm"] = "young";
    CHECK_FALSE(one().contains("basis"));
    x["execution_time_s"] = 43200;
    x.erase("mean_failure_interval_s");
    x["resource_id"] = "r";
    body["snapshot"]["resources"] = json::array({json{{"id", "r"}}});
    CHECK_FALSE(one()["basis"].contains("has_checkpoint"));
}

TEST_CASE("with an image every restart reads it, whatever else a job says",
          "[api][checkpoint]")
{
    api service;
    const json level = {{"level", 1},
                        {"checkpoint_overhead_s", 60},
                        {"restart_s", 600},
                        {"survives_ratio", 1}};
    for (const json &more :
         {json{{"silent", {{"mean_interval_s", 60000}, {"verification_s", 30}}}},
          json{{"predictor",
                {{"recall_ratio", 0.7}, {"precision_ratio", 0.9}, {"lead_s", 900}}}},
          json{{"notice", {{"interruptions_per_hour", 0.1}, {"notice_s", 900}}}},
          json{{"power", {{"static_w", 100}, {"io_w", 50}}}},
          json{{"levels", {level}}}}) {
        json body = body_of("finite", job());
        json &x = body["jobs"][0];
        x.update({{"mean_failure_interval_s", 21600}, {"execution_time_s", 43200}});
        x.update(more);
        if (more.contains("levels"))
            x.erase("checkpoint_overhead_s"), x.erase("restart_s");
        INFO(more.dump());
        x["restart_from_scratch_s"] = 7200;
        const json dear = decide(service, body)["intervals"][0];
        x["has_checkpoint"] = true;
        const json with = decide(service, body)["intervals"][0];
        x["has_checkpoint"] = false;
        x["restart_from_scratch_s"] = 600;
        const json as_dear = decide(service, body)["intervals"][0];
        CHECK(with["expected_completion_s"] == as_dear["expected_completion_s"]);
        CHECK(with["expected_completion_s"] < dear["expected_completion_s"]);
        CHECK(with["basis"]["restart_from_scratch_s"] == 600);
        CHECK(with["basis"]["has_checkpoint"] == true);
        CHECK(dear["basis"]["restart_from_scratch_s"] == 7200);
    }
}

TEST_CASE("jobs that never end, and such as are too long for a table",
          "[api][checkpoint]")
{
    api service;
    json body = aged(0.7);
    body["options"].update({{"weibull_scale_s", 0.01}, {"method", "dp"}});
    body["verify"] = true;
    json got = decide(service, body), one = got["intervals"][0];
    CHECK(warned(got, "hopeless"));
    CHECK(warned(got, "verify_skipped"));
    CHECK(one.count("expected_completion_s") == 0);
    CHECK(one["bound_basis"] == "trivial");
    body = aged(0.7);
    body["options"]["method"] = "dp";
    body["jobs"][0]["execution_time_s"] = 1e10;
    body["jobs"].push_back(body["jobs"][0]);
    body["jobs"][1].update({{"id", "k"}, {"execution_time_s", 40000}});
    for (int i = 0; i < 10; i++) { // so many that nothing is played unasked
        body["jobs"].push_back(body["jobs"][0]);
        body["jobs"].back()["id"] = "l" + std::to_string(i);
    }
    got = decide(service, body);
    CHECK(warned(got, "cut_to_midpoint"));
    CHECK(warned(got, "expected_skipped"));
    CHECK(got["intervals"][0]["interval_s"].get<double>() < 20000);
    CHECK(got["intervals"][0].count("expected_completion_s") == 0);
    CHECK(got["intervals"][1]["expected_completion_s"].get<double>() > 40000);
    CHECK(got["intervals"][1]["bound_basis"] == "trivial"); // of so many, none
}

TEST_CASE("Slurm's time limit is a quantile of trials", "[api][checkpoint]")
{
    api service;
    json body = body_of("none", job());
    body["jobs"][0].update(
        {{"execution_time_s", 6001}, {"mean_failure_interval_s", 60000}});
    body["render"] = {"slurm"};
    json one = decide(service, body)["intervals"][0];
    CHECK(one["rendered"]["slurm"] == "--signal=B:USR1@1200");
    CHECK(one.count("verified") == 0);
    // nine of ten runs meet no failure
    body["options"] = {{"slurm_time_quantile", 0.9}};
    one = decide(service, body)["intervals"][0];
    CHECK(one["verified"]["quantile_s"] == 6001);
    CHECK(one["verified"]["trial_count"] == 20000);
    CHECK(one["rendered"]["slurm"] == "--signal=B:USR1@1200 --time=101");
    // of the others, half fail before the middle, and wait 300 s
    body["options"]["slurm_time_quantile"] = 0.95;
    body["verify"] = {{"trial_count", 50000}};
    one = decide(service, body)["intervals"][0];
    double q = one["verified"]["quantile_s"];
    CHECK(q > 6301);
    CHECK(q == Approx(6301 + 60000 * -log(1 - (0.95 - exp(-6001 / 60000.0)) /
                                                  exp(-6001 / 60000.0)))
                   .epsilon(0.03));
    CHECK(one["rendered"]["slurm"] ==
          "--signal=B:USR1@1200 --time=" + std::to_string((int)std::ceil(q / 60)));
    CHECK(decide(service, body)["intervals"][0] == one);
    // without a known end there is no trial, and that is said
    body["jobs"][0].erase("execution_time_s");
    const json unknown = decide(service, body);
    CHECK(warned(unknown, "slurm_time_unknown"));
    CHECK(unknown["intervals"][0]["rendered"]["slurm"] == "--signal=B:USR1@1200");
    // who does not ask for Slurm has no limit, and FTI another level
    body = body_of("young", job());
    body["jobs"][0]["mean_failure_interval_s"] = 43200;
    body["render"] = {"fti"};
    body["options"] = {{"slurm_time_quantile", 0.9}, {"fti_level", 2}};
    one = decide(service, body)["intervals"][0];
    CHECK(one.count("verified") == 0);
    CHECK(one["rendered"]["fti"] ==
          "ckpt_l1 = 0\nckpt_l2 = 120\nckpt_l3 = 0\nckpt_l4 = 0");
    for (double level : {1.0, 5.0, 2.5}) {
        body["options"] = {{"fti_level", level}};
        api_reply r = service.post(path, body.dump());
        CHECK(r.status == 422);
        CHECK(r.json()["errors"][0]["pointer"] == "/options/fti_level");
    }
}

TEST_CASE("trials go by the interval that is answered, not by one below it",
          "[api][checkpoint]")
{
    // Checkpoints that cost nothing come every second. Played every millisecond they
    // would take minutes.
    api service;
    json body = aged(0.7);
    body["time_limit_s"] = 60;
    body["verify"] = true;
    body["options"]["method"] = "midpoint";
    body["jobs"][0].update({{"execution_time_s", 8},
                            {"checkpoint_overhead_s", 0},
                            {"restart_s", 0},
                            {"restart_from_scratch_s", 0},
                            {"reschedule_delay_s", 300}});
    json one = decide(service, body)["intervals"][0];
    CHECK(one["interval_s"] == 1);
    CHECK(one["checkpoint_count"] == 7);
    REQUIRE(one.contains("verified"));
    CHECK(one["verified"]["cut"] == false);
    CHECK(one["verified"]["agrees"] == true);
    // a second is lifted by who asks for less
    body["options"]["min_interval_s"] = 0.5;
    one = decide(service, body)["intervals"][0];
    CHECK(one["interval_s"] == 0.5);
    CHECK(one["verified"]["cut"] == false);
}

TEST_CASE("a mean is not known before what is rare has happened", "[api][checkpoint]")
{
    // One run of a thousand meets a failure, and then waits for five hours.
    api service;
    json body = body_of("none", job());
    body["jobs"][0].update({{"execution_time_s", 100},
                            {"mean_failure_interval_s", 100000},
                            {"reschedule_delay_s", 18000}});
    body["verify"] = true;
    for (int seed : {1, 2, 3, 4}) {
        body["seed"] = seed;
        json one = decide(service, body)["intervals"][0];
        CHECK(one["expected_completion_s"].get<double>() ==
              Approx(118000 * std::expm1(1e-3)).epsilon(1e-9));
        CHECK(one["verified"]["trial_count"] == 20000);
        CHECK(one["verified"]["ci95_s"].get<double>() > 0);
        CHECK(one["verified"]["mean_s"].get<double>() ==
              Approx(118).margin(2 * one["verified"]["ci95_s"].get<double>()));
    }
}
