// placement_evaluation_api_test.cpp - POST /v1/evaluations of kind placement: what a plan
// of independent jobs breaks, and what it is worth.
#include "tests/members_support.hpp"

#include <set>

using nlohmann::json;

namespace
{

const std::string path = "/v1/evaluations";

json evaluated(const json &body)
{
    return members::answer(path, body);
}

json row(const std::string &job, const std::string &resource, double start_s)
{
    return {{"job_id", job}, {"resource_id", resource}, {"start_s", start_s}};
}

// Two nodes of 4 cpus; jobs of 2 cpus and 10 s.
json body_with(const std::vector<json> &placements)
{
    json jobs = json::array();

    for (const char *id : {"a", "b", "c"})
        jobs.push_back({{"id", id}, {"estimate_s", 10}, {"cpus", 2}});
    return {{"kind", "placement"},
            {"snapshot",
             {{"resources", {{{"id", "n1"}, {"cpus", 4}}, {{"id", "n2"}, {"cpus", 4}}}}}},
            {"jobs", jobs},
            {"placements", placements}};
}

// What an evaluation says of the only rule that is broken.
json only_violation(const json &body)
{
    json answer = evaluated(body);

    INFO(answer.dump());
    CHECK(answer["valid"] == false);
    CHECK(answer["status"] == "infeasible");
    CHECK(answer["violation_count"] == 1);
    REQUIRE(answer["violations"].size() == 1);
    return answer["violations"][0];
}

double value_of(const json &answer, const std::string &name)
{
    for (const json &v : answer["objective"]["values"])
        if (v["name"] == name)
            return v["value"];
    return NAN;
}

} // namespace

TEST_CASE("a plan that can be carried out", "[api][evaluation][world]")
{
    json answer =
        evaluated(body_with({row("a", "n1", 0), row("b", "n1", 0), row("c", "n1", 10)}));

    INFO(answer.dump());
    CHECK(answer["kind"] == "placement");
    CHECK(answer["valid"] == true);
    CHECK(answer["violation_count"] == 0);
    CHECK(answer["violations"].empty());
    CHECK(answer["unplaced_ids"].empty());
    CHECK(answer["objective"]["makespan_s"] == 20);
    CHECK(value_of(answer, "makespan_s") == 20);
    CHECK(answer["status"] == "feasible");
    CHECK(answer["objective"]["values"][0]["bound"].get<double>() == Approx(10));
    CHECK(answer["objective"]["values"][0]["bound_kind"] == "lower");
    CHECK(answer["objective"]["values"][0]["gap_ratio"].get<double>() == Approx(1));
}

TEST_CASE("optimal is a valid plan of all jobs at every bound",
          "[api][evaluation][world]")
{
    std::vector<json> plan = {row("a", "n1", 0), row("b", "n1", 0), row("c", "n2", 0)};
    json body = body_with(plan);
    json answer = evaluated(body);

    CHECK(answer["status"] == "optimal");
    CHECK(answer["objective"]["values"][0]["proven"] == true);
    CHECK(answer["objective"]["values"][0]["gap_ratio"] == 0);
    body["objective"] = {"makespan_s", "nodes_used"}; // one node would take longer
    CHECK(evaluated(body)["objective"]["values"][0]["proven"] == true);
    // Not of all jobs.
    plan.pop_back();
    answer = evaluated(body_with(plan));
    CHECK(answer["status"] == "feasible");
    CHECK(answer["objective"]["values"][0]["proven"] == true);
    // Not valid: such a plan has no bounds, though it is as short.
    plan.push_back(row("c", "n1", 0));
    answer = evaluated(body_with(plan));
    CHECK(answer["status"] == "infeasible");
    CHECK(answer["objective"]["values"][0]["value"] == 10);
    CHECK(answer["objective"]["values"][0].count("bound") == 0);
    CHECK(answer["objective"]["values"][0]["proven"] == false);
}

