// world_input_test.cpp - requests about amounts: what is refused, and what their members
// mean.
#include "tests/world_api_support.hpp"

namespace
{

struct refused {
    std::string at, code; // of the mistake
    json snapshot, jobs, more = nullptr;
};

const json one = json::parse(R"([{"id": "j", "estimate_s": 1}])");

json jobs(const std::string &members)
{
    return json::parse("[{\"id\": \"j\", \"estimate_s\": 1, " + members +
                       "}, {\"id\": \"k\", \"estimate_s\": 1}]");
}

json on(const std::string &members, const std::string &more = "")
{
    return json::parse("{\"resources\": [{\"id\": \"n\", \"cpus\": 4" +
                       (members.empty() ? "" : ", " + members) +
                       "}, {\"id\": \"m\", \"cpus\": 4}]" +
                       (more.empty() ? "" : ", " + more) + "}");
}

const std::string first = "/snapshot/resources/0";

} // namespace

TEST_CASE("mistakes in members about amounts", "[api][world]")
{
    const std::vector<refused> rows = {
        {"/snapshot/shared_capacities/a~1b", "conflict",
         on(R"("capacities": {"a/b": 1})", R"("shared_capacities": {"a/b": 1})"), one},
        {first + "/job_count", "conflict",
         on(R"("job_count": 1, "running": [{"id": "r"}])"), one},
        {first + "/free_at_s", "conflict",
         on(R"("free_at_s": [1], "running": [{"id": "r"}])"), one},
        {first + "/ready_s", "conflict",
         on(R"("ready_s": 1)", R"("running": [{"id": "r", "resource_ids": ["n"]}])"),
         one},
        {"/jobs/0/estimate_s", "conflict", on(""), jobs(R"("estimate_ref_s": 1)")},
        {first + "/reservations/0/cpus", "conflict",
         on(R"("reservations": [{"end_s": 1, "all": true, "cpus": 1}])"), one},
        {first + "/reservations/0/needs", "conflict",
         on(R"("reservations": [{"end_s": 1, "all": true, "needs": {"x": 1}}])"), one},
        {first + "/reservations/0/end_s", "out_of_bounds",
         on(R"("reservations": [{"start_s": 5, "end_s": 5, "cpus": 1}])"), one},
        {first + "/reservations/0/end_s", "out_of_bounds",
         on(R"("reservations": [{"end_s": 0, "cpus": 1}])"), one},
        {first + "/reservations/0/start_at", "conflict",
         on(R"("reservations": [{"start_s": 5, "start_at": 7, "end_s": 9, "cpus": 1}])",
            R"("taken_at": 1)"),
         one},
        {first + "/running/0/expected_end_at", "conflict",
         on(R"("running": [{"id": "r", "expected_end_at": "2026-03-01T08:00:00Z"}])"),
         one},
        {first + "/running/0/started_at", "out_of_bounds",
         on(R"("running": [{"id": "r", "started_at": 101}])", R"("taken_at": 100)"), one},
        {"/snapshot/running/0/id", "conflict",
         on(R"("running": [{"id": "r", "expected_end_s": 5}])",
            R"("running": [{"id": "r", "expected_end_s": 6, "resource_ids": ["m"]}])"),
         one},
        {"/snapshot/running/0/weight", "conflict",
         on(R"("running": [{"id": "r"}])",
            R"("running": [{"id": "r", "weight": 2, "resource_ids": ["m"]}])"),
         one},
        {first + "/running/1/id", "duplicate",
         on(R"("running": [{"id": "r"}, {"id": "r"}])"), one},
        {first + "/running/0/id", "duplicate", on(R"("running": [{"id": "j"}])"), one},
        {"/snapshot/running/0/resource_ids/1", "unknown_id",
         on("", R"("running": [{"id": "r", "resource_ids": ["n", "o"]}])"), one},
        {"/snapshot/reservations/0/resource_ids", "required",
         on("", R"("reservations": [{"end_s": 5, "cpus": 1}])"), one},
        {"/snapshot/reservations/0/resource_ids", "duplicate",
         on("",
            R"("reservations": [{"end_s": 5, "cpus": 1, "resource_ids": ["n", "n"]}])"),
         one},
        {"/jobs/0/after", "cycle", on(""), jobs(R"("after": ["j"])")},
        {"/jobs/0/after/0/job_id", "unknown_id", on(""), jobs(R"("after": ["x"])")},
        {"/jobs/1/group/policy", "conflict", on(""),
         json::parse(
             R"([{"id": "j", "estimate_s": 1, "group": {"id": "g", "policy": "gang"}},
                         {"id": "k", "estimate_s": 1, "group": {"id": "g", "policy": "pack"}}])")},
        {"/jobs/1/group/key", "conflict", on(""),
         json::parse(
             R"([{"id": "j", "estimate_s": 1, "group": {"id": "g", "policy": "pack"}},
             {"id": "k", "estimate_s": 1,
              "group": {"id": "g", "policy": "pack", "key": "site_id"}}])")},
        {"/jobs/1/group/max_per_key", "conflict", on(""),
         json::parse(
             R"([{"id": "j", "estimate_s": 1, "group": {"id": "g", "policy": "spread"}},
             {"id": "k", "estimate_s": 1,
              "group": {"id": "g", "policy": "spread", "max_per_key": 2}}])")},
        {"/jobs/0/group/max_per_key", "not_allowed", on(""),
         jobs(R"("group": {"id": "g", "policy": "same_site", "max_per_key": 1})")},
        {"/jobs/1/after", "cycle", on(""),
         json::parse(
             R"([{"id": "j", "estimate_s": 1, "group": {"id": "g", "policy": "gang"}},
             {"id": "k", "estimate_s": 1, "after": ["j"],
              "group": {"id": "g", "policy": "gang"}}])")},
        {"/jobs/0/partition_ids/0", "unknown_id", on("", R"("partitions": [])"),
         jobs(R"("partition_ids": ["p"])")},
        {"/snapshot/partitions/0/resource_ids/0", "unknown_id",
         on("", R"("partitions": [{"id": "p", "resource_ids": ["o"]}])"), one},
        {"/snapshot/partitions/1/default", "duplicate",
         on("", R"("partitions": [{"id": "p", "resource_ids": ["n"], "default": true},
                                  {"id": "q", "resource_ids": ["m"], "default": true}])"),
         one},
        {"/snapshot/partitions/0/requirement", "conflict",
         on("",
            R"("partitions": [{"id": "p", "resource_ids": ["n"], "requirement": "1"}])"),
         one},
        {"/snapshot/partitions/0/requirement", "not_allowed",
         on("", R"("partitions": [{"id": "p", "requirement": "execution_s < 5"}])"), one},
        {"/snapshot/partitions/0/requirement", "expression",
         on("", R"("partitions": [{"id": "p", "requirement": "n_max <"}])"), one},
        {"/snapshot/partitions/0/resource_ids", "required",
         on("", R"("partitions": [{"id": "p"}])"), one},
        {"/objective/0", "not_a_choice", on(""), one, {{"objective", {"cosst"}}}},
        {"/objective/1", "duplicate", on(""), one, {{"objective", {"cost", "cost"}}}},
        {"/objective", "too_short", on(""), one, {{"objective", json::array()}}},
        {"/finished_jobs/0/id",
         "duplicate",
         on(""),
         one,
         {{"finished_jobs", {{{"id", "j"}}}}}},
        {"/algorithm",
         "not_applicable",
         on(""),
         one,
         {{"algorithm", "identical_optimum"}, {"objective", {"cost"}}}},
        {"/initial/0/resource_id",
         "unknown_id",
         on(""),
         one,
         {{"algorithm", "search"},
          {"initial", {{{"job_id", "j"}, {"resource_id", "none"}}}}}},
        {"/initial",
         "conflict",
         on(""),
         one,
         {{"algorithm", "mct"}, {"initial", {{{"job_id", "j"}, {"resource_id", "n"}}}}}},
        {"/lease/owner", "required", on(""), one, {{"lease", json::object()}}},
    };

    api a;
    for (const refused &r : rows) {
        json body = {{"snapshot", r.snapshot}, {"jobs", r.jobs}};
        if (!r.more.is_null())
            body.update(r.more);
        api_reply reply = a.post("/v1/placements", body.dump());
        INFO(r.at << " " << body.dump() << " " << reply.body);
        CHECK(reply.status == 422);
        CHECK(reply.pointers() == std::vector<std::string>{r.at});
        CHECK(reply.json()["errors"][0]["code"] == r.code);
    }
}

