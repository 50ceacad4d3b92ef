// members_coallocation_test.cpp - what single members change for parallel jobs on
// several clusters.
#include "tests/members_support.hpp"

using members::answer;
using members::with;
using nlohmann::json;

namespace
{

json co_allocate(const json &request)
{
    return answer("/v1/coallocations", request);
}

json claim(const json &request)
{
    return answer("/v1/claims", request);
}

json step(const json &request)
{
    return answer("/v1/reschedules", request);
}

} // namespace

TEST_CASE("several sites are worth it up to a slowdown", "[coallocation]")
{
    json r = members::example("co-allocate-or-not");
    const std::string path = "/v1/coallocations/advice";

    r["co_allocated_run_time_s"] = 60; // 1.71 times as long
    CHECK(answer(path, r)["advice"] == "wait");
    CHECK(answer(path, with(r, "/max_slowdown", 1.7))["advice"] == "wait");
    CHECK(answer(path, with(r, "/max_slowdown", 1.72))["advice"] == "co_allocate");
}

TEST_CASE("a site launches so many components at a time", "[coallocation]")
{
    json r = members::example("launch-drunner");
    auto waves = [&](int most) {
        std::vector<int> list;

        r["max_concurrent_launches_per_site"] = most;
        const json components =
            answer("/v1/coallocations/launch-plans", r)["per_component"];
        for (const json &c : components)
            list.push_back(c["wave"]);
        return list;
    };

    // c0 and c2 are on one site.
    CHECK(waves(0) == std::vector<int>{0, 0, 0});
    CHECK(waves(1) == std::vector<int>{0, 0, 1});
    CHECK(waves(2) == std::vector<int>{0, 0, 0});
}

TEST_CASE("sites that lack a capability get nothing", "[coallocation]")
{
    json r = members::example("coallocation-worst_fit");

    r["jobs"][0]["required_capabilities"] = {"globus"};
    CHECK(co_allocate(r)["unplaced"][0]["reason"] == "capability");
    for (json &site : r["snapshot"]["sites"])
        site["capabilities"] = {"globus", "mpi"};
    CHECK(co_allocate(r)["unplaced"].empty());
}

TEST_CASE("sites to avoid are used after all, unless that is forbidden", "[coallocation]")
{
    json r = members::example("coallocation-worst_fit");

    r["jobs"][0]["avoid_site_ids"] = {"C", "D", "E"};
    CHECK(co_allocate(r)["unplaced"].empty());
    CHECK(co_allocate(with(r, "/jobs/0/avoid_sites_soft", true))["unplaced"].empty());
    CHECK(co_allocate(with(r, "/jobs/0/avoid_sites_soft", false))["unplaced"].size() ==
          1);
}

// coallocation.md 7, example 7b: placed at 60, queued again at 470, placed at 710.
TEST_CASE("stays in the placement queue add up", "[coallocation]")
{
    json r = members::example("coallocation-worst_fit");
    json &job = r["jobs"][0];

    job.erase("queue_entry_s");
    CHECK_FALSE(co_allocate(r)["placements"][0].contains("placement_time_s"));
    CHECK_FALSE(co_allocate(r)["placements"][0].contains("total_placement_time_s"));
    r["now_s"] = 60;
    job["queue_entry_s"] = 0;
    json first = co_allocate(r)["placements"][0];
    CHECK(first["placement_time_s"] == 60);
    CHECK(first["total_placement_time_s"] == 60);
    r["now_s"] = 710;
    job["queue_entry_s"] = 470;
    job["total_placement_time_s"] = first["total_placement_time_s"];
    json second = co_allocate(r)["placements"][0];
    CHECK(second["placement_time_s"] == 240);
    CHECK(second["total_placement_time_s"] == 300);
    job["queue_entry_s"] = 711; // cannot be
    second = co_allocate(r)["placements"][0];
    CHECK_FALSE(second.contains("placement_time_s"));
    CHECK(second["total_placement_time_s"] == 60);
}

TEST_CASE("old states of sites are told", "[coallocation]")
{
    json r = members::example("coallocation-worst_fit");

    r.erase("now_s");
    r["snapshot"]["taken_at"] = "2026-11-20T12:00:00Z";
    r["snapshot"]["sites"][0]["measured_at"] = "2026-11-20T11:59:00Z";
    CHECK(co_allocate(with(r, "/options/cache_expiry_s", 61))["warnings"].empty());
    json warnings = co_allocate(with(r, "/options/cache_expiry_s", 59))["warnings"];
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].get<std::string>().find("stale_site: 1 site, first 'A'") == 0);
}

