// world_policies_api_test.cpp - POST /v1/placements where amounts count: a round of
// gridway, the optimum of identical jobs, and plans to start from.
#include "tests/world_api_support.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace
{

json parsed(const char *text)
{
    return json::parse(text);
}

const json &row_of(const json &answer, const std::string &job)
{
    for (const json &p : answer["placements"])
        if (p["job_id"] == job)
            return p;
    FAIL("no row of " << job);
    return answer;
}

// Two nodes; ann runs a job of four cpus on the first, which has GPUs.
json grid()
{
    return parsed(R"({"resources": [
        {"id": "n1", "cpus": 8, "mips_total": 1, "capacities": {"gpus": 2},
         "running": [{"id": "r1", "cpus": 4, "user": "ann", "expected_end_s": 100}]},
        {"id": "n2", "cpus": 4, "mips_total": 2}]})");
}

// m1 .. m3 of 2 cpus and 10 s, of one group.
json three(const char *policy, json more = json::object())
{
    json jobs = json::array();

    for (const char *id : {"m1", "m2", "m3"}) {
        json j = {{"id", id},
                  {"cpus", 2},
                  {"estimate_s", 10},
                  {"group", {{"id", "g"}, {"policy", policy}}}};
        j.update(more);
        jobs.push_back(j);
    }
    return jobs;
}

} // namespace

TEST_CASE("a round of gridway starts what fits now, by rank and within limits",
          "[api][world]")
{
    json body = {{"snapshot", grid()}, {"options", {{"max_running_per_user", 2}}}};

    body["jobs"] = parsed(R"([
        {"id": "a", "user": "ann", "cpus": 2, "estimate_ref_s": 10},
        {"id": "b", "user": "ann", "cpus": 2, "estimate_ref_s": 10},
        {"id": "c", "user": "bob", "cpus": 2, "needs": {"gpus": 1}},
        {"id": "d", "user": "bob", "cpus": 4, "estimate_ref_s": 10},
        {"id": "e", "user": "eve", "cpus": 16, "estimate_ref_s": 10},
        {"id": "f", "user": "eve", "release_s": 5, "estimate_ref_s": 10},
        {"id": "g", "user": "eve", "nodes": 2, "estimate_s": 10,
         "after": [{"job_id": "h", "kind": "start"}]},
        {"id": "h", "user": "eve", "rank": "-cpus_total", "estimate_s": 10}])");
    json answer = place(body, "gridway");
    CHECK(fate(answer, "a") == "n2 0-5"); // the faster one
    CHECK(row_of(answer, "a")["rank"] == -5);
    CHECK(fate(answer, "b") == "user_limit");          // r1 and a are ann's
    CHECK(row_of(answer, "c")["resource_id"] == "n1"); // nobody knows its end
    CHECK(row_of(answer, "c")["finish_s"].is_null());
    CHECK(fate(answer, "d") == "no_free_now");
    CHECK(fate(answer, "e") == "too_small");
    CHECK(fate(answer, "f") == "not_released");
    CHECK(fate(answer, "g") == "n1+n2 0-10"); // behind h, in the same round
    CHECK(fate(answer, "h") == "n2 0-10");
    CHECK(answer["algorithm"] == "gridway");
    CHECK(answer["status"] == "feasible");
    CHECK_FALSE(says(answer, "unused"));

    body["options"] = {{"dispatch_chunk", 1}};
    CHECK(fate(place(body, "gridway"), "b") == "round_full");
    body["options"] = {{"max_running_per_resource", 1}};
    answer = place(body, "gridway"); // n1 has r1, n2 takes a
    CHECK(answer["placement_count"] == 1);
    CHECK(fate(answer, "c") == "no_free_now");
}