TEST_CASE("all mistakes about amounts are told at once", "[api][world]")
{
    api a;
    json body = {{"snapshot", on(R"("job_count": 1, "running": [{"id": "j"}])")},
                 {"jobs", jobs(R"("after": ["x"], "requirement": "n_max <")")},
                 {"objective", {"speed"}},
                 {"options", {{"plan_with", "luck"}}}};
    std::vector<std::string> found = a.post("/v1/placements", body.dump()).pointers();
    std::sort(found.begin(), found.end());
    CHECK(found == std::vector<std::string>{
                       "/jobs/0/after/0/job_id", "/jobs/0/requirement", "/objective/0",
                       "/options/plan_with", "/snapshot/resources/0/job_count",
                       "/snapshot/resources/0/running/0/id"});
}

TEST_CASE("circles of jobs and of what is placed as one", "[api][world]")
{
    auto pack = json::parse(R"({"id": "g", "policy": "pack"})");
    json list = json::parse(R"([{"id": "a", "estimate_s": 1, "after": ["c"]},
        {"id": "b", "estimate_s": 1, "after": ["a"]},
        {"id": "c", "estimate_s": 1, "after": ["b"]}, {"id": "d", "estimate_s": 1}])");
    api a;
    json error =
        a.post("/v1/placements", json({{"snapshot", on("")}, {"jobs", list}}).dump())
            .json()["errors"][0];
    CHECK(error["code"] == "cycle");
    CHECK(error["detail"].get<std::string>().find("'a', 'c', 'b'") != std::string::npos);
    // Members of a pack may follow each other, but not by way of another job.
    list[0].erase("after");
    list[0]["group"] = list[2]["group"] = pack;
    error = a.post("/v1/placements", json({{"snapshot", on("")}, {"jobs", list}}).dump())
                .json()["errors"][0];
    CHECK(error["code"] == "cycle");
    CHECK(error["detail"].get<std::string>().find("group 'g'") != std::string::npos);
    list[1].erase("after");
    list[2]["after"] = {"a"};
    json j = place({{"snapshot", on("")}, {"jobs", list}});
    CHECK(fate(j, "a") == "n 0-1");
    CHECK(fate(j, "c") == "n 1-2");
}

