// placement_values_test.cpp - POST /v1/placements: what answers say of each objective,
// also where no amounts count.
#include "tests/world_api_support.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace
{

const std::vector<std::string> names = {"makespan_s",
                                        "total_flow_s",
                                        "weighted_completion_s",
                                        "weighted_tardiness_s",
                                        "late_jobs",
                                        "cost",
                                        "energy_j",
                                        "nodes_used",
                                        "started_now_weight"};

const char *const three = R"({"snapshot": {"resources": [{"id": "m0"}, {"id": "m1"}]},
    "jobs": [{"id": "a", "etc_s": [4, 3]}, {"id": "b", "etc_s": [2, 5]},
             {"id": "c", "etc_s": [2, 5]}]})";

// What the rows are worth, each resource having one slot.
double worth(const json &body, const json &answer, const std::string &name)
{
    double most = 0, sum = 0;
    std::set<std::string> used;

    for (const json &p : answer["placements"]) {
        const json *job = nullptr, *resource = nullptr;
        for (const json &j : body["jobs"])
            job = j["id"] == p["job_id"] ? &j : job;
        for (const json &r : body["snapshot"]["resources"])
            resource = r["id"] == p["resource_id"] ? &r : resource;
        double finish = p["finish_s"], weight = job->value("weight", 1.0);
        double late = std::max(0.0, finish - job->value("deadline_s", HUGE_VAL));
        double run = finish - p["start_s"].get<double>();
        most = std::max(most, finish);
        used.insert(p["resource_id"]);
        if (name == "total_flow_s")
            sum += finish - job->value("release_s", 0.0);
        if (name == "weighted_completion_s")
            sum += weight * finish;
        if (name == "weighted_tardiness_s")
            sum += weight * late;
        if (name == "late_jobs")
            sum += late > 0;
        if (name == "cost")
            sum += run * (resource->value("price_per_s", 0.0) +
                          resource->value("price_per_cpu_s", 0.0));
        if (name == "energy_j")
            sum += run * resource->value("power_node_w", 0.0);
        if (name == "started_now_weight")
            sum += p["start_s"] == 0 ? weight : 0;
    }
    if (name == "makespan_s")
        return most;
    return name == "nodes_used" ? (double)used.size() : sum;
}

// One objective: on the right side of its bound, by the gap that is told.
void check_value(const json &value, double want)
{
    bool most = value["name"] == "started_now_weight";
    double is = value["value"];

    INFO(value.dump());
    CHECK(is == Approx(want).margin(1e-9));
    CHECK(value["bound_kind"] == (most ? "upper" : "lower"));
    REQUIRE(value.contains("bound"));
    double bound = value["bound"], least = most ? is : bound, large = most ? bound : is;
    CHECK(least <= large * (1 + 1e-9));
    CHECK(value["proven"] == (large - least <= 1e-9 * std::max(1.0, large)));
    CHECK(value.contains("gap_ratio") == (least > 0));
    if (least > 0)
        CHECK(value["gap_ratio"].get<double>() ==
              Approx(large / least - 1).epsilon(1e-6).margin(2e-9));
}

} // namespace

TEST_CASE("plain placements say the value of the makespan", "[api][placement]")
{
    json body = json::parse(three);

    for (const char *algorithm : {"auto", "mct", "olb", "search"}) {
        json answer = place(body, algorithm), objective = answer["objective"];
        INFO(answer.dump());
        REQUIRE(objective["values"].size() == 1);
        const json &value = objective["values"][0];
        CHECK(value["name"] == "makespan_s");
        CHECK(value["value"] == objective["makespan_s"]);
        CHECK(value["bound"] == objective["lower_bound_s"]);
        CHECK(value["proven"] == (answer["status"] == "optimal"));
        check_value(value, objective["makespan_s"]);
    }
    body["jobs"] = {{{"id", "a"}}}; // nobody knows how long it runs
    for (const char *resource : {R"({"id": "m0"})", R"({"id": "m0", "cpus": 1})"}) {
        body["snapshot"]["resources"] = {json::parse(resource)};
        json answer = place(body, "gridway");
        CHECK(answer["objective"]["values"][0] ==
              json({{"name", "makespan_s"}, {"bound_kind", "lower"}, {"proven", false}}));
        CHECK(answer["objective"]["gap_ratio"].is_null());
        CHECK(answer["status"] == "feasible");
    }
    body["jobs"] = json::array();
    json value = place(body)["objective"]["values"][0];
    CHECK(value["value"] == 0);
    CHECK(value["proven"] == true);
}

TEST_CASE("what starts now has a bound at every level, whatever the policy is",
          "[api][placement][world]")
{
    json body = json::parse(three);

    body["objective"] = {"makespan_s", "started_now_weight"};
    for (const char *algorithm : {"auto", "mct", "search"}) {
        json answer = place(body, algorithm);
        INFO(answer.dump());
        check_value(answer["objective"]["values"][1], 2);
        CHECK(answer["objective"]["values"][1]["bound"] == 2);
        CHECK(answer["status"] == "optimal");
    }
    CHECK(place(body, "auto")["steps"] == 0); // there is nothing left to look for

    // Of two priorities, each given what the one above it starts.
    body["jobs"][2]["priority"] = 1;
    body["jobs"][2]["weight"] = 3;
    json value = place(body)["objective"]["values"][1];
    CHECK(value["tiers"] ==
          json::parse(R"([{"priority":1,"value":0,"bound":3,"proven":false},
                          {"priority":0,"value":2,"bound":2,"proven":false}])"));
    CHECK(!value.contains("bound"));
    CHECK(value["proven"] == false);

    // Behind another job at the same moment: more than what is ready.
    body = json::parse(R"({"snapshot": {"resources": [{"id": "m0"}, {"id": "m1"}]},
        "objective": ["started_now_weight"],
        "jobs": [{"id": "a", "estimate_s": 4},
                 {"id": "b", "estimate_s": 4, "after": [{"job_id": "a", "kind": "start"}]}]})");
    value = place(body)["objective"]["values"][0];
    CHECK(value["value"] == 2);
    CHECK(value["bound"] == 2);
}