TEST_CASE("named and shared amounts, several nodes, a reservation of all: optimal",
          "[api][evaluation][world]")
{
    json body = json::parse(R"({"kind": "placement",
        "snapshot": {"taken_at": "2026-03-01T08:00:00Z",
            "shared_capacities": {"licence.x": 1},
            "resources": [
                {"id": "n1", "cpus": 8, "memory_bytes": 64e9, "capacities": {"gpus": 2},
                 "running": [{"id": "r7", "cpus": 2, "memory_bytes": 8e9,
                              "needs": {"gpus": 1}, "expected_end_s": 1200}]},
                {"id": "n2", "cpus": 8, "reservations": [{"id": "maintenance",
                 "start_s": 7200, "end_s": 10800, "all": true}]}]},
        "finished_jobs": [{"id": "f"}],
        "jobs": [
            {"id": "a", "estimate_s": 600, "cpus": 4, "time_limit_s": 1800, "weight": 3,
             "needs": {"licence.x": 1, "gpus": 1}, "after": ["f"]},
            {"id": "b", "estimate_s": 600, "cpus": 4, "nodes": 2,
             "after": [{"job_id": "a", "kind": "ok"}]}],
        "objective": ["weighted_tardiness_s", "makespan_s"],
        "placements": [
            {"job_id": "a", "resource_id": "n1", "start_s": 0},
            {"job_id": "b", "resource_ids": ["n1", "n2"], "start_s": 600}]})");
    json answer = evaluated(body);

    INFO(answer.dump());
    CHECK(answer["status"] == "optimal");
    CHECK(value_of(answer, "weighted_tardiness_s") == 0);
    CHECK(value_of(answer, "makespan_s") == 1200);
    body["finished_jobs"][0]["ok"] = false;
    CHECK(only_violation(body)["rule"] == "before_after");
}

TEST_CASE("an amount that is exceeded: when, how much, by whom, and where in the request",
          "[api][evaluation][world]")
{
    json v = only_violation(
        body_with({row("a", "n1", 0), row("b", "n1", 5), row("c", "n1", 7)}));

    CHECK(v["rule"] == "amount_exceeded");
    CHECK(v["job_id"] == "c");
    CHECK(v["resource_id"] == "n1");
    CHECK(v["at_s"] == 7);
    CHECK(v["amount"] == "cpus");
    CHECK(v["needed"] == 6);
    CHECK(v["free"] == 4);
    CHECK(v["other_ids"] == json({"b", "a"}));
    CHECK(v["pointer"] == "/placements/2/resource_id");
    CHECK(v["detail"] ==
          "the plan takes 6 of cpus at 7 s, where what runs and is reserved leaves 4");
}

TEST_CASE("rows: unknown ones, two of a job, another finish, jobs without a row",
          "[api][evaluation][world]")
{
    json v = only_violation(body_with({row("x", "n1", 0)}));
    CHECK(v["rule"] == "unknown_id");
    CHECK(v["job_id"] == "x");
    CHECK(v["pointer"] == "/placements/0/job_id");
    v = only_violation(body_with({row("a", "n3", 0)}));
    CHECK(v["rule"] == "unknown_id");
    CHECK(v["detail"] == "the snapshot has no resource 'n3'");
    v = only_violation(body_with({row("a", "n1", 0), row("a", "n2", 0)}));
    CHECK(v["rule"] == "duplicate");
    CHECK(v["pointer"] == "/placements/1/job_id");
    CHECK(v.count("other_ids") == 0);

    json late = row("a", "n1", 3);
    late["finish_s"] = 14;
    v = only_violation(body_with({late}));
    CHECK(v["rule"] == "finish_differs");
    CHECK(v["pointer"] == "/placements/0/finish_s");
    json answer = evaluated(body_with({row("b", "n1", 0)}));
    CHECK(answer["valid"] == true);
    CHECK(answer["status"] == "feasible");
    CHECK(answer["unplaced_ids"] == json({"a", "c"}));
    answer = evaluated(body_with({}));
    CHECK(answer["valid"] == true);
    CHECK(answer["objective"]["makespan_s"] == 0);
}