TEST_CASE("when something that runs ends", "[api][world]")
{
    struct row {
        std::string members, fate;
    };
    const std::vector<row> rows = {
        {R"("expected_end_s": 5)", "n 5-6"},
        {R"("expected_end_at": "2026-03-01T08:00:05Z")", "n 5-6"},
        {R"("time_limit_s": 7)", "n 7-8"},
        {R"("time_limit_s": 7, "elapsed_s": 4)", "n 3-4"},
        {R"("time_limit_s": 7, "started_at": "2026-03-01T07:59:58Z")", "n 5-6"},
        {R"("time_limit_s": 7, "expected_end_s": 3)", "n 3-4"},
        {R"("expected_end_s": -3)", "n 1-2"}, // overdue
        {R"("expected_end_s": -3, "time_limit_s": 9)", "n 9-10"},
        {R"("time_limit_s": 7, "elapsed_s": 8)", "n 1-2"},
        {R"("elapsed_s": 8)", "unknown_end"},
    };
    for (const row &r : rows) {
        json j = place({{"snapshot", json::parse(R"({"taken_at": "2026-03-01T08:00:00Z",
                            "resources": [{"id": "n", "cpus": 1,
                             "running": [{"id": "r", )" +
                                                 r.members + "}]}]}")},
                        {"jobs", one}});
        INFO(r.members);
        CHECK(fate(j, "j") == r.fate);
        CHECK(says(j, "overdue: 1 running job is past") == (r.fate == "n 1-2"));
    }
    json j = place({{"snapshot", json::parse(R"({"resources": [{"id": "n", "cpus": 1,
        "running": [{"id": "r", "time_limit_s": 7, "expected_end_s": 3}]}]})")},
                    {"jobs", one},
                    {"options", {{"plan_with", "limit"}}}});
    CHECK(fate(j, "j") == "n 7-8");
}

TEST_CASE("a running job on several nodes counts shared amounts once", "[api][world]")
{
    json snapshot = json::parse(R"({"shared_capacities": {"licence": 3},
        "resources": [
            {"id": "n", "cpus": 4, "running": [{"id": "r", "cpus": 3, "nodes": 2,
                "needs": {"licence": 2}, "expected_end_s": 9}]},
            {"id": "m", "cpus": 4, "running": [{"id": "r", "cpus": 1, "nodes": 2,
                "needs": {"licence": 2}, "expected_end_s": 9}]}]})");
    json list = json::parse(R"([{"id": "a", "estimate_s": 1, "cpus": 3,
                                 "needs": {"licence": 1}},
                                {"id": "b", "estimate_s": 1, "cpus": 2},
                                {"id": "c", "estimate_s": 1, "cpus": 1}])");
    json j = place({{"snapshot", snapshot}, {"jobs", list}});
    CHECK(fate(j, "a") == "m 0-1");
    CHECK(fate(j, "b") == "m 1-2");
    CHECK(fate(j, "c") == "n 0-1");
    CHECK_FALSE(says(j, "overcommitted"));
    CHECK_FALSE(says(j, "running_incomplete"));
    snapshot["resources"].erase(1);
    j = place({{"snapshot", snapshot}, {"jobs", list}});
    CHECK(says(j, "running_incomplete: 1 running job is on other resources than its rows "
                  "say (first 'r')"));
}

