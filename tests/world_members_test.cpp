// world_members_test.cpp - members about amounts: what is read, what is refused, and that
// no endpoint passes over them in silence.
#include "tests/api.hpp"

using nlohmann::json;

namespace
{

json one_job(json resource, json job)
{
    resource["id"] = "n";
    job["id"] = "j";
    if (!job.contains("estimate_s"))
        job["estimate_ref_s"] = 1;
    return {{"snapshot", {{"resources", {resource}}}}, {"jobs", {job}}};
}

struct refused {
    json body;
    std::string pointer, code;
};

} // namespace

TEST_CASE("names and numbers of amounts are checked", "[api][world]")
{
    json many = json::object(), none = json::object();
    for (int i = 0; i < 33; i++)
        many["a" + std::to_string(i)] = 1;
    std::string needs = "/jobs/0/needs", capacities = "/snapshot/resources/0/capacities";
    std::string longest(64, 'x');
    const std::vector<refused> rows = {
        {one_job({{"capacities", {{"gpus", -1}}}}, none), capacities + "/gpus",
         "out_of_bounds"},
        {one_job({{"capacities", {{"gpus", 1.1e9}}}}, none), capacities + "/gpus",
         "out_of_bounds"},
        {one_job({{"capacities", {{"gpus", "2"}}}}, none), capacities + "/gpus",
         "wrong_type"},
        {one_job({{"capacities", {{"1gpu", 2}}}}, none), capacities + "/1gpu",
         "not_allowed"},
        {one_job({{"capacities", {{"", 2}}}}, none), capacities + "/", "not_allowed"},
        {one_job({{"capacities", {{longest + "x", 2}}}}, none),
         capacities + "/" + longest + "x", "not_allowed"},
        {one_job(none, {{"needs", {{"cpus", 2}}}}), needs + "/cpus", "not_allowed"},
        {one_job(none, {{"needs", {{"n_max", 2}}}}), needs + "/n_max", "not_allowed"},
        {one_job(none, {{"needs", many}}), needs, "too_many"},
        {one_job(none, {{"needs", {1}}}), needs, "wrong_type"},
        {one_job(none, {{"disk_bytes", 1.1e18}}), "/jobs/0/disk_bytes", "out_of_bounds"},
        {one_job(none, {{"memory_bytes", 1.1e18}}), "/jobs/0/memory_bytes",
         "out_of_bounds"},
        {one_job(none, {{"nodes", 1.5}}), "/jobs/0/nodes", "not_an_integer"},
        {one_job(none, {{"nodes", 0}}), "/jobs/0/nodes", "out_of_bounds"},
        {one_job(none, {{"time_limit_s", 0}}), "/jobs/0/time_limit_s", "out_of_bounds"},
        {one_job(none, {{"weight", -1}}), "/jobs/0/weight", "out_of_bounds"},
        {one_job(none, {{"group", {{"id", "g"}}}}), "/jobs/0/group/policy", "required"},
        {one_job(none, {{"group", {{"id", "g"}, {"policy", "near"}}}}),
         "/jobs/0/group/policy", "not_a_choice"},
        {one_job(none, {{"after", {{{"job_id", "x"}, {"kind", "end"}}}}}),
         "/jobs/0/after/0/kind", "not_a_choice"},
        {one_job(none, {{"model", {{"model_id", "m"}, {"quantile", 2}}}}),
         "/jobs/0/model/quantile", "out_of_bounds"},
        {one_job(none, {{"count", 0}}), "/jobs/0/count", "out_of_bounds"},
        {one_job(none, {{"gpus", 2}}), "/jobs/0/gpus", "unknown_member"},
        {one_job({{"running", {{{"cpus", 1}}}}}, none),
         "/snapshot/resources/0/running/0/id", "required"},
        {one_job({{"running", {{{"id", "r"}, {"resource_ids", {"n"}}}}}}, none),
         "/snapshot/resources/0/running/0/resource_ids", "unknown_member"},
    };

    api a;
    for (const refused &r : rows) {
        api_reply reply = a.post("/v1/placements", r.body.dump());
        INFO(r.pointer << " " << reply.body);
        REQUIRE(reply.status == 422);
        CHECK(reply.pointers() == std::vector<std::string>{r.pointer});
        CHECK(reply.json()["errors"][0]["code"] == r.code);
    }
    CHECK(a.post("/v1/placements", one_job({{"capacities", {{longest, 1e9}}}},
                                           {{"needs", {{longest, 1e9}}}})
                                       .dump())
              .status == 200);
}

TEST_CASE("what an endpoint does not look at of amounts is said", "[api][world]")
{
    json snapshot = json::parse(R"({
        "shared_capacities": {"licence": 1},
        "partitions": [{"id": "p", "resource_ids": ["n"]}],
        "running": [{"id": "q", "resource_ids": ["n"]}],
        "resources": [{"id": "m"},
            {"id": "n", "capacities": {"gpus": 1}, "disk_bytes": 1, "price_per_cpu_s": 1,
             "running": [{"id": "r"}], "reservations": [{"end_s": 1}]}]})");
    json round = {{"snapshot", snapshot},
                  {"algorithm", "fcfs"},
                  {"jobs", {{{"id", "j"}, {"length_mi", 1}}}}};
    const std::vector<std::string> said = {
        "disk_bytes of 1 resource (first /snapshot/resources/1/disk_bytes)",
        "capacities of 1 resource (first /snapshot/resources/1/capacities)",
        "running of 1 resource (first /snapshot/resources/1/running)",
        "reservations of 1 resource (first /snapshot/resources/1/reservations)",
        "price_per_s of 1 resource (first /snapshot/resources/1/price_per_s)",
        "1 of /snapshot/shared_capacities",
        "1 of /snapshot/running",
        "1 of /snapshot/partitions"};

    api a;
    json j = a.post("/v1/replica-counts", round.dump()).json();
    INFO(j.dump());
    REQUIRE(j.contains("warnings"));
    for (const std::string &text : said) {
        size_t count = 0;
        for (const json &w : j["warnings"])
            count += w.get<std::string>().rfind("ignored: " + text, 0) == 0;
        INFO(text);
        CHECK(count == 1);
    }

    // A round of running jobs looks at all but what has a price.
    json running = {{"snapshot", snapshot},
                    {"algorithm", "gridway"},
                    {"jobs", json::array()},
                    {"pending", {{{"id", "j"}, {"estimate_ref_s", 1}}}}};
    j = a.post("/v1/reschedules", running.dump()).json();
    INFO(j.dump());
    REQUIRE(j["warnings"].size() == 1);
    CHECK(j["warnings"][0].get<std::string>().rfind("ignored: price_per_s of 1", 0) == 0);
}