TEST_CASE("a round of gridway starts gangs whole, and packs in one place", "[api][world]")
{
    json body;

    body["snapshot"] = parsed(R"({"resources": [
        {"id": "n1", "cpus": 4, "running": [{"id": "r", "cpus": 4, "expected_end_s": 6}]},
        {"id": "n2", "cpus": 4}]})");
    body["jobs"] = three("gang");
    json answer = place(body, "gridway"); // one of them finds no room now
    for (const char *id : {"m1", "m2", "m3"})
        CHECK(fate(answer, id) == "group_gang");
    body["jobs"][2]["cpus"] = 5;
    answer = place(body, "gridway");
    CHECK(fate(answer, "m1") == "group_gang");
    CHECK(fate(answer, "m3") == "too_small");
    body["snapshot"]["resources"][0].erase("running");
    body["jobs"] = three("gang");
    answer = place(body, "gridway");
    CHECK(fate(answer, "m1") == "n1 0-10");
    CHECK(fate(answer, "m2") == "n1 0-10");
    CHECK(fate(answer, "m3") == "n2 0-10");
    body["jobs"][1]["rank"] = "-1"; // whose place the others do not take
    body["jobs"][0]["cpus"] = 4;    // the largest first
    answer = place(body, "gridway");
    CHECK(fate(answer, "m1") == "n1 0-10");
    CHECK(fate(answer, "m2") == "n2 0-10");

    body["options"] = {{"dispatch_chunk", 2}};
    for (const char *id : {"m1", "m2", "m3"})
        CHECK(fate(place(body, "gridway"), id) == "round_full");
    body["options"] = {{"max_dispatch_per_resource", 1}};
    body["jobs"] = three("gang");
    CHECK(fate(place(body, "gridway"), "m1") == "group_gang");
    body.erase("options");
    body["options"] = {{"max_running_per_user", 1}};
    for (int i = 0; i < 3; i++)
        body["jobs"][i]["user"] = i ? "ann" : "bob";
    answer = place(body, "gridway");
    CHECK(fate(answer, "m1") == "group_gang");
    CHECK(fate(answer, "m2") == "user_limit");
    CHECK(fate(answer, "m3") == "user_limit");
    body.erase("options");

    body["jobs"] = three("pack"); // two of them on n1, or on n2: the first index
    answer = place(body, "gridway");
    CHECK(fate(answer, "m1") == "n1 0-10");
    CHECK(fate(answer, "m2") == "n1 0-10");
    CHECK(fate(answer, "m3") == "group_pack");
    body["snapshot"]["resources"][0]["cpus"] = 3;
    answer = place(body, "gridway");
    CHECK(fate(answer, "m1") == "n2 0-10");
    CHECK(fate(answer, "m2") == "n2 0-10");
    body["snapshot"]["resources"][0]["running"] = {
        {{"id", "r"}, {"cpus", 1}, {"group", "g"}}};
    answer = place(body, "gridway"); // one runs there
    CHECK(fate(answer, "m1") == "n1 0-10");
    CHECK(fate(answer, "m2") == "group_pack");

    body["jobs"] = three("spread");
    answer = place(body, "gridway"); // r counts
    CHECK(fate(answer, "m1") == "n2 0-10");
    CHECK(fate(answer, "m2") == "group_spread");
    body["jobs"] = three("exclude");
    CHECK(fate(place(body, "gridway"), "m1") == "n2 0-10");
}

TEST_CASE("what a gang of a round waits for may start in the same round", "[api][world]")
{
    json body = {{"snapshot", {{"resources", {{{"id", "n1"}, {"cpus", 8}}}}}}};

    body["jobs"] = three("gang");
    body["jobs"][1]["after"] = {{{"job_id", "z"}, {"kind", "start"}}};
    body["jobs"].push_back({{"id", "z"}, {"estimate_s", 5}});
    json answer = place(body, "gridway");
    CHECK(fate(answer, "m1") == "n1 0-10");
    CHECK(fate(answer, "m2") == "n1 0-10");
    body["jobs"][3]["cpus"] = 9;
    answer = place(body, "gridway");
    CHECK(fate(answer, "m1") == "group_gang");
    CHECK(fate(answer, "m2") == "after_unplaced");
    body["jobs"][3]["cpus"] = 1;
    body["jobs"][1]["after"] = {{{"job_id", "z"}, {"kind", "ok"}}};
    answer = place(body, "gridway");
    CHECK(fate(answer, "m1") == "group_gang");
    CHECK(fate(answer, "m2") == "not_released");

    body["jobs"] = three("pack"); // of a pack one may wait for another
    body["jobs"][0]["after"] = {{{"job_id", "m2"}, {"kind", "start"}}};
    body["jobs"][2]["after"] = {{{"job_id", "m2"}, {"kind", "ok"}}};
    answer = place(body, "gridway");
    CHECK(fate(answer, "m1") == "n1 0-10");
    CHECK(fate(answer, "m2") == "n1 0-10");
    CHECK(fate(answer, "m3") == "not_released");

    body["snapshot"]["resources"].push_back( // a faster one, that is busy
        {{"id", "n2"},
         {"cpus", 8},
         {"mips_total", 10},
         {"running", {{{"id", "r"}, {"cpus", 8}, {"expected_end_s", 1}}}}});
    body["jobs"] = three("gang");
    for (json &j : body["jobs"]) {
        j.erase("estimate_s");
        j["estimate_ref_s"] = 100;
    }
    body["options"] = {{"hold_back", true}};
    answer = place(body, "gridway");
    for (const char *id : {"m1", "m2", "m3"})
        CHECK(fate(answer, id) != "better_soon"); // a gang starts as soon as it can
    CHECK(answer["placement_count"] == 3);
}

