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

namespace
{
// What a simulation comes to, without what differs from one time to the next.
nlohmann::json outcome(const gridplan &g, const std::string &location)
{
    nlohmann::json result = state(g, location)["result"];

    for (const char *member : {"decision_id", "timings"})
        result.erase(member);
    return result;
}

// Jobs of a batch system that is nearly full, under all policies.
std::string job_log(int count)
{
    nlohmann::json body = {
        {"kind", "queue"}, {"processors", 64}, {"jobs", nlohmann::json::array()}};

    for (int i = 0; i < count; i++)
        body["jobs"].push_back({{"submit_s", 400 * i},
                                {"processors", 1 + i * 37 % 48},
                                {"run_time_s", 60 + i * 7919 % 1500},
                                {"requested_s", 60 + i * 7919 % 1500 + i % 5 * 300}});
    return body.dump();
}

// A cluster whose nodes fail, under two policies, so many times.
std::string cluster_of(int runs)
{
    nlohmann::json body = nlohmann::json::parse(R"({
        "kind": "cluster", "seed": 3,
        "cluster": {"resources": [{"id": "n", "number": 64, "cpus": 4,
            "failure": {"distribution": "weibull", "shape": 0.7, "mean": 400000},
            "restore": {"distribution": "exponential", "mean": 3600}}]},
        "stop": {"time_s": 60000},
        "workload": {"generator": "poisson", "length_mi": 4000,
                     "arrival_gap_s": {"distribution": "exponential", "mean": 300}},
        "job_defaults": {"nodes": {"distribution": "empirical", "values": [1, 2, 4, 16]},
                         "cpus": 3, "checkpoint_overhead_s": 30, "restart_s": 60},
        "compare": [{"checkpoint": {"algorithm": "finite"}},
                    {"queue": {"algorithm": "fcfs"}}]})");

    body["runs"] = std::min(200, runs);
    body["stop"]["time_s"] = 60000 * std::max(1, runs / 200);
    return body.dump();
}

// One of each kind, of so much work.
std::string simulation_of(const std::string &kind, int size)
{
    nlohmann::json body = {{"kind", kind}, {"seed", 3}};

    if (kind == "grid")
        return scenario(2e6 / SLOWER * size, 20);
    if (kind == "queue")
        return job_log(2000 * size);
    if (kind == "cluster")
        return cluster_of(20 * size);
    if (kind == "coallocation") {
        body["workload"] = "w50";
        body["job_count"] = 200;
        body["policies"] = {"close_to_files", "worst_fit"};
        body["runs"] = 5 * size;
    } else if (kind == "workflow") {
        body["runs"] = 5 * size;
    } else {
        body["application"] = "md";
        body["runs"] = 3 * size;
        body["policies"] = {{{"mode", "remade"}, {"algorithm", "incremental"}},
                            {{"mode", "remade"}, {"algorithm", "optimal"}}};
    }
    return body.dump();
}
} // namespace

TEST_CASE("a killed replica's simulation is taken up by another, with the same result",
          "[system][db]")
{
    for (std::string kind :
         {"grid", "queue", "cluster", "coallocation", "multi_phase", "workflow"})
        DYNAMIC_SECTION(kind)
        {
            std::string url = test_database();
            auto parts = [&] {
                return std::stoi(sql(url, "SELECT count(*) FROM simulation_part"));
            };

            // The first is alone when it begins; then it dies, with a part of it done.
            std::string body, location;
            int kept = 0;
            bool caught = false;
            for (int size = 1; !caught && size < 300; size *= 3) {
                gridplan one(flags(url));
                REQUIRE(eventually([&] { return one.is_ready(); }));
                sql(url, "DELETE FROM simulation");
                body = simulation_of(kind, size);
                location = queue(one, body);
                REQUIRE(eventually([&] {
                    return parts() > 0 || state(one, location)["status"] == "done";
                }));
                one.kill_now();
                kept = parts();
                caught = sql(url, "SELECT count(*) FROM simulation"
                                  " WHERE finished_at IS NULL") == "1";
            }
            REQUIRE(caught);
            CHECK(kept > 0);
            gridplan two(flags(url));
            REQUIRE(eventually([&] { return two.is_ready(); }));
            REQUIRE(reaches(two, location, "done"));
            CHECK(state(two, location)["attempt_count"] == 2);
            CHECK(parts() == 0);

            // What it comes to when nothing happens.
            std::string calm = queue(two, body);
            REQUIRE(reaches(two, calm, "done"));
            CHECK(outcome(two, location) == outcome(two, calm));
            report(REPORT(kind << ": killed with " << kept << " parts kept"));
            two.stop();
        }
}

