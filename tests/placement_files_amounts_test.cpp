// placement_files_amounts_test.cpp - input files and outputs of jobs where amounts count,
// over POST /v1/placements.
#include "tests/world_api_support.hpp"

#include <map>
#include <random>

namespace
{

// The two sites of spec gridway.md 5.2; a limit that binds nowhere makes amounts count.
json two_sites(bool amounts)
{
    json jobs = json::array();
    const std::vector<std::pair<double, std::string>> of = {
        {50, "f1"}, {60, "f1"}, {60, "f2"}, {50, "f2"}, {20, ""}};

    for (size_t i = 0; i < of.size(); i++) {
        json j = {{"id", "j" + std::to_string(i + 1)}, {"estimate_ref_s", of[i].first}};
        if (!of[i].second.empty())
            j["input_file_ids"] = {of[i].second};
        if (amounts)
            j["time_limit_s"] = 1e6;
        jobs.push_back(j);
    }
    return {{"snapshot",
             {{"home_site_id", "H"},
              {"network",
               {{"routes",
                 {{{"from_site_id", "H"}, {"to_site_id", "A"}, {"bandwidth_mbps", 8}},
                  {{"from_site_id", "H"}, {"to_site_id", "B"}, {"bandwidth_mbps", 4}}}}}},
              {"files",
               {{{"id", "f1"}, {"bytes", 1e7}, {"shared", true}, {"site_ids", {"H"}}},
                {{"id", "f2"}, {"bytes", 2e7}, {"shared", true}, {"site_ids", {"H"}}}}},
              {"resources",
               {{{"id", "a1"}, {"site_id", "A"}, {"mips_total", 1}},
                {{"id", "a2"}, {"site_id", "A"}, {"mips_total", 1}},
                {{"id", "b1"}, {"site_id", "B"}, {"mips_total", 2}}}}}},
            {"jobs", jobs}};
}

// By job; ranks and slots are told only where there are some.
std::map<std::string, std::string> plan_of(const json &answer)
{
    std::map<std::string, std::string> rows;
    for (json p : answer["placements"]) {
        p.erase("rank");
        p.erase("slot");
        rows[p["job_id"]] = p.dump();
    }
    return rows;
}

} // namespace

TEST_CASE("files where amounts count give the plans of spec gridway.md 5.2",
          "[api][placement][world][files]")
{
    const std::vector<std::pair<const char *, double>> wanted = {
        {"olb", 130},     {"met", 180},    {"mct", 110},       {"min_min", 125},
        {"max_min", 115}, {"duplex", 115}, {"sufferage", 120}, {"xsufferage", 85}};
    for (auto &[name, makespan] : wanted) {
        json out = place(two_sites(true), name);
        INFO(name << out.dump());
        CHECK(out["objective"]["makespan_s"].get<double>() == Approx(makespan));
        CHECK(plan_of(out) == plan_of(place(two_sites(false), name)));
        CHECK(out["objective"]["bytes_moved"] ==
              place(two_sites(false), name)["objective"]["bytes_moved"]);
    }
    json out = place(two_sites(true), "auto");
    CHECK(out["objective"]["makespan_s"].get<double>() == Approx(80)); // the optimum
    CHECK(out["objective"]["lower_bound_s"].get<double>() <= 80);
    // Who starts now: both slots of A fetch, and b1 takes the best rank that is left.
    out = place(two_sites(true), "gridway");
    CHECK(plan_of(out) == plan_of(place(two_sites(false), "gridway")));
}

