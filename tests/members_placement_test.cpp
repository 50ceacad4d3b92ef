// members_placement_test.cpp - what users, their past and ages change in a placement.
#include "tests/members_support.hpp"

using nlohmann::json;

namespace
{

// Two resources, of which `count` are there, for one job each; r ranks them.
json resources(size_t count)
{
    json list = json::parse(R"([
        {"id":"a","mips_total":1,"n_max":1,"fixed_priority":1,"attributes":{"r":2}},
        {"id":"b","mips_total":1,"n_max":1,"fixed_priority":1,"attributes":{"r":4}}])");

    if (count == 1)
        list.erase(1);
    return list;
}

// Users x and y want the only resource; the first of the order gets it.
json contest()
{
    json r = json::parse(R"({
        "algorithm": "gridway",
        "snapshot": {"taken_at": "2026-11-20T12:00:00Z"},
        "jobs": [{"id":"x","user":"x","estimate_ref_s":10},
                 {"id":"y","user":"y","estimate_ref_s":10}],
        "options": {"job_order": "gridway_priority"}})");

    r["snapshot"]["resources"] = resources(1);
    return r;
}

// One job chooses between two resources.
json choice()
{
    json r = contest();

    r["snapshot"]["resources"] = resources(2);
    r["jobs"].erase(1);
    r["jobs"][0]["rank"] = "r";
    r["options"] = {{"resource_order", "gridway_priority"}};
    return r;
}

json placed(const json &request)
{
    return members::answer("/v1/placements", request)["placements"];
}

std::string winner(const json &request)
{
    json list = placed(request);

    REQUIRE(list.size() == 1);
    return list[0]["job_id"];
}

std::string winner(const json &request, const std::string &option, double value)
{
    return winner(members::with(request, "/options/" + option, value));
}

std::string target(const json &request, const std::string &option, double value)
{
    json list = placed(members::with(request, "/options/" + option, value));

    REQUIRE(list.size() == 1);
    return list[0]["resource_id"];
}

json usage(const std::string &resource, const std::string &member, json value)
{
    return {{"user", "x"}, {"resource_id", resource}, {member, value}};
}

} // namespace

TEST_CASE("weights say what makes a job come first", "[placement]")
{
    json fixed = members::with(contest(), "/jobs/1/fixed_priority", 3);
    CHECK(winner(fixed, "w_fixed", 0) == "x");
    CHECK(winner(fixed, "w_fixed", 1) == "y");

    json waiting = contest();
    waiting["jobs"][0]["queued_at"] = "2026-11-20T11:59:00Z";
    waiting["jobs"][1]["queued_at"] = "2026-11-20T11:00:00Z";
    CHECK(winner(waiting, "w_wait", 0) == "x");
    CHECK(winner(waiting, "w_wait", 2) == "y");
    waiting["jobs"][1].erase("queued_at"); // waits since now
    CHECK(winner(waiting, "w_wait", 2) == "x");

    json deadline =
        members::with(contest(), "/jobs/1/deadline_at", "2026-11-20T13:00:00Z");
    CHECK(winner(deadline, "w_deadline", 0) == "x");
    CHECK(winner(deadline, "w_deadline", 1) == "y");
}

TEST_CASE("a deadline counts half so many days before", "[placement]")
{
    // x: a fixed priority; y: a deadline in a day, among others at once.
    json r = contest();

    r["jobs"].push_back({{"id", "z"}, {"user", "z"}, {"estimate_ref_s", 10}});
    r["snapshot"]["resources"][0]["n_max"] = 2;
    r["jobs"][0]["fixed_priority"] = 3;
    r["jobs"][1]["deadline_at"] = "2026-11-21T12:00:00Z";
    r["jobs"][2]["deadline_at"] = "2026-11-20T12:00:00Z";
    r["jobs"][2]["fixed_priority"] = 4;
    for (auto [days, second] : {std::pair{0.01, "x"}, std::pair{1000.0, "y"}}) {
        json list = placed(members::with(r, "/options/dl_half_days", days));
        std::set<std::string> ids;

        for (const json &p : list)
            ids.insert(p["job_id"]);
        INFO(days);
        CHECK(ids == std::set<std::string>{"z", second});
    }
}

