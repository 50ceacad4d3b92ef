// selections_test.cpp - POST /v1/selections: which of the ready jobs start now.
#include "tests/api.hpp"
#include "tests/database.hpp"

#include <chrono>
#include <functional>
#include <random>

using Catch::Detail::Approx;
using nlohmann::json;

namespace
{

// Not bounded by the clock, unless the request says so.
json select_jobs(json body)
{
    static api a;

    if (!body.contains("time_limit_s"))
        body["time_limit_s"] = 60;
    api_reply r = a.post("/v1/selections", body.dump());

    INFO(r.body);
    REQUIRE(r.status == 200);
    return r.json();
}

json of(const std::string &id, int count, double weight, double cpus, double memory)
{
    return {{"id", id},
            {"count", count},
            {"weight", weight},
            {"cpus", cpus},
            {"memory_bytes", memory}};
}

// How many of the job start, on that resource or anywhere.
int started(const json &answer, const std::string &job, const std::string &at = "")
{
    int count = 0;

    for (const json &s : answer["selected"])
        if (s["job_id"] == job && (at.empty() || s.value("resource_id", "") == at))
            count += s["count"].get<int>();
    return count;
}

json left(const json &answer, const std::string &job)
{
    for (const json &u : answer["unselected"])
        if (u["job_id"] == job)
            return u;
    return nullptr;
}

bool has_warning(const json &answer, const std::string &start)
{
    for (const json &w : answer["warnings"])
        if (w.get<std::string>().rfind(start, 0) == 0)
            return true;
    return false;
}

} // namespace

TEST_CASE("a selection is the best there is, with its proof", "[api]")
{
    json a = select_jobs(
        {{"capacities", {{"cpus", 16}, {"memory_bytes", 64e9}}},
         {"jobs",
          {of("A", 3, 3, 8, 16e9), of("B", 2, 2, 4, 32e9), of("C", 10, 1, 1, 4e9)}}});
    CHECK(a["status"] == "optimal");
    CHECK(a["objective"]["started_now_weight"] == 11);
    CHECK(a["objective"]["bound"] == 11);
    CHECK(a["objective"]["gap_ratio"] == 0);
    CHECK(a["selected"] == json::parse(R"([{"job_id":"A","count":1},
                                           {"job_id":"C","count":8}])"));
    CHECK(left(a, "A")["count"] == 2);
    CHECK(left(a, "A")["reason"] == "no_free_now");
    CHECK(left(a, "A")["amounts"][0]["name"] == "cpus");
    CHECK(left(a, "A")["amounts"][0]["needed"] == 8);
    CHECK(left(a, "A")["amounts"][0]["largest"] == 0); // all 16 are taken
    CHECK(left(a, "B")["count"] == 2);
    CHECK(left(a, "B")["amounts"].size() == 2); // 16e9 of 64e9 bytes are left
    CHECK(left(a, "C")["count"] == 2);

    // What a weight for an amount would take first is not the best.
    a = select_jobs({{"capacities", {{"cpus", 10}, {"memory_bytes", 8e9}}},
                     {"jobs", {of("A", 1, 6, 6, 1e9), of("B", 2, 5, 5, 4e9)}}});
    CHECK(a["objective"]["started_now_weight"] == 10);
    CHECK(a["status"] == "optimal");
    CHECK(started(a, "B") == 2);
    CHECK(started(a, "A") == 0);
}

TEST_CASE("priorities are selected one after the other", "[api]")
{
    json jobs = {
        {{"id", "h"}, {"cpus", 3}, {"priority", 2}},
        {{"id", "l"}, {"cpus", 2}, {"priority", 1}, {"weight", 10}, {"count", 2}},
        {{"id", "s"}, {"cpus", 1}, {"weight", 0.5}}};
    json a = select_jobs({{"capacities", {{"cpus", 4}}}, {"jobs", jobs}});
    CHECK(started(a, "h") == 1);
    CHECK(started(a, "l") == 0);
    CHECK(started(a, "s") == 1);
    CHECK(a["objective"]["started_now_weight"] == 1.5);
    CHECK(a["objective"]["bound"] == 1.5);
    REQUIRE(a["objective"]["tiers"].size() == 3);
    CHECK(a["objective"]["tiers"][0]["priority"] == 2);
    CHECK(a["objective"]["tiers"][1]["value"] == 0);
}