TEST_CASE("what amounts allow and files take go together",
          "[api][placement][world][files]")
{
    json body = two_sites(true);
    body["jobs"] = json::array(
        {{{"id", "a"}, {"estimate_s", 100}, {"cpus", 3}, {"input_file_ids", {"f1"}}},
         {{"id", "b"}, {"estimate_s", 100}, {"cpus", 1}, {"input_file_ids", {"f1"}}},
         {{"id", "c"}, {"estimate_s", 10}, {"cpus", 4}, {"output_bytes", 1e6}}});
    body["snapshot"]["resources"] = json::array(
        {{{"id", "n"}, {"site_id", "A"}, {"cpus", 4}, {"reservations", json::array()}}});
    body["snapshot"]["resources"][0]["reservations"].push_back(
        {{"start_s", 110}, {"end_s", 200}, {"cpus", 1}});
    json out = place(body);

    CHECK(fate(out, "a") == "n 0-110"); // 10 s for f1
    CHECK(fate(out, "b") == "n 0-110"); // f1 is on its way for a
    CHECK(out["placements"][0]["stage_in_s"] == 10);
    CHECK(out["placements"][0]["bytes_moved"] == 1e7);
    CHECK(out["placements"][1]["stage_in_s"] == 10);
    CHECK(out["placements"][1]["bytes_moved"] == 0);
    CHECK(fate(out, "c") == "n 200-211"); // and 1 s home
    CHECK(out["objective"]["makespan_s"] == 211);
    // One second of a reservation more, and both do not fit before it; later f1 is there.
    body["snapshot"]["resources"][0]["reservations"][0]["start_s"] = 109;
    out = place(body);
    CHECK(fate(out, "b") == "n 110-210");
    CHECK(out["placements"][1]["stage_in_s"] == 0);
    // A job that takes no time holds nothing while its files come.
    body["jobs"][0]["estimate_s"] = 0;
    for (const char *name : {"mct", "min_min", "max_min", "sufferage", "auto"}) {
        out = place(body, name);
        CHECK(fate(out, "a") == "n 10-10");
        CHECK(out["objective"]["bytes_moved"] == 1e7);
    }
    body["jobs"][0]["estimate_s"] = 100;

    // No way to the file, or home.
    body["snapshot"]["network"]["routes"].erase(0);
    out = place(body);
    CHECK(fate(out, "a") == "file_unreachable");
    CHECK(fate(out, "c") == "file_unreachable");
    body["jobs"][0]["input_file_ids"] = {"f.${GW_ARCH}"};
    CHECK(fate(place(body), "a") == "file_unresolved");

    body["jobs"][0]["input_file_ids"] = {"f1"};
    body["jobs"][0]["nodes"] = 2;
    api a;
    api_reply reply = a.post("/v1/placements", body.dump());
    CHECK(reply.pointers() == std::vector<std::string>{"/jobs/0/nodes"});
    CHECK(reply.json()["errors"][0]["code"] == "invalid_combination");
    body = two_sites(true);
    body["objective"] = {"started_now_weight"};
    body["algorithm"] = "auto";
    CHECK(a.post("/v1/placements", body.dump()).pointers()[0] ==
          "/jobs/0/input_file_ids");
}

TEST_CASE("with limits that bind nowhere files give the plans of slots",
          "[api][placement][world][files][property]")
{
    static const char *const names[] = {"olb", "met", "mct", "min_min", "sufferage"};
    for (unsigned seed = 1; seed <= (is_shorter() ? 60u : 300u); seed++) {
        std::mt19937 rng(seed);
        json body = two_sites(false);
        body["jobs"] = json::array();
        for (size_t i = 0, n = rng() % 8; i < n; i++) {
            json j = {{"id", "j" + std::to_string(i)},
                      {"estimate_ref_s", (1 + rng() % 6) * 10}};
            if (rng() % 3)
                j["input_file_ids"] = {"f1"};
            if (rng() % 3 == 0)
                j["input_file_ids"].push_back("f2");
            if (rng() % 4 == 0)
                j["output_bytes"] = 5e5 * double(rng() % 3);
            body["jobs"].push_back(j);
        }
        body["snapshot"]["files"][0]["shared"] = rng() % 2 == 0;
        if (rng() % 3 == 0)
            body["snapshot"]["network"]["routes"].erase(rng() % 2);
        else
            for (const char *site : {"A", "B"})
                body["snapshot"]["network"]["routes"].push_back({{"from_site_id", site},
                                                                 {"to_site_id", "H"},
                                                                 {"bandwidth_mbps", 16}});
        const char *name = names[seed % 5];
        json slots = place(body, name);
        for (json &j : body["jobs"])
            j["time_limit_s"] = 1e6;
        json amounts = place(body, name);
        INFO(seed << name << body.dump() << slots.dump() << "\n" << amounts.dump());
        REQUIRE(plan_of(amounts) == plan_of(slots));
        CHECK(amounts["unplaced"].size() == slots["unplaced"].size());
        for (const json &u : slots["unplaced"])
            CHECK(fate(amounts, u["job_id"]) ==
                  u["reasons"].back()["reason"].get<std::string>());
    }
}
