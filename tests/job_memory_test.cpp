// job_memory_test.cpp - jobs whose memory is what their first attempts are to ask for,
// through route_answer() and PostgreSQL.
#include "tests/database.hpp"
#include "tests/model_support.hpp"

using nlohmann::json;

namespace
{
struct peaks : api {
    std::string app = unique_name("app");

    peaks() : api(test_database_url())
    {
    }
    json done(const api_reply &r, int status = 200)
    {
        INFO(r.body.substr(0, 3000));
        REQUIRE(r.status == status);
        return r.json();
    }
    // Runs of 10 to 100 s, sizes 1 to 10; peaks of 1 GB and 100 MB for each unit of size.
    void learn()
    {
        json runs = json::array();

        for (int i = 0; i < 30; i++) {
            double size = 1 + i % 10;
            runs.push_back({{"execution_id", unique_name("run")},
                            {"application_id", app},
                            {"started_at", 1700000000.0 + 100. * i},
                            {"problem_size", size},
                            {"run_time_s", 10 * size * (1 + 0.01 * (i % 3))},
                            {"memory_peak_bytes", 1e9 + 1e8 * size + 1e6 * (i % 3)}});
        }
        done(post("/v1/executions", runs.dump()), 201);
        done(post("/v1/models/" + app + "/refine", ""));
        done(post("/v1/models/" + app + "-memory/refine", ""));
    }
    // What is to be asked for at first.
    double first(const json &task)
    {
        json one = task;
        one["id"] = "t";
        json answer = done(post("/v1/resource-sizings", json{{"tasks", {one}}}.dump()));
        return answer["tasks"][0]["attempts"][0]["memory_bytes"];
    }
    json of(double size)
    {
        return {{"application_id", app}, {"problem_size", size}, {"resources", true}};
    }
};

const json two = json::parse(R"([{"id": "small", "mips_total": 1, "memory_bytes": 1.5e9},
                                 {"id": "large", "mips_total": 1, "memory_bytes": 9e9}])");

std::string all_warnings(const json &answer)
{
    std::string all;
    for (const json &w : answer["warnings"])
        all += w.get<std::string>() + "\n";
    return all;
}
} // namespace

TEST_CASE("a job's memory is what its first attempt is to ask for",
          "[models][placement][api][db]")
{
    NEED_DATABASE();
    peaks m;
    m.learn();
    double want = m.first({{"application_id", m.app},
                           {"problem_size", 3},
                           {"memory_requested_bytes", 8e9}});
    CHECK(want > 1.3e9);
    CHECK(want < 1.5e9);
    json asked = m.of(3), plain = m.of(3), by_id = m.of(3);
    plain.erase("resources");
    by_id.erase("application_id");
    by_id["model_id"] = m.app;
    json jobs = {
        {{"id", "learnt"}, {"memory_bytes", 8e9}, {"model", asked}},
        {{"id", "as asked"}, {"memory_bytes", 8e9}, {"model", plain}},
        {{"id", "by id"}, {"memory_bytes", 8e9}, {"model", by_id}},
        {{"id", "timed"}, {"memory_bytes", 8e9}, {"estimate_s", 5}, {"model", asked}},
        {{"id", "unknown"},
         {"estimate_s", 5},
         {"model", {{"application_id", "no-one"}, {"resources", true}}}}};
    json body = {{"snapshot", {{"resources", two}}},
                 {"jobs", jobs},
                 {"algorithm", "min_min"},
                 {"store", true}};
    json answer = m.done(m.post("/v1/placements", body.dump()));
    REQUIRE(answer["placements"].size() == 5);
    for (const json &p : answer["placements"]) {
        INFO(p.dump());
        bool sized =
            p["job_id"] == "learnt" || p["job_id"] == "by id" || p["job_id"] == "timed";
        if (p["job_id"] == "as asked")
            CHECK(p["resource_id"] == "large");
        if (!sized) {
            CHECK_FALSE(
                p.value("run_time_basis", json::object()).contains("memory_bytes"));
            continue;
        }
        CHECK(p["run_time_basis"]["memory_bytes"] == want);
        CHECK(p["run_time_basis"]["source"] ==
              (p["job_id"] == "timed" ? "estimate" : "model"));
    }
    CHECK(all_warnings(answer).find("memory_not_known: of 1 job no two peaks") !=
          std::string::npos);
    // One of 8 GB has no place where there are 1.5; one that is sized has.
    body["snapshot"]["resources"] = json::array({two[0]});
    json small = m.done(m.post("/v1/placements", body.dump()));
    REQUIRE(small["unplaced"].size() == 1);
    CHECK(small["unplaced"][0]["job_id"] == "as asked");
    // A replay knows the models as they were.
    json replay = m.done(m.post(
        "/v1/decisions/" + answer["decision_id"].get<std::string>() + "/replay", ""));
    CHECK(replay["identical"] == true);
}

TEST_CASE("memory of many jobs, of queues and of workflows is sized alike",
          "[models][queue][workflow][api][db]")
{
    NEED_DATABASE();
    peaks m;
    m.learn();
    json jobs = json::array(), snapshot = {{"resources", two}};
    double want[2];
    for (int k = 0; k < 2; k++)
        want[k] = m.first({{"application_id", m.app},
                           {"problem_size", 3},
                           {"memory_requested_bytes", k ? 8e9 : 1e9}});
    for (int i = 0; i < 1200; i++) {
        json job = {{"id", "j" + std::to_string(i)},
                    {"memory_bytes", i % 2 ? 8e9 : 1e9},
                    {"model", m.of(3)}};
        if (i % 3 == 0)
            job["estimate_s"] = 5;
        jobs.push_back(job);
    }
    json answer = m.done(m.post(
        "/v1/placements",
        json{{"snapshot", snapshot}, {"jobs", jobs}, {"algorithm", "mct"}}.dump()));
    REQUIRE(answer["placements"].size() == 1200);
    for (const json &p : answer["placements"]) {
        int i = std::stoi(p["job_id"].get<std::string>().substr(1));
        const json &basis = answer["run_times"][p["run_time_index"].get<size_t>()];
        CHECK(basis["memory_bytes"] == want[i % 2]);
        CHECK(basis["source"] == (i % 3 ? "model" : "estimate"));
    }
    json few = json::array();
    for (size_t i = 0; i < 4; i++)
        few.push_back(jobs[i]);
    json queue = m.done(m.post(
        "/v1/queue-orders",
        json{{"snapshot", snapshot}, {"jobs", few}, {"algorithm", "easy"}}.dump()));
    CHECK(queue["starts"][1]["run_time_basis"]["memory_bytes"] == want[1]);
    json work = m.done(m.post("/v1/workflow-schedules",
                              json{{"snapshot", snapshot},
                                   {"workflows", {{{"id", "w"}, {"tasks", few}}}},
                                   {"algorithm", "heft"}}
                                  .dump()));
    for (const json &row : work["schedule"])
        CHECK(row["run_time_basis"]["memory_bytes"] ==
              want[(row["task_id"].get<std::string>()[1] - '0') % 2]);
}
