// slurm_store_test.cpp - a cluster of Slurm's documents as a stored snapshot, and what
// queues decide on it.
#include "tests/database.hpp"
#include "tests/slurm_support.hpp"

using nlohmann::json;

static json post(api &a, const char *path, const json &body, int status = 200)
{
    api_reply r = a.post(path, body.dump());

    INFO(path << " " << r.body.substr(0, 2000));
    REQUIRE(r.status == status);
    return r.json();
}

// What a simulation of some jobs says, but for its times and ids.
static std::string played(api &a, json with)
{
    json jobs = json::array();

    for (int i = 0; i < 8; i++)
        jobs.push_back({{"id", std::to_string(i)},
                        {"submit_s", i},
                        {"run_time_s", 100 + i},
                        {"time_limit_s", 200},
                        {"cpus", 16},
                        {"nodes", 2}});
    with["kind"] = "queue";
    with["policies"] = {"slurm_backfill", "fcfs"};
    with["jobs"] = jobs;
    return post(a, "/v1/simulations", with).at("results").dump();
}

TEST_CASE("queues decide on a stored import as on the same inline", "[slurm][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    std::string body = import_body("plan1", FORM_JSON);
    body.insert(1, "\"store_snapshot\": \"slurm-store-test\", ");
    a.call("DELETE", "/v1/snapshots/slurm-store-test", "");
    json r = post(a, "/v1/imports/slurm", json::parse(body));

    CHECK(r.at("snapshot").dump() ==
          R"({"generation":1,"snapshot_id":"slurm-store-test"})");
    json again = post(a, "/v1/imports/slurm", json::parse(body));
    CHECK(again.at("snapshot").at("generation").get<int>() == 2);

    json order = {{"algorithm", "slurm_backfill"},
                  {"now_s", r.at("now_s")},
                  {"jobs", r.at("jobs")}};
    json by_name = order, conflict = order;
    order["cluster"] = r.at("cluster");
    by_name["snapshot_id"] = "slurm-store-test";
    json want = post(a, "/v1/queue-orders", order),
         got = post(a, "/v1/queue-orders", by_name);
    CHECK(got.at("starts").dump() == want.at("starts").dump());
    CHECK(got.at("waiting").dump() == want.at("waiting").dump());
    CHECK(want.at("waiting").size() > 5);
    conflict["cluster"] = r.at("cluster");
    conflict["snapshot_id"] = "slurm-store-test";
    CHECK(a.post("/v1/queue-orders", conflict.dump()).status == 422);

    json cluster = r.at("cluster");
    for (size_t i = 0; i < cluster["running"].size(); i++)
        cluster["running"][i]["expected_end_s"] =
            cluster["running"][i]["expected_end_s"].get<double>() -
            r.at("now_s").get<double>();
    CHECK(played(a, {{"snapshot_id", "slurm-store-test"}}) ==
          played(a, {{"cluster", cluster}}));
    for (const char *other : {"cluster", "processors"}) {
        json both = {{"kind", "queue"},
                     {"jobs", json::array()},
                     {"snapshot_id", "slurm-store-test"}};
        if (std::string(other) == "cluster")
            both["cluster"] = cluster;
        else
            both["processors"] = 4;
        CHECK(a.post("/v1/simulations", both.dump()).status == 422);
    }
    // Decisions that know no queues take it as any snapshot.
    json placed = post(a, "/v1/placements",
                       {{"algorithm", "mct"},
                        {"snapshot_id", "slurm-store-test"},
                        {"jobs",
                         {{{"id", "a"}, {"estimate_ref_s", 10}},
                          {{"id", "b"}, {"estimate_ref_s", 10}}}}});
    CHECK(placed.at("placements").size() == 2);
    a.call("DELETE", "/v1/snapshots/slurm-store-test", "");
}

TEST_CASE("simulations take the cluster of a snapshot, or make one", "[slurm][api]")
{
    api a;
    json world = {{"resources",
                   {{{"id", "a"}, {"cpus", 16}, {"capacities", {{"gpus", 2}}}},
                    {{"id", "b"}, {"cpus", 16}},
                    {{"id", "c"}, {"cpus", 4}},
                    {{"id", "d"}, {"cpus", 16}, {"failed", true}}}},
                  {"partitions",
                   {{{"id", "p"}, {"resource_ids", {"a", "b"}}, {"default", true}},
                    {{"id", "q"}, {"resource_ids", {"c"}}}}}};
    json cluster = {{"resources",
                     {{{"id", "a"}, {"cpus", 16}, {"capacities", {{"gpus", 2}}}},
                      {{"id", "b"}, {"cpus", 16}},
                      {{"id", "c"}, {"cpus", 4}},
                      {{"id", "d"}, {"cpus", 16}, {"state", "down"}}}},
                    {"partitions", world.at("partitions")}};
    std::string want = played(a, {{"cluster", cluster}});

    CHECK(played(a, {{"snapshot", world}}) == want);
    world["cluster"] = cluster;
    world["resources"] = json::array();
    world.erase("partitions");
    CHECK(played(a, {{"snapshot", world}}) == want);
    world["cluster"]["resources"][1]["cpus"] = "many";
    json bad = {{"kind", "queue"}, {"jobs", json::array()}, {"snapshot", world}};
    CHECK(a.post("/v1/simulations", bad.dump()).pointers() ==
          std::vector<std::string>{"/snapshot/cluster/resources/1/cpus"});
}