TEST_CASE("a round that holds back starts nothing that would end sooner elsewhere",
          "[api][world]")
{
    json body = {{"options", {{"hold_back", true}}}};

    body["snapshot"] = parsed(R"({"resources": [
        {"id": "slow", "cpus": 1, "mips_total": 1},
        {"id": "fast", "cpus": 1, "mips_total": 10,
         "running": [{"id": "r", "cpus": 1, "expected_end_s": 2}]}]})");
    body["jobs"] = parsed(R"([{"id": "a", "estimate_ref_s": 100},
                              {"id": "b", "estimate_ref_s": 5}])");
    json answer = place(body, "gridway");
    CHECK(fate(answer, "a") == "better_soon");
    CHECK(fate(answer, "b") == "slow 0-5");
    body.erase("options");
    CHECK(fate(place(body, "gridway"), "a") == "slow 0-100");
}

TEST_CASE("rounds of gridway are plans that the evaluation accepts", "[api][world]")
{
    static const char *const group_policies[] = {"gang", "pack", "same_site", "spread",
                                                 "exclude"};
    std::mt19937 rng(5);
    api a;
    size_t started = 0;

    for (int round = 0; round < 200; round++) {
        json body = {{"snapshot", {{"resources", json::array()}}},
                     {"jobs", json::array()}};

        for (int n = 0; n < 3; n++)
            body["snapshot"]["resources"].push_back(
                {{"id", "n" + std::to_string(n)},
                 {"cpus", 1 + rng() % 8},
                 {"capacities", {{"gpus", rng() % 3}}},
                 {"running",
                  {{{"id", "r" + std::to_string(n)},
                    {"cpus", 1 + rng() % 2},
                    {"expected_end_s", 1 + rng() % 9}}}},
                 {"reservations",
                  {{{"start_s", rng() % 5}, {"end_s", 6}, {"cpus", 1}}}}});
        for (int j = 0; j < 8; j++)
            body["jobs"].push_back({{"id", "j" + std::to_string(j)},
                                    {"cpus", 1 + rng() % 3},
                                    {"nodes", 1 + rng() % 5 / 4},
                                    {"needs", {{"gpus", rng() % 4 / 3}}},
                                    {"estimate_s", rng() % 4}});
        for (json &j : body["jobs"])
            if (rng() % 3 == 0)
                j["group"] = {{"id", "g"}, {"policy", group_policies[round % 5]}};
        json answer = place(body, "gridway"), question = body;
        question["kind"] = "placement";
        question["placements"] = json::array();
        for (const json &p : answer["placements"]) {
            json row = {{"job_id", p["job_id"]}, {"start_s", p["start_s"]}};
            for (const char *m : {"resource_id", "resource_ids"})
                if (p.contains(m))
                    row[m] = p[m];
            CHECK(p["start_s"] == 0);
            question["placements"].push_back(row);
        }
        started += answer["placements"].size();
        api_reply reply = a.post("/v1/evaluations", question.dump());
        INFO(reply.body);
        REQUIRE(reply.status == 200);
        CHECK(reply.json()["valid"] == true);
    }
    CHECK(started > 100);
}

TEST_CASE("identical jobs have a known optimum whatever the amounts are", "[api][world]")
{
    json body;

    // Three at a time on n1 (10 s), one on n2 (4 s): at 20 s, 3 + 3 and 5 are done.
    body["snapshot"] = parsed(R"({"resources": [
        {"id": "n1", "cpus": 8, "memory_bytes": 48, "mips_total": 1},
        {"id": "n2", "cpus": 3, "memory_bytes": 64, "mips_total": 2.5,
         "capacities": {"gpus": 1}}]})");
    body["jobs"] = json::array();
    for (int i = 0; i < 11; i++)
        body["jobs"].push_back({{"id", "j" + std::to_string(i)},
                                {"cpus", 2},
                                {"memory_bytes", 16},
                                {"disk_bytes", 1},
                                {"estimate_ref_s", 10}});
    json answer = place(body, "identical_optimum");
    CHECK(answer["objective"]["makespan_s"] == 20);
    CHECK(answer["status"] == "optimal");
    CHECK(answer["bounds"][0]["kind"] == "exact");
    CHECK(place(body, "auto")["algorithm"] == "identical_optimum");
    CHECK(place(body, "mct")["objective"]["makespan_s"] == 20);

    api a;
    auto refused = [&](const json &given) {
        json r = a.post("/v1/placements", given.dump()).json();
        INFO(r.dump());
        REQUIRE(r.contains("errors"));
        CHECK(r["errors"][0]["pointer"] == "/algorithm");
        CHECK(r["errors"][0]["code"] == "not_applicable");
        return r["errors"][0]["detail"].get<std::string>();
    };
    body["algorithm"] = "identical_optimum";
    body["jobs"][3]["cpus"] = 1;
    CHECK_THAT(refused(body), Catch::Contains("jobs differ") && Catch::Contains("auto"));
    body["jobs"][3]["cpus"] = 2;
    body["snapshot"]["resources"][0]["running"] = {{{"id", "r"}, {"expected_end_s", 1}}};
    CHECK_THAT(refused(body), Catch::Contains("something runs"));
}