TEST_CASE("slots that are used hold a part of everything", "[api][world]")
{
    json snapshot = json::parse(R"({"resources": [{"id": "n", "cpus": 5, "n_max": 2,
        "capacities": {"gpus": 2}, "job_count": 1, "free_at_s": [10]}]})");
    json list = json::parse(R"([{"id": "a", "estimate_s": 5, "cpus": 2,
                                 "needs": {"gpus": 1}},
                                {"id": "b", "estimate_s": 1, "cpus": 1,
                                 "needs": {"gpus": 2}}])");
    json j = place({{"snapshot", snapshot}, {"jobs", list}});
    CHECK(fate(j, "a") == "n 0-5"); // half of all is taken
    CHECK(fate(j, "b") == "n 10-11");
    CHECK(j["placements"][0]["slot"] == 1);
    CHECK(j["placements"][1]["slot"] == 0);
    snapshot["resources"][0]["free_at_s"] = {nullptr};
    CHECK(fate(place({{"snapshot", snapshot}, {"jobs", list}}), "b") == "unknown_end");
    snapshot["resources"][0].erase("job_count");
    snapshot["resources"][0].erase("free_at_s");
    snapshot["resources"][0]["ready_s"] = 3;
    CHECK(fate(place({{"snapshot", snapshot}, {"jobs", list}}), "a") == "n 3-8");
}