TEST_CASE("resources that a job may not use, with the filter", "[api][evaluation][world]")
{
    json body = body_with({row("a", "n1", 0)});
    auto detail = [](const json &b) {
        json v = only_violation(b);
        CHECK(v["rule"] == "not_eligible");
        CHECK(v["pointer"] == "/placements/0/resource_id");
        return v["detail"].get<std::string>();
    };
    json failed = body, denied = body, unmet = body, parted = body;

    failed["snapshot"]["resources"][0]["failed"] = true;
    CHECK(detail(failed) == "failed: the resource has failed");
    denied["snapshot"]["resources"][0]["allowed"] = {"user:x"};
    CHECK(detail(denied) == "unauthorised: the user is not allowed there");
    unmet["jobs"][0]["requirement"] = "mips_total > 1";
    CHECK(detail(unmet).substr(0, 12) == "requirement:");
    parted["snapshot"]["partitions"] = {
        {{"id", "p"}, {"resource_ids", {"n2"}}, {"default", true}}};
    CHECK(detail(parted).substr(0, 10) == "partition:");
    unmet["placements"][0]["resource_id"] = "n2";
    unmet["snapshot"]["resources"][1]["mips_total"] = 2;
    json met = evaluated(unmet);
    INFO(met.dump());
    CHECK(met["valid"] == true);
}

TEST_CASE("sizes, nodes, releases and predecessors", "[api][evaluation][world]")
{
    json body = body_with({row("a", "n1", 0)});
    json large = body, wide = body, early = body, waits = body, none = body;

    large["jobs"][0]["cpus"] = 5;
    json v = only_violation(large);
    CHECK(v["rule"] == "too_large");
    CHECK(v["needed"] == 5);
    CHECK(v["free"] == 4);
    wide["jobs"][0]["nodes"] = 2;
    v = only_violation(wide);
    CHECK(v["rule"] == "node_count");
    CHECK(v["needed"] == 2);
    CHECK(v["free"] == 1);
    wide["placements"][0].erase("resource_id");
    wide["placements"][0]["resource_ids"] = {"n1", "n1"};
    v = only_violation(wide);
    CHECK(v["rule"] == "same_node_twice");
    CHECK(v["pointer"] == "/placements/0/resource_ids/0");
    wide["placements"][0]["resource_ids"] = {"n1", "n9"};
    v = only_violation(wide);
    CHECK(v["pointer"] == "/placements/0/resource_ids/1");
    early["jobs"][0]["release_s"] = 1;
    v = only_violation(early);
    CHECK(v["rule"] == "before_release");
    CHECK(v["detail"] == "it must not start before 1 s");
    waits["jobs"][0]["after"] = {"b"};
    v = only_violation(waits);
    CHECK(v["rule"] == "before_after");
    waits["placements"].push_back(row("b", "n1", 0));
    v = only_violation(waits);
    CHECK(v["other_ids"] == json({"b"}));
    CHECK(v["detail"] == "it waits for 'b', which comes later");
    waits["placements"][0]["start_s"] = 10;
    CHECK(evaluated(waits)["valid"] == true);
    none["jobs"][0].erase("estimate_s");
    CHECK(only_violation(none)["rule"] == "no_estimate");
}

