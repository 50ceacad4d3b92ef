// world_api_test.cpp - POST /v1/placements where amounts count: the worked examples of
// the specification, and what is refused.
#include "tests/world_api_support.hpp"

TEST_CASE("jobs go into holes, and what runs counts", "[api][world]")
{
    json e1 = json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 4, "running": [
            {"id": "r", "cpus": 2, "expected_end_s": 10}]}]},
        "jobs": [{"id": "w", "cpus": 4, "estimate_s": 10},
                 {"id": "s1", "cpus": 2, "estimate_s": 10},
                 {"id": "s2", "cpus": 2, "estimate_s": 12}]})");
    json j = place(e1);
    CHECK(fate(j, "w") == "n 10-20");
    CHECK(fate(j, "s1") == "n 0-10");
    CHECK(fate(j, "s2") == "n 20-32");
    CHECK(j["objective"]["makespan_s"] == 32);
    CHECK(j["status"] == "feasible");
    j = place(e1, "auto");
    CHECK(j["objective"]["makespan_s"] <= 32);
    j = place(e1, "search");
    CHECK(fate(j, "s2") == "n 0-12");
    CHECK(fate(j, "s1") == "n 10-20");
    CHECK(fate(j, "w") == "n 20-30");

    j = place(json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 64, "memory_bytes": 256e9,
            "running": [{"id": "r", "cpus": 60, "memory_bytes": 200e9,
                         "expected_end_s": 100}]}]},
        "jobs": [{"id": "p", "cpus": 60, "memory_bytes": 200e9, "estimate_s": 10},
                 {"id": "q", "cpus": 4, "memory_bytes": 56e9, "estimate_s": 200}]})"));
    CHECK(fate(j, "p") == "n 100-110");
    CHECK(fate(j, "q") == "n 0-200");

    j = place(json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 4, "running": [
            {"id": "r", "cpus": 3, "expected_end_s": null}]}]},
        "jobs": [{"id": "a", "cpus": 2, "estimate_s": 10},
                 {"id": "b", "cpus": 1, "estimate_s": 10}]})"));
    CHECK(fate(j, "a") == "unknown_end");
    CHECK(fate(j, "b") == "n 0-10");
    CHECK(j["unplaced"][0]["reasons"][0]["blockers"] == json({"r"}));
    CHECK(j["unplaced"][0]["reasons"][0]["resource_count"] == 1);
    CHECK(says(j, "unplaced: 1, unknown_end: 1"));
}

TEST_CASE("named and shared amounts limit what runs together", "[api][world]")
{
    json j = place(json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 8, "capacities": {"gpus": 1}}]},
        "jobs": [{"id": "a", "estimate_s": 10, "needs": {"gpus": 1}},
                 {"id": "b", "estimate_s": 10, "needs": {"gpus": 1}},
                 {"id": "c", "estimate_s": 10, "needs": {"gpus": 1}}]})"));
    CHECK(fate(j, "a") == "n 0-10");
    CHECK(fate(j, "b") == "n 10-20");
    CHECK(fate(j, "c") == "n 20-30");
    CHECK(j["status"] == "optimal");
    CHECK(j["objective"]["values"][0]["bound"] == Approx(30));
    CHECK(j["objective"]["values"][0]["proven"] == true);
    CHECK_FALSE(j["placements"][0].contains("slot"));

    j = place(json::parse(R"({
        "snapshot": {"resources": [{"id": "n1", "cpus": 8}, {"id": "n2", "cpus": 8}],
                     "shared_capacities": {"licence": 1}},
        "jobs": [{"id": "a", "cpus": 4, "estimate_s": 10, "needs": {"licence": 1}},
                 {"id": "b", "cpus": 4, "estimate_s": 10, "needs": {"licence": 1}},
                 {"id": "c", "cpus": 8, "estimate_s": 10}]})"));
    CHECK(fate(j, "a") == "n1 0-10");
    CHECK(fate(j, "b") == "n1 10-20");
    CHECK(fate(j, "c") == "n2 0-10");
    CHECK(j["status"] == "optimal");
    CHECK(j["objective"]["makespan_s"] == 20);
}