TEST_CASE("jobs wait for what runs, has ended or failed", "[api][world]")
{
    json snapshot = on(R"("running": [{"id": "r", "expected_end_s": 7}, {"id": "u"}])");
    json done = json::parse(R"([{"id": "good"}, {"id": "bad", "ok": false}])");
    struct row {
        std::string after, fate;
    };
    const std::vector<row> rows = {
        {R"("r")", "n 7-8"},
        {R"({"job_id": "r", "kind": "any"})", "n 7-8"},
        {R"({"job_id": "r", "kind": "start"})", "n 0-1"},
        {R"("u")", "unknown_end"},
        {R"({"job_id": "u", "kind": "start"})", "n 0-1"},
        {R"("good")", "n 0-1"},
        {R"("bad")", "after_failed"},
        {R"({"job_id": "bad", "kind": "any"})", "n 0-1"},
        {R"("k")", "n 1-2"},
        {R"({"job_id": "k", "kind": "start"})", "n 0-1"},
    };
    for (const row &r : rows) {
        json j = place({{"snapshot", snapshot},
                        {"finished_jobs", done},
                        {"jobs", jobs("\"after\": [" + r.after + "]")}});
        INFO(r.after);
        CHECK(fate(j, "j") == r.fate);
    }
    json list = jobs(R"("after": ["k"])");
    list[1]["cpus"] = 9;
    json j = place({{"snapshot", snapshot}, {"jobs", list}});
    CHECK(fate(j, "k") == "too_small");
    CHECK(fate(j, "j") == "after_unplaced");
    CHECK(j["unplaced"][0]["reasons"].back()["detail"] ==
          "it waits for 'k', which has no place");
    CHECK(says(j, "unplaced: 2, "));
}

TEST_CASE("partitions say who may use which resources", "[api][world]")
{
    json snapshot = on(R"("attributes": {"fast": true})", R"("partitions": [
        {"id": "short", "resource_ids": ["n"], "time_limit_max_s": 5},
        {"id": "mine", "requirement": "fast", "users_allowed": ["eve"]},
        {"id": "one", "resource_ids": ["m"], "nodes_per_job_max": 1, "default": true},
        {"id": "both", "resource_ids": ["n", "m"]}])");
    struct row {
        std::string members, fate, partition;
    };
    const std::vector<row> rows = {
        {R"("cpus": 1)", "m 0-1", "one"},
        {R"("nodes": 2)", "partition", ""},
        {R"("nodes": 2, "partition_ids": ["both"])", "n+m 0-1", "both"},
        {R"("partition_ids": ["short"])", "n 0-1", "short"},
        {R"("partition_ids": ["short", "both"], "time_limit_s": 6)", "n 0-1", "both"},
        {R"("partition_ids": ["short"], "time_limit_s": 6)", "partition", ""},
        {R"("partition_ids": ["mine"])", "partition", ""},
        {R"("partition_ids": ["mine"], "user": "eve")", "n 0-1", "mine"},
    };
    for (const row &r : rows) {
        json j = place({{"snapshot", snapshot}, {"jobs", jobs(r.members)}});
        INFO(r.members << j.dump());
        CHECK(fate(j, "j") == r.fate);
        for (const json &p : j["placements"])
            if (p["job_id"] == "j")
                CHECK(p["partition_id"] == r.partition);
    }
    json list = jobs(R"("partition_ids": ["short"])");
    list[0]["estimate_s"] = 6; // longer than the partition allows
    CHECK(fate(place({{"snapshot", snapshot}, {"jobs", list}}), "j") == "partition");
}

