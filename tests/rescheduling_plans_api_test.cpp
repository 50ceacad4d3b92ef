// rescheduling_plans_api_test.cpp - POST /v1/rescheduling-plans without a socket.
#include "tests/api.hpp"

#include <fstream>
#include <set>

using nlohmann::json;

namespace
{

json example(const std::string &name)
{
    std::ifstream in(GRIDPLAN_SOURCE_DIR "/openapi/examples/plan-" + name + ".json");
    REQUIRE(in.good());
    return json::parse(in);
}

json plan(api &a, const json &body)
{
    api_reply r = a.post("/v1/rescheduling-plans", body.dump());
    INFO(r.body.substr(0, 1000));
    REQUIRE(r.status == 200);
    return r.json();
}

// Machine i of a site is a list of machines of its own: two schedules with `x` and `y`
// seconds per phase. Phases run on one machine, without communication.
json one_site(double cpu, size_t machines)
{
    json resources = json::array();
    for (size_t i = 0; i < machines; i++)
        resources.push_back(
            {{"id", "m" + std::to_string(i)}, {"cpu_available_ratio", cpu}});
    return {{"id", "s"},
            {"resources", resources},
            {"links", {{"form", "default_with_overrides"}, {"default_mbps", 100}}}};
}

// Phases that take seconds[k] on one free machine, and P machines take 1 / P of it
// (id 2), or the same (no function: P^-0 is not there, so communication is nil).
json phases(const std::vector<double> &seconds)
{
    json list = json::array();
    for (size_t k = 0; k < seconds.size(); k++)
        list.push_back(
            {{"phase", k + 1},
             {"terms", {{{"comp_coefficient_s", seconds[k]}, {"f_pcomp_id", 2}}}}});
    return list;
}

json body_of(const std::vector<double> &seconds)
{
    return {
        {"snapshot", {{"sites", {one_site(0.5, 4)}}}},
        {"jobs",
         {{{"id", "j"}, {"phases", seconds.size()}, {"phase_models", phases(seconds)}}}},
        {"algorithm", "optimal"}};
}

} // namespace

TEST_CASE("every example of plans goes together", "[api][plan]")
{
    api a;
    for (auto *name :
         {"auto", "brute_force", "division", "genetic", "incremental",
          "incremental_lookahead", "mcrp_optimal", "optimal", "single_schedule"}) {
        CAPTURE(name);
        json answer = plan(a, example(name));
        double total_s = 0;
        size_t next = std::string(name) == "optimal" ? 2 : 1;

        CHECK(answer["algorithm"] ==
              (std::string(name) == "auto" ? "mcrp_optimal" : name));
        REQUIRE(answer["plan"].size() > 0);
        for (const json &i : answer["plan"]) {
            CHECK(i["first_phase"] == next);
            next = i["last_phase"].get<size_t>() + 1;
            CHECK(i["resource_ids"].size() == i["processors"]);
            total_s +=
                i["predicted_s"].get<double>() + i["reschedule_cost_s"].get<double>();
        }
        CHECK(next == 7);
        CHECK(answer["total_predicted_s"].get<double>() == Approx(total_s));
        CHECK(answer["objective"]["makespan_s"] == answer["total_predicted_s"]);
        CHECK(answer["objective"]["lower_bound_s"].get<double>() <= total_s * (1 + 1e-9));
        CHECK(answer["objective"]["gap_ratio"].get<double>() < 0.5);
        CHECK(answer["interval_markers"].size() == answer["plan"].size());
        CHECK(answer["unplaced"].empty());
        CHECK_FALSE(answer["stopped_early"].get<bool>());
        CHECK(plan(a, example(name))["plan"] == answer["plan"]);
    }
    CHECK(plan(a, example("auto"))["total_predicted_s"] <=
          plan(a, example("incremental"))["total_predicted_s"]);
}

