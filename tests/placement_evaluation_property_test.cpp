// placement_evaluation_property_test.cpp - plans of the service, as they stand, through
// the evaluation: valid, and worth the same.
#include "tests/members_support.hpp"

using nlohmann::json;

namespace
{

class drawn_request
{
  public:
    json body;

    explicit drawn_request(uint64_t seed) : r(rng_create(seed))
    {
        draw_snapshot();
        draw_jobs();
        draw_objective();
        if (below(3) == 0)
            body["options"] = {{"plan_with", "limit"}};
    }
    size_t below(size_t n)
    {
        return rng_index(&r, n);
    }

  private:
    rng r;

    std::string name(const char *prefix, size_t i)
    {
        return prefix + std::to_string(i);
    }
    json draw_running(size_t i)
    {
        json row = {{"id", name("r", i)}, {"cpus", 1 + below(3)}};

        if (below(4) > 0)
            row["expected_end_s"] = 1 + below(20);
        if (below(3) == 0)
            row["time_limit_s"] = 5 + below(20);
        if (below(3) == 0)
            row["group"] = name("g", below(3));
        return row;
    }
    json draw_reservation()
    {
        size_t start = below(15);
        json row = {{"start_s", start}, {"end_s", start + 1 + below(8)}};

        if (below(2) == 0)
            row["all"] = true;
        else
            row["cpus"] = 1 + below(3);
        return row;
    }
    void draw_snapshot();
    void draw_jobs();
    void draw_objective();
};

void drawn_request::draw_snapshot()
{
    json list = json::array(), partition;
    size_t count = 1 + below(4);

    for (size_t i = 0; i < count; i++) {
        json n = {{"id", name("n", i)}, {"mips_total", 1 + below(2)}};
        if (below(5) > 0)
            n["cpus"] = 1 + below(6);
        if (below(3) == 0)
            n["n_max"] = 1 + below(3);
        if (below(2) == 0)
            n["capacities"] = {{"gpus", below(3)}};
        if (below(2) == 0)
            n["site_id"] = name("s", below(2));
        if (below(2) == 0)
            n["price_per_s"] = below(4), n["price_per_cpu_s"] = below(3);
        if (below(3) == 0)
            n["running"] = json::array({draw_running(i)});
        if (below(3) == 0)
            n["reservations"] = json::array({draw_reservation()});
        list.push_back(n);
    }
    body["snapshot"] = {{"resources", list}};
    if (below(2) == 0)
        body["snapshot"]["shared_capacities"] = {{"licence", 1 + below(2)}};
    if (below(4) > 0)
        return;
    partition = {{"id", "p"}, {"resource_ids", json::array({"n0"})}};
    if (below(2) == 0)
        partition["time_limit_max_s"] = 6;
    body["snapshot"]["partitions"] = json::array({partition});
}

void drawn_request::draw_jobs()
{
    const char *const policies[] = {"gang", "spread", "pack", "same_site", "exclude"};
    bool shared = body["snapshot"].count("shared_capacities") > 0;
    json groups = json::array();

    for (size_t g = 0; g < 3; g++)
        groups.push_back({{"id", name("g", g)}, {"policy", policies[below(5)]}});
    body["jobs"] = json::array();
    for (size_t i = 0, count = 1 + below(8); i < count; i++) {
        json j = {{"id", name("j", i)}, {"cpus", 1 + below(3)}, {"weight", below(4)}};
        if (below(2) == 0)
            j["estimate_s"] = below(10);
        else
            j["estimate_ref_s"] = below(10);
        if (below(4) == 0)
            j["needs"]["gpus"] = below(3);
        if (shared && below(3) == 0)
            j["needs"]["licence"] = 1;
        if (below(5) == 0)
            j["nodes"] = 2;
        if (below(8) == 0)
            j["exclusive"] = true;
        if (below(3) == 0)
            j["time_limit_s"] = 1 + below(12);
        if (below(3) == 0)
            j["release_s"] = below(10);
        if (below(3) == 0)
            j["deadline_s"] = below(20);
        if (below(3) == 0)
            j["group"] = groups[below(3)];
        else if (i > 0 && below(3) == 0)
            j["after"] = json::array({name("j", below(i))});
        if (body["snapshot"].count("partitions") && below(2) == 0)
            j["partition_ids"] = json::array({"p"});
        body["jobs"].push_back(j);
    }
}

void drawn_request::draw_objective()
{
    const char *const names[] = {"makespan_s",
                                 "total_flow_s",
                                 "weighted_completion_s",
                                 "weighted_tardiness_s",
                                 "late_jobs",
                                 "cost",
                                 "energy_j",
                                 "nodes_used"};
    size_t first = below(8);

    body["objective"] = json::array({names[first]});
    if (below(2) == 0)
        body["objective"].push_back(names[(first + 1 + below(7)) % 8]);
}

} // namespace