TEST_CASE("the optimum of identical jobs is that of all plans", "[api][world][property]")
{
    std::mt19937 rng(3);

    for (int round = 0; round < 60; round++) {
        json body = {{"snapshot", {{"resources", json::array()}}},
                     {"jobs", json::array()}};
        std::vector<double> slots; // run time of each
        size_t count = rng() % 7;

        for (int n = 0; n < 3; n++) {
            size_t cpus = rng() % 5, memory = 1 + rng() % 6;
            double mips = std::vector<double>{0.5, 1, 2}[rng() % 3];

            body["snapshot"]["resources"].push_back({{"id", "n" + std::to_string(n)},
                                                     {"cpus", cpus},
                                                     {"mips_total", mips},
                                                     {"memory_bytes", memory},
                                                     {"disk_bytes", 100}});
            for (size_t s = 0; s < std::min(cpus / 2, memory / 2); s++)
                slots.push_back(6 / mips);
        }
        for (size_t j = 0; j < count; j++)
            body["jobs"].push_back({{"id", "j" + std::to_string(j)},
                                    {"cpus", 2},
                                    {"memory_bytes", 2},
                                    {"disk_bytes", 1},
                                    {"estimate_ref_s", 6}});
        json answer = place(body, "identical_optimum");
        INFO(body.dump() << answer.dump());
        if (slots.empty() || count == 0) {
            CHECK(answer["placement_count"] == 0);
            continue;
        }
        double least = HUGE_VAL; // over all times at which something may end
        for (double time : slots)
            for (size_t k = 1; k <= count; k++) {
                size_t done = 0;
                for (double other : slots)
                    done += size_t(std::floor(k * time / other + 1e-9));
                if (done >= count)
                    least = std::min(least, k * time);
            }
        CHECK(answer["objective"]["makespan_s"] == Approx(least).epsilon(1e-12));
        CHECK(answer["status"] == "optimal");
    }
}

TEST_CASE("a search starts from a plan where amounts count", "[api][world][search]")
{
    json body;

    body["snapshot"] = parsed(R"({"shared_capacities": {"licence": 1}, "resources": [
        {"id": "n1", "cpus": 4}, {"id": "n2", "cpus": 4},
        {"id": "n3", "cpus": 4,
         "running": [{"id": "r", "cpus": 4, "expected_end_s": 7}]}]})");
    body["jobs"] = parsed(R"([
        {"id": "a", "cpus": 3, "estimate_s": 8, "needs": {"licence": 1}},
        {"id": "b", "cpus": 2, "estimate_s": 9}, {"id": "c", "cpus": 2, "estimate_s": 5},
        {"id": "d", "cpus": 4, "estimate_s": 3, "nodes": 2},
        {"id": "e", "cpus": 1, "estimate_s": 6, "needs": {"licence": 1}},
        {"id": "f", "cpus": 2, "estimate_s": 4, "after": [{"job_id": "c"}]}])");
    json best = place(body, "search");
    double makespan_s = best["objective"]["makespan_s"];

    // What it answered is taken as it stands, and nothing worse comes of it.
    body["initial"] = best["placements"];
    body["options"] = {{"max_steps", 1}, {"start", "mct"}};
    json again = place(body, "search");
    CHECK_FALSE(says(again, "initial_refused"));
    CHECK(again["objective"]["makespan_s"].get<double>() <= makespan_s);
    again = place(body, "auto");
    CHECK_THAT(again["because"].get<std::string>(), Catch::Contains("initial"));

    // A plan that cannot be: the search goes on without it.
    for (json &p : body["initial"])
        p["start_s"] = 0;
    again = place(body, "search");
    CHECK(says(again, "initial_refused: row"));
    CHECK(again["unplaced_count"] == 0);

    // Without starts the rows are placed as they stand; several nodes need theirs.
    for (json &p : body["initial"])
        p.erase("start_s");
    CHECK(says(place(body, "search"), "initial_refused: row"));
    body["jobs"].erase(3);
    json rows = json::array();
    for (const json &p : best["placements"])
        if (p["job_id"] != "d")
            rows.push_back({{"job_id", p["job_id"]}, {"resource_id", p["resource_id"]}});
    body["initial"] = rows;
    CHECK_FALSE(says(place(body, "search"), "initial_refused"));

    api a;
    body["algorithm"] = "search";
    body["initial"].push_back({{"job_id", "x"}, {"resource_ids", {"n1", "n9"}}});
    body["initial"].push_back(body["initial"][0]);
    body["initial"].push_back({{"job_id", "a"}});
    CHECK(a.post("/v1/placements", body.dump()).pointers() ==
          std::vector<std::string>{"/initial/5/resource_ids/1", "/initial/5/job_id",
                                   "/initial/6/job_id", "/initial/7/resource_id",
                                   "/initial/7/job_id"});
    body["initial"] = {rows[0]};
    CHECK(a.post("/v1/placements", body.dump()).pointers() ==
          std::vector<std::string>{"/initial"});
}