TEST_CASE("runs that a killed replica has ended are not played again", "[system][db]")
{
    std::string url = test_database();
    auto one = std::make_unique<gridplan>(flags(url));
    REQUIRE(eventually([&] { return one->is_ready(); }));
    sql(url, "DELETE FROM simulation");
    auto parts = [&] {
        return std::stoi(sql(url, "SELECT count(*) FROM simulation_part"));
    };
    CHECK(parts() == 0);

    // As much work as it takes for some parts to be seen before it is done.
    nlohmann::json body;
    std::string location;
    bool caught = false;
    for (double size = 1.2e7 / SLOWER; !caught && size < 2e9; size *= 3) {
        body = nlohmann::json::parse(scenario(size, 20));
        body["output"] = {
            {"per_resource", true}, {"per_job", true}, {"job_rows_max", 50}};
        location = queue(*one, body.dump());
        REQUIRE(eventually(
            [&] {
                caught = parts() >= 3;
                return caught || state(*one, location)["status"] == "done";
            },
            120));
    }
    REQUIRE(caught);
    one->kill_now();
    REQUIRE(sql(url, "SELECT count(*) FROM simulation WHERE finished_at IS NULL") == "1");
    int kept = parts();
    int before = std::stoi(sql(url, "SELECT run_count FROM simulation"
                                    " WHERE finished_at IS NULL"));
    double told = std::stod(sql(url, "SELECT progress_ratio FROM simulation"
                                     " WHERE finished_at IS NULL"));
    double least_ratio = std::min(told, kept / 40.);
    gridplan two(flags(url));
    REQUIRE(eventually([&] { return two.is_ready(); }));
    int seen = before; // it never begins again
    REQUIRE(eventually(
        [&] {
            nlohmann::json now = state(two, location);
            if (now["status"] == "running" && now["attempt_count"] == 2) {
                CHECK(now["runs_completed"] >= seen);
                CHECK(now["progress_ratio"].get<double>() >= least_ratio - 1e-9);
                seen = std::max(seen, now["runs_completed"].get<int>());
            }
            return now["status"] == "done";
        },
        240));
    CHECK(state(two, location)["attempt_count"] == 2);
    CHECK(parts() == 0);
    // What it comes to when nothing happens.
    std::string calm = queue(two, body.dump());
    REQUIRE(reaches(two, calm, "done"));
    CHECK(outcome(two, location).dump() == outcome(two, calm).dump());
    report(REPORT(kept << " of 40 trials were kept, " << before << " runs were told of"));
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

TEST_CASE("a simulation is cancelled whatever becomes of its replica", "[system][db]")
{
    std::string url = test_database();
    auto owned = [&](double lease_s) {
        return std::vector<std::string>{"--database",           url,
                                        "--simulation-lease-s", std::to_string(lease_s),
                                        "--compute-workers",    "4"};
    };
    auto one = std::make_unique<gridplan>(owned(5));
    REQUIRE(eventually([&] { return one->is_ready(); }));
    sql(url, "DELETE FROM simulation");
    std::vector<std::string> runs;
    for (const char *kind : {"grid", "cluster"}) { // without an end
        runs.push_back(queue(*one, simulation_of(kind, 1000)));
        REQUIRE(reaches(*one, runs.back(), "running"));
    }
    std::string waits = queue(*one, scenario(1e11, 1));
    std::string never = queue(*one, scenario(1e11, 1));
    CHECK(state(*one, never)["status"] == "queued");
    answer at_once = call(one->port, "DELETE", never);
    CHECK(at_once.status == 200);
    CHECK(at_once.json()["status"] == "cancelled");
    one->kill_now();

    // Its lease is good still: nobody may end it, but it is known that it shall.
    gridplan two(owned(1));
    REQUIRE(eventually([&] { return two.is_ready(); }));
    for (auto &l : runs) {
        answer a = call(two.port, "DELETE", l);
        CHECK((a.status == 202 || a.status == 200));
        CHECK(a.json()["cancel_requested"] == true);
    }
    for (auto &l : runs) {
        REQUIRE(reaches(two, l, "cancelled"));
        CHECK(call(two.port, "DELETE", l).status == 204);
        CHECK(two.get(l).status == 404);
    }
    CHECK(sql(url, "SELECT count(*) FROM simulation_part WHERE simulation_id NOT IN"
                   " (SELECT simulation_id FROM simulation WHERE finished_at IS NULL)") ==
          "0");

    // What waited goes on there, and is cancelled while it does.
    REQUIRE(reaches(two, waits, "running"));
    CHECK(call(two.port, "DELETE", waits).status == 202);
    REQUIRE(reaches(two, waits, "cancelled"));
    two.stop();
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
    CHECK(one.get("/v1/simulations?page_size=3").json()["items"].size() == 3);
    one.stop();
    two.stop();
}

// ---- without a service ----

namespace
{
using json = nlohmann::json;

// A file that goes away.
struct scratch {
    std::string name = "/tmp/gridplan-simulate-" + std::to_string(getpid()) + ".json";

    explicit scratch(const std::string &text)
    {
        std::ofstream(name) << text;
    }
    ~scratch()
    {
        unlink(name.c_str());
    }
};

std::string simulate(const std::string &body, std::vector<std::string> more = {},
                     int want = 0)
{
    scratch file(body);
    int status = -1;

    more.insert(more.begin(), {build_binary, "simulate", file.name});
    std::string text = run_command(more, &status);
    INFO(text);
    CHECK(status == want);
    return text;
}

// Everything that is drawn is drawn.
const char *const DRAWN = R"({
    "seed": 3, "runs": 1, "stop": {"time_s": 200000}, "initial_state": "stationary",
    "information_service": {"mode": "periodic", "interval_s": 300},
    "network": {"mode": "shared"},
    "sites": [{"id": "s", "resources": [{"number": 3, "n_max": 2,
        "mips_total": {"distribution": "uniform", "l_bound": 0.5, "u_bound": 2},
        "failure": {"distribution": "weibull", "shape": 0.7, "mean": 6000},
        "restore": {"distribution": "lognormal", "mean": 600, "sigma": 1}}]},
        {"id": "t", "resources": [{"id": "odd", "register_s": 5000, "outages": [
            {"down_s": 100, "up_s": 7000}, {"down_s": 90000}]}]}],
    "workload": {"generator": "poisson", "user_count": 3,
        "length_mi": {"distribution": "exponential", "mean": 1500},
        "input_bytes": {"distribution": "uniform", "l_bound": 1e6, "u_bound": 1e8},
        "arrival_gap_s": {"distribution": "exponential", "mean": 800}},
    "compare": [{"algorithm": "periodic", "options": {"initial_interval_s": 300}},
                {"algorithm": "fcfs"}, {"algorithm": "wqr"}]})";
} // namespace