TEST_CASE("shared amounts, groups, and what runs", "[api][evaluation][world]")
{
    json body = body_with({row("a", "n1", 0), row("b", "n2", 9)});

    body["snapshot"]["shared_capacities"] = {{"licence", 1}};
    body["jobs"][0]["needs"] = body["jobs"][1]["needs"] = {{"licence", 1}};
    json v = only_violation(body);
    CHECK(v["rule"] == "shared_exceeded");
    CHECK(v["amount"] == "licence");
    CHECK(v["needed"] == 2);
    CHECK(v["at_s"] == 9);
    CHECK(v.count("resource_id") == 0);

    body = body_with({row("a", "n1", 0), row("b", "n1", 0)});
    body["jobs"][0]["group"] =
        body["jobs"][1]["group"] = {{"id", "g"}, {"policy", "spread"}};
    v = only_violation(body);
    CHECK(v["rule"] == "group_spread");
    CHECK(v["needed"] == 2);
    CHECK(v["free"] == 1);
    CHECK(v["other_ids"] == json({"a"}));

    body = body_with({row("a", "n1", 0)});
    body["snapshot"]["resources"][0]["running"] = {
        {{"id", "r"}, {"cpus", 3}, {"expected_end_s", 6}}};
    v = only_violation(body);
    CHECK(v["needed"] == 2);
    CHECK(v["free"] == 1);
    body["placements"][0]["start_s"] = 6;
    CHECK(evaluated(body)["valid"] == true);
    // Later than its limit they are held, with plan_with limit.
    body["jobs"][0]["time_limit_s"] = 100;
    body["placements"].push_back(row("b", "n1", 17));
    body["placements"].push_back(row("c", "n1", 17));
    CHECK(evaluated(body)["valid"] == true);
    body["options"] = {{"plan_with", "limit"}};
    CHECK(only_violation(body)["at_s"] == 17);
}

TEST_CASE("jobs of no length are nowhere inside a reservation of all",
          "[api][evaluation][world]")
{
    json body = body_with({row("a", "n1", 6)});

    body["jobs"][0]["estimate_s"] = 0;
    body["snapshot"]["resources"][0]["reservations"] = {
        {{"id", "m"}, {"start_s", 5}, {"end_s", 8}, {"all", true}}};
    CHECK(only_violation(body)["rule"] == "amount_exceeded");
    for (double at : {5.0, 8.0, 9.0}) {
        body["placements"][0]["start_s"] = at;
        CHECK(evaluated(body)["valid"] == true);
    }
}

TEST_CASE("values by all objectives", "[api][evaluation][world]")
{
    json body = json::parse(R"({"kind": "placement",
        "snapshot": {"resources": [
            {"id": "n1", "mips_total": 1, "cpus": 8, "memory_bytes": 16},
            {"id": "n2", "mips_total": 2, "cpus": 4, "memory_bytes": 8,
             "running": [{"id": "r", "cpus": 2, "memory_bytes": 4,
                          "expected_end_s": 5}]}]},
        "jobs": [
            {"id": "j1", "estimate_ref_s": 20, "cpus": 4, "memory_bytes": 4,
             "deadline_s": 15},
            {"id": "j2", "estimate_ref_s": 12, "cpus": 2, "memory_bytes": 6, "weight": 3,
             "deadline_s": 8},
            {"id": "j3", "estimate_ref_s": 8, "cpus": 4, "memory_bytes": 8, "weight": 2,
             "deadline_s": 6},
            {"id": "j4", "estimate_ref_s": 30, "cpus": 2, "memory_bytes": 2,
             "deadline_s": 20},
            {"id": "j5", "estimate_ref_s": 6, "cpus": 1, "memory_bytes": 1, "weight": 4,
             "deadline_s": 5}],
        "placements": [
            {"job_id": "j1", "resource_id": "n1", "start_s": 0, "finish_s": 20},
            {"job_id": "j2", "resource_id": "n2", "start_s": 5, "finish_s": 11},
            {"job_id": "j3", "resource_id": "n1", "start_s": 0, "finish_s": 8},
            {"job_id": "j4", "resource_id": "n2", "start_s": 3, "finish_s": 18},
            {"job_id": "j5", "resource_id": "n2", "start_s": 0, "finish_s": 3}]})");
    const std::map<std::string, double> want = {{"makespan_s", 20},
                                                {"total_flow_s", 60},
                                                {"weighted_completion_s", 99},
                                                {"weighted_tardiness_s", 18},
                                                {"late_jobs", 3},
                                                {"started_now_weight", 7},
                                                {"cost", 0},
                                                {"energy_j", 0},
                                                {"nodes_used", 2}};

    for (auto &w : want) {
        body["objective"] = {w.first};
        json answer = evaluated(body);
        INFO(answer.dump());
        CHECK(answer["valid"] == true);
        REQUIRE(answer["objective"]["values"].size() == 1);
        CHECK(value_of(answer, w.first) == Approx(w.second).margin(1e-9));
    }
    body["objective"] = {"late_jobs", "nodes_used", "makespan_s"};
    json values = evaluated(body)["objective"]["values"];
    REQUIRE(values.size() == 3);
    CHECK(values[1]["name"] == "nodes_used");
}