TEST_CASE("larger tiers of partitions come first in every order", "[api][world]")
{
    json body = {{"snapshot", on("", R"("partitions": [
                     {"id": "low", "resource_ids": ["n"], "priority_tier": -1},
                     {"id": "plain", "resource_ids": ["n"], "default": true},
                     {"id": "high", "resource_ids": ["n"], "priority_tier": 0.5}])")},
                 {"jobs", json::parse(R"([
                     {"id": "a", "partition_ids": ["low"], "priority": 9, "weight": 9},
                     {"id": "b", "priority": 8, "weight": 8},
                     {"id": "c", "partition_ids": ["low", "high"]},
                     {"id": "d", "partition_ids": ["high"]}])")}};
    for (json &job : body["jobs"])
        job.update({{"cpus", 4}, {"estimate_s", 1}});
    for (const char *order : {"fifo", "priority", "longest", "deadline"}) {
        body["options"] = {{"job_order", order}};
        json j = place(body);
        INFO(order << j.dump());
        CHECK(fate(j, "c") == "n 0-1");
        CHECK(fate(j, "d") == "n 1-2");
        CHECK(fate(j, "b") == "n 2-3");
        CHECK(fate(j, "a") == "n 3-4");
    }
    body.erase("options");
    body["objective"] = {"started_now_weight"};
    json j = place(body, "auto");
    CHECK(j["placement_count"] == 1); // one job of the highest tier, whatever a weighs
    CHECK(fate(j, "a") == "no_free_now");
    CHECK(fate(j, "b") == "no_free_now");
}

TEST_CASE("run times come from the first source that there is", "[api][world]")
{
    json list = json::parse(R"([
        {"id": "limit", "time_limit_s": 9}, {"id": "none", "cpus": 1, "needs": {"x": 1}},
        {"id": "cut", "estimate_s": 9, "time_limit_s": 4},
        {"id": "row", "etc_s": [3, null], "time_limit_s": 8}])");
    json j = place({{"snapshot", on(R"("capacities": {"x": 2})")}, {"jobs", list}});
    CHECK(fate(j, "limit") == "n 0-9");
    CHECK(fate(j, "none") == "no_estimate");
    CHECK(fate(j, "cut") == "n 0-4");
    CHECK(fate(j, "row") == "n 0-3");
    CHECK(says(j, "run_time_from_limit: 1 job has no estimate"));
    CHECK(says(j, "killed: 1 job runs longer than time_limit_s"));
    for (const json &p : j["placements"])
        CHECK(p.contains("killed") == (p["job_id"] == "cut"));
}

TEST_CASE("amounts that nothing has, or that nothing limits", "[api][world]")
{
    json j = place({{"snapshot", on(R"("capacities": {"gpus": 4})")},
                    {"jobs", jobs(R"("needs": {"gpu": 1, "gpus": 1})")}});
    CHECK(fate(j, "j") == "too_small");
    CHECK(says(j, "unknown_amount: no resource and not the snapshot has 'gpu', which 1 "
                  "job needs (first /jobs/0/needs); did you mean 'gpus'?"));
    const json &reason = j["unplaced"][0]["reasons"][0];
    CHECK(reason["resource_count"] == 2);
    CHECK(reason["amounts"] == json::parse(R"([
        {"name": "gpus", "needed": 1, "short_count": 1, "alone_count": 0, "largest": 4},
        {"name": "gpu", "needed": 1, "short_count": 2, "alone_count": 1, "largest": 0}])"));

    json beside = {
        {"snapshot", {{"resources", {{{"id", "n"}, {"capacities", {{"x", 1}}}}}}}},
        {"jobs", jobs(R"("cpus": 3)")}};
    j = place(beside);
    CHECK(fate(j, "j") == "n 0-1");
    CHECK(fate(j, "k") == "n 0-1");
    CHECK(says(j, "unlimited: 2 jobs take nothing of what the resource limits (first "
                  "'j')"));
    beside["jobs"][0]["exclusive"] = true;
    CHECK(fate(place(beside), "k") == "n 1-2");
}