TEST_CASE("simulate answers without a service", "[system]")
{
    json answer = json::parse(simulate(DRAWN));

    CHECK(answer["status"] == "feasible");
    CHECK(answer["results"].size() == 3);
    json body = json::parse(DRAWN);
    body["runs"] = 2;
    CHECK(json::parse(simulate(body.dump()))["runs_completed"] == 2);
}

TEST_CASE("an expanded scenario has the events and figures of the scenario", "[system]")
{
    json expanded = json::parse(simulate(DRAWN, {"--expand"}));
    json before = json::parse(simulate(DRAWN));
    json after = json::parse(simulate(expanded.dump()));

    CHECK(expanded["workload"]["generator"] == "batch");
    CHECK(expanded["workload"]["jobs"].size() > 100);
    CHECK(expanded["sites"][0]["resources"].size() == 3);
    CHECK_FALSE(expanded["sites"][0]["resources"][0].contains("failure"));
    CHECK(expanded["sites"][0]["resources"][0]["outages"].size() > 10);
    CHECK(after["events_executed"] == before["events_executed"]);
    for (size_t i = 0; i < 3; i++) {
        json a = after["results"][i]["metrics"], b = before["results"][i]["metrics"];
        // Users are numbered anew: a sum in another order.
        CHECK(a["fairness_ratio"]["mean"].get<double>() ==
              Approx(b["fairness_ratio"]["mean"].get<double>()).epsilon(1e-12));
        a.erase("fairness_ratio"), b.erase("fairness_ratio");
        CHECK(a == b);
    }
    // Expanding again changes nothing but names that were there already.
    json again = json::parse(simulate(expanded.dump(), {"--expand"}));
    CHECK(again["sites"] == expanded["sites"]);
}