TEST_CASE("jobs on several nodes", "[api][world]")
{
    json j = place(json::parse(R"({
        "snapshot": {"resources": [{"id": "n1", "cpus": 4}, {"id": "n2", "cpus": 4},
                                   {"id": "n3", "cpus": 4}]},
        "jobs": [{"id": "A", "nodes": 2, "cpus": 4, "estimate_s": 10},
                 {"id": "B", "nodes": 3, "cpus": 4, "estimate_s": 5},
                 {"id": "C", "cpus": 4, "estimate_s": 10},
                 {"id": "D", "nodes": 4, "estimate_s": 10}]})"));
    CHECK(fate(j, "A") == "n1+n2 0-10");
    CHECK(fate(j, "B") == "n1+n2+n3 10-15");
    CHECK(fate(j, "C") == "n3 0-10");
    CHECK(fate(j, "D") == "too_few_nodes");
    CHECK_FALSE(j["placements"][0].contains("resource_id"));
    CHECK(j["objective"]["lower_bound_s"] == Approx(15));
    CHECK(j["status"] == "feasible"); // a job has no place

    json e7 = json::parse(R"({
        "snapshot": {"resources": [
            {"id": "v1", "cpus": 1}, {"id": "v2", "cpus": 1, "mips_total": 2},
            {"id": "v4", "cpus": 1, "mips_total": 4}]},
        "jobs": [{"id": "A", "nodes": 2, "estimate_ref_s": 40}]})");
    CHECK(fate(place(e7), "A") == "v2+v4 0-20");
    for (auto [until, text] : std::vector<std::pair<double, std::string>>{
             {15, "v2+v4 15-35"}, {20, "v1+v2 0-40"}, {25, "v1+v2 0-40"}}) {
        e7["snapshot"]["resources"][2]["running"] = {
            {{"id", "r"}, {"expected_end_s", until}}};
        CHECK(fate(place(e7), "A") == text);
    }
}

TEST_CASE("reservations, releases and fractions", "[api][world]")
{
    json j = place(json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 4, "reservations": [
            {"start_s": 5, "end_s": 10, "all": true}]}]},
        "jobs": [{"id": "a", "estimate_s": 6}, {"id": "b", "estimate_s": 5},
                 {"id": "c", "cpus": 4, "estimate_s": 7}]})"));
    CHECK(fate(j, "a") == "n 10-16");
    CHECK(fate(j, "b") == "n 0-5");
    CHECK(fate(j, "c") == "n 16-23");
    j = place(json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 1}]},
        "jobs": [{"id": "a", "estimate_s": 10, "release_s": 1000},
                 {"id": "b", "estimate_s": 10}]})"));
    CHECK(fate(j, "a") == "n 1000-1010");
    CHECK(fate(j, "b") == "n 0-10");

    json halves = {{"snapshot", {{"resources", {{{"id", "n"}, {"cpus", 4}}}}}}};
    for (int i = 0; i < 8; i++)
        halves["jobs"].push_back(
            {{"id", std::to_string(i)}, {"cpus", 0.5}, {"estimate_s", 10}});
    j = place(halves);
    for (int i = 0; i < 8; i++)
        CHECK(fate(j, std::to_string(i)) == "n 0-10");

    json parts = {{"snapshot", {{"resources", {{{"id", "n"}, {"cpus", 1}}}}}}};
    for (int i = 0; i < 10; i++)
        parts["jobs"].push_back(
            {{"id", std::to_string(i)}, {"cpus", 0.1}, {"estimate_s", 10}});
    CHECK(place(parts)["objective"]["makespan_s"] == 10);
    parts["jobs"] = json::array();
    for (double cpus : {0.7, 0.2, 0.1})
        parts["jobs"].push_back(
            {{"id", std::to_string(cpus)}, {"cpus", cpus}, {"estimate_s", 10}});
    j = place(parts);
    CHECK(j["objective"]["makespan_s"] == 10);
    CHECK(j["status"] == "optimal");
}