TEST_CASE("a plan of one site is optimal, and its numbers are the model's", "[api][plan]")
{
    api a;
    json answer = plan(a, body_of({4000, 8000}));

    // Four machines of half a processor each: 4000 / (0.5 * 4).
    CHECK(answer["status"] == "optimal");
    CHECK(answer["total_predicted_s"].get<double>() == Approx(6000));
    CHECK(answer["single_schedule_s"].get<double>() == Approx(6000));
    REQUIRE(answer["plan"].size() == 1);
    CHECK(answer["plan"][0]["processors"] == 4);
    CHECK(answer["plan"][0]["action"] == "start");
    CHECK(answer["plan"][0]["valid"] == true);
    CHECK(answer["stop_phase"].is_null());
    CHECK(answer["scheduler_calls"] == 3);
    CHECK(answer["objective"]["gap_ratio"] == 0);
    CHECK(answer["warnings"].empty());

    json body = body_of({100, 100});
    answer = plan(a, body);
    CHECK(answer["plan"][0]["valid"] == false);
    CHECK(answer["warnings"][0].get<std::string>().find("shorter_than_threshold") == 0);

    body["algorithm"] = "auto"; // with the exact scheduler
    CHECK(plan(a, body)["status"] == "optimal");
    CHECK(plan(a, body)["algorithm"] == "single_schedule");
    CHECK(
        plan(a, body)["because"] ==
        "found by single_schedule: the best of single_schedule 100 s, incremental 100 s, "
        "incremental_lookahead 100 s, division 100 s, optimal 100 s");
}

TEST_CASE("plans say their steps and bounds, and end by steps", "[api][plan]")
{
    api a;
    json body = body_of({4000, 8000, 2000});
    body["algorithm"] = "auto";
    json whole = plan(a, body);

    CHECK(whole["steps"] == whole["scheduler_calls"]);
    CHECK(whole["steps"] == 6);
    CHECK(whole["bound_effort"] == "full");
    CHECK(whole["bounds"][0]["kind"] == "exact");
    CHECK(whole["bounds"][0]["value_s"] == whole["objective"]["lower_bound_s"]);
    CHECK(whole["best_list"]["algorithm"] == "single_schedule");
    CHECK(whole["best_list"]["value"] == whole["total_predicted_s"]);
    CHECK(whole["improved_at_steps"].size() == 1);

    body["options"] = {{"max_steps", 3}, {"bound_effort", "none"}, {"start", "division"}};
    json few = plan(a, body);
    CHECK(few["steps"] == 3);
    CHECK(few["status"] != "cut");
    CHECK(few["stopped_early"] == false);
    CHECK(few["bound_effort"] == "none");
    CHECK(few["because"].get<std::string>().find("incremental ") == std::string::npos);
    CHECK(few["because"].get<std::string>().find("division ") != std::string::npos);
    CHECK(few["plan"].back()["last_phase"] == 3);
    few.erase("decision_id"), few.erase("timings");
    json again = plan(a, body);
    again.erase("decision_id"), again.erase("timings");
    CHECK(few.dump() == again.dump());
}

TEST_CASE("a plan to start from is not made worse", "[api][plan]")
{
    api a;
    json body = example("auto");
    json best = plan(a, body);

    body["algorithm"] = "genetic";
    double alone_s = plan(a, body)["total_predicted_s"];
    REQUIRE(alone_s > best["total_predicted_s"].get<double>());
    body["initial"] = best["plan"];
    json kept = plan(a, body);
    CHECK(kept["total_predicted_s"] == best["total_predicted_s"]);
    CHECK(kept["plan"] == best["plan"]);
    CHECK(kept["algorithm"] == "genetic");
    CHECK(kept["because"].get<std::string>().find("found by initial: ") == 0);

    // the same while the application runs: rows of what is done are passed over
    const json &first = best["plan"][0];
    body["jobs"][0]["first_phase"] = first["last_phase"].get<int>() + 1;
    body["jobs"][0]["current"] = {{"site_id", first["site_id"]},
                                  {"resource_ids", first["resource_ids"]}};
    json later = plan(a, body);
    CHECK(later["warnings"].empty());
    CHECK(later["total_predicted_s"].get<double>() <=
          best["total_predicted_s"].get<double>() - first["predicted_s"].get<double>() +
              1e-9);

    // no more machines than the job needs: it cannot be kept
    body["jobs"][0]["min_processors"] = 4;
    body["initial"][1]["resource_ids"] = {"b1"};
    json refused = plan(a, body);
    REQUIRE(refused["warnings"].size() >= 1);
    CHECK(refused["warnings"][0].get<std::string>().find("initial_refused: ") == 0);
}

