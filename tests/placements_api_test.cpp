// placements_api_test.cpp - POST /v1/placements and the round of POST /v1/reschedules:
// what limits jobs, how those without a place are listed, what refused values are told.
#include "tests/api.hpp"

extern "C" {
#include "algorithms/placement/placement.h"
}

using nlohmann::json;

namespace
{

bool has_warning(const json &answer, const std::string &start)
{
    for (const json &w : answer["warnings"])
        if (w.get<std::string>().rfind(start, 0) == 0)
            return true;
    return false;
}

} // namespace

TEST_CASE("a running job holds what it needs, not a part of its node", "[api]")
{
    api a;
    json body = json::parse(R"({"algorithm":"gridway",
        "snapshot":{"resources":[{"id":"n","cpus":64,"memory_bytes":256e9,"job_count":1}]},
        "jobs":[{"id":"run","resource_id":"n","estimate_ref_s":100,"cpus":60,
                 "memory_bytes":200e9}],
        "pending":[{"id":"p","estimate_ref_s":10,"cpus":60,"memory_bytes":200e9},
                   {"id":"q","estimate_ref_s":10,"cpus":4,"memory_bytes":56e9}]})");
    json j = a.post("/v1/reschedules", body.dump()).json();
    REQUIRE(j["placements"].size() == 1); // 120 of 64 cpus would be too many
    CHECK(j["placements"][0]["job_id"] == "q");
    REQUIRE(j["unplaced"].size() == 1);
    CHECK(j["unplaced"][0]["job_id"] == "p");
    CHECK(j["warnings"] == json{"unplaced: 1, unknown_end: 1"});
    // One that has ended holds nothing; a slot that is not counted is said.
    body["jobs"][0]["failure"] = {
        {"stage", "wrapper"}, {"kind", "ended"}, {"exit_code", 0}};
    body["snapshot"]["resources"][0]["job_count"] = 0;
    j = a.post("/v1/reschedules", body.dump()).json();
    REQUIRE(j["placements"].size() == 2);
    CHECK(j["warnings"].empty());
    body["jobs"][0].erase("failure");
    j = a.post("/v1/reschedules", body.dump()).json();
    CHECK(j["placements"].size() == 1);
    CHECK(has_warning(j, "job_count: 1 resource has fewer used slots"));
    // A node without limits counts slots as before.
    body["snapshot"]["resources"][0] = {{"id", "n"}, {"job_count", 1}, {"n_max", 2}};
    CHECK(a.post("/v1/reschedules", body.dump()).json()["placements"].size() == 1);
}

TEST_CASE("an empty list of grants is no list left out", "[api]")
{
    api a;
    json j =
        a.post("/v1/placements", R"({"snapshot":{"resources":[{"id":"n","allowed":[]}]},
        "jobs":[{"id":"j","estimate_ref_s":1,"user":"alice"}]})")
            .json();
    CHECK(j["status"] == "infeasible");
    CHECK(j["unplaced"][0]["reasons"][0]["reason"] == "unauthorised");
}

TEST_CASE("what a round of running jobs does not look at is said", "[api]")
{
    api a;
    json j = a.post("/v1/reschedules", R"({"algorithm":"gridway",
        "snapshot":{"resources":[{"id":"n","job_count":1}]},
        "jobs":[{"id":"run","resource_id":"n","estimate_ref_s":100,"release_s":5,
                 "deadline_s":7,"fixed_priority":3,"queued_at":0,
                 "samples":[{"t_s":0,"value":1}]}],
        "pending":[{"id":"p","estimate_ref_s":10,"deadline_s":5}],
        "options":{"w_fixed":3}})")
                 .json();
    for (const char *member :
         {"release_s", "deadline_s", "fixed_priority", "queued_at", "samples"})
        CHECK(has_warning(j, std::string("ignored: ") + member +
                                 " of 1 running job (first /jobs/0/" + member + ")"));
    CHECK(has_warning(j, "deadlines_not_in_objective: 1 job has a deadline (first "
                         "/pending/0/deadline_s)"));
    CHECK(has_warning(j, "ignored: 1 option (/options/w_fixed)"));
}