TEST_CASE("below what starts now, other objectives have bounds where all starts",
          "[api][placement][world]")
{
    json body = json::parse(R"({
        "snapshot": {"resources": [{"id": "m0"}, {"id": "m1"}]},
        "objective": ["started_now_weight", "makespan_s", "total_flow_s"],
        "jobs": [{"id": "a", "etc_s": [3, 4]}, {"id": "b", "etc_s": [5, 3]}]})");
    json answer = place(body, "auto");
    INFO(answer.dump());
    CHECK(answer["status"] == "optimal");
    for (const json &value : answer["objective"]["values"])
        check_value(value, worth(body, answer, value["name"]));

    // Which starts where counts for the levels below.
    body["jobs"][0]["etc_s"] = {4, 3};
    body["jobs"][1]["etc_s"] = {2, 5};
    answer = place(body, "auto");
    CHECK(answer["objective"]["values"][0]["value"] == 2);
    CHECK(answer["objective"]["values"][1]["value"] == 3);
    CHECK(answer["algorithm"] == "auto");
    // A plan that starts some of them later is none of these, be its makespan less.
    json longer = {{"snapshot", {{"resources", {{{"id", "m0"}}, {{"id", "m1"}}}}}},
                   {"objective", {"started_now_weight", "makespan_s"}},
                   {"jobs", json::parse(R"([{"id": "a", "etc_s": [1, 9], "weight": 0},
                                            {"id": "b", "etc_s": [1, 9]}])")}};
    answer = place(longer, "auto");
    for (const json &p : answer["placements"])
        CHECK(p["start_s"] == 0);

    // Either could start, so that the other levels are not proven by one of them.
    body["snapshot"]["resources"].erase(1);
    body["jobs"] =
        json::parse(R"([{"id": "a", "etc_s": [4]}, {"id": "b", "etc_s": [3]}])");
    answer = place(body, "auto");
    CHECK(answer["objective"]["values"][0]["proven"] == true);
    CHECK(answer["status"] == "feasible");
}

TEST_CASE("each objective of plain jobs is told with its bound",
          "[api][placement][world][property]")
{
    std::mt19937 rng(5);
    auto among = [&](std::vector<double> list) { return list[rng() % list.size()]; };
    std::vector<std::string> policies = {"auto",    "search",    "mct", "min_min",
                                         "max_min", "sufferage", "olb", "met",
                                         "kpb",     "duplex"};

    for (int round = 0; round < (is_shorter() ? 120 : 2000); round++) {
        json body = {{"objective", json::array()}, {"jobs", json::array()}};
        bool matrix = rng() % 2;
        size_t machines = 1 + rng() % 3, jobs = rng() % 5;
        for (size_t i = 0; i < machines; i++) {
            json r = {{"id", "m" + std::to_string(i)}, {"price_per_s", among({0, 1, 2})}};
            r["power_node_w"] = among({0, 0.5});
            r["price_per_cpu_s"] = among({0, 2});
            if (!matrix)
                r["mips_total"] = among({1, 2, 4});
            body["snapshot"]["resources"].push_back(r);
        }
        for (size_t i = 0; i < jobs; i++) {
            json j = {{"id", "j" + std::to_string(i)}, {"weight", among({0, 1, 1, 5})}};
            if (rng() % 3 == 0)
                j["deadline_s"] = among({0, 1, 3, 8});
            if (rng() % 4 == 0)
                j["release_s"] = among({0, 1, 3});
            if (!matrix)
                j["estimate_ref_s"] = among({1, 2, 4, 8});
            for (size_t k = 0; matrix && k < machines; k++)
                j["etc_s"].push_back(among({1, 2, 3, 5, 7}));
            body["jobs"].push_back(j);
        }
        std::vector<std::string> list = names;
        std::shuffle(list.begin(), list.end(), rng);
        list.resize(1 + rng() % 4);
        body["objective"] = list;
        std::string policy = policies[rng() % policies.size()];
        if (policy == "auto" || policy == "search")
            body["options"]["max_steps"] = 500;
        json answer = place(body, policy);
        INFO(body.dump() << "\n" << answer.dump());
        const json &values = answer["objective"]["values"];
        REQUIRE(values.size() == list.size());
        bool proven = answer["unplaced_count"] == 0;
        for (size_t k = 0; k < list.size(); k++) {
            CHECK(values[k]["name"] == list[k]);
            check_value(values[k], worth(body, answer, list[k]));
            proven = proven && values[k]["proven"] == true;
        }
        if (answer["unplaced_count"] == 0)
            CHECK((answer["status"] == "optimal") == proven);
    }
}