TEST_CASE("a job is not claimed just before its start", "[coallocation]")
{
    json r = members::example("coallocation-worst_fit");

    json p = co_allocate(r)["placements"][0];
    REQUIRE(p["jct_s"] < p["jst_s"]);
    p = co_allocate(with(r, "/options/min_claim_interval_s", 1000))["placements"][0];
    CHECK(p["jct_s"] == p["jst_s"]);
}

TEST_CASE("all ways to place are searched where the policy fails", "[coallocation]")
{
    json r = members::example("coallocation-worst_fit");

    // 4 + 3 + 3 and 5 + 4 fill both sites; one component after the other does not.
    r["snapshot"] = json::parse(R"({"sites": [{"id":"A","processors_total":10},
                                              {"id":"B","processors_total":9}]})");
    r["jobs"] = json::parse(R"([{"id": "j", "components": [
        {"id":"c0","processors":5},{"id":"c1","processors":4},{"id":"c2","processors":4},
        {"id":"c3","processors":3},{"id":"c4","processors":3}]}])");
    CHECK(co_allocate(r)["status"] == "infeasible");
    CHECK(co_allocate(with(r, "/options/pack_retry", true))["status"] == "optimal");
}

TEST_CASE("what is lost with a missed start is an option", "[claim]")
{
    json r = members::example("claim-incremental");

    REQUIRE(r["algorithm"] == "incremental");
    r["now_s"] = r["job"]["jst_s"];
    r["options"] = {{"t_threshold", 1}};
    REQUIRE(r["job"]["l_value"] == 0.75);
    CHECK(claim(r)["l_value"] == 0.5);
    CHECK(claim(with(r, "/options/l_decrement", 0.5))["l_value"] == 0.25);
    CHECK(claim(with(r, "/options/l_min", 0.7))["l_value"] == 0.7);
}

TEST_CASE("with an L of zero claims are so far apart", "[claim]")
{
    json r = members::example("claim-incremental");

    r["options"] = {{"t_threshold", 1}};
    r["job"]["l_value"] = 0;
    CHECK(claim(r)["next_jct_s"] == 1310);
    CHECK(claim(with(r, "/options/zero_l_claim_interval_s", 20))["next_jct_s"] == 1320);
}

TEST_CASE("a promoted job may stop others as if it had not been", "[claim]")
{
    json r = members::example("claim-incremental");

    REQUIRE(r["job"]["priority"] == "low");
    r["options"]["preempt_with_base_priority"] = true;
    CHECK(claim(r)["decision"] == "start_all"); // base_priority: as priority
    CHECK_FALSE(claim(r)["preempt_jobs"].empty());
    r["job"]["base_priority"] = "super_low";
    CHECK(claim(r)["decision"] == "start_partial");
    CHECK(claim(r)["preempt_jobs"].empty());
    r["options"]["preempt_with_base_priority"] = false;
    CHECK(claim(r)["decision"] == "start_all");
}

TEST_CASE("reservations last longer than the estimate", "[coallocation]")
{
    json r = members::example("coallocation-worst_fit");
    auto duration = [&](double margin) -> double {
        json p = co_allocate(with(r, "/options/reservation_margin", margin));
        return p["placements"][0]["components"][0]["reserve"]["duration_s"];
    };

    for (json &site : r["snapshot"]["sites"])
        site["supports_reservation"] = true;
    r["jobs"][0]["estimate_s"] = 1000;
    CHECK(duration(0) == Approx(1000));
    CHECK(duration(0.5) == Approx(1500));
}

TEST_CASE("the newest or the lowest are stopped first", "[claim]")
{
    json r = members::example("claim-incremental");
    auto stopped = [&](const char *order) {
        return claim(with(r, "/options/preempt_order", order))["preempt_jobs"][0]
            .at("job_id")
            .get<std::string>();
    };

    r["job"]["priority"] = "high";
    r["running_jobs"] = json::parse(R"([
        {"id": "new", "priority": "low", "jst_s": 1200,
         "allocations": [{"site_id": "C", "processors": 8}]},
        {"id": "lowest", "priority": "super_low", "jst_s": 900,
         "allocations": [{"site_id": "C", "processors": 8}]}])");
    CHECK(stopped("newest") == "new");
    CHECK(stopped("lowest_priority_then_newest") == "lowest");
}