TEST_CASE("what is wrong with a plan to start from is said", "[api][plan]")
{
    api a;
    json body = body_of({4000, 8000, 100});
    auto row = [](int first, int last, const char *site, const json &machines) {
        return json{{"first_phase", first},
                    {"last_phase", last},
                    {"site_id", site},
                    {"resource_ids", machines}};
    };
    auto codes = [&](const std::vector<json> &initial) {
        body["initial"] = json::array();
        for (auto &given : initial)
            body["initial"].push_back(given);
        api_reply r = a.post("/v1/rescheduling-plans", body.dump());
        std::set<std::string> found;
        json answer = r.json();
        if (r.status == 422)
            for (auto &e : answer["errors"])
                found.insert(e["pointer"].get<std::string>() + " " +
                             e["code"].get<std::string>());
        return found;
    };
    using set = std::set<std::string>;

    CHECK(codes({row(1, 3, "s", {"m0", "m1"})}).empty());
    CHECK(codes({row(1, 3, "t", {"m0"})}) == set{"/initial/0/site_id unknown_id"});
    CHECK(codes({row(1, 3, "s", {"m0", "x", "m0"})}) ==
          set{"/initial/0/resource_ids unknown_id", "/initial/0/resource_ids duplicate"});
    CHECK(codes({row(1, 2, "s", {"m0"})}) == set{"/initial required"});
    CHECK(codes({row(2, 3, "s", {"m0"})}) == set{"/initial/0/first_phase required"});
    CHECK(codes({row(1, 2, "s", {"m0"}), row(2, 3, "s", {"m1"})}) ==
          set{"/initial/1/first_phase duplicate"});
    CHECK(codes({row(1, 4, "s", {"m0"})}) == set{"/initial/0/last_phase out_of_bounds"});
    // the last phase alone is shorter than min_interval_s: no plan
    body["initial"] = {row(1, 2, "s", {"m0"}), row(3, 3, "s", {"m1"})};
    CHECK(plan(a, body)["warnings"][0].get<std::string>().find(
              "initial_refused: phases 3 to 3 take 200 s") == 0);
    body["algorithm"] = "division";
    CHECK(codes({row(1, 3, "s", {"m0"})}) == set{"/initial conflict"});
}

TEST_CASE("costs are given, worked out, or assumed", "[api][plan]")
{
    api a;
    json body = body_of({4000, 8000});
    json &site = body["snapshot"]["sites"][0], &job = body["jobs"][0];

    // It runs on one machine: the first interval moves to all four.
    job["current"] = {{"site_id", "s"}, {"resource_ids", {"m1"}}};
    CHECK(plan(a, body)["total_reschedule_cost_s"] == 120);
    CHECK(plan(a, body)["plan"][0]["reschedule_cost_basis"] == "default");
    job["checkpoint_bytes"] = 2147483648.0;
    site["checkpoint_bandwidth_mbps"] = 400;
    site["launch_s"] = 30;
    CHECK(plan(a, body)["total_reschedule_cost_s"].get<double>() ==
          Approx(115.899).epsilon(1e-5));
    CHECK(plan(a, body)["plan"][0]["reschedule_cost_basis"] == "modelled");
    site["intra_site_cost_s"] = 77;
    CHECK(plan(a, body)["total_reschedule_cost_s"] == 77);
    CHECK(plan(a, body)["plan"][0]["reschedule_cost_basis"] == "fixed");

    json other = one_site(1, 8);
    other["id"] = "t";
    for (json &r : other["resources"])
        r["id"] = "t" + r["id"].get<std::string>();
    other["checkpoint_bandwidth_mbps"] = 800;
    other["launch_s"] = 30;
    body["snapshot"]["sites"].push_back(other);
    body["algorithm"] = "incremental";
    json answer = plan(a, body);
    CHECK(answer["plan"][0]["action"] == "inter_site");
    CHECK(answer["total_reschedule_cost_s"] == 300);
    body["snapshot"]["routes"] = {
        {{"from_site_id", "t"}, {"to_site_id", "s"}, {"bandwidth_mbps", 5}}};
    body["options"] = {{"min_interval_s", 0}};
    job["current"]["resource_ids"] = {"gone"}; // so that it has to move
    body["snapshot"]["sites"][0]["cpu_scaling_factor"] = 100;
    answer = plan(a, body);
    CHECK(answer["plan"][0]["action"] == "inter_site");
    CHECK(answer["plan"][0]["reschedule_cost_s"].get<double>() ==
          Approx(3530.398).epsilon(1e-5));
    body["options"]["inter_site_cost_s"] = 11;
    CHECK(plan(a, body)["plan"][0]["reschedule_cost_s"] == 11);
}