TEST_CASE("the request of the specification", "[api][world]")
{
    json body = json::parse(R"({"snapshot": {"taken_at": "2026-03-01T08:00:00Z",
        "shared_capacities": {"licence.x": 1},
        "resources": [
            {"id": "n1", "cpus": 8, "memory_bytes": 64e9, "capacities": {"gpus": 2},
             "price_per_s": 0.0004,
             "running": [{"id": "r7", "cpus": 2, "memory_bytes": 8e9,
                "needs": {"gpus": 1}, "expected_end_s": 1200, "preemptible": true}]},
            {"id": "n2", "cpus": 8, "reservations": [{"id": "maintenance",
                "start_s": 7200, "end_s": 10800, "all": true}]}]},
        "jobs": [{"id": "a", "estimate_s": 600, "cpus": 4,
                  "needs": {"licence.x": 1, "gpus": 1}, "time_limit_s": 1800,
                  "weight": 3},
                 {"id": "b", "estimate_s": 600, "cpus": 4, "nodes": 2,
                  "after": [{"job_id": "a", "kind": "ok"}]}],
        "objective": ["weighted_tardiness_s", "makespan_s"]})");
    for (const char *algorithm : {"auto", "mct", "min_min"}) {
        json j = place(body, algorithm);
        CHECK(fate(j, "a") == "n1 0-600");
        CHECK(fate(j, "b") == "n1+n2 600-1200");
        CHECK(j["status"] == "optimal");
        const json &values = j["objective"]["values"];
        CHECK(values[0]["value"] == 0);
        CHECK(values[0]["bound"] == 0);
        CHECK(values[1]["value"] == 1200);
        CHECK(values[1]["bound"] == 1200);
    }
}

TEST_CASE("requirements know amounts and what is free of them now", "[api][world]")
{
    json snapshot = json::parse(R"({"resources": [
        {"id": "a", "cpus": 4, "memory_bytes": 100, "capacities": {"gpus": 2, "Fast": 1},
         "running": [{"id": "r", "cpus": 1, "memory_bytes": 40, "expected_end_s": 5}],
         "reservations": [{"end_s": 9, "cpus": 1, "needs": {"gpus": 1}},
                          {"start_s": 7, "end_s": 9, "cpus": 2}]},
        {"id": "b", "cpus": 8, "disk_bytes": 50, "attributes": {"cpus_total": 1}},
        {"id": "c", "cpus": 8, "reservations": [{"all": true}]}],
        "running": [{"id": "s", "cpus": 0.5, "resource_ids": ["a", "b"],
                     "disk_bytes": 20, "expected_end_s": 5}]})");
    struct row {
        std::string requirement, on;
    };
    const std::vector<row> rows = {
        {"cpus_total == 4", "a"},
        {"cpus_total == 1", "requirement"}, // hidden
        {"cpus_free_now == 1.5", "a"},
        {"cpus_free_now == 7.5", "b"},
        {"cpus_free_now == 0", "reserved_for_ever"},
        {"memory_total_bytes == 100 && memory_free_now_bytes == 60", "a"},
        {"disk_free_now_bytes == 30", "b"},
        {"capacity.gpus == 2 && capacity.Fast == 1 && free_now.gpus == 1", "a"},
        {"capacity.gpus == 0 && cpus_free_now > 0", "b"},
    };
    for (const row &r : rows) {
        json list = json::parse(R"([{"id": "j", "estimate_s": 1, "cpus": 0.1}])");
        list[0]["requirement"] = r.requirement;
        INFO(r.requirement);
        std::string where = fate(place({{"snapshot", snapshot}, {"jobs", list}}), "j");
        CHECK(where.substr(0, where.find(' ')) == r.on);
    }
}