TEST_CASE("tiers of priority are judged one after the other", "[api][evaluation][world]")
{
    json body = json::parse(R"({"kind": "placement",
        "snapshot": {"resources": [{"id": "n", "cpus": 4}]},
        "jobs": [{"id": "h", "cpus": 3, "priority": 2, "estimate_s": 1},
                 {"id": "l1", "cpus": 2, "priority": 1, "weight": 10, "estimate_s": 1},
                 {"id": "l2", "cpus": 2, "priority": 1, "weight": 10, "estimate_s": 1}],
        "objective": ["started_now_weight"]})");
    auto tiers = [&](const std::vector<json> &rows) {
        body["placements"] = rows;
        json value = evaluated(body)["objective"]["values"][0];
        INFO(value.dump());
        CHECK(!value.contains("bound"));
        CHECK(value["proven"] == value["tiers"].back()["proven"]);
        return value["tiers"];
    };
    json best = tiers({row("h", "n", 0), row("l1", "n", 1), row("l2", "n", 1)});
    CHECK(best == json::parse(R"([{"priority":2,"value":1,"bound":1,"proven":true},
                                  {"priority":1,"value":0,"bound":0,"proven":true}])"));
    CHECK(evaluated(body)["status"] == "optimal");
    // Worse above: of what is below, no more is known than that there is no more.
    json worse = tiers({row("h", "n", 1), row("l1", "n", 0), row("l2", "n", 0)});
    CHECK(worse == json::parse(R"([{"priority":2,"value":0,"bound":1,"proven":false},
                                   {"priority":1,"value":20,"bound":20,"proven":false}])"));
    CHECK(evaluated(body)["status"] == "feasible");

    // One priority: a bound as of any objective.
    body["jobs"][0]["priority"] = 1;
    json value = evaluated(body)["objective"]["values"][0];
    CHECK(value["value"] == 20);
    CHECK(value["bound"] == 20);
    CHECK(value["bound_kind"] == "upper");
    CHECK(value["proven"] == true);
    body["placements"] = {row("h", "n", 0), row("l1", "n", 1), row("l2", "n", 1)};
    value = evaluated(body)["objective"]["values"][0];
    CHECK(value["value"] == 1);
    CHECK(value["bound"] == 20);
    CHECK(value["gap_ratio"] == 19);
    CHECK(value["proven"] == false);
    // A plan that breaks a rule has none.
    body["placements"] = {row("h", "n", 0), row("l1", "n", 0)};
    CHECK(!evaluated(body)["objective"]["values"][0].contains("bound"));
}