TEST_CASE("searches find cheap resources, and few", "[api][world][search]")
{
    json e18 = parsed(R"({
        "snapshot": {"resources": [
            {"id": "p1", "cpus": 8, "mips_total": 1, "price_per_s": 0.001},
            {"id": "p2", "cpus": 8, "mips_total": 2, "price_per_s": 0.003}]},
        "jobs": [{"id": "a", "cpus": 4, "estimate_ref_s": 100},
                 {"id": "b", "cpus": 4, "estimate_ref_s": 100},
                 {"id": "c", "cpus": 2, "estimate_ref_s": 100}],
        "objective": ["cost"]})");
    auto value = [](const json &answer, size_t k = 0) {
        return answer["objective"]["values"][k]["value"].get<double>();
    };
    for (const char *name : {"auto", "search"}) {
        json answer = place(e18, name);
        CHECK(value(answer) == Approx(0.2));
        CHECK(answer["objective"]["makespan_s"] == 200);
        CHECK(answer["objective"]["values"][0]["bound"].get<double>() == Approx(0.125));
    }
    for (json &r : e18["snapshot"]["resources"])
        r["price_per_cpu_s"] = 0.0001;
    CHECK(value(place(e18, "search")) == Approx(0.3));

    std::mt19937 rng(11);
    for (int round = 0; round < 40; round++) {
        json body = {{"snapshot", {{"resources", json::array()}}},
                     {"jobs", json::array()}};
        size_t nodes = 1 + rng() % 4, jobs = 1 + rng() % 5;
        std::vector<double> price, cpus, speed, need, work;

        for (size_t n = 0; n < nodes; n++) {
            price.push_back(1 + double(rng() % 5));
            cpus.push_back(1 + double(rng() % 4));
            speed.push_back(1 + double(rng() % 3));
            body["snapshot"]["resources"].push_back({{"id", "n" + std::to_string(n)},
                                                     {"cpus", cpus[n]},
                                                     {"mips_total", speed[n]},
                                                     {"price_per_cpu_s", price[n]}});
        }
        cpus[0] = 4; // all fit somewhere
        body["snapshot"]["resources"][0]["cpus"] = 4;
        for (size_t j = 0; j < jobs; j++) {
            need.push_back(1 + double(rng() % 4));
            work.push_back(1 + double(rng() % 9));
            body["jobs"].push_back({{"id", "j" + std::to_string(j)},
                                    {"cpus", need[j]},
                                    {"estimate_ref_s", work[j]}});
        }
        double least = 0;
        for (size_t j = 0; j < jobs; j++) {
            double best = HUGE_VAL;
            for (size_t n = 0; n < nodes; n++)
                if (need[j] <= cpus[n])
                    best = std::min(best, price[n] * need[j] * work[j] / speed[n]);
            least += best;
        }
        INFO(body.dump());
        body["objective"] = {"cost"};
        CHECK(value(place(body, "search")) == Approx(least));
        body["objective"] = {"nodes_used"}; // the first holds all
        CHECK(value(place(body, "search")) == 1);
    }
}