TEST_CASE("groups of jobs keep their rules", "[api][world]")
{
    json e11 = json::parse(R"({
        "snapshot": {"resources": [
            {"id": "n1", "cpus": 4,
             "running": [{"id": "r", "cpus": 4, "expected_end_s": 6}]},
            {"id": "n2", "cpus": 4}]},
        "jobs": [{"id": "m1", "cpus": 2, "estimate_s": 10},
                 {"id": "m2", "cpus": 2, "estimate_s": 10},
                 {"id": "m3", "cpus": 2, "estimate_s": 10}]})");
    using fates = std::vector<std::string>;
    auto of = [&](const std::string &policy, double cpus) {
        json body = e11;
        for (json &job : body["jobs"]) {
            job["cpus"] = cpus;
            if (!policy.empty())
                job["group"] = {{"id", "g"}, {"policy", policy}};
        }
        json j = place(body);
        return fates{fate(j, "m1"), fate(j, "m2"), fate(j, "m3")};
    };

    CHECK(of("", 2) == fates{"n2 0-10", "n2 0-10", "n1 6-16"});
    CHECK(of("gang", 2) == fates{"n1 6-16", "n1 6-16", "n2 6-16"});
    CHECK(of("spread", 2) == fates{"n2 0-10", "n1 6-16", "group_spread"});
    CHECK(of("pack", 2) == fates{"n2 0-10", "n2 0-10", "n2 10-20"});
    CHECK(of("exclude", 1) == fates{"n2 0-10", "n1 6-16", "n2 10-20"});
}

TEST_CASE("what a plan costs is an objective", "[api][world]")
{
    json e18 = json::parse(R"({
        "snapshot": {"resources": [
            {"id": "p1", "cpus": 8, "price_per_s": 0.001},
            {"id": "p2", "cpus": 8, "price_per_s": 0.003, "mips_total": 2}]},
        "jobs": [{"id": "a", "cpus": 4, "estimate_s": 100},
                 {"id": "b", "cpus": 4, "estimate_s": 100},
                 {"id": "c", "cpus": 2, "estimate_ref_s": 100}],
        "objective": ["makespan_s", "cost"]})");
    json j = place(e18, "auto");
    const json &values = j["objective"]["values"];
    REQUIRE(values.size() == 2);
    CHECK(values[0]["name"] == "makespan_s");
    CHECK(values[0]["value"] == 100);
    CHECK(values[0]["proven"] == true);
    CHECK(values[1]["name"] == "cost");
    CHECK(values[1]["value"] == Approx(0.25));
    CHECK(values[1]["bound_kind"] == "lower");
    for (const char *job : {"a", "b"})
        CHECK(fate(j, job) == "p1 0-100");
    CHECK(fate(j, "c") == "p2 0-50");
    CHECK_FALSE(says(j, "ignored: price_per_s"));
    e18["objective"] = {"makespan_s"};
    CHECK(says(place(e18), "ignored: price_per_s of 2 resources (first "
                           "/snapshot/resources/0/price_per_s): it counts with "
                           "objective cost"));
}

TEST_CASE("jobs of no length take nothing and wait for no amount", "[api][world]")
{
    json e20 = json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 1, "capacities": {"x": 1}}]},
        "jobs": [{"id": "a", "estimate_s": 10}, {"id": "z", "estimate_s": 0},
                 {"id": "b", "estimate_s": 10}]})");
    json j = place(e20);
    CHECK(fate(j, "a") == "n 0-10");
    CHECK(fate(j, "z") == "n 0-0");
    CHECK(fate(j, "b") == "n 10-20");
    CHECK(j["status"] == "optimal");
    e20["snapshot"]["resources"][0]["reservations"] = {
        {{"start_s", 5}, {"end_s", 8}, {"all", true}}};
    e20["jobs"].erase(0);
    e20["jobs"][0]["release_s"] = 6;
    j = place(e20);
    CHECK(fate(j, "z") == "n 8-8");
    CHECK(fate(j, "b") == "n 8-18");
}