TEST_CASE("sites that cannot run a job say why", "[api][plan]")
{
    api a;
    json body = body_of({4000, 8000});

    body["jobs"][0]["min_processors"] = 5;
    json answer = plan(a, body);
    CHECK(answer["status"] == "infeasible");
    CHECK(answer["plan"].empty());
    CHECK(answer["total_predicted_s"].is_null());
    REQUIRE(answer["unplaced"].size() == 1);
    CHECK(answer["unplaced"][0]["job_id"] == "j");
    CHECK(answer["unplaced"][0]["reasons"][0]["site_id"] == "s");

    body = body_of({4000, 8000});
    body["jobs"][0]["phase_models"].erase(1);
    answer = plan(a, body);
    CHECK(answer["status"] == "infeasible");
    CHECK(answer["unplaced"][0]["reasons"][0]["detail"] == "phase 2 has no model");
    body["snapshot"]["sites"][0]["phase_models"] = phases({1000, 8000});
    CHECK(plan(a, body)["total_predicted_s"].get<double>() == Approx(4500));
    body["jobs"][0]["first_phase"] = 2;
    CHECK(plan(a, body)["total_predicted_s"].get<double>() == Approx(4000));
}

TEST_CASE("what is wrong with a request for a plan is said all at once", "[api][plan]")
{
    api a;
    json body = body_of({4000, 8000});
    json &job = body["jobs"][0];

    job["phase_models"][1]["phase"] = 1;
    job["phase_models"].push_back(
        {{"phase", 3}, {"terms", {{{"comp_coefficient_s", 1}, {"f_pcomp_id", 2}}}}});
    job["current"] = {{"site_id", "x"}, {"resource_ids", {"m0", "m0"}}};
    body["snapshot"]["routes"] = {
        {{"from_site_id", "s"}, {"to_site_id", "y"}, {"bandwidth_mbps", 5}}};
    body["algorithm"] = "optimum";
    body["options"] = {{"population", 1}, {"min_interval", 3}};
    api_reply r = a.post("/v1/rescheduling-plans", body.dump());
    INFO(r.body);
    CHECK(r.status == 422);
    std::vector<std::string> at = r.pointers();
    std::set<std::string> found(at.begin(), at.end());
    CHECK(found ==
          std::set<std::string>{"/algorithm", "/options/population",
                                "/options/min_interval", "/jobs/0/phase_models/1/phase",
                                "/jobs/0/phase_models/2/phase", "/jobs/0/current/site_id",
                                "/jobs/0/current/resource_ids", "/snapshot/routes/0"});

    struct {
        const char *path;
        json value;
    } cases[] = {
        {"/jobs", json::array()},
        {"/jobs/0/phases", 0},
        {"/jobs/0/phases", 1001},
        {"/jobs/0/first_phase", 3},
        {"/jobs/0/min_processors", 0},
        {"/jobs/0/checkpoint_bytes", -1},
        {"/jobs/0/phase_models/0/terms", json::array()},
        {"/jobs/0/phase_models/0/terms/0/comp_coefficient_s", -1},
        {"/jobs/0/phase_models/0/terms/0/f_pcomp_id", 99},
        {"/snapshot/sites", json::array()},
        {"/snapshot/sites/0/id", ""},
        {"/snapshot/sites/0/intra_site_cost_s", -5},
        {"/snapshot/sites/0/resources/0/cpu_available_ratio", 2},
        {"/options/scheduler", "best"},
        {"/options/min_interval_s", "x"},
    };
    for (auto &c : cases) {
        CAPTURE(c.path);
        json wrong = body_of({4000, 8000});
        wrong["options"] = json::object();
        wrong[json::json_pointer(c.path)] = c.value;
        CHECK(a.post("/v1/rescheduling-plans", wrong.dump()).status == 422);
    }
    json two = body_of({4000, 8000});
    two["jobs"].push_back(two["jobs"][0]);
    CHECK(a.post("/v1/rescheduling-plans", two.dump()).status == 422);
    CHECK(a.post("/v1/rescheduling-plans", "{}").status == 422);
}