TEST_CASE("what a pool does not name is not limited, or not there", "[api]")
{
    json jobs = {
        {{"id", "a"}, {"memory_bytes", 1e15}, {"disk_bytes", 1e15}, {"count", 7}},
        {{"id", "g"}, {"needs", {{"gpus", 1}}}},
        {{"id", "n"}, {"needs", {{"gpus", 0}}}}};
    json a = select_jobs({{"capacities", {{"cpus", 100}}}, {"jobs", jobs}});
    CHECK(started(a, "a") == 7);
    CHECK(started(a, "g") == 0);
    CHECK(started(a, "n") == 1);
    CHECK(left(a, "g")["reason"] == "too_small");
    CHECK(left(a, "g")["amounts"][0]["name"] == "gpus");
    CHECK(has_warning(a, "unknown_amount: "));
    a = select_jobs({{"capacities", json::object()}, {"jobs", jobs}});
    CHECK(started(a, "a") == 7);
    CHECK(started(a, "g") == 0);
    a = select_jobs(
        {{"capacities", {{"memory_bytes", 3e15}, {"gpus", 1}}}, {"jobs", jobs}});
    CHECK(started(a, "a") == 3);
    CHECK(started(a, "g") == 1);
    CHECK(a["status"] == "optimal");
    a = select_jobs({{"capacities", {{"cpus", 0}}}, {"jobs", jobs}});
    CHECK(a["status"] == "infeasible");
    CHECK(left(a, "a")["reason"] == "too_small");
    a = select_jobs({{"capacities", {{"cpus", 1}}}, {"jobs", json::array()}});
    CHECK(a["status"] == "optimal");
    CHECK(a["objective"]["bound"] == 0);
}

TEST_CASE("with a snapshot each selected job gets a resource", "[api]")
{
    json snapshot = json::parse(R"({"resources":[
        {"id":"n1","cpus":8,"memory_bytes":32e9,
         "running":[{"id":"r","cpus":2,"memory_bytes":4e9}]},
        {"id":"n2","cpus":4,"memory_bytes":16e9,"capacities":{"gpus":1}}]})");
    json jobs = json::parse(R"([
        {"id":"train","priority":1,"cpus":2,"memory_bytes":8e9,"needs":{"gpus":1}},
        {"id":"call","count":6,"cpus":2,"memory_bytes":6e9},
        {"id":"huge","cpus":16}])");
    json a = select_jobs({{"snapshot", snapshot}, {"jobs", jobs}});
    CHECK(started(a, "train", "n2") == 1);
    CHECK(started(a, "call", "n1") == 3);
    CHECK(started(a, "call", "n2") == 1);
    CHECK(left(a, "call")["count"] == 2);
    CHECK(left(a, "call")["reason"] == "no_free_now");
    CHECK(left(a, "huge")["reason"] == "too_small");
    CHECK(left(a, "huge")["amounts"][0]["largest"] == 8);

    // Rows come in the order of the request.
    CHECK(a["selected"][0]["job_id"] == "train");
    CHECK(a["selected"][1]["resource_id"] == "n1");
    CHECK(a["selected"][2]["resource_id"] == "n2");
}