TEST_CASE("an answer lists what it is asked for", "[api][world]")
{
    json body = {{"snapshot", on("")}, {"jobs", jobs(R"("cpus": 99)")}};
    json all = place(body);
    CHECK(all["unplaced"][0]["reasons"].size() == 1);
    body["include"] = {"unplaced"};
    json some = place(body);
    CHECK(some["placements"].empty());
    CHECK(some["loads"].empty());
    CHECK(some["placement_count"] == 1);
    CHECK(some["unplaced_count"] == 1);
    CHECK(some["unplaced"][0] == json({{"job_id", "j"}, {"reasons", json::array()}}));
    body["include"] = {"placements", "unplaced", "reasons", "loads"};
    some = place(body);
    for (const char *list : {"placements", "unplaced", "loads"})
        CHECK(some[list] == all[list]);
    api a;
    CHECK(all.contains("timings"));
    CHECK_FALSE(some.contains("timings"));
    for (json none : {json::array(), json{"reasons"}, json{"run_times"}}) {
        INFO(none.dump());
        body["include"] = none;
        some = place(body);
        for (const char *list : {"placements", "unplaced", "loads"})
            CHECK(some[list].empty());
        CHECK(some["placement_count"] == 1);
        CHECK_FALSE(some.contains("timings"));
    }
    for (const char *plain : {"{}", R"({"cpus": 2})"}) { // slots, amounts
        json resource = json::parse(plain);
        resource["id"] = "m";
        some = place({{"snapshot", {{"resources", {resource}}}},
                      {"jobs", {{{"id", "j"}, {"estimate_s", 1}}}},
                      {"include", {"timings"}}});
        CHECK(some["placements"].empty());
        CHECK(some["timings"].contains("decide_s"));
    }
    body["include"] = {"placements", "plans"};
    CHECK(a.post("/v1/placements", body.dump()).pointers() ==
          std::vector<std::string>{"/include/1"});
}

TEST_CASE("what would help, and what to stop", "[api][world]")
{
    json e17 = json::parse(R"({"what_if": true,
        "snapshot": {"resources": [{"id": "A", "cpus": 8, "memory_bytes": 32},
                                   {"id": "B", "cpus": 16, "memory_bytes": 16}]},
        "jobs": [{"id": "u2", "cpus": 12, "memory_bytes": 24, "estimate_s": 1},
                 {"id": "u3", "cpus": 24, "memory_bytes": 8, "estimate_s": 1},
                 {"id": "u4", "cpus": 16, "memory_bytes": 20, "estimate_s": 1}]})");
    json j = place(e17);
    std::vector<std::string> changes;
    for (const json &c : j["what_if"]) {
        std::ostringstream text;

        text << c["resource_id"].get<std::string>() << " "
             << c["amount"].get<std::string>() << " to " << c["value"].get<double>()
             << ": " << c["job_count"].get<int>();
        changes.push_back(text.str());
    }
    CHECK(changes == std::vector<std::string>{
                         "A cpus to 24: 3", "B memory_bytes to 24: 2", "A cpus to 16: 2",
                         "B memory_bytes to 20: 1", "A cpus to 12: 1"});
    e17.erase("what_if");
    CHECK_FALSE(place(e17).contains("what_if"));

    json e12 = json::parse(R"({"preempt": true,
        "snapshot": {"resources": [{"id": "n", "cpus": 8, "running": [
            {"id": "a", "cpus": 4, "weight": 1, "preemptible": true, "expected_end_s": 9},
            {"id": "b", "cpus": 2, "weight": 1, "preemptible": true, "expected_end_s": 9},
            {"id": "c", "cpus": 2, "weight": 3, "preemptible": true,
             "expected_end_s": 9}]}]},
        "jobs": [{"id": "j", "cpus": 4, "priority": 1, "estimate_s": 5}]})");
    j = place(e12);
    REQUIRE(j["preemptions"].size() == 1);
    CHECK(j["preemptions"][0] == json::parse(R"({"job_id": "j", "resource_ids": ["n"],
        "stop": ["a"], "weight": 1, "proven": true})"));
    CHECK(fate(j, "j") == "n 9-14"); // a proposal, which the plan does not count on
    e12["jobs"][0]["cpus"] = 6;
    CHECK(place(e12)["preemptions"][0]["stop"] == json({"a", "b"}));
    e12["jobs"][0]["priority"] = 0; // equal is not enough
    CHECK_FALSE(place(e12).contains("preemptions"));
}