TEST_CASE("plans of the service are valid as they stand", "[api][evaluation][world]")
{
    // Those with files too: xsufferage, auto.
    for (const char *policy :
         {"auto", "duplex", "gridway", "identical_optimum", "initial", "kpb", "max_min",
          "mct", "met", "min_min", "olb", "plain", "search", "sufferage",
          "sufferage_pass", "xsufferage"}) {
        std::string name = std::string("placement-") + policy;
        INFO(name);
        json body = members::example(name);
        json made = members::answer("/v1/placements", body);
        for (const char *m : {"algorithm", "initial", "unplaced_form", "options"})
            body.erase(m);
        body["kind"] = "placement";
        body["placements"] = made["placements"];
        json answer = evaluated(body);
        INFO(answer["violations"].dump());
        CHECK(answer["valid"] == true);
        CHECK(answer["objective"]["makespan_s"].get<double>() ==
              Approx(made["objective"]["makespan_s"].get<double>()).epsilon(1e-9));
        CHECK(answer["unplaced_ids"].size() == made["unplaced_count"]);
        bool has_files = body["jobs"][0].count("input_file_ids") > 0;
        CHECK((answer["warnings"].dump().find("stage_in_not_checked") !=
               std::string::npos) == has_files);
    }
}

TEST_CASE("a file that cannot come", "[api][evaluation][world]")
{
    json body = body_with({row("a", "n1", 0)});

    body["snapshot"]["files"] =
        json::array({{{"id", "f"}, {"bytes", 1e6}, {"site_ids", {"far"}}}});
    body["snapshot"]["resources"][0]["site_id"] = "here";
    body["jobs"][0]["input_file_ids"] = {"f"};
    CHECK(only_violation(body)["detail"] ==
          "file_unreachable: no route for an input or output");
    body["snapshot"]["network"] = {{"wan_mbps", 8}};
    body["placements"][0]["stage_in_s"] = 1;
    body["placements"][0]["finish_s"] = 11;
    CHECK(evaluated(body)["valid"] == true);
}

TEST_CASE("what is wrong with the request is said at once", "[api][evaluation][world]")
{
    json body = body_with({row("a", "n1", 0), row("b", "n1", 0), row("c", "n1", 20)});

    body["placements"][0].erase("resource_id");
    body["placements"][1]["resource_ids"] = {"n1"};
    body["objective"] = {"makespan", "cost", "cost"};
    body["jobs"][0]["after"] = {"nobody"};
    body["jobs"][1]["estimate_ref_s"] = 3;
    body["algorithm"] = "mct";
    body["options"] = {{"plan_wiht", "limit"}};
    api_reply r = api().post(path, body.dump());
    INFO(r.body);
    REQUIRE(r.status == 422);
    std::vector<std::string> list = r.pointers();
    CHECK(std::set<std::string>(list.begin(), list.end()) ==
          std::set<std::string>{"/placements/0/resource_id", "/placements/1/resource_id",
                                "/objective/0", "/objective/2", "/jobs/0/after/0/job_id",
                                "/jobs/1/estimate_s", "/algorithm",
                                "/options/plan_wiht"});
}

TEST_CASE("what changes nothing is said", "[api][evaluation][world]")
{
    json body = body_with({row("a", "n1", 0)});

    body["time_limit_s"] = 5;
    body["users"] = {{{"user", "x"}}};
    json warnings = evaluated(body)["warnings"];
    INFO(warnings.dump());
    CHECK(warnings.dump().find("ignored: users of 1 (first /users/0)") !=
          std::string::npos);
    CHECK(warnings.dump().find("ignored: time_limit_s (/time_limit_s)") !=
          std::string::npos);
    body["options"] = {{"job_order", "longest"}, {"limits", "gridway5"},
                       {"plan_with", "limit"},   {"max_ban_s", 7},
                       {"max_nodes", 3},         {"assume_preempted", false}};
    body["jobs"][1]["preempt"] = true;
    warnings = evaluated(body)["warnings"];
    INFO(warnings.dump());
    CHECK(warnings.dump().find("ignored: 3 options (/options/job_order, /options/limits, "
                               "/options/max_nodes)") != std::string::npos);
    CHECK(warnings.dump().find("ignored: preempt of 1 job (first /jobs/1/preempt)") !=
          std::string::npos);
    body["objective"] = {"started_now_weight"};
    CHECK(evaluated(body)["warnings"].dump().find("/options/max_nodes") ==
          std::string::npos);
}