TEST_CASE("jobs on several nodes and gangs are selected one by one", "[api]")
{
    json snapshot = json::parse(R"({"resources":[{"id":"n1","cpus":4},
        {"id":"n2","cpus":4},{"id":"n3","cpus":4}]})");
    json wide = {{"id", "mpi"}, {"nodes", 2}, {"cpus", 2}, {"count", 4}, {"weight", 5}};
    json a = select_jobs(
        {{"snapshot", snapshot},
         {"jobs", {wide, {{"id", "s"}, {"cpus", 4}, {"count", 2}, {"weight", 1}}}}});
    // Two of 2 x 2 cpus fill two nodes (three could start; that is not searched for, and
    // the bound says so).
    CHECK(started(a, "mpi") == 2);
    CHECK(started(a, "s", "n3") == 1);
    CHECK(a["objective"]["started_now_weight"] == 11);
    CHECK(a["objective"]["bound"] == 15);
    CHECK(a["status"] == "feasible");
    CHECK(a["selected"][0]["resource_ids"] == json({"n1", "n2"}));
    CHECK_FALSE(a["selected"][0].contains("resource_id"));
    CHECK(left(a, "mpi")["count"] == 2);
    CHECK(left(a, "s")["count"] == 1);

    json gang = {{"id", "G"}, {"policy", "gang"}};
    a = select_jobs({{"snapshot", snapshot},
                     {"jobs",
                      {{{"id", "g1"}, {"cpus", 4}, {"group", gang}},
                       {{"id", "g2"}, {"cpus", 5}, {"group", gang}},
                       {{"id", "s"}, {"cpus", 1}, {"count", 20}}}}});
    CHECK(started(a, "g1") == 0); // the other one fits nowhere
    CHECK(started(a, "s") == 12);
    CHECK(left(a, "s")["count"] == 8);
}

TEST_CASE("a selection equals the enumeration of all choices", "[api]")
{
    std::mt19937 draw(7);
    auto number = [&](int most) { return (int)(draw() % (unsigned)(most + 1)); };

    for (int round = 0; round < 400; round++) {
        json capacities = json::object(), jobs = json::array();
        std::vector<std::string> names = {"cpus", "memory_bytes", "gpus"};
        std::vector<int> room(3, 1 << 20);
        std::vector<std::vector<int>> needs;
        std::vector<int> counts, weights;
        int classes = number(4);

        for (int k = 0; k < 3; k++)
            if (k == 2 || number(5) > 0)
                capacities[names[(size_t)k]] = room[(size_t)k] = number(12);
        for (int c = 0; c < classes; c++) {
            std::vector<int> need = {1 + number(4), number(4), number(2)};
            counts.push_back(1 + number(5));
            weights.push_back(number(6));
            needs.push_back(need);
            jobs.push_back({{"id", "c" + std::to_string(c)},
                            {"count", counts.back()},
                            {"weight", weights.back()},
                            {"cpus", need[0]},
                            {"memory_bytes", need[1]},
                            {"needs", {{"gpus", need[2]}}}});
        }

        std::function<int(size_t, std::vector<int>)> best = [&](size_t c,
                                                                std::vector<int> left) {
            int most = 0;
            if (c == counts.size())
                return 0;
            for (int n = 0; n <= counts[c]; n++) {
                bool fits = true;
                std::vector<int> rest = left;
                for (size_t k = 0; k < 3; k++) {
                    rest[k] -= n * needs[c][k];
                    fits = fits && rest[k] >= 0;
                }
                if (fits)
                    most = std::max(most, n * weights[c] + best(c + 1, rest));
            }
            return most;
        };
        json a = select_jobs({{"capacities", capacities}, {"jobs", jobs}});
        INFO("round " << round << " " << capacities.dump() << jobs.dump() << a.dump());
        CHECK(a["objective"]["started_now_weight"] == best(0, room));
        CHECK(a["objective"]["bound"] == a["objective"]["started_now_weight"]);

        // What is selected fits, weighs that, and with the rest is all there is.
        double weight = 0;
        std::vector<int> used(3, 0);
        for (int c = 0; c < classes; c++) {
            std::string id = "c" + std::to_string(c);
            json rest = left(a, id);
            int n = started(a, id);

            weight += n * weights[(size_t)c];
            for (size_t k = 0; k < 3; k++)
                used[k] += n * needs[(size_t)c][k];
            CHECK(n + (rest.is_null() ? 0 : rest["count"].get<int>()) ==
                  counts[(size_t)c]);
        }
        CHECK(weight == a["objective"]["started_now_weight"]);
        for (size_t k = 0; k < 3; k++)
            CHECK(used[k] <= room[k]);
        // Whatever is left over does not fit beside it.
        for (int c = 0; c < classes; c++)
            if (!left(a, "c" + std::to_string(c)).is_null()) {
                bool fits = true;
                for (size_t k = 0; k < 3; k++)
                    fits = fits && used[k] + needs[(size_t)c][k] <= room[k];
                CHECK_FALSE(fits);
            }
    }
}