TEST_CASE("plans about amounts are valid as the service answers them, and worth the same",
          "[api][evaluation][world][property]")
{
    const char *const policies[] = {"mct",     "olb",    "met",       "min_min",
                                    "max_min", "duplex", "sufferage", "sufferage_pass",
                                    "kpb"};
    size_t count = is_shorter() ? 120 : 2000, placed = 0, answered = 0;
    api service;

    for (uint64_t seed = 1; seed <= count; seed++) {
        drawn_request d(seed);
        json body = d.body;
        body["algorithm"] = policies[seed % 9];
        api_reply made = service.post("/v1/placements", body.dump());
        if (made.status == 422) // a circle through a group
            continue;
        INFO("seed " << seed << " " << body.dump() << " " << made.body);
        REQUIRE(made.status == 200);
        json plan = made.json();
        body.erase("algorithm");
        body["kind"] = "placement";
        body["placements"] = plan["placements"];
        api_reply reply = service.post("/v1/evaluations", body.dump());
        INFO(reply.body);
        REQUIRE(reply.status == 200);
        json found = reply.json();
        answered++;
        placed += plan["placements"].size();
        CHECK(found["valid"] == true);
        CHECK(found["unplaced_ids"].size() == plan["unplaced_count"]);
        CHECK(found["objective"]["makespan_s"].get<double>() ==
              Approx(plan["objective"]["makespan_s"].get<double>()).epsilon(1e-12));
        REQUIRE(plan["objective"].count("values"));
        for (size_t k = 0; k < body["objective"].size(); k++)
            CHECK(found["objective"]["values"][k]["value"].get<double>() ==
                  Approx(plan["objective"]["values"][k]["value"].get<double>())
                      .epsilon(1e-12));
    }
    CHECK(answered > count / 2);
    CHECK(placed > count);
}

TEST_CASE("what starts now is judged as it was decided",
          "[api][evaluation][world][property]")
{
    size_t count = is_shorter() ? 100 : 1500, tiered = 0, proven = 0;
    api service;

    for (uint64_t seed = 1; seed <= count; seed++) {
        drawn_request d(seed + 5000);
        json body = d.body;
        for (size_t i = 0; i < body["jobs"].size(); i++)
            body["jobs"][i]["priority"] = (int)((seed >> (i % 5)) & 1);
        body["objective"] = {"started_now_weight"};
        api_reply made = service.post("/v1/placements", body.dump());
        if (made.status == 422) // a circle through a group
            continue;
        INFO("seed " << seed << " " << body.dump() << " " << made.body);
        REQUIRE(made.status == 200);
        json plan = made.json();
        body["kind"] = "placement";
        body["placements"] = plan["placements"];
        api_reply reply = service.post("/v1/evaluations", body.dump());
        INFO(reply.body);
        REQUIRE(reply.status == 200);
        json found = reply.json();
        CHECK(found["valid"] == true);
        const json &want = plan["objective"]["values"][0];
        const json &value = found["objective"]["values"][0];
        CHECK(value["value"] == want["value"]);
        REQUIRE(value.contains("tiers") == want.contains("tiers"));
        if (!want.contains("tiers")) {
            CHECK(value["bound"] == want["bound"]);
            CHECK(value["proven"] == want["proven"]);
            continue;
        }
        tiered++;
        proven += want["proven"] == true;
        CHECK(value["proven"] == want["proven"]);
        for (size_t t = 0; t < want["tiers"].size(); t++) {
            CHECK(value["tiers"][t]["priority"] == want["tiers"][t]["priority"]);
            CHECK(value["tiers"][t]["value"] == want["tiers"][t]["value"]);
            CHECK(value["tiers"][t]["bound"] == want["tiers"][t]["bound"]);
        }
        // Less of it is no better, and below the bound.
        if (plan["placements"].empty())
            continue;
        json fewer = json::array();
        for (size_t i = 1; i < body["placements"].size(); i++)
            fewer.push_back(body["placements"][i]);
        body["placements"] = fewer;
        found = service.post("/v1/evaluations", body.dump()).json();
        if (found["valid"] == true)
            CHECK(found["objective"]["values"][0]["tiers"][0]["value"] <=
                  want["tiers"][0]["bound"]);
    }
    CHECK(tiered > count / 4);
    CHECK(proven > tiered / 2);
}