TEST_CASE("amounts may be held longer than a job runs", "[api][world]")
{
    json e21 = json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 1}]},
        "jobs": [{"id": "a", "estimate_s": 10, "time_limit_s": 100},
                 {"id": "b", "estimate_s": 10, "time_limit_s": 100}],
        "options": {"plan_with": "limit"}})");
    json j = place(e21);
    CHECK(fate(j, "a") == "n 0-10");
    CHECK(fate(j, "b") == "n 100-110");
    CHECK(j["objective"]["lower_bound_s"] <= 20);
    CHECK(j["status"] == "feasible");
    CHECK(j["objective"]["utilisation_ratio"] == Approx(20.0 / 110)); // of what it runs
    CHECK(j["loads"][0]["busy_s"] == 20);
    CHECK(j["loads"][0]["utilisation_ratio"] == Approx(20.0 / 110));
    e21["options"] = json::object();
    CHECK(fate(place(e21), "b") == "n 10-20");

    j = place(json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 1}],
            "shared_capacities": {"licence": 2},
            "running": [{"id": "r", "needs": {"licence": 3}, "expected_end_s": 4}]},
        "jobs": [{"id": "j", "estimate_s": 2, "needs": {"licence": 1}}]})"));
    CHECK(fate(j, "j") == "n 4-6");
    CHECK(j["objective"]["values"][0]["bound"] == Approx(6));
    CHECK(j["status"] == "optimal");
    CHECK(says(j, "overcommitted: 1 amount is taken beyond capacity; first licence of "
                  "the snapshot: capacity 2, at most 3 taken at a time"));
}

TEST_CASE("the most weight that can start now", "[api][world]")
{
    json e13 = {{"snapshot",
                 {{"resources", {{{"id", "n"}, {"cpus", 10}, {"memory_bytes", 20}}}}}},
                {"objective", {"started_now_weight"}}};
    auto add = [&](const std::string &id, int count, double cpus, double memory,
                   double weight) {
        for (int i = 0; i < count; i++)
            e13["jobs"].push_back({{"id", id + std::to_string(i)},
                                   {"cpus", cpus},
                                   {"memory_bytes", memory},
                                   {"weight", weight}});
    };
    add("A", 3, 3, 2, 5);
    add("B", 2, 4, 9, 7);
    add("C", 5, 1, 4, 2);
    json j = place(e13, "auto");
    const json &value = j["objective"]["values"][0];
    CHECK(value["value"] == 18);
    CHECK(value["bound"] == 18);
    CHECK(value["bound_kind"] == "upper");
    CHECK(value["proven"] == true);
    CHECK(j["placement_count"] == 6); // 2 A, 4 C
    CHECK(fate(j, "B0") == "no_free_now");
    CHECK(j["placements"][0]["finish_s"] == nullptr); // no run time is known
    CHECK(says(place(e13, "mct"), "policy_ignores_objective: mct plans every job"));
    for (json &job : e13["jobs"])
        job["estimate_s"] = 5;
    CHECK(place(e13, "auto")["status"] == "optimal");

    // The option for the search of such decisions, and for no other.
    const std::string unused = "ignored: 1 option (/options/max_nodes)";
    e13["options"] = {{"max_nodes", 5}};
    CHECK_FALSE(says(place(e13, "auto"), unused));
    CHECK(says(place(e13, "mct"), unused));
    e13.erase("objective");
    CHECK(says(place(e13, "auto"), unused));
    e13["options"] = {{"max_nodes", 2000000}};
    CHECK_FALSE(says(place(e13, "auto"), unused));

    json e14 = {
        {"snapshot",
         {{"resources", {{{"id", "n1"}, {"cpus", 10}}, {{"id", "n2"}, {"cpus", 6}}}}}},
        {"objective", {"started_now_weight"}}};
    for (auto [cpus, weight] :
         std::vector<std::pair<double, double>>{{7, 7}, {5, 4}, {5, 4}, {4, 3}, {3, 2}})
        e14["jobs"].push_back({{"id", "j" + std::to_string(e14["jobs"].size())},
                               {"cpus", cpus},
                               {"weight", weight},
                               {"estimate_s", 1}});
    j = place(e14, "auto");
    CHECK(fate(j, "j0") == "n1 0-1");
    CHECK(fate(j, "j4") == "n1 0-1");
    CHECK(fate(j, "j1") == "n2 0-1");
    CHECK(j["objective"]["values"][0]["value"] == 13);
    CHECK(j["objective"]["values"][0]["bound"] == 14);
    CHECK(j["objective"]["values"][0]["gap_ratio"] == Approx(1 / 13.));
    CHECK(j["status"] == "feasible");

    json e22 = json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 4}]},
        "jobs": [{"id": "h", "cpus": 3, "priority": 2, "estimate_s": 1},
                 {"id": "l1", "cpus": 2, "priority": 1, "weight": 10, "estimate_s": 1},
                 {"id": "l2", "cpus": 2, "priority": 1, "weight": 10, "estimate_s": 1}],
        "objective": ["started_now_weight"]})");
    j = place(e22, "auto");
    CHECK(j["placement_count"] == 1);
    CHECK(fate(j, "h") == "n 0-1");
    const json &tiers = j["objective"]["values"][0]["tiers"];
    REQUIRE(tiers.size() == 2);
    CHECK(tiers[0]["priority"] == 2);
    CHECK(tiers[0]["value"] == 1);
    CHECK(tiers[1]["value"] == 0);
    CHECK(j["status"] == "optimal");
    e22["jobs"][0]["priority"] = 1;
    CHECK(place(e22, "auto")["objective"]["values"][0]["value"] == 20);
}