TEST_CASE("loads, bursts, links and interfaces can be expanded", "[system]")
{
    json body = json::parse(DRAWN);
    body["sites"][0]["resources"][0]["load"] = json::object();
    body["failure_groups"] = {
        {{"id", "g"}, {"burst_probability", 0.5}, {"burst_delay_s", 20}}};
    body["sites"][0]["resources"][0]["failure_group"] = "g";
    body["sites"][1]["resources"][0]["node_id"] = "far";
    body["sites"][1]["resources"][0]["load_trace"] = {
        {{"at_s", 0}, {"mips_external", 0.25}}, {{"at_s", 9000}, {"mips_external", 0}}};
    body["network"] = json::parse(R"({"mode": "shared",
        "links": [{"id": "a", "bandwidth_mbps": 20, "latency_s": 0.001},
                  {"id": "b", "kind": "wan", "bandwidth_mbps": 5}],
        "routes": [{"from_node_id": "services", "to_node_id": "s", "link_ids": ["a"]},
                   {"from_node_id": "far", "to_node_id": "services",
                    "link_ids": ["b", "a"]}]})");
    json workload = body["workload"];
    body.erase("workload");
    body["user_interfaces"] = {{{"id", "x"}, {"workload", workload}},
                               {{"id", "y"}, {"workload", workload}}};
    json expanded = json::parse(simulate(body.dump(), {"--expand"}));
    json before = json::parse(simulate(body.dump()));
    json after = json::parse(simulate(expanded.dump()));
    CHECK(expanded["sites"][0]["resources"][0]["load_trace"].size() > 100);
    CHECK(expanded["sites"][1]["resources"][0]["load_trace"].size() == 2);
    CHECK(before["results"][0]["metrics"]["failures"]["mean"] > 20);
    CHECK(before["results"][0]["metrics"]["jobs_done"]["mean"] > 100);
    CHECK(after["events_executed"] == before["events_executed"]);
    for (size_t i = 0; i < 3; i++) {
        json a = after["results"][i]["metrics"], b = before["results"][i]["metrics"];
        a.erase("fairness_ratio"), b.erase("fairness_ratio"); // users in another order
        CHECK(a == b);
    }
}

TEST_CASE("simulate says what is wrong", "[system]")
{
    json body = json::parse(DRAWN);

    body["compare"][0]["algorithm"] = "nonsense";
    body["stop"]["time_s"] = -1;
    std::string text = simulate(body.dump(), {}, 2);
    CHECK_THAT(text, Catch::Contains("/stop/time_s"));
    simulate("", {}, 2);
    simulate("{", {}, 1); // no JSON at all
    CHECK_THAT(simulate("{}", {"two"}, 2), Catch::Contains("simulate FILE"));
    body = json::parse(DRAWN);
    body["stop"]["time_s"] = 1e11;
    text = simulate(body.dump(), {"--expand"}, 2);
    CHECK_THAT(text, Catch::Contains("/stop/time_s"));
}
