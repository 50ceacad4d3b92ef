// system_simulations_test.cpp - simulations without a client, on two replicas: one is
// killed or stopped in the middle, and the other one ends what it had begun.
#include "tests/system.hpp"

namespace
{
// Long enough to be caught in the middle; `time_s` is the length of a run.
std::string scenario(double time_s, int runs)
{
    nlohmann::json body = nlohmann::json::parse(R"({
        "seed": 5, "max_events": 1000000000000,
        "sites": [{"id": "s", "resources": [{"number": 8, "n_max": 2,
            "failure": {"distribution": "weibull", "shape": 0.7, "mean": 20000},
            "restore": {"distribution": "lognormal", "mean": 2000, "sigma": 1}}]}],
        "workload": {"generator": "poisson", "length_mi": 3000,
                     "arrival_gap_s": {"distribution": "exponential", "mean": 600}},
        "compare": [{"algorithm": "mean_failure"}, {"algorithm": "fcfs"}]})");

    body["stop"] = {{"time_s", time_s}};
    body["runs"] = runs;
    return body.dump();
}

std::string queue(const gridplan &g, const std::string &body)
{
    answer a = g.post("/v1/simulations", body, "Prefer: respond-async\r\n");

    INFO(a.body);
    REQUIRE(a.status == 202);
    return a.field("Location");
}

nlohmann::json state(const gridplan &g, const std::string &location)
{
    answer a = g.get(location);

    INFO(a.body);
    REQUIRE(a.status == 200);
    return a.json();
}

bool reaches(const gridplan &g, const std::string &location, const std::string &status,
             double limit_s = 120)
{
    return eventually([&] { return state(g, location)["status"] == status; }, limit_s);
}

const std::vector<std::string> flags(const std::string &url)
{
    return {"--database", url, "--simulation-lease-s", "1", "--compute-workers", "2"};
}
} // namespace

TEST_CASE("a killed replica's simulation is taken up by another, with the same result",
          "[system][db]")
{
    std::string url = test_database();
    auto one = std::make_unique<gridplan>(flags(url));
    REQUIRE(eventually([&] { return one->is_ready(); }));
    sql(url, "DELETE FROM simulation");

    // What it comes to when nothing happens.
    std::string body = scenario(5e6 / SLOWER, 20);
    std::string calm = queue(*one, body);
    REQUIRE(reaches(*one, calm, "done"));
    nlohmann::json want = state(*one, calm)["result"]["results"];

    // The first is alone when it begins; then it dies.
    std::string location = queue(*one, body);
    REQUIRE(eventually([&] { return state(*one, location)["status"] != "queued"; }));
    bool caught = state(*one, location)["status"] == "running";
    one->kill_now();
    gridplan two(flags(url));
    REQUIRE(eventually([&] { return two.is_ready(); }));
    REQUIRE(reaches(two, location, "done"));
    nlohmann::json end = state(two, location);
    CHECK(end["result"]["results"] == want);
    if (caught)
        CHECK(end["attempt_count"] == 2);
    report(REPORT((caught ? "killed in the middle" : "it was faster than the kill")));
    two.stop();
}

TEST_CASE("a replica that is stopped gives its simulation back at once", "[system][db]")
{
    std::string url = test_database();
    // A lease that does not end during the test: it must be given back.
    std::vector<std::string> patient = {"--database", url, "--simulation-lease-s",
                                        "3600"};
    gridplan one(patient), two(patient);
    REQUIRE(eventually([&] { return one.is_ready() && two.is_ready(); }));
    sql(url, "DELETE FROM simulation");
    std::string location = queue(one, scenario(1e11, 1));
    REQUIRE(reaches(two, location, "running"));
    auto owner = [&] { return sql(url, "SELECT owner_id FROM simulation"); };
    std::string first = owner();

    // One of them has it: whichever it is, the other one takes it up.
    one.stop();
    bool moved = owner() != first;
    if (moved)
        REQUIRE(reaches(two, location, "running"));
    CHECK(state(two, location)["attempt_count"] == 1);
    answer a = call(two.port, "DELETE", location);
    CHECK(a.status == 202);
    REQUIRE(reaches(two, location, "cancelled"));
    CHECK(state(two, location)["result"]["status"] == "cut");
    CHECK(call(two.port, "DELETE", location).status == 204);
    location = queue(two, scenario(1e11, 1));
    REQUIRE(reaches(two, location, "running"));
    two.stop();
    CHECK(sql(url, "SELECT status, attempt_count FROM simulation") == "queued|0");
    CHECK(sql(url, "SELECT count(*) FROM simulation WHERE owner_id IS NOT NULL") == "0");
}

TEST_CASE("any replica answers for any simulation", "[system][db]")
{
    std::string url = test_database();
    gridplan one(flags(url)), two(flags(url));
    std::vector<std::string> locations;

    REQUIRE(eventually([&] { return one.is_ready() && two.is_ready(); }));
    sql(url, "DELETE FROM simulation");
    for (int i = 0; i < 8; i++)
        locations.push_back(queue(i % 2 ? one : two, scenario(20000, 2)));
    for (auto &l : locations) {
        REQUIRE(reaches(one, l, "done"));
        CHECK(state(one, l)["attempt_count"] == 1);
        CHECK(state(two, l)["result"]["results"] ==
              state(one, locations[0])["result"]["results"]);
    }
    CHECK(one.get("/v1/simulations?page_size=3").json()["simulations"].size() == 3);
    one.stop();
    two.stop();
}