TEST_CASE("a phase has terms, a combination, or the name of a model", "[api][plan]")
{
    api a;
    json body = body_of({4000, 8000});
    json &job = body["jobs"][0], &second = job["phase_models"][1];

    // 0.002 N^2 / (c P): 8000 s on one free machine for N = 2000.
    second = {{"phase", 2},
              {"combination",
               {{"f_comp_mask", 4},
                {"f_comm_mask", 0},
                {"f_pcomp_id", 2},
                {"coefficients", {0.002}}}}};
    api_reply r = a.post("/v1/rescheduling-plans", body.dump());
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/problem_size"});
    job["problem_size"] = 2000;
    CHECK(plan(a, body)["plan"].size() == 1);
    CHECK(plan(a, body).count("models") == 0);

    second["combination"]["coefficients"] = {1, 2};
    json third = {{"phase", 1}};
    body["snapshot"]["sites"][0]["phase_models"] = {third};
    r = a.post("/v1/rescheduling-plans", body.dump());
    INFO(r.body);
    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/phase_models/1/combination",
                                                   "/snapshot/sites/0/phase_models/0"});

    // Stored models need a database, and a problem size.
    json named = body_of({4000, 8000});
    named["jobs"][0]["phase_models"].erase(1);
    named["jobs"][0]["application_id"] = "md";
    r = a.post("/v1/rescheduling-plans", named.dump());
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/problem_size"});
    named["jobs"][0]["problem_size"] = 10;
    CHECK(a.post("/v1/rescheduling-plans", named.dump()).status == 503);
    named["jobs"][0]["phases"] = 1;
    CHECK(plan(a, named)["status"] == "optimal"); // nothing is missing
    named.erase("snapshot");
    CHECK(a.post("/v1/rescheduling-plans", named.dump()).pointers() ==
          std::vector<std::string>{"/snapshot"});
    named["snapshot_id"] = "s";
    CHECK(a.post("/v1/rescheduling-plans", named.dump()).status == 503);
}

TEST_CASE("extreme numbers give finite answers or none", "[api][plan]")
{
    api a;
    for (double seconds : {1e-300, 1e-9, 1e300}) {
        CAPTURE(seconds);
        for (auto *algorithm : {"optimal", "incremental", "genetic", "auto"}) {
            json body = body_of({seconds, seconds, seconds});
            body["algorithm"] = algorithm;
            json answer = plan(a, body);
            CHECK((answer["total_predicted_s"].is_null() ||
                   std::isfinite(answer["total_predicted_s"].get<double>())));
        }
    }
}

TEST_CASE("a long application within its time", "[api][plan]")
{
    api a;
    json body = body_of(std::vector<double>(120, 4000));
    body["time_limit_s"] = 0.3;
    body["algorithm"] = "auto";
    json answer = plan(a, body);
    CHECK(answer["plan"].size() >= 1);
    CHECK(answer["plan"].back()["last_phase"] == 120);
    body["algorithm"] = "brute_force";
    CHECK(a.post("/v1/rescheduling-plans", body.dump()).status == 422);
}

TEST_CASE("a plan for little memory fails cleanly", "[api][plan][memory]")
{
    api a;
    std::string body = body_of({4000, 8000}).dump();
    int status = 413;
    for (size_t cap = 4096; status != 200; cap += 8192) {
        status = a.call("POST", "/v1/rescheduling-plans", body, {}, cap).status;
        CHECK((status == 200 || status == 413));
        REQUIRE(cap < 4000000);
    }
}