TEST_CASE("rows of many alike select what placements of each job start", "[api]")
{
    std::mt19937 draw(11);
    auto number = [&](int most) { return (int)(draw() % (unsigned)(most + 1)); };
    api server;

    for (int round = 0; round < 60; round++) {
        json resources = json::array(), rows = json::array(), each = json::array();

        for (int i = 0; i <= number(3); i++)
            resources.push_back({{"id", "r" + std::to_string(i)},
                                 {"cpus", number(8)},
                                 {"memory_bytes", number(8)}});
        for (int c = 0; c < number(4); c++) {
            json row = {{"id", "c" + std::to_string(c)},
                        {"cpus", 1 + number(3)},
                        {"memory_bytes", number(3)},
                        {"weight", number(4) / 2.0},
                        {"priority", number(1)}};
            int count = 1 + number(4);

            for (int i = 0; i < count; i++) {
                each.push_back(row);
                each.back()["id"] = row["id"].get<std::string>() + std::to_string(i);
            }
            rows.push_back(row);
            rows.back()["count"] = count;
        }
        json snapshot = {{"resources", resources}};
        json a =
            select_jobs({{"snapshot", snapshot}, {"jobs", rows}, {"time_limit_s", 10}});
        json p = server
                     .post("/v1/placements", json({{"snapshot", snapshot},
                                                   {"jobs", each},
                                                   {"objective", {"started_now_weight"}}})
                                                 .dump())
                     .json();
        INFO(rows.dump() << snapshot.dump() << a.dump());
        double placed = 0;
        for (const json &x : p["placements"])
            for (const json &row : each)
                if (row["id"] == x["job_id"])
                    placed += row["weight"].get<double>();
        CHECK(a["objective"]["started_now_weight"].get<double>() == Approx(placed));
        size_t count = 0;
        for (const json &s : a["selected"])
            count += s["count"].get<size_t>();
        CHECK(count == p["placements"].size());
        for (const json &s : a["selected"]) {
            CHECK(s.contains("resource_id"));
            CHECK(s["count"] >= 1);
        }
    }
}

TEST_CASE("240,000 jobs of 40 kinds are selected at once", "[api]")
{
    api server;
    json jobs = json::array();
    std::mt19937 draw(3);

    for (int c = 0; c < 40; c++)
        jobs.push_back(of("c" + std::to_string(c), 6000, 1 + draw() % 50, 1 + draw() % 16,
                          (double)(1 + draw() % 64) * 1e9));
    json body = {{"capacities", {{"cpus", 512}, {"memory_bytes", 2e12}}}, {"jobs", jobs}};
    json a = select_jobs(body);
    CHECK(a["status"] == "optimal");
    uint64_t sum = 0;
    for (const char *list : {"selected", "unselected"})
        for (const json &row : a[list])
            sum += row["count"].get<uint64_t>();
    CHECK(sum == 240000);
    CHECK(select_jobs(body)["selected"] == a["selected"]);
}

TEST_CASE("what cannot be selected from is refused", "[api]")
{
    api a;
    auto mistakes = [&](const char *body) {
        api_reply r = a.post("/v1/selections", body);
        std::string all = std::to_string(r.status);
        json j = r.json();
        for (const json &e : j["errors"])
            all += " " + e["pointer"].get<std::string>() + ":" +
                   e["code"].get<std::string>();
        return all;
    };
    CHECK(mistakes(R"({"jobs":[{"id":"a"}]})") == "422 /snapshot:required");
    CHECK(mistakes(R"({"jobs":[],"capacities":{},"snapshot_id":"s"})") ==
          "422 /capacities:conflict");
    CHECK(mistakes(R"({"jobs":[{"id":"a","count":0},{"id":"b","count":1000000001}],
                       "capacities":{"n_max":1,"cpus":-1}})") ==
          "422 /jobs/0/count:out_of_bounds /jobs/1/count:out_of_bounds "
          "/capacities/n_max:not_allowed /capacities/cpus:out_of_bounds");
    CHECK(
        mistakes(R"({"jobs":[{"id":"a","count":2,"group":{"id":"g","policy":"gang"}},
                               {"id":"b","input_file_ids":["f"]}],"capacities":{}})") ==
        "422 /jobs/0/count:invalid_combination "
        "/jobs/1/input_file_ids:invalid_combination /jobs/1/input_file_ids/0:unknown_id");
    CHECK(mistakes(R"({"jobs":[{"id":"a","nodes":2,"count":1000001}],
                       "capacities":{}})") == "422 /jobs:too_long");
}