TEST_CASE("simulations keep free what runs and is reserved on a snapshot", "[slurm][api]")
{
    api a;
    json body = json::parse(R"({"kind": "queue", "policies": ["fcfs"], "per_job": true,
        "jobs": [{"id": "a", "cpus": 1, "run_time_s": 5, "requested_s": 6}]})");
    const struct {
        const char *resource, *more, *start, *outcome, *warning;
    } cases[] = {
        {R"("cpus": 1)", "", "0.0", "done", ""},
        {R"("cpus": 1, "running": [{"id": "r", "expected_end_s": 100}])", "", "100.0",
         "done", ""},
        {R"("cpus": 2, "running": [{"id": "r", "expected_end_s": 100}])", "", "0.0",
         "done", ""},
        {R"("cpus": 1, "running": [{"id": "r", "expected_end_s": -4}])", "", "1.0",
         "done", "overdue: 1"},
        {R"("cpus": 1, "running": [{"id": "r"}])", "", "null", "waits", "unknown_end: 1"},
        {R"("cpus": 1)",
         R"(, "running": [{"id": "r", "resource_ids": ["n"], "time_limit_s": 9,
                           "elapsed_s": 2}])",
         "7.0", "done", ""},
        {R"("cpus": 1, "job_count": 1, "free_at_s": [3])", "", "3.0", "done", ""},
        {R"("cpus": 1, "reservations": [{"start_s": 2, "end_s": 50, "all": true}])", "",
         "50.0", "done", ""},
        {R"("cpus": 1, "reservations": [{"start_s": 0, "end_s": 50, "cpus": 1}])", "",
         "50.0", "done", ""},
        {R"("cpus": 1, "reservations": [{"start_s": 2, "end_s": 50, "cpus": 1}])", "",
         "0.0", "done", "ignored: 1 reservation of a part of resources"},
        {R"("cpus": 1)",
         R"(, "partitions": [{"id": "p", "requirement": "cpus_total < 2",
                              "default": true}])",
         "0.0", "done", ""},
        {R"("cpus": 1)",
         R"(, "partitions": [{"id": "p", "requirement": "cpus_total > 2",
                              "default": true}])",
         "null", "never", "never_fits: 1"},
        {R"("cpus": 1)",
         R"(, "partitions": [{"id": "p", "resource_ids": ["n"], "default": true,
                              "users_allowed": []}])",
         "null", "never", "never_fits: 1"},
        {R"("cpus": 1, "n_max": 0, "disk_bytes": 1)", "", "0.0", "done",
         "ignored: disk_bytes of 1 resource (first /snapshot/resources/0/disk_bytes)"},
    };
    for (auto &c : cases) {
        body["snapshot"] = json::parse("{\"resources\": [{\"id\": \"n\", " +
                                       std::string(c.resource) + "}]" + c.more + "}");
        INFO(body["snapshot"].dump());
        api_reply r = a.post("/v1/simulations", body.dump());
        INFO(r.body);
        REQUIRE(r.status == 200);
        json answer = r.json(), job = answer["results"][0]["jobs"][0];
        CHECK(job["start_s"] == json::parse(c.start));
        CHECK(job["outcome"] == c.outcome);
        bool said = !*c.warning;
        for (const json &w : answer["warnings"])
            said = said || w.get<std::string>().rfind(c.warning, 0) == 0;
        CHECK(said);
    }
    body["snapshot"] = json::parse(R"({"resources": [{"id": "n", "cpus": 1}],
        "partitions": [{"id": "p", "requirement": "cpus_total >", "default": true}]})");
    CHECK(a.post("/v1/simulations", body.dump()).pointers() ==
          std::vector<std::string>{"/snapshot/partitions/0/requirement"});
}

TEST_CASE("a snapshot's cluster is checked when it is stored", "[slurm][api][db]")
{
    NEED_DATABASE();
    api a(test_database_url());
    api_reply r = a.call(
        "PUT", "/v1/snapshots/slurm-store-bad",
        R"({"resources": [], "cluster": {"resources": [{"id": "a", "cpus": -1}]}})");

    CHECK(r.status == 422);
    CHECK(r.pointers() == std::vector<std::string>{"/cluster/resources/0/cpus"});
}