TEST_CASE("who has had much comes later", "[placement]")
{
    json r = contest();

    r["users"] = json::parse(R"([{"user":"x"},{"user":"y"}])");
    CHECK(winner(r) == "x");
    r["users"][0]["dispatched_by_window"] = json::parse("[100]");
    CHECK(winner(r) == "y");
    CHECK(winner(r, "w_share", 0) == "x");

    r["users"][0]["dispatched_by_window"] = json::parse("[0,100]");
    CHECK(winner(r, "window_depth", 1) == "x"); // the window before does not count
    CHECK(winner(r, "window_depth", 2) == "y");
}

TEST_CASE("weights say what makes a resource come first", "[placement]")
{
    json r = members::with(choice(), "/snapshot/resources/0/fixed_priority", 9);
    CHECK(target(r, "w_resource_fixed", 0) == "b");
    CHECK(target(r, "w_resource_fixed", 5) == "a");
    CHECK(target(r, "w_rank", 0) == "a");
    CHECK(target(r, "w_rank", 50) == "b");
}

TEST_CASE("a resource that took long before comes later", "[placement]")
{
    json r = choice();

    r["jobs"][0].erase("rank");
    r["usage"] = json::parse(R"([
        {"user":"x","resource_id":"a","mean_s":1000,"last_s":10},
        {"user":"x","resource_id":"b","mean_s":100,"last_s":100}])");
    CHECK(target(r, "w_usage", 0) == "a"); // as it comes
    CHECK(target(r, "w_usage", 1) == "b");
    CHECK(target(r, "usage_last_share", 0) == "b"); // the means alone
    CHECK(target(r, "usage_last_share", 1) == "a"); // the last times alone
}

TEST_CASE("a user does without a resource that failed him", "[placement]")
{
    json r = contest();

    r["jobs"].erase(1);
    r["usage"] = json::array();
    auto is_placed = [&](const char *member, const char *instant) {
        r["usage"] = json::array();
        r["usage"].push_back(usage("a", member, instant));
        return placed(r).size() == 1;
    };
    CHECK(is_placed("banned_until", "2026-11-20T11:59:59Z"));
    CHECK_FALSE(is_placed("banned_until", "2026-11-20T12:00:01Z"));

    // A tenth of max_ban_s, 3600 s, from the first failure on.
    CHECK(is_placed("first_failure_at", "2026-11-20T11:53:59Z"));
    CHECK_FALSE(is_placed("first_failure_at", "2026-11-20T11:54:01Z"));
    CHECK_FALSE(is_placed("first_failure_at", "2026-11-20T11:59:00Z"));
    for (auto [ban_s, count] : {std::pair{0, 1u}, std::pair{500, 1u}, std::pair{700, 0u}})
        CHECK(placed(members::with(r, "/options/max_ban_s", ban_s)).size() == count);
}

TEST_CASE("old states and old lists are told apart from fresh ones", "[placement]")
{
    json r = contest();
    auto warnings = [&](const json &request) {
        json list = members::answer("/v1/placements", request)["warnings"];
        return list.empty() ? std::string() : list[0].get<std::string>();
    };

    r["jobs"].erase(1);
    r["options"]["stale_policy"] = "exclude";
    r["snapshot"]["resources"][0]["observed_at"] = "2026-11-20T11:58:00Z";
    CHECK(placed(members::with(r, "/options/state_ttl_s", 180)).size() == 1);
    CHECK(placed(members::with(r, "/options/state_ttl_s", 60)).empty());

    r["snapshot"]["resources"][0].erase("observed_at");
    r["snapshot"]["list_observed_at"] = "2026-11-20T11:58:00Z";
    CHECK(warnings(r) == "");
    r["snapshot"]["list_observed_at"] = "2026-11-20T11:00:00Z";
    CHECK(warnings(r).find("stale_list: the list of resources is 3600 s old") == 0);
}