TEST_CASE("others are stopped where a component is, or where it would come too late",
          "[claim]")
{
    json r = members::example("claim-incremental");
    auto moved = [&](const char *site) {
        return claim(with(r, "/options/preempt_site", site))["replaced_components"];
    };

    r["job"]["priority"] = "high";
    r["now_s"] = 1370; // a file takes 40 s to E, the start is at 1400
    r["running_jobs"] = json::parse(R"([
        {"id": "c", "priority": "low", "jst_s": 1200,
         "allocations": [{"site_id": "C", "processors": 8}]},
        {"id": "e", "priority": "super_low", "jst_s": 900,
         "allocations": [{"site_id": "E", "processors": 8}]}])");
    CHECK(moved("original").empty());
    REQUIRE(moved("replacement").size() == 1);
    CHECK(moved("replacement")[0]["site_id"] == "E");
}

TEST_CASE("a file may come just at the start, if that is allowed", "[claim]")
{
    json r = members::example("claim-incremental");
    auto decision = [&](double now_s, bool allowed) -> std::string {
        r["now_s"] = r["job"]["jct_s"] = now_s;
        return claim(with(r, "/options/allow_start_equal", allowed))["decision"];
    };

    CHECK(decision(1359, false) == "start_all");
    CHECK(decision(1360, false) == "start_partial");
    CHECK(decision(1360, true) == "start_all");
    CHECK(decision(1361, true) == "start_partial");
}

TEST_CASE("nobody is stopped in vain, if that is asked for", "[claim]")
{
    json r = members::example("claim-incremental");

    r["now_s"] = r["job"]["jct_s"] = 1361; // too late for one component
    CHECK_FALSE(claim(r)["preempt_jobs"].empty());
    CHECK(claim(with(r, "/options/preempt_only_if_complete", true))["preempt_jobs"]
              .empty());
}

TEST_CASE("a claim does without sites only softly", "[claim]")
{
    json r = members::example("claim-incremental");

    // Only E has room for the component of B.
    r["job"]["avoid_site_ids"] = {"E"};
    r["running_jobs"] = json::array();
    CHECK(claim(with(r, "/job/avoid_sites_soft", true))["replaced_components"].size() ==
          1);
    CHECK(claim(with(r, "/job/avoid_sites_soft", false))["replaced_components"].empty());
}

TEST_CASE("a queue gives up on jobs that waited for long", "[scan]")
{
    json r = members::example("scan-weighted_round_robin");

    REQUIRE(r.value("algorithm", "weighted_round_robin") == "weighted_round_robin");
    json failed = answer("/v1/queue-scans", with(r, "/options/max_wait_s", 1))["failed"];
    REQUIRE(failed.size() >= 1);
    CHECK(failed[0]["reason"] == "max_wait_s");
    CHECK(
        answer("/v1/queue-scans", with(r, "/options/max_wait_s", 1e6))["failed"].empty());
}

TEST_CASE("a job comes back where it was, or last", "[reschedule]")
{
    json r = members::example("migration-component_error");

    REQUIRE(r["algorithm"] == "component_error");
    for (const char *position : {"tail", "original"})
        CHECK(step(with(r, "/options/requeue_position",
                        position))["requeue"]["position"] == position);
}

TEST_CASE("a site is taken back so long after it was given up", "[reschedule]")
{
    json r = members::example("migration-component_error");

    r["now_s"] = 10000;
    r["options"] = {{"error_threshold", 3}, {"unusable_cooldown_s", 5000}};
    r["site_error_counters"] =
        json::parse(R"([{"site_id": "VU", "consecutive_errors": 5, "unusable": true}])");
    json &counter = r["site_error_counters"][0];
    counter["unusable_at_s"] = 4999;
    CHECK(step(r)["readmitted_site_ids"] == json::parse(R"(["VU"])"));
    counter["unusable_at_s"] = 5001;
    CHECK(step(r)["readmitted_site_ids"].empty());
    CHECK(step(r)["unusable_site_ids"] == json::parse(R"(["VU"])"));
}