TEST_CASE("a stored selection is replayed, on the snapshot as it was", "[db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    json snapshot =
        json::parse(R"({"resources":[{"id":"n1","cpus":8},{"id":"n2","cpus":3}]})");
    api_reply made = a.call("PUT", "/v1/snapshots/selections-1", snapshot.dump(),
                            {{"if_none_match", "*"}});
    INFO(made.body);
    REQUIRE(made.status == 201);
    api_reply r = a.post(
        "/v1/selections",
        R"({"snapshot_id":"selections-1","store":true,"labels":{"x":1},"time_limit_s":60,
                             "jobs":[{"id":"a","cpus":3,"count":5},{"id":"b","cpus":2,"weight":0.5}]})");
    INFO(r.body);
    REQUIRE(r.status == 200);
    json first = r.json();
    CHECK(started(first, "a", "n1") == 2);
    CHECK(started(first, "a", "n2") == 1);
    CHECK(started(first, "b", "n1") == 1);
    CHECK(first["labels"]["x"] == 1);
    std::string id = first["decision_id"];
    CHECK(a.call("DELETE", "/v1/snapshots/selections-1", "",
                 {{"if_match", made.headers["ETag"]}})
              .status == 204);
    r = a.post("/v1/decisions/" + id + "/replay", "");
    INFO(r.body);
    REQUIRE(r.status == 200);
    json again = r.json();
    if (again.contains("answer"))
        again = again["answer"];
    for (const char *member : {"selected", "unselected", "objective", "status"})
        CHECK(again[member] == first[member]);
}

TEST_CASE("jobs of a session weigh what waits for them", "[api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string id = "select-" + std::to_string(getpid());
    json tasks = json::parse(R"([{"id":"a","estimate_ref_s":4},
        {"id":"b","estimate_ref_s":12,"depends_on":["a"]},
        {"id":"c","estimate_ref_s":6},{"id":"d","estimate_ref_s":5},
        {"id":"e","estimate_ref_s":1,"depends_on":["b","c","d"]}])");
    json definition = {{"workflow", {{"tasks", tasks}}},
                       {"snapshot", {{"resources", {{{"id", "n"}, {"cpus", 2}}}}}}};
    REQUIRE(a.call("PUT", "/v1/workflow-sessions/" + id, definition.dump()).status ==
            201);
    json body = json::parse(R"({"capacities":{"cpus":1},"store":true,"jobs":[
        {"id":"a"},{"id":"c"},{"id":"d","weight":3},{"id":"other"}]})");
    body["session_id"] = id;
    json answer = a.post("/v1/selections", body.dump()).json();
    INFO(answer.dump());
    // a: 4 + 12 + 1; c: 6 + 1.
    CHECK(answer["selected"][0]["job_id"] == "a");
    CHECK(answer["objective"]["started_now_weight"].get<double>() == Approx(17));
    CHECK(answer["warnings"].dump().find("unknown_task: 1 of the jobs is no") !=
          std::string::npos);
    body["capacities"]["cpus"] = 4;
    json all = a.post("/v1/selections", body.dump()).json();
    CHECK(all["objective"]["started_now_weight"].get<double>() == Approx(17 + 7 + 3 + 1));

    // A replay has no session any more.
    REQUIRE(a.call("DELETE", "/v1/workflow-sessions/" + id).status == 204);
    json again =
        a.post("/v1/decisions/" + answer["decision_id"].get<std::string>() + "/replay",
               "")
            .json();
    INFO(again.dump());
    CHECK(again["identical"] == true);
    CHECK(again["answer"]["objective"] == answer["objective"]);
    CHECK(a.post("/v1/selections", body.dump()).status == 404);
}