TEST_CASE("orders of jobs go by the objective unless one is asked for", "[api][world]")
{
    json body = json::parse(R"({
        "snapshot": {"resources": [{"id": "n", "cpus": 1, "capacities": {"x": 1}}]},
        "jobs": [{"id": "a", "estimate_s": 4, "deadline_s": 9, "priority": 1},
                 {"id": "b", "estimate_s": 3, "deadline_s": 3, "weight": 5},
                 {"id": "c", "estimate_s": 9, "priority": 2}]})");
    auto starts = [&](const json &more) {
        json request = body;
        request.update(more);
        json j = place(request);
        std::string order;
        for (double t = 0; t < 16; t++)
            for (const json &p : j["placements"])
                if (p["start_s"] == t)
                    order += p["job_id"].get<std::string>();
        return order;
    };
    auto by = [&](const std::string &order) {
        return json{{"options", {{"job_order", order}}}, {"objective", {"cost"}}};
    };
    CHECK(starts({{"objective", {"weighted_tardiness_s"}}}) == "bac");
    CHECK(starts({{"objective", {"weighted_completion_s"}}}) == "bac");
    CHECK(starts({{"objective", {"cost"}}}) == "abc");
    CHECK(starts(json::object()) == "bac"); // deadlines are brought into order at no cost
    CHECK(starts(by("fifo")) == "abc");
    CHECK(starts(by("priority")) == "cab");
    CHECK(starts(by("longest")) == "cab");
    CHECK(starts(by("deadline")) == "bac");
    // A round of gridway goes by its own order, and says so.
    api a;
    json round = {{"algorithm", "gridway"},
                  {"snapshot", body["snapshot"]},
                  {"jobs", json::array()},
                  {"pending", {{{"id", "p"}, {"estimate_ref_s", 1}}}},
                  {"options",
                   {{"job_order", "longest"}, {"plan_with", "limit"}, {"max_nodes", 5}}}};
    json answer = a.post("/v1/reschedules", round.dump()).json();
    INFO(answer.dump());
    for (const char *option : {"job_order", "max_nodes"})
        CHECK(answer["warnings"].dump().find(std::string("ignored: 1 option (/options/") +
                                             option) != std::string::npos);
    round["options"] = {{"max_nodes", 2000000}}; // as if it were not there
    CHECK(a.post("/v1/reschedules", round.dump()).status == 200);
}