TEST_CASE("jobs without a place are listed as the request wants them", "[api]")
{
    api a;
    json body = {{"snapshot", {{"resources", {{{"id", "n"}, {"cpus", 4}}}}}},
                 {"jobs", {{{"id", "fits"}, {"estimate_ref_s", 1}}}}};
    for (int i = 0; i < 1200; i++)
        body["jobs"].push_back(
            {{"id", "wide" + std::to_string(i)}, {"estimate_ref_s", 1}, {"cpus", 8}});
    json j = a.post("/v1/placements", body.dump()).json();
    CHECK(j["unplaced"].size() == 1200);
    CHECK(j["unplaced_count"] == 1200);
    CHECK(j["placement_count"] == 1);
    CHECK_FALSE(j.contains("unplaced_classes"));
    CHECK_FALSE(j.contains("unplaced_ids"));
    CHECK(has_warning(j, "unplaced_repeats: 1200 jobs without a place repeat 1 kind"));
    json reasons = j["unplaced"][0]["reasons"];

    body["unplaced_form"] = "classes";
    api_reply r = a.post("/v1/placements", body.dump());
    j = r.json();
    CHECK(r.body.size() < 2000);
    CHECK(j["unplaced"].empty());
    CHECK(j["unplaced_count"] == 1200);
    REQUIRE(j["unplaced_classes"].size() == 1);
    const json &c = j["unplaced_classes"][0];
    CHECK(c["job_count"] == 1200);
    CHECK(c["example_job_id"] == "wide0");
    CHECK(c["job_ids"].size() == 10);
    CHECK(c["cpus"] == 8);
    CHECK(c["reasons"] == reasons);
    CHECK(j["warnings"] == json{"unplaced: 1200, too_small: 1200"});

    body["unplaced_form"] = "ids";
    j = a.post("/v1/placements", body.dump()).json();
    CHECK(j["unplaced"].empty());
    CHECK_FALSE(j.contains("unplaced_classes"));
    REQUIRE(j["unplaced_ids"].size() == 1200);
    CHECK(j["unplaced_ids"][1199] == "wide1199");
    body["jobs"] = {{{"id", "fits"}, {"estimate_ref_s", 1}}};
    j = a.post("/v1/placements", body.dump()).json();
    CHECK(j["unplaced_count"] == 0);
}

TEST_CASE("a refused value is told all that there are", "[api]")
{
    api a;
    auto post = [&](const std::string &more) {
        return a.post("/v1/placements", R"({"snapshot":{"resources":[{"id":"n"}]},
            "jobs":[{"id":"j","estimate_ref_s":1}])" +
                                            more + "}");
    };
    api_reply r = post(R"(,"unplaced_form":"group")");
    CHECK(r.status == 422);
    CHECK(r.body.find("known: 'jobs', 'classes', 'ids'") != std::string::npos);
    r = post(R"(,"algorithm":"annealing")");
    for (const struct policy *p = placement_policies; p->name; p++)
        CHECK(r.body.find("'" + std::string(p->name) + "'") != std::string::npos);
    r = a.post("/v1/placements", R"({"snapshot":{"resources":[{"id":"n"}]},
        "jobs":[{"id":"j","estimate_ref_s":1,"gpus":2}]})");
    CHECK(r.pointers() == std::vector<std::string>{"/jobs/0/gpus"});
    CHECK(r.body.find("'cpus'") == std::string::npos);
}

TEST_CASE("ids are counted in characters, as the description says", "[api]")
{
    api a;
    auto post = [&](size_t count) {
        std::string id;
        for (size_t i = 0; i < count; i++)
            id += "\xe6\xbc\xa2"; // one character of three bytes
        return a.post("/v1/placements",
                      R"({"snapshot":{"resources":[{"id":"n"}]},"jobs":[{"id":")" + id +
                          R"(","estimate_ref_s":1}]})");
    };
    CHECK(post(86).status == 200);
    CHECK(post(256).status == 200);
    api_reply r = post(257);
    CHECK(r.status == 422);
    CHECK(r.body.find("257 characters are more than 256") != std::string::npos);
}
